//! The log: every write, whole or not at all, in the order in which they were acknowledged.
//!
//! A frame is the length of a chunk and the checksum of that, a checksum of the frame before and of the chunk, and the chunk: none can be
//! missing, and none can come from another log. What stands behind the last whole frame was never acknowledged, unless the
//! [mark](crate::acknowledged) says so: then the log has lost its end. A length that cannot be believed is damage: it would hide all that
//! stands behind it. A log belongs to the documents in memory; when these are a segment, it goes.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use lookalike_corpus::write::sync::sync_folder;
use lookalike_text::hash;

use crate::acknowledged::{self, Acknowledged};
use crate::chunk::{self, Chunk};
use crate::error::IndexError;

/// The length, its checksum, and that of the chunk and the frame before.
const FRAME_HEADER: usize = 16;

/// The path of a log.
pub(crate) fn path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("log-{generation:08}"))
}

/// The last of the logs from `first` on. All before it are finished: nothing is written to one that has a next.
pub(crate) fn last(folder: &Path, first: u64) -> Option<u64> {
    (first..).take_while(|&generation| path(folder, generation).exists()).last()
}

/// The number that the checksum of a log's first frame goes on from.
pub(crate) fn initial_chain(generation: u64) -> u64 {
    hash::sum(&generation.to_le_bytes())
}

/// The checksum of a frame behind one with the checksum `chain`.
fn next_chain(chain: u64, chunk: &[u8]) -> u64 {
    let mut both = [0; 16];
    both[..8].copy_from_slice(&chain.to_le_bytes());
    both[8..].copy_from_slice(&hash::sum(chunk).to_le_bytes());
    hash::sum(&both)
}

/// The front of a frame with this checksum.
fn frame_header(length: u32, sum: u64) -> [u8; FRAME_HEADER] {
    let mut frame_header = [0; FRAME_HEADER];
    frame_header[..4].copy_from_slice(&length.to_le_bytes());
    frame_header[4..8].copy_from_slice(&sum_of_length(length).to_le_bytes());
    frame_header[8..].copy_from_slice(&sum.to_le_bytes());
    frame_header
}

fn sum_of_length(length: u32) -> u32 {
    hash::sum(&length.to_le_bytes()) as u32
}

/// A log that is written to.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    sync: bool,
    frame: Vec<u8>,
    /// Contents as they were written.
    written: Acknowledged,
    /// The mark of what is on the disk.
    mark: File,
}

impl Log {
    /// Goes on behind what was `written`, or begins.
    pub(crate) fn open(folder: &Path, written: Acknowledged, sync: bool) -> Result<Self, IndexError> {
        let path = path(folder, written.generation);
        let open = || -> std::io::Result<File> {
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            file.set_len(written.end)?;
            drop(file);
            let file = OpenOptions::new().append(true).open(&path)?;
            if sync {
                file.sync_all()?;
                sync_folder(folder)?;
            }
            Ok(file)
        };
        let file = open().map_err(|error| IndexError::write(&path, error))?;
        let mark = acknowledged::path(folder);
        let mark =
            OpenOptions::new().write(true).open(&mark).map_err(|error| IndexError::write(&mark, error))?;
        Ok(Log { path, file, sync, frame: Vec::new(), written, mark })
    }

    /// Writes a chunk. When this returns, it survives the end of the process, and with `sync` that of the machine.
    pub(crate) fn append(&mut self, chunk: &Chunk) -> Result<(), IndexError> {
        self.frame.clear();
        self.frame.resize(FRAME_HEADER, 0);
        chunk::encode(chunk, &mut self.frame);
        let length = self.frame.len() - FRAME_HEADER;
        let length = u32::try_from(length).map_err(|_| {
            IndexError::Request("one write holds more than 4 GB; send fewer documents at once".to_owned())
        })?;
        let chain = next_chain(self.written.chain, &self.frame[FRAME_HEADER..]);
        self.frame[..FRAME_HEADER].copy_from_slice(&frame_header(length, chain));
        let end = self.written.end + self.frame.len() as u64;
        let written = Acknowledged { chain, end, ..self.written };
        let mut write = || {
            self.file.write_all(&self.frame)?;
            if !self.sync {
                return Ok(());
            }
            self.file.sync_data()?;
            // It goes to the disk in its own time: until then a log that lost its end may go unnoticed, and none is suspected.
            written.write(&self.mark)
        };
        write().map_err(|error| IndexError::write(&self.path, error))?;
        self.written = written;
        if self.frame.capacity() > 16 << 20 {
            self.frame = Vec::new();
        }
        Ok(())
    }

    /// Makes all that was written survive the end of the machine.
    pub(crate) fn sync(&self) -> Result<(), IndexError> {
        let sync = || {
            self.file.sync_all()?;
            sync_folder(self.path.parent().unwrap_or(Path::new("")))?;
            self.written.write(&self.mark)?;
            self.mark.sync_data()
        };
        sync().map_err(|error| IndexError::write(&self.path, error))
    }
}

/// The extent of a log that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LogExtent {
    /// The end of the last whole frame, and its checksum.
    pub(crate) end: u64,
    pub(crate) chain: u64,
    /// Bytes behind that: the beginning of a write that was never acknowledged.
    pub(crate) torn: u64,
}

/// Hands every whole frame of a log to `each`. Nothing when there is no such log. One that ends before the mark is damaged.
pub(crate) fn replay(
    folder: &Path,
    generation: u64,
    mark: Acknowledged,
    mut each: impl FnMut(Chunk) -> Result<(), IndexError>,
) -> Result<Option<LogExtent>, IndexError> {
    let path = &path(folder, generation);
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|error| IndexError::read(path, error))?,
    };
    let mut marked = mark.generation != generation || mark.end == 0;
    let length = file.metadata().map_err(|error| IndexError::read(path, error))?.len();
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut extent = LogExtent { end: 0, chain: initial_chain(generation), torn: 0 };
    let (mut header, mut frame) = ([0; FRAME_HEADER], Vec::new());
    while extent.end + FRAME_HEADER as u64 <= length {
        reader.read_exact(&mut header).map_err(|error| IndexError::read(path, error))?;
        // Room that was never filled before the machine stopped.
        if header == [0; FRAME_HEADER] {
            break;
        }
        let size = u32::from_le_bytes(*header.first_chunk().expect("four bytes"));
        if header[4..8] != sum_of_length(size).to_le_bytes() {
            let what = format!("the length of the write at byte {} does not match its checksum", extent.end);
            return Err(IndexError::damaged(path, what));
        }
        let behind = extent.end + FRAME_HEADER as u64 + u64::from(size);
        if behind > length {
            break;
        }
        frame.resize(size as usize, 0);
        reader.read_exact(&mut frame).map_err(|error| IndexError::read(path, error))?;
        let chain = next_chain(extent.chain, &frame);
        let whole = header == frame_header(size, chain);
        let Some(chunk) = Some(&frame).filter(|_| whole).and_then(|frame| chunk::decode(frame)) else {
            // The last frame may be torn where the machine stopped; a broken one with others behind it is damage.
            if behind == length {
                break;
            }
            let what = format!("the write at byte {} does not match its checksum", extent.end);
            return Err(IndexError::damaged(path, what));
        };
        each(chunk)?;
        (extent.end, extent.chain) = (behind, chain);
        marked |= mark.end == behind && mark.chain == chain;
    }
    extent.torn = length - extent.end;
    if !marked {
        let what = format!(
            "it has {} bytes of whole writes, and {} were on the disk when they were acknowledged",
            extent.end, mark.end
        );
        return Err(IndexError::damaged(path, what));
    }
    Ok(Some(extent))
}

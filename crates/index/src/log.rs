//! The log: every write, whole or not at all, in the order in which they were acknowledged.
//!
//! A frame is the length of a chunk and the checksum of that, the checksum of the chunk, and the chunk. What stands behind the
//! last whole frame was never acknowledged. A length that cannot be believed is damage: it would hide all that stands behind
//! it. A log belongs to the documents in memory; when these are a segment, it goes.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use lookalike_text::hash;

use crate::chunk::{self, Chunk};
use crate::error::IndexError;

/// The length, its checksum, and that of the chunk.
const FRONT: usize = 16;

/// The path of a log.
pub(crate) fn path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("log-{generation:08}"))
}

/// The last of the logs from `first` on. All before it are finished: nothing is written to one that has a next.
pub(crate) fn last(folder: &Path, first: u64) -> Option<u64> {
    (first..).take_while(|&generation| path(folder, generation).exists()).last()
}

/// The front of a frame.
fn front(length: u32, chunk: &[u8]) -> [u8; FRONT] {
    let mut front = [0; FRONT];
    front[..4].copy_from_slice(&length.to_le_bytes());
    front[4..8].copy_from_slice(&sum_of_length(length).to_le_bytes());
    front[8..].copy_from_slice(&hash::sum(chunk).to_le_bytes());
    front
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
}

impl Log {
    /// Goes on behind the last whole frame, which ends at `end`; or begins.
    pub(crate) fn open(folder: &Path, generation: u64, end: u64, sync: bool) -> Result<Self, IndexError> {
        let path = path(folder, generation);
        let open = || -> std::io::Result<File> {
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            file.set_len(end)?;
            drop(file);
            let file = OpenOptions::new().append(true).open(&path)?;
            if sync {
                file.sync_all()?;
                File::open(folder)?.sync_all()?;
            }
            Ok(file)
        };
        let file = open().map_err(|error| IndexError::write(&path, error))?;
        Ok(Log { path, file, sync, frame: Vec::new() })
    }

    /// Writes a chunk. When this returns, it survives the end of the process, and with `sync` that of the machine.
    pub(crate) fn append(&mut self, chunk: &Chunk) -> Result<(), IndexError> {
        self.frame.clear();
        self.frame.resize(FRONT, 0);
        chunk::encode(chunk, &mut self.frame);
        let length = self.frame.len() - FRONT;
        let length = u32::try_from(length).map_err(|_| {
            IndexError::Request("one write holds more than 4 GB; send fewer documents at once".to_owned())
        })?;
        let front = front(length, &self.frame[FRONT..]);
        self.frame[..FRONT].copy_from_slice(&front);
        let mut write = || {
            self.file.write_all(&self.frame)?;
            if self.sync { self.file.sync_data() } else { Ok(()) }
        };
        write().map_err(|error| IndexError::write(&self.path, error))?;
        if self.frame.capacity() > 16 << 20 {
            self.frame = Vec::new();
        }
        Ok(())
    }

    /// Makes all that was written survive the end of the machine.
    pub(crate) fn sync(&self) -> Result<(), IndexError> {
        self.file.sync_all().map_err(|error| IndexError::write(&self.path, error))
    }
}

/// What was found in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Found {
    /// Where the last whole frame ends.
    pub(crate) end: u64,
    /// Bytes behind that: the beginning of a write that was never acknowledged.
    pub(crate) torn: u64,
}

/// Hands every whole frame to `each`. Nothing when there is no such log.
pub(crate) fn replay(
    path: &Path,
    mut each: impl FnMut(Chunk) -> Result<(), IndexError>,
) -> Result<Option<Found>, IndexError> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|error| IndexError::read(path, error))?,
    };
    let length = file.metadata().map_err(|error| IndexError::read(path, error))?.len();
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let (mut found, mut begins, mut frame) = (Found::default(), [0; FRONT], Vec::new());
    while found.end + FRONT as u64 <= length {
        reader.read_exact(&mut begins).map_err(|error| IndexError::read(path, error))?;
        // Room that was never filled before the machine stopped.
        if begins == [0; FRONT] {
            break;
        }
        let size = u32::from_le_bytes(*begins.first_chunk().expect("four bytes"));
        if begins[4..8] != sum_of_length(size).to_le_bytes() {
            let what = format!("the length of the write at byte {} does not match its checksum", found.end);
            return Err(IndexError::damaged(path, what));
        }
        let behind = found.end + FRONT as u64 + u64::from(size);
        if behind > length {
            break;
        }
        frame.resize(size as usize, 0);
        reader.read_exact(&mut frame).map_err(|error| IndexError::read(path, error))?;
        let whole = begins == front(size, &frame);
        let Some(chunk) = Some(&frame).filter(|_| whole).and_then(|frame| chunk::decode(frame)) else {
            // The last frame may be torn where the machine stopped; a broken one with others behind it is damage.
            if behind == length {
                break;
            }
            let what = format!("the write at byte {} does not match its checksum", found.end);
            return Err(IndexError::damaged(path, what));
        };
        each(chunk)?;
        found.end = behind;
    }
    found.torn = length - found.end;
    Ok(Some(found))
}

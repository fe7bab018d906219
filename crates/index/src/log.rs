//! The log: every write, whole or not at all, in the order in which they were acknowledged.
//!
//! A frame is the length of a chunk and the checksum of that, a checksum of the frame before and of the chunk, and the chunk: none can be
//! missing, and none can come from another log. What stands behind the last whole frame was never acknowledged, unless the
//! [mark](crate::acknowledged) says so: then the log has lost its end. A length that cannot be believed is damage: it would hide all that
//! stands behind it. A log belongs to the documents in memory; when these are a segment, it goes.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use lookalike_hash as hash;
use lookalike_store::sync::sync_folder;

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

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::row::State;
    use crate::testing::{chunk, removed};

    /// A folder with the mark that a new index has.
    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(acknowledged::path(folder.path()), beginning(0).line()).unwrap();
        folder
    }

    fn beginning(generation: u64) -> Acknowledged {
        Acknowledged { generation, end: 0, chain: initial_chain(generation) }
    }

    fn chunks() -> Vec<Chunk> {
        vec![chunk(0, &[State::Kept]), chunk(1, &[removed(0), State::Kept]), chunk(3, &[])]
    }

    /// Writes chunks to log 0; returns the end of each frame.
    fn written(folder: &Path, sync: bool) -> Vec<u64> {
        let mut log = Log::open(folder, beginning(0), sync).unwrap();
        let append = |chunk: &Chunk| {
            log.append(chunk).unwrap();
            std::fs::metadata(path(folder, 0)).unwrap().len()
        };
        chunks().iter().map(append).collect()
    }

    /// The chunks of log 0, and how far it goes.
    fn replayed(folder: &Path, mark: Acknowledged) -> Result<(Vec<Chunk>, LogExtent), IndexError> {
        let mut chunks = Vec::new();
        let extent = replay(folder, 0, mark, |chunk| {
            chunks.push(chunk);
            Ok(())
        })?;
        Ok((chunks, extent.unwrap()))
    }

    /// The error of reading log 0, without its path.
    fn damage(folder: &Path, mark: Acknowledged) -> String {
        let sentence = replayed(folder, mark).unwrap_err().to_string();
        let rest = sentence.strip_prefix(&format!("{} is damaged: ", path(folder, 0).display()));
        rest.unwrap_or(&sentence).split("; ").next().unwrap().to_owned()
    }

    #[test]
    fn logs_are_named_by_eight_digits() {
        assert_eq!(path(Path::new("in"), 7), Path::new("in").join("log-00000007"));
        assert_eq!(path(Path::new("in"), 123_456_789), Path::new("in").join("log-123456789"));
    }

    #[test]
    fn the_last_log_is_the_one_before_a_gap() {
        let folder = folder();
        [1, 2, 4].iter().for_each(|&log| std::fs::write(path(folder.path(), log), "").unwrap());
        assert_eq!(
            [0, 1, 2, 3, 4].map(|first| last(folder.path(), first)),
            [None, Some(2), Some(2), None, Some(4)]
        );
    }

    #[test]
    fn a_frame_begins_with_its_length_and_two_checksums() {
        let header = frame_header(258, 7);
        assert_eq!(header[..4], [2, 1, 0, 0]);
        assert_eq!(header[4..8], hash::sum(&[2, 1, 0, 0]).to_le_bytes()[..4]);
        assert_eq!(header[8..], [7, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_log_that_is_not_there_has_no_extent() {
        let found = replay(folder().path(), 0, beginning(0), |_| panic!("there is no write")).unwrap();
        assert_eq!(found, None);
    }

    #[test]
    fn an_empty_log_has_no_writes() {
        let folder = folder();
        drop(Log::open(folder.path(), beginning(0), false).unwrap());
        let expected = LogExtent { end: 0, chain: initial_chain(0), torn: 0 };
        assert_eq!(replayed(folder.path(), beginning(0)).unwrap(), (Vec::new(), expected));
    }

    #[test]
    fn writes_are_read_in_their_order() {
        for sync in [false, true] {
            let folder = folder();
            let ends = written(folder.path(), sync);
            let (found, extent) = replayed(folder.path(), beginning(0)).unwrap();
            assert_eq!(found, chunks());
            assert_eq!((extent.end, extent.torn), (ends[2], 0));
        }
    }

    #[test]
    fn a_log_goes_on_where_it_ended() {
        let folder = folder();
        let mut at = beginning(0);
        for chunk in chunks() {
            Log::open(folder.path(), at, false).unwrap().append(&chunk).unwrap();
            let extent = replayed(folder.path(), beginning(0)).unwrap().1;
            at = Acknowledged { generation: 0, end: extent.end, chain: extent.chain };
        }
        assert_eq!(replayed(folder.path(), beginning(0)).unwrap().0, chunks());
    }

    #[test]
    fn what_stands_behind_the_acknowledged_end_is_cut_off() {
        let folder = folder();
        let ends = written(folder.path(), false);
        let mut bytes = std::fs::read(path(folder.path(), 0)).unwrap();
        bytes.truncate(ends[1] as usize - 1);
        std::fs::write(path(folder.path(), 0), bytes).unwrap();
        let (_, extent) = replayed(folder.path(), beginning(0)).unwrap();
        assert_eq!((extent.end, extent.torn), (ends[0], ends[1] - 1 - ends[0]));
        let at = Acknowledged { generation: 0, end: extent.end, chain: extent.chain };
        Log::open(folder.path(), at, false).unwrap().append(&chunks()[1]).unwrap();
        let (found, extent) = replayed(folder.path(), beginning(0)).unwrap();
        assert_eq!((found, extent.torn), (chunks()[..2].to_vec(), 0));
    }

    #[test]
    fn a_cut_log_has_the_writes_before_the_cut() {
        let folder = folder();
        let ends = written(folder.path(), false);
        let bytes = std::fs::read(path(folder.path(), 0)).unwrap();
        for length in 0..bytes.len() {
            std::fs::write(path(folder.path(), 0), &bytes[..length]).unwrap();
            let whole = ends.iter().filter(|&&end| end <= length as u64).count();
            let end = if whole == 0 { 0 } else { ends[whole - 1] };
            let (found, extent) = replayed(folder.path(), beginning(0)).unwrap();
            assert_eq!(found, chunks()[..whole], "{length}");
            assert_eq!((extent.end, extent.torn), (end, length as u64 - end), "{length}");
        }
    }

    #[test]
    fn zeros_behind_the_last_write_are_torn() {
        let folder = folder();
        let ends = written(folder.path(), false);
        let mut bytes = std::fs::read(path(folder.path(), 0)).unwrap();
        bytes.extend([0; 100]);
        std::fs::write(path(folder.path(), 0), bytes).unwrap();
        let (found, extent) = replayed(folder.path(), beginning(0)).unwrap();
        assert_eq!((found.len(), extent.end, extent.torn), (3, ends[2], 100));
    }

    #[test]
    fn a_broken_write_is_torn_at_the_end_and_damage_before_it() {
        let folder = folder();
        let ends = written(folder.path(), false);
        let whole = std::fs::read(path(folder.path(), 0)).unwrap();
        let turn = |byte: u64| {
            let mut bytes = whole.clone();
            bytes[byte as usize] ^= 1;
            std::fs::write(path(folder.path(), 0), bytes).unwrap();
        };
        turn(ends[2] - 1);
        let (found, extent) = replayed(folder.path(), beginning(0)).unwrap();
        assert_eq!((found.len(), extent.torn), (2, ends[2] - ends[1]));
        turn(ends[1] - 1);
        let wanted = format!("the write at byte {} does not match its checksum", ends[0]);
        assert_eq!(damage(folder.path(), beginning(0)), wanted);
    }

    #[test]
    fn a_length_that_cannot_be_believed_is_damage_even_at_the_end() {
        let folder = folder();
        let ends = written(folder.path(), false);
        let mut bytes = std::fs::read(path(folder.path(), 0)).unwrap();
        bytes[ends[1] as usize] ^= 1;
        std::fs::write(path(folder.path(), 0), bytes).unwrap();
        let wanted = format!("the length of the write at byte {} does not match its checksum", ends[1]);
        assert_eq!(damage(folder.path(), beginning(0)), wanted);
    }

    #[test]
    fn the_log_of_another_number_is_damage() {
        let folder = folder();
        written(folder.path(), false);
        std::fs::rename(path(folder.path(), 0), path(folder.path(), 1)).unwrap();
        let sentence = replay(folder.path(), 1, beginning(0), |_| Ok(())).unwrap_err().to_string();
        assert!(sentence.contains("the write at byte 0 does not match its checksum"), "{sentence}");
    }

    #[test]
    fn a_log_that_ends_before_its_mark_has_lost_writes() {
        let folder = folder();
        let ends = written(folder.path(), false);
        let (_, extent) = replayed(folder.path(), beginning(0)).unwrap();
        let mark = Acknowledged { generation: 0, end: extent.end, chain: extent.chain };
        assert!(replayed(folder.path(), mark).is_ok());
        File::options().write(true).open(path(folder.path(), 0)).unwrap().set_len(ends[1]).unwrap();
        let wanted = format!(
            "it has {} bytes of whole writes, and {} were on the disk when they were acknowledged",
            ends[1], ends[2]
        );
        assert_eq!(damage(folder.path(), mark), wanted);
        assert!(
            replayed(folder.path(), Acknowledged { generation: 1, ..mark }).is_ok(),
            "it is not of this log"
        );
    }

    #[test]
    fn a_mark_inside_of_a_log_must_be_the_end_of_a_write() {
        let folder = folder();
        let ends = written(folder.path(), false);
        let mut chain = initial_chain(0);
        let mut bytes = Vec::new();
        chunk::encode(&chunks()[0], &mut bytes);
        chain = next_chain(chain, &bytes);
        let mark = Acknowledged { generation: 0, end: ends[0], chain };
        assert_eq!(replayed(folder.path(), mark).unwrap().0.len(), 3, "the mark may be older than the log");
        assert!(replayed(folder.path(), Acknowledged { end: ends[0] + 1, ..mark }).is_err());
        assert!(replayed(folder.path(), Acknowledged { chain: chain + 1, ..mark }).is_err());
    }

    #[test]
    fn only_what_is_on_the_disk_is_marked() {
        let mark = |folder: &TempDir| Acknowledged::read(folder.path()).unwrap();
        let (unsynced, synced) = (folder(), folder());
        let ends = written(unsynced.path(), false);
        assert_eq!(mark(&unsynced), beginning(0));
        written(synced.path(), true);
        let (_, extent) = replayed(synced.path(), mark(&synced)).unwrap();
        assert_eq!(mark(&synced), Acknowledged { generation: 0, end: ends[2], chain: extent.chain });
    }

    #[test]
    fn a_sync_marks_all_that_was_written() {
        let folder = folder();
        let mut log = Log::open(folder.path(), beginning(0), false).unwrap();
        log.append(&chunks()[0]).unwrap();
        log.sync().unwrap();
        let length = std::fs::metadata(path(folder.path(), 0)).unwrap().len();
        assert_eq!(Acknowledged::read(folder.path()).unwrap().end, length);
    }

    #[test]
    fn an_error_of_the_receiver_ends_the_reading() {
        let folder = folder();
        written(folder.path(), false);
        let mut seen = 0;
        let stopped = replay(folder.path(), 0, beginning(0), |_| {
            seen += 1;
            Err(IndexError::Request("enough".to_owned()))
        });
        assert_eq!((stopped.unwrap_err().to_string(), seen), ("enough".to_owned(), 1));
    }

    #[test]
    fn a_log_without_a_mark_beside_it_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let sentence = Log::open(folder.path(), beginning(0), false).map(drop).unwrap_err().to_string();
        let file = folder.path().join("acknowledged");
        assert!(sentence.starts_with(&format!("{} cannot be written: ", file.display())), "{sentence}");
    }
}

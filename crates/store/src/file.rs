//! Run files: records of one width behind a header, in blocks that each carry a checksum.
//!
//! Layout, all numbers little-endian:
//!
//! | part | bytes |
//! |---|---|
//! | magic `lookrun\n`, format version, record width, block size | 8 + 4 + 4 + 4 |
//! | kind, padded with blanks | 12 |
//! | stamp of the job: recipe, inputs and secret | 16 |
//! | number of records, a mark of the writer's choice | 8 + 8 |
//! | checksum of the header | 8 |
//! | blocks: records, then the XXH3-64 of them | up to 8 KiB + 8 each |
//!
//! A file is written under another name and renamed when it is whole. Nothing is read that was not checked. Where its folder has a journal
//! it is noted there, so that a loss of power is noticed.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use lookalike_hash as hash;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::journal;

const MAGIC: &[u8; 8] = b"lookrun\n";
const VERSION: u32 = 2;
const HEADER: usize = 72;
const SUM: usize = 8;
/// Bytes of a block, unless a label says otherwise.
pub const BLOCK: usize = 8 << 10;
/// Blocks that a sequential reader reads at a time.
const READ_BLOCKS: u64 = 8;

/// The content of a file, and the job that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// The kind of its records, in at most 12 letters.
    pub kind: &'static str,
    /// Bytes per record.
    pub width: usize,
    /// Stamp of the job.
    pub stamp: u128,
    /// Blocks are at most this long, wider records excepted.
    pub block: usize,
}

impl Label {
    /// The label of a file with blocks of the usual length: short enough to read one for a single record.
    pub const fn new(kind: &'static str, width: usize, stamp: u128) -> Self {
        Label { kind, width, stamp, block: BLOCK }
    }

    /// With shorter blocks, for files of which single records are read again and again.
    #[must_use]
    pub const fn with_blocks(self, block: usize) -> Self {
        Label { block, ..self }
    }

    fn block(self) -> usize {
        (self.block / self.width).max(1) * self.width
    }

    fn header(self, count: u64, mark: u64) -> [u8; HEADER] {
        let mut header = [b' '; HEADER];
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        header[12..16].copy_from_slice(&(self.width as u32).to_le_bytes());
        header[16..20].copy_from_slice(&(self.block() as u32).to_le_bytes());
        header[20..20 + self.kind.len()].copy_from_slice(self.kind.as_bytes());
        header[32..48].copy_from_slice(&self.stamp.to_le_bytes());
        header[48..56].copy_from_slice(&count.to_le_bytes());
        header[56..64].copy_from_slice(&mark.to_le_bytes());
        let sum = hash::sum(&header[..64]);
        header[64..].copy_from_slice(&sum.to_le_bytes());
        header
    }
}

/// The state of a file at a moment that a later process can go back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriterCheckpoint {
    /// Bytes pushed until then.
    bytes: u64,
    /// Those of them that fill no block yet.
    open: Vec<u8>,
}

/// Writes a run file.
#[derive(Debug)]
pub struct RunWriter {
    label: Label,
    path: PathBuf,
    pending: PathBuf,
    file: File,
    block: Vec<u8>,
    /// Blocks that are finished: short ones are written some at a time.
    finished: Vec<u8>,
    size: usize,
    bytes: u64,
}

impl RunWriter {
    /// Begins a file that will stand at `path`.
    pub fn create(path: &Path, label: Label) -> Result<Self, StoreError> {
        let pending = path.with_added_extension("part");
        let mut file = File::create(&pending).map_err(|error| StoreError::write(&pending, error))?;
        file.write_all(&[0; HEADER]).map_err(|error| StoreError::write(&pending, error))?;
        let size = label.block();
        let block = Vec::with_capacity(size);
        let path = path.to_owned();
        Ok(RunWriter { label, path, pending, file, block, finished: Vec::new(), size, bytes: 0 })
    }

    /// Goes on with a file from where it had been written to; nothing when it is not there, or shorter than that.
    pub fn resume(path: &Path, label: Label, written: WriterCheckpoint) -> Result<Option<Self>, StoreError> {
        let pending = path.with_added_extension("part");
        let (size, WriterCheckpoint { bytes, open }) = (label.block(), written);
        let Some(full) = bytes.checked_sub(open.len() as u64) else { return Ok(None) };
        let length = HEADER as u64 + full + full / size as u64 * SUM as u64;
        let go_back = || -> std::io::Result<Option<File>> {
            let mut file = match File::options().read(true).write(true).open(&pending) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                file => file?,
            };
            if file.metadata()?.len() < length || full % size as u64 > 0 {
                return Ok(None);
            }
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))?;
            Ok(Some(file))
        };
        let file = go_back().map_err(|error| StoreError::write(&pending, error))?;
        let mut block = Vec::with_capacity(size);
        block.extend_from_slice(&open);
        let path = path.to_owned();
        Ok(file.map(|file| RunWriter {
            label,
            path,
            pending,
            file,
            block,
            finished: Vec::new(),
            size,
            bytes,
        }))
    }

    /// A moment that a later process can go back to.
    pub fn checkpoint(&mut self) -> Result<WriterCheckpoint, StoreError> {
        self.write_finished()?;
        self.file.sync_data().map_err(|error| StoreError::write(&self.pending, error))?;
        Ok(WriterCheckpoint { bytes: self.bytes, open: self.block.clone() })
    }

    /// Appends bytes; records of the file's width, one or many, or parts of them.
    #[inline]
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), StoreError> {
        self.bytes += bytes.len() as u64;
        loop {
            let room = self.size - self.block.len();
            if bytes.len() < room {
                self.block.extend_from_slice(bytes);
                return Ok(());
            }
            let (now, later) = bytes.split_at(room);
            self.block.extend_from_slice(now);
            self.flush()?;
            bytes = later;
        }
    }

    /// Bytes pushed so far: where the next one will stand.
    pub fn position(&self) -> u64 {
        self.bytes
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let sum = hash::sum(&self.block);
        self.block.extend_from_slice(&sum.to_le_bytes());
        if self.finished.is_empty() && self.block.len() >= BLOCK {
            self.file.write_all(&self.block).map_err(|error| StoreError::write(&self.pending, error))?;
        } else {
            self.finished.extend_from_slice(&self.block);
            if self.finished.len() >= BLOCK {
                self.write_finished()?;
            }
        }
        self.block.clear();
        Ok(())
    }

    fn write_finished(&mut self) -> Result<(), StoreError> {
        let written = self.file.write_all(&self.finished);
        self.finished.clear();
        written.map_err(|error| StoreError::write(&self.pending, error))
    }

    /// Closes the file and gives it its name.
    pub fn finish(self) -> Result<(), StoreError> {
        self.finish_with_mark(0)
    }

    /// As [`RunWriter::finish`], with a number in the header.
    pub fn finish_with_mark(mut self, mark: u64) -> Result<(), StoreError> {
        if !self.block.is_empty() {
            self.flush()?;
        }
        self.write_finished()?;
        let header = self.label.header(self.bytes / self.label.width as u64, mark);
        let write = |file: &mut File| {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&header)
        };
        write(&mut self.file).map_err(|error| StoreError::write(&self.pending, error))?;
        let journal = journal::of(&self.path);
        let length = length(self.bytes, self.size);
        if let Some(journal) = &journal {
            journal.replacing(&self.path, &self.file, length)?;
        }
        std::fs::rename(&self.pending, &self.path).map_err(|error| StoreError::write(&self.path, error))?;
        journal.map_or(Ok(()), |journal| journal.made(&self.path, length))
    }
}

/// A run file that was opened and whose header was checked.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    file: File,
    width: usize,
    block: usize,
    count: u64,
    mark: u64,
}

impl Run {
    /// Opens a file and checks its header.
    pub fn open(path: &Path, label: Label) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(|error| StoreError::read(path, error))?;
        let mut header = [0; HEADER];
        read_at(&file, &mut header, 0).map_err(|error| damaged_or(path, error))?;
        let number = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        let (count, mark) = (number(48), number(56));
        let damaged = |what: &str| StoreError::Damaged { file: path.to_owned(), what: what.to_owned() };
        if number(64) != hash::sum(&header[..64]) {
            return Err(damaged("its header does not match its checksum"));
        }
        if header != label.header(count, mark) {
            return Err(damaged("it is of another kind, format version or job"));
        }
        let run = Run { path: path.to_owned(), file, width: label.width, block: label.block(), count, mark };
        let length = run.file.metadata().map_err(|error| StoreError::read(path, error))?.len();
        let expected = self::length(run.bytes(), run.block);
        if length != expected {
            return Err(damaged(&format!("it is {length} bytes long and should be {expected}")));
        }
        Ok(run)
    }

    /// Number of records.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number that its writer left in the header.
    pub fn mark(&self) -> u64 {
        self.mark
    }

    /// Bytes of all records.
    pub fn bytes(&self) -> u64 {
        self.count * self.width as u64
    }

    /// Replaces `out` with up to `most` blocks from `index` on, checked, without their checksums.
    fn blocks(&self, index: u64, most: u64, out: &mut Vec<u8>) -> Result<(), StoreError> {
        let left = self.bytes() - index * self.block as u64;
        let bytes = left.min(most * self.block as u64) as usize;
        let count = bytes.div_ceil(self.block);
        out.resize(bytes + count * SUM, 0);
        let position = HEADER as u64 + index * (self.block + SUM) as u64;
        read_at(&self.file, out, position).map_err(|error| damaged_or(&self.path, error))?;
        for number in 0..count {
            let from = number * (self.block + SUM);
            let to = (from + self.block).min(out.len() - SUM);
            if out[to..to + SUM] != hash::sum(&out[from..to]).to_le_bytes() {
                let (block, position) = (index + number as u64, position + from as u64);
                let what = format!("block {block}, from byte {position}, does not match its checksum");
                return Err(StoreError::Damaged { file: self.path.clone(), what });
            }
            out.copy_within(from..to, number * self.block);
        }
        out.truncate(bytes);
        Ok(())
    }

    /// Bytes of every block but the last.
    pub fn block_bytes(&self) -> usize {
        self.block
    }

    /// Number of blocks.
    pub fn block_count(&self) -> u64 {
        self.bytes().div_ceil(self.block as u64)
    }

    /// Replaces `out` with the records of one block, checked.
    pub fn block(&self, number: u64, out: &mut Vec<u8>) -> Result<(), StoreError> {
        if number >= self.block_count() {
            return Err(self.behind_end());
        }
        self.blocks(number, 1, out)
    }

    /// Appends `length` bytes from `offset` on to `out`, checked; `room` is for whole blocks.
    pub fn read(
        &self,
        mut offset: u64,
        length: usize,
        room: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let end = out.len() + length;
        while out.len() < end {
            let (index, from) = (offset / self.block as u64, (offset % self.block as u64) as usize);
            if index >= self.block_count() {
                return Err(self.behind_end());
            }
            let wanted = (from + end - out.len()).div_ceil(self.block) as u64;
            self.blocks(index, wanted.min(READ_BLOCKS), room)?;
            let part = room.get(from..).unwrap_or_default();
            let part = &part[..part.len().min(end - out.len())];
            if part.is_empty() {
                return Err(self.behind_end());
            }
            out.extend_from_slice(part);
            offset += part.len() as u64;
        }
        Ok(())
    }

    fn behind_end(&self) -> StoreError {
        let what = "bytes behind its end are asked for".to_owned();
        StoreError::Damaged { file: self.path.clone(), what }
    }

    /// The records from the front.
    pub fn records(self) -> Records {
        Records { run: self, next: 0, block: Vec::new(), at: 0 }
    }
}

/// Bytes of a file with so many bytes of records.
fn length(bytes: u64, block: usize) -> u64 {
    HEADER as u64 + bytes + bytes.div_ceil(block as u64) * SUM as u64
}

/// True when a file is a run file, of any kind, and matches all of its checksums.
pub(crate) fn is_sound(path: &Path) -> bool {
    check(path).unwrap_or(false)
}

fn check(path: &Path) -> Result<bool, StoreError> {
    let file = File::open(path).map_err(|error| StoreError::read(path, error))?;
    let mut header = [0; HEADER];
    read_at(&file, &mut header, 0).map_err(|error| damaged_or(path, error))?;
    let number = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
    let small = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes")) as usize;
    let (width, block, count) = (small(12), small(16), number(48));
    let known = header[..MAGIC.len()] == *MAGIC && number(64) == hash::sum(&header[..64]);
    if !known || width == 0 || block == 0 {
        return Ok(false);
    }
    let found = file.metadata().map_err(|error| StoreError::read(path, error))?.len();
    let run = Run { path: path.to_owned(), file, width, block, count, mark: 0 };
    if found != length(run.bytes(), block) {
        return Ok(false);
    }
    let mut room = Vec::new();
    let mut blocks = (0..run.block_count()).step_by(READ_BLOCKS as usize);
    blocks.try_for_each(|index| run.blocks(index, READ_BLOCKS, &mut room)).map(|()| true)
}

fn damaged_or(path: &Path, error: std::io::Error) -> StoreError {
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        return StoreError::Damaged { file: path.to_owned(), what: "it is cut off".to_owned() };
    }
    StoreError::read(path, error)
}

/// Fills `out` with the bytes of a file from `position` on, wherever the file was read before.
#[cfg(unix)]
pub fn read_at(file: &File, out: &mut [u8], position: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, position)
}

/// Fills `out` with the bytes of a file from `position` on.
#[cfg(windows)]
pub fn read_at(file: &File, mut out: &mut [u8], mut position: u64) -> std::io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, position)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => {
                out = &mut out[read..];
                position += read as u64;
            }
        }
    }
    Ok(())
}

/// The records of a run from the front, a block at a time.
#[derive(Debug)]
pub struct Records {
    run: Run,
    next: u64,
    block: Vec<u8>,
    at: usize,
}

impl Records {
    /// Number of all records of the file.
    pub fn count(&self) -> u64 {
        self.run.count
    }

    /// The next record, or none at the end.
    #[expect(
        clippy::should_implement_trait,
        reason = "records borrow from the run, which `Iterator` cannot say"
    )]
    #[inline]
    pub fn next(&mut self) -> Result<Option<&[u8]>, StoreError> {
        if self.at == self.block.len() && !self.load()? {
            return Ok(None);
        }
        let record = &self.block[self.at..self.at + self.run.width];
        self.at += self.run.width;
        Ok(Some(record))
    }

    /// Fills `out` with the next bytes, across blocks; false at the end of the run.
    pub fn take(&mut self, out: &mut [u8]) -> Result<bool, StoreError> {
        let mut filled = 0;
        while filled < out.len() {
            if self.at == self.block.len() && !self.load()? {
                if filled == 0 {
                    return Ok(false);
                }
                let what = "a record is cut off".to_owned();
                return Err(StoreError::Damaged { file: self.run.path.clone(), what });
            }
            let part = (self.block.len() - self.at).min(out.len() - filled);
            out[filled..filled + part].copy_from_slice(&self.block[self.at..self.at + part]);
            self.at += part;
            filled += part;
        }
        Ok(true)
    }

    /// The error about content that cannot be.
    pub fn damaged(&self, what: &str) -> StoreError {
        StoreError::Damaged { file: self.run.path.clone(), what: what.to_owned() }
    }

    fn load(&mut self) -> Result<bool, StoreError> {
        if self.next * self.run.block as u64 >= self.run.bytes() {
            return Ok(false);
        }
        self.run.blocks(self.next, READ_BLOCKS, &mut self.block)?;
        self.next += READ_BLOCKS;
        self.at = 0;
        Ok(true)
    }
}

/// Blocks of a run that stay in memory, unless more are asked for.
pub const CACHED_BLOCKS: usize = 32;

/// Any record of a run, in any order; some blocks are cached, each in the slot that its number gives it.
#[derive(Debug)]
pub struct RandomAccess {
    run: Run,
    cache: Vec<CachedBlock>,
}

/// A cached block, unless it has no number.
#[derive(Debug, Default)]
struct CachedBlock {
    number: Option<u64>,
    bytes: Vec<u8>,
}

impl RandomAccess {
    /// Reads the records of a run.
    pub fn new(run: Run) -> Self {
        Self::with_cache(run, CACHED_BLOCKS)
    }

    /// Reads the records of a run, of which up to so many blocks, one at least, stay in memory.
    pub fn with_cache(run: Run, blocks: usize) -> Self {
        let all = run.bytes().div_ceil(run.block as u64);
        let slots = all.clamp(1, blocks.max(1) as u64) as usize;
        RandomAccess { run, cache: std::iter::repeat_with(CachedBlock::default).take(slots).collect() }
    }

    /// Number of records.
    pub fn count(&self) -> u64 {
        self.run.count
    }

    /// Record `index`.
    #[inline]
    pub fn record(&mut self, index: u64) -> Result<&[u8], StoreError> {
        let offset = index * self.run.width as u64;
        if offset >= self.run.bytes() {
            return Err(self.damaged("a record behind its end is asked for"));
        }
        let width = self.run.width;
        let (block, at) = self.cached_block(offset)?;
        Ok(&block[at..at + width])
    }

    /// Fills `out` with the bytes from `offset`.
    pub fn read(&mut self, mut offset: u64, out: &mut [u8]) -> Result<(), StoreError> {
        let mut filled = 0;
        while filled < out.len() {
            if offset >= self.run.bytes() {
                return Err(self.damaged("bytes behind its end are asked for"));
            }
            let (block, at) = self.cached_block(offset)?;
            let part = (block.len() - at).min(out.len() - filled);
            out[filled..filled + part].copy_from_slice(&block[at..at + part]);
            filled += part;
            offset += part as u64;
        }
        Ok(())
    }

    /// The block with this byte, and the byte's place in it.
    fn cached_block(&mut self, offset: u64) -> Result<(&[u8], usize), StoreError> {
        let number = offset / self.run.block as u64;
        let slot = number as usize % self.cache.len();
        let cached = &mut self.cache[slot];
        if cached.number != Some(number) {
            cached.number = None;
            self.run.blocks(number, 1, &mut cached.bytes)?;
            cached.number = Some(number);
        }
        Ok((&cached.bytes, (offset % self.run.block as u64) as usize))
    }

    fn damaged(&self, what: &str) -> StoreError {
        StoreError::Damaged { file: self.run.path.clone(), what: what.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LABEL: Label = Label::new("test", 12, 7);

    fn written(folder: &Path, records: u64) -> PathBuf {
        let path = folder.join("run");
        let mut writer = RunWriter::create(&path, LABEL).unwrap();
        for index in 0..records {
            writer.push(&index.to_le_bytes()).unwrap();
            writer.push(&7u32.to_le_bytes()).unwrap();
        }
        assert!(!path.exists());
        writer.finish_with_mark(99).unwrap();
        path
    }

    fn all(path: &Path) -> Result<Vec<u64>, StoreError> {
        let mut records = Run::open(path, LABEL)?.records();
        let mut found = Vec::new();
        while let Some(record) = records.next()? {
            found.push(u64::from_le_bytes(record[..8].try_into().unwrap()));
        }
        Ok(found)
    }

    #[test]
    fn what_was_written_is_read() {
        for records in [0, 1, 5461, 5462, 20_000] {
            let folder = tempfile::tempdir().unwrap();
            let path = written(folder.path(), records);
            assert_eq!(all(&path).unwrap(), (0..records).collect::<Vec<_>>());
            let run = Run::open(&path, LABEL).unwrap();
            assert_eq!((run.count(), run.mark()), (records, 99));
            for blocks in [0, 1, 3, CACHED_BLOCKS, usize::MAX] {
                let mut access = RandomAccess::with_cache(Run::open(&path, LABEL).unwrap(), blocks);
                for index in [records / 3, records.saturating_sub(1), 0, records / 3] {
                    match access.record(index) {
                        Ok(record) => assert_eq!(record[..8], index.to_le_bytes()),
                        Err(error) => assert!(records == 0, "{error}"),
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_may_be_short() {
        for records in [0, 1, 85, 86, 20_000] {
            let folder = tempfile::tempdir().unwrap();
            let (path, label) = (folder.path().join("run"), LABEL.with_blocks(1024));
            let mut writer = RunWriter::create(&path, label).unwrap();
            for index in 0..records {
                writer.push(&u64::to_le_bytes(index)).unwrap();
                writer.push(&7u32.to_le_bytes()).unwrap();
            }
            writer.finish().unwrap();
            let run = Run::open(&path, label).unwrap();
            assert_eq!((run.count(), run.block_bytes()), (records, 1020));
            let (mut room, mut out) = (Vec::new(), Vec::new());
            for index in 0..records {
                out.clear();
                run.read(12 * index, 12, &mut room, &mut out).unwrap();
                assert_eq!(out[..8], index.to_le_bytes());
            }
            assert!(run.read(12 * records, 1, &mut room, &mut out).is_err());
        }
    }

    #[test]
    fn another_job_or_kind_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 3);
        for label in [
            Label { stamp: 8, ..LABEL },
            Label { kind: "other", ..LABEL },
            Label { width: 4, ..LABEL },
            LABEL.with_blocks(1024),
        ] {
            let error = Run::open(&path, label).unwrap_err();
            assert!(error.to_string().contains("another kind"), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_flipped_bit_or_cut_is_seen(records in 1u64..12_000, place: prop::sample::Index, bit in 0u8..8, cut: bool) {
            let folder = tempfile::tempdir().unwrap();
            let path = written(folder.path(), records);
            let mut bytes = std::fs::read(&path).unwrap();
            let place = place.index(bytes.len());
            if cut { bytes.truncate(place) } else { bytes[place] ^= 1 << bit }
            std::fs::write(&path, bytes).unwrap();
            let error = all(&path).unwrap_err();
            let damaged = matches!(error, StoreError::Damaged { .. });
            prop_assert!(damaged);
            prop_assert!(error.to_string().contains("run"));
        }
    }

    #[test]
    fn bytes_are_taken_across_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let (path, label) = (folder.path().join("run"), Label::new("bytes", 1, 7).with_blocks(100));
        let content: Vec<u8> = (0..2345u32).map(|number| (number % 251) as u8).collect();
        let mut writer = RunWriter::create(&path, label).unwrap();
        content.chunks(37).for_each(|part| writer.push(part).unwrap());
        assert_eq!(writer.position(), 2345);
        writer.finish().unwrap();
        let mut records = Run::open(&path, label).unwrap().records();
        let (mut found, mut part) = (Vec::new(), [0; 335]);
        while records.take(&mut part).unwrap() {
            found.extend_from_slice(&part);
        }
        assert_eq!(found, content);
        let mut records = Run::open(&path, label).unwrap().records();
        assert!(records.take(&mut [0; 2000]).unwrap());
        assert!(
            matches!(records.take(&mut [0; 346]), Err(StoreError::Damaged { .. })),
            "a record is cut off"
        );
    }

    #[test]
    fn bytes_are_read_from_anywhere() {
        let folder = tempfile::tempdir().unwrap();
        let (path, label) = (folder.path().join("run"), Label::new("bytes", 1, 7).with_blocks(64));
        let content: Vec<u8> = (0..5000u32).map(|number| (number % 249) as u8).collect();
        let mut writer = RunWriter::create(&path, label).unwrap();
        writer.push(&content).unwrap();
        writer.finish().unwrap();
        let mut access = RandomAccess::new(Run::open(&path, label).unwrap());
        for (offset, length) in [(4900, 100), (0, 1), (63, 2), (100, 3000), (2048, 64), (10, 0)] {
            let mut out = vec![0; length];
            access.read(offset as u64, &mut out).unwrap();
            assert_eq!(out, content[offset..offset + length], "{offset}");
        }
        assert!(access.read(4999, &mut [0; 2]).is_err() && access.record(5000).is_err());
    }

    #[test]
    fn a_file_goes_on_from_a_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let (path, label) = (folder.path().join("run"), LABEL.with_blocks(120));
        let record = |index: u64| [index.to_le_bytes().as_slice(), &7u32.to_le_bytes()].concat();
        let mut writer = RunWriter::create(&path, label).unwrap();
        (0..25).for_each(|index| writer.push(&record(index)).unwrap());
        let checkpoint = writer.checkpoint().unwrap();
        // What comes behind it is lost with the process.
        (90..130).for_each(|index| writer.push(&record(index)).unwrap());
        drop(writer);
        let mut writer = RunWriter::resume(&path, label, checkpoint.clone()).unwrap().unwrap();
        assert_eq!(writer.position(), 25 * 12);
        (25..60).for_each(|index| writer.push(&record(index)).unwrap());
        writer.finish().unwrap();
        let mut records = Run::open(&path, label).unwrap().records();
        for index in 0..60 {
            assert_eq!(records.next().unwrap(), Some(record(index).as_slice()));
        }
        assert_eq!(records.next().unwrap(), None);
        assert!(
            RunWriter::resume(&path, label, checkpoint).unwrap().is_none(),
            "nothing is being written any more"
        );
    }

    #[test]
    fn a_file_that_is_shorter_than_its_checkpoint_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (path, label) = (folder.path().join("run"), LABEL.with_blocks(120));
        let mut writer = RunWriter::create(&path, label).unwrap();
        writer.push(&[1; 600]).unwrap();
        let checkpoint = writer.checkpoint().unwrap();
        let pending = path.with_added_extension("part");
        let length = std::fs::metadata(&pending).unwrap().len();
        std::fs::File::options().write(true).open(&pending).unwrap().set_len(length - 1).unwrap();
        assert!(RunWriter::resume(&path, label, checkpoint.clone()).unwrap().is_none());
        let open = vec![0; 601];
        assert!(RunWriter::resume(&path, label, WriterCheckpoint { open, ..checkpoint }).unwrap().is_none());
    }

    #[test]
    fn a_sound_file_is_of_any_kind_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 2000);
        assert!(is_sound(&path));
        let whole = std::fs::read(&path).unwrap();
        for wrong in [&whole[..whole.len() - 1], &whole[..40], &b"something else"[..], b""] {
            std::fs::write(&path, wrong).unwrap();
            assert!(!is_sound(&path), "{} bytes", wrong.len());
        }
        let mut flipped = whole;
        flipped[HEADER + 5000] ^= 1;
        std::fs::write(&path, flipped).unwrap();
        assert!(!is_sound(&path));
        assert!(!is_sound(&folder.path().join("none")));
    }

    #[test]
    fn blocks_are_asked_for_by_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 1000);
        let run = Run::open(&path, LABEL).unwrap();
        // 682 records of 12 bytes fit into a block of 8 KiB.
        assert_eq!((run.block_bytes(), run.block_count(), run.bytes()), (682 * 12, 2, 12_000));
        let mut block = Vec::new();
        run.block(1, &mut block).unwrap();
        assert_eq!((block.len(), &block[..8]), (318 * 12, &682u64.to_le_bytes()[..]));
        assert!(run.block(2, &mut block).is_err());
        assert!(matches!(Run::open(&folder.path().join("none"), LABEL), Err(StoreError::Read { .. })));
    }
}

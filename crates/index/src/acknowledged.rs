//! The mark of the acknowledged end of the log: the number of a log, and the part of it that was on disk before it was acknowledged.
//!
//! A log that ends before its mark has lost acknowledged writes. A mark may be older than the log, never newer: it is written after
//! the data that it covers. It is one line of fixed length with a checksum, written over the one before.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use lookalike_hash as hash;

use crate::error::IndexError;

/// The name of the file.
pub(crate) const NAME: &str = "acknowledged";

/// Attempts to read the line, which another process may be writing.
const READ_ATTEMPTS: usize = 20;

/// The part of the last log that is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Acknowledged {
    /// The log.
    pub(crate) generation: u64,
    /// Bytes of it.
    pub(crate) end: u64,
    /// The chain of checksums up to there.
    pub(crate) chain: u64,
}

/// The path of the file in an index.
pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

impl Acknowledged {
    /// The line.
    pub(crate) fn line(self) -> String {
        let Acknowledged { generation, end, chain } = self;
        let words = format!("{generation:020} {end:020} {chain:016x}");
        format!("{words} {:016x}\n", hash::sum(words.as_bytes()))
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (generation, end) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let found = Acknowledged { generation, end, chain: u64::from_str_radix(words.next()?, 16).ok()? };
        (found.line() == line).then_some(found)
    }

    /// The mark of the index in a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, IndexError> {
        let path = path(folder);
        for _ in 0..READ_ATTEMPTS {
            let bytes = std::fs::read(&path).map_err(|error| IndexError::read(&path, error))?;
            if let Some(found) = std::str::from_utf8(&bytes).ok().and_then(Acknowledged::parse) {
                return Ok(found);
            }
            std::thread::yield_now();
        }
        Err(IndexError::damaged(&path, "it does not match its checksum"))
    }

    /// Writes the mark over the one before.
    pub(crate) fn write(self, mut file: &File) -> std::io::Result<()> {
        file.seek(SeekFrom::Start(0))?;
        file.write_all(self.line().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_turned_bit_of_a_mark_is_seen_and_all_marks_are_of_one_length() {
        let mark = Acknowledged { generation: 3, end: 12_345, chain: 7 };
        let line = mark.line();
        assert_eq!(Acknowledged::parse(&line), Some(mark));
        let most = Acknowledged { generation: u64::MAX, end: u64::MAX, chain: u64::MAX };
        assert_eq!(most.line().len(), line.len());
        for bit in 0..8 * line.len() {
            let mut bytes = line.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(std::str::from_utf8(&bytes).ok().and_then(Acknowledged::parse), None, "{bit}");
        }
    }

    #[test]
    fn a_mark_is_three_numbers_and_their_checksum() {
        let line = Acknowledged { generation: 3, end: 12_345, chain: 0xab }.line();
        let words = "00000000000000000003 00000000000000012345 00000000000000ab";
        assert_eq!(line, format!("{words} {:016x}\n", hash::sum(words.as_bytes())));
        assert_eq!(line.len(), 76);
    }

    #[test]
    fn only_a_whole_line_is_a_mark() {
        let line = Acknowledged { generation: 1, end: 2, chain: 3 }.line();
        for length in 0..line.len() {
            assert_eq!(Acknowledged::parse(&line[..length]), None, "{length}");
        }
        assert_eq!(Acknowledged::parse(&format!("{line}0")), None);
        assert_eq!(Acknowledged::parse(&format!(" {line}")), None);
    }

    #[test]
    fn a_mark_is_written_over_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(path(folder.path())).unwrap();
        for end in [u64::MAX, 7] {
            let mark = Acknowledged { generation: 2, end, chain: 1 };
            mark.write(&file).unwrap();
            assert_eq!(Acknowledged::read(folder.path()).unwrap(), mark);
        }
    }

    #[test]
    fn a_missing_mark_and_a_damaged_one_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("acknowledged");
        let sentence = || Acknowledged::read(folder.path()).unwrap_err().to_string();
        let missing = format!("{} cannot be read: ", file.display());
        assert!(sentence().starts_with(&missing), "{}", sentence());
        for bytes in [&b""[..], b"0 0 0 0\n", b"\xff\xfe"] {
            std::fs::write(&file, bytes).unwrap();
            let damaged = format!("{} is damaged: it does not match its checksum; ", file.display());
            assert!(sentence().starts_with(&damaged), "{}", sentence());
        }
    }
}

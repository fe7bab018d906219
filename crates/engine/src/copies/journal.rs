//! The list of copies that are done: that a file is there says nothing of what is in it.
//!
//! A line for each copy, written behind it: its name, its size and a digest of its bytes, and a digest of the line itself. What a killed process
//! left behind the last whole line is cut off. A copy that is not as its line says is made again.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use lookalike_hash as hash;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::error::EngineError;

/// The journal of a folder of copies.
pub(crate) struct CopyJournal {
    path: PathBuf,
    stamp: u128,
    /// The copies that earlier processes and this one have made.
    done: Mutex<HashMap<String, CopyDigest>>,
    file: Mutex<File>,
}

/// Size and digest of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct CopyDigest {
    bytes: u64,
    digest: u64,
}

impl CopyDigest {
    /// A file of which nothing stays has no copy.
    const NONE: CopyDigest = CopyDigest { bytes: u64::MAX, digest: 0 };

    fn of(path: &Path) -> std::io::Result<Self> {
        let mut file = match File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(CopyDigest::NONE),
            file => file?,
        };
        let mut hash = Xxh3::new();
        let (mut buffer, mut bytes) = (vec![0; 128 << 10], 0);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(CopyDigest { bytes, digest: hash.digest() }),
                Ok(length) => {
                    hash.update(&buffer[..length]);
                    bytes += length as u64;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl CopyJournal {
    /// Opens a journal, or begins one. Lines that do not bear the stamp are of another job and count for nothing.
    pub(crate) fn open(path: &Path, stamp: u128) -> Result<Self, EngineError> {
        let failed = |error| EngineError::write(path, error);
        let mut options = File::options();
        let file = options.create(true).truncate(false).read(true).write(true).open(path).map_err(failed)?;
        let (mut done, mut whole, mut line) = (HashMap::new(), 0, String::new());
        let mut lines = BufReader::new(&file);
        while lines.read_line(&mut line).is_ok_and(|length| length > 0) {
            let Some((name, copy)) = parse(&line, stamp) else { break };
            done.insert(name, copy);
            whole += line.len() as u64;
            line.clear();
        }
        drop(lines);
        file.set_len(whole).map_err(failed)?;
        let file = File::options().append(true).open(path).map_err(failed)?;
        Ok(CopyJournal { path: path.to_owned(), stamp, done: Mutex::new(done), file: Mutex::new(file) })
    }

    /// True when a copy is done, and still what it was.
    pub(crate) fn has(&self, root: &Path, name: &str) -> Result<bool, EngineError> {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied();
        let Some(done) = done else { return Ok(false) };
        let path = root.join(name);
        let there = CopyDigest::of(&path).map_err(|error| EngineError::read(&path, error))?;
        Ok(there == done)
    }

    /// Notes that a copy is done.
    pub(crate) fn add(&self, root: &Path, name: &str) -> Result<(), EngineError> {
        let path = root.join(name);
        let copy = CopyDigest::of(&path).map_err(|error| EngineError::read(&path, error))?;
        let written =
            self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line(name, copy, self.stamp));
        written.map_err(|error| EngineError::write(&self.path, error))?;
        self.done.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), copy);
        Ok(())
    }

    /// Looks whether all copies are there, each a file of its own: a file system may not tell names apart that differ in case.
    pub(crate) fn check_apart(&self, root: &Path) -> Result<(), EngineError> {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files: Vec<(FileId, &str)> = Vec::with_capacity(done.len());
        for (name, copy) in done.iter().filter(|(_, copy)| **copy != CopyDigest::NONE) {
            let path = root.join(name);
            let facts = std::fs::metadata(&path).map_err(|error| EngineError::read(&path, error))?;
            files.push((file_id(&facts, files.len()), name));
            if facts.len() != copy.bytes {
                let what = format!("it had {} bytes and has {}", copy.bytes, facts.len());
                return Err(EngineError::Damaged { file: path, what });
            }
        }
        files.sort_unstable();
        match files.windows(2).find(|two| two[0].0 == two[1].0) {
            None => Ok(()),
            Some(two) => Err(EngineError::Request(format!(
                "{} and {} became one file, since the file system of {} does not tell their names apart; name a folder on another one",
                two[0].1,
                two[1].1,
                root.display()
            ))),
        }
    }
}

/// The identity of a file on its disk.
type FileId = (u64, u64);

#[cfg(unix)]
fn file_id(facts: &std::fs::Metadata, _: usize) -> FileId {
    use std::os::unix::fs::MetadataExt;
    (facts.dev(), facts.ino())
}

#[cfg(not(unix))]
fn file_id(_: &std::fs::Metadata, number: usize) -> FileId {
    (0, number as u64)
}

fn line(name: &str, copy: CopyDigest, stamp: u128) -> Vec<u8> {
    let fact = serde_json::to_string(&(name, copy.bytes, copy.digest)).expect("names can be written");
    format!("{:032x} {fact}\n", sum(&fact, stamp)).into_bytes()
}

fn parse(line: &str, stamp: u128) -> Option<(String, CopyDigest)> {
    let (digest, fact) = line.strip_suffix('\n')?.split_once(' ')?;
    let (name, bytes, digested) = serde_json::from_str(fact).ok()?;
    (digest == format!("{:032x}", sum(fact, stamp))).then_some((name, CopyDigest { bytes, digest: digested }))
}

fn sum(fact: &str, stamp: u128) -> u128 {
    hash::digest(&[&stamp.to_le_bytes(), fact.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_copy_is_done_when_the_journal_says_so_and_it_is_still_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (root, path) = (folder.path(), folder.path().join("journal"));
        let open = |stamp| CopyJournal::open(&path, stamp).unwrap();
        std::fs::write(root.join("a"), "one").unwrap();
        assert!(!open(1).has(root, "a").unwrap(), "a file that is there is not done by that");
        open(1).add(root, "a").unwrap();
        assert!(open(1).has(root, "a").unwrap());
        std::fs::write(root.join("a"), "two").unwrap();
        assert!(!open(1).has(root, "a").unwrap());
        std::fs::remove_file(root.join("a")).unwrap();
        assert!(!open(1).has(root, "a").unwrap());
        open(1).add(root, "a").unwrap();
        assert!(open(1).has(root, "a").unwrap(), "nothing stays of it");
        std::fs::write(root.join("a"), "one").unwrap();
        assert!(!open(2).has(root, "a").unwrap(), "another job did that");
    }

    #[test]
    fn a_torn_line_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let (root, path) = (folder.path(), folder.path().join("journal"));
        for name in ["a", "b"] {
            std::fs::write(root.join(name), name).unwrap();
            CopyJournal::open(&path, 1).unwrap().add(root, name).unwrap();
        }
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let journal = CopyJournal::open(&path, 1).unwrap();
            let first = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
            assert_eq!(journal.has(root, "a").unwrap(), length >= first);
            assert!(!journal.has(root, "b").unwrap());
            journal.add(root, "b").unwrap();
            assert!(CopyJournal::open(&path, 1).unwrap().has(root, "b").unwrap());
        }
    }

    #[cfg(unix)]
    #[test]
    fn two_names_of_one_file_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::write(root.join("a"), "one").unwrap();
        std::fs::hard_link(root.join("a"), root.join("A")).unwrap();
        let journal = CopyJournal::open(&root.join("journal"), 1).unwrap();
        journal.add(root, "a").unwrap();
        journal.check_apart(root).unwrap();
        journal.add(root, "A").unwrap();
        let error = journal.check_apart(root).unwrap_err().to_string();
        assert!(error.starts_with("A and a became one file") || error.starts_with("a and A"), "{error}");
    }

    proptest! {
        #[test]
        fn lines_are_read_back_by_their_job_alone(name in "\\PC{1,20}", bytes: u64, digest: u64, stamp: u128) {
            let copy = CopyDigest { bytes, digest };
            let line = String::from_utf8(line(&name, copy, stamp)).unwrap();
            prop_assert!(line.ends_with('\n') && line.matches('\n').count() == 1);
            prop_assert_eq!(parse(&line, stamp), Some((name, copy)));
            prop_assert_eq!(parse(&line, stamp ^ 1), None);
            prop_assert_eq!(parse(line.trim_end(), stamp), None);
        }
    }

    #[test]
    fn a_copy_of_another_length_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let journal = CopyJournal::open(&root.join("journal"), 1).unwrap();
        std::fs::write(root.join("a"), "one").unwrap();
        journal.add(root, "a").unwrap();
        journal.add(root, "nothing").unwrap();
        journal.check_apart(root).unwrap();
        std::fs::write(root.join("a"), "longer").unwrap();
        let error = journal.check_apart(root).unwrap_err().to_string();
        assert!(error.contains("it had 3 bytes and has 6"), "{error}");
    }

    #[test]
    fn a_copy_is_known_by_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(CopyDigest::of(&path).unwrap(), CopyDigest::NONE);
        let content: Vec<u8> = (0..300_000u32).map(|number| (number % 251) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let expected = CopyDigest { bytes: 300_000, digest: xxhash_rust::xxh3::xxh3_64(&content) };
        assert_eq!(CopyDigest::of(&path).unwrap(), expected);
    }
}

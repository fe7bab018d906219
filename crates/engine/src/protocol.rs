//! The folder protocol of work that goes on after a stop: one copy, for jobs and for all other work.
//!
//! A folder has one holder at a time, by a lock. The manifest says what is done there, with a digest behind it; scratch files
//! count when the journal says that they are on the disk. Files are written under another name and renamed, and what a killed
//! process left under such names is swept away by the next.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lookalike_hash::{self as hash, Secret};
use lookalike_store::journal::{self, Journal, Recovered};
use lookalike_store::sync::sync_folder;
use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

use crate::context::{remove_if_there, write_whole_with};
use crate::error::EngineError;
use crate::stdin;

/// The folder for scratch files inside a job's folder.
pub(crate) const WORK: &str = "work";
pub(crate) const LOCK: &str = "lock";
pub(crate) const MANIFEST: &str = "job.json";
pub(crate) const SUMMARY: &str = "summary.json";
pub(crate) const RUN: &str = "run.json";
/// Says which copies are done.
pub(crate) const COPIES: &str = "copies";
/// Gathered by a run by an index as it goes.
const REJECTED: &str = "rejected";
/// Files among the scratch files that are none of a stage's.
const OTHERS: &[&str] = &[LOCK, MANIFEST, stdin::FILE, COPIES, REJECTED];

/// The least time that files wait before they are synced to the disk. Debug builds sync nearly all the time, for tests of
/// programs; unit tests sync when they ask for it.
const SYNC_INTERVAL: Duration = match cfg!(debug_assertions) && !cfg!(test) {
    true => Duration::from_millis(20),
    false => Duration::from_secs(10),
};

/// True when there is nothing in a folder, but for an empty one for scratch files: a process that was killed before it could take
/// hold leaves that.
pub(crate) fn is_empty(folder: &Path) -> Result<bool, EngineError> {
    let begun = |path: PathBuf| {
        path.ends_with(WORK) && std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
    };
    match std::fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.all(|entry| entry.is_ok_and(|entry| begun(entry.path())))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(match folder.ancestors().find(|path| path.is_file()) {
            Some(file) => EngineError::NotAFolder { file: file.to_owned() },
            None => EngineError::read(folder, error),
        }),
    }
}

/// True when something was begun or finished in a folder.
pub(crate) fn holds_job(folder: &Path) -> bool {
    folder.join(SUMMARY).exists() || [LOCK, MANIFEST].iter().any(|file| folder.join(WORK).join(file).exists())
}

/// Holds a folder for work that comes before a job in it, until what is returned is dropped.
pub fn lock_folder(folder: &Path) -> Result<File, EngineError> {
    let work = folder.join(WORK);
    if !work.join(LOCK).exists() && !is_empty(folder)? {
        return Err(EngineError::NotAJob { folder: folder.to_owned() });
    }
    std::fs::create_dir_all(&work).map_err(|error| EngineError::write(&work, error))?;
    lock(folder, &work.join(LOCK))
}

pub(crate) fn lock(folder: &Path, path: &Path) -> Result<File, EngineError> {
    let file = File::options()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|error| EngineError::write(path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(EngineError::Locked { folder: folder.to_owned() }),
        Err(std::fs::TryLockError::Error(error)) => Err(EngineError::write(path, error)),
    }
}

/// Writes a manifest, and a digest of it behind it.
pub(crate) fn write_manifest(path: &Path, manifest: &impl Serialize) -> Result<(), EngineError> {
    write_whole_with(path, |out| {
        let mut out = Digested { inner: out, sum: Xxh3::new() };
        serde_json::to_writer(&mut out, manifest)?;
        let digest = out.sum.digest128();
        writeln!(out.inner, "\n{digest:032x}")
    })
}

/// The words of a manifest, whoever wrote it. Behind them stands a digest of them; where that does not match, the manifest did not survive.
pub(crate) fn read_manifest(path: &Path) -> Result<Option<String>, EngineError> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(|error| EngineError::read(path, error))?,
    };
    let mut text = String::from_utf8(bytes).unwrap_or_default();
    let (line, digest) = text.split_once('\n').unwrap_or_default();
    let (length, whole) = (line.len(), digest.trim() == digest_of(line.as_bytes()));
    text.truncate(length);
    Ok(whole.then_some(text))
}

/// XXH3-128 of a value as JSON, of which nothing is kept: there may be a million files in it.
pub(crate) fn json_digest(value: &impl Serialize) -> u128 {
    let mut out = Digested { inner: io::sink(), sum: Xxh3::new() };
    serde_json::to_writer(&mut out, value).expect("names can be written");
    out.sum.digest128()
}

/// A writer that digests what passes.
struct Digested<W> {
    inner: W,
    sum: Xxh3,
}

impl<W: Write> Write for Digested<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

pub(crate) fn digest_of(bytes: &[u8]) -> String {
    format!("{:032x}", hash::digest(bytes))
}

/// The secret of a manifest. One that cannot be read is never replaced by another: a known one could be forged against.
pub(crate) fn secret_of(seed: &str, manifest: &Path) -> Result<Secret, EngineError> {
    number_of(seed, manifest).map(Secret::new)
}

/// A number that a manifest holds as hexadecimal digits.
pub(crate) fn number_of(digits: &str, manifest: &Path) -> Result<u128, EngineError> {
    u128::from_str_radix(digits, 16).map_err(|_| {
        let what = format!("{digits:?} is no number in hexadecimal digits");
        EngineError::Damaged { file: manifest.to_owned(), what }
    })
}

/// Opens the journal of the scratch files in `folder`. Where nothing says what was begun there, all of them go, and `begin` says it.
pub(crate) fn begin_journal(
    folder: &Path,
    begun: bool,
    begin: impl FnOnce() -> Result<(), EngineError>,
) -> Result<(Arc<Journal>, Recovered), EngineError> {
    let work = folder.join(WORK);
    let before = work.join(journal::NAME).metadata();
    if begun {
        let (journal, recovered) = Journal::open(&work, folder, OTHERS, SYNC_INTERVAL)?;
        // Whoever wrote a manifest had a journal before.
        return Ok((journal, Recovered { lost: recovered.lost || before.is_err() }));
    }
    let torn = work.join(MANIFEST).exists();
    for name in [journal::NAME, COPIES, REJECTED] {
        remove_if_there(&work.join(name))?;
    }
    if before.is_ok() {
        // It must not come back and speak of files that others of the same name have replaced.
        sync_folder(&work).map_err(|error| EngineError::write(&work, error))?;
    }
    let lost = torn || before.is_ok_and(|facts| facts.len() > 0);
    let (journal, _) = Journal::open(&work, folder, OTHERS, SYNC_INTERVAL)?;
    begin()?;
    Ok((journal, Recovered { lost }))
}

/// Removes what a killed process had begun to write under other names.
pub fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && name != WORK => sweep(&entry.path()),
            // Nothing is lost if it stays.
            Ok(kind) if kind.is_file() && name.starts_with(".lookalike-") => {
                drop(std::fs::remove_file(entry.path()))
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_cannot_be_read_is_not_replaced_by_a_known_one() {
        let manifest = Path::new("work/job.json");
        for seed in ["", "x", "-1"] {
            assert!(matches!(secret_of(seed, manifest), Err(EngineError::Damaged { .. })), "{seed:?}");
        }
        assert_eq!(secret_of("0a", manifest).unwrap().seed(), 10);
    }

    #[test]
    fn a_manifest_that_did_not_survive_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MANIFEST);
        assert_eq!(read_manifest(&path).unwrap(), None);
        let whole = format!("words\n{}\n", digest_of(b"words"));
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(read_manifest(&path).unwrap().as_deref(), Some("words"));
        for length in 0..whole.len() - 1 {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(read_manifest(&path).unwrap(), None, "{length} bytes of it");
        }
        std::fs::write(&path, b"\xff\n").unwrap();
        assert_eq!(read_manifest(&path).unwrap(), None);
    }

    #[test]
    fn a_folder_with_an_empty_one_for_scratch_files_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert!(is_empty(path).unwrap() && is_empty(&path.join("none")).unwrap());
        std::fs::create_dir(path.join(WORK)).unwrap();
        assert!(is_empty(path).unwrap() && !holds_job(path));
        std::fs::write(path.join(WORK).join("mine"), "").unwrap();
        assert!(!is_empty(path).unwrap() && !holds_job(path));
        std::fs::write(path.join(WORK).join(LOCK), "").unwrap();
        assert!(holds_job(path));
        std::fs::remove_dir_all(path.join(WORK)).unwrap();
        std::fs::write(path.join(SUMMARY), "").unwrap();
        assert!(holds_job(path) && !is_empty(path).unwrap());
    }

    #[test]
    fn unfinished_copies_are_swept_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["kept/deep/.lookalike-1", "kept/deep/a", ".lookalike-2", "work/.lookalike-3", "notes"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        sweep(folder.path());
        assert_eq!(
            crate::delivered::all_names(folder.path()).unwrap(),
            ["kept/deep/a", "notes", "work/.lookalike-3"]
        );
    }

    #[test]
    fn a_folder_is_held_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock_folder(folder.path()).unwrap();
        assert!(matches!(lock_folder(folder.path()), Err(EngineError::Locked { .. })));
        drop(held);
        lock_folder(folder.path()).unwrap();
        let foreign = tempfile::tempdir().unwrap();
        std::fs::write(foreign.path().join("mine"), "").unwrap();
        assert!(matches!(lock_folder(foreign.path()), Err(EngineError::NotAJob { .. })));
        assert!(!foreign.path().join(WORK).exists());
    }

    #[test]
    fn numbers_of_a_manifest_are_hexadecimal() {
        let path = Path::new(MANIFEST);
        assert_eq!(number_of("00ff", path).unwrap(), 255);
        let error = number_of("0x1", path).unwrap_err().to_string();
        assert_eq!(
            error,
            "job.json is damaged: \"0x1\" is no number in hexadecimal digits; begin anew with --force, or in a new folder"
        );
    }
}

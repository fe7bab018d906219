//! Results that survive: digests of all files of a finished folder, and a summary that is there last.
//!
//! `summary.json` is written when all other files are on the disk. It has the length and the XXH3-128 of each, and ends
//! with a checksum of itself, as `run.json` does. [`crate::check`] compares a finished folder with it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lookalike_hash as hash;
use lookalike_store::digest::digest_of;
use lookalike_store::sync::{sync, sync_folder};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::context::{remove_if_there, write_whole_with};
use crate::error::EngineError;
use crate::folder::JobFiles;
use crate::protocol::{RUN, SUMMARY, WORK};

/// The length and digest that a file is known again by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// Its length.
    pub bytes: u64,
    /// XXH3-128 of its content.
    pub xxh3: String,
}

/// A summary with what all other files of its folder are known again by.
#[derive(Serialize)]
struct SummaryWithFiles<'s, S> {
    #[serde(flatten)]
    summary: &'s S,
    files: &'s BTreeMap<String, FileDigest>,
}

/// The field that a small file ends with: a checksum of all that stands before it.
const CHECKSUM: &str = ",\n  \"checksum\": \"";
const CLOSE: &str = "\"\n}\n";

/// Digests a file.
pub fn digest_file(path: &Path) -> Result<FileDigest, EngineError> {
    let (bytes, digest) = digest_of(path)?;
    Ok(FileDigest { bytes, xxh3: format!("{digest:032x}") })
}

/// The names of all files under a folder, scratch files excepted, with `/` between folders.
pub fn names(folder: &Path) -> Result<Vec<String>, EngineError> {
    let mut found = all_names(folder)?;
    found.retain(|name| !name.strip_prefix(WORK).is_some_and(|rest| rest.starts_with('/')));
    Ok(found)
}

/// The names of all files under a folder.
pub(crate) fn all_names(folder: &Path) -> Result<Vec<String>, EngineError> {
    let mut found = Vec::new();
    collect_names(folder, "", &mut found)?;
    found.sort();
    Ok(found)
}

fn collect_names(folder: &Path, above: &str, found: &mut Vec<String>) -> Result<(), EngineError> {
    for entry in std::fs::read_dir(folder).map_err(|error| EngineError::read(folder, error))? {
        let entry = entry.map_err(|error| EngineError::read(folder, error))?;
        // No file that is written here has a name that is no text.
        let Ok(name) = entry.file_name().into_string() else { continue };
        let name = format!("{above}{name}");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect_names(&entry.path(), &format!("{name}/"), found)?,
            Ok(kind) if kind.is_file() => found.push(name),
            _ => {}
        }
    }
    Ok(())
}

/// Makes all files under a folder, and the folder itself, survive a loss of power.
pub fn put_on_disk(folder: &Path) -> Result<(), EngineError> {
    let names = all_names(folder)?;
    let mut paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    paths.extend(folders(folder, &names));
    paths.push(folder.to_owned());
    Ok(sync(&paths)?)
}

/// JSON for people and programs that ends with a checksum of itself.
pub fn sealed(value: &impl Serialize) -> Vec<u8> {
    let mut text = Vec::new();
    write_sealed(&mut text, value).expect("counts can be written");
    text
}

/// Writes JSON that ends with a checksum of itself, piece by piece: `run.json` has a line for every file of the input.
fn write_sealed(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut body = BodyWriter { out, sum: Xxh3::new(), held: Vec::new() };
    serde_json::to_writer_pretty(&mut body, value)?;
    let end = body.held.strip_suffix(b"\n}").unwrap_or(&body.held).len();
    body.write_held(end)?;
    write!(body.out, "{CHECKSUM}{:032x}{CLOSE}", body.sum.digest128())
}

/// A writer that digests what passes, and holds back the end, to which the checksum is added.
struct BodyWriter<'o, W> {
    out: &'o mut W,
    sum: Xxh3,
    held: Vec<u8>,
}

impl<W: Write> BodyWriter<'_, W> {
    fn write_held(&mut self, bytes: usize) -> io::Result<()> {
        self.sum.update(&self.held[..bytes]);
        self.out.write_all(&self.held[..bytes])?;
        self.held.drain(..bytes);
        Ok(())
    }
}

impl<W: Write> Write for BodyWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() > HELD_BYTES {
            self.write_held(self.held.len() - CLOSE.len())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes that are gathered before they are digested and written.
const HELD_BYTES: usize = 64 << 10;

/// True when JSON that [`sealed`] made is as it was made.
pub fn is_sealed(text: &[u8]) -> bool {
    let Some(body) = text.len().checked_sub(CHECKSUM.len() + 32 + CLOSE.len()) else { return false };
    let sum = format!("{CHECKSUM}{:032x}{CLOSE}", hash::digest(&text[..body]));
    text[body..] == *sum.as_bytes()
}

/// Puts all results of `folder` on the disk, and last of all the summary. `beside` are results that are elsewhere, and `run` is what
/// differs from run to run.
pub(crate) fn conclude(
    folder: &Path,
    beside: &[(String, PathBuf)],
    run: &impl Serialize,
    summary: &impl Serialize,
) -> Result<(), EngineError> {
    write_whole_with(&folder.join(RUN), |out| write_sealed(out, run))?;
    for name in names(folder)?.iter().filter(|name| name.ends_with(".part") && !name.contains('/')) {
        // An earlier process did not come to the end of it.
        remove_if_there(&folder.join(name))?;
    }
    let job_files = JobFiles::of(folder);
    let result = |name: &String| job_files.has(name) && name != SUMMARY && name != RUN;
    let names: Vec<String> = names(folder)?.into_iter().filter(result).collect();
    let digest = |name: &String| Ok((name.clone(), digest_file(&folder.join(name))?));
    let mut files = names.iter().map(digest).collect::<Result<BTreeMap<_, _>, EngineError>>()?;
    let mut paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    for (name, path) in beside {
        files.insert(name.clone(), digest_file(path)?);
        paths.push(path.clone());
    }
    paths.extend([folder.join(RUN), folder.to_owned()]);
    paths.extend(folders(folder, &names));
    sync(&paths)?;
    write_durably(&folder.join(SUMMARY), &sealed(&SummaryWithFiles { summary, files: &files }))
}

/// The folders under `folder` that files are in: their own names must survive as well.
fn folders(folder: &Path, names: &[String]) -> Vec<PathBuf> {
    let above = names.iter().flat_map(|name| name.match_indices('/').map(|(at, _)| &name[..at]));
    let mut found: Vec<PathBuf> = above.map(|name| folder.join(name)).collect();
    found.sort();
    found.dedup();
    found
}

/// Writes a small file whole or not at all; when this returns, it survives a loss of power.
pub fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
    let pending = path.with_added_extension("part");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&pending)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&pending, path)?;
        sync_folder(path.parent().unwrap_or(Path::new("")))
    };
    write().map_err(|error| EngineError::write(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_turned_bit_of_a_sealed_file_is_seen() {
        let text = sealed(&serde_json::json!({"kept": 3, "files": {"a": 1}}));
        assert!(is_sealed(&text) && !is_sealed(b"") && !is_sealed(&text[1..]));
        let read: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(read["kept"], 3);
        for bit in 0..8 * text.len() {
            let mut text = text.clone();
            text[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_sealed(&text), "{bit}");
        }
    }

    #[test]
    fn a_long_file_is_sealed_as_if_it_had_been_made_whole() {
        let value = serde_json::json!({"files": vec!["a name of a file".to_owned(); 10_000], "last": 1});
        let whole = serde_json::to_string_pretty(&value).unwrap();
        let body = whole.strip_suffix("\n}").unwrap();
        assert!(body.len() > 3 * HELD_BYTES);
        let sum = hash::digest(body.as_bytes());
        assert_eq!(sealed(&value), format!("{body}{CHECKSUM}{sum:032x}{CLOSE}").into_bytes());
    }

    #[test]
    fn digests_are_those_of_the_whole_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let content: Vec<u8> = (0..700_000u32).map(|number| (number % 251) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let digested = digest_file(&path).unwrap();
        assert_eq!(digested, FileDigest { bytes: 700_000, xxh3: format!("{:032x}", hash::digest(&content)) });
    }

    fn put(folder: &Path, name: &str, content: &str) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    #[test]
    fn names_are_those_of_results_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["kept/b/c", "a", "work/scratch", "working/d", "kept/a"] {
            put(folder.path(), name, "");
        }
        assert_eq!(names(folder.path()).unwrap(), ["a", "kept/a", "kept/b/c", "working/d"]);
        assert_eq!(all_names(folder.path()).unwrap().len(), 5);
        assert!(names(&folder.path().join("none")).is_err());
    }

    #[test]
    fn every_folder_above_a_file_is_named_once() {
        let names = ["a", "kept/b/c", "kept/b/d", "kept/e"].map(str::to_owned);
        let expected = ["x/kept", "x/kept/b"].map(PathBuf::from);
        assert_eq!(folders(Path::new("x"), &names), expected);
    }

    #[test]
    fn a_summary_has_the_digests_of_results_alone() {
        let (folder, beside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(folder.path(), "removed.jsonl", "{}\n");
        put(folder.path(), "mine.txt", "mine");
        put(folder.path(), "removed.jsonl.part", "half");
        put(beside.path(), "table", "pairs");
        let elsewhere = [("pairs.jsonl".to_owned(), beside.path().join("table"))];
        let (run, summary) = (serde_json::json!({"seconds": 1}), serde_json::json!({"kept": 3}));
        conclude(folder.path(), &elsewhere, &run, &summary).unwrap();
        let text = std::fs::read(folder.path().join(SUMMARY)).unwrap();
        assert!(is_sealed(&text) && is_sealed(&std::fs::read(folder.path().join(RUN)).unwrap()));
        let read: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let files: Vec<&str> = read["files"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(files, ["pairs.jsonl", "removed.jsonl"]);
        assert_eq!(read["kept"], 3);
        assert_eq!(read["files"]["pairs.jsonl"]["bytes"], 5);
        assert!(!folder.path().join("removed.jsonl.part").exists());
        assert_eq!(std::fs::read(folder.path().join("mine.txt")).unwrap(), b"mine");
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for content in ["one", "two"] {
            write_durably(&path, content.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(all_names(folder.path()).unwrap(), ["a"]);
        assert!(matches!(digest_file(&folder.path().join("none")), Err(EngineError::Read { .. })));
    }

    #[test]
    fn files_in_deep_folders_are_put_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "a/b/c", "x");
        put_on_disk(folder.path()).unwrap();
        assert!(put_on_disk(&folder.path().join("none")).is_err());
    }
}

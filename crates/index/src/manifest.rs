//! The manifest: the list of the files of the index, that is its segments and its first log, with counts and the secret. Replaced as
//! a whole, so that it always describes one moment.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use lookalike_hash::{self as hash, Secret};
use lookalike_store::sync::sync_folder;
use serde::{Deserialize, Serialize};

use crate::error::IndexError;
use crate::part::Counts;

/// Raised when older programs cannot read what is written.
pub(crate) const FORMAT: u32 = 3;

/// The name of the file that makes a folder an index.
pub(crate) const NAME: &str = "index.json";

/// The files of the index and its fixed settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    /// Digest of the recipe and of the data that methods learned; every file carries it.
    pub(crate) stamp: String,
    /// The seed of the index's secret, by which words are hashed.
    pub(crate) secret: String,
    /// True if texts are kept.
    pub(crate) text: bool,
    pub(crate) segments: Vec<SegmentEntry>,
    /// The first log with documents that are in no segment.
    pub(crate) log: u64,
    pub(crate) next_segment: u64,
    /// Counts of the documents in segments.
    pub(crate) counts: Counts,
    /// The mark that the caller stored with the last documents, to resume after a stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mark: Option<String>,
}

/// The field that manifests of every format version have.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// A segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentEntry {
    pub(crate) id: u64,
    pub(crate) first: u32,
    pub(crate) end: u32,
}

impl Manifest {
    pub(crate) fn secret(&self) -> Result<Secret, IndexError> {
        let seed = u128::from_str_radix(&self.secret, 16);
        seed.map(Secret::new).map_err(|_| IndexError::damaged(Path::new(NAME), "its secret is no number"))
    }

    fn path(folder: &Path) -> PathBuf {
        folder.join(NAME)
    }

    /// The manifest of a folder; its second line is a digest of the first.
    pub(crate) fn read(folder: &Path) -> Result<Self, IndexError> {
        let path = Manifest::path(folder);
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(IndexError::NotAnIndex { folder: folder.to_owned() });
            }
            text => text.map_err(|error| IndexError::read(&path, error))?,
        };
        let (line, digest) = text.split_once('\n').unwrap_or_default();
        if digest.trim() != digest_of(line) {
            return Err(IndexError::damaged(&path, "it does not match its checksum"));
        }
        let damaged = |error: serde_json::Error| IndexError::damaged(&path, error.to_string());
        // What else a newer one says nobody knows yet.
        let Format { format } = serde_json::from_str(line).map_err(damaged)?;
        if format != FORMAT {
            return Err(IndexError::Request(format!(
                "{} has format {format} and this program reads format {FORMAT}; take the program that wrote it",
                folder.display(),
            )));
        }
        serde_json::from_str(line).map_err(damaged)
    }

    /// Replaces the manifest of a folder.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), IndexError> {
        let line = serde_json::to_string(self).expect("numbers and names can be written");
        replace(&Manifest::path(folder), format!("{line}\n{}\n", digest_of(&line)).as_bytes())
    }
}

fn digest_of(line: &str) -> String {
    format!("{:032x}", hash::digest(line.as_bytes()))
}

/// Writes a file whole or not at all, so that it survives the end of the machine.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), IndexError> {
    let pending = path.with_added_extension("part");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&pending)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&pending, path)?;
        sync_folder(path.parent().unwrap_or(Path::new("")))
    };
    write().map_err(|error| IndexError::write(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        Manifest {
            format: FORMAT,
            stamp: "0a".to_owned(),
            secret: "0f".to_owned(),
            text: true,
            segments: vec![SegmentEntry { id: 4, first: 0, end: 7 }],
            log: 2,
            next_segment: 5,
            counts: Counts { added: 7, kept: 7, ..Counts::default() },
            mark: None,
        }
    }

    /// Writes a line with the right checksum and returns the error of reading it.
    fn refused(line: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        std::fs::write(&path, format!("{line}\n{}\n", digest_of(line))).unwrap();
        let sentence = Manifest::read(folder.path()).unwrap_err().to_string();
        let sentence = sentence.replace(&path.display().to_string(), "FILE");
        sentence.replace(&folder.path().display().to_string(), "FOLDER")
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let marked = Manifest { mark: Some("half \"way\"\n".to_owned()), ..manifest() };
        for manifest in [manifest(), marked, Manifest { segments: Vec::new(), ..manifest() }] {
            manifest.write(folder.path()).unwrap();
            assert_eq!(Manifest::read(folder.path()).unwrap(), manifest);
        }
    }

    #[test]
    fn a_manifest_is_a_line_and_its_digest() {
        let folder = tempfile::tempdir().unwrap();
        manifest().write(folder.path()).unwrap();
        let text = std::fs::read_to_string(folder.path().join("index.json")).unwrap();
        let expected = r#"{"format":3,"stamp":"0a","secret":"0f","text":true,"segments":[{"id":4,"first":0,"end":7}],"log":2,"next_segment":5,"counts":{"added":7,"kept":7,"removed":0,"deleted":0,"classes":0,"left_out":0}}"#;
        assert_eq!(text, format!("{expected}\n{:032x}\n", hash::digest(expected.as_bytes())));
    }

    #[test]
    fn a_folder_without_a_manifest_is_no_index() {
        let folder = tempfile::tempdir().unwrap();
        let sentence = Manifest::read(folder.path()).unwrap_err().to_string();
        let shown = folder.path().display();
        assert_eq!(sentence, format!("{shown} holds no index; make one with `lookalike index create`"));
    }

    #[test]
    fn every_turned_bit_of_a_manifest_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        manifest().write(folder.path()).unwrap();
        let whole = std::fs::read(&path).unwrap();
        // The line break at the end says nothing.
        for byte in 0..whole.len() - 1 {
            let mut bytes = whole.clone();
            bytes[byte] ^= 1 << (byte % 8);
            std::fs::write(&path, bytes).unwrap();
            assert!(Manifest::read(folder.path()).is_err(), "{byte}");
        }
    }

    #[test]
    fn a_manifest_that_is_cut_off_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        manifest().write(folder.path()).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 1, whole.len() / 2, whole.len() - 34, whole.len() - 2] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let sentence = Manifest::read(folder.path()).unwrap_err().to_string();
            let damaged = format!("{} is damaged: it does not match its checksum; ", path.display());
            assert!(sentence.starts_with(&damaged), "{length}: {sentence}");
        }
    }

    #[test]
    fn another_format_is_named_whatever_else_there_is() {
        for format in [2, 4] {
            let wanted = format!(
                "FOLDER has format {format} and this program reads format 3; take the program that wrote it"
            );
            assert_eq!(refused(&format!(r#"{{"format":{format},"else":[]}}"#)), wanted);
        }
    }

    #[test]
    fn a_manifest_without_a_field_is_damaged() {
        let sentence = refused(r#"{"format":3,"stamp":"0a"}"#);
        assert!(sentence.starts_with("FILE is damaged: missing field `secret`"), "{sentence}");
        let sentence = refused("[]");
        assert!(sentence.starts_with("FILE is damaged: "), "{sentence}");
    }

    #[test]
    fn the_secret_is_a_number_in_sixteens() {
        assert_eq!(manifest().secret().unwrap().seed(), 15);
        for secret in ["", "0g", "-1", "100000000000000000000000000000000"] {
            let manifest = Manifest { secret: secret.to_owned(), ..manifest() };
            let sentence = manifest.secret().map(drop).unwrap_err().to_string();
            assert!(sentence.starts_with("index.json is damaged: its secret is no number; "), "{sentence}");
        }
    }

    #[test]
    fn a_replaced_file_has_the_new_content_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.txt");
        std::fs::write(folder.path().join("file.txt.part"), "the rest of a killed process").unwrap();
        for content in ["a long content", "short"] {
            replace(&path, content.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_replaced_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing").join("file");
        let sentence = replace(&path, b"").unwrap_err().to_string();
        assert!(sentence.starts_with(&format!("{} cannot be written: ", path.display())), "{sentence}");
    }
}

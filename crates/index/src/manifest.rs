//! The manifest: the list of the files of the index, that is its segments and its first log, with counts and the secret. Replaced as
//! a whole, so that it always describes one moment.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use lookalike_corpus::write::sync::sync_folder;
use lookalike_text::hash::{self, Secret};
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

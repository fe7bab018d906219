//! A copy of an index at one moment. Segments never change, so a copy on the same disk takes no room for them.

use std::path::Path;

use lookalike_corpus::write::sync::sync;
use lookalike_engine::EngineError;

use crate::acknowledged::{self, Acknowledged};
use crate::error::IndexError;
use crate::index::{Index, KNOWLEDGE, READ_ATTEMPTS, RECIPE};
use crate::log;
use crate::manifest::{self, Manifest};
use crate::segment::segment_id;

impl Index {
    /// Copies the index in `from` to the folder `to`, also while another process adds to it.
    pub fn fork(from: &Path, to: &Path) -> Result<(), IndexError> {
        for _ in 0..READ_ATTEMPTS {
            if to.exists() {
                std::fs::remove_dir_all(to).map_err(|error| IndexError::write(to, error))?;
            }
            let manifest = Manifest::read(from)?;
            let copied = copy(from, to, &manifest);
            // What a manifest names may go while it is copied; then there is a newer one.
            if Manifest::read(from)? == manifest {
                copied?;
                return manifest.write(to);
            }
        }
        Err(IndexError::Busy { folder: from.to_owned() })
    }
}

fn copy(from: &Path, to: &Path, manifest: &Manifest) -> Result<(), IndexError> {
    std::fs::create_dir_all(to).map_err(|error| IndexError::write(to, error))?;
    // Older than the logs that are copied behind it.
    let mark = Acknowledged::read(from)?;
    manifest::replace(&acknowledged::path(to), mark.line().as_bytes())?;
    // Looked for first: all logs but the last are finished then, and what comes behind the last is of a later moment.
    let last = log::last(from, manifest.log);
    let knowledge = to.join(KNOWLEDGE);
    std::fs::create_dir_all(&knowledge).map_err(|error| IndexError::write(&knowledge, error))?;
    copy_file(&from.join(RECIPE), &to.join(RECIPE))?;
    for path in entries(&from.join(KNOWLEDGE))? {
        copy_file(&path, &knowledge.join(path.file_name().unwrap_or_default()))?;
    }
    let wanted = |id: u64| manifest.segments.iter().any(|entry| entry.id == id);
    for path in entries(from)?.iter().filter(|path| segment_id(path).is_some_and(wanted)) {
        let target = to.join(path.file_name().unwrap_or_default());
        if std::fs::hard_link(path, &target).is_err() {
            copy_file(path, &target)?;
        }
    }
    let mut logs = last.into_iter().flat_map(|last| manifest.log..=last);
    logs.try_for_each(|generation| copy_file(&log::path(from, generation), &log::path(to, generation)))?;
    let mut all = entries(to)?;
    all.extend(entries(&knowledge)?);
    all.extend([knowledge, to.to_owned()]);
    Ok(sync(&all).map_err(EngineError::from)?)
}

fn copy_file(from: &Path, to: &Path) -> Result<(), IndexError> {
    std::fs::copy(from, to).map(drop).map_err(|error| IndexError::write(to, error))
}

/// The files in a folder.
pub(crate) fn entries(folder: &Path) -> Result<Vec<std::path::PathBuf>, IndexError> {
    let entries = std::fs::read_dir(folder).map_err(|error| IndexError::read(folder, error))?;
    Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect())
}

//! Errors of an index, one sentence each: the fault, the file or folder, and the remedy.

use std::io;
use std::path::{Path, PathBuf};

use lookalike_engine::EngineError;

/// The reason why an operation on an index failed.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The recipe, the methods or a file of records.
    #[error(transparent)]
    Engine(EngineError),
    /// A file of the index is not as it was written.
    #[error("{} is damaged: {what}; take a copy of the index from before, or add its documents to a new one", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The fault.
        what: String,
    },
    /// A file could not be read or written.
    #[error("{} cannot be {done}: {source}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// `read` or `written`.
        done: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// The folder holds no index.
    #[error("{} holds no index; make one with `lookalike index create`", folder.display())]
    NotAnIndex {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder is not empty.
    #[error("{} is there already and is not empty; name a new folder", folder.display())]
    Taken {
        /// The folder.
        folder: PathBuf,
    },
    /// Another process adds to the index.
    #[error("{} is being written to by another process; send documents to that one, or wait for it to end", folder.display())]
    Locked {
        /// The folder.
        folder: PathBuf,
    },
    /// Another process replaces files faster than they can be read.
    #[error("{} changes faster than it can be read; try again, or ask the process that writes to it", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// Two recipes do not agree.
    #[error("{} was made by another recipe: {differences}; give --recipe {}, or make a new index", folder.display(), folder.join("recipe.toml").display())]
    OtherRecipe {
        /// The folder.
        folder: PathBuf,
        /// The lines in which both differ.
        differences: String,
    },
    /// The request cannot be fulfilled; the sentence says why.
    #[error("{0}")]
    Request(String),
    /// An earlier write failed half way.
    #[error("an earlier write to {} failed; open the index again, it goes on with what was acknowledged", folder.display())]
    Broken {
        /// The folder.
        folder: PathBuf,
    },
}

impl IndexError {
    pub(crate) fn read(file: &Path, source: io::Error) -> Self {
        IndexError::File { file: file.to_owned(), done: "read", source }
    }

    pub(crate) fn write(file: &Path, source: io::Error) -> Self {
        IndexError::File { file: file.to_owned(), done: "written", source }
    }

    pub(crate) fn damaged(file: &Path, what: impl Into<String>) -> Self {
        IndexError::Damaged { file: file.to_owned(), what: what.into() }
    }
}

impl From<EngineError> for IndexError {
    fn from(error: EngineError) -> Self {
        match error {
            // The engine would have its job run again; an index is not made again so easily.
            EngineError::Damaged { file, what } => IndexError::Damaged { file, what },
            EngineError::Read { file, source } => IndexError::File { file, done: "read", source },
            EngineError::Write { file, source } => IndexError::File { file, done: "written", source },
            error => IndexError::Engine(error),
        }
    }
}

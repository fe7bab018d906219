//! Errors of an index, one sentence each: the fault, the file or folder, and the remedy.

use std::io;
use std::path::{Path, PathBuf};

use lookalike_engine::EngineError;
use lookalike_store::StoreError;

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

impl From<StoreError> for IndexError {
    fn from(error: StoreError) -> Self {
        EngineError::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing() -> io::Error {
        io::Error::new(io::ErrorKind::NotFound, "no such file")
    }

    #[test]
    fn files_are_named_with_what_was_to_be_done() {
        let (read, write) =
            (IndexError::read(Path::new("a"), missing()), IndexError::write(Path::new("b"), missing()));
        assert_eq!(read.to_string(), "a cannot be read: no such file");
        assert_eq!(write.to_string(), "b cannot be written: no such file");
    }

    #[test]
    fn damage_is_told_with_a_remedy() {
        assert_eq!(
            IndexError::damaged(Path::new("log"), "it is cut off").to_string(),
            "log is damaged: it is cut off; take a copy of the index from before, or add its documents to a new one"
        );
    }

    #[test]
    fn another_recipe_is_told_with_the_file_of_the_right_one() {
        let error =
            IndexError::OtherRecipe { folder: "pages".into(), differences: "there 1 and here 2".to_owned() };
        let file = Path::new("pages").join("recipe.toml");
        let wanted = format!(
            "pages was made by another recipe: there 1 and here 2; give --recipe {}, or make a new index",
            file.display()
        );
        assert_eq!(error.to_string(), wanted);
    }

    #[test]
    fn damage_that_the_engine_finds_is_not_mended_as_that_of_a_job() {
        let engine = EngineError::Damaged { file: "rows".into(), what: "it is cut off".to_owned() };
        assert!(engine.to_string().contains("--force"));
        let error = IndexError::from(engine);
        assert_eq!(error.to_string(), IndexError::damaged(Path::new("rows"), "it is cut off").to_string());
    }

    #[test]
    fn errors_of_the_engine_keep_their_file_and_cause() {
        let read = IndexError::from(EngineError::Read { file: "a".into(), source: missing() });
        assert!(matches!(&read, IndexError::File { done: "read", .. }), "{read:?}");
        assert_eq!(read.to_string(), "a cannot be read: no such file");
        let write = IndexError::from(EngineError::Write { file: "b".into(), source: missing() });
        assert_eq!(write.to_string(), "b cannot be written: no such file");
        let stopped = IndexError::from(EngineError::Stopped);
        assert!(matches!(stopped, IndexError::Engine(EngineError::Stopped)), "{stopped:?}");
        assert_eq!(stopped.to_string(), EngineError::Stopped.to_string());
    }
}

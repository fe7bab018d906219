//! Errors that keep a service from starting, or end it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use lookalike::engine::recipe::RecipeError;

/// The reason why a service does not start, or ends.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The folder holds nothing that can be served.
    #[error("{} is neither an index nor the folder of a finished dedup job; give one that `lookalike index create` or `lookalike dedup -o` made", .0.display())]
    NothingToServe(PathBuf),
    /// A job that has not come to its end.
    #[error("the job in {} is not finished; run its command again, it goes on where it ended", .0.display())]
    Unfinished(PathBuf),
    /// A job of another kind.
    #[error("{} holds a job of `lookalike {task}`, which has no clusters to show; give the folder of a dedup job", folder.display())]
    OtherTask {
        /// The folder.
        folder: PathBuf,
        /// The command that made it.
        task: String,
    },
    /// A job of a program with other rules and files.
    #[error("the job in {} cannot be served: {made}", folder.display())]
    OtherVersion {
        /// The folder.
        folder: PathBuf,
        /// The versions of both.
        made: RecipeError,
    },
    /// A job whose tables are Parquet.
    #[error("the tables of {} are Parquet, and only JSON lines are served; run dedup again with --format jsonl", .0.display())]
    Parquet(PathBuf),
    /// An index that cannot be opened or closed.
    #[error(transparent)]
    Index(#[from] lookalike_index::IndexError),
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{} is damaged: {what}; run dedup again into a new folder", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The fault.
        what: String,
    },
    /// A service that takes no work, or is not there.
    #[error("the service at {address} takes no work: {why}")]
    NotReady {
        /// Its address.
        address: SocketAddr,
        /// The cause, or the answer that it gave.
        why: String,
    },
    /// A token that is easily guessed.
    #[error("line {line} of {} has a token of fewer than {least} characters; make it longer", file.display())]
    ShortToken {
        /// The file of tokens.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Fewest characters.
        least: usize,
    },
    /// A token that no header can carry.
    #[error("line {line} of {} has a token with blanks or characters beyond ASCII; use letters, digits and - . _ ~ + / =", file.display())]
    OddToken {
        /// The file of tokens.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A file without tokens.
    #[error("{} holds no token; put one of at least 16 characters on a line of its own", .0.display())]
    NoToken(PathBuf),
    /// Open to others without a token.
    #[error(
        "{0} can be reached from other machines; give --token-file, or --insecure if everybody may read and change what is served"
    )]
    Exposed(SocketAddr),
    /// The address is taken.
    #[error("{0} is in use; give another address by --address, with port 0 for any free one")]
    InUse(SocketAddr),
    /// The address cannot be had.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// The system gives no threads or no randomness.
    #[error("the service cannot run: {0}")]
    System(io::Error),
}

impl ServiceError {
    pub(crate) fn read(file: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let file = file.into();
        |source| ServiceError::Read { file, source }
    }
}

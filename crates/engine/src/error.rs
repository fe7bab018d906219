//! The errors that stop a run. Each message is one sentence: what happened, where, and what to do.

use std::io;
use std::path::{Path, PathBuf};

use lookalike_corpus::CorpusError;
use lookalike_store::StoreError;
use lookalike_store::sync::SyncError;

use crate::recipe::RecipeError;
use crate::walk::WalkError;

/// The reason why a run ended early. Unless the message says otherwise, the same command goes on where this one ended.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The corpus could not be read, or an output not written.
    #[error(transparent)]
    Corpus(CorpusError),
    /// It was asked to stop.
    #[error("interrupted; the same command goes on from here")]
    Stopped,
    /// A file of the job could not be read.
    #[error("{} cannot be read: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file of the job could not be written.
    #[error("{} cannot be written: {source}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// No room is left on the disk.
    #[error("the disk is full: {} cannot be written; make room and run the same command again, it goes on where it ended", file.display())]
    DiskFull {
        /// The file.
        file: PathBuf,
    },
    /// Free space is below what the run will need.
    #[error("the run needs about {} MB of disk under {} and {} MB are free; make room, name another folder, or take --spool none", needed >> 20, folder.display(), free >> 20)]
    NoRoom {
        /// The folder that the files are written to.
        folder: PathBuf,
        /// Bytes it will need.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// A group proposes more pairs than the disk holds.
    #[error("{documents} documents share a key and propose about {pairs} pairs, which take {} MB of disk under {} where {} MB are free; lower --max-group, or make room", needed >> 20, folder.display(), free >> 20)]
    TooManyPairs {
        /// Documents of the group.
        documents: u64,
        /// Pairs that it proposes.
        pairs: u64,
        /// The folder that the pairs are written to.
        folder: PathBuf,
        /// Bytes that they take.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The rest of the work will take more than is free.
    #[error("the disk has {} MB left and the run needs about {} MB more under {}; make room and run the same command again, it goes on where it ended", free / 1_000_000, needed.div_ceil(1_000_000), folder.display())]
    RunsOut {
        /// The folder that the files are written to.
        folder: PathBuf,
        /// Bytes that are free.
        free: u64,
        /// Bytes it will need.
        needed: u64,
    },
    /// A file of the job is not as it was written.
    #[error("{} is damaged: {what}; begin anew with --force, or in a new folder", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// A description of the damage.
        what: String,
    },
    /// The folder holds a job of a program with other rules and files.
    #[error("the job in {} cannot be continued: {made}, name another folder, or begin anew with --force", folder.display())]
    OtherVersion {
        /// The folder.
        folder: PathBuf,
        /// The versions of both.
        made: RecipeError,
    },
    /// The memory cap is too small.
    #[error("--memory is too small: {why} needs at least {} MB; give --memory {}M", needed.div_ceil(1 << 20), needed.div_ceil(1 << 20))]
    Memory {
        /// The part of the run that needs more memory.
        why: String,
        /// Bytes that would do.
        needed: u64,
    },
    /// Another process works in the folder.
    #[error("{} is in use by another run; wait for it to end or name another folder", folder.display())]
    Locked {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds a job with another recipe.
    #[error("{} holds a job with another recipe; take another folder, or begin anew with --force: {differences}", folder.display())]
    OtherRecipe {
        /// The folder.
        folder: PathBuf,
        /// The lines in which both differ.
        differences: String,
    },
    /// The input is not what it was when the job began.
    #[error("the input changed since the job in {} began ({what}); begin anew with --force, or take another folder", folder.display())]
    InputChanged {
        /// The folder.
        folder: PathBuf,
        /// A description of the change.
        what: String,
    },
    /// Files cannot be read.
    #[error(
        "{count} of {all} files cannot be read; the first: {first}; mend or remove them, or leave them out with --skip-unreadable"
    )]
    Unreadable {
        /// The number of them.
        count: usize,
        /// The number of all files.
        all: usize,
        /// The trouble with the first of them.
        first: CorpusError,
    },
    /// The folder holds something else.
    #[error("{} holds files that are no job of lookalike; name a new or empty folder", folder.display())]
    NotAJob {
        /// The folder.
        folder: PathBuf,
    },
    /// A file stands where a folder must be.
    #[error("{} is a file, and results take a folder; name a new or empty one", file.display())]
    NotAFolder {
        /// The file.
        file: PathBuf,
    },
    /// More documents than one job can number.
    #[error("more than {} documents in one job; split the input", u32::MAX - 1)]
    TooMany,
    /// A line of a list cannot be used.
    #[error("{name}, line {line}: {what}")]
    List {
        /// The list.
        name: String,
        /// The line, from 1.
        line: u64,
        /// A description of the fault, and what to do.
        what: String,
    },
    /// An invalid request; the message says what is wrong with it.
    #[error("{0}")]
    Request(String),
}

impl From<CorpusError> for EngineError {
    fn from(error: CorpusError) -> Self {
        match error {
            CorpusError::Memory { why, needed } => EngineError::Memory { why, needed },
            error => EngineError::Corpus(error),
        }
    }
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Read { file, source } => EngineError::Read { file, source },
            StoreError::Write { file, source } => EngineError::Write { file, source },
            StoreError::Sync(error) => error.into(),
            StoreError::DiskFull { file } => EngineError::DiskFull { file },
            StoreError::Damaged { file, what } => EngineError::Damaged { file, what },
        }
    }
}

impl From<SyncError> for EngineError {
    fn from(error: SyncError) -> Self {
        WalkError::from(error).into()
    }
}

impl From<WalkError> for EngineError {
    fn from(error: WalkError) -> Self {
        match error {
            WalkError::Corpus(error) => error.into(),
            WalkError::Stopped => EngineError::Stopped,
        }
    }
}

impl EngineError {
    /// A file that cannot be read.
    pub fn read(file: &Path, source: io::Error) -> Self {
        EngineError::Read { file: file.to_owned(), source }
    }

    /// A file that cannot be written; a full disk is told from other reasons.
    pub fn write(file: &Path, source: io::Error) -> Self {
        StoreError::write(file, source).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_other_reasons() {
        let write = |kind: io::ErrorKind| EngineError::write(Path::new("f"), kind.into());
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            assert!(write(kind).to_string().starts_with("the disk is full: f cannot be written"), "{kind}");
        }
        assert!(write(io::ErrorKind::PermissionDenied).to_string().starts_with("f cannot be written: "));
        let read = EngineError::read(Path::new("f"), io::ErrorKind::NotFound.into()).to_string();
        assert!(read.starts_with("f cannot be read: "), "{read}");
    }

    #[test]
    fn a_reader_that_wants_memory_is_a_cap_that_is_too_small() {
        let error = CorpusError::Memory { why: "a decoder".to_owned(), needed: (5 << 20) + 1 };
        assert_eq!(
            EngineError::from(error).to_string(),
            "--memory is too small: a decoder needs at least 6 MB; give --memory 6M"
        );
        let error = EngineError::from(WalkError::Corpus(CorpusError::NoInput { input: "x".to_owned() }));
        assert!(matches!(error, EngineError::Corpus(CorpusError::NoInput { .. })));
    }

    #[test]
    fn a_file_that_cannot_be_put_on_the_disk_is_an_output_that_cannot_be_written() {
        let error = SyncError { file: "f".into(), source: io::ErrorKind::StorageFull.into() };
        assert_eq!(
            EngineError::from(StoreError::from(error)).to_string(),
            "cannot write f: the disk is full; make room or write to another one"
        );
    }

    #[test]
    fn a_walk_that_was_stopped_is_a_run_that_was() {
        assert!(matches!(EngineError::from(WalkError::Stopped), EngineError::Stopped));
    }
}

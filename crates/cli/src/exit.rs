//! The outcomes and failures of commands, and their exit codes.

use std::fmt;
use std::io;

use lookalike::corpus::CorpusError;
use lookalike::engine::EngineError;
use lookalike::index::IndexError;
use lookalike::judgments::ListError;
use lookalike::walk::WalkError;
use lookalike_lab::trial::LabError;
use lookalike_service::ServiceError;
use lookalike_transfer::TransferError;

/// Something failed.
pub const FAILED: u8 = 1;
/// Wrong usage: the arguments make no sense.
pub const USAGE: u8 = 2;
/// Done, with rejected records, under `--strict`.
pub const REJECTED: u8 = 3;
/// More records were rejected than `--max-rejected` allows.
pub const TOO_MANY_REJECTED: u8 = 4;
/// Ended by Ctrl-C or a polite kill, as shells count it.
pub const INTERRUPTED: u8 = 130;

/// A command that ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All is well.
    Done,
    /// Records were rejected and `--strict` was given.
    Rejected,
}

/// A command that did not.
#[derive(Debug)]
pub enum Failure {
    /// The arguments make no sense.
    Usage(String),
    /// Something that was asked for is not there, or is not what it should be.
    Missing(String),
    /// The work failed.
    Work(WalkError),
    /// A job failed.
    Job(EngineError),
    /// Standard output could not be written.
    Output(CorpusError),
    /// The reader of our output went away: `lookalike … | head` is no failure.
    ClosedPipe,
}

impl Failure {
    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => USAGE,
            Failure::Work(WalkError::Corpus(
                CorpusError::UnknownOutput { .. } | CorpusError::Memory { .. },
            )) => USAGE,
            Failure::Work(WalkError::Corpus(CorpusError::TooManyRejected { .. }))
            | Failure::Job(EngineError::Corpus(CorpusError::TooManyRejected { .. })) => TOO_MANY_REJECTED,
            Failure::Work(WalkError::Stopped) => INTERRUPTED,
            Failure::Job(EngineError::Request(_) | EngineError::Memory { .. }) => USAGE,
            Failure::Job(EngineError::Stopped) => INTERRUPTED,
            Failure::Job(_) | Failure::Missing(_) | Failure::Work(_) | Failure::Output(_) => FAILED,
            Failure::ClosedPipe => 0,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(sentence) | Failure::Missing(sentence) => f.write_str(sentence),
            Failure::Work(error) => error.fmt(f),
            Failure::Job(error) => error.fmt(f),
            Failure::Output(error) => error.fmt(f),
            Failure::ClosedPipe => f.write_str("the reader of the output went away"),
        }
    }
}

impl From<WalkError> for Failure {
    fn from(error: WalkError) -> Self {
        Failure::Work(error)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Failure::Job(error)
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Engine(error) => Failure::Job(error),
            LabError::Method(error) => Failure::Usage(error.to_string()),
            LabError::Walk(error) => Failure::Work(error),
            LabError::Corpus(error) => Failure::Work(error.into()),
            LabError::Request(sentence) => Failure::Usage(sentence),
            other => Failure::Missing(other.to_string()),
        }
    }
}

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Engine(error) => Failure::Job(error),
            IndexError::Request(sentence) => Failure::Usage(sentence),
            other => Failure::Missing(other.to_string()),
        }
    }
}

impl From<ListError> for Failure {
    fn from(error: ListError) -> Self {
        Failure::Missing(error.to_string())
    }
}

impl From<TransferError> for Failure {
    fn from(error: TransferError) -> Self {
        match error {
            TransferError::Engine(error) => Failure::Job(error),
            TransferError::Corpus(error) => Failure::Work(error.into()),
            TransferError::Judgments(error) => Failure::Missing(error.to_string()),
            TransferError::Request(sentence) => Failure::Usage(sentence),
        }
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        match error {
            error @ (ServiceError::Exposed(_) | ServiceError::NoToken(_)) => {
                Failure::Usage(error.to_string())
            }
            error => Failure::Missing(error.to_string()),
        }
    }
}

impl From<CorpusError> for Failure {
    fn from(error: CorpusError) -> Self {
        Failure::Work(WalkError::Corpus(error))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::ClosedPipe;
        }
        Failure::Output(CorpusError::Write { name: "standard output".to_owned(), source: error })
    }
}

//! Errors of the lab.

use std::fmt::Display;
use std::path::Path;

use lookalike::corpus::CorpusError;
use lookalike::engine::EngineError;
use lookalike::engine::delivered::write_durably;
use lookalike::methods::MethodError;
use lookalike::walk::WalkError;

/// The reason why work in the lab ended early.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A method as typed will not do.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// The corpus cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The work was stopped, or the corpus cannot be read.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// A run failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A file that a run wrote cannot be read.
    #[error("{0} cannot be read: {1}; remove its folder and run again")]
    Results(String, String),
    /// A result cannot be written.
    #[error("{0} cannot be written: {1}")]
    Write(String, String),
    /// A request cannot be met; the sentence says why.
    #[error("{0}")]
    Request(String),
}

/// Writes a file that is there whole or not at all: a later run trusts what it finds.
pub(crate) fn write_atomically(path: &Path, content: &[u8]) -> Result<(), LabError> {
    Ok(write_durably(path, content)?)
}

impl LabError {
    /// A file of the lab's own cannot be read.
    pub fn read(path: &Path, why: &dyn Display) -> Self {
        LabError::Results(path.display().to_string(), why.to_string())
    }

    /// A file cannot be written.
    pub fn write(path: &Path, why: &dyn Display) -> Self {
        LabError::Write(path.display().to_string(), why.to_string())
    }
}

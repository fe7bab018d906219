//! Errors of work on two corpora.

use std::io;
use std::path::Path;

use lookalike::corpus::CorpusError;
use lookalike::engine::EngineError;
use lookalike::judgments::ListError;

/// The reason why work on two corpora ended early.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// A corpus cannot be read, or a table not written.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The job failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A judgment cannot be read, or written for another document.
    #[error(transparent)]
    Judgments(#[from] ListError),
    /// The request cannot be fulfilled; the sentence says why.
    #[error("{0}")]
    Request(String),
}

impl TransferError {
    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        TransferError::Engine(EngineError::Write { file: path.to_owned(), source })
    }
}

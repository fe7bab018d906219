//! Why work on two corpora ended early.

use lookalike::corpus::CorpusError;
use lookalike::engine::EngineError;

/// Why work on two corpora ended early.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// A corpus cannot be read, or a table not written.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The job failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What is asked for cannot be had, in a sentence.
    #[error("{0}")]
    Request(String),
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let error = TransferError::write(Path::new("out/ä.jsonl"), io::Error::other("no room"));
        assert_eq!(error.to_string(), "out/ä.jsonl cannot be written: no room");
    }

    #[test]
    fn errors_of_parts_keep_their_sentence() {
        let sentence = EngineError::TooMany.to_string();
        assert_eq!(TransferError::from(EngineError::TooMany).to_string(), sentence);
        assert_eq!(TransferError::Request("it cannot be.".to_owned()).to_string(), "it cannot be.");
    }
}

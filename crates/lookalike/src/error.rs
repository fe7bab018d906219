//! The error of the functions for texts in memory and of [`Index`](crate::Index).

use crate::corpus::CorpusError;
use crate::engine::EngineError;
use crate::index::IndexError;

/// The reason why a call failed, one sentence: the fault, where it is, and what to do.
///
/// Sentences name options as the command line does: `--memory` is [`Options::memory`](crate::Options::memory).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option that makes no sense, or options that do not go together.
    #[error("{0}")]
    Request(String),
    /// A text that cannot be read: it is too long, or not what a method reads.
    #[error("the text cannot be used: {0}")]
    Rejected(String),
    /// A job that could not be run to its end.
    #[error(transparent)]
    Engine(EngineError),
    /// An index that could not be opened, read or written.
    #[error(transparent)]
    Index(Box<IndexError>),
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Request(sentence) => Error::Request(sentence),
            error => Error::Engine(error),
        }
    }
}

impl From<CorpusError> for Error {
    fn from(error: CorpusError) -> Self {
        // Too little memory is an error of its own, whoever finds it.
        EngineError::from(error).into()
    }
}

impl From<IndexError> for Error {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Engine(error) => error.into(),
            IndexError::Request(sentence) => Error::Request(sentence),
            error => Error::Index(Box::new(error)),
        }
    }
}

/// Turns an error about memory into one that counts the copies of texts, too, which take so many bytes.
pub(crate) fn counting_copies<E: Into<Error>>(held: u64) -> impl Fn(E) -> Error {
    move |error| match error.into() {
        Error::Engine(EngineError::Memory { why, needed }) => {
            EngineError::Memory { why, needed: needed + held }.into()
        }
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_request_is_one_whoever_finds_it() {
        let sentence = || "give one".to_owned();
        let errors = [
            Error::from(EngineError::Request(sentence())),
            Error::from(IndexError::Request(sentence())),
            Error::from(IndexError::Engine(EngineError::Request(sentence()))),
        ];
        assert!(errors.iter().all(|error| matches!(error, Error::Request(told) if told == "give one")));
    }

    #[test]
    fn sentences_are_those_of_the_crate_that_found_the_fault() {
        let error = Error::from(CorpusError::Memory { why: "a text".to_owned(), needed: 6 << 20 });
        assert!(matches!(&error, Error::Engine(EngineError::Memory { .. })), "{error:?}");
        assert_eq!(error.to_string(), "--memory is too small: a text needs at least 6 MB; give --memory 6M");
        let error = Error::from(IndexError::Locked { folder: "seen".into() });
        assert!(error.to_string().starts_with("seen is being written to"), "{error}");
    }
}

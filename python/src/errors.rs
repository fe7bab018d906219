//! Failures become exceptions, one class for each kind, with the sentence that the command line prints.

use lookalike::corpus::CorpusError;
use lookalike::engine::EngineError;
use lookalike::index::IndexError;
use lookalike_transfer::TransferError;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

/// The reason why a call failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Engine(EngineError),
    Index(IndexError),
    /// A value of a wrong type.
    Type(String),
    /// A value that makes no sense.
    Usage(String),
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Failure::Engine(error)
    }
}

impl From<CorpusError> for Failure {
    fn from(error: CorpusError) -> Self {
        // Too little memory is an error of its own, whoever finds it.
        Failure::Engine(error.into())
    }
}

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Engine(error) => Failure::Engine(error),
            IndexError::Request(sentence) => Failure::Usage(sentence),
            error => Failure::Index(error),
        }
    }
}

impl From<TransferError> for Failure {
    fn from(error: TransferError) -> Self {
        match error {
            TransferError::Engine(error) => Failure::Engine(error),
            TransferError::Corpus(error) => error.into(),
            error => Failure::Usage(error.to_string()),
        }
    }
}

impl Failure {
    /// The class of the exception, and its sentence.
    fn class_and_sentence(self) -> (&'static str, String) {
        match self {
            Failure::Engine(error) => (class(&error), error.to_string()),
            Failure::Index(error) => (class_of_index(&error), error.to_string()),
            Failure::Type(sentence) => ("InputTypeError", sentence),
            Failure::Usage(sentence) => ("UsageError", sentence),
        }
    }
}

fn class(error: &EngineError) -> &'static str {
    match error {
        EngineError::Corpus(CorpusError::Write { .. }) => "OutputError",
        EngineError::Corpus(CorpusError::UnknownOutput { .. }) => "UsageError",
        EngineError::Corpus(CorpusError::TooManyRejected { .. }) => "TooManyRejectedError",
        EngineError::Corpus(_)
        | EngineError::Read { .. }
        | EngineError::List { .. }
        | EngineError::Unreadable { .. } => "InputError",
        EngineError::Write { .. }
        | EngineError::DiskFull { .. }
        | EngineError::NoRoom { .. }
        | EngineError::TooManyPairs { .. }
        | EngineError::RunsOut { .. } => "OutputError",
        EngineError::Damaged { .. } => "DamagedError",
        EngineError::Memory { .. } => "MemoryCapError",
        EngineError::Locked { .. } => "LockedError",
        EngineError::OtherRecipe { .. } | EngineError::OtherVersion { .. } => "RecipeError",
        EngineError::InputChanged { .. } => "InputChangedError",
        EngineError::NotAJob { .. } | EngineError::NotAFolder { .. } => "FolderError",
        EngineError::Request(_) => "UsageError",
        EngineError::Stopped | EngineError::TooMany => "Error",
    }
}

fn class_of_index(error: &IndexError) -> &'static str {
    match error {
        IndexError::Damaged { .. } => "DamagedError",
        IndexError::File { done: "read", .. } => "InputError",
        IndexError::File { .. } => "OutputError",
        IndexError::NotAnIndex { .. } | IndexError::Taken { .. } => "FolderError",
        IndexError::Locked { .. } | IndexError::Busy { .. } => "LockedError",
        IndexError::OtherRecipe { .. } => "RecipeError",
        _ => "Error",
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        if let Failure::Engine(EngineError::Stopped) = failure {
            return PyKeyboardInterrupt::new_err(());
        }
        let (class, sentence) = failure.class_and_sentence();
        Python::attach(|py| {
            let construct = || py.import("lookalike._errors")?.getattr(class)?.call1((&sentence,));
            match construct() {
                Ok(exception) => PyErr::from_value(exception),
                // The package is not whole; the sentence is still worth more than that.
                Err(_) => PyRuntimeError::new_err(sentence.clone()),
            }
        })
    }
}

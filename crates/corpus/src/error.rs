//! What stops the work. Damage inside a shard does not: it is a rejection.

use std::io;

/// A failure that no later record can mend.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A file, folder or stream could not be read.
    #[error("cannot read {name}: {source}")]
    Read {
        /// The file, folder or stream.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing is there under the name given.
    #[error("{input} is neither a file, a folder nor a pattern that matches one")]
    NoInput {
        /// The input as given.
        input: String,
    },
    /// The content is of no known format.
    #[error(
        "{name} is in no format that can be read ({seen}); name its format with --input-format, or leave it out"
    )]
    UnknownFormat {
        /// The file.
        name: String,
        /// What was seen instead.
        seen: String,
    },
    /// A table lacks the columns that make a document.
    #[error(
        "{name} has no column {wanted}; its columns are {found}; name the right ones with --text-field, --html-field or --id-field"
    )]
    NoColumn {
        /// The file.
        name: String,
        /// The columns looked for.
        wanted: String,
        /// The columns that are there.
        found: String,
    },
    /// The name of a file to write tells no format.
    #[error("{name} can be .jsonl, .parquet or .warc, the first and last also with .gz, .zst or .bz2")]
    UnknownOutput {
        /// The file.
        name: String,
    },
    /// A file could not be written.
    #[error("cannot write {name}: {source}")]
    Write {
        /// The file.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// The input needs a part of lookalike that was not built in.
    #[error("{name} needs lookalike built with the cargo feature `{feature}`")]
    NotBuilt {
        /// The input.
        name: String,
        /// The missing feature.
        feature: &'static str,
    },
}

impl CorpusError {
    /// A closure for `map_err` that says what was being read.
    pub(crate) fn reading(name: &str) -> impl FnOnce(io::Error) -> CorpusError + '_ {
        move |source| CorpusError::Read { name: name.to_owned(), source }
    }
}

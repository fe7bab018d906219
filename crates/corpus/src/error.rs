//! Errors that end the work. Damage inside a shard is not one of them: it becomes a rejection.

use std::io;

use crate::input::Refusal;
use crate::{Format, LeftOutFiles, MaxRejected};

/// A failure that no later record can mend.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A file, folder or stream could not be read.
    #[error("cannot read {name}: {}", read_error_text(source))]
    Read {
        /// The file, folder or stream.
        name: String,
        /// The error of the system.
        source: io::Error,
    },
    /// A file is not what it was when the work began.
    #[error(
        "{name} changed while it was in use ({what}); leave the input alone until the run is done, and begin anew"
    )]
    Changed {
        /// The file.
        name: String,
        /// The difference that was noticed.
        what: String,
    },
    /// Nothing is there under the name given.
    #[error("{input} is neither a file, a folder nor a pattern that matches one")]
    NoInput {
        /// The input as given.
        input: String,
    },
    /// A folder without a file in it.
    #[error("{input} holds no files to read{}", left_out_suffix(left_out))]
    EmptyFolder {
        /// The input as given.
        input: String,
        /// The files that lie there instead.
        left_out: LeftOutFiles,
    },
    /// The content is of no known format.
    #[error(
        "{name} is in no format that can be read ({seen}); name its format with --input-format, or leave it out"
    )]
    UnknownFormat {
        /// The file.
        name: String,
        /// A description of the content that was seen instead.
        seen: String,
    },
    /// A sound file that cannot be read: another compression, an archive, more memory than there is.
    #[error("{name} {why}")]
    Unsupported {
        /// The file.
        name: String,
        /// The kind of file and the remedy, in words that follow its name.
        why: String,
    },
    /// A table lacks the columns that make a document.
    #[error(
        "{name} has no column {wanted}; its columns are {found}; name the right ones with --text-field, --html-field, --url-field or --id-field"
    )]
    NoColumn {
        /// The file.
        name: String,
        /// The columns looked for.
        wanted: String,
        /// The columns that are there.
        found: String,
    },
    /// A table lacks a further column that was asked for.
    #[error(
        "{name} has no column {wanted:?} with one plain value per row; its columns are {found}; ask for one of these, or leave the file out"
    )]
    NoField {
        /// The file.
        name: String,
        /// The column looked for.
        wanted: String,
        /// The columns that are there.
        found: String,
    },
    /// A field that was named is in none of the first records.
    #[error("no record of the first {records} in {name} has a field {wanted}; {there}{near}")]
    NoSuchField {
        /// The first file.
        name: String,
        /// The number of records that were looked at.
        records: u64,
        /// The field looked for.
        wanted: String,
        /// The fields that are there.
        there: String,
        /// A field that may have been meant.
        near: String,
    },
    /// More records were rejected than may be.
    #[error(
        "{rejected} of {records} records of {side} were rejected, and no more than {most} may be: {why}; mend the input or name the right fields, or allow more with --max-rejected"
    )]
    TooManyRejected {
        /// The name of the corpus or shard that the records come from.
        side: String,
        /// Records found, rejected ones included.
        records: u64,
        /// Those that were rejected.
        rejected: u64,
        /// The number that may be.
        most: MaxRejected,
        /// The most frequent reason, with an example.
        why: String,
    },
    /// The name of a file to write tells no format.
    #[error("{name} says no format to write; let it end in {endings}")]
    UnknownOutput {
        /// The file.
        name: String,
        /// The endings that it may have.
        endings: &'static str,
    },
    /// Records of this format cannot be copied one by one.
    #[error(
        "{name} is in format {format}, whose records cannot be copied as they stand; write its documents as JSON lines"
    )]
    NotCopied {
        /// The file.
        name: String,
        /// Its format.
        format: Format,
    },
    /// Records of this format have no place for an annotation.
    #[error(
        "{name} is in format {format}, which has no place for annotations; jsonl, csv, tsv, parquet and warc have one"
    )]
    NotAnnotated {
        /// The file.
        name: String,
        /// Its format.
        format: Format,
    },
    /// Records have a field already that an annotation would add.
    #[error(
        "{name} has {field} already, from an earlier annotation; take it away, or write without annotations"
    )]
    Annotated {
        /// The file.
        name: String,
        /// The field.
        field: &'static str,
    },
    /// An input that can be read only once would have to be read again.
    #[error(
        "{name} can be read only once, and to copy its records it must be read again; save it to a file first"
    )]
    ReadOnce {
        /// The input.
        name: String,
    },
    /// A file could not be written.
    #[error("cannot write {name}: {}", write_error_text(source))]
    Write {
        /// The file.
        name: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The memory that may be taken is too small to read something.
    #[error("--memory is too small: {why} needs at least {} MB; give --memory {}M", needed.div_ceil(1 << 20), needed.div_ceil(1 << 20))]
    Memory {
        /// The thing that needs it.
        why: String,
        /// Bytes that would do.
        needed: u64,
    },
    /// The input needs a part of lookalike that was not built in.
    #[error(
        "{name} needs lookalike built with the cargo feature `{feature}`; of the program: build it with --features full"
    )]
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
        move |source| match Refusal::carried(&source) {
            Some(refusal) => CorpusError::Unsupported { name: name.to_owned(), why: refusal.to_string() },
            None => CorpusError::Read { name: name.to_owned(), source },
        }
    }
}

fn left_out_suffix(left_out: &LeftOutFiles) -> String {
    if left_out.is_empty() { String::new() } else { format!(" ({left_out}; name them to read them)") }
}

fn read_error_text(error: &io::Error) -> String {
    // An error that carries its own words has more to say than its kind.
    match error.kind() {
        _ if error.get_ref().is_some() => without_error_number(error),
        io::ErrorKind::NotFound => "it is not there".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied; change its rights or leave it out".to_owned(),
        _ => without_error_number(error),
    }
}

fn write_error_text(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "its folder is not there; make it first".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied; write to another folder".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full; make room or write to another one".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder; name a file".to_owned(),
        _ => without_error_number(error),
    }
}

/// Returns the system's message without the number of the error.
fn without_error_number(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_to_do_and_no_numbers() {
        let name = || "x.jsonl".to_owned();
        let write =
            |number| CorpusError::Write { name: name(), source: io::Error::from_raw_os_error(number) };
        let read = |number| CorpusError::Read { name: name(), source: io::Error::from_raw_os_error(number) };
        assert_eq!(write(2).to_string(), "cannot write x.jsonl: its folder is not there; make it first");
        assert_eq!(read(2).to_string(), "cannot read x.jsonl: it is not there");
        assert_eq!(read(5).to_string(), "cannot read x.jsonl: Input/output error");
    }
}

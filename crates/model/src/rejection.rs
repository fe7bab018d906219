//! Records that could not be read, and records that are no documents.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::RecordPosition;

/// A record that was found but could not be read. It counts as a document, with its place and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The position of the record.
    pub place: RecordPosition,
    /// The unit of `place.position`.
    pub unit: Unit,
    /// The reason for the rejection.
    pub reason: Reason,
    /// Its id, where known.
    pub id: Option<String>,
}

/// The unit that a position counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Bytes of the uncompressed shard.
    Byte,
    /// Rows of a columnar file.
    Row,
}

/// The reason why a record was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The shard, or one compressed member of it, ends in the middle of the record.
    Truncated(String),
    /// The record does not follow its format.
    Broken(String),
    /// Text that must be UTF-8 is not.
    InvalidUtf8(String),
    /// A field that the record needs is not there or is of the wrong type.
    MissingField(String),
    /// The record is longer than the limit.
    TooLong {
        /// The limit, in bytes.
        limit: u64,
    },
}

/// [`Reason`] without its details, for tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the variants are explained at `Reason`")]
pub enum ReasonKind {
    Truncated,
    Broken,
    InvalidUtf8,
    MissingField,
    TooLong,
}

impl Reason {
    /// The reason without its details.
    pub fn kind(&self) -> ReasonKind {
        match self {
            Reason::Truncated(_) => ReasonKind::Truncated,
            Reason::Broken(_) => ReasonKind::Broken,
            Reason::InvalidUtf8(_) => ReasonKind::InvalidUtf8,
            Reason::MissingField(_) => ReasonKind::MissingField,
            Reason::TooLong { .. } => ReasonKind::TooLong,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Truncated(detail) => write!(f, "truncated: {detail}"),
            Reason::Broken(detail) => write!(f, "broken record: {detail}"),
            Reason::InvalidUtf8(detail) => write!(f, "invalid UTF-8: {detail}"),
            Reason::MissingField(detail) => write!(f, "missing field: {detail}"),
            Reason::TooLong { limit } => {
                write!(f, "too long: over {limit} bytes (raise --max-document-bytes to read it)")
            }
        }
    }
}

impl fmt::Display for ReasonKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReasonKind::Truncated => "truncated",
            ReasonKind::Broken => "broken record",
            ReasonKind::InvalidUtf8 => "invalid UTF-8",
            ReasonKind::MissingField => "missing field",
            ReasonKind::TooLong => "too long",
        })
    }
}

/// A record that is no document: a `warcinfo` record, a redirect page, a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip<'a> {
    /// The kind of record, in a word or two from a small fixed set: it becomes a row in a table.
    pub kind: &'static str,
    /// Offset of the record's first byte in the uncompressed shard.
    pub position: u64,
    /// The whole record as it stood, for formats whose records can be copied byte for byte.
    pub raw: Option<&'a [u8]>,
}

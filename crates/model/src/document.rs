//! Documents: what a corpus hands to the rest of the house.

use serde::{Deserialize, Serialize};

/// The ordinal of a document in its corpus, counted from 0 over every record found, rejected ones included.
///
/// Ordinals follow the order of the input and never the order in which threads happened to finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DocId(pub u64);

/// Where a record stood inside its shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place {
    /// Number of the record in its shard, from 0; rejected records count, skipped ones do not.
    pub record: u64,
    /// Offset of the record's first byte in the uncompressed shard, or its row in a columnar file.
    pub position: u64,
}

/// What the bytes of a document are, which decides how text is made from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Media {
    /// Plain text, taken as it is.
    Text,
    /// An HTML or XHTML page.
    Html,
    /// Marked-up text whose tags are no HTML (the TREC text collections): every tag separates.
    Sgml,
    /// An e-mail message with its headers.
    Email,
    /// The source text of a MediaWiki page.
    Wikitext,
}

/// The characters of a document, decoded or not yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// Known to be Unicode: nothing is left to guess.
    Unicode(&'a str),
    /// Bytes in some encoding.
    Encoded {
        /// The bytes as they came.
        bytes: &'a [u8],
        /// The encoding that the transport named, such as the `charset` of an HTTP header.
        charset: Option<&'a str>,
    },
}

impl<'a> Content<'a> {
    /// The bytes, whatever their encoding.
    pub fn bytes(&self) -> &'a [u8] {
        match *self {
            Content::Unicode(text) => text.as_bytes(),
            Content::Encoded { bytes, .. } => bytes,
        }
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.bytes().len()
    }

    /// True when there is not one byte.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One document, borrowed from the reader that found it.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// The name its corpus gives it; two documents may bear the same one.
    pub id: &'a str,
    /// Its address, where known.
    pub url: Option<&'a str>,
    /// What its bytes are.
    pub media: Media,
    /// Its bytes.
    pub content: Content<'a>,
    /// Where it came from.
    pub place: Place,
    /// The whole record as it stood in the shard, for formats whose records can be copied byte for byte.
    pub raw: Option<&'a [u8]>,
}

//! How a corpus is to be read: what changes which documents come out.

use crate::{Format, MaxRejected};

/// Names of the fields or columns that make a document.
///
/// JSON lines and Parquet: a name with dots, as in `page.text`, leads into objects or structures, unless a field bears all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields {
    /// The document's name.
    pub id: String,
    /// Its text, taken as it is.
    pub text: String,
    /// Its HTML, used when there is no text.
    pub html: String,
    /// Its address.
    pub url: String,
}

impl Default for Fields {
    fn default() -> Self {
        Fields { id: "id".into(), text: "text".into(), html: "html".into(), url: "url".into() }
    }
}

impl Fields {
    /// The names: of the id, the text, the HTML and the address.
    pub(crate) fn names(&self) -> [&str; 4] {
        [&self.id, &self.text, &self.html, &self.url]
    }
}

/// Which pages of a wiki are documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Namespaces {
    /// Pages of these namespaces; 0 holds the articles.
    Only(Vec<i32>),
    /// Every page.
    All,
}

/// Memory for decoders of compressed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoding {
    /// Most memory that the process may take, in bytes.
    pub memory: u64,
    /// One decoder may take the so-manieth part of it.
    pub share: u64,
}

impl Default for Decoding {
    /// No bound but those of the formats.
    fn default() -> Self {
        Decoding { memory: u64::MAX, share: 1 }
    }
}

impl Decoding {
    /// Most bytes that one decoder may take.
    pub(crate) fn most(self) -> u64 {
        self.memory / self.share.max(1)
    }

    /// Memory under which one decoder may take so many bytes.
    pub(crate) fn needed(self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.share.max(1))
    }
}

/// Everything a reader needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// Names of fields and columns.
    pub fields: Fields,
    /// Longer records are rejected. The window of a reader never grows much beyond this.
    pub max_document_bytes: usize,
    /// MediaWiki: every revision of a page is a document, not only the last one.
    pub revisions: bool,
    /// MediaWiki: which pages are documents.
    pub namespaces: Namespaces,
    /// The format of every shard, instead of what its content shows.
    pub format: Option<Format>,
    /// Addresses are what is wanted: a record needs no text to be a document, a table needs a column of addresses, and lines of
    /// addresses are seen to be a list.
    pub addresses: bool,
    /// Further fields whose value comes with every document, in [`Document::extras`](lookalike_model::Document).
    ///
    /// JSON lines: a field, also inside other objects as in `metadata.dump`; a string as its text, anything else as
    /// it stands. Parquet: a column, also inside structures. Tables, in files or in memory: a column. WARC and ARC: a field of the record's own header. Other formats have
    /// none.
    pub extras: Vec<String>,
    /// The fields that make no document come with every one, too: as a JSON object behind the last of `extras`, where there are any.
    /// JSON lines: values as they stand. Tables: texts. Parquet: nested as it is. A name that outputs need for themselves (`id`,
    /// `url`, `text`) has an underscore behind it.
    pub others: bool,
    /// Memory for decoders. It changes which files can be read, and nothing that is read.
    pub decoding: Decoding,
    /// Files that cannot be read are left out, and are no reason to stop.
    pub skip_unreadable: bool,
    /// How many records may be rejected before that is a failure.
    pub max_rejected: MaxRejected,
}

impl ReadOptions {
    /// The options that decide which documents come out of a file; the others at their defaults.
    pub fn deciding(&self) -> ReadOptions {
        ReadOptions {
            max_rejected: MaxRejected::default(),
            decoding: Decoding::default(),
            skip_unreadable: false,
            ..self.clone()
        }
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            fields: Fields::default(),
            max_document_bytes: 32 << 20,
            revisions: false,
            namespaces: Namespaces::Only(vec![0]),
            format: None,
            addresses: false,
            extras: Vec::new(),
            others: false,
            decoding: Decoding::default(),
            skip_unreadable: false,
            max_rejected: MaxRejected::default(),
        }
    }
}

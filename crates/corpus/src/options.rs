//! Options for reading a corpus: everything that changes which documents come out.
//!
//! The memory of a reader: a window of at most [`ReadOptions::max_document_bytes`] (and 1.5 times that while it grows), 4
//! MiB of compressed bytes that can be read again, and the buffers of one document. Beside that, decoders take what the
//! writer of a file chose: the window of a zstd frame or an xz stream, the pages of Parquet. All readers at once may take
//! half of the bytes for buffers for these ([`DecoderBudget`]); what does not fit is refused with the memory that would
//! do.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use crate::{CorpusError, Format, ListBudget, MaxRejected};

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

/// The pages of a wiki that are documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Namespaces {
    /// Pages of these namespaces; 0 holds the articles.
    Only(Vec<i32>),
    /// Every page.
    All,
}

/// Memory for decoders: the windows of compressed files, and the pages of Parquet. It changes which files can be read, and nothing that
/// is read. All clones share it, and it may be set at any time.
#[derive(Debug, Clone, Default)]
pub struct Decoding(Arc<RwLock<DecoderBudget>>);

impl PartialEq for Decoding {
    /// Returns true for any two: the documents that are read do not depend on it.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Decoding {}

impl Decoding {
    /// Sets what one shard may take.
    pub fn set_budget(&self, budget: DecoderBudget) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = budget;
    }

    /// The memory that one shard may take.
    pub fn budget(&self) -> DecoderBudget {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The memory that the decoders of one shard may take: all shards that are read at once have half of the bytes for buffers of a
/// process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DecoderBudget {
    /// Bytes that there are for buffers.
    pub buffer_bytes: u64,
    /// Bytes that the process takes beside these.
    pub other_bytes: u64,
    /// Most shards that are read at once.
    pub readers: u64,
    /// Bytes that each of them should have at least; where there are too few, fewer are read at once.
    pub min_reader_bytes: u64,
}

impl fmt::Debug for DecoderBudget {
    /// Writes what it always wrote: digests of options, by which begun work is found again, are made of this text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Share")
            .field("room", &self.buffer_bytes)
            .field("beside", &self.other_bytes)
            .field("readers", &self.readers)
            .field("least", &self.min_reader_bytes)
            .finish()
    }
}

impl Default for DecoderBudget {
    /// No bound but those of the formats.
    fn default() -> Self {
        DecoderBudget { buffer_bytes: u64::MAX, other_bytes: 0, readers: 1, min_reader_bytes: 0 }
    }
}

const MIB: u64 = 1 << 20;

impl DecoderBudget {
    /// Shards that are read at once.
    pub fn concurrent_readers(self) -> u64 {
        (self.buffer_bytes / 2 / self.min_reader_bytes.max(MIB)).clamp(1, self.readers.max(1))
    }

    /// Bytes that the decoders of one shard may take.
    pub fn bytes_per_reader(self) -> u64 {
        self.buffer_bytes / 2 / self.concurrent_readers()
    }

    /// The least memory, in whole mebibytes and above that of now, under which they may take `bytes` bytes. More bytes may let more
    /// shards be read at once and leave less for each, so what [`DecoderBudget::bytes_per_reader`] says is tried.
    pub fn needed(self, bytes: u64) -> u64 {
        let memory = |readers: u64| {
            let buffer_bytes = bytes.saturating_mul(2 * readers).max(self.buffer_bytes);
            self.other_bytes.saturating_add(buffer_bytes).div_ceil(MIB).saturating_mul(MIB)
        };
        let enough = |memory: &u64| {
            DecoderBudget { buffer_bytes: memory - self.other_bytes, ..self }.bytes_per_reader() >= bytes
        };
        (1..=self.readers.max(1)).map(memory).find(enough).unwrap_or(u64::MAX)
    }

    /// The error about something that would take the decoders of a shard `bytes` bytes, with the memory that would do.
    pub fn too_small(self, why: String, bytes: u64) -> CorpusError {
        CorpusError::Memory { why, needed: self.needed(bytes) }
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
    /// Memory for decoders.
    pub decoding: Decoding,
    /// Memory for the list of shards.
    pub lists: ListBudget,
    /// Files that cannot be read are left out, and are no reason to stop.
    pub skip_unreadable: bool,
    /// The number of records that may be rejected before that is a failure.
    pub max_rejected: MaxRejected,
}

impl ReadOptions {
    /// The options that decide which documents come out of a file; the others at their defaults.
    pub fn deciding(&self) -> ReadOptions {
        ReadOptions {
            max_rejected: MaxRejected::default(),
            decoding: Decoding::default(),
            lists: ListBudget::default(),
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
            lists: ListBudget::default(),
            skip_unreadable: false,
            max_rejected: MaxRejected::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_asked_for_is_enough(
            buffer_bytes in 16 * MIB..9000 * MIB,
            other_bytes in 0..9000 * MIB,
            readers in 1..70u64,
            min_reader_bytes in 0..300 * MIB,
            bytes in 1..9000 * MIB,
        ) {
            let budget = DecoderBudget { buffer_bytes, other_bytes, readers, min_reader_bytes };
            let needed = budget.needed(bytes);
            prop_assert!(needed >= other_bytes + buffer_bytes);
            let then = DecoderBudget { buffer_bytes: needed - other_bytes, ..budget };
            prop_assert!(then.bytes_per_reader() >= bytes, "{} of {bytes} under {needed}", then.bytes_per_reader());
            prop_assert!(needed <= (other_bytes + (2 * readers * bytes).max(buffer_bytes)).next_multiple_of(MIB));
        }
    }

    #[test]
    fn what_has_no_bound_is_refused_nothing() {
        assert!(DecoderBudget::default().bytes_per_reader() > u64::MAX / 4);
        assert_eq!(DecoderBudget { buffer_bytes: 0, ..DecoderBudget::default() }.bytes_per_reader(), 0);
    }
}

//! A shard becomes items.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use lookalike_model::{Document, Reason, RecordPosition, Rejection, Skip, Unit};

use crate::first_records::FieldNames;
use crate::formats::BYTE_ORDER_MARK;
use crate::{Compression, CorpusError, Format, Lines};

/// One thing that a reader found.
#[derive(Debug)]
pub enum Item<'a> {
    /// A document.
    Document(Document<'a>),
    /// A record that should have been a document but could not be read.
    Rejected(Rejection),
    /// A record that is no document.
    Skipped(Skip<'a>),
}

/// The interface of every format's reader: the items of one shard, in order, each borrowed from the reader until the
/// next one is asked for.
pub(crate) trait Records: Send {
    /// The next item, or `None` at the end of the shard.
    fn next(&mut self) -> Result<Option<Item<'_>>, CorpusError>;

    /// Takes lines out of the shard without reading them; see [`Reader::lines`].
    fn lines(&mut self, _wanted: usize, _lines: &mut Lines) -> Result<bool, CorpusError> {
        Ok(false)
    }

    /// Passes over records without reading them; see [`Reader::pass_over`].
    fn pass_over(&mut self, _bytes: u64) -> Result<bool, CorpusError> {
        Ok(false)
    }

    /// Returns the bytes that stand before the first record and must stand before copied records too.
    fn preamble(&self) -> &[u8] {
        &[]
    }

    /// Adds the names of the fields of the record given last, in formats that have them.
    fn field_names(&self, _names: &mut FieldNames) {}
}

/// Compressed members at the front of a shard of which nothing could be read. They are told of before anything
/// else, one rejection each.
pub(crate) struct Damage {
    reason: String,
    pub(crate) count: u64,
    reported: u64,
}

impl Damage {
    pub(crate) fn new(reason: &str) -> Self {
        Damage { reason: reason.to_owned(), count: 0, reported: 0 }
    }

    fn next(&mut self, unit: Unit) -> Option<Rejection> {
        if self.reported == self.count {
            return None;
        }
        let place = RecordPosition { record: self.reported, position: 0 };
        self.reported += 1;
        Some(Rejection { place, unit, reason: Reason::Truncated(self.reason.clone()), id: None })
    }
}

/// Reads the items of one shard.
pub struct Reader {
    records: Box<dyn Records>,
    damage: Option<Damage>,
    format: Format,
    compression: Compression,
    consumed: Arc<AtomicU64>,
    digest: Arc<OnceLock<u64>>,
    /// True when a byte order mark stands before the first record and is no part of it.
    marked: bool,
}

impl Reader {
    pub(crate) fn new(
        records: Box<dyn Records>,
        damage: Option<Damage>,
        format: Format,
        compression: Compression,
        consumed: Arc<AtomicU64>,
        digest: Arc<OnceLock<u64>>,
        marked: bool,
    ) -> Self {
        Reader { records, damage, format, compression, consumed, digest, marked }
    }

    /// The next item, or `None` at the end of the shard.
    #[expect(
        clippy::should_implement_trait,
        reason = "items borrow from the reader, which `Iterator` cannot say"
    )]
    pub fn next(&mut self) -> Result<Option<Item<'_>>, CorpusError> {
        let unit = self.format.unit();
        if let Some(rejection) = self.damage.as_mut().and_then(|damage| damage.next(unit)) {
            return Ok(Some(Item::Rejected(rejection)));
        }
        self.records.next()
    }

    /// Moves the next whole lines, about `wanted` bytes of them and at most three times as many, into `lines`, to be read elsewhere by a
    /// [`LineReader`](crate::LineReader). They are then behind [`Reader::next`] as if it had given them.
    ///
    /// False when [`Reader::next`] must give what comes next: of formats other than JSON lines and tables in memory always,
    /// else where damage, the shard's end or a very long line is near.
    pub fn lines(&mut self, wanted: usize, lines: &mut Lines) -> Result<bool, CorpusError> {
        let reported = self.damage.as_ref().is_none_or(|damage| damage.reported == damage.count);
        Ok(reported && self.records.lines(wanted, lines)?)
    }

    /// Passes over at most so many bytes of the file, as they are on disk, and the whole records in them, never all, without reading
    /// them; for a look at documents further on, whose records are numbered as if the others were not there. False, and nothing
    /// done, in formats whose records are only found by reading those before them.
    pub fn pass_over(&mut self, bytes: u64) -> Result<bool, CorpusError> {
        self.records.pass_over(bytes)
    }

    /// Returns the bytes that stand before the first record and must stand before copied records too: the header line
    /// of a table, a byte order mark.
    pub fn preamble(&self) -> &[u8] {
        let preamble = self.records.preamble();
        if preamble.is_empty() && self.marked { BYTE_ORDER_MARK } else { preamble }
    }

    /// Adds the names of the fields of the record given last.
    pub(crate) fn field_names(&self, names: &mut FieldNames) {
        self.records.field_names(names);
    }

    /// The format that the shard's content showed.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the compression of the shard.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Returns the digest of all bytes of the file, before decompression, once its end was met: a second reading gives the same, unless
    /// the file changed. `None` for files that are read from their end, such as large Parquet files, and for tables in memory.
    pub fn digest(&self) -> Option<u64> {
        self.digest.get().copied()
    }

    /// Returns the number of bytes read from the file so far, before decompression.
    pub fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }
}

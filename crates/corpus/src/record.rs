//! The record counter that all readers share: it numbers records and names those without an id.
//!
//! A document's place is its shard and its record number there. Rejected records count, skipped ones do not. So shards
//! can be read on any number of threads, and the ordinal of a document in its corpus follows from the counts of the
//! shards before its own.

use std::fmt::Write;
use std::sync::Arc;

use lookalike_model::{Extras, Reason, RecordPosition, Rejection, Unit};

use crate::formats::push_text;
use crate::{Item, ReadOptions};

/// Counts the records of a shard: the number of the next one, and what all readers need to know.
pub(crate) struct RecordCounter {
    /// Name of the shard, as in ids and rejections.
    pub(crate) shard: String,
    pub(crate) options: Arc<ReadOptions>,
    record: u64,
    unit: Unit,
    /// Holds the id of a record that has none of its own.
    own_id: String,
}

impl RecordCounter {
    /// Creates a counter that has counted `record` records already.
    pub(crate) fn new(shard: String, options: Arc<ReadOptions>, unit: Unit, record: u64) -> Self {
        RecordCounter { shard, options, record, unit, own_id: String::new() }
    }

    /// The longest record that may be read.
    pub(crate) fn limit(&self) -> usize {
        // Nothing can be longer, and sums with it stay small.
        self.options.max_document_bytes.min(u32::MAX as usize)
    }

    /// Counts `records` records; returns the number of the first.
    pub(crate) fn count(&mut self, records: u64) -> u64 {
        let first = self.record;
        self.record += records;
        first
    }

    /// Counts a record that begins at `position`.
    pub(crate) fn place(&mut self, position: u64) -> RecordPosition {
        RecordPosition { record: self.count(1), position }
    }

    /// Counts a record that begins at `position` and cannot be read.
    pub(crate) fn reject<'r>(&mut self, position: u64, reason: Reason) -> Item<'r> {
        self.reject_named(position, reason, None)
    }

    /// The same for a record whose id may be known.
    pub(crate) fn reject_named<'r>(&mut self, position: u64, reason: Reason, id: Option<String>) -> Item<'r> {
        Item::Rejected(Rejection { place: self.place(position), unit: self.unit, reason, id })
    }

    /// Counts a record that is too long.
    pub(crate) fn too_long<'r>(&mut self, position: u64) -> Item<'r> {
        let limit = self.limit() as u64;
        self.reject(position, Reason::TooLong { limit })
    }

    /// The id of a record that has none: `<shard>#<record number>`.
    pub(crate) fn own_id(&mut self, place: RecordPosition) -> &str {
        write_own_id(&mut self.own_id, &self.shard, place)
    }
}

/// Writes the id of a record that has none.
pub(crate) fn write_own_id<'i>(id: &'i mut String, shard: &str, place: RecordPosition) -> &'i str {
    id.clear();
    write!(id, "{shard}#{}", place.record).expect("writing to a string cannot fail");
    id
}

/// The values of further fields of one record, in buffers that are used again for the next.
pub(crate) struct ExtraValues {
    text: String,
    spans: Vec<Option<(usize, usize)>>,
}

impl ExtraValues {
    /// Room for as many fields as `options` ask for, and for all others if they do.
    pub(crate) fn new(options: &ReadOptions) -> Self {
        ExtraValues {
            text: String::new(),
            spans: vec![None; options.extras.len() + usize::from(options.others)],
        }
    }

    /// True when no field is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Forgets the values of the last record.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.spans.fill(None);
    }

    /// Sets a value to what `write` appends, or to none when it returns false.
    pub(crate) fn set(&mut self, index: usize, write: impl FnOnce(&mut String) -> bool) {
        let begin = self.text.len();
        let is_there = write(&mut self.text);
        self.spans[index] = is_there.then_some((begin, self.text.len()));
    }

    /// Sets a value to bytes that should be UTF-8 but need not be; a document is worth more than its extras.
    pub(crate) fn set_bytes(&mut self, index: usize, value: Option<&[u8]>) {
        self.set(index, |text| {
            value.into_iter().for_each(|value| push_text(value, text));
            value.is_some()
        });
    }

    /// The values, as documents hold them.
    pub(crate) fn view(&self) -> Extras<'_> {
        Extras::new(&self.text, &self.spans)
    }
}

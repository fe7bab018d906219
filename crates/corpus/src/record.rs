//! What all readers share: numbering records and naming those without an id.

use std::fmt::Write;
use std::sync::Arc;

use lookalike_model::{Place, Reason, Rejection, Unit};

use crate::{Item, ReadOptions};

/// The reader's place in its shard.
pub(crate) struct Ledger {
    /// Name of the shard, as in ids and rejections.
    pub(crate) shard: String,
    pub(crate) options: Arc<ReadOptions>,
    record: u64,
    unit: Unit,
    /// Holds the id of a record that has none of its own.
    own_id: String,
}

impl Ledger {
    /// A ledger in which the first `record` records are already written.
    pub(crate) fn new(shard: String, options: Arc<ReadOptions>, unit: Unit, record: u64) -> Self {
        Ledger { shard, options, record, unit, own_id: String::new() }
    }

    /// The longest record that may be read.
    pub(crate) fn limit(&self) -> usize {
        // Nothing can be longer, and sums with it stay small.
        self.options.max_document_bytes.min(u32::MAX as usize)
    }

    /// Counts a record that begins at `position`.
    pub(crate) fn place(&mut self, position: u64) -> Place {
        let record = self.record;
        self.record += 1;
        Place { record, position }
    }

    /// Counts a record that begins at `position` and cannot be read.
    pub(crate) fn reject<'r>(&mut self, position: u64, reason: Reason) -> Item<'r> {
        Item::Rejected(Rejection { place: self.place(position), unit: self.unit, reason })
    }

    /// Counts a record that is too long.
    pub(crate) fn too_long<'r>(&mut self, position: u64) -> Item<'r> {
        let limit = self.limit() as u64;
        self.reject(position, Reason::TooLong { limit })
    }

    /// The id of a record that has none: `<shard>#<record number>`.
    pub(crate) fn own_id(&mut self, place: Place) -> &str {
        self.own_id.clear();
        write!(self.own_id, "{}#{}", self.shard, place.record).expect("writing to a string cannot fail");
        &self.own_id
    }
}

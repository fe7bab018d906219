//! All parts of the index at one moment, seen as one: a snapshot does not change while a reader uses it.

use std::ops::Range;
use std::sync::Arc;

use crate::chunk::{Chunk, StoredDocument, Tables};
use crate::error::IndexError;
use crate::row::{Row, State};
use crate::segment::{BlockBuffers, Segment};
use crate::writer::id_key;

/// A part of the index.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// In memory, and in the log.
    Memory(Arc<Chunk>),
    /// On disk.
    Disk(Arc<Segment>),
}

impl Part {
    /// The numbers of its documents.
    pub(crate) fn range(&self) -> Range<u32> {
        match self {
            Part::Memory(chunk) => chunk.first..chunk.end(),
            Part::Disk(segment) => segment.range.clone(),
        }
    }

    /// Number of postings of a table.
    pub(crate) fn postings(&self, table: usize) -> u64 {
        match self {
            Part::Memory(chunk) => chunk.tables[table].len() as u64,
            Part::Disk(segment) => segment.postings(table),
        }
    }

    fn find(
        &self,
        table: usize,
        key: u64,
        blocks: &mut BlockBuffers,
        each: &mut dyn FnMut(u32, u32),
    ) -> Result<(), IndexError> {
        match self {
            Part::Memory(chunk) => {
                chunk.find(table, key).iter().for_each(|&(_, value, tag)| each(value, tag));
                Ok(())
            }
            Part::Disk(segment) => segment.find(table, key, blocks, each),
        }
    }

    fn has_changes(&self) -> bool {
        match self {
            Part::Memory(chunk) => !chunk.changes.is_empty(),
            Part::Disk(segment) => segment.has_changes(),
        }
    }

    /// True for what is on disk.
    pub(crate) fn is_on_disk(&self) -> bool {
        matches!(self, Part::Disk(_))
    }

    fn change(&self, number: u32, blocks: &mut BlockBuffers) -> Result<Option<State>, IndexError> {
        let change = match self {
            Part::Memory(chunk) => chunk.change(number),
            Part::Disk(segment) => segment.change(number, blocks)?,
        };
        Ok(change.map(|change| change.state))
    }
}

/// The number of documents by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Documents that were ever added.
    pub added: u64,
    /// Kept documents.
    pub kept: u64,
    /// Removed documents: each has a kept witness.
    pub removed: u64,
    /// Deleted documents.
    pub deleted: u64,
    /// Classes: documents whose words no earlier document had.
    pub classes: u64,
    /// Postings that were left out because their key has too many.
    pub left_out: u64,
}

impl Counts {
    /// Counts a document that came into this state, or left it.
    pub(crate) fn count(&mut self, state: State, by: i64) {
        let slot = match state {
            State::Kept => &mut self.kept,
            State::Removed { .. } => &mut self.removed,
            State::Deleted | State::DeletedLeader => &mut self.deleted,
        };
        *slot = slot.saturating_add_signed(by);
    }
}

/// The index at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// The parts, in the order of their documents.
    pub(crate) parts: Vec<Part>,
    /// The number of parts at the front that are not joined with others in memory: on disk or on their way there, or, inside of a
    /// change, published before it.
    pub(crate) fixed: usize,
    /// The number that the next document gets.
    pub(crate) next: u32,
    /// Grows when the state of earlier documents changes.
    pub(crate) epoch: u64,
    /// Grows when parts are replaced by others: a row has offsets of names and texts in its part.
    pub(crate) layout_version: u64,
    pub(crate) counts: Counts,
    /// The counts when the last part became fixed.
    pub(crate) frozen_counts: Counts,
}

impl Snapshot {
    /// Returns the age of the snapshot; rows read from it are valid in snapshots of the same age.
    pub(crate) fn age(&self) -> (u64, u64) {
        (self.epoch, self.layout_version)
    }

    /// Appends a chunk.
    pub(crate) fn push(&mut self, chunk: Chunk) {
        self.next = chunk.end();
        if !chunk.changes.is_empty() {
            self.epoch += 1;
        }
        let mut last = Arc::new(chunk);
        // Each is at least twice as heavy as the next, so there are few.
        while self.parts.len() > self.fixed {
            let Some(Part::Memory(before)) = self.parts.last() else { break };
            if before.weight() >= 2 * last.weight().max(1) {
                break;
            }
            last = Arc::new(before.join(&last));
            self.parts.pop();
        }
        self.parts.push(Part::Memory(last));
    }

    /// Returns all chunks from this part on, joined.
    pub(crate) fn tail(&self, from: usize) -> Option<Arc<Chunk>> {
        let chunks = self.parts[from..].iter().filter_map(|part| match part {
            Part::Memory(chunk) => Some(chunk.clone()),
            Part::Disk(_) => None,
        });
        chunks.reduce(|one, two| Arc::new(one.join(&two)))
    }

    /// Bytes of the parts that are only in memory and in the log, and still grow.
    pub(crate) fn tail_bytes(&self) -> usize {
        let chunk = |part: &Part| match part {
            Part::Memory(chunk) => chunk.bytes,
            Part::Disk(_) => 0,
        };
        self.parts[self.fixed..].iter().map(chunk).sum()
    }

    fn owner(&self, number: u32) -> Option<usize> {
        let behind = self.parts.partition_point(|part| part.range().end <= number);
        self.parts.get(behind).filter(|part| part.range().contains(&number)).map(|_| behind)
    }

    /// Hands the postings of a key to `each`, from parts that have documents from `from` on.
    pub(crate) fn find(
        &self,
        table: usize,
        key: u64,
        from: u32,
        blocks: &mut BlockBuffers,
        each: &mut dyn FnMut(u32, u32),
    ) -> Result<(), IndexError> {
        let parts = self.parts.iter().filter(|part| part.range().end > from || from == 0);
        for part in parts {
            part.find(table, key, blocks, each)?;
        }
        Ok(())
    }

    /// Returns the numbers that a key leads to, sorted.
    pub(crate) fn lookup(
        &self,
        table: usize,
        key: u64,
        blocks: &mut BlockBuffers,
    ) -> Result<Vec<u32>, IndexError> {
        let mut numbers = Vec::new();
        self.find(table, key, 0, blocks, &mut |value, _| numbers.push(value))?;
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// The documents of an id that are there, with their numbers.
    pub(crate) fn of_id(
        &self,
        tables: &Tables,
        id: &str,
        blocks: &mut BlockBuffers,
    ) -> Result<Vec<(u32, Row)>, IndexError> {
        let mut live = Vec::new();
        for number in self.lookup(tables.ids(), id_key(id), blocks)? {
            let row = self.row(number, blocks)?;
            if row.state.is_live() && self.names(number, &row, blocks)?.0 == id {
                live.push((number, row));
            }
        }
        Ok(live)
    }

    /// The number of the first document of an id that is there.
    pub(crate) fn first_of(
        &self,
        tables: &Tables,
        id: &str,
        blocks: &mut BlockBuffers,
    ) -> Result<Option<u32>, IndexError> {
        for number in self.lookup(tables.ids(), id_key(id), blocks)? {
            let row = self.row(number, blocks)?;
            if row.state.is_live() && self.names(number, &row, blocks)?.0 == id {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// The row of a document, with its state now.
    pub(crate) fn row(&self, number: u32, blocks: &mut BlockBuffers) -> Result<Row, IndexError> {
        let owner = self.owner(number).ok_or_else(|| no_document(number))?;
        let mut row = match &self.parts[owner] {
            Part::Memory(chunk) => {
                chunk.get(number).map(|stored| stored.row).ok_or_else(|| no_document(number))?
            }
            Part::Disk(segment) => segment.row(number, blocks)?,
        };
        for part in self.parts[owner + 1..].iter().rev().filter(|part| part.has_changes()) {
            if let Some(state) = part.change(number, blocks)? {
                row.state = state;
                break;
            }
        }
        Ok(row)
    }

    /// Returns the holder of a document.
    fn holder(&self, number: u32) -> Result<Holder<'_>, IndexError> {
        match self.owner(number).map(|owner| &self.parts[owner]) {
            Some(Part::Memory(chunk)) => chunk.get(number).map(|stored| Holder::Memory(stored)),
            Some(Part::Disk(segment)) => Some(Holder::Disk(segment)),
            None => None,
        }
        .ok_or_else(|| no_document(number))
    }

    /// The id and the address of a document.
    pub(crate) fn names(
        &self,
        number: u32,
        row: &Row,
        blocks: &mut BlockBuffers,
    ) -> Result<(String, Option<String>), IndexError> {
        match self.holder(number)? {
            Holder::Memory(stored) => Ok((stored.id.clone(), stored.url.clone())),
            Holder::Disk(segment) => segment.names(row, blocks),
        }
    }

    /// Replaces `out` with the record of a document.
    pub(crate) fn record(
        &self,
        number: u32,
        row: &Row,
        blocks: &mut BlockBuffers,
        out: &mut Vec<u8>,
    ) -> Result<(), IndexError> {
        out.clear();
        match self.holder(number)? {
            Holder::Memory(stored) => out.extend_from_slice(&stored.record),
            Holder::Disk(segment) => segment.record(row, blocks, out)?,
        }
        Ok(())
    }

    /// Replaces `out` with the body of a document.
    pub(crate) fn body(
        &self,
        number: u32,
        row: &Row,
        blocks: &mut BlockBuffers,
        out: &mut Vec<u8>,
    ) -> Result<(), IndexError> {
        out.clear();
        match self.holder(number)? {
            Holder::Memory(stored) => out.extend_from_slice(&stored.body),
            Holder::Disk(segment) => segment.body(row, blocks, out)?,
        }
        Ok(())
    }
}

/// The object that holds a document: the document itself in memory, or its segment on disk.
enum Holder<'h> {
    Memory(&'h StoredDocument),
    Disk(&'h Segment),
}

fn no_document(number: u32) -> IndexError {
    IndexError::Request(format!("the index has no document of number {number}"))
}

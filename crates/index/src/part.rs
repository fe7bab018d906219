//! All parts of the index at one moment, seen as one: a snapshot does not change while a reader uses it.

use std::ops::Range;
use std::sync::Arc;

use crate::chunk::{Chunk, Posting, StoredDocument, Tables, id_key};
use crate::error::IndexError;
use crate::row::{Row, State};
use crate::segment::{BlockBuffers, Segment, TablePostings};

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

/// The postings of one table of one part, in order.
pub(crate) struct Postings<'p> {
    from: PostingSource<'p>,
    pub(crate) head: Option<Posting>,
}

enum PostingSource<'p> {
    Memory(std::slice::Iter<'p, Posting>),
    Disk(TablePostings<'p>),
}

impl<'p> Postings<'p> {
    pub(crate) fn new(part: &'p Part, table: usize) -> Result<Self, IndexError> {
        let from = match part {
            Part::Memory(chunk) => PostingSource::Memory(chunk.tables[table].iter()),
            Part::Disk(segment) => PostingSource::Disk(segment.table_postings(table)),
        };
        let mut postings = Postings { from, head: None };
        postings.advance()?;
        Ok(postings)
    }

    pub(crate) fn advance(&mut self) -> Result<(), IndexError> {
        self.head = match &mut self.from {
            PostingSource::Memory(postings) => postings.next().copied(),
            PostingSource::Disk(postings) => postings.advance()?,
        };
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Change;
    use crate::testing::{chunk, layout, memory, removed, segment, stored, tables};

    fn snapshot(chunks: impl IntoIterator<Item = Chunk>) -> Snapshot {
        let parts: Vec<Part> = chunks.into_iter().map(memory).collect();
        let next = parts.last().map_or(0, |part| part.range().end);
        Snapshot { fixed: parts.len(), parts, next, ..Snapshot::default() }
    }

    fn changing(first: u32, number: u32, state: State) -> Chunk {
        Chunk { changes: vec![Change { number, state }], ..chunk(first, &[]) }
    }

    fn weights(snapshot: &Snapshot) -> Vec<usize> {
        let weight = |part: &Part| match part {
            Part::Memory(chunk) => chunk.weight(),
            Part::Disk(_) => 0,
        };
        snapshot.parts.iter().map(weight).collect()
    }

    #[test]
    fn documents_are_counted_by_their_state() {
        let mut counts = Counts::default();
        for state in [State::Kept, removed(0), removed(1), State::Deleted, State::DeletedLeader] {
            counts.count(state, 1);
        }
        assert_eq!(counts, Counts { kept: 1, removed: 2, deleted: 2, ..Counts::default() });
        counts.count(removed(0), -1);
        assert_eq!(counts.removed, 1);
    }

    #[test]
    fn counts_never_fall_below_zero() {
        let mut counts = Counts::default();
        counts.count(State::Kept, -1);
        assert_eq!(counts, Counts::default());
    }

    #[test]
    fn parts_are_alike_in_memory_and_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let mut chunk = chunk(2, &[State::Kept, removed(2)]);
        chunk.tables[0] = vec![(1, 2, 5), (1, 3, 6), (4, 3, 0)];
        chunk.changes = vec![Change { number: 1, state: State::Deleted }];
        let one = memory(chunk);
        let two = Part::Disk(Arc::new(segment(&layout(folder.path()), 1, std::slice::from_ref(&one))));
        assert!(!one.is_on_disk() && two.is_on_disk());
        let mut blocks = BlockBuffers::default();
        for part in [one, two] {
            assert_eq!(part.range(), 2..4);
            assert_eq!([0, 1, tables().ids()].map(|table| part.postings(table)), [3, 0, 2]);
            let mut found = Vec::new();
            part.find(0, 1, &mut blocks, &mut |value, tag| found.push((value, tag))).unwrap();
            assert_eq!(found, [(2, 5), (3, 6)]);
            assert!(part.has_changes());
            assert_eq!(part.change(1, &mut blocks).unwrap(), Some(State::Deleted));
            assert_eq!(part.change(2, &mut blocks).unwrap(), None);
        }
    }

    #[test]
    fn an_empty_snapshot_has_nothing() {
        let (empty, mut blocks) = (Snapshot::default(), BlockBuffers::default());
        assert!(empty.lookup(0, 1, &mut blocks).unwrap().is_empty());
        assert_eq!(empty.tail(0), None);
        assert_eq!((empty.tail_bytes(), empty.age()), (0, (0, 0)));
        let sentence = empty.row(0, &mut blocks).unwrap_err().to_string();
        assert_eq!(sentence, "the index has no document of number 0");
    }

    #[test]
    fn small_chunks_are_joined_and_large_ones_stay() {
        let mut snapshot = Snapshot::default();
        let mut seen = Vec::new();
        for number in 0..8 {
            snapshot.push(chunk(number, &[State::Kept]));
            seen.push(weights(&snapshot));
        }
        // A chunk stays beside the next only if it is at least twice as heavy.
        let expected =
            [vec![1], vec![2], vec![2, 1], vec![4], vec![4, 1], vec![4, 2], vec![4, 2, 1], vec![8]];
        assert_eq!(seen, expected);
        assert_eq!(snapshot.next, 8);
    }

    #[test]
    fn fixed_parts_are_not_joined() {
        let mut snapshot = snapshot([chunk(0, &[State::Kept])]);
        snapshot.push(chunk(1, &[State::Kept]));
        snapshot.push(chunk(2, &[State::Kept]));
        assert_eq!((weights(&snapshot), snapshot.fixed), (vec![1, 2], 1));
    }

    #[test]
    fn only_changes_of_earlier_documents_make_a_snapshot_older() {
        let mut snapshot = Snapshot::default();
        snapshot.push(chunk(0, &[State::Kept]));
        assert_eq!(snapshot.age(), (0, 0));
        snapshot.push(changing(1, 0, State::Deleted));
        assert_eq!((snapshot.age(), snapshot.next), ((1, 0), 1));
    }

    #[test]
    fn the_tail_is_all_chunks_from_a_part_on() {
        let snapshot =
            snapshot([chunk(0, &[State::Kept]), chunk(1, &[State::Kept]), chunk(2, &[removed(0)])]);
        let range = |from| snapshot.tail(from).map(|chunk| chunk.first..chunk.end());
        assert_eq!([0, 1, 2, 3].map(range), [Some(0..3), Some(1..3), Some(2..3), None]);
    }

    #[test]
    fn the_bytes_of_the_tail_are_those_of_parts_that_grow() {
        let mut snapshot = snapshot([chunk(0, &[State::Kept]), chunk(1, &[State::Kept])]);
        assert_eq!(snapshot.tail_bytes(), 0);
        snapshot.fixed = 1;
        assert_eq!(snapshot.tail_bytes(), chunk(1, &[State::Kept]).bytes);
    }

    #[test]
    fn a_number_belongs_to_the_part_that_has_it() {
        let two = [State::Kept; 2];
        let snapshot =
            snapshot([chunk(0, &two), changing(2, 0, State::Deleted), chunk(2, &two), chunk(4, &two)]);
        let owners: Vec<Option<usize>> = (0..7).map(|number| snapshot.owner(number)).collect();
        assert_eq!(owners, [Some(0), Some(0), Some(2), Some(2), Some(3), Some(3), None]);
    }

    #[test]
    fn the_last_change_of_a_document_is_its_state() {
        let mut blocks = BlockBuffers::default();
        let mut chunks =
            vec![chunk(0, &[State::Kept; 3]), changing(3, 1, removed(0)), changing(3, 2, removed(0))];
        let state = |chunks: &[Chunk], number, blocks: &mut BlockBuffers| {
            snapshot(chunks.to_vec()).row(number, blocks).unwrap().state
        };
        assert_eq!(
            [0, 1, 2].map(|number| state(&chunks, number, &mut blocks)),
            [State::Kept, removed(0), removed(0)]
        );
        chunks.push(changing(3, 1, State::Deleted));
        assert_eq!(state(&chunks, 1, &mut blocks), State::Deleted);
    }

    #[test]
    fn numbers_of_a_key_come_sorted_and_once_from_all_parts() {
        let mut chunks = [chunk(0, &[State::Kept; 2]), chunk(2, &[State::Kept])];
        chunks[0].tables[0] = vec![(9, 1, 0), (9, 1, 3)];
        chunks[1].tables[0] = vec![(8, 2, 0), (9, 0, 0), (9, 2, 0)];
        let snapshot = snapshot(chunks);
        assert_eq!(snapshot.lookup(0, 9, &mut BlockBuffers::default()).unwrap(), [0, 1, 2]);
    }

    #[test]
    fn parts_with_earlier_documents_alone_are_not_asked() {
        let mut chunks = [chunk(0, &[State::Kept; 2]), chunk(2, &[State::Kept]), changing(3, 0, removed(1))];
        chunks[0].tables[0] = vec![(9, 1, 0)];
        chunks[1].tables[0] = vec![(9, 2, 0)];
        chunks[2].tables[0] = vec![(9, 0, 0)];
        let snapshot = snapshot(chunks);
        let from = |from| {
            let mut found = Vec::new();
            snapshot
                .find(0, 9, from, &mut BlockBuffers::default(), &mut |value, _| found.push(value))
                .unwrap();
            found
        };
        assert_eq!(from(0), [1, 2, 0]);
        assert_eq!(from(1), [1, 2, 0]);
        assert_eq!(from(2), [2, 0], "the last part begins behind them");
        assert!(from(3).is_empty());
    }

    #[test]
    fn names_records_and_bodies_are_those_of_the_document() {
        let folder = tempfile::tempdir().unwrap();
        let on_disk = memory(chunk(0, &[State::Kept; 2]));
        let on_disk = Part::Disk(Arc::new(segment(&layout(folder.path()), 1, &[on_disk])));
        let snapshot = Snapshot {
            parts: vec![on_disk, memory(chunk(2, &[State::Kept]))],
            next: 3,
            ..Snapshot::default()
        };
        let (mut blocks, mut out) = (BlockBuffers::default(), b"of another".to_vec());
        for number in 0..3 {
            let wanted = stored(number, State::Kept);
            let row = snapshot.row(number, &mut blocks).unwrap();
            assert_eq!(snapshot.names(number, &row, &mut blocks).unwrap(), (wanted.id, wanted.url));
            snapshot.record(number, &row, &mut blocks, &mut out).unwrap();
            assert_eq!(out, wanted.record);
            snapshot.body(number, &row, &mut blocks, &mut out).unwrap();
            assert_eq!(out, wanted.body);
        }
        let row = stored(3, State::Kept).row;
        let sentence = snapshot.names(3, &row, &mut blocks).unwrap_err().to_string();
        assert_eq!(sentence, "the index has no document of number 3");
    }

    #[test]
    fn an_id_leads_to_live_documents_that_have_it() {
        let mut chunk = chunk(0, &[State::Deleted, State::Kept, removed(1), State::Kept]);
        // All but the last have the id of number 0; the last has the same hash and another id.
        for number in 1..3 {
            let id = "d0".to_owned();
            chunk.documents[number] = Arc::new(StoredDocument { id, ..(*chunk.documents[number]).clone() });
        }
        let ids = tables().ids();
        chunk.tables[ids] = (0..4).map(|number| (id_key("d0"), number, 0)).collect();
        let (snapshot, mut blocks) = (snapshot([chunk]), BlockBuffers::default());
        let found = snapshot.of_id(&tables(), "d0", &mut blocks).unwrap();
        assert_eq!(found.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(snapshot.first_of(&tables(), "d0", &mut blocks).unwrap(), Some(1));
        assert_eq!(snapshot.first_of(&tables(), "d3", &mut blocks).unwrap(), None);
        assert!(snapshot.of_id(&tables(), "", &mut blocks).unwrap().is_empty());
    }
}

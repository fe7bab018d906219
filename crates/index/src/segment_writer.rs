//! Writing segments: documents and postings of neighbouring parts, in memory or on disk, as the files of one new segment.

use lookalike_engine::EngineError;
use lookalike_store::bloom::BloomFilter;
use lookalike_store::file::{Run, RunWriter};
use lookalike_store::sync::sync;

use crate::chunk::StoredDocument;
use crate::error::IndexError;
use crate::part::{Part, Postings};
use crate::row::{ABSENT, Change, Row, State};
use crate::segment::{IndexLayout, Segment, TABLE_BLOCK};

/// Writes neighbouring parts as one segment. Deleted documents leave a row and nothing else.
pub(crate) fn write(layout: &IndexLayout, id: u64, parts: &[Part]) -> Result<(), IndexError> {
    let gone = write_documents(layout, id, parts)?;
    for table in 0..layout.tables.count() {
        write_table(layout, id, parts, table, &gone)?;
    }
    Ok(sync(&layout.files(id)).map_err(EngineError::from)?)
}

/// Returns the changes in some parts, the latest of each document, sorted by number.
fn changes(parts: &[Part]) -> Result<Vec<Change>, IndexError> {
    let mut all = Vec::new();
    for part in parts.iter().rev() {
        match part {
            Part::Memory(chunk) => all.extend_from_slice(&chunk.changes),
            Part::Disk(segment) if segment.has_changes() => all.extend(segment.changes()?),
            Part::Disk(_) => {}
        }
    }
    all.sort_by_key(|change| change.number);
    all.dedup_by_key(|change| change.number);
    Ok(all)
}

/// Writes rows, names, records, bodies and changes; returns the numbers of those that are gone, sorted.
fn write_documents(layout: &IndexLayout, id: u64, parts: &[Part]) -> Result<Vec<u32>, IndexError> {
    let create =
        |what: &'static str, width| RunWriter::create(&layout.path(id, what), layout.label(what, width));
    let mut rows = create("rows", Row::WIDTH)?;
    let mut names = create("names", 1)?;
    let mut records = create("records", layout.record.max(1))?;
    let mut bodies = create("bodies", 1)?;
    let changes = changes(parts)?;
    let mut next = changes.iter().peekable();
    let mut gone = Vec::new();
    let mut record_number = 0u32;
    let mut writer = |number: u32, row: &mut Row, source: &mut Source<'_>| -> Result<(), IndexError> {
        while next.next_if(|change| change.number < number).is_some() {}
        if let Some(change) = next.next_if(|change| change.number == number) {
            row.state = change.state;
        }
        let original = *row;
        (row.names, row.body) = (names.position(), bodies.position());
        if row.state == State::Deleted {
            gone.push(number);
        }
        if row.state.is_live() {
            names.push(source.names(&original)?)?;
            bodies.push(source.body(&original)?)?;
        } else {
            (row.id, row.url, row.body_bytes) = (0, ABSENT, 0);
        }
        if row.record != ABSENT && row.state != State::Deleted {
            records.push(source.record(&original)?)?;
            row.record = record_number;
            record_number += 1;
        } else {
            row.record = ABSENT;
        }
        Ok(rows.push(&row.encode())?)
    };
    for part in parts {
        match part {
            Part::Memory(chunk) => {
                for (number, stored) in (chunk.first..).zip(&chunk.documents) {
                    let mut row = stored.row;
                    writer(number, &mut row, &mut Source::Memory(stored, Vec::new()))?;
                }
            }
            Part::Disk(segment) => {
                let mut source = Source::Disk(Box::new(SegmentReader::new(segment)));
                for number in segment.range.clone() {
                    let mut row = source.row(number)?;
                    writer(number, &mut row, &mut source)?;
                }
            }
        }
    }
    rows.finish()?;
    names.finish()?;
    records.finish()?;
    bodies.finish()?;
    let first = parts.first().map_or(0, |part| part.range().start);
    let mut file = create("changes", Change::WIDTH)?;
    for change in changes.iter().filter(|change| change.number < first) {
        file.push(&change.encode())?;
    }
    file.finish()?;
    Ok(gone)
}

/// The source of documents that are written again.
enum Source<'s> {
    Memory(&'s StoredDocument, Vec<u8>),
    Disk(Box<SegmentReader<'s>>),
}

/// The documents of a segment, read from the front; the current block of each file stays in memory.
struct SegmentReader<'s> {
    segment: &'s Segment,
    rows: CachedRun<'s>,
    names: CachedRun<'s>,
    records: CachedRun<'s>,
    bodies: CachedRun<'s>,
    out: Vec<u8>,
}

impl<'s> SegmentReader<'s> {
    fn new(segment: &'s Segment) -> Self {
        let cached = |run| CachedRun { run, number: None, block: Vec::new() };
        SegmentReader {
            segment,
            rows: cached(&segment.rows),
            names: cached(&segment.names),
            records: cached(&segment.records),
            bodies: cached(&segment.bodies),
            out: Vec::new(),
        }
    }
}

/// A file with its current block.
struct CachedRun<'s> {
    run: &'s Run,
    number: Option<u64>,
    block: Vec<u8>,
}

impl CachedRun<'_> {
    fn read(&mut self, mut offset: u64, length: usize, out: &mut Vec<u8>) -> Result<(), IndexError> {
        out.clear();
        while out.len() < length {
            let size = self.run.block_bytes() as u64;
            let number = offset / size;
            if self.number != Some(number) {
                self.number = None;
                self.run.block(number, &mut self.block)?;
                self.number = Some(number);
            }
            let part = &self.block[((offset % size) as usize).min(self.block.len())..];
            let part = &part[..part.len().min(length - out.len())];
            if part.is_empty() {
                return Err(IndexError::Request("a row leads behind the end of its file".to_owned()));
            }
            out.extend_from_slice(part);
            offset += part.len() as u64;
        }
        Ok(())
    }
}

impl Source<'_> {
    fn row(&mut self, number: u32) -> Result<Row, IndexError> {
        match self {
            Source::Memory(stored, _) => Ok(stored.row),
            Source::Disk(reader) => {
                let offset = u64::from(number - reader.segment.range.start) * Row::WIDTH as u64;
                reader.rows.read(offset, Row::WIDTH, &mut reader.out)?;
                Ok(Row::decode(reader.out.first_chunk().expect("as many bytes as were asked for")))
            }
        }
    }

    fn names(&mut self, row: &Row) -> Result<&[u8], IndexError> {
        match self {
            Source::Memory(stored, out) => {
                out.clear();
                out.extend_from_slice(stored.id.as_bytes());
                out.extend_from_slice(stored.url.as_deref().unwrap_or_default().as_bytes());
                Ok(out)
            }
            Source::Disk(reader) => {
                let url = if row.url == ABSENT { 0 } else { row.url as usize };
                reader.names.read(row.names, row.id as usize + url, &mut reader.out)?;
                Ok(&reader.out)
            }
        }
    }

    fn record(&mut self, row: &Row) -> Result<&[u8], IndexError> {
        match self {
            Source::Memory(stored, _) => Ok(&stored.record),
            Source::Disk(reader) => {
                let run = reader.records.run;
                let width = run.bytes() / run.count().max(1);
                reader.records.read(u64::from(row.record) * width, width as usize, &mut reader.out)?;
                Ok(&reader.out)
            }
        }
    }

    fn body(&mut self, row: &Row) -> Result<&[u8], IndexError> {
        match self {
            Source::Memory(stored, _) => Ok(&stored.body),
            Source::Disk(reader) => {
                reader.bodies.read(row.body, row.body_bytes as usize, &mut reader.out)?;
                Ok(&reader.out)
            }
        }
    }
}

/// Merges a table of all parts, without postings that lead to documents that are gone.
fn write_table(
    layout: &IndexLayout,
    id: u64,
    parts: &[Part],
    table: usize,
    gone: &[u32],
) -> Result<(), IndexError> {
    let width = layout.width(table);
    let mut run =
        RunWriter::create(&layout.path(id, &format!("table{table}")), layout.label("table", width))?;
    let mut fence = RunWriter::create(&layout.path(id, &format!("fence{table}")), layout.label("fence", 8))?;
    let most = parts.iter().map(|part| part.postings(table)).sum();
    let mut filter = BloomFilter::new(most);
    let mut sources: Vec<Postings<'_>> =
        parts.iter().map(|part| Postings::new(part, table)).collect::<Result<_, _>>()?;
    // As many as a block of the file holds.
    let block = (TABLE_BLOCK / width) as u64;
    let mut count = 0u64;
    loop {
        let first = sources.iter().enumerate().filter_map(|(place, source)| Some((source.head?, place)));
        let Some((posting, place)) = first.min() else { break };
        sources[place].advance()?;
        if gone.binary_search(&posting.1).is_ok() {
            continue;
        }
        if count.is_multiple_of(block) {
            fence.push(&posting.0.to_le_bytes())?;
        }
        count += 1;
        filter.add(posting.0);
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&posting.0.to_le_bytes());
        bytes[8..12].copy_from_slice(&posting.1.to_le_bytes());
        bytes[12..].copy_from_slice(&posting.2.to_le_bytes());
        run.push(&bytes[..width])?;
    }
    run.finish()?;
    fence.finish()?;
    let mut file = RunWriter::create(&layout.path(id, &format!("filter{table}")), layout.label("filter", 8))?;
    filter.words().iter().try_for_each(|word| file.push(&word.to_le_bytes()))?;
    Ok(file.finish()?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chunk::Chunk;
    use crate::segment::BlockBuffers;
    use crate::testing::{chunk, layout, memory, removed, segment, stored};

    fn found(segment: &Segment, table: usize, key: u64) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        segment
            .find(table, key, &mut BlockBuffers::default(), &mut |value, tag| found.push((value, tag)))
            .unwrap();
        found
    }

    fn states(segment: &Segment) -> Vec<State> {
        let mut blocks = BlockBuffers::default();
        segment.range.clone().map(|number| segment.row(number, &mut blocks).unwrap().state).collect()
    }

    #[test]
    fn changes_of_documents_inside_become_their_state_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let change = |number, state| Change { number, state };
        let one = Chunk {
            changes: vec![change(1, removed(0)), change(3, State::Deleted)],
            ..chunk(4, &[State::Kept; 2])
        };
        let two = Chunk {
            changes: vec![change(1, State::Kept), change(4, removed(5))],
            ..chunk(6, &[State::Kept])
        };
        let segment = segment(&layout(folder.path()), 1, &[memory(one), memory(two)]);
        assert_eq!(states(&segment), [removed(5), State::Kept, State::Kept]);
        assert_eq!(segment.changes().unwrap(), [change(1, State::Kept), change(3, State::Deleted)]);
    }

    #[test]
    fn deleted_documents_leave_a_row_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let mut chunk = chunk(0, &[State::Deleted, State::DeletedLeader, State::Kept]);
        chunk.tables[0] = vec![(7, 0, 1), (7, 1, 1), (7, 2, 1)];
        let segment = segment(&layout(folder.path()), 1, &[memory(chunk)]);
        assert_eq!(states(&segment), [State::Deleted, State::DeletedLeader, State::Kept]);
        assert_eq!(found(&segment, 0, 7), [(1, 1), (2, 1)], "the postings of a deleted leader stay");
        let mut blocks = BlockBuffers::default();
        let rows = [0, 1, 2].map(|number| segment.row(number, &mut blocks).unwrap());
        assert_eq!(rows.map(|row| row.id), [0, 0, 2]);
        assert_eq!(rows.map(|row| row.body_bytes), [0, 0, 9]);
        assert_eq!(rows.map(|row| row.record), [ABSENT, 0, 1]);
        let mut record = Vec::new();
        segment.record(&rows[1], &mut blocks, &mut record).unwrap();
        assert_eq!(record, stored(1, State::Kept).record);
        assert_eq!(segment.names.bytes(), ("d2".len() + "https://site.example/2".len()) as u64);
    }

    #[test]
    fn merged_segments_are_what_one_of_all_documents_would_be() {
        let folder = tempfile::tempdir().unwrap();
        let layout = layout(folder.path());
        let chunks = || {
            let mut one = chunk(0, &[State::Kept, State::Kept, State::Deleted]);
            one.tables[1] = vec![(1, 0, 0), (1, 1, 0), (2, 2, 0)];
            let mut two = chunk(3, &[removed(0), State::Kept]);
            two.tables[1] = vec![(1, 4, 0), (5, 3, 0)];
            two.changes = vec![Change { number: 1, state: State::Deleted }];
            [memory(one), memory(two)]
        };
        let whole = segment(&layout, 1, &chunks());
        let [one, two] = chunks();
        let parts =
            [segment(&layout, 2, &[one]), segment(&layout, 3, &[two])].map(|part| Part::Disk(Arc::new(part)));
        let merged = segment(&layout, 4, &parts);
        assert_eq!(found(&merged, 1, 1), [(0, 0), (4, 0)]);
        assert_eq!(merged.bytes(), whole.bytes());
        for (one, two) in layout.files(1).iter().zip(layout.files(4)) {
            assert_eq!(std::fs::read(one).unwrap(), std::fs::read(&two).unwrap(), "{}", one.display());
        }
    }

    #[test]
    fn a_row_that_leads_behind_the_end_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let segment = segment(&layout(folder.path()), 1, &[memory(chunk(0, &[State::Kept]))]);
        let mut blocks = BlockBuffers::default();
        let row = Row { id: 1_000, ..segment.row(0, &mut blocks).unwrap() };
        assert!(segment.names(&row, &mut blocks).is_err());
        let mut source = Source::Disk(Box::new(SegmentReader::new(&segment)));
        assert!(source.names(&row).is_err());
        assert_eq!(source.names(&stored_row(&segment)).unwrap(), b"d0https://site.example/0");
    }

    fn stored_row(segment: &Segment) -> Row {
        segment.row(0, &mut BlockBuffers::default()).unwrap()
    }
}

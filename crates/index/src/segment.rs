//! A part of the index on disk: sorted tables and the documents behind them, in files that never change.
//!
//! | file | holds | bytes |
//! |---|---|---|
//! | `s00000001.rows` | [`Row`]s | 72 per document |
//! | `s00000001.names` | ids and addresses | their length |
//! | `s00000001.records` | lengths and payloads of all methods | by method, of the first document with its words |
//! | `s00000001.bodies` | texts, compressed one by one, or symbols | about half the text |
//! | `s00000001.table0` … | postings, sorted | 12 or 16 each |
//! | `s00000001.fence0` … | the first key of every block of a table; stays in memory | 8 per block of 4 KiB |
//! | `s00000001.filter0` … | which keys a table surely does not have; in memory, where there is room | 1.5 per key |
//! | `s00000001.changes` | what changed of documents of earlier segments | 16 each |
//!
//! Blocks are short and have a checksum each: 1 KiB of rows, names and records, 2 KiB of texts, 4 KiB of tables. Filters
//! take up to 384 MB.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lookalike_store::bloom::BloomFilter;
use lookalike_store::file::{Label, Run};

use crate::chunk::{Posting, Tables};
use crate::error::IndexError;
use crate::row::{ABSENT, Change, Row};

/// Bytes of a block of a table.
pub(crate) const TABLE_BLOCK: usize = 4 << 10;

/// Buffers for blocks, reused from read to read.
#[derive(Debug, Default)]
pub(crate) struct BlockBuffers {
    block: Vec<u8>,
    bytes: Vec<u8>,
}

/// The folder of an index, and the properties that all its files share.
#[derive(Debug, Clone)]
pub(crate) struct IndexLayout {
    pub(crate) folder: PathBuf,
    pub(crate) stamp: u128,
    pub(crate) tables: Tables,
    /// Bytes of a record.
    pub(crate) record: usize,
    /// Bytes of memory that are left for filters.
    pub(crate) filters: Arc<AtomicU64>,
}

impl IndexLayout {
    pub(crate) fn label(&self, kind: &'static str, width: usize) -> Label {
        let label = Label::new(kind, width, self.stamp);
        match kind {
            // Documents are read in any order, and most of what is read for one is its block.
            "rows" | "records" | "names" => label.with_blocks(1 << 10),
            "bodies" => label.with_blocks(2 << 10),
            "table" => label.with_blocks(TABLE_BLOCK),
            _ => label,
        }
    }

    pub(crate) fn path(&self, id: u64, what: &str) -> PathBuf {
        self.folder.join(format!("s{id:08}.{what}"))
    }

    pub(crate) fn width(&self, table: usize) -> usize {
        if self.tables.is_tagged(table) { 16 } else { 12 }
    }

    /// Reserves memory for a filter, if enough is left.
    fn reserve_filter(&self, bytes: u64) -> bool {
        let less = |left: u64| left.checked_sub(bytes);
        self.filters.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// The files of a segment.
    pub(crate) fn files(&self, id: u64) -> Vec<PathBuf> {
        let mut names: Vec<String> =
            ["rows", "names", "records", "bodies", "changes"].map(str::to_owned).into();
        for table in 0..self.tables.count() {
            names.extend(["table", "fence", "filter"].map(|kind| format!("{kind}{table}")));
        }
        names.iter().map(|name| self.path(id, name)).collect()
    }
}

/// A part of the index on disk.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) id: u64,
    pub(crate) range: Range<u32>,
    pub(crate) rows: Run,
    pub(crate) names: Run,
    pub(crate) records: Run,
    pub(crate) bodies: Run,
    changes: Run,
    tables: Vec<Table>,
    /// The counter of free filter memory, to which its filters are returned on drop.
    filters: Arc<AtomicU64>,
}

impl Drop for Segment {
    fn drop(&mut self) {
        self.filters.fetch_add(self.filter_bytes(), Ordering::Relaxed);
    }
}

/// Postings on disk.
#[derive(Debug)]
struct Table {
    run: Run,
    width: usize,
    fence: Vec<u64>,
    filter: Option<BloomFilter>,
}

impl Segment {
    /// Opens the files of a segment.
    pub(crate) fn open(layout: &IndexLayout, id: u64, range: Range<u32>) -> Result<Self, IndexError> {
        let open = |what: &str, kind: &'static str, width| {
            Ok::<Run, IndexError>(Run::open(&layout.path(id, what), layout.label(kind, width))?)
        };
        let table = |number: usize| {
            let run = open(&format!("table{number}"), "table", layout.width(number))?;
            let mut fence = Vec::new();
            let mut keys = open(&format!("fence{number}"), "fence", 8)?.records();
            while let Some(key) = keys.next()? {
                fence.push(u64::from_le_bytes(key.try_into().expect("eight bytes")));
            }
            if fence.len() as u64 != run.block_count() {
                let file = layout.path(id, &format!("fence{number}"));
                return Err(IndexError::damaged(&file, "it is not that of its table"));
            }
            let filter = open(&format!("filter{number}"), "filter", 8)?;
            let filter =
                if layout.reserve_filter(filter.bytes()) { Some(read_filter(filter)?) } else { None };
            Ok(Table { run, width: layout.width(number), fence, filter })
        };
        let segment = Segment {
            id,
            rows: open("rows", "rows", Row::WIDTH)?,
            names: open("names", "names", 1)?,
            records: open("records", "records", layout.record.max(1))?,
            bodies: open("bodies", "bodies", 1)?,
            changes: open("changes", "changes", Change::WIDTH)?,
            tables: (0..layout.tables.count()).map(table).collect::<Result<_, _>>()?,
            range,
            filters: layout.filters.clone(),
        };
        if segment.rows.count() != segment.range.len() as u64 {
            let what =
                format!("it has {} rows and should have {}", segment.rows.count(), segment.range.len());
            return Err(IndexError::damaged(&layout.path(id, "rows"), what));
        }
        Ok(segment)
    }

    /// Bytes of its files.
    pub(crate) fn bytes(&self) -> u64 {
        let runs = [&self.rows, &self.names, &self.records, &self.bodies, &self.changes];
        let tables = self.tables.iter().map(|table| table.run.bytes() + 8 * table.fence.len() as u64);
        runs.iter().map(|run| run.bytes()).sum::<u64>() + tables.sum::<u64>()
    }

    fn filter_bytes(&self) -> u64 {
        self.tables.iter().filter_map(|table| table.filter.as_ref()).map(BloomFilter::bytes).sum()
    }

    /// Bytes of memory that it takes.
    pub(crate) fn memory(&self) -> u64 {
        self.filter_bytes() + self.tables.iter().map(|table| 8 * table.fence.len() as u64).sum::<u64>()
    }

    /// Number of postings of a table.
    pub(crate) fn postings(&self, table: usize) -> u64 {
        self.tables[table].run.count()
    }

    /// True when it has changes of earlier documents.
    pub(crate) fn has_changes(&self) -> bool {
        self.changes.count() > 0
    }

    pub(crate) fn row(&self, number: u32, blocks: &mut BlockBuffers) -> Result<Row, IndexError> {
        let offset = u64::from(number - self.range.start) * Row::WIDTH as u64;
        blocks.bytes.clear();
        self.rows.read(offset, Row::WIDTH, &mut blocks.block, &mut blocks.bytes)?;
        Ok(Row::decode(blocks.bytes.first_chunk().expect("as many bytes as were asked for")))
    }

    /// The id and the address of a document.
    pub(crate) fn names(
        &self,
        row: &Row,
        blocks: &mut BlockBuffers,
    ) -> Result<(String, Option<String>), IndexError> {
        let url = if row.url == ABSENT { 0 } else { row.url as usize };
        blocks.bytes.clear();
        self.names.read(row.names, row.id as usize + url, &mut blocks.block, &mut blocks.bytes)?;
        let (id, address) = blocks.bytes.split_at(row.id as usize);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((text(id), (row.url != ABSENT).then(|| text(address))))
    }

    pub(crate) fn record(
        &self,
        row: &Row,
        blocks: &mut BlockBuffers,
        out: &mut Vec<u8>,
    ) -> Result<(), IndexError> {
        let width = self.records.bytes() / self.records.count().max(1);
        Ok(self.records.read(u64::from(row.record) * width, width as usize, &mut blocks.block, out)?)
    }

    pub(crate) fn body(
        &self,
        row: &Row,
        blocks: &mut BlockBuffers,
        out: &mut Vec<u8>,
    ) -> Result<(), IndexError> {
        Ok(self.bodies.read(row.body, row.body_bytes as usize, &mut blocks.block, out)?)
    }

    /// Hands the postings of a key to `each`.
    pub(crate) fn find(
        &self,
        table: usize,
        key: u64,
        blocks: &mut BlockBuffers,
        each: &mut dyn FnMut(u32, u32),
    ) -> Result<(), IndexError> {
        let table = &self.tables[table];
        if table.filter.as_ref().is_some_and(|filter| !filter.may_contain(key)) {
            return Ok(());
        }
        // A key may begin in the block before the first one that begins with it.
        let mut block = table.fence.partition_point(|&first| first < key).saturating_sub(1);
        while table.fence.get(block).is_some_and(|&first| first <= key) {
            table.run.block(block as u64, &mut blocks.block)?;
            let count = blocks.block.len() / table.width;
            let posting = |index: usize| posting(&blocks.block[index * table.width..], table.width);
            let mut index = lower_bound(count, |index| posting(index).0 < key);
            while index < count {
                let (found, value, tag) = posting(index);
                if found != key {
                    return Ok(());
                }
                each(value, tag);
                index += 1;
            }
            block += 1;
        }
        Ok(())
    }

    /// The postings of a table, in order.
    pub(crate) fn table_postings(&self, table: usize) -> TablePostings<'_> {
        TablePostings { table: &self.tables[table], next: 0, block: Vec::new(), at: 0 }
    }

    /// Returns the change of an earlier document.
    pub(crate) fn change(
        &self,
        number: u32,
        blocks: &mut BlockBuffers,
    ) -> Result<Option<Change>, IndexError> {
        let (mut low, mut high) = (0, self.changes.count());
        while low < high {
            let middle = (low + high) / 2;
            blocks.bytes.clear();
            self.changes.read(
                middle * Change::WIDTH as u64,
                Change::WIDTH,
                &mut blocks.block,
                &mut blocks.bytes,
            )?;
            let change = Change::decode(blocks.bytes.first_chunk().expect("as many bytes as were asked for"));
            match change.number.cmp(&number) {
                std::cmp::Ordering::Equal => return Ok(Some(change)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    /// All changes, in order.
    pub(crate) fn changes(&self) -> Result<Vec<Change>, IndexError> {
        let (mut all, mut block) = (Vec::new(), Vec::new());
        for number in 0..self.changes.block_count() {
            self.changes.block(number, &mut block)?;
            all.extend(block.as_chunks().0.iter().map(Change::decode));
        }
        Ok(all)
    }

    /// Reads every block of every file, which checks them all.
    pub(crate) fn check(&self, blocks: &mut BlockBuffers) -> Result<(), IndexError> {
        let runs = [&self.rows, &self.names, &self.records, &self.bodies, &self.changes];
        for run in runs.into_iter().chain(self.tables.iter().map(|table| &table.run)) {
            (0..run.block_count()).try_for_each(|block| run.block(block, &mut blocks.block))?;
        }
        Ok(())
    }
}

fn read_filter(run: Run) -> Result<BloomFilter, IndexError> {
    let mut words = Vec::with_capacity(run.count() as usize);
    let mut records = run.records();
    while let Some(word) = records.next()? {
        words.push(u64::from_le_bytes(word.try_into().expect("eight bytes")));
    }
    Ok(BloomFilter::of(words))
}

/// The posting that stands at the front of `bytes`.
fn posting(bytes: &[u8], width: usize) -> Posting {
    let four = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let key = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    (key, four(8), if width == 16 { four(12) } else { 0 })
}

/// The first of `count` places that is not `before`.
fn lower_bound(count: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = (low + high) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// The postings of one table of a segment, in order. Files are read that are open already: their names may be gone.
pub(crate) struct TablePostings<'s> {
    table: &'s Table,
    next: u64,
    block: Vec<u8>,
    at: usize,
}

impl TablePostings<'_> {
    /// Returns the next posting, or none at the end.
    pub(crate) fn advance(&mut self) -> Result<Option<Posting>, IndexError> {
        let TablePostings { table, next, block, at } = self;
        if *at == block.len() {
            block.clear();
            *at = 0;
            if *next < table.run.block_count() {
                table.run.block(*next, block)?;
                *next += 1;
            }
        }
        let found = block.get(*at..*at + table.width).map(|bytes| posting(bytes, table.width));
        *at += if found.is_some() { table.width } else { 0 };
        Ok(found)
    }
}

/// Removes the files of a segment that is no longer in use.
pub(crate) fn remove(layout: &IndexLayout, id: u64) {
    for file in layout.files(id) {
        // A file that stays costs room and nothing else; the next writer removes it.
        let _ = std::fs::remove_file(file);
    }
}

/// The number of the segment that a file belongs to.
pub(crate) fn segment_id(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    name.strip_prefix('s')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::chunk::Chunk;
    use crate::part::{Part, Postings};
    use crate::row::State;
    use crate::testing::{chunk, layout, memory, removed, segment, stored, tables};

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

    fn all_postings(part: &Part, table: usize) -> Vec<Posting> {
        let mut postings = Postings::new(part, table).unwrap();
        let mut all = Vec::new();
        while let Some(posting) = postings.head {
            all.push(posting);
            postings.advance().unwrap();
        }
        all
    }

    fn turn_last_bit(path: &Path) {
        let mut bytes = std::fs::read(path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn files_are_named_by_the_number_of_their_segment() {
        let layout = layout(Path::new("in"));
        assert_eq!(layout.path(12, "rows"), Path::new("in").join("s00000012.rows"));
        let files = layout.files(1);
        // Five of documents, three for each of eight tables.
        assert_eq!(files.len(), 5 + 3 * 8);
        assert!(files.iter().all(|file| segment_id(file) == Some(1)));
    }

    #[test]
    fn only_files_of_segments_have_a_number() {
        let id = |name: &str| segment_id(&Path::new("s9").join(name));
        assert_eq!(
            [id("s00000012.rows"), id("s00000012.rows.part"), id("s7")],
            [Some(12), Some(12), Some(7)]
        );
        assert_eq!([id("log-00000001"), id("s.rows"), id("sx1.rows"), id("index.json")], [None; 4]);
    }

    #[test]
    fn the_first_place_that_is_not_before_is_found() {
        for count in 0..9 {
            for border in 0..=count {
                assert_eq!(lower_bound(count, |place| place < border), border);
            }
        }
    }

    #[test]
    fn a_posting_without_a_tag_has_the_tag_zero() {
        let bytes = [1, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 4, 0, 0, 0];
        let key = 2 << 56 | 1;
        assert_eq!(posting(&bytes, 16), (key, 3, 4));
        assert_eq!(posting(&bytes, 12), (key, 3, 0));
    }

    #[test]
    fn documents_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let documents = [State::Kept, removed(5), State::Kept];
        let segment = segment(&layout(folder.path()), 3, &[memory(chunk(5, &documents))]);
        assert_eq!((segment.id, segment.range.clone(), states(&segment)), (3, 5..8, documents.to_vec()));
        let mut blocks = BlockBuffers::default();
        for (number, state) in (5..8).zip(documents) {
            let wanted = stored(number, state);
            let row = segment.row(number, &mut blocks).unwrap();
            assert_eq!((row.words, row.digest, row.leader), (5, wanted.row.digest, number));
            assert_eq!(segment.names(&row, &mut blocks).unwrap(), (wanted.id, wanted.url));
            let (mut record, mut body) = (Vec::new(), Vec::new());
            segment.record(&row, &mut blocks, &mut record).unwrap();
            segment.body(&row, &mut blocks, &mut body).unwrap();
            assert_eq!((record, body), (wanted.record, wanted.body));
        }
    }

    #[test]
    fn a_segment_may_have_changes_alone() {
        let folder = tempfile::tempdir().unwrap();
        let changes: Vec<Change> =
            (0..700).map(|number| Change { number: 2 * number, state: removed(1) }).collect();
        let chunk = Chunk { changes: changes.clone(), ..chunk(1400, &[]) };
        let segment = segment(&layout(folder.path()), 1, &[memory(chunk)]);
        assert!(segment.has_changes() && segment.range.is_empty());
        assert_eq!(segment.changes().unwrap(), changes);
        let mut blocks = BlockBuffers::default();
        for change in &changes {
            assert_eq!(segment.change(change.number, &mut blocks).unwrap(), Some(*change));
            assert_eq!(segment.change(change.number + 1, &mut blocks).unwrap(), None);
        }
    }

    #[test]
    fn a_key_with_more_postings_than_a_block_is_found_whole() {
        let folder = tempfile::tempdir().unwrap();
        let mut chunk = chunk(0, &[State::Kept]);
        let many = |key: u64, count: u32| (0..count).map(move |value| (key, value, value % 5));
        chunk.tables[0] = many(3, 100).chain(many(4, 1_000)).chain(many(6, 1)).collect();
        let segment = segment(&layout(folder.path()), 1, &[memory(chunk)]);
        assert!(segment.tables[0].fence.len() > 3, "{:?}", segment.tables[0].fence);
        for (key, count) in [(2, 0), (3, 100), (4, 1_000), (5, 0), (6, 1), (7, 0)] {
            let expected: Vec<(u32, u32)> = (0..count).map(|value| (value, value % 5)).collect();
            assert_eq!(found(&segment, 0, key), expected, "{key}");
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let layout = layout(folder.path());
        drop(segment(&layout, 1, &[memory(chunk(0, &[State::Kept]))]));
        for file in layout.files(1) {
            let bytes = std::fs::read(&file).unwrap();
            std::fs::remove_file(&file).unwrap();
            let sentence = Segment::open(&layout, 1, 0..1).map(drop).unwrap_err().to_string();
            assert!(sentence.starts_with(&format!("{} cannot be read: ", file.display())), "{sentence}");
            std::fs::write(&file, bytes).unwrap();
        }
        assert!(Segment::open(&layout, 1, 0..1).is_ok());
    }

    #[test]
    fn a_segment_of_another_index_or_number_of_documents_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let layout = layout(folder.path());
        drop(segment(&layout, 1, &[memory(chunk(0, &[State::Kept]))]));
        let sentence =
            |layout: &IndexLayout, range| Segment::open(layout, 1, range).map(drop).unwrap_err().to_string();
        let rows = layout.path(1, "rows");
        let wanted = format!("{} is damaged: it has 1 rows and should have 2; ", rows.display());
        assert!(sentence(&layout, 0..2).starts_with(&wanted), "{}", sentence(&layout, 0..2));
        let other = IndexLayout { stamp: 12, ..layout.clone() };
        let wanted = format!("{} is damaged: it is of another kind, format version or job; ", rows.display());
        assert!(sentence(&other, 0..1).starts_with(&wanted), "{}", sentence(&other, 0..1));
    }

    #[test]
    fn the_fence_of_another_table_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let layout = layout(folder.path());
        drop(segment(&layout, 1, &[memory(chunk(0, &[State::Kept]))]));
        // The table of ids has a block, the one before it has none.
        let ids = tables().ids();
        let fence = layout.path(1, &format!("fence{ids}"));
        std::fs::copy(layout.path(1, &format!("fence{}", ids - 1)), &fence).unwrap();
        let sentence = Segment::open(&layout, 1, 0..1).map(drop).unwrap_err().to_string();
        let wanted = format!("{} is damaged: it is not that of its table; ", fence.display());
        assert!(sentence.starts_with(&wanted), "{sentence}");
    }

    #[test]
    fn a_check_reads_every_file() {
        let folder = tempfile::tempdir().unwrap();
        let layout = layout(folder.path());
        let changes = vec![Change { number: 0, state: State::Deleted }];
        drop(segment(&layout, 1, &[memory(Chunk { changes, ..chunk(1, &[State::Kept]) })]));
        let check = || Segment::open(&layout, 1, 1..2).unwrap().check(&mut BlockBuffers::default());
        check().unwrap();
        for name in ["rows", "names", "records", "bodies", "changes", &format!("table{}", tables().ids())] {
            let path = layout.path(1, name);
            turn_last_bit(&path);
            let sentence = check().unwrap_err().to_string();
            assert!(sentence.starts_with(&format!("{} is damaged: block 0, ", path.display())), "{sentence}");
            turn_last_bit(&path);
        }
    }

    #[test]
    fn a_removed_segment_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let layout = layout(folder.path());
        let parts = [memory(chunk(0, &[State::Kept]))];
        drop([segment(&layout, 1, &parts), segment(&layout, 2, &parts)]);
        remove(&layout, 1);
        let left = |id| layout.files(id).iter().filter(|file| file.exists()).count();
        assert_eq!((left(1), left(2)), (0, layout.files(2).len()));
    }

    #[test]
    fn memory_of_filters_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let layout = layout(folder.path());
        let before = layout.filters.load(Ordering::Relaxed);
        let segment = segment(&layout, 1, &[memory(chunk(0, &[State::Kept]))]);
        // One word for each of eight tables, and a fence of one key for the table of ids.
        assert_eq!((segment.filter_bytes(), segment.memory()), (64, 72));
        assert_eq!(layout.filters.load(Ordering::Relaxed), before - 64);
        drop(segment);
        assert_eq!(layout.filters.load(Ordering::Relaxed), before);
    }

    #[test]
    fn without_memory_for_filters_all_is_found_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let mut chunk = chunk(0, &[State::Kept]);
        chunk.tables[0] = vec![(1, 0, 2), (9, 0, 3)];
        let layout = IndexLayout { filters: Arc::new(AtomicU64::new(7)), ..layout(folder.path()) };
        let segment = segment(&layout, 1, &[memory(chunk)]);
        assert_eq!(segment.filter_bytes(), 0);
        assert_eq!([0, 1, 5, 9, 10].map(|key| found(&segment, 0, key).len()), [0, 1, 0, 1, 0]);
        drop(segment);
        assert_eq!(layout.filters.load(Ordering::Relaxed), 7);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn every_key_has_the_postings_that_were_written(
            tagged in prop::collection::vec((0..40u64, 0..9u32, 0..3u32), 0..900),
            plain in prop::collection::vec((0..40u64, 0..9u32), 0..900),
            cut in 0..900usize,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let plain: Vec<Posting> = plain.into_iter().map(|(key, value)| (key, value, 0)).collect();
            let mut chunks = [chunk(0, &[State::Kept; 5]), chunk(5, &[State::Kept; 4])];
            for (table, postings) in [&tagged, &plain].into_iter().enumerate() {
                let (one, two) = postings.split_at(cut.min(postings.len()));
                for (chunk, part) in chunks.iter_mut().zip([one, two]) {
                    chunk.tables[table] = part.to_vec();
                    chunk.tables[table].sort_unstable();
                }
            }
            let segment = segment(&layout(folder.path()), 1, &chunks.map(memory));
            for (table, postings) in [&tagged, &plain].into_iter().enumerate() {
                let mut expected: BTreeMap<u64, Vec<(u32, u32)>> = BTreeMap::new();
                postings.iter().for_each(|&(key, value, tag)| expected.entry(key).or_default().push((value, tag)));
                for key in 0..41 {
                    let mut expected = expected.remove(&key).unwrap_or_default();
                    expected.sort_unstable();
                    prop_assert_eq!(found(&segment, table, key), expected);
                }
            }
            let part = Part::Disk(Arc::new(segment));
            for (table, mut postings) in [tagged, plain].into_iter().enumerate() {
                postings.sort_unstable();
                prop_assert_eq!(part.postings(table), postings.len() as u64);
                prop_assert_eq!(all_postings(&part, table), postings);
            }
        }
    }
}

//! Records in order: sorted in memory up to a bound, in sorted runs on disk beyond it, merged when read.
//!
//! A run may carry a mark, and a later process goes on behind the last one that does ([`Sorter::resume`]).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::error::StoreError;
use crate::file::{Label, Records, Run, RunWriter};
use crate::journal::remove;

/// Converts records to and from their bytes in a file. Records that compare equal are equal.
pub trait Codec: Copy + Send + Sync {
    /// The record in memory.
    type Item: Copy + Ord + Send + Sync;
    /// The kind of the records, in at most 12 letters.
    const KIND: &'static str;
    /// Bytes per record.
    fn width(self) -> usize;
    /// Writes `item` into `width` bytes.
    fn put(self, item: Self::Item, out: &mut [u8]);
    /// Reads `width` bytes.
    fn get(self, bytes: &[u8]) -> Self::Item;
}

/// Most runs that are merged at once: each takes a block of memory and an open file.
const MOST_RUNS: usize = 128;

/// The widest record of any codec.
const MOST_WIDTH: usize = 64;

/// The location of sorted runs, and their stamp.
#[derive(Debug, Clone)]
pub struct RunLocation {
    /// The folder.
    pub folder: PathBuf,
    /// The prefix of the file names.
    pub name: String,
    /// The stamp of the job.
    pub stamp: u128,
}

impl RunLocation {
    fn label<C: Codec>(&self, codec: C) -> Label {
        Label::new(C::KIND, codec.width(), self.stamp)
    }

    pub(crate) fn run(&self, number: usize) -> PathBuf {
        self.folder.join(format!("{}.{number:06}", self.name))
    }
}

/// Takes records in any order.
pub struct Sorter<C: Codec> {
    codec: C,
    location: RunLocation,
    buffer: Vec<C::Item>,
    capacity: usize,
    runs: Vec<PathBuf>,
    /// Number of the next run: merged runs leave gaps.
    next: usize,
    /// Equal records may count as one.
    distinct: bool,
}

impl<C: Codec> Sorter<C> {
    /// Holds at most `bytes` of records in memory.
    pub fn new(location: RunLocation, codec: C, bytes: usize) -> Self {
        let capacity = (bytes / size_of::<C::Item>()).max(1024);
        Sorter { codec, location, buffer: Vec::new(), capacity, runs: Vec::new(), next: 0, distinct: false }
    }

    /// Goes on with the runs that an earlier process left behind, up to the last one that ends with a mark;
    /// returns that mark.
    pub fn resume(location: RunLocation, codec: C, bytes: usize) -> Result<(Self, Option<u64>), StoreError> {
        let mut sorter = Sorter::new(location, codec, bytes);
        let mut found = existing(&sorter.location)?;
        let mut last = None;
        // A mark is stored one higher, so that 0 is none. Runs behind the last one with a mark hold a part of
        // what came after it, and would be made a second time.
        for (index, path) in found.iter().enumerate() {
            let mark = Run::open(path, sorter.location.label(codec))?.mark();
            last = if mark > 0 { Some((index, mark - 1)) } else { last };
        }
        for path in found.split_off(last.map_or(0, |(index, _)| index + 1)) {
            remove(&path)?;
        }
        sorter.next = found.last().map_or(0, |path| number_of(path) + 1);
        sorter.runs = found;
        Ok((sorter, last.map(|(_, mark)| mark)))
    }

    /// Goes on with the first runs that an earlier process left behind; nothing when there are not so many.
    pub fn with_runs(
        location: RunLocation,
        codec: C,
        bytes: usize,
        runs: usize,
    ) -> Result<Option<Self>, StoreError> {
        let mut sorter = Sorter::new(location, codec, bytes);
        let mut found = existing(&sorter.location)?;
        if found.len() < runs {
            return Ok(None);
        }
        found.split_off(runs).iter().try_for_each(|path| remove(path))?;
        (sorter.runs, sorter.next) = (found, runs);
        Ok(Some(sorter))
    }

    /// Puts what is in memory to disk; returns the number of all runs.
    pub fn checkpoint_all(&mut self) -> Result<usize, StoreError> {
        if !self.buffer.is_empty() {
            self.spill(0)?;
        }
        Ok(self.runs.len())
    }

    /// Equal records are wanted once or more, not as often as they came.
    pub fn distinct(mut self) -> Self {
        self.distinct = true;
        self
    }

    /// Takes a record.
    pub fn push(&mut self, item: C::Item) -> Result<(), StoreError> {
        if self.buffer.len() == self.capacity && !self.shrunk() {
            self.spill(0)?;
        }
        if self.buffer.capacity() == 0 {
            // All at once: memory that is not written to costs nothing, and growing would need it twice.
            self.buffer.reserve_exact(self.capacity);
        }
        self.buffer.push(item);
        Ok(())
    }

    /// Bytes of the files that so many records take, none where they stay in memory.
    pub fn file_bytes(&self, records: u64) -> u64 {
        if records <= self.capacity as u64 { 0 } else { records.saturating_mul(self.codec.width() as u64) }
    }

    /// Puts what is in memory to disk if that is much; a later process may go on behind `mark`.
    pub fn checkpoint(&mut self, mark: u64) -> Result<(), StoreError> {
        // Marks cost a run each, and a run is a file to merge: half a buffer of work is what a stop may lose.
        if self.buffer.len() < self.capacity / 2 || self.shrunk() {
            return Ok(());
        }
        self.spill(mark + 1)
    }

    /// Drops equal records, where that is allowed; true when much room came of it.
    fn shrunk(&mut self) -> bool {
        if !self.distinct {
            return false;
        }
        // Sorted ones are sorted again later, which is cheap. Less than a quarter left makes sure that this
        // does not happen for every few records.
        self.sort();
        self.buffer.len() < self.capacity / 4
    }

    /// Sorts what is in memory, by the threads of the pool that this is called from, if any.
    fn sort(&mut self) {
        // One thread sorts faster by the standard library's newer sort.
        match rayon::current_thread_index() {
            Some(_) if rayon::current_num_threads() > 1 => self.buffer.par_sort_unstable(),
            _ => self.buffer.sort_unstable(),
        }
        if self.distinct {
            self.buffer.dedup();
        }
    }

    fn spill(&mut self, mark: u64) -> Result<(), StoreError> {
        self.sort();
        let mut writer = RunWriter::create(&self.location.run(self.next), self.location.label(self.codec))?;
        for &item in &self.buffer {
            put(self.codec, item, &mut writer)?;
        }
        writer.finish_with_mark(mark)?;
        self.buffer.clear();
        self.runs.push(self.location.run(self.next));
        self.next += 1;
        Ok(())
    }

    /// All records, in order.
    pub fn sorted(mut self) -> Result<Sorted<C>, StoreError> {
        if self.runs.is_empty() {
            self.sort();
            return Ok(Sorted::Memory(self.buffer, 0));
        }
        if !self.buffer.is_empty() {
            self.spill(0)?;
        }
        self.buffer = Vec::new();
        let (codec, location) = (self.codec, self.location);
        Ok(Sorted::Disk(merge_all(codec, &location, self.runs, self.next)?))
    }

    /// Puts all to disk and returns the runs, fit to be merged by [`Rebased::open`] or [`Sorted::open`].
    pub fn into_runs(mut self) -> Result<Vec<PathBuf>, StoreError> {
        if !self.buffer.is_empty() {
            self.spill(0)?;
        }
        Ok(self.runs)
    }
}

fn put<C: Codec>(codec: C, item: C::Item, writer: &mut RunWriter) -> Result<(), StoreError> {
    let mut bytes = [0; MOST_WIDTH];
    let bytes = &mut bytes[..codec.width()];
    codec.put(item, bytes);
    writer.push(bytes)
}

fn number_of(path: &Path) -> usize {
    path.extension().and_then(|number| number.to_str()).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Removes the runs of a location that are on disk: what an earlier process left unfinished.
pub fn clear(location: &RunLocation) -> Result<(), StoreError> {
    existing(location)?.iter().try_for_each(|path| remove(path))
}

/// The runs of a location that are on disk, in their order.
pub fn existing(location: &RunLocation) -> Result<Vec<PathBuf>, StoreError> {
    let mut found = Vec::new();
    let entries =
        std::fs::read_dir(&location.folder).map_err(|error| StoreError::read(&location.folder, error))?;
    for entry in entries {
        let path = entry.map_err(|error| StoreError::read(&location.folder, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let number = name.strip_prefix(&location.name).and_then(|rest| rest.strip_prefix('.'));
        if number.is_some_and(|number| number.len() == 6 && number.bytes().all(|byte| byte.is_ascii_digit()))
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Merges runs in steps until few enough are left to be merged while they are read.
///
/// Merged runs bear no mark and those they were made of stay: a later process must find all that has one.
fn merge_all<C: Codec>(
    codec: C,
    location: &RunLocation,
    mut runs: Vec<PathBuf>,
    mut next: usize,
) -> Result<Merge<C>, StoreError> {
    // The first runs make a new one at the end: every record is merged about once for each factor of
    // `MOST_RUNS` in the number of runs, and small runs are not merged with large ones again and again.
    while runs.len() > MOST_RUNS {
        let batch: Vec<PathBuf> = runs.drain(..MOST_RUNS).collect();
        let mut merge = Merge::open(codec, location.label(codec), &batch, |_| 0)?;
        let target = location.run(next);
        let mut writer = RunWriter::create(&target, location.label(codec))?;
        while let Some(item) = merge.next()? {
            put(codec, item, &mut writer)?;
        }
        writer.finish()?;
        runs.push(target);
        next += 1;
    }
    Merge::open(codec, location.label(codec), &runs, |_| 0)
}

/// Sorted records, from memory or from disk.
pub enum Sorted<C: Codec> {
    /// The records and how many were taken.
    Memory(Vec<C::Item>, usize),
    /// A merge of runs.
    Disk(Merge<C>),
}

impl<C: Codec> Sorted<C> {
    /// The records of the first so many runs of a location, which a sorter left behind there.
    pub fn open(codec: C, location: &RunLocation, runs: usize) -> Result<Self, StoreError> {
        let mut paths = existing(location)?;
        // What is behind them was merged from them by an earlier process.
        paths.split_off(runs.min(paths.len())).iter().try_for_each(|path| remove(path))?;
        Ok(Sorted::Disk(merge_all(codec, location, paths, runs)?))
    }

    /// The next record in order.
    #[expect(clippy::should_implement_trait, reason = "it may fail, which `Iterator` cannot say")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<C::Item>, StoreError> {
        match self {
            Sorted::Memory(items, taken) => {
                let item = items.get(*taken).copied();
                *taken += 1;
                Ok(item)
            }
            Sorted::Disk(merge) => merge.next(),
        }
    }
}

/// A merge of sorted runs.
pub struct Merge<C: Codec> {
    codec: C,
    runs: Vec<Source>,
    heads: BinaryHeap<Reverse<(C::Item, usize)>>,
}

struct Source {
    records: Records,
    /// Added to every document number of the run.
    base: u32,
}

/// Records whose document number can be moved: runs of one part of the corpus count from its first document.
pub trait Rebase: Codec {
    /// The record with so much added to its document number.
    fn rebase(item: Self::Item, base: u32) -> Self::Item;
}

impl<C: Codec> Merge<C> {
    fn open(
        codec: C,
        label: Label,
        paths: &[PathBuf],
        base: impl Fn(usize) -> u32,
    ) -> Result<Self, StoreError> {
        let runs: Result<Vec<Source>, StoreError> = paths
            .iter()
            .enumerate()
            .map(|(index, path)| Ok(Source { records: Run::open(path, label)?.records(), base: base(index) }))
            .collect();
        let mut merge = Merge { codec, runs: runs?, heads: BinaryHeap::new() };
        for index in 0..merge.runs.len() {
            if let Some(item) = merge.take(index)? {
                merge.heads.push(Reverse((item, index)));
            }
        }
        Ok(merge)
    }

    fn take(&mut self, index: usize) -> Result<Option<C::Item>, StoreError> {
        let codec = self.codec;
        Ok(self.runs[index].records.next()?.map(|bytes| codec.get(bytes)))
    }

    /// The next record in order.
    #[expect(clippy::should_implement_trait, reason = "it may fail, which `Iterator` cannot say")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<C::Item>, StoreError> {
        // The head is replaced in place and sinks to where it belongs: half of the comparisons of a pop and a
        // push, and two of them are enough while the same run still has the least record.
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((item, index)) = *head;
        match self.runs[index].records.next()? {
            Some(bytes) => head.0.0 = self.codec.get(bytes),
            None => drop(PeekMut::pop(head)),
        }
        Ok(Some(item))
    }
}

/// A merge of runs whose documents are numbered from a base each.
pub struct Rebased<C: Rebase>(Merge<C>);

impl<C: Rebase> Rebased<C> {
    /// Merges the runs `(path, base)`; beyond what can be open at once they are first merged in steps under
    /// `location`, which is empty before and whose runs are for the caller to remove.
    pub fn open(codec: C, location: &RunLocation, runs: &[(PathBuf, u32)]) -> Result<Self, StoreError> {
        let label = location.label(codec);
        let mut level = runs.to_vec();
        let mut next = existing(location)?.last().map_or(0, |path| number_of(path) + 1);
        // A base is added as records are read. Within a run it changes no order, since it is the same for all
        // of them; between runs heads are compared with their bases. What was merged once has them in.
        while level.len() > MOST_RUNS {
            let mut merged = Vec::new();
            for batch in level.chunks(MOST_RUNS) {
                let mut merge = Self::open(codec, location, batch)?;
                let target = location.run(next);
                let mut writer = RunWriter::create(&target, label)?;
                while let Some(item) = merge.next()? {
                    put(codec, item, &mut writer)?;
                }
                writer.finish()?;
                merged.push((target, 0));
                next += 1;
            }
            level = merged;
        }
        let paths: Vec<PathBuf> = level.iter().map(|(path, _)| path.clone()).collect();
        let mut merge = Merge::open(codec, label, &paths, |index| level[index].1)?;
        // `Merge::open` knows no bases: the first record of each run gets its own here, and the heap is made
        // anew.
        let heads = std::mem::take(&mut merge.heads).into_vec();
        let bases: Vec<u32> = merge.runs.iter().map(|run| run.base).collect();
        merge.heads = heads
            .into_iter()
            .map(|Reverse((item, index))| Reverse((C::rebase(item, bases[index]), index)))
            .collect();
        Ok(Rebased(merge))
    }

    /// The next record in order.
    #[expect(clippy::should_implement_trait, reason = "it may fail, which `Iterator` cannot say")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<C::Item>, StoreError> {
        let merge = &mut self.0;
        let Some(mut head) = merge.heads.peek_mut() else { return Ok(None) };
        let Reverse((item, index)) = *head;
        let run = &mut merge.runs[index];
        match run.records.next()? {
            Some(bytes) => head.0.0 = C::rebase(merge.codec.get(bytes), run.base),
            None => drop(PeekMut::pop(head)),
        }
        Ok(Some(item))
    }
}

/// `(key, document, tag)` in one number that sorts as they do.
#[derive(Debug, Clone, Copy)]
pub struct Postings {
    /// True if tags are kept in files.
    pub tagged: bool,
}

/// One key of one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The key.
    pub key: u64,
    /// The document.
    pub document: u32,
    /// The tag of the key, 0 where there is none.
    pub tag: u32,
}

impl Posting {
    /// The posting as one number that sorts by key, document and tag.
    #[inline]
    pub fn pack(self) -> u128 {
        u128::from(self.key) << 64 | u128::from(self.document) << 32 | u128::from(self.tag)
    }

    /// The posting that [`Posting::pack`] made a number of.
    #[inline]
    pub fn unpack(packed: u128) -> Self {
        Posting { key: (packed >> 64) as u64, document: (packed >> 32) as u32, tag: packed as u32 }
    }
}

impl Codec for Postings {
    type Item = u128;
    const KIND: &'static str = "postings";

    #[inline]
    fn width(self) -> usize {
        if self.tagged { 16 } else { 12 }
    }

    #[inline]
    fn put(self, item: u128, out: &mut [u8]) {
        // The most significant bytes first, so that 12 of 16 leave out the tag alone.
        let bytes = item.to_be_bytes();
        match out.first_chunk_mut::<16>() {
            Some(out) => *out = bytes,
            None => out[..12].copy_from_slice(&bytes[..12]),
        }
    }

    #[inline]
    fn get(self, bytes: &[u8]) -> u128 {
        let mut whole = [0; 16];
        match bytes.first_chunk::<16>() {
            Some(bytes) => whole = *bytes,
            None => whole[..12].copy_from_slice(&bytes[..12]),
        }
        u128::from_be_bytes(whole)
    }
}

impl Rebase for Postings {
    #[inline]
    fn rebase(item: u128, base: u32) -> u128 {
        item + (u128::from(base) << 32)
    }
}

/// `(digest, document)`.
#[derive(Debug, Clone, Copy)]
pub struct Digests;

impl Codec for Digests {
    type Item = (u128, u32);
    const KIND: &'static str = "digests";

    #[inline]
    fn width(self) -> usize {
        20
    }

    #[inline]
    fn put(self, (digest, document): (u128, u32), out: &mut [u8]) {
        out[..16].copy_from_slice(&digest.to_le_bytes());
        out[16..].copy_from_slice(&document.to_le_bytes());
    }

    #[inline]
    fn get(self, bytes: &[u8]) -> (u128, u32) {
        let digest = u128::from_le_bytes(bytes[..16].try_into().expect("sixteen bytes"));
        (digest, u32::from_le_bytes(bytes[16..20].try_into().expect("four bytes")))
    }
}

/// Two document numbers, the first in the upper half; or any number.
#[derive(Debug, Clone, Copy)]
pub struct Couples;

/// Two document numbers as one number.
#[inline]
pub fn couple(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// One number as two document numbers.
#[inline]
pub fn uncouple(couple: u64) -> (u32, u32) {
    ((couple >> 32) as u32, couple as u32)
}

impl Codec for Couples {
    type Item = u64;
    const KIND: &'static str = "couples";

    #[inline]
    fn width(self) -> usize {
        8
    }

    #[inline]
    fn put(self, item: u64, out: &mut [u8]) {
        out.copy_from_slice(&item.to_le_bytes());
    }

    #[inline]
    fn get(self, bytes: &[u8]) -> u64 {
        u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn location(folder: &Path) -> RunLocation {
        RunLocation { folder: folder.to_owned(), name: "test".to_owned(), stamp: 1 }
    }

    fn drain<C: Codec>(mut sorted: Sorted<C>) -> Vec<C::Item> {
        std::iter::from_fn(|| sorted.next().unwrap()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn spilled_or_not_the_order_is_the_same(mut items in prop::collection::vec(any::<u64>(), 0..6000)) {
            let folder = tempfile::tempdir().unwrap();
            for bytes in [0, 16 << 10, 1 << 20] {
                let mut sorter = Sorter::new(location(folder.path()), Couples, bytes);
                items.iter().for_each(|&item| sorter.push(item).unwrap());
                let found = drain(sorter.sorted().unwrap());
                items.sort_unstable();
                prop_assert_eq!(&found, &items);
            }
        }

        #[test]
        fn postings_sort_by_key_document_and_tag(key: u64, document: u32, tag: u32) {
            let posting = Posting { key, document, tag };
            prop_assert_eq!(Posting::unpack(posting.pack()), posting);
            let mut bytes = [0; 16];
            Postings { tagged: true }.put(posting.pack(), &mut bytes);
            prop_assert_eq!(Postings { tagged: true }.get(&bytes), posting.pack());
            let plain = Posting { tag: 0, ..posting };
            Postings { tagged: false }.put(posting.pack(), &mut bytes[..12]);
            prop_assert_eq!(Postings { tagged: false }.get(&bytes[..12]), plain.pack());
        }
    }

    #[test]
    fn more_runs_than_can_be_open_are_merged_in_steps() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(location(folder.path()), Couples, 0);
        let count = 1024 * (MOST_RUNS as u64 * 2 + 3);
        (0..count).for_each(|item| sorter.push(item.wrapping_mul(0x9e37_79b9_7f4a_7c15)).unwrap());
        let found = drain(sorter.sorted().unwrap());
        assert_eq!(found.len() as u64, count);
        assert!(found.is_sorted());
    }

    #[test]
    fn a_later_process_goes_on_behind_the_last_mark() {
        let folder = tempfile::tempdir().unwrap();
        let (mut sorter, mark) = Sorter::resume(location(folder.path()), Couples, 0).unwrap();
        assert_eq!(mark, None);
        (0..1024).for_each(|item| sorter.push(item).unwrap());
        sorter.checkpoint(41).unwrap();
        // This one is spilled without a mark and lost with the process.
        (5000..6025).for_each(|item| sorter.push(item).unwrap());
        drop(sorter);
        let (mut sorter, mark) = Sorter::resume(location(folder.path()), Couples, 0).unwrap();
        assert_eq!(mark, Some(41));
        sorter.push(7777).unwrap();
        let found = drain(sorter.sorted().unwrap());
        assert_eq!(found, (0..1024).chain([7777]).collect::<Vec<_>>());
    }

    #[test]
    fn runs_of_parts_are_merged_by_their_bases() {
        let folder = tempfile::tempdir().unwrap();
        let codec = Postings { tagged: false };
        let mut runs = Vec::new();
        let mut expected = Vec::new();
        for part in 0..(MOST_RUNS as u32 + 10) {
            let location = RunLocation { name: format!("part{part}"), ..location(folder.path()) };
            let mut sorter = Sorter::new(location, codec, 0);
            for document in 0..3 {
                let key = u64::from((part * 7 + document * 5) % 11);
                sorter.push(Posting { key, document, tag: 0 }.pack()).unwrap();
                expected.push(Posting { key, document: part * 3 + document, tag: 0 }.pack());
            }
            runs.extend(sorter.into_runs().unwrap().into_iter().map(|path| (path, part * 3)));
        }
        expected.sort_unstable();
        let mut merge =
            Rebased::open(codec, &RunLocation { name: "all".to_owned(), ..location(folder.path()) }, &runs)
                .unwrap();
        let found: Vec<u128> = std::iter::from_fn(|| merge.next().unwrap()).collect();
        assert_eq!(found, expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn distinct_records_come_once_from_memory(items in prop::collection::vec(0u64..50, 0..3000)) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorter = Sorter::new(location(folder.path()), Couples, 0).distinct();
            items.iter().for_each(|&item| sorter.push(item).unwrap());
            let mut expected = items.clone();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(drain(sorter.sorted().unwrap()), expected);
            // So few different ones never leave memory.
            prop_assert!(existing(&location(folder.path())).unwrap().is_empty());
        }

        #[test]
        fn digests_and_couples_are_read_back(digest: u128, document: u32, other: u32) {
            let mut bytes = [0; 20];
            Digests.put((digest, document), &mut bytes);
            prop_assert_eq!(Digests.get(&bytes), (digest, document));
            let mut bytes = [0; 8];
            Couples.put(couple(document, other), &mut bytes);
            prop_assert_eq!(uncouple(Couples.get(&bytes)), (document, other));
        }

        #[test]
        fn couples_sort_as_their_numbers(a: (u32, u32), b: (u32, u32)) {
            prop_assert_eq!(couple(a.0, a.1).cmp(&couple(b.0, b.1)), a.cmp(&b));
        }
    }

    #[test]
    fn files_take_room_where_memory_does_not_do() {
        let folder = tempfile::tempdir().unwrap();
        let sorter = Sorter::new(location(folder.path()), Couples, 0);
        assert_eq!([0, 1024, 1025].map(|records| sorter.file_bytes(records)), [0, 0, 8200]);
        assert_eq!(sorter.file_bytes(u64::MAX), u64::MAX);
    }

    #[test]
    fn runs_of_a_location_are_found_by_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            "test.000002",
            "test.000010",
            "test.000001",
            "test.1",
            "test.00000x",
            "testing.000001",
            "other.000001",
        ];
        names.iter().for_each(|name| std::fs::write(folder.path().join(name), "").unwrap());
        let expected = ["test.000001", "test.000002", "test.000010"].map(|name| folder.path().join(name));
        assert_eq!(existing(&location(folder.path())).unwrap(), expected);
        assert_eq!(expected.each_ref().map(|path| number_of(path)), [1, 2, 10]);
        clear(&location(folder.path())).unwrap();
        assert_eq!(existing(&location(folder.path())).unwrap(), [] as [PathBuf; 0]);
        assert!(folder.path().join("testing.000001").exists() && folder.path().join("test.1").exists());
    }

    #[test]
    fn a_sorter_goes_on_with_the_runs_of_a_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(location(folder.path()), Couples, 0);
        sorter.push(5).unwrap();
        assert_eq!(sorter.checkpoint_all().unwrap(), 1);
        assert_eq!(sorter.checkpoint_all().unwrap(), 1, "nothing came since");
        sorter.push(3).unwrap();
        assert_eq!(sorter.checkpoint_all().unwrap(), 2);
        drop(sorter);
        let with = |runs| Sorter::with_runs(location(folder.path()), Couples, 0, runs).unwrap();
        assert!(with(3).is_none());
        let mut sorter = with(1).unwrap();
        assert_eq!(existing(&location(folder.path())).unwrap().len(), 1);
        sorter.push(1).unwrap();
        assert_eq!(drain(sorter.sorted().unwrap()), [1, 5]);
    }

    #[test]
    fn runs_are_opened_without_what_was_merged_from_them() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(location(folder.path()), Couples, 0);
        (0..2500).rev().for_each(|item| sorter.push(item).unwrap());
        assert_eq!(sorter.into_runs().unwrap().len(), 3);
        std::fs::copy(folder.path().join("test.000000"), folder.path().join("test.000003")).unwrap();
        let found = drain(Sorted::open(Couples, &location(folder.path()), 3).unwrap());
        assert_eq!(found, (0..2500).collect::<Vec<_>>());
    }

    #[test]
    fn much_is_put_to_disk_at_a_checkpoint_and_little_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(location(folder.path()), Couples, 0);
        let runs = || existing(&location(folder.path())).unwrap().len();
        (0..511).for_each(|item| sorter.push(item).unwrap());
        sorter.checkpoint(1).unwrap();
        assert_eq!(runs(), 0);
        sorter.push(511).unwrap();
        sorter.checkpoint(2).unwrap();
        assert_eq!(runs(), 1);
        let (_, mark) = Sorter::resume(location(folder.path()), Couples, 0).unwrap();
        assert_eq!(mark, Some(2));
    }
}

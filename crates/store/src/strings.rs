//! Texts in order, each once, with numbers that are added up for it: in memory up to a bound, in sorted runs on disk beyond it.
//!
//! The counterpart of [`sort`](crate::sort) for names instead of records of one width: hosts with their counts, or ids behind the number
//! that they are wanted in the order of. Texts compare as bytes.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::PathBuf;

use rayon::prelude::*;

use crate::error::StoreError;
use crate::file::{Label, Records, Run, RunWriter};
use crate::journal;
use crate::sort::{RunLocation, clear, existing};

/// Most runs that are merged at once.
const MOST_RUNS: usize = 128;

/// Takes texts in any order.
#[derive(Debug)]
pub struct StringSorter {
    location: RunLocation,
    /// Numbers for each text.
    columns: usize,
    /// Texts, each with its numbers behind it.
    arena: Vec<u8>,
    entries: Vec<Entry>,
    /// Most bytes of the arena, and most entries.
    most: (usize, usize),
    runs: Vec<PathBuf>,
}

/// A text in the arena.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Its first eight bytes, as a number that sorts as they do.
    head: u64,
    start: u32,
    length: u32,
}

impl StringSorter {
    /// Holds about `bytes` in memory; each text has so many `columns` of numbers.
    pub fn new(location: RunLocation, columns: usize, bytes: usize) -> Self {
        // A third for texts, a third for entries, and a third for moving them together.
        let third = (bytes / 3).clamp(4 << 10, u32::MAX as usize / 2);
        let most = (third, third / size_of::<Entry>());
        StringSorter { location, columns, arena: Vec::new(), entries: Vec::new(), most, runs: Vec::new() }
    }

    /// Takes a text, with a number to be added to each of its columns.
    ///
    /// # Panics
    /// When there is not a number for each column.
    pub fn add(&mut self, text: &[u8], amounts: &[u64]) -> Result<(), StoreError> {
        assert_eq!(amounts.len(), self.columns, "a text has a number for each column");
        if let Some(last) = self.entries.last().copied()
            && self.text(last) == text
        {
            self.add_to(last, amounts.iter().copied());
            return Ok(());
        }
        if self.arena.capacity() == 0 {
            // All at once: memory that is not written to costs nothing, and growing would need it twice.
            self.arena.reserve_exact(self.most.0);
            self.entries.reserve_exact(self.most.1);
        }
        let full = self.arena.len() + text.len() + 8 * self.columns > self.most.0;
        if !self.entries.is_empty() && (full || self.entries.len() == self.most.1) {
            self.make_room()?;
        }
        self.append(text, amounts.iter().copied());
        Ok(())
    }

    fn append(&mut self, text: &[u8], amounts: impl Iterator<Item = u64>) {
        let entry = Entry { head: head(text), start: self.arena.len() as u32, length: text.len() as u32 };
        self.arena.extend_from_slice(text);
        amounts.for_each(|amount| self.arena.extend_from_slice(&amount.to_le_bytes()));
        self.entries.push(entry);
    }

    fn text(&self, entry: Entry) -> &[u8] {
        &self.arena[entry.start as usize..][..entry.length as usize]
    }

    fn amounts(&self, entry: Entry) -> &[u8] {
        &self.arena[(entry.start + entry.length) as usize..][..8 * self.columns]
    }

    fn add_to(&mut self, entry: Entry, amounts: impl Iterator<Item = u64>) {
        let end = (entry.start + entry.length) as usize;
        for (slot, amount) in self.arena[end..end + 8 * self.columns].chunks_exact_mut(8).zip(amounts) {
            let sum = number(slot) + amount;
            slot.copy_from_slice(&sum.to_le_bytes());
        }
    }

    /// Sorts what is in memory, and makes one of equal texts.
    fn sort_and_merge(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        let order = |a: &Entry, b: &Entry| a.head.cmp(&b.head).then_with(|| self.text(*a).cmp(self.text(*b)));
        match rayon::current_thread_index() {
            Some(_) if rayon::current_num_threads() > 1 => entries.par_sort_unstable_by(order),
            _ => entries.sort_unstable_by(order),
        }
        let mut kept = 0;
        for at in 0..entries.len() {
            let entry = entries[at];
            if kept > 0 && self.text(entries[kept - 1]) == self.text(entry) {
                let amounts: Vec<u64> = self.amounts(entry).chunks_exact(8).map(number).collect();
                self.add_to(entries[kept - 1], amounts.into_iter());
            } else {
                entries[kept] = entry;
                kept += 1;
            }
        }
        entries.truncate(kept);
        self.entries = entries;
    }

    /// Makes one of equal texts; where that does not help, all go to disk.
    fn make_room(&mut self) -> Result<(), StoreError> {
        self.sort_and_merge();
        let each = |entry: &Entry| entry.length as usize + 8 * self.columns;
        let bytes: usize = self.entries.iter().map(each).sum();
        if bytes > self.most.0 / 2 || self.entries.len() > self.most.1 / 2 {
            return self.spill();
        }
        let mut arena = Vec::with_capacity(bytes);
        for entry in &mut self.entries {
            let (from, length) = (entry.start as usize, entry.length as usize + 8 * self.columns);
            entry.start = arena.len() as u32;
            arena.extend_from_slice(&self.arena[from..from + length]);
        }
        self.arena.clear();
        self.arena.extend_from_slice(&arena);
        Ok(())
    }

    /// Puts what is in memory, settled, to disk.
    fn spill(&mut self) -> Result<(), StoreError> {
        let path = self.location.run(self.runs.len());
        let mut writer = RunWriter::create(&path, label(&self.location))?;
        for &entry in &self.entries {
            write(&mut writer, self.text(entry), self.amounts(entry))?;
        }
        writer.finish()?;
        self.runs.push(path);
        self.arena.clear();
        self.entries.clear();
        Ok(())
    }

    /// All texts, in order.
    pub fn sorted(mut self) -> Result<OrderedStrings, StoreError> {
        if !self.runs.is_empty() {
            let (location, columns) = (self.location.clone(), self.columns);
            let runs = self.into_runs()?;
            return OrderedStrings::merge(&location, columns, runs);
        }
        self.sort_and_merge();
        let amounts = vec![0; self.columns];
        Ok(OrderedStrings(Source::Memory { strings: self, taken: 0, amounts }))
    }

    /// Puts all to disk and returns the runs, fit to be merged by [`OrderedStrings::merge`].
    pub fn into_runs(mut self) -> Result<Vec<PathBuf>, StoreError> {
        if !self.entries.is_empty() {
            self.sort_and_merge();
            self.spill()?;
        }
        Ok(self.runs)
    }
}

fn head(text: &[u8]) -> u64 {
    let mut head = [0; 8];
    let length = text.len().min(8);
    head[..length].copy_from_slice(&text[..length]);
    u64::from_be_bytes(head)
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

fn label(location: &RunLocation) -> Label {
    Label::new("strings", 1, location.stamp)
}

fn write(writer: &mut RunWriter, text: &[u8], amounts: &[u8]) -> Result<(), StoreError> {
    writer.push(&(text.len() as u32).to_le_bytes())?;
    writer.push(text)?;
    writer.push(amounts)
}

/// A text and what was added up for it.
pub type CountedText<'s> = (&'s [u8], &'s [u64]);

/// Texts in order, each once.
#[derive(Debug)]
pub struct OrderedStrings(Source);

#[derive(Debug)]
enum Source {
    /// Settled texts, and how many were taken.
    Memory {
        strings: StringSorter,
        taken: usize,
        amounts: Vec<u64>,
    },
    Disk(Merge),
}

impl OrderedStrings {
    /// The texts of runs; beyond what can be open at once they are first merged in steps, behind the last of `location`.
    pub fn merge(location: &RunLocation, columns: usize, mut runs: Vec<PathBuf>) -> Result<Self, StoreError> {
        let taken = existing(location)?.last().and_then(|path| path.extension()?.to_str()?.parse().ok());
        let mut next: usize = taken.map_or(0, |last: usize| last + 1);
        while runs.len() > MOST_RUNS {
            let batch: Vec<PathBuf> = runs.drain(..MOST_RUNS).collect();
            let mut merge = Merge::open(location, columns, &batch)?;
            let target = location.run(next);
            let mut writer = RunWriter::create(&target, label(location))?;
            let mut bytes = Vec::new();
            while let Some((text, amounts)) = merge.next()? {
                bytes.clear();
                amounts.iter().for_each(|amount| bytes.extend_from_slice(&amount.to_le_bytes()));
                write(&mut writer, text, &bytes)?;
            }
            writer.finish()?;
            runs.push(target);
            next += 1;
        }
        Ok(OrderedStrings(Source::Disk(Merge::open(location, columns, &runs)?)))
    }

    /// The texts of the first so many runs of a location, which [`StringSorter`] left behind there.
    pub fn open(location: &RunLocation, columns: usize, runs: usize) -> Result<Self, StoreError> {
        let mut paths = existing(location)?;
        // What is behind them was merged from them by an earlier process.
        for path in paths.split_off(runs.min(paths.len())) {
            journal::remove(&path)?;
        }
        OrderedStrings::merge(location, columns, paths)
    }

    /// The next text with its sums.
    #[expect(clippy::should_implement_trait, reason = "texts are lent, which `Iterator` cannot say")]
    pub fn next(&mut self) -> Result<Option<CountedText<'_>>, StoreError> {
        match &mut self.0 {
            Source::Disk(merge) => merge.next(),
            Source::Memory { strings, taken, amounts } => {
                let Some(&entry) = strings.entries.get(*taken) else { return Ok(None) };
                *taken += 1;
                for (amount, bytes) in amounts.iter_mut().zip(strings.amounts(entry).chunks_exact(8)) {
                    *amount = number(bytes);
                }
                Ok(Some((strings.text(entry), amounts)))
            }
        }
    }
}

/// Removes the runs of a location that are on disk, and begins anew.
pub fn fresh(location: RunLocation, columns: usize, bytes: usize) -> Result<StringSorter, StoreError> {
    clear(&location)?;
    Ok(StringSorter::new(location, columns, bytes))
}

/// A merge of sorted runs, in which equal texts become one.
#[derive(Debug)]
struct Merge {
    runs: Vec<Records>,
    heads: BinaryHeap<Head>,
    text: Vec<u8>,
    amounts: Vec<u64>,
}

/// The first text of a run that was not taken yet. The smallest is the greatest to the heap.
#[derive(Debug)]
struct Head {
    text: Vec<u8>,
    amounts: Vec<u64>,
    run: usize,
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        (&other.text, other.run).cmp(&(&self.text, self.run))
    }
}

impl Merge {
    fn open(location: &RunLocation, columns: usize, paths: &[PathBuf]) -> Result<Self, StoreError> {
        let open = |path: &PathBuf| Ok(Run::open(path, label(location))?.records());
        let runs: Result<Vec<Records>, StoreError> = paths.iter().map(open).collect();
        let mut merge =
            Merge { runs: runs?, heads: BinaryHeap::new(), text: Vec::new(), amounts: vec![0; columns] };
        for run in 0..merge.runs.len() {
            let mut head = Head { text: Vec::new(), amounts: vec![0; columns], run };
            if step(&mut merge.runs[run], &mut head)? {
                merge.heads.push(head);
            }
        }
        Ok(merge)
    }

    fn next(&mut self) -> Result<Option<CountedText<'_>>, StoreError> {
        let mut found = false;
        while let Some(mut head) = self.heads.peek_mut() {
            if !found {
                std::mem::swap(&mut self.text, &mut head.text);
                std::mem::swap(&mut self.amounts, &mut head.amounts);
                found = true;
            } else if head.text == self.text {
                self.amounts.iter_mut().zip(&head.amounts).for_each(|(sum, amount)| *sum += amount);
            } else {
                break;
            }
            let run = head.run;
            if !step(&mut self.runs[run], &mut head)? {
                PeekMut::pop(head);
            }
        }
        Ok(found.then_some((&self.text, &self.amounts)))
    }
}

/// Reads the next text of a run; false at its end.
fn step(records: &mut Records, head: &mut Head) -> Result<bool, StoreError> {
    let mut length = [0; 4];
    if !records.take(&mut length)? {
        return Ok(false);
    }
    let mut whole = true;
    head.text.resize(u32::from_le_bytes(length) as usize, 0);
    if !head.text.is_empty() {
        whole &= records.take(&mut head.text)?;
    }
    for amount in &mut head.amounts {
        let mut bytes = [0; 8];
        whole &= records.take(&mut bytes)?;
        *amount = u64::from_le_bytes(bytes);
    }
    if whole { Ok(true) } else { Err(records.damaged("a text is cut off")) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    fn location(folder: &Path) -> RunLocation {
        RunLocation { folder: folder.to_owned(), name: "test".to_owned(), stamp: 1 }
    }

    fn drain(mut strings: OrderedStrings) -> Vec<(Vec<u8>, Vec<u64>)> {
        let mut all = Vec::new();
        while let Some((text, amounts)) = strings.next().unwrap() {
            all.push((text.to_vec(), amounts.to_vec()));
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn texts_are_counted_as_by_a_map(
            texts in prop::collection::vec((prop::collection::vec(97..100u8, 0..12), 0..9u64), 0..3000),
            columns in 0..3usize,
        ) {
            let mut wanted: BTreeMap<Vec<u8>, Vec<u64>> = BTreeMap::new();
            for (text, amount) in &texts {
                let sums = wanted.entry(text.clone()).or_insert_with(|| vec![0; columns]);
                sums.iter_mut().for_each(|sum| *sum += amount);
            }
            let wanted: Vec<_> = wanted.into_iter().collect();
            for bytes in [0, 60 << 10, 1 << 20] {
                let folder = tempfile::tempdir().unwrap();
                let filled = || {
                    let mut strings = StringSorter::new(location(folder.path()), columns, bytes);
                    let add = |(text, amount): &(Vec<u8>, u64)| strings.add(text, &vec![*amount; columns]).unwrap();
                    texts.iter().for_each(add);
                    strings
                };
                prop_assert_eq!(&drain(filled().sorted().unwrap()), &wanted);
                clear(&location(folder.path())).unwrap();
                let runs = filled().into_runs().unwrap().len();
                let open = || OrderedStrings::open(&location(folder.path()), columns, runs).unwrap();
                prop_assert_eq!(&drain(open()), &wanted);
                prop_assert_eq!(&drain(open()), &wanted);
            }
        }
    }

    #[test]
    fn more_runs_than_can_be_open_are_merged_in_steps_and_again_by_a_later_process() {
        let folder = tempfile::tempdir().unwrap();
        let mut strings = StringSorter::new(location(folder.path()), 1, 0);
        let count = 300 * MOST_RUNS as u64;
        let name = |n: u64| format!("{:020}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % count);
        (0..count).for_each(|n| strings.add(name(n).as_bytes(), &[n]).unwrap());
        let runs = strings.into_runs().unwrap().len();
        assert!(runs > MOST_RUNS, "{runs}");
        let open = || drain(OrderedStrings::open(&location(folder.path()), 1, runs).unwrap());
        let found = open();
        assert!(found.is_sorted());
        assert_eq!(found.iter().map(|(_, sums)| sums[0]).sum::<u64>(), count * (count - 1) / 2);
        assert!(existing(&location(folder.path())).unwrap().len() > runs);
        assert_eq!(open(), found);
    }

    #[test]
    fn a_text_longer_than_all_memory_passes() {
        let folder = tempfile::tempdir().unwrap();
        let mut strings = StringSorter::new(location(folder.path()), 0, 0);
        let long = vec![b'x'; 100_000];
        for text in [&b"y"[..], &long, b"a"] {
            strings.add(text, &[]).unwrap();
        }
        let found: Vec<usize> = drain(strings.sorted().unwrap()).iter().map(|(text, _)| text.len()).collect();
        assert_eq!(found, [1, 100_000, 1]);
    }

    #[test]
    fn a_sorter_may_begin_anew() {
        let folder = tempfile::tempdir().unwrap();
        let mut strings = StringSorter::new(location(folder.path()), 1, 0);
        strings.add(b"old", &[1]).unwrap();
        strings.into_runs().unwrap();
        assert_eq!(existing(&location(folder.path())).unwrap().len(), 1);
        let mut strings = fresh(location(folder.path()), 1, 0).unwrap();
        assert!(existing(&location(folder.path())).unwrap().is_empty());
        strings.add(b"new", &[2]).unwrap();
        assert_eq!(drain(strings.sorted().unwrap()), [(b"new".to_vec(), vec![2])]);
    }

    #[test]
    fn texts_that_begin_alike_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let mut strings = StringSorter::new(location(folder.path()), 0, 0);
        let texts: [&[u8]; 5] = [b"abcdefgh2", b"abcdefgh", b"abcdefgh1", b"abc", b"abc\0"];
        texts.iter().for_each(|text| strings.add(text, &[]).unwrap());
        let found: Vec<Vec<u8>> =
            drain(strings.sorted().unwrap()).into_iter().map(|(text, _)| text).collect();
        let mut expected = texts.map(<[u8]>::to_vec);
        expected.sort();
        assert_eq!(found, expected);
        assert_eq!(head(b"abc"), head(b"abc\0"));
    }

    #[test]
    #[should_panic(expected = "a text has a number for each column")]
    fn numbers_must_be_as_many_as_columns() {
        let folder = tempfile::tempdir().unwrap();
        let _ = StringSorter::new(location(folder.path()), 2, 0).add(b"x", &[1]);
    }
}

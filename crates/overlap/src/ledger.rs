//! Counts over the pairs between two corpora, in one pass over a stream of pairs.
//!
//! The pairs of one left document follow each other; their segments of the right side may come in any order. Nothing is
//! kept of a left document once the next one comes, so that memory does not grow with either corpus. The counts are those
//! that [`crate::transfer`] takes over lists (a property test compares the two); here a document is *found* by a method
//! when the method accepts one of its pairs.

use std::collections::BTreeMap;

use crate::histogram::{BINS, bin};
use crate::statistics::Distribution;

/// A pair of the stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StreamedPair {
    /// The number of the left document.
    pub left: u32,
    /// The segment of the right one.
    pub segment: usize,
    /// The similarity of the two documents.
    pub similarity: f64,
    /// They are near-duplicates.
    pub near: bool,
    /// The methods that accept the pair, a bit for each.
    pub methods: u8,
    /// The right side has the address of the left document.
    pub address: bool,
}

/// The counts of one method, in one segment or in all segments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MethodCounts {
    /// Pairs.
    pub pairs: u64,
    /// Those that are near-duplicates.
    pub near_pairs: u64,
    /// Left documents with a pair.
    pub found: u64,
    /// Those of them with a near-duplicate.
    pub near: u64,
    /// Those of the found whose address the right side has.
    pub with_address: u64,
    /// Pairs by similarity.
    pub all: [u64; BINS],
    /// The most similar pair of each left document by similarity.
    pub best: [u64; BINS],
    /// The number of left documents for each number of pairs.
    counts: BTreeMap<u64, u64>,
}

impl MethodCounts {
    /// Returns the distribution of the number of pairs per found document.
    pub fn pairs_per_document(&self) -> Option<Distribution> {
        Distribution::of_counts(&self.counts)
    }

    /// The share of found documents that have a near-duplicate.
    pub fn precision(&self) -> Option<f64> {
        (self.found > 0).then(|| self.near as f64 / self.found as f64)
    }

    /// Adds the counts of a left document whose pairs are complete.
    fn add_document(&mut self, open: &CurrentDocument, address: bool) {
        self.found += 1;
        self.near += u64::from(open.near);
        self.with_address += u64::from(address);
        self.best[bin(open.best)] += 1;
        *self.counts.entry(open.pairs).or_default() += 1;
    }
}

/// For every two methods, how many documents with a near-duplicate under the first are not found by the second, and how many of
/// them have no near-duplicate under it.
pub type Differences = Vec<Vec<(u64, u64)>>;

/// All counts over a stream of pairs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LedgerCounts {
    /// By segment, then by method; the last of these is any method.
    pub segments: Vec<Vec<MethodCounts>>,
    /// By method, over all segments; the last of these is any method.
    pub total: Vec<MethodCounts>,
    /// By method, how many documents are found after each segment.
    pub accumulated: Vec<Vec<u64>>,
    /// Between methods, by segment.
    pub differences: Vec<Differences>,
    /// Between methods, over all segments.
    pub total_differences: Differences,
}

/// The pairs of the current left document that a method accepts: their number, the highest similarity, and true in `near` if one is
/// a near-duplicate.
#[derive(Debug, Clone, Copy, Default)]
struct CurrentDocument {
    pairs: u64,
    best: f64,
    near: bool,
}

impl CurrentDocument {
    fn add(&mut self, pair: &StreamedPair) {
        // Of methods that have no number to give there is none.
        let similarity = if pair.similarity.is_nan() { 0.0 } else { pair.similarity };
        self.best = if self.pairs == 0 { similarity } else { self.best.max(similarity) };
        self.near |= pair.near;
        self.pairs += 1;
    }
}

/// Counts pairs as they come.
#[derive(Debug)]
pub struct Ledger {
    methods: usize,
    counted: LedgerCounts,
    /// The current left document.
    current: Option<u32>,
    address: bool,
    /// The pairs of the current document by segment and method, and in `over_all` by method over all segments; the last method is any
    /// method.
    by_segment: Vec<Vec<CurrentDocument>>,
    over_all: Vec<CurrentDocument>,
    /// The segments that it was found in.
    segments_found: Vec<usize>,
    /// The number of documents by method and by the first segment in which the method found them.
    first: Vec<Vec<u64>>,
}

impl Ledger {
    /// Returns an empty ledger for these numbers of segments and methods.
    pub fn new(segments: usize, methods: usize) -> Self {
        let cells = || vec![MethodCounts::default(); methods + 1];
        let none = || vec![vec![(0, 0); methods]; methods];
        let counted = LedgerCounts {
            segments: (0..segments).map(|_| cells()).collect(),
            total: cells(),
            accumulated: Vec::new(),
            differences: (0..segments).map(|_| none()).collect(),
            total_differences: none(),
        };
        Ledger {
            methods,
            counted,
            current: None,
            address: false,
            by_segment: vec![vec![CurrentDocument::default(); methods + 1]; segments],
            over_all: vec![CurrentDocument::default(); methods + 1],
            segments_found: Vec::new(),
            first: vec![vec![0; segments]; methods + 1],
        }
    }

    /// Counts a pair. The pairs of a left document come together, their segments in any order.
    pub fn add(&mut self, pair: &StreamedPair) {
        if self.current.is_some_and(|left| left != pair.left) {
            self.finish_document();
        }
        self.current = Some(pair.left);
        self.address = pair.address;
        let any = self.methods;
        if self.by_segment[pair.segment][any].pairs == 0 {
            self.segments_found.push(pair.segment);
        }
        for method in (0..any).filter(|method| pair.methods >> method & 1 == 1).chain([any]) {
            let cells = [&mut self.counted.segments[pair.segment][method], &mut self.counted.total[method]];
            for cell in cells {
                cell.pairs += 1;
                cell.near_pairs += u64::from(pair.near);
                cell.all[bin(pair.similarity)] += 1;
            }
            self.by_segment[pair.segment][method].add(pair);
            self.over_all[method].add(pair);
        }
    }

    fn finish_document(&mut self) {
        self.segments_found.sort_unstable();
        for method in 0..=self.methods {
            let first =
                self.segments_found.iter().find(|&&segment| self.by_segment[segment][method].pairs > 0);
            first.into_iter().for_each(|&segment| self.first[method][segment] += 1);
        }
        for segment in self.segments_found.drain(..) {
            let current = &mut self.by_segment[segment];
            add_documents(current, self.address, &mut self.counted.segments[segment]);
            add_differences(&current[..self.methods], &mut self.counted.differences[segment]);
            current.fill(CurrentDocument::default());
        }
        add_documents(&self.over_all, self.address, &mut self.counted.total);
        add_differences(&self.over_all[..self.methods], &mut self.counted.total_differences);
        self.over_all.fill(CurrentDocument::default());
    }

    /// Returns all counts.
    pub fn finish(mut self) -> LedgerCounts {
        if self.current.is_some() {
            self.finish_document();
        }
        let running = |first: &Vec<u64>| -> Vec<u64> {
            let add = |sum: &mut u64, &found: &u64| {
                *sum += found;
                Some(*sum)
            };
            first.iter().scan(0, add).collect()
        };
        self.counted.accumulated = self.first.iter().map(running).collect();
        self.counted
    }
}

fn add_documents(open: &[CurrentDocument], address: bool, cells: &mut [MethodCounts]) {
    let found = open.iter().zip(cells).filter(|(open, _)| open.pairs > 0);
    found.for_each(|(open, cell)| cell.add_document(open, address));
}

fn add_differences(open: &[CurrentDocument], differences: &mut Differences) {
    for (one, row) in open.iter().zip(differences) {
        for (two, (not_found, not_near)) in open.iter().zip(row) {
            *not_found += u64::from(one.near && two.pairs == 0);
            *not_near += u64::from(one.near && !two.near);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Pair, histogram, transfer};

    const SEGMENTS: usize = 4;
    const METHODS: usize = 3;
    const NEAR: f64 = 0.6;

    /// The pairs of a method, or of any, in a segment, or in all, as a list.
    fn listed(pairs: &[(u32, u32, u8, u8)], method: Option<usize>, segment: Option<usize>) -> Vec<Pair> {
        let wanted = |&&(_, target, _, methods): &&(u32, u32, u8, u8)| {
            method.is_none_or(|method| methods >> method & 1 == 1)
                && segment.is_none_or(|segment| target as usize / 10 == segment)
        };
        let pair = |&(judged, target, tenths, _): &(u32, u32, u8, u8)| Pair {
            judged,
            target,
            similarity: f64::from(tenths) / 10.0,
        };
        pairs.iter().filter(wanted).map(pair).collect()
    }

    fn same(cell: &MethodCounts, pairs: &[Pair]) {
        assert_eq!(cell.pairs, pairs.len() as u64);
        assert_eq!(cell.near_pairs, pairs.iter().filter(|pair| pair.similarity >= NEAR).count() as u64);
        assert_eq!(cell.found, transfer::found(pairs).len() as u64);
        assert_eq!(cell.near, transfer::near(pairs, NEAR).len() as u64);
        assert_eq!(cell.pairs_per_document(), transfer::pairs_per_judgment(pairs));
        assert_eq!(cell.precision(), transfer::precision(pairs, NEAR).share());
        assert_eq!(cell.all, histogram::histogram(pairs.iter().map(|pair| pair.similarity)));
        let best = transfer::best(pairs);
        assert_eq!(cell.best, histogram::histogram(best.iter().map(|pair| pair.similarity)));
        let shared: Vec<u32> = (0..20).filter(|left| left % 3 == 0).collect();
        assert_eq!(cell.with_address, transfer::with_shared_address(pairs, &shared).0);
    }

    proptest! {
        #[test]
        fn the_same_as_over_lists(
            pairs in prop::collection::btree_map((0u32..12, 0u32..10 * SEGMENTS as u32), (0u8..=10, 0u8..8), 0..80)
        ) {
            // Segments come in any order: the second number is turned round.
            let pairs: Vec<(u32, u32, u8, u8)> = pairs
                .into_iter()
                .map(|((a, b), (tenths, methods))| (a, b * 7 % (10 * SEGMENTS as u32), tenths, methods))
                .collect();
            let mut ledger = Ledger::new(SEGMENTS, METHODS);
            for &(left, target, tenths, methods) in &pairs {
                let (segment, similarity) = (target as usize / 10, f64::from(tenths) / 10.0);
                let near = similarity >= NEAR;
                ledger.add(&StreamedPair { left, segment, similarity, near, methods, address: left % 3 == 0 });
            }
            let counted = ledger.finish();
            for method in 0..=METHODS {
                let which = (method < METHODS).then_some(method);
                same(&counted.total[method], &listed(&pairs, which, None));
                let segments: Vec<Vec<Pair>> =
                    (0..SEGMENTS).map(|segment| listed(&pairs, which, Some(segment))).collect();
                for (cells, pairs) in counted.segments.iter().zip(&segments) {
                    same(&cells[method], pairs);
                }
                prop_assert_eq!(&counted.accumulated[method], &transfer::accumulated(&segments));
            }
            let of = |segment| (0..METHODS).map(|method| listed(&pairs, Some(method), segment)).collect::<Vec<_>>();
            prop_assert_eq!(&counted.total_differences, &transfer::differences(&of(None), NEAR));
            for (segment, differences) in counted.differences.iter().enumerate() {
                prop_assert_eq!(differences, &transfer::differences(&of(Some(segment)), NEAR));
            }
        }
    }
}

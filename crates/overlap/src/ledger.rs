//! Counts over the pairs between two corpora, in one pass over a stream of pairs.
//!
//! The pairs of one left document follow each other; their segments of the right side may come in any order. Nothing is kept of a
//! left document once the next one comes, so that memory does not grow with either corpus. The counts are those that
//! [`crate::transfer`] takes over lists; here a document is *found* by a method when the method accepts one of its pairs.

use std::collections::BTreeMap;

use crate::histogram::{BINS, bin};
use crate::statistics::Spread;

/// A pair of the stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
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
pub struct Cell {
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

impl Cell {
    /// Returns the distribution of the number of pairs per found document.
    pub fn pairs_per_document(&self) -> Option<Spread> {
        Spread::of_counts(&self.counts)
    }

    /// The share of found documents that have a near-duplicate.
    pub fn precision(&self) -> Option<f64> {
        (self.found > 0).then(|| self.near as f64 / self.found as f64)
    }

    /// Adds the counts of a left document whose pairs are complete.
    fn close(&mut self, open: &Open, address: bool) {
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
pub struct Counted {
    /// By segment, then by method; the last of these is any method.
    pub segments: Vec<Vec<Cell>>,
    /// By method, over all segments; the last of these is any method.
    pub total: Vec<Cell>,
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
struct Open {
    pairs: u64,
    best: f64,
    near: bool,
}

impl Open {
    fn take(&mut self, seen: &Seen) {
        // Of methods that have no number to give there is none.
        let similarity = if seen.similarity.is_nan() { 0.0 } else { seen.similarity };
        self.best = if self.pairs == 0 { similarity } else { self.best.max(similarity) };
        self.near |= seen.near;
        self.pairs += 1;
    }
}

/// Counts pairs as they come.
#[derive(Debug)]
pub struct Ledger {
    methods: usize,
    counted: Counted,
    /// The current left document.
    at: Option<u32>,
    address: bool,
    /// The pairs of the current document by segment and method, and in `so_far` by method over all segments; the last method is any
    /// method.
    here: Vec<Vec<Open>>,
    so_far: Vec<Open>,
    /// The segments that it was found in.
    met: Vec<usize>,
    /// The number of documents by method and by the first segment in which the method found them.
    first: Vec<Vec<u64>>,
}

impl Ledger {
    /// Returns an empty ledger for these numbers of segments and methods.
    pub fn new(segments: usize, methods: usize) -> Self {
        let cells = || vec![Cell::default(); methods + 1];
        let none = || vec![vec![(0, 0); methods]; methods];
        let counted = Counted {
            segments: (0..segments).map(|_| cells()).collect(),
            total: cells(),
            accumulated: Vec::new(),
            differences: (0..segments).map(|_| none()).collect(),
            total_differences: none(),
        };
        Ledger {
            methods,
            counted,
            at: None,
            address: false,
            here: vec![vec![Open::default(); methods + 1]; segments],
            so_far: vec![Open::default(); methods + 1],
            met: Vec::new(),
            first: vec![vec![0; segments]; methods + 1],
        }
    }

    /// Counts a pair. The pairs of a left document come together, their segments in any order.
    pub fn take(&mut self, seen: &Seen) {
        if self.at.is_some_and(|left| left != seen.left) {
            self.close_document();
        }
        self.at = Some(seen.left);
        self.address = seen.address;
        let any = self.methods;
        if self.here[seen.segment][any].pairs == 0 {
            self.met.push(seen.segment);
        }
        for method in (0..any).filter(|method| seen.methods >> method & 1 == 1).chain([any]) {
            let cells = [&mut self.counted.segments[seen.segment][method], &mut self.counted.total[method]];
            for cell in cells {
                cell.pairs += 1;
                cell.near_pairs += u64::from(seen.near);
                cell.all[bin(seen.similarity)] += 1;
            }
            self.here[seen.segment][method].take(seen);
            self.so_far[method].take(seen);
        }
    }

    fn close_document(&mut self) {
        self.met.sort_unstable();
        for method in 0..=self.methods {
            let first = self.met.iter().find(|&&segment| self.here[segment][method].pairs > 0);
            first.into_iter().for_each(|&segment| self.first[method][segment] += 1);
        }
        for segment in self.met.drain(..) {
            let here = &mut self.here[segment];
            close(here, self.address, &mut self.counted.segments[segment]);
            differ(&here[..self.methods], &mut self.counted.differences[segment]);
            here.fill(Open::default());
        }
        close(&self.so_far, self.address, &mut self.counted.total);
        differ(&self.so_far[..self.methods], &mut self.counted.total_differences);
        self.so_far.fill(Open::default());
    }

    /// Returns all counts.
    pub fn finish(mut self) -> Counted {
        if self.at.is_some() {
            self.close_document();
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

fn close(open: &[Open], address: bool, cells: &mut [Cell]) {
    let found = open.iter().zip(cells).filter(|(open, _)| open.pairs > 0);
    found.for_each(|(open, cell)| cell.close(open, address));
}

fn differ(open: &[Open], differences: &mut Differences) {
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

    fn same(cell: &Cell, pairs: &[Pair]) {
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
                ledger.take(&Seen { left, segment, similarity, near, methods, address: left % 3 == 0 });
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

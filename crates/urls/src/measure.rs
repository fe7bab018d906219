//! Stage `measure`: how similar the documents behind one address are.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use lookalike::engine::EngineError;
use lookalike::engine::measure::{Measure, Measured};
use lookalike::engine::pair_measurer::PairMeasurer;
use lookalike::model::{Similarity, Threshold};
use lookalike::store::file::RunWriter;
use lookalike::store::sort::{Couples, Sorted, Sorter, clear};
use lookalike::walk::Stage;
use lookalike_overlap::histogram::{self, BINS};
use serde::{Deserialize, Serialize};

use crate::Context;
use crate::fetch::{FetchFacts, STORED, open_copy};
use crate::fetch_request::{StoredDocument, StoredDocumentCodec};
use crate::page_fate::{PAGE_FATES, PageFate, WIDTH};

/// Words of the shingles that persist or not.
pub(crate) const SHINGLE: usize = 5;

/// The results of measuring.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Measurements {
    /// The left corpus with each snapshot.
    pub(crate) with_left: Vec<Sums>,
    /// Each snapshot but the first with the one before it.
    pub(crate) with_last: Vec<Sums>,
    /// For each snapshot, the share of a left document's shingles that is in its version there, summed over documents. Empty unless
    /// there are several snapshots.
    pub(crate) contained: Vec<f64>,
    /// The middle similarity with the first snapshot.
    pub(crate) median: Option<f64>,
    /// Similarities with the first snapshot, in tenths.
    pub(crate) bins: [u64; BINS],
}

/// Pairs of documents with one address.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Sums {
    /// Pairs in which both documents have words.
    pub(crate) pairs: u64,
    /// Those with equal words.
    pub(crate) unchanged: u64,
    /// Those that reach the threshold.
    pub(crate) near: u64,
    /// Similarities added up.
    pub(crate) sum: f64,
}

impl Sums {
    fn add(&mut self, pair: &Pair, measured: Measured) {
        self.pairs += 1;
        self.unchanged += u64::from(pair.equal);
        self.near += u64::from(measured.reached);
        self.sum += measured.forward;
    }

    /// The mean similarity; none of nothing.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.sum / self.pairs as f64)
    }
}

const FACTS: &str = "measured";
const MEDIAN: &str = "similarities";

/// Measures all pairs, unless that was done.
pub(crate) fn measure(ctx: &Context<'_>, fetched: &FetchFacts) -> Result<Measurements, EngineError> {
    if let Some(done) = ctx.work.saved(FACTS)? {
        return Ok(done);
    }
    let snapshots = ctx.request.snapshots();
    let mut found = Measurements {
        with_left: vec![Sums::default(); snapshots],
        with_last: vec![Sums::default(); snapshots - 1],
        ..Measurements::default()
    };
    clear(&ctx.work.run_location(MEDIAN))?;
    let mut similarities = Sorter::new(ctx.work.run_location(MEDIAN), Couples, ctx.buffer_bytes as usize / 8);
    let mut fates = RunWriter::create(&ctx.work.file(PAGE_FATES), ctx.work.label(PAGE_FATES, WIDTH))?;
    if let Some(measure) = ctx.request.measure {
        each_pair(
            ctx,
            fetched,
            measure,
            "measure",
            |_| true,
            |pair, measured| {
                if pair.from > 0 {
                    found.with_last[pair.to - 2].add(pair, measured);
                    return Ok(());
                }
                found.with_left[pair.to - 1].add(pair, measured);
                if pair.to == 1 {
                    similarities.push(measured.forward.to_bits())?;
                    found.bins[histogram::bin(measured.forward)] += 1;
                }
                let fate = PageFate {
                    group: pair.group,
                    snapshot: pair.to as u8,
                    unchanged: pair.equal,
                    near: measured.reached,
                    similarity: measured.forward,
                };
                Ok(fates.push(&fate.encode())?)
            },
        )?;
        if snapshots > 1 {
            found.contained = contained(ctx, fetched)?;
        }
    }
    fates.finish()?;
    let first = found.with_left[0].pairs;
    found.median = median(similarities.sorted()?, first)?;
    clear(&ctx.work.run_location(MEDIAN))?;
    ctx.work.save(FACTS, &found)?;
    Ok(found)
}

/// Returns for each snapshot the share of a left document's shingles that is in its version there, summed over documents.
fn contained(ctx: &Context<'_>, fetched: &FetchFacts) -> Result<Vec<f64>, EngineError> {
    let measure =
        Measure { similarity: Similarity::Containment, threshold: Threshold::LOWEST, shingle: SHINGLE };
    let mut sums = vec![0.0; ctx.request.snapshots()];
    each_pair(
        ctx,
        fetched,
        measure,
        "contain",
        |pair| pair.from == 0,
        |pair, measured| {
            sums[pair.to - 1] += measured.forward;
            Ok(())
        },
    )?;
    Ok(sums)
}

/// Returns the median of `count` similarities, which are positive, so that their bits sort as they do.
fn median(mut sorted: Sorted<Couples>, count: u64) -> Result<Option<f64>, EngineError> {
    let (mut low, mut seen) = (None, 0);
    while let Some(bits) = sorted.next()? {
        seen += 1;
        if seen == count.div_ceil(2) {
            low = Some(f64::from_bits(bits));
        }
        if seen == count / 2 + 1 {
            return Ok(low.map(|low| (low + f64::from_bits(bits)) / 2.0));
        }
    }
    Ok(low)
}

/// Two documents of one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    group: u32,
    from: usize,
    to: usize,
    /// Numbers in the copy.
    documents: (u32, u32),
    /// Their words are equal.
    equal: bool,
}

/// Measures the pairs that are wanted and hands each of them on, in the order of their addresses.
fn each_pair(
    ctx: &Context<'_>,
    fetched: &FetchFacts,
    measure: Measure,
    stage: &'static str,
    wanted: impl Fn(&Pair) -> bool,
    mut each: impl FnMut(&Pair, Measured) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    ctx.watch.begin(Stage { name: stage, total: Some(fetched.documents), reads: false });
    let copy = open_copy(ctx)?;
    let measurer =
        PairMeasurer::new(&copy, measure, &ctx.request.profile, ctx.buffer_bytes).down_to(Threshold::LOWEST);
    let stored = Sorted::open(StoredDocumentCodec, &ctx.work.run_location(STORED), fetched.stored)?;
    // Pairs are measured a batch at a time, and come back in their order.
    let under_way: RefCell<VecDeque<Pair>> = RefCell::default();
    let pairs = Pairs::new(stored).filter(|pair| pair.as_ref().map_or(true, &wanted));
    let pairs = pairs.map(|pair| {
        pair.map(|pair| {
            under_way.borrow_mut().push_back(pair);
            pair.documents
        })
    });
    measurer.measure(pairs, ctx.watch, |_, measured| {
        let pair = under_way.borrow_mut().pop_front().expect("as many pairs come back as went in");
        ctx.watch.steps.fetch_add(2, Ordering::Relaxed);
        // Both have words: what is not measured shares nothing.
        each(&pair, measured.unwrap_or(Measured::NONE))
    })
}

/// The pairs of documents that have one address: the left one with every later one, and later ones with the next.
struct Pairs {
    stored: Sorted<StoredDocumentCodec>,
    /// The first document of the address behind.
    next: Option<StoredDocument>,
    ready: VecDeque<Pair>,
    begun: bool,
}

impl Pairs {
    fn new(stored: Sorted<StoredDocumentCodec>) -> Self {
        Pairs { stored, next: None, ready: VecDeque::new(), begun: false }
    }

    /// Reads the documents of the next address; false when there is none.
    fn group(&mut self) -> Result<bool, EngineError> {
        if !std::mem::replace(&mut self.begun, true) {
            self.next = self.stored.next()?.map(StoredDocument::unpack);
        }
        let Some(first) = self.next.take() else { return Ok(false) };
        let mut versions = vec![first];
        while let Some(stored) = self.stored.next()?.map(StoredDocument::unpack) {
            if stored.group != first.group {
                self.next = Some(stored);
                break;
            }
            versions.push(stored);
        }
        let pair = |a: &StoredDocument, b: &StoredDocument| Pair {
            group: a.group,
            from: a.side.into(),
            to: b.side.into(),
            documents: (a.copy_number, b.copy_number),
            equal: a.words == b.words,
        };
        if first.side == 0 {
            self.ready.extend(versions[1..].iter().map(|later| pair(&first, later)));
        }
        let next = |two: &&[StoredDocument]| two[0].side > 0 && two[1].side == two[0].side + 1;
        self.ready.extend(versions.windows(2).filter(next).map(|two| pair(&two[0], &two[1])));
        Ok(true)
    }
}

impl Iterator for Pairs {
    type Item = Result<Pair, EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() {
            match self.group() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Request;
    use crate::fixture::{Fixture, Page, request};
    use crate::page_fate::PageFateReader;

    fn sorted_bits(fixture: &Fixture, similarities: &[f64]) -> Sorted<Couples> {
        let place = fixture.work.run_location(MEDIAN);
        clear(&place).unwrap();
        let mut sorter = Sorter::new(place, Couples, 1 << 12);
        similarities.iter().for_each(|similarity| sorter.push(similarity.to_bits()).unwrap());
        sorter.sorted().unwrap()
    }

    fn median_of(fixture: &Fixture, similarities: &[f64]) -> Option<f64> {
        median(sorted_bits(fixture, similarities), similarities.len() as u64).unwrap()
    }

    fn stored(group: u32, side: u8) -> StoredDocument {
        StoredDocument { group, side, copy_number: 100 * group + u32::from(side), words: u64::from(side) / 2 }
    }

    /// The pairs of documents with these groups and sides: group, from, to and whether their words are equal.
    fn pairs(fixture: &Fixture, documents: &[(u32, u8)]) -> Vec<(u32, usize, usize, bool)> {
        let place = fixture.work.run_location(STORED);
        clear(&place).unwrap();
        let mut sorter = Sorter::new(place, StoredDocumentCodec, 1 << 12);
        documents.iter().for_each(|&(group, side)| sorter.push(stored(group, side).pack()).unwrap());
        Pairs::new(sorter.sorted().unwrap())
            .map(|pair| {
                let Pair { group, from, to, documents, equal } = pair.unwrap();
                let numbers = [from, to].map(|side| stored(group, side as u8).copy_number);
                assert_eq!(numbers, [documents.0, documents.1]);
                (group, from, to, equal)
            })
            .collect()
    }

    fn page(url: &str, words: &[u8]) -> Page {
        (Some(format!("http://a.org/{url}")), words.to_vec())
    }

    fn measured(fixture: &Fixture) -> Measurements {
        measure(&fixture.ctx(), &fixture.fetch()).unwrap()
    }

    fn fates(fixture: &Fixture, group: u32) -> Vec<PageFate> {
        let mut fates = Vec::new();
        PageFateReader::open(&fixture.ctx()).unwrap().of(group, &mut fates).unwrap();
        fates
    }

    #[test]
    fn sums_of_nothing_have_no_mean() {
        assert_eq!(Sums::default().mean(), None);
    }

    #[test]
    fn sums_count_what_they_are_given() {
        let pair = |equal| Pair { group: 0, from: 0, to: 1, documents: (0, 1), equal };
        let mut sums = Sums::default();
        sums.add(&pair(true), Measured { forward: 1.0, reached: true, ..Measured::NONE });
        sums.add(&pair(false), Measured { forward: 0.5, reached: false, ..Measured::NONE });
        sums.add(&pair(false), Measured::NONE);
        assert_eq!(sums, Sums { pairs: 3, unchanged: 1, near: 1, sum: 1.5 });
        assert_eq!(sums.mean(), Some(0.5));
    }

    #[test]
    fn the_median_is_the_middle_one_or_the_mean_of_two() {
        let fixture = Fixture::empty(1);
        for (similarities, median) in [
            (&[][..], None),
            (&[0.25], Some(0.25)),
            (&[1.0, 0.5], Some(0.75)),
            (&[1.0, 0.0, 0.25], Some(0.25)),
            (&[0.0, 0.0, 0.5, 1.0], Some(0.25)),
            (&[0.5, 0.5, 0.5, 0.5], Some(0.5)),
        ] {
            assert_eq!(median_of(&fixture, similarities), median, "{similarities:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn the_median_is_that_of_a_sorted_list(mut similarities in prop::collection::vec(0.0..=1.0f64, 1..50)) {
            let found = median_of(&Fixture::empty(1), &similarities);
            similarities.sort_by(f64::total_cmp);
            let count = similarities.len();
            let (low, high) = (similarities[(count - 1) / 2], similarities[count / 2]);
            prop_assert_eq!(found, Some((low + high) / 2.0));
        }

        #[test]
        fn pairs_are_those_of_two_loops(
            documents in prop::collection::btree_set((0..4u32, 0..6u8), 0..20),
        ) {
            let documents: Vec<(u32, u8)> = documents.into_iter().collect();
            let mut wanted = Vec::new();
            for &(group, from) in &documents {
                for &(other, to) in &documents {
                    if group == other && from < to && (from == 0 || to == from + 1) {
                        wanted.push((group, usize::from(from), usize::from(to), from / 2 == to / 2));
                    }
                }
            }
            let mut found = pairs(&Fixture::empty(1), &documents);
            prop_assert!(found.is_sorted_by_key(|pair| pair.0));
            found.sort_unstable();
            wanted.sort_unstable();
            prop_assert_eq!(found, wanted);
        }
    }

    #[test]
    fn the_left_document_is_paired_with_all_and_later_ones_with_the_next() {
        let fixture = Fixture::empty(3);
        let found = pairs(&fixture, &[(7, 0), (7, 1), (7, 2), (7, 3)]);
        let sides: Vec<_> = found.iter().map(|&(_, from, to, _)| (from, to)).collect();
        assert_eq!(sides, [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)]);
    }

    #[test]
    fn snapshots_with_a_gap_between_them_are_not_paired() {
        let fixture = Fixture::empty(3);
        assert_eq!(pairs(&fixture, &[(7, 1), (7, 3)]), []);
    }

    #[test]
    fn documents_of_different_addresses_are_not_paired() {
        let fixture = Fixture::empty(1);
        assert_eq!(pairs(&fixture, &[]), []);
        assert_eq!(pairs(&fixture, &[(1, 0), (2, 1), (3, 0)]), []);
        assert_eq!(pairs(&fixture, &[(1, 0), (2, 0), (2, 1)]), [(2, 0, 1, true)]);
    }

    #[test]
    fn similarities_are_those_of_word_sets() {
        // 2 of 4 words, all 3, none of 2.
        let left = vec![page("1", &[1, 2, 3]), page("2", &[1, 2, 3]), page("3", &[1])];
        let right = vec![page("3", &[2]), page("2", &[1, 2, 3]), page("1", &[2, 3, 4])];
        let fixture = Fixture::new(request(&[left, right], 1));
        let found = measured(&fixture);
        assert_eq!(found.with_left, [Sums { pairs: 3, unchanged: 1, near: 1, sum: 1.5 }]);
        assert_eq!((found.median, found.bins), (Some(0.5), [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]));
        assert_eq!((found.with_last, found.contained), (vec![], vec![]));
        let fate = PageFate { group: 0, snapshot: 1, unchanged: false, near: false, similarity: 0.5 };
        assert_eq!(fates(&fixture, 0), [fate]);
        let equal = PageFate { group: 1, snapshot: 1, unchanged: true, near: true, similarity: 1.0 };
        assert_eq!(fates(&fixture, 1), [equal]);
    }

    #[test]
    fn words_in_another_order_are_near_and_not_unchanged() {
        let sides = [vec![page("1", &[1, 2, 3])], vec![page("1", &[3, 2, 1])]];
        let found = measured(&Fixture::new(request(&sides, 1)));
        assert_eq!(found.with_left, [Sums { pairs: 1, unchanged: 0, near: 1, sum: 1.0 }]);
    }

    #[test]
    fn shingles_that_stay_are_summed_by_snapshot() {
        // The left page has the shingles 1–5, 2–6 and 3–7; the first snapshot keeps two of them, the second all.
        let sides = [
            vec![page("1", &[1, 2, 3, 4, 5, 6, 7])],
            vec![page("1", &[1, 2, 3, 4, 5, 6])],
            vec![page("1", &[0, 1, 2, 3, 4, 5, 6, 7])],
        ];
        let found = measured(&Fixture::new(request(&sides, 1)));
        assert!((found.contained[0] - 2.0 / 3.0).abs() < 1e-12 && found.contained[1] == 1.0, "{found:?}");
        // Six of seven words, and of eight; from snapshot to snapshot six of eight.
        let sums = [found.with_left[0].sum, found.with_left[1].sum, found.with_last[0].sum];
        assert_eq!(sums, [6.0 / 7.0, 7.0 / 8.0, 6.0 / 8.0]);
    }

    #[test]
    fn without_a_measure_nothing_is_measured() {
        let sides = [vec![page("1", &[1])], vec![page("1", &[1])]];
        let fixture = Fixture::new(Request { measure: None, ..request(&sides, 1) });
        let found = measured(&fixture);
        assert_eq!((found.with_left[0].pairs, found.median), (0, None));
        assert_eq!(fates(&fixture, 0), []);
    }
}

//! Stage 4: how similar the documents behind one address are.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use lookalike::engine::EngineError;
use lookalike::engine::measure::{Measure, Measured};
use lookalike::engine::pair_measurer::PairMeasurer;
use lookalike::engine::store::file::RunWriter;
use lookalike::engine::store::sort::{Couples, Sorted, Sorter, clear};
use lookalike::model::{Similarity, Threshold};
use lookalike::walk::Stage;
use lookalike_overlap::histogram::{self, BINS};
use serde::{Deserialize, Serialize};

use crate::Context;
use crate::fetch::{FetchFacts, STORED, open_copy};
use crate::fetch_request::{StoredDocument, StoredDocumentCodec};
use crate::page_fate::{PageFate, WIDTH};

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
/// Fates of left documents, by address and snapshot.
pub(crate) const PAGE_FATES: &str = "outcomes";

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
                fates.push(&fate.encode())
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

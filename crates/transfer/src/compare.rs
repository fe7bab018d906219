//! A comparison: its pairs and best matches as tables, and all that is counted over them.

use std::collections::BTreeMap;
use std::path::Path;

use lookalike::corpus::Loss;
use lookalike::corpus::write::rows::{Cell, RowFormat, RowWriter};
use lookalike::engine::compared::{BothCounts, MarkedDocuments, Match};
use lookalike::engine::{Findings, JobRecipe, OpenJob};
use lookalike::tables::Table;
use lookalike::tables::best::{self, BestRow};
use lookalike::tables::compared::{self, ComparedRow};
use lookalike::walk::Watch;
use lookalike_overlap::address::{self, Matching};
use lookalike_overlap::forecast;
use lookalike_overlap::ledger::{self, Ledger, LedgerCounts, StreamedPair};
use lookalike_overlap::statistics::Distribution;
use serde::Serialize;

use crate::compared::ComparisonSource;
use crate::error::TransferError;
use crate::segments::Segments;

/// The settings of a comparison that its job recipe does not have.
#[derive(Debug, Clone)]
pub struct ComparisonSettings {
    /// The methods, as they are called in tables.
    pub methods: Vec<String>,
    /// The parts of the right side.
    pub segments: Segments,
    /// The total number of segments that the forecast is made for; none without a forecast.
    pub forecast: Option<usize>,
    /// The rule by which two addresses count as equal.
    pub matching: Matching,
}

/// The result of a comparison.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The settings of the comparison.
    pub settings: ComparisonSettings,
    /// Documents of both sides.
    pub both: BothCounts,
    /// Everything counted over pairs.
    pub counted: LedgerCounts,
    /// Left documents whose address the right side has.
    pub shared: MarkedDocuments,
    /// Left documents with an address.
    pub addresses: u64,
    /// The persistence of the left documents from snapshot to snapshot.
    pub persistence: Persistence,
}

/// Writes `pairs` and `best`, and counts.
pub fn write(
    open: &OpenJob,
    folder: &Path,
    format: RowFormat,
    settings: ComparisonSettings,
    watch: &Watch,
) -> Result<Comparison, TransferError> {
    let mut tables = Tables::create(folder, format, &settings, &open.recipe().to_toml())?;
    let comparison =
        count(open, settings, watch, |settings, found, segment| tables.push(settings, found, segment))?;
    tables.finish(&comparison.settings)?;
    Ok(comparison)
}

/// Counts, and hands over every pair with its segment.
pub fn count(
    open: &impl ComparisonSource,
    settings: ComparisonSettings,
    watch: &Watch,
    mut each: impl FnMut(&ComparisonSettings, &Match<'_>, usize) -> Result<(), TransferError>,
) -> Result<Comparison, TransferError> {
    let shared = open.same_address(watch, settings.matching)?;
    let mut persistence = Persistence::new(settings.segments.snapshots());
    let mut addresses = 0;
    open.lefts(watch, &mut |document| {
        addresses += u64::from(document.url.is_some());
        persistence.document(document.url);
    })?;
    let mut ledger = Ledger::new(settings.segments.len(), settings.methods.len());
    open.matches(watch, &mut |found| {
        let segment = settings.segments.of(found.right.place);
        ledger.add(&streamed_pair(found, segment, &shared));
        persistence.pair(found, settings.segments.segments[segment].snapshot);
        each(&settings, found, segment)
    })?;
    persistence.close();
    let both = open.both_counts(watch)?;
    Ok(Comparison { settings, both, counted: ledger.finish(), shared, addresses, persistence })
}

fn streamed_pair(found: &Match<'_>, segment: usize, shared: &MarkedDocuments) -> StreamedPair {
    StreamedPair {
        left: found.left.n,
        segment,
        similarity: found.similarity,
        near: found.near,
        methods: found.methods,
        address: shared.has(found.left.n),
    }
}

/// The tables of pairs and of best matches.
struct Tables {
    pairs: RowWriter,
    best: RowWriter,
    /// The most similar pair of the current left document, and the number of its pairs.
    current: Option<(BestPair, u64)>,
}

/// A pair that may be the most similar of its left document.
struct BestPair {
    left: u32,
    a: String,
    b: String,
    similarity: f64,
    near: bool,
    methods: u8,
    segment: usize,
}

impl Tables {
    fn create(
        folder: &Path,
        format: RowFormat,
        settings: &ComparisonSettings,
        recipe: &str,
    ) -> Result<Self, TransferError> {
        let create = |table: Table| {
            let table = if settings.methods.len() > 1 { table } else { table.without_last() };
            table.create(folder, format, recipe)
        };
        Ok(Tables { pairs: create(compared::TABLE)?, best: create(best::TABLE)?, current: None })
    }

    fn push(
        &mut self,
        settings: &ComparisonSettings,
        found: &Match<'_>,
        segment: usize,
    ) -> Result<(), TransferError> {
        let methods = names(settings, found.methods);
        let row = ComparedRow {
            a: found.left.id,
            b: found.right.id,
            similarity: Some(found.similarity),
            reverse: found.reverse,
            near: found.near,
            segment: name(settings, segment),
            methods: &methods,
        };
        self.pairs.push(written_cells(settings, &row.cells()))?;
        if self.current.as_ref().is_some_and(|(best, _)| best.left != found.left.n) {
            self.close(settings)?;
        }
        let pairs = self.current.as_ref().map_or(1, |(_, pairs)| pairs + 1);
        // The first of several that are as similar stays.
        let before = self.current.take().filter(|(best, _)| !best.is_worse_than(found));
        let best = before.map_or_else(|| BestPair::new(found, segment), |(best, _)| best);
        self.current = Some((best, pairs));
        Ok(())
    }

    fn close(&mut self, settings: &ComparisonSettings) -> Result<(), TransferError> {
        let Some((best, pairs)) = self.current.take() else { return Ok(()) };
        let methods = names(settings, best.methods);
        let row = BestRow {
            a: &best.a,
            b: &best.b,
            similarity: Some(best.similarity),
            near: best.near,
            pairs,
            segment: name(settings, best.segment),
            methods: &methods,
        };
        Ok(self.best.push(written_cells(settings, &row.cells()))?)
    }

    fn finish(mut self, settings: &ComparisonSettings) -> Result<(), TransferError> {
        self.close(settings)?;
        self.pairs.finish()?;
        Ok(self.best.finish()?)
    }
}

impl BestPair {
    fn new(found: &Match<'_>, segment: usize) -> Self {
        BestPair {
            left: found.left.n,
            a: found.left.id.to_owned(),
            b: found.right.id.to_owned(),
            similarity: found.similarity,
            near: found.near,
            methods: found.methods,
            segment,
        }
    }

    fn is_worse_than(&self, found: &Match<'_>) -> bool {
        found.similarity > self.similarity || self.similarity.is_nan() && !found.similarity.is_nan()
    }
}

/// The cells of a row that are written: with one method the last one, the list of methods, is not.
fn written_cells<'c, 'r>(settings: &ComparisonSettings, cells: &'c [Cell<'r>]) -> &'c [Cell<'r>] {
    if settings.methods.len() > 1 { cells } else { &cells[..cells.len() - 1] }
}

/// The names of methods by their bits.
pub(crate) fn names(settings: &ComparisonSettings, methods: u8) -> Vec<&str> {
    let all = settings.methods.iter().enumerate();
    all.filter(|(bit, _)| methods >> bit & 1 == 1).map(|(_, name)| name.as_str()).collect()
}

/// The name of a segment, if there are several.
pub(crate) fn name(settings: &ComparisonSettings, segment: usize) -> Option<&str> {
    (settings.segments.len() > 1).then(|| settings.segments.segments[segment].name.as_str())
}

/// At most this number of top-level domains is counted separately; the others count together.
const MOST_DOMAINS: usize = 4096;

/// Counts of left documents with a near-duplicate in each snapshot of the right side, and in all snapshots up to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Persistence {
    /// By top-level domain of the left address.
    pub domains: BTreeMap<String, PersistenceCounts>,
    /// Of all left documents.
    pub all: PersistenceCounts,
    /// The current left document, its domain, and for each snapshot true if the document has a near-duplicate there.
    current: Option<(u32, Option<String>, Vec<bool>)>,
}

/// The persistence of a set of left documents.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PersistenceCounts {
    /// The number of documents.
    pub documents: u64,
    /// Documents with a near-duplicate in the snapshot, by snapshot.
    pub near: Vec<u64>,
    /// Documents with a near-duplicate in this snapshot and in every one before, by snapshot.
    pub near_so_far: Vec<u64>,
}

impl PersistenceCounts {
    fn new(snapshots: usize) -> Self {
        PersistenceCounts { documents: 0, near: vec![0; snapshots], near_so_far: vec![0; snapshots] }
    }

    fn add(&mut self, near: &[bool]) {
        let mut so_far = true;
        for (snapshot, &near) in near.iter().enumerate() {
            so_far &= near;
            self.near[snapshot] += u64::from(near);
            self.near_so_far[snapshot] += u64::from(so_far);
        }
    }
}

/// The name under which the domains beyond [`MOST_DOMAINS`] are counted.
const OTHER_DOMAINS: &str = "(others)";

impl Persistence {
    fn new(snapshots: usize) -> Self {
        Persistence { domains: BTreeMap::new(), all: PersistenceCounts::new(snapshots), current: None }
    }

    fn document(&mut self, url: Option<&str>) {
        self.all.documents += 1;
        if let Some(domain) = domain(url) {
            self.of(domain).documents += 1;
        }
    }

    fn of(&mut self, domain: String) -> &mut PersistenceCounts {
        let full = self.domains.len() >= MOST_DOMAINS && !self.domains.contains_key(&domain);
        let name = if full { OTHER_DOMAINS.to_owned() } else { domain };
        let snapshots = self.all.near.len();
        self.domains.entry(name).or_insert_with(|| PersistenceCounts::new(snapshots))
    }

    fn pair(&mut self, found: &Match<'_>, snapshot: usize) {
        if self.current.as_ref().is_some_and(|(left, ..)| *left != found.left.n) {
            self.close();
        }
        let snapshots = self.all.near.len();
        let (_, _, near) = self
            .current
            .get_or_insert_with(|| (found.left.n, domain(found.left.url), vec![false; snapshots]));
        near[snapshot] |= found.near;
    }

    fn close(&mut self) {
        let Some((_, domain, near)) = self.current.take() else { return };
        self.all.add(&near);
        if let Some(domain) = domain {
            self.of(domain).add(&near);
        }
    }
}

fn domain(url: Option<&str>) -> Option<String> {
    address::host(url?).map(|host| address::top_level(&host).to_owned())
}

/// `summary.json` of a comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Documents of both sides.
    #[serde(flatten)]
    pub both: BothCounts,
    /// Pairs that a method accepts.
    pub pairs: u64,
    /// Those of them that reach the threshold.
    pub near_pairs: u64,
    /// Left documents with a pair.
    pub found: u64,
    /// Left documents with a near-duplicate.
    pub near: u64,
    /// Left documents whose address the right side has.
    pub with_address: u64,
    /// Distinct pairs proposed.
    pub candidates: u64,
    /// Pairs measured.
    pub verified: u64,
    /// Groups that did not propose all of their pairs.
    pub giant_groups: u64,
    /// The similarity measure.
    pub similarity: String,
    /// Words per shingle of the measure.
    pub shingle: usize,
    /// The threshold from which a pair is a near-duplicate.
    pub threshold: String,
    /// True if pairs count because their methods accept them, without verification.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
    /// The methods, by the names that tables have for them.
    pub methods: Vec<String>,
    /// The segments of the right side.
    pub segments: Vec<String>,
    /// By segment and method, and over all segments.
    pub statistics: Vec<Statistics>,
    /// The number of left documents found up to and including each segment, by method.
    pub accumulated: BTreeMap<String, Vec<u64>>,
    /// The values of the line through these numbers at more segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// Between methods.
    pub differences: Vec<Difference>,
    /// The persistence of left documents, if there are several snapshots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistence: Option<PersistenceCounts>,
    /// Reasons why records could not be read, the most frequent reason of each side first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Loss>,
    /// Version of the program.
    pub version: String,
}

/// The counts of one method, in one segment or in all segments.
#[derive(Debug, Clone, Serialize)]
pub struct Statistics {
    /// The segment; none for all together.
    pub segment: Option<String>,
    /// The method; none for any.
    pub method: Option<String>,
    /// Pairs.
    pub pairs: u64,
    /// Left documents with a pair.
    pub found: u64,
    /// Those with a near-duplicate.
    pub near: u64,
    /// Their share of the found.
    pub precision: Option<f64>,
    /// Found documents whose address the right side has.
    pub with_address: u64,
    /// The distribution of the number of pairs per found document.
    pub pairs_per_document: Option<WrittenDistribution>,
    /// Pairs by similarity, in tenths.
    pub histogram: Vec<u64>,
    /// The most similar pair of each left document by similarity, in tenths.
    pub best_histogram: Vec<u64>,
}

/// A [`Distribution`] as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WrittenDistribution {
    /// The mean.
    pub mean: f64,
    /// The middle value.
    pub median: f64,
    /// Three quarters are at most this.
    pub three_quarters: f64,
    /// The largest.
    pub most: f64,
}

impl From<Distribution> for WrittenDistribution {
    fn from(Distribution { mean, median, three_quarters, most }: Distribution) -> Self {
        WrittenDistribution { mean, median, three_quarters, most }
    }
}

/// The forecast by the line through accumulated numbers.
#[derive(Debug, Clone, Serialize)]
pub struct Forecast {
    /// The number of segments that the forecast is for.
    pub segments: usize,
    /// The forecast number of found documents, by method.
    pub found: BTreeMap<String, f64>,
    /// The warning that must accompany the forecast.
    pub warning: &'static str,
}

/// The warning that goes with every forecast.
pub const FORECAST_WARNING: &str = "A straight line through accumulated numbers promises too much: what is easily found is found first, and every \
                           further segment adds less than the one before.";

/// A comparison of two methods.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// The segment; none for all together.
    pub segment: Option<String>,
    /// One method.
    pub a: String,
    /// The other.
    pub b: String,
    /// Left documents with a near-duplicate under `a` that `b` does not find at all.
    pub near_a_not_found_b: u64,
    /// Those with a near-duplicate under `a` that have none under `b`.
    pub near_a_not_near_b: u64,
    /// The number of pairs of `a` divided by that of `b`; none if `b` has no pairs.
    pub pairs_ratio: Option<f64>,
}

impl Comparison {
    /// The name of a method's column.
    fn method(&self, column: usize) -> Option<String> {
        self.settings.methods.get(column).cloned()
    }

    /// The methods whose numbers are shown: each, and any of them when there are several.
    pub fn columns(&self) -> Vec<usize> {
        let methods = self.settings.methods.len();
        if methods == 1 { vec![0] } else { (0..=methods).collect() }
    }

    /// Returns the name of a column.
    pub fn column_name(&self, column: usize) -> String {
        self.method(column).unwrap_or_else(|| "any".to_owned())
    }

    /// Returns the total counts of all methods together.
    pub fn any(&self) -> &ledger::MethodCounts {
        &self.counted.total[self.settings.methods.len()]
    }

    /// Returns the number of segments and the forecast of each column; none if no forecast is wanted.
    pub fn forecasts(&self) -> Option<(usize, Vec<(String, f64)>)> {
        let segments = self.settings.forecast?;
        let found = self.columns().into_iter().filter_map(|column| {
            let found = forecast::forecast(&self.counted.accumulated[column], segments)?;
            Some((self.column_name(column), found))
        });
        Some((segments, found.collect()))
    }

    fn statistics(&self) -> Vec<Statistics> {
        let one = |segment: Option<&str>, column: usize, cell: &ledger::MethodCounts| Statistics {
            segment: segment.map(str::to_owned),
            method: self.method(column),
            pairs: cell.pairs,
            found: cell.found,
            near: cell.near,
            precision: cell.precision(),
            with_address: cell.with_address,
            pairs_per_document: cell.pairs_per_document().map(WrittenDistribution::from),
            histogram: cell.all.to_vec(),
            best_histogram: cell.best.to_vec(),
        };
        let mut all = Vec::new();
        for (segment, cells) in self.settings.segments.segments.iter().zip(&self.counted.segments) {
            all.extend(
                self.columns().into_iter().map(|column| one(Some(&segment.name), column, &cells[column])),
            );
        }
        all.extend(self.columns().into_iter().map(|column| one(None, column, &self.counted.total[column])));
        all
    }

    fn differences(&self) -> Vec<Difference> {
        let names = self.settings.segments.segments.iter().map(|segment| Some(segment.name.as_str()));
        let segments = names.zip(self.counted.differences.iter().zip(&self.counted.segments));
        let total = (None, (&self.counted.total_differences, &self.counted.total));
        let mut all = Vec::new();
        for (segment, (differences, cells)) in segments.chain([total]) {
            for (a, row) in differences.iter().enumerate() {
                for (b, &(not_found, not_near)) in row.iter().enumerate().filter(|(b, _)| *b != a) {
                    all.push(Difference {
                        segment: segment.map(str::to_owned),
                        a: self.column_name(a),
                        b: self.column_name(b),
                        near_a_not_found_b: not_found,
                        near_a_not_near_b: not_near,
                        pairs_ratio: ratio(cells[a].pairs, cells[b].pairs),
                    });
                }
            }
        }
        all
    }

    /// Returns the summary for `summary.json`.
    pub fn summary(&self, recipe: &JobRecipe, findings: &Findings) -> Summary {
        let any = self.any();
        let accumulated = self.columns().into_iter();
        Summary {
            both: self.both.clone(),
            pairs: any.pairs,
            near_pairs: any.near_pairs,
            found: any.found,
            near: any.near,
            with_address: self.shared.count(),
            candidates: findings.summary.candidates,
            verified: findings.summary.verified,
            giant_groups: findings.summary.giant_groups,
            similarity: recipe.similarity.to_string(),
            shingle: recipe.shingle,
            threshold: recipe.threshold.clone(),
            unverified: !recipe.verified,
            methods: self.settings.methods.clone(),
            segments: self.settings.segments.segments.iter().map(|segment| segment.name.clone()).collect(),
            statistics: self.statistics(),
            accumulated: accumulated
                .map(|column| (self.column_name(column), self.counted.accumulated[column].clone()))
                .collect(),
            forecast: self.forecasts().filter(|(_, found)| !found.is_empty()).map(|(segments, found)| {
                Forecast { segments, found: found.into_iter().collect(), warning: FORECAST_WARNING }
            }),
            differences: self.differences(),
            persistence: (self.settings.segments.snapshots() > 1).then(|| self.persistence.all.clone()),
            reasons: findings.summary.reasons.clone(),
            version: recipe.lookalike.clone(),
        }
    }
}

/// Returns `a` divided by `b`; none if `b` is 0.
fn ratio(a: u64, b: u64) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}

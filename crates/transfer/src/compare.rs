//! A comparison: its pairs and best matches as tables, and all that is counted over them.

use std::collections::BTreeMap;
use std::path::Path;

use lookalike::corpus::Loss;
use lookalike::corpus::write::rows::{Cell, Column, Kind, RowFormat, RowWriter};
use lookalike::engine::compared::{BothCounts, Marked, Match};
use lookalike::engine::{Findings, JobRecipe, OpenJob};
use lookalike::walk::Watch;
use lookalike_overlap::address::{self, Matching};
use lookalike_overlap::forecast;
use lookalike_overlap::ledger::{self, Counted, Ledger, Seen};
use lookalike_overlap::statistics::Spread;
use serde::Serialize;

use crate::compared::Compared;
use crate::error::TransferError;
use crate::segments::Segments;

/// The settings of a comparison that its job recipe does not have.
#[derive(Debug, Clone)]
pub struct Wanted {
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
    pub wanted: Wanted,
    /// Documents of both sides.
    pub both: BothCounts,
    /// Everything counted over pairs.
    pub counted: Counted,
    /// Left documents whose address the right side has.
    pub shared: Marked,
    /// Left documents with an address.
    pub addresses: u64,
    /// The persistence of the left documents from snapshot to snapshot.
    pub persistence: Persistence,
}

const A: Column = Column::new("a", Kind::Text);
const B: Column = Column::new("b", Kind::Text);
const SIMILARITY: Column = Column::new("similarity", Kind::OptionalF64);
const REVERSE: Column = Column::new("reverse", Kind::OptionalF64).omit_if_none();
const NEAR: Column = Column::new("near", Kind::Bool);
const COUNT: Column = Column::new("pairs", Kind::U64);
const SEGMENT: Column = Column::new("segment", Kind::OptionalText).omit_if_none();
const METHODS: Column = Column::new("methods", Kind::ListOfText);

/// The tables of a run with several methods; with one method the last column is not there.
const PAIRS: &[Column] = &[A, B, SIMILARITY, REVERSE, NEAR, SEGMENT, METHODS];
const BEST: &[Column] = &[A, B, SIMILARITY, NEAR, COUNT, SEGMENT, METHODS];

/// Writes `pairs` and `best`, and counts.
pub fn write(
    open: &OpenJob,
    folder: &Path,
    format: RowFormat,
    wanted: Wanted,
    watch: &Watch,
) -> Result<Comparison, TransferError> {
    let mut tables = Tables::create(folder, format, &wanted, &open.recipe().to_toml())?;
    let comparison =
        count(open, wanted, watch, |wanted, found, segment| tables.take(wanted, found, segment))?;
    tables.finish(&comparison.wanted)?;
    Ok(comparison)
}

/// Counts, and hands over every pair with its segment.
pub fn count(
    open: &impl Compared,
    wanted: Wanted,
    watch: &Watch,
    mut each: impl FnMut(&Wanted, &Match<'_>, usize) -> Result<(), TransferError>,
) -> Result<Comparison, TransferError> {
    let shared = open.same_address(watch, wanted.matching)?;
    let mut persistence = Persistence::new(wanted.segments.snapshots());
    let mut addresses = 0;
    open.lefts(watch, &mut |document| {
        addresses += u64::from(document.url.is_some());
        persistence.document(document.url);
    })?;
    let mut ledger = Ledger::new(wanted.segments.len(), wanted.methods.len());
    open.matches(watch, &mut |found| {
        let segment = wanted.segments.of(found.right.place);
        ledger.take(&seen(found, segment, &shared));
        persistence.pair(found, wanted.segments.segments[segment].snapshot);
        each(&wanted, found, segment)
    })?;
    persistence.close();
    let both = open.both_counts(watch)?;
    Ok(Comparison { wanted, both, counted: ledger.finish(), shared, addresses, persistence })
}

fn seen(found: &Match<'_>, segment: usize, shared: &Marked) -> Seen {
    Seen {
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
    at: Option<(Best, u64)>,
}

/// A pair that may be the most similar of its left document.
struct Best {
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
        wanted: &Wanted,
        recipe: &str,
    ) -> Result<Self, TransferError> {
        let create = |name: &str, columns: &'static [Column]| {
            let columns = if wanted.methods.len() > 1 { columns } else { &columns[..columns.len() - 1] };
            RowWriter::create(&folder.join(format!("{name}{}", format.suffix())), format, columns, recipe)
        };
        Ok(Tables { pairs: create("pairs", PAIRS)?, best: create("best", BEST)?, at: None })
    }

    fn take(&mut self, wanted: &Wanted, found: &Match<'_>, segment: usize) -> Result<(), TransferError> {
        let methods = names(wanted, found.methods);
        let mut cells = vec![
            Cell::Text(found.left.id),
            Cell::Text(found.right.id),
            Cell::OptionalF64(Some(found.similarity)),
            Cell::OptionalF64(found.reverse),
            Cell::Bool(found.near),
            Cell::OptionalText(name(wanted, segment)),
        ];
        if wanted.methods.len() > 1 {
            cells.push(Cell::ListOfText(&methods));
        }
        self.pairs.push(&cells)?;
        if self.at.as_ref().is_some_and(|(best, _)| best.left != found.left.n) {
            self.close(wanted)?;
        }
        let pairs = self.at.as_ref().map_or(1, |(_, pairs)| pairs + 1);
        // The first of several that are as similar stays.
        let before = self.at.take().filter(|(best, _)| !best.is_worse_than(found));
        let best = before.map_or_else(|| Best::new(found, segment), |(best, _)| best);
        self.at = Some((best, pairs));
        Ok(())
    }

    fn close(&mut self, wanted: &Wanted) -> Result<(), TransferError> {
        let Some((best, pairs)) = self.at.take() else { return Ok(()) };
        let methods = names(wanted, best.methods);
        let mut cells = vec![
            Cell::Text(&best.a),
            Cell::Text(&best.b),
            Cell::OptionalF64(Some(best.similarity)),
            Cell::Bool(best.near),
            Cell::U64(pairs),
            Cell::OptionalText(name(wanted, best.segment)),
        ];
        if wanted.methods.len() > 1 {
            cells.push(Cell::ListOfText(&methods));
        }
        Ok(self.best.push(&cells)?)
    }

    fn finish(mut self, wanted: &Wanted) -> Result<(), TransferError> {
        self.close(wanted)?;
        self.pairs.finish()?;
        Ok(self.best.finish()?)
    }
}

impl Best {
    fn new(found: &Match<'_>, segment: usize) -> Self {
        Best {
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

/// The names of methods by their bits.
pub(crate) fn names(wanted: &Wanted, methods: u8) -> Vec<&str> {
    let all = wanted.methods.iter().enumerate();
    all.filter(|(place, _)| methods >> place & 1 == 1).map(|(_, name)| name.as_str()).collect()
}

/// The name of a segment, if there are several.
pub(crate) fn name(wanted: &Wanted, segment: usize) -> Option<&str> {
    (wanted.segments.len() > 1).then(|| wanted.segments.segments[segment].name.as_str())
}

/// At most this number of top-level domains is counted separately; the others count together.
const MOST_DOMAINS: usize = 4096;

/// Counts of left documents with a near-duplicate in each snapshot of the right side, and in all snapshots up to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Persistence {
    /// By top-level domain of the left address.
    pub domains: BTreeMap<String, Lives>,
    /// Of all left documents.
    pub all: Lives,
    /// The current left document, its domain, and for each snapshot true if the document has a near-duplicate there.
    at: Option<(u32, Option<String>, Vec<bool>)>,
}

/// The persistence of a set of left documents.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Lives {
    /// The number of documents.
    pub documents: u64,
    /// Documents with a near-duplicate in the snapshot, by snapshot.
    pub near: Vec<u64>,
    /// Documents with a near-duplicate in this snapshot and in every one before, by snapshot.
    pub near_so_far: Vec<u64>,
}

impl Lives {
    fn new(snapshots: usize) -> Self {
        Lives { documents: 0, near: vec![0; snapshots], near_so_far: vec![0; snapshots] }
    }

    fn take(&mut self, near: &[bool]) {
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
        Persistence { domains: BTreeMap::new(), all: Lives::new(snapshots), at: None }
    }

    fn document(&mut self, url: Option<&str>) {
        self.all.documents += 1;
        if let Some(domain) = domain(url) {
            self.of(domain).documents += 1;
        }
    }

    fn of(&mut self, domain: String) -> &mut Lives {
        let full = self.domains.len() >= MOST_DOMAINS && !self.domains.contains_key(&domain);
        let name = if full { OTHER_DOMAINS.to_owned() } else { domain };
        let snapshots = self.all.near.len();
        self.domains.entry(name).or_insert_with(|| Lives::new(snapshots))
    }

    fn pair(&mut self, found: &Match<'_>, snapshot: usize) {
        if self.at.as_ref().is_some_and(|(left, ..)| *left != found.left.n) {
            self.close();
        }
        let snapshots = self.all.near.len();
        let (_, _, near) =
            self.at.get_or_insert_with(|| (found.left.n, domain(found.left.url), vec![false; snapshots]));
        near[snapshot] |= found.near;
    }

    fn close(&mut self) {
        let Some((_, domain, near)) = self.at.take() else { return };
        self.all.take(&near);
        if let Some(domain) = domain {
            self.of(domain).take(&near);
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
    pub persistence: Option<Lives>,
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
    pub pairs_per_document: Option<SpreadOut>,
    /// Pairs by similarity, in tenths.
    pub histogram: Vec<u64>,
    /// The most similar pair of each left document by similarity, in tenths.
    pub best_histogram: Vec<u64>,
}

/// A [`Spread`] as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SpreadOut {
    /// The mean.
    pub mean: f64,
    /// The middle value.
    pub median: f64,
    /// Three quarters are at most this.
    pub three_quarters: f64,
    /// The largest.
    pub most: f64,
}

impl From<Spread> for SpreadOut {
    fn from(Spread { mean, median, three_quarters, most }: Spread) -> Self {
        SpreadOut { mean, median, three_quarters, most }
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
pub const WARNING: &str = "A straight line through accumulated numbers promises too much: what is easily found is found first, and every \
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
    fn method(&self, place: usize) -> Option<String> {
        self.wanted.methods.get(place).cloned()
    }

    /// The methods whose numbers are shown: each, and any of them when there are several.
    pub fn columns(&self) -> Vec<usize> {
        let methods = self.wanted.methods.len();
        if methods == 1 { vec![0] } else { (0..=methods).collect() }
    }

    /// Returns the name of a column.
    pub fn column_name(&self, place: usize) -> String {
        self.method(place).unwrap_or_else(|| "any".to_owned())
    }

    /// Returns the total counts of all methods together.
    pub fn any(&self) -> &ledger::Cell {
        &self.counted.total[self.wanted.methods.len()]
    }

    /// Returns the number of segments and the forecast of each column; none if no forecast is wanted.
    pub fn forecasts(&self) -> Option<(usize, Vec<(String, f64)>)> {
        let segments = self.wanted.forecast?;
        let found = self.columns().into_iter().filter_map(|place| {
            let found = forecast::forecast(&self.counted.accumulated[place], segments)?;
            Some((self.column_name(place), found))
        });
        Some((segments, found.collect()))
    }

    fn statistics(&self) -> Vec<Statistics> {
        let one = |segment: Option<&str>, place: usize, cell: &ledger::Cell| Statistics {
            segment: segment.map(str::to_owned),
            method: self.method(place),
            pairs: cell.pairs,
            found: cell.found,
            near: cell.near,
            precision: cell.precision(),
            with_address: cell.with_address,
            pairs_per_document: cell.pairs_per_document().map(SpreadOut::from),
            histogram: cell.all.to_vec(),
            best_histogram: cell.best.to_vec(),
        };
        let mut all = Vec::new();
        for (segment, cells) in self.wanted.segments.segments.iter().zip(&self.counted.segments) {
            all.extend(
                self.columns().into_iter().map(|place| one(Some(&segment.name), place, &cells[place])),
            );
        }
        all.extend(self.columns().into_iter().map(|place| one(None, place, &self.counted.total[place])));
        all
    }

    fn differences(&self) -> Vec<Difference> {
        let names = self.wanted.segments.segments.iter().map(|segment| Some(segment.name.as_str()));
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
            methods: self.wanted.methods.clone(),
            segments: self.wanted.segments.segments.iter().map(|segment| segment.name.clone()).collect(),
            statistics: self.statistics(),
            accumulated: accumulated
                .map(|place| (self.column_name(place), self.counted.accumulated[place].clone()))
                .collect(),
            forecast: self.forecasts().filter(|(_, found)| !found.is_empty()).map(|(segments, found)| {
                Forecast { segments, found: found.into_iter().collect(), warning: WARNING }
            }),
            differences: self.differences(),
            persistence: (self.wanted.segments.snapshots() > 1).then(|| self.persistence.all.clone()),
            reasons: findings.summary.reasons.clone(),
            version: recipe.lookalike.clone(),
        }
    }
}

/// Returns `a` divided by `b`; none if `b` is 0.
fn ratio(a: u64, b: u64) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}

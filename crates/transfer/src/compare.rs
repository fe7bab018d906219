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
use crate::ranking::by_similarity;
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
        by_similarity(self.similarity, found.similarity).is_lt()
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

#[cfg(test)]
mod tests {
    use lookalike::engine::compared::SideDocument;
    use lookalike::engine::recipe::Task;
    use serde_json::{Value, json};

    use super::*;
    use crate::compared::{ListedDocument, ListedPair, Lists};
    use crate::fixture::{counted, found, left, lists, pair, pair_of, settings};

    /// The rows of `pairs.jsonl` and `best.jsonl`.
    fn tables(lists: &Lists, settings: ComparisonSettings) -> [Vec<Value>; 2] {
        let mut tables = Tables::create(&lists.folder, RowFormat::Jsonl, &settings, "").unwrap();
        let comparison = count(lists, settings, &Watch::default(), |settings, found, segment| {
            tables.push(settings, found, segment)
        });
        tables.finish(&comparison.unwrap().settings).unwrap();
        ["pairs.jsonl", "best.jsonl"].map(|name| {
            let text = std::fs::read_to_string(lists.folder.join(name)).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        })
    }

    fn at(url: &'static str, left: u32, similarity: f64) -> Match<'static> {
        let document = SideDocument { n: left, place: left, id: "", url: Some(url) };
        Match { left: document, ..found(left, 0, similarity, 1) }
    }

    /// Pairs of three documents in three segments: the first is found in the first segment, the second in the first and in
    /// the last, the third in the last.
    fn three() -> Vec<ListedPair> {
        vec![pair(0, 3, 0.5), pair(1, 4, 0.95), pair(1, 21, 0.25), pair(2, 22, 1.0)]
    }

    fn documents(count: u32) -> Vec<ListedDocument> {
        (0..count).map(|n| left(n, &format!("l{n}"), None, false)).collect()
    }

    #[test]
    fn methods_are_named_by_their_bits() {
        let settings = settings(&["a", "b", "c"], &[0]);
        assert_eq!(names(&settings, 0), Vec::<&str>::new());
        assert_eq!((names(&settings, 0b101), names(&settings, 0b1111_1010)), (vec!["a", "c"], vec!["b"]));
    }

    #[test]
    fn a_segment_is_named_where_there_are_several() {
        assert_eq!(name(&settings(&["a"], &[0]), 0), None);
        assert_eq!(name(&settings(&["a"], &[0, 0]), 1), Some("s1"));
    }

    #[test]
    fn there_is_no_ratio_to_nothing() {
        assert_eq!([ratio(0, 0), ratio(3, 0), ratio(0, 3), ratio(3, 2)], [None, None, Some(0.0), Some(1.5)]);
    }

    #[test]
    fn a_pair_is_worse_than_a_more_similar_one_and_a_number_than_none() {
        let worse =
            |old: f64, new: f64| BestPair::new(&found(0, 0, old, 1), 0).is_worse_than(&found(0, 1, new, 1));
        assert_eq!([worse(0.5, 0.75), worse(0.75, 0.5), worse(0.5, 0.5)], [true, false, false]);
        let none = f64::NAN;
        assert_eq!([worse(none, 0.0), worse(0.0, none), worse(none, none)], [true, false, false]);
    }

    #[test]
    fn pairs_are_written_as_they_come_and_the_best_of_each_document_once() {
        let pairs = vec![pair(0, 5, 0.25), pair(0, 6, 0.95), pair(0, 7, 0.95), pair(2, 5, 0.5)];
        let (_folder, lists) = lists(documents(3), pairs);
        let [all, best] = tables(&lists, settings(&["m"], &[0]));
        let row = |a: &str, b: &str, similarity: f64| {
            let near = similarity > 0.9;
            json!({"a": a, "b": b, "similarity": similarity, "near": near})
        };
        let wanted =
            [row("l0", "r5", 0.25), row("l0", "r6", 0.95), row("l0", "r7", 0.95), row("l2", "r5", 0.5)];
        assert_eq!(all, wanted);
        let first = json!({"a": "l0", "b": "r6", "similarity": 0.95, "near": true, "pairs": 3});
        let second = json!({"a": "l2", "b": "r5", "similarity": 0.5, "near": false, "pairs": 1});
        assert_eq!(best, [first, second]);
    }

    #[test]
    fn no_pairs_are_empty_tables() {
        let (_folder, lists) = lists(documents(2), Vec::new());
        assert_eq!(tables(&lists, settings(&["m"], &[0])), [Vec::<Value>::new(), Vec::new()]);
    }

    #[test]
    fn segments_and_methods_are_columns_where_there_are_several() {
        let (_folder, lists) =
            lists(documents(1), vec![pair_of(0b10, 0, 3, 0.5), pair_of(0b11, 0, 13, f64::NAN)]);
        let [all, best] = tables(&lists, settings(&["m", "n"], &[0, 0]));
        let first = json!({
            "a": "l0", "b": "r3", "similarity": 0.5, "near": false, "segment": "s0", "methods": ["n"],
        });
        let second = json!({
            "a": "l0", "b": "r13", "similarity": null, "near": false, "segment": "s1", "methods": ["m", "n"],
        });
        assert_eq!(all, [first, second]);
        let wanted = json!({
            "a": "l0", "b": "r3", "similarity": 0.5, "near": false, "pairs": 2, "segment": "s0", "methods": ["n"],
        });
        assert_eq!(best, [wanted]);
    }

    #[test]
    fn what_lives_on_so_far_ends_with_the_first_gap() {
        let mut counts = PersistenceCounts::new(3);
        counts.add(&[true, true, true]);
        counts.add(&[true, false, true]);
        counts.add(&[false, true, false]);
        assert_eq!((counts.near, counts.near_so_far), (vec![2, 2, 2], vec![2, 1, 1]));
    }

    #[test]
    fn left_documents_live_on_by_top_level_domain() {
        let mut persistence = Persistence::new(2);
        for url in [
            Some("http://a.org/"),
            Some("http://b.ORG/x"),
            Some("http://10.0.0.1/"),
            Some("no address"),
            None,
        ] {
            persistence.document(url);
        }
        persistence.pair(&at("http://a.org/", 0, 0.5), 0);
        persistence.pair(&at("http://a.org/", 0, 0.95), 0);
        persistence.pair(&at("http://a.org/", 0, 0.5), 1);
        persistence.pair(&at("http://b.org/x", 1, 0.95), 1);
        persistence.close();
        // A second end changes nothing.
        persistence.close();
        let counts = |documents, near: [u64; 2], so_far: [u64; 2]| PersistenceCounts {
            documents,
            near: near.to_vec(),
            near_so_far: so_far.to_vec(),
        };
        assert_eq!(persistence.all, counts(5, [1, 1], [1, 0]));
        let wanted = [("ip", counts(1, [0, 0], [0, 0])), ("org", counts(2, [1, 1], [1, 0]))];
        let found: Vec<_> =
            persistence.domains.iter().map(|(name, counts)| (name.as_str(), counts.clone())).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn domains_beyond_the_bound_are_counted_together() {
        let mut persistence = Persistence::new(1);
        for domain in 0..MOST_DOMAINS + 3 {
            persistence.document(Some(&format!("http://a.t{domain}/")));
        }
        persistence.document(Some("http://b.t0/"));
        assert_eq!(persistence.domains.len(), MOST_DOMAINS + 1);
        assert_eq!(
            (persistence.domains[OTHER_DOMAINS].documents, persistence.domains["t0"].documents),
            (3, 2)
        );
        persistence.pair(&at("http://a.t4097/", 0, 1.0), 0);
        persistence.close();
        assert_eq!((persistence.domains[OTHER_DOMAINS].near[0], persistence.all.near[0]), (1, 1));
    }

    #[test]
    fn everything_is_counted_over_the_pairs() {
        let lefts = vec![
            left(0, "a", Some("http://a.org/"), true),
            left(1, "b", Some("http://b.org/"), false),
            left(2, "c", None, false),
        ];
        let (_folder, lists) = lists(lefts, three());
        let comparison = counted(&lists, settings(&["m"], &[0, 0, 1]));
        let any = comparison.any();
        assert_eq!((any.pairs, any.near_pairs, any.found, any.near, any.with_address), (4, 2, 3, 2, 1));
        assert_eq!((comparison.addresses, comparison.shared.count()), (2, 1));
        assert_eq!(comparison.counted.accumulated[0], [2, 2, 3]);
        // b is near in the first snapshot alone, c in the second alone.
        let persistence = &comparison.persistence.all;
        assert_eq!(
            (persistence.documents, &persistence.near[..], &persistence.near_so_far[..]),
            (3, &[1, 1][..], &[1, 0][..])
        );
    }

    #[test]
    fn an_error_on_the_way_ends_the_count() {
        let (_folder, lists) = lists(documents(3), three());
        let mut seen = 0;
        let ended = count(&lists, settings(&["m"], &[0]), &Watch::default(), |_, _, _| {
            seen += 1;
            if seen == 2 { Err(TransferError::Request("enough".to_owned())) } else { Ok(()) }
        });
        assert_eq!((ended.unwrap_err().to_string().as_str(), seen), ("enough", 2));
    }

    #[test]
    fn any_method_is_a_column_where_there_are_several() {
        let (_folder, lists) = lists(Vec::new(), Vec::new());
        let columns = |methods: &[&str]| {
            let comparison = counted(&lists, settings(methods, &[0]));
            comparison.columns().into_iter().map(|column| comparison.column_name(column)).collect::<Vec<_>>()
        };
        assert_eq!(columns(&["m"]), ["m"]);
        assert_eq!(columns(&["m", "n"]), ["m", "n", "any"]);
    }

    #[test]
    fn a_forecast_goes_on_with_the_line() {
        let (_folder, lists) = lists(documents(3), vec![pair(0, 0, 0.5), pair(1, 10, 0.5), pair(2, 20, 0.5)]);
        let forecast = |snapshots: &[usize], forecast| {
            counted(&lists, ComparisonSettings { forecast, ..settings(&["m"], snapshots) }).forecasts()
        };
        assert_eq!(forecast(&[0, 0, 0], None), None);
        let (segments, found) = forecast(&[0, 0, 0], Some(20)).unwrap();
        // One more with every segment.
        assert_eq!((segments, found.len(), found[0].0.as_str()), (20, 1, "m"));
        assert!((found[0].1 - 20.0).abs() < 1e-9, "{found:?}");
        assert_eq!(forecast(&[0], Some(20)), Some((20, Vec::new())));
    }

    #[test]
    fn statistics_go_segment_by_segment_and_then_over_all() {
        let pairs = vec![pair_of(1, 0, 0, 0.5), pair_of(3, 0, 10, 1.0), pair_of(2, 1, 11, 0.25)];
        let (_folder, lists) = lists(documents(2), pairs);
        let found = counted(&lists, settings(&["m", "n"], &[0, 0])).statistics();
        let counts: Vec<_> = found
            .iter()
            .map(|one| (one.segment.as_deref(), one.method.as_deref(), one.pairs, one.found, one.near))
            .collect();
        let wanted = [
            (Some("s0"), Some("m"), 1, 1, 0),
            (Some("s0"), Some("n"), 0, 0, 0),
            (Some("s0"), None, 1, 1, 0),
            (Some("s1"), Some("m"), 1, 1, 1),
            (Some("s1"), Some("n"), 2, 2, 1),
            (Some("s1"), None, 2, 2, 1),
            (None, Some("m"), 2, 1, 1),
            (None, Some("n"), 2, 2, 1),
            (None, None, 3, 2, 1),
        ];
        assert_eq!(counts, wanted);
        assert_eq!((found[1].precision, &found[1].pairs_per_document), (None, &None));
        let most = WrittenDistribution { mean: 1.5, median: 1.5, three_quarters: 1.75, most: 2.0 };
        assert_eq!((found[8].precision, found[8].pairs_per_document), (Some(0.5), Some(most)));
        assert_eq!(found[8].histogram, [0, 0, 1, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(found[8].best_histogram, [0, 0, 1, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn methods_are_held_against_each_other_both_ways() {
        // m has near-duplicates of both documents; n finds the second one, without a near-duplicate.
        let pairs = vec![pair_of(1, 0, 0, 1.0), pair_of(1, 1, 0, 0.95), pair_of(2, 1, 1, 0.5)];
        let (_folder, lists) = lists(documents(2), pairs);
        let found = counted(&lists, settings(&["m", "n"], &[0])).differences();
        let counts: Vec<_> = found
            .iter()
            .map(|one| {
                (
                    one.segment.as_deref(),
                    one.a.as_str(),
                    one.near_a_not_found_b,
                    one.near_a_not_near_b,
                    one.pairs_ratio,
                )
            })
            .collect();
        let wanted = [
            (Some("s0"), "m", 1, 2, Some(2.0)),
            (Some("s0"), "n", 0, 0, Some(0.5)),
            (None, "m", 1, 2, Some(2.0)),
            (None, "n", 0, 0, Some(0.5)),
        ];
        assert_eq!(counts, wanted);
    }

    #[test]
    fn a_summary_has_what_was_counted() {
        let (_folder, lists) = lists(documents(3), three());
        let settings = ComparisonSettings { forecast: Some(4), ..settings(&["m"], &[0, 0, 1]) };
        let mut findings = Findings::default();
        findings.summary.candidates = 9;
        let recipe = JobRecipe { verified: false, ..JobRecipe::simplest(Task::Compare) };
        let found = counted(&lists, settings).summary(&recipe, &findings);
        assert_eq!((found.pairs, found.near_pairs, found.found, found.near), (4, 2, 3, 2));
        assert_eq!((found.candidates, found.unverified, found.both.left.documents), (9, true, 3));
        assert_eq!(
            (found.segments, found.accumulated["m"].as_slice()),
            (vec!["s0".to_owned(), "s1".to_owned(), "s2".to_owned()], &[2, 2, 3][..])
        );
        // The line through 2, 2 and 3 rises by a half and is 7/3 in the middle.
        assert!((found.forecast.unwrap().found["m"] - (7.0 / 3.0 + 1.0)).abs() < 1e-9);
        assert_eq!(found.persistence.unwrap().near, [1, 1]);
    }

    #[test]
    fn a_summary_leaves_out_what_one_snapshot_and_one_segment_cannot_have() {
        let (_folder, lists) = lists(documents(3), three());
        let settings = ComparisonSettings { forecast: Some(4), ..settings(&["m"], &[0]) };
        let found =
            counted(&lists, settings).summary(&JobRecipe::simplest(Task::Compare), &Findings::default());
        let written = serde_json::to_value(found).unwrap();
        let absent = ["forecast", "persistence", "unverified", "reasons"];
        assert_eq!(absent.map(|name| written.get(name)), [None; 4]);
        assert_eq!((&written["differences"], &written["segments"]), (&json!([]), &json!(["s0"])));
    }
}

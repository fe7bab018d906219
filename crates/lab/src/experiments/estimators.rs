//! E13: how far estimates of resemblance are off, and how often bands propose a pair.
//!
//! MinHash estimates the resemblance of two sets of shingles by the share of equal minima, Broder's other two ways by
//! samples: the s smallest fingerprints, or those that m divides. Each is held against its theory on pairs of a known
//! resemblance, made up ones and those of a collection. Bands of r minima, b of them, propose a pair of resemblance s
//! with probability 1 − (1 − s^r)^b.

use std::collections::BTreeMap;

use lookalike::hash;
use lookalike::methods::{Setting, Sketch};
use lookalike::model::Threshold;
use lookalike::report::Study;
use lookalike::report::study::{Grid, Lines, Plot, Point, Series, Value};
use lookalike::text::Profile;

use crate::collection::CollectionKind;
use crate::constructed;
use crate::experiments::{Experiment, ExperimentContext};
use crate::shares::{Share, axis, measured, theory, unit_axis};
use crate::sketches::{AnalysedTexts, Sketcher};
use crate::trial::LabError;

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E13",
    title: "How far estimates of resemblance are off, and how often bands propose a pair",
    source: "Broder 1997; bands: Indyk, Motwani 1998; one permutation: Li et al. 2012, Shrivastava 2017",
    data: Some(CollectionKind::News),
    run,
};

/// Words per shingle.
const SHINGLE: usize = 5;

/// Shingles of a made-up pair: a long one and a short one.
const UNIONS: [usize; 2] = [400, 40];

/// Hundredths of resemblance of made-up pairs; a whole number of shingles in both unions.
const RESEMBLANCES: [usize; 11] = [10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95];

/// Made-up pairs of each resemblance.
const PAIRS: usize = 600;

/// Bins of the collection's pairs, by tenths of resemblance.
const BINS: usize = 10;

/// Pairs of the collection in each bin.
const PAIRS_OF_BIN: usize = 300;

/// Bins of fewer pairs say too little.
const MIN_PAIRS: usize = 20;

/// Candidates that are looked at, at most, to fill the bins.
const CANDIDATES: usize = 300_000;

/// Shingles of a document by which candidates are found, and documents that may have one.
const PREFIX: usize = 24;
const MAX_GROUP: usize = 40;

/// The theory that predicts an estimate's error, by the kind of sketch.
#[derive(Debug, Clone, Copy)]
enum Theory {
    /// This number of independent minima.
    Minima(usize),
    /// This number of smallest fingerprints.
    Bottom(usize),
    /// One in this number of fingerprints.
    Mod(usize),
}

/// Estimators: a name, the method, and the theory.
const ESTIMATORS: [(&str, &str, Theory); 7] = [
    ("minhash classic, 84", "minhash:family=classic,values=84,bands=1,rows=1", Theory::Minima(84)),
    ("minhash fast, 84", "minhash:family=fast,values=84,bands=1,rows=1", Theory::Minima(84)),
    ("minhash classic, 200", "minhash:family=classic,values=200,bands=1,rows=1", Theory::Minima(200)),
    ("minhash fast, 200", "minhash:family=fast,values=200,bands=1,rows=1", Theory::Minima(200)),
    ("bottom, s = 84", "bottom:s=84,keys=1", Theory::Bottom(84)),
    ("bottom, s = 200", "bottom:s=200,keys=1", Theory::Bottom(200)),
    ("mod, m = 25", "mod:m=25", Theory::Mod(25)),
];

/// Estimators in the picture.
const SHOWN: [usize; 4] = [2, 3, 5, 6];

/// Bands and rows.
const BANDS: [(usize, usize); 3] = [(20, 5), (6, 14), (14, 6)];

/// Families of minima that bands are made of.
const FAMILIES: [&str; 2] = ["classic", "fast"];

impl Theory {
    /// The expected square of the error for a pair that shares `shared` of `union` shingles.
    fn variance(self, shared: usize, union: usize) -> f64 {
        let (whole, p) = (union as f64, shared as f64 / union as f64);
        // Of a sample of so many without putting back.
        let sampled = |size: f64| p * (1.0 - p) / size * ((whole - size) / (whole - 1.0).max(1.0)).max(0.0);
        match self {
            Theory::Minima(values) => p * (1.0 - p) / values as f64,
            Theory::Bottom(size) => sampled(size.min(union) as f64),
            Theory::Mod(m) => {
                let keep = 1.0 / m as f64;
                // From no fingerprint kept to all; the first makes no estimate.
                let mut chance = (1.0 - keep).powi(union as i32);
                let some = 1.0 - chance;
                let mut sum = 0.0;
                for size in 1..=union {
                    chance *= (union - size + 1) as f64 / size as f64 * keep / (1.0 - keep);
                    sum += chance * sampled(size as f64);
                }
                sum / some
            }
        }
    }
}

/// 1 − (1 − s^r)^b.
fn expected(resemblance: f64, (bands, rows): (usize, usize)) -> f64 {
    1.0 - (1.0 - resemblance.powi(rows as i32)).powi(bands as i32)
}

/// Two texts by number, and what they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    a: usize,
    b: usize,
    shared: usize,
    union: usize,
}

impl Pair {
    fn resemblance(&self) -> f64 {
        self.shared as f64 / self.union as f64
    }
}

/// The errors of an estimator on some pairs.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Errors {
    estimates: u64,
    /// Pairs without an estimate.
    none: u64,
    sum: f64,
    squares: f64,
    /// The sum of expected squares.
    expected: f64,
}

impl Errors {
    fn mean(&self, sum: f64) -> Option<f64> {
        (self.estimates > 0).then(|| sum / self.estimates as f64)
    }

    fn bias(&self) -> Option<f64> {
        self.mean(self.sum)
    }

    fn root(&self) -> Option<f64> {
        self.mean(self.squares).map(f64::sqrt)
    }

    fn theory(&self) -> Option<f64> {
        self.mean(self.expected).map(f64::sqrt)
    }

    /// The standard error of the bias.
    fn bias_error(&self) -> Option<f64> {
        let variance = self.mean(self.squares)? - self.bias()?.powi(2);
        Some((variance.max(0.0) / self.estimates as f64).sqrt())
    }
}

/// All that was measured on pairs of about one resemblance.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    pairs: usize,
    resemblance: f64,
    errors: [Errors; ESTIMATORS.len()],
    /// Pairs that bands propose, by family and design, and how many should be.
    proposed: [[(Share, f64); BANDS.len()]; FAMILIES.len()],
}

/// The methods that are tested, made once.
struct TestedMethods {
    estimators: Vec<Sketcher>,
    bands: Vec<Vec<Sketcher>>,
}

impl TestedMethods {
    fn new(seed: u64) -> Result<Self, LabError> {
        let setting = Setting { threshold: Threshold::LOWEST, shingle: SHINGLE, seed, ..Setting::default() };
        let make = |text: &str| Sketcher::new(text, &setting, &Profile::web());
        let estimators = ESTIMATORS.iter().map(|(_, text, _)| make(text)).collect::<Result<_, _>>()?;
        let banded = |family: &&str| {
            let text = |(bands, rows): &(usize, usize)| {
                format!("minhash:family={family},values={},bands={bands},rows={rows}", bands * rows)
            };
            BANDS.iter().map(|design| make(&text(design))).collect::<Result<_, _>>()
        };
        Ok(TestedMethods { estimators, bands: FAMILIES.iter().map(banded).collect::<Result<_, _>>()? })
    }

    /// Measures everything on these pairs.
    fn measure(
        &self,
        analysed: &AnalysedTexts<'_>,
        pairs: &[Pair],
        context: &ExperimentContext<'_>,
    ) -> Result<Row, LabError> {
        let resemblance = pairs.iter().map(Pair::resemblance).sum::<f64>() / pairs.len().max(1) as f64;
        let mut row =
            Row { pairs: pairs.len(), resemblance, errors: Default::default(), proposed: Default::default() };
        let mut buffer = Sketch::default();
        for pair in pairs {
            context.watch.check()?;
            let mut both = |method: &Sketcher| {
                [pair.a, pair.b].map(|index| method.sketch(&analysed.page(index), &mut buffer))
            };
            for ((errors, method), (.., theory)) in
                row.errors.iter_mut().zip(&self.estimators).zip(ESTIMATORS)
            {
                let [a, b] = both(method);
                if a.keys.is_empty() && b.keys.is_empty() {
                    errors.none += 1;
                    continue;
                }
                let shared = method.shared(&a, &b).unwrap_or(0);
                let score = method.method().accept(&a.payload, &b.payload, shared);
                let error = score.map_or(0.0, |score| score.forward) - pair.resemblance();
                errors.estimates += 1;
                errors.sum += error;
                errors.squares += error * error;
                errors.expected += theory.variance(pair.shared, pair.union);
            }
            for (shares, methods) in row.proposed.iter_mut().zip(&self.bands) {
                for (((share, sum), method), design) in shares.iter_mut().zip(methods).zip(BANDS) {
                    let [a, b] = both(method);
                    share.count(method.shared(&a, &b).is_some());
                    *sum += expected(pair.resemblance(), design);
                }
            }
        }
        Ok(row)
    }
}

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let methods = TestedMethods::new(context.seed)?;
    let mut made = Vec::new();
    for union in UNIONS {
        for hundredths in RESEMBLANCES {
            made.push((union, constructed(&methods, union, hundredths, context)?));
        }
    }
    let collection = context.collection(CollectionKind::News)?;
    let items = collection.items(context.documents, context.seed, &[], context.watch)?;
    let texts = items.iter().map(|item| item.text.as_str());
    let analysed = AnalysedTexts::new(&Profile::web(), texts, context.watch)?;
    let mut found = Vec::new();
    for pairs in pairs_by_bin(&analysed, context)? {
        if pairs.len() >= MIN_PAIRS {
            found.push(methods.measure(&analysed, &pairs, context)?);
        }
    }
    let mut study = context.study(&EXPERIMENT, Some(&collection));
    study.fact("documents", items.len().to_string());
    study.fact("shingles", format!("of {SHINGLE} words"));
    report(&mut study, &made, &found);
    Ok(study)
}

/// Measures everything on made-up pairs of one resemblance.
fn constructed(
    methods: &TestedMethods,
    union: usize,
    hundredths: usize,
    context: &ExperimentContext<'_>,
) -> Result<Row, LabError> {
    let shared = union * hundredths / 100;
    let count = PAIRS.min(context.documents);
    let number = |pair: usize| (union * 100 + hundredths) as u64 * PAIRS as u64 + pair as u64;
    let texts: Vec<String> = (0..count)
        .flat_map(|pair| constructed::pair(context.seed, number(pair), union, shared, SHINGLE))
        .collect();
    let analysed = AnalysedTexts::new(&Profile::web(), texts.iter().map(String::as_str), context.watch)?;
    let pairs: Vec<Pair> =
        (0..count).map(|pair| Pair { a: 2 * pair, b: 2 * pair + 1, shared, union }).collect();
    methods.measure(&analysed, &pairs, context)
}

/// Pairs of the collection by tenths of resemblance, at random and at most `PAIRS_OF_BIN` of each. Those that share none of
/// some shingles of each document, chosen by another hash function than those of the estimators, are not among them.
fn pairs_by_bin(
    analysed: &AnalysedTexts<'_>,
    context: &ExperimentContext<'_>,
) -> Result<Vec<Vec<Pair>>, LabError> {
    let mut groups: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    let mut sets = Vec::with_capacity(analysed.len());
    for (index, page) in analysed.pages().enumerate() {
        context.watch.check()?;
        let mut set = Vec::new();
        page.shingles(SHINGLE, &mut set);
        let mut prefix: Vec<u64> =
            set.iter().map(|&shingle| hash::nth(13, shingle ^ hash::mix(context.seed))).collect();
        prefix.sort_unstable();
        prefix.iter().take(PREFIX).for_each(|&value| groups.entry(value).or_default().push(index as u32));
        sets.push(set);
    }
    let mut candidates = Vec::new();
    for group in groups.values().filter(|group| group.len() <= MAX_GROUP) {
        let pairs =
            group.iter().enumerate().flat_map(|(place, &b)| group[..place].iter().map(move |&a| (a, b)));
        candidates.extend(pairs.map(|(a, b)| {
            let sampling_key = hash::nth(u64::from(a) << 32 | u64::from(b), hash::mix(context.seed));
            (sampling_key, a, b)
        }));
        if candidates.len() > 4 * CANDIDATES {
            dedup_and_truncate(&mut candidates);
        }
    }
    dedup_and_truncate(&mut candidates);
    let mut bins = vec![Vec::new(); BINS];
    for (_, a, b) in candidates {
        context.watch.check()?;
        let pair = compare(&sets, a as usize, b as usize);
        // Equal documents have no error.
        if pair.shared == pair.union {
            continue;
        }
        let bin = &mut bins[pair.shared * BINS / pair.union];
        if bin.len() < PAIRS_OF_BIN {
            bin.push(pair);
        }
    }
    Ok(bins)
}

/// Leaves each candidate once, and of too many those with the smallest sampling keys.
fn dedup_and_truncate(candidates: &mut Vec<(u64, u32, u32)>) {
    candidates.sort_unstable();
    candidates.dedup();
    candidates.truncate(CANDIDATES);
}

fn compare(sets: &[Vec<u64>], a: usize, b: usize) -> Pair {
    let (one, two) = (&sets[a], &sets[b]);
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < one.len() && j < two.len() {
        shared += usize::from(one[i] == two[j]);
        let (first, second) = (one[i], two[j]);
        i += usize::from(first <= second);
        j += usize::from(second <= first);
    }
    Pair { a, b, shared, union: one.len() + two.len() - shared }
}

fn report(study: &mut Study, made: &[(usize, Row)], found: &[Row]) {
    let long = |place: usize| {
        made.iter().filter(|(union, _)| *union == UNIONS[0]).map(move |(_, row)| row.errors[place])
    };
    let worst = |place: usize| {
        let ratios = long(place).filter_map(|errors| Some(errors.root()? / errors.theory()?));
        ratios.filter(|ratio| ratio.is_finite()).fold(0.0, f64::max)
    };
    let ratios_by_name: Vec<String> =
        (0..).zip(ESTIMATORS).map(|(place, (name, ..))| format!("{name}: {:.2}", worst(place))).collect();
    study.lead = format!(
        "Root mean square errors on made-up pairs of {} shingles are at most so many times what theory says: {}.",
        UNIONS[0],
        ratios_by_name.join("; ")
    );
    study.heading("Errors of estimates");
    study.table(errors_table("Made-up pairs", made.iter().map(|(union, row)| (Some(*union), row))));
    study.table(errors_table("Pairs of the collection, by tenths", found.iter().map(|row| (None, row))));
    study.plot(errors_plot(made));
    study.heading("Pairs that bands propose");
    study.table(bands_table("Made-up pairs", made.iter().map(|(union, row)| (Some(*union), row))));
    study.table(bands_table("Pairs of the collection, by tenths", found.iter().map(|row| (None, row))));
    study.plot(bands_plot(made));
    if found.is_empty() {
        study.notes.push(
            "The collection has too few pairs of any resemblance between 0 and 1 to measure on.".to_owned(),
        );
    }
    study.notes.push(format!(
        "Theory is reckoned for each pair: sqrt(J(1-J)/k) for k minima, the same with the factor (U-n)/(U-1) for a sample of n \
         out of U shingles without putting back, and its mean over the sample sizes that occur for mod. Pairs of which mod \
         keeps nothing have no estimate. Bins of fewer than {MIN_PAIRS} pairs of the collection are left \
         out; its pairs may share templates, and then their errors are not independent."
    ));
}

fn errors_table<'r>(name: &str, rows: impl Iterator<Item = (Option<usize>, &'r Row)>) -> Grid {
    let heads = [
        "estimator",
        "shingles of a pair",
        "resemblance",
        "estimates",
        "none",
        "bias",
        "its error",
        "RMSE",
        "theory",
    ];
    let mut grid = Grid::new(name, heads);
    let rows: Vec<_> = rows.collect();
    for (place, (estimator, ..)) in (0..).zip(ESTIMATORS) {
        for (union, row) in &rows {
            let errors: Errors = row.errors[place];
            grid.row([
                Value::from(estimator),
                union.map(|union| union as u64).into(),
                Value::Number(row.resemblance),
                Value::Count(errors.estimates),
                Value::Count(errors.none),
                errors.bias().into(),
                errors.bias_error().into(),
                errors.root().into(),
                errors.theory().into(),
            ]);
        }
    }
    grid
}

fn bands_table<'r>(name: &str, rows: impl Iterator<Item = (Option<usize>, &'r Row)>) -> Grid {
    let heads = [
        "bands x rows",
        "minima",
        "shingles of a pair",
        "resemblance",
        "pairs",
        "proposed",
        "95 %",
        "theory",
    ];
    let mut grid = Grid::new(name, heads);
    let rows: Vec<_> = rows.collect();
    for (design, (bands, values)) in (0..).zip(BANDS) {
        for (family, name) in (0..).zip(FAMILIES) {
            for (union, row) in &rows {
                let (share, sum): (Share, f64) = row.proposed[family][design];
                grid.row([
                    Value::from(format!("{bands} x {values}")),
                    Value::from(name),
                    union.map(|union| union as u64).into(),
                    Value::Number(row.resemblance),
                    Value::Count(share.whole),
                    share.cell(),
                    share.interval_cell(),
                    Value::from(sum / share.whole as f64),
                ]);
            }
        }
    }
    grid
}

fn errors_plot(made: &[(usize, Row)]) -> Plot {
    let long = || made.iter().filter(|(union, _)| *union == UNIONS[0]).map(|(_, row)| row);
    let lines = SHOWN.iter().flat_map(|&place| {
        let (name, ..) = ESTIMATORS[place];
        let roots = long().filter_map(|row| {
            let root = row.errors[place].root()?;
            // The standard error of a root mean square of so many normal errors.
            let error = 1.96 * root / (2.0 * row.errors[place].estimates as f64).sqrt();
            Some(Point { x: row.resemblance, y: root, interval: Some((root - error, root + error)) })
        });
        let reckoned = long().filter_map(|row| Some((row.resemblance, row.errors[place].theory()?)));
        let lines = [measured(name, roots), theory(format!("{name}, theory"), reckoned)];
        // Both families of minima have one theory.
        lines.into_iter().filter(move |line| place != SHOWN[1] || line.name == name).collect::<Vec<Series>>()
    });
    Plot::Lines(Lines {
        name: format!("Root mean square error by resemblance, pairs of {} shingles", UNIONS[0]),
        x: unit_axis("resemblance"),
        y: axis("root mean square error"),
        series: lines.collect(),
    })
}

fn bands_plot(made: &[(usize, Row)]) -> Plot {
    let lines = (0..).zip(BANDS).flat_map(|(design, (bands, rows))| {
        let name = format!("{bands} x {rows}");
        let long = made.iter().filter(|(union, _)| *union == UNIONS[0]);
        let points = long.filter_map(|(_, row)| row.proposed[0][design].0.point(row.resemblance));
        let steps = (0..=50).map(|step| f64::from(step) / 50.0);
        let curve = steps.map(|s| (s, expected(s, (bands, rows))));
        [measured(name.clone(), points.collect::<Vec<_>>()), theory(format!("{name}, theory"), curve)]
    });
    Plot::Lines(Lines {
        name: "Pairs proposed by resemblance: bands x rows of classic minima".to_owned(),
        x: unit_axis("resemblance"),
        y: unit_axis("share of pairs proposed"),
        series: lines.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketches::testing;
    use lookalike::report::study::Block;
    use lookalike::walk::Watch;

    #[test]
    fn bands_propose_as_published() {
        for (bands, published) in [
            ((20, 5), [0.0064, 0.1860, 0.4701, 0.8019, 0.9748, 0.9996, 1.0]),
            ((6, 14), [0.0, 0.0, 0.0004, 0.0047, 0.0400, 0.2365, 0.7896]),
            ((14, 6), [0.0009, 0.0558, 0.1979, 0.4877, 0.8266, 0.9858, 1.0]),
        ] {
            for (resemblance, value) in [0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].into_iter().zip(published) {
                assert!((expected(resemblance, bands) - value).abs() < 6e-5, "{bands:?} {resemblance}");
            }
        }
    }

    #[test]
    fn variances_are_those_of_samples() {
        let root = |theory: Theory, shared, union| theory.variance(shared, union).sqrt();
        assert!((root(Theory::Minima(84), 50, 100) - 0.0546).abs() < 5e-5);
        assert!((root(Theory::Minima(200), 90, 100) - 0.0212).abs() < 5e-5);
        // All of them are no sample, and one of two is half of the time wrong by a half.
        assert_eq!(root(Theory::Bottom(200), 30, 40), 0.0);
        assert!((root(Theory::Bottom(1), 1, 2) - 0.5).abs() < 1e-12);
        // Two shingles, one shared, one in two kept: one is kept in two of three cases that count.
        assert!((Theory::Mod(2).variance(1, 2) - 0.25 * 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn pairs_of_a_collection_are_found_and_measured() {
        let watch = Watch::default();
        let mut texts = testing::texts(40, 80);
        let edited: Vec<String> = texts.iter().map(|text| text.replacen("word", "other", 3)).collect();
        texts.extend(edited);
        let context = testing::context(&texts, &watch);
        let analysed = AnalysedTexts::new(&Profile::web(), texts.iter().map(String::as_str), &watch).unwrap();
        let bins = pairs_by_bin(&analysed, &context).unwrap();
        let all: Vec<&Pair> = bins.iter().flatten().collect();
        for (number, (a, b)) in (0..40).map(|a| (a, a + 40)).enumerate() {
            let pair =
                all.iter().find(|pair| (pair.a, pair.b) == (a, b)).unwrap_or_else(|| panic!("{number}"));
            let (mut one, mut two) = (Vec::new(), Vec::new());
            analysed.page(a).shingles(SHINGLE, &mut one);
            analysed.page(b).shingles(SHINGLE, &mut two);
            let shared = one.iter().filter(|value| two.contains(value)).count();
            assert_eq!((pair.shared, pair.union), (shared, one.len() + two.len() - shared));
        }
        for (tenth, bin) in bins.iter().enumerate() {
            assert!(bin.iter().all(|pair| (10.0 * pair.resemblance()) as usize == tenth), "{tenth}");
        }
    }

    #[test]
    fn errors_are_about_what_theory_says() {
        let watch = Watch::default();
        let mut texts = testing::texts(30, 80);
        texts.extend(testing::texts(30, 80).iter().map(|text| text.replacen("word", "other", 3)));
        let context = ExperimentContext { documents: 60, ..testing::context(&texts, &watch) };
        let study = run(&context).unwrap();
        assert_eq!(study, run(&context).unwrap());
        let tables: Vec<&Grid> = study
            .blocks
            .iter()
            .filter_map(|block| if let Block::Table(grid) = block { Some(grid) } else { None })
            .collect();
        assert_eq!(
            (tables.len(), tables[0].rows.len()),
            (4, ESTIMATORS.len() * UNIONS.len() * RESEMBLANCES.len())
        );
        assert!(!tables[1].rows.is_empty());
        for row in tables[0].rows.iter().filter(|row| row[1] == Value::Count(400)) {
            let [Value::Number(root), Value::Number(theory)] = [&row[7], &row[8]] else { panic!("{row:?}") };
            // 60 estimates: a relative error of 9 % is one standard error.
            assert!((0.6..1.5).contains(&(root / theory)), "{row:?}");
        }
    }
}

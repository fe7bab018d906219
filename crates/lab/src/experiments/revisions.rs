//! E7: SimHash on revisions of pages. The newest revision of each page is compared with its older ones.

use std::collections::{BTreeMap, BTreeSet};

use lookalike::engine::document_copy::DocumentCopy;
use lookalike::engine::measure::Measure;
use lookalike::engine::pair_measurer::PairMeasurer;
use lookalike::methods::{Page, Setting, Sketch, method};
use lookalike::model::{Similarity, Threshold};
use lookalike::report::study::{Axis, Bars, Grid, Lines, Origin, Plot, Point, Series, Value};
use lookalike::report::{Study, thousands};
use lookalike::text::{Analyser, Features, Profile};

use super::{Experiment, ExperimentContext};
use crate::collection::{Collection, CollectionKind};
use crate::error::LabError;
use crate::interval::wilson;
use crate::published::REVISIONS;
use crate::trial::{Configuration, MethodSetting, TrialRunner};

/// SimHash by k, and over the cosine threshold against other methods.
pub(crate) static E7: Experiment = Experiment {
    id: "E7",
    title: "SimHash on revisions: precision and recall by k, and over the cosine threshold against other methods",
    source: "thesis, Weimar 2014, table 3.1 and figure 3.3, after Potthast, Stein 2008",
    data: Some(CollectionKind::Revisions),
    run,
};

/// Sets of n-gram lengths.
const LENGTHS: [&str; 6] = ["1", "2", "3", "5", "2+3", "3+5"];
/// Most bits that may differ.
const MAX_BITS: u32 = 10;
/// Bits of the published table.
const BITS: [u32; 3] = [1, 3, 5];
/// Methods that SimHash is held against.
const OTHERS: [&str; 8] = ["minhash", "supershingles", "imatch", "a0", "a1", "a4", "a8", "a12"];

/// A comparison of a page's newest revision with an older one.
#[derive(Debug, Clone, Default)]
struct RevisionPair {
    pair: (u32, u32),
    /// Jaccard of the sets of words.
    jaccard: f64,
    /// Cosine of the counts of words.
    cosine: f64,
    /// Bits that differ, by set of lengths.
    bits: [u32; LENGTHS.len()],
}

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let collection = context.collection(CollectionKind::Revisions)?;
    let mut study = context.study(&E7, Some(&collection));
    let folder = context.folder.join(format!("{}-by-page", collection.name));
    let fields = &["page", "revno"];
    let documents = DocumentCopy::open_or_create(
        &folder,
        collection.source(),
        fields,
        ("all", &mut |_, _, _| true),
        context.watch,
    )?;
    let mut compared = pairs(&documents, &collection)?;
    measure(context, &documents, &mut compared)?;
    fingerprint(context, &documents, &mut compared)?;
    study.fact("revisions", thousands(documents.len() as u64));
    study.fact("comparisons", thousands(compared.len() as u64));
    by_bits(&mut study, &compared);
    let runner = context.trial_runner(&documents, &folder);
    over_cosine(context, &runner, &mut study, &compared)?;
    study.plot(histogram(&compared));
    study.lead = lead(&compared);
    Ok(study)
}

/// The newest revision of each page with each older one.
fn pairs(documents: &DocumentCopy, collection: &Collection) -> Result<Vec<RevisionPair>, LabError> {
    let mut pages: BTreeMap<String, Vec<(u64, u32)>> = BTreeMap::new();
    for document in 0..documents.len() as u32 {
        let mut extras = documents.line(document)?.extras.into_iter();
        if let (Some(Some(page)), Some(Some(revision))) = (extras.next(), extras.next())
            && let Ok(revision) = revision.parse()
        {
            pages.entry(page).or_default().push((revision, document));
        }
    }
    let mut compared = Vec::new();
    for revisions in pages.values() {
        let Some(&(_, newest)) = revisions.iter().max() else { continue };
        let older = revisions.iter().map(|&(_, document)| document).filter(|&document| document != newest);
        compared.extend(
            older.map(|old| RevisionPair {
                pair: (old.min(newest), old.max(newest)),
                ..RevisionPair::default()
            }),
        );
    }
    if compared.is_empty() {
        return Err(LabError::Request(format!(
            "revisions are told by the fields page and revno (a whole number), and no page of {} has two; name another corpus",
            collection.name
        )));
    }
    compared.sort_by_key(|compared| compared.pair);
    Ok(compared)
}

/// Jaccard of sets of words and cosine of counts, by the thesis's words.
fn measure(
    context: &ExperimentContext<'_>,
    documents: &DocumentCopy,
    compared: &mut [RevisionPair],
) -> Result<(), LabError> {
    let by = |similarity,
              put: fn(&mut RevisionPair, f64),
              compared: &mut [RevisionPair]|
     -> Result<(), LabError> {
        let measure = Measure { similarity, threshold: Threshold::LOWEST, shingle: 1 };
        let measurer = PairMeasurer::new(documents, measure, &Profile::thesis(), context.settings.memory);
        let pairs: Vec<_> = compared.iter().map(|compared| Ok(compared.pair)).collect();
        let mut places = compared.iter_mut();
        measurer.measure(pairs, context.watch, |_, measured| {
            if let (Some(compared), Some(measured)) = (places.next(), measured) {
                put(compared, measured.forward);
            }
            Ok(())
        })
    };
    by(Similarity::Jaccard, |compared, value| compared.jaccard = value, compared)?;
    by(Similarity::CosineTf, |compared, value| compared.cosine = value, compared)
}

/// Bits in which the fingerprints of each comparison differ.
fn fingerprint(
    context: &ExperimentContext<'_>,
    documents: &DocumentCopy,
    compared: &mut [RevisionPair],
) -> Result<(), LabError> {
    let wanted: BTreeSet<u32> =
        compared.iter().flat_map(|compared| [compared.pair.0, compared.pair.1]).collect();
    let mut analyser = Analyser::new(&Profile::thesis());
    let (mut features, mut sketch) = (Features::default(), Sketch::default());
    let setting = Setting { seed: context.seed, ..Setting::default() };
    let methods = LENGTHS
        .iter()
        .map(|lengths| method(&format!("simhash:f=64,n={lengths},k=3"), &setting))
        .collect::<Result<Vec<_>, _>>()?;
    let mut prints: BTreeMap<u32, [u64; LENGTHS.len()]> = BTreeMap::new();
    for document in wanted {
        context.watch.check()?;
        let line = documents.line(document)?;
        analyser.read(&line.text, &mut features);
        let mut all = [0; LENGTHS.len()];
        for (method, print) in methods.iter().zip(&mut all) {
            method.sketch(&Page { text: &line.text, features: &features }, &mut sketch);
            *print = sketch.payload.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        }
        prints.insert(document, all);
    }
    for compared in compared {
        let (a, b) = (prints[&compared.pair.0], prints[&compared.pair.1]);
        for (at, bits) in compared.bits.iter_mut().enumerate() {
            *bits = (a[at] ^ b[at]).count_ones();
        }
    }
    Ok(())
}

/// Numbers of pairs that were retrieved, that are relevant, and that are both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tally {
    retrieved: u64,
    relevant: u64,
    both: u64,
}

impl Tally {
    fn of<'c>(
        compared: impl IntoIterator<Item = &'c RevisionPair>,
        retrieved: impl Fn(&RevisionPair) -> bool,
        relevant: impl Fn(&RevisionPair) -> bool,
    ) -> Self {
        let mut tally = Tally::default();
        for compared in compared {
            let (retrieved, relevant) = (retrieved(compared), relevant(compared));
            tally.retrieved += u64::from(retrieved);
            tally.relevant += u64::from(relevant);
            tally.both += u64::from(retrieved && relevant);
        }
        tally
    }

    fn precision(&self) -> Option<f64> {
        (self.retrieved > 0).then(|| self.both as f64 / self.retrieved as f64)
    }

    fn recall(&self) -> Option<f64> {
        (self.relevant > 0).then(|| self.both as f64 / self.relevant as f64)
    }
}

/// Relevant as in table 3.1.
fn near(compared: &RevisionPair) -> bool {
    compared.jaccard >= 0.9 - 1e-12
}

fn at_most(lengths: usize, bits: u32) -> impl Fn(&RevisionPair) -> bool {
    move |compared| compared.bits[lengths] <= bits
}

fn by_bits(study: &mut Study, compared: &[RevisionPair]) {
    let mut grid = Grid::new(
        "Table 3.1: SimHash of 64 bits, relevant = Jaccard of the sets of words of at least 0.9",
        [
            "n-grams and k",
            "retrieved",
            "precision",
            "95 %",
            "recall",
            "95 %",
            "precision, published",
            "recall, published",
        ],
    );
    for (lengths, name) in LENGTHS.iter().enumerate() {
        for bits in BITS {
            let tally = Tally::of(compared, at_most(lengths, bits), near);
            let published = REVISIONS.iter().find(|(known, ..)| *known == bits && lengths == 0);
            grid.row([
                format!("n = {name}, k = {bits}").into(),
                tally.retrieved.into(),
                tally.precision().into(),
                wilson(tally.both, tally.retrieved).into(),
                tally.recall().into(),
                wilson(tally.both, tally.relevant).into(),
                published.map(|line| line.1).into(),
                published.map(|line| line.2).into(),
            ]);
        }
    }
    study.table(grid);
    study.text(
        "Published: 1.2 million comparisons of Wikipedia revisions; the thesis does not say which n-grams. Its figures stand \
         beside single words. Intervals take comparisons as independent, though those of one page are not.",
    );
    let curve = |name: &str, of: fn(&Tally) -> Option<f64>| Series {
        name: name.to_owned(),
        origin: Origin::Measured,
        points: (0..=MAX_BITS)
            .filter_map(|bits| {
                Some(Point::new(bits.into(), of(&Tally::of(compared, at_most(0, bits), near))?))
            })
            .collect(),
    };
    let published = |name: &str, of: fn(&(u32, f64, f64)) -> f64| Series {
        name: name.to_owned(),
        origin: Origin::Published,
        points: REVISIONS.iter().map(|line| Point::new(line.0.into(), of(line))).collect(),
    };
    study.plot(Plot::Lines(Lines {
        name: "Precision and recall by k (table 3.1), single words".to_owned(),
        x: Axis {
            name: "bits that may differ, k".to_owned(),
            range: Some((0.0, MAX_BITS.into())),
            logarithmic: false,
        },
        y: Axis { name: "precision, recall".to_owned(), range: Some((0.0, 1.0)), logarithmic: false },
        series: vec![
            curve("precision", Tally::precision),
            curve("recall", Tally::recall),
            published("precision, published", |line| line.1),
            published("recall, published", |line| line.2),
        ],
    }));
}

/// Precision and recall of SimHash and of other methods when relevance is a cosine of at least c.
fn over_cosine(
    context: &ExperimentContext<'_>,
    runner: &TrialRunner<'_>,
    study: &mut Study,
    compared: &[RevisionPair],
) -> Result<(), LabError> {
    let mut found: Vec<(String, BTreeSet<(u32, u32)>)> = Vec::new();
    for bits in BITS {
        let pairs =
            compared.iter().filter(|compared| at_most(0, bits)(compared)).map(|compared| compared.pair);
        found.push((format!("simhash k={bits}"), pairs.collect()));
    }
    let wanted: BTreeSet<(u32, u32)> = compared.iter().map(|compared| compared.pair).collect();
    let measure = Measure { similarity: Similarity::Jaccard, threshold: Threshold::default(), shingle: 5 };
    let method_setting = MethodSetting::new(measure, Profile::web());
    for name in OTHERS {
        let trial = runner.run(&Configuration::single(name), &method_setting, context.watch)?;
        let mut pairs = BTreeSet::new();
        for pair in trial.pairs()? {
            let pair = pair?;
            pairs.extend(Some((pair.a, pair.b)).filter(|pair| wanted.contains(pair)));
        }
        found.push((name.to_owned(), pairs));
    }
    // Most revisions are close; so steps are finer near 1.
    let coarse = (0..18).map(|step| 0.5 + f64::from(step) * 0.025);
    let steps: Vec<f64> = coarse.chain((0..=10).map(|step| 0.95 + f64::from(step) * 0.005)).collect();
    let tally = |pairs: &BTreeSet<(u32, u32)>, c: f64| {
        Tally::of(
            compared,
            |compared| pairs.contains(&compared.pair),
            |compared| compared.cosine >= c - 1e-12,
        )
    };
    for (what, of) in
        [("precision", Tally::precision as fn(&Tally) -> Option<f64>), ("recall", Tally::recall)]
    {
        let series = found.iter().map(|(name, pairs)| Series {
            name: name.clone(),
            origin: Origin::Measured,
            points: steps.iter().filter_map(|&c| Some(Point::new(c, of(&tally(pairs, c))?))).collect(),
        });
        study.plot(Plot::Lines(Lines {
            name: format!("Figure 3.3: {what} when relevant is a cosine of at least c"),
            x: Axis {
                name: "relevant from a cosine of c".to_owned(),
                range: Some((0.5, 1.0)),
                logarithmic: false,
            },
            y: Axis { name: what.to_owned(), range: Some((0.0, 1.0)), logarithmic: false },
            series: series.collect(),
        }));
    }
    let mut grid = Grid::new(
        "Figure 3.3 at three thresholds",
        ["method", "retrieved", "P at 0.8", "R at 0.8", "P at 0.9", "R at 0.9", "P at 0.99", "R at 0.99"],
    );
    for (name, pairs) in &found {
        let mut row: Vec<Value> = vec![name.as_str().into(), (pairs.len() as u64).into()];
        for c in [0.8, 0.9, 0.99] {
            let tally = tally(pairs, c);
            row.extend([tally.precision().into(), tally.recall().into()]);
        }
        grid.row(row);
    }
    study.table(grid);
    study.text("Published: figure 3.3 has no numbers; the thesis calls precision very high.");
    Ok(())
}

fn histogram(compared: &[RevisionPair]) -> Plot {
    let count = |of: fn(&RevisionPair) -> f64| {
        let mut bins = vec![0u64; 10];
        compared.iter().for_each(|compared| bins[((of(compared) * 10.0) as usize).min(9)] += 1);
        bins
    };
    Plot::Bars(Bars {
        name: "Comparisons by similarity".to_owned(),
        x: "similarity, from".to_owned(),
        y: "comparisons".to_owned(),
        bins: (0..10).map(|bin| format!("{:.1}", f64::from(bin) / 10.0)).collect(),
        series: vec![
            ("Jaccard of sets of words".to_owned(), count(|compared| compared.jaccard)),
            ("cosine of counts".to_owned(), count(|compared| compared.cosine)),
        ],
        logarithmic: false,
    })
}

fn lead(compared: &[RevisionPair]) -> String {
    let one = |bits: u32| {
        let tally = Tally::of(compared, at_most(0, bits), near);
        let shown = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.2}"));
        format!("k = {bits}: {}/{}", shown(tally.precision()), shown(tally.recall()))
    };
    let published: Vec<String> = REVISIONS
        .iter()
        .map(|(bits, precision, recall)| format!("k = {bits}: {precision:.2}/{recall:.2}"))
        .collect();
    format!(
        "Precision and recall of SimHash on single words are {}; published {}.",
        BITS.map(one).join(", "),
        published.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_and_recall_are_counted() {
        let with =
            |jaccard, bits| RevisionPair { jaccard, bits: [bits; LENGTHS.len()], ..RevisionPair::default() };
        let compared = [with(0.95, 0), with(0.95, 4), with(0.5, 1), with(0.9, 2)];
        let tally = Tally::of(&compared, at_most(0, 3), near);
        assert_eq!(tally, Tally { retrieved: 3, relevant: 3, both: 2 });
        assert_eq!(Tally::default().precision(), None);
    }
}

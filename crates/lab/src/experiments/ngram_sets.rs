//! E21: which n-grams SimHash should vote by.
//!
//! The thesis (Weimar 2014) ran n-grams of 2, 3 and 5 words and the sets 2+3 and 3+5 over ClueWeb12, found that combined
//! lengths propose far fewer pairs and lose few near-duplicates, and left 1-grams out as too noisy, stop words or not.
//! Their number of pairs within k bits differs so much that recall at one k compares little. Here recall is laid over the
//! number of candidates, with every pair of documents measured: relevant are those whose sets of words have a Jaccard
//! similarity of 0.9 or more.

use std::collections::{BTreeSet, HashMap};

use lookalike::hash::Secret;
use lookalike::methods::{Setting, Sketch};
use lookalike::model::Threshold;
use lookalike::report::Study;
use lookalike::report::study::{Grid, Lines, Plot, Value};
use lookalike::text::{Profile, stop};

use crate::collection::CollectionKind;
use crate::experiments::{Experiment, ExperimentContext};
use crate::shares::{Share, logarithmic, measured, unit_axis};
use crate::sketches::{AnalysedTexts, Sketcher};
use crate::trial::LabError;

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E21",
    title: "Which n-grams SimHash should vote by: recall at equal numbers of candidates",
    source: "thesis, Weimar 2014, table 3.1 and chapter 5",
    data: Some(CollectionKind::News),
    run,
};

/// Documents that are compared, all with all.
const DOCUMENTS: usize = 20_000;

/// The most bits that differ in tables and the picture.
const MAX_DISTANCE: usize = 10;

/// Distances that there are.
const DISTANCES: usize = 65;

/// Sets of n-grams: a name, the lengths, and whether function words are left out.
const SETS: [(&str, &str, bool); 7] = [
    ("1", "1", false),
    ("1, no stop words", "1", true),
    ("2", "2", false),
    ("3", "3", false),
    ("5", "5", false),
    ("2+3", "2+3", false),
    ("3+5", "3+5", false),
];

/// Numbers of candidates at which sets are compared, as multiples of the number of relevant pairs.
const BUDGETS: [f64; 6] = [0.5, 1.0, 2.0, 5.0, 10.0, 50.0];

/// The budget that the first sentence tells of.
const LEAD_BUDGET: usize = 2;

/// Table 3.1 of the thesis: k, precision, recall.
const PUBLISHED: [(usize, f64, f64); 3] = [(1, 0.78, 0.63), (3, 0.54, 0.81), (5, 0.38, 0.92)];

/// Pairs by distance.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Distances {
    /// All pairs.
    all: [u64; DISTANCES],
    /// Relevant ones.
    relevant: [u64; DISTANCES],
    /// All relevant pairs, at whatever distance.
    total: u64,
}

impl Distances {
    fn new(total: usize) -> Self {
        Distances { all: [0; DISTANCES], relevant: [0; DISTANCES], total: total as u64 }
    }

    fn up_to(counts: &[u64; DISTANCES], k: usize) -> u64 {
        counts[..=k].iter().sum()
    }

    fn candidates(&self, k: usize) -> u64 {
        Distances::up_to(&self.all, k)
    }

    fn recall(&self, k: usize) -> Share {
        Share { part: Distances::up_to(&self.relevant, k), whole: self.total }
    }

    fn precision(&self, k: usize) -> Share {
        Share { part: Distances::up_to(&self.relevant, k), whole: self.candidates(k) }
    }

    /// Returns the recall if `budget` pairs are taken, nearest first and at random among equally near ones; none where there
    /// are fewer.
    fn recall_of(&self, budget: f64) -> Option<f64> {
        let (mut left, mut found) = (budget, 0.0);
        for (all, relevant) in self.all.iter().zip(self.relevant) {
            let part = if *all == 0 { 1.0 } else { (left / *all as f64).min(1.0) };
            found += part * relevant as f64;
            left -= part * *all as f64;
            if left <= 0.0 {
                return (self.total > 0).then(|| found / self.total as f64);
            }
        }
        None
    }
}

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let collection = context.collection(CollectionKind::News)?;
    let items = collection.items(context.documents.min(DOCUMENTS), context.seed, &[], context.watch)?;
    let profile = Profile::thesis();
    let all = AnalysedTexts::new(&profile, items.iter().map(|item| item.text.as_str()), context.watch)?;
    let kept = distinct_documents(&all);
    let texts = || kept.iter().map(|&place| items[place].text.as_str());
    drop(all);
    let analysed = AnalysedTexts::new(&profile, texts(), context.watch)?;
    let relevant = relevant(&analysed, context)?;
    let without = Profile { stop: stop::LANGUAGES.to_vec(), ..profile };
    let thinned = AnalysedTexts::new(&without, texts(), context.watch)?;
    let mut results = Vec::new();
    for (name, lengths, stopped) in SETS {
        let fingerprints = fingerprints(if stopped { &thinned } else { &analysed }, lengths, context)?;
        results.push((name, distances(&fingerprints, &relevant, context)?));
    }
    let mut study = context.study(&EXPERIMENT, Some(&collection));
    study.fact("documents", items.len().to_string());
    study.fact("different documents", kept.len().to_string());
    study.fact("relevant pairs", relevant.len().to_string());
    report(&mut study, &results);
    Ok(study)
}

/// The first of equal documents, by places.
fn distinct_documents(analysed: &AnalysedTexts<'_>) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let is_first = |&place: &usize| {
        let page = analysed.page(place);
        !page.is_empty() && seen.insert(page.digest(Secret::of_process()))
    };
    (0..analysed.len()).filter(is_first).collect()
}

/// All pairs whose sets of words have a Jaccard similarity of 0.9 or more. Two such sets share one of the first words of
/// both, rare ones first; so only those that do are compared.
fn relevant(
    analysed: &AnalysedTexts<'_>,
    context: &ExperimentContext<'_>,
) -> Result<Vec<(u32, u32)>, LabError> {
    let threshold: Threshold = "0.9".parse().map_err(LabError::Request)?;
    let lexicon = analysed.lexicon();
    let mut sets = Vec::with_capacity(analysed.len());
    for page in analysed.pages() {
        context.watch.check()?;
        let mut set: Vec<(u32, u64)> = Vec::new();
        set.extend(page.hashes().iter().map(|&word| (lexicon.find(word).documents, word)));
        set.sort_unstable();
        set.dedup();
        sets.push(set);
    }
    let mut index: HashMap<u64, Vec<u32>> = HashMap::new();
    let mut pairs = Vec::new();
    let mut candidates = Vec::new();
    for (number, set) in (0u32..).zip(&sets) {
        context.watch.check()?;
        candidates.clear();
        let prefix_length =
            set.len() + 1 - (threshold.min_count(set.len() as u64) as usize).clamp(1, set.len().max(1));
        for (_, word) in set.iter().take(prefix_length) {
            let others = index.entry(*word).or_default();
            candidates.extend_from_slice(others);
            others.push(number);
        }
        candidates.sort_unstable();
        candidates.dedup();
        pairs.extend(
            candidates
                .iter()
                .filter(|&&other| near(set, &sets[other as usize], threshold))
                .map(|&other| (other, number)),
        );
    }
    Ok(pairs)
}

/// True when two sets in order reach the threshold.
fn near(a: &[(u32, u64)], b: &[(u32, u64)], threshold: Threshold) -> bool {
    if !threshold.reached_by(a.len().min(b.len()) as u64, a.len().max(b.len()) as u64) {
        return false;
    }
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (one, two) = (a[i], b[j]);
        shared += u64::from(one == two);
        i += usize::from(one <= two);
        j += usize::from(two <= one);
    }
    threshold.reached_by(shared, (a.len() + b.len()) as u64 - shared)
}

/// The fingerprint of each document; nothing for one without words.
fn fingerprints(
    analysed: &AnalysedTexts<'_>,
    lengths: &str,
    context: &ExperimentContext<'_>,
) -> Result<Vec<Option<u64>>, LabError> {
    let setting = Setting { seed: context.seed, ..Setting::default() };
    let sketcher = Sketcher::new(&format!("simhash:n={lengths}"), &setting, &Profile::thesis())?;
    let mut buffer = Sketch::default();
    let mut all = Vec::with_capacity(analysed.len());
    for page in analysed.pages() {
        context.watch.check()?;
        let sketched = sketcher.sketch(&page, &mut buffer);
        let bytes = sketched.payload.first_chunk().filter(|_| !sketched.keys.is_empty());
        all.push(bytes.map(|bytes| u64::from_le_bytes(*bytes)));
    }
    Ok(all)
}

/// Counts all pairs by distance.
fn distances(
    fingerprints: &[Option<u64>],
    relevant: &[(u32, u32)],
    context: &ExperimentContext<'_>,
) -> Result<Distances, LabError> {
    let mut distances = Distances::new(relevant.len());
    let present: Vec<u64> = fingerprints.iter().copied().flatten().collect();
    for (number, one) in present.iter().enumerate() {
        context.watch.check()?;
        for other in &present[..number] {
            distances.all[(one ^ other).count_ones() as usize] += 1;
        }
    }
    for &(a, b) in relevant {
        let (Some(a), Some(b)) = (fingerprints[a as usize], fingerprints[b as usize]) else { continue };
        distances.relevant[(a ^ b).count_ones() as usize] += 1;
    }
    Ok(distances)
}

fn report(study: &mut Study, results: &[(&str, Distances)]) {
    let total = results.first().map_or(0, |(_, distances)| distances.total);
    let budget = BUDGETS[LEAD_BUDGET] * total as f64;
    let mut ranked: Vec<(f64, &str)> =
        results.iter().filter_map(|(name, distances)| Some((distances.recall_of(budget)?, *name))).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let recalls: Vec<String> = ranked.iter().map(|(recall, name)| format!("{name}: {recall:.3}")).collect();
    study.lead = match total {
        0 => "No two different documents of the collection have nearly the same words.".to_owned(),
        _ => format!(
            "With {} candidates for each relevant pair, nearest first, n-grams find, best first, {}.",
            BUDGETS[LEAD_BUDGET],
            recalls.join("; ")
        ),
    };
    study.table(equal_candidates(results, total));
    study.plot(picture(results));
    study.table(by_k(results));
    study.table(thesis(results));
    study.table(combinations(results));
    study.notes.push(
        "Of documents with the same words in the same order one is looked at. Recall at a number of candidates takes pairs \
         nearest first, also beyond 10 bits, and of those at the distance that fills the number a random part."
            .to_owned(),
    );
    study.notes.push(
        "The thesis measured table 3.1 on pages of its own and does not say with which n-grams; its chapter 5 counts pairs \
         between judged pages and ClueWeb12."
            .to_owned(),
    );
}

fn equal_candidates(results: &[(&str, Distances)], total: u64) -> Grid {
    let head = |budget: &f64| format!("{:.0} candidates", budget * total as f64);
    let heads = ["n-grams".to_owned()].into_iter().chain(BUDGETS.iter().map(head));
    let mut grid = Grid::new("Recall at equal numbers of candidates", heads);
    for (name, distances) in results {
        let recalls = BUDGETS.iter().map(|budget| distances.recall_of(budget * total as f64).into());
        grid.row([Value::from(*name)].into_iter().chain(recalls));
    }
    grid
}

fn by_k(results: &[(&str, Distances)]) -> Grid {
    let heads = ["n-grams", "k", "candidates", "relevant found", "precision", "recall", "95 %"];
    let mut grid = Grid::new("Pairs within k of 64 bits", heads);
    for (name, distances) in results {
        for k in 0..=MAX_DISTANCE {
            let recall = distances.recall(k);
            grid.row([
                Value::from(*name),
                Value::Count(k as u64),
                Value::Count(distances.candidates(k)),
                Value::Count(recall.part),
                distances.precision(k).cell(),
                recall.cell(),
                recall.interval_cell(),
            ]);
        }
    }
    grid
}

/// Table 3.1 beside the same figures here.
fn thesis(results: &[(&str, Distances)]) -> Grid {
    let sets = results.iter().flat_map(|(name, _)| [format!("{name}: precision"), format!("{name}: recall")]);
    let heads = ["k", "published precision", "published recall"].map(str::to_owned).into_iter().chain(sets);
    let mut grid = Grid::new("Precision and recall beside the published ones", heads);
    for (k, precision, recall) in PUBLISHED {
        let found = results.iter().flat_map(|(_, set)| [set.precision(k).cell(), set.recall(k).cell()]);
        let first = [Value::Count(k as u64), Value::Number(precision), Value::Number(recall)];
        grid.row(first.into_iter().chain(found));
    }
    grid
}

/// Makes the table of candidates that combined lengths save, and relevant pairs that they lose, at three bits.
fn combinations(results: &[(&str, Distances)]) -> Grid {
    const K: usize = 3;
    let heads = [
        "n-grams",
        "candidates",
        "of which relevant",
        "combined with",
        "candidates",
        "of which relevant",
        "candidates are fewer by a factor of",
        "published",
    ];
    let mut grid = Grid::new("Combined lengths within 3 bits", heads);
    let find =
        |wanted: &str| results.iter().find(|(name, _)| *name == wanted).map(|(_, distances)| distances);
    for (alone, combined, published) in
        [("2", "2+3", None), ("3", "3+5", Some("16.88 to 21")), ("3", "2+3", None), ("5", "3+5", None)]
    {
        let (Some(one), Some(both)) = (find(alone), find(combined)) else { continue };
        grid.row([
            Value::from(alone),
            Value::Count(one.candidates(K)),
            Value::Count(one.recall(K).part),
            Value::from(combined),
            Value::Count(both.candidates(K)),
            Value::Count(both.recall(K).part),
            Value::from(one.candidates(K) as f64 / both.candidates(K) as f64),
            published.map_or(Value::None, Value::from),
        ]);
    }
    grid
}

fn picture(results: &[(&str, Distances)]) -> Plot {
    let line = |(name, distances): &(&str, Distances)| {
        let points = (0..=MAX_DISTANCE).filter(|&k| distances.candidates(k) > 0);
        measured(*name, points.filter_map(|k| distances.recall(k).point(distances.candidates(k) as f64)))
    };
    Plot::Lines(Lines {
        name: "Recall over candidates, k = 0 to 10".to_owned(),
        x: logarithmic("pairs within k bits"),
        y: unit_axis("recall"),
        series: results.iter().map(line).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketches::testing;
    use lookalike::report::study::Block;
    use lookalike::walk::Watch;

    /// Texts, the same with a word or ten replaced, and some of them twice.
    fn collection() -> Vec<String> {
        let mut texts = testing::texts(50, 120);
        let edited = |count: usize| {
            testing::texts(50, 120).into_iter().map(move |text| text.replacen("word", "other", count))
        };
        texts.extend(edited(1).chain(edited(3)).chain(edited(10)));
        texts.extend(testing::texts(5, 120));
        texts
    }

    #[test]
    fn relevant_pairs_are_those_of_comparing_all_with_all() {
        let (watch, texts) = (Watch::default(), collection());
        let context = testing::context(&texts, &watch);
        let analysed =
            AnalysedTexts::new(&Profile::thesis(), texts.iter().map(String::as_str), &watch).unwrap();
        let sets: Vec<BTreeSet<u64>> =
            analysed.pages().map(|page| page.hashes().iter().copied().collect()).collect();
        let mut expected = Vec::new();
        for (b, two) in (0u32..).zip(&sets) {
            for (a, one) in (0u32..).zip(&sets[..b as usize]) {
                let shared = one.intersection(two).count();
                if 10 * shared >= 9 * (one.len() + two.len() - shared) {
                    expected.push((a, b));
                }
            }
        }
        let mut found = relevant(&analysed, &context).unwrap();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert!(found.len() > 100, "{}", found.len());
    }

    #[test]
    fn budgets_take_the_nearest_pairs_first() {
        let mut distances = Distances::new(10);
        (distances.all[0], distances.all[2], distances.all[64]) = (4, 10, 100);
        (distances.relevant[0], distances.relevant[2]) = (4, 5);
        assert_eq!((distances.recall_of(2.0), distances.recall_of(4.0)), (Some(0.2), Some(0.4)));
        assert_eq!((distances.recall_of(9.0), distances.recall_of(14.0)), (Some(0.65), Some(0.9)));
        assert_eq!((distances.recall_of(114.0), distances.recall_of(115.0)), (Some(0.9), None));
        assert_eq!((distances.candidates(1), distances.recall(2).part), (4, 9));
    }

    #[test]
    fn sets_are_compared_on_a_small_collection() {
        let (watch, texts) = (Watch::default(), collection());
        let context = testing::context(&texts, &watch);
        let study = run(&context).unwrap();
        assert_eq!(study, run(&context).unwrap());
        assert!(
            study.facts.contains(&("different documents".to_owned(), "200".to_owned())),
            "{:?}",
            study.facts
        );
        let Block::Table(grid) = &study.blocks[2] else { panic!("{:?}", study.blocks[2]) };
        assert_eq!(grid.rows.len(), SETS.len() * (MAX_DISTANCE + 1));
        // Recall never falls as k grows, and candidates are at least what is found.
        for rows in grid.rows.windows(2).filter(|rows| rows[0][0] == rows[1][0]) {
            let [Value::Count(before), Value::Count(after)] = [&rows[0][3], &rows[1][3]] else {
                panic!("{rows:?}")
            };
            let Value::Count(candidates) = &rows[1][2] else { panic!("{rows:?}") };
            assert!(before <= after && after <= candidates, "{rows:?}");
        }
    }
}

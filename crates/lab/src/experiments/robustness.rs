//! E19: how much a document may be edited before a method no longer finds its copy.
//!
//! Documents of several lengths are copied, and in the copies words are put in, taken out or replaced, or sentences
//! moved. Every method then says, as it would in a run by its own word, whether original and copy are near-duplicates.
//! What it knows of the collection's words it knows from the originals; methods that must see all documents beforehand see
//! the copies, too, as they would in a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lookalike::hash;
use lookalike::methods::{Setting, Sketch, names};
use lookalike::report::Study;
use lookalike::report::study::{Grid, Lines, Plot, Series, Value};
use lookalike::text::Profile;

use crate::collection::{CollectionKind, Item};
use crate::draws::Draws;
use crate::edits::{Edit, Editor};
use crate::experiments::{Experiment, ExperimentContext};
use crate::shares::{Share, logarithmic, measured, unit_axis};
use crate::sketches::{AnalysedTexts, DocumentSketch, Sketcher};
use crate::trial::LabError;

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E19",
    title: "How much a document may be edited before a method no longer finds its copy",
    source: "after Kołcz, Chowdhury, Alspector 2004, figure 1, and Zelenkov, Segalovich 2007",
    data: Some(CollectionKind::News),
    run,
};

/// Numbers of edits.
const COUNTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// The number of edits that lengths are compared at, by its place.
const BY_LENGTH: usize = 2;

/// Classes of documents by length: the fewest words, the number of words that is too many, and a name.
const CLASSES: [(usize, usize, &str); 4] = [
    (32, 64, "32 to 63 words"),
    (64, 128, "64 to 127 words"),
    (128, 256, "128 to 255 words"),
    (256, 4096, "256 to 4095 words"),
];

/// Classes from this one on have room for all edits.
const LONG: usize = 2;

/// Documents of each class.
const DOCUMENTS_PER_CLASS: usize = 150;

/// Other documents that each of them is compared with.
const UNRELATED_PER_DOCUMENT: usize = 10;

/// Documents whose sets of words have less than this Jaccard similarity have nothing to do with each other.
const MAX_UNRELATED_SIMILARITY: f64 = 0.5;

/// Fewer long documents than this say too little.
const MIN_DOCUMENTS: u64 = 20;

/// Methods that the pictures show.
const SHOWN: [&str; 10] = ["minhash", "simhash", "a6", "imatch", "a1", "a4", "a8", "a9", "a11", "a12"];

/// Methods in the picture by length.
const SHOWN_BY_LENGTH: [&str; 6] = ["minhash", "simhash", "imatch", "a1", "a4", "a12"];

/// Shares of the copies of one class that were found: by kind of edit and number of edits.
type Survival = [[Share; COUNTS.len()]; Edit::ALL.len()];

/// The results of a method on all copies.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Outcome {
    classes: [Survival; CLASSES.len()],
    /// Pairs that have nothing to do with each other, and how many it took for near-duplicates.
    unrelated_pairs: Share,
}

/// The name of a method, and its results on all copies or the reason why there are none.
type MethodOutcome = (&'static str, Result<Outcome, String>);

/// An original, by its place in the collection.
#[derive(Debug, Clone, Copy)]
struct Original {
    place: usize,
    class: usize,
    words: usize,
}

/// An edited copy.
#[derive(Debug)]
struct EditedCopy {
    /// Its original, by its place among the originals.
    of: usize,
    edit: usize,
    count: usize,
    text: String,
}

/// The documents and pairs that all methods are tried on.
#[derive(Debug)]
struct TestSet {
    originals: Vec<Original>,
    copies: Vec<EditedCopy>,
    /// Pairs of originals that have nothing to do with each other.
    unrelated_pairs: Vec<(usize, usize)>,
}

/// A method of the catalogue: its name and its sketcher.
struct CatalogueMethod {
    name: &'static str,
    sketcher: Sketcher,
}

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let collection = context.collection(CollectionKind::News)?;
    let items = collection.items(context.documents, context.seed, &[], context.watch)?;
    let test_set = TestSet::new(&items, context)?;
    let mut study = context.study(&EXPERIMENT, Some(&collection));
    study.fact("documents", items.len().to_string());
    study.fact("documents copied", test_set.originals.len().to_string());
    study.fact("copies", test_set.copies.len().to_string());
    let mut outcomes = BTreeMap::new();
    let mut by_profile: BTreeMap<String, Vec<CatalogueMethod>> = BTreeMap::new();
    for method in catalogue_methods(context)? {
        by_profile.entry(method.sketcher.profile().to_string()).or_default().push(method);
    }
    for methods in by_profile.into_values() {
        let texts = items.iter().map(|item| item.text.as_str());
        let more = test_set.copies.iter().map(|copy| copy.text.as_str());
        let profile = methods[0].sketcher.profile();
        let analysed = AnalysedTexts::with_more(profile, texts, more, context.watch)?;
        for (name, outcome) in trials(methods, &analysed, &test_set, context)? {
            match outcome {
                Ok(outcome) => drop(outcomes.insert(name, outcome)),
                Err(why) => study.notes.push(format!("{name} is left out: {why}")),
            }
        }
    }
    let lengths = mean_lengths(&test_set.originals);
    report(&mut study, &outcomes, lengths);
    Ok(study)
}

/// All methods, those that are the same by another name left out.
fn catalogue_methods(context: &ExperimentContext<'_>) -> Result<Vec<CatalogueMethod>, LabError> {
    let setting = Setting { seed: context.seed, ..Setting::default() };
    let mut recipes = BTreeSet::new();
    let mut methods = Vec::new();
    // The papers' own names come last and are the ones that people know.
    for name in names().collect::<Vec<_>>().into_iter().rev() {
        let sketcher = Sketcher::new(name, &setting, &Profile::web())?;
        if recipes.insert(sketcher.method().recipe().to_string()) {
            methods.push(CatalogueMethod { name, sketcher });
        }
    }
    methods.reverse();
    Ok(methods)
}

impl TestSet {
    fn new(items: &[Item], context: &ExperimentContext<'_>) -> Result<Self, LabError> {
        let (originals, copies) = copies(items, context)?;
        let unrelated_pairs = unrelated_pairs(items, &originals, context)?;
        Ok(TestSet { originals, copies, unrelated_pairs })
    }
}

/// Pairs of originals that do not share most of their words.
fn unrelated_pairs(
    items: &[Item],
    originals: &[Original],
    context: &ExperimentContext<'_>,
) -> Result<Vec<(usize, usize)>, LabError> {
    let texts = originals.iter().map(|original| items[original.place].text.as_str());
    let analysed = AnalysedTexts::new(&Profile::web(), texts, context.watch)?;
    let sets: Vec<BTreeSet<u64>> =
        analysed.pages().map(|page| page.hashes().iter().copied().collect()).collect();
    let is_unrelated = |&(a, b): &(usize, usize)| {
        let shared = sets[a].intersection(&sets[b]).count();
        (shared as f64) < MAX_UNRELATED_SIMILARITY * (sets[a].len() + sets[b].len() - shared) as f64
    };
    let others = |a: usize| (a + 1..originals.len().min(a + 1 + UNRELATED_PER_DOCUMENT)).map(move |b| (a, b));
    Ok((0..originals.len()).flat_map(others).filter(is_unrelated).collect())
}

/// Some documents of each class, and their edited copies.
fn copies(
    items: &[Item],
    context: &ExperimentContext<'_>,
) -> Result<(Vec<Original>, Vec<EditedCopy>), LabError> {
    let mut draws = Draws::new(context.seed, 19);
    let mut editor = Editor::new(items.iter().map(|item| item.text.as_str()), &mut draws);
    let mut order: Vec<(u64, usize)> =
        (0..items.len()).map(|place| (hash::nth(place as u64 + 1, hash::mix(context.seed)), place)).collect();
    order.sort_unstable();
    let (mut originals, mut copies) = (Vec::new(), Vec::new());
    let mut taken = [0; CLASSES.len()];
    for (_, place) in order {
        context.watch.check()?;
        let parsed = editor.parse(&items[place].text);
        let words = parsed.words();
        let Some(class) = CLASSES.iter().position(|(least, most, _)| (*least..*most).contains(&words)) else {
            continue;
        };
        if taken[class] == DOCUMENTS_PER_CLASS {
            continue;
        }
        taken[class] += 1;
        let of = originals.len();
        originals.push(Original { place, class, words });
        for (edit, kind) in Edit::ALL.into_iter().enumerate() {
            for (count, edits) in COUNTS.into_iter().enumerate() {
                // At most half of the words of the shortest document of the class, so that all of it are at each count.
                if kind == Edit::Move || 2 * edits <= CLASSES[class].0 {
                    let text = parsed.edited(kind, edits, &editor, &mut draws);
                    copies.extend(text.map(|text| EditedCopy { of, edit, count, text }));
                }
            }
        }
    }
    Ok((originals, copies))
}

/// Runs each method on all copies, several methods at a time; one that cannot run gives the reason.
fn trials(
    methods: Vec<CatalogueMethod>,
    analysed: &AnalysedTexts<'_>,
    test_set: &TestSet,
    context: &ExperimentContext<'_>,
) -> Result<Vec<MethodOutcome>, LabError> {
    let next = AtomicUsize::new(0);
    let slots: Vec<Mutex<Option<CatalogueMethod>>> =
        methods.into_iter().map(|method| Mutex::new(Some(method))).collect();
    let results = Mutex::new(Vec::new());
    let worker = || {
        while let Some(slot) = slots.get(next.fetch_add(1, Ordering::Relaxed)) {
            let taken = slot.lock().expect("no worker panics while it holds a slot").take();
            let Some(CatalogueMethod { name, mut sketcher }) = taken else { continue };
            let result = trial(&mut sketcher, analysed, test_set, context);
            results.lock().expect("no worker panics while it holds the results").push((name, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..context.settings.threads.clamp(1, slots.len().max(1)) {
            scope.spawn(worker);
        }
        worker();
    });
    let results = results.into_inner().expect("no worker panicked");
    let sorted = |(name, result): (&'static str, Result<Outcome, LabError>)| match result {
        // A collection of few words is too little for some methods.
        Err(LabError::Method(error)) => Ok((name, Err(error.to_string()))),
        other => Ok((name, Ok(other?))),
    };
    results.into_iter().map(sorted).collect()
}

fn trial(
    sketcher: &mut Sketcher,
    analysed: &AnalysedTexts<'_>,
    test_set: &TestSet,
    context: &ExperimentContext<'_>,
) -> Result<Outcome, LabError> {
    sketcher.learn(analysed, context.watch)?;
    let TestSet { originals, copies, .. } = test_set;
    let mut buffer = Sketch::default();
    let sketched: Vec<DocumentSketch> = originals
        .iter()
        .map(|original| sketcher.sketch(&analysed.page(original.place), &mut buffer))
        .collect();
    let mut outcome = Outcome::default();
    let first = analysed.len() - copies.len();
    for (number, copy) in copies.iter().enumerate() {
        context.watch.check()?;
        let other = sketcher.sketch(&analysed.page(first + number), &mut buffer);
        let found = sketcher.score(&sketched[copy.of], &other).is_some();
        outcome.classes[originals[copy.of].class][copy.edit][copy.count].count(found);
    }
    for &(a, b) in &test_set.unrelated_pairs {
        context.watch.check()?;
        outcome.unrelated_pairs.count(sketcher.score(&sketched[a], &sketched[b]).is_some());
    }
    Ok(outcome)
}

/// Words of a document of each class, on average.
fn mean_lengths(originals: &[Original]) -> [f64; CLASSES.len()] {
    std::array::from_fn(|class| {
        let words: Vec<usize> =
            originals.iter().filter(|one| one.class == class).map(|one| one.words).collect();
        words.iter().sum::<usize>() as f64 / words.len().max(1) as f64
    })
}

impl Outcome {
    /// Copies of long documents by kind and number of edits, or of all documents where few are long.
    fn long(&self, all: bool) -> Survival {
        let from = if all { 0 } else { LONG };
        let mut sum = Survival::default();
        for class in &self.classes[from..] {
            for (sum, class) in sum.iter_mut().flatten().zip(class.iter().flatten()) {
                *sum = sum.with(*class);
            }
        }
        sum
    }
}

fn report(study: &mut Study, outcomes: &BTreeMap<&'static str, Outcome>, lengths: [f64; CLASSES.len()]) {
    let few = outcomes.values().all(|outcome| outcome.long(false)[0][0].whole < MIN_DOCUMENTS);
    let documents = if few {
        "all documents".to_owned()
    } else {
        format!("documents of {} words or more", CLASSES[LONG].0)
    };
    // In the order of the catalogue.
    let ordered: Vec<(&str, &Outcome)> =
        names().filter_map(|name| Some((name, outcomes.get(name)?))).collect();
    lead(study, &ordered, few, &documents);
    for (edit, kind) in Edit::ALL.into_iter().enumerate() {
        study.heading(format!("Word {}", kind.name()).replace("Word moves", "Moved sentences"));
        study.table(table(&ordered, edit, kind, few, &documents));
        study.plot(by_edits(&ordered, edit, kind, few, &documents));
    }
    study.heading("Length");
    study.plot(by_length(&ordered, lengths));
    study.heading("Documents that have nothing to do with each other");
    study.table(unrelated_table(&ordered));
    study.notes.push(format!(
        "Words that are put in are drawn from the collection as often as they occur there, and places at random, so that an \
         edit may be one that a method does not look at, such as a function word. Copies by word edits have at most half of \
         the words of the shortest document of their length changed; moved are sentences, or runs of ten words where there \
         are fewer than four sentences. Methods have their own parameters; {}.",
        "the threshold of those that have the run's is 0.8 by shingles of five words"
    ));
}

fn lead(study: &mut Study, ordered: &[(&str, &Outcome)], few: bool, documents: &str) {
    const SUBSTITUTE: usize = 2;
    let share = |outcome: &Outcome| outcome.long(few)[SUBSTITUTE][BY_LENGTH].value();
    let mut best: Vec<(f64, &str)> =
        ordered.iter().filter_map(|(name, outcome)| Some((share(outcome)?, *name))).collect();
    // Names in the order of the catalogue where shares are equal.
    best.sort_by(|a, b| b.0.total_cmp(&a.0));
    let format_shares = |all: &[(f64, &str)]| {
        all.iter()
            .map(|(share, name)| format!("{name} {:.0} %", 100.0 * share))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let false_positives: Vec<String> = ordered
        .iter()
        .filter(|(_, outcome)| outcome.unrelated_pairs.part > 0)
        .map(|(name, Outcome { unrelated_pairs, .. })| {
            format!("{name} ({} of {})", unrelated_pairs.part, unrelated_pairs.whole)
        })
        .collect();
    study.lead = match best.len() {
        0 => "No document of the collection is long enough to be edited.".to_owned(),
        all => format!(
            "After {} words of {documents} were replaced, the copy is found most often by {}; of all {all} methods, {} find \
             fewer than one copy in ten. Unrelated documents are taken for near-duplicates by {}.",
            COUNTS[BY_LENGTH],
            format_shares(&best[..all.min(6)]),
            best.iter().filter(|(share, _)| *share < 0.1).count(),
            if false_positives.is_empty() { "none".to_owned() } else { false_positives.join(", ") }
        ),
    };
}

fn table(ordered: &[(&str, &Outcome)], edit: usize, kind: Edit, few: bool, documents: &str) -> Grid {
    let heads = COUNTS.iter().map(usize::to_string);
    let classes = CLASSES.iter().map(|(.., name)| format!("{}, {name}", COUNTS[BY_LENGTH]));
    let columns = ["method".to_owned(), "copies".to_owned()].into_iter().chain(heads).chain(classes);
    let name = format!("Share of copies found after {}, {documents}, and by length", kind.name());
    let mut grid = Grid::new(name, columns);
    for (name, outcome) in ordered {
        let shares = outcome.long(few)[edit];
        let by_length = outcome.classes.iter().map(|class| class[edit][BY_LENGTH].cell());
        let first = [Value::from(*name), Value::Count(shares[0].whole)];
        grid.row(first.into_iter().chain(shares.into_iter().map(Share::cell)).chain(by_length));
    }
    if let Some(changes) = match kind {
        Edit::Insert | Edit::Delete => Some(1),
        Edit::Substitute => Some(2),
        Edit::Move => None,
    } {
        // What a7 would do if every word were in its lexicon; words that are not change nothing.
        let least = |edits: usize| 1.0 - (1.0 - 0.33f64.powi((changes * edits) as i32)).powi(10);
        let first = [Value::from("a7 by its formula, at least"), Value::None];
        let by_length = CLASSES.iter().map(|_| Value::from(least(COUNTS[BY_LENGTH])));
        grid.row(first.into_iter().chain(COUNTS.map(|edits| Value::from(least(edits)))).chain(by_length));
    }
    grid
}

fn by_edits(ordered: &[(&str, &Outcome)], edit: usize, kind: Edit, few: bool, documents: &str) -> Plot {
    let line = |name: &&str| -> Option<Series> {
        let (_, outcome) = ordered.iter().find(|(known, _)| known == name)?;
        let shares = outcome.long(few)[edit];
        let points = shares.into_iter().zip(COUNTS).filter_map(|(share, edits)| share.point(edits as f64));
        Some(measured(*name, points))
    };
    Plot::Lines(Lines {
        name: format!("Copies found by number of {}, {documents}", kind.name()),
        x: logarithmic(kind.name()),
        y: unit_axis("share of copies found"),
        series: SHOWN.iter().filter_map(line).collect(),
    })
}

fn by_length(ordered: &[(&str, &Outcome)], lengths: [f64; CLASSES.len()]) -> Plot {
    const SUBSTITUTE: usize = 2;
    let line = |name: &&str| -> Option<Series> {
        let (_, outcome) = ordered.iter().find(|(known, _)| known == name)?;
        let points = outcome.classes.iter().zip(lengths);
        Some(measured(*name, points.filter_map(|(class, x)| class[SUBSTITUTE][BY_LENGTH].point(x))))
    };
    Plot::Lines(Lines {
        name: format!("Copies found after {} substitutions, by length", COUNTS[BY_LENGTH]),
        x: logarithmic("words of the document, mean of its class"),
        y: unit_axis("share of copies found"),
        series: SHOWN_BY_LENGTH.iter().filter_map(line).collect(),
    })
}

/// A method that takes everything for near-duplicates would find all copies.
fn unrelated_table(ordered: &[(&str, &Outcome)]) -> Grid {
    let name =
        "Pairs of documents that share less than half of their words, and are taken for near-duplicates";
    let mut grid = Grid::new(name, ["method", "pairs", "taken", "share", "95 %"]);
    for (name, Outcome { unrelated_pairs, .. }) in ordered {
        grid.row([
            Value::from(*name),
            Value::Count(unrelated_pairs.whole),
            Value::Count(unrelated_pairs.part),
            unrelated_pairs.cell(),
            unrelated_pairs.interval_cell(),
        ]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketches::testing;
    use lookalike::report::study::Block;
    use lookalike::walk::Watch;

    fn number(value: &Value) -> f64 {
        if let Value::Number(number) = value { *number } else { panic!("{value:?}") }
    }

    #[test]
    fn all_methods_are_tried_and_say_what_they_must() {
        let watch = Watch::default();
        let texts: Vec<String> = [(8, 50), (5, 100), (12, 200), (10, 300)]
            .iter()
            .flat_map(|&(count, words)| testing::texts(count, words))
            .collect();
        let context = testing::context(&texts, &watch);
        let study = run(&context).unwrap();
        let left_out = study.notes.iter().filter(|note| note.contains("is left out")).count();
        let grids: Vec<&Grid> = study
            .blocks
            .iter()
            .filter_map(|block| if let Block::Table(grid) = block { Some(grid) } else { None })
            .collect();
        let all = catalogue_methods(&context).unwrap().len();
        assert!(all >= 35 && left_out < 3, "{all}: {:?}", study.notes);
        assert_eq!((grids.len(), grids[4].rows.len()), (5, all - left_out));
        let row = |grid: &Grid, name: &str| {
            grid.rows
                .iter()
                .find(|row| row[0] == Value::from(name))
                .unwrap_or_else(|| panic!("{name}"))
                .clone()
        };
        for (edit, grid) in grids[..4].iter().enumerate() {
            // Equal documents alone; and every pair at the threshold, which one edit leaves it above.
            assert_eq!(number(&row(grid, "a0")[2]), 0.0, "{edit}");
            assert_eq!(number(&row(grid, "exact")[2]), 1.0, "{edit}");
            assert!(number(&row(grid, "exact")[8]) < 0.5 || edit == 3, "{edit}");
        }
        // Methods of sets of words do not see that sentences moved.
        assert_eq!(number(&row(grids[3], "imatch")[8]), 1.0);
        assert_eq!(number(&row(grids[4], "a0")[3]), 0.0);
    }

    #[test]
    fn results_do_not_depend_on_threads() {
        let watch = Watch::default();
        let texts = testing::texts(6, 140);
        let context = testing::context(&texts, &watch);
        let items = context.given.as_ref().unwrap().items(9, 1, &[], &watch).unwrap();
        let test_set = TestSet::new(&items, &context).unwrap();
        let trial = |threads: usize| {
            let mut context = testing::context(&texts, &watch);
            context.settings.threads = threads;
            let web = |method: &CatalogueMethod| method.sketcher.profile() == &Profile::web();
            let some: Vec<CatalogueMethod> =
                catalogue_methods(&context).unwrap().into_iter().filter(web).take(6).collect();
            let analysed = AnalysedTexts::with_more(
                &Profile::web(),
                items.iter().map(|item| item.text.as_str()),
                test_set.copies.iter().map(|copy| copy.text.as_str()),
                &watch,
            )
            .unwrap();
            let mut outcomes = trials(some, &analysed, &test_set, &context).unwrap();
            outcomes.sort_by_key(|(name, _)| *name);
            outcomes
        };
        assert_eq!(trial(1), trial(3));
    }
}

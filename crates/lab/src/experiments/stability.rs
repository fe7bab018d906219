//! E6: how long a randomised I-Match signature lives.
//!
//! Kołcz, Chowdhury and Alspector (2004) reckon that after n changes of words of the lexicon one of K randomised
//! signatures is still the same with probability 1 − (1 − pⁿ)^K, if each randomised lexicon lacks a part p of all words.
//! Here documents are changed and their signatures compared. As in the paper, a document is its different words of the
//! lexicon: a change takes one away or adds one that was not there, and a substitution does both.

use std::collections::BTreeSet;

use lookalike::hash;
use lookalike::methods::{Method, Page, Setting, Sketch};
use lookalike::report::Study;
use lookalike::report::study::{Axis, Grid, Lines, Plot, Value};
use lookalike::text::{Analyser, Features, Profile};

use crate::collection::CollectionKind;
use crate::draws::Draws;
use crate::experiments::{Experiment, ExperimentContext};
use crate::shares::{Share, axis, measured, theory, unit_axis};
use crate::sketches::{AnalysedTexts, Sketcher};
use crate::trial::LabError;

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E6",
    title: "How many changes a randomised I-Match signature survives",
    source: "Kołcz, Chowdhury, Alspector 2004, figure 1",
    data: Some(CollectionKind::News),
    run,
};

/// Numbers of randomised lexicons.
const LEXICONS: [usize; 5] = [1, 2, 5, 10, 20];

/// The most of them; the first of them are those of smaller numbers.
const MOST_LEXICONS: usize = 20;

/// The most changes.
const CHANGES: usize = 8;

/// Fewest words of a signature.
const FLOOR: usize = 5;

/// Documents that are changed.
const DOCUMENTS: usize = 2_000;

/// Number of random choices of lexicons that documents are distributed over.
const SEEDS: u64 = 8;

/// The ways of thinning lexicons: a name, the method's parameters, and the part p that they lack.
const THINNINGS: [(&str, &str, f64); 4] = [
    ("p = 0.20", "drop=0.2", 0.2),
    ("p = 0.33", "drop=0.33", 0.33),
    ("p = 0.50", "drop=0.5", 0.5),
    ("bootstrap", "thinning=bootstrap", 0.367_879_441_171_442_33),
];

/// The thinning of the paper's figure.
const PUBLISHED: usize = 1;

/// A kind of change to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeKind {
    /// Words are added or taken away, each by the toss of a coin.
    Change,
    /// A word is taken away and another added, which counts as two changes.
    Substitute,
}

/// Shares of documents that survived, by changes less one and by number of lexicons.
type Survival = [[Share; LEXICONS.len()]; CHANGES];

/// 1 − (1 − pⁿ)^K.
fn expected(part: f64, changes: usize, lexicons: usize) -> f64 {
    1.0 - (1.0 - part.powi(changes as i32)).powi(lexicons as i32)
}

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let collection = context.collection(CollectionKind::News)?;
    let items = collection.items(context.documents, context.seed, &[], context.watch)?;
    let texts = items.iter().map(|item| item.text.as_str());
    let analysed = AnalysedTexts::new(&Profile::kolcz(), texts, context.watch)?;
    let words = LexiconDocuments::new(&analysed, context)?;
    let mut study = context.study(&EXPERIMENT, Some(&collection));
    study.fact("documents", analysed.len().to_string());
    study.fact("words of the lexicon", words.lexicon.len().to_string());
    let mut trials = Vec::new();
    for (name, parameters, part) in THINNINGS {
        let trial = Trial::run(&analysed, &words, parameters, context)?;
        study.fact(format!("documents changed, {name}"), trial.documents.to_string());
        trials.push((name, part, trial));
    }
    lead(&mut study, &trials);
    report(&mut study, &trials);
    Ok(study)
}

/// Documents as I-Match sees them: sets of words of the lexicon.
struct LexiconDocuments {
    /// The words of the lexicon.
    lexicon: Vec<String>,
    /// The words of each document, as places in it.
    documents: Vec<Vec<usize>>,
}

impl LexiconDocuments {
    /// Finds the words of the lexicon by the method itself: one that is alone in a document has a signature.
    fn new(analysed: &AnalysedTexts<'_>, context: &ExperimentContext<'_>) -> Result<Self, LabError> {
        let method = learned("lexicons=0", 1, 1, analysed, context)?;
        let mut buffers = SketchBuffers::new();
        let known = analysed.lexicon();
        let mut places = vec![None; known.len()];
        let mut lexicon = Vec::new();
        for (place, slot) in places.iter_mut().enumerate() {
            context.watch.check()?;
            let word = known.word(place);
            if buffers.signatures(method.method(), word).iter().any(|&byte| byte != 0) {
                *slot = Some(lexicon.len());
                lexicon.push(word.to_owned());
            }
        }
        let words = |features: &Features| {
            let hashes: BTreeSet<u64> = features.hashes().iter().copied().collect();
            hashes.into_iter().filter_map(|hash| places[known.index_of(hash)?]).collect()
        };
        let documents = (0..analysed.len()).map(|index| words(analysed.page(index).features)).collect();
        Ok(LexiconDocuments { lexicon, documents })
    }

    fn text(&self, places: impl IntoIterator<Item = usize>) -> String {
        places.into_iter().map(|place| self.lexicon[place].as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the text of a document after this number of changes.
    fn changed(&self, document: &[usize], kind: ChangeKind, changes: usize, draws: &mut Draws) -> String {
        let added = match kind {
            ChangeKind::Change => (0..changes).filter(|_| draws.below(2) == 0).count(),
            ChangeKind::Substitute => changes / 2,
        };
        let gone: BTreeSet<usize> = draws.distinct(changes - added, document.len()).into_iter().collect();
        let mut words: Vec<usize> =
            (0..).zip(document).filter(|(n, _)| !gone.contains(n)).map(|(_, &w)| w).collect();
        let had: BTreeSet<usize> = document.iter().copied().collect();
        let mut new = BTreeSet::new();
        while new.len() < added.min(self.lexicon.len() - had.len()) {
            let word = draws.below(self.lexicon.len());
            if !had.contains(&word) {
                new.insert(word);
            }
        }
        words.extend(new);
        self.text(words)
    }
}

/// I-Match with these parameters, and with the lexicon of the collection.
fn learned(
    parameters: &str,
    floor: usize,
    seed: u64,
    analysed: &AnalysedTexts<'_>,
    context: &ExperimentContext<'_>,
) -> Result<Sketcher, LabError> {
    let text = format!("imatch:secondary=off,{parameters},floor={floor},seed={seed}");
    let mut sketcher = Sketcher::new(&text, &Setting::default(), &Profile::kolcz())?;
    sketcher.learn(analysed, context.watch)?;
    Ok(sketcher)
}

/// The buffers for sketching.
struct SketchBuffers {
    analyser: Analyser,
    features: Features,
    sketch: Sketch,
}

impl SketchBuffers {
    /// Buffers that also serve documents of fewer than five words.
    fn new() -> Self {
        let profile = Profile { min_distinct: 0, ..Profile::kolcz() };
        SketchBuffers {
            analyser: Analyser::new(&profile),
            features: Features::default(),
            sketch: Sketch::default(),
        }
    }

    /// All signatures of a text, of eight bytes each; zeros where it has none.
    fn signatures(&mut self, method: &dyn Method, text: &str) -> &[u8] {
        self.analyser.read(text, &mut self.features);
        method.sketch(&Page { text, features: &self.features }, &mut self.sketch);
        &self.sketch.payload
    }
}

/// The results of one way of thinning.
#[derive(Debug, Default)]
struct Trial {
    documents: u64,
    changes: Survival,
    substitutions: Survival,
    /// Documents whose signature by the whole lexicon stayed the same, which must not happen.
    whole: u64,
}

impl Trial {
    fn run(
        analysed: &AnalysedTexts<'_>,
        words: &LexiconDocuments,
        parameters: &str,
        context: &ExperimentContext<'_>,
    ) -> Result<Self, LabError> {
        let parameters = format!("lexicons={MOST_LEXICONS},{parameters}");
        let mut trial = Trial::default();
        let mut methods = Vec::new();
        for number in 0..SEEDS {
            let seed = hash::nth(number + 1, context.seed);
            // One that has a signature only where every change leaves enough words, and the one that is looked at.
            let [strict, method] =
                [FLOOR + CHANGES, FLOOR].map(|floor| learned(&parameters, floor, seed, analysed, context));
            methods.push((strict?, method?));
        }
        let mut buffers = SketchBuffers::new();
        for (number, document) in words.documents.iter().enumerate() {
            context.watch.check()?;
            if trial.documents as usize == DOCUMENTS {
                break;
            }
            let (strict, method) = &methods[number % methods.len()];
            let text = words.text(document.iter().copied());
            let enough = buffers
                .signatures(strict.method(), &text)
                .as_chunks::<8>()
                .0
                .iter()
                .all(|one| *one != [0; 8]);
            if enough && words.lexicon.len() >= document.len() + CHANGES {
                let original = buffers.signatures(method.method(), &text).to_vec();
                let mut draws = Draws::new(context.seed, hash::mix(number as u64));
                trial.change(words, document, method.method(), &original, &mut buffers, &mut draws);
            }
        }
        Ok(trial)
    }

    fn change(
        &mut self,
        words: &LexiconDocuments,
        document: &[usize],
        method: &dyn Method,
        original: &[u8],
        buffers: &mut SketchBuffers,
        draws: &mut Draws,
    ) {
        self.documents += 1;
        for changes in 1..=CHANGES {
            for kind in [ChangeKind::Change, ChangeKind::Substitute] {
                if kind == ChangeKind::Substitute && changes % 2 == 1 {
                    continue;
                }
                let text = words.changed(document, kind, changes, draws);
                let survivor = survivor(original, buffers.signatures(method, &text));
                self.whole += u64::from(survivor == Some(0));
                let survival = match kind {
                    ChangeKind::Change => &mut self.changes,
                    ChangeKind::Substitute => &mut self.substitutions,
                };
                for (share, lexicons) in survival[changes - 1].iter_mut().zip(LEXICONS) {
                    share.count(survivor.is_some_and(|first| (1..=lexicons).contains(&first)));
                }
            }
        }
    }
}

/// The first place at which two documents have the same signature.
fn survivor(a: &[u8], b: &[u8]) -> Option<usize> {
    let mut places = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    places.position(|(a, b)| a == b && *a != [0; 8])
}

fn lead(study: &mut Study, trials: &[(&str, f64, Trial)]) {
    let (mut cells, mut inside, mut furthest) = (0, 0, 0f64);
    for (_, part, trial) in trials {
        for survival in [&trial.changes, &trial.substitutions] {
            for (changes, shares) in (1..).zip(survival) {
                for (share, lexicons) in shares.iter().zip(LEXICONS) {
                    let (Some((low, high)), Some(found)) = (share.interval(), share.value()) else {
                        continue;
                    };
                    let expected = expected(*part, changes, lexicons);
                    cells += 1;
                    inside += u64::from((low..=high).contains(&expected));
                    furthest = furthest.max((found - expected).abs());
                }
            }
        }
    }
    let whole: u64 = trials.iter().map(|(.., trial)| trial.whole).sum();
    study.lead = match cells {
        0 => "No document of the collection has enough words of the lexicon to be changed.".to_owned(),
        _ => format!(
            "The formula 1 - (1 - p^n)^K lies in the 95 % interval of {inside} of {cells} measured shares of signatures that \
             survive n changes, and no share is further from it than {furthest:.3}."
        ),
    };
    if whole > 0 {
        study.notes.push(format!("{whole} signatures by the whole lexicon stayed the same after a change."));
    }
    study.notes.push(format!(
        "Only documents count of which every one of {MOST_LEXICONS} randomised lexicons holds at least {} words; there is no \
         secondary lexicon. Shares of one document by several K belong together, and so do documents that share words.",
        FLOOR + CHANGES
    ));
}

fn report(study: &mut Study, trials: &[(&str, f64, Trial)]) {
    for (name, part, trial) in trials {
        study.table(table(&format!("Words added or taken away, {name}"), *part, &trial.changes, 1));
    }
    for (name, part, trial) in trials {
        study.table(table(&format!("Words substituted, {name}"), *part, &trial.substitutions, 2));
    }
    let (name, part, trial) = &trials[PUBLISHED];
    let by_lexicons = (0..).zip(LEXICONS).flat_map(|(place, lexicons)| {
        let line = format!("K = {lexicons}");
        curve(&line, *part, &trial.changes, place)
    });
    study.plot(picture(&format!("Survival by changes, {name}"), by_lexicons.collect()));
    let ten = LEXICONS.iter().position(|&lexicons| lexicons == 10).unwrap_or(0);
    let by_part = trials.iter().flat_map(|(name, part, trial)| curve(name, *part, &trial.changes, ten));
    study.plot(picture("Survival by changes, K = 10", by_part.collect()));
}

/// One row for each number of changes, each measured share beside the formula; `step` changes make an edit.
fn table(name: &str, part: f64, survival: &Survival, step: usize) -> Grid {
    let edit = if step == 1 { "n" } else { "substitutions" };
    let heads = LEXICONS.iter().flat_map(|k| [format!("K = {k}"), "95 %".to_owned(), "formula".to_owned()]);
    let columns = [edit.to_owned(), "documents".to_owned()].into_iter().chain(heads);
    let mut grid = Grid::new(name, columns);
    for (changes, shares) in (1..).zip(survival).filter(|(changes, _)| changes % step == 0) {
        let cells = shares.iter().zip(LEXICONS).flat_map(|(share, lexicons)| {
            [share.cell(), share.interval_cell(), Value::Number(expected(part, changes, lexicons))]
        });
        let first = [Value::Count((changes / step) as u64), Value::Count(shares[0].whole)];
        grid.row(first.into_iter().chain(cells));
    }
    grid
}

/// Measured and reckoned survival for one number of lexicons.
fn curve(name: &str, part: f64, survival: &Survival, place: usize) -> [lookalike::report::study::Series; 2] {
    let points = (1..).zip(survival).filter_map(|(changes, shares)| shares[place].point(f64::from(changes)));
    let reckoned = (1..=CHANGES).map(|changes| (changes as f64, expected(part, changes, LEXICONS[place])));
    [measured(name, points), theory(format!("{name}, formula"), reckoned)]
}

fn picture(name: &str, series: Vec<lookalike::report::study::Series>) -> Plot {
    let x = Axis { range: Some((1.0, CHANGES as f64)), ..axis("changes of words of the lexicon") };
    Plot::Lines(Lines { name: name.to_owned(), x, y: unit_axis("share of documents that survive"), series })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketches::testing;
    use lookalike::report::study::Block;
    use lookalike::walk::Watch;

    #[test]
    fn the_formula_is_the_published_one() {
        for (lexicons, published) in [
            (2, [0.551_100, 0.205_941, 0.070_583, 0.023_578]),
            (5, [0.864_987, 0.438_135, 0.167_226, 0.057_906]),
            (10, [0.981_772, 0.684_307, 0.306_488, 0.112_459]),
        ] {
            for (changes, value) in (1..).zip(published) {
                assert!((expected(0.33, changes, lexicons) - value).abs() < 5e-7, "{lexicons} {changes}");
            }
        }
        let bootstrap = THINNINGS[3].2;
        for (changes, value) in (1..).zip([0.989_814, 0.766_398, 0.399_920, 0.168_775]) {
            assert!((expected(bootstrap, changes, 10) - value).abs() < 5e-7, "{changes}");
        }
    }

    #[test]
    fn the_first_lexicons_of_many_are_those_of_few() {
        let (watch, texts) = (Watch::default(), testing::texts(60, 300));
        let context = testing::context(&texts, &watch);
        let analysed =
            AnalysedTexts::new(&Profile::kolcz(), texts.iter().map(String::as_str), &watch).unwrap();
        let mut buffers = SketchBuffers::new();
        for (_, parameters, _) in THINNINGS {
            let of = |lexicons: usize| {
                learned(&format!("lexicons={lexicons},{parameters}"), 1, 5, &analysed, &context).unwrap()
            };
            let (few, many) = (of(5), of(MOST_LEXICONS));
            let (a, b) = (texts[0].as_str(), texts[0].replace(". ", " added "));
            let [one, two] = [a, &b].map(|text| buffers.signatures(many.method(), text).to_vec());
            assert_eq!(buffers.signatures(few.method(), a), &one[..6 * 8]);
            let accepted = few.method().accept(&one[..6 * 8], &two[..6 * 8], 1).is_some();
            assert_eq!(accepted, survivor(&one[..6 * 8], &two[..6 * 8]).is_some());
        }
    }

    #[test]
    fn changes_are_as_many_as_they_say() {
        let words = LexiconDocuments {
            lexicon: (0..100).map(testing::name).collect(),
            documents: vec![(0..40).collect()],
        };
        let before: BTreeSet<String> = (0..40).map(testing::name).collect();
        let mut draws = Draws::new(1, 1);
        for changes in 1..=CHANGES {
            for kind in [ChangeKind::Change, ChangeKind::Substitute] {
                let text = words.changed(&words.documents[0], kind, changes / 2 * 2, &mut draws);
                let after: BTreeSet<String> = text.split(' ').map(str::to_owned).collect();
                assert_eq!(before.symmetric_difference(&after).count(), changes / 2 * 2);
                assert!(kind == ChangeKind::Change || after.len() == before.len());
            }
        }
    }

    #[test]
    fn a_small_collection_is_enough_and_equal_seeds_agree() {
        let (watch, texts) = (Watch::default(), testing::texts(80, 400));
        let context = testing::context(&texts, &watch);
        let study = run(&context).unwrap();
        assert_eq!(study, run(&context).unwrap());
        let tables = study.blocks.iter().filter(|block| matches!(block, Block::Table(_))).count();
        assert_eq!((tables, study.blocks.len()), (8, 10));
        let Block::Table(grid) = &study.blocks[1] else { panic!("{:?}", study.blocks[1]) };
        // One change, K = 20: 0.9997 expected.
        let Value::Number(share) = grid.rows[0][2 + 3 * 4] else { panic!("{:?}", grid.rows[0]) };
        assert!(share > 0.9, "{share}");
        watch.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(run(&context).is_err());
    }
}

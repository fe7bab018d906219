//! Estimates of the recall and precision that a finished run reached on the whole corpus.
//!
//! A sample of the input is drawn that keeps near-duplicates together, and the exact join tells its near-duplicates. Recall is
//! the share of their pairs that the run's methods find. Two more figures give the effect on the corpus: the share of pairs of
//! which a document was removed, and of the documents that should have been removed (since an earlier near-duplicate of theirs
//! is left) the share that was. Precision: removals are drawn at random, and each is measured against its witness.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use lookalike::engine::document_copy::DocumentCopy;
use lookalike::engine::measure::Measure;
use lookalike::engine::pair_measurer::PairMeasurer;
use lookalike::engine::recipe::JobRecipe;
use lookalike::engine::{Settings, Summary};
use lookalike::hash;
use lookalike::model::{Document, Similarity, Threshold};
use lookalike::report::study::Grid;
use lookalike::report::{Study, thousands};
use lookalike::tables::removed::RemovedLine;
use lookalike::text::Profile;
use lookalike::walk::Watch;
use serde::{Deserialize, Serialize};

use crate::collection::{Collection, require_two_documents};
use crate::error::LabError;
use crate::interval::wilson;
use crate::sample::{Clusters, SHINGLE, Sample, WeightedShare};
use crate::trial::{Configuration, MethodSetting, Pair, Trial, TrialRunner};

/// A finished run of `dedup`.
#[derive(Debug)]
pub struct Run {
    /// Its recipe.
    pub recipe: JobRecipe,
    folder: PathBuf,
    /// Its input files, as far as it noted them.
    pub files: Vec<PathBuf>,
}

/// The parameters of a check.
#[derive(Debug, Clone)]
pub struct Request {
    /// Documents to draw.
    pub sample: usize,
    /// Removals to measure.
    pub removals: usize,
    /// Seed of every random choice.
    pub seed: u64,
    /// Threads, memory and disk use, which change no result.
    pub settings: Settings,
}

/// A share with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The share.
    pub value: f64,
    /// The 95 % interval; both ends are the share itself where nothing was sampled.
    pub interval: (f64, f64),
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckResult {
    /// Documents of the corpus.
    pub documents: u64,
    /// Documents that were drawn.
    pub sampled: u64,
    /// Pairs of near-duplicates among them.
    pub near: u64,
    /// Estimated number of such pairs in the whole corpus.
    pub near_in_all: f64,
    /// Share of the pairs that the run's methods find, by running them on the documents that were drawn.
    pub recall: Option<Estimate>,
    /// Share of the pairs of which one document at least was removed.
    pub settled: Option<Estimate>,
    /// Of documents that have an earlier near-duplicate left, or were removed, the share that was.
    pub gone: Option<Estimate>,
    /// Records that could not be read.
    pub rejected: u64,
    /// Removals of the run.
    pub removed: u64,
    /// Removals that were measured.
    pub measured: u64,
    /// Share of them that reach the threshold.
    pub precision: Option<Estimate>,
    /// Notes for the reader, such as on pairs that are in no figure.
    pub notes: Vec<String>,
    /// Seed of the draws.
    pub seed: u64,
}

#[derive(Deserialize)]
struct RunFile {
    #[serde(default)]
    files: Vec<PathBuf>,
}

impl Run {
    /// Opens the folder of a finished run.
    pub fn open(folder: &Path) -> Result<Run, LabError> {
        let missing = || {
            LabError::Request(format!(
                "{} holds no finished run of lookalike dedup: there is no recipe.toml with a summary.json in it",
                folder.display()
            ))
        };
        if !folder.join("summary.json").is_file() {
            return Err(missing());
        }
        let path = folder.join("recipe.toml");
        let text = std::fs::read_to_string(&path).map_err(|_| missing())?;
        let recipe = JobRecipe::from_toml(&text).map_err(|error| LabError::read(&path, &error))?;
        if !folder.join("removed.jsonl").is_file() {
            return Err(LabError::Request(format!(
                "{} has no removed.jsonl, which tells who was removed; a run with --format jsonl writes it",
                folder.display()
            )));
        }
        if recipe.against {
            let sentence =
                "a run with --against cannot be checked: some of its witnesses are in the other corpus";
            return Err(LabError::Request(sentence.to_owned()));
        }
        if recipe.within.is_some() {
            let sentence = "a run with --within cannot be checked: the exact join would compare what the run keeps apart";
            return Err(LabError::Request(sentence.to_owned()));
        }
        if recipe.order.is_some() {
            let sentence =
                "a run with --order-field cannot be checked: its numbers are not those of the input";
            return Err(LabError::Request(sentence.to_owned()));
        }
        let facts = std::fs::read(folder.join("run.json")).ok();
        let facts: Option<RunFile> = facts.and_then(|text| serde_json::from_slice(&text).ok());
        Ok(Run { recipe, folder: folder.to_owned(), files: facts.map_or_else(Vec::new, |facts| facts.files) })
    }

    /// Reads the ordinals of all removed documents, and draws at most `most` removals at random.
    fn removals(&self, most: usize, seed: u64) -> Result<Removals, LabError> {
        let path = self.folder.join("removed.jsonl");
        let file = File::open(&path).map_err(|error| LabError::read(&path, &error))?;
        let (mut removed, mut drawn) = (Vec::new(), BTreeMap::new());
        for line in BufReader::new(file).lines() {
            let line = line.map_err(|error| LabError::read(&path, &error))?;
            let removal: RemovedLine =
                serde_json::from_str(&line).map_err(|error| LabError::read(&path, &error))?;
            removed.push(removal.n);
            drawn.insert((hash::nth(removal.n, hash::mix(seed)), removal.n), removal);
            if drawn.len() > most {
                drawn.pop_last();
            }
        }
        removed.sort_unstable();
        let drawn = drawn.into_values().collect();
        Ok(Removals { removed, drawn })
    }

    /// Records that the run found.
    fn documents(&self) -> Result<u64, LabError> {
        let path = self.folder.join("summary.json");
        let text = std::fs::read(&path).map_err(|error| LabError::read(&path, &error))?;
        let summary: Summary =
            serde_json::from_slice(&text).map_err(|error| LabError::read(&path, &error))?;
        Ok(summary.documents)
    }
}

/// The removals of a run, at 8 bytes of memory for each.
struct Removals {
    /// Ordinals of the removed documents, ascending.
    removed: Vec<u64>,
    /// Removals drawn at random.
    drawn: Vec<RemovedLine>,
}

/// Checks a run on its input; `work` is a folder for scratch files.
pub fn run(
    run: &Run,
    input: &Collection,
    request: &Request,
    work: &Path,
    watch: &Watch,
) -> Result<CheckResult, LabError> {
    let measure = run.recipe.measure()?;
    let offered = [Similarity::Jaccard, Similarity::Containment, Similarity::Cosine];
    if !offered.contains(&measure.similarity) {
        return Err(LabError::Request(format!(
            "there is no exact join for {}, and without one nobody knows what the run has missed",
            measure.similarity
        )));
    }
    let removals = run.removals(request.removals, request.seed)?;
    let profile = run.recipe.profile()?;
    let sample = Sample::draw(&work.join("sample"), input, request.sample, request.seed, watch)?;
    require_two_documents(&sample.documents)?;
    let found = sample.documents.manifest().found;
    if found != run.documents()? {
        return Err(LabError::Request(format!(
            "the run had {} documents and this input has {}; give the input that it had",
            thousands(run.documents()?),
            thousands(found)
        )));
    }
    let runner = TrialRunner {
        documents: &sample.documents,
        folder: work.join("trials"),
        settings: request.settings.clone(),
        max_group: 20_000,
        seed: request.seed,
    };
    let inputs = RecallInputs { sample: &sample, runner: &runner, removals: &removals, recipe: &run.recipe };
    let mut notes = Vec::new();
    let shares = inputs.shares(&MethodSetting::new(measure, profile.clone()), &mut notes, watch)?;
    let (measured, reached) = precision(input, &removals, measure, &profile, request, work, watch)?;
    let whole = measured == removals.removed.len() as u64;
    let right = (measured > 0).then(|| reached as f64 / measured as f64);
    let sure = |value: f64| if whole { Some((value, value)) } else { wilson(reached, measured) };
    Ok(CheckResult {
        documents: found,
        sampled: sample.documents.manifest().documents,
        near: shares.settled.pairs(),
        near_in_all: shares.settled.total_weight(),
        recall: shares.found.as_ref().and_then(estimate),
        settled: estimate(&shares.settled),
        gone: estimate(&shares.gone),
        rejected: sample.documents.manifest().rejected,
        removed: removals.removed.len() as u64,
        measured,
        precision: right.and_then(|value| Some(Estimate { value, interval: sure(value)? })),
        notes,
        seed: request.seed,
    })
}

fn estimate(share: &WeightedShare) -> Option<Estimate> {
    Some(Estimate { value: share.value()?, interval: share.interval()? })
}

/// The inputs of the search for missed near-duplicates.
struct RecallInputs<'l> {
    sample: &'l Sample,
    runner: &'l TrialRunner<'l>,
    removals: &'l Removals,
    recipe: &'l JobRecipe,
}

/// Three shares over the near-duplicates of the sample.
struct SampleShares {
    /// The share of pairs that the methods find; none if they were not run.
    found: Option<WeightedShare>,
    /// The share of pairs of which at least one document was removed.
    settled: WeightedShare,
    /// The share of documents removed, of those that should have been.
    gone: WeightedShare,
}

impl RecallInputs<'_> {
    fn shares(
        &self,
        method_setting: &MethodSetting,
        notes: &mut Vec<String>,
        watch: &Watch,
    ) -> Result<SampleShares, LabError> {
        let exact = self.runner.run(&Configuration::single("exact"), method_setting, watch)?;
        if exact.facts.giant_groups > 0 {
            notes.push(format!(
                "Up to {} near-duplicates in groups of more than {} documents are in no figure.",
                thousands(exact.facts.pairs_in_giant_groups),
                thousands(self.runner.max_group as u64)
            ));
        }
        let mut clusters = Clusters::default();
        for pair in exact.pairs()? {
            let pair = pair?;
            clusters.join(pair.a, pair.b);
        }
        let mut found = self
            .trial(method_setting, notes, watch)?
            .map(|trial| trial.pairs())
            .transpose()?
            .map(Iterator::peekable);
        let removed = self.removed()?;
        let max_weight =
            self.sample.max_near_duplicate_weight(&method_setting.measure, &method_setting.profile);
        let mut shares = SampleShares {
            found: found.as_ref().map(|_| WeightedShare::new(max_weight)),
            settled: WeightedShare::new(max_weight),
            gone: WeightedShare::new(max_weight),
        };
        // Of each document that stays, the nearest earlier one that stays as well.
        let mut stays: BTreeMap<u32, f64> = BTreeMap::new();
        // What a pair stands for hangs on the shingles that the sample was drawn by.
        let resemblance =
            Measure { similarity: Similarity::Jaccard, threshold: Threshold::LOWEST, shingle: SHINGLE };
        let measurer = PairMeasurer::new(
            &self.sample.documents,
            resemblance,
            &Profile::web(),
            self.runner.settings.memory,
        );
        let pairs = exact.pairs()?.map(|pair| pair.map(|pair| (pair.a, pair.b)));
        measurer.measure(pairs, watch, |(a, b), measured| {
            let weight = self.sample.weight(measured.map_or(0.0, |measured| measured.forward));
            let (cluster, gone) = (clusters.of(a), removed[a as usize] || removed[b as usize]);
            shares.settled.add(cluster, weight, gone);
            if let (Some(found), Some(share)) = (&mut found, &mut shares.found) {
                share.add(cluster, weight, contains_sorted(found, (a, b))?);
            }
            if !gone {
                let least = stays.entry(b).or_insert(f64::MAX);
                *least = least.min(weight);
            }
            Ok(())
        })?;
        for (document, weight) in stays {
            shares.gone.add(clusters.of(document), weight, false);
        }
        for document in (0..).zip(&removed).filter(|(_, gone)| **gone).map(|(document, _)| document) {
            shares.gone.add(clusters.of(document), 1.0 / self.sample.share, true);
        }
        Ok(shares)
    }

    /// The run's methods on the documents that were drawn; nothing if they need a lexicon that is not here.
    fn trial(
        &self,
        method_setting: &MethodSetting,
        notes: &mut Vec<String>,
        watch: &Watch,
    ) -> Result<Option<Trial>, LabError> {
        if self.recipe.lexicon.is_some() {
            let note = "The run had a lexicon of another corpus, so that its methods are not run again, and nothing is said of \
                        the pairs that they find.";
            notes.push(note.to_owned());
            return Ok(None);
        }
        let configuration = Configuration {
            methods: self.recipe.methods.iter().map(ToString::to_string).collect(),
            combine: self.recipe.combine,
            filter: self.recipe.filter.as_ref().map(ToString::to_string),
            lexicon: None,
            verified: self.recipe.verified,
        };
        self.runner.run(&configuration, method_setting, watch).map(Some)
    }

    /// Returns for each document of the sample whether the run removed it.
    fn removed(&self) -> Result<Vec<bool>, LabError> {
        let one = |document: u32| {
            let ordinal = self.sample.documents.line(document)?.n;
            Ok(self.removals.removed.binary_search(&ordinal).is_ok())
        };
        (0..self.sample.documents.len() as u32).map(one).collect()
    }
}

/// True when a pair is among others that come in the same order.
fn contains_sorted(
    pairs: &mut std::iter::Peekable<impl Iterator<Item = Result<Pair, LabError>>>,
    wanted: (u32, u32),
) -> Result<bool, LabError> {
    loop {
        match pairs.peek() {
            Some(Ok(pair)) if (pair.a, pair.b) < wanted => drop(pairs.next()),
            Some(Ok(pair)) => return Ok((pair.a, pair.b) == wanted),
            Some(Err(_)) => return pairs.next().map_or(Ok(false), |error| error.map(|_| false)),
            None => return Ok(false),
        }
    }
}

/// Removals that were measured again, and those that reach the threshold.
fn precision(
    input: &Collection,
    removals: &Removals,
    measure: Measure,
    profile: &Profile,
    request: &Request,
    work: &Path,
    watch: &Watch,
) -> Result<(u64, u64), LabError> {
    let wanted: BTreeSet<u64> =
        removals.drawn.iter().flat_map(|removal| [removal.n, removal.witness_n]).collect();
    if wanted.is_empty() {
        return Ok((0, 0));
    }
    let label = format!("removals by seed {}", request.seed);
    let keep = &mut |n: u64, _: &Document<'_>, _: &str| wanted.contains(&n);
    let documents =
        DocumentCopy::open_or_create(&work.join("removals"), input.source(), &[], (&label, keep), watch)?;
    let places: BTreeMap<u64, u32> = wanted.into_iter().zip(0..).collect();
    let mut order: Vec<(u32, u32)> = Vec::new();
    for removal in &removals.drawn {
        let pair = (places[&removal.n], places[&removal.witness_n]);
        for (place, id) in [(pair.0, &removal.id), (pair.1, &removal.witness)] {
            if documents.line(place)?.name != *id {
                return Err(LabError::Request(format!(
                    "document {} of this input is {} and was {id} in the run; give the input that it had, in the same order",
                    documents.line(place)?.n,
                    documents.line(place)?.name
                )));
            }
        }
        order.push(pair);
    }
    order.sort_unstable();
    let measurer = PairMeasurer::new(&documents, measure, profile, request.settings.memory);
    let (mut measured, mut reached) = (0, 0);
    measurer.measure::<LabError>(order.into_iter().map(Ok), watch, |_, found| {
        measured += 1;
        // Containment asks for the removed document in its witness, which is the first in the second.
        reached += u64::from(found.is_some_and(|found| found.reached));
        Ok(())
    })?;
    Ok((measured, reached))
}

impl CheckResult {
    /// The check for people.
    pub fn study(&self, recipe: &JobRecipe) -> Study {
        let share = |share: Option<Estimate>| {
            share.map_or("unknown".to_owned(), |share| format!("{:.4}", share.value))
        };
        let mut study = Study {
            id: "check".to_owned(),
            title: "What the run reached".to_owned(),
            lead: format!(
                "The run's methods find about {} of all pairs of near-duplicates; of {} of the pairs a document is gone, and of \
                 the documents that should have gone {} did. Of the removals {} are near-duplicates of their witnesses.",
                share(self.recall),
                share(self.settled),
                share(self.gone),
                share(self.precision),
            ),
            notes: self.notes.clone(),
            ..Study::default()
        };
        if self.near == 0 {
            study.notes.push(
                "There is no pair of near-duplicates in the sample, so that nothing is known of recall; give more --documents."
                    .to_owned(),
            );
        }
        let mut grid = Grid::new("Reached on the whole corpus", ["what", "share", "95 %", "from"]);
        let mut row = |what: &str, share: Option<Estimate>, from: String| {
            grid.row([
                what.into(),
                share.map(|share| share.value).into(),
                share.map(|share| share.interval).into(),
                from.into(),
            ]);
        };
        let near = format!("{} pairs", thousands(self.near));
        row("recall: pairs that the methods find", self.recall, near.clone());
        row("pairs of which a document is gone", self.settled, near);
        row(
            "documents gone of those that should",
            self.gone,
            format!("{} documents", thousands(self.sampled)),
        );
        row(
            "precision: removals that are right",
            self.precision,
            format!("{} removals", thousands(self.measured)),
        );
        study.table(grid);
        study.fact("documents", thousands(self.documents));
        study.fact("removed", thousands(self.removed));
        study
            .fact("near-duplicate", format!("{}/{}:{}", recipe.similarity, recipe.shingle, recipe.threshold));
        study.fact("seed", self.seed.to_string());
        study
    }
}

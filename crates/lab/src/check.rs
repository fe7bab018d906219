//! After a run: what recall and precision did it reach on the whole corpus?
//!
//! Recall: a sample of the input is drawn that keeps near-duplicates together, the exact join tells its near-duplicates,
//! and a pair is counted as found when one of its documents was removed. Precision: removals are drawn at random, and each
//! removed document is measured against its witness.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use lookalike::engine::measure::Measure;
use lookalike::engine::recipe::JobRecipe;
use lookalike::engine::{Settings, Summary};
use lookalike::model::{Similarity, Threshold};
use lookalike::report::study::Grid;
use lookalike::report::{Study, thousands};
use lookalike::text::{Profile, hash};
use lookalike::walk::Watch;
use serde::{Deserialize, Serialize};

use crate::collection::Collection;
use crate::error::LabError;
use crate::gauge::Gauge;
use crate::interval::wilson;
use crate::sample::{Clusters, SHINGLE, Sample, Weighed};
use crate::shelf::Shelf;
use crate::trial::{Basis, Bench, Configuration};

/// A finished run of `dedup`.
#[derive(Debug)]
pub struct Run {
    /// Its recipe.
    pub recipe: JobRecipe,
    folder: PathBuf,
    /// Its input files, as far as it noted them.
    pub files: Vec<PathBuf>,
}

/// What a check looks at.
#[derive(Debug, Clone)]
pub struct Request {
    /// Documents to draw.
    pub sample: usize,
    /// Removals to measure.
    pub removals: usize,
    /// Seed of every random choice.
    pub seed: u64,
    /// How the work is done.
    pub settings: Settings,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// Documents of the corpus.
    pub documents: u64,
    /// Documents that were drawn.
    pub sampled: u64,
    /// Near-duplicates among them.
    pub near: u64,
    /// About as many are in the whole corpus.
    pub near_in_all: f64,
    /// Share of them of which one document at least was removed.
    pub recall: Option<f64>,
    /// How sure that is, at 95 %.
    pub recall_interval: Option<(f64, f64)>,
    /// Removals of the run.
    pub removed: u64,
    /// Removals that were measured.
    pub measured: u64,
    /// Those that reach the threshold.
    pub reached: u64,
    /// Share of them.
    pub precision: Option<f64>,
    /// How sure that is.
    pub precision_interval: Option<(f64, f64)>,
    /// Seed of the draws.
    pub seed: u64,
}

#[derive(Deserialize)]
struct RunFile {
    #[serde(default)]
    files: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Removal {
    n: u64,
    witness_n: u64,
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
        let facts = std::fs::read(folder.join("run.json")).ok();
        let facts: Option<RunFile> = facts.and_then(|text| serde_json::from_slice(&text).ok());
        Ok(Run { recipe, folder: folder.to_owned(), files: facts.map_or_else(Vec::new, |facts| facts.files) })
    }

    /// Who was removed, and some removals at random.
    fn removals(&self, most: usize, seed: u64) -> Result<Removals, LabError> {
        let path = self.folder.join("removed.jsonl");
        let file = File::open(&path).map_err(|error| LabError::read(&path, &error))?;
        let (mut removed, mut drawn) = (Vec::new(), BTreeMap::new());
        for line in BufReader::new(file).lines() {
            let line = line.map_err(|error| LabError::read(&path, &error))?;
            let Removal { n, witness_n } =
                serde_json::from_str(&line).map_err(|error| LabError::read(&path, &error))?;
            removed.push(n);
            drawn.insert((hash::nth(n, hash::mix(seed)), n), witness_n);
            if drawn.len() > most {
                drawn.pop_last();
            }
        }
        removed.sort_unstable();
        let drawn = drawn.into_iter().map(|((_, n), witness)| (n, witness)).collect();
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

/// Who was removed: 8 bytes each.
struct Removals {
    /// Ordinals, in order.
    removed: Vec<u64>,
    /// Some at random, with their witnesses.
    drawn: Vec<(u64, u64)>,
}

/// Checks a run on its input; `work` is a folder for scratch files.
pub fn run(
    run: &Run,
    input: &Collection,
    request: &Request,
    work: &Path,
    watch: &Watch,
) -> Result<Checked, LabError> {
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
    sample.shelf.needs_two()?;
    let found = sample.shelf.facts().found;
    if found != run.documents()? {
        return Err(LabError::Request(format!(
            "the run had {} documents and this input has {}; give the input that it had",
            thousands(run.documents()?),
            thousands(found)
        )));
    }
    let recall = recall(&sample, &removals, measure, &profile, request, work, watch)?;
    let (measured, reached) = precision(input, &removals, measure, &profile, request, work, watch)?;
    Ok(Checked {
        documents: found,
        sampled: sample.shelf.facts().documents,
        near: recall.pairs(),
        near_in_all: recall.stand_for(),
        recall: recall.value(),
        recall_interval: recall.interval(),
        removed: removals.removed.len() as u64,
        measured,
        reached,
        precision: (measured > 0).then(|| reached as f64 / measured as f64),
        precision_interval: wilson(reached, measured),
        seed: request.seed,
    })
}

/// The share of near-duplicates of which a document was removed.
fn recall(
    sample: &Sample,
    removals: &Removals,
    measure: Measure,
    profile: &Profile,
    request: &Request,
    work: &Path,
    watch: &Watch,
) -> Result<Weighed, LabError> {
    let bench = Bench {
        shelf: &sample.shelf,
        folder: work.join("trials"),
        settings: request.settings.clone(),
        max_group: 20_000,
        seed: request.seed,
    };
    let basis = Basis::new(measure, profile.clone());
    let exact = bench.run(&Configuration::alone("exact"), &basis, watch)?;
    let mut clusters = Clusters::default();
    for pair in exact.pairs()? {
        let pair = pair?;
        clusters.tie(pair.a, pair.b);
    }
    let ordinals: Vec<u64> = (0..sample.shelf.len() as u32)
        .map(|at| Ok(sample.shelf.line(at)?.n))
        .collect::<Result<_, LabError>>()?;
    let gone = |document: u32| removals.removed.binary_search(&ordinals[document as usize]).is_ok();
    // What a pair stands for hangs on the shingles that the sample was drawn by.
    let resemblance =
        Measure { similarity: Similarity::Jaccard, threshold: Threshold::LOWEST, shingle: SHINGLE };
    let gauge = Gauge::new(&sample.shelf, resemblance, &Profile::web(), request.settings.memory);
    let pairs = exact.pairs()?.map(|pair| pair.map(|pair| (pair.a, pair.b)));
    let mut recall = Weighed::default();
    gauge.measure(pairs, watch, |(a, b), measured| {
        let weight = sample.weight(measured.map_or(0.0, |measured| measured.forward));
        recall.add(clusters.of(a), weight, gone(a) || gone(b));
        Ok(())
    })?;
    Ok(recall)
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
    let wanted: BTreeSet<u64> = removals.drawn.iter().flat_map(|&(n, witness)| [n, witness]).collect();
    if wanted.is_empty() {
        return Ok((0, 0));
    }
    let what = format!("removals by seed {}", request.seed);
    let keep = &mut |n: u64, _: &str| wanted.contains(&n);
    let shelf = Shelf::stock(&work.join("removals"), input, &[], (&what, keep), watch)?;
    let places: BTreeMap<u64, u32> = wanted.into_iter().zip(0..).collect();
    let mut order: Vec<(u32, u32)> =
        removals.drawn.iter().map(|(n, witness)| (places[n], places[witness])).collect();
    order.sort_unstable();
    let gauge = Gauge::new(&shelf, measure, profile, request.settings.memory);
    let (mut measured, mut reached) = (0, 0);
    gauge.measure(order.into_iter().map(Ok), watch, |_, found| {
        measured += 1;
        // Containment asks for the removed document in its witness, which is the first in the second.
        reached += u64::from(found.is_some_and(|found| found.reached));
        Ok(())
    })?;
    Ok((measured, reached))
}

impl Checked {
    /// The check for people.
    pub fn study(&self, recipe: &JobRecipe) -> Study {
        let share = |value: Option<f64>| value.map_or("unknown".to_owned(), |value| format!("{value:.4}"));
        let mut study = Study {
            id: "check".to_owned(),
            title: "What the run reached".to_owned(),
            lead: format!(
                "Recall is about {} and precision {}: of {} near-duplicates in a sample of {} documents, and of {} \
                 removals that were measured again.",
                share(self.recall),
                share(self.precision),
                thousands(self.near),
                thousands(self.sampled),
                thousands(self.measured),
            ),
            ..Study::default()
        };
        if self.near == 0 {
            study.notes.push(
                "There is no pair of near-duplicates in the sample, so that nothing is known of recall; give a larger \
                 --sample."
                    .to_owned(),
            );
        }
        let mut grid =
            Grid::new("Reached on the whole corpus, at 95 %", ["what", "share", "95 %", "from pairs"]);
        grid.row(["recall".into(), self.recall.into(), self.recall_interval.into(), self.near.into()]);
        grid.row([
            "precision".into(),
            self.precision.into(),
            self.precision_interval.into(),
            self.measured.into(),
        ]);
        study.table(grid);
        study.fact("documents", thousands(self.documents));
        study.fact("removed", thousands(self.removed));
        study.fact("near-duplicates in the corpus, about", thousands(self.near_in_all.round() as u64));
        study
            .fact("near-duplicate", format!("{}/{}:{}", recipe.similarity, recipe.shingle, recipe.threshold));
        study.fact("seed", self.seed.to_string());
        study
    }
}

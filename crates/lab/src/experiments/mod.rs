//! The papers' experiments, one file each: what was asked there, asked of a collection of one's own.
//!
//! An [`Experiment`] gets an [`ExperimentContext`] and fills in a [`Study`]: measured figures, the published ones beside
//! them, and a picture where the paper has one. Figures are never tuned towards the paper; a report says what moves a
//! method away from its published figures.

mod algorithms;
mod encyclopedia;
mod estimators;
mod henzinger;
mod judgments;
mod kinds;
mod lexicons;
mod lists;
mod main_content;
mod megashingles;
mod ngram_sets;
mod probabilistic;
mod rabin;
mod ratios_and_addresses;
mod relative_size;
mod revisions;
mod robustness;
mod stability;
mod tables;
mod transfers;
mod urls;
mod walks;
mod world;

use std::path::{Path, PathBuf};

use lookalike::engine::Settings;
use lookalike::engine::document_copy::DocumentCopy;
use lookalike::report::Study;
use lookalike::walk::Watch;

use crate::collection::{Collection, CollectionKind};
use crate::generated;
use crate::trial::{LabError, TrialRunner};

/// An experiment of the catalogue.
#[derive(Debug)]
pub struct Experiment {
    /// Its number in the catalogue, such as `E7`.
    pub id: &'static str,
    /// The question that it asks, as a title.
    pub title: &'static str,
    /// The paper.
    pub source: &'static str,
    /// The kind of collection that it takes by default; none when it needs no documents.
    pub data: Option<CollectionKind>,
    /// Runs it.
    pub run: fn(&ExperimentContext<'_>) -> Result<Study, LabError>,
}

/// All experiments, by number.
pub static EXPERIMENTS: &[&Experiment] = &[
    &algorithms::E1,
    &algorithms::E2,
    &megashingles::EXPERIMENT,
    &lexicons::E4,
    &lexicons::E5,
    &stability::EXPERIMENT,
    &revisions::E7,
    &henzinger::E8,
    &urls::EXPERIMENT,
    &judgments::EXPERIMENT,
    &encyclopedia::EXPERIMENT,
    &tables::EXPERIMENT,
    &estimators::EXPERIMENT,
    &rabin::EXPERIMENT,
    &relative_size::EXPERIMENT,
    &ratios_and_addresses::EXPERIMENT,
    &walks::EXPERIMENT,
    &probabilistic::EXPERIMENT,
    &robustness::EXPERIMENT,
    &main_content::EXPERIMENT,
    &ngram_sets::EXPERIMENT,
    &kinds::E22,
];

/// Larger groups of documents with a common key do not propose all of their pairs.
const MAX_GROUP: usize = 20_000;

/// The experiment of this number, in capitals or not.
pub fn find(id: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.id.eq_ignore_ascii_case(id)).copied()
}

/// The inputs and settings of an experiment.
#[derive(Debug)]
pub struct ExperimentContext<'d> {
    /// The collection that the user named.
    pub given: Option<Collection>,
    /// The folder of known collections.
    pub data: Option<PathBuf>,
    /// A folder for scratch files and jobs.
    pub folder: PathBuf,
    /// The most documents to look at, taken at random.
    pub documents: usize,
    /// Threads, memory and disk use of jobs, which change no result.
    pub settings: Settings,
    /// Seed of every random choice.
    pub seed: u64,
    /// Stops the work, and tells how far it is.
    pub watch: &'d Watch,
}

impl ExperimentContext<'_> {
    /// Returns the collection that the user named, else a known one, else a generated one.
    pub fn collection(&self, kind: CollectionKind) -> Result<Collection, LabError> {
        if let Some(given) = &self.given {
            return Ok(given.clone());
        }
        let known = self.data.as_deref().map(|data| kind.open_known(data)).transpose()?.flatten();
        Ok(known.unwrap_or_else(|| generated::collection(kind, self.seed)))
    }

    /// Returns the collection that the user named; else every known collection of these kinds that is there; else a generated
    /// one.
    pub fn collections(&self, kinds: &[CollectionKind]) -> Result<Vec<Collection>, LabError> {
        let known = match (&self.given, &self.data) {
            (None, Some(data)) => {
                kinds.iter().map(|kind| kind.open_known(data)).collect::<Result<Vec<_>, _>>()?
            }
            _ => Vec::new(),
        };
        let known: Vec<Collection> = known.into_iter().flatten().collect();
        match (known.is_empty(), kinds.first()) {
            (true, Some(first)) => Ok(vec![self.collection(*first)?]),
            _ => Ok(known),
        }
    }

    /// Returns a runner of trials on a copy of a collection that lies in `folder`.
    pub fn trial_runner<'b>(&self, documents: &'b DocumentCopy, folder: &Path) -> TrialRunner<'b> {
        TrialRunner {
            documents,
            folder: folder.join("trials"),
            settings: self.settings.clone(),
            max_group: MAX_GROUP,
            seed: self.seed,
        }
    }

    /// A study with the facts that all have.
    pub fn study(&self, experiment: &Experiment, on: Option<&Collection>) -> Study {
        let mut study =
            Study { id: experiment.id.to_owned(), title: experiment.title.to_owned(), ..Study::default() };
        study.fact("source", experiment.source);
        if let Some(collection) = on {
            study.fact("collection", collection.name.as_str());
        }
        study.fact("seed", self.seed.to_string());
        study
    }
}

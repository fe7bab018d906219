//! The papers' experiments, one file each: what was asked there, asked of a collection of one's own.
//!
//! An [`Experiment`] gets a [`Desk`] and fills in a [`Study`]: measured figures, the published ones beside them, and a
//! picture where the paper has one. Figures are never tuned towards the paper; what differs is explained.

mod encyclopedia;
mod judgments;
mod lists;
mod main_content;
mod ratios_and_addresses;
mod relative_size;
mod transfers;
mod urls;
mod walks;
mod world;

use std::path::PathBuf;

use lookalike::engine::Settings;
use lookalike::report::Study;
use lookalike::walk::Watch;

use crate::collection::{Collection, Wanted};
use crate::generated;
use crate::trial::LabError;

/// An experiment of the catalogue.
#[derive(Debug)]
pub struct Experiment {
    /// Its number in the catalogue, such as `E7`.
    pub id: &'static str,
    /// What it asks.
    pub title: &'static str,
    /// The paper.
    pub source: &'static str,
    /// What it looks at by default; none when it needs no documents.
    pub data: Option<Wanted>,
    /// Does it.
    pub run: fn(&Desk<'_>) -> Result<Study, LabError>,
}

/// All experiments, by number.
pub const EXPERIMENTS: &[&Experiment] = &[
    &urls::EXPERIMENT,
    &judgments::EXPERIMENT,
    &encyclopedia::EXPERIMENT,
    &relative_size::EXPERIMENT,
    &ratios_and_addresses::EXPERIMENT,
    &walks::EXPERIMENT,
    &main_content::EXPERIMENT,
];

/// The experiment of this number, in capitals or not.
pub fn find(id: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.id.eq_ignore_ascii_case(id)).copied()
}

/// What lies on the desk of whoever does an experiment.
#[derive(Debug)]
pub struct Desk<'d> {
    /// The collection that the user named.
    pub given: Option<Collection>,
    /// The folder of known collections.
    pub data: Option<PathBuf>,
    /// A folder for scratch files and jobs.
    pub folder: PathBuf,
    /// Look at no more documents than this, taken at random.
    pub documents: usize,
    /// How jobs are run.
    pub settings: Settings,
    /// Seed of every random choice.
    pub seed: u64,
    /// Stops the work, and tells how far it is.
    pub watch: &'d Watch,
}

impl Desk<'_> {
    /// What the user named, a known collection, or a generated one.
    pub fn collection(&self, wanted: Wanted) -> Result<Collection, LabError> {
        if let Some(given) = &self.given {
            return Ok(given.clone());
        }
        let known = self.data.as_deref().map(|data| wanted.known(data)).transpose()?.flatten();
        Ok(known.unwrap_or_else(|| generated::collection(wanted, self.seed)))
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

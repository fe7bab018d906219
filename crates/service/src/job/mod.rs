//! A finished `dedup` job: its tables on disk, lookups in them, and the texts of its input.
//!
//! In memory are 20 bytes for each cluster, 4 more for each sort order requested, and a mark for every 256 removals and documents;
//! everything else is read on demand.

mod clusters;
mod removals;
mod texts;

use std::path::{Path, PathBuf};

use lookalike::engine::recipe::{RecipeError, Task};
use lookalike::engine::{JobRecipe, Summary};
use lookalike::report::{Bin, SizeBin};
use serde::Deserialize;
use serde::de::DeserializeOwned;

pub(crate) use self::clusters::{Clusters, size_bins};
pub(crate) use self::removals::Removals;
pub(crate) use self::texts::{Text, TextResult, Texts, title};
use crate::ServiceError;

/// Facts about the run.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunFacts {
    pub(crate) seconds: f64,
    /// Seconds since 1970.
    pub(crate) finished: u64,
    /// The files of the input.
    pub(crate) files: Vec<String>,
}

/// A finished job.
#[derive(Debug)]
pub struct Job {
    pub(crate) folder: PathBuf,
    pub(crate) recipe: JobRecipe,
    pub(crate) summary: Summary,
    pub(crate) facts: RunFacts,
    pub(crate) clusters: Clusters,
    pub(crate) removals: Removals,
    pub(crate) texts: Texts,
}

impl Job {
    /// True when the folder looks like that of a job, finished or not.
    pub(crate) fn is_one(folder: &Path) -> bool {
        folder.join("summary.json").is_file() || folder.join("work/job.json").is_file()
    }

    /// Opens a job; its tables are read through once.
    pub(crate) fn open(folder: &Path) -> Result<Self, ServiceError> {
        if !folder.join("summary.json").is_file() {
            return Err(ServiceError::Unfinished(folder.to_owned()));
        }
        let recipe = recipe(folder)?;
        let table = folder.join("clusters.jsonl");
        if !table.is_file() && folder.join("clusters.parquet").is_file() {
            return Err(ServiceError::Parquet(folder.to_owned()));
        }
        let summary = json(&folder.join("summary.json"))?;
        let facts: RunFacts = json(&folder.join("run.json"))?;
        let mut clusters = Clusters::open(&table)?;
        let removals = Removals::open(&folder.join("removed.jsonl"), &mut clusters)?;
        let texts = Texts::new(&facts.files, &recipe);
        Ok(Job { folder: folder.to_owned(), recipe, summary, facts, clusters, removals, texts })
    }

    /// Removed documents by their similarity to the one that stays for them.
    pub(crate) fn similarities(&self) -> Vec<Bin> {
        let threshold = self.recipe.measure().map_or(1.0, |measure| measure.threshold.value());
        bins(&self.removals.histogram, threshold)
    }

    /// Clusters by size, in powers of two.
    pub(crate) fn sizes(&self) -> Vec<SizeBin> {
        self.clusters.sizes()
    }
}

/// Hundredths of similarity from the threshold on, or from the first that is not empty. The last one holds what is equal, too.
pub(crate) fn bins(histogram: &[u64], threshold: f64) -> Vec<Bin> {
    let filled = histogram.iter().position(|count| *count > 0).unwrap_or(histogram.len());
    let first = filled.min((threshold * 100.0).round() as usize).min(99);
    let bin = |(index, &pairs): (usize, &u64)| Bin { lower: index as f64 / 100.0, pairs };
    let mut bins: Vec<Bin> = histogram.iter().enumerate().take(100).skip(first).map(bin).collect();
    if let (Some(last), Some(equal)) = (bins.last_mut(), histogram.get(100)) {
        last.pairs += equal;
    }
    bins
}

fn recipe(folder: &Path) -> Result<JobRecipe, ServiceError> {
    let file = folder.join("recipe.toml");
    let text = std::fs::read_to_string(&file).map_err(ServiceError::read(&file))?;
    let recipe = JobRecipe::from_toml(&text).map_err(|error| match error {
        made @ RecipeError::OtherVersion { .. } => {
            ServiceError::OtherVersion { folder: folder.to_owned(), made }
        }
        RecipeError::Unreadable(what) => ServiceError::Damaged { file: file.clone(), what },
    })?;
    if recipe.task != Task::Dedup {
        let task = format!("{:?}", recipe.task).to_lowercase();
        return Err(ServiceError::OtherTask { folder: folder.to_owned(), task });
    }
    Ok(recipe)
}

fn json<T: DeserializeOwned>(file: &Path) -> Result<T, ServiceError> {
    let bytes = std::fs::read(file).map_err(ServiceError::read(file))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ServiceError::Damaged { file: file.to_owned(), what: error.to_string() })
}

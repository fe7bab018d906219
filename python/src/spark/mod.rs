//! Functions that Spark's workers and driver call: batches of rows in, batches of rows out. Spark moves rows between the machines; all
//! that is decided is decided by the engine.
//!
//! - `columns`: the columns of a batch, by name
//! - `documents`: rows of a batch as documents
//! - `sketches`: documents become sketches, and sketches postings
//! - `groups`: postings in order become pairs, and pairs candidates
//! - `portions`: documents that hang together are measured and decided
//! - `rejections`: rows that are no documents, and whether they are too many
//! - `learning`: what methods must know of all documents
//! - `reading`: files of any format become rows
//! - `addresses`: addresses become keys and hosts, and those that two tables share are found
//! - `transfer`: judgments carried over, settled on the driver
//! - `tables`: rows that come through the driver become the tables of the command line

mod addresses;
mod columns;
mod documents;
mod groups;
mod learning;
mod portions;
mod reading;
mod rejections;
mod sketches;
mod tables;
mod transfer;

use std::path::Path;
use std::sync::Arc;

use lookalike::engine::examine::Examiner;
use lookalike::engine::recipe::{ClusterRule, Within};
use lookalike::engine::{EngineError, JobRecipe};
use lookalike::hash::Secret;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use crate::errors::Failure;
use crate::options::Options;

/// Adds the submodule `lookalike._core.spark`, under which workers import it.
pub(crate) fn add(core: &Bound<'_, PyModule>) -> PyResult<()> {
    const NAME: &str = "lookalike._core.spark";
    let module = PyModule::new(core.py(), NAME)?;
    module.add_class::<sketches::Sketcher>()?;
    module.add_class::<groups::Groups>()?;
    module.add_class::<groups::Filter>()?;
    module.add_class::<portions::Portions>()?;
    module.add_class::<learning::Words>()?;
    module.add_class::<learning::WordSums>()?;
    module.add_class::<learning::Lexicon>()?;
    module.add_class::<learning::Survey>()?;
    module.add_class::<addresses::Addresses>()?;
    module.add_class::<addresses::Measurer>()?;
    module.add_class::<reading::ShardReader>()?;
    module.add_class::<tables::TableFile>()?;
    module.add_class::<transfer::JudgedFiles>()?;
    module.add_class::<transfer::TransferInput>()?;
    module.add_function(wrap_pyfunction!(addresses::addresses, &module)?)?;
    module.add_function(wrap_pyfunction!(addresses::domains, &module)?)?;
    module.add_function(wrap_pyfunction!(reading::shards, &module)?)?;
    module.add_function(wrap_pyfunction!(rejections::too_many_rejected, &module)?)?;
    module.add_function(wrap_pyfunction!(rejections::refuse_rejected, &module)?)?;
    module.add_function(wrap_pyfunction!(tables::ordered_recipe, &module)?)?;
    module.add_function(wrap_pyfunction!(transfer::address_keys, &module)?)?;
    module.add_function(wrap_pyfunction!(groups::contract, &module)?)?;
    module.add_function(wrap_pyfunction!(groups::label, &module)?)?;
    module.add_function(wrap_pyfunction!(learning::lexicons, &module)?)?;
    module.add_function(wrap_pyfunction!(learning::passes, &module)?)?;
    module.add_function(wrap_pyfunction!(learning::gather, &module)?)?;
    module.add_function(wrap_pyfunction!(learning::take_lexicon, &module)?)?;
    module.add_function(wrap_pyfunction!(facts, &module)?)?;
    module.add_function(wrap_pyfunction!(secret, &module)?)?;
    module.add_function(wrap_pyfunction!(job_recipe, &module)?)?;
    core.py().import("sys")?.getattr("modules")?.set_item(NAME, &module)?;
    core.add("spark", module)
}

/// A failure as an exception.
fn raise(error: EngineError) -> PyErr {
    Failure::from(error).into()
}

/// A recipe as it travels to workers.
fn recipe(toml: &str) -> PyResult<JobRecipe> {
    JobRecipe::from_toml(toml)
        .map_err(|error| raise(EngineError::Request(format!("the recipe cannot be read: {error}"))))
}

/// The recipe that these keywords ask for: of `dedup`, `pairs` or `compare`.
#[pyfunction]
fn job_recipe(task: &str, options: Options<'_>) -> PyResult<String> {
    let (matching, documents) = (options.matching()?, options.documents()?);
    let recipe = match task {
        "pairs" => matching.pairs(&documents, options.all()?),
        "compare" => matching.compare(&documents),
        _ => {
            let (keep, cluster) = options.keeping()?;
            matching.dedup(&documents, &keep, cluster, false)
        }
    };
    Ok(recipe.map_err(raise)?.to_toml())
}

/// A new secret, for all workers of a job.
#[pyfunction]
fn secret() -> String {
    format!("{:032x}", Secret::random().seed())
}

/// A recipe made real, with what its methods learned.
fn examiner(toml: &str, knowledge: &Path) -> PyResult<Arc<Examiner>> {
    open(toml, knowledge).map(Arc::new)
}

fn open(toml: &str, knowledge: &Path) -> PyResult<Examiner> {
    Examiner::open(recipe(toml)?, knowledge).map_err(raise)
}

/// Returns the facts of a recipe that the driver needs: the number of its methods and the size above which groups are handled with their
/// records; the field that keepers are chosen by, the field that documents are compared within, and whether they are compared within
/// hosts; and whether whole components are merged.
#[pyfunction]
fn facts(toml: &str) -> PyResult<RecipeFacts> {
    let recipe = recipe(toml)?;
    let [keep, within] =
        documents::fields(&recipe).map_err(raise)?.map(|name| Some(name).filter(|name| !name.is_empty()));
    let url = matches!(recipe.within(), Some(Within::Host));
    let merges = recipe.cluster == ClusterRule::Components;
    Ok(((recipe.methods.len(), recipe.max_group), (keep, within, url), merges))
}

/// See [`facts`].
type RecipeFacts = ((usize, usize), (Option<String>, Option<String>, bool), bool);

/// A batch for Python.
fn out(py: Python<'_>, batch: arrow_array::RecordBatch) -> PyResult<Bound<'_, PyAny>> {
    PyRecordBatch::new(batch).into_pyarrow(py)
}

//! Judgments carried over: what the cluster found is settled on the driver, by the code of the command line.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, BooleanArray, RecordBatch};
use lookalike::corpus::ListReader;
use lookalike::engine::compared::BothCounts;
use lookalike::engine::{EngineError, Findings, Summary};
use lookalike::judgments::{Judgments, Layout, judged_documents};
use lookalike::walk::Watch;
use lookalike_overlap::address::Matching;
use lookalike_transfer::compare::ComparisonSettings;
use lookalike_transfer::compared::{ListedDocument, ListedPair, Lists};
use lookalike_transfer::moved::Matches;
use lookalike_transfer::segments::{Segment, Segments};
use lookalike_transfer::transfer::{self, Request};
use lookalike_transfer::{TransferError, compared};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;
use serde::Deserialize;

use super::columns::{self, number};
use super::raise;
use crate::errors::Failure;
use crate::options::Options;

/// Files of judgments.
#[pyclass(frozen)]
pub(super) struct JudgedFiles {
    files: Vec<Judgments>,
}

#[pymethods]
impl JudgedFiles {
    #[new]
    fn new(paths: Vec<PathBuf>, layout: Option<&str>) -> PyResult<Self> {
        let wrong = |why| Failure::Usage(format!("invalid value for 'layout': {why}"));
        let layout: Option<Layout> = layout.map(str::parse).transpose().map_err(wrong)?;
        let read = |path: &PathBuf| -> Result<Judgments, TransferError> {
            Ok(Judgments::read(&path.display().to_string(), ListReader::open(path)?, layout)?)
        };
        let files: Result<Vec<_>, _> = paths.iter().map(read).collect();
        let mut files = files.map_err(Failure::from)?;
        transfer::make_names_unique(&mut files);
        if judged_documents(&files).is_empty() {
            let sentence = "there is no judgment of a document in these files; look at what judgments names";
            return Err(Failure::Usage(sentence.to_owned()).into());
        }
        Ok(JudgedFiles { files })
    }

    /// The ids of judged documents, ascending.
    fn documents(&self) -> Vec<String> {
        judged_documents(&self.files).into_iter().map(|one| one.document.to_owned()).collect()
    }

    /// Returns the names of the files of judgments.
    fn tracks(&self) -> Vec<String> {
        self.files.iter().map(|file| file.track.clone()).collect()
    }
}

/// The keys of addresses, as documents of two corpora are found to have the same; nothing for what is none.
#[pyfunction]
pub(super) fn address_keys<'py>(py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyAny>> {
    let batch = batch.into_inner();
    let missing = || EngineError::Request("the column url is not there".to_owned());
    let urls = columns::texts(&batch, "url").map_err(raise)?.ok_or_else(missing).map_err(raise)?;
    let mut keys = arrow_array::builder::BinaryBuilder::new();
    for row in 0..batch.num_rows() {
        let key = urls.get(row).and_then(|url| compared::address_key(Matching::Normal, url));
        keys.append_option(key);
    }
    let schema = batch.schema();
    let names = schema.fields().iter().map(|field| field.name().as_str());
    let mut all: Vec<_> = names.zip(batch.columns().iter().cloned()).collect();
    all.push(("key", std::sync::Arc::new(keys.finish())));
    super::out(py, columns::batch(all).map_err(raise)?)
}

/// The facts that come from the cluster beside pairs.
#[derive(Deserialize)]
struct TransferFacts {
    both: BothCounts,
    candidates: u64,
    verified: u64,
    giant_groups: u64,
    missing: Vec<String>,
    old_rejected: u64,
    name: String,
    all: bool,
}

/// Judged documents and their near-duplicates, as they come from the cluster.
#[pyclass(frozen, name = "Settlement")]
pub(super) struct TransferInput {
    input: Mutex<(Vec<ListedDocument>, Vec<ListedPair>)>,
}

#[pymethods]
impl TransferInput {
    #[new]
    fn new() -> Self {
        TransferInput { input: Mutex::default() }
    }

    /// Judged documents (n, id, url, shared), in their order.
    fn documents(&self, batch: PyRecordBatch) -> PyResult<()> {
        let found = documents(&batch.into_inner()).map_err(raise)?;
        self.input.lock().unwrap_or_else(PoisonError::into_inner).0.extend(found);
        Ok(())
    }

    /// Pairs (a_n, b_n, b, url, similarity, near, methods), in the order of both numbers.
    fn pairs(&self, batch: PyRecordBatch) -> PyResult<()> {
        let found = pairs(&batch.into_inner()).map_err(raise)?;
        self.input.lock().unwrap_or_else(PoisonError::into_inner).1.extend(found);
        Ok(())
    }

    /// Moves the judgments and writes all files into a folder.
    fn finish(
        &self,
        py: Python<'_>,
        judged: &JudgedFiles,
        folder: PathBuf,
        facts: &str,
        options: Options<'_>,
    ) -> PyResult<()> {
        let matching = options.matching()?;
        let recipe = matching.compare(&options.documents()?).map_err(raise)?;
        let facts: TransferFacts = serde_json::from_str(facts)
            .map_err(|error| Failure::Usage(format!("the facts of a transfer cannot be read: {error}")))?;
        let (lefts, pairs) = std::mem::take(&mut *self.input.lock().unwrap_or_else(PoisonError::into_inner));
        let segment = Segment { name: facts.name.clone(), shards: 1, snapshot: 0 };
        let settings = ComparisonSettings {
            methods: matching.names(&recipe),
            segments: Segments::new(vec![segment], &[]),
            forecast: None,
            matching: Matching::Normal,
        };
        let lists = Lists { recipe, lefts, pairs, both: facts.both.clone(), folder };
        let moved = py.detach(|| write_transfer(&judged.files, &lists, settings, &facts));
        Ok(moved.map_err(Failure::from)?)
    }
}

fn write_transfer(
    files: &[Judgments],
    lists: &Lists,
    settings: ComparisonSettings,
    facts: &TransferFacts,
) -> Result<(), TransferError> {
    let matches = if facts.all { Matches::All } else { Matches::Best };
    let request = Request {
        files,
        missing: &facts.missing,
        repeated: 0,
        rejected: facts.old_rejected,
        matches,
        // A sample to look at would need texts.
        sample: 0,
        seed: 0,
        memory: u64::MAX,
    };
    let moved = transfer::run(lists, &request, settings, &Watch::default())?;
    let findings = Findings {
        summary: Summary {
            candidates: facts.candidates,
            verified: facts.verified,
            giant_groups: facts.giant_groups,
            ..Summary::default()
        },
        ..Findings::default()
    };
    let summary = moved.summary(&lists.recipe, &findings, matches, String::new());
    let text = serde_json::to_string_pretty(&summary).map_err(std::io::Error::from);
    let text =
        text.map_err(|source| EngineError::Write { file: lists.folder.join("summary.json"), source })?;
    compared::ComparisonSource::write(lists, "summary.json", text.as_bytes())
}

fn flags<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b BooleanArray, EngineError> {
    let missing = || EngineError::Request(format!("the column {name} is not there, or holds no flags"));
    batch.column_by_name(name).and_then(|column| column.as_boolean_opt()).ok_or_else(missing)
}

fn documents(batch: &RecordBatch) -> Result<Vec<ListedDocument>, EngineError> {
    let (numbers, shared) = (columns::longs(batch, "n")?, flags(batch, "shared")?);
    let [ids, urls] = ["id", "url"].map(|name| columns::texts(batch, name));
    let (ids, urls) = (ids?, urls?);
    (0..batch.num_rows())
        .map(|row| {
            Ok(ListedDocument {
                n: number(numbers.value(row))?,
                id: ids.as_ref().and_then(|ids| ids.get(row)).unwrap_or_default().into(),
                url: urls.as_ref().and_then(|urls| urls.get(row)).map(Into::into),
                shared: shared.is_valid(row) && shared.value(row),
            })
        })
        .collect()
}

fn pairs(batch: &RecordBatch) -> Result<Vec<ListedPair>, EngineError> {
    let (lefts, rights) = (columns::longs(batch, "a_n")?, columns::longs(batch, "b_n")?);
    let (near, methods) = (flags(batch, "near")?, columns::ints(batch, "methods")?);
    let [ids, urls] = ["b", "url"].map(|name| columns::texts(batch, name));
    let (ids, urls) = (ids?, urls?);
    let missing = || EngineError::Request("pairs have no similarity".to_owned());
    let similarity =
        batch.column_by_name("similarity").and_then(|column| column.as_primitive_opt::<Float64Type>());
    let similarity = similarity.ok_or_else(missing)?;
    (0..batch.num_rows())
        .map(|row| {
            Ok(ListedPair {
                left: number(lefts.value(row))?,
                right: number(rights.value(row))?,
                id: ids.as_ref().and_then(|ids| ids.get(row)).unwrap_or_default().into(),
                url: urls.as_ref().and_then(|urls| urls.get(row)).map(Into::into),
                similarity: if similarity.is_valid(row) { similarity.value(row) } else { f64::NAN },
                near: near.value(row),
                methods: methods.value(row) as u8,
            })
        })
        .collect()
}

//! `Index`: an index on disk, opened for as long as the object lives.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{ArrayBuilder, BooleanBuilder, Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, ListArray, RecordBatch, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{Field, Fields};
use lookalike::index::{
    Answer, CorpusRecord, CreateOptions, Index as DiskIndex, IndexError, Mode, OnExistingId, Portion,
    Preparation, PreparedDocument, Progress, QueryBuffers, State, Verdict,
};
use lookalike::walk::Watch;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};

use crate::errors::Failure;
use crate::jobs::TEXTS;
use crate::options::Options;
use crate::results::{self, REJECTED, TableBuilder, VERDICTS};
use crate::source::Source;
use crate::table::Table;
use crate::work;

/// Documents of another index that are added at once.
const BATCH_SIZE: usize = 256;

/// An open index.
#[pyclass(frozen, module = "lookalike._core")]
pub(crate) struct Index {
    folder: PathBuf,
    open: Mutex<Option<Arc<DiskIndex>>>,
}

impl Index {
    /// The index, unless it was closed.
    fn open(&self) -> Result<Arc<DiskIndex>, Failure> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = || Failure::Usage(format!("{} was closed; open it again", self.folder.display()));
        open.as_ref().cloned().ok_or_else(closed)
    }
}

#[pymethods]
impl Index {
    /// Makes a new index.
    #[staticmethod]
    fn create(py: Python<'_>, folder: PathBuf, learn: Option<&Source>, options: Options<'_>) -> PyResult<()> {
        let matching = options.matching()?;
        let recipe = matching.index(&options.documents()?).map_err(Failure::from)?;
        let read = recipe.read_options().map_err(Failure::from)?;
        let learn = learn.map(|learn| learn.corpus(TEXTS, read)).transpose()?;
        let settings = options.settings()?;
        let text = options.keeps_text()?;
        work::run(py, options.progress()?.as_ref(), |watch| {
            let lexicon = matching.lexicon.as_deref();
            let create_options =
                CreateOptions { recipe, text, lexicon, learn: learn.as_ref(), settings: &settings };
            Ok(DiskIndex::create(&folder, create_options, watch)?)
        })
    }

    /// Opens an index.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf, read: bool, options: Options<'_>) -> PyResult<Self> {
        let mode = if read { Mode::Read } else { Mode::Write(options.writing()?) };
        let settings = options.settings()?;
        let open = py.detach(|| DiskIndex::open_within(&folder, mode, &settings)).map_err(Failure::from)?;
        Ok(Index { folder, open: Mutex::new(Some(Arc::new(open))) })
    }

    /// Adds documents.
    fn add<'py>(
        &self,
        py: Python<'py>,
        source: &Source,
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let index = self.open()?;
        let known = if options.replaces()? { OnExistingId::Replace } else { OnExistingId::Refuse };
        let corpus = source.corpus(TEXTS, index.recipe().read_options().map_err(Failure::from)?)?;
        let settings = options.settings()?;
        let added = work::run(py, options.progress()?.as_ref(), |watch| {
            let addition = Mutex::new(Addition::new(&index)?);
            let lock = || addition.lock().unwrap_or_else(PoisonError::into_inner);
            index.add_corpus(
                &corpus,
                &settings,
                Progress::default(),
                known,
                watch,
                |portion| {
                    lock().portion(portion);
                    Ok(None)
                },
                |id, verdict| lock().verdict(&index, id, verdict),
            )?;
            addition.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
        })?;
        added.into_dict(py)
    }

    /// Says what documents are near-duplicates of.
    fn query<'py>(
        &self,
        py: Python<'py>,
        source: &Source,
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let index = self.open()?;
        let corpus = source.corpus(TEXTS, index.recipe().read_options().map_err(Failure::from)?)?;
        let (settings, limit) = (options.settings()?, options.limit()?);
        let (answers, rejected) = work::run(py, options.progress()?.as_ref(), |watch| {
            let (mut answers, mut rejected) = (AnswersBuilder::default(), TableBuilder::new(REJECTED));
            index.examine(
                &corpus,
                &settings,
                Progress::default(),
                Preparation::Answer(limit),
                watch,
                |portion| {
                    for record in &portion.records {
                        match record {
                            CorpusRecord::Document(prepared) => answers.push(prepared),
                            CorpusRecord::Rejected { source, position, reason, id } => {
                                rejected.push(&rejection(source, *position, reason, id.as_deref()));
                            }
                        }
                    }
                    Ok(())
                },
            )?;
            Ok((answers.finish()?, rejected.finish()?))
        })?;
        let dict = PyDict::new(py);
        dict.set_item("answers", Table::new(answers).into_pyobject(py)?)?;
        dict.set_item("rejected", Table::new(rejected).into_pyobject(py)?)?;
        Ok(dict)
    }

    /// Takes documents out; returns how many went, and the ids that were not there.
    fn remove(&self, py: Python<'_>, ids: Vec<String>) -> PyResult<(u64, Vec<String>)> {
        let index = self.open()?;
        work::run(py, None, |watch| {
            let (mut removed, mut missing) = (0, Vec::new());
            for id in ids {
                watch.check().map_err(lookalike::engine::EngineError::from)?;
                match index.remove(&id)? {
                    0 => missing.push(id),
                    count => removed += count,
                }
            }
            Ok((removed, missing))
        })
    }

    /// Adds all documents of other indexes; without any, the index becomes one segment.
    fn merge<'py>(
        &self,
        py: Python<'py>,
        others: Vec<PathBuf>,
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let index = self.open()?;
        let settings = options.settings()?;
        let folder = self.folder.canonicalize().ok();
        let added = work::run(py, options.progress()?.as_ref(), |watch| {
            let mut addition = Addition::new(&index)?;
            for path in &others {
                let other = DiskIndex::open_within(path, Mode::Read, &settings)?;
                index.require_like(&other)?;
                if path.canonicalize().ok() == folder {
                    let sentence = "an index cannot be added to itself; name another one";
                    return Err(Failure::Usage(sentence.to_owned()));
                }
                addition.add_index(&index, &other, watch)?;
            }
            if others.is_empty() {
                index.compact()?;
            }
            addition.finish()
        })?;
        added.into_dict(py)
    }

    /// Returns the statistics of the index and its methods, as JSON.
    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        let index = self.open()?;
        Ok(py.detach(|| {
            let mut facts: BTreeMap<String, Value> =
                serde_json::to_value(index.stats()).and_then(serde_json::from_value).unwrap_or_default();
            let methods: Vec<String> = index.recipe().methods.iter().map(ToString::to_string).collect();
            facts.insert("methods".to_owned(), methods.into());
            serde_json::to_string(&facts).unwrap_or_default()
        }))
    }

    /// Reads everything and says what is wrong, as JSON.
    fn check(&self, py: Python<'_>) -> PyResult<String> {
        let index = self.open()?;
        work::run(py, None, |_| {
            let checked = index.check(&mut index.buffers()?)?;
            Ok(serde_json::to_string(&checked).unwrap_or_default())
        })
    }

    /// The recipe.
    #[getter]
    fn recipe(&self) -> PyResult<String> {
        Ok(self.open()?.recipe().to_toml())
    }

    /// Ends writing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(index) = open else { return Ok(()) };
        match Arc::try_unwrap(index) {
            Ok(index) => Ok(py.detach(|| index.close()).map_err(Failure::from)?),
            // Another thread is at work with it; it is closed when that ends.
            Err(_) => Ok(()),
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn rejection(source: &str, position: u64, reason: &str, id: Option<&str>) -> Map<String, Value> {
    object(json!({ "source": source, "position": position, "reason": reason, "id": id }))
}

/// An addition under way: verdicts, rejected records and counts so far.
struct Addition {
    buffers: QueryBuffers,
    verdicts: TableBuilder,
    rejected: TableBuilder,
    counts: [u64; 6],
}

/// The names of the counts, in order.
const COUNT_NAMES: [&str; 6] = ["new", "removed", "known", "conflicts", "rejected", "skipped"];

/// The results of an addition.
struct AddResults {
    verdicts: RecordBatch,
    rejected: RecordBatch,
    counts: [u64; 6],
}

impl Addition {
    fn new(index: &DiskIndex) -> Result<Self, Failure> {
        let (verdicts, rejected) = (TableBuilder::new(VERDICTS), TableBuilder::new(REJECTED));
        Ok(Addition { buffers: index.buffers()?, verdicts, rejected, counts: [0; 6] })
    }

    fn portion(&mut self, portion: &Portion<'_>) {
        self.counts[5] += portion.skipped;
        for record in &portion.records {
            if let CorpusRecord::Rejected { source, position, reason, id } = record {
                self.counts[4] += 1;
                self.rejected.push(&rejection(source, *position, reason, id.as_deref()));
            }
        }
    }

    fn verdict(&mut self, index: &DiskIndex, id: &str, verdict: &Verdict) -> Result<(), IndexError> {
        let row = match *verdict {
            Verdict::Added { state: State::Removed { witness, similarity }, known, .. } => {
                let witness = index.entry(&mut self.buffers, witness)?.map(|entry| entry.id);
                self.counts[if known { 2 } else { 1 }] += 1;
                json!({ "id": id, "new": false, "witness": witness, "similarity": similarity, "known": known })
            }
            Verdict::Added { known, .. } => {
                self.counts[if known { 2 } else { 0 }] += 1;
                json!({ "id": id, "new": true, "known": known })
            }
            Verdict::Conflict { .. } => {
                self.counts[3] += 1;
                json!({ "id": id, "error": "the id is there with other words" })
            }
        };
        self.verdicts.push(&object(row));
        Ok(())
    }

    /// Adds all documents of another index.
    fn add_index(&mut self, index: &DiskIndex, other: &DiskIndex, watch: &Watch) -> Result<(), Failure> {
        let (mut buffers, mut source) = (index.buffers()?, other.buffers()?);
        let mut batch = Vec::new();
        for number in 0..other.next() {
            watch.check().map_err(lookalike::engine::EngineError::from)?;
            if let Some(prepared) = other.prepare_stored(&mut source, number)? {
                batch.push(buffers.reexamine(index.examiner(), prepared).map_err(Failure::Usage)?);
            }
            if batch.len() == BATCH_SIZE {
                self.add(index, &mut buffers, std::mem::take(&mut batch))?;
            }
        }
        self.add(index, &mut buffers, batch)
    }

    fn add(
        &mut self,
        index: &DiskIndex,
        buffers: &mut QueryBuffers,
        mut batch: Vec<PreparedDocument>,
    ) -> Result<(), Failure> {
        for prepared in &mut batch {
            index.look_up(buffers, prepared)?;
        }
        let ids: Vec<String> = batch.iter().map(|prepared| prepared.id.clone()).collect();
        let verdicts = index.add(batch, OnExistingId::Refuse)?;
        for (id, verdict) in ids.iter().zip(&verdicts) {
            self.verdict(index, id, verdict)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<AddResults, Failure> {
        let (verdicts, rejected) = (self.verdicts.finish()?, self.rejected.finish()?);
        Ok(AddResults { verdicts, rejected, counts: self.counts })
    }
}

impl AddResults {
    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("verdicts", Table::new(self.verdicts).into_pyobject(py)?)?;
        dict.set_item("rejected", Table::new(self.rejected).into_pyobject(py)?)?;
        let counts = PyDict::new(py);
        for (name, count) in COUNT_NAMES.iter().zip(self.counts) {
            counts.set_item(name, count)?;
        }
        dict.set_item("summary", counts)?;
        Ok(dict)
    }
}

/// Answers to documents, as a table in the making.
#[derive(Default)]
struct AnswersBuilder {
    id: StringBuilder,
    total: UInt64Builder,
    left_out: UInt64Builder,
    lengths: Vec<usize>,
    number: UInt64Builder,
    name: StringBuilder,
    url: StringBuilder,
    similarity: Float64Builder,
    backward: Float64Builder,
    kept: BooleanBuilder,
}

impl AnswersBuilder {
    fn push(&mut self, prepared: &PreparedDocument) {
        let nothing = Answer::default();
        let answer = prepared.answer.as_ref().unwrap_or(&nothing);
        self.id.append_value(&prepared.id);
        self.total.append_value(answer.total as u64);
        self.left_out.append_value(answer.left_out);
        self.lengths.push(answer.matches.len());
        for found in &answer.matches {
            self.number.append_value(found.number.into());
            self.name.append_value(&found.id);
            self.url.append_option(found.url.as_deref());
            self.similarity.append_option(found.similarity);
            self.backward.append_option(found.backward);
            self.kept.append_value(found.kept);
        }
    }

    fn finish(mut self) -> Result<RecordBatch, Failure> {
        let columns: [(&str, &mut dyn ArrayBuilder); 6] = [
            ("number", &mut self.number),
            ("id", &mut self.name),
            ("url", &mut self.url),
            ("similarity", &mut self.similarity),
            ("backward", &mut self.backward),
            ("kept", &mut self.kept),
        ];
        let columns: Vec<(&str, ArrayRef)> =
            columns.into_iter().map(|(name, column)| (name, column.finish())).collect();
        let fields: Fields = columns
            .iter()
            .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
            .collect();
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let wrong = |error: arrow_schema::ArrowError| Failure::Usage(error.to_string());
        let matches = StructArray::try_new(fields, columns, None).map_err(wrong)?;
        let field = Arc::new(Field::new_list_field(arrow_array::Array::data_type(&matches).clone(), true));
        let offsets = OffsetBuffer::from_lengths(self.lengths);
        let matches = ListArray::try_new(field, offsets, Arc::new(matches), None).map_err(wrong)?;
        results::batch(vec![
            ("id", ArrayBuilder::finish(&mut self.id)),
            ("total", ArrayBuilder::finish(&mut self.total)),
            ("left_out", ArrayBuilder::finish(&mut self.left_out)),
            ("matches", Arc::new(matches)),
        ])
    }
}

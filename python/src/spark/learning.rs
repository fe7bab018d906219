//! Knowledge of all documents that methods need: gathered by workers, put together by the driver.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{BinaryBuilder, Int64Builder, StringBuilder};
use arrow_array::{Array, RecordBatch};
use lookalike::engine::EngineError;
use lookalike::engine::spread::learn::{self, LexiconWriter, Surveyor, WordCounter};
use lookalike::methods::lexicon::Entry;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3_arrow::PyRecordBatch;

use super::columns;
use super::documents::Reader;
use super::raise;

/// Words that are counted before they are handed on, in bytes.
const MAX_BUFFERED_BYTES: usize = 64 << 20;

/// Returns the numbers of the lexicons that must be counted.
#[pyfunction]
pub(super) fn lexicons(recipe: &str) -> PyResult<Vec<usize>> {
    learn::lexicons(&super::recipe(recipe)?).map_err(raise)
}

/// Returns the number of passes over all documents that methods make before anything else.
#[pyfunction]
pub(super) fn passes(recipe: &str) -> PyResult<u32> {
    learn::passes(&super::recipe(recipe)?).map_err(raise)
}

/// Puts a lexicon that was given where it is looked for.
#[pyfunction]
pub(super) fn take_lexicon(knowledge: PathBuf, file: PathBuf) -> PyResult<()> {
    learn::take_lexicon(&knowledge, &file).map_err(raise)
}

/// Counts the words of documents.
#[pyclass(frozen)]
pub(super) struct Words {
    counter: Mutex<(Reader, WordCounter)>,
}

#[pymethods]
impl Words {
    #[new]
    fn new(recipe: &str, number: usize) -> PyResult<Self> {
        let recipe = super::recipe(recipe)?;
        let reader = Reader::new(&recipe).map_err(raise)?;
        let counter = WordCounter::new(&recipe, number).map_err(raise)?;
        Ok(Words { counter: Mutex::new((reader, counter)) })
    }

    /// Counts, and hands on what is too much to hold.
    fn take<'py>(&self, py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyAny>> {
        let batch = batch.into_inner();
        let words = py.detach(|| {
            let (reader, counter) = &mut *self.counter.lock().unwrap_or_else(PoisonError::into_inner);
            let (_, rows) = reader.open(&batch)?;
            for row in 0..batch.num_rows() {
                // What is wrong with the others is said when sketches are made.
                let _ = reader.with(&rows, row, |document| {
                    counter.see(document);
                    Ok(())
                });
            }
            drained(counter, counter.bytes() > MAX_BUFFERED_BYTES)
        });
        super::out(py, words.map_err(raise)?)
    }

    /// Hands on the rest.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let words = py.detach(|| {
            let (_, counter) = &mut *self.counter.lock().unwrap_or_else(PoisonError::into_inner);
            drained(counter, true)
        });
        super::out(py, words.map_err(raise)?)
    }
}

fn drained(counter: &mut WordCounter, all: bool) -> Result<RecordBatch, EngineError> {
    let mut rows = EntryRows::default();
    if all {
        let counted = counter.drain(|entry| rows.push(entry))?;
        rows.totals(counted.documents, counted.occurrences);
    }
    rows.finish()
}

/// Adds up what is said of each word; words come in the order of their hashes.
#[pyclass(frozen)]
#[derive(Default)]
pub(super) struct WordSums {
    sum: Mutex<Option<Entry>>,
}

#[pymethods]
impl WordSums {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// The words that are whole by now.
    fn take<'py>(&self, py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyAny>> {
        let batch = batch.into_inner();
        let words = py.detach(|| {
            let mut sum = self.sum.lock().unwrap_or_else(PoisonError::into_inner);
            let mut rows = EntryRows::default();
            for entry in entries(&batch)? {
                match sum.as_mut() {
                    Some(sum) if sum.hash == entry.hash => learn::add_up(sum, &entry),
                    Some(last) if signed(last.hash) > signed(entry.hash) => {
                        return Err(EngineError::Request(
                            "words are out of order; the engine that brings them together must sort them"
                                .to_owned(),
                        ));
                    }
                    _ => sum.replace(entry).iter().for_each(|whole| rows.push(whole)),
                }
            }
            rows.finish()
        });
        super::out(py, words.map_err(raise)?)
    }

    /// The last word.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut rows = EntryRows::default();
        let last = self.sum.lock().unwrap_or_else(PoisonError::into_inner).take();
        last.iter().for_each(|whole| rows.push(whole));
        super::out(py, rows.finish().map_err(raise)?)
    }
}

/// A hash as a number with a sign, in the same order.
fn signed(hash: u64) -> i64 {
    (hash ^ 1 << 63) as i64
}

/// A lexicon on its way into a file.
#[pyclass(frozen)]
pub(super) struct Lexicon {
    writer: Mutex<Option<LexiconWriter>>,
}

#[pymethods]
impl Lexicon {
    #[new]
    fn new(knowledge: PathBuf, recipe: &str, number: usize) -> PyResult<Self> {
        let writer = LexiconWriter::create(&knowledge, &super::recipe(recipe)?, number).map_err(raise)?;
        Ok(Lexicon { writer: Mutex::new(Some(writer)) })
    }

    /// Writes words, which come in the order of their hashes.
    fn take(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        let written = py.detach(|| {
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(writer) = writer.as_mut() else { return Ok(()) };
            entries(&batch)?.iter().try_for_each(|entry| writer.push(entry))
        });
        written.map_err(raise)
    }

    /// All words are there.
    fn finish(&self, documents: u64, occurrences: u64) -> PyResult<()> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let writer = writer.ok_or_else(|| PyRuntimeError::new_err("the lexicon is finished already"))?;
        writer.finish(documents, occurrences).map_err(raise)
    }
}

/// Shows documents to methods that must see all of them.
#[pyclass(frozen)]
pub(super) struct Survey {
    surveyor: Mutex<(Reader, Surveyor)>,
}

#[pymethods]
impl Survey {
    #[new]
    fn new(recipe: &str, knowledge: PathBuf) -> PyResult<Self> {
        let recipe = super::recipe(recipe)?;
        let reader = Reader::new(&recipe).map_err(raise)?;
        let surveyor = Surveyor::open(&recipe, &knowledge).map_err(raise)?;
        Ok(Survey { surveyor: Mutex::new((reader, surveyor)) })
    }

    fn take(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        let seen = py.detach(|| {
            let (reader, surveyor) = &mut *self.surveyor.lock().unwrap_or_else(PoisonError::into_inner);
            let (_, rows) = reader.open(&batch)?;
            for row in 0..batch.num_rows() {
                let _ = reader.with(&rows, row, |document| {
                    surveyor.see(document);
                    Ok(())
                });
            }
            Ok(())
        });
        seen.map_err(raise)
    }

    /// Returns the observations of the methods, one row for each.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let saved = py.detach(|| {
            let (_, surveyor) = &*self.surveyor.lock().unwrap_or_else(PoisonError::into_inner);
            let (mut places, mut seen) = (Int64Builder::new(), BinaryBuilder::new());
            for (place, saved) in surveyor.saved().into_iter().enumerate() {
                places.append_value(place as i64);
                seen.append_value(saved);
            }
            columns::batch(vec![("place", Arc::new(places.finish())), ("seen", Arc::new(seen.finish()))])
        });
        super::out(py, saved.map_err(raise)?)
    }
}

/// Ends a pass: adds up what workers saw, one after the other, each a list with the bytes of every method.
#[pyfunction]
pub(super) fn gather(recipe: &str, knowledge: PathBuf, seen: &Bound<'_, PyAny>) -> PyResult<()> {
    let recipe = super::recipe(recipe)?;
    let failed = |error: PyErr| EngineError::Request(error.to_string());
    let saved = |worker: PyResult<Bound<'_, PyAny>>| {
        let parts: Vec<PyBackedBytes> = worker.and_then(|worker| worker.extract()).map_err(failed)?;
        Ok(parts.iter().map(|part| part.to_vec()).collect())
    };
    learn::gather(&recipe, &knowledge, seen.try_iter()?.map(saved)).map_err(raise)
}

/// Words as rows. A row without a word has the numbers of documents and words in all.
#[derive(Default)]
struct EntryRows {
    hashes: Int64Builder,
    words: StringBuilder,
    documents: Int64Builder,
    occurrences: Int64Builder,
    bins: BinaryBuilder,
    packed: Vec<u8>,
}

/// Bytes of a bin: its number, and of how many documents.
const BIN: usize = 5;

impl EntryRows {
    fn push(&mut self, entry: &Entry) {
        self.hashes.append_value(signed(entry.hash));
        self.words.append_value(&entry.word);
        self.documents.append_value(entry.documents.into());
        self.occurrences.append_value(entry.occurrences as i64);
        self.packed.clear();
        for (bin, documents) in &entry.bins {
            self.packed.push(*bin);
            self.packed.extend_from_slice(&documents.to_le_bytes());
        }
        self.bins.append_value(&self.packed);
    }

    fn totals(&mut self, documents: u64, occurrences: u64) {
        self.hashes.append_null();
        self.words.append_null();
        self.documents.append_value(documents as i64);
        self.occurrences.append_value(occurrences as i64);
        self.bins.append_null();
    }

    fn finish(mut self) -> Result<RecordBatch, EngineError> {
        columns::batch(vec![
            ("hash", Arc::new(self.hashes.finish())),
            ("word", Arc::new(self.words.finish())),
            ("documents", Arc::new(self.documents.finish())),
            ("occurrences", Arc::new(self.occurrences.finish())),
            ("bins", Arc::new(self.bins.finish())),
        ])
    }
}

fn entries(batch: &RecordBatch) -> Result<Vec<Entry>, EngineError> {
    let missing = || EngineError::Request("words lack a column".to_owned());
    let hashes = columns::longs(batch, "hash")?;
    let (documents, occurrences) =
        (columns::longs(batch, "documents")?, columns::longs(batch, "occurrences")?);
    let words = columns::texts(batch, "word")?.ok_or_else(missing)?;
    let bins = columns::blobs(batch, "bins")?.ok_or_else(missing)?;
    let entry = |row: usize| Entry {
        hash: hashes.value(row) as u64 ^ 1 << 63,
        word: words.get(row).unwrap_or_default().to_owned(),
        documents: documents.value(row) as u32,
        occurrences: occurrences.value(row) as u64,
        bins: bins.get(row).unwrap_or_default().as_chunks::<BIN>().0.iter().map(bin).collect(),
    };
    Ok((0..batch.num_rows()).filter(|&row| hashes.is_valid(row)).map(entry).collect())
}

fn bin(bytes: &[u8; BIN]) -> (u8, u32) {
    (bytes[0], bytes.last_chunk().map_or(0, |documents| u32::from_le_bytes(*documents)))
}

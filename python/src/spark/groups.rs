//! Postings in order become pairs, pairs candidates, and candidates components.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{BooleanBuilder, Int32Builder, Int64Builder, ListBuilder};
use arrow_array::{Int64Array, RecordBatch};
use lookalike::engine::EngineError;
use lookalike::engine::examine::{Examiner, SharedKeys};
use lookalike::engine::spread::components;
use lookalike::engine::spread::groups::{CorpusCounts, GroupStream, Posting};
use lookalike::methods::DirectedKeyCounts;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::columns::{self, number};
use super::raise;

/// Takes postings in the order of method, key and document, batch by batch.
#[pyclass(frozen)]
pub(super) struct Groups {
    stream: Mutex<GroupStream>,
}

#[pymethods]
impl Groups {
    #[new]
    fn new(recipe: &str, knowledge: PathBuf, different: u64, references: u32) -> PyResult<Self> {
        let examiner = super::examiner(recipe, &knowledge)?;
        Ok(Groups { stream: Mutex::new(GroupStream::new(examiner, CorpusCounts { different, references })) })
    }

    /// The pairs of all groups that are whole by now.
    fn take<'py>(&self, py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyAny>> {
        let batch = batch.into_inner();
        let pairs = py.detach(|| {
            let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
            take(&mut stream, &batch)?;
            pairs(&mut stream, false)
        });
        super::out(py, pairs.map_err(raise)?)
    }

    /// The pairs of the last group, and what is to be said of all of them.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pairs = py.detach(|| {
            let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
            stream.finish()?;
            pairs(&mut stream, true)
        });
        super::out(py, pairs.map_err(raise)?)
    }
}

fn take(stream: &mut GroupStream, batch: &RecordBatch) -> Result<(), EngineError> {
    let [methods, tags, lengths, marks, sides] =
        ["method", "tag", "length", "mark", "sides"].map(|name| columns::ints(batch, name));
    let (methods, tags, lengths, marks, sides) = (methods?, tags?, lengths?, marks?, sides?);
    let (keys, documents) = (columns::longs(batch, "key")?, columns::longs(batch, "n")?);
    let records = columns::blobs(batch, "record")?;
    for row in 0..batch.num_rows() {
        let posting = Posting {
            method: methods.value(row) as usize,
            key: keys.value(row),
            document: number(documents.value(row))?,
            tag: tags.value(row) as u32,
            length: lengths.value(row) as u32,
            mark: marks.value(row) as u32,
            sides: [sides.value(row) & 1 > 0, sides.value(row) & 2 > 0],
        };
        stream.take(posting, records.as_ref().and_then(|records| records.get(row)))?;
    }
    Ok(())
}

/// Rows: a pair, or a group that is written down, or, at the end, how many groups did not propose all of their pairs.
fn pairs(stream: &mut GroupStream, last: bool) -> Result<RecordBatch, EngineError> {
    let (mut methods, mut backs) = (Int32Builder::new(), BooleanBuilder::new());
    let (mut a, mut b, mut giants) = (Int64Builder::new(), Int64Builder::new(), Int64Builder::new());
    let mut groups = ListBuilder::new(Int64Builder::new());
    for pair in stream.pairs() {
        methods.append_value(pair.method as i32);
        a.append_value(pair.a.into());
        b.append_value(pair.b.into());
        backs.append_value(pair.back);
        giants.append_null();
        groups.append_null();
    }
    let mut alone = |method: i32, giant_groups: Option<i64>| {
        methods.append_value(method);
        a.append_null();
        b.append_null();
        backs.append_value(false);
        giants.append_option(giant_groups);
    };
    for giant in stream.giants() {
        alone(giant.method as i32, None);
        giant.documents.iter().for_each(|&document| groups.values().append_value(document.into()));
        groups.append(true);
    }
    if last {
        alone(0, Some(stream.giant_groups() as i64));
        groups.append_null();
    }
    columns::batch(vec![
        ("method", Arc::new(methods.finish())),
        ("a", Arc::new(a.finish())),
        ("b", Arc::new(b.finish())),
        ("back", Arc::new(backs.finish())),
        ("giant_groups", Arc::new(giants.finish())),
        ("group", Arc::new(groups.finish())),
    ])
}

/// Tells which pairs are candidates, and drops those that their records tell apart.
#[pyclass(frozen)]
pub(super) struct Filter {
    examiner: Arc<Examiner>,
    /// Pairs that as many methods proposed as must, so far.
    proposed: Mutex<u64>,
}

#[pymethods]
impl Filter {
    #[new]
    fn new(recipe: &str, knowledge: PathBuf) -> PyResult<Self> {
        Ok(Filter { examiner: super::examiner(recipe, &knowledge)?, proposed: Mutex::default() })
    }

    /// Pairs (a, b, f0, b0, f1, …, record_a, record_b) become candidates (a, b, shared, proposed).
    fn take<'py>(&self, py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyAny>> {
        let batch = batch.into_inner();
        let kept = py.detach(|| self.kept(&batch)).map_err(raise)?;
        super::out(py, kept)
    }

    /// One more row, with the number of pairs that were proposed.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let proposed = *self.proposed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut candidates = CandidateRows::default();
        candidates.push(None, None, &[], Some(proposed as i64));
        super::out(py, candidates.finish().map_err(raise)?)
    }
}

impl Filter {
    fn kept(&self, batch: &RecordBatch) -> Result<RecordBatch, EngineError> {
        let (a, b) = (columns::longs(batch, "a")?, columns::longs(batch, "b")?);
        let methods = self.examiner.methods().len();
        let counts = |letter: &str| -> Result<Vec<&Int64Array>, EngineError> {
            (0..methods).map(|method| columns::longs(batch, &format!("{letter}{method}"))).collect()
        };
        let (forward, backward) = (counts("f")?, counts("b")?);
        let missing = || EngineError::Request("candidates have no records".to_owned());
        let [ours, theirs] = ["record_a", "record_b"].map(|name| columns::blobs(batch, name));
        let (ours, theirs) = (ours?.ok_or_else(missing)?, theirs?.ok_or_else(missing)?);
        let mut candidates = CandidateRows::default();
        let mut proposed = 0;
        for row in 0..batch.num_rows() {
            let mut shared = SharedKeys::default();
            for method in 0..methods {
                let asked = DirectedKeyCounts {
                    forward: forward[method].value(row) as u32,
                    backward: backward[method].value(row) as u32,
                };
                let times = Some(asked).filter(|asked| asked.forward + asked.backward > 0);
                shared[method] = times.and_then(|asked| self.examiner.shared(method, asked)).unwrap_or(0);
            }
            if !self.examiner.proposed(&shared) {
                continue;
            }
            proposed += 1;
            let (Some(ours), Some(theirs)) = (ours.get(row), theirs.get(row)) else { return Err(missing()) };
            if self.examiner.possible([ours, theirs], &shared) {
                candidates.push(Some(a.value(row)), Some(b.value(row)), &shared[..methods], None);
            }
        }
        *self.proposed.lock().unwrap_or_else(PoisonError::into_inner) += proposed;
        candidates.finish()
    }
}

struct CandidateRows {
    a: Int64Builder,
    b: Int64Builder,
    shared: ListBuilder<Int32Builder>,
    proposed: Int64Builder,
}

impl Default for CandidateRows {
    fn default() -> Self {
        CandidateRows {
            a: Int64Builder::new(),
            b: Int64Builder::new(),
            shared: ListBuilder::new(Int32Builder::new()),
            proposed: Int64Builder::new(),
        }
    }
}

impl CandidateRows {
    fn push(&mut self, a: Option<i64>, b: Option<i64>, shared: &[u32], proposed: Option<i64>) {
        self.a.append_option(a);
        self.b.append_option(b);
        shared.iter().for_each(|&shared| self.shared.values().append_value(shared as i32));
        self.shared.append(true);
        self.proposed.append_option(proposed);
    }

    fn finish(mut self) -> Result<RecordBatch, EngineError> {
        columns::batch(vec![
            ("a", Arc::new(self.a.finish())),
            ("b", Arc::new(self.b.finish())),
            ("shared", Arc::new(self.shared.finish())),
            ("proposed", Arc::new(self.proposed.finish())),
        ])
    }
}

fn ties(batch: &RecordBatch) -> Result<Vec<(u32, u32)>, EngineError> {
    let (a, b) = (columns::longs(batch, "a")?, columns::longs(batch, "b")?);
    (0..batch.num_rows()).map(|row| Ok((number(a.value(row))?, number(b.value(row))?))).collect()
}

fn labelled(ties: Vec<(u32, u32)>, [one, two]: [&str; 2]) -> Result<RecordBatch, EngineError> {
    let column = |numbers: Vec<i64>| Arc::new(Int64Array::from(numbers));
    let (documents, lowest) = ties.into_iter().map(|(n, lowest)| (i64::from(n), i64::from(lowest))).unzip();
    columns::batch(vec![(one, column(documents)), (two, column(lowest))])
}

/// As few ties (a, b) as hold the same documents together.
#[pyfunction]
pub(super) fn contract<'py>(py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyAny>> {
    let batch = batch.into_inner();
    let ties = py.detach(|| labelled(components::contract(&ties(&batch)?), ["a", "b"]));
    super::out(py, ties.map_err(raise)?)
}

/// The documents of all ties (a, b), each with the lowest number of its component: (n, component).
#[pyfunction]
pub(super) fn label<'py>(py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyAny>> {
    let batch = batch.into_inner();
    let labels = py.detach(|| labelled(components::label(&ties(&batch)?), ["n", "component"]));
    super::out(py, labels.map_err(raise)?)
}

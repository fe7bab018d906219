//! Documents become sketches, and sketches postings.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, StringBuilder,
};
use lookalike::engine::EngineError;
use lookalike::engine::examine::{ExamineBuffers, Examined, Examiner};
use lookalike::engine::keep_order;
use lookalike::engine::spread::groups;
use lookalike::hash::Secret;
use lookalike::methods::Key;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::columns;
use super::documents::Reader;
use super::raise;

/// Bytes of a key in the column `keys`: number of the method, value, tag.
const KEY: usize = 13;

/// Makes sketches of documents.
#[pyclass(frozen)]
pub(super) struct Sketcher {
    examiner: Arc<Examiner>,
    buffers: Mutex<(Reader, ExamineBuffers)>,
}

#[pymethods]
impl Sketcher {
    #[new]
    fn new(recipe: &str, knowledge: PathBuf, secret: &str) -> PyResult<Self> {
        let seed = u128::from_str_radix(secret, 16)?;
        let examiner = super::open(recipe, &knowledge)?.with_secret(Secret::new(seed));
        let examiner = Arc::new(examiner);
        let reader = Reader::new(examiner.recipe()).map_err(raise)?;
        let buffers = Mutex::new((reader, ExamineBuffers::new(&examiner)));
        Ok(Sketcher { examiner, buffers })
    }

    /// Documents (id, text, html, url, keep, within, order) become sketches.
    fn sketch<'py>(&self, py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyAny>> {
        let batch = batch.into_inner();
        let made = py.detach(|| self.sketches(&batch)).map_err(raise)?;
        super::out(py, made)
    }

    /// Sketches with numbers become postings.
    fn postings<'py>(&self, py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyAny>> {
        let batch = batch.into_inner();
        let made = py.detach(|| self.all_postings(&batch)).map_err(raise)?;
        super::out(py, made)
    }
}

impl Sketcher {
    fn sketches(&self, batch: &RecordBatch) -> Result<RecordBatch, EngineError> {
        let (reader, buffers) = &mut *self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let (documents, rows) = reader.open(batch)?;
        let order = columns::texts(batch, "order")?;
        let mut sketch = Examined::default();
        let (mut ids, mut reasons, mut orders) =
            (StringBuilder::new(), StringBuilder::new(), StringBuilder::new());
        let (mut numbers, mut keep_numbers) = (Float64Builder::new(), BooleanBuilder::new());
        let (mut words, mut bytes) = (Int32Builder::new(), Int64Builder::new());
        let (mut digests, mut records, mut keys) =
            (BinaryBuilder::new(), BinaryBuilder::new(), BinaryBuilder::new());
        let mut packed = Vec::new();
        for row in 0..batch.num_rows() {
            ids.append_option(documents.id.as_ref().and_then(|ids| ids.get(row)));
            let value = order.as_ref().and_then(|order| order.get(row));
            orders.append_option(value);
            numbers.append_option(value.and_then(keep_order::parse_number));
            let kept_by = documents.field(row, 0);
            keep_numbers.append_option(kept_by.map(|value| !keep_order::is_text(value)));
            let made = match documents.rejected(row) {
                Some(reason) => Err(reason.to_owned()),
                None => {
                    reader.with(&rows, row, |document| buffers.sketch(&self.examiner, document, &mut sketch))
                }
            };
            let reason = match made {
                Err(reason) => Some(reason),
                Ok(length) => {
                    words.append_value(sketch.words as i32);
                    bytes.append_value(length as i64);
                    None
                }
            };
            reasons.append_option(reason.as_ref());
            if reason.is_some() {
                words.append_null();
                bytes.append_null();
                digests.append_null();
                records.append_null();
                keys.append_null();
                continue;
            }
            digests.append_option((sketch.words > 0).then(|| sketch.digest.to_be_bytes()));
            records.append_value(&sketch.record);
            pack(&sketch.keys, &mut packed);
            keys.append_value(&packed);
        }
        columns::batch(vec![
            ("id", Arc::new(ids.finish())),
            ("order", Arc::new(orders.finish())),
            ("order_number", Arc::new(numbers.finish())),
            ("keep_number", Arc::new(keep_numbers.finish())),
            ("reason", Arc::new(reasons.finish())),
            ("words", Arc::new(words.finish())),
            ("text_bytes", Arc::new(bytes.finish())),
            ("digest", Arc::new(digests.finish())),
            ("record", Arc::new(records.finish())),
            ("keys", Arc::new(keys.finish())),
        ])
    }

    fn all_postings(&self, batch: &RecordBatch) -> Result<RecordBatch, EngineError> {
        let (numbers, sides) = (columns::longs(batch, "n")?, columns::ints(batch, "sides")?);
        let missing = || EngineError::Request("sketches have no keys".to_owned());
        let keys = columns::blobs(batch, "keys")?.ok_or_else(missing)?;
        let records = columns::blobs(batch, "record")?.ok_or_else(missing)?;
        let mut out = PostingRows::default();
        let mut facts = Vec::new();
        for row in 0..batch.num_rows() {
            let (Some(keys), Some(record)) = (keys.get(row), records.get(row)) else { continue };
            facts.clear();
            facts.extend(
                (0..self.examiner.methods().len())
                    .map(|method| groups::facts(&self.examiner, method, record)),
            );
            for key in keys.as_chunks::<KEY>().0 {
                let (method, value, tag) = unpack(key);
                let &(length, mark) = facts.get(method).ok_or_else(missing)?;
                out.push(method, value, numbers.value(row), tag, (length, mark), sides.value(row));
            }
        }
        out.finish()
    }
}

fn pack(keys: &[Vec<Key>], out: &mut Vec<u8>) {
    out.clear();
    for (method, keys) in keys.iter().enumerate() {
        for key in keys {
            out.push(method as u8);
            out.extend_from_slice(&key.value.to_le_bytes());
            out.extend_from_slice(&key.tag.to_le_bytes());
        }
    }
}

fn unpack(key: &[u8; KEY]) -> (usize, u64, u32) {
    let (method, rest) = (key[0], &key[1..]);
    let value = rest.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let tag = rest.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    (method.into(), value, tag)
}

#[derive(Default)]
struct PostingRows {
    methods: Int32Builder,
    keys: Int64Builder,
    documents: Int64Builder,
    tags: Int32Builder,
    lengths: Int32Builder,
    marks: Int32Builder,
    sides: Int32Builder,
}

impl PostingRows {
    fn push(&mut self, method: usize, key: u64, n: i64, tag: u32, (length, mark): (u32, u32), sides: i32) {
        self.methods.append_value(method as i32);
        self.keys.append_value(key as i64);
        self.documents.append_value(n);
        self.tags.append_value(tag as i32);
        self.lengths.append_value(length as i32);
        self.marks.append_value(mark as i32);
        self.sides.append_value(sides);
    }

    fn finish(mut self) -> Result<RecordBatch, EngineError> {
        columns::batch(vec![
            ("method", Arc::new(self.methods.finish())),
            ("key", Arc::new(self.keys.finish())),
            ("n", Arc::new(self.documents.finish())),
            ("tag", Arc::new(self.tags.finish())),
            ("length", Arc::new(self.lengths.finish())),
            ("mark", Arc::new(self.marks.finish())),
            ("sides", Arc::new(self.sides.finish())),
        ])
    }
}

//! Files of any format, read by the workers: the driver lists shards, a worker opens one and hands out batches.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use lookalike::corpus::{Corpus, Item, Origin, ReadOptions, Reader, Shard};
use lookalike::engine::EngineError;
use lookalike::model::{Document, Rejection};
use lookalike::text::extract::{ContentMode, Extractor};
use pyo3::prelude::*;

use super::{columns, raise};
use crate::errors::Failure;
use crate::options::Options;

/// Rows of a batch.
const MOST_ROWS: usize = 4096;
/// Bytes of text in a batch, and one document more.
const MOST_BYTES: usize = 8 << 20;

/// A shard as it travels: its name, its path or address, and its format where its folder tells.
type ShardEntry = (String, String, Option<String>);

/// The shards of these inputs, in the order of the command line and with its names.
#[pyfunction]
pub(super) fn shards(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    options: Options<'_>,
) -> PyResult<Vec<ShardEntry>> {
    let options = options.documents()?.reading;
    let inputs: Vec<OsString> = inputs.into_iter().map(PathBuf::into_os_string).collect();
    let corpus = py.detach(|| Corpus::open(&inputs, options)).map_err(Failure::from)?;
    Ok(corpus.shards().iter().map(shard_entry).collect::<Result<_, Failure>>()?)
}

fn shard_entry(shard: &Shard) -> Result<ShardEntry, Failure> {
    let location = match &shard.origin {
        Origin::File(path) => path.to_str().map(str::to_owned).ok_or_else(|| {
            Failure::Usage(format!(
                "{} is not UTF-8 and cannot be named to workers; rename it",
                path.display()
            ))
        })?,
        Origin::Object(address) => address.clone(),
        Origin::Stdin | Origin::Memory(_) | Origin::Table(_) => {
            return Err(Failure::Usage(
                "workers cannot read standard input; name files that all of them see".to_owned(),
            ));
        }
    };
    Ok((shard.name.clone(), location, shard.format.map(|format| format.to_string())))
}

fn origin(location: &str) -> Origin {
    let stored = ["s3://", "gs://", "az://"].iter().any(|scheme| location.starts_with(scheme));
    if stored { Origin::Object(location.to_owned()) } else { Origin::File(PathBuf::from(location)) }
}

/// One shard, batch by batch.
#[pyclass(frozen)]
pub(super) struct ShardReader {
    shard: Mutex<OpenShard>,
}

struct OpenShard {
    reader: Reader,
    source: String,
    /// The place of the shard among all.
    shard: i64,
    fields: Vec<String>,
    /// The part of a document to take; none when its text is not wanted.
    content: Option<ContentMode>,
    extractor: Extractor,
    skipped: i64,
    ended: bool,
}

#[pymethods]
impl ShardReader {
    /// Opens a shard; `fields` are further ones to come along, and without `texts` none is extracted.
    #[new]
    fn new(
        shard: i64,
        listed: ShardEntry,
        options: Options<'_>,
        fields: Vec<String>,
        addresses: bool,
        texts: bool,
    ) -> PyResult<Self> {
        let documents = options.documents()?;
        let content = texts.then(|| documents.content_mode());
        let reading = ReadOptions { addresses, extras: fields.clone(), ..documents.reading };
        let (name, location, format) = listed;
        let format = format.map(|name| name.parse()).transpose().map_err(Failure::Usage)?;
        let opened = Shard { name: name.clone(), format, ..Shard::new(origin(&location)) };
        let reader = opened.open(&Arc::new(reading)).map_err(Failure::from)?;
        let extractor = Extractor::default();
        let open =
            OpenShard { reader, source: name, shard, fields, content, extractor, skipped: 0, ended: false };
        Ok(ShardReader { shard: Mutex::new(open) })
    }

    /// The next rows; none at the end. The last row of a shard in which something was no document says how much.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let batch = py.detach(|| self.shard.lock().unwrap_or_else(PoisonError::into_inner).next());
        batch.map_err(raise)?.map(|batch| super::out(py, batch)).transpose()
    }
}

impl OpenShard {
    fn next(&mut self) -> Result<Option<RecordBatch>, EngineError> {
        if self.ended {
            return Ok(None);
        }
        let mut rows = ShardRows::new(&self.source, self.shard, self.fields.len());
        while rows.count < MOST_ROWS && rows.bytes < MOST_BYTES {
            match self.reader.next()? {
                Some(Item::Document(document)) => {
                    let text = self.content.map(|mode| self.extractor.extract(&document, mode).text);
                    rows.document(&document, text);
                }
                Some(Item::Rejected(rejection)) => rows.rejected(&rejection),
                Some(Item::Skipped(_)) => self.skipped += 1,
                None => {
                    self.ended = true;
                    if self.skipped > 0 {
                        rows.skipped(self.skipped);
                    }
                    break;
                }
            }
        }
        rows.finish(&self.fields).map(Some)
    }
}

struct ShardRows<'s> {
    source: &'s str,
    shard: i64,
    ids: StringBuilder,
    urls: StringBuilder,
    texts: StringBuilder,
    sources: StringBuilder,
    shards: Int64Builder,
    records: Int64Builder,
    positions: Int64Builder,
    reasons: StringBuilder,
    rejected_ids: StringBuilder,
    skipped: Int64Builder,
    extras: Vec<StringBuilder>,
    count: usize,
    bytes: usize,
}

impl<'s> ShardRows<'s> {
    fn new(source: &'s str, shard: i64, fields: usize) -> Self {
        ShardRows {
            source,
            shard,
            ids: StringBuilder::new(),
            urls: StringBuilder::new(),
            texts: StringBuilder::new(),
            sources: StringBuilder::new(),
            shards: Int64Builder::new(),
            records: Int64Builder::new(),
            positions: Int64Builder::new(),
            reasons: StringBuilder::new(),
            rejected_ids: StringBuilder::new(),
            skipped: Int64Builder::new(),
            extras: (0..fields).map(|_| StringBuilder::new()).collect(),
            count: 0,
            bytes: 0,
        }
    }

    fn document(&mut self, document: &Document<'_>, text: Option<&str>) {
        self.ids.append_value(document.id);
        self.urls.append_option(document.url);
        self.texts.append_option(text);
        for (field, extra) in self.extras.iter_mut().enumerate() {
            extra.append_option(document.extras.get(field));
        }
        self.bytes += text.map_or(0, str::len);
        self.rejected_ids.append_null();
        self.row(Some((document.place.record, document.place.position)), None, None);
    }

    fn rejected(&mut self, rejection: &Rejection) {
        self.push_no_document();
        self.rejected_ids.append_option(rejection.id.as_deref());
        let place = (rejection.place.record, rejection.place.position);
        self.row(Some(place), Some(rejection.reason.to_string()), None);
    }

    fn skipped(&mut self, count: i64) {
        self.push_no_document();
        self.rejected_ids.append_null();
        self.row(None, None, Some(count));
    }

    fn push_no_document(&mut self) {
        self.ids.append_null();
        self.urls.append_null();
        self.texts.append_null();
        self.extras.iter_mut().for_each(StringBuilder::append_null);
    }

    fn row(&mut self, place: Option<(u64, u64)>, reason: Option<String>, skipped: Option<i64>) {
        self.sources.append_value(self.source);
        self.shards.append_value(self.shard);
        self.records.append_option(place.map(|(record, _)| record as i64));
        self.positions.append_option(place.map(|(_, position)| position as i64));
        self.reasons.append_option(reason);
        self.skipped.append_option(skipped);
        self.count += 1;
    }

    fn finish(mut self, fields: &[String]) -> Result<RecordBatch, EngineError> {
        let mut all: Vec<(&str, ArrayRef)> = vec![
            ("id", Arc::new(self.ids.finish())),
            ("url", Arc::new(self.urls.finish())),
            ("text", Arc::new(self.texts.finish())),
            ("source", Arc::new(self.sources.finish())),
            ("shard", Arc::new(self.shards.finish())),
            ("record", Arc::new(self.records.finish())),
            ("position", Arc::new(self.positions.finish())),
            ("rejected", Arc::new(self.reasons.finish())),
            ("skipped", Arc::new(self.skipped.finish())),
            ("rejected_id", Arc::new(self.rejected_ids.finish())),
        ];
        for (field, mut extra) in fields.iter().zip(self.extras) {
            all.push((field, Arc::new(extra.finish())));
        }
        columns::batch(all)
    }
}

//! Addresses become keys and hosts, and rows in the order of their keys become shared addresses.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, ListBuilder, StringBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use lookalike::engine::EngineError;
use lookalike::engine::measure::{Measure, Measured};
use lookalike::hash::{Secret, SortBuffers};
use lookalike::model::{Document, Media, Threshold};
use lookalike::text::extract::{ContentMode, Extractor};
use lookalike::text::{Analyser, Features};
use lookalike_overlap::address::{self, Matching};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::columns;
use super::raise;
use crate::arrow::Strings;
use crate::errors::Failure;
use crate::options::Options;

/// The most documents of one address that are named, on each side.
const MOST_NAMED: usize = 100;

/// Reads the rule by which two addresses are the same.
pub(super) fn matching(name: &str) -> PyResult<Matching> {
    match name {
        "exact" => Ok(Matching::Exact),
        "normal" => Ok(Matching::Normal),
        "canonical" => Ok(Matching::Canonical),
        other => Err(Failure::Usage(format!(
            "invalid value '{other}' for 'match': possible values: exact, normal, canonical"
        ))
        .into()),
    }
}

/// Documents (side, id, url, rejected) become addresses (side, id, url, key, host, rejected). A document without one has no key.
#[pyfunction]
pub(super) fn addresses<'py>(
    py: Python<'py>,
    batch: PyRecordBatch,
    matching: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (batch, matching) = (batch.into_inner(), self::matching(matching)?);
    let made = py.detach(|| keys(&batch, matching)).map_err(raise)?;
    super::out(py, made)
}

fn keys(batch: &RecordBatch, matching: Matching) -> Result<RecordBatch, EngineError> {
    let missing = |name: &str| EngineError::Request(format!("the column {name} is not there"));
    let side = columns::ints(batch, "side")?;
    let ids = columns::texts(batch, "id")?.ok_or_else(|| missing("id"))?;
    let urls = columns::texts(batch, "url")?.ok_or_else(|| missing("url"))?;
    let reasons = columns::texts(batch, "rejected")?;
    let is_rejected = |row| reasons.as_ref().is_some_and(|reasons| reasons.get(row).is_some());
    let mut rejected = BooleanBuilder::new();
    let (mut sides, mut names) = (Int32Builder::new(), StringBuilder::new());
    let (mut given, mut keys, mut hosts) = (StringBuilder::new(), BinaryBuilder::new(), StringBuilder::new());
    for row in 0..batch.num_rows() {
        let (id, is_rejected) = (ids.get(row), is_rejected(row));
        if id.is_none() && !is_rejected {
            return Err(EngineError::Request(
                "a document has no id; give every document one, such as its address".to_owned(),
            ));
        }
        sides.append_value(side.value(row));
        names.append_option(id);
        rejected.append_value(is_rejected);
        let Some(url) = urls.get(row).filter(|url| !is_rejected && !url.trim().is_empty()) else {
            given.append_null();
            keys.append_null();
            hosts.append_null();
            continue;
        };
        let form = matching.key(url);
        // Only the address of a left document is told.
        given.append_option((side.value(row) == 0).then_some(url));
        keys.append_value(form.as_bytes());
        hosts.append_value(address::host(&form).unwrap_or_default());
    }
    columns::batch(vec![
        ("side", Arc::new(sides.finish())),
        ("id", Arc::new(names.finish())),
        ("url", Arc::new(given.finish())),
        ("key", Arc::new(keys.finish())),
        ("host", Arc::new(hosts.finish())),
        ("rejected", Arc::new(rejected.finish())),
    ])
}

/// Hosts become their registered domains, public suffixes and top-level domains.
#[pyfunction]
pub(super) fn domains<'py>(py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyAny>> {
    let batch = batch.into_inner();
    let made = py.detach(|| with_domains(&batch)).map_err(raise)?;
    super::out(py, made)
}

fn with_domains(batch: &RecordBatch) -> Result<RecordBatch, EngineError> {
    let missing = || EngineError::Request("the column host is not there".to_owned());
    let hosts = columns::texts(batch, "host")?.ok_or_else(missing)?;
    let (mut domains, mut suffixes, mut tops) =
        (StringBuilder::new(), StringBuilder::new(), StringBuilder::new());
    for row in 0..batch.num_rows() {
        let host = hosts.get(row).unwrap_or_default();
        domains.append_value(address::registered_domain(host));
        suffixes.append_value(address::public_suffix(host));
        tops.append_value(address::top_level(host));
    }
    let schema = batch.schema();
    let mut all: Vec<(&str, ArrayRef)> = schema
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .zip(batch.columns().iter().cloned())
        .collect();
    all.push(("domain", Arc::new(domains.finish())));
    all.push(("suffix", Arc::new(suffixes.finish())));
    all.push(("tld", Arc::new(tops.finish())));
    columns::batch(all)
}

/// An address, as far as its documents have come.
#[derive(Default)]
struct Address {
    key: Vec<u8>,
    host: String,
    url: String,
    counts: [i64; 2],
    ids: [Vec<String>; 2],
}

/// Takes addresses in the order of key, side and id, and hands on a row for each different one.
#[pyclass(frozen)]
pub(super) struct Addresses {
    current: Mutex<Option<Address>>,
}

#[pymethods]
impl Addresses {
    #[new]
    fn new() -> Self {
        Addresses { current: Mutex::default() }
    }

    /// The addresses that are whole by now.
    fn take<'py>(&self, py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyAny>> {
        let batch = batch.into_inner();
        let rows = py.detach(|| {
            let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            take(&mut current, &batch)
        });
        super::out(py, rows.map_err(raise)?)
    }

    /// The last one.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows = AddressRows::default();
        current.take().iter().for_each(|address| rows.push(address));
        super::out(py, rows.finish().map_err(raise)?)
    }
}

fn take(current: &mut Option<Address>, batch: &RecordBatch) -> Result<RecordBatch, EngineError> {
    let missing = |name: &str| EngineError::Request(format!("the column {name} is not there"));
    let text = |name: &str| columns::texts(batch, name)?.ok_or_else(|| missing(name));
    let (ids, urls, hosts): (Strings, Strings, Strings) = (text("id")?, text("url")?, text("host")?);
    let keys = columns::blobs(batch, "key")?.ok_or_else(|| missing("key"))?;
    let sides = columns::ints(batch, "side")?;
    let mut rows = AddressRows::default();
    for row in 0..batch.num_rows() {
        let key = keys.get(row).ok_or_else(|| missing("key"))?;
        match current {
            Some(address) if address.key == key => {}
            Some(address) if address.key.as_slice() > key => {
                return Err(EngineError::Request(
                    "addresses are out of order; this engine does not keep rows sorted".to_owned(),
                ));
            }
            _ => {
                current.take().iter().for_each(|address| rows.push(address));
                let host = hosts.get(row).unwrap_or_default().to_owned();
                *current = Some(Address { key: key.to_vec(), host, ..Address::default() });
            }
        }
        let Some(address) = current else { continue };
        let side = usize::from(sides.value(row) != 0);
        if side == 0 && address.counts[0] == 0 {
            address.url = urls.get(row).unwrap_or_default().to_owned();
        }
        address.counts[side] += 1;
        if address.ids[side].len() < MOST_NAMED {
            address.ids[side].push(ids.get(row).unwrap_or_default().to_owned());
        }
    }
    rows.finish()
}

#[derive(Default)]
struct AddressRows {
    hosts: StringBuilder,
    left: Int64Builder,
    right: Int64Builder,
    urls: StringBuilder,
    lefts: ListBuilder<StringBuilder>,
    rights: ListBuilder<StringBuilder>,
}

impl AddressRows {
    /// Names are told of shared addresses alone.
    fn push(&mut self, address: &Address) {
        let shared = address.counts.iter().all(|&count| count > 0);
        self.hosts.append_value(&address.host);
        self.left.append_value(address.counts[0]);
        self.right.append_value(address.counts[1]);
        self.urls.append_option(shared.then_some(&address.url));
        for (list, ids) in [&mut self.lefts, &mut self.rights].into_iter().zip(&address.ids) {
            if shared {
                ids.iter().for_each(|id| list.values().append_value(id));
            }
            list.append(shared);
        }
    }

    fn finish(mut self) -> Result<RecordBatch, EngineError> {
        columns::batch(vec![
            ("host", Arc::new(self.hosts.finish())),
            ("left_documents", Arc::new(self.left.finish())),
            ("right_documents", Arc::new(self.right.finish())),
            ("url", Arc::new(self.urls.finish())),
            ("left", Arc::new(self.lefts.finish())),
            ("right", Arc::new(self.rights.finish())),
        ])
    }
}

/// Measures the two documents behind one address.
#[pyclass(frozen)]
pub(super) struct Measurer {
    measure: Measure,
    content: ContentMode,
    analysis: Mutex<(Analyser, Extractor)>,
}

#[pymethods]
impl Measurer {
    #[new]
    fn new(options: Options<'_>) -> PyResult<Self> {
        let (matching, documents) = (options.matching()?, options.documents()?);
        let measure = Measure {
            similarity: matching.similarity,
            threshold: matching.threshold,
            shingle: matching.shingle,
        };
        let analysis = Mutex::new((
            Analyser::with_secret(&documents.profile, Secret::of_process()),
            Extractor::default(),
        ));
        Ok(Measurer { measure, content: documents.content_mode(), analysis })
    }

    /// Returns the name of the similarity, and the threshold from which documents are near.
    #[pyo3(name = "told")]
    fn describe(&self) -> (String, String) {
        let measure = self.measure;
        let name = match measure.shingle {
            1 => format!("{} of words", measure.similarity),
            words => format!("{} of {words}-word shingles", measure.similarity),
        };
        (name, measure.threshold.to_string())
    }

    /// Pairs (place, left_text, left_html, right_text, right_html) become (place, similarity, near, unchanged); where a document has
    /// no words, nothing is measured.
    fn measure<'py>(&self, py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyAny>> {
        let batch = batch.into_inner();
        let made = py.detach(|| self.pairs(&batch)).map_err(raise)?;
        super::out(py, made)
    }
}

impl Measurer {
    fn pairs(&self, batch: &RecordBatch) -> Result<RecordBatch, EngineError> {
        let missing = || EngineError::Request("the column place is not there".to_owned());
        let place = batch.column_by_name("place").ok_or_else(missing)?.clone();
        let texts = |side: &str| -> Result<[Option<Strings>; 2], EngineError> {
            let [text, html] = ["text", "html"].map(|name| columns::texts(batch, &format!("{side}_{name}")));
            Ok([text?, html?])
        };
        let (left, right) = (texts("left")?, texts("right")?);
        let (mut similarities, mut near, mut unchanged) =
            (Float64Builder::new(), BooleanBuilder::new(), BooleanBuilder::new());
        let analysis = &mut *self.analysis.lock().unwrap_or_else(PoisonError::into_inner);
        for row in 0..batch.num_rows() {
            let (ours, theirs) = (self.prepared(analysis, &left, row), self.prepared(analysis, &right, row));
            let (Some((ours, our_words)), Some((theirs, their_words))) = (ours, theirs) else {
                similarities.append_null();
                near.append_null();
                unchanged.append_null();
                continue;
            };
            let found = self.measure.compare(&ours, &theirs, Threshold::LOWEST).unwrap_or(Measured::NONE);
            similarities.append_value((found.forward * 1e9).round() / 1e9);
            near.append_value(found.reached);
            unchanged.append_value(our_words == their_words);
        }
        columns::batch(vec![
            ("place", place),
            ("similarity", Arc::new(similarities.finish())),
            ("near", Arc::new(near.finish())),
            ("unchanged", Arc::new(unchanged.finish())),
        ])
    }

    /// Returns the prepared symbols that a document is compared by, and a digest of its words in their order; none without words.
    fn prepared(
        &self,
        (analyser, extractor): &mut (Analyser, Extractor),
        [text, html]: &[Option<Strings>; 2],
        row: usize,
    ) -> Option<(Vec<u64>, u128)> {
        let text = text.as_ref().and_then(|texts| texts.get(row));
        let html = || html.as_ref().and_then(|texts| texts.get(row));
        let (source, media) = match text {
            Some(text) => (text, Media::Text),
            None => (html()?, Media::Html),
        };
        let text = extractor.extract(&Document::from_text("", None, media, source), self.content).text;
        let (mut features, mut symbols, mut out) = (Features::default(), Vec::new(), Vec::new());
        analyser.read(text, &mut features);
        let symbols = self.measure.symbols(&features, &mut symbols);
        self.measure.prepare(symbols, &mut out, &mut SortBuffers::default());
        (!features.is_empty()).then(|| (out, features.digest(Secret::of_process())))
    }
}

//! `sketch`: what a method makes of every document, as a table.

use std::sync::Mutex;

use arrow_array::RecordBatch;
use arrow_array::builder::{
    ArrayBuilder, BinaryBuilder, ListBuilder, StringBuilder, UInt32Builder, UInt64Builder,
};
use lookalike::corpus::{Corpus, LineReader};
use lookalike::engine::examine::{ExamineBuffers, Examined, Examiner, LearnedData};
use lookalike::engine::pipeline::{self, Batch, Feed, Record, Weight};
use lookalike::engine::{EngineError, Settings};
use lookalike::hash::Secret;
use lookalike::runs::temporary_folder;
use lookalike::walk::{Stage, Watch};
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::jobs::TEXTS;
use crate::options::Options;
use crate::results;
use crate::source::Source;
use crate::table::Table;
use crate::work;

/// Returns the sketch that a method makes of every document.
#[pyfunction]
pub(crate) fn sketch(py: Python<'_>, source: &Source, options: Options<'_>) -> PyResult<Table> {
    let matching = options.matching()?;
    if matching.methods.len() != 1 || matching.filter.is_some() {
        let sentence = "a sketch is made by one method, without a filter; call it once for each";
        return Err(Failure::Usage(sentence.to_owned()).into());
    }
    let recipe = matching.index(&options.documents()?).map_err(Failure::from)?;
    let corpus = source.corpus(TEXTS, recipe.read_options().map_err(Failure::from)?)?;
    let settings = options.settings()?;
    let folder = temporary_folder(options.path("scratch")?.as_deref()).map_err(Failure::from)?;
    let lexicon = matching.lexicon;
    let batch = work::run(py, options.progress()?.as_ref(), |watch| {
        let knowledge = folder.path().join("knowledge");
        LearnedData { folder: &knowledge, lexicon: lexicon.as_deref(), corpus: Some(&corpus) }
            .gather(&recipe, &settings, watch)?;
        let examiner = Examiner::open(recipe, &knowledge)?.with_secret(Secret::new(0));
        sketch_all(&examiner, &corpus, &settings, watch)
    })?;
    Ok(Table::new(batch))
}

/// The documents of a batch: their ids, each with its sketch or the reason why there is none.
struct BatchSketches(Vec<(String, Result<Examined, String>)>);

impl Weight for BatchSketches {
    fn bytes(&self) -> usize {
        let of = |sketch: &Examined| {
            sketch.record.len() + sketch.keys.iter().map(|keys| keys.len() * 16).sum::<usize>()
        };
        self.0.iter().map(|(id, sketch)| id.len() + 128 + sketch.as_ref().map_or(0, of)).sum()
    }
}

fn sketch_all(
    examiner: &Examiner,
    corpus: &Corpus,
    settings: &Settings,
    watch: &Watch,
) -> Result<RecordBatch, Failure> {
    let longest = corpus.options().max_document_bytes as u64;
    // One unit after the other: rows come in the order of the input.
    let shape = settings.shape(settings.buffer_bytes(longest)?, longest).one_by_one();
    watch.begin(Stage { name: "sketch", total: corpus.bytes(), reads: true });
    let columns = Mutex::new(SketchColumns::default());
    pipeline::run(
        corpus,
        &pipeline::units(corpus),
        shape,
        watch,
        || (LineReader::new(corpus.options()), ExamineBuffers::new(examiner)),
        |(lines, buffers), batch| sketch_batch(examiner, lines, buffers, batch),
        |_, feed: &mut Feed<'_, Result<BatchSketches, EngineError>>| {
            while let Some(batch) = feed.next()? {
                let mut columns = columns.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                batch?.0.iter().for_each(|(id, sketch)| columns.push(examiner, id, sketch));
            }
            Ok(())
        },
    )?;
    columns.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).finish()
}

fn sketch_batch(
    examiner: &Examiner,
    lines: &mut LineReader,
    buffers: &mut ExamineBuffers,
    batch: &Batch,
) -> Result<BatchSketches, EngineError> {
    let mut all = Vec::with_capacity(batch.len());
    batch.read(lines, |_, record| {
        all.push(match record {
            Record::Document(document) => {
                let sketch = buffers.document(examiner, &document).map(|sketch| Examined {
                    text: String::new(),
                    symbols: Vec::new(),
                    ..sketch
                });
                (document.id.to_owned(), sketch)
            }
            Record::Rejected(rejection) => (String::new(), Err(rejection.reason.to_string())),
        });
        Ok(())
    })?;
    Ok(BatchSketches(all))
}

/// The table in the making: a row for every row of the input.
#[derive(Default)]
struct SketchColumns {
    id: StringBuilder,
    words: UInt32Builder,
    digest: BinaryBuilder,
    length: UInt32Builder,
    payload: BinaryBuilder,
    keys: ListBuilder<UInt64Builder>,
    tags: ListBuilder<UInt32Builder>,
    rejected: StringBuilder,
}

/// Bytes of the length that stands before a payload.
const LENGTH: usize = 4;

impl SketchColumns {
    fn push(&mut self, examiner: &Examiner, id: &str, sketch: &Result<Examined, String>) {
        let found = sketch.as_ref().ok();
        self.id.append_option(Some(id).filter(|id| !id.is_empty()));
        self.words.append_option(found.map(|sketch| sketch.words));
        // A document without words is like no other.
        let digest = found.filter(|sketch| sketch.words > 0).map(|sketch| sketch.digest.to_be_bytes());
        self.digest.append_option(digest);
        self.length.append_option(found.map(|sketch| examiner.length(0, &sketch.record)));
        self.payload.append_option(found.map(|sketch| &sketch.record[LENGTH..]));
        for key in found.and_then(|sketch| sketch.keys.first()).into_iter().flatten() {
            self.keys.values().append_value(key.value);
            self.tags.values().append_value(key.tag);
        }
        self.keys.append(found.is_some());
        self.tags.append(found.is_some());
        self.rejected.append_option(sketch.as_ref().err());
    }

    fn finish(mut self) -> Result<RecordBatch, Failure> {
        let columns: [(&str, &mut dyn ArrayBuilder); 8] = [
            ("id", &mut self.id),
            ("words", &mut self.words),
            ("digest", &mut self.digest),
            ("length", &mut self.length),
            ("payload", &mut self.payload),
            ("keys", &mut self.keys),
            ("tags", &mut self.tags),
            ("rejected", &mut self.rejected),
        ];
        results::batch(columns.into_iter().map(|(name, column)| (name, column.finish())).collect())
    }
}

//! The stage `sketch`: every document becomes a row, its names, a payload, and keys in sorted runs; its text is spooled where it cannot be
//! read again by its position.
//!
//! A unit leaves these files behind, each finished by a rename, the last one saying that the unit is done:
//!
//! | file | holds | bytes per document |
//! |---|---|---|
//! | `u000000.docs` | [`Row`]s | 68 |
//! | `u000000.names` | id, address, the field that kept documents are chosen by | their length + 12 |
//! | `u000000.payload` | lengths and payloads of all methods | 4 + the method's, for each |
//! | `u000000.keys0.000000` … | postings of the first method, sorted, numbered from the unit's first document | 12 or 16 per key |
//! | `u000000.texts` | texts, one after the other, if they are spooled | its text |
//! | `u000000.rejected` | rejections as JSON lines | their length |
//! | `u000000.values` | the field that documents are ordered by, if one is | its length + 4 |
//! | `u000000.done` | counts per shard | - |
//!
//! While it is written, `u000000.begun` says how far the last checkpoint came.

mod key_filter;
mod unit;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lookalike_corpus::{Corpus, Item, LineReader, Rows};
use lookalike_hash::{self as hash, Secret};
use lookalike_methods::{Buffers, Key, Page, Sketch};
use lookalike_model::{Document, Media, Reason, RecordPosition};
use lookalike_store::facts;
use lookalike_store::sort::Posting;
use lookalike_text::Features;
use lookalike_text::extract::Extractor;
use serde::{Deserialize, Serialize};

use self::key_filter::KeyFilter;
pub(crate) use self::unit::open_texts;
use crate::context::{Context, RereadAccess};
use crate::error::EngineError;
use crate::panel::{Panel, PanelMethod};
use crate::pipeline::{self, Batch, BufferPool, HEAVY, Record, Unit, Weight};
use crate::recipe::{ExtraFields, Order, Task, Within};
use crate::text_analysis::TextAnalyses;

/// The fixed-width record kept for each document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Row {
    /// Number of words; [`Row::REJECTED`] for a record that could not be read.
    pub(crate) words: u32,
    /// Bytes of its text.
    pub(crate) text: u32,
    /// Digest of its words, and of what it is compared within, by the job's secret.
    pub(crate) digest: u128,
    /// Digest of its id, by the job's secret.
    pub(crate) id: u128,
    /// Hash of what it is compared within, by the job's secret.
    pub(crate) within: u64,
    /// The offset of its names.
    pub(crate) names: u64,
    /// Its offset in its shard, or its row in a table, and its length there in bytes, 0 if that is not known; only of use where
    /// the shard can be read from any offset. Of a unit that is spooled the offset of its text among those of the unit, and its
    /// length, 0 if it is not kept.
    pub(crate) position: u64,
    pub(crate) length: u32,
}

impl Row {
    // One width for all, so that a row is found by the number of its document; what has any length is among
    // the names, at an offset that the row has.
    pub(crate) const WIDTH: usize = 68;
    pub(crate) const REJECTED: u32 = u32::MAX;

    pub(crate) fn encode(&self) -> [u8; Row::WIDTH] {
        let mut out = [0; Row::WIDTH];
        out[..4].copy_from_slice(&self.words.to_le_bytes());
        out[4..8].copy_from_slice(&self.text.to_le_bytes());
        out[8..24].copy_from_slice(&self.digest.to_le_bytes());
        out[24..40].copy_from_slice(&self.id.to_le_bytes());
        out[40..48].copy_from_slice(&self.within.to_le_bytes());
        out[48..56].copy_from_slice(&self.names.to_le_bytes());
        out[56..64].copy_from_slice(&self.position.to_le_bytes());
        out[64..68].copy_from_slice(&self.length.to_le_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let four = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let eight = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let sixteen = |at: usize| u128::from_le_bytes(bytes[at..at + 16].try_into().expect("sixteen bytes"));
        Row {
            words: four(0),
            text: four(4),
            digest: sixteen(8),
            id: sixteen(24),
            within: eight(40),
            names: eight(48),
            position: eight(56),
            length: four(64),
        }
    }
}

/// The metadata of a shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardMeta {
    /// Records found, rejected ones included.
    pub(crate) records: u64,
    pub(crate) rejected: u64,
    pub(crate) text_bytes: u64,
    pub(crate) format: String,
    pub(crate) skipped: BTreeMap<String, u64>,
    /// Digest of its bytes, where one could be taken.
    pub(crate) digest: Option<u64>,
}

/// The metadata of a unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UnitMeta {
    pub(crate) shards: Vec<ShardMeta>,
    /// Number of key runs of each method.
    pub(crate) key_runs: Vec<usize>,
    /// The counts of each method that proposes pairs.
    #[serde(default, rename = "made")]
    pub(crate) method_counts: Vec<MethodCounts>,
    /// Its texts are kept. The name in the file is not that of the spools of symbols that there were before.
    #[serde(default, rename = "texts")]
    pub(crate) spooled: bool,
    /// Its documents can be read again by where they stand in their shards.
    pub(crate) seekable: bool,
}

/// The counts of the keys and bytes that a method made of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MethodCounts {
    /// Keys of all documents together.
    pub keys: u64,
    /// Documents with words that it has no signature for.
    pub unsigned: u64,
    /// Bytes of payload and keys of all documents together.
    pub bytes: u64,
}

impl MethodCounts {
    /// Adds that of further documents.
    pub(crate) fn add(&mut self, other: &MethodCounts) {
        self.keys += other.keys;
        self.unsigned += other.unsigned;
        self.bytes += other.bytes;
    }
}

impl UnitMeta {
    pub(crate) fn records(&self) -> u64 {
        self.shards.iter().map(|shard| shard.records).sum()
    }

    /// True when its documents can be read again each by itself, from their shards or from the spool.
    pub(crate) fn is_random_access(&self) -> bool {
        self.seekable || self.spooled
    }
}

/// The path of one of a unit's files.
pub(crate) fn unit_file(ctx: &Context<'_>, unit: usize, what: &str) -> PathBuf {
    ctx.file(&format!("u{unit:06}.{what}"))
}

/// True when a unit is done and all of its files are there: later stages remove some of them.
pub(crate) fn is_whole(folder: &Path, stamp: u128, unit: usize) -> Result<bool, EngineError> {
    let file = |what: &str| folder.join(format!("u{unit:06}.{what}"));
    let Some(meta) = facts::saved::<UnitMeta>(&file("done"), stamp)? else { return Ok(false) };
    let runs = meta.key_runs.iter().enumerate();
    let mut keys =
        runs.flat_map(|(method, &runs)| (0..runs).map(move |run| format!("keys{method}.{run:06}")));
    Ok(file("docs").exists() && keys.all(|keys| file(&keys).exists()))
}

/// Sketches every unit that is not yet done. Of two corpora that are compared the smaller one comes first, and of the other
/// only those keys are kept that it may share with the first. A document of the left side stands for equal ones of the right
/// side; where its keys may differ from theirs, all of them must be kept, and the left side comes first.
pub(crate) fn sketch(ctx: &Context<'_>) -> Result<(), EngineError> {
    ctx.begin("sketch", ctx.input_bytes(), true);
    let mut corpora = Vec::new();
    let mut first = 0;
    for corpus in ctx.corpora() {
        corpora.push(CorpusUnits { first, corpus, units: pipeline::units(corpus) });
        first += corpora.last().map_or(0, |part| part.units.len());
    }
    let compares = ctx.recipe.task == Task::Compare;
    if compares && ctx.panel.proposers().iter().all(PanelMethod::goes_by_words) {
        // Only the order of work changes: `first` was counted before, so that units and documents keep their
        // numbers.
        corpora.sort_by_key(|part| part.corpus.bytes());
    }
    let mut key_filter = None;
    for part in &corpora {
        let todo = part.todo(ctx);
        if todo.is_empty() {
            continue;
        }
        if compares && part.first != corpora[0].first {
            let other = &corpora[0];
            key_filter = Some(KeyFilter::of(ctx, other.first..other.first + other.units.len())?);
        }
        part.sketch(ctx, &todo, key_filter.as_ref())?;
    }
    Ok(())
}

/// A corpus of the job.
struct CorpusUnits<'c> {
    /// Number of its first unit.
    first: usize,
    corpus: &'c Corpus,
    units: Vec<Unit>,
}

impl CorpusUnits<'_> {
    /// The units that are not yet done; what is done counts as read.
    fn todo(&self, ctx: &Context<'_>) -> Vec<usize> {
        let mut todo = Vec::new();
        for (index, unit) in self.units.iter().enumerate() {
            if unit_file(ctx, self.first + index, "done").exists() {
                let shards = self.corpus.shards()[unit.clone()].iter();
                let bytes: Option<u64> = shards.map(|shard| shard.bytes).sum();
                ctx.watch.bytes.fetch_add(bytes.unwrap_or(0), std::sync::atomic::Ordering::Relaxed);
            } else {
                todo.push(index);
            }
        }
        todo
    }

    fn sketch(
        &self,
        ctx: &Context<'_>,
        todo: &[usize],
        key_filter: Option<&KeyFilter>,
    ) -> Result<(), EngineError> {
        let stretches: Vec<_> = todo.iter().map(|&index| self.units[index].clone()).collect();
        let shape = ctx.shape();
        let drivers = shape.drivers.clamp(1, stretches.len().max(1));
        // A third for keys, shared by the units that are written at the same time, one for each driver. The
        // rest is for batches under way, decoders and workers.
        let buffer = ctx.budget.free(0, 0) as usize / 3 / drivers;
        let heavy = Mutex::new(());
        let corpus = self.corpus;
        let access: Vec<RereadAccess> =
            stretches.iter().map(|unit| ctx.settings.spool.reread_access(corpus, unit)).collect();
        let pool = BufferPool::default();
        pipeline::run(
            corpus,
            &stretches,
            shape,
            ctx.watch,
            || SketchWorker::new(ctx, corpus),
            |worker, batch| {
                let options = KeepOptions { spooled: access[batch.unit].spooled, key_filter };
                worker.sketch(ctx, batch, options, &heavy, &pool)
            },
            |index, feed| unit::write(ctx, self.first + todo[index], access[index], buffer, feed, &pool),
        )
    }
}

/// The choice of data to keep of a document beside its row, names and payload.
#[derive(Clone, Copy)]
struct KeepOptions<'s> {
    /// True if its text is kept.
    spooled: bool,
    /// Only keys that pass; nothing else of a document that has none.
    key_filter: Option<&'s KeyFilter>,
}

impl ShardMeta {
    fn new() -> Self {
        ShardMeta {
            records: 0,
            rejected: 0,
            text_bytes: 0,
            format: String::new(),
            skipped: BTreeMap::new(),
            digest: None,
        }
    }

    /// Counts the rows of a batch; shards that end in it are moved to `done`.
    fn take(&mut self, batch: &mut SketchedBatch, done: &mut Vec<ShardMeta>) {
        let mut rows = batch.rows.as_slice();
        let mut passed = 0;
        for end in batch.ends.drain(..) {
            let (these, rest) = rows.split_at(end.before - passed);
            passed = end.before;
            rows = rest;
            self.count(these);
            self.format = end.format.to_string();
            self.digest = end.digest;
            self.skipped = end.skipped.into_iter().map(|(kind, count)| (kind.to_owned(), count)).collect();
            done.push(std::mem::replace(self, ShardMeta::new()));
        }
        self.count(rows);
    }

    fn count(&mut self, rows: &[Row]) {
        self.records += rows.len() as u64;
        self.rejected += rows.iter().filter(|row| row.words == Row::REJECTED).count() as u64;
        self.text_bytes += rows.iter().map(|row| u64::from(row.text)).sum::<u64>();
    }
}

/// The sketches of the documents of a batch.
#[derive(Default)]
struct SketchedBatch {
    rows: Vec<Row>,
    names: Vec<u8>,
    payload: Vec<u8>,
    /// Postings, by method.
    keys: Vec<Vec<u128>>,
    method_counts: Vec<MethodCounts>,
    texts: Vec<u8>,
    rejected: Vec<u8>,
    /// The values by which documents are ordered.
    values: Vec<u8>,
    ends: Vec<pipeline::ShardEnd>,
}

impl Weight for SketchedBatch {
    fn bytes(&self) -> usize {
        // Capacities and not lengths: buffers are used again, and keep the size that a large document gave
        // them.
        let keys: usize = self.keys.iter().map(Vec::capacity).sum();
        let rows = self.rows.capacity() * size_of::<Row>() + keys * size_of::<u128>();
        let bytes = [&self.names, &self.payload, &self.texts, &self.rejected, &self.values];
        rows + bytes.iter().map(|bytes| bytes.capacity()).sum::<usize>()
    }
}

/// The reason for the rejection of a document without words that a method would read.
pub(crate) const NO_WORD: &str = "the run's profile finds no word in it; the profile web would";

/// The reader and the buffers of a worker, used again for one document after the other.
pub(crate) struct SketchWorker {
    lines: LineReader,
    buffers: SketchBuffers,
}

/// The source from which one document is read again.
#[derive(Clone, Copy)]
pub(crate) enum DocumentSource<'a> {
    /// The bytes of its line.
    Line(&'a [u8]),
    /// A row of a table in memory.
    Row(&'a Rows, usize),
    /// Its text, from the spool.
    Text(&'a str),
}

impl<'a> DocumentSource<'a> {
    fn read(self, reader: &'a mut LineReader) -> Item<'a> {
        match self {
            DocumentSource::Line(line) => reader.line(line, RecordPosition::default(), ""),
            DocumentSource::Row(rows, row) => reader.row(rows, row),
            DocumentSource::Text(text) => Item::Document(Document::from_text("", None, Media::Text, text)),
        }
    }
}

/// The extractor, the analyses and the buffers by which a document is sketched.
struct SketchBuffers {
    extractor: Extractor,
    analyses: TextAnalyses,
    /// The analyses of documents that are read again; made for the first of them.
    rereading: Option<TextAnalyses>,
    sketch: Sketch,
    symbols: Vec<u64>,
}

/// A rejection as a line of `rejected.jsonl`.
#[derive(Serialize)]
struct RejectedLine<'a> {
    /// Number of the shard in the unit; replaced by its name when outputs are written.
    record: u64,
    position: u64,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
}

impl SketchWorker {
    /// Creates a worker for the documents of `corpus`.
    pub(crate) fn new(ctx: &Context<'_>, corpus: &Corpus) -> Self {
        SketchWorker { lines: LineReader::new(corpus.options()), buffers: SketchBuffers::new(ctx) }
    }

    fn sketch(
        &mut self,
        ctx: &Context<'_>,
        batch: &Batch,
        options: KeepOptions<'_>,
        heavy: &Mutex<()>,
        pool: &BufferPool<SketchedBatch>,
    ) -> Result<SketchedBatch, EngineError> {
        self.in_turn(ctx, batch, heavy, |lines, buffers| {
            let mut out = pool.take();
            out.begin(ctx, batch);
            batch.read(lines, |index, record| {
                let number = batch.first + index as u64;
                match record {
                    Record::Document(document) => {
                        buffers.document(ctx, number as u32, &document, options, &mut out);
                    }
                    Record::Rejected(rejection) => {
                        let id = rejection.id.as_deref();
                        out.reject(ctx, number, rejection.place.position, &rejection.reason, id);
                    }
                }
                Ok(())
            })?;
            Ok(out)
        })
    }

    /// Reads the wanted records of a batch again.
    pub(crate) fn reread_batch(
        &mut self,
        ctx: &Context<'_>,
        batch: &Batch,
        heavy: &Mutex<()>,
        pool: &BufferPool<RereadBatch>,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<RereadBatch, EngineError> {
        self.in_turn(ctx, batch, heavy, |lines, buffers| {
            let mut out = pool.take();
            out.records = batch.len();
            out.documents.clear();
            out.symbols.clear();
            batch.read_some(lines, wanted, |index, record| {
                out.documents.push(match record {
                    Record::Document(document) => {
                        let (digest, symbols) = buffers.reread(ctx, &document);
                        out.symbols.extend_from_slice(symbols);
                        RereadDocument { index, digest, symbols: symbols.len() }
                    }
                    Record::Rejected(_) => RereadDocument { index, ..RereadDocument::default() },
                });
                Ok(())
            })?;
            Ok(out)
        })
    }

    /// Reads one document again; hands over what it is measured by if its digest is the one that its row has.
    pub(crate) fn reread_document(
        &mut self,
        ctx: &Context<'_>,
        source: DocumentSource<'_>,
        digest: u128,
        take: impl FnOnce(&[u64]),
    ) -> bool {
        if let DocumentSource::Text(text) = source {
            // The sums of the spool have told that it is the text that was written.
            take(self.buffers.reread_text(ctx, text));
            return true;
        }
        let Item::Document(document) = source.read(&mut self.lines) else { return false };
        let (found, symbols) = self.buffers.reread(ctx, &document);
        if found == digest {
            take(symbols);
        }
        found == digest
    }

    /// Reads the text of one document again.
    pub(crate) fn reread_text<'a>(
        &'a mut self,
        ctx: &Context<'_>,
        source: DocumentSource<'a>,
    ) -> Option<&'a str> {
        if let DocumentSource::Text(text) = source {
            return Some(text);
        }
        match source.read(&mut self.lines) {
            Item::Document(document) => Some(self.buffers.extractor.extract(&document, ctx.content).text),
            _ => None,
        }
    }

    /// Lets go of buffers that a large document left.
    pub(crate) fn tidy(&mut self, ctx: &Context<'_>) {
        self.buffers = SketchBuffers::new(ctx);
    }

    /// Shows the documents of a batch that are chosen by their number in it, as each method that wants one sees it, with
    /// the number of the method. Returns how many of these records could not be read.
    pub(crate) fn for_each_page(
        &mut self,
        ctx: &Context<'_>,
        batch: &Batch,
        heavy: &Mutex<()>,
        chosen: impl Fn(usize) -> bool,
        wants: impl Fn(usize, usize) -> bool,
        each: impl Fn(usize, &Page<'_>, &mut Buffers) -> Result<(), EngineError>,
    ) -> Result<usize, EngineError> {
        self.in_turn(ctx, batch, heavy, |lines, buffers| {
            let mut rejected = 0;
            batch.read_some(lines, chosen, |index, record| {
                let Record::Document(document) = record else {
                    rejected += 1;
                    return Ok(());
                };
                let text = buffers.extractor.extract(&document, ctx.content).text;
                buffers.analyses.start_text();
                for method in (0..ctx.panel.methods().len()).filter(|&method| wants(method, index)) {
                    if let Some(page) = buffers.analyses.page(method, text) {
                        each(method, &page, &mut buffers.sketch.buffers)?;
                        ctx.panel.trim(text, &mut buffers.sketch.buffers);
                    }
                }
                Ok(())
            })?;
            Ok(rejected)
        })
    }

    /// Does work that takes much memory alone, and lets go of the buffers it left.
    fn in_turn<T>(
        &mut self,
        ctx: &Context<'_>,
        batch: &Batch,
        heavy: &Mutex<()>,
        work: impl FnOnce(&mut LineReader, &mut SketchBuffers) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        if batch.bytes() < HEAVY {
            return work(&mut self.lines, &mut self.buffers);
        }
        ctx.budget.admit_document(batch.spooled_weight() as u64)?;
        // Also where the lock is poisoned: the error holds the guard, and for as long.
        let _turn = heavy.lock();
        let done = work(&mut self.lines, &mut self.buffers);
        self.tidy(ctx);
        done
    }
}

impl SketchBuffers {
    fn new(ctx: &Context<'_>) -> Self {
        SketchBuffers {
            extractor: Extractor::default(),
            analyses: TextAnalyses::new(&ctx.profile, &ctx.measuring, &ctx.panel, &ctx.secret),
            rereading: None,
            sketch: Sketch::default(),
            symbols: Vec::new(),
        }
    }

    /// One document: its row, names, payload, keys and symbols.
    fn document(
        &mut self,
        ctx: &Context<'_>,
        number: u32,
        document: &Document<'_>,
        options: KeepOptions<'_>,
        out: &mut SketchedBatch,
    ) {
        let text = self.extractor.extract(document, ctx.content).text;
        if let Some(reason) = ctx.panel.refuses(text) {
            let (position, id) = (document.place.position, Some(document.id));
            return out.reject(ctx, number.into(), position, &Reason::Broken(reason), id);
        }
        self.analyses.start_text();
        let features = self.analyses.words(text);
        let wordless = features.is_empty();
        if wordless && ctx.panel.refuses("").is_some() {
            // The method would read it, but what has no words is compared with nothing.
            let reason = Reason::Broken(NO_WORD.to_owned());
            return out.reject(ctx, number.into(), document.place.position, &reason, Some(document.id));
        }
        let group = Group::of(ctx.within.as_ref(), ctx.extras, document, &ctx.secret);
        let mut row = Row {
            words: features.len() as u32,
            text: text.len() as u32,
            id: ctx.secret.digest(document.id.as_bytes()),
            names: out.names.len() as u64,
            within: group.hash,
            position: document.place.position,
            length: document.raw.map_or(0, |raw| raw.len() as u32),
            ..Row::default()
        };
        put_names(&mut out.names, document.id, document.url, ctx.extras.keep(document));
        out.ordered_by(ctx, Some(document));
        if !features.is_empty() {
            row.digest = group.digest(features, &ctx.secret);
        }
        out.rows.push(row);
        let mut found = options.key_filter.is_none();
        for (method, entry) in ctx.panel.methods().iter().enumerate() {
            self.sketch.clear();
            // A document that cannot be measured is paired with nothing.
            if let Some(page) = self.analyses.page(method, text).filter(|_| !wordless) {
                entry.method.sketch(&page, &mut self.sketch);
                ctx.panel.trim(text, &mut self.sketch.buffers);
            }
            Panel::put(entry, &self.sketch, &mut out.payload);
            // A filter looks for nothing.
            let Some(keys) = out.keys.get_mut(method) else { continue };
            let posting =
                |key: &Key| Posting { key: key.value ^ group.key_mask, document: number, tag: key.tag };
            let before = keys.len();
            let postings = self.sketch.keys.iter().map(posting);
            match options.key_filter {
                None => keys.extend(postings.map(Posting::pack)),
                Some(key_filter) => {
                    keys.extend(
                        postings
                            .filter(|posting| key_filter.may_contain(method, posting.key))
                            .map(Posting::pack),
                    );
                }
            }
            found |= keys.len() > before;
            if !wordless {
                // By the sketch and not by the postings: what the filter lets pass says nothing about the
                // method.
                out.method_counts[method].add(&count_sketch(entry, &self.sketch));
            }
        }
        if options.spooled {
            let kept = if found && !wordless { text } else { "" };
            let row = out.rows.last_mut().expect("it was pushed");
            (row.position, row.length) = (out.texts.len() as u64, kept.len() as u32);
            out.texts.extend_from_slice(kept.as_bytes());
        }
    }

    /// One document again: what tells whether it is the same, and what it is measured by.
    fn reread(&mut self, ctx: &Context<'_>, document: &Document<'_>) -> (u128, &[u64]) {
        let text = self.extractor.extract(document, ctx.content).text;
        let analyses = self.rereading.get_or_insert_with(|| rereading(ctx));
        analyses.start_text();
        let group = Group::of(ctx.within.as_ref(), ctx.extras, document, &ctx.secret);
        let digest = group.digest(analyses.words(text), &ctx.secret);
        (digest, ctx.measure.symbols(analyses.measuring(text), &mut self.symbols))
    }

    /// Returns the symbols that a text is measured by.
    fn reread_text(&mut self, ctx: &Context<'_>, text: &str) -> &[u64] {
        let analyses = self.rereading.get_or_insert_with(|| rereading(ctx));
        analyses.start_text();
        ctx.measure.symbols(analyses.measuring(text), &mut self.symbols)
    }
}

/// The analyses of documents that are read again.
fn rereading(ctx: &Context<'_>) -> TextAnalyses {
    TextAnalyses::for_measuring(&ctx.profile, &ctx.measuring, &ctx.secret)
}

/// Counts the keys and bytes that a method made of one document.
fn count_sketch(entry: &PanelMethod, sketch: &Sketch) -> MethodCounts {
    let keys = sketch.keys.len() as u64;
    let width = if entry.tagged { 16 } else { 12 };
    MethodCounts {
        keys,
        unsigned: u64::from(keys == 0),
        bytes: entry.method.payload_bytes() as u64 + keys * width,
    }
}

impl SketchedBatch {
    /// Makes it ready for what becomes of `batch`.
    fn begin(&mut self, ctx: &Context<'_>, batch: &Batch) {
        self.rows.clear();
        let SketchedBatch { names, payload, texts, rejected, values, .. } = self;
        [names, payload, texts, rejected, values].into_iter().for_each(Vec::clear);
        self.keys.resize_with(ctx.panel.proposers().len(), Vec::new);
        self.keys.iter_mut().for_each(Vec::clear);
        self.method_counts.clear();
        self.method_counts.resize(self.keys.len(), MethodCounts::default());
        self.ends.clone_from(&batch.ends);
    }

    /// A record that could not be read.
    fn reject(&mut self, ctx: &Context<'_>, record: u64, position: u64, reason: &Reason, id: Option<&str>) {
        let line = RejectedLine { record, position, reason: &reason.to_string(), id };
        serde_json::to_writer(&mut self.rejected, &line).expect("memory can be written");
        self.rejected.push(b'\n');
        let names = self.names.len() as u64;
        put_names(&mut self.names, "", None, None);
        self.ordered_by(ctx, None);
        self.rows.push(Row { words: Row::REJECTED, names, ..Row::default() });
        // A rejected record has a number, and so its row, names, value and payload: these files are read side
        // by side, and a gap in one of them would shift all that follow.
        self.payload.resize(self.payload.len() + ctx.panel.width(), 0);
    }
}

impl SketchedBatch {
    /// Notes the value that a document is ordered by, where that is a field; a rejected record has none.
    fn ordered_by(&mut self, ctx: &Context<'_>, document: Option<&Document<'_>>) {
        let Some(Order::Field(_)) = ctx.order else { return };
        let value = document.and_then(|document| ctx.extras.order(document));
        let length = value.map_or(NO_FIELD, |value| value.len() as u32);
        self.values.extend_from_slice(&length.to_le_bytes());
        self.values.extend_from_slice(value.unwrap_or_default().as_bytes());
    }
}

/// The documents of a batch that were read again.
#[derive(Debug, Default)]
pub(crate) struct RereadBatch {
    /// Records of the batch, wanted or not.
    pub(crate) records: usize,
    pub(crate) documents: Vec<RereadDocument>,
    /// The symbols by which they are measured, one document after the other.
    pub(crate) symbols: Vec<u64>,
}

/// A document that was read again; nothing but its number where there is none any more.
#[derive(Debug, Default)]
pub(crate) struct RereadDocument {
    /// Its number in the batch.
    pub(crate) index: usize,
    /// As in its [`Row`].
    pub(crate) digest: u128,
    /// Number of its symbols.
    pub(crate) symbols: usize,
}

impl Weight for RereadBatch {
    fn bytes(&self) -> usize {
        self.documents.capacity() * size_of::<RereadDocument>() + self.symbols.capacity() * 8
    }
}

/// The group that a document is compared within.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Group {
    /// The mask that the keys of its documents are XORed with, so that keys are shared within a group, or by chance. A fixed hash: sketches do
    /// not depend on the secret. Two groups may have the same.
    pub(crate) key_mask: u64,
    /// Its hash by the secret: equal hashes, equal groups. 0 where all are compared with all.
    pub(crate) hash: u64,
}

impl Group {
    /// The group of a document.
    pub(crate) fn of(
        by: Option<&Within>,
        extras: ExtraFields,
        document: &Document<'_>,
        secret: &Secret,
    ) -> Self {
        match by {
            None => Group::default(),
            // Hosts have no case.
            Some(Within::Host) => {
                let lower = document.url.map(|url| host(url).to_ascii_lowercase());
                Group::named(lower.as_deref(), secret)
            }
            Some(Within::Field(_)) => Group::named(extras.within(document), secret),
        }
    }

    /// The group of this name. Documents without one are compared among themselves.
    fn named(name: Option<&str>, secret: &Secret) -> Self {
        let name = name.map(str::as_bytes);
        Group {
            // 0 and 1 are taken: by runs that compare all with all, and by documents without a name.
            key_mask: hash::mix(name.map_or(1, |name| hash::word(name).max(2))),
            hash: name.map_or(1, |name| secret.hash(name).max(2)),
        }
    }

    /// The digest of a document's words and its group; 0 for one without words.
    pub(crate) fn digest(self, words: &Features, secret: &Secret) -> u128 {
        if words.is_empty() {
            return 0;
        }
        // Equal words in two groups are no class. The hash 0 changes nothing, since `mix` leaves 0 as it is.
        words.digest(secret) ^ (u128::from(hash::mix(self.hash)) << 64 | u128::from(self.hash))
    }
}

/// The host of an address, which may have no scheme: documents are grouped by it, so it stays as it is. `overlap::address::host` asks for a
/// scheme and trims dots.
pub(crate) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // From the right: a password may have an `@` of its own, a host may not.
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[').and_then(|v6| v6.split_once(']')) {
        Some((v6, _)) => v6,
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// Length that stands for a field that is not there.
pub(crate) const NO_FIELD: u32 = u32::MAX;

fn put_names(out: &mut Vec<u8>, id: &str, url: Option<&str>, field: Option<&str>) {
    let length = |text: Option<&str>| text.map_or(NO_FIELD, |text| text.len() as u32);
    for number in [id.len() as u32, length(url), length(field)] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    for text in [Some(id), url, field].into_iter().flatten() {
        out.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobRecipe;
    use crate::catalogue::Catalogue;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::recipe;
    use lookalike_corpus::Format;
    use lookalike_model::Media;
    use lookalike_store::file::Run;
    use lookalike_store::sort::{Codec, Postings};

    #[test]
    fn rows_are_read_back() {
        let names = 8 << 40;
        let row = Row {
            words: 1,
            text: 4,
            digest: 5 << 100,
            id: 6,
            within: 7,
            names,
            position: 9 << 50,
            length: 10,
        };
        assert_eq!(Row::decode(&row.encode()), row);
    }

    /// Names with one fixed hash.
    const FORGED: [&str; 2] = ["wriktxd", "fyzeoz6y"];

    #[test]
    fn groups_with_one_fixed_hash_are_told_apart() {
        let secret = Secret::random();
        let [one, two] = FORGED.map(|name| Group::named(Some(name), &secret));
        assert_eq!(one.key_mask, two.key_mask);
        assert_ne!(one.hash, two.hash);
        assert_ne!(Group::named(None, &secret), Group::named(Some(""), &secret));
    }

    #[test]
    fn hosts_of_addresses() {
        for (url, expected) in [
            ("https://example.org/a?b", "example.org"),
            ("http://user:word@example.org:80/", "example.org"),
            ("example.org/a", "example.org"),
            ("http://[::1]:8080/x", "::1"),
            ("", ""),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }

    #[test]
    fn a_group_is_a_host_without_case_or_the_value_of_a_field() {
        let secret = Secret::new(5);
        let document = |url| Document::from_text("x", url, Media::Text, "words");
        let of = |by: Option<&Within>, url| Group::of(by, ExtraFields::default(), &document(url), &secret);
        assert_eq!(of(None, Some("http://a.org")), Group::default());
        let host = |url| of(Some(&Within::Host), url);
        assert_eq!(host(Some("http://A.org/x")), host(Some("https://a.ORG:8080/y")));
        assert_ne!(host(Some("http://a.org")), host(Some("http://b.org")));
        assert!(host(None) != Group::default() && host(None) != host(Some("")));
        let field = Within::Field("f".to_owned());
        assert_eq!(
            of(Some(&field), Some("http://a.org")),
            host(None),
            "documents without a value are together"
        );
    }

    #[test]
    fn equal_words_in_different_groups_have_different_digests() {
        let secret = Secret::new(5);
        let mut features = Features::default();
        let mut analyser = lookalike_text::Analyser::with_secret(&lookalike_text::Profile::web(), &secret);
        analyser.read("...", &mut features);
        assert_eq!(Group::named(Some("a"), &secret).digest(&features, &secret), 0);
        analyser.read("one two", &mut features);
        let digest = |group: Group| group.digest(&features, &secret);
        assert_ne!(digest(Group::named(Some("a"), &secret)), digest(Group::named(Some("b"), &secret)));
        assert_eq!(digest(Group::named(Some("a"), &secret)), digest(Group::named(Some("a"), &secret)));
        assert_ne!(digest(Group::default()), 0);
    }

    #[test]
    fn rows_are_counted_for_the_shards_that_end_in_a_batch() {
        let row = |words, text| Row { words, text, ..Row::default() };
        let end = |before, kind| pipeline::ShardEnd {
            before,
            format: Format::Jsonl,
            skipped: vec![(kind, 2)],
            digest: Some(9),
        };
        let mut batch = SketchedBatch {
            rows: vec![row(1, 5), row(Row::REJECTED, 0), row(2, 3)],
            ends: vec![end(2, "request"), end(2, "info")],
            ..SketchedBatch::default()
        };
        let (mut open, mut done) = (ShardMeta { records: 4, ..ShardMeta::new() }, Vec::new());
        open.take(&mut batch, &mut done);
        assert_eq!(
            done.iter().map(|meta| (meta.records, meta.rejected, meta.text_bytes)).collect::<Vec<_>>(),
            [(6, 1, 5), (0, 0, 0)]
        );
        assert_eq!(
            (done[0].format.as_str(), done[0].digest, done[0].skipped["request"]),
            ("jsonl", Some(9), 2)
        );
        assert_eq!((open.records, open.text_bytes, open.format.as_str()), (1, 3, ""));
        let unit = UnitMeta {
            shards: done,
            key_runs: vec![],
            method_counts: vec![],
            spooled: false,
            seekable: false,
        };
        assert_eq!(unit.records(), 6);
    }

    #[test]
    fn counts_of_methods_are_added() {
        let mut sum = MethodCounts { keys: 1, unsigned: 2, bytes: 3 };
        sum.add(&MethodCounts { keys: 10, unsigned: 20, bytes: 30 });
        assert_eq!(sum, MethodCounts { keys: 11, unsigned: 22, bytes: 33 });
    }

    #[test]
    fn a_unit_is_whole_with_all_of_its_files() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["one", "two"]));
        let ctx = test.context();
        let whole = || is_whole(&ctx.work, ctx.stamp, 0).unwrap();
        assert!(!whole());
        sketch(&ctx).unwrap();
        assert!(whole() && !is_whole(&ctx.work, ctx.stamp, 1).unwrap());
        std::fs::remove_file(unit_file(&ctx, 0, "keys0.000000")).unwrap();
        assert!(!whole());
    }

    /// The documents that have keys, by unit.
    fn posted(ctx: &Context<'_>) -> Vec<Vec<u32>> {
        let catalogue = Catalogue::load(ctx).unwrap();
        let codec = Postings { tagged: false };
        let documents = |(path, _): (PathBuf, u32)| {
            let mut records = Run::open(&path, ctx.label(Postings::KIND, codec.width())).unwrap().records();
            let mut found = Vec::new();
            while let Some(bytes) = records.next().unwrap() {
                found.push(Posting::unpack(codec.get(bytes)).document);
            }
            found.sort_unstable();
            found
        };
        catalogue.key_runs(ctx, 0).into_iter().map(documents).collect()
    }

    #[test]
    fn of_a_second_corpus_only_keys_that_the_first_may_have_are_kept() {
        let (left, right) = (as_lines(&["one two", "three"]), as_lines(&["four", "one two", "five"]));
        let compared = StageTest::against(JobRecipe { task: Task::Compare, ..recipe("md5") }, &left, &right);
        assert_eq!(posted(&compared.sketched()), [vec![0, 1], vec![1]]);
        let removed = StageTest::against(recipe("md5"), &left, &right);
        assert_eq!(posted(&removed.sketched()), [vec![0, 1], vec![0, 1, 2]]);
    }

    #[test]
    fn documents_without_words_have_a_row_and_no_keys() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["...", "one two"]));
        let ctx = test.sketched();
        assert_eq!(posted(&ctx), [vec![1]]);
        let mut rows = Vec::new();
        Catalogue::load(&ctx)
            .unwrap()
            .rows(&ctx, |_, row| {
                rows.push((row.words, row.text, row.digest == 0, row.id == 0));
                Ok(())
            })
            .unwrap();
        assert_eq!(rows, [(0, 3, true, false), (2, 7, false, false)]);
    }

    #[test]
    fn values_of_an_order_stand_behind_the_other_fields() {
        let recipe = JobRecipe {
            keep: "field:score".to_owned(),
            within: Some("site".to_owned()),
            order: Some("date".to_owned()),
            ..recipe("md5")
        };
        let line = "{\"score\":\"5\",\"site\":\"s\",\"date\":\"2020\",\"text\":\"one\"}\n";
        let test = StageTest::new(recipe, line);
        let ctx = test.context();
        sketch(&ctx).unwrap();
        let mut records = Run::open(&unit_file(&ctx, 0, "values"), ctx.label("values", 1)).unwrap().records();
        let mut value = [0; 8];
        assert!(records.take(&mut value).unwrap());
        assert_eq!(value, *b"\x04\0\0\x002020");
        assert!(!records.take(&mut value).unwrap());
    }
}

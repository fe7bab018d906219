//! Stage 1, sketch: every document becomes a row, its names, a payload, keys in sorted runs, and its symbols.
//!
//! A unit leaves these files behind, each finished by a rename, the last one saying that the unit is done:
//!
//! | file | holds | bytes per document |
//! |---|---|---|
//! | `u000000.docs` | [`Row`]s | 68 |
//! | `u000000.names` | id, address, the field that keepers are chosen by | their length + 12 |
//! | `u000000.payload` | lengths and payloads of all methods | 4 + the method's, for each |
//! | `u000000.keys0.000000` … | postings of the first method, sorted, numbered from the unit's first document | 12 or 16 per key |
//! | `u000000.spool` | symbols, see `store::symbols` | about half the text |
//! | `u000000.rejected` | rejections as JSON lines | their length |
//! | `u000000.values` | the field that documents are ordered by, if one is | its length + 4 |
//! | `u000000.done` | counts per shard | - |
//!
//! While it is written, `u000000.begun` says how far the last checkpoint came.

mod unit;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lookalike_corpus::{Corpus, Item, LineReader, Rows};
use lookalike_methods::{Key, Page, Scratch, Sketch};
use lookalike_model::{Document, Place, Reason};
use lookalike_text::Features;
use lookalike_text::extract::Extractor;
use lookalike_text::hash::{self, Secret};
use serde::{Deserialize, Serialize};

use crate::context::{Context, Kept};
use crate::error::EngineError;
use crate::panel::{Panel, Seat};
use crate::pipeline::{self, Batch, HEAVY, Record, Spare, Unit, Weight};
use crate::reading::Readings;
use crate::recipe::{Keep, Order, Task, Within};
use crate::sieve::Sieve;
use crate::store::facts;
use crate::store::sort::Posting;
use crate::store::symbols::BlockBuilder;

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
    /// the shard can be read from any offset.
    pub(crate) position: u64,
    pub(crate) length: u32,
}

impl Row {
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
    #[serde(default)]
    pub(crate) made: Vec<Made>,
    pub(crate) spooled: bool,
    /// Its documents can be read again by where they stand in their shards.
    pub(crate) seekable: bool,
}

/// The counts of the keys and bytes that a method made of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Made {
    /// Keys of all documents together.
    pub keys: u64,
    /// Documents with words that it has no signature for.
    pub unsigned: u64,
    /// Bytes of payload and keys of all documents together.
    pub bytes: u64,
}

impl Made {
    /// Adds that of further documents.
    pub(crate) fn add(&mut self, other: &Made) {
        self.keys += other.keys;
        self.unsigned += other.unsigned;
        self.bytes += other.bytes;
    }
}

impl UnitMeta {
    pub(crate) fn records(&self) -> u64 {
        self.shards.iter().map(|shard| shard.records).sum()
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
    let mut keys = runs.flat_map(|(seat, &runs)| (0..runs).map(move |run| format!("keys{seat}.{run:06}")));
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
        corpora.push(Part { first, corpus, units: pipeline::units(corpus) });
        first += corpora.last().map_or(0, |part| part.units.len());
    }
    let compares = ctx.recipe.task == Task::Compare;
    if compares && ctx.panel.proposers().iter().all(Seat::goes_by_words) {
        corpora.sort_by_key(|part| part.corpus.bytes());
    }
    let mut sieve = None;
    for part in &corpora {
        let todo = part.todo(ctx);
        if todo.is_empty() {
            continue;
        }
        if compares && part.first != corpora[0].first {
            let other = &corpora[0];
            sieve = Some(Sieve::of(ctx, other.first..other.first + other.units.len())?);
        }
        part.sketch(ctx, &todo, sieve.as_ref())?;
    }
    Ok(())
}

/// A corpus of the job.
struct Part<'c> {
    /// Number of its first unit.
    first: usize,
    corpus: &'c Corpus,
    units: Vec<Unit>,
}

impl Part<'_> {
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

    fn sketch(&self, ctx: &Context<'_>, todo: &[usize], sieve: Option<&Sieve>) -> Result<(), EngineError> {
        let stretches: Vec<_> = todo.iter().map(|&index| self.units[index].clone()).collect();
        let shape = ctx.shape();
        let drivers = shape.drivers.clamp(1, stretches.len().max(1));
        let buffer = ctx.budget.free(0, 0) as usize / 3 / drivers;
        let heavy = Mutex::new(());
        let corpus = self.corpus;
        let kept: Vec<Kept> = stretches.iter().map(|unit| ctx.settings.spool.keeps(corpus, unit)).collect();
        let spare = Spare::default();
        pipeline::run(
            corpus,
            &stretches,
            shape,
            ctx.watch,
            || Workshop::new(ctx, corpus),
            |workshop, batch| {
                let wanted = Wanted { spooled: kept[batch.unit].spooled, sieve };
                workshop.sketch(ctx, batch, wanted, &heavy, &spare)
            },
            |index, feed| unit::write(ctx, self.first + todo[index], kept[index], buffer, feed, &spare),
        )
    }
}

/// The choice of data to keep of a document beside its row, names and payload.
#[derive(Clone, Copy)]
struct Wanted<'s> {
    /// True if the symbols that it is measured by are kept.
    spooled: bool,
    /// Only keys that pass; nothing else of a document that has none.
    sieve: Option<&'s Sieve>,
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
    fn take(&mut self, batch: &mut Sketched, done: &mut Vec<ShardMeta>) {
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
struct Sketched {
    rows: Vec<Row>,
    names: Vec<u8>,
    payload: Vec<u8>,
    /// Postings, by method.
    keys: Vec<Vec<u128>>,
    made: Vec<Made>,
    spool: Vec<u8>,
    rejected: Vec<u8>,
    /// The values by which documents are ordered.
    values: Vec<u8>,
    ends: Vec<pipeline::ShardEnd>,
}

impl Weight for Sketched {
    fn bytes(&self) -> usize {
        let keys: usize = self.keys.iter().map(Vec::capacity).sum();
        let rows = self.rows.capacity() * size_of::<Row>() + keys * size_of::<u128>();
        let bytes = [&self.names, &self.payload, &self.spool, &self.rejected, &self.values];
        rows + bytes.iter().map(|bytes| bytes.capacity()).sum::<usize>()
    }
}

/// The reason for the rejection of a document without words that a method would read.
pub(crate) const NO_WORD: &str = "the run's profile finds no word in it; the profile web would";

/// Everything that a worker uses again for one document after the other.
pub(crate) struct Workshop {
    lines: LineReader,
    tools: Tools,
}

/// A document where it stands.
#[derive(Clone, Copy)]
pub(crate) enum Stands<'a> {
    /// The bytes of its line.
    Line(&'a [u8]),
    /// A row of a table in memory.
    Row(&'a Rows, usize),
}

impl<'a> Stands<'a> {
    fn read(self, reader: &'a mut LineReader) -> Item<'a> {
        match self {
            Stands::Line(line) => reader.line(line, Place::default(), ""),
            Stands::Row(rows, row) => reader.row(rows, row),
        }
    }
}

/// The extractor, the readings and the buffers by which a document is sketched.
struct Tools {
    extractor: Extractor,
    readings: Readings,
    sketch: Sketch,
    symbols: Vec<u64>,
    blocks: BlockBuilder,
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

impl Workshop {
    /// A workshop for the documents of `corpus`.
    pub(crate) fn new(ctx: &Context<'_>, corpus: &Corpus) -> Self {
        Workshop { lines: LineReader::new(corpus.options()), tools: Tools::new(ctx) }
    }

    fn sketch(
        &mut self,
        ctx: &Context<'_>,
        batch: &Batch,
        wanted: Wanted<'_>,
        heavy: &Mutex<()>,
        spare: &Spare<Sketched>,
    ) -> Result<Sketched, EngineError> {
        self.in_turn(ctx, batch, heavy, |lines, tools| {
            let mut out = spare.take();
            out.begin(ctx, batch);
            batch.read(lines, |index, record| {
                let number = batch.first + index as u64;
                match record {
                    Record::Document(document) => {
                        tools.document(ctx, number as u32, &document, wanted, &mut out);
                    }
                    Record::Rejected(rejection) => {
                        let id = rejection.id.as_deref();
                        out.reject(ctx, number, rejection.place.position, &rejection.reason, id);
                    }
                }
                Ok(())
            })?;
            if !tools.blocks.is_empty() {
                tools.blocks.encode(&mut out.spool);
            }
            Ok(out)
        })
    }

    /// Reads the wanted records of a batch again.
    pub(crate) fn read_again(
        &mut self,
        ctx: &Context<'_>,
        batch: &Batch,
        heavy: &Mutex<()>,
        spare: &Spare<ReadAgain>,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<ReadAgain, EngineError> {
        self.in_turn(ctx, batch, heavy, |lines, tools| {
            let mut out = spare.take();
            out.records = batch.len();
            out.documents.clear();
            out.symbols.clear();
            batch.read_some(lines, wanted, |index, record| {
                out.documents.push(match record {
                    Record::Document(document) => {
                        let (digest, symbols) = tools.again(ctx, &document);
                        out.symbols.extend_from_slice(symbols);
                        DocumentAgain { index, digest, symbols: symbols.len() }
                    }
                    Record::Rejected(_) => DocumentAgain { index, ..DocumentAgain::default() },
                });
                Ok(())
            })?;
            Ok(out)
        })
    }

    /// Reads one document again; hands over what it is measured by if its digest is the one that its row has.
    pub(crate) fn document_again(
        &mut self,
        ctx: &Context<'_>,
        stands: Stands<'_>,
        digest: u128,
        take: impl FnOnce(&[u64]),
    ) -> bool {
        let Item::Document(document) = stands.read(&mut self.lines) else { return false };
        let (found, symbols) = self.tools.again(ctx, &document);
        if found == digest {
            take(symbols);
        }
        found == digest
    }

    /// Reads the text of one document again.
    pub(crate) fn text_again<'a>(&'a mut self, ctx: &Context<'_>, stands: Stands<'a>) -> Option<&'a str> {
        match stands.read(&mut self.lines) {
            Item::Document(document) => Some(self.tools.extractor.extract(&document, ctx.content).text),
            _ => None,
        }
    }

    /// Lets go of buffers that a large document left.
    pub(crate) fn tidy(&mut self, ctx: &Context<'_>) {
        self.tools = Tools::new(ctx);
    }

    /// Shows the documents of a batch that are chosen by their number in it, as each method that wants one sees it, with
    /// the number of the method. Returns how many of these records could not be read.
    pub(crate) fn show(
        &mut self,
        ctx: &Context<'_>,
        batch: &Batch,
        heavy: &Mutex<()>,
        chosen: impl Fn(usize) -> bool,
        wants: impl Fn(usize, usize) -> bool,
        each: impl Fn(usize, &Page<'_>, &mut Scratch) -> Result<(), EngineError>,
    ) -> Result<usize, EngineError> {
        self.in_turn(ctx, batch, heavy, |lines, tools| {
            let mut rejected = 0;
            batch.read_some(lines, chosen, |index, record| {
                let Record::Document(document) = record else {
                    rejected += 1;
                    return Ok(());
                };
                let text = tools.extractor.extract(&document, ctx.content).text;
                tools.readings.turn();
                for place in (0..ctx.panel.seats().len()).filter(|&place| wants(place, index)) {
                    if let Some(page) = tools.readings.page(place, text) {
                        each(place, &page, &mut tools.sketch.scratch)?;
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
        work: impl FnOnce(&mut LineReader, &mut Tools) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        if batch.bytes() < HEAVY {
            return work(&mut self.lines, &mut self.tools);
        }
        ctx.budget.admit_document(batch.weight() as u64)?;
        let _turn = heavy.lock();
        let done = work(&mut self.lines, &mut self.tools);
        self.tidy(ctx);
        done
    }
}

impl Tools {
    fn new(ctx: &Context<'_>) -> Self {
        Tools {
            extractor: Extractor::default(),
            readings: Readings::new(&ctx.profile, &ctx.measuring, &ctx.panel, &ctx.secret),
            sketch: Sketch::default(),
            symbols: Vec::new(),
            blocks: BlockBuilder::new(),
        }
    }

    /// One document: its row, names, payload, keys and symbols.
    fn document(
        &mut self,
        ctx: &Context<'_>,
        number: u32,
        document: &Document<'_>,
        wanted: Wanted<'_>,
        out: &mut Sketched,
    ) {
        let text = self.extractor.extract(document, ctx.content).text;
        if let Some(reason) = ctx.panel.refuses(text) {
            let (position, id) = (document.place.position, Some(document.id));
            return out.reject(ctx, number.into(), position, &Reason::Broken(reason), id);
        }
        self.readings.turn();
        let features = self.readings.words(text);
        let wordless = features.is_empty();
        if wordless && ctx.panel.refuses("").is_some() {
            // The method would read it, but what has no words is compared with nothing.
            let reason = Reason::Broken(NO_WORD.to_owned());
            return out.reject(ctx, number.into(), document.place.position, &reason, Some(document.id));
        }
        let group = Group::of(ctx.within.as_ref(), &ctx.keep, document, &ctx.secret);
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
        let field = matches!(ctx.keep, Keep::Field { .. }).then(|| document.extras.get(0)).flatten();
        put_names(&mut out.names, document.id, document.url, field);
        out.ordered_by(ctx, Some(document));
        if !features.is_empty() {
            row.digest = group.digest(features, &ctx.secret);
        }
        out.rows.push(row);
        let mut found = wanted.sieve.is_none();
        for (place, seat) in ctx.panel.seats().iter().enumerate() {
            self.sketch.clear();
            // A document that cannot be measured is paired with nothing.
            if let Some(page) = self.readings.page(place, text).filter(|_| !wordless) {
                seat.method.sketch(&page, &mut self.sketch);
            }
            Panel::put(seat, &self.sketch, &mut out.payload);
            // A filter looks for nothing.
            let Some(keys) = out.keys.get_mut(place) else { continue };
            let posting = |key: &Key| Posting { key: key.value ^ group.turn, document: number, tag: key.tag };
            let before = keys.len();
            let postings = self.sketch.keys.iter().map(posting);
            match wanted.sieve {
                None => keys.extend(postings.map(Posting::pack)),
                Some(sieve) => {
                    keys.extend(
                        postings.filter(|posting| sieve.passes(place, posting.key)).map(Posting::pack),
                    );
                }
            }
            found |= keys.len() > before;
            if !wordless {
                out.made[place].add(&made(seat, &self.sketch));
            }
        }
        if wanted.spooled && found && !wordless {
            let symbols = ctx.measure.symbols(self.readings.measuring(text), &mut self.symbols);
            if self.blocks.push(number, symbols) {
                self.blocks.encode(&mut out.spool);
            }
        }
    }

    /// One document again: what tells whether it is the same, and what it is measured by.
    fn again(&mut self, ctx: &Context<'_>, document: &Document<'_>) -> (u128, &[u64]) {
        let text = self.extractor.extract(document, ctx.content).text;
        self.readings.turn();
        let group = Group::of(ctx.within.as_ref(), &ctx.keep, document, &ctx.secret);
        let digest = group.digest(self.readings.words(text), &ctx.secret);
        (digest, ctx.measure.symbols(self.readings.measuring(text), &mut self.symbols))
    }
}

/// Counts the keys and bytes that a method made of one document.
fn made(seat: &Seat, sketch: &Sketch) -> Made {
    let keys = sketch.keys.len() as u64;
    let width = if seat.method.tagged() { 16 } else { 12 };
    Made { keys, unsigned: u64::from(keys == 0), bytes: seat.method.payload_bytes() as u64 + keys * width }
}

impl Sketched {
    /// Makes it ready for what becomes of `batch`.
    fn begin(&mut self, ctx: &Context<'_>, batch: &Batch) {
        self.rows.clear();
        let Sketched { names, payload, spool, rejected, values, .. } = self;
        [names, payload, spool, rejected, values].into_iter().for_each(Vec::clear);
        self.keys.resize_with(ctx.panel.proposers().len(), Vec::new);
        self.keys.iter_mut().for_each(Vec::clear);
        self.made.clear();
        self.made.resize(self.keys.len(), Made::default());
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
        self.payload.resize(self.payload.len() + ctx.panel.width(), 0);
    }
}

impl Sketched {
    /// Notes the value that a document is ordered by, where that is a field; a rejected record has none.
    fn ordered_by(&mut self, ctx: &Context<'_>, document: Option<&Document<'_>>) {
        let Some(Order::Field(_)) = ctx.order else { return };
        // It comes behind the other fields that are asked for.
        let keep = usize::from(matches!(ctx.keep, Keep::Field { .. }));
        let within = usize::from(matches!(ctx.within, Some(Within::Field(_))));
        let value = document.and_then(|document| document.extras.get(keep + within));
        let length = value.map_or(NO_FIELD, |value| value.len() as u32);
        self.values.extend_from_slice(&length.to_le_bytes());
        self.values.extend_from_slice(value.unwrap_or_default().as_bytes());
    }
}

/// The documents of a batch that were read again.
#[derive(Debug, Default)]
pub(crate) struct ReadAgain {
    /// Records of the batch, wanted or not.
    pub(crate) records: usize,
    pub(crate) documents: Vec<DocumentAgain>,
    /// The symbols by which they are measured, one document after the other.
    pub(crate) symbols: Vec<u64>,
}

/// A document that was read again; nothing but its number where there is none any more.
#[derive(Debug, Default)]
pub(crate) struct DocumentAgain {
    /// Its number in the batch.
    pub(crate) index: usize,
    /// As in its [`Row`].
    pub(crate) digest: u128,
    /// Number of its symbols.
    pub(crate) symbols: usize,
}

impl Weight for ReadAgain {
    fn bytes(&self) -> usize {
        self.documents.capacity() * size_of::<DocumentAgain>() + self.symbols.capacity() * 8
    }
}

/// The group that a document is compared within.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Group {
    /// The value that the keys of its documents are turned by, so that they meet only their like. A fixed hash: sketches do not depend on the
    /// secret. Two groups may have the same.
    pub(crate) turn: u64,
    /// Its hash by the secret: equal hashes, equal groups. 0 where all are compared with all.
    pub(crate) hash: u64,
}

impl Group {
    /// The group of a document.
    pub(crate) fn of(by: Option<&Within>, keep: &Keep, document: &Document<'_>, secret: &Secret) -> Self {
        match by {
            None => Group::default(),
            // Hosts have no case.
            Some(Within::Host) => {
                let lower = document.url.map(|url| host(url).to_ascii_lowercase());
                Group::named(lower.as_deref(), secret)
            }
            Some(Within::Field(_)) => {
                let place = usize::from(matches!(keep, Keep::Field { .. }));
                Group::named(document.extras.get(place), secret)
            }
        }
    }

    /// The group of this name. Documents without one are compared among themselves.
    fn named(name: Option<&str>, secret: &Secret) -> Self {
        let name = name.map(str::as_bytes);
        Group {
            turn: hash::mix(name.map_or(1, |name| hash::word(name).max(2))),
            hash: name.map_or(1, |name| secret.hash(name).max(2)),
        }
    }

    /// The digest of a document's words and its group; 0 for one without words.
    pub(crate) fn digest(self, words: &Features, secret: &Secret) -> u128 {
        if words.is_empty() {
            return 0;
        }
        words.digest(secret) ^ (u128::from(hash::mix(self.hash)) << 64 | u128::from(self.hash))
    }
}

/// The host of an address.
pub(crate) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
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
        assert_eq!(one.turn, two.turn);
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
}

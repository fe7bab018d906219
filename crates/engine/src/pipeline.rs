//! Documents through a pool of workers, with results in the order of the input.
//!
//! A unit is a stretch of the input: one large shard, or many small ones. Each unit under way has a driver, which
//! reads documents, packs them into batches for the workers, and takes the results back in order. So one large file
//! keeps all threads busy as well as many small ones do, and what is written never depends on who finished first.
//!
//! Of JSON lines a driver only finds the ends. A block of lines goes to a worker together with its buffer, and buffers
//! come back to be used again. Batches are cut by bytes and by records, so that a million short or rejected records are
//! never in memory together.
//!
//! Documents above 2 MiB are handled by one worker at a time, which frees its buffers afterwards. While one is read it
//! takes 5 bytes per byte, 6 where its text is spooled, and 56 per word (place, hash, symbol, set), about twelve times its size. Words are counted in
//! the compatibility normal form, which can be eleven times as long as the text, and each byte that it is longer takes 2
//! more. A memory cap that is too small for a document stops the run with the figure that would do.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};
use lookalike_corpus::{
    Corpus, CorpusError, DecoderBudget, Format, Item, LineReader, Lines, LinesView, MOST_BATCH_RECORDS,
    ReadOptions, Reader, Shard,
};
use lookalike_model::{Content, Document, Extras, Media, RecordPosition, Rejection};
use lookalike_text::{NfkcGrowth, word_ends};

use crate::error::EngineError;
use crate::walk::Watch;

/// A batch is closed when it holds this many bytes of content, or fewer where memory is short.
const BATCH_BYTES: usize = 512 << 10;
const LEAST_BATCH_BYTES: usize = 64 << 10;

/// Batches above this size hold one large document. They are handled by one worker at a time, which lets go of its
/// buffers afterwards.
pub const HEAVY: usize = 2 << 20;

/// Bytes of memory that a large document takes while it is handled, for each of its bytes; `PER_WORD` is that for each of its
/// words, which has a position, a hash, a symbol, and a place in a set where it is compared.
///
/// Measured on 12 to 30 MB of ideographs, whose words all differ: 51 to 54 bytes per word in an index that compares two such
/// documents, the most right behind a power of two, where lists have just doubled. Documents alone take half of that, words that repeat
/// take 41.
const PER_BYTE: usize = 5;
const PER_WORD: usize = 56;

/// Bytes that a large document takes for each byte that its normal form has more: there it stands, and is made in a buffer of its own.
const PER_GROWN_BYTE: usize = 2;

/// Bytes that the normal form of one character may have.
const LONGEST_CHARACTER: usize = 33;

/// Bytes that a large document takes while it is handled.
pub(crate) fn weight_of(bytes: usize, words: usize) -> usize {
    bytes * PER_BYTE + words * PER_WORD
}

/// Bytes that a large text takes while it is handled.
pub(crate) fn weight_of_text(text: &str) -> usize {
    weight_grown(text.len(), word_ends(text.as_bytes()), NfkcGrowth::of(text))
}

/// Bytes that a large document takes while it is handled, when its normal form grows.
fn weight_grown(bytes: usize, words: usize, growth: NfkcGrowth) -> usize {
    weight_of(bytes, words.saturating_add_signed(growth.words)) + PER_GROWN_BYTE * growth.bytes
}

/// Small shards are put together until they reach this size: each unit leaves a few files behind. Tests want many.
const UNIT_BYTES: u64 = if cfg!(test) { 16 << 10 } else { 64 << 20 };

/// A stretch of shards, by number.
pub type Unit = Range<usize>;

/// Cuts the shards of a corpus into units. Depends on nothing but their sizes.
pub fn units(corpus: &Corpus) -> Vec<Unit> {
    units_by(corpus.shards().iter().map(|shard| shard.bytes))
}

/// Cuts shards of these sizes into units.
pub(crate) fn units_by(sizes: impl Iterator<Item = Option<u64>>) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut room = 0;
    for (index, bytes) in sizes.enumerate() {
        let bytes = bytes.unwrap_or(UNIT_BYTES);
        match units.last_mut() {
            Some(unit) if bytes <= room => unit.end = index + 1,
            _ => {
                units.push(index..index + 1);
                room = UNIT_BYTES;
            }
        }
        room = room.saturating_sub(bytes);
    }
    units
}

/// Records on their way to a worker: documents that were read and are copied out of the reader's window, and behind them
/// whole lines that nobody has read yet.
#[derive(Debug, Default)]
pub struct Batch {
    lines: Lines,
    /// Names and texts of documents that were read.
    text: String,
    /// Contents that are not known to be Unicode text.
    bytes: Vec<u8>,
    /// The ranges of further fields in `text`, for all documents.
    spans: Vec<Option<(usize, usize)>>,
    entries: Vec<Entry>,
    /// The shards that end in this batch.
    pub ends: Vec<ShardEnd>,
    /// Number of its first record, counted from the start of the unit.
    pub first: u64,
    /// The unit it comes from, as a place in the list that was given.
    pub unit: usize,
    weight: usize,
    /// Bytes that a spool takes for the text of a large document.
    spooled: usize,
}

/// A shard ended in this batch.
#[derive(Debug, Clone)]
pub struct ShardEnd {
    /// Records of this batch up to and including the shard's last.
    pub before: usize,
    /// The format that its content showed.
    pub format: Format,
    /// Records that are no documents, by kind.
    pub skipped: Vec<(&'static str, u64)>,
    /// [Digest](Reader::digest) of its bytes.
    pub digest: Option<u64>,
}

#[derive(Debug)]
enum Entry {
    Document {
        id: Range<usize>,
        url: Option<Range<usize>>,
        media: Media,
        content: Range<usize>,
        encoded: bool,
        charset: Option<Range<usize>>,
        place: RecordPosition,
        spans: Range<usize>,
    },
    Rejected(Rejection),
}

/// One record of a batch.
pub enum Record<'a> {
    /// A document.
    Document(Document<'a>),
    /// A record that could not be read.
    Rejected(&'a Rejection),
}

impl Batch {
    fn put(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }

    fn push(&mut self, document: &Document<'_>, extras: usize) {
        let (content, encoded, charset) = match document.content {
            Content::Unicode(text) => (self.put(text), false, None),
            Content::Encoded { bytes, charset } => {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(bytes);
                (start..self.bytes.len(), true, charset)
            }
        };
        let spans = self.spans.len();
        for index in 0..extras {
            let span = document.extras.get(index).map(|value| self.put(value));
            self.spans.push(span.map(|span| (span.start, span.end)));
        }
        let entry = Entry::Document {
            id: self.put(document.id),
            url: document.url.map(|url| self.put(url)),
            media: document.media,
            content,
            encoded,
            charset: charset.map(|charset| self.put(charset)),
            place: document.place,
            spans: spans..self.spans.len(),
        };
        self.entries.push(entry);
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.entries.len() + self.lines.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True for one large document, whose like should be handled one at a time.
    pub fn is_heavy(&self) -> bool {
        self.bytes() >= HEAVY
    }

    /// True when it has as many records, or ends of shards, as may be under way together.
    fn is_full(&self) -> bool {
        self.entries.len().max(self.ends.len()) >= MOST_BATCH_RECORDS
    }

    /// Bytes of everything in it.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.bytes() + self.text.len() + self.bytes.len()
    }

    /// Bytes that it takes with what is made of it on the way: of a large document that is many times its size, by the
    /// number of its words.
    fn weigh(&mut self) {
        let entries =
            self.entries.capacity() * size_of::<Entry>() + self.ends.capacity() * size_of::<ShardEnd>();
        self.weight = self.lines.memory_bytes() + self.text.capacity() + self.bytes.capacity() + entries;
        // Lines stop before a large one, so that it comes here by itself.
        let read = self.text.len() + self.bytes.len();
        if read >= HEAVY {
            let words = word_ends(self.text.as_bytes()) + word_ends(&self.bytes);
            let growth = self.growth();
            self.spooled = read;
            self.weight += weight_grown(read, words, growth) - read;
        }
    }

    /// Bytes by which its texts may be longer in their normal form.
    fn growth(&self) -> NfkcGrowth {
        let [text, bytes] = [&self.text, str::from_utf8(&self.bytes).unwrap_or_default()].map(NfkcGrowth::of);
        // A character that is written by its number may be any.
        let numbered = memchr::memmem::find_iter(&self.bytes, "&#").count();
        NfkcGrowth {
            bytes: text.bytes + bytes.bytes + LONGEST_CHARACTER * numbered,
            words: text.words + bytes.words,
        }
    }

    /// Bytes that it takes while it is handled.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// Bytes that it takes while it is handled and spooled.
    pub(crate) fn spooled_weight(&self) -> usize {
        self.weight + self.spooled
    }

    /// Empties it for other records.
    fn clear(&mut self) {
        self.spooled = 0;
        self.lines.clear();
        self.text.clear();
        self.bytes.clear();
        self.spans.clear();
        self.entries.clear();
        self.ends.clear();
    }

    /// Hands all records to `each`, in order, with their numbers in the batch.
    pub fn read(
        &self,
        reader: &mut LineReader,
        each: impl FnMut(usize, Record<'_>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        self.read_from(self.lines.view_all(), reader, |_| true, each)
    }

    /// The same for those records whose numbers are wanted; the others cost nothing.
    pub fn read_some(
        &self,
        reader: &mut LineReader,
        wanted: impl Fn(usize) -> bool,
        each: impl FnMut(usize, Record<'_>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        self.read_from(self.lines.view_some(), reader, wanted, each)
    }

    fn read_from(
        &self,
        lines: LinesView<'_>,
        reader: &mut LineReader,
        wanted: impl Fn(usize) -> bool,
        mut each: impl FnMut(usize, Record<'_>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        for index in (0..self.len()).filter(|&index| wanted(index)) {
            if let Some(entry) = self.entries.get(index) {
                each(index, self.record(entry))?;
                continue;
            }
            match reader.read(lines, index - self.entries.len()) {
                Item::Document(document) => each(index, Record::Document(document))?,
                Item::Rejected(rejection) => each(index, Record::Rejected(&rejection))?,
                Item::Skipped(_) => {}
            }
        }
        Ok(())
    }

    fn record<'b>(&'b self, entry: &'b Entry) -> Record<'b> {
        match entry {
            Entry::Rejected(rejection) => Record::Rejected(rejection),
            Entry::Document { id, url, media, content, encoded, charset, place, spans } => {
                let charset = charset.clone().map(|range| &self.text[range]);
                let content = match encoded {
                    true => Content::Encoded { bytes: &self.bytes[content.clone()], charset },
                    false => Content::Unicode(&self.text[content.clone()]),
                };
                Record::Document(Document {
                    id: &self.text[id.clone()],
                    url: url.clone().map(|range| &self.text[range]),
                    media: *media,
                    content,
                    place: *place,
                    raw: None,
                    extras: Extras::new(&self.text, &self.spans[spans.clone()]),
                })
            }
        }
    }
}

/// Reads the shards of a unit as batches. Files must be what they were when the job began, before they are read and behind that.
struct Source<'c> {
    shards: &'c [Shard],
    shard: Option<&'c Shard>,
    options: &'c Arc<ReadOptions>,
    watch: &'c Watch,
    reader: Option<Reader>,
    consumed: u64,
    skipped: Vec<(&'static str, u64)>,
    records: u64,
    unit: usize,
    batch_bytes: usize,
    /// The rest of a batch whose first records were skipped.
    partial_batch: Option<Batch>,
    /// Batches that are done with, for their memory.
    batch_pool: &'c BufferPool<Batch>,
}

/// The records at the front of a unit that an earlier process is done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResumePoint {
    /// Shards that it came to the end of.
    pub shards: usize,
    /// Records of the next shard.
    pub records: u64,
    /// All of these records.
    pub all: u64,
}

impl Source<'_> {
    /// The next batch, or none at the end of the unit.
    fn next(&mut self) -> Result<Option<Batch>, EngineError> {
        if self.watch.stopped() {
            return Err(EngineError::Stopped);
        }
        if let Some(batch) = self.partial_batch.take() {
            return Ok(Some(self.hand_out(batch)));
        }
        let mut batch = self.batch_pool.take();
        batch.clear();
        while batch.bytes() < self.batch_bytes && !batch.is_full() {
            if self.reader.is_none() && !self.open()? {
                break;
            }
            if self.take_lines(&mut batch)? {
                break;
            }
            self.read(&mut batch)?;
        }
        Ok((!batch.is_empty() || !batch.ends.is_empty()).then(|| self.hand_out(batch)))
    }

    /// Numbers and weighs a batch, and counts its records.
    fn hand_out(&mut self, mut batch: Batch) -> Batch {
        (batch.first, batch.unit) = (self.records, self.unit);
        batch.weigh();
        self.count(batch.len() as u64);
        batch
    }

    fn count(&mut self, records: u64) {
        self.records += records;
        self.watch.documents.fetch_add(records, Ordering::Relaxed);
    }

    /// Skips the first records of the unit: their bytes are read, and nothing is made of them.
    fn skip(&mut self, resume_point: ResumePoint) -> Result<(), EngineError> {
        let (done, rest) = self.shards.split_at(resume_point.shards.min(self.shards.len()));
        let bytes = done.iter().filter_map(|shard| shard.bytes).sum();
        self.watch.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.shards = rest;
        self.count(resume_point.all);
        if resume_point.records > 0 && self.open()? {
            self.skip_records(resume_point.records)?;
        }
        Ok(())
    }

    /// Skips records of the open shard.
    fn skip_records(&mut self, mut left: u64) -> Result<(), EngineError> {
        let mut batch = self.batch_pool.take();
        while left > 0 {
            if self.watch.stopped() {
                return Err(EngineError::Stopped);
            }
            batch.clear();
            if !self.take_lines(&mut batch)? {
                self.read(&mut batch)?;
            }
            let found = batch.len() as u64;
            if found > left {
                batch.lines.drop_first(left as usize);
                self.partial_batch = Some(batch);
                return Ok(());
            }
            left -= found;
            if left > 0 && self.reader.is_none() {
                let name = self.shard.map_or_else(String::new, |shard| shard.name.clone());
                let what = "it has fewer records than were read of it before".to_owned();
                return Err(CorpusError::Changed { name, what }.into());
            }
        }
        self.batch_pool.give_back(batch);
        Ok(())
    }

    fn open(&mut self) -> Result<bool, EngineError> {
        let Some((shard, rest)) = self.shards.split_first() else { return Ok(false) };
        shard.check()?;
        self.reader = Some(shard.open(self.options)?);
        self.shard = Some(shard);
        self.shards = rest;
        self.consumed = 0;
        Ok(true)
    }

    /// Takes lines of the open shard as they are, if there are enough of them.
    fn take_lines(&mut self, batch: &mut Batch) -> Result<bool, EngineError> {
        let Some(reader) = self.reader.as_mut() else { return Ok(false) };
        let taken = reader.lines(self.batch_bytes, &mut batch.lines)?;
        self.advance();
        Ok(taken)
    }

    /// Tells how far the reader has come.
    fn advance(&mut self) {
        let consumed = self.reader.as_ref().map_or(self.consumed, Reader::consumed);
        self.watch.bytes.fetch_add(consumed - self.consumed, Ordering::Relaxed);
        self.consumed = consumed;
    }

    /// Takes one item of the open shard.
    fn read(&mut self, batch: &mut Batch) -> Result<(), EngineError> {
        let Some(reader) = self.reader.as_mut() else { return Ok(()) };
        let ended = match reader.next()? {
            Some(Item::Document(document)) => {
                batch.push(&document, self.options.extras.len());
                false
            }
            Some(Item::Rejected(rejection)) => {
                batch.entries.push(Entry::Rejected(rejection));
                false
            }
            Some(Item::Skipped(skip)) => {
                match self.skipped.iter_mut().find(|(kind, _)| *kind == skip.kind) {
                    Some((_, count)) => *count += 1,
                    None => self.skipped.push((skip.kind, 1)),
                }
                false
            }
            None => true,
        };
        let (format, digest) = (reader.format(), reader.digest());
        self.advance();
        if ended {
            self.shard.map_or(Ok(()), Shard::check)?;
            let skipped = std::mem::take(&mut self.skipped);
            batch.ends.push(ShardEnd { before: batch.len(), format, skipped, digest });
            self.reader = None;
        }
        Ok(())
    }
}

/// The numbers of threads and of concurrent units, and the bytes that may wait between them.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Threads that work.
    pub threads: usize,
    /// Units under way at once.
    pub drivers: usize,
    /// Bytes of batches and results that may be under way, all units together.
    pub waiting_bytes: usize,
    /// The memory that the reader of each unit under way may take.
    pub share: DecoderBudget,
}

impl Shape {
    /// The same, with one unit after the other.
    #[must_use]
    pub fn one_by_one(self) -> Self {
        Shape { drivers: 1, share: DecoderBudget { readers: 1, ..self.share }, ..self }
    }

    /// Allows the readers of a corpus their share of memory. There are no more of them than shards.
    pub fn allow(self, corpus: &Corpus) {
        let readers = self.share.readers.min(corpus.shards().len() as u64);
        corpus.options().decoding.set_budget(DecoderBudget { readers, ..self.share });
    }

    fn batch_bytes(self) -> usize {
        (self.waiting_bytes / self.threads.max(1) / 16).clamp(LEAST_BATCH_BYTES, BATCH_BYTES)
    }
}

/// The result of a batch, which takes memory until it is written.
pub trait Weight {
    /// Bytes that it holds.
    fn bytes(&self) -> usize;
}

impl Weight for Batch {
    fn bytes(&self) -> usize {
        self.weight
    }
}

impl Weight for () {
    fn bytes(&self) -> usize {
        0
    }
}

impl<T: Weight> Weight for Result<T, EngineError> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, Weight::bytes)
    }
}

/// Values that are done with, kept for their memory: to free it and allocate it anew costs more than many a document.
pub(crate) struct BufferPool<T>(Mutex<Vec<T>>);

impl<T> Default for BufferPool<T> {
    fn default() -> Self {
        BufferPool(Mutex::default())
    }
}

impl<T: Weight + Default> BufferPool<T> {
    /// One that was given back, as it was left, or a new one.
    pub(crate) fn take(&self) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Keeps it, unless it is as large as only a large document makes it.
    pub(crate) fn give_back(&self, done: T) {
        if done.bytes() < 2 * HEAVY {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(done);
        }
    }
}

struct Task<T> {
    batch: Batch,
    reply: Sender<T>,
}

/// The results of one unit, in order.
pub struct Feed<'f, T> {
    source: Source<'f>,
    ended: bool,
    waiting: VecDeque<Receiver<T>>,
    most: usize,
    /// Bytes of batches and results under way, all units together, and how many may be.
    held: &'f AtomicUsize,
    most_held: usize,
    /// Another unit failed: no use in going on.
    failed: &'f AtomicBool,
    work: Executor<'f, T>,
}

enum Executor<'f, T> {
    /// Done here and now.
    Inline(&'f mut dyn FnMut(&Batch) -> T),
    /// Done by a worker of the pool.
    Pool(&'f Sender<Task<T>>),
}

impl<T> Feed<'_, T> {
    /// Skips the records that an earlier process is done with. Comes before the first result.
    pub(crate) fn skip(&mut self, resume_point: ResumePoint) -> Result<(), EngineError> {
        self.source.skip(resume_point)
    }
}

impl<T: Weight> Feed<'_, T> {
    /// The result of the next batch, or none at the end of the unit.
    #[expect(clippy::should_implement_trait, reason = "it may fail, which `Iterator` cannot say")]
    pub fn next(&mut self) -> Result<Option<T>, EngineError> {
        if self.failed.load(Ordering::Relaxed) {
            return Err(EngineError::Stopped);
        }
        let pool = match &mut self.work {
            Executor::Inline(work) => {
                let Some(batch) = self.source.next()? else { return Ok(None) };
                let result = work(&batch);
                self.source.batch_pool.give_back(batch);
                return Ok(Some(result));
            }
            Executor::Pool(pool) => *pool,
        };
        // What is under way is not given company, lest it fill the memory; one batch always goes on.
        while !self.ended
            && self.waiting.len() < self.most
            && (self.waiting.is_empty() || self.held.load(Ordering::Relaxed) < self.most_held)
        {
            match self.source.next()? {
                None => self.ended = true,
                Some(batch) => {
                    let (reply, result) = bounded(1);
                    self.held.fetch_add(batch.weight(), Ordering::Relaxed);
                    pool.send(Task { batch, reply }).map_err(|_| EngineError::Stopped)?;
                    self.waiting.push_back(result);
                }
            }
        }
        let Some(first) = self.waiting.pop_front() else { return Ok(None) };
        let result = first.recv().map_err(|_| EngineError::Stopped)?;
        self.held.fetch_sub(result.bytes(), Ordering::Relaxed);
        Ok(Some(result))
    }
}

/// Leads the documents of `units` through workers. `worker` makes the state of one worker, `work` handles one batch,
/// `drive` takes the results of one unit; of failures at the same time the one of the earliest unit is returned.
pub fn run<W, T: Send + Weight>(
    corpus: &Corpus,
    units: &[Unit],
    shape: Shape,
    watch: &Watch,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &Batch) -> T + Sync,
    drive: impl Fn(usize, &mut Feed<'_, T>) -> Result<(), EngineError> + Sync,
) -> Result<(), EngineError> {
    shape.allow(corpus);
    let pipeline = PipelineState::new(corpus, units, shape, watch);
    if shape.threads <= 1 {
        let mut state = worker();
        let mut here = |batch: &Batch| work(&mut state, batch);
        return (0..units.len())
            .try_for_each(|unit| drive(unit, &mut pipeline.feed(unit, Executor::Inline(&mut here))));
    }
    let (tasks, taken) = bounded::<Task<T>>(shape.threads);
    std::thread::scope(|scope| {
        for _ in 0..shape.threads {
            let taken = taken.clone();
            let (pipeline, worker, work) = (&pipeline, &worker, &work);
            scope.spawn(move || {
                let mut state = worker();
                pipeline.work(&taken, |batch| work(&mut state, batch));
            });
        }
        drop(taken);
        for _ in 1..pipeline.drivers() {
            let tasks = tasks.clone();
            let (pipeline, drive) = (&pipeline, &drive);
            scope.spawn(move || pipeline.drive(&tasks, drive));
        }
        // One of them is this thread: what it does with results may use the pool that it belongs to.
        pipeline.drive(&tasks, &drive);
        drop(tasks);
    });
    pipeline
        .failure
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .map_or(Ok(()), |(_, error)| Err(error))
}

/// The state that drivers and workers share.
struct PipelineState<'c> {
    corpus: &'c Corpus,
    units: &'c [Unit],
    shape: Shape,
    watch: &'c Watch,
    next: AtomicUsize,
    held: AtomicUsize,
    batch_pool: BufferPool<Batch>,
    failed: AtomicBool,
    /// The earliest unit that failed, and why.
    failure: Mutex<Option<(usize, EngineError)>>,
}

impl<'c> PipelineState<'c> {
    fn new(corpus: &'c Corpus, units: &'c [Unit], shape: Shape, watch: &'c Watch) -> Self {
        PipelineState {
            corpus,
            units,
            shape,
            watch,
            next: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            batch_pool: BufferPool::default(),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    fn drivers(&self) -> usize {
        self.shape.drivers.clamp(1, self.units.len().max(1))
    }

    fn feed<'f, T>(&'f self, unit: usize, work: Executor<'f, T>) -> Feed<'f, T> {
        let source = Source {
            shards: &self.corpus.shards()[self.units[unit].clone()],
            shard: None,
            options: self.corpus.options(),
            watch: self.watch,
            reader: None,
            consumed: 0,
            skipped: Vec::new(),
            records: 0,
            unit,
            batch_bytes: self.shape.batch_bytes(),
            partial_batch: None,
            batch_pool: &self.batch_pool,
        };
        Feed {
            source,
            ended: false,
            waiting: VecDeque::new(),
            most: 2 * self.shape.threads.div_ceil(self.drivers()) + 1,
            held: &self.held,
            most_held: self.shape.waiting_bytes,
            failed: &self.failed,
            work,
        }
    }

    /// A worker: handles batches until no driver is left.
    fn work<T: Weight>(&self, taken: &Receiver<Task<T>>, mut work: impl FnMut(&Batch) -> T) {
        for Task { batch, reply } in taken {
            let before = batch.weight();
            let result = work(&batch);
            self.batch_pool.give_back(batch);
            self.held.fetch_add(result.bytes(), Ordering::Relaxed);
            self.held.fetch_sub(before, Ordering::Relaxed);
            // A driver that failed no longer waits.
            let _ = reply.send(result);
        }
    }

    /// A driver: takes one unit after the other until none is left or one failed.
    fn drive<T>(
        &self,
        tasks: &Sender<Task<T>>,
        drive: &impl Fn(usize, &mut Feed<'_, T>) -> Result<(), EngineError>,
    ) {
        loop {
            let unit = self.next.fetch_add(1, Ordering::Relaxed);
            if unit >= self.units.len() || self.failed.load(Ordering::Relaxed) {
                return;
            }
            if let Err(error) = drive(unit, &mut self.feed(unit, Executor::Pool(tasks))) {
                self.fail(unit, error);
            }
        }
    }

    fn fail(&self, unit: usize, error: EngineError) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that were stopped by another's failure have none of their own to tell.
        let other = self.failed.swap(true, Ordering::Relaxed) && matches!(error, EngineError::Stopped);
        if !other && failure.as_ref().is_none_or(|(earlier, _)| unit < *earlier) {
            *failure = Some((unit, error));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(files: &[(&str, &str)]) -> (tempfile::TempDir, Corpus) {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let corpus = Corpus::open(&[folder.path()], ReadOptions::default()).unwrap();
        (folder, corpus)
    }

    impl Weight for Vec<String> {
        fn bytes(&self) -> usize {
            self.iter().map(String::len).sum()
        }
    }

    #[test]
    fn results_come_in_order_for_any_threads() {
        let lines = |from: usize| -> String {
            (from..from + 700)
                .map(|n| format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}\n", "word ".repeat(400)))
                .collect()
        };
        let (_folder, corpus) = corpus(&[
            ("a.jsonl", &lines(0)),
            ("b.jsonl", &lines(700)),
            ("c.jsonl", "{\"id\":\"no text\"}\n"),
        ]);
        for (threads, units) in [(1, vec![0..2, 2..3]), (2, vec![0..1, 1..3]), (5, vec![0..1, 1..2, 2..3])] {
            let found = Mutex::new(vec![Vec::new(); units.len()]);
            let work = |reader: &mut LineReader, batch: &Batch| -> Vec<String> {
                let mut names = Vec::new();
                let read = batch.read(reader, |_, record| {
                    names.push(match record {
                        Record::Document(document) => document.id.to_owned(),
                        Record::Rejected(rejection) => format!("rejected {}", rejection.place.record),
                    });
                    Ok(())
                });
                read.map(|()| names).unwrap()
            };
            let drive = |unit: usize, feed: &mut Feed<'_, Vec<String>>| {
                while let Some(ids) = feed.next()? {
                    found.lock().unwrap()[unit].extend(ids);
                }
                Ok(())
            };
            let shape = Shape { threads, drivers: 2, waiting_bytes: 100, share: DecoderBudget::default() };
            let reader = || LineReader::new(corpus.options());
            run(&corpus, &units, shape, &Watch::default(), reader, work, drive).unwrap();
            let expected: Vec<String> =
                (0..1400).map(|n| n.to_string()).chain(["rejected 0".to_owned()]).collect();
            assert!(found.into_inner().unwrap().concat() == expected, "{threads} threads");
        }
    }

    #[test]
    fn batches_of_rejections_are_cut_by_number() {
        let rows = 3 * MOST_BATCH_RECORDS;
        let (_folder, corpus) = corpus(&[("a.csv", &format!("id,text\n{}", "a\n".repeat(rows)))]);
        let shape = Shape { threads: 2, drivers: 1, waiting_bytes: 1 << 20, share: DecoderBudget::default() };
        let seen = Mutex::new(Vec::new());
        let work = |(): &mut (), batch: &Batch| {
            assert!(batch.weight() >= batch.len() * size_of::<Entry>(), "a rejection has a weight");
            seen.lock().unwrap().push(batch.len());
        };
        let drive = |_: usize, feed: &mut Feed<'_, ()>| {
            while feed.next()?.is_some() {}
            Ok(())
        };
        run(&corpus, &units(&corpus), shape, &Watch::default(), || (), work, drive).unwrap();
        let seen = seen.into_inner().unwrap();
        assert_eq!(seen.iter().sum::<usize>(), rows);
        assert!(seen.iter().all(|&records| records <= MOST_BATCH_RECORDS), "{seen:?}");
    }

    #[test]
    fn characters_that_expand_weigh_what_they_become() {
        let heavy = |text: String| {
            let mut batch = Batch { text, ..Batch::default() };
            batch.weigh();
            batch.weight()
        };
        let letters = HEAVY / 3 + 1;
        let (plain, expanding) = (heavy("あ".repeat(letters)), heavy("\u{fdfa}".repeat(letters)));
        let words = 2 * letters * PER_WORD;
        let grown = PER_GROWN_BYTE * letters * 30;
        assert_eq!(expanding, plain + words + grown, "three words, and thirty bytes more");
        let mut batch = Batch { text: "\u{fdfa}".repeat(letters), ..Batch::default() };
        batch.weigh();
        assert_eq!(batch.spooled_weight(), expanding + 3 * letters);
        batch.clear();
        batch.weigh();
        assert_eq!(
            batch.spooled_weight(),
            batch.weight(),
            "a batch of small documents has room for their spool"
        );
    }

    #[test]
    fn small_shards_share_a_unit() {
        let (_folder, corpus) = corpus(&[("a.txt", "one"), ("b.txt", "two"), ("c.txt", "three")]);
        assert_eq!(units(&corpus).first(), Some(&(0..3)));
    }

    #[test]
    fn the_earliest_failure_is_the_one_told() {
        let (_folder, corpus) = corpus(&[("a.txt", "one"), ("b.txt", "two"), ("c.txt", "three")]);
        let shape = Shape { threads: 3, drivers: 3, waiting_bytes: 1 << 20, share: DecoderBudget::default() };
        let drive = |unit: usize, feed: &mut Feed<'_, ()>| {
            while feed.next()?.is_some() {}
            if unit == 0 { Ok(()) } else { Err(EngineError::Request(format!("unit {unit}"))) }
        };
        let units = [0..1, 1..2, 2..3];
        let error = run(&corpus, &units, shape, &Watch::default(), || (), |(), _| (), drive).unwrap_err();
        assert!(["unit 1", "unit 2"].contains(&error.to_string().as_str()));
    }

    #[test]
    fn units_are_filled_with_small_shards_alone() {
        let kib = |size: u64| Some(size << 10);
        let sizes = [kib(10), kib(5), kib(2), None, Some(1), Some(0), kib(100), kib(1)];
        assert_eq!(units_by(sizes.into_iter()), [0..2, 2..3, 3..4, 4..6, 6..7, 7..8]);
        assert_eq!(units_by([].into_iter()), []);
    }

    #[test]
    fn what_is_given_back_is_taken_again_unless_it_is_large() {
        let pool: BufferPool<Vec<String>> = BufferPool::default();
        assert_eq!(pool.take(), [] as [String; 0]);
        pool.give_back(vec!["small".to_owned()]);
        pool.give_back(vec!["x".repeat(2 * HEAVY)]);
        assert_eq!((pool.take(), pool.take().len()), (vec!["small".to_owned()], 0));
    }

    #[test]
    fn batches_are_smaller_where_memory_is_short() {
        let shape = |threads, waiting_bytes| Shape {
            threads,
            drivers: 3,
            waiting_bytes,
            share: DecoderBudget::default(),
        };
        assert_eq!(shape(1, 0).batch_bytes(), LEAST_BATCH_BYTES);
        assert_eq!(shape(1, 16 * 100_000).batch_bytes(), 100_000);
        assert_eq!(shape(2, 16 * 200_000).batch_bytes(), 100_000);
        assert_eq!(shape(1, usize::MAX).batch_bytes(), BATCH_BYTES);
        let one = shape(4, 5).one_by_one();
        assert_eq!((one.threads, one.drivers, one.share.readers), (4, 1, 1));
    }

    /// The ids of the records behind a point of the only unit, with the number of the first of each batch.
    fn ids_behind(corpus: &Corpus, point: ResumePoint) -> Result<(u64, Vec<String>), EngineError> {
        let found = Mutex::new((u64::MAX, Vec::new()));
        let work = |reader: &mut LineReader, batch: &Batch| {
            let mut found = found.lock().unwrap();
            found.0 = found.0.min(batch.first);
            batch
                .read(reader, |_, record| {
                    if let Record::Document(document) = record {
                        found.1.push(document.id.to_owned());
                    }
                    Ok(())
                })
                .unwrap();
        };
        let drive = |_: usize, feed: &mut Feed<'_, ()>| {
            feed.skip(point)?;
            while feed.next()?.is_some() {}
            Ok(())
        };
        let shape = Shape { threads: 1, drivers: 1, waiting_bytes: 100, share: DecoderBudget::default() };
        let (reader, unit) = (|| LineReader::new(corpus.options()), 0..corpus.shards().len());
        run(corpus, std::slice::from_ref(&unit), shape, &Watch::default(), reader, work, drive)?;
        Ok(found.into_inner().unwrap())
    }

    #[test]
    fn records_that_an_earlier_process_took_are_passed_over() {
        let lines = |name: &str, count: usize| -> String {
            (0..count).map(|n| format!("{{\"id\":\"{name}{n}\",\"text\":\"x\"}}\n")).collect()
        };
        let (_folder, corpus) = corpus(&[("a.jsonl", &lines("a", 3)), ("b.jsonl", &lines("b", 4))]);
        let behind = |shards, records, all| ids_behind(&corpus, ResumePoint { shards, records, all });
        let (first, ids) = behind(0, 0, 0).unwrap();
        assert_eq!((first, ids.len()), (0, 7));
        assert_eq!(behind(1, 2, 5).unwrap(), (5, vec!["b2".to_owned(), "b3".to_owned()]));
        assert_eq!(behind(0, 1, 1).unwrap().1.len(), 6);
        let error = behind(1, 9, 12).unwrap_err().to_string();
        assert!(error.contains("it has fewer records than were read of it before"), "{error}");
    }

    #[test]
    fn a_stop_ends_the_work() {
        let (_folder, corpus) = corpus(&[("a.txt", "one")]);
        let (watch, unit) = (Watch::default(), 0..1);
        watch.stop.store(true, Ordering::Relaxed);
        for threads in [1, 2] {
            let shape = Shape { threads, drivers: 1, waiting_bytes: 100, share: DecoderBudget::default() };
            let drive = |_: usize, feed: &mut Feed<'_, ()>| feed.next().map(drop);
            let stopped = run(&corpus, std::slice::from_ref(&unit), shape, &watch, || (), |(), _| (), drive);
            assert!(matches!(stopped, Err(EngineError::Stopped)));
        }
    }

    #[test]
    fn documents_of_a_batch_are_as_they_were_read() {
        let mut batch = Batch::default();
        let encoded = Content::Encoded { bytes: b"\xe4", charset: Some("latin1") };
        let text = Document::from_text("a", Some("http://x"), Media::Text, "words");
        batch.push(&text, 1);
        batch.push(&Document { id: "b", url: None, content: encoded, ..text }, 0);
        assert_eq!((batch.len(), batch.is_empty(), batch.is_heavy()), (2, false, false));
        let mut reader = LineReader::new(&Arc::new(ReadOptions::default()));
        let mut found = Vec::new();
        batch
            .read_some(
                &mut reader,
                |index| index == 1,
                |index, record| {
                    let Record::Document(document) = record else { panic!("both are documents") };
                    assert!(matches!(
                        document.content,
                        Content::Encoded { bytes: b"\xe4", charset: Some("latin1") }
                    ));
                    found.push((index, document.id.to_owned(), document.url.map(str::to_owned)));
                    Ok(())
                },
            )
            .unwrap();
        assert_eq!(found, [(1, "b".to_owned(), None)]);
        batch.clear();
        assert!(batch.is_empty() && batch.bytes() == 0);
    }
}

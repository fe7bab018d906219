//! An index: a folder that documents are added to, asked about and taken out of, by one writer and any number of readers.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use lookalike_engine::examine::{Examiner, LearnedData};
use lookalike_engine::recipe::{ClusterRule, RecipeError, Task};
use lookalike_engine::walk::Watch;
use lookalike_engine::{EngineError, JobRecipe, Settings};
use lookalike_hash::{self as hash, Secret};
use lookalike_store::sync::sync;
use serde::Serialize;

use crate::acknowledged::{self, Acknowledged};
use crate::chunk::Tables;
use crate::compactor::Compactor;
use crate::error::IndexError;
use crate::log::{self, Log};
use crate::manifest::{self, FORMAT, Manifest};
use crate::memory::{self, MemoryShares};
use crate::part::{Counts, Part, Snapshot};
use crate::prepared::PreparedDocument;
use crate::query_buffers::{QueryBuffers, Subject};
use crate::segment::{self, IndexLayout, Segment};
use crate::shared_state::{SharedState, lock_ignoring_poison};
use crate::writer::{OnExistingId, Outcome, Verdict, WriteRequest, Writer, WriterOptions};

/// The recipe, as a job has it.
pub(crate) const RECIPE: &str = "recipe.toml";
/// The folder of the data that methods learned.
pub(crate) const KNOWLEDGE: &str = "knowledge";
const LOCK: &str = "lock";
/// The file that exists while an index is being created: the remains of a killed process are then created again.
const CREATION_MARKER: &str = "index.begun";

/// Attempts of a reader when the files that a manifest names are gone, since a writer has just merged them.
pub(crate) const READ_ATTEMPTS: usize = 20;

/// The access that an index is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Queries, also while another process adds to it; the reader sees the index as it was when opened.
    Read,
    /// Changes, by this process alone, and queries.
    Write(WriterOptions),
}

/// The settings of a new index.
#[derive(Debug)]
pub struct CreateOptions<'m> {
    /// The recipe by which documents are read, found and measured.
    pub recipe: JobRecipe,
    /// True if texts are kept.
    pub text: bool,
    /// A lexicon for methods that weigh words.
    pub lexicon: Option<&'m Path>,
    /// A corpus that methods learn from.
    pub learn: Option<&'m lookalike_corpus::Corpus>,
    /// Settings of the engine for learning.
    pub settings: &'m Settings,
}

/// Figures of an index.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    /// Documents in the index, kept or removed.
    pub documents: u64,
    /// Kept documents.
    pub kept: u64,
    /// Removed documents: each has a kept witness.
    pub removed: u64,
    /// Deleted documents.
    pub deleted: u64,
    /// Classes: documents whose words no earlier document had.
    pub classes: u64,
    /// Postings that were left out because their key has too many.
    pub postings_left_out: u64,
    /// Segments on disk.
    pub segments: usize,
    /// Documents that are in the log and in memory alone.
    pub in_log: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes of memory for what is on disk.
    pub memory: u64,
    /// True if texts are kept.
    pub text: bool,
}

/// An open index.
#[derive(Debug)]
pub struct Index {
    pub(crate) inner: Arc<SharedState>,
    writer: Option<Mutex<Writer>>,
    queue: Mutex<Vec<Arc<QueuedRequest>>>,
    /// The mark stored by the last caller that added documents.
    mark: Option<Vec<u8>>,
    /// The memory that it takes at most, beside the buffers of threads.
    shares: MemoryShares,
    /// Bytes at the end of the log that are no whole write.
    pub(crate) torn: u64,
    /// Bytes of the log that were cut off when it was opened to be written to.
    cut: u64,
}

/// A request in the queue of the writer.
#[derive(Debug)]
struct QueuedRequest {
    request: Mutex<Option<WriteRequest>>,
    answer: Mutex<Option<Result<Outcome, IndexError>>>,
}

/// The contents of the folder of an index.
struct LoadedIndex {
    snapshot: Snapshot,
    manifest: Manifest,
    /// The acknowledged part of the last log.
    log: Acknowledged,
    /// Bytes after that.
    torn: u64,
    mark: Option<Vec<u8>>,
}

impl Index {
    /// Makes a new index in a folder that is empty or not there.
    pub fn create(folder: &Path, options: CreateOptions<'_>, watch: &Watch) -> Result<(), IndexError> {
        let mut recipe = options.recipe.clone();
        check_recipe(&recipe)?;
        recipe.resolve_profiles()?;
        let marker = folder.join(CREATION_MARKER);
        let free = marker.exists() && !Index::exists(folder);
        let taken = || std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        if folder.is_file() || !free && taken() {
            return Err(IndexError::Taken { folder: folder.to_owned() });
        }
        std::fs::create_dir_all(folder).map_err(|error| IndexError::write(folder, error))?;
        File::create(&marker).map_err(|error| IndexError::write(&marker, error))?;
        let done = Index::make(folder, &recipe, &options, watch);
        if done.is_err() {
            // What cannot be removed is made again the next time.
            let _ = std::fs::remove_dir_all(folder.join(KNOWLEDGE));
            let _ = std::fs::remove_file(folder.join(RECIPE));
        }
        let _ = std::fs::remove_file(marker);
        if done.is_err() {
            // Fails, as it should, for a folder that holds anything.
            let _ = std::fs::remove_dir(folder);
        }
        done
    }

    /// Makes a new index in a folder that is free.
    fn make(
        folder: &Path,
        recipe: &JobRecipe,
        options: &CreateOptions<'_>,
        watch: &Watch,
    ) -> Result<(), IndexError> {
        let knowledge = folder.join(KNOWLEDGE);
        if knowledge.exists() {
            std::fs::remove_dir_all(&knowledge).map_err(|error| IndexError::write(&knowledge, error))?;
        }
        LearnedData { folder: &knowledge, lexicon: options.lexicon, corpus: options.learn }.gather(
            recipe,
            options.settings,
            watch,
        )?;
        let mut learned = entries(&knowledge)?;
        learned.push(knowledge.clone());
        sync(&learned).map_err(EngineError::from)?;
        manifest::replace(&folder.join(RECIPE), recipe.to_toml().as_bytes())?;
        let manifest = Manifest {
            format: FORMAT,
            stamp: format!("{:032x}", stamp(recipe, &knowledge)?),
            secret: format!("{:032x}", Secret::random().seed()),
            text: options.text,
            segments: Vec::new(),
            log: 0,
            next_segment: 1,
            counts: Counts::default(),
            mark: None,
        };
        let nothing = Acknowledged { generation: 0, end: 0, chain: log::initial_chain(0) };
        manifest::replace(&acknowledged::path(folder), nothing.line().as_bytes())?;
        manifest.write(folder)
    }

    /// True when the folder holds an index.
    pub fn exists(folder: &Path) -> bool {
        folder.join(manifest::NAME).is_file()
    }

    /// The recipe of the index in a folder.
    pub fn recipe_of(folder: &Path) -> Result<JobRecipe, IndexError> {
        Manifest::read(folder)?;
        let path = folder.join(RECIPE);
        let text = std::fs::read_to_string(&path).map_err(|error| IndexError::read(&path, error))?;
        JobRecipe::from_toml(&text).map_err(|error| match error {
            made @ RecipeError::OtherVersion { .. } => {
                IndexError::Request(format!("{} cannot be opened: {made}", folder.display()))
            }
            RecipeError::Unreadable(what) => IndexError::damaged(&path, what),
        })
    }

    /// Opens an index.
    pub fn open(folder: &Path, mode: Mode) -> Result<Self, IndexError> {
        Index::open_within(folder, mode, &Settings::UNLIMITED)
    }

    /// Opens an index for a process with these threads and this limit of memory: the less, the more is read from disk.
    pub fn open_within(folder: &Path, mode: Mode, settings: &Settings) -> Result<Self, IndexError> {
        let recipe = Index::recipe_of(folder)?;
        let knowledge = folder.join(KNOWLEDGE);
        let stamp = stamp(&recipe, &knowledge)?;
        // Before anybody reads what methods learned: from other knowledge they would go on as if nothing were wrong.
        let manifest = Manifest::read(folder)?;
        if manifest.stamp != format!("{stamp:032x}") {
            let what = "recipe.toml or the folder knowledge is not what the index was made with";
            return Err(IndexError::damaged(folder, what));
        }
        let examiner = Examiner::open(recipe, &knowledge)?.with_secret(manifest.secret()?);
        let longest = examiner.recipe().reading.max_document_bytes;
        let tail_bytes = match mode {
            Mode::Read => 0,
            Mode::Write(writing) => writing.tail_bytes as u64,
        };
        let shares = MemoryShares::of(settings, longest, examiner.record_bytes(), tail_bytes);
        let layout = IndexLayout {
            folder: folder.to_owned(),
            stamp,
            tables: Tables { tagged: examiner.methods().map(|method| method.abilities().tagged).collect() },
            record: examiner.record_bytes(),
            filters: Arc::new(AtomicU64::new(shares.filters)),
        };
        let lock = match mode {
            Mode::Read => None,
            Mode::Write(_) => Some(lock(folder)?),
        };
        let loaded = if lock.is_some() { load(&layout)? } else { load_with_retries(&layout)? };
        if lock.is_some() {
            remove_leftovers(&layout, &loaded.manifest);
        }
        let inner = Arc::new(SharedState {
            text: loaded.manifest.text,
            snapshot: RwLock::new(Arc::new(loaded.snapshot)),
            manifest: Mutex::new(loaded.manifest),
            partly_compared: AtomicU64::new(0),
            layout,
            examiner,
        });
        let writer = match (mode, lock) {
            (Mode::Write(writing), Some(lock)) => {
                let writing = WriterOptions { tail_bytes: shares.tail as usize, ..writing };
                let log = Log::open(folder, loaded.log, writing.sync)?;
                let compactor = Compactor::new(inner.clone());
                Some(Mutex::new(Writer::new(&inner, log, loaded.log.generation, writing, compactor, lock)?))
            }
            _ => None,
        };
        // Whoever writes has cut them off.
        let (torn, cut) = if writer.is_some() { (0, loaded.torn) } else { (loaded.torn, 0) };
        Ok(Index { inner, writer, queue: Mutex::default(), mark: loaded.mark, shares, torn, cut })
    }

    /// Returns the recipe by which documents are read, found and measured.
    pub fn recipe(&self) -> &JobRecipe {
        self.inner.examiner.recipe()
    }

    /// Returns the examiner, which turns documents into keys and records and measures them.
    pub fn examiner(&self) -> &Examiner {
        &self.inner.examiner
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.inner.layout.folder
    }

    /// True when texts are kept.
    pub fn keeps_text(&self) -> bool {
        self.inner.text
    }

    /// Refuses another recipe than the index has; what is asked for and how documents are read may differ.
    pub fn require(&self, recipe: &JobRecipe) -> Result<(), IndexError> {
        require(self.folder(), self.recipe(), recipe)
    }

    /// Refuses an index of another recipe, or whose methods learned other things.
    pub fn require_like(&self, other: &Index) -> Result<(), IndexError> {
        self.require(other.recipe())?;
        if knowledge_digests(&self.folder().join(KNOWLEDGE))?
            == knowledge_digests(&other.folder().join(KNOWLEDGE))?
        {
            return Ok(());
        }
        Err(IndexError::Request(format!(
            "the methods of {} and {} learned from different collections; add the documents themselves",
            self.folder().display(),
            other.folder().display()
        )))
    }

    /// As [`Index::require`], of an index that need not be open.
    pub fn require_of(folder: &Path, recipe: &JobRecipe) -> Result<(), IndexError> {
        require(folder, &Index::recipe_of(folder)?, recipe)
    }

    /// Returns the mark stored with the last documents added, by which the caller resumes after a stop.
    pub fn mark(&self) -> Option<&[u8]> {
        self.mark.as_deref()
    }

    /// Bytes that were cut off the log when it was opened to be written to: the beginning of a write that was never acknowledged.
    pub fn cut_bytes(&self) -> u64 {
        self.cut
    }

    /// The documents that were kept since it was opened without being compared with all candidates: they share only keys with these that
    /// very many documents have.
    pub fn partly_compared(&self) -> u64 {
        self.inner.partly_compared.load(Ordering::Relaxed)
    }

    /// Returns the most bytes of memory that it takes with the buffers of all threads and of the writer.
    pub(crate) fn memory(&self, settings: &Settings) -> u64 {
        self.shares.total() + memory::buffer_bytes(settings, self.inner.layout.record)
    }

    /// Returns the bytes of the share of filters that no segment takes.
    pub(crate) fn unused_filter_bytes(&self) -> u64 {
        self.inner.layout.filters.load(Ordering::Relaxed)
    }

    /// The least limit of memory of a process that adds or queries a corpus with these threads.
    pub fn least_memory(&self, settings: &Settings) -> u64 {
        self.process_bytes(settings.least_memory(self.recipe().reading.max_document_bytes), settings)
    }

    /// Returns the memory of a process of which `needed` bytes must be left beside the index and the buffers of its threads.
    pub(crate) fn process_bytes(&self, needed: u64, settings: &Settings) -> u64 {
        self.shares.process_bytes(needed, settings, self.inner.layout.record)
    }

    /// Returns the buffers for one thread.
    pub fn buffers(&self) -> Result<QueryBuffers, IndexError> {
        QueryBuffers::new(&self.inner.examiner, self.inner.text)
    }

    /// Looks a document up ahead of being added: several threads can do so at once, and adding it is then quick.
    pub fn look_up(
        &self,
        buffers: &mut QueryBuffers,
        prepared: &mut PreparedDocument,
    ) -> Result<(), IndexError> {
        // How common a key is depends on all documents before.
        if !self.writes()
            || self
                .examiner()
                .methods()
                .any(|method| method.abilities().max_documents_per_key(1000) != u64::MAX)
        {
            return Ok(());
        }
        let now = self.inner.now();
        let mut query = self.inner.query(&now, buffers);
        let mut candidates = query.find(&prepared.examined)?;
        let mut subject = Subject::new(&prepared.examined);
        // What it decides is decided again; what it measures is kept.
        query.decide(&mut subject, &mut candidates)?;
        prepared.candidates = Some(candidates);
        Ok(())
    }

    fn writes(&self) -> bool {
        self.writer.is_some()
    }

    /// Carries out a request, together with those in the queue: one write for all of them.
    pub(crate) fn submit(&self, request: WriteRequest) -> Result<Outcome, IndexError> {
        let Some(writer) = &self.writer else {
            return Err(IndexError::Request(format!(
                "{} is open for reading alone",
                self.folder().display()
            )));
        };
        let own = Arc::new(QueuedRequest { request: Mutex::new(Some(request)), answer: Mutex::default() });
        lock_ignoring_poison(&self.queue).push(own.clone());
        let mut writer = writer.lock().map_err(|_| self.broken())?;
        if let Some(answer) = lock_ignoring_poison(&own.answer).take() {
            return answer;
        }
        let queued = std::mem::take(&mut *lock_ignoring_poison(&self.queue));
        let requests = queued.iter().filter_map(|one| lock_ignoring_poison(&one.request).take()).collect();
        match writer.execute(&self.inner, requests) {
            Ok(outcomes) => {
                for (one, outcome) in queued.iter().zip(outcomes) {
                    *lock_ignoring_poison(&one.answer) = Some(outcome);
                }
            }
            Err(error) => {
                for other in queued.iter().filter(|other| !Arc::ptr_eq(other, &own)) {
                    *lock_ignoring_poison(&other.answer) = Some(Err(self.broken()));
                }
                return Err(error);
            }
        }
        let answer = lock_ignoring_poison(&own.answer).take();
        answer.unwrap_or_else(|| Err(self.broken()))
    }

    /// Queries and adds documents, in one step: of two equal ones that race, one is new.
    ///
    /// Documents survive the end of the process as soon as this returns, and with [`WriterOptions::sync`] that of the machine.
    pub fn add(
        &self,
        documents: Vec<PreparedDocument>,
        on_existing: OnExistingId,
    ) -> Result<Vec<Verdict>, IndexError> {
        self.add_marked(documents, on_existing, None)
    }

    /// As [`Index::add`]; `mark` is stored with the documents, and [`Index::mark`] returns it after a stop.
    pub fn add_marked(
        &self,
        documents: Vec<PreparedDocument>,
        on_existing: OnExistingId,
        mark: Option<Vec<u8>>,
    ) -> Result<Vec<Verdict>, IndexError> {
        match self.submit(WriteRequest::Add { documents, on_existing, mark })? {
            Outcome::Added(verdicts) => Ok(verdicts),
            Outcome::Removed(_) => Ok(Vec::new()),
        }
    }

    /// Deletes all documents of an id; returns their number. Documents that had one of them as witness are decided anew.
    pub fn remove(&self, id: &str) -> Result<u64, IndexError> {
        match self.submit(WriteRequest::Remove { id: id.to_owned() })? {
            Outcome::Removed(count) => Ok(count),
            Outcome::Added(_) => Ok(0),
        }
    }

    fn broken(&self) -> IndexError {
        IndexError::Broken { folder: self.folder().to_owned() }
    }

    /// Returns the figures of the index.
    pub fn stats(&self) -> Stats {
        let now = self.inner.now();
        let counts = now.counts;
        let segments = || {
            now.parts.iter().filter_map(|part| match part {
                Part::Disk(segment) => Some(segment),
                Part::Memory(_) => None,
            })
        };
        let in_segments = segments().map(|segment| segment.range.len() as u64).sum::<u64>();
        Stats {
            documents: counts.kept + counts.removed,
            kept: counts.kept,
            removed: counts.removed,
            deleted: counts.deleted,
            classes: counts.classes,
            postings_left_out: counts.left_out,
            segments: segments().count(),
            in_log: u64::from(now.next) - in_segments,
            bytes: bytes_of(self.folder()),
            memory: segments().map(|segment| segment.memory()).sum(),
            text: self.inner.text,
        }
    }

    /// Puts all documents that are only in the log into a segment, and waits for merges that are under way.
    pub fn flush(&self) -> Result<(), IndexError> {
        match &self.writer {
            Some(writer) => writer.lock().map_err(|_| self.broken())?.flush(&self.inner),
            None => Ok(()),
        }
    }

    /// Merges all segments into one.
    pub fn compact(&self) -> Result<(), IndexError> {
        match &self.writer {
            Some(writer) => writer.lock().map_err(|_| self.broken())?.compact(&self.inner),
            None => Ok(()),
        }
    }

    /// Ends writing: everything that was acknowledged survives the end of the machine.
    pub fn close(self) -> Result<(), IndexError> {
        match self.writer {
            Some(writer) => writer.into_inner().map_err(|_| ()).map_or(Ok(()), Writer::close),
            None => Ok(()),
        }
    }
}

/// Refuses what only a job can do.
fn check_recipe(recipe: &JobRecipe) -> Result<(), IndexError> {
    let why = match () {
        () if recipe.task != Task::Dedup => "an index decides as `dedup` does",
        () if recipe.cluster != ClusterRule::Star => {
            "an index decides one document at a time, by --cluster star"
        }
        () if recipe.keep != "first" => "an index keeps the first of several, by --keep first",
        () if recipe.within.is_some() => "an index compares all documents; leave --within out",
        () => return Ok(()),
    };
    Err(IndexError::Request(why.to_owned()))
}

fn require(folder: &Path, own: &JobRecipe, recipe: &JobRecipe) -> Result<(), IndexError> {
    let mut other = recipe.clone();
    (other.task, other.against) = (own.task, own.against);
    other.reading = own.reading.clone();
    if other == *own {
        return Ok(());
    }
    Err(IndexError::OtherRecipe { folder: folder.to_owned(), differences: own.differences(&other) })
}

/// The digest of a recipe and of what its methods learned.
fn stamp(recipe: &JobRecipe, knowledge: &Path) -> Result<u128, IndexError> {
    let mut digests = hash::digest(recipe.to_toml().as_bytes()).to_le_bytes().to_vec();
    digests.extend(knowledge_digests(knowledge)?);
    Ok(hash::digest(&digests))
}

/// The files of what methods learned. Most learn nothing, and copies of an index often leave out the empty folder.
pub(crate) fn learned_files(knowledge: &Path) -> Result<Vec<PathBuf>, IndexError> {
    if knowledge.exists() { entries(knowledge) } else { Ok(Vec::new()) }
}

/// The digests of what methods learned.
fn knowledge_digests(knowledge: &Path) -> Result<Vec<u8>, IndexError> {
    let mut names = learned_files(knowledge)?;
    names.sort();
    let mut digests = Vec::new();
    for name in &names {
        let bytes = std::fs::read(name).map_err(|error| IndexError::read(name, error))?;
        digests.extend_from_slice(&hash::digest(&bytes).to_le_bytes());
    }
    Ok(digests)
}

fn lock(folder: &Path) -> Result<File, IndexError> {
    let path = folder.join(LOCK);
    let file = File::create(&path).map_err(|error| IndexError::write(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(IndexError::Locked { folder: folder.to_owned() }),
        Err(std::fs::TryLockError::Error(error)) => Err(IndexError::write(&path, error)),
    }
}

/// Reads all that the manifest names, and the logs behind it.
fn load(layout: &IndexLayout) -> Result<LoadedIndex, IndexError> {
    let manifest = Manifest::read(&layout.folder)?;
    // Older than all that is read behind it: a log only grows.
    let mark = Acknowledged::read(&layout.folder)?;
    // Looked for first: all logs but the last are finished then, and what comes behind the last is of a later moment.
    let last = log::last(&layout.folder, manifest.log);
    let mut snapshot = Snapshot { counts: manifest.counts, ..Snapshot::default() };
    for entry in &manifest.segments {
        let segment = Segment::open(layout, entry.id, entry.first..entry.end)?;
        snapshot.next = entry.end;
        snapshot.parts.push(Part::Disk(Arc::new(segment)));
    }
    snapshot.fixed = snapshot.parts.len();
    let mut log = Acknowledged { generation: manifest.log, end: 0, chain: log::initial_chain(manifest.log) };
    let mut torn = 0;
    let mut last_mark = manifest.mark.as_ref().map(|mark| mark.clone().into_bytes());
    let mut blocks = segment::BlockBuffers::default();
    for generation in last.into_iter().flat_map(|last| manifest.log..=last) {
        let path = log::path(&layout.folder, generation);
        if torn > 0 {
            return Err(IndexError::damaged(&path, "it goes on behind a write that is not whole"));
        }
        let replayed = log::replay(&layout.folder, generation, mark, |chunk| {
            if chunk.first != snapshot.next || chunk.tables.len() != layout.tables.count() {
                return Err(IndexError::damaged(&path, "a write does not go on where the one before ended"));
            }
            if chunk.mark.is_some() {
                last_mark.clone_from(&chunk.mark);
            }
            let mut counts = snapshot.counts;
            counts.left_out += u64::from(chunk.left_out);
            for change in &chunk.changes {
                counts.count(snapshot.row(change.number, &mut blocks)?.state, -1);
                counts.count(change.state, 1);
            }
            for (number, stored) in (chunk.first..).zip(&chunk.documents) {
                counts.added += 1;
                counts.classes += u64::from(stored.row.leader == number && stored.row.words > 0);
                counts.count(stored.row.state, 1);
            }
            snapshot.counts = counts;
            snapshot.push(chunk);
            Ok(())
        })?;
        let Some(replayed) = replayed else { break };
        log = Acknowledged { generation, end: replayed.end, chain: replayed.chain };
        torn = replayed.torn;
    }
    if mark.end > 0 && (mark.generation, mark.end) > (log.generation, log.end) {
        let what = "it is gone, and writes in it were on the disk when they were acknowledged";
        return Err(IndexError::damaged(&log::path(&layout.folder, mark.generation), what));
    }
    Ok(LoadedIndex { snapshot, manifest, log, torn, mark: last_mark })
}

/// Reads while another process may replace files.
fn load_with_retries(layout: &IndexLayout) -> Result<LoadedIndex, IndexError> {
    for _ in 0..READ_ATTEMPTS {
        let before = Manifest::read(&layout.folder)?;
        let loaded = load(layout);
        // A log may also have gone in the middle of it: then the manifest is another one.
        if Manifest::read(&layout.folder)? == before {
            return loaded;
        }
    }
    Err(IndexError::Busy { folder: layout.folder.clone() })
}

/// Removes what a killed process left behind.
fn remove_leftovers(layout: &IndexLayout, manifest: &Manifest) {
    for entry in std::fs::read_dir(&layout.folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let known = |id: u64| manifest.segments.iter().any(|segment| segment.id == id);
        let stray = segment::segment_id(&path).is_some_and(|id| !known(id));
        let old = name.strip_prefix("log-").and_then(|number| number.parse().ok());
        let left = name == CREATION_MARKER || name.ends_with(".part");
        if stray || left || old.is_some_and(|number: u64| number < manifest.log) {
            // What stays costs room and nothing else.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The files in a folder.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, IndexError> {
    let entries = std::fs::read_dir(folder).map_err(|error| IndexError::read(folder, error))?;
    Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect())
}

/// Bytes of all files in a folder.
fn bytes_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => bytes_of(&entry.path()),
        Ok(facts) => facts.len(),
        Err(_) => 0,
    };
    entries.map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::chunk::Chunk;
    use crate::row::State;
    use crate::testing::{SmallIndex, options, recipe, settings, writing};

    fn create(folder: &Path, recipe: JobRecipe) -> Result<(), IndexError> {
        Index::create(folder, options(recipe, &settings(), true), &Watch::default())
    }

    /// The folder of an index with these documents that was closed.
    fn closed(texts: &[&str]) -> TempDir {
        let SmallIndex { index, folder, .. } = SmallIndex::of(texts);
        index.close().unwrap();
        folder
    }

    fn refused(folder: &Path) -> String {
        Index::open(folder, Mode::Read).map(drop).unwrap_err().to_string()
    }

    fn append(path: &Path, bytes: &[u8]) {
        let mut all = std::fs::read(path).unwrap();
        all.extend_from_slice(bytes);
        std::fs::write(path, all).unwrap();
    }

    #[test]
    fn a_new_index_is_empty() {
        let small = SmallIndex::new();
        let stats = small.index.stats();
        let counts = (stats.documents, stats.kept, stats.removed, stats.deleted, stats.classes);
        assert_eq!((counts, stats.segments, stats.in_log, stats.memory), ((0, 0, 0, 0, 0), 0, 0, 0));
        assert!(stats.text && small.index.keeps_text() && small.index.mark().is_none());
        assert_eq!((small.index.recipe(), small.index.folder()), (&recipe(), small.path()));
    }

    #[test]
    fn figures_follow_the_documents() {
        let mut small = SmallIndex::of(&["a b c d e", "a b c d e", "a b c d f", "x y z"]);
        small.index.flush().unwrap();
        small.add("d4", "...");
        small.index.remove("d3").unwrap();
        let stats = small.index.stats();
        assert_eq!((stats.documents, stats.kept, stats.removed, stats.deleted), (4, 2, 2, 1));
        assert_eq!((stats.classes, stats.segments, stats.in_log), (3, 1, 1));
        let stats = small.reopened().index.stats();
        assert_eq!((stats.documents, stats.kept, stats.removed, stats.deleted), (4, 2, 2, 1));
        assert_eq!((stats.classes, stats.segments, stats.in_log), (3, 1, 1));
    }

    #[test]
    fn an_index_is_made_in_a_folder_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("new").join("index");
        assert!(!Index::exists(&inner));
        create(&inner, recipe()).unwrap();
        assert!(Index::exists(&inner) && !inner.join(CREATION_MARKER).exists());
        let sentence = create(folder.path(), recipe()).unwrap_err().to_string();
        let shown = folder.path().display();
        assert_eq!(sentence, format!("{shown} is there already and is not empty; name a new folder"));
        assert!(matches!(create(&inner, recipe()), Err(IndexError::Taken { .. })));
    }

    #[test]
    fn an_index_that_cannot_be_made_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("index");
        let setting = lookalike_methods::Setting::default();
        let learns = lookalike_methods::method("imatch", &setting).unwrap().recipe();
        let sentence =
            create(&inner, JobRecipe { methods: vec![learns], ..recipe() }).unwrap_err().to_string();
        assert!(sentence.contains("--lexicon"), "{sentence}");
        assert!(!inner.exists());
    }

    #[test]
    fn recipes_that_only_a_job_can_follow_are_refused() {
        let sentence = |recipe: JobRecipe| check_recipe(&recipe).unwrap_err().to_string();
        assert_eq!(sentence(JobRecipe { task: Task::Pairs, ..recipe() }), "an index decides as `dedup` does");
        let components = JobRecipe { cluster: ClusterRule::Components, ..recipe() };
        assert_eq!(sentence(components), "an index decides one document at a time, by --cluster star");
        let longest = JobRecipe { keep: "longest".to_owned(), ..recipe() };
        assert_eq!(sentence(longest), "an index keeps the first of several, by --keep first");
        let within = JobRecipe { within: Some("@host".to_owned()), ..recipe() };
        assert_eq!(sentence(within), "an index compares all documents; leave --within out");
        assert!(check_recipe(&recipe()).is_ok());
    }

    #[test]
    fn the_recipe_may_differ_in_what_is_asked_for_and_how_documents_are_read() {
        let mut other = JobRecipe { task: Task::Pairs, against: true, ..recipe() };
        other.reading.max_document_bytes += 1;
        require(Path::new("in"), &recipe(), &other).unwrap();
        let other = JobRecipe { threshold: "0.7".to_owned(), ..recipe() };
        let sentence = require(Path::new("in"), &recipe(), &other).unwrap_err().to_string();
        assert!(sentence.starts_with("in was made by another recipe: there "), "{sentence}");
        assert!(sentence.contains("\"0.6\"") && sentence.contains("\"0.7\""), "{sentence}");
    }

    #[test]
    fn the_recipe_of_a_folder_is_read_without_opening_it() {
        let folder = closed(&[]);
        assert_eq!(Index::recipe_of(folder.path()).unwrap(), recipe());
        Index::require_of(folder.path(), &recipe()).unwrap();
        let other = JobRecipe { shingle: 2, ..recipe() };
        let error = Index::require_of(folder.path(), &other).unwrap_err();
        assert!(matches!(error, IndexError::OtherRecipe { .. }), "{error:?}");
        std::fs::write(folder.path().join(RECIPE), "no recipe").unwrap();
        let error = Index::recipe_of(folder.path()).unwrap_err();
        assert!(matches!(&error, IndexError::Damaged { file, .. } if file.ends_with(RECIPE)), "{error:?}");
        std::fs::remove_file(folder.path().join(RECIPE)).unwrap();
        let error = Index::recipe_of(folder.path()).unwrap_err();
        assert!(matches!(error, IndexError::File { done: "read", .. }), "{error:?}");
    }

    #[test]
    fn a_stamp_is_that_of_the_recipe_and_of_all_that_was_learned() {
        let folder = tempfile::tempdir().unwrap();
        let of = |recipe: &JobRecipe| stamp(recipe, folder.path()).unwrap();
        let empty = of(&recipe());
        assert_ne!(of(&JobRecipe { shingle: 2, ..recipe() }), empty);
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        assert_eq!(of(&recipe()), empty, "folders are not looked into");
        std::fs::write(folder.path().join("b"), "two").unwrap();
        std::fs::write(folder.path().join("a"), "one").unwrap();
        let learned = of(&recipe());
        assert_ne!(learned, empty);
        let sums = ["one", "two"].map(|content| hash::digest(content.as_bytes()).to_le_bytes());
        assert_eq!(knowledge_digests(folder.path()).unwrap(), sums.concat(), "in the order of names");
        std::fs::write(folder.path().join("b"), "other").unwrap();
        assert_ne!(of(&recipe()), learned);
    }

    #[test]
    fn indexes_whose_methods_learned_from_different_collections_are_told_apart() {
        let (one, two) = (SmallIndex::new(), SmallIndex::new());
        one.index.require_like(&two.index).unwrap();
        std::fs::write(two.path().join(KNOWLEDGE).join("more"), "more").unwrap();
        let sentence = one.index.require_like(&two.index).unwrap_err().to_string();
        let wanted = format!(
            "the methods of {} and {} learned from different collections; add the documents themselves",
            one.path().display(),
            two.path().display()
        );
        assert_eq!(sentence, wanted);
    }

    #[test]
    fn one_process_writes_at_a_time() {
        let small = SmallIndex::new();
        let sentence = Index::open(small.path(), writing()).map(drop).unwrap_err().to_string();
        let wanted = format!(
            "{} is being written to by another process; send documents to that one, or wait for it to end",
            small.path().display()
        );
        assert_eq!(sentence, wanted);
        assert!(Index::open(small.path(), Mode::Read).is_ok());
        let SmallIndex { index, folder, .. } = small;
        drop(index);
        assert!(Index::open(folder.path(), writing()).is_ok());
    }

    #[test]
    fn a_reader_writes_nothing_and_sees_its_moment() {
        let mut small = SmallIndex::of(&["a b c"]);
        let reader = Index::open(small.path(), Mode::Read).unwrap();
        let wanted = format!("{} is open for reading alone", small.path().display());
        assert_eq!(reader.remove("d0").unwrap_err().to_string(), wanted);
        reader.flush().unwrap();
        reader.compact().unwrap();
        small.add("d1", "x y z");
        assert_eq!((reader.next(), small.index.next()), (1, 2));
        let mut prepared = small.prepared("x", "a b c");
        reader.look_up(&mut reader.buffers().unwrap(), &mut prepared).unwrap();
        assert!(prepared.candidates.is_none());
        reader.close().unwrap();
    }

    #[test]
    fn a_document_that_was_looked_up_is_decided_by_what_came_since() {
        let mut small = SmallIndex::of(&["x y z"]);
        let mut prepared = small.prepared("d2", "a b c d e");
        small.index.look_up(&mut small.buffers, &mut prepared).unwrap();
        let found = prepared.candidates.as_ref().unwrap();
        assert_eq!((found.leader, found.searched_below), (None, 1));
        small.add("d1", "a b c d e");
        small.index.add(vec![prepared], Default::default()).unwrap();
        assert_eq!(small.state(2), State::Removed { witness: 1, similarity: Some(1.0) });
    }

    #[test]
    fn the_bytes_of_a_folder_are_those_of_all_files_in_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        std::fs::write(folder.path().join("one"), [0; 10]).unwrap();
        std::fs::write(folder.path().join("inner").join("two"), [0; 7]).unwrap();
        assert_eq!(bytes_of(folder.path()), 17);
        assert_eq!(bytes_of(&folder.path().join("missing")), 0);
    }

    #[test]
    fn memory_is_shared_out_to_filters_and_tails() {
        let folder = closed(&[]);
        let shares = |mode, memory| {
            let settings = Settings { memory, ..settings() };
            let index = Index::open_within(folder.path(), mode, &settings).unwrap();
            (index.inner.layout.filters.load(Ordering::Relaxed), index.shares.total())
        };
        assert_eq!(shares(Mode::Read, 800 << 20), (100 << 20, 100 << 20));
        assert_eq!(shares(Mode::Read, 80 << 20), (0, 0));
        // Four tails of a megabyte, as asked for.
        assert_eq!(shares(writing(), 800 << 20), (100 << 20, (100 << 20) + (4 << 20)));
        assert_eq!(shares(writing(), 80 << 20), (0, 4 << 20));
    }

    #[test]
    fn a_writer_removes_what_a_killed_process_left() {
        let folder = closed(&["a b c"]);
        let strays = ["s00000009.rows", "index.json.part", "index.begun"];
        let others = ["notes.txt", "log-00000005", "log-x"];
        strays.iter().chain(&others).for_each(|name| std::fs::write(folder.path().join(name), "").unwrap());
        drop(Index::open(folder.path(), Mode::Read).unwrap());
        assert!(strays.iter().all(|name| folder.path().join(name).exists()), "a reader removes nothing");
        drop(Index::open(folder.path(), writing()).unwrap());
        assert!(!strays.iter().any(|name| folder.path().join(name).exists()));
        assert!(others.iter().all(|name| folder.path().join(name).exists()));
    }

    #[test]
    fn the_beginning_of_a_write_is_counted_by_readers_and_cut_off_by_writers() {
        let folder = closed(&["a b c"]);
        append(&log::path(folder.path(), 0), b"torn");
        let reader = Index::open(folder.path(), Mode::Read).unwrap();
        assert_eq!((reader.torn, reader.cut_bytes(), reader.next()), (4, 0, 1));
        let writer = Index::open(folder.path(), writing()).unwrap();
        assert_eq!((writer.torn, writer.cut_bytes(), writer.next()), (0, 4, 1));
        drop(writer);
        assert_eq!(Index::open(folder.path(), writing()).unwrap().cut_bytes(), 0);
    }

    #[test]
    fn a_log_behind_one_that_is_not_whole_is_damage() {
        let folder = closed(&["a b c"]);
        append(&log::path(folder.path(), 0), b"torn");
        let next = log::path(folder.path(), 1);
        std::fs::write(&next, "").unwrap();
        let wanted = format!("{} is damaged: it goes on behind a write that is not whole; ", next.display());
        assert!(refused(folder.path()).starts_with(&wanted), "{}", refused(folder.path()));
    }

    #[test]
    fn a_write_that_does_not_follow_the_one_before_is_damage() {
        for (first, tables) in [(2, 7), (1, 6)] {
            let folder = closed(&["a b c"]);
            let at = Acknowledged::read(folder.path()).unwrap();
            Log::open(folder.path(), at, false).unwrap().append(&Chunk::new(first, tables)).unwrap();
            let sentence = refused(folder.path());
            let wanted = "is damaged: a write does not go on where the one before ended; ";
            assert!(sentence.contains(wanted), "{sentence}");
        }
        let folder = closed(&["a b c"]);
        let at = Acknowledged::read(folder.path()).unwrap();
        Log::open(folder.path(), at, false).unwrap().append(&Chunk::new(1, 7)).unwrap();
        assert_eq!(Index::open(folder.path(), Mode::Read).unwrap().next(), 1);
    }

    #[test]
    fn an_acknowledged_log_that_is_gone_is_damage() {
        let folder = closed(&["a b c"]);
        let log = log::path(folder.path(), 0);
        std::fs::remove_file(&log).unwrap();
        let wanted = format!(
            "{} is damaged: it is gone, and writes in it were on the disk when they were acknowledged; ",
            log.display()
        );
        assert!(refused(folder.path()).starts_with(&wanted), "{}", refused(folder.path()));
    }

    #[test]
    fn the_mark_of_the_last_documents_survives() {
        let mut small = SmallIndex::new();
        let prepared = small.prepared("d0", "a b c");
        small.index.add_marked(vec![prepared], Default::default(), Some(b"one".to_vec())).unwrap();
        small.add("d1", "d e f");
        let small = small.reopened();
        assert_eq!(small.index.mark(), Some(&b"one"[..]));
        small.index.flush().unwrap();
        let small = small.reopened();
        assert_eq!(small.index.mark(), Some(&b"one"[..]));
        small.index.add_marked(Vec::new(), Default::default(), Some(b"two".to_vec())).unwrap();
        assert_eq!(small.reopened().index.mark(), Some(&b"two"[..]), "also without documents");
    }

    #[test]
    fn an_index_whose_empty_folder_of_knowledge_was_not_copied_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let knowledge = folder.path().join(KNOWLEDGE);
        assert!(learned_files(&knowledge).unwrap().is_empty());
        let without = knowledge_digests(&knowledge).unwrap();
        std::fs::create_dir(&knowledge).unwrap();
        assert_eq!(knowledge_digests(&knowledge).unwrap(), without);
        std::fs::write(knowledge.join("words"), "learned").unwrap();
        assert_ne!(knowledge_digests(&knowledge).unwrap(), without);
    }

    #[test]
    fn entries_are_files_and_no_folders() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert_eq!(entries(folder.path()).unwrap(), [folder.path().join("file")]);
        let missing = folder.path().join("missing");
        let sentence = entries(&missing).unwrap_err().to_string();
        assert!(sentence.starts_with(&format!("{} cannot be read: ", missing.display())), "{sentence}");
    }
}

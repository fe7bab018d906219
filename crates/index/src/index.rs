//! An index: a folder that documents are added to, asked about and taken out of, by one writer and any number of readers.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use lookalike_corpus::write::sync::sync;
use lookalike_engine::Settings as EngineSettings;
use lookalike_engine::examine::{Examiner, LearnedData};
use lookalike_engine::recipe::{ClusterRule, Task};
use lookalike_engine::walk::Watch;
use lookalike_engine::{EngineError, JobRecipe};
use lookalike_text::hash::{self, Secret};
use serde::Serialize;

use crate::acknowledged::{self, Acknowledged};
use crate::candidates::SnapshotQuery;
use crate::chunk::Tables;
use crate::compactor::Compactor;
use crate::error::IndexError;
use crate::fork::entries;
use crate::log::{self, Log};
use crate::manifest::{self, FORMAT, Manifest};
use crate::part::{Counts, Part, Snapshot};
use crate::query_buffers::{PreparedDocument, QueryBuffers};
use crate::segment::{self, IndexLayout, Segment};
use crate::writer::{Outcome, WriteRequest, Writer};

/// The recipe, as a job has it.
pub(crate) const RECIPE: &str = "recipe.toml";
/// The folder of the data that methods learned.
pub(crate) const KNOWLEDGE: &str = "knowledge";
const LOCK: &str = "lock";
/// The file that exists while an index is being created: the remains of a killed process are then created again.
const CREATION_MARKER: &str = "index.begun";

/// Bytes of memory for filters: enough for fifteen million documents of 17 keys. Segments beyond that do without.
const MOST_FILTER_BYTES: u64 = 384 << 20;

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

/// Settings of a writer. None of them changes an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriterOptions {
    /// True if acknowledged writes survive a crash of the machine, not only of the process.
    pub sync: bool,
    /// About the number of bytes up to which documents are only in memory and in the log.
    pub tail_bytes: usize,
}

impl Default for WriterOptions {
    fn default() -> Self {
        WriterOptions { sync: false, tail_bytes: 32 << 20 }
    }
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
    pub settings: &'m EngineSettings,
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

/// The state shared by readers, the writer and its compactor.
#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) layout: IndexLayout,
    pub(crate) examiner: Examiner,
    pub(crate) text: bool,
    pub(crate) snapshot: RwLock<Arc<Snapshot>>,
    pub(crate) manifest: Mutex<Manifest>,
}

impl SharedState {
    /// The index at this moment.
    pub(crate) fn now(&self) -> Arc<Snapshot> {
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Publishes a changed snapshot to all readers.
    pub(crate) fn publish(&self, change: impl FnOnce(&mut Snapshot)) {
        let mut now = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = Snapshot::clone(&now);
        change(&mut next);
        *now = Arc::new(next);
    }

    pub(crate) fn query<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        buffers: &'a mut QueryBuffers,
    ) -> SnapshotQuery<'a> {
        SnapshotQuery { examiner: &self.examiner, tables: &self.layout.tables, snapshot, buffers }
    }
}

/// An open index.
#[derive(Debug)]
pub struct Index {
    pub(crate) inner: Arc<SharedState>,
    writer: Option<Mutex<Writer>>,
    queue: Mutex<Vec<Arc<QueuedRequest>>>,
    /// The mark stored by the last caller that added documents.
    mark: Option<Vec<u8>>,
    /// Bytes of memory that it takes at most, beside the buffers of threads.
    memory: u64,
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
        if !free && std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
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
        JobRecipe::from_toml(&text).map_err(|error| IndexError::damaged(&path, error))
    }

    /// Opens an index.
    pub fn open(folder: &Path, mode: Mode) -> Result<Self, IndexError> {
        Index::open_within(folder, mode, u64::MAX)
    }

    /// Opens an index for a process with this limit of memory in bytes: the less, the more is read from disk.
    pub fn open_within(folder: &Path, mode: Mode, memory: u64) -> Result<Self, IndexError> {
        let filters = MOST_FILTER_BYTES.min(memory / 8);
        let mode = match mode {
            Mode::Read => Mode::Read,
            Mode::Write(writing) => {
                let most = usize::try_from(memory / 16).unwrap_or(usize::MAX);
                Mode::Write(WriterOptions { tail_bytes: writing.tail_bytes.min(most), ..writing })
            }
        };
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
        let layout = IndexLayout {
            folder: folder.to_owned(),
            stamp,
            tables: Tables { tagged: examiner.methods().map(|method| method.tagged()).collect() },
            record: examiner.record_bytes(),
            filters: Arc::new(AtomicU64::new(filters)),
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
            layout,
            examiner,
        });
        let writer = match (mode, lock) {
            (Mode::Write(writing), Some(lock)) => {
                let log = Log::open(folder, loaded.log, writing.sync)?;
                let compactor = Compactor::new(inner.clone());
                Some(Mutex::new(Writer::new(&inner, log, loaded.log.generation, writing, compactor, lock)?))
            }
            _ => None,
        };
        // Whoever writes has cut them off.
        let (torn, cut) = if writer.is_some() { (0, loaded.torn) } else { (loaded.torn, 0) };
        let tails = match mode {
            Mode::Read => 0,
            // One that grows, one on its way to disk, and what they are joined from.
            Mode::Write(writing) => 4 * writing.tail_bytes as u64,
        };
        let memory = filters + tails;
        Ok(Index { inner, writer, queue: Mutex::default(), mark: loaded.mark, memory, torn, cut })
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

    /// Returns the most bytes of memory that it takes with the buffers of this number of threads.
    pub(crate) fn memory(&self, threads: usize) -> u64 {
        self.memory + threads as u64 * QueryBuffers::memory(self.inner.layout.record)
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
            || self.examiner().methods().any(|method| method.max_documents_per_key(1000) != u64::MAX)
        {
            return Ok(());
        }
        let now = self.inner.now();
        let mut query = self.inner.query(&now, buffers);
        let mut candidates = query.find(&prepared.examined)?;
        let mut subject = crate::query_buffers::Subject::new(&prepared.examined);
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

/// A lock that a panic elsewhere does not take away: what it guards is replaced whole.
pub(crate) fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

/// The digests of what methods learned.
fn knowledge_digests(knowledge: &Path) -> Result<Vec<u8>, IndexError> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(knowledge)
        .map_err(|error| IndexError::read(knowledge, error))?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    names.sort();
    let mut digests = Vec::new();
    for name in names.iter().filter(|name| name.is_file()) {
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

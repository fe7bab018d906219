//! The context of every stage of a job: the methods and the measure of its recipe, its folder, its share of the machine.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use lookalike_corpus::{Corpus, DecoderBudget, ListBudget, Origin, Shard};
use lookalike_methods::OwnMeasure;
use lookalike_text::Profile;
use lookalike_text::extract::ContentMode;
use lookalike_text::hash::Secret;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::EngineError;
use crate::measure::Measure;
use crate::panel::Panel;
use crate::pipeline::{self, Batch, HEAVY, Shape, Unit, weight_of_text};
use crate::recipe::{JobRecipe, Keep, Order, Within};
use crate::store::facts;
use crate::store::file::Label;
use crate::store::journal;
use crate::store::sort::RunLocation;
use crate::walk::{Stage, Watch};

/// The resources of a run: threads, memory, disk for the spool. Nothing here changes a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Threads that work.
    pub threads: usize,
    /// Most memory that the process may take, in bytes.
    pub memory: u64,
    /// The rule for keeping on disk the symbols that documents are measured by.
    pub spool: Spool,
}

impl Settings {
    /// Refuses a cap on memory that cannot hold with documents of up to so many bytes; returns how many bytes are left for buffers
    /// beside the program itself.
    pub fn buffer_bytes(&self, max_document_bytes: u64) -> Result<u64, EngineError> {
        Ok(Budget::new(self, max_document_bytes)?.free(0, 0))
    }

    /// Refuses a cap on memory that cannot hold a batch with one large document in it, with all that is made of that.
    pub fn admit(&self, batch: &Batch, max_document_bytes: u64) -> Result<(), EngineError> {
        Budget::new(self, max_document_bytes)?.admit_document(batch.weight() as u64)
    }

    /// Allows the decoders of a corpus their share of the memory, when nothing else is held; refuses a cap that cannot hold. Returns how
    /// many of its shards may be read at once.
    pub fn bound_decoders(&self, corpus: &Corpus) -> Result<usize, EngineError> {
        let longest = corpus.options().max_document_bytes as u64;
        let shape = self.shape(self.buffer_bytes(longest)?, longest);
        shape.allow(corpus);
        Ok(shape.drivers)
    }

    /// Memory for the lists of files: all that is there beside the program itself and its threads.
    pub fn list_budget(&self) -> ListBudget {
        let program_bytes = program_bytes(self.threads.max(1) as u64);
        ListBudget::new(self.memory.saturating_sub(program_bytes), program_bytes)
    }

    /// Refuses a cap on memory that cannot hold a large text with its words, beside so many bytes; returns whether it is large, and its
    /// like should be handled one at a time.
    pub fn admit_text(&self, text: &str, beside: u64) -> Result<bool, EngineError> {
        if text.len() < HEAVY {
            return Ok(false);
        }
        Budget::new(self, 0)?.admit_document(beside + weight_of_text(text) as u64)?;
        Ok(true)
    }

    /// Returns the numbers of threads and of concurrent units when `room` bytes are left for buffers.
    pub fn shape(&self, room: u64, max_document_bytes: u64) -> Shape {
        let threads = self.threads.max(1);
        let share = DecoderBudget {
            buffer_bytes: room,
            other_bytes: self.beside(room),
            readers: threads as u64,
            // Each unit under way has a reader whose window may grow to the longest document.
            min_reader_bytes: 3 * max_document_bytes / 2,
        };
        Shape {
            threads,
            drivers: share.concurrent_readers() as usize,
            waiting_bytes: room as usize / 6,
            share,
        }
    }

    /// Bytes that are taken beside so much room. The least that there is may be more than is left; then it is the most that
    /// [`Budget::reserve`] lets be reserved.
    fn beside(&self, room: u64) -> u64 {
        if room > LEAST_ROOM {
            return self.memory.saturating_sub(room);
        }
        self.memory.saturating_add(8 * MIB + 2 * MIB * self.threads.max(1) as u64)
    }
}

/// The rule for keeping on disk the symbols that documents are measured by; without them, candidates are read again from the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Spool {
    /// Kept, except of what is read again as fast: JSON lines in files that are not compressed, and tables in memory.
    #[default]
    Auto,
    /// Always kept.
    Disk,
    /// Never kept.
    None,
}

/// Smaller shards are not looked at to see whether they can be read again: that would cost more than it saves.
const LEAST_READ_AGAIN: u64 = if cfg!(test) { 1 } else { MIB };

/// The ways to get the documents of a unit a second time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RereadAccess {
    /// True if the symbols that they are measured by are kept on disk.
    pub(crate) spooled: bool,
    /// True if they can be read again by their positions in their shards.
    pub(crate) seekable: bool,
}

impl Spool {
    /// Decides whether the symbols of the documents of `unit` are kept on disk, and whether the documents can be read again
    /// from their shards.
    pub(crate) fn reread_access(self, corpus: &Corpus, unit: &Unit) -> RereadAccess {
        let seekable = |least: u64| {
            let mut shards = corpus.shards()[unit.clone()].iter();
            let large = |shard: &Shard| shard.bytes.is_some_and(|bytes| bytes >= least);
            let lines = |shard: &Shard| large(shard) && shard.is_plain_lines(corpus.options());
            shards.all(|shard| matches!(shard.origin, Origin::Table(_)) || lines(shard))
        };
        let seekable = match self {
            Spool::Auto => seekable(LEAST_READ_AGAIN),
            Spool::Disk => false,
            Spool::None => seekable(0),
        };
        RereadAccess { spooled: !seekable && self != Spool::None, seekable }
    }
}

const MIB: u64 = 1 << 20;

/// Buffers have so much, however little is left.
const LEAST_ROOM: u64 = 16 * MIB;

/// Bytes of the program itself and of its threads.
fn program_bytes(threads: u64) -> u64 {
    64 * MIB + 4 * MIB * threads
}

/// The memory of a run, handed out in parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    cap: u64,
    threads: u64,
    /// Bytes that methods have reserved for the whole run.
    reserved: u64,
}

impl Budget {
    /// Refuses a cap that cannot hold.
    pub(crate) fn new(settings: &Settings, max_document_bytes: u64) -> Result<Self, EngineError> {
        let threads = settings.threads.max(1) as u64;
        let needed = 128 * MIB + 4 * MIB * threads + 2 * max_document_bytes;
        if settings.memory < needed {
            let why = format!(
                "{threads} thread{} and documents of up to {} MB",
                if threads == 1 { "" } else { "s" },
                max_document_bytes.div_ceil(MIB)
            );
            return Err(EngineError::Memory { why, needed });
        }
        Ok(Budget { cap: settings.memory, threads, reserved: 0 })
    }

    /// Sets memory aside for what methods hold; refuses a cap that it leaves too little of.
    pub(crate) fn reserve(&mut self, bytes: u64, what: &str) -> Result<(), EngineError> {
        if bytes > self.reservable() {
            return Err(self.too_small_for(what, bytes));
        }
        self.reserved += bytes;
        Ok(())
    }

    /// Returns the bytes that methods may still reserve.
    pub(crate) fn reservable(self) -> u64 {
        self.cap.saturating_sub(program_bytes(self.threads) + self.reserved)
    }

    /// The error about a cap that leaves too little for so many bytes.
    pub(crate) fn too_small_for(self, what: &str, bytes: u64) -> EngineError {
        let needed = program_bytes(self.threads) + self.reserved + bytes;
        EngineError::Memory { why: what.to_owned(), needed }
    }

    /// Returns the bytes left for buffers beside the program itself and what grows with the documents, but never less than
    /// `LEAST_ROOM`.
    pub(crate) fn free(self, documents: u64, bytes_per_document: u64) -> u64 {
        let taken = 72 * MIB + 6 * MIB * self.threads + self.reserved + documents * bytes_per_document;
        self.cap.saturating_sub(taken).max(LEAST_ROOM)
    }

    /// Refuses a cap that cannot hold what must stay in memory for each document.
    pub(crate) fn admit(self, documents: u64) -> Result<(), EngineError> {
        let needed = 64 * MIB + 4 * MIB * self.threads + self.reserved + 16 * documents;
        if self.cap < needed {
            return Err(EngineError::Memory { why: format!("a corpus of {documents} documents"), needed });
        }
        Ok(())
    }

    /// Refuses a cap that cannot hold one document with all that is made of it, `bytes` together.
    pub(crate) fn admit_document(self, bytes: u64) -> Result<(), EngineError> {
        let needed = 32 * MIB + 3 * MIB * self.threads + self.reserved + bytes;
        if self.cap < needed {
            let why = "one of the documents".to_owned();
            return Err(EngineError::Memory { why, needed });
        }
        Ok(())
    }
}

/// A job under way.
pub(crate) struct Context<'j> {
    pub(crate) recipe: &'j JobRecipe,
    pub(crate) measure: Measure,
    pub(crate) panel: Panel,
    /// The run's profile: equal documents and words are told by it, and by methods that have none of their own.
    pub(crate) profile: Profile,
    /// The profile that pairs are measured by; the run's, unless a method measures them by its own.
    pub(crate) measuring: Profile,
    /// Pairs are measured: to verify them, or because a method decides by that.
    pub(crate) measures: bool,
    pub(crate) content: ContentMode,
    pub(crate) keep: Keep,
    pub(crate) within: Option<Within>,
    /// The order by which documents are numbered, where it is not that of the input.
    pub(crate) order: Option<Order>,
    /// Documents that are there to be compared with and never removed.
    pub(crate) against: Option<&'j Corpus>,
    pub(crate) corpus: &'j Corpus,
    /// The lexicon that was given.
    pub(crate) lexicon: Option<PathBuf>,
    pub(crate) settings: &'j Settings,
    pub(crate) budget: Budget,
    pub(crate) watch: &'j Watch,
    /// The folder for scratch files.
    pub(crate) work: PathBuf,
    /// The secret that equal words, documents and groups are told by; no result depends on which it is.
    pub(crate) secret: Secret,
    /// Recipe, inputs and secret in 128 bits, borne by every scratch file.
    pub(crate) stamp: u128,
    /// True if every value of the field that kept documents are chosen by is a number; set where documents beyond this job count for that.
    pub(crate) numbers: Option<bool>,
    /// For tests: a smaller bound than the memory cap asks for.
    pub(crate) bucket_bytes: Option<u64>,
}

impl<'j> Context<'j> {
    /// A context in which nothing was done yet, without a folder.
    pub(crate) fn new(
        recipe: &'j JobRecipe,
        corpus: &'j Corpus,
        settings: &'j Settings,
        watch: &'j Watch,
    ) -> Result<Self, EngineError> {
        let max_document_bytes = recipe.reading.max_document_bytes;
        let budget = Budget::new(settings, max_document_bytes)?;
        settings.shape(budget.free(0, 0), max_document_bytes).allow(corpus);
        let panel = recipe.panel()?;
        let (mut measure, profile) = (recipe.measure()?, recipe.profile()?);
        let mut measuring = profile.clone();
        let own = panel.own_measure()?.filter(|_| !recipe.verified);
        if let Some((own, by)) = own {
            let OwnMeasure { similarity, threshold, shingle } = own;
            measure = Measure { similarity, threshold, shingle };
            measuring = by.cloned().unwrap_or(measuring);
        }
        let measures = recipe.verified || own.is_some();
        Ok(Context {
            recipe,
            measure,
            panel,
            profile,
            measuring,
            measures,
            content: recipe.content()?,
            keep: recipe.keep()?,
            within: recipe.within(),
            order: recipe.order(),
            against: None,
            corpus,
            lexicon: None,
            settings,
            budget,
            watch,
            work: PathBuf::new(),
            secret: Secret::random(),
            stamp: 0,
            numbers: None,
            bucket_bytes: None,
        })
    }
}

impl Context<'_> {
    /// The label of a run file.
    pub(crate) fn label(&self, kind: &'static str, width: usize) -> Label {
        Label::new(kind, width, self.stamp)
    }

    /// Returns the location of sorted runs.
    pub(crate) fn run_location(&self, name: &str) -> RunLocation {
        RunLocation { folder: self.work.clone(), name: name.to_owned(), stamp: self.stamp }
    }

    /// The path of a scratch file.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    /// Writes down facts that a later process goes on from.
    pub(crate) fn save(&self, name: &str, saved: &impl Serialize) -> Result<(), EngineError> {
        facts::save(&self.file(name), self.stamp, saved)
    }

    /// The facts that an earlier process, or an earlier stage, wrote down.
    pub(crate) fn saved<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, EngineError> {
        facts::saved(&self.file(name), self.stamp)
    }

    /// True when a similarity may differ both ways. By the word of the methods alone it is theirs that may.
    pub(crate) fn directed(&self) -> bool {
        if self.recipe.verified { self.measure.directed() } else { self.panel.directed() }
    }

    /// Fails once the work was asked to end.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        if self.watch.stopped() { Err(EngineError::Stopped) } else { Ok(()) }
    }

    /// Tells whoever watches that a stage begins.
    pub(crate) fn begin(&self, name: &'static str, total: Option<u64>, reads: bool) {
        self.watch.begin(Stage { name, total, reads });
    }

    /// Adds candidate pairs to the progress of the stage: those told apart, measured, or not worth it.
    pub(crate) fn count_finished_pairs(&self, pairs: u64) {
        self.watch.steps.fetch_add(pairs, std::sync::atomic::Ordering::Relaxed);
    }

    /// Sets memory aside for the lists of files, and for what becomes known of each file.
    pub(crate) fn reserve_lists(&mut self) -> Result<(), EngineError> {
        let files: usize = self.corpora().map(|corpus| corpus.shards().len()).sum();
        let bytes = self.corpora().map(Corpus::list_bytes).sum();
        self.budget.reserve(bytes, &format!("a list of {files} files"))
    }

    /// The corpora that are read, those to compare with first.
    pub(crate) fn corpora(&self) -> impl Iterator<Item = &Corpus> {
        self.against.into_iter().chain([self.corpus])
    }

    /// All units, in the order of their documents.
    pub(crate) fn units(&self) -> Vec<(bool, Unit)> {
        let against = self.against.into_iter().flat_map(pipeline::units).map(|unit| (true, unit));
        against.chain(pipeline::units(self.corpus).into_iter().map(|unit| (false, unit))).collect()
    }

    /// Bytes of all inputs, where known.
    pub(crate) fn input_bytes(&self) -> Option<u64> {
        self.corpora().map(Corpus::bytes).sum()
    }

    /// Returns the numbers of threads and of concurrent units.
    pub(crate) fn shape(&self) -> Shape {
        self.settings.shape(self.budget.free(0, 0), self.recipe.reading.max_document_bytes)
    }
}

/// Removes a file that may not be there.
pub(crate) fn remove_if_there(path: &Path) -> Result<(), EngineError> {
    match journal::remove(path) {
        Err(EngineError::Write { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Writes a small file whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
    write_whole_with(path, |out| out.write_all(bytes))
}

/// Writes a file whole or not at all, in the pieces that `write` makes.
pub(crate) fn write_whole_with(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), EngineError> {
    let pending = path.with_added_extension("part");
    let written = File::create(&pending).and_then(|file| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.flush()
    });
    written.map_err(|error| EngineError::write(&pending, error))?;
    std::fs::rename(&pending, path).map_err(|error| EngineError::write(path, error))
}

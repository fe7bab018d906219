//! The context of every stage of a job: the methods and the measure of its recipe, its folder, its share of the machine.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use lookalike_corpus::{Corpus, DecoderBudget, ListBudget, Origin, Shard};
use lookalike_hash::Secret;
use lookalike_methods::OwnMeasure;
use lookalike_store::StoreError;
use lookalike_store::facts;
use lookalike_store::file::Label;
use lookalike_store::journal;
use lookalike_store::sort::RunLocation;
use lookalike_text::Profile;
use lookalike_text::extract::ContentMode;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::EngineError;
use crate::measure::Measure;
use crate::panel::Panel;
use crate::pipeline::{self, Batch, HEAVY, Shape, Unit, weight_of_text};
use crate::recipe::{ExtraFields, JobRecipe, Keep, Order, Within};
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
    /// One thread without a cap on memory.
    pub const UNLIMITED: Settings = Settings { threads: 1, memory: u64::MAX, spool: Spool::Auto };

    /// Refuses a cap on memory that cannot hold with documents of up to so many bytes; returns how many bytes are left for buffers
    /// beside the program itself.
    pub fn buffer_bytes(&self, max_document_bytes: u64) -> Result<u64, EngineError> {
        Ok(Budget::new(self, max_document_bytes)?.free(0, 0))
    }

    /// The least cap on memory that can hold with documents of up to so many bytes.
    pub fn least_memory(&self, max_document_bytes: u64) -> u64 {
        least_memory(self.threads.max(1) as u64, max_document_bytes)
    }

    /// Refuses a cap on memory that cannot hold a batch with one large document in it, with all that is made of that: what the engine
    /// makes, and as many bytes more for each of its own.
    pub fn admit(&self, batch: &Batch, more: u64, max_document_bytes: u64) -> Result<(), EngineError> {
        let bytes = batch.weight() as u64 + more * batch.bytes() as u64;
        Budget::new(self, max_document_bytes)?.admit_document(bytes)
    }

    /// Allows the decoders of a corpus their share of the memory, when nothing else is held; refuses a cap that cannot hold. Returns how
    /// many of its shards may be read at once.
    pub fn bound_decoders(&self, corpus: &Corpus) -> Result<usize, EngineError> {
        let longest = corpus.options().max_document_bytes as u64;
        let shape = self.shape(self.buffer_bytes(longest)?, longest);
        shape.allow(corpus);
        Ok(shape.drivers)
    }

    /// Memory for the lists of files: all that is there beside the program itself and its threads. A cap that cannot hold is refused
    /// later, with its own sentence; what is asked for here is enough for documents of up to so many bytes, too.
    pub fn list_budget(&self, max_document_bytes: u64) -> ListBudget {
        let threads = self.threads.max(1) as u64;
        let program_bytes = program_bytes(threads);
        ListBudget::new(self.memory.saturating_sub(program_bytes).max(LEAST_ROOM), program_bytes)
            .asking_for_at_least(self.least_memory(max_document_bytes))
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

/// The rule for keeping the texts of documents on disk; without them, candidates are read again from the input.
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
    /// True if their texts are kept on disk.
    pub(crate) spooled: bool,
    /// True if they can be read again by their positions in their shards.
    pub(crate) seekable: bool,
}

impl Spool {
    /// Decides whether the texts of the documents of `unit` are kept on disk, and whether the documents can be read again
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

/// The least memory that a job can hold.
fn least_memory(threads: u64, max_document_bytes: u64) -> u64 {
    128 * MIB + 4 * MIB * threads + 2 * max_document_bytes
}

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
        let needed = least_memory(threads, max_document_bytes);
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
    /// The further fields of documents that these three look at.
    pub(crate) extras: ExtraFields,
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
            extras: recipe.extra_fields()?,
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
        Ok(facts::save(&self.file(name), self.stamp, saved)?)
    }

    /// The facts that an earlier process, or an earlier stage, wrote down.
    pub(crate) fn saved<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, EngineError> {
        Ok(facts::saved(&self.file(name), self.stamp)?)
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
        Err(StoreError::Write { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => Ok(removed?),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::recipe;
    use lookalike_corpus::ReadOptions;
    use lookalike_model::Similarity;

    fn settings(threads: usize, megabytes: u64) -> Settings {
        Settings { threads, memory: megabytes * MIB, spool: Spool::Auto }
    }

    fn budget() -> Budget {
        Budget::new(&settings(2, 512), MIB).unwrap()
    }

    /// The bytes that an error says would do.
    fn needed<T>(result: Result<T, EngineError>) -> u64 {
        match result {
            Err(EngineError::Memory { needed, .. }) => needed,
            _ => panic!("it was not refused for want of memory"),
        }
    }

    #[test]
    fn the_least_cap_grows_with_threads_and_documents() {
        // 128 MB, 4 MB for each thread, and the longest document twice.
        assert!(Budget::new(&settings(1, 134), MIB).is_ok());
        assert_eq!(needed(Budget::new(&settings(1, 133), MIB)), 134 * MIB);
        assert_eq!(needed(Budget::new(&settings(0, 133), MIB)), 134 * MIB);
        assert_eq!(needed(Budget::new(&settings(4, 150), 16 * MIB)), (128 + 16 + 32) * MIB);
        let said = Budget::new(&settings(1, 1), MIB).unwrap_err().to_string();
        assert!(said.contains("1 thread and documents of up to 1 MB needs at least 134 MB"), "{said}");
    }

    #[test]
    fn what_is_reserved_is_gone() {
        let mut budget = budget();
        assert_eq!(budget.reservable(), (512 - 64 - 8) * MIB);
        budget.reserve(400 * MIB, "much").unwrap();
        assert_eq!(budget.reservable(), 40 * MIB);
        assert_eq!(needed(budget.reserve(41 * MIB, "more")), 513 * MIB);
        assert_eq!(budget.reservable(), 40 * MIB, "what was refused takes nothing");
        budget.reserve(40 * MIB, "the rest").unwrap();
        assert_eq!(budget.reservable(), 0);
    }

    #[test]
    fn buffers_have_what_documents_leave_and_never_too_little() {
        let budget = budget();
        assert_eq!(budget.free(0, 0), (512 - 72 - 12) * MIB);
        assert_eq!(budget.free(MIB, 12), (512 - 72 - 12 - 12) * MIB);
        assert_eq!(budget.free(u32::MAX.into(), 100), LEAST_ROOM);
    }

    #[test]
    fn documents_need_sixteen_bytes_each() {
        let most = (512 - 64 - 8) * MIB / 16;
        assert!(budget().admit(most).is_ok());
        assert_eq!(needed(budget().admit(most + 1)), 512 * MIB + 16);
    }

    #[test]
    fn one_document_must_fit_beside_the_program() {
        let most = (512 - 32 - 6) * MIB;
        assert!(budget().admit_document(most).is_ok());
        assert_eq!(needed(budget().admit_document(most + 1)), 512 * MIB + 1);
    }

    #[test]
    fn large_texts_alone_are_handled_one_at_a_time() {
        let settings = settings(1, 256);
        assert!(!settings.admit_text("a few words", u64::MAX / 2).unwrap(), "small ones are not weighed");
        let large = "a".repeat(HEAVY);
        assert!(settings.admit_text(&large, 0).unwrap());
        assert!(needed(settings.admit_text(&large, 250 * MIB)) > 256 * MIB);
    }

    #[test]
    fn shapes_have_a_thread_and_a_driver_at_least() {
        let shape = settings(0, 256).shape(60 * MIB, MIB);
        assert!(shape.threads == 1 && shape.drivers == 1);
        assert_eq!(shape.waiting_bytes as u64, 10 * MIB);
        let shape = settings(4, 4096).shape(3000 * MIB, MIB);
        assert_eq!((shape.threads, shape.drivers), (4, 4));
    }

    #[test]
    fn lines_that_can_be_read_again_are_not_spooled_unless_asked_for() {
        let access = |name: &str, content: &str, spool: Spool| {
            let corpus = Corpus::in_memory(name, content.as_bytes().into(), ReadOptions::default());
            let RereadAccess { spooled, seekable } = spool.reread_access(&corpus, &(0..1));
            (spooled, seekable)
        };
        let lines = as_lines(&["one"]);
        assert_eq!(access("a.jsonl", &lines, Spool::Auto), (false, true));
        assert_eq!(access("a.jsonl", &lines, Spool::Disk), (true, false));
        assert_eq!(access("a.jsonl", &lines, Spool::None), (false, true));
        assert_eq!(access("a.txt", "some words", Spool::Auto), (true, false));
        assert_eq!(access("a.txt", "some words", Spool::None), (false, false));
    }

    #[test]
    fn a_small_file_is_written_whole_and_removed_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("facts");
        for content in [&b"one"[..], b"two"] {
            write_whole(&path, content).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), content);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        remove_if_there(&path).unwrap();
        assert!(!path.exists());
        remove_if_there(&path).unwrap();
        assert!(write_whole(&folder.path().join("none/facts"), b"").is_err());
    }

    #[test]
    fn facts_of_another_job_are_refused() {
        let test = StageTest::new(recipe("md5"), "");
        let mut ctx = test.context();
        assert_eq!(ctx.saved::<u64>("facts").unwrap(), None);
        ctx.save("facts", &7u64).unwrap();
        assert_eq!(ctx.saved::<u64>("facts").unwrap(), Some(7));
        ctx.stamp ^= 1;
        assert!(matches!(ctx.saved::<u64>("facts"), Err(EngineError::Damaged { .. })));
    }

    #[test]
    fn similarities_differ_both_ways_by_the_measure_or_by_the_methods() {
        let directed = |similarity, verified, spec: &str| {
            let test = StageTest::new(JobRecipe { similarity, verified, ..recipe(spec) }, "");
            test.context().directed()
        };
        assert!(directed(Similarity::Containment, true, "exact"));
        assert!(!directed(Similarity::Containment, false, "exact"), "the method says the same both ways");
        assert!(directed(Similarity::Containment, false, "cops"), "the method tells both ways apart");
        assert!(!directed(Similarity::Jaccard, true, "md5"));
    }

    #[test]
    fn a_method_may_measure_where_pairs_are_not_verified() {
        let measures = |verified, spec: &str| {
            let test = StageTest::new(JobRecipe { verified, ..recipe(spec) }, "");
            let ctx = test.context();
            (ctx.measures, ctx.measure == ctx.recipe.measure().unwrap())
        };
        assert_eq!(measures(true, "md5"), (true, true));
        assert_eq!(measures(false, "md5"), (false, true));
        assert_eq!(measures(true, "decomposition"), (true, true));
        assert_eq!(measures(false, "decomposition"), (true, false));
    }

    #[test]
    fn documents_to_compare_with_are_read_first() {
        let (left, right) = (as_lines(&["one"]), as_lines(&["two", "three"]));
        let test = StageTest::against(recipe("md5"), &left, &right);
        let ctx = test.context();
        assert_eq!(ctx.units(), [(true, 0..1), (false, 0..1)]);
        assert_eq!(ctx.input_bytes(), Some((left.len() + right.len()) as u64));
        let names: Vec<&str> = ctx.corpora().map(|corpus| corpus.shards()[0].name.as_str()).collect();
        assert_eq!(names, ["left.jsonl", "docs.jsonl"]);
    }

    #[test]
    fn lists_of_files_take_memory() {
        let test = StageTest::against(recipe("md5"), &as_lines(&["one"]), &as_lines(&["two"]));
        let mut ctx = test.context();
        let before = ctx.budget.reservable();
        ctx.reserve_lists().unwrap();
        let taken: u64 = ctx.corpora().map(Corpus::list_bytes).sum();
        assert!(taken > 2 * 256);
        assert_eq!(before - ctx.budget.reservable(), taken);
    }

    #[test]
    fn a_stop_ends_a_stage() {
        let test = StageTest::new(recipe("md5"), "");
        let ctx = test.context();
        assert!(ctx.check().is_ok());
        test.watch.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(ctx.check(), Err(EngineError::Stopped)));
    }
}

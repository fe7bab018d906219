//! An index for programs that have texts in memory: "have I seen this?"

use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::corpus::Corpus;
use crate::engine::pipeline::HEAVY;
use crate::engine::{EngineError, JobRecipe, Settings};
use crate::error::{Error, counting_copies};
use crate::index::{
    Answer, CorpusRecord, CreateOptions, Index as DiskIndex, IndexError, Match, Mode, OnExistingId,
    Preparation, Progress, QueryBuffers, State, Stats, Verdict, WriterOptions,
};
use crate::model::{Document, Media};
use crate::options::{Options, for_texts};
use crate::texts::TextTable;
use crate::walk::Watch;

/// An open index: texts on disk that are added, asked for and taken out, from any number of threads.
///
/// ```
/// use lookalike::{AddOutcome, Index};
///
/// let folder = tempfile::tempdir()?;
/// let index = Index::create(folder.path().join("seen"))?;
/// assert!(index.add("page-1", "A rose is a rose is a rose.")?.is_new());
/// assert!(index.nearest("a rose is a rose is a rose")?.is_some_and(|found| found.id == "page-1"));
/// let AddOutcome::Duplicate(witness) = index.add("page-2", "A rose is a rose, is a rose!")? else {
///     panic!("it has the same words");
/// };
/// assert_eq!((witness.id.as_str(), witness.similarity), ("page-1", Some(1.0)));
/// index.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// One process at a time adds to an index, and others may read it. What was added survives the end of the process, and after
/// [`Index::close`] that of the machine. [`lookalike::index`](crate::index) has the index below this one, with corpora, clusters and checks.
#[derive(Debug)]
pub struct Index {
    disk: DiskIndex,
    settings: Settings,
    pool: BufferPool,
}

/// The outcome of adding a text.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a text that was not added is told here"]
pub enum AddOutcome {
    /// It was added, and no kept text is like it.
    New,
    /// It was added, and a kept text is so similar that it stands for this one.
    Duplicate(Witness),
    /// The id was there with these words, and nothing was added. The witness is there if it is a near-duplicate.
    Known(Option<Witness>),
    /// The id is there with other words, and nothing was added.
    IdTaken,
    /// The text or its id cannot be used, for this reason, and nothing was added.
    Rejected(String),
}

impl AddOutcome {
    /// True if the text was added and no kept text is like it.
    pub fn is_new(&self) -> bool {
        *self == AddOutcome::New
    }
}

/// A kept text that stands for another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Witness {
    /// Its id; empty if another thread took it out in the meantime.
    pub id: String,
    /// The measured similarity of both. None only in an index that was made with `--unverified` and a method that gives no number.
    pub similarity: Option<f64>,
}

impl Options {
    /// Makes a new index with these options in a folder that is empty or not there, and opens it.
    pub fn create_index(&self, folder: impl AsRef<Path>) -> Result<Index, Error> {
        let (recipe, settings) = (self.index_recipe()?, self.settings(0)?);
        let create_options =
            CreateOptions { recipe, text: true, lexicon: self.lexicon(), learn: None, settings: &settings };
        DiskIndex::create(folder.as_ref(), create_options, &Watch::default())?;
        Index::open_within(folder.as_ref(), Mode::Write(WriterOptions::default()), settings)
    }

    /// Opens an index that was made with these options, to be added to.
    pub fn open_index(&self, folder: impl AsRef<Path>) -> Result<Index, Error> {
        let index =
            Index::open_within(folder.as_ref(), Mode::Write(WriterOptions::default()), self.settings(0)?)?;
        index.disk.require(&self.index_recipe()?)?;
        Ok(index)
    }

    /// Opens an index that was made with these options, or makes it.
    pub fn open_or_create_index(&self, folder: impl AsRef<Path>) -> Result<Index, Error> {
        if DiskIndex::exists(folder.as_ref()) { self.open_index(folder) } else { self.create_index(folder) }
    }
}

impl Index {
    /// Makes a new index with the options by default in a folder that is empty or not there, and opens it.
    pub fn create(folder: impl AsRef<Path>) -> Result<Self, Error> {
        Options::new().create_index(folder)
    }

    /// Opens an index to be added to, whatever options it was made with.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let settings = Options::new().settings(0)?;
        Index::open_within(folder.as_ref(), Mode::Write(WriterOptions::default()), settings)
    }

    /// Opens an index to be asked alone, as it is now, whatever options it was made with. Another process may add to it.
    pub fn open_read_only(folder: impl AsRef<Path>) -> Result<Self, Error> {
        Index::open_within(folder.as_ref(), Mode::Read, Options::new().settings(0)?)
    }

    fn open_within(folder: &Path, mode: Mode, settings: Settings) -> Result<Self, Error> {
        let disk = DiskIndex::open_within(folder, mode, &settings)?;
        let needed = disk.least_memory(&settings);
        if settings.memory < needed {
            let why = format!("an index with {} threads", settings.threads);
            return Err(EngineError::Memory { why, needed }.into());
        }
        let pool = BufferPool::new(settings.threads);
        Ok(Index { disk, settings, pool })
    }

    /// Asks for the near-duplicates of a text and adds it, in one step: of two equal texts that race, one is new.
    pub fn add(&self, id: &str, text: &str) -> Result<AddOutcome, Error> {
        self.add_one(id, text, OnExistingId::Refuse)
    }

    /// Adds a text as [`Index::add`] does; one with the same id and other words is replaced.
    pub fn replace(&self, id: &str, text: &str) -> Result<AddOutcome, Error> {
        self.add_one(id, text, OnExistingId::Replace)
    }

    fn add_one(&self, id: &str, text: &str, on_existing: OnExistingId) -> Result<AddOutcome, Error> {
        if id.is_empty() {
            return Ok(AddOutcome::Rejected(EMPTY_ID.to_owned()));
        }
        if self.is_large(text) {
            let mut outcomes = self.add_corpus(TextTable::of_documents([(id, text)]), on_existing)?;
            return outcomes.pop().ok_or_else(|| lost().into());
        }
        self.pool.with(&self.disk, |buffers| {
            let document = Document::from_text(id, None, Media::Text, text);
            let mut prepared = match buffers.document(self.disk.examiner(), &document) {
                Ok(prepared) => prepared,
                Err(reason) => return Ok(AddOutcome::Rejected(reason)),
            };
            self.disk.look_up(buffers, &mut prepared)?;
            let verdicts = self.disk.add(vec![prepared], on_existing)?;
            self.outcome(buffers, verdicts.first().ok_or_else(lost)?)
        })
    }

    /// Adds many texts with their ids, on all threads; returns the outcome of each. Other threads wait for it.
    ///
    /// After an error, texts up to some position are in the index: adding all of them again finds these known.
    pub fn add_all<I: AsRef<str>, T: AsRef<str>>(
        &self,
        documents: impl IntoIterator<Item = (I, T)>,
    ) -> Result<Vec<AddOutcome>, Error> {
        let (mut count, mut nameless) = (0, Vec::new());
        let named = documents.into_iter().filter(|(id, _)| {
            let empty = id.as_ref().is_empty();
            nameless.extend(empty.then_some(count));
            count += 1;
            !empty
        });
        let texts = TextTable::of_documents(named);
        let mut outcomes = self.add_corpus(texts, OnExistingId::Refuse)?.into_iter();
        let outcome = |position: usize| match nameless.binary_search(&position) {
            Ok(_) => Ok(AddOutcome::Rejected(EMPTY_ID.to_owned())),
            Err(_) => outcomes.next().ok_or_else(|| lost().into()),
        };
        (0..count).map(outcome).collect()
    }

    fn add_corpus(&self, texts: TextTable, on_existing: OnExistingId) -> Result<Vec<AddOutcome>, Error> {
        let (settings, counting) = (self.beside(&texts), counting_copies(texts.memory()));
        let corpus = self.corpus(texts)?;
        let additions = Mutex::new(Additions::default());
        let lock = || additions.lock().unwrap_or_else(PoisonError::into_inner);
        let held = self.pool.take_all();
        let added = self.disk.add_corpus(
            &corpus,
            &settings,
            Progress::default(),
            on_existing,
            &Watch::default(),
            |portion| {
                lock().take_portion(&portion.records);
                Ok(None)
            },
            |_, verdict| {
                lock().take_verdict(verdict);
                Ok(())
            },
        );
        drop(held);
        added.map_err(counting)?;
        let additions = additions.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.pool.with(&self.disk, |buffers| {
            let outcome = |addition| match addition {
                Addition::Rejected(reason) => Ok(AddOutcome::Rejected(reason)),
                Addition::Decided(verdict) => self.outcome(buffers, &verdict),
                Addition::Pending => Err(lost().into()),
            };
            additions.all.into_iter().map(outcome).collect()
        })
    }

    fn outcome(&self, buffers: &mut QueryBuffers, verdict: &Verdict) -> Result<AddOutcome, Error> {
        let Verdict::Added { state, known, .. } = *verdict else { return Ok(AddOutcome::IdTaken) };
        let witness = match state {
            State::Removed { witness, similarity } => {
                let entry = self.disk.entry(buffers, witness)?;
                let id = entry.map(|entry| entry.id).unwrap_or_default();
                Some(Witness { id, similarity })
            }
            _ => None,
        };
        Ok(match (known, witness) {
            (true, witness) => AddOutcome::Known(witness),
            (false, Some(witness)) => AddOutcome::Duplicate(witness),
            (false, None) => AddOutcome::New,
        })
    }

    /// Finds the text that is most similar to this one, if any is similar enough: "have I seen this?"
    pub fn nearest(&self, text: &str) -> Result<Option<Match>, Error> {
        Ok(self.query(text, 1)?.matches.pop())
    }

    /// Finds the texts that are similar enough to this one, and returns the `limit` most similar of them.
    pub fn query(&self, text: &str, limit: usize) -> Result<Answer, Error> {
        if self.is_large(text) {
            let answer = self.query_all([text], limit)?.pop();
            return answer.ok_or_else(lost)?.map_err(Error::Rejected);
        }
        self.pool.with(&self.disk, |buffers| {
            let document = Document::from_text("", None, Media::Text, text);
            let prepared = buffers.document(self.disk.examiner(), &document).map_err(Error::Rejected)?;
            Ok(self.disk.query(buffers, &prepared, limit)?)
        })
    }

    /// Asks for many texts, on all threads; returns the answer to each, or why it cannot be used. Other threads wait for it.
    pub fn query_all<T: AsRef<str>>(
        &self,
        texts: impl IntoIterator<Item = T>,
        limit: usize,
    ) -> Result<Vec<Result<Answer, String>>, Error> {
        let texts = TextTable::of_texts(texts);
        let (settings, counting) = (self.beside(&texts), counting_copies(texts.memory()));
        let corpus = self.corpus(texts)?;
        let mut answers = Vec::new();
        let _held = self.pool.take_all();
        let examined = self.disk.examine(
            &corpus,
            &settings,
            Progress::default(),
            Preparation::Answer(limit),
            &Watch::default(),
            |portion| {
                answers.extend(portion.records.into_iter().map(|record| match record {
                    CorpusRecord::Document(prepared) => Ok(prepared.answer.unwrap_or_default()),
                    CorpusRecord::Rejected { reason, .. } => Err(reason),
                }));
                Ok(())
            },
        );
        examined.map_err(counting)?;
        Ok(answers)
    }

    /// Takes all texts of an id out; returns how many there were. Texts that one of them stood for are decided anew.
    pub fn remove(&self, id: &str) -> Result<u64, Error> {
        Ok(self.disk.remove(id)?)
    }

    /// The recipe by which texts are found and measured.
    pub fn recipe(&self) -> &JobRecipe {
        self.disk.recipe()
    }

    /// The figures of the index.
    pub fn stats(&self) -> Stats {
        self.disk.stats()
    }

    /// The index below this one, for corpora, clusters and checks.
    pub fn disk(&self) -> &DiskIndex {
        &self.disk
    }

    /// Ends writing: everything that was added survives the end of the machine.
    pub fn close(self) -> Result<(), Error> {
        Ok(self.disk.close()?)
    }

    /// True for texts that need a look at the memory there is, or are too long.
    fn is_large(&self, text: &str) -> bool {
        text.len() >= HEAVY || text.len() as u64 > self.recipe().reading.max_document_bytes
    }

    /// The settings beside a copy of texts.
    fn beside(&self, texts: &TextTable) -> Settings {
        Settings { memory: self.settings.memory.saturating_sub(texts.memory()), ..self.settings.clone() }
    }

    fn corpus(&self, texts: TextTable) -> Result<Corpus, EngineError> {
        Ok(texts.into_corpus("texts", for_texts(self.recipe().clone())?.read_options()?))
    }
}

const EMPTY_ID: &str = "its id is empty";

/// The error about a text without a verdict, which a sound index does not have.
fn lost() -> IndexError {
    IndexError::Request("the index gave no answer for one of the texts; please report it".to_owned())
}

/// A text on its way into the index.
#[derive(Debug)]
enum Addition {
    Rejected(String),
    /// Handed over, and not decided yet.
    Pending,
    Decided(Verdict),
}

/// All texts of an addition, in their order.
#[derive(Debug, Default)]
struct Additions {
    all: Vec<Addition>,
    /// The position up to which all are decided.
    decided: usize,
}

impl Additions {
    fn take_portion(&mut self, records: &[CorpusRecord<'_>]) {
        self.all.extend(records.iter().map(|record| match record {
            CorpusRecord::Document(_) => Addition::Pending,
            CorpusRecord::Rejected { reason, .. } => Addition::Rejected(reason.clone()),
        }));
    }

    /// Takes the verdict on the first text that waits for one.
    fn take_verdict(&mut self, verdict: &Verdict) {
        let is_pending = |addition: &Addition| matches!(addition, Addition::Pending);
        let waiting = self.all[self.decided..].iter().position(is_pending);
        if let Some(waiting) = waiting {
            self.decided += waiting + 1;
            self.all[self.decided - 1] = Addition::Decided(verdict.clone());
        }
    }
}

/// Buffers of the threads that use an index: as many as the index counts memory for. Further threads wait.
#[derive(Debug)]
struct BufferPool {
    state: Mutex<PoolState>,
    returned: Condvar,
    most: usize,
}

#[derive(Debug, Default)]
struct PoolState {
    free: Vec<QueryBuffers>,
    /// Shares of memory that are in use, one for each set of buffers.
    used: usize,
    /// Threads that wait for all shares: nobody gets a single one before them.
    waiting_for_all: usize,
}

impl BufferPool {
    fn new(most: usize) -> Self {
        BufferPool { state: Mutex::default(), returned: Condvar::new(), most: most.max(1) }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does work with buffers of its own.
    fn with<T>(
        &self,
        disk: &DiskIndex,
        work: impl FnOnce(&mut QueryBuffers) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let _share = self.take(1, |state| state.used >= self.most || state.waiting_for_all > 0);
        let free = self.lock().free.pop();
        let mut buffers = free.map_or_else(|| disk.buffers(), Ok)?;
        let result = work(&mut buffers);
        self.lock().free.push(buffers);
        result
    }

    /// Takes the memory of all buffers, for work that has its own.
    fn take_all(&self) -> PoolShare<'_> {
        self.lock().waiting_for_all += 1;
        let share = self.take(self.most, |state| state.used > 0);
        let mut state = self.lock();
        state.waiting_for_all -= 1;
        state.free.clear();
        drop(state);
        share
    }

    fn take(&self, shares: usize, busy: impl Fn(&PoolState) -> bool) -> PoolShare<'_> {
        let waited = self.returned.wait_while(self.lock(), |state| busy(state));
        waited.unwrap_or_else(PoisonError::into_inner).used += shares;
        PoolShare { pool: self, shares }
    }
}

/// Shares of the memory of a pool, which go back when this is dropped.
#[derive(Debug)]
struct PoolShare<'p> {
    pool: &'p BufferPool,
    shares: usize,
}

impl Drop for PoolShare<'_> {
    fn drop(&mut self) {
        self.pool.lock().used -= self.shares;
        self.pool.returned.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::recipe::Keep;

    fn options() -> Options {
        Options::new().method("exact").shingle(1).threshold(0.7).threads(2).memory(1 << 30)
    }

    fn new_index(folder: &tempfile::TempDir) -> Index {
        options().create_index(folder.path().join("seen")).unwrap()
    }

    fn duplicate_of(id: &str, similarity: f64) -> AddOutcome {
        AddOutcome::Duplicate(Witness { id: id.to_owned(), similarity: Some(similarity) })
    }

    #[test]
    fn a_text_is_new_or_a_kept_one_stands_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let index = new_index(&folder);
        assert_eq!(index.nearest("a b c d").unwrap(), None);
        assert!(index.add("1", "a b c d").unwrap().is_new());
        assert_eq!(index.add("2", "a b c d e").unwrap(), duplicate_of("1", 0.8));
        assert!(index.add("3", "x y z").unwrap().is_new());
        let found = index.nearest("A! b, c d f").unwrap().unwrap();
        assert_eq!((found.id.as_str(), found.similarity, found.kept), ("1", Some(0.8), true));
        let answer = index.query("a b c d", 9).unwrap();
        assert_eq!(
            (answer.total, answer.matches[0].id.as_str(), answer.matches[1].id.as_str()),
            (2, "1", "2")
        );
        assert_eq!((index.stats().kept, index.stats().removed), (2, 1));
    }

    #[test]
    fn an_id_that_is_there_is_known_or_taken_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let index = new_index(&folder);
        assert!(index.add("1", "a b c d").unwrap().is_new());
        assert_eq!(index.add("2", "a b c d").unwrap(), duplicate_of("1", 1.0));
        assert_eq!(index.add("1", "A b, c d").unwrap(), AddOutcome::Known(None));
        let witness = Witness { id: "1".to_owned(), similarity: Some(1.0) };
        assert_eq!(index.add("2", "a b c d").unwrap(), AddOutcome::Known(Some(witness)));
        assert_eq!(index.add("1", "other words").unwrap(), AddOutcome::IdTaken);
        assert!(index.replace("1", "other words").unwrap().is_new());
        assert_eq!(index.nearest("a b c d").unwrap().map(|found| found.id), Some("2".to_owned()));
    }

    #[test]
    fn a_text_that_was_taken_out_was_not_seen() {
        let folder = tempfile::tempdir().unwrap();
        let index = new_index(&folder);
        assert!(index.add("1", "a b c d").unwrap().is_new());
        assert_eq!((index.remove("1").unwrap(), index.remove("1").unwrap()), (1, 0));
        assert_eq!(index.nearest("a b c d").unwrap(), None);
    }

    #[test]
    fn an_index_is_there_when_it_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seen");
        let index = options().open_or_create_index(&path).unwrap();
        assert!(index.add("1", "a b c d").unwrap().is_new());
        // Readers see what is there, and a second writer is refused.
        let reader = Index::open_read_only(&path).unwrap();
        assert!(reader.nearest("a b c d").unwrap().is_some());
        assert!(reader.add("2", "x").unwrap_err().to_string().contains("open for reading alone"));
        assert!(Index::open(&path).unwrap_err().to_string().contains("another process"));
        index.close().unwrap();
        let index = options().open_or_create_index(&path).unwrap();
        assert_eq!(index.add("2", "a b c d").unwrap(), duplicate_of("1", 1.0));
        drop(index);
        let other = options().threshold(0.9).open_or_create_index(&path).unwrap_err().to_string();
        assert!(other.contains("was made by another recipe"), "{other}");
        assert_eq!(Index::open(&path).unwrap().recipe().threshold, "0.7");
    }

    #[test]
    fn folders_and_options_that_will_not_do_are_refused_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine"), "").unwrap();
        let told = |result: Result<Index, Error>| result.unwrap_err().to_string();
        assert!(told(Index::create(folder.path())).contains("is not empty"));
        assert!(told(Index::open(folder.path())).contains("holds no index"));
        let new = folder.path().join("new");
        assert!(told(options().keep(Keep::Longest).create_index(&new)).contains("keeps the first"));
        assert!(told(options().memory(1 << 20).create_index(&new)).contains("--memory is too small"));
    }

    #[test]
    fn odd_texts_are_answered() {
        let folder = tempfile::tempdir().unwrap();
        let options = options().max_document_bytes(12 << 20);
        let index = options.create_index(folder.path().join("seen")).unwrap();
        assert!(index.add("empty", "").unwrap().is_new());
        assert!(index.add("also empty", " \u{0}…").unwrap().is_new());
        assert_eq!(index.nearest("").unwrap(), None);
        assert_eq!(index.add("", "a b").unwrap(), AddOutcome::Rejected(EMPTY_ID.to_owned()));
        let long: String = (0..1_500_000).map(|word| format!("w{} ", word % 70_000)).collect();
        assert!(index.add("long", &long).unwrap().is_new());
        assert_eq!(index.nearest(&long).unwrap().map(|found| found.id), Some("long".to_owned()));
        let too_long = "x".repeat((12 << 20) + 1);
        assert!(matches!(index.add("too long", &too_long).unwrap(), AddOutcome::Rejected(_)));
        assert!(matches!(index.query(&too_long, 1), Err(Error::Rejected(_))));
    }

    #[test]
    fn many_texts_at_once_are_decided_as_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let (all, single) = (folder.path().join("all"), folder.path().join("single"));
        let text = |n: u32| format!("w{} w{} w{} w{}", n % 5, n % 7, n % 7 + 10, n % 5 + 20);
        let documents: Vec<(String, String)> =
            (0..200).map(|n| (format!("d{}", n % 190), text(n))).chain([(String::new(), text(1))]).collect();
        let (all, single) = (options().create_index(all).unwrap(), options().create_index(single).unwrap());
        let together = all.add_all(documents.iter().map(|(id, text)| (id, text))).unwrap();
        let apart: Vec<AddOutcome> =
            documents.iter().map(|(id, text)| single.add(id, text).unwrap()).collect();
        assert_eq!(together, apart);
        assert!(apart.iter().any(AddOutcome::is_new) && apart.contains(&AddOutcome::IdTaken));
        let texts: Vec<&str> = documents.iter().map(|(_, text)| text.as_str()).collect();
        let answers = all.query_all(&texts, 3).unwrap();
        for (answer, text) in answers.into_iter().zip(texts) {
            assert_eq!(answer.unwrap(), single.query(text, 3).unwrap());
        }
        assert_eq!(all.add_all([] as [(&str, &str); 0]).unwrap(), []);
    }

    #[test]
    fn an_index_says_what_dedup_says() {
        let folder = tempfile::tempdir().unwrap();
        let texts: Vec<String> =
            (0..60u32).map(|n| format!("a{} b{} c{} d{} e", n % 4, n % 6, n % 3, n % 2)).collect();
        let found = options().dedup(&texts).unwrap();
        let index = new_index(&folder);
        for (position, text) in texts.iter().enumerate() {
            let outcome = index.add(&position.to_string(), text).unwrap();
            assert_eq!(outcome.is_new(), found.keeps(position), "{position}: {outcome:?}");
        }
    }

    #[test]
    fn more_threads_than_buffers_wait_their_turn() {
        let folder = tempfile::tempdir().unwrap();
        let index = &new_index(&folder);
        let new: usize = std::thread::scope(|scope| {
            let add = move |thread: usize| {
                let add = |n: usize| index.add(&format!("{thread}-{n}"), &format!("w{n} x{n}")).unwrap();
                let new = (0..20).filter(|&n| add(n).is_new()).count();
                index.query_all([format!("w{thread}")], 1).unwrap();
                new
            };
            let threads: Vec<_> = (0..6).map(|thread| scope.spawn(move || add(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        // Of equal texts that race, one is new.
        assert_eq!((new, index.stats().documents, index.stats().kept), (20, 120, 20));
        assert!(index.pool.lock().free.len() <= 2 && index.pool.lock().used == 0);
    }
}

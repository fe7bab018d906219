//! The writer of an index: one at a time, and every change is in the log before it is visible.
//!
//! Documents are examined and looked up by whoever adds them, on any number of threads. The writer looks only at what
//! came since then, decides, appends everything that waits as one frame of the log, and then lets all readers see it.
//!
//! A key takes up to `max_group` documents, then kept ones up to four times as many, then none. Beyond `max_group` it is common,
//! and of the documents that share only common keys with one few are its candidates (`candidates::MOST_COMMON`). Answers are
//! those of `pairs` within that, and a subset beyond; postings that were left out are counted.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lookalike_engine::examine::Examined;
use lookalike_engine::pipeline::HEAVY;

use crate::acknowledged::Acknowledged;
use crate::candidates::postings_of_common_key;
use crate::chunk::{Chunk, Posting, StoredDocument, id_key, word_key};
use crate::compactor::Compactor;
use crate::error::IndexError;
use crate::log::{self, Log};
use crate::part::Snapshot;
use crate::prepared::{Candidates, PreparedDocument};
use crate::query_buffers::{QueryBuffers, Subject};
use crate::row::{ABSENT, Change, MOST_DOCUMENTS, Row, State};
use crate::shared_state::SharedState;

/// A key that has reached the usual limit of postings gets no more removed documents, and at this many times the limit no more kept ones.
const KEPT_FACTOR: usize = 4;

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

/// The treatment of a document whose id is in the index already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnExistingId {
    /// With the same words it is the same document, and nothing changes; with other words it is refused.
    #[default]
    Refuse,
    /// With the same words it is the same document; with other words it replaces the old one.
    Replace,
    /// It is one more document, as in a corpus.
    Both,
}

/// The result of adding a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is in the index.
    Added {
        /// Its number.
        number: u32,
        /// Kept, or removed for a witness.
        state: State,
        /// True if the id was there with these words: nothing was added.
        known: bool,
    },
    /// Its id is there with other words.
    Conflict {
        /// The number of that document.
        number: u32,
    },
}

/// A request to the writer.
#[derive(Debug)]
pub(crate) enum WriteRequest {
    Add { documents: Vec<PreparedDocument>, on_existing: OnExistingId, mark: Option<Vec<u8>> },
    Remove { id: String },
}

impl WriteRequest {
    /// True if it has a document whose buffers are too large to be kept.
    fn is_large(&self) -> bool {
        match self {
            WriteRequest::Add { documents, .. } => {
                documents.iter().any(|prepared| prepared.text().len() >= HEAVY)
            }
            WriteRequest::Remove { .. } => false,
        }
    }
}

/// The result of a request.
#[derive(Debug)]
pub(crate) enum Outcome {
    Added(Vec<Verdict>),
    Removed(u64),
}

/// The writer of an open index.
#[derive(Debug)]
pub(crate) struct Writer {
    log: Log,
    generation: u64,
    writing: WriterOptions,
    buffers: QueryBuffers,
    compactor: Compactor,
    /// A write failed: what is in the log may not be what is in memory.
    broken: bool,
    /// Held as long as this lives.
    _lock: File,
}

impl Writer {
    pub(crate) fn new(
        inner: &SharedState,
        log: Log,
        generation: u64,
        writing: WriterOptions,
        compactor: Compactor,
        lock: File,
    ) -> Result<Self, IndexError> {
        let buffers = QueryBuffers::new(&inner.examiner, inner.text)?;
        Ok(Writer { log, generation, writing, buffers, compactor, broken: false, _lock: lock })
    }

    /// Carries out requests, one after the other, with one write.
    pub(crate) fn execute(
        &mut self,
        inner: &SharedState,
        requests: Vec<WriteRequest>,
    ) -> Result<Vec<Result<Outcome, IndexError>>, IndexError> {
        if self.broken {
            return Err(IndexError::Broken { folder: inner.layout.folder.clone() });
        }
        self.compactor.take_error()?;
        let large = requests.iter().any(WriteRequest::is_large);
        let mut transaction = Transaction::new(inner, &mut self.buffers);
        let outcomes = requests.into_iter().map(|request| transaction.execute_atomically(request)).collect();
        let Transaction { working, published, mark, partly_compared, .. } = transaction;
        let chunk = working.tail(published).map(Arc::unwrap_or_clone);
        let chunk = match (chunk, mark) {
            (Some(chunk), mark) => Some(Chunk { mark, ..chunk }),
            (None, Some(mark)) => {
                let chunk = Chunk::new(working.next, inner.layout.tables.count());
                Some(Chunk { mark: Some(mark), ..chunk })
            }
            (None, None) => None,
        };
        if large {
            self.buffers = QueryBuffers::new(&inner.examiner, inner.text)?;
        }
        if let Some(chunk) = chunk {
            self.broken = true;
            self.log.append(&chunk)?;
            self.broken = false;
            inner.partly_compared.fetch_add(partly_compared, Ordering::Relaxed);
            inner.publish(|snapshot| {
                snapshot.counts = working.counts;
                snapshot.push(chunk);
                // What was seen under way is never taken for what is seen later.
                snapshot.epoch = working.epoch;
            });
            self.flush_if_large(inner)?;
        }
        Ok(outcomes)
    }

    /// Lets the compactor put documents on disk when there are many in memory.
    fn flush_if_large(&mut self, inner: &SharedState) -> Result<(), IndexError> {
        let bytes = inner.now().tail_bytes();
        if bytes > 2 * self.writing.tail_bytes {
            // It is not fast enough: whoever adds must wait for it.
            self.compactor.wait_for_flush()?;
        }
        if bytes > self.writing.tail_bytes && !self.compactor.is_flushing() {
            self.freeze(inner)?;
        }
        Ok(())
    }

    /// Begins a new log, and hands what is in memory to the compactor.
    fn freeze(&mut self, inner: &SharedState) -> Result<(), IndexError> {
        if inner.now().parts.len() == inner.now().fixed {
            return Ok(());
        }
        // The next log must never survive a stop of the machine that this one does not.
        self.log.sync()?;
        let generation = self.generation + 1;
        let begins = Acknowledged { generation, end: 0, chain: log::initial_chain(generation) };
        let log = Log::open(&inner.layout.folder, begins, self.writing.sync)?;
        self.log = log;
        self.generation += 1;
        inner.publish(|snapshot| {
            snapshot.fixed = snapshot.parts.len();
            snapshot.frozen_counts = snapshot.counts;
        });
        self.compactor.flush(self.generation)
    }

    pub(crate) fn flush(&mut self, inner: &SharedState) -> Result<(), IndexError> {
        self.compactor.wait_for_flush()?;
        self.freeze(inner)?;
        self.compactor.wait()
    }

    pub(crate) fn compact(&mut self, inner: &SharedState) -> Result<(), IndexError> {
        self.flush(inner)?;
        self.compactor.compact()
    }

    pub(crate) fn close(mut self) -> Result<(), IndexError> {
        self.log.sync()?;
        self.compactor.wait()
    }
}

/// A change in progress: a working snapshot that no reader sees yet.
struct Transaction<'c> {
    inner: &'c SharedState,
    buffers: &'c mut QueryBuffers,
    working: Snapshot,
    /// The number of parts that readers see.
    published: usize,
    mark: Option<Vec<u8>>,
    /// Kept documents of which candidates were left out.
    partly_compared: u64,
}

impl<'c> Transaction<'c> {
    fn new(inner: &'c SharedState, buffers: &'c mut QueryBuffers) -> Self {
        let mut working = Snapshot::clone(&inner.now());
        working.fixed = working.parts.len();
        Transaction { inner, buffers, published: working.fixed, working, mark: None, partly_compared: 0 }
    }

    /// Carries out a request, or leaves all as it was.
    fn execute_atomically(&mut self, request: WriteRequest) -> Result<Outcome, IndexError> {
        let before = (self.working.clone(), self.partly_compared);
        self.execute(request).inspect_err(|_| {
            (self.working, self.partly_compared) = before;
            self.buffers.rows.clear();
            self.buffers.texts.clear();
        })
    }

    fn execute(&mut self, request: WriteRequest) -> Result<Outcome, IndexError> {
        match request {
            WriteRequest::Add { documents, on_existing, mark } => {
                let add = |prepared| self.add(prepared, on_existing);
                let verdicts = documents.into_iter().map(add).collect::<Result<_, _>>()?;
                if mark.is_some() {
                    self.mark = mark;
                }
                Ok(Outcome::Added(verdicts))
            }
            WriteRequest::Remove { id } => {
                let numbers = self.live(&id)?;
                numbers.iter().try_for_each(|&(number, _)| self.remove(number))?;
                Ok(Outcome::Removed(numbers.len() as u64))
            }
        }
    }

    /// The documents of an id that are there.
    fn live(&mut self, id: &str) -> Result<Vec<(u32, Row)>, IndexError> {
        self.working.of_id(&self.inner.layout.tables, id, &mut self.buffers.blocks)
    }

    fn add(
        &mut self,
        mut prepared: PreparedDocument,
        on_existing: OnExistingId,
    ) -> Result<Verdict, IndexError> {
        if on_existing != OnExistingId::Both {
            let there = self.live(&prepared.id)?;
            let same = there.iter().find(|(_, row)| row.digest == prepared.examined.digest);
            if let Some(&(number, row)) = same {
                return Ok(Verdict::Added { number, state: row.state, known: true });
            }
            match there.first() {
                Some(&(number, _)) if on_existing == OnExistingId::Refuse => {
                    return Ok(Verdict::Conflict { number });
                }
                _ => there.iter().try_for_each(|&(number, _)| self.remove(number))?,
            }
        }
        if self.working.next >= MOST_DOCUMENTS {
            return Err(IndexError::Request(
                "the index is full: it holds four thousand million documents; begin another one".to_owned(),
            ));
        }
        let mut candidates = self.candidates(&mut prepared)?;
        let PreparedDocument { id, url, examined, body, .. } = prepared;
        let state = self.decide(&examined, &mut candidates)?;
        if state == State::Kept && candidates.left_out > 0 {
            self.partly_compared += 1;
        }
        let number = self.working.next;
        self.append(DecidedDocument { id, url, examined, body, candidates, state })?;
        Ok(Verdict::Added { number, state, known: false })
    }

    /// Returns the candidates of a document, with those that came since it was looked up.
    fn candidates(&mut self, prepared: &mut PreparedDocument) -> Result<Candidates, IndexError> {
        let mut query = self.inner.query(&self.working, self.buffers);
        match prepared.candidates.take().filter(|candidates| candidates.epoch == self.working.epoch) {
            Some(mut candidates) => {
                query.find_since(&prepared.examined, &mut candidates)?;
                Ok(candidates)
            }
            None => query.find(&prepared.examined),
        }
    }

    fn decide(&mut self, examined: &Examined, candidates: &mut Candidates) -> Result<State, IndexError> {
        if examined.words == 0 {
            return Ok(State::Kept);
        }
        let mut query = self.inner.query(&self.working, self.buffers);
        // Of documents with equal words the first is the one that methods see.
        let first = match candidates.leader {
            Some(leader) if !self.inner.examiner.goes_by_words() => query.examined(leader)?,
            _ => None,
        };
        let Some(first) = first else { return query.decide(&mut Subject::new(examined), candidates) };
        let leader = candidates.leader;
        let mut of_first = Candidates { leader, epoch: candidates.epoch, ..Candidates::default() };
        query.find_since(&first, &mut of_first)?;
        candidates.left_out = of_first.left_out;
        query.decide(&mut Subject::new(&first), &mut of_first)
    }

    /// Puts a decided document behind all others.
    fn append(&mut self, document: DecidedDocument) -> Result<(), IndexError> {
        let DecidedDocument { id, url, examined, body, candidates, state } = document;
        let number = self.working.next;
        let leader = candidates.leader.unwrap_or(number);
        let leads = leader == number;
        let has_words = examined.words > 0;
        let tables = &self.inner.layout.tables;
        let mut chunk = Chunk::new(number, tables.count());
        if leads && has_words {
            self.put_keys(&examined, &candidates, state, &mut chunk);
            chunk.tables[tables.words()].push((word_key(examined.digest), number, 0));
        }
        chunk.tables[tables.ids()].push((id_key(&id), number, 0));
        if !leads {
            chunk.tables[tables.members()].push((leader.into(), number, 0));
            self.note_witness(leader, state, &mut chunk)?;
        }
        if let State::Removed { witness, .. } = state {
            chunk.tables[tables.dependents()].push((witness.into(), number, 0));
        } else if !leads && has_words {
            chunk.tables[tables.heads()].push((leader.into(), number, 0));
        }
        let row = Row {
            words: examined.words,
            text: examined.text.len() as u32,
            digest: examined.digest,
            leader,
            state,
            names: 0,
            id: id.len() as u32,
            url: url.as_ref().map_or(ABSENT, |url| url.len() as u32),
            body: 0,
            body_bytes: body.len() as u32,
            record: if leads { 0 } else { ABSENT },
        };
        let record = if leads { examined.record } else { Vec::new() };
        chunk.documents.push(Arc::new(StoredDocument { row, id, url, record, body }));
        let counts = &mut self.working.counts;
        counts.left_out += u64::from(chunk.left_out);
        counts.added += 1;
        counts.classes += u64::from(leads && has_words);
        counts.count(state, 1);
        self.working.push(chunk.with_byte_count());
        Ok(())
    }

    /// Adds the postings of a document, except for keys that have too many.
    fn put_keys(&mut self, examined: &Examined, candidates: &Candidates, state: State, chunk: &mut Chunk) {
        let number = self.working.next;
        for (place, method) in self.inner.examiner.methods().enumerate() {
            let limit = postings_of_common_key(&self.inner.examiner, method);
            let counted = candidates.postings.get(place).into_iter().flatten().chain(std::iter::repeat(&0));
            for (key, &postings) in examined.keys[place].iter().zip(counted) {
                let allowed = if state == State::Kept { limit.saturating_mul(KEPT_FACTOR) } else { limit };
                if (postings as usize) < allowed {
                    chunk.tables[place].push((key.value, number, key.tag));
                } else {
                    chunk.left_out += 1;
                }
            }
        }
    }

    /// Remembers the witness of a document where the first one with its words has another.
    fn note_witness(&mut self, leader: u32, state: State, chunk: &mut Chunk) -> Result<(), IndexError> {
        let State::Removed { witness, .. } = state else { return Ok(()) };
        let blocks = &mut self.buffers.blocks;
        let table = self.inner.layout.tables.witnesses();
        let of_first = self.working.row(leader, blocks)?.state;
        let same = matches!(of_first, State::Removed { witness: other, .. } if other == witness);
        if !same
            && witness != leader
            && !self.working.lookup(table, leader.into(), blocks)?.contains(&witness)
        {
            chunk.tables[table].push((leader.into(), witness, 0));
        }
        Ok(())
    }

    /// Deletes a document. Those that had it as witness are decided anew, in their order.
    fn remove(&mut self, number: u32) -> Result<(), IndexError> {
        let tables = &self.inner.layout.tables;
        let row = self.working.row(number, &mut self.buffers.blocks)?;
        let mut others = vec![row.leader];
        others.extend(self.working.lookup(tables.members(), row.leader.into(), &mut self.buffers.blocks)?);
        let mut alone = true;
        for &other in others.iter().filter(|&&other| other != number) {
            alone &= !self.working.row(other, &mut self.buffers.blocks)?.state.is_live();
        }
        let leads = row.leader == number;
        self.change(number, if leads && !alone { State::DeletedLeader } else { State::Deleted }, Vec::new())?;
        if !leads
            && alone
            && self.working.row(row.leader, &mut self.buffers.blocks)?.state == State::DeletedLeader
        {
            self.change(row.leader, State::Deleted, Vec::new())?;
        }
        for dependent in self.working.lookup(tables.dependents(), number.into(), &mut self.buffers.blocks)? {
            let row = self.working.row(dependent, &mut self.buffers.blocks)?;
            if matches!(row.state, State::Removed { witness, .. } if witness == number) {
                self.decide_again(dependent, &row)?;
            }
        }
        Ok(())
    }

    /// Decides a document whose witness is gone.
    fn decide_again(&mut self, number: u32, row: &Row) -> Result<(), IndexError> {
        let tables = &self.inner.layout.tables;
        let mut query = self.inner.query(&self.working, self.buffers);
        let examined = query.examined(number)?;
        let state = match &examined {
            Some(examined) => {
                let mut candidates = query.find(examined)?;
                candidates.leader = Some(row.leader);
                candidates.classes.retain(|candidate| candidate.class != row.leader);
                query.decide(&mut Subject::new(examined), &mut candidates)?
            }
            // Without its text nobody can say what else it is near: it stands for itself.
            None => match query.kept(row.leader)? {
                Some(witness) => State::Removed { witness, similarity: Some(1.0) },
                None => State::Kept,
            },
        };
        let mut postings = Vec::new();
        match state {
            State::Removed { witness, .. } => {
                postings.push((tables.dependents(), (witness.into(), number, 0)))
            }
            _ if row.leader != number => postings.push((tables.heads(), (row.leader.into(), number, 0))),
            _ => {}
        }
        self.change(number, state, postings)
    }

    /// Gives a document another state.
    fn change(
        &mut self,
        number: u32,
        state: State,
        postings: Vec<(usize, Posting)>,
    ) -> Result<(), IndexError> {
        let before = self.working.row(number, &mut self.buffers.blocks)?.state;
        self.working.counts.count(before, -1);
        self.working.counts.count(state, 1);
        let mut chunk = Chunk::new(self.working.next, self.inner.layout.tables.count());
        for (table, posting) in postings {
            chunk.tables[table].push(posting);
        }
        chunk.changes.push(Change { number, state });
        self.working.push(chunk.with_byte_count());
        Ok(())
    }
}

/// A document that was decided.
struct DecidedDocument {
    id: String,
    url: Option<String>,
    examined: Examined,
    body: Vec<u8>,
    candidates: Candidates,
    state: State,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SmallIndex, recipe, removed};
    use lookalike_engine::JobRecipe;

    fn added(number: u32, state: State) -> Verdict {
        Verdict::Added { number, state, known: false }
    }

    fn equal_to(witness: u32) -> State {
        State::Removed { witness, similarity: Some(1.0) }
    }

    fn log_bytes(small: &SmallIndex) -> u64 {
        std::fs::metadata(log::path(small.path(), 0)).unwrap().len()
    }

    #[test]
    fn an_id_with_the_same_words_is_the_same_document() {
        for on_existing in [OnExistingId::Refuse, OnExistingId::Replace] {
            let mut small = SmallIndex::of(&["a b c"]);
            let bytes = log_bytes(&small);
            let known = Verdict::Added { number: 0, state: State::Kept, known: true };
            assert_eq!(small.verdict("d0", "A, b, c", on_existing), known);
            assert_eq!((small.index.next(), log_bytes(&small)), (1, bytes), "nothing was written");
        }
        let mut small = SmallIndex::of(&["a b c"]);
        assert_eq!(small.verdict("d0", "a b c", OnExistingId::Both), added(1, equal_to(0)));
    }

    #[test]
    fn an_id_with_other_words_is_refused_replaced_or_added() {
        let verdict = |on_existing| {
            let mut small = SmallIndex::of(&["a b c", "x y z"]);
            let verdict = small.verdict("d0", "u v w", on_existing);
            (verdict, small.state(0), small.index.stats().documents)
        };
        assert_eq!(verdict(OnExistingId::Refuse), (Verdict::Conflict { number: 0 }, State::Kept, 2));
        assert_eq!(verdict(OnExistingId::Replace), (added(2, State::Kept), State::Deleted, 2));
        assert_eq!(verdict(OnExistingId::Both), (added(2, State::Kept), State::Kept, 3));
        assert_eq!(OnExistingId::default(), OnExistingId::Refuse);
    }

    #[test]
    fn a_replaced_document_is_not_the_witness_of_the_one_that_replaces_it() {
        let mut small = SmallIndex::of(&["a b c d e"]);
        assert_eq!(small.verdict("d0", "a b c d f", OnExistingId::Replace), added(1, State::Kept));
    }

    #[test]
    fn documents_of_one_request_are_decided_one_after_another() {
        let mut small = SmallIndex::new();
        let documents = ["a b c d e", "a b c d e", "a b c d f", "x"];
        let documents = documents.iter().enumerate();
        let documents = documents.map(|(number, text)| small.prepared(&format!("d{number}"), text)).collect();
        let verdicts = small.index.add(documents, OnExistingId::Refuse).unwrap();
        let near = State::Removed { witness: 0, similarity: Some(4.0 / 6.0) };
        let expected = [added(0, State::Kept), added(1, equal_to(0)), added(2, near), added(3, State::Kept)];
        assert_eq!(verdicts, expected);
        assert!(small.faults().is_empty());
    }

    #[test]
    fn a_request_of_nothing_writes_nothing() {
        let small = SmallIndex::of(&["a b c"]);
        let bytes = log_bytes(&small);
        assert!(small.index.add(Vec::new(), OnExistingId::Refuse).unwrap().is_empty());
        assert_eq!(small.index.remove("d9").unwrap(), 0);
        assert_eq!(log_bytes(&small), bytes);
    }

    #[test]
    fn documents_without_words_are_kept_and_no_class() {
        let mut small = SmallIndex::new();
        assert_eq!((small.add("d0", "..."), small.add("d1", "")), (State::Kept, State::Kept));
        assert_eq!(small.index.stats().classes, 0);
        assert_eq!(small.index.remove("d0").unwrap(), 1);
        assert_eq!((small.state(0), small.state(1)), (State::Deleted, State::Kept));
        assert!(small.faults().is_empty());
    }

    #[test]
    fn all_documents_of_an_id_are_deleted() {
        let mut small = SmallIndex::of(&["a b c", "x y z"]);
        small.add("d0", "u v w");
        assert_eq!((small.index.remove("d0").unwrap(), small.index.remove("d0").unwrap()), (2, 0));
        assert_eq!(
            [0, 1, 2].map(|number| small.state(number)),
            [State::Deleted, State::Kept, State::Deleted]
        );
    }

    #[test]
    fn documents_whose_witness_is_deleted_are_decided_anew_in_their_order() {
        let mut small = SmallIndex::of(&["a b c d e", "a b c d f", "a b c d g", "b c d e h"]);
        let near = |witness| State::Removed { witness, similarity: Some(4.0 / 6.0) };
        assert_eq!([1, 2, 3].map(|number| small.state(number)), [near(0), near(0), near(0)]);
        small.index.remove("d0").unwrap();
        // The first of them is kept, the second is near it, the third has three words of seven in common with both.
        let states = [0, 1, 2, 3].map(|number| small.state(number));
        assert_eq!(states, [State::Deleted, State::Kept, near(1), State::Kept]);
        assert!(small.faults().is_empty());
        assert_eq!((small.index.stats().kept, small.index.stats().removed), (2, 1));
    }

    #[test]
    fn without_texts_documents_whose_witness_is_deleted_are_kept() {
        let mut small = SmallIndex::with(recipe(), false);
        for (id, text) in [("d0", "a b c d e"), ("d1", "a b c d f"), ("d2", "a b c d g"), ("d3", "a b c d f")]
        {
            small.add(id, text);
        }
        assert_eq!(small.state(3), State::Removed { witness: 0, similarity: Some(4.0 / 6.0) });
        small.index.remove("d0").unwrap();
        let states = [1, 2, 3].map(|number| small.state(number));
        assert_eq!(states, [State::Kept, State::Kept, equal_to(1)], "equal words are known without texts");
    }

    #[test]
    fn a_deleted_leader_remains_as_long_as_others_have_its_words() {
        let mut small = SmallIndex::of(&["a b c", "a b c", "a b c"]);
        small.index.remove("d0").unwrap();
        assert_eq!(
            [0, 1, 2].map(|number| small.state(number)),
            [State::DeletedLeader, State::Kept, equal_to(1)]
        );
        small.index.remove("d1").unwrap();
        assert_eq!(
            [0, 1, 2].map(|number| small.state(number)),
            [State::DeletedLeader, State::Deleted, State::Kept]
        );
        small.index.remove("d2").unwrap();
        assert_eq!([0, 1, 2].map(|number| small.state(number)), [State::Deleted; 3]);
        assert_eq!(small.add("d3", "a b c"), State::Kept);
        assert!(small.faults().is_empty());
    }

    #[test]
    fn a_key_gets_more_postings_of_kept_documents_than_of_removed_ones() {
        let mut small = SmallIndex::with(JobRecipe { max_group: 1, ..recipe() }, true);
        let keys = |small: &mut SmallIndex, text| small.prepared("x", text).examined.keys[0].clone();
        let (one, two) = (keys(&mut small, "a b c d e"), keys(&mut small, "a b c d f"));
        let shared = two.iter().filter(|key| one.contains(key)).count() as u64;
        small.add("d0", "a b c d e");
        assert_eq!(small.index.stats().postings_left_out, 0);
        assert!(matches!(small.add("d1", "a b c d f"), State::Removed { .. }));
        assert_eq!(small.index.stats().postings_left_out, shared);
        assert!(shared > 0 && small.faults().is_empty());
        // Too far from all to be removed, with keys that they have.
        let three = keys(&mut small, "a b g h i j k l");
        assert!(three.iter().any(|key| one.contains(key)));
        assert_eq!(small.add("d2", "a b g h i j k l"), State::Kept);
        assert_eq!(small.index.stats().postings_left_out, shared);
    }

    #[test]
    fn another_witness_than_that_of_the_first_with_equal_words_is_noted() {
        let mut small = SmallIndex::of(&["a b c d", "a b c d"]);
        let inner = &small.index.inner;
        let mut transaction = Transaction::new(inner, &mut small.buffers);
        let mut noted = |leader, state| {
            let mut chunk = Chunk::new(2, inner.layout.tables.count());
            transaction.note_witness(leader, state, &mut chunk).unwrap();
            chunk.tables[inner.layout.tables.witnesses()].clone()
        };
        assert!(noted(0, State::Kept).is_empty());
        assert!(noted(0, removed(0)).is_empty(), "it is the first itself");
        assert!(noted(1, removed(0)).is_empty(), "the first has the same");
        assert_eq!(noted(0, removed(7)), [(0, 7, 0)]);
    }

    #[test]
    fn a_request_that_fails_leaves_all_as_it_was() {
        let mut small = SmallIndex::new();
        small.index.inner.publish(|snapshot| snapshot.next = MOST_DOCUMENTS - 1);
        let bytes = log_bytes(&small);
        let documents = vec![small.prepared("d0", "a b c"), small.prepared("d1", "x y z")];
        let sentence = small.index.add(documents, OnExistingId::Both).unwrap_err().to_string();
        let wanted = "the index is full: it holds four thousand million documents; begin another one";
        assert_eq!(sentence, wanted);
        assert_eq!((small.index.next(), small.index.stats().documents), (MOST_DOCUMENTS - 1, 0));
        assert_eq!(log_bytes(&small), bytes);
        assert_eq!(small.add("d0", "a b c"), State::Kept, "there is room for one");
    }

    #[test]
    fn requests_are_carried_out_together_and_fail_alone() {
        let mut small = SmallIndex::new();
        small.index.inner.publish(|snapshot| snapshot.next = MOST_DOCUMENTS - 1);
        let add = |small: &mut SmallIndex, id: &str, text: &str| WriteRequest::Add {
            documents: vec![small.prepared(id, text)],
            on_existing: OnExistingId::Refuse,
            mark: None,
        };
        let requests = vec![
            add(&mut small, "d0", "a b c"),
            add(&mut small, "d1", "x y z"),
            WriteRequest::Remove { id: "d0".to_owned() },
        ];
        let mut writer = writer(&small);
        let outcomes = writer.execute(&small.index.inner, requests).unwrap();
        assert!(matches!(&outcomes[0], Ok(Outcome::Added(verdicts)) if verdicts.len() == 1), "{outcomes:?}");
        assert!(matches!(&outcomes[1], Err(IndexError::Request(_))), "{outcomes:?}");
        assert!(matches!(&outcomes[2], Ok(Outcome::Removed(1))), "{outcomes:?}");
    }

    /// A second writer of an index, which the first does not know of.
    fn writer(small: &SmallIndex) -> Writer {
        let inner = &small.index.inner;
        let at = Acknowledged { generation: 0, end: 0, chain: log::initial_chain(0) };
        let log = Log::open(small.path(), at, false).unwrap();
        let lock = File::create(small.path().join("second lock")).unwrap();
        let writing = WriterOptions { sync: false, tail_bytes: 1 << 20 };
        Writer::new(inner, log, 0, writing, Compactor::new(inner.clone()), lock).unwrap()
    }

    #[test]
    fn a_writer_whose_write_failed_refuses_all_others() {
        let small = SmallIndex::new();
        let mut writer = writer(&small);
        assert!(writer.execute(&small.index.inner, Vec::new()).is_ok());
        writer.broken = true;
        let sentence = writer.execute(&small.index.inner, Vec::new()).unwrap_err().to_string();
        let wanted = format!(
            "an earlier write to {} failed; open the index again, it goes on with what was acknowledged",
            small.path().display()
        );
        assert_eq!(sentence, wanted);
    }

    #[test]
    fn many_bytes_in_memory_are_put_on_disk_without_being_told() {
        let mut small = SmallIndex::new();
        let mut writer = writer(&small);
        writer.writing.tail_bytes = 1;
        let documents = vec![small.prepared("d0", "a b c")];
        let request = WriteRequest::Add { documents, on_existing: OnExistingId::Refuse, mark: None };
        writer.execute(&small.index.inner, vec![request]).unwrap();
        writer.compactor.wait().unwrap();
        assert_eq!((writer.generation, small.index.stats().segments), (1, 1));
        writer.freeze(&small.index.inner).unwrap();
        assert_eq!(writer.generation, 1, "there is nothing that grows");
    }
}

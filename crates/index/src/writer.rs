//! The writer of an index: one at a time, and every change is in the log before it is visible.
//!
//! Documents are examined and looked up by whoever adds them, on any number of threads. The writer looks only at what
//! came since then, decides, appends everything that waits as one frame of the log, and then lets all readers see it.
//!
//! A key takes up to `max_group` documents, then kept ones up to four times as many, then none. Answers are those of
//! `pairs` within that, and a subset beyond; what was left out is counted.

use std::fs::File;
use std::sync::Arc;

use lookalike_engine::examine::Examined;
use lookalike_text::hash;

use crate::acknowledged::Acknowledged;
use crate::candidates::{Candidates, word_key};
use crate::chunk::{Chunk, Posting, StoredDocument};
use crate::compactor::Compactor;
use crate::error::IndexError;
use crate::index::{Index, SharedState, WriterOptions};
use crate::log::{self, Log};
use crate::part::Snapshot;
use crate::query_buffers::{PreparedDocument, QueryBuffers, Subject};
use crate::row::{ABSENT, Change, MOST_DOCUMENTS, Row, State};

/// A key that has reached the usual limit of postings gets no more removed documents, and at this many times the limit no more kept ones.
const KEPT_FACTOR: usize = 4;

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

/// The result of a request.
#[derive(Debug)]
pub(crate) enum Outcome {
    Added(Vec<Verdict>),
    Removed(u64),
}

impl Index {
    /// Queries and adds documents, in one step: of two equal ones that race, one is new.
    ///
    /// When this returns, they survive the end of the process, and with [`WriterOptions::sync`] that of the machine.
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
        let mut transaction = Transaction::new(inner, &mut self.buffers);
        let outcomes = requests.into_iter().map(|request| transaction.execute_atomically(request)).collect();
        let Transaction { working, published, mark, .. } = transaction;
        let chunk = working.tail(published).map(Arc::unwrap_or_clone);
        let chunk = match (chunk, mark) {
            (Some(chunk), mark) => Some(Chunk { mark, ..chunk }),
            (None, Some(mark)) => {
                let chunk = Chunk::new(working.next, inner.layout.tables.count());
                Some(Chunk { mark: Some(mark), ..chunk })
            }
            (None, None) => None,
        };
        if let Some(chunk) = chunk {
            self.broken = true;
            self.log.append(&chunk)?;
            self.broken = false;
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
}

impl<'c> Transaction<'c> {
    fn new(inner: &'c SharedState, buffers: &'c mut QueryBuffers) -> Self {
        let mut working = Snapshot::clone(&inner.now());
        working.fixed = working.parts.len();
        Transaction { inner, buffers, published: working.fixed, working, mark: None }
    }

    /// Carries out a request, or leaves all as it was.
    fn execute_atomically(&mut self, request: WriteRequest) -> Result<Outcome, IndexError> {
        let before = self.working.clone();
        self.execute(request).inspect_err(|_| {
            self.working = before;
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
            let limit = self.inner.examiner.recipe().max_group.max(method.least_group());
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

/// The key that an id is found by.
pub(crate) fn id_key(id: &str) -> u64 {
    hash::digest(id.as_bytes()) as u64
}

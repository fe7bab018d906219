//! The writer of an index: one at a time, and every change is in the log before it is visible.

use std::fs::File;
use std::sync::Arc;

use lookalike_engine::examine::Examined;
use lookalike_text::hash;

use crate::acknowledged::Acknowledged;
use crate::chunk::{Chunk, Posting, Stored};
use crate::desk::{Desk, Prepared, Subject};
use crate::error::IndexError;
use crate::index::{Index, Inner, Writing};
use crate::keeper::Keeper;
use crate::log::{self, Log};
use crate::near::{Found, word_key};
use crate::part::Snapshot;
use crate::row::{Change, MOST_DOCUMENTS, NOBODY, Row, State};

/// A key that has reached the usual limit of postings gets no more removed documents, and at this many times the limit no more kept ones.
const KEPT_ONES: usize = 4;

/// The treatment of a document whose id is in the index already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Known {
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
pub(crate) enum Order {
    Add { documents: Vec<Prepared>, known: Known, mark: Option<Vec<u8>> },
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
    /// When this returns, they survive the end of the process, and with [`Writing::sync`] that of the machine.
    pub fn add(&self, documents: Vec<Prepared>, known: Known) -> Result<Vec<Verdict>, IndexError> {
        self.add_marked(documents, known, None)
    }

    /// As [`Index::add`]; `mark` is stored with the documents, and [`Index::mark`] returns it after a stop.
    pub fn add_marked(
        &self,
        documents: Vec<Prepared>,
        known: Known,
        mark: Option<Vec<u8>>,
    ) -> Result<Vec<Verdict>, IndexError> {
        match self.submit(Order::Add { documents, known, mark })? {
            Outcome::Added(verdicts) => Ok(verdicts),
            Outcome::Removed(_) => Ok(Vec::new()),
        }
    }

    /// Deletes all documents of an id; returns their number. Documents that had one of them as witness are decided anew.
    pub fn remove(&self, id: &str) -> Result<u64, IndexError> {
        match self.submit(Order::Remove { id: id.to_owned() })? {
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
    writing: Writing,
    desk: Desk,
    keeper: Keeper,
    /// A write failed: what is in the log may not be what is in memory.
    broken: bool,
    /// Held as long as this lives.
    _lock: File,
}

impl Writer {
    pub(crate) fn new(
        inner: &Inner,
        log: Log,
        generation: u64,
        writing: Writing,
        keeper: Keeper,
        lock: File,
    ) -> Result<Self, IndexError> {
        let desk = Desk::new(&inner.examiner, inner.text)?;
        Ok(Writer { log, generation, writing, desk, keeper, broken: false, _lock: lock })
    }

    /// Carries out orders, one after the other, with one write.
    pub(crate) fn carry_out(
        &mut self,
        inner: &Inner,
        orders: Vec<Order>,
    ) -> Result<Vec<Result<Outcome, IndexError>>, IndexError> {
        if self.broken {
            return Err(IndexError::Broken { folder: inner.home.folder.clone() });
        }
        self.keeper.trouble()?;
        let mut change = Changing::new(inner, &mut self.desk);
        let outcomes = orders.into_iter().map(|order| change.whole(order)).collect();
        let Changing { working, published, mark, .. } = change;
        let chunk = working.tail(published).map(Arc::unwrap_or_clone);
        let chunk = match (chunk, mark) {
            (Some(chunk), mark) => Some(Chunk { mark, ..chunk }),
            (None, Some(mark)) => {
                let chunk = Chunk::new(working.next, inner.home.tables.count());
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
            self.tidy(inner)?;
        }
        Ok(outcomes)
    }

    /// Lets the keeper put documents on disk when there are many in memory.
    fn tidy(&mut self, inner: &Inner) -> Result<(), IndexError> {
        let bytes = inner.now().tail_bytes();
        if bytes > 2 * self.writing.tail_bytes {
            // It is not fast enough: whoever adds must wait for it.
            self.keeper.wait_for_flush()?;
        }
        if bytes > self.writing.tail_bytes && !self.keeper.flushes() {
            self.freeze(inner)?;
        }
        Ok(())
    }

    /// Begins a new log, and hands what is in memory to the keeper.
    fn freeze(&mut self, inner: &Inner) -> Result<(), IndexError> {
        if inner.now().parts.len() == inner.now().fixed {
            return Ok(());
        }
        // The next log must never survive a stop of the machine that this one does not.
        self.log.sync()?;
        let generation = self.generation + 1;
        let begins = Acknowledged { generation, end: 0, chain: log::first_of(generation) };
        let log = Log::open(&inner.home.folder, begins, self.writing.sync)?;
        self.log = log;
        self.generation += 1;
        inner.publish(|snapshot| {
            snapshot.fixed = snapshot.parts.len();
            snapshot.frozen_counts = snapshot.counts;
        });
        self.keeper.flush(self.generation)
    }

    pub(crate) fn flush(&mut self, inner: &Inner) -> Result<(), IndexError> {
        self.keeper.wait_for_flush()?;
        self.freeze(inner)?;
        self.keeper.wait()
    }

    pub(crate) fn compact(&mut self, inner: &Inner) -> Result<(), IndexError> {
        self.flush(inner)?;
        self.keeper.compact()
    }

    pub(crate) fn close(mut self) -> Result<(), IndexError> {
        self.log.sync()?;
        self.keeper.wait()
    }
}

/// A change in progress: a working snapshot that no reader sees yet.
struct Changing<'c> {
    inner: &'c Inner,
    desk: &'c mut Desk,
    working: Snapshot,
    /// The number of parts that readers see.
    published: usize,
    mark: Option<Vec<u8>>,
}

impl<'c> Changing<'c> {
    fn new(inner: &'c Inner, desk: &'c mut Desk) -> Self {
        let mut working = Snapshot::clone(&inner.now());
        working.fixed = working.parts.len();
        Changing { inner, desk, published: working.fixed, working, mark: None }
    }

    /// Carries out an order, or leaves all as it was.
    fn whole(&mut self, order: Order) -> Result<Outcome, IndexError> {
        let before = self.working.clone();
        self.carry_out(order).inspect_err(|_| {
            self.working = before;
            self.desk.sights.clear();
            self.desk.sets.clear();
        })
    }

    fn carry_out(&mut self, order: Order) -> Result<Outcome, IndexError> {
        match order {
            Order::Add { documents, known, mark } => {
                let add = |prepared| self.add(prepared, known);
                let verdicts = documents.into_iter().map(add).collect::<Result<_, _>>()?;
                if mark.is_some() {
                    self.mark = mark;
                }
                Ok(Outcome::Added(verdicts))
            }
            Order::Remove { id } => {
                let numbers = self.live(&id)?;
                numbers.iter().try_for_each(|&(number, _)| self.remove(number))?;
                Ok(Outcome::Removed(numbers.len() as u64))
            }
        }
    }

    /// The documents of an id that are there.
    fn live(&mut self, id: &str) -> Result<Vec<(u32, Row)>, IndexError> {
        self.working.of_id(&self.inner.home.tables, id, &mut self.desk.room)
    }

    fn add(&mut self, mut prepared: Prepared, known: Known) -> Result<Verdict, IndexError> {
        if known != Known::Both {
            let there = self.live(&prepared.id)?;
            let same = there.iter().find(|(_, row)| row.digest == prepared.examined.digest);
            if let Some(&(number, row)) = same {
                return Ok(Verdict::Added { number, state: row.state, known: true });
            }
            match there.first() {
                Some(&(number, _)) if known == Known::Refuse => return Ok(Verdict::Conflict { number }),
                _ => there.iter().try_for_each(|&(number, _)| self.remove(number))?,
            }
        }
        if self.working.next >= MOST_DOCUMENTS {
            return Err(IndexError::Request(
                "the index is full: it holds four thousand million documents; begin another one".to_owned(),
            ));
        }
        let mut found = self.found(&mut prepared)?;
        let Prepared { id, url, examined, body, .. } = prepared;
        let state = self.decide(&examined, &mut found)?;
        let number = self.working.next;
        self.append(Arriving { id, url, examined, body, found, state })?;
        Ok(Verdict::Added { number, state, known: false })
    }

    /// Returns the candidates of a document, with those that came since it was looked up.
    fn found(&mut self, prepared: &mut Prepared) -> Result<Found, IndexError> {
        let mut asker = self.inner.asker(&self.working, self.desk);
        match prepared.found.take().filter(|found| found.epoch == self.working.epoch) {
            Some(mut found) => {
                asker.find_since(&prepared.examined, &mut found)?;
                Ok(found)
            }
            None => asker.find(&prepared.examined),
        }
    }

    fn decide(&mut self, examined: &Examined, found: &mut Found) -> Result<State, IndexError> {
        if examined.words == 0 {
            return Ok(State::Kept);
        }
        let mut asker = self.inner.asker(&self.working, self.desk);
        // Of documents with equal words the first is the one that methods see.
        let first = match found.leader {
            Some(leader) if !self.inner.examiner.goes_by_words() => asker.examined(leader)?,
            _ => None,
        };
        let Some(first) = first else { return asker.decide(&mut Subject::new(examined), found) };
        let leader = found.leader;
        let mut of_first = Found { leader, epoch: found.epoch, ..Found::default() };
        asker.find_since(&first, &mut of_first)?;
        asker.decide(&mut Subject::new(&first), &mut of_first)
    }

    /// Puts a decided document behind all others.
    fn append(&mut self, arriving: Arriving) -> Result<(), IndexError> {
        let Arriving { id, url, examined, body, found, state } = arriving;
        let number = self.working.next;
        let leader = found.leader.unwrap_or(number);
        let leads = leader == number;
        let has_words = examined.words > 0;
        let tables = &self.inner.home.tables;
        let mut chunk = Chunk::new(number, tables.count());
        if leads && has_words {
            self.put_keys(&examined, &found, state, &mut chunk);
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
            url: url.as_ref().map_or(NOBODY, |url| url.len() as u32),
            body: 0,
            body_bytes: body.len() as u32,
            record: if leads { 0 } else { NOBODY },
        };
        let record = if leads { examined.record } else { Vec::new() };
        chunk.documents.push(Arc::new(Stored { row, id, url, record, body }));
        let counts = &mut self.working.counts;
        counts.left_out += u64::from(chunk.left_out);
        counts.added += 1;
        counts.classes += u64::from(leads && has_words);
        counts.count(state, 1);
        self.working.push(chunk.weighed());
        Ok(())
    }

    /// Adds the postings of a document, except for keys that have too many.
    fn put_keys(&mut self, examined: &Examined, found: &Found, state: State, chunk: &mut Chunk) {
        let number = self.working.next;
        for (place, method) in self.inner.examiner.methods().enumerate() {
            let limit = self.inner.examiner.recipe().max_group.max(method.least_group());
            let counted = found.postings.get(place).into_iter().flatten().chain(std::iter::repeat(&0));
            for (key, &postings) in examined.keys[place].iter().zip(counted) {
                let room = if state == State::Kept { limit.saturating_mul(KEPT_ONES) } else { limit };
                if (postings as usize) < room {
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
        let room = &mut self.desk.room;
        let table = self.inner.home.tables.witnesses();
        let of_first = self.working.row(leader, room)?.state;
        let same = matches!(of_first, State::Removed { witness: other, .. } if other == witness);
        if !same && witness != leader && !self.working.found(table, leader.into(), room)?.contains(&witness) {
            chunk.tables[table].push((leader.into(), witness, 0));
        }
        Ok(())
    }

    /// Deletes a document. Those that had it as witness are decided anew, in their order.
    fn remove(&mut self, number: u32) -> Result<(), IndexError> {
        let tables = &self.inner.home.tables;
        let row = self.working.row(number, &mut self.desk.room)?;
        let mut others = vec![row.leader];
        others.extend(self.working.found(tables.members(), row.leader.into(), &mut self.desk.room)?);
        let mut alone = true;
        for &other in others.iter().filter(|&&other| other != number) {
            alone &= !self.working.row(other, &mut self.desk.room)?.state.is_live();
        }
        let leads = row.leader == number;
        self.change(number, if leads && !alone { State::Ghost } else { State::Deleted }, Vec::new())?;
        if !leads && alone && self.working.row(row.leader, &mut self.desk.room)?.state == State::Ghost {
            self.change(row.leader, State::Deleted, Vec::new())?;
        }
        for dependent in self.working.found(tables.dependents(), number.into(), &mut self.desk.room)? {
            let row = self.working.row(dependent, &mut self.desk.room)?;
            if matches!(row.state, State::Removed { witness, .. } if witness == number) {
                self.decide_again(dependent, &row)?;
            }
        }
        Ok(())
    }

    /// Decides a document whose witness is gone.
    fn decide_again(&mut self, number: u32, row: &Row) -> Result<(), IndexError> {
        let tables = &self.inner.home.tables;
        let mut asker = self.inner.asker(&self.working, self.desk);
        let examined = asker.examined(number)?;
        let state = match &examined {
            Some(examined) => {
                let mut found = asker.find(examined)?;
                found.leader = Some(row.leader);
                found.near.retain(|near| near.class != row.leader);
                asker.decide(&mut Subject::new(examined), &mut found)?
            }
            // Without its text nobody can say what else it is near: it stands for itself.
            None => match asker.kept(row.leader)? {
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
        let before = self.working.row(number, &mut self.desk.room)?.state;
        self.working.counts.count(before, -1);
        self.working.counts.count(state, 1);
        let mut chunk = Chunk::new(self.working.next, self.inner.home.tables.count());
        for (table, posting) in postings {
            chunk.tables[table].push(posting);
        }
        chunk.changes.push(Change { number, state });
        self.working.push(chunk.weighed());
        Ok(())
    }
}

/// A document that was decided.
struct Arriving {
    id: String,
    url: Option<String>,
    examined: Examined,
    body: Vec<u8>,
    found: Found,
    state: State,
}

/// The key that an id is found by.
pub(crate) fn id_key(id: &str) -> u64 {
    hash::digest(id.as_bytes()) as u64
}

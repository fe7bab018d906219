//! The near documents of a document: those that share keys with it, measured.

use std::sync::Arc;

use lookalike_engine::examine::{Examined, Examiner, Shared};
use lookalike_engine::measure::Measured;
use lookalike_methods::{Asked, Member, Method};

use crate::chunk::Tables;
use crate::desk::{Desk, Subject};
use crate::error::IndexError;
use crate::part::Snapshot;
use crate::row::{Row, State};

/// A posting of a key of the queried document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Meeting {
    number: u32,
    method: u32,
    /// The position of the key among those of the method.
    key: u32,
    /// The tag of the posting.
    tag: u32,
}

/// A candidate: a class, named by its first document, that methods propose.
#[derive(Debug, Clone)]
pub(crate) struct Near {
    pub(crate) class: u32,
    shared: Shared,
    record: Vec<u8>,
    /// The similarity of the queried document to this one, if measured; the inner option is none if it is not near.
    measured: Option<Option<Measured>>,
}

/// The candidates of a document.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// The first document with its words.
    pub(crate) leader: Option<u32>,
    pub(crate) near: Vec<Near>,
    /// The number of postings of each of its keys, by method.
    pub(crate) postings: Vec<Vec<u32>>,
    /// Documents below this number were looked up, as they were in this epoch.
    pub(crate) seen: u32,
    pub(crate) epoch: u64,
}

/// Queries a snapshot.
pub(crate) struct Asker<'a> {
    pub(crate) examiner: &'a Examiner,
    pub(crate) tables: &'a Tables,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) desk: &'a mut Desk,
}

impl Asker<'_> {
    /// Finds the candidates of a document.
    pub(crate) fn find(&mut self, examined: &Examined) -> Result<Found, IndexError> {
        let mut found = Found { epoch: self.snapshot.epoch, ..Found::default() };
        self.find_since(examined, &mut found)?;
        Ok(found)
    }

    /// Adds the candidates among the documents that came since.
    pub(crate) fn find_since(&mut self, examined: &Examined, found: &mut Found) -> Result<(), IndexError> {
        let from = std::mem::replace(&mut found.seen, self.snapshot.next);
        if examined.words == 0 {
            return Ok(());
        }
        if found.leader.is_none() {
            found.leader = self.leader(examined.digest, from)?;
        }
        self.meet(examined, from, found)?;
        self.near(examined, found)
    }

    /// The first document with these words, among those from `from` on.
    fn leader(&mut self, digest: u128, from: u32) -> Result<Option<u32>, IndexError> {
        let mut leaders = Vec::new();
        let (table, key) = (self.tables.words(), word_key(digest));
        self.snapshot.find(table, key, from, &mut self.desk.room, &mut |number, _| leaders.push(number))?;
        for number in leaders.into_iter().filter(|&number| number >= from) {
            let row = self.row(number)?;
            if row.digest == digest && row.state != State::Deleted {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// Collects the postings of the document's keys.
    fn meet(&mut self, examined: &Examined, from: u32, found: &mut Found) -> Result<(), IndexError> {
        let Desk { meetings, room, .. } = &mut *self.desk;
        meetings.clear();
        found.postings.resize_with(examined.keys.len(), Vec::new);
        for (place, (method, keys)) in self.examiner.methods().zip(&examined.keys).enumerate() {
            // The document itself is one more.
            let most = method.most_common(self.snapshot.counts.classes + 1);
            found.postings[place].resize(keys.len(), 0);
            for (number, key) in keys.iter().enumerate() {
                let before = meetings.len();
                self.snapshot.find(place, key.value, from, room, &mut |document, tag| {
                    if document >= from {
                        let (method, key) = (place as u32, number as u32);
                        meetings.push(Meeting { number: document, method, key, tag });
                    }
                })?;
                let postings = &mut found.postings[place][number];
                *postings += (meetings.len() - before) as u32;
                if u64::from(*postings) + 1 > most {
                    meetings.truncate(before);
                }
            }
        }
        meetings.sort_unstable();
        Ok(())
    }

    /// Adds the classes met that methods propose and do not rule out.
    fn near(&mut self, examined: &Examined, found: &mut Found) -> Result<(), IndexError> {
        let meetings = std::mem::take(&mut self.desk.meetings);
        for met in meetings.chunk_by(|one, two| one.number == two.number) {
            let class = met[0].number;
            if Some(class) == found.leader {
                continue;
            }
            self.look_at(class)?;
            let Some(sight) = self.desk.sights.get(class, self.snapshot.age()) else { continue };
            if sight.row.state == State::Deleted {
                continue;
            }
            let shared = self.shared(examined, &sight.record, met);
            if self.examiner.promising([&sight.record, &examined.record], &shared) {
                found.near.push(Near { class, shared, record: sight.record.clone(), measured: None });
            }
        }
        self.desk.meetings = meetings;
        Ok(())
    }

    /// Reads the row and the record of a document into the cache.
    fn look_at(&mut self, number: u32) -> Result<(), IndexError> {
        let Desk { sights, room, record, .. } = &mut *self.desk;
        let age = self.snapshot.age();
        if sights.get(number, age).is_none() {
            let row = self.snapshot.row(number, room)?;
            record.clear();
            if row.state != State::Deleted {
                self.snapshot.record(number, &row, room, record)?;
            }
            sights.put(number, age, row, record);
        }
        Ok(())
    }

    /// Counts the keys that two documents share, by method.
    fn shared(&self, examined: &Examined, record: &[u8], met: &[Meeting]) -> Shared {
        let mut shared = Shared::default();
        for met in met.chunk_by(|one, two| one.method == two.method) {
            let place = met[0].method as usize;
            let Some(method) = self.examiner.methods().nth(place) else { continue };
            let lengths = [record, &examined.record].map(|record| self.examiner.length(place, record));
            let pairs = met.iter().map(|met| (met.tag, examined.keys[place][met.key as usize].tag));
            shared[place] = shared_by(method, lengths, pairs);
        }
        if self.examiner.proposed(&shared) { shared } else { Shared::default() }
    }

    /// The row of a document, as it is now.
    pub(crate) fn row(&mut self, number: u32) -> Result<Row, IndexError> {
        if let Some(sight) = self.desk.sights.get(number, self.snapshot.age()) {
            return Ok(sight.row);
        }
        self.snapshot.row(number, &mut self.desk.room)
    }

    /// Measures the subject against a candidate; none if it is not near.
    pub(crate) fn measure(
        &mut self,
        subject: &mut Subject<'_>,
        near: &mut Near,
    ) -> Result<Option<Measured>, IndexError> {
        if let Some(measured) = near.measured {
            return Ok(measured);
        }
        let records = [&near.record[..], &subject.examined.record];
        let (examiner, class) = (self.examiner, near.class);
        let measured = examiner.judge(records, &near.shared, || self.compare(subject, class))?;
        let measured = measured.map(Measured::turned);
        near.measured = Some(measured);
        Ok(measured)
    }

    /// Measures the subject against a class that no method proposed.
    pub(crate) fn measure_unproposed(
        &mut self,
        subject: &mut Subject<'_>,
        class: u32,
    ) -> Result<Option<Measured>, IndexError> {
        let row = self.row(class)?;
        let mut record = Vec::new();
        self.snapshot.record(class, &row, &mut self.desk.room, &mut record)?;
        let (examiner, mine) = (self.examiner, &subject.examined.record[..]);
        let measured = examiner.judge_unproposed([&record, mine], || self.compare(subject, class))?;
        Ok(measured.map(Measured::turned))
    }

    /// The similarity of a class to the subject.
    fn compare(&mut self, subject: &mut Subject<'_>, class: u32) -> Result<Option<Measured>, IndexError> {
        let Some((number, row)) = self.somebody(class)? else { return Ok(None) };
        let set = self.set(number, &row)?;
        Ok(subject.compare(self.examiner, &mut self.desk.engine, &set))
    }

    /// Returns the prepared text of a document, which never changes, whatever its state.
    fn set(&mut self, number: u32, row: &Row) -> Result<Arc<[u64]>, IndexError> {
        if let Some(set) = self.desk.sets.get(number) {
            return Ok(set);
        }
        let mut body = std::mem::take(&mut self.desk.bytes);
        self.snapshot.body(number, row, &mut self.desk.room, &mut body)?;
        let set = self.desk.set_of(self.examiner, &body, row.text as usize);
        self.desk.bytes = body;
        let set: Arc<[u64]> = set?.into();
        self.desk.sets.put(number, set.clone());
        Ok(set)
    }

    /// Returns a live document of a class.
    fn somebody(&mut self, class: u32) -> Result<Option<(u32, Row)>, IndexError> {
        let row = self.row(class)?;
        if row.state.is_live() {
            return Ok(Some((class, row)));
        }
        for number in self.snapshot.found(self.tables.members(), class.into(), &mut self.desk.room)? {
            let row = self.row(number)?;
            if row.state.is_live() {
                return Ok(Some((number, row)));
            }
        }
        Ok(None)
    }

    /// A document examined again; nothing where texts are not kept, or it is not there any more.
    pub(crate) fn examined(&mut self, number: u32) -> Result<Option<Examined>, IndexError> {
        let row = self.row(number)?;
        if !self.desk.keeps_text() || !row.state.is_live() {
            return Ok(None);
        }
        let text = self.text(number, &row)?;
        self.desk.engine.text(self.examiner, text).map(Some).map_err(IndexError::Request)
    }

    /// The text of a document, where texts are kept.
    pub(crate) fn text(&mut self, number: u32, row: &Row) -> Result<String, IndexError> {
        let mut body = Vec::new();
        self.snapshot.body(number, row, &mut self.desk.room, &mut body)?;
        self.desk.text_of(&body, row.text as usize)
    }
}

/// Counts the keys of one method that two documents share: `[there, asks]` are the lengths of the indexed document and of the
/// queried one, `pairs` their tags in the same order.
fn shared_by(method: &dyn Method, [there, asks]: [u32; 2], pairs: impl Iterator<Item = (u32, u32)>) -> u32 {
    let (short, long) = if there < asks { (there, asks) } else { (asks, there) };
    if long > method.longest_partner(short) {
        return 0;
    }
    let mut asked = Asked::default();
    for (tag, own) in pairs {
        let members = (Member { length: there, tag }, Member { length: asks, tag: own });
        if !method.plausible(members.0, members.1) {
            continue;
        }
        if !method.asks() {
            asked.forward += 1;
            continue;
        }
        match (method.only_asks(tag), method.only_asks(own)) {
            (true, true) => {}
            (one, two) => {
                asked.forward += u32::from(!one);
                asked.backward += u32::from(!two);
            }
        }
    }
    if asked.forward.max(asked.backward) < method.keys_to_share().max(1) {
        return 0;
    }
    match method.asks() {
        true => asked.pack(),
        false if method.counts_keys() => asked.forward,
        false => 1,
    }
}

/// The key that words are found by.
pub(crate) fn word_key(digest: u128) -> u64 {
    (digest >> 64) as u64
}

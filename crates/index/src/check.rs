//! The check of an index: its files are as they were written, and consistent with each other.

use crate::desk::{Desk, Subject};
use crate::error::IndexError;
use crate::index::Index;
use crate::near::word_key;
use crate::part::{Counts, Part, Snapshot};
use crate::row::{NOBODY, State};
use crate::segment::{Postings, Room};
use crate::writer::id_key;
use serde::Serialize;

/// The number of faults that are described in words; further ones are only counted.
const MOST_TOLD: usize = 20;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Checked {
    /// Documents checked, deleted ones included.
    pub documents: u64,
    /// Postings checked.
    pub postings: u64,
    /// Removed documents whose similarity to their witness was measured again.
    pub measured: u64,
    /// Bytes at the end of the log that are no whole write: the process that wrote them was stopped before it acknowledged them, or
    /// they were damaged since.
    pub torn: u64,
    /// Descriptions of the first faults.
    pub wrong: Vec<String>,
    /// The number of faults.
    pub mistakes: u64,
}

impl Checked {
    fn tell(&mut self, what: impl FnOnce() -> String) {
        self.mistakes += 1;
        if self.wrong.len() < MOST_TOLD {
            self.wrong.push(what());
        }
    }
}

impl Index {
    /// Reads every block of every file, and checks that tables are in order, that documents are found by their ids and words,
    /// and that everything removed has a kept witness which is that similar.
    pub fn check(&self, desk: &mut Desk) -> Result<Checked, IndexError> {
        let now = self.inner.now();
        let mut checked = Checked { torn: self.torn, ..Checked::default() };
        let mut room = Room::default();
        for part in &now.parts {
            if let Part::Disk(segment) = part {
                segment.check(&mut room)?;
            }
        }
        self.check_tables(&now, &mut checked)?;
        self.check_documents(&now, desk, &mut checked)?;
        Ok(checked)
    }

    fn check_tables(&self, now: &Snapshot, checked: &mut Checked) -> Result<(), IndexError> {
        for table in 0..self.inner.home.tables.count() {
            for part in &now.parts {
                let mut postings = Postings::new(part, table)?;
                let mut last = None;
                while let Some(posting) = postings.head {
                    checked.postings += 1;
                    if last.is_some_and(|last| last > posting) {
                        checked
                            .tell(|| format!("table {table} is not in order at the key {:016x}", posting.0));
                    }
                    if posting.1 >= now.next {
                        checked.tell(|| {
                            format!("table {table} leads to number {}, which is not there", posting.1)
                        });
                    }
                    last = Some(posting);
                    postings.advance()?;
                }
            }
        }
        Ok(())
    }

    fn check_documents(
        &self,
        now: &Snapshot,
        desk: &mut Desk,
        checked: &mut Checked,
    ) -> Result<(), IndexError> {
        let mut counts = Counts { left_out: now.counts.left_out, ..Counts::default() };
        for number in 0..now.next {
            let row = now.row(number, &mut desk.room)?;
            checked.documents += 1;
            counts.added += 1;
            counts.classes += u64::from(row.leader == number && row.words > 0);
            counts.count(row.state, 1);
            if !row.state.is_live() {
                continue;
            }
            let tables = &self.inner.home.tables;
            let (id, _) = now.names(number, &row, &mut desk.room)?;
            if !now.found(tables.ids(), id_key(&id), &mut desk.room)?.contains(&number) {
                checked.tell(|| format!("number {number} is not found by its id {id}"));
            }
            if row.leader != number {
                let leader = now.row(row.leader, &mut desk.room)?;
                if leader.digest != row.digest || leader.state == State::Deleted {
                    checked.tell(|| format!("number {number} is said to have the words of {}", row.leader));
                }
            } else if row.words > 0
                && !now.found(tables.words(), word_key(row.digest), &mut desk.room)?.contains(&number)
            {
                checked.tell(|| format!("number {number} is not found by its words"));
            } else if row.record == NOBODY {
                checked.tell(|| format!("number {number} has nothing to be found by"));
            }
            if let State::Removed { witness, similarity } = row.state {
                self.check_witness(now, desk, checked, number, (witness, similarity))?;
            }
        }
        if counts != now.counts {
            checked.tell(|| format!("there are {counts:?}, and {:?} are counted", now.counts));
        }
        Ok(())
    }

    /// A removed document must name a kept one, and be as similar to it as it says.
    fn check_witness(
        &self,
        now: &Snapshot,
        desk: &mut Desk,
        checked: &mut Checked,
        number: u32,
        (witness, similarity): (u32, Option<f64>),
    ) -> Result<(), IndexError> {
        let mut asker = self.inner.asker(now, desk);
        let (row, other) = (asker.row(number)?, asker.row(witness)?);
        if other.state != State::Kept {
            checked.tell(|| format!("number {number} was removed for number {witness}, which is not kept"));
        }
        let table = self.inner.home.tables.dependents();
        if !now.found(table, witness.into(), &mut asker.desk.room)?.contains(&number) {
            checked
                .tell(|| format!("number {witness} does not lead to number {number}, which it stands for"));
        }
        if row.leader == other.leader || !self.recipe().verified {
            return Ok(());
        }
        // Where texts are not kept, what is measured by is there all the same, and methods have no say.
        let Some(examined) = asker.examined(number)? else { return Ok(()) };
        let measured = asker.measure_unproposed(&mut Subject::new(&examined), other.leader)?;
        checked.measured += 1;
        if measured.is_none_or(|measured| !measured.reached || Some(measured.forward) != similarity) {
            checked.tell(|| {
                format!(
                    "number {number} is said to be {similarity:?} like number {witness}, and is {measured:?}"
                )
            });
        }
        Ok(())
    }
}

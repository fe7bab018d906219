//! The check of an index: its files are as they were written, and consistent with each other.

use crate::candidates::word_key;
use crate::error::IndexError;
use crate::index::Index;
use crate::part::{Counts, Part, Snapshot};
use crate::query_buffers::{QueryBuffers, Subject};
use crate::row::{ABSENT, State};
use crate::segment::{BlockBuffers, Postings};
use crate::writer::id_key;
use serde::Serialize;

/// The number of faults that are described in words; further ones are only counted.
const MOST_DESCRIBED: usize = 20;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CheckReport {
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

impl CheckReport {
    fn add_fault(&mut self, what: impl FnOnce() -> String) {
        self.mistakes += 1;
        if self.wrong.len() < MOST_DESCRIBED {
            self.wrong.push(what());
        }
    }
}

impl Index {
    /// Reads every block of every file, and checks that tables are in order, that documents are found by their ids and words,
    /// and that everything removed has a kept witness which is that similar.
    pub fn check(&self, buffers: &mut QueryBuffers) -> Result<CheckReport, IndexError> {
        let now = self.inner.now();
        let mut checked = CheckReport { torn: self.torn, ..CheckReport::default() };
        let mut blocks = BlockBuffers::default();
        for part in &now.parts {
            if let Part::Disk(segment) = part {
                segment.check(&mut blocks)?;
            }
        }
        self.check_tables(&now, &mut checked)?;
        self.check_documents(&now, buffers, &mut checked)?;
        Ok(checked)
    }

    fn check_tables(&self, now: &Snapshot, checked: &mut CheckReport) -> Result<(), IndexError> {
        for table in 0..self.inner.layout.tables.count() {
            for part in &now.parts {
                let mut postings = Postings::new(part, table)?;
                let mut last = None;
                while let Some(posting) = postings.head {
                    checked.postings += 1;
                    if last.is_some_and(|last| last > posting) {
                        checked.add_fault(|| {
                            format!("table {table} is not in order at the key {:016x}", posting.0)
                        });
                    }
                    if posting.1 >= now.next {
                        checked.add_fault(|| {
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
        buffers: &mut QueryBuffers,
        checked: &mut CheckReport,
    ) -> Result<(), IndexError> {
        let mut counts = Counts { left_out: now.counts.left_out, ..Counts::default() };
        for number in 0..now.next {
            let row = now.row(number, &mut buffers.blocks)?;
            checked.documents += 1;
            counts.added += 1;
            counts.classes += u64::from(row.leader == number && row.words > 0);
            counts.count(row.state, 1);
            if !row.state.is_live() {
                continue;
            }
            let tables = &self.inner.layout.tables;
            let (id, _) = now.names(number, &row, &mut buffers.blocks)?;
            if !now.lookup(tables.ids(), id_key(&id), &mut buffers.blocks)?.contains(&number) {
                checked.add_fault(|| format!("number {number} is not found by its id {id}"));
            }
            if row.leader != number {
                let leader = now.row(row.leader, &mut buffers.blocks)?;
                if leader.digest != row.digest || leader.state == State::Deleted {
                    checked
                        .add_fault(|| format!("number {number} is said to have the words of {}", row.leader));
                }
            } else if row.words > 0
                && !now.lookup(tables.words(), word_key(row.digest), &mut buffers.blocks)?.contains(&number)
            {
                checked.add_fault(|| format!("number {number} is not found by its words"));
            } else if row.record == ABSENT {
                checked.add_fault(|| format!("number {number} has nothing to be found by"));
            }
            if let State::Removed { witness, similarity } = row.state {
                self.check_witness(now, buffers, checked, number, (witness, similarity))?;
            }
        }
        if counts != now.counts {
            checked.add_fault(|| format!("there are {counts:?}, and {:?} are counted", now.counts));
        }
        Ok(())
    }

    /// A removed document must name a kept one, and be as similar to it as it says.
    fn check_witness(
        &self,
        now: &Snapshot,
        buffers: &mut QueryBuffers,
        checked: &mut CheckReport,
        number: u32,
        (witness, similarity): (u32, Option<f64>),
    ) -> Result<(), IndexError> {
        let mut query = self.inner.query(now, buffers);
        let (row, other) = (query.row(number)?, query.row(witness)?);
        if other.state != State::Kept {
            checked
                .add_fault(|| format!("number {number} was removed for number {witness}, which is not kept"));
        }
        let table = self.inner.layout.tables.dependents();
        if !now.lookup(table, witness.into(), &mut query.buffers.blocks)?.contains(&number) {
            checked.add_fault(|| {
                format!("number {witness} does not lead to number {number}, which it stands for")
            });
        }
        if row.leader == other.leader || !self.recipe().verified {
            return Ok(());
        }
        // Where texts are not kept, what is measured by is there all the same, and methods have no say.
        let Some(examined) = query.examined(number)? else { return Ok(()) };
        let measured = query.measure_unproposed(&mut Subject::new(&examined), other.leader)?;
        checked.measured += 1;
        if measured.is_none_or(|measured| !measured.reached || Some(measured.forward) != similarity) {
            checked.add_fault(|| {
                format!(
                    "number {number} is said to be {similarity:?} like number {witness}, and is {measured:?}"
                )
            });
        }
        Ok(())
    }
}

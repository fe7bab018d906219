//! The check of an index: its files are as they were written, and consistent with each other.

use crate::chunk::{id_key, word_key};
use crate::error::IndexError;
use crate::index::Index;
use crate::part::{Counts, Part, Postings, Snapshot};
use crate::query_buffers::{QueryBuffers, Subject};
use crate::row::{ABSENT, State};
use crate::segment::BlockBuffers;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chunk::{Chunk, StoredDocument};
    use crate::testing::SmallIndex;

    const NEAR: [&str; 2] = ["a b c d e", "a b c d f"];

    /// Checks an index whose only part was changed.
    fn faults_of(texts: &[&str], damage: impl FnOnce(&mut Chunk)) -> Vec<String> {
        let small = SmallIndex::of(texts);
        assert!(small.faults().is_empty());
        small.index.inner.publish(|now| {
            let mut chunk = Arc::unwrap_or_clone(now.tail(0).unwrap());
            damage(&mut chunk);
            now.parts = vec![Part::Memory(Arc::new(chunk))];
        });
        small.faults()
    }

    fn stored(chunk: &mut Chunk, number: usize) -> &mut StoredDocument {
        Arc::make_mut(&mut chunk.documents[number])
    }

    /// The table that is as many behind those of methods as `table` says.
    fn fixed_table(chunk: &mut Chunk, table: usize) -> &mut Vec<crate::chunk::Posting> {
        // One method has one table.
        &mut chunk.tables[1 + table]
    }

    const IDS: usize = 0;
    const WORDS: usize = 1;
    const DEPENDENTS: usize = 3;

    #[test]
    fn twenty_faults_are_described_and_all_are_counted() {
        let mut report = CheckReport::default();
        (0..23).for_each(|number| report.add_fault(|| format!("fault {number}")));
        assert_eq!((report.mistakes, report.wrong.len()), (23, 20));
        assert_eq!(report.wrong.last().unwrap(), "fault 19");
    }

    #[test]
    fn an_empty_index_has_no_faults() {
        let small = SmallIndex::new();
        assert_eq!(small.index.check(&mut small.index.buffers().unwrap()).unwrap(), CheckReport::default());
    }

    #[test]
    fn all_documents_postings_and_similarities_are_checked() {
        let mut small = SmallIndex::of(&NEAR);
        let keys = NEAR.map(|text| small.prepared("x", text).examined.keys[0].len() as u64);
        // Beside their keys both have an id and words, and one is a dependent of the other.
        let postings = keys.iter().sum::<u64>() + 5;
        let expected = CheckReport { documents: 2, postings, measured: 1, ..CheckReport::default() };
        for _ in 0..2 {
            assert_eq!(small.index.check(&mut small.buffers).unwrap(), expected);
            small.index.flush().unwrap();
        }
    }

    #[test]
    fn a_table_that_is_not_in_order_is_found() {
        let found = faults_of(&["a b c d e"], |chunk| chunk.tables[0].reverse());
        assert!(found[0].starts_with("table 0 is not in order at the key "), "{found:?}");
    }

    #[test]
    fn a_posting_of_a_document_that_is_not_there_is_found() {
        let found = faults_of(&["a b c d e"], |chunk| chunk.tables[0].push((u64::MAX, 9, 0)));
        assert_eq!(found, ["table 0 leads to number 9, which is not there"]);
    }

    #[test]
    fn a_document_that_its_id_does_not_lead_to_is_found() {
        let found = faults_of(&["a b c d e"], |chunk| fixed_table(chunk, IDS).clear());
        assert_eq!(found, ["number 0 is not found by its id d0"]);
    }

    #[test]
    fn a_document_that_its_words_do_not_lead_to_is_found() {
        let found = faults_of(&["a b c d e"], |chunk| fixed_table(chunk, WORDS).clear());
        assert_eq!(found, ["number 0 is not found by its words"]);
    }

    #[test]
    fn a_document_without_a_record_is_found() {
        let found = faults_of(&["a b c d e"], |chunk| stored(chunk, 0).row.record = ABSENT);
        assert_eq!(found, ["number 0 has nothing to be found by"]);
    }

    #[test]
    fn a_leader_with_other_words_is_found() {
        let found = faults_of(&["a b c d e", "a b c d e"], |chunk| stored(chunk, 1).row.digest += 1);
        assert_eq!(found, ["number 1 is said to have the words of 0"]);
    }

    #[test]
    fn a_witness_that_is_not_kept_is_found() {
        let found = faults_of(&["a b c d e", "a b c d e", "x y z"], |chunk| {
            stored(chunk, 0).row.state = State::Removed { witness: 2, similarity: None };
        });
        assert!(
            found.contains(&"number 1 was removed for number 0, which is not kept".to_owned()),
            "{found:?}"
        );
    }

    #[test]
    fn a_witness_that_does_not_lead_to_its_dependents_is_found() {
        let found = faults_of(&NEAR, |chunk| fixed_table(chunk, DEPENDENTS).clear());
        assert_eq!(found, ["number 0 does not lead to number 1, which it stands for"]);
    }

    #[test]
    fn a_similarity_that_is_another_is_found() {
        let found = faults_of(&NEAR, |chunk| {
            stored(chunk, 1).row.state = State::Removed { witness: 0, similarity: Some(0.75) };
        });
        let said = "number 1 is said to be Some(0.75) like number 0, and is Some(Measured { forward: 0.66";
        assert!(found.len() == 1 && found[0].starts_with(said), "{found:?}");
    }

    #[test]
    fn wrong_counts_are_found() {
        let small = SmallIndex::of(&["a b c d e"]);
        small.index.inner.publish(|now| now.counts.removed = 4);
        let found = small.faults();
        assert!(found.len() == 1 && found[0].ends_with("are counted"), "{found:?}");
        assert!(found[0].contains("removed: 0") && found[0].contains("removed: 4"), "{found:?}");
    }
}

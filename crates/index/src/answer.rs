//! Queries: the documents that a document is a near-duplicate of.

use lookalike_engine::measure::Measured;

use crate::candidates::SnapshotQuery;
use crate::error::IndexError;
use crate::index::Index;
use crate::prepared::{Answer, Match, PreparedDocument};
use crate::query_buffers::{QueryBuffers, Subject};
use crate::row::State;

/// At most this number of documents with the same words is looked at.
const MOST_EQUALS: usize = 10_000;

impl Index {
    /// Finds the documents that a document is a near-duplicate of; the `limit` most similar ones are returned.
    pub fn query(
        &self,
        buffers: &mut QueryBuffers,
        prepared: &PreparedDocument,
        limit: usize,
    ) -> Result<Answer, IndexError> {
        let now = self.inner.now();
        let mut query = self.inner.query(&now, buffers);
        let (mut hits, left_out) = query.hits(prepared)?;
        hits.sort_by(|(one, first), (two, second)| {
            second.forward.total_cmp(&first.forward).then(one.cmp(two))
        });
        let directed = self.examiner().directed();
        let mut answer = Answer { matches: Vec::new(), total: hits.len(), left_out };
        for (number, measured) in hits.into_iter().take(limit) {
            let row = query.row(number)?;
            let (id, url) = now.names(number, &row, &mut query.buffers.blocks)?;
            let score = |value: f64| Some(value).filter(|value| !value.is_nan());
            answer.matches.push(Match {
                number,
                id,
                url,
                similarity: score(measured.forward),
                backward: score(measured.backward).filter(|_| directed),
                kept: row.state == State::Kept,
            });
        }
        Ok(answer)
    }
}

impl SnapshotQuery<'_> {
    /// Returns all documents that are near-duplicates, with their measurements, and the number of candidates that were left out.
    fn hits(&mut self, prepared: &PreparedDocument) -> Result<(Vec<(u32, Measured)>, u64), IndexError> {
        let examined = &prepared.examined;
        let mut hits = Vec::new();
        if examined.words == 0 {
            return Ok((hits, 0));
        }
        let mut candidates = self.find(examined)?;
        let mut first = None;
        if let Some(leader) = candidates.leader {
            if self.examiner.counts_equals(&examined.record) {
                let same = Measured { forward: 1.0, backward: 1.0, reached: true, reached_back: true };
                self.expand(leader, same, &mut hits)?;
            }
            if !self.examiner.goes_by_words() {
                // Of documents with equal words the first is the one that methods see.
                first = self.examined(leader)?;
            }
        }
        if let Some(first) = &first {
            let leader = candidates.leader;
            candidates = self.find(first)?;
            candidates.leader = leader;
            candidates.classes.retain(|candidate| Some(candidate.class) != leader);
        }
        let mut subject = Subject::new(first.as_ref().unwrap_or(examined));
        for candidate in &mut candidates.classes {
            let measured = self.measure(&mut subject, candidate)?;
            if let Some(measured) = measured.filter(|measured| measured.counts()) {
                self.expand(candidate.class, measured, &mut hits)?;
            }
        }
        Ok((hits, candidates.left_out))
    }

    /// Appends all documents of a class.
    fn expand(
        &mut self,
        class: u32,
        measured: Measured,
        hits: &mut Vec<(u32, Measured)>,
    ) -> Result<(), IndexError> {
        let members = self.snapshot.lookup(self.tables.members(), class.into(), &mut self.buffers.blocks)?;
        for number in std::iter::once(class).chain(members).take(MOST_EQUALS) {
            if self.row(number)?.state.is_live() {
                hits.push((number, measured));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SmallIndex;

    fn answer(small: &mut SmallIndex, text: &str, limit: usize) -> Answer {
        let prepared = small.prepared("asked", text);
        small.index.query(&mut small.buffers, &prepared, limit).unwrap()
    }

    fn numbers(answer: &Answer) -> Vec<u32> {
        answer.matches.iter().map(|hit| hit.number).collect()
    }

    #[test]
    fn an_empty_index_has_no_near_duplicates() {
        assert_eq!(answer(&mut SmallIndex::new(), "a b c d", usize::MAX), Answer::default());
    }

    #[test]
    fn a_match_tells_all_of_a_document() {
        let mut small = SmallIndex::of(&["a b c d e"]);
        let expected = Match {
            number: 0,
            id: "d0".to_owned(),
            url: None,
            similarity: Some(4.0 / 6.0),
            backward: None,
            kept: true,
        };
        assert_eq!(
            answer(&mut small, "a b c d f", 9),
            Answer { matches: vec![expected], total: 1, left_out: 0 }
        );
    }

    #[test]
    fn the_most_similar_come_first_and_of_equals_the_earlier() {
        let mut small = SmallIndex::of(&["a b c d f", "a b c d e f", "a b c d e", "a b c d g"]);
        let found = answer(&mut small, "a b c d e", usize::MAX);
        assert_eq!(numbers(&found), [2, 1, 0, 3]);
        let similarities: Vec<Option<f64>> = found.matches.iter().map(|hit| hit.similarity).collect();
        assert_eq!(similarities, [1.0, 5.0 / 6.0, 4.0 / 6.0, 4.0 / 6.0].map(Some));
    }

    #[test]
    fn a_limit_leaves_the_number_of_all() {
        let mut small = SmallIndex::of(&["a b c d f", "a b c d e", "a b c d e"]);
        for (limit, expected) in [(0, vec![]), (1, vec![1]), (2, vec![1, 2]), (9, vec![1, 2, 0])] {
            let found = answer(&mut small, "a b c d e", limit);
            assert_eq!((numbers(&found), found.total), (expected, 3));
        }
    }

    #[test]
    fn kept_documents_are_told_from_removed_ones() {
        let mut small = SmallIndex::of(&["a b c d e", "a b c d f"]);
        let found = answer(&mut small, "a b c d e", usize::MAX);
        assert_eq!(found.matches.iter().map(|hit| hit.kept).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn deleted_documents_are_not_named_and_those_with_their_words_are() {
        let mut small = SmallIndex::of(&["a b c d e", "a b c d e", "a b c d f"]);
        small.index.remove("d0").unwrap();
        assert_eq!(numbers(&answer(&mut small, "a b c d e", 9)), [1, 2]);
        assert_eq!(numbers(&answer(&mut small, "a b c d g", 9)), [1, 2]);
        small.index.remove("d1").unwrap();
        assert_eq!(numbers(&answer(&mut small, "a b c d e", 9)), [2]);
    }

    #[test]
    fn a_document_without_words_is_near_none() {
        let mut small = SmallIndex::of(&["...", "...", "a b"]);
        assert_eq!(answer(&mut small, "...", 9), Answer::default());
    }
}

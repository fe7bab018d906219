//! The decision to keep a document or to remove it for a kept one: the engine's rule `star`, for documents in order of arrival.
//!
//! A document whose near ones include kept ones is removed; its witness is the most similar of them, and of equally similar
//! ones the first. Otherwise the witnesses of removed near ones are measured against it, and the same rule applies. Otherwise
//! it is kept.

use lookalike_engine::decision::{OneHop, Way, Witness, best_by_one_hop};
use lookalike_engine::measure::Measured;
use lookalike_model::{DocNumber, NodeId};

use crate::candidates::SnapshotQuery;
use crate::error::IndexError;
use crate::prepared::Candidates;
use crate::query_buffers::Subject;
use crate::row::{NO_DOCUMENT, State};

impl SnapshotQuery<'_> {
    /// Decides a document with these candidates.
    pub(crate) fn decide(
        &mut self,
        subject: &mut Subject<'_>,
        candidates: &mut Candidates,
    ) -> Result<State, IndexError> {
        if let Some(leader) = candidates.leader
            && let Some(witness) = self.kept(leader)?
        {
            return Ok(State::Removed { witness, similarity: Some(1.0) });
        }
        let mut best: Option<Witness> = None;
        let mut kept = Vec::new();
        let mut classes = std::mem::take(&mut candidates.classes);
        for candidate in &mut classes {
            let Some(document) = self.kept(candidate.class)? else { continue };
            kept.push(document);
            if let Some(Measured { forward, reached: true, .. }) = self.measure(subject, candidate)? {
                best = Some(witness(document, candidate.class, forward).or(best));
            }
        }
        candidates.classes = classes;
        if best.is_none() {
            kept.sort_unstable();
            best = self.one_hop(subject, candidates, &kept)?;
        }
        Ok(best.map_or(State::Kept, |Witness { similarity, document, .. }| State::Removed {
            witness: document.get(),
            similarity: Some(similarity).filter(|number| !number.is_nan()),
        }))
    }

    /// The best among the witnesses of near ones that were removed. `far` are kept ones that were measured already, in order.
    fn one_hop(
        &mut self,
        subject: &mut Subject<'_>,
        candidates: &mut Candidates,
        far: &[u32],
    ) -> Result<Option<Witness>, IndexError> {
        let mut ways = Vec::new();
        let own = candidates.leader.map(|leader| (None, leader));
        let others = candidates.classes.iter().map(|candidate| candidate.class).enumerate();
        for (through, class) in own.into_iter().chain(others.map(|(way, class)| (Some(way), class))) {
            ways.extend(self.witnesses(class)?.into_iter().map(|witness| Way { witness, through }));
        }
        ways.retain(|way| far.binary_search(&way.witness).is_err());
        best_by_one_hop(ways, &mut ClassHop { query: self, subject, candidates })
    }

    /// The kept document of a class.
    pub(crate) fn kept(&mut self, class: u32) -> Result<Option<u32>, IndexError> {
        if self.row(class)?.state == State::Kept {
            return Ok(Some(class));
        }
        // Without documents that were taken out, only the first of a class can be kept.
        for head in self.snapshot.lookup(self.tables.heads(), class.into(), &mut self.buffers.blocks)? {
            if self.row(head)?.state == State::Kept {
                return Ok(Some(head));
            }
        }
        Ok(None)
    }

    /// The kept documents that stand for removed ones of a class.
    fn witnesses(&mut self, class: u32) -> Result<Vec<u32>, IndexError> {
        let mut all =
            self.snapshot.lookup(self.tables.witnesses(), class.into(), &mut self.buffers.blocks)?;
        if let State::Removed { witness, .. } = self.row(class)?.state {
            all.push(witness);
        }
        all.retain(|&witness| witness != NO_DOCUMENT);
        let mut kept = Vec::new();
        for witness in all {
            if self.row(witness)?.state == State::Kept {
                kept.push(witness);
            }
        }
        kept.sort_unstable();
        kept.dedup();
        Ok(kept)
    }
}

/// A kept document as a witness; documents are kept in the order of their numbers, and a class is a node.
fn witness(document: u32, class: u32, similarity: f64) -> Witness {
    Witness { similarity, place: document, document: DocNumber::new(document), node: NodeId::new(class) }
}

/// The search for a witness of a document by one hop.
struct ClassHop<'h, 'q, 's> {
    query: &'h mut SnapshotQuery<'q>,
    subject: &'h mut Subject<'s>,
    candidates: &'h mut Candidates,
}

impl OneHop for ClassHop<'_, '_, '_> {
    type Error = IndexError;
    type Witness = u32;

    fn witness(&mut self, document: u32) -> Result<Option<Witness>, IndexError> {
        let class = self.query.row(document)?.leader;
        let measured = self.query.measure_unproposed(self.subject, class)?;
        let near = measured.filter(|measured| measured.reached);
        Ok(near.map(|measured| witness(document, class, measured.forward)))
    }

    fn is_near(&mut self, candidate: usize) -> Result<bool, IndexError> {
        let measured = self.query.measure(self.subject, &mut self.candidates.classes[candidate])?;
        Ok(measured.is_some_and(|measured| measured.reached))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SmallIndex;

    fn removed(witness: u32, similarity: f64) -> State {
        State::Removed { witness, similarity: Some(similarity) }
    }

    /// Decides a text of which only some classes are candidates; the number of candidates that are left must be theirs.
    fn decided_among(small: &mut SmallIndex, text: &str, classes: &[u32]) -> State {
        let examined = small.prepared("asked", text).examined;
        let now = small.index.inner.now();
        let mut query = small.index.inner.query(&now, &mut small.buffers);
        let mut candidates = query.find(&examined).unwrap();
        candidates.classes.retain(|candidate| classes.contains(&candidate.class));
        assert_eq!(candidates.classes.len(), classes.len());
        query.decide(&mut Subject::new(&examined), &mut candidates).unwrap()
    }

    #[test]
    fn a_document_without_near_ones_is_kept() {
        let mut small = SmallIndex::new();
        assert_eq!(small.add("d0", "a b c d"), State::Kept);
        assert_eq!(small.add("d1", "a b e f"), State::Kept, "two words of six are too few");
    }

    #[test]
    fn a_similarity_at_the_threshold_is_enough() {
        let mut small = SmallIndex::of(&["a b c d"]);
        assert_eq!(small.add("d1", "a b c e"), removed(0, 0.6));
    }

    #[test]
    fn equal_words_are_removed_for_the_first() {
        let mut small = SmallIndex::of(&["a b c d e"]);
        assert_eq!(small.add("d1", "A B C D E"), removed(0, 1.0));
        assert_eq!(small.add("d2", "a b c d e"), removed(0, 1.0));
    }

    #[test]
    fn the_most_similar_kept_document_is_the_witness() {
        // Of the third document seven words of nine are in one of the others, and six of ten in the other.
        let (near, less) = ("a b c d e f g h", "a b c d e i j k");
        for (texts, witness) in [([near, less], 0), ([less, near], 1)] {
            let mut small = SmallIndex::of(&texts);
            assert_eq!((small.state(0), small.state(1)), (State::Kept, State::Kept));
            assert_eq!(small.add("d2", "a b c d e f g i"), removed(witness, 7.0 / 9.0));
        }
    }

    #[test]
    fn of_equally_similar_kept_documents_the_first_is_the_witness() {
        for texts in [["a b c d e f g h", "a b c d e i j k"], ["a b c d e i j k", "a b c d e f g h"]] {
            let mut small = SmallIndex::of(&texts);
            assert_eq!(small.add("d2", "a b c d e f i"), removed(0, 6.0 / 9.0));
        }
    }

    #[test]
    fn a_removed_document_is_no_witness() {
        let mut small = SmallIndex::of(&["a b c d e", "a b c d f"]);
        assert_eq!(small.state(1), removed(0, 4.0 / 6.0));
        // Near the removed one, and too far from its witness.
        assert_eq!(small.add("d2", "b c d f g"), State::Kept);
    }

    #[test]
    fn a_removed_near_one_leads_to_its_witness() {
        let mut small = SmallIndex::of(&["a b c d e f g h", "a b c d e f g i"]);
        assert_eq!(small.state(1), removed(0, 7.0 / 9.0));
        assert_eq!(decided_among(&mut small, "a b c d e f h i", &[1]), removed(0, 7.0 / 9.0));
        assert_eq!(decided_among(&mut small, "a b c d e f h i", &[]), State::Kept);
    }

    #[test]
    fn only_near_ones_lead_to_their_witness() {
        let mut small = SmallIndex::of(&["a b c d e f", "a b c d e g"]);
        assert_eq!(small.state(1), removed(0, 5.0 / 7.0));
        // Five words of seven are in the witness, four of eight in the document that leads to it.
        assert_eq!(decided_among(&mut small, "a b c d f h", &[1]), State::Kept);
        assert_eq!(decided_among(&mut small, "a b c d f h", &[0, 1]), removed(0, 5.0 / 7.0));
    }

    #[test]
    fn a_document_that_is_kept_in_the_place_of_the_first_of_its_class_is_its_witness() {
        let mut small = SmallIndex::of(&["a b c d e", "a b c d e", "a b c d e"]);
        small.index.remove("d0").unwrap();
        assert_eq!((small.state(1), small.state(2)), (State::Kept, removed(1, 1.0)));
        let now = small.index.inner.now();
        assert_eq!(small.index.inner.query(&now, &mut small.buffers).kept(0).unwrap(), Some(1));
        assert_eq!(small.add("d3", "a b c d e"), removed(1, 1.0));
        assert_eq!(small.add("d4", "a b c d f"), removed(1, 4.0 / 6.0));
    }

    #[test]
    fn a_class_without_a_kept_document_has_none() {
        let mut small = SmallIndex::of(&["a b c d e", "a b c d f", "x y"]);
        let now = small.index.inner.now();
        let mut query = small.index.inner.query(&now, &mut small.buffers);
        assert_eq!([0, 1, 2].map(|class| query.kept(class).unwrap()), [Some(0), None, Some(2)]);
        assert_eq!([0, 1, 2].map(|class| query.witnesses(class).unwrap()), [vec![], vec![0], vec![]]);
    }
}

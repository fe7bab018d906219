//! The decision to keep a document or to remove it for a kept one: the engine's rule `star`, for documents in order of arrival.
//!
//! A document whose near ones include kept ones is removed; its witness is the most similar of them, and of equally similar
//! ones the first. Otherwise the witnesses of removed near ones are measured against it, and the same rule applies. Otherwise
//! it is kept.

use lookalike_engine::measure::Measured;

use crate::candidates::{Candidates, SnapshotQuery};
use crate::error::IndexError;
use crate::query_buffers::Subject;
use crate::row::{NO_DOCUMENT, State};

/// A kept document that may stand for another.
#[derive(Debug, Clone, Copy)]
struct PossibleWitness {
    similarity: f64,
    document: u32,
}

impl PossibleWitness {
    fn beats(&self, other: &PossibleWitness) -> bool {
        self.similarity > other.similarity
            || self.similarity == other.similarity && self.document < other.document
    }

    /// The better of both.
    fn or(self, other: Option<PossibleWitness>) -> PossibleWitness {
        other.filter(|other| other.beats(&self)).unwrap_or(self)
    }
}

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
        let mut best: Option<PossibleWitness> = None;
        let mut kept = Vec::new();
        let mut classes = std::mem::take(&mut candidates.classes);
        for candidate in &mut classes {
            let Some(document) = self.kept(candidate.class)? else { continue };
            kept.push(document);
            if let Some(Measured { forward, reached: true, .. }) = self.measure(subject, candidate)? {
                best = Some(PossibleWitness { similarity: forward, document }.or(best));
            }
        }
        candidates.classes = classes;
        if best.is_none() {
            best = self.one_hop(subject, candidates, &kept)?;
        }
        Ok(best.map_or(State::Kept, |PossibleWitness { similarity, document }| State::Removed {
            witness: document,
            similarity: Some(similarity).filter(|number| !number.is_nan()),
        }))
    }

    /// The best among the witnesses of near ones that were removed. These are few and measured first; whether one that
    /// leads to a witness is near is asked only of witnesses that are. `far` are kept ones that were measured already.
    fn one_hop(
        &mut self,
        subject: &mut Subject<'_>,
        candidates: &mut Candidates,
        far: &[u32],
    ) -> Result<Option<PossibleWitness>, IndexError> {
        let mut ways: Vec<(u32, usize)> = Vec::new();
        let own = candidates.leader.map(|leader| (usize::MAX, leader));
        let others = candidates.classes.iter().map(|candidate| candidate.class).enumerate();
        for (way, class) in own.into_iter().chain(others) {
            ways.extend(self.witnesses(class)?.into_iter().map(|witness| (witness, way)));
        }
        ways.retain(|(witness, _)| !far.contains(witness));
        ways.sort_unstable();
        let mut witnesses = Vec::new();
        for ways in ways.chunk_by(|one, two| one.0 == two.0) {
            let class = self.row(ways[0].0)?.leader;
            if let Some(Measured { forward, reached: true, .. }) = self.measure_unproposed(subject, class)? {
                witnesses.push((PossibleWitness { similarity: forward, document: ways[0].0 }, ways));
            }
        }
        witnesses.sort_by(|(one, _), (two, _)| {
            two.similarity.total_cmp(&one.similarity).then(one.document.cmp(&two.document))
        });
        for (witness, ways) in witnesses {
            for &(_, way) in ways {
                let Some(candidate) = candidates.classes.get_mut(way) else { return Ok(Some(witness)) };
                if self.measure(subject, candidate)?.is_some_and(|measured| measured.reached) {
                    return Ok(Some(witness));
                }
            }
        }
        Ok(None)
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

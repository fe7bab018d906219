//! The decision to keep a document or to remove it for a kept one: the engine's rule `star`, for documents in order of arrival.
//!
//! A document whose near ones include kept ones is removed; its witness is the most similar of them, and of equally similar
//! ones the first. Otherwise the witnesses of removed near ones are measured against it, and the same rule applies. Otherwise
//! it is kept.

use lookalike_engine::measure::Measured;

use crate::desk::Subject;
use crate::error::IndexError;
use crate::near::{Asker, Found};
use crate::row::{NOBODY, State};

/// A kept document that may stand for another.
#[derive(Debug, Clone, Copy)]
struct Offer {
    similarity: f64,
    document: u32,
}

impl Offer {
    fn beats(&self, other: &Offer) -> bool {
        self.similarity > other.similarity
            || self.similarity == other.similarity && self.document < other.document
    }

    /// The better of both.
    fn or(self, other: Option<Offer>) -> Offer {
        other.filter(|other| other.beats(&self)).unwrap_or(self)
    }
}

impl Asker<'_> {
    /// Decides a document for which `found` was found.
    pub(crate) fn decide(
        &mut self,
        subject: &mut Subject<'_>,
        found: &mut Found,
    ) -> Result<State, IndexError> {
        if let Some(leader) = found.leader
            && let Some(witness) = self.kept(leader)?
        {
            return Ok(State::Removed { witness, similarity: Some(1.0) });
        }
        let mut best: Option<Offer> = None;
        let mut kept = Vec::new();
        let mut near = std::mem::take(&mut found.near);
        for near in &mut near {
            let Some(document) = self.kept(near.class)? else { continue };
            kept.push(document);
            if let Some(Measured { forward, reached: true, .. }) = self.measure(subject, near)? {
                best = Some(Offer { similarity: forward, document }.or(best));
            }
        }
        found.near = near;
        if best.is_none() {
            best = self.one_hop(subject, found, &kept)?;
        }
        Ok(best.map_or(State::Kept, |Offer { similarity, document }| State::Removed {
            witness: document,
            similarity: Some(similarity).filter(|number| !number.is_nan()),
        }))
    }

    /// The best among the witnesses of near ones that were removed. These are few and measured first; whether one that
    /// leads to a witness is near is asked only of witnesses that are. `far` are kept ones that were measured already.
    fn one_hop(
        &mut self,
        subject: &mut Subject<'_>,
        found: &mut Found,
        far: &[u32],
    ) -> Result<Option<Offer>, IndexError> {
        let mut ways: Vec<(u32, usize)> = Vec::new();
        let own = found.leader.map(|leader| (usize::MAX, leader));
        let others = found.near.iter().map(|near| near.class).enumerate();
        for (way, class) in own.into_iter().chain(others) {
            ways.extend(self.witnesses(class)?.into_iter().map(|witness| (witness, way)));
        }
        ways.retain(|(witness, _)| !far.contains(witness));
        ways.sort_unstable();
        let mut offers = Vec::new();
        for ways in ways.chunk_by(|one, two| one.0 == two.0) {
            let class = self.row(ways[0].0)?.leader;
            if let Some(Measured { forward, reached: true, .. }) = self.measure_unproposed(subject, class)? {
                offers.push((Offer { similarity: forward, document: ways[0].0 }, ways));
            }
        }
        offers.sort_by(|(one, _), (two, _)| {
            two.similarity.total_cmp(&one.similarity).then(one.document.cmp(&two.document))
        });
        for (offer, ways) in offers {
            for &(_, way) in ways {
                let Some(near) = found.near.get_mut(way) else { return Ok(Some(offer)) };
                if self.measure(subject, near)?.is_some_and(|measured| measured.reached) {
                    return Ok(Some(offer));
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
        for head in self.snapshot.found(self.tables.heads(), class.into(), &mut self.desk.room)? {
            if self.row(head)?.state == State::Kept {
                return Ok(Some(head));
            }
        }
        Ok(None)
    }

    /// The kept documents that stand for removed ones of a class.
    fn witnesses(&mut self, class: u32) -> Result<Vec<u32>, IndexError> {
        let mut all = self.snapshot.found(self.tables.witnesses(), class.into(), &mut self.desk.room)?;
        if let State::Removed { witness, .. } = self.row(class)?.state {
            all.push(witness);
        }
        all.retain(|&witness| witness != NOBODY);
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

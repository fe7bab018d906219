//! Queries: the documents that a document is a near-duplicate of.

use lookalike_engine::measure::Measured;
use serde::Serialize;

use crate::candidates::SnapshotQuery;
use crate::error::IndexError;
use crate::index::Index;
use crate::query_buffers::{PreparedDocument, QueryBuffers, Subject};
use crate::row::State;

/// At most this number of documents with the same words is looked at.
const MOST_EQUALS: usize = 10_000;

/// A document that another one is a near-duplicate of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Match {
    /// Its number.
    pub number: u32,
    /// Its id.
    pub id: String,
    /// Its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The similarity of the queried document to this one; none if the methods give no number.
    pub similarity: Option<f64>,
    /// The similarity of this document to the queried one, for measures that are not symmetric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backward: Option<f64>,
    /// True if this document is kept.
    pub kept: bool,
}

/// All near-duplicates of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct Answer {
    /// The most similar ones, the earlier first of equally similar ones.
    pub matches: Vec<Match>,
    /// The number of all near-duplicates.
    pub total: usize,
}

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
        let mut hits = query.hits(prepared)?;
        hits.sort_by(|(one, first), (two, second)| {
            second.forward.total_cmp(&first.forward).then(one.cmp(two))
        });
        let directed = self.examiner().directed();
        let mut answer = Answer { total: hits.len(), ..Answer::default() };
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
    /// Returns all documents that are near-duplicates, with their measurements.
    fn hits(&mut self, prepared: &PreparedDocument) -> Result<Vec<(u32, Measured)>, IndexError> {
        let examined = &prepared.examined;
        let mut hits = Vec::new();
        if examined.words == 0 {
            return Ok(hits);
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
        Ok(hits)
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

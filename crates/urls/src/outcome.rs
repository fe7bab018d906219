//! The fate of left documents in snapshots, in a file.

use lookalike::engine::EngineError;
use lookalike::engine::store::file::{Records, Run};

use crate::Context;
use crate::measure::OUTCOMES;

/// Bytes of an outcome.
pub(crate) const WIDTH: usize = 14;

/// The fate of a left document in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    /// The document.
    pub(crate) group: u32,
    /// The snapshot, from 1.
    pub(crate) snapshot: u8,
    /// Its words are the same.
    pub(crate) unchanged: bool,
    /// It reaches the threshold.
    pub(crate) near: bool,
    /// Similarity of its two versions.
    pub(crate) similarity: f64,
}

impl Outcome {
    pub(crate) fn encode(&self) -> [u8; WIDTH] {
        let mut bytes = [0; WIDTH];
        bytes[..4].copy_from_slice(&self.group.to_le_bytes());
        bytes[4] = self.snapshot;
        bytes[5] = u8::from(self.unchanged) | u8::from(self.near) << 1;
        bytes[6..].copy_from_slice(&self.similarity.to_bits().to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Self {
        Outcome {
            group: u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")),
            snapshot: bytes[4],
            unchanged: bytes[5] & 1 != 0,
            near: bytes[5] & 2 != 0,
            similarity: f64::from_bits(u64::from_le_bytes(bytes[6..].try_into().expect("eight bytes"))),
        }
    }
}

/// Outcomes in the order of left documents.
pub(crate) struct Outcomes {
    records: Records,
    next: Option<Outcome>,
}

impl Outcomes {
    pub(crate) fn open(ctx: &Context<'_>) -> Result<Self, EngineError> {
        let run = Run::open(&ctx.work.file(OUTCOMES), ctx.work.label(OUTCOMES, WIDTH))?;
        let mut outcomes = Outcomes { records: run.records(), next: None };
        outcomes.step()?;
        Ok(outcomes)
    }

    fn step(&mut self) -> Result<(), EngineError> {
        self.next = self.records.next()?.map(Outcome::decode);
        Ok(())
    }

    /// Replaces `out` with the outcomes of a document; documents are asked for in their order.
    pub(crate) fn of(&mut self, group: u32, out: &mut Vec<Outcome>) -> Result<(), EngineError> {
        out.clear();
        while let Some(outcome) = self.next.filter(|outcome| outcome.group <= group) {
            if outcome.group == group {
                out.push(outcome);
            }
            self.step()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_come_back() {
        for (unchanged, near) in [(false, false), (false, true), (true, true)] {
            let outcome = Outcome { group: 7, snapshot: 200, unchanged, near, similarity: 0.123 };
            assert_eq!(Outcome::decode(&outcome.encode()), outcome);
        }
    }
}

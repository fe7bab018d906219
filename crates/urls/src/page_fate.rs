//! The fate of left documents in snapshots, in a file.

use lookalike::engine::EngineError;
use lookalike::engine::store::file::{Records, Run};

use crate::Context;
use crate::measure::PAGE_FATES;

/// Bytes of a fate in the file.
pub(crate) const WIDTH: usize = 14;

/// The fate of a left document in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PageFate {
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

impl PageFate {
    pub(crate) fn encode(&self) -> [u8; WIDTH] {
        let mut bytes = [0; WIDTH];
        bytes[..4].copy_from_slice(&self.group.to_le_bytes());
        bytes[4] = self.snapshot;
        bytes[5] = u8::from(self.unchanged) | u8::from(self.near) << 1;
        bytes[6..].copy_from_slice(&self.similarity.to_bits().to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Self {
        PageFate {
            group: u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")),
            snapshot: bytes[4],
            unchanged: bytes[5] & 1 != 0,
            near: bytes[5] & 2 != 0,
            similarity: f64::from_bits(u64::from_le_bytes(bytes[6..].try_into().expect("eight bytes"))),
        }
    }
}

/// Reads the fates of pages in the order of left documents.
pub(crate) struct PageFateReader {
    records: Records,
    next: Option<PageFate>,
}

impl PageFateReader {
    pub(crate) fn open(ctx: &Context<'_>) -> Result<Self, EngineError> {
        let run = Run::open(&ctx.work.file(PAGE_FATES), ctx.work.label(PAGE_FATES, WIDTH))?;
        let mut reader = PageFateReader { records: run.records(), next: None };
        reader.step()?;
        Ok(reader)
    }

    fn step(&mut self) -> Result<(), EngineError> {
        self.next = self.records.next()?.map(PageFate::decode);
        Ok(())
    }

    /// Replaces `out` with the fates of a document; documents are asked for in their order.
    pub(crate) fn of(&mut self, group: u32, out: &mut Vec<PageFate>) -> Result<(), EngineError> {
        out.clear();
        while let Some(fate) = self.next.filter(|fate| fate.group <= group) {
            if fate.group == group {
                out.push(fate);
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
    fn fates_come_back() {
        for (unchanged, near) in [(false, false), (false, true), (true, true)] {
            let fate = PageFate { group: 7, snapshot: 200, unchanged, near, similarity: 0.123 };
            assert_eq!(PageFate::decode(&fate.encode()), fate);
        }
    }
}

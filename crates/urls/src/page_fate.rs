//! The fate of left documents in snapshots, in a file.

use lookalike::engine::EngineError;
use lookalike::store::file::{Records, Run};

use crate::Context;

/// The file of fates, by address and snapshot.
pub(crate) const PAGE_FATES: &str = "outcomes";

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
    use lookalike::store::file::RunWriter;

    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn fates_come_back() {
        for (unchanged, near) in [(false, false), (false, true), (true, true)] {
            let fate = PageFate { group: 7, snapshot: 200, unchanged, near, similarity: 0.123 };
            assert_eq!(PageFate::decode(&fate.encode()), fate);
        }
    }

    fn fate(group: u32, snapshot: u8) -> PageFate {
        PageFate { group, snapshot, unchanged: false, near: true, similarity: 0.5 }
    }

    fn reader(fixture: &Fixture, fates: &[PageFate]) -> PageFateReader {
        let label = fixture.work.label(PAGE_FATES, WIDTH);
        let mut writer = RunWriter::create(&fixture.work.file(PAGE_FATES), label).unwrap();
        fates.iter().for_each(|fate| writer.push(&fate.encode()).unwrap());
        writer.finish().unwrap();
        PageFateReader::open(&fixture.ctx()).unwrap()
    }

    fn of(reader: &mut PageFateReader, group: u32) -> Vec<PageFate> {
        // What was there before goes.
        let mut out = vec![fate(99, 9)];
        reader.of(group, &mut out).unwrap();
        out
    }

    #[test]
    fn every_document_gets_its_own_fates() {
        let fixture = Fixture::empty(2);
        let mut reader = reader(&fixture, &[fate(0, 1), fate(0, 2), fate(3, 2), fate(7, 1)]);
        assert_eq!(of(&mut reader, 0), [fate(0, 1), fate(0, 2)]);
        assert_eq!(of(&mut reader, 1), []);
        assert_eq!(of(&mut reader, 3), [fate(3, 2)]);
        assert_eq!(of(&mut reader, 7), [fate(7, 1)]);
        assert_eq!(of(&mut reader, 8), []);
    }

    #[test]
    fn fates_of_documents_that_are_not_asked_for_are_passed_over() {
        let fixture = Fixture::empty(1);
        let mut reader = reader(&fixture, &[fate(1, 1), fate(2, 1), fate(4, 1)]);
        assert_eq!(of(&mut reader, 4), [fate(4, 1)]);
        assert_eq!(of(&mut reader, 4), []);
    }

    #[test]
    fn where_nothing_was_measured_there_are_no_fates() {
        let fixture = Fixture::empty(1);
        assert_eq!(of(&mut reader(&fixture, &[]), 0), []);
    }

    #[test]
    fn a_file_that_is_not_there_is_told() {
        let fixture = Fixture::empty(1);
        let Err(error) = PageFateReader::open(&fixture.ctx()) else { panic!("there is no such file") };
        assert!(error.to_string().contains(PAGE_FATES), "{error}");
    }
}

//! The table of removed documents, which is in the order of the input: a mark for every 256 lines leads to any of them.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use lookalike::tables::removed::{RemovedLine, RemovedNumbers};

use super::Clusters;
use crate::ServiceError;
use crate::source::SourceError;

/// Lines between two marks.
const STRIDE: u64 = 256;

/// The table of removed documents.
#[derive(Debug)]
pub(crate) struct Removals {
    file: PathBuf,
    /// Ordinal and offset of every 256th line.
    marks: Vec<(u64, u64)>,
    /// Removed documents by similarity in hundredths, the last for 1; those that were measured.
    pub(crate) histogram: Vec<u64>,
}

impl Removals {
    /// Reads the table through once, and tells `clusters` the similarities of their documents.
    pub(crate) fn open(file: &Path, clusters: &mut Clusters) -> Result<Self, ServiceError> {
        let opened = File::open(file).map_err(ServiceError::read(file))?;
        let mut reader = BufReader::with_capacity(1 << 20, opened);
        let mut removals = Removals { file: file.to_owned(), marks: Vec::new(), histogram: vec![0; 101] };
        let (mut line, mut offset, mut count) = (Vec::new(), 0, 0);
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line).map_err(ServiceError::read(file))?;
            if length == 0 {
                return Ok(removals);
            }
            let counted: RemovedNumbers = serde_json::from_slice(&line).map_err(|error| {
                ServiceError::Damaged { file: file.to_owned(), what: format!("line {}: {error}", count + 1) }
            })?;
            if count % STRIDE == 0 {
                removals.marks.push((counted.n, offset));
            }
            count += 1;
            offset += length as u64;
            let Some(similarity) = counted.similarity else { continue };
            removals.histogram[(similarity.clamp(0.0, 1.0) * 100.0) as usize] += 1;
            if let Some(line) = clusters.line_of(counted.witness_n, counted.against.is_some()) {
                clusters.note_similarity(line, similarity);
            }
        }
    }

    /// Returns the rows of documents, whose ordinals ascend; none for those that were not removed.
    pub(crate) fn of(&self, documents: &[u64]) -> Result<Vec<Option<RemovedLine>>, SourceError> {
        let mut found = vec![None; documents.len()];
        let mut from = 0;
        while from < documents.len() {
            let block = self.marks.partition_point(|(first, _)| *first <= documents[from]);
            let next = self.marks.get(block).map_or(u64::MAX, |(first, _)| *first);
            let to = from + documents[from..].partition_point(|document| *document < next);
            if let Some(block) = block.checked_sub(1) {
                self.read_block(block, &documents[from..to], &mut found[from..to])?;
            }
            from = to;
        }
        Ok(found)
    }

    fn read_block(
        &self,
        block: usize,
        documents: &[u64],
        found: &mut [Option<RemovedLine>],
    ) -> Result<(), SourceError> {
        let unreadable = |error| SourceError::unreadable(&self.file, error);
        let mut file = File::open(&self.file).map_err(unreadable)?;
        file.seek(SeekFrom::Start(self.marks[block].1)).map_err(unreadable)?;
        let last = documents.last().copied().unwrap_or_default();
        let mut lines = BufReader::with_capacity(64 << 10, file).split(b'\n');
        for _ in 0..STRIDE {
            let Some(line) = lines.next().transpose().map_err(unreadable)? else { break };
            let removal: RemovedLine =
                serde_json::from_slice(&line).map_err(|_| SourceError::changed(&self.file))?;
            if removal.n > last {
                break;
            }
            if let Ok(at) = documents.binary_search(&removal.n) {
                found[at] = Some(removal);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_document_is_found_by_its_ordinal() {
        let folder = tempfile::tempdir().unwrap();
        let [table, removed] = ["clusters.jsonl", "removed.jsonl"].map(|name| folder.path().join(name));
        let numbers: Vec<u64> = (1..1500).map(|n| n * 3).collect();
        let members = serde_json::to_string(&numbers).unwrap();
        let line = r#"{"cluster":0,"keep":"0","members":[],"members_n":"#;
        std::fs::write(&table, format!("{line}{members}}}\n")).unwrap();
        let row = |n: &u64| {
            let similarity = 0.8 + 0.1 * (n % 2) as f64;
            format!(
                "{{\"id\":\"d{n}\",\"witness\":\"0\",\"similarity\":{similarity},\"cluster\":0,\"n\":{n},\"witness_n\":0}}\n"
            )
        };
        std::fs::write(&removed, numbers.iter().map(row).collect::<String>()).unwrap();
        let mut clusters = Clusters::open(&table).unwrap();
        let removals = Removals::open(&removed, &mut clusters).unwrap();
        let wanted = [0, 3, 4, 765, 768, 771, 772, 2304, 4497, 4500];
        let found = removals.of(&wanted).unwrap();
        for (document, found) in wanted.iter().zip(&found) {
            let expected = numbers.contains(document).then(|| format!("d{document}"));
            assert_eq!(found.as_ref().map(|removal| removal.id.clone()), expected);
        }
        assert_eq!(removals.histogram.iter().sum::<u64>(), 1499);
        assert_eq!(clusters.lowest(0), Some(0.8));
    }
}

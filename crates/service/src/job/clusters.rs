//! The table of clusters: the offset of each line, the size of its cluster, and the lowest similarity of its documents.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use lookalike::report::SizeBin;
use lookalike::tables::clusters::{ClusterLine, ClusterSize};
use memchr::memmem::Finder;

use crate::ServiceError;
use crate::source::{SortOrder, SourceError};

/// A search reads at most this number of bytes of the table, so that it ends.
const MOST_SEARCHED: u64 = 1 << 30;
/// A search remembers at most this number of clusters.
const MOST_FOUND: usize = 100_000;

/// The table of clusters.
#[derive(Debug)]
pub(crate) struct Clusters {
    file: PathBuf,
    /// The offset of each line, and after the last one its end.
    offsets: Vec<u64>,
    keepers: Vec<u32>,
    sizes: Vec<u32>,
    /// The lowest similarity of a removed document to its keeper; above 1 where nothing was measured.
    lowest: Vec<f32>,
    /// Clusters before this one have their keeper in the other corpus, with numbers of its own.
    first_own: usize,
    by_size: OnceLock<Vec<u32>>,
    by_similarity: OnceLock<Vec<u32>>,
    /// The result of the last search.
    last_search: Mutex<Option<(String, Arc<Matches>)>>,
}

/// The result of a search.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    /// Numbers of lines, ascending.
    pub(crate) lines: Vec<u32>,
    /// True if the whole table was searched.
    pub(crate) complete: bool,
}

impl Clusters {
    /// Goes through the table once.
    pub(crate) fn open(file: &Path) -> Result<Self, ServiceError> {
        let opened = File::open(file).map_err(ServiceError::read(file))?;
        let mut reader = BufReader::with_capacity(1 << 20, opened);
        let mut clusters = Clusters {
            file: file.to_owned(),
            offsets: vec![0],
            keepers: Vec::new(),
            sizes: Vec::new(),
            lowest: Vec::new(),
            first_own: 0,
            by_size: OnceLock::new(),
            by_similarity: OnceLock::new(),
            last_search: Mutex::new(None),
        };
        let (mut line, mut offset) = (Vec::new(), 0);
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line).map_err(ServiceError::read(file))?;
            if length == 0 {
                break;
            }
            offset += length as u64;
            let counted: ClusterSize =
                serde_json::from_slice(&line).map_err(|error| ServiceError::Damaged {
                    file: file.to_owned(),
                    what: format!("line {}: {error}", clusters.keepers.len() + 1),
                })?;
            clusters.offsets.push(offset);
            clusters.keepers.push(counted.cluster);
            clusters.sizes.push(counted.members_n.0);
            clusters.first_own += usize::from(counted.against.is_some());
        }
        clusters.lowest = vec![f32::INFINITY; clusters.len()];
        Ok(clusters)
    }

    pub(crate) fn len(&self) -> usize {
        self.keepers.len()
    }

    /// The line of a cluster, by the ordinal of its keeper in the input or in the other corpus.
    pub(crate) fn line_of(&self, keeper: u64, other: bool) -> Option<u32> {
        let keeper = u32::try_from(keeper).ok()?;
        let lines = if other { 0..self.first_own } else { self.first_own..self.len() };
        let at = self.keepers[lines.clone()].binary_search(&keeper).ok()?;
        Some((lines.start + at) as u32)
    }

    /// Notes a similarity, if it is the least one so far.
    pub(crate) fn note_similarity(&mut self, line: u32, similarity: f64) {
        let lowest = &mut self.lowest[line as usize];
        *lowest = lowest.min(similarity as f32);
    }

    pub(crate) fn size(&self, line: u32) -> u64 {
        self.sizes[line as usize].into()
    }

    pub(crate) fn lowest(&self, line: u32) -> Option<f64> {
        let lowest = self.lowest[line as usize];
        // What was read has few decimals; what a wider float adds to them is noise.
        lowest.is_finite().then(|| (f64::from(lowest) * 1e6).round() / 1e6)
    }

    /// Clusters by size, in powers of two.
    pub(crate) fn sizes(&self) -> Vec<SizeBin> {
        size_bins(self.sizes.iter().copied())
    }

    /// A cluster, read from the table.
    pub(crate) fn read(&self, line: u32) -> Result<ClusterLine, SourceError> {
        let (from, to) = (self.offsets[line as usize], self.offsets[line as usize + 1]);
        let mut file = File::open(&self.file).map_err(|error| SourceError::unreadable(&self.file, error))?;
        let mut bytes = Vec::new();
        let read =
            file.seek(SeekFrom::Start(from)).and_then(|_| file.take(to - from).read_to_end(&mut bytes));
        read.map_err(|error| SourceError::unreadable(&self.file, error))?;
        serde_json::from_slice(&bytes).map_err(|_| SourceError::changed(&self.file))
    }

    /// Lines `offset` to `offset + count` in an order; all, or those that a search found.
    pub(crate) fn page(
        &self,
        among: Option<&[u32]>,
        order: SortOrder,
        offset: usize,
        count: usize,
    ) -> Vec<u32> {
        let all;
        let lines: &[u32] = match (among, order) {
            (Some(among), SortOrder::Number { .. }) => among,
            (Some(among), order) => {
                all = self.sorted(among.to_vec(), order);
                &all
            }
            (None, SortOrder::Number { descending }) => {
                let line = |at: usize| if descending { self.len() - 1 - at } else { at } as u32;
                return (offset.min(self.len())..self.len().min(offset + count)).map(line).collect();
            }
            (None, SortOrder::Size { .. }) => self.by_size.get_or_init(|| self.sorted(self.all(), order)),
            (None, SortOrder::Similarity { .. }) => {
                self.by_similarity.get_or_init(|| self.sorted(self.all(), order))
            }
        };
        match order.descending() {
            true => lines.iter().rev().skip(offset).take(count).copied().collect(),
            false => lines.iter().skip(offset).take(count).copied().collect(),
        }
    }

    fn all(&self) -> Vec<u32> {
        (0..self.len() as u32).collect()
    }

    /// Lines in ascending order, whatever the direction.
    fn sorted(&self, mut lines: Vec<u32>, order: SortOrder) -> Vec<u32> {
        match order {
            SortOrder::Number { .. } => {}
            SortOrder::Size { .. } => lines.sort_by_key(|line| self.sizes[*line as usize]),
            SortOrder::Similarity { .. } => {
                lines.sort_by(|a, b| self.lowest[*a as usize].total_cmp(&self.lowest[*b as usize]))
            }
        }
        lines
    }

    /// Clusters with `part_of_id` in the id of one of their documents.
    pub(crate) fn search(&self, part_of_id: &str) -> Result<Arc<Matches>, SourceError> {
        // Whoever waits for the search of somebody else is glad to have it when it asks for the same.
        let mut found = self.last_search.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, matches)) = &*found
            && before == part_of_id
        {
            return Ok(matches.clone());
        }
        let matches = Arc::new(self.search_table(part_of_id)?);
        *found = Some((part_of_id.to_owned(), matches.clone()));
        Ok(matches)
    }

    fn search_table(&self, part_of_id: &str) -> Result<Matches, SourceError> {
        let unreadable = |error| SourceError::unreadable(&self.file, error);
        let quoted = serde_json::to_string(part_of_id).unwrap_or_default();
        // As it would stand inside an id: most lines are passed over without being parsed.
        let finder = Finder::new(quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default());
        let mut reader = BufReader::with_capacity(1 << 20, File::open(&self.file).map_err(unreadable)?);
        let mut matches = Matches { lines: Vec::new(), complete: true };
        let mut line = Vec::new();
        for index in 0..self.len() as u32 {
            if self.offsets[index as usize] > MOST_SEARCHED || matches.lines.len() >= MOST_FOUND {
                matches.complete = false;
                break;
            }
            line.clear();
            reader.read_until(b'\n', &mut line).map_err(unreadable)?;
            if finder.find(&line).is_none() {
                continue;
            }
            let cluster: ClusterLine =
                serde_json::from_slice(&line).map_err(|_| SourceError::changed(&self.file))?;
            if cluster.keep.contains(part_of_id) || cluster.members.iter().any(|id| id.contains(part_of_id)) {
                matches.lines.push(index);
            }
        }
        Ok(matches)
    }
}

/// Sizes in powers of two, without empty ones.
pub(crate) fn size_bins(sizes: impl Iterator<Item = u32>) -> Vec<SizeBin> {
    let mut bins = [0; 32];
    for size in sizes {
        bins[size.max(1).ilog2() as usize] += 1;
    }
    let bin = |(power, &clusters): (usize, &u64)| SizeBin {
        least: (1 << power).max(2),
        most: (2 << power) - 1,
        clusters,
    };
    bins.iter().enumerate().filter(|(_, clusters)| **clusters > 0).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clusters of 3, 2 and 2 documents; the second has a member with a quote in its id.
    fn table() -> (tempfile::TempDir, Clusters) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("clusters.jsonl");
        let lines = [
            r#"{"cluster":1,"keep":"a","members":["a","b","c"],"members_n":[1,2,3]}"#,
            r#"{"cluster":5,"keep":"members","members":["members","x\"y"],"members_n":[5,9]}"#,
            r#"{"cluster":6,"keep":"d","members":["d","e"],"members_n":[6,7]}"#,
        ];
        std::fs::write(&file, lines.join("\n") + "\n").unwrap();
        let mut clusters = Clusters::open(&file).unwrap();
        for (line, similarity) in [(0, 0.9), (0, 0.8), (1, 1.0), (2, 0.85)] {
            clusters.note_similarity(line, similarity);
        }
        (folder, clusters)
    }

    #[test]
    fn clusters_are_found_by_their_keepers() {
        let (_folder, clusters) = table();
        assert_eq!(
            [1, 5, 6, 7].map(|keeper| clusters.line_of(keeper, false)),
            [Some(0), Some(1), Some(2), None]
        );
        assert_eq!(clusters.line_of(1, true), None);
        assert_eq!(clusters.read(1).unwrap().members, ["members", "x\"y"]);
        assert_eq!((clusters.size(0), clusters.lowest(0)), (3, Some(0.8)));
    }

    #[test]
    fn every_order_has_both_directions() {
        let (_folder, clusters) = table();
        let page = |order| clusters.page(None, order, 0, 9);
        assert_eq!(page(SortOrder::Number { descending: false }), [0, 1, 2]);
        assert_eq!(page(SortOrder::Number { descending: true }), [2, 1, 0]);
        assert_eq!(page(SortOrder::Size { descending: true })[0], 0);
        assert_eq!(page(SortOrder::Size { descending: false })[2], 0);
        assert_eq!(page(SortOrder::Similarity { descending: false }), [0, 2, 1]);
        assert_eq!(page(SortOrder::Similarity { descending: true }), [1, 2, 0]);
        let among = |order| clusters.page(Some(&[0, 2]), order, 0, 9);
        assert_eq!(among(SortOrder::Number { descending: true }), [2, 0]);
        assert_eq!(among(SortOrder::Similarity { descending: true }), [2, 0]);
        assert_eq!(among(SortOrder::Similarity { descending: false }), [0, 2]);
        assert_eq!(clusters.page(None, SortOrder::Number { descending: false }, 2, 9), [2]);
        assert!(clusters.page(None, SortOrder::Size { descending: true }, 9, 9).is_empty());
    }

    #[test]
    fn a_search_looks_at_ids_and_at_nothing_else() {
        let (_folder, clusters) = table();
        let found = |part_of_id| clusters.search(part_of_id).unwrap().lines.clone();
        assert_eq!(found("members"), [1]);
        assert_eq!(found("x\"y"), [1]);
        assert_eq!(found("e"), [1, 2]);
        assert!(found("cluster").is_empty() && found("zzz").is_empty());
    }

    #[test]
    fn a_damaged_table_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("clusters.jsonl");
        std::fs::write(&file, "{\"cluster\":1,\"members_n\":[]}\n{\"clus").unwrap();
        assert!(Clusters::open(&file).unwrap_err().to_string().contains("line 2: "));
    }
}

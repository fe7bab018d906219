//! The neighbours of every node: in memory, or in a file.

use std::ops::Range;
use std::path::Path;

use lookalike_store::file::{RandomAccess, Run, RunWriter};
use lookalike_store::sort::{Codec, Sorter, existing};

use super::star::{Adjacency, Neighbour};
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;

/// The neighbours of every node, in memory.
pub(crate) struct NeighbourLists {
    starts: Vec<usize>,
    entries: Vec<Neighbour>,
}

impl NeighbourLists {
    /// Takes pairs, of which `ends` tells both ends.
    pub(crate) fn new<P>(nodes: usize, pairs: &[P], ends: impl Fn(&P) -> [(u32, Neighbour); 2]) -> Self {
        // Counted, summed up, and then put where they belong: one array for all nodes, without a list for
        // each.
        let mut starts = vec![0; nodes + 1];
        for (node, _) in pairs.iter().flat_map(&ends) {
            starts[node as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut entries = vec![Neighbour::default(); pairs.len() * 2];
        for (node, entry) in pairs.iter().flat_map(&ends) {
            entries[next[node as usize]] = entry;
            next[node as usize] += 1;
        }
        NeighbourLists { starts, entries }
    }

    /// Returns the range of the neighbours of a node among all entries.
    pub(super) fn range_of(&self, node: u32) -> Range<usize> {
        self.starts[node as usize]..self.starts[node as usize + 1]
    }

    /// The neighbours of all nodes.
    pub(super) fn entries(&mut self) -> &mut [Neighbour] {
        &mut self.entries
    }
}

impl Adjacency for NeighbourLists {
    fn of(&mut self, node: u32) -> Result<&[Neighbour], EngineError> {
        Ok(&self.entries[self.range_of(node)])
    }
}

/// One end of a pair in a file: whose neighbour, which node, similarity, whether it was measured (1) and reaches the
/// threshold (2).
#[derive(Debug, Clone, Copy)]
struct Ends;

impl Codec for Ends {
    type Item = (u32, u32, u64, u8);
    const KIND: &'static str = "ends";

    fn width(self) -> usize {
        17
    }

    fn put(self, (node, neighbour, similarity, flags): Self::Item, out: &mut [u8]) {
        out[..4].copy_from_slice(&node.to_le_bytes());
        out[4..8].copy_from_slice(&neighbour.to_le_bytes());
        out[8..16].copy_from_slice(&similarity.to_le_bytes());
        out[16] = flags;
    }

    fn get(self, bytes: &[u8]) -> Self::Item {
        let four = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let similarity = u64::from_le_bytes(bytes[8..16].try_into().expect("eight bytes"));
        (four(0), four(4), similarity, bytes[16])
    }
}

/// Edges on their way into a file.
pub(super) struct EdgeWriter {
    sorter: Sorter<Ends>,
}

impl EdgeWriter {
    pub(super) fn new(ctx: &Context<'_>, memory: usize) -> Result<Self, EngineError> {
        existing(&ctx.run_location("ends"))?.iter().try_for_each(|path| remove_if_there(path))?;
        Ok(EdgeWriter { sorter: Sorter::new(ctx.run_location("ends"), Ends, memory) })
    }

    pub(super) fn push(&mut self, ends: [(u32, Neighbour); 2]) -> Result<(), EngineError> {
        ends.into_iter().try_for_each(|(node, entry)| {
            let flags = u8::from(entry.measured) | u8::from(entry.reached) << 1;
            // By its bits, which can be compared. No node has a neighbour twice, so that these never decide
            // the order.
            Ok(self.sorter.push((node, entry.node, entry.similarity.to_bits(), flags))?)
        })
    }

    /// All neighbours, by node. Costs 8 bytes per node in memory.
    pub(super) fn finish(
        self,
        ctx: &Context<'_>,
        nodes: usize,
        path: &Path,
    ) -> Result<NeighbourFile, EngineError> {
        let label = ctx.label(Ends::KIND, Ends.width());
        // One file in place of several sorted runs: only in one file the neighbours of a node stand together.
        let mut writer = RunWriter::create(path, label)?;
        let mut starts = Vec::with_capacity(nodes + 1);
        let (mut sorted, mut count, mut bytes) = (self.sorter.sorted()?, 0u64, [0; 17]);
        while let Some(item) = sorted.next()? {
            // Nodes without neighbours begin where the next one with any does.
            while starts.len() <= item.0 as usize {
                starts.push(count);
            }
            Ends.put(item, &mut bytes);
            writer.push(&bytes)?;
            count += 1;
        }
        // Nodes behind the last one with neighbours have none, and the last entry is the end of all.
        starts.resize(nodes + 1, count);
        writer.finish()?;
        existing(&ctx.run_location("ends"))?.iter().try_for_each(|path| remove_if_there(path))?;
        Ok(NeighbourFile { starts, access: RandomAccess::new(Run::open(path, label)?), buffer: Vec::new() })
    }
}

/// The neighbours of every node, in a file.
pub(super) struct NeighbourFile {
    starts: Vec<u64>,
    access: RandomAccess,
    buffer: Vec<Neighbour>,
}

impl Adjacency for NeighbourFile {
    fn of(&mut self, node: u32) -> Result<&[Neighbour], EngineError> {
        self.buffer.clear();
        for index in self.starts[node as usize]..self.starts[node as usize + 1] {
            let (_, node, similarity, flags) = Ends.get(self.access.record(index)?);
            let (measured, reached) = (flags & 1 > 0, flags & 2 > 0);
            self.buffer.push(Neighbour { node, similarity: f64::from_bits(similarity), measured, reached });
        }
        Ok(&self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Measured;
    use crate::stages::verify::star::Edge;
    use crate::tests::context::StageTest;
    use crate::tests::recipe;
    use proptest::prelude::*;

    fn edge(a: u32, b: u32, similarity: f64) -> Edge {
        let reached = similarity >= 0.8;
        Edge { a, b, measured: Measured { forward: similarity, backward: 0.5, reached, reached_back: false } }
    }

    fn all(lists: &mut dyn Adjacency, nodes: u32) -> Vec<Vec<Neighbour>> {
        let of = |node| {
            let mut near = lists.of(node).unwrap().to_vec();
            near.sort_by(|a, b| a.node.cmp(&b.node).then(a.similarity.total_cmp(&b.similarity)));
            near
        };
        (0..nodes).map(of).collect()
    }

    #[test]
    fn both_ends_of_a_pair_are_neighbours() {
        let mut lists = NeighbourLists::new(4, &[edge(0, 2, 0.9)], Edge::ends);
        let neighbour = |node, similarity, reached| Neighbour { similarity, node, measured: true, reached };
        let found = all(&mut lists, 4);
        assert_eq!(found, [vec![neighbour(2, 0.9, true)], vec![], vec![neighbour(0, 0.5, false)], vec![]]);
        assert_eq!((lists.range_of(0), lists.range_of(1), lists.range_of(2)), (0..1, 1..1, 1..2));
    }

    #[test]
    fn candidates_are_not_measured_until_they_are() {
        let mut lists = NeighbourLists::new(2, &[(0, 1)], |&(a, b)| Neighbour::ends(a, b));
        assert!(lists.of(0).unwrap().iter().all(|near| !near.measured && !near.reached));
        let measured = Measured { forward: 0.9, backward: 0.9, reached: true, reached_back: true };
        lists.entries()[0].set_measured(Some(measured));
        lists.entries()[1].set_measured(None);
        let found = all(&mut lists, 2);
        assert_eq!(found[0], [Neighbour { similarity: 0.9, node: 1, measured: true, reached: true }]);
        assert_eq!(found[1], [Neighbour { similarity: 0.0, node: 0, measured: true, reached: false }]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn neighbours_in_a_file_are_those_in_memory(
            pairs in prop::collection::vec((0u32..9, 0u32..9, 0u32..=10), 0..30),
            measured: bool,
        ) {
            let test = StageTest::new(recipe("md5"), "");
            let ctx = test.context();
            let edges: Vec<Edge> = pairs
                .into_iter()
                .filter(|(a, b, _)| a != b)
                .map(|(a, b, tenths)| edge(a, b, f64::from(tenths) / 10.0))
                .collect();
            let ends = |edge: &Edge| if measured { edge.ends() } else { Neighbour::ends(edge.a, edge.b) };
            let mut writer = EdgeWriter::new(&ctx, 1 << 16).unwrap();
            edges.iter().for_each(|edge| writer.push(ends(edge)).unwrap());
            let mut file = writer.finish(&ctx, 9, &ctx.file("neighbours")).unwrap();
            let mut lists = NeighbourLists::new(9, &edges, ends);
            prop_assert_eq!(all(&mut file, 9), all(&mut lists, 9));
            prop_assert!(existing(&ctx.run_location("ends")).unwrap().is_empty());
        }

        #[test]
        fn ends_are_read_back(node: u32, neighbour: u32, similarity: u64, flags: u8) {
            let mut bytes = [0; 17];
            Ends.put((node, neighbour, similarity, flags), &mut bytes);
            prop_assert_eq!(bytes.len(), Ends.width());
            prop_assert_eq!(Ends.get(&bytes), (node, neighbour, similarity, flags));
        }
    }
}

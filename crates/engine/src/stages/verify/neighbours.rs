//! The neighbours of every node: in memory, or in a file.

use std::ops::Range;
use std::path::{Path, PathBuf};

use lookalike_model::NodeId;
use lookalike_store::file::{RandomAccess, Run, RunWriter};
use lookalike_store::sort::{Codec, Sorter, existing};

use super::star::{Adjacency, MeasuredNeighbour, Neighbour};
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;

/// The neighbours of every node, in memory.
pub(crate) struct NeighbourLists<N> {
    starts: Vec<usize>,
    entries: Vec<N>,
}

impl<N: Copy + Default> NeighbourLists<N> {
    /// Takes pairs, of which `ends` tells both ends.
    pub(crate) fn new<P>(nodes: usize, pairs: &[P], ends: impl Fn(&P) -> [(NodeId, N); 2]) -> Self {
        // Counted, summed up, and then put where they belong: one array for all nodes, without a list for
        // each.
        let mut starts = vec![0; nodes + 1];
        for (node, _) in pairs.iter().flat_map(&ends) {
            starts[node.index() + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut entries = vec![N::default(); pairs.len() * 2];
        for (node, entry) in pairs.iter().flat_map(&ends) {
            entries[next[node.index()]] = entry;
            next[node.index()] += 1;
        }
        NeighbourLists { starts, entries }
    }
}

impl<N> NeighbourLists<N> {
    /// Returns the range of the neighbours of a node among all entries.
    pub(super) fn range_of(&self, node: NodeId) -> Range<usize> {
        self.starts[node.index()]..self.starts[node.index() + 1]
    }

    /// The neighbours of all nodes.
    pub(super) fn entries(&mut self) -> &mut [N] {
        &mut self.entries
    }
}

impl<N> Adjacency<N> for NeighbourLists<N> {
    fn of(&mut self, node: NodeId) -> Result<&[N], EngineError> {
        Ok(&self.entries[self.range_of(node)])
    }
}

/// One end of a pair in a file. It orders by node; no node has a neighbour twice, so that the rest never decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PairEnd {
    node: NodeId,
    neighbour: NodeId,
    /// The similarity by its bits, which can be compared.
    similarity: u64,
    /// [`MEASURED`] and [`REACHED`].
    flags: u8,
}

/// The bit of a pair that was measured.
const MEASURED: u8 = 1;
/// The bit of a pair that reaches the threshold in this direction.
const REACHED: u8 = 2;

impl PairEnd {
    fn new(node: NodeId, neighbour: Neighbour) -> Self {
        let (similarity, flags) = match neighbour {
            Neighbour::Candidate(_) => (0, 0),
            Neighbour::Measured(MeasuredNeighbour { similarity, reached, .. }) => {
                (similarity.to_bits(), MEASURED | if reached { REACHED } else { 0 })
            }
        };
        PairEnd { node, neighbour: neighbour.node(), similarity, flags }
    }

    fn neighbour(self) -> Neighbour {
        if self.flags & MEASURED == 0 {
            return Neighbour::Candidate(self.neighbour);
        }
        Neighbour::Measured(MeasuredNeighbour {
            similarity: f64::from_bits(self.similarity),
            node: self.neighbour,
            reached: self.flags & REACHED > 0,
        })
    }
}

/// Converts the ends of pairs to and from their bytes: node, neighbour, similarity, flags.
#[derive(Debug, Clone, Copy)]
struct Ends;

impl Codec for Ends {
    type Item = PairEnd;
    const KIND: &'static str = "ends";

    fn width(self) -> usize {
        17
    }

    fn put(self, end: PairEnd, out: &mut [u8]) {
        out[..4].copy_from_slice(&end.node.to_le_bytes());
        out[4..8].copy_from_slice(&end.neighbour.to_le_bytes());
        out[8..16].copy_from_slice(&end.similarity.to_le_bytes());
        out[16] = end.flags;
    }

    fn get(self, bytes: &[u8]) -> PairEnd {
        let similarity = u64::from_le_bytes(bytes[8..16].try_into().expect("eight bytes"));
        PairEnd {
            node: NodeId::from_le_bytes(&bytes[..4]),
            neighbour: NodeId::from_le_bytes(&bytes[4..8]),
            similarity,
            flags: bytes[16],
        }
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

    pub(super) fn push(&mut self, ends: [(NodeId, Neighbour); 2]) -> Result<(), EngineError> {
        ends.into_iter().try_for_each(|(node, entry)| Ok(self.sorter.push(PairEnd::new(node, entry))?))
    }

    /// All neighbours, by node. Costs 8 bytes per node in memory.
    pub(super) fn finish(
        self,
        ctx: &Context<'_>,
        nodes: usize,
        path: &Path,
    ) -> Result<NeighbourFile<Neighbour>, EngineError> {
        let label = ctx.label(Ends::KIND, Ends.width());
        // One file in place of several sorted runs: only in one file the neighbours of a node stand together.
        let mut writer = RunWriter::create(path, label)?;
        let mut starts = Vec::with_capacity(nodes + 1);
        let (mut sorted, mut count, mut bytes) = (self.sorter.sorted()?, 0u64, [0; 17]);
        while let Some(end) = sorted.next()? {
            // Nodes without neighbours begin where the next one with any does.
            while starts.len() <= end.node.index() {
                starts.push(count);
            }
            Ends.put(end, &mut bytes);
            writer.push(&bytes)?;
            count += 1;
        }
        // Nodes behind the last one with neighbours have none, and the last entry is the end of all.
        starts.resize(nodes + 1, count);
        writer.finish()?;
        existing(&ctx.run_location("ends"))?.iter().try_for_each(|path| remove_if_there(path))?;
        let access = RandomAccess::new(Run::open(path, label)?);
        Ok(NeighbourFile { starts, access, path: path.to_owned(), buffer: Vec::new() })
    }
}

/// The neighbours of every node, in a file.
pub(super) struct NeighbourFile<N> {
    starts: Vec<u64>,
    access: RandomAccess,
    path: PathBuf,
    buffer: Vec<N>,
}

impl NeighbourFile<Neighbour> {
    /// The same for a rule that takes measured pairs alone: a candidate among them is damage.
    pub(super) fn into_measured(self) -> NeighbourFile<MeasuredNeighbour> {
        let NeighbourFile { starts, access, path, .. } = self;
        NeighbourFile { starts, access, path, buffer: Vec::new() }
    }
}

impl<N: TryFrom<Neighbour>> Adjacency<N> for NeighbourFile<N> {
    fn of(&mut self, node: NodeId) -> Result<&[N], EngineError> {
        self.buffer.clear();
        for index in self.starts[node.index()]..self.starts[node.index() + 1] {
            let neighbour = Ends.get(self.access.record(index)?).neighbour();
            self.buffer.push(neighbour.try_into().map_err(|_| EngineError::Damaged {
                file: self.path.clone(),
                what: "a pair was not measured".to_owned(),
            })?);
        }
        Ok(&self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Measured;
    use crate::stages::verify::star::Edge;
    use crate::tests::context::{StageTest, node};
    use crate::tests::recipe;
    use proptest::prelude::*;

    fn edge(a: u32, b: u32, similarity: f64) -> Edge {
        let reached = similarity >= 0.8;
        let measured = Measured { forward: similarity, backward: 0.5, reached, reached_back: false };
        Edge { a: node(a), b: node(b), measured }
    }

    fn measured(at: u32, similarity: f64, reached: bool) -> Neighbour {
        Neighbour::Measured(MeasuredNeighbour { similarity, node: node(at), reached })
    }

    fn all(lists: &mut dyn Adjacency<Neighbour>, nodes: u32) -> Vec<Vec<Neighbour>> {
        let similarity = |near: &Neighbour| match near {
            Neighbour::Candidate(_) => 0.0,
            Neighbour::Measured(near) => near.similarity,
        };
        let of = |node| {
            let mut near = lists.of(node).unwrap().to_vec();
            near.sort_by(|a, b| a.node().cmp(&b.node()).then(similarity(a).total_cmp(&similarity(b))));
            near
        };
        NodeId::range(0, nodes).map(of).collect()
    }

    #[test]
    fn both_ends_of_a_pair_are_neighbours() {
        let mut lists = NeighbourLists::new(4, &[edge(0, 2, 0.9)], Edge::ends);
        let found = all(&mut lists, 4);
        assert_eq!(found, [vec![measured(2, 0.9, true)], vec![], vec![measured(0, 0.5, false)], vec![]]);
        assert_eq!([0, 1, 2].map(|at| lists.range_of(node(at))), [0..1, 1..1, 1..2]);
    }

    #[test]
    fn candidates_are_not_measured_until_they_are() {
        let mut lists = NeighbourLists::new(2, &[[0, 1].map(node)], |&pair| Neighbour::ends(pair));
        assert!(lists.of(node(0)).unwrap().iter().all(Neighbour::is_candidate));
        lists.entries()[0].set_measured(Some(Measured::same(0.9, true)));
        lists.entries()[1].set_measured(None);
        let found = all(&mut lists, 2);
        assert_eq!(found, [[measured(1, 0.9, true)], [measured(0, 0.0, false)]]);
    }

    #[test]
    fn a_candidate_in_a_file_of_measured_pairs_is_damage() {
        let test = StageTest::new(recipe("md5"), "");
        let ctx = test.context();
        let mut writer = EdgeWriter::new(&ctx, 1 << 16).unwrap();
        writer.push(edge(0, 1, 0.9).ends()).unwrap();
        writer.push(Neighbour::ends([2, 3].map(node))).unwrap();
        let mut file = writer.finish(&ctx, 4, &ctx.file("neighbours")).unwrap().into_measured();
        let near = MeasuredNeighbour { similarity: 0.9, node: node(1), reached: true };
        assert_eq!(file.of(node(0)).unwrap(), [near]);
        let error = file.of(node(2)).unwrap_err().to_string();
        assert!(error.contains("neighbours is damaged: a pair was not measured"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn neighbours_in_a_file_are_those_in_memory(
            pairs in prop::collection::vec((0u32..9, 0u32..9, 0u32..=10), 0..30),
            are_measured: bool,
        ) {
            let test = StageTest::new(recipe("md5"), "");
            let ctx = test.context();
            let edges: Vec<Edge> = pairs
                .into_iter()
                .filter(|(a, b, _)| a != b)
                .map(|(a, b, tenths)| edge(a, b, f64::from(tenths) / 10.0))
                .collect();
            let ends = |edge: &Edge| if are_measured { edge.ends() } else { Neighbour::ends([edge.a, edge.b]) };
            let mut writer = EdgeWriter::new(&ctx, 1 << 16).unwrap();
            edges.iter().for_each(|edge| writer.push(ends(edge)).unwrap());
            let mut file = writer.finish(&ctx, 9, &ctx.file("neighbours")).unwrap();
            let mut lists = NeighbourLists::new(9, &edges, ends);
            prop_assert_eq!(all(&mut file, 9), all(&mut lists, 9));
            prop_assert!(existing(&ctx.run_location("ends")).unwrap().is_empty());
        }

        #[test]
        fn ends_are_read_back(one: u32, other: u32, similarity: u64, flags: u8) {
            let (mut bytes, end) = ([0; 17], PairEnd { node: node(one), neighbour: node(other), similarity, flags });
            Ends.put(end, &mut bytes);
            prop_assert_eq!(bytes.len(), Ends.width());
            prop_assert_eq!(Ends.get(&bytes), end);
        }
    }
}

//! Clusters: the documents that are kept, and the kept one that stands for each that is removed.
//!
//! `star`: go through the documents in keep order. A document whose verified neighbours include kept ones is removed;
//! its witness is the most similar of them, and of equally similar ones the first in keep order. Otherwise, if
//! neighbours were removed, the witnesses of those are measured against it, and the same rule applies to those at or
//! above the threshold. Otherwise it is kept.
//!
//! `components`: all but the first document of each connected component are removed.
//!
//! Documents with equal words are one node: they have the same neighbours and are each other's, nearest before all
//! others.
//!
//! Few of the pairs that a method proposes decide anything: of a hundred copies each need be compared with the kept one
//! alone. So `star` takes candidates as they are, and has a pair measured only when one of its documents is decided: a
//! [`Neighbour`] is a candidate until it is measured. `components` takes measured pairs and nothing else.
//!
//! `pairs` and `components` measure all candidates. Which pairs are measured depends on the candidates and the keep order
//! alone, so that counts, histogram and samples are the same for any memory and any number of threads.

use std::collections::HashMap;

use lookalike_model::{DocNumber, NodeId, Removal};
use lookalike_store::bits::Bits;

use crate::decision::{OneHop, Way, Witness, best_by_one_hop};
use crate::error::EngineError;
use crate::measure::Measured;

/// A verified pair of nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edge {
    pub(crate) a: NodeId,
    pub(crate) b: NodeId,
    pub(crate) measured: Measured,
}

/// A document that is kept or removed by the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contender {
    pub(crate) document: DocNumber,
    pub(crate) node: NodeId,
    /// It is only there to be compared with, and always kept.
    pub(crate) reference: bool,
}

/// Measures the similarity of two nodes.
pub(crate) trait Judge {
    /// The similarity of `a` to its candidate `b`; nothing when it is out of reach.
    fn candidate(&mut self, a: NodeId, b: NodeId) -> Result<Option<Measured>, EngineError>;
    /// The similarity of `a` to `b`, a pair that no method proposed; nothing when it is out of the threshold's reach.
    fn near(&mut self, a: NodeId, b: NodeId) -> Result<Option<Measured>, EngineError>;
    /// The similarity of `a` to `b`, however low.
    fn any(&mut self, a: NodeId, b: NodeId) -> Result<f64, EngineError>;
}

/// Lists the neighbours of every node: candidates among them, or only measured ones.
pub(crate) trait Adjacency<N> {
    /// The neighbours of a node, in any order.
    fn of(&mut self, node: NodeId) -> Result<&[N], EngineError>;
}

/// One end of a pair that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct MeasuredNeighbour {
    /// Similarity of the one to the other; 0 where it is out of reach.
    pub(crate) similarity: f64,
    pub(crate) node: NodeId,
    /// It reaches the threshold in this direction.
    pub(crate) reached: bool,
}

impl MeasuredNeighbour {
    /// The neighbour `node`, and what was measured; nothing where it is out of reach.
    pub(crate) fn new(node: NodeId, measured: Option<Measured>) -> Self {
        let Measured { forward, reached, .. } = measured.unwrap_or(Measured::NONE);
        MeasuredNeighbour { similarity: forward, node, reached }
    }
}

/// One end of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Neighbour {
    /// The pair was only proposed: nothing follows from it until it is measured.
    Candidate(NodeId),
    /// The pair was measured.
    Measured(MeasuredNeighbour),
}

// There are two for each candidate: the flag of a measurement has room for what tells the two apart.
const _: () = assert!(size_of::<Neighbour>() == 16);

impl Default for Neighbour {
    fn default() -> Self {
        Neighbour::Candidate(NodeId::default())
    }
}

impl From<MeasuredNeighbour> for Neighbour {
    fn from(measured: MeasuredNeighbour) -> Self {
        Neighbour::Measured(measured)
    }
}

/// The error about a candidate where a measured pair is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotMeasured;

impl TryFrom<Neighbour> for MeasuredNeighbour {
    type Error = NotMeasured;

    fn try_from(neighbour: Neighbour) -> Result<Self, NotMeasured> {
        match neighbour {
            Neighbour::Candidate(_) => Err(NotMeasured),
            Neighbour::Measured(measured) => Ok(measured),
        }
    }
}

impl Neighbour {
    /// The other node of the pair.
    #[inline]
    pub(crate) fn node(&self) -> NodeId {
        match self {
            Neighbour::Candidate(node) | Neighbour::Measured(MeasuredNeighbour { node, .. }) => *node,
        }
    }

    /// True until the pair is measured.
    #[inline]
    pub(crate) fn is_candidate(&self) -> bool {
        matches!(self, Neighbour::Candidate(_))
    }

    /// Returns both ends of a candidate pair, each with the other one as its neighbour.
    pub(crate) fn ends([a, b]: [NodeId; 2]) -> [(NodeId, Self); 2] {
        [(a, Neighbour::Candidate(b)), (b, Neighbour::Candidate(a))]
    }

    /// Notes what was measured.
    pub(crate) fn set_measured(&mut self, measured: Option<Measured>) {
        *self = Neighbour::Measured(MeasuredNeighbour::new(self.node(), measured));
    }

    /// The neighbour of `node`, measured if it was not.
    fn measured(self, node: NodeId, judge: &mut dyn Judge) -> Result<MeasuredNeighbour, EngineError> {
        match self {
            Neighbour::Measured(measured) => Ok(measured),
            Neighbour::Candidate(other) => Ok(MeasuredNeighbour::new(other, judge.candidate(node, other)?)),
        }
    }
}

impl Edge {
    /// Returns both ends of the edge, each with the other one as its neighbour.
    pub(crate) fn ends<N: From<MeasuredNeighbour>>(&self) -> [(NodeId, N); 2] {
        let Edge { a, b, measured } = *self;
        let one = MeasuredNeighbour::new(b, Some(measured));
        let other = MeasuredNeighbour::new(a, Some(measured.swapped()));
        [(a, one.into()), (b, other.into())]
    }
}

/// Takes a removal, in keep order.
pub(crate) type RemovalSink<'t> = dyn FnMut(Removal) -> Result<(), EngineError> + 't;

/// The state of a node: 12 bytes, in which the highest numbers stand for none.
#[derive(Debug, Clone, Copy)]
struct State {
    /// Place in keep order of the kept document, and its number.
    kept_place: u32,
    kept: DocNumber,
    /// Node of the witness of its first removed document.
    witness: NodeId,
}

const _: () = assert!(size_of::<State>() == 12);

impl State {
    /// The state before any document of the node is decided.
    const UNDECIDED: State = State { kept_place: u32::MAX, kept: DocNumber::MOST, witness: NodeId::MOST };

    /// True when a document of the node is kept.
    #[inline]
    fn is_kept(&self) -> bool {
        self.kept != DocNumber::MOST
    }

    /// Node of the witness of its first removed document, if one was removed.
    #[inline]
    fn witness(&self) -> Option<NodeId> {
        Some(self.witness).filter(|&witness| witness != NodeId::MOST)
    }
}

/// The witnesses of the removed documents of a node, kept while more of its documents are to come.
#[derive(Debug, Default)]
struct NodeWitnesses {
    /// Place of the last of them: neighbours that were kept before it are measured.
    last_place: u32,
    /// The best of those.
    best: Option<Witness>,
    /// Witnesses beyond the first, where equal documents have different ones.
    more: Vec<NodeId>,
}

/// The rule `star` under way. Costs 12 bytes and two bits for each node, and more for those of several documents.
pub(crate) struct Star {
    nodes: Vec<State>,
    /// Nodes of several documents.
    several: Bits,
    /// Nodes with a document to compare with: it comes before all others, and is kept.
    with_reference: Bits,
    node_witnesses: HashMap<NodeId, NodeWitnesses>,
    place: u32,
}

impl Star {
    /// Begins with `contenders`, which are all documents in keep order.
    pub(crate) fn new(nodes: usize, contenders: &[Contender]) -> Self {
        let [mut seen, mut several, mut with_reference] = std::array::from_fn(|_| Bits::new(nodes as u32));
        for contender in contenders {
            if contender.reference {
                with_reference.set(contender.node);
            }
            if seen.get(contender.node) {
                several.set(contender.node);
            }
            seen.set(contender.node);
        }
        Star {
            nodes: vec![State::UNDECIDED; nodes],
            several,
            with_reference,
            node_witnesses: HashMap::new(),
            place: 0,
        }
    }

    /// True when `contender` needs the similarity of its candidate, as far as can be said before it is decided.
    pub(crate) fn needs_similarity(&self, contender: &Contender, candidate: NodeId) -> bool {
        let state = self.nodes[candidate.index()];
        // Only kept neighbours can be witnesses. Those that were kept before an equal document was decided
        // were measured for that one, and their best is remembered.
        state.is_kept()
            && self.needs_neighbours(contender)
            && state.kept_place
                >= self.node_witnesses.get(&contender.node).map_or(0, |known| known.last_place)
    }

    /// True when `contender` needs its neighbours: it has no equal that is kept, or will be when it is decided.
    pub(crate) fn needs_neighbours(&self, contender: &Contender) -> bool {
        !self.with_reference.get(contender.node) && !self.nodes[contender.node.index()].is_kept()
    }

    /// Decides the next document, whose neighbours are `near`.
    pub(crate) fn decide(
        &mut self,
        contender: &Contender,
        near: &[Neighbour],
        judge: &mut dyn Judge,
        take: &mut RemovalSink<'_>,
    ) -> Result<(), EngineError> {
        let place = self.place;
        self.place += 1;
        let found = if contender.reference { None } else { self.witness(place, contender, near, judge)? };
        let Some(Witness { similarity, document: witness, .. }) = found else {
            // Of equal documents the first that is kept stands for the node; a document to compare with is
            // always kept.
            let state = &mut self.nodes[contender.node.index()];
            if !state.is_kept() {
                (state.kept_place, state.kept) = (place, contender.document);
            }
            return Ok(());
        };
        // Whatever led to the witness, the document equals it or was measured against it, and needs no other
        // to tie it in.
        take(Removal { document: contender.document, witness, similarity, via: witness })
    }

    /// Finds the witness of a document; nothing if the document is to be kept.
    fn witness(
        &mut self,
        place: u32,
        contender: &Contender,
        near: &[Neighbour],
        judge: &mut dyn Judge,
    ) -> Result<Option<Witness>, EngineError> {
        let node = contender.node;
        // Nothing is nearer than an equal document: no neighbour has to be measured.
        if let Some(equal) = self.kept(node, 1.0) {
            return Ok(Some(equal));
        }
        let mut best = self.node_witnesses.get(&node).and_then(|known| known.best);
        for neighbour in near.iter().filter(|neighbour| self.needs_similarity(contender, neighbour.node())) {
            let MeasuredNeighbour { similarity, node: other, reached } = neighbour.measured(node, judge)?;
            let offer = self.kept(other, similarity).filter(|_| reached);
            best = offer.map(|offer| offer.or(best)).or(best);
        }
        // Only what was measured directly is remembered as the best: a witness by one hop is no neighbour,
        // and a neighbour that is kept later must win against it.
        let direct = best;
        if best.is_none() {
            best = self.one_hop(node, near, judge)?;
        }
        if let Some(best) = best {
            self.note(node, place, direct, best.node);
        }
        Ok(best)
    }

    /// The kept document of a node, as a witness.
    fn kept(&self, node: NodeId, similarity: f64) -> Option<Witness> {
        let state = self.nodes[node.index()];
        let State { kept_place: place, kept: document, .. } = state;
        state.is_kept().then_some(Witness { similarity, place, document, node })
    }

    /// Remembers what a removed document found.
    fn note(&mut self, node: NodeId, place: u32, best: Option<Witness>, witness: NodeId) {
        let state = &mut self.nodes[node.index()];
        let first = state.witness().unwrap_or(witness);
        state.witness = first;
        // Nearly all nodes are one document and are never asked again: only the others cost an entry of the
        // map.
        if !self.several.get(node) {
            return;
        }
        let known = self.node_witnesses.entry(node).or_default();
        (known.last_place, known.best) = (place, best);
        if witness != first && !known.more.contains(&witness) {
            known.more.push(witness);
        }
    }

    /// Nodes that stand for the removed documents of a node.
    fn witnesses(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let first = self.nodes[node.index()].witness();
        let more = first.and_then(|_| self.node_witnesses.get(&node)).map_or(&[][..], |known| &known.more);
        first.into_iter().chain(more.iter().copied())
    }

    /// The best among the witnesses of removed neighbours.
    fn one_hop(
        &self,
        node: NodeId,
        near: &[Neighbour],
        judge: &mut dyn Judge,
    ) -> Result<Option<Witness>, EngineError> {
        best_by_one_hop(self.ways(node, near), &mut NodeHop { star: self, node, near, judge })
    }

    /// The witnesses of removed neighbours, each with the neighbour that leads to it; from equal documents a way leads to
    /// those of their own. Kept neighbours are left out: they were measured, and are not near.
    fn ways(&self, node: NodeId, near: &[Neighbour]) -> Vec<Way<NodeId>> {
        let is_kept = |node: NodeId| self.nodes[node.index()].is_kept();
        let mut far: Vec<NodeId> = near.iter().map(Neighbour::node).filter(|&node| is_kept(node)).collect();
        far.sort_unstable();
        let mut ways: Vec<Way<NodeId>> =
            self.witnesses(node).map(|witness| Way { witness, through: None }).collect();
        for (index, neighbour) in near.iter().enumerate() {
            // One that was measured and is not near leads nowhere. The others are near, or are measured when
            // a way through them is taken.
            if !matches!(neighbour, Neighbour::Measured(MeasuredNeighbour { reached: false, .. })) {
                let through = Some(index);
                ways.extend(self.witnesses(neighbour.node()).map(|witness| Way { witness, through }));
            }
        }
        // Without this, a kept neighbour would be measured a second time, as the witness of another one.
        ways.retain(|way| far.binary_search(&way.witness).is_err());
        ways
    }
}

/// The search for a witness of a node by one hop.
struct NodeHop<'h> {
    star: &'h Star,
    node: NodeId,
    near: &'h [Neighbour],
    judge: &'h mut dyn Judge,
}

impl OneHop for NodeHop<'_> {
    type Error = EngineError;
    type Witness = NodeId;

    fn witness(&mut self, witness: NodeId) -> Result<Option<Witness>, EngineError> {
        let measured = self.judge.near(self.node, witness)?.filter(|measured| measured.reached);
        Ok(measured.and_then(|measured| self.star.kept(witness, measured.forward)))
    }

    fn is_near(&mut self, candidate: usize) -> Result<bool, EngineError> {
        Ok(self.near[candidate].measured(self.node, self.judge)?.reached)
    }
}

/// Decides by the rule `components`; `leaders` are the documents that stand for each node.
pub(crate) fn components(
    contenders: &[Contender],
    neighbours: &mut dyn Adjacency<MeasuredNeighbour>,
    leaders: &[DocNumber],
    judge: &mut dyn Judge,
    take: &mut RemovalSink<'_>,
) -> Result<(), EngineError> {
    let component = connected(neighbours, leaders.len())?;
    let mut kept_documents: HashMap<NodeId, Contender> = HashMap::new();
    for contender in contenders {
        // Contenders are in keep order, documents to compare with before all others: the first of a component
        // is the one to keep.
        let Some(&kept_document) = kept_documents.get(&component[contender.node.index()]) else {
            kept_documents.insert(component[contender.node.index()], *contender);
            continue;
        };
        if contender.reference {
            continue;
        }
        let similarity = if kept_document.node == contender.node {
            1.0
        } else {
            judge.any(contender.node, kept_document.node)?
        };
        let via = via(contender, kept_document, neighbours.of(contender.node)?, leaders);
        take(Removal { document: contender.document, witness: kept_document.document, similarity, via })?;
    }
    Ok(())
}

/// The first node of the component that each node is in.
fn connected(
    neighbours: &mut dyn Adjacency<MeasuredNeighbour>,
    nodes: usize,
) -> Result<Vec<NodeId>, EngineError> {
    const UNSEEN: NodeId = NodeId::MOST;
    let mut component = vec![UNSEEN; nodes];
    let mut waiting = Vec::new();
    for start in NodeId::range(0, nodes as u32) {
        if component[start.index()] != UNSEEN {
            continue;
        }
        // Nodes are begun in order, so that the first node of a component is its lowest, whatever the order
        // of neighbours. A stack in place of recursion: components can be as long as a corpus.
        component[start.index()] = start;
        waiting.push(start);
        while let Some(node) = waiting.pop() {
            for neighbour in neighbours.of(node)? {
                if component[neighbour.node.index()] == UNSEEN {
                    component[neighbour.node.index()] = start;
                    waiting.push(neighbour.node);
                }
            }
        }
    }
    Ok(component)
}

/// The neighbour that tied a document in: an equal one, or else the most similar, the first of several.
fn via(
    contender: &Contender,
    kept_document: Contender,
    near: &[MeasuredNeighbour],
    leaders: &[DocNumber],
) -> DocNumber {
    let leader = leaders[contender.node.index()];
    if kept_document.node == contender.node {
        return kept_document.document;
    }
    if leader != contender.document {
        return leader;
    }
    // Turned around, because of equally similar neighbours `max_by` is to find the one with the lowest
    // leader.
    let first =
        |a: &MeasuredNeighbour, b: &MeasuredNeighbour| leaders[b.node.index()].cmp(&leaders[a.node.index()]);
    near.iter()
        .max_by(|a, b| a.similarity.total_cmp(&b.similarity).then_with(|| first(a, b)))
        .map_or(leader, |neighbour| leaders[neighbour.node.index()])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::stages::verify::NeighbourLists;
    use crate::tests::context::{doc, node};
    use proptest::prelude::*;

    fn contender(document: u32, at: u32) -> Contender {
        Contender { document: doc(document), node: node(at), reference: false }
    }

    fn removal(document: u32, witness: u32, similarity: f64, via: u32) -> Removal {
        Removal { document: doc(document), witness: doc(witness), similarity, via: doc(via) }
    }

    fn by_star(contenders: &[Contender], edges: &[Edge], nodes: usize, table: &mut Table) -> Vec<Removal> {
        let mut found = Vec::new();
        let mut take = |removal| {
            found.push(removal);
            Ok(())
        };
        let mut neighbours = NeighbourLists::new(nodes, edges, Edge::ends::<Neighbour>);
        let mut star = Star::new(nodes, contenders);
        for contender in contenders {
            star.decide(contender, neighbours.of(contender.node).unwrap(), table, &mut take).unwrap();
        }
        found
    }

    /// The same from candidates, of which nothing is known before it is asked for.
    fn by_asking(
        contenders: &[Contender],
        candidates: &[(u32, u32)],
        nodes: usize,
        table: &mut Table,
    ) -> Vec<Removal> {
        let mut found = Vec::new();
        let mut take = |removal| {
            found.push(removal);
            Ok(())
        };
        let mut neighbours =
            NeighbourLists::new(nodes, candidates, |&(a, b)| Neighbour::ends([a, b].map(node)));
        let mut star = Star::new(nodes, contenders);
        for contender in contenders {
            star.decide(contender, neighbours.of(contender.node).unwrap(), table, &mut take).unwrap();
        }
        found
    }

    fn by_components(
        contenders: &[Contender],
        edges: &[Edge],
        leaders: &[DocNumber],
        table: &mut Table,
    ) -> Vec<Removal> {
        let mut found = Vec::new();
        let mut take = |removal| {
            found.push(removal);
            Ok(())
        };
        components(
            contenders,
            &mut NeighbourLists::new(leaders.len(), edges, Edge::ends::<MeasuredNeighbour>),
            leaders,
            table,
            &mut take,
        )
        .unwrap();
        found
    }

    /// Similarities of nodes from a table.
    #[derive(Debug)]
    struct Table {
        similarity: BTreeMap<(u32, u32), f64>,
        threshold: f64,
        asked: Vec<(u32, u32)>,
    }

    impl Table {
        fn new(similarity: BTreeMap<(u32, u32), f64>) -> Self {
            Table { similarity, threshold: 0.8, asked: Vec::new() }
        }

        fn of(&self, a: NodeId, b: NodeId) -> f64 {
            self.similarity.get(&(a.min(b).get(), a.max(b).get())).copied().unwrap_or(0.0)
        }

        fn measured(&self, a: NodeId, b: NodeId) -> Measured {
            Measured::same(self.of(a, b), self.of(a, b) >= self.threshold)
        }

        fn edge(&self, &(a, b): &(u32, u32)) -> Edge {
            Edge { a: node(a), b: node(b), measured: self.measured(node(a), node(b)) }
        }
    }

    impl Judge for Table {
        fn candidate(&mut self, a: NodeId, b: NodeId) -> Result<Option<Measured>, EngineError> {
            self.asked.push((a.get(), b.get()));
            Ok(Some(self.measured(a, b)).filter(|measured| measured.forward > 0.5))
        }

        fn near(&mut self, a: NodeId, b: NodeId) -> Result<Option<Measured>, EngineError> {
            Ok(Some(self.measured(a, b)))
        }

        fn any(&mut self, a: NodeId, b: NodeId) -> Result<f64, EngineError> {
            Ok(self.of(a, b))
        }
    }

    /// The rule as written in the specification, document by document, without nodes.
    fn by_definition(contenders: &[Contender], edges: &[Edge], table: &Table) -> Vec<Removal> {
        let mut kept: Vec<usize> = Vec::new();
        let mut removed: Vec<(usize, Removal, usize)> = Vec::new();
        let adjacent = |a: &Contender, b: &Contender| {
            a.node == b.node
                || edges
                    .iter()
                    .any(|edge| (edge.a, edge.b) == (a.node, b.node) || (edge.b, edge.a) == (a.node, b.node))
        };
        let similarity =
            |a: &Contender, b: &Contender| if a.node == b.node { 1.0 } else { table.of(a.node, b.node) };
        for (place, contender) in contenders.iter().enumerate() {
            let best = |places: &mut dyn Iterator<Item = usize>| {
                let mut best: Option<(f64, usize)> = None;
                for other in places {
                    let value = similarity(contender, &contenders[other]);
                    if best.is_none_or(|(found, at)| value > found || value == found && other < at) {
                        best = Some((value, other));
                    }
                }
                best
            };
            let mut found =
                best(&mut kept.iter().copied().filter(|&other| adjacent(contender, &contenders[other])));
            if found.is_none() {
                found = best(
                    &mut removed
                        .iter()
                        .filter(|(other, ..)| adjacent(contender, &contenders[*other]))
                        .map(|(.., witness)| *witness)
                        .filter(|&witness| similarity(contender, &contenders[witness]) >= table.threshold),
                );
            }
            match found {
                None => kept.push(place),
                Some((similarity, witness)) => {
                    let document = contenders[witness].document;
                    let removal = Removal {
                        document: contender.document,
                        witness: document,
                        similarity,
                        via: document,
                    };
                    removed.push((place, removal, witness));
                }
            }
        }
        removed.into_iter().map(|(_, removal, _)| removal).collect()
    }

    /// Documents in keep order, candidates, similarities, and the number of nodes.
    fn cases() -> impl Strategy<Value = (Vec<Contender>, Vec<(u32, u32)>, Table, usize)> {
        (2u32..9).prop_flat_map(|nodes| {
            let similarities =
                prop::collection::btree_map((0..nodes, 0..nodes), (0u32..=10, any::<bool>()), 0..40);
            let documents = prop::collection::vec(0..nodes, nodes as usize..20).prop_shuffle();
            (similarities, documents).prop_map(move |(similarities, order)| {
                let mut table = Table::new(BTreeMap::new());
                let mut candidates = Vec::new();
                for ((a, b), (tenths, proposed)) in similarities {
                    if a < b {
                        table.similarity.insert((a, b), f64::from(tenths) / 10.0);
                        candidates.extend(proposed.then_some((a, b)));
                    }
                }
                let contenders: Vec<Contender> =
                    (0..).zip(order).map(|(document, at)| contender(document, at)).collect();
                (contenders, candidates, table, nodes as usize)
            })
        })
    }

    fn edges(candidates: &[(u32, u32)], table: &Table) -> Vec<Edge> {
        candidates.iter().map(|pair| table.edge(pair)).filter(|edge| edge.measured.counts()).collect()
    }

    proptest! {
        #[test]
        fn star_is_the_rule_by_definition((contenders, candidates, mut table, nodes) in cases()) {
            let edges = edges(&candidates, &table);
            let found = by_star(&contenders, &edges, nodes, &mut table);
            prop_assert_eq!(&found, &by_definition(&contenders, &edges, &table));
            for removal in &found {
                prop_assert!(removal.similarity >= 0.8);
                prop_assert!(found.iter().all(|other| other.document != removal.witness), "a witness was removed");
            }
        }

        #[test]
        fn what_decides_nothing_is_not_measured((contenders, candidates, mut table, nodes) in cases()) {
            let expected = by_definition(&contenders, &edges(&candidates, &table), &table);
            prop_assert_eq!(by_asking(&contenders, &candidates, nodes, &mut table), expected);
            let mut asked = table.asked.clone();
            asked.sort_unstable();
            asked.dedup();
            // Where no documents are equal, no pair is asked for twice.
            prop_assert!(contenders.len() > nodes || asked.len() == table.asked.len());
        }

        #[test]
        fn components_keep_one_each((contenders, candidates, mut table, nodes) in cases()) {
            let edges = edges(&candidates, &table);
            let leaders: Vec<DocNumber> = NodeId::range(0, nodes as u32)
                .map(|node| {
                    let own = contenders.iter().filter(|contender| contender.node == node);
                    own.map(|contender| contender.document).min().unwrap_or_default()
                })
                .collect();
            let found = by_components(&contenders, &edges, &leaders, &mut table);
            let mut parts: Vec<NodeId> = NodeId::range(0, nodes as u32).collect();
            for _ in 0..nodes {
                for edge in &edges {
                    let low = parts[edge.a.index()].min(parts[edge.b.index()]);
                    parts[edge.a.index()] = low;
                    parts[edge.b.index()] = low;
                }
            }
            let mut present: Vec<NodeId> =
                contenders.iter().map(|contender| parts[contender.node.index()]).collect();
            present.sort_unstable();
            present.dedup();
            prop_assert_eq!(contenders.len() - found.len(), present.len());
        }
    }

    #[test]
    fn a_chain_removes_nobody_on_its_own() {
        // 0 is like 1, 1 is like 2, but 2 is not like 0.
        let mut table = Table::new(BTreeMap::from([((0, 1), 0.9), ((1, 2), 0.9)]));
        let edges = [(0, 1), (1, 2)].map(|pair| table.edge(&pair));
        let contenders = [0, 1, 2].map(|number| contender(number, number));
        let found = by_star(&contenders, &edges, 3, &mut table);
        assert_eq!(found, [removal(1, 0, 0.9, 0)]);
        let found = by_components(&contenders, &edges, &[0, 1, 2].map(doc), &mut table);
        assert_eq!(found[1], removal(2, 0, 0.0, 1));
    }

    #[test]
    fn copies_are_compared_with_the_kept_one_alone() {
        let pairs: Vec<(u32, u32)> = (0..100).flat_map(|a| (a + 1..100).map(move |b| (a, b))).collect();
        let mut table = Table::new(pairs.iter().map(|&pair| (pair, 0.9)).collect());
        let contenders: Vec<Contender> = (0..100).map(|number| contender(number, number)).collect();
        assert_eq!(by_asking(&contenders, &pairs, 100, &mut table).len(), 99);
        assert_eq!(table.asked, (1..100).map(|node| (node, 0)).collect::<Vec<_>>());
    }

    #[test]
    fn documents_to_compare_with_stay() {
        let mut table = Table::new(BTreeMap::from([((0, 1), 0.9)]));
        let edges = [table.edge(&(0, 1))];
        let reference = |document, at| Contender { reference: true, ..contender(document, at) };
        let contenders = [reference(0, 0), reference(1, 0), reference(2, 1), contender(3, 1)];
        let found = by_star(&contenders, &edges, 2, &mut table);
        assert_eq!(found, [removal(3, 2, 1.0, 2)]);
    }

    #[test]
    fn both_ends_of_an_edge_see_it_from_their_side() {
        let measured = Measured { forward: 0.9, backward: 0.4, reached: true, reached_back: false };
        let [(a, one), (b, two)] = Edge { a: node(3), b: node(7), measured }.ends::<MeasuredNeighbour>();
        assert_eq!((a, one), (node(3), MeasuredNeighbour { similarity: 0.9, node: node(7), reached: true }));
        assert_eq!((b, two), (node(7), MeasuredNeighbour { similarity: 0.4, node: node(3), reached: false }));
        let [one, two] = Neighbour::ends([3, 7].map(node));
        assert_eq!(one, (node(3), Neighbour::Candidate(node(7))));
        assert_eq!(two, (node(7), Neighbour::Candidate(node(3))));
    }

    #[test]
    fn a_removed_neighbour_leads_to_its_witness() {
        // 1 goes for 0; 2 is near 1 and, though nobody proposed it, near 0.
        let mut table = Table::new(BTreeMap::from([((0, 1), 0.9), ((1, 2), 0.95), ((0, 2), 0.85)]));
        let contenders = [0, 1, 2].map(|number| contender(number, number));
        let found = by_asking(&contenders, &[(0, 1), (1, 2)], 3, &mut table);
        assert_eq!(found, [removal(1, 0, 0.9, 0), removal(2, 0, 0.85, 0)]);
    }

    #[test]
    fn documents_without_neighbours_are_components_of_their_own() {
        let table = Table::new(BTreeMap::from([((1, 3), 0.9), ((3, 4), 0.9)]));
        let edges = [(1, 3), (3, 4)].map(|pair| table.edge(&pair));
        let mut lists = NeighbourLists::new(5, &edges, Edge::ends);
        assert_eq!(connected(&mut lists, 5).unwrap(), [0, 1, 2, 1, 1].map(node));
    }

    #[test]
    fn the_document_that_ties_another_in_is_an_equal_or_its_nearest() {
        let near = |at, similarity| MeasuredNeighbour { similarity, node: node(at), reached: true };
        let leaders = [10, 20, 30].map(doc);
        let neighbours = [near(2, 0.9), near(0, 0.9), near(0, 0.8)];
        let via = |one, kept| via(&one, kept, &neighbours, &leaders).get();
        assert_eq!(via(contender(21, 1), contender(20, 1)), 20, "the kept one is its equal");
        assert_eq!(via(contender(21, 1), contender(10, 0)), 20, "its leader ties it in");
        assert_eq!(via(contender(20, 1), contender(10, 0)), 10, "of equally near ones the first");
        assert_eq!(super::via(&contender(20, 1), contender(10, 0), &[], &leaders), doc(20));
    }

    #[test]
    fn documents_to_compare_with_stay_in_components_too() {
        let mut table = Table::new(BTreeMap::from([((0, 1), 0.9)]));
        let edges = [table.edge(&(0, 1))];
        let reference = |document, at| Contender { reference: true, ..contender(document, at) };
        let contenders = [reference(0, 0), reference(1, 1), contender(2, 1)];
        let found = by_components(&contenders, &edges, &[0, 1].map(doc), &mut table);
        assert_eq!(found, [removal(2, 0, 0.9, 1)]);
    }

    #[test]
    fn only_kept_neighbours_are_measured_and_none_for_documents_that_stay() {
        let reference = Contender { reference: true, ..contender(0, 0) };
        let contenders = [reference, contender(1, 1), contender(2, 2)];
        let mut star = Star::new(3, &contenders);
        assert!(!star.needs_neighbours(&contenders[0]), "it stays whatever it is near to");
        assert!(star.needs_neighbours(&contenders[1]));
        assert!(!star.needs_similarity(&contenders[1], node(0)), "nothing is kept yet");
        star.decide(&contenders[0], &[], &mut Table::new(BTreeMap::new()), &mut |_| Ok(())).unwrap();
        assert!(
            star.needs_similarity(&contenders[1], node(0)) && !star.needs_similarity(&contenders[1], node(2))
        );
    }
}

//! Stage 6, cluster: which documents are kept, and which kept one stands for each that is removed.
//!
//! `star`: go through the documents in keeper order. A document whose verified neighbours include kept ones is removed;
//! its witness is the most similar of them, and of equally similar ones the first in keeper order. Otherwise, if
//! neighbours were removed, the witnesses of those are measured against it, and the same rule applies to those at or
//! above the threshold. Otherwise it is kept.
//!
//! `components`: all but the first document of each connected component are removed.
//!
//! Documents with equal words are one node: they have the same neighbours and are each other's.

use std::collections::HashMap;

use crate::error::EngineError;
use crate::measure::Measured;

/// A verified pair of nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edge {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) measured: Measured,
}

/// A document that is removed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Removal {
    pub(crate) document: u32,
    /// The kept document that stands for it.
    pub(crate) witness: u32,
    pub(crate) similarity: f64,
    /// The neighbour that tied it in, where that may be another one.
    pub(crate) via: u32,
}

/// A document on its way through the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) document: u32,
    pub(crate) node: u32,
    /// It is only there to be compared with, and always kept.
    pub(crate) reference: bool,
}

/// Who can measure two nodes.
pub(crate) trait Judge {
    /// The similarity of `a` to `b`; nothing when it is out of the threshold's reach.
    fn near(&mut self, a: u32, b: u32) -> Result<Option<Measured>, EngineError>;
    /// The similarity of `a` to `b`, however low.
    fn any(&mut self, a: u32, b: u32) -> Result<f64, EngineError>;
}

/// Who knows the neighbours of every node.
pub(crate) trait Adjacent {
    /// The neighbours of a node, in any order.
    fn of(&mut self, node: u32) -> Result<&[Neighbour], EngineError>;
}

/// One end of a verified pair.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Neighbour {
    pub(crate) node: u32,
    /// Similarity of the one to the other.
    pub(crate) similarity: f64,
    /// It reaches the threshold in this direction.
    pub(crate) reached: bool,
}

impl Edge {
    /// What each of the two has for a neighbour.
    pub(crate) fn ends(&self) -> [(u32, Neighbour); 2] {
        let Edge { a, b, measured } = *self;
        [
            (a, Neighbour { node: b, similarity: measured.forward, reached: measured.reached }),
            (b, Neighbour { node: a, similarity: measured.backward, reached: measured.reached_back }),
        ]
    }
}

/// Takes a removal, in keeper order.
pub(crate) type Take<'t> = dyn FnMut(Removal) -> Result<(), EngineError> + 't;

/// A number that no document and no node has.
const NOBODY: u32 = u32::MAX;

/// What is known of a node: 12 bytes.
#[derive(Debug, Clone, Copy)]
struct State {
    /// Place in keeper order and number of the kept document.
    kept_place: u32,
    kept: u32,
    /// Node of the witness of its first removed document.
    witness: u32,
}

/// What is known of all nodes.
struct States {
    nodes: Vec<State>,
    /// Witnesses beyond the first, where equal documents have different ones.
    more: HashMap<u32, Vec<u32>>,
}

impl States {
    fn new(nodes: usize) -> Self {
        let state = State { kept_place: NOBODY, kept: NOBODY, witness: NOBODY };
        States { nodes: vec![state; nodes], more: HashMap::new() }
    }

    fn keep(&mut self, node: u32, place: u32, document: u32) {
        let state = &mut self.nodes[node as usize];
        if state.kept == NOBODY {
            (state.kept_place, state.kept) = (place, document);
        }
    }

    fn witness(&mut self, node: u32, witness: u32) {
        let state = &mut self.nodes[node as usize];
        if state.witness == NOBODY {
            state.witness = witness;
        } else if state.witness != witness {
            let more = self.more.entry(node).or_default();
            if !more.contains(&witness) {
                more.push(witness);
            }
        }
    }

    fn witnesses(&self, node: u32) -> impl Iterator<Item = u32> {
        let first = Some(self.nodes[node as usize].witness).filter(|&witness| witness != NOBODY);
        first.into_iter().chain(self.more.get(&node).into_iter().flatten().copied())
    }
}

/// The best witness so far.
struct Best {
    similarity: f64,
    /// Place in keeper order.
    place: u32,
    document: u32,
    node: u32,
}

fn offer(best: &mut Option<Best>, similarity: f64, node: u32, states: &States) {
    let State { kept_place: place, kept: document, .. } = states.nodes[node as usize];
    if document == NOBODY {
        return;
    }
    let better =
        |best: &Best| similarity > best.similarity || similarity == best.similarity && place < best.place;
    if best.as_ref().is_none_or(better) {
        *best = Some(Best { similarity, place, document, node });
    }
}

/// Decides by the rule `star`; `turns` are all documents in keeper order.
pub(crate) fn star(
    turns: &[Turn],
    neighbours: &mut dyn Adjacent,
    nodes: usize,
    judge: &mut dyn Judge,
    take: &mut Take<'_>,
) -> Result<(), EngineError> {
    let mut states = States::new(nodes);
    for (place, turn) in turns.iter().enumerate() {
        let node = turn.node;
        let mut best = None;
        if !turn.reference {
            offer(&mut best, 1.0, node, &states);
            let near = neighbours.of(node)?;
            for neighbour in near.iter().filter(|neighbour| neighbour.reached) {
                offer(&mut best, neighbour.similarity, neighbour.node, &states);
            }
            if best.is_none() {
                best = one_hop(node, near, &states, judge)?;
            }
        }
        let Some(best) = best else {
            states.keep(node, place as u32, turn.document);
            continue;
        };
        states.witness(node, best.node);
        let witness = best.document;
        take(Removal { document: turn.document, witness, similarity: best.similarity, via: witness })?;
    }
    Ok(())
}

/// The best among the witnesses of removed neighbours, measured.
fn one_hop(
    node: u32,
    near: &[Neighbour],
    states: &States,
    judge: &mut dyn Judge,
) -> Result<Option<Best>, EngineError> {
    let removed = near.iter().filter(|neighbour| neighbour.reached).map(|neighbour| neighbour.node);
    let mut witnesses: Vec<u32> = removed.chain([node]).flat_map(|node| states.witnesses(node)).collect();
    witnesses.sort_unstable();
    witnesses.dedup();
    let mut best = None;
    for witness in witnesses {
        if let Some(measured) = judge.near(node, witness)?.filter(|measured| measured.reached) {
            offer(&mut best, measured.forward, witness, states);
        }
    }
    Ok(best)
}

/// Decides by the rule `components`; `leaders` are the documents that stand for each node.
pub(crate) fn components(
    turns: &[Turn],
    neighbours: &mut dyn Adjacent,
    leaders: &[u32],
    judge: &mut dyn Judge,
    take: &mut Take<'_>,
) -> Result<(), EngineError> {
    let component = connected(neighbours, leaders.len())?;
    let mut keepers: HashMap<u32, Turn> = HashMap::new();
    for turn in turns {
        let Some(&keeper) = keepers.get(&component[turn.node as usize]) else {
            keepers.insert(component[turn.node as usize], *turn);
            continue;
        };
        if turn.reference {
            continue;
        }
        let similarity = if keeper.node == turn.node { 1.0 } else { judge.any(turn.node, keeper.node)? };
        let via = via(turn, keeper, neighbours.of(turn.node)?, leaders);
        take(Removal { document: turn.document, witness: keeper.document, similarity, via })?;
    }
    Ok(())
}

/// The first node of the component that each node is in.
fn connected(neighbours: &mut dyn Adjacent, nodes: usize) -> Result<Vec<u32>, EngineError> {
    let mut component = vec![NOBODY; nodes];
    let mut waiting = Vec::new();
    for start in 0..nodes as u32 {
        if component[start as usize] != NOBODY {
            continue;
        }
        component[start as usize] = start;
        waiting.push(start);
        while let Some(node) = waiting.pop() {
            for neighbour in neighbours.of(node)? {
                if component[neighbour.node as usize] == NOBODY {
                    component[neighbour.node as usize] = start;
                    waiting.push(neighbour.node);
                }
            }
        }
    }
    Ok(component)
}

/// The neighbour that tied a document in: an equal one, or else the most similar, the first of several.
fn via(turn: &Turn, keeper: Turn, near: &[Neighbour], leaders: &[u32]) -> u32 {
    let leader = leaders[turn.node as usize];
    if keeper.node == turn.node {
        return keeper.document;
    }
    if leader != turn.document {
        return leader;
    }
    let first = |a: &Neighbour, b: &Neighbour| leaders[b.node as usize].cmp(&leaders[a.node as usize]);
    near.iter()
        .max_by(|a, b| a.similarity.total_cmp(&b.similarity).then_with(|| first(a, b)))
        .map_or(leader, |neighbour| leaders[neighbour.node as usize])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::verify::InMemory;
    use proptest::prelude::*;

    fn by_star(turns: &[Turn], edges: &[Edge], nodes: usize, table: &mut Table) -> Vec<Removal> {
        let mut found = Vec::new();
        let mut take = |removal| {
            found.push(removal);
            Ok(())
        };
        star(turns, &mut InMemory::new(nodes, edges), nodes, table, &mut take).unwrap();
        found
    }

    fn by_components(turns: &[Turn], edges: &[Edge], leaders: &[u32], table: &mut Table) -> Vec<Removal> {
        let mut found = Vec::new();
        let mut take = |removal| {
            found.push(removal);
            Ok(())
        };
        components(turns, &mut InMemory::new(leaders.len(), edges), leaders, table, &mut take).unwrap();
        found
    }

    /// Similarities of nodes from a table.
    #[derive(Debug)]
    struct Table {
        similarity: BTreeMap<(u32, u32), f64>,
        threshold: f64,
    }

    impl Table {
        fn of(&self, a: u32, b: u32) -> f64 {
            self.similarity.get(&(a.min(b), a.max(b))).copied().unwrap_or(0.0)
        }

        fn measured(&self, a: u32, b: u32) -> Measured {
            let (value, reached) = (self.of(a, b), self.of(a, b) >= self.threshold);
            Measured { forward: value, backward: value, reached, reached_back: reached }
        }
    }

    impl Judge for Table {
        fn near(&mut self, a: u32, b: u32) -> Result<Option<Measured>, EngineError> {
            Ok(Some(self.measured(a, b)))
        }

        fn any(&mut self, a: u32, b: u32) -> Result<f64, EngineError> {
            Ok(self.of(a, b))
        }
    }

    /// The rule as written in the specification, document by document, without nodes.
    fn by_the_book(turns: &[Turn], edges: &[Edge], table: &Table) -> Vec<Removal> {
        let mut kept: Vec<usize> = Vec::new();
        let mut removed: Vec<(usize, Removal, usize)> = Vec::new();
        let adjacent = |a: &Turn, b: &Turn| {
            a.node == b.node
                || edges
                    .iter()
                    .any(|edge| (edge.a, edge.b) == (a.node, b.node) || (edge.b, edge.a) == (a.node, b.node))
        };
        let similarity = |a: &Turn, b: &Turn| if a.node == b.node { 1.0 } else { table.of(a.node, b.node) };
        for (place, turn) in turns.iter().enumerate() {
            let best = |places: &mut dyn Iterator<Item = usize>| {
                let mut best: Option<(f64, usize)> = None;
                for other in places {
                    let value = similarity(turn, &turns[other]);
                    if best.is_none_or(|(found, at)| value > found || value == found && other < at) {
                        best = Some((value, other));
                    }
                }
                best
            };
            let mut found = best(&mut kept.iter().copied().filter(|&other| adjacent(turn, &turns[other])));
            if found.is_none() {
                found = best(
                    &mut removed
                        .iter()
                        .filter(|(other, ..)| adjacent(turn, &turns[*other]))
                        .map(|(.., witness)| *witness)
                        .filter(|&witness| similarity(turn, &turns[witness]) >= table.threshold),
                );
            }
            match found {
                None => kept.push(place),
                Some((similarity, witness)) => {
                    let document = turns[witness].document;
                    let removal =
                        Removal { document: turn.document, witness: document, similarity, via: document };
                    removed.push((place, removal, witness));
                }
            }
        }
        removed.into_iter().map(|(_, removal, _)| removal).collect()
    }

    fn cases() -> impl Strategy<Value = (Vec<Turn>, Vec<Edge>, Table, usize)> {
        (2u32..9).prop_flat_map(|nodes| {
            let similarities =
                prop::collection::btree_map((0..nodes, 0..nodes), (0u32..=10, any::<bool>()), 0..40);
            let documents = prop::collection::vec(0..nodes, nodes as usize..20).prop_shuffle();
            (similarities, documents).prop_map(move |(similarities, order)| {
                let mut table = Table { similarity: BTreeMap::new(), threshold: 0.8 };
                let mut edges = Vec::new();
                for ((a, b), (tenths, proposed)) in similarities {
                    if a < b {
                        table.similarity.insert((a, b), f64::from(tenths) / 10.0);
                        if proposed && tenths >= 8 {
                            edges.push(Edge { a, b, measured: table.measured(a, b) });
                        }
                    }
                }
                let turn = |(document, node)| Turn { document: document as u32, node, reference: false };
                let turns: Vec<Turn> = order.into_iter().enumerate().map(turn).collect();
                (turns, edges, table, nodes as usize)
            })
        })
    }

    proptest! {
        #[test]
        fn star_is_the_rule_in_the_book((turns, edges, mut table, nodes) in cases()) {
            let found = by_star(&turns, &edges, nodes, &mut table);
            prop_assert_eq!(&found, &by_the_book(&turns, &edges, &table));
            for removal in &found {
                prop_assert!(removal.similarity >= 0.8);
                prop_assert!(found.iter().all(|other| other.document != removal.witness), "a witness was removed");
            }
        }

        #[test]
        fn components_keep_one_each((turns, edges, mut table, nodes) in cases()) {
            let leaders: Vec<u32> = (0..nodes as u32)
                .map(|node| turns.iter().filter(|turn| turn.node == node).map(|turn| turn.document).min().unwrap_or(0))
                .collect();
            let found = by_components(&turns, &edges, &leaders, &mut table);
            let mut parts: Vec<u32> = (0..nodes as u32).collect();
            for _ in 0..nodes {
                for edge in &edges {
                    let low = parts[edge.a as usize].min(parts[edge.b as usize]);
                    parts[edge.a as usize] = low;
                    parts[edge.b as usize] = low;
                }
            }
            let mut present: Vec<u32> = turns.iter().map(|turn| parts[turn.node as usize]).collect();
            present.sort_unstable();
            present.dedup();
            prop_assert_eq!(turns.len() - found.len(), present.len());
        }
    }

    #[test]
    fn a_chain_removes_nobody_on_its_own() {
        // 0 is like 1, 1 is like 2, but 2 is not like 0.
        let mut table = Table { similarity: BTreeMap::from([((0, 1), 0.9), ((1, 2), 0.9)]), threshold: 0.8 };
        let edges = [(0, 1), (1, 2)].map(|(a, b)| Edge { a, b, measured: table.measured(a, b) });
        let turns = [0, 1, 2].map(|node| Turn { document: node, node, reference: false });
        let found = by_star(&turns, &edges, 3, &mut table);
        assert_eq!(found, [Removal { document: 1, witness: 0, similarity: 0.9, via: 0 }]);
        let found = by_components(&turns, &edges, &[0, 1, 2], &mut table);
        assert_eq!(found[1], Removal { document: 2, witness: 0, similarity: 0.0, via: 1 });
    }

    #[test]
    fn documents_to_compare_with_stay() {
        let mut table = Table { similarity: BTreeMap::from([((0, 1), 0.9)]), threshold: 0.8 };
        let edges = [Edge { a: 0, b: 1, measured: table.measured(0, 1) }];
        let turn = |document, node, reference| Turn { document, node, reference };
        let turns = [turn(0, 0, true), turn(1, 0, true), turn(2, 1, true), turn(3, 1, false)];
        let found = by_star(&turns, &edges, 2, &mut table);
        assert_eq!(found, [Removal { document: 3, witness: 2, similarity: 1.0, via: 2 }]);
    }
}

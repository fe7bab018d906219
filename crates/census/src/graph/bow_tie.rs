//! The bow tie, after Broder and others (2000): the parts of a web, and the part that each page is in.
//!
//! The largest set of pages in which every page leads to every other is the core. Pages that lead to it are IN, pages that it leads
//! to are OUT. A tube leads from IN to OUT past the core. All other pages that are connected with the core, whatever the direction
//! of the links, are tendrils; the rest is disconnected. A walk along links from a page of OUT never sees the core.

use serde::Serialize;

use super::Graph;
use super::components::{Components, reached, strong, weak};

/// The part of the bow tie that a page is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Leads to all others of the core, and is led to by them.
    Core,
    /// Leads to the core.
    In,
    /// The core leads to it.
    Out,
    /// From IN to OUT, past the core.
    Tube,
    /// Connected with the others in another way.
    Tendril,
    /// Connected with none of these.
    Disconnected,
}

/// Pages by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Parts {
    /// Pages in the core.
    pub core: u64,
    /// Pages in IN.
    pub into: u64,
    /// Pages in OUT.
    pub out: u64,
    /// Pages in tubes.
    pub tubes: u64,
    /// Pages in tendrils.
    pub tendrils: u64,
    /// Pages elsewhere.
    pub disconnected: u64,
}

/// The part of every page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BowTie {
    /// The part, by page.
    pub of: Vec<Part>,
}

impl BowTie {
    /// The bow tie of a graph; `back` is the same graph turned around.
    pub fn of(graph: &Graph, back: &Graph) -> Self {
        let parts = strong(graph);
        let core = members(&parts);
        let from_core = reached(graph, nodes(&core));
        let to_core = reached(back, nodes(&core));
        let outside = |reached: &[bool]| -> Vec<bool> {
            reached.iter().zip(&core).map(|(&reached, &core)| reached && !core).collect()
        };
        let (into, out) = (outside(&to_core), outside(&from_core));
        let (from_into, to_out) = (reached(graph, nodes(&into)), reached(back, nodes(&out)));
        let together = members_with(&weak(graph, back), &core);
        let part = |page: usize| match page {
            _ if core[page] => Part::Core,
            _ if into[page] => Part::In,
            _ if out[page] => Part::Out,
            _ if from_into[page] && to_out[page] => Part::Tube,
            _ if together[page] => Part::Tendril,
            _ => Part::Disconnected,
        };
        BowTie { of: (0..graph.nodes()).map(part).collect() }
    }

    /// Pages of the whole web by part.
    pub fn all(&self) -> Parts {
        count(self.of.iter().copied())
    }

    /// Pages of a list by part; numbers that are no pages are left out.
    pub fn count_pages(&self, pages: &[u32]) -> Parts {
        count(pages.iter().filter_map(|&page| self.of.get(page as usize)).copied())
    }
}

impl Parts {
    /// Returns the number of all pages.
    pub fn total(&self) -> u64 {
        self.core + self.into + self.out + self.tubes + self.tendrils + self.disconnected
    }
}

fn count(pages: impl Iterator<Item = Part>) -> Parts {
    let mut parts = Parts::default();
    for part in pages {
        *match part {
            Part::Core => &mut parts.core,
            Part::In => &mut parts.into,
            Part::Out => &mut parts.out,
            Part::Tube => &mut parts.tubes,
            Part::Tendril => &mut parts.tendrils,
            Part::Disconnected => &mut parts.disconnected,
        } += 1;
    }
    parts
}

/// The pages of the largest part.
fn members(parts: &Components) -> Vec<bool> {
    let largest = parts.largest();
    parts.of.iter().map(|&part| Some(part) == largest).collect()
}

/// The pages of the part that the core is in.
fn members_with(parts: &Components, core: &[bool]) -> Vec<bool> {
    let part = nodes(core).next().map(|page| parts.of[page as usize]);
    parts.of.iter().map(|&own| Some(own) == part).collect()
}

fn nodes(chosen: &[bool]) -> impl Iterator<Item = u32> + '_ {
    (0..chosen.len() as u32).filter(|&page| chosen[page as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_bow_tie_with_all_parts() {
        // Core 0–2, in 3, out 4, tube 5, tendrils 6 (from in), 7 (to out) and 8 (to a tendril), alone 9.
        let arcs = [(0, 1), (1, 2), (2, 0), (3, 0), (2, 4), (3, 5), (5, 4), (3, 6), (7, 4), (8, 6)];
        let graph = Graph::of_arcs(10, &arcs);
        let tie = BowTie::of(&graph, &graph.transposed());
        let wanted = Parts { core: 3, into: 1, out: 1, tubes: 1, tendrils: 3, disconnected: 1 };
        assert_eq!((tie.all(), tie.all().total()), (wanted, 10));
        assert_eq!(tie.count_pages(&[0, 4, 4, 99]), Parts { core: 1, out: 2, ..Parts::default() });
        assert_eq!(BowTie::of(&Graph::default(), &Graph::default()).all().total(), 0);
    }

    /// Computes the parts from the transitive closure of the links.
    fn by_brute_force(nodes: usize, arcs: &[(u32, u32)]) -> Vec<Part> {
        let mut reach = vec![vec![false; nodes]; nodes];
        let mut joined = reach.clone();
        for page in 0..nodes {
            reach[page][page] = true;
            joined[page][page] = true;
        }
        for &(from, to) in arcs {
            reach[from as usize][to as usize] = true;
            joined[from as usize][to as usize] = true;
            joined[to as usize][from as usize] = true;
        }
        for table in [&mut reach, &mut joined] {
            for by in 0..nodes {
                for from in 0..nodes {
                    for to in 0..nodes {
                        table[from][to] |= table[from][by] && table[by][to];
                    }
                }
            }
        }
        let mutual = |a: usize, b: usize| reach[a][b] && reach[b][a];
        let size = |a: usize| (0..nodes).filter(|&b| mutual(a, b)).count();
        let most = (0..nodes).map(size).max().unwrap_or(0);
        // Of several largest parts the one that is first numbered: the caller compares for unique ones only.
        let heart = (0..nodes).find(|&page| size(page) == most).unwrap();
        let core: Vec<bool> = (0..nodes).map(|page| mutual(page, heart)).collect();
        let into: Vec<bool> = (0..nodes).map(|page| reach[page][heart] && !core[page]).collect();
        let out: Vec<bool> = (0..nodes).map(|page| reach[heart][page] && !core[page]).collect();
        (0..nodes)
            .map(|page| {
                let tube = (0..nodes).any(|a| into[a] && reach[a][page])
                    && (0..nodes).any(|b| out[b] && reach[page][b]);
                match page {
                    _ if core[page] => Part::Core,
                    _ if into[page] => Part::In,
                    _ if out[page] => Part::Out,
                    _ if tube => Part::Tube,
                    _ if joined[page][heart] => Part::Tendril,
                    _ => Part::Disconnected,
                }
            })
            .collect()
    }

    #[test]
    fn it_agrees_with_brute_force_on_random_graphs() {
        let mut compared = 0;
        for seed in 0..600 {
            let mut random = Random::new(seed);
            let nodes = 2 + random.below(14);
            let arcs: Vec<(u32, u32)> = (0..random.below(2 * nodes))
                .map(|_| (random.below(nodes) as u32, random.below(nodes) as u32))
                .collect();
            let graph = Graph::of_arcs(nodes, &arcs);
            let parts = strong(&graph);
            let most = parts.sizes.iter().max().unwrap();
            if parts.sizes.iter().filter(|size| *size == most).count() > 1 {
                continue;
            }
            compared += 1;
            let tie = BowTie::of(&graph, &graph.transposed());
            assert_eq!(tie.of, by_brute_force(nodes, &arcs), "seed {seed}");
        }
        assert!(compared > 200, "{compared}");
    }
}

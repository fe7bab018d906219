//! The speed at which a single walker forgets its start, on a web that fits into memory: the gap between 1 and the second
//! eigenvalue of the walk to random neighbours, links followed forth and back.
//!
//! A web of several components has no gap, so that of its largest one is reported. Eigenvalues are found by inverse power iteration
//! ([`crate::spectrum`]), to a thousandth on large webs; webs of more than ten million links are refused.

use serde::Serialize;

use crate::CensusError;
use crate::graph::Graph;
use crate::graph::components::weak;
use crate::graph::csr::merged;
use crate::spectrum::gap;

/// Most links that it is computed for: three million of a real web take a minute or two, and iterations grow with the links.
pub const MOST_LINKS: u64 = 10_000_000;

/// The total variation from rest at which a walk counts as at rest.
const MIXING_TOLERANCE: f64 = 0.01;

/// The speed at which a walker forgets its start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mixing {
    /// Components, which no link leads between.
    pub parts: usize,
    /// Pages of the largest component, which the other figures are about.
    pub pages: u64,
    /// One less the second eigenvalue of the walk to random neighbours.
    pub gap: f64,
    /// True if every link leads between two halves of the component, so that a walker who moves in every step alternates between
    /// them for ever. The figures below are then about one who stays in every second step on average.
    #[serde(rename = "alternates")]
    pub bipartite: bool,
    /// The relaxation time, one over the gap: steps after which what is left of the start is a third of what it was.
    #[serde(rename = "forgets")]
    pub relaxation_time: f64,
    /// The mixing time: steps after which a walk is at rest up to 1 %, wherever it began: `ln(2m/0.01)` over the gap with `m` links.
    #[serde(rename = "rests")]
    pub mixing_time: f64,
}

impl Mixing {
    /// Computes the mixing of a web; `back` is the transposed graph. None without links between pages.
    pub fn of(graph: &Graph, back: &Graph) -> Result<Option<Self>, CensusError> {
        if graph.arcs() > MOST_LINKS {
            return Err(CensusError::TooLarge { links: graph.arcs(), most: MOST_LINKS });
        }
        let parts = weak(graph, back);
        let Some(largest) = parts.largest() else { return Ok(None) };
        let both = component(graph, back, &parts.of, largest);
        let Some(gap) = gap(&both, false) else { return Ok(None) };
        let (parts, pages) = (parts.sizes.len(), both.nodes() as u64);
        let bipartite = is_bipartite(&both);
        let relaxation_time = if bipartite { 2.0 } else { 1.0 } / gap;
        let mixing_time = (both.arcs() as f64 / MIXING_TOLERANCE).ln() * relaxation_time;
        Ok(Some(Mixing { parts, pages, gap, bipartite, relaxation_time, mixing_time }))
    }
}

/// Returns true if all links of a connected web lead between two halves of it.
fn is_bipartite(both: &Graph) -> bool {
    const UNSEEN: u8 = 2;
    let mut halves = vec![UNSEEN; both.nodes()];
    let mut open = vec![0u32];
    halves[0] = 0;
    while let Some(page) = open.pop() {
        let half = halves[page as usize];
        for &other in both.links(page) {
            match halves[other as usize] {
                UNSEEN => {
                    halves[other as usize] = 1 - half;
                    open.push(other);
                }
                same if same == half => return false,
                _ => {}
            }
        }
    }
    true
}

/// Returns one component of a web, with links both ways and none from a page to itself.
fn component(graph: &Graph, back: &Graph, of: &[u32], wanted: u32) -> Graph {
    let inside = || (0..graph.nodes() as u32).filter(|&page| of[page as usize] == wanted);
    let mut numbers = vec![0; graph.nodes()];
    inside().zip(0..).for_each(|(page, number)| numbers[page as usize] = number);
    Graph::of_lists(inside().map(|page| {
        let mut list = merged(graph.links(page), back.links(page));
        list.retain(|&other| other != page);
        list.iter_mut().for_each(|other| *other = numbers[*other as usize]);
        list
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixing(graph: &Graph) -> Option<Mixing> {
        Mixing::of(graph, &graph.transposed()).unwrap()
    }

    #[test]
    fn the_largest_part_is_told_of() {
        // A ring of thirty pages among others, with loops and links both ways, numbered here and there.
        let n = 30;
        let ring = (0..n).flat_map(|page| [(3 * page, 3 * ((page + 1) % n)), (3 * page, 3 * page)]);
        let graph = Graph::of_arcs(92, &ring.chain([(3, 0), (1, 2), (4, 4)]).collect::<Vec<_>>());
        let found = mixing(&graph).unwrap();
        let wanted = 1.0 - (std::f64::consts::TAU / f64::from(n)).cos();
        // The ring, two pages with a link, and sixty that are alone.
        assert_eq!((found.parts, found.pages), (62, 30));
        assert!((found.gap / wanted - 1.0).abs() < 1e-5);
        // A ring of even length has two halves: only a lazy walker forgets.
        assert!(found.bipartite && (found.relaxation_time * found.gap - 2.0).abs() < 1e-12);
        assert!((found.mixing_time * wanted / (60.0f64 / 0.01).ln() - 2.0).abs() < 1e-5);
    }

    #[test]
    fn an_odd_ring_does_not_alternate_and_a_star_does() {
        let ring: Vec<(u32, u32)> = (0..7).map(|page| (page, (page + 1) % 7)).collect();
        let odd = mixing(&Graph::of_arcs(7, &ring)).unwrap();
        assert!(!odd.bipartite && (odd.relaxation_time * odd.gap - 1.0).abs() < 1e-12);
        let star: Vec<(u32, u32)> = (1..9).map(|page| (0, page)).collect();
        assert!(mixing(&Graph::of_arcs(9, &star)).unwrap().bipartite);
        let pair = mixing(&Graph::of_arcs(2, &[(0, 1)])).unwrap();
        assert!(pair.bipartite && (pair.relaxation_time - 1.0).abs() < 1e-9, "{pair:?}");
    }

    #[test]
    fn it_tells_a_web_of_hosts_from_one_without() {
        let mut random = crate::Random::new(1);
        let n = 2_000u32;
        let mut arcs: Vec<(u32, u32)> = Vec::new();
        for page in 0..n {
            for _ in 0..4 {
                arcs.push((page, page / 100 * 100 + random.below(100) as u32));
            }
        }
        let bridges = (0..n / 100).map(|host| (100 * host, 100 * ((host + 1) % 20)));
        let hosts = Graph::of_arcs(n as usize, &arcs.iter().copied().chain(bridges).collect::<Vec<_>>());
        arcs.iter_mut().for_each(|arc| arc.1 = random.below(n as usize) as u32);
        let (slow, fast) = (mixing(&hosts).unwrap(), mixing(&Graph::of_arcs(n as usize, &arcs)).unwrap());
        assert!(100.0 * slow.gap < fast.gap, "{slow:?} {fast:?}");
    }

    #[test]
    fn without_links_there_is_none() {
        assert_eq!(mixing(&Graph::default()), None);
        assert_eq!(mixing(&Graph::of_arcs(3, &[(1, 1)])), None);
    }
}

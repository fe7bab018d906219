//! Probes behind the pages that were hardly noticed.
//!
//! Walkers that begin in one corner of the web may find it closed on all sides but for a few links, and never take these;
//! nothing they see changes then, and all signs of rest are there. So a part of the budget, a fifth by default, goes into
//! looking for ways out: a probe begins at a page that walkers know of by one link only and have not visited, and goes
//! on, as long as it can, to pages that they do not know of at all. A probe samples nothing; it makes the list of pages
//! longer that are there for certain.
//!
//! Walkers stand on two sides, by turns (the visits of a single walker by its first and its second half). Each side sends its own
//! probes, from what it knows by itself. So what one side knows of is a set of pages that the other side had no part in choosing,
//! and at rest the other side visits it as often as its share of the web; see [`super::known_region`].

use serde::Serialize;

use super::neighbour_cache::{NeighbourCache, PageMap};
use super::web::Walkable;
use super::{Budget, Sample, Walk};
use crate::random::Random;

/// Pages of one probe at most: a probe that goes on for ever would look behind one page only.
const LONGEST_PROBE: usize = 40;

/// A page that was fetched to see where it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// The page.
    pub page: u32,
    /// The side that it was fetched for, 0 or 1.
    pub side: u8,
}

/// Returns the side of the sample at index `place`.
pub fn side(walk: &Walk, place: usize, sample: &Sample) -> u8 {
    match walk.starts.len() {
        0 | 1 => u8::from(2 * place >= walk.samples.len()),
        _ => (sample.walker % 2) as u8,
    }
}

/// The pages that each side visited, seeds included, ascending.
pub(super) fn visited(walk: &Walk, wanted: u8) -> Vec<u32> {
    let starts = walk.starts.iter().enumerate().filter(|(place, _)| (place % 2) as u8 == wanted);
    let samples = walk.samples.iter().enumerate();
    let mut pages: Vec<u32> = samples
        .filter(|&(place, sample)| side(walk, place, sample) == wanted)
        .map(|(_, sample)| sample.page)
        .chain(starts.map(|(_, start)| start.page))
        .collect();
    pages.sort_unstable();
    pages.dedup();
    pages
}

/// Sends probes for both sides in turn until the budget is used up; also returns true if nothing was left to probe.
pub fn probe<W: Walkable>(
    cache: &mut NeighbourCache<'_, W>,
    walk: &Walk,
    budget: Budget,
    random: &mut Random,
) -> (Vec<Probe>, bool) {
    // Free fetches, of pages that the other side has fetched, must not keep probes going for ever.
    let most = budget.fetches.min(cache.fetched() + budget.probes);
    let mut probers = [0, 1].map(|side| Prober::new(cache, walk, side));
    let mut probes = Vec::new();
    while cache.fetched() < most && (probes.len() as u64) < 4 * budget.probes {
        if probers.iter().all(|prober| prober.open.is_empty()) {
            return (probes, true);
        }
        for (side, prober) in (0..).zip(&mut probers) {
            prober.send(cache, most, random, |page| probes.push(Probe { page, side }));
        }
    }
    (probes, false)
}

/// The pages that one side knows of, and those to begin probes at.
struct Prober {
    /// Pages that it knows of.
    known: PageMap<()>,
    /// Pages to begin at.
    open: Vec<u32>,
}

impl Prober {
    fn new<W: Walkable>(cache: &NeighbourCache<'_, W>, walk: &Walk, side: u8) -> Self {
        let pages = visited(walk, side);
        let mut once: PageMap<bool> = PageMap::default();
        let mut open = Vec::new();
        for &page in &pages {
            for &other in cache.list(page) {
                once.entry(other).and_modify(|once| *once = false).or_insert_with(|| {
                    open.push(other);
                    true
                });
            }
        }
        open.retain(|other| once[other] && pages.binary_search(other).is_err());
        let known = once.into_keys().chain(pages).map(|page| (page, ())).collect();
        Prober { known, open }
    }

    /// Sends one probe. It goes on to a random page that its side does not know of, and back to the last one left aside when there is none.
    fn send<W: Walkable>(
        &mut self,
        web: &mut NeighbourCache<'_, W>,
        most: u64,
        random: &mut Random,
        mut note: impl FnMut(u32),
    ) {
        if self.open.is_empty() {
            return;
        }
        let mut ahead = vec![self.open.swap_remove(random.below(self.open.len()))];
        for _ in 0..LONGEST_PROBE {
            let Some(page) = ahead.pop() else { return };
            if web.fetched() >= most {
                return;
            }
            if !web.visit(page) {
                continue;
            }
            note(page);
            let begin = ahead.len();
            ahead.extend(web.list(page).iter().filter(|other| !self.known.contains_key(other)));
            self.known.extend(ahead[begin..].iter().map(|&other| (other, ())));
            if let Some(last) = ahead.len().checked_sub(1).filter(|&last| last >= begin) {
                ahead.swap(begin + random.below(last + 1 - begin), last);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::walks::{LinkedWeb, Method, walk};

    /// Two rings with chords, joined by one link.
    fn two_rings() -> Graph {
        let ring = |first: u32| {
            (0..500).flat_map(move |n| [1, 2, 7].map(|step| (first + n, first + (n + step) % 500)))
        };
        let arcs: Vec<(u32, u32)> = ring(0).chain(ring(500)).chain([(30, 700)]).collect();
        Graph::of_arcs(1_000, &arcs)
    }

    #[test]
    fn probes_find_the_way_out_within_their_budget() {
        let graph = two_rings();
        let back = graph.transposed();
        let seeds: Vec<u32> = (0..8).map(|n| 20 + 2 * n).collect();
        let budget = Budget { fetches: 400, steps: 60, probes: 320 };
        let walked = walk(&mut LinkedWeb::new(&graph, &back), Method::Frontier, &seeds, budget, 3).unwrap();
        assert!(walked.fetched <= 400 && walked.walked <= 80);
        assert!(walked.samples.iter().all(|sample| sample.page < 500), "the walk is too short to get there");
        assert!(walked.probes.iter().any(|probe| probe.page >= 500));
        // A side never probes what it has visited.
        for probe in &walked.probes {
            assert!(visited(&walked, probe.side).binary_search(&probe.page).is_err());
        }
    }

    #[test]
    fn probes_end_when_nothing_is_unknown() {
        let graph = Graph::of_arcs(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        let back = graph.transposed();
        let budget = Budget { fetches: 100, steps: 50, probes: 90 };
        let walked = walk(&mut LinkedWeb::new(&graph, &back), Method::Frontier, &[0, 2], budget, 1).unwrap();
        assert_eq!((walked.fetched, walked.explored), (4, true));
    }
}

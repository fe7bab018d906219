//! The set of pages that one side of the walkers knows of, and the visits of the other side to it.
//!
//! The number of pages that one side knows of, by visits, links and probes, is known exactly. At rest the other side, which had
//! no part in choosing them, spends as much of its weight on them as their share of the web: a size, and from far fewer visits
//! than it takes two visits to meet. And it holds for every part of what is known: for pages that are listed again and again, and
//! for those that are listed once or were found by probes alone. If the latter are visited less than they should, walkers keep to
//! a part of what is known to be there, and no size is to be believed.
//!
//! On slow webs the size is about half as far off as the one by meetings: with 512 uniform seeds and 10,000 fetches on cnr-2000 the middle
//! 80 % of sizes are within 0.92 to 1.06 of the truth, by meetings within 0.87 to 1.17.

use super::Walk;
use super::clusters::{Clusters, Ratio, error, t};
use super::neighbour_cache::PageMap;
use super::probes::{side, visited};
use crate::estimate::Estimate;

/// The evidence that a side has of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Visited, or listed by two visited pages.
    Multiple,
    /// Listed by one visited page.
    ListedOnce,
    /// Found by probes alone.
    Probed,
}

/// The pages that one side knows of, and the weight of the other side's visits to them, by evidence.
#[derive(Debug, Clone)]
pub struct KnownRegion {
    pages: [u64; 3],
    weights: [Ratio; 3],
}

impl KnownRegion {
    /// Collects the pages that a side of a walk knows of; none if the walk keeps no lists.
    pub fn of(walk: &Walk, wanted: u8, clusters: &Clusters) -> Option<Self> {
        if walk.lists.is_empty() {
            return None;
        }
        let evidences = evidence_by_page(walk, wanted);
        let mut pages = [0; 3];
        evidences.values().for_each(|&evidence| pages[evidence as usize] += 1);
        let mut weights = [(); 3].map(|()| Ratio::new(clusters.count));
        for (place, sample) in walk.samples.iter().enumerate() {
            if side(walk, place, sample) == wanted {
                continue;
            }
            let evidence = evidences.get(&sample.page).copied();
            for (own, ratio) in
                [Evidence::Multiple, Evidence::ListedOnce, Evidence::Probed].into_iter().zip(&mut weights)
            {
                let weight = if evidence == Some(own) { sample.weight } else { 0.0 };
                ratio.add(clusters.of[place], weight, sample.weight);
            }
        }
        Some(KnownRegion { pages, weights })
    }

    /// The size of the web, as the logarithm and its error; none when the other side was never there.
    pub fn size(&self) -> Option<(f64, f64)> {
        let shares: Option<Vec<f64>> = self.weights.iter().map(Ratio::value).collect();
        let share: f64 = shares?.iter().sum();
        let filled = self.weights[0].filled();
        (share > 0.0).then_some(())?;
        let error = error(&self.residuals([1.0; 3])?, filled)? / share;
        Some(((self.pages.iter().sum::<u64>() as f64 / share).ln(), error))
    }

    /// Returns the number of standard errors by which pages of one evidence are visited less than those of multiple evidence, each
    /// by its number; positive if they are.
    pub fn neglect(&self, evidence: Evidence) -> Option<f64> {
        let (inner, outer) = (self.pages[0] as f64, self.pages[evidence as usize] as f64);
        if inner == 0.0 || outer == 0.0 {
            return None;
        }
        let (on_inner, on_outer) = (self.weights[0].value()?, self.weights[evidence as usize].value()?);
        let mut factors = [1.0 / inner, 0.0, 0.0];
        factors[evidence as usize] = -1.0 / outer;
        let measured = error(&self.residuals(factors)?, self.weights[0].filled())?;
        // If outer pages are hardly visited at all, the spread of visits to them is not seen. It is at least what it would be if every
        // walker stayed where it is.
        let wanted = (on_inner * outer / inner).min(0.5);
        let least = (wanted * (1.0 - wanted) * self.weights[0].concentration()).sqrt() / outer;
        Some((on_inner / inner - on_outer / outer) / measured.max(least))
    }

    fn residuals(&self, factors: [f64; 3]) -> Option<Vec<f64>> {
        let residuals: Option<Vec<Vec<f64>>> = self.weights.iter().map(Ratio::residuals).collect();
        let residuals = residuals?;
        let sum =
            |cluster: usize| residuals.iter().zip(factors).map(|(own, factor)| factor * own[cluster]).sum();
        Some((0..residuals[0].len()).map(sum).collect())
    }
}

/// Returns the evidence of each page that a side knows of.
fn evidence_by_page(walk: &Walk, wanted: u8) -> PageMap<Evidence> {
    let mut evidences: PageMap<Evidence> = PageMap::default();
    for page in visited(walk, wanted) {
        for &other in walk.lists.of(page).unwrap_or_default() {
            evidences
                .entry(other)
                .and_modify(|evidence| *evidence = Evidence::Multiple)
                .or_insert(Evidence::ListedOnce);
        }
        evidences.insert(page, Evidence::Multiple);
    }
    for probe in walk.probes.iter().filter(|probe| probe.side == wanted) {
        for &other in walk.lists.of(probe.page).unwrap_or_default() {
            evidences.entry(other).or_insert(Evidence::Probed);
        }
    }
    evidences
}

/// The pages that are there for certain: visited, listed or found by probes. Some of them may not be fetchable.
pub fn known_pages(walk: &Walk) -> u64 {
    let mut pages: PageMap<()> = PageMap::default();
    for page in walk.lists.pages() {
        pages.insert(page, ());
        pages.extend(walk.lists.of(page).unwrap_or_default().iter().map(|&other| (other, ())));
    }
    pages.len() as u64
}

/// Estimates the size from the pages that each side knows of and the visits of the other side to them.
pub fn size(walk: &Walk) -> Option<Estimate> {
    let clusters = Clusters::new(&walk.samples, walk.starts.len());
    let logs = [0, 1].map(|side| KnownRegion::of(walk, side, &clusters).and_then(|found| found.size()));
    let [(one, error), (other, another)] = [logs[0]?, logs[1]?];
    let value = ((one + other) / 2.0).exp() * fetchable(walk);
    // Both tell of the same nearness of the two sides: their mean is hardly more certain than either.
    let error = (error + another) / 2.0;
    let factor = (t(clusters.count.saturating_sub(1)) * error).exp();
    // Fewer than are known there cannot be.
    let least = known_pages(walk) as f64 * fetchable(walk);
    let interval = (least.max(value / factor), least.max(value * factor));
    Some(Estimate { value: least.max(value), error: value * error, interval })
}

/// The share of pages asked for that could be had: of those that are only known by links as many are expected to fail.
pub fn fetchable(walk: &Walk) -> f64 {
    1.0 - walk.failures as f64 / walk.fetched.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::random::Random;
    use crate::simulation::{Sites, SitesPlan};
    use crate::walks::{Budget, LinkedWeb, Method, seeds, walk};

    #[test]
    fn there_are_no_fewer_pages_than_are_known() {
        let mut random = Random::new(2);
        let n = 3_000;
        let arcs: Vec<(u32, u32)> =
            (0..5 * n).map(|_| (random.below(n) as u32, random.below(n) as u32)).collect();
        let graph = Graph::of_arcs(n, &arcs);
        let back = graph.transposed();
        let seeds = seeds::uniform(n, 500, &mut random);
        let walked =
            walk(&mut LinkedWeb::new(&graph, &back), Method::Frontier, &seeds, Budget::fetches(2_900), 1)
                .unwrap();
        let (known, size) = (known_pages(&walked) as f64, size(&walked).unwrap());
        assert!(known > 2_950.0 && size.value >= known && size.interval.0 >= known, "{known} {size:?}");
        assert!(size.interval.1 >= size.value && size.value <= n as f64 * 1.02, "{size:?}");
    }

    #[test]
    fn sizes_hold_on_slow_webs_with_broken_pages_and_links_unknown() {
        let plan = SitesPlan { pages: 40_000, sites: 400, ..SitesPlan::default() };
        let graph = Sites::new(plan).graph;
        let back = graph.transposed();
        for (broken, known) in [(0.0, 1.0), (0.1, 1.0), (0.0, 0.5)] {
            let (mut ratio, mut covered) = (0.0, 0);
            for run in 0..10 {
                let mut web = LinkedWeb::new(&graph, &back).imperfect(broken, known, run);
                let truth = (0..40_000).filter(|&page| !web.is_broken(page)).count() as f64;
                let seeds = seeds::uniform(40_000, 512, &mut Random::part(6, run));
                let walked = walk(&mut web, Method::Frontier, &seeds, Budget::fetches(5_000), run).unwrap();
                let size = size(&walked).unwrap();
                ratio += size.value / truth / 10.0;
                covered += usize::from(size.covers(truth));
            }
            assert!((ratio - 1.0).abs() < 0.07 && covered >= 7, "{broken} {known}: {ratio}, {covered} of 10");
        }
    }

    #[test]
    fn pages_beyond_a_bridge_are_neglected_and_pages_of_one_world_are_not() {
        let mut random = Random::new(5);
        let mut arcs = vec![(0, 4_000)];
        for part in [0, 4_000] {
            for _ in 0..20_000 {
                arcs.push((part + random.below(4_000) as u32, part + random.below(4_000) as u32));
            }
        }
        // Enough links that probes see the other part, too few for walkers to settle there.
        for _ in 0..40 {
            arcs.push((random.below(4_000) as u32, 4_000 + random.below(4_000) as u32));
        }
        let graph = Graph::of_arcs(8_000, &arcs);
        let back = graph.transposed();
        let neglect = |seeds: &[u32]| {
            let budget = Budget { fetches: 3_000, steps: 6_000, probes: 1_000 };
            let walked =
                walk(&mut LinkedWeb::new(&graph, &back), Method::Frontier, seeds, budget, 3).unwrap();
            let clusters = Clusters::new(&walked.samples, walked.starts.len());
            KnownRegion::of(&walked, 0, &clusters).unwrap().neglect(Evidence::Probed).unwrap()
        };
        let one_part = neglect(&seeds::uniform(4_000, 300, &mut random));
        let both = neglect(&seeds::uniform(8_000, 300, &mut random));
        assert!(one_part > 4.0 && both.abs() < 3.0, "{one_part} {both}");
    }
}

//! The number of pages, from visits that meet.
//!
//! - [`by_meetings`]: Katzir, Liberty and Somekh (2011): `N = Σd·Σ(1/d) / 2C` for `C` pairs of visits to the same page, among pairs
//!   that are far enough apart, times `C/(C+1)`, since the size is too large by about one part in `C` otherwise.
//! - [`by_neighbours`]: Kurant, Butts and Markopoulou (2012): pairs of visits to neighbours in place of meetings.
//! - [`by_known_region`]: the pages that one half of the walkers knows of, and the visits of the other half to them; see
//!   [`super::known_region`].
//!
//! Errors of the first two come from leaving out one group of walkers, or one block of a path, at a time (the jackknife): pairs
//! that share a walker are not independent, and a group takes all of its pairs with it. All hold at rest only, which they cannot
//! tell.

use super::clusters::{Clusters, Kind, t};
use super::pairs::Pairs;
use super::{Sample, Walk, known_region};
use crate::estimate::Estimate;

/// Groups of clusters, of which one is left out at a time.
const GROUPS: usize = 20;

/// Steps that visits of one walker must be apart.
pub const MARGIN: u32 = 500;

/// The size from visits to the same page; none without any that meet.
pub fn by_meetings(walk: &Walk, margin: u32) -> Option<Estimate> {
    let groups = Groups::new(walk);
    let pairs = Pairs::meetings(&walk.samples, margin, GROUPS, |place, sample| groups.of(place, sample));
    groups.jackknife(|out| {
        let (chances, meetings) = pairs.sums(|one, other| Some(one) != out && Some(other) != out);
        // Pairs are ordered, so that there are two for each meeting.
        (meetings > 0.0).then(|| chances / (meetings + 2.0))
    })
}

/// The size from visits to neighbours; none without any, and none for walks that keep no lists.
pub fn by_neighbours(walk: &Walk, margin: u32) -> Option<Estimate> {
    let groups = Groups::new(walk);
    let cell = |place: usize, sample: &Sample| groups.of(place, sample);
    let pairs = Pairs::neighbours(&walk.samples, &walk.lists, margin, GROUPS, cell);
    let mut degrees = [(0.0, 0.0); GROUPS];
    for (place, sample) in walk.samples.iter().enumerate() {
        let sums = &mut degrees[groups.of(place, sample)];
        *sums = (sums.0 + sample.weight * f64::from(sample.degree), sums.1 + sample.weight);
    }
    groups.jackknife(|out| {
        let kept = degrees.iter().enumerate().filter(|&(group, _)| Some(group) != out);
        let (degree, weight) = kept.fold((0.0, 0.0), |sum, (_, own)| (sum.0 + own.0, sum.1 + own.1));
        let (chances, neighbours) = pairs.sums(|one, other| Some(one) != out && Some(other) != out);
        (neighbours > 0.0).then(|| degree / weight * chances / neighbours)
    })
}

/// The size from the pages that each half of the walkers knows of and the visits of the other half; none for walks that keep no lists.
pub fn by_known_region(walk: &Walk) -> Option<Estimate> {
    known_region::size(walk)
}

/// The assignment of clusters to groups.
struct Groups {
    clusters: Clusters,
}

impl Groups {
    fn new(walk: &Walk) -> Self {
        Groups { clusters: Clusters::new(&walk.samples, walk.starts.len()) }
    }

    fn of(&self, place: usize, _: &Sample) -> usize {
        let cluster = self.clusters.of[place] as usize;
        match self.clusters.kind {
            Kind::Walkers => cluster % GROUPS,
            // Blocks that follow each other go together: they are the most alike.
            Kind::Blocks => cluster * GROUPS / self.clusters.count,
        }
    }

    /// Returns the value, with the error of its logarithm from leaving groups out; `value` gets the group to leave out.
    fn jackknife(&self, value: impl Fn(Option<usize>) -> Option<f64>) -> Option<Estimate> {
        let whole = value(None)?;
        let logs: Vec<f64> = (0..GROUPS).filter_map(|out| value(Some(out))).map(f64::ln).collect();
        let n = logs.len() as f64;
        if logs.len() < 2 {
            return None;
        }
        let mean = logs.iter().sum::<f64>() / n;
        let error = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() * (n - 1.0) / n).sqrt();
        let factor = (t(logs.len() - 1) * error).exp();
        Some(Estimate { value: whole, error: whole * error, interval: (whole / factor, whole * factor) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::random::Random;
    use crate::walks::{Budget, LinkedWeb, Method, walk};

    #[test]
    fn on_a_complete_graph_all_sizes_are_right() {
        let nodes = 300u32;
        let graph =
            Graph::of_lists((0..nodes).map(|page| (0..nodes).filter(|&o| o != page).collect::<Vec<_>>()));
        let back = graph.transposed();
        for (seeds, margin) in [(vec![0], 3), ((0..30).collect::<Vec<u32>>(), 500)] {
            let budget = Budget { fetches: 1_000, steps: 2_000, probes: 0 };
            let mut web = LinkedWeb::new(&graph, &back);
            let walked = walk(&mut web, Method::Reweighted, &seeds, budget, 5).unwrap();
            let met = by_meetings(&walked, margin).unwrap();
            assert!((met.value / 300.0 - 1.0).abs() < 0.1 && met.covers(300.0), "{met:?}");
            let beside = by_neighbours(&walked, margin).unwrap();
            assert!((beside.value / 300.0 - 1.0).abs() < 0.02, "{beside:?}");
            // Every page is known to both sides.
            assert!((by_known_region(&walked).unwrap().value / 300.0 - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn intervals_cover_the_truth_on_a_random_graph() {
        let mut random = Random::new(1);
        let n = 3_000;
        let arcs: Vec<(u32, u32)> =
            (0..5 * n).map(|_| (random.below(n) as u32, random.below(n) as u32)).collect();
        let graph = Graph::of_arcs(n, &arcs);
        let back = graph.transposed();
        let truth = (0..n as u32).filter(|&page| graph.degree(page) + back.degree(page) > 0).count() as f64;
        let mut covered = [0; 3];
        for run in 0..60 {
            let seeds = crate::walks::seeds::uniform(n, 64, &mut Random::part(2, run));
            let mut web = LinkedWeb::new(&graph, &back);
            let walked = walk(&mut web, Method::Frontier, &seeds, Budget::fetches(500), run).unwrap();
            let sizes = [by_meetings(&walked, 500), by_neighbours(&walked, 500), by_known_region(&walked)];
            for (covered, size) in covered.iter_mut().zip(sizes) {
                *covered += usize::from(size.unwrap().covers(truth));
            }
        }
        assert!(covered.iter().all(|&covered| covered >= 51), "{covered:?} of 60");
    }

    #[test]
    fn without_meetings_there_is_no_size() {
        let graph = Graph::of_arcs(4, &[(0, 1), (2, 3)]);
        let back = graph.transposed();
        let budget = Budget { fetches: 9, steps: 1, probes: 0 };
        let walked = walk(&mut LinkedWeb::new(&graph, &back), Method::Frontier, &[0, 2], budget, 1).unwrap();
        assert!(by_meetings(&walked, 500).is_none() && by_neighbours(&walked, 500).is_none());
    }
}

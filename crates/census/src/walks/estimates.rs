//! Estimates of a walk for the pages of a web: the mean of a number, or the share of pages with a property.
//!
//! Each visit counts by its weight, and the error is the one between [`clusters`](super::clusters): between walkers where there are
//! many, between blocks of their paths where there are few. Shares have Wilson's interval, which stays between 0 and 1 and is never
//! certain.

use serde::Serialize;

use super::clusters::{Clusters, Kind, Ratio, t};
use super::{Sample, Walk};
use crate::estimate::{Estimate, Z};

/// A mean over pages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean, with its error between clusters.
    pub estimate: Estimate,
    /// The number of independent uniform pages that would have the same error.
    pub effective: f64,
    /// Visits that were counted: those to pages of which the number is known.
    pub visits: u64,
    /// The kind of clusters that the error was taken between.
    pub between: Kind,
}

/// An estimate as it is written to reports.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReportedEstimate {
    /// The number.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
}

impl From<Estimate> for ReportedEstimate {
    fn from(estimate: Estimate) -> Self {
        ReportedEstimate { value: estimate.value, error: estimate.error, interval: estimate.interval }
    }
}

/// The mean of a number over all pages; visits to pages without one (NaN) are left out. None without two clusters.
pub fn mean(walk: &Walk, number: impl Fn(&Sample) -> f64) -> Option<Mean> {
    let clusters = Clusters::new(&walk.samples, walk.starts.len());
    let mut ratio = Ratio::new(clusters.count);
    let (mut visits, mut weight, mut sum, mut squares) = (0, 0.0, 0.0, 0.0);
    let mut is_share = true;
    for (sample, &cluster) in walk.samples.iter().zip(&clusters.of) {
        let value = number(sample);
        if value.is_nan() {
            continue;
        }
        ratio.add(cluster, sample.weight * value, sample.weight);
        is_share &= value == 0.0 || value == 1.0;
        visits += 1;
        weight += sample.weight;
        sum += sample.weight * value;
        squares += sample.weight * value * value;
    }
    let estimate = ratio.estimate()?;
    if is_share {
        let Estimate { value, error, .. } = estimate;
        let (estimate, effective) = share(value, error, 1.0 / ratio.concentration(), ratio.filled());
        return Some(Mean { estimate, effective, visits, between: clusters.kind });
    }
    let variance = (squares / weight - (sum / weight).powi(2)).max(0.0);
    // A number that never differs says nothing about the sample; then weights do.
    let effective = if variance > 1e-12 * squares && estimate.error > 0.0 {
        variance / (estimate.error * estimate.error)
    } else {
        1.0 / ratio.concentration()
    };
    Some(Mean { estimate, effective, visits, between: clusters.kind })
}

/// Returns a share with this error between `clusters` clusters, and the number of uniform pages that would be as good. Where all
/// pages are alike, their spread says nothing of the sample, and it is as good as its weights are.
pub(super) fn share(value: f64, error: f64, by_weights: f64, clusters: usize) -> (Estimate, f64) {
    let spread = value * (1.0 - value);
    let effective = if spread > 1e-12 && error > 0.0 { spread / (error * error) } else { by_weights };
    let sure = effective * (Z / t(clusters.max(2) - 1)).powi(2);
    (Estimate { error, ..Estimate::share_of(value, sure) }, effective)
}

/// The mean of a number that is known for each page.
pub fn mean_of(walk: &Walk, numbers: &[f64]) -> Option<Mean> {
    mean(walk, |sample| numbers.get(sample.page as usize).copied().unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::random::Random;
    use crate::walks::{Budget, LinkedWeb, Method, seeds, walk};

    #[test]
    fn means_are_those_of_all_pages_and_intervals_cover_them() {
        let mut random = Random::new(8);
        let n = 2_000;
        // Pages with small numbers are linked to more often: a plain mean over visits would be far too small.
        let arcs: Vec<(u32, u32)> = (0..6 * n)
            .map(|_| (random.below(n) as u32, random.below(1 + random.clone().below(n)) as u32))
            .collect();
        let graph = Graph::of_arcs(n, &arcs);
        let back = graph.transposed();
        let both = graph.undirected();
        let there: Vec<u32> = (0..n as u32).filter(|&page| both.degree(page) > 0).collect();
        let truth = there.iter().map(|&page| f64::from(page)).sum::<f64>() / there.len() as f64;
        for method in
            [Method::Frontier, Method::Reweighted, Method::NonBacktracking, Method::MetropolisHastings]
        {
            let (mut covered, mut plain) = (0, 0.0);
            for run in 0..40 {
                let seeds = seeds::uniform(n, 50, &mut Random::part(9, run));
                let budget = Budget { fetches: 10_000, steps: 3_000, probes: 0 };
                let walked = walk(&mut LinkedWeb::new(&graph, &back), method, &seeds, budget, run).unwrap();
                let mean = mean(&walked, |sample| f64::from(sample.page)).unwrap();
                assert!(mean.effective > 100.0 && mean.effective < 9_000.0, "{mean:?}");
                covered += usize::from(mean.estimate.covers(truth));
                plain +=
                    walked.samples.iter().map(|sample| f64::from(sample.page)).sum::<f64>() / 3_000.0 / 40.0;
            }
            assert!(covered >= 34, "{method:?}: {covered} of 40");
            assert_eq!(method != Method::MetropolisHastings, plain < 0.95 * truth, "{method:?}");
        }
    }

    #[test]
    fn shares_are_never_certain_and_stay_within_their_bounds() {
        let mut random = Random::new(3);
        let n = 3_000;
        let arcs: Vec<(u32, u32)> =
            (0..5 * n).map(|_| (random.below(n) as u32, random.below(n) as u32)).collect();
        let graph = Graph::of_arcs(n, &arcs);
        let back = graph.transposed();
        let seeds = seeds::uniform(n, 50, &mut random);
        let budget = Budget { fetches: 9_000, steps: 600, probes: 0 };
        let walked = walk(&mut LinkedWeb::new(&graph, &back), Method::Frontier, &seeds, budget, 1).unwrap();
        let share = |has: &dyn Fn(u32) -> bool| {
            mean(&walked, |sample| f64::from(u8::from(has(sample.page)))).unwrap().estimate
        };
        let (none, all) = (share(&|_| false), share(&|_| true));
        assert!(none.value == 0.0 && (0.005..0.15).contains(&none.interval.1), "{none:?}");
        assert!(all.value == 1.0 && (0.85..0.995).contains(&all.interval.0), "{all:?}");
        let one = walked.samples[0].page;
        let few = share(&|page| page == one);
        assert!(few.interval.0 >= 0.0 && few.interval.0 < few.value && few.value < few.interval.1, "{few:?}");
    }

    #[test]
    fn pages_of_which_nothing_is_known_are_left_out() {
        let graph = Graph::of_arcs(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        let back = graph.transposed();
        let budget = Budget { fetches: 9, steps: 400, probes: 0 };
        let walked = walk(&mut LinkedWeb::new(&graph, &back), Method::Reweighted, &[0], budget, 1).unwrap();
        let mean = mean_of(&walked, &[1.0, f64::NAN, 1.0]).unwrap();
        assert_eq!(mean.estimate.value, 1.0);
        assert!(mean.visits < 400 && mean.effective > 1.0);
        assert!(mean_of(&walked, &[]).is_none());
    }
}

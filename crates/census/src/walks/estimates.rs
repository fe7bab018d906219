//! What a walk says of the pages of a web: the mean of a number, or the share of pages that have something.
//!
//! Each visit counts by its weight, and the error is the one between [`clusters`](super::clusters): between walkers where there are
//! many, between blocks of their ways where there are few.

use serde::Serialize;

use super::clusters::{Clusters, Kind, Ratio};
use super::{Sample, Walk};
use crate::estimate::Estimate;

/// A mean over pages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean, with its error between clusters.
    pub estimate: Estimate,
    /// How many independent uniform pages would have the same error.
    pub effective: f64,
    /// Visits that were counted: those to pages of which the number is known.
    pub visits: u64,
    /// What the error was taken between.
    pub between: Kind,
}

/// How the error was taken, for reports.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// The number.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
}

impl From<Estimate> for Figures {
    fn from(estimate: Estimate) -> Self {
        Figures { value: estimate.value, error: estimate.error, interval: estimate.interval }
    }
}

/// The mean of a number over all pages; visits to pages without one (NaN) are left out. None without two clusters.
pub fn mean(walk: &Walk, number: impl Fn(&Sample) -> f64) -> Option<Mean> {
    let clusters = Clusters::new(&walk.samples, walk.starts.len());
    let mut ratio = Ratio::new(clusters.count);
    let (mut visits, mut weight, mut sum, mut squares) = (0, 0.0, 0.0, 0.0);
    for (sample, &cluster) in walk.samples.iter().zip(&clusters.of) {
        let value = number(sample);
        if value.is_nan() {
            continue;
        }
        ratio.add(cluster, sample.weight * value, sample.weight);
        visits += 1;
        weight += sample.weight;
        sum += sample.weight * value;
        squares += sample.weight * value * value;
    }
    let estimate = ratio.estimate()?;
    let variance = (squares / weight - (sum / weight).powi(2)).max(0.0);
    // A number that never differs says nothing about the sample; then weights do.
    let effective = if variance > 1e-12 * squares && estimate.error > 0.0 {
        variance / (estimate.error * estimate.error)
    } else {
        1.0 / ratio.concentration()
    };
    Some(Mean { estimate, effective, visits, between: clusters.kind })
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

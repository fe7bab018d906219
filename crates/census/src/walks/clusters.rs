//! Clusters of visits that are likely to be alike: those of one walker, or those of one stretch of a long path.
//!
//! Visits are not independent, and an error that takes them to be is far too small. With twenty walkers or more each walker is one
//! cluster, so that an error is right even if no walker ever leaves the host that it began on, as long as seeds are independent.
//! With fewer, every path is cut into blocks of equal length, about thirty of them in all: batch means, right if a block is longer
//! than the walk's memory, which [`super::convergence`] checks.

use serde::Serialize;

use super::Sample;
use crate::estimate::Estimate;

/// Walkers from which on each is one cluster.
const WALKERS: usize = 20;
/// Blocks of all paths together, with fewer walkers.
const BLOCKS: usize = 30;

/// The kind of the clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Whole walkers.
    Walkers,
    /// Blocks of their paths.
    Blocks,
}

/// The cluster of each sample.
#[derive(Debug, Clone)]
pub struct Clusters {
    /// The cluster by the index of the sample.
    pub of: Vec<u32>,
    /// The number of clusters.
    pub count: usize,
    /// The kind of the clusters.
    pub kind: Kind,
}

impl Clusters {
    /// Assigns the samples of `walkers` walkers to clusters.
    pub fn new(samples: &[Sample], walkers: usize) -> Self {
        if walkers >= WALKERS {
            let of = samples.iter().map(|sample| sample.walker).collect();
            return Clusters { of, count: walkers, kind: Kind::Walkers };
        }
        let mut lengths = vec![0usize; walkers.max(1)];
        for sample in samples {
            lengths[sample.walker as usize] += 1;
        }
        let blocks = BLOCKS.div_ceil(walkers.max(1));
        let mut places = vec![0usize; lengths.len()];
        let of = samples
            .iter()
            .map(|sample| {
                let walker = sample.walker as usize;
                let block = places[walker] * blocks / lengths[walker];
                places[walker] += 1;
                (walker * blocks + block) as u32
            })
            .collect();
        Clusters { of, count: blocks * lengths.len(), kind: Kind::Blocks }
    }
}

/// Sums of two numbers by cluster, whose ratio is wanted.
#[derive(Debug, Clone)]
pub struct Ratio {
    above: Vec<f64>,
    below: Vec<f64>,
}

impl Ratio {
    /// Nothing yet.
    pub fn new(clusters: usize) -> Self {
        Ratio { above: vec![0.0; clusters], below: vec![0.0; clusters] }
    }

    /// Adds to the sums of a cluster.
    pub fn add(&mut self, cluster: u32, above: f64, below: f64) {
        self.above[cluster as usize] += above;
        self.below[cluster as usize] += below;
    }

    /// The ratio of the sums; none when there is nothing below.
    pub fn value(&self) -> Option<f64> {
        let below: f64 = self.below.iter().sum();
        (below > 0.0).then(|| self.above.iter().sum::<f64>() / below)
    }

    /// Returns the residuals, the amounts by which each cluster moves the ratio: their squares add up to the variance.
    pub fn residuals(&self) -> Option<Vec<f64>> {
        let (value, below) = (self.value()?, self.below.iter().sum::<f64>());
        let residual = |(above, own): (&f64, &f64)| (above - value * own) / below;
        Some(self.above.iter().zip(&self.below).map(residual).collect())
    }

    /// The ratio with its error between clusters; none with fewer than two that count.
    pub fn estimate(&self) -> Option<Estimate> {
        Some(student(self.value()?, error(&self.residuals()?, self.filled())?, self.filled() - 1))
    }

    /// Clusters that count.
    pub fn filled(&self) -> usize {
        self.below.iter().filter(|&&below| below > 0.0).count()
    }

    /// Returns the mean share of a cluster in the sum below, weighted by itself: one over the number of clusters if all are alike.
    pub fn concentration(&self) -> f64 {
        let sum: f64 = self.below.iter().sum();
        if sum > 0.0 { self.below.iter().map(|own| own * own).sum::<f64>() / (sum * sum) } else { 1.0 }
    }
}

/// Returns the error of a sum of independent residuals, of which `filled` may differ from 0.
pub fn error(residuals: &[f64], filled: usize) -> Option<f64> {
    if filled < 2 {
        return None;
    }
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    Some((squares * filled as f64 / (filled - 1) as f64).sqrt())
}

/// Returns an estimate whose error has `freedom` degrees of freedom.
pub fn student(value: f64, error: f64, freedom: usize) -> Estimate {
    let half = t(freedom) * error;
    Estimate { value, error, interval: (value - half, value + half) }
}

/// The 97.5 % point of Student's distribution, by the expansion of Cornish and Fisher.
pub fn t(freedom: usize) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    let n = freedom.max(1) as f64;
    let first = (Z.powi(3) + Z) / 4.0;
    let second = (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / 96.0;
    let third = (3.0 * Z.powi(7) + 19.0 * Z.powi(5) + 17.0 * Z.powi(3) - 15.0 * Z) / 384.0;
    Z + first / n + second / (n * n) + third / (n * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn students_points_are_those_of_the_tables() {
        for (freedom, point) in [(5, 2.571), (10, 2.228), (19, 2.093), (30, 2.042), (1_000, 1.962)] {
            assert!((t(freedom) - point).abs() < 6e-3, "{freedom}: {}", t(freedom));
        }
    }

    #[test]
    fn few_walkers_are_cut_and_many_are_not() {
        let sample = |walker, step| Sample { page: 0, degree: 1, walker, step, weight: 1.0 };
        let one: Vec<Sample> = (0..300).map(|step| sample(0, step)).collect();
        let clusters = Clusters::new(&one, 1);
        assert_eq!((clusters.kind, clusters.count), (Kind::Blocks, 30));
        assert!((0..30).all(|block| clusters.of.iter().filter(|&&own| own == block).count() == 10));
        let many: Vec<Sample> = (0..50).map(|walker| sample(walker, 1)).collect();
        assert_eq!(Clusters::new(&many, 50).kind, Kind::Walkers);
    }

    #[test]
    fn errors_see_that_visits_of_a_cluster_are_alike() {
        let covered = (0..300)
            .filter(|&run| {
                let mut random = Random::part(4, run);
                let mut ratio = Ratio::new(30);
                for cluster in 0..30 {
                    // A hundred visits that are all the same are one.
                    let value = random.unit();
                    (0..100).for_each(|_| ratio.add(cluster, value, 1.0));
                }
                ratio.estimate().unwrap().covers(0.5)
            })
            .count();
        assert!((273..=297).contains(&covered), "{covered} of 300");
        assert!(Ratio::new(3).estimate().is_none());
    }
}

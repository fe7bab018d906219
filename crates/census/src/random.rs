//! Pseudo-random draws from a seed: the same on every machine.

use lookalike_hash::random::{Draw, SplitMix64};
use lookalike_hash::{mix, nth};

/// SplitMix64, and the distributions that estimators draw from.
#[derive(Debug, Clone)]
pub struct Random(SplitMix64);

impl Random {
    /// Draws that follow from a seed.
    pub fn new(seed: u64) -> Self {
        Random(SplitMix64::new(mix(seed)))
    }

    /// Draws for the part number `index` of the work, unrelated to those of other parts.
    pub fn part(seed: u64, index: u64) -> Self {
        Random(SplitMix64::new(nth(index + 1, mix(seed))))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below `bound`; 0 when there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// A number from 0 to 1, 1 excluded.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// Failures before the first success, each try with this probability of it: a geometric draw by inversion.
    pub fn failures(&mut self, success: f64) -> u64 {
        if success >= 1.0 {
            return 0;
        }
        // 1 − unit lies above 0, so that its logarithm is finite.
        ((1.0 - self.unit()).ln() / (-success).ln_1p()) as u64
    }

    /// A Poisson draw of mean 1: how often a thing is drawn in a bootstrap of very many.
    pub fn poisson(&mut self) -> u32 {
        let bound = (-1.0f64).exp();
        let (mut product, mut count) = (self.unit(), 0);
        while product > bound {
            product *= self.unit();
            count += 1;
        }
        count
    }

    /// `most` of the numbers below `bound`, or all of them when they are fewer; in the order drawn.
    pub fn sample_indices(&mut self, bound: usize, most: usize) -> Vec<usize> {
        self.0.sample_indices(bound, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(draws: impl Iterator<Item = f64>) -> f64 {
        let draws: Vec<f64> = draws.collect();
        draws.iter().sum::<f64>() / draws.len() as f64
    }

    #[test]
    fn draws_have_their_means() {
        let mut random = Random::new(7);
        assert!((mean((0..20_000).map(|_| random.unit())) - 0.5).abs() < 0.01);
        assert!((mean((0..20_000).map(|_| random.failures(0.2) as f64)) - 4.0).abs() < 0.15);
        assert!((mean((0..20_000).map(|_| f64::from(random.poisson()))) - 1.0).abs() < 0.03);
        assert_eq!(random.failures(1.0), 0);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.pick::<u8>(&[]), None);
    }

    #[test]
    fn some_are_distinct() {
        let mut drawn = Random::new(1).sample_indices(50, 20);
        assert_eq!(drawn.len(), 20);
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 20);
        assert_eq!(Random::new(1).sample_indices(3, 20).len(), 3);
    }
}

//! Random numbers that follow from a seed.

use lookalike::hash;
use lookalike::hash::random::{CounterRng, Draw};

/// A row of random numbers; equal seeds give equal rows.
#[derive(Debug, Clone)]
pub(crate) struct Draws(CounterRng);

impl Draws {
    /// The row of a seed, and of what it is for: rows of different purposes have nothing to do with each other.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        Draws(CounterRng::new(hash::nth(purpose, hash::mix(seed))))
    }

    /// The next number of 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0.bits()
    }

    /// The next number below `bound`, all of them equally likely; 0 when there is none below it.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// `count` different numbers below `bound`, in the order drawn; all of them when there are fewer.
    pub(crate) fn distinct(&mut self, count: usize, bound: usize) -> Vec<usize> {
        self.0.sample_indices(bound, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_rows_and_other_purposes_others() {
        let row = |seed, purpose| {
            let mut draws = Draws::new(seed, purpose);
            [draws.next(), draws.next()]
        };
        assert_eq!(row(1, 2), row(1, 2));
        assert!(row(1, 2) != row(1, 3) && row(1, 2) != row(2, 2));
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let mut draws = Draws::new(1, 1);
        let mut counts = [0u32; 10];
        (0..10_000).for_each(|_| counts[draws.below(10)] += 1);
        // 1000 each, with a standard deviation of 30.
        assert!(counts.iter().all(|count| (880..1120).contains(count)), "{counts:?}");
        assert_eq!(draws.below(0), 0);
    }

    #[test]
    fn distinct_numbers_are_distinct() {
        let mut draws = Draws::new(1, 1);
        let mut some = draws.distinct(30, 40);
        some.sort_unstable();
        some.dedup();
        assert_eq!((some.len(), some.iter().all(|&number| number < 40)), (30, true));
        assert_eq!(draws.distinct(9, 3).len(), 3);
    }
}

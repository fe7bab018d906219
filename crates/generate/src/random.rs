//! Chance from a seed: the same numbers on every machine, by integer arithmetic alone.

use lookalike_hash::random::{Draw, SplitMix64};
use lookalike_hash::{key_of, mix};

/// A key for the thing number `index` below `key`, unrelated to the keys of its siblings.
pub(crate) fn child(key: u64, index: u64) -> u64 {
    mix(key ^ key_of(index))
}

/// SplitMix64, and draws of 32 bits.
#[derive(Debug, Clone)]
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(key: u64) -> Self {
        Random(SplitMix64::new(key))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below `bound`, 0 when `bound` is 0. The bias, under `bound` / 2^32, is the same everywhere.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        scale(self.next() >> 32, bound)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    pub(crate) fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn percent(&mut self, share: u32) -> bool {
        self.below(100) < share
    }

    /// An index below `len`.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(u32::try_from(len).unwrap_or(u32::MAX)) as usize
    }

    /// An index below `len` that favours the first ones, as words of a language do: the product of two draws.
    pub(crate) fn skewed(&mut self, len: usize) -> usize {
        let draw = self.next();
        let first = scale(draw >> 32, u32::try_from(len).unwrap_or(u32::MAX));
        scale(draw & 0xffff_ffff, first + 1) as usize
    }
}

fn scale(draw: u64, bound: u32) -> u32 {
    ((draw * u64::from(bound)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold() {
        let mut random = Random::new(1);
        for _ in 0..1000 {
            assert!(random.below(7) < 7);
            assert!((3..=5).contains(&random.between(3, 5)));
            assert!(random.skewed(9) < 9);
        }
        assert_eq!(random.below(0), 0);
    }
}

//! The order of the corpus: relatives stand far apart, and no list of positions is kept.
//!
//! A Feistel network over the next even number of bits is a permutation that can be walked both ways; values
//! outside the corpus are sent through again until they fall inside (cycle walking, Black and Rogaway 2002).

use crate::random::child;

const ROUNDS: u64 = 4;

/// A seeded permutation of the numbers below `len`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Permutation {
    len: u64,
    half: u32,
    key: u64,
}

impl Permutation {
    pub(crate) fn new(len: u64, key: u64) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        Permutation { len, half: bits.div_ceil(2).max(1), key }
    }

    /// Returns the slot of the plan that stands at `position` of the corpus.
    pub(crate) fn slot(&self, position: u64) -> u64 {
        self.walk(position, |permutation, value| {
            (0..ROUNDS).fold(value, |value, round| permutation.forward_round(value, round))
        })
    }

    /// Returns the position in the corpus of the `slot` of the plan.
    pub(crate) fn position(&self, slot: u64) -> u64 {
        self.walk(slot, |permutation, value| {
            (0..ROUNDS).rev().fold(value, |value, round| permutation.backward_round(value, round))
        })
    }

    fn walk(&self, mut value: u64, step: impl Fn(&Self, u64) -> u64) -> u64 {
        debug_assert!(value < self.len);
        loop {
            value = step(self, value);
            if value < self.len {
                return value;
            }
        }
    }

    fn forward_round(&self, value: u64, round: u64) -> u64 {
        let (left, right) = self.halves(value);
        (right << self.half) | (left ^ self.noise(right, round))
    }

    fn backward_round(&self, value: u64, round: u64) -> u64 {
        let (left, right) = self.halves(value);
        ((right ^ self.noise(left, round)) << self.half) | left
    }

    fn halves(&self, value: u64) -> (u64, u64) {
        (value >> self.half, value & self.mask())
    }

    fn noise(&self, half: u64, round: u64) -> u64 {
        child(self.key.wrapping_add(round), half) & self.mask()
    }

    fn mask(&self) -> u64 {
        (1 << self.half) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_permutation_and_knows_the_way_back() {
        for len in [1, 2, 3, 4, 5, 63, 64, 65, 1000] {
            let permutation = Permutation::new(len, 42);
            let mut seen = vec![false; len as usize];
            for position in 0..len {
                let slot = permutation.slot(position);
                assert_eq!(permutation.position(slot), position);
                assert!(!std::mem::replace(&mut seen[slot as usize], true));
            }
        }
    }

    #[test]
    fn the_largest_corpus_still_works() {
        let permutation = Permutation::new(u64::MAX, 7);
        assert_eq!(permutation.position(permutation.slot(12_345)), 12_345);
    }
}

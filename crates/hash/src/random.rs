//! Seeded random numbers: equal seeds give equal numbers on every machine, by integer arithmetic alone.
//!
//! There are two generators. Generated corpora and simulations follow from the sequence of the one, sketches, samples and experiments
//! from that of the other, and all of them are published or compared with earlier ones: neither sequence may change, and so neither
//! generator can take the place of the other. What is made of their bits is the same.

use crate::{GOLDEN, mix, nth};

/// Draws of 64 bits, and what is made of them.
pub trait Draw {
    /// The next 64 bits.
    fn bits(&mut self) -> u64;

    /// A number below `bound`, all of them equally likely; 0 when there is none.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// `most` different numbers below `bound`, or all of them when they are fewer; in the order drawn.
    fn sample_indices(&mut self, bound: usize, most: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..bound).collect();
        let most = most.min(bound);
        for place in 0..most {
            let other = place + self.below(bound - place);
            numbers.swap(place, other);
        }
        numbers.truncate(most);
        numbers
    }
}

/// SplitMix64: a state that steps on by a constant, and is mixed.
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// Draws from a state, as published: states that are near each other have sequences in common.
    pub fn new(state: u64) -> Self {
        SplitMix64 { state }
    }
}

impl Draw for SplitMix64 {
    #[inline]
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }
}

/// A generator by a counter: its `i`th draw is the `i`th hash function of a start.
#[derive(Debug, Clone)]
pub struct CounterRng {
    start: u64,
    drawn: u64,
}

impl CounterRng {
    /// Draws from a start, which should be a hash.
    pub fn new(start: u64) -> Self {
        CounterRng { start, drawn: 0 }
    }
}

impl Draw for CounterRng {
    #[inline]
    fn bits(&mut self) -> u64 {
        self.drawn += 1;
        nth(self.drawn, self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        // First outputs of SplitMix64 for the seed 1234567, as in the reference implementation.
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!([random.bits(), random.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn draws_of_a_counter_are_hashes_of_its_start() {
        let mut random = CounterRng::new(5);
        assert_eq!([random.bits(), random.bits()], [nth(1, 5), nth(2, 5)]);
    }

    #[test]
    fn numbers_are_spread_evenly_below_their_bound() {
        let generators: [&mut dyn Draw; 2] = [&mut SplitMix64::new(mix(1)), &mut CounterRng::new(mix(1))];
        for random in generators {
            let mut counts = [0u32; 10];
            (0..10_000).for_each(|_| counts[random.below(10)] += 1);
            // 1000 each, with a standard deviation of 30.
            assert!(counts.iter().all(|count| (880..1120).contains(count)), "{counts:?}");
            assert_eq!(random.below(0), 0);
        }
    }

    #[test]
    fn samples_are_distinct() {
        let mut random = CounterRng::new(mix(1));
        let mut some = random.sample_indices(40, 30);
        some.sort_unstable();
        some.dedup();
        assert_eq!((some.len(), some.iter().all(|&number| number < 40)), (30, true));
        assert_eq!(random.sample_indices(3, 9).len(), 3);
    }
}

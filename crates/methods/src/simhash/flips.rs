//! Flips: which bits of a fingerprint a near-duplicate most likely has otherwise (Sood, Loguinov 2011).
//!
//! A bit that the votes were close on is easily another in a near-duplicate. If the votes of a near-duplicate differ by
//! normal errors, bit `i` flips with a probability of `p_i = Φ(−|V_i| / (c · sqrt(Σ w²)))`, where `V_i` is the margin of
//! its votes, `w` are the weights of all n-grams, and `c` says how much near-duplicates differ. Sets of at most `k` bits
//! are tried from the most to the least likely, until what is left of all such sets is unlikely enough.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::MAX_WORDS;

/// Costs are whole numbers, so that sums of them do not depend on the order: this much is a factor of e.
const SCALE: f64 = 1e9;

/// No flip is less likely than this, which is to say never.
const RAREST: f64 = 1e-15;

/// A set of bits: one that was tried before, and one bit more. Small, since it is moved about in a heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FlipSet {
    /// Logarithm of how much less likely it is than no flip at all.
    cost: u64,
    /// The last of its bits, in the order from the most likely to the least.
    last: u16,
    size: u16,
    /// Index of the set without that bit.
    rest: u32,
}

/// The limits of the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limits {
    /// Most bits of a set.
    pub(crate) k: usize,
    /// Wanted part of the probability of all sets of at most `k` bits.
    pub(crate) target: f64,
    /// Most sets.
    pub(crate) probes: usize,
}

/// Buffers for [`likely`].
#[derive(Debug, Default)]
pub(crate) struct FlipBuffers {
    /// Cost and number of each bit.
    costs: Vec<(u64, u16)>,
    /// Probabilities by number of flips.
    counts: Vec<f64>,
    /// Sets to be tried.
    heap: Vec<Reverse<FlipSet>>,
    /// Sets that were tried and may get another bit.
    tried: Vec<[u64; MAX_WORDS]>,
}

/// Gives every set of flips that is to be tried to `each`, from the most to the least likely; the empty one is not among
/// them. `chances` are those of each bit, at most one half.
pub(crate) fn likely(
    chances: &[f64],
    limits: Limits,
    buffers: &mut FlipBuffers,
    mut each: impl FnMut(&[u64; MAX_WORDS]),
) {
    let FlipBuffers { costs, counts, heap, tried } = buffers;
    costs.clear();
    costs.extend((0..).zip(chances).map(|(bit, &chance)| (cost(chance), bit)));
    costs.sort_unstable();
    // A set with bits `S` has a probability of `none` times the product of `p / (1 - p)` over `S`. So the
    // logarithms of odds add up, and the likeliest set is the one with the least sum.
    let none: f64 = chances.iter().map(|chance| 1.0 - chance).product();
    let enough = limits.target * at_most(chances, limits.k, counts);
    let mut reached = none;
    tried.clear();
    tried.push([0; MAX_WORDS]);
    heap.clear();
    // The heap is empty here; what is taken over is its memory.
    let mut waiting = BinaryHeap::from(std::mem::take(heap));
    if limits.k > 0 {
        waiting.extend(costs.first().map(|&(cost, _)| Reverse(FlipSet { cost, last: 0, size: 1, rest: 0 })));
    }
    for _ in 0..limits.probes {
        if reached >= enough {
            break;
        }
        let Some(Reverse(set)) = waiting.pop() else { break };
        let (own, bit) = costs[usize::from(set.last)];
        let mut bits = tried[set.rest as usize];
        bits[usize::from(bit) / 64] |= 1 << (bit % 64);
        each(&bits);
        reached += none * (-(set.cost as f64) / SCALE).exp();
        let Some(&(next, _)) = costs.get(usize::from(set.last) + 1) else { continue };
        let last = set.last + 1;
        // The next bit instead of the last one, and beside it. Bits are in order of their cost, so neither
        // costs less than this set; and every set has exactly one it comes from, so none is met twice and no
        // table of them is needed.
        waiting.push(Reverse(FlipSet { cost: set.cost - own + next, last, ..set }));
        if usize::from(set.size) < limits.k {
            let rest = tried.len() as u32;
            tried.push(bits);
            waiting.push(Reverse(FlipSet { cost: set.cost + next, last, size: set.size + 1, rest }));
        }
    }
    *heap = waiting.into_vec();
}

/// Logarithm of the odds against a flip.
fn cost(chance: f64) -> u64 {
    let chance = chance.clamp(RAREST, 0.5);
    (((1.0 - chance) / chance).ln() * SCALE).round() as u64
}

/// Probability that at most `k` bits flip.
fn at_most(chances: &[f64], k: usize, counts: &mut Vec<f64>) -> f64 {
    counts.clear();
    counts.resize(k + 1, 0.0);
    counts[0] = 1.0;
    for chance in chances {
        // Downwards: the probability of one flip less must still be that without this bit.
        for count in (0..=k).rev() {
            let before = if count > 0 { counts[count - 1] } else { 0.0 };
            counts[count] = counts[count] * (1.0 - chance) + before * chance;
        }
    }
    counts.iter().sum()
}

/// Φ(−x): the probability that a normal error is more than `x` standard deviations, for `x` from 0.
pub(crate) fn tail(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    // Near 0 the series takes few terms. Further out it would subtract two numbers that are nearly equal, and
    // lose the digits that count; there the continued fraction of the tail itself needs no difference.
    if x < 3.0 {
        // x + x^3/3 + x^5/15 + …
        let (mut term, mut sum, mut odd) = (x, x, 1.0);
        while term > 1e-17 * sum {
            odd += 2.0;
            term *= x * x / odd;
            sum += term;
        }
        return 0.5 - density * sum;
    }
    // 1/(x + 1/(x + 2/(x + 3/(x + …
    density / (1..60).rev().fold(x, |below, number| x + f64::from(number) / below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: Limits = Limits { k: 3, target: 2.0, probes: usize::MAX };

    fn sets(chances: &[f64], limits: Limits) -> Vec<[u64; MAX_WORDS]> {
        let mut all = Vec::new();
        likely(chances, limits, &mut FlipBuffers::default(), |set| all.push(*set));
        all
    }

    fn chance(set: u64, chances: &[f64]) -> f64 {
        let one = |(bit, p): (usize, &f64)| if set >> bit & 1 == 1 { *p } else { 1.0 - p };
        chances.iter().enumerate().map(one).product()
    }

    #[test]
    fn tails_are_those_of_the_normal_distribution() {
        for (x, expected) in [
            (0.0, 0.5),
            (1.0, 0.158_655_253_931_457),
            (1.96, 0.024_997_895_148_220_4),
            (2.999_999, 0.001_349_902_463_5),
            (3.0, 0.001_349_898_031_630_09),
            (6.0, 9.865_876_450_376_98e-10),
        ] {
            assert!((tail(x) / expected - 1.0).abs() < 1e-9, "{x}: {}", tail(x));
        }
    }

    #[test]
    fn a_set_costs_what_its_bits_cost() {
        let chances = [0.5, 0.1, 0.01];
        let sets: Vec<u64> = sets(&chances, ALL).iter().map(|set| set[0]).collect();
        assert_eq!(sets, [0b001, 0b010, 0b011, 0b100, 0b101, 0b110, 0b111]);
        assert!(at_most(&chances, 3, &mut Vec::new()) > 1.0 - 1e-12);
        assert!((at_most(&chances, 0, &mut vec![7.0]) - 0.5 * 0.9 * 0.99).abs() < 1e-12);
        let one = 0.5 * 0.9 * 0.99 + 0.5 * 0.1 * 0.99 + 0.5 * 0.9 * 0.01;
        assert!((at_most(&chances, 1, &mut vec![7.0]) - 0.5 * 0.9 * 0.99 - one).abs() < 1e-12);
    }

    #[test]
    fn wide_fingerprints_flip_anywhere() {
        let mut chances = [1e-6; 384];
        (chances[5], chances[383]) = (0.4, 0.3);
        let sets = sets(&chances, Limits { k: 2, target: 0.99, probes: 100 });
        let set = |bits: &[usize]| {
            let mut set = [0; MAX_WORDS];
            bits.iter().for_each(|bit| set[bit / 64] |= 1 << (bit % 64));
            set
        };
        assert_eq!(sets, [set(&[5]), set(&[383]), set(&[5, 383])]);
    }

    proptest! {
        #[test]
        fn sets_come_from_the_most_to_the_least_likely(
            chances in prop::collection::vec(1e-6..0.5f64, 1..11),
            k in 0usize..5,
        ) {
            let sets: Vec<u64> = sets(&chances, Limits { k, ..ALL }).iter().map(|set| set[0]).collect();
            let mut plain: Vec<u64> = (1..1u64 << chances.len()).filter(|set| set.count_ones() as usize <= k).collect();
            plain.sort_by(|a, b| chance(*b, &chances).total_cmp(&chance(*a, &chances)));
            prop_assert_eq!(sets.len(), plain.len());
            for (set, expected) in sets.iter().zip(&plain) {
                let ratio = chance(*set, &chances) / chance(*expected, &chances);
                prop_assert!((ratio - 1.0).abs() < 1e-6, "{} and {}", set, expected);
            }
            let mut distinct = sets.clone();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), sets.len());
        }

        #[test]
        fn they_end_when_the_target_is_reached_and_not_before(
            chances in prop::collection::vec(1e-6..0.5f64, 1..11),
            target in 0.1..1.0f64,
        ) {
            let all = (0..1u64 << chances.len()).filter(|set| set.count_ones() <= 3);
            let wanted = target * all.map(|set| chance(set, &chances)).sum::<f64>();
            let sets = sets(&chances, Limits { k: 3, target, probes: usize::MAX });
            let none = chance(0, &chances);
            let tried = |sets: &[[u64; MAX_WORDS]]| none + sets.iter().map(|set| chance(set[0], &chances)).sum::<f64>();
            prop_assert!(tried(&sets) >= wanted - 1e-9);
            prop_assert!(sets.is_empty() || tried(&sets[..sets.len() - 1]) < wanted + 1e-9);
            let few = super::tests::sets(&chances, Limits { k: 3, target, probes: 2 });
            prop_assert_eq!(&few[..], &sets[..sets.len().min(2)]);
        }
    }
}

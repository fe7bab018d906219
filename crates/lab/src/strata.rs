//! A pool by the methods that accept its pairs, and the figures that follow: recall, precision, agreement, coverage.
//!
//! All pairs that the same methods accept are one stratum. Of a pool that is too large to be measured, a sample of each
//! stratum is measured and stands for the rest; every figure then has an interval.
//!
//! Recall, precision, F, agreement, coverage and the greedy order of methods are sums over strata; intervals follow from
//! the variances of the strata.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::interval::Z;
use crate::pool::Mask;

/// Pairs that the same methods accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Stratum {
    /// Number of pairs.
    pub pairs: u64,
    /// Number of pairs that were measured.
    pub measured: u64,
    /// Number of near-duplicates among the measured pairs.
    pub near: u64,
}

/// A pool by the methods that accept its pairs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Strata(BTreeMap<Mask, Stratum>);

/// A share, and its 95 % interval where it rests on a sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// The share.
    pub value: f64,
    /// Its 95 % interval; none when all pairs were measured.
    pub interval: Option<(f64, f64)>,
}

impl Stratum {
    /// Near-duplicates in it, as far as is known.
    fn near(&self) -> f64 {
        if self.measured == 0 {
            return 0.0;
        }
        self.pairs as f64 * self.near as f64 / self.measured as f64
    }

    /// Variance of that number. A sample without a single pair of one sort does not prove that there is none; so one of
    /// each sort is added.
    fn variance(&self) -> f64 {
        let (pairs, measured) = (self.pairs as f64, self.measured as f64);
        if self.measured >= self.pairs {
            return 0.0;
        }
        let share = (self.near as f64 + 1.0) / (measured + 2.0);
        pairs * pairs * (1.0 - measured / pairs) * share * (1.0 - share) / measured.max(1.0)
    }
}

impl Strata {
    /// Counts one more pair.
    pub fn count(&mut self, mask: Mask) {
        self.0.entry(mask).or_default().pairs += 1;
    }

    /// Counts `pairs` of a stratum as measured, and as near-duplicates if `near`.
    pub fn count_measured(&mut self, mask: Mask, pairs: u64, near: bool) {
        let stratum = self.0.entry(mask).or_default();
        stratum.measured += pairs;
        stratum.near += if near { pairs } else { 0 };
    }

    /// All strata.
    pub fn iter(&self) -> impl Iterator<Item = (Mask, &Stratum)> {
        self.0.iter().map(|(&mask, stratum)| (mask, stratum))
    }

    /// Returns the number of pairs of its stratum that one measured pair stands for.
    pub fn weight(&self, mask: Mask) -> f64 {
        let stratum = self.0.get(&mask).copied().unwrap_or_default();
        stratum.pairs as f64 / stratum.measured.max(1) as f64
    }

    /// Number of strata.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when there is no pair.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts the pairs whose mask `of` accepts.
    pub fn pairs(&self, of: impl Fn(Mask) -> bool) -> u64 {
        self.iter().filter(|(mask, _)| of(*mask)).map(|(_, stratum)| stratum.pairs).sum()
    }

    /// Pairs that were measured.
    pub fn measured_pairs(&self) -> u64 {
        self.0.values().map(|stratum| stratum.measured).sum()
    }

    /// Estimates the near-duplicates among the pairs whose mask `of` accepts.
    pub fn near(&self, of: impl Fn(Mask) -> bool) -> f64 {
        self.iter().filter(|(mask, _)| of(*mask)).map(|(_, stratum)| stratum.near()).sum()
    }

    /// Returns the share of all near-duplicates whose mask `of` accepts: recall of a method, coverage of several.
    pub fn coverage(&self, of: impl Fn(Mask) -> bool) -> Option<Share> {
        self.ratio(|mask| if of(mask) { 1.0 } else { 0.0 }, 0.0, 1.0)
    }

    /// Returns the share of near-duplicates among the pairs whose mask `of` accepts.
    pub fn precision(&self, of: impl Fn(Mask) -> bool) -> Option<Share> {
        let all = self.pairs(&of) as f64;
        self.ratio(|mask| if of(mask) { 1.0 } else { 0.0 }, all, 0.0)
    }

    /// The harmonic mean of both.
    pub fn f(&self, of: impl Fn(Mask) -> bool) -> Option<Share> {
        let all = self.pairs(&of) as f64;
        // Without a pair there is no precision to take a mean with.
        if all == 0.0 {
            return None;
        }
        self.ratio(|mask| if of(mask) { 2.0 } else { 0.0 }, all, 1.0)
    }

    /// The sum of `weight` over near-duplicates, over `fixed` and `near` times all near-duplicates. Its interval follows
    /// from the strata's variances, to first order.
    fn ratio(&self, weight: impl Fn(Mask) -> f64, fixed: f64, near: f64) -> Option<Share> {
        let above: f64 = self.iter().map(|(mask, stratum)| weight(mask) * stratum.near()).sum();
        let below = fixed + near * self.near(|_| true);
        if below == 0.0 {
            return None;
        }
        let value = above / below;
        let slope = |mask: Mask| (weight(mask) - value * near) / below;
        let variance: f64 = self.iter().map(|(mask, stratum)| slope(mask).powi(2) * stratum.variance()).sum();
        let sampled = self.0.values().any(|stratum| stratum.measured < stratum.pairs);
        let spread = Z * variance.sqrt();
        let interval = sampled.then(|| ((value - spread).max(0.0), (value + spread).min(1.0)));
        Some(Share { value, interval })
    }

    /// Dice's coefficient of the pairs of two methods.
    pub fn dice(&self, one: usize, other: usize) -> Option<f64> {
        let has = |mask: Mask, method: usize| mask >> method & 1 == 1;
        let both = self.pairs(|mask| has(mask, one) && has(mask, other));
        let sum = self.pairs(|mask| has(mask, one)) + self.pairs(|mask| has(mask, other));
        (sum > 0).then(|| 2.0 * both as f64 / sum as f64)
    }

    /// The methods in the order in which each adds most to what those before it cover, and what is covered then; those
    /// that add nothing are left out.
    pub fn greedy(&self, methods: usize) -> Vec<(usize, Share)> {
        let (mut order, mut taken) = (Vec::new(), 0);
        while order.len() < methods {
            let left = (0..methods).filter(|method| taken >> method & 1 == 0);
            let covered = left.filter_map(|method| {
                let with: Mask = taken | 1 << method;
                Some((method, self.coverage(|mask| mask & with != 0)?))
            });
            // Of equal ones the first: what is rounded differently is not more.
            let best = covered.fold(None::<(usize, Share)>, |best, next| match best {
                Some(best) if next.1.value <= best.1.value + 1e-12 => Some(best),
                _ => Some(next),
            });
            let Some(best) = best else { break };
            let before = order.last().map_or(0.0, |(_, share): &(usize, Share)| share.value);
            if best.1.value <= before + 1e-12 {
                break;
            }
            taken |= 1 << best.0;
            order.push(best);
        }
        order
    }

    /// Returns the number of pairs to measure in each stratum, about `most` in all: every pair of a small pool; else in
    /// proportion to the root of the stratum's size, which serves small strata and large ones alike.
    pub fn quotas(&self, most: u64) -> BTreeMap<Mask, u64> {
        let all = self.pairs(|_| true);
        if all <= most {
            return self.iter().map(|(mask, stratum)| (mask, stratum.pairs)).collect();
        }
        let weight = |stratum: &Stratum, scale: f64| {
            ((stratum.pairs as f64).sqrt() * scale).ceil().clamp(1.0, stratum.pairs as f64) as u64
        };
        let (mut low, mut high) = (0.0, (all as f64).sqrt() + 1.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            let sum: u64 = self.0.values().map(|stratum| weight(stratum, middle)).sum();
            if sum > most { high = middle } else { low = middle }
        }
        self.iter().map(|(mask, stratum)| (mask, weight(stratum, low))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike::hash;

    fn strata(of: &[(Mask, u64, u64, u64)]) -> Strata {
        let stratum = |&(mask, pairs, measured, near)| (mask, Stratum { pairs, measured, near });
        Strata(of.iter().map(stratum).collect())
    }

    fn has(method: usize) -> impl Fn(Mask) -> bool {
        move |mask| mask >> method & 1 == 1
    }

    #[test]
    fn figures_are_those_of_counting() {
        // Method 0 accepts 30 pairs, 20 of them near; method 1 accepts 40, 35 near; 10 of both, all near.
        let strata = strata(&[(0b01, 20, 20, 10), (0b10, 30, 30, 25), (0b11, 10, 10, 10)]);
        let value = |share: Option<Share>| share.map(|share| (share.value, share.interval));
        assert_eq!(value(strata.coverage(has(0))), Some((20.0 / 45.0, None)));
        assert_eq!(value(strata.precision(has(1))), Some((35.0 / 40.0, None)));
        let (recall, precision) = (35.0 / 45.0, 35.0 / 40.0);
        let f = strata.f(has(1)).unwrap().value;
        assert!((f - 2.0 * recall * precision / (recall + precision)).abs() < 1e-12);
        assert_eq!(strata.dice(0, 1), Some(20.0 / 70.0));
        assert_eq!(strata.coverage(|mask| mask & 0b11 != 0).unwrap().value, 1.0);
        assert_eq!(strata.greedy(2).iter().map(|(method, _)| *method).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(strata.precision(has(5)), None);
        assert_eq!(strata.f(has(5)), None);
    }

    #[test]
    fn quotas_fill_the_bound_and_no_more() {
        let strata = strata(&[(1, 1_000_000, 0, 0), (2, 10_000, 0, 0), (3, 5, 0, 0)]);
        let quotas = strata.quotas(2_000);
        let sum: u64 = quotas.values().sum();
        assert!(sum <= 2_000 && sum > 1_900, "{quotas:?}");
        assert!(quotas[&1] > quotas[&2] && quotas[&2] > quotas[&3] && quotas[&3] >= 1);
        assert_eq!(strata.quotas(2_000_000)[&1], 1_000_000);
    }

    /// Intervals must hold what they promise: draw many samples of one pool and count how often they hold the truth.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let truth = [(0b01, 4_000u64, 0.9), (0b10, 6_000, 0.3), (0b11, 3_000, 0.99)];
        let near = |of: &dyn Fn(Mask) -> bool| -> f64 {
            truth.iter().filter(|(mask, ..)| of(*mask)).map(|(_, pairs, share)| *pairs as f64 * share).sum()
        };
        let recall = near(&has(0)) / near(&|_| true);
        let precision = near(&has(1)) / 9_000.0;
        let (mut held, runs) = ([0; 2], 400);
        for run in 0..runs {
            let mut sample = Strata::default();
            for (mask, pairs, share) in truth {
                let measured = 200;
                let random = |draw: u64| hash::mix(hash::nth(draw, run * 7 + mask)) as f64 / u64::MAX as f64;
                let near = (0..measured).filter(|&draw| random(draw) < share).count() as u64;
                sample.0.insert(mask, Stratum { pairs, measured, near });
            }
            let holds = |share: Option<Share>, value: f64| {
                let (low, high) = share.unwrap().interval.unwrap();
                u32::from(low <= value && value <= high)
            };
            held[0] += holds(sample.coverage(has(0)), recall);
            held[1] += holds(sample.precision(has(1)), precision);
        }
        for held in held {
            let share = f64::from(held) / f64::from(runs as u32);
            assert!((0.92..=1.0).contains(&share), "{share}");
        }
    }
}

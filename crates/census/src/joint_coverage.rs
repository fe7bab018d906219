//! The size of the union of several engines, and the share of it that each of them has.
//!
//! With all engines asked for every page, a page that `m` of them have is met in the samples of `m` engines, so that it
//! counts for one m-th in each: `|∪| = Σ_x |x| · mean over samples of x of 1/m`. From pairwise data alone there are bounds, and
//! a guess that takes engines to be independent.

use crate::estimate::Estimate;
use crate::least_squares::{overlap, resample, sizes};
use crate::sightings::{Shares, Sightings};

/// The union in the unit of the sizes, by multiplicity. Pages that some engine did not answer for are left out; none
/// when an engine has no other pages.
pub fn by_multiplicity(sizes: &[f64], sightings: &Sightings) -> Option<f64> {
    let engines = sightings.engines();
    let part = |(x, &size): (usize, &f64)| {
        let shares: Vec<f64> = sightings.drawn[x]
            .iter()
            .filter_map(|sighting| sighting.multiplicity(engines))
            .map(|engines| 1.0 / f64::from(engines.max(1)))
            .collect();
        (!shares.is_empty()).then(|| size * shares.iter().sum::<f64>() / shares.len() as f64)
    };
    sizes.iter().enumerate().map(part).sum()
}

/// The union in units of the first engine with its error, the sizes being estimated from the same pages: bootstrap over
/// pages.
pub fn union(sightings: &Sightings, seed: u64) -> Option<Estimate> {
    let once = |sightings: &Sightings| by_multiplicity(&sizes(&sightings.shares())?.values, sightings);
    Estimate::bootstrap(once(sightings)?, seed, |random| once(&resample(sightings, random)))
}

/// Returns the share of a world that each engine has, if engines are independent of each other, and the share that all have
/// together: the share of `x` is the mean of its shares in the samples of the others.
pub fn by_independence(shares: &Shares) -> Option<(Vec<f64>, f64)> {
    let parts: Option<Vec<f64>> = (0..shares.engines()).map(|x| mean_share(shares, x)).collect();
    let parts = parts?;
    let together = 1.0 - parts.iter().map(|part| 1.0 - part).product::<f64>();
    Some((parts, together))
}

/// Returns the share of the union that each engine has: the joint coverage becomes 1.
pub fn shares_of_union(sizes: &[f64], union: f64) -> Vec<f64> {
    sizes.iter().map(|size| size / union).collect()
}

/// Returns the mean share of an engine in the samples of the others; none without data.
pub fn mean_share(shares: &Shares, engine: usize) -> Option<f64> {
    let others = (0..shares.engines()).filter(|&other| other != engine);
    let found: Vec<f64> = others.filter_map(|other| shares.of(other, engine)).collect();
    (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
}

/// Bounds of the union from sizes and pairwise overlaps: Bonferroni's below, and above the sum less the overlaps of the
/// engine that shares most (Kounias 1968). None when an overlap is not known.
pub fn bounds(shares: &Shares, sizes: &[f64]) -> Option<(f64, f64)> {
    let sum: f64 = sizes.iter().sum();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let overlaps: Option<Vec<f64>> = shares.pairs().map(|(x, y)| overlap(shares, sizes, x, y)).collect();
    let low = (sum - overlaps?.iter().sum::<f64>()).max(largest);
    let with = |x: usize| -> Option<f64> {
        (0..sizes.len()).filter(|&y| y != x).map(|y| overlap(shares, sizes, x, y)).sum()
    };
    let most: Option<Vec<f64>> = (0..sizes.len()).map(with).collect();
    let high = sum - most?.into_iter().fold(0.0, f64::max);
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::least_squares::tests::independent;
    use crate::sightings::Sighting;

    /// Every page of A = 0..50, B = 30..70 and C = 60..100 as a sample.
    fn three() -> Sightings {
        let ranges = [0..50, 30..70, 60..100];
        let mut sightings = Sightings::new(3);
        for (x, range) in ranges.iter().enumerate() {
            for page in range.clone() {
                let mut sighting = Sighting::of(x);
                for (y, other) in ranges.iter().enumerate() {
                    sighting.note(y, other.contains(&page));
                }
                sightings.drawn[x].push(sighting);
            }
        }
        sightings
    }

    #[test]
    fn full_samples_give_the_union() {
        let sightings = three();
        assert!((by_multiplicity(&[50.0, 40.0, 40.0], &sightings).unwrap() - 100.0).abs() < 1e-9);
        let (low, high) = bounds(&sightings.shares(), &[50.0, 40.0, 40.0]).unwrap();
        assert!((low - 100.0).abs() < 1e-9 && (high - 100.0).abs() < 1e-9);
        let union = union(&sightings, 1).unwrap();
        assert!((union.value - 2.0).abs() < 1e-9 && union.covers(2.0) && union.error > 0.0);
    }

    #[test]
    fn the_world_of_four_engines() {
        let (parts, together) = by_independence(&independent()).unwrap();
        assert!((together - 0.82).abs() < 1e-12);
        let wanted = [0.6098, 0.4878, 0.3049, 0.2439];
        let shares = shares_of_union(&parts, together);
        assert!(shares.iter().zip(wanted).all(|(share, wanted)| (share - wanted).abs() < 5e-5));
    }

    #[test]
    fn pages_without_all_answers_are_left_out() {
        let mut sightings = three();
        let unanswered = Sighting { asked: 0b001, found: 0b001 };
        sightings.drawn[0].push(unanswered);
        assert!((by_multiplicity(&[50.0, 40.0, 40.0], &sightings).unwrap() - 100.0).abs() < 1e-9);
        sightings.drawn[1] = vec![Sighting { asked: 0b010, found: 0b010 }];
        assert_eq!(by_multiplicity(&[50.0, 40.0, 40.0], &sightings), None);
    }
}

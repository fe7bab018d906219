//! The size of the union of several engines, and the share of it that each of them has.
//!
//! With all engines asked for every page, a page that `m` of them have is met in the samples of `m` engines, so that it
//! counts for one m-th in each: `|∪| = Σ_x |x| · mean over samples of x of 1/m`. From pairwise data alone there are bounds, and
//! a guess that takes engines to be independent.

use crate::estimate::Estimate;
use crate::least_squares::{overlap, resample, sizes};
use crate::presence_records::{PresenceRecords, Shares};

/// The union in the unit of the sizes, by multiplicity. Pages that some engine did not answer for are left out; none
/// when an engine has no other pages.
pub fn by_multiplicity(sizes: &[f64], records: &PresenceRecords) -> Option<f64> {
    let engines = records.engines();
    let part = |(x, &size): (usize, &f64)| {
        let shares: Vec<f64> = records.by_engine[x]
            .iter()
            .filter_map(|record| record.multiplicity(engines))
            .map(|engines| 1.0 / f64::from(engines.max(1)))
            .collect();
        (!shares.is_empty()).then(|| size * shares.iter().sum::<f64>() / shares.len() as f64)
    };
    sizes.iter().enumerate().map(part).sum()
}

/// The union in units of the first engine with its error, the sizes being estimated from the same pages: bootstrap over
/// pages.
pub fn union(records: &PresenceRecords, seed: u64) -> Option<Estimate> {
    let once = |records: &PresenceRecords| by_multiplicity(&sizes(&records.shares())?.values, records);
    Estimate::bootstrap(once(records)?, seed, |random| once(&resample(records, random)))
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
    use crate::presence_records::PresenceRecord;

    /// Every page of A = 0..50, B = 30..70 and C = 60..100 as a sample.
    fn three() -> PresenceRecords {
        let ranges = [0..50, 30..70, 60..100];
        let mut records = PresenceRecords::new(3);
        for (x, range) in ranges.iter().enumerate() {
            for page in range.clone() {
                let mut record = PresenceRecord::of(x);
                for (y, other) in ranges.iter().enumerate() {
                    record.note(y, other.contains(&page));
                }
                records.by_engine[x].push(record);
            }
        }
        records
    }

    #[test]
    fn full_samples_give_the_union() {
        let records = three();
        assert!((by_multiplicity(&[50.0, 40.0, 40.0], &records).unwrap() - 100.0).abs() < 1e-9);
        let (low, high) = bounds(&records.shares(), &[50.0, 40.0, 40.0]).unwrap();
        assert!((low - 100.0).abs() < 1e-9 && (high - 100.0).abs() < 1e-9);
        let union = union(&records, 1).unwrap();
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
        let mut records = three();
        let unanswered = PresenceRecord { asked: 0b001, found: 0b001 };
        records.by_engine[0].push(unanswered);
        assert!((by_multiplicity(&[50.0, 40.0, 40.0], &records).unwrap() - 100.0).abs() < 1e-9);
        records.by_engine[1] = vec![PresenceRecord { asked: 0b010, found: 0b010 }];
        assert_eq!(by_multiplicity(&[50.0, 40.0, 40.0], &records), None);
    }
}

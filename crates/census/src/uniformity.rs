//! Measures of the distance of a sample from uniform.
//!
//! Things are put into classes, by in-degree or by length for instance. The share of the sample in each class, beside the share of
//! all things, shows where a sampler looks too often.

use crate::estimate::Estimate;

/// The shares of classes in a weighted sample; `class` numbers them from 0. None without weight.
pub fn class_shares<T: Copy>(
    sample: &[(T, f64)],
    classes: usize,
    class: impl Fn(T) -> usize,
) -> Option<Vec<f64>> {
    let mut shares = vec![0.0; classes];
    for &(thing, weight) in sample {
        shares[class(thing).min(classes.saturating_sub(1))] += weight;
    }
    let total: f64 = shares.iter().sum();
    (total > 0.0).then(|| shares.into_iter().map(|share| share / total).collect())
}

/// Half the sum of differences: 0 for equal distributions, 1 for those without anything in common.
pub fn total_variation(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0
}

/// Pearson's statistic of counts against expected shares, with its degrees of freedom; classes that are not expected
/// are left out.
pub fn chi_square(counts: &[u64], expected: &[f64]) -> (f64, usize) {
    let total: u64 = counts.iter().sum();
    let terms: Vec<f64> = counts
        .iter()
        .zip(expected)
        .filter(|&(_, &share)| share > 0.0)
        .map(|(&count, &share)| (count as f64 - share * total as f64).powi(2) / (share * total as f64))
        .collect();
    (terms.iter().sum(), terms.len().saturating_sub(1))
}

/// The mean of a property over a weighted sample, with the error that the weights leave; none with fewer than two
/// draws or without weight.
pub fn weighted_mean<T: Copy>(sample: &[(T, f64)], property: impl Fn(T) -> f64) -> Option<Estimate> {
    let total: f64 = sample.iter().map(|(_, weight)| weight).sum();
    if sample.len() < 2 || total <= 0.0 {
        return None;
    }
    let mean = sample.iter().map(|&(thing, weight)| weight * property(thing)).sum::<f64>() / total;
    let squares: f64 =
        sample.iter().map(|&(thing, weight)| (weight * (property(thing) - mean)).powi(2)).sum();
    Some(Estimate::normal(mean, squares.sqrt() / total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_distances() {
        let shares = class_shares(&[(1, 1.0), (5, 2.0), (9, 1.0)], 2, |n| usize::from(n > 4)).unwrap();
        assert_eq!(shares, [0.25, 0.75]);
        assert_eq!(total_variation(&shares, &[0.5, 0.5]), 0.25);
        assert_eq!(class_shares(&[(1, 0.0)], 2, |_| 0), None);
        assert_eq!(chi_square(&[10, 30, 7], &[0.5, 0.5, 0.0]).1, 1);
        assert!((chi_square(&[10, 30], &[0.5, 0.5]).0 - 10.0).abs() < 1e-12);
    }

    #[test]
    fn weights_count() {
        let mean = weighted_mean(&[(1.0, 1.0), (3.0, 3.0)], |x| x).unwrap();
        assert_eq!(mean.value, 2.5);
        assert_eq!(weighted_mean(&[(1.0, 1.0)], |x: f64| x), None);
    }
}

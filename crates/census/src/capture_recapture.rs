//! The size of a set from two samples of it and what they share: `N = n_a·n_b/n_ab`, if being in one says nothing about being
//! in the other. Two engines are hardly ever that: both like the same pages, and the estimate is too low.

use crate::estimate::Estimate;

/// Lincoln and Petersen's estimate as the slides have it; undefined when nothing is shared. The error is that of
/// [`chapman`].
pub fn petersen(a: u64, b: u64, both: u64) -> Option<Estimate> {
    let value = (both > 0).then(|| a as f64 * b as f64 / both as f64)?;
    let chapman = chapman(a, b, both);
    Some(Estimate::on_log_scale(value, chapman.error / chapman.value))
}

/// Chapman's version, which is defined always and nearly unbiased, with Seber's variance.
pub fn chapman(a: u64, b: u64, both: u64) -> Estimate {
    let (a, b, both) = (a as f64, b as f64, both as f64);
    let value = (a + 1.0) * (b + 1.0) / (both + 1.0) - 1.0;
    let variance = (a + 1.0) * (b + 1.0) * (a - both) * (b - both) / ((both + 1.0).powi(2) * (both + 2.0));
    let error = variance.max(0.0).sqrt();
    Estimate::on_log_scale(value, if value > 0.0 { error / value } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn plain_and_chapman() {
        assert_eq!(petersen(600, 500, 300).unwrap().value, 1_000.0);
        assert!((chapman(600, 500, 300).value - 999.335_548).abs() < 1e-5);
        assert_eq!(petersen(10, 10, 0), None);
        assert_eq!(chapman(10, 10, 0).value, 120.0);
    }

    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        let covered = (0..300)
            .filter(|&run| {
                let mut random = Random::part(31, run);
                let (mut a, mut b, mut both) = (0, 0, 0);
                for _ in 0..1_000 {
                    let (in_a, in_b) = (random.chance(0.3), random.chance(0.4));
                    a += u64::from(in_a);
                    b += u64::from(in_b);
                    both += u64::from(in_a && in_b);
                }
                chapman(a, b, both).covers(1_000.0)
            })
            .count();
        assert!((270..=297).contains(&covered), "{covered} of 300");
    }
}

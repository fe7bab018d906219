//! The persistence of pages from snapshot to snapshot.

/// Returns the number of snapshots after which half of the pages are gone, if the decline continues: the exponential curve through
/// 1 at the start with the least squares of logarithms. `shares` are the shares of pages still present in the first snapshot, the
/// second, and so on.
///
/// None if there are fewer than two snapshots, if no page is left in one of them, or if the last share is not below the first.
///
/// ```
/// use lookalike_overlap::persistence::half_life;
///
/// assert_eq!(half_life(&[0.5, 0.25, 0.125]), Some(1.0));
/// assert_eq!(half_life(&[1.0, 1.0]), None);
/// ```
pub fn half_life(shares: &[f64]) -> Option<f64> {
    let falls = |first: &f64, last: &f64| last < first;
    if shares.len() < 2 || !falls(shares.first()?, shares.last()?) {
        return None;
    }
    if shares.iter().any(|&share| share.is_nan() || share <= 0.0) {
        return None;
    }
    let points = (1..).map(f64::from).zip(shares);
    let (mut product, mut square) = (0.0, 0.0);
    for (time, share) in points {
        product += time * share.ln();
        square += time * time;
    }
    let rate = -product / square;
    (rate > 1e-9).then(|| std::f64::consts::LN_2 / rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_goes_between_the_points() {
        let slow = half_life(&[0.9, 0.81, 0.729]).unwrap();
        assert!((slow - 0.5f64.ln() / 0.9f64.ln()).abs() < 1e-9);
        let mixed = half_life(&[0.5, 0.9, 0.4]).unwrap();
        assert!(mixed > 1.0 && mixed < 6.0, "{mixed}");
    }

    #[test]
    fn a_curve_that_does_not_fall_has_none() {
        for shares in [&[0.5][..], &[], &[0.5, 0.0], &[1.0, 1.1], &[f64::NAN, 0.5], &[0.9, 0.9]] {
            assert_eq!(half_life(shares), None, "{shares:?}");
        }
    }
}

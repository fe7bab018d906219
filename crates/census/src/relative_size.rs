//! The ratio of the sizes of two engines, from their overlap (Bharat and Broder 1998).
//!
//! `|A∩B|` is `f_AB·|A|` and also `f_BA·|B|`, so `|A|/|B| = f_BA / f_AB`, where `f_AB` is the share of samples of A that are in B.
//! The interval is that of the logarithm, by the delta method: `(1−f)/(n·f)` for each of the two shares, with one more of each sort.

use crate::estimate::Estimate;

/// `|A|/|B|` from found and asked: samples of A in B, then samples of B in A. Undefined when either found none.
pub fn relative_size(a_in_b: (u64, u64), b_in_a: (u64, u64)) -> Option<Estimate> {
    let share = |(found, asked): (u64, u64)| (found > 0).then(|| found as f64 / asked as f64);
    let (ab, ba) = (share(a_in_b)?, share(b_in_a)?);
    // A sample in which all were found does not prove that all are there; so one of each sort is added.
    let variance = |(found, asked): (u64, u64)| {
        let share = (found as f64 + 1.0) / (asked as f64 + 2.0);
        (1.0 - share) / (found as f64 + 1.0)
    };
    let error = (variance(a_in_b) + variance(b_in_a)).sqrt();
    Some(Estimate::on_log_scale(ba / ab, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_half_and_a_sixth_make_a_third() {
        let ratio = relative_size((3, 6), (1, 6)).unwrap();
        assert!((ratio.value - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(relative_size((0, 6), (1, 6)), None);
        assert_eq!(relative_size((1, 6), (0, 0)), None);
        let (low, high) = relative_size((6, 6), (6, 6)).unwrap().interval;
        assert!(low < 0.8 && high > 1.2, "six of six prove little: {low} to {high}");
    }

    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        // |A| = 500, |B| = 400, 200 in both: shares 0.4 and 0.5, ratio 1.25.
        let covered = (0..500)
            .filter(|&run| {
                let mut random = Random::part(11, run);
                let mut found = |share: f64| (0..300).filter(|_| random.chance(share)).count() as u64;
                let (ab, ba) = (found(0.4), found(0.5));
                relative_size((ab, 300), (ba, 300)).unwrap().covers(1.25)
            })
            .count();
        assert!((455..=490).contains(&covered), "{covered} of 500");
    }
}

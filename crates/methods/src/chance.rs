//! Chances: how likely counts are, and which of them can still be an accident.

/// Logarithm of the odds against losing a pair at the threshold before it is measured: one in 32,000, what four standard
/// deviations are worth where errors are normal.
const LOG_ODDS: f64 = 10.37;

/// Probability of `least` or more successes out of `trials`.
pub(crate) fn at_least(least: usize, trials: usize, success: f64) -> f64 {
    let chance = |count: usize| {
        let ways = (0..count).map(|i| (trials - i) as f64 / (count - i) as f64).product::<f64>();
        ways * success.powi(count as i32) * (1.0 - success).powi((trials - count) as i32)
    };
    1.0 - (0..least.min(trials + 1)).map(chance).sum::<f64>()
}

/// True unless a share of `part` in a random sample of `whole` rules out that the share in all is `threshold` or more.
///
/// By the bound of Chernoff and Hoeffding, which holds for samples of any size, with replacement or without: a share of
/// `s` or less happens with a probability of at most `exp(-whole * D(s, threshold))`, where `D` is the relative entropy.
pub(crate) fn within_reach(part: u64, whole: u64, threshold: f64) -> bool {
    let share = part as f64 / whole.max(1) as f64;
    let entropy = |p: f64, q: f64| if p > 0.0 { p * (p / q).ln() } else { 0.0 };
    share >= threshold
        || whole as f64 * (entropy(share, threshold) + entropy(1.0 - share, 1.0 - threshold)) <= LOG_ODDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successes_are_binomial() {
        let heads = [1.0, 15.0 / 16.0, 11.0 / 16.0, 5.0 / 16.0, 1.0 / 16.0, 0.0];
        for (least, expected) in heads.into_iter().enumerate() {
            assert!((at_least(least, 4, 0.5) - expected).abs() < 1e-12, "{least}");
        }
        assert_eq!((at_least(0, 3, 0.0), at_least(3, 3, 1.0)), (1.0, 1.0));
        assert_eq!(at_least(9, 3, 0.5), 0.0);
    }

    #[test]
    fn what_is_out_of_reach_is_as_rare_as_promised() {
        for (whole, threshold) in [(1u64, 0.5), (10, 0.9), (60, 0.8), (200, 0.3), (400, 0.99)] {
            let lost = (0..=whole).filter(|&part| !within_reach(part, whole, threshold)).max();
            let chance =
                lost.map_or(0.0, |lost| 1.0 - at_least(lost as usize + 1, whole as usize, threshold));
            assert!(chance < 1.0 / 32_000.0, "{whole} {threshold}: {lost:?} with {chance}");
            assert!(within_reach(whole, whole, threshold));
        }
        // Not so careful that nothing would ever be ruled out: half of 200 is no 0.8.
        assert!(!within_reach(100, 200, 0.8) && within_reach(140, 200, 0.8));
        assert!(!within_reach(9, 10, 1.0) && within_reach(10, 10, 1.0));
    }
}

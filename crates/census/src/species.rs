//! The size of a set from how often its members came up, as those who count species do it.
//!
//! Both estimators see captures, each of which is a page that some query found, and ask how many pages never came up. Neither sees
//! pages that cannot come up at all.
//!
//! - [`chao1`] reasons from pages seen once and twice. Where all pages are as likely to come up it is right; where they are not, which
//!   is always, it is a lower bound in the mean.
//! - [`lu_li`] reasons from captures for each different page. Its exponent was fitted to queries on text collections, whose pages come
//!   up very unequally; where all are as likely it is far too high, and where they differ more than in those collections too low.
//!
//! The errors are those of independent captures. Pages that one query finds are no such thing, so intervals are too short.

use crate::estimate::Estimate;

/// The exponent of Lu and Li (2010).
const EXPONENT: f64 = 1.1;

/// Chao's (1984) lower bound in its bias-corrected form, `S + f1(f1−1)/(2(f2+1))`, from different pages, pages seen once and pages seen
/// twice. The interval is that of the logarithm of what was not seen, so that it never ends below what was.
pub fn chao1(distinct: u64, once: u64, twice: u64) -> Estimate {
    let (seen, f1, f2) = (distinct as f64, once as f64, twice as f64);
    let more = f2 + 1.0;
    let unseen = f1 * (f1 - 1.0).max(0.0) / (2.0 * more);
    let variance = unseen
        + f1 * (2.0 * f1 - 1.0).powi(2) / (4.0 * more.powi(2))
        + f1.powi(2) * f2 * (f1 - 1.0).powi(2) / (4.0 * more.powi(4));
    let (value, error) = (seen + unseen, variance.sqrt());
    if unseen == 0.0 {
        return Estimate { value, error, interval: (seen, seen + 2.0 * error) };
    }
    let unseen = Estimate::on_log_scale(unseen, (variance / unseen.powi(2)).ln_1p().sqrt());
    Estimate { value, error, interval: (seen + unseen.interval.0, seen + unseen.interval.1) }
}

/// Lu and Li's (2010) `D/(1 − OR^−1.1)`, where `OR` is captures for each different page; none before a page came up twice.
pub fn lu_li(distinct: u64, captures: u64) -> Option<Estimate> {
    if distinct == 0 || captures <= distinct {
        return None;
    }
    let (seen, captures) = (distinct as f64, captures as f64);
    let missing = (captures / seen).powf(-EXPONENT);
    let value = seen / (1.0 - missing);
    // How much different pages vary when captures fall on this many at random, and what that does to the value.
    let rate = captures / value;
    let variance = value * ((-rate).exp() - (1.0 + rate) * (-2.0 * rate).exp()).max(0.0);
    let slope = (1.0 + (EXPONENT - 1.0) * missing) / (1.0 - missing).powi(2);
    Some(Estimate::on_log_scale(value, slope * variance.sqrt() / value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Returns the numbers of different pages, of pages seen once and of those seen twice, after `captures` draws by weight.
    fn captured(weights: &[f64], captures: usize, random: &mut Random) -> [u64; 3] {
        let mut sum = 0.0;
        let cumulated: Vec<f64> = weights
            .iter()
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        let mut counts = vec![0u32; weights.len()];
        for _ in 0..captures {
            let at = random.unit() * sum;
            counts[cumulated.partition_point(|&below| below <= at).min(weights.len() - 1)] += 1;
        }
        let number = |fits: fn(u32) -> bool| counts.iter().filter(|&&count| fits(count)).count() as u64;
        [number(|count| count > 0), number(|count| count == 1), number(|count| count == 2)]
    }

    #[test]
    fn by_hand() {
        // 10 + 4·3/(2·3), with variance 2 + 4·49/36 + 16·2·9/(4·81).
        let found = chao1(10, 4, 2);
        assert_eq!(found.value, 12.0);
        assert!((found.error.powi(2) - (2.0 + 196.0 / 36.0 + 288.0 / 324.0)).abs() < 1e-12);
        assert!(found.interval.0 > 10.0 && found.interval.1 > 16.0);
        assert_eq!(chao1(10, 0, 5).interval, (10.0, 10.0));
        assert_eq!(chao1(0, 0, 0).value, 0.0);
        // OR = 2: 100/(1 − 2^−1.1).
        assert!((lu_li(100, 200).unwrap().value - 187.447_2).abs() < 1e-3);
        assert_eq!((lu_li(100, 100), lu_li(0, 0)), (None, None));
    }

    #[test]
    fn chao_covers_the_truth_where_all_pages_are_as_likely() {
        let covered = (0..300)
            .filter(|&run| {
                let [distinct, once, twice] = captured(&[1.0; 1_000], 900, &mut Random::part(41, run));
                chao1(distinct, once, twice).covers(1_000.0)
            })
            .count();
        assert!((270..=297).contains(&covered), "{covered} of 300");
    }

    #[test]
    fn unequal_pages_make_chao_a_lower_bound_and_suit_lu_and_li_better() {
        let equal = [1.0; 1_000];
        let unequal: Vec<f64> = (1..=1_000).map(|rank| 1.0 / f64::from(rank)).collect();
        let mean = |weights: &[f64]| {
            let runs = (0..100).map(|run| {
                let [distinct, once, twice] = captured(weights, 1_500, &mut Random::part(43, run));
                (chao1(distinct, once, twice).value, lu_li(distinct, 1_500).unwrap().value)
            });
            runs.fold((0.0, 0.0), |(chao, lu), run| (chao + run.0 / 100.0, lu + run.1 / 100.0))
        };
        let ((chao_equal, lu_equal), (chao, lu)) = (mean(&equal), mean(&unequal));
        assert!((chao_equal / 1_000.0 - 1.0).abs() < 0.02, "{chao_equal}");
        assert!(lu_equal > 1_250.0, "{lu_equal}");
        assert!(chao < 900.0, "{chao}");
        assert!(lu < lu_equal, "{lu}");
    }

    #[test]
    fn the_error_of_lu_and_li_is_that_of_independent_captures() {
        let runs: Vec<Estimate> = (0..300)
            .map(|run| {
                // As unequal as makes the estimator nearly right: weights fall off as the exponential of a uniform rank.
                let weights: Vec<f64> =
                    (0..1_000).map(|rank| (-4.0 * f64::from(rank) / 1_000.0).exp()).collect();
                let [distinct, ..] = captured(&weights, 2_000, &mut Random::part(47, run));
                lu_li(distinct, 2_000).unwrap()
            })
            .collect();
        let mean = runs.iter().map(|run| run.value).sum::<f64>() / 300.0;
        let spread = (runs.iter().map(|run| (run.value - mean).powi(2)).sum::<f64>() / 299.0).sqrt();
        let told = runs.iter().map(|run| run.error).sum::<f64>() / 300.0;
        assert!((0.7..1.4).contains(&(told / spread)), "{told} told, {spread} seen, mean {mean}");
    }
}

//! An estimated number with its standard error and its 95 % interval.

use crate::random::Random;

/// The 97.5 % point of the normal distribution.
pub(crate) const Z: f64 = 1.959_963_984_540_054;

/// Fewest degrees of freedom that an error is taken to have.
const LEAST_FREEDOM: f64 = 4.0;

/// Draws of a bootstrap.
pub const ROUNDS: usize = 400;

/// An estimate with its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
}

impl Estimate {
    /// Returns an estimate with the interval of the normal distribution.
    pub fn normal(value: f64, error: f64) -> Self {
        Estimate { value, error, interval: (value - Z * error, value + Z * error) }
    }

    /// Returns an estimate of a positive number whose logarithm has this standard error.
    pub fn on_log_scale(value: f64, error_of_log: f64) -> Self {
        let factor = (Z * error_of_log).exp();
        Estimate { value, error: value * error_of_log, interval: (value / factor, value * factor) }
    }

    /// Returns an estimate of a mean of `n` draws whose residuals, in units of their spread, have this skewness and kurtosis.
    ///
    /// The mean is low more often than high where few draws say much and most say little, and low errors go with low means. Hall
    /// (1992) takes that out of the statistic by a cubic that can be inverted. And the error itself is uncertain, the more so the
    /// heavier the tails are: it has as many degrees of freedom as its spread leaves (Satterthwaite 1946), and the normal points
    /// move outwards as those of Student's distribution. With neither, it is the normal interval.
    pub fn skewed(value: f64, error: f64, (skewness, kurtosis): (f64, f64), n: f64) -> Self {
        let freedom = (2.0 * n / (kurtosis - 1.0).max(1e-9)).max(LEAST_FREEDOM);
        let point = Z + (Z.powi(3) + Z) / (4.0 * freedom);
        // Beyond this the cubic says more than so few draws can.
        let skewness = (skewness / n.sqrt()).clamp(-0.5, 0.5);
        let turned = |point: f64| {
            if skewness.abs() < 1e-6 {
                return point;
            }
            3.0 / skewness * ((1.0 + skewness * (point - skewness / 6.0)).cbrt() - 1.0)
        };
        Estimate { value, error, interval: (value - turned(point) * error, value - turned(-point) * error) }
    }

    /// A positive number with one more error, relative and independent; ends of the interval move apart on the scale of logarithms.
    #[must_use]
    pub fn widened(self, relative: f64) -> Self {
        self.multiplied_by(Estimate::on_log_scale(1.0, relative))
    }

    /// The product of two independent positive numbers; ends of intervals move apart on the scale of logarithms.
    #[must_use]
    pub fn multiplied_by(self, other: Estimate) -> Self {
        let apart = |one: f64, other: f64| one.max(1.0).ln().hypot(other.max(1.0).ln()).exp();
        let value = self.value * other.value;
        let below = apart(self.factor_below(), other.factor_below());
        let above = apart(self.interval.1 / self.value, other.interval.1 / other.value);
        let error = value * (self.error / self.value).hypot(other.error / other.value);
        Estimate { value, error, interval: (value / below, value * above) }
    }

    /// Returns the ratio of the value to the lower end of the interval. If that end is not positive, the relative error gives the ratio.
    fn factor_below(&self) -> f64 {
        if self.interval.0 > 0.0 { self.value / self.interval.0 } else { (Z * self.error / self.value).exp() }
    }

    /// The mean of independent draws; of fewer than two, the error is not known.
    pub fn mean(draws: &[f64]) -> Option<Self> {
        let (mean, variance) = moments(draws)?;
        Some(Estimate::normal(mean, (variance / draws.len() as f64).sqrt()))
    }

    /// The share of `part` in `whole`, with the interval of Wilson (1927).
    pub fn share(part: u64, whole: u64) -> Option<Self> {
        (whole > 0).then(|| Estimate::share_of(part as f64 / whole as f64, whole as f64))
    }

    /// A share that is as sure as if it were one of `n` independent draws, which need not be a whole number; Wilson's interval.
    pub fn share_of(p: f64, n: f64) -> Self {
        let scale = 1.0 + Z * Z / n;
        let middle = (p + Z * Z / (2.0 * n)) / scale;
        let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
        let interval = ((middle - spread).max(0.0), (middle + spread).min(1.0));
        Estimate { value: p, error: (p * (1.0 - p) / n).sqrt(), interval }
    }

    /// Returns a share with this standard error and the interval of at most `most` draws: a share of 0 or 1 is not certain.
    pub fn share_with(p: f64, error: f64, most: f64) -> Self {
        let n = if error > 0.0 { (p * (1.0 - p) / (error * error)).min(most) } else { most };
        Estimate { error, ..Estimate::share_of(p, n.max(1.0)) }
    }

    /// A value with the spread of its bootstrap draws; `draw` makes one of them, none where it is undefined.
    pub fn bootstrap(
        value: f64,
        seed: u64,
        mut draw: impl FnMut(&mut Random) -> Option<f64>,
    ) -> Option<Self> {
        let draws = (0..ROUNDS as u64).filter_map(|round| draw(&mut Random::part(seed, round)));
        Estimate::from_draws(value, draws.filter(|draw| draw.is_finite()).collect())
    }

    /// A value with the spread of such draws: their standard deviation, and the middle 95 %.
    pub fn from_draws(value: f64, mut draws: Vec<f64>) -> Option<Self> {
        let (_, variance) = moments(&draws)?;
        draws.sort_by(f64::total_cmp);
        let interval = (quantile(&draws, 0.025), quantile(&draws, 0.975));
        Some(Estimate { value, error: variance.sqrt(), interval })
    }

    /// The same, multiplied by a known number.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let (low, high) = (self.interval.0 * factor, self.interval.1 * factor);
        let interval = (low.min(high), low.max(high));
        Estimate { value: self.value * factor, error: self.error * factor.abs(), interval }
    }

    /// True when the interval holds this number.
    pub fn covers(&self, truth: f64) -> bool {
        self.interval.0 <= truth && truth <= self.interval.1
    }
}

/// Mean and unbiased variance; of fewer than two numbers there is none.
fn moments(draws: &[f64]) -> Option<(f64, f64)> {
    if draws.len() < 2 {
        return None;
    }
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / n;
    Some((mean, draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / (n - 1.0)))
}

/// A quantile of sorted numbers, with linear interpolation.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// Draws as many elements as `from` has, with replacement.
pub(crate) fn resampled<'a, T>(from: &'a [T], random: &mut Random) -> Vec<&'a T> {
    from.iter().filter_map(|_| random.pick(from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_is_as_published() {
        for (part, low, high) in [(5, 0.0215, 0.1118), (16, 0.1010, 0.2442), (37, 0.2818, 0.4678)] {
            let (found_low, found_high) = Estimate::share(part, 100).unwrap().interval;
            assert!((found_low - low).abs() < 5e-5 && (found_high - high).abs() < 5e-5, "{part}");
        }
        assert_eq!(Estimate::share(0, 0), None);
    }

    #[test]
    fn intervals_of_means_cover_the_truth_as_often_as_they_say() {
        let covered = (0..400)
            .filter(|&run| {
                let mut random = Random::part(3, run);
                let draws: Vec<f64> = (0..50).map(|_| random.unit()).collect();
                Estimate::mean(&draws).unwrap().covers(0.5)
            })
            .count();
        assert!((360..=396).contains(&covered), "{covered} of 400");
        assert_eq!(Estimate::mean(&[1.0]), None);
    }

    #[test]
    fn skewed_draws_are_covered_better() {
        // Most draws say nothing, few say much: their mean is 1.
        let run = |run: u64| {
            let mut random = Random::part(8, run);
            let draws: Vec<f64> =
                (0..200).map(|_| if random.chance(0.02) { 1.0 / 0.02 } else { 0.0 }).collect();
            let (mean, variance) = moments(&draws).unwrap();
            let power = |power| {
                draws.iter().map(|draw| ((draw - mean) / variance.sqrt()).powi(power)).sum::<f64>() / 200.0
            };
            let error = (variance / 200.0).sqrt();
            (Estimate::normal(mean, error), Estimate::skewed(mean, error, (power(3), power(4)), 200.0))
        };
        let runs: Vec<_> = (0..1_000).map(run).collect();
        let plain = runs.iter().filter(|(plain, _)| plain.covers(1.0)).count();
        let skewed = runs.iter().filter(|(_, skewed)| skewed.covers(1.0)).count();
        assert!(plain < 920 && (930..=980).contains(&skewed), "{plain} and {skewed} of 1000");
        assert_eq!(Estimate::skewed(2.0, 0.5, (0.0, 1.0), 1e12), Estimate::normal(2.0, 0.5));
    }

    #[test]
    fn a_second_error_moves_the_ends_apart() {
        let one = Estimate::on_log_scale(10.0, 0.3);
        let both = one.widened(0.4);
        let wanted = Estimate::on_log_scale(10.0, 0.5);
        assert!(
            (both.interval.0 - wanted.interval.0).abs() < 1e-9
                && (both.interval.1 - wanted.interval.1).abs() < 1e-9
        );
        assert!((both.error - wanted.error).abs() < 1e-9);
        assert!(Estimate::normal(1.0, 0.8).widened(0.1).interval.0 > 0.0);
    }

    #[test]
    fn a_share_that_is_not_certain_widens_what_is_left() {
        let pages = Estimate::on_log_scale(1_000.0, 0.05);
        let left = pages.multiplied_by(Estimate::share(30, 30).unwrap());
        assert_eq!(left.value, 1_000.0);
        assert!(left.interval.0 < 0.95 * pages.interval.0, "{left:?}");
        assert!((left.interval.1 - pages.interval.1).abs() < 1e-6, "{left:?}");
        let certain = Estimate { value: 0.5, error: 0.0, interval: (0.5, 0.5) };
        let half = pages.multiplied_by(certain);
        assert!((half.interval.0 / pages.interval.0 - 0.5).abs() < 1e-9 && half.value == 500.0);
    }

    #[test]
    fn a_bootstrap_knows_the_error_of_a_mean() {
        let mut random = Random::new(5);
        let draws: Vec<f64> = (0..400).map(|_| random.unit()).collect();
        let plain = Estimate::mean(&draws).unwrap();
        let mean = |random: &mut Random| {
            Some(resampled(&draws, random).into_iter().sum::<f64>() / draws.len() as f64)
        };
        let again = Estimate::bootstrap(plain.value, 9, mean).unwrap();
        assert!((again.error / plain.error - 1.0).abs() < 0.15);
        assert!((again.interval.0 - plain.interval.0).abs() < 0.01);
    }

    #[test]
    fn factors_keep_the_ends_in_order() {
        assert_eq!(Estimate::normal(1.0, 0.0).times(-2.0).interval, (-2.0, -2.0));
        let turned = Estimate { value: 1.0, error: 1.0, interval: (0.5, 2.0) }.times(-1.0);
        assert_eq!(turned.interval, (-2.0, -0.5));
    }
}

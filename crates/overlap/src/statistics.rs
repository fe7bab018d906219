//! Means, percentiles, and a straight line through points.

use std::collections::BTreeMap;

/// The mean; none of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The value below which this share of the values lies, between neighbours by linear interpolation; none of nothing.
///
/// ```
/// use lookalike_overlap::statistics::percentile;
///
/// assert_eq!(percentile(&[1.0, 1.0, 1.0, 2.0, 6.0, 9.0, 100.0], 0.75), Some(7.5));
/// ```
pub fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let sorted = sorted(values)?;
    let place = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(below + (above - below) * place.fract())
}

/// The middle value.
pub fn median(values: &[f64]) -> Option<f64> {
    percentile(values, 0.5)
}

fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    (!values.is_empty()).then_some(values)
}

/// Mean, median, third quartile and maximum of a list of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    /// The mean.
    pub mean: f64,
    /// The middle value.
    pub median: f64,
    /// Three quarters are at most this, by linear interpolation.
    pub three_quarters: f64,
    /// The largest.
    pub most: f64,
}

impl Distribution {
    /// The distribution of numbers of which only is known how often each comes; none of nothing.
    pub fn of_counts(counts: &BTreeMap<u64, u64>) -> Option<Self> {
        let all: u64 = counts.values().sum();
        let sum: f64 = counts.iter().map(|(&value, &times)| value as f64 * times as f64).sum();
        let (&most, _) = counts.last_key_value()?;
        let at = |place: u64| {
            let mut before = 0;
            let reached = counts.iter().find(|(_, times)| {
                before += **times;
                before > place
            });
            reached.map_or(most, |(&value, _)| value) as f64
        };
        let percentile = |share: f64| {
            let place = share * (all - 1) as f64;
            let (below, above) = (at(place.floor() as u64), at(place.ceil() as u64));
            below + (above - below) * place.fract()
        };
        Some(Distribution {
            mean: sum / all as f64,
            median: percentile(0.5),
            three_quarters: percentile(0.75),
            most: most as f64,
        })
    }

    /// The distribution of some numbers; none of nothing.
    pub fn of(values: &[f64]) -> Option<Self> {
        Some(Distribution {
            mean: mean(values)?,
            median: median(values)?,
            three_quarters: percentile(values, 0.75)?,
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

/// A straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Its height at 0.
    pub intercept: f64,
    /// Its slope: the rise per unit of x.
    pub slope: f64,
}

impl Line {
    /// The line with the least squares of vertical distances to these points; none unless two of them stand at different
    /// places.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let xs: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
        let ys: Vec<f64> = points.iter().map(|(_, y)| *y).collect();
        let (x, y) = (mean(&xs)?, mean(&ys)?);
        let spread: f64 = xs.iter().map(|value| (value - x).powi(2)).sum();
        let together: f64 = points.iter().map(|(px, py)| (px - x) * (py - y)).sum();
        let slope = (spread > 0.0).then(|| together / spread)?;
        Some(Line { intercept: y - slope * x, slope })
    }

    /// Its height at a place.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 7] = [9.0, 1.0, 100.0, 1.0, 2.0, 6.0, 1.0];

    #[test]
    fn the_worked_example() {
        let distribution = Distribution::of(&VALUES).unwrap();
        assert!((distribution.mean - 17.142_857).abs() < 1e-6);
        assert_eq!((distribution.median, distribution.three_quarters, distribution.most), (2.0, 7.5, 100.0));
        assert_eq!((percentile(&VALUES, 0.0), percentile(&VALUES, 1.0)), (Some(1.0), Some(100.0)));
        assert_eq!((Distribution::of(&[]), percentile(&[], 0.5)), (None, None));
    }

    #[test]
    fn the_line_of_the_worked_example() {
        let points: Vec<(f64, f64)> =
            (1..).zip([5000, 5900, 6500, 6950, 7316]).map(|(x, y)| (f64::from(x), f64::from(y))).collect();
        let line = Line::through(&points).unwrap();
        assert!((line.intercept - 4628.6).abs() < 1e-9 && (line.slope - 568.2).abs() < 1e-9);
        assert!((line.at(20.0) - 15_992.6).abs() < 1e-9);
        assert_eq!(Line::through(&points[..1]), None);
        assert_eq!(Line::through(&[(1.0, 2.0), (1.0, 3.0)]), None);
    }
}

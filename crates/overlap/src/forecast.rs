//! Forecast of the number of judged documents that would be found in more segments than were searched.
//!
//! A straight line through the accumulated numbers, as the thesis drew it. The true curve flattens: documents that are easy to find
//! are found first, so that the line is too optimistic.

use crate::statistics::Line;

/// The line through accumulated numbers after 1, 2, 3, … segments; none with fewer than two.
pub fn line(accumulated: &[u64]) -> Option<Line> {
    let points: Vec<(f64, f64)> =
        accumulated.iter().enumerate().map(|(place, &found)| ((place + 1) as f64, found as f64)).collect();
    Line::through(&points)
}

/// Returns the value of the line at this number of segments.
pub fn forecast(accumulated: &[u64], segments: usize) -> Option<f64> {
    line(accumulated).map(|line| line.at(segments as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_segments_from_five() {
        let found = forecast(&[5000, 5900, 6500, 6950, 7316], 20).unwrap();
        assert!((found - 15_992.6).abs() < 1e-9);
        assert_eq!(forecast(&[5000], 20), None);
    }

    #[test]
    fn a_bending_curve_is_promised_too_much() {
        let curve: Vec<u64> = (1..=20).map(|x| (1000.0 * f64::from(x).sqrt()) as u64).collect();
        assert!(forecast(&curve[..5], 20).unwrap() > curve[19] as f64);
    }
}

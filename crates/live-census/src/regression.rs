//! The mean of draws whose companion values have a known mean.
//!
//! Every draw of a query gives two values: its results in the engine, and those that it would have in the own corpus. The mean of
//! the second over all queries is known without asking. So where a sample of queries happened to find too much in the own corpus,
//! it found too much in the engine as well, and that is taken off. Bias of the order of one over the number of draws; the error is
//! that of the residuals.

use lookalike_census::Estimate;

/// The mean of `draws` (found, companion), given that companions have this mean. None of fewer than three draws.
pub fn mean(draws: &[(f64, f64)], known: f64) -> Option<Estimate> {
    let n = draws.len() as f64;
    if draws.len() < 3 {
        return None;
    }
    let found = draws.iter().map(|draw| draw.0).sum::<f64>() / n;
    let companion = draws.iter().map(|draw| draw.1).sum::<f64>() / n;
    let spread = draws.iter().map(|draw| (draw.1 - companion).powi(2)).sum::<f64>();
    let together = draws.iter().map(|draw| (draw.0 - found) * (draw.1 - companion)).sum::<f64>();
    let slope = if spread > 0.0 { together / spread } else { 0.0 };
    let rest = |draw: &(f64, f64)| (draw.0 - found - slope * (draw.1 - companion)).powi(2);
    let variance = draws.iter().map(rest).sum::<f64>() / (n - 2.0);
    // What the slope's own error adds where the companions' mean is off.
    let lever = if spread > 0.0 { (companion - known).powi(2) / spread } else { 0.0 };
    let (value, error) = (found + slope * (known - companion), (variance * (1.0 / n + lever)).sqrt());
    let power = |power: i32| {
        let rest = |draw: &(f64, f64)| (draw.0 - found - slope * (draw.1 - companion)) / variance.sqrt();
        draws.iter().map(|draw| rest(draw).powi(power)).sum::<f64>() / n
    };
    let shape = if variance > 0.0 { (power(3), power(4)) } else { (0.0, 1.0) };
    Some(Estimate::skewed(value, error, shape, n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_census::Random;

    #[test]
    fn a_companion_takes_error_away_and_no_truth() {
        let run = |number: u64| {
            let mut random = Random::part(3, number);
            let draws: Vec<(f64, f64)> = (0..60)
                .map(|_| {
                    let companion = random.unit();
                    (5.0 * companion + 0.3 * random.unit(), companion)
                })
                .collect();
            (
                mean(&draws, 0.5).unwrap(),
                Estimate::mean(&draws.iter().map(|draw| draw.0).collect::<Vec<_>>()).unwrap(),
            )
        };
        let runs: Vec<_> = (0..300).map(run).collect();
        let average = runs.iter().map(|(with, _)| with.value).sum::<f64>() / 300.0;
        assert!((average - 2.65).abs() < 0.01, "{average}");
        let covered = runs.iter().filter(|(with, _)| with.covers(2.65)).count();
        assert!((270..=297).contains(&covered), "{covered}");
        assert!(runs.iter().all(|(with, without)| with.error < without.error / 5.0));
        assert_eq!(mean(&[(1.0, 1.0); 2], 1.0), None);
        assert_eq!(mean(&[(1.0, 2.0); 5], 2.0).unwrap().value, 1.0);
    }
}

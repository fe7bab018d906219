//! The size of an index by sums over the results of a pool's queries, after Broder and others (2006).
//!
//! A page weighs one over the number of queries in the pool that it matches, so that the weights of all results of all
//! queries sum to the number of pages that the pool reaches; a random part of the queries estimates that sum. From there to
//! the whole index leads a uniform sample of it, or a second pool that has little to do with the first. Queries with more
//! results than are shown must be out of the pool beforehand.

use crate::estimate::{Estimate, ROUNDS, resampled};
use crate::random::Random;

/// Returns the weight of a query's results: the sum of one over the number of queries that each of them matches.
pub fn weight(degrees: impl IntoIterator<Item = usize>) -> f64 {
    degrees.into_iter().map(|degree| 1.0 / degree.max(1) as f64).sum()
}

/// Estimates the number of pages that a pool of `pool` queries reaches, from the weights of a sample of them; bootstrap over queries.
pub fn reached(pool: usize, weights: &[f64], seed: u64) -> Option<Estimate> {
    let value = total(pool, weights.iter())?;
    Estimate::bootstrap(value, seed, |random| total(pool, resampled(weights, random).into_iter()))
}

/// The whole index: what the pool reaches by the share of a uniform sample that it reaches, with both errors.
pub fn by_uniform_sample(reached: Estimate, found: u64, sampled: u64) -> Option<Estimate> {
    let share = Estimate::share(found, sampled).filter(|share| share.value > 0.0)?;
    let error = (reached.error / reached.value).hypot(share.error / share.value);
    Some(Estimate::on_log_scale(reached.value / share.value, error))
}

/// The whole index by two pools: `|A|·|B|/|A∩B|`. For each sampled query of the first the weight of all its results and of
/// those that the second reaches, too; for each of the second the weight of all. Bootstrap over both; none when nothing is
/// reached by both.
pub fn by_two_pools(first: (usize, &[(f64, f64)]), second: (usize, &[f64]), seed: u64) -> Option<Estimate> {
    let once = |a: &[&(f64, f64)], b: &[&f64]| {
        let reached_a = total(first.0, a.iter().map(|weights| &weights.0))?;
        let both = total(first.0, a.iter().map(|weights| &weights.1))?;
        let reached_b = total(second.0, b.iter().copied())?;
        (both > 0.0).then(|| reached_a * reached_b / both)
    };
    let value = once(&first.1.iter().collect::<Vec<_>>(), &second.1.iter().collect::<Vec<_>>())?;
    let draw = |round| {
        let mut random = Random::part(seed, round);
        once(&resampled(first.1, &mut random), &resampled(second.1, &mut random))
    };
    Estimate::from_draws(value, (0..ROUNDS as u64).filter_map(draw).collect())
}

/// The pool's size times the mean weight.
fn total<'w>(pool: usize, weights: impl ExactSizeIterator<Item = &'w f64>) -> Option<f64> {
    let count = weights.len();
    (count > 0).then(|| pool as f64 * weights.sum::<f64>() / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_documents_and_a_pool_of_three() {
        // {a,b}, {a}, {b,c}, {c}, {}: a matches documents of degrees 2 and 1, and so on.
        let weights = [weight([2, 1]), weight([2, 2]), weight([2, 1])];
        assert_eq!(weights, [1.5, 1.0, 1.5]);
        let found = reached(3, &weights, 1).unwrap();
        assert!((found.value - 4.0).abs() < 1e-12 && found.covers(4.0));
        assert_eq!(reached(3, &[], 1), None);
    }

    #[test]
    fn from_the_pool_to_the_index() {
        let reached = Estimate::normal(800.0, 0.0);
        assert_eq!(by_uniform_sample(reached, 80, 100).unwrap().value, 1_000.0);
        assert_eq!(by_uniform_sample(reached, 0, 100), None);
        // Pools that reach 600 and 500 pages, 300 of them both.
        let first = [(6.0, 3.0); 40];
        let second = [5.0; 30];
        let found = by_two_pools((100, &first), (100, &second), 1).unwrap();
        assert!((found.value - 1_000.0).abs() < 1e-9 && found.error < 1e-6);
        assert_eq!(by_two_pools((100, &[(6.0, 0.0)]), (100, &second), 1), None);
    }
}

//! The size of a set from how often a page is drawn twice: `s` uniform draws with `c` equal pairs tell of
//! `s(s−1)/2c` pages.

use std::collections::BTreeMap;

use crate::estimate::Estimate;

/// The size from `draws` uniform draws with `pairs` equal pairs; nothing is known without any. Equal pairs are nearly
/// Poisson, so the relative error is one over their root.
pub fn size(draws: u64, pairs: u64) -> Option<Estimate> {
    if pairs == 0 {
        return None;
    }
    let value = draws as f64 * draws.saturating_sub(1) as f64 / (2.0 * pairs as f64);
    Some(Estimate::on_log_scale(value, 1.0 / (pairs as f64).sqrt()))
}

/// Equal pairs among draws.
pub fn equal_pairs<T: Ord>(draws: &[T]) -> u64 {
    let mut counts: BTreeMap<&T, u64> = BTreeMap::new();
    for draw in draws {
        *counts.entry(draw).or_default() += 1;
    }
    counts.values().map(|count| count * (count - 1) / 2).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_thousand_draws_with_fifty_pairs() {
        assert_eq!(size(1_000, 50).unwrap().value, 9_990.0);
        assert_eq!(size(1_000, 0), None);
        assert_eq!(equal_pairs(&[1, 2, 1, 1, 3, 3]), 4);
    }

    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        let covered = (0..300)
            .filter(|&run| {
                let mut random = Random::part(21, run);
                let draws: Vec<usize> = (0..400).map(|_| random.below(1_000)).collect();
                size(400, equal_pairs(&draws)).unwrap().covers(1_000.0)
            })
            .count();
        assert!((270..=297).contains(&covered), "{covered} of 300");
    }
}

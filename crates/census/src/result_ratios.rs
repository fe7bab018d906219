//! Sizes from the result counts of real queries, after Lawrence and Giles (1998, 1999).
//!
//! Each query gives a ratio of counts, both checked page by page. They averaged the ratios, which is not sound: the mean of
//! `a/b` and that of `b/a` can both be above 1, and queries that an engine has nothing for drop out. The ratio of sums and the
//! geometric mean stand beside it.

use crate::estimate::{Estimate, resampled};

/// Verified results of one query in two engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Results in the first.
    pub a: u64,
    /// Results in the second.
    pub b: u64,
    /// Results in both.
    pub both: u64,
}

/// The size of the first engine divided by that of the second, estimated in three ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratios {
    /// The mean of the queries' ratios: the published way.
    pub mean: Estimate,
    /// All results of the first by all of the second; queries with a zero count, too.
    pub of_sums: Estimate,
    /// The geometric mean of the queries' ratios.
    pub geometric: Estimate,
    /// Queries whose ratio was used.
    pub used: u64,
    /// Queries that were skipped because an engine had no result.
    pub skipped: u64,
}

/// The ratios; none with fewer than two queries that both engines have results for.
pub fn ratios(queries: &[Counts], seed: u64) -> Option<Ratios> {
    let each: Vec<f64> = queries
        .iter()
        .filter(|query| query.a > 0 && query.b > 0)
        .map(|query| query.a as f64 / query.b as f64)
        .collect();
    let logs: Vec<f64> = each.iter().map(|ratio| ratio.ln()).collect();
    let geometric = Estimate::mean(&logs)?;
    let sums = |queries: &[&Counts]| -> Option<f64> {
        let (a, b) = queries.iter().fold((0, 0), |(a, b), query| (a + query.a, b + query.b));
        (b > 0).then(|| a as f64 / b as f64)
    };
    let all: Vec<&Counts> = queries.iter().collect();
    Some(Ratios {
        mean: Estimate::mean(&each)?,
        of_sums: Estimate::bootstrap(sums(&all)?, seed, |random| sums(&resampled(queries, random)))?,
        geometric: Estimate::on_log_scale(geometric.value.exp(), geometric.error),
        used: each.len() as u64,
        skipped: (queries.len() - each.len()) as u64,
    })
}

/// Estimates the size of the web by capture and recapture over all queries, as a multiple of the first engine: `Σb/Σboth`.
pub fn web_by_overlap(queries: &[Counts], seed: u64) -> Option<Estimate> {
    let once = |queries: &[&Counts]| -> Option<f64> {
        let (b, both) = queries.iter().fold((0, 0), |(b, both), query| (b + query.b, both + query.both));
        (both > 0).then(|| b as f64 / both as f64)
    };
    let all: Vec<&Counts> = queries.iter().collect();
    Estimate::bootstrap(once(&all)?, seed, |random| once(&resampled(queries, random)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(a: u64, b: u64) -> Counts {
        Counts { a, b, both: a.min(b) / 2 }
    }

    #[test]
    fn three_ways_to_average() {
        // One engine has twice the other's results for one query, half for the next: equal sizes.
        let found = ratios(&[counts(20, 10), counts(10, 20), counts(0, 5), counts(5, 0)], 1).unwrap();
        assert_eq!((found.used, found.skipped), (2, 2));
        assert_eq!(found.mean.value, 1.25);
        assert_eq!(found.of_sums.value, 1.0);
        assert!((found.geometric.value - 1.0).abs() < 1e-12);
        assert_eq!(ratios(&[counts(1, 1)], 1), None);
    }

    #[test]
    fn the_web_is_what_the_second_has_by_what_both_have() {
        let web =
            web_by_overlap(&[Counts { a: 6, b: 5, both: 3 }, Counts { a: 60, b: 50, both: 30 }], 1).unwrap();
        assert!((web.value - 5.0 / 3.0).abs() < 1e-12 && web.covers(5.0 / 3.0));
        assert_eq!(web_by_overlap(&[], 1), None);
    }
}

//! Judged documents found again in another corpus: what is counted over lists of pairs.
//!
//! A judgment is a judged document, however many topics it was judged for. It is *found* when it has a pair, and has a
//! *near-duplicate* when the most similar of its pairs reaches a threshold.

use std::collections::BTreeMap;

use crate::Pair;
use crate::statistics::Distribution;

/// The pairs in order of their documents, each once; of equal ones the most similar stays.
pub fn distinct(pairs: &[Pair]) -> Vec<Pair> {
    let mut pairs = pairs.to_vec();
    pairs.sort_by(|a, b| {
        (a.judged, a.target).cmp(&(b.judged, b.target)).then(b.similarity.total_cmp(&a.similarity))
    });
    pairs.dedup_by_key(|pair| (pair.judged, pair.target));
    pairs
}

/// The judged documents that have a pair, ascending.
pub fn found(pairs: &[Pair]) -> Vec<u32> {
    let mut found: Vec<u32> = pairs.iter().map(|pair| pair.judged).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the distribution of the number of pairs per found judged document; repeated pairs count once.
pub fn pairs_per_judgment(pairs: &[Pair]) -> Option<Distribution> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for pair in distinct(pairs) {
        *counts.entry(pair.judged).or_default() += 1;
    }
    Distribution::of(&counts.into_values().map(|count| count as f64).collect::<Vec<_>>())
}

/// Returns the number of judged documents found up to and including each segment, in the order of the segments.
pub fn accumulated<P: AsRef<[Pair]>>(segments: &[P]) -> Vec<u64> {
    let mut all: Vec<u32> = Vec::new();
    segments
        .iter()
        .map(|segment| {
            all.extend(found(segment.as_ref()));
            all.sort_unstable();
            all.dedup();
            all.len() as u64
        })
        .collect()
}

/// The most similar pair of each judged document, ascending; of equal ones the target that comes first.
pub fn best(pairs: &[Pair]) -> Vec<Pair> {
    let mut pairs = pairs.to_vec();
    pairs.sort_by(|a, b| {
        a.judged.cmp(&b.judged).then(b.similarity.total_cmp(&a.similarity)).then(a.target.cmp(&b.target))
    });
    pairs.dedup_by_key(|pair| pair.judged);
    pairs
}

/// The judged documents whose most similar pair reaches the threshold, ascending.
pub fn near(pairs: &[Pair], threshold: f64) -> Vec<u32> {
    let reached = best(pairs).into_iter().filter(|pair| pair.similarity >= threshold);
    reached.map(|pair| pair.judged).collect()
}

/// The number of found documents, and of those that have a near-duplicate. Documents with a near-duplicate that was not found are
/// unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Precision {
    /// Found documents with a near-duplicate.
    pub near: u64,
    /// Found documents.
    pub found: u64,
}

impl Precision {
    /// The share; none when nothing was found.
    pub fn share(&self) -> Option<f64> {
        (self.found > 0).then(|| self.near as f64 / self.found as f64)
    }
}

/// The precision at a threshold.
pub fn precision(pairs: &[Pair], threshold: f64) -> Precision {
    Precision { near: near(pairs, threshold).len() as u64, found: found(pairs).len() as u64 }
}

/// Counts the elements of the ascending `a` that are not in the ascending `b`.
pub fn missing(a: &[u32], b: &[u32]) -> u64 {
    a.iter().filter(|judged| b.binary_search(judged).is_err()).count() as u64
}

/// For every two methods, how many documents with a near-duplicate under the first are not found by the second, and how many
/// of them have no near-duplicate under it.
pub fn differences<P: AsRef<[Pair]>>(methods: &[P], threshold: f64) -> Vec<Vec<(u64, u64)>> {
    let sets: Vec<(Vec<u32>, Vec<u32>)> =
        methods.iter().map(|pairs| (near(pairs.as_ref(), threshold), found(pairs.as_ref()))).collect();
    let row = |(near_a, _): &(Vec<u32>, Vec<u32>)| {
        sets.iter().map(|(near_b, found_b)| (missing(near_a, found_b), missing(near_a, near_b))).collect()
    };
    sets.iter().map(row).collect()
}

/// Returns the number of pairs of `a` divided by that of `b`, repeated pairs counted once; none if `b` has no pairs.
pub fn ratio(a: &[Pair], b: &[Pair]) -> Option<f64> {
    let (a, b) = (distinct(a).len(), distinct(b).len());
    (b > 0).then(|| a as f64 / b as f64)
}

/// Returns the number of found documents whose address is also in the other corpus (those in `shared`, which is ascending), and the
/// number of all found documents.
pub fn with_shared_address(pairs: &[Pair], shared: &[u32]) -> (u64, u64) {
    let found = found(pairs);
    (found.len() as u64 - missing(&found, shared), found.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(all: &[(u32, u32, f64)]) -> Vec<Pair> {
        all.iter().map(|&(judged, target, similarity)| Pair { judged, target, similarity }).collect()
    }

    #[test]
    fn pairs_and_judgments_are_counted_once() {
        let some = pairs(&[(2, 5, 0.3), (1, 9, 0.9), (2, 5, 0.3), (2, 4, 0.3), (1, 8, 0.95)]);
        assert_eq!(distinct(&some).len(), 4);
        assert_eq!(found(&some), [1, 2]);
        assert_eq!(best(&some), pairs(&[(1, 8, 0.95), (2, 4, 0.3)]));
        assert_eq!(near(&some, 0.9), [1]);
        let distribution = pairs_per_judgment(&some).unwrap();
        assert_eq!((distribution.mean, distribution.most), (2.0, 2.0));
        assert_eq!(precision(&some, 0.9).share(), Some(0.5));
        assert_eq!(precision(&[], 0.9).share(), None);
        assert_eq!(pairs_per_judgment(&[]), None);
    }

    #[test]
    fn the_threshold_is_enough() {
        assert_eq!(near(&pairs(&[(1, 1, 0.9), (2, 1, 0.899)]), 0.9), [1]);
    }

    #[test]
    fn segments_accumulate() {
        let segments =
            [pairs(&[(1, 1, 0.5), (2, 1, 0.5)]), pairs(&[(2, 7, 0.5)]), pairs(&[(3, 8, 0.5), (1, 8, 0.5)])];
        assert_eq!(accumulated(&segments), [2, 2, 3]);
    }

    #[test]
    fn methods_differ() {
        let a = pairs(&[(1, 1, 0.95), (2, 1, 0.95), (3, 1, 0.2)]);
        let b = pairs(&[(1, 2, 0.95), (2, 2, 0.4)]);
        let matrix = differences(&[&a, &b], 0.9);
        assert_eq!(matrix, [[(0, 0), (0, 1)], [(0, 0), (0, 0)]]);
        assert_eq!(differences(&[&a, &pairs(&[])], 0.9)[0][1], (2, 2));
        assert_eq!(ratio(&a, &b), Some(1.5));
        assert_eq!(ratio(&a, &[]), None);
        assert_eq!(with_shared_address(&a, &[2, 3, 9]), (2, 3));
    }

    #[test]
    fn published_ratios_follow() {
        // 2,828 of 7,316 is the precision that the thesis prints for 2-grams.
        let precision = Precision { near: 2_828, found: 7_316 };
        assert!((precision.share().unwrap() - 0.39).abs() < 0.005);
    }
}

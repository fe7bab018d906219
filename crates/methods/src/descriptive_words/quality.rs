//! Thresholds of a word, and how good they are.
//!
//! A threshold is an edge between two bins of frequency, in hundredths: a document's bit is set if its bin is at or above
//! the edge. Documents are near to it whose frequency is above the threshold less delta, and not above the threshold plus
//! delta.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use crate::lexicon::BINS;

/// The thresholds that a word can have.
pub(super) const EDGES: RangeInclusive<u8> = 5..=95;

/// A threshold must leave at least so many documents above it.
const LEAST_ABOVE: u32 = 3;

/// At first it must leave one in so many of the word's documents above it.
const ONE_ABOVE_IN: u32 = 5;

/// The distribution of the documents of a word over the bins of its frequency.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FrequencyDistribution {
    /// Documents in bins before each.
    cumulative: [u32; BINS + 1],
}

impl FrequencyDistribution {
    /// Of documents by bin.
    pub(super) fn new(bins: &[(u8, u32)]) -> Self {
        let mut cumulative = [0; BINS + 1];
        for &(bin, documents) in bins {
            cumulative[usize::from(bin) + 1] += documents;
        }
        for bin in 1..cumulative.len() {
            cumulative[bin] += cumulative[bin - 1];
        }
        FrequencyDistribution { cumulative }
    }

    fn documents(&self) -> u32 {
        self.cumulative[BINS]
    }

    /// Documents above a threshold.
    fn above(&self, edge: u8) -> u32 {
        self.documents() - self.cumulative[usize::from(edge)]
    }

    /// Documents near a threshold.
    fn near(&self, edge: u8, delta: u8) -> u32 {
        let (first, end) = (edge.saturating_sub(delta), edge.saturating_add(delta));
        self.cumulative[usize::from(end).min(BINS)] - self.cumulative[usize::from(first)]
    }

    /// The threshold to begin with: the fewest documents are near it, but many are above it.
    pub(super) fn first(&self, delta: u8) -> Option<WordThreshold> {
        let above = self.documents().div_ceil(ONE_ABOVE_IN).max(LEAST_ABOVE);
        self.best(delta, above, *EDGES.end())
    }

    /// A better threshold, up to a `highest`, with some documents above it.
    pub(super) fn better(&self, than: &WordThreshold, delta: u8, highest: u8) -> Option<WordThreshold> {
        self.best(delta, LEAST_ABOVE, highest).filter(|threshold| threshold.near < than.near)
    }

    /// The lowest of the thresholds that the fewest documents are near, of those with enough documents above.
    fn best(&self, delta: u8, above: u32, highest: u8) -> Option<WordThreshold> {
        let allowed = EDGES.filter(|&edge| edge <= highest && self.above(edge) >= above);
        let edge = allowed.min_by_key(|&edge| self.near(edge, delta))?;
        Some(WordThreshold { edge, near: self.near(edge, delta), documents: self.documents() })
    }
}

/// A word's threshold and how good it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordThreshold {
    /// The lowest bin above it.
    pub(super) edge: u8,
    /// Documents near it.
    near: u32,
    /// Documents of the word.
    documents: u32,
}

impl WordThreshold {
    /// 1 − near/df.
    pub(super) fn quality(&self) -> f64 {
        1.0 - f64::from(self.near) / f64::from(self.documents.max(1))
    }

    /// The better one first; exact.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let product = |near: u32, documents: u32| u64::from(near) * u64::from(documents);
        product(self.near, other.documents).cmp(&product(other.near, self.documents))
    }

    #[cfg(test)]
    pub(super) fn of(edge: u8, near: u32, documents: u32) -> Self {
        WordThreshold { edge, near, documents }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::bin;
    use proptest::prelude::*;

    #[test]
    fn the_first_threshold_lies_where_few_documents_are() {
        // Ten documents use the word little, four much.
        let distribution = FrequencyDistribution::new(&[(9, 10), (79, 4)]);
        // Thresholds from 0.15 on have none of the ten near them, those below 0.75 none of the four.
        assert_eq!(distribution.first(5), Some(WordThreshold::of(15, 0, 14)));
        assert_eq!(
            (distribution.near(5, 5), distribution.near(14, 5), distribution.near(15, 5)),
            (10, 10, 0)
        );
        assert_eq!((distribution.near(74, 5), distribution.near(75, 5), distribution.near(85, 5)), (0, 4, 0));
        assert_eq!(
            (distribution.above(9), distribution.above(10), distribution.above(79), distribution.above(80)),
            (14, 4, 4, 0)
        );
        // With three documents above, but not a fifth of twenty.
        assert_eq!(
            FrequencyDistribution::new(&[(9, 17), (79, 3)]).first(5),
            Some(WordThreshold::of(5, 17, 20))
        );
        assert_eq!(FrequencyDistribution::new(&[(79, 2)]).first(5), None);
    }

    #[test]
    fn a_better_threshold_may_leave_fewer_documents_above() {
        let distribution = FrequencyDistribution::new(&[(9, 17), (79, 3)]);
        let first = distribution.first(5).unwrap();
        assert_eq!(distribution.better(&first, 5, 95), Some(WordThreshold::of(15, 0, 20)));
        assert_eq!(distribution.better(&first, 5, 10), None);
        assert_eq!(distribution.better(&WordThreshold::of(40, 0, 20), 5, 95), None);
    }

    #[test]
    fn the_better_quality_comes_first() {
        let [good, same, bad] =
            [WordThreshold::of(5, 1, 10), WordThreshold::of(9, 2, 20), WordThreshold::of(5, 2, 19)];
        assert_eq!(
            (good.order(&bad), good.order(&same), bad.order(&good)),
            (Ordering::Less, Ordering::Equal, Ordering::Greater)
        );
        assert!((good.quality() - 0.9).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn bins_count_as_frequencies_do(counts in prop::collection::vec((1u32..300, 0u32..300), 1..50), edge in EDGES, delta in 1u8..20) {
            let frequencies: Vec<(u32, u32)> = counts.iter().map(|(count, more)| (*count, count + more)).collect();
            let bins: Vec<(u8, u32)> = frequencies.iter().map(|(count, most)| (bin(*count, *most), 1)).collect();
            let distribution = FrequencyDistribution::new(&bins);
            // count/most > hundredths/100, in whole numbers.
            let above = |hundredths: i64| {
                let above = |(count, most): &&(u32, u32)| 100 * i64::from(*count) > hundredths * i64::from(*most);
                frequencies.iter().filter(above).count() as u32
            };
            prop_assert_eq!(distribution.above(edge), above(edge.into()));
            let (edge_value, delta_value) = (i64::from(edge), i64::from(delta));
            let near = above(edge_value - delta_value) - above(edge_value + delta_value);
            prop_assert_eq!(distribution.near(edge, delta), near);
        }
    }
}

//! The words in the lexicon of I-Match: those whose idf is in the middle.
//!
//! idf = ln(N/df) falls as df grows, so a range of normalised idf is a range of numbers of documents, and words are
//! told apart by two comparisons of whole numbers.

use crate::lexicon::{Lexicon, Totals};

/// The scale by which idf is normalised to numbers from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// 0 for the most common word of the collection, 1 for the rarest.
    MinMax,
    /// 0 for a word of every document, 1 for one of a single document: idf / ln N.
    LogN,
}

impl Scale {
    /// The normalised idf of a word in this many documents, to nine digits; nothing where the scale has no length.
    pub(super) fn nidf(self, totals: &Totals, documents: u32) -> Option<f64> {
        let ratio = |numerator: f64, denominator: f64| (numerator / denominator.max(1.0)).ln();
        let (all, most) = (totals.documents as f64, f64::from(totals.most_documents));
        let (height, length) = match self {
            Scale::MinMax => {
                (ratio(most, f64::from(documents)), ratio(most, f64::from(totals.least_documents)))
            }
            Scale::LogN => (ratio(all, f64::from(documents)), ratio(all, 1.0)),
        };
        (length > 0.0).then(|| (height / length * 1e9).round() / 1e9)
    }
}

/// A range of numbers of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    /// The fewest documents of a word of the lexicon.
    rarest: u32,
    /// The most.
    commonest: u32,
}

impl Range {
    /// The numbers of documents with a normalised idf from `low` to `high`; nothing where idf has no scale.
    pub(super) fn new(scale: Scale, low: f64, high: f64, totals: &Totals) -> Option<Self> {
        scale.nidf(totals, 1)?;
        let nidf = |documents| scale.nidf(totals, documents).unwrap_or_default();
        let most = totals.most_documents.max(1);
        let rarest = first(most, |documents| nidf(documents) <= high);
        let commonest = first(most, |documents| nidf(documents) < low) - 1;
        Some(Range { rarest, commonest })
    }

    /// True for the words of the lexicon.
    pub(super) fn contains(&self, documents: u32) -> bool {
        (self.rarest..=self.commonest).contains(&documents)
    }

    /// True for words that are too rare for the lexicon: the secondary one.
    pub(super) fn rarer(&self, documents: u32) -> bool {
        documents < self.rarest
    }

    /// True when a word of this collection is in the range.
    pub(super) fn contains_any(&self, lexicon: &Lexicon) -> bool {
        (0..lexicon.len()).any(|index| self.contains(lexicon.counts(index).documents))
    }
}

/// The first number from 1 to `most` that is `behind`, or the one after `most`; all after one that is are, too.
fn first(most: u32, behind: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (1, most.saturating_add(1));
    while low < high {
        let middle = low + (high - low) / 2;
        if behind(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn totals(documents: u64, least_documents: u32, most_documents: u32) -> Totals {
        Totals { documents, least_documents, most_documents, ..Totals::default() }
    }

    #[test]
    fn the_range_of_large_news_and_web_collections_is_the_published_one() {
        let web = Range::new(Scale::LogN, 0.2, 0.8, &totals(1_679_076, 1, 1_679_076)).unwrap();
        assert_eq!(web, Range { rarest: 18, commonest: 95_511 });
        let news = totals(556_000, 1, 556_000);
        assert_eq!(Range::new(Scale::LogN, 0.2, 0.8, &news), Some(Range { rarest: 15, commonest: 39_451 }));
        assert_eq!(
            Range::new(Scale::LogN, 0.2, 0.3, &news),
            Some(Range { rarest: 10_509, commonest: 39_451 })
        );
    }

    #[test]
    fn words_that_are_all_alike_have_no_scale() {
        assert_eq!(Range::new(Scale::MinMax, 0.0, 1.0, &totals(9, 3, 3)), None);
        assert_eq!(Range::new(Scale::LogN, 0.0, 1.0, &totals(1, 1, 1)), None);
        assert!(Range::new(Scale::LogN, 0.0, 1.0, &totals(9, 3, 3)).unwrap().contains(3));
    }

    proptest! {
        #[test]
        fn a_word_is_in_the_range_when_its_nidf_is(
            (least, most) in (1u32..40).prop_flat_map(|least| (Just(least), least..200)),
            more in 0u64..100,
            low in 0.0f64..1.0,
            width in 0.0f64..1.0,
            minmax: bool,
        ) {
            let scale = if minmax { Scale::MinMax } else { Scale::LogN };
            let totals = totals(u64::from(most) + more, least, most);
            let high = (low + width).min(1.0);
            let Some(range) = Range::new(scale, low, high, &totals) else {
                prop_assert!(least == most || totals.documents == 1);
                return Ok(());
            };
            for documents in 1..=most {
                let nidf = scale.nidf(&totals, documents).unwrap();
                prop_assert_eq!(range.contains(documents), low <= nidf && nidf <= high, "{}", documents);
                prop_assert_eq!(range.rarer(documents), nidf > high, "{}", documents);
            }
        }
    }
}

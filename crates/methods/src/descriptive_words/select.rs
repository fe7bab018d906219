//! The choice of words, in rounds.
//!
//! Each round (1) leaves out words below a floor of quality, which rises by a tenth of the words from round to round;
//! covers the documents by 1.4 times as many of the others as wanted; (2) moves the thresholds of those to where fewer
//! documents are near, as long as no document loses its signature; and drops the worst three in ten of them, but none
//! that a document needs for its signature. The others, and those not taken, go into the next round; after the last, the
//! best of the others are the choice.

use super::cover::cover;
use super::quality::{EDGES, FrequencyDistribution, WordThreshold};
use super::rows::Rows;
use super::sample::ByteReader;

/// The rules by which words are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    /// The greatest distance from a threshold that counts as near, in hundredths.
    pub(super) delta: u8,
    /// The least number of words that make a signature.
    pub(super) bits: u32,
    pub(super) rounds: usize,
}

/// The words chosen, by number and threshold, and how it went.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Choice {
    pub(super) words: Vec<(u32, u8)>,
    /// After each round, and at last for the choice itself.
    pub(super) rounds: Vec<Round>,
}

/// The result of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Round {
    /// Words that were taken and not dropped.
    pub(super) words: u32,
    /// Documents that have a signature by them.
    pub(super) covered: u32,
    /// All documents.
    pub(super) documents: u32,
    /// Mean quality of the words.
    pub(super) quality: f64,
}

impl Round {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for number in [self.words, self.covered, self.documents] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.quality.to_le_bytes());
    }

    pub(super) fn read(bytes: &mut ByteReader<'_>) -> Option<Self> {
        let (words, covered, documents) = (bytes.number()?, bytes.number()?, bytes.number()?);
        Some(Round { words, covered, documents, quality: f64::from_le_bytes(bytes.take()?) })
    }
}

/// Chooses at most `target` of the words with these `thresholds`, numbered by the alphabet, for `documents` that list
/// words and the bins of their frequencies.
pub(super) fn select(
    thresholds: Vec<WordThreshold>,
    distribution: impl Fn(u32) -> FrequencyDistribution,
    documents: Rows<(u32, u8)>,
    rules: &Rules,
    target: usize,
) -> Choice {
    let mut candidates: Vec<u32> = (0..thresholds.len() as u32).collect();
    let mut selection = Selection::new(thresholds, &documents, rules);
    drop(documents);
    let (mut survivors, mut rounds) = (Vec::new(), Vec::new());
    for round in 1..=rules.rounds {
        selection.leave_out(&mut candidates, round);
        let taken = selection.cover(&candidates, target * 14 / 10);
        selection.refine(&taken, &distribution);
        survivors = selection.drop_worst(&taken);
        rounds.push(selection.round(&survivors));
        let untaken = without(&candidates, &taken);
        candidates = [&survivors[..], &untaken].concat();
    }
    survivors.truncate(target);
    selection.count_bits(&survivors);
    rounds.push(selection.round(&survivors));
    let words = survivors.into_iter().map(|word| (word, selection.thresholds[word as usize].edge)).collect();
    Choice { words, rounds }
}

/// The words of a list that are not in another.
fn without(words: &[u32], others: &[u32]) -> Vec<u32> {
    let mut others = others.to_vec();
    others.sort_unstable();
    words.iter().copied().filter(|word| others.binary_search(word).is_err()).collect()
}

struct Selection {
    thresholds: Vec<WordThreshold>,
    /// Number of documents.
    documents: usize,
    /// For each word its documents and the bins of its frequency there.
    postings: Rows<(u32, u8)>,
    rules: Rules,
    /// For each document, the number of taken words whose threshold its frequency reaches.
    bits: Vec<u32>,
}

impl Selection {
    fn new(thresholds: Vec<WordThreshold>, documents: &Rows<(u32, u8)>, rules: &Rules) -> Self {
        let postings =
            documents.transposed(thresholds.len(), |(word, _)| word, |document, (_, bin)| (document, bin));
        Selection { thresholds, documents: documents.len(), postings, rules: *rules, bits: Vec::new() }
    }

    fn threshold(&self, word: u32) -> &WordThreshold {
        &self.thresholds[word as usize]
    }

    /// Sorts words: the best first, equally good ones by the alphabet.
    fn rank(&self, words: &mut [u32]) {
        words.sort_unstable_by(|&a, &b| self.threshold(a).order(self.threshold(b)).then(a.cmp(&b)));
    }

    /// Ranks the candidates and leaves out those of less quality than the one that a tenth for each round are below.
    fn leave_out(&self, candidates: &mut Vec<u32>, round: usize) {
        self.rank(candidates);
        let below = candidates.len() * round / 10;
        if let Some(&floor) = candidates.iter().rev().nth(below) {
            let good = |word: &u32| self.threshold(*word).order(self.threshold(floor)).is_le();
            candidates.truncate(candidates.partition_point(good));
        }
    }

    /// The documents that a word's bit is set in.
    fn set(&self, word: u32) -> impl Iterator<Item = u32> {
        let edge = self.threshold(word).edge;
        self.postings.row(word).iter().filter(move |(_, bin)| *bin >= edge).map(|(document, _)| *document)
    }

    /// Covers documents by some of the ranked candidates, and counts the bits.
    fn cover(&mut self, candidates: &[u32], limit: usize) -> Vec<u32> {
        let mut documents_of = Rows::new();
        candidates.iter().for_each(|&word| documents_of.push(self.set(word)));
        let words_of = documents_of.transposed(self.documents, |document| document, |rank, _| rank);
        let ranks = cover(&words_of, &documents_of, self.rules.bits, limit);
        let taken: Vec<u32> = ranks.into_iter().map(|rank| candidates[rank as usize]).collect();
        self.count_bits(&taken);
        taken
    }

    fn count_bits(&mut self, words: &[u32]) {
        let mut bits = vec![0; self.documents];
        for document in words.iter().flat_map(|&word| self.set(word)) {
            bits[document as usize] += 1;
        }
        self.bits = bits;
    }

    /// Moves thresholds to where fewer documents are near, as long as no document loses its signature.
    fn refine(&mut self, taken: &[u32], distribution: impl Fn(u32) -> FrequencyDistribution) {
        for &word in taken {
            let old = *self.threshold(word);
            let needed = |(document, bin): &&(u32, u8)| *bin >= old.edge && self.needs_all(*document);
            let lowest = self.postings.row(word).iter().filter(needed).map(|(_, bin)| *bin).min();
            let highest = lowest.unwrap_or(*EDGES.end());
            if let Some(new) = distribution(word).better(&old, self.rules.delta, highest) {
                for &(document, bin) in self.postings.row(word) {
                    let bits = &mut self.bits[document as usize];
                    *bits = *bits + u32::from(bin >= new.edge) - u32::from(bin >= old.edge);
                }
                self.thresholds[word as usize] = new;
            }
        }
    }

    /// True for a document that would have no signature with one bit less.
    fn needs_all(&self, document: u32) -> bool {
        self.bits[document as usize] == self.rules.bits
    }

    /// The taken words, ranked, without the worst three in ten of them that no document needs.
    fn drop_worst(&mut self, taken: &[u32]) -> Vec<u32> {
        let mut ranked = taken.to_vec();
        self.rank(&mut ranked);
        let mut dropped = Vec::new();
        for &word in ranked.iter().rev().take(ranked.len() * 3 / 10) {
            if self.set(word).any(|document| self.needs_all(document)) {
                continue;
            }
            let edge = self.threshold(word).edge;
            for &(document, bin) in self.postings.row(word) {
                self.bits[document as usize] -= u32::from(bin >= edge);
            }
            dropped.push(word);
        }
        without(&ranked, &dropped)
    }

    fn round(&self, survivors: &[u32]) -> Round {
        let sum: f64 = survivors.iter().map(|&word| self.threshold(word).quality()).sum();
        Round {
            words: survivors.len() as u32,
            covered: self.bits.iter().filter(|bits| **bits >= self.rules.bits).count() as u32,
            documents: self.documents as u32,
            quality: sum / survivors.len().max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RULES: Rules = Rules { delta: 5, bits: 2, rounds: 3 };

    /// The first thresholds and the distributions of words, from the documents alone.
    fn distributions(
        documents: &Rows<(u32, u8)>,
        words: usize,
    ) -> (Vec<WordThreshold>, Vec<FrequencyDistribution>) {
        let bins = documents.transposed(words, |(word, _)| word, |_, (_, bin)| (bin, 1));
        let distributions: Vec<FrequencyDistribution> =
            (0..words as u32).map(|word| FrequencyDistribution::new(bins.row(word))).collect();
        let thresholds = distributions
            .iter()
            .map(|distribution| distribution.first(RULES.delta).unwrap_or(WordThreshold::of(95, 1, 1)));
        (thresholds.collect(), distributions)
    }

    #[test]
    fn a_tenth_of_the_words_is_left_out_but_none_of_equal_quality() {
        let documents = Rows::new();
        let thresholds: Vec<WordThreshold> =
            (0..20).map(|near| WordThreshold::of(5, near / 2, 100)).collect();
        let selection = Selection::new(thresholds, &documents, &RULES);
        let left = |round| {
            let mut words: Vec<u32> = (0..20).rev().collect();
            selection.leave_out(&mut words, round);
            words
        };
        assert_eq!(left(1), (0..18).collect::<Vec<u32>>());
        assert_eq!(left(3), (0..14).collect::<Vec<u32>>());
        assert_eq!(left(9), [0, 1]);
        let mut odd = vec![0, 1, 2];
        selection.leave_out(&mut odd, 5);
        assert_eq!(odd, [0, 1], "one word is below the floor, and the two others are equally good");
    }

    fn documents() -> impl Strategy<Value = Rows<(u32, u8)>> {
        let document = prop::collection::btree_map(0u32..30, 5u8..100, 0..15);
        prop::collection::vec(document, 0..60).prop_map(|documents| {
            let mut rows = Rows::new();
            documents.into_iter().for_each(|document| rows.push(document));
            rows
        })
    }

    proptest! {
        #[test]
        fn no_document_loses_its_signature(documents in documents(), limit in 2usize..25) {
            let (thresholds, distributions) = distributions(&documents, 30);
            let mut selection = Selection::new(thresholds.clone(), &documents, &RULES);
            let covered = |selection: &Selection| -> Vec<bool> {
                selection.bits.iter().map(|bits| *bits >= RULES.bits).collect()
            };
            let mut candidates: Vec<u32> = (0..30).collect();
            selection.rank(&mut candidates);
            let taken = selection.cover(&candidates, limit);
            let first = covered(&selection);
            selection.refine(&taken, |word| distributions[word as usize].clone());
            prop_assert!(first.iter().zip(covered(&selection)).all(|(before, now)| !before || now));
            let survivors = selection.drop_worst(&taken);
            prop_assert!(first.iter().zip(covered(&selection)).all(|(before, now)| !before || now));
            prop_assert!(survivors.len() >= taken.len() - taken.len() * 3 / 10);

            // What was counted on the way is what is there at the end.
            let bits = selection.bits.clone();
            selection.count_bits(&survivors);
            prop_assert_eq!(&selection.bits, &bits);
            for &word in &taken {
                let (old, new) = (thresholds[word as usize], *selection.threshold(word));
                prop_assert!(new == old || new.order(&old).is_lt(), "{:?} {:?}", old, new);
                prop_assert!(EDGES.contains(&new.edge));
            }
        }

        #[test]
        fn the_choice_is_within_its_limits(documents in documents(), target in 0usize..25) {
            let (thresholds, distributions) = distributions(&documents, 30);
            let choice = select(thresholds, |word| distributions[word as usize].clone(), documents, &RULES, target);
            prop_assert!(choice.words.len() <= target && choice.rounds.len() == RULES.rounds + 1);
            let mut words: Vec<u32> = choice.words.iter().map(|(word, _)| *word).collect();
            words.sort_unstable();
            words.dedup();
            prop_assert_eq!(words.len(), choice.words.len());
            for round in choice.rounds {
                prop_assert!(round.covered <= round.documents && (0.0..=1.0).contains(&round.quality));
            }
        }
    }
}

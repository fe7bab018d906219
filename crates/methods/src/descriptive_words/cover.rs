//! Words that together describe as many documents as possible, found greedily.
//!
//! A document is covered when enough of the words that were taken are its own. Again and again the word is taken that
//! brings most documents one step closer to that. When nearly all are covered, or no word helps any longer, one word more
//! is wanted of each.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::rows::Rows;

/// The percentage of all documents that counts as nearly all.
const NEARLY_ALL: usize = 98;

/// At most `limit` words in the order that they are taken. Words are numbered so that of two that help equally the
/// smaller number is taken. `wanted` words cover a document, to begin with.
pub(super) fn cover(words_of: &Rows<u32>, documents_of: &Rows<u32>, wanted: u32, limit: usize) -> Vec<u32> {
    let mut cover = Cover::new(words_of, documents_of, wanted);
    let mut taken = Vec::new();
    while taken.len() < limit && words_of.len() > 0 {
        if cover.covered * 100 >= NEARLY_ALL * words_of.len() {
            cover.require_one_more();
        } else if let Some(word) = cover.best() {
            cover.take(word);
            taken.push(word);
        } else if cover.covered > 0 {
            cover.require_one_more();
        } else {
            break;
        }
    }
    taken
}

/// The state of the greedy search.
struct Cover<'r> {
    words_of: &'r Rows<u32>,
    documents_of: &'r Rows<u32>,
    wanted: u32,
    /// For each document, the number of its words that were taken.
    bits: Vec<u32>,
    /// Documents with as many as wanted.
    covered: usize,
    /// For each word, its documents that are not covered.
    gains: Vec<u32>,
    taken: Vec<bool>,
    /// Words by gain, as it was when it was last looked at: gains only fall until more is wanted.
    queue: BinaryHeap<(u32, Reverse<u32>)>,
}

impl<'r> Cover<'r> {
    fn new(words_of: &'r Rows<u32>, documents_of: &'r Rows<u32>, wanted: u32) -> Self {
        let gains = (0..documents_of.len() as u32).map(|word| documents_of.row(word).len() as u32).collect();
        let mut cover = Cover {
            words_of,
            documents_of,
            wanted,
            bits: vec![0; words_of.len()],
            covered: 0,
            gains,
            taken: vec![false; documents_of.len()],
            queue: BinaryHeap::new(),
        };
        cover.rebuild_queue();
        cover
    }

    fn rebuild_queue(&mut self) {
        let words = (0..).zip(&self.gains).zip(&self.taken);
        let useful = words.filter(|((_, gain), taken)| **gain > 0 && !**taken);
        self.queue = useful.map(|((word, gain), _)| (*gain, Reverse(word))).collect();
    }

    /// The word that helps most; none if none helps.
    fn best(&mut self) -> Option<u32> {
        while let Some((gain, Reverse(word))) = self.queue.pop() {
            let now = self.gains[word as usize];
            if now == gain {
                return Some(word);
            }
            if now > 0 {
                self.queue.push((now, Reverse(word)));
            }
        }
        None
    }

    fn take(&mut self, word: u32) {
        self.taken[word as usize] = true;
        for &document in self.documents_of.row(word) {
            let bits = &mut self.bits[document as usize];
            *bits += 1;
            if *bits == self.wanted {
                self.covered += 1;
                for &other in self.words_of.row(document) {
                    self.gains[other as usize] -= 1;
                }
            }
        }
    }

    /// Wants one word more of each document: those that had just enough count again.
    fn require_one_more(&mut self) {
        for document in 0..self.words_of.len() as u32 {
            if self.bits[document as usize] == self.wanted {
                for &word in self.words_of.row(document) {
                    self.gains[word as usize] += 1;
                }
            }
        }
        self.wanted += 1;
        self.covered = self.bits.iter().filter(|bits| **bits >= self.wanted).count();
        self.rebuild_queue();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn rows(documents: &[BTreeSet<u32>], words: usize) -> (Rows<u32>, Rows<u32>) {
        let mut words_of = Rows::new();
        documents.iter().for_each(|document| words_of.push(document.iter().copied()));
        let documents_of = words_of.transposed(words, |word| word, |document, _| document);
        (words_of, documents_of)
    }

    /// The same, with everything counted anew at each step.
    fn plain(documents: &[BTreeSet<u32>], words: u32, mut wanted: usize, limit: usize) -> Vec<u32> {
        let mut taken: Vec<u32> = Vec::new();
        while taken.len() < limit && !documents.is_empty() {
            let bits = |document: &BTreeSet<u32>| taken.iter().filter(|word| document.contains(word)).count();
            let covered = documents.iter().filter(|document| bits(document) >= wanted).count();
            let gain = |word: &u32| {
                let helped = |document: &&BTreeSet<u32>| document.contains(word) && bits(document) < wanted;
                documents.iter().filter(helped).count()
            };
            let left = (0..words).filter(|word| !taken.contains(word));
            let best = left.max_by_key(|word| (gain(word), Reverse(*word))).filter(|word| gain(word) > 0);
            match best {
                _ if covered as f64 >= 0.98 * documents.len() as f64 => wanted += 1,
                Some(word) => taken.push(word),
                None if covered > 0 => wanted += 1,
                None => break,
            }
        }
        taken
    }

    #[test]
    fn documents_are_covered_in_few_steps() {
        let documents = [vec![0, 1], vec![0, 2], vec![0, 1, 3], vec![3]].map(BTreeSet::from_iter);
        let (words_of, documents_of) = rows(&documents, 5);
        // Word 0 helps three documents, then 1 and 3 two each; all of 0, 1, 2 and 3 are used and 4 never is.
        assert_eq!(cover(&words_of, &documents_of, 2, 2), [0, 1]);
        assert_eq!(cover(&words_of, &documents_of, 2, 9), [0, 1, 2, 3]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn the_search_takes_what_the_plain_one_takes(
            documents in prop::collection::vec(prop::collection::btree_set(0u32..25, 0..12), 0..40),
            wanted in 1u32..4,
            limit in 0usize..30,
        ) {
            let (words_of, documents_of) = rows(&documents, 25);
            let taken = cover(&words_of, &documents_of, wanted, limit);
            prop_assert_eq!(taken, plain(&documents, 25, wanted as usize, limit));
        }
    }
}

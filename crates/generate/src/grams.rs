//! The words and 5-grams that profile `web` would see in a page, by the project's hashes.
//!
//! Words of spaced scripts are words. A run of characters of unspaced scripts gives its overlapping bigrams, a
//! run of one character that character. A page of under five words is one gram.

use lookalike_hash as hash;

use crate::lexicon::Lexicon;
use crate::prose::{Mark, Prose};

/// Words in a gram.
pub(crate) const WIDTH: usize = 5;

/// The set of a page's 5-grams, in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Grams {
    grams: Vec<u64>,
}

/// Counts grams of pages, in buffers that it keeps.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    words: Vec<u64>,
    run: String,
}

impl Counter {
    /// Fills `grams` with those of a page.
    pub(crate) fn count(&mut self, page: &Prose, lexicon: &Lexicon, grams: &mut Grams) {
        self.words.clear();
        for line in page.lines() {
            for word in page.words(line) {
                if lexicon.is_unspaced(word.id) {
                    self.run.push_str(lexicon.spelling(word.id, &mut String::new()));
                } else {
                    self.end_run();
                    self.words.push(lexicon.hash(word.id));
                }
                if word.mark != Mark::None {
                    self.end_run();
                }
            }
            self.end_run();
        }
        grams.fill(&self.words);
    }

    fn end_run(&mut self) {
        if self.run.is_empty() {
            return;
        }
        let starts = self.run.char_indices().map(|(start, _)| start);
        let ends = starts.clone().skip(2).chain([self.run.len()]);
        let is_single = starts.clone().nth(1).is_none();
        let bigrams = starts.clone().zip(ends).take(if is_single { 1 } else { usize::MAX });
        self.words.extend(bigrams.map(|(start, end)| hash::word(&self.run.as_bytes()[start..end])));
        self.run.clear();
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.words.capacity() * 8 + self.run.capacity()
    }
}

impl Grams {
    fn fill(&mut self, words: &[u64]) {
        self.grams.clear();
        self.grams.extend(hash::Grams::new(words, WIDTH));
        self.grams.sort_unstable();
        self.grams.dedup();
    }

    /// Sizes of intersection and union.
    pub(crate) fn compare(&self, other: &Grams) -> (u64, u64) {
        let (a, b) = (&self.grams, &other.grams);
        let (mut i, mut j, mut shared) = (0, 0, 0);
        // Both sides step without a branch, since which one is smaller cannot be foreseen.
        while i < a.len() && j < b.len() {
            let (left, right) = (a[i], b[j]);
            shared += u64::from(left == right);
            i += usize::from(left <= right);
            j += usize::from(right <= left);
        }
        (shared, (a.len() + b.len()) as u64 - shared)
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.grams.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grams(words: &[&str]) -> Grams {
        let hashes: Vec<u64> = words.iter().map(|word| hash::word(word.as_bytes())).collect();
        let mut grams = Grams::default();
        grams.fill(&hashes);
        grams
    }

    #[test]
    fn repeated_grams_count_once() {
        let rose = grams(&["a", "rose", "is", "a", "rose", "is", "a", "rose", "is"]);
        assert_eq!(rose.grams.len(), 3);
        assert_eq!(rose.compare(&grams(&["a", "rose", "is", "a", "rose"])), (1, 3));
    }

    #[test]
    fn short_pages_are_one_gram_and_empty_ones_none() {
        assert_eq!(grams(&["one"]).grams, [hash::word(b"one")]);
        assert_eq!(grams(&["one", "two"]).grams.len(), 1);
        assert_eq!(grams(&[]).grams.len(), 0);
    }
}

//! What profile `web` would see of a page: its words and their 5-grams, by the project's hashes.
//!
//! Words of spaced scripts are words. A run of characters of unspaced scripts gives its overlapping bigrams, a
//! run of one character that character. Grams are hashed from the XXH3-64 values of their words:
//! H = sum of x(w_i) B^(n-i), gram = mix(H + n * golden); a page of under five words is one gram.

use xxhash_rust::xxh3::xxh3_64;

use crate::lexicon::Lexicon;
use crate::prose::{Mark, Prose};
use crate::random::{GOLDEN, mix};

/// Words in a gram.
pub(crate) const WIDTH: usize = 5;
const BASE: u64 = 0xd6e8_feb8_6659_fd93;

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
        self.words.extend(bigrams.map(|(start, end)| xxh3_64(&self.run.as_bytes()[start..end])));
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
        let width = words.len().min(WIDTH);
        if width == 0 {
            return;
        }
        let power = (0..width).fold(1u64, |power, _| power.wrapping_mul(BASE));
        let mut sum = 0u64;
        for (index, &word) in words.iter().enumerate() {
            sum = sum.wrapping_mul(BASE).wrapping_add(word);
            if let Some(left) = index.checked_sub(width) {
                sum = sum.wrapping_sub(words[left].wrapping_mul(power));
            }
            if index + 1 >= width {
                self.grams.push(finish(sum, width as u64));
            }
        }
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

/// A gram of one word is that word's hash.
fn finish(sum: u64, width: u64) -> u64 {
    if width == 1 { sum } else { mix(sum.wrapping_add(width.wrapping_mul(GOLDEN))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grams(words: &[&str]) -> Grams {
        let hashes: Vec<u64> = words.iter().map(|word| xxh3_64(word.as_bytes())).collect();
        let mut grams = Grams::default();
        grams.fill(&hashes);
        grams
    }

    #[test]
    fn a_rolling_gram_equals_one_computed_alone() {
        let words = ["a", "rose", "is", "a", "flower", "after", "all"];
        let mut alone: Vec<u64> = words.windows(WIDTH).map(|window| grams(window).grams[0]).collect();
        alone.sort_unstable();
        assert_eq!(grams(&words).grams, alone);
    }

    #[test]
    fn repeated_grams_count_once() {
        let rose = grams(&["a", "rose", "is", "a", "rose", "is", "a", "rose", "is"]);
        assert_eq!(rose.grams.len(), 3);
        assert_eq!(rose.compare(&grams(&["a", "rose", "is", "a", "rose"])), (1, 3));
    }

    #[test]
    fn short_pages_are_one_gram_and_empty_ones_none() {
        assert_eq!(grams(&["one"]).grams, [xxh3_64(b"one")]);
        assert_eq!(grams(&["one", "two"]).grams.len(), 1);
        assert_eq!(grams(&[]).grams.len(), 0);
    }
}

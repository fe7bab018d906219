//! The words of each of the randomised lexicons of I-Match.
//!
//! A set of lexicons is a number: bit 0 stands for the whole lexicon, bit i for the ith randomised one.

use lookalike_hash as hash;

use super::range::Range;
use crate::Lexicon;

/// The most randomised lexicons: with the whole one they fill a number of 64 bits.
pub(super) const MAX_LEXICONS: usize = 63;

/// Probability that one of so many randomised lexicons lacks all words that were changed, each of them with probability
/// `part`: so often a signature survives.
pub(crate) fn stability(part: f64, changes: i32, lexicons: usize) -> f64 {
    1.0 - (1.0 - part.powi(changes)).powi(lexicons as i32)
}

/// Drops a part of all words from each of several lexicons, each time by another hash function: nothing is stored, and
/// the same words are dropped everywhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordDropout {
    lexicons: usize,
    /// Hashes below it are dropped.
    limit: u64,
    salt: u64,
}

impl WordDropout {
    /// Drops words from this many lexicons with probability `part` each.
    pub(crate) fn new(lexicons: usize, part: f64, salt: u64) -> Self {
        WordDropout { lexicons, limit: (part * 2f64.powi(64)) as u64, salt }
    }

    /// True when lexicon `index` has the word; 0 is the whole lexicon.
    #[inline]
    pub(crate) fn keeps(&self, index: usize, word: u64) -> bool {
        index == 0 || hash::nth(index as u64, word ^ self.salt) >= self.limit
    }

    /// The lexicons that have the word.
    pub(super) fn lexicons(&self, word: u64) -> u64 {
        (0..=self.lexicons).fold(0, |set, index| set | u64::from(self.keeps(index, word)) << index)
    }
}

/// Lexicons that were drawn from the whole one with replacement, each as often as that has words.
#[derive(Debug)]
pub(super) struct Bootstrap {
    /// A bit for each lexicon, in some bytes for each word of the whole one.
    membership: Vec<u8>,
    stride: usize,
}

impl Bootstrap {
    /// Draws this many lexicons from the words of `lexicon` that are in the range.
    pub(super) fn draw(lexicon: &Lexicon, range: &Range, lexicons: usize, salt: u64) -> Self {
        let stride = lexicons.div_ceil(8);
        let mut membership = vec![0; stride * lexicon.len()];
        let candidates: Vec<u32> = (0..lexicon.len())
            .filter(|&index| range.contains(lexicon.counts(index).documents))
            .map(|index| index as u32)
            .collect();
        for index in 0..lexicons {
            for draw in 0..candidates.len() {
                let random = hash::nth(index as u64 + 1, hash::mix(draw as u64 ^ salt));
                let drawn = ((u128::from(random) * candidates.len() as u128) >> 64) as usize;
                membership[candidates[drawn] as usize * stride + index / 8] |= 1 << (index % 8);
            }
        }
        Bootstrap { membership, stride }
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.membership.capacity() as u64
    }

    /// The lexicons that have the word at this index.
    pub(super) fn lexicons(&self, word_index: usize) -> u64 {
        let membership = &self.membership[word_index * self.stride..][..self.stride];
        membership.iter().rev().fold(0, |set, &byte| set << 8 | u64::from(byte)) << 1 | 1
    }
}

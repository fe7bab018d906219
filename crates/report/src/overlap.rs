//! The overlap of two documents, in shingles and in characters.

use lookalike_hash::Grams;
use lookalike_text::Features;
use serde::Serialize;

/// Shingles of two documents, and those in both.
///
/// ```
/// use lookalike_report::Overlap;
///
/// let overlap = Overlap { a: 8, b: 4, shared: 3 };
/// assert_eq!(overlap.jaccard(), Some(3.0 / 9.0));
/// assert_eq!((overlap.of_a(), overlap.of_b()), (Some(0.375), Some(0.75)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Overlap {
    /// Distinct shingles of the first document.
    pub a: u64,
    /// Distinct shingles of the second.
    pub b: u64,
    /// Those in both.
    pub shared: u64,
}

impl Overlap {
    /// Counts the shingles of `shingle` words. Fewer words than that are one shingle, no words none. Both were read under one secret.
    pub fn of(a: &Features, b: &Features, shingle: usize) -> Self {
        let set = |features: &Features| -> Vec<u64> {
            let mut set: Vec<u64> = Grams::new(features.secret_hashes(), shingle).collect();
            set.sort_unstable();
            set.dedup();
            set
        };
        let (left, right) = (set(a), set(b));
        let shared = left.iter().filter(|hash| right.binary_search(hash).is_ok()).count();
        Overlap { a: left.len() as u64, b: right.len() as u64, shared: shared as u64 }
    }

    /// Shared shingles over all shingles; nothing for two documents without words.
    pub fn jaccard(self) -> Option<f64> {
        share(self.shared, self.a + self.b - self.shared)
    }

    /// Returns the share of the first document's shingles that the second has.
    pub fn of_a(self) -> Option<f64> {
        share(self.shared, self.a)
    }

    /// Returns the share of the second document's shingles that the first has.
    pub fn of_b(self) -> Option<f64> {
        share(self.shared, self.b)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Beyond this many pairs of characters the measurement takes seconds and is left out.
const MOST_CELLS: u64 = 1 << 34;

/// Beyond this many words of 64 bits, 64 MiB, too: only a text of very many different characters needs so many.
const MOST_MEMORY: usize = 1 << 23;

/// `2·LCS / (n+m)` on the characters of the words with one blank between words.
///
/// Nothing for two documents without words, and for documents that differ in stretches so long that measuring
/// would take seconds.
pub fn edit_similarity(a: &Features, b: &Features) -> Option<f64> {
    let (a, b) = (characters(a), characters(b));
    let prefix = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (left, right) = (&a[prefix..], &b[prefix..]);
    let suffix = left.iter().rev().zip(right.iter().rev()).take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[..left.len() - suffix], &right[..right.len() - suffix]);
    let (short, long) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    if short.len() as u64 * long.len() as u64 > MOST_CELLS {
        return None;
    }
    let common = prefix + suffix + longest_common_subsequence(short, long)?;
    share(2 * common as u64, (a.len() + b.len()) as u64)
}

fn characters(features: &Features) -> Vec<char> {
    let mut out = Vec::new();
    for (position, word) in features.words().enumerate() {
        out.extend((position > 0).then_some(' '));
        out.extend(word.chars());
    }
    out
}

/// The length of the longest common subsequence, 64 cells of the table at a time (Hyyrö 2004): a bit of `row` is
/// clear where the length grows. Nothing when the bits of `a` would not fit into the memory allowed.
fn longest_common_subsequence(a: &[char], b: &[char]) -> Option<usize> {
    let positions = CharacterPositions::of(a)?;
    let mut row = vec![u64::MAX; a.len().div_ceil(64)];
    for c in b {
        let Some(matches) = positions.get(*c) else { continue };
        let mut carry = false;
        for (block, matched) in row.iter_mut().zip(matches) {
            let grown = *block & matched;
            let (sum, first) = block.overflowing_add(grown);
            let (sum, second) = sum.overflowing_add(carry.into());
            carry = first || second;
            *block = sum | (*block - grown);
        }
    }
    Some((0..a.len()).filter(|position| row[position / 64] >> (position % 64) & 1 == 0).count())
}

/// For every character of a text the places it stands at, as bits.
struct CharacterPositions {
    characters: Vec<char>,
    bits: Vec<Vec<u64>>,
}

impl CharacterPositions {
    fn of(text: &[char]) -> Option<Self> {
        let mut characters = text.to_vec();
        characters.sort_unstable();
        characters.dedup();
        let blocks = text.len().div_ceil(64);
        if blocks * characters.len() > MOST_MEMORY {
            return None;
        }
        let mut bits = vec![vec![0; blocks]; characters.len()];
        for (position, c) in text.iter().enumerate() {
            let index = characters.binary_search(c).expect("every character is listed");
            bits[index][position / 64] |= 1 << (position % 64);
        }
        Some(CharacterPositions { characters, bits })
    }

    fn get(&self, c: char) -> Option<&[u64]> {
        self.characters.binary_search(&c).ok().map(|index| &*self.bits[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_hash::Secret;
    use lookalike_text::{Analyser, Profile};
    use proptest::prelude::*;

    fn read(text: &str) -> Features {
        let mut features = Features::default();
        Analyser::with_secret(&Profile::web(), Secret::of_process()).read(text, &mut features);
        features
    }

    /// The table of the textbook.
    fn plain(a: &[char], b: &[char]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                table[i + 1][j + 1] =
                    if x == y { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        table[a.len()][b.len()]
    }

    #[test]
    fn shingles_are_counted_once() {
        let overlap = Overlap::of(&read("a b c d a b c d"), &read("x a b c d y"), 3);
        assert_eq!(overlap, Overlap { a: 4, b: 4, shared: 2 });
        assert_eq!(Overlap::of(&read("one"), &read("one"), 5), Overlap { a: 1, b: 1, shared: 1 });
        assert_eq!(Overlap::of(&read(""), &read("."), 5).jaccard(), None);
    }

    #[test]
    fn edit_similarity_looks_at_characters() {
        assert_eq!(edit_similarity(&read("Kitten!"), &read("kitten")), Some(1.0));
        // sitting and kitten share i, t, t and n.
        assert_eq!(edit_similarity(&read("kitten"), &read("sitting")), Some(8.0 / 13.0));
        assert_eq!(edit_similarity(&read(""), &read("")), None);
        assert_eq!(edit_similarity(&read(""), &read("x")), Some(0.0));
    }

    proptest! {
        #[test]
        fn bits_and_table_agree(a in "[abcé]{0,200}", b in "[abcé]{0,200}") {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            prop_assert_eq!(longest_common_subsequence(&a, &b), Some(plain(&a, &b)));
        }
    }
}

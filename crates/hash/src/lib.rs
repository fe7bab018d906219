//! The hash functions that everything derived from words rests on, and that files are checked by.
//!
//! - [`word`]: `x(w)`, XXH3-64 with seed 0 of the word's UTF-8
//! - [`mix`]: a bijection of 64-bit values that spreads every input bit over the output
//! - [`nth`]: the family `h_i(v) = mix(v XOR mix(i + GOLDEN))`, so one pass over the bytes serves any number of
//!   hash functions
//! - [`gram`], [`Grams`], [`WrappedGrams`]: windows of `n` words, hashed from the word hashes in constant
//!   time per step: `H = Σ x(w_i)·BASE^(n−i)`, `gram = mix(H + n·GOLDEN)`; a window of one word is the word's own hash
//!
//! - [`digest`], [`sum`]: of strings and of blocks of files
//! - [`words()`], [`mixed`], [`append_sorted`], [`append_set`]: many hashes at once, by the instructions that [`cpu`] finds
//! - [`random`]: random numbers that follow from a seed
//!
//! All are part of the file formats: changing one changes every stored sketch. Whoever knows them can make two words
//! meet; whatever must not be deceived by that goes by a [`Secret`].

pub mod cpu;
mod long;
mod many;
pub mod random;
mod secret;
mod sort;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use long::digest as digest_of_words;
pub use long::{RunningSum, sum};
pub use many::mixed;
pub use secret::Secret;
pub use sort::{SortBuffers, append_set, append_sorted};
pub use words::{LongWords, TextWords, WordHashes, words};
use xxhash_rust::xxh3;

/// 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Multiplier of the rolling polynomial.
const BASE: u64 = 0xd6e8_feb8_6659_fd93;

/// The multipliers of [`mix`].
const MIX_1: u64 = 0xbf58_476d_1ce4_e5b9;
const MIX_2: u64 = 0x94d0_49bb_1331_11eb;

/// The hash `x` of a word.
#[inline]
pub fn word(word: &[u8]) -> u64 {
    xxh3::xxh3_64(word)
}

/// 128 bits that tell strings apart, unless somebody made them to meet: see [`Secret::digest`].
pub fn digest(bytes: &[u8]) -> u128 {
    xxh3::xxh3_128(bytes)
}

/// Spreads every bit of `z` over the whole result; no two inputs give the same one.
#[inline]
pub fn mix(z: u64) -> u64 {
    // The last step of SplitMix64. A product carries bits upwards only, so a shift brings the upper ones down
    // before each. Every step can be undone: an XOR with its own higher bits, and a product with an odd
    // number.
    let z = (z ^ (z >> 30)).wrapping_mul(MIX_1);
    let z = (z ^ (z >> 27)).wrapping_mul(MIX_2);
    z ^ (z >> 31)
}

/// The `i`th function of the family, applied to the hash `value`; `i` counts from 1, 0 is the identity.
#[inline]
pub fn nth(i: u64, value: u64) -> u64 {
    if i == 0 { value } else { mix(value ^ key_of(i)) }
}

/// Returns the key that the `i`th function of the family XORs a value with before it is mixed:
/// `nth(i, v) = mix(v XOR key_of(i))`, for `i` from 1.
#[inline]
pub fn key_of(i: u64) -> u64 {
    mix(i.wrapping_add(GOLDEN))
}

/// The hash of one window of words, given their hashes.
pub fn gram(words: &[u64]) -> u64 {
    match words {
        [single] => *single,
        _ => finish(polynomial(words), words.len()),
    }
}

#[inline]
fn polynomial(words: &[u64]) -> u64 {
    words.iter().fold(0, |sum: u64, &word| sum.wrapping_mul(BASE).wrapping_add(word))
}

#[inline]
fn finish(sum: u64, n: usize) -> u64 {
    mix(sum.wrapping_add((n as u64).wrapping_mul(GOLDEN)))
}

/// The hashes of all windows of `n` consecutive words, in order, each in constant time.
///
/// Under `n` words the whole sequence is the one window; without words there is none.
///
/// ```
/// use lookalike_hash::{word, Grams};
///
/// let rose: Vec<u64> = "a rose is a rose is a rose".split(' ').map(|w| word(w.as_bytes())).collect();
/// let mut shingles: Vec<u64> = Grams::new(&rose, 4).collect();
/// assert_eq!(shingles.len(), 5);
/// shingles.sort_unstable();
/// shingles.dedup();
/// assert_eq!(shingles.len(), 3);
/// ```
#[derive(Debug, Clone)]
pub struct Grams<'w> {
    words: &'w [u64],
    n: usize,
    /// End of the next window.
    end: usize,
    /// Polynomial of the words before `end`, without the last of the next window.
    sum: u64,
    /// `BASE^n`, to take the leaving word out.
    power: u64,
}

impl<'w> Grams<'w> {
    /// The windows of `n` of these `words`; `n` = 0 is read as 1.
    pub fn new(words: &'w [u64], n: usize) -> Self {
        let n = n.max(1).min(words.len().max(1));
        let first = words.len().min(n - 1);
        let power = (0..n).fold(1u64, |power, _| power.wrapping_mul(BASE));
        Grams { words, n, end: n, sum: polynomial(&words[..first]), power }
    }

    /// Appends the next windows to `out`, at most so many: faster than one by one.
    pub fn take_into(&mut self, most: usize, out: &mut Vec<u64>) {
        let most = most.min(self.len());
        out.reserve(most);
        let first = self.end - self.n;
        let done = many::grams(&self.words[first..first + most + self.n - 1], self.n, out);
        if done > 0 {
            // Windows that were not rolled have left no sum behind to roll on from.
            self.end += done;
            self.sum = polynomial(&self.words[self.end - 1 - self.n..self.end - 1]);
        }
        self.roll_into(most - done, out);
    }

    /// Appends the next windows, of which there are so many.
    fn roll_into(&mut self, mut windows: usize, out: &mut Vec<u64>) {
        // No word leaves before the first window; and single words are no windows.
        if self.end == self.n || self.n == 1 {
            let before = if self.n == 1 { windows } else { windows.min(1) };
            out.extend(self.take(before));
            windows -= before;
        }
        if windows == 0 {
            return;
        }
        let entering = &self.words[self.end - 1..][..windows];
        let leaving = &self.words[self.end - 1 - self.n..][..windows];
        let (mut sum, power, n) = (self.sum, self.power, self.n);
        // As in `next`. A window waits for the sum before it: one product and one addition, since what enters
        // and leaves is computed aside.
        out.extend(entering.iter().zip(leaving).map(|(&entering, &leaving)| {
            sum = sum.wrapping_mul(BASE).wrapping_add(entering.wrapping_sub(leaving.wrapping_mul(power)));
            finish(sum, n)
        }));
        self.sum = sum;
        self.end += windows;
    }
}

impl Iterator for Grams<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let entering = *self.words.get(self.end - 1)?;
        self.sum = self.sum.wrapping_mul(BASE).wrapping_add(entering);
        // The word that leaves was multiplied by the base once for each word that came since. All of it is
        // modulo 2^64, where a difference is exact: no error builds up, however long the text.
        if let Some(before) = self.end.checked_sub(self.n + 1) {
            self.sum = self.sum.wrapping_sub(self.words[before].wrapping_mul(self.power));
        }
        self.end += 1;
        Some(if self.n == 1 { entering } else { finish(self.sum, self.n) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.words.len() + 1).saturating_sub(self.end);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Grams<'_> {}

/// Like [`Grams`], but the sequence is closed to a ring: as many windows as words.
///
/// Under `n` words there is one window, the whole sequence: words are not repeated to fill it.
#[derive(Debug, Clone)]
pub struct WrappedGrams<'w> {
    inner: Grams<'w>,
    /// The windows that cross the end, when there are enough words for one.
    start: usize,
}

impl<'w> WrappedGrams<'w> {
    /// The windows of `n` of these `words`, around the end.
    pub fn new(words: &'w [u64], n: usize) -> Self {
        let inner = Grams::new(words, n);
        let enough = words.len() >= n.max(1);
        let start = if enough { words.len() + 1 - inner.n } else { words.len() };
        WrappedGrams { inner, start }
    }
}

impl Iterator for WrappedGrams<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if let Some(gram) = self.inner.next() {
            return Some(gram);
        }
        let Grams { words, n, .. } = self.inner;
        let tail = words.get(self.start..).filter(|tail| !tail.is_empty())?;
        self.start += 1;
        let ring = tail.iter().chain(&words[..n - tail.len()]);
        Some(finish(ring.fold(0, |sum: u64, &word| sum.wrapping_mul(BASE).wrapping_add(word)), n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<u64> {
        text.split_whitespace().map(|text| word(text.as_bytes())).collect()
    }

    fn distinct(grams: impl Iterator<Item = u64>) -> usize {
        grams.collect::<std::collections::BTreeSet<_>>().len()
    }

    #[test]
    fn published_vectors() {
        assert_eq!(word(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(word(b"a"), 0xe6c6_32b6_1e96_4e1f);
        assert_eq!(word(b"rose"), 0xd6ea_2b8b_8a72_aca7);
        assert_eq!(nth(1, word(b"a")), 0x5d49_693b_c9de_4912);
        assert_eq!(nth(1, word(b"rose")), 0x5679_44f9_7fc5_3e49);
        assert_eq!(gram(&words("a rose")), 0x11e0_317b_df27_dfe9);
        assert_eq!(gram(&words("a rose is a")), 0xa422_f167_885d_123b);
    }

    #[test]
    fn digests_named_by_the_papers() {
        use md5::Digest;
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let rose = b"a rose is a rose is a rose";
        assert_eq!(hex(&md5::Md5::digest(b"abc")), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(hex(&md5::Md5::digest(b"")), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex(&md5::Md5::digest(rose)), "f3c367b8595d5b6934c88731fc4440e8");
        assert_eq!(crc32fast::hash(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32fast::hash(b"abc"), 0x3524_41c2);
        assert_eq!(crc32fast::hash(rose), 0x8657_6da3);
        assert_eq!(hex(&sha1::Sha1::digest(b"garden rose")), "ddac195b4a9c8a16aa2940402e070c656e9bc9bf");
    }

    #[test]
    fn shingles_of_the_rose() {
        let rose = words("a rose is a rose is a rose");
        assert_eq!(rose.len(), 8);
        assert_eq!(Grams::new(&rose, 4).len(), 5);
        assert_eq!(distinct(Grams::new(&rose, 4)), 3);
        assert_eq!(WrappedGrams::new(&rose, 4).count(), 8);
        assert_eq!(distinct(WrappedGrams::new(&rose, 4)), 6);
        let expected: std::collections::BTreeSet<u64> = ["a rose is a", "rose is a rose", "is a rose is"]
            .into_iter()
            .chain(["is a rose a", "a rose a rose", "rose a rose is"])
            .map(|shingle| gram(&words(shingle)))
            .collect();
        assert_eq!(WrappedGrams::new(&rose, 4).collect::<std::collections::BTreeSet<_>>(), expected);
    }

    #[test]
    fn shingles_of_the_menu() {
        let menu = words("spam spam spam lovely spam wonderful spam lovely spam");
        assert_eq!(menu.len(), 9);
        assert_eq!(Grams::new(&menu, 2).len(), 8);
        assert_eq!(distinct(Grams::new(&menu, 2)), 5);
        assert_eq!(WrappedGrams::new(&menu, 2).count(), 9);
        assert_eq!(distinct(WrappedGrams::new(&menu, 2)), 5);
    }

    #[test]
    fn few_words_make_one_window() {
        let two = words("lone rose");
        assert_eq!(Grams::new(&two, 5).collect::<Vec<_>>(), [gram(&two)]);
        assert_eq!(WrappedGrams::new(&two, 5).collect::<Vec<_>>(), [gram(&two)]);
        assert_eq!(Grams::new(&two[..1], 5).collect::<Vec<_>>(), [two[0]]);
        assert_eq!(Grams::new(&[], 5).count(), 0);
        assert_eq!(WrappedGrams::new(&[], 5).count(), 0);
        assert_eq!(Grams::new(&two, 0).collect::<Vec<_>>(), two);
    }

    proptest! {
        #[test]
        fn rolling_equals_hashing_every_window(words: Vec<u64>, n in 1usize..12) {
            let rolled: Vec<u64> = Grams::new(&words, n).collect();
            let plain: Vec<u64> = match words.len() {
                0 => vec![],
                few if few < n => vec![gram(&words)],
                _ => words.windows(n).map(gram).collect(),
            };
            prop_assert_eq!(rolled, plain);
        }

        #[test]
        fn windows_taken_together_equal_those_one_by_one(
            words in prop::collection::vec(any::<u64>(), 0..300),
            n in 1usize..20,
            parts in prop::collection::vec(0usize..120, 0..6),
        ) {
            let mut grams = Grams::new(&words, n);
            let mut together = Vec::new();
            for part in parts {
                grams.take_into(part, &mut together);
                together.extend(grams.next());
            }
            grams.take_into(usize::MAX, &mut together);
            prop_assert_eq!(together, Grams::new(&words, n).collect::<Vec<_>>());
        }

        #[test]
        fn wrapping_equals_doubling_the_sequence(words in prop::collection::vec(any::<u64>(), 1..40), n in 1usize..12) {
            let wrapped: Vec<u64> = WrappedGrams::new(&words, n).collect();
            let plain: Vec<u64> = if words.len() < n {
                vec![gram(&words)]
            } else {
                let doubled: Vec<u64> = words.iter().chain(&words).copied().collect();
                doubled.windows(n).take(words.len()).map(gram).collect()
            };
            prop_assert_eq!(wrapped, plain);
        }
    }
}

//! A filter that excludes keys from a set: a lookup in memory saves a read from a file, or the work on a key that nothing else has.
//!
//! A Bloom filter in words of 64 bits: a key sets five bits of one word, with about twelve bits for each key. About one in a
//! hundred absent keys passes the filter; it costs a read and changes no result.

use lookalike_hash as hash;

/// Bits for each key.
const BITS_PER_KEY: u64 = 12;
/// Bits that a key sets.
const BITS_SET: u32 = 5;

/// A Bloom filter. Its words are part of the files of an index: which bits a key sets must stay as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BloomFilter {
    words: Vec<u64>,
}

impl BloomFilter {
    /// Returns an empty filter for this number of keys.
    pub fn new(keys: u64) -> Self {
        BloomFilter::within(keys, u64::MAX)
    }

    /// Returns an empty filter for this number of keys that takes at most so many bytes: with fewer bits for each key, more absent keys
    /// pass.
    pub fn within(keys: u64, most_bytes: u64) -> Self {
        let words = (keys * BITS_PER_KEY).div_ceil(64).min(most_bytes / 8).max(1);
        BloomFilter { words: vec![0; words as usize] }
    }

    /// Returns the filter with these words, as read from a file.
    pub fn of(words: Vec<u64>) -> Self {
        BloomFilter { words }
    }

    /// The words, to be written to a file.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }

    /// The word of a key, and its bits there.
    #[inline]
    fn position(&self, key: u64) -> (usize, u64) {
        let mixed = hash::mix(key);
        let word = (u128::from(mixed) * self.words.len() as u128) >> 64;
        let bits = hash::mix(mixed);
        let bit = |number: u32| 1u64 << (bits >> (6 * number) & 63);
        (word as usize, (0..BITS_SET).map(bit).fold(0, std::ops::BitOr::bitor))
    }

    /// Adds a key.
    #[inline]
    pub fn add(&mut self, key: u64) {
        let (word, bits) = self.position(key);
        self.words[word] |= bits;
    }

    /// False for a key that was not added.
    #[inline]
    pub fn may_contain(&self, key: u64) -> bool {
        let (word, bits) = self.position(key);
        self.words.get(word).is_none_or(|word| word & bits == bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_passes_and_little_else_does() {
        for step in [1, 0x9e37_79b9_7f4a_7c15] {
            let key = |number: u64| number.wrapping_mul(step);
            let mut filter = BloomFilter::new(10_000);
            (0..10_000).for_each(|number| filter.add(key(number)));
            assert!((0..10_000).all(|number| filter.may_contain(key(number))));
            let others = (10_000..110_000).filter(|&number| filter.may_contain(key(number))).count();
            assert!(others < 3_000, "{others} of 100,000 other keys pass");
        }
    }

    #[test]
    fn a_filter_has_twelve_bits_for_each_key_and_is_never_empty() {
        let words = |keys| BloomFilter::new(keys).words().len();
        assert_eq!([0, 1, 5, 6, 16, 1_000].map(words), [1, 1, 1, 2, 3, 188]);
        assert_eq!(BloomFilter::new(1_000).bytes(), 8 * 188);
    }

    #[test]
    fn memory_bounds_a_filter_that_then_lets_more_through() {
        assert_eq!(BloomFilter::within(0, 0).words().len(), 1);
        assert_eq!(BloomFilter::within(1_000, u64::MAX), BloomFilter::new(1_000));
        let mut filter = BloomFilter::within(10_000, 4_000);
        assert_eq!(filter.bytes(), 4_000);
        (0..10_000).for_each(|key| filter.add(key));
        assert!((0..10_000).all(|key| filter.may_contain(key)));
    }

    #[test]
    fn a_filter_without_keys_passes_none() {
        let filter = BloomFilter::new(100);
        assert!(!(0..1_000).any(|key| filter.may_contain(key)));
    }

    #[test]
    fn a_key_sets_up_to_five_bits_of_one_word() {
        for key in [0, 1, 77, u64::MAX] {
            let mut filter = BloomFilter::new(100);
            filter.add(key);
            let bits: Vec<u32> = filter.words().iter().map(|word| word.count_ones()).collect();
            assert_eq!(bits.iter().filter(|&&bits| bits > 0).count(), 1, "{key}");
            assert!((1..=5).contains(&bits.iter().sum::<u32>()), "{key}: {bits:?}");
        }
    }

    #[test]
    fn a_filter_that_was_read_passes_what_the_written_one_passed() {
        let mut written = BloomFilter::new(50);
        (0..50).for_each(|key| written.add(key * key));
        let read = BloomFilter::of(written.words().to_vec());
        assert_eq!(read, written);
        assert!((0..5_000).all(|key| read.may_contain(key) == written.may_contain(key)));
    }

    #[test]
    fn a_filter_of_no_words_excludes_nothing() {
        assert!((0..100).all(|key| BloomFilter::of(Vec::new()).may_contain(key)));
    }
}

//! Counters of two bits each, shared by all threads: none, one, two or more.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters in a word.
const COUNTERS_PER_WORD: u64 = 32;

/// A table of counters; hashes share counters, so that a count may be too high and is never too low.
#[derive(Debug)]
pub(super) struct Counters {
    /// The number of counters, as a power of two.
    bits: u32,
    words: OnceLock<Box<[AtomicU64]>>,
}

impl Counters {
    /// At least 2^5 counters, all at none. They take memory when they are first used.
    pub(super) fn new(bits: u32) -> Self {
        Counters { bits, words: OnceLock::new() }
    }

    /// The table itself, a word for every 32 counters.
    pub(super) fn words(&self) -> &[AtomicU64] {
        self.words
            .get_or_init(|| (0..(1u64 << self.bits) / COUNTERS_PER_WORD).map(|_| AtomicU64::new(0)).collect())
    }

    /// The word of a hash, and where in it its counter is.
    fn word_and_shift(&self, hash: u64) -> (usize, u64) {
        let slot = hash & ((1 << self.bits) - 1);
        ((slot / COUNTERS_PER_WORD) as usize, slot % COUNTERS_PER_WORD * 2)
    }

    /// Counts one more, up to two.
    pub(super) fn add(&self, hash: u64) {
        let (word, shift) = self.word_and_shift(hash);
        let more = |counters: u64| (counters >> shift & 3 < 2).then(|| counters + (1 << shift));
        let _ = self.words()[word].fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }

    /// Adds the words of another table, counter by counter, up to two.
    pub(super) fn merge(&self, others: impl Iterator<Item = u64>) {
        const LOW: u64 = 0x5555_5555_5555_5555;
        for (word, other) in self.words().iter().zip(others) {
            let one = word.load(Ordering::Relaxed);
            // Two if either is two, or both are one; else one if either is.
            let two = (one | other) >> 1 & LOW | one & other & LOW;
            word.store(two << 1 | (one | other) & LOW & !two, Ordering::Relaxed);
        }
    }

    /// True for what was counted twice or more.
    pub(super) fn repeated(&self, hash: u64) -> bool {
        let (word, shift) = self.word_and_shift(hash);
        self.words.get().is_some_and(|words| words[word].load(Ordering::Relaxed) >> shift & 3 == 2)
    }

    /// Sets all counters to none.
    pub(super) fn clear(&self) {
        self.words.get().into_iter().flatten().for_each(|word| word.store(0, Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_stop_at_two() {
        let counters = Counters::new(6);
        for hash in 0..64u64 {
            (0..hash % 5).for_each(|_| counters.add(hash + 64));
        }
        for hash in 0..64 {
            assert_eq!(counters.repeated(hash), hash % 5 >= 2, "{hash}");
        }
        counters.clear();
        assert!((0..64).all(|hash| !counters.repeated(hash)));
    }

    #[test]
    fn tables_are_added_counter_by_counter() {
        let [sum, more] = [0, 1].map(|_| Counters::new(6));
        for hash in 0..9u64 {
            (0..hash / 3).for_each(|_| sum.add(hash));
            (0..hash % 3).for_each(|_| more.add(hash));
        }
        sum.merge(more.words().iter().map(|word| word.load(Ordering::Relaxed)));
        for hash in 0..9 {
            assert_eq!(sum.repeated(hash), hash / 3 + hash % 3 >= 2, "{hash}");
            sum.add(hash);
            assert_eq!(sum.repeated(hash), hash / 3 + hash % 3 >= 1, "{hash}");
        }
    }

    #[test]
    fn threads_lose_no_count() {
        let counters = Counters::new(10);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..1024).for_each(|hash| counters.add(hash)));
            }
        });
        assert!((0..1024).all(|hash| counters.repeated(hash)));
    }
}

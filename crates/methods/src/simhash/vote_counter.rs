//! Vote counters: from n-grams to a fingerprint of several words.
//!
//! N-grams are gathered until a block is full, and then hashed and counted together. Both steps are compiled several
//! times, for processors with narrow and with wide instructions, and chosen when the program runs: what is shipped is as
//! fast as what is built for one machine, and all of them come to the same numbers.

use lookalike_hash as hash;
use lookalike_hash::cpu::Cpu;

use super::MAX_WORDS;
use super::votes::{BLOCK, BitCounts, Votes};
use crate::seed;

/// Some n-grams.
type Block = [u64; BLOCK];

/// Votes for a fingerprint of several words. Used again for one document after the other.
#[derive(Debug)]
pub(super) struct BitVoteCounter {
    votes: [Votes; MAX_WORDS],
    /// The counted votes of each word of the fingerprint.
    counts: [BitCounts; MAX_WORDS],
    fingerprint: [u64; MAX_WORDS],
    width: usize,
    /// The bits of the last word that are looked at.
    last: u64,
    salt: u64,
    cpu: Cpu,
    /// Windows on their way into the block.
    windows: Vec<u64>,
    /// N-grams that are not yet counted, and how much each weighs if they have weights.
    block: Block,
    weights: Block,
    filled: usize,
    weighted: bool,
    /// Of all n-grams.
    weight: u64,
}

impl Default for BitVoteCounter {
    fn default() -> Self {
        BitVoteCounter {
            votes: Default::default(),
            counts: Default::default(),
            fingerprint: [0; MAX_WORDS],
            width: 0,
            last: 0,
            salt: 0,
            cpu: Cpu::detect(),
            windows: Vec::new(),
            block: [0; BLOCK],
            weights: [0; BLOCK],
            filled: 0,
            weighted: false,
            weight: 0,
        }
    }
}

impl BitVoteCounter {
    /// Forgets the last document; the next one gets a fingerprint of so many bits.
    pub(super) fn begin(&mut self, bits: usize, salt: u64) {
        // Minus the number of bits, modulo 64, are the bits that the last word has too many; none where it is
        // full.
        (self.width, self.last) = (bits.div_ceil(64), u64::MAX >> (bits.wrapping_neg() % 64));
        (self.salt, self.filled, self.weight, self.weighted) = (salt, 0, 0, false);
        self.votes.iter_mut().for_each(Votes::clear);
    }

    /// Adds every window of `n` words, or of all if they are fewer.
    pub(super) fn add_windows(&mut self, words: &[u64], n: usize) {
        let mut grams = hash::Grams::new(words, n);
        while grams.len() > 0 {
            // As many as make the block full: windows are hashed many at a time, into a buffer.
            let taken = (BLOCK - self.filled).min(grams.len());
            self.windows.clear();
            grams.take_into(taken, &mut self.windows);
            self.block[self.filled..][..taken].copy_from_slice(&self.windows);
            self.weight += taken as u64;
            self.advance(taken);
        }
    }

    /// Adds one n-gram `weight` times. A counter takes n-grams either with weights or without.
    #[inline]
    pub(super) fn add_weighted(&mut self, feature: u64, weight: u64) {
        self.weighted = true;
        (self.block[self.filled], self.weights[self.filled]) = (feature, weight);
        self.weight += weight;
        self.advance(1);
    }

    #[inline]
    fn advance(&mut self, by: usize) {
        self.filled += by;
        if self.filled == BLOCK {
            self.flush();
        }
    }

    /// Counts what was gathered.
    fn flush(&mut self) {
        let (votes, filled) = (&mut self.votes[..self.width], std::mem::take(&mut self.filled));
        // What is left in the block from before must not vote. A weight of 0 sees to that where there are
        // weights.
        if self.weighted {
            self.weights[filled..].fill(0);
            count_weighted(self.cpu, votes, &mut self.block, self.salt, &self.weights);
        } else {
            count(self.cpu, votes, &mut self.block, self.salt, filled);
        }
    }

    /// Ends the document; false when all of it weighs nothing.
    pub(super) fn end(&mut self) -> bool {
        self.flush();
        let width = self.width;
        total(self.cpu, &self.votes[..width], self.weight, &mut self.counts, &mut self.fingerprint);
        self.fingerprint[width..].fill(0);
        self.fingerprint[width - 1] &= self.last;
        self.weight > 0
    }

    /// The fingerprint of the document that has ended, with words of 0 behind it.
    pub(super) fn fingerprint(&self) -> [u64; MAX_WORDS] {
        self.fingerprint
    }

    /// By how much the votes for and against a bit differ.
    pub(super) fn margin(&self, bit: usize) -> u64 {
        self.counts[bit / 64].margin(bit % 64)
    }
}

/// Makes `$name` do what `$plain` does, compiled for each processor.
macro_rules! by_cpu {
    ($name:ident($($value:ident: $type:ty),*), $plain:ident) => {
        fn $name(cpu: Cpu, $($value: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2($($value: $type),*) {
                $plain($($value),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq")]
            fn avx512($($value: $type),*) {
                $plain($($value),*)
            }
            match cpu {
                // SAFETY: such a `Cpu` exists only where all that the function is built for was found.
                #[cfg(target_arch = "x86_64")]
                Cpu::Avx2(_) => unsafe { avx2($($value),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Cpu::Avx512(_) | Cpu::Avx512Vbmi2(_) => unsafe { avx512($($value),*) },
                _ => $plain($($value),*),
            }
        }
    };
}

by_cpu!(count(votes: &mut [Votes], block: &mut Block, salt: u64, filled: usize), count_ones);
by_cpu!(
    count_weighted(votes: &mut [Votes], block: &mut Block, salt: u64, weights: &Block),
    count_weights
);

by_cpu!(
    total(votes: &[Votes], weight: u64, counts: &mut [BitCounts; MAX_WORDS], fingerprint: &mut [u64; MAX_WORDS]),
    plain_total
);

/// Counts every word's votes, and what most of them are for.
#[inline(always)]
fn plain_total(
    votes: &[Votes],
    weight: u64,
    counts: &mut [BitCounts; MAX_WORDS],
    fingerprint: &mut [u64; MAX_WORDS],
) {
    for ((votes, count), word) in votes.iter().zip(counts).zip(fingerprint) {
        votes.count(weight, count);
        *word = count.majority();
    }
}

/// Adds the first `filled` n-grams of a block to the votes of every word.
#[inline(always)]
fn count_ones(votes: &mut [Votes], block: &mut Block, salt: u64, filled: usize) {
    salt_block(block, salt);
    let mut hashes = [0; BLOCK];
    for (function, votes) in (0..).zip(votes) {
        // One hash of an n-gram has 64 bits; each further word of the fingerprint is voted for by a function
        // of its own.
        let hashes = nth(function, block, &mut hashes);
        // A hash of 0 adds nothing to any counter, and the weight of all says how many hashes there were.
        hashes[filled..].fill(0);
        votes.add(0, hashes);
    }
}

/// Adds the n-grams of a block, each as often as its weight says.
#[inline(always)]
fn count_weights(votes: &mut [Votes], block: &mut Block, salt: u64, weights: &Block) {
    salt_block(block, salt);
    // A weight is a sum of powers of two. For each of its bits, all hashes whose weight has it are added on
    // that plane: as many additions as the largest weight has bits, not as large as it is.
    let highest = weights.iter().fold(0, |all, weight| all | weight);
    let (mut hashes, mut chosen) = ([0; BLOCK], [0; BLOCK]);
    for (function, votes) in (0..).zip(votes) {
        let hashes = nth(function, block, &mut hashes);
        for plane in 0..64 - highest.leading_zeros() as usize {
            // Those whose weight has this bit: it becomes a mask of all ones or none, so that nothing
            // branches.
            for index in 0..BLOCK {
                chosen[index] = hashes[index] & (weights[index] >> plane & 1).wrapping_neg();
            }
            votes.add(plane, &chosen);
        }
    }
}

/// XORing a salt alone would flip the same bits of all fingerprints, and change no distance: hence the mixing.
#[inline(always)]
fn salt_block(block: &mut Block, salt: u64) {
    if salt != 0 {
        block.iter_mut().for_each(|feature| *feature = seed::salted(*feature, salt));
    }
}

/// The hashes by one function of the family; the first leaves them as they are, and where they are.
#[inline(always)]
fn nth<'b>(function: u64, block: &'b mut Block, out: &'b mut Block) -> &'b mut Block {
    if function == 0 {
        return block;
    }
    for index in 0..BLOCK {
        out[index] = hash::nth(function, block[index]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Those that this processor has.
    fn counter(cpu: Cpu, bits: usize, salt: u64) -> BitVoteCounter {
        let mut counter = BitVoteCounter { cpu, ..BitVoteCounter::default() };
        counter.begin(bits, salt);
        counter
    }

    /// The votes for and against each bit, counted one by one.
    fn plain(features: &[(u64, u64)], bits: usize, salt: u64) -> Vec<i64> {
        let vote = |bit: usize, &(feature, weight): &(u64, u64)| {
            let hash = hash::nth(bit as u64 / 64, seed::salted(feature, salt));
            if hash >> (bit % 64) & 1 == 1 { weight as i64 } else { -(weight as i64) }
        };
        (0..bits).map(|bit| features.iter().map(|feature| vote(bit, feature)).sum()).collect()
    }

    fn check(
        mut counter: BitVoteCounter,
        votes: &[i64],
        bits: usize,
        any: bool,
    ) -> Result<(), TestCaseError> {
        prop_assert_eq!(counter.end(), any);
        let fingerprint = counter.fingerprint();
        for bit in 0..64 * MAX_WORDS {
            let vote = votes.get(bit).copied().unwrap_or(0);
            prop_assert_eq!(fingerprint[bit / 64] >> (bit % 64) & 1 == 1, vote > 0, "bit {}", bit);
            if bit < bits {
                prop_assert_eq!(counter.margin(bit), vote.unsigned_abs());
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn every_processor_counts_the_same(
            words in prop::collection::vec(any::<u64>(), 0..500),
            lengths in prop::collection::vec(1usize..20, 1..4),
            bits in 8usize..=64 * MAX_WORDS,
            salt: u64,
        ) {
            let fitting: Vec<usize> = lengths.iter().copied().filter(|&n| n <= words.len()).collect();
            let features: Vec<(u64, u64)> =
                fitting.iter().flat_map(|&n| words.windows(n).map(|window| (hash::gram(window), 1))).collect();
            let votes = plain(&features, bits, salt);
            for cpu in Cpu::available() {
                let mut counter = counter(cpu, bits, salt);
                fitting.iter().for_each(|&n| counter.add_windows(&words, n));
                check(counter, &votes, bits, !features.is_empty())?;
            }
        }

        #[test]
        fn every_processor_weighs_the_same(
            features in prop::collection::vec((any::<u64>(), 0u64..3000), 0..300),
            bits in 8usize..=64 * MAX_WORDS,
            salt in 0u64..2,
        ) {
            let votes = plain(&features, bits, salt);
            let any = features.iter().any(|&(_, weight)| weight > 0);
            for cpu in Cpu::available() {
                let mut counter = counter(cpu, bits, salt);
                features.iter().for_each(|&(feature, weight)| counter.add_weighted(feature, weight));
                check(counter, &votes, bits, any)?;
            }
        }
    }

    #[test]
    fn a_counter_is_used_again() {
        let mut counter = counter(Cpu::detect(), 64, 0);
        counter.add_weighted(u64::MAX, 5);
        assert!(counter.end() && counter.fingerprint() == [u64::MAX, 0, 0, 0, 0, 0]);
        counter.begin(64, 0);
        counter.add_windows(&[3], 1);
        assert!(counter.end() && counter.fingerprint() == [3, 0, 0, 0, 0, 0]);
        counter.begin(64, 0);
        assert!(!counter.end());
    }
}

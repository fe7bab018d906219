//! Hashes that tell equal things from different ones, also where somebody made the input for them to meet.
//!
//! [`word`](super::word) and all that rests on it are fixed for ever, since sketches are files. Whoever knows them finds two
//! words with one hash in seconds. That is harmless where hashes propose: what is proposed wrongly is measured. Whatever
//! measures or decides goes by a [`Secret`], drawn at random for a job or an index: the input was there before it, so
//! nothing in it can be fitted to it. No result shows which secret it was: counts of equal things are the same for all.
//!
//! - Words of up to eight bytes are one number, which a bijection spreads: two of them never meet, whatever the secret.
//! - Longer words are multilinear sums: the upper half of `k + Σ k_i·piece_i mod 2^128` for random `k` is strongly universal,
//!   so that two words meet with a probability of 2^-64, and longer ones than 120 bytes with 2^-64 for each such stretch.
//!   The same bijection hides what is linear in them from the polynomial that windows are hashed by.
//! - Sequences go through 32 lanes, each a chain of bijections, so that sequences with one difference in a lane never meet
//!   there, and others by chance alone; XXH3-128 of the lanes is their digest.
//!
//! The secret of a job, and of a comparison of addresses, stands in the manifest of its folder, that of an index in the
//! index's manifest, and that of a run on Spark in its work folder; else it is the secret of the process. Shingles, equal
//! documents, groups of `--within`, ids and addresses are compared by it, and nothing is ordered or sampled by it. Both
//! hashes of a word are made in one pass.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use super::{GOLDEN, long, mix};
use crate::cpu::Cpu;

/// Pieces of eight bytes that are summed up together.
const PIECES: usize = 15;

/// Lanes that a sequence of words goes through.
const LANES: usize = 32;

/// A secret that equal words, documents and names are told by. See the module's documentation.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    seed: u128,
    pub(super) start: u64,
    /// Odd, so that multiplication loses nothing.
    pub(super) factors: [u64; 3],
    /// Odd.
    chain: u64,
    /// The start of a sum, and the multipliers of the length, of the sum before and of the pieces.
    sums: [[u128; PIECES + 3]; 2],
    /// The start of a sum with lengths of 9 to 16, in the order of their low three bits: the low halves, and the high ones.
    pub(super) of_lengths: [[u64; 8]; 2],
}

/// Nobody should find it in a log.
impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// The secret that a seed stands for; [`Secret::seed`] gives it back.
    pub fn new(seed: u128) -> Self {
        // SplitMix64 over both halves of the seed. Each number depends on both.
        let (low, high) = (seed as u64, (seed >> 64) as u64);
        let mut number = 0u64;
        let mut next = || {
            number = number.wrapping_add(GOLDEN);
            mix(mix(low.wrapping_add(number)) ^ mix(high ^ number))
        };
        let (start, chain) = (next(), next() | 1);
        let factors = std::array::from_fn(|_| next() | 1);
        let mut wide = || u128::from(next()) << 64 | u128::from(next());
        let sums: [[u128; PIECES + 3]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| wide()));
        let [begin, by_length, ..] = sums[0];
        let of_length = |low_bits: usize| {
            let length = if low_bits == 0 { 16 } else { 8 + low_bits };
            begin.wrapping_add(by_length.wrapping_mul(length as u128))
        };
        let of_lengths = [0, 64].map(|shift| std::array::from_fn(|bits| (of_length(bits) >> shift) as u64));
        Secret { seed, start, factors, chain, sums, of_lengths }
    }

    /// A new secret, from the randomness of the operating system.
    pub fn random() -> Self {
        let random = RandomState::new();
        Secret::new(u128::from(random.hash_one(0)) << 64 | u128::from(random.hash_one(1)))
    }

    /// The secret of this process, for whatever is measured and forgotten.
    pub fn of_process() -> &'static Self {
        static SECRET: OnceLock<Secret> = OnceLock::new();
        SECRET.get_or_init(Secret::random)
    }

    /// The seed of the secret.
    pub fn seed(&self) -> u128 {
        self.seed
    }

    /// The hash of a word, or of any other bytes.
    #[inline]
    pub fn hash(&self, bytes: &[u8]) -> u64 {
        match bytes.len() {
            0..=8 => self.spread(number(bytes)),
            // Most of the longer words.
            9..=16 => self.spread(self.sum_of_two(bytes)),
            _ => self.spread(self.sum(&self.sums[0], bytes)),
        }
    }

    /// 128 bits that tell strings apart.
    pub fn digest(&self, bytes: &[u8]) -> u128 {
        let [one, two] = &self.sums;
        u128::from(self.sum(one, bytes)) << 64 | u128::from(self.sum(two, bytes))
    }

    /// 128 bits that tell sequences of hashes apart, which must be [hashes](Secret::hash) by the same secret.
    pub fn digest_of(&self, hashes: &[u64]) -> u128 {
        self.digest_on(Cpu::detect(), hashes)
    }

    fn digest_on(&self, cpu: Cpu, hashes: &[u64]) -> u128 {
        let mut all = [0; LANES + 1];
        let lanes = match cpu {
            // SAFETY: such a `Cpu` exists only where all that the function is built for was found.
            #[cfg(target_arch = "x86_64")]
            Cpu::Avx512(_) | Cpu::Avx512Vbmi2(_) => unsafe { lanes_avx512(self.chain, hashes) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Cpu::Avx2(_) => unsafe { lanes_avx2(self.chain, hashes) },
            _ => lanes(self.chain, hashes),
        };
        all[..LANES].copy_from_slice(&lanes);
        all[LANES] = hashes.len() as u64;
        long::digest(&all)
    }

    /// A bijection: no two numbers become one.
    #[inline]
    pub(super) fn spread(&self, number: u64) -> u64 {
        let [one, two, three] = self.factors;
        // As in `mix`: odd factors and shifts, each of which can be undone. `words.rs` has the same in
        // vectors.
        let z = (number ^ self.start).wrapping_mul(one);
        let z = (z ^ z >> 32).wrapping_mul(two);
        let z = (z ^ z >> 29).wrapping_mul(three);
        z ^ z >> 32
    }

    /// The [sum](Secret::sum) of nine to sixteen bytes, without a loop.
    #[inline]
    fn sum_of_two(&self, bytes: &[u8]) -> u64 {
        let [low, high] = self.of_lengths.map(|of_lengths| u128::from(of_lengths[bytes.len() % 8]));
        let (sum, [one, two]) = (high << 64 | low, self.two_pieces());
        let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else { return 0 };
        let sum = sum.wrapping_add(one.wrapping_mul(u64::from_le_bytes(*first).into()));
        (sum.wrapping_add(two.wrapping_mul(u64::from_le_bytes(*last).into())) >> 64) as u64
    }

    /// The multipliers of the first two pieces.
    #[inline]
    pub(super) fn two_pieces(&self) -> [u128; 2] {
        let [_, _, _, one, two, ..] = self.sums[0];
        [one, two]
    }

    /// The upper half of the multilinear sum of some bytes and their length, stretch by stretch. Bytes behind the last whole piece are
    /// taken as the last eight bytes of all, some of them a second time: with the length no two strings have the same pieces.
    #[inline]
    fn sum(&self, keys: &[u128; PIECES + 3], bytes: &[u8]) -> u64 {
        let [start, by_length, by_before, by_piece @ ..] = keys;
        let mut sum = start.wrapping_add(by_length.wrapping_mul(bytes.len() as u128));
        // Only the upper half of a sum is returned: its lowest bit hangs on the lowest bits of the pieces
        // alone, while the upper half is strongly universal.
        let Some(last) = bytes.last_chunk::<8>() else {
            return (sum.wrapping_add(by_piece[0].wrapping_mul(number(bytes).into())) >> 64) as u64;
        };
        let times = |key: u128, piece: &[u8; 8]| key.wrapping_mul(u64::from_le_bytes(*piece).into());
        // All but the last piece, which may be one of the whole ones: the byte that is left out keeps a
        // length that is a multiple of eight from being summed up twice.
        let (whole, _) = bytes[..bytes.len() - 1].as_chunks::<8>();
        let mut at = 0;
        for piece in whole {
            if at == PIECES {
                // No key left: the hash of what was summed up so far is the first piece of the next stretch.
                sum = start.wrapping_add(by_before.wrapping_mul(sum >> 64));
                at = 0;
            }
            sum = sum.wrapping_add(times(by_piece[at], piece));
            at += 1;
        }
        if at == PIECES {
            sum = start.wrapping_add(by_before.wrapping_mul(sum >> 64));
            at = 0;
        }
        (sum.wrapping_add(times(by_piece[at], last)) >> 64) as u64
    }
}

/// Up to eight bytes as a number, no two alike: behind them stands a byte that no UTF-8 has.
#[inline]
fn number(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    if bytes.len() < 8 {
        eight[bytes.len()] = END;
    }
    u64::from_le_bytes(eight)
}

/// The padding behind words of less than eight bytes.
pub(super) const END: u8 = 0xff;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn lanes_avx512(chain: u64, hashes: &[u64]) -> [u64; LANES] {
    lanes(chain, hashes)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn lanes_avx2(chain: u64, hashes: &[u64]) -> [u64; LANES] {
    lanes(chain, hashes)
}

/// The lanes behind all hashes; the last ones are filled up with zeros.
#[inline(always)]
fn lanes(chain: u64, hashes: &[u64]) -> [u64; LANES] {
    // A step waits for the product of the one before it, in its own lane. Four vectors of eight lanes, or
    // eight of four, are enough for the others to be computed meanwhile.
    let mut lanes = [chain; LANES];
    let mut step = |hashes: &[u64; LANES]| {
        for (lane, &hash) in lanes.iter_mut().zip(hashes) {
            // Without the shift a lane would be a polynomial modulo 2^64. Sequences are known that meet under
            // every one of these, whatever the factor.
            *lane = (*lane ^ *lane >> 32).wrapping_mul(chain).wrapping_add(hash);
        }
    };
    let (whole, rest) = hashes.as_chunks::<LANES>();
    whole.iter().for_each(&mut step);
    if !rest.is_empty() {
        // Zeros at the end are no words: the digest has the number of words beside the lanes.
        let mut last = [0; LANES];
        last[..rest.len()].copy_from_slice(rest);
        step(&last);
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word;
    use proptest::prelude::*;

    /// Words that XXH3-64 takes for one.
    const FORGED: [[&str; 2]; 3] =
        [["wriktxd", "fyzeoz6y"], ["suecore", "xr7x9smu"], ["bnlbnwl", "og0s2tjb"]];

    #[test]
    fn words_that_are_forged_for_the_fixed_hash_do_not_meet() {
        for [one, two] in FORGED {
            assert_eq!(word(one.as_bytes()), word(two.as_bytes()));
            let secret = Secret::random();
            assert_ne!(secret.hash(one.as_bytes()), secret.hash(two.as_bytes()));
            assert_ne!(secret.digest(one.as_bytes()), secret.digest(two.as_bytes()));
        }
    }

    proptest! {
        #[test]
        fn different_bytes_have_different_hashes(a in "[a-c\0é]{0,20}|[a-c\0é]{0,260}", b in "[a-c\0é]{0,260}", seed: u128) {
            let secret = Secret::new(seed);
            prop_assert_eq!(a == b, secret.hash(a.as_bytes()) == secret.hash(b.as_bytes()));
            prop_assert_eq!(a == b, secret.digest(a.as_bytes()) == secret.digest(b.as_bytes()));
            if (9..=16).contains(&a.len()) {
                prop_assert_eq!(secret.sum_of_two(a.as_bytes()), secret.sum(&secret.sums[0], a.as_bytes()));
            }
            prop_assert_eq!(Secret::new(secret.seed()), secret);
        }

        #[test]
        fn every_processor_digests_alike(hashes in prop::collection::vec(any::<u64>(), 0..300), seed: u128) {
            let secret = Secret::new(seed);
            for cpu in Cpu::available() {
                prop_assert_eq!(secret.digest_on(cpu, &hashes), secret.digest_on(Cpu::Portable, &hashes));
            }
        }

        #[test]
        fn sequences_are_told_apart(
            words in prop::collection::vec(0u8..3, 1..200),
            swaps in prop::collection::vec(any::<[prop::sample::Index; 2]>(), 0..3),
            more in prop::collection::vec(0u8..3, 0..2),
            seed: u128,
        ) {
            let secret = Secret::new(seed);
            let digest = |words: &[u8]| {
                let hashes: Vec<u64> = words.iter().map(|&word| secret.hash(&[b'a' + word])).collect();
                secret.digest_of(&hashes)
            };
            let mut other = words.clone();
            swaps.iter().for_each(|[a, b]| other.swap(a.index(words.len()), b.index(words.len())));
            other.extend(more);
            prop_assert_eq!(words == other, digest(&words) == digest(&other));
        }
    }

    #[test]
    fn a_sequence_against_polynomials_is_told_apart() {
        // Of two letters by the parity of bits: modulo 2^64 it meets its opposite under every polynomial.
        let secret = Secret::random();
        let [a, b] = [secret.hash(b"a"), secret.hash(b"b")];
        let sequence = |turned: u32| -> Vec<u64> {
            (0..LANES as u32 * 4096)
                .map(|place| if (place / LANES as u32).count_ones() % 2 == turned { a } else { b })
                .collect()
        };
        assert_ne!(secret.digest_of(&sequence(0)), secret.digest_of(&sequence(1)));
    }

    #[test]
    fn secrets_differ() {
        assert_ne!(Secret::random(), Secret::random());
        assert_ne!(Secret::new(1).hash(b"rose"), Secret::new(1 << 64).hash(b"rose"));
        assert_eq!(Secret::new(7).hash(b"rose"), Secret::new(7).hash(b"rose"));
        assert_eq!(format!("{:?}", Secret::new(7)), "Secret");
    }
}

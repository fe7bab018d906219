//! Many hashes at once, where the processor can multiply eight numbers of 64 bits at a time; one at a time elsewhere,
//! which is faster there.

use super::mix;
#[cfg(target_arch = "x86_64")]
use super::{BASE, GOLDEN, MIX_1, MIX_2};
use crate::cpu::Cpu;

/// Windows that are hashed together: what fits into registers. Powers of `BASE` begin anew with each such
/// group, so that they are the same few constants for all groups.
const BATCH: usize = 32;

/// Longer windows are rolled: a window reaches no further than into the next lanes here.
const LONGEST: usize = 9;

/// Appends the hashes of windows of `n` words, as many groups of them as fit into `words`; returns how many windows.
/// None where one at a time is faster.
pub(super) fn grams(words: &[u64], n: usize, out: &mut Vec<u64>) -> usize {
    if !(2..=LONGEST).contains(&n) {
        return 0;
    }
    match Cpu::detect() {
        // SAFETY: such a `Cpu` exists only where all that the function is built for was found.
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx512(_) | Cpu::Avx512Vbmi2(_) => unsafe { grams_avx512(words, n, out) },
        _ => 0,
    }
}

/// The powers of `base`, from 1.
#[cfg(target_arch = "x86_64")]
const fn powers<const N: usize>(base: u64) -> [u64; N] {
    let mut powers = [1; N];
    let mut index = 1;
    while index < N {
        powers[index] = base.wrapping_mul(powers[index - 1]);
        index += 1;
    }
    powers
}

/// `INVERSE * BASE` is 1: each step makes twice as many bits of it right.
#[cfg(target_arch = "x86_64")]
const INVERSE: u64 = {
    // Newton's iteration. An odd number is its own inverse in the three lowest bits; five steps make 96 of
    // these, and 64 are wanted.
    let (mut inverse, mut step) = (BASE, 0);
    while step < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(BASE.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
};

/// Every word of a group is multiplied once, by `BASE` to the power of minus its place. A window is then a plain sum,
/// which one more multiplication by a power of `BASE` turns into what it would be at the front: two multiplications in
/// place of one for every word but the first.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn grams_avx512(words: &[u64], n: usize, out: &mut Vec<u64>) -> usize {
    use std::arch::x86_64::*;

    use super::x86::{all, multiply};

    const LANES: usize = 8;
    const PARTS: usize = BATCH / LANES;
    static DOWN: [u64; BATCH + LANES] = powers(INVERSE);
    static UP: [u64; BATCH + LANES] = powers(BASE);
    assert!((2..=LONGEST).contains(&n));
    let groups = (words.len() + 1).saturating_sub(n) / BATCH;
    out.reserve(groups * BATCH);
    let length = all((n as u64).wrapping_mul(GOLDEN));
    // SAFETY: there are `BATCH + LANES` powers, which are those of `PARTS + 1` parts.
    let down: [__m512i; PARTS + 1] =
        std::array::from_fn(|part| unsafe { _mm512_loadu_si512(DOWN.as_ptr().add(part * LANES).cast()) });
    // SAFETY: the last part ends with power `BATCH + n - 2`, and `n` is at most 9: see the assertion.
    let up: [__m512i; PARTS] = std::array::from_fn(|part| unsafe {
        _mm512_loadu_si512(UP.as_ptr().add(part * LANES + n - 1).cast())
    });
    let lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    for group in 0..groups {
        let words = &words[group * BATCH..][..BATCH + n - 1];
        // SAFETY: the group has `BATCH` words and `n - 1` more, one to eight. All parts but the last are
        // among the former; of the last one only as many lanes are read as there are words more.
        let word: [__m512i; PARTS + 1] = std::array::from_fn(|part| unsafe {
            let at = words.as_ptr().add(part * LANES).cast();
            let mask = if part < PARTS { !0 } else { !(!0 << (n - 1)) as u8 };
            _mm512_maskz_loadu_epi64(mask, at)
        });
        // The word at place `p` times `BASE^-p`.
        let word: [__m512i; PARTS + 1] = std::array::from_fn(|part| multiply(word[part], down[part]));
        let mut sums: [__m512i; PARTS] = std::array::from_fn(|part| word[part]);
        for next in 1..n {
            // Eight words from place `next` of a part on, of which the last ones are in the part behind it.
            // Four sums are added to in turn, so that none waits for the addition before.
            let places = _mm512_add_epi64(lanes, all(next as u64));
            for (part, sum) in sums.iter_mut().enumerate() {
                let words = _mm512_permutex2var_epi64(word[part], places, word[part + 1]);
                *sum = _mm512_add_epi64(*sum, words);
            }
        }
        for (sum, up) in sums.into_iter().zip(up) {
            // The window that begins at place `p` still lacks a factor of `BASE^(p + n - 1)`. What follows is
            // `finish`.
            let z = _mm512_add_epi64(multiply(sum, up), length);
            let z = multiply(_mm512_xor_si512(z, _mm512_srli_epi64::<30>(z)), all(MIX_1));
            let z = multiply(_mm512_xor_si512(z, _mm512_srli_epi64::<27>(z)), all(MIX_2));
            let z = _mm512_xor_si512(z, _mm512_srli_epi64::<31>(z));
            // SAFETY: there is room for the windows of all groups behind what was there, and eight numbers
            // are written before they count.
            unsafe {
                _mm512_storeu_si512(out.as_mut_ptr().add(out.len()).cast(), z);
                out.set_len(out.len() + LANES);
            }
        }
    }
    groups * BATCH
}

/// Replaces `out` with [`mix`]`(value ^ key)` of all values.
pub fn mixed(values: &[u64], key: u64, out: &mut Vec<u64>) {
    out.clear();
    match Cpu::detect() {
        // Built for AVX-512 the loop becomes vectors by itself. AVX2 has no product of 64 bits, and three of
        // 32 in its place are no faster than one number at a time.
        // SAFETY: such a `Cpu` exists only where all that the function is built for was found.
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx512(_) | Cpu::Avx512Vbmi2(_) => unsafe { mixed_avx512(values, key, out) },
        _ => mixed_on(values, key, out),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
fn mixed_avx512(values: &[u64], key: u64, out: &mut Vec<u64>) {
    mixed_on(values, key, out);
}

#[inline(always)]
fn mixed_on(values: &[u64], key: u64, out: &mut Vec<u64>) {
    out.extend(values.iter().map(|&value| mix(value ^ key)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn windows_together_are_those_one_by_one(words in prop::collection::vec(any::<u64>(), 0..200), n in 2..=LONGEST) {
            let plain: Vec<u64> = words.windows(n).map(gram).collect();
            let mut together = vec![7];
            let count = grams(&words, n, &mut together);
            let all = if Cpu::detect().has_avx512() { plain.len() / BATCH * BATCH } else { 0 };
            prop_assert_eq!(count, all);
            prop_assert_eq!(&together[1..], &plain[..count]);
        }

        #[test]
        fn mixed_values_are_those_one_by_one(values: Vec<u64>, key: u64) {
            let mut out = vec![1, 2];
            mixed(&values, key, &mut out);
            prop_assert_eq!(out, values.iter().map(|&value| mix(value ^ key)).collect::<Vec<_>>());
        }
    }
}

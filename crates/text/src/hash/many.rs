//! Many hashes at once, where the processor can multiply eight numbers of 64 bits at a time; one at a time elsewhere,
//! which is faster there.

use super::mix;
#[cfg(target_arch = "x86_64")]
use super::{BASE, GOLDEN, MIX_1, MIX_2};
use crate::cpu::Cpu;

/// Windows that are hashed together: what fits into registers.
const TOGETHER: usize = 32;

/// Longer windows are rolled: every word of a window costs a multiplication here.
const LONGEST: usize = 12;

/// Appends the hashes of windows of `n` words, as many groups of them as fit into `words`; returns how many windows.
/// None where one at a time is faster.
pub(super) fn grams(words: &[u64], n: usize, out: &mut Vec<u64>) -> usize {
    if !(2..=LONGEST).contains(&n) {
        return 0;
    }
    match Cpu::here() {
        // SAFETY: there is no such processor here unless it was found to have what the function is built for.
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx512 => unsafe { grams_avx512(words, n, out) },
        _ => 0,
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn grams_avx512(words: &[u64], n: usize, out: &mut Vec<u64>) -> usize {
    use std::arch::x86_64::*;

    use super::x86::{all, multiply};

    const LANES: usize = 8;
    let groups = (words.len() + 1).saturating_sub(n) / TOGETHER;
    let (base, length) = (all(BASE), all((n as u64).wrapping_mul(GOLDEN)));
    for group in 0..groups {
        let words = &words[group * TOGETHER..][..TOGETHER + n - 1];
        // SAFETY: the group has the words of all its windows, the last of which ends with them.
        let load = |lane: usize, next: usize| unsafe {
            _mm512_loadu_si512(words.as_ptr().add(lane * LANES + next).cast())
        };
        let mut sums: [__m512i; TOGETHER / LANES] = std::array::from_fn(|lane| load(lane, 0));
        for next in 1..n {
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum = _mm512_add_epi64(multiply(*sum, base), load(lane, next));
            }
        }
        let mut hashes = [0u64; TOGETHER];
        for (sum, hashes) in sums.iter().zip(hashes.as_chunks_mut::<LANES>().0) {
            let z = _mm512_add_epi64(*sum, length);
            let z = multiply(_mm512_xor_si512(z, _mm512_srli_epi64::<30>(z)), all(MIX_1));
            let z = multiply(_mm512_xor_si512(z, _mm512_srli_epi64::<27>(z)), all(MIX_2));
            let z = _mm512_xor_si512(z, _mm512_srli_epi64::<31>(z));
            // SAFETY: eight numbers.
            unsafe { _mm512_storeu_si512(hashes.as_mut_ptr().cast(), z) };
        }
        out.extend_from_slice(&hashes);
    }
    groups * TOGETHER
}

/// Replaces `out` with [`mix`]`(value ^ key)` of all values.
pub fn mixed(values: &[u64], key: u64, out: &mut Vec<u64>) {
    out.clear();
    match Cpu::here() {
        // SAFETY: there is no such processor here unless it was found to have what the function is built for.
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx512 => unsafe { mixed_avx512(values, key, out) },
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
    use crate::hash::gram;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn windows_together_are_those_one_by_one(words in prop::collection::vec(any::<u64>(), 0..200), n in 2..LONGEST) {
            let plain: Vec<u64> = words.windows(n).map(gram).collect();
            let mut together = vec![7];
            let count = grams(&words, n, &mut together);
            let all = if Cpu::here() == Cpu::Avx512 { plain.len() / TOGETHER * TOGETHER } else { 0 };
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

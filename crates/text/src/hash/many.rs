//! Many hashes at once. The loops are plain; built for AVX-512, which multiplies eight numbers of 64 bits at a time,
//! they take a third of the time. Processors without such a multiplication are faster with one number at a time.

use super::{BASE, finish, mix};
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
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
fn grams_avx512(words: &[u64], n: usize, out: &mut Vec<u64>) -> usize {
    grams_on(words, n, out)
}

#[inline(always)]
fn grams_on(words: &[u64], n: usize, out: &mut Vec<u64>) -> usize {
    let groups = (words.len() + 1).saturating_sub(n) / TOGETHER;
    for group in 0..groups {
        let words = &words[group * TOGETHER..][..TOGETHER + n - 1];
        let mut sums: [u64; TOGETHER] = *words.first_chunk().expect("a group has so many words");
        for next in 1..n {
            for (sum, &word) in sums.iter_mut().zip(&words[next..next + TOGETHER]) {
                *sum = sum.wrapping_mul(BASE).wrapping_add(word);
            }
        }
        for sum in &mut sums {
            *sum = finish(*sum, n);
        }
        out.extend_from_slice(&sums);
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
            let count = grams_on(&words, n, &mut together);
            prop_assert_eq!(count, plain.len() / TOGETHER * TOGETHER);
            prop_assert_eq!(&together[1..], &plain[..count]);
            let mut here = Vec::new();
            let count = grams(&words, n, &mut here);
            prop_assert_eq!(&here[..], &plain[..count]);
        }

        #[test]
        fn mixed_values_are_those_one_by_one(values: Vec<u64>, key: u64) {
            let mut out = vec![1, 2];
            mixed(&values, key, &mut out);
            prop_assert_eq!(out, values.iter().map(|&value| mix(value ^ key)).collect::<Vec<_>>());
        }
    }
}

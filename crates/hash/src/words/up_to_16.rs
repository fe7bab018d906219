//! The hashes of words of 9 to 16 bytes, eight at a time.
//!
//! Both hashes take such a word as two numbers, its first eight bytes and its last eight, and multiply them to 128 bits. Vectors
//! have no such product; it is put together from four of 32 bits. One by one, these words took as much time as all shorter ones,
//! though only one in eight is so long.

use std::arch::x86_64::*;

use super::super::x86::{all, multiply};
use super::x86::spread_eight;
use super::{PaddedText, Secret, WordHashes};

/// The constants that XXH3 mixes into the first and the last eight bytes: from its published secret, seed 0.
const FIRST_KEY: u64 = 0x1f67_b3b7_a4a4_4072 ^ 0x78e5_c0cc_4ee6_79cb;
const LAST_KEY: u64 = 0x2172_ffcc_7dd0_5a82 ^ 0x8e24_43f7_7446_08b8;

/// The factor of its last step. A shorter word has another, which differs in one digit.
const FACTOR: u64 = 0x1656_6791_9e37_79f9;

/// Eight words of 9 to 16 bytes.
struct Eight {
    first: __m512i,
    last: __m512i,
    length: __m512i,
}

/// Puts the hashes of words of 9 to 16 bytes in their places, as many as come in eights; returns how many. The lists must have places
/// for all words.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
pub(super) fn replace_eights(
    text: &PaddedText<'_>,
    WordHashes { fixed, secret }: &mut WordHashes<'_>,
    numbers: &[u32],
) -> usize {
    let (groups, _) = numbers.as_chunks::<8>();
    for numbers in groups {
        // SAFETY: eight numbers.
        let numbers = unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) };
        let words = read_eight(text, numbers);
        if let Some(fixed) = fixed {
            put_eight(fixed, numbers, xxh3_of_eight(&words));
        }
        if let Some((secret, hashes)) = secret {
            put_eight(hashes, numbers, secret_hash_of_eight(secret, &words));
        }
    }
    8 * groups.len()
}

/// Reads the words with these numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx2")]
fn read_eight(text: &PaddedText<'_>, numbers: __m256i) -> Eight {
    // Numbers are of words, and words are in the text. The gathers do not rely on that.
    let last_number = text.starts.len().min(text.ends.len()).saturating_sub(1);
    let numbers = _mm512_cvtepu32_epi64(_mm256_min_epu32(numbers, all_of_32(last_number)));
    let last_offset = all_of_32(text.last_offset() as usize);
    // SAFETY: no number is above that of the last word, of which there is one; no offset is above the length of the
    // text, and eight bytes behind the text were written and belong to what `first` points to.
    unsafe {
        let starts = _mm512_i64gather_epi32::<4>(numbers, text.starts.as_ptr().cast());
        let ends = _mm512_i64gather_epi32::<4>(numbers, text.ends.as_ptr().cast());
        let bytes_at = |offsets: __m256i| {
            let places = _mm512_cvtepu32_epi64(_mm256_min_epu32(offsets, last_offset));
            _mm512_i64gather_epi64::<1>(places, text.first.cast())
        };
        Eight {
            first: bytes_at(starts),
            last: bytes_at(_mm256_sub_epi32(ends, all_of_32(8))),
            length: _mm512_cvtepu32_epi64(_mm256_sub_epi32(ends, starts)),
        }
    }
}

/// The same number in all lanes; one of more than 32 bits is as good as the largest.
#[inline]
#[target_feature(enable = "avx2")]
fn all_of_32(value: usize) -> __m256i {
    _mm256_set1_epi32(u32::try_from(value).unwrap_or(u32::MAX).cast_signed())
}

/// Puts eight hashes in the places with these numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx2")]
fn put_eight(hashes: &mut [u64], numbers: __m256i, values: __m512i) {
    let places = _mm512_cvtepu32_epi64(numbers);
    let inside = _mm512_cmplt_epu64_mask(places, all(hashes.len() as u64));
    // SAFETY: only places inside the list are written.
    unsafe { _mm512_mask_i64scatter_epi64::<8>(hashes.as_mut_ptr().cast(), inside, places, values) };
}

/// The XXH3 hashes of eight words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn xxh3_of_eight(Eight { first, last, length }: &Eight) -> __m512i {
    let first = _mm512_xor_si512(*first, all(FIRST_KEY));
    let last = _mm512_xor_si512(*last, all(LAST_KEY));
    let reversed = _mm512_set_epi64(
        0x0809_0a0b_0c0d_0e0f,
        0x0001_0203_0405_0607,
        0x0809_0a0b_0c0d_0e0f,
        0x0001_0203_0405_0607,
        0x0809_0a0b_0c0d_0e0f,
        0x0001_0203_0405_0607,
        0x0809_0a0b_0c0d_0e0f,
        0x0001_0203_0405_0607,
    );
    let [low, high] = wide_product(first, last);
    let sum = _mm512_add_epi64(*length, _mm512_shuffle_epi8(first, reversed));
    let z = _mm512_add_epi64(_mm512_add_epi64(sum, last), _mm512_xor_si512(low, high));
    let z = multiply(_mm512_xor_si512(z, _mm512_srli_epi64::<37>(z)), all(FACTOR));
    _mm512_xor_si512(z, _mm512_srli_epi64::<32>(z))
}

/// The secret hashes of eight words, as in `Secret::hash`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn secret_hash_of_eight(secret: &Secret, Eight { first, last, length }: &Eight) -> __m512i {
    let [one, two] = secret.two_pieces();
    let ([low_one, high_one], [low_two, high_two]) =
        (wide_product(*first, all(one as u64)), wide_product(*last, all(two as u64)));
    // A permutation is a lookup by the low three bits of a length.
    // SAFETY: eight numbers each.
    let [low, high] = secret.of_lengths.each_ref().map(|of_lengths| unsafe {
        _mm512_permutexvar_epi64(*length, _mm512_loadu_si512(of_lengths.as_ptr().cast()))
    });
    let add = |sum: [__m512i; 2], low: __m512i, high: __m512i| {
        let sum_low = _mm512_add_epi64(sum[0], low);
        let carry = _mm512_cmplt_epu64_mask(sum_low, low);
        let sum_high = _mm512_add_epi64(sum[1], high);
        [sum_low, _mm512_mask_add_epi64(sum_high, carry, sum_high, all(1))]
    };
    let [_, sum] = add(add([low, high], low_one, high_one), low_two, high_two);
    // The upper halves of the keys reach the upper half of the sum alone.
    let sum = _mm512_add_epi64(sum, multiply(*first, all((one >> 64) as u64)));
    let sum = _mm512_add_epi64(sum, multiply(*last, all((two >> 64) as u64)));
    spread_eight(secret, sum)
}

/// Products of 128 bits: their low and their high halves.
#[inline]
#[target_feature(enable = "avx512f")]
fn wide_product(a: __m512i, b: __m512i) -> [__m512i; 2] {
    let upper = |value| _mm512_srli_epi64::<32>(value);
    // Of each lane the instruction multiplies the lower 32 bits.
    let low_low = _mm512_mul_epu32(a, b);
    let high_low = _mm512_mul_epu32(upper(a), b);
    let low_high = _mm512_mul_epu32(a, upper(b));
    let high_high = _mm512_mul_epu32(upper(a), upper(b));
    // None of these sums has more than 64 bits.
    let middle = _mm512_add_epi64(high_low, upper(low_low));
    let rest = _mm512_add_epi64(low_high, _mm512_and_si512(middle, all(0xffff_ffff)));
    let high = _mm512_add_epi64(high_high, _mm512_add_epi64(upper(middle), upper(rest)));
    // The lower 32 bits of `rest` above those of `low_low`.
    let low = _mm512_mask_shuffle_epi32::<_MM_PERM_CCAA>(low_low, 0xaaaa, rest);
    [low, high]
}

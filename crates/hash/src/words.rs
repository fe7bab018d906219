//! The hashes of all words of a text: several words at once where the processor can.
//!
//! Nearly all words have at most eight bytes, which XXH3 hashes in two ways, by length. A branch on the length cannot
//! be guessed, and costs more than the hash; so the steps of both ways are made one, with numbers chosen by length, in the lanes of a
//! vector or one by one. Longer words are noted and hashed at the end; those of up to 16 bytes apart from the others, in vectors as wide as AVX-512 has them or
//! one by one, so that here, too, no branch on a length has to be guessed.
//!
//! Fixed hashes and those by a [`Secret`] are made in one pass where both are wanted: the bytes of a word are at hand.

use xxhash_rust::xxh3;

use super::Secret;
use super::secret::END;
use crate::cpu::Cpu;

#[cfg(target_arch = "x86_64")]
mod up_to_16;

/// Bytes behind a text that may be read together with its last word: one load of eight bytes for every word,
/// however short, and no branch on how many bytes are left.
const PADDING: usize = 8;

/// The words of a text: the text, and the offsets at which each of them begins and ends.
#[derive(Debug)]
pub struct TextWords<'t> {
    /// The text. It may be given room behind its end, and stays as it is.
    pub text: &'t mut String,
    /// The offsets at which words begin.
    pub starts: &'t [u32],
    /// The offsets at which they end, as many.
    pub ends: &'t [u32],
    /// A buffer for the numbers of long words.
    pub long: &'t mut LongWords,
}

/// The numbers of the words that do not fit into the lanes of a vector.
#[derive(Debug, Clone, Default)]
pub struct LongWords {
    /// Words of 9 to 16 bytes, which most of them are.
    up_to_16: Vec<u32>,
    /// All longer ones.
    longer: Vec<u32>,
}

impl LongWords {
    /// Empties both lists and makes room for so many numbers in each. A list that is too small is not grown, which would
    /// copy what nobody wants any more.
    fn clear_and_reserve(&mut self, words: usize) {
        for list in [&mut self.up_to_16, &mut self.longer] {
            list.clear();
            if list.capacity() < words {
                *list = Vec::new();
                list.reserve_exact(words.next_power_of_two());
            }
        }
    }
}

/// The lists of hashes that are made of the words of a text: one or both.
#[derive(Debug)]
pub struct WordHashes<'h> {
    /// For the [fixed](crate::word) hashes.
    pub fixed: Option<&'h mut Vec<u64>>,
    /// For the hashes by a secret.
    pub secret: Option<(&'h Secret, &'h mut Vec<u64>)>,
}

/// Replaces lists of hashes with those of the words of a text.
///
/// # Panics
/// When there are not as many ends as starts, or a word is not inside the text.
pub fn words(words: TextWords<'_>, hashes: WordHashes<'_>) {
    words_on(Cpu::detect(), words, hashes);
}

fn words_on(cpu: Cpu, TextWords { text, starts, ends, long }: TextWords<'_>, mut hashes: WordHashes<'_>) {
    let words = starts.len();
    hashes.clear();
    long.clear_and_reserve(words);
    let text = PaddedText::new(text, starts, ends);
    let done = match cpu {
        // SAFETY: such a `Cpu` exists only where all that the function is built for was found.
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx512(_) | Cpu::Avx512Vbmi2(_) => unsafe { x86::eights(&text, &mut hashes, long) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(_) => unsafe { x86::fours(&text, &mut hashes, long) },
        _ => 0,
    };
    single::append(&text, done..words, &mut hashes, long);
    let replaced = match cpu {
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx512(_) | Cpu::Avx512Vbmi2(_) => unsafe {
            up_to_16::replace_eights(&text, &mut hashes, &long.up_to_16)
        },
        _ => 0,
    };
    for numbers in [&long.up_to_16[replaced..], &long.longer] {
        hashes.replace(&text, numbers);
    }
}

impl WordHashes<'_> {
    fn clear(&mut self) {
        self.fixed.iter_mut().for_each(|fixed| fixed.clear());
        self.secret.iter_mut().for_each(|(_, hashes)| hashes.clear());
    }

    /// Puts the hashes of some words in the place of what the lanes made of their first eight bytes.
    fn replace(&mut self, text: &PaddedText<'_>, numbers: &[u32]) {
        let words = numbers.iter().map(|&index| (index as usize, text.word(index as usize)));
        match (self.fixed.as_deref_mut(), &mut self.secret) {
            // Both hashes of a word at once: neither waits for the other, and the word is read once.
            (Some(fixed), Some((secret, hashes))) => {
                words.for_each(|(at, word)| {
                    (fixed[at], hashes[at]) = (xxh3::xxh3_64(word), secret.hash(word))
                });
            }
            (Some(fixed), None) => words.for_each(|(at, word)| fixed[at] = xxh3::xxh3_64(word)),
            (None, Some((secret, hashes))) => words.for_each(|(at, word)| hashes[at] = secret.hash(word)),
            (None, None) => {}
        }
    }
}

/// A text that can be read a little beyond its end.
struct PaddedText<'t> {
    bytes: &'t [u8],
    /// The first of them. Through it [`PADDING`] bytes behind the last one can be read, too, for as long as
    /// `bytes` is borrowed; a pointer that is made of the slice reaches no further than the slice.
    first: *const u8,
    starts: &'t [u32],
    ends: &'t [u32],
}

impl<'t> PaddedText<'t> {
    fn new(text: &'t mut String, starts: &'t [u32], ends: &'t [u32]) -> Self {
        text.reserve(PADDING);
        // SAFETY: only what is behind the string is written, and that does not become part of it.
        let bytes = unsafe { text.as_mut_vec() };
        bytes.spare_capacity_mut()[..PADDING].fill(std::mem::MaybeUninit::new(0));
        // The vector's own pointer is good for all of its capacity. Nobody can move or change what it points
        // to: the text is borrowed for as long as this lives.
        let first = bytes.as_ptr();
        assert!(starts.len() == ends.len() && ends.last().is_none_or(|&end| end as usize <= bytes.len()));
        PaddedText { bytes, first, starts, ends }
    }

    /// The last offset at which [`PADDING`] bytes can be read.
    fn last_offset(&self) -> u32 {
        u32::try_from(self.bytes.len()).unwrap_or(u32::MAX)
    }

    /// Eight bytes from an offset on, or from the end of the text where the offset is behind it.
    #[inline]
    fn eight_bytes(&self, offset: u32) -> u64 {
        // SAFETY: `PADDING` bytes behind the text can be read.
        let bytes =
            unsafe { self.first.add(offset.min(self.last_offset()) as usize).cast::<[u8; PADDING]>().read() };
        u64::from_le_bytes(bytes)
    }

    #[inline]
    fn word(&self, index: usize) -> &'t [u8] {
        &self.bytes[self.starts[index] as usize..self.ends[index] as usize]
    }
}

/// The constants that XXH3 mixes into words of up to three and of four to eight bytes: from its published secret, seed 0.
const UP_TO_3: u64 = 0x396c_feb8 ^ 0xbe4b_a423;
const UP_TO_8: u64 = 0x1cad_21f7_2c81_017c ^ 0xdb97_9083_e96d_d4de;
const PRIME_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME_MX: u64 = 0x9fb2_1c65_1e98_df25;

/// Masks for words of each length, and the padding behind them.
static WORD_MASKS: [u64; 8] = {
    let mut masks = [!0; 8];
    let mut length = 1;
    while length < 8 {
        masks[length] = !(!0 << (8 * length));
        length += 1;
    }
    masks
};
static PADDING_BYTES: [u64; 8] = {
    let mut padding = [0; 8];
    let mut length = 1;
    while length < 8 {
        padding[length] = (END as u64) << (8 * length);
        length += 1;
    }
    padding
};

/// Words one by one, where there are no vectors, and those that fill none.
mod single {
    use super::*;

    /// Appends the hashes of some words. The numbers of those that are too long go to `long`.
    pub(super) fn append(
        text: &PaddedText<'_>,
        words: std::ops::Range<usize>,
        WordHashes { fixed, secret }: &mut WordHashes<'_>,
        long: &mut LongWords,
    ) {
        let numbers = words.clone().map(|index| index as u32);
        let words = || text.starts[words.clone()].iter().zip(&text.ends[words.clone()]);
        for (number, (start, end)) in numbers.zip(words()) {
            match end.wrapping_sub(*start) {
                1..=8 => {}
                9..=16 => long.up_to_16.push(number),
                _ => long.longer.push(number),
            }
        }
        let first_eight =
            |(&start, &end): (&u32, &u32)| (text.eight_bytes(start), u64::from(end.wrapping_sub(start)));
        match (fixed.as_deref_mut(), secret) {
            // Both in one pass: the products of one are made while those of the other are waited for.
            (Some(fixed), Some((secret, hashes))) => {
                fixed.reserve(words().len());
                hashes.extend(words().map(first_eight).map(|(word, length)| {
                    fixed.push(xxh3_up_to_8(word, length));
                    secret_up_to_8(secret, word, length)
                }));
            }
            (Some(fixed), None) => {
                fixed.extend(words().map(first_eight).map(|(word, length)| xxh3_up_to_8(word, length)));
            }
            (None, Some((secret, hashes))) => {
                hashes.extend(
                    words().map(first_eight).map(|(word, length)| secret_up_to_8(secret, word, length)),
                );
            }
            (None, None) => {}
        }
    }

    /// The XXH3 hash of a word of one to eight bytes, given eight bytes from its first on; something for other lengths.
    #[inline]
    fn xxh3_up_to_8(word: u64, length: u64) -> u64 {
        // All ones for a length below four. Compilers make branches of choices between products, but not of masks.
        let short = 0u64.wrapping_sub(u64::from(length < 4));
        let either = |up_to_3: u64, up_to_8: u64| up_to_8 ^ (up_to_3 ^ up_to_8) & short;
        let from = |byte: u64| word >> (byte.wrapping_mul(8) & 63);
        let [last, middle] = [length.wrapping_sub(1), length / 2].map(|byte| from(byte) & 0xff);
        let up_to_3 = last | length << 8 | (word & 0xff) << 16 | middle << 24;
        // The last four bytes, and above them the first four.
        let up_to_8 = from(length.wrapping_sub(4)) & 0xffff_ffff | word << 32;
        let z = either(up_to_3 ^ UP_TO_3, up_to_8 ^ UP_TO_8);
        let z = z ^ (z.rotate_left(49) ^ z.rotate_left(24)) & !short;
        let z = z.wrapping_mul(either(PRIME_2, PRIME_MX));
        let z = z ^ (z >> (either(29, 35) & 63)).wrapping_add(length & !short);
        let z = z.wrapping_mul(either(PRIME_3, PRIME_MX));
        z ^ z >> (either(32, 28) & 63)
    }

    /// The hash by a secret of such a word.
    #[inline]
    fn secret_up_to_8(secret: &Secret, word: u64, length: u64) -> u64 {
        let length = length as usize % 8;
        secret.spread(word & WORD_MASKS[length] | PADDING_BYTES[length])
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::x86::{all, multiply as multiply_8};
    use super::*;

    /// The positions of a word's bytes that are hashed, by its length modulo 8; no byte where the highest bit is set.
    static BYTES: [u64; 8] = {
        let mut bytes = [0; 8];
        let mut length = 1;
        while length <= 8 {
            let (last, half) = (length as u8 - 1, length as u8 / 2);
            bytes[length % 8] = u64::from_le_bytes(match length {
                // XXH3 takes the last byte, the length, the first byte and the middle one. The length is in
                // `KEYS`, since a shuffle moves bytes of the word alone.
                ..4 => [last, 0x80, 0, half, 0x80, 0x80, 0x80, 0x80],
                // The last four bytes, and above them the first four; they overlap in words of less than
                // eight.
                _ => [last - 3, last - 2, last - 1, last, 0, 1, 2, 3],
            });
            length += 1;
        }
        bytes
    };

    /// The constants that are mixed into them, by the same index; those of words of up to three bytes include the
    /// length.
    static KEYS: [u64; 8] = {
        let mut keys = [UP_TO_8; 8];
        let mut length = 1;
        while length < 4 {
            keys[length] = UP_TO_3 ^ (length as u64) << 8;
            length += 1;
        }
        keys
    };

    /// Hashes eight words at a time, as many as there are; returns how many. The numbers of those that are too long go to
    /// `long`.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,popcnt")]
    pub(super) fn eights(
        text: &PaddedText<'_>,
        WordHashes { fixed, secret }: &mut WordHashes<'_>,
        long: &mut LongWords,
    ) -> usize {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        // Every word begins in the text. The gathers do not rely on that: to see to it costs one instruction
        // for all.
        let last_offset = _mm256_set1_epi32(text.last_offset().cast_signed());
        let (starts, ends) = (text.starts.as_chunks::<8>().0, text.ends.as_chunks::<8>().0);
        // Room for all at once: the loop stores through pointers, without a look at capacities.
        fixed.iter_mut().for_each(|fixed| fixed.reserve(8 * starts.len()));
        secret.iter_mut().for_each(|(_, hashes)| hashes.reserve(8 * starts.len()));
        for (group, (starts, ends)) in starts.iter().zip(ends).enumerate() {
            // Words begin anywhere, which a gather is made for. Two loads and a permutation in its place were
            // no faster.
            // SAFETY: eight numbers each; no offset is above the length of the text, and eight bytes behind
            // the text were written and belong to what `first` points to.
            let (length, word) = unsafe {
                let starts = _mm256_loadu_si256(starts.as_ptr().cast());
                let ends = _mm256_loadu_si256(ends.as_ptr().cast());
                let places = _mm512_cvtepu32_epi64(_mm256_min_epu32(starts, last_offset));
                let word = _mm512_i64gather_epi64::<1>(places, text.first.cast());
                (_mm512_cvtepu32_epi64(_mm256_sub_epi32(ends, starts)), word)
            };
            // Which words are too long cannot be guessed, and a wrong guess costs more than a store. So the
            // numbers of those that are move to the front, eight places are written every time, and their list
            // grows by as many as count.
            let too_long = _mm512_cmpgt_epu64_mask(length, all(8));
            let longer = _mm512_cmpgt_epu64_mask(length, all(16));
            let numbers = _mm256_add_epi32(lanes, _mm256_set1_epi32((8 * group as u32).cast_signed()));
            // SAFETY: room for eight numbers of each group was made behind what the lists had, and each group
            // before has added at most eight to each.
            unsafe {
                push_some(&mut long.up_to_16, too_long & !longer, numbers);
                push_some(&mut long.longer, longer, numbers);
                if let Some(fixed) = fixed {
                    push_eight(fixed, xxh3_of_eight(word, length));
                }
                if let Some((secret, hashes)) = secret {
                    push_eight(hashes, secret_hash_of_eight(secret, word, length));
                }
            }
        }
        8 * starts.len()
    }

    /// Appends eight numbers.
    ///
    /// # Safety
    /// There must be room for them.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn push_eight(list: &mut Vec<u64>, numbers: __m512i) {
        // SAFETY: the caller sees to it that eight places are free; they are written before they count.
        unsafe {
            _mm512_storeu_si512(list.as_mut_ptr().add(list.len()).cast(), numbers);
            list.set_len(list.len() + 8);
        }
    }

    /// Appends those of eight numbers whose bits are set.
    ///
    /// # Safety
    /// There must be room for eight.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,avx2,popcnt")]
    unsafe fn push_some(list: &mut Vec<u32>, chosen: u8, numbers: __m256i) {
        // SAFETY: the caller sees to it that eight places are free; as many of them count as were chosen.
        unsafe {
            let place = list.as_mut_ptr().add(list.len());
            _mm256_storeu_si256(place.cast(), _mm256_maskz_compress_epi32(chosen, numbers));
            list.set_len(list.len() + chosen.count_ones() as usize);
        }
    }

    /// The XXH3 hashes of eight words. Those of more than eight bytes get something, which is replaced at the end.
    ///
    /// XXH3 hashes 1 to 3 bytes by another formula than 4 to 8. Both choose bytes, XOR a key, and then shift, XOR and multiply
    /// twice. So the steps are shared, and bytes, keys, factors and shifts are chosen by length: about half of the instructions
    /// that both formulas would take.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,popcnt")]
    fn xxh3_of_eight(word: __m512i, length: __m512i) -> __m512i {
        // SAFETY: eight numbers each.
        let (bytes, keys) =
            unsafe { (_mm512_loadu_si512(BYTES.as_ptr().cast()), _mm512_loadu_si512(KEYS.as_ptr().cast())) };
        // A shuffle of bytes stays within 16 of them, which are two words, and counts from the front of the
        // first. So the positions of every second word are eight higher.
        let odd = _mm512_maskz_set1_epi8(0xff00_ff00_ff00_ff00, 8);
        let short = _mm512_cmplt_epu64_mask(length, all(4));
        let either = |up_to_3: u64, up_to_8: u64| _mm512_mask_mov_epi64(all(up_to_8), short, all(up_to_3));
        // The permutation is a lookup in a table of eight numbers that stays in a register; it goes by the low
        // three bits of a length.
        let bytes = _mm512_or_si512(_mm512_permutexvar_epi64(length, bytes), odd);
        let z = _mm512_shuffle_epi8(word, bytes);
        let z = _mm512_xor_si512(z, _mm512_permutexvar_epi64(length, keys));
        // 4 to 8 bytes: `z ^ rotl(z, 49) ^ rotl(z, 24)`; 0x96 is the XOR of three. 1 to 3 bytes: the formula
        // has `z ^ z >> 33`, which is `z` here, since bytes and key have 32 bits.
        let (by_49, by_24) = (_mm512_rol_epi64::<49>(z), _mm512_rol_epi64::<24>(z));
        let z = _mm512_mask_ternarylogic_epi64::<0x96>(z, !short, by_49, by_24);
        let z = multiply_8(either(PRIME_2, PRIME_MX), z);
        // The length of 4 to 8 bytes comes in here; that of 1 to 3 bytes was in the key.
        let shifted = _mm512_srlv_epi64(z, either(29, 35));
        let z = _mm512_xor_si512(z, _mm512_mask_add_epi64(shifted, !short, shifted, length));
        let z = multiply_8(either(PRIME_3, PRIME_MX), z);
        _mm512_xor_si512(z, _mm512_srlv_epi64(z, either(32, 28)))
    }

    /// The secret hashes of eight words, as in `Secret::hash`: of the bytes of the word, a byte of padding, and zeros. Words of
    /// more than eight bytes are hashed otherwise, at the end.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,popcnt")]
    fn secret_hash_of_eight(secret: &Secret, word: __m512i, length: __m512i) -> __m512i {
        // SAFETY: eight numbers each.
        let (word_masks, padding_bytes) = unsafe {
            (
                _mm512_loadu_si512(WORD_MASKS.as_ptr().cast()),
                _mm512_loadu_si512(PADDING_BYTES.as_ptr().cast()),
            )
        };
        // 0xea is `word & mask | padding`.
        let z = _mm512_ternarylogic_epi64::<0xea>(
            word,
            _mm512_permutexvar_epi64(length, word_masks),
            _mm512_permutexvar_epi64(length, padding_bytes),
        );
        spread_eight(secret, z)
    }

    /// The bijection of `Secret::spread`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn spread_eight(secret: &Secret, z: __m512i) -> __m512i {
        let [one, two, three] = secret.factors.map(|factor| all(factor));
        let z = multiply_8(_mm512_xor_si512(z, all(secret.start)), one);
        let z = multiply_8(_mm512_xor_si512(z, _mm512_srli_epi64::<32>(z)), two);
        let z = multiply_8(_mm512_xor_si512(z, _mm512_srli_epi64::<29>(z)), three);
        _mm512_xor_si512(z, _mm512_srli_epi64::<32>(z))
    }

    /// The same for four words at a time.
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) fn fours(
        text: &PaddedText<'_>,
        WordHashes { fixed, secret }: &mut WordHashes<'_>,
        long: &mut LongWords,
    ) -> usize {
        let lanes = _mm_setr_epi32(0, 1, 2, 3);
        let last_offset = _mm_set1_epi32(text.last_offset().cast_signed());
        let (starts, ends) = (text.starts.as_chunks::<4>().0, text.ends.as_chunks::<4>().0);
        fixed.iter_mut().for_each(|fixed| fixed.reserve(4 * starts.len()));
        secret.iter_mut().for_each(|(_, hashes)| hashes.reserve(4 * starts.len()));
        for (group, (starts, ends)) in starts.iter().zip(ends).enumerate() {
            // SAFETY: four numbers each; no offset is above the length of the text, and eight bytes behind
            // the text were written and belong to what `first` points to.
            let (length, word) = unsafe {
                let starts = _mm_loadu_si128(starts.as_ptr().cast());
                let ends = _mm_loadu_si128(ends.as_ptr().cast());
                let places = _mm256_cvtepu32_epi64(_mm_min_epu32(starts, last_offset));
                let word = _mm256_i64gather_epi64::<1>(text.first.cast(), places);
                (_mm256_cvtepu32_epi64(_mm_sub_epi32(ends, starts)), word)
            };
            let above =
                |most: u64| _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(length, all_4(most))));
            let (too_long, longer) = (above(8), above(16));
            let numbers = _mm_add_epi32(lanes, _mm_set1_epi32((4 * group as u32).cast_signed()));
            // SAFETY: room for four numbers of each group was made behind what the lists had, and each group
            // before has added at most four to each.
            unsafe {
                push_some_of_four(&mut long.up_to_16, too_long & !longer, numbers);
                push_some_of_four(&mut long.longer, longer, numbers);
                if let Some(fixed) = fixed {
                    push_four(fixed, xxh3_of_four(word, length));
                }
                if let Some((secret, hashes)) = secret {
                    push_four(hashes, secret_hash_of_four(secret, word, length));
                }
            }
        }
        4 * starts.len()
    }

    /// Appends four numbers.
    ///
    /// # Safety
    /// There must be room for them.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn push_four(list: &mut Vec<u64>, numbers: __m256i) {
        // SAFETY: the caller sees to it that four places are free; they are written before they count.
        unsafe {
            _mm256_storeu_si256(list.as_mut_ptr().add(list.len()).cast(), numbers);
            list.set_len(list.len() + 4);
        }
    }

    /// The bytes that bring the chosen ones of four numbers to the front, by the bits that are set.
    static COMPRESSED: [[u8; 16]; 16] = {
        let mut all = [[0x80; 16]; 16];
        let mut chosen = 0;
        while chosen < 16 {
            let (mut lane, mut at) = (0, 0);
            while lane < 16 {
                if chosen >> (lane / 4) & 1 == 1 {
                    all[chosen][at] = lane as u8;
                    at += 1;
                }
                lane += 1;
            }
            chosen += 1;
        }
        all
    };

    /// Appends those of four numbers whose bits are set.
    ///
    /// # Safety
    /// There must be room for four.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    unsafe fn push_some_of_four(list: &mut Vec<u32>, chosen: i32, numbers: __m128i) {
        let chosen = chosen & 0b1111;
        // SAFETY: 16 bytes are read; the caller sees to it that four places are free, and as many of them count
        // as were chosen.
        unsafe {
            let bytes = _mm_loadu_si128(COMPRESSED[chosen as usize].as_ptr().cast());
            let place = list.as_mut_ptr().add(list.len());
            _mm_storeu_si128(place.cast(), _mm_shuffle_epi8(numbers, bytes));
            list.set_len(list.len() + chosen.count_ones() as usize);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn all_4(value: u64) -> __m256i {
        _mm256_set1_epi64x(value.cast_signed())
    }

    /// Looks up eight numbers by the low three bits of each length: their lower halves and their upper ones apart, since AVX2 looks up
    /// numbers of 32 bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn look_up(table: &[[u32; 8]; 2], length: __m256i) -> __m256i {
        // SAFETY: eight numbers each.
        let [low, high] = table.each_ref().map(|half| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) });
        let both = _mm256_shuffle_epi32::<0b10_10_00_00>(length);
        _mm256_blend_epi32::<0b1010_1010>(
            _mm256_permutevar8x32_epi32(low, both),
            _mm256_permutevar8x32_epi32(high, both),
        )
    }

    /// Lower and upper halves.
    const fn halves(numbers: [u64; 8]) -> [[u32; 8]; 2] {
        let mut halves = [[0; 8]; 2];
        let mut index = 0;
        while index < 8 {
            halves[0][index] = numbers[index] as u32;
            halves[1][index] = (numbers[index] >> 32) as u32;
            index += 1;
        }
        halves
    }

    /// The XXH3 hashes of four words, as in [`xxh3_of_eight`].
    #[inline]
    #[target_feature(enable = "avx2")]
    fn xxh3_of_four(word: __m256i, length: __m256i) -> __m256i {
        static BYTE_HALVES: [[u32; 8]; 2] = halves(BYTES);
        static KEY_HALVES: [[u32; 8]; 2] = halves(KEYS);
        let odd = _mm256_setr_epi64x(0, 0x0808_0808_0808_0808, 0, 0x0808_0808_0808_0808);
        let short = _mm256_cmpgt_epi64(all_4(4), length);
        let either = |up_to_3: u64, up_to_8: u64| _mm256_blendv_epi8(all_4(up_to_8), all_4(up_to_3), short);
        let z = _mm256_shuffle_epi8(word, _mm256_or_si256(look_up(&BYTE_HALVES, length), odd));
        let z = _mm256_xor_si256(z, look_up(&KEY_HALVES, length));
        // Rotations by 49 and by 24, of two shifts each: there is no instruction for them before AVX-512.
        let by_49 = _mm256_or_si256(_mm256_slli_epi64::<49>(z), _mm256_srli_epi64::<15>(z));
        let by_24 = _mm256_or_si256(_mm256_slli_epi64::<24>(z), _mm256_srli_epi64::<40>(z));
        let z = _mm256_xor_si256(z, _mm256_andnot_si256(short, _mm256_xor_si256(by_49, by_24)));
        let z = multiply(z, either(PRIME_2, PRIME_MX));
        let shifted = _mm256_srlv_epi64(z, either(29, 35));
        let z = _mm256_xor_si256(z, _mm256_add_epi64(shifted, _mm256_andnot_si256(short, length)));
        let z = multiply(z, either(PRIME_3, PRIME_MX));
        _mm256_xor_si256(z, _mm256_srlv_epi64(z, either(32, 28)))
    }

    /// The secret hashes of four words, as in `Secret::hash`. Words of more than eight bytes are hashed otherwise, at the end.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn secret_hash_of_four(secret: &Secret, word: __m256i, length: __m256i) -> __m256i {
        // A shift by 64 or more leaves nothing: the word is whole then, or too long.
        let bits = _mm256_slli_epi64::<3>(length);
        let outside = _mm256_sllv_epi64(all_4(!0), bits);
        let end = _mm256_sllv_epi64(all_4(END.into()), bits);
        let z = _mm256_or_si256(_mm256_andnot_si256(outside, word), end);
        let [one, two, three] = secret.factors.map(|factor| all_4(factor));
        let z = multiply(_mm256_xor_si256(z, all_4(secret.start)), one);
        let z = multiply(_mm256_xor_si256(z, _mm256_srli_epi64::<32>(z)), two);
        let z = multiply(_mm256_xor_si256(z, _mm256_srli_epi64::<29>(z)), three);
        _mm256_xor_si256(z, _mm256_srli_epi64::<32>(z))
    }

    /// The low 64 bits of products, from three products of 32 bits: AVX2 has no other.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn multiply(value: __m256i, factor: __m256i) -> __m256i {
        // With halves `h` and `l` of both numbers the product is `ll + (hl + lh) * 2^32`; `hh` is beyond 64
        // bits. The instruction looks at the low half of each lane alone, so nothing has to be masked.
        let cross = _mm256_add_epi64(
            _mm256_mul_epu32(value, _mm256_srli_epi64::<32>(factor)),
            _mm256_mul_epu32(_mm256_srli_epi64::<32>(value), factor),
        );
        _mm256_add_epi64(_mm256_mul_epu32(value, factor), _mm256_slli_epi64::<32>(cross))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_processor_hashes_alike(
            words in prop::collection::vec("[a-zé東]{1,6}|[a-z0-9]{1,20}|[a-z]{9,16}|[a-z]{200,300}", 0..80),
            seed: u128,
        ) {
            let (mut text, mut starts, mut ends) = (String::new(), Vec::new(), Vec::new());
            let mut long = LongWords::default();
            for word in &words {
                let start = text.len();
                text.push_str(word);
                starts.push(start as u32);
                ends.push((start + word.len()) as u32);
                text.push(' ');
            }
            text.pop();
            let expected: Vec<u64> = words.iter().map(|word| xxh3::xxh3_64(word.as_bytes())).collect();
            let (secret, unused) = (Secret::new(seed), vec![7]);
            let by_secret: Vec<u64> = words.iter().map(|word| secret.hash(word.as_bytes())).collect();
            for (cpu, kinds) in Cpu::available().flat_map(|cpu| [(cpu, [true, true]), (cpu, [true, false]), (cpu, [false, true])]) {
                // What a list had before does not count.
                let (mut fixed, mut secret_hashes) = (vec![7], vec![7]);
                let hashes = WordHashes {
                    fixed: kinds[0].then_some(&mut fixed),
                    secret: kinds[1].then_some((&secret, &mut secret_hashes)),
                };
                words_on(cpu, TextWords { text: &mut text, starts: &starts, ends: &ends, long: &mut long }, hashes);
                prop_assert_eq!(&fixed, if kinds[0] { &expected } else { &unused }, "{:?} {:?}", cpu, kinds);
                prop_assert_eq!(&secret_hashes, if kinds[1] { &by_secret } else { &unused }, "{:?} {:?}", cpu, kinds);
            }
        }
    }
}

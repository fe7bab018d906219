//! Text, 64 bytes at a time: case folding, and one bit per byte for what it is.

use std::mem::MaybeUninit;

/// The classes of the bytes of a block of 64, one bit for each byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockMasks {
    /// ASCII letters and digits.
    pub(crate) words: u64,
    /// Bytes beyond ASCII.
    pub(crate) non_ascii: u64,
}

/// Most offsets that one call of [`Blocks::bit_offsets`] may write: one for each bit, and up to sixteen that
/// do not count.
pub(crate) const MAX_OFFSETS: usize = 64 + 16;

/// The operations that processors do differently.
///
/// An implementation may need instructions that not every processor has. It is fast only inside functions
/// that are built for them, into which all of it is inlined.
///
/// # Safety
/// The scanner does not look at results again: it takes folded bytes for UTF-8 and offsets for written. So
/// [`fold`](Blocks::fold) must change nothing but ASCII capitals, and [`bit_offsets`](Blocks::bit_offsets)
/// must write as many numbers as there are bits.
pub(crate) unsafe trait Blocks {
    /// Copies a block with its ASCII capitals made small, and says what it holds.
    ///
    /// # Safety
    /// The processor must have the instructions that the implementation names.
    unsafe fn fold(block: &[u8; 64], out: &mut [u8; 64]) -> BlockMasks;

    /// Writes `base` plus the offset of every bit, in order. May write further numbers behind them, up to
    /// [`MAX_OFFSETS`] in all.
    ///
    /// # Safety
    /// The processor must have the instructions that the implementation names.
    unsafe fn bit_offsets(bits: u64, base: u32, out: &mut [MaybeUninit<u32>; MAX_OFFSETS]);
}

/// In plain code, of which the compiler makes what it can. Runs on every processor.
pub(crate) struct Portable;

// SAFETY: letters A to Z alone get another bit; a number is written for each bit before the loop ends, eight
// at a time and 64 at most.
unsafe impl Blocks for Portable {
    #[inline(always)]
    unsafe fn fold(block: &[u8; 64], out: &mut [u8; 64]) -> BlockMasks {
        let mut flags = [0u8; 64];
        for ((out, flag), &byte) in out.iter_mut().zip(&mut flags).zip(block) {
            // One comparison for a range: what is below `A` wraps round to a large number. The conditions
            // become masks, so that the compiler can make vectors of the loop.
            let small = byte | if byte.wrapping_sub(b'A') < 26 { 0x20 } else { 0 };
            let word = small.wrapping_sub(b'0') < 10 || small.wrapping_sub(b'a') < 26;
            *out = small;
            *flag = if word { 0x80 } else { 0 };
        }
        BlockMasks { words: high_bits(&flags), non_ascii: high_bits(block) }
    }

    #[inline(always)]
    unsafe fn bit_offsets(mut bits: u64, base: u32, out: &mut [MaybeUninit<u32>; MAX_OFFSETS]) {
        // Eight without asking: how many there are cannot be guessed, and writing too many is cheaper.
        for eight in out.as_chunks_mut::<8>().0 {
            for place in eight {
                // The lowest bit, which the next line takes off. Without bits the number means nothing.
                place.write(base.wrapping_add(bits.trailing_zeros()));
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                return;
            }
        }
    }
}

/// Gathers the highest bit of each byte.
#[inline(always)]
fn high_bits(bytes: &[u8; 64]) -> u64 {
    let mut bits = 0;
    for (index, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let highest = u64::from_le_bytes(*eight) & 0x8080_8080_8080_8080;
        // The multiplication moves the eight bits next to each other into the top byte.
        bits |= (highest >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56 << (index * 8);
    }
    bits
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::mem::MaybeUninit;

    use super::{BlockMasks, Blocks, MAX_OFFSETS, Portable};

    /// Needs `avx2`.
    pub(crate) struct Avx2;

    // SAFETY: bytes from A to Z alone get another bit; offsets are those of the portable code.
    unsafe impl Blocks for Avx2 {
        #[inline(always)]
        unsafe fn fold(block: &[u8; 64], out: &mut [u8; 64]) -> BlockMasks {
            let mut bits = BlockMasks { words: 0, non_ascii: 0 };
            for half in 0..2 {
                // SAFETY: both arrays have 32 bytes from `32 * half` on, which is 0 or 32; the caller has
                // seen to the instructions.
                let (words, non_ascii) = unsafe {
                    let bytes = _mm256_loadu_si256(block.as_ptr().add(32 * half).cast());
                    let all = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
                    // Smaller or equal without sign, for which AVX2 has no comparison: the minimum of both is
                    // the first.
                    let up_to = |value, most| _mm256_cmpeq_epi8(_mm256_min_epu8(value, most), value);
                    let capital = up_to(_mm256_sub_epi8(bytes, all(b'A')), all(25));
                    let small = _mm256_or_si256(bytes, _mm256_and_si256(capital, all(0x20)));
                    let letter = up_to(_mm256_sub_epi8(small, all(b'a')), all(25));
                    let digit = up_to(_mm256_sub_epi8(small, all(b'0')), all(9));
                    _mm256_storeu_si256(out.as_mut_ptr().add(32 * half).cast(), small);
                    let words = _mm256_movemask_epi8(_mm256_or_si256(letter, digit));
                    (words.cast_unsigned(), _mm256_movemask_epi8(bytes).cast_unsigned())
                };
                bits.words |= u64::from(words) << (32 * half);
                bits.non_ascii |= u64::from(non_ascii) << (32 * half);
            }
            bits
        }

        #[inline(always)]
        unsafe fn bit_offsets(bits: u64, base: u32, out: &mut [MaybeUninit<u32>; MAX_OFFSETS]) {
            // SAFETY: plain code runs on every processor.
            unsafe { Portable::bit_offsets(bits, base, out) };
        }
    }

    /// Needs `avx512f`, `avx512bw` and `avx512vbmi2`.
    pub(crate) struct Avx512;

    // SAFETY: bytes from A to Z alone have 32 added; of the offsets 16 are written at a time until no bit is
    // left over.
    unsafe impl Blocks for Avx512 {
        #[inline(always)]
        unsafe fn fold(block: &[u8; 64], out: &mut [u8; 64]) -> BlockMasks {
            // SAFETY: both arrays have 64 bytes; the caller has seen to the instructions.
            unsafe {
                let bytes = _mm512_loadu_si512(block.as_ptr().cast());
                let all = |byte: u8| _mm512_set1_epi8(byte.cast_signed());
                let capital = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, all(b'A')), all(26));
                let small = _mm512_mask_add_epi8(bytes, capital, bytes, all(0x20));
                let letter = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(small, all(b'a')), all(26));
                let digit = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(small, all(b'0')), all(10));
                _mm512_storeu_si512(out.as_mut_ptr().cast(), small);
                BlockMasks { words: letter | digit, non_ascii: _mm512_movepi8_mask(bytes) }
            }
        }

        #[inline(always)]
        unsafe fn bit_offsets(bits: u64, base: u32, out: &mut [MaybeUninit<u32>; MAX_OFFSETS]) {
            /// The numbers from 0 to 63.
            static NUMBERS: [u8; 64] = {
                let mut numbers = [0; 64];
                let mut number = 0;
                while number < 64 {
                    numbers[number] = number as u8;
                    number += 1;
                }
                numbers
            };
            // SAFETY: the numbers are 64 bytes; each turn writes 16 elements of `out`, which has room for
            // five turns, and there are at most four, since 64 bits are left at first and 16 fewer each time;
            // the caller has seen to the instructions.
            unsafe {
                let numbers = _mm512_loadu_si512(NUMBERS.as_ptr().cast());
                // One instruction moves the numbers of all set bits to the front, in order. They are bytes;
                // sixteen at a time are widened to 32 bits, and most blocks begin or end no more than sixteen
                // words.
                let mut bit_offsets = _mm512_maskz_compress_epi8(bits, numbers);
                let base = _mm512_set1_epi32(base.cast_signed());
                let mut left = bits.count_ones();
                let mut target = out.as_mut_ptr();
                loop {
                    let sixteen = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(bit_offsets));
                    _mm512_storeu_si512(target.cast(), _mm512_add_epi32(sixteen, base));
                    if left <= 16 {
                        return;
                    }
                    left -= 16;
                    target = target.add(16);
                    // The next sixteen bytes to the front.
                    bit_offsets = _mm512_alignr_epi64::<2>(_mm512_setzero_si512(), bit_offsets);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_hash::cpu::Cpu;
    use proptest::prelude::*;

    fn fold(cpu: Cpu, block: &[u8; 64]) -> ([u8; 64], BlockMasks) {
        let mut out = [0; 64];
        // SAFETY: such a `Cpu` exists only where its instructions were found.
        let bits = unsafe {
            match cpu {
                #[cfg(target_arch = "x86_64")]
                Cpu::Avx2(_) | Cpu::Avx512(_) => Avx2::fold(block, &mut out),
                #[cfg(target_arch = "x86_64")]
                Cpu::Avx512Vbmi2(_) => Avx512::fold(block, &mut out),
                _ => Portable::fold(block, &mut out),
            }
        };
        (out, bits)
    }

    fn bit_offsets(cpu: Cpu, bits: u64, base: u32) -> Vec<u32> {
        let mut out = [MaybeUninit::uninit(); MAX_OFFSETS];
        // SAFETY: such a `Cpu` exists only where its instructions were found; as many numbers are written as
        // there are bits, which is the contract of the trait.
        unsafe {
            match cpu {
                #[cfg(target_arch = "x86_64")]
                Cpu::Avx2(_) | Cpu::Avx512(_) => Avx2::bit_offsets(bits, base, &mut out),
                #[cfg(target_arch = "x86_64")]
                Cpu::Avx512Vbmi2(_) => Avx512::bit_offsets(bits, base, &mut out),
                _ => Portable::bit_offsets(bits, base, &mut out),
            }
            out[..bits.count_ones() as usize].iter().map(|place| place.assume_init()).collect()
        }
    }

    proptest! {
        #[test]
        fn every_processor_folds_alike(block in prop::array::uniform32(any::<[u8; 2]>())) {
            let block: [u8; 64] = block.concat().try_into().unwrap();
            let bit = |is: fn(&u8) -> bool| {
                block.iter().rev().fold(0, |bits, byte| bits << 1 | u64::from(is(byte)))
            };
            let bits = BlockMasks { words: bit(u8::is_ascii_alphanumeric), non_ascii: bit(|byte| !byte.is_ascii()) };
            for cpu in Cpu::available() {
                prop_assert_eq!(fold(cpu, &block), (block.map(|byte| byte.to_ascii_lowercase()), bits), "{:?}", cpu);
            }
        }

        #[test]
        fn every_processor_finds_the_same_offsets(bits: u64, thin: u64, base in 0..u32::MAX - 64) {
            for bits in [bits, bits & thin, !0, 0, 1 << 63] {
                let plain: Vec<u32> = (0..64).filter(|place| bits >> place & 1 == 1).map(|place| base + place).collect();
                for cpu in Cpu::available() {
                    prop_assert_eq!(bit_offsets(cpu, bits, base), &plain[..], "{:?}", cpu);
                }
            }
        }
    }
}

//! XXH3 of much: what takes long to hash is hashed in eight lanes, by the widest instructions that the processor has.
//!
//! Up to 240 bytes the library has ways of its own, which are as fast as can be. Beyond that it goes by stripes of 64
//! bytes and is built for what every processor has. This is the same, written so that a compiler makes vectors of it.

use xxhash_rust::xxh3;

use crate::cpu::Cpu;

/// Up to so many bytes are hashed in other ways. The number is part of the definition of XXH3.
const SHORT: usize = 240;

/// Eight lanes of 64 bits.
type Lanes = [u64; 8];

const PRIME32_1: u64 = 0x9e37_79b1;
const PRIME32_2: u64 = 0x85eb_ca77;
const PRIME32_3: u64 = 0xc2b2_ae3d;
const PRIME64_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME64_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME64_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME64_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME64_5: u64 = 0x27d4_eb2f_1656_67c5;

const START: Lanes = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1];

/// The published secret of XXH3.
static SECRET: [u8; 192] = *b"\
\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe\x7c\x01\x81\x2c\xf7\x21\xad\x1c\xde\xd4\x6d\xe9\x83\x90\x97\xdb\
\x72\x40\xa4\xa4\xb7\xb3\x67\x1f\xcb\x79\xe6\x4e\xcc\xc0\xe5\x78\x82\x5a\xd0\x7d\xcc\xff\x72\x21\
\xb8\x08\x46\x74\xf7\x43\x24\x8e\xe0\x35\x90\xe6\x81\x3a\x26\x4c\x3c\x28\x52\xbb\x91\xc3\x00\xcb\
\x88\xd0\x65\x8b\x1b\x53\x2e\xa3\x71\x64\x48\x97\xa2\x0d\xf9\x4e\x38\x19\xef\x46\xa9\xde\xac\xd8\
\xa8\xfa\x76\x3f\xe3\x9c\x34\x3f\xf9\xdc\xbb\xc7\xc7\x0b\x4f\x1d\x8a\x51\xe0\x4b\xcd\xb4\x59\x31\
\xc8\x9f\x7e\xc9\xd9\x78\x73\x64\xea\xc5\xac\x83\x34\xd3\xeb\xc3\xc5\x81\xa0\xff\xfa\x13\x63\xeb\
\x17\x0d\xdd\x51\xb7\xf0\xda\x49\xd3\x16\x55\x26\x29\xd4\x68\x9e\x2b\x16\xbe\x58\x7d\x47\xa1\xfc\
\x8f\xf8\xb8\xd1\x7a\xd0\x31\xce\x45\xcb\x3a\x8f\x95\x16\x04\x28\xaf\xd7\xfb\xca\xbb\x4b\x40\x7e";

/// Stripes between two times that the lanes are scrambled.
const STRIPES: usize = 16;

/// The offsets in the secret that are read for the last stripe, to scramble lanes, and to merge them into the
/// low and the high half. As published: 7 and 11 are no multiples of eight, so that no eight bytes of the
/// secret serve twice.
const AT_LAST: usize = 192 - 64 - 7;
const AT_SCRAMBLE: usize = 192 - 64;
const AT_LOW: usize = 11;
const AT_HIGH: usize = 192 - 64 - 11;

/// Input that is hashed 64 bytes at a time.
trait Stripes: Copy {
    /// Number of bytes.
    fn bytes(self) -> usize;
    /// The 64 bytes with this number.
    fn stripe(self, number: usize) -> Lanes;
    /// The last 64 bytes.
    fn last(self) -> Lanes;
}

impl Stripes for &[u64] {
    #[inline(always)]
    fn bytes(self) -> usize {
        self.len() * 8
    }

    #[inline(always)]
    fn stripe(self, number: usize) -> Lanes {
        self.as_chunks().0[number]
    }

    #[inline(always)]
    fn last(self) -> Lanes {
        self.last_chunk().copied().unwrap_or_default()
    }
}

impl Stripes for &[u8] {
    #[inline(always)]
    fn bytes(self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn stripe(self, number: usize) -> Lanes {
        lanes(&self.as_chunks().0[number])
    }

    #[inline(always)]
    fn last(self) -> Lanes {
        self.last_chunk().map_or([0; 8], lanes)
    }
}

#[inline(always)]
fn lanes(bytes: &[u8; 64]) -> Lanes {
    let eights = bytes.as_chunks::<8>().0;
    std::array::from_fn(|lane| u64::from_le_bytes(eights[lane]))
}

#[inline(always)]
fn secret(at: usize) -> Lanes {
    SECRET[at..].first_chunk().map_or([0; 8], lanes)
}

/// XXH3-128 with seed 0 of `words`, as bytes from the lowest.
pub fn digest(words: &[u64]) -> u128 {
    digest_on(Cpu::detect(), words)
}

fn digest_on(cpu: Cpu, words: &[u64]) -> u128 {
    let length = words.bytes();
    if length <= SHORT {
        let mut bytes = [0; SHORT];
        for (bytes, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        return xxh3::xxh3_128(&bytes[..length]);
    }
    let (lanes, length) = (sums(cpu, words), length as u64);
    // Both halves are made of the same lanes; other parts of the secret and other starts make them differ.
    let low = merge_lanes(&lanes, AT_LOW, length.wrapping_mul(PRIME64_1));
    let high = merge_lanes(&lanes, AT_HIGH, !length.wrapping_mul(PRIME64_2));
    u128::from(high) << 64 | u128::from(low)
}

/// XXH3-64 with seed 0 of `bytes`, as [`super::word`] has it: faster where they are many.
pub fn sum(bytes: &[u8]) -> u64 {
    sum_on(Cpu::detect(), bytes)
}

fn sum_on(cpu: Cpu, bytes: &[u8]) -> u64 {
    if bytes.len() <= SHORT {
        return xxh3::xxh3_64(bytes);
    }
    merge_lanes(&sums(cpu, bytes), AT_LOW, (bytes.len() as u64).wrapping_mul(PRIME64_1))
}

/// Bytes between two times that the lanes are scrambled.
const BLOCK: usize = STRIPES * 64;

/// The [`sum`] of bytes that come piece by piece.
#[derive(Debug, Clone)]
pub struct RunningSum {
    lanes: Lanes,
    length: u64,
    /// The last stripe of all blocks that are in the lanes: the last stripe of the input may begin in it.
    before: [u8; 64],
    /// The bytes behind these blocks. At least one: a whole block is summed up when more comes, because the last one of the
    /// input is summed up in another way.
    rest: Vec<u8>,
}

impl Default for RunningSum {
    fn default() -> Self {
        RunningSum { lanes: START, length: 0, before: [0; 64], rest: Vec::with_capacity(BLOCK) }
    }
}

impl RunningSum {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.update_on(Cpu::detect(), bytes);
    }

    fn update_on(&mut self, cpu: Cpu, mut bytes: &[u8]) {
        self.length += bytes.len() as u64;
        if self.rest.len() + bytes.len() <= BLOCK {
            self.rest.extend_from_slice(bytes);
            return;
        }
        if !self.rest.is_empty() {
            let (fill, others) = bytes.split_at(BLOCK - self.rest.len());
            self.rest.extend_from_slice(fill);
            bytes = others;
            let block = std::mem::take(&mut self.rest);
            self.take_blocks(cpu, &block);
            self.rest = block;
            self.rest.clear();
        }
        let (blocks, others) = bytes.split_at((bytes.len() - 1) / BLOCK * BLOCK);
        self.take_blocks(cpu, blocks);
        self.rest.extend_from_slice(others);
    }

    fn take_blocks(&mut self, cpu: Cpu, blocks: &[u8]) {
        let Some(last) = blocks.last_chunk() else { return };
        self.before = *last;
        self.lanes = add_blocks(cpu, self.lanes, blocks);
    }

    /// The sum of all bytes so far.
    pub fn sum(&self) -> u64 {
        if self.length <= SHORT as u64 {
            return xxh3::xxh3_64(&self.rest);
        }
        let mut sums = self.lanes;
        for (number, stripe) in self.rest[..self.rest.len() - 1].as_chunks().0.iter().enumerate() {
            add(&mut sums, lanes(stripe), secret(number * 8));
        }
        let mut last = self.before;
        match self.rest.last_chunk() {
            Some(whole) => last = *whole,
            None => {
                last.copy_within(self.rest.len().., 0);
                last[64 - self.rest.len()..].copy_from_slice(&self.rest);
            }
        }
        add(&mut sums, lanes(&last), secret(AT_LAST));
        merge_lanes(&sums, AT_LOW, self.length.wrapping_mul(PRIME64_1))
    }
}

fn add_blocks(cpu: Cpu, lanes: Lanes, blocks: &[u8]) -> Lanes {
    match cpu {
        // SAFETY: such a `Cpu` exists only where all that the function is built for was found.
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx512(_) | Cpu::Avx512Vbmi2(_) => unsafe { add_blocks_avx512(lanes, blocks) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(_) => unsafe { add_blocks_avx2(lanes, blocks) },
        _ => add_blocks_to(lanes, blocks),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn add_blocks_avx512(lanes: Lanes, blocks: &[u8]) -> Lanes {
    add_blocks_to(lanes, blocks)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_blocks_avx2(lanes: Lanes, blocks: &[u8]) -> Lanes {
    add_blocks_to(lanes, blocks)
}

/// The lanes after whole blocks.
#[inline(always)]
fn add_blocks_to(mut sums: Lanes, blocks: &[u8]) -> Lanes {
    for block in blocks.as_chunks::<BLOCK>().0 {
        for (number, stripe) in block.as_chunks().0.iter().enumerate() {
            add(&mut sums, lanes(stripe), secret(number * 8));
        }
        scramble(&mut sums);
    }
    sums
}

fn sums<S: Stripes>(cpu: Cpu, input: S) -> Lanes {
    match cpu {
        // SAFETY: such a `Cpu` exists only where all that the function is built for was found.
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx512(_) | Cpu::Avx512Vbmi2(_) => unsafe { sums_avx512(input) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2(_) => unsafe { sums_avx2(input) },
        // Lanes are arrays and the loop has no intrinsics: what differs is only what the compiler may use.
        // All of it is inlined into the functions below.
        _ => sums_of(input),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn sums_avx512<S: Stripes>(input: S) -> Lanes {
    sums_of(input)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sums_avx2<S: Stripes>(input: S) -> Lanes {
    sums_of(input)
}

/// The lanes after all stripes. The last one is hashed by itself, also where it overlaps the one before.
#[inline(always)]
fn sums_of<S: Stripes>(input: S) -> Lanes {
    let mut lanes = START;
    // One byte less: a last stripe that is whole belongs behind the loop as well.
    for number in 0..(input.bytes() - 1) / 64 {
        // Each stripe is keyed by another 64 bytes of the secret, eight further on; 16 of them reach its end.
        add(&mut lanes, input.stripe(number), secret(number % STRIPES * 8));
        if number % STRIPES == STRIPES - 1 {
            scramble(&mut lanes);
        }
    }
    add(&mut lanes, input.last(), secret(AT_LAST));
    lanes
}

#[inline(always)]
fn add(lanes: &mut Lanes, stripe: Lanes, secret: Lanes) {
    for lane in 0..8 {
        let keyed = stripe[lane] ^ secret[lane];
        // The halves of a lane times each other: a product of 32 bits, which SSE2 and AVX2 have, too. It
        // would be 0, and forget the input, where a half is 0; so the input is also added as it is, to the
        // neighbour's lane.
        let new = (keyed & 0xffff_ffff).wrapping_mul(keyed >> 32).wrapping_add(stripe[lane ^ 1]);
        lanes[lane] = lanes[lane].wrapping_add(new);
    }
}

#[inline(always)]
fn scramble(lanes: &mut Lanes) {
    for (lane, secret) in lanes.iter_mut().zip(secret(AT_SCRAMBLE)) {
        // Sums carry bits upwards only. This brings the upper ones down before they are lost.
        *lane = (*lane ^ *lane >> 47 ^ secret).wrapping_mul(PRIME32_1);
    }
}

/// One number of all lanes.
fn merge_lanes(lanes: &Lanes, at: usize, start: u64) -> u64 {
    let secret = secret(at);
    let sum = (0..4).fold(start, |sum: u64, pair| {
        let keyed = |lane: usize| u128::from(lanes[lane] ^ secret[lane]);
        // All 128 bits of a product count: the halves are folded into one.
        let product = keyed(2 * pair) * keyed(2 * pair + 1);
        sum.wrapping_add(product as u64 ^ (product >> 64) as u64)
    });
    let sum = (sum ^ sum >> 37).wrapping_mul(0x1656_6791_9e37_79f9);
    sum ^ sum >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_processor_sums_as_the_library_does(bytes in prop::collection::vec(any::<u8>(), 0..5000)) {
            for cpu in Cpu::available() {
                prop_assert_eq!(sum_on(cpu, &bytes), xxh3::xxh3_64(&bytes), "{:?}", cpu);
            }
        }

        #[test]
        fn pieces_have_the_sum_of_the_whole(
            bytes in prop::collection::vec(any::<u8>(), 0..9000),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            for cpu in Cpu::available() {
                let mut running = RunningSum::default();
                cuts.array_windows().for_each(|&[begin, end]| running.update_on(cpu, &bytes[begin..end]));
                prop_assert_eq!(running.sum(), xxh3::xxh3_64(&bytes), "{:?}", cpu);
            }
        }

        #[test]
        fn every_processor_digests_as_the_library_does(words in prop::collection::vec(any::<u64>(), 0..700)) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            for cpu in Cpu::available() {
                prop_assert_eq!(digest_on(cpu, &words), xxh3::xxh3_128(&bytes), "{:?}", cpu);
            }
        }
    }

    #[test]
    fn borders_between_the_ways_to_hash() {
        let bytes: Vec<u8> = (0..2200u32).map(|n| ((n * n) >> 3) as u8).collect();
        for length in (0..300).chain(1000..1100).chain(2000..2200) {
            assert_eq!(sum(&bytes[..length]), xxh3::xxh3_64(&bytes[..length]), "{length}");
            let mut running = RunningSum::default();
            bytes[..length].chunks(64).for_each(|piece| running.update(piece));
            assert_eq!(running.sum(), xxh3::xxh3_64(&bytes[..length]), "{length}");
        }
    }
}

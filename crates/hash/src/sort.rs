//! Sorting hashes.
//!
//! Hashes are spread evenly over all numbers, so one counting pass puts each about where it belongs, and only the few
//! that meet in a slot are still to be put in order. Without wide instructions that is done by insertion. With AVX-512
//! eight neighbours are sorted at once: windows of eight side by side, then windows that begin in the middle of those.
//! A slot of at most five stands in one of them as a whole.

use crate::cpu::Cpu;

/// Buffers for sorting, used again.
#[derive(Debug, Default)]
pub struct SortBuffers {
    unsorted: Vec<u64>,
    slots: Slots,
}

/// The slots that values are put into.
#[derive(Debug, Default)]
struct Slots {
    /// The place behind each, and when all values are in, that of its first.
    ends: Vec<u32>,
    /// The numbers of those with too many values.
    crowded: Vec<u32>,
}

impl SortBuffers {
    /// The buffer for values that are to be sorted, empty.
    pub fn unsorted(&mut self) -> &mut Vec<u64> {
        self.unsorted.clear();
        &mut self.unsorted
    }

    /// Frees the buffers if they take more than so many bytes.
    pub fn free_above(&mut self, bytes: usize) {
        if self.unsorted.capacity() * size_of::<u64>() > bytes {
            *self = SortBuffers::default();
        }
    }
}

/// Fewer values are sorted the general way.
const SMALL_INPUT: usize = 48;

/// Most bits of a value that say its slot: the counters of so many slots are 256 KB, which a second-level
/// cache holds.
const MAX_BITS: u32 = 16;

/// Appends what was put into the buffer for unsorted values, in order.
pub fn append_sorted(out: &mut Vec<u64>, buffers: &mut SortBuffers) {
    append(out, buffers, Cpu::detect());
}

/// Appends the distinct ones among what was put into the buffer for unsorted values, in order.
pub fn append_set(out: &mut Vec<u64>, buffers: &mut SortBuffers) {
    append_set_by(out, buffers, Cpu::detect());
}

fn append_set_by(out: &mut Vec<u64>, buffers: &mut SortBuffers, cpu: Cpu) {
    let start = out.len();
    append(out, buffers, cpu);
    let kept = match cpu {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: such a `Cpu` exists only where all that the function is built for was found.
        Cpu::Avx512(_) | Cpu::Avx512Vbmi2(_) => unsafe { x86::distinct(&mut out[start..]) },
        _ => distinct(&mut out[start..]),
    };
    out.truncate(start + kept);
}

fn append(out: &mut Vec<u64>, buffers: &mut SortBuffers, cpu: Cpu) {
    let SortBuffers { unsorted, slots } = buffers;
    let start = out.len();
    if unsorted.len() < SMALL_INPUT || unsorted.len() > u32::MAX as usize {
        out.extend_from_slice(unsorted);
        return out[start..].sort_unstable();
    }
    out.resize(start + unsorted.len(), 0);
    let values = &mut out[start..];
    match cpu {
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx512(_) | Cpu::Avx512Vbmi2(_) => {
            // One to two values in a slot: the windows do the rest, and fewer slots are fewer lines of the
            // cache to touch.
            distribute(unsorted, slots, values, unsorted.len().ilog2().min(MAX_BITS), x86::LONGEST);
            // SAFETY: such a `Cpu` exists only where all that the function is built for was found; and there
            // are at least `SMALL_INPUT` values, which are more than a window has.
            unsafe { x86::sort_windows(values) };
        }
        _ => {
            // Half a value to a whole one in a slot: few meet, and insertion moves each by a place or two. It
            // grows with the square of a slot, so slots above 24 are left to the general sort.
            distribute(unsorted, slots, values, (unsorted.len().ilog2() + 1).min(MAX_BITS), 24);
            insertion_sort(values);
        }
    }
}

/// Puts each value into its slot, told by its first bits. Slots of more than `longest` are sorted: equal values, or
/// values that were made to meet, do not trouble the general way.
fn distribute(unsorted: &[u64], slots: &mut Slots, values: &mut [u64], bits: u32, longest: u32) {
    let Slots { ends, crowded } = slots;
    assert!((1..=MAX_BITS).contains(&bits));
    assert!(values.len() == unsorted.len() && u32::try_from(values.len()).is_ok());
    let slot = |value: u64| (value >> (64 - bits)) as usize;
    ends.clear();
    ends.resize(1 << bits, 0);
    // SAFETY: a slot is a number of `bits` bits, and there are so many slots.
    unsafe {
        for &value in unsorted {
            *ends.get_unchecked_mut(slot(value)) += 1;
        }
    }
    // From counts to the places behind each slot. One in a hundred is crowded, so the others are not looked at
    // again.
    crowded.clear();
    let mut end = 0;
    for (number, slot) in ends.iter_mut().enumerate() {
        if *slot > longest {
            crowded.push(number as u32);
        }
        end += *slot;
        *slot = end;
    }
    // SAFETY: slots as above. Each was counted once for every value in it, and is gone through as often,
    // downwards from its end to where the one before ends: the places are those from 0 to the number of
    // values, which fits 32 bits.
    unsafe {
        // Neither a branch nor a comparison of values: every value goes straight to its place. Going down
        // from the ends makes an end the start of its slot when all are in.
        for &value in unsorted {
            let end = ends.get_unchecked_mut(slot(value));
            *end -= 1;
            *values.get_unchecked_mut(*end as usize) = value;
        }
    }
    // `ends` are starts by now.
    for &slot in &*crowded {
        let (start, next) = (ends[slot as usize], ends.get(slot as usize + 1));
        let end = next.map_or(values.len(), |&next| next as usize);
        values[start as usize..end].sort_unstable();
    }
}

/// Sorts values that are about in order.
fn insertion_sort(values: &mut [u64]) {
    for end in 1..values.len() {
        let value = values[end];
        let mut at = end;
        // Values of other slots are in order already: this stops at the front of the slot at the latest.
        while at > 0 && values[at - 1] > value {
            values[at] = values[at - 1];
            at -= 1;
        }
        values[at] = value;
    }
}

/// Moves all but the first of equal neighbours out of the way; returns how many are left in front.
fn distinct(values: &mut [u64]) -> usize {
    let mut kept = 0;
    for index in 0..values.len() {
        // No branch on whether it repeats the one before: that cannot be guessed.
        let repeated = kept > 0 && values[index] == values[kept - 1];
        values[kept] = values[index];
        kept += usize::from(!repeated);
    }
    kept
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// A slot of so many stands as a whole in one of the windows.
    pub(super) const LONGEST: u32 = 5;

    /// Values in a window.
    const WINDOW: usize = 8;

    /// The less of each lane and its partner, or the greater where `mask` says so.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn exchange(values: __m512i, partners: __m512i, mask: __mmask8) -> __m512i {
        _mm512_mask_max_epu64(_mm512_min_epu64(values, partners), mask, values, partners)
    }

    /// Sorts eight values: pairs, fours, all; each time one half against the other, turned round.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn sorted(values: __m512i) -> __m512i {
        // A network: which lanes meet is fixed, so that nothing branches and all four comparisons of a step
        // are one instruction for the less and one for the greater. The masks have the lanes that get the
        // greater. Shuffle 0x4e swaps neighbours, 0x1b turns fours round, and permutation 0x4e swaps pairs.
        let turned = _mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        let values = exchange(values, _mm512_shuffle_epi32::<0x4e>(values), 0b1010_1010);
        let values = exchange(values, _mm512_permutex_epi64::<0x1b>(values), 0b1100_1100);
        let values = exchange(values, _mm512_shuffle_epi32::<0x4e>(values), 0b1010_1010);
        let values = exchange(values, _mm512_permutexvar_epi64(turned, values), 0b1111_0000);
        let values = exchange(values, _mm512_permutex_epi64::<0x4e>(values), 0b1100_1100);
        exchange(values, _mm512_shuffle_epi32::<0x4e>(values), 0b1010_1010)
    }

    /// Sorts values in slots of at most [`LONGEST`], which are in order themselves.
    ///
    /// # Safety
    /// There must be at least as many values as a window has.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn sort_windows(values: &mut [u64]) {
        let last = values.len() - WINDOW;
        // Values of different slots are in order, so a window rearranges only values of one slot, and what a
        // first window has put in order a second one leaves so. Windows begin at all multiples of four: a
        // slot of five that begins at `s` lies in the one that begins at the multiple before `s`. At the end
        // it is the last window, which may overlap.
        for first in [0, WINDOW / 2] {
            for at in (first..=last).step_by(WINDOW).chain([last]) {
                // SAFETY: no window begins behind `last`, and the one that begins there ends with the values.
                unsafe {
                    let place = values.as_mut_ptr().add(at).cast();
                    _mm512_storeu_si512(place, sorted(_mm512_loadu_si512(place)));
                }
            }
        }
    }

    /// As the portable one.
    #[target_feature(enable = "avx512f")]
    pub(super) fn distinct(values: &mut [u64]) -> usize {
        let Some(&first) = values.first() else { return 0 };
        // What stands before the first value is another one: its complement is never equal to it.
        let mut before = _mm512_set1_epi64((!first).cast_signed());
        let mut kept = 0;
        for at in (0..values.len()).step_by(WINDOW) {
            let here = u8::MAX >> WINDOW.saturating_sub(values.len() - at);
            // SAFETY: lanes behind the last value are masked out of the load. `kept` is at most `at`, since
            // no more are kept than were read, and as many lanes are stored as are kept of these: what is
            // written was read before.
            unsafe {
                // Each value beside the one before it: `alignr` shifts in the last lane of the window before.
                // Those that differ move to the front, and only they are stored.
                let now = _mm512_maskz_loadu_epi64(here, values.as_ptr().add(at).cast());
                let new = _mm512_mask_cmpneq_epu64_mask(here, now, _mm512_alignr_epi64::<7>(now, before));
                let count = new.count_ones();
                let front = u8::MAX.checked_shr(8 - count).unwrap_or(0);
                let place = values.as_mut_ptr().add(kept).cast();
                _mm512_mask_storeu_epi64(place, front, _mm512_maskz_compress_epi64(new, now));
                kept += count as usize;
                before = now;
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hashes(seeds: &[u64]) -> Vec<u64> {
        seeds.iter().map(|&seed| crate::mix(seed)).collect()
    }

    proptest! {
        #[test]
        fn sorted_is_sorted(seeds in prop::collection::vec(0u64..5000, 0..2000), shift in 0u32..64) {
            let shifted = hashes(&seeds).iter().map(|value| value >> shift).collect();
            for values in [hashes(&seeds), seeds.clone(), shifted] {
                let mut expected = values.clone();
                expected.sort_unstable();
                let mut set = expected.clone();
                set.dedup();
                for cpu in Cpu::available() {
                    let (mut buffers, mut out) = (SortBuffers::default(), vec![1]);
                    buffers.unsorted().extend_from_slice(&values);
                    append(&mut out, &mut buffers, cpu);
                    prop_assert_eq!(&out[1..], &expected, "{:?}", cpu);
                    append_set_by(&mut out, &mut buffers, cpu);
                    prop_assert_eq!(&out[1 + expected.len()..], &set, "{:?}", cpu);
                }
            }
        }
    }
}

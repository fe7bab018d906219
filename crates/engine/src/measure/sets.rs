//! Counts of the values that two sorted sequences share, and of the bits that two rows share.

use lookalike_hash::cpu::Cpu;

/// Steps between two looks at whether the goal is still in reach.
const STRIDE: usize = 32;

/// Lanes: stretches of the two sets that are gone through side by side. A step must wait for the one before it to know where
/// it stands; steps of different lanes wait for each other in nothing.
const LANES: usize = 4;

/// Counts the values that two sorted sets share; returns nothing if there are fewer than `least`.
pub(super) fn shared(a: &[u64], b: &[u64], least: usize) -> Option<usize> {
    let shorter = a.len().min(b.len());
    if shorter < least {
        return None;
    }
    if shorter < LANES * STRIDE {
        return shared_sequential(a, b, least);
    }
    let mut rest = split_lanes(a, b);
    let mut shared = 0;
    while rest.iter().all(|(a, b)| a.len().min(b.len()) >= STRIDE) {
        shared += stride(&mut rest);
        if shared + rest.iter().map(|(a, b)| a.len().min(b.len())).sum::<usize>() < least {
            return None;
        }
    }
    let mut behind: usize = rest.iter().map(|(a, b)| a.len().min(b.len())).sum();
    for (a, b) in rest {
        behind -= a.len().min(b.len());
        shared += shared_sequential(a, b, least.saturating_sub(shared + behind))?;
    }
    (shared >= least).then_some(shared)
}

/// Counts the bits that two rows share.
pub(super) fn shared_bits(a: &[u64], b: &[u64]) -> usize {
    #[inline(always)]
    fn count(a: &[u64], b: &[u64]) -> usize {
        a.iter().zip(b).map(|(a, b)| (a & b).count_ones() as usize).sum()
    }
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,popcnt")]
        fn with_avx2(a: &[u64], b: &[u64]) -> usize {
            count(a, b)
        }
        if Cpu::detect().has_avx2() {
            // SAFETY: the processor was asked for both, see `Cpu::detect`.
            return unsafe { with_avx2(a, b) };
        }
    }
    count(a, b)
}

/// A stretch of one set and the same stretch of another.
type Lane<'s> = (&'s [u64], &'s [u64]);

/// The two sets, cut at the same values. Hashes are spread evenly, so the lanes are of about equal length.
fn split_lanes<'s>(mut a: &'s [u64], mut b: &'s [u64]) -> [Lane<'s>; LANES] {
    std::array::from_fn(|number| {
        let end = (u64::MAX / LANES as u64).saturating_mul(number as u64 + 1);
        let last = number + 1 == LANES;
        let before = |set: &[u64]| if last { set.len() } else { set.partition_point(|&value| value < end) };
        let (here, there);
        (here, a) = a.split_at(before(a));
        (there, b) = b.split_at(before(b));
        (here, there)
    })
}

/// Goes some steps through all lanes, each of which is long enough; returns how many shared values it met.
///
/// No branch depends on the values: which of two hashes is smaller cannot be guessed.
fn stride(rest: &mut [Lane<'_>; LANES]) -> usize {
    let mut places: [(*const u64, *const u64); LANES] = rest.map(|(a, b)| (a.as_ptr(), b.as_ptr()));
    let mut shared = 0;
    for _ in 0..STRIDE {
        for (a, b) in &mut places {
            // SAFETY: a step goes on by at most one on each side, and on each side so many values as steps are left.
            unsafe {
                let (x, y) = (**a, **b);
                shared += usize::from(x == y);
                *a = a.add(usize::from(x <= y));
                *b = b.add(usize::from(y <= x));
            }
        }
    }
    for ((a, b), (here, there)) in rest.iter_mut().zip(places) {
        // SAFETY: the places are inside the stretches that they began at, or just behind them.
        let (here, there) =
            unsafe { (here.offset_from_unsigned(a.as_ptr()), there.offset_from_unsigned(b.as_ptr())) };
        (*a, *b) = (&a[here..], &b[there..]);
    }
    shared
}

/// The same one step after the other, for what is left.
fn shared_sequential(a: &[u64], b: &[u64], least: usize) -> Option<usize> {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        shared += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
        if (i + j) % STRIDE == 0 && shared + (a.len() - i).min(b.len() - j) < least {
            return None;
        }
    }
    (shared >= least).then_some(shared)
}

/// The counted values of a sorted bag.
fn counts(bag: &[u64]) -> impl Iterator<Item = (u64, u64)> + '_ {
    bag.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64))
}

/// Sum of the products of counts.
pub(super) fn dot(a: &[u64], b: &[u64]) -> u64 {
    let (mut left, mut right) = (counts(a).peekable(), counts(b).peekable());
    let mut sum = 0;
    while let (Some(&(x, m)), Some(&(y, n))) = (left.peek(), right.peek()) {
        if x == y {
            sum += m * n;
        }
        if x <= y {
            left.next();
        }
        if y <= x {
            right.next();
        }
    }
    sum
}

/// Sum of the squares of counts.
pub(super) fn square(bag: &[u64]) -> u128 {
    counts(bag).map(|(_, count)| u128::from(count) * u128::from(count)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn shared_bits_are_counted(rows in prop::collection::vec((any::<u64>(), any::<u64>()), 0..40)) {
            let (a, b): (Vec<u64>, Vec<u64>) = rows.iter().copied().unzip();
            let expected: u32 = rows.iter().map(|(a, b)| (a & b).count_ones()).sum();
            prop_assert_eq!(shared_bits(&a, &b), expected as usize);
        }

        #[test]
        fn shared_values_are_those_of_sets(
            a in prop::collection::btree_set(0u64..900, 0..700),
            b in prop::collection::btree_set(0u64..900, 0..700),
            least in 0usize..700,
            even: bool,
        ) {
            let set = |seeds: &BTreeSet<u64>| -> BTreeSet<u64> {
                seeds.iter().map(|&seed| if even { lookalike_hash::mix(seed) } else { seed }).collect()
            };
            let (a, b) = (set(&a), set(&b));
            let expected = Some(a.intersection(&b).count()).filter(|&count| count >= least);
            let (a, b): (Vec<u64>, Vec<u64>) = (a.into_iter().collect(), b.into_iter().collect());
            prop_assert_eq!(shared(&a, &b, least), expected);
        }
    }

    proptest! {
        #[test]
        fn products_of_counts_are_those_of_bags(
            a in prop::collection::vec(0u64..12, 0..60),
            b in prop::collection::vec(0u64..12, 0..60),
        ) {
            let count = |bag: &[u64], value: u64| bag.iter().filter(|other| **other == value).count() as u64;
            let expected: u64 = (0..12).map(|value| count(&a, value) * count(&b, value)).sum();
            let squares: u64 = (0..12).map(|value| count(&a, value).pow(2)).sum();
            let sorted = |bag: &[u64]| {
                let mut bag = bag.to_vec();
                bag.sort_unstable();
                bag
            };
            prop_assert_eq!(dot(&sorted(&a), &sorted(&b)), expected);
            prop_assert_eq!(square(&sorted(&a)), u128::from(squares));
        }

        #[test]
        fn lanes_are_the_sets_in_pieces(a in prop::collection::btree_set(any::<u64>(), 0..80), b in prop::collection::btree_set(any::<u64>(), 0..80)) {
            let (a, b): (Vec<u64>, Vec<u64>) = (a.into_iter().collect(), b.into_iter().collect());
            let lanes = split_lanes(&a, &b);
            prop_assert_eq!(lanes.map(|(here, _)| here).concat(), a.clone());
            prop_assert_eq!(lanes.map(|(_, there)| there).concat(), b.clone());
            for two in lanes.windows(2) {
                let (Some(last), Some(first)) = (two[0].0.last(), two[1].1.first()) else { continue };
                prop_assert!(last < first, "values of two lanes never meet");
            }
        }
    }
}

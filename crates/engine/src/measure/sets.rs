//! What two sorted sequences share.

/// Steps between two looks at whether the goal is still in reach.
const STRIDE: usize = 32;

/// Stretches of the two sets that are gone through side by side. A step must wait for the one before it to know where
/// it stands; steps of different stretches wait for each other in nothing.
const STRETCHES: usize = 4;

/// How many values two sorted sets share, or nothing if it is fewer than `least`.
pub(super) fn shared(a: &[u64], b: &[u64], least: usize) -> Option<usize> {
    if a.len().min(b.len()) < least {
        return None;
    }
    let mut merges = Merge::side_by_side(a, b);
    while merges.iter().all(Merge::has_room) {
        for _ in 0..STRIDE {
            merges.iter_mut().for_each(Merge::step);
        }
        if merges.iter().map(Merge::most).sum::<usize>() < least {
            return None;
        }
    }
    let mut most: usize = merges.iter().map(Merge::most).sum();
    for merge in &mut merges {
        most -= merge.most();
        while merge.has_room() {
            for _ in 0..STRIDE {
                merge.step();
            }
            if most + merge.most() < least {
                return None;
            }
        }
        while merge.i < merge.a.len() && merge.j < merge.b.len() {
            merge.step();
        }
        most += merge.shared;
    }
    (most >= least).then_some(most)
}

/// Two sorted stretches on their way.
#[derive(Clone, Copy)]
struct Merge<'s> {
    a: &'s [u64],
    b: &'s [u64],
    i: usize,
    j: usize,
    shared: usize,
}

impl<'s> Merge<'s> {
    /// The two sets, cut at the same values. Hashes are spread evenly, so the stretches are of about equal length.
    fn side_by_side(mut a: &'s [u64], mut b: &'s [u64]) -> [Self; STRETCHES] {
        std::array::from_fn(|number| {
            let end = (u64::MAX / STRETCHES as u64).saturating_mul(number as u64 + 1);
            let last = number + 1 == STRETCHES;
            let before =
                |set: &[u64]| if last { set.len() } else { set.partition_point(|&value| value < end) };
            let (here, there) = (before(a), before(b));
            let merge = Merge { a: &a[..here], b: &b[..there], i: 0, j: 0, shared: 0 };
            (a, b) = (&a[here..], &b[there..]);
            merge
        })
    }

    fn has_room(&self) -> bool {
        self.i + STRIDE <= self.a.len() && self.j + STRIDE <= self.b.len()
    }

    /// No branch depends on the values: which of two hashes is smaller cannot be guessed.
    #[inline(always)]
    fn step(&mut self) {
        let (x, y) = (self.a[self.i], self.b[self.j]);
        self.shared += usize::from(x == y);
        self.i += usize::from(x <= y);
        self.j += usize::from(y <= x);
    }

    /// How many values can be shared in the end.
    fn most(&self) -> usize {
        self.shared + (self.a.len() - self.i).min(self.b.len() - self.j)
    }
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

/// Room for sorting, used again.
#[derive(Debug, Default)]
pub struct Scratch {
    values: Vec<u64>,
    ends: Vec<u32>,
}

/// Sorts values that are spread evenly over all numbers, as hashes are: each goes near its place at once, and the few
/// that meet there are put in order.
pub(super) fn sort(values: &mut [u64], scratch: &mut Scratch) {
    const FEW: usize = 48;
    const CROWD: u32 = 24;
    const MOST_BITS: u32 = 16;
    let Scratch { values: before, ends } = scratch;
    if values.len() < FEW || values.len() > u32::MAX as usize {
        return values.sort_unstable();
    }
    let bits = (values.len().ilog2() - 1).min(MOST_BITS);
    let place = |value: u64| (value >> (64 - bits)) as usize;
    ends.clear();
    ends.resize(1 << bits, 0);
    values.iter().for_each(|&value| ends[place(value)] += 1);
    // Equal values, or values that were made to meet: the general way is not troubled by them.
    if ends.iter().any(|&count| count > CROWD << (values.len().ilog2() - 1 - bits)) {
        return values.sort_unstable();
    }
    let mut end = 0;
    for slot in &mut *ends {
        end += *slot;
        *slot = end;
    }
    before.clear();
    before.extend_from_slice(values);
    for &value in &*before {
        let slot = &mut ends[place(value)];
        *slot -= 1;
        values[*slot as usize] = value;
    }
    for end in 1..values.len() {
        let value = values[end];
        let mut at = end;
        while at > 0 && values[at - 1] > value {
            values[at] = values[at - 1];
            at -= 1;
        }
        values[at] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn hashes(seeds: &[u64]) -> Vec<u64> {
        seeds.iter().map(|&seed| lookalike_text::hash::mix(seed)).collect()
    }

    proptest! {
        #[test]
        fn sorted_is_sorted(seeds in prop::collection::vec(0u64..5000, 0..2000), shift in 0u32..64) {
            for mut values in [hashes(&seeds), seeds.clone(), hashes(&seeds).iter().map(|value| value >> shift).collect()] {
                let mut expected = values.clone();
                expected.sort_unstable();
                sort(&mut values, &mut Scratch::default());
                prop_assert_eq!(values, expected);
            }
        }

        #[test]
        fn shared_values_are_those_of_sets(
            a in prop::collection::btree_set(0u64..900, 0..700),
            b in prop::collection::btree_set(0u64..900, 0..700),
            least in 0usize..700,
            even: bool,
        ) {
            let set = |seeds: &BTreeSet<u64>| -> BTreeSet<u64> {
                seeds.iter().map(|&seed| if even { lookalike_text::hash::mix(seed) } else { seed }).collect()
            };
            let (a, b) = (set(&a), set(&b));
            let expected = Some(a.intersection(&b).count()).filter(|&count| count >= least);
            let (a, b): (Vec<u64>, Vec<u64>) = (a.into_iter().collect(), b.into_iter().collect());
            prop_assert_eq!(shared(&a, &b, least), expected);
        }
    }
}

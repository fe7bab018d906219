//! Shingles that many documents of a part share.
//!
//! Pages of one site have a template in common, and each is a candidate of hundreds of others, most of which are not near
//! enough after all. What they share is counted again and again, and nearly all of it is the template. So the most
//! frequent shingles of such a part become bits, one row for each document, and leave the sets. Two documents share what
//! their rows share and what is left of their sets does. Which shingles are bits matters for nothing but speed: they are
//! found in a sample.

use lookalike_hash::{SortBuffers, append_sorted};

/// Most shingles that become bits: a row is 1 KiB then.
const MAX_FREQUENT: usize = 8192;

/// Documents of the sample.
const SAMPLE: usize = 32;

/// A slot without a shingle.
const FREE: u16 = u16::MAX;

/// The shingles that become bits.
pub(super) struct Frequent {
    /// Each with its number, in a table of four slots or more for each.
    slots: Vec<(u64, u16)>,
    count: usize,
}

impl Frequent {
    /// The most frequent values of some sets; nothing when there are none to speak of.
    pub(super) fn find<'s>(sets: impl ExactSizeIterator<Item = &'s [u64]>) -> Option<Self> {
        // Spread over the part: documents that stand together may have a template of their own.
        let step = sets.len().div_ceil(SAMPLE).max(1);
        let (mut values, mut sorting) = (Vec::new(), SortBuffers::default());
        sorting.unsorted().extend(sets.step_by(step).flatten());
        append_sorted(&mut values, &mut sorting);
        let mut runs: Vec<(usize, u64)> = values
            .chunk_by(|a, b| a == b)
            // What one document of the sample has is not known to be shared.
            .filter(|run| run.len() > 1)
            .map(|run| (run.len(), run[0]))
            .collect();
        if runs.len() > MAX_FREQUENT {
            // Of equally frequent ones any will do, but always the same.
            runs.select_nth_unstable_by_key(MAX_FREQUENT, |&(count, value)| {
                (std::cmp::Reverse(count), value)
            });
            runs.truncate(MAX_FREQUENT);
        }
        // A quarter full at most: nearly every look ends at the first slot, found or not.
        let slots = vec![(0, FREE); (4 * runs.len()).next_power_of_two()];
        let mut frequent = Frequent { slots, count: runs.len() };
        for (number, &(_, value)) in runs.iter().enumerate() {
            let slot = frequent.slot(value);
            // `MAX_FREQUENT` is far below `FREE`, so that no number is taken for a free slot.
            frequent.slots[slot] = (value, number as u16);
        }
        (frequent.count > 0).then_some(frequent)
    }

    /// Words of a row.
    pub(super) fn words(&self) -> usize {
        self.count.div_ceil(64)
    }

    /// Returns the slot of a value, or the free slot where it would be.
    #[inline]
    fn slot(&self, value: u64) -> usize {
        // Values are hashes: any of their bits will do.
        let mask = self.slots.len() - 1;
        let mut slot = value as usize & mask;
        while self.slots[slot].1 != FREE && self.slots[slot].0 != value {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Moves what is frequent out of a set into its row; what is left stands in front, in order. Returns how much it is.
    pub(super) fn divide(&self, set: &mut [u64], row: &mut [u64]) -> usize {
        let mut left = 0;
        for at in 0..set.len() {
            let value = set[at];
            let (_, number) = self.slots[self.slot(value)];
            if number != FREE {
                row[usize::from(number) / 64] |= 1 << (number % 64);
            }
            // Always written, counted where it stays: which values are frequent cannot be guessed.
            set[left] = value;
            left += usize::from(number == FREE);
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_is_lost(sets in prop::collection::vec(prop::collection::btree_set(0u64..90, 0..60), 2..20)) {
            let plain: Vec<Vec<u64>> = sets.iter().map(|set| set.iter().copied().collect()).collect();
            let Some(frequent) = Frequent::find(plain.iter().map(Vec::as_slice)) else { return Ok(()) };
            let divided: Vec<(BTreeSet<u64>, Vec<u64>)> = plain
                .iter()
                .map(|set| {
                    let (mut set, mut row) = (set.clone(), vec![0; frequent.words()]);
                    let left = frequent.divide(&mut set, &mut row);
                    assert!(set[..left].is_sorted());
                    (set[..left].iter().copied().collect(), row)
                })
                .collect();
            for (a, one) in sets.iter().zip(&divided) {
                for (b, two) in sets.iter().zip(&divided) {
                    let bits: u32 = one.1.iter().zip(&two.1).map(|(a, b)| (a & b).count_ones()).sum();
                    let shared = one.0.intersection(&two.0).count() + bits as usize;
                    prop_assert_eq!(shared, a.intersection(b).count());
                }
            }
        }
    }

    #[test]
    fn values_of_one_set_alone_are_not_frequent() {
        let find = |sets: &[&[u64]]| Frequent::find(sets.iter().copied()).map(|frequent| frequent.count);
        assert_eq!(find(&[&[1, 2], &[3, 4]]), None);
        assert_eq!(find(&[&[1, 2, 3], &[2, 3, 4]]), Some(2));
        assert_eq!(find(&[&[], &[]]), None);
    }

    #[test]
    fn the_most_frequent_values_become_bits_where_there_are_too_many() {
        let many: Vec<u64> = (0..MAX_FREQUENT as u64 + 100).map(lookalike_hash::mix).collect();
        let often = many[MAX_FREQUENT + 50];
        let sets = [many.as_slice(), &many, &[often]];
        let frequent = Frequent::find(sets.into_iter()).unwrap();
        assert_eq!((frequent.count, frequent.words()), (MAX_FREQUENT, MAX_FREQUENT / 64));
        assert_ne!(frequent.slots[frequent.slot(often)].1, FREE);
        let (mut set, mut row) = (many.clone(), vec![0; frequent.words()]);
        assert_eq!(frequent.divide(&mut set, &mut row), 100);
        assert_eq!(row.iter().map(|word| word.count_ones() as usize).sum::<usize>(), MAX_FREQUENT);
    }
}

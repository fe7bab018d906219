//! A set of the n-grams of a document that were met before.

/// A set of hashes, used again for one document after the other. Hashes are spread evenly, so that their upper bits tell
/// where to look; the next free slot follows soon, because half of the slots stay free.
#[derive(Debug, Default)]
pub(super) struct HashSet64 {
    /// 0 where nothing is.
    slots: Vec<u64>,
    shift: u32,
    zero: bool,
}

impl HashSet64 {
    /// Forgets all; at most `most` hashes come now.
    pub(super) fn begin(&mut self, most: usize) {
        // At least one slot in two stays free, so that every search ends, and soon. At least two slots: a
        // shift by 64 would overflow.
        let size = (2 * most).next_power_of_two().max(2);
        self.slots.clear();
        self.slots.resize(size, 0);
        self.shift = u64::BITS - size.ilog2();
        self.zero = false;
    }

    /// True when the hash is there for the first time.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        // 0 marks a free slot, so the hash 0 is remembered beside them.
        if hash == 0 {
            return !std::mem::replace(&mut self.zero, true);
        }
        let mut slot = (hash >> self.shift) as usize;
        loop {
            match self.slots[slot] {
                0 => break,
                stored if stored == hash => return false,
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
        self.slots[slot] = hash;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_same_as_any_set(documents in prop::collection::vec(prop::collection::vec(0u64..40, 0..60), 1..4), low: bool) {
            let mut hashes = HashSet64::default();
            for document in documents {
                hashes.begin(document.len());
                let mut set = BTreeSet::new();
                for number in document {
                    // At either end of the range, where many want the same slot.
                    let hash = if low { number } else { number.wrapping_neg() };
                    prop_assert_eq!(hashes.insert(hash), set.insert(hash));
                }
            }
        }
    }
}

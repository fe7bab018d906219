//! Sorting hashes.

/// Room for sorting, used again.
#[derive(Debug, Default)]
pub struct Sorting {
    before: Vec<u64>,
    ends: Vec<u32>,
}

impl Sorting {
    /// Room for values that are to be sorted, empty.
    pub fn unsorted(&mut self) -> &mut Vec<u64> {
        self.before.clear();
        &mut self.before
    }
}

/// Appends what was put into the room for unsorted values, in order. They are spread evenly over all numbers, as hashes
/// are: each goes near its place at once, and the few that meet there are put in order.
pub fn append_sorted(out: &mut Vec<u64>, room: &mut Sorting) {
    const FEW: usize = 48;
    const CROWD: u32 = 24;
    const MOST_BITS: u32 = 16;
    let Sorting { before, ends } = room;
    let start = out.len();
    if before.len() < FEW || before.len() > u32::MAX as usize {
        out.extend_from_slice(before);
        return out[start..].sort_unstable();
    }
    let bits = (before.len().ilog2() + 1).min(MOST_BITS);
    let place = |value: u64| (value >> (64 - bits)) as usize;
    ends.clear();
    ends.resize(1 << bits, 0);
    before.iter().for_each(|&value| ends[place(value)] += 1);
    let crowded = ends.iter().any(|&count| count > CROWD);
    let mut end = 0;
    for slot in &mut *ends {
        end += *slot;
        *slot = end;
    }
    out.resize(start + before.len(), 0);
    let values = &mut out[start..];
    for &value in &*before {
        let slot = &mut ends[place(value)];
        *slot -= 1;
        values[*slot as usize] = value;
    }
    if crowded {
        // Equal values, or values that were made to meet: the general way is not troubled by them.
        let all = values.len() as u32;
        for (&start, &end) in ends.iter().zip(ends[1..].iter().chain([&all])) {
            if end - start > CROWD {
                values[start as usize..end as usize].sort_unstable();
            }
        }
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

/// Drops all but the first of equal neighbours from `start` on.
pub fn distinct(values: &mut Vec<u64>, start: usize) {
    let mut kept = start;
    for index in start..values.len() {
        // No branch on whether it repeats the one before: that cannot be guessed.
        let repeated = kept > start && values[index] == values[kept - 1];
        values[kept] = values[index];
        kept += usize::from(!repeated);
    }
    values.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hashes(seeds: &[u64]) -> Vec<u64> {
        seeds.iter().map(|&seed| crate::hash::mix(seed)).collect()
    }

    proptest! {
        #[test]
        fn sorted_is_sorted(seeds in prop::collection::vec(0u64..5000, 0..2000), shift in 0u32..64) {
            for mut values in [hashes(&seeds), seeds.clone(), hashes(&seeds).iter().map(|value| value >> shift).collect()] {
                let mut expected = values.clone();
                expected.sort_unstable();
                let mut room = Sorting::default();
                room.unsorted().append(&mut values);
                values.push(1);
                append_sorted(&mut values, &mut room);
                prop_assert_eq!(&values[1..], expected);
            }
        }

        #[test]
        fn distinct_values_are_those_of_a_set(mut values in prop::collection::vec(0u64..50, 0..80), start in 0usize..20) {
            let start = start.min(values.len());
            values[start..].sort_unstable();
            let mut expected = values[..start].to_vec();
            expected.extend(values[start..].iter().copied().collect::<std::collections::BTreeSet<_>>());
            distinct(&mut values, start);
            prop_assert_eq!(values, expected);
        }
    }
}

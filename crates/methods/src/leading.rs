//! The first few of many items, in an order that is asked for.

use std::cmp::Ordering;

/// Replaces `leading` with the first `count` of the items numbered from 0 to `items`, in their `order`. Items that are
/// equal in it are one item, known by the lowest number.
pub(crate) fn first_n(
    count: usize,
    items: usize,
    leading: &mut Vec<u32>,
    order: impl Fn(usize, usize) -> Ordering,
) {
    leading.clear();
    for item in 0..items {
        // Most items come behind all that lead, which one comparison tells.
        if leading.len() == count
            && leading.last().is_some_and(|&last| order(last as usize, item) != Ordering::Greater)
        {
            continue;
        }
        let place = leading.binary_search_by(|&other| order(other as usize, item));
        if let Err(place) = place
            && place < count
        {
            leading.truncate(count - 1);
            leading.insert(place, item as u32);
        }
    }
}

/// A weight as it is compared: in whole billionths, so that the order of a sum does not decide.
pub(crate) fn rounded(weight: f64) -> i64 {
    (weight * 1e9).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hair_makes_no_difference() {
        assert_eq!(rounded(0.1 + 0.2), rounded(0.3));
        assert_eq!(rounded(-1e-12), rounded(1e-12));
        assert_ne!(rounded(1e-9), rounded(2e-9));
    }

    proptest! {
        #[test]
        fn the_first_few_are_those_of_the_sorted_list(items in prop::collection::vec(0u8..20, 0..60), count in 1usize..9) {
            let mut found = vec![7];
            first_n(count, items.len(), &mut found, |a, b| items[a].cmp(&items[b]));
            let mut sorted: Vec<u32> = (0..items.len() as u32).collect();
            sorted.sort_by_key(|&item| items[item as usize]);
            sorted.dedup_by_key(|item| items[*item as usize]);
            sorted.truncate(count);
            prop_assert_eq!(found, sorted);
        }
    }
}

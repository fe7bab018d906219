//! Payloads of several 64-bit values side by side, none of them 0: that is what a document without a signature has.

/// Appends `values` to a payload.
pub(crate) fn append(values: impl IntoIterator<Item = u64>, payload: &mut Vec<u8>) {
    payload.extend(values.into_iter().flat_map(|value| value.max(1).to_le_bytes()));
}

/// The values of a payload.
pub(crate) fn values(payload: &[u8]) -> impl Iterator<Item = u64> {
    payload.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Counts the values that are equal at the same position.
pub(crate) fn equal(a: &[u8], b: &[u8]) -> usize {
    values(a).zip(values(b)).filter(|(a, b)| a == b && *a != 0).count()
}

/// Counts the values that are in both payloads at any position; the values of each payload are in ascending order.
pub(crate) fn common(a: &[u8], b: &[u8]) -> usize {
    let (mut a, mut b) = (values(a).peekable(), values(b).peekable());
    let mut common = 0;
    while let (Some(&one), Some(&two)) = (a.peek(), b.peek()) {
        common += usize::from(one == two && one != 0);
        a.next_if(|_| one <= two);
        b.next_if(|_| two <= one);
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn payload(values: &[u64]) -> Vec<u8> {
        let mut payload = Vec::new();
        append(values.iter().copied(), &mut payload);
        payload
    }

    #[test]
    fn nothing_is_not_equal_to_nothing() {
        let none = [0; 24];
        assert_eq!((equal(&none, &none), common(&none, &none)), (0, 0));
        assert_eq!(equal(&payload(&[0, 2, 3]), &payload(&[0, 3, 3])), 2);
        assert_eq!(common(&payload(&[2, 3, 5]), &payload(&[1, 2, 5])), 2);
    }

    proptest! {
        #[test]
        fn common_values_are_those_of_sets(
            a in prop::collection::btree_set(1u64..20, 0..8),
            b in prop::collection::btree_set(1u64..20, 0..8),
        ) {
            let bytes = |set: &std::collections::BTreeSet<u64>| payload(&set.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(common(&bytes(&a), &bytes(&b)), a.intersection(&b).count());
        }
    }
}

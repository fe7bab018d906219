//! The textbook family: value `i` is the least `h_i` of all shingles, one hash per value and shingle.

use lookalike_hash as hash;

use super::MinimaBuffers;

/// Shingles that stay in the nearest cache while all functions run over them.
const BLOCK: usize = 1024;

/// Fills `buffers.minima` with the minima of `h_1` to `h_values` over `shingles`, of which there is at least one.
pub(crate) fn minima(
    shingles: impl Iterator<Item = u64>,
    values: usize,
    salt: u64,
    buffers: &mut MinimaBuffers,
) {
    let function = |index: usize, x| hash::nth(index as u64 + 1, x);
    minima_by(function, shingles.map(|shingle| shingle ^ salt), values, buffers);
}

/// The same by other functions, which count from 0.
pub(crate) fn minima_by(
    function: impl Fn(usize, u64) -> u64,
    shingles: impl Iterator<Item = u64>,
    values: usize,
    buffers: &mut MinimaBuffers,
) {
    let MinimaBuffers { minima, elements, .. } = buffers;
    minima.clear();
    minima.resize(values, u64::MAX);
    elements.clear();
    elements.extend(shingles);
    // Functions inside, blocks outside: a block is read from the nearest cache once for each function, and
    // the minimum stays in a register while it is gone through.
    for block in elements.chunks(BLOCK) {
        for (index, minimum) in minima.iter_mut().enumerate() {
            *minimum = block.iter().fold(*minimum, |least, &x| least.min(function(index, x)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_hash::{Grams, word};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn minima_of_the_rose_are_the_published_ones() {
        let rose: Vec<u64> = "a rose is a rose is a rose".split(' ').map(|w| word(w.as_bytes())).collect();
        let mut buffers = MinimaBuffers::default();
        minima(Grams::new(&rose, 4), 4, crate::seed::salt(1), &mut buffers);
        let published =
            [0x3ae5_4cc9_251a_e729, 0x6c7a_cebf_b657_adf9, 0x0c81_4b34_8629_6f31, 0x28ec_852d_3bc1_208c];
        assert_eq!(buffers.minima, published);
    }

    #[test]
    fn blocks_do_not_show() {
        let shingles: Vec<u64> = (0..5000).map(hash::mix).collect();
        let mut buffers = MinimaBuffers::default();
        minima(shingles.iter().copied(), 3, 7, &mut buffers);
        let plain = [1, 2, 3].map(|i| shingles.iter().map(|&x| hash::nth(i, x ^ 7)).min().unwrap());
        assert_eq!(buffers.minima, plain);
    }

    /// The textbook's way with a table of rows (elements) and columns (documents), in one pass over the rows: a slot for
    /// each column and function is lowered wherever the column has the row.
    fn slots(
        rows: impl Iterator<Item = u64>,
        columns: &[BTreeSet<u64>],
        functions: &[&dyn Fn(u64) -> u64],
        mut after_row: impl FnMut(&[Vec<u64>]),
    ) -> Vec<Vec<u64>> {
        let mut slots = vec![vec![u64::MAX; functions.len()]; columns.len()];
        for row in rows {
            for (_, slots) in columns.iter().zip(&mut slots).filter(|(column, _)| column.contains(&row)) {
                for (function, slot) in functions.iter().zip(slots) {
                    *slot = (*slot).min(function(row));
                }
            }
            after_row(&slots);
        }
        slots
    }

    fn set<const N: usize>(elements: [u64; N]) -> BTreeSet<u64> {
        elements.into_iter().collect()
    }

    fn jaccard(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> f64 {
        a.intersection(b).count() as f64 / a.union(b).count() as f64
    }

    fn agreement(a: &[u64], b: &[u64]) -> f64 {
        a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64
    }

    #[test]
    fn columns_resemble_each_other_as_published() {
        assert_eq!(jaccard(&set([2, 3, 5]), &set([1, 3, 5, 6])), 2.0 / 5.0);
        let columns = [set([1, 3, 4]), set([2, 5]), set([1, 2, 4])];
        let pairs = [(0, 1), (0, 2), (1, 2)];
        assert_eq!(pairs.map(|(a, b)| jaccard(&columns[a], &columns[b])), [0.0, 0.5, 0.25]);
        // The row that comes first of those that a column has, for three orders of rows.
        let signature = |column: &BTreeSet<u64>| {
            let first = |order: [u64; 5]| order.into_iter().find(|row| column.contains(row)).unwrap();
            [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [3, 4, 5, 1, 2]].map(first)
        };
        let signatures = columns.each_ref().map(signature);
        assert_eq!(signatures, [[1, 4, 3], [2, 5, 5], [1, 4, 4]]);
        assert_eq!(pairs.map(|(a, b)| agreement(&signatures[a], &signatures[b])), [0.0, 2.0 / 3.0, 0.0]);
    }

    #[test]
    fn slots_fall_as_published() {
        let (h, g) = (|x: u64| x % 5, |x: u64| (2 * x + 1) % 5);
        assert_eq!([1, 2, 3, 4, 5].map(|x| (h(x), g(x))), [(1, 3), (2, 0), (3, 2), (4, 4), (0, 1)]);
        let columns = [set([1, 3, 4]), set([2, 3, 5])];
        let mut steps = Vec::new();
        let last = slots(1..=5, &columns, &[&h, &g], |slots| steps.push(slots.concat()));
        const NONE: u64 = u64::MAX;
        assert_eq!(steps, [[1, 3, NONE, NONE], [1, 3, 2, 0], [1, 2, 2, 0], [1, 2, 2, 0], [1, 2, 0, 0]]);
        assert_eq!(agreement(&last[0], &last[1]), 0.0);
        assert_eq!(jaccard(&columns[0], &columns[1]), 0.2);
    }

    #[test]
    fn half_of_all_permutations_agree_on_sets_that_are_half_alike() {
        let least = |permutation: &[u64], set: &BTreeSet<u64>| {
            set.iter().map(|&element| permutation[element as usize - 1]).min().unwrap()
        };
        let (a, b) = (set([2, 3, 4]), set([1, 2, 3]));
        assert_eq!(least(&[3, 4, 1, 2], &a), 1);
        let all = (0..256).map(|n| [n % 4 + 1, n / 4 % 4 + 1, n / 16 % 4 + 1, n / 64 + 1]);
        let permutations: Vec<[u64; 4]> = all.filter(|p| set(*p).len() == 4).collect();
        let agree = permutations.iter().filter(|p| least(&p[..], &a) == least(&p[..], &b)).count();
        assert_eq!((permutations.len(), agree, jaccard(&a, &b)), (24, 12, 0.5));
    }

    #[test]
    fn estimates_spread_as_published() {
        let spread = |k: f64, jaccard: f64| (jaccard * (1.0 - jaccard) / k).sqrt();
        for (k, jaccard, published) in
            [(84.0, 0.5, 0.0546), (84.0, 0.9, 0.0327), (200.0, 0.5, 0.0354), (200.0, 0.9, 0.0212)]
        {
            assert!((spread(k, jaccard) - published).abs() < 0.5e-4);
            let trials = 500;
            let estimate = |trial: u64| {
                let sketch = |elements: std::ops::Range<u64>| {
                    let mut buffers = MinimaBuffers::default();
                    minima(elements.map(|x| hash::mix(1000 * trial + x)), k as usize, 0, &mut buffers);
                    buffers.minima
                };
                // Of 60 elements, so many are in both.
                let shared = (60.0 * jaccard) as u64;
                let own = (60 - shared) / 2;
                agreement(&sketch(0..60 - own), &sketch(own..60))
            };
            let estimates: Vec<f64> = (0..trials).map(estimate).collect();
            let mean = estimates.iter().sum::<f64>() / trials as f64;
            let variance = estimates.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (trials - 1) as f64;
            let error = published / (trials as f64).sqrt();
            assert!((mean - jaccard).abs() < 3.0 * error, "{k} {jaccard}: {mean}");
            assert!(
                (variance.sqrt() - published).abs() < 3.0 * error / 2f64.sqrt(),
                "{k} {jaccard}: {variance}"
            );
        }
    }

    proptest! {
        #[test]
        fn minima_are_those_of_the_slots(
            columns in prop::collection::vec(prop::collection::btree_set(0u64..50, 1..30), 1..5),
            values in 1usize..8,
            salt: u64,
        ) {
            let function = |index: usize| move |x: u64| hash::nth(index as u64 + 1, x ^ salt);
            let all: Vec<_> = (0..values).map(function).collect();
            let functions: Vec<&dyn Fn(u64) -> u64> = all.iter().map(|one| one as _).collect();
            let expected = slots(0..50, &columns, &functions, |_| ());
            for (column, expected) in columns.iter().zip(&expected) {
                let mut buffers = MinimaBuffers::default();
                minima(column.iter().copied(), values, salt, &mut buffers);
                prop_assert_eq!(&buffers.minima, expected);
            }
        }
    }
}

//! The textbook family: value `i` is the least `h_i` of all shingles, one hash per value and shingle.

use lookalike_text::hash;

use crate::Scratch;

/// Shingles that stay in the nearest cache while all functions run over them.
const BLOCK: usize = 1024;

/// Fills `scratch.values` with the minima of `h_1` to `h_values` over `shingles`, of which there is at least one.
pub(crate) fn minima(shingles: impl Iterator<Item = u64>, values: usize, salt: u64, scratch: &mut Scratch) {
    let function = |index: usize, x| hash::nth(index as u64 + 1, x);
    minima_by(function, shingles.map(|shingle| shingle ^ salt), values, scratch);
}

/// The same by other functions, which count from 0.
pub(crate) fn minima_by(
    function: impl Fn(usize, u64) -> u64,
    shingles: impl Iterator<Item = u64>,
    values: usize,
    scratch: &mut Scratch,
) {
    let Scratch { values: minima, more: elements, .. } = scratch;
    minima.clear();
    minima.resize(values, u64::MAX);
    elements.clear();
    elements.extend(shingles);
    for block in elements.chunks(BLOCK) {
        for (index, minimum) in minima.iter_mut().enumerate() {
            *minimum = block.iter().fold(*minimum, |least, &x| least.min(function(index, x)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_text::hash::{Grams, word};

    #[test]
    fn minima_of_the_rose_are_the_published_ones() {
        let rose: Vec<u64> = "a rose is a rose is a rose".split(' ').map(|w| word(w.as_bytes())).collect();
        let mut scratch = Scratch::default();
        minima(Grams::new(&rose, 4), 4, crate::seed::salt(1), &mut scratch);
        let published =
            [0x3ae5_4cc9_251a_e729, 0x6c7a_cebf_b657_adf9, 0x0c81_4b34_8629_6f31, 0x28ec_852d_3bc1_208c];
        assert_eq!(scratch.values, published);
    }

    #[test]
    fn blocks_do_not_show() {
        let shingles: Vec<u64> = (0..5000).map(hash::mix).collect();
        let mut scratch = Scratch::default();
        minima(shingles.iter().copied(), 3, 7, &mut scratch);
        let plain = [1, 2, 3].map(|i| shingles.iter().map(|&x| hash::nth(i, x ^ 7)).min().unwrap());
        assert_eq!(scratch.values, plain);
    }
}

//! Rabin's family: value `i` is the least remainder of all shingles by a random irreducible polynomial of its own (Broder
//! 1997). Remainders are no min-wise independent family of functions, but near enough to one for estimates.

use super::{MinimaBuffers, classic};
use crate::polynomial::Function;
use crate::seed::SeededRng;

/// Functions that follow from a seed, one for each value.
#[derive(Debug)]
pub(crate) struct Functions(Vec<Function>);

impl Functions {
    /// Draws `values` functions, by polynomials that follow from `seed`.
    pub(crate) fn draw(values: usize, seed: u64) -> Self {
        let mut rng = SeededRng::new(seed);
        Functions((0..values).map(|_| Function::draw(&mut rng)).collect())
    }

    /// Fills `buffers.minima` with the minima of all functions over `shingles`, of which there is at least one.
    pub(crate) fn minima(&self, shingles: impl Iterator<Item = u64>, buffers: &mut MinimaBuffers) {
        classic::minima_by(|index, x| self.0[index].of(x), shingles, self.0.len(), buffers);
    }

    /// Bytes of memory that they take.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.len() as u64 * Function::BYTES
    }
}

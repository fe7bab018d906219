//! The pairs of all methods together, each once, with the methods that accept it.
//!
//! Every trial has its pairs in order, so that one walk through all of them side by side is enough: the pool is never in
//! memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::LabError;
use crate::trial::{Pairs, Trial};

/// Methods as bits: that of number i is bit i.
pub type Mask = u64;

/// Most methods that one pool has.
pub const MAX_METHODS: usize = 63;

/// A pair of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PooledPair {
    /// The first document.
    pub a: u32,
    /// The second.
    pub b: u32,
    /// The methods that accept it.
    pub mask: Mask,
}

/// The pool, pair by pair.
#[derive(Debug)]
pub struct Pool {
    pairs: Vec<Pairs>,
    /// The next pair of each trial.
    heads: BinaryHeap<Reverse<(u32, u32, usize)>>,
}

impl Pool {
    /// The pool of these trials.
    pub fn of<'t>(trials: impl IntoIterator<Item = &'t Trial>) -> Result<Pool, LabError> {
        let pairs = trials.into_iter().map(Trial::pairs).collect::<Result<Vec<_>, _>>()?;
        assert!(pairs.len() <= MAX_METHODS + 1, "a mask has a bit for each method");
        let mut pool = Pool { heads: BinaryHeap::with_capacity(pairs.len()), pairs };
        for index in 0..pool.pairs.len() {
            pool.advance(index)?;
        }
        Ok(pool)
    }

    fn advance(&mut self, index: usize) -> Result<(), LabError> {
        if let Some(pair) = self.pairs[index].next().transpose()? {
            self.heads.push(Reverse((pair.a, pair.b, index)));
        }
        Ok(())
    }

    fn next_pair(&mut self) -> Result<Option<PooledPair>, LabError> {
        let Some(&Reverse((a, b, _))) = self.heads.peek() else { return Ok(None) };
        let mut mask = 0;
        while let Some(&Reverse((other_a, other_b, index))) = self.heads.peek() {
            if (other_a, other_b) != (a, b) {
                break;
            }
            mask |= 1 << index;
            self.heads.pop();
            self.advance(index)?;
        }
        Ok(Some(PooledPair { a, b, mask }))
    }
}

impl Iterator for Pool {
    type Item = Result<PooledPair, LabError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_pair().transpose()
    }
}

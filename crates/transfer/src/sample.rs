//! Found documents drawn at random, for a person to look at.

use std::collections::BTreeMap;

use lookalike::engine::compared::Match;
use lookalike::text::hash;

/// The most similar pair of a left document by one method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledPair {
    /// The left document.
    pub left: u32,
    /// The right one.
    pub right: u32,
    /// The similarity of the two documents.
    pub similarity: f64,
}

/// Draws the same number of the left documents found by each method. The draw depends on the seed and the documents' numbers alone.
#[derive(Debug)]
pub struct Sample {
    most: usize,
    seed: u64,
    /// The pairs with the lowest hashes, by method.
    lowest: Vec<BTreeMap<(u64, u32), SampledPair>>,
    /// The best pair of the current left document, by method.
    best: Vec<Option<SampledPair>>,
}

impl Sample {
    /// Returns a sample of up to `most` documents for each method.
    pub fn new(most: usize, methods: usize, seed: u64) -> Self {
        Sample { most, seed, lowest: vec![BTreeMap::new(); methods], best: vec![None; methods] }
    }

    /// The next pair; pairs come by left document.
    pub fn add(&mut self, found: &Match<'_>) {
        let pair = SampledPair { left: found.left.n, right: found.right.n, similarity: found.similarity };
        if self.best.iter().flatten().any(|before| before.left != pair.left) {
            self.close();
        }
        for (method, best) in self.best.iter_mut().enumerate() {
            let better = best.is_none_or(|before| pair.similarity > before.similarity);
            if found.methods >> method & 1 == 1 && better {
                *best = Some(pair);
            }
        }
    }

    fn close(&mut self) {
        for (best, lowest) in self.best.iter_mut().zip(&mut self.lowest) {
            let Some(pair) = best.take() else { continue };
            let rank = hash::mix(self.seed ^ hash::mix(u64::from(pair.left) + 1));
            lowest.insert((rank, pair.left), pair);
            if lowest.len() > self.most {
                lowest.pop_last();
            }
        }
    }

    /// The pairs that were drawn, each once, with the methods that it was drawn for, by left and right document.
    pub fn finish(mut self) -> Vec<(SampledPair, Vec<usize>)> {
        self.close();
        let mut all: BTreeMap<(u32, u32), (SampledPair, Vec<usize>)> = BTreeMap::new();
        for (method, lowest) in self.lowest.into_iter().enumerate() {
            for pair in lowest.into_values() {
                all.entry((pair.left, pair.right)).or_insert((pair, Vec::new())).1.push(method);
            }
        }
        all.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike::engine::compared::SideDocument;

    #[test]
    fn each_method_draws_from_what_it_finds() {
        let mut sample = Sample::new(10, 2, 7);
        for left in 0..200 {
            for right in 0..3 {
                let named = |n| SideDocument { n, place: n, id: "", url: None };
                let (similarity, methods) = (f64::from(right) / 4.0, if left % 2 == 0 { 3 } else { 1 });
                let (left, right) = (named(left), named(right));
                sample.add(&Match { left, right, similarity, reverse: None, near: false, methods });
            }
        }
        let sampled = sample.finish();
        let of = |method: usize| {
            sampled.iter().filter(|(_, methods)| methods.contains(&method)).collect::<Vec<_>>()
        };
        assert_eq!((of(0).len(), of(1).len()), (10, 10));
        assert!(of(1).iter().all(|(pair, _)| pair.left % 2 == 0));
        assert!(sampled.iter().all(|(pair, _)| pair.right == 2));
    }
}

//! Found documents drawn by lot, for a person to look at.

use std::collections::BTreeMap;

use lookalike::engine::compared::Match;
use lookalike::text::hash;

/// The most similar pair of a left document by one method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawn {
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
    /// The lowest lots of each method.
    lots: Vec<BTreeMap<(u64, u32), Drawn>>,
    /// The best pair of the current left document, by method.
    at: Vec<Option<Drawn>>,
}

impl Sample {
    /// Returns a sample of up to `most` documents for each method.
    pub fn new(most: usize, methods: usize, seed: u64) -> Self {
        Sample { most, seed, lots: vec![BTreeMap::new(); methods], at: vec![None; methods] }
    }

    /// The next pair; pairs come by left document.
    pub fn take(&mut self, found: &Match<'_>) {
        let pair = Drawn { left: found.left.n, right: found.right.n, similarity: found.similarity };
        if self.at.iter().flatten().any(|before| before.left != pair.left) {
            self.close();
        }
        for (method, at) in self.at.iter_mut().enumerate() {
            let better = at.is_none_or(|before| pair.similarity > before.similarity);
            if found.methods >> method & 1 == 1 && better {
                *at = Some(pair);
            }
        }
    }

    fn close(&mut self) {
        for (at, lots) in self.at.iter_mut().zip(&mut self.lots) {
            let Some(pair) = at.take() else { continue };
            let lot = hash::mix(self.seed ^ hash::mix(u64::from(pair.left) + 1));
            lots.insert((lot, pair.left), pair);
            if lots.len() > self.most {
                lots.pop_last();
            }
        }
    }

    /// The pairs that were drawn, each once, with the methods that it was drawn for, by left and right document.
    pub fn finish(mut self) -> Vec<(Drawn, Vec<usize>)> {
        self.close();
        let mut all: BTreeMap<(u32, u32), (Drawn, Vec<usize>)> = BTreeMap::new();
        for (method, lots) in self.lots.into_iter().enumerate() {
            for pair in lots.into_values() {
                all.entry((pair.left, pair.right)).or_insert((pair, Vec::new())).1.push(method);
            }
        }
        all.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike::engine::compared::Named;

    #[test]
    fn each_method_draws_from_what_it_finds() {
        let mut sample = Sample::new(10, 2, 7);
        for left in 0..200 {
            for right in 0..3 {
                let named = |n| Named { n, place: n, id: "", url: None };
                let (similarity, methods) = (f64::from(right) / 4.0, if left % 2 == 0 { 3 } else { 1 });
                let (left, right) = (named(left), named(right));
                sample.take(&Match { left, right, similarity, reverse: None, near: false, methods });
            }
        }
        let drawn = sample.finish();
        let of =
            |method: usize| drawn.iter().filter(|(_, methods)| methods.contains(&method)).collect::<Vec<_>>();
        assert_eq!((of(0).len(), of(1).len()), (10, 10));
        assert!(of(1).iter().all(|(pair, _)| pair.left % 2 == 0));
        assert!(drawn.iter().all(|(pair, _)| pair.right == 2));
    }
}

//! Found documents drawn at random, for a person to look at.

use std::collections::BTreeMap;

use lookalike::engine::compared::Match;
use lookalike::hash;

use crate::ranking::by_similarity;

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
            let better = best.is_none_or(|before| by_similarity(before.similarity, pair.similarity).is_lt());
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
    use crate::fixture::found;
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

    fn drawn(mut sample: Sample, pairs: &[(u32, u32, f64, u8)]) -> Vec<(u32, u32, Vec<usize>)> {
        for &(left, right, similarity, methods) in pairs {
            sample.add(&found(left, right, similarity, methods));
        }
        sample.finish().into_iter().map(|(pair, methods)| (pair.left, pair.right, methods)).collect()
    }

    #[test]
    fn nothing_found_is_nothing_drawn() {
        assert_eq!(drawn(Sample::new(10, 2, 7), &[]), []);
        assert_eq!(drawn(Sample::new(0, 1, 7), &[(1, 1, 1.0, 1)]), []);
    }

    #[test]
    fn fewer_than_are_wanted_are_all_drawn_in_their_order() {
        let pairs = [(1, 9, 0.5, 1), (4, 2, 0.5, 1), (300, 0, 0.5, 1)];
        assert_eq!(
            drawn(Sample::new(3, 1, 7), &pairs),
            [(1, 9, vec![0]), (4, 2, vec![0]), (300, 0, vec![0])]
        );
    }

    #[test]
    fn the_first_of_pairs_as_similar_stands_for_its_document() {
        let pairs = [(1, 5, 0.5, 1), (1, 6, 0.75, 1), (1, 7, 0.75, 1), (1, 8, 0.25, 1)];
        assert_eq!(drawn(Sample::new(9, 1, 7), &pairs), [(1, 6, vec![0])]);
        let pairs = [(1, 5, f64::NAN, 1), (1, 6, 0.25, 1), (1, 7, f64::NAN, 1)];
        assert_eq!(drawn(Sample::new(9, 1, 7), &pairs), [(1, 6, vec![0])], "any number is more than none");
    }

    #[test]
    fn methods_with_one_best_pair_share_it_and_others_have_their_own() {
        let pairs = [(1, 5, 0.5, 0b11), (2, 5, 0.5, 0b01), (2, 6, 0.25, 0b10)];
        let wanted = [(1, 5, vec![0, 1]), (2, 5, vec![0]), (2, 6, vec![1])];
        assert_eq!(drawn(Sample::new(9, 2, 7), &pairs), wanted);
    }

    #[test]
    fn a_draw_depends_on_seed_and_documents_alone() {
        let lefts = |seed: u64, right: u32, similarity: f64| {
            let pairs: Vec<_> = (0..500).map(|left| (left, right, similarity, 1)).collect();
            drawn(Sample::new(20, 1, seed), &pairs).into_iter().map(|(left, ..)| left).collect::<Vec<_>>()
        };
        assert_eq!(lefts(1, 0, 0.5), lefts(1, 77, 0.9));
        assert_ne!(lefts(1, 0, 0.5), lefts(2, 0, 0.5));
        assert_eq!(lefts(1, 0, 0.5).len(), 20);
    }

    #[test]
    fn a_document_that_is_drawn_from_many_is_drawn_from_fewer() {
        let lefts = |documents: u32| {
            let pairs: Vec<_> = (0..documents).map(|left| (left, 0, 0.5, 1)).collect();
            drawn(Sample::new(20, 1, 3), &pairs).into_iter().map(|(left, ..)| left).collect::<Vec<_>>()
        };
        let few = lefts(100);
        assert!(lefts(400).iter().filter(|left| **left < 100).all(|left| few.contains(left)));
    }
}

//! The rule by which a kept document stands for another: one copy, for jobs and for the index.
//!
//! Of the kept documents that are near, the most similar one is the witness, and of equally similar ones the first in keep
//! order. Where none is near, a removed one that is near may lead to a kept one that is: its own witness.

use lookalike_model::{DocNumber, NodeId};

/// A kept document that may stand for another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Witness {
    /// Similarity of the other to it.
    pub similarity: f64,
    /// Its place in keep order.
    pub place: u32,
    /// Its number.
    pub document: DocNumber,
    /// The node of documents with equal words that it is in.
    pub node: NodeId,
}

impl Witness {
    /// True when it is the witness of the two.
    pub fn beats(&self, other: &Witness) -> bool {
        self.similarity > other.similarity || self.similarity == other.similarity && self.place < other.place
    }

    /// The better of both.
    #[must_use]
    pub fn or(self, other: Option<Witness>) -> Witness {
        other.filter(|other| !self.beats(other)).unwrap_or(self)
    }
}

/// A removed document that is near, as a way to its witness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way<W> {
    /// The witness, as [`OneHop::Witness`] names it.
    pub witness: W,
    /// The candidate that leads to it; `None` for a document with equal words, which is near whatever the threshold.
    pub through: Option<usize>,
}

/// Measures what the search for a witness by one hop asks for.
pub trait OneHop {
    /// The error of a measurement.
    type Error;

    /// The name of a witness before it is measured: its document, or its node.
    type Witness: Copy + Ord;

    /// A kept document as a witness, if it is near the document that is decided.
    fn witness(&mut self, witness: Self::Witness) -> Result<Option<Witness>, Self::Error>;

    /// True when a candidate is near the document that is decided.
    fn is_near(&mut self, candidate: usize) -> Result<bool, Self::Error>;
}

/// The best among the witnesses that removed documents lead to. These are few and measured first; whether a candidate that leads to
/// one is near is asked only of witnesses that are.
pub fn best_by_one_hop<H: OneHop>(
    mut ways: Vec<Way<H::Witness>>,
    hop: &mut H,
) -> Result<Option<Witness>, H::Error> {
    // Sorted by witness, so that each is measured once, however many candidates lead to it. Candidates come before an
    // equal document: pairs that are measured on the way are counted, and counts must not depend on who asks.
    ways.sort_unstable_by_key(|way| (way.witness, way.through.unwrap_or(usize::MAX)));
    let mut found = Vec::new();
    for ways in ways.chunk_by(|one, two| one.witness == two.witness) {
        found.extend(hop.witness(ways[0].witness)?.map(|witness| (witness, ways)));
    }
    found.sort_by(|(one, _), (two, _)| {
        two.similarity.total_cmp(&one.similarity).then(one.place.cmp(&two.place))
    });
    // From the best down: the first witness with a near candidate that leads to it wins, and no other way is
    // measured.
    for (witness, ways) in found {
        for way in ways {
            let near = match way.through {
                None => true,
                Some(candidate) => hop.is_near(candidate)?,
            };
            if near {
                return Ok(Some(witness));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn witness(similarity: f64, place: u32) -> Witness {
        Witness { similarity, place, document: DocNumber::new(place), node: NodeId::new(place) }
    }

    #[test]
    fn the_more_similar_witness_is_better_and_of_equals_the_first() {
        assert!(witness(0.9, 5).beats(&witness(0.8, 1)));
        assert!(!witness(0.8, 1).beats(&witness(0.9, 5)));
        assert!(witness(0.8, 1).beats(&witness(0.8, 5)));
        assert!(!witness(0.8, 1).beats(&witness(0.8, 1)));
        assert_eq!(witness(0.8, 3).or(None).place, 3);
        assert_eq!(witness(0.8, 3).or(Some(witness(0.8, 2))).place, 2);
        assert_eq!(witness(0.8, 3).or(Some(witness(0.7, 2))).place, 3);
    }

    /// Kept documents with their similarities, candidates that are near, and everything that was asked for.
    #[derive(Default)]
    struct Noted {
        kept: Vec<(u32, f64)>,
        near: Vec<usize>,
        asked: Vec<String>,
    }

    impl OneHop for Noted {
        type Error = std::convert::Infallible;
        type Witness = u32;

        fn witness(&mut self, number: u32) -> Result<Option<Witness>, Self::Error> {
            self.asked.push(format!("witness {number}"));
            let found = self.kept.iter().find(|(kept, _)| *kept == number);
            Ok(found.map(|&(kept, similarity)| witness(similarity, kept)))
        }

        fn is_near(&mut self, candidate: usize) -> Result<bool, Self::Error> {
            self.asked.push(format!("candidate {candidate}"));
            Ok(self.near.contains(&candidate))
        }
    }

    fn way(witness: u32, through: usize) -> Way<u32> {
        Way { witness, through: Some(through) }
    }

    #[test]
    fn each_witness_is_measured_once_and_ways_from_the_best_down() {
        let mut noted = Noted { kept: vec![(4, 0.8), (7, 0.9)], near: vec![1, 3], asked: Vec::new() };
        let ways = vec![way(7, 0), way(4, 1), way(7, 2), way(4, 3), way(9, 1)];
        let found = best_by_one_hop(ways, &mut noted).unwrap();
        assert_eq!(found, Some(witness(0.8, 4)));
        let asked = ["witness 4", "witness 7", "witness 9", "candidate 0", "candidate 2", "candidate 1"];
        assert_eq!(noted.asked, asked);
    }

    #[test]
    fn an_equal_document_is_near_and_comes_last() {
        let mut noted = Noted { kept: vec![(2, 0.7)], ..Noted::default() };
        let ways = vec![Way { witness: 2, through: None }, way(2, 0)];
        assert_eq!(best_by_one_hop(ways, &mut noted).unwrap(), Some(witness(0.7, 2)));
        assert_eq!(noted.asked, ["witness 2", "candidate 0"]);
    }

    #[test]
    fn without_a_near_way_there_is_none() {
        let mut noted = Noted { kept: vec![(2, 0.7)], ..Noted::default() };
        assert_eq!(best_by_one_hop(vec![way(2, 0)], &mut noted).unwrap(), None);
        assert_eq!(best_by_one_hop(Vec::new(), &mut noted).unwrap(), None);
    }
}

//! A sample of a corpus that keeps near-duplicates together, drawn by hashes.
//!
//! A share q of documents taken at random holds only q² of the pairs. Here a document is drawn by the smallest hash of its
//! shingles: two documents with the resemblance J have the same smallest hash with probability J,
//! and independent ones otherwise. So each document is taken with probability q, and a pair with J·q + (1−J)·q², nearly q
//! for near-duplicates. What is counted in the sample is weighted by the inverse of that. Of many equal texts only a few are
//! taken.
//!
//! Pairs of one cluster are found or missed together, so an interval counts clusters (Kish), not pairs.

use std::collections::{BTreeMap, HashMap};

use lookalike::engine::document_copy::DocumentCopy;
use lookalike::engine::measure::Measure;
use lookalike::hash::{self, Secret};
use lookalike::model::Document;
use lookalike::model::Similarity;
use lookalike::text::{Analyser, Features, Profile};
use lookalike::walk::{self, WalkItem, Watch};

use crate::collection::Collection;
use crate::error::LabError;
use crate::interval::{Z, wilson_at};

/// Words per shingle that documents are drawn by.
pub const SHINGLE: usize = 5;

/// A sample, copied to disk.
#[derive(Debug)]
pub struct Sample {
    /// The documents.
    pub documents: DocumentCopy,
    /// The share q of documents that are drawn.
    pub share: f64,
}

/// The most copies of one text that are taken: every method finds them, and n of them make n² pairs.
const MAX_COPIES: u8 = 4;

/// Computes the hash of a document that decides whether it is drawn.
struct SampleHasher {
    analyser: Analyser,
    features: Features,
    shingles: Vec<u64>,
    seed: u64,
}

impl SampleHasher {
    fn new(seed: u64) -> Self {
        SampleHasher {
            analyser: Analyser::new(&Profile::web()),
            features: Features::default(),
            shingles: Vec::new(),
            seed: hash::mix(seed ^ 0x10_75),
        }
    }

    /// Returns the hash of a document: its smallest shingle hash alone decides it, or its ordinal when it has no words.
    fn hash_document(&mut self, ordinal: u64, text: &str) -> u64 {
        self.analyser.read(text, &mut self.features);
        self.features.shingles(SHINGLE, &mut self.shingles);
        let smallest = self.shingles.iter().map(|&shingle| hash::nth(shingle, self.seed)).min();
        // The smallest of many is small; turned once more it is a number like any other.
        hash::mix(smallest.unwrap_or_else(|| hash::nth(ordinal, !self.seed)) ^ self.seed)
    }
}

impl Sample {
    /// Draws about `wanted` documents into `folder`; all of a smaller corpus. Copies of one text are drawn together or not at
    /// all, so that many of them may make it larger: a bound on the number would never let them in.
    pub fn draw(
        folder: &std::path::Path,
        collection: &Collection,
        wanted: usize,
        seed: u64,
        watch: &Watch,
    ) -> Result<Sample, LabError> {
        let mut count = 0;
        for shard in collection.corpus.shards() {
            walk::documents(shard, collection.corpus.options(), collection.content, watch, |found| {
                count += usize::from(!matches!(found, WalkItem::Skipped(_)));
                Ok(())
            })?;
        }
        let share = (wanted as f64 / count.max(1) as f64).min(1.0);
        let bound = (share < 1.0).then(|| (share * 2f64.powi(64)) as u64);
        let label = format!("sample of {wanted} by seed {seed}");
        let mut hasher = SampleHasher::new(seed);
        let mut copies: HashMap<u128, u8> = HashMap::new();
        let mut keep = |ordinal: u64, _: &Document<'_>, text: &str| {
            let drawn = bound.is_none_or(|bound| hasher.hash_document(ordinal, text) < bound);
            drawn && {
                let seen = copies.entry(Secret::of_process().digest(text.as_bytes())).or_default();
                *seen = seen.saturating_add(1);
                *seen <= MAX_COPIES || text.is_empty()
            }
        };
        let documents =
            DocumentCopy::open_or_create(folder, collection.source(), &[], (&label, &mut keep), watch)?;
        Ok(Sample { documents, share })
    }

    /// The weight of pairs that resemble each other no more than this, the most that a pair can have; none when all documents
    /// are there.
    pub fn max_weight(&self, resemblance: f64) -> Option<f64> {
        (self.share < 1.0).then(|| self.weight(resemblance))
    }

    /// The same for near-duplicates by a measure. By the shingles that documents are drawn by they resemble each other at least
    /// as much as the threshold asks; by anything else they need not.
    pub fn max_near_duplicate_weight(&self, measure: &Measure, profile: &Profile) -> Option<f64> {
        let same = measure.similarity == Similarity::Jaccard
            && measure.shingle == SHINGLE
            && *profile == Profile::web();
        self.max_weight(if same { measure.threshold.value() } else { 0.0 })
    }

    /// Returns the number of pairs of the corpus that one pair of the sample stands for, by its resemblance on shingles of
    /// [`SHINGLE`] words.
    pub fn weight(&self, resemblance: f64) -> f64 {
        let q = self.share;
        1.0 / (resemblance * q + (1.0 - resemblance) * q * q)
    }
}

/// A weighted share of pairs, with an interval that knows that pairs of one cluster go together.
///
/// Pairs that were never drawn are not forgotten: a kind that is drawn seldom may be there and stand for many. So the lower
/// end also allows for as many unseen pairs against it as chance may have kept out, each of the weight that the rarest kind has.
#[derive(Debug, Clone, Default)]
pub struct WeightedShare {
    /// The weight of a pair of the kind that is drawn most seldom; none when all pairs are there.
    max_weight: Option<f64>,
    yes: f64,
    no_squares: f64,
    all: f64,
    /// Weight of the pairs of each cluster.
    clusters: BTreeMap<u32, f64>,
    pairs: u64,
}

impl WeightedShare {
    /// An empty share, in a sample whose rarest kind of pair has this weight.
    pub fn new(max_weight: Option<f64>) -> Self {
        WeightedShare { max_weight, ..WeightedShare::default() }
    }

    /// Takes one pair of a cluster into account.
    pub fn add(&mut self, cluster: u32, weight: f64, yes: bool) {
        self.all += weight;
        self.yes += if yes { weight } else { 0.0 };
        self.no_squares += if yes { 0.0 } else { weight * weight };
        *self.clusters.entry(cluster).or_insert(0.0) += weight;
        self.pairs += 1;
    }

    /// Pairs that were taken into account.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Returns the sum of their weights: the number of pairs of the corpus that they stand for.
    pub fn total_weight(&self) -> f64 {
        self.all
    }

    /// The share; none of nothing.
    pub fn value(&self) -> Option<f64> {
        (self.all > 0.0).then(|| self.yes / self.all)
    }

    /// Returns the number of independent pairs that would tell as much (Kish): those of a cluster are found or missed together.
    pub fn effective(&self) -> f64 {
        let squares: f64 = self.clusters.values().map(|weight| weight * weight).sum();
        if squares > 0.0 { self.all * self.all / squares } else { 0.0 }
    }

    /// Its 95 % interval, after Wilson; the share itself when all pairs are there.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let value = self.value()?;
        if self.max_weight.is_none() {
            return Some((value, value));
        }
        let (_, high) = wilson_at(value, self.effective(), Z)?;
        Some((self.lower_bound(Z)?, high))
    }

    /// Returns the lower end of an interval of this number of standard deviations.
    pub fn lower_bound(&self, deviations: f64) -> Option<f64> {
        let value = self.value()?;
        let Some(max_weight) = self.max_weight else { return Some(value) };
        let (low, _) = wilson_at(value, self.effective(), deviations)?;
        let no = self.all - self.yes + deviations * self.no_squares.sqrt() + unseen(deviations) * max_weight;
        Some(low.min(self.yes / (self.yes + no)))
    }
}

/// Returns the number of events that may be expected where none is seen, with the chance of being this number of standard
/// deviations from a mean: minus the logarithm of that chance, 0.025 and 0.00135 at the two that are asked for.
fn unseen(deviations: f64) -> f64 {
    match deviations {
        none if none <= 0.0 => 0.0,
        two if two < 2.5 => 3.69,
        _ => 6.61,
    }
}

/// The connected components of documents that are joined by pairs.
#[derive(Debug, Default)]
pub struct Clusters {
    parents: BTreeMap<u32, u32>,
}

impl Clusters {
    /// Joins the clusters of two documents.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.of(a), self.of(b));
        self.parents.insert(a.max(b), a.min(b));
    }

    /// The cluster of a document: its lowest number.
    pub fn of(&mut self, document: u32) -> u32 {
        let mut root = document;
        while let Some(&parent) = self.parents.get(&root).filter(|&&parent| parent != root) {
            root = parent;
        }
        let mut at = document;
        while let Some(parent) =
            self.parents.insert(at, root).filter(|&parent| parent != root && parent != at)
        {
            at = parent;
        }
        root
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::CollectionKind;
    use crate::generated;

    #[test]
    fn near_duplicates_are_drawn_together_as_often_as_the_formula_says() {
        // Pairs of texts of known resemblance: 100 words, of which the last few differ.
        let (pairs, words) = (3000u64, 104usize);
        for changed in [0usize, 10, 50] {
            let mut hasher = SampleHasher::new(7);
            let text = |pair: u64, variant: u64| -> String {
                let word = |at: usize| {
                    let other = at >= words - changed && changed > 0;
                    format!(
                        "w{:x}",
                        hash::mix(pair << 20 ^ (at as u64) << 2 ^ if other { variant + 1 } else { 0 })
                    )
                };
                (0..words).map(word).collect::<Vec<_>>().join(" ")
            };
            let shared = (words - SHINGLE + 1 - if changed > 0 { changed } else { 0 }) as f64;
            let total = (words - SHINGLE + 1) as f64;
            let resemblance = shared / (2.0 * total - shared);
            let share = 0.2;
            let bound = (share * 2f64.powi(64)) as u64;
            let (mut one, mut both) = (0.0, 0.0);
            for pair in 0..pairs {
                let (a, b) = (
                    hasher.hash_document(0, &text(pair, 0)) < bound,
                    hasher.hash_document(0, &text(pair, 1)) < bound,
                );
                one += f64::from(u8::from(a));
                both += f64::from(u8::from(a && b));
            }
            let n = pairs as f64;
            let expected = resemblance * share + (1.0 - resemblance) * share * share;
            let spread = |p: f64| 4.0 * (p * (1.0 - p) / n).sqrt();
            assert!((one / n - share).abs() < spread(share), "{changed}: {}", one / n);
            assert!((both / n - expected).abs() < spread(expected), "{changed}: {} {expected}", both / n);
        }
    }

    #[test]
    fn a_sample_is_about_as_large_as_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let collection = generated::collection(CollectionKind::Revisions, 3);
        let sample = Sample::draw(folder.path(), &collection, 300, 5, &Watch::default()).unwrap();
        assert!((200..=400).contains(&sample.documents.len()), "{}", sample.documents.len());
        assert_eq!(sample.share, 300.0 / 960.0);
        let all = tempfile::tempdir().unwrap();
        let sample = Sample::draw(all.path(), &collection, 5000, 5, &Watch::default()).unwrap();
        assert_eq!((sample.documents.len(), sample.share), (960, 1.0));
    }

    #[test]
    fn pairs_of_one_cluster_count_for_less() {
        let (mut apart, mut tied) = (WeightedShare::new(Some(1.0)), WeightedShare::new(Some(1.0)));
        for pair in 0..100 {
            apart.add(pair, 1.0, pair % 10 > 0);
            tied.add(pair / 10, 1.0, pair % 10 > 0);
        }
        assert_eq!((apart.value(), tied.value()), (Some(0.9), Some(0.9)));
        assert!((apart.effective() - 100.0).abs() < 1e-9 && (tied.effective() - 10.0).abs() < 1e-9);
        let width = |share: &WeightedShare| share.interval().map(|(low, high)| high - low).unwrap();
        assert!(width(&tied) > 2.0 * width(&apart));
        // What is seldom drawn may be there unseen; where all is there, nothing is.
        let with = |max_weight: Option<f64>| {
            let mut right = WeightedShare::new(max_weight);
            (0..100).for_each(|pair| right.add(pair, 10.0, true));
            right.lower_bound(3.0).unwrap()
        };
        assert!(
            with(Some(10.0)) > 0.9 && with(Some(1000.0)) < 0.2,
            "{} {}",
            with(Some(10.0)),
            with(Some(1000.0))
        );
        assert_eq!(with(None), 1.0);
        let mut clusters = Clusters::default();
        for (a, b) in [(4, 5), (1, 2), (5, 1), (8, 9)] {
            clusters.join(a, b);
        }
        assert_eq!([1, 2, 4, 5, 8, 9, 3].map(|document| clusters.of(document)), [1, 1, 1, 1, 8, 8, 3]);
    }
}

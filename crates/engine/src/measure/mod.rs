//! Verification: the true similarity of two documents.
//!
//! A document is measured by a sequence of symbols that is cheap to keep ([`Measure::symbols`]: the hashes of its
//! words by a secret, or its characters) and brought into a form that is cheap to compare ([`Measure::prepare`]: its sorted
//! shingles) once it is a candidate. Whether a pair reaches the threshold is decided on whole numbers.

mod edit;
mod sets;

use lookalike_hash::{self as hash, SortBuffers};
pub use lookalike_model::Measured;
use lookalike_model::{Similarity, Threshold};
use lookalike_text::Features;

/// The measure of similarity in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// The kind of similarity.
    pub similarity: Similarity,
    /// The least similarity of near-duplicates.
    pub threshold: Threshold,
    /// Words per shingle.
    pub shingle: usize,
}

/// A set in two parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DividedSet<'s> {
    /// Number of all its values.
    pub(crate) size: usize,
    /// Those that are bits.
    pub(crate) row: &'s [u64],
    /// The others, in order.
    pub(crate) rest: &'s [u64],
}

impl Measure {
    /// True when the similarity of `a` to `b` may differ from that of `b` to `a`.
    pub fn directed(&self) -> bool {
        self.similarity == Similarity::Containment
    }

    /// The symbols that a document is measured by, whose analyser must have a secret; `out` is room for those that must be made. Two
    /// documents are compared by symbols of one secret.
    #[must_use]
    pub fn symbols<'a>(&self, features: &'a Features, out: &'a mut Vec<u64>) -> &'a [u64] {
        if self.similarity != Similarity::Edit {
            return features.secret_hashes();
        }
        out.clear();
        for (index, word) in features.words().enumerate() {
            if index > 0 {
                out.push(u64::from(b' '));
            }
            out.extend(word.chars().map(u64::from));
        }
        out
    }

    /// Appends the form of `symbols` that is compared.
    pub fn prepare(&self, symbols: &[u64], out: &mut Vec<u64>, sorting: &mut SortBuffers) {
        if self.similarity == Similarity::Edit {
            return out.extend_from_slice(symbols);
        }
        windows(symbols, self.shingle, sorting.unsorted());
        match self.similarity {
            Similarity::CosineTf => hash::append_sorted(out, sorting),
            _ => hash::append_set(out, sorting),
        }
    }

    /// The similarity of two prepared documents, or nothing as soon as it is out of `floor`'s reach.
    pub fn compare(&self, a: &[u64], b: &[u64], floor: Threshold) -> Option<Measured> {
        match self.similarity {
            Similarity::CosineTf => self.cosine_tf(a, b, floor),
            Similarity::Edit => self.edit(a, b, floor),
            _ => self.of_sets([a.len(), b.len()], floor, |least| sets::shared(a, b, least)),
        }
    }

    /// True when documents are compared as sets: how large they are and how much they share is all that counts.
    pub(crate) fn by_sets(&self) -> bool {
        !matches!(self.similarity, Similarity::CosineTf | Similarity::Edit)
    }

    /// The same for two sets in two parts each: some of the values as a row of bits.
    pub(crate) fn compare_divided(
        &self,
        a: DividedSet<'_>,
        b: DividedSet<'_>,
        floor: Threshold,
    ) -> Option<Measured> {
        self.of_sets([a.size, b.size], floor, |least| {
            let bits = sets::shared_bits(a.row, b.row);
            Some(bits + sets::shared(a.rest, b.rest, least.saturating_sub(bits))?)
        })
    }

    /// The similarity of two sets of some sizes; `shared` tells how much they share, unless it is less than what it is
    /// given.
    fn of_sets(
        &self,
        sizes: [usize; 2],
        floor: Threshold,
        shared: impl FnOnce(usize) -> Option<usize>,
    ) -> Option<Measured> {
        match self.similarity {
            Similarity::Containment => self.containment(sizes, floor, shared),
            Similarity::Cosine => self.cosine(sizes, floor, shared),
            _ => self.jaccard(sizes, floor, shared),
        }
    }

    fn jaccard(
        &self,
        [a, b]: [usize; 2],
        floor: Threshold,
        shared: impl FnOnce(usize) -> Option<usize>,
    ) -> Option<Measured> {
        let both = (a + b) as u64;
        // |A∩B| / (|A| + |B| − |A∩B|) ≥ n/d  ⇔  |A∩B| ≥ n·(|A| + |B|) / (d + n)
        let (n, d) = (u128::from(floor.numerator()), u128::from(floor.denominator()));
        let least = (n * u128::from(both)).div_ceil(n + d) as usize;
        let shared = if a.min(b) < least { None } else { shared(least) }? as u64;
        let value = if both == 0 { 1.0 } else { shared as f64 / (both - shared) as f64 };
        Some(Measured::same(value, self.threshold.reached_by(shared, both - shared)))
    }

    fn containment(
        &self,
        [a, b]: [usize; 2],
        floor: Threshold,
        shared: impl FnOnce(usize) -> Option<usize>,
    ) -> Option<Measured> {
        let shared = shared(floor.min_count(a.min(b) as u64) as usize)? as u64;
        let part = |whole: usize| if whole == 0 { 0.0 } else { shared as f64 / whole as f64 };
        let reached = |whole: usize| whole > 0 && self.threshold.reached_by(shared, whole as u64);
        Some(Measured { forward: part(a), backward: part(b), reached: reached(a), reached_back: reached(b) })
    }

    fn cosine(
        &self,
        [a, b]: [usize; 2],
        floor: Threshold,
        shared: impl FnOnce(usize) -> Option<usize>,
    ) -> Option<Measured> {
        let product = a as u128 * b as u128;
        let root = (product as f64).sqrt();
        // A whole number too low costs a few steps; one too high would cost a pair.
        let least = (floor.value() * root).floor() as usize;
        let shared = shared(least.saturating_sub(1))? as u64;
        let value = if product == 0 { 0.0 } else { shared as f64 / root };
        Some(Measured::same(value, self.threshold.reached_by_root(shared, product)))
    }

    fn cosine_tf(&self, a: &[u64], b: &[u64], floor: Threshold) -> Option<Measured> {
        let (dot, product) = (sets::dot(a, b), sets::square(a) * sets::square(b));
        let value = if product == 0 { 0.0 } else { dot as f64 / (product as f64).sqrt() };
        let reached = product > 0 && self.threshold.reached_by_root(dot, product);
        (reached || value >= floor.value()).then_some(Measured::same(value, reached))
    }

    fn edit(&self, a: &[u64], b: &[u64], floor: Threshold) -> Option<Measured> {
        let both = (a.len() + b.len()) as u64;
        let least = floor.min_count(both).div_ceil(2) as usize;
        let common = edit::common(a, b, least)? as u64;
        let value = if both == 0 { 1.0 } else { (2 * common) as f64 / both as f64 };
        Some(Measured::same(value, both == 0 || self.threshold.reached_by(2 * common, both)))
    }
}

/// Longer windows are hashed from shorter ones. A polynomial of many words has coefficients by which words that are put in the
/// right order cancel each other, whatever their hashes are; between two polynomials everything is mixed.
const SHORT_WINDOW: usize = 8;

/// Appends the hashes of all windows of `n` symbols.
fn windows(symbols: &[u64], n: usize, out: &mut Vec<u64>) {
    let n = n.max(1).min(symbols.len().max(1));
    let mut width = n.min(SHORT_WINDOW);
    let first = out.len();
    hash::Grams::new(symbols, width).take_into(usize::MAX, out);
    while width < n {
        // Two windows, one behind the other or one over the other, that make a wider one.
        let further = width.min(n - width);
        let windows = out.len() - further;
        for at in first..windows {
            out[at] = hash::gram(&[out[at], out[at + further]]);
        }
        out.truncate(windows);
        width += further;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use proptest::prelude::*;

    fn measure(similarity: Similarity, threshold: &str, shingle: usize) -> Measure {
        Measure { similarity, threshold: threshold.parse().unwrap(), shingle }
    }

    fn lowest() -> Threshold {
        "0.000000001".parse().unwrap()
    }

    fn prepared(measure: &Measure, words: &[u64]) -> Vec<u64> {
        let mut out = vec![17];
        measure.prepare(words, &mut out, &mut SortBuffers::default());
        out.split_off(1)
    }

    /// Every measure by the book: sets, maps and a table of common subsequences.
    fn plain(similarity: Similarity, a: &[u64], b: &[u64], n: usize) -> (f64, f64) {
        let grams = |words: &[u64]| -> Vec<Vec<u64>> {
            match words.len() {
                0 => vec![],
                few if few < n => vec![words.to_vec()],
                _ => words.windows(n).map(<[u64]>::to_vec).collect(),
            }
        };
        let (ga, gb) = (grams(a), grams(b));
        let (sa, sb): (BTreeSet<_>, BTreeSet<_>) = (ga.iter().collect(), gb.iter().collect());
        let shared = sa.intersection(&sb).count() as f64;
        let same = |value: f64| (value, value);
        match similarity {
            Similarity::Jaccard if sa.is_empty() && sb.is_empty() => same(1.0),
            Similarity::Jaccard => same(shared / sa.union(&sb).count() as f64),
            Similarity::Containment => {
                (shared / (sa.len() as f64).max(1.0), shared / (sb.len() as f64).max(1.0))
            }
            Similarity::Cosine => same(shared / ((sa.len() * sb.len()) as f64).sqrt().max(1e-300)),
            Similarity::CosineTf => {
                let bag = |grams: &[Vec<u64>]| {
                    let mut counts = BTreeMap::new();
                    grams.iter().for_each(|gram| *counts.entry(gram.clone()).or_insert(0.0) += 1.0);
                    counts
                };
                let (ba, bb): (BTreeMap<Vec<u64>, f64>, _) = (bag(&ga), bag(&gb));
                let dot: f64 =
                    ba.iter().map(|(gram, count)| count * bb.get(gram).copied().unwrap_or(0.0)).sum();
                let norm =
                    |bag: &BTreeMap<Vec<u64>, f64>| bag.values().map(|count| count * count).sum::<f64>();
                same(dot / (norm(&ba) * norm(&bb)).sqrt().max(1e-300))
            }
            Similarity::Edit => {
                let mut table = vec![vec![0usize; b.len() + 1]; a.len() + 1];
                for i in 0..a.len() {
                    for j in 0..b.len() {
                        table[i + 1][j + 1] =
                            if a[i] == b[j] { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
                    }
                }
                let both = (a.len() + b.len()) as f64;
                same(if both == 0.0 { 1.0 } else { 2.0 * table[a.len()][b.len()] as f64 / both })
            }
        }
    }

    fn similar_words() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
        let words = prop::collection::vec(0u64..30, 0..120);
        (words, prop::collection::vec((any::<prop::sample::Index>(), 0u64..30, 0u8..3), 0..12)).prop_map(
            |(a, edits)| {
                let mut b = a.clone();
                for (place, word, edit) in edits {
                    match edit {
                        0 => b.insert(place.index(b.len() + 1), word),
                        1 if !b.is_empty() => drop(b.remove(place.index(b.len()))),
                        _ if !b.is_empty() => {
                            let place = place.index(b.len());
                            b[place] = word;
                        }
                        _ => {}
                    }
                }
                (a, b)
            },
        )
    }

    proptest! {
        #[test]
        fn every_measure_is_the_one_in_the_book((a, b) in similar_words(), n in 1usize..6) {
            for similarity in Similarity::ALL {
                let measure = measure(similarity, "0.8", n);
                let (pa, pb) = (prepared(&measure, &a), prepared(&measure, &b));
                let (forward, backward) = plain(similarity, &a, &b, n);
                match measure.compare(&pa, &pb, lowest()) {
                    Some(found) => {
                        prop_assert!((found.forward - forward).abs() < 1e-12, "{similarity} {found:?} {forward}");
                        prop_assert!((found.backward - backward).abs() < 1e-12);
                        prop_assert_eq!(measure.compare(&pb, &pa, lowest()), Some(found.swapped()));
                    }
                    None => prop_assert!(forward < 1e-9 && backward < 1e-9, "{similarity} {forward}"),
                }
            }
        }

        #[test]
        fn an_early_exit_loses_nothing((a, b) in similar_words(), n in 1usize..6, threshold in 1u32..=100) {
            let threshold = format!("{}", f64::from(threshold) / 100.0);
            for similarity in Similarity::ALL {
                let measure = measure(similarity, &threshold, n);
                let (pa, pb) = (prepared(&measure, &a), prepared(&measure, &b));
                let full = measure.compare(&pa, &pb, lowest());
                match measure.compare(&pa, &pb, measure.threshold) {
                    Some(found) => prop_assert_eq!(Some(found), full),
                    None => prop_assert!(full.is_none_or(|full| !full.counts()), "{similarity} {full:?}"),
                }
            }
        }
    }

    #[test]
    fn a_pair_right_at_the_threshold_counts() {
        let measure = measure(Similarity::Jaccard, "0.8", 1);
        let nine: Vec<u64> = (0..9).collect();
        let other: Vec<u64> = (1..10).collect();
        let found = measure.compare(&nine, &other, measure.threshold).unwrap();
        assert!(found.reached && found.forward == 0.8);
        let ten: Vec<u64> = (0..10).collect();
        assert_eq!(measure.compare(&ten, &(2..12).collect::<Vec<_>>(), measure.threshold), None);
    }

    #[test]
    fn edit_similarities_are_the_published_ones() {
        let measure = measure(Similarity::Edit, "0.1", 5);
        let letters = |word: &str| word.chars().map(u64::from).collect::<Vec<_>>();
        let similarity = |a: &str, b: &str| {
            measure.compare(&letters(a), &letters(b), lowest()).map_or(0.0, |found| found.forward)
        };
        for (a, b, expected) in [
            ("kitten", "sitting", 8.0 / 13.0),
            ("foo", "fou", 2.0 / 3.0),
            ("a rose is a rose", "a rose is the rose", 30.0 / 34.0),
            ("near duplicate", "near-duplicates", 26.0 / 29.0),
            ("", "", 1.0),
            ("", "abc", 0.0),
        ] {
            assert!((similarity(a, b) - expected).abs() < 1e-12, "{a} and {b}: {}", similarity(a, b));
        }
    }

    #[test]
    fn the_rose_and_a_flower_are_as_near_as_published() {
        // a 0, rose 1, is 2, flower 3.
        let (rose, flower) = ([0, 1, 2, 0, 1, 2, 0, 1], [0, 1, 2, 0, 3]);
        for (similarity, expected) in
            [(Similarity::CosineTf, 0.886_405), (Similarity::Cosine, 0.866_025), (Similarity::Jaccard, 0.75)]
        {
            let measure = measure(similarity, "0.1", 1);
            let [a, b] = [&rose[..], &flower].map(|words| prepared(&measure, words));
            let found = measure.compare(&a, &b, measure.threshold).unwrap();
            assert!((found.forward - expected).abs() < 0.5e-6, "{similarity}: {found:?}");
        }
    }

    #[test]
    fn a_measured_pair_is_seen_from_both_sides() {
        let measured = Measured { forward: 0.9, backward: 0.3, reached: true, reached_back: false };
        let swapped = measured.swapped();
        assert_eq!(
            (swapped.forward, swapped.backward, swapped.reached, swapped.reached_back),
            (0.3, 0.9, false, true)
        );
        assert!(measured.counts() && swapped.counts() && !Measured::NONE.counts());
        assert_eq!(swapped.swapped(), measured);
    }

    #[test]
    fn characters_of_words_are_symbols_of_edit_similarity() {
        let mut features = Features::default();
        let secret = lookalike_hash::Secret::new(1);
        lookalike_text::Analyser::with_secret(&lookalike_text::Profile::web(), &secret)
            .read("Ab, c", &mut features);
        let mut room = vec![7];
        let found = measure(Similarity::Edit, "0.8", 5).symbols(&features, &mut room).to_vec();
        assert_eq!(found, "ab c".chars().map(u64::from).collect::<Vec<_>>());
        let hashes = measure(Similarity::Jaccard, "0.8", 5).symbols(&features, &mut room).to_vec();
        assert_eq!(hashes, features.secret_hashes());
    }

    #[test]
    fn only_containment_has_a_direction_and_only_sets_are_compared_as_such() {
        for similarity in Similarity::ALL {
            let measure = measure(similarity, "0.8", 5);
            assert_eq!(measure.directed(), similarity == Similarity::Containment, "{similarity}");
            let sets =
                [Similarity::Jaccard, Similarity::Containment, Similarity::Cosine].contains(&similarity);
            assert_eq!(measure.by_sets(), sets, "{similarity}");
        }
    }

    proptest! {
        #[test]
        fn windows_have_equal_hashes_where_they_have_equal_symbols(symbols in prop::collection::vec(0u64..3, 0..60), n in 0usize..20) {
            let mut hashes = vec![17];
            windows(&symbols, n, &mut hashes);
            let width = n.max(1).min(symbols.len().max(1));
            let expected: Vec<&[u64]> = symbols.windows(width).collect();
            prop_assert_eq!(hashes[0], 17, "what was there stays");
            let hashes = &hashes[1..];
            prop_assert_eq!(hashes.len(), expected.len());
            for (a, one) in hashes.iter().zip(&expected) {
                for (b, two) in hashes.iter().zip(&expected) {
                    prop_assert_eq!(a == b, one == two);
                }
            }
        }
    }
}

//! `simhash`: one short fingerprint whose bits are votes of all n-grams; few differing bits mean near-duplicates.
//!
//! Charikar's fingerprint (2002) with the lookup tables of Manku, Jain and Sarma (2007). Every occurrence of an
//! n-gram votes for or against each bit by the bits of its hash. Every pair of fingerprints within `k` bits shares
//! a key, whatever the tables; more and longer keys only make for fewer accidental candidates.
//!
//! - `votes`: counting for all bits at once
//! - `tables`: keys that miss no pair

mod tables;
mod votes;

use lookalike_model::{Recipe, Similarity};
use lookalike_text::hash;

use self::tables::{Blocks, Tables};
use self::votes::{BLOCK, Votes};
use crate::{About, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec, seed};

const VERSION: u32 = 1;

/// Words of the widest fingerprint.
const WIDEST: usize = 6;

/// The longest n-grams that anybody may want.
const LONGEST: usize = 100;

/// What people are told of it.
pub(crate) const ABOUT: About = About {
    name: "simhash",
    aliases: &[],
    summary: "fingerprints whose bits are votes of all n-grams, at most k bits apart",
    source: "Charikar 2002; lookup tables: Manku, Jain, Sarma 2007",
    formula: "\
V_i = sum over n-grams of tf * (+1 if bit i of its hash is set, else -1); bit i of the fingerprint = V_i > 0
keys: one for each choice of blocks that may all be equal; accept: Hamming distance <= k",
    example: "lookalike pairs --method simhash:n=3+5,k=3 --unverified docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("f", "bits of the fingerprint: 64, 128, 256 or 384"),
        ("n", "lengths of n-grams, joined by +"),
        ("weight", "votes of an n-gram: tf, or 1"),
        ("k", "most bits that may differ"),
        ("blocks", "blocks of the lookup tables, such as 4, or 4x4 for two levels"),
        ("seed", "of the hash function"),
    ],
    make: SimHash::make,
};

/// The method `simhash`.
#[derive(Debug)]
pub(crate) struct SimHash {
    /// Words of the fingerprint.
    width: usize,
    /// Lengths of the n-grams, increasing.
    lengths: Vec<usize>,
    /// True when n-grams vote as often as they occur.
    by_count: bool,
    k: u32,
    blocks: Blocks,
    tables: Tables,
    seed: u64,
}

impl SimHash {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let f: usize =
            spec.value("f", 64, "64, 128, 256 or 384 bits are wanted", |f| [64, 128, 256, 384].contains(f))?;
        let lengths = lengths(&mut spec)?;
        let by_count = match spec.text("weight").as_deref() {
            None | Some("tf") => true,
            Some("1") => false,
            Some(other) => return Err(spec.bad("weight", other, "tf or 1 is wanted")),
        };
        let k = spec.value("k", 3, "a number of bits below f is wanted", |&k: &u32| (k as usize) < f)?;
        let wanted = "a number such as 4, or two such as 4x4, are wanted";
        let default = Blocks { first: k as usize + 1, second: None };
        let blocks = spec.value("blocks", default, wanted, |_| true)?;
        let seed = spec.value("seed", setting.seed, "a whole number is wanted", |_| true)?;
        let tables = Tables::new(f, blocks, k as usize)
            .map_err(|wanted| spec.bad("blocks", &blocks.to_string(), &wanted))?;
        spec.finish()?;
        if setting.similarity == Similarity::Containment {
            return Err(MethodError::blind_to_containment("simhash"));
        }
        Ok(Box::new(SimHash { width: f / 64, lengths, by_count, k, blocks, tables, seed }))
    }

    fn fingerprint(&self, features: &Page<'_>, scratch: &mut Vec<u64>) -> [u64; WIDEST] {
        let mut votes = Ballot::new(self.width, seed::salt(self.seed));
        let mut length_fits = false;
        for &n in self.lengths.iter().filter(|&&n| n <= features.len()) {
            length_fits = true;
            if self.by_count {
                votes.add_all(features.grams(n));
            } else {
                features.shingles(n, scratch);
                votes.add_all(scratch.iter().copied());
            }
        }
        if !length_fits {
            // Too short for any n-gram: the whole text is one.
            votes.add_all(features.grams(features.len()));
        }
        votes.result()
    }

    fn bits(&self) -> usize {
        64 * self.width
    }
}

impl Method for SimHash {
    fn recipe(&self) -> Recipe {
        let lengths: Vec<String> = self.lengths.iter().map(usize::to_string).collect();
        Recipe::new("simhash", VERSION)
            .with("f", self.bits())
            .with("n", lengths.join("+"))
            .with("weight", if self.by_count { "tf" } else { "1" })
            .with("k", self.k)
            .with("blocks", self.blocks)
            .with("seed", self.seed)
    }

    fn payload_bytes(&self) -> usize {
        8 * self.width
    }

    fn tagged(&self) -> bool {
        true
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        if page.is_empty() {
            sketch.payload.resize(self.payload_bytes(), 0);
            return;
        }
        let fingerprint = &self.fingerprint(page, &mut sketch.scratch.values)[..self.width];
        sketch.keys.extend((0..).zip(self.tables.keys(fingerprint)).map(|(tag, value)| Key { value, tag }));
        sketch.payload.extend(fingerprint.iter().flat_map(|word| word.to_le_bytes()));
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        let distance: u32 = words(a).zip(words(b)).map(|(a, b)| (a ^ b).count_ones()).sum();
        (distance <= self.k).then(|| Score::even(1.0 - f64::from(distance) / self.bits() as f64))
    }

    fn split(&self, payload: &[u8], tag: u32, depth: u32, keys: &mut Vec<u64>) {
        let mut fingerprint = [0; WIDEST];
        fingerprint.iter_mut().zip(words(payload)).for_each(|(place, word)| *place = word);
        self.tables.split(&fingerprint[..self.width], tag as usize, depth as usize, keys);
    }

    fn advice(&self) -> Option<String> {
        Some(format!(
            "simhash gives a document {} keys of {} or more bits and a fingerprint of {} bytes, and proposes every \
             pair within {} of {} bits; how many pairs of a given similarity are that near depends on the texts.",
            self.tables.len(),
            self.tables.shortest(),
            self.payload_bytes(),
            self.k,
            self.bits()
        ))
    }
}

/// Votes for a fingerprint of several words.
struct Ballot {
    votes: [Votes; WIDEST],
    width: usize,
    salt: u64,
}

impl Ballot {
    fn new(width: usize, salt: u64) -> Self {
        Ballot { votes: std::array::from_fn(|_| Votes::new()), width, salt }
    }

    fn add_all(&mut self, mut features: impl Iterator<Item = u64>) {
        let mut block = [0; BLOCK];
        loop {
            let mut filled = 0;
            for (place, feature) in block.iter_mut().zip(&mut features) {
                *place = feature;
                filled += 1;
            }
            self.salt_block(&mut block);
            if filled < BLOCK {
                return self.add_some(&block[..filled]);
            }
            self.add_block(&block);
        }
    }

    /// Turning bits alone would turn those of all fingerprints alike, and change no distance: hence the mixing.
    fn salt_block(&self, block: &mut [u64; BLOCK]) {
        if self.salt != 0 {
            *block = block.map(|feature| hash::mix(feature ^ self.salt));
        }
    }

    #[inline]
    fn add_block(&mut self, block: &[u64; BLOCK]) {
        for (function, votes) in (0..).zip(&mut self.votes[..self.width]) {
            votes.add_block(&block.map(|feature| hash::nth(function, feature)));
        }
    }

    fn add_some(&mut self, features: &[u64]) {
        for (function, votes) in (0..).zip(&mut self.votes[..self.width]) {
            features.iter().for_each(|&feature| votes.add(hash::nth(function, feature)));
        }
    }

    fn result(&self) -> [u64; WIDEST] {
        let mut fingerprint = [0; WIDEST];
        fingerprint
            .iter_mut()
            .zip(&self.votes[..self.width])
            .for_each(|(word, votes)| *word = votes.majority());
        fingerprint
    }
}

/// The lengths of n-grams that were asked for.
fn lengths(spec: &mut Spec) -> Result<Vec<usize>, MethodError> {
    let text = spec.text("n").unwrap_or_else(|| "3+5".to_owned());
    let wanted = "different lengths from 1 to 100 are wanted, such as 3 or 3+5";
    let parsed: Result<Vec<usize>, _> = text.split('+').map(str::parse).collect();
    let mut lengths = parsed.map_err(|_| spec.bad("n", &text, wanted))?;
    lengths.sort_unstable();
    let increasing = lengths.is_sorted_by(|a, b| a < b);
    if !increasing || lengths.iter().any(|n| !(1..=LONGEST).contains(n)) {
        return Err(spec.bad("n", &text, wanted));
    }
    Ok(lengths)
}

/// A payload as words.
fn words(payload: &[u8]) -> impl Iterator<Item = u64> {
    payload.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_text::{Analyser, Features, Profile};
    use proptest::prelude::*;

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    fn features(text: &str) -> Features {
        let mut features = Features::default();
        Analyser::new(&Profile::web()).read(text, &mut features);
        features
    }

    fn sketch(method: &dyn Method, text: &str) -> Sketch {
        let mut sketch = Sketch::default();
        method.sketch(&Page { text, features: &features(text) }, &mut sketch);
        sketch
    }

    fn fingerprint(method: &str, text: &str) -> Vec<u64> {
        words(&sketch(&*make(method), text).payload).collect()
    }

    #[test]
    fn fingerprints_of_the_rose_are_the_published_ones() {
        for (n, published) in [
            ("1", 0xc6ee_3282_0a12_4caf),
            ("2", 0x15d3_717f_ce27_cbe9),
            ("3", 0xe546_36ea_d685_8d7d),
            ("5", 0x98e2_c9f7_5a1d_0e98),
            ("2+3", 0xb5c2_307b_de27_cfe9),
            ("3+5", 0xe042_b0eb_528d_0ddd),
        ] {
            assert_eq!(
                fingerprint(&format!("simhash:n={n}"), "a rose is a rose is a rose"),
                [published],
                "n={n}"
            );
        }
    }

    #[test]
    fn defaults_are_written_down() {
        assert_eq!(
            make("simhash").recipe().to_string(),
            "simhash/1:blocks=4,f=64,k=3,n=3+5,seed=1,weight=tf"
        );
        assert_eq!(make("simhash:n=5+3,k=6,f=128").recipe().parameters["blocks"], "7");
        assert_eq!(make("simhash:n=5+3").recipe(), make("simhash").recipe());
    }

    #[test]
    fn a_text_under_n_words_is_one_feature() {
        let words = features("lone rose");
        assert_eq!(fingerprint("simhash", "lone rose"), [hash::gram(words.hashes())]);
        assert_eq!(fingerprint("simhash:n=2+5", "lone rose"), fingerprint("simhash:n=2", "lone rose"));
        assert_eq!(fingerprint("simhash", "rose"), [hash::word(b"rose")]);
    }

    #[test]
    fn weight_1_counts_an_n_gram_once() {
        let once = fingerprint("simhash:n=1,weight=1", "rose rose is a rose rose");
        assert_eq!(once, fingerprint("simhash:n=1", "a rose is"));
        assert_eq!(fingerprint("simhash:n=1", "rose rose is a rose rose"), [hash::word(b"rose")]);
        assert_ne!(once, [hash::word(b"rose")]);
    }

    #[test]
    fn keys_carry_their_table() {
        let rose = sketch(&*make("simhash:blocks=4x4"), "a rose is a rose is a rose");
        assert_eq!(rose.keys.iter().map(|key| key.tag).collect::<Vec<_>>(), (0..16).collect::<Vec<_>>());
        assert_eq!(sketch(&*make("simhash:k=0"), "a rose").keys.len(), 1);
    }

    #[test]
    fn a_seed_changes_distances() {
        let texts = ["one two three four five six", "one two three four five seven"];
        let distance = |seed: u64| {
            let method = format!("simhash:f=384,seed={seed}");
            let [a, b] = texts.map(|text| fingerprint(&method, text));
            a.iter().zip(&b).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>()
        };
        let distances: std::collections::BTreeSet<u32> = (0..8).map(distance).collect();
        assert!(distances.len() > 2, "{distances:?}");
    }

    #[test]
    fn what_it_cannot_do_is_a_sentence() {
        let error = |text: &str| crate::method(text, &Setting::default()).unwrap_err().to_string();
        assert!(error("simhash:blocks=3").contains("more blocks than the 3 bits that may differ"));
        assert!(error("simhash:k=6,blocks=12").contains("924 tables"));
        assert!(error("simhash:blocks=4by4").contains("4x4"));
        assert!(error("simhash:f=63").contains("64, 128, 256 or 384"));
        assert!(error("simhash:k=64").contains("below f"));
        assert!(error("simhash:weight=idf").contains("tf or 1"));
        for n in ["", "0", "3+3", "3,5", "x", "101"] {
            assert!(crate::method(&format!("simhash:n={n}"), &Setting::default()).is_err(), "n={n}");
        }
        let containment = Setting { similarity: Similarity::Containment, ..Setting::default() };
        assert!(crate::method("simhash", &containment).unwrap_err().to_string().contains("exact"));
    }

    #[test]
    fn accepted_up_to_k_bits() {
        let method = make("simhash");
        assert_eq!(method.accept(&[0; 8], &[7, 0, 0, 0, 0, 0, 0, 0], 1), Some(Score::even(1.0 - 3.0 / 64.0)));
        assert_eq!(method.accept(&[0; 8], &[7, 0, 0, 0, 0, 0, 0, 1], 1), None);
    }

    proptest! {
        #[test]
        fn fingerprints_equal_the_plain_sum_of_votes(text in "([a-d] ){1,60}", f in 1usize..=6, seed in 0u64..3) {
            prop_assume!([1, 2, 4, 6].contains(&f));
            let features = features(&text);
            let turned = |x: u64| if seed == 1 { x } else { hash::mix(x ^ seed::salt(seed)) };
            let mut sums = vec![0i64; 64 * f];
            let fitting: Vec<usize> = [2, 3].into_iter().filter(|&n| n <= features.len()).collect();
            for n in if fitting.is_empty() { vec![features.len()] } else { fitting } {
                for gram in features.grams(n) {
                    for (bit, sum) in sums.iter_mut().enumerate() {
                        let hash = hash::nth(bit as u64 / 64, turned(gram));
                        *sum += if hash >> (bit % 64) & 1 == 1 { 1 } else { -1 };
                    }
                }
            }
            let made = fingerprint(&format!("simhash:n=2+3,f={},seed={seed}", 64 * f), &text);
            for (bit, sum) in sums.into_iter().enumerate() {
                prop_assert_eq!(made[bit / 64] >> (bit % 64) & 1 == 1, sum > 0);
            }
        }

        #[test]
        fn members_of_a_group_stay_together_when_it_is_split(a: u64, flips in prop::collection::vec(0u32..64, 0..=3)) {
            let method = SimHash::make("simhash".parse().unwrap(), &Setting::default()).unwrap();
            let b = flips.iter().fold(a, |bits, flip| bits ^ 1 << flip);
            let tables = Tables::new(64, Blocks { first: 4, second: None }, 3).unwrap();
            let shared = tables.keys(&[a]).zip(tables.keys(&[b])).position(|(a, b)| a == b);
            prop_assert!(shared.is_some() && method.accept(&a.to_le_bytes(), &b.to_le_bytes(), 1).is_some());
            for depth in 1..10 {
                let mut keys = [Vec::new(), Vec::new()];
                for (keys, hash) in keys.iter_mut().zip([a, b]) {
                    method.split(&hash.to_le_bytes(), shared.unwrap() as u32, depth, keys);
                }
                prop_assert!(keys[0].is_empty() || keys[0].iter().any(|key| keys[1].contains(key)));
                prop_assert_eq!(keys[0].is_empty(), depth > 5);
            }
        }
    }
}

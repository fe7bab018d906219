//! `simhash`: one short fingerprint whose bits are votes of all n-grams; few differing bits mean near-duplicates.
//!
//! Charikar's fingerprint (2002) with the lookup tables of Manku, Jain and Sarma (2007). Every occurrence of an
//! n-gram votes for or against each bit by the bits of its hash. Every pair of fingerprints within `k` bits shares
//! a key, whatever the tables; more and longer keys only make for fewer accidental candidates.
//!
//! Instead of tables, a document can ask for the fingerprints that its near-duplicates most likely have (Sood and
//! Loguinov 2011), which are then found by one key each.
//!
//! An n-gram weighs what it occurs, or once, or by how rare its words are: a word its idf, a longer n-gram the sum of
//! those of its words. Weights are whole hundredths, so that no sum depends on an order.
//!
//! Fingerprints that somebody has already can be given instead of texts, as hexadecimal digits.
//!
//! 32 bits folded from the fingerprint stand in place of a document's length: pairs that met by accident are told apart
//! by these before candidates are sorted.
//!
//! - `vote_counter`: from n-grams to the fingerprint
//! - `votes`: counting for all bits at once
//! - `hash_set`: n-grams that count once
//! - `hex`: fingerprints that are given
//! - `tables`: keys that miss no pair
//! - `flips`: keys that miss few pairs

mod flips;
mod hash_set;
mod hex;
pub(crate) mod tables;
mod vote_counter;
mod votes;

use std::sync::{Arc, OnceLock};

use lookalike_model::Recipe;

use self::flips::{FlipBuffers, Limits, likely, tail};
use self::hash_set::HashSet64;
use self::tables::{Blocks, Tables};
use self::vote_counter::BitVoteCounter;
use crate::{
    Abilities, About, Advising, Grouping, Key, Learning, Lexicon, LexiconDetail, Member, Method, MethodError,
    Page, QueryKeys, Rejecting, Score, Setting, Sketch, Spec, Splitting, parameters, seed,
};

const VERSION: u32 = 1;

/// Words of the widest fingerprint.
const MAX_WORDS: usize = 6;

/// The longest n-grams that anybody may want.
const MAX_NGRAM: usize = 100;

/// Tag of the query-only keys of a probabilistic search.
const QUERY_ONLY: u32 = 1;

/// Part of the pairs that a probabilistic search is to find.
const TARGET: f64 = 0.95;

/// Fingerprints that a probabilistic search asks for at most.
const PROBES: usize = 500;

/// The default of `c`, which says how much the votes of near-duplicates differ. Fitted on generated texts of 60 to 3000
/// words with up to four in a hundred words replaced: of the pairs that were one to three of 64 bits apart, the search
/// finds 95 in 100 with it, by 1700 probes on average.
const SPREAD: f64 = 0.27;

/// Numbers of probes, and how many in 100 of the pairs that [`SPREAD`] was fitted on are found by at most that number.
/// 500 probes find all pairs one bit apart, 94 in 100 of those two bits apart, and 72 of those three bits apart; a
/// probe costs about a sixth of a microsecond.
const RECALL_BY_PROBES: [(usize, u32); 7] =
    [(10, 18), (50, 38), (100, 54), (200, 66), (500, 84), (1000, 91), (2000, 94)];

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "simhash",
    aliases: &[],
    summary: "fingerprints whose bits are votes of all n-grams, at most k bits apart",
    source: "Charikar 2002; lookup tables: Manku, Jain, Sarma 2007; probabilistic search: Sood, Loguinov 2011",
    formula: "\
V_i = sum over n-grams of weight * (+1 if bit i of its hash is set, else -1); bit i of the fingerprint = V_i > 0
keys by tables: one for each choice of blocks that may all be equal
keys by probability: the fingerprint, and for asking those with bits flipped, by p_i = Phi(-|V_i| / (c sqrt(sum w^2)))
accept: Hamming distance <= k",
    example: "lookalike pairs --method simhash:n=3+5,k=3 --unverified docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("from", "text, or hex: documents are fingerprints that were made elsewhere, f/4 hexadecimal digits each"),
        ("f", "bits of the fingerprint, 8 to 384; it takes whole words of 64"),
        ("n", "lengths of n-grams, joined by +"),
        ("weight", "votes of an n-gram: tf, 1, idf (ln N/df of its words), or tfidf (their product with tf)"),
        ("k", "most bits that may differ"),
        ("blocks", "blocks of the lookup tables, such as 4, or 4x4 for two levels"),
        ("search", "tables (no pair is missed), or probabilistic (fewer keys that are kept, more that are asked for)"),
        ("target", "part of the pairs within k bits that a probabilistic search is to find"),
        ("probes", "most fingerprints that a probabilistic search asks for"),
        ("c", "how much the votes of near-duplicates differ, in a probabilistic search"),
        ("seed", "of the hash function"),
    ],
    make: SimHash::make,
};

/// The content of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    /// Words, of which fingerprints are made.
    Text,
    /// Fingerprints that were made elsewhere, in hexadecimal digits.
    Hex,
}

impl Input {
    const ALL: [(&'static str, Input); 2] = [("text", Input::Text), ("hex", Input::Hex)];

    fn name(self) -> &'static str {
        Input::ALL.iter().find(|(_, input)| *input == self).map_or("", |(name, _)| name)
    }
}

/// The search for fingerprints within `k` bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Search {
    /// By tables, in which no pair is missed.
    Tables,
    /// By the fingerprints that near-duplicates most likely have.
    Probabilistic,
}

impl Search {
    const ALL: [(&'static str, Search); 2] =
        [("tables", Search::Tables), ("probabilistic", Search::Probabilistic)];

    fn name(self) -> &'static str {
        Search::ALL.iter().find(|(_, search)| *search == self).map_or("", |(name, _)| name)
    }
}

/// The weight of an n-gram's votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    Tf,
    One,
    Idf,
    TfIdf,
}

impl Weight {
    const ALL: [(&'static str, Weight); 4] =
        [("tf", Weight::Tf), ("1", Weight::One), ("idf", Weight::Idf), ("tfidf", Weight::TfIdf)];

    fn name(self) -> &'static str {
        Weight::ALL.iter().find(|(_, weight)| *weight == self).map_or("", |(name, _)| name)
    }

    /// True when an n-gram weighs as much more as it occurs more often.
    fn counts(self) -> bool {
        matches!(self, Weight::Tf | Weight::TfIdf)
    }

    /// True when it matters how rare words are.
    fn uses_idf(self) -> bool {
        matches!(self, Weight::Idf | Weight::TfIdf)
    }
}

/// The method `simhash`.
#[derive(Debug)]
pub(crate) struct SimHash {
    input: Input,
    /// f.
    bits: usize,
    /// Lengths of the n-grams, increasing.
    lengths: Vec<usize>,
    weight: Weight,
    k: u32,
    blocks: Blocks,
    tables: Tables,
    search: Search,
    target: f64,
    probes: usize,
    c: f64,
    seed: u64,
    lexicon: OnceLock<Arc<Lexicon>>,
}

/// Votes for the fingerprint of a document, and what they are counted with.
#[derive(Default)]
struct VoteBuffers {
    bit_votes: BitVoteCounter,
    /// Hundredths of the idf of each word.
    word_weights: Vec<u32>,
    /// N-grams and their weights.
    weighted: Vec<(u64, u64)>,
    /// N-grams of the document so far.
    seen_grams: HashSet64,
    flips: FlipBuffers,
}

impl SimHash {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let input = spec.choice("from", &Input::ALL)?;
        let wanted = "a number of bits from 8 to 384 is wanted";
        let bits = spec.value("f", 64, wanted, |bits| (8..=64 * MAX_WORDS).contains(bits))?;
        let lengths = lengths(&mut spec)?;
        let weight = spec.choice("weight", &Weight::ALL)?;
        let k = spec.value("k", 3, "a number of bits below f is wanted", |&k: &u32| (k as usize) < bits)?;
        let wanted = "a number such as 4, or two such as 4x4, are wanted";
        let default = Blocks { first: k as usize + 1, second: None };
        let blocks = spec.value("blocks", default, wanted, |_| true)?;
        let search = spec.choice("search", &Search::ALL)?;
        let wanted = "a number above 0 and up to 1 is wanted";
        let target = spec.value("target", TARGET, wanted, |&target| target > 0.0 && target <= 1.0)?;
        let wanted = "a number from 1 to 100000 is wanted";
        let probes = spec.value("probes", PROBES, wanted, |probes| (1..=100_000).contains(probes))?;
        let c =
            spec.value("c", SPREAD, "a number above 0 and up to 100 is wanted", |&c| c > 0.0 && c <= 100.0)?;
        let seed = spec.value("seed", setting.seed, "a whole number is wanted", |_| true)?;
        if input == Input::Hex && (search == Search::Probabilistic || weight.uses_idf()) {
            return Err(MethodError::Unable(
                "simhash:from=hex has fingerprints and knows no votes, which search=probabilistic and the weights idf \
                 and tfidf go by; leave these out"
                    .to_owned(),
            ));
        }
        let tables = Tables::new(bits, blocks, k as usize)
            .map_err(|wanted| spec.value_error("blocks", &blocks.to_string(), &wanted))?;
        spec.finish()?;
        parameters::refuse_containment("simhash", setting)?;
        Ok(Box::new(SimHash {
            input,
            bits,
            lengths,
            weight,
            k,
            blocks,
            tables,
            search,
            target,
            probes,
            c,
            seed,
            lexicon: OnceLock::new(),
        }))
    }

    /// The lengths of n-grams that a document of so many words has; the whole text is one if it is too short for any.
    fn lengths(&self, words: usize) -> impl Iterator<Item = usize> {
        let too_short = self.lengths.iter().all(|&n| n > words);
        let fitting = self.lengths.iter().copied().filter(move |&n| n <= words);
        fitting.chain(Some(words).filter(|_| too_short))
    }

    /// The fingerprint, with words of 0 behind it; nothing for a document that has none.
    fn fingerprint(&self, page: &Page<'_>, buffers: &mut VoteBuffers) -> Option<[u64; MAX_WORDS]> {
        match self.input {
            Input::Hex => hex::read(page.text, self.bits),
            Input::Text => {
                (!page.is_empty() && self.vote(page, buffers)).then(|| buffers.bit_votes.fingerprint())
            }
        }
    }

    /// Counts the votes of all n-grams; false when they weigh nothing, as words that all documents have do by idf.
    fn vote(&self, page: &Page<'_>, buffers: &mut VoteBuffers) -> bool {
        let VoteBuffers { bit_votes, word_weights, weighted, seen_grams, .. } = buffers;
        bit_votes.begin(self.bits, seed::salt(self.seed));
        if self.search == Search::Probabilistic {
            self.weigh(page, word_weights, weighted);
            weighted.iter().for_each(|&(gram, weight)| bit_votes.add_weighted(gram, weight));
        } else if self.weight == Weight::Tf {
            self.lengths(page.len()).for_each(|n| bit_votes.add_windows(page.hashes(), n));
        } else {
            let counts = self.weight.counts();
            // Where occurrences count, the set is not asked, and needs no memory.
            seen_grams.begin(if counts { 0 } else { page.len() * self.lengths.len() });
            self.for_each_gram(page, word_weights, |gram, weight| {
                if counts || seen_grams.insert(gram) {
                    bit_votes.add_weighted(gram, weight);
                }
            });
        }
        bit_votes.end()
    }

    /// Gives every n-gram to `each` as often as it occurs, with what one occurrence weighs; `words` is a buffer.
    fn for_each_gram(&self, page: &Page<'_>, words: &mut Vec<u32>, mut each: impl FnMut(u64, u64)) {
        words.clear();
        words.extend(page.hashes().iter().map(|&word| self.word_weight(word)));
        for n in self.lengths(page.len()) {
            // The weight of a window rolls along: the word that comes in is added, the one that leaves is
            // taken off. Whole numbers, so that nothing is lost by that.
            let mut weight: u64 = words[..n - 1].iter().map(|&word| u64::from(word)).sum();
            for (start, gram) in page.grams(n).enumerate() {
                weight += u64::from(words[start + n - 1]);
                each(gram, if self.weight.uses_idf() { weight } else { 1 });
                weight -= u64::from(words[start]);
            }
        }
    }

    /// Fills `weighted` with every different n-gram and its weight; `words` is a buffer.
    fn weigh(&self, page: &Page<'_>, words: &mut Vec<u32>, weighted: &mut Vec<(u64, u64)>) {
        weighted.clear();
        self.for_each_gram(page, words, |gram, weight| weighted.push((gram, weight)));
        weighted.sort_unstable();
        let counts = self.weight.counts();
        weighted.dedup_by(|later, first| {
            let same = later.0 == first.0;
            first.1 += if same && counts { later.1 } else { 0 };
            same
        });
    }

    /// Hundredths of the idf of a word; before anything is known, all words weigh the same.
    fn word_weight(&self, word: u64) -> u32 {
        let Some(lexicon) = self.lexicon.get().filter(|_| self.weight.uses_idf()) else { return 1 };
        (100.0 * lexicon.idf(lexicon.find(word).documents)).round() as u32
    }

    /// Appends keys for the fingerprints that near-duplicates most likely have, as far as they are not the document's.
    fn push_query_keys(&self, fingerprint: &[u64], buffers: &mut VoteBuffers, keys: &mut Vec<Key>) {
        let VoteBuffers { weighted, flips, bit_votes, .. } = buffers;
        // The standard deviation of a sum of independent votes, times how much near-duplicates differ.
        let squares: f64 = weighted.iter().map(|(_, weight)| (*weight as f64).powi(2)).sum();
        let spread = self.c * squares.sqrt();
        let mut chances = [0.0; 64 * MAX_WORDS];
        for (bit, chance) in chances[..self.bits].iter_mut().enumerate() {
            *chance = tail(bit_votes.margin(bit) as f64 / spread);
        }
        let limits = Limits { k: self.k as usize, target: self.target, probes: self.probes };
        likely(&chances[..self.bits], limits, flips, |flip| {
            let mut query = [0; MAX_WORDS];
            query
                .iter_mut()
                .zip(fingerprint)
                .zip(flip)
                .for_each(|((query, word), flip)| *query = word ^ flip);
            keys.push(Key { value: tables::fingerprint_hash(&query[..fingerprint.len()]), tag: QUERY_ONLY });
        });
    }

    /// Words of the fingerprint.
    fn width(&self) -> usize {
        self.bits.div_ceil(64)
    }
}

impl Method for SimHash {
    fn recipe(&self) -> Recipe {
        let lengths: Vec<String> = self.lengths.iter().map(usize::to_string).collect();
        Recipe::new("simhash", VERSION)
            .with("from", self.input.name())
            .with("f", self.bits)
            .with("n", lengths.join("+"))
            .with("weight", self.weight.name())
            .with("k", self.k)
            .with("blocks", self.blocks)
            .with("search", self.search.name())
            .with("target", self.target)
            .with("probes", self.probes)
            .with("c", self.c)
            .with("seed", self.seed)
    }

    fn payload_bytes(&self) -> usize {
        8 * self.width()
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        // No keys: such a document meets nobody. Its payload is there for the width of the record alone.
        let buffers: &mut VoteBuffers = sketch.buffers.own();
        let Some(fingerprint) = self.fingerprint(page, buffers) else {
            return sketch.payload.resize(self.payload_bytes(), 0);
        };
        let fingerprint = &fingerprint[..self.width()];
        sketch.length = folded(fingerprint);
        sketch.payload.extend(fingerprint.iter().flat_map(|word| word.to_le_bytes()));
        match self.search {
            Search::Tables => {
                let keys = (0..).zip(self.tables.keys(fingerprint));
                sketch.keys.extend(keys.map(|(tag, value)| Key { value, tag }));
            }
            Search::Probabilistic => {
                // Stored under one key, asked for under many: a pair meets when one side asks for the other's
                // fingerprint.
                sketch.keys.push(Key { value: tables::fingerprint_hash(fingerprint), tag: 0 });
                self.push_query_keys(fingerprint, buffers, &mut sketch.keys);
            }
        }
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        let distance: u32 = words(a).zip(words(b)).map(|(a, b)| (a ^ b).count_ones()).sum();
        (distance <= self.k).then(|| Score::even(1.0 - f64::from(distance) / self.bits as f64))
    }

    fn abilities(&self) -> Abilities<'_> {
        let probabilistic = self.search == Search::Probabilistic;
        Abilities {
            tagged: true,
            sketches_words_alone: self.input != Input::Hex,
            learning: self.weight.uses_idf().then_some(self),
            query_keys: probabilistic.then_some(self),
            grouping: Some(self),
            splitting: (!probabilistic).then_some(self),
            rejecting: (self.input == Input::Hex).then_some(self),
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Learning for SimHash {
    fn detail(&self) -> LexiconDetail {
        LexiconDetail::Counts
    }

    fn learn(&self, lexicon: &Arc<Lexicon>) -> Result<(), MethodError> {
        if lexicon.documents() < 2 {
            return Err(MethodError::Unable(format!(
                "simhash cannot weigh n-grams by {}, because the lexicon is of fewer than two documents and no word is \
                 rarer than another; use a lexicon of more documents, or weight=tf",
                self.weight.name()
            )));
        }
        self.lexicon.get_or_init(|| Arc::clone(lexicon));
        Ok(())
    }
}

impl QueryKeys for SimHash {
    fn is_query_only(&self, tag: u32) -> bool {
        tag == QUERY_ONLY
    }
}

impl Grouping for SimHash {
    /// Most accidental pairs of a group are too far apart already by what is known without payloads.
    fn plausible(&self, a: Member, b: Member) -> bool {
        (a.length ^ b.length).count_ones() <= self.k
    }
}

impl Splitting for SimHash {
    fn split(&self, payload: &[u8], tag: u32, depth: u32, keys: &mut Vec<u64>) {
        let mut fingerprint = [0; MAX_WORDS];
        fingerprint.iter_mut().zip(words(payload)).for_each(|(place, word)| *place = word);
        self.tables.split(&fingerprint[..self.width()], tag as usize, depth as usize, keys);
    }
}

impl Rejecting for SimHash {
    fn rejection_reason(&self, text: &str) -> Option<String> {
        hex::read(text, self.bits).is_none().then(|| {
            let (digits, bits) = (hex::digits(self.bits), self.bits);
            format!("the text is no fingerprint of {bits} bits in {digits} hexadecimal digits, as simhash:from=hex wants")
        })
    }
}

impl Advising for SimHash {
    fn advice(&self) -> Option<String> {
        if self.search == Search::Probabilistic {
            let (probes, found) =
                RECALL_BY_PROBES.into_iter().rfind(|(probes, _)| *probes <= self.probes).unwrap_or((0, 0));
            return Some(format!(
                "simhash writes up to {} keys of 16 bytes for a document, one for its own fingerprint of {} bytes and {} \
                 for others that a near-duplicate may have; in a trial {probes} of them found {found} in 100 pairs that \
                 were 1 to 3 of 64 bits apart, and search=tables finds all.",
                self.probes + 1,
                self.payload_bytes(),
                self.probes,
            ));
        }
        Some(format!(
            "simhash gives a document {} keys of {} or more bits and a fingerprint of {} bytes, and proposes every \
             pair within {} of {} bits; how many pairs of a given similarity are that near depends on the texts.",
            self.tables.len(),
            self.tables.shortest(),
            self.payload_bytes(),
            self.k,
            self.bits
        ))
    }
}

/// The lengths of n-grams that were asked for.
fn lengths(spec: &mut Spec) -> Result<Vec<usize>, MethodError> {
    let text = spec.text("n").unwrap_or_else(|| "3+5".to_owned());
    let wanted = "different lengths from 1 to 100 are wanted, such as 3 or 3+5";
    let parsed: Result<Vec<usize>, _> = text.split('+').map(str::parse).collect();
    let mut lengths = parsed.map_err(|_| spec.value_error("n", &text, wanted))?;
    lengths.sort_unstable();
    let increasing = lengths.is_sorted_by(|a, b| a < b);
    if !increasing || lengths.iter().any(|n| !(1..=MAX_NGRAM).contains(n)) {
        return Err(spec.value_error("n", &text, wanted));
    }
    Ok(lengths)
}

/// 32 bits that are no further apart than the fingerprints that they are folded of. They stand where other methods have a
/// document's length, which never is 0; so one of them is always set.
fn folded(fingerprint: &[u64]) -> u32 {
    // A bit that differs changes one bit of the XOR at most, and two that meet there cancel: distances never
    // grow.
    let word = fingerprint.iter().fold(0, |folded, word| folded ^ word);
    (word >> 32 ^ word) as u32 | 1
}

/// A payload as words.
fn words(payload: &[u8]) -> impl Iterator<Item = u64> {
    payload.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_hash as hash;
    use lookalike_model::Similarity;
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
            "simhash/1:blocks=4,c=0.27,f=64,from=text,k=3,n=3+5,probes=500,search=tables,seed=1,target=0.95,weight=tf"
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
        assert!(
            error("simhash:f=7").contains("from 8 to 384")
                && error("simhash:f=385").contains("from 8 to 384")
        );
        assert!(error("simhash:f=8,k=8").contains("below f"));
        assert!(error("simhash:k=64").contains("below f"));
        assert!(error("simhash:weight=df").contains("tf, 1, idf, tfidf"));
        assert!(error("simhash:search=fast").contains("tables, probabilistic"));
        assert!(error("simhash:target=0").contains("up to 1"));
        assert!(error("simhash:c=0").contains("above 0"));
        assert!(error("simhash:from=base64").contains("text, hex"));
        assert!(error("simhash:from=hex,weight=idf").contains("knows no votes"));
        assert!(error("simhash:from=hex,search=probabilistic").contains("knows no votes"));
        assert!(error("simhash:probes=0").contains("from 1"));
        for n in ["", "0", "3+3", "3,5", "x", "101"] {
            assert!(crate::method(&format!("simhash:n={n}"), &Setting::default()).is_err(), "n={n}");
        }
        let containment = Setting { similarity: Similarity::Containment, ..Setting::default() };
        assert!(crate::method("simhash", &containment).unwrap_err().to_string().contains("exact"));
    }

    #[test]
    fn fingerprints_are_taken_as_they_are() {
        let method = make("simhash:from=hex");
        let made = sketch(&*method, "fFFf0000aaaa0001");
        assert_eq!(words(&made.payload).collect::<Vec<_>>(), [0xffff_0000_aaaa_0001]);
        assert_eq!(made.keys.len(), 4);
        assert_eq!(method.abilities().rejection_reason("ffff0000aaaa0001"), None);
        assert!(sketch(&*method, "a rose is a rose").keys.is_empty());
        let reason = method.abilities().rejection_reason("a rose is a rose").unwrap();
        assert!(reason.contains("64 bits in 16 hexadecimal digits"), "{reason}");
        assert!(
            make("simhash:from=hex,f=100,k=4")
                .abilities()
                .rejection_reason("0123")
                .unwrap()
                .contains("25 hexadecimal digits")
        );
        assert_eq!(make("simhash").abilities().rejection_reason("a rose"), None);
        let text = "a rose is a rose is a rose";
        let spelled: String =
            words(&sketch(&*make("simhash"), text).payload).map(|word| format!("{word:016x}")).collect();
        let (given, voted) = (sketch(&*method, &spelled), sketch(&*make("simhash"), text));
        assert_eq!((given.payload, given.keys, given.length), (voted.payload, voted.keys, voted.length));
    }

    #[test]
    fn accepted_up_to_k_bits() {
        let method = make("simhash");
        assert_eq!(method.accept(&[0; 8], &[7, 0, 0, 0, 0, 0, 0, 0], 1), Some(Score::even(1.0 - 3.0 / 64.0)));
        assert_eq!(method.accept(&[0; 8], &[7, 0, 0, 0, 0, 0, 0, 1], 1), None);
    }

    #[test]
    fn fingerprints_of_any_width_are_the_front_of_wider_ones() {
        let text = "a rose is a rose is a red rose in june";
        let widest = fingerprint("simhash:f=384", text);
        for bits in [8usize, 20, 63, 64, 65, 100, 128, 200, 383] {
            let made = fingerprint(&format!("simhash:f={bits}"), text);
            let bit = |words: &[u64], bit: usize| words[bit / 64] >> (bit % 64) & 1;
            assert_eq!(made.len(), bits.div_ceil(64));
            assert!((0..bits).all(|place| bit(&made, place) == bit(&widest, place)), "f={bits}");
            assert!((bits..64 * made.len()).all(|place| bit(&made, place) == 0), "f={bits}");
            let method = make(&format!("simhash:f={bits}"));
            let mut other = sketch(&*method, text).payload;
            let own = other.clone();
            other[0] ^= 7;
            assert_eq!(method.accept(&own, &other, 1), Some(Score::even(1.0 - 3.0 / bits as f64)));
            let query =
                sketch(&*make(&format!("simhash:f={bits},search=probabilistic,target=1,probes=9")), text);
            assert_eq!(query.keys.len(), 10);
        }
    }

    /// A text of `words` words, common ones more often, and the same with `edits` words replaced.
    fn near_duplicates(words: usize, edits: usize, rng: &mut seed::SeededRng) -> [String; 2] {
        // Frequencies fall with the rank, as those of words do.
        let even = |number: u64| (number >> 11) as f64 / (1u64 << 53) as f64;
        let word = |number: u64| format!("w{}", 20_000f64.powf(even(number)) as u64);
        let text: Vec<String> = (0..words).map(|_| word(rng.next())).collect();
        let mut edited = text.clone();
        for _ in 0..edits {
            edited[rng.next() as usize % words] = word(rng.next());
        }
        [text.join(" "), edited.join(" ")]
    }

    #[test]
    fn a_probabilistic_search_finds_as_many_pairs_as_it_is_told_to() {
        let cases = [(0.95, 2000, 0.9, 1.0), (0.5, 2000, 0.4, 0.7), (0.95, 500, 0.75, 0.93)];
        for (target, probes, least, most) in cases {
            let method = make(&format!("simhash:search=probabilistic,target={target},probes={probes}"));
            let mut rng = seed::SeededRng::new(1);
            let (mut near, mut found) = (0, 0);
            for (words, edits) in [(200, 1), (1000, 5)].into_iter().cycle().take(300) {
                let texts = near_duplicates(words, edits, &mut rng);
                let [a, b] = texts.map(|text| sketch(&*method, &text));
                let meets = a.keys.iter().any(|key| key.value == b.keys[0].value);
                if a.payload == b.payload {
                    assert!(meets);
                } else if method.accept(&a.payload, &b.payload, 1).is_some() {
                    near += 1;
                    found += usize::from(meets);
                }
            }
            let share = f64::from(found as u32) / f64::from(near);
            assert!(
                near > 100 && (least..=most).contains(&share),
                "{found} of {near} for {target}, {probes}"
            );
        }
    }

    #[test]
    fn advice_tells_of_all_keys_that_are_written() {
        let advice = |parameters: &str| {
            let method = make(&format!("simhash:search=probabilistic{parameters}"));
            let mut rng = seed::SeededRng::new(5);
            let most =
                (0..5).map(|_| sketch(&*method, &near_duplicates(60, 0, &mut rng)[0]).keys.len()).max();
            (method.abilities().advice().unwrap(), most.unwrap())
        };
        let (text, written) = advice("");
        assert!(
            text.contains("up to 501 keys of 16 bytes") && text.contains("500 of them found 84"),
            "{text}"
        );
        assert_eq!(written, 501);
        let (text, written) = advice(",probes=60");
        assert!(text.contains("up to 61 keys of 16 bytes") && text.contains("50 of them found 38"), "{text}");
        assert_eq!(written, 61);
        assert!(advice(",probes=3").0.contains("0 of them found 0"));
    }

    #[test]
    fn one_key_is_kept_and_others_ask() {
        let method = make("simhash:search=probabilistic,probes=50");
        let mut rng = seed::SeededRng::new(3);
        let [text, _] = near_duplicates(300, 0, &mut rng);
        let made = sketch(&*method, &text);
        assert_eq!(made.payload, sketch(&*make("simhash"), &text).payload);
        let fingerprint: Vec<u64> = words(&made.payload).collect();
        assert_eq!(made.keys[0], Key { value: tables::fingerprint_hash(&fingerprint), tag: 0 });
        assert_eq!(made.keys.len(), 51);
        assert!(made.keys[1..].iter().all(|key| key.tag == 1 && method.abilities().is_query_only(key.tag)));
        assert!(!method.abilities().is_query_only(0) && !make("simhash").abilities().is_query_only(1));
        let mut near: Vec<u64> = Vec::new();
        for (a, b, c) in (0..65).flat_map(|a| (a..65).flat_map(move |b| (b..65).map(move |c| (a, b, c)))) {
            let flips = [a, b, c].iter().fold(0, |flips, bit| flips | 1u64.checked_shl(*bit).unwrap_or(0));
            near.push(tables::fingerprint_hash(&[fingerprint[0] ^ flips]));
        }
        near.sort_unstable();
        assert!(made.keys.iter().all(|key| near.binary_search(&key.value).is_ok()));
    }

    fn lexicon(texts: &[&str]) -> Arc<Lexicon> {
        let all: Vec<Features> = texts.iter().map(|text| features(text)).collect();
        Arc::new(Lexicon::gather(&Profile::web().recipe(), &all))
    }

    const CORPUS: [&str; 4] = ["a rose is a rose", "a tulip is red", "a lily", "a red red rose is new"];

    #[test]
    fn rare_words_weigh_more() {
        let known = lexicon(&CORPUS);
        let idf = |word: &str| {
            (100.0 * known.idf(known.find(hash::word(word.as_bytes())).documents)).round() as i64
        };
        assert_eq!(["a", "is", "rose", "lily", "none"].map(idf), [0, 29, 69, 139, 139]);
        let text = "a rose is a red rose";
        for (weight, counts) in [("idf", false), ("tfidf", true)] {
            let method = make(&format!("simhash:n=1+2,weight={weight}"));
            assert_eq!(method.abilities().learning.unwrap().detail(), LexiconDetail::Counts);
            method.abilities().learning.unwrap().learn(&known).unwrap();
            let mut sums = [0i64; 64];
            let all: Vec<&str> = text.split(' ').collect();
            for n in [1, 2] {
                let mut grams: Vec<&[&str]> = all.windows(n).collect();
                if !counts {
                    grams.sort_unstable();
                    grams.dedup();
                }
                for gram in grams {
                    let hashes: Vec<u64> = gram.iter().map(|word| hash::word(word.as_bytes())).collect();
                    let weight: i64 = gram.iter().map(|word| idf(word)).sum();
                    for (bit, sum) in sums.iter_mut().enumerate() {
                        *sum += if hash::gram(&hashes) >> bit & 1 == 1 { weight } else { -weight };
                    }
                }
            }
            let plain = (0..64).fold(0u64, |bits, bit| bits | u64::from(sums[bit] > 0) << bit);
            assert_eq!(words(&sketch(&*method, text).payload).collect::<Vec<_>>(), [plain], "{weight}");
        }
    }

    #[test]
    fn words_of_every_document_say_nothing() {
        let method = make("simhash:n=1,weight=tfidf");
        method.abilities().learning.unwrap().learn(&lexicon(&CORPUS)).unwrap();
        assert_eq!(sketch(&*method, "a a a").keys, []);
        assert_eq!(sketch(&*method, "a rose a a").payload, sketch(&*method, "rose").payload);
        let error = make("simhash:weight=idf")
            .abilities()
            .learning
            .unwrap()
            .learn(&lexicon(&CORPUS[..1]))
            .unwrap_err()
            .to_string();
        assert!(error.contains("fewer than two documents"), "{error}");
        assert!(make("simhash").abilities().learning.is_none());
    }

    #[test]
    fn before_anything_is_known_words_weigh_the_same() {
        let text = "a rose is a rose is a rose";
        assert_eq!(fingerprint("simhash:n=1,weight=tfidf", text), fingerprint("simhash:n=1", text));
        assert_eq!(fingerprint("simhash:n=1,weight=idf", text), fingerprint("simhash:n=1,weight=1", text));
    }

    #[test]
    fn searches_give_the_same_fingerprints() {
        let text = "a rose is a rose is a red rose in june";
        for parameters in ["n=1", "n=2+3,weight=1", "n=2,f=256,seed=9", "n=20"] {
            let tables = fingerprint(&format!("simhash:{parameters}"), text);
            assert_eq!(
                fingerprint(&format!("simhash:{parameters},search=probabilistic"), text),
                tables,
                "{parameters}"
            );
        }
    }

    #[test]
    fn angles_and_bits_are_as_published() {
        use std::f64::consts::PI;
        for (bits, cosine) in [(1.0, 0.99880), (3.0, 0.98918), (5.0, 0.97003), (10.0, 0.88192)] {
            assert!(((PI * bits / 64.0f64).cos() - cosine).abs() < 0.5e-5, "{bits}");
        }
        for (cosine, expected) in [
            (0.9, [0.0006, 0.0130, 0.0874]),
            (0.95, [0.0089, 0.1014, 0.3620]),
            (0.99, [0.2103, 0.6740, 0.9319]),
            (0.999, [0.7686, 0.9867, 0.9997]),
        ] {
            let differs = f64::acos(cosine) / PI;
            let within = [1, 3, 5].map(|k| 1.0 - crate::chance::at_least(k + 1, 64, differs));
            for (within, expected) in within.into_iter().zip(expected) {
                assert!((within - expected).abs() < 0.5e-4, "{cosine}: {within}, not {expected}");
            }
        }
        // Goemans and Williamson: 1 − φ/π is at least 0.878 (1 + cos φ)/2, and above 0.878 cos φ.
        for step in 0..=1000 {
            let angle = PI * f64::from(step) / 1000.0;
            assert!(1.0 - angle / PI >= 0.878 * (1.0 + angle.cos()) / 2.0);
            assert!(1.0 - angle / PI > 0.878 * angle.cos());
        }
    }

    #[test]
    fn bits_differ_as_often_as_the_angle_says() {
        // Texts of 41 different words, 31 of them in both; an odd number has no ties.
        let (mut differ, trials) = (0, 200);
        for number in 0..trials {
            let word = |place: u64| format!("w{number}x{place} ");
            let text = |positions: std::ops::Range<u64>| positions.map(word).collect::<String>();
            let [a, b] = [text(0..41), text(10..51)].map(|text| fingerprint("simhash:n=1,f=384", &text));
            differ += a.iter().zip(&b).map(|(a, b)| u64::from((a ^ b).count_ones())).sum::<u64>();
        }
        let share = differ as f64 / (384 * trials) as f64;
        let expected = (31.0f64 / 41.0).acos() / std::f64::consts::PI;
        // Three standard errors, and as much again because sums of 41 votes are only nearly normal.
        let error = (expected * (1.0 - expected) / (384 * trials) as f64).sqrt();
        assert!((share - expected).abs() < 6.0 * error, "{share}, not {expected} ± {error}");
    }

    proptest! {
        #[test]
        fn fingerprints_equal_the_plain_sum_of_votes(text in "([a-d] ){1,60}", f in 8usize..=384, seed in 0u64..3) {
            let features = features(&text);
            let salted = |x: u64| if seed == 1 { x } else { hash::mix(x ^ seed::salt(seed)) };
            let mut sums = vec![0i64; f];
            let fitting: Vec<usize> = [2, 3].into_iter().filter(|&n| n <= features.len()).collect();
            for n in if fitting.is_empty() { vec![features.len()] } else { fitting } {
                for gram in features.grams(n) {
                    for (bit, sum) in sums.iter_mut().enumerate() {
                        let hash = hash::nth(bit as u64 / 64, salted(gram));
                        *sum += if hash >> (bit % 64) & 1 == 1 { 1 } else { -1 };
                    }
                }
            }
            let made = fingerprint(&format!("simhash:n=2+3,f={f},k=1,seed={seed}"), &text);
            for (bit, sum) in sums.into_iter().enumerate() {
                prop_assert_eq!(made[bit / 64] >> (bit % 64) & 1 == 1, sum > 0);
            }
        }

        #[test]
        fn pairs_that_are_accepted_are_plausible(
            words in prop::collection::vec(any::<u64>(), MAX_WORDS),
            flips in prop::collection::vec(0usize..384, 0..=3),
            width in 1usize..=MAX_WORDS,
        ) {
            let method = make("simhash:f=384");
            let mut other = words.clone();
            flips.iter().map(|flip| flip % (64 * width)).for_each(|flip| other[flip / 64] ^= 1 << (flip % 64));
            let member = |words: &[u64]| Member { length: folded(&words[..width]), tag: 0 };
            prop_assert!(method.abilities().plausible(member(&words), member(&other)) && member(&words).length > 0);
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
                    method.abilities().splitting.unwrap().split(&hash.to_le_bytes(), shared.unwrap() as u32, depth, keys);
                }
                prop_assert!(keys[0].is_empty() || keys[0].iter().any(|key| keys[1].contains(key)));
                prop_assert_eq!(keys[0].is_empty(), depth > 5);
            }
        }
    }
}

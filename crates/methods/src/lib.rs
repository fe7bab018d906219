//! Methods: from the words of a document to a few keys, and a rule that accepts a pair.
//!
//! Every published method, however different its paper looks, is *keys and accept*: a document becomes some 64-bit
//! [`Key`]s and a payload of fixed width; two documents that share enough keys are candidates; and [`Method::accept`]
//! looks at two payloads and says whether the method calls them near-duplicates. One engine can therefore run all of
//! them.
//!
//! ```
//! use lookalike_methods::{Page, Score, Setting, Sketch, method};
//! use lookalike_text::{Analyser, Features, Profile};
//!
//! let md5 = method("md5", &Setting::default())?;
//! let mut analyser = Analyser::new(&Profile::web());
//! let (mut features, mut one, mut two) = (Features::default(), Sketch::default(), Sketch::default());
//! let text = "a rose is a rose is a rose";
//! analyser.read(text, &mut features);
//! md5.sketch(&Page { text, features: &features }, &mut one);
//! let text = "A rose is a rose; is a rose!";
//! analyser.read(text, &mut features);
//! md5.sketch(&Page { text, features: &features }, &mut two);
//! assert_eq!(one.keys, two.keys);
//! assert_eq!(md5.accept(&one.payload, &two.payload, one.keys.len() as u32), Some(Score::even(1.0)));
//! # Ok::<(), lookalike_methods::MethodError>(())
//! ```
//!
//! Beside keys and accept, a method may implement these parts of [`Method`]:
//!
//! | part | meaning | methods |
//! |---|---|---|
//! | [`counts_keys`](Method::counts_keys) | the number of shared keys counts; all others look at payloads alone and can be asked about any two documents, as `--filter` does | `mod`, `dsc`, `dsc-ss`, `sif`, `koala`, `cops`, `spex` |
//! | [`longest_partner`](Method::longest_partner) | bound on the length of a partner, by which the engine cuts groups | `decomposition`, `three-plus-five`, `spex` |
//! | [`is_query_only`](Method::is_query_only) | keys that only ask; shared keys are then counted both ways | `koala`, `simhash:search=probabilistic` |
//! | [`max_documents_per_key`](Method::max_documents_per_key) | keys of more documents are dropped | `mod`, `dsc`, `cops` |
//! | [`rejection_reason`](Method::rejection_reason) | rejects documents that are not what the method reads | `simhash:from=hex` |
//! | [`own_measure`](Method::own_measure) | a measure that decides where pairs are not verified | `decomposition`, `fuzzy` |
//! | [`split`](Method::split) | stricter keys for groups that are too large | `simhash`, `supershingles` |
//! | [`lexicon`](Method::lexicon) | the words of the corpus must be counted first | those that weigh words |
//! | [`survey`](Method::survey) | further passes over the corpus come first | `exact`, `koala`, `spex`, `fuzzy`, `descriptive-words` |
//!
//! - [`spec`]: a method as typed, `name:key=value,…`
//! - [`about`]: the list of all methods, and what a person may want to know of each
//! - [`lexicon`]: what a whole collection tells of its words, for methods that weigh them
//! - [`hamming`]: stored fingerprints, found by distance
//! - [`words`]: the distinct words of a document
//! - `parameters`: those that many methods have
//! - `seed`: random choices that follow from a number
//! - `signature`: methods with one signature for each document
//! - `aligned_signatures`: methods with several signatures, of which one must agree
//! - `shares`: methods that count what two documents share
//! - `surveys`: what was gathered of a whole corpus, as bytes
//! - `sample`: one in so many shingles of a document
//! - `leading`: the first few of many items
//! - `ratio`: how much longer the longer of two documents may be
//! - `lanes`: payloads of several numbers
//! - `chance`: probabilities of so many successes
//! - `polynomial`, `prime`: what Rabin's fingerprints are remainders by
//! - one file per method; `template.rs` shows the shape

pub mod about;
mod aligned_signatures;
mod bottom;
mod chance;
mod cops;
mod decomposition;
mod descriptive_words;
mod dsc_ss;
mod exact;
mod fuzzy;
pub mod hamming;
mod imatch;
mod koala;
mod lanes;
mod leading;
mod lexical;
pub mod lexicon;
mod log_shingles;
mod md5;
mod megashingles;
mod minhash;
mod modulus;
mod parameters;
mod polynomial;
mod prime;
mod pugh;
mod rabin;
mod rabin_minhash;
mod randomised;
mod ratio;
mod sample;
mod seed;
mod sentences;
mod shares;
mod sif;
mod signature;
mod simhash;
pub mod spec;
mod spex;
mod supershingles;
mod surveys;
#[cfg(test)]
mod template;
mod three_plus_five;
#[cfg(test)]
mod trial;
mod word_tuples;
pub mod words;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use lookalike_model::{Recipe, Similarity, Threshold};
use lookalike_text::{Features, Profile};

pub use about::{About, METHODS, names};
pub use lexicon::Lexicon;
pub use spec::{MethodError, Spec};

/// The settings that a run fixes for all of its methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The similarity that verification measures.
    pub similarity: Similarity,
    /// The least similarity of a near-duplicate.
    pub threshold: Threshold,
    /// Words per shingle that verification looks at.
    pub shingle: usize,
    /// Wanted probability that a pair right at the threshold is proposed.
    pub recall: f64,
    /// Seed of every random choice.
    pub seed: u64,
}

impl Default for Setting {
    fn default() -> Self {
        Setting {
            similarity: Similarity::Jaccard,
            threshold: Threshold::default(),
            shingle: 5,
            recall: 0.98,
            seed: 1,
        }
    }
}

/// A key of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Documents that share this value meet in one group.
    pub value: u64,
    /// A number that the method gets back when they meet, such as a position or a table; 0 if it needs none.
    pub tag: u32,
}

/// The keys and the payload that a method makes of one document. Reused for one document after the other, it allocates
/// only for the largest.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Sketch {
    /// The keys; none for a document that the method has no signature for.
    pub keys: Vec<Key>,
    /// The payload, [`Method::payload_bytes`] long.
    pub payload: Vec<u8>,
    /// The document's length in the unit of the method's [`Method::plausible`]: words, unless it says otherwise.
    pub length: u32,
    /// Buffers for the method's own numbers; its content means nothing between two documents.
    pub scratch: Buffers,
}

/// Buffers that a method may use while it sketches.
#[derive(Debug, Default)]
pub struct Buffers {
    /// Hashes, minima.
    pub values: Vec<u64>,
    /// A second set of them.
    pub aux_values: Vec<u64>,
    /// A third one.
    pub hashes: Vec<u64>,
    /// Buffers for sorting them.
    pub sorting: lookalike_hash::SortBuffers,
    /// Weighted sums.
    pub sums: Vec<i64>,
    /// Positions in a document.
    pub positions: Vec<u32>,
    /// The distinct words of a document.
    pub words: Vec<words::Word>,
    /// Those of them that a method looks at.
    pub terms: Vec<imatch::Term>,
    /// Those of the secondary lexicon.
    pub secondary_terms: Vec<imatch::Term>,
    /// Values, each with a smaller number.
    pub ranked: Vec<(u32, u64)>,
    /// Weights of positions.
    pub weights: Vec<(f64, u32)>,
    /// Text.
    pub text: String,
    /// Bytes that are no text.
    pub bytes: Vec<u8>,
    /// Hashes with weights.
    pub weighted: Vec<(u64, u64)>,
    /// Votes for a fingerprint.
    pub bit_votes: simhash::BitVoteCounter,
    /// N-grams of the document so far.
    pub seen_grams: simhash::HashSet64,
    /// Sets of bits.
    pub flips: simhash::FlipBuffers,
    /// Features and sketch for the inner method of one that wraps another.
    pub inner: Option<Box<(Features, Sketch)>>,
}

impl Clone for Buffers {
    /// Empty: what is in buffers means nothing.
    fn clone(&self) -> Self {
        Buffers::default()
    }
}

impl PartialEq for Buffers {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Buffers {}

impl Sketch {
    /// Forgets the last document.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.payload.clear();
        self.length = 0;
    }
}

/// A document as a method sees it: its words, and the text they were found in.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The text as it was extracted.
    pub text: &'a str,
    /// Its words by the method's profile.
    pub features: &'a Features,
}

impl Deref for Page<'_> {
    type Target = Features;

    fn deref(&self) -> &Features {
        self.features
    }
}

/// The similarity of two documents as a method estimates it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The similarity of the first to the second, from 0 to 1; for a method that sees containment, the share of the
    /// first that is in the second.
    pub forward: f64,
    /// The same number, or how much of the second is in the first.
    pub backward: f64,
    /// The first is near enough to the second.
    pub reached: bool,
    /// The second is near enough to the first.
    pub reached_back: bool,
}

impl Score {
    /// The same both ways, and enough.
    pub fn even(score: f64) -> Self {
        Score { forward: score, backward: score, reached: true, reached_back: true }
    }

    /// As seen from the second document.
    #[must_use]
    pub fn swapped(self) -> Self {
        Score {
            forward: self.backward,
            backward: self.forward,
            reached: self.reached_back,
            reached_back: self.reached,
        }
    }
}

/// The counts of shared keys that [`Method::accept`] gets where some keys are query-only: of the keys by which the
/// first document is found, the number that the second has, and the other way round. Each is at most 65,535.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DirectedKeyCounts {
    /// Keys by which the second document finds the first.
    pub forward: u32,
    /// Keys by which the first document finds the second.
    pub backward: u32,
}

impl DirectedKeyCounts {
    const MAX: u32 = 0xffff;

    /// Both in one number.
    pub fn pack(self) -> u32 {
        self.forward.min(DirectedKeyCounts::MAX) | self.backward.min(DirectedKeyCounts::MAX) << 16
    }

    /// Both out of one number.
    pub fn unpack(shared: u32) -> Self {
        DirectedKeyCounts { forward: shared & DirectedKeyCounts::MAX, backward: shared >> 16 }
    }
}

/// The measure by which a method decides when it must see the documents again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnMeasure {
    /// The similarity that is measured, on words by the method's profile.
    pub similarity: Similarity,
    /// The least similarity of a near-duplicate.
    pub threshold: Threshold,
    /// Words per shingle.
    pub shingle: usize,
}

/// The detail in which a method must know the words of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LexiconDetail {
    /// Nothing.
    Nothing,
    /// In how many documents each word is, and how often; words of one occurrence are like unknown ones.
    Counts,
    /// The same of every word, so that unknown ones are known to be.
    Words,
    /// Every word, spelled out, with the distribution of its frequencies.
    Everything,
}

/// A document as its group sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// [`Sketch::length`].
    pub length: u32,
    /// [`Key::tag`] of the key that the group shares.
    pub tag: u32,
}

/// A method: keys and accept.
pub trait Method: fmt::Debug + Send + Sync {
    /// Name, version and every parameter, seeds included. [`method()`] makes the same method of its text again.
    fn recipe(&self) -> Recipe;

    /// The profile that it reads words by, if it is not the one that similarity is measured by.
    fn profile(&self) -> Option<&Profile> {
        None
    }

    /// True when it looks at sentences.
    fn sentences(&self) -> bool {
        false
    }

    /// Width of every payload.
    fn payload_bytes(&self) -> usize;

    /// Returns the number of keys that two documents must share to be candidates.
    fn keys_to_share(&self) -> u32 {
        1
    }

    /// True when [`Method::accept`] looks at the number of shared keys, and not at payloads alone.
    fn counts_keys(&self) -> bool {
        self.keys_to_share() > 1
    }

    /// True when keys have tags, which costs four bytes for each of them on disk.
    fn tagged(&self) -> bool {
        false
    }

    /// True when some keys are query-only. Then [`Method::accept`] gets the counts of both directions, as
    /// [`DirectedKeyCounts`].
    fn has_query_keys(&self) -> bool {
        false
    }

    /// True for the tag of keys by which a document finds others and is not found itself.
    fn is_query_only(&self, _tag: u32) -> bool {
        false
    }

    /// Returns the detail in which it must know the words of the collection before anything else.
    fn lexicon(&self) -> LexiconDetail {
        LexiconDetail::Nothing
    }

    /// Takes the lexicon that it asked for, by its own profile. Called once, before documents are sketched or surveyed.
    fn learn(&self, _lexicon: &Arc<Lexicon>) -> Result<(), MethodError> {
        Ok(())
    }

    /// Bytes of memory that stay in use for the whole run, beside the lexicon and what it surveys. Known once it has
    /// learned.
    fn resident_bytes(&self) -> u64 {
        0
    }

    /// Returns the survey that it needs of the whole corpus before it can sketch, which takes further passes over the
    /// input.
    fn survey(&self) -> Option<&dyn Survey> {
        None
    }

    /// Returns the reason why the method cannot read a document, if it cannot; the document is then rejected.
    fn rejection_reason(&self, _text: &str) -> Option<String> {
        None
    }

    /// Replaces `sketch` with that of a document with at least one word.
    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch);

    /// The method's own verdict on a pair: its score if they are near-duplicates. Seen from the other document, the
    /// score is swapped, and nothing else changes.
    fn accept(&self, a: &[u8], b: &[u8], shared: u32) -> Option<Score>;

    /// True when scores tell how much of one document is in the other, which need not be the same both ways.
    fn directed(&self) -> bool {
        false
    }

    /// True unless the pair need not be measured: because the verdict is part of what the method is, or because the
    /// payloads show that the threshold is out of reach. Symmetric.
    fn promising(&self, a: &[u8], b: &[u8], shared: u32) -> bool {
        self.accept(a, b, shared).is_some()
    }

    /// Returns the measure that decides where keys and payloads are not enough: accepted pairs are near-duplicates only
    /// if they reach its threshold. Runs that verify pairs use their own measure instead.
    fn own_measure(&self) -> Option<OwnMeasure> {
        None
    }

    /// False for a pair that met in a group and yet cannot reach the threshold, seen from lengths and tags alone.
    /// Symmetric.
    fn plausible(&self, _a: Member, _b: Member) -> bool {
        true
    }

    /// The greatest [`Sketch::length`] of documents that one of this length can be paired with. Never falls as `length`
    /// grows.
    fn longest_partner(&self, _length: u32) -> u32 {
        u32::MAX
    }

    /// The most documents that a key may have, out of `documents`; keys of more are dropped.
    fn max_documents_per_key(&self, _documents: u64) -> u64 {
        u64::MAX
    }

    /// Appends stricter keys for a member of a group that is too large: every pair of members that [`Method::accept`]
    /// would accept shares at least one of them, at the same position in the list. None when there is nothing stricter
    /// at this `depth`, which counts from 1; each depth is complete by itself.
    fn split(&self, _payload: &[u8], _tag: u32, _depth: u32, _keys: &mut Vec<u64>) {}

    /// Groups of this size propose all of their pairs whatever the run's limit is: the method sees to it that they are
    /// no larger unless it cannot be helped.
    fn least_group(&self) -> usize {
        0
    }

    /// Returns one sentence for users on the parameters that were chosen.
    fn advice(&self) -> Option<String> {
        None
    }
}

/// Knowledge of a whole corpus, gathered in passes of its own. The order of the documents does not matter.
pub trait Survey: Send + Sync {
    /// Number of passes over the corpus.
    fn passes(&self) -> u32 {
        1
    }

    /// One document in so many is enough; which ones depends on the corpus alone.
    fn sampling_interval(&self) -> u64 {
        1
    }

    /// The most bytes of memory that what it gathers takes, also while it is saved.
    fn bytes(&self) -> u64;

    /// Takes one document with at least one word into account, in the pass of this number, which counts from 0.
    fn observe(&self, pass: u32, page: &Page<'_>, scratch: &mut Buffers);

    /// All documents were observed in this pass.
    fn end(&self, _pass: u32) {}

    /// All that was gathered, for a file. Also asked for in the midst of a pass.
    fn save(&self) -> Vec<u8>;

    /// Takes back what was saved; false when the bytes are of another kind.
    fn load(&self, saved: &[u8]) -> bool;

    /// Adds what was gathered elsewhere in the same pass, of other documents, and saved; false when the bytes are of another
    /// kind. What was known before the pass is the same there as here.
    fn merge(&self, pass: u32, saved: &[u8]) -> bool;
}

/// The method that `text` names, such as `minhash` or `simhash:n=3+5,k=3`, for runs with this `setting`.
pub fn method(text: &str, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
    let spec: Spec = text.parse()?;
    match about::find(spec.name()) {
        Some((about, stands_for)) => (about.make)(spec.with_defaults(stands_for)?, setting),
        None => Err(spec.unknown(names())),
    }
}

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
//! Four functions of [`Method`] make a method; two more have defaults: [`promising`](Method::promising), by which payloads rule out pairs
//! before they are measured, and [`abilities`](Method::abilities), which lists whatever else a method offers or asks for:
//!
//! | ability | meaning | methods |
//! |---|---|---|
//! | [`profile`](Abilities::profile), [`sentences`](Abilities::sentences) | words by a profile of its own; sentences | those with a parameter `profile`; those of sentences |
//! | [`counted_keys`](Abilities::counted_keys) | the number of shared keys counts; all others look at payloads alone and can be asked about any two documents, as `--filter` does | `mod`, `dsc`, `dsc-ss`, `sif`, `koala`, `cops`, `spex` |
//! | [`sketches_words_alone`](Abilities::sketches_words_alone) | documents with equal words have equal sketches | `minhash`, `simhash`, `exact` |
//! | [`tagged`](Abilities::tagged) | keys with tags | `simhash`, `exact`, `koala` |
//! | [`directed`](Abilities::directed) | scores that differ both ways | `mod`, `sif`, `koala`, `cops` |
//! | [`resident_bytes`](Abilities::resident_bytes) | memory for the whole run | `minhash`, `imatch`, `supershingles`, `megashingles`, `descriptive-words` |
//! | [`own_measure`](Abilities::own_measure) | a measure that decides where pairs are not verified | `decomposition`, `fuzzy` |
//! | [`Learning`] | the words of the corpus must be counted first | those that weigh words |
//! | [`Survey`] | further passes over the corpus come first | `exact`, `koala`, `spex`, `fuzzy`, `descriptive-words` |
//! | [`QueryKeys`] | keys that only ask; shared keys are then counted both ways | `koala`, `simhash:search=probabilistic` |
//! | [`Grouping`] | bounds on pairs, lengths and groups, by which fewer pairs are proposed | `decomposition`, `three-plus-five`, `spex`, `exact`, `simhash`, `mod`, `dsc`, `cops` |
//! | [`Splitting`] | stricter keys for groups that are too large | `simhash`, `supershingles` |
//! | [`Rejecting`] | rejects documents that are not what the method reads | `simhash:from=hex` |
//! | [`Advising`] | a sentence for users on its parameters | most |
//!
//! - [`abilities`]: what a method may have beside keys and accept
//! - `buffers`: memory that methods use again for one document after the other
//! - [`spec`]: a method as typed, `name:key=value,…`
//! - [`about`]: the list of all methods, and what a person may want to know of each; methods that a program adds
//! - [`contract`]: what every method keeps, for tests of methods
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

pub mod abilities;
pub mod about;
mod aligned_signatures;
mod bottom;
mod buffers;
mod chance;
pub mod contract;
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

use lookalike_model::{Recipe, Similarity, Threshold};
use lookalike_text::Features;

pub use abilities::{
    Abilities, Advising, Grouping, Learning, LexiconDetail, Member, OwnMeasure, QueryKeys, Rejecting,
    Splitting, Survey,
};
pub use about::{About, METHODS, names, register};
pub use buffers::Buffers;
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
    /// The document's length in the unit of the method's [`Grouping`]: words, unless it says otherwise.
    pub length: u32,
    /// Buffers for the method's own numbers; their content means nothing between two documents.
    pub buffers: Buffers,
}

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

/// A method: keys and accept.
pub trait Method: fmt::Debug + Send + Sync {
    /// Name, version and every parameter, seeds included. [`method()`] makes the same method of its text again.
    fn recipe(&self) -> Recipe;

    /// Width of every payload.
    fn payload_bytes(&self) -> usize;

    /// Replaces `sketch` with that of a document. The engine asks for those with words alone; the contract also for one without, which
    /// gets no keys and a payload of the usual width.
    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch);

    /// The method's own verdict on a pair: its score if they are near-duplicates. Seen from the other document, the
    /// score is swapped, and nothing else changes.
    fn accept(&self, a: &[u8], b: &[u8], shared: u32) -> Option<Score>;

    /// True if a candidate pair must be measured; false if the payloads show that the threshold is out of reach, or if the method's own
    /// verdict is part of what it is and rejects the pair. Symmetric.
    fn promising(&self, a: &[u8], b: &[u8], shared: u32) -> bool {
        self.accept(a, b, shared).is_some()
    }

    /// Lists what the method has beside keys and accept; nothing unless it says otherwise.
    fn abilities(&self) -> Abilities<'_> {
        Abilities::default()
    }
}

/// The method that `text` names, such as `minhash` or `simhash:n=3+5,k=3`, for runs with this `setting`.
pub fn method(text: &str, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
    let spec: Spec = text.parse()?;
    match about::find(spec.name()) {
        Some((about, stands_for)) => (about.make)(spec.with_defaults(stands_for)?, setting),
        None => Err(spec.unknown(names())),
    }
}

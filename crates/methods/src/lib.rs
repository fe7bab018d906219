//! Methods: from the words of a document to a few keys, and a rule that accepts a pair.
//!
//! Every published method, however different its paper looks, is *keys and accept*: a document becomes some 64-bit
//! [`Key`]s and a payload of fixed width; two documents that share enough keys are candidates; and [`Method::accept`]
//! looks at two payloads and says whether the method calls them near-duplicates. One engine can therefore run all of
//! them.
//!
//! ```
//! use lookalike_methods::{Setting, Sketch, method};
//! use lookalike_text::{Analyser, Features, Profile};
//!
//! let md5 = method("md5", &Setting::default())?;
//! let mut analyser = Analyser::new(&Profile::web());
//! let (mut features, mut one, mut two) = (Features::default(), Sketch::default(), Sketch::default());
//! analyser.read("a rose is a rose is a rose", &mut features);
//! md5.sketch(&features, &mut one);
//! analyser.read("A rose is a rose; is a rose!", &mut features);
//! md5.sketch(&features, &mut two);
//! assert_eq!(one.keys, two.keys);
//! assert_eq!(md5.accept(&one.payload, &two.payload, one.keys.len() as u32), Some(1.0));
//! # Ok::<(), lookalike_methods::MethodError>(())
//! ```
//!
//! - [`spec`]: a method as typed, `name:key=value,…`
//! - one file per method; `template.rs` shows the shape

mod exact;
mod md5;
mod minhash;
mod seed;
mod simhash;
pub mod spec;
#[cfg(test)]
mod template;

use std::fmt;

use lookalike_model::{Recipe, Similarity, Threshold};
use lookalike_text::{Features, Profile};

pub use spec::{MethodError, Spec};

/// What a run fixes for all of its methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// What verification measures.
    pub similarity: Similarity,
    /// How much of it is enough.
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
    /// What the method wants to know again when they meet: a position, a table. 0 where it wants nothing.
    pub tag: u32,
}

/// What a method makes of one document. Used again for one document after the other, it allocates only for the
/// largest.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Sketch {
    /// The keys; none for a document that the method has no signature for.
    pub keys: Vec<Key>,
    /// The payload, [`Method::payload_bytes`] long.
    pub payload: Vec<u8>,
    /// The document's length in the unit of the method's [`Method::plausible`]: words, unless it says otherwise.
    pub length: u32,
    /// Room for the method's own numbers; its content means nothing between two documents.
    pub scratch: Scratch,
}

/// Buffers that a method may use while it sketches.
#[derive(Debug, Default, Clone)]
pub struct Scratch {
    /// Hashes, minima.
    pub values: Vec<u64>,
    /// More of them.
    pub more: Vec<u64>,
    /// Weighted sums.
    pub sums: Vec<i64>,
    /// Text.
    pub text: String,
}

impl PartialEq for Scratch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Scratch {}

impl Sketch {
    /// Forgets the last document.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.payload.clear();
        self.length = 0;
    }
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

    /// Width of every payload.
    fn payload_bytes(&self) -> usize;

    /// How many keys two documents must share to be candidates.
    fn keys_to_share(&self) -> u32 {
        1
    }

    /// True when keys have tags, which costs four bytes for each of them on disk.
    fn tagged(&self) -> bool {
        false
    }

    /// What it must know of the whole corpus before it can sketch; that takes one more pass over the input.
    fn survey(&self) -> Option<&dyn Survey> {
        None
    }

    /// Replaces `sketch` with that of a document with at least one word.
    fn sketch(&self, features: &Features, sketch: &mut Sketch);

    /// The method's own verdict on a pair: its score if they are near-duplicates. Symmetric.
    fn accept(&self, a: &[u8], b: &[u8], shared: u32) -> Option<f64>;

    /// True unless the pair need not be measured: because the verdict is part of what the method is, or because the
    /// payloads show that the threshold is out of reach. Symmetric.
    fn promising(&self, a: &[u8], b: &[u8], shared: u32) -> bool {
        self.accept(a, b, shared).is_some()
    }

    /// False for a pair that met in a group and yet cannot reach the threshold, seen from lengths and tags alone.
    /// Symmetric.
    fn plausible(&self, _a: Member, _b: Member) -> bool {
        true
    }

    /// Appends stricter keys for a member of a group that is too large: every pair of members that [`Method::accept`]
    /// would accept shares at least one of them, at the same place in the list. None when there is nothing stricter at
    /// this `depth`, which counts from 1; each depth is complete by itself.
    fn split(&self, _payload: &[u8], _tag: u32, _depth: u32, _keys: &mut Vec<u64>) {}

    /// Groups of this size propose all of their pairs whatever the run's limit is: the method sees to it that they are
    /// no larger unless it cannot be helped.
    fn least_group(&self) -> usize {
        0
    }

    /// What a person should know about the parameters that were chosen, in one sentence.
    fn advice(&self) -> Option<String> {
        None
    }
}

/// Knowledge of a whole corpus, gathered in a pass of its own. The order of the documents does not matter.
pub trait Survey: Send + Sync {
    /// Takes one document with at least one word into account.
    fn see(&self, features: &Features, scratch: &mut Scratch);

    /// All that was gathered, for a file.
    fn save(&self) -> Vec<u8>;

    /// Takes back what was saved; false when the bytes are of another kind.
    fn load(&self, saved: &[u8]) -> bool;
}

/// The method that `text` names, such as `minhash` or `simhash:n=3+5,k=3`, for runs with this `setting`.
pub fn method(text: &str, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
    let spec: Spec = text.parse()?;
    match spec.name() {
        "minhash" => minhash::MinHash::make(spec, setting),
        "simhash" => simhash::SimHash::make(spec, setting),
        "exact" => exact::Exact::make(spec, setting),
        "md5" => md5::Md5::make(spec, setting),
        _ => Err(spec.unknown(NAMES)),
    }
}

/// The names that [`method()`] knows.
pub const NAMES: &[&str] = &["minhash", "simhash", "exact", "md5"];

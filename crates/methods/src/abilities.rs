//! Abilities of methods: all that a method may offer or ask for beside keys and accept.
//!
//! A method that needs nothing of this leaves [`Method::abilities`](crate::Method::abilities) as it is. Any other lists
//! there what it has: a value for a plain fact, `Some(self)` for a trait of this file that it implements.
//!
//! ```ignore
//! fn abilities(&self) -> Abilities<'_> {
//!     Abilities { profile: self.profile.as_ref(), survey: Some(self), ..Abilities::default() }
//! }
//! ```
//!
//! The functions of [`Abilities`] say what holds of a method that does not have an ability, so that callers need not ask
//! first.

use std::sync::Arc;

use lookalike_model::{Similarity, Threshold};
use lookalike_text::Profile;

use crate::{Buffers, Lexicon, MethodError, Page};

/// The abilities of one method. Made anew by every call of [`Method::abilities`](crate::Method::abilities): whoever
/// works on many documents or pairs asks once.
#[derive(Clone, Copy, Default)]
pub struct Abilities<'m> {
    /// The profile that it reads words by, if it is not the one that similarity is measured by.
    pub profile: Option<&'m Profile>,
    /// True when it looks at sentences.
    pub sentences: bool,
    /// True when sketches are made of the words alone, by the profile that similarity is measured by: documents with equal words
    /// have equal sketches.
    pub sketches_words_alone: bool,
    /// True when keys have tags, which costs four bytes for each of them on disk.
    pub tagged: bool,
    /// The least number of keys that two documents must share, from 1, for a method whose
    /// [`accept`](crate::Method::accept) looks at that number. All others look at payloads alone: one shared key is
    /// enough, and they can be asked about any two documents.
    pub counted_keys: Option<u32>,
    /// True when scores tell how much of one document is in the other, which need not be the same both ways.
    pub directed: bool,
    /// Bytes of memory that stay in use for the whole run, beside the lexicon and what is surveyed. Known once the method
    /// has learned.
    pub resident_bytes: u64,
    /// The measure that decides where keys and payloads are not enough: accepted pairs are near-duplicates only if they
    /// reach its threshold. Runs that verify pairs use their own measure instead.
    pub own_measure: Option<OwnMeasure>,
    /// The words of the collection must be counted first.
    pub learning: Option<&'m dyn Learning>,
    /// Further passes over the corpus come first.
    pub survey: Option<&'m dyn Survey>,
    /// Some keys are query-only. Then [`accept`](crate::Method::accept) gets the counts of both directions, as
    /// [`DirectedKeyCounts`](crate::DirectedKeyCounts).
    pub query_keys: Option<&'m dyn QueryKeys>,
    /// Rules by which groups propose fewer pairs.
    pub grouping: Option<&'m dyn Grouping>,
    /// Stricter keys for groups that are too large.
    pub splitting: Option<&'m dyn Splitting>,
    /// Documents that are not what the method reads are rejected.
    pub rejecting: Option<&'m dyn Rejecting>,
    /// A sentence for users.
    pub advising: Option<&'m dyn Advising>,
}

/// Learning from the words of a collection.
pub trait Learning: Send + Sync {
    /// Returns the detail in which it must know the words.
    fn detail(&self) -> LexiconDetail;

    /// Takes the lexicon that it asked for, by its own profile. Called once, before documents are sketched or surveyed.
    fn learn(&self, lexicon: &Arc<Lexicon>) -> Result<(), MethodError>;
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
    fn observe(&self, pass: u32, page: &Page<'_>, buffers: &mut Buffers);

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

/// Keys by which a document finds others and is not found itself.
pub trait QueryKeys: Send + Sync {
    /// True for the tag of such keys.
    fn is_query_only(&self, tag: u32) -> bool;
}

/// Rules by which the documents that share a key propose fewer pairs than all of theirs.
pub trait Grouping: Send + Sync {
    /// False for a pair that met in a group and yet cannot reach the threshold, seen from lengths and tags alone.
    /// Symmetric.
    fn plausible(&self, _a: Member, _b: Member) -> bool {
        true
    }

    /// The greatest [`length`](crate::Sketch::length) of documents that one of this length can be paired with. Never falls
    /// as `length` grows.
    fn longest_partner(&self, _length: u32) -> u32 {
        u32::MAX
    }

    /// The most documents that a key may have, out of `documents`; keys of more are dropped.
    fn max_documents_per_key(&self, _documents: u64) -> u64 {
        u64::MAX
    }

    /// Groups of this size propose all of their pairs whatever the run's limit is: the method sees to it that they are
    /// no larger unless it cannot be helped.
    fn least_group(&self) -> usize {
        0
    }
}

/// Stricter keys for groups that are too large.
pub trait Splitting: Send + Sync {
    /// Appends stricter keys for a member of such a group: every pair of members that
    /// [`accept`](crate::Method::accept) would accept shares at least one of them, at the same position in the list. None
    /// when there is nothing stricter at this `depth`, which counts from 1; each depth is complete by itself.
    fn split(&self, payload: &[u8], tag: u32, depth: u32, keys: &mut Vec<u64>);
}

/// Rejection of documents that are not what the method reads.
pub trait Rejecting: Send + Sync {
    /// Returns the reason why the method cannot read a document, if it cannot.
    fn rejection_reason(&self, text: &str) -> Option<String>;
}

/// Advice for users.
pub trait Advising: Send + Sync {
    /// Returns one sentence on the parameters that were chosen, or on what was learned.
    fn advice(&self) -> Option<String>;
}

impl Abilities<'_> {
    /// True when [`accept`](crate::Method::accept) looks at the number of shared keys, and not at payloads alone.
    pub fn counts_keys(&self) -> bool {
        self.counted_keys.is_some()
    }

    /// Returns the number of keys that two documents must share to be candidates.
    pub fn keys_to_share(&self) -> u32 {
        self.counted_keys.unwrap_or(1)
    }

    /// True for the tag of keys by which a document finds others and is not found itself.
    #[inline]
    pub fn is_query_only(&self, tag: u32) -> bool {
        self.query_keys.is_some_and(|keys| keys.is_query_only(tag))
    }

    /// False for a pair that met in a group and cannot reach the threshold, see [`Grouping::plausible`].
    #[inline]
    pub fn plausible(&self, a: Member, b: Member) -> bool {
        self.grouping.is_none_or(|rules| rules.plausible(a, b))
    }

    /// The greatest length of a partner, see [`Grouping::longest_partner`].
    #[inline]
    pub fn longest_partner(&self, length: u32) -> u32 {
        self.grouping.map_or(u32::MAX, |rules| rules.longest_partner(length))
    }

    /// The most documents that a key may have, see [`Grouping::max_documents_per_key`].
    pub fn max_documents_per_key(&self, documents: u64) -> u64 {
        self.grouping.map_or(u64::MAX, |rules| rules.max_documents_per_key(documents))
    }

    /// The size up to which groups propose all of their pairs, see [`Grouping::least_group`].
    pub fn least_group(&self) -> usize {
        self.grouping.map_or(0, Grouping::least_group)
    }

    /// Returns the reason why the method cannot read a document, if it cannot; the document is then rejected.
    pub fn rejection_reason(&self, text: &str) -> Option<String> {
        self.rejecting.and_then(|rules| rules.rejection_reason(text))
    }

    /// Returns one sentence for users.
    pub fn advice(&self) -> Option<String> {
        self.advising.and_then(Advising::advice)
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
    /// [`Sketch::length`](crate::Sketch::length).
    pub length: u32,
    /// [`Key::tag`](crate::Key::tag) of the key that the group shares.
    pub tag: u32,
}

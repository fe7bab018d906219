//! A document that is asked about or added: what was examined of it, its candidates, and its near-duplicates.

use lookalike_engine::examine::{Examined, SharedKeys};
use lookalike_engine::measure::Measured;
use serde::Serialize;

/// A document that was examined, and is ready to be asked about or added.
#[derive(Debug, Clone, Default)]
pub struct PreparedDocument {
    /// Its id.
    pub id: String,
    /// Its address.
    pub url: Option<String>,
    /// Its near-duplicates, where they were asked for.
    pub answer: Option<Answer>,
    pub(crate) examined: Examined,
    pub(crate) body: Vec<u8>,
    /// The result of looking it up ahead of being added.
    pub(crate) candidates: Option<Candidates>,
}

impl PreparedDocument {
    /// Its text as it was extracted.
    pub fn text(&self) -> &str {
        &self.examined.text
    }

    /// Number of its words.
    pub fn words(&self) -> u32 {
        self.examined.words
    }
}

/// A posting of a key of the queried document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyMatch {
    pub(crate) number: u32,
    pub(crate) method: u32,
    /// The position of the key among those of the method.
    pub(crate) key: u32,
    /// The tag of the posting.
    pub(crate) tag: u32,
}

/// A candidate: a class, named by its first document, that methods propose.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) class: u32,
    pub(crate) shared: SharedKeys,
    pub(crate) record: Vec<u8>,
    /// The similarity of the queried document to this one, if measured; the inner option is none if it is not near.
    pub(crate) measured: Option<Option<Measured>>,
}

/// The candidates of a document.
#[derive(Debug, Clone, Default)]
pub(crate) struct Candidates {
    /// The first document with its words.
    pub(crate) leader: Option<u32>,
    pub(crate) classes: Vec<Candidate>,
    /// The number of postings of each of its keys, by method.
    pub(crate) postings: Vec<Vec<u32>>,
    /// Documents below this number were looked up, as they were in this epoch.
    pub(crate) searched_below: u32,
    pub(crate) epoch: u64,
}

/// A document that another one is a near-duplicate of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Match {
    /// Its number.
    pub number: u32,
    /// Its id.
    pub id: String,
    /// Its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The similarity of the queried document to this one; none if the methods give no number.
    pub similarity: Option<f64>,
    /// The similarity of this document to the queried one, for measures that are not symmetric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backward: Option<f64>,
    /// True if this document is kept.
    pub kept: bool,
}

/// All near-duplicates of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct Answer {
    /// The most similar ones, the earlier first of equally similar ones.
    pub matches: Vec<Match>,
    /// The number of all near-duplicates.
    pub total: usize,
}

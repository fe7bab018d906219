//! A document that is asked about or added: what was examined of it, its candidates, and its near-duplicates.

use std::cmp::Reverse;

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
    /// The rank of one that shares only common keys.
    pub(crate) common: Option<CommonRank>,
    pub(crate) record: Vec<u8>,
    /// The similarity of the queried document to this one, if measured; the inner option is none if it is not near.
    pub(crate) measured: Option<Option<Measured>>,
}

/// The rank of a document among those that share only common keys: more of them come first, then the earlier document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CommonRank {
    keys: Reverse<u32>,
    class: u32,
}

impl CommonRank {
    /// The rank of the document of these matches.
    pub(crate) fn of(matches: &[KeyMatch]) -> Self {
        CommonRank { keys: Reverse(matches.len() as u32), class: matches[0].number }
    }
}

/// The candidates of a document.
#[derive(Debug, Clone, Default)]
pub(crate) struct Candidates {
    /// The first document with its words.
    pub(crate) leader: Option<u32>,
    pub(crate) classes: Vec<Candidate>,
    /// The first of the documents that share only common keys, whether methods propose them or not.
    pub(crate) common: Vec<CommonRank>,
    /// The number of documents that share only common keys and are behind the first.
    pub(crate) left_out: u64,
    /// The number of postings of each of its keys, by method.
    pub(crate) postings: Vec<Vec<u32>>,
    /// Documents below this number were looked up, as they were in this epoch.
    pub(crate) searched_below: u32,
    pub(crate) epoch: u64,
}

impl Candidates {
    /// Forgets the classes that were found, to look for them again.
    pub(crate) fn forget_classes(&mut self) {
        self.classes.clear();
        self.postings.clear();
        self.common.clear();
        self.left_out = 0;
    }

    /// Adds documents to the ranking of those that share only common keys, keeps the first `most`, and drops candidates that are not
    /// among them any more.
    pub(crate) fn rank_common(&mut self, ranks: Vec<CommonRank>, most: usize) {
        self.common.extend(ranks);
        if self.common.len() > most {
            self.left_out += (self.common.len() - most) as u64;
            self.common.select_nth_unstable(most);
            self.common.truncate(most);
        }
        self.common.sort_unstable();
        let common = &self.common;
        self.classes.retain(|one| one.common.is_none_or(|rank| common.binary_search(&rank).is_ok()));
    }

    /// True for a document that is in the ranking.
    pub(crate) fn is_ranked(&self, rank: CommonRank) -> bool {
        self.common.binary_search(&rank).is_ok()
    }
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
    /// The number of all near-duplicates that were found.
    pub total: usize,
    /// The number of documents that were not compared: they share only common keys with it, and others share more of them.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

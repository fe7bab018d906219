//! The results of a job, for a report.

use std::collections::BTreeMap;

use lookalike_corpus::Loss;
use lookalike_model::{BigCluster, DocNumber, Section, SourceCounts};
use serde::{Deserialize, Serialize};

use crate::stages::sketch::MethodCounts;

/// The results of a job, for a report.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The counts.
    pub summary: Summary,
    /// Measured pairs by similarity in hundredths, the last for 1.
    pub histogram: Vec<u64>,
    /// Clusters by size: the lowest size of a bin, the highest, and how many.
    pub cluster_sizes: Vec<(u64, u64, u64)>,
    /// The largest clusters.
    pub biggest: Vec<ShownCluster>,
    /// Documents and removals per shard, most removals first.
    pub sources: Vec<SourceCounts>,
    /// Documents and removals per host, most removals first.
    pub hosts: Vec<SourceCounts>,
    /// Rejections by reason.
    pub rejections: BTreeMap<String, u64>,
    /// Pairs for a person to look at.
    pub samples: Vec<PairSample>,
    /// Remarks for the reader of the results.
    pub notes: Vec<String>,
    /// Measured pairs that reached the threshold.
    pub reached: u64,
    /// The counts of each method that proposes pairs.
    pub method_counts: Vec<MethodCounts>,
}

/// The counts of a finished job.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Records found, rejected ones included.
    pub documents: u64,
    /// Documents that stay.
    pub kept: u64,
    /// Documents that go, each with a witness.
    pub removed: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// Records that are no documents.
    pub skipped: u64,
    /// Clusters of two or more.
    pub clusters: u64,
    /// Documents beyond the first of each class of equal words.
    pub exact_duplicates: u64,
    /// Distinct pairs proposed.
    pub candidates: u64,
    /// Pairs measured.
    pub verified: u64,
    /// Groups that did not propose all of their pairs.
    pub giant_groups: u64,
    /// Documents whose id an earlier one bears.
    pub duplicate_ids: u64,
    /// Bytes of extracted text.
    pub text_bytes: u64,
    /// Version of the program.
    pub version: String,
    /// Pairs written, by `pairs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// Pairs counted by the method's word alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
    /// Witnesses may be below the threshold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub witnesses_waived: bool,
    /// Documents of the other corpus.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub against: u64,
    /// Files that were left out of folders, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, u64>,
    /// Records of the other corpus that could not be read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub against_rejected: u64,
    /// Reasons why records could not be read, the most frequent first, those of the other corpus behind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Loss>,
}

impl Summary {
    /// Records of both corpora that could not be read.
    pub fn all_rejected(&self) -> u64 {
        self.rejected + self.against_rejected
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A large cluster with the documents that it is shown by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShownCluster {
    /// The cluster as the report has it.
    pub facts: BigCluster,
    pub(crate) kept_document: DocNumber,
    /// The documents whose ids are shown.
    pub(crate) shown: Vec<DocNumber>,
}

/// A pair for a person to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct PairSample {
    /// The reason why it is shown.
    pub section: Section,
    /// Its similarity.
    pub similarity: f64,
    /// The earlier document.
    pub a: SampleDocument,
    /// The later one.
    pub b: SampleDocument,
}

/// A document of a sample.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SampleDocument {
    /// Its id.
    pub id: String,
    /// Its address.
    pub url: Option<String>,
    /// Its text.
    pub text: String,
    /// It was removed.
    pub removed: bool,
    pub(crate) number: DocNumber,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_nothing_of_what_there_was_not() {
        let text = serde_json::to_value(Summary::default()).unwrap();
        for name in
            ["pairs", "unverified", "witnesses_waived", "against", "left_out", "against_rejected", "reasons"]
        {
            assert!(text.get(name).is_none(), "{name}");
        }
        assert_eq!(text["documents"], 0);
        let summary = Summary { rejected: 2, against_rejected: 3, against: 9, ..Summary::default() };
        assert_eq!(summary.all_rejected(), 5);
        let again: Summary = serde_json::from_value(serde_json::to_value(&summary).unwrap()).unwrap();
        assert_eq!(again, summary);
    }
}

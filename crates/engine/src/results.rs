//! The results of a job, for a report.

use std::collections::BTreeMap;

use crate::job::Summary;
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
    pub biggest: Vec<BigCluster>,
    /// Documents and removals per shard, most removals first.
    pub sources: Vec<Share>,
    /// Documents and removals per host, most removals first.
    pub hosts: Vec<Share>,
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

/// Documents and removals of a part of the corpus.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Share {
    /// The part.
    pub name: String,
    /// Documents found.
    pub documents: u64,
    /// Those removed.
    pub removed: u64,
}

/// A large cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BigCluster {
    /// Ordinal of its kept document.
    pub cluster: u64,
    /// Id of its kept document.
    pub keep: String,
    /// Number of its documents.
    pub size: u64,
    /// A few of their ids.
    pub members: Vec<String>,
    /// The beginning of the kept document's text.
    pub excerpt: String,
    pub(crate) kept_document: u32,
    /// The documents whose ids are shown.
    pub(crate) shown: Vec<u32>,
}

/// The reason why a pair is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Drawn by lot from those at or above the threshold.
    Random,
    /// Just above the threshold.
    Above,
    /// Just below it.
    Below,
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
    pub(crate) number: u32,
}

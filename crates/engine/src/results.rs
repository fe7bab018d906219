//! The results of a job, for a report.

use std::collections::BTreeMap;

use lookalike_model::{BigCluster, Section, SourceCounts};

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

/// A large cluster with the documents that it is shown by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShownCluster {
    /// The cluster as the report has it.
    pub facts: BigCluster,
    pub(crate) kept_document: u32,
    /// The documents whose ids are shown.
    pub(crate) shown: Vec<u32>,
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

//! The data of a report, as plain structs. The caller fills them in; [`render`](crate::render) makes the page, and serde the JSON.

use lookalike_model::{BigCluster, Section, Similarity, SourceCounts};
use serde::Serialize;

use crate::diff::Comparison;
use crate::kind::Kind;

/// A finished run, for people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The title of the page, such as `dedup of crawl-2024`.
    pub title: String,
    /// The recipe of the run, as TOML.
    pub recipe: String,
    /// The counts of the run.
    pub counts: Counts,
    /// The similarity measure and its threshold.
    pub measure: Measure,
    /// True if pairs were taken for near-duplicates without a measurement.
    pub unverified: bool,
    /// True if chains of similar pairs remove documents: not every removed one is similar to the one kept.
    pub components: bool,
    /// Warnings, shown on top.
    pub notes: Vec<String>,
    /// Measured pairs by similarity, in ascending bins; the last one ends at 1 and holds it. Let one begin at the
    /// threshold: a bin around it counts as below.
    pub similarities: Vec<Bin>,
    /// Clusters by size, in ascending bins.
    pub sizes: Vec<SizeBin>,
    /// Documents by where they were read from: the largest sources, then one row for all others.
    pub sources: Vec<SourceCounts>,
    /// Documents by the host of their address, likewise.
    pub hosts: Vec<SourceCounts>,
    /// The biggest clusters, biggest first.
    pub biggest: Vec<BigCluster>,
    /// Pairs to look at. Each section is shown in the order given here.
    pub samples: Vec<PairSample>,
    /// Rejected records by reason, most frequent first.
    pub rejections: Vec<(String, u64)>,
}

impl Report {
    /// Counts the samples by kind of difference, in the order of [`Kind::ALL`], without zeros.
    pub fn kinds(&self) -> Vec<(Kind, u64)> {
        let count = |kind| self.samples.iter().filter(|sample| sample.comparison.kind == kind).count() as u64;
        Kind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|(_, count)| *count > 0).collect()
    }
}

/// The counts of a run; the fields of `summary.json`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Every record found that is a document, rejected ones too.
    pub documents: u64,
    /// Documents kept.
    pub kept: u64,
    /// Documents removed.
    pub removed: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// Records that are no documents.
    pub skipped: u64,
    /// Groups of two or more documents of which one was kept.
    pub clusters: u64,
    /// Documents beyond the first of equal word sequences.
    pub exact_duplicates: u64,
    /// Distinct pairs proposed.
    pub candidates: u64,
    /// Pairs measured.
    pub verified: u64,
    /// Groups too large to propose all their pairs.
    pub giant_groups: u64,
    /// Documents whose id another one had before.
    pub duplicate_ids: u64,
    /// Extracted text, in bytes of UTF-8.
    pub text_bytes: u64,
}

/// The similarity measure and its threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measure {
    /// The measure.
    pub similarity: Similarity,
    /// Words per shingle.
    pub shingle: u64,
    /// The least similarity of near-duplicates.
    pub threshold: f64,
}

/// Pairs with a similarity from `lower` up to the next bin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    /// The least similarity in the bin.
    pub lower: f64,
    /// The number of pairs.
    pub pairs: u64,
}

/// Clusters of `least` to `most` documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SizeBin {
    /// Fewest documents.
    pub least: u64,
    /// Most documents.
    pub most: u64,
    /// The number of clusters.
    pub clusters: u64,
}

/// One of the two documents of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairSide {
    /// The first.
    A,
    /// The second.
    B,
}

/// A pair to look at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairSample {
    /// The reason why it is a sample.
    pub section: Section,
    /// Id of the first document.
    pub id_a: String,
    /// Id of the second.
    pub id_b: String,
    /// Address of the first, where known.
    pub url_a: Option<String>,
    /// Address of the second, where known.
    pub url_b: Option<String>,
    /// The measured similarity, if there was a measurement.
    pub similarity: Option<f64>,
    /// The one of the two that was removed because of the other, if any.
    pub removed: Option<PairSide>,
    /// The word-by-word comparison, with the kind of difference.
    pub comparison: Comparison,
}

//! The parts of a run's findings that people look at: filled in by the engine, shown by the report.

use serde::Serialize;

/// The documents of one source or host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SourceCounts {
    /// The source or host.
    pub name: String,
    /// Its documents.
    pub documents: u64,
    /// Those of them that were removed.
    pub removed: u64,
}

/// A cluster worth a look.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct BigCluster {
    /// Its number: the ordinal of the document that was kept.
    pub cluster: u64,
    /// Id of the document that was kept.
    pub keep: String,
    /// Number of documents in it.
    pub size: u64,
    /// Ids of some of them.
    pub members: Vec<String>,
    /// The beginning of the kept document's text.
    pub excerpt: String,
}

/// The reason why a pair is among the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// Its similarity is just above the threshold.
    Above,
    /// Its similarity is just below the threshold.
    Below,
    /// It was drawn at random from all pairs that reach the threshold.
    Random,
}

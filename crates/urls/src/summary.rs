//! The counts of a finished comparison.

use lookalike::corpus::Loss;
use serde::{Deserialize, Serialize};

use crate::join::JoinFacts;
use crate::measure::Measurements;
use crate::overlap::rounded;
use crate::persistence::Persistence;
use crate::read::{RecordCounts, Side};
use crate::tables::ReportTables;
use crate::tsv::share;
use crate::{Context, recipe};

/// The counts of a finished comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The left corpus.
    pub left: SideSummary,
    /// The first snapshot.
    pub right: SideSummary,
    /// All snapshots, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snapshots: Vec<SideSummary>,
    /// The rule by which two addresses count as one.
    pub matching: String,
    /// Addresses that the left corpus shares with the first snapshot.
    pub shared_urls: u64,
    /// Left documents that have one of them.
    pub left_documents_with_shared_url: u64,
    /// Their share of all left documents, rejected records left out.
    pub left_documents_with_shared_url_share: Option<f64>,
    /// Right documents that have one of them.
    pub right_documents_with_shared_url: u64,
    /// Hosts of shared addresses.
    pub shared_hosts: u64,
    /// Registered domains of shared addresses.
    pub shared_domains: u64,
    /// Similarity of the two documents behind a shared address, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<SimilaritySummary>,
    /// Judged documents, if judgments were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<JudgedSummary>,
    /// Number of snapshots after which half of the left addresses are gone, if that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_life: Option<f64>,
    /// Number of snapshots after which half of the left shingles are gone, if that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shingle_half_life: Option<f64>,
    /// Version of the program.
    pub version: String,
}

/// One side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideSummary {
    /// Its name.
    pub name: String,
    /// Counts of its records.
    #[serde(flatten)]
    pub counts: RecordCounts,
    /// Different addresses.
    pub urls: u64,
    /// Reasons why records could not be read, the most frequent reason first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Loss>,
}

/// Similarity of the two documents behind a shared address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimilaritySummary {
    /// The name of the measure.
    pub measure: String,
    /// The threshold from which on documents are near.
    pub threshold: String,
    /// Pairs measured: shared addresses whose two documents have words.
    pub pairs: u64,
    /// Shared addresses without such a pair.
    pub not_measured: u64,
    /// Pairs with equal words.
    pub unchanged: u64,
    /// Pairs that reach the threshold.
    pub near: u64,
    /// Their share.
    pub near_share: Option<f64>,
    /// The mean.
    pub mean: Option<f64>,
    /// The middle.
    pub median: Option<f64>,
}

/// Judged documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedSummary {
    /// Different documents in the judgments.
    pub judged: u64,
    /// Left documents that are among them.
    pub found: u64,
    /// Those that have an address.
    pub with_url: u64,
    /// Those that have a shared one.
    pub with_shared_url: u64,
    /// Their share of those found.
    pub with_shared_url_share: Option<f64>,
}

impl Summary {
    pub(crate) fn new(
        ctx: &Context<'_>,
        sides: &[Side],
        joined: &JoinFacts,
        measured: &Measurements,
        shown: &ReportTables,
        times: &Persistence,
    ) -> Self {
        let side = |side: usize| SideSummary {
            name: ctx.request.names[side].clone(),
            counts: sides[side].counts,
            urls: joined.urls[side],
            reasons: sides[side].losses.reasons_of(&ctx.request.side_name(side)),
        };
        let several = ctx.request.snapshots() > 1;
        let left = sides[0].counts;
        Summary {
            left: side(0),
            right: side(1),
            snapshots: if several { (1..sides.len()).map(side).collect() } else { Vec::new() },
            matching: recipe::matching_name(ctx.request.matching).to_owned(),
            shared_urls: joined.shared_urls,
            left_documents_with_shared_url: joined.shared_documents[0],
            left_documents_with_shared_url_share: share(
                joined.shared_documents[0],
                left.documents - left.rejected,
            )
            .map(rounded),
            right_documents_with_shared_url: joined.shared_documents[1],
            shared_hosts: shown.shared_hosts,
            shared_domains: shown.shared_domains,
            similarity: similarity(ctx, joined, measured),
            judged: ctx.request.judged.as_ref().map(|ids| JudgedSummary {
                judged: ids.len() as u64,
                found: left.judged,
                with_url: joined.judged[0],
                with_shared_url: joined.judged[1],
                with_shared_url_share: share(joined.judged[1], left.judged).map(rounded),
            }),
            half_life: times.half_life.map(rounded),
            shingle_half_life: times.shingle_half_life.map(rounded),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

fn similarity(ctx: &Context<'_>, joined: &JoinFacts, measured: &Measurements) -> Option<SimilaritySummary> {
    let measure = ctx.request.measure?;
    let sums = measured.with_left.first()?;
    Some(SimilaritySummary {
        measure: ctx.request.measure_name(),
        threshold: measure.threshold.to_string(),
        pairs: sums.pairs,
        not_measured: joined.shared_urls - sums.pairs,
        unchanged: sums.unchanged,
        near: sums.near,
        near_share: share(sums.near, sums.pairs).map(rounded),
        mean: sums.mean().map(rounded),
        median: measured.median.map(rounded),
    })
}

//! The counts of a finished comparison.

use lookalike::corpus::Loss;
use serde::{Deserialize, Serialize};

use crate::join::JoinFacts;
use crate::measure::Measurements;
use crate::persistence::Persistence;
use crate::read::{RecordCounts, Side};
use crate::tables::ReportTables;
use crate::tsv::share;
use crate::{Context, recipe};
use lookalike::model::rounded;

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::Fixture;
    use crate::measure::Sums;

    fn sides() -> Vec<Side> {
        let counts = RecordCounts { documents: 10, rejected: 4, skipped: 0, without_url: 1, judged: 4 };
        let left = Side { counts, ..Side::default() };
        vec![left, Side::default(), Side::default()]
    }

    fn joined() -> JoinFacts {
        JoinFacts {
            urls: vec![5, 6, 7],
            shared_urls: 3,
            shared_documents: [4, 9],
            judged: [3, 1],
            ..JoinFacts::default()
        }
    }

    fn measured() -> Measurements {
        let sums = Sums { pairs: 2, unchanged: 1, near: 1, sum: 1.0 / 3.0 };
        Measurements {
            with_left: vec![sums, Sums::default()],
            median: Some(1.0 / 6.0),
            ..Measurements::default()
        }
    }

    fn summary(fixture: &Fixture) -> Summary {
        let sides = &sides()[..fixture.request.corpora.len()];
        let shown = ReportTables { shared_hosts: 2, shared_domains: 1, ..ReportTables::default() };
        let times = Persistence { half_life: Some(2.0 / 3.0), ..Persistence::default() };
        Summary::new(&fixture.ctx(), sides, &joined(), &measured(), &shown, &times)
    }

    #[test]
    fn shares_are_of_records_that_could_be_read() {
        let found = summary(&Fixture::empty(1));
        assert_eq!((found.left_documents_with_shared_url, found.right_documents_with_shared_url), (4, 9));
        // Four of six.
        assert_eq!(found.left_documents_with_shared_url_share, Some(0.666_666_667));
        assert_eq!((found.shared_urls, found.shared_hosts, found.shared_domains), (3, 2, 1));
    }

    #[test]
    fn a_corpus_without_documents_has_no_share() {
        let fixture = Fixture::empty(1);
        let (sides, measured) = ([Side::default(), Side::default()], Measurements::default());
        let joined = JoinFacts { urls: vec![0, 0], ..JoinFacts::default() };
        let (shown, times) = (ReportTables::default(), Persistence::default());
        let found = Summary::new(&fixture.ctx(), &sides, &joined, &measured, &shown, &times);
        assert_eq!(found.left_documents_with_shared_url_share, None);
    }

    #[test]
    fn shared_addresses_without_two_texts_are_not_measured() {
        let found = summary(&Fixture::empty(1)).similarity.unwrap();
        assert_eq!((found.pairs, found.not_measured, found.unchanged, found.near), (2, 1, 1, 1));
        assert_eq!((found.near_share, found.mean), (Some(0.5), Some(0.166_666_667)));
        assert_eq!(found.median, Some(0.166_666_667));
        assert_eq!((found.measure.as_str(), found.threshold.as_str()), ("jaccard of words", "0.9"));
    }

    #[test]
    fn without_a_measure_there_is_no_similarity() {
        let mut fixture = Fixture::empty(1);
        fixture.request.measure = None;
        assert_eq!(summary(&fixture).similarity, None);
    }

    #[test]
    fn snapshots_are_listed_when_there_are_several() {
        assert_eq!(summary(&Fixture::empty(1)).snapshots, []);
        let found = summary(&Fixture::empty(2));
        let snapshots: Vec<_> = found.snapshots.iter().map(|side| (side.name.as_str(), side.urls)).collect();
        assert_eq!(snapshots, [("side 1", 6), ("side 2", 7)]);
        assert_eq!((found.left.name.as_str(), found.right.name.as_str()), ("side 0", "side 1"));
    }

    #[test]
    fn judged_documents_are_told_when_judgments_were_given() {
        let mut fixture = Fixture::empty(1);
        assert_eq!(summary(&fixture).judged, None);
        fixture.request.judged = Some(["a", "b", "c", "d", "e"].map(str::to_owned).to_vec());
        let wanted = JudgedSummary {
            judged: 5,
            found: 4,
            with_url: 3,
            with_shared_url: 1,
            with_shared_url_share: Some(0.25),
        };
        assert_eq!(summary(&fixture).judged, Some(wanted));
    }

    #[test]
    fn reasons_bear_the_name_of_their_side() {
        let fixture = Fixture::empty(2);
        let mut sides = sides();
        for side in &mut sides {
            side.losses.add("x.jsonl", 7, None, "no JSON");
        }
        let (shown, times) = (ReportTables::default(), Persistence::default());
        let found = Summary::new(&fixture.ctx(), &sides, &joined(), &measured(), &shown, &times);
        let name = |side: &SideSummary| side.reasons[0].side.clone().unwrap();
        let names = [&found.left, &found.snapshots[0], &found.snapshots[1]].map(name);
        assert_eq!(names, ["left", "right 1", "right 2"]);
    }

    #[test]
    fn a_summary_comes_back_from_its_file() {
        let mut fixture = Fixture::empty(2);
        fixture.request.judged = Some(Vec::new());
        let found = summary(&fixture);
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), found);
    }

    #[test]
    fn what_is_not_known_is_not_in_the_file() {
        let mut fixture = Fixture::empty(1);
        fixture.request.measure = None;
        let written = serde_json::to_value(summary(&fixture)).unwrap();
        let absent = ["snapshots", "similarity", "judged", "shingle_half_life"];
        assert_eq!(absent.map(|name| written.get(name)), [None; 4]);
        assert_eq!(
            (&written["half_life"], &written["left"]["documents"]),
            (&json!(0.666_666_667), &json!(10))
        );
    }
}

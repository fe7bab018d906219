//! Small comparisons made by hand, for tests.

use lookalike::engine::JobRecipe;
use lookalike::engine::compared::{BothCounts, Match, ShardRange, Side, SideCounts, SideDocument};
use lookalike::engine::recipe::Task;
use lookalike::judgments::Judgments;
use lookalike::walk::Watch;
use lookalike_overlap::address::Matching;
use tempfile::TempDir;

use crate::compare::{self, Comparison, ComparisonSettings};
use crate::compared::{ListedDocument, ListedPair, Lists};
use crate::segments::{Segment, Segments};

/// A left document; the right side has the address when `shared`.
pub(crate) fn left(n: u32, id: &str, url: Option<&str>, shared: bool) -> ListedDocument {
    ListedDocument { n, id: id.into(), url: url.map(Into::into), shared }
}

/// A pair that the first method accepts, of a right document `r<number>`; near from 0.9 on.
pub(crate) fn pair(left: u32, right: u32, similarity: f64) -> ListedPair {
    let (id, near) = (format!("r{right}").into(), similarity >= 0.9);
    ListedPair { left, right, id, url: None, similarity, near, methods: 1 }
}

/// A pair of these methods, a bit for each.
pub(crate) fn pair_of(methods: u8, left: u32, right: u32, similarity: f64) -> ListedPair {
    ListedPair { methods, ..pair(left, right, similarity) }
}

/// Lists with a folder for their results.
pub(crate) fn lists(lefts: Vec<ListedDocument>, pairs: Vec<ListedPair>) -> (TempDir, Lists) {
    let folder = tempfile::tempdir().unwrap();
    let documents = lefts.len() as u64;
    let both =
        BothCounts { left: SideCounts { documents, ..SideCounts::default() }, ..BothCounts::default() };
    let recipe = JobRecipe::simplest(Task::Compare);
    let lists = Lists { recipe, lefts, pairs, both, folder: folder.path().to_owned() };
    (folder, lists)
}

/// Segments of ten right documents each, `s0`, `s1`, …: one for each of `snapshots`, the snapshots that they are parts of.
pub(crate) fn segments(snapshots: &[usize]) -> Segments {
    let shard =
        |at: usize| ShardRange { side: Side::Right, name: String::new(), first: 10 * at as u32, records: 10 };
    let segment = |(at, &snapshot): (usize, &usize)| Segment { name: format!("s{at}"), shards: 1, snapshot };
    let shards: Vec<ShardRange> = (0..snapshots.len()).map(shard).collect();
    Segments::new(snapshots.iter().enumerate().map(segment).collect(), &shards)
}

pub(crate) fn settings(methods: &[&str], snapshots: &[usize]) -> ComparisonSettings {
    ComparisonSettings {
        methods: methods.iter().map(|method| (*method).to_owned()).collect(),
        segments: segments(snapshots),
        forecast: None,
        matching: Matching::Normal,
    }
}

/// Counts lists.
pub(crate) fn counted(lists: &Lists, settings: ComparisonSettings) -> Comparison {
    compare::count(lists, settings, &Watch::default(), |_, _, _| Ok(())).unwrap()
}

/// A pair as a comparison hands it over.
pub(crate) fn found(left: u32, right: u32, similarity: f64, methods: u8) -> Match<'static> {
    let document = |n, id| SideDocument { n, place: n, id, url: None };
    let (near, left, right) = (similarity >= 0.9, document(left, "left"), document(right, "right"));
    Match { left, right, similarity, reverse: None, near, methods }
}

/// The judgments of a file.
pub(crate) fn judgments(name: &str, text: &str) -> Judgments {
    Judgments::read(name, text.as_bytes(), None).unwrap()
}

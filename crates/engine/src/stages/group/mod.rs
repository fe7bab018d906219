//! The stage `group`: documents that share keys become candidates.
//!
//! For each method all postings stream by in the order of their keys, and every group of documents with one key
//! proposes pairs. Then the pairs of all methods are merged: those that any of them proposes, or those that all do.
//!
//! - `groups`: from a group to pairs
//! - `job_groups`: the documents and the files of a job, for its groups
//! - `sides`: the sides of two corpora that are compared

pub(crate) mod groups;
pub(crate) mod job_groups;
mod sides;

use std::sync::atomic::Ordering;

use lookalike_methods::DirectedKeyCounts;
use lookalike_model::{Candidate, DocNumber, Pair, SharedKeys};
use lookalike_store::bits::Bits;
use lookalike_store::file::{Label, Records, Run, RunWriter};
use lookalike_store::journal;
use lookalike_store::sort::{Codec, Couples, Posting, Postings, Rebased, Sorted, existing};
use serde::{Deserialize, Serialize};

use self::groups::{Groups, Limits, SeenGroups, Tagged};
use self::job_groups::JobGroupHost;
use crate::catalogue::Catalogue;
use crate::context::{Context, remove_if_there};
use crate::disk::forecast::DiskForecast;
use crate::error::EngineError;
use crate::stages::collapse;

/// The counts of the stage, beside the candidates themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct CandidateCounts {
    /// Distinct pairs.
    pub(crate) candidates: u64,
    /// Groups that did not propose all of their pairs.
    pub(crate) giant_groups: u64,
}

/// The label of files with candidates of the methods of this run.
pub(crate) fn candidates_label(ctx: &Context<'_>) -> Label {
    ctx.label("candidates", Candidate::width(ctx.panel.proposers().len()))
}

const FILE: &str = "candidates";

/// The candidates, sorted.
pub(crate) fn open_candidates(ctx: &Context<'_>) -> Result<Records, EngineError> {
    Ok(Run::open(&ctx.file(FILE), candidates_label(ctx))?.records())
}

/// The giant groups of a run that writes them down: numbers of documents, 0 between two groups (numbers count from 1).
pub(crate) fn giants(ctx: &Context<'_>) -> Result<Vec<Records>, EngineError> {
    (0..ctx.panel.proposers().len())
        .map(|method| Ok(Run::open(&ctx.file(&giants_name(method)), ctx.label("giants", 4))?.records()))
        .collect()
}

fn giants_name(method: usize) -> String {
    format!("giants{method}")
}

/// The pairs that one method proposes, with the number of keys that they share.
fn method_pairs_name(method: usize) -> String {
    format!("proposed{method}.pairs")
}

fn method_pairs_label(ctx: &Context<'_>) -> Label {
    match ctx.panel.proposers().len() {
        // What the only method proposes are the candidates.
        1 => candidates_label(ctx),
        _ => ctx.label("proposed", Candidate::width(1)),
    }
}

/// Finds the candidates, unless that was done.
pub(crate) fn propose(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<CandidateCounts, EngineError> {
    if let Some(done) = ctx.saved("candidates.done")? {
        return Ok(done);
    }
    let postings = (0..ctx.panel.proposers().len())
        .flat_map(|method| catalogue.key_runs(ctx, method).into_iter().map(move |(path, _)| (method, path)))
        // A method that an earlier process finished has no key runs any more.
        .filter(|(_, path)| path.exists())
        .map(|(method, path)| {
            Ok(Run::open(&path, ctx.label(Postings::KIND, codec(ctx, method).width()))?.count())
        })
        .sum::<Result<u64, EngineError>>()?;
    ctx.begin("group", Some(postings), false);
    let mut progress = PostingProgress { seen: 0, postings, forecast: DiskForecast::begin(ctx) };
    let represented = collapse::represented(ctx, catalogue)?;
    let mut done = CandidateCounts::default();
    for method in 0..ctx.panel.proposers().len() {
        done.giant_groups += propose_one(ctx, catalogue, method, &represented, &mut progress)?.giant_groups;
    }
    done.candidates = merge(ctx)?;
    // Before the pairs of the methods go: without this note, a later process merges them once more.
    ctx.save("candidates.done", &done)?;
    (0..ctx.panel.proposers().len())
        .try_for_each(|method| remove_if_there(&ctx.file(&method_pairs_name(method))))?;
    Ok(done)
}

/// The postings that are gone through.
struct PostingProgress {
    seen: u64,
    postings: u64,
    forecast: DiskForecast,
}

impl PostingProgress {
    #[inline]
    fn step(&mut self, ctx: &Context<'_>) -> Result<(), EngineError> {
        self.seen += 1;
        // A posting takes nanoseconds; a look at the clock, and at the disk now and then, takes many times
        // that.
        if !self.seen.is_multiple_of(65_536) {
            return Ok(());
        }
        ctx.watch.steps.store(self.seen, Ordering::Relaxed);
        ctx.check()?;
        self.forecast.check(ctx, self.seen, self.postings)
    }
}

/// Number of the candidates.
pub(crate) fn count_candidates(ctx: &Context<'_>) -> Result<u64, EngineError> {
    Ok(Run::open(&ctx.file(FILE), candidates_label(ctx))?.count())
}

/// Takes candidates that were proposed elsewhere, in the order of their documents and each once, in place of finding them.
pub(crate) fn import_candidates(
    ctx: &Context<'_>,
    given: impl Iterator<Item = Candidate>,
    giant_groups: u64,
) -> Result<CandidateCounts, EngineError> {
    let methods = ctx.panel.proposers().len();
    let mut writer = RunWriter::create(&ctx.file(FILE), candidates_label(ctx))?;
    let (mut candidates, mut bytes) = (0, Vec::new());
    for candidate in given {
        bytes.clear();
        candidate.encode(methods, &mut bytes);
        writer.push(&bytes)?;
        candidates += 1;
    }
    writer.finish()?;
    for method in 0..methods {
        // Empty, and yet there: the stage `write` opens these files wherever the candidates come from.
        RunWriter::create(&ctx.file(&giants_name(method)), ctx.label("giants", 4))?.finish()?;
    }
    Ok(CandidateCounts { candidates, giant_groups })
}

/// Returns the codec of the postings of a method.
fn codec(ctx: &Context<'_>, method: usize) -> Postings {
    Postings { tagged: ctx.panel.proposers()[method].tagged }
}

/// Finds the pairs that one method proposes, unless that was done.
fn propose_one(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    method: usize,
    represented: &Bits,
    progress: &mut PostingProgress,
) -> Result<CandidateCounts, EngineError> {
    let done_name = format!("proposed{method}.done");
    if let Some(done) = ctx.saved(&done_name)? {
        return Ok(done);
    }
    // What an earlier process merged in steps is merged again: it may not have come to an end.
    existing(&ctx.run_location("merged"))?.iter().try_for_each(|path| remove_if_there(path))?;
    let runs = catalogue.key_runs(ctx, method);
    let (host, skip) = JobGroupHost::new(ctx, catalogue, method)?;
    let different = u64::from(catalogue.len() - represented.count());
    let limits = Limits { max_group: ctx.recipe.max_group, different };
    let proposer = &ctx.panel.proposers()[method];
    let mut groups = Groups::new(host, proposer, limits, skip, SeenGroups::new(&*proposer.method));
    let mut merge = Rebased::open(codec(ctx, method), &ctx.run_location("merged"), &runs)?;
    let mut group: Vec<Tagged> = Vec::new();
    let mut key = None;
    while let Some(packed) = merge.next()? {
        progress.step(ctx)?;
        let posting = Posting::unpack(packed);
        // Equal documents have equal keys: the first of a class proposes for all of them.
        if represented.get(posting.document) {
            continue;
        }
        if key != Some(posting.key) {
            if let Some(key) = key {
                groups.take(key, &mut group)?;
            }
            group.clear();
            key = Some(posting.key);
        }
        // A document may have a key twice. Postings are in the order of documents, so the
        // last one tells.
        let member = Tagged { document: DocNumber::new(posting.document), tag: posting.tag };
        if group.last().is_none_or(|last| last.document != member.document) {
            group.push(member);
        }
    }
    if let Some(key) = key {
        groups.take(key, &mut group)?;
    }
    // The merge has a block in memory for each of its runs, and the merge of pairs is about to take its own.
    drop(merge);
    let least = ctx.panel.proposers()[method].keys_to_share();
    let (host, giant_groups, _) = groups.finish();
    let (pairs, back) = host.finish()?;
    // First the result, then the note that it is there, then what it was made of goes: a stop at any point
    // leaves enough to go on from.
    let candidates = write_pairs(ctx, method, pairs, back, least)?;
    let done = CandidateCounts { candidates, giant_groups };
    ctx.save(&done_name, &done)?;
    // What was sorted is of no more use, and large.
    for location in [
        job_groups::pairs_location(ctx, method),
        job_groups::back_pairs_location(ctx, method),
        ctx.run_location("merged"),
    ] {
        existing(&location)?.iter().try_for_each(|path| remove_if_there(path))?;
    }
    runs.iter().try_for_each(|(path, _)| remove_if_there(path))?;
    Ok(done)
}

/// Counts how often each pair was proposed, both ways where some keys only ask, and writes those that share enough keys;
/// returns their number.
fn write_pairs(
    ctx: &Context<'_>,
    method: usize,
    pairs: Sorted<Couples>,
    back: Option<Sorted<Couples>>,
    least: u32,
) -> Result<u64, EngineError> {
    let mut writer = RunWriter::create(&ctx.file(&method_pairs_name(method)), method_pairs_label(ctx))?;
    let (mut count, mut bytes) = (0, Vec::new());
    let mut put = |pair: Pair, times: u32| -> Result<(), EngineError> {
        let mut shared = SharedKeys::default();
        shared[0] = times;
        count += 1;
        bytes.clear();
        Candidate { pair, shared }.encode(1, &mut bytes);
        Ok(writer.push(&bytes)?)
    };
    let mut pairs = CountedPairs::new(pairs)?;
    let mut back = back.map(CountedPairs::new).transpose()?;
    loop {
        // A merge of two sorted lists; a pair that is in both is written once, with its counts of both ways.
        let heads = [pairs.head, back.as_ref().and_then(|back| back.head)];
        let Some((pair, _)) = heads.iter().flatten().min() else { break };
        let of =
            |head: Option<(Pair, u32)>| head.filter(|(other, _)| other == pair).map_or(0, |(_, times)| times);
        let [forward, backward] = heads.map(of);
        // Each direction is a question of its own, and enough keys in one of them are enough.
        if forward.max(backward) >= least {
            let asked = DirectedKeyCounts { forward, backward };
            put(*pair, if back.is_some() { asked.pack() } else { forward })?;
        }
        if forward > 0 {
            pairs.advance()?;
        }
        if let Some(back) = back.as_mut().filter(|_| backward > 0) {
            back.advance()?;
        }
    }
    writer.finish()?;
    Ok(count)
}

/// Sorted pairs, each with the number of times that it comes.
struct CountedPairs {
    pairs: Sorted<Couples>,
    next: Option<Pair>,
    head: Option<(Pair, u32)>,
}

impl CountedPairs {
    fn new(mut pairs: Sorted<Couples>) -> Result<Self, EngineError> {
        let next = pairs.next()?.map(Pair::unpack);
        let mut counted = CountedPairs { pairs, next, head: None };
        counted.advance()?;
        Ok(counted)
    }

    fn advance(&mut self) -> Result<(), EngineError> {
        self.head = None;
        // One pair is read ahead, because only the next one shows that the count of this one is final.
        while let Some(pair) = self.next.filter(|&next| self.head.is_none_or(|(head, _)| head == next)) {
            self.head = Some((pair, self.head.map_or(1, |(_, times)| times + 1)));
            self.next = self.pairs.next()?.map(Pair::unpack);
        }
        Ok(())
    }
}

/// Makes the pairs of the only method the candidates, unless an earlier process did; returns their number.
fn adopt_single_method(ctx: &Context<'_>) -> Result<u64, EngineError> {
    let (own, file) = (ctx.file(&method_pairs_name(0)), ctx.file(FILE));
    // A process that was stopped between the rename and `candidates.done` left no file of the old name.
    if own.exists() {
        journal::rename(&own, &file)?;
    }
    Ok(Run::open(&file, candidates_label(ctx))?.count())
}

/// Merges the pairs of all methods into the candidates; returns their number.
fn merge(ctx: &Context<'_>) -> Result<u64, EngineError> {
    let methods = ctx.panel.proposers().len();
    if methods == 1 {
        return adopt_single_method(ctx);
    }
    let mut sources: Vec<Records> = (0..methods)
        .map(
            |method| Ok(Run::open(&ctx.file(&method_pairs_name(method)), method_pairs_label(ctx))?.records()),
        )
        .collect::<Result<_, EngineError>>()?;
    let mut heads: Vec<Option<Candidate>> = Vec::with_capacity(methods);
    for source in &mut sources {
        heads.push(source.next()?.map(Candidate::decode));
    }
    let mut writer = RunWriter::create(&ctx.file(FILE), candidates_label(ctx))?;
    let (mut count, mut bytes) = (0u64, Vec::new());
    // Methods are few, so the least head is looked for among all of them; those that have the same pair go on
    // together.
    while let Some(pair) = heads.iter().flatten().map(|head| head.pair).min() {
        let mut shared = SharedKeys::default();
        for (method, source) in sources.iter_mut().enumerate() {
            if let Some(head) = heads[method].filter(|head| head.pair == pair) {
                shared[method] = head.shared[0];
                heads[method] = source.next()?.map(Candidate::decode);
            }
        }
        // Not before the heads have gone on: a pair that is left out must not be met again.
        if ctx.panel.wants_all() && shared[..methods].contains(&0) {
            continue;
        }
        count += 1;
        bytes.clear();
        Candidate { pair, shared }.encode(methods, &mut bytes);
        writer.push(&bytes)?;
    }
    writer.finish()?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobRecipe;
    use crate::recipe::{Combine, Task};
    use crate::tests::context::{StageTest, as_lines, doc};
    use crate::tests::recipe;
    use lookalike_store::sort::Sorter;

    fn pair(a: u32, b: u32) -> Pair {
        Pair::ordered(doc(a), doc(b))
    }

    fn candidate(a: u32, b: u32, shared: &[u32]) -> Candidate {
        let mut candidate = Candidate { pair: pair(a, b), shared: SharedKeys::default() };
        candidate.shared[..shared.len()].copy_from_slice(shared);
        candidate
    }

    fn all(ctx: &Context<'_>) -> Vec<Candidate> {
        let mut records = open_candidates(ctx).unwrap();
        let mut found = Vec::new();
        while let Some(bytes) = records.next().unwrap() {
            found.push(Candidate::decode(bytes));
        }
        found
    }

    fn sorted(ctx: &Context<'_>, name: &str, pairs: &[(u32, u32)]) -> Sorted<Couples> {
        let mut sorter = Sorter::new(ctx.run_location(name), Couples, 1 << 16);
        pairs.iter().for_each(|&(a, b)| sorter.push(pair(a, b).pack()).unwrap());
        sorter.sorted().unwrap()
    }

    #[test]
    fn pairs_are_counted_as_often_as_they_come() {
        let test = StageTest::new(recipe("md5"), "");
        let ctx = test.context();
        let mut pairs =
            CountedPairs::new(sorted(&ctx, "pairs", &[(1, 2), (0, 5), (1, 2), (1, 2), (7, 8)])).unwrap();
        let mut found = Vec::new();
        while let Some(counted) = pairs.head {
            found.push(counted);
            pairs.advance().unwrap();
        }
        assert_eq!(found, [(pair(0, 5), 1), (pair(1, 2), 3), (pair(7, 8), 1)]);
        assert_eq!(CountedPairs::new(sorted(&ctx, "none", &[])).unwrap().head, None);
    }

    #[test]
    fn pairs_that_share_too_few_keys_are_dropped() {
        let test = StageTest::new(recipe("md5"), "");
        let ctx = test.context();
        let pairs = sorted(&ctx, "pairs", &[(0, 1), (0, 2), (0, 2), (1, 2), (1, 2), (1, 2)]);
        assert_eq!(write_pairs(&ctx, 0, pairs, None, 2).unwrap(), 2);
        assert_eq!(adopt_single_method(&ctx).unwrap(), 2);
        assert_eq!(all(&ctx), [candidate(0, 2, &[2]), candidate(1, 2, &[3])]);
        assert_eq!(adopt_single_method(&ctx).unwrap(), 2, "an earlier process did it");
    }

    #[test]
    fn pairs_of_both_directions_are_counted_together() {
        let test = StageTest::new(recipe("md5"), "");
        let ctx = test.context();
        let forward = sorted(&ctx, "pairs", &[(0, 1), (0, 1), (2, 3)]);
        let back = sorted(&ctx, "back", &[(0, 1), (1, 4), (1, 4), (1, 4)]);
        assert_eq!(write_pairs(&ctx, 0, forward, Some(back), 2).unwrap(), 2);
        adopt_single_method(&ctx).unwrap();
        let counts: Vec<_> = all(&ctx)
            .iter()
            .map(|candidate| (candidate.pair, DirectedKeyCounts::unpack(candidate.shared[0])))
            .map(|(pair, counts)| (pair, counts.forward, counts.backward))
            .collect();
        assert_eq!(counts, [(pair(0, 1), 2, 1), (pair(1, 4), 0, 3)]);
    }

    #[test]
    fn methods_are_merged_by_any_or_by_all() {
        for (combine, expected) in [
            (
                Combine::Any,
                vec![candidate(0, 1, &[1, 0]), candidate(0, 2, &[2, 1]), candidate(3, 4, &[0, 2])],
            ),
            (Combine::All, vec![candidate(0, 2, &[2, 1])]),
        ] {
            let test = StageTest::new(JobRecipe { combine, ..recipe("md5 simhash") }, "");
            let ctx = test.context();
            write_pairs(&ctx, 0, sorted(&ctx, "one", &[(0, 1), (0, 2), (0, 2)]), None, 1).unwrap();
            write_pairs(&ctx, 1, sorted(&ctx, "two", &[(0, 2), (3, 4), (3, 4)]), None, 1).unwrap();
            assert_eq!(merge(&ctx).unwrap(), expected.len() as u64);
            assert_eq!(all(&ctx), expected);
            assert_eq!(count_candidates(&ctx).unwrap(), expected.len() as u64);
        }
    }

    #[test]
    fn candidates_of_elsewhere_are_taken_as_they_are() {
        let test = StageTest::new(recipe("md5 simhash"), "");
        let ctx = test.context();
        let given = [candidate(0, 1, &[3, 0]), candidate(2, 9, &[0, 4])];
        let counts = import_candidates(&ctx, given.into_iter(), 5).unwrap();
        assert_eq!(counts, CandidateCounts { candidates: 2, giant_groups: 5 });
        assert_eq!(all(&ctx), given);
        let groups = giants(&ctx).unwrap();
        assert_eq!(groups.iter().map(Records::count).collect::<Vec<_>>(), [0, 0]);
    }

    /// Roses with and without short words, which one method does not see; the last equals the first.
    const ROSES: [&str; 5] =
        ["roses tulips", "the roses tulips", "other flowers", "roses of tulips", "roses tulips"];

    fn proposed(recipe: JobRecipe) -> (CandidateCounts, Vec<Pair>, Vec<u64>) {
        let test = StageTest::new(recipe, &as_lines(&ROSES));
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        collapse::collapse(&ctx, &catalogue).unwrap();
        let counts = propose(&ctx, &catalogue).unwrap();
        assert_eq!(propose(&ctx, &catalogue).unwrap(), counts, "what is done is read again");
        assert!(!ctx.file("proposed0.pairs").exists());
        let giants = match ctx.recipe.task {
            Task::Dedup => Vec::new(),
            _ => giants(&ctx).unwrap().iter().map(Records::count).collect(),
        };
        (counts, all(&ctx).iter().map(|candidate| candidate.pair).collect(), giants)
    }

    #[test]
    fn documents_that_share_a_key_become_candidates_unless_they_are_represented() {
        let (counts, pairs, _) = proposed(recipe("a0"));
        assert_eq!(pairs, [pair(0, 1), pair(0, 3), pair(1, 3)]);
        assert_eq!(counts, CandidateCounts { candidates: 3, giant_groups: 0 });
    }

    #[test]
    fn too_large_groups_propose_some_pairs_or_are_written_down() {
        let small = || JobRecipe { max_group: 2, ..recipe("a0") };
        let (counts, pairs, _) = proposed(small());
        assert_eq!((counts.giant_groups, pairs), (1, vec![pair(0, 1), pair(0, 3), pair(1, 3)]));
        let (counts, pairs, giants) = proposed(JobRecipe { task: Task::Pairs, ..small() });
        // Three documents and what ends them.
        assert_eq!((counts.giant_groups, pairs, giants), (1, vec![], vec![4]));
    }
}

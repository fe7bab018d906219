//! One part of a bucket: its candidates are measured, its documents decided.

use lookalike_methods::Score;
use lookalike_model::{DocNumber, NodeId, Pair, Removal, SharedKeys, Similarity, Threshold, VerifiedPair};
use lookalike_store::file::RunWriter;
use lookalike_store::sort::Codec;
use rayon::prelude::*;

use super::neighbours::NeighbourLists;
use super::parts::Part;
use super::sets::Resident;
use super::star::{self, Adjacency, Contender, Edge, Judge, MeasuredNeighbour, Neighbour, Star};
use super::tally::{Sample, Tally};
use super::{Pairs, measures_all};
use crate::catalogue::Lookup;
use crate::context::Context;
use crate::error::EngineError;
use crate::keep_order::KeepOrder;
use crate::measure::{Measure, Measured};
use crate::recipe::{ClusterRule, Task};

/// The results of a part.
#[derive(Default)]
pub(super) struct PartResult {
    pub(super) tally: Tally,
    pub(super) removals: Vec<Removal>,
    /// The pairs that count, where those are asked for.
    pub(super) pairs: Vec<VerifiedPair>,
}

/// Measures and decides the documents of a part.
pub(super) struct PartJudge<'h> {
    pub(super) ctx: &'h Context<'h>,
    pub(super) part: &'h Part,
    /// Its documents in the form in which they are compared.
    pub(super) resident: &'h Resident,
    /// All threads measure, and not this one alone.
    pub(super) parallel: bool,
}

impl PartJudge<'_> {
    /// Measures and decides.
    pub(super) fn run(
        &self,
        lookup: &mut Lookup<'_>,
        keep_order: &KeepOrder,
    ) -> Result<PartResult, EngineError> {
        let PartJudge { ctx, part, .. } = *self;
        let (mut found, nodes) = (PartResult::default(), part.documents.len());
        let PartResult { tally, pairs, .. } = &mut found;
        if ctx.recipe.task.lists_pairs() {
            self.measure(lookup, tally, |edge, methods| {
                pairs.push(verified(&part.documents, &edge, methods))
            })?;
            return Ok(found);
        }
        match ctx.recipe.cluster {
            ClusterRule::Star => {
                let neighbours = match measures_all(ctx) {
                    true => self.measured_neighbours(lookup, tally)?,
                    false => NeighbourLists::new(nodes, &part.pairs, |&pair| Neighbour::ends(pair)),
                };
                self.star(lookup, keep_order, neighbours, &mut found)?;
            }
            ClusterRule::Components => {
                let neighbours = self.measured_neighbours(lookup, tally)?;
                self.components(lookup, keep_order, neighbours, &mut found)?;
            }
        }
        Ok(found)
    }

    /// Measures all candidates; lists those that count by both of their nodes.
    fn measured_neighbours<N: Copy + Default + From<MeasuredNeighbour>>(
        &self,
        lookup: &mut Lookup<'_>,
        tally: &mut Tally,
    ) -> Result<NeighbourLists<N>, EngineError> {
        let mut edges = Vec::new();
        self.measure(lookup, tally, |edge, _| edges.push(edge))?;
        // The edges go when the lists are there: both together are more than deciding takes.
        Ok(NeighbourLists::new(self.part.documents.len(), &edges, Edge::ends))
    }

    /// Measures all candidates; hands over those that count, with the methods that accept them.
    fn measure(
        &self,
        lookup: &mut Lookup<'_>,
        tally: &mut Tally,
        mut take: impl FnMut(Edge, u8),
    ) -> Result<(), EngineError> {
        let PartJudge { ctx, part, .. } = *self;
        let view = PairView::new(ctx, self.resident, None, lookup)?;
        let shared = |index: usize| part.shared.get(index).copied().unwrap_or_default();
        // A batch at a time, so that verdicts do not grow with the candidates of the part.
        for (number, pairs) in part.pairs.chunks(BATCH_PAIRS).enumerate() {
            // All documents of the part are in the view, so that nodes and indexes are the same.
            let candidate = |(index, pair): (usize, &[NodeId; 2])| ViewCandidate {
                pair: pair.map(|node| ViewIndex::from_index(node.index())),
                shared: shared(number * BATCH_PAIRS + index),
            };
            let candidates: Vec<ViewCandidate> = pairs.iter().enumerate().map(candidate).collect();
            measure(ctx, &candidates, &view, self.parallel, tally, |pair, measured, methods| {
                let [a, b] = pair.map(|end| NodeId::from_index(end.index()));
                take(Edge { a, b, measured }, methods);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// All documents of the part in keep order, each with its node.
    fn contenders(
        &self,
        lookup: &mut Lookup<'_>,
        keep_order: &KeepOrder,
    ) -> Result<Vec<Contender>, EngineError> {
        let Part { documents, members, .. } = self.part;
        let own = documents.iter().enumerate().map(|(at, &document)| (document, NodeId::from_index(at)));
        keep_order.contenders(lookup, own.chain(members.iter().copied()).collect())
    }

    /// Decides every document by the rule `star`; candidates among the neighbours are measured when they are asked for.
    fn star(
        &self,
        lookup: &mut Lookup<'_>,
        keep_order: &KeepOrder,
        mut neighbours: NeighbourLists<Neighbour>,
        PartResult { tally, removals, .. }: &mut PartResult,
    ) -> Result<(), EngineError> {
        let contenders = self.contenders(lookup, keep_order)?;
        self.judge(tally).star(&contenders, &mut neighbours, &mut |removal| {
            removals.push(removal);
            Ok(())
        })
    }

    /// Decides every document by the rule `components`, from measured pairs.
    fn components(
        &self,
        lookup: &mut Lookup<'_>,
        keep_order: &KeepOrder,
        mut neighbours: NeighbourLists<MeasuredNeighbour>,
        PartResult { tally, removals, .. }: &mut PartResult,
    ) -> Result<(), EngineError> {
        let (contenders, leaders) = (self.contenders(lookup, keep_order)?, &self.part.documents);
        star::components(&contenders, &mut neighbours, leaders, &mut self.judge(tally), &mut |removal| {
            removals.push(removal);
            Ok(())
        })
    }

    fn judge<'t>(&self, tally: &'t mut Tally) -> ResidentJudge<'_, 't> {
        let PartJudge { ctx, resident, parallel, .. } = *self;
        ResidentJudge { ctx, resident, floor: floor(ctx), parallel, tally }
    }
}

/// Applies `work` to each item, by all threads or by this one alone: a thread that waits for others would begin another part
/// meanwhile, and hold both in memory. Some texts take milliseconds, so every thread checks for a stop by itself.
fn of_each<T: Sync, R: Default + Send>(
    ctx: &Context<'_>,
    items: &[T],
    parallel: bool,
    work: impl Fn(&T) -> R + Sync + Send,
) -> Result<Vec<R>, EngineError> {
    let work = |item: &T| if ctx.watch.stopped() { R::default() } else { work(item) };
    // A comparison of sets is short beside the cost of handing it to a thread, so several go together; one of
    // texts takes long by itself.
    let together = if ctx.measure.similarity == Similarity::Edit { 1 } else { 64 };
    let done = match parallel {
        true => items.par_iter().with_min_len(together).map(work).collect(),
        false => items.iter().map(work).collect(),
    };
    ctx.check()?;
    Ok(done)
}

/// Candidates that are measured before what came out is taken in.
pub(super) const BATCH_PAIRS: usize = 1 << 18;

/// A pair by the numbers of its documents. Nodes are in the order of these.
fn verified(documents: &[DocNumber], edge: &Edge, methods: u8) -> VerifiedPair {
    let pair = Pair::ordered(documents[edge.a.index()], documents[edge.b.index()]);
    VerifiedPair::new(pair, edge.measured, methods)
}

/// Writes pairs.
pub(super) fn put_pairs(
    pairs: impl IntoIterator<Item = VerifiedPair>,
    writer: &mut RunWriter,
) -> Result<(), EngineError> {
    let mut bytes = [0; VerifiedPair::WIDTH];
    pairs.into_iter().try_for_each(|pair| {
        Pairs.put(pair, &mut bytes);
        Ok(writer.push(&bytes)?)
    })
}

/// Writes a pair by the numbers of its documents.
pub(super) fn put_pair(
    documents: &[DocNumber],
    edge: &Edge,
    methods: u8,
    writer: &mut RunWriter,
) -> Result<(), EngineError> {
    put_pairs([verified(documents, edge, methods)], writer)
}

/// The index of a document in a [`PairView`], which is its node only where the view has all documents of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ViewIndex(u32);

impl ViewIndex {
    #[inline]
    pub(super) fn new(index: u32) -> Self {
        ViewIndex(index)
    }

    #[inline]
    pub(super) fn from_index(index: usize) -> Self {
        ViewIndex(index as u32)
    }

    #[inline]
    pub(super) fn get(self) -> u32 {
        self.0
    }

    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A candidate, by the indexes of its documents in a [`PairView`].
#[derive(Debug, Clone, Copy)]
pub(super) struct ViewCandidate {
    pub(super) pair: [ViewIndex; 2],
    /// The number of keys that they share, by method.
    pub(super) shared: SharedKeys,
}

/// The documents that a measurement sees: one piece of a bucket, or two. Their indexes count on from the first piece to
/// the second.
pub(super) struct PairView<'r> {
    first: &'r Resident,
    second: Option<&'r Resident>,
    width: usize,
    /// Hash of what each document is compared within, where that matters.
    withins: Vec<u64>,
}

impl<'r> PairView<'r> {
    pub(super) fn new(
        ctx: &Context<'_>,
        first: &'r Resident,
        second: Option<&'r Resident>,
        lookup: &mut Lookup<'_>,
    ) -> Result<Self, EngineError> {
        let mut withins = Vec::new();
        if ctx.within.is_some() {
            for &document in first.documents().iter().chain(second.map_or(&[][..], Resident::documents)) {
                withins.push(lookup.row(document)?.within);
            }
        }
        Ok(PairView { first, second, width: ctx.panel.width(), withins })
    }

    fn piece(&self, index: ViewIndex) -> (&'r Resident, usize) {
        let index = index.index();
        let front = self.first.documents().len();
        match self.second {
            Some(second) if index >= front => (second, index - front),
            _ => (self.first, index),
        }
    }

    fn document(&self, index: ViewIndex) -> DocNumber {
        let (piece, index) = self.piece(index);
        piece.documents()[index]
    }

    fn record(&self, index: ViewIndex) -> &[u8] {
        let (piece, index) = self.piece(index);
        piece.record(index, self.width)
    }

    fn set(&self, index: ViewIndex) -> &[u64] {
        let (piece, index) = self.piece(index);
        piece.set(index)
    }

    fn compare(&self, measure: &Measure, [a, b]: [ViewIndex; 2], floor: Threshold) -> Option<Measured> {
        match self.second {
            None => self.first.compare(measure, [a, b].map(ViewIndex::index), floor),
            // Bits are numbered within one piece, so that pieces that are compared with each other are never
            // divided.
            Some(_) => measure.compare(self.set(a), self.set(b), floor),
        }
    }

    fn apart(&self, [a, b]: [ViewIndex; 2]) -> bool {
        !self.withins.is_empty() && self.withins[a.index()] != self.withins[b.index()]
    }

    /// True unless a candidate need not be measured.
    pub(super) fn promising(&self, ctx: &Context<'_>, candidate: &ViewCandidate) -> bool {
        let ViewCandidate { pair, ref shared } = *candidate;
        !self.apart(pair) && ctx.panel.promising(self.record(pair[0]), self.record(pair[1]), shared)
    }
}

/// Measures candidates of `view` that are not told apart; those that count go to `take`, with the methods that accept them.
pub(super) fn measure(
    ctx: &Context<'_>,
    candidates: &[ViewCandidate],
    view: &PairView<'_>,
    parallel: bool,
    tally: &mut Tally,
    mut take: impl FnMut([ViewIndex; 2], Measured, u8) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let floor = floor(ctx);
    let compares = ctx.recipe.task == Task::Compare;
    let judge = |&ViewCandidate { pair: [a, b], ref shared }: &ViewCandidate| -> Verdict {
        if !ctx.recipe.verified {
            if view.apart([a, b]) {
                return Verdict::Unpromising;
            }
            let (one, two) = (view.record(a), view.record(b));
            let own = || own_score(ctx, view.set(a), view.set(b));
            let score = ctx.panel.accept(one, two, shared, own);
            return score.map_or(Verdict::Unpromising, |score| Verdict::Measured(as_measured(score)));
        }
        view.compare(&ctx.measure, [a, b], floor).map_or(Verdict::TooFar, Verdict::Measured)
    };
    // By whose word a pair counts matters only where methods are held against each other.
    let methods_of = |&ViewCandidate { pair: [a, b], ref shared }: &ViewCandidate| -> u8 {
        let own = || own_score(ctx, view.set(a), view.set(b));
        match compares {
            true => {
                ctx.panel.accepting_methods(view.record(a), view.record(b), shared, ctx.recipe.verified, own)
            }
            false => 0,
        }
    };
    let judge = |candidate: &ViewCandidate| match judge(candidate) {
        Verdict::Unpromising => (Verdict::Unpromising, 0),
        verdict => (verdict, methods_of(candidate)),
    };
    let verdicts = of_each(ctx, candidates, parallel, judge)?;
    for (&ViewCandidate { pair, .. }, (verdict, methods)) in candidates.iter().zip(verdicts) {
        let found = match verdict {
            Verdict::Unpromising => continue,
            Verdict::TooFar => None,
            Verdict::Measured(measured) => Some(measured),
        };
        let found = found.or(ctx.recipe.all.then_some(Measured::NONE));
        count(ctx, tally, pair.map(|end| view.document(end)), found);
        if let Some(measured) = found.filter(|measured| measured.counts() || ctx.recipe.all) {
            take(pair, measured, methods)?;
        }
    }
    Ok(())
}

#[derive(Default)]
enum Verdict {
    /// No near-duplicates by the word of their methods.
    #[default]
    Unpromising,
    /// Given up on the way.
    TooFar,
    /// Measured.
    Measured(Measured),
}

/// Takes two documents into account that were measured, to the end or until they were seen to be too far apart.
pub(super) fn count(ctx: &Context<'_>, tally: &mut Tally, [a, b]: [DocNumber; 2], found: Option<Measured>) {
    tally.verified += 1;
    let Some(measured) = found else { return };
    let similarity = measured.forward.max(measured.backward);
    // The lower number first, so that a pair has the same hash from whichever end it was measured.
    tally.take(Sample { a: a.min(b), b: a.max(b), similarity }, measured.counts());
    tally.trim_if_many(ctx.measure.threshold.value());
}

/// Returns the score that methods with a measure of their own give two documents; nothing if it does not count.
fn own_score(ctx: &Context<'_>, a: &[u64], b: &[u64]) -> Option<Score> {
    let measured = ctx.measure.compare(a, b, ctx.measure.threshold).filter(|measured| measured.counts())?;
    let Measured { forward, backward, reached, reached_back } = measured;
    Some(Score { forward, backward, reached, reached_back })
}

/// A method's word, for runs that go by it.
fn as_measured(score: Score) -> Measured {
    let Score { forward, backward, reached, reached_back } = score;
    Measured { forward, backward, reached, reached_back }
}

/// Below this a pair need not be measured to the end. A little under the threshold it still is, so that a person can
/// see what lies there.
pub(super) fn floor(ctx: &Context<'_>) -> Threshold {
    if ctx.recipe.all {
        return Threshold::LOWEST;
    }
    let value = (ctx.measure.threshold.value() - 0.1).max(1e-9);
    // Thresholds are decimal fractions of nine digits at most, and compare exactly; their text is the way to
    // them.
    format!("{value:.9}").parse().unwrap_or(Threshold::LOWEST)
}

/// Measures two documents of which all is known.
pub(super) struct DocumentPair<'b> {
    pub(super) records: [&'b [u8]; 2],
    pub(super) sets: [&'b [u64]; 2],
}

impl DocumentPair<'_> {
    /// The similarity, unless it is out of `floor`'s reach.
    pub(super) fn compare(&self, ctx: &Context<'_>, floor: Threshold) -> Option<Measured> {
        if !ctx.recipe.verified {
            let own = || own_score(ctx, self.sets[0], self.sets[1]);
            return ctx.panel.accept_unproposed(self.records[0], self.records[1], own).map(as_measured);
        }
        ctx.measure.compare(self.sets[0], self.sets[1], floor)
    }
}

/// The similarity, however low; not a number where the method has none to give.
pub(super) fn any(ctx: &Context<'_>, measured: Option<Measured>) -> f64 {
    let none = if ctx.recipe.verified { 0.0 } else { f64::NAN };
    measured.map_or(none, |measured| measured.forward)
}

/// Documents that are decided between two looks at what can be measured ahead, by all threads.
const LOOKAHEAD: usize = 1 << 9;

/// Judges documents that are all in memory.
struct ResidentJudge<'b, 't> {
    ctx: &'b Context<'b>,
    resident: &'b Resident,
    floor: Threshold,
    parallel: bool,
    tally: &'t mut Tally,
}

impl ResidentJudge<'_, '_> {
    fn star(
        &mut self,
        contenders: &[Contender],
        neighbours: &mut NeighbourLists<Neighbour>,
        take: &mut star::RemovalSink<'_>,
    ) -> Result<(), EngineError> {
        let mut star = Star::new(self.resident.documents().len(), contenders);
        // What is kept within a chunk can be asked for ahead only in the next: long chunks leave much to be
        // measured one by one, short ones leave threads without work.
        for contenders in contenders.chunks(LOOKAHEAD) {
            self.measure_ahead(&star, contenders, neighbours)?;
            for contender in contenders {
                star.decide(contender, neighbours.of(contender.node)?, self, take)?;
            }
        }
        Ok(())
    }

    /// Measures what some contenders will ask for, as far as that is known already.
    fn measure_ahead(
        &mut self,
        star: &Star,
        contenders: &[Contender],
        neighbours: &mut NeighbourLists<Neighbour>,
    ) -> Result<(), EngineError> {
        let mut asked: Vec<(usize, NodeId)> = Vec::new();
        for contender in contenders.iter().filter(|contender| star.needs_neighbours(contender)) {
            let range = neighbours.range_of(contender.node);
            let entries = &neighbours.entries()[range.clone()];
            let needs_similarity =
                |entry: &Neighbour| entry.is_candidate() && star.needs_similarity(contender, entry.node());
            asked.extend(
                range
                    .zip(entries)
                    .filter(|(_, entry)| needs_similarity(entry))
                    .map(|(at, _)| (at, contender.node)),
            );
        }
        // Equal documents ask for the same. All that is asked for here would be asked for in `decide`, so
        // that counts do not depend on how far ahead was looked, nor on threads.
        asked.sort_unstable();
        asked.dedup();
        let entries = neighbours.entries();
        let (measure, resident, floor) = (&self.ctx.measure, self.resident, self.floor);
        let compare = |&(at, node): &(usize, NodeId)| {
            resident.compare(measure, [node, entries[at].node()].map(NodeId::index), floor)
        };
        let found = of_each(self.ctx, &asked, self.parallel, compare)?;
        for ((at, node), measured) in asked.into_iter().zip(found) {
            self.count(node, entries[at].node(), measured);
            entries[at].set_measured(measured);
        }
        Ok(())
    }

    fn count(&mut self, a: NodeId, b: NodeId, measured: Option<Measured>) {
        let documents = [a, b].map(|node| self.resident.documents()[node.index()]);
        count(self.ctx, self.tally, documents, measured);
    }

    fn hop(&mut self, a: NodeId, b: NodeId, floor: Threshold) -> Result<Option<Measured>, EngineError> {
        self.ctx.check()?;
        self.tally.hops += 1;
        let (ctx, resident) = (self.ctx, self.resident);
        let indexes = [a, b].map(NodeId::index);
        if ctx.recipe.verified {
            return Ok(resident.compare(&ctx.measure, indexes, floor));
        }
        let width = ctx.panel.width();
        let records = indexes.map(|index| resident.record(index, width));
        let sets = indexes.map(|index| resident.set(index));
        Ok(DocumentPair { records, sets }.compare(ctx, floor))
    }
}

impl Judge for ResidentJudge<'_, '_> {
    fn candidate(&mut self, a: NodeId, b: NodeId) -> Result<Option<Measured>, EngineError> {
        self.ctx.check()?;
        let measured = self.resident.compare(&self.ctx.measure, [a, b].map(NodeId::index), self.floor);
        self.count(a, b, measured);
        Ok(measured)
    }

    fn near(&mut self, a: NodeId, b: NodeId) -> Result<Option<Measured>, EngineError> {
        self.hop(a, b, self.ctx.measure.threshold)
    }

    fn any(&mut self, a: NodeId, b: NodeId) -> Result<f64, EngineError> {
        let measured = self.hop(a, b, Threshold::LOWEST)?;
        Ok(any(self.ctx, measured))
    }
}

#[cfg(test)]
mod tests {
    use super::super::sets::Piece;
    use super::*;
    use crate::JobRecipe;
    use crate::catalogue::Catalogue;
    use crate::tests::context::{StageTest, as_lines, doc, node, verified};
    use crate::tests::recipe;

    /// Twenty documents of which nothing matters but their numbers.
    fn test(recipe: JobRecipe) -> StageTest {
        StageTest::new(recipe, &as_lines(&["word"; 20]))
    }

    fn pairs_of(recipe: JobRecipe) -> JobRecipe {
        JobRecipe { task: Task::Pairs, ..recipe }
    }

    /// Judges documents with these sets, paired so; `members` are equal to others.
    fn judged(
        recipe: JobRecipe,
        sets: &[Vec<u64>],
        pairs: &[(u32, u32)],
        members: &[(u32, u32)],
        parallel: bool,
    ) -> PartResult {
        let test = test(recipe);
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let documents: Vec<DocNumber> = DocNumber::range(10, 10 + sets.len() as u32).collect();
        let mut resident = Resident::new(documents.clone());
        let mut piece = Piece::default();
        for (index, set) in sets.iter().enumerate() {
            piece.values.extend_from_slice(set);
            piece.ends.push((index, piece.values.len()));
        }
        resident.take(piece);
        let pairs = pairs.iter().map(|&(a, b)| [a, b].map(node)).collect();
        let members = members.iter().map(|&(document, at)| (doc(document), node(at))).collect();
        let part = Part { documents, pairs, members, ..Part::default() };
        let judge = PartJudge { ctx: &ctx, part: &part, resident: &resident, parallel };
        let keep_order = KeepOrder::new(&ctx, &catalogue).unwrap();
        judge.run(&mut Lookup::new(&ctx, &catalogue), &keep_order).unwrap()
    }

    /// Sets of twenty values each, of which the second shares 19 with the first, the third 18, and the last none.
    fn sets() -> Vec<Vec<u64>> {
        vec![(0..20).collect(), (1..21).collect(), (2..22).collect(), (50..70).collect()]
    }

    fn removal(document: u32, witness: u32, similarity: f64, via: u32) -> Removal {
        Removal { document: doc(document), witness: doc(witness), similarity, via: doc(via) }
    }

    #[test]
    fn copies_go_for_the_first_and_no_pair_is_measured_in_vain() {
        for parallel in [false, true] {
            let pairs = [(0, 1), (0, 2), (1, 2), (2, 3)];
            let found = judged(recipe("md5"), &sets(), &pairs, &[], parallel);
            assert_eq!(found.removals, [removal(11, 10, 19.0 / 21.0, 10), removal(12, 10, 18.0 / 22.0, 10)]);
            assert!(found.pairs.is_empty());
            let tally = found.tally;
            // The last document is held against the witness of its only neighbour.
            assert_eq!((tally.verified, tally.reached, tally.hops), (2, 2, 1));
        }
    }

    #[test]
    fn equal_documents_go_with_the_one_that_leads_them() {
        let found = judged(recipe("md5"), &sets(), &[(0, 1)], &[(15, 0), (16, 1)], false);
        let expected =
            [removal(11, 10, 19.0 / 21.0, 10), removal(15, 10, 1.0, 10), removal(16, 10, 19.0 / 21.0, 10)];
        assert_eq!(found.removals, expected);
    }

    #[test]
    fn whole_components_may_go_for_their_first() {
        let recipe = JobRecipe { cluster: ClusterRule::Components, ..recipe("md5") };
        let chain: Vec<Vec<u64>> = (0..3).map(|n| (2 * n..2 * n + 20).collect()).collect();
        let found = judged(recipe, &chain, &[(0, 1), (1, 2)], &[], false);
        assert_eq!(found.removals, [removal(11, 10, 18.0 / 22.0, 10), removal(12, 10, 16.0 / 24.0, 11)]);
        assert_eq!((found.tally.verified, found.tally.reached), (2, 2));
    }

    #[test]
    fn pairs_that_reach_the_threshold_are_listed() {
        let found = judged(pairs_of(recipe("md5")), &sets(), &[(0, 1), (0, 2), (0, 3)], &[], false);
        let near = |b, similarity: f64| verified((10, b), similarity, similarity, 0);
        assert_eq!(found.pairs, [near(11, 19.0 / 21.0), near(12, 18.0 / 22.0)]);
        assert!(found.pairs.iter().all(|pair| pair.is_near() && pair.is_near_back()));
        assert!(found.removals.is_empty());
        assert_eq!((found.tally.verified, found.tally.reached), (3, 2));
    }

    #[test]
    fn pairs_below_the_threshold_are_listed_where_all_are_asked_for() {
        let recipe = JobRecipe { all: true, ..pairs_of(recipe("md5")) };
        let far: Vec<Vec<u64>> = vec![(0..20).collect(), (10..30).collect(), (50..70).collect()];
        let found = judged(recipe, &far, &[(0, 1), (0, 2)], &[], false);
        let third: f64 = 10.0 / 30.0;
        assert_eq!(found.pairs, [verified((10, 11), third, third, 0), verified((10, 12), 0.0, 0.0, 0)]);
        assert!(found.pairs.iter().all(|pair| !pair.is_near() && !pair.is_near_back()));
    }

    #[test]
    fn containment_may_reach_the_threshold_one_way() {
        let recipe = JobRecipe { similarity: Similarity::Containment, ..pairs_of(recipe("exact")) };
        let found = judged(recipe, &[(0..10).collect(), (0..40).collect()], &[(0, 1)], &[], false);
        assert_eq!(found.pairs, [verified((10, 11), 1.0, 0.25, 0)]);
        assert!(found.pairs[0].is_near() && !found.pairs[0].is_near_back());
    }

    #[test]
    fn a_stop_is_heard_before_anything_is_decided() {
        let test = test(recipe("md5"));
        let ctx = test.sketched();
        test.watch.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let done = of_each(&ctx, &[1, 2, 3], false, |number: &u32| *number);
        assert!(matches!(done, Err(EngineError::Stopped)));
    }

    #[test]
    fn each_item_is_worked_on_in_its_place() {
        let test = test(recipe("md5"));
        let ctx = test.context();
        let items: Vec<u64> = (0..1000).collect();
        let expected: Vec<u64> = (0..1000).map(|number| number * 2).collect();
        for parallel in [false, true] {
            assert_eq!(of_each(&ctx, &items, parallel, |number| number * 2).unwrap(), expected);
        }
    }

    #[test]
    fn pairs_are_measured_to_a_tenth_below_the_threshold() {
        let floor_of = |threshold: &str, all| {
            let test = test(JobRecipe { threshold: threshold.to_owned(), all, ..recipe("md5") });
            floor(&test.context())
        };
        assert_eq!(floor_of("0.8", false), "0.7".parse().unwrap());
        assert_eq!(floor_of("0.05", false), Threshold::LOWEST);
        assert_eq!(floor_of("0.8", true), Threshold::LOWEST);
    }

    #[test]
    fn where_nothing_was_measured_a_method_has_no_number() {
        let of = |verified| {
            let test = test(JobRecipe { verified, ..recipe("md5") });
            let measured = Measured { forward: 0.3, backward: 0.4, reached: false, reached_back: false };
            let ctx = test.context();
            (any(&ctx, None), any(&ctx, Some(measured)))
        };
        assert_eq!(of(true), (0.0, 0.3));
        let (none, some) = of(false);
        assert!(none.is_nan() && some == 0.3);
    }

    #[test]
    fn a_pair_counts_by_the_greater_of_its_similarities() {
        let test = test(recipe("md5"));
        let (ctx, mut tally) = (test.context(), Tally::default());
        let measured = Measured { forward: 0.2, backward: 0.9, reached: false, reached_back: true };
        count(&ctx, &mut tally, [9, 4].map(doc), Some(measured));
        count(&ctx, &mut tally, [1, 2].map(doc), None);
        assert_eq!((tally.verified, tally.reached), (2, 1));
        assert_eq!(tally.random, [Sample { a: doc(4), b: doc(9), similarity: 0.9 }]);
        assert_eq!(tally.histogram.iter().sum::<u64>(), 1);
    }

    #[test]
    fn indexes_of_a_view_count_on_to_its_second_piece() {
        let test = test(recipe("md5"));
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let mut lookup = Lookup::new(&ctx, &catalogue);
        let piece = |documents: &[u32], set: Vec<u64>| {
            let mut resident = Resident::new(documents.iter().copied().map(doc).collect());
            resident.take(Piece { ends: vec![(0, set.len())], values: set });
            resident
        };
        let (first, second) = (piece(&[3, 5], vec![1, 2]), piece(&[9], vec![1, 2, 3]));
        let view = PairView::new(&ctx, &first, Some(&second), &mut lookup).unwrap();
        let at = ViewIndex::new;
        assert_eq!([0, 1, 2].map(|index| view.document(at(index))), [3, 5, 9].map(doc));
        assert_eq!((view.set(at(0)), view.set(at(2))), (&[1, 2][..], &[1, 2, 3][..]));
        let measured = view.compare(&ctx.measure, [0, 2].map(at), Threshold::LOWEST).unwrap();
        assert!((measured.forward - 2.0 / 3.0).abs() < 1e-12);
        assert!(!view.apart([0, 2].map(at)));
    }

    #[test]
    fn documents_of_different_groups_are_apart() {
        let line = |site: &str| format!("{{\"text\":\"word\",\"site\":\"{site}\"}}\n");
        let recipe = JobRecipe { within: Some("site".to_owned()), ..recipe("md5") };
        let test = StageTest::new(recipe, &["a", "b", "a"].map(line).concat());
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let mut lookup = Lookup::new(&ctx, &catalogue);
        let resident = Resident::with_records(&ctx, &mut lookup, [0, 1, 2].map(doc).to_vec()).unwrap();
        let view = PairView::new(&ctx, &resident, None, &mut lookup).unwrap();
        let [near, far, other] = [[0, 2], [0, 1], [1, 2]].map(|pair| pair.map(ViewIndex::new));
        assert!(view.apart(far) && view.apart(other) && !view.apart(near));
        let candidate = |pair| ViewCandidate { pair, shared: [1, 0, 0, 0, 0, 0, 0, 0] };
        assert!(view.promising(&ctx, &candidate(near)) && !view.promising(&ctx, &candidate(far)));
    }
}

//! One part of a bucket: its candidates are measured, its documents decided.

use lookalike_methods::Score;
use lookalike_model::{Similarity, Threshold};
use rayon::prelude::*;

use super::neighbours::InMemory;
use super::parts::Part;
use super::sets::Resident;
use super::tally::{Sample, Tally};
use super::{NEAR, NEAR_BACK, Pairs, Removal, Said, measures_all};
use crate::candidates::Candidate;
use crate::catalogue::Lookup;
use crate::context::Context;
use crate::error::EngineError;
use crate::keepers::Keepers;
use crate::measure::{Measure, Measured};
use crate::recipe::{ClusterRule, Task};
use crate::star::{self, Adjacent, Edge, Judge, Neighbour, Star, Turn};
use crate::store::file::RunWriter;
use crate::store::sort::{Codec, couple};

/// A pair as its file has it.
type PairItem = <Pairs as Codec>::Item;

/// The results of a part.
#[derive(Default)]
pub(super) struct Found {
    pub(super) tally: Tally,
    pub(super) removals: Vec<Removal>,
    /// The pairs that count, where those are asked for.
    pub(super) pairs: Vec<PairItem>,
}

/// A part before its judge.
pub(super) struct Hearing<'h> {
    pub(super) ctx: &'h Context<'h>,
    pub(super) part: &'h Part,
    /// Its documents in the form in which they are compared.
    pub(super) resident: &'h Resident,
    /// All threads measure, and not this one alone.
    pub(super) by_all: bool,
}

impl Hearing<'_> {
    /// Measures and decides.
    pub(super) fn hold(&self, lookup: &mut Lookup<'_>, keepers: &Keepers) -> Result<Found, EngineError> {
        let mut found = Found::default();
        let Found { tally, pairs, .. } = &mut found;
        if self.ctx.recipe.task.lists_pairs() {
            self.measure(lookup, tally, |edge, said| pairs.push(pair(&self.part.documents, &edge, said)))?;
            return Ok(found);
        }
        let mut edges = None;
        if measures_all(self.ctx) {
            let mut all = Vec::new();
            self.measure(lookup, tally, |edge, _| all.push(edge))?;
            edges = Some(all);
        }
        self.decide(lookup, keepers, edges, &mut found)?;
        Ok(found)
    }

    /// Measures all candidates; hands over those that count.
    fn measure(
        &self,
        lookup: &mut Lookup<'_>,
        tally: &mut Tally,
        mut take: impl FnMut(Edge, Said),
    ) -> Result<(), EngineError> {
        let Hearing { ctx, part, .. } = *self;
        let sight = Sight::new(ctx, self.resident, None, lookup)?;
        let shared = |index: usize| part.shared.get(index).copied().unwrap_or_default();
        for (number, pairs) in part.pairs.chunks(AT_ONCE).enumerate() {
            let candidate = |(index, &(a, b)): (usize, &(u32, u32))| Candidate {
                a,
                b,
                shared: shared(number * AT_ONCE + index),
            };
            let candidates: Vec<Candidate> = pairs.iter().enumerate().map(candidate).collect();
            measure(ctx, &candidates, &sight, self.by_all, tally, |edge, said| {
                take(edge, said);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Decides every document: by what was measured, or by measuring what is asked for.
    fn decide(
        &self,
        lookup: &mut Lookup<'_>,
        keepers: &Keepers,
        edges: Option<Vec<Edge>>,
        found: &mut Found,
    ) -> Result<(), EngineError> {
        let Hearing { ctx, part, resident, by_all } = *self;
        let documents = &part.documents;
        let own = documents.iter().enumerate().map(|(place, &document)| (document, place as u32));
        let turns = keepers.order(lookup, own.chain(part.members.iter().copied()).collect())?;
        let mut neighbours = match edges {
            Some(edges) => InMemory::new(documents.len(), &edges, Edge::ends),
            None => InMemory::new(documents.len(), &part.pairs, |&(a, b)| Neighbour::ends(a, b)),
        };
        let Found { tally, removals, .. } = found;
        let mut judge = ResidentJudge { ctx, resident, floor: floor(ctx), by_all, tally };
        let mut take = |removal| {
            removals.push(removal);
            Ok(())
        };
        match ctx.recipe.cluster {
            ClusterRule::Star => judge.star(&turns, &mut neighbours, &mut take),
            ClusterRule::Components => {
                star::components(&turns, &mut neighbours, documents, &mut judge, &mut take)
            }
        }
    }
}

/// Applies `work` to each item, by all threads or by this one alone: a thread that waits for others would begin another part
/// meanwhile, and hold both in memory. Some texts take milliseconds, so every thread checks for a stop by itself.
fn of_each<T: Sync, R: Default + Send>(
    ctx: &Context<'_>,
    items: &[T],
    by_all: bool,
    work: impl Fn(&T) -> R + Sync + Send,
) -> Result<Vec<R>, EngineError> {
    let work = |item: &T| if ctx.watch.stopped() { R::default() } else { work(item) };
    let together = if ctx.measure.similarity == Similarity::Edit { 1 } else { 64 };
    let done = match by_all {
        true => items.par_iter().with_min_len(together).map(work).collect(),
        false => items.iter().map(work).collect(),
    };
    ctx.check()?;
    Ok(done)
}

/// Candidates that are measured before what came out is taken in.
pub(super) const AT_ONCE: usize = 1 << 18;

/// A pair by the numbers of its documents.
fn pair(documents: &[u32], edge: &Edge, said: Said) -> PairItem {
    let pair = couple(documents[edge.a as usize], documents[edge.b as usize]);
    (pair, edge.measured.forward.to_bits(), edge.measured.backward.to_bits(), said)
}

/// Writes pairs.
pub(super) fn put_pairs(
    pairs: impl IntoIterator<Item = PairItem>,
    writer: &mut RunWriter,
) -> Result<(), EngineError> {
    let mut bytes = [0; 26];
    pairs.into_iter().try_for_each(|pair| {
        Pairs.put(pair, &mut bytes);
        writer.push(&bytes)
    })
}

/// Writes a pair by the numbers of its documents.
pub(super) fn put_pair(
    documents: &[u32],
    edge: &Edge,
    said: Said,
    writer: &mut RunWriter,
) -> Result<(), EngineError> {
    put_pairs([pair(documents, edge, said)], writer)
}

/// The documents that a measurement sees: one piece of a bucket, or two. Their places count on from the first piece to
/// the second.
pub(super) struct Sight<'r> {
    first: &'r Resident,
    second: Option<&'r Resident>,
    width: usize,
    /// Hash of what each document is compared within, where that matters.
    withins: Vec<u64>,
}

impl<'r> Sight<'r> {
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
        Ok(Sight { first, second, width: ctx.panel.width(), withins })
    }

    fn piece(&self, place: u32) -> (&'r Resident, usize) {
        let place = place as usize;
        let front = self.first.documents().len();
        match self.second {
            Some(second) if place >= front => (second, place - front),
            _ => (self.first, place),
        }
    }

    fn document(&self, place: u32) -> u32 {
        let (piece, index) = self.piece(place);
        piece.documents()[index]
    }

    fn record(&self, place: u32) -> &[u8] {
        let (piece, index) = self.piece(place);
        piece.record(index, self.width)
    }

    fn set(&self, place: u32) -> &[u64] {
        let (piece, index) = self.piece(place);
        piece.set(index)
    }

    fn compare(&self, measure: &Measure, a: u32, b: u32, floor: Threshold) -> Option<Measured> {
        match self.second {
            None => self.first.compare(measure, a, b, floor),
            Some(_) => measure.compare(self.set(a), self.set(b), floor),
        }
    }

    fn apart(&self, a: u32, b: u32) -> bool {
        !self.withins.is_empty() && self.withins[a as usize] != self.withins[b as usize]
    }

    /// True unless a candidate need not be measured.
    pub(super) fn promising(&self, ctx: &Context<'_>, &Candidate { a, b, ref shared }: &Candidate) -> bool {
        !self.apart(a, b) && ctx.panel.promising(self.record(a), self.record(b), shared)
    }
}

/// Measures candidates that are named by their places in `sight` and are not told apart; those that count go to `take`.
pub(super) fn measure(
    ctx: &Context<'_>,
    candidates: &[Candidate],
    sight: &Sight<'_>,
    by_all: bool,
    tally: &mut Tally,
    mut take: impl FnMut(Edge, Said) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let floor = floor(ctx);
    let compares = ctx.recipe.task == Task::Compare;
    let judge = |&Candidate { a, b, ref shared }: &Candidate| -> Verdict {
        if !ctx.recipe.verified {
            if sight.apart(a, b) {
                return Verdict::Unpromising;
            }
            let (one, two) = (sight.record(a), sight.record(b));
            let own = || own_score(ctx, sight.set(a), sight.set(b));
            let said = ctx.panel.accept(one, two, shared, own);
            return said.map_or(Verdict::Unpromising, |score| Verdict::Measured(as_measured(score)));
        }
        sight.compare(&ctx.measure, a, b, floor).map_or(Verdict::TooFar, Verdict::Measured)
    };
    // By whose word a pair counts matters only where methods are held against each other.
    let said = |&Candidate { a, b, ref shared }: &Candidate| -> Said {
        let own = || own_score(ctx, sight.set(a), sight.set(b));
        match compares {
            true => ctx.panel.said(sight.record(a), sight.record(b), shared, ctx.recipe.verified, own),
            false => 0,
        }
    };
    let judge = |candidate: &Candidate| match judge(candidate) {
        Verdict::Unpromising => (Verdict::Unpromising, 0),
        verdict => (verdict, said(candidate)),
    };
    let verdicts = of_each(ctx, candidates, by_all, judge)?;
    for (&Candidate { a, b, .. }, (verdict, said)) in candidates.iter().zip(verdicts) {
        let found = match verdict {
            Verdict::Unpromising => continue,
            Verdict::TooFar => None,
            Verdict::Measured(measured) => Some(measured),
        };
        let found = found.or(ctx.recipe.all.then_some(Measured::NONE));
        count(ctx, tally, [sight.document(a), sight.document(b)], found);
        if let Some(measured) = found.filter(|measured| measured.counts() || ctx.recipe.all) {
            let near = if measured.reached { NEAR } else { 0 };
            let back = if measured.reached_back { NEAR_BACK } else { 0 };
            take(Edge { a, b, measured }, said | near | back)?;
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
pub(super) fn count(ctx: &Context<'_>, tally: &mut Tally, [a, b]: [u32; 2], found: Option<Measured>) {
    tally.verified += 1;
    let Some(measured) = found else { return };
    let similarity = measured.forward.max(measured.backward);
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
    format!("{value:.9}").parse().unwrap_or(Threshold::LOWEST)
}

/// Measures two documents of which all is known.
pub(super) struct Both<'b> {
    pub(super) records: [&'b [u8]; 2],
    pub(super) sets: [&'b [u64]; 2],
}

impl Both<'_> {
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
const AHEAD: usize = 1 << 9;

/// Judges documents that are all in memory.
struct ResidentJudge<'b, 't> {
    ctx: &'b Context<'b>,
    resident: &'b Resident,
    floor: Threshold,
    by_all: bool,
    tally: &'t mut Tally,
}

impl ResidentJudge<'_, '_> {
    fn star(
        &mut self,
        turns: &[Turn],
        neighbours: &mut InMemory,
        take: &mut star::Take<'_>,
    ) -> Result<(), EngineError> {
        let mut star = Star::new(self.resident.documents().len(), turns);
        for turns in turns.chunks(AHEAD) {
            self.ahead(&star, turns, neighbours)?;
            for turn in turns {
                star.turn(turn, neighbours.of(turn.node)?, self, take)?;
            }
        }
        Ok(())
    }

    /// Measures what some turns will ask for, as far as that is known already.
    fn ahead(&mut self, star: &Star, turns: &[Turn], neighbours: &mut InMemory) -> Result<(), EngineError> {
        let mut asked: Vec<(usize, u32)> = Vec::new();
        for turn in turns.iter().filter(|turn| star.looks(turn)) {
            let places = neighbours.places(turn.node);
            let entries = &neighbours.entries()[places.clone()];
            let asks = |entry: &Neighbour| !entry.measured && star.asks(turn, entry.node);
            asked.extend(places.zip(entries).filter(|(_, entry)| asks(entry)).map(|(at, _)| (at, turn.node)));
        }
        asked.sort_unstable();
        asked.dedup();
        let entries = neighbours.entries();
        let (measure, resident, floor) = (&self.ctx.measure, self.resident, self.floor);
        let compare = |&(at, node): &(usize, u32)| resident.compare(measure, node, entries[at].node, floor);
        let found = of_each(self.ctx, &asked, self.by_all, compare)?;
        for ((at, node), measured) in asked.into_iter().zip(found) {
            self.count(node, entries[at].node, measured);
            entries[at].settle(measured);
        }
        Ok(())
    }

    fn count(&mut self, a: u32, b: u32, measured: Option<Measured>) {
        let documents = [a, b].map(|place| self.resident.documents()[place as usize]);
        count(self.ctx, self.tally, documents, measured);
    }

    fn hop(&mut self, a: u32, b: u32, floor: Threshold) -> Result<Option<Measured>, EngineError> {
        self.ctx.check()?;
        self.tally.hops += 1;
        let (ctx, resident) = (self.ctx, self.resident);
        if ctx.recipe.verified {
            return Ok(resident.compare(&ctx.measure, a, b, floor));
        }
        let width = ctx.panel.width();
        let records = [a, b].map(|place| resident.record(place as usize, width));
        let sets = [a, b].map(|place| resident.set(place as usize));
        Ok(Both { records, sets }.compare(ctx, floor))
    }
}

impl Judge for ResidentJudge<'_, '_> {
    fn candidate(&mut self, a: u32, b: u32) -> Result<Option<Measured>, EngineError> {
        self.ctx.check()?;
        let measured = self.resident.compare(&self.ctx.measure, a, b, self.floor);
        self.count(a, b, measured);
        Ok(measured)
    }

    fn near(&mut self, a: u32, b: u32) -> Result<Option<Measured>, EngineError> {
        self.hop(a, b, self.ctx.measure.threshold)
    }

    fn any(&mut self, a: u32, b: u32) -> Result<f64, EngineError> {
        let measured = self.hop(a, b, Threshold::LOWEST)?;
        Ok(any(self.ctx, measured))
    }
}

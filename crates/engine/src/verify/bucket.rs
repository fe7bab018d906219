//! One bucket: its candidates are measured, its documents decided.

use std::path::Path;

use lookalike_methods::Score;
use lookalike_model::Threshold;
use rayon::prelude::*;

use super::neighbours::InMemory;
use super::sets::Resident;
use super::tally::{Sample, Tally};
use super::{Pairs, Removal};
use crate::candidates::Candidate;
use crate::catalogue::{Bits, Catalogue, Lookup};
use crate::context::Context;
use crate::error::EngineError;
use crate::keepers::Keepers;
use crate::measure::Measured;
use crate::recipe::ClusterRule;
use crate::star::{self, Adjacent, Edge, Judge, Neighbour, Star, Turn};
use crate::store::file::RunWriter;
use crate::store::sort::{Codec, couple};

/// Documents that hang together through candidates, all in memory.
pub(super) struct Bucket<'c> {
    ctx: &'c Context<'c>,
    lookup: Lookup<'c>,
    pub(super) candidates: Vec<Candidate>,
    /// Equal documents: the first of its class and a further one.
    pub(super) members: Vec<(u32, u32)>,
    resident: Resident,
}

impl<'c> Bucket<'c> {
    /// A bucket with these candidates. The symbols of its documents are still to come.
    pub(super) fn new(
        ctx: &'c Context<'c>,
        catalogue: &'c Catalogue,
        mut candidates: Vec<Candidate>,
    ) -> Result<Self, EngineError> {
        let mut documents: Vec<u32> = candidates.iter().flat_map(|pair| [pair.a, pair.b]).collect();
        documents.sort_unstable();
        documents.dedup();
        let mut lookup = Lookup::new(ctx, catalogue);
        let resident = Resident::new(ctx, &mut lookup, documents)?;
        // From here on candidates name places in the bucket.
        for pair in &mut candidates {
            let place = |document| resident.index(document).expect("it was just put there") as u32;
            (pair.a, pair.b) = (place(pair.a), place(pair.b));
        }
        Ok(Bucket { ctx, lookup, candidates, members: Vec::new(), resident })
    }

    /// Drops the candidates that what the methods keep tells apart, which are most; returns the documents of the others.
    pub(super) fn wanted(&mut self) -> Result<Bits, EngineError> {
        let (ctx, documents) = (self.ctx, self.resident.documents());
        let mut wanted = Bits::new(documents.last().map_or(0, |&last| last + 1));
        let sight = Sight::new(ctx, &self.resident, None, &mut self.lookup)?;
        self.candidates.retain(|pair| {
            let kept = !ctx.recipe.verified || sight.promising(ctx, pair);
            if kept {
                wanted.set(documents[pair.a as usize]);
                wanted.set(documents[pair.b as usize]);
            }
            kept
        });
        Ok(wanted)
    }

    /// Takes the symbols of a document that is wanted.
    pub(super) fn add(&mut self, document: u32, symbols: &[u64]) {
        self.resident.add(self.ctx, document, symbols);
    }

    /// Goes on once all that is wanted is there.
    pub(super) fn settle(&mut self) {
        self.resident.settle(self.ctx);
    }

    /// Measures all candidates; returns those that count.
    pub(super) fn measure(&mut self, tally: &mut Tally) -> Result<Vec<Edge>, EngineError> {
        let ctx = self.ctx;
        let sight = Sight::new(ctx, &self.resident, None, &mut self.lookup)?;
        let mut edges = Vec::new();
        for part in self.candidates.chunks(AT_ONCE) {
            measure(ctx, part, &sight, tally, |edge| {
                edges.push(edge);
                Ok(())
            })?;
        }
        drop(sight);
        self.candidates = Vec::new();
        Ok(edges)
    }

    /// Decides every document of the bucket: by what was measured, or by measuring what is asked for.
    pub(super) fn decide(
        mut self,
        keepers: &Keepers,
        edges: Option<Vec<Edge>>,
        tally: &mut Tally,
    ) -> Result<Vec<Removal>, EngineError> {
        let ctx = self.ctx;
        let documents = self.resident.documents();
        let own = documents.iter().enumerate().map(|(place, &document)| (document, place as u32));
        let equal = self
            .members
            .iter()
            .filter_map(|&(leader, member)| Some((member, self.resident.index(leader)? as u32)));
        let turns = keepers.order(&mut self.lookup, own.chain(equal).collect())?;
        let mut neighbours = match edges {
            Some(edges) => InMemory::new(documents.len(), &edges, Edge::ends),
            None => InMemory::new(documents.len(), &self.candidates, Candidate::ends),
        };
        self.candidates = Vec::new();
        let mut judge = ResidentJudge { ctx, resident: &self.resident, floor: floor(ctx), tally };
        let mut removals = Vec::new();
        let mut take = |removal| {
            removals.push(removal);
            Ok(())
        };
        match ctx.recipe.cluster {
            ClusterRule::Star => judge.star(&turns, &mut neighbours, &mut take)?,
            ClusterRule::Components => {
                star::components(&turns, &mut neighbours, documents, &mut judge, &mut take)?;
            }
        }
        Ok(removals)
    }

    /// Writes the pairs that count.
    pub(super) fn write_pairs(&self, edges: &[Edge], target: &Path) -> Result<(), EngineError> {
        let mut writer = RunWriter::create(target, Pairs::label(self.ctx))?;
        edges.iter().try_for_each(|edge| put_pair(self.resident.documents(), edge, &mut writer))?;
        writer.finish()
    }
}

/// Candidates that are measured between two looks at whether to stop.
pub(super) const AT_ONCE: usize = 1 << 18;

/// Writes a pair by the numbers of its documents.
pub(super) fn put_pair(documents: &[u32], edge: &Edge, writer: &mut RunWriter) -> Result<(), EngineError> {
    let mut bytes = [0; 24];
    let pair = couple(documents[edge.a as usize], documents[edge.b as usize]);
    Pairs.put((pair, edge.measured.forward.to_bits(), edge.measured.backward.to_bits()), &mut bytes);
    writer.push(&bytes)
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

    fn apart(&self, a: u32, b: u32) -> bool {
        !self.withins.is_empty() && self.withins[a as usize] != self.withins[b as usize]
    }

    /// True unless a candidate need not be measured.
    pub(super) fn promising(&self, ctx: &Context<'_>, &Candidate { a, b, ref shared }: &Candidate) -> bool {
        !self.apart(a, b) && ctx.panel.promising(self.record(a), self.record(b), shared)
    }
}

/// Measures candidates that are named by their places in `sight`; those that count go to `take`.
pub(super) fn measure(
    ctx: &Context<'_>,
    candidates: &[Candidate],
    sight: &Sight<'_>,
    tally: &mut Tally,
    mut take: impl FnMut(Edge) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    ctx.check()?;
    let floor = floor(ctx);
    let judge = |pair: &Candidate| -> Verdict {
        let &Candidate { a, b, ref shared } = pair;
        if !ctx.recipe.verified {
            if sight.apart(a, b) {
                return Verdict::Unpromising;
            }
            let (one, two) = (sight.record(a), sight.record(b));
            let own = || own_score(ctx, sight.set(a), sight.set(b));
            let said = ctx.panel.accept(one, two, shared, own);
            return said.map_or(Verdict::Unpromising, |score| Verdict::Measured(as_measured(score)));
        }
        if !sight.promising(ctx, pair) {
            return Verdict::Unpromising;
        }
        ctx.measure.compare(sight.set(a), sight.set(b), floor).map_or(Verdict::TooFar, Verdict::Measured)
    };
    let verdicts: Vec<Verdict> = candidates.par_iter().with_min_len(64).map(judge).collect();
    for (&Candidate { a, b, .. }, verdict) in candidates.iter().zip(verdicts) {
        let found = match verdict {
            Verdict::Unpromising => continue,
            Verdict::TooFar => None,
            Verdict::Measured(measured) => Some(measured),
        };
        let found = found.or(ctx.recipe.all.then_some(Measured::NONE));
        count(ctx, tally, [sight.document(a), sight.document(b)], found);
        if let Some(measured) = found.filter(|measured| measured.counts() || ctx.recipe.all) {
            take(Edge { a, b, measured })?;
        }
    }
    Ok(())
}

enum Verdict {
    /// Not worth measuring.
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

/// What a method that decides by a measure of its own finds between two documents.
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

    /// The similarity, however low; not a number where the method has none to give.
    pub(super) fn any(&self, ctx: &Context<'_>) -> f64 {
        let none = if ctx.recipe.verified { 0.0 } else { f64::NAN };
        self.compare(ctx, Threshold::LOWEST).map_or(none, |measured| measured.forward)
    }
}

/// Documents that are decided between two looks at what can be measured ahead, by all threads.
const AHEAD: usize = 1 << 9;

/// Judges documents that are all in memory.
struct ResidentJudge<'b, 't> {
    ctx: &'b Context<'b>,
    resident: &'b Resident,
    floor: Threshold,
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
            self.ctx.check()?;
            self.ahead(&star, turns, neighbours);
            for turn in turns {
                star.turn(turn, neighbours.of(turn.node)?, self, take)?;
            }
        }
        Ok(())
    }

    /// Measures what some turns will ask for, as far as that is known already.
    fn ahead(&mut self, star: &Star, turns: &[Turn], neighbours: &mut InMemory) {
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
        let (measure, resident, floor) = (self.ctx.measure, self.resident, self.floor);
        let compare = |&(at, node): &(usize, u32)| {
            let other = entries[at].node as usize;
            measure.compare(resident.set(node as usize), resident.set(other), floor)
        };
        let found: Vec<Option<Measured>> = asked.par_iter().with_min_len(16).map(compare).collect();
        for ((at, node), measured) in asked.into_iter().zip(found) {
            self.count(node, entries[at].node, measured);
            entries[at].settle(measured);
        }
    }

    fn count(&mut self, a: u32, b: u32, measured: Option<Measured>) {
        let documents = [a, b].map(|place| self.resident.documents()[place as usize]);
        count(self.ctx, self.tally, documents, measured);
    }

    fn both(&mut self, a: u32, b: u32) -> Both<'_> {
        self.tally.hops += 1;
        let width = self.ctx.panel.width();
        Both {
            records: [a, b].map(|place| self.resident.record(place as usize, width)),
            sets: [a, b].map(|place| self.resident.set(place as usize)),
        }
    }
}

impl Judge for ResidentJudge<'_, '_> {
    fn candidate(&mut self, a: u32, b: u32) -> Result<Option<Measured>, EngineError> {
        let sets = [a, b].map(|place| self.resident.set(place as usize));
        let measured = self.ctx.measure.compare(sets[0], sets[1], self.floor);
        self.count(a, b, measured);
        Ok(measured)
    }

    fn near(&mut self, a: u32, b: u32) -> Result<Option<Measured>, EngineError> {
        let ctx = self.ctx;
        Ok(self.both(a, b).compare(ctx, ctx.measure.threshold))
    }

    fn any(&mut self, a: u32, b: u32) -> Result<f64, EngineError> {
        let ctx = self.ctx;
        Ok(self.both(a, b).any(ctx))
    }
}

//! A component that does not fit into memory: documents, candidates and edges stay in files. Candidates are gone through
//! two pieces of the component at a time, to measure them or at least to tell those apart that need not be. Documents
//! are decided as many at a time as fit: what these will ask for is measured first, the kept documents that it takes
//! brought in piece by piece; what comes up on the way is read from disk one by one.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use lookalike_model::Threshold;
use rayon::prelude::*;

use super::bucket::{self, AT_ONCE, Both, Sight, put_pair};
use super::neighbours::{self, Edges};
use super::sets::{OnDisk, Resident};
use super::tally::Tally;
use super::{Pairs, Removals, measures_all};
use crate::candidates::Candidate;
use crate::catalogue::{Catalogue, Lookup};
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::gather;
use crate::keepers::Keepers;
use crate::measure::Measured;
use crate::panel::MOST_METHODS;
use crate::recipe::{ClusterRule, Keep, Task};
use crate::star::{self, Adjacent, Edge, Judge, Neighbour, Star, Turn};
use crate::store::file::{Records, RunWriter};
use crate::store::sort::{Codec, Sorter, existing};

/// Bytes that a document takes while it waits for its turn, and while it is put into an order by something else than its number.
const PER_TURN: u64 = 36;
const PER_RANKED_TURN: u64 = 100;

/// Numbers of a candidate: two pieces, two places, and the keys shared by method.
const PLACED: usize = 4 + MOST_METHODS;

/// Candidates in a file, by the pieces that their documents are in; documents are named by their places.
#[derive(Debug, Clone, Copy)]
struct Placed;

impl Codec for Placed {
    type Item = [u32; PLACED];
    const KIND: &'static str = "placed";

    fn width(self) -> usize {
        4 * PLACED
    }

    fn put(self, item: [u32; PLACED], out: &mut [u8]) {
        for (slot, number) in out.as_chunks_mut::<4>().0.iter_mut().zip(item) {
            *slot = number.to_le_bytes();
        }
    }

    fn get(self, bytes: &[u8]) -> [u32; PLACED] {
        std::array::from_fn(|index| {
            u32::from_le_bytes(bytes[index * 4..index * 4 + 4].try_into().expect("four bytes"))
        })
    }
}

/// The component under way.
pub(super) struct Oversized<'c> {
    ctx: &'c Context<'c>,
    lookup: Lookup<'c>,
    on_disk: OnDisk,
    documents: Vec<u32>,
    memory: u64,
}

impl<'c> Oversized<'c> {
    /// Takes the documents of a spool; at most about `memory` bytes of them are in memory at a time.
    pub(super) fn open(
        ctx: &'c Context<'c>,
        catalogue: &'c Catalogue,
        spool: &Path,
        memory: u64,
    ) -> Result<Self, EngineError> {
        let on_disk = OnDisk::open(ctx, spool)?;
        let documents: Vec<u32> = on_disk.spots.iter().map(|spot| spot.document).collect();
        Ok(Oversized { ctx, lookup: Lookup::new(ctx, catalogue), on_disk, documents, memory })
    }

    /// Measures and decides, and writes what came out to `target`.
    pub(super) fn run(
        mut self,
        candidates: Records,
        members: Records,
        keepers: &Keepers,
        target: &Path,
        tally: &mut Tally,
    ) -> Result<(), EngineError> {
        let ctx = self.ctx;
        let mut edges = Edges::new(ctx, self.memory as usize / 8)?;
        let mut pairs = match ctx.recipe.task {
            Task::Dedup => None,
            Task::Pairs | Task::Compare => Some(RunWriter::create(target, Pairs::label(ctx))?),
        };
        self.go_through(candidates, tally, &mut edges, &mut pairs)?;
        if let Some(pairs) = pairs {
            return pairs.finish();
        }
        let path = ctx.file("neighbours");
        let mut neighbours = edges.settle(ctx, self.documents.len(), &path)?;
        let count = self.documents.len() as u64 + members.count();
        let bytes = count * if ctx.keep == Keep::First { PER_TURN } else { PER_RANKED_TURN };
        if bytes > ctx.budget.holdable() {
            return Err(ctx.budget.too_small_for(&format!("a cluster of {count} documents"), bytes));
        }
        let turns = self.turns(members)?;
        let turns = keepers.order(&mut self.lookup, turns)?;
        let mut removals = Sorter::new(ctx.place("oversized"), Removals, self.memory as usize / 8);
        let mut take = |removal| removals.push(Removals::item(removal));
        self.decide(&turns, &mut neighbours, tally, &mut take)?;
        let (mut sorted, mut bytes) = (removals.sorted()?, [0; 20]);
        let mut writer = RunWriter::create(target, Removals::label(ctx))?;
        while let Some(item) = sorted.next()? {
            Removals.put(item, &mut bytes);
            writer.push(&bytes)?;
        }
        writer.finish()?;
        drop(neighbours);
        remove_if_there(&path)?;
        existing(&ctx.place("oversized"))?.iter().try_for_each(|path| remove_if_there(path))
    }

    /// Every document with its place, equal ones included.
    fn turns(&self, mut members: Records) -> Result<Vec<(u32, u32)>, EngineError> {
        let mut turns: Vec<(u32, u32)> =
            self.documents.iter().enumerate().map(|(place, &document)| (document, place as u32)).collect();
        while let Some(bytes) = members.next()? {
            let (leader, member) = crate::store::sort::uncouple(crate::store::sort::Couples.get(bytes));
            if let Ok(place) = self.documents.binary_search(&leader) {
                turns.push((member, place as u32));
            }
        }
        Ok(turns)
    }

    /// Decides every document of the component.
    fn decide(
        self,
        turns: &[Turn],
        neighbours: &mut neighbours::OnDisk,
        tally: &mut Tally,
        take: &mut star::Take<'_>,
    ) -> Result<(), EngineError> {
        let Oversized { ctx, lookup, on_disk, documents, memory } = self;
        let floor = bucket::floor(ctx);
        let mut judge =
            DiskJudge { ctx, lookup, on_disk, part: None, records: Default::default(), memory, floor, tally };
        match ctx.recipe.cluster {
            ClusterRule::Star => judge.star(turns, neighbours, take),
            ClusterRule::Components => star::components(turns, neighbours, &documents, &mut judge, take),
        }
    }

    /// Goes through all candidates, two pieces at a time. Where only pairs that decide something are measured, the
    /// pieces have no sets, and those that are not told apart go on.
    fn go_through(
        &mut self,
        candidates: Records,
        tally: &mut Tally,
        edges: &mut Edges,
        pairs: &mut Option<RunWriter>,
    ) -> Result<(), EngineError> {
        let ctx = self.ctx;
        let all = measures_all(ctx);
        let starts = self.on_disk.pieces(ctx, self.memory / 3, all);
        let mut sorted = self.placed(candidates, &starts)?.sorted()?;
        let mut first: Option<(u32, Resident)> = None;
        let mut next = sorted.next()?;
        while let Some([one, two, ..]) = next {
            let range = |piece: u32| starts[piece as usize]..starts[piece as usize + 1];
            if first.as_ref().is_none_or(|(piece, _)| *piece != one) {
                drop(first.take());
                first = Some((one, self.load(range(one), all)?));
            }
            let second = if one == two { None } else { Some(self.load(range(two), all)?) };
            let Some((_, resident)) = &first else { break };
            let (start, other) = (range(one).start as u32, range(two).start as u32);
            let front = resident.documents().len() as u32;
            // Places in sight: those of the first piece, then those of the second.
            let inside =
                |place: u32, piece: u32| if piece == one { place - start } else { place - other + front };
            let outside = |place: u32| if place < front { place + start } else { place - front + other };
            let sight = Sight::new(ctx, resident, second.as_ref(), &mut self.lookup)?;
            let mut part = Vec::new();
            loop {
                let same = next.filter(|item| item[0] == one && item[1] == two);
                if let Some([_, _, a, b, shared @ ..]) = same {
                    part.push(Candidate { a: inside(a, one), b: inside(b, two), shared });
                    next = sorted.next()?;
                }
                if part.len() == AT_ONCE || same.is_none() {
                    ctx.check()?;
                    part.retain(|pair| !ctx.recipe.verified || sight.promising(ctx, pair));
                    if all {
                        bucket::measure(ctx, &part, &sight, true, tally, |edge, said| {
                            let edge = Edge { a: outside(edge.a), b: outside(edge.b), ..edge };
                            match pairs {
                                Some(pairs) => put_pair(&self.documents, &edge, said, pairs),
                                None => edges.push(edge.ends()),
                            }
                        })?;
                    } else {
                        for &Candidate { a, b, .. } in &part {
                            edges.push(Neighbour::ends(outside(a), outside(b)))?;
                        }
                    }
                    part.clear();
                }
                if same.is_none() {
                    break;
                }
            }
        }
        existing(&ctx.place("placed"))?.iter().try_for_each(|path| remove_if_there(path))
    }

    /// The candidates by the pieces that they are in, which begin at `starts`.
    fn placed(&self, mut candidates: Records, starts: &[usize]) -> Result<Sorter<Placed>, EngineError> {
        let ctx = self.ctx;
        existing(&ctx.place("placed"))?.iter().try_for_each(|path| remove_if_there(path))?;
        let mut sorter = Sorter::new(ctx.place("placed"), Placed, self.memory as usize / 8);
        let piece_of = |place: usize| starts.partition_point(|&start| start <= place) as u32 - 1;
        while let Some(bytes) = candidates.next()? {
            let Candidate { a, b, shared } = Candidate::decode(bytes);
            let place = |document| self.documents.binary_search(&document).map_err(|_| gather::changed(ctx));
            let (a, b) = (place(a)?, place(b)?);
            let mut item = [0; PLACED];
            item[..4].copy_from_slice(&[piece_of(a), piece_of(b), a as u32, b as u32]);
            item[4..].copy_from_slice(&shared);
            sorter.push(item)?;
        }
        Ok(sorter)
    }

    fn load(&mut self, places: Range<usize>, sets: bool) -> Result<Resident, EngineError> {
        self.on_disk.load(self.ctx, &mut self.lookup, &mut (places.start as u32..places.end as u32), sets)
    }
}

/// The neighbours of documents that are decided together.
#[derive(Default)]
struct Near {
    /// The range of the neighbours of each node in `entries`.
    places: HashMap<u32, Range<usize>>,
    entries: Vec<Neighbour>,
}

impl Near {
    fn of(&self, node: u32) -> &[Neighbour] {
        self.places.get(&node).map_or(&[], |places| &self.entries[places.clone()])
    }

    /// Returns the comparisons that some turns will need, as far as these are known already: the kept document, the one that
    /// asks, the entry.
    fn asked(&self, star: &Star, turns: &[Turn]) -> Vec<(u32, u32, usize)> {
        let mut asked = Vec::new();
        for turn in turns {
            for at in self.places.get(&turn.node).cloned().unwrap_or_default() {
                let other = self.entries[at].node;
                if star.asks(turn, other) {
                    asked.push((other, turn.node, at));
                }
            }
        }
        asked.sort_unstable();
        asked.dedup();
        asked
    }
}

/// Decides, and measures what is not in memory.
struct DiskJudge<'c, 't> {
    ctx: &'c Context<'c>,
    lookup: Lookup<'c>,
    on_disk: OnDisk,
    /// The documents that are decided together, in the form in which they are compared.
    part: Option<Resident>,
    records: [Vec<u8>; 2],
    memory: u64,
    floor: Threshold,
    tally: &'t mut Tally,
}

impl DiskJudge<'_, '_> {
    fn star(
        &mut self,
        turns: &[Turn],
        neighbours: &mut neighbours::OnDisk,
        take: &mut star::Take<'_>,
    ) -> Result<(), EngineError> {
        let mut star = Star::new(self.on_disk.spots.len(), turns);
        let mut rest = turns;
        while !rest.is_empty() {
            self.ctx.check()?;
            let (turns, mut near) = self.take_part(&star, rest, neighbours)?;
            rest = &rest[turns.len()..];
            if !measures_all(self.ctx) {
                self.ahead(near.asked(&star, turns), &mut near)?;
            }
            for turn in turns {
                star.turn(turn, near.of(turn.node), self, take)?;
            }
        }
        Ok(())
    }

    /// Brings in the next documents, as many as fit, and their neighbours.
    fn take_part<'u>(
        &mut self,
        star: &Star,
        turns: &'u [Turn],
        neighbours: &mut neighbours::OnDisk,
    ) -> Result<(&'u [Turn], Near), EngineError> {
        self.part = None;
        let Near { mut places, mut entries } = Near::default();
        let (mut filled, mut end) = (0, 0);
        while filled < self.memory / 4 && end < turns.len() {
            let turn = &turns[end];
            end += 1;
            if !star.looks(turn) || places.contains_key(&turn.node) {
                continue;
            }
            let near = neighbours.of(turn.node)?;
            places.insert(turn.node, entries.len()..entries.len() + near.len());
            entries.extend_from_slice(near);
            // An entry, and what is noted while it is asked for.
            let bytes = self.on_disk.spots[turn.node as usize].bytes;
            filled += u64::from(bytes) + OnDisk::beside(self.ctx) + 64 * near.len() as u64;
        }
        if !measures_all(self.ctx) {
            let mut nodes: Vec<u32> = places.keys().copied().collect();
            nodes.sort_unstable();
            self.part = Some(self.on_disk.load(self.ctx, &mut self.lookup, &mut nodes.into_iter(), true)?);
        }
        Ok((&turns[..end], Near { places, entries }))
    }

    /// Measures what is asked for, which is in the order of the kept documents.
    fn ahead(&mut self, asked: Vec<(u32, u32, usize)>, near: &mut Near) -> Result<(), EngineError> {
        let ctx = self.ctx;
        let mut rest = asked.as_slice();
        while let Some(own) = self.part.as_ref().filter(|_| !rest.is_empty()) {
            ctx.check()?;
            let (now, later) = rest.split_at(self.on_disk.fitting(ctx, rest, self.memory / 4));
            rest = later;
            let mut others = now.chunk_by(|a, b| a.0 == b.0).map(|same| same[0].0);
            let kept = self.on_disk.load(ctx, &mut self.lookup, &mut others, true)?;
            let document = |node: u32| self.on_disk.spots[node as usize].document;
            let compare = |&(other, node, _): &(u32, u32, usize)| {
                if ctx.watch.stopped() {
                    return None;
                }
                let (node, other) = (own.index(document(node))?, kept.index(document(other))?);
                ctx.measure.compare(own.set(node), kept.set(other), self.floor)
            };
            let found: Vec<Option<Measured>> = now.par_iter().with_min_len(16).map(compare).collect();
            ctx.check()?;
            for (&(other, node, at), measured) in now.iter().zip(found) {
                bucket::count(ctx, self.tally, [document(node), document(other)], measured);
                near.entries[at].settle(measured);
            }
        }
        Ok(())
    }

    /// Makes sure that two documents are at hand.
    fn fetch(&mut self, places: [u32; 2]) -> Result<(), EngineError> {
        self.ctx.check()?;
        self.on_disk.tidy();
        places.into_iter().try_for_each(|place| match self.resident(place) {
            Some(_) => Ok(()),
            None => self.on_disk.fetch(self.ctx, place),
        })
    }

    fn resident(&self, place: u32) -> Option<&[u64]> {
        let resident = self.part.as_ref()?;
        resident.index(self.on_disk.spots[place as usize].document).map(|index| resident.set(index))
    }

    fn set(&self, place: u32) -> &[u64] {
        self.resident(place).unwrap_or_else(|| self.on_disk.get(place))
    }

    fn both(&mut self, a: u32, b: u32) -> Result<Both<'_>, EngineError> {
        self.tally.hops += 1;
        if self.ctx.measures {
            self.fetch([a, b])?;
        }
        if !self.ctx.recipe.verified {
            for (slot, place) in [a, b].into_iter().enumerate() {
                let document = self.on_disk.spots[place as usize].document;
                self.records[slot] = self.lookup.record(document)?.to_vec();
            }
        }
        let records = [self.records[0].as_slice(), self.records[1].as_slice()];
        Ok(Both { records, sets: [self.set(a), self.set(b)] })
    }
}

impl Judge for DiskJudge<'_, '_> {
    fn candidate(&mut self, a: u32, b: u32) -> Result<Option<Measured>, EngineError> {
        self.fetch([a, b])?;
        let measured = self.ctx.measure.compare(self.set(a), self.set(b), self.floor);
        let documents = [a, b].map(|place| self.on_disk.spots[place as usize].document);
        bucket::count(self.ctx, self.tally, documents, measured);
        Ok(measured)
    }

    fn near(&mut self, a: u32, b: u32) -> Result<Option<Measured>, EngineError> {
        let ctx = self.ctx;
        Ok(self.both(a, b)?.compare(ctx, ctx.measure.threshold))
    }

    fn any(&mut self, a: u32, b: u32) -> Result<f64, EngineError> {
        let ctx = self.ctx;
        let measured = self.both(a, b)?.compare(ctx, Threshold::LOWEST);
        Ok(bucket::any(ctx, measured))
    }
}

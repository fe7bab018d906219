//! A component that does not fit into memory: documents, candidates and edges stay in files. Pairs are measured two
//! pieces of the component at a time; documents are decided one after the other, with what a hop needs read from disk.

use std::path::Path;

use super::bucket::{self, AT_ONCE, Both, Sight, put_pair};
use super::neighbours::Edges;
use super::sets::{OnDisk, Resident};
use super::tally::Tally;
use super::{Pairs, Removals};
use crate::candidates::Candidate;
use crate::catalogue::{Catalogue, Lookup};
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::gather;
use crate::keepers::Keepers;
use crate::measure::Measured;
use crate::panel::MOST_METHODS;
use crate::recipe::Task;
use crate::star::{Edge, Judge};
use crate::store::file::{Records, RunWriter};
use crate::store::sort::{Codec, Sorter, existing};

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
    /// Where each piece begins.
    pieces: Vec<usize>,
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
        let (mut pieces, mut filled) = (vec![0], 0);
        let more = ctx.panel.width() as u64 + 96;
        for (place, spot) in on_disk.spots.iter().enumerate() {
            let bytes = u64::from(spot.bytes) + more;
            if filled > 0 && filled + bytes > memory / 3 {
                pieces.push(place);
                filled = 0;
            }
            filled += bytes;
        }
        pieces.push(documents.len());
        Ok(Oversized { ctx, lookup: Lookup::new(ctx, catalogue), on_disk, documents, pieces, memory })
    }

    fn piece_of(&self, place: usize) -> u32 {
        self.pieces.partition_point(|&start| start <= place) as u32 - 1
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
            Task::Pairs => Some(RunWriter::create(target, Pairs::label(ctx))?),
            Task::Dedup => None,
        };
        self.measure(candidates, tally, &mut edges, &mut pairs)?;
        if let Some(pairs) = pairs {
            return pairs.finish();
        }
        let path = ctx.file("neighbours");
        let mut neighbours = edges.settle(ctx, self.documents.len(), &path)?;
        let turns = self.turns(members)?;
        let turns = keepers.order(&mut self.lookup, turns)?;
        let mut removals = Sorter::new(ctx.place("oversized"), Removals, self.memory as usize / 8);
        let leaders = std::mem::take(&mut self.documents);
        let mut judge = DiskJudge {
            ctx,
            lookup: self.lookup,
            on_disk: self.on_disk,
            records: Default::default(),
            hops: 0,
        };
        let mut take = |removal| removals.push(Removals::item(removal));
        bucket::decide(ctx, &turns, &mut neighbours, &leaders, &mut judge, &mut take)?;
        tally.hops += judge.hops;
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

    fn measure(
        &mut self,
        mut candidates: Records,
        tally: &mut Tally,
        edges: &mut Edges,
        pairs: &mut Option<RunWriter>,
    ) -> Result<(), EngineError> {
        let ctx = self.ctx;
        existing(&ctx.place("placed"))?.iter().try_for_each(|path| remove_if_there(path))?;
        let mut sorter = Sorter::new(ctx.place("placed"), Placed, self.memory as usize / 8);
        while let Some(bytes) = candidates.next()? {
            let Candidate { a, b, shared } = Candidate::decode(bytes);
            let place = |document| self.documents.binary_search(&document).map_err(|_| gather::changed(ctx));
            let (a, b) = (place(a)?, place(b)?);
            let mut item = [0; PLACED];
            item[..4].copy_from_slice(&[self.piece_of(a), self.piece_of(b), a as u32, b as u32]);
            item[4..].copy_from_slice(&shared);
            sorter.push(item)?;
        }
        let mut sorted = sorter.sorted()?;
        let mut first: Option<(u32, Resident)> = None;
        let mut next = sorted.next()?;
        while let Some([one, two, ..]) = next {
            if first.as_ref().is_none_or(|(piece, _)| *piece != one) {
                drop(first.take());
                first = Some((one, self.load(one)?));
            }
            let second = if one == two { None } else { Some(self.load(two)?) };
            let Some((_, resident)) = &first else { break };
            let (start, other) = (self.pieces[one as usize] as u32, self.pieces[two as usize] as u32);
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
                    bucket::measure(ctx, &part, &sight, tally, |edge| {
                        let edge = Edge { a: outside(edge.a), b: outside(edge.b), ..edge };
                        match pairs {
                            Some(pairs) => put_pair(&self.documents, &edge, pairs),
                            None => edges.push(&edge),
                        }
                    })?;
                    part.clear();
                }
                if same.is_none() {
                    break;
                }
            }
        }
        existing(&ctx.place("placed"))?.iter().try_for_each(|path| remove_if_there(path))
    }

    fn load(&mut self, piece: u32) -> Result<Resident, EngineError> {
        let places = self.pieces[piece as usize]..self.pieces[piece as usize + 1];
        self.on_disk.load(self.ctx, &mut self.lookup, places)
    }
}

struct DiskJudge<'c> {
    ctx: &'c Context<'c>,
    lookup: Lookup<'c>,
    on_disk: OnDisk,
    records: [Vec<u8>; 2],
    hops: u64,
}

impl DiskJudge<'_> {
    fn both(&mut self, a: u32, b: u32) -> Result<Both<'_>, EngineError> {
        self.hops += 1;
        self.on_disk.tidy();
        for (slot, place) in [a, b].into_iter().enumerate() {
            if self.ctx.measures {
                self.on_disk.fetch(self.ctx, place)?;
            }
            if !self.ctx.recipe.verified {
                let document = self.on_disk.spots[place as usize].document;
                self.records[slot] = self.lookup.record(document)?.to_vec();
            }
        }
        let records = [self.records[0].as_slice(), self.records[1].as_slice()];
        Ok(Both { records, sets: [self.on_disk.get(a), self.on_disk.get(b)] })
    }
}

impl Judge for DiskJudge<'_> {
    fn near(&mut self, a: u32, b: u32) -> Result<Option<Measured>, EngineError> {
        let ctx = self.ctx;
        Ok(self.both(a, b)?.compare(ctx, ctx.measure.threshold))
    }

    fn any(&mut self, a: u32, b: u32) -> Result<f64, EngineError> {
        let ctx = self.ctx;
        Ok(self.both(a, b)?.any(ctx))
    }
}

//! A component that does not fit into memory: documents, candidates and edges stay in files. Candidates are gone through
//! two pieces of the component at a time, to measure them or at least to tell those apart that need not be. Documents
//! are decided as many at a time as fit: what these will ask for is measured first, the kept documents that it takes
//! brought in piece by piece; what comes up on the way is read from disk one by one.
//!
//! A document that waits to be decided takes 36 bytes of memory, and 100 where documents are not kept in the order of the
//! input.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use lookalike_model::Threshold;
use lookalike_store::file::{Records, RunWriter};
use lookalike_store::sort::{Codec, Sorter, existing};
use rayon::prelude::*;

use super::bucket::{self, BATCH_PAIRS, DocumentPair, PairView, put_pair};
use super::neighbours::{self, EdgeWriter};
use super::sets::{Resident, SpooledDocuments};
use super::star::{self, Adjacency, Contender, Edge, Judge, Neighbour, Star};
use super::tally::Tally;
use super::{Pairs, Removals, measures_all};
use crate::catalogue::{Catalogue, Lookup};
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::gather;
use crate::keep_order::KeepOrder;
use crate::measure::Measured;
use crate::panel::MOST_METHODS;
use crate::recipe::{ClusterRule, Keep, Task};
use crate::stages::group::Candidate;

/// Bytes that a document takes while it waits to be decided, and while it is put into an order by something else than its number.
const PER_CONTENDER: u64 = 36;
const PER_RANKED_CONTENDER: u64 = 100;

/// Numbers of a candidate: two pieces, two places, and the keys shared by method.
const CANDIDATE_FIELDS: usize = 4 + MOST_METHODS;

/// Candidates in a file, by the pieces that their documents are in; documents are named by their places.
#[derive(Debug, Clone, Copy)]
struct CandidatesByPiece;

impl Codec for CandidatesByPiece {
    type Item = [u32; CANDIDATE_FIELDS];
    const KIND: &'static str = "placed";

    fn width(self) -> usize {
        4 * CANDIDATE_FIELDS
    }

    fn put(self, item: [u32; CANDIDATE_FIELDS], out: &mut [u8]) {
        for (slot, number) in out.as_chunks_mut::<4>().0.iter_mut().zip(item) {
            *slot = number.to_le_bytes();
        }
    }

    fn get(self, bytes: &[u8]) -> [u32; CANDIDATE_FIELDS] {
        std::array::from_fn(|index| {
            u32::from_le_bytes(bytes[index * 4..index * 4 + 4].try_into().expect("four bytes"))
        })
    }
}

/// The component under way.
pub(super) struct OversizedComponent<'c> {
    ctx: &'c Context<'c>,
    lookup: Lookup<'c>,
    spooled: SpooledDocuments,
    documents: Vec<u32>,
    memory: u64,
}

impl<'c> OversizedComponent<'c> {
    /// Takes the documents of a spool; at most about `memory` bytes of them are in memory at a time.
    pub(super) fn open(
        ctx: &'c Context<'c>,
        catalogue: &'c Catalogue,
        spool: &Path,
        memory: u64,
    ) -> Result<Self, EngineError> {
        let spooled = SpooledDocuments::open(ctx, spool)?;
        let documents: Vec<u32> = spooled.locations.iter().map(|location| location.document).collect();
        Ok(OversizedComponent { ctx, lookup: Lookup::new(ctx, catalogue), spooled, documents, memory })
    }

    /// Measures and decides, and writes what came out to `target`.
    pub(super) fn run(
        mut self,
        candidates: Records,
        members: Records,
        keep_order: &KeepOrder,
        target: &Path,
        tally: &mut Tally,
    ) -> Result<(), EngineError> {
        let ctx = self.ctx;
        let mut edges = EdgeWriter::new(ctx, self.memory as usize / 8)?;
        let mut pairs = match ctx.recipe.task {
            Task::Dedup => None,
            Task::Pairs | Task::Compare => Some(RunWriter::create(target, Pairs::label(ctx))?),
        };
        self.process_candidates(candidates, tally, &mut edges, &mut pairs)?;
        if let Some(pairs) = pairs {
            return Ok(pairs.finish()?);
        }
        let path = ctx.file("neighbours");
        let mut neighbours = edges.finish(ctx, self.documents.len(), &path)?;
        let count = self.documents.len() as u64 + members.count();
        let bytes = count * if ctx.keep == Keep::First { PER_CONTENDER } else { PER_RANKED_CONTENDER };
        // Asked before the list is built: contenders are in memory all at once, whatever the size of the
        // pieces.
        if bytes > ctx.budget.reservable() {
            return Err(ctx.budget.too_small_for(&format!("a cluster of {count} documents"), bytes));
        }
        let contenders = self.contenders(members)?;
        let contenders = keep_order.contenders(&mut self.lookup, contenders)?;
        // Removals come in keep order, and the file has them in the order of documents, like that of any
        // bucket.
        let mut removals = Sorter::new(ctx.run_location("oversized"), Removals, self.memory as usize / 8);
        let mut take = |removal| Ok(removals.push(Removals::item(removal))?);
        self.decide(&contenders, &mut neighbours, tally, &mut take)?;
        let (mut sorted, mut bytes) = (removals.sorted()?, [0; 20]);
        let mut writer = RunWriter::create(target, Removals::label(ctx))?;
        while let Some(item) = sorted.next()? {
            Removals.put(item, &mut bytes);
            writer.push(&bytes)?;
        }
        writer.finish()?;
        drop(neighbours);
        remove_if_there(&path)?;
        existing(&ctx.run_location("oversized"))?.iter().try_for_each(|path| remove_if_there(path))
    }

    /// Returns every document with its place, equal ones included.
    fn contenders(&self, mut members: Records) -> Result<Vec<(u32, u32)>, EngineError> {
        let mut contenders: Vec<(u32, u32)> =
            self.documents.iter().enumerate().map(|(place, &document)| (document, place as u32)).collect();
        while let Some(bytes) = members.next()? {
            let (leader, member) = lookalike_store::sort::uncouple(lookalike_store::sort::Couples.get(bytes));
            if let Ok(place) = self.documents.binary_search(&leader) {
                contenders.push((member, place as u32));
            }
        }
        Ok(contenders)
    }

    /// Decides every document of the component.
    fn decide(
        self,
        contenders: &[Contender],
        neighbours: &mut neighbours::NeighbourFile,
        tally: &mut Tally,
        take: &mut star::RemovalSink<'_>,
    ) -> Result<(), EngineError> {
        let OversizedComponent { ctx, lookup, spooled, documents, memory } = self;
        let floor = bucket::floor(ctx);
        let mut judge =
            DiskJudge { ctx, lookup, spooled, part: None, records: Default::default(), memory, floor, tally };
        match ctx.recipe.cluster {
            ClusterRule::Star => judge.star(contenders, neighbours, take),
            ClusterRule::Components => star::components(contenders, neighbours, &documents, &mut judge, take),
        }
    }

    /// Goes through all candidates, two pieces at a time. Where only pairs that decide something are measured, the
    /// pieces have no sets, and those that are not told apart go on.
    fn process_candidates(
        &mut self,
        candidates: Records,
        tally: &mut Tally,
        edges: &mut EdgeWriter,
        pairs: &mut Option<RunWriter>,
    ) -> Result<(), EngineError> {
        let ctx = self.ctx;
        let all = measures_all(ctx);
        // Two pieces are in memory at a time, and a third of it is left for all else. Sorted by pieces, all
        // candidates of two pieces come together, and the first piece stays while the second one changes.
        let starts = self.spooled.pieces(ctx, self.memory / 3, all);
        let mut sorted = self.by_piece(candidates, &starts)?.sorted()?;
        let mut first: Option<(u32, Resident)> = None;
        let mut next = sorted.next()?;
        while let Some([one, two, ..]) = next {
            let range = |piece: u32| starts[piece as usize]..starts[piece as usize + 1];
            if first.as_ref().is_none_or(|(piece, _)| *piece != one) {
                // By itself: an assignment would hold the old piece until the new one has been read.
                drop(first.take());
                first = Some((one, self.load(range(one), all)?));
            }
            let second = if one == two { None } else { Some(self.load(range(two), all)?) };
            let Some((_, resident)) = &first else { break };
            let (start, other) = (range(one).start as u32, range(two).start as u32);
            let front = resident.documents().len() as u32;
            // Places in the view: those of the first piece, then those of the second.
            let inside =
                |place: u32, piece: u32| if piece == one { place - start } else { place - other + front };
            let outside = |place: u32| if place < front { place + start } else { place - front + other };
            let view = PairView::new(ctx, resident, second.as_ref(), &mut self.lookup)?;
            let mut part = Vec::new();
            loop {
                let same = next.filter(|item| item[0] == one && item[1] == two);
                if let Some([_, _, a, b, shared @ ..]) = same {
                    part.push(Candidate { a: inside(a, one), b: inside(b, two), shared });
                    next = sorted.next()?;
                }
                if part.len() == BATCH_PAIRS || same.is_none() {
                    ctx.check()?;
                    part.retain(|pair| !ctx.recipe.verified || view.promising(ctx, pair));
                    if all {
                        bucket::measure(ctx, &part, &view, true, tally, |edge, flags| {
                            let edge = Edge { a: outside(edge.a), b: outside(edge.b), ..edge };
                            match pairs {
                                Some(pairs) => put_pair(&self.documents, &edge, flags, pairs),
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
        existing(&ctx.run_location("placed"))?.iter().try_for_each(|path| remove_if_there(path))
    }

    /// The candidates by the pieces that they are in, which begin at `starts`.
    fn by_piece(
        &self,
        mut candidates: Records,
        starts: &[usize],
    ) -> Result<Sorter<CandidatesByPiece>, EngineError> {
        let ctx = self.ctx;
        existing(&ctx.run_location("placed"))?.iter().try_for_each(|path| remove_if_there(path))?;
        let mut sorter = Sorter::new(ctx.run_location("placed"), CandidatesByPiece, self.memory as usize / 8);
        let piece_of = |place: usize| starts.partition_point(|&start| start <= place) as u32 - 1;
        while let Some(bytes) = candidates.next()? {
            let Candidate { a, b, shared } = Candidate::decode(bytes);
            // A candidate names documents that are in the spool, unless the input was changed since.
            let place =
                |document| self.documents.binary_search(&document).map_err(|_| gather::input_changed(ctx));
            let (a, b) = (place(a)?, place(b)?);
            let mut item = [0; CANDIDATE_FIELDS];
            // The first document of a candidate is the lower one, and so is its piece: two pieces meet in one
            // order only.
            item[..4].copy_from_slice(&[piece_of(a), piece_of(b), a as u32, b as u32]);
            item[4..].copy_from_slice(&shared);
            sorter.push(item)?;
        }
        Ok(sorter)
    }

    fn load(&mut self, places: Range<usize>, sets: bool) -> Result<Resident, EngineError> {
        self.spooled.load(self.ctx, &mut self.lookup, &mut (places.start as u32..places.end as u32), sets)
    }
}

/// The neighbours of documents that are decided together.
#[derive(Default)]
struct NeighbourBatch {
    /// The range of the neighbours of each node in `entries`.
    places: HashMap<u32, Range<usize>>,
    entries: Vec<Neighbour>,
}

impl NeighbourBatch {
    fn of(&self, node: u32) -> &[Neighbour] {
        self.places.get(&node).map_or(&[], |places| &self.entries[places.clone()])
    }

    /// Returns the comparisons that some contenders will need, as far as these are known already: the kept document, the one that
    /// asks, the entry.
    fn needed_comparisons(&self, star: &Star, contenders: &[Contender]) -> Vec<(u32, u32, usize)> {
        let mut asked = Vec::new();
        for contender in contenders {
            for at in self.places.get(&contender.node).cloned().unwrap_or_default() {
                let other = self.entries[at].node;
                if star.needs_similarity(contender, other) {
                    asked.push((other, contender.node, at));
                }
            }
        }
        // Equal documents are one node, and ask for the same entries.
        asked.sort_unstable();
        asked.dedup();
        asked
    }
}

/// Decides, and measures what is not in memory.
struct DiskJudge<'c, 't> {
    ctx: &'c Context<'c>,
    lookup: Lookup<'c>,
    spooled: SpooledDocuments,
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
        contenders: &[Contender],
        neighbours: &mut neighbours::NeighbourFile,
        take: &mut star::RemovalSink<'_>,
    ) -> Result<(), EngineError> {
        let mut star = Star::new(self.spooled.locations.len(), contenders);
        let mut rest = contenders;
        while !rest.is_empty() {
            self.ctx.check()?;
            // What contenders need of those that are kept by now is measured together, in the order of these.
            // What depends on a decision among them comes up in `decide`, and is read one by one.
            let (contenders, mut near) = self.load_part(&star, rest, neighbours)?;
            rest = &rest[contenders.len()..];
            if !measures_all(self.ctx) {
                self.measure_ahead(near.needed_comparisons(&star, contenders), &mut near)?;
            }
            for contender in contenders {
                star.decide(contender, near.of(contender.node), self, take)?;
            }
        }
        Ok(())
    }

    /// Brings in the next documents, as many as fit, and their neighbours.
    fn load_part<'u>(
        &mut self,
        star: &Star,
        contenders: &'u [Contender],
        neighbours: &mut neighbours::NeighbourFile,
    ) -> Result<(&'u [Contender], NeighbourBatch), EngineError> {
        self.part = None;
        let NeighbourBatch { mut places, mut entries } = NeighbourBatch::default();
        let (mut filled, mut end) = (0, 0);
        // One at least, however little memory there is: the work must come to an end.
        while (end == 0 || filled < self.memory / 4) && end < contenders.len() {
            let contender = &contenders[end];
            end += 1;
            if !star.needs_neighbours(contender) || places.contains_key(&contender.node) {
                continue;
            }
            let near = neighbours.of(contender.node)?;
            places.insert(contender.node, entries.len()..entries.len() + near.len());
            entries.extend_from_slice(near);
            // An entry, and what is noted while it is asked for.
            let bytes = self.spooled.locations[contender.node as usize].bytes;
            filled += u64::from(bytes) + SpooledDocuments::overhead_bytes(self.ctx) + 64 * near.len() as u64;
        }
        if !measures_all(self.ctx) {
            let mut nodes: Vec<u32> = places.keys().copied().collect();
            // The map gives its keys in any order, and documents are loaded in theirs.
            nodes.sort_unstable();
            self.part = Some(self.spooled.load(self.ctx, &mut self.lookup, &mut nodes.into_iter(), true)?);
        }
        Ok((&contenders[..end], NeighbourBatch { places, entries }))
    }

    /// Measures what is asked for, which is in the order of the kept documents.
    fn measure_ahead(
        &mut self,
        asked: Vec<(u32, u32, usize)>,
        near: &mut NeighbourBatch,
    ) -> Result<(), EngineError> {
        let ctx = self.ctx;
        let mut rest = asked.as_slice();
        while let Some(own) = self.part.as_ref().filter(|_| !rest.is_empty()) {
            ctx.check()?;
            let (now, later) = rest.split_at(self.spooled.fitting(ctx, rest, self.memory / 4));
            rest = later;
            let mut others = now.chunk_by(|a, b| a.0 == b.0).map(|same| same[0].0);
            let kept = self.spooled.load(ctx, &mut self.lookup, &mut others, true)?;
            let document = |node: u32| self.spooled.locations[node as usize].document;
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
                near.entries[at].set_measured(measured);
            }
        }
        Ok(())
    }

    /// Makes sure that two documents are in memory.
    fn fetch(&mut self, places: [u32; 2]) -> Result<(), EngineError> {
        self.ctx.check()?;
        // Before the two are brought in, and never behind: both must be there when they are compared.
        self.spooled.tidy();
        places.into_iter().try_for_each(|place| match self.resident(place) {
            Some(_) => Ok(()),
            None => self.spooled.fetch(self.ctx, place),
        })
    }

    fn resident(&self, place: u32) -> Option<&[u64]> {
        let resident = self.part.as_ref()?;
        resident.index(self.spooled.locations[place as usize].document).map(|index| resident.set(index))
    }

    fn set(&self, place: u32) -> &[u64] {
        self.resident(place).unwrap_or_else(|| self.spooled.get(place))
    }

    fn pair(&mut self, a: u32, b: u32) -> Result<DocumentPair<'_>, EngineError> {
        self.tally.hops += 1;
        if self.ctx.measures {
            self.fetch([a, b])?;
        }
        if !self.ctx.recipe.verified {
            for (slot, place) in [a, b].into_iter().enumerate() {
                let document = self.spooled.locations[place as usize].document;
                // Copied, since a lookup lends one record at a time.
                self.records[slot] = self.lookup.record(document)?.to_vec();
            }
        }
        let records = [self.records[0].as_slice(), self.records[1].as_slice()];
        Ok(DocumentPair { records, sets: [self.set(a), self.set(b)] })
    }
}

impl Judge for DiskJudge<'_, '_> {
    fn candidate(&mut self, a: u32, b: u32) -> Result<Option<Measured>, EngineError> {
        self.fetch([a, b])?;
        let measured = self.ctx.measure.compare(self.set(a), self.set(b), self.floor);
        let documents = [a, b].map(|place| self.spooled.locations[place as usize].document);
        bucket::count(self.ctx, self.tally, documents, measured);
        Ok(measured)
    }

    fn near(&mut self, a: u32, b: u32) -> Result<Option<Measured>, EngineError> {
        let ctx = self.ctx;
        Ok(self.pair(a, b)?.compare(ctx, ctx.measure.threshold))
    }

    fn any(&mut self, a: u32, b: u32) -> Result<f64, EngineError> {
        let ctx = self.ctx;
        let measured = self.pair(a, b)?.compare(ctx, Threshold::LOWEST);
        Ok(bucket::any(ctx, measured))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobRecipe;
    use crate::stages::verify::star::Removal;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::recipe;
    use lookalike_store::file::Run;
    use lookalike_store::sort::{Couples, couple};
    use lookalike_store::symbols::{BlockBuilder, SpoolWriter};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn candidates_by_piece_are_read_back(item in prop::array::uniform12(any::<u32>())) {
            let mut bytes = [0; 4 * CANDIDATE_FIELDS];
            CandidatesByPiece.put(item, &mut bytes);
            prop_assert_eq!(CandidatesByPiece.width(), bytes.len());
            prop_assert_eq!(CandidatesByPiece.get(&bytes), item);
        }
    }

    /// A job on documents 0 to 4, of which the second and third are near the first.
    fn test(recipe: JobRecipe) -> StageTest {
        let words = |numbers: std::ops::Range<u32>| {
            numbers.map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ")
        };
        let texts = [words(0..20), words(1..21), words(2..22), words(50..70), words(0..20)];
        StageTest::new(JobRecipe { shingle: 1, ..recipe }, &as_lines(&texts.each_ref().map(String::as_str)))
    }

    /// Goes through the component of documents 0 to 3, of which document 4 equals the first, in so much memory.
    fn run(ctx: &Context<'_>, memory: u64) -> Tally {
        let catalogue = Catalogue::load(ctx).unwrap();
        let spool = ctx.file("component.spool");
        let mut writer = SpoolWriter::create(&spool, ctx.stamp).unwrap();
        let (mut builder, mut bytes) = (BlockBuilder::with_limit(10), Vec::new());
        gather::symbols(ctx, &catalogue, &|document| document < 4, &mut |document, symbols| {
            builder.push(document, symbols);
            builder.encode(&mut bytes);
            Ok(())
        })
        .unwrap();
        writer.push(&bytes).unwrap();
        writer.finish().unwrap();
        let candidate = |(a, b)| Candidate { a, b, shared: [60, 0, 0, 0, 0, 0, 0, 0] };
        crate::stages::group::import_candidates(
            ctx,
            [(0, 1), (0, 2), (1, 2), (2, 3)].into_iter().map(candidate),
            0,
        )
        .unwrap();
        let label = ctx.label(Couples::KIND, Couples.width());
        let mut members = RunWriter::create(&ctx.file("members"), label).unwrap();
        members.push(&couple(0, 4).to_le_bytes()).unwrap();
        members.finish().unwrap();
        let members = Run::open(&ctx.file("members"), label).unwrap().records();
        let mut tally = Tally::default();
        let keep_order = KeepOrder::new(ctx, &catalogue).unwrap();
        let component = OversizedComponent::open(ctx, &catalogue, &spool, memory).unwrap();
        let candidates = crate::stages::group::open_candidates(ctx).unwrap();
        component.run(candidates, members, &keep_order, &ctx.file("out"), &mut tally).unwrap();
        tally
    }

    fn removals(ctx: &Context<'_>) -> Vec<Removal> {
        let mut records = Run::open(&ctx.file("out"), Removals::label(ctx)).unwrap().records();
        let mut found = Vec::new();
        while let Some(bytes) = records.next().unwrap() {
            found.push(Removals::removal(Removals.get(bytes)));
        }
        found
    }

    fn removal(document: u32, similarity: f64) -> Removal {
        Removal { document, witness: 0, similarity, via: 0 }
    }

    #[test]
    fn a_component_is_decided_in_any_memory() {
        for memory in [1, 500, 1 << 20] {
            let test = test(recipe("exact"));
            let ctx = test.sketched();
            let tally = run(&ctx, memory);
            let expected = [removal(1, 19.0 / 21.0), removal(2, 18.0 / 22.0), removal(4, 1.0)];
            assert_eq!(removals(&ctx), expected, "{memory}");
            assert_eq!(tally.reached, 2);
            assert!(!ctx.file("neighbours").exists() && !ctx.file("placed.000000").exists());
        }
    }

    #[test]
    fn a_component_may_go_for_its_first_document() {
        for memory in [1, 1 << 20] {
            let test = test(JobRecipe { cluster: ClusterRule::Components, ..recipe("exact") });
            let ctx = test.sketched();
            run(&ctx, memory);
            let found: Vec<(u32, u32)> =
                removals(&ctx).iter().map(|one| (one.document, one.witness)).collect();
            assert_eq!(found, [(1, 0), (2, 0), (4, 0)], "{memory}");
        }
    }

    #[test]
    fn pairs_of_a_component_are_listed_in_any_memory() {
        for memory in [1, 500, 1 << 20] {
            let test = test(JobRecipe { task: Task::Pairs, ..recipe("exact") });
            let ctx = test.sketched();
            run(&ctx, memory);
            let mut records = Run::open(&ctx.file("out"), Pairs::label(&ctx)).unwrap().records();
            let mut found = Vec::new();
            while let Some(bytes) = records.next().unwrap() {
                let (pair, forward, ..) = Pairs.get(bytes);
                found.push((pair, f64::from_bits(forward)));
            }
            found.sort_by_key(|one| one.0);
            let near = |a, b, shared: f64| (couple(a, b), shared / (40.0 - shared));
            assert_eq!(found, [near(0, 1, 19.0), near(0, 2, 18.0), near(1, 2, 19.0)], "{memory}");
        }
    }

    #[test]
    fn comparisons_that_are_needed_come_by_kept_document() {
        let contenders = [0, 1, 2].map(|node| Contender { document: node, node, reference: false });
        let mut star = Star::new(3, &contenders);
        let mut batch = NeighbourBatch::default();
        for (node, near) in [(1, vec![0, 2]), (2, vec![0, 1])] {
            let start = batch.entries.len();
            batch
                .entries
                .extend(near.into_iter().map(|near| Neighbour { node: near, ..Neighbour::default() }));
            batch.places.insert(node, start..batch.entries.len());
        }
        assert_eq!(batch.needed_comparisons(&star, &contenders[1..]), [], "nothing is kept yet");
        /// Never asked: the first document has no neighbours.
        struct Nobody;
        impl Judge for Nobody {
            fn candidate(&mut self, _: u32, _: u32) -> Result<Option<Measured>, EngineError> {
                unreachable!("it has no candidates")
            }
            fn near(&mut self, _: u32, _: u32) -> Result<Option<Measured>, EngineError> {
                unreachable!("it has no neighbours")
            }
            fn any(&mut self, _: u32, _: u32) -> Result<f64, EngineError> {
                unreachable!("no components are asked for")
            }
        }
        star.decide(&contenders[0], &[], &mut Nobody, &mut |_| Ok(())).unwrap();
        assert_eq!(batch.needed_comparisons(&star, &contenders[1..]), [(0, 1, 0), (0, 2, 2)]);
        assert_eq!((batch.of(1).len(), batch.of(7).len()), (2, 0));
    }
}

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

use lookalike_model::{Candidate, DocNumber, MOST_METHODS, NodeId, Removal, SharedKeys, Threshold};
use lookalike_store::file::{Records, RunWriter};
use lookalike_store::sort::{Codec, Couples, Sorter, existing};
use rayon::prelude::*;

use super::bucket::{self, BATCH_PAIRS, DocumentPair, PairView, ViewCandidate, ViewIndex, put_pair};
use super::neighbours::{EdgeWriter, NeighbourFile};
use super::sets::{DocumentsOnDisk, NeededComparison, Resident};
use super::star::{self, Adjacency, Contender, Edge, Judge, Neighbour, Star};
use super::tally::Tally;
use super::{Pairs, Removals, measures_all};
use crate::catalogue::{Catalogue, Lookup};
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::gather;
use crate::keep_order::KeepOrder;
use crate::measure::Measured;
use crate::recipe::{ClusterRule, Keep, Task};
use crate::stages::collapse::ClassMember;

/// Bytes that a document takes while it waits to be decided, and while it is put into an order by something else than its number.
const PER_CONTENDER: u64 = 36;
const PER_RANKED_CONTENDER: u64 = 100;

/// A candidate by the pieces that its documents are in, which it orders by first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PieceCandidate {
    pieces: [u32; 2],
    nodes: [NodeId; 2],
    shared: SharedKeys,
}

/// Numbers of a candidate: two pieces, two nodes, and the keys shared by method.
const CANDIDATE_FIELDS: usize = 4 + MOST_METHODS;

/// Converts candidates to and from their bytes: their numbers, one behind the other.
#[derive(Debug, Clone, Copy)]
struct CandidatesByPiece;

impl Codec for CandidatesByPiece {
    type Item = PieceCandidate;
    const KIND: &'static str = "placed";

    fn width(self) -> usize {
        4 * CANDIDATE_FIELDS
    }

    fn put(self, item: PieceCandidate, out: &mut [u8]) {
        let PieceCandidate { pieces, nodes, shared } = item;
        let numbers = pieces.into_iter().chain(nodes.map(NodeId::get)).chain(shared);
        for (slot, number) in out.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
            *slot = number.to_le_bytes();
        }
    }

    fn get(self, bytes: &[u8]) -> PieceCandidate {
        let number = |index: usize| {
            u32::from_le_bytes(bytes[index * 4..index * 4 + 4].try_into().expect("four bytes"))
        };
        PieceCandidate {
            pieces: [number(0), number(1)],
            nodes: [number(2), number(3)].map(NodeId::new),
            shared: std::array::from_fn(|method| number(4 + method)),
        }
    }
}

/// The component under way.
pub(super) struct OversizedComponent<'c> {
    ctx: &'c Context<'c>,
    lookup: Lookup<'c>,
    on_disk: DocumentsOnDisk,
    /// In order: the node of each is its index.
    documents: Vec<DocNumber>,
    memory: u64,
}

impl<'c> OversizedComponent<'c> {
    /// Takes the documents of a file; at most about `memory` bytes of them are in memory at a time.
    pub(super) fn open(
        ctx: &'c Context<'c>,
        catalogue: &'c Catalogue,
        symbols: &Path,
        memory: u64,
    ) -> Result<Self, EngineError> {
        let on_disk = DocumentsOnDisk::open(ctx, symbols)?;
        let documents: Vec<DocNumber> = on_disk.locations.iter().map(|location| location.document).collect();
        Ok(OversizedComponent { ctx, lookup: Lookup::new(ctx, catalogue), on_disk, documents, memory })
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
        let neighbours = edges.finish(ctx, self.documents.len(), &path)?;
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
        let mut take = |removal| Ok(removals.push(removal)?);
        self.decide(&contenders, neighbours, tally, &mut take)?;
        let (mut sorted, mut bytes) = (removals.sorted()?, [0; Removal::WIDTH]);
        let mut writer = RunWriter::create(target, Removals::label(ctx))?;
        while let Some(removal) = sorted.next()? {
            Removals.put(removal, &mut bytes);
            writer.push(&bytes)?;
        }
        writer.finish()?;
        remove_if_there(&path)?;
        existing(&ctx.run_location("oversized"))?.iter().try_for_each(|path| remove_if_there(path))
    }

    /// Returns every document with its node, equal ones included.
    fn contenders(&self, mut members: Records) -> Result<Vec<(DocNumber, NodeId)>, EngineError> {
        let own = |(index, &document): (usize, &DocNumber)| (document, NodeId::from_index(index));
        let mut contenders: Vec<(DocNumber, NodeId)> = self.documents.iter().enumerate().map(own).collect();
        while let Some(bytes) = members.next()? {
            let ClassMember { class, document } = ClassMember::unpack(Couples.get(bytes));
            if let Ok(index) = self.documents.binary_search(&class.leader()) {
                contenders.push((document, NodeId::from_index(index)));
            }
        }
        Ok(contenders)
    }

    /// Decides every document of the component.
    fn decide(
        self,
        contenders: &[Contender],
        mut neighbours: NeighbourFile<Neighbour>,
        tally: &mut Tally,
        take: &mut star::RemovalSink<'_>,
    ) -> Result<(), EngineError> {
        let OversizedComponent { ctx, lookup, on_disk, documents, memory } = self;
        let floor = bucket::floor(ctx);
        let mut judge =
            DiskJudge { ctx, lookup, on_disk, part: None, records: Default::default(), memory, floor, tally };
        match ctx.recipe.cluster {
            ClusterRule::Star => judge.star(contenders, &mut neighbours, take),
            ClusterRule::Components => {
                star::components(contenders, &mut neighbours.into_measured(), &documents, &mut judge, take)
            }
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
        let starts = self.on_disk.pieces(ctx, self.memory / 3, all);
        let mut sorted = self.by_piece(candidates, &starts)?.sorted()?;
        let mut first: Option<(u32, Resident)> = None;
        let mut next = sorted.next()?;
        while let Some(PieceCandidate { pieces: [one, two], .. }) = next {
            let range = |piece: u32| starts[piece as usize]..starts[piece as usize + 1];
            if first.as_ref().is_none_or(|(piece, _)| *piece != one) {
                // By itself: an assignment would hold the old piece until the new one has been read.
                drop(first.take());
                first = Some((one, self.load(range(one), all)?));
            }
            let second = if one == two { None } else { Some(self.load(range(two), all)?) };
            let Some((_, resident)) = &first else { break };
            let (start, other) = (range(one).start, range(two).start);
            let front = resident.documents().len();
            // Indexes in the view: those of the first piece, then those of the second.
            let inside = |node: NodeId, piece: u32| {
                let node = node.index();
                ViewIndex::from_index(if piece == one { node - start } else { node - other + front })
            };
            let outside = |index: ViewIndex| {
                let index = index.index();
                NodeId::from_index(if index < front { index + start } else { index - front + other })
            };
            let view = PairView::new(ctx, resident, second.as_ref(), &mut self.lookup)?;
            let mut part = Vec::new();
            loop {
                let same = next.filter(|candidate| candidate.pieces == [one, two]);
                if let Some(PieceCandidate { nodes: [a, b], shared, .. }) = same {
                    part.push(ViewCandidate { pair: [inside(a, one), inside(b, two)], shared });
                    next = sorted.next()?;
                }
                if part.len() == BATCH_PAIRS || same.is_none() {
                    ctx.check()?;
                    part.retain(|candidate| !ctx.recipe.verified || view.promising(ctx, candidate));
                    if all {
                        bucket::measure(ctx, &part, &view, true, tally, |pair, measured, methods| {
                            let [a, b] = pair.map(outside);
                            let edge = Edge { a, b, measured };
                            match pairs {
                                Some(pairs) => put_pair(&self.documents, &edge, methods, pairs),
                                None => edges.push(edge.ends()),
                            }
                        })?;
                    } else {
                        for candidate in &part {
                            edges.push(Neighbour::ends(candidate.pair.map(outside)))?;
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
        let piece_of = |index: usize| starts.partition_point(|&start| start <= index) as u32 - 1;
        while let Some(bytes) = candidates.next()? {
            let Candidate { pair, shared } = Candidate::decode(bytes);
            // A candidate names documents that are in its file, unless the input was changed since.
            let index =
                |document| self.documents.binary_search(&document).map_err(|_| gather::input_changed(ctx));
            let indexes = [index(pair.first())?, index(pair.second())?];
            // The first document of a candidate is the lower one, and so is its piece: two pieces meet in one
            // order only.
            let (pieces, nodes) = (indexes.map(piece_of), indexes.map(NodeId::from_index));
            sorter.push(PieceCandidate { pieces, nodes, shared })?;
        }
        Ok(sorter)
    }

    fn load(&mut self, indexes: Range<usize>, sets: bool) -> Result<Resident, EngineError> {
        let mut nodes = NodeId::range(indexes.start as u32, indexes.end as u32);
        self.on_disk.load(self.ctx, &mut self.lookup, &mut nodes, sets)
    }
}

/// The neighbours of documents that are decided together.
#[derive(Default)]
struct NeighbourBatch {
    /// The range of the neighbours of each node in `entries`.
    ranges: HashMap<NodeId, Range<usize>>,
    entries: Vec<Neighbour>,
}

impl NeighbourBatch {
    fn of(&self, node: NodeId) -> &[Neighbour] {
        self.ranges.get(&node).map_or(&[], |range| &self.entries[range.clone()])
    }

    /// Returns the comparisons that some contenders will need, as far as these are known already.
    fn needed_comparisons(&self, star: &Star, contenders: &[Contender]) -> Vec<NeededComparison> {
        let mut asked = Vec::new();
        for contender in contenders {
            for entry in self.ranges.get(&contender.node).cloned().unwrap_or_default() {
                let kept = self.entries[entry].node();
                if star.needs_similarity(contender, kept) {
                    asked.push(NeededComparison { kept, decided: contender.node, entry });
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
    on_disk: DocumentsOnDisk,
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
        neighbours: &mut NeighbourFile<Neighbour>,
        take: &mut star::RemovalSink<'_>,
    ) -> Result<(), EngineError> {
        let mut star = Star::new(self.on_disk.locations.len(), contenders);
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
        neighbours: &mut NeighbourFile<Neighbour>,
    ) -> Result<(&'u [Contender], NeighbourBatch), EngineError> {
        self.part = None;
        let NeighbourBatch { mut ranges, mut entries } = NeighbourBatch::default();
        let (mut filled, mut end) = (0, 0);
        // One at least, however little memory there is: the work must come to an end.
        while (end == 0 || filled < self.memory / 4) && end < contenders.len() {
            let contender = &contenders[end];
            end += 1;
            if !star.needs_neighbours(contender) || ranges.contains_key(&contender.node) {
                continue;
            }
            let near = neighbours.of(contender.node)?;
            ranges.insert(contender.node, entries.len()..entries.len() + near.len());
            entries.extend_from_slice(near);
            // An entry, and what is noted while it is asked for.
            let bytes = self.on_disk.locations[contender.node.index()].bytes;
            filled += u64::from(bytes) + DocumentsOnDisk::overhead_bytes(self.ctx) + 64 * near.len() as u64;
        }
        if !measures_all(self.ctx) {
            let mut nodes: Vec<NodeId> = ranges.keys().copied().collect();
            // The map gives its keys in any order, and documents are loaded in theirs.
            nodes.sort_unstable();
            self.part = Some(self.on_disk.load(self.ctx, &mut self.lookup, &mut nodes.into_iter(), true)?);
        }
        Ok((&contenders[..end], NeighbourBatch { ranges, entries }))
    }

    /// Measures what is asked for, which is in the order of the kept documents.
    fn measure_ahead(
        &mut self,
        asked: Vec<NeededComparison>,
        near: &mut NeighbourBatch,
    ) -> Result<(), EngineError> {
        let ctx = self.ctx;
        let mut rest = asked.as_slice();
        while let Some(own) = self.part.as_ref().filter(|_| !rest.is_empty()) {
            ctx.check()?;
            let (now, later) = rest.split_at(self.on_disk.fitting(ctx, rest, self.memory / 4));
            rest = later;
            let mut others = now.chunk_by(|a, b| a.kept == b.kept).map(|same| same[0].kept);
            let residents = self.on_disk.load(ctx, &mut self.lookup, &mut others, true)?;
            let document = |node: NodeId| self.on_disk.document(node);
            let compare = |&NeededComparison { kept, decided, .. }: &NeededComparison| {
                if ctx.watch.stopped() {
                    return None;
                }
                let (decided, kept) = (own.index(document(decided))?, residents.index(document(kept))?);
                ctx.measure.compare(own.set(decided), residents.set(kept), self.floor)
            };
            let found: Vec<Option<Measured>> = now.par_iter().with_min_len(16).map(compare).collect();
            ctx.check()?;
            for (&NeededComparison { kept, decided, entry }, measured) in now.iter().zip(found) {
                bucket::count(ctx, self.tally, [decided, kept].map(document), measured);
                near.entries[entry].set_measured(measured);
            }
        }
        Ok(())
    }

    /// Makes sure that two documents are in memory.
    fn fetch(&mut self, nodes: [NodeId; 2]) -> Result<(), EngineError> {
        self.ctx.check()?;
        // Before the two are brought in, and never behind: both must be there when they are compared.
        self.on_disk.tidy();
        nodes.into_iter().try_for_each(|node| match self.resident(node) {
            Some(_) => Ok(()),
            None => self.on_disk.fetch(self.ctx, node),
        })
    }

    fn resident(&self, node: NodeId) -> Option<&[u64]> {
        let resident = self.part.as_ref()?;
        resident.index(self.on_disk.document(node)).map(|index| resident.set(index))
    }

    fn set(&self, node: NodeId) -> &[u64] {
        self.resident(node).unwrap_or_else(|| self.on_disk.get(node))
    }

    fn pair(&mut self, a: NodeId, b: NodeId) -> Result<DocumentPair<'_>, EngineError> {
        self.tally.hops += 1;
        if self.ctx.measures {
            self.fetch([a, b])?;
        }
        if !self.ctx.recipe.verified {
            for (slot, node) in [a, b].into_iter().enumerate() {
                let document = self.on_disk.document(node);
                // Copied, since a lookup lends one record at a time.
                self.records[slot] = self.lookup.record(document)?.to_vec();
            }
        }
        let records = [self.records[0].as_slice(), self.records[1].as_slice()];
        Ok(DocumentPair { records, sets: [self.set(a), self.set(b)] })
    }
}

impl Judge for DiskJudge<'_, '_> {
    fn candidate(&mut self, a: NodeId, b: NodeId) -> Result<Option<Measured>, EngineError> {
        self.fetch([a, b])?;
        let measured = self.ctx.measure.compare(self.set(a), self.set(b), self.floor);
        let documents = [a, b].map(|node| self.on_disk.document(node));
        bucket::count(self.ctx, self.tally, documents, measured);
        Ok(measured)
    }

    fn near(&mut self, a: NodeId, b: NodeId) -> Result<Option<Measured>, EngineError> {
        let ctx = self.ctx;
        Ok(self.pair(a, b)?.compare(ctx, ctx.measure.threshold))
    }

    fn any(&mut self, a: NodeId, b: NodeId) -> Result<f64, EngineError> {
        let ctx = self.ctx;
        let measured = self.pair(a, b)?.compare(ctx, Threshold::LOWEST);
        Ok(bucket::any(ctx, measured))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobRecipe;
    use crate::tests::context::{StageTest, as_lines, candidate, doc, node, verified};
    use crate::tests::recipe;
    use lookalike_model::ClassId;
    use lookalike_store::file::Run;
    use lookalike_store::symbols::{BlockBuilder, SymbolWriter};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn candidates_by_piece_are_read_back(pieces: [u32; 2], nodes: [u32; 2], shared: SharedKeys) {
            let item = PieceCandidate { pieces, nodes: nodes.map(node), shared };
            let mut bytes = [0; 4 * CANDIDATE_FIELDS];
            CandidatesByPiece.put(item, &mut bytes);
            prop_assert_eq!(CandidatesByPiece.width(), bytes.len());
            prop_assert_eq!(CandidatesByPiece.get(&bytes), item);
            let numbers: Vec<u32> = pieces.into_iter().chain(nodes).chain(shared).collect();
            let expected: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
            prop_assert_eq!(bytes.as_slice(), expected);
        }
    }

    #[test]
    fn a_candidate_takes_no_more_memory_than_its_numbers() {
        assert_eq!(size_of::<PieceCandidate>(), 4 * CANDIDATE_FIELDS);
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
        let symbols = ctx.file("component.symbols");
        let mut writer = SymbolWriter::create(&symbols, ctx.stamp).unwrap();
        let (mut builder, mut bytes) = (BlockBuilder::with_limit(10), Vec::new());
        gather::symbols(ctx, &catalogue, &|document| document < doc(4), &mut |document, symbols| {
            builder.push(document.get(), symbols);
            builder.encode(&mut bytes);
            Ok(())
        })
        .unwrap();
        writer.push(&bytes).unwrap();
        writer.finish().unwrap();
        let candidates = [(0, 1), (0, 2), (1, 2), (2, 3)].map(|pair| candidate(pair, 60));
        crate::stages::group::import_candidates(ctx, candidates.into_iter(), 0).unwrap();
        let label = ClassMember::label(ctx);
        let mut members = RunWriter::create(&ctx.file("members"), label).unwrap();
        let member = ClassMember { class: ClassId::led_by(doc(0)), document: doc(4) };
        members.push(&member.pack().to_le_bytes()).unwrap();
        members.finish().unwrap();
        let members = Run::open(&ctx.file("members"), label).unwrap().records();
        let mut tally = Tally::default();
        let keep_order = KeepOrder::new(ctx, &catalogue).unwrap();
        let component = OversizedComponent::open(ctx, &catalogue, &symbols, memory).unwrap();
        let candidates = crate::stages::group::open_candidates(ctx).unwrap();
        component.run(candidates, members, &keep_order, &ctx.file("out"), &mut tally).unwrap();
        tally
    }

    fn removals(ctx: &Context<'_>) -> Vec<Removal> {
        let mut records = Run::open(&ctx.file("out"), Removals::label(ctx)).unwrap().records();
        let mut found = Vec::new();
        while let Some(bytes) = records.next().unwrap() {
            found.push(Removals.get(bytes));
        }
        found
    }

    fn removal(document: u32, similarity: f64) -> Removal {
        Removal { document: doc(document), witness: doc(0), similarity, via: doc(0) }
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
                removals(&ctx).iter().map(|one| (one.document.get(), one.witness.get())).collect();
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
                found.push(Pairs.get(bytes));
            }
            found.sort();
            let near = |a, b, shared: f64| {
                let similarity = shared / (40.0 - shared);
                verified((a, b), similarity, similarity, 0)
            };
            assert_eq!(found, [near(0, 1, 19.0), near(0, 2, 18.0), near(1, 2, 19.0)], "{memory}");
        }
    }

    #[test]
    fn comparisons_that_are_needed_come_by_kept_document() {
        let contenders =
            [0, 1, 2].map(|at| Contender { document: doc(at), node: node(at), reference: false });
        let mut star = Star::new(3, &contenders);
        let mut batch = NeighbourBatch::default();
        for (at, near) in [(1, [0, 2]), (2, [0, 1])] {
            let start = batch.entries.len();
            batch.entries.extend(near.map(|near| Neighbour::Candidate(node(near))));
            batch.ranges.insert(node(at), start..batch.entries.len());
        }
        assert_eq!(batch.needed_comparisons(&star, &contenders[1..]), [], "nothing is kept yet");
        /// Never asked: the first document has no neighbours.
        struct Nobody;
        impl Judge for Nobody {
            fn candidate(&mut self, _: NodeId, _: NodeId) -> Result<Option<Measured>, EngineError> {
                unreachable!("it has no candidates")
            }
            fn near(&mut self, _: NodeId, _: NodeId) -> Result<Option<Measured>, EngineError> {
                unreachable!("it has no neighbours")
            }
            fn any(&mut self, _: NodeId, _: NodeId) -> Result<f64, EngineError> {
                unreachable!("no components are asked for")
            }
        }
        star.decide(&contenders[0], &[], &mut Nobody, &mut |_| Ok(())).unwrap();
        let needed = |decided, entry| NeededComparison { kept: node(0), decided: node(decided), entry };
        assert_eq!(batch.needed_comparisons(&star, &contenders[1..]), [needed(1, 0), needed(2, 2)]);
        assert_eq!((batch.of(node(1)).len(), batch.of(node(7)).len()), (2, 0));
    }
}

//! Documents in the form in which they are compared: all in memory, or in a file from which they are read when they are needed.

use std::collections::HashMap;
use std::path::Path;

use lookalike_hash::SortBuffers;
use lookalike_model::{DocNumber, NodeId, Threshold};
use lookalike_store::symbols::{Block, SymbolAccess, SymbolReader};
use rayon::prelude::*;

use super::frequent::Frequent;
use super::needs_records;
use super::parts::Part;
use crate::catalogue::Lookup;
use crate::context::Context;
use crate::error::EngineError;
use crate::measure::{DividedSet, Measure, Measured};

/// Symbols that wait to be prepared together, by all threads.
const PENDING_SYMBOLS: usize = 1 << 20;

/// Symbols that one thread prepares in a piece.
const PIECE: usize = 1 << 16;

/// From so many comparisons for each document on, what documents share becomes bits.
const MANY_PAIRS: usize = if cfg!(test) { 1 } else { 32 };

/// Documents in memory, in order, with all that a comparison needs.
pub(super) struct Resident {
    documents: Vec<DocNumber>,
    sets: Vec<SetRange>,
    /// The values of the sets, piece by piece.
    pieces: Vec<Vec<u64>>,
    payloads: Vec<u8>,
    pending: PendingSymbols,
    rows: Option<BitRows>,
}

/// The values that many documents share, as bits; they are not in the sets then.
struct BitRows {
    /// Words of each row.
    words: usize,
    bits: Vec<u64>,
    /// Sizes of the whole sets.
    sizes: Vec<u32>,
}

/// The location of the set of a document; empty for a document that was not loaded.
#[derive(Clone, Copy, Default)]
struct SetRange {
    piece: usize,
    start: usize,
    end: usize,
}

/// Documents whose symbols are not prepared yet.
#[derive(Default)]
struct PendingSymbols {
    symbols: Vec<u64>,
    /// Each document, and where its symbols end.
    documents: Vec<(DocNumber, usize)>,
}

/// The sets of some documents, one behind the other.
#[derive(Default)]
pub(super) struct Piece {
    pub(super) values: Vec<u64>,
    /// The index of each document in its [`Resident`], and where its set ends.
    pub(super) ends: Vec<(usize, usize)>,
}

/// Symbols of some documents, one behind the other, and where each document ends among all that wait.
type SymbolChunk<'w> = (&'w [u64], &'w [(DocNumber, usize)]);

impl PendingSymbols {
    /// The documents in pieces of some symbols.
    fn chunks(&self) -> Vec<SymbolChunk<'_>> {
        let (mut pieces, mut start, mut first) = (Vec::new(), 0, 0);
        for (index, &(_, end)) in self.documents.iter().enumerate() {
            if end - start >= PIECE || index + 1 == self.documents.len() {
                pieces.push((&self.symbols[start..end], &self.documents[first..=index]));
                (start, first) = (end, index + 1);
            }
        }
        pieces
    }
}

impl Resident {
    /// These documents, which are in order. What they are compared by is still to come.
    pub(super) fn new(documents: Vec<DocNumber>) -> Self {
        let sets = vec![SetRange::default(); documents.len()];
        // The first piece stays empty: the default range of a document that is not loaded points into it.
        let pieces = vec![Vec::new()];
        Resident {
            documents,
            sets,
            pieces,
            payloads: Vec::new(),
            pending: PendingSymbols::default(),
            rows: None,
        }
    }

    /// The same with what the methods keep of them.
    pub(super) fn with_records(
        ctx: &Context<'_>,
        lookup: &mut Lookup<'_>,
        documents: Vec<DocNumber>,
    ) -> Result<Self, EngineError> {
        let mut resident = Resident::new(documents);
        resident.payloads.reserve_exact(resident.documents.len() * ctx.panel.width());
        for &document in &resident.documents {
            resident.payloads.extend_from_slice(lookup.record(document)?);
        }
        Ok(resident)
    }

    /// The documents of a part; what the methods keep of them is there where it is still asked for.
    pub(super) fn for_part(
        ctx: &Context<'_>,
        lookup: &mut Lookup<'_>,
        part: &Part,
    ) -> Result<Self, EngineError> {
        let documents = part.documents.clone();
        match needs_records(ctx) {
            true => Resident::with_records(ctx, lookup, documents),
            false => Ok(Resident::new(documents)),
        }
    }

    /// Takes the sets of some documents, one behind the other.
    pub(super) fn take(&mut self, piece: Piece) {
        let mut start = 0;
        for (index, end) in piece.ends {
            self.sets[index] = SetRange { piece: self.pieces.len(), start, end };
            start = end;
        }
        self.pieces.push(piece.values);
    }

    /// Returns the memory of the last piece, for others.
    pub(super) fn into_buffer(mut self) -> Vec<u64> {
        let mut buffer = self.pieces.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// Takes the symbols of one of the documents.
    pub(super) fn add(&mut self, ctx: &Context<'_>, document: DocNumber, symbols: &[u64]) {
        let PendingSymbols { symbols: all, documents } = &mut self.pending;
        all.extend_from_slice(symbols);
        documents.push((document, all.len()));
        if all.len() >= PENDING_SYMBOLS {
            self.prepare(ctx);
        }
    }

    fn prepare(&mut self, ctx: &Context<'_>) {
        let prepare = |sorting: &mut SortBuffers, (symbols, documents): SymbolChunk<'_>| {
            let values = Vec::with_capacity(symbols.len());
            let mut piece = Piece { values, ends: Vec::with_capacity(documents.len()) };
            let begin = documents.last().map_or(0, |&(_, end)| end - symbols.len());
            let mut start = 0;
            for &(document, end) in documents {
                ctx.measure.prepare(&symbols[start..end - begin], &mut piece.values, sorting);
                if let Some(index) = self.index(document) {
                    piece.ends.push((index, piece.values.len()));
                }
                start = end - begin;
            }
            piece
        };
        // Each chunk is prepared by one thread into memory of its own, and pieces are taken in the order of
        // chunks: the same for any number of threads.
        let chunks = self.pending.chunks();
        let ready: Vec<Piece> = chunks.into_par_iter().map_init(SortBuffers::default, prepare).collect();
        ready.into_iter().for_each(|piece| self.take(piece));
        self.pending.documents.clear();
        self.pending.symbols.clear();
    }

    /// All symbols have come.
    pub(super) fn finish_loading(&mut self, ctx: &Context<'_>) {
        self.prepare(ctx);
        self.pending = PendingSymbols::default();
    }

    /// Makes ready for so many comparisons: where documents have many each, what they share becomes bits.
    /// Methods that decide by their own word see whole sets.
    pub(super) fn prepare_for(&mut self, ctx: &Context<'_>, pairs: usize) {
        let documents = self.documents.len();
        let many = pairs >= MANY_PAIRS * documents && documents >= 2 * MANY_PAIRS;
        if !many || !ctx.measure.by_sets() || !ctx.recipe.verified {
            return;
        }
        let Some(frequent) = Frequent::find((0..documents).map(|index| self.set(index))) else { return };
        let words = frequent.words();
        let mut rows =
            BitRows { words, bits: vec![0; documents * words], sizes: Vec::with_capacity(documents) };
        // What is left of a set stays where it was, at the front of its range: nothing moves, and the end
        // comes forward.
        for (set, row) in self.sets.iter_mut().zip(rows.bits.chunks_exact_mut(words)) {
            rows.sizes.push((set.end - set.start) as u32);
            set.end = set.start + frequent.divide(&mut self.pieces[set.piece][set.start..set.end], row);
        }
        self.rows = Some(rows);
    }

    /// The similarity of the documents of two indexes, unless it is out of `floor`'s reach.
    pub(super) fn compare(
        &self,
        measure: &Measure,
        [a, b]: [usize; 2],
        floor: Threshold,
    ) -> Option<Measured> {
        let Some(rows) = &self.rows else { return measure.compare(self.set(a), self.set(b), floor) };
        let divided = |index: usize| DividedSet {
            size: rows.sizes[index] as usize,
            row: &rows.bits[index * rows.words..(index + 1) * rows.words],
            rest: self.set(index),
        };
        measure.compare_divided(divided(a), divided(b), floor)
    }

    pub(super) fn documents(&self) -> &[DocNumber] {
        &self.documents
    }

    pub(super) fn into_documents(self) -> Vec<DocNumber> {
        self.documents
    }

    /// The index of a document.
    pub(super) fn index(&self, document: DocNumber) -> Option<usize> {
        self.documents.binary_search(&document).ok()
    }

    /// Returns the set of the document of an index, without the values that have become bits.
    pub(super) fn set(&self, index: usize) -> &[u64] {
        let SetRange { piece, start, end } = self.sets[index];
        &self.pieces[piece][start..end]
    }

    /// Returns the record that the methods keep of the document of an index; empty where it is not needed any more.
    pub(super) fn record(&self, index: usize, width: usize) -> &[u8] {
        self.payloads.get(index * width..(index + 1) * width).unwrap_or_default()
    }
}

/// Most bytes of prepared documents that are cached for a second comparison.
const CACHE_BYTES: usize = 16 << 20;

/// The location of a document in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SpoolLocation {
    pub(super) document: DocNumber,
    /// Bytes that it takes when it is prepared.
    pub(super) bytes: u32,
    /// The offset of its block.
    offset: u64,
}

/// A comparison that a document needs before it is decided. It orders by kept document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NeededComparison {
    /// The node of the kept document.
    pub(super) kept: NodeId,
    /// The node of the one that is decided.
    pub(super) decided: NodeId,
    /// The index of the entry that waits for the similarity.
    pub(super) entry: usize,
}

/// Documents that are too many to be in memory together. Costs 16 bytes for each.
pub(super) struct DocumentsOnDisk {
    symbols: SymbolAccess,
    /// Every document, sorted: the node of each is its index.
    pub(super) locations: Vec<SpoolLocation>,
    cache: HashMap<NodeId, Vec<u64>>,
    cached_bytes: usize,
}

impl DocumentsOnDisk {
    pub(super) fn open(ctx: &Context<'_>, path: &Path) -> Result<Self, EngineError> {
        let mut locations = Vec::new();
        let mut reader = SymbolReader::open(path, ctx.stamp)?;
        let mut block = Block::default();
        loop {
            // Before the block is read: its documents are found by where it begins.
            let offset = reader.position();
            if !reader.next(&mut block)? {
                break;
            }
            let location = |(document, symbols): (u32, u32)| SpoolLocation {
                document: DocNumber::new(document),
                bytes: symbols.saturating_mul(8),
                offset,
            };
            locations.extend(block.lengths().map(location));
        }
        // By document, the first field: documents are searched by halves, and that threads have read the
        // input in any order does not show.
        locations.sort_unstable();
        Ok(DocumentsOnDisk {
            symbols: SymbolAccess::open(path, ctx.stamp)?,
            locations,
            cache: HashMap::new(),
            cached_bytes: 0,
        })
    }

    /// Bytes that a document takes in memory beside its set.
    pub(super) fn overhead_bytes(ctx: &Context<'_>) -> u64 {
        // The figure by which `Partition::new` weighs a document beside its set.
        ctx.panel.width() as u64 + 96
    }

    /// Cuts the documents, with or without their sets, into pieces of at most `memory` bytes; returns the index of the
    /// first document of each piece, and at the end the number of all.
    pub(super) fn pieces(&self, ctx: &Context<'_>, memory: u64, sets: bool) -> Vec<usize> {
        let (mut pieces, mut filled) = (vec![0], 0);
        for (index, location) in self.locations.iter().enumerate() {
            let bytes = if sets { location.bytes.into() } else { 0 } + DocumentsOnDisk::overhead_bytes(ctx);
            // A document that is larger than the memory is a piece of its own: no piece is empty.
            if filled > 0 && filled + bytes > memory {
                pieces.push(index);
                filled = 0;
            }
            filled += bytes;
        }
        pieces.push(self.locations.len());
        pieces
    }

    /// Counts those of `asked`, in the order of the kept documents, that can be served with these documents in `memory`.
    pub(super) fn fitting(&self, ctx: &Context<'_>, asked: &[NeededComparison], memory: u64) -> usize {
        let (mut filled, mut count) = (0, 0);
        for same in asked.chunk_by(|a, b| a.kept == b.kept) {
            let bytes = self.locations[same[0].kept.index()].bytes;
            filled += u64::from(bytes) + DocumentsOnDisk::overhead_bytes(ctx);
            // The first one is always served: with none, whoever asks again and again would not come to an
            // end.
            if count > 0 && filled > memory {
                break;
            }
            count += same.len();
        }
        count
    }

    /// The document of a node.
    pub(super) fn document(&self, node: NodeId) -> DocNumber {
        self.locations[node.index()].document
    }

    /// The documents of some nodes, which are in order, in memory; with or without their sets.
    pub(super) fn load(
        &mut self,
        ctx: &Context<'_>,
        lookup: &mut Lookup<'_>,
        nodes: &mut dyn Iterator<Item = NodeId>,
        sets: bool,
    ) -> Result<Resident, EngineError> {
        let wanted: Vec<SpoolLocation> = nodes.map(|node| self.locations[node.index()]).collect();
        let documents = wanted.iter().map(|location| location.document).collect();
        let mut resident = Resident::with_records(ctx, lookup, documents)?;
        if !sets {
            return Ok(resident);
        }
        // By offset, and each block once: one pass forwards over the file, whatever the order of documents.
        let mut offsets: Vec<u64> = wanted.iter().map(|location| location.offset).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let inside = |document: u32| {
            let document = DocNumber::new(document);
            wanted.binary_search_by_key(&document, |location| location.document).is_ok()
        };
        let (mut block, mut buffer) = (Block::default(), Vec::new());
        for offset in offsets {
            ctx.check()?;
            self.symbols.read(offset, &mut block)?;
            block.documents(&mut buffer, inside, |document, symbols| {
                resident.add(ctx, DocNumber::new(document), symbols);
                Ok::<(), EngineError>(())
            })?;
        }
        resident.finish_loading(ctx);
        Ok(resident)
    }

    /// Makes sure that the document of a node is in the cache.
    pub(super) fn fetch(&mut self, ctx: &Context<'_>, node: NodeId) -> Result<(), EngineError> {
        if self.cache.contains_key(&node) {
            return Ok(());
        }
        let location = self.locations[node.index()];
        let (mut block, mut buffer, mut set) = (Block::default(), Vec::new(), Vec::new());
        self.symbols.read(location.offset, &mut block)?;
        block.documents(
            &mut buffer,
            |document| DocNumber::new(document) == location.document,
            |_, symbols| {
                ctx.measure.prepare(symbols, &mut set, &mut SortBuffers::default());
                Ok::<(), EngineError>(())
            },
        )?;
        self.cached_bytes += set.len() * 8;
        self.cache.insert(node, set);
        Ok(())
    }

    /// Empties the cache, once it is large.
    pub(super) fn tidy(&mut self) {
        // All at once: which documents are asked for again is not known, and an order of use would have to be
        // kept.
        if self.cached_bytes > CACHE_BYTES {
            self.cache.clear();
            self.cached_bytes = 0;
        }
    }

    /// A document that was fetched.
    pub(super) fn get(&self, node: NodeId) -> &[u64] {
        self.cache.get(&node).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobRecipe;
    use crate::catalogue::Catalogue;
    use crate::tests::context::{StageTest, as_lines, doc, node};
    use crate::tests::recipe;
    use lookalike_store::symbols::{BlockBuilder, SymbolWriter};
    use proptest::prelude::*;

    fn test() -> StageTest {
        StageTest::new(
            JobRecipe { shingle: 1, ..recipe("md5") },
            &as_lines(&["one", "two", "three", "four", "five"]),
        )
    }

    fn piece(sets: &[(usize, &[u64])]) -> Piece {
        let mut piece = Piece::default();
        for (index, set) in sets {
            piece.values.extend_from_slice(set);
            piece.ends.push((*index, piece.values.len()));
        }
        piece
    }

    #[test]
    fn sets_are_found_in_the_pieces_that_came() {
        let mut resident = Resident::new([3, 5, 9].map(doc).to_vec());
        assert_eq!((resident.set(1), resident.record(0, 20)), (&[][..], &[][..]), "nothing has come yet");
        resident.take(piece(&[(2, &[7, 8]), (0, &[1])]));
        resident.take(piece(&[(1, &[4, 5, 6])]));
        assert_eq!([resident.set(0), resident.set(1), resident.set(2)], [&[1][..], &[4, 5, 6], &[7, 8]]);
        assert_eq!(
            [3, 5, 9, 4].map(|document| resident.index(doc(document))),
            [Some(0), Some(1), Some(2), None]
        );
        assert_eq!(resident.documents(), [3, 5, 9].map(doc));
        let buffer = resident.into_buffer();
        assert!(buffer.is_empty() && buffer.capacity() >= 3);
    }

    #[test]
    fn symbols_wait_in_pieces_of_whole_documents() {
        let lengths = [PIECE, 1, PIECE - 1, 5];
        let mut pending = PendingSymbols::default();
        for (document, length) in (0..).zip(lengths) {
            pending.symbols.resize(pending.symbols.len() + length, u64::from(document));
            pending.documents.push((doc(document), pending.symbols.len()));
        }
        let found: Vec<(usize, Vec<u32>)> = pending
            .chunks()
            .into_iter()
            .map(|(symbols, documents)| {
                (symbols.len(), documents.iter().map(|(document, _)| document.get()).collect())
            })
            .collect();
        assert_eq!(found, [(PIECE, vec![0]), (PIECE, vec![1, 2]), (5, vec![3])]);
        assert!(PendingSymbols::default().chunks().is_empty());
    }

    #[test]
    fn symbols_become_sets_whatever_their_order() {
        let test = test();
        let ctx = test.context();
        let mut resident = Resident::new([2, 4, 6].map(doc).to_vec());
        resident.add(&ctx, doc(6), &[1, 2, 2, 1]);
        resident.add(&ctx, doc(2), &[2, 1]);
        resident.add(&ctx, doc(4), &[1, 2, 3]);
        resident.finish_loading(&ctx);
        assert_eq!(resident.set(0), resident.set(2), "a set has each value once");
        assert_eq!([0, 1, 2].map(|index| resident.set(index).len()), [2, 3, 2]);
        let measured = resident.compare(&ctx.measure, [0, 1], Threshold::LOWEST).unwrap();
        assert!((measured.forward - 2.0 / 3.0).abs() < 1e-12);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn bits_change_no_similarity(sets in prop::collection::vec(prop::collection::btree_set(0u64..60, 0..40), 2..12)) {
            let test = test();
            let ctx = test.context();
            let sets: Vec<Vec<u64>> = sets.into_iter().map(|set| set.into_iter().collect()).collect();
            let filled = || {
                let mut resident = Resident::new(DocNumber::range(0, sets.len() as u32).collect());
                let sets: Vec<(usize, &[u64])> = (0..).zip(sets.iter().map(Vec::as_slice)).collect();
                resident.take(piece(&sets));
                resident
            };
            let (plain, mut divided) = (filled(), filled());
            divided.prepare_for(&ctx, 1000);
            for a in 0..sets.len() {
                for b in 0..sets.len() {
                    for floor in [Threshold::LOWEST, ctx.measure.threshold] {
                        let expected = plain.compare(&ctx.measure, [a, b], floor);
                        prop_assert_eq!(divided.compare(&ctx.measure, [a, b], floor), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn few_comparisons_and_unverified_ones_need_no_bits() {
        let test = test();
        let ctx = test.context();
        let filled = |ctx: &Context<'_>, pairs: usize| {
            let mut resident = Resident::new(vec![doc(0), doc(1)]);
            resident.take(piece(&[(0, &[1, 2, 3]), (1, &[1, 2, 3])]));
            resident.prepare_for(ctx, pairs);
            resident.rows.is_some()
        };
        assert!(filled(&ctx, 2 * MANY_PAIRS) && !filled(&ctx, 2 * MANY_PAIRS - 1));
        let unverified = StageTest::new(JobRecipe { verified: false, ..recipe("md5") }, "");
        assert!(!filled(&unverified.context(), 2 * MANY_PAIRS));
    }

    #[test]
    fn records_are_those_of_the_documents() {
        let test = test();
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let mut lookup = Lookup::new(&ctx, &catalogue);
        let width = ctx.panel.width();
        let resident = Resident::with_records(&ctx, &mut lookup, vec![doc(1), doc(4)]).unwrap();
        assert_eq!(resident.record(0, width), lookup.record(doc(1)).unwrap());
        assert_eq!(resident.record(1, width), lookup.record(doc(4)).unwrap());
        let part = Part { documents: vec![doc(1), doc(4)], ..Part::default() };
        let verified = Resident::for_part(&ctx, &mut lookup, &part).unwrap();
        assert!(verified.record(0, width).is_empty(), "methods are not asked again");
    }

    /// Documents 0 to 4 in a file, each with as many symbols as its number and one more, in blocks of about three.
    fn on_disk(ctx: &Context<'_>) -> DocumentsOnDisk {
        let path = ctx.file("symbols");
        let mut writer = SymbolWriter::create(&path, ctx.stamp).unwrap();
        let (mut builder, mut bytes) = (BlockBuilder::with_limit(3), Vec::new());
        for document in [3u32, 0, 4, 1, 2] {
            let symbols: Vec<u64> = (0..=u64::from(document)).collect();
            if builder.push(document, &symbols) {
                builder.encode(&mut bytes);
            }
        }
        if !builder.is_empty() {
            builder.encode(&mut bytes);
        }
        writer.push(&bytes).unwrap();
        writer.finish().unwrap();
        DocumentsOnDisk::open(ctx, &path).unwrap()
    }

    #[test]
    fn documents_of_a_file_are_known_by_their_numbers() {
        let test = test();
        let on_disk = on_disk(&test.sketched());
        let found: Vec<(u32, u32)> =
            on_disk.locations.iter().map(|location| (location.document.get(), location.bytes)).collect();
        assert_eq!(found, [(0, 8), (1, 16), (2, 24), (3, 32), (4, 40)]);
    }

    #[test]
    fn spooled_documents_are_loaded_by_their_places() {
        let test = test();
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let (mut on_disk, mut lookup) = (on_disk(&ctx), Lookup::new(&ctx, &catalogue));
        let resident = on_disk.load(&ctx, &mut lookup, &mut [1, 4].map(node).into_iter(), true).unwrap();
        assert_eq!(
            (resident.documents(), resident.set(0).len(), resident.set(1).len()),
            (&[doc(1), doc(4)][..], 2, 5)
        );
        let bare = on_disk.load(&ctx, &mut lookup, &mut [1, 4].map(node).into_iter(), false).unwrap();
        assert!(bare.set(0).is_empty() && !bare.record(0, ctx.panel.width()).is_empty());
        assert!(on_disk.get(node(4)).is_empty());
        on_disk.fetch(&ctx, node(4)).unwrap();
        assert_eq!((on_disk.get(node(4)), on_disk.cached_bytes), (resident.set(1), 40));
        on_disk.fetch(&ctx, node(4)).unwrap();
        assert_eq!(on_disk.cached_bytes, 40, "it is cached once");
        on_disk.tidy();
        assert!(!on_disk.get(node(4)).is_empty());
        on_disk.cached_bytes = CACHE_BYTES + 1;
        on_disk.tidy();
        assert!(on_disk.get(node(4)).is_empty());
    }

    #[test]
    fn pieces_are_filled_as_far_as_memory_goes() {
        let test = test();
        let ctx = test.sketched();
        let on_disk = on_disk(&ctx);
        let overhead = DocumentsOnDisk::overhead_bytes(&ctx);
        assert_eq!(on_disk.pieces(&ctx, u64::MAX, true), [0, 5]);
        assert_eq!(on_disk.pieces(&ctx, 1, true), [0, 1, 2, 3, 4, 5]);
        assert_eq!(on_disk.pieces(&ctx, 2 * overhead, false), [0, 2, 4, 5]);
        // Sets of 8, 16 and 24 bytes fit together, and then those of 32 and 40.
        assert_eq!(on_disk.pieces(&ctx, 3 * overhead + 48, true), [0, 3, 5]);
    }

    #[test]
    fn as_many_questions_are_served_as_their_documents_fit() {
        let test = test();
        let ctx = test.sketched();
        let on_disk = on_disk(&ctx);
        let overhead = DocumentsOnDisk::overhead_bytes(&ctx);
        let needed =
            |(kept, decided, entry)| NeededComparison { kept: node(kept), decided: node(decided), entry };
        let asked = [(0, 9, 0), (0, 8, 1), (1, 9, 2), (2, 9, 3)].map(needed);
        assert_eq!(on_disk.fitting(&ctx, &asked, 1), 2, "the first document always goes on");
        assert_eq!(on_disk.fitting(&ctx, &asked, 2 * overhead + 24), 3);
        assert_eq!(on_disk.fitting(&ctx, &asked, 2 * overhead + 23), 2);
        assert_eq!(on_disk.fitting(&ctx, &asked, u64::MAX), 4);
    }
}

//! The stage `verify`: candidates are measured as far as that decides something, and every document is decided.
//!
//! Candidates that hang together, directly or through others, form a component; a document's fate depends on its
//! component alone. Whole components are packed into buckets that fit into memory. Documents that can be read from where
//! they stand, in the input or in the spool, are, a part of a bucket at a time; others are brought together in one pass
//! forwards over the input. Each part is measured and decided by itself. A component too large for memory is gone through piece by piece.
//!
//! A class of equal documents that is near nothing else is gone through in its file, however many documents it has.
//!
//! - `partition`: components and buckets
//! - `parts`: a bucket without what is told apart, in parts
//! - `bucket`: one part in memory
//! - `oversized`: a component that does not fit
//! - `frequent`: shingles that many documents of a part share
//! - `neighbours`: the neighbours of every node, in memory or in a file
//! - `sets`: documents in the form in which they are compared, in memory or on disk
//! - `star`: the documents that are kept, and those that are removed
//! - `tally`: counts, histogram and samples

mod bucket;
mod frequent;
mod neighbours;
mod oversized;
mod partition;
mod parts;
mod sets;
pub(crate) mod star;
pub(crate) mod tally;

use std::sync::{Mutex, PoisonError};

use bucket::{PartJudge, PartResult};
use lookalike_hash::SortBuffers;
use lookalike_model::{Candidate, DocNumber, NodeId, Removal, VerifiedPair};
use lookalike_store::bits::Bits;
use lookalike_store::file::{Records, Run, RunWriter};
use lookalike_store::sort::{Codec, Couples};
use lookalike_store::symbols::{Block, BlockBuilder, SymbolReader, SymbolWriter};
#[cfg(test)]
pub(crate) use neighbours::NeighbourLists;
use oversized::OversizedComponent;
use partition::{NONE, Partition};
use parts::Part;
use rayon::prelude::*;
use sets::{Piece, Resident};
use tally::Tally;

use crate::catalogue::{Catalogue, Lookup};
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::gather;
use crate::keep_order::KeepOrder;
use crate::pipeline::HEAVY;
use crate::recipe::{ClusterRule, Task};
use crate::reread::{Rereader, ShardReaders};
use crate::stages::collapse::{self, ClassMember};
use crate::stages::group;

/// Most buckets that are filled in one pass: each has open files and a block being built.
const MAX_OPEN_BUCKETS: usize = 48;

/// The path of one of a bucket's files.
fn bucket_file(ctx: &Context<'_>, bucket: u32, what: &str) -> std::path::PathBuf {
    ctx.file(&format!("b{bucket:06}.{what}"))
}

/// The files with what was decided, all together.
pub(crate) fn decision_files(ctx: &Context<'_>) -> Result<Vec<std::path::PathBuf>, EngineError> {
    let entries = std::fs::read_dir(&ctx.work).map_err(|error| EngineError::read(&ctx.work, error))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| EngineError::read(&ctx.work, error))?.path();
        if path.extension().is_some_and(|extension| extension == "decided") {
            found.push(path);
        }
    }
    // A folder lists its files in an order of its own.
    found.sort();
    Ok(found)
}

/// Measures all candidates and decides all documents, as far as that was not done.
pub(crate) fn verify(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<Tally, EngineError> {
    if let Some(done) = ctx.saved("verified.done")? {
        return Ok(done);
    }
    ctx.begin("verify", None, false);
    let partition = Partition::new(ctx, catalogue)?;
    let pairs = group::count_candidates(ctx)?;
    ctx.begin("verify", Some(pairs), false);
    // Of a bucket that is done nobody knows any more how many it had.
    let finished_pairs = |buckets: usize| pairs * buckets as u64 / u64::from(partition.buckets.max(1));
    let keep_order = KeepOrder::new(ctx, catalogue)?;
    let all: Vec<u32> = (0..partition.buckets).collect();
    // Every group of buckets costs a pass over all candidates and classes, and over the input where documents
    // are not read from where they stand.
    for group in all.chunks(MAX_OPEN_BUCKETS) {
        let todo: Vec<u32> =
            group.iter().copied().filter(|&bucket| !bucket_file(ctx, bucket, "done").exists()).collect();
        ctx.count_finished_pairs(finished_pairs(group.len() - todo.len()));
        if todo.is_empty() {
            continue;
        }
        if partition.buckets > 1 {
            distribute(ctx, catalogue, &partition, &todo)?;
        }
        for &bucket in &todo {
            ctx.check()?;
            run_bucket(ctx, catalogue, &partition, &keep_order, bucket)?;
        }
    }
    // Elsewhere pairs of equal documents are written from their classes, and decide nothing.
    if ctx.recipe.task == Task::Dedup {
        isolated_classes(ctx, catalogue, &partition, &keep_order)?;
    }
    let mut tally = Tally::default();
    for &bucket in &all {
        let file = bucket_file(ctx, bucket, "decided");
        let part: Option<Tally> = ctx.saved(&format!("b{bucket:06}.done"))?;
        // Later stages take the files that they find: one that is missing would be missed by nobody.
        let part = part.filter(|_| file.exists());
        let missing = || EngineError::Damaged { file, what: "it is not there".to_owned() };
        tally.merge(part.ok_or_else(missing)?, ctx.measure.threshold.value());
    }
    ctx.save("verified.done", &tally)?;
    Ok(tally)
}

/// Brings the documents, candidates and equal documents of several buckets together, each bucket in its own files.
fn distribute(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    partition: &Partition,
    buckets: &[u32],
) -> Result<(), EngineError> {
    // All that an earlier process left goes at once: to replace files that are on the disk one by one, the disk is waited for each time.
    for &bucket in buckets {
        BUCKET_FILES.iter().try_for_each(|what| remove_if_there(&bucket_file(ctx, bucket, what)))?;
    }
    let place = |bucket: u32| buckets.binary_search(&bucket).ok();
    let of = |document: DocNumber| place(partition.bucket_of(document));
    let open = |what: &'static str, width: usize| -> Result<Vec<RunWriter>, EngineError> {
        let create =
            |&bucket: &u32| RunWriter::create(&bucket_file(ctx, bucket, what), ctx.label(what, width));
        Ok(buckets.iter().map(create).collect::<Result<_, _>>()?)
    };
    let mut pairs = open("candidates", group::candidates_label(ctx).width)?;
    let mut records = group::open_candidates(ctx)?;
    while let Some(bytes) = records.next()? {
        // Both documents of a candidate are in one component, and so in one bucket: the first tells it.
        if let Some(place) = of(Candidate::decode(bytes).pair.first()) {
            pairs[place].push(bytes)?;
        }
    }
    // Each kind of file is finished before the next is begun, so that a bucket has one of them open at a
    // time.
    pairs.into_iter().try_for_each(RunWriter::finish)?;
    let mut equals = open(Couples::KIND, Couples.width())?;
    collapse::class_members(ctx, |member| match of(member.class.leader()) {
        Some(place) => Ok(equals[place].push(&member.pack().to_le_bytes())?),
        None => Ok(()),
    })?;
    equals.into_iter().try_for_each(RunWriter::finish)?;
    // Documents that can be read from anywhere are, unless their bucket goes through files.
    let random_access = ShardReaders::is_random_access(catalogue);
    let buckets: Vec<u32> =
        buckets.iter().copied().filter(|&bucket| !random_access || partition.is_oversized(bucket)).collect();
    let of = |document: DocNumber| buckets.binary_search(&partition.bucket_of(document)).ok();
    let create = |&bucket: &u32| SymbolWriter::create(&bucket_file(ctx, bucket, "symbols"), ctx.stamp);
    let mut writers: Vec<SymbolWriter> = buckets.iter().map(create).collect::<Result<_, _>>()?;
    // Small blocks: there is one in the making for each bucket, and single documents are read again from them.
    let mut blocks: Vec<BlockBuilder> = buckets.iter().map(|_| BlockBuilder::with_limit(4 << 10)).collect();
    let mut bytes = Vec::new();
    if buckets.is_empty() {
        return Ok(());
    }
    gather::symbols(ctx, catalogue, &|document| of(document).is_some(), &mut |document, symbols| {
        let Some(place) = of(document) else { return Ok(()) };
        if blocks[place].push(document.get(), symbols) {
            bytes.clear();
            blocks[place].encode(&mut bytes);
            writers[place].push(&bytes)?;
        }
        Ok(())
    })?;
    for (mut block, mut symbols) in blocks.into_iter().zip(writers) {
        if !block.is_empty() {
            bytes.clear();
            block.encode(&mut bytes);
            symbols.push(&bytes)?;
        }
        symbols.finish()?;
    }
    Ok(())
}

/// Measures and decides one bucket.
fn run_bucket(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    partition: &Partition,
    keep_order: &KeepOrder,
    number: u32,
) -> Result<(), EngineError> {
    let mut tally = Tally::default();
    let target = bucket_file(ctx, number, "decided");
    if partition.is_oversized(number) {
        let component = OversizedComponent::open(
            ctx,
            catalogue,
            &bucket_file(ctx, number, "symbols"),
            partition.capacity,
        )?;
        let (candidates, members) = (bucket_candidates(ctx, number)?, bucket_members(ctx, number)?);
        component.run(candidates, members, keep_order, &target, &mut tally)?;
        ctx.count_finished_pairs(
            Run::open(&bucket_file(ctx, number, "candidates"), group::candidates_label(ctx))?.count(),
        );
    } else {
        let parts = parts_of(ctx, catalogue, partition, number)?;
        let found = match ShardReaders::is_random_access(catalogue) {
            true => run_parts(ctx, catalogue, partition, keep_order, parts)?,
            false => parts
                .iter()
                .map(|part| run_sequential(ctx, catalogue, partition, keep_order, part, number))
                .collect::<Result<_, _>>()?,
        };
        write_results(ctx, &target, found, &mut tally)?;
    }
    // The result is there, then the note, and then the files that it was made of go.
    ctx.save(&format!("b{number:06}.done"), &tally)?;
    BUCKET_FILES.iter().try_for_each(|what| remove_if_there(&bucket_file(ctx, number, what)))
}

/// The files of a bucket that is not done.
const BUCKET_FILES: [&str; 3] = ["symbols", "candidates", Couples::KIND];

/// True when every pair has to be measured, and not only those that decide something.
fn measures_all(ctx: &Context<'_>) -> bool {
    ctx.recipe.task.lists_pairs() || ctx.recipe.cluster == ClusterRule::Components || !ctx.recipe.verified
}

/// True when the methods are asked once more when a pair is measured: whether it counts, or by whose word.
fn needs_records(ctx: &Context<'_>) -> bool {
    !ctx.recipe.verified || ctx.recipe.task == Task::Compare
}

fn bucket_candidates(ctx: &Context<'_>, number: u32) -> Result<Records, EngineError> {
    Ok(Run::open(&bucket_file(ctx, number, "candidates"), group::candidates_label(ctx))?.records())
}

fn bucket_members(ctx: &Context<'_>, number: u32) -> Result<Records, EngineError> {
    Ok(Run::open(&bucket_file(ctx, number, Couples::KIND), ClassMember::label(ctx))?.records())
}

/// A bucket in parts, from its own files or, when it is the only one, from those of all.
fn parts_of(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    partition: &Partition,
    number: u32,
) -> Result<Vec<Part>, EngineError> {
    let own = partition.buckets > 1;
    let mut members = Vec::new();
    if own {
        let mut records = bucket_members(ctx, number)?;
        while let Some(bytes) = records.next()? {
            members.push(ClassMember::unpack(Couples.get(bytes)));
        }
    } else {
        collapse::class_members(ctx, |member| {
            if partition.bucket_of(member.class.leader()) == number {
                members.push(member);
            }
            Ok(())
        })?;
    }
    let open = || if own { bucket_candidates(ctx, number) } else { group::open_candidates(ctx) };
    let most = if ShardReaders::is_random_access(catalogue) { PART_BYTES } else { u64::MAX };
    parts::parts(ctx, catalogue, open, &members, most)
}

/// Measures and decides parts whose documents can be read from anywhere: side by side, each by one thread, and those that
/// memory has no room for beside others, or that one thread would be left alone with, one after the other, each by all.
fn run_parts(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    partition: &Partition,
    keep_order: &KeepOrder,
    parts: Vec<Part>,
) -> Result<Vec<PartResult>, EngineError> {
    let readers = ShardReaders::new(ctx, catalogue);
    let pool = PartBuffersPool { readers: &readers, free: Mutex::default() };
    let threads = ctx.settings.threads.max(1) as u64;
    let (large, small) = parts::by_size(parts, &ctx.measure, threads, partition.capacity / 2 / threads);
    // One part at a time for each thread: parts differ by orders of magnitude, and the largest come first.
    let mut found: Vec<PartResult> = small
        .into_par_iter()
        .with_max_len(1)
        .map(|part| {
            ctx.check()?;
            let found = pool.with(|buffers| buffers.run(ctx, keep_order, &part));
            ctx.count_finished_pairs(part.pairs.len() as u64);
            found
        })
        .collect::<Result<_, _>>()?;
    for part in large {
        ctx.check()?;
        let mut resident =
            pool.with(|buffers| Resident::for_part(ctx, &mut buffers.rereader.lookup, &part))?;
        let nodes: Vec<NodeId> = NodeId::range(0, part.documents.len() as u32).collect();
        let pieces: Vec<Piece> = nodes
            .par_chunks(DOCUMENTS_PER_READ)
            .map(|nodes| pool.with(|buffers| buffers.read(ctx, &part, nodes)))
            .collect::<Result<_, _>>()?;
        pieces.into_iter().for_each(|piece| resident.take(piece));
        resident.prepare_for(ctx, part.pairs.len());
        found.push(
            PartJudge { ctx, part: &part, resident: &resident, parallel: true }
                .run(&mut Lookup::new(ctx, catalogue), keep_order)?,
        );
        ctx.count_finished_pairs(part.pairs.len() as u64);
    }
    Ok(found)
}

/// Documents of a large part that are read by one thread.
const DOCUMENTS_PER_READ: usize = 256;

/// About so many bytes of sets are in a part: small enough to stay in a cache, large enough to be worth the trouble.
const PART_BYTES: u64 = if cfg!(test) { 1 << 10 } else { 2 << 20 };

/// The buffers of threads, used again for one part after the other.
struct PartBuffersPool<'s> {
    readers: &'s ShardReaders<'s>,
    free: Mutex<Vec<PartBuffers<'s>>>,
}

impl<'s> PartBuffersPool<'s> {
    fn with<T>(
        &self,
        work: impl FnOnce(&mut PartBuffers<'s>) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let free = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        // A statement of its own, at whose end the lock is let go: the next one may make new buffers, while
        // other threads want theirs.
        let taken = free().pop();
        let mut buffers = taken.unwrap_or_else(|| PartBuffers {
            rereader: Rereader::new(self.readers),
            values: Vec::new(),
            sorting: SortBuffers::default(),
        });
        let done = work(&mut buffers);
        free().push(buffers);
        done
    }
}

struct PartBuffers<'s> {
    rereader: Rereader<'s>,
    /// Memory for the values of sets.
    values: Vec<u64>,
    sorting: SortBuffers,
}

impl PartBuffers<'_> {
    fn run(
        &mut self,
        ctx: &Context<'_>,
        keep_order: &KeepOrder,
        part: &Part,
    ) -> Result<PartResult, EngineError> {
        let mut resident = Resident::for_part(ctx, &mut self.rereader.lookup, part)?;
        if !part.pairs.is_empty() {
            let nodes: Vec<NodeId> = NodeId::range(0, part.documents.len() as u32).collect();
            resident.take(self.read(ctx, part, &nodes)?);
            resident.prepare_for(ctx, part.pairs.len());
        }
        let judge = PartJudge { ctx, part, resident: &resident, parallel: false };
        let found = judge.run(&mut self.rereader.lookup, keep_order)?;
        self.values = resident.into_buffer();
        // What an ordinary part leaves is for the next one, what a large one leaves is not.
        if self.values.capacity() as u64 * 8 > 4 * PART_BYTES {
            self.values = Vec::new();
        }
        Ok(found)
    }

    /// Reads the documents of some nodes of a part, which are in order.
    fn read(&mut self, ctx: &Context<'_>, part: &Part, nodes: &[NodeId]) -> Result<Piece, EngineError> {
        let mut values = std::mem::take(&mut self.values);
        let mut ends = Vec::with_capacity(nodes.len());
        if ctx.measures {
            let documents: Vec<DocNumber> = nodes.iter().map(|node| part.documents[node.index()]).collect();
            let sorting = &mut self.sorting;
            self.rereader.read(&documents, |document, symbols| {
                // Documents come as they stand in the input. Where they are numbered by a field, that is
                // another order than the one they were asked for in, so that each is noted with its index.
                ctx.measure.prepare(symbols, &mut values, sorting);
                // Both are in order.
                let at = documents.binary_search(&document).ok();
                ends.extend(at.map(|at| (nodes[at].index(), values.len())));
            })?;
            self.sorting.free_above(HEAVY);
        }
        Ok(Piece { values, ends })
    }
}

/// Measures and decides a bucket whose documents must be gone through one after the other.
fn run_sequential(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    partition: &Partition,
    keep_order: &KeepOrder,
    part: &Part,
    number: u32,
) -> Result<PartResult, EngineError> {
    let mut lookup = Lookup::new(ctx, catalogue);
    let mut resident = Resident::for_part(ctx, &mut lookup, part)?;
    let mut wanted = Bits::new(catalogue.len());
    part.documents.iter().for_each(|&document| wanted.set(document));
    let mut add = |document: DocNumber, symbols: &[u64]| {
        resident.add(ctx, document, symbols);
        Ok(())
    };
    // Documents that are near nothing else need no sets.
    if partition.buckets == 1 && !part.pairs.is_empty() {
        gather::symbols(ctx, catalogue, &|document| wanted.get(document), &mut add)?;
    } else if !part.pairs.is_empty() {
        let mut symbols = SymbolReader::open(&bucket_file(ctx, number, "symbols"), ctx.stamp)?;
        let (mut block, mut buffer) = (Block::default(), Vec::new());
        while symbols.next(&mut block)? {
            block.documents(
                &mut buffer,
                |document| wanted.get(document),
                |document, symbols| add(DocNumber::new(document), symbols),
            )?;
        }
    }
    resident.finish_loading(ctx);
    resident.prepare_for(ctx, part.pairs.len());
    let found = PartJudge { ctx, part, resident: &resident, parallel: true }.run(&mut lookup, keep_order);
    ctx.count_finished_pairs(part.pairs.len() as u64);
    found
}

/// Writes what came of the parts of a bucket.
fn write_results(
    ctx: &Context<'_>,
    target: &std::path::Path,
    parts: Vec<PartResult>,
    tally: &mut Tally,
) -> Result<(), EngineError> {
    let (mut removals, mut pairs) = (Vec::new(), Vec::new());
    for found in parts {
        tally.merge(found.tally, ctx.measure.threshold.value());
        removals.extend(found.removals);
        pairs.extend(found.pairs);
    }
    if !ctx.recipe.task.lists_pairs() {
        return write_removals(ctx, target, removals);
    }
    let mut writer = RunWriter::create(target, Pairs::label(ctx))?;
    bucket::put_pairs(pairs, &mut writer)?;
    Ok(writer.finish()?)
}

/// Equal documents that are near no others: all but the first in keep order are removed. A class may have any number of documents,
/// so it is gone through twice, and none of it is held.
fn isolated_classes(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    partition: &Partition,
    keep_order: &KeepOrder,
) -> Result<(), EngineError> {
    let mut removals = RunWriter::create(&ctx.file("lonely.decided"), Removals::label(ctx))?;
    let mut lookup = Lookup::new(ctx, catalogue);
    let [mut ahead, mut behind] = [collapse::ClassReader::open(ctx)?, collapse::ClassReader::open(ctx)?];
    while let Some(class) = ahead.next_class()? {
        let isolated = partition.bucket_of(class.leader()) == NONE;
        let mut first = None;
        keep_order.update_first(&mut lookup, &mut first, class.leader())?;
        while let Some(member) = ahead.next_member()? {
            if isolated {
                keep_order.update_first(&mut lookup, &mut first, member)?;
            }
        }
        let Some((_, witness)) = first else { continue };
        let mut remove = |document: DocNumber| {
            if !isolated || document == witness || keep_order.is_reference(document) {
                return Ok(());
            }
            removals.push(&encoded(Removal { document, witness, similarity: 1.0, via: witness }))
        };
        // Also for a class that a bucket decides: both readers must come to the next class together.
        behind.next_class()?.map_or(Ok(()), |class| remove(class.leader()))?;
        while let Some(member) = behind.next_member()? {
            remove(member)?;
        }
    }
    Ok(removals.finish()?)
}

fn write_removals(
    ctx: &Context<'_>,
    target: &std::path::Path,
    mut removals: Vec<Removal>,
) -> Result<(), EngineError> {
    // Parts come in an order that depends on the number of threads, and within them removals are in keep
    // order.
    removals.sort_unstable_by_key(|removal| removal.document);
    let mut writer = RunWriter::create(target, Removals::label(ctx))?;
    removals.into_iter().try_for_each(|removal| writer.push(&encoded(removal)))?;
    Ok(writer.finish()?)
}

/// A removal as a file has it.
fn encoded(removal: Removal) -> [u8; Removal::WIDTH] {
    let mut out = [0; Removal::WIDTH];
    removal.put(&mut out);
    out
}

/// Removals in files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Removals;

impl Removals {
    pub(crate) fn label(ctx: &Context<'_>) -> lookalike_store::file::Label {
        ctx.label(Removals::KIND, Removals.width())
    }
}

impl Codec for Removals {
    type Item = Removal;
    const KIND: &'static str = "removals";

    fn width(self) -> usize {
        Removal::WIDTH
    }

    fn put(self, removal: Removal, out: &mut [u8]) {
        removal.put(out);
    }

    fn get(self, bytes: &[u8]) -> Removal {
        Removal::get(bytes)
    }
}

/// Verified pairs in files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairs;

impl Pairs {
    pub(crate) fn label(ctx: &Context<'_>) -> lookalike_store::file::Label {
        ctx.label(Pairs::KIND, Pairs.width())
    }
}

impl Codec for Pairs {
    type Item = VerifiedPair;
    const KIND: &'static str = "pairs";

    fn width(self) -> usize {
        VerifiedPair::WIDTH
    }

    fn put(self, pair: VerifiedPair, out: &mut [u8]) {
        pair.put(out);
    }

    fn get(self, bytes: &[u8]) -> VerifiedPair {
        VerifiedPair::get(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobRecipe;
    use crate::tests::context::{StageTest, as_lines, candidate, doc, verified};
    use crate::tests::recipe;

    fn removal(document: u32, similarity: f64) -> Removal {
        Removal { document: doc(document), witness: doc(0), similarity, via: doc(0) }
    }

    #[test]
    fn what_was_decided_is_found_in_order() {
        let test = StageTest::new(recipe("md5"), "");
        let ctx = test.context();
        for name in ["lonely.decided", "b000001.decided", "b000000.decided", "b000000.done", "decided"] {
            std::fs::write(ctx.file(name), "").unwrap();
        }
        let expected = ["b000000.decided", "b000001.decided", "lonely.decided"].map(|name| ctx.file(name));
        assert_eq!(decision_files(&ctx).unwrap(), expected);
    }

    fn read_removals(ctx: &Context<'_>, name: &str) -> Vec<(u32, u32, f64)> {
        let mut records = Run::open(&ctx.file(name), Removals::label(ctx)).unwrap().records();
        let mut found = Vec::new();
        while let Some(bytes) = records.next().unwrap() {
            let Removal { document, witness, similarity, .. } = Removals.get(bytes);
            found.push((document.get(), witness.get(), similarity));
        }
        found
    }

    #[test]
    fn removals_are_written_by_document() {
        let test = StageTest::new(recipe("md5"), "");
        let ctx = test.context();
        let removals = [5, 2, 9].map(|document| removal(document, 0.5));
        write_removals(&ctx, &ctx.file("removals"), removals.to_vec()).unwrap();
        assert_eq!(read_removals(&ctx, "removals"), [(2, 0, 0.5), (5, 0, 0.5), (9, 0, 0.5)]);
    }

    #[test]
    fn pairs_of_a_job_that_lists_them_and_removals_of_others_are_written() {
        for (task, pairs) in [(Task::Dedup, false), (Task::Pairs, true)] {
            let test = StageTest::new(JobRecipe { task, ..recipe("md5") }, "");
            let ctx = test.context();
            let part = |n: u32| PartResult {
                tally: Tally { verified: 2, ..Tally::default() },
                removals: vec![removal(n, 0.9)],
                pairs: vec![verified((0, n), 0.9, 0.4, 0)],
            };
            let mut tally = Tally::default();
            write_results(&ctx, &ctx.file("out"), vec![part(7), part(3)], &mut tally).unwrap();
            assert_eq!(tally.verified, 4);
            if pairs {
                assert_eq!(Run::open(&ctx.file("out"), Pairs::label(&ctx)).unwrap().count(), 2);
            } else {
                assert_eq!(read_removals(&ctx, "out"), [(3, 0, 0.9), (7, 0, 0.9)]);
            }
        }
    }

    /// Decides the equal documents of a job without candidates.
    fn lonely(test: &StageTest) -> Vec<(u32, u32, f64)> {
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        collapse::collapse(&ctx, &catalogue).unwrap();
        group::import_candidates(&ctx, std::iter::empty(), 0).unwrap();
        let partition = Partition::new(&ctx, &catalogue).unwrap();
        assert_eq!(partition.buckets, 0);
        let keep_order = KeepOrder::new(&ctx, &catalogue).unwrap();
        isolated_classes(&ctx, &catalogue, &partition, &keep_order).unwrap();
        read_removals(&ctx, "lonely.decided")
    }

    #[test]
    fn of_equal_documents_the_first_in_keep_order_stays() {
        let lines: String = [("b", 2), ("x", 5), ("b", 9), ("x", 4), ("b", 9)]
            .map(|(text, score)| format!("{{\"text\":\"{text}\",\"score\":\"{score}\"}}\n"))
            .concat();
        let removals = |keep: &str| {
            let mut found =
                lonely(&StageTest::new(JobRecipe { keep: keep.to_owned(), ..recipe("md5") }, &lines));
            found.sort_by_key(|removal| removal.0);
            found
        };
        assert_eq!(removals("first"), [(2, 0, 1.0), (3, 1, 1.0), (4, 0, 1.0)]);
        assert_eq!(removals("field:score:desc"), [(0, 2, 1.0), (3, 1, 1.0), (4, 2, 1.0)]);
        assert_eq!(removals("field:score"), [(1, 3, 1.0), (2, 0, 1.0), (4, 0, 1.0)]);
    }

    #[test]
    fn equal_documents_to_compare_with_all_stay() {
        let test = StageTest::against(recipe("md5"), &as_lines(&["a", "a"]), &as_lines(&["a", "b", "a"]));
        assert_eq!(lonely(&test), [(2, 0, 1.0), (4, 0, 1.0)]);
    }

    #[test]
    fn only_jobs_that_keep_documents_by_stars_leave_pairs_unmeasured() {
        let asked = |recipe: JobRecipe| {
            let test = StageTest::new(recipe, "");
            let ctx = test.context();
            (measures_all(&ctx), needs_records(&ctx))
        };
        let plain = || recipe("md5");
        assert_eq!(asked(plain()), (false, false));
        assert_eq!(asked(JobRecipe { cluster: ClusterRule::Components, ..plain() }), (true, false));
        assert_eq!(asked(JobRecipe { task: Task::Pairs, ..plain() }), (true, false));
        assert_eq!(asked(JobRecipe { task: Task::Compare, ..plain() }), (true, true));
        assert_eq!(asked(JobRecipe { verified: false, ..plain() }), (true, true));
    }

    /// Words with these numbers.
    fn words(numbers: impl Iterator<Item = u32>) -> String {
        numbers.map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn stages_of_any_bucket_size_decide_the_same() {
        // The first three are near each other, the others are not; words are shingles.
        let texts = [words(0..20), words(1..21), words(2..22), words(50..70), words(100..120), words(0..20)];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for bucket_bytes in [None, Some(4000), Some(64)] {
            let recipe = JobRecipe { shingle: 1, ..recipe("exact") };
            let test = StageTest::new(recipe, &as_lines(&texts));
            let mut ctx = test.sketched();
            ctx.bucket_bytes = bucket_bytes;
            let catalogue = Catalogue::load(&ctx).unwrap();
            collapse::collapse(&ctx, &catalogue).unwrap();
            let candidates = [(0, 1), (0, 2), (1, 2), (2, 3)].map(|pair| candidate(pair, 60));
            group::import_candidates(&ctx, candidates.into_iter(), 0).unwrap();
            let tally = verify(&ctx, &catalogue).unwrap();
            let mut found: Vec<(u32, u32, f64)> = decision_files(&ctx)
                .unwrap()
                .iter()
                .flat_map(|path| read_removals(&ctx, path.file_name().unwrap().to_str().unwrap()))
                .collect();
            found.sort_by_key(|removal| removal.0);
            assert_eq!(found, [(1, 0, 19.0 / 21.0), (2, 0, 18.0 / 22.0), (5, 0, 1.0)], "{bucket_bytes:?}");
            assert_eq!(tally.reached, 2, "{bucket_bytes:?}");
            // What is done is read again.
            assert_eq!(verify(&ctx, &catalogue).unwrap(), tally);
        }
    }
}

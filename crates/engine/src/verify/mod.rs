//! Stage 5, verify: every candidate is measured, and every document decided.
//!
//! Candidates that hang together, directly or through others, form a component; a document's fate depends on its
//! component alone. Whole components are packed into buckets that fit into memory, the documents of each bucket are
//! brought together in one pass forwards over the spool (or the input), and each bucket is measured and decided by
//! itself. A component too large for memory is measured piece by piece.
//!
//! - `partition`: components and buckets
//! - `bucket`: one bucket in memory
//! - `oversized`: a component that does not fit
//! - `neighbours`: who is next to whom, in memory or in a file
//! - `sets`: what documents are compared by, in memory or on disk
//! - `tally`: counts, histogram and samples

mod bucket;
mod neighbours;
mod oversized;
mod partition;
mod sets;
pub(crate) mod tally;

use std::sync::atomic::Ordering;

use bucket::Bucket;
#[cfg(test)]
pub(crate) use neighbours::InMemory;
use oversized::Oversized;
use partition::{NONE, Partition};
use tally::Tally;

use crate::candidates::{self, Candidate};
use crate::catalogue::Catalogue;
use crate::classes;
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::gather;
use crate::keepers::Keepers;
use crate::measure::Measured;
use crate::recipe::{ClusterRule, Task};
use crate::star::{Judge, Removal, Star};
use crate::store::file::{Records, Run, RunWriter};
use crate::store::sort::{Codec, Couples, couple, uncouple};
use crate::store::symbols::{Block, BlockBuilder, SpoolReader, SpoolWriter};

/// So many buckets are filled in one pass: each has open files and a block in the making.
const AT_ONCE: usize = 48;

/// The path of one of a bucket's files.
fn bucket_file(ctx: &Context<'_>, bucket: u32, what: &str) -> std::path::PathBuf {
    ctx.file(&format!("b{bucket:06}.{what}"))
}

/// The files with what was decided, all together.
pub(crate) fn decided(ctx: &Context<'_>) -> Result<Vec<std::path::PathBuf>, EngineError> {
    let entries = std::fs::read_dir(&ctx.work).map_err(|error| EngineError::read(&ctx.work, error))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| EngineError::read(&ctx.work, error))?.path();
        if path.extension().is_some_and(|extension| extension == "decided") {
            found.push(path);
        }
    }
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
    ctx.begin("verify", Some(partition.buckets.into()), false);
    let keepers = Keepers::new(ctx, catalogue)?;
    let all: Vec<u32> = (0..partition.buckets).collect();
    for group in all.chunks(AT_ONCE) {
        let todo: Vec<u32> =
            group.iter().copied().filter(|&bucket| !bucket_file(ctx, bucket, "done").exists()).collect();
        ctx.watch.steps.fetch_add((group.len() - todo.len()) as u64, Ordering::Relaxed);
        if todo.is_empty() {
            continue;
        }
        if partition.buckets > 1 {
            distribute(ctx, catalogue, &partition, &todo)?;
        }
        for &bucket in &todo {
            ctx.check()?;
            run_bucket(ctx, catalogue, &partition, &keepers, bucket)?;
            ctx.watch.steps.fetch_add(1, Ordering::Relaxed);
        }
    }
    if ctx.recipe.task == Task::Dedup {
        lonely_classes(ctx, catalogue, &partition, &keepers)?;
    }
    let mut tally = Tally::default();
    for &bucket in &all {
        let file = bucket_file(ctx, bucket, "decided");
        let part: Option<Tally> = ctx.saved(&format!("b{bucket:06}.done"))?;
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
    let place = |bucket: u32| buckets.binary_search(&bucket).ok();
    let of = |document: u32| place(partition.bucket_of(document));
    let open = |what: &'static str, width: usize| -> Result<Vec<RunWriter>, EngineError> {
        let create =
            |&bucket: &u32| RunWriter::create(&bucket_file(ctx, bucket, what), ctx.label(what, width));
        buckets.iter().map(create).collect()
    };
    let mut pairs = open("candidates", Candidate::label(ctx).width)?;
    let mut records = candidates::open(ctx)?;
    while let Some(bytes) = records.next()? {
        if let Some(place) = of(Candidate::decode(bytes).a) {
            pairs[place].push(bytes)?;
        }
    }
    pairs.into_iter().try_for_each(RunWriter::finish)?;
    let mut equals = open(Couples::KIND, Couples.width())?;
    classes::members(ctx, |leader, member| match of(leader) {
        Some(place) => equals[place].push(&couple(leader, member).to_le_bytes()),
        None => Ok(()),
    })?;
    equals.into_iter().try_for_each(RunWriter::finish)?;
    let create = |&bucket: &u32| SpoolWriter::create(&bucket_file(ctx, bucket, "spool"), ctx.stamp);
    let mut spools: Vec<SpoolWriter> = buckets.iter().map(create).collect::<Result<_, _>>()?;
    // Small blocks: there is one in the making for each bucket, and single documents are read again from them.
    let mut blocks: Vec<BlockBuilder> = buckets.iter().map(|_| BlockBuilder::with_limit(4 << 10)).collect();
    let mut bytes = Vec::new();
    gather::symbols(ctx, catalogue, &|document| of(document).is_some(), &mut |document, symbols| {
        let Some(place) = of(document) else { return Ok(()) };
        if blocks[place].push(document, symbols) {
            bytes.clear();
            blocks[place].encode(&mut bytes);
            spools[place].push(&bytes)?;
        }
        Ok(())
    })?;
    for (mut block, mut spool) in blocks.into_iter().zip(spools) {
        if !block.is_empty() {
            bytes.clear();
            block.encode(&mut bytes);
            spool.push(&bytes)?;
        }
        spool.finish()?;
    }
    Ok(())
}

/// Measures and decides one bucket.
fn run_bucket(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    partition: &Partition,
    keepers: &Keepers,
    number: u32,
) -> Result<(), EngineError> {
    let mut tally = Tally::default();
    let target = bucket_file(ctx, number, "decided");
    if partition.is_oversized(number) {
        let component =
            Oversized::open(ctx, catalogue, &bucket_file(ctx, number, "spool"), partition.capacity)?;
        let (candidates, members) = (own_candidates(ctx, number)?, own_members(ctx, number)?);
        component.run(candidates, members, keepers, &target, &mut tally)?;
    } else {
        let mut bucket = load(ctx, catalogue, partition, number)?;
        let edges = if measures_all(ctx) { Some(bucket.measure(&mut tally)?) } else { None };
        match ctx.recipe.task {
            Task::Pairs => bucket.write_pairs(&edges.unwrap_or_default(), &target)?,
            Task::Dedup => write_removals(ctx, &target, bucket.decide(keepers, edges, &mut tally)?)?,
        }
    }
    ctx.save(&format!("b{number:06}.done"), &tally)?;
    ["spool", "candidates", Couples::KIND]
        .iter()
        .try_for_each(|what| remove_if_there(&bucket_file(ctx, number, what)))
}

/// True when every pair has to be measured, and not only those that decide something.
fn measures_all(ctx: &Context<'_>) -> bool {
    ctx.recipe.task == Task::Pairs || ctx.recipe.cluster == ClusterRule::Components || !ctx.recipe.verified
}

fn own_candidates(ctx: &Context<'_>, number: u32) -> Result<Records, EngineError> {
    Ok(Run::open(&bucket_file(ctx, number, "candidates"), Candidate::label(ctx))?.records())
}

fn own_members(ctx: &Context<'_>, number: u32) -> Result<Records, EngineError> {
    let label = ctx.label(Couples::KIND, Couples.width());
    Ok(Run::open(&bucket_file(ctx, number, Couples::KIND), label)?.records())
}

/// Reads a bucket into memory, from its own files or, when it is the only one, from those of all.
fn load<'c>(
    ctx: &'c Context<'c>,
    catalogue: &'c Catalogue,
    partition: &Partition,
    number: u32,
) -> Result<Bucket<'c>, EngineError> {
    let own = partition.buckets > 1;
    let mut candidates = Vec::new();
    let mut records = if own { own_candidates(ctx, number)? } else { candidates::open(ctx)? };
    while let Some(bytes) = records.next()? {
        candidates.push(Candidate::decode(bytes));
    }
    let mut bucket = Bucket::new(ctx, catalogue, candidates)?;
    let wanted = bucket.wanted()?;
    if !own {
        classes::members(ctx, |leader, member| {
            if partition.bucket_of(leader) == number {
                bucket.members.push((leader, member));
            }
            Ok(())
        })?;
        gather::symbols(ctx, catalogue, &|document| wanted.has(document), &mut |document, symbols| {
            bucket.add(document, symbols);
            Ok(())
        })?;
        bucket.settle();
        return Ok(bucket);
    }
    let mut records = own_members(ctx, number)?;
    while let Some(bytes) = records.next()? {
        bucket.members.push(uncouple(Couples.get(bytes)));
    }
    let mut spool = SpoolReader::open(&bucket_file(ctx, number, "spool"), ctx.stamp)?;
    let (mut block, mut buffer) = (Block::default(), Vec::new());
    while spool.next(&mut block)? {
        block.documents(
            &mut buffer,
            |document| wanted.has(document),
            |document, symbols| {
                bucket.add(document, symbols);
                Ok(())
            },
        )?;
    }
    bucket.settle();
    Ok(bucket)
}

/// Equal documents that are near no others.
fn lonely_classes(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    partition: &Partition,
    keepers: &Keepers,
) -> Result<(), EngineError> {
    let mut removals = RunWriter::create(&ctx.file("lonely.decided"), Removals::label(ctx))?;
    let mut class: Vec<u32> = Vec::new();
    let mut lookup = crate::catalogue::Lookup::new(ctx, catalogue);
    let mut decide = |class: &mut Vec<u32>| -> Result<(), EngineError> {
        let turns = keepers.order(&mut lookup, class.iter().map(|&document| (document, 0)).collect())?;
        class.clear();
        let mut take = |removal| removals.push(&Removals::encode(removal));
        let mut star = Star::new(1, &turns);
        turns.iter().try_for_each(|turn| star.turn(turn, &[], &mut Nobody, &mut take))
    };
    classes::members(ctx, |leader, member| {
        if partition.bucket_of(leader) != NONE {
            return Ok(());
        }
        if class.first() != Some(&leader) {
            decide(&mut class)?;
            class.push(leader);
        }
        class.push(member);
        Ok(())
    })?;
    decide(&mut class)?;
    removals.finish()
}

/// A judge of documents that have no neighbours.
struct Nobody;

impl Judge for Nobody {
    fn candidate(&mut self, _: u32, _: u32) -> Result<Option<Measured>, EngineError> {
        Ok(None)
    }

    fn near(&mut self, _: u32, _: u32) -> Result<Option<Measured>, EngineError> {
        Ok(None)
    }

    fn any(&mut self, _: u32, _: u32) -> Result<f64, EngineError> {
        Ok(0.0)
    }
}

fn write_removals(
    ctx: &Context<'_>,
    target: &std::path::Path,
    mut removals: Vec<Removal>,
) -> Result<(), EngineError> {
    removals.sort_unstable_by_key(|removal| removal.document);
    let mut writer = RunWriter::create(target, Removals::label(ctx))?;
    removals.into_iter().try_for_each(|removal| writer.push(&Removals::encode(removal)))?;
    writer.finish()
}

/// Removals in files: document, witness, neighbour, similarity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Removals;

impl Removals {
    pub(crate) fn label(ctx: &Context<'_>) -> crate::store::file::Label {
        ctx.label(Removals::KIND, Removals.width())
    }

    fn encode(removal: Removal) -> [u8; 20] {
        let mut out = [0; 20];
        Removals.put(Removals::item(removal), &mut out);
        out
    }

    pub(crate) fn item(removal: Removal) -> (u32, u32, u32, u64) {
        (removal.document, removal.witness, removal.via, removal.similarity.to_bits())
    }

    pub(crate) fn removal((document, witness, via, similarity): (u32, u32, u32, u64)) -> Removal {
        Removal { document, witness, similarity: f64::from_bits(similarity), via }
    }
}

impl Codec for Removals {
    type Item = (u32, u32, u32, u64);
    const KIND: &'static str = "removals";

    fn width(self) -> usize {
        20
    }

    fn put(self, (document, witness, via, similarity): Self::Item, out: &mut [u8]) {
        for (slot, number) in out[..12].as_chunks_mut::<4>().0.iter_mut().zip([document, witness, via]) {
            *slot = number.to_le_bytes();
        }
        out[12..].copy_from_slice(&similarity.to_le_bytes());
    }

    fn get(self, bytes: &[u8]) -> Self::Item {
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let similarity = u64::from_le_bytes(bytes[12..20].try_into().expect("eight bytes"));
        (number(0), number(4), number(8), similarity)
    }
}

/// Pairs in files: two documents, the similarity of each to the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairs;

impl Pairs {
    pub(crate) fn label(ctx: &Context<'_>) -> crate::store::file::Label {
        ctx.label(Pairs::KIND, Pairs.width())
    }
}

impl Codec for Pairs {
    type Item = (u64, u64, u64);
    const KIND: &'static str = "pairs";

    fn width(self) -> usize {
        24
    }

    fn put(self, (pair, forward, backward): Self::Item, out: &mut [u8]) {
        for (slot, number) in out.as_chunks_mut::<8>().0.iter_mut().zip([pair, forward, backward]) {
            *slot = number.to_le_bytes();
        }
    }

    fn get(self, bytes: &[u8]) -> Self::Item {
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        (number(0), number(8), number(16))
    }
}

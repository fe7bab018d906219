//! Stage 1: every address of a side becomes a key, sorted.
//!
//! For unit 17 of side 1 (a large shard, or many small ones) there are, in the scratch folder:
//!
//! | file | what | order |
//! |---|---|---|
//! | `s001u000017.keys.000000`, … | keys | sorted runs |
//! | `s001u000017.hosts.000000`, … | hosts behind their hashes | sorted runs, each host once |
//! | `s001u000017.rejected` | rejections as JSON lines | input |
//! | `s001u000017.done` | counts; written last, it says that the unit is done | |

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use lookalike::corpus::{Corpus, LineReader, Losses};
use lookalike::engine::EngineError;
use lookalike::engine::pipeline::{self, Batch, Feed, Record, ShardEnd, Weight};
use lookalike::engine::store::file::RunWriter;
use lookalike::engine::store::sort::{Sorter, clear, existing};
use lookalike::engine::store::strings;
use lookalike::model::Unit;
use lookalike::tables::urls_rejected::UrlsRejectedRow;
use lookalike::walk::Stage;
use serde::{Deserialize, Serialize};

use crate::Context;
use crate::keys::{Key, KeyCodec, Packed, ParsedAddress};

/// Counts of the records of a unit, or of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RecordCounts {
    /// Records, rejected ones included.
    pub documents: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// Records that are no documents.
    pub skipped: u64,
    /// Documents without an address.
    pub without_url: u64,
    /// Documents that were judged.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub judged: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl RecordCounts {
    fn add(&mut self, other: &RecordCounts) {
        self.documents += other.documents;
        self.rejected += other.rejected;
        self.skipped += other.skipped;
        self.without_url += other.without_url;
        self.judged += other.judged;
    }

    /// Documents with an address.
    pub fn with_url(&self) -> u64 {
        self.documents - self.rejected - self.without_url
    }
}

/// A side that was read.
#[derive(Debug, Default)]
pub(crate) struct Side {
    pub(crate) counts: RecordCounts,
    /// Runs of keys, each with the number of the first document of its unit.
    pub(crate) keys: Vec<(PathBuf, u32)>,
    /// Runs of hosts.
    pub(crate) hosts: Vec<PathBuf>,
    /// Files of rejections.
    pub(crate) rejected: Vec<PathBuf>,
    /// Reasons why records were rejected.
    pub(crate) losses: Losses,
}

/// The facts that are saved for a unit beside its files.
#[derive(Debug, Default, Serialize, Deserialize)]
struct UnitFacts {
    #[serde(rename = "found")]
    counts: RecordCounts,
    keys: usize,
    hosts: usize,
    #[serde(default)]
    losses: Losses,
}

/// Reads a side, as far as that was not done.
pub(crate) fn side(ctx: &Context<'_>, side: usize) -> Result<Side, EngineError> {
    let corpus = &ctx.request.corpora[side];
    let units = pipeline::units(corpus);
    ctx.watch.begin(Stage { name: "read", total: corpus.bytes(), reads: true });
    let mut todo = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        if ctx.work.saved::<UnitFacts>(&unit_name(side, index, "done"))?.is_some() {
            let bytes: Option<u64> = corpus.shards()[unit.clone()].iter().map(|shard| shard.bytes).sum();
            ctx.watch.bytes.fetch_add(bytes.unwrap_or(0), Ordering::Relaxed);
        } else {
            todo.push(index);
        }
    }
    let stretches: Vec<_> = todo.iter().map(|&index| units[index].clone()).collect();
    let shape = ctx.shape();
    let drivers = shape.drivers.clamp(1, stretches.len().max(1));
    let buffer = ctx.buffer_bytes as usize / 2 / drivers;
    pipeline::run(
        corpus,
        &stretches,
        shape,
        ctx.watch,
        || Worker { lines: LineReader::new(corpus.options()), host: String::new() },
        |worker, batch| worker.read(ctx, side, batch),
        |index, feed| write_unit(ctx, (side, todo[index]), corpus, &stretches[index], buffer, feed),
    )?;
    gather(ctx, side, units.len())
}

fn unit_name(side: usize, unit: usize, what: &str) -> String {
    format!("s{side:03}u{unit:06}.{what}")
}

/// Puts together what the units of a side left behind.
fn gather(ctx: &Context<'_>, side: usize, units: usize) -> Result<Side, EngineError> {
    let mut all = Side::default();
    for unit in 0..units {
        let name = unit_name(side, unit, "done");
        let missing =
            || EngineError::Damaged { file: ctx.work.file(&name), what: "it is missing".to_owned() };
        let facts: UnitFacts = ctx.work.saved(&name)?.ok_or_else(missing)?;
        let base = u32::try_from(all.counts.documents).map_err(|_| EngineError::TooMany)?;
        let keys = existing(&ctx.work.run_location(&unit_name(side, unit, "keys")))?;
        all.keys.extend(keys.into_iter().take(facts.keys).map(|path| (path, base)));
        let hosts = existing(&ctx.work.run_location(&unit_name(side, unit, "hosts")))?;
        all.hosts.extend(hosts.into_iter().take(facts.hosts));
        all.rejected.push(ctx.work.file(&unit_name(side, unit, "rejected")));
        all.counts.add(&facts.counts);
        all.losses.merge(facts.losses);
    }
    if all.counts.documents >= u64::from(u32::MAX) {
        return Err(EngineError::TooMany);
    }
    Ok(all)
}

fn write_unit(
    ctx: &Context<'_>,
    (side, unit): (usize, usize),
    corpus: &Corpus,
    shards: &pipeline::Unit,
    buffer: usize,
    feed: &mut Feed<'_, Result<ReadBatch, EngineError>>,
) -> Result<(), EngineError> {
    let place = |what: &str| ctx.work.run_location(&unit_name(side, unit, what));
    clear(&place("keys"))?;
    let mut keys = Sorter::new(place("keys"), KeyCodec, buffer / 4 * 3);
    let mut hosts = strings::fresh(place("hosts"), 0, buffer / 4)?;
    let rejected = ctx.work.file(&unit_name(side, unit, "rejected"));
    let mut rejected = RunWriter::create(&rejected, ctx.work.label("rejected", 1))?;
    let (mut counts, mut losses) = (RecordCounts::default(), Losses::default());
    let (side_name, mut line) = (ctx.request.side_name(side), Vec::new());
    let mut shard = shards.start;
    while let Some(read_batch) = feed.next()? {
        let read_batch = read_batch?;
        read_batch.keys.iter().try_for_each(|&key| keys.push(key))?;
        read_batch.hosts().try_for_each(|host| hosts.add(host, &[]))?;
        let ended_before = |index: usize| read_batch.ends.iter().filter(|end| end.before <= index).count();
        for (index, position, unit, reason) in &read_batch.rejected {
            let row = UrlsRejectedRow {
                side: &side_name,
                source: &corpus.shards()[shard + ended_before(*index)].name,
                position: *position,
                reason,
            };
            losses.add(row.source, *position, Some(*unit), reason);
            line.clear();
            row.push_line(&mut line);
            rejected.push(&line)?;
        }
        for end in &read_batch.ends {
            counts.skipped += end.skipped.iter().map(|(_, count)| count).sum::<u64>();
        }
        shard += read_batch.ends.len();
        counts.add(&read_batch.counts);
    }
    losses.records = counts.documents;
    rejected.finish()?;
    let facts = UnitFacts { counts, keys: keys.into_runs()?.len(), hosts: hosts.into_runs()?.len(), losses };
    ctx.work.save(&unit_name(side, unit, "done"), &facts)
}

/// The result of reading a batch.
#[derive(Debug, Default)]
struct ReadBatch {
    keys: Vec<Packed>,
    /// Hosts behind their hashes, each with its length before it.
    hosts: Vec<u8>,
    /// Number in the batch, position, reason.
    rejected: Vec<(usize, u64, Unit, String)>,
    counts: RecordCounts,
    ends: Vec<ShardEnd>,
}

impl ReadBatch {
    fn hosts(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.hosts.as_slice();
        std::iter::from_fn(move || {
            let (length, behind) = rest.split_first_chunk::<4>()?;
            let (host, left) = behind.split_at(u32::from_le_bytes(*length) as usize);
            rest = left;
            Some(host)
        })
    }
}

impl Weight for ReadBatch {
    fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<Packed>() + self.hosts.capacity()
    }
}

struct Worker {
    lines: LineReader,
    /// The host before: lists often have many pages of one together.
    host: String,
}

impl Worker {
    fn read(&mut self, ctx: &Context<'_>, side: usize, batch: &Batch) -> Result<ReadBatch, EngineError> {
        let mut out = ReadBatch { ends: batch.ends.clone(), ..ReadBatch::default() };
        out.keys.reserve_exact(batch.len());
        self.host.clear();
        let host = &mut self.host;
        batch.read(&mut self.lines, |index, record| {
            out.counts.documents += 1;
            let document = match record {
                Record::Rejected(rejection) => {
                    out.counts.rejected += 1;
                    let reason = rejection.reason.to_string();
                    out.rejected.push((index, rejection.place.position, rejection.unit, reason));
                    return Ok(());
                }
                Record::Document(document) => document,
            };
            let judged = side == 0 && ctx.request.is_judged(document.id);
            out.counts.judged += u64::from(judged);
            let Some(address) = document.url.filter(|address| !address.trim().is_empty()) else {
                out.counts.without_url += 1;
                return Ok(());
            };
            let number = u32::try_from(batch.first + index as u64).map_err(|_| EngineError::TooMany)?;
            let parsed = ParsedAddress::new(address, ctx.request.matching, ctx.work.secret());
            let key = Key {
                host: parsed.hash,
                digest: parsed.digest,
                side: side as u8,
                number,
                depth: parsed.depth,
                judged,
            };
            out.keys.push(key.pack());
            if *host != parsed.host || out.hosts.is_empty() {
                out.hosts.extend_from_slice(&(parsed.host.len() as u32 + 8).to_le_bytes());
                out.hosts.extend_from_slice(&parsed.hash.to_be_bytes());
                out.hosts.extend_from_slice(parsed.host.as_bytes());
                *host = parsed.host;
            }
            Ok(())
        })?;
        Ok(out)
    }
}

//! Stage `read`: every address of a side becomes a key, sorted.
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
use lookalike::model::Unit;
use lookalike::store::file::RunWriter;
use lookalike::store::sort::{Sorter, clear, existing};
use lookalike::store::strings;
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

#[cfg(test)]
mod tests {
    use lookalike::store::file::Run;
    use lookalike::store::sort::Rebased;
    use serde_json::{Value, json};

    use super::*;
    use crate::Request;
    use crate::fixture::{Fixture, corpus_of_lines, pages, request};

    /// The keys of a side, in their order.
    fn keys(fixture: &Fixture, side: &Side) -> Vec<Key> {
        let mut keys = Rebased::open(KeyCodec, &fixture.work.run_location("keys"), &side.keys).unwrap();
        std::iter::from_fn(|| keys.next().unwrap().map(Key::unpack)).collect()
    }

    /// The hosts of the first unit of a side.
    fn hosts(fixture: &Fixture, number: usize, side: &Side) -> Vec<String> {
        let texts = fixture.texts(&unit_name(number, 0, "hosts"), 0, side.hosts.len());
        let mut hosts: Vec<String> =
            texts.into_iter().map(|(text, _)| String::from_utf8(text[8..].to_vec()).unwrap()).collect();
        hosts.sort();
        hosts
    }

    fn rejected_lines(fixture: &Fixture, side: &Side) -> Vec<Value> {
        let run = Run::open(&side.rejected[0], fixture.work.label("rejected", 1)).unwrap();
        let mut bytes = vec![0; run.bytes() as usize];
        run.records().take(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn documents_with_an_address_are_those_that_are_left() {
        let counts = RecordCounts { documents: 10, rejected: 3, skipped: 50, without_url: 2, judged: 1 };
        assert_eq!((counts.with_url(), RecordCounts::default().with_url()), (5, 0));
    }

    #[test]
    fn counts_of_units_add_up() {
        let mut counts = RecordCounts { documents: 1, rejected: 2, skipped: 3, without_url: 4, judged: 5 };
        counts.add(&RecordCounts { documents: 10, rejected: 20, skipped: 30, without_url: 40, judged: 50 });
        let sum = RecordCounts { documents: 11, rejected: 22, skipped: 33, without_url: 44, judged: 55 };
        assert_eq!(counts, sum);
    }

    #[test]
    fn counts_without_judgments_do_not_speak_of_them() {
        let counts = RecordCounts { documents: 1, ..RecordCounts::default() };
        let written = json!({"documents": 1, "rejected": 0, "skipped": 0, "without_url": 0});
        assert_eq!(serde_json::to_value(counts).unwrap(), written);
        assert_eq!(serde_json::from_value::<RecordCounts>(written).unwrap(), counts);
    }

    #[test]
    fn files_of_units_sort_by_side_and_unit() {
        assert_eq!(unit_name(1, 17, "keys"), "s001u000017.keys");
        let mut names = [unit_name(10, 0, "done"), unit_name(2, 100, "done"), unit_name(2, 9, "done")];
        names.sort();
        assert_eq!(names, ["s002u000009.done", "s002u000100.done", "s010u000000.done"]);
    }

    #[test]
    fn hosts_of_a_batch_come_one_by_one() {
        let mut batch = ReadBatch::default();
        assert_eq!(batch.hosts().count(), 0);
        for host in ["a.org", "", "münchen.de"] {
            batch.hosts.extend((host.len() as u32).to_le_bytes());
            batch.hosts.extend(host.bytes());
        }
        assert_eq!(batch.hosts().collect::<Vec<_>>(), [&b"a.org"[..], b"", "münchen.de".as_bytes()]);
    }

    #[test]
    fn a_side_without_documents_has_no_keys() {
        let fixture = Fixture::empty(1);
        let side = side(&fixture.ctx(), 0).unwrap();
        assert_eq!(side.counts, RecordCounts::default());
        assert_eq!(keys(&fixture, &side), []);
    }

    #[test]
    fn every_address_becomes_a_key_with_the_number_of_its_document() {
        let mut left = pages(&["http://a.org/x", "none", "http://b.org/", "http://A.org/x/y"]);
        left[1].0 = None;
        let fixture = Fixture::new(request(&[left, Vec::new()], 1));
        let side = side(&fixture.ctx(), 0).unwrap();
        let counts = RecordCounts { documents: 4, without_url: 1, ..RecordCounts::default() };
        assert_eq!(side.counts, counts);
        let mut keys = keys(&fixture, &side);
        // Keys are sorted by the secret's hashes, which are others in every run.
        let same_host = |a: &Key, b: &Key| a.host == b.host;
        assert_eq!(keys.chunk_by(same_host).count(), 2);
        keys.sort_by_key(|key| key.number);
        let found: Vec<_> = keys.iter().map(|key| (key.number, key.side, key.depth, key.judged)).collect();
        assert_eq!(found, [(0, 0, 1, false), (2, 0, 0, false), (3, 0, 2, false)]);
        let parsed = ParsedAddress::new("http://a.org/x", fixture.request.matching, fixture.work.secret());
        assert_eq!((keys[0].host, keys[0].digest), (parsed.hash, parsed.digest));
        assert_eq!(keys[0].host, keys[2].host);
    }

    #[test]
    fn blank_addresses_are_none() {
        let fixture = Fixture::new(request(&[pages(&["", " \t", "x"]), Vec::new()], 1));
        let counts = side(&fixture.ctx(), 0).unwrap().counts;
        assert_eq!((counts.documents, counts.without_url, counts.with_url()), (3, 2, 1));
    }

    #[test]
    fn every_host_is_noted_once() {
        let left =
            pages(&["http://b.org/1", "http://a.org/1", "http://b.org/2", "http://b.org/3", "no address"]);
        let fixture = Fixture::new(request(&[left, Vec::new()], 1));
        let side = side(&fixture.ctx(), 0).unwrap();
        assert_eq!(hosts(&fixture, 0, &side), ["", "a.org", "b.org"]);
    }

    #[test]
    fn addresses_without_a_host_have_an_empty_one() {
        let fixture = Fixture::new(request(&[pages(&["no address"]), Vec::new()], 1));
        let side = side(&fixture.ctx(), 0).unwrap();
        assert_eq!(hosts(&fixture, 0, &side), [""]);
    }

    #[test]
    fn only_left_documents_are_judged() {
        let sides = [pages(&["http://a.org/1", "http://a.org/2"]), pages(&["http://a.org/1"])];
        let judged = Some(vec!["0-1".to_owned(), "1-0".to_owned()]);
        let fixture = Fixture::new(Request { judged, ..request(&sides, 1) });
        let read = fixture.read();
        assert_eq!((read[0].counts.judged, read[1].counts.judged), (1, 0));
        let mut keys = keys(&fixture, &read[0]);
        keys.sort_by_key(|key| key.number);
        assert_eq!(keys.iter().map(|key| key.judged).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn rejected_records_keep_their_number_and_are_told_with_their_place() {
        let good = "{\"id\":\"ä\",\"url\":\"http://a.org/\",\"text\":\"x\"}\n";
        let mut request = request(&[Vec::new(), Vec::new()], 1);
        request.corpora[1] = corpus_of_lines(1, format!("{good}no JSON\n{good}"));
        let fixture = Fixture::new(request);
        let side = side(&fixture.ctx(), 1).unwrap();
        let counts = RecordCounts { documents: 3, rejected: 1, ..RecordCounts::default() };
        assert_eq!(side.counts, counts);
        let numbers: Vec<u32> = keys(&fixture, &side).iter().map(|key| key.number).collect();
        assert_eq!(numbers, [0, 2]);
        let lines = rejected_lines(&fixture, &side);
        assert_eq!(lines.len(), 1);
        assert_eq!((&lines[0]["side"], &lines[0]["source"]), (&json!("right"), &json!("side1.jsonl")));
        assert_eq!(lines[0]["position"], good.len());
        assert_eq!((side.losses.records, side.losses.rejected), (3, 1));
    }

    #[test]
    fn a_side_that_was_read_is_not_read_again() {
        let mut fixture = Fixture::new(request(&[pages(&["http://a.org/"]), Vec::new()], 1));
        let before = side(&fixture.ctx(), 0).unwrap().counts;
        fixture.request.judged = Some(vec!["0-0".to_owned()]);
        assert_eq!(side(&fixture.ctx(), 0).unwrap().counts, before);
    }

    #[test]
    fn a_unit_that_left_nothing_behind_is_damage() {
        let fixture = Fixture::empty(1);
        let error = gather(&fixture.ctx(), 0, 1).unwrap_err().to_string();
        assert!(error.contains("s000u000000.done is damaged: it is missing;"), "{error}");
    }

    #[test]
    fn numbers_of_a_unit_begin_behind_those_of_the_units_before() {
        let fixture = Fixture::empty(1);
        let ctx = fixture.ctx();
        for (unit, documents) in [3, 0, 4].into_iter().enumerate() {
            let mut keys = Sorter::new(ctx.work.run_location(&unit_name(0, unit, "keys")), KeyCodec, 1 << 12);
            let key = Key { host: 0, digest: 0, side: 0, number: 2, depth: 0, judged: false };
            keys.push(key.pack()).unwrap();
            let counts = RecordCounts { documents, ..RecordCounts::default() };
            let keys = keys.into_runs().unwrap().len();
            let facts = UnitFacts { counts, keys, ..UnitFacts::default() };
            ctx.work.save(&unit_name(0, unit, "done"), &facts).unwrap();
        }
        let side = gather(&ctx, 0, 3).unwrap();
        assert_eq!(side.counts.documents, 7);
        let numbers: Vec<u32> = keys(&fixture, &side).iter().map(|key| key.number).collect();
        assert_eq!(numbers, [2, 5, 5]);
    }

    #[test]
    fn more_documents_than_have_numbers_are_refused() {
        let fixture = Fixture::empty(1);
        let counts = RecordCounts { documents: u32::MAX.into(), ..RecordCounts::default() };
        let facts = UnitFacts { counts, ..UnitFacts::default() };
        fixture.work.save(&unit_name(0, 0, "done"), &facts).unwrap();
        assert!(matches!(gather(&fixture.ctx(), 0, 1), Err(EngineError::TooMany)));
    }
}

//! The files of one unit, written from the sketches of its batches, with checkpoints that a later process goes on from.
//!
//! A checkpoint (`u000000.begun`), taken every 20 seconds, says how long every file was, which key runs were there and
//! how many records had been read. A process that finds one cuts the files back to it and passes over these records: they
//! are read, and nothing is made of them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lookalike_store::file::{Label, Run, RunWriter, WriterCheckpoint};
use lookalike_store::sort::{Postings, RunLocation, Sorter, clear};
use serde::{Deserialize, Serialize};

use super::{MethodCounts, Row, ShardMeta, SketchedBatch, UnitMeta, unit_file};
use crate::context::{Context, RereadAccess, remove_if_there};
use crate::disk::forecast::DiskForecast;
use crate::error::EngineError;
use crate::panel::PanelMethod;
use crate::pipeline::{BufferPool, Feed, ResumePoint};
use crate::recipe::{Order, Task};

/// The files of a unit beside its key runs and the one that says it is done.
const FILES: [&str; 6] = ["docs", "names", "payload", TEXTS, "rejected", "values"];

/// The file of texts.
const TEXTS: &str = "texts";

/// Bytes of a block of texts: long enough to write few of them, short enough to read one for a single document.
const TEXT_BLOCK: usize = 32 << 10;

/// The time between two checkpoints; zero in tests, so that every batch ends with one.
const CHECKPOINT_INTERVAL: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(20) };

/// A unit that is being written.
pub(super) struct UnitWriter<'c> {
    ctx: &'c Context<'c>,
    unit: usize,
    docs: RunWriter,
    names: RunWriter,
    payload: RunWriter,
    rejected: RunWriter,
    /// The values that documents are ordered by, where they are.
    values: Option<RunWriter>,
    /// The texts, where these are kept.
    texts: Option<RunWriter>,
    keys: Vec<Sorter<Postings>>,
    meta: UnitMeta,
    /// The shard whose end was not met yet.
    open: ShardMeta,
    records: u64,
    last: Instant,
}

/// A moment that a later process goes on from.
#[derive(Debug, Serialize, Deserialize)]
struct Checkpoint {
    /// The shards whose ends were met, and the key runs that were there.
    meta: UnitMeta,
    open: ShardMeta,
    records: u64,
    /// The length that each file had.
    files: BTreeMap<String, WriterCheckpoint>,
}

/// Writes one unit from the sketches of its batches. The `buffer` for keys is given in bytes.
pub(super) fn write(
    ctx: &Context<'_>,
    unit: usize,
    access: RereadAccess,
    buffer: usize,
    feed: &mut Feed<'_, Result<SketchedBatch, EngineError>>,
    pool: &BufferPool<SketchedBatch>,
) -> Result<(), EngineError> {
    let mut writer = match UnitWriter::resume(ctx, unit, access, buffer)? {
        Some(begun) => begun,
        None => UnitWriter::create(ctx, unit, access, buffer)?,
    };
    feed.skip(writer.resume_point())?;
    while let Some(batch) = feed.next()? {
        let mut batch = batch?;
        writer.push(&mut batch)?;
        pool.give_back(batch);
    }
    writer.finish()
}

impl<'c> UnitWriter<'c> {
    fn create(
        ctx: &'c Context<'c>,
        unit: usize,
        access: RereadAccess,
        buffer: usize,
    ) -> Result<UnitWriter<'c>, EngineError> {
        // A checkpoint that cannot be gone on from goes before the files do that it speaks of.
        remove_if_there(&ctx.file(&checkpoint_name(unit)))?;
        for file in FILES {
            remove_if_there(&unit_file(ctx, unit, file))?;
        }
        let sorter = |(location, codec, bytes)| {
            clear(&location)?;
            Ok(Sorter::new(location, codec, bytes))
        };
        let keys: Vec<_> =
            key_locations(ctx, unit, buffer).map(sorter).collect::<Result<_, EngineError>>()?;
        let RereadAccess { spooled, seekable } = access;
        let method_counts = vec![MethodCounts::default(); keys.len()];
        let meta = UnitMeta { shards: Vec::new(), key_runs: Vec::new(), method_counts, spooled, seekable };
        let create = |file| {
            let (path, label) = file_of(ctx, unit, file);
            RunWriter::create(&path, label)
        };
        Ok(UnitWriter {
            ctx,
            unit,
            docs: create("docs")?,
            names: create("names")?,
            payload: create("payload")?,
            rejected: create("rejected")?,
            values: has_values(ctx).then(|| create("values")).transpose()?,
            texts: spooled.then(|| create(TEXTS)).transpose()?,
            keys,
            meta,
            open: ShardMeta::new(),
            records: 0,
            last: Instant::now(),
        })
    }

    /// Goes on from the last checkpoint; nothing when there is none that can be gone on from.
    fn resume(
        ctx: &'c Context<'c>,
        unit: usize,
        access: RereadAccess,
        buffer: usize,
    ) -> Result<Option<UnitWriter<'c>>, EngineError> {
        let Some(checkpoint) = ctx.saved::<Checkpoint>(&checkpoint_name(unit))? else { return Ok(None) };
        let Checkpoint { meta, open, records, mut files } = checkpoint;
        let RereadAccess { spooled, seekable } = access;
        // The spool is a setting and not a part of the recipe, and may change between two processes. A unit
        // is spooled from its first document on, or not at all.
        if (meta.spooled, meta.seekable) != (spooled, seekable) {
            return Ok(None);
        }
        let mut keys = Vec::new();
        for ((location, codec, bytes), &runs) in key_locations(ctx, unit, buffer).zip(&meta.key_runs) {
            let Some(sorter) = Sorter::with_runs(location, codec, bytes, runs)? else { return Ok(None) };
            keys.push(sorter);
        }
        let mut writers = BTreeMap::new();
        for file in FILES {
            // Not every job has values and texts; that the other files are there is asked for below.
            let Some(written) = files.remove(file) else { continue };
            let (path, label) = file_of(ctx, unit, file);
            let Some(writer) = RunWriter::resume(&path, label, written)? else { return Ok(None) };
            writers.insert(file, writer);
        }
        let mut take = |file| writers.remove(file);
        let (Some(docs), Some(names), Some(payload), Some(rejected)) =
            (take("docs"), take("names"), take("payload"), take("rejected"))
        else {
            return Ok(None);
        };
        let (values, texts, last) = (take("values"), take(TEXTS), Instant::now());
        let writer = UnitWriter {
            ctx,
            unit,
            docs,
            names,
            payload,
            rejected,
            values,
            texts,
            keys,
            meta,
            open,
            records,
            last,
        };
        Ok(Some(writer))
    }

    /// The records that are in the files already.
    fn resume_point(&self) -> ResumePoint {
        ResumePoint { shards: self.meta.shards.len(), records: self.open.records, all: self.records }
    }

    fn push(&mut self, batch: &mut SketchedBatch) -> Result<(), EngineError> {
        // Batches are sketched side by side, and number their names and texts from their own start: where
        // these stand in the file is known only here, before they are pushed.
        let (names, texts) = (self.names.position(), self.texts.as_ref().map_or(0, RunWriter::position));
        for row in &batch.rows {
            let row = Row { names: row.names + names, position: row.position + texts, ..*row };
            self.docs.push(&row.encode())?;
        }
        self.names.push(&batch.names)?;
        self.payload.push(&batch.payload)?;
        self.rejected.push(&batch.rejected)?;
        if let Some(values) = &mut self.values {
            values.push(&batch.values)?;
        }
        if let Some(texts) = &mut self.texts {
            texts.push(&batch.texts)?;
        }
        for (keys, batch) in self.keys.iter_mut().zip(&batch.keys) {
            batch.iter().try_for_each(|&posting| keys.push(posting))?;
        }
        self.meta
            .method_counts
            .iter_mut()
            .zip(&batch.method_counts)
            .for_each(|(all, counts)| all.add(counts));
        self.records += batch.rows.len() as u64;
        self.open.take(batch, &mut self.meta.shards);
        // Only between batches: here all files, key runs and counts speak of the same records.
        if self.last.elapsed() >= CHECKPOINT_INTERVAL { self.checkpoint() } else { Ok(()) }
    }

    fn checkpoint(&mut self) -> Result<(), EngineError> {
        // Files and key runs first, then the note that says how long they are: what is behind the note is cut
        // off by whoever goes on, so a stop between the two costs nothing but time.
        let mut files = BTreeMap::new();
        for (file, writer) in self.writers() {
            files.insert(file.to_owned(), writer.checkpoint()?);
        }
        let runs = self.keys.iter_mut().map(Sorter::checkpoint_all);
        self.meta.key_runs = runs.collect::<Result<_, _>>()?;
        let (meta, open, records) = (self.meta.clone(), self.open.clone(), self.records);
        self.ctx.save(&checkpoint_name(self.unit), &Checkpoint { meta, open, records, files })?;
        self.last = Instant::now();
        Ok(())
    }

    fn writers(&mut self) -> impl Iterator<Item = (&'static str, &mut RunWriter)> {
        let always = [
            ("docs", &mut self.docs),
            ("names", &mut self.names),
            ("payload", &mut self.payload),
            ("rejected", &mut self.rejected),
        ];
        let values = self.values.as_mut().map(|writer| ("values", writer));
        let texts = self.texts.as_mut().map(|writer| (TEXTS, writer));
        always.into_iter().chain(values).chain(texts)
    }

    fn finish(self) -> Result<(), EngineError> {
        // Numbers have four bytes, and the highest of them stands for no document.
        if self.records > u64::from(u32::MAX - 1) {
            return Err(EngineError::TooMany);
        }
        let UnitWriter { ctx, unit, docs, names, payload, rejected, values, texts, keys, mut meta, .. } =
            self;
        let files = [Some(docs), Some(names), Some(payload), Some(rejected), values, texts];
        files.into_iter().flatten().try_for_each(RunWriter::finish)?;
        let runs = |keys: Sorter<Postings>| Ok(keys.into_runs()?.len());
        meta.key_runs = keys.into_iter().map(runs).collect::<Result<_, EngineError>>()?;
        ctx.save(&format!("u{unit:06}.done"), &meta)?;
        remove_if_there(&ctx.file(&checkpoint_name(unit)))?;
        check_disk_space(ctx)
    }
}

/// Opens the texts of a unit that is spooled.
pub(crate) fn open_texts(ctx: &Context<'_>, unit: usize) -> Result<Run, EngineError> {
    let (path, label) = file_of(ctx, unit, TEXTS);
    Ok(Run::open(&path, label)?)
}

/// Looks whether the disk will do for all units, by what those that are done have taken.
fn check_disk_space(ctx: &Context<'_>) -> Result<(), EngineError> {
    // Of two corpora that are compared the first takes more than the other, and tells nothing of it.
    if ctx.recipe.task == Task::Compare {
        return Ok(());
    }
    let read = ctx.watch.bytes.load(std::sync::atomic::Ordering::Relaxed);
    DiskForecast::of(is_of_unit).check(ctx, read, ctx.input_bytes().unwrap_or(0))
}

/// True for the name of one of a unit's files.
fn is_of_unit(name: &str) -> bool {
    name.strip_prefix('u').is_some_and(|number| number.starts_with(|first: char| first.is_ascii_digit()))
}

/// The name of a unit's checkpoint.
fn checkpoint_name(unit: usize) -> String {
    format!("u{unit:06}.begun")
}

/// The path of one of a unit's files, and its label.
fn file_of(ctx: &Context<'_>, unit: usize, file: &'static str) -> (PathBuf, Label) {
    let label = match file {
        "docs" => ctx.label(file, Row::WIDTH),
        "payload" => ctx.label(file, ctx.panel.width()),
        TEXTS => ctx.label(file, 1).with_blocks(TEXT_BLOCK),
        // Entries of any length: the width is that of a byte, and offsets or lengths tell where an entry
        // ends.
        _ => ctx.label(file, 1),
    };
    (unit_file(ctx, unit, file), label)
}

fn has_values(ctx: &Context<'_>) -> bool {
    matches!(ctx.order, Some(Order::Field(_)))
}

/// For each method the place where its keys are sorted, their codec, and the bytes for that.
fn key_locations(
    ctx: &Context<'_>,
    unit: usize,
    buffer: usize,
) -> impl Iterator<Item = (RunLocation, Postings, usize)> {
    let proposers = ctx.panel.proposers();
    let location = move |(number, entry): (usize, &PanelMethod)| {
        let location = ctx.run_location(&format!("u{unit:06}.keys{number}"));
        (location, Postings { tagged: entry.tagged }, buffer / proposers.len())
    };
    proposers.iter().enumerate().map(location)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use lookalike_corpus::{Corpus, ReadOptions};

    use crate::tests::{generated, outputs, recipe, run};
    use crate::{EngineError, Job, JobRecipe, Outputs, Settings, Spool};

    const MEGABYTE: u64 = 1 << 20;

    /// A job on documents of which a large one in the middle needs more memory than the smallest cap.
    fn job(lines: &str, memory: u64, threads: usize) -> Job {
        let mut recipe: JobRecipe = recipe("minhash");
        recipe.reading.max_document_bytes = 8 * MEGABYTE;
        let options = ReadOptions { max_document_bytes: 8 << 20, ..ReadOptions::default() };
        let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), options);
        let settings = Settings { threads, memory, spool: Spool::Disk };
        Job { recipe, corpus, against: None, lexicon: None, settings, outputs: Outputs::default() }
    }

    fn stop_in_the_middle(lines: &str, threads: usize, folder: &Path) {
        let stopped = run(job(lines, (128 + 4 * threads as u64 + 16) * MEGABYTE, threads), folder, None);
        assert!(matches!(stopped, Err(EngineError::Memory { .. })), "{stopped:?}");
        assert!(folder.join("work/u000000.begun").exists());
    }

    /// A line whose words all begin with one letter.
    fn line(id: &str, letter: char) -> String {
        let words: Vec<String> = (0..60).map(|number| format!("{letter}{number}")).collect();
        format!("{{\"id\":\"{id}\",\"text\":\"{}\"}}\n", words.join(" "))
    }

    #[test]
    fn a_unit_goes_on_from_its_last_checkpoint() {
        let (before, behind) = (generated(600, 3), generated(600, 4));
        let large = format!("{{\"id\":\"large\",\"text\":\"{}\"}}\n", "w ".repeat(3 << 20));
        let rest = format!("{}{before}{{}}\n{large}{behind}", line("second", 'a'));
        let whole = tempfile::tempdir().unwrap();
        run(job(&format!("{}{rest}", line("first", 'a')), 1024 * MEGABYTE, 2), whole.path(), None).unwrap();
        let expected = outputs(whole.path());
        let removed = String::from_utf8_lossy(&expected["removed.jsonl"]).into_owned();
        assert!(removed.contains("\"id\":\"second\",\"witness\":\"first\""), "{removed}");
        for threads in [1, 3] {
            let folder = tempfile::tempdir().unwrap();
            stop_in_the_middle(&format!("{}{rest}", line("first", 'a')), threads, folder.path());
            // What was read before the checkpoint is not looked at again: other words of the same length make no difference.
            let other = format!("{}{rest}", line("first", 'b'));
            run(job(&other, 1024 * MEGABYTE, 4 - threads), folder.path(), None).unwrap();
            let found = outputs(folder.path());
            for table in ["removed.jsonl", "clusters.jsonl", "rejected.jsonl", "summary.json"] {
                assert!(expected.get(table) == found.get(table), "{table} with {threads} threads");
            }
        }
    }

    #[test]
    fn a_checkpoint_without_its_files_is_none() {
        let small = generated(400, 4);
        let large = format!("{{\"id\":\"large\",\"text\":\"{}\"}}\n", "w ".repeat(3 << 20));
        let lines = format!("{small}{large}");
        let whole = tempfile::tempdir().unwrap();
        run(job(&lines, 1024 * MEGABYTE, 2), whole.path(), None).unwrap();
        for lost in ["u000000.docs.part", "u000000.keys0.000000"] {
            let folder = tempfile::tempdir().unwrap();
            stop_in_the_middle(&lines, 2, folder.path());
            std::fs::remove_file(folder.path().join("work").join(lost)).unwrap();
            run(job(&lines, 1024 * MEGABYTE, 2), folder.path(), None).unwrap();
            assert!(outputs(whole.path()) == outputs(folder.path()), "{lost}");
        }
    }
}

//! Today's documents against everything before: `dedup` with an index, one document after the other.
//!
//! Documents are decided in their order against what the index holds and against each other, and added to it. Day by day this
//! comes to the same as one run over all days with `--keep first`. What is written are the files of a `dedup` job; a document
//! that stands for one of today's and was there before bears `"against":"index"` and its number in the index.
//!
//! A killed run goes on: every write to the index carries how far the input was taken.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::Path;

use lookalike_corpus::write::rows::{Cell, RowFormat, RowWriter};
use lookalike_corpus::{Corpus, Losses};
use lookalike_engine::patch::{ListKey, Patch};
use lookalike_engine::walk::{self, Stage, Watch};
use lookalike_engine::workplace::Workplace;
use lookalike_engine::{EngineError, Findings, JobRecipe, Settings, Summary};
use lookalike_index::{
    CorpusRecord, CreateOptions, Entry, Index, IndexError, Mode, OnExistingId, Portion, Progress,
    QueryBuffers, State, WriterOptions,
};
use lookalike_store::sort::{Couples, Digests, Sorted, Sorter, clear, couple, uncouple};
use lookalike_tables::Table;
use lookalike_tables::clusters::{self, ClusterRow};
use lookalike_tables::rejected::{self, RejectedRow};
use lookalike_tables::removed::{self, RemovedRow};
use serde::{Deserialize, Serialize};

use crate::page;

/// A `dedup` run of today's documents with an index.
#[derive(Debug)]
pub struct IncrementalDedup<'d> {
    /// The recipe by which documents are read, found and measured.
    pub recipe: JobRecipe,
    /// Today's documents.
    pub corpus: Corpus,
    /// The index with everything before; nothing to begin one.
    pub against: Option<&'d Path>,
    /// The index that they are added to; nothing to leave it as it is.
    pub into: Option<&'d Path>,
    /// A lexicon for methods that weigh words, where an index is begun.
    pub lexicon: Option<&'d Path>,
    /// Copies of the shards without removed documents are written.
    pub write_kept: bool,
    /// Threads, memory and spool.
    pub settings: Settings,
}

/// The result of a `dedup` run with an index.
#[derive(Debug)]
pub struct IncrementalFindings {
    /// Everything that went into its files.
    pub findings: Findings,
    /// Documents that this process kept without comparing them with all candidates; see [`Index::partly_compared`].
    pub partly_compared: u64,
}

/// The state of a run that each write to the index carries, so that a killed run can go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RunCheckpoint {
    /// The run: the digest of its recipe and input.
    run: String,
    /// The number of its first document.
    first: u32,
    /// The number behind its last one so far.
    next: u32,
    progress: Progress,
    /// Bytes of the list of rejections.
    rejected: u64,
    skipped: u64,
    /// All its results are written.
    finished: bool,
}

impl RunCheckpoint {
    /// The last one that an index carries.
    fn of(index: &Index) -> Option<Self> {
        serde_json::from_slice(index.mark()?).ok()
    }

    /// True when one of its documents is still there.
    fn has_documents(&self, index: &Index) -> Result<bool, IndexError> {
        let mut buffers = index.buffers()?;
        for number in self.first..self.next {
            if index.entry(&mut buffers, number)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("numbers can be written")
    }
}

/// A line of the list of rejections that a run keeps until its end.
#[derive(Debug, Serialize, Deserialize)]
struct RejectionLine {
    n: u64,
    source: String,
    position: u64,
    reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

const REJECTED: &str = "rejected";
/// The number of a run's first document: what tells it from an earlier run over the same input.
const FIRST: &str = "first";
/// Documents between two checks whether to stop.
const STOP_CHECK_INTERVAL: u32 = 4096;

impl IncrementalDedup<'_> {
    /// Runs to the end, or goes on where an earlier process ended. Nothing when it was finished in this folder.
    pub fn run(mut self, folder: &Path, watch: &Watch) -> Result<Option<IncrementalFindings>, IndexError> {
        if let Some(there) = self.against.or(self.into).filter(|folder| Index::exists(folder)) {
            Index::require_of(there, &self.recipe)?;
        }
        self.check_input()?;
        let recipe = self.recipe.to_toml();
        let mut corpora = [self.corpus];
        let Some(mut place) = Workplace::open(folder, &recipe, &mut corpora)? else { return Ok(None) };
        let [corpus] = corpora;
        self.corpus = corpus;
        // Standard input can be looked at now.
        self.check_input()?;
        let index = self.index(&place)?;
        let checkpoint = self.add_documents(&index, &place, watch)?;
        place.lap("index");
        let results = ResultsWriter::new(&index, &place, checkpoint.clone())?;
        let losses = results.losses()?;
        losses.check("the input", self.corpus.options().max_rejected).map_err(EngineError::from)?;
        let mut findings = results.write(watch, self.settings.memory)?;
        findings.rejections = losses.reasons().into_iter().map(|loss| (loss.kind, loss.count)).collect();
        findings.summary.reasons = losses.reasons();
        place.lap("write");
        if self.write_kept {
            self.copy(&place, watch)?;
            place.lap("kept");
        }
        findings.notes.push(
            "Documents were decided one after the other against an index: pairs that decide nothing were not counted."
                .to_owned(),
        );
        let report = page::report("Near-duplicates", &self.recipe, &findings)?;
        place.write("report.html", lookalike_report::render(&report).as_bytes())?;
        index.add_marked(
            Vec::new(),
            OnExistingId::Both,
            Some(RunCheckpoint { finished: true, ..checkpoint }.to_json()),
        )?;
        let partly_compared = index.partly_compared();
        index.close()?;
        place.finish(&self.settings, &findings.summary)?;
        Ok(Some(IncrementalFindings { findings, partly_compared }))
    }

    /// Refuses an input whose first records lack a field that was named, or are no documents.
    fn check_input(&self) -> Result<(), EngineError> {
        Ok(self.corpus.check_first_records(self.recipe.needs_addresses())?)
    }

    /// The index that documents are added to: the one that was named, or a copy that goes with the work.
    fn index(&self, place: &Workplace) -> Result<Index, IndexError> {
        let folder = match (self.against, self.into) {
            (Some(against), None) => {
                let copy = place.file("index");
                // A copy that was begun and not finished has no manifest, and is made again.
                if !Index::exists(&copy) {
                    Index::fork(against, &copy)?;
                }
                copy
            }
            (None, Some(into)) if !Index::exists(into) => {
                let options = CreateOptions {
                    recipe: JobRecipe { against: false, ..self.recipe.clone() },
                    text: true,
                    lexicon: self.lexicon,
                    learn: None,
                    settings: &self.settings,
                };
                Index::create(into, options, &Watch::default())?;
                into.to_owned()
            }
            (_, Some(into)) => into.to_owned(),
            (None, None) => return Err(IndexError::Request("an index is wanted".to_owned())),
        };
        let index = Index::open_within(&folder, Mode::Write(WriterOptions::default()), &self.settings)?;
        let ours = self.checkpoint(&index, place)?.is_some();
        if self.against.is_none() && index.next() > 0 && !ours {
            return Err(IndexError::Request(format!(
                "{0} holds documents; give --against {0}, too, to compare with them",
                folder.display()
            )));
        }
        Ok(index)
    }

    /// The last checkpoint of this run, if the index has one.
    fn checkpoint(&self, index: &Index, place: &Workplace) -> Result<Option<RunCheckpoint>, IndexError> {
        let first: Option<u32> = place.saved(FIRST)?;
        let checkpoint = RunCheckpoint::of(index).filter(|checkpoint| checkpoint.run == place.stamp());
        match checkpoint {
            Some(checkpoint) if Some(checkpoint.first) == first => Ok(Some(checkpoint)),
            // Its documents would be taken for near-duplicates of themselves.
            Some(checkpoint) if !checkpoint.finished && checkpoint.has_documents(index)? => {
                Err(IndexError::Request(format!(
                    "{} holds the beginning of this run from another folder; go on there, or take its documents out",
                    index.folder().display()
                )))
            }
            // Of what this run added nothing is known any more: another one came in between.
            _ if first.is_some_and(|first| first < index.next()) => Err(index_changed_error(index)),
            _ => Ok(None),
        }
    }

    /// Adds all documents that are not in the index yet.
    fn add_documents(
        &self,
        index: &Index,
        place: &Workplace,
        watch: &Watch,
    ) -> Result<RunCheckpoint, IndexError> {
        let run = place.stamp();
        let begun = || RunCheckpoint {
            run: run.clone(),
            first: index.next(),
            next: index.next(),
            progress: Progress::default(),
            rejected: 0,
            skipped: 0,
            finished: false,
        };
        let mut checkpoint = match self.checkpoint(index, place)? {
            Some(checkpoint) => checkpoint,
            None => {
                place.save(FIRST, &index.next())?;
                // Without it nobody would know later whose documents these are.
                place.sync()?;
                begun()
            }
        };
        if index.next() != checkpoint.next {
            return Err(index_changed_error(index));
        }
        let path = place.file(REJECTED);
        let failed = |error| IndexError::from(EngineError::write(&path, error));
        let open = || -> std::io::Result<File> {
            let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            file.set_len(checkpoint.rejected)?;
            file.seek(std::io::SeekFrom::End(0))?;
            Ok(file)
        };
        let mut rejected = open().map_err(failed)?;
        let from = checkpoint.progress;
        let on_portion = |portion: &Portion<'_>| {
            let lines = rejections(portion);
            rejected.write_all(&lines).map_err(failed)?;
            if !lines.is_empty() {
                rejected.sync_data().map_err(failed)?;
            }
            checkpoint.rejected += lines.len() as u64;
            checkpoint.progress = portion.progress;
            checkpoint.skipped += portion.skipped;
            let documents =
                portion.records.iter().filter(|record| matches!(record, CorpusRecord::Document(_)));
            checkpoint.next += documents.count() as u32;
            Ok(Some(checkpoint.to_json()))
        };
        index.add_corpus(
            &self.corpus,
            &self.settings,
            from,
            OnExistingId::Both,
            watch,
            on_portion,
            |_, _| Ok(()),
        )?;
        Ok(checkpoint)
    }

    /// Copies the shards without removed documents.
    fn copy(&self, place: &Workplace, watch: &Watch) -> Result<(), IndexError> {
        let list = place.result("removed.jsonl");
        let file = File::open(&list).map_err(|error| EngineError::read(&list, error))?;
        let patch = Patch::read("removed.jsonl", BufReader::new(file), ListKey::Number)?;
        let threads = self.settings.threads;
        let surveys =
            walk::shards(&self.corpus, threads, |shard| patch.scan(shard, &self.corpus, watch, |_| Ok(())));
        let cut = patch.plan(&surveys.map_err(EngineError::from)?)?;
        let root = place.result("kept");
        let journal = place.file("copies");
        Ok(cut.write(&self.corpus, self.recipe.content()?, &root, &journal, threads, watch)?)
    }
}

fn index_changed_error(index: &Index) -> IndexError {
    IndexError::Request(format!(
        "{} got other documents since this run was stopped; take out what it added with `lookalike index remove`, and begin it \
         in a new folder",
        index.folder().display()
    ))
}

/// The records of a portion that are no documents, as lines.
fn rejections(portion: &Portion<'_>) -> Vec<u8> {
    let first = portion.progress.total - portion.records.len() as u64;
    let mut lines = Vec::new();
    for (n, record) in (first..).zip(&portion.records) {
        if let CorpusRecord::Rejected { source, position, reason, id } = record {
            let line = RejectionLine {
                n,
                source: (*source).to_owned(),
                position: *position,
                reason: reason.clone(),
                id: id.clone(),
            };
            serde_json::to_writer(&mut lines, &line).expect("memory can be written");
            lines.push(b'\n');
        }
    }
    lines
}

/// Writes the results of a run, all of whose documents are in the index.
struct ResultsWriter<'t> {
    index: &'t Index,
    place: &'t Workplace,
    checkpoint: RunCheckpoint,
    /// Documents before each rejected record: 8 bytes for each.
    before: Vec<u64>,
}

impl<'t> ResultsWriter<'t> {
    fn new(index: &'t Index, place: &'t Workplace, checkpoint: RunCheckpoint) -> Result<Self, IndexError> {
        let mut writer = ResultsWriter { index, place, checkpoint, before: Vec::new() };
        let mut before = Vec::new();
        writer.rejections(|line| {
            before.push(line.n - before.len() as u64);
            Ok(())
        })?;
        writer.before = before;
        Ok(writer)
    }

    fn rejections(
        &self,
        mut each: impl FnMut(RejectionLine) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let path = self.place.file(REJECTED);
        let failed = |error| IndexError::from(EngineError::read(&path, error));
        for line in BufReader::new(File::open(&path).map_err(failed)?).lines() {
            let line = serde_json::from_str(&line.map_err(failed)?);
            each(line.map_err(|error| failed(error.into()))?)?;
        }
        Ok(())
    }

    /// The ordinal of a document in today's input; its number in the index if it was there before.
    fn ordinal(&self, number: u32) -> (u64, Option<&'static str>) {
        if number < self.checkpoint.first {
            return (number.into(), Some("index"));
        }
        let position = u64::from(number - self.checkpoint.first);
        (position + self.before.partition_point(|&before| before <= position) as u64, None)
    }

    /// Begins a table of results. All of them are JSON lines here, which leave out columns that a run with an index has no values for.
    fn table(&self, table: Table) -> Result<JsonTable, IndexError> {
        let target = self.place.result(&table.file_name(RowFormat::Jsonl));
        let recipe = self.index.recipe().to_toml();
        let rows = RowWriter::create(&target, RowFormat::Jsonl, table.columns, &recipe);
        Ok(JsonTable(rows.map_err(EngineError::from)?))
    }

    fn entry(&self, buffers: &mut QueryBuffers, number: u32) -> Result<Entry, IndexError> {
        let gone = || {
            IndexError::Request(format!("number {number} was taken out of the index in the midst of the run"))
        };
        self.index.entry(buffers, number)?.ok_or_else(gone)
    }

    fn write(&self, watch: &Watch, memory: u64) -> Result<Findings, IndexError> {
        watch.begin(Stage { name: "write", total: None, reads: false });
        let mut findings = Findings { histogram: vec![0; 101], ..Findings::default() };
        let summary = &mut findings.summary;
        summary.version = env!("CARGO_PKG_VERSION").to_owned();
        summary.against = self.checkpoint.first.into();
        (summary.documents, summary.skipped) = (self.checkpoint.progress.total, self.checkpoint.skipped);
        summary.unverified = !self.index.recipe().verified;
        self.write_removed(watch, memory, &mut findings)?;
        self.write_rejected(&mut findings.summary)?;
        Ok(findings)
    }

    fn write_removed(&self, watch: &Watch, memory: u64, findings: &mut Findings) -> Result<(), IndexError> {
        let mut buffers = self.index.buffers()?;
        let mut rows = self.table(removed::TABLE)?;
        let [clustering, ids] = ["clustering", "ids"].map(|name| self.place.run_location(name));
        clear(&clustering)?;
        clear(&ids)?;
        let mut sorter = Sorter::new(clustering, Couples, memory as usize / 8);
        let mut ids = Sorter::new(ids, Digests, memory as usize / 8);
        for number in self.checkpoint.first..self.checkpoint.next {
            if number.is_multiple_of(STOP_CHECK_INTERVAL) {
                watch.check().map_err(EngineError::from)?;
            }
            let entry = self.entry(&mut buffers, number)?;
            let summary = &mut findings.summary;
            summary.text_bytes += u64::from(entry.text_bytes);
            summary.exact_duplicates += u64::from(entry.leader != number);
            ids.push((self.place.secret().digest(entry.id.as_bytes()), number))?;
            let State::Removed { witness, similarity } = entry.state else {
                summary.kept += 1;
                continue;
            };
            summary.removed += 1;
            let bin = similarity.map_or(0, |similarity| (similarity * 100.0) as usize).min(100);
            findings.histogram[bin] += 1;
            findings.reached += 1;
            sorter.push(couple(witness, number))?;
            let other = self.entry(&mut buffers, witness)?;
            let (witness_n, against) = self.ordinal(witness);
            let row = RemovedRow {
                id: &entry.id,
                witness: &other.id,
                similarity,
                cluster: witness_n,
                n: self.ordinal(number).0,
                witness_n,
                via: None,
                against,
            };
            rows.push(&row.cells())?;
        }
        rows.finish()?;
        findings.summary.duplicate_ids = self.repeated(ids.sorted()?, &mut buffers)?;
        self.write_clusters(sorter, &mut buffers, findings)
    }

    /// Documents of the run whose id an earlier one bears, of the run or before it. Each id is looked up once, however many bear it.
    fn repeated(&self, mut ids: Sorted<Digests>, buffers: &mut QueryBuffers) -> Result<u64, IndexError> {
        let (mut last, mut repeated) = (None, 0);
        while let Some((id, number)) = ids.next()? {
            if last.replace(id) == Some(id) {
                repeated += 1;
            } else if self.checkpoint.first > 0 {
                let id = self.entry(buffers, number)?.id;
                let first = self.index.first_of(buffers, &id)?;
                repeated += u64::from(first.is_some_and(|first| first < self.checkpoint.first));
            }
        }
        Ok(repeated)
    }

    fn write_clusters(
        &self,
        sorter: Sorter<Couples>,
        buffers: &mut QueryBuffers,
        findings: &mut Findings,
    ) -> Result<(), IndexError> {
        let mut table = self.table(clusters::TABLE)?;
        let mut bins: BTreeMap<u32, u64> = BTreeMap::new();
        let mut members: Vec<u32> = Vec::new();
        let mut sorted = sorter.sorted()?;
        loop {
            let next = sorted.next()?.map(uncouple);
            if next.is_none_or(|(keeper, _)| members.first() != Some(&keeper)) && !members.is_empty() {
                bins.entry((members.len() as u64).ilog2()).and_modify(|count| *count += 1).or_insert(1);
                findings.summary.clusters += 1;
                self.write_cluster(&members, buffers, &mut table)?;
                members.clear();
            }
            let Some((keeper, member)) = next else { break };
            if members.is_empty() {
                members.push(keeper);
            }
            members.push(member);
        }
        findings.cluster_sizes =
            bins.iter().map(|(&bin, &count)| (1 << bin, (2 << bin) - 1, count)).collect();
        table.finish()
    }

    /// A line of `clusters.jsonl`: members are today's, and the keeper.
    fn write_cluster(
        &self,
        members: &[u32],
        buffers: &mut QueryBuffers,
        table: &mut JsonTable,
    ) -> Result<(), IndexError> {
        let mut ids = Vec::new();
        for &member in members {
            ids.push(self.entry(buffers, member)?.id);
        }
        let numbers: Vec<u64> = members.iter().map(|&member| self.ordinal(member).0).collect();
        let (cluster, against) = self.ordinal(members[0]);
        let members: Vec<&str> = ids.iter().map(String::as_str).collect();
        let row = ClusterRow { cluster, keep: members[0], members: &members, members_n: &numbers, against };
        table.push(&row.cells())
    }

    /// The records of the input, and why those that could not be read were not.
    fn losses(&self) -> Result<Losses, IndexError> {
        let mut losses = Losses::default();
        self.rejections(|line| {
            losses.add(&line.source, line.position, None, &line.reason);
            Ok(())
        })?;
        losses.records = self.checkpoint.progress.total;
        Ok(losses)
    }

    fn write_rejected(&self, summary: &mut Summary) -> Result<(), IndexError> {
        let mut table = self.table(rejected::TABLE)?;
        self.rejections(|line| {
            summary.rejected += 1;
            let row = RejectedRow {
                source: &line.source,
                position: line.position,
                reason: &line.reason,
                side: None,
                id: line.id.as_deref(),
            };
            table.push(&row.cells())
        })?;
        table.finish()
    }
}

/// A table of JSON lines on its way into a file.
struct JsonTable(RowWriter);

impl JsonTable {
    fn push(&mut self, cells: &[Cell<'_>]) -> Result<(), IndexError> {
        Ok(self.0.push(cells).map_err(EngineError::from)?)
    }

    fn finish(self) -> Result<(), IndexError> {
        Ok(self.0.finish().map_err(EngineError::from)?)
    }
}

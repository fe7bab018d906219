//! A job: a folder, a recipe, an input, and the stages from the first to the last.
//!
//! [`Job::open`] takes a folder and locks it, [`OpenJob::run`] goes through the stages, and [`OpenJob::finish`] writes
//! `summary.json` last. What stages leave behind are run files, also counts and other facts that a later process goes on
//! from (`Context::save`): checked when they are read, and renamed when they are whole.
//!
//! The input must stay as it is. Marks of all files (size, time, a digest of standard input or of an object's tag) are
//! taken when the corpus is opened, before anything is read, and are kept in the manifest and in `run.json`. A shard is
//! looked at before and after each reading. A digest of its bytes, taken as they pass, is kept with its unit and
//! compared, as are the counts of its records, when it is copied.
//!
//! A job goes on with another list of files when no file that was read is gone or changed. A unit that is done stays
//! where it has the same shards under the same number; others, and all that came after the sketch, are made anew. Methods
//! that must see all documents first, and `compare`, refuse another list. A table in memory cannot be told from another
//! one, so that a job on one wants a new folder.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use lookalike_corpus::write::rows::RowFormat;
use lookalike_corpus::{Corpus, Loss, Origin};
use lookalike_hash::{self as hash, Secret};
use lookalike_store::journal::{self, Journal, Recovered};
use lookalike_store::sync::{sync, sync_folder};
use serde::{Deserialize, Serialize, Serializer};
use xxhash_rust::xxh3::Xxh3;

use crate::catalogue::Catalogue;
use crate::context::{Budget, Context, Settings, Spool, remove_if_there, write_whole, write_whole_with};
use crate::delivered;
use crate::disk::estimate;
use crate::error::EngineError;
use crate::folder;
use crate::pipeline;
use crate::recipe::{JobRecipe, Task};
use crate::rejections;
use crate::results::Findings;
use crate::stages::lexicon::{self, WordTotals};
use crate::stages::sketch::{self, Row};
use crate::stages::write::{StageCounts, compare, dedup, pairs, shards};
use crate::stages::{collapse, group, order, report, survey, verify};
use crate::stdin;
use crate::walk::Watch;

/// A job before it is opened: recipe, inputs, settings and outputs.
#[derive(Debug, Clone)]
pub struct Job {
    /// Everything that can change the result.
    pub recipe: JobRecipe,
    /// The input.
    pub corpus: Corpus,
    /// Documents to compare the input with.
    pub against: Option<Corpus>,
    /// The lexicon of [`JobRecipe::lexicon`].
    pub lexicon: Option<PathBuf>,
    /// The resources of the run.
    pub settings: Settings,
    /// The outputs beside the decisions.
    pub outputs: Outputs,
}

/// The outputs of a job beside its decisions. They belong to the job and not to the recipe: a job that goes on must ask for the
/// same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outputs {
    /// Format of the tables.
    pub format: RowFormat,
    /// Copies of the input shards.
    pub write: Shards,
    /// Kept records carry their cluster and its size.
    pub annotate: bool,
    /// The suffix of the file name of the table of pairs that stands for its compression.
    pub suffix: &'static str,
}

/// The documents that the copies of the input shards hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shards {
    /// No copies are made.
    #[default]
    None,
    /// Those that were kept.
    Kept,
    /// Those that were removed.
    Removed,
}

/// The counts of a finished job.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Records found, rejected ones included.
    pub documents: u64,
    /// Documents that stay.
    pub kept: u64,
    /// Documents that go, each with a witness.
    pub removed: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// Records that are no documents.
    pub skipped: u64,
    /// Clusters of two or more.
    pub clusters: u64,
    /// Documents beyond the first of each class of equal words.
    pub exact_duplicates: u64,
    /// Distinct pairs proposed.
    pub candidates: u64,
    /// Pairs measured.
    pub verified: u64,
    /// Groups that did not propose all of their pairs.
    pub giant_groups: u64,
    /// Documents whose id an earlier one bears.
    pub duplicate_ids: u64,
    /// Bytes of extracted text.
    pub text_bytes: u64,
    /// Version of the program.
    pub version: String,
    /// Pairs written, by `pairs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// Pairs counted by the method's word alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
    /// Witnesses may be below the threshold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub witnesses_waived: bool,
    /// Documents of the other corpus.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub against: u64,
    /// Files that were left out of folders, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, u64>,
    /// Records of the other corpus that could not be read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub against_rejected: u64,
    /// Reasons why records could not be read, the most frequent first, those of the other corpus behind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Loss>,
}

impl Summary {
    /// Records of both corpora that could not be read.
    pub fn all_rejected(&self) -> u64 {
        self.rejected + self.against_rejected
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The facts about the machine and the run in `run.json`, the one file that differs from run to run.
#[derive(Debug, Serialize)]
struct RunFacts<'c> {
    seconds: f64,
    seconds_by_stage: BTreeMap<&'static str, f64>,
    peak_memory_bytes: Option<u64>,
    /// The largest resident set up to the end of each stage.
    peak_memory_by_stage: BTreeMap<&'static str, u64>,
    scratch_bytes: u64,
    threads: usize,
    memory_cap_bytes: u64,
    spool: Spool,
    cores: usize,
    system: &'static str,
    finished: u64,
    /// Digest of the names, sizes and times of the input files.
    inputs: String,
    /// The addresses of the input files, for programs that read them again.
    files: FileAddresses<'c>,
    /// The outputs, as command-line options.
    outputs: String,
    /// Files that were left out of folders, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<String, Vec<String>>,
}

/// The addresses of the files of a corpus, made while they are written.
#[derive(Debug)]
pub(crate) struct FileAddresses<'c>(pub(crate) &'c Corpus);

impl Serialize for FileAddresses<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.shards().iter().filter_map(lookalike_corpus::Shard::address))
    }
}

/// The names of what was left out of corpora, by reason.
pub(crate) fn left_out<'c>(corpora: impl Iterator<Item = &'c Corpus>) -> BTreeMap<String, Vec<String>> {
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (reason, name) in corpora.flat_map(|corpus| corpus.left_out().names()) {
        names.entry(reason.to_string()).or_default().push(name.clone());
    }
    names
}

/// The mark of an input shard, taken before it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InputMark<'c> {
    name: Cow<'c, str>,
    bytes: Option<u64>,
    modified: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<u64>,
    against: bool,
}

impl<'c> InputMark<'c> {
    /// The marks of all files of a corpus.
    pub(crate) fn all(corpus: &'c Corpus, against: bool) -> Vec<InputMark<'c>> {
        let mark = |shard: &'c lookalike_corpus::Shard| InputMark {
            name: Cow::Borrowed(&shard.name),
            bytes: shard.bytes,
            modified: shard.modified,
            digest: shard.digest,
            against,
        };
        corpus.shards().iter().map(mark).collect()
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct JobManifest<'c> {
    recipe: String,
    inputs: Vec<InputMark<'c>>,
    outputs: String,
    /// The seed of the job's secret. Whoever goes on with the job goes by the same.
    secret: String,
    /// Recipe and inputs of the beginning in 128 bits, borne by every scratch file.
    stamp: String,
}

impl JobManifest<'_> {
    /// The manifest that stands there, if any.
    fn read(path: &Path) -> Result<Option<Self>, EngineError> {
        let Some(line) = read_manifest(path)? else { return Ok(None) };
        let what = "it is the manifest of a job of another command, or of another program".to_owned();
        let manifest = serde_json::from_str(&line).ok();
        manifest.map(Some).ok_or_else(|| EngineError::Damaged { file: path.to_owned(), what })
    }
}

/// Writes a manifest, and a digest of it behind it.
pub(crate) fn write_manifest(path: &Path, manifest: &impl Serialize) -> Result<(), EngineError> {
    write_whole_with(path, |out| {
        let mut out = Digested { inner: out, sum: Xxh3::new() };
        serde_json::to_writer(&mut out, manifest)?;
        let digest = out.sum.digest128();
        writeln!(out.inner, "\n{digest:032x}")
    })
}

/// XXH3-128 of a value as JSON, of which nothing is kept: there may be a million files in it.
pub(crate) fn json_digest(value: &impl Serialize) -> u128 {
    let mut out = Digested { inner: io::sink(), sum: Xxh3::new() };
    serde_json::to_writer(&mut out, value).expect("names can be written");
    out.sum.digest128()
}

/// A writer that digests what passes.
struct Digested<W> {
    inner: W,
    sum: Xxh3,
}

impl<W: Write> Write for Digested<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The words of a manifest, whoever wrote it. Behind them stands a digest of them; where that does not match, the manifest did not survive.
pub(crate) fn read_manifest(path: &Path) -> Result<Option<String>, EngineError> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(|error| EngineError::read(path, error))?,
    };
    let mut text = String::from_utf8(bytes).unwrap_or_default();
    let (line, digest) = text.split_once('\n').unwrap_or_default();
    let (length, whole) = (line.len(), digest.trim() == digest_of(line.as_bytes()));
    text.truncate(length);
    Ok(whole.then_some(text))
}

/// The fields of the `run.json` of a finished job that stand for its manifest.
#[derive(Debug, Deserialize)]
struct FinishedRun {
    inputs: String,
    outputs: String,
}

/// The folder for scratch files inside a job's folder.
pub(crate) const WORK: &str = "work";
pub(crate) const LOCK: &str = "lock";
pub(crate) const MANIFEST: &str = "job.json";
pub(crate) const SUMMARY: &str = "summary.json";
pub(crate) const RUN: &str = "run.json";
/// Says which copies are done.
pub(crate) const COPIES: &str = "copies";
/// Gathered by a run by an index as it goes.
const REJECTED: &str = "rejected";
/// Files among the scratch files that are none of a stage's.
const OTHERS: &[&str] = &[LOCK, MANIFEST, stdin::FILE, COPIES, REJECTED];

/// A job's folder, locked.
pub struct OpenJob {
    job: Job,
    folder: PathBuf,
    secret: Secret,
    stamp: u128,
    begun: Instant,
    seconds: BTreeMap<&'static str, f64>,
    peaks: BTreeMap<&'static str, u64>,
    scratch: u64,
    lock: Option<File>,
    /// The folder was not there before.
    made: bool,
    /// Scratch files are noted in it as long as it is held.
    _journal: Arc<Journal>,
    recovered: Recovered,
    expected_scratch: Option<u64>,
    /// Results that are not in the folder.
    beside: Vec<(String, PathBuf)>,
    /// For tests: a smaller bound than the memory cap asks for.
    pub(crate) bucket_bytes: Option<u64>,
}

/// The state of the job in a folder.
pub enum Opened {
    /// The same job ran to its end here.
    Finished(Box<Summary>),
    /// There is work to do.
    Open(Box<OpenJob>),
}

impl Job {
    /// Takes hold of `folder`: a new one, or one in which the same job was begun.
    pub fn open(self, folder: &Path) -> Result<Opened, EngineError> {
        let made = !folder.exists();
        let mut opened = self.lock_and_open(folder);
        match &mut opened {
            Ok(Opened::Open(open)) => open.made = made,
            Ok(Opened::Finished(_)) => {}
            Err(_) if folder.join(WORK).join(MANIFEST).exists() => {}
            Err(_) => folder::remove_unstarted_if_unlocked(folder, made),
        }
        opened
    }

    fn lock_and_open(mut self, folder: &Path) -> Result<Opened, EngineError> {
        Budget::new(&self.settings, self.recipe.reading.max_document_bytes)?;
        for corpus in std::iter::once(&self.corpus).chain(&self.against) {
            self.settings.bound_decoders(corpus)?;
        }
        let work = folder.join(WORK);
        if !holds_job(folder) && !is_empty(folder)? {
            return Err(EngineError::NotAJob { folder: folder.to_owned() });
        }
        let begun = folder.join(SUMMARY).exists() || work.join(MANIFEST).exists();
        if begun && self.has_tables() {
            return Err(EngineError::Request(format!(
                "{} has a job already, and a table in memory cannot be told from the one that it had; name a new folder",
                folder.display()
            )));
        }
        if let Some(done) = self.finished(folder)? {
            return Ok(Opened::Finished(Box::new(done)));
        }
        lexicon::check(&self.recipe, self.lexicon.as_deref())?;
        self.check_first_records()?;
        std::fs::create_dir_all(&work).map_err(|error| EngineError::write(&work, error))?;
        let lock = lock(folder, &work.join(LOCK))?;
        // Whoever held the lock a moment ago may have come to the end.
        if let Some(done) = self.finished(folder)? {
            return Ok(Opened::Finished(Box::new(done)));
        }
        if stdin::receive(&mut self.corpus, &work)? {
            self.check_first_records()?;
        }
        sweep(folder);
        let (recipe, inputs) = (self.recipe.to_toml(), self.inputs());
        let secret = format!("{:032x}", Secret::random().seed());
        let stamp = format!("{:032x}", json_digest(&(&recipe, &inputs, &secret)));
        let mut manifest = JobManifest { recipe, inputs, outputs: self.outputs.options(), secret, stamp };
        let path = work.join(MANIFEST);
        let before = JobManifest::read(&path)?;
        let expected_scratch = match &before {
            Some(before) => {
                self.require_same_recipe(folder, before, &manifest)?;
                // Secret and stamp stay those of the beginning: units that are there bear them.
                manifest.secret.clone_from(&before.secret);
                manifest.stamp.clone_from(&before.stamp);
                None
            }
            None => Some(self.check_room(folder)?),
        };
        // What cannot be read ends it here, before anything is touched.
        let secret = secret_of(&manifest.secret, &path)?;
        let stamp = number_of(&manifest.stamp, &path)?;
        let (journal, recovered) =
            begin_journal(folder, before.is_some(), || write_manifest(&path, &manifest))?;
        if let Some(before) = before.filter(|before| before.inputs != manifest.inputs) {
            self.resume_with_new_inputs(folder, stamp, &before.inputs, &manifest.inputs)?;
            write_manifest(&path, &manifest)?;
        }
        Ok(Opened::Open(Box::new(OpenJob {
            job: self,
            folder: folder.to_owned(),
            secret,
            stamp,
            begun: Instant::now(),
            seconds: BTreeMap::new(),
            peaks: BTreeMap::new(),
            scratch: 0,
            lock: Some(lock),
            made: false,
            _journal: journal,
            recovered,
            expected_scratch,
            beside: Vec::new(),
            bucket_bytes: None,
        })))
    }

    /// The summary, if the same job is finished there.
    fn finished(&mut self, folder: &Path) -> Result<Option<Summary>, EngineError> {
        let path = folder.join(SUMMARY);
        let Ok(text) = std::fs::read(&path) else { return Ok(None) };
        let summary = serde_json::from_slice(&text).map_err(|error| EngineError::Damaged {
            file: path,
            what: format!("it cannot be read: {error}"),
        })?;
        let path = folder.join("recipe.toml");
        let text = std::fs::read_to_string(&path).map_err(|error| EngineError::read(&path, error))?;
        let before =
            JobRecipe::from_toml(&text).map_err(|error| EngineError::Damaged { file: path, what: error })?;
        if before != self.recipe {
            let differences = before.differences(&self.recipe);
            return Err(EngineError::OtherRecipe { folder: folder.to_owned(), differences });
        }
        let facts = std::fs::read(folder.join(RUN)).ok();
        let finished_run: Option<FinishedRun> = facts.and_then(|text| serde_json::from_slice(&text).ok());
        if let Some(FinishedRun { inputs, outputs }) = finished_run {
            // Standard input is looked at again: that the folder has the same name says nothing of what comes in.
            stdin::read_digest(&mut self.corpus)?;
            if inputs != self.inputs_digest() {
                let what = "it is finished, and had other files or the same at another time".to_owned();
                return Err(EngineError::InputChanged { folder: folder.to_owned(), what });
            }
            self.require_same_outputs(folder, &outputs)?;
        }
        // A process that was killed right after the last file leaves its scratch folder.
        let _ = std::fs::remove_dir_all(folder.join(WORK));
        Ok(Some(summary))
    }

    fn require_same_recipe(
        &self,
        folder: &Path,
        before: &JobManifest<'_>,
        now: &JobManifest<'_>,
    ) -> Result<(), EngineError> {
        if before.recipe != now.recipe {
            let differences = match JobRecipe::from_toml(&before.recipe) {
                Ok(recipe) => recipe.differences(&self.recipe),
                Err(error) => error,
            };
            return Err(EngineError::OtherRecipe { folder: folder.to_owned(), differences });
        }
        self.require_same_outputs(folder, &before.outputs)
    }

    /// Goes on with another list of files. Units that are done stay where they have the same shards as before under the same number; all
    /// others, and what came behind the sketch, are made anew.
    ///
    /// # Errors
    /// When a file changed or is gone that was read already, or when methods must see all documents before the first is sketched.
    fn resume_with_new_inputs(
        &self,
        folder: &Path,
        stamp: u128,
        before: &[InputMark<'_>],
        now: &[InputMark<'_>],
    ) -> Result<(), EngineError> {
        let refuse = |what| Err(EngineError::InputChanged { folder: folder.to_owned(), what });
        let panel = self.recipe.panel()?;
        let learns = |entry: &crate::panel::PanelMethod| {
            let abilities = entry.abilities();
            abilities.survey.is_some() || abilities.learning.is_some()
        };
        if self.recipe.task == Task::Compare || panel.methods().iter().any(learns) {
            return refuse(changed(before, now));
        }
        let work = folder.join(WORK);
        let (old, new) = (marked_units(before), marked_units(now));
        let there: HashMap<(&str, bool), &InputMark<'_>> =
            now.iter().map(|mark| ((&*mark.name, mark.against), mark)).collect();
        let mut stay = HashSet::new();
        for (number, unit) in old.iter().enumerate() {
            let name = format!("u{number:06}");
            if !work.join(format!("{name}.done")).exists() {
                continue;
            }
            for mark in *unit {
                match there.get(&(&*mark.name, mark.against)) {
                    Some(same) if *same == mark => {}
                    Some(other) => return refuse(changed(std::slice::from_ref(mark), &[(*other).clone()])),
                    None => return refuse(format!("{} was read already and is gone", mark.name)),
                }
            }
            if new.get(number) == Some(unit) && sketch::is_whole(&work, stamp, number)? {
                stay.insert(name);
            }
        }
        for entry in std::fs::read_dir(&work).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let kept = [LOCK, MANIFEST, journal::NAME, "stdin"].contains(&name.as_str())
                || name.split_once('.').is_some_and(|(unit, _)| stay.contains(unit));
            if !kept && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                remove_if_there(&entry.path())?;
            }
        }
        Ok(())
    }

    fn require_same_outputs(&self, folder: &Path, before: &str) -> Result<(), EngineError> {
        let now = self.outputs.options();
        if before == now {
            return Ok(());
        }
        Err(EngineError::Request(format!(
            "the job in {} was begun with {before} and not with {now}; give the same, or name another folder",
            folder.display()
        )))
    }

    /// Refuses an input with files that cannot be read, or whose first records lack a field that was named or are no documents.
    fn check_first_records(&self) -> Result<(), EngineError> {
        for corpus in self.against.iter().chain([&self.corpus]) {
            refuse_unreadable(corpus, self.settings.threads)?;
            corpus.check_first_records(self.recipe.needs_addresses())?;
        }
        Ok(())
    }

    fn inputs_digest(&self) -> String {
        format!("{:032x}", json_digest(&self.inputs()))
    }

    fn inputs(&self) -> Vec<InputMark<'_>> {
        let mut all = self.against.as_ref().map_or_else(Vec::new, |corpus| InputMark::all(corpus, true));
        all.extend(InputMark::all(&self.corpus, false));
        all
    }

    /// Looks whether all files of the input are what they were when the job began.
    fn check_inputs(&self) -> Result<(), EngineError> {
        Ok(self.against.iter().chain([&self.corpus]).try_for_each(Corpus::check)?)
    }

    /// True when documents come from a table in memory.
    fn has_tables(&self) -> bool {
        let corpora = self.against.iter().chain([&self.corpus]);
        corpora.flat_map(Corpus::shards).any(|shard| matches!(shard.origin, Origin::Table(_)))
    }

    /// Bytes of scratch that the run will take, as far as the sizes of the input and its first documents tell.
    pub fn scratch_estimate(&self) -> Result<u64, EngineError> {
        let corpora = || self.against.iter().chain([&self.corpus]);
        let bytes: u64 = corpora().filter_map(Corpus::bytes).sum();
        let (mut read, mut taken) = (0, 0);
        for corpus in corpora() {
            self.settings.bound_decoders(corpus)?;
            let (more, scratch) = estimate::sample(&self.recipe, corpus, self.settings.spool)?;
            read += more;
            taken += scratch;
        }
        if read == 0 {
            return Ok(0);
        }
        // A little more for pairs, and for runs that are there twice while they are merged.
        Ok((bytes as f64 * taken as f64 / read as f64 * 1.15) as u64)
    }

    /// Refuses a disk that is too small; returns the bytes of scratch that the run will take.
    fn check_room(&self, folder: &Path) -> Result<u64, EngineError> {
        let needed = self.scratch_estimate()?;
        let free = free_space(folder);
        if free.is_some_and(|free| free < needed) {
            return Err(EngineError::NoRoom { folder: folder.to_owned(), needed, free: free.unwrap_or(0) });
        }
        Ok(needed)
    }
}

impl Outputs {
    /// As options.
    fn options(self) -> String {
        let write = shards::folder_name(self.write).unwrap_or("none");
        let annotate = if self.annotate { " --annotate" } else { "" };
        format!("--format {} --write {write}{annotate}", self.format.suffix().trim_start_matches('.'))
    }
}

pub(crate) fn digest_of(bytes: &[u8]) -> String {
    format!("{:032x}", hash::digest(bytes))
}

/// Removes what a killed process had begun to write under other names.
pub fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && name != WORK => sweep(&entry.path()),
            // Nothing is lost if it stays.
            Ok(kind) if kind.is_file() && name.starts_with(".lookalike-") => {
                drop(std::fs::remove_file(entry.path()))
            }
            _ => {}
        }
    }
}

/// Free bytes of the disk that holds `folder`, or will.
pub fn free_space(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|path| path.exists() || path.as_os_str().is_empty())?;
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    #[cfg(unix)]
    {
        let facts = rustix::fs::statvfs(there).ok()?;
        Some(facts.f_bavail * facts.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = there;
        None
    }
}

/// True when there is nothing in a folder, but for an empty one for scratch files: a process that was killed before it could take
/// hold leaves that.
pub(crate) fn is_empty(folder: &Path) -> Result<bool, EngineError> {
    let begun = |path: PathBuf| {
        path.ends_with(WORK) && std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
    };
    match std::fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.all(|entry| entry.is_ok_and(|entry| begun(entry.path())))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(EngineError::read(folder, error)),
    }
}

/// True when something was begun or finished in a folder.
pub(crate) fn holds_job(folder: &Path) -> bool {
    folder.join(SUMMARY).exists() || [LOCK, MANIFEST].iter().any(|file| folder.join(WORK).join(file).exists())
}

/// Opens the journal of the scratch files in `folder`. Where nothing says what was begun there, all of them go, and `begin` says it.
pub(crate) fn begin_journal(
    folder: &Path,
    begun: bool,
    begin: impl FnOnce() -> Result<(), EngineError>,
) -> Result<(Arc<Journal>, Recovered), EngineError> {
    let work = folder.join(WORK);
    let before = work.join(journal::NAME).metadata();
    if begun {
        let (journal, recovered) = Journal::open(&work, folder, OTHERS)?;
        // Whoever wrote a manifest had a journal before.
        return Ok((journal, Recovered { lost: recovered.lost || before.is_err() }));
    }
    let torn = work.join(MANIFEST).exists();
    for name in [journal::NAME, COPIES, REJECTED] {
        remove_if_there(&work.join(name))?;
    }
    if before.is_ok() {
        // It must not come back and speak of files that others of the same name have replaced.
        sync_folder(&work).map_err(|error| EngineError::write(&work, error))?;
    }
    let lost = torn || before.is_ok_and(|facts| facts.len() > 0);
    let (journal, _) = Journal::open(&work, folder, OTHERS)?;
    begin()?;
    Ok((journal, Recovered { lost }))
}

/// Holds a folder for work that comes before a job in it, until what is returned is dropped.
pub fn lock_folder(folder: &Path) -> Result<File, EngineError> {
    let work = folder.join(WORK);
    if !work.join(LOCK).exists() && !is_empty(folder)? {
        return Err(EngineError::NotAJob { folder: folder.to_owned() });
    }
    std::fs::create_dir_all(&work).map_err(|error| EngineError::write(&work, error))?;
    lock(folder, &work.join(LOCK))
}

pub(crate) fn lock(folder: &Path, path: &Path) -> Result<File, EngineError> {
    let file = File::options()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|error| EngineError::write(path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(EngineError::Locked { folder: folder.to_owned() }),
        Err(std::fs::TryLockError::Error(error)) => Err(EngineError::write(path, error)),
    }
}

/// The secret of a manifest. One that cannot be read is never replaced by another: a known one could be forged against.
pub(crate) fn secret_of(seed: &str, manifest: &Path) -> Result<Secret, EngineError> {
    number_of(seed, manifest).map(Secret::new)
}

/// A number that a manifest holds as hexadecimal digits.
fn number_of(digits: &str, manifest: &Path) -> Result<u128, EngineError> {
    u128::from_str_radix(digits, 16).map_err(|_| {
        let what = format!("{digits:?} is no number in hexadecimal digits");
        EngineError::Damaged { file: manifest.to_owned(), what }
    })
}

/// Refuses a corpus with files that cannot be read.
pub(crate) fn refuse_unreadable(corpus: &Corpus, threads: usize) -> Result<(), EngineError> {
    let found = corpus.unreadable(threads);
    let (count, all) = (found.len(), corpus.shards().len());
    match found.into_iter().next() {
        None => Ok(()),
        Some((_, only)) if all == 1 => Err(only.into()),
        Some((_, first)) => Err(EngineError::Unreadable { count, all, first }),
    }
}

/// Removes what an earlier job left in a folder, so that another can begin there. Other files stay where they are, and so does all of a
/// folder that holds no job.
pub fn begin_anew(folder: &Path) -> Result<(), EngineError> {
    let work = folder.join(WORK);
    let ours = [LOCK, MANIFEST].iter().any(|file| work.join(file).exists())
        || folder.join(SUMMARY).exists() && folder.join("recipe.toml").exists();
    if !ours {
        return Ok(());
    }
    std::fs::create_dir_all(&work).map_err(|error| EngineError::write(&work, error))?;
    let _held = lock(folder, &work.join(LOCK))?;
    folder::clear(folder)
}

/// The units of marked shards, those to compare with first.
fn marked_units<'m, 'c>(marks: &'m [InputMark<'c>]) -> Vec<&'m [InputMark<'c>]> {
    let (against, own) = marks.split_at(marks.partition_point(|mark| mark.against));
    let mut units = Vec::new();
    for side in [against, own] {
        let cut = pipeline::units_by(side.iter().map(|mark| mark.bytes));
        units.extend(cut.into_iter().map(|unit| &side[unit]));
    }
    units
}

pub(crate) fn changed(before: &[InputMark<'_>], now: &[InputMark<'_>]) -> String {
    for (old, new) in before.iter().zip(now) {
        if old.name != new.name || old.against != new.against {
            return format!("{} was there and now {} is", old.name, new.name);
        }
        if old.bytes != new.bytes {
            let size =
                |mark: &InputMark<'_>| mark.bytes.map_or("unknown".to_owned(), |bytes| bytes.to_string());
            return format!("{} had {} bytes and has {}", old.name, size(old), size(new));
        }
        if old.modified != new.modified {
            return format!("{} was written to", old.name);
        }
        if old.digest != new.digest {
            return format!("{} has other content", old.name);
        }
    }
    format!("there were {} files and are {}", before.len(), now.len())
}

impl OpenJob {
    /// Does what is left of the work. `watch` can stop it; the same call in a later process goes on.
    pub fn run(&mut self, watch: &Watch) -> Result<Findings, EngineError> {
        let found = self.pool()?.install(|| self.stages(watch));
        // A run that failed before anything was read leaves nothing that the next would have to be told apart from.
        if found.as_ref().is_err_and(|error| !matches!(error, EngineError::Stopped)) {
            folder::remove_unstarted(&self.folder, self.made);
        }
        found
    }

    fn stages(&mut self, watch: &Watch) -> Result<Findings, EngineError> {
        let (mut seconds, mut peaks, mut scratch) = (BTreeMap::new(), BTreeMap::new(), 0);
        let findings = {
            let mut ctx = self.context(watch)?;
            let begun = Instant::now();
            lexicon::provide(&mut ctx)?;
            survey::reserve_memory(&mut ctx)?;
            let mut clock =
                Clock { seconds: &mut seconds, peaks: &mut peaks, begun, scratch: &mut scratch, ctx: &ctx };
            clock.lap("lexicon");
            survey::survey(&ctx)?;
            clock.lap("survey");
            sketch::sketch(&ctx)?;
            clock.lap("sketch");
            if order::order(&ctx)? {
                clock.lap("order");
            }
            let catalogue = Catalogue::load(&ctx)?;
            rejections::check(&ctx, &catalogue)?;
            ctx.budget.admit(catalogue.len().into())?;
            let collapsed = collapse::collapse(&ctx, &catalogue)?;
            clock.lap("collapse");
            let proposed = group::propose(&ctx, &catalogue)?;
            clock.lap("group");
            let tally = verify::verify(&ctx, &catalogue)?;
            clock.lap("verify");
            let stages = StageCounts { collapsed, proposed, tally };
            let write = match ctx.recipe.task {
                Task::Dedup => dedup::write,
                Task::Pairs => pairs::write,
                Task::Compare => compare::write,
            };
            let mut findings = write(&ctx, &catalogue, &self.folder, self.job.outputs, stages)?;
            if self.job.outputs.write != Shards::None && ctx.recipe.task == Task::Dedup {
                let notes = shards::write(&ctx, &catalogue, &self.folder, self.job.outputs)?;
                findings.notes.extend(notes);
            }
            clock.lap("write");
            report::read_samples(&ctx, &catalogue, &mut findings)?;
            clock.lap("report");
            findings
        };
        self.seconds = seconds;
        self.peaks = peaks;
        self.scratch = scratch;
        Ok(findings)
    }

    /// Counts the words of the input, by the profile of the recipe, into a file, and takes the job's folder away.
    pub fn count_words(mut self, watch: &Watch, target: &Path) -> Result<WordTotals, EngineError> {
        let pool = self.pool()?;
        let counted = self.folder.join(WORK).join("words");
        let found = pool.install(|| {
            let ctx = self.context(watch)?;
            let found = lexicon::count(&ctx, &ctx.profile, 0, &counted)?;
            rejections::check_counted(ctx.corpus, found.records, found.rejected, watch)?;
            Ok::<_, EngineError>(found)
        })?;
        std::fs::rename(&counted, target).map_err(|error| EngineError::write(target, error))?;
        sync(&[target.to_owned()])?;
        drop(self.lock.take());
        std::fs::remove_dir_all(&self.folder).map_err(|error| EngineError::write(&self.folder, error))?;
        Ok(found)
    }

    pub(crate) fn pool(&self) -> Result<rayon::ThreadPool, EngineError> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.job.settings.threads.max(1))
            .build()
            .map_err(|error| EngineError::Request(format!("threads cannot be started: {error}")))
    }

    pub(crate) fn context<'j>(&'j self, watch: &'j Watch) -> Result<Context<'j>, EngineError> {
        let mut ctx = Context::new(&self.job.recipe, &self.job.corpus, &self.job.settings, watch)?;
        ctx.against = self.job.against.as_ref();
        ctx.reserve_lists()?;
        ctx.lexicon = self.job.lexicon.clone();
        ctx.work = self.folder.join(WORK);
        ctx.secret = self.secret.clone();
        ctx.stamp = self.stamp;
        ctx.bucket_bytes = self.bucket_bytes;
        Ok(ctx)
    }

    /// Writes the last files and takes the scratch folder away. From then on the job is finished. The summary is a
    /// [`Summary`], or has fields of other names.
    pub fn finish(mut self, summary: &impl Serialize) -> Result<(), EngineError> {
        self.job.check_inputs()?;
        let facts = RunFacts {
            seconds: self.begun.elapsed().as_secs_f64(),
            seconds_by_stage: std::mem::take(&mut self.seconds),
            peak_memory_bytes: peak_memory(),
            peak_memory_by_stage: std::mem::take(&mut self.peaks),
            scratch_bytes: self.scratch,
            threads: self.job.settings.threads,
            memory_cap_bytes: self.job.settings.memory,
            spool: self.job.settings.spool,
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get()),
            system: std::env::consts::OS,
            finished: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            inputs: self.job.inputs_digest(),
            files: FileAddresses(&self.job.corpus),
            outputs: self.job.outputs.options(),
            left_out: left_out(self.job.against.iter().chain([&self.job.corpus])),
        };
        write_whole(&self.folder.join("recipe.toml"), self.job.recipe.to_toml().as_bytes())?;
        delivered::conclude(&self.folder, &self.beside, &facts, summary)?;
        let work = self.folder.join(WORK);
        let removed = std::fs::remove_dir_all(&work).map_err(|error| EngineError::write(&work, error));
        drop(self.lock.take());
        removed
    }

    /// Hands over the ordinal of every record of the input that could not be read.
    pub fn rejected(&self, watch: &Watch, mut each: impl FnMut(u32)) -> Result<(), EngineError> {
        let ctx = self.context(watch)?;
        let catalogue = Catalogue::load(&ctx)?;
        let references = catalogue.references();
        catalogue.rows(&ctx, |document, row| {
            if document >= references && row.words == Row::REJECTED {
                each(document - references);
            }
            Ok(())
        })
    }

    /// Writes a file of results.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), EngineError> {
        write_whole(&self.folder.join(name), content)
    }

    /// Moves the table of pairs to its place.
    pub fn deliver_pairs(&mut self, target: &Path) -> Result<(), EngineError> {
        let name = pairs::pairs_name(self.job.outputs);
        let table = self.folder.join(&name);
        sync(std::slice::from_ref(&table))?;
        std::fs::rename(&table, target).map_err(|error| EngineError::write(target, error))?;
        self.beside.push((name, target.to_owned()));
        Ok(())
    }

    /// Bytes of scratch that a job which begins now will take, as far as its first documents tell.
    pub fn expected_scratch(&self) -> Option<u64> {
        self.expected_scratch.filter(|&bytes| bytes > 0)
    }

    /// True when scratch files of an earlier process did not survive, so that their work is done again.
    pub fn lost_files(&self) -> bool {
        self.recovered.lost
    }

    /// The recipe of the job.
    pub fn recipe(&self) -> &JobRecipe {
        &self.job.recipe
    }

    /// The job's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

struct Clock<'c> {
    seconds: &'c mut BTreeMap<&'static str, f64>,
    peaks: &'c mut BTreeMap<&'static str, u64>,
    begun: Instant,
    scratch: &'c mut u64,
    ctx: &'c Context<'c>,
}

impl Clock<'_> {
    /// A stage ended: how long it took, and how much disk is taken now.
    fn lap(&mut self, stage: &'static str) {
        self.seconds.insert(stage, self.begun.elapsed().as_secs_f64());
        self.begun = Instant::now();
        if let Some(peak) = peak_memory() {
            self.peaks.insert(stage, peak);
        }
        let entries = std::fs::read_dir(&self.ctx.work).into_iter().flatten().flatten();
        let taken = entries.filter_map(|entry| entry.metadata().ok()).map(|facts| facts.len()).sum();
        *self.scratch = (*self.scratch).max(taken);
    }
}

/// The largest resident set of this process so far, where the system tells.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kib| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::{outputs, recipe, run, settings};
    use lookalike_corpus::ReadOptions;

    #[test]
    fn a_secret_that_cannot_be_read_is_not_replaced_by_a_known_one() {
        let manifest = Path::new("work/job.json");
        for seed in ["", "x", "-1"] {
            assert!(matches!(secret_of(seed, manifest), Err(EngineError::Damaged { .. })), "{seed:?}");
        }
        assert_eq!(secret_of("0a", manifest).unwrap().seed(), 10);
    }

    fn mark(name: &str, bytes: u64) -> InputMark<'_> {
        InputMark { name: name.into(), bytes: Some(bytes), modified: Some(1), digest: None, against: false }
    }

    #[test]
    fn outputs_are_told_by_options() {
        assert_eq!(Outputs::default().options(), "--format jsonl --write none");
        let outputs =
            Outputs { format: RowFormat::Parquet, write: Shards::Kept, annotate: true, ..Outputs::default() };
        assert_eq!(outputs.options(), "--format parquet --write kept --annotate");
        let outputs = Outputs { write: Shards::Removed, suffix: ".gz", ..Outputs::default() };
        assert_eq!(outputs.options(), "--format jsonl --write removed");
    }

    #[test]
    fn a_summary_says_nothing_of_what_there_was_not() {
        let text = serde_json::to_value(Summary::default()).unwrap();
        for name in
            ["pairs", "unverified", "witnesses_waived", "against", "left_out", "against_rejected", "reasons"]
        {
            assert!(text.get(name).is_none(), "{name}");
        }
        assert_eq!(text["documents"], 0);
        let summary = Summary { rejected: 2, against_rejected: 3, against: 9, ..Summary::default() };
        assert_eq!(summary.all_rejected(), 5);
        let again: Summary = serde_json::from_value(serde_json::to_value(&summary).unwrap()).unwrap();
        assert_eq!(again, summary);
    }

    #[test]
    fn the_first_difference_of_the_input_is_told() {
        let old = [mark("a", 5), mark("b", 6)];
        for (new, expected) in [
            (vec![mark("a", 5), mark("c", 6)], "b was there and now c is"),
            (vec![mark("a", 5), InputMark { against: true, ..mark("b", 6) }], "b was there and now b is"),
            (vec![mark("a", 7), mark("c", 6)], "a had 5 bytes and has 7"),
            (vec![InputMark { bytes: None, ..mark("a", 5) }], "a had 5 bytes and has unknown"),
            (vec![mark("a", 5), InputMark { modified: Some(2), ..mark("b", 6) }], "b was written to"),
            (vec![mark("a", 5), InputMark { digest: Some(2), ..mark("b", 6) }], "b has other content"),
            (vec![mark("a", 5)], "there were 2 files and are 1"),
        ] {
            assert_eq!(changed(&old, &new), expected);
        }
    }

    #[test]
    fn units_of_marks_are_cut_for_each_corpus_by_itself() {
        let kib = |name: &'static str, size: u64, against| InputMark { against, ..mark(name, size << 10) };
        let marks = [
            kib("a", 10, true),
            kib("b", 10, true),
            kib("c", 3, false),
            kib("d", 3, false),
            kib("e", 20, false),
        ];
        let names: Vec<Vec<&str>> = marked_units(&marks)
            .into_iter()
            .map(|unit| unit.iter().map(|mark| &*mark.name).collect())
            .collect();
        assert_eq!(names, [vec!["a"], vec!["b"], vec!["c", "d"], vec!["e"]]);
    }

    #[test]
    fn a_manifest_that_did_not_survive_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MANIFEST);
        assert_eq!(read_manifest(&path).unwrap(), None);
        let whole = format!("words\n{}\n", digest_of(b"words"));
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(read_manifest(&path).unwrap().as_deref(), Some("words"));
        for length in 0..whole.len() - 1 {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(read_manifest(&path).unwrap(), None, "{length} bytes of it");
        }
        std::fs::write(&path, b"\xff\n").unwrap();
        assert_eq!(read_manifest(&path).unwrap(), None);
    }

    #[test]
    fn a_manifest_is_read_back_and_that_of_another_command_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MANIFEST);
        assert!(JobManifest::read(&path).unwrap().is_none());
        let manifest = JobManifest {
            recipe: "recipe".to_owned(),
            inputs: vec![mark("a", 5)],
            outputs: "outputs".to_owned(),
            secret: "0a".to_owned(),
            stamp: "0b".to_owned(),
        };
        write_manifest(&path, &manifest).unwrap();
        let again = JobManifest::read(&path).unwrap().unwrap();
        assert_eq!(
            (again.recipe, again.inputs, again.outputs),
            (manifest.recipe, manifest.inputs, manifest.outputs)
        );
        assert_eq!((again.secret, again.stamp), (manifest.secret, manifest.stamp));
        let foreign = "{\"recipe\":\"\"}";
        std::fs::write(&path, format!("{foreign}\n{}\n", digest_of(foreign.as_bytes()))).unwrap();
        assert!(matches!(JobManifest::read(&path), Err(EngineError::Damaged { .. })));
    }

    #[test]
    fn a_folder_with_an_empty_one_for_scratch_files_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert!(is_empty(path).unwrap() && is_empty(&path.join("none")).unwrap());
        std::fs::create_dir(path.join(WORK)).unwrap();
        assert!(is_empty(path).unwrap() && !holds_job(path));
        std::fs::write(path.join(WORK).join("mine"), "").unwrap();
        assert!(!is_empty(path).unwrap() && !holds_job(path));
        std::fs::write(path.join(WORK).join(LOCK), "").unwrap();
        assert!(holds_job(path));
        std::fs::remove_dir_all(path.join(WORK)).unwrap();
        std::fs::write(path.join(SUMMARY), "").unwrap();
        assert!(holds_job(path) && !is_empty(path).unwrap());
    }

    #[test]
    fn unfinished_copies_are_swept_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["kept/deep/.lookalike-1", "kept/deep/a", ".lookalike-2", "work/.lookalike-3", "notes"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        sweep(folder.path());
        assert_eq!(
            delivered::all_names(folder.path()).unwrap(),
            ["kept/deep/a", "notes", "work/.lookalike-3"]
        );
    }

    #[test]
    fn a_folder_is_held_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock_folder(folder.path()).unwrap();
        assert!(matches!(lock_folder(folder.path()), Err(EngineError::Locked { .. })));
        drop(held);
        lock_folder(folder.path()).unwrap();
        let foreign = tempfile::tempdir().unwrap();
        std::fs::write(foreign.path().join("mine"), "").unwrap();
        assert!(matches!(lock_folder(foreign.path()), Err(EngineError::NotAJob { .. })));
        assert!(!foreign.path().join(WORK).exists());
    }

    #[test]
    fn what_is_begun_anew_was_a_job() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str| std::fs::write(folder.path().join(name), "").unwrap();
        let has = |name: &str| folder.path().join(name).exists();
        put(SUMMARY);
        put("removed.jsonl");
        begin_anew(folder.path()).unwrap();
        assert!(has(SUMMARY) && has("removed.jsonl"), "a summary alone may be anybody's");
        put("recipe.toml");
        put("mine");
        begin_anew(folder.path()).unwrap();
        assert!(!has(SUMMARY) && !has("removed.jsonl") && !has("recipe.toml") && has("mine"));
    }

    #[test]
    fn free_space_is_that_of_the_disk_a_folder_will_be_on() {
        let folder = tempfile::tempdir().unwrap();
        let deep = free_space(&folder.path().join("not/there/yet"));
        assert_eq!(deep.is_some(), cfg!(unix));
        assert_eq!(free_space(Path::new("not-there-either")).is_some(), cfg!(unix));
    }

    #[test]
    fn numbers_of_a_manifest_are_hexadecimal() {
        let path = Path::new(MANIFEST);
        assert_eq!(number_of("00ff", path).unwrap(), 255);
        let error = number_of("0x1", path).unwrap_err().to_string();
        assert_eq!(
            error,
            "job.json is damaged: \"0x1\" is no number in hexadecimal digits; begin anew with --force, or in a new folder"
        );
    }

    fn job_on(lines: &str) -> Job {
        let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default());
        let (recipe, settings) = (recipe("md5"), settings());
        Job { recipe, corpus, against: None, lexicon: None, settings, outputs: Outputs::default() }
    }

    fn error_of(job: Job, folder: &Path) -> EngineError {
        job.open(folder).err().expect("it is refused")
    }

    #[test]
    fn another_job_is_refused_begun_or_finished() {
        let folder = tempfile::tempdir().unwrap();
        let lines = as_lines(&["one two", "one two"]);
        let Opened::Open(begun) = job_on(&lines).open(folder.path()).unwrap() else { panic!("it is new") };
        assert!(matches!(error_of(job_on(&lines), folder.path()), EngineError::Locked { .. }));
        drop(begun);
        for finished in [false, true] {
            let other = JobRecipe { max_group: 7, ..recipe("md5") };
            let error = error_of(Job { recipe: other, ..job_on(&lines) }, folder.path());
            assert!(matches!(error, EngineError::OtherRecipe { .. }), "{finished}: {error}");
            let outputs = Outputs { write: Shards::Kept, ..Outputs::default() };
            let error = error_of(Job { outputs, ..job_on(&lines) }, folder.path()).to_string();
            assert!(
                error.contains("was begun with --format jsonl --write none and not with"),
                "{finished}: {error}"
            );
            if !finished {
                run(job_on(&lines), folder.path(), None).unwrap();
            }
        }
        let error = error_of(job_on(&as_lines(&["three"])), folder.path());
        assert!(matches!(error, EngineError::InputChanged { .. }), "{error}");
        let Opened::Finished(summary) = job_on(&lines).open(folder.path()).unwrap() else {
            panic!("it is done")
        };
        assert_eq!((summary.documents, summary.kept, summary.removed), (2, 1, 1));
    }

    #[test]
    fn a_folder_of_other_files_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine"), "").unwrap();
        assert!(matches!(error_of(job_on(""), folder.path()), EngineError::NotAJob { .. }));
        assert_eq!(delivered::all_names(folder.path()).unwrap(), ["mine"]);
    }

    #[test]
    fn a_job_that_is_refused_leaves_no_folder() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("job");
        let lines = "{\"id\":\"a\",\"body\":\"no text\"}\n";
        error_of(job_on(lines), &folder);
        assert!(!folder.exists());
    }

    #[test]
    fn rejected_records_are_numbered_in_the_input() {
        let lines = "{\"id\":\"a\",\"text\":\"one\"}\n{}\n{\"id\":\"b\",\"text\":\"two\"}\n{}\n";
        let test = StageTest::against(recipe("md5"), &format!("{}{{}}\n", as_lines(&["left"])), lines);
        test.sketched();
        let mut found = Vec::new();
        test.open.rejected(&test.watch, |ordinal| found.push(ordinal)).unwrap();
        assert_eq!(found, [1, 3]);
    }

    #[test]
    fn a_table_of_pairs_is_delivered_elsewhere() {
        let mut test = StageTest::new(recipe("md5"), "");
        let beside = tempfile::tempdir().unwrap();
        test.open.write("pairs.jsonl", b"{}\n").unwrap();
        let target = beside.path().join("mine.jsonl");
        test.open.deliver_pairs(&target).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"{}\n");
        assert!(!test.folder().join("pairs.jsonl").exists());
        assert_eq!(test.open.beside, [("pairs.jsonl".to_owned(), target)]);
    }

    #[test]
    fn an_empty_input_takes_no_scratch() {
        assert_eq!(job_on("").scratch_estimate().unwrap(), 0);
        let one = job_on(&as_lines(&["one two"])).scratch_estimate().unwrap();
        let two = job_on(&as_lines(&["one two", "three four"])).scratch_estimate().unwrap();
        assert!(one > 0 && two > one, "{one} {two}");
    }

    /// A file of about 20 KB, which is a unit by itself.
    fn write_shard(folder: &Path, name: &str) {
        let line = |n: u32| format!("{{\"id\":\"{name}{n}\",\"text\":\"{name} word {}\"}}\n", n / 2);
        std::fs::write(folder.join(name), (0..500).map(line).collect::<String>()).unwrap();
    }

    /// A job on all files of a folder.
    fn job_of_files(input: &Path) -> Job {
        Job { corpus: Corpus::open(&[input], ReadOptions::default()).unwrap(), ..job_on("") }
    }

    /// Sketches the files of `input` in a job that goes no further.
    fn sketch_and_stop(input: &Path, folder: &Path) {
        let Opened::Open(open) = job_of_files(input).open(folder).unwrap() else { panic!("it is new") };
        let watch = Watch::default();
        sketch::sketch(&open.context(&watch).unwrap()).unwrap();
    }

    #[test]
    fn files_that_are_added_cost_no_work_that_was_done() {
        let [input, folder, whole] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        write_shard(input.path(), "a.jsonl");
        write_shard(input.path(), "b.jsonl");
        sketch_and_stop(input.path(), folder.path());
        write_shard(input.path(), "c.jsonl");
        let Opened::Open(open) = job_of_files(input.path()).open(folder.path()).unwrap() else {
            panic!("begun")
        };
        let done = |unit: usize| folder.path().join(WORK).join(format!("u{unit:06}.done")).exists();
        assert!(done(0) && done(1) && !done(2));
        drop(open);
        run(job_of_files(input.path()), folder.path(), None).unwrap();
        run(job_of_files(input.path()), whole.path(), None).unwrap();
        assert!(outputs(folder.path()) == outputs(whole.path()));
    }

    #[test]
    fn a_file_before_those_that_were_read_makes_them_read_again() {
        let [input, folder] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        write_shard(input.path(), "b.jsonl");
        sketch_and_stop(input.path(), folder.path());
        write_shard(input.path(), "a.jsonl");
        let Opened::Open(_open) = job_of_files(input.path()).open(folder.path()).unwrap() else {
            panic!("begun")
        };
        assert!(!folder.path().join(WORK).join("u000000.done").exists());
    }

    #[test]
    fn a_file_that_was_read_must_stay_as_it_was() {
        for gone in [false, true] {
            let [input, folder] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
            write_shard(input.path(), "a.jsonl");
            write_shard(input.path(), "b.jsonl");
            sketch_and_stop(input.path(), folder.path());
            let (path, expected) = match gone {
                true => (input.path().join("a.jsonl"), "a.jsonl was read already and is gone"),
                false => (input.path().join("b.jsonl"), "b.jsonl had"),
            };
            match gone {
                true => std::fs::remove_file(path).unwrap(),
                false => std::fs::write(path, as_lines(&["other"])).unwrap(),
            }
            let EngineError::InputChanged { what, .. } = error_of(job_of_files(input.path()), folder.path())
            else {
                panic!("another error")
            };
            assert!(what.starts_with(expected), "{what}");
        }
    }
}

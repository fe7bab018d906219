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
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use lookalike_corpus::write::rows::RowFormat;
use lookalike_corpus::{Corpus, CorpusError, Origin};
use lookalike_hash::Secret;
use lookalike_store::journal::{self, Journal, Recovered};
use lookalike_store::sync::sync;
use serde::{Deserialize, Serialize, Serializer};

use crate::catalogue::Catalogue;
use crate::context::{Budget, Context, Settings, Spool, remove_if_there, write_whole};
use crate::delivered;
use crate::disk::estimate::{ScratchEstimate, estimate};
use crate::error::EngineError;
use crate::folder;
use crate::pipeline;
use crate::protocol::{
    LOCK, MANIFEST, RUN, SUMMARY, WORK, begin_journal, holds_job, is_empty, json_digest, lock, number_of,
    read_manifest, secret_of, sweep, write_manifest,
};
use crate::recipe::{JobRecipe, RecipeError, Task};
use crate::rejections;
use crate::results::{Findings, Summary};
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
    fn read(folder: &Path, path: &Path) -> Result<Option<Self>, EngineError> {
        let Some(line) = read_manifest(path)? else { return Ok(None) };
        if let Ok(manifest) = serde_json::from_str(&line) {
            return Ok(Some(manifest));
        }
        if let Ok(StoredRecipe { recipe }) = serde_json::from_str(&line) {
            stored_recipe(folder, path, &recipe)?;
        }
        let what = "it is the manifest of a job of another command, or of another program".to_owned();
        Err(EngineError::Damaged { file: path.to_owned(), what })
    }
}

/// The recipe in a manifest, of whatever version.
#[derive(Deserialize)]
struct StoredRecipe {
    recipe: String,
}

/// Reads the recipe of the job in a folder, which stands in `file`.
fn stored_recipe(folder: &Path, file: &Path, text: &str) -> Result<JobRecipe, EngineError> {
    JobRecipe::from_toml(text).map_err(|error| match error {
        made @ RecipeError::OtherVersion { .. } => {
            EngineError::OtherVersion { folder: folder.to_owned(), made }
        }
        RecipeError::Unreadable(what) => EngineError::Damaged { file: file.to_owned(), what },
    })
}

/// The fields of the `run.json` of a finished job that stand for its manifest.
#[derive(Debug, Deserialize)]
struct FinishedRun {
    inputs: String,
    outputs: String,
}

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
    expected_scratch: Option<ScratchEstimate>,
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
        let before = JobManifest::read(folder, &path)?;
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
        let Ok(summary) = std::fs::read(&path) else { return Ok(None) };
        // First the recipe: what else another version wrote nobody knows.
        let recipe = folder.join("recipe.toml");
        let text = std::fs::read_to_string(&recipe).map_err(|error| EngineError::read(&recipe, error))?;
        let before = stored_recipe(folder, &recipe, &text)?;
        let summary = serde_json::from_slice(&summary).map_err(|error| EngineError::Damaged {
            file: path,
            what: format!("it cannot be read: {error}"),
        })?;
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
            let file = folder.join(WORK).join(MANIFEST);
            let differences = stored_recipe(folder, &file, &before.recipe)?.differences(&self.recipe);
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

    /// The scratch files that the run will take, as far as the sizes of the input and some of its documents tell.
    pub fn scratch_estimate(&self) -> Result<ScratchEstimate, EngineError> {
        let corpora = || self.against.iter().chain([&self.corpus]);
        corpora().try_for_each(|corpus| self.settings.bound_decoders(corpus).map(drop))?;
        estimate(&self.recipe, corpora(), self.settings.spool, self.settings.memory)
    }

    /// Refuses a disk that is too small; returns the scratch files that the run will take.
    fn check_room(&self, folder: &Path) -> Result<ScratchEstimate, EngineError> {
        let expected = self.scratch_estimate()?;
        // What pairs take is watched while they are written.
        let (needed, free) = (expected.least, free_space(folder));
        if free.is_some_and(|free| free < needed) {
            return Err(EngineError::NoRoom { folder: folder.to_owned(), needed, free: free.unwrap_or(0) });
        }
        Ok(expected)
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

/// Refuses a corpus with files that cannot be read.
pub(crate) fn refuse_unreadable(corpus: &Corpus, threads: usize) -> Result<(), EngineError> {
    let found = corpus.unreadable(threads);
    let (count, all) = (found.len(), corpus.shards().len());
    match found.into_iter().next() {
        None => Ok(()),
        // A column that no file has is named wrongly: nothing is the matter with the files.
        Some((_, first)) if all == 1 || count == all && matches!(first, CorpusError::NoColumn { .. }) => {
            Err(first.into())
        }
        Some((_, first)) => Err(EngineError::Unreadable { count, all, first }),
    }
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
            if !catalogue.is_reference(document) && row.words == Row::REJECTED {
                each(document.get() - references);
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
    pub fn expected_scratch(&self) -> Option<ScratchEstimate> {
        self.expected_scratch.filter(|expected| expected.least > 0)
    }

    /// True when scratch files of an earlier process did not survive, so that their work is done again.
    pub fn lost_files(&self) -> bool {
        self.recovered.lost
    }

    /// The recipe of the job.
    pub fn recipe(&self) -> &JobRecipe {
        &self.job.recipe
    }

    /// The threads, memory and spool of the job.
    pub fn settings(&self) -> &Settings {
        &self.job.settings
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
    memory_figure("VmHWM:")
}

/// The resident set of this process, where the system tells.
pub fn resident_memory() -> Option<u64> {
    memory_figure("VmRSS:")
}

fn memory_figure(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kib| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::{outputs, recipe, run, settings};
    use lookalike_corpus::ReadOptions;

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
    fn a_manifest_is_read_back_and_that_of_another_command_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MANIFEST);
        let read = || JobManifest::read(folder.path(), &path);
        assert!(read().unwrap().is_none());
        let manifest = JobManifest {
            recipe: "recipe".to_owned(),
            inputs: vec![mark("a", 5)],
            outputs: "outputs".to_owned(),
            secret: "0a".to_owned(),
            stamp: "0b".to_owned(),
        };
        write_manifest(&path, &manifest).unwrap();
        let again = read().unwrap().unwrap();
        assert_eq!(
            (again.recipe, again.inputs, again.outputs),
            (manifest.recipe, manifest.inputs, manifest.outputs)
        );
        assert_eq!((again.secret, again.stamp), (manifest.secret, manifest.stamp));
        let write_other =
            |recipe: &str| write_manifest(&path, &serde_json::json!({ "recipe": recipe })).unwrap();
        write_other("");
        assert!(matches!(read(), Err(EngineError::Damaged { .. })));
        // Nobody knows yet what else will stand in it.
        write_other("lookalike = \"7.8.9\"\nengine = 1000\n");
        let told = read().unwrap_err().to_string();
        assert!(told.contains("made by a newer lookalike (7.8.9, engine version 1000)"), "{told}");
    }

    #[test]
    fn free_space_is_that_of_the_disk_a_folder_will_be_on() {
        let folder = tempfile::tempdir().unwrap();
        let deep = free_space(&folder.path().join("not/there/yet"));
        assert_eq!(deep.is_some(), cfg!(unix));
        assert_eq!(free_space(Path::new("not-there-either")).is_some(), cfg!(unix));
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
        let least = |lines: &str| job_on(lines).scratch_estimate().unwrap().least;
        let (one, two) = (least(&as_lines(&["one two"])), least(&as_lines(&["one two", "three four"])));
        assert!(least("") == 0 && one > 0 && two > one, "{one} {two}");
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

//! A folder in which a piece of work goes on after a stop.
//!
//! The counterpart of [`Job`](crate::Job) for commands that look for no near-duplicates: the folder is locked, the work is
//! recognised by its recipe and its input, scratch files bear a stamp of both, and a summary that is written last says that
//! all is done. Stages leave [facts](Workplace::save) behind, and a later process goes on behind the last of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use lookalike_corpus::Corpus;
use lookalike_hash::Secret;
use lookalike_store::facts;
use lookalike_store::file::Label;
use lookalike_store::journal::{Journal, Recovered};
use lookalike_store::sort::RunLocation;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::context::{Settings, remove_if_there, write_whole};
use crate::delivered;
use crate::error::EngineError;
use crate::folder;
use crate::job::{FileAddresses, InputMark, changed, left_out, peak_memory, refuse_unreadable};
use crate::protocol::{
    LOCK, MANIFEST, RUN, SUMMARY, WORK, begin_journal, holds_job, is_empty, json_digest, lock, read_manifest,
    secret_of, sweep, write_manifest,
};
use crate::recipe::differences;
use crate::stdin;

const RECIPE: &str = "recipe.toml";

/// A folder that is being worked in.
#[derive(Debug)]
pub struct Workplace {
    folder: PathBuf,
    secret: Secret,
    /// Recipe, input and secret, borne by every scratch file.
    stamp: u128,
    /// Recipe and input.
    name: u128,
    recipe: String,
    inputs: String,
    corpora: Vec<Corpus>,
    begun: Instant,
    lap: Instant,
    seconds: BTreeMap<&'static str, f64>,
    scratch: u64,
    lock: Option<File>,
    journal: Arc<Journal>,
    recovered: Recovered,
}

/// The identity of a piece of work, by which a later process recognises it.
#[derive(Debug, Serialize, Deserialize)]
struct JobManifest<'c> {
    recipe: String,
    inputs: Vec<Vec<InputMark<'c>>>,
    /// The seed of the secret that equal things are told by. Whoever goes on with the work goes by the same.
    secret: String,
}

/// The field of the `run.json` of a finished piece of work by which its inputs are recognised.
#[derive(Debug, Deserialize)]
struct FinishedRun {
    inputs: String,
}

/// The facts about the machine and the run in `run.json`, the one file that differs from run to run.
#[derive(Debug, Serialize)]
struct RunFacts<'c> {
    seconds: f64,
    seconds_by_stage: BTreeMap<&'static str, f64>,
    peak_memory_bytes: Option<u64>,
    scratch_bytes: u64,
    threads: usize,
    memory_cap_bytes: u64,
    cores: usize,
    system: &'static str,
    finished: u64,
    inputs: String,
    /// The addresses of the input files.
    files: Files<'c>,
    /// Files that were left out of folders, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<String, Vec<String>>,
}

/// The addresses of input files: one list for one corpus, as in a job, or one list for each of several.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Files<'c> {
    One(FileAddresses<'c>),
    Several(Vec<FileAddresses<'c>>),
}

impl<'c> Files<'c> {
    fn new(corpora: &'c [Corpus]) -> Self {
        match corpora {
            [only] => Files::One(FileAddresses(only)),
            several => Files::Several(several.iter().map(FileAddresses).collect()),
        }
    }
}

impl Workplace {
    /// Takes hold of `folder`: a new one, or one in which the same work was begun. Nothing when it was finished there.
    ///
    /// Standard input among the corpora is put into a file, so that it can be read again.
    pub fn open(
        folder: &Path,
        recipe: &str,
        corpora: &mut [Corpus],
    ) -> Result<Option<Workplace>, EngineError> {
        let made = !folder.exists();
        let taken = Self::lock_and_open(folder, recipe, corpora);
        if taken.is_err() && !folder.join(WORK).join(MANIFEST).exists() {
            folder::remove_unstarted_if_unlocked(folder, made);
        }
        taken
    }

    fn lock_and_open(
        folder: &Path,
        recipe: &str,
        corpora: &mut [Corpus],
    ) -> Result<Option<Workplace>, EngineError> {
        let work = folder.join(WORK);
        if !holds_job(folder) && !is_empty(folder)? {
            return Err(EngineError::NotAJob { folder: folder.to_owned() });
        }
        if finished(folder, recipe, corpora)? {
            return Ok(None);
        }
        std::fs::create_dir_all(&work).map_err(|error| EngineError::write(&work, error))?;
        let lock = lock(folder, &work.join(LOCK))?;
        // Whoever held the lock a moment ago may have come to the end.
        if finished(folder, recipe, corpora)? {
            return Ok(None);
        }
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        for corpus in corpora.iter_mut() {
            refuse_unreadable(corpus, threads)?;
            stdin::receive(corpus, &work)?;
        }
        sweep(folder);
        let name = json_digest(&(recipe, marks(corpora)));
        let secret = format!("{:032x}", Secret::random().seed());
        let mut manifest = JobManifest { recipe: recipe.to_owned(), inputs: marks(corpora), secret };
        let path = work.join(MANIFEST);
        let before = manifest.read_matching(folder, &path)?;
        let begun = before.is_some();
        if let Some(before) = before {
            manifest.secret = before.secret;
        }
        // One that cannot be read ends it here, before anything is touched.
        let secret = secret_of(&manifest.secret, &path)?;
        let (journal, recovered) = begin_journal(folder, begun, || write_manifest(&path, &manifest))?;
        Ok(Some(Workplace {
            folder: folder.to_owned(),
            secret,
            stamp: json_digest(&manifest),
            name,
            recipe: recipe.to_owned(),
            inputs: inputs_digest(corpora),
            corpora: corpora.to_vec(),
            begun: Instant::now(),
            lap: Instant::now(),
            seconds: BTreeMap::new(),
            scratch: 0,
            lock: Some(lock),
            journal,
            recovered,
        }))
    }

    /// Recipe and input in one word.
    pub fn stamp(&self) -> String {
        format!("{:032x}", self.name)
    }

    /// The secret that equal things are told by; no result depends on which it is.
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// Returns the path of a file of results.
    pub fn result(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The path of a scratch file.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(WORK).join(name)
    }

    /// Returns the location of sorted runs.
    pub fn run_location(&self, name: &str) -> RunLocation {
        RunLocation { folder: self.folder.join(WORK), name: name.to_owned(), stamp: self.stamp }
    }

    /// The label of a run file.
    pub fn label(&self, kind: &'static str, width: usize) -> Label {
        Label::new(kind, width, self.stamp)
    }

    /// Writes down facts that a later process goes on from.
    pub fn save(&self, name: &str, saved: &impl Serialize) -> Result<(), EngineError> {
        Ok(facts::save(&self.file(name), self.stamp, saved)?)
    }

    /// The facts that an earlier process, or an earlier stage, wrote down.
    pub fn saved<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, EngineError> {
        Ok(facts::saved(&self.file(name), self.stamp)?)
    }

    /// A stage ended: notes how long it took, and how much disk is taken now.
    pub fn lap(&mut self, stage: &'static str) {
        self.seconds.insert(stage, self.lap.elapsed().as_secs_f64());
        self.lap = Instant::now();
        self.scratch = self.scratch.max(bytes_in(&self.folder.join(WORK)));
    }

    /// Removes a scratch file that may not be there.
    pub fn remove(&self, path: &Path) -> Result<(), EngineError> {
        remove_if_there(path)
    }

    /// Puts all scratch files that are there on the disk.
    pub fn sync(&self) -> Result<(), EngineError> {
        Ok(self.journal.sync()?)
    }

    /// True when scratch files of an earlier process did not survive, so that their work is done again.
    pub fn lost_files(&self) -> bool {
        self.recovered.lost
    }

    /// Writes a file of results.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), EngineError> {
        write_whole(&self.result(name), content)
    }

    /// Writes the last files and takes the scratch folder away. From then on the work is finished.
    pub fn finish(mut self, settings: &Settings, summary: &impl Serialize) -> Result<(), EngineError> {
        self.corpora.iter().try_for_each(Corpus::check)?;
        let facts = RunFacts {
            seconds: self.begun.elapsed().as_secs_f64(),
            seconds_by_stage: std::mem::take(&mut self.seconds),
            peak_memory_bytes: peak_memory(),
            scratch_bytes: self.scratch,
            threads: settings.threads,
            memory_cap_bytes: settings.memory,
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get()),
            system: std::env::consts::OS,
            finished: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            inputs: std::mem::take(&mut self.inputs),
            files: Files::new(&self.corpora),
            left_out: left_out(self.corpora.iter()),
        };
        self.write(RECIPE, self.recipe.as_bytes())?;
        delivered::conclude(&self.folder, &[], &facts, summary)?;
        let work = self.folder.join(WORK);
        let removed = std::fs::remove_dir_all(&work).map_err(|error| EngineError::write(&work, error));
        drop(self.lock.take());
        removed
    }
}

fn marks(corpora: &[Corpus]) -> Vec<Vec<InputMark<'_>>> {
    corpora.iter().enumerate().map(|(number, corpus)| InputMark::all(corpus, number > 0)).collect()
}

fn inputs_digest(corpora: &[Corpus]) -> String {
    format!("{:032x}", json_digest(&marks(corpora)))
}

/// True when the same work is finished there.
fn finished(folder: &Path, recipe: &str, corpora: &mut [Corpus]) -> Result<bool, EngineError> {
    if !folder.join(SUMMARY).exists() {
        return Ok(false);
    }
    let path = folder.join(RECIPE);
    let before = std::fs::read_to_string(&path).map_err(|error| EngineError::read(&path, error))?;
    if before != recipe {
        let differences = differences(&before, recipe);
        return Err(EngineError::OtherRecipe { folder: folder.to_owned(), differences });
    }
    let facts = std::fs::read(folder.join(RUN)).ok();
    let finished_run: Option<FinishedRun> = facts.and_then(|text| serde_json::from_slice(&text).ok());
    // Standard input is looked at again: that the folder has the same name says nothing of what comes in.
    corpora.iter_mut().try_for_each(stdin::read_digest)?;
    if finished_run.is_some_and(|finished_run| finished_run.inputs != inputs_digest(corpora)) {
        let what = "it is finished, and had other files or the same at another time".to_owned();
        return Err(EngineError::InputChanged { folder: folder.to_owned(), what });
    }
    // A process that was killed right after the last file leaves its scratch folder.
    let _ = std::fs::remove_dir_all(folder.join(WORK));
    Ok(true)
}

impl JobManifest<'_> {
    /// Refuses other work than was begun in the folder. Returns the manifest that stands there; nothing when nothing was begun, or nothing
    /// survived that says what.
    fn read_matching(&self, folder: &Path, path: &Path) -> Result<Option<Self>, EngineError> {
        let Some(line) = read_manifest(path)? else { return Ok(None) };
        let Ok(before) = serde_json::from_str::<Self>(&line) else {
            return Err(EngineError::Request(format!(
                "{} holds a job of another command that was not finished; name another folder",
                folder.display()
            )));
        };
        if before.recipe != self.recipe {
            let differences = differences(&before.recipe, &self.recipe);
            return Err(EngineError::OtherRecipe { folder: folder.to_owned(), differences });
        }
        if before.inputs != self.inputs {
            let what = changed(&before.inputs.concat(), &self.inputs.concat());
            return Err(EngineError::InputChanged { folder: folder.to_owned(), what });
        }
        Ok(Some(before))
    }
}

/// Bytes of all files below a folder.
fn bytes_in(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => bytes_in(&entry.path()),
        Ok(facts) => facts.len(),
        Err(_) => 0,
    };
    entries.map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use lookalike_corpus::ReadOptions;

    use super::*;

    fn corpora(texts: [&str; 2]) -> Vec<Corpus> {
        let corpus = |text: &str| Corpus::in_memory(text, text.as_bytes().into(), ReadOptions::default());
        texts.map(corpus).into()
    }

    fn settings() -> Settings {
        Settings { threads: 1, memory: 1 << 30, spool: crate::Spool::Auto }
    }

    #[test]
    fn the_same_work_goes_on_and_ends_once() {
        let folder = tempfile::tempdir().unwrap();
        let take = || Workplace::open(folder.path(), "recipe", &mut corpora(["a", "b"])).unwrap();
        let mut work = take().unwrap();
        work.save("one", &7u64).unwrap();
        assert!(matches!(
            Workplace::open(folder.path(), "recipe", &mut corpora(["a", "b"])),
            Err(EngineError::Locked { .. })
        ));
        work.lap("read");
        drop(work);
        let work = take().unwrap();
        assert_eq!((work.saved("one").unwrap(), work.saved::<u64>("two").unwrap()), (Some(7u64), None));
        work.write("table", b"x").unwrap();
        work.finish(&settings(), &serde_json::json!({"n": 1})).unwrap();
        assert!(take().is_none());
        assert!(!folder.path().join("work").exists());
    }

    #[test]
    fn other_work_is_refused_begun_or_finished() {
        let folder = tempfile::tempdir().unwrap();
        let take = |recipe: &str, texts| Workplace::open(folder.path(), recipe, &mut corpora(texts));
        let begun = take("recipe", ["a", "b"]).unwrap();
        drop(begun);
        for finished in [false, true] {
            assert!(matches!(take("other", ["a", "b"]), Err(EngineError::OtherRecipe { .. })), "{finished}");
            assert!(
                matches!(take("recipe", ["a", "cc"]), Err(EngineError::InputChanged { .. })),
                "{finished}"
            );
            assert!(
                matches!(take("recipe", ["b", "a"]), Err(EngineError::InputChanged { .. })),
                "{finished}"
            );
            if let Some(work) = take("recipe", ["a", "b"]).unwrap() {
                work.finish(&settings(), &serde_json::json!({})).unwrap();
            }
        }
        let foreign = tempfile::tempdir().unwrap();
        std::fs::write(foreign.path().join("x"), "").unwrap();
        let error = Workplace::open(foreign.path(), "recipe", &mut corpora(["a", "b"])).unwrap_err();
        assert!(matches!(error, EngineError::NotAJob { .. }));
        // Nor is a folder ours in which somebody else keeps his work.
        let foreign = tempfile::tempdir().unwrap();
        std::fs::create_dir(foreign.path().join(WORK)).unwrap();
        std::fs::write(foreign.path().join(WORK).join("mine"), "x").unwrap();
        let error = Workplace::open(foreign.path(), "recipe", &mut corpora(["a", "b"])).unwrap_err();
        assert!(matches!(error, EngineError::NotAJob { .. }));
        assert!(foreign.path().join(WORK).join("mine").exists());
    }

    #[test]
    fn one_corpus_has_one_list_of_files() {
        let folder = tempfile::tempdir().unwrap();
        let corpus = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "text").unwrap();
            Corpus::open(&[path], ReadOptions::default()).unwrap()
        };
        let text = |corpora: &[Corpus]| {
            let text = serde_json::to_string(&Files::new(corpora)).unwrap();
            text.replace(&format!("{}/", folder.path().display()), "")
        };
        assert_eq!(text(&[corpus("a")]), "[\"a\"]");
        assert_eq!(text(&[corpus("a"), corpus("b")]), "[[\"a\"],[\"b\"]]");
        assert_eq!(text(&[]), "[]");
    }

    #[test]
    fn scratch_is_counted_in_all_folders() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        std::fs::write(folder.path().join("one"), "1").unwrap();
        std::fs::write(folder.path().join("a/b/two"), "22").unwrap();
        assert_eq!(bytes_in(folder.path()), 3);
        assert_eq!(bytes_in(&folder.path().join("none")), 0);
    }

    #[test]
    fn the_same_work_has_one_stamp_wherever_it_is_done() {
        let stamp = |recipe: &str, texts| {
            let folder = tempfile::tempdir().unwrap();
            let work = Workplace::open(folder.path(), recipe, &mut corpora(texts)).unwrap().unwrap();
            work.stamp()
        };
        assert_eq!(stamp("recipe", ["a", "b"]), stamp("recipe", ["a", "b"]));
        assert_ne!(stamp("recipe", ["a", "b"]), stamp("other", ["a", "b"]));
        assert_ne!(stamp("recipe", ["a", "b"]), stamp("recipe", ["b", "a"]));
    }

    #[test]
    fn the_secret_stays_that_of_the_beginning() {
        let [one, two] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        let seed = |folder: &Path| {
            Workplace::open(folder, "recipe", &mut corpora(["a", "b"])).unwrap().unwrap().secret().seed()
        };
        assert_eq!(seed(one.path()), seed(one.path()));
        assert_ne!(seed(one.path()), seed(two.path()));
    }

    #[test]
    fn scratch_files_bear_the_secret_of_their_folder() {
        let [one, two] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        let open =
            |folder: &Path| Workplace::open(folder, "recipe", &mut corpora(["a", "b"])).unwrap().unwrap();
        let (here, there) = (open(one.path()), open(two.path()));
        here.save("facts", &1u64).unwrap();
        std::fs::copy(here.file("facts"), there.file("facts")).unwrap();
        assert!(matches!(there.saved::<u64>("facts"), Err(EngineError::Damaged { .. })));
        assert_eq!(here.label("kind", 4).stamp, here.run_location("runs").stamp);
    }

    #[test]
    fn work_of_another_command_is_told() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(WORK)).unwrap();
        let foreign = "{\"command\":\"dedup\"}";
        let manifest = format!("{foreign}\n{}\n", crate::protocol::digest_of(foreign.as_bytes()));
        std::fs::write(folder.path().join(WORK).join(MANIFEST), &manifest).unwrap();
        let error =
            Workplace::open(folder.path(), "recipe", &mut corpora(["a", "b"])).unwrap_err().to_string();
        assert!(error.contains("holds a job of another command that was not finished"), "{error}");
        assert_eq!(std::fs::read_to_string(folder.path().join(WORK).join(MANIFEST)).unwrap(), manifest);
    }

    #[test]
    fn results_and_scratch_files_have_folders_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut work = Workplace::open(folder.path(), "recipe", &mut corpora(["a", "b"])).unwrap().unwrap();
        assert_eq!(work.result("table"), folder.path().join("table"));
        assert_eq!(work.file("facts"), folder.path().join("work/facts"));
        assert!(!work.lost_files());
        std::fs::write(work.file("facts"), "12345").unwrap();
        work.lap("read");
        assert!(work.scratch >= 5 && work.seconds.contains_key("read"));
        work.remove(&work.file("facts")).unwrap();
        assert!(!work.file("facts").exists());
        work.remove(&work.file("facts")).unwrap();
    }
}

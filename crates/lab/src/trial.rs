//! One configuration of methods on the lab's copy of a corpus: the pairs that it accepts by itself, and what that took.
//!
//! Each configuration runs as a job of its own on a copy of the corpus, so that texts are extracted once. Its pairs are
//! kept in a file of 16 bytes each, and its folder is then removed. What was run before is not run again; so a comparison
//! that was stopped goes on, and experiments share their trials.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use lookalike::engine::document_copy::DocumentCopy;
use lookalike::engine::lexicon::fingerprint;
use lookalike::engine::measure::Measure;
use lookalike::engine::recipe::{Combine, JobRecipe, Task};
use lookalike::engine::{Findings, Job, Opened, Outputs, Settings};
use lookalike::hash;
use lookalike::methods::{Setting, method};
use lookalike::model::Recipe;
use lookalike::tables::groups::GroupPairs;
use lookalike::tables::pairs::PairRef;
use lookalike::tables::rejected::RejectedLine;
use lookalike::text::Profile;
use lookalike::walk::Watch;
use serde::{Deserialize, Serialize};

pub use crate::error::LabError;
use crate::error::write_atomically;

/// Methods and how they go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// The methods that propose pairs, as typed.
    pub methods: Vec<String>,
    /// The rule that combines the pairs of several methods.
    pub combine: Combine,
    /// A method that must accept what the others propose.
    pub filter: Option<String>,
    /// Words and how common they are, where they do not come from the corpus itself.
    pub lexicon: Option<PathBuf>,
    /// True if pairs count only when their measured similarity reaches the threshold, and not by the methods' own verdict.
    pub verified: bool,
}

impl Configuration {
    /// One method by itself.
    pub fn single(method: &str) -> Self {
        Configuration {
            methods: vec![method.to_owned()],
            combine: Combine::Any,
            filter: None,
            lexicon: None,
            // The exact join has no word of its own: it is verification itself.
            verified: method.split([':', '/']).next() == Some("exact"),
        }
    }

    /// One method whose pairs another must accept.
    pub fn filtered(method: &str, filter: &str) -> Self {
        Configuration { filter: Some(filter.to_owned()), ..Configuration::single(method) }
    }

    /// The same with every pair measured.
    #[must_use]
    pub fn verified(self) -> Self {
        Configuration { verified: true, ..self }
    }
}

/// The definition of a near-duplicate that methods are set up with, and the recall that is wanted of them.
#[derive(Debug, Clone)]
pub struct MethodSetting {
    /// Similarity, threshold and shingle.
    pub measure: Measure,
    /// The profile that makes words of text.
    pub profile: Profile,
    /// Wanted probability that a pair right at the threshold is proposed.
    pub recall: f64,
}

impl MethodSetting {
    /// The setting of this measure on words of a profile, with the default recall.
    pub fn new(measure: Measure, profile: Profile) -> Self {
        MethodSetting { measure, profile, recall: Setting::default().recall }
    }
}

/// Runs trials: the documents, the folder and the settings that they have in common.
#[derive(Debug)]
pub struct TrialRunner<'b> {
    /// The documents.
    pub documents: &'b DocumentCopy,
    /// A folder for trials.
    pub folder: PathBuf,
    /// Threads, memory and disk use, which change no result.
    pub settings: Settings,
    /// Larger groups do not propose all of their pairs.
    pub max_group: usize,
    /// Seed of every random choice.
    pub seed: u64,
}

/// The counts, sizes and time of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialFacts {
    /// The methods with every parameter.
    pub recipes: Vec<Recipe>,
    /// Documents that were read.
    pub documents: u64,
    /// Pairs that were accepted.
    pub pairs: u64,
    /// Pairs inside groups that are too large to be written out; they are not among `pairs`.
    pub pairs_in_giant_groups: u64,
    /// Such groups.
    pub giant_groups: u64,
    /// Documents with words that no method has a signature for.
    pub unsigned: u64,
    /// Documents that a method refuses.
    pub refused: u64,
    /// The reason why the first of them is refused.
    pub refusal: Option<String>,
    /// Bytes of payloads and keys, per document.
    pub bytes: f64,
    /// Distinct pairs proposed.
    pub candidates: u64,
    /// Seconds of a whole run; none while it is not known.
    pub seconds: Option<f64>,
    /// Threads of the run.
    pub threads: usize,
}

impl TrialFacts {
    /// Documents per second.
    pub fn rate(&self) -> f64 {
        self.seconds.filter(|seconds| *seconds > 0.0).map_or(0.0, |seconds| self.documents as f64 / seconds)
    }
}

/// A trial that was run: its facts and its pairs.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Its counts, sizes and time.
    pub facts: TrialFacts,
    pairs: PathBuf,
}

/// Two documents by number, the lower first, with the similarity by which they were accepted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The first.
    pub a: u32,
    /// The second.
    pub b: u32,
    /// Measured, or the method's own score.
    pub similarity: f64,
}

impl TrialRunner<'_> {
    /// Runs a configuration, or takes what it left behind.
    pub fn run(
        &self,
        configuration: &Configuration,
        method_setting: &MethodSetting,
        watch: &Watch,
    ) -> Result<Trial, LabError> {
        let recipe = self.recipe(configuration, method_setting)?;
        let text = recipe.to_toml();
        let folder = self.folder.join(format!("{:016x}", hash::digest(text.as_bytes()) as u64));
        let (facts, pairs) = (folder.join("facts.json"), folder.join("pairs"));
        if let Some(known) = load_facts(&facts, &pairs) {
            let known = self.with_time(known, configuration, method_setting, &facts, watch)?;
            return Ok(Trial { facts: known, pairs });
        }
        std::fs::create_dir_all(&folder).map_err(|error| LabError::write(&folder, &error))?;
        let job = folder.join("job");
        // What an earlier process did is not in the time of this one.
        let resumed = job.exists();
        let found = self.run_job(&job, configuration, recipe, watch)?;
        let found = TrialFacts { seconds: if resumed { None } else { found.seconds }, ..found };
        write_pairs(&job.join("pairs.jsonl"), &pairs)?;
        let found = TrialFacts { pairs_in_giant_groups: giant_pairs(&job.join("groups.jsonl"))?, ..found };
        let found =
            TrialFacts { refusal: first_refusal(&job.join("rejected.jsonl"), found.refused)?, ..found };
        let text = serde_json::to_vec(&found).map_err(|error| LabError::write(&facts, &error))?;
        write_atomically(&facts, &text)?;
        // What is left of it if that fails takes room and does no harm.
        let _ = std::fs::remove_dir_all(&job);
        let found = self.with_time(found, configuration, method_setting, &facts, watch)?;
        Ok(Trial { facts: found, pairs })
    }

    /// The facts with a time of a whole run on as many threads as now: where theirs is another, it is run once more.
    fn with_time(
        &self,
        known: TrialFacts,
        configuration: &Configuration,
        method_setting: &MethodSetting,
        path: &Path,
        watch: &Watch,
    ) -> Result<TrialFacts, LabError> {
        if known.seconds.is_some() && known.threads == self.settings.threads {
            return Ok(known);
        }
        let seconds = Some(self.measure_seconds(configuration, method_setting, watch)?);
        let known = TrialFacts { seconds, threads: self.settings.threads, ..known };
        let text = serde_json::to_vec(&known).map_err(|error| LabError::write(path, &error))?;
        write_atomically(path, &text)?;
        Ok(known)
    }

    /// Runs a configuration once more, and returns the seconds that it took.
    pub fn measure_seconds(
        &self,
        configuration: &Configuration,
        method_setting: &MethodSetting,
        watch: &Watch,
    ) -> Result<f64, LabError> {
        let folder = self.folder.join("again");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|error| LabError::write(&folder, &error))?;
        }
        let facts =
            self.run_job(&folder, configuration, self.recipe(configuration, method_setting)?, watch)?;
        let _ = std::fs::remove_dir_all(&folder);
        Ok(facts.seconds.unwrap_or(0.0))
    }

    /// Counts the words of the documents by a profile, unless that was done; the file can be the lexicon of a
    /// configuration, here or in another runner.
    pub fn lexicon(&self, profile: &Profile, watch: &Watch) -> Result<PathBuf, LabError> {
        let target = self.folder.join(format!("{}.lexicon", profile.name));
        if target.exists() {
            return Ok(target);
        }
        let recipe = JobRecipe { profile: profile.recipe(), ..JobRecipe::simplest(Task::Pairs) };
        let job = Job {
            recipe,
            corpus: self.documents.corpus()?,
            against: None,
            lexicon: None,
            settings: self.settings.clone(),
            outputs: Outputs::default(),
        };
        let folder = self.folder.join(format!("{}.words", profile.name));
        let Opened::Open(open) = job.open(&folder)? else {
            return Err(LabError::read(&folder, &"it holds another job"));
        };
        open.count_words(watch, &target)?;
        Ok(target)
    }

    /// The recipe of a configuration.
    pub fn recipe(
        &self,
        configuration: &Configuration,
        method_setting: &MethodSetting,
    ) -> Result<JobRecipe, LabError> {
        let measure = method_setting.measure;
        let setting = Setting {
            similarity: measure.similarity,
            threshold: measure.threshold,
            shingle: measure.shingle,
            seed: self.seed,
            recall: method_setting.recall,
        };
        let made = |text: &String| Ok::<_, LabError>(method(text, &setting)?.recipe());
        let mut recipe = JobRecipe {
            similarity: measure.similarity,
            threshold: measure.threshold.to_string(),
            shingle: measure.shingle,
            profile: method_setting.profile.recipe(),
            verified: configuration.verified,
            max_group: self.max_group,
            methods: configuration.methods.iter().map(made).collect::<Result<_, _>>()?,
            combine: configuration.combine,
            filter: configuration.filter.as_ref().map(made).transpose()?,
            lexicon: configuration.lexicon.as_deref().map(fingerprint).transpose()?,
            ..JobRecipe::simplest(Task::Pairs)
        };
        recipe.resolve_profiles()?;
        Ok(recipe)
    }

    fn run_job(
        &self,
        folder: &Path,
        configuration: &Configuration,
        recipe: JobRecipe,
        watch: &Watch,
    ) -> Result<TrialFacts, LabError> {
        let recipes = recipe.methods.iter().chain(&recipe.filter).cloned().collect();
        let job = Job {
            recipe,
            corpus: self.documents.corpus()?,
            against: None,
            lexicon: configuration.lexicon.clone(),
            settings: self.settings.clone(),
            outputs: Outputs::default(),
        };
        let begun = Instant::now();
        let opened = match job.clone().open(folder)? {
            // The facts of a finished job went with the process that ran it.
            Opened::Finished(_) => {
                std::fs::remove_dir_all(folder).map_err(|error| LabError::write(folder, &error))?;
                job.open(folder)?
            }
            opened => opened,
        };
        let Opened::Open(mut open) = opened else {
            return Err(LabError::read(folder, &"another process finished it"));
        };
        let findings = open.run(watch)?;
        let seconds = begun.elapsed().as_secs_f64();
        open.finish(&findings.summary)?;
        Ok(self.facts(recipes, &findings, seconds))
    }

    fn facts(&self, recipes: Vec<Recipe>, findings: &Findings, seconds: f64) -> TrialFacts {
        let summary = &findings.summary;
        let bytes: u64 = findings.method_counts.iter().map(|counts| counts.bytes).sum();
        TrialFacts {
            recipes,
            documents: summary.documents,
            pairs: summary.pairs.unwrap_or(0),
            pairs_in_giant_groups: 0,
            giant_groups: summary.giant_groups,
            unsigned: findings.method_counts.iter().map(|counts| counts.unsigned).min().unwrap_or(0),
            refused: summary.rejected,
            refusal: None,
            bytes: bytes as f64 / summary.documents.max(1) as f64,
            candidates: summary.candidates,
            seconds: Some(seconds),
            threads: self.settings.threads,
        }
    }
}

/// Bytes of a pair in its file.
const WIDTH: usize = 16;

impl Trial {
    /// The pairs, in the order of their documents.
    pub fn pairs(&self) -> Result<Pairs, LabError> {
        let file = File::open(&self.pairs).map_err(|error| LabError::read(&self.pairs, &error))?;
        Ok(Pairs { path: self.pairs.clone(), reader: BufReader::with_capacity(1 << 16, file) })
    }
}

/// The pairs of a trial, read one after the other.
#[derive(Debug)]
pub struct Pairs {
    path: PathBuf,
    reader: BufReader<File>,
}

impl Iterator for Pairs {
    type Item = Result<Pair, LabError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.reader.fill_buf() {
            Ok([]) => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(LabError::read(&self.path, &error))),
        }
        let mut bytes = [0; WIDTH];
        let read = self.reader.read_exact(&mut bytes).map_err(|error| LabError::read(&self.path, &error));
        Some(read.map(|()| decode(&bytes)))
    }
}

fn encode(pair: Pair) -> [u8; WIDTH] {
    let mut bytes = [0; WIDTH];
    bytes[..4].copy_from_slice(&pair.a.to_le_bytes());
    bytes[4..8].copy_from_slice(&pair.b.to_le_bytes());
    bytes[8..].copy_from_slice(&pair.similarity.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8; WIDTH]) -> Pair {
    let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let [.., e, f, g, h, i, j, k, l] = *bytes;
    Pair { a: number(0), b: number(4), similarity: f64::from_le_bytes([e, f, g, h, i, j, k, l]) }
}

/// Hands every line of a job's table to `each`.
fn lines<E: std::fmt::Display>(
    path: &Path,
    mut each: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), LabError> {
    let file = File::open(path).map_err(|error| LabError::read(path, &error))?;
    let (mut reader, mut line) = (BufReader::with_capacity(1 << 16, file), Vec::new());
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(|error| LabError::read(path, &error))?;
        if read == 0 {
            return Ok(());
        }
        each(&line).map_err(|error| LabError::read(path, &error))?;
    }
}

/// Writes the pairs of a job down by number.
fn write_pairs(from: &Path, to: &Path) -> Result<(), LabError> {
    let pending = to.with_extension("part");
    let file = File::create(&pending).map_err(|error| LabError::write(&pending, &error))?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    lines(from, |line| {
        let PairRef { a, b, similarity } = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let number = |id: &str| id.parse::<u32>().map_err(|_| format!("{id} is no number of a document"));
        let pair = Pair { a: number(&a)?, b: number(&b)?, similarity: similarity.unwrap_or(f64::NAN) };
        out.write_all(&encode(pair)).map_err(|error| error.to_string())
    })?;
    let done =
        out.flush().and_then(|()| out.get_ref().sync_all()).and_then(|()| std::fs::rename(&pending, to));
    done.map_err(|error| LabError::write(to, &error))
}

/// Reads the facts of a trial that was run before; none unless its files are complete.
fn load_facts(facts: &Path, pairs: &Path) -> Option<TrialFacts> {
    let known: TrialFacts = serde_json::from_slice(&std::fs::read(facts).ok()?).ok()?;
    let whole = known.pairs * WIDTH as u64;
    (std::fs::metadata(pairs).ok()?.len() == whole).then_some(known)
}

/// Pairs inside groups that a job did not write out. Groups may share pairs, so this is a bound from above.
fn giant_pairs(path: &Path) -> Result<u64, LabError> {
    let mut all = 0;
    lines(path, |line| {
        let GroupPairs { pairs } = serde_json::from_slice(line)?;
        all += pairs;
        Ok::<_, serde_json::Error>(())
    })?;
    Ok(all)
}

/// Reads the reason why the first of the refused documents was refused.
fn first_refusal(path: &Path, refused: u64) -> Result<Option<String>, LabError> {
    let mut first = None;
    if refused > 0 {
        lines(path, |line| {
            if first.is_none() {
                let RejectedLine { reason, .. } = serde_json::from_slice(line)?;
                first = Some(reason);
            }
            Ok::<_, serde_json::Error>(())
        })?;
    }
    Ok(first)
}

//! One configuration of methods on a corpus: the pairs that it accepts by itself, and how many of them are
//! near-duplicates when they are measured.
//!
//! The corpus is run twice: once by the word of the methods alone, which is timed, and once with all of their candidates
//! measured. Both runs are jobs in folders of their own, so that a trial that was stopped goes on.

use std::fs::File;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::time::Instant;

use lookalike::corpus::{Corpus, CorpusError};
use lookalike::engine::recipe::{Combine, JobRecipe, Task};
use lookalike::engine::{EngineError, Job, Opened, Outputs, Settings, Summary};
use lookalike::methods::{MethodError, Setting, method};
use lookalike::walk::{WalkError, Watch};
use serde::{Deserialize, Serialize};

/// Why a trial ended early.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A method as typed will not do.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// The corpus cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The work was stopped, or the corpus cannot be read.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// A run failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What a run wrote cannot be read.
    #[error("{0} cannot be read: {1}; remove its folder and run again")]
    Results(String, String),
    /// What is asked for cannot be had, in a sentence.
    #[error("{0}")]
    Request(String),
}

/// Methods and how they go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// The methods that propose pairs, as typed.
    pub methods: Vec<String>,
    /// What several of them propose together.
    pub combine: Combine,
    /// A method that must accept what the others propose.
    pub filter: Option<String>,
}

impl Configuration {
    /// One method by itself.
    pub fn alone(method: &str) -> Self {
        Configuration { methods: vec![method.to_owned()], combine: Combine::Any, filter: None }
    }

    /// One method whose pairs another must accept.
    pub fn filtered(method: &str, filter: &str) -> Self {
        Configuration { filter: Some(filter.to_owned()), ..Configuration::alone(method) }
    }
}

/// Where and how trials are run.
#[derive(Debug)]
pub struct Bench<'b> {
    /// How documents are read, and what a near-duplicate is: similarity, shingle, threshold and profile.
    pub truth: JobRecipe,
    /// The corpus.
    pub corpus: &'b Corpus,
    /// How the work is done.
    pub settings: Settings,
    /// A folder for the jobs.
    pub folder: &'b Path,
    /// Seed of every random choice.
    pub seed: u64,
}

/// What came of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Documents of the corpus.
    pub documents: u64,
    /// Pairs that the methods accept by themselves.
    pub pairs: u64,
    /// Those of them that are near-duplicates when they are measured.
    pub near: u64,
    /// Groups that were too large to propose all of their pairs.
    pub giant_groups: u64,
    /// Seconds of the first run; none when it was finished before.
    pub seconds: Option<f64>,
}

impl Outcome {
    /// The share of near-duplicates among the pairs.
    pub fn precision(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.near as f64 / self.pairs as f64)
    }
}

impl Bench<'_> {
    /// Runs a configuration; `name` is that of its folders.
    pub fn run(&self, name: &str, what: &Configuration, watch: &Watch) -> Result<Outcome, LabError> {
        let accepted = JobRecipe { verified: false, all: false, ..self.recipe(what)? };
        let measured = JobRecipe { verified: true, all: true, ..self.recipe(what)? };
        let begun = Instant::now();
        let (own, summary, fresh) = self.job(&format!("{name}-accepted"), accepted, watch)?;
        let seconds = fresh.then(|| begun.elapsed().as_secs_f64());
        let (all, _, _) = self.job(&format!("{name}-measured"), measured, watch)?;
        let (pairs, near) = count(own, all, self.truth.measure()?.threshold.value())?;
        Ok(Outcome { documents: summary.documents, pairs, near, giant_groups: summary.giant_groups, seconds })
    }

    fn recipe(&self, what: &Configuration) -> Result<JobRecipe, LabError> {
        let measure = self.truth.measure()?;
        let setting = Setting {
            similarity: measure.similarity,
            threshold: measure.threshold,
            shingle: measure.shingle,
            seed: self.seed,
            ..Setting::default()
        };
        let made = |text: &String| Ok(method(text, &setting)?.recipe());
        let mut recipe = JobRecipe {
            task: Task::Pairs,
            methods: what.methods.iter().map(made).collect::<Result<_, MethodError>>()?,
            combine: what.combine,
            filter: what.filter.as_ref().map(made).transpose()?,
            ..self.truth.clone()
        };
        recipe.settle()?;
        Ok(recipe)
    }

    /// Runs a job to its end, or takes what it left behind; true when it was run now.
    fn job(&self, name: &str, recipe: JobRecipe, watch: &Watch) -> Result<(Pairs, Summary, bool), LabError> {
        let folder = self.folder.join(name);
        let job = Job {
            recipe,
            corpus: self.corpus.clone(),
            against: None,
            lexicon: None,
            settings: self.settings.clone(),
            outputs: Outputs::default(),
        };
        let (summary, fresh) = match job.open(&folder)? {
            Opened::Finished(summary) => (*summary, false),
            Opened::Open(mut open) => {
                let summary = open.run(watch)?.summary;
                open.finish(&summary)?;
                (summary, true)
            }
        };
        Ok((Pairs::open(&folder)?, summary, fresh))
    }
}

/// The pairs of a finished job, in their order.
struct Pairs {
    name: String,
    lines: Lines<BufReader<File>>,
}

#[derive(Deserialize)]
struct Row {
    a: String,
    b: String,
    similarity: Option<f64>,
}

impl Pairs {
    fn open(folder: &Path) -> Result<Self, LabError> {
        let path = folder.join("pairs.jsonl");
        let name = path.display().to_string();
        let file = File::open(&path).map_err(|error| LabError::Results(name.clone(), error.to_string()))?;
        Ok(Pairs { name, lines: BufReader::new(file).lines() })
    }

    fn next(&mut self) -> Result<Option<Row>, LabError> {
        let failed = |error: &dyn std::fmt::Display| LabError::Results(self.name.clone(), error.to_string());
        let Some(line) = self.lines.next() else { return Ok(None) };
        let line = line.map_err(|error| failed(&error))?;
        serde_json::from_str(&line).map(Some).map_err(|error| failed(&error))
    }
}

/// Counts the accepted pairs, and those that reach the threshold among the measured ones. All accepted pairs are among
/// the measured, and both come in the order of their documents, so that one walk through both finds them. Of documents
/// that bear one id, one may stand for the other.
fn count(mut accepted: Pairs, mut measured: Pairs, threshold: f64) -> Result<(u64, u64), LabError> {
    let (mut pairs, mut near) = (0, 0);
    while let Some(own) = accepted.next()? {
        pairs += 1;
        loop {
            let Some(row) = measured.next()? else {
                let what = format!("the pair {} and {} is not in it", own.a, own.b);
                return Err(LabError::Results(measured.name, what));
            };
            if (&row.a, &row.b) == (&own.a, &own.b) {
                near += u64::from(row.similarity.is_some_and(|similarity| similarity >= threshold));
                break;
            }
        }
    }
    Ok((pairs, near))
}

//! Documents that hang together, measured and decided by a job over them alone.
//!
//! The job has the documents of whole components and the pairs that were proposed for them. What becomes of a document depends on its
//! component and the order of the documents alone; so the rows are those that a job over all documents would write. What does not fit
//! into memory goes to disk, as in any job.

use std::path::Path;

use lookalike_corpus::Corpus;
use lookalike_tables::pairs::PairLine;
use lookalike_tables::removed::RemovedLine;
use serde::Deserialize;

use crate::catalogue::Catalogue;
use crate::context::Settings;
use crate::error::EngineError;
use crate::examine::{SharedKeys, learned_context};
use crate::job::Outputs;
use crate::recipe::{JobRecipe, Task};
use crate::stages::collapse;
use crate::stages::group::{self, Candidate};
use crate::stages::sketch;
use crate::stages::verify;
use crate::stages::write::compare::{self, Match};
use crate::stages::write::{StageCounts, dedup, pairs};
use crate::walk::Watch;

/// Two documents of a portion that methods proposed, by their places in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Proposal {
    /// The earlier one.
    pub a: u32,
    /// The later one.
    pub b: u32,
    /// The number of keys that they share, by method.
    pub shared: SharedKeys,
}

/// Whole components of a corpus.
#[derive(Debug)]
pub struct Portion<'p> {
    /// The recipe of the whole job.
    pub recipe: &'p JobRecipe,
    /// The folder with what its methods learned of the whole corpus.
    pub learned: &'p Path,
    /// The documents to compare with, in order, where there are any.
    pub against: Option<Corpus>,
    /// The documents, in order.
    pub corpus: Corpus,
    /// The pairs, in any order.
    pub proposals: Vec<Proposal>,
    /// True if every value of the field that kept documents are chosen by is a number, in the whole corpus.
    pub numbers: bool,
}

/// A document that goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Removed {
    /// Its place in the portion.
    pub n: u32,
    /// The place of its witness.
    pub witness_n: u32,
    /// Their similarity.
    pub similarity: Option<f64>,
    /// Id of the document that ties it to its witness, where whole components are merged.
    pub via: Option<String>,
    /// Present when the witness is one of the documents to compare with, among whose places its own is.
    pub against: Option<String>,
}

/// Two near-duplicates.
#[derive(Debug, Clone, PartialEq)]
pub struct NearPair {
    /// Id of the earlier document, or of the left one.
    pub a: String,
    /// Id of the other.
    pub b: String,
    /// The similarity of the first to the second.
    pub similarity: Option<f64>,
    /// The other way round, where that may differ.
    pub reverse: Option<f64>,
    /// It reaches the threshold.
    pub near: bool,
    /// The methods that accept it, a bit for each, where two corpora are compared.
    pub methods: u8,
}

impl From<RemovedLine> for Removed {
    fn from(line: RemovedLine) -> Self {
        let RemovedLine { n, witness_n, similarity, via, against, .. } = line;
        // A job numbers its documents in 32 bits.
        Removed { n: n as u32, witness_n: witness_n as u32, similarity, via, against }
    }
}

impl From<PairLine> for NearPair {
    fn from(line: PairLine) -> Self {
        let PairLine { a, b, similarity, reverse } = line;
        NearPair { a, b, similarity, reverse, near: true, methods: 0 }
    }
}

/// A group that is too large to be written as pairs, as a line of `groups.jsonl`.
pub type GroupLine = String;

/// The results of a portion.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Documents that go, in order.
    pub removed: Vec<Removed>,
    /// Pairs, in order.
    pub pairs: Vec<NearPair>,
    /// Groups that are too large to be written as pairs.
    pub groups: Vec<GroupLine>,
    /// Pairs that were measured.
    pub verified: u64,
    /// Of these, by similarity in hundredths.
    pub histogram: Vec<u64>,
    /// Those that reach the threshold.
    pub reached: u64,
    /// Pairs that stand in groups alone.
    pub pairs_in_groups: u64,
}

impl Portion<'_> {
    /// Measures and decides. `folder` is empty and holds scratch files meanwhile.
    pub fn decide(
        mut self,
        settings: &Settings,
        folder: &Path,
        watch: &Watch,
    ) -> Result<Outcome, EngineError> {
        self.proposals.sort_unstable();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(settings.threads.max(1))
            .build()
            .map_err(|error| EngineError::Request(format!("threads cannot be started: {error}")))?;
        pool.install(|| self.stages(settings, folder, watch))
    }

    fn stages(&self, settings: &Settings, folder: &Path, watch: &Watch) -> Result<Outcome, EngineError> {
        let mut ctx = learned_context(self.recipe, &self.corpus, settings, watch, self.learned)?;
        ctx.against = self.against.as_ref();
        ctx.work = folder.to_owned();
        ctx.numbers = Some(self.numbers);
        sketch::sketch(&ctx)?;
        let catalogue = Catalogue::load(&ctx)?;
        ctx.budget.admit(catalogue.len().into())?;
        let collapsed = collapse::collapse(&ctx, &catalogue)?;
        let candidate = |&Proposal { a, b, shared }: &Proposal| Candidate { a, b, shared };
        let proposed = group::import_candidates(&ctx, self.proposals.iter().map(candidate), 0)?;
        let tally = verify::verify(&ctx, &catalogue)?;
        let stages = StageCounts { collapsed, proposed, tally };
        let outputs = Outputs::default();
        let write = match ctx.recipe.task {
            Task::Dedup => dedup::write,
            Task::Pairs => pairs::write,
            Task::Compare => compare::write,
        };
        let findings = write(&ctx, &catalogue, folder, outputs, stages)?;
        let mut outcome = Outcome {
            verified: findings.summary.verified,
            histogram: findings.histogram,
            reached: findings.reached,
            ..Outcome::default()
        };
        match ctx.recipe.task {
            Task::Dedup => outcome.removed = lines::<RemovedLine, _>(&folder.join("removed.jsonl"))?,
            Task::Pairs => {
                outcome.pairs = lines::<PairLine, _>(&folder.join("pairs.jsonl"))?;
                outcome.groups = texts(&folder.join("groups.jsonl"))?;
            }
            Task::Compare => {
                compare::each_match(&ctx, &catalogue, |found| {
                    outcome.pairs.push(near_pair(found));
                    Ok::<_, EngineError>(())
                })?;
                outcome.groups = texts(&folder.join("groups.jsonl"))?;
                outcome.pairs_in_groups = compare::saved_counts(&ctx)?.pairs_in_groups;
            }
        }
        Ok(outcome)
    }
}

fn near_pair(found: &Match<'_>) -> NearPair {
    NearPair {
        a: found.left.id.to_owned(),
        b: found.right.id.to_owned(),
        similarity: Some(found.similarity),
        reverse: found.reverse,
        near: found.near,
        methods: found.methods,
    }
}

/// The lines of a table that the job wrote.
fn texts(path: &Path) -> Result<Vec<String>, EngineError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(EngineError::read(path, error)),
    }
}

/// The rows of a table that the job wrote, each read as a line and converted.
fn lines<L: for<'d> Deserialize<'d>, T: From<L>>(path: &Path) -> Result<Vec<T>, EngineError> {
    let damaged =
        |error: serde_json::Error| EngineError::Damaged { file: path.to_owned(), what: error.to_string() };
    texts(path)?.iter().map(|line| serde_json::from_str::<L>(line).map(T::from).map_err(damaged)).collect()
}

//! Documents that hang together, measured and decided by a job over them alone.
//!
//! The job has the documents of whole components and the pairs that were proposed for them. What becomes of a document depends on its
//! component and the order of the documents alone; so the rows are those that a job over all documents would write. What does not fit
//! into memory goes to disk, as in any job.

use std::path::Path;

use lookalike_corpus::Corpus;
use lookalike_model::{Candidate, DocNumber, Pair};
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
use crate::stages::group;
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
        let candidate = |&Proposal { a, b, shared }: &Proposal| Candidate {
            pair: Pair::ordered(DocNumber::new(a), DocNumber::new(b)),
            shared,
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spool;
    use crate::tests::context::as_lines;
    use crate::tests::{recipe, settings};
    use lookalike_corpus::ReadOptions;

    fn corpus(texts: &[&str]) -> Corpus {
        Corpus::in_memory("docs.jsonl", as_lines(texts).as_bytes().into(), ReadOptions::default())
    }

    /// Ten words, of which the second text has another; the last equals the first.
    const TEXTS: [&str; 4] =
        ["a b c d e f g h i j", "a b c d e f g h i x", "other words", "a b c d e f g h i j"];

    fn decided(task: Task, against: Option<&[&str]>, pairs: &[(u32, u32)]) -> Outcome {
        let recipe = JobRecipe { task, shingle: 1, against: against.is_some(), ..recipe("exact") };
        let [learned, folder] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        let proposal = |&(a, b): &(u32, u32)| Proposal { a, b, shared: [1, 0, 0, 0, 0, 0, 0, 0] };
        let portion = Portion {
            recipe: &recipe,
            learned: learned.path(),
            against: against.map(corpus),
            corpus: corpus(&TEXTS),
            proposals: pairs.iter().map(proposal).collect(),
            numbers: true,
        };
        let settings = Settings { spool: Spool::None, ..settings() };
        portion.decide(&settings, folder.path(), &Watch::default()).unwrap()
    }

    #[test]
    fn documents_of_a_portion_are_removed_by_what_was_proposed() {
        let outcome = decided(Task::Dedup, None, &[(1, 2), (0, 1)]);
        let removed: Vec<_> =
            outcome.removed.iter().map(|one| (one.n, one.witness_n, one.similarity)).collect();
        assert_eq!(removed, [(1, 0, Some(0.818_181_818)), (3, 0, Some(1.0))]);
        assert_eq!((outcome.reached, outcome.pairs.len()), (1, 0));
        let nothing = decided(Task::Dedup, None, &[]);
        assert_eq!(nothing.removed.iter().map(|one| one.n).collect::<Vec<_>>(), [3]);
        assert_eq!(nothing.verified, 0);
    }

    #[test]
    fn pairs_of_a_portion_are_listed() {
        let outcome = decided(Task::Pairs, None, &[(0, 1)]);
        let pairs: Vec<_> =
            outcome.pairs.iter().map(|one| (one.a.as_str(), one.b.as_str(), one.near)).collect();
        assert_eq!(pairs, [("d0", "d1", true), ("d0", "d3", true), ("d1", "d3", true)]);
        assert!(outcome.removed.is_empty() && outcome.groups.is_empty());
    }

    #[test]
    fn pairs_between_two_corpora_are_those_of_matches() {
        let outcome = decided(Task::Compare, Some(&["a b c d e f g h i j"]), &[(0, 2)]);
        let pairs: Vec<_> =
            outcome.pairs.iter().map(|one| (one.a.as_str(), one.b.as_str(), one.near, one.methods)).collect();
        assert_eq!(pairs, [("d0", "d0", true, 1), ("d0", "d1", true, 1), ("d0", "d3", true, 1)]);
        assert_eq!((outcome.pairs_in_groups, outcome.verified), (0, 1));
    }

    #[test]
    fn a_table_that_is_not_there_has_no_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.jsonl");
        assert_eq!(texts(&path).unwrap(), [] as [String; 0]);
        std::fs::write(&path, "{\"a\":\"x\",\"b\":\"y\",\"similarity\":0.5}\n").unwrap();
        let pairs: Vec<NearPair> = lines::<PairLine, _>(&path).unwrap();
        let expected = NearPair {
            a: "x".to_owned(),
            b: "y".to_owned(),
            similarity: Some(0.5),
            reverse: None,
            near: true,
            methods: 0,
        };
        assert_eq!(pairs, [expected]);
        std::fs::write(&path, "no row\n").unwrap();
        assert!(matches!(lines::<PairLine, NearPair>(&path), Err(EngineError::Damaged { .. })));
    }
}

//! The output of a comparison: tables for programs, a study for people (`show`), pairs for both.

mod show;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use lookalike::corpus::write::rows::{RowFormat, RowWriter};
use lookalike::tables::measured_pairs::{self, MeasuredPairRow};
use lookalike::tables::review::ReviewRow;
use lookalike::walk::Watch;
use serde::Serialize;

use crate::compare::{ComparedMethod, Comparison, RecallBase, Request};
use crate::error::{LabError, write_atomically};
use crate::pool::Mask;
use crate::strata::{Share, Strata};
use crate::trial::TrialRunner;

/// Everything that can change the result of a comparison, and what it was made on.
#[derive(Debug, Clone, Serialize)]
pub struct Heading {
    /// Version of the program.
    pub lookalike: &'static str,
    /// The definition of a near-duplicate.
    pub truth: String,
    /// The profile of the words that it is measured on.
    pub profile: String,
    /// Methods without a profile of their own read words by this one.
    pub words: String,
    /// The set of near-duplicates that recall is a share of: union or exact.
    pub pool: &'static str,
    /// Larger groups did not propose all of their pairs.
    pub max_group: usize,
    /// Seed of every random choice.
    pub seed: u64,
    /// Documents that were compared.
    pub documents: u64,
    /// Pairs of the pool.
    pub pairs: u64,
    /// Those that were measured.
    pub measured: u64,
    /// Near-duplicates in the pool.
    pub near: f64,
}

/// One method, for programs.
#[derive(Debug, Clone, Serialize)]
pub struct MethodLine {
    /// Its name in this comparison.
    pub method: String,
    /// Its recipes, with every parameter.
    pub recipes: Vec<String>,
    /// Its bit in the masks of `pairs.parquet`; nothing if it did not run.
    pub bit: Option<usize>,
    /// The reason why it did not run.
    pub failed: Option<String>,
    /// Pairs that it accepts.
    pub pairs: Option<u64>,
    /// Near-duplicates among them.
    pub near: Option<f64>,
    /// Share of the near-duplicates that it finds.
    pub recall: Option<Share>,
    /// Share of near-duplicates among its pairs.
    pub precision: Option<Share>,
    /// The harmonic mean of both.
    pub f: Option<Share>,
    /// Documents with words that it has no signature for.
    pub unsigned: Option<u64>,
    /// Documents that it refuses.
    pub refused: Option<u64>,
    /// The reason why it refuses the first of them.
    pub refusal: Option<String>,
    /// Groups that were too large to propose all of their pairs.
    pub giant_groups: Option<u64>,
    /// Pairs inside of them, which are not in the counts.
    pub pairs_in_giant_groups: Option<u64>,
    /// Bytes of payload and keys.
    pub bytes_per_document: Option<f64>,
    /// Documents per second, from reading to pairs.
    pub documents_per_second: Option<f64>,
}

#[derive(Serialize)]
struct MethodsFile<'f> {
    #[serde(flatten)]
    heading: &'f Heading,
    methods: &'f [MethodLine],
}

#[derive(Serialize)]
struct AgreementFile<'f> {
    #[serde(flatten)]
    heading: &'f Heading,
    methods: Vec<&'f str>,
    /// Dice's coefficient of the pairs of two methods.
    dice: Vec<Vec<Option<f64>>>,
}

#[derive(Serialize)]
struct CoverageFile<'f> {
    #[serde(flatten)]
    heading: &'f Heading,
    /// For any two methods, the share of all near-duplicates that they find together.
    of_two_methods: Vec<PairCoverage<'f>>,
    /// The methods in the order in which each adds most.
    greedy: Vec<GreedyStep<'f>>,
}

#[derive(Serialize)]
struct PairCoverage<'f> {
    methods: [&'f str; 2],
    coverage: Option<Share>,
}

/// A step of the greedy order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GreedyStep<'f> {
    /// The method that adds most to those before it.
    pub method: &'f str,
    /// The share of the near-duplicates that the methods up to this one find.
    pub coverage: Share,
    /// The share that this method added.
    pub gain: f64,
}

/// A comparison with all that it was made of.
#[derive(Debug)]
pub struct Results<'r> {
    runner: &'r TrialRunner<'r>,
    request: &'r Request,
    comparison: &'r Comparison,
}

fn has(method: usize) -> impl Fn(Mask) -> bool {
    move |mask| mask >> method & 1 == 1
}

impl<'r> Results<'r> {
    /// The results of a comparison that this runner made for this request.
    pub fn new(runner: &'r TrialRunner<'r>, request: &'r Request, comparison: &'r Comparison) -> Self {
        Results { runner, request, comparison }
    }

    fn strata(&self) -> &Strata {
        &self.comparison.strata
    }

    /// Returns the heading that all tables share.
    pub fn heading(&self) -> Heading {
        Heading {
            lookalike: env!("CARGO_PKG_VERSION"),
            truth: self.request.truth.to_string(),
            profile: self.request.profile.recipe().to_string(),
            words: self.request.words.recipe().to_string(),
            pool: match self.request.recall_base {
                RecallBase::Union => "union",
                RecallBase::Exact => "exact",
            },
            max_group: self.runner.max_group,
            seed: self.runner.seed,
            documents: self.runner.documents.manifest().documents,
            pairs: self.strata().pairs(|_| true),
            measured: self.strata().measured_pairs(),
            near: self.strata().near(|_| true),
        }
    }

    /// Every method, in the order that was asked for.
    pub fn methods(&self) -> Vec<MethodLine> {
        self.comparison.compared_methods.iter().map(|compared| self.method(compared)).collect()
    }

    fn method(&self, compared: &ComparedMethod) -> MethodLine {
        let facts = compared.facts.as_ref().ok();
        let strata = self.strata();
        let of = |figure: &dyn Fn(usize) -> Option<Share>| compared.bit.and_then(figure);
        MethodLine {
            method: compared.name.clone(),
            recipes: facts
                .map_or_else(Vec::new, |facts| facts.recipes.iter().map(ToString::to_string).collect()),
            bit: compared.bit,
            failed: compared.facts.as_ref().err().cloned(),
            pairs: facts.map(|facts| facts.pairs),
            near: compared.bit.map(|bit| strata.near(has(bit))),
            recall: of(&|bit| strata.coverage(has(bit)).filter(|_| strata.pairs(has(bit)) > 0)),
            precision: of(&|bit| strata.precision(has(bit))),
            f: of(&|bit| strata.f(has(bit))),
            unsigned: facts.map(|facts| facts.unsigned),
            refused: facts.map(|facts| facts.refused),
            refusal: facts.and_then(|facts| facts.refusal.clone()),
            giant_groups: facts.map(|facts| facts.giant_groups),
            pairs_in_giant_groups: facts.map(|facts| facts.pairs_in_giant_groups),
            bytes_per_document: facts.map(|facts| facts.bytes),
            documents_per_second: facts.map(|facts| facts.rate()),
        }
    }

    /// Dice's coefficient of any two methods that ran.
    pub fn dice(&self) -> Vec<Vec<Option<f64>>> {
        let methods = self.comparison.methods();
        (0..methods).map(|one| (0..methods).map(|other| self.strata().dice(one, other)).collect()).collect()
    }

    /// The methods in the order in which each adds most.
    pub fn greedy(&self) -> Vec<GreedyStep<'r>> {
        let names = self.comparison.names();
        let mut before = 0.0;
        let step = |(method, coverage): (usize, Share)| {
            let gain = coverage.value - before;
            before = coverage.value;
            GreedyStep { method: names[method], coverage, gain }
        };
        self.strata().greedy(names.len()).into_iter().map(step).collect()
    }

    /// Writes `methods.json`, `agreement.json`, `coverage.json`, `pairs.parquet` and `review.jsonl`.
    pub fn write(&self, folder: &Path, watch: &Watch) -> Result<(), LabError> {
        let heading = self.heading();
        let names = self.comparison.names();
        let methods = self.methods();
        json(&folder.join("methods.json"), &MethodsFile { heading: &heading, methods: &methods })?;
        let agreement = AgreementFile { heading: &heading, methods: names.clone(), dice: self.dice() };
        json(&folder.join("agreement.json"), &agreement)?;
        let pair_coverage = |(one, other): (usize, usize)| PairCoverage {
            methods: [names[one], names[other]],
            coverage: self.strata().coverage(|mask| has(one)(mask) || has(other)(mask)),
        };
        let of_two_methods = index_pairs(names.len()).map(pair_coverage).collect();
        let coverage = CoverageFile { heading: &heading, of_two_methods, greedy: self.greedy() };
        json(&folder.join("coverage.json"), &coverage)?;
        self.write_pairs(&folder.join("pairs.parquet"), &heading, watch)?;
        self.write_review(&folder.join("review.jsonl"))
    }

    fn write_pairs(&self, path: &Path, heading: &Heading, watch: &Watch) -> Result<(), LabError> {
        let recipe = serde_json::to_string(&(heading, self.comparison.names()))
            .map_err(|error| LabError::write(path, &error))?;
        let mut rows = RowWriter::create(path, RowFormat::Parquet, measured_pairs::COLUMNS, &recipe)?;
        let methods = self.comparison.methods_mask();
        let mut names = NameCache::default();
        for (count, judged) in self.comparison.judged_pairs()?.enumerate() {
            let judged = judged?;
            if count % 4096 == 0 {
                watch.check()?;
            }
            let (a, a_n) = names.of(self.runner, judged.pair.a)?;
            let (b, b_n) = names.of(self.runner, judged.pair.b)?;
            let verdict = match judged.near {
                Some(true) => "near",
                Some(false) => "not",
                None => "unmeasured",
            };
            let row = MeasuredPairRow {
                a: &a,
                b: &b,
                a_n,
                b_n,
                mask: judged.pair.mask & methods,
                similarity: judged.similarity,
                verdict,
            };
            rows.push(&row.cells())?;
        }
        Ok(rows.finish()?)
    }

    /// People's labels are of the pairs that they saw: those are not replaced by others.
    fn write_review(&self, path: &Path) -> Result<(), LabError> {
        let mut out = Vec::new();
        let names = self.comparison.names();
        for (n, judged) in self.comparison.review.iter().enumerate() {
            let (a, b) =
                (self.runner.documents.line(judged.pair.a)?, self.runner.documents.line(judged.pair.b)?);
            let accepting = (0..names.len()).filter(|&method| has(method)(judged.pair.mask));
            let methods: Vec<&str> = accepting.map(|method| names[method]).collect();
            let row = ReviewRow {
                n: n as u64,
                a: &a.name,
                b: &b.name,
                similarity: judged.similarity,
                methods: &methods,
                text_a: &a.text,
                text_b: &b.text,
            };
            let written = serde_json::to_writer(&mut out, &row).map_err(std::io::Error::from);
            written.and_then(|()| out.write_all(b"\n")).map_err(|error| LabError::write(path, &error))?;
        }
        let labels = path.with_file_name("labels.jsonl");
        if labels.exists() && std::fs::read(path).is_ok_and(|before| before != out) {
            return Err(LabError::Request(format!(
                "{} has labels of other pairs than would be written now; move it and review.jsonl away, or name another folder",
                labels.display()
            )));
        }
        write_atomically(path, &out)
    }
}

/// Names of documents that were asked for last: pairs come in order, so the first document is often the same.
#[derive(Default)]
struct NameCache {
    cached: BTreeMap<u32, (String, u64)>,
}

impl NameCache {
    const CAPACITY: usize = 10_000;

    fn of(&mut self, runner: &TrialRunner<'_>, document: u32) -> Result<(String, u64), LabError> {
        if let Some(cached) = self.cached.get(&document) {
            return Ok(cached.clone());
        }
        if self.cached.len() >= NameCache::CAPACITY {
            self.cached.clear();
        }
        let line = runner.documents.line(document)?;
        self.cached.insert(document, (line.name.clone(), line.n));
        Ok((line.name, line.n))
    }
}

/// Returns all pairs of numbers below `number`, the lower first.
pub(crate) fn index_pairs(number: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..number).flat_map(move |one| (one + 1..number).map(move |other| (one, other)))
}

/// Writes a value as JSON, with a line end behind it.
pub fn json(path: &Path, value: &impl Serialize) -> Result<(), LabError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| LabError::write(path, &error))? + "\n";
    write_atomically(path, text.as_bytes())
}

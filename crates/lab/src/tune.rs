//! The search for a recipe: methods and parameters that reach a wanted recall and precision at least cost.
//!
//! A sample of the corpus is drawn that keeps near-duplicates together ([`crate::sample`]), the exact join tells its truth,
//! and many configurations are run on it, by their own word and with every pair measured. What they reach is weighed up to
//! the whole corpus, with intervals; the cheapest one that surely reaches the goal becomes the recipe.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use lookalike::engine::EngineError;
use lookalike::engine::gauge::Gauge;
use lookalike::engine::measure::Measure;
use lookalike::engine::recipe::{JobRecipe, Reading, Task};
use lookalike::model::{Similarity, Threshold};
use lookalike::report::study::{Axis, Grid, Named, Plot, Point, Points, Value};
use lookalike::report::{Study, thousands};
use lookalike::text::Profile;
use lookalike::walk::Watch;
use serde::Serialize;

use crate::collection::needs_two;
use crate::error::LabError;
use crate::interval::Z;
use crate::sample::{Clusters, SHINGLE, Sample, Weighed};
use crate::trial::{Basis, Bench, Configuration, Pair, Trial};

/// The goal of a search.
#[derive(Debug, Clone)]
pub struct Request {
    /// The definition of a near-duplicate.
    pub measure: Measure,
    /// The profile of the words that it is measured on.
    pub profile: Profile,
    /// Share of the near-duplicates to find.
    pub recall: f64,
    /// Share of near-duplicates among what is found.
    pub precision: f64,
    /// A lexicon from elsewhere, to be tried beside the corpus's own.
    pub lexicon: Option<PathBuf>,
    /// The options by which documents of the whole corpus are read, for the recipe.
    pub reading: Reading,
}

/// A configuration that was tried.
#[derive(Debug, Clone, Serialize)]
pub struct Tried {
    /// The method with what was chosen for it.
    pub name: String,
    /// The method with every parameter.
    pub method: String,
    /// Pairs count only when they were measured.
    pub verified: bool,
    /// The lexicon came from elsewhere.
    pub foreign_lexicon: bool,
    /// Share of the near-duplicates that it finds.
    pub recall: Option<f64>,
    /// The 95 % interval of the recall.
    pub recall_interval: Option<(f64, f64)>,
    /// Share of near-duplicates among its pairs.
    pub precision: Option<f64>,
    /// The 95 % interval of the precision.
    pub precision_interval: Option<(f64, f64)>,
    /// Seconds on the sample.
    pub seconds: f64,
    /// Bytes of payload and keys per document.
    pub bytes: f64,
    /// The certainty that it reaches the goal.
    pub meets: Meets,
    #[serde(skip)]
    what: Configuration,
    #[serde(skip)]
    basis: f64,
}

/// The certainty that a configuration reaches the goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Meets {
    /// It misses the goal.
    No,
    /// Its figures reach the goal, its intervals do not.
    Likely,
    /// The lower ends of its intervals reach it: of 95 % where every pair is measured, and of three standard deviations for
    /// what a method accepts by its own word, since of a hundred that are tried one or the other looks good by luck. The exact
    /// join reaches any goal.
    Yes,
}

/// The result of the search.
#[derive(Debug, Serialize)]
pub struct Tuned {
    /// Documents of the corpus.
    pub documents: u64,
    /// Documents of the sample.
    pub sampled: u64,
    /// True if the sample is the whole corpus.
    pub whole: bool,
    /// Near-duplicates in the sample.
    pub truth: u64,
    /// Number of independent pairs that would tell as much.
    pub effective: f64,
    /// All that was tried, cheapest first.
    pub tried: Vec<Tried>,
    /// The index of the chosen configuration in `tried`.
    pub chosen: Option<usize>,
    /// Configurations that could not be tried and the reasons, and records and pairs that are in no figure.
    pub notes: Vec<String>,
}

/// Bytes of memory for a near-duplicate of the sample: its weight, and whether a trial found it.
const TRUE_BYTES: u64 = 256;
/// Rows that a terminal shows.
const SHOWN: usize = 12;
/// Times that a promising configuration is run again, since clocks are noisy.
const AGAIN: usize = 2;
/// Number of promising configurations.
const PROMISING: usize = 6;
/// Times that differ by less than this factor are equal.
const NOISE: f64 = 1.25;

/// Refuses goals that make no sense.
pub fn check(request: &Request) -> Result<(), LabError> {
    for (name, goal) in [("recall", request.recall), ("precision", request.precision)] {
        if !(goal > 0.0 && goal <= 1.0) {
            return Err(LabError::Request(format!(
                "a {name} of {goal} cannot be reached; it is a share, above 0 and at most 1"
            )));
        }
    }
    let offered = [Similarity::Jaccard, Similarity::Containment, Similarity::Cosine];
    if !offered.contains(&request.measure.similarity) {
        return Err(LabError::Request(format!(
            "there is no exact join for {}, and without one nobody knows what is missed; take jaccard, cosine or containment",
            request.measure.similarity
        )));
    }
    Ok(())
}

/// Searches for the cheapest configuration that reaches the goal.
pub fn run(bench: &Bench<'_>, sample: &Sample, request: &Request, watch: &Watch) -> Result<Tuned, LabError> {
    check(request)?;
    needs_two(&sample.shelf)?;
    let truth = Truths::find(bench, sample, request, watch)?;
    if truth.pairs.is_empty() {
        return Err(LabError::Request(format!(
            "there is no pair of near-duplicates among the {} documents of the sample, so that no recall can be told; \
             give more --documents or a lower --threshold",
            thousands(sample.shelf.len() as u64)
        )));
    }
    let (mut tried, mut left_out) = (Vec::new(), Vec::new());
    let all = configurations(request);
    let number = all.len() as u64;
    for (at, (what, recall)) in (1..).zip(all) {
        watch.run_of(at, number);
        match attempt(bench, sample, request, &truth, &what, recall, watch) {
            Ok(one) => tried.push(one),
            Err(LabError::Engine(EngineError::Request(why))) => left_out.push(why),
            Err(LabError::Method(why)) => left_out.push(why.to_string()),
            Err(error) => return Err(error),
        }
    }
    watch.run_of(0, 0);
    left_out.sort();
    left_out.dedup();
    let facts = sample.shelf.facts();
    let mut notes: Vec<String> = left_out.iter().map(|why| format!("Not tried: {why}.")).collect();
    if truth.uncounted > 0 {
        notes.push(format!(
            "Up to {} near-duplicates in groups of more than {} documents are in no figure.",
            thousands(truth.uncounted),
            thousands(bench.max_group as u64)
        ));
    }
    let chosen = choose(bench, request, &mut tried, watch)?;
    if let Some(why) = &facts.first_rejection {
        notes.push(format!(
            "{} records could not be read and are left out; the first: {why}.",
            thousands(facts.rejected)
        ));
    }
    Ok(Tuned {
        documents: facts.found,
        sampled: facts.documents,
        whole: sample.share >= 1.0,
        truth: truth.pairs.len() as u64,
        effective: truth.all().effective(),
        tried,
        chosen,
        notes,
    })
}

/// The near-duplicates of the sample, with the weight of each.
struct Truths {
    rarest: Option<f64>,
    /// Near-duplicates in groups that are too large to be written out, at most.
    uncounted: u64,
    pairs: BTreeMap<(u32, u32), f64>,
    clusters: BTreeMap<u32, u32>,
}

impl Truths {
    fn find(bench: &Bench<'_>, sample: &Sample, request: &Request, watch: &Watch) -> Result<Self, LabError> {
        let basis = Basis::new(request.measure, request.profile.clone());
        let exact = bench.run(&Configuration::alone("exact"), &basis, watch)?;
        let most = bench.settings.memory / TRUE_BYTES;
        if exact.facts.pairs > most {
            return Err(LabError::Request(format!(
                "the sample has {} pairs of near-duplicates, and within --memory {} can be weighed; give fewer \
                 --documents, a higher --threshold or more --memory",
                thousands(exact.facts.pairs),
                thousands(most)
            )));
        }
        let pairs = exact.pairs()?.map(|pair| pair.map(|pair| (pair.a, pair.b)));
        let pairs = weights(bench, sample, pairs, watch)?;
        let mut clusters = Clusters::default();
        pairs.keys().for_each(|&(a, b)| clusters.tie(a, b));
        let clusters = pairs.keys().map(|&(a, _)| (a, clusters.of(a))).collect();
        let rarest = sample.rarest_near(&request.measure, &request.profile);
        Ok(Truths { rarest, pairs, clusters, uncounted: exact.facts.pairs_in_giant_groups })
    }

    /// The share of the near-duplicates that are in `found`.
    fn recall(&self, found: &BTreeSet<(u32, u32)>) -> Weighed {
        let mut recall = Weighed::new(self.rarest);
        for (pair, weight) in &self.pairs {
            recall.add(self.clusters[&pair.0], *weight, found.contains(pair));
        }
        recall
    }

    fn all(&self) -> Weighed {
        self.recall(&BTreeSet::new())
    }
}

/// Returns the weight of each pair, from its resemblance on the shingles that the sample was drawn by.
fn weights(
    bench: &Bench<'_>,
    sample: &Sample,
    pairs: impl Iterator<Item = Result<(u32, u32), LabError>>,
    watch: &Watch,
) -> Result<BTreeMap<(u32, u32), f64>, LabError> {
    let measure = Measure { similarity: Similarity::Jaccard, threshold: Threshold::LOWEST, shingle: SHINGLE };
    let gauge = Gauge::new(&sample.shelf, measure, &Profile::web(), bench.settings.memory);
    let mut weights = BTreeMap::new();
    gauge.measure(pairs, watch, |pair, measured| {
        let resemblance = measured.map_or(0.0, |measured| measured.forward);
        weights.insert(pair, sample.weight(resemblance));
        Ok(())
    })?;
    Ok(weights)
}

/// Everything that is tried, with the recall that methods are asked for which set themselves up by it.
fn configurations(request: &Request) -> Vec<(Configuration, f64)> {
    let mut all: Vec<(Configuration, f64)> = Vec::new();
    for recall in [0.8, 0.9, 0.95, 0.98, 0.995] {
        for values in [64, 128, 256] {
            all.push((Configuration::alone(&format!("minhash:values={values}")), recall));
        }
    }
    let usual = 0.98;
    for lengths in ["1", "3", "3+5"] {
        for bits in [3, 5, 8] {
            all.push((Configuration::alone(&format!("simhash:n={lengths},k={bits}")), usual));
        }
    }
    let others = [
        "md5",
        "supershingles",
        "supershingles:values=36,groups=6",
        "megashingles",
        "bottom",
        "mod",
        "a1",
        "a4",
        "a5",
        "a8",
        "a11",
        "a12",
    ];
    all.extend(others.map(|text| (Configuration::alone(text), usual)));
    for (low, high) in [(0.1, 0.5), (0.2, 0.3), (0.2, 0.8)] {
        for (lexicons, drop) in [(0, 0.33), (5, 0.33), (10, 0.33), (10, 0.5)] {
            let text = format!("imatch:low={low},high={high},lexicons={lexicons},drop={drop}");
            let own = Configuration::alone(&text);
            if let Some(lexicon) = &request.lexicon {
                all.push((Configuration { lexicon: Some(lexicon.clone()), ..own.clone() }, usual));
            }
            all.push((own, usual));
        }
    }
    // By their own word, and with every pair measured, which makes precision 1.
    let measured: Vec<_> = all.iter().map(|(what, recall)| (what.clone().verified(), *recall)).collect();
    all.extend(measured);
    all.push((Configuration::alone("exact"), usual));
    all
}

fn attempt(
    bench: &Bench<'_>,
    sample: &Sample,
    request: &Request,
    truth: &Truths,
    what: &Configuration,
    recall: f64,
    watch: &Watch,
) -> Result<Tried, LabError> {
    let basis = Basis { recall, ..Basis::new(request.measure, request.profile.clone()) };
    let trial = bench.run(what, &basis, watch)?;
    let found = Found::of(&trial, truth)?;
    let reached = truth.recall(&found.right);
    let right = found.precision(bench, sample, truth, what, watch)?;
    Ok(Tried {
        name: name(what, &trial),
        method: trial.facts.recipes.first().map(ToString::to_string).unwrap_or_default(),
        verified: what.verified,
        foreign_lexicon: what.lexicon.is_some(),
        recall: reached.value(),
        recall_interval: reached.interval(),
        precision: right.as_ref().map_or(Some(1.0), Weighed::value),
        precision_interval: right.as_ref().map_or(Some((1.0, 1.0)), Weighed::interval),
        seconds: trial.facts.seconds.unwrap_or(0.0),
        bytes: trial.facts.bytes,
        // What was not even counted cannot be vouched for.
        meets: match trial.facts.giant_groups > 0 && !what.verified {
            true => Meets::No,
            false => meets(what, &reached, right.as_ref(), request),
        },
        what: what.clone(),
        basis: recall,
    })
}

/// The method as typed, and the bands that followed from the recall that it was asked for.
fn name(what: &Configuration, trial: &Trial) -> String {
    let mut name = what.methods.join(" and ");
    let recipe = trial.facts.recipes.first();
    for parameter in ["bands", "rows"] {
        if let Some(value) = recipe.and_then(|recipe| recipe.parameters.get(parameter)) {
            name += &format!("{}{parameter}={value}", if name.contains(':') { ',' } else { ':' });
        }
    }
    name
}

/// The pairs of a trial, held against the truth.
struct Found {
    right: BTreeSet<(u32, u32)>,
    /// Those that are no near-duplicates, up to [`MOST_WRONG`].
    wrong: Vec<(u32, u32)>,
    /// Number of wrong pairs beyond these.
    more: u64,
}

/// The most wrong pairs that are weighed one by one; a configuration with more is far from any goal.
const MOST_WRONG: usize = 200_000;

impl Found {
    fn of(trial: &Trial, truth: &Truths) -> Result<Self, LabError> {
        let mut found = Found { right: BTreeSet::new(), wrong: Vec::new(), more: 0 };
        for pair in trial.pairs()? {
            let Pair { a, b, .. } = pair?;
            match truth.pairs.contains_key(&(a, b)) {
                true => drop(found.right.insert((a, b))),
                false if found.wrong.len() < MOST_WRONG => found.wrong.push((a, b)),
                false => found.more += 1,
            }
        }
        Ok(found)
    }

    /// The share of near-duplicates among the pairs; nothing to ask where every pair was measured.
    fn precision(
        &self,
        bench: &Bench<'_>,
        sample: &Sample,
        truth: &Truths,
        what: &Configuration,
        watch: &Watch,
    ) -> Result<Option<Weighed>, LabError> {
        if what.verified {
            return Ok(None);
        }
        let wrong = weights(bench, sample, self.wrong.iter().map(|pair| Ok(*pair)), watch)?;
        let mut clusters = Clusters::default();
        self.right.iter().chain(&self.wrong).for_each(|&(a, b)| clusters.tie(a, b));
        let mut right = Weighed::new(sample.rarest(0.0));
        for pair in &self.right {
            right.add(clusters.of(pair.0), truth.pairs[pair], true);
        }
        for (pair, weight) in &wrong {
            right.add(clusters.of(pair.0), *weight, false);
        }
        // No pair stands for fewer than one that is surely drawn together.
        if self.more > 0 {
            right.add(u32::MAX, self.more as f64 * sample.weight(1.0), false);
        }
        Ok(Some(right))
    }
}

/// Returns the certainty that the goal is reached; `right` is none where every pair was measured.
fn meets(what: &Configuration, reached: &Weighed, right: Option<&Weighed>, request: &Request) -> Meets {
    let least = |deviations: f64| {
        let recall = reached.at_least(deviations).is_some_and(|least| least >= request.recall);
        let right = right
            .is_none_or(|right| right.at_least(deviations).is_some_and(|least| least >= request.precision));
        recall && right
    };
    match () {
        () if what.methods == ["exact"] => Meets::Yes,
        () if least(if right.is_some() { 3.0 } else { Z }) => Meets::Yes,
        () if least(0.0) => Meets::Likely,
        () => Meets::No,
    }
}

/// Puts the cheapest first, and says which one to take: the cheapest of those that reach the goal most surely.
fn choose(
    bench: &Bench<'_>,
    request: &Request,
    tried: &mut [Tried],
    watch: &Watch,
) -> Result<Option<usize>, LabError> {
    let best = tried.iter().map(|one| one.meets).max().unwrap_or(Meets::No);
    sort(tried);
    if best == Meets::No {
        return Ok(None);
    }
    let promising = tried.iter_mut().filter(|one| one.meets == best).take(PROMISING);
    for one in promising {
        let basis = Basis { recall: one.basis, ..Basis::new(request.measure, request.profile.clone()) };
        for _ in 0..AGAIN {
            one.seconds = one.seconds.min(bench.seconds(&one.what, &basis, watch)?);
        }
    }
    sort(tried);
    let cheapest = tried.iter().find(|one| one.meets == best).map_or(0.0, |one| one.seconds);
    // Clocks tell no finer than this: of those that are as fast, the one that takes the least room.
    let equal =
        (0..tried.len()).filter(|&at| tried[at].meets == best && tried[at].seconds <= cheapest * NOISE);
    Ok(equal.min_by(|&one, &other| {
        let (one, other) = (&tried[one], &tried[other]);
        one.bytes.total_cmp(&other.bytes).then_with(|| one.name.cmp(&other.name))
    }))
}

fn sort(tried: &mut [Tried]) {
    tried.sort_by(|one, other| {
        one.seconds.total_cmp(&other.seconds).then_with(|| one.bytes.total_cmp(&other.bytes))
    });
}

impl Tuned {
    /// The recipe of the chosen configuration, for the whole corpus.
    pub fn recipe(&self, bench: &Bench<'_>, request: &Request) -> Result<Option<JobRecipe>, LabError> {
        let Some(chosen) = self.chosen.map(|at| &self.tried[at]) else { return Ok(None) };
        let basis = Basis { recall: chosen.basis, ..Basis::new(request.measure, request.profile.clone()) };
        let recipe = bench.recipe(&chosen.what, &basis)?;
        let max_group = JobRecipe::simplest(Task::Dedup).max_group;
        Ok(Some(JobRecipe { task: Task::Dedup, max_group, reading: request.reading.clone(), ..recipe }))
    }

    /// The search for people.
    pub fn study(&self, request: &Request) -> Study {
        let mut study = Study {
            id: "tune".to_owned(),
            title: "The cheapest way to the goal".to_owned(),
            lead: self.lead(request),
            ..Study::default()
        };
        study.fact("documents", thousands(self.documents));
        study.fact("documents of the sample", thousands(self.sampled));
        study.fact("near-duplicates of the sample", thousands(self.truth));
        study.fact("as many independent pairs would tell as much", format!("{:.0}", self.effective));
        study.fact("goal", format!("recall {}, precision {}", request.recall, request.precision));
        study.fact(
            "near-duplicate",
            format!(
                "{}/{}:{}",
                request.measure.similarity, request.measure.shingle, request.measure.threshold
            ),
        );
        study.notes.extend(self.notes.iter().cloned());
        if self.chosen.is_some_and(|at| self.tried[at].what.methods == ["exact"])
            && self.sampled < self.documents
        {
            study.notes.push(format!(
                "The {} near-duplicates of the sample tell as much as {:.0} independent ones, too few to be sure of a cheaper \
                 way. More --documents would tell more.",
                thousands(self.truth),
                self.effective
            ));
        }
        if self.whole {
            study.notes.push(format!(
                "All documents were tried: the figures are exact for these {}, and say nothing of others.",
                thousands(self.documents)
            ));
        }
        study.plot(self.frontier(request));
        study.table(self.table(usize::MAX));
        study.text(
            "Seconds are of this machine, on the sample; those of the cheapest that reach the goal are the least of three \
             runs. Bytes are of payload and keys, for a document. Where every pair is measured, precision is 1 by itself.",
        );
        study
    }

    fn lead(&self, request: &Request) -> String {
        match self.chosen.map(|at| &self.tried[at]) {
            Some(one) => format!(
                "{}{} is the cheapest that {} a recall of {} and a precision of {}: {:.3} and {:.3}, in {:.2} seconds.",
                one.name,
                if one.verified { " with every pair measured" } else { " by its own word" },
                if one.meets == Meets::Yes { "reaches" } else { "likely reaches" },
                request.recall,
                request.precision,
                one.recall.unwrap_or(0.0),
                one.precision.unwrap_or(0.0),
                one.seconds,
            ),
            None => {
                let best = self.tried.iter().max_by(|one, other| score(one).total_cmp(&score(other)));
                let best = best.map_or(String::new(), |best| {
                    format!(
                        "; nearest is {} with {:.3} and {:.3}",
                        best.name,
                        best.recall.unwrap_or(0.0),
                        best.precision.unwrap_or(0.0)
                    )
                });
                format!(
                    "Nothing that was tried reaches a recall of {} and a precision of {}{best}.",
                    request.recall, request.precision
                )
            }
        }
    }

    /// The search in a few lines, for a terminal.
    pub fn brief(&self, request: &Request) -> Study {
        let mut study = Study { blocks: Vec::new(), ..self.study(request) };
        study.table(self.table(SHOWN));
        study.text(format!(
            "{} in all; report.html and tune.json have the others.",
            thousands(self.tried.len() as u64)
        ));
        study
    }

    /// Makes a table of at most `most` configurations: the chosen one, then those that reach the goal, then the others.
    fn table(&self, most: usize) -> Grid {
        let mut grid = Grid::new(
            "What was tried, cheapest first",
            ["method", "measured", "recall", "95 %", "precision", "95 %", "seconds", "bytes", "goal"],
        );
        let mut shown: Vec<usize> = (0..self.tried.len()).collect();
        if most < shown.len() {
            shown.sort_by_key(|&at| (Some(at) != self.chosen, self.tried[at].meets != Meets::Yes, at));
            shown.truncate(most);
        }
        for at in shown {
            let one = &self.tried[at];
            let lexicon = if one.foreign_lexicon { " (given lexicon)" } else { "" };
            let goal = match (Some(at) == self.chosen, one.meets) {
                (true, _) => "chosen",
                (_, Meets::Yes) => "reached",
                (_, Meets::Likely) => "likely reached",
                (_, Meets::No) => "missed",
            };
            let row: [Value; 9] = [
                format!("{}{lexicon}", one.name).into(),
                if one.verified { "yes" } else { "no" }.into(),
                one.recall.into(),
                one.recall_interval.into(),
                one.precision.into(),
                one.precision_interval.into(),
                one.seconds.into(),
                (one.bytes.round() as u64).into(),
                goal.into(),
            ];
            grid.row(row);
        }
        grid
    }

    /// Cost against quality: the harmonic mean of recall and precision.
    fn frontier(&self, request: &Request) -> Plot {
        let mut best = f64::MIN;
        let points = self.tried.iter().enumerate().map(|(at, one)| {
            let y = score(one);
            let frontier = y > best;
            best = best.max(y);
            let short = one.method.split([':', '/']).next().unwrap_or_default();
            let name = format!("{short}{}", if one.verified { ", measured" } else { "" });
            let chosen = Some(at) == self.chosen;
            // Whiskers on all of them would hide what matters.
            let interval = ends(one).filter(|_| frontier || chosen);
            Named { name, at: Point { x: one.seconds, y, interval }, frontier, chosen }
        });
        let goal = mean(request.recall, request.precision);
        Plot::Points(Points {
            name: "Cost and quality".to_owned(),
            x: Axis { name: "seconds on the sample".to_owned(), range: None, logarithmic: true },
            y: Axis {
                name: "F of recall and precision".to_owned(),
                range: Some((0.0, 1.0)),
                logarithmic: false,
            },
            points: points.collect(),
            goal: Some(goal),
            rightwards: false,
        })
    }
}

fn score(one: &Tried) -> f64 {
    mean(one.recall.unwrap_or(0.0), one.precision.unwrap_or(0.0))
}

/// The score at the lower and at the upper ends of both intervals.
fn ends(one: &Tried) -> Option<(f64, f64)> {
    let (recall, precision) = (one.recall_interval?, one.precision_interval?);
    Some((mean(recall.0, precision.0), mean(recall.1, precision.1)))
}

/// The harmonic mean.
fn mean(recall: f64, precision: f64) -> f64 {
    if recall + precision > 0.0 { 2.0 * recall * precision / (recall + precision) } else { 0.0 }
}

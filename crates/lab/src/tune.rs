//! The search for a recipe: methods and parameters that reach a wanted recall and precision at least cost.
//!
//! A sample of the corpus is drawn that keeps near-duplicates together ([`crate::sample`]), the exact join tells its truth,
//! and many configurations are run on it, by their own word and with every pair measured. What they reach is weighted up to
//! the whole corpus, with intervals; the cheapest one that surely reaches the goal becomes the recipe.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use lookalike::engine::EngineError;
use lookalike::engine::measure::Measure;
use lookalike::engine::pair_measurer::PairMeasurer;
use lookalike::engine::recipe::{JobRecipe, ReadSettings, Task};
use lookalike::model::{Similarity, Threshold};
use lookalike::report::study::{Axis, Grid, NamedPoint, Plot, Point, Points, Value};
use lookalike::report::{Study, thousands};
use lookalike::text::Profile;
use lookalike::walk::Watch;
use serde::Serialize;

use crate::collection::require_two_documents;
use crate::error::LabError;
use crate::interval::Z;
use crate::sample::{Clusters, SHINGLE, Sample, WeightedShare};
use crate::trial::{Configuration, MethodSetting, Pair, Trial, TrialRunner};

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
    pub reading: ReadSettings,
}

/// A configuration that was tried.
#[derive(Debug, Clone, Serialize)]
pub struct TriedConfiguration {
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
    #[serde(rename = "meets")]
    pub certainty: GoalCertainty,
    #[serde(skip)]
    configuration: Configuration,
    #[serde(skip)]
    target_recall: f64,
}

/// The certainty that a configuration reaches the goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GoalCertainty {
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
pub struct TuneResult {
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
    pub tried: Vec<TriedConfiguration>,
    /// The index of the chosen configuration in `tried`.
    pub chosen: Option<usize>,
    /// Configurations that could not be tried and the reasons, and records and pairs that are in no figure.
    pub notes: Vec<String>,
}

/// Bytes of memory for a near-duplicate of the sample: its weight, and whether a trial found it.
const TRUE_BYTES: u64 = 256;
/// Rows that a terminal shows.
const TERMINAL_ROWS: usize = 12;
/// Times that a promising configuration is run again, since clocks are noisy.
const REPETITIONS: usize = 2;
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
pub fn run(
    runner: &TrialRunner<'_>,
    sample: &Sample,
    request: &Request,
    watch: &Watch,
) -> Result<TuneResult, LabError> {
    check(request)?;
    require_two_documents(&sample.documents)?;
    let truth = TruePairs::find(runner, sample, request, watch)?;
    if truth.pairs.is_empty() {
        return Err(LabError::Request(format!(
            "there is no pair of near-duplicates among the {} documents of the sample, so that no recall can be told; \
             give more --documents or a lower --threshold",
            thousands(sample.documents.len() as u64)
        )));
    }
    let (mut tried, mut left_out) = (Vec::new(), Vec::new());
    let all = configurations(request);
    let number = all.len() as u64;
    for (at, (configuration, recall)) in (1..).zip(all) {
        watch.run_of(at, number);
        match try_configuration(runner, sample, request, &truth, &configuration, recall, watch) {
            Ok(one) => tried.push(one),
            Err(LabError::Engine(EngineError::Request(why))) => left_out.push(why),
            Err(LabError::Method(why)) => left_out.push(why.to_string()),
            Err(error) => return Err(error),
        }
    }
    watch.run_of(0, 0);
    left_out.sort();
    left_out.dedup();
    let facts = sample.documents.manifest();
    let mut notes: Vec<String> = left_out.iter().map(|why| format!("Not tried: {why}.")).collect();
    if truth.uncounted > 0 {
        notes.push(format!(
            "Up to {} near-duplicates in groups of more than {} documents are in no figure.",
            thousands(truth.uncounted),
            thousands(runner.max_group as u64)
        ));
    }
    let chosen = choose(runner, request, &mut tried, watch)?;
    if let Some(why) = &facts.first_rejection {
        notes.push(format!(
            "{} records could not be read and are left out; the first: {why}.",
            thousands(facts.rejected)
        ));
    }
    Ok(TuneResult {
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
struct TruePairs {
    max_weight: Option<f64>,
    /// Near-duplicates in groups that are too large to be written out, at most.
    uncounted: u64,
    pairs: BTreeMap<(u32, u32), f64>,
    clusters: BTreeMap<u32, u32>,
}

impl TruePairs {
    fn find(
        runner: &TrialRunner<'_>,
        sample: &Sample,
        request: &Request,
        watch: &Watch,
    ) -> Result<Self, LabError> {
        let method_setting = MethodSetting::new(request.measure, request.profile.clone());
        let exact = runner.run(&Configuration::single("exact"), &method_setting, watch)?;
        let most = runner.settings.memory / TRUE_BYTES;
        if exact.facts.pairs > most {
            return Err(LabError::Request(format!(
                "the sample has {} pairs of near-duplicates, and within --memory {} can be weighed; give fewer \
                 --documents, a higher --threshold or more --memory",
                thousands(exact.facts.pairs),
                thousands(most)
            )));
        }
        let pairs = exact.pairs()?.map(|pair| pair.map(|pair| (pair.a, pair.b)));
        let pairs = weights(runner, sample, pairs, watch)?;
        let mut clusters = Clusters::default();
        pairs.keys().for_each(|&(a, b)| clusters.join(a, b));
        let clusters = pairs.keys().map(|&(a, _)| (a, clusters.of(a))).collect();
        let max_weight = sample.max_near_duplicate_weight(&request.measure, &request.profile);
        Ok(TruePairs { max_weight, pairs, clusters, uncounted: exact.facts.pairs_in_giant_groups })
    }

    /// The share of the near-duplicates that are in `found`.
    fn recall(&self, found: &BTreeSet<(u32, u32)>) -> WeightedShare {
        let mut recall = WeightedShare::new(self.max_weight);
        for (pair, weight) in &self.pairs {
            recall.add(self.clusters[&pair.0], *weight, found.contains(pair));
        }
        recall
    }

    fn all(&self) -> WeightedShare {
        self.recall(&BTreeSet::new())
    }
}

/// Returns the weight of each pair, from its resemblance on the shingles that the sample was drawn by.
fn weights(
    runner: &TrialRunner<'_>,
    sample: &Sample,
    pairs: impl Iterator<Item = Result<(u32, u32), LabError>>,
    watch: &Watch,
) -> Result<BTreeMap<(u32, u32), f64>, LabError> {
    let measure = Measure { similarity: Similarity::Jaccard, threshold: Threshold::LOWEST, shingle: SHINGLE };
    let measurer = PairMeasurer::new(&sample.documents, measure, &Profile::web(), runner.settings.memory);
    let mut weights = BTreeMap::new();
    measurer.measure(pairs, watch, |pair, measured| {
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
            all.push((Configuration::single(&format!("minhash:values={values}")), recall));
        }
    }
    let usual = 0.98;
    for lengths in ["1", "3", "3+5"] {
        for bits in [3, 5, 8] {
            all.push((Configuration::single(&format!("simhash:n={lengths},k={bits}")), usual));
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
    all.extend(others.map(|text| (Configuration::single(text), usual)));
    for (low, high) in [(0.1, 0.5), (0.2, 0.3), (0.2, 0.8)] {
        for (lexicons, drop) in [(0, 0.33), (5, 0.33), (10, 0.33), (10, 0.5)] {
            let text = format!("imatch:low={low},high={high},lexicons={lexicons},drop={drop}");
            let own = Configuration::single(&text);
            if let Some(lexicon) = &request.lexicon {
                all.push((Configuration { lexicon: Some(lexicon.clone()), ..own.clone() }, usual));
            }
            all.push((own, usual));
        }
    }
    // By their own word, and with every pair measured, which makes precision 1.
    let measured: Vec<_> =
        all.iter().map(|(configuration, recall)| (configuration.clone().verified(), *recall)).collect();
    all.extend(measured);
    all.push((Configuration::single("exact"), usual));
    all
}

fn try_configuration(
    runner: &TrialRunner<'_>,
    sample: &Sample,
    request: &Request,
    truth: &TruePairs,
    configuration: &Configuration,
    recall: f64,
    watch: &Watch,
) -> Result<TriedConfiguration, LabError> {
    let method_setting =
        MethodSetting { recall, ..MethodSetting::new(request.measure, request.profile.clone()) };
    let trial = runner.run(configuration, &method_setting, watch)?;
    let found = TrialPairs::of(&trial, truth)?;
    let reached = truth.recall(&found.right);
    let right = found.precision(runner, sample, truth, configuration, watch)?;
    Ok(TriedConfiguration {
        name: name(configuration, &trial),
        method: trial.facts.recipes.first().map(ToString::to_string).unwrap_or_default(),
        verified: configuration.verified,
        foreign_lexicon: configuration.lexicon.is_some(),
        recall: reached.value(),
        recall_interval: reached.interval(),
        precision: right.as_ref().map_or(Some(1.0), WeightedShare::value),
        precision_interval: right.as_ref().map_or(Some((1.0, 1.0)), WeightedShare::interval),
        seconds: trial.facts.seconds.unwrap_or(0.0),
        bytes: trial.facts.bytes,
        // What was not even counted cannot be vouched for.
        certainty: match trial.facts.giant_groups > 0 && !configuration.verified {
            true => GoalCertainty::No,
            false => goal_certainty(configuration, &reached, right.as_ref(), request),
        },
        configuration: configuration.clone(),
        target_recall: recall,
    })
}

/// The method as typed, and the bands that followed from the recall that it was asked for.
fn name(configuration: &Configuration, trial: &Trial) -> String {
    let mut name = configuration.methods.join(" and ");
    let recipe = trial.facts.recipes.first();
    for parameter in ["bands", "rows"] {
        if let Some(value) = recipe.and_then(|recipe| recipe.parameters.get(parameter)) {
            name += &format!("{}{parameter}={value}", if name.contains(':') { ',' } else { ':' });
        }
    }
    name
}

/// The pairs of a trial, held against the truth.
struct TrialPairs {
    right: BTreeSet<(u32, u32)>,
    /// Those that are no near-duplicates, up to [`MAX_WRONG_PAIRS`].
    wrong: Vec<(u32, u32)>,
    /// Number of wrong pairs beyond these.
    more: u64,
}

/// The most wrong pairs that are weighted one by one; a configuration with more is far from any goal.
const MAX_WRONG_PAIRS: usize = 200_000;

impl TrialPairs {
    fn of(trial: &Trial, truth: &TruePairs) -> Result<Self, LabError> {
        let mut found = TrialPairs { right: BTreeSet::new(), wrong: Vec::new(), more: 0 };
        for pair in trial.pairs()? {
            let Pair { a, b, .. } = pair?;
            match truth.pairs.contains_key(&(a, b)) {
                true => drop(found.right.insert((a, b))),
                false if found.wrong.len() < MAX_WRONG_PAIRS => found.wrong.push((a, b)),
                false => found.more += 1,
            }
        }
        Ok(found)
    }

    /// The share of near-duplicates among the pairs; nothing to ask where every pair was measured.
    fn precision(
        &self,
        runner: &TrialRunner<'_>,
        sample: &Sample,
        truth: &TruePairs,
        configuration: &Configuration,
        watch: &Watch,
    ) -> Result<Option<WeightedShare>, LabError> {
        if configuration.verified {
            return Ok(None);
        }
        let wrong = weights(runner, sample, self.wrong.iter().map(|pair| Ok(*pair)), watch)?;
        let mut clusters = Clusters::default();
        self.right.iter().chain(&self.wrong).for_each(|&(a, b)| clusters.join(a, b));
        let mut right = WeightedShare::new(sample.max_weight(0.0));
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
fn goal_certainty(
    configuration: &Configuration,
    reached: &WeightedShare,
    right: Option<&WeightedShare>,
    request: &Request,
) -> GoalCertainty {
    let least = |deviations: f64| {
        let recall = reached.lower_bound(deviations).is_some_and(|least| least >= request.recall);
        let right = right.is_none_or(|right| {
            right.lower_bound(deviations).is_some_and(|least| least >= request.precision)
        });
        recall && right
    };
    match () {
        () if configuration.methods == ["exact"] => GoalCertainty::Yes,
        () if least(if right.is_some() { 3.0 } else { Z }) => GoalCertainty::Yes,
        () if least(0.0) => GoalCertainty::Likely,
        () => GoalCertainty::No,
    }
}

/// Puts the cheapest first, and says which one to take: the cheapest of those that reach the goal most surely.
fn choose(
    runner: &TrialRunner<'_>,
    request: &Request,
    tried: &mut [TriedConfiguration],
    watch: &Watch,
) -> Result<Option<usize>, LabError> {
    let best = tried.iter().map(|one| one.certainty).max().unwrap_or(GoalCertainty::No);
    sort(tried);
    if best == GoalCertainty::No {
        return Ok(None);
    }
    let promising = tried.iter_mut().filter(|one| one.certainty == best).take(PROMISING);
    for one in promising {
        let method_setting = MethodSetting {
            recall: one.target_recall,
            ..MethodSetting::new(request.measure, request.profile.clone())
        };
        for _ in 0..REPETITIONS {
            one.seconds =
                one.seconds.min(runner.measure_seconds(&one.configuration, &method_setting, watch)?);
        }
    }
    sort(tried);
    let cheapest = tried.iter().find(|one| one.certainty == best).map_or(0.0, |one| one.seconds);
    // Clocks tell no finer than this: of those that are as fast, the one that takes the least room.
    let equal =
        (0..tried.len()).filter(|&at| tried[at].certainty == best && tried[at].seconds <= cheapest * NOISE);
    Ok(equal.min_by(|&one, &other| {
        let (one, other) = (&tried[one], &tried[other]);
        one.bytes.total_cmp(&other.bytes).then_with(|| one.name.cmp(&other.name))
    }))
}

fn sort(tried: &mut [TriedConfiguration]) {
    tried.sort_by(|one, other| {
        one.seconds.total_cmp(&other.seconds).then_with(|| one.bytes.total_cmp(&other.bytes))
    });
}

impl TuneResult {
    /// The recipe of the chosen configuration, for the whole corpus.
    pub fn recipe(&self, runner: &TrialRunner<'_>, request: &Request) -> Result<Option<JobRecipe>, LabError> {
        let Some(chosen) = self.chosen.map(|at| &self.tried[at]) else { return Ok(None) };
        let method_setting = MethodSetting {
            recall: chosen.target_recall,
            ..MethodSetting::new(request.measure, request.profile.clone())
        };
        let recipe = runner.recipe(&chosen.configuration, &method_setting)?;
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
        if self.chosen.is_some_and(|at| self.tried[at].configuration.methods == ["exact"])
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
                if one.certainty == GoalCertainty::Yes { "reaches" } else { "likely reaches" },
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
        study.table(self.table(TERMINAL_ROWS));
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
            shown.sort_by_key(|&at| {
                (Some(at) != self.chosen, self.tried[at].certainty != GoalCertainty::Yes, at)
            });
            shown.truncate(most);
        }
        for at in shown {
            let one = &self.tried[at];
            let lexicon = if one.foreign_lexicon { " (given lexicon)" } else { "" };
            let goal = match (Some(at) == self.chosen, one.certainty) {
                (true, _) => "chosen",
                (_, GoalCertainty::Yes) => "reached",
                (_, GoalCertainty::Likely) => "likely reached",
                (_, GoalCertainty::No) => "missed",
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
            NamedPoint { name, at: Point { x: one.seconds, y, interval }, frontier, chosen }
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

fn score(one: &TriedConfiguration) -> f64 {
    mean(one.recall.unwrap_or(0.0), one.precision.unwrap_or(0.0))
}

/// The score at the lower and at the upper ends of both intervals.
fn ends(one: &TriedConfiguration) -> Option<(f64, f64)> {
    let (recall, precision) = (one.recall_interval?, one.precision_interval?);
    Some((mean(recall.0, precision.0), mean(recall.1, precision.1)))
}

/// The harmonic mean.
fn mean(recall: f64, precision: f64) -> f64 {
    if recall + precision > 0.0 { 2.0 * recall * precision / (recall + precision) } else { 0.0 }
}

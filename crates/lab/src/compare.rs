//! Methods side by side on one corpus: what each finds, how much of it is right, and what they find together.
//!
//! Each method accepts pairs by its own word. All of those pairs are the pool; each of them, or a sample of each stratum,
//! is measured. Recall is the share of the pool's near-duplicates that a method finds; or, held against the exact join, of
//! all that there are.

use std::collections::BTreeMap;

use lookalike::engine::EngineError;
use lookalike::engine::measure::Measured;
use lookalike::engine::pair_measurer::PairMeasurer;
use lookalike::hash;
use lookalike::model::{Similarity, Threshold};
use lookalike::text::Profile;
use lookalike::walk::Watch;

use crate::collection::require_two_documents;
use crate::error::LabError;
use crate::pool::{MAX_METHODS, Mask, Pool, PooledPair};
use crate::strata::Strata;
use crate::trial::{Configuration, MethodSetting, Trial, TrialFacts, TrialRunner};
use crate::truth::Truth;

/// The set of near-duplicates that recall is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecallBase {
    /// Near-duplicates that some method finds.
    Union,
    /// All near-duplicates, by the exact join.
    Exact,
}

/// The parameters of a comparison.
#[derive(Debug, Clone)]
pub struct Request {
    /// The methods: the name and the configuration of each.
    pub methods: Vec<(String, Configuration)>,
    /// The definition of a near-duplicate.
    pub truth: Truth,
    /// The profile of the words that it is measured on.
    pub profile: Profile,
    /// The profile of the words for methods that have none of their own.
    pub words: Profile,
    /// The set of near-duplicates that recall is a share of.
    pub recall_base: RecallBase,
    /// Most pairs to measure.
    pub measure: u64,
    /// Pairs for people to look at.
    pub review: usize,
}

/// A method of a comparison.
#[derive(Debug, Clone)]
pub struct ComparedMethod {
    /// Its name.
    pub name: String,
    /// The facts of its trial, or the reason why there was none.
    pub facts: Result<TrialFacts, String>,
    /// Its bit in masks.
    pub bit: Option<usize>,
}

/// A pair of the pool with its verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedPair {
    /// The pair, and the methods that accept it.
    pub pair: PooledPair,
    /// Their similarity; none if it was not measured, or is below the lowest that is measured.
    pub similarity: Option<f64>,
    /// True if they are near-duplicates; none if the pair was not measured.
    pub near: Option<bool>,
}

/// The result of a comparison.
#[derive(Debug)]
pub struct Comparison {
    /// The methods, in the order that was asked for.
    pub compared_methods: Vec<ComparedMethod>,
    /// The pool by the methods that accept its pairs.
    pub strata: Strata,
    /// Pairs by similarity, in hundredths, the last for 1; those of a sample stand for their strata.
    pub histogram: Vec<u64>,
    /// Pairs at random, for people to look at.
    pub review: Vec<JudgedPair>,
    trials: Vec<Trial>,
    exact: Option<Trial>,
    verdicts: BTreeMap<(u32, u32), (Option<f64>, bool)>,
}

/// Runs the methods and measures what they find.
pub fn run(runner: &TrialRunner<'_>, request: &Request, watch: &Watch) -> Result<Comparison, LabError> {
    require_two_documents(runner.documents)?;
    check(request)?;
    let mut comparison = run_methods(runner, request, watch)?;
    for pair in comparison.pool()? {
        comparison.strata.count(pair?.mask);
    }
    match request.recall_base {
        RecallBase::Exact => comparison.judge_by_exact_join()?,
        RecallBase::Union => comparison.measure(runner, request, watch)?,
    }
    comparison.draw_review(request.review, runner.seed)?;
    Ok(comparison)
}

fn check(request: &Request) -> Result<(), LabError> {
    if request.methods.len() > MAX_METHODS {
        let sentence = format!(
            "at most {MAX_METHODS} methods are compared at once, and {} were given",
            request.methods.len()
        );
        return Err(LabError::Request(sentence));
    }
    let offered = [Similarity::Jaccard, Similarity::Containment, Similarity::Cosine];
    if request.recall_base == RecallBase::Exact && !offered.contains(&request.truth.similarity) {
        return Err(LabError::Request(format!(
            "there is no exact join for {}; take --pool union, or jaccard, cosine or containment as the truth",
            request.truth.similarity
        )));
    }
    Ok(())
}

/// Runs every method; one that cannot be run at all is left out, and says why.
fn run_methods(runner: &TrialRunner<'_>, request: &Request, watch: &Watch) -> Result<Comparison, LabError> {
    let method_setting = MethodSetting::new(request.truth.setting(), request.words.clone());
    let (mut compared_methods, mut trials) = (Vec::new(), Vec::new());
    let number = request.methods.len() as u64;
    for (at, (name, configuration)) in (1..).zip(&request.methods) {
        watch.run_of(at, number);
        let (facts, bit) = match runner.run(configuration, &method_setting, watch) {
            Ok(trial) => {
                trials.push(trial.clone());
                (Ok(trial.facts), Some(trials.len() - 1))
            }
            Err(LabError::Engine(EngineError::Request(why))) => (Err(why), None),
            Err(LabError::Method(why)) => (Err(why.to_string()), None),
            Err(error) => return Err(error),
        };
        compared_methods.push(ComparedMethod { name: name.clone(), facts, bit });
    }
    watch.run_of(0, 0);
    let exact = match request.recall_base {
        RecallBase::Union => None,
        RecallBase::Exact => {
            let method_setting = MethodSetting::new(request.truth.measure(), request.profile.clone());
            Some(runner.run(&Configuration::single("exact"), &method_setting, watch)?)
        }
    };
    Ok(Comparison {
        compared_methods,
        strata: Strata::default(),
        histogram: vec![0; 101],
        review: Vec::new(),
        trials,
        exact,
        verdicts: BTreeMap::new(),
    })
}

impl Comparison {
    /// The pool once more. With the exact join, it has the bit behind the last method's.
    pub fn pool(&self) -> Result<Pool, LabError> {
        Pool::of(self.trials.iter().chain(&self.exact))
    }

    /// Returns the facts of the exact join; none if recall is not a share of its pairs.
    pub fn exact(&self) -> Option<&TrialFacts> {
        self.exact.as_ref().map(|trial| &trial.facts)
    }

    /// Number of methods that ran.
    pub fn methods(&self) -> usize {
        self.trials.len()
    }

    /// Names of the methods that ran, by bit.
    pub fn names(&self) -> Vec<&str> {
        let ran = self.compared_methods.iter().filter(|compared| compared.bit.is_some());
        ran.map(|compared| compared.name.as_str()).collect()
    }

    /// The bits of methods alone.
    pub fn methods_mask(&self) -> Mask {
        (1 << self.trials.len()) - 1
    }

    /// Returns every pair of the pool with its verdict.
    pub fn judged_pairs(&self) -> Result<impl Iterator<Item = Result<JudgedPair, LabError>> + '_, LabError> {
        let mut exact = self.exact.as_ref().map(Trial::pairs).transpose()?.map(Iterator::peekable);
        let truth: Option<Mask> = self.exact.as_ref().map(|_| 1 << self.trials.len());
        Ok(self.pool()?.map(move |pair| {
            let pair = pair?;
            let Some(truth) = truth else { return Ok(self.judged(pair)) };
            let near = pair.mask & truth != 0;
            let similarity = match (&mut exact, near) {
                (Some(exact), true) => exact.next().transpose()?.map(|pair| pair.similarity),
                _ => None,
            };
            Ok(JudgedPair { pair, similarity, near: Some(near) })
        }))
    }

    fn judged(&self, pair: PooledPair) -> JudgedPair {
        match self.verdicts.get(&(pair.a, pair.b)) {
            Some(&(similarity, near)) => JudgedPair { pair, similarity, near: Some(near) },
            None => JudgedPair { pair, similarity: None, near: None },
        }
    }

    /// Judges the pairs of the pool: near-duplicates are those that the exact join has.
    fn judge_by_exact_join(&mut self) -> Result<(), LabError> {
        let truth: Mask = 1 << self.trials.len();
        let all: Vec<(Mask, u64)> = self.strata.iter().map(|(mask, stratum)| (mask, stratum.pairs)).collect();
        for (mask, pairs) in all {
            self.strata.count_measured(mask, pairs, mask & truth != 0);
        }
        if let Some(exact) = &self.exact {
            let mut histogram = vec![0.0; 101];
            for pair in exact.pairs()? {
                add_to_histogram(&mut histogram, pair?.similarity, 1.0);
            }
            self.histogram = histogram.into_iter().map(|pairs: f64| pairs as u64).collect();
        }
        Ok(())
    }

    /// Measures the pool, or a sample of each stratum.
    fn measure(
        &mut self,
        runner: &TrialRunner<'_>,
        request: &Request,
        watch: &Watch,
    ) -> Result<(), LabError> {
        let mut sampler = StratifiedSampler::new(&self.strata, request.measure, runner.seed);
        let pairs = self.pool()?.filter_map(|pair| match pair {
            Ok(pair) => sampler.takes(pair).then_some(Ok(pair)),
            Err(error) => Some(Err(error)),
        });
        // What is cheap to measure is measured to the end, for the histogram.
        let floor = match request.truth.similarity {
            Similarity::Edit => request.truth.threshold,
            _ => Threshold::LOWEST,
        };
        let measurer = PairMeasurer::new(
            runner.documents,
            request.truth.measure(),
            &request.profile,
            runner.settings.memory,
        );
        let mut verdicts = BTreeMap::new();
        measurer.down_to(floor).measure(
            pairs.map(|pair| pair.map(|pair| (pair.a, pair.b))),
            watch,
            |pair, measured: Option<Measured>| {
                let near = measured.is_some_and(|measured| measured.counts());
                let similarity = measured.map(|measured| measured.forward.max(measured.backward));
                verdicts.insert(pair, (similarity, near));
                Ok(())
            },
        )?;
        let mut strata = std::mem::take(&mut self.strata);
        for pair in self.pool()? {
            let pair = pair?;
            if let Some((_, near)) = verdicts.get(&(pair.a, pair.b)) {
                strata.count_measured(pair.mask, 1, *near);
            }
        }
        self.strata = strata;
        self.verdicts = verdicts;
        let mut histogram = vec![0.0; 101];
        for judged in self.judged_pairs()? {
            let judged = judged?;
            if let Some(similarity) = judged.similarity {
                add_to_histogram(&mut histogram, similarity, self.strata.weight(judged.pair.mask));
            }
        }
        self.histogram = histogram.into_iter().map(|pairs: f64| pairs.round() as u64).collect();
        Ok(())
    }

    /// Draws pairs for people to look at, out of all that some method accepts.
    fn draw_review(&mut self, most: usize, seed: u64) -> Result<(), LabError> {
        let mut chosen: BTreeMap<(u64, u32, u32), JudgedPair> = BTreeMap::new();
        let methods = self.methods_mask();
        for judged in self.judged_pairs()? {
            let judged = judged?;
            if judged.pair.mask & methods == 0 || most == 0 {
                continue;
            }
            let sampling_key =
                hash::nth(u64::from(judged.pair.a) << 32 | u64::from(judged.pair.b), hash::mix(!seed));
            chosen.insert((sampling_key, judged.pair.a, judged.pair.b), judged);
            if chosen.len() > most {
                chosen.pop_last();
            }
        }
        self.review = chosen.into_values().collect();
        Ok(())
    }
}

/// Adds `pairs` to the hundredth that a similarity falls in.
fn add_to_histogram(histogram: &mut [f64], similarity: f64, pairs: f64) {
    let bin = (similarity * 100.0 + 1e-9).floor().clamp(0.0, 100.0) as usize;
    histogram[bin] += pairs;
}

/// Draws exactly the quota of each stratum from a stream of pairs, each pair with the same chance.
struct StratifiedSampler {
    /// Pairs still to come, and to be taken, by mask.
    left: BTreeMap<Mask, (u64, u64)>,
    seed: u64,
}

impl StratifiedSampler {
    fn new(strata: &Strata, most: u64, seed: u64) -> Self {
        let quotas = strata.quotas(most);
        let left = strata.iter().map(|(mask, stratum)| (mask, (stratum.pairs, quotas[&mask]))).collect();
        StratifiedSampler { left, seed: hash::mix(seed) }
    }

    fn takes(&mut self, pair: PooledPair) -> bool {
        let Some((coming, wanted)) = self.left.get_mut(&pair.mask) else { return false };
        let sampling_key = hash::nth(u64::from(pair.a) << 32 | u64::from(pair.b), self.seed);
        // Chance wanted / coming, by whole numbers.
        let takes = u128::from(sampling_key) * u128::from(*coming) < u128::from(*wanted) << 64;
        *coming -= 1;
        *wanted -= u64::from(takes);
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_takes_what_was_asked_for_and_has_no_favourites() {
        let mut strata = Strata::default();
        let pairs: Vec<PooledPair> =
            (0..1000).map(|n| PooledPair { a: n, b: n + 1, mask: 1 + u64::from(n % 3 == 0) }).collect();
        pairs.iter().for_each(|pair| strata.count(pair.mask));
        let mut taken = vec![0u32; 1000];
        for seed in 0..200 {
            let quotas = strata.quotas(100);
            let mut sampler = StratifiedSampler::new(&strata, 100, seed);
            let mut by_mask = BTreeMap::new();
            for (at, pair) in pairs.iter().enumerate() {
                if sampler.takes(*pair) {
                    taken[at] += 1;
                    *by_mask.entry(pair.mask).or_insert(0) += 1;
                }
            }
            assert_eq!(by_mask, quotas);
        }
        // Early pairs as often as late ones: the halves differ by no more than chance allows.
        let (early, late): (u32, u32) = (taken[..500].iter().sum(), taken[500..].iter().sum());
        assert!(early.abs_diff(late) < 600, "{early} {late}");
    }
}

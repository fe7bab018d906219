//! The number of pages of an index.
//!
//! The weights of a draw sum to the number of pages that the pool reaches, in the mean. Pages without a usable word of the pool are
//! not reached, short ones above all; so a page that was met also stands for those of its length that cannot be met: it is divided
//! by the probability that an own document of that length is reached, treated as if it were not in the own corpus
//! ([`crate::pool::Reach`]). That is right as far as pages of equal length are alike in the own corpus and in the engine. The
//! results of the same queries in the own corpus take a part of the error away ([`crate::regression`]).

use lookalike_census::{Estimate, Random};

use crate::FieldError;
use crate::engine_client::EngineClient;
use crate::pool::{self, Pool};
use crate::regression;
use crate::sampling::{
    Draw, LOOKED_AT, Sampler, SamplingFaults, draw_until_spent, effective, fetch_correction,
};

/// Fewest draws that make an estimate.
const FEWEST_DRAWS: usize = 30;

/// The parameters of a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Results that are looked at for each query.
    pub looked_at: usize,
    /// Most draws; the budget of the engine ends them sooner, as a rule.
    pub draws: usize,
    /// Most questions to the engine; what is left of its budget is for others.
    pub calls: u64,
    /// The seed of every random choice.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { looked_at: LOOKED_AT, draws: usize::MAX, calls: u64::MAX, seed: 0 }
    }
}

/// A sample of an engine's pages.
pub struct Sample {
    /// The queries.
    pub pool: Pool,
    /// The result of each draw.
    pub draws: Vec<Draw>,
    /// The probability that a page is found by a word on it, for words without digits and with.
    pub found_by_own_word: [f64; 2],
    /// The faults met in sampling.
    pub faults: SamplingFaults,
}

/// The estimate of the size from a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Size {
    /// Pages of the index.
    pub pages: Estimate,
    /// Pages that the pool reaches.
    pub reached: Estimate,
    /// Share of the pages that the pool reaches, by own documents of their lengths.
    pub coverage: Estimate,
    /// Queries in the pool.
    pub pool: usize,
    /// Draws, and usable ones among them.
    pub draws: (usize, usize),
    /// The number of uniform pages that would be worth as much.
    pub effective: f64,
}

/// Draws pages of an engine until its budget is used up.
pub fn sample(client: &mut EngineClient<'_>, plan: &Plan) -> Result<Sample, FieldError> {
    let pool = pool::explore(client, &mut Random::part(plan.seed, 0))?;
    let mut sampler = Sampler::new(&pool, plan.looked_at, Random::part(plan.seed, 1));
    let draws = draw_until_spent(&mut sampler, client, (plan.draws, plan.calls))?;
    let (faults, found_by_own_word) = (sampler.faults, sampler.found_by_own_word());
    require_enough(client, draws.iter())?;
    Ok(Sample { pool, draws, found_by_own_word, faults })
}

/// Fails if draws are too few for an estimate, or no page was met.
pub(crate) fn require_enough<'d>(
    client: &EngineClient<'_>,
    draws: impl ExactSizeIterator<Item = &'d Draw>,
) -> Result<(), FieldError> {
    let (engine, calls, count) = (client.name().to_owned(), client.cost().calls, draws.len());
    let (looked_at, sampled) =
        draws.fold((0, 0), |sums, draw| (sums.0 + draw.looked_at as u64, sums.1 + draw.pages.len()));
    match (count, looked_at, sampled) {
        (..FEWEST_DRAWS, ..) => Err(FieldError::FewDraws { engine, calls, draws: count }),
        (_, 0, _) => Err(FieldError::NoPages { engine }),
        (_, _, 0) => Err(FieldError::Unreadable { engine, looked_at }),
        _ => Ok(()),
    }
}

/// Returns for each page that was met the number of its different words, and the number of pages that it stands for.
pub(crate) fn lengths<'d>(
    draws: impl IntoIterator<Item = &'d Draw>,
    client: &EngineClient<'_>,
) -> Vec<(usize, f64)> {
    let draws: Vec<&Draw> = draws.into_iter().collect();
    let share = 1.0 / draws.len().max(1) as f64;
    let sampled = draws.iter().flat_map(|draw| &draw.pages);
    sampled
        .filter_map(|sampled| Some((client.fetched_words(sampled.page)?.all.len(), sampled.weight * share)))
        .collect()
}

impl Sample {
    /// Estimates the size from the sample.
    pub fn size(&self, client: &EngineClient<'_>) -> Result<Size, FieldError> {
        let reach = self.pool.reach(client, &lengths(&self.draws, client), self.found_by_own_word);
        let pages = self.mean(client, |words| 1.0 / reach.of(words))?;
        let reached = self.mean(client, |_| 1.0)?;
        let usable = self.draws.iter().filter(|draw| draw.results > 0).count();
        let share = (reached.value / pages.value).min(1.0);
        let error = reach.unreached_error(share);
        let coverage = Estimate::on_log_scale(share, error);
        let coverage = Estimate { interval: (coverage.interval.0, coverage.interval.1.min(1.0)), ..coverage };
        Ok(Size {
            pages: pages.widened(error),
            reached: reached.widened(0.0),
            coverage,
            pool: self.pool.len(),
            draws: (self.draws.len(), usable),
            effective: self.effective(),
        })
    }

    /// Returns the number of uniform pages that would be worth as much: pages of one draw are not independent.
    pub fn effective(&self) -> f64 {
        effective(self.draws.iter().map(Draw::size))
    }

    /// Estimates the total weight of all pages that the pool reaches; `weigh` returns the weight of a page by the number of its
    /// different words.
    fn mean(&self, client: &EngineClient<'_>, weigh: impl Fn(usize) -> f64) -> Result<Estimate, FieldError> {
        let (own_control, control_mean) =
            self.pool.own_control(client.own(), |document| weigh(document.len()));
        let weight = |page| client.fetched_words(page).map_or(1.0, |contents| weigh(contents.all.len()));
        let fetch_correction = fetch_correction(self.draws.iter(), &self.faults);
        let found =
            |draw: &Draw| draw.pages.iter().map(|sampled| sampled.weight * weight(sampled.page)).sum::<f64>();
        let draws: Vec<(f64, f64)> =
            self.draws.iter().map(|draw| (fetch_correction * found(draw), own_control[draw.index])).collect();
        let mean = regression::mean(&draws, control_mean).filter(|mean| mean.value > 0.0);
        mean.ok_or_else(|| FieldError::NoPages { engine: client.name().to_owned() })
    }
}

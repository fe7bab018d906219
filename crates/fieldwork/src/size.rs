//! How many pages an index has.
//!
//! The mean of all draws is the number of pages that the pool reaches; what the same queries find at home takes a part of the error away
//! ([`crate::regression`]). Pages without any word of the pool are not reached: their share is taken from the own documents, each looked at
//! as if it were not at home. It is right as far as these are like the engine's pages.

use lookalike_census::{Estimate, Random};
use lookalike_engines::EngineError;

use crate::FieldError;
use crate::desk::Desk;
use crate::pool::{self, Pool};
use crate::regression;
use crate::sampling::{Amiss, Draw, LOOKED_AT, Sampler, effective, until_spent};

/// Fewest draws that make an estimate.
const FEWEST: usize = 30;

/// How a size is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Results that are looked at for each query.
    pub looked_at: usize,
    /// Most draws; the budget of the engine ends them sooner, as a rule.
    pub draws: usize,
    /// What all chance follows from.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { looked_at: LOOKED_AT, draws: usize::MAX, seed: 0 }
    }
}

/// A sample of an engine's pages.
pub struct Sample {
    /// The queries.
    pub pool: Pool,
    /// What came of each draw.
    pub draws: Vec<Draw>,
    /// What was amiss.
    pub amiss: Amiss,
}

/// What a sample says of the size.
#[derive(Debug, Clone, PartialEq)]
pub struct Size {
    /// Pages of the index.
    pub pages: Estimate,
    /// Pages that the pool reaches.
    pub reached: Estimate,
    /// Share of the pages that the pool reaches, by the own documents.
    pub coverage: Estimate,
    /// Queries in the pool.
    pub pool: usize,
    /// Draws, and usable ones among them.
    pub draws: (usize, usize),
    /// How many uniform pages would tell as much.
    pub effective: f64,
}

/// Draws pages of an engine until its budget is used up.
pub fn sample(desk: &mut Desk<'_>, plan: &Plan) -> Result<Sample, FieldError> {
    let words = desk.own().queries(2).len();
    if words < 50 {
        return Err(FieldError::FewWords(words));
    }
    let scale = match pool::pilot(desk, &mut Random::part(plan.seed, 0)) {
        Ok(scale) => scale,
        Err(EngineError::Spent { budget, .. }) => return Err(few(desk, budget, 0)),
        Err(error) => return Err(error.into()),
    };
    let pool = Pool::new(desk.own(), scale, desk.limit());
    if scale == 0.0 || pool.is_empty() {
        return Err(FieldError::Nothing { engine: desk.name().to_owned() });
    }
    let mut sampler = Sampler::new(&pool, plan.looked_at, Random::part(plan.seed, 1));
    let draws = until_spent(&mut sampler, desk, plan.draws)?;
    let amiss = sampler.amiss;
    Ok(Sample { pool, draws, amiss })
}

fn few(desk: &Desk<'_>, calls: u64, draws: usize) -> FieldError {
    FieldError::FewDraws { engine: desk.name().to_owned(), calls, draws }
}

impl Sample {
    /// What the sample says of the size.
    pub fn size(&self, desk: &Desk<'_>) -> Result<Size, FieldError> {
        let draws: Vec<(f64, f64)> = self.draws.iter().map(|draw| (draw.size(), draw.companion)).collect();
        let known = self.pool.reached() as f64;
        let reached = regression::mean(&draws, known).filter(|_| draws.len() >= FEWEST);
        let reached = reached.ok_or_else(|| few(desk, 0, draws.len()))?;
        let (found, all) = self.pool.coverage(desk.own());
        let coverage = Estimate::share(found, all).filter(|share| share.value > 0.0);
        let coverage = coverage.ok_or_else(|| FieldError::Nothing { engine: desk.name().to_owned() })?;
        if reached.value <= 0.0 {
            return Err(FieldError::Nothing { engine: desk.name().to_owned() });
        }
        let error = (reached.error / reached.value).hypot(coverage.error / coverage.value);
        let usable = self.draws.iter().filter(|draw| draw.results > 0).count();
        let weights = self.draws.iter().flat_map(|draw| draw.met.iter().map(|met| met.weight));
        Ok(Size {
            pages: Estimate::on_log_scale(reached.value / coverage.value, error),
            reached: Estimate::on_log_scale(reached.value, reached.error / reached.value),
            coverage,
            pool: self.pool.len(),
            draws: (self.draws.len(), usable),
            effective: effective(weights),
        })
    }
}

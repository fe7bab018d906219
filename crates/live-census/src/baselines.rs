//! Published estimators of sizes and ratios, run through the same interface, so that they can be compared with [`crate::size`] and
//! [`mod@crate::compare`] at the same cost.
//!
//! Each gives its estimate, its cost, and one sentence on its known bias. A budget that ends is no error: the draws until then are
//! used. To compare them, give each an [`EngineClient`] and a budget of its own; the list is [`SIZE_BASELINES`] and [`RATIO_BASELINES`].
//!
//! - [`broder`]: Broder and others 2006, with one pool of queries and with two
//! - [`captures`]: capture and recapture on what random words find
//! - [`lower_bound`]: one query for frequent words
//! - [`bharat_broder`]: Bharat and Broder 1998, ratios from the overlap of engines
//! - [`lawrence_giles`]: Lawrence and Giles 1998, ratios from counts of results
//! - `lexicon`: queries of two words

pub mod bharat_broder;
pub mod broder;
pub mod captures;
pub mod lawrence_giles;
mod lexicon;
pub mod lower_bound;

use lookalike_census::Estimate;
use lookalike_search_engines::EngineError;

use crate::engine_client::{Cost, EngineClient};

/// The parameters of a baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Most random queries; the budget of the engine ends them sooner, as a rule.
    pub queries: usize,
    /// The seed of every random choice.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { queries: 10_000, seed: 0 }
    }
}

/// The result of one estimator.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// The name of the estimator.
    pub name: &'static str,
    /// Pages of the engine, or the size of the first engine divided by that of the second; none when too little was seen.
    pub estimate: Option<Estimate>,
    /// The cost of the estimate.
    pub cost: Cost,
    /// The known bias, in one sentence.
    pub bias: &'static str,
}

/// Estimators of a size that share their queries.
pub type SizeBaseline = fn(&mut EngineClient<'_>, &Plan) -> Result<Vec<Baseline>, EngineError>;

/// Estimators of a ratio that share their queries.
pub type RatioBaseline =
    fn(&mut EngineClient<'_>, &mut EngineClient<'_>, &Plan) -> Result<Vec<Baseline>, EngineError>;

/// All estimators of a size.
pub const SIZE_BASELINES: [SizeBaseline; 6] = [
    broder::one_pool,
    broder::one_pool_of_all_words,
    broder::two_halves,
    broder::words_and_numbers,
    captures::captures,
    lower_bound::lower_bound,
];

/// All estimators of a ratio.
pub const RATIO_BASELINES: [RatioBaseline; 2] = [bharat_broder::ratio, lawrence_giles::ratios];

/// A budget that is used up ends a sample and does not spoil it; other errors are passed on.
fn unless_spent(sampled: Result<(), EngineError>) -> Result<(), EngineError> {
    match sampled {
        Err(EngineError::Spent { .. }) => Ok(()),
        other => other,
    }
}

#[cfg(all(test, feature = "tantivy"))]
mod tests;

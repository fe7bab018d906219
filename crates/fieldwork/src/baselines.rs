//! What others would have said: published estimators of sizes and ratios, asked through the same desk, so that they can stand beside
//! [`crate::size`] and [`mod@crate::compare`] at the same cost.
//!
//! Each gives its estimate, what that cost, and one sentence on how it is known to be wrong. A budget that ends is no mistake: what was
//! learned until then is used. Whoever compares them gives each a desk and a budget of its own; the list is [`SIZES`] and [`RATIOS`].
//!
//! - [`broder`]: Broder and others 2006, with one pool of queries and with two
//! - [`captures`]: capture and recapture on what random words find
//! - [`lower_bound`]: one query for frequent words
//! - [`bharat_broder`]: Bharat and Broder 1998, ratios from what engines share
//! - [`lawrence_giles`]: Lawrence and Giles 1998, ratios from counts of results
//! - `lexicon`: queries of two words

pub mod bharat_broder;
pub mod broder;
pub mod captures;
pub mod lawrence_giles;
mod lexicon;
pub mod lower_bound;

use lookalike_census::Estimate;
use lookalike_engines::EngineError;

use crate::desk::{Cost, Desk};

/// How a baseline is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Most random queries; the budget of the engine ends them sooner, as a rule.
    pub queries: usize,
    /// What all chance follows from.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { queries: 10_000, seed: 0 }
    }
}

/// What one estimator says.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// Which one.
    pub name: &'static str,
    /// Pages of the engine, or how many times as many the first engine has as the second; none when too little was seen.
    pub estimate: Option<Estimate>,
    /// What it took.
    pub cost: Cost,
    /// How it is known to be wrong.
    pub bias: &'static str,
}

/// Estimators of a size that share their queries.
pub type OfSize = fn(&mut Desk<'_>, &Plan) -> Result<Vec<Baseline>, EngineError>;

/// Estimators of a ratio that share their queries.
pub type OfRatio = fn(&mut Desk<'_>, &mut Desk<'_>, &Plan) -> Result<Vec<Baseline>, EngineError>;

/// All estimators of a size.
pub const SIZES: [OfSize; 6] = [
    broder::one_pool,
    broder::one_pool_of_all_words,
    broder::two_halves,
    broder::words_and_numbers,
    captures::captures,
    lower_bound::lower_bound,
];

/// All estimators of a ratio.
pub const RATIOS: [OfRatio; 2] = [bharat_broder::ratio, lawrence_giles::ratios];

/// A budget that is used up ends a sample and does not spoil it; other errors are passed on.
fn unless_spent(sampled: Result<(), EngineError>) -> Result<(), EngineError> {
    match sampled {
        Err(EngineError::Spent { .. }) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests;

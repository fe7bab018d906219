//! The number of pages that an engine claims for a query that nearly every page matches.

use lookalike_census::Estimate;
use lookalike_search_engines::EngineError;

use super::{Baseline, Plan, unless_spent};
use crate::engine_client::EngineClient;

/// Words of the query.
pub const WORDS: usize = 50;

const BIAS: &str = "pages without any of the words are missing, and the count is the engine's own word; where it tells none, \
                    only what it shows is counted";

/// Returns the number of pages with any of the most frequent own words by the engine's own count, or else the number that it shows.
/// The interval has no upper end.
pub fn lower_bound(client: &mut EngineClient<'_>, _: &Plan) -> Result<Vec<Baseline>, EngineError> {
    let words = client.own().most_frequent(WORDS);
    let before = client.cost();
    let mut counted = None;
    unless_spent(client.search_any(&words).map(|results| {
        counted = results.map(|results| results.claimed.unwrap_or(results.urls.len() as u64) as f64);
    }))?;
    let estimate = counted.map(|value| Estimate { value, error: 0.0, interval: (value, f64::INFINITY) });
    Ok(vec![Baseline { name: "lower-bound", estimate, cost: client.cost() - before, bias: BIAS }])
}

//! The number of pages of an index when near-duplicates count once.
//!
//! For a page that was met, the engine is asked for its near-duplicates by a strong query; a page that is one of `c` counts `1/c`.
//! The weighted mean of that is the share of the index that is left when of each class one stays. Near-duplicates that a strong
//! query does not find are not seen, so the share may be too high, never too low by much.

use lookalike_census::{Estimate, Random};
use lookalike_search_engines::EngineError;

use crate::engine_client::{EngineClient, PageId};
use crate::presence::{SAME_PAGE_SIMILARITY, STRONG_QUERY_WORDS};
use crate::sampling::{Draw, effective};

/// Results of a strong query that are looked at.
const LOOKED_AT: usize = 20;

/// Rounds of a bootstrap.
const ROUNDS: u64 = 400;

/// Estimates the share of an index that is left when of near-duplicates one stays, from one page of each draw and at most `most`
/// pages, and returns it with their number; nothing when no page could be asked for. An empty budget ends it without an error.
pub fn distinct(
    client: &mut EngineClient<'_>,
    draws: &[Draw],
    most: usize,
    seed: u64,
) -> Result<Option<(Estimate, usize)>, EngineError> {
    let mut seen: Vec<(f64, f64)> = Vec::new();
    for (draw, sampled) in draws.iter().filter_map(|draw| Some((draw, draw.pages.first()?))) {
        if seen.len() == most {
            break;
        }
        match near_duplicates(client, sampled.page) {
            Ok(Some(count)) => {
                // It stands for the others that were met as well.
                let weight = sampled.weight * draw.pages.len() as f64;
                seen.push((weight, weight / count as f64));
            }
            Ok(None) => {}
            Err(EngineError::Spent { .. }) => break,
            Err(error) => return Err(error),
        }
    }
    let share = |seen: &mut dyn Iterator<Item = &(f64, f64)>| {
        let (all, left) = seen.fold((0.0, 0.0), |(all, left), pair| (all + pair.0, left + pair.1));
        (all > 0.0).then(|| left / all)
    };
    let Some(value) = share(&mut seen.iter()) else { return Ok(None) };
    let draw = |round| {
        let mut random = Random::part(seed, round);
        share(&mut (0..seen.len()).filter_map(|_| random.pick(&seen)))
    };
    let Some(spread) = Estimate::from_draws(value, (0..ROUNDS).filter_map(draw).collect()) else {
        return Ok(None);
    };
    let as_good = effective(seen.iter().map(|pair| pair.0));
    Ok(Some((Estimate::share_with(value, spread.error, as_good), seen.len())))
}

/// Returns the number of pages of the engine that are like this one, itself included; nothing when that cannot be asked.
fn near_duplicates(client: &mut EngineClient<'_>, page: PageId) -> Result<Option<usize>, EngineError> {
    let Some(contents) = client.fetched_words(page).cloned() else { return Ok(None) };
    let query = client.own().rarest(&contents.known, STRONG_QUERY_WORDS);
    if query.is_empty() {
        return Ok(None);
    }
    let Some(results) = client.search_all(&query)? else { return Ok(None) };
    let mut count = 1;
    for &other in results.iter().filter(|&&other| other != page).take(LOOKED_AT) {
        count += usize::from(
            client.fetch_words(other)?.is_some_and(|other| other.jaccard(&contents) >= SAME_PAGE_SIMILARITY),
        );
    }
    Ok(Some(count))
}

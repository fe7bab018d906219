//! The ratio of the sizes of two engines by their results for the same queries, after Lawrence and Giles (1998, 1999).
//!
//! They had queries of users; here two random words take the place of one. Only queries count for which both engines show all that
//! they have, fewer than 600 pages together, and only results that have the words on them. A page is in both when its address is.

use std::collections::HashSet;

use lookalike_census::Random;
use lookalike_census::result_ratios::{self, Counts};
use lookalike_search_engines::EngineError;

use super::lexicon::Lexicon;
use super::{Baseline, Plan, unless_spent};
use crate::engine_client::{EngineClient, PageId, PageWords};
use crate::own_corpus::WordId;

/// Queries with at least this number of results in both engines together do not count.
const MOST: usize = 600;

const MEAN: &str = "a mean of ratios is above the ratio of sums, queries that either engine has nothing for drop out, and long \
                    pages are met above all";
const OF_SUMS: &str = "the ratio is that of pages as queries meet them, long ones above all";
const GEOMETRIC: &str = "queries that either engine has nothing for drop out, which draws the ratio towards 1; long pages are \
                         met above all";

/// Estimates `|A|/|B|` by counts of results, averaged in three ways. Both clients must have the same own corpus, whose words are
/// the queries.
pub fn ratios(
    a: &mut EngineClient<'_>,
    b: &mut EngineClient<'_>,
    plan: &Plan,
) -> Result<Vec<Baseline>, EngineError> {
    let lexicon = Lexicon::new(a.own());
    let mut random = Random::part(plan.seed, 0);
    let before = a.cost() + b.cost();
    let mut counts = Vec::new();
    unless_spent((0..plan.queries).try_for_each(|_| {
        if let Some(query) = lexicon.pair(&mut random) {
            counts.extend(counted(a, b, query)?);
        }
        Ok(())
    }))?;
    let found = result_ratios::ratios(&counts, plan.seed);
    let cost = a.cost() + b.cost() - before;
    let baseline = |name, estimate, bias| Baseline { name, estimate, cost, bias };
    Ok(vec![
        baseline("lawrence-giles", found.map(|found| found.mean), MEAN),
        baseline("lawrence-giles-sums", found.map(|found| found.of_sums), OF_SUMS),
        baseline("lawrence-giles-geometric", found.map(|found| found.geometric), GEOMETRIC),
    ])
}

/// Counts the results of both engines for a query; nothing when it does not count.
fn counted(
    a: &mut EngineClient<'_>,
    b: &mut EngineClient<'_>,
    query: [WordId; 2],
) -> Result<Option<Counts>, EngineError> {
    let (Some(in_a), Some(in_b)) = (a.search_all(&query)?, b.search_all(&query)?) else { return Ok(None) };
    // An engine that shows as many as it ever does may have more.
    let capped = in_a.len() >= a.limit() || in_b.len() >= b.limit();
    if capped || in_a.len() + in_b.len() >= MOST {
        return Ok(None);
    }
    let (in_a, in_b) = (verified(a, &in_a, query)?, verified(b, &in_b, query)?);
    let both = in_a.intersection(&in_b).count() as u64;
    Ok(Some(Counts { a: in_a.len() as u64, b: in_b.len() as u64, both }))
}

/// The addresses of those results that have all words of the query on them.
fn verified(
    client: &mut EngineClient<'_>,
    results: &[PageId],
    query: [WordId; 2],
) -> Result<HashSet<String>, EngineError> {
    let mut urls = HashSet::new();
    for &page in results {
        let has = |contents: &PageWords| query.iter().all(|word| contents.known.binary_search(word).is_ok());
        if client.fetch_words(page)?.is_some_and(has) {
            urls.insert(client.url(page).to_owned());
        }
    }
    Ok(urls)
}

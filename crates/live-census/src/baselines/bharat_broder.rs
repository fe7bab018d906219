//! The ratio of the sizes of two engines, after Bharat and Broder (1998): a random query of two words, one of the first hundred
//! results, each as likely, and a strong query to the other engine, in both directions.

use lookalike_census::Random;
use lookalike_census::relative_size::relative_size;
use lookalike_search_engines::EngineError;

use super::lexicon::Lexicon;
use super::{Baseline, Plan, unless_spent};
use crate::engine_client::EngineClient;
use crate::presence;

/// Results that a page is picked from.
const SHOWN: usize = 100;

const BIAS: &str = "the ratio is that of pages as queries meet them, long and highly ranked ones above all, and does not get \
                    better with more queries; strong queries miss a few pages";

/// Estimates `|A|/|B|` by the share of either that is in the other. Both clients must have the same own corpus, whose words are the
/// lexicon.
pub fn ratio(
    a: &mut EngineClient<'_>,
    b: &mut EngineClient<'_>,
    plan: &Plan,
) -> Result<Vec<Baseline>, EngineError> {
    let lexicon = Lexicon::new(a.own());
    let mut random = Random::part(plan.seed, 0);
    let before = a.cost() + b.cost();
    // Found and asked: pages of A in B, and of B in A.
    let mut counts = [(0, 0); 2];
    unless_spent((0..plan.queries).try_for_each(|turn| {
        let direction = turn % 2;
        let found = if direction == 0 {
            drawn_and_found(a, b, &lexicon, &mut random)?
        } else {
            drawn_and_found(b, a, &lexicon, &mut random)?
        };
        if let Some(found) = found {
            let (both, all) = &mut counts[direction];
            (*both, *all) = (*both + u64::from(found), *all + 1);
        }
        Ok(())
    }))?;
    let estimate = relative_size(counts[0], counts[1]);
    Ok(vec![Baseline { name: "bharat-broder", estimate, cost: a.cost() + b.cost() - before, bias: BIAS }])
}

/// Draws a page of one engine and looks for it in the other; nothing when none was drawn, or there was no answer.
fn drawn_and_found(
    from: &mut EngineClient<'_>,
    to: &mut EngineClient<'_>,
    lexicon: &Lexicon,
    random: &mut Random,
) -> Result<Option<bool>, EngineError> {
    let Some(query) = lexicon.pair(random) else { return Ok(None) };
    let results = from.search_all(&query)?.unwrap_or_default();
    let Some(&page) = random.pick(&results[..results.len().min(SHOWN)]) else { return Ok(None) };
    let Some(contents) = from.fetch_words(page)?.cloned() else { return Ok(None) };
    Ok(presence::by_strong_query(to, from.url(page), &contents)?.found())
}

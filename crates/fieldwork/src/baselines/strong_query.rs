//! Whether an engine has a page of another one, by a query of the page's rarest words.

use lookalike_engines::EngineError;

use super::asking::Asking;
use crate::desk::Contents;

/// Words of a query.
const WORDS: usize = 8;

/// Results that are looked at.
const LOOKED_AT: usize = 10;

/// Pages whose words are so similar are one.
const SAME: f64 = 0.9;

/// Whether the page is among the first results, by its address or by what is on them; nothing when the engine keeps silent or the page
/// has no word that could be asked for.
pub(super) fn has(
    asking: &mut Asking<'_, '_>,
    url: &str,
    page: &Contents,
) -> Result<Option<bool>, EngineError> {
    let words = asking.desk().own().rarest(&page.known, WORDS);
    if words.is_empty() {
        return Ok(None);
    }
    let Some(mut results) = asking.all_of(&words)? else { return Ok(None) };
    results.truncate(LOOKED_AT);
    if results.iter().any(|&result| asking.desk().url(result) == url) {
        return Ok(Some(true));
    }
    for result in results {
        if asking.contents(result)?.is_some_and(|contents| contents.jaccard(page) >= SAME) {
            return Ok(Some(true));
        }
    }
    Ok(Some(false))
}

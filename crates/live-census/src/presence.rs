//! The test for the presence of a page in an engine: by its address if the engine can be asked for one, and if it is not found so,
//! by a strong query of the page's rarest words.
//!
//! With a strong query a page counts as present when its address, in canonical form, is among the results, or a page that has
//! almost the same words. Pages without a word of the own corpus cannot be asked for.

use lookalike_overlap::canonical::canonical;
use lookalike_search_engines::EngineError;

use crate::engine_client::{EngineClient, PageWords};

/// Words of a strong query.
pub const STRONG_QUERY_WORDS: usize = 8;

/// Share of words in common from which on two pages count as the same.
pub const SAME_PAGE_SIMILARITY: f64 = 0.9;

/// Results of a strong query that are looked at.
const LOOKED_AT: usize = 5;

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The engine has the address.
    Present,
    /// It has another page with almost the same words.
    NearDuplicate,
    /// It has neither.
    Missing,
    /// It did not answer, or there is nothing to ask for.
    Unknown,
}

impl Presence {
    /// Returns true if the page is there; nothing if that is not known.
    pub fn found(self) -> Option<bool> {
        match self {
            Presence::Present | Presence::NearDuplicate => Some(true),
            Presence::Missing => Some(false),
            Presence::Unknown => None,
        }
    }
}

/// Looks for a page of another engine.
pub fn look_for(
    client: &mut EngineClient<'_>,
    url: &str,
    contents: &PageWords,
) -> Result<Presence, EngineError> {
    match client.engine().has(url) {
        Some(Ok(true)) => Ok(Presence::Present),
        Some(Err(error)) if !error.is_transient() => Err(error),
        // An engine may have the page under another address.
        _ => by_strong_query(client, url, contents),
    }
}

/// Looks for a page of another engine by its rarest words.
pub fn by_strong_query(
    client: &mut EngineClient<'_>,
    url: &str,
    contents: &PageWords,
) -> Result<Presence, EngineError> {
    let query = client.own().rarest(&contents.known, STRONG_QUERY_WORDS);
    if query.is_empty() {
        return Ok(Presence::Unknown);
    }
    let Some(results) = client.search_all(&query)? else { return Ok(Presence::Unknown) };
    let wanted = canonical(url);
    if results.iter().any(|&page| canonical(client.url(page)) == wanted) {
        return Ok(Presence::Present);
    }
    for &page in results.iter().take(LOOKED_AT) {
        if client.fetch_words(page)?.is_some_and(|other| other.jaccard(contents) >= SAME_PAGE_SIMILARITY) {
            return Ok(Presence::NearDuplicate);
        }
    }
    Ok(Presence::Missing)
}

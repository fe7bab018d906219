//! The test for the presence of a page in an engine: by its address if the engine can be asked for one, and if it is not found so,
//! by a strong query of the page's rarest words.
//!
//! With a strong query a page counts as present when its address, in canonical form, is among the results, or a page that has
//! almost the same words. Pages without a word of the own corpus cannot be asked for.

use lookalike_engines::EngineError;
use lookalike_overlap::canonical::canonical;

use crate::desk::{Contents, Desk};

/// Words of a strong query.
pub const STRONG: usize = 8;

/// Share of words in common from which on two pages count as the same.
pub const SAME: f64 = 0.9;

/// Results of a strong query that are looked at.
const LOOKED_AT: usize = 5;

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The engine has the address.
    There,
    /// It has another page with almost the same words.
    Alike,
    /// It has neither.
    Missing,
    /// It did not answer, or there is nothing to ask for.
    Unknown,
}

impl Presence {
    /// Returns true if the page is there; nothing if that is not known.
    pub fn found(self) -> Option<bool> {
        match self {
            Presence::There | Presence::Alike => Some(true),
            Presence::Missing => Some(false),
            Presence::Unknown => None,
        }
    }
}

/// Looks for a page of another engine.
pub fn look_for(desk: &mut Desk<'_>, url: &str, contents: &Contents) -> Result<Presence, EngineError> {
    match desk.engine().has(url) {
        Some(Ok(true)) => Ok(Presence::There),
        Some(Err(error)) if !error.is_transient() => Err(error),
        // An engine may have the page under another address.
        _ => by_strong_query(desk, url, contents),
    }
}

/// Looks for a page of another engine by its rarest words.
pub fn by_strong_query(desk: &mut Desk<'_>, url: &str, contents: &Contents) -> Result<Presence, EngineError> {
    let query = desk.own().rarest(&contents.known, STRONG);
    if query.is_empty() {
        return Ok(Presence::Unknown);
    }
    let Some(results) = desk.search_all(&query)? else { return Ok(Presence::Unknown) };
    let wanted = canonical(url);
    if results.iter().any(|&page| canonical(desk.url(page)) == wanted) {
        return Ok(Presence::There);
    }
    for &page in results.iter().take(LOOKED_AT) {
        if desk.contents(page)?.is_some_and(|other| other.jaccard(contents) >= SAME) {
            return Ok(Presence::Alike);
        }
    }
    Ok(Presence::Missing)
}

//! The queries to a search engine, and its answers.
//!
//! The interface asks for no more than any engine can do: words in, addresses out, and the page behind an address. Whatever an
//! engine says beyond that (how many pages match, whether there are more) is its own claim, and may be wrong.

use std::fmt::{self, Display};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The wait reported for a question that is of no use to ask again, although others may be answered.
pub const NEVER_RETRY: Duration = Duration::MAX;

/// The words of a query that must be on a page: all or any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Join {
    /// Each of them.
    All,
    /// At least one of them.
    Any,
}

/// A query: words, all of which (or any of which) must be on a page.
///
/// Words are plain text. An engine cuts them by its own rules, and none of their characters means anything else to it: a quotation
/// mark, an asterisk or the word `OR` is looked for like any other, or for want of letters matches nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// The words, in the order asked.
    pub words: Vec<String>,
    /// The words that must be on a page: all or any.
    pub join: Join,
}

impl Query {
    /// Pages with all of these words.
    pub fn all<W: Into<String>>(words: impl IntoIterator<Item = W>) -> Self {
        Query { words: words.into_iter().map(Into::into).collect(), join: Join::All }
    }

    /// Pages with at least one of these words.
    pub fn any<W: Into<String>>(words: impl IntoIterator<Item = W>) -> Self {
        Query { words: words.into_iter().map(Into::into).collect(), join: Join::Any }
    }
}

impl Display for Query {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let between = match self.join {
            Join::All => " AND ",
            Join::Any => " OR ",
        };
        to.write_str(&self.words.join(between))
    }
}

/// The answer of an engine to a query.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// Addresses in the engine's order, at most as many as were asked for.
    pub urls: Vec<String>,
    /// True if there are others that are not shown.
    pub more: bool,
    /// The number of matching pages by the engine's own claim, if it makes one.
    pub claimed: Option<u64>,
}

/// A page as fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchedPage {
    /// The address it was asked for by.
    pub url: String,
    /// Its text, without markup.
    pub text: String,
}

/// A search engine under study.
pub trait SearchEngine: Send {
    /// Returns its name in tables and in its transcript.
    fn name(&self) -> &str;

    /// Returns the kind of engine: `tantivy`, `sqlite`, `http`, or the kind in a transcript.
    fn kind(&self) -> &str;

    /// Returns a fingerprint that tells it from another engine of the same name and kind, such as a digest of what is indexed; empty if
    /// there is none.
    fn fingerprint(&self) -> &str {
        ""
    }

    /// Most results it ever shows for one query.
    fn cap(&self) -> usize;

    /// Returns the wait between two calls, unless the caller sets another.
    fn pause(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns true if all answers come from a record, so that asking twice is of no use.
    fn is_record(&self) -> bool {
        false
    }

    /// Searches for pages that match, at most `limit` of them.
    fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError>;

    /// Fetches the page behind an address; nothing if the engine says that there is no such page.
    fn fetch(&mut self, url: &str) -> Result<Option<FetchedPage>, EngineError>;

    /// Returns true if [`has`](Self::has) is answered.
    fn knows_addresses(&self) -> bool {
        false
    }

    /// Returns true if it has an address; nothing if it cannot be asked.
    fn has(&mut self, _url: &str) -> Option<Result<bool, EngineError>> {
        None
    }
}

impl<E: SearchEngine + ?Sized> SearchEngine for Box<E> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn kind(&self) -> &str {
        (**self).kind()
    }

    fn fingerprint(&self) -> &str {
        (**self).fingerprint()
    }

    fn cap(&self) -> usize {
        (**self).cap()
    }

    fn pause(&self) -> Duration {
        (**self).pause()
    }

    fn is_record(&self) -> bool {
        (**self).is_record()
    }

    fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError> {
        (**self).search(query, limit)
    }

    fn fetch(&mut self, url: &str) -> Result<Option<FetchedPage>, EngineError> {
        (**self).fetch(url)
    }

    fn knows_addresses(&self) -> bool {
        (**self).knows_addresses()
    }

    fn has(&mut self, url: &str) -> Option<Result<bool, EngineError>> {
        (**self).has(url)
    }
}

/// The reason why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// A time-out, an error of the server, an answer that cannot be read: the next try, or the next question, may fare better.
    #[error("{engine} did not answer {what}: {why}; ask again later")]
    Unanswered {
        /// The engine.
        engine: String,
        /// The question.
        what: String,
        /// The reason.
        why: String,
        /// The wait that the engine asks for, if it does; [`NEVER_RETRY`] when another try is of no use.
        after: Option<Duration>,
    },
    /// No more may be asked.
    #[error(
        "the budget of {budget} {what} to {engine} is used up; allow more, or be content with what is known"
    )]
    Spent {
        /// The engine.
        engine: String,
        /// The unit of the budget: calls or fetches.
        what: &'static str,
        /// The number allowed.
        budget: u64,
    },
    /// A transcript does not have this question.
    #[error(
        "the transcript of {engine} has no answer to {what}; give the own documents, seed, limit and budgets that it was made with, or ask the engine itself"
    )]
    NotRecorded {
        /// The engine.
        engine: String,
        /// The question.
        what: String,
    },
    /// It cannot be asked at all.
    #[error("{}{why}", prefix(engine))]
    Broken {
        /// The engine, or what was to become one.
        engine: String,
        /// The fault, and the remedy.
        why: String,
    },
}

impl EngineError {
    /// Returns true if only this question failed, and others may be answered.
    pub fn is_transient(&self) -> bool {
        matches!(self, EngineError::Unanswered { .. })
    }

    /// A fatal mistake.
    pub(crate) fn broken(engine: impl Into<String>, why: impl Display) -> Self {
        EngineError::Broken { engine: engine.into(), why: why.to_string() }
    }
}

/// The name of an engine before a sentence about it; nothing where it is not known yet, as of a transcript that cannot be read.
fn prefix(engine: &str) -> String {
    if engine.is_empty() { String::new() } else { format!("{engine}: ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows one page.
    struct OnePageEngine;

    impl SearchEngine for OnePageEngine {
        fn name(&self) -> &str {
            "one"
        }

        fn kind(&self) -> &str {
            "test"
        }

        fn cap(&self) -> usize {
            1
        }

        fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError> {
            let urls = query.words.iter().take(limit).cloned().collect();
            Ok(Results { urls, more: false, claimed: None })
        }

        fn fetch(&mut self, _: &str) -> Result<Option<FetchedPage>, EngineError> {
            Ok(None)
        }
    }

    #[test]
    fn a_boxed_engine_is_an_engine() {
        fn asked(mut engine: impl SearchEngine) -> (String, Results, bool) {
            let results = engine.search(&Query::all(["a", "b"]), 1).unwrap();
            (engine.name().to_owned(), results, engine.has("a").is_none())
        }
        let boxed: Box<dyn SearchEngine> = Box::new(OnePageEngine);
        let results = Results { urls: vec!["a".to_owned()], more: false, claimed: None };
        assert_eq!(asked(boxed), ("one".to_owned(), results, true));
    }

    #[test]
    fn only_silence_passes() {
        let engine = || "e".to_owned();
        let silent = EngineError::Unanswered {
            engine: engine(),
            what: "a AND b".to_owned(),
            why: "time-out".to_owned(),
            after: None,
        };
        assert!(silent.is_transient() && !EngineError::broken("e", "gone").is_transient());
        assert_eq!(silent.to_string(), "e did not answer a AND b: time-out; ask again later");
        let spent = EngineError::Spent { engine: engine(), what: "calls", budget: 5 };
        assert!(!spent.is_transient());
    }
}

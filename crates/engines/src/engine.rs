//! What a search engine is asked, and what it answers.
//!
//! The interface asks for no more than any engine can do: words in, addresses out, and the page behind an address. Whatever an
//! engine says beyond that (how many pages match, whether there are more) is its own word, and may be wrong.

use std::fmt::{self, Display};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Says of a question that asking it again is of no use, although others may be answered.
pub const FOR_EVER: Duration = Duration::MAX;

/// How many of the words must be on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Join {
    /// Each of them.
    All,
    /// At least one of them.
    Any,
}

/// What is asked: words, all of which (or any of which) must be on a page.
///
/// Words are plain text. An engine cuts them by its own rules, and none of their characters means anything else to it: a quotation
/// mark, an asterisk or the word `OR` is looked for like any other, or for want of letters matches nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// The words, in the order asked.
    pub words: Vec<String>,
    /// How many of them must be there.
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

/// What an engine answers to a query.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// Addresses in the engine's order, at most as many as were asked for.
    pub urls: Vec<String>,
    /// There are others that are not shown.
    pub more: bool,
    /// How many pages match, by the engine's own word, where it says so.
    pub claimed: Option<u64>,
}

/// A page as fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fetched {
    /// The address it was asked for by.
    pub url: String,
    /// Its text, without markup.
    pub text: String,
}

/// A search engine under study.
pub trait SearchEngine: Send {
    /// What it is called in tables and in its transcript.
    fn name(&self) -> &str;

    /// What sort of engine it is: `tantivy`, `sqlite`, `http`, or what a transcript says.
    fn kind(&self) -> &str;

    /// What tells it from another engine of the same name and kind, such as a digest of what is indexed; empty where nothing does.
    fn mark(&self) -> &str {
        ""
    }

    /// Most results it ever shows for one query.
    fn cap(&self) -> usize;

    /// How long to wait between two calls, unless somebody asks for more.
    fn pause(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether all answers come from a record, so that asking twice is of no use.
    fn is_record(&self) -> bool {
        false
    }

    /// Pages that match, at most `limit` of them.
    fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError>;

    /// The page behind an address; nothing when it says that there is no such page.
    fn fetch(&mut self, url: &str) -> Result<Option<Fetched>, EngineError>;

    /// Whether [`has`](Self::has) is answered.
    fn knows_addresses(&self) -> bool {
        false
    }

    /// Whether it has an address, where it can be asked; nothing where it cannot.
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

    fn mark(&self) -> &str {
        (**self).mark()
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

    fn fetch(&mut self, url: &str) -> Result<Option<Fetched>, EngineError> {
        (**self).fetch(url)
    }

    fn knows_addresses(&self) -> bool {
        (**self).knows_addresses()
    }

    fn has(&mut self, url: &str) -> Option<Result<bool, EngineError>> {
        (**self).has(url)
    }
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// A time-out, an error of the server, an answer that cannot be read: the next try, or the next question, may fare better.
    #[error("{engine} did not answer {what}: {why}; ask again later")]
    Unanswered {
        /// The engine.
        engine: String,
        /// The question.
        what: String,
        /// What happened.
        why: String,
        /// How long the engine wants to be left alone, where it says so; [`FOR_EVER`] when another try is of no use.
        after: Option<Duration>,
    },
    /// No more may be asked.
    #[error(
        "the budget of {budget} {what} to {engine} is used up; allow more, or be content with what is known"
    )]
    Spent {
        /// The engine.
        engine: String,
        /// What is counted: calls or fetches.
        what: &'static str,
        /// How many were allowed.
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
    #[error("{engine}: {why}")]
    Broken {
        /// The engine, or what was to become one.
        engine: String,
        /// What is wrong, and what to do.
        why: String,
    },
}

impl EngineError {
    /// Whether only this question failed, and others may fare better.
    pub fn is_transient(&self) -> bool {
        matches!(self, EngineError::Unanswered { .. })
    }

    /// A fatal mistake.
    pub(crate) fn broken(engine: impl Into<String>, why: impl Display) -> Self {
        EngineError::Broken { engine: engine.into(), why: why.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows one page.
    struct One;

    impl SearchEngine for One {
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

        fn fetch(&mut self, _: &str) -> Result<Option<Fetched>, EngineError> {
            Ok(None)
        }
    }

    #[test]
    fn a_boxed_engine_is_an_engine() {
        fn asked(mut engine: impl SearchEngine) -> (String, Results, bool) {
            let results = engine.search(&Query::all(["a", "b"]), 1).unwrap();
            (engine.name().to_owned(), results, engine.has("a").is_none())
        }
        let boxed: Box<dyn SearchEngine> = Box::new(One);
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

//! A question and its answer, as a transcript holds them.

use std::fmt::{self, Display};

use lookalike_hash::{digest, nth};
use serde::{Deserialize, Serialize};

use crate::engine::{EngineError, FetchedPage, Query, Results, SearchEngine};

/// Anything that an engine is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Question {
    /// A search for pages that match.
    Search {
        /// The words.
        query: Query,
        /// Most addresses wanted.
        limit: usize,
    },
    /// A request for the text of a page.
    Fetch {
        /// Its address.
        url: String,
    },
    /// The question whether the engine has an address.
    Has {
        /// The address.
        url: String,
    },
}

impl Question {
    /// Returns true if it asks for a page; else it is a call.
    pub(crate) fn is_fetch(&self) -> bool {
        matches!(self, Question::Fetch { .. })
    }

    /// Returns a key that tells it from all other questions.
    pub(crate) fn key(&self) -> u128 {
        let (kind, limit, words) = match self {
            Question::Search { query, limit } => (query.join as u8, *limit as u64, &query.words[..]),
            Question::Fetch { url } => (2, 0, std::slice::from_ref(url)),
            Question::Has { url } => (3, 0, std::slice::from_ref(url)),
        };
        let mut bytes = vec![kind];
        bytes.extend_from_slice(&limit.to_le_bytes());
        for word in words {
            // Lengths stand before words, so that no two lists run together to the same bytes.
            bytes.extend_from_slice(&(word.len() as u64).to_le_bytes());
            bytes.extend_from_slice(word.as_bytes());
        }
        digest(&bytes)
    }

    /// Returns a number from 0 to 1, 1 excluded, that follows from the question, a seed and a count: a run that is resumed meets
    /// the same chance.
    pub(crate) fn chance(&self, seed: u64, count: u64) -> f64 {
        let key = self.key();
        let bits = nth(count + 1, nth(seed, key as u64) ^ (key >> 64) as u64);
        (bits >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Asks an engine.
    pub(crate) fn ask(&self, engine: &mut (impl SearchEngine + ?Sized)) -> Result<Answer, EngineError> {
        match self {
            Question::Search { query, limit } => engine.search(query, *limit).map(Answer::Results),
            Question::Fetch { url } => engine.fetch(url).map(Answer::Page),
            Question::Has { url } => match engine.has(url) {
                Some(answer) => answer.map(Answer::Has),
                None => Err(EngineError::broken(engine.name(), "it cannot be asked for an address")),
            },
        }
    }
}

impl Display for Question {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Search { query, .. } => write!(to, "the query {query}"),
            Question::Fetch { url } => write!(to, "the request for {url}"),
            Question::Has { url } => write!(to, "whether it has {url}"),
        }
    }
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Answer {
    /// The results of a search.
    Results(Results),
    /// The page of a fetch; nothing if there is no such page.
    Page(Option<FetchedPage>),
    /// True if the engine has an address.
    Has(bool),
    /// No answer after all tries; the reason.
    Failed(String),
}

/// One line of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The question.
    pub ask: Question,
    /// The number of tries that it took.
    pub tries: u32,
    /// The answer.
    pub answer: Answer,
    /// The answer when it was asked once more, to see if it is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Answer>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(words: &[&str], limit: usize) -> Question {
        Question::Search { query: Query::all(words.iter().copied()), limit }
    }

    #[test]
    fn different_questions_have_different_keys() {
        let any = Question::Search { query: Query::any(["ab", "c"]), limit: 9 };
        let (fetch, has) = (Question::Fetch { url: "ab".into() }, Question::Has { url: "ab".into() });
        let others = [search(&["a", "bc"], 9), search(&["abc"], 9), search(&["ab", "c"], 8), any, fetch, has];
        let mut keys: Vec<u128> = others.iter().map(Question::key).collect();
        assert!(!keys.contains(&search(&["ab", "c"], 9).key()));
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), others.len());
    }

    #[test]
    fn chance_is_even_and_comes_back() {
        let chances: Vec<f64> = (0..4_000).map(|count| search(&["a"], 9).chance(7, count)).collect();
        let mean = chances.iter().sum::<f64>() / chances.len() as f64;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        assert_eq!(chances[5], search(&["a"], 9).chance(7, 5));
        assert_ne!(chances[5], search(&["b"], 9).chance(7, 5));
        assert_ne!(chances[5], search(&["a"], 9).chance(8, 5));
    }
}

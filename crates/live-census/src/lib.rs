//! Measurements of search engines within a budget: the size of an index, the overlap of two of them, and the properties of a random
//! page of theirs.
//!
//! The measurer has documents of its own ([`OwnCorpus`]), whose words are the queries; the [`EngineClient`] asks an engine and
//! remembers its answers; queries are drawn from a [`Pool`], and pages from their results ([`sampling`]). The estimates from the
//! draws are made here and in `lookalike-census`, which has estimators and no engines.
//!
//! - [`words`]: words as engines cut them
//! - [`own_corpus`]: the documents of the measurer
//! - [`engine_client`]: asking, fetching, remembering
//! - [`pool`]: the queries, and the probability of drawing each
//! - [`sampling`]: pages with the weights that make them uniform
//! - [`size`]: the size of an index; [`classes`]: the size without near-duplicates
//! - [`presence`]: the test whether an engine has a page; [`mod@compare`]: the overlap of engines; [`coverage`]: the share of a web
//!   that an engine has
//! - [`baselines`]: published estimators, for comparison
//! - [`regression`]: the reduction of the error by a known mean
//!
//! `examples/known` builds engines of known size, or asks one over HTTP, and prints the errors of all estimators;
//! `scripts/census` does so with the commands. Figures are in `docs/census.md`.

pub mod baselines;
pub mod classes;
pub mod compare;
pub mod coverage;
pub mod engine_client;
pub mod own_corpus;
pub mod pool;
pub mod presence;
pub mod regression;
pub mod sampling;
pub mod size;
pub mod words;

pub use engine_client::{EngineClient, PageId};
pub use own_corpus::OwnCorpus;
pub use pool::Pool;

use lookalike_search_engines::EngineError;

/// The reason why there is no estimate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FieldError {
    /// The engine cannot be asked any more, for a reason other than an empty budget.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The own corpus has too few words to ask for.
    #[error(
        "the own corpus has {0} words that are in two documents or more, and at least 50 are wanted; give more own documents"
    )]
    FewWords(usize),
    /// The budget ended before there were enough draws.
    #[error("{engine} was asked {calls} times, and only {draws} draws came of it; allow more calls")]
    FewDraws {
        /// The engine.
        engine: String,
        /// Calls that were made.
        calls: u64,
        /// Draws that came of them.
        draws: usize,
    },
    /// The engine answered no question.
    #[error("{engine} answered no question{}; see whether it can be asked at all, and allow more calls", because(.why))]
    NoAnswer {
        /// The engine.
        engine: String,
        /// The reason why the last one had no answer.
        why: Option<String>,
    },
    /// There are results, and none of them could be read and has the word asked for.
    #[error(
        "{engine} shows results, but of {looked_at} that were looked at none could be read and has the word asked for; see to how its pages are fetched"
    )]
    Unreadable {
        /// The engine.
        engine: String,
        /// Results that were looked at.
        looked_at: u64,
    },
    /// The engine has none of the pages asked for.
    #[error(
        "{engine} has none of the pages that the own corpus' words ask for; choose an own corpus that is more like it"
    )]
    NoPages {
        /// The engine.
        engine: String,
    },
}

fn because(why: &Option<String>) -> String {
    why.as_ref().map_or(String::new(), |why| format!(" ({why})"))
}

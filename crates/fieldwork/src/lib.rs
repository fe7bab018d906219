//! Goes out to search engines with a budget and comes home with samples: how large an index is, how much two of them share, what a
//! random page of theirs is like.
//!
//! Who measures has documents of its own ([`Own`]), whose words are the queries; the [`Desk`] asks an engine and remembers what it
//! said; a [`Pool`] of queries is drawn from, page by page ([`sampling`]); what the draws say is worked out here and in
//! `lookalike-census`, which knows estimators and no engines.
//!
//! - [`words`]: words as engines cut them
//! - [`own`]: the documents of who measures
//! - [`desk`]: asking, fetching, remembering
//! - [`pool`]: which queries are drawn, and how often
//! - [`sampling`]: pages with the weights that make them uniform
//! - [`size`]: how large an index is; [`classes`]: and without its near-duplicates
//! - [`presence`]: whether an engine has a page; [`mod@compare`]: what engines share; [`coverage`]: what an engine has of a web
//! - [`baselines`]: what others would have said
//! - [`regression`]: the error that a known mean takes away

pub mod baselines;
pub mod classes;
pub mod compare;
pub mod coverage;
pub mod desk;
pub mod own;
pub mod pool;
pub mod presence;
pub mod regression;
pub mod sampling;
pub mod size;
pub mod words;

pub use desk::{Desk, PageId};
pub use own::Own;
pub use pool::Pool;

use lookalike_engines::EngineError;

/// Why there is no estimate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FieldError {
    /// The engine cannot be asked any more, for a reason other than an empty budget.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The documents at home have no words to ask for.
    #[error(
        "the own corpus has {0} words that are in two documents or more, and at least 50 are wanted; give more own documents"
    )]
    FewWords(usize),
    /// The budget ended before anything was learned.
    #[error("{engine} was asked {calls} times, and only {draws} draws came of it; allow more calls")]
    FewDraws {
        /// The engine.
        engine: String,
        /// Calls that were made.
        calls: u64,
        /// Draws that came of them.
        draws: usize,
    },
    /// Nobody answers.
    #[error("{engine} answered no question{}; see whether it can be asked at all, and allow more calls", because(.why))]
    Silent {
        /// The engine.
        engine: String,
        /// Why the last one had no answer.
        why: Option<String>,
    },
    /// There are results, and none of them is of use.
    #[error(
        "{engine} shows results, but of {looked_at} that were looked at none could be read and has the word asked for; see to how its pages are fetched"
    )]
    Unread {
        /// The engine.
        engine: String,
        /// Results that were looked at.
        looked_at: u64,
    },
    /// Nothing of what was asked for is there.
    #[error(
        "{engine} has none of the pages that the own corpus' words ask for; choose an own corpus that is more like it"
    )]
    Nothing {
        /// The engine.
        engine: String,
    },
}

fn because(why: &Option<String>) -> String {
    why.as_ref().map_or(String::new(), |why| format!(" ({why})"))
}

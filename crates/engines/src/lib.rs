//! Search engines under study: one small interface to ask any of them for pages, an account of the calls, and a record of every
//! answer, so that an estimate can be resumed, repeated and audited.
//!
//! An engine is a [`SearchEngine`]: it answers a [`Query`] with addresses, and gives the page behind an address. A [`Caller`] wraps
//! another engine: it keeps to a budget, pauses, tries again, writes a transcript and looks for contradictions.
//!
//! ```
//! use lookalike_engines::Query;
//!
//! assert_eq!(Query::all(["web", "size"]).to_string(), "web AND size");
//! assert_eq!(Query::any(["web", "size"]).to_string(), "web OR size");
//! ```
//!
//! - [`engine`]: queries, results and the interface of an engine
//! - [`mod@open`]: from a specification to an engine
//! - [`caller`]: budget, pauses, retries
//! - [`transcript`], [`question`]: the record of all answers; [`replay`]: a record as an engine
//! - [`wary`]: contradictions in the answers of an engine
//! - [`twisted`]: an engine that contradicts itself, for tests
//! - [`building`]: new indexes
//! - `intake`: the part that builders of indexes share
//! - `tantivy`, `sqlite`, `http`: engines, by the features of these names

pub mod building;
pub mod caller;
pub mod engine;
#[cfg(feature = "http")]
pub mod http;
#[cfg(any(feature = "tantivy", feature = "sqlite"))]
mod intake;
pub mod open;
pub mod question;
pub mod replay;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "tantivy")]
pub mod tantivy;
pub mod transcript;
pub mod twisted;
pub mod wary;

pub use building::{Building, IndexBuilder};
pub use caller::{Caller, Counts, Manners};
pub use engine::{EngineError, Fetched, Join, Query, Results, SearchEngine};
pub use open::{Options, open};
pub use replay::Replay;
pub use twisted::{Twist, Twisted};
pub use wary::Wary;

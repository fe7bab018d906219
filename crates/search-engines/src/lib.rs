//! Search engines under study: one small interface to ask any of them for pages, an account of the calls, and a record of every
//! answer, so that an estimate can be resumed, repeated and audited.
//!
//! An engine is a [`SearchEngine`]: it answers a [`Query`] with addresses, and gives the page behind an address. A [`Caller`] wraps
//! another engine: it keeps to a budget, pauses, tries again, writes a transcript and looks for contradictions.
//!
//! ```
//! use lookalike_search_engines::Query;
//!
//! assert_eq!(Query::all(["web", "size"]).to_string(), "web AND size");
//! assert_eq!(Query::any(["web", "size"]).to_string(), "web OR size");
//! ```
//!
//! - [`engine`]: queries, results and the interface of an engine
//! - [`mod@open`]: from a specification to an engine
//! - [`caller`]: budget, pauses, retries
//! - [`transcript`], [`question`]: the record of all answers; [`replay`]: a record as an engine
//! - [`consistency`]: contradictions in the answers of an engine
//! - [`faulty`]: an engine with faults on purpose, for tests
//! - [`building`]: new indexes
//! - `page_registry`: the part that builders of indexes share
//! - `tantivy`, `sqlite`, `http`: engines, by the features of these names
//!
//! `tests/engines/contract.rs` compares all engines with a plain scan of the same pages; `scripts/omega` does so with Xapian's
//! omega on loopback.

pub mod building;
pub mod caller;
pub mod consistency;
pub mod engine;
pub mod faulty;
#[cfg(feature = "http")]
pub mod http;
pub mod open;
#[cfg(any(feature = "tantivy", feature = "sqlite"))]
mod page_registry;
pub mod question;
pub mod replay;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "tantivy")]
pub mod tantivy;
pub mod transcript;

pub use building::{BuildOptions, IndexBuilder};
pub use caller::{CallPolicy, Caller, Counts};
pub use consistency::ConsistencyReport;
pub use engine::{EngineError, FetchedPage, Join, Query, Results, SearchEngine};
pub use faulty::{FaultPlan, FaultyEngine};
pub use open::{Options, not_built, open};
pub use replay::Replay;

//! Search engines under study: one small interface to ask any of them for pages, a ledger of what that costs, and a record of
//! every answer, so that an estimate can be gone on with, repeated and audited.
//!
//! An engine is a [`SearchEngine`]: it answers a [`Query`] with addresses, and gives the page behind an address.
//!
//! ```
//! use lookalike_engines::Query;
//!
//! assert_eq!(Query::all(["web", "size"]).to_string(), "web AND size");
//! assert_eq!(Query::any(["web", "size"]).to_string(), "web OR size");
//! ```
//!
//! - [`engine`]: what is asked and answered

pub mod engine;

pub use engine::{EngineError, Fetched, Join, Query, Results, SearchEngine};

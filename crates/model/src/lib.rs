//! The types that all crates of lookalike share, and nothing else.
//!
//! A corpus yields [`Document`]s, each with its [`RecordPosition`]; a record that cannot be read becomes a [`Rejection`]
//! with a [`Reason`], and a record that is no document a [`Skip`]. Everything derived from documents
//! carries the [`Recipe`] that made it. This crate opens no files, starts no threads, reads no clock.
//!
//! ```
//! use lookalike_model::{Content, Document, Extras, Media, RecordPosition};
//!
//! let page = Document {
//!     id: "page-1",
//!     url: Some("https://example.org/"),
//!     media: Media::Html,
//!     content: Content::Unicode("<p>Hello</p>"),
//!     place: RecordPosition { record: 0, position: 0 },
//!     raw: None,
//!     extras: Extras::default(),
//! };
//! assert_eq!(page.content.len(), 12);
//! ```
//!
//! - [`document`]: documents, their positions and media types
//! - [`rejection`]: records that could not be read, records that are no documents
//! - [`recipe`]: descriptions of how results were made, so that results of different recipes are not compared
//! - [`measure`]: similarity measures of two documents, exact thresholds, and what was measured
//! - [`numbers`]: numbers of documents, of their places in the input, of nodes and of classes
//! - [`pairs`]: pairs of documents, proposed, measured and decided
//! - [`findings`]: parts of a run's findings that people look at
//! - [`span`]: byte ranges that lead back from a derived text to the one it was made from

pub mod document;
pub mod findings;
pub mod measure;
pub mod numbers;
pub mod pairs;
pub mod recipe;
pub mod rejection;
pub mod span;

pub use document::{Content, Document, Extras, Media, RecordPosition};
pub use findings::{BigCluster, Section, SourceCounts};
pub use measure::{Measured, Similarity, Threshold, rounded};
pub use numbers::{ClassId, DocNumber, InputPlace, NodeId};
pub use pairs::{Candidate, MOST_METHODS, Pair, Removal, SharedKeys, VerifiedPair};
pub use recipe::{Recipe, RecipeMismatch};
pub use rejection::{Reason, ReasonKind, Rejection, Skip, Unit};
pub use span::{Span, SpanMap};

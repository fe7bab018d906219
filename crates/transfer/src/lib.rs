//! Two corpora: the documents of one that are also in the other, and the judgments carried over.
//!
//! The engine finds the pairs; here they are counted in one pass, written and shown.
//!
//! - [`compared`]: the sources of pairs: a job, or lists from elsewhere
//! - [`segments`]: the right side in parts
//! - [`compare`]: pairs, best matches and statistics of a comparison
//! - [`transfer`]: judged documents found in a newer corpus
//! - [`moved`]: their judgments, moved to the newer corpus
//! - [`coverage`]: the judgments that remain of tracks and topics
//! - `ranking`: the order of pairs by similarity
//! - [`sample`]: found documents for a person to look at
//! - [`study`]: a comparison, or a transfer, as a page

pub mod compare;
pub mod compared;
pub mod coverage;
pub mod error;
#[cfg(test)]
mod fixture;
pub mod moved;
mod ranking;
pub mod sample;
pub mod segments;
pub mod study;
pub mod transfer;

pub use error::TransferError;

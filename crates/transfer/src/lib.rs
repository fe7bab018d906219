//! Two corpora: which documents of the one are in the other, and what is known of the one carried over.
//!
//! The engine finds the pairs; here they are counted while they stream by, written down, and shown.
//!
//! - [`compared`]: where pairs come from: a job, or lists that others made
//! - [`segments`]: the right side in parts
//! - [`compare`]: pairs, best matches and statistics of a comparison
//! - [`transfer`]: judged documents found in a newer corpus
//! - [`moved`]: their judgments on the way
//! - [`coverage`]: what is left of tracks and topics
//! - [`sample`]: found documents for a person to look at
//! - [`study`]: a comparison, or a transfer, as a page

pub mod compare;
pub mod compared;
pub mod coverage;
pub mod error;
pub mod moved;
pub mod sample;
pub mod segments;
pub mod study;
pub mod transfer;

pub use error::TransferError;

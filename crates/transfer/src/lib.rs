//! Two corpora: which documents of the one are in the other, and what is known of the one carried over.
//!
//! The engine finds the pairs; here they are counted while they stream by, written down, and shown.
//!
//! - [`segments`]: the right side in parts
//! - [`compare`]: pairs, best matches and statistics of a comparison
//! - [`study`]: a comparison as a page

pub mod compare;
pub mod error;
pub mod segments;
pub mod study;

pub use error::TransferError;

//! The stage `write`: decisions become files.
//!
//! - [`compare`]: the pairs between two corpora
//! - `shards`: copies of the input shards
//! - `rejected_copies`: copies of rejected records

pub mod compare;
mod rejected_copies;
pub(crate) mod shards;

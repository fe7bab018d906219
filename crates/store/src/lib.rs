//! Files between the steps of a long job, and sets that stay in memory: run files, external sorting, bits, filters.
//!
//! Nothing here knows documents, methods or recipes: records have a width, a kind and an order. Files appear whole, by a rename, and
//! nothing is read that was not checked.
//!
//! - [`mod@file`]: checksummed run files
//! - [`facts`]: what a later process goes on from
//! - [`journal`]: which files are there, and which would survive a loss of power
//! - [`mod@sync`]: files and their names on the disk
//! - [`sort`]: records in order, in memory or on disk
//! - [`strings`]: texts in order, and what was counted for each
//! - [`symbols`]: sequences of 64-bit symbols, in blocks with a dictionary each
//! - [`bits`]: a bit for each of many numbers, and ranks among those that are set
//! - [`bloom`]: a filter that excludes most keys that are not in a set
//! - [`digest`]: digests of whole files
//! - [`error`]: what can go wrong with a file

pub mod bits;
pub mod bloom;
pub mod digest;
pub mod error;
pub mod facts;
pub mod file;
pub mod journal;
pub mod sort;
pub mod strings;
pub mod symbols;
pub mod sync;

pub use error::StoreError;

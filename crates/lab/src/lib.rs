//! The lab: what methods find on a corpus, held against measured similarity and against what papers report.
//!
//! - [`trial`]: one configuration of methods on a corpus, and how many of its pairs are near-duplicates
//! - [`henzinger`]: MinHash alone, SimHash alone, and both together
//! - [`experiments`]: the catalogue of the papers' experiments
//! - [`collection`], [`generated`]: what they look at
//! - [`interval`]: how sure a share is
//! - [`sketches`]: any method on a few documents in memory
//! - `constructed`, `edits`: texts made or changed for a purpose
//! - `draws`, `shares`: random numbers from a seed, and shares that are counted

pub mod collection;
mod constructed;
mod draws;
mod edits;
pub mod experiments;
pub mod generated;
pub mod henzinger;
pub mod interval;
mod shares;
pub mod sketches;
pub mod trial;

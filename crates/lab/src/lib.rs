//! The lab: what methods find on a corpus, held against measured similarity and against what papers report.
//!
//! - [`trial`]: one configuration of methods on a corpus, and how many of its pairs are near-duplicates
//! - [`henzinger`]: MinHash alone, SimHash alone, and both together
//! - [`experiments`]: the catalogue of the papers' experiments
//! - [`collection`], [`generated`]: what they look at
//! - [`interval`]: how sure a share is
//! - [`review`]: a sample of pairs, judged by a person

pub mod collection;
pub mod experiments;
pub mod generated;
pub mod henzinger;
pub mod interval;
pub mod review;
pub mod trial;

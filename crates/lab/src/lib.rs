//! The lab: methods evaluated on a corpus, against measured similarity and against the figures of papers.
//!
//! - [`trial`]: one configuration of methods on a copy of a corpus, and the pairs that it accepts
//! - [`compare`]: methods side by side; [`pool`], [`strata`]: their pairs together, by the methods that accept them
//! - [`method_list`]: the methods that take part
//! - [`results`]: the output of a comparison; [`published`]: figures that papers report
//! - [`sample`]: a sample of a corpus that keeps near-duplicates together
//! - [`tune`]: the search for a recipe that reaches a goal
//! - [`check`]: estimates of the recall and precision that a run reached
//! - [`truth`]: the definition of a near-duplicate
//! - [`experiments`]: the catalogue of the papers' experiments
//! - [`collection`], [`generated`]: the documents of the experiments
//! - [`sketches`]: any method on a few documents in memory
//! - `constructed`, `edits`: texts made or changed for a purpose
//! - `draws`, `shares`: random numbers from a seed, and shares that are counted
//! - [`review`]: a sample of pairs, judged by a person

pub mod check;
pub mod collection;
pub mod compare;
mod constructed;
mod draws;
mod edits;
pub mod error;
pub mod experiments;
pub mod generated;
pub mod method_list;
pub mod pool;
pub mod published;
pub mod results;
pub mod review;
pub mod sample;
mod shares;
pub mod sketches;
pub mod strata;
pub mod trial;
pub mod truth;
pub mod tune;

pub use lookalike_overlap::interval;

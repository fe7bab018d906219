//! The lab: what methods find on a corpus, held against measured similarity and against what papers report.
//!
//! - [`trial`]: one configuration of methods on a copy of a corpus, and the pairs that it accepts
//! - [`compare`]: methods side by side; [`pool`], [`strata`]: their pairs together, and what follows from who has which
//! - [`roster`]: which methods take part
//! - [`results`]: what a comparison writes; [`published`]: what papers report
//! - [`sample`]: a sample of a corpus that keeps near-duplicates together
//! - [`tune`]: from a goal to a recipe
//! - [`check`]: what a run reached
//! - [`truth`]: what a near-duplicate is
//! - [`experiments`]: the catalogue of the papers' experiments
//! - [`collection`], [`generated`]: what they look at
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
pub mod pool;
pub mod published;
pub mod results;
pub mod review;
pub mod roster;
pub mod sample;
mod shares;
pub mod sketches;
pub mod strata;
pub mod trial;
pub mod truth;
pub mod tune;

pub use lookalike_overlap::interval;

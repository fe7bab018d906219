//! The local engine: from documents to verified pairs and clusters, out of core and kill-safe.
//!
//! A [`Job`] has a [`JobRecipe`] (everything that can change its result), an input and a folder. It runs in stages,
//! each of which leaves checksummed files in the folder and finishes by a rename, so that a killed run goes on where it
//! ended. Memory holds a few bytes per document; all else is on disk.
//!
//! - [`lexicon`]: the words of the corpus, counted for methods that ask
//! - `survey`: what else methods must know of the whole corpus
//! - `sketch`: rows, names, payloads, sorted keys and symbols of every document
//! - `order`: documents are numbered anew, by a field, where that is asked for
//! - `classes`: documents with equal words become one
//! - `candidates`: documents that share keys become pairs
//! - `verify`: pairs are measured, bucket by bucket; `star` decides who is kept
//! - `results`, `kept`: files for people and programs
//! - [`delivered`]: digests of all results, and a summary that is there last; [`check`]: is it still so
//! - [`patch`]: a corpus without the documents that a list names
//!
//! [`spread`] has the parts of a job that another engine leads over many machines.
//!
//! Beside them: [`examine`], one document at a time, for whoever keeps what it is found by; [`panel`], the methods of a run together; [`walk`], every document of a corpus; [`shelf`], a copy of
//! documents to read by number; [`measure`], the true similarity of two documents; [`gauge`], that of any pairs on a shelf;
//! [`pipeline`], documents through workers in order; [`store`], run files and external sorting; [`workplace`], a folder in which other
//! work than a job's goes on after a stop.

mod again;
mod candidates;
mod catalogue;
pub mod check;
mod classes;
pub mod compared;
mod context;
mod copies;
mod copy_journal;
pub mod cost;
pub mod delivered;
pub mod error;
mod estimate;
pub mod examine;
mod folder;
mod gather;
pub mod gauge;
pub mod job;
pub mod keepers;
mod kept;
pub mod lexicon;
pub mod measure;
mod order;
pub mod panel;
pub mod patch;
pub mod pipeline;
mod reading;
pub mod recipe;
mod rejections;
mod rejects;
pub mod results;
mod room;
pub mod shelf;
mod sides;
mod sieve;
mod sketch;
pub mod spread;
mod star;
mod stdin;
pub mod store;
mod survey;
#[cfg(test)]
mod tables;
#[cfg(test)]
pub(crate) mod tests;
mod verify;
pub mod walk;
pub mod workplace;

pub use context::{Settings, Spool};
pub use error::EngineError;
pub use job::{Job, OpenJob, Opened, Outputs, Shards, Summary};
pub use recipe::JobRecipe;
pub use results::Findings;
pub use sketch::Made;

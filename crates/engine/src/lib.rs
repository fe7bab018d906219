//! The local engine: from documents to verified pairs and clusters, out of core and kill-safe.
//!
//! A [`Job`] has a [`JobRecipe`] (everything that can change its result), an input and a folder. It runs in stages,
//! each of which leaves checksummed files in the folder and finishes by a rename, so that a killed run goes on where it
//! ended. Memory holds a few bytes per document; all else is on disk.
//!
//! - [`lexicon`]: the words of the corpus, counted for methods that ask
//! - `survey`: other facts about the whole corpus that methods must know
//! - `sketch`: rows, names, payloads, sorted keys and symbols of every document
//! - `order`: documents are numbered anew, by a field, where that is asked for
//! - `collapse`: documents with equal words become one
//! - `group`: documents that share keys become pairs
//! - `verify`: pairs are measured, bucket by bucket, and every document is decided
//! - `write`: files for people and programs; [`compared`]: two corpora
//! - `report`: texts of examples, read again for the report
//!
//! Behind them:
//!
//! - [`delivered`]: digests of all results, and a summary that is there last; [`check`]: is it still so
//! - [`patch`]: a corpus without the documents that a list names
//!
//! [`spread`] has the parts of a job that another engine leads over many machines.
//!
//! Beside them: [`examine`], one document at a time, for programs that keep documents for longer than a job; [`panel`], the methods
//! of a run together; [`walk`], every document of a corpus; [`document_copy`], a copy of documents to read by number; [`measure`], the
//! true similarity of two documents; [`pair_measurer`], that of any pairs of a copy; [`decision`], the rule by which a kept document
//! stands for another; [`pipeline`], documents through workers in order; [`workplace`], a folder in which other work than a job's goes
//! on after a stop; [`protocol`], what holds such folders together, and [`folder`], what in them is whose.

mod catalogue;
pub mod check;
mod context;
mod copies;
pub mod cost;
pub mod decision;
pub mod delivered;
mod disk;
pub mod document_copy;
pub mod error;
pub mod examine;
pub mod folder;
mod gather;
pub mod job;
pub mod keep_order;
pub mod measure;
pub mod pair_measurer;
pub mod panel;
pub mod patch;
pub mod pipeline;
pub mod protocol;
pub mod recipe;
mod rejections;
mod reread;
pub mod results;
pub mod spread;
mod stages;
mod stdin;
#[cfg(test)]
pub(crate) mod tests;
mod text_analysis;
pub mod walk;
pub mod workplace;

pub use context::{Settings, Spool};
pub use disk::estimate::ScratchEstimate;
pub use error::EngineError;
pub use job::{Job, OpenJob, Opened, Outputs, Shards};
pub use recipe::JobRecipe;
pub use results::{Findings, Summary};
pub use stages::lexicon;
pub use stages::sketch::MethodCounts;
pub use stages::write::compare as compared;

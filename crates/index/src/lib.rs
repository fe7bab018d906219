//! A persistent index of documents, which are added, queried for near-duplicates, and deleted.
//!
//! Any method and any measure of the engine; its recipe is stored and enforced. Documents are decided one at a time, in the
//! order in which they come, by the same rule as a job with `--keep first`: a document is new, or a kept one stands for it.
//!
//! An index is a list of parts, each with the documents of a range of numbers and the sorted tables that lead to them. A
//! part never changes. The newest are chunks in memory, each also a frame of the log; older ones are segments on disk.
//! Neighbours are joined: chunks whenever the one before is less than twice as heavy, segments by a compactor beside the
//! writer. A reader holds the list as it was when it began, so that it sees one moment and waits for nobody.
//!
//! Documents with equal words are one class: the first has the keys and the record, the others lead to it. So a copy
//! costs a row, its names and its text. `tests/same_as_jobs.rs` compares every method, in an index with tiny parts, with
//! `dedup` and `pairs` of the engine.
//!
//! - `index`: an open index, and what its folder holds
//! - `writer`: one at a time, every change first in the log; `compactor`: segments and their merge, beside it
//! - `answer`: the near-duplicates of a document; `browse`: documents by id and number, clusters; `check`: a check of all files
//! - `bulk`: a whole corpus, on all threads; `fork`: a copy at one moment
//! - `candidates`, `decide`: candidates by shared keys, measured; the rule that keeps or removes a document
//! - `part`: the index at one moment; `chunk`: a part in memory; `segment`: a part on disk, `filter`: keys that a table does not have;
//!   `row`: the fixed-width record of each document
//! - `log`, `acknowledged`, `manifest`: durability

mod acknowledged;
mod answer;
mod browse;
mod bulk;
mod candidates;
mod check;
mod chunk;
mod compactor;
mod decide;
mod error;
mod filter;
mod fork;
mod index;
mod log;
mod manifest;
mod part;
mod query_buffers;
mod row;
mod segment;
#[cfg(test)]
mod testing;
mod writer;

pub use answer::{Answer, Match};
pub use browse::{Cluster, Entry};
pub use bulk::{CorpusRecord, Portion, Preparation, Progress};
pub use check::CheckReport;
pub use error::IndexError;
pub use index::{CreateOptions, Index, Mode, Stats, WriterOptions};
pub use part::Counts;
pub use query_buffers::{PreparedDocument, QueryBuffers};
pub use row::State;
pub use writer::{OnExistingId, Verdict};

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
//! costs a row, its names and its text. `tests/index/same_as_jobs.rs` compares every method, in an index with tiny parts, with
//! `dedup` and `pairs` of the engine.
//!
//! - `index`: an open index, and what its folder holds; `shared_state`: what readers, the writer and its compactor share
//! - `writer`: one at a time, every change first in the log; `compactor`: segments and their merge, beside it
//! - `answer`: the near-duplicates of a document; `browse`: documents by id and number, clusters; `check`: a check of all files
//! - `bulk`: a whole corpus, on all threads; `fork`: a copy at one moment
//! - `prepared`: a document that is asked about or added; `query_buffers`: buffers and caches of a thread
//! - `candidates`, `decide`: candidates by shared keys, measured; the rule that keeps or removes a document
//! - `part`: the index at one moment; `chunk`: a part in memory; `segment`: a part on disk, `segment_writer`: its files;
//!   `row`: the fixed-width record of each document
//! - `log`, `acknowledged`, `manifest`: durability; `memory`: shares of a process's memory
//!
//! Imports have no circle: `index` stands above the writer and its compactor; `answer`, `browse`, `bulk`, `check` and `fork`
//! stand above `index`.

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
mod fork;
mod index;
mod log;
mod manifest;
mod memory;
mod part;
mod prepared;
mod query_buffers;
mod row;
mod segment;
mod segment_writer;
mod shared_state;
#[cfg(test)]
mod testing;
mod writer;

pub use browse::{Cluster, Entry};
pub use bulk::{CorpusRecord, Portion, Preparation, Progress};
pub use check::CheckReport;
pub use error::IndexError;
pub use index::{CreateOptions, Index, Mode, Stats};
pub use part::Counts;
pub use prepared::{Answer, Match, PreparedDocument};
pub use query_buffers::QueryBuffers;
pub use row::State;
pub use writer::{OnExistingId, Verdict, WriterOptions};

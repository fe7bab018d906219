//! Corpora: from files on disk to one stream of documents, and back.
//!
//! A [`Corpus`] is a list of [`Shard`]s in a fixed order. Each shard opens as a [`Reader`] that yields
//! [`Item`]s one at a time, borrowed from a window that never grows beyond the longest allowed record. The
//! format of a shard is seen from its content. What cannot be read is handed out too, as a rejection with
//! its place and reason; nothing is dropped in silence.
//!
//! ```
//! use lookalike_corpus::{Corpus, Item, ReadOptions};
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("pages.jsonl");
//! std::fs::write(&file, "{\"id\":\"a\",\"text\":\"one rose\"}\n{\"id\":\"b\"}\n")?;
//!
//! let corpus = Corpus::open(&[file.display().to_string()], ReadOptions::default())?;
//! let mut reader = corpus.shards()[0].open(corpus.options())?;
//! let (mut accepted, mut rejected) = (0, 0);
//! while let Some(item) = reader.next()? {
//!     match item {
//!         Item::Document(_) => accepted += 1,
//!         Item::Rejected(_) => rejected += 1,
//!         Item::Skipped(_) => {}
//!     }
//! }
//! assert_eq!((accepted, rejected), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`corpus`]: inputs named on a command line become shards in a fixed order
//! - `shard_list`: the list of shards while it is made, within the memory that lists may take
//! - [`reader`]: a shard becomes items
//! - `readable`: a look at all shards before the work
//! - [`options`]: field names and limits
//! - [`losses`]: how many records may be rejected, and for which reasons they were
//! - `first_records`: a check of the first records, before the work
//! - [`table`]: documents that are in memory already
//! - [`list`]: files that are no corpora, uncompressed
//! - [`error`]: what stops the work, in one sentence each
//! - `input`: compression, damage, and the window that all formats read from
//! - `formats`: one file per format, siblings of one shape
//! - `sniff`: which format a shard is in
//! - `names`: what shards are called
//! - [`non_data_files`]: files beside data that are left out
//! - [`mod@write`]: documents become files

pub mod corpus;
pub mod error;
mod first_records;
mod formats;
mod input;
pub mod list;
pub mod losses;
mod names;
pub mod non_data_files;
pub mod options;
mod readable;
pub mod reader;
mod record;
mod shard_list;
mod sniff;
pub mod table;
pub mod write;

pub use corpus::{BytesAt, Corpus, Origin, Shard};
pub use error::CorpusError;
pub use formats::jsonl::{LineReader, Lines, LinesView, MOST_BATCH_RECORDS};
pub use input::compression::Compression;
pub use list::ListReader;
pub use losses::{Loss, Losses, MaxRejected};
pub use non_data_files::{LeftOutFiles, LeftOutReason};
pub use options::{DecoderBudget, Decoding, Fields, Namespaces, ReadOptions};
pub use reader::{Item, Reader};
pub use shard_list::ListBudget;
pub use sniff::Format;
pub use table::{Rows, Table, TableRow};

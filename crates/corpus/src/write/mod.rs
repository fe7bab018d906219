//! From documents to files: records copied byte for byte, or encoded anew.
//!
//! A file is written under a temporary name in the folder of its target and renamed by `finish`: a file that can be seen
//! is whole. The same records give the same bytes.
//!
//! ```
//! use lookalike_corpus::{Compression, write::JsonlWriter};
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("kept.jsonl");
//! let mut writer = JsonlWriter::create(&file, Compression::None)?;
//! writer.copy(b"{\"id\": \"a\", \"text\": \"as it stood\"}\n")?;
//! writer.document("b", None, "one rose")?;
//! assert!(!file.exists());
//! writer.finish()?;
//! assert_eq!(
//!     std::fs::read_to_string(&file)?,
//!     "{\"id\": \"a\", \"text\": \"as it stood\"}\n{\"id\":\"b\",\"text\":\"one rose\"}\n",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`jsonl`]: one JSON object per line
//! - [`parquet`]: columns of documents, and copies of Parquet files with fewer rows
//! - [`rows`]: tables of results, as JSON lines or Parquet
//! - [`shard`]: shards with fewer records, and notes inside those that are kept
//! - [`warc`]: records with headers, as crawlers write them
//! - [`sink`]: compression on the way into a file
//! - [`pending`]: the temporary file until it is whole

pub mod jsonl;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod pending;
pub mod rows;
pub mod shard;
pub mod sink;
pub mod warc;

use std::path::Path;

pub use jsonl::JsonlWriter;
#[cfg(feature = "parquet")]
pub use parquet::ParquetWriter;
pub use pending::{Temporary, abandon};
pub use rows::{RowFormat, RowWriter};
pub use shard::{CopyCounts, Decide, Fate, Note, copy_shard};
pub use sink::Sink;
pub use warc::WarcWriter;

use crate::{Compression, CorpusError};

/// Day that new WARC records bear: the same input must give the same bytes on any day.
const WARC_DATE: &str = "1970-01-01T00:00:00Z";

/// The endings that the name of an output may have.
const ENDINGS: &str = ".jsonl, .warc (both also with .gz, .zst, .bz2, .xz or .lz4) or .parquet";

/// A writer of any format.
pub enum Writer {
    /// JSON lines.
    Jsonl(JsonlWriter),
    /// WARC.
    Warc(WarcWriter),
    /// Parquet.
    #[cfg(feature = "parquet")]
    Parquet(ParquetWriter),
}

impl Writer {
    /// Begins a file in the format and compression that its name tells.
    pub fn create(target: &Path) -> Result<Self, CorpusError> {
        let name = target.display().to_string();
        let compression = Compression::named(target);
        let stem = name.strip_suffix(compression.suffix()).unwrap_or(&name).to_ascii_lowercase();
        if stem.ends_with(".jsonl") || stem.ends_with(".ndjson") {
            return JsonlWriter::create(target, compression).map(Writer::Jsonl);
        }
        if stem.ends_with(".warc") || stem.ends_with(".wet") {
            return WarcWriter::create(target, compression, WARC_DATE).map(Writer::Warc);
        }
        if name.to_ascii_lowercase().ends_with(".parquet") {
            #[cfg(feature = "parquet")]
            return ParquetWriter::create(target).map(Writer::Parquet);
            #[cfg(not(feature = "parquet"))]
            return Err(CorpusError::NotBuilt { name, feature: "parquet" });
        }
        Err(CorpusError::UnknownOutput { name, endings: ENDINGS })
    }

    /// Encodes a new record.
    pub fn document(&mut self, id: &str, url: Option<&str>, text: &str) -> Result<(), CorpusError> {
        self.document_with(id, url, text, None)
    }

    /// The same with the document's other fields, as a JSON object: members behind the text in JSON lines, columns in Parquet, a record
    /// of its own in WARC.
    pub fn document_with(
        &mut self,
        id: &str,
        url: Option<&str>,
        text: &str,
        others: Option<&str>,
    ) -> Result<(), CorpusError> {
        match self {
            Writer::Jsonl(writer) => writer.document_with(id, url, text, others),
            Writer::Warc(writer) => writer.document_with(id, url, text, others),
            #[cfg(feature = "parquet")]
            Writer::Parquet(writer) => writer.document_with(id, url, text, others),
        }
    }

    /// Closes the file and moves it to its place.
    pub fn finish(self) -> Result<(), CorpusError> {
        match self {
            Writer::Jsonl(writer) => writer.finish(),
            Writer::Warc(writer) => writer.finish(),
            #[cfg(feature = "parquet")]
            Writer::Parquet(writer) => writer.finish(),
        }
    }
}

//! From documents to files: records copied byte for byte, or encoded anew.
//!
//! A file is written under another name beside its place and moved there by `finish`: who sees a file sees all
//! of it. The same records give the same bytes.
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
//! - [`warc`]: records with headers, as crawlers write them
//! - `sink`: compression and the temporary file

pub mod jsonl;
mod sink;
pub mod warc;

pub use jsonl::JsonlWriter;
pub use warc::WarcWriter;

use crate::CorpusError;

/// A writer of any format whose records can be copied.
pub enum Writer {
    /// JSON lines.
    Jsonl(JsonlWriter),
    /// WARC.
    Warc(WarcWriter),
}

impl Writer {
    /// Copies a record as it stood in a shard of the same format.
    pub fn copy(&mut self, raw: &[u8]) -> Result<(), CorpusError> {
        match self {
            Writer::Jsonl(writer) => writer.copy(raw),
            Writer::Warc(writer) => writer.copy(raw),
        }
    }

    /// Encodes a new record.
    pub fn document(&mut self, id: &str, url: Option<&str>, text: &str) -> Result<(), CorpusError> {
        match self {
            Writer::Jsonl(writer) => writer.document(id, url, text),
            Writer::Warc(writer) => writer.document(id, url, text),
        }
    }

    /// Closes the file and moves it to its place.
    pub fn finish(self) -> Result<(), CorpusError> {
        match self {
            Writer::Jsonl(writer) => writer.finish(),
            Writer::Warc(writer) => writer.finish(),
        }
    }
}

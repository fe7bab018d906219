//! The tables that commands write, each declared once: its columns, its rows, and its lines where they are read back.
//!
//! Every table is a module with `TABLE` (name and columns), a row that borrows its values, to be written, and a line that owns them,
//! to be read. The columns, the fields and the sentences about them come from one list, so that they cannot drift apart.
//!
//! ```
//! use lookalike_corpus::write::rows::RowFormat;
//! use lookalike_tables::pairs::{self, PairLine, PairRow};
//!
//! let folder = tempfile::tempdir()?;
//! let mut rows = pairs::TABLE.create(folder.path(), RowFormat::Jsonl, "")?;
//! rows.push(&PairRow { a: "x", b: "y", similarity: Some(0.875), reverse: None }.cells())?;
//! rows.finish()?;
//! let text = std::fs::read_to_string(folder.path().join("pairs.jsonl"))?;
//! assert_eq!(text, "{\"a\":\"x\",\"b\":\"y\",\"similarity\":0.875}\n");
//! let line: PairLine = serde_json::from_str(&text)?;
//! assert_eq!((line.b.as_str(), line.reverse), ("y", None));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - `dedup`: [`removed`], [`clusters`]
//! - `pairs`: [`pairs`], [`groups`]
//! - `compare`: [`compared`], [`best`], [`compared_groups`]
//! - `transfer`: [`mapping`], [`missing`], [`topics`]
//! - `urls`: [`overlap`], [`urls_rejected`], [`domains`], [`survival`], [`snapshots`]
//! - the lab: [`measured_pairs`], [`review`]
//! - several commands: [`rejected`]; `corpus stats`: [`stats_rejected`]
//! - [`files`]: all files of all commands, as `docs/files.md` lists them

#[macro_use]
mod declare;

pub mod best;
pub mod clusters;
pub mod compared;
pub mod compared_groups;
pub mod domains;
pub mod files;
pub mod groups;
pub mod mapping;
pub mod measured_pairs;
pub mod missing;
pub mod overlap;
pub mod pairs;
pub mod rejected;
pub mod removed;
pub mod review;
pub mod snapshots;
pub mod stats_rejected;
pub mod survival;
#[cfg(test)]
mod tests;
pub mod topics;
pub mod urls_rejected;

use std::path::Path;

use lookalike_corpus::CorpusError;
use lookalike_corpus::write::rows::{Column, RowFormat, RowWriter};

/// A table that a command writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// The name of its file, without the ending.
    pub name: &'static str,
    /// A sentence about one row.
    pub row: &'static str,
    /// The columns, in their order.
    pub columns: &'static [Column],
}

impl Table {
    /// The name of the file that holds the table in a format.
    pub fn file_name(&self, format: RowFormat) -> String {
        format!("{}{}", self.name, format.suffix())
    }

    /// Begins the table in a folder, under its name.
    pub fn create(&self, folder: &Path, format: RowFormat, recipe: &str) -> Result<RowWriter, CorpusError> {
        RowWriter::create(&folder.join(self.file_name(format)), format, self.columns, recipe)
    }

    /// The names of the columns, in their order.
    pub fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(Column::name).collect()
    }

    /// The table without its last column.
    pub const fn without_last(self) -> Self {
        let columns = match self.columns {
            [first @ .., _] => first,
            [] => self.columns,
        };
        Table { columns, ..self }
    }
}

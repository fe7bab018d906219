//! Documents that are in memory already, as rows of a table that somebody else made.
//!
//! A table is read where it is in memory: each thread takes a stretch of rows and borrows their texts, and a row is
//! found again by its number.
//!
//! Documents of a table need no spool: whoever wants one again reads its row.

use std::fmt;
use std::sync::Arc;

use crate::{CorpusError, ReadOptions};

/// Rows in memory, each of them a document or a record that lacks one.
pub trait Table: Send + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// A row, by its number from 0.
    fn row(&self, row: usize) -> TableRow<'_>;

    /// Names of the columns that have one plain value per row.
    fn columns(&self) -> Vec<String> {
        Vec::new()
    }

    /// Appends the value that a row has in one of the [`columns`](Table::columns), by the column's index among them; false
    /// when it has none there.
    fn value(&self, row: usize, column: usize, out: &mut String) -> bool {
        let _ = (row, column, out);
        false
    }

    /// Bytes of all rows, which progress is told by.
    fn bytes(&self) -> u64 {
        (0..self.rows()).map(|row| self.row(row).bytes() as u64).sum()
    }
}

impl fmt::Debug for dyn Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table of {} rows", self.rows())
    }
}

/// One row of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableRow<'a> {
    /// The document's name.
    pub id: Option<&'a str>,
    /// Its text, taken as it is.
    pub text: Option<&'a str>,
    /// Its HTML, used when there is no text.
    pub html: Option<&'a str>,
    /// Its address.
    pub url: Option<&'a str>,
    /// The reason why the row's text cannot be read, if it has one that is no Unicode.
    pub unreadable: Option<&'a str>,
}

impl TableRow<'_> {
    /// Bytes of everything in it.
    pub fn bytes(&self) -> usize {
        [self.id, self.text, self.html, self.url].into_iter().flatten().map(str::len).sum()
    }
}

/// A table as a shard of a corpus, ready to be read by any number of threads.
#[derive(Debug, Clone)]
pub struct Rows {
    pub(crate) table: Arc<dyn Table>,
    pub(crate) shard: Arc<str>,
    /// The column of each further field that is asked for.
    pub(crate) extras: Arc<[usize]>,
}

impl Rows {
    /// Looks for the columns that `options` ask for.
    pub(crate) fn new(
        table: &Arc<dyn Table>,
        shard: &str,
        options: &ReadOptions,
    ) -> Result<Self, CorpusError> {
        let columns = if options.extras.is_empty() { Vec::new() } else { table.columns() };
        let place = |wanted: &String| {
            columns.iter().position(|column| column == wanted).ok_or_else(|| {
                let names: Vec<String> = columns.iter().map(|column| format!("{column:?}")).collect();
                let found = names.join(", ");
                CorpusError::NoField { name: shard.to_owned(), wanted: wanted.clone(), found }
            })
        };
        let extras = options.extras.iter().map(place).collect::<Result<_, _>>()?;
        Ok(Rows { table: table.clone(), shard: shard.into(), extras })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.table.rows()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

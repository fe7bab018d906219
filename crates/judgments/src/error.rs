//! Errors in the lines of a list, with their line numbers.

use std::fmt;
use std::io;

use crate::Layout;

/// A line of a list cannot be used.
#[derive(Debug)]
pub struct ListError {
    /// The name of the list, as it was given.
    pub list: String,
    /// The line, from 1.
    pub line: u64,
    /// The error in the line.
    pub error: Box<LineError>,
}

/// The errors that a line can have.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It has too few columns, or too many.
    #[error("it has {found} columns, and {layout} has {}: {}; correct it, or name the layout", layout.width(), layout.columns())]
    Columns {
        /// The number of its columns.
        found: usize,
        /// The layout of the file.
        layout: Layout,
    },
    /// It is in no layout of judgments.
    #[error("it is in no layout of judgments, which are {}; correct it", Layout::all_columns())]
    NoLayout,
    /// It is a line of a run.
    #[error(
        "it is a line of a run (topic Q0 document rank score tag) and no judgment; name a file of judgments"
    )]
    IsRun,
    /// Its label is no grade.
    #[error("its grade {0:?} is neither a whole number nor a pair such as 0.-1; correct it")]
    Grade(String),
    /// A column that has a number in this layout has none.
    #[error("its {column} is {found:?}, which is no {wanted}; correct it")]
    Number {
        /// The column.
        column: &'static str,
        /// The text that it holds.
        found: String,
        /// The kind of number that it should hold.
        wanted: &'static str,
    },
    /// It is no line of a run.
    #[error("it has {0} columns, and a run has 6: topic Q0 document rank score tag; correct it")]
    NoRun(usize),
    /// It is no group of documents.
    #[error("it is no group of documents; name a file whose lines are JSON with members, ids, or a and b")]
    NoGroup,
    /// It is no JSON.
    #[error("it is no JSON; name a file whose lines are JSON with members, ids, or a and b")]
    NoJson,
    /// A document's name has blanks, and columns are divided by them.
    #[error(
        "the document {0:?} cannot stand in a column, since its name is empty or has blanks; give it another"
    )]
    Name(String),
    /// It is not UTF-8.
    #[error("it is not UTF-8; convert the file")]
    NotUtf8,
    /// It is too long to be a line of such a list.
    #[error("it is longer than {most} bytes; name a file of judgments, a run or groups")]
    Long {
        /// The greatest length of a line, in bytes.
        most: usize,
    },
    /// The file could not be read.
    #[error("it cannot be read: {0}")]
    Unread(io::Error),
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: {}", self.list, self.line, self.error)
    }
}

impl std::error::Error for ListError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.error {
            LineError::Unread(error) => Some(error),
            _ => None,
        }
    }
}

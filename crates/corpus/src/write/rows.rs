//! Tables of results: rows with the same columns, as JSON lines or as Parquet.
//!
//! ```
//! use lookalike_corpus::write::rows::{Cell, Column, Kind, RowFormat, RowWriter};
//!
//! const REMOVED: &[Column] = &[
//!     Column::new("id", Kind::Text),
//!     Column::new("similarity", Kind::OptionalF64),
//!     Column::new("n", Kind::U64),
//! ];
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("removed.jsonl");
//! let mut rows = RowWriter::create(&file, RowFormat::Jsonl, REMOVED, "")?;
//! rows.push(&[Cell::Text("a"), Cell::OptionalF64(Some(0.875)), Cell::U64(7)])?;
//! rows.finish()?;
//! assert_eq!(std::fs::read_to_string(&file)?, "{\"id\":\"a\",\"similarity\":0.875,\"n\":7}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "parquet")]
mod columns;

use std::io;
use std::path::Path;

use serde::Serialize;

use super::sink::Sink;
use crate::{Compression, CorpusError};

/// The format in which a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RowFormat {
    /// One object per line, its members in the order of the columns.
    #[default]
    Jsonl,
    /// Apache Parquet.
    Parquet,
}

impl RowFormat {
    /// The customary ending of file names, with its dot.
    pub fn suffix(self) -> &'static str {
        match self {
            RowFormat::Jsonl => ".jsonl",
            RowFormat::Parquet => ".parquet",
        }
    }
}

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers from 0.
    U64,
    /// Whole numbers from 0, or none.
    OptionalU64,
    /// Numbers rounded to 9 decimals, or none.
    OptionalF64,
    /// Texts.
    Text,
    /// Texts, or none.
    OptionalText,
    /// Any number of texts.
    ListOfText,
    /// Any number of whole numbers from 0.
    ListOfU64,
    /// True or false.
    Bool,
}

impl Kind {
    /// True if a cell may hold nothing.
    pub const fn is_optional(self) -> bool {
        matches!(self, Kind::OptionalU64 | Kind::OptionalF64 | Kind::OptionalText)
    }
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    name: &'static str,
    kind: Kind,
    omit_if_none: bool,
    description: &'static str,
}

impl Column {
    /// A column; a cell that holds nothing is written as `null`. Names are plain words: letters, digits, `_`.
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Column { name, kind, omit_if_none: false, description: "" }
    }

    /// In JSON lines a cell that holds nothing is left out. In Parquet it is null all the same. Panics for a kind that always has a
    /// value; columns are constants, so that the compiler says it.
    pub const fn omit_if_none(self) -> Self {
        assert!(self.kind.is_optional(), "a cell of this kind always has a value");
        Column { omit_if_none: true, ..self }
    }

    /// The column with a sentence about its values. It stands in no file.
    pub const fn described(self, description: &'static str) -> Self {
        Column { description: description.trim_ascii(), ..self }
    }

    /// Returns the name of the column.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the type of the column's values.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the sentence about the column's values; empty if nobody gave one.
    pub fn description(&self) -> &'static str {
        self.description
    }

    /// True if JSON lines leave out a cell that holds nothing.
    pub fn is_omitted_if_none(&self) -> bool {
        self.omit_if_none
    }
}

/// One value of a row, of the kind that its column has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// For [`Kind::U64`].
    U64(u64),
    /// For [`Kind::OptionalU64`].
    OptionalU64(Option<u64>),
    /// For [`Kind::OptionalF64`]; what is no number counts as none.
    OptionalF64(Option<f64>),
    /// For [`Kind::Text`].
    Text(&'a str),
    /// For [`Kind::OptionalText`].
    OptionalText(Option<&'a str>),
    /// For [`Kind::ListOfText`].
    ListOfText(&'a [&'a str]),
    /// For [`Kind::ListOfU64`].
    ListOfU64(&'a [u64]),
    /// For [`Kind::Bool`].
    Bool(bool),
}

/// One value of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListValue {
    /// For [`Kind::ListOfText`].
    Text(String),
    /// For [`Kind::ListOfU64`].
    U64(u64),
}

impl Cell<'_> {
    fn is_list(&self) -> bool {
        matches!(self, Cell::ListOfText(_) | Cell::ListOfU64(_))
    }

    fn kind(&self) -> Kind {
        match self {
            Cell::U64(_) => Kind::U64,
            Cell::OptionalU64(_) => Kind::OptionalU64,
            Cell::OptionalF64(_) => Kind::OptionalF64,
            Cell::Text(_) => Kind::Text,
            Cell::OptionalText(_) => Kind::OptionalText,
            Cell::ListOfText(_) => Kind::ListOfText,
            Cell::ListOfU64(_) => Kind::ListOfU64,
            Cell::Bool(_) => Kind::Bool,
        }
    }

    /// The cell with its number rounded as it is written.
    fn rounded(self) -> Self {
        match self {
            Cell::OptionalF64(Some(number)) => {
                let rounded = lookalike_model::rounded(number);
                Cell::OptionalF64(Some(rounded).filter(|number| number.is_finite()))
            }
            other => other,
        }
    }

    fn is_none(&self) -> bool {
        matches!(self, Cell::OptionalU64(None) | Cell::OptionalF64(None) | Cell::OptionalText(None))
    }
}

/// Writes a table. The file appears under its name when [`RowWriter::finish`] is called; the same rows give the same
/// bytes.
pub struct RowWriter {
    columns: &'static [Column],
    /// The file's name, for messages.
    name: String,
    table: Table,
}

enum Table {
    Lines(Box<Sink>),
    #[cfg(feature = "parquet")]
    Columns(Box<columns::ParquetTable>),
}

impl RowWriter {
    /// Begins a table that will stand at `target`.
    ///
    /// JSON lines are compressed as the name asks. Parquet carries `recipe`, in its metadata under
    /// `lookalike.recipe`; JSON lines have no place for it.
    pub fn create(
        target: &Path,
        format: RowFormat,
        columns: &'static [Column],
        recipe: &str,
    ) -> Result<Self, CorpusError> {
        let table = match format {
            RowFormat::Jsonl => Table::Lines(Box::new(Sink::create(target, Compression::named(target))?)),
            #[cfg(feature = "parquet")]
            RowFormat::Parquet => {
                Table::Columns(Box::new(columns::ParquetTable::create(target, columns, recipe)?))
            }
            #[cfg(not(feature = "parquet"))]
            RowFormat::Parquet => {
                let (name, _) = (target.display().to_string(), recipe);
                return Err(CorpusError::NotBuilt { name, feature: "parquet" });
            }
        };
        Ok(RowWriter { columns, name: target.display().to_string(), table })
    }

    /// Adds a row with one cell for each column, in their order. Fails when a cell is not of its column's kind.
    pub fn push(&mut self, row: &[Cell<'_>]) -> Result<(), CorpusError> {
        self.check(row)?;
        match &mut self.table {
            Table::Lines(sink) => {
                push_line(&mut sink.buffer, self.columns, row);
                sink.write_buffer()
            }
            #[cfg(feature = "parquet")]
            Table::Columns(columns) => columns.push(row),
        }
    }

    /// Adds a row with one cell for each column, in their order, and in place of every list values that need not be in memory: `count` is
    /// asked for their number by the number of the column, and `value` for each of them, by that and its place in the list. JSON lines
    /// are written value by value. Parquet asks a second time for the values of a row that is too long to be in memory.
    pub fn push_lists<E: From<CorpusError>>(
        &mut self,
        row: &[Cell<'_>],
        count: impl Fn(usize) -> usize,
        mut value: impl FnMut(usize, usize) -> Result<ListValue, E>,
    ) -> Result<(), E> {
        self.check(row)?;
        match &mut self.table {
            Table::Lines(sink) => push_long_line(sink, self.columns, row, count, &mut value),
            #[cfg(feature = "parquet")]
            Table::Columns(columns) => columns.push_lists(row, count, value),
        }
    }

    /// Closes the file and moves it to its place.
    pub fn finish(self) -> Result<(), CorpusError> {
        match self.table {
            Table::Lines(sink) => sink.finish(),
            #[cfg(feature = "parquet")]
            Table::Columns(columns) => columns.finish(),
        }
    }

    fn check(&self, row: &[Cell<'_>]) -> Result<(), CorpusError> {
        let fits = |(column, cell): (&Column, &Cell<'_>)| column.kind == cell.kind();
        if row.len() == self.columns.len() && self.columns.iter().zip(row).all(fits) {
            return Ok(());
        }
        let complaint = "a row does not fit its columns; this is an error in the program";
        Err(CorpusError::Write { name: self.name.clone(), source: io::Error::other(complaint) })
    }
}

/// Appends a row as a line of JSON, as a [`RowWriter`] writes it. The row has one cell for each column, in their order.
pub fn push_line(out: &mut Vec<u8>, columns: &[Column], row: &[Cell<'_>]) {
    let mut before = b'{';
    for (column, cell) in columns.iter().zip(row) {
        if push_name(out, &mut before, column, cell) {
            push_cell(out, *cell);
        }
    }
    end_line(out, before);
}

/// Appends the name of a cell, behind what `before` says; false when the cell is left out.
fn push_name(out: &mut Vec<u8>, before: &mut u8, column: &Column, cell: &Cell<'_>) -> bool {
    if column.omit_if_none && cell.rounded().is_none() {
        return false;
    }
    out.push(std::mem::replace(before, b','));
    push_json(out, &column.name);
    out.push(b':');
    true
}

fn push_cell(out: &mut Vec<u8>, cell: Cell<'_>) {
    match cell.rounded() {
        Cell::U64(number) => push_json(out, &number),
        Cell::OptionalU64(number) => push_json(out, &number),
        Cell::OptionalF64(number) => push_json(out, &number),
        Cell::Text(text) => push_json(out, text),
        Cell::OptionalText(text) => push_json(out, &text),
        Cell::ListOfText(texts) => push_json(out, texts),
        Cell::ListOfU64(numbers) => push_json(out, numbers),
        Cell::Bool(truth) => push_json(out, &truth),
    }
}

fn end_line(out: &mut Vec<u8>, before: u8) {
    if before == b'{' {
        out.push(b'{');
    }
    out.extend_from_slice(b"}\n");
}

/// Bytes of an unfinished line at which they are written.
const LONG_LINE: usize = 64 << 10;

/// Writes a line whose lists are asked for value by value.
fn push_long_line<E: From<CorpusError>>(
    sink: &mut Sink,
    columns: &[Column],
    row: &[Cell<'_>],
    count: impl Fn(usize) -> usize,
    value: &mut impl FnMut(usize, usize) -> Result<ListValue, E>,
) -> Result<(), E> {
    let mut before = b'{';
    for (number, (column, cell)) in columns.iter().zip(row).enumerate() {
        if !push_name(&mut sink.buffer, &mut before, column, cell) {
            continue;
        }
        if !cell.is_list() {
            push_cell(&mut sink.buffer, *cell);
            continue;
        }
        sink.buffer.push(b'[');
        for index in 0..count(number) {
            if index > 0 {
                sink.buffer.push(b',');
            }
            match value(number, index)? {
                ListValue::Text(text) => push_json(&mut sink.buffer, &text),
                ListValue::U64(number) => push_json(&mut sink.buffer, &number),
            }
            if sink.buffer.len() >= LONG_LINE {
                sink.write_buffer()?;
            }
        }
        sink.buffer.push(b']');
    }
    end_line(&mut sink.buffer, before);
    Ok(sink.write_buffer()?)
}

/// Appends a value; numbers in their shortest form.
fn push_json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(out, value).expect("numbers and texts are always JSON, and memory can be written");
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const ALL: &[Column] = &[
        Column::new("id", Kind::Text),
        Column::new("n", Kind::U64),
        Column::new("similarity", Kind::OptionalF64),
        Column::new("url", Kind::OptionalText).omit_if_none(),
        Column::new("members", Kind::ListOfText),
        Column::new("members_n", Kind::ListOfU64),
        Column::new("exact", Kind::Bool),
    ];

    /// Rows that hold every kind of value, and nothing of each.
    pub(super) const ROWS: [[Cell<'static>; 7]; 3] = [
        [
            Cell::Text("a\"\n"),
            Cell::U64(u64::MAX),
            Cell::OptionalF64(Some(0.123_456_789_4)),
            Cell::OptionalText(Some("u")),
            Cell::ListOfText(&["a", "ü"]),
            Cell::ListOfU64(&[0, u64::MAX]),
            Cell::Bool(true),
        ],
        [
            Cell::Text(""),
            Cell::U64(0),
            Cell::OptionalF64(None),
            Cell::OptionalText(None),
            Cell::ListOfText(&[]),
            Cell::ListOfU64(&[]),
            Cell::Bool(false),
        ],
        [
            Cell::Text("c"),
            Cell::U64(7),
            Cell::OptionalF64(Some(1.0)),
            Cell::OptionalText(Some("")),
            Cell::ListOfText(&[""]),
            Cell::ListOfU64(&[5]),
            Cell::Bool(true),
        ],
    ];

    pub(super) fn written(name: &str, format: RowFormat, rows: &[[Cell<'_>; 7]]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join(name);
        let mut writer = RowWriter::create(&target, format, ALL, "the recipe").unwrap();
        rows.iter().for_each(|row| writer.push(row).unwrap());
        assert!(!target.exists());
        writer.finish().unwrap();
        std::fs::read(target).unwrap()
    }

    #[test]
    fn lines_have_their_members_in_order_and_leave_out_what_they_may() {
        let file = String::from_utf8(written("a.jsonl", RowFormat::Jsonl, &ROWS)).unwrap();
        let expected = "{\"id\":\"a\\\"\\n\",\"n\":18446744073709551615,\"similarity\":0.123456789,\"url\":\"u\",\
            \"members\":[\"a\",\"ü\"],\"members_n\":[0,18446744073709551615],\"exact\":true}\n\
            {\"id\":\"\",\"n\":0,\"similarity\":null,\"members\":[],\"members_n\":[],\"exact\":false}\n\
            {\"id\":\"c\",\"n\":7,\"similarity\":1.0,\"url\":\"\",\"members\":[\"\"],\"members_n\":[5],\"exact\":true}\n";
        assert_eq!(file, expected);
        for line in file.lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
    }

    #[test]
    fn lists_may_come_value_by_value() {
        for format in [RowFormat::Jsonl, RowFormat::Parquet] {
            if format == RowFormat::Parquet && !cfg!(feature = "parquet") {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let [whole, slowly] = ["whole", "slowly"].map(|name| folder.path().join(name));
            let texts: Vec<String> =
                (0..9000).map(|n| format!("\"page\" {n} {}", "x".repeat(n % 20))).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let numbers: Vec<u64> = (0..9000).collect();
            let row = |texts, numbers| {
                let mut row = ROWS[0];
                (row[4], row[5]) = (Cell::ListOfText(texts), Cell::ListOfU64(numbers));
                row
            };
            let mut writer = RowWriter::create(&whole, format, ALL, "").unwrap();
            writer.push(&row(&texts, &numbers)).unwrap();
            writer.push(&ROWS[1]).unwrap();
            writer.finish().unwrap();
            let mut writer = RowWriter::create(&slowly, format, ALL, "").unwrap();
            let value = |column: usize, index: usize| -> Result<ListValue, CorpusError> {
                Ok(match column {
                    4 => ListValue::Text(texts[index].to_owned()),
                    _ => ListValue::U64(numbers[index]),
                })
            };
            writer.push_lists(&row(&[], &[]), |_| texts.len(), value).unwrap();
            writer.push_lists(&ROWS[1], |_| 0, value).unwrap();
            writer.finish().unwrap();
            assert!(std::fs::read(whole).unwrap() == std::fs::read(slowly).unwrap(), "{format:?}");
        }
    }

    #[test]
    fn numbers_are_rounded_and_short() {
        let line = |number| {
            let mut out = Vec::new();
            push_line(&mut out, &[Column::new("s", Kind::OptionalF64)], &[Cell::OptionalF64(Some(number))]);
            String::from_utf8(out).unwrap()
        };
        for (number, json) in [
            (1.0, "1.0"),
            (0.875, "0.875"),
            (2.0 / 3.0, "0.666666667"),
            (0.1 + 0.2, "0.3"),
            (-1e-12, "0.0"),
            (1e-9, "1e-9"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
        ] {
            assert_eq!(line(number), format!("{{\"s\":{json}}}\n"));
        }
    }

    #[test]
    fn a_row_of_nothing_is_an_empty_object() {
        let mut out = Vec::new();
        let column = Column::new("s", Kind::OptionalText).omit_if_none();
        push_line(&mut out, &[column], &[Cell::OptionalText(None)]);
        assert_eq!(out, b"{}\n");
    }

    #[test]
    fn a_row_that_does_not_fit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer =
            RowWriter::create(&folder.path().join("a"), RowFormat::Jsonl, &ALL[..2], "").unwrap();
        assert!(writer.push(&[Cell::Text("a")]).is_err());
        let said = writer.push(&[Cell::U64(1), Cell::U64(1)]).unwrap_err().to_string();
        assert!(said.ends_with("a row does not fit its columns; this is an error in the program"), "{said}");
    }

    #[test]
    fn lines_are_compressed_as_the_name_asks() {
        let plain = written("a.jsonl", RowFormat::Jsonl, &ROWS);
        let file = written("a.jsonl.zst", RowFormat::Jsonl, &ROWS);
        assert_eq!(zstd::decode_all(&file[..]).unwrap(), plain);
    }

    #[cfg(not(feature = "parquet"))]
    #[test]
    fn what_is_not_built_in_is_named() {
        let Err(error) = RowWriter::create(Path::new("a"), RowFormat::Parquet, ALL, "") else {
            panic!("Parquet is not built in")
        };
        assert_eq!(
            error.to_string(),
            "a needs lookalike built with the cargo feature `parquet`; of the program: build it with --features full"
        );
    }
}

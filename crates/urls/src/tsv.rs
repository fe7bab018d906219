//! Tables with a line of heads and tabs between cells.

use std::io::Write;
use std::path::Path;

use lookalike::corpus::write::Sink;
use lookalike::corpus::{Compression, CorpusError};
use lookalike::tables::Table;

/// A table on its way into a file, which appears when it is whole.
pub(crate) struct Tsv {
    sink: Sink,
    name: String,
    line: String,
}

impl Tsv {
    /// Begins a table, which its caller names by `path`, with the names of its columns.
    pub(crate) fn create(path: &Path, table: Table) -> Result<Self, CorpusError> {
        let sink = Sink::create(path, Compression::None)?;
        let mut file = Tsv { sink, name: path.display().to_string(), line: String::new() };
        table.names().into_iter().for_each(|name| file.text(name));
        file.end()?;
        Ok(file)
    }

    /// Appends a cell of words. What would end a cell or a line, or a terminal would obey, is written as `\u{9}`.
    pub(crate) fn text(&mut self, text: &str) {
        self.separate();
        for c in text.chars() {
            if c.is_control() { self.line.extend(c.escape_unicode()) } else { self.line.push(c) }
        }
    }

    /// Appends a number of things.
    pub(crate) fn count(&mut self, count: u64) {
        self.separate();
        self.line.push_str(&count.to_string());
    }

    /// Appends a number with six decimals, or an empty cell.
    pub(crate) fn number(&mut self, number: Option<f64>) {
        self.separate();
        if let Some(number) = number {
            self.line.push_str(&format!("{number:.6}"));
        }
    }

    /// Appends a part of a whole: the number and its share.
    pub(crate) fn part(&mut self, part: u64, whole: u64) {
        self.count(part);
        self.number(share(part, whole));
    }

    /// Appends the ends of an interval.
    pub(crate) fn interval(&mut self, interval: Option<(f64, f64)>) {
        self.number(interval.map(|(low, _)| low));
        self.number(interval.map(|(_, high)| high));
    }

    fn separate(&mut self) {
        if !self.line.is_empty() {
            self.line.push('\t');
        }
    }

    /// Ends the line.
    pub(crate) fn end(&mut self) -> Result<(), CorpusError> {
        self.line.push('\n');
        let written = self.sink.write_all(self.line.as_bytes());
        self.line.clear();
        written.map_err(|source| CorpusError::Write { name: self.name.clone(), source })
    }

    pub(crate) fn finish(self) -> Result<(), CorpusError> {
        self.sink.finish()
    }
}

/// A part of a whole; nothing of nothing.
pub(crate) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike::corpus::write::rows::{Column, Kind};

    /// A table of one column.
    const NARROW: Table = Table { name: "table", row: "A row.", columns: &[Column::new("a", Kind::Text)] };

    /// The text of a table that is filled by `fill`.
    fn written(table: Table, fill: impl FnOnce(&mut Tsv)) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.tsv");
        let mut table = Tsv::create(&path, table).unwrap();
        fill(&mut table);
        table.finish().unwrap();
        std::fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn a_table_without_rows_has_its_heads() {
        const COLUMNS: &[Column] = &[Column::new("name", Kind::Text), Column::new("count", Kind::U64)];
        assert_eq!(written(Table { columns: COLUMNS, ..NARROW }, |_| ()), "name\tcount\n");
    }

    #[test]
    fn cells_stand_between_tabs() {
        let text = written(NARROW, |table| {
            table.text("x");
            table.count(u64::MAX);
            table.number(Some(0.5));
            table.end().unwrap();
            table.text("y");
            table.end().unwrap();
        });
        assert_eq!(text, "a\nx\t18446744073709551615\t0.500000\ny\n");
    }

    #[test]
    fn a_number_that_is_not_known_leaves_its_cell_empty() {
        let text = written(NARROW, |table| {
            table.text("x");
            table.number(None);
            table.part(0, 0);
            table.interval(None);
            table.end().unwrap();
        });
        assert_eq!(text, "a\nx\t\t0\t\t\t\n");
    }

    #[test]
    fn shares_and_intervals_have_six_decimals() {
        let text = written(NARROW, |table| {
            table.text("x");
            table.part(2, 3);
            table.interval(Some((0.1, 1.0)));
            table.end().unwrap();
        });
        assert_eq!(text, "a\nx\t2\t0.666667\t0.100000\t1.000000\n");
    }

    #[test]
    fn what_would_break_a_line_is_escaped_and_other_letters_stay() {
        let text = written(NARROW, |table| {
            table.text("bücher\t\r\n\u{1b}[31m中");
            table.end().unwrap();
        });
        assert_eq!(text, "a\nbücher\\u{9}\\u{d}\\u{a}\\u{1b}[31m中\n");
    }

    #[test]
    fn a_table_appears_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.tsv");
        let mut table = Tsv::create(&path, NARROW).unwrap();
        table.text("x");
        table.end().unwrap();
        assert!(!path.exists());
        table.finish().unwrap();
        assert!(path.exists());
    }

    #[test]
    fn a_table_in_a_folder_that_is_not_there_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere").join("table.tsv");
        let Err(error) = Tsv::create(&path, NARROW) else { panic!("there is no such folder") };
        assert!(error.to_string().contains("table.tsv"), "{error}");
    }

    #[test]
    fn there_is_no_share_of_nothing() {
        assert_eq!(
            [share(0, 0), share(0, 4), share(1, 4), share(4, 4)],
            [None, Some(0.0), Some(0.25), Some(1.0)]
        );
    }
}

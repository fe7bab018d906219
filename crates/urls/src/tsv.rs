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

//! A study for a terminal: words, and tables in columns.

use crate::numbers;
use crate::plots;
use crate::study::{Block, Grid, Study};
use crate::study_page::is_numeric;

/// Narrower than this nothing can be read.
const LEAST_LINE_WIDTH: usize = 20;
/// Columns of words are not made narrower than this.
const LEAST_COLUMN_WIDTH: usize = 8;
/// Blanks between columns.
const COLUMN_GAP: usize = 2;

/// A study as text of at most `width` characters a line, where its tables allow that.
///
/// Tables are aligned columns; of pictures there is only a mention. What a terminal would obey is written as
/// numbers.
pub fn study_text(study: &Study, width: usize) -> String {
    let width = width.max(LEAST_LINE_WIDTH);
    let mut out = Vec::new();
    let title = wrapped(&format!("{} {}", study.id, study.title), width, "");
    let underline = "=".repeat(title.iter().map(|line| line.chars().count()).max().unwrap_or(0));
    out.extend(title);
    out.push(underline);
    paragraphs(&mut out, &study.lead, width);
    if !study.notes.is_empty() {
        out.push(String::new());
    }
    for note in &study.notes {
        out.extend(wrapped(&format!("! {note}"), width, "  "));
    }
    for block in &study.blocks {
        self::block(&mut out, block, width);
    }
    facts(&mut out, &study.facts, width);
    out.join("\n") + "\n"
}

fn block(out: &mut Vec<String>, block: &Block, width: usize) {
    match block {
        Block::Heading(text) => {
            out.push(String::new());
            let lines = wrapped(text, width, "");
            let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            out.extend(lines);
            out.push("-".repeat(longest));
        }
        Block::Text(text) => paragraphs(out, text, width),
        Block::Table(grid) => {
            out.push(String::new());
            table(out, grid, width);
        }
        Block::Plot(plot) => {
            out.push(String::new());
            let words = format!("[picture in report.html: {}]", plots::name(plot));
            out.extend(wrapped(&words, width, " "));
        }
    }
}

fn paragraphs(out: &mut Vec<String>, text: &str, width: usize) {
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        out.push(String::new());
        out.extend(wrapped(paragraph, width, ""));
    }
}

fn facts(out: &mut Vec<String>, facts: &[(String, String)], width: usize) {
    if facts.is_empty() {
        return;
    }
    out.push(String::new());
    for (name, value) in facts {
        out.extend(wrapped(&format!("{name}: {value}"), width, "    "));
    }
}

fn table(out: &mut Vec<String>, grid: &Grid, width: usize) {
    out.extend(wrapped(&grid.name, width, ""));
    let heads: Vec<String> = grid.columns.iter().map(|name| visible(name)).collect();
    let text = |row: &Vec<_>| row.iter().map(|value| visible(&numbers::value(value))).collect();
    let rows: Vec<Vec<String>> = grid.rows.iter().map(text).collect();
    let right: Vec<bool> = (0..heads.len()).map(|column| is_numeric(grid, column)).collect();
    let widths = widths(&heads, &rows, &right, width);
    out.push(columns(&heads, &right, &widths));
    out.push(columns(&widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>(), &right, &widths));
    out.extend(rows.iter().map(|row| columns(row, &right, &widths)));
}

/// As wide as what is in them; columns of words give way, the widest first, when all are too wide together. The first, which
/// names the rows, gives way last.
fn widths(heads: &[String], rows: &[Vec<String>], right: &[bool], width: usize) -> Vec<usize> {
    let longest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).chain([&heads[column]]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..heads.len()).map(longest).collect();
    let gaps = COLUMN_GAP * heads.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > width {
        let words =
            (0..widths.len()).filter(|column| !right[*column] && widths[*column] > LEAST_COLUMN_WIDTH);
        let Some(widest) = words.max_by_key(|column| (*column > 0, widths[*column])) else { break };
        widths[widest] -= 1;
    }
    widths
}

fn columns(cells: &[String], right: &[bool], widths: &[usize]) -> String {
    let mut line = String::new();
    for ((cell, right), width) in cells.iter().zip(right).zip(widths) {
        let cell = cut(cell, *width);
        let blanks = " ".repeat(width - cell.chars().count());
        line += &if *right { blanks + &cell } else { cell + &blanks };
        line += &" ".repeat(COLUMN_GAP);
    }
    line.trim_end().to_owned()
}

/// The words, or their beginning.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Words in lines, parted at blanks that may be broken at; all but the first begin with `indent`. Words that are too long have a line of their own.
fn wrapped(text: &str, width: usize, indent: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for (index, word) in text.split_ascii_whitespace().enumerate() {
        let word = visible(word);
        let wide = word.chars().count();
        if index > 0 && length + 1 + wide > width {
            lines.push(indent.to_owned());
            length = indent.chars().count();
        } else if index > 0 {
            lines.last_mut().expect("there is a line").push(' ');
            length += 1;
        }
        lines.last_mut().expect("there is a line").push_str(&word);
        length += wide;
    }
    lines
}

/// Replaces characters that a terminal would act on, control characters and those that change the writing direction, by their
/// Unicode escapes.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if turns || c.is_control() {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Plot, Points, Value};

    fn study() -> Study {
        let mut study = Study {
            id: "E1".to_owned(),
            title: "Which method finds most".to_owned(),
            lead: "MinHash finds 93 % of all pairs, and most of what it misses is short.".to_owned(),
            notes: vec!["Only 4,000 documents were looked at, since more would take hours.".to_owned()],
            ..Study::default()
        };
        study.heading("Recall");
        let mut grid = Grid::new("Found pairs", ["Method", "Pairs", "Recall", "95 %", "Remark"]);
        grid.row([
            "minhash".into(),
            12345u64.into(),
            0.9987.into(),
            (0.99, 1.0).into(),
            "as expected".into(),
        ]);
        grid.row(["a \u{1b}[31m".into(), 7u64.into(), Value::None, Value::None, Value::None]);
        study.table(grid);
        study.plot(Plot::Points(Points { name: "Recall and time".to_owned(), ..Points::default() }));
        study.fact("seed", "1");
        study
    }

    #[test]
    fn tables_are_columns() {
        let text = study_text(&study(), 80);
        let expected = "\
E1 Which method finds most
==========================

MinHash finds 93 % of all pairs, and most of what it misses is short.

! Only 4,000 documents were looked at, since more would take hours.

Recall
------

Found pairs
Method         Pairs  Recall    95 %  Remark
------------  ------  ------  ------  -----------
minhash       12,345  0.9987  0.99–1  as expected
a \\u{1b}[31m       7       –       –  –

[picture in report.html: Recall and time]

seed: 1
";
        assert_eq!(text, expected);
    }

    #[test]
    fn lines_are_no_longer_than_asked() {
        for width in [42, 47, 60] {
            for line in study_text(&study(), width).lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
        assert!(study_text(&Study::default(), 0).ends_with('\n'));
    }
}

//! Studies as a page: one file that needs nothing but itself.

use crate::html::Html;
use crate::numbers;
use crate::page::{document, warnings};
use crate::plots;
use crate::study::{Block, Grid, Study, Value};
use crate::tables::Head::{Number, Words};
use crate::tables::{head, number, table};

/// Tables of more rows are folded.
const LONG_TABLE: usize = 40;

/// Makes one self-contained HTML page of studies.
///
/// It loads nothing and runs no script, and everything that studies say is escaped. Equal studies give equal pages.
pub fn study_page(title: &str, lead: &str, studies: &[Study]) -> String {
    let anchors = anchors(studies);
    document(title, |html| {
        html.element("header", &[], |html| {
            html.leaf("h1", &[], title);
            paragraphs(html, Some("lead"), lead);
        });
        if studies.len() > 1 {
            contents(html, studies, &anchors);
        }
        html.element("main", &[], |html| {
            for (study, anchor) in studies.iter().zip(&anchors) {
                section(html, study, anchor);
            }
        });
    })
}

/// Ids of studies as ids of elements: letters, digits and hyphens, none twice.
fn anchors(studies: &[Study]) -> Vec<String> {
    let plain = |id: &str| -> String {
        let keep = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        if id.is_empty() { "study".to_owned() } else { id.chars().map(keep).collect() }
    };
    let mut out: Vec<String> = Vec::new();
    for study in studies {
        let wanted = plain(&study.id);
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let free = std::iter::once(wanted.clone()).chain(numbered).find(|anchor| !out.contains(anchor));
        out.extend(free);
    }
    out
}

fn contents(html: &mut Html, studies: &[Study], anchors: &[String]) {
    html.element("nav", &[("class", "contents"), ("aria-label", "Studies")], |html| {
        html.element("ol", &[], |html| {
            for (study, anchor) in studies.iter().zip(anchors) {
                html.element("li", &[], |html| {
                    html.element("a", &[("href", &format!("#{anchor}"))], |html| {
                        html.leaf("bdi", &[("class", "id")], &study.id);
                        html.text(" ");
                        html.leaf("bdi", &[], &study.title);
                    });
                });
            }
        });
    });
}

fn section(html: &mut Html, study: &Study, anchor: &str) {
    html.element("section", &[("id", anchor)], |html| {
        html.element("h2", &[], |html| {
            html.leaf("bdi", &[("class", "number-of-study")], &study.id);
            html.text(" ");
            html.leaf("bdi", &[], &study.title);
        });
        paragraphs(html, Some("lead"), &study.lead);
        warnings(html, &study.notes);
        for (index, block) in study.blocks.iter().enumerate() {
            // No anchor has a colon in it.
            self::block(html, &format!("{anchor}:{index}"), block);
        }
        facts(html, &study.facts);
    });
}

fn block(html: &mut Html, id: &str, block: &Block) {
    match block {
        Block::Heading(text) => html.leaf("h3", &[], text),
        Block::Text(text) => paragraphs(html, None, text),
        // A long table would stand between a reader and the pictures below it.
        Block::Table(grid) if grid.rows.len() > LONG_TABLE => html.element("details", &[], |html| {
            html.leaf("summary", &[], &format!("{} ({} rows)", grid.name, grid.rows.len()));
            self::grid(html, grid);
        }),
        Block::Table(grid) => self::grid(html, grid),
        Block::Plot(plot) => plots::plot(html, id, plot),
    }
}

/// A blank line parts paragraphs.
fn paragraphs(html: &mut Html, class: Option<&str>, text: &str) {
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        match class {
            Some(class) => html.leaf("p", &[("class", class)], paragraph),
            None => html.leaf("p", &[], paragraph),
        }
    }
}

fn grid(html: &mut Html, grid: &Grid) {
    let right: Vec<bool> = (0..grid.columns.len()).map(|column| is_numeric(grid, column)).collect();
    let kind = |(name, right): (&'_ String, &bool)| (name.clone(), *right);
    let columns: Vec<(String, bool)> = grid.columns.iter().zip(&right).map(kind).collect();
    let heads: Vec<_> =
        columns.iter().map(|(name, right)| if *right { Number(name) } else { Words(name) }).collect();
    table(html, &grid.name, &heads, |html| {
        for row in &grid.rows {
            html.element("tr", &[], |html| {
                for (column, value) in row.iter().enumerate() {
                    let text = numbers::value(value);
                    match (column, right.get(column)) {
                        (0, _) => head(html, &text),
                        (_, Some(true)) => number(html, &text),
                        _ => html.element("td", &[], |html| html.leaf("bdi", &[], &text)),
                    }
                }
            });
        }
    });
}

/// True for a column of numbers, which stand at its right edge. The first column names the rows.
pub(crate) fn is_numeric(grid: &Grid, column: usize) -> bool {
    let mut values =
        grid.rows.iter().filter_map(|row| row.get(column)).filter(|value| **value != Value::None).peekable();
    column > 0 && values.peek().is_some() && values.all(|value| !matches!(value, Value::Text(_)))
}

fn facts(html: &mut Html, facts: &[(String, String)]) {
    if facts.is_empty() {
        return;
    }
    html.element("div", &[("class", "facts-table")], |html| {
        table(html, "What was run, and on what", &[Words("Fact"), Words("Value")], |html| {
            for (name, value) in facts {
                html.element("tr", &[], |html| {
                    head(html, name);
                    html.element("td", &[], |html| html.leaf("bdi", &[], value));
                });
            }
        });
    });
}

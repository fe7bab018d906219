//! Colours, signs and dashes, and what they stand for. No two series differ by colour alone.

use crate::html::Html;
use crate::study::Origin;
use crate::svg::{WIDTH, circle, fit, label, line, path, shape, width_of};

/// Colours in the style sheet.
pub(crate) const COLOURS: usize = 8;
/// Shapes of signs. Not as many as colours, so that both repeat together late.
const SIGNS: usize = 6;
/// Patterns of dashes in the style sheet; for the same reason.
const DASHES: usize = 5;
/// Half the width of a sign.
pub(crate) const RADIUS: f64 = 3.2;
/// Height of a row.
const ROW: f64 = 15.0;
/// Width of the sign before a name.
const SIGN_WIDTH: f64 = 26.0;
/// Free room behind a name.
const GAP: f64 = 12.0;

/// The style of a line and its signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineStyle {
    /// The number that selects colour, sign and dash.
    pub(crate) slot: usize,
    /// Solid, dashed or dotted.
    pub(crate) origin: Origin,
}

impl LineStyle {
    /// The class with its colour.
    pub(crate) fn colour(self) -> String {
        format!("c{}", self.slot % COLOURS)
    }

    /// The classes of its line.
    pub(crate) fn line(self) -> String {
        let dash = match self.origin {
            Origin::Measured => String::new(),
            Origin::Theory => format!(" theory-{}", self.slot % DASHES),
            Origin::Published => " published".to_owned(),
        };
        format!("curve {}{dash}", self.colour())
    }

    /// Draws its sign; formulas have none.
    pub(crate) fn sign(self, html: &mut Html, at: (f64, f64), title: Option<&str>) {
        let class = match self.origin {
            Origin::Measured => format!("sign {}", self.colour()),
            Origin::Published => format!("sign hollow {}", self.colour()),
            Origin::Theory => return,
        };
        sign(html, &class, self.slot % SIGNS, at, RADIUS, title);
    }
}

/// Draws one of the signs.
pub(crate) fn sign(
    html: &mut Html,
    class: &str,
    which: usize,
    (x, y): (f64, f64),
    radius: f64,
    title: Option<&str>,
) {
    let arm = radius / 3.0;
    let unit_corners: &[(f64, f64)] = match which {
        0 => return circle(html, class, (x, y), radius, title),
        1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2 => &[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)],
        3 => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
        4 => &[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)],
        _ => {
            let (long, arm) = (1.2 * radius, arm * 1.2);
            let plus = [
                (-arm, -long),
                (arm, -long),
                (arm, -arm),
                (long, -arm),
                (long, arm),
                (arm, arm),
                (arm, long),
                (-arm, long),
                (-arm, arm),
                (-long, arm),
                (-long, -arm),
                (-arm, -arm),
            ];
            return shape(html, class, &plus.map(|(dx, dy)| (x + dx, y + dy)), title);
        }
    };
    let corners: Vec<(f64, f64)> =
        unit_corners.iter().map(|(dx, dy)| (x + dx * radius, y + dy * radius)).collect();
    shape(html, class, &corners, title);
}

/// An entry of the legend.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The sign before the name.
    pub(crate) sign: LegendSign,
    /// The name.
    pub(crate) name: String,
}

/// The sign before the name of an entry.
#[derive(Debug)]
pub(crate) enum LegendSign {
    /// A line with its sign.
    Line(LineStyle),
    /// A sign, by its class, number and size.
    Sign(&'static str, usize, f64),
    /// A straight line of a class.
    Rule(&'static str),
    /// A bar of some classes.
    Bar(String),
}

/// The x coordinate of an entry, its row, and its name cut to the width available.
type PlacedEntry = (f64, usize, String);

/// Entries in columns of one width; one behind the other where that takes fewer rows.
fn rows(entries: &[Entry]) -> Vec<PlacedEntry> {
    let names: Vec<String> = entries.iter().map(|entry| fit(&entry.name, WIDTH - SIGN_WIDTH - 6.0)).collect();
    let widths: Vec<f64> = names.iter().map(|name| SIGN_WIDTH + width_of(name) + GAP).collect();
    let widest = widths.iter().copied().fold(0.0, f64::max);
    let arrange = |widths: &[f64]| -> Vec<PlacedEntry> {
        let (mut x, mut row) = (2.0, 0);
        let mut out = Vec::new();
        for (width, name) in widths.iter().zip(&names) {
            if x > 2.0 && x + width - GAP > WIDTH - 2.0 {
                (x, row) = (2.0, row + 1);
            }
            out.push((x, row, name.clone()));
            x += width;
        }
        out
    };
    let (columns, flow) = (arrange(&vec![widest; names.len()]), arrange(&widths));
    let count = |placed: &[PlacedEntry]| placed.last().map_or(0, |(_, row, _)| row + 1);
    if count(&flow) < count(&columns) { flow } else { columns }
}

/// Height of a legend.
pub(crate) fn height(entries: &[Entry]) -> f64 {
    rows(entries).last().map_or(0.0, |(_, row, _)| (row + 1) as f64 * ROW + 4.0)
}

/// Draws a legend from `top` downwards.
pub(crate) fn draw(html: &mut Html, entries: &[Entry], top: f64) {
    for (entry, (x, row, name)) in entries.iter().zip(rows(entries)) {
        let y = top + row as f64 * ROW + ROW / 2.0;
        let (from, to, middle) = ((x, y), (x + SIGN_WIDTH - 6.0, y), (x + (SIGN_WIDTH - 6.0) / 2.0, y));
        match &entry.sign {
            LegendSign::Line(style) => {
                path(html, &style.line(), &[vec![from, to]]);
                style.sign(html, middle, None);
            }
            LegendSign::Sign(class, which, radius) => sign(html, class, *which, middle, *radius, None),
            LegendSign::Rule(class) => line(html, class, from, to),
            LegendSign::Bar(class) => {
                crate::svg::rect(html, class, (middle.0 - 5.0, 10.0), (y - 4.0, 8.0), None)
            }
        }
        label(html, "start", (x + SIGN_WIDTH - 2.0, y + 3.5), &name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dozen_lines_look_different() {
        for origin in [Origin::Measured, Origin::Published] {
            let styles: std::collections::BTreeSet<_> = (0..12)
                .map(|slot| {
                    let mut html = Html::default();
                    let style = LineStyle { slot, origin };
                    style.sign(&mut html, (5.0, 5.0), None);
                    (style.line(), html.finish())
                })
                .collect();
            assert_eq!(styles.len(), 12);
        }
        let theory: std::collections::BTreeSet<_> =
            (0..12).map(|slot| LineStyle { slot, origin: Origin::Theory }.line()).collect();
        assert_eq!(theory.len(), 12);
    }

    #[test]
    fn long_legends_have_rows() {
        let entry = |name: &str| Entry { sign: LegendSign::Rule("x"), name: name.to_owned() };
        assert_eq!(height(&[]), 0.0);
        let long = "a".repeat(300);
        let lines = |entries: &[Entry]| rows(entries).iter().map(|(_, row, _)| *row).collect::<Vec<_>>();
        assert_eq!(lines(&[entry("one"), entry("two"), entry("three")]), [0, 0, 0]);
        assert_eq!(lines(&[entry("one"), entry(&long), entry("three")]), [0, 1, 2]);
        assert_eq!(lines(&[entry("one"), entry(&long[..50]), entry("three")]), [0, 0, 1]);
        assert!(rows(&[entry(&long)])[0].2.ends_with('…'));
    }
}

//! Coloured squares, each with its figure in it.

use crate::html::Html;
use crate::numbers::{self, NO_VALUE};
use crate::plots::sentence;
use crate::study::Heat;
use crate::svg::{
    self, LETTER_HEIGHT, Picture, WIDTH, coordinate, figures, fit, label, label_with, slanted, slanted_reach,
    width_of,
};
use crate::tables::Head::{Number, Words};
use crate::tables::{head, number};

/// Squares are no narrower than their figures.
const NARROWEST: f64 = 30.0;
/// Nor wider than looks good.
const WIDEST: f64 = 60.0;
/// Height of a square.
const SQUARE_HEIGHT: f64 = 22.0;
/// The longest name of a row or column.
const LONGEST_NAME: f64 = 120.0;
/// From here on the colour is so strong that figures are written in another; earlier on a dark page.
const MIDDLE: f64 = 0.49;
const STRONG: f64 = 0.69;

/// Draws squares, and the table of their values.
pub(crate) fn draw(html: &mut Html, id: &str, heat: &Heat) {
    let layout = Layout::of(heat);
    let picture = Picture {
        id,
        size: layout.size,
        title: &heat.name,
        description: &describe(heat),
        caption: &caption(heat),
    };
    svg::picture(html, &picture, |html| {
        for (index, name) in heat.columns.iter().enumerate() {
            layout.column(html, index, name);
        }
        for (row, name) in heat.rows.iter().enumerate() {
            let middle = layout.top + (row as f64 + 0.5) * SQUARE_HEIGHT;
            label(html, "end", (layout.left - 5.0, middle + 3.5), &fit(name, LONGEST_NAME));
            for (column, other) in heat.columns.iter().enumerate() {
                let value = value(heat, row, column);
                layout.square(
                    html,
                    (row, column),
                    value,
                    &format!("{name}, {other}: {}", value_label(value)),
                );
            }
        }
    });
    table(html, heat);
}

/// A value that is a number.
fn value(heat: &Heat, row: usize, column: usize) -> Option<f64> {
    heat.values.get(row)?.get(column).copied().flatten().filter(|value| value.is_finite())
}

fn value_label(value: Option<f64>) -> String {
    value.map_or(NO_VALUE.to_owned(), numbers::share)
}

/// The positions of squares and names.
struct Layout {
    left: f64,
    top: f64,
    wide: f64,
    slanted: bool,
    size: (f64, f64),
}

impl Layout {
    fn of(heat: &Heat) -> Self {
        let widest =
            |names: &[String]| names.iter().map(|name| width_of(name).min(LONGEST_NAME)).fold(0.0, f64::max);
        let left = widest(&heat.rows) + 8.0;
        let columns = heat.columns.len().max(1) as f64;
        let flat = |wide: f64| widest(&heat.columns) + 4.0 <= wide;
        let wide = ((WIDTH - left - 8.0) / columns).clamp(NARROWEST, WIDEST);
        let slanted = !flat(wide);
        // Slanted names of the last columns reach beyond them.
        let reach = if slanted { reach(&heat.columns) } else { 0.0 };
        let wide = if slanted { ((WIDTH - left - reach) / columns).clamp(NARROWEST, WIDEST) } else { wide };
        let ends = heat.columns.iter().enumerate().map(|(index, name)| {
            let middle = left + (index as f64 + 0.5) * wide;
            if slanted { middle + slanted_reach(&fit(name, LONGEST_NAME)) } else { middle + wide / 2.0 }
        });
        let right = ends.fold(left + columns * wide, f64::max) + 4.0;
        let top = if slanted { reach + 6.0 } else { LETTER_HEIGHT + 8.0 };
        let bottom = top + heat.rows.len().max(1) as f64 * SQUARE_HEIGHT + 4.0;
        Layout { left, top, wide, slanted, size: (right.max(WIDTH), bottom) }
    }

    fn column(&self, html: &mut Html, index: usize, name: &str) {
        let middle = self.left + (index as f64 + 0.5) * self.wide;
        let name = fit(name, LONGEST_NAME);
        if self.slanted {
            slanted(html, "start", (middle, self.top - 5.0), &name);
        } else {
            label(html, "middle", (middle, self.top - 5.0), &name);
        }
    }

    fn square(&self, html: &mut Html, (row, column): (usize, usize), value: Option<f64>, title: &str) {
        let (x, y) = (self.left + column as f64 * self.wide, self.top + row as f64 * SQUARE_HEIGHT);
        let strength = value.map_or(0.0, |value| value.clamp(0.0, 1.0));
        let class = if value.is_some() { "square" } else { "square empty" };
        let [x_text, y_text, wide, high] =
            [x + 0.5, y + 0.5, self.wide - 1.0, SQUARE_HEIGHT - 1.0].map(coordinate);
        let opacity = format!("{strength:.3}");
        let mut attributes =
            vec![("class", class), ("x", &*x_text), ("y", &*y_text), ("width", &*wide), ("height", &*high)];
        attributes.extend(value.is_some().then_some(("fill-opacity", &*opacity)));
        html.element("rect", &attributes, |html| html.leaf("title", &[], title));
        let class = match strength {
            STRONG.. => "figure strong",
            MIDDLE.. => "figure middle",
            _ => "figure",
        };
        let at = (x + self.wide / 2.0, y + SQUARE_HEIGHT / 2.0 + 3.3);
        label_with(html, &[("class", class)], "middle", at, &value_label(value));
    }
}

fn reach(names: &[String]) -> f64 {
    names.iter().map(|name| slanted_reach(&fit(name, LONGEST_NAME))).fold(0.0, f64::max)
}

fn describe(heat: &Heat) -> String {
    let all = || {
        let rows = 0..heat.rows.len();
        rows.flat_map(move |row| (0..heat.columns.len()).map(move |column| (row, column)))
            .filter_map(|(row, column)| Some((value(heat, row, column)?, row, column)))
    };
    let size = format!("{} rows and {} columns of values.", heat.rows.len(), heat.columns.len());
    let least = all().min_by(|a, b| a.0.total_cmp(&b.0));
    let most = all().max_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(least), Some(most)) = (least, most) else { return size };
    let at = |(value, row, column): (f64, usize, usize)| {
        format!("{} ({}, {})", numbers::share(value), heat.rows[row], heat.columns[column])
    };
    format!("{size} The least is {}, the greatest {}.", at(least), at(most))
}

fn caption(heat: &Heat) -> String {
    format!("{} The stronger the colour, the nearer to 1.", sentence(&heat.name))
}

fn table(html: &mut Html, heat: &Heat) {
    let heads: Vec<_> =
        std::iter::once(Words("")).chain(heat.columns.iter().map(|name| Number(name))).collect();
    figures(html, &heat.name, &heads, |html| {
        for (row, name) in heat.rows.iter().enumerate() {
            html.element("tr", &[], |html| {
                head(html, name);
                for column in 0..heat.columns.len() {
                    let value = value(heat, row, column);
                    number(html, &value.map_or(NO_VALUE.to_owned(), numbers::number));
                }
            });
        }
    });
}

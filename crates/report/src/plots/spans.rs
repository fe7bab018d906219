//! Numbers with names, one below the other, each with how sure it is.

use crate::html::Html;
use crate::numbers::{self, NO_VALUE};
use crate::plots::scale::Scale;
use crate::plots::sentence;
use crate::study::{Span, Spans};
use crate::svg::{self, LETTER_HEIGHT, Picture, WIDTH, circle, figures, fit, label, line, width_of};
use crate::tables::Head::{Number, Words};
use crate::tables::{head, number};

/// Height of a row.
const ROW_HEIGHT: f64 = 20.0;
/// The longest name.
const LONGEST_NAME: f64 = 150.0;
/// Room at the right.
const RIGHT: f64 = 14.0;
/// Room above the rows.
const TOP: f64 = 6.0;
/// Room below, for numbers and the name of the axis.
const BELOW: f64 = 36.0;

/// Draws spans, and the table of their figures.
pub(crate) fn draw(html: &mut Html, id: &str, spans: &Spans) {
    let widest = spans.rows.iter().map(|row| width_of(&fit(&row.name, LONGEST_NAME))).fold(0.0, f64::max);
    let left = (widest + 10.0).max(24.0);
    let scale = Scale::of(&spans.x, values(spans), (left, WIDTH - RIGHT));
    let bottom = TOP + spans.rows.len().max(1) as f64 * ROW_HEIGHT;
    let picture = Picture {
        id,
        size: (WIDTH, bottom + BELOW),
        title: &spans.name,
        description: &describe(spans),
        caption: &format!("{} Lines are 95 % intervals.", sentence(&spans.name)),
    };
    svg::picture(html, &picture, |html| {
        for tick in scale.spaced_ticks() {
            line(html, "grid", (tick.at, TOP), (tick.at, bottom));
            let half = width_of(&tick.label) / 2.0;
            label(html, "middle", (tick.at.min(WIDTH - half), bottom + LETTER_HEIGHT + 4.0), &tick.label);
        }
        for (index, row) in spans.rows.iter().enumerate() {
            let middle = TOP + (index as f64 + 0.5) * ROW_HEIGHT;
            label(html, "end", (left - 6.0, middle + 3.5), &fit(&row.name, LONGEST_NAME));
            span(html, &scale, row, middle);
        }
        line(html, "base", (left, bottom), (WIDTH - RIGHT, bottom));
        let name = fit(&spans.x.name, WIDTH - RIGHT - left);
        label(html, "middle", ((left + WIDTH - RIGHT) / 2.0, bottom + 30.0), &name);
    });
    table(html, spans);
}

/// All numbers that must fit.
fn values(spans: &Spans) -> Vec<f64> {
    let ends = |row: &Span| row.interval.map_or([row.value; 2], |(low, high)| [low, high]);
    spans.rows.iter().flat_map(|row| ends(row).into_iter().chain([row.value])).collect()
}

fn span(html: &mut Html, scale: &Scale, row: &Span, middle: f64) {
    let class = if row.chosen { "chosen" } else { "c0" };
    let ends = row.interval.filter(|(low, high)| !low.is_nan() && !high.is_nan());
    if let Some((low, high)) = ends {
        let (low, high) = (scale.clamped_coordinate(low), scale.clamped_coordinate(high));
        line(html, &format!("whisker {class}"), (low, middle), (high, middle));
    }
    if scale.coordinate(row.value).is_some() {
        let at = (scale.clamped_coordinate(row.value), middle);
        circle(html, &format!("sign {class}"), at, 3.5, Some(&row_label(row)));
    }
}

fn row_label(row: &Span) -> String {
    let interval =
        row.interval.map_or(String::new(), |(low, high)| format!(" ({})", numbers::interval(low, high)));
    format!("{}: {}{interval}", row.name, numbers::number(row.value))
}

fn describe(spans: &Spans) -> String {
    let rows: Vec<String> = spans.rows.iter().map(row_label).collect();
    if rows.is_empty() { "There is nothing to show.".to_owned() } else { format!("{}.", rows.join("; ")) }
}

fn table(html: &mut Html, spans: &Spans) {
    figures(html, &spans.name, &[Words(""), Number(&spans.x.name), Number("95 %")], |html| {
        for row in &spans.rows {
            html.element("tr", &[], |html| {
                head(html, &row.name);
                number(html, &numbers::number(row.value));
                let interval =
                    row.interval.map_or(NO_VALUE.to_owned(), |(low, high)| numbers::interval(low, high));
                number(html, &interval);
            });
        }
    });
}

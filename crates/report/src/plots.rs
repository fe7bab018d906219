//! Pictures of studies: lines, points, squares, bars and spans as SVG, each with a table of its figures.
//!
//! - `scale`: where numbers lie on an axis
//! - `frame`: the two axes around a picture
//! - `legend`: colours, signs and dashes
//! - `lines`, `points`, `heat`, `bars`, `spans`: the pictures

mod bars;
mod frame;
mod heat;
mod legend;
mod lines;
mod points;
mod scale;
mod spans;

use crate::html::Html;
use crate::study::{Plot, Point};

/// Draws a picture; no other of the page has this `id`.
pub(crate) fn plot(html: &mut Html, id: &str, plot: &Plot) {
    match plot {
        Plot::Lines(lines) => lines::draw(html, id, lines),
        Plot::Points(points) => points::draw(html, id, points),
        Plot::Heat(heat) => heat::draw(html, id, heat),
        Plot::Bars(bars) => bars::draw(html, id, bars),
        Plot::Spans(spans) => spans::draw(html, id, spans),
    }
}

/// Returns the title of a picture.
pub(crate) fn name(plot: &Plot) -> &str {
    match plot {
        Plot::Lines(lines) => &lines.name,
        Plot::Points(points) => &points.name,
        Plot::Heat(heat) => &heat.name,
        Plot::Bars(bars) => &bars.name,
        Plot::Spans(spans) => &spans.name,
    }
}

/// The words, with a full stop unless they end in a sign of their own.
fn sentence(words: &str) -> String {
    let words = words.trim();
    let ended = words.is_empty() || words.ends_with(['.', '!', '?', ':', '…']);
    if ended { words.to_owned() } else { format!("{words}.") }
}

/// Both numbers of a point are numbers.
fn is_finite(point: &Point) -> bool {
    point.x.is_finite() && point.y.is_finite()
}

/// The interval of a point, where both ends are numbers.
fn interval(point: &Point) -> Option<(f64, f64)> {
    point.interval.filter(|(low, high)| low.is_finite() && high.is_finite())
}

/// All heights that must fit.
fn heights(point: &Point) -> impl Iterator<Item = f64> + use<> {
    let (low, high) = interval(point).unwrap_or((point.y, point.y));
    [point.y, low, high].into_iter()
}

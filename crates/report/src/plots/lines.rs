//! Lines over an axis of numbers.

use crate::html::Html;
use crate::numbers::{self, NO_VALUE};
use crate::plots::frame::Frame;
use crate::plots::legend::{self, Entry, LegendSign, LineStyle};
use crate::plots::{heights, interval, is_finite, sentence};
use crate::study::{Lines, Origin, Point, Series};
use crate::svg::{self, Picture, WIDTH, figures, line, path, shape};
use crate::tables::Head::{Number, Words};
use crate::tables::{head, number};

/// More intervals than this are drawn as a band.
const MOST_WHISKERS: usize = 16;
/// More points than this do not all get a sign.
const MOST_SIGNS: usize = 30;

/// Draws lines, and the table of their points.
pub(crate) fn draw(html: &mut Html, id: &str, lines: &Lines) {
    let lines = Lines { series: lines.series.iter().map(finite).collect(), ..lines.clone() };
    let points = || lines.series.iter().flat_map(|series| &series.points);
    let x: Vec<f64> = points().map(|point| point.x).collect();
    let y: Vec<f64> = points().flat_map(heights).collect();
    let frame = Frame::new((&lines.x, &x), (&lines.y, &y), 0.0);
    let entries = entries(&lines.series);
    let picture = Picture {
        id,
        size: (WIDTH, Frame::bottom() + legend::height(&entries)),
        title: &lines.name,
        description: &describe(&lines),
        caption: &caption(&lines, &frame),
    };
    svg::picture(html, &picture, |html| {
        frame.draw(html, &lines.x.name, &lines.y.name);
        let styles = styles(&lines.series);
        for (series, style) in lines.series.iter().zip(&styles) {
            uncertainty(html, &frame, series, *style);
        }
        for (series, style) in lines.series.iter().zip(&styles) {
            curve(html, &frame, series, *style);
        }
        legend::draw(html, &entries, Frame::bottom());
    });
    table(html, &lines);
}

/// The series without points that are none.
fn finite(series: &Series) -> Series {
    Series { points: series.points.iter().copied().filter(is_finite).collect(), ..series.clone() }
}

/// Series of one name have one colour and sign, wherever their numbers come from: they are to be compared.
fn styles<'s>(series: &'s [Series]) -> Vec<LineStyle> {
    let mut names: Vec<&str> = Vec::new();
    let mut style = |series: &'s Series| {
        let slot = names.iter().position(|name| *name == series.name).unwrap_or(names.len());
        if slot == names.len() {
            names.push(&series.name);
        }
        LineStyle { slot, origin: series.origin }
    };
    series.iter().map(&mut style).collect()
}

fn entries(series: &[Series]) -> Vec<Entry> {
    let entry = |(series, style): (&Series, LineStyle)| Entry {
        sign: LegendSign::Line(style),
        name: display_name(series),
    };
    series.iter().zip(styles(series)).map(entry).collect()
}

/// The name of a series, and where it comes from when that is not this run.
fn display_name(series: &Series) -> String {
    let origin = match series.origin {
        Origin::Measured => return series.name.clone(),
        Origin::Theory => "theory",
        Origin::Published => "published",
    };
    if series.name.to_lowercase().contains(origin) {
        return series.name.clone();
    }
    format!("{} ({origin})", series.name)
}

/// Returns the points that can be placed on both axes, with their coordinates.
fn positions(frame: &Frame, points: &[Point]) -> Vec<(Point, (f64, f64))> {
    let position =
        |point: &Point| Some((*point, (frame.x.coordinate(point.x)?, frame.y.coordinate(point.y)?)));
    points.iter().filter_map(position).collect()
}

fn uncertainty(html: &mut Html, frame: &Frame, series: &Series, style: LineStyle) {
    let colour = style.colour();
    let ends: Vec<(f64, f64, f64)> = positions(frame, &series.points)
        .iter()
        .filter(|(_, (x, _))| frame.contains((*x, frame.edges().2)))
        .filter_map(|(point, (x, _))| {
            let (low, high) = interval(point)?;
            Some((*x, frame.y.clamped_coordinate(low), frame.y.clamped_coordinate(high)))
        })
        .collect();
    if ends.len() > MOST_WHISKERS {
        let upper = ends.iter().map(|(x, _, high)| (*x, *high));
        let lower = ends.iter().rev().map(|(x, low, _)| (*x, *low));
        let band: Vec<(f64, f64)> = upper.chain(lower).collect();
        return shape(html, &format!("band {colour}"), &band, None);
    }
    for (x, low, high) in ends {
        whisker(html, &format!("whisker {colour}"), x, (low, high));
    }
}

/// A vertical line with ends.
pub(crate) fn whisker(html: &mut Html, class: &str, x: f64, (low, high): (f64, f64)) {
    line(html, class, (x, low), (x, high));
    for end in [low, high] {
        line(html, class, (x - 2.5, end), (x + 2.5, end));
    }
}

fn curve(html: &mut Html, frame: &Frame, series: &Series, style: LineStyle) {
    let positions = positions(frame, &series.points);
    let line: Vec<(f64, f64)> = positions.iter().map(|(_, position)| *position).collect();
    path(html, &style.line(), &frame.clip(&line));
    let every = positions.len().div_ceil(MOST_SIGNS).max(1);
    for (point, position) in positions.iter().step_by(every).filter(|(_, position)| frame.contains(*position))
    {
        let title =
            format!("{}: {} at {}", display_name(series), with_interval(point), numbers::number(point.x));
        style.sign(html, *position, Some(&title));
    }
}

/// The height of a point, and how sure it is.
pub(crate) fn with_interval(point: &Point) -> String {
    let height = numbers::number(point.y);
    match interval(point) {
        Some((low, high)) => format!("{height} ({})", numbers::interval(low, high)),
        None => height,
    }
}

fn describe(lines: &Lines) -> String {
    let mut words = format!("{} over {}.", sentence_part(&lines.y.name), lines.x.name);
    for series in &lines.series {
        let count = series.points.len();
        words += &match (series.points.first(), series.points.last()) {
            (Some(first), Some(last)) if count > 1 => format!(
                " {}: {count} points, from {} at {} to {} at {}.",
                display_name(series),
                numbers::number(first.y),
                numbers::number(first.x),
                numbers::number(last.y),
                numbers::number(last.x)
            ),
            (Some(only), ..) => {
                format!(
                    " {}: {} at {}.",
                    display_name(series),
                    numbers::number(only.y),
                    numbers::number(only.x)
                )
            }
            _ => format!(" {}: no points.", display_name(series)),
        };
    }
    words
}

fn sentence_part(name: &str) -> &str {
    if name.is_empty() { "Heights" } else { name }
}

fn caption(lines: &Lines, frame: &Frame) -> String {
    let mut words = vec![sentence(&lines.name)];
    let has = |origin| lines.series.iter().any(|series| series.origin == origin);
    let explained =
        [(Origin::Theory, "Dashed: from a formula."), (Origin::Published, "Dotted: as published.")];
    words.extend(explained.iter().filter(|(origin, _)| has(*origin)).map(|(_, words)| (*words).to_owned()));
    let points = || lines.series.iter().flat_map(|series| &series.points);
    if points().any(|point| interval(point).is_some()) {
        words.push("Whiskers and bands are intervals of 95 %.".to_owned());
    }
    let placed = |point: &Point| Some((frame.x.coordinate(point.x)?, frame.y.coordinate(point.y)?));
    let hidden =
        points().filter(|point| !placed(point).is_some_and(|position| frame.contains(position))).count();
    if hidden > 0 {
        words.push(format!("Beyond the axes, and only among the figures: {hidden}."));
    }
    if points().next().is_none() {
        words.push("There are no points.".to_owned());
    }
    words.join(" ")
}

/// A row for each place on the axis, a column for each line.
fn table(html: &mut Html, lines: &Lines) {
    let mut at: Vec<f64> =
        lines.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
    at.sort_by(f64::total_cmp);
    at.dedup();
    let names: Vec<String> = lines.series.iter().map(display_name).collect();
    let first = Words(if lines.x.name.is_empty() { "At" } else { &lines.x.name });
    let heads: Vec<_> = std::iter::once(first).chain(names.iter().map(|name| Number(name))).collect();
    figures(html, &lines.name, &heads, |html| {
        for at in at {
            html.element("tr", &[], |html| {
                head(html, &numbers::number(at));
                for series in &lines.series {
                    let here = series.points.iter().filter(|point| point.x == at).map(with_interval);
                    let here = here.collect::<Vec<_>>().join(", ");
                    number(html, if here.is_empty() { NO_VALUE } else { &here });
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, origin: Origin) -> Series {
        Series { name: name.to_owned(), origin, points: Vec::new() }
    }

    #[test]
    fn one_name_has_one_colour() {
        let all = [
            series("minhash", Origin::Measured),
            series("simhash", Origin::Measured),
            series("minhash", Origin::Theory),
            series("other", Origin::Published),
        ];
        assert_eq!(styles(&all).iter().map(|style| style.slot).collect::<Vec<_>>(), [0, 1, 0, 2]);
        assert_eq!(display_name(&all[2]), "minhash (theory)");
        assert_eq!(display_name(&series("Published curve", Origin::Published)), "Published curve");
    }
}

//! Points with names, and the frontier of the best.

use crate::html::Html;
use crate::numbers;
use crate::plots::frame::Frame;
use crate::plots::legend::{self, Entry, LegendSign, sign};
use crate::plots::lines::{whisker, with_interval};
use crate::plots::{heights, interval, is_finite, sentence};
use crate::study::{NamedPoint, Points};
use crate::svg::{self, LETTER_HEIGHT, Picture, WIDTH, figures, fit, label_with, line, path, width_of};
use crate::tables::Head::{Number, Words};
use crate::tables::{head, number};

/// With more points than this only those on the frontier and the chosen one have their names beside them.
const MOST_NAMES: usize = 25;
/// Longer names are cut.
const LONGEST_NAME: f64 = 130.0;

/// Draws points, and the table of them.
pub(crate) fn draw(html: &mut Html, id: &str, points: &Points) {
    let found: Vec<&NamedPoint> = points.points.iter().filter(|point| is_finite(&point.at)).collect();
    let x: Vec<f64> = found.iter().map(|point| point.at.x).collect();
    let goal = points.goal.filter(|goal| goal.is_finite());
    let y: Vec<f64> = found.iter().flat_map(|point| heights(&point.at)).chain(goal).collect();
    let frame = Frame::new((&points.x, &x), (&points.y, &y), 0.0);
    let placed: Vec<PlacedPoint<'_>> =
        found.iter().filter_map(|point| PlacedPoint::of(point, &frame)).collect();
    let entries = entries(&placed, goal);
    let picture = Picture {
        id,
        size: (WIDTH, Frame::bottom() + legend::height(&entries)),
        title: &points.name,
        description: &describe(points, &found),
        caption: &caption(points, found.len() - placed.len(), found.len()),
    };
    svg::picture(html, &picture, |html| {
        frame.draw(html, &points.x.name, &points.y.name);
        draw_goal(html, &frame, goal);
        frontier(html, &frame, &placed, points.rightwards);
        for point in placed.iter().filter(|point| interval(&point.named.at).is_some()) {
            let (low, high) = interval(&point.named.at).unwrap_or_default();
            whisker(
                html,
                "whisker plain",
                point.position.0,
                (frame.y.clamped_coordinate(low), frame.y.clamped_coordinate(high)),
            );
        }
        // The most important on top.
        for rank in (0..3).rev() {
            placed.iter().filter(|point| point.rank() == rank).for_each(|point| point.draw(html));
        }
        names(html, &frame, &placed, goal);
        legend::draw(html, &entries, Frame::bottom());
    });
    table(html, points, &found);
}

/// A point and where it lies.
struct PlacedPoint<'p> {
    named: &'p NamedPoint,
    position: (f64, f64),
}

impl<'p> PlacedPoint<'p> {
    /// Nothing for a point beyond the axes.
    fn of(named: &'p NamedPoint, frame: &Frame) -> Option<Self> {
        let position = (frame.x.coordinate(named.at.x)?, frame.y.coordinate(named.at.y)?);
        frame.contains(position).then_some(PlacedPoint { named, position })
    }

    /// The lower, the more it matters.
    fn rank(&self) -> usize {
        match (self.named.chosen, self.named.frontier) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        }
    }

    fn draw(&self, html: &mut Html) {
        let (class, which, radius) = SIGN_STYLES[self.rank()];
        let NamedPoint { name, at, .. } = self.named;
        let title = format!("{name}: {} at {}", with_interval(at), numbers::number(at.x));
        sign(html, class, which, self.position, radius, Some(&title));
    }
}

/// Class, shape and size of the signs, by rank.
const SIGN_STYLES: [(&str, usize, f64); 3] =
    [("sign chosen", 3, 5.0), ("sign frontier", 0, 3.4), ("sign hollow plain", 0, 2.6)];

fn entries(placed: &[PlacedPoint<'_>], goal: Option<f64>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (rank, name) in ["chosen", "on the frontier", "others"].into_iter().enumerate() {
        if placed.iter().any(|point| point.rank() == rank) {
            let (class, which, radius) = SIGN_STYLES[rank];
            entries.push(Entry { sign: LegendSign::Sign(class, which, radius), name: name.to_owned() });
        }
    }
    if let Some(goal) = goal {
        let name = format!("goal: {}", numbers::number(goal));
        entries.push(Entry { sign: LegendSign::Rule("threshold"), name });
    }
    entries
}

fn draw_goal(html: &mut Html, frame: &Frame, goal: Option<f64>) {
    let (left, right, ..) = frame.edges();
    if let Some(y) = goal.and_then(|goal| frame.y.coordinate(goal)).filter(|y| frame.contains((left, *y))) {
        line(html, "threshold", (left, y), (right, y));
    }
}

/// Draws the frontier as steps: for each position along the axis, the height of the last frontier point on its better side.
fn frontier(html: &mut Html, frame: &Frame, placed: &[PlacedPoint<'_>], rightwards: bool) {
    let mut corners: Vec<(f64, f64)> =
        placed.iter().filter(|point| point.named.frontier).map(|point| point.position).collect();
    let along = |position: &(f64, f64)| if rightwards { -position.0 } else { position.0 };
    corners.sort_by(|a, b| along(a).total_cmp(&along(b)).then(b.1.total_cmp(&a.1)));
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for corner in corners {
        if let Some(last) = steps.last() {
            steps.push((corner.0, last.1));
        }
        steps.push(corner);
    }
    let (left, right, ..) = frame.edges();
    let end = steps.last().map(|last| (if rightwards { left } else { right }, last.1));
    steps.extend(end);
    path(html, "curve frontier-line", &frame.clip(&steps));
}

/// The box that words or a sign take: left, right, top, bottom.
type BoundingBox = (f64, f64, f64, f64);

fn overlap(a: &BoundingBox, b: &BoundingBox) -> bool {
    a.0 < b.1 && b.0 < a.1 && a.2 < b.3 && b.2 < a.3
}

/// Names beside their points, the most important first. One that finds no free place is left to the sign's title,
/// except the chosen one's.
fn names(html: &mut Html, frame: &Frame, placed: &[PlacedPoint<'_>], goal: Option<f64>) {
    let mut order: Vec<&PlacedPoint<'_>> = placed.iter().collect();
    order.sort_by_key(|point| point.rank());
    if placed.len() > MOST_NAMES {
        order.retain(|point| point.rank() < 2);
    }
    let sign_box = |point: &PlacedPoint<'_>| {
        let ((x, y), radius) = (point.position, SIGN_STYLES[point.rank()].2);
        (x - radius, x + radius, y - radius, y + radius)
    };
    let mut occupied: Vec<BoundingBox> = placed.iter().map(sign_box).collect();
    let obstacles = obstacles(frame, placed, goal);
    for point in order {
        let name = fit(&point.named.name, LONGEST_NAME);
        let positions = label_positions(point.position, width_of(&name));
        let positions: Vec<LabelPosition> =
            positions.into_iter().filter(|position| fits(frame, &position.words)).collect();
        let is_free = |position: &&LabelPosition, occupied: &[BoundingBox]| {
            !occupied.iter().any(|other| overlap(&position.words, other))
        };
        let free = || positions.iter().filter(|position| is_free(position, &occupied));
        // Best without anything below it; words can be read on a line as well.
        let found = free().find(|position| is_free(position, &obstacles)).or_else(|| free().next());
        let forced = || positions.first().filter(|_| point.named.chosen);
        let Some(LabelPosition { anchor, at, words }) = found.or_else(forced).cloned() else { continue };
        occupied.push(words);
        let class = if point.named.chosen { "name chosen-name" } else { "name" };
        label_with(html, &[("class", class)], anchor, at, &name);
    }
}

/// Returns the areas taken by whiskers and by the line of the goal.
fn obstacles(frame: &Frame, placed: &[PlacedPoint<'_>], goal: Option<f64>) -> Vec<BoundingBox> {
    let whisker = |point: &PlacedPoint<'_>| {
        let (low, high) = interval(&point.named.at)?;
        let x = point.position.0;
        Some((x - 2.5, x + 2.5, frame.y.clamped_coordinate(high), frame.y.clamped_coordinate(low)))
    };
    let goal = goal.and_then(|goal| frame.y.coordinate(goal)).map(|y| (0.0, WIDTH, y - 1.0, y + 1.0));
    placed.iter().filter_map(whisker).chain(goal).collect()
}

/// A possible position of a name.
#[derive(Clone)]
struct LabelPosition {
    anchor: &'static str,
    at: (f64, f64),
    words: BoundingBox,
}

/// The positions for a name around a point, the best first.
fn label_positions((x, y): (f64, f64), width: f64) -> Vec<LabelPosition> {
    let (near, half) = (6.5, width / 2.0);
    let tries = [
        ("start", near, 3.5),
        ("end", -near, 3.5),
        ("middle", 0.0, -near),
        ("middle", 0.0, near + 7.5),
        ("start", near - 2.0, -4.0),
        ("end", 2.0 - near, -4.0),
        ("start", near - 2.0, 11.5),
        ("end", 2.0 - near, 11.5),
        // A little further, where it is crowded.
        ("start", near, -15.0),
        ("end", -near, -15.0),
        ("start", near, 22.0),
        ("end", -near, 22.0),
    ];
    let position = |(anchor, dx, dy): (&'static str, f64, f64)| {
        let (at_x, base) = (x + dx, y + dy);
        let (left, right) = match anchor {
            "start" => (at_x, at_x + width),
            "end" => (at_x - width, at_x),
            _ => (at_x - half, at_x + half),
        };
        LabelPosition {
            anchor,
            at: (at_x, base),
            words: (left, right, base - LETTER_HEIGHT * 0.8, base + LETTER_HEIGHT * 0.25),
        }
    };
    tries.into_iter().map(position).collect()
}

/// Words may stand outside of the axes, but not outside of the picture nor on the numbers of the axes.
fn fits(frame: &Frame, words: &BoundingBox) -> bool {
    let (left, _, top, bottom) = frame.edges();
    words.0 >= left && words.1 <= WIDTH - 1.0 && words.2 >= top - 10.0 && words.3 <= bottom
}

fn describe(points: &Points, found: &[&NamedPoint]) -> String {
    let on_it: Vec<String> = found
        .iter()
        .filter(|point| point.frontier)
        .map(|point| {
            format!("{} ({} at {})", point.name, numbers::number(point.at.y), numbers::number(point.at.x))
        })
        .collect();
    let mut words = format!("{} over {} of {} points.", points.y.name, points.x.name, found.len());
    if !on_it.is_empty() {
        words += &format!(" On the frontier: {}.", on_it.join(", "));
    }
    for chosen in found.iter().filter(|point| point.chosen) {
        words += &format!(" Chosen: {}.", chosen.name);
    }
    words
}

fn caption(points: &Points, hidden: usize, all: usize) -> String {
    let mut words = vec![sentence(&points.name)];
    if points.points.iter().any(|point| point.frontier) {
        let better = if points.rightwards { "right" } else { "left" };
        words.push(format!("On the frontier: no other point is both further {better} and higher."));
    }
    if points.points.iter().any(|point| interval(&point.at).is_some()) {
        words.push("Whiskers are intervals of 95 %.".to_owned());
    }
    if hidden > 0 {
        words.push(format!("Beyond the axes, and only among the figures: {hidden}."));
    }
    if all == 0 {
        words.push("There are no points.".to_owned());
    }
    words.join(" ")
}

fn table(html: &mut Html, points: &Points, found: &[&NamedPoint]) {
    let heads = [Words("Name"), Number(&points.x.name), Number(&points.y.name), Words("Remark")];
    figures(html, &points.name, &heads, |html| {
        for point in found {
            let remarks = [(point.chosen, "chosen"), (point.frontier, "on the frontier")];
            let remarks: Vec<&str> =
                remarks.iter().filter(|(holds, _)| *holds).map(|(_, words)| *words).collect();
            html.element("tr", &[], |html| {
                head(html, &point.name);
                number(html, &numbers::number(point.at.x));
                number(html, &with_interval(&point.at));
                html.leaf("td", &[], &remarks.join(", "));
            });
        }
    });
}

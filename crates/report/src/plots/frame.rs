//! The two axes around a picture, and what may be drawn between them.

use crate::html::Html;
use crate::plots::scale::Scale;
use crate::study::Axis;
use crate::svg::{LETTER_HEIGHT, WIDTH, label, line, width_of};

/// Height of what is between the axes.
const INNER: f64 = 190.0;
/// Room above it, for the name of the axis.
const TOP: f64 = 26.0;
/// Room at the right.
const RIGHT: f64 = 12.0;
/// Room below, for numbers and the name of the axis.
const BELOW: f64 = 34.0;

/// The area of a picture with two axes.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// The axis to the right.
    pub(crate) x: Scale,
    /// The axis upwards.
    pub(crate) y: Scale,
    left: f64,
}

impl Frame {
    /// Returns a frame for two axes with the values that lie on them, with at least `least_left` of space to the left of it.
    pub(crate) fn new(
        (x_axis, x_values): (&Axis, &[f64]),
        (y_axis, y_values): (&Axis, &[f64]),
        least_left: f64,
    ) -> Self {
        let y = Scale::of(y_axis, y_values.iter().copied(), (TOP + INNER, TOP));
        let widest = y.ticks(Y_TICKS).iter().map(|tick| width_of(&tick.label)).fold(0.0, f64::max);
        let left = (widest + 8.0).max(24.0).max(least_left).min(WIDTH / 3.0);
        let x = Scale::of(x_axis, x_values.iter().copied(), (left, WIDTH - RIGHT));
        Frame { x, y, left }
    }

    /// The edges: left, right, top, bottom.
    pub(crate) fn edges(&self) -> (f64, f64, f64, f64) {
        (self.left, WIDTH - RIGHT, TOP, TOP + INNER)
    }

    /// Returns the y coordinate below the axes and their names.
    pub(crate) fn bottom() -> f64 {
        TOP + INNER + BELOW
    }

    /// Draws the axes with their numbers and names.
    pub(crate) fn draw(&self, html: &mut Html, x_name: &str, y_name: &str) {
        self.draw_upwards(html, y_name);
        let (_, _, top, bottom) = self.edges();
        for tick in self.x.spaced_ticks() {
            line(html, "grid", (tick.at, top), (tick.at, bottom));
            label_below(html, tick.at, &tick.label);
        }
        self.base(html, x_name);
    }

    /// The axis upwards, with lines across.
    pub(crate) fn draw_upwards(&self, html: &mut Html, name: &str) {
        let (left, right, top, _) = self.edges();
        for tick in self.y.ticks(Y_TICKS) {
            line(html, "grid", (left, tick.at), (right, tick.at));
            label(html, "end", (left - 4.0, tick.at + 3.5), &tick.label);
        }
        label(html, "start", (2.0, top - 14.0), &crate::svg::fit(name, WIDTH - 4.0));
    }

    /// The base line, and the name of the axis below it.
    pub(crate) fn base(&self, html: &mut Html, name: &str) {
        let (left, right, _, bottom) = self.edges();
        line(html, "base", (left, bottom), (right, bottom));
        let name = crate::svg::fit(name, right - left);
        label(html, "middle", ((left + right) / 2.0, bottom + 28.0), &name);
    }

    /// True for what lies between the axes.
    pub(crate) fn contains(&self, (x, y): (f64, f64)) -> bool {
        let (left, right, top, bottom) = self.edges();
        // A coordinate is rounded to tenths.
        (left - 0.05..=right + 0.05).contains(&x) && (top - 0.05..=bottom + 0.05).contains(&y)
    }

    /// A line through points, cut where it leaves the frame.
    pub(crate) fn clip(&self, points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
        let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
        for two in points.windows(2) {
            let Some((from, to)) = self.clipped(two[0], two[1]) else { continue };
            match pieces.last_mut() {
                Some(piece) if piece.last() == Some(&from) => piece.push(to),
                _ => pieces.push(vec![from, to]),
            }
        }
        pieces
    }

    /// The part of a straight line inside the frame (Liang and Barsky).
    fn clipped(&self, from: (f64, f64), to: (f64, f64)) -> Option<((f64, f64), (f64, f64))> {
        let (left, right, top, bottom) = self.edges();
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        for (towards, room) in
            [(-dx, from.0 - left), (dx, right - from.0), (-dy, from.1 - top), (dy, bottom - from.1)]
        {
            if towards == 0.0 {
                if room < 0.0 {
                    return None;
                }
            } else if towards < 0.0 {
                enter = enter.max(room / towards);
            } else {
                leave = leave.min(room / towards);
            }
        }
        let at = |share: f64| match share {
            0.0 => from,
            1.0 => to,
            share => (from.0 + share * dx, from.1 + share * dy),
        };
        (enter <= leave).then(|| (at(enter), at(leave)))
    }
}

/// Numbers at the axis upwards.
const Y_TICKS: usize = 5;

/// A name below the base line, moved inwards where it would leave the picture.
pub(crate) fn label_below(html: &mut Html, at: f64, text: &str) {
    let half = width_of(text) / 2.0;
    let (anchor, at) = match at {
        at if at + half > WIDTH => ("end", WIDTH - 1.0),
        at if at - half < 0.0 => ("start", 1.0),
        at => ("middle", at),
    };
    label(html, anchor, (at, TOP + INNER + LETTER_HEIGHT + 4.0), text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_the_frame() {
        let axis = Axis { range: Some((0.0, 1.0)), ..Axis::default() };
        let frame = Frame::new((&axis, &[]), (&axis, &[]), 0.0);
        let (left, right, top, bottom) = frame.edges();
        let across = [(left - 10.0, bottom), (left + 10.0, bottom), (left + 10.0, top - 50.0)];
        assert_eq!(frame.clip(&across), [[(left, bottom), (left + 10.0, bottom), (left + 10.0, top)]]);
        assert!(frame.clip(&[(0.0, -5.0), (WIDTH, -5.0)]).is_empty());
        let twice = [(left, bottom), (right, top - 1.0), (right, top + 9.0)];
        assert_eq!(frame.clip(&twice).len(), 2);
        assert!(frame.clip(&[(left, top)]).is_empty());
    }
}

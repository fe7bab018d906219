//! Bars over bins, of one or more series.

use crate::html::{Html, thousands};
use crate::plots::frame::{Frame, label_below};
use crate::plots::legend::{self, COLOURS, Entry, LegendSign};
use crate::plots::sentence;
use crate::study::{Axis, Bars};
use crate::svg::{self, LETTER_HEIGHT, Picture, WIDTH, figures, fit, rect, slanted, slanted_reach, width_of};
use crate::tables::Head::{Number, Words};
use crate::tables::{head, number};

/// More bins than this do not get slanted names: only some are named.
const MOST_SLANTED: usize = 16;
/// The longest slanted name.
const LONGEST_NAME: f64 = 125.0;
/// Ways to fill a bar; not as many as colours, so that both repeat together late.
const FILLS: usize = 3;

/// Draws bars, and the table of their counts.
pub(crate) fn draw(html: &mut Html, id: &str, bars: &Bars) {
    let mut frame = frame(bars, 0.0);
    let layout = NameLayout::of(bars, &frame);
    if let NameLayout::Slanted(_) = layout {
        frame = self::frame(bars, room_for_names(bars, &frame));
    }
    let entries = entries(bars);
    let bottom = Frame::bottom() + layout.extra_height();
    let picture = Picture {
        id,
        size: (WIDTH, bottom + legend::height(&entries)),
        title: &bars.name,
        description: &describe(bars),
        caption: &caption(bars),
    };
    svg::picture(html, &picture, |html| {
        frame.draw_upwards(html, &bars.y);
        for (index, (name, counts)) in bars.series.iter().enumerate() {
            for (bin, count) in counts.iter().enumerate().take(bars.bins.len()) {
                bar(html, bars, &frame, (bin, index), *count, name);
            }
        }
        frame.base(html, if layout.extra_height() > 0.0 { "" } else { &bars.x });
        layout.draw(html, bars, &frame);
        legend::draw(html, &entries, bottom);
    });
    table(html, bars);
}

/// Counts upwards, bins to the right. With the logarithm a bar of one is still to be seen.
fn frame(bars: &Bars, left: f64) -> Frame {
    let counts = bars.series.iter().flat_map(|(_, counts)| counts.iter().take(bars.bins.len()));
    // Few would have numbers between whole ones at the axis.
    let most = counts.max().copied().unwrap_or(0).max(5) as f64;
    let range = bars.logarithmic.then_some((0.7, 1.2 * most));
    let y = Axis { range, logarithmic: bars.logarithmic, ..Axis::default() };
    let x = Axis { range: Some((0.0, bars.bins.len().max(1) as f64)), ..Axis::default() };
    Frame::new((&x, &[]), (&y, &[0.0, most]), left)
}

/// The edges of a bin.
fn edges(bars: &Bars, frame: &Frame, bin: usize) -> (f64, f64) {
    let step = step(bars, frame);
    let left = frame.edges().0 + bin as f64 * step;
    (left, left + step)
}

fn step(bars: &Bars, frame: &Frame) -> f64 {
    let (left, right, ..) = frame.edges();
    (right - left) / bars.bins.len().max(1) as f64
}

fn bar(html: &mut Html, bars: &Bars, frame: &Frame, (bin, index): (usize, usize), count: u64, name: &str) {
    if count == 0 {
        return;
    }
    let (from, to) = edges(bars, frame, bin);
    // Air between bins where there are several bars in each; a hair where there is one.
    let air = if bars.series.len() > 1 { (to - from) * 0.12 } else { 0.4 };
    let wide = (to - from - 2.0 * air) / bars.series.len() as f64;
    let left = from + air + index as f64 * wide;
    let (top, bottom) = (frame.y.clamped_coordinate(count as f64), frame.edges().3);
    // What is there at all can be seen.
    let top = top.min(bottom - 0.6);
    let whose = if bars.series.len() > 1 { format!("{name}, ") } else { String::new() };
    let title = format!("{whose}{}: {}", bars.bins[bin], thousands(count));
    let class = class(index);
    rect(html, &class, (left, (wide - 0.4).max(0.4)), (top, bottom - top), Some(&title));
}

fn class(index: usize) -> String {
    format!("block c{} fill-{}", index % COLOURS, index % FILLS)
}

/// Returns the space that slanted names of the first bins need to the left of the axes.
fn room_for_names(bars: &Bars, frame: &Frame) -> f64 {
    let needs = |(bin, name): (usize, &String)| {
        slanted_reach(&fit(name, LONGEST_NAME)) + 8.0 - (bin as f64 + 0.5) * step(bars, frame)
    };
    bars.bins.iter().enumerate().map(needs).fold(0.0, f64::max)
}

/// The layout of the names of bins.
enum NameLayout {
    /// Horizontal below the bars, one name for every this many bins.
    Flat(usize),
    /// All names, slanted; they need this height.
    Slanted(f64),
}

impl NameLayout {
    fn of(bars: &Bars, frame: &Frame) -> Self {
        let widest = bars.bins.iter().map(|bin| width_of(bin)).fold(0.0, f64::max) + 6.0;
        let every = (widest / step(bars, frame)).ceil().max(1.0) as usize;
        // Numbers may be left out, since those around tell them; words may not.
        let numbers = bars.bins.iter().all(|bin| bin.starts_with(|c: char| c.is_ascii_digit() || c == '.'));
        if every == 1 || (numbers && every < bars.bins.len()) || bars.bins.len() > MOST_SLANTED {
            return NameLayout::Flat(every);
        }
        let reach = |bin: &String| slanted_reach(&fit(bin, LONGEST_NAME));
        NameLayout::Slanted(bars.bins.iter().map(reach).fold(0.0, f64::max))
    }

    /// Room that it takes beyond the usual.
    fn extra_height(&self) -> f64 {
        match self {
            NameLayout::Flat(_) => 0.0,
            NameLayout::Slanted(reach) => reach - 8.0,
        }
    }

    fn draw(&self, html: &mut Html, bars: &Bars, frame: &Frame) {
        let middle = |bin: usize| {
            let (from, to) = edges(bars, frame, bin);
            (from + to) / 2.0
        };
        match self {
            NameLayout::Flat(every) => {
                for (bin, name) in bars.bins.iter().enumerate().step_by(*every) {
                    label_below(html, middle(bin), &fit(name, WIDTH / 2.0));
                }
            }
            NameLayout::Slanted(reach) => {
                let (left, right, _, bottom) = frame.edges();
                for (bin, name) in bars.bins.iter().enumerate() {
                    // The first names may have less room to their left than they are long.
                    let room =
                        (middle(bin) / std::f64::consts::FRAC_1_SQRT_2 - LETTER_HEIGHT).min(LONGEST_NAME);
                    slanted(html, "end", (middle(bin) + 3.0, bottom + LETTER_HEIGHT), &fit(name, room));
                }
                let name = fit(&bars.x, right - left);
                svg::label(html, "middle", ((left + right) / 2.0, bottom + reach + 20.0), &name);
            }
        }
    }
}

fn entries(bars: &Bars) -> Vec<Entry> {
    if bars.series.len() < 2 {
        return Vec::new();
    }
    let entry = |(index, (name, _)): (usize, &(String, Vec<u64>))| Entry {
        sign: LegendSign::Bar(class(index)),
        name: name.clone(),
    };
    bars.series.iter().enumerate().map(entry).collect()
}

fn describe(bars: &Bars) -> String {
    let mut words = format!("{} by {} in {} bins.", bars.y, bars.x, bars.bins.len());
    for (name, counts) in &bars.series {
        let counts = || counts.iter().take(bars.bins.len());
        // The first of the highest.
        let highest = counts().enumerate().rev().max_by_key(|(_, count)| **count);
        let Some((bin, most)) = highest else { continue };
        let all = counts().fold(0u64, |sum, count| sum.saturating_add(*count));
        words += &format!(
            " {name}: {} in all, most in {} with {}.",
            thousands(all),
            bars.bins[bin],
            thousands(*most)
        );
    }
    words
}

fn caption(bars: &Bars) -> String {
    let heights = if bars.logarithmic { " Heights grow with the logarithm." } else { "" };
    let nothing = if bars.bins.is_empty() || bars.series.is_empty() { " There are no bars." } else { "" };
    format!("{}{heights}{nothing}", sentence(&bars.name))
}

fn table(html: &mut Html, bars: &Bars) {
    let heads: Vec<_> =
        std::iter::once(Words(&bars.x)).chain(bars.series.iter().map(|(name, _)| Number(name))).collect();
    figures(html, &bars.name, &heads, |html| {
        for (bin, name) in bars.bins.iter().enumerate() {
            html.element("tr", &[], |html| {
                head(html, name);
                for (_, counts) in &bars.series {
                    number(html, &counts.get(bin).map_or("–".to_owned(), |count| thousands(*count)));
                }
            });
        }
    });
}

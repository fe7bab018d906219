//! Pictures: bars as SVG, drawn here, with a table of the same figures for those who cannot see them.

use crate::data::{Bin, Measure, SizeBin};
use crate::html::{Html, counted, thousands};
use crate::svg::{self, Picture, WIDTH, figures, label, line, rect, short};
use crate::tables::Head::{Number, Words};
use crate::tables::row;

const HEIGHT: f64 = 170.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 32.0;

/// Two similarities nearer than this are one: bins are made by adding, thresholds by reading decimals.
const TOLERANCE: f64 = 1e-9;

/// Measured pairs by similarity, with the threshold.
pub fn similarities(html: &mut Html, bins: &[Bin], measure: &Measure) {
    let Some(first) = bins.first() else { return };
    let most = bins.iter().map(|bin| bin.pairs).max().unwrap_or(0);
    let scale = Scale { low: first.lower.min(measure.threshold), most };
    let uppers = bins.iter().skip(1).map(|bin| bin.lower).chain([1.0]);
    let bars: Vec<(f64, f64, u64)> =
        bins.iter().zip(uppers).map(|(bin, upper)| (bin.lower, upper, bin.pairs)).collect();
    let above = pairs_reaching(bins, measure.threshold);
    let below = bins.iter().map(|bin| bin.pairs).sum::<u64>() - above;
    let description = format!(
        "Number of pairs by {} similarity. The threshold is {}; bars from there on hold {}, bars before it {}.",
        measure.similarity,
        measure.threshold,
        counted(above, "pair", "pairs"),
        counted(below, "pair", "pairs"),
    );
    picture(html, "similarities", "Measured pairs by similarity", &description, |html| {
        axis(html, &scale);
        for &(lower, upper, pairs) in &bars {
            for (from, to, class) in at_threshold(lower, upper, measure.threshold) {
                bar(
                    html,
                    class,
                    (scale.x(from), scale.x(to)),
                    scale.height(pairs),
                    &title(lower, upper, pairs),
                );
            }
        }
        ticks(html, &scale);
        threshold_line(html, scale.x(measure.threshold), measure.threshold);
    });
    let heads = [Words("Similarity"), Number("Pairs"), Words("Threshold")];
    figures(html, "Measured pairs by similarity", &heads, |html| {
        for &(lower, upper, pairs) in &bars {
            let name = format!("{} to {}", short(lower), short(upper));
            row(html, &name, pairs, Some(side(lower, upper, measure)));
        }
    });
}

/// Clusters by size.
pub fn sizes(html: &mut Html, bins: &[SizeBin]) {
    let most = bins.iter().map(|bin| bin.clusters).max().unwrap_or(0);
    let scale = Scale { low: 0.0, most };
    let step = 1.0 / bins.len().max(1) as f64;
    let total: u64 = bins.iter().map(|bin| bin.clusters).sum();
    let description =
        format!("Number of clusters by their number of documents; {} in all.", thousands(total));
    picture(html, "sizes", "Clusters by size", &description, |html| {
        axis(html, &scale);
        for (index, bin) in bins.iter().enumerate() {
            let (from, to) = (scale.x(index as f64 * step), scale.x((index + 1) as f64 * step));
            let title = format!("{} documents: {}", range(bin), counted(bin.clusters, "cluster", "clusters"));
            bar(html, "bar", (from, to), scale.height(bin.clusters), &title);
            // Names of neighbours would run into each other when there are many.
            if bins.len() <= 8 || index.is_multiple_of(2) {
                label(html, "middle", ((from + to) / 2.0, HEIGHT - BOTTOM + 14.0), &short_range(bin));
            }
        }
        label(html, "middle", ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 4.0), "documents in the cluster");
    });
    figures(html, "Clusters by size", &[Words("Documents"), Number("Clusters")], |html| {
        for bin in bins {
            row(html, &range(bin), bin.clusters, None);
        }
    });
}

/// A bar from 0 to `whole`, `part` of it filled. The figures stand beside it.
pub(crate) fn meter(html: &mut Html, part: u64, whole: u64) {
    let filled = if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 };
    let view = [
        ("class", "meter"),
        ("viewBox", "0 0 100 8"),
        ("preserveAspectRatio", "none"),
        ("aria-hidden", "true"),
    ];
    html.element("svg", &view, |html| {
        rect(html, "track", (0.0, 100.0), (0.0, 8.0), None);
        rect(html, "fill", (0.0, filled), (0.0, 8.0), None);
    });
}

/// Maps similarities and counts to coordinates of the picture. Heights are logarithmic, so that the few pairs at the threshold stay
/// visible beside the many at 1.
struct Scale {
    low: f64,
    most: u64,
}

impl Scale {
    fn x(&self, value: f64) -> f64 {
        let share = if self.low < 1.0 { (value - self.low) / (1.0 - self.low) } else { 0.0 };
        LEFT + share.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    fn height(&self, count: u64) -> f64 {
        let grown = |count: u64| (1.0 + count as f64).ln();
        (HEIGHT - TOP - BOTTOM) * grown(count) / grown(self.most.max(1))
    }
}

/// Pairs in bins that begin at the threshold or behind it.
fn pairs_reaching(bins: &[Bin], threshold: f64) -> u64 {
    bins.iter().filter(|bin| bin.lower + TOLERANCE >= threshold).map(|bin| bin.pairs).sum()
}

/// The parts of a bar before and behind the threshold.
fn at_threshold(lower: f64, upper: f64, threshold: f64) -> Vec<(f64, f64, &'static str)> {
    if lower + TOLERANCE >= threshold {
        vec![(lower, upper, "bar")]
    } else if upper <= threshold + TOLERANCE {
        vec![(lower, upper, "bar below")]
    } else {
        vec![(lower, threshold, "bar below"), (threshold, upper, "bar")]
    }
}

fn side(lower: f64, upper: f64, measure: &Measure) -> &'static str {
    match at_threshold(lower, upper, measure.threshold).as_slice() {
        [(_, _, "bar")] => "reached",
        [_] => "below",
        _ => "inside",
    }
}

fn title(lower: f64, upper: f64, pairs: u64) -> String {
    format!("{} to {}: {}", short(lower), short(upper), counted(pairs, "pair", "pairs"))
}

fn range(bin: &SizeBin) -> String {
    if bin.least == bin.most {
        return thousands(bin.least);
    }
    format!("{} to {}", thousands(bin.least), thousands(bin.most))
}

/// The beginning of a bin, short enough to stand under its bar.
fn short_range(bin: &SizeBin) -> String {
    let number = match bin.least {
        least @ 0..1_000 => least.to_string(),
        least @ 1_000..1_000_000 => format!("{}k", least / 1_000),
        least => format!("{}M", least / 1_000_000),
    };
    if bin.least == bin.most { number } else { format!("{number}+") }
}

fn picture(html: &mut Html, id: &str, title: &str, description: &str, inside: impl FnOnce(&mut Html)) {
    let caption = format!("{description} Heights grow with the logarithm.");
    let picture = Picture { id, size: (WIDTH, HEIGHT), title, description, caption: &caption };
    svg::picture(html, &picture, inside);
}

/// Lines at the powers of ten, and the base line.
fn axis(html: &mut Html, scale: &Scale) {
    let base = HEIGHT - BOTTOM;
    let mut tick = 1;
    while tick <= scale.most {
        let y = base - scale.height(tick);
        line(html, "grid", (LEFT, y), (WIDTH - RIGHT, y));
        label(html, "end", (LEFT - 4.0, y + 3.5), &in_short(tick));
        // Ten to the zero, to the two, …: each power on its own would be crowded from a million on.
        tick = tick.saturating_mul(if scale.most >= 100_000 { 100 } else { 10 });
    }
    line(html, "base", (LEFT, base), (WIDTH - RIGHT, base));
}

/// Powers of ten with k, M and G.
fn in_short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}k", number / 1_000),
        1_000_000..1_000_000_000 => format!("{}M", number / 1_000_000),
        _ => format!("{}G", number / 1_000_000_000),
    }
}

/// Tenths along the base line, and what they are.
fn ticks(html: &mut Html, scale: &Scale) {
    let tenths = (0..=10).map(|tenth| f64::from(tenth) / 10.0);
    for tenth in tenths.filter(|tenth| *tenth + TOLERANCE >= scale.low) {
        let anchor = if tenth == 1.0 { "end" } else { "middle" };
        label(html, anchor, (scale.x(tenth), HEIGHT - BOTTOM + 14.0), &short(tenth));
    }
    label(html, "middle", ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 4.0), "similarity");
}

/// The line of the threshold, with its value on top.
fn threshold_line(html: &mut Html, x: f64, threshold: f64) {
    line(html, "threshold", (x, TOP - 6.0), (x, HEIGHT - BOTTOM));
    let anchor = if x > WIDTH / 2.0 { "end" } else { "start" };
    label(html, anchor, (x, TOP - 10.0), &format!("threshold {threshold}"));
}

fn bar(html: &mut Html, class: &'static str, (from, to): (f64, f64), height: f64, title: &str) {
    // A hair between neighbours; what is there at all can be seen.
    let width = (to - from - 0.8).max(0.4);
    let base = HEIGHT - BOTTOM;
    rect(html, class, (from, width), (base - height, height), Some(title));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_parted_at_the_threshold() {
        assert_eq!(at_threshold(0.1 * 8.0, 0.85, 0.8), [(0.8, 0.85, "bar")]);
        assert_eq!(at_threshold(0.7, 0.1 + 0.7, 0.8), [(0.7, 0.1 + 0.7, "bar below")]);
        assert_eq!(at_threshold(0.75, 0.85, 0.8), [(0.75, 0.8, "bar below"), (0.8, 0.85, "bar")]);
    }

    #[test]
    fn labels_are_short() {
        let bin = |least, most| SizeBin { least, most, clusters: 1 };
        assert_eq!([bin(2, 2), bin(4, 7), bin(4096, 8191)].map(|bin| short_range(&bin)), ["2", "4+", "4k+"]);
        assert_eq!([1, 100, 10_000, 1_000_000].map(in_short), ["1", "100", "10k", "1M"]);
    }
}

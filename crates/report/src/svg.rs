//! The drawing of pictures: shapes, words, and the frame of title, description and caption.

use crate::html::{Attributes, Html};
use crate::tables::{Head, table};

/// Pictures are as wide as a phone, so that their letters stay readable there; a wide page shows them larger.
pub(crate) const WIDTH: f64 = 400.0;

/// Height of letters.
pub(crate) const LETTER_HEIGHT: f64 = 10.0;

/// A picture with its texts.
pub(crate) struct Picture<'p> {
    /// A name that no other picture of the page has.
    pub(crate) id: &'p str,
    /// The width and the height.
    pub(crate) size: (f64, f64),
    /// The title.
    pub(crate) title: &'p str,
    /// A description of the picture for those who cannot see it.
    pub(crate) description: &'p str,
    /// The text below it.
    pub(crate) caption: &'p str,
}

/// Draws a picture.
pub(crate) fn picture(html: &mut Html, picture: &Picture<'_>, inside: impl FnOnce(&mut Html)) {
    html.element("figure", &[], |html| {
        // What is wider than a phone keeps its size and is moved sideways, so that its letters stay readable.
        if picture.size.0 > WIDTH {
            let region =
                [("class", "wide"), ("role", "region"), ("aria-label", picture.title), ("tabindex", "0")];
            html.element("div", &region, |html| drawing(html, picture, inside));
        } else {
            drawing(html, picture, inside);
        }
        html.leaf("figcaption", &[], picture.caption);
    });
}

fn drawing(html: &mut Html, picture: &Picture<'_>, inside: impl FnOnce(&mut Html)) {
    let Picture { id, size: (width, height), .. } = picture;
    let (title_id, description_id) = (format!("{id}-title"), format!("{id}-description"));
    let labels = format!("{title_id} {description_id}");
    let view = format!("0 0 {} {}", short(*width), short(*height));
    let own_width = short(width * 1.3);
    let mut attributes =
        vec![("class", "chart"), ("viewBox", view.as_str()), ("role", "img"), ("aria-labelledby", &labels)];
    if *width > WIDTH {
        attributes[0].1 = "chart own-width";
        attributes.push(("width", &own_width));
    }
    html.element("svg", &attributes, |html| {
        html.leaf("title", &[("id", &title_id)], picture.title);
        html.leaf("desc", &[("id", &description_id)], picture.description);
        inside(html);
    });
}

/// The figures of a picture as a table, folded.
pub(crate) fn figures(html: &mut Html, caption: &str, heads: &[Head<'_>], rows: impl FnOnce(&mut Html)) {
    html.element("details", &[], |html| {
        html.leaf("summary", &[], "The figures");
        table(html, caption, heads, rows);
    });
}

/// A rectangle: left edge and width, top edge and height.
pub(crate) fn rect(
    html: &mut Html,
    class: &str,
    (x, width): (f64, f64),
    (y, height): (f64, f64),
    title: Option<&str>,
) {
    let [x, width, y, height] = [x, width, y, height].map(coordinate);
    let attributes = [("class", class), ("x", &*x), ("y", &*y), ("width", &*width), ("height", &*height)];
    html.element("rect", &attributes, |html| write_title(html, title));
}

/// A straight line.
pub(crate) fn line(html: &mut Html, class: &str, from: (f64, f64), to: (f64, f64)) {
    let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(coordinate);
    html.element("line", &[("class", class), ("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)], |_| {});
}

/// Lines through points, one for each stretch.
pub(crate) fn path(html: &mut Html, class: &str, pieces: &[Vec<(f64, f64)>]) {
    let mut d = String::new();
    for piece in pieces {
        d.push_str(&corners(piece));
    }
    if !d.is_empty() {
        html.element("path", &[("class", class), ("d", &d)], |_| {});
    }
}

/// A closed shape.
pub(crate) fn shape(html: &mut Html, class: &str, points: &[(f64, f64)], title: Option<&str>) {
    let d = corners(points) + "Z";
    html.element("path", &[("class", class), ("d", &d)], |html| write_title(html, title));
}

fn corners(points: &[(f64, f64)]) -> String {
    let mut d = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        d.push(if index == 0 { 'M' } else { 'L' });
        d.push_str(&format!("{} {}", coordinate(*x), coordinate(*y)));
    }
    d
}

/// A circle.
pub(crate) fn circle(html: &mut Html, class: &str, (x, y): (f64, f64), radius: f64, title: Option<&str>) {
    let [x, y, radius] = [x, y, radius].map(coordinate);
    let attributes = [("class", class), ("cx", &*x), ("cy", &*y), ("r", &*radius)];
    html.element("circle", &attributes, |html| write_title(html, title));
}

/// Words; `anchor` is `start`, `middle` or `end`.
pub(crate) fn label(html: &mut Html, anchor: &'static str, at: (f64, f64), text: &str) {
    label_with(html, &[], anchor, at, text);
}

/// Words with more attributes.
pub(crate) fn label_with(
    html: &mut Html,
    more: Attributes<'_>,
    anchor: &'static str,
    (x, y): (f64, f64),
    text: &str,
) {
    let (x, y) = (coordinate(x), coordinate(y));
    let mut attributes = vec![("x", &*x), ("y", &*y), ("text-anchor", anchor)];
    attributes.extend(more);
    html.leaf("text", &attributes, text);
}

/// Words that climb to the right from where they begin, or from the left up to where they end.
pub(crate) fn slanted(html: &mut Html, anchor: &'static str, at: (f64, f64), text: &str) {
    let turn = format!("rotate(-45 {} {})", coordinate(at.0), coordinate(at.1));
    label_with(html, &[("transform", &turn)], anchor, at, text);
}

/// Returns the extent of slanted words, to the side and up or down.
pub(crate) fn slanted_reach(text: &str) -> f64 {
    (width_of(text) + LETTER_HEIGHT) * std::f64::consts::FRAC_1_SQRT_2
}

fn write_title(html: &mut Html, title: Option<&str>) {
    if let Some(title) = title {
        html.leaf("title", &[], title);
    }
}

/// Estimates the width of words. Fonts differ; this is on the safe side for most.
pub(crate) fn width_of(text: &str) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ':' | ';' | ' ' | '\'' | '|' | '(' | ')' => 0.38,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.92,
        // Scripts whose signs fill a square.
        '\u{1100}'.. => 1.0,
        c if c.is_uppercase() => 0.7,
        _ => 0.58,
    };
    LETTER_HEIGHT * text.chars().map(width).sum::<f64>()
}

/// The words, or as much of their beginning as fits.
pub(crate) fn fit(text: &str, width: f64) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if width_of(&out) + LETTER_HEIGHT > width {
            out.pop();
            break;
        }
    }
    out + "…"
}

/// At most three decimals, without zeros at the end.
pub(crate) fn short(number: f64) -> String {
    let digits = format!("{number:.3}");
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Tenths of a unit are finer than any screen, and the same on every machine.
pub(crate) fn coordinate(number: f64) -> String {
    format!("{number:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.5, 0.85, 1.0, 0.1 + 0.2].map(short), ["0.5", "0.85", "1", "0.3"]);
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        assert_eq!(fit("short", 100.0), "short");
        let cut = fit("a name that is much too long for its place", 80.0);
        assert!(cut.ends_with('…') && width_of(&cut) <= 80.0 && cut.starts_with("a name"), "{cut}");
        assert_eq!(fit("東京", 3.0), "…");
    }
}

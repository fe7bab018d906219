//! Pairs on the page, with what differs marked.

use lookalike_model::Section;

use crate::data::{PairSample, PairSide, Report};
use crate::diff::{Change, Comparison, Segment};
use crate::html::{Html, counted};

/// The pairs of one section under a heading. Nothing for a section without pairs.
pub(crate) fn section(html: &mut Html, report: &Report, section: Section) {
    let pairs: Vec<&PairSample> = report.samples.iter().filter(|sample| sample.section == section).collect();
    if pairs.is_empty() {
        return;
    }
    let (id, heading, explanation) = words(section);
    html.element("section", &[("id", id)], |html| {
        html.leaf("h3", &[], heading);
        html.leaf("p", &[], explanation);
        for pair in pairs {
            sample(html, pair);
        }
    });
}

fn words(section: Section) -> (&'static str, &'static str, &'static str) {
    match section {
        Section::Above => (
            "above",
            "Just above the threshold",
            "These count as near-duplicates, the least similar first. Where they should not, raise the threshold.",
        ),
        Section::Below => (
            "below",
            "Just below the threshold",
            "These do not count as near-duplicates, the most similar first. Where they should, lower the threshold.",
        ),
        Section::Random => (
            "random",
            "Drawn by chance",
            "Pairs from all that count as near-duplicates: what a typical removal looks like.",
        ),
    }
}

/// Radio buttons that show one kind of difference only. They work without any script.
pub(crate) fn filter(html: &mut Html, report: &Report) {
    let kinds = report.kinds();
    if kinds.len() < 2 {
        return;
    }
    html.element("fieldset", &[("class", "filter")], |html| {
        html.leaf("legend", &[], "Show");
        choice(html, "only-all", "all", true);
        for (kind, _) in kinds {
            choice(html, &format!("only-{kind}"), kind.name(), false);
        }
    });
}

fn choice(html: &mut Html, id: &str, name: &str, checked: bool) {
    html.element("label", &[], |html| {
        let mut attributes = vec![("type", "radio"), ("name", "kind"), ("id", id)];
        attributes.extend(checked.then_some(("checked", "checked")));
        html.void("input", &attributes);
        html.text(" ");
        html.text(name);
    });
}

fn sample(html: &mut Html, pair: &PairSample) {
    let kind = pair.comparison.kind;
    html.element("article", &[("class", &format!("pair kind-{kind}"))], |html| {
        html.element("h4", &[], |html| {
            match pair.similarity {
                Some(similarity) => {
                    html.leaf("span", &[("class", "similarity")], &format!("{similarity:.4}"))
                }
                None => html.leaf("span", &[("class", "similarity")], "not measured"),
            }
            html.text(" ");
            html.leaf("span", &[("class", "kind"), ("title", kind.meaning())], kind.name());
        });
        html.element("dl", &[], |html| {
            let Comparison { words_a, words_b, .. } = pair.comparison;
            side(html, PairSide::A, &pair.id_a, pair.url_a.as_deref(), &facts(pair, PairSide::A, words_a));
            side(html, PairSide::B, &pair.id_b, pair.url_b.as_deref(), &facts(pair, PairSide::B, words_b));
        });
        comparison(html, &pair.comparison);
    });
}

/// Returns the state of a document (removed, kept, or neither) and its length in words.
fn facts(pair: &PairSample, which: PairSide, words: u64) -> String {
    let words = counted(words, "word", "words");
    match pair.removed {
        Some(removed) if removed == which => format!("removed · {words}"),
        Some(_) => format!("kept · {words}"),
        None => words,
    }
}

/// One of two documents: its letter, id and address.
pub fn side(html: &mut Html, which: PairSide, id: &str, url: Option<&str>, facts: &str) {
    let (letter, class) = match which {
        PairSide::A => ("A", "only-a"),
        PairSide::B => ("B", "only-b"),
    };
    html.element("dt", &[], |html| html.leaf("span", &[("class", class)], letter));
    html.element("dd", &[], |html| {
        html.leaf("bdi", &[("class", "id")], id);
        html.text(" ");
        html.leaf("span", &[("class", "facts")], facts);
        if let Some(url) = url {
            html.text(" ");
            html.leaf("bdi", &[("class", "url")], url);
        }
    });
}

/// Writes the explanation of the marks.
pub fn marks(html: &mut Html) {
    html.element("p", &[], |html| {
        html.text("Marked like ");
        html.leaf("del", &[], "this");
        html.text(" is what only the first document (A) has, like ");
        html.leaf("ins", &[], "this");
        html.text(" what only the second (B) has. Case and punctuation make no difference.");
    });
}

/// Writes two documents as one sequence of words with the differences marked; equal documents only get a note that they are equal.
pub(crate) fn comparison(html: &mut Html, comparison: &Comparison) {
    if comparison.removed + comparison.added + comparison.uncompared == 0 {
        let equal = counted(comparison.shared, "word", "words");
        html.leaf("p", &[("class", "diff")], &format!("Equal: {equal} in the same order."));
        return;
    }
    all_words(html, comparison);
}

/// Two documents in one line of words, with what differs marked.
pub(crate) fn all_words(html: &mut Html, comparison: &Comparison) {
    html.element("p", &[("class", "diff"), ("dir", "auto")], |html| {
        for segment in &comparison.segments {
            piece(html, segment);
        }
    });
}

fn piece(html: &mut Html, segment: &Segment) {
    let name = match segment.change {
        Change::Equal | Change::Uncompared => "span",
        Change::Removed => "del",
        Change::Added => "ins",
    };
    match &segment.text {
        // Blanks at the end stay outside, where nothing underlines them.
        Some(text) => {
            let words = text.trim_end();
            html.leaf(name, &[], words);
            html.text(if words.len() < text.len() { " " } else { "" });
        }
        None => {
            html.text(" ");
            html.element(name, &[("class", "fold")], |html| html.text(&fold(segment)));
            html.text(" ");
        }
    }
}

/// Returns the text that replaces words that are not shown.
fn fold(segment: &Segment) -> String {
    let (one, many) = match segment.change {
        Change::Equal => ("equal word", "equal words"),
        Change::Removed => ("more word only in A", "more words only in A"),
        Change::Added => ("more word only in B", "more words only in B"),
        Change::Uncompared => ("word not compared", "words not compared"),
    };
    format!("… {} …", counted(segment.words, one, many))
}

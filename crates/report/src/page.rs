//! The page of a report: one file that needs nothing but itself.

use crate::charts;
use lookalike_model::Section;

use crate::data::{Counts, Report};
use crate::html::{Html, counted, percent, thousands};
use crate::samples;
use crate::tables;

/// Nothing may be loaded, run or sent; only the style on the page itself is allowed.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Makes one self-contained HTML page of a report.
///
/// It loads nothing and runs no script, and everything from documents, ids and addresses is escaped. Equal reports
/// give equal pages.
pub fn render(report: &Report) -> String {
    document(&report.title, |html| body(html, report))
}

/// A page that loads nothing and runs no script.
pub(crate) fn document(title: &str, body: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::default();
    html.literal("<!doctype html>\n");
    html.element("html", &[("lang", "en")], |html| {
        head(html, title);
        html.element("body", &[], body);
    });
    html.literal("\n");
    html.finish()
}

fn head(html: &mut Html, title: &str) {
    html.element("head", &[], |html| {
        html.void("meta", &[("charset", "utf-8")]);
        html.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)]);
        html.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
        html.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
        html.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
        html.leaf("title", &[], title);
        html.element("style", &[], |html| html.literal(include_str!("style.css")));
    });
}

fn body(html: &mut Html, report: &Report) {
    html.element("header", &[], |html| {
        html.leaf("h1", &[], &report.title);
        html.leaf("p", &[("class", "lead")], &lead(&report.counts));
    });
    html.element("main", &[], |html| {
        notes(html, report);
        threshold(html, report);
        pairs(html, report);
        clusters(html, report);
        origins(html, report);
        figures(html, report);
        recipe(html, report);
    });
}

/// The result in a sentence.
fn lead(counts: &Counts) -> String {
    format!(
        "Of {}, {} were kept, {} removed ({}) and {} rejected.",
        counted(counts.documents, "document", "documents"),
        thousands(counts.kept),
        thousands(counts.removed),
        percent(counts.removed, counts.documents),
        thousands(counts.rejected),
    )
}

/// Writes the warnings that a reader must see first.
fn notes(html: &mut Html, report: &Report) {
    let mut notes = Vec::new();
    if report.unverified {
        notes.push(
            "The pairs were not verified: the method's own verdict decided, and no similarity was measured."
                .to_owned(),
        );
    }
    if report.components {
        notes.push(
            "Chains of similar pairs removed documents: a removed document may be less similar to the one kept than the threshold asks for.".to_owned(),
        );
    }
    let Counts { documents, kept, removed, rejected, .. } = report.counts;
    // Sums that could overflow come from a broken run as well.
    if kept.checked_add(removed).and_then(|sum| sum.checked_add(rejected)) != Some(documents) {
        notes.push(
            "The counts do not add up: documents should be kept, removed or rejected. Please report this."
                .to_owned(),
        );
    }
    notes.extend(report.notes.iter().cloned());
    warnings(html, &notes);
}

/// Notes as warnings; nothing when there are none.
pub(crate) fn warnings(html: &mut Html, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    html.element("section", &[("class", "notes"), ("aria-label", "Warnings")], |html| {
        html.element("ul", &[], |html| {
            for note in notes {
                html.leaf("li", &[], note);
            }
        });
    });
}

/// The similarities and where the threshold cuts them.
fn threshold(html: &mut Html, report: &Report) {
    let measure = &report.measure;
    html.element("section", &[("id", "threshold")], |html| {
        html.leaf("h2", &[], "Is the threshold right?");
        let words = counted(measure.shingle, "word", "words");
        let sentence = format!(
            "Two documents count as near-duplicates when their {} similarity on shingles of {words} is at least {}. \
             A good threshold lies where few pairs are, and the pairs on both sides of it look right.",
            measure.similarity, measure.threshold,
        );
        html.leaf("p", &[], &sentence);
        charts::similarities(html, &report.similarities, measure);
    });
}

fn pairs(html: &mut Html, report: &Report) {
    if report.samples.is_empty() {
        return;
    }
    html.element("section", &[("id", "pairs")], |html| {
        html.leaf("h2", &[], "Pairs to look at");
        tables::kinds(html, &report.kinds());
        samples::marks(html);
        samples::filter(html, report);
        for section in [Section::Above, Section::Below, Section::Random] {
            samples::section(html, report, section);
        }
    });
}

fn clusters(html: &mut Html, report: &Report) {
    if report.sizes.is_empty() && report.biggest.is_empty() {
        return;
    }
    html.element("section", &[("id", "clusters")], |html| {
        html.leaf("h2", &[], "Clusters");
        if !report.sizes.is_empty() {
            charts::sizes(html, &report.sizes);
        }
        if !report.biggest.is_empty() {
            tables::clusters(html, &report.biggest);
        }
    });
}

fn origins(html: &mut Html, report: &Report) {
    if report.sources.is_empty() && report.hosts.is_empty() {
        return;
    }
    html.element("section", &[("id", "origins")], |html| {
        html.leaf("h2", &[], "Where they came from");
        if !report.sources.is_empty() {
            tables::source_table(html, "Documents by source", "Source", &report.sources);
        }
        if !report.hosts.is_empty() {
            tables::source_table(html, "Documents by host", "Host", &report.hosts);
        }
    });
}

fn figures(html: &mut Html, report: &Report) {
    html.element("section", &[("id", "figures")], |html| {
        html.leaf("h2", &[], "Figures");
        tables::counts(html, &report.counts);
        if !report.rejections.is_empty() {
            tables::rejections(html, &report.rejections);
        }
    });
}

fn recipe(html: &mut Html, report: &Report) {
    html.element("section", &[("id", "recipe")], |html| {
        html.leaf("h2", &[], "Recipe");
        html.leaf(
            "p",
            &[],
            "Everything that can change the result. The same recipe on the same input gives the same result.",
        );
        html.element("pre", &[], |html| html.leaf("code", &[], &report.recipe));
    });
}

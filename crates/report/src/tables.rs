//! Tables of the page.

use crate::charts;
use lookalike_model::{BigCluster, SourceCounts};

use crate::data::Counts;
use crate::html::{Html, counted, percent, thousands};
use crate::kind::Kind;

/// The head of a column.
pub enum Head<'h> {
    /// Of words.
    Words(&'h str),
    /// Of numbers, which stand at its right edge.
    Number(&'h str),
}

use Head::{Number, Words};

/// A table with its caption and heads.
pub fn table(html: &mut Html, caption: &str, heads: &[Head<'_>], rows: impl FnOnce(&mut Html)) {
    // Too wide for a phone, it is moved sideways, by keyboard as well.
    let region = [("class", "wide"), ("role", "region"), ("aria-label", caption), ("tabindex", "0")];
    html.element("div", &region, |html| {
        html.element("table", &[], |html| {
            html.leaf("caption", &[], caption);
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    for head in heads {
                        match head {
                            Words(name) => html.leaf("th", &[("scope", "col")], name),
                            Number(name) => html.leaf("th", &[("scope", "col"), ("class", "number")], name),
                        }
                    }
                });
            });
            html.element("tbody", &[], rows);
        });
    });
}

/// A row of a name, a number and perhaps a remark.
pub fn row(html: &mut Html, name: &str, count: u64, remark: Option<&str>) {
    html.element("tr", &[], |html| {
        head(html, name);
        number(html, &thousands(count));
        if let Some(remark) = remark {
            html.leaf("td", &[], remark);
        }
    });
}

/// Everything that was counted.
pub fn counts(html: &mut Html, counts: &Counts) {
    let of_all = |part| percent(part, counts.documents);
    let rows = [
        ("Documents", counts.documents, "every record that is a document, readable or not".to_owned()),
        ("Kept", counts.kept, of_all(counts.kept)),
        ("Removed", counts.removed, of_all(counts.removed)),
        ("Rejected", counts.rejected, format!("{}, could not be read", of_all(counts.rejected))),
        ("Skipped", counts.skipped, "records that are no documents".to_owned()),
        ("Clusters", counts.clusters, "groups of two or more, one kept of each".to_owned()),
        (
            "Exact duplicates",
            counts.exact_duplicates,
            "equal words in equal order, beyond the first".to_owned(),
        ),
        ("Candidates", counts.candidates, "pairs that the method proposed".to_owned()),
        (
            "Verified",
            counts.verified,
            "pairs whose similarity was measured, as far as it decides who is kept".to_owned(),
        ),
        ("Giant groups", counts.giant_groups, "groups too large to propose all their pairs".to_owned()),
        ("Duplicate ids", counts.duplicate_ids, "documents with an id that was there before".to_owned()),
        ("Bytes of text", counts.text_bytes, size(counts.text_bytes)),
    ];
    table(html, "What was counted", &[Words("What"), Number("Number"), Words("Remark")], |html| {
        for (name, count, remark) in &rows {
            row(html, name, *count, Some(remark));
        }
    });
}

/// Documents by source or host.
pub(crate) fn source_table(html: &mut Html, caption: &str, name: &'static str, sources: &[SourceCounts]) {
    let heads = [Words(name), Number("Documents"), Number("Removed"), Number("Share"), Words("Share, drawn")];
    table(html, caption, &heads, |html| {
        for source in sources {
            html.element("tr", &[], |html| {
                head(html, &source.name);
                number(html, &thousands(source.documents));
                number(html, &thousands(source.removed));
                number(html, &percent(source.removed, source.documents));
                html.element("td", &[], |html| charts::meter(html, source.removed, source.documents));
            });
        }
    });
}

/// The biggest clusters.
pub(crate) fn clusters(html: &mut Html, clusters: &[BigCluster]) {
    let heads = [Words("Kept"), Number("Documents"), Words("Some of the others"), Words("Begins with")];
    table(html, "The biggest clusters", &heads, |html| {
        for cluster in clusters {
            html.element("tr", &[], |html| {
                head(html, &cluster.keep);
                number(html, &thousands(cluster.size));
                html.element("td", &[("class", "ids")], |html| {
                    for member in &cluster.members {
                        html.leaf("bdi", &[], member);
                        html.literal(" ");
                    }
                });
                html.leaf("td", &[("class", "excerpt"), ("dir", "auto")], &cluster.excerpt);
            });
        }
    });
}

/// Kinds of difference in the samples.
pub(crate) fn kinds(html: &mut Html, kinds: &[(Kind, u64)]) {
    let all: u64 = kinds.iter().map(|(_, count)| count).sum();
    let caption = format!("How the {} below differ", counted(all, "pair", "pairs"));
    table(html, &caption, &[Words("Kind"), Number("Pairs"), Number("Share"), Words("Meaning")], |html| {
        for (kind, count) in kinds {
            html.element("tr", &[], |html| {
                head(html, kind.name());
                number(html, &thousands(*count));
                number(html, &percent(*count, all));
                html.leaf("td", &[], kind.meaning());
            });
        }
    });
}

/// Rejected records by reason.
pub(crate) fn rejections(html: &mut Html, reasons: &[(String, u64)]) {
    table(html, "Rejected records by reason", &[Words("Reason"), Number("Records")], |html| {
        for (reason, count) in reasons {
            row(html, reason, *count, None);
        }
    });
}

/// The name of a row.
pub(crate) fn head(html: &mut Html, name: &str) {
    html.element("th", &[("scope", "row")], |html| html.leaf("bdi", &[], name));
}

/// A number, at the right edge of its column.
pub fn number(html: &mut Html, text: &str) {
    html.leaf("td", &[("class", "number")], text);
}

/// Bytes in the unit that suits them.
pub fn size(bytes: u64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    // What would be shown as 1000.0 is better one unit up.
    while value >= 999.95 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{value:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(
            [0, 999, 1000, 999_960, 1_234_567_890].map(size),
            ["0 bytes", "999 bytes", "1.0 kB", "1.0 MB", "1.2 GB"]
        );
    }
}

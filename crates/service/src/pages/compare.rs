//! Two documents side by side, word by word, and where each difference stands in its source.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Uri;
use axum::response::Response;
use lookalike::model::Span;
use lookalike::report::parts::{Head, Html, counted, table, thousands};
use lookalike::report::{
    Change, Comparison, Overlap, Segment, Side, View, compare as compared, edit_similarity,
};

use super::document::{state_sentence, text_unavailable};
use super::frame::{NavPage, fact, page, similarity};
use crate::answer::Refusal;
use crate::app_state::AppState;
use crate::body;
use crate::form::Form;
use crate::job::{Text, TextResult};
use crate::source::{DocumentView, Source, State as DocumentState, WorkerBuffers, plain_number};
use crate::store::plain_text;

/// Equal words on each side of a change.
const CONTEXT: usize = 12;
/// Differences whose position is shown.
const MOST_POSITIONS: usize = 200;
/// Characters of a source that are shown.
const EXCERPT: usize = 160;

/// `GET /compare?a=&b=`
pub(crate) async fn compare(State(state): State<Arc<AppState>>, uri: Uri) -> Result<Response, Refusal> {
    let form = Form::of(&uri)?;
    let number = |name: &str| {
        let wrong = || Refusal::wrong(format!("{name} must be the number of a document"));
        form.get(name).and_then(plain_number).ok_or_else(wrong)
    };
    let (a, b, whole) = (number("a")?, number("b")?, form.filled("all").is_some());
    let _slot = state.work_slot()?;
    let pair = state.work(move |source, worker| Pair::read(source, worker, (a, b), whole)).await?;
    let title = format!("{} and {}", pair.a.name(), pair.b.name());
    let other = format!("/compare?a={a}&b={b}{}", if whole { "" } else { "&all=1" });
    Ok(page(&state, &title, NavPage::Other, |html| show(html, &pair, Some((&other, whole)))))
}

/// `POST /compare`: a pasted text beside a document.
pub(crate) async fn compare_pasted(
    State(state): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, Refusal> {
    let (form, _slot) = body::form(&state, request).await?;
    let wrong = || Refusal::wrong("b must be the number of a document");
    let b = form.get("b").and_then(plain_number).ok_or_else(wrong)?;
    let text = form.get("text").unwrap_or_default().to_owned();
    let pair = state
        .work(move |source, worker| {
            let missing = || Refusal::missing(format!("there is no document of the number {b}"));
            let b = source.document(worker, b)?.ok_or_else(missing)?;
            Ok(Pair::of(source, worker, pasted(text), b, false))
        })
        .await?;
    let title = format!("{PASTED} and {}", pair.b.name());
    Ok(page(&state, &title, NavPage::Ask, |html| show(html, &pair, None)))
}

const PASTED: &str = "the pasted text";

/// A text that is in no index.
fn pasted(text: String) -> DocumentView {
    let text = TextResult::Text(Box::new(plain_text(PASTED, None, text)));
    DocumentView { number: u64::MAX, id: Some(PASTED.to_owned()), state: DocumentState::Pasted, text }
}

/// Two documents, compared where both have texts.
struct Pair {
    a: DocumentView,
    b: DocumentView,
    shingle: usize,
    measured: Option<PairMeasures>,
}

struct PairMeasures {
    overlap: Overlap,
    edit: Option<f64>,
    comparison: Comparison,
}

impl Pair {
    fn read(
        source: &Source,
        worker: &mut WorkerBuffers,
        (a, b): (u64, u64),
        whole: bool,
    ) -> Result<Self, Refusal> {
        let mut view = |number| {
            let missing = || Refusal::missing(format!("there is no document of the number {number}"));
            source.document(worker, number)?.ok_or_else(missing)
        };
        let (a, b) = (view(a)?, view(b)?);
        Ok(Pair::of(source, worker, a, b, whole))
    }

    fn of(
        source: &Source,
        worker: &mut WorkerBuffers,
        a: DocumentView,
        b: DocumentView,
        whole: bool,
    ) -> Self {
        let shingle = source.recipe().shingle;
        let measured = match (&a.text, &b.text) {
            (TextResult::Text(a), TextResult::Text(b)) => Some(measured(worker, a, b, shingle, whole)),
            _ => None,
        };
        Pair { a, b, shingle, measured }
    }
}

fn measured(worker: &mut WorkerBuffers, a: &Text, b: &Text, shingle: usize, whole: bool) -> PairMeasures {
    worker.analyser.read(&a.text, &mut worker.a);
    worker.analyser.read(&b.text, &mut worker.b);
    let view = View { context: (!whole).then_some(CONTEXT), ..View::whole() };
    let (left, right) = (Side::new(&a.text, &worker.a), Side::new(&b.text, &worker.b));
    let comparison = compared(&left.at(a.url.as_deref()), &right.at(b.url.as_deref()), &view);
    let overlap = Overlap::of(&worker.a, &worker.b, shingle);
    PairMeasures { overlap, edit: edit_similarity(&worker.a, &worker.b), comparison }
}

impl DocumentView {
    fn name(&self) -> String {
        self.id.clone().unwrap_or_else(|| format!("document {}", self.number))
    }
}

fn show(html: &mut Html, pair: &Pair, other: Option<(&str, bool)>) {
    html.leaf("h1", &[], "Two documents");
    html.element("div", &[("class", "sides")], |html| {
        side(html, "A", "only-a", &pair.a);
        side(html, "B", "only-b", &pair.b);
    });
    let Some(measured) = &pair.measured else { return };
    figures(html, measured, pair.shingle);
    let (TextResult::Text(a), TextResult::Text(b)) = (&pair.a.text, &pair.b.text) else { return };
    html.leaf("h2", &[], "Word by word");
    html.element("p", &[("class", "facts")], |html| {
        html.text("Case and punctuation make no difference. ");
        if let Some((address, whole)) = other {
            let name = if whole { "Show the differences only" } else { "Show all words" };
            html.leaf("a", &[("href", address)], name);
        }
    });
    words(html, &measured.comparison, a, b);
    positions(html, &measured.comparison, a, b);
}

fn side(html: &mut Html, letter: &str, class: &str, view: &DocumentView) {
    html.element("section", &[("class", "side"), ("aria-label", &format!("Document {letter}"))], |html| {
        html.element("h2", &[], |html| {
            html.leaf("span", &[("class", class)], letter);
            html.text(" ");
            match view.state {
                DocumentState::Pasted => html.leaf("bdi", &[], &view.name()),
                _ => html.element("a", &[("href", &format!("/documents/{}", view.number))], |html| {
                    html.leaf("bdi", &[], &view.name());
                }),
            }
        });
        match &view.text {
            TextResult::Unavailable(why) => text_unavailable(html, why),
            TextResult::Text(text) => {
                if let Some(title) = &text.title {
                    html.leaf("p", &[("class", "title"), ("dir", "auto")], title);
                }
                if let Some(url) = &text.url {
                    html.leaf("bdi", &[("class", "url")], url);
                }
            }
        }
        html.element("p", &[("class", "facts")], |html| state_sentence(html, view));
    });
}

fn figures(html: &mut Html, measured: &PairMeasures, shingle: usize) {
    let PairMeasures { overlap, edit, comparison } = measured;
    html.element("dl", &[("class", "list")], |html| {
        fact(html, "Kind", |html| {
            html.leaf("span", &[("class", "kind")], comparison.kind.name());
            html.text(&format!(" {}", comparison.kind.meaning()));
        });
        fact(html, "Jaccard", |html| {
            html.text(&similarity(overlap.jaccard()));
            html.text(&format!(" on shingles of {}", counted(shingle as u64, "word", "words")));
        });
        fact(html, "Containment", |html| {
            let (a, b) = (similarity(overlap.of_a()), similarity(overlap.of_b()));
            html.text(&format!("{a} of A is in B, {b} of B is in A"));
        });
        fact(html, "Edit", |html| html.text(&similarity(*edit)));
        fact(html, "Words", |html| {
            html.text(&format!(
                "{} in both, {} only in A, {} only in B",
                thousands(comparison.shared),
                thousands(comparison.removed),
                thousands(comparison.added)
            ));
            if comparison.uncompared > 0 {
                let words = counted(comparison.uncompared, "word", "words");
                html.text(&format!("; {words} not compared, since the documents are too long"));
            }
        });
    });
}

/// Both texts in two columns, run by run; on a phone one below the other.
fn words(html: &mut Html, comparison: &Comparison, a: &Text, b: &Text) {
    if comparison.segments.is_empty() {
        html.leaf("p", &[], "Neither has a word.");
        return;
    }
    html.element("div", &[("class", "columns")], |html| {
        for group in group_segments(&comparison.segments) {
            match group {
                SegmentGroup::Fold(segment) => fold(html, segment),
                SegmentGroup::Rows(segments) => {
                    html.element("div", &[("class", "row")], |html| {
                        cell(html, "A", segments, |segment| (segment.spans.a, "del"), &a.text);
                        cell(html, "B", segments, |segment| (segment.spans.b, "ins"), &b.text);
                    });
                }
            }
        }
    });
}

/// Segments that are shown together.
enum SegmentGroup<'s> {
    /// Folded words.
    Fold(&'s Segment),
    /// Words that are shown.
    Rows(&'s [Segment]),
}

fn group_segments(segments: &[Segment]) -> Vec<SegmentGroup<'_>> {
    let mut all = Vec::new();
    let mut rest = segments;
    while let Some(first) = rest.first() {
        if first.text.is_none() {
            all.push(SegmentGroup::Fold(first));
            rest = &rest[1..];
            continue;
        }
        let end = rest.iter().position(|segment| segment.text.is_none()).unwrap_or(rest.len());
        all.push(SegmentGroup::Rows(&rest[..end]));
        rest = &rest[end..];
    }
    all
}

fn fold(html: &mut Html, segment: &Segment) {
    let words = match segment.change {
        Change::Equal => counted(segment.words, "equal word", "equal words"),
        _ => counted(segment.words, "word not compared", "words not compared"),
    };
    html.leaf("p", &[("class", "folded")], &format!("… {words} …"));
}

fn cell(
    html: &mut Html,
    letter: &str,
    segments: &[Segment],
    side_of: impl Fn(&Segment) -> (Span, &'static str),
    text: &str,
) {
    html.element("div", &[("class", "cell"), ("dir", "auto"), ("data-side", letter)], |html| {
        for segment in segments {
            let (span, mark) = side_of(segment);
            let words = text.get(span.start as usize..span.end as usize).unwrap_or_default();
            if words.is_empty() {
                continue;
            }
            // Blanks at the end stay outside, where nothing underlines them.
            let core = words.trim_end();
            let shown = without_blank_lines(core);
            match segment.change {
                Change::Equal | Change::Uncompared => html.leaf("span", &[], &shown),
                Change::Removed | Change::Added => html.leaf(mark, &[], &shown),
            }
            html.text(if words[core.len()..].contains('\n') { "\n" } else { " " });
        }
    });
}

/// Without blank lines, which make a comparison long.
fn without_blank_lines(text: &str) -> String {
    let lines = text.split('\n').map(str::trim_end);
    let mut out = String::with_capacity(text.len());
    for (index, line) in lines.enumerate() {
        if index > 0 && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(line);
    }
    out
}

/// Each difference with its position in the source of its document.
fn positions(html: &mut Html, comparison: &Comparison, a: &Text, b: &Text) {
    let changes = comparison.segments.iter();
    let changes: Vec<&Segment> =
        changes.filter(|segment| matches!(segment.change, Change::Removed | Change::Added)).collect();
    if changes.is_empty() {
        return;
    }
    html.leaf("h2", &[], "Where the differences are");
    if changes.len() > MOST_POSITIONS {
        let note = format!("The first {MOST_POSITIONS} of {}.", thousands(changes.len() as u64));
        html.leaf("p", &[("class", "facts")], &note);
    }
    let heads = [Head::Words("In"), Head::Words("Bytes of the source"), Head::Words("As it stands there")];
    table(html, "Differences in the sources", &heads, |html| {
        for segment in changes.into_iter().take(MOST_POSITIONS) {
            let (letter, class, span, text) = match segment.change {
                Change::Removed => ("A", "only-a", segment.spans.a, a),
                _ => ("B", "only-b", segment.spans.b, b),
            };
            let trimmed = trimmed(&text.text, span);
            let back = text.spans.to_source(trimmed);
            html.element("tr", &[], |html| {
                html.element("th", &[("scope", "row")], |html| {
                    html.leaf("span", &[("class", class)], letter);
                });
                let bytes = format!("{} to {}", thousands(back.start.into()), thousands(back.end.into()));
                html.leaf("td", &[("class", "place")], &bytes);
                html.element("td", &[("class", "excerpt"), ("dir", "auto")], |html| {
                    html.leaf("code", &[], &excerpt(&text.source, back));
                });
            });
        }
    });
}

/// Without the blanks behind it.
fn trimmed(text: &str, span: Span) -> Span {
    let words = text.get(span.start as usize..span.end as usize).unwrap_or_default();
    Span { start: span.start, end: span.start + words.trim_end().len() as u32 }
}

/// The beginning of what stands in a source.
fn excerpt(source: &[u8], span: Span) -> String {
    let end = (span.end as usize).min(source.len());
    let bytes = source.get((span.start as usize).min(end)..end).unwrap_or_default();
    let text = String::from_utf8_lossy(bytes);
    let mut shown: String = text.chars().take(EXCERPT).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

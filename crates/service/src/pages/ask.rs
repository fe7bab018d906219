//! The paste box: "what is this a near-duplicate of?"

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use lookalike::report::parts::{Head, Html, counted, number, table, thousands};

use super::frame::{NavPage, page, similarity};
use crate::answer::Refusal;
use crate::api::request::{CheckedDocument, Content};
use crate::app_state::AppState;
use crate::body;
use crate::metrics::add;
use crate::store::{Match, QueryResult};

/// Matches that are shown.
const MATCHES: usize = 50;

/// `GET /ask`
pub(crate) async fn ask(State(state): State<Arc<AppState>>) -> Result<Response, Refusal> {
    state.source.store()?;
    Ok(page(&state, "Ask", NavPage::Ask, |html| question(html, "", false)))
}

/// `POST /ask`
pub(crate) async fn answer(
    State(state): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, Refusal> {
    state.source.store()?;
    let (form, _slot) = body::form(&state, request).await?;
    // Browsers send line ends of their own kind.
    let text = form.get("text").unwrap_or_default().replace("\r\n", "\n");
    let is_html = form.get("html").is_some();
    if text.trim().is_empty() {
        return Ok(page(&state, "Ask", NavPage::Ask, |html| {
            question(html, &text, is_html);
            html.leaf("p", &[("class", "wrong"), ("role", "alert")], "There is no text in the box.");
        }));
    }
    let content = if is_html { Content::Html(text.clone()) } else { Content::Text(text.clone()) };
    let document = CheckedDocument { id: None, url: None, content };
    add(&state.metrics.queries, 1);
    let answered =
        state.work(move |source, worker| source.store()?.query(worker, &document, MATCHES)).await?;
    Ok(page(&state, "Answer", NavPage::Ask, |html| {
        question(html, &text, is_html);
        matches(html, &text, is_html, &answered);
    }))
}

fn question(html: &mut Html, text: &str, is_html: bool) {
    html.leaf("h1", &[], "What is this a near-duplicate of?");
    html.element("form", &[("method", "post"), ("action", "/ask"), ("class", "stack")], |html| {
        html.leaf("label", &[("for", "text")], "Text of a document");
        html.element("textarea", &[("id", "text"), ("name", "text"), ("dir", "auto")], |html| {
            // The first line end inside is not part of the text for browsers.
            html.literal("\n");
            html.text(text);
        });
        html.element("label", &[("class", "check")], |html| {
            let mut attributes = vec![("type", "checkbox"), ("name", "html"), ("value", "1")];
            attributes.extend(is_html.then_some(("checked", "checked")));
            html.void("input", &attributes);
            html.text(" It is HTML");
        });
        html.leaf("button", &[], "Ask");
    });
    html.leaf("p", &[("class", "facts")], "Asking changes nothing: the text is not added to the index.");
}

fn matches(html: &mut Html, text: &str, is_html: bool, answered: &QueryResult) {
    html.element("section", &[("aria-live", "polite")], |html| {
        html.leaf("h2", &[], "Answer");
        if answered.matches.is_empty() {
            html.leaf("p", &[("class", "lead")], "Of none: nothing in the index is like it.");
            return;
        }
        let total = counted(answered.total as u64, "document", "documents");
        html.leaf("p", &[("class", "lead")], &format!("Of {total}."));
        if answered.total > answered.matches.len() {
            let shown = thousands(answered.matches.len() as u64);
            html.leaf("p", &[("class", "facts")], &format!("The {shown} most similar ones are shown."));
        }
        let heads = [
            Head::Words("Document"),
            Head::Words("Fate"),
            Head::Number("Similarity"),
            Head::Words("Compare"),
        ];
        table(html, "Near-duplicates of the text", &heads, |html| {
            for found in &answered.matches {
                row(html, found, !is_html);
            }
        });
        if !is_html {
            // One copy of the text for all buttons of the table.
            let form = [("method", "post"), ("action", "/compare"), ("id", "compare"), ("hidden", "hidden")];
            html.element("form", &form, |html| {
                html.void("input", &[("type", "hidden"), ("name", "text"), ("value", text)]);
            });
        }
    });
}

fn row(html: &mut Html, found: &Match, can_compare: bool) {
    html.element("tr", &[], |html| {
        html.element("th", &[("scope", "row")], |html| {
            html.element("a", &[("href", &format!("/documents/{}", found.n))], |html| {
                html.leaf("bdi", &[], &found.id);
            });
            if let Some(url) = &found.url {
                html.leaf("bdi", &[("class", "url")], url);
            }
        });
        html.leaf("td", &[], if found.kept { "kept" } else { "removed" });
        number(html, &similarity(found.similarity));
        html.element("td", &[], |html| {
            if can_compare {
                let value = found.n.to_string();
                let button = [("class", "quiet"), ("form", "compare"), ("name", "b"), ("value", &*value)];
                html.leaf("button", &button, "with the text");
            }
        });
    });
}

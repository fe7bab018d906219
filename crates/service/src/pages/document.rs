//! One document with its text.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse, Redirect, Response};
use lookalike::report::parts::{Html, counted, thousands};

use super::frame::{NavPage, fact, page, similarity};
use crate::answer::{Refusal, rest_of};
use crate::app_state::AppState;
use crate::form::{Form, encode};
use crate::job::TextResult;
use crate::source::{DocumentView, State as DocumentState, cluster_name, plain_number};

/// Longer texts are cut on their page.
const LONGEST: usize = 200_000;

/// `GET /documents?id=`: leads to the page of a document.
pub(crate) async fn find(State(state): State<Arc<AppState>>, uri: Uri) -> Result<Response, Refusal> {
    let form = Form::of(&uri)?;
    let Some(id) = form.filled("id").map(str::to_owned) else {
        return Err(Refusal::wrong("id is missing; give the id of a document"));
    };
    let _slot = state.work_slot()?;
    let search = encode(&id);
    let number = state.work(move |source, worker| source.number_of(worker, &id)).await?;
    Ok(match number {
        Some(number) => Redirect::to(&format!("/documents/{number}")).into_response(),
        None => Redirect::to(&format!("/clusters?search={search}")).into_response(),
    })
}

/// `GET /documents/{number}`
pub(crate) async fn document(State(state): State<Arc<AppState>>, uri: Uri) -> Result<Response, Refusal> {
    let missing = || Refusal::missing("there is no document of this number");
    let number = plain_number(&rest_of(&uri, "/documents/")?).ok_or_else(missing)?;
    let _slot = state.work_slot()?;
    let view =
        state.work(move |source, worker| source.document(worker, number)).await?.ok_or_else(missing)?;
    let name = view.id.clone().unwrap_or_else(|| format!("document {number}"));
    Ok(page(&state, &name, NavPage::Other, |html| {
        html.element("h1", &[], |html| html.leaf("bdi", &[], &name));
        facts(html, &view);
        text(html, &view.text);
    }))
}

fn facts(html: &mut Html, view: &DocumentView) {
    html.element("dl", &[("class", "list")], |html| {
        fact(html, "Number", |html| html.text(&thousands(view.number)));
        if let TextResult::Text(text) = &view.text {
            if let Some(title) = &text.title {
                fact(html, "Begins with", |html| html.leaf("span", &[("dir", "auto")], title));
            }
            if let Some(url) = &text.url {
                // Shown, not linked: nobody should come to an address by a slip of the hand.
                fact(html, "Address", |html| html.leaf("bdi", &[], url));
            }
            if !text.shard.is_empty() {
                fact(html, "Stands in", |html| {
                    html.leaf("bdi", &[], &text.shard);
                    html.text(&format!(", from {} on", thousands(text.position)));
                });
            }
        }
        fact(html, "Fate", |html| state_sentence(html, view));
    });
}

/// Writes the state of a document, with links to its cluster or witness.
pub(super) fn state_sentence(html: &mut Html, view: &DocumentView) {
    match &view.state {
        DocumentState::Kept { others: 0 } => html.text("kept; no other document is like it"),
        DocumentState::Kept { others } => {
            html.text("kept, for ");
            html.element("a", &[("href", &format!("/clusters/{}", view.number))], |html| {
                html.text(&counted(*others, "near-duplicate", "near-duplicates"));
            });
        }
        DocumentState::Removed { witness, number, other, similarity: value } => {
            html.text("removed, since ");
            match other {
                true => html.leaf("bdi", &[], witness),
                false => html.element("a", &[("href", &format!("/documents/{number}"))], |html| {
                    html.leaf("bdi", &[], witness);
                }),
            }
            html.text(&match value {
                Some(_) => format!(" is like it: similarity {}", similarity(*value)),
                None => " is like it by the word of the method".to_owned(),
            });
            html.text(" · ");
            let cluster = format!("/clusters/{}", cluster_name(*number, *other));
            html.leaf("a", &[("href", &cluster)], "cluster");
            if !other {
                html.text(" · ");
                let compare = format!("/compare?a={number}&b={}", view.number);
                html.leaf("a", &[("href", &compare)], "compare");
            }
        }
        DocumentState::Pasted => html.text("pasted, in no index"),
    }
}

fn text(html: &mut Html, found: &TextResult) {
    html.leaf("h2", &[], "Text");
    match found {
        TextResult::Unavailable(why) => text_unavailable(html, why),
        TextResult::Text(text) => {
            let mut end = text.text.len().min(LONGEST);
            while !text.text.is_char_boundary(end) {
                end -= 1;
            }
            if end < text.text.len() {
                let note = format!(
                    "The first {} of {} bytes.",
                    thousands(end as u64),
                    thousands(text.text.len() as u64)
                );
                html.leaf("p", &[("class", "facts")], &note);
            }
            if text.text.trim().is_empty() {
                html.leaf("p", &[("class", "facts")], "There is no text in it.");
            }
            html.leaf("div", &[("class", "text"), ("dir", "auto")], &text.text[..end]);
        }
    }
}

/// Says that a text cannot be shown.
pub(super) fn text_unavailable(html: &mut Html, why: &str) {
    let note = format!("The text cannot be shown: {why}.");
    html.leaf("p", &[("class", "notes")], &note);
}

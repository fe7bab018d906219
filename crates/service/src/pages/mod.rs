//! Answers for people: pages that need no script, with everything that comes from documents escaped.

mod ask;
mod clusters;
mod compare;
mod document;
mod frame;
mod login;
mod overview;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use lookalike::report::parts::STYLE;

pub(crate) use self::ask::{answer, ask};
pub(crate) use self::clusters::{cluster, clusters};
pub(crate) use self::compare::{compare, compare_pasted};
pub(crate) use self::document::{document, find};
pub(crate) use self::frame::refusal;
pub(crate) use self::login::{log_in, log_out, login};
pub(crate) use self::overview::overview;

/// `GET /style.css`: the style of reports, and what only these pages have.
pub(crate) async fn style() -> Response {
    let style = format!("{STYLE}\n{}", include_str!("style.css"));
    let headers = [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")];
    (headers, style).into_response()
}

//! Answers for programs.

mod documents;
pub(crate) mod request;
mod stream;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

pub(crate) use self::documents::{add, document, query, remove};
use crate::answer::{self, Refusal};
use crate::app_state::AppState;
use crate::form::Form;
use crate::settings::{MOST_ROWS, ROWS};
use crate::source::{ClusterQuery, SortOrder};

/// The largest offset into a list.
const FARTHEST: u64 = u32::MAX as u64;

/// `GET /healthz`: the process answers.
pub(crate) async fn alive() -> Response {
    answer::json(StatusCode::OK, &json!({"status": "alive"}))
}

/// `GET /readyz`: requests can be served.
pub(crate) async fn ready(State(state): State<Arc<AppState>>) -> Result<Response, Refusal> {
    if state.stopping() {
        return Err(Refusal::stopping());
    }
    Ok(answer::json(StatusCode::OK, &json!({"status": "ready", "serves": state.source.kind()})))
}

/// `GET /metrics`, for Prometheus.
pub(crate) async fn metrics(State(state): State<Arc<AppState>>) -> Response {
    let figures = state.source.figures();
    let names: Vec<(String, String, u64)> = figures
        .iter()
        .map(|(name, value)| {
            (
                format!("lookalike_{name}"),
                format!("{}{} of what is served", name[..1].to_uppercase(), &name[1..]),
                *value,
            )
        })
        .collect();
    let gauges: Vec<(&str, &str, u64)> =
        names.iter().map(|(name, help, value)| (name.as_str(), help.as_str(), *value)).collect();
    let text = state.metrics.text(&gauges);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

/// `GET /v1/stats`
pub(crate) async fn stats(State(state): State<Arc<AppState>>) -> Response {
    let mut stats = Map::new();
    stats.insert("serves".to_owned(), state.source.kind().into());
    stats.extend(state.source.figures().into_iter().map(|(name, value)| (name.to_owned(), value.into())));
    stats.insert("recipe".to_owned(), state.source.recipe().to_toml().into());
    answer::json(StatusCode::OK, &Value::Object(stats))
}

/// `GET /v1/clusters`
pub(crate) async fn clusters(State(state): State<Arc<AppState>>, uri: Uri) -> Result<Response, Refusal> {
    let query = cluster_query(&Form::of(&uri)?, ROWS)?;
    let _slot = state.work_slot()?;
    let page = state.work(move |source, worker| source.clusters(worker, &query)).await?;
    Ok(answer::json(StatusCode::OK, &page))
}

/// `GET /v1/clusters/{cluster}`
pub(crate) async fn cluster(State(state): State<Arc<AppState>>, uri: Uri) -> Result<Response, Refusal> {
    let name = answer::rest_of(&uri, "/v1/clusters/")?;
    let form = Form::of(&uri)?;
    let (offset, count) = (offset(&form)?, count(&form, ROWS)?);
    let _slot = state.work_slot()?;
    let view = state.work(move |source, worker| source.cluster(worker, &name, offset, count)).await?;
    let view = view.ok_or_else(|| Refusal::missing("there is no cluster of this number"))?;
    Ok(answer::json(StatusCode::OK, &view))
}

/// Reads the search, order and range of clusters from an address.
pub(crate) fn cluster_query(form: &Form, rows: usize) -> Result<ClusterQuery, Refusal> {
    let sort = form.choice("sort", &["number", "size", "similarity"])?;
    // What people look for first: large clusters, and documents that are hardly alike.
    let usual = if sort == "size" { ["descending", "ascending"] } else { ["ascending", "descending"] };
    let descending = form.choice("order", &usual)? == "descending";
    let order = match sort {
        "size" => SortOrder::Size { descending },
        "similarity" => SortOrder::Similarity { descending },
        _ => SortOrder::Number { descending },
    };
    let search = form.filled("search").map(|search| search.trim().to_owned());
    if search.as_ref().is_some_and(|search| search.len() > crate::settings::LONGEST_ID) {
        return Err(Refusal::wrong("search must have at most 1024 bytes"));
    }
    Ok(ClusterQuery { search, order, offset: offset(form)?, count: count(form, rows)? })
}

/// Reads the number of rows to skip.
pub(crate) fn offset(form: &Form) -> Result<usize, Refusal> {
    Ok(form.number("offset", 0, FARTHEST)? as usize)
}

/// Reads the number of rows to return.
pub(crate) fn count(form: &Form, rows: usize) -> Result<usize, Refusal> {
    match form.number("count", rows as u64, MOST_ROWS as u64)? {
        0 => Err(Refusal::wrong(format!("count must be a whole number from 1 to {MOST_ROWS}"))),
        count => Ok(count as usize),
    }
}

//! Queries about documents, and documents to add.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use lookalike_index::OnExistingId;
use serde::Serialize;

use super::request::{Batch, CheckedDocument, check_body, check_id, read};
use crate::answer::{self, ErrorBody, Refusal, rest_of};
use crate::app_state::AppState;
use crate::body::{self, Media};
use crate::form::Form;
use crate::metrics::{Limit, Metrics, add as count};
use crate::source::{Source, WorkerBuffers};
use crate::store::{AddResult, DocumentDetails, QueryResult};

/// The operation on the documents of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Queries them.
    Query,
    /// Queries and adds them.
    Add(OnExistingId),
}

/// An answer to one document.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum DocumentAnswer {
    Query(QueryResult),
    Add(AddResult),
}

/// `POST /v1/query`
pub(crate) async fn query(State(state): State<Arc<AppState>>, request: Request) -> Result<Response, Refusal> {
    accept(state, request, Task::Query).await
}

/// `POST /v1/documents`
pub(crate) async fn add(State(state): State<Arc<AppState>>, request: Request) -> Result<Response, Refusal> {
    let form = Form::of(request.uri())?;
    let on_existing = match form.choice("known", &["refuse", "replace"])? {
        "replace" => OnExistingId::Replace,
        _ => OnExistingId::Refuse,
    };
    accept(state, request, Task::Add(on_existing)).await
}

async fn accept(state: Arc<AppState>, request: Request, task: Task) -> Result<Response, Refusal> {
    let store = state.source.store()?;
    if task != Task::Query {
        store.check_writes()?;
    }
    match body::media(request.headers()) {
        Some(Media::Json) => {}
        Some(Media::Lines) => return super::stream::accept(state, request, task).await,
        _ => return Err(body::unsupported("application/json or application/x-ndjson")),
    }
    let (bytes, _slot) = body::read(&state, request).await?;
    let most = state.settings.max_documents;
    let working = state.clone();
    state
        .work(move |source, worker| {
            let (batch, limit) = check_body(read(&bytes)?, task != Task::Query)?;
            match batch {
                Batch::One(document) => {
                    let mut answers = answers(source, worker, &working.metrics, task, &[*document], limit)?;
                    let answer = answers.pop().unwrap_or_else(|| Err(Refusal::failed("no answer")))?;
                    Ok(answer::json(StatusCode::OK, &answer))
                }
                Batch::Several(documents) if documents.len() > most => {
                    working.metrics.refused(Limit::Documents);
                    let sentence = format!("there are more than {most} documents; send fewer, or a stream");
                    Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, sentence))
                }
                Batch::Several(documents) => {
                    let answers = answers(source, worker, &working.metrics, task, &documents, limit)?;
                    let results = answers.iter().map(result_or_error).collect();
                    Ok(answer::json(StatusCode::OK, &Results { results }))
                }
            }
        })
        .await
}

#[derive(Serialize)]
struct Results<'r> {
    results: Vec<ResultOrError<'r>>,
}

/// An answer, or the reason why there is none.
#[derive(Serialize)]
#[serde(untagged)]
enum ResultOrError<'t> {
    Answer(&'t DocumentAnswer),
    Error(ErrorBody<'t>),
}

fn result_or_error(answer: &Result<DocumentAnswer, Refusal>) -> ResultOrError<'_> {
    match answer {
        Ok(answer) => ResultOrError::Answer(answer),
        Err(refusal) => ResultOrError::Error(ErrorBody { error: &refusal.sentence }),
    }
}

/// Answers documents, one after the other, or adds them together.
pub(super) fn answers(
    source: &Source,
    worker: &mut WorkerBuffers,
    metrics: &Metrics,
    task: Task,
    documents: &[CheckedDocument],
    limit: usize,
) -> Result<Vec<Result<DocumentAnswer, Refusal>>, Refusal> {
    let store = source.store()?;
    let on_existing = match task {
        Task::Query => {
            count(&metrics.queries, documents.len() as u64);
            let mut one = |document| store.query(worker, document, limit).map(DocumentAnswer::Query);
            return Ok(documents.iter().map(&mut one).collect());
        }
        Task::Add(on_existing) => on_existing,
    };
    let added = store.add(worker, documents, on_existing)?;
    for added in added.iter().flatten() {
        let counter = match added {
            AddResult { known: true, .. } => &metrics.known,
            AddResult { new: true, .. } => &metrics.new,
            _ => &metrics.duplicate,
        };
        count(counter, 1);
    }
    Ok(added.into_iter().map(|added| added.map(DocumentAnswer::Add)).collect())
}

/// `GET /v1/documents/{id}`
pub(crate) async fn document(State(state): State<Arc<AppState>>, uri: Uri) -> Result<Response, Refusal> {
    #[derive(Serialize)]
    struct Documents {
        documents: Vec<DocumentDetails>,
    }
    state.source.store()?;
    let id = id_of(&uri)?;
    let text = Form::of(&uri)?.choice("text", &["false", "true"])? == "true";
    let _slot = state.work_slot()?;
    let documents = state.work(move |source, worker| source.store()?.describe(worker, &id, text)).await?;
    if documents.is_empty() {
        return Err(no_document());
    }
    Ok(answer::json(StatusCode::OK, &Documents { documents }))
}

/// `DELETE /v1/documents/{id}`
pub(crate) async fn remove(State(state): State<Arc<AppState>>, uri: Uri) -> Result<Response, Refusal> {
    state.source.store()?.check_writes()?;
    let id = id_of(&uri)?;
    let _slot = state.work_slot()?;
    let removed = state.work(move |source, _| source.store()?.remove(&id)).await?;
    count(&state.metrics.removed, removed);
    if removed == 0 {
        return Err(no_document());
    }
    Ok(answer::json(StatusCode::OK, &serde_json::json!({ "removed": removed })))
}

fn no_document() -> Refusal {
    Refusal::missing("there is no document of this id")
}

fn id_of(uri: &Uri) -> Result<String, Refusal> {
    let id = rest_of(uri, "/v1/documents/")?;
    check_id(&id).map_err(|what| Refusal::wrong(format!("id {what}")))?;
    Ok(id)
}

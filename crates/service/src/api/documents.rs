//! Queries about documents, and documents to add.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use lookalike_index::Known;
use serde::Serialize;

use super::request::{Batch, Checked, check_id, checked, read};
use crate::answer::{self, ErrorBody, Refusal, rest_of};
use crate::body::{self, Media};
use crate::form::Form;
use crate::house::House;
use crate::metrics::{Limit, Metrics, add as count};
use crate::source::{Bench, Source};
use crate::store::{Added, Answered, Described};

/// The operation on the documents of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Queries them.
    Query,
    /// Queries and adds them.
    Add(Known),
}

/// An answer to one document.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum One {
    Answered(Answered),
    Added(Added),
}

/// `POST /v1/query`
pub(crate) async fn query(State(house): State<Arc<House>>, request: Request) -> Result<Response, Refusal> {
    accept(house, request, Task::Query).await
}

/// `POST /v1/documents`
pub(crate) async fn add(State(house): State<Arc<House>>, request: Request) -> Result<Response, Refusal> {
    let form = Form::of(request.uri())?;
    let known = match form.choice("known", &["refuse", "replace"])? {
        "replace" => Known::Replace,
        _ => Known::Refuse,
    };
    accept(house, request, Task::Add(known)).await
}

async fn accept(house: Arc<House>, request: Request, task: Task) -> Result<Response, Refusal> {
    let store = house.source.store()?;
    if task != Task::Query {
        store.check_writes()?;
    }
    match body::media(request.headers()) {
        Some(Media::Json) => {}
        Some(Media::Lines) => return super::stream::accept(house, request, task).await,
        _ => return Err(body::unsupported("application/json or application/x-ndjson")),
    }
    let (bytes, _place) = body::read(&house, request).await?;
    let most = house.settings.max_documents;
    let working = house.clone();
    house
        .work(move |source, bench| {
            let (batch, limit) = checked(read(&bytes)?, task != Task::Query)?;
            match batch {
                Batch::One(document) => {
                    let mut answers = answers(source, bench, &working.metrics, task, &[*document], limit)?;
                    let answer = answers.pop().unwrap_or_else(|| Err(Refusal::failed("no answer")))?;
                    Ok(answer::json(StatusCode::OK, &answer))
                }
                Batch::Several(documents) if documents.len() > most => {
                    working.metrics.refused(Limit::Documents);
                    let sentence = format!("there are more than {most} documents; send fewer, or a stream");
                    Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, sentence))
                }
                Batch::Several(documents) => {
                    let answers = answers(source, bench, &working.metrics, task, &documents, limit)?;
                    let results = answers.iter().map(told).collect();
                    Ok(answer::json(StatusCode::OK, &Results { results }))
                }
            }
        })
        .await
}

#[derive(Serialize)]
struct Results<'r> {
    results: Vec<Told<'r>>,
}

/// An answer, or the reason why there is none.
#[derive(Serialize)]
#[serde(untagged)]
enum Told<'t> {
    Answer(&'t One),
    Error(ErrorBody<'t>),
}

fn told(answer: &Result<One, Refusal>) -> Told<'_> {
    match answer {
        Ok(answer) => Told::Answer(answer),
        Err(refusal) => Told::Error(ErrorBody { error: &refusal.sentence }),
    }
}

/// Answers documents, one after the other, or adds them together.
pub(super) fn answers(
    source: &Source,
    bench: &mut Bench,
    metrics: &Metrics,
    task: Task,
    documents: &[Checked],
    limit: usize,
) -> Result<Vec<Result<One, Refusal>>, Refusal> {
    let store = source.store()?;
    let known = match task {
        Task::Query => {
            count(&metrics.queries, documents.len() as u64);
            let mut one = |document| store.query(bench, document, limit).map(One::Answered);
            return Ok(documents.iter().map(&mut one).collect());
        }
        Task::Add(known) => known,
    };
    let added = store.add(bench, documents, known)?;
    for added in added.iter().flatten() {
        let counter = match added {
            Added { known: true, .. } => &metrics.known,
            Added { new: true, .. } => &metrics.new,
            _ => &metrics.duplicate,
        };
        count(counter, 1);
    }
    Ok(added.into_iter().map(|added| added.map(One::Added)).collect())
}

/// `GET /v1/documents/{id}`
pub(crate) async fn document(State(house): State<Arc<House>>, uri: Uri) -> Result<Response, Refusal> {
    #[derive(Serialize)]
    struct Documents {
        documents: Vec<Described>,
    }
    house.source.store()?;
    let id = id_of(&uri)?;
    let text = Form::of(&uri)?.choice("text", &["false", "true"])? == "true";
    let _place = house.place()?;
    let documents = house.work(move |source, bench| source.store()?.describe(bench, &id, text)).await?;
    if documents.is_empty() {
        return Err(no_document());
    }
    Ok(answer::json(StatusCode::OK, &Documents { documents }))
}

/// `DELETE /v1/documents/{id}`
pub(crate) async fn remove(State(house): State<Arc<House>>, uri: Uri) -> Result<Response, Refusal> {
    house.source.store()?.check_writes()?;
    let id = id_of(&uri)?;
    let _place = house.place()?;
    let removed = house.work(move |source, _| source.store()?.remove(&id)).await?;
    count(&house.metrics.removed, removed);
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

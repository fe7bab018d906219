//! Questions about documents, and documents to add.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Uri;
use axum::response::Response;

use super::request::{check_id, checked, read};
use crate::answer::{Refusal, rest_of};
use crate::body::{self, Media};
use crate::house::House;
use crate::metrics::Limit;

/// `POST /v1/query`
pub(crate) async fn query(State(house): State<Arc<House>>, request: Request) -> Result<Response, Refusal> {
    accept(house, request, false).await
}

/// `POST /v1/documents`
pub(crate) async fn add(State(house): State<Arc<House>>, request: Request) -> Result<Response, Refusal> {
    accept(house, request, true).await
}

async fn accept(house: Arc<House>, request: Request, adds: bool) -> Result<Response, Refusal> {
    match body::media(request.headers()) {
        Some(Media::Json) => {}
        Some(Media::Lines) => return super::stream::accept(house, request, adds).await,
        _ => return Err(body::unsupported("application/json or application/x-ndjson")),
    }
    let (bytes, _place) = body::read(&house, request).await?;
    let most = house.settings.max_documents;
    let (batch, limit) = checked(read(&bytes)?, adds)?;
    let _ = (batch, limit, most, Limit::Documents);
    Err(no_index())
}

/// `GET /v1/documents/{id}`
pub(crate) async fn document(State(house): State<Arc<House>>, uri: Uri) -> Result<Response, Refusal> {
    let id = id_of(&uri)?;
    let _ = (house, id);
    Err(no_index())
}

/// `DELETE /v1/documents/{id}`
pub(crate) async fn remove(State(house): State<Arc<House>>, uri: Uri) -> Result<Response, Refusal> {
    let id = id_of(&uri)?;
    let _ = (house, id);
    Err(no_index())
}

fn id_of(uri: &Uri) -> Result<String, Refusal> {
    let id = rest_of(uri, "/v1/documents/")?;
    check_id(&id).map_err(|what| Refusal::wrong(format!("id {what}")))?;
    Ok(id)
}

pub(super) fn no_index() -> Refusal {
    Refusal::conflict("a finished job is served here, which takes no questions and no documents; serve an index")
}

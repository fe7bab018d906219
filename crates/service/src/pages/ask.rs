//! The paste box: "what is this a near-duplicate of?"

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;

use crate::answer::Refusal;
use crate::house::House;

/// `GET /ask`
pub(crate) async fn ask(State(_house): State<Arc<House>>) -> Result<Response, Refusal> {
    Err(no_index())
}

/// `POST /ask`
pub(crate) async fn answer(State(_house): State<Arc<House>>, _request: Request) -> Result<Response, Refusal> {
    Err(no_index())
}

pub(super) fn no_index() -> Refusal {
    Refusal::conflict("a finished job is served here, which takes no questions; serve an index")
}

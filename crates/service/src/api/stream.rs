//! Streams: a document on each line, and the answer of each line before the next ones have come.

use std::sync::Arc;

use axum::extract::Request;
use axum::response::Response;

use super::documents::no_index;
use crate::answer::Refusal;
use crate::house::House;

pub(super) async fn accept(house: Arc<House>, request: Request, adds: bool) -> Result<Response, Refusal> {
    let _ = (house, request, adds);
    Err(no_index())
}

//! The description of the API.

use axum::http::StatusCode;
use axum::response::Response;

use crate::answer;

/// `GET /openapi.json`
pub(crate) async fn show() -> Response {
    answer::json(StatusCode::OK, &serde_json::json!({}))
}

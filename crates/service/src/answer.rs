//! Answers: the content asked for, or the reason for a refusal in one sentence.

use axum::http::header::{self, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// A refusal of a request: its status and the reason in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) sentence: String,
    /// Seconds after which a retry may succeed.
    pub(crate) retry_after: Option<u32>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Refusal { status, sentence: sentence.into(), retry_after: None }
    }

    /// 400: it cannot be read.
    pub(crate) fn bad(sentence: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, sentence)
    }

    /// 422: it can be read, but a value is not what it should be.
    pub(crate) fn wrong(sentence: impl Into<String>) -> Self {
        Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, sentence)
    }

    /// 404: it is not there.
    pub(crate) fn missing(sentence: impl Into<String>) -> Self {
        Refusal::new(StatusCode::NOT_FOUND, sentence)
    }

    /// 409: not with what is served here.
    pub(crate) fn conflict(sentence: impl Into<String>) -> Self {
        Refusal::new(StatusCode::CONFLICT, sentence)
    }

    /// 429: too much at once.
    pub(crate) fn busy(sentence: impl Into<String>, retry_after: u32) -> Self {
        let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, sentence);
        Refusal { retry_after: Some(retry_after), ..refusal }
    }

    /// 500: our own fault.
    pub(crate) fn failed(sentence: impl Into<String>) -> Self {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, sentence)
    }

    /// 503: not now.
    pub(crate) fn stopping() -> Self {
        let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the service is stopping");
        Refusal { retry_after: Some(5), ..refusal }
    }
}

#[derive(Serialize)]
pub(crate) struct ErrorBody<'e> {
    pub(crate) error: &'e str,
}

impl IntoResponse for Refusal {
    /// For programs; pages are made of the copy that goes with it.
    fn into_response(self) -> Response {
        let mut response = json(self.status, &ErrorBody { error: &self.sentence });
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer realm=\"lookalike\"");
            headers.insert(header::WWW_AUTHENTICATE, scheme);
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// An answer as JSON.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => (status, [(header::CONTENT_TYPE, "application/json")], bytes).into_response(),
        // Nothing that we write can fail, but an answer must come in any case.
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Returns the part of the path after `prefix`, decoded.
pub(crate) fn rest_of(uri: &Uri, prefix: &str) -> Result<String, Refusal> {
    let raw = uri.path().strip_prefix(prefix).unwrap_or_default();
    let unreadable =
        || Refusal::bad("the last part of the address is not valid UTF-8 in % signs; encode it so");
    crate::form::decode(raw.as_bytes(), false).ok_or_else(unreadable)
}

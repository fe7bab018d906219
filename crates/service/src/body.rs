//! Bodies of requests, read within limits of size and time.
//!
//! A small body is read before a slot for work is taken, so that slow senders keep no slot from others; a large one needs
//! a slot first.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout, timeout_at};

use crate::answer::Refusal;
use crate::app_state::{AppState, WorkSlot};
use crate::metrics::Limit;

/// Bytes of a body that are read before a slot for work is taken: slow senders of small requests keep no slot from others.
const BYTES_BEFORE_SLOT: usize = 64 << 10;
/// Time and bytes for which data beyond a limit is read and discarded, so that the sender gets to read the refusal.
const DRAIN: (Duration, usize) = (Duration::from_secs(2), 64 << 20);

/// Reads a whole body, and takes a slot for work on it.
pub(crate) async fn read(state: &AppState, request: Request) -> Result<(Vec<u8>, WorkSlot), Refusal> {
    let limit = state.settings.max_body;
    read_up_to(state, request, limit).await
}

/// Reads a body of at most `limit` bytes, and takes a slot for work on it.
pub(crate) async fn read_up_to(
    state: &AppState,
    request: Request,
    limit: usize,
) -> Result<(Vec<u8>, WorkSlot), Refusal> {
    let announced = length(request.headers());
    let mut body = request.into_body();
    if announced.is_some_and(|bytes| bytes > limit as u64) {
        drain(&mut body).await;
        return Err(too_large(state, limit));
    }
    let deadline = Instant::now() + state.settings.timeout;
    let (mut bytes, mut slot) = (Vec::new(), None);
    loop {
        let chunk = timeout_at(deadline, chunk(&mut body)).await.map_err(|_| slow(state))?;
        let Some(chunk) = chunk? else { break };
        if bytes.len() + chunk.len() > limit {
            drain(&mut body).await;
            return Err(too_large(state, limit));
        }
        bytes.extend_from_slice(&chunk);
        if bytes.len() > BYTES_BEFORE_SLOT && slot.is_none() {
            slot = Some(state.work_slot()?);
        }
    }
    let slot = slot.map_or_else(|| state.work_slot(), Ok)?;
    Ok((bytes, slot))
}

/// The next bytes of a body; nothing at its end.
pub(crate) async fn chunk(body: &mut Body) -> Result<Option<Bytes>, Refusal> {
    loop {
        let Some(frame) = body.frame().await else { return Ok(None) };
        let frame = frame.map_err(|_| Refusal::bad("the body ended before its end; send all of it"))?;
        if let Ok(bytes) = frame.into_data() {
            return Ok(Some(bytes));
        }
    }
}

async fn drain(body: &mut Body) {
    let (time_limit, most) = DRAIN;
    let mut discarded = 0;
    let all = async {
        while let Ok(Some(bytes)) = chunk(body).await {
            discarded += bytes.len();
            if discarded > most {
                break;
            }
        }
    };
    let _ = timeout(time_limit, all).await;
}

/// The length that a request says it has.
fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large(state: &AppState, limit: usize) -> Refusal {
    state.metrics.refused(Limit::Body);
    let sentence = format!("the body is longer than {limit} bytes; send less at once, or as a stream");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, sentence)
}

/// Returns the refusal of a sender that took too long.
pub(crate) fn slow(state: &AppState) -> Refusal {
    state.metrics.refused(Limit::Slow);
    let seconds = state.settings.timeout.as_secs_f64();
    let sentence = format!("the body did not arrive within {seconds} seconds; send it faster, or less of it");
    Refusal::new(StatusCode::REQUEST_TIMEOUT, sentence)
}

/// The format of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    /// One JSON value.
    Json,
    /// A JSON value on each line.
    Lines,
    /// The form of a page.
    Form,
}

/// Returns the format that the headers declare.
pub(crate) fn media(headers: &HeaderMap) -> Option<Media> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let name = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match name.as_str() {
        "application/json" => Some(Media::Json),
        "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Some(Media::Lines),
        "application/x-www-form-urlencoded" => Some(Media::Form),
        _ => None,
    }
}

/// 415: names the expected content type.
pub(crate) fn unsupported(expected: &str) -> Refusal {
    let sentence = format!("the content type must be {expected}");
    Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, sentence)
}

/// A form of a page.
pub(crate) async fn form(
    state: &AppState,
    request: Request,
) -> Result<(crate::form::Form, WorkSlot), Refusal> {
    if media(request.headers()) != Some(Media::Form) {
        return Err(unsupported("application/x-www-form-urlencoded"));
    }
    let (bytes, slot) = read(state, request).await?;
    Ok((crate::form::Form::read(&bytes)?, slot))
}

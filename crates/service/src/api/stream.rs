//! Streams: a document on each line, and the answer of each line before the next ones have come.
//!
//! Lines that have come are answered together, so that a fast sender pays for one write of the index with many documents. A line
//! that is no document has its answer, too, and the stream goes on behind it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use serde::Serialize;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::{Instant, timeout};

use super::documents::{Task, answers};
use super::request::{CheckedDocument, check_document, limit, read};
use crate::answer::Refusal;
use crate::app_state::AppState;
use crate::body;

/// Lines that are answered together.
const LINES_PER_BATCH: usize = 64;
/// The interval at which a waiting stream checks whether the service is ending.
const STOP_POLL: Duration = Duration::from_millis(100);

pub(super) async fn accept(state: Arc<AppState>, request: Request, task: Task) -> Result<Response, Refusal> {
    let slot = state.stream_slot()?;
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        let mut stream =
            Stream { state, sender, task, body: request.into_body(), pending: Vec::new(), line: 0 };
        if let Err(refusal) = stream.run().await {
            stream.send_error(&refusal).await;
        }
        drop(slot);
    });
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((headers, Body::new(AnswerBody(receiver))).into_response())
}

/// The answers of a stream, as they come.
struct AnswerBody(Receiver<Bytes>);

impl hyper::body::Body for AnswerBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

struct Stream {
    state: Arc<AppState>,
    sender: Sender<Bytes>,
    task: Task,
    body: Body,
    /// Bytes received and not answered yet.
    pending: Vec<u8>,
    /// Lines that were answered.
    line: u64,
}

/// A line that gets no other answer.
#[derive(Serialize)]
struct BadLine<'l> {
    line: u64,
    error: &'l str,
}

impl Stream {
    /// Answers everything; an error ends the stream.
    async fn run(&mut self) -> Result<(), Refusal> {
        let most = self.state.settings.max_body;
        loop {
            let chunk = self.chunk().await?;
            let is_end = chunk.is_none();
            self.pending.extend_from_slice(&chunk.unwrap_or_default());
            let end = match is_end {
                true => self.pending.len(),
                false => memchr::memrchr(b'\n', &self.pending).map_or(0, |at| at + 1),
            };
            let rest = self.pending.split_off(end);
            let whole = std::mem::replace(&mut self.pending, rest);
            if !self.answer(whole).await? || is_end {
                return Ok(());
            }
            if self.pending.len() > most {
                return Err(Refusal::bad(format!(
                    "a line is longer than {most} bytes; the stream ends here"
                )));
            }
        }
    }

    /// The next bytes; nothing at the end.
    async fn chunk(&mut self) -> Result<Option<Bytes>, Refusal> {
        let deadline = Instant::now() + self.state.settings.timeout;
        loop {
            if let Ok(chunk) = timeout(STOP_POLL, body::chunk(&mut self.body)).await {
                return chunk;
            }
            if self.state.stopping() {
                return Err(Refusal::stopping());
            }
            if Instant::now() > deadline {
                return Err(body::slow(&self.state));
            }
        }
    }

    /// Answers whole lines; false when nobody reads the answers.
    async fn answer(&mut self, bytes: Vec<u8>) -> Result<bool, Refusal> {
        let bytes = Bytes::from(bytes);
        let mut lines: Vec<Bytes> = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', &rest).map_or(rest.len(), |at| at + 1);
            let line = rest.split_to(end);
            if !line.trim_ascii().is_empty() {
                lines.push(line);
            }
        }
        for batch in lines.chunks(LINES_PER_BATCH) {
            let answers = self.answer_batch(batch).await?;
            let sent = timeout(self.state.settings.timeout, self.sender.send(answers)).await;
            if !matches!(sent, Ok(Ok(()))) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn answer_batch(&mut self, lines: &[Bytes]) -> Result<Bytes, Refusal> {
        let first = self.line + 1;
        self.line += lines.len() as u64;
        loop {
            let (state, lines, task) = (self.state.clone(), lines.to_vec(), self.task);
            let working = state.clone();
            let answered = state
                .work(move |source, worker| {
                    let mut out = Vec::new();
                    let mut batch = LineBatch { task, documents: Vec::new(), outcomes: Vec::new() };
                    lines.iter().for_each(|line| batch.add_line(line));
                    batch.answer(&mut out, first, |documents, limit| {
                        answers(source, worker, &working.metrics, task, documents, limit)
                    })?;
                    Ok(out)
                })
                .await;
            match answered {
                // A stream can wait: its sender notices by itself.
                Err(refusal) if refusal.retry_after.is_some() && !self.state.stopping() => {
                    tokio::time::sleep(STOP_POLL).await;
                }
                answered => return answered.map(Bytes::from),
            }
        }
    }

    /// Sends the reason why the stream ends.
    async fn send_error(&mut self, refusal: &Refusal) {
        let mut out = Vec::new();
        write(&mut out, &BadLine { line: self.line + 1, error: &refusal.sentence });
        let _ = timeout(self.state.settings.timeout, self.sender.send(out.into())).await;
    }
}

/// Lines that are answered together.
struct LineBatch {
    task: Task,
    documents: Vec<CheckedDocument>,
    /// For each line the limit of its document, or the reason why there is none.
    outcomes: Vec<Result<usize, Refusal>>,
}

impl LineBatch {
    fn add_line(&mut self, line: &[u8]) {
        let checked = read(line).and_then(|sent| {
            if sent.documents.is_some() {
                return Err(Refusal::wrong("documents: a line of a stream is one document"));
            }
            let limit = limit(sent.limit)?;
            Ok((check_document(sent, "", self.task != Task::Query)?, limit))
        });
        self.outcomes.push(checked.map(|(document, limit)| {
            self.documents.push(document);
            limit
        }));
    }

    /// Writes an answer for each line, in order.
    fn answer(
        self,
        out: &mut Vec<u8>,
        first: u64,
        mut answer: impl FnMut(
            &[CheckedDocument],
            usize,
        ) -> Result<Vec<Result<super::documents::DocumentAnswer, Refusal>>, Refusal>,
    ) -> Result<(), Refusal> {
        // Limits may differ from line to line, but only questions have one, and those are answered one by one.
        let mut answers = Vec::new();
        match self.task {
            Task::Add(_) => answers = answer(&self.documents, 0)?,
            Task::Query => {
                for (document, limit) in self.documents.iter().zip(self.outcomes.iter().flatten()) {
                    answers.extend(answer(std::slice::from_ref(document), *limit)?);
                }
            }
        }
        let mut answers = answers.into_iter();
        for (index, outcome) in self.outcomes.into_iter().enumerate() {
            match outcome.and_then(|_| answers.next().unwrap_or_else(|| Err(Refusal::failed("no answer")))) {
                Ok(answer) => write(out, &answer),
                Err(refusal) => write(out, &BadLine { line: first + index as u64, error: &refusal.sentence }),
            }
        }
        Ok(())
    }
}

fn write(out: &mut Vec<u8>, value: &impl Serialize) {
    // Nothing that we write can fail.
    let _ = serde_json::to_writer(&mut *out, value);
    out.push(b'\n');
}

//! Streams: a document on each line, and the answer of each line before the next ones have come.
//!
//! What has come is answered together, so that a fast sender pays for one write of the index with many documents. A line
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
use super::request::{Checked, check, limit, read};
use crate::answer::Refusal;
use crate::body;
use crate::house::House;

/// Lines that are answered together.
const TOGETHER: usize = 64;
/// The interval at which a waiting stream checks whether the service is ending.
const GLANCE: Duration = Duration::from_millis(100);

pub(super) async fn accept(house: Arc<House>, request: Request, task: Task) -> Result<Response, Refusal> {
    let place = house.stream_place()?;
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        let mut stream =
            Stream { house, sender, task, body: request.into_body(), pending: Vec::new(), line: 0 };
        if let Err(refusal) = stream.run().await {
            stream.say(&refusal).await;
        }
        drop(place);
    });
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((headers, Body::new(Answers(receiver))).into_response())
}

/// The answers of a stream, as they come.
struct Answers(Receiver<Bytes>);

impl hyper::body::Body for Answers {
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
    house: Arc<House>,
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
        let most = self.house.settings.max_body;
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
        let deadline = Instant::now() + self.house.settings.timeout;
        loop {
            if let Ok(chunk) = timeout(GLANCE, body::chunk(&mut self.body)).await {
                return chunk;
            }
            if self.house.stopping() {
                return Err(Refusal::stopping());
            }
            if Instant::now() > deadline {
                return Err(body::slow(&self.house));
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
        for together in lines.chunks(TOGETHER) {
            let answers = self.answer_together(together).await?;
            let sent = timeout(self.house.settings.timeout, self.sender.send(answers)).await;
            if !matches!(sent, Ok(Ok(()))) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn answer_together(&mut self, lines: &[Bytes]) -> Result<Bytes, Refusal> {
        let first = self.line + 1;
        self.line += lines.len() as u64;
        loop {
            let (house, lines, task) = (self.house.clone(), lines.to_vec(), self.task);
            let working = house.clone();
            let answered = house
                .work(move |source, bench| {
                    let mut out = Vec::new();
                    let mut group = Group { task, documents: Vec::new(), fates: Vec::new() };
                    lines.iter().for_each(|line| group.take(line));
                    group.answer(&mut out, first, |documents, limit| {
                        answers(source, bench, &working.metrics, task, documents, limit)
                    })?;
                    Ok(out)
                })
                .await;
            match answered {
                // A stream can wait: its sender notices by itself.
                Err(refusal) if refusal.retry_after.is_some() && !self.house.stopping() => {
                    tokio::time::sleep(GLANCE).await;
                }
                answered => return answered.map(Bytes::from),
            }
        }
    }

    /// Sends the reason why the stream ends.
    async fn say(&mut self, refusal: &Refusal) {
        let mut out = Vec::new();
        write(&mut out, &BadLine { line: self.line + 1, error: &refusal.sentence });
        let _ = timeout(self.house.settings.timeout, self.sender.send(out.into())).await;
    }
}

/// Lines that are answered together.
struct Group {
    task: Task,
    documents: Vec<Checked>,
    /// For each line the limit of its document, or the reason why there is none.
    fates: Vec<Result<usize, Refusal>>,
}

impl Group {
    fn take(&mut self, line: &[u8]) {
        let checked = read(line).and_then(|sent| {
            if sent.documents.is_some() {
                return Err(Refusal::wrong("documents: a line of a stream is one document"));
            }
            let limit = limit(sent.limit)?;
            Ok((check(sent, "", self.task != Task::Query)?, limit))
        });
        self.fates.push(checked.map(|(document, limit)| {
            self.documents.push(document);
            limit
        }));
    }

    /// Writes an answer for each line, in order.
    fn answer(
        self,
        out: &mut Vec<u8>,
        first: u64,
        mut answer: impl FnMut(&[Checked], usize) -> Result<Vec<Result<super::documents::One, Refusal>>, Refusal>,
    ) -> Result<(), Refusal> {
        // Limits may differ from line to line, but only questions have one, and those are answered one by one.
        let mut answers = Vec::new();
        match self.task {
            Task::Add(_) => answers = answer(&self.documents, 0)?,
            Task::Query => {
                for (document, limit) in self.documents.iter().zip(self.fates.iter().flatten()) {
                    answers.extend(answer(std::slice::from_ref(document), *limit)?);
                }
            }
        }
        let mut answers = answers.into_iter();
        for (index, fate) in self.fates.into_iter().enumerate() {
            match fate.and_then(|_| answers.next().unwrap_or_else(|| Err(Refusal::failed("no answer")))) {
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

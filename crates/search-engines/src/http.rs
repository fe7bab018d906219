//! An engine over HTTP, by a description in TOML: the addresses to ask, and the paths of the answers in its JSON.
//!
//! - [`description`]: the file
//! - `template`, `json_path`: the parts of the file
//! - `hosts`, `client`: requests, to no host that the file does not name
//! - `retry_after`: the wait that a server asks for

mod client;
pub mod description;
mod hosts;
mod json_path;
mod retry_after;
mod template;

use std::path::Path;
use std::time::Duration;

use lookalike_model::{Content, Document, Extras, Media, RecordPosition};
use lookalike_text::extract::{ContentMode, Extractor};
use serde_json::Value;

use crate::engine::{EngineError, FetchedPage, Query, Results, SearchEngine};
use crate::http::client::{HttpClient, Reply, RequestFailure};
use crate::http::description::Description;
use crate::http::template::encoded;
use crate::open::Options;
use crate::question::Question;

/// An engine over HTTP.
pub struct HttpEngine {
    described: Description,
    fingerprint: String,
    client: HttpClient,
    extractor: Extractor,
}

impl HttpEngine {
    /// Opens an engine by the description in a file; `name` takes precedence over the one in it.
    pub fn open(name: Option<&str>, path: &Path, options: &Options) -> Result<Self, EngineError> {
        let mut described = Description::read(name, path)?;
        described.cap = described.cap.min(options.cap.unwrap_or(described.cap));
        let mut secrets = Vec::new();
        for (header, variable) in &described.secret_headers {
            let value = (options.secret)(variable).ok_or_else(|| {
                let why = format!("{variable} is not set, which its header {header} comes from; set it");
                EngineError::broken(&described.name, why)
            })?;
            secrets.push((header.clone(), value));
        }
        let client = HttpClient::new(&described, secrets);
        Ok(HttpEngine {
            fingerprint: described.fingerprint(),
            described,
            client,
            extractor: Extractor::default(),
        })
    }

    fn unanswered(&self, ask: &Question, failure: RequestFailure) -> EngineError {
        let RequestFailure { why, after, fatal } = failure;
        if fatal {
            return EngineError::broken(&self.described.name, why);
        }
        EngineError::Unanswered { engine: self.described.name.clone(), what: ask.to_string(), why, after }
    }

    fn run_query(&self, query: &str, limit: usize) -> Result<Results, RequestFailure> {
        let Description { cap, claimed, more, .. } = &self.described;
        // Who says nothing about more is asked for one more; nothing at all is what few engines can be asked for.
        let reports_more = claimed.is_some() || more.is_some();
        let asked = if reports_more { limit.max(1) } else { (limit + 1).min(*cap) };
        let reply = self.client.get(&self.described, &self.described.search_address(query, asked))?;
        if let status @ (401 | 403 | 404) = reply.status {
            let why = format!(
                "status {status} for a search; look at `search` and `secret_headers` of its description"
            );
            return Err(RequestFailure::fatal(why));
        }
        let mut results = self.results(&json(success(reply)?)?, asked)?;
        if asked > limit {
            results.more |= results.urls.len() > limit;
            results.urls.truncate(limit);
        }
        Ok(results)
    }

    /// Reads an answer.
    fn results(&self, answer: &Value, asked: usize) -> Result<Results, RequestFailure> {
        let Description { urls, claimed, more, .. } = &self.described;
        let claimed = match claimed {
            Some(path) => {
                let count = path.one(answer).and_then(number);
                Some(count.ok_or_else(|| {
                    RequestFailure::transient("the answer has no count where `claimed` says")
                })?)
            }
            None => None,
        };
        let urls = match urls.all(answer) {
            Some(found) => found.into_iter().map(|url| url.as_str().map(str::to_owned)).collect(),
            // Some leave the list out when it is empty.
            None if claimed == Some(0) => Some(Vec::new()),
            None => None,
        };
        let urls: Vec<String> =
            urls.ok_or_else(|| RequestFailure::transient("the answer has no addresses where `urls` says"))?;
        let more = match (more, claimed) {
            (Some(path), _) => path.one(answer).is_some_and(is_truthy),
            (None, Some(claimed)) => claimed > urls.len() as u64,
            (None, None) => urls.len() >= asked,
        };
        Ok(Results { urls, more, claimed })
    }

    fn page(&mut self, url: &str) -> Result<Option<String>, RequestFailure> {
        let fetch = &self.described.fetch;
        let address = if fetch.is_bare() { url.to_owned() } else { fetch.fill(&[("url", &encoded(url))]) };
        let reply = self.client.get(&self.described, &address)?;
        if is_gone(&reply) {
            return Ok(None);
        }
        let reply = success(reply)?;
        if let Some(path) = &self.described.text {
            let answer = json(reply)?;
            return match path.one(&answer) {
                Some(Value::String(text)) => Ok(Some(text.clone())),
                Some(Value::Null) => Ok(None),
                _ => Err(RequestFailure::transient("the answer has no text where `text` says")),
            };
        }
        self.text(&reply).map(Some)
    }

    /// The text of a page as it came.
    fn text(&mut self, reply: &Reply) -> Result<String, RequestFailure> {
        let media = match reply.media.as_str() {
            "text/html" | "application/xhtml+xml" | "" => Media::Html,
            text if text.starts_with("text/") => Media::Text,
            other => return Err(RequestFailure::permanent(format!("{other} is no text"))),
        };
        let document = Document {
            id: "",
            url: None,
            media,
            content: Content::Encoded { bytes: &reply.bytes, charset: reply.charset.as_deref() },
            place: RecordPosition::default(),
            raw: None,
            extras: Extras::default(),
        };
        Ok(self.extractor.extract(&document, ContentMode::Page).text.to_owned())
    }

    fn has_address(&self, url: &str) -> Result<bool, RequestFailure> {
        let has = self.described.has.as_ref();
        let address = has.map(|has| has.fill(&[("url", &encoded(url))])).unwrap_or_default();
        let reply = self.client.get(&self.described, &address)?;
        if is_gone(&reply) {
            return Ok(false);
        }
        let reply = success(reply)?;
        match &self.described.has_value {
            Some(path) => Ok(path.one(&json(reply)?).is_some_and(is_truthy)),
            None => Ok(true),
        }
    }
}

fn is_gone(reply: &Reply) -> bool {
    matches!(reply.status, 404 | 410)
}

fn success(reply: Reply) -> Result<Reply, RequestFailure> {
    match reply.status {
        200..=299 => Ok(reply),
        status => Err(RequestFailure::permanent(format!("status {status}"))),
    }
}

fn json(reply: Reply) -> Result<Value, RequestFailure> {
    serde_json::from_slice(&reply.bytes)
        .map_err(|error| RequestFailure::transient(format!("no JSON: {error}")))
}

/// Reads a count, also one with separators between its digits.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => {
            let digits: String =
                text.chars().filter(|c| !matches!(c, ',' | '.' | ' ' | '\'' | '\u{a0}')).collect();
            digits.parse().ok()
        }
        value => value.as_u64(),
    }
}

/// Returns true if a value says yes: a link to the next page, a count above 0, a list with something in it.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_f64().is_some_and(|number| number > 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

impl SearchEngine for HttpEngine {
    fn name(&self) -> &str {
        &self.described.name
    }

    fn kind(&self) -> &str {
        "http"
    }

    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn cap(&self) -> usize {
        self.described.cap
    }

    fn pause(&self) -> Duration {
        self.described.delay
    }

    fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError> {
        let limit = limit.min(self.described.cap);
        let words = self.described.query(query);
        match words.map_err(|why| EngineError::broken(&self.described.name, why))? {
            Some(words) => self.run_query(&words, limit).map_err(|failure| {
                self.unanswered(&Question::Search { query: query.clone(), limit }, failure)
            }),
            None => Ok(Results { claimed: Some(0), ..Results::default() }),
        }
    }

    fn fetch(&mut self, url: &str) -> Result<Option<FetchedPage>, EngineError> {
        match self.page(url) {
            Ok(text) => Ok(text.map(|text| FetchedPage { url: url.to_owned(), text })),
            Err(failure) => Err(self.unanswered(&Question::Fetch { url: url.to_owned() }, failure)),
        }
    }

    fn knows_addresses(&self) -> bool {
        self.described.has.is_some()
    }

    fn has(&mut self, url: &str) -> Option<Result<bool, EngineError>> {
        self.described.has.as_ref()?;
        let known = self.has_address(url);
        Some(known.map_err(|failure| self.unanswered(&Question::Has { url: url.to_owned() }, failure)))
    }
}

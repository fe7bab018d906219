//! A transcript as an engine: it answers what was asked before, and nothing else.

use std::path::Path;

use crate::engine::{EngineError, FetchedPage, Query, Results, SearchEngine};
use crate::question::{Answer, Question};
use crate::transcript::{Header, Transcript};

/// An engine that answers from a record.
///
/// A [`Caller`](crate::Caller) over a record should be made by [`Caller::replay`](crate::Caller::replay): it counts as the original
/// did, tries included.
#[derive(Debug)]
pub struct Replay {
    transcript: Transcript,
    name: String,
}

impl Replay {
    /// Opens the transcript in this file, under this name or that of the engine.
    pub fn open(name: Option<&str>, path: &Path) -> Result<Self, EngineError> {
        let transcript = Transcript::read(path)?;
        let name = name.unwrap_or(&transcript.header().engine).to_owned();
        Ok(Replay { transcript, name })
    }

    fn header(&self) -> &Header {
        self.transcript.header()
    }

    fn answer(&mut self, ask: &Question) -> Result<Answer, EngineError> {
        match self.transcript.find(ask)? {
            Some(found) => Ok(found.entry.answer),
            None => Err(not_recorded(&self.name, ask)),
        }
    }

    fn failed(&self, ask: &Question, answer: Answer) -> EngineError {
        failed(&self.name, ask, &answer)
    }
}

/// The error for a question that was not asked.
pub(crate) fn not_recorded(engine: &str, ask: &Question) -> EngineError {
    EngineError::NotRecorded { engine: engine.to_owned(), what: ask.to_string() }
}

/// The error for a recorded failure, or for an answer to another kind of question.
pub(crate) fn failed(engine: &str, ask: &Question, answer: &Answer) -> EngineError {
    let why = answer.failure().unwrap_or("the record has an answer of another sort").to_owned();
    EngineError::Unanswered { engine: engine.to_owned(), what: ask.to_string(), why, after: None }
}

impl SearchEngine for Replay {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &str {
        &self.header().kind
    }

    fn fingerprint(&self) -> &str {
        &self.header().fingerprint
    }

    fn cap(&self) -> usize {
        self.header().cap
    }

    fn is_record(&self) -> bool {
        true
    }

    fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError> {
        let ask = Question::Search { query: query.clone(), limit: limit.min(self.cap()) };
        match self.answer(&ask)? {
            Answer::Results(results) => Ok(results),
            other => Err(self.failed(&ask, other)),
        }
    }

    fn fetch(&mut self, url: &str) -> Result<Option<FetchedPage>, EngineError> {
        let ask = Question::Fetch { url: url.to_owned() };
        match self.answer(&ask)? {
            Answer::Page(page) => Ok(page),
            other => Err(self.failed(&ask, other)),
        }
    }

    fn knows_addresses(&self) -> bool {
        self.header().addresses
    }

    fn has(&mut self, url: &str) -> Option<Result<bool, EngineError>> {
        if !self.knows_addresses() {
            return None;
        }
        let ask = Question::Has { url: url.to_owned() };
        Some(self.answer(&ask).and_then(|answer| match answer {
            Answer::Has(has) => Ok(has),
            other => Err(self.failed(&ask, other)),
        }))
    }
}

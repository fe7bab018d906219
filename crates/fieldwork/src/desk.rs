//! A client of one engine that remembers its answers to single words, and the words of fetched pages.
//!
//! In memory: 4 bytes for each result of a word that was asked for, 12 for each different word of a fetched page, and for each different
//! page that was a result its address twice and some 60 bytes.

use std::collections::{HashMap, HashSet};

use lookalike_engines::{EngineError, Query, Results, SearchEngine};
use lookalike_text::hash;

use crate::own::{Own, WordId};
use crate::words;

/// A page, by the number that its address got here.
pub type PageId = u32;

/// The result of asking for a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// All pages with it.
    All(Vec<PageId>),
    /// More than the engine shows.
    TooMany,
    /// The question was not answered.
    Silence,
}

impl Found {
    /// The pages of a query that can be used: some, and all of them shown.
    pub fn usable(&self) -> &[PageId] {
        match self {
            Found::All(pages) => pages,
            _ => &[],
        }
    }
}

/// The words of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// Its words that the own corpus has, ascending, each once.
    pub known: Vec<WordId>,
    /// Digests of all its words, ascending, each once.
    pub all: Vec<u64>,
    /// Bytes of its text.
    pub bytes: usize,
}

impl Contents {
    /// Reads the words of a text.
    pub fn of(text: &str, own: &Own) -> Self {
        let (mut known, mut all) = (Vec::new(), Vec::new());
        words::each(text, |word| {
            known.extend(own.number(word));
            all.push(hash::word(word.as_bytes()));
        });
        known.sort_unstable();
        known.dedup();
        all.sort_unstable();
        all.dedup();
        Contents { known, all, bytes: text.len() }
    }

    /// Share of words that two pages have in common, of those that either has; 1 for two without words.
    pub fn jaccard(&self, other: &Contents) -> f64 {
        let (mut one, mut two, mut shared) = (0, 0, 0usize);
        while one < self.all.len() && two < other.all.len() {
            match self.all[one].cmp(&other.all[two]) {
                std::cmp::Ordering::Less => one += 1,
                std::cmp::Ordering::Greater => two += 1,
                std::cmp::Ordering::Equal => {
                    (one, two, shared) = (one + 1, two + 1, shared + 1);
                }
            }
        }
        let either = self.all.len() + other.all.len() - shared;
        if either == 0 { 1.0 } else { shared as f64 / either as f64 }
    }
}

/// The number of questions to an engine. Answers that are remembered are free.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Cost {
    /// Searches.
    pub calls: u64,
    /// Pages that were fetched.
    pub fetches: u64,
}

impl std::ops::Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost { calls: self.calls + other.calls, fetches: self.fetches + other.fetches }
    }
}

impl std::ops::Sub for Cost {
    type Output = Cost;

    fn sub(self, other: Cost) -> Cost {
        Cost { calls: self.calls - other.calls, fetches: self.fetches - other.fetches }
    }
}

/// Returns true if a question was not even asked, since the budget is used up.
fn is_spent<T>(answer: &Result<T, EngineError>) -> bool {
    matches!(answer, Err(EngineError::Spent { .. }))
}

/// A client of one engine, with the own corpus and the answers so far.
pub struct Desk<'a> {
    engine: &'a mut dyn SearchEngine,
    own: &'a Own,
    limit: usize,
    urls: Vec<String>,
    numbers: HashMap<String, PageId>,
    answers: HashMap<WordId, Found>,
    pages: HashMap<PageId, Option<Contents>>,
    /// Pages whose fetch had no answer, and that may exist.
    not_heard: HashSet<PageId>,
    cost: Cost,
    heard: bool,
    /// The reason why a search had no answer, the last time.
    silence: Option<String>,
}

impl<'a> Desk<'a> {
    /// Creates a client that asks an engine for at most `limit` results.
    pub fn new(engine: &'a mut dyn SearchEngine, own: &'a Own, limit: usize) -> Self {
        let limit = limit.min(engine.cap());
        let (urls, numbers) = (Vec::new(), HashMap::new());
        let (answers, pages, not_heard) = (HashMap::new(), HashMap::new(), HashSet::new());
        Desk {
            engine,
            own,
            limit,
            urls,
            numbers,
            answers,
            pages,
            not_heard,
            cost: Cost::default(),
            heard: false,
            silence: None,
        }
    }

    /// The own corpus.
    pub fn own(&self) -> &'a Own {
        self.own
    }

    /// The engine's name.
    pub fn name(&self) -> &str {
        self.engine.name()
    }

    /// Most results of an answer.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the number of questions to the engine so far.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The address of a page.
    pub fn url(&self, page: PageId) -> &str {
        &self.urls[page as usize]
    }

    /// The engine itself, for questions that need no memory.
    pub fn engine(&mut self) -> &mut dyn SearchEngine {
        self.engine
    }

    fn number(&mut self, url: &str) -> PageId {
        if let Some(&number) = self.numbers.get(url) {
            return number;
        }
        let number = self.urls.len() as PageId;
        self.urls.push(url.to_owned());
        self.numbers.insert(url.to_owned(), number);
        number
    }

    /// Returns the remembered answer for a word, without asking.
    pub fn known(&self, word: WordId) -> Option<&Found> {
        self.answers.get(&word)
    }

    /// Asks for a word, once. An empty budget and a broken engine are errors; no answer is [`Found::Silence`].
    pub fn search(&mut self, word: WordId) -> Result<&Found, EngineError> {
        if !self.answers.contains_key(&word) {
            let query = Query::all([self.own.spelling(word)]);
            let found = match self.ask(&query)? {
                None => Found::Silence,
                Some(results) if results.more => Found::TooMany,
                Some(results) => {
                    let mut pages: Vec<PageId> = results.urls.iter().map(|url| self.number(url)).collect();
                    pages.sort_unstable();
                    pages.dedup();
                    Found::All(pages)
                }
            };
            self.answers.insert(word, found);
        }
        Ok(&self.answers[&word])
    }

    /// Asks for pages with all of these words, in the engine's order; nothing when it does not answer.
    pub fn search_all(&mut self, words: &[WordId]) -> Result<Option<Vec<PageId>>, EngineError> {
        let query = Query::all(words.iter().map(|&word| self.own.spelling(word)));
        let results = self.ask(&query)?;
        Ok(results.map(|results| results.urls.iter().map(|url| self.number(url)).collect()))
    }

    /// Asks for pages with any of these words; nothing when the engine does not answer.
    pub fn search_any(&mut self, words: &[WordId]) -> Result<Option<Results>, EngineError> {
        self.ask(&Query::any(words.iter().map(|&word| self.own.spelling(word))))
    }

    fn ask(&mut self, query: &Query) -> Result<Option<Results>, EngineError> {
        let answer = self.engine.search(query, self.limit);
        self.cost.calls += u64::from(!is_spent(&answer));
        match answer {
            Ok(results) => {
                self.heard = true;
                Ok(Some(results))
            }
            Err(error) if error.is_transient() => {
                if let EngineError::Unanswered { why, .. } = error {
                    self.silence = Some(why);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the reason why a search had no answer, the last time that one had none.
    pub fn silence(&self) -> Option<&str> {
        self.silence.as_deref()
    }

    /// Returns true if any search was answered.
    pub fn has_heard(&self) -> bool {
        self.heard
    }

    /// Returns the words of a page, fetched once; nothing if it cannot be fetched.
    pub fn contents(&mut self, page: PageId) -> Result<Option<&Contents>, EngineError> {
        if !self.pages.contains_key(&page) {
            let answer = self.engine.fetch(&self.urls[page as usize]);
            self.cost.fetches += u64::from(!is_spent(&answer));
            let read = match answer {
                Ok(fetched) => fetched.map(|fetched| Contents::of(&fetched.text, self.own)),
                Err(error) if error.is_transient() => {
                    self.not_heard.insert(page);
                    None
                }
                Err(error) => return Err(error),
            };
            self.pages.insert(page, read);
        }
        Ok(self.pages[&page].as_ref())
    }

    /// Returns true if the fetch of a page had no answer, so that its words are not known.
    pub fn is_silent(&self, page: PageId) -> bool {
        self.not_heard.contains(&page)
    }

    /// Returns the words of a page that was fetched.
    pub fn read(&self, page: PageId) -> Option<&Contents> {
        self.pages.get(&page)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_sets() {
        let mut own = Own::new();
        own.add("alpha beta gamma");
        let one = Contents::of("Beta alpha beta delta", &own);
        let other = Contents::of("alpha delta epsilon", &own);
        assert_eq!((one.known.len(), one.all.len()), (2, 3));
        assert_eq!(one.jaccard(&other), 0.5);
        assert_eq!(Contents::default().jaccard(&Contents::default()), 1.0);
    }
}

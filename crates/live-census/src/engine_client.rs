//! A client of one engine that remembers its answers to single words, and the words of fetched pages.
//!
//! In memory: 4 bytes for each result of a word that was asked for, 12 for each different word of a fetched page, and for each different
//! page that was a result its address twice and some 60 bytes.

use std::collections::{HashMap, HashSet};

use lookalike_hash as hash;
use lookalike_search_engines::{EngineError, Query, Results, SearchEngine};

use crate::own_corpus::{OwnCorpus, WordId};
use crate::words;

/// A page, by the number that its address got here.
pub type PageId = u32;

/// The result of asking for a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordResult {
    /// All pages with it.
    All(Vec<PageId>),
    /// More than the engine shows.
    TooMany,
    /// The question was not answered.
    NoAnswer,
}

impl WordResult {
    /// The pages of a query that can be used: some, and all of them shown.
    pub fn usable(&self) -> &[PageId] {
        match self {
            WordResult::All(pages) => pages,
            _ => &[],
        }
    }
}

/// The words of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageWords {
    /// Its words that the own corpus has, ascending, each once.
    pub known: Vec<WordId>,
    /// Digests of all its words, ascending, each once.
    pub all: Vec<u64>,
    /// Bytes of its text.
    pub bytes: usize,
}

impl PageWords {
    /// Reads the words of a text.
    pub fn of(text: &str, own: &OwnCorpus) -> Self {
        let (mut known, mut all) = (Vec::new(), Vec::new());
        words::each(text, |word| {
            known.extend(own.number(word));
            all.push(hash::word(word.as_bytes()));
        });
        known.sort_unstable();
        known.dedup();
        all.sort_unstable();
        all.dedup();
        PageWords { known, all, bytes: text.len() }
    }

    /// Share of words that two pages have in common, of those that either has; 1 for two without words.
    pub fn jaccard(&self, other: &PageWords) -> f64 {
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
pub struct EngineClient<'a> {
    engine: &'a mut dyn SearchEngine,
    own: &'a OwnCorpus,
    limit: usize,
    urls: Vec<String>,
    numbers: HashMap<String, PageId>,
    answers: HashMap<WordId, WordResult>,
    pages: HashMap<PageId, Option<PageWords>>,
    /// Pages whose fetch had no answer, and that may exist.
    unanswered: HashSet<PageId>,
    cost: Cost,
    answered: bool,
    /// The reason why a search had no answer, the last time.
    last_failure: Option<String>,
}

impl<'a> EngineClient<'a> {
    /// Creates a client that asks an engine for at most `limit` results.
    pub fn new(engine: &'a mut dyn SearchEngine, own: &'a OwnCorpus, limit: usize) -> Self {
        let limit = limit.min(engine.cap());
        let (urls, numbers) = (Vec::new(), HashMap::new());
        let (answers, pages, unanswered) = (HashMap::new(), HashMap::new(), HashSet::new());
        EngineClient {
            engine,
            own,
            limit,
            urls,
            numbers,
            answers,
            pages,
            unanswered,
            cost: Cost::default(),
            answered: false,
            last_failure: None,
        }
    }

    /// The own corpus.
    pub fn own(&self) -> &'a OwnCorpus {
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
    pub fn cached(&self, word: WordId) -> Option<&WordResult> {
        self.answers.get(&word)
    }

    /// Asks for a word, once. An empty budget and a broken engine are errors; no answer is [`WordResult::NoAnswer`].
    pub fn search(&mut self, word: WordId) -> Result<&WordResult, EngineError> {
        if !self.answers.contains_key(&word) {
            let query = Query::all([self.own.spelling(word)]);
            let found = match self.ask(&query)? {
                None => WordResult::NoAnswer,
                Some(results) if results.more => WordResult::TooMany,
                Some(results) => {
                    let mut pages: Vec<PageId> = results.urls.iter().map(|url| self.number(url)).collect();
                    pages.sort_unstable();
                    pages.dedup();
                    WordResult::All(pages)
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
                self.answered = true;
                Ok(Some(results))
            }
            Err(error) if error.is_transient() => {
                if let EngineError::Unanswered { why, .. } = error {
                    self.last_failure = Some(why);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the reason why a search had no answer, the last time that one had none.
    pub fn last_failure(&self) -> Option<&str> {
        self.last_failure.as_deref()
    }

    /// Returns true if any search was answered.
    pub fn has_answer(&self) -> bool {
        self.answered
    }

    /// Returns the words of a page, fetched once; nothing if it cannot be fetched.
    pub fn fetch_words(&mut self, page: PageId) -> Result<Option<&PageWords>, EngineError> {
        if !self.pages.contains_key(&page) {
            let answer = self.engine.fetch(&self.urls[page as usize]);
            self.cost.fetches += u64::from(!is_spent(&answer));
            let read = match answer {
                Ok(fetched) => fetched.map(|fetched| PageWords::of(&fetched.text, self.own)),
                Err(error) if error.is_transient() => {
                    self.unanswered.insert(page);
                    None
                }
                Err(error) => return Err(error),
            };
            self.pages.insert(page, read);
        }
        Ok(self.pages[&page].as_ref())
    }

    /// Returns true if the fetch of a page had no answer, so that its words are not known.
    pub fn is_unanswered(&self, page: PageId) -> bool {
        self.unanswered.contains(&page)
    }

    /// Returns the words of a page that was fetched.
    pub fn fetched_words(&self, page: PageId) -> Option<&PageWords> {
        self.pages.get(&page)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_sets() {
        let mut own = OwnCorpus::new();
        own.add("alpha beta gamma");
        let one = PageWords::of("Beta alpha beta delta", &own);
        let other = PageWords::of("alpha delta epsilon", &own);
        assert_eq!((one.known.len(), one.all.len()), (2, 3));
        assert_eq!(one.jaccard(&other), 0.5);
        assert_eq!(PageWords::default().jaccard(&PageWords::default()), 1.0);
    }
}

//! One engine for many runs, each within a budget of its own. Answers to one run are remembered for the next: the run is charged
//! for them, and no call is made.

use std::collections::{BTreeSet, HashMap};

use lookalike_live_census::words;
use lookalike_search_engines::{EngineError, FetchedPage, Query, Results, SearchEngine};

/// An engine that remembers its answers.
pub(crate) struct CachedEngine {
    engine: Box<dyn SearchEngine>,
    answers: HashMap<(Query, usize), Results>,
    pages: HashMap<String, Option<FetchedPage>>,
}

/// One run's view of it.
pub(crate) struct Run<'s> {
    shared: &'s mut CachedEngine,
    calls: u64,
    budget: u64,
    /// Pages that were fetched.
    pub(crate) fetches: u64,
}

impl CachedEngine {
    /// Wraps an engine.
    pub(crate) fn new(engine: Box<dyn SearchEngine>) -> Self {
        CachedEngine { engine, answers: HashMap::new(), pages: HashMap::new() }
    }

    /// Its name.
    pub(crate) fn name(&self) -> String {
        self.engine.name().to_owned()
    }

    /// Begins a run with a budget of this number of calls.
    pub(crate) fn run(&mut self, budget: u64) -> Run<'_> {
        Run { shared: self, calls: 0, budget, fetches: 0 }
    }
}

impl SearchEngine for Run<'_> {
    fn name(&self) -> &str {
        self.shared.engine.name()
    }

    fn kind(&self) -> &str {
        self.shared.engine.kind()
    }

    fn cap(&self) -> usize {
        self.shared.engine.cap()
    }

    fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError> {
        if self.calls == self.budget {
            let engine = self.name().to_owned();
            return Err(EngineError::Spent { engine, what: "calls", budget: self.budget });
        }
        self.calls += 1;
        let key = (query.clone(), limit);
        if let Some(results) = self.shared.answers.get(&key) {
            return Ok(results.clone());
        }
        let results = self.shared.engine.search(query, limit)?;
        self.shared.answers.insert(key, results.clone());
        Ok(results)
    }

    fn fetch(&mut self, url: &str) -> Result<Option<FetchedPage>, EngineError> {
        self.fetches += 1;
        if let Some(page) = self.shared.pages.get(url) {
            return Ok(page.clone());
        }
        let page = self.shared.engine.fetch(url)?.map(distinct_words);
        self.shared.pages.insert(url.to_owned(), page.clone());
        Ok(page)
    }
}

/// A page with each of its words once: no estimator sees the difference, and reading it again in every run is much faster.
fn distinct_words(page: FetchedPage) -> FetchedPage {
    let mut found = BTreeSet::new();
    words::each(&page.text, |word| {
        found.insert(word.to_owned());
    });
    FetchedPage { text: found.into_iter().collect::<Vec<_>>().join(" "), ..page }
}

//! An engine with faults on purpose, for tests and demonstrations of the effect of false answers on an estimate, and of their detection.
//!
//! Its faults follow from the seed, the question and the number of times that it was asked before: a run that is resumed meets the
//! same ones.

use std::collections::HashMap;
use std::time::Duration;

use lookalike_hash::word;

use crate::engine::{EngineError, FetchedPage, Query, Results, SearchEngine};
use crate::question::Question;

/// The faults of an engine; none by default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FaultPlan {
    /// The seed of every random choice.
    pub seed: u64,
    /// Claimed counts are multiplied by this.
    pub claims: f64,
    /// Probability that a call is not answered.
    pub failing: f64,
    /// Share of the results that is shown, the first ones; whether there are more stays as it was.
    pub shown: f64,
    /// Probability that a result is missing from an answer; another one each time.
    pub dropped: f64,
}

impl Default for FaultPlan {
    fn default() -> Self {
        FaultPlan { seed: 0, claims: 1.0, failing: 0.0, shown: 1.0, dropped: 0.0 }
    }
}

/// An engine with faults.
pub struct FaultyEngine<E> {
    engine: E,
    faults: FaultPlan,
    fingerprint: String,
    /// The number of times that a question was asked, by its key.
    asked: HashMap<u128, u64>,
}

impl<E: SearchEngine> FaultyEngine<E> {
    /// Gives faults to an engine.
    pub fn new(engine: E, faults: FaultPlan) -> Self {
        let FaultPlan { seed, claims, failing, shown, dropped } = faults;
        // Transcripts keep it, so that its text stays as it was first written.
        let fingerprint = format!(
            "{} twisted Twist {{ seed: {seed:?}, claims: {claims:?}, failing: {failing:?}, shown: {shown:?}, dropped: {dropped:?} }}",
            engine.fingerprint()
        );
        FaultyEngine { engine, faults, fingerprint, asked: HashMap::new() }
    }

    /// Counts a question and returns the number of times that it was asked; fails with the probability of the plan.
    fn count_asked(&mut self, ask: &Question) -> Result<u64, EngineError> {
        let times = self.asked.entry(ask.key()).or_default();
        *times += 1;
        let times = *times;
        if ask.chance(self.faults.seed, 2 * times) < self.faults.failing {
            let (engine, why) = (self.engine.name().to_owned(), "silent on purpose".to_owned());
            return Err(EngineError::Unanswered { engine, what: ask.to_string(), why, after: None });
        }
        Ok(times)
    }

    fn distort(&self, ask: &Question, times: u64, results: &mut Results) {
        let FaultPlan { seed, claims, shown, dropped, .. } = self.faults;
        results.claimed = results.claimed.map(|claimed| (claimed as f64 * claims).round() as u64);
        let few = (results.urls.len() as f64 * shown).ceil() as usize;
        results.urls.truncate(few);
        if dropped > 0.0 {
            results.urls.retain(|url| ask.chance(seed ^ word(url.as_bytes()), 2 * times + 1) >= dropped);
        }
    }
}

impl<E: SearchEngine> SearchEngine for FaultyEngine<E> {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn kind(&self) -> &str {
        self.engine.kind()
    }

    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn cap(&self) -> usize {
        self.engine.cap()
    }

    fn pause(&self) -> Duration {
        self.engine.pause()
    }

    fn is_record(&self) -> bool {
        self.engine.is_record()
    }

    fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError> {
        let ask = Question::Search { query: query.clone(), limit };
        let times = self.count_asked(&ask)?;
        let mut results = self.engine.search(query, limit)?;
        self.distort(&ask, times, &mut results);
        Ok(results)
    }

    fn fetch(&mut self, url: &str) -> Result<Option<FetchedPage>, EngineError> {
        self.count_asked(&Question::Fetch { url: url.to_owned() })?;
        self.engine.fetch(url)
    }

    fn knows_addresses(&self) -> bool {
        self.engine.knows_addresses()
    }

    fn has(&mut self, url: &str) -> Option<Result<bool, EngineError>> {
        let silent = self.count_asked(&Question::Has { url: url.to_owned() });
        match silent {
            Err(error) if self.knows_addresses() => Some(Err(error)),
            _ => self.engine.has(url),
        }
    }
}

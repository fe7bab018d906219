//! The caller of an engine: it keeps to a budget, pauses between calls, asks again when there was no answer, and else asks no
//! question twice, but for the few that are repeated to see if the answer is the same.
//!
//! Every answer goes to a [`Transcript`], and a question that is in it is answered from there. So a job that was stopped is resumed
//! by running it again with the same seed and the same transcript: no call is made a second time. The budget is charged for a
//! recorded answer as it was for the call itself, the first time that a run uses it; so a run ends where it would have ended
//! without a transcript, and an estimate states its full cost, whichever run made the calls. The calls really made are counted
//! beside it.
//!
//! A question that failed stays failed in the record until it is to be asked anew, else two runs would differ. Twenty
//! calls in a row without an answer end a run, and so do twenty fetches before the first page.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::consistency::ConsistencyReport;
use crate::engine::{EngineError, FetchedPage, NEVER_RETRY, Query, Results, SearchEngine};
use crate::open::{Options, Spec};
use crate::question::{Answer, Entry, Question};
use crate::replay::{Replay, failed, not_recorded};
use crate::transcript::{Header, Transcript};

/// The limits and delays for the calls to an engine.
#[derive(Debug, Clone, PartialEq)]
pub struct CallPolicy {
    /// Most calls: searches, and questions whether it has an address. Each try counts.
    pub calls: u64,
    /// Most fetches of pages. Each try counts.
    pub fetches: u64,
    /// Least time between the end of a call and the next one; by default the pause that the engine asks for.
    pub pause: Option<Duration>,
    /// Most tries for one question.
    pub tries: u32,
    /// Wait before the second try; doubled for each further one.
    pub back_off: Duration,
    /// Longest wait before a try. An engine that asks for a longer wait ends the run.
    pub longest_wait: Duration,
    /// One question in this number is asked a second time, to see if the answer is the same; none for 0.
    pub repeat_every: u32,
    /// The seed that decides, with the question, which ones are.
    pub seed: u64,
    /// Questions that failed in an earlier run are asked anew.
    pub forget_failures: bool,
}

impl Default for CallPolicy {
    fn default() -> Self {
        CallPolicy {
            calls: 5_000,
            fetches: 20_000,
            pause: None,
            tries: 4,
            back_off: Duration::from_secs(1),
            longest_wait: Duration::from_secs(120),
            repeat_every: 50,
            seed: 0,
            forget_failures: false,
        }
    }
}

/// Calls in a row without an answer that end a run: five questions with four tries each. Fetches, too, as long as none had a page.
const MOST_UNANSWERED: u32 = 20;

/// The number of questions asked so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Calls that the budget was charged for, recorded ones included.
    pub calls: u64,
    /// Fetches that the budget was charged for, recorded ones included.
    pub fetches: u64,
    /// Calls that were really made by this run.
    pub calls_made: u64,
    /// Fetches that were really made by this run.
    pub fetches_made: u64,
    /// Questions that an earlier run had asked.
    pub recorded: u64,
    /// Questions that this run had asked before; free of charge.
    pub repeated: u64,
    /// Questions without an answer after all tries.
    pub failures: u64,
    /// Tries beyond the first ones.
    pub retries: u64,
}

/// An engine with a budget and a transcript.
pub struct Caller {
    engine: Box<dyn SearchEngine>,
    transcript: Transcript,
    policy: CallPolicy,
    counts: Counts,
    consistency: ConsistencyReport,
    /// The end of the last call.
    last: Option<Instant>,
    /// The time before which the engine wants no further call.
    not_before: Option<Instant>,
    /// Calls without an answer since the last one that had one.
    unanswered: u32,
    /// Fetches without a page, before one had it.
    failed_fetches: u32,
    has_fetched: bool,
    /// True if nothing may be asked beyond the record.
    replays: bool,
    watcher: Option<Watcher>,
}

/// Called with the engine's name and the counts before every call that is really made; an error, which states the reason, ends the run.
pub type Watcher = Box<dyn FnMut(&str, &Counts) -> Result<(), String> + Send>;

impl Caller {
    /// Wraps an engine, with its transcript in a file, or in a temporary one that is not kept.
    pub fn new(
        engine: Box<dyn SearchEngine>,
        transcript: Option<&Path>,
        mut policy: CallPolicy,
    ) -> Result<Self, EngineError> {
        let header = Header::of(&engine);
        let transcript = match transcript {
            Some(path) => Transcript::open(path, header, policy.forget_failures)?,
            None => Transcript::temporary(header)?,
        };
        if engine.is_record() {
            (policy.tries, policy.repeat_every) = (1, 0);
        }
        Ok(Caller::of(engine, transcript, policy, false))
    }

    /// Replays a transcript alone, under this name or that of the engine; counts as the original did.
    pub fn replay(name: Option<&str>, path: &Path, policy: CallPolicy) -> Result<Self, EngineError> {
        let transcript = Transcript::read(path)?;
        let engine = Box::new(Replay::open(name, path)?);
        Ok(Caller::of(engine, transcript, policy, true))
    }

    fn of(engine: Box<dyn SearchEngine>, transcript: Transcript, policy: CallPolicy, replays: bool) -> Self {
        Caller {
            engine,
            transcript,
            policy,
            counts: Counts::default(),
            consistency: ConsistencyReport::default(),
            last: None,
            not_before: None,
            unanswered: 0,
            failed_fetches: 0,
            has_fetched: false,
            replays,
            watcher: None,
        }
    }

    /// Sets a watcher of every call.
    #[must_use]
    pub fn watched(mut self, watcher: Watcher) -> Self {
        self.watcher = Some(watcher);
        self
    }

    /// Opens an engine by its specification, see [`Spec`].
    pub fn open(
        spec: &str,
        options: &Options,
        transcript: Option<&Path>,
        policy: CallPolicy,
    ) -> Result<Self, EngineError> {
        let spec = Spec::parse(spec)?;
        match spec.transcript() {
            Some(path) => Caller::replay(spec.name.as_deref(), path, policy),
            None => Caller::new(spec.open(options)?, transcript, policy),
        }
    }

    /// Returns the number of questions asked so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the contradictions and failures seen so far.
    pub fn consistency(&self) -> &ConsistencyReport {
        &self.consistency
    }

    /// Changes the budget; what was charged stays charged.
    pub fn allow(&mut self, calls: u64, fetches: u64) {
        (self.policy.calls, self.policy.fetches) = (calls, fetches);
    }

    fn ask(&mut self, ask: &Question) -> Result<Answer, EngineError> {
        let Some(found) = self.transcript.find(ask)? else {
            if self.replays {
                // Where the run ended for want of budget, so does its replay.
                self.check_budget(ask)?;
                return Err(not_recorded(self.engine.name(), ask));
            }
            return self.ask_engine(ask);
        };
        if found.unused {
            self.use_recorded(&found.entry)?;
        } else {
            self.counts.repeated += 1;
        }
        Ok(found.entry.answer)
    }

    /// Charges for a line of an earlier run, as that run was.
    fn use_recorded(&mut self, entry: &Entry) -> Result<(), EngineError> {
        for _ in 0..entry.tries {
            self.charge(&entry.ask)?;
        }
        let again = entry.again.as_ref().filter(|_| self.charge(&entry.ask).is_ok());
        self.counts.recorded += 1;
        self.counts.retries += u64::from(entry.tries.saturating_sub(1));
        self.note(&entry.ask, &entry.answer, again);
        self.transcript.mark_used(&entry.ask);
        Ok(())
    }

    fn ask_engine(&mut self, ask: &Question) -> Result<Answer, EngineError> {
        let mut tries = 0;
        let answer = loop {
            self.charge(ask)?;
            tries += 1;
            match self.call(ask) {
                Ok(answer) => break answer,
                Err(EngineError::Unanswered { why, after: Some(NEVER_RETRY), .. }) => {
                    self.count_unanswered(ask);
                    break Answer::Failed(why);
                }
                Err(EngineError::Unanswered { why, after, .. }) => {
                    self.note_wait(after)?;
                    self.count_unanswered(ask);
                    if tries >= self.policy.tries {
                        break Answer::Failed(why);
                    }
                    self.back_off(tries);
                }
                Err(fatal) => return Err(fatal),
            }
        };
        if answer.failure().is_none() && !ask.is_fetch() {
            self.unanswered = 0;
        }
        self.counts.retries += u64::from(tries - 1);
        let again = self.ask_again(ask, &answer)?;
        self.note(ask, &answer, again.as_ref());
        let entry = Entry { ask: ask.clone(), tries, answer, again };
        self.transcript.add(&entry)?;
        self.check_responsive(&entry.ask, &entry.answer)?;
        Ok(entry.answer)
    }

    /// Counts a call without an answer. A page may be barred, or its host down, while others are not: once one was fetched, fetches
    /// do not count.
    fn count_unanswered(&mut self, ask: &Question) {
        match ask.is_fetch() {
            true => self.failed_fetches += u32::from(!self.has_fetched),
            false => self.unanswered += 1,
        }
    }

    /// Fails when nothing was answered for long: an engine that does not answer should not be asked further.
    fn check_responsive(&mut self, ask: &Question, last: &Answer) -> Result<(), EngineError> {
        let why = match last {
            Answer::Failed(why) => why,
            Answer::Page(None) => {
                self.count_unanswered(ask);
                "no page"
            }
            _ => return Ok(()),
        };
        let message = if self.unanswered >= MOST_UNANSWERED {
            format!(
                "the last {} calls had no answer ({why}); mend that, and go on with the same transcript and --retry-failed",
                self.unanswered
            )
        } else if self.failed_fetches >= MOST_UNANSWERED {
            format!(
                "none of {} fetches had a page ({why}); mend how pages are fetched, and begin a new transcript",
                self.failed_fetches
            )
        } else {
            return Ok(());
        };
        Err(EngineError::broken(self.engine.name(), message))
    }

    /// Asks a small share of questions a second time, while there is budget for it.
    fn ask_again(&mut self, ask: &Question, first: &Answer) -> Result<Option<Answer>, EngineError> {
        let chosen = self.policy.repeat_every > 0
            && ask.chance(self.policy.seed, 0) * f64::from(self.policy.repeat_every) < 1.0
            && first.failure().is_none();
        if !chosen || self.charge(ask).is_err() {
            return Ok(None);
        }
        match self.call(ask) {
            Ok(second) => Ok(Some(second)),
            Err(EngineError::Unanswered { why, after, .. }) => {
                self.note_wait(after.filter(|&after| after != NEVER_RETRY))?;
                Ok(Some(Answer::Failed(why)))
            }
            // It comes again with the next question; the first answer is put on record before.
            Err(_) => Ok(None),
        }
    }

    /// Makes one call, after the pause.
    fn call(&mut self, ask: &Question) -> Result<Answer, EngineError> {
        if let Some(watcher) = &mut self.watcher {
            let name = self.engine.name();
            watcher(name, &self.counts).map_err(|why| EngineError::broken(name, why))?;
        }
        let pause = self.policy.pause.unwrap_or_else(|| self.engine.pause());
        if let Some(left) = self.last.and_then(|last| pause.checked_sub(last.elapsed())) {
            std::thread::sleep(left);
        }
        if let Some(until) = self.not_before.take() {
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
        }
        match ask.is_fetch() {
            true => self.counts.fetches_made += 1,
            false => self.counts.calls_made += 1,
        }
        let answer = ask.ask(&mut self.engine);
        self.last = Some(Instant::now());
        answer
    }

    /// Notes the wait that the engine asks for, whatever is asked next.
    fn note_wait(&mut self, after: Option<Duration>) -> Result<(), EngineError> {
        let Some(after) = after else { return Ok(()) };
        if after > self.policy.longest_wait {
            let seconds = after.as_secs();
            let why =
                format!("it wants to be left alone for {seconds} s; go on then, with the same transcript");
            return Err(EngineError::broken(self.engine.name(), why));
        }
        self.not_before = Some(Instant::now() + after);
        Ok(())
    }

    /// Waits before the next try.
    fn back_off(&self, tries: u32) {
        let wait = self.policy.back_off.saturating_mul(1 << (tries - 1).min(16));
        std::thread::sleep(wait.min(self.policy.longest_wait));
    }

    fn charge(&mut self, ask: &Question) -> Result<(), EngineError> {
        self.check_budget(ask)?;
        match ask.is_fetch() {
            true => self.counts.fetches += 1,
            false => self.counts.calls += 1,
        }
        Ok(())
    }

    /// Fails when there is no budget for a question.
    fn check_budget(&self, ask: &Question) -> Result<(), EngineError> {
        let (spent, budget, what) = match ask.is_fetch() {
            true => (self.counts.fetches, self.policy.fetches, "fetches"),
            false => (self.counts.calls, self.policy.calls, "calls"),
        };
        if spent < budget {
            return Ok(());
        }
        Err(EngineError::Spent { engine: self.engine.name().to_owned(), what, budget })
    }

    fn note(&mut self, ask: &Question, answer: &Answer, again: Option<&Answer>) {
        self.counts.failures += u64::from(answer.failure().is_some());
        if let Answer::Page(Some(_)) = answer {
            (self.failed_fetches, self.has_fetched) = (0, true);
        }
        self.consistency.count_answer(ask, answer);
        if let (Question::Search { query, limit }, Answer::Results(results)) = (ask, answer) {
            self.consistency.check_results(query, *limit, results);
        }
        if let Some(again) = again {
            self.consistency.check_repeat(ask, answer, again);
        }
    }

    fn failed(&self, ask: &Question, answer: &Answer) -> EngineError {
        failed(self.engine.name(), ask, answer)
    }
}

impl SearchEngine for Caller {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn kind(&self) -> &str {
        self.engine.kind()
    }

    fn fingerprint(&self) -> &str {
        self.engine.fingerprint()
    }

    fn cap(&self) -> usize {
        self.engine.cap()
    }

    fn is_record(&self) -> bool {
        self.replays || self.engine.is_record()
    }

    fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError> {
        let limit = limit.min(self.cap());
        let ask = Question::Search { query: query.clone(), limit };
        match self.ask(&ask)? {
            Answer::Results(mut results) => {
                // Reported by `ConsistencyReport`; the promise to whoever asked is kept all the same.
                results.more |= results.urls.len() > limit;
                results.urls.truncate(limit);
                Ok(results)
            }
            other => Err(self.failed(&ask, &other)),
        }
    }

    fn fetch(&mut self, url: &str) -> Result<Option<FetchedPage>, EngineError> {
        let ask = Question::Fetch { url: url.to_owned() };
        match self.ask(&ask)? {
            Answer::Page(page) => Ok(page),
            other => Err(self.failed(&ask, &other)),
        }
    }

    fn knows_addresses(&self) -> bool {
        self.engine.knows_addresses()
    }

    fn has(&mut self, url: &str) -> Option<Result<bool, EngineError>> {
        if !self.knows_addresses() {
            return None;
        }
        let ask = Question::Has { url: url.to_owned() };
        Some(self.ask(&ask).and_then(|answer| match answer {
            Answer::Has(has) => Ok(has),
            other => Err(self.failed(&ask, &other)),
        }))
    }
}

//! From what was typed to own documents and engines that can be queried.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lookalike::corpus::Corpus;
use lookalike::hash;
use lookalike::walk::{self, WalkItem, Watch};
use lookalike_live_census::{FieldError, OwnCorpus};
use lookalike_search_engines::caller::Watcher;
use lookalike_search_engines::open::Spec;
use lookalike_search_engines::{CallPolicy, Caller, EngineError, Options, SearchEngine};

use crate::args::QueryArgs;
use crate::console::print_message;
use crate::exit::Failure;
use crate::progress::thousands;

/// Reads the own documents; of more than were asked for, a random sample of that number.
pub(super) fn read_own_documents(args: &QueryArgs, watch: &Watch) -> Result<OwnCorpus, Failure> {
    let corpus = Corpus::open(&args.own, args.reading.options())?;
    let most = args.own_documents.max(1);
    let mut drawn: Vec<(u64, String)> = Vec::new();
    // The largest lot that may still be drawn: others need not be kept.
    let mut largest = u64::MAX;
    let (mut ordinal, mut rejected) = (0, 0u64);
    let options = Arc::new((**corpus.options()).clone());
    for shard in corpus.shards() {
        walk::documents(shard, &options, args.reading.content_mode(), watch, |found| {
            match found {
                WalkItem::Document { text, .. } => {
                    let lot = hash::nth(ordinal, hash::mix(args.seed));
                    ordinal += 1;
                    if lot <= largest {
                        drawn.push((lot, text.to_owned()));
                    }
                }
                WalkItem::Rejected(_) => rejected += 1,
                WalkItem::Skipped(_) => {}
            }
            if drawn.len() > most + most / 4 {
                keep_smallest(&mut drawn, most);
                largest = drawn[most - 1].0;
            }
            Ok(())
        })?;
    }
    if rejected > 0 {
        print_message(format_args!(
            "{} own documents could not be read and are left out",
            thousands(rejected)
        ));
    }
    keep_smallest(&mut drawn, most);
    let mut own = OwnCorpus::new();
    drawn.iter().for_each(|(_, text)| own.add(text));
    Ok(own)
}

/// Leaves those with the smallest lots.
fn keep_smallest(drawn: &mut Vec<(u64, String)>, most: usize) {
    if drawn.len() > most {
        drawn.select_nth_unstable_by_key(most, |(lot, _)| *lot);
        drawn.truncate(most);
    }
    drawn.sort_unstable_by_key(|(lot, _)| *lot);
}

/// The limits of the queries to an engine: budgets and delay; and their record and seed.
pub(super) struct QueryLimits<'a> {
    pub(super) calls: u64,
    pub(super) fetches: u64,
    pub(super) limit: Option<usize>,
    /// Seconds.
    pub(super) delay: Option<f64>,
    pub(super) transcript: Option<&'a Path>,
    pub(super) retry_failed: bool,
    pub(super) seed: u64,
}

impl<'a> From<&'a QueryArgs> for QueryLimits<'a> {
    fn from(args: &'a QueryArgs) -> Self {
        let &QueryArgs { calls, fetches, limit, delay, retry_failed, seed, .. } = args;
        QueryLimits {
            calls,
            fetches,
            limit,
            delay,
            transcript: args.transcript.as_deref(),
            retry_failed,
            seed,
        }
    }
}

/// Opens an engine; the record of one beside others goes into a folder, under its name, which must be its own.
pub(super) fn caller<'a>(
    spec: &str,
    limits: impl Into<QueryLimits<'a>>,
    beside: Option<&[Caller]>,
    watch: &Arc<Watch>,
) -> Result<Caller, Failure> {
    let limits = limits.into();
    let options = Options { cap: limits.limit, secret: |name| std::env::var(name).ok() };
    let pause = limits.delay.map(Duration::try_from_secs_f64).transpose();
    let pause = pause.map_err(|_| Failure::Usage("--delay is a number of seconds, 0 or more".to_owned()))?;
    let policy = CallPolicy {
        calls: limits.calls,
        fetches: limits.fetches,
        pause,
        forget_failures: limits.retry_failed,
        seed: limits.seed,
        ..CallPolicy::default()
    };
    let spec = Spec::parse(spec).map_err(|error| Failure::Usage(error.to_string()))?;
    if let Some(record) = spec.transcript() {
        let caller = Caller::replay(spec.name.as_deref(), record, policy).map_err(failed(watch))?;
        check_unique_name(caller.name(), beside)?;
        return Ok(caller);
    }
    let engine = spec.open(&options).map_err(failed(watch))?;
    check_unique_name(engine.name(), beside)?;
    let record: Option<PathBuf> = match (limits.transcript, beside) {
        (Some(folder), Some(_)) => {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::Missing(format!("{} cannot be made: {error}", folder.display())))?;
            Some(folder.join(format!("{}.jsonl", engine.name())))
        }
        (file, _) => file.map(Path::to_owned),
    };
    let caller = Caller::new(engine, record.as_deref(), policy).map_err(failed(watch))?;
    Ok(caller.watched(watcher(watch)))
}

fn check_unique_name(name: &str, beside: Option<&[Caller]>) -> Result<(), Failure> {
    if beside.unwrap_or_default().iter().any(|other| other.name() == name) {
        let why = format!("two engines are called {name}; write NAME=KIND:PATH for one of them");
        return Err(Failure::Usage(why));
    }
    Ok(())
}

/// Returns a conversion of errors to [`Failure`]; once the program is to end, the failure is that it was stopped.
pub(super) fn failed<E: Into<FieldError>>(watch: &Arc<Watch>) -> impl Fn(E) -> Failure {
    let watch = watch.clone();
    move |error| match watch.check() {
        Err(stopped) => stopped.into(),
        Ok(()) => Failure::Missing(error.into().to_string()),
    }
}

/// Takes the result of a request beyond the estimate itself; an error is reported and gives none, and the estimate stands.
pub(super) fn unless_failed<T>(
    found: Result<T, EngineError>,
    what: &str,
    watch: &Arc<Watch>,
) -> Result<Option<T>, Failure> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) => {
            watch.check()?;
            print_message(format_args!("{what} could not be had: {error}"));
            Ok(None)
        }
    }
}

/// The time between two reports of progress while engines are queried.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Ends the queries once the program is to end, and reports from time to time how far they are.
fn watcher(watch: &Arc<Watch>) -> Watcher {
    let (watch, mut reported) = (watch.clone(), Instant::now());
    Box::new(move |name, counts| {
        if reported.elapsed() >= PROGRESS_INTERVAL {
            reported = Instant::now();
            let (calls, fetches) = (thousands(counts.calls_made), thousands(counts.fetches_made));
            print_message(format_args!("{name}: {calls} calls and {fetches} fetches so far"));
        }
        watch.check().map_err(|stopped| stopped.to_string())
    })
}

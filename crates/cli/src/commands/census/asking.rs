//! From what was typed to own documents and engines that can be asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lookalike::corpus::Corpus;
use lookalike::text::hash;
use lookalike::walk::{self, Found, Watch};
use lookalike_engines::caller::Watcher;
use lookalike_engines::open::Spec;
use lookalike_engines::{Caller, EngineError, Manners, Options, SearchEngine};
use lookalike_fieldwork::{FieldError, Own};

use crate::args::AskingArgs;
use crate::console::tell;
use crate::exit::Failure;
use crate::progress::thousands;

/// Reads the own documents; of more than were asked for, a random sample of that number.
pub(super) fn own(args: &AskingArgs, watch: &Watch) -> Result<Own, Failure> {
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
                Found::Document { text, .. } => {
                    let lot = hash::nth(ordinal, hash::mix(args.seed));
                    ordinal += 1;
                    if lot <= largest {
                        drawn.push((lot, text.to_owned()));
                    }
                }
                Found::Rejected(_) => rejected += 1,
                Found::Skipped(_) => {}
            }
            if drawn.len() > most + most / 4 {
                thin(&mut drawn, most);
                largest = drawn[most - 1].0;
            }
            Ok(())
        })?;
    }
    if rejected > 0 {
        tell(format_args!("{} own documents could not be read and are left out", thousands(rejected)));
    }
    thin(&mut drawn, most);
    let mut own = Own::new();
    drawn.iter().for_each(|(_, text)| own.add(text));
    Ok(own)
}

/// Leaves those with the smallest lots.
fn thin(drawn: &mut Vec<(u64, String)>, most: usize) {
    if drawn.len() > most {
        drawn.select_nth_unstable_by_key(most, |(lot, _)| *lot);
        drawn.truncate(most);
    }
    drawn.sort_unstable_by_key(|(lot, _)| *lot);
}

/// The terms of the queries to an engine: budgets, delay, record and seed.
pub(super) struct Terms<'a> {
    pub(super) calls: u64,
    pub(super) fetches: u64,
    pub(super) limit: Option<usize>,
    /// Seconds.
    pub(super) delay: Option<f64>,
    pub(super) transcript: Option<&'a Path>,
    pub(super) retry_failed: bool,
    pub(super) seed: u64,
}

impl<'a> From<&'a AskingArgs> for Terms<'a> {
    fn from(args: &'a AskingArgs) -> Self {
        let &AskingArgs { calls, fetches, limit, delay, retry_failed, seed, .. } = args;
        Terms { calls, fetches, limit, delay, transcript: args.transcript.as_deref(), retry_failed, seed }
    }
}

/// Opens an engine; the record of one beside others goes into a folder, under its name, which must be its own.
pub(super) fn caller<'a>(
    spec: &str,
    terms: impl Into<Terms<'a>>,
    beside: Option<&[Caller]>,
    watch: &Arc<Watch>,
) -> Result<Caller, Failure> {
    let terms = terms.into();
    let options = Options { cap: terms.limit, secret: |name| std::env::var(name).ok() };
    let pause = terms.delay.map(Duration::try_from_secs_f64).transpose();
    let pause = pause.map_err(|_| Failure::Usage("--delay is a number of seconds, 0 or more".to_owned()))?;
    let manners = Manners {
        calls: terms.calls,
        fetches: terms.fetches,
        pause,
        forget_failures: terms.retry_failed,
        seed: terms.seed,
        ..Manners::default()
    };
    let spec = Spec::parse(spec).map_err(|error| Failure::Usage(error.to_string()))?;
    if let Some(record) = spec.transcript() {
        let caller = Caller::replay(spec.name.as_deref(), record, manners).map_err(failed(watch))?;
        told_apart(caller.name(), beside)?;
        return Ok(caller);
    }
    let engine = spec.open(&options).map_err(failed(watch))?;
    told_apart(engine.name(), beside)?;
    let record: Option<PathBuf> = match (terms.transcript, beside) {
        (Some(folder), Some(_)) => {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::Missing(format!("{} cannot be made: {error}", folder.display())))?;
            Some(folder.join(format!("{}.jsonl", engine.name())))
        }
        (file, _) => file.map(Path::to_owned),
    };
    let caller = Caller::new(engine, record.as_deref(), manners).map_err(failed(watch))?;
    Ok(caller.watched(watcher(watch)))
}

fn told_apart(name: &str, beside: Option<&[Caller]>) -> Result<(), Failure> {
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
            tell(format_args!("{what} could not be had: {error}"));
            Ok(None)
        }
    }
}

/// The time between two reports of progress while engines are queried.
const TOLD_EVERY: Duration = Duration::from_secs(10);

/// Ends asking once the program is to end, and tells from time to time how far it is.
fn watcher(watch: &Arc<Watch>) -> Watcher {
    let (watch, mut told) = (watch.clone(), Instant::now());
    Box::new(move |name, counts| {
        if told.elapsed() >= TOLD_EVERY {
            told = Instant::now();
            let (calls, fetches) = (thousands(counts.calls_made), thousands(counts.fetches_made));
            tell(format_args!("{name}: {calls} calls and {fetches} fetches so far"));
        }
        watch.check().map_err(|stopped| stopped.to_string())
    })
}

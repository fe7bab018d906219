//! Tests of the caller and of its record: budget, pauses, retries, transcripts, faults.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::server::{Response, Server};
use crate::common::{Page, plain, sqlite, tantivy, vocabulary};
use lookalike_search_engines::{
    CallPolicy, Caller, Counts, EngineError, FaultPlan, FaultyEngine, Options, Query, SearchEngine, open,
};
use serde_json::json;

/// No waits, none asked again.
fn without_waits() -> CallPolicy {
    CallPolicy {
        pause: Some(Duration::ZERO),
        back_off: Duration::ZERO,
        repeat_every: 0,
        ..CallPolicy::default()
    }
}

fn pages() -> Vec<Page> {
    plain(200)
}

/// A small job, by a seed of its own: searches, fetches of what was found, and checks.
fn job(engine: &mut dyn SearchEngine, pages: &[Page]) -> Vec<String> {
    let words = vocabulary(pages, 40);
    let mut log = Vec::new();
    for number in 0..60 {
        let query = Query::all([words[number * 7 % 40].clone(), words[number * 3 % 5].clone()]);
        match engine.search(&query, 10) {
            Ok(results) => {
                log.push(format!("{query} {results:?}"));
                for url in results.urls.iter().take(2) {
                    log.push(format!("{:?}", engine.fetch(url).map_err(|error| error.to_string())));
                    log.push(format!("{:?}", engine.has(url)));
                }
            }
            Err(error) => {
                log.push(error.to_string());
                if !error.is_transient() {
                    break;
                }
            }
        }
    }
    log
}

fn faulty(folder: &Path, pages: &[Page], faults: FaultPlan) -> Box<dyn SearchEngine> {
    let path = folder.join("pages.tantivy");
    let engine = if path.exists() {
        lookalike_search_engines::tantivy::TantivyEngine::open("tantivy", &path, 1_000).unwrap()
    } else {
        tantivy(folder, pages, 1_000)
    };
    Box::new(FaultyEngine::new(engine, faults))
}

#[test]
fn budgets_of_calls_and_fetches_are_kept_apart() {
    let (folder, pages) = (tempfile::tempdir().unwrap(), pages());
    let engine = faulty(folder.path(), &pages, FaultPlan::default());
    let policy = CallPolicy { calls: 3, fetches: 2, ..without_waits() };
    let mut caller = Caller::new(engine, None, policy).unwrap();
    let spent = |what, budget| EngineError::Spent { engine: "tantivy".to_owned(), what, budget };
    for word in ["or", "and"] {
        caller.search(&Query::all([word]), 5).unwrap();
    }
    assert!(caller.has(&pages[0].0).unwrap().unwrap());
    assert_eq!(caller.search(&Query::all(["x"]), 5), Err(spent("calls", 3)));
    // What was asked before is free.
    caller.search(&Query::all(["or"]), 5).unwrap();
    for (url, _) in &pages[..2] {
        caller.fetch(url).unwrap().unwrap();
    }
    assert_eq!(caller.fetch(&pages[2].0), Err(spent("fetches", 2)));
    let counts = caller.counts();
    assert_eq!((counts.calls, counts.fetches, counts.repeated, counts.recorded), (3, 2, 1, 0));
    caller.allow(4, 2);
    caller.search(&Query::all(["x"]), 5).unwrap();
}

#[test]
fn a_limit_beyond_the_cap_is_the_cap() {
    let (folder, pages) = (tempfile::tempdir().unwrap(), pages());
    let mut caller = Caller::new(Box::new(tantivy(folder.path(), &pages, 4)), None, without_waits()).unwrap();
    let query = Query::all(["or"]);
    let one = caller.search(&query, 4).unwrap();
    assert_eq!((caller.search(&query, 99).unwrap(), one.urls.len(), one.more), (one, 4, true));
    assert_eq!((caller.counts().calls, caller.counts().repeated), (1, 1));
}

#[test]
fn there_is_a_pause_between_calls() {
    let (folder, pages) = (tempfile::tempdir().unwrap(), pages());
    let pause = Duration::from_millis(30);
    let policy = CallPolicy { pause: Some(pause), ..without_waits() };
    let mut caller = Caller::new(faulty(folder.path(), &pages, FaultPlan::default()), None, policy).unwrap();
    let begin = Instant::now();
    for word in ["a", "b", "c"] {
        caller.search(&Query::all([word]), 5).unwrap();
    }
    caller.fetch(&pages[0].0).unwrap();
    assert!(begin.elapsed() >= 3 * pause);
    // What is on record needs none; no upper bound is asserted, but nothing was called.
    caller.search(&Query::all(["a"]), 5).unwrap();
    assert_eq!(caller.counts().calls_made, 3);
}

#[test]
fn a_transcript_makes_the_same_job_free_and_replays_it() {
    let (folder, pages) = (tempfile::tempdir().unwrap(), pages());
    let path = folder.path().join("t.jsonl");
    let faults = FaultPlan { failing: 0.3, dropped: 0.1, seed: 3, ..FaultPlan::default() };
    let policy = || CallPolicy { repeat_every: 5, tries: 2, ..without_waits() };
    let run = |transcript: Option<&Path>| {
        let mut caller = Caller::new(faulty(folder.path(), &pages, faults), transcript, policy()).unwrap();
        let log = job(&mut caller, &pages);
        (log, caller.counts(), caller.consistency().clone())
    };
    let first = run(Some(&path));
    assert!(first.1.failures > 3 && first.1.retries > 3 && first.2.unsteady.cases > 3, "{first:?}");
    assert_eq!(first, run(None), "with or without a file");

    let (log, counts, consistency) = run(Some(&path));
    assert_eq!((&log, &consistency), (&first.0, &first.2));
    let Counts { calls, fetches, failures, retries, repeated, .. } = first.1;
    let none_made = Counts { calls, fetches, failures, retries, repeated, ..Counts::default() };
    assert_eq!(Counts { recorded: 0, ..counts }, none_made);

    let mut replay = Caller::open(path.to_str().unwrap(), &Options::default(), None, policy()).unwrap();
    assert_eq!(job(&mut replay, &pages), first.0);
    assert_eq!((replay.counts(), replay.consistency()), (counts, &first.2));
    let error = replay.search(&Query::all(["never", "asked"]), 5).unwrap_err();
    assert!(matches!(error, EngineError::NotRecorded { .. }), "{error}");

    let mut plain = open(path.to_str().unwrap(), &Options::default()).unwrap();
    assert_eq!((plain.name(), plain.kind(), plain.cap()), ("tantivy", "tantivy", 1_000));
    assert_eq!(job(&mut plain, &pages), first.0);
}

#[test]
fn a_job_that_was_killed_goes_on_and_ends_the_same() {
    let (folder, pages) = (tempfile::tempdir().unwrap(), pages());
    let faults = FaultPlan { failing: 0.2, ..FaultPlan::default() };
    let run = |path: &Path, calls: u64| {
        let policy = CallPolicy { calls, tries: 2, repeat_every: 7, ..without_waits() };
        let mut caller = Caller::new(faulty(folder.path(), &pages, faults), Some(path), policy).unwrap();
        let log = job(&mut caller, &pages);
        (log, caller.counts())
    };
    let whole = folder.path().join("whole.jsonl");
    let (log, counts) = run(&whole, 45);
    assert!(log.last().unwrap().contains("budget of 45 calls"), "{log:?}");
    let bytes = std::fs::read(&whole).unwrap();
    for share in [1, 3, 7, 9] {
        let torn = folder.path().join(format!("{share}.jsonl"));
        std::fs::write(&torn, &bytes[..bytes.len() * share / 10]).unwrap();
        let (again, recounted) = run(&torn, 45);
        assert_eq!(again, log);
        assert_eq!((recounted.calls, recounted.fetches), (counts.calls, counts.fetches));
        assert!(recounted.calls_made < counts.calls_made && recounted.recorded > 0);
        assert_eq!(std::fs::read(&torn).unwrap(), bytes);
    }
}

#[test]
fn a_transcript_of_another_engine_is_refused() {
    let (folder, pages) = (tempfile::tempdir().unwrap(), pages());
    let path = folder.path().join("t.jsonl");
    let mut first =
        Caller::new(Box::new(tantivy(folder.path(), &pages, 10)), Some(&path), without_waits()).unwrap();
    first.search(&Query::all(["or"]), 5).unwrap();
    drop(first);
    let others: [Box<dyn SearchEngine>; 2] = [
        Box::new(sqlite(folder.path(), &pages, 10)),
        faulty(folder.path(), &pages, FaultPlan { claims: 2.0, ..FaultPlan::default() }),
    ];
    for other in others {
        let error = Caller::new(other, Some(&path), without_waits()).err().unwrap().to_string();
        assert!(error.contains("record of another engine"), "{error}");
    }
}

#[test]
fn failures_are_forgotten_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let query = Query::all(["or"]);
    // Silent twice, then not.
    let server = Server::start({
        let mut calls = 0;
        move |_| {
            calls += 1;
            if calls <= 2 { Response::status(500) } else { Response::json(&json!({"r": ["u"], "n": 1})) }
        }
    });
    let description = server.describe(folder.path(), SMALL);
    let run = |forget_failures| {
        let policy = CallPolicy { tries: 2, forget_failures, ..without_waits() };
        let spec = description.to_str().unwrap();
        Caller::open(spec, &Options::default(), Some(&path), policy).unwrap().search(&query, 5)
    };
    assert!(run(false).is_err_and(|error| error.is_transient()));
    assert!(run(false).is_err(), "a failure stays one");
    assert_eq!(run(true).unwrap().urls, ["u"]);
    assert_eq!(run(false).unwrap().urls, ["u"]);
    assert_eq!(server.requests().len(), 3);
}

const SMALL: &str = r#"
    name = "small"
    search = "http://HOST/s?q={query}"
    all = " "
    urls = "r[*]"
    claimed = "n"
    cap = 10
    fetch = "http://HOST/page?u={url}"
    delay = 0.0
"#;

#[test]
fn silence_is_tried_again_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    // Two errors, garbage, and then an answer.
    let server = Server::start({
        let mut calls = 0;
        move |_| {
            calls += 1;
            match calls {
                1 => Response::status(500),
                2 => Response::status(503).with("Retry-After", "1"),
                3 => Response { status: 200, body: b"<html>".to_vec(), ..Response::default() },
                _ => Response::json(&json!({"r": ["u", "v"], "n": 2})),
            }
        }
    });
    let description = server.describe(folder.path(), SMALL);
    let spec = description.to_str().unwrap();
    let mut caller = Caller::open(spec, &Options::default(), None, without_waits()).unwrap();
    let begin = Instant::now();
    let results = caller.search(&Query::all(["a"]), 5).unwrap();
    assert_eq!(results.urls, ["u", "v"]);
    assert!(begin.elapsed() >= Duration::from_secs(1), "Retry-After is kept");
    let counts = caller.counts();
    assert_eq!((counts.calls, counts.calls_made, counts.retries, counts.failures), (4, 4, 3, 0));
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn an_engine_that_wants_a_long_rest_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_| Response::status(429).with("Retry-After", "86400"));
    let description = server.describe(folder.path(), SMALL);
    let spec = description.to_str().unwrap();
    let mut caller = Caller::open(spec, &Options::default(), None, without_waits()).unwrap();
    let error = caller.search(&Query::all(["a"]), 5).unwrap_err();
    assert!(error.to_string().contains("left alone for 86400 s"), "{error}");
    assert_eq!((server.requests().len(), error.is_transient()), (1, false));
}

#[test]
fn who_never_answers_is_not_asked_for_ever() {
    let (folder, pages) = (tempfile::tempdir().unwrap(), pages());
    let silent = faulty(folder.path(), &pages, FaultPlan { failing: 1.0, ..FaultPlan::default() });
    let mut caller = Caller::new(silent, None, CallPolicy { tries: 1, ..without_waits() }).unwrap();
    let ended = (0..100).find_map(|number| {
        let error = caller.search(&Query::all([format!("w{number}")]), 5).unwrap_err();
        (!error.is_transient()).then_some(error)
    });
    let told = ended.unwrap().to_string();
    assert!(told.contains("the last 20 calls had no answer"), "{told}");
    assert_eq!(caller.counts().calls_made, 20);
}

#[test]
fn pages_that_can_never_be_had_end_a_run_though_searches_are_answered() {
    let ask = |status: u16| {
        let server = Server::start(move |request| match request.path() {
            "/s" => Response::json(&json!({ "r": [], "n": 0 })),
            _ => Response::status(status),
        });
        let folder = tempfile::tempdir().unwrap();
        let described = server.describe(folder.path(), SMALL);
        let policy = CallPolicy { tries: 1, ..without_waits() };
        let mut caller =
            Caller::open(described.to_str().unwrap(), &Options::default(), None, policy).unwrap();
        (0..100).find_map(|number| {
            caller.search(&Query::all([format!("w{number}")]), 5).unwrap();
            let fetched = caller.fetch(&format!("p{number}"));
            fetched.err().filter(|error| !error.is_transient()).map(|error| (number, error.to_string()))
        })
    };
    // Barred, broken, not there: twenty of any sort are enough.
    for status in [403, 500, 404] {
        let (number, told) = ask(status).unwrap();
        assert_eq!(number, 19, "{told}");
        assert!(told.contains("none of 20 fetches had a page"), "{told}");
    }
}

#[test]
fn nobody_listening_is_silence() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_| Response::status(200));
    let description = server.describe(folder.path(), SMALL);
    drop(server);
    let policy = CallPolicy { tries: 2, ..without_waits() };
    let mut caller = Caller::open(description.to_str().unwrap(), &Options::default(), None, policy).unwrap();
    assert!(caller.search(&Query::all(["a"]), 5).is_err_and(|error| error.is_transient()));
    assert_eq!((caller.counts().calls, caller.counts().failures), (2, 1));
}

fn flagged(faults: FaultPlan, repeat_every: u32) -> Vec<String> {
    let (folder, pages) = (tempfile::tempdir().unwrap(), pages());
    let engine = faulty(folder.path(), &pages, faults);
    let mut caller =
        Caller::new(engine, None, CallPolicy { repeat_every, tries: 1, ..without_waits() }).unwrap();
    job(&mut caller, &pages);
    caller.consistency().sentences()
}

#[test]
fn lies_are_flagged_and_honest_engines_are_not() {
    let honest = FaultPlan::default();
    assert_eq!(flagged(honest, 3), [""; 0]);
    let lies = [
        (FaultPlan { claims: 1.7, ..honest }, "claimed more matches than they showed"),
        (FaultPlan { claims: 0.5, ..honest }, "claimed fewer matches than they showed"),
        (FaultPlan { shown: 0.5, ..honest }, "claimed more matches than they showed"),
        (FaultPlan { shown: 0.5, ..honest }, "left matches out"),
        (FaultPlan { dropped: 0.2, ..honest }, "asked again had another answer"),
        (FaultPlan { failing: 0.2, ..honest }, "were not answered"),
    ];
    for (faults, what) in lies {
        let sentences = flagged(faults, 3);
        assert!(sentences.iter().any(|sentence| sentence.contains(what)), "{faults:?}: {sentences:?}");
    }
}

//! A real engine of a third make, over HTTP: Xapian's omega holds the contract, and goes on record like any other.
//!
//! `scripts/omega` starts one and runs these tests; without it they are skipped, and say so.

use std::path::PathBuf;

use crate::common::{Page, check_contract, queries};
use lookalike_search_engines::{CallPolicy, Caller, Options, Query, SearchEngine, open};

/// The description of a running omega, and its pages.
fn omega() -> Option<(String, Vec<Page>)> {
    let Ok(description) = std::env::var("LOOKALIKE_OMEGA") else {
        skipped("no omega is running; scripts/omega starts one");
        return None;
    };
    let pages = PathBuf::from(std::env::var("LOOKALIKE_OMEGA_PAGES").unwrap());
    let lines = std::fs::read_to_string(pages).unwrap();
    let page = |line: &str| {
        let page: serde_json::Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| page[name].as_str().unwrap().to_owned();
        (field("url"), field("text"))
    };
    Some((description, lines.lines().map(page).collect()))
}

/// Says that a test could not do its work here, and why.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

#[test]
fn omega_finds_what_a_scan_finds() {
    let Some((description, pages)) = omega() else { return };
    let mut engine = open(&description, &Options::default()).unwrap();
    assert_eq!((engine.name(), engine.kind(), engine.cap()), ("omega", "http", 1_000));
    check_contract(&mut engine, &pages, &queries(&pages));
}

#[test]
fn what_omega_said_is_on_record() {
    let Some((description, pages)) = omega() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("omega.jsonl");
    let policy = || CallPolicy { calls: 60, fetches: 60, repeat_every: 5, ..CallPolicy::default() };
    let job = |caller: &mut Caller| {
        let mut log = Vec::new();
        for query in queries(&pages).iter().step_by(9) {
            let results = caller.search(query, 10).unwrap();
            log.extend(results.urls.iter().take(1).map(|url| caller.fetch(url).unwrap().unwrap().text));
            log.push(format!("{results:?}"));
        }
        log
    };
    let mut first = Caller::open(&description, &Options::default(), Some(&path), policy()).unwrap();
    let log = job(&mut first);
    assert!(first.counts().calls_made > 20 && first.consistency().unsteady.cases > 0, "{:?}", first.counts());
    assert_eq!(first.consistency().sentences(), [""; 0]);
    let counts = first.counts();
    drop(first);
    let mut replay = Caller::replay(None, &path, policy()).unwrap();
    assert_eq!(job(&mut replay), log);
    assert_eq!((replay.counts().calls, replay.counts().fetches), (counts.calls, counts.fetches));
    assert!(replay.search(&Query::all(["never", "asked"]), 10).is_err());
}

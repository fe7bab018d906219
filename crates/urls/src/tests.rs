//! The whole way, held against the plainest version: lists in memory, compared one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lookalike::corpus::{MaxRejected, ReadOptions};
use lookalike::engine::Spool;
use lookalike::model::Similarity;
use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Bytes for buffers: too few for anything, and enough for everything.
const SMALL: u64 = 4 << 10;
const LARGE: u64 = 64 << 20;

/// A document: its address and its words.
type Page = (Option<String>, Vec<u8>);

fn text(words: &[u8]) -> String {
    words.iter().map(|word| format!("word{word}")).collect::<Vec<_>>().join(" ")
}

fn corpus(side: usize, pages: &[Page]) -> Corpus {
    let line = |(number, (url, words)): (usize, &Page)| {
        let id = format!("{side}-{number}");
        serde_json::json!({"id": id, "url": url, "text": text(words)}).to_string() + "\n"
    };
    let lines: String = pages.iter().enumerate().map(line).collect();
    let max_rejected = MaxRejected::EVERYTHING;
    let options =
        ReadOptions { addresses: true, max_document_bytes: 1 << 16, max_rejected, ..ReadOptions::default() };
    Corpus::in_memory(&format!("side{side}.jsonl"), lines.into_bytes().into(), options)
}

fn request(sides: &[Vec<Page>], threads: usize) -> Request {
    Request {
        corpora: sides.iter().enumerate().map(|(side, pages)| corpus(side, pages)).collect(),
        names: (0..sides.len()).map(|side| format!("side {side}")).collect(),
        matching: Matching::Normal,
        measure: Some(Measure {
            similarity: Similarity::Jaccard,
            threshold: "0.9".parse().unwrap(),
            shingle: 1,
        }),
        profile: Profile::web(),
        content: ContentMode::Page,
        reading: ReadSettings { max_document_bytes: 1 << 16, ..ReadSettings::default() },
        other_fields: BTreeMap::new(),
        judged: None,
        settings: Settings { threads, memory: 256 << 20, spool: Spool::Auto },
    }
}

/// Runs with `buffer_bytes` bytes for buffers and returns the summary and all files but the one that tells of the machine.
fn results(request: Request, buffer_bytes: u64) -> (Summary, BTreeMap<String, String>) {
    let folder = tempfile::tempdir().unwrap();
    let RunOutcome::Done(summary) =
        run_within(request, folder.path(), &Watch::default(), buffer_bytes).unwrap()
    else {
        panic!("nothing was there before");
    };
    (*summary, files(folder.path()))
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let file = |entry: std::fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap())
    };
    entries.map(file).filter(|(name, _)| name != "run.json").collect()
}

fn lines(files: &BTreeMap<String, String>, name: &str) -> Vec<Value> {
    files[name].lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rows of a table, by its heads.
fn table(files: &BTreeMap<String, String>, name: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = files[name].lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    lines
        .map(|cells| {
            assert_eq!(cells.len(), heads.len(), "{name}");
            heads.iter().cloned().zip(cells).collect()
        })
        .collect()
}

/// The documents of a side by their addresses in normal form.
fn by_address(pages: &[Page]) -> BTreeMap<String, Vec<usize>> {
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, (url, _)) in pages.iter().enumerate() {
        if let Some(url) = url.as_ref().filter(|url| !url.trim().is_empty()) {
            found.entry(Matching::Normal.key(url).into_owned()).or_default().push(number);
        }
    }
    found
}

fn jaccard(a: &[u8], b: &[u8]) -> Option<f64> {
    let (a, b): (BTreeSet<u8>, BTreeSet<u8>) = (a.iter().copied().collect(), b.iter().copied().collect());
    let both = a.intersection(&b).count() as f64;
    (!a.is_empty() && !b.is_empty()).then(|| both / ((a.len() + b.len()) as f64 - both))
}

/// Returns the lines that `overlap.jsonl` should hold.
fn expected(sides: &[Vec<Page>]) -> Vec<Value> {
    let right = by_address(&sides[1]);
    let mut shared: Vec<(usize, String, Vec<usize>)> =
        by_address(&sides[0]).into_iter().map(|(url, documents)| (documents[0], url, documents)).collect();
    shared.sort();
    let names = |side: usize, documents: &[usize]| -> Vec<String> {
        documents.iter().take(join::MOST_NAMED).map(|number| format!("{side}-{number}")).collect()
    };
    let line = |(first, url, documents): (usize, String, Vec<usize>)| {
        let others = right.get(&url)?;
        let similarity = jaccard(&sides[0][first].1, &sides[1][others[0]].1);
        Some(serde_json::json!({
            "url": sides[0][first].0,
            "left": names(0, &documents),
            "right": names(1, others),
            "similarity": similarity.map(overlap::rounded),
        }))
    };
    shared.into_iter().filter_map(line).collect()
}

fn page() -> impl Strategy<Value = Page> {
    let url = prop_oneof![
        1 => Just(None),
        1 => Just(Some("no address".to_owned())),
        12 => (0..4usize, 0..5u8, 0..12u8).prop_map(|(host, depth, page)| {
            let host = ["www.a.com", "A.com:80", "b.co.uk", "10.0.0.1"][host];
            Some(format!("http://{host}/{}p{page}", "x/".repeat(depth.into())))
        }),
    ];
    (url, prop::collection::vec(0..40u8, 0..12))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn shared_addresses_are_those_of_a_map(
        left in prop::collection::vec(page(), 0..300),
        right in prop::collection::vec(page(), 0..300),
    ) {
        let sides = [left, right];
        let (summary, files) = results(request(&sides, 1), LARGE);
        let wanted = expected(&sides);
        prop_assert_eq!(lines(&files, "overlap.jsonl"), wanted.clone());
        prop_assert_eq!(summary.shared_urls, wanted.len() as u64);
        prop_assert_eq!(summary.left.urls, by_address(&sides[0]).len() as u64);
        prop_assert_eq!(summary.right.urls, by_address(&sides[1]).len() as u64);
        let measured: Vec<f64> = wanted.iter().filter_map(|line| line["similarity"].as_f64()).collect();
        let similarity = summary.similarity.clone().unwrap();
        prop_assert_eq!(similarity.pairs, measured.len() as u64);
        prop_assert_eq!(similarity.near, measured.iter().filter(|value| **value >= 0.9).count() as u64);
        let close = |found: Option<f64>, wanted: Option<f64>| match (found, wanted) {
            (Some(found), Some(wanted)) => (found - wanted).abs() < 1e-6,
            (found, wanted) => found == wanted,
        };
        prop_assert!(close(similarity.mean, lookalike_overlap::statistics::mean(&measured)));
        prop_assert!(close(similarity.median, lookalike_overlap::statistics::median(&measured)));
        // Every table adds up to the whole, and so does every kind of name.
        for (name, kinds) in [("domains.tsv", ["domain", "host"]), ("tlds.tsv", ["suffix", "tld"])] {
            for kind in kinds {
                let rows = table(&files, name);
                let sum = |head: &str| -> u64 {
                    rows.iter().filter(|row| row["kind"] == kind).map(|row| row[head].parse::<u64>().unwrap()).sum()
                };
                prop_assert_eq!(sum("shared_urls"), summary.shared_urls);
                prop_assert_eq!(sum("shared_documents"), summary.left_documents_with_shared_url);
                prop_assert_eq!(sum("left_documents"), summary.left.counts.with_url());
                prop_assert_eq!(sum("right_documents"), summary.right.counts.with_url());
            }
        }
        for kind in ["depth", "domain", "host", "suffix", "tld"] {
            let rows = table(&files, "survival.tsv");
            let sum = |head: &str| -> u64 {
                rows.iter().filter(|row| row["kind"] == kind).map(|row| row[head].parse::<u64>().unwrap()).sum()
            };
            prop_assert_eq!((sum("urls"), sum("found")), (summary.left.urls, summary.shared_urls), "{}", kind);
            prop_assert_eq!((sum("measured"), sum("near")), (similarity.pairs, similarity.near), "{}", kind);
        }
        // Little memory and more threads give the same bytes.
        for (threads, buffer_bytes) in [(2, LARGE), (1, SMALL), (3, SMALL)] {
            prop_assert_eq!(&results(request(&sides, threads), buffer_bytes).1, &files);
        }
    }

    #[test]
    fn snapshots_are_those_of_maps(sides in prop::collection::vec(prop::collection::vec(page(), 0..120), 3..6)) {
        let (summary, files) = results(request(&sides, 2), SMALL);
        let maps: Vec<BTreeMap<String, Vec<usize>>> = sides.iter().map(|pages| by_address(pages)).collect();
        // What compares two sides is as if there were no others.
        prop_assert_eq!(lines(&files, "overlap.jsonl"), expected(&sides));
        let rows = lines(&files, "snapshots.jsonl");
        let all: Vec<&Value> = rows.iter().filter(|row| row["tld"].is_null()).collect();
        prop_assert_eq!((all.len(), summary.snapshots.len()), (sides.len() - 1, sides.len() - 1));
        let count = |addresses: &BTreeMap<String, Vec<usize>>, keep: &dyn Fn(&String) -> bool| {
            addresses.keys().filter(|url| keep(url)).count() as u64
        };
        for (row, time) in all.iter().zip(1..) {
            let number = |name: &str| row[name].as_u64().unwrap();
            let here = &maps[time];
            prop_assert_eq!(number("urls"), here.len() as u64);
            prop_assert_eq!(number("still"), count(&maps[0], &|url| here.contains_key(url)));
            let always = |url: &String| (1..=time).all(|t| maps[t].contains_key(url));
            prop_assert_eq!(number("always"), count(&maps[0], &always));
            prop_assert_eq!(number("new"), count(here, &|url| !(0..time).any(|t| maps[t].contains_key(url))));
            prop_assert_eq!(number("kept"), count(here, &|url| maps[time - 1].contains_key(url)));
            let first = |side: usize, url: &String| &sides[side][maps[side][url][0]].1;
            let pairs = |from: usize| -> Vec<(Vec<u8>, Vec<u8>)> {
                let there = |url: &&String| maps[from].contains_key(*url) && here.contains_key(*url);
                let words = |url: &String| (first(from, url).clone(), first(time, url).clone());
                let pairs = maps[0].keys().filter(there).map(words);
                pairs.filter(|(a, b)| !a.is_empty() && !b.is_empty()).collect()
            };
            for (from, names) in [
                (0, ["measured", "unchanged", "near"]),
                (time - 1, ["measured_since", "unchanged_since", "near_since"]),
            ] {
                let pairs = pairs(from);
                let near = pairs.iter().filter(|(a, b)| jaccard(a, b).unwrap() >= 0.9).count() as u64;
                let same = pairs.iter().filter(|(a, b)| a == b).count() as u64;
                prop_assert_eq!(names.map(number), [pairs.len() as u64, same, near], "{} to {}", from, time);
            }
            let contained: f64 = pairs(0).iter().map(|(a, b)| containment(a, b)).sum();
            let measured = pairs(0).len() as f64;
            let gone = (maps[0].len() as u64 - number("still")) as f64;
            if measured > 0.0 {
                let figure = |name: &str| row[name].as_f64().unwrap();
                prop_assert!((figure("shingles_there") - contained / measured).abs() < 1e-6);
                prop_assert!((figure("shingles_all") - contained / (measured + gone)).abs() < 1e-6);
            }
            // Top-level domains add up to all of them.
            let of_time = |row: &&Value| !row["tld"].is_null() && row["snapshot"] == time;
            for name in ["left_urls", "still", "measured", "unchanged", "near"] {
                let sum: u64 = rows.iter().filter(of_time).map(|row| row[name].as_u64().unwrap()).sum();
                prop_assert_eq!(sum, number(name), "{}", name);
            }
        }
    }
}

/// The share of the five-word shingles of `a` that are in `b`.
fn containment(a: &[u8], b: &[u8]) -> f64 {
    let shingles = |words: &[u8]| -> BTreeSet<Vec<u8>> {
        if words.len() < 5 { [words.to_vec()].into() } else { words.windows(5).map(<[u8]>::to_vec).collect() }
    };
    let (a, b) = (shingles(a), shingles(b));
    a.intersection(&b).count() as f64 / a.len() as f64
}

fn pages(addresses: &[&str]) -> Vec<Page> {
    addresses.iter().map(|url| (Some((*url).to_owned()), vec![1, 2, 3])).collect()
}

#[test]
fn many_documents_of_one_address_are_named_up_to_a_bound_and_counted() {
    let left = pages(&["http://a.com/"; 250]);
    let right = pages(&["http://A.com"; 103]);
    let (summary, files) = results(request(&[left, right], 1), SMALL);
    let found = lines(&files, "overlap.jsonl");
    assert_eq!(found.len(), 1);
    let named = |side: &str| found[0][side].as_array().unwrap().len();
    assert_eq!((named("left"), named("right")), (100, 100));
    assert_eq!((&found[0]["left_more"], &found[0]["right_more"]), (&150.into(), &3.into()));
    assert_eq!(found[0]["left"][99], "0-99");
    assert_eq!((summary.left_documents_with_shared_url, summary.right_documents_with_shared_url), (250, 103));
}

#[test]
fn matching_is_as_strong_as_asked_for() {
    let left = pages(&["http://a.com/x", "https://www.b.org/index.html?utm_source=y", "http://c.net/"]);
    let right = pages(&["HTTP://A.com:80/x#top", "http://b.org", "http://c.net/"]);
    for (matching, shared) in [(Matching::Exact, 1), (Matching::Normal, 2), (Matching::Canonical, 3)] {
        let request = Request { matching, ..request(&[left.clone(), right.clone()], 1) };
        assert_eq!(results(request, LARGE).0.shared_urls, shared, "{matching:?}");
    }
}

#[test]
fn judged_documents_are_a_population_of_their_own() {
    let left = pages(&["http://a.com/1", "http://a.com/2", "http://b.org/1", "http://c.org/1"]);
    let right = pages(&["http://a.com/1", "http://b.org/1"]);
    let judged = ["0-0", "0-1", "0-3", "elsewhere"].map(str::to_owned).to_vec();
    let request = Request { judged: Some(judged), ..request(&[left, right], 2) };
    let (summary, files) = results(request, SMALL);
    let found = summary.judged.unwrap();
    assert_eq!((found.judged, found.found, found.with_url, found.with_shared_url), (4, 3, 3, 1));
    let rows = table(&files, "tlds.tsv");
    let row = |name: &str| {
        let row = rows.iter().find(|row| row["kind"] == "tld" && row["name"] == name).unwrap();
        ["left_documents", "judged", "judged_shared", "shared_urls"].map(|head| row[head].as_str())
    };
    assert_eq!((row("com"), row("org")), (["2", "2", "1", "1"], ["2", "1", "0", "1"]));
    assert_eq!(rows[0]["name"], "com");
}

#[test]
fn texts_are_not_read_where_they_are_not_wanted() {
    let sides = [pages(&["http://a.com/"]), pages(&["http://a.com/"])];
    let (summary, files) = results(Request { measure: None, ..request(&sides, 1) }, LARGE);
    assert_eq!((summary.shared_urls, summary.similarity), (1, None));
    assert!(lines(&files, "overlap.jsonl")[0]["similarity"].is_null());
}

#[test]
fn what_was_begun_goes_on_from_every_stage() {
    let sides: Vec<Vec<Page>> = (0..3)
        .map(|side| {
            (0..2500u32)
                .map(|n| {
                    let words = (0..20).map(|word| ((n * word + side) % 50) as u8).collect();
                    (Some(format!("http://host{}.com/{}", n % 17, n * (side + 1) % 1900)), words)
                })
                .collect()
        })
        .collect();
    let (_, expected) = results(request(&sides, 1), SMALL);
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("work")).unwrap();
    std::fs::write(folder.path().join("work/lock"), "").unwrap();
    // A folder stands where a file should go: the stage before it is done, it is not.
    for blocked in ["s001u000000.done", "joined", "fetched", "measured", "listed"] {
        let place = folder.path().join("work").join(blocked);
        std::fs::create_dir_all(place.join("x")).unwrap();
        let error = run_within(request(&sides, 2), folder.path(), &Watch::default(), SMALL).unwrap_err();
        assert!(error.to_string().contains(blocked), "{error}");
        std::fs::remove_dir_all(place).unwrap();
    }
    let done = run_within(request(&sides, 1), folder.path(), &Watch::default(), SMALL).unwrap();
    assert!(matches!(done, RunOutcome::Done(_)));
    assert_eq!(files(folder.path()), expected);
    let again = run_within(request(&sides, 1), folder.path(), &Watch::default(), SMALL).unwrap();
    assert!(matches!(again, RunOutcome::AlreadyDone(_)));
}

#[test]
fn an_input_that_changes_between_two_looks_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    std::fs::write(&list, "http://a.com/1\nhttp://a.com/2\n").unwrap();
    let options = ReadOptions { addresses: true, ..ReadOptions::default() };
    let open = || Corpus::open(&[list.as_os_str()], options.clone()).unwrap();
    let corpora = vec![open(), open()];
    let job = folder.path().join("job");
    std::fs::create_dir_all(job.join("work/fetched/x")).unwrap();
    std::fs::write(job.join("work/lock"), "").unwrap();
    let request = |corpora: Vec<Corpus>| Request { corpora, ..request(&[Vec::new(), Vec::new()], 1) };
    run_within(request(corpora.clone()), &job, &Watch::default(), LARGE).unwrap_err();
    std::fs::remove_dir_all(job.join("work/fetched")).unwrap();
    std::fs::write(&list, "http://a.com/2\nhttp://a.com/1\n").unwrap();
    let error = run_within(request(corpora), &job, &Watch::default(), LARGE).unwrap_err();
    assert!(error.to_string().contains("changed while it was in use"), "{error}");
}

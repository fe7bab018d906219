//! The whole way, held against the plainest version: lists in memory, compared one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lookalike::corpus::ReadOptions;
use lookalike::model::Similarity;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::fixture::{LARGE, Page, corpus_of_lines, pages, request};

/// Bytes for buffers: too few for anything.
const SMALL: u64 = 4 << 10;

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
            "similarity": similarity.map(lookalike::model::rounded),
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

#[test]
fn judged_documents_are_found_by_their_whole_ids() {
    let request = |judged: Option<&[&str]>| Request {
        judged: judged.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect()),
        ..request(&[Vec::new(), Vec::new()], 1)
    };
    let some = request(Some(&["a", "b", "ä"]));
    assert_eq!(["a", "ä", "", "aa", "B"].map(|id| some.is_judged(id)), [true, true, false, false, false]);
    assert!(!request(None).is_judged("a") && !request(Some(&[])).is_judged(""));
}

#[test]
fn sides_are_numbered_where_there_are_several_snapshots() {
    let names = |snapshots: usize| {
        let request = request(&vec![Vec::new(); snapshots + 1], 1);
        (0..=snapshots).map(|side| request.side_name(side)).collect::<Vec<_>>()
    };
    assert_eq!(names(1), ["left", "right"]);
    assert_eq!(names(2), ["left", "right 1", "right 2"]);
}

#[test]
fn a_measure_is_named_with_its_shingles() {
    let name = |similarity, shingle| {
        let measure = Measure { similarity, threshold: "0.5".parse().unwrap(), shingle };
        Request { measure: Some(measure), ..request(&[Vec::new(), Vec::new()], 1) }.measure_name()
    };
    assert_eq!(name(Similarity::Jaccard, 1), "jaccard of words");
    assert_eq!(name(Similarity::CosineTf, 5), "cosine-tf of 5-word shingles");
    let none = Request { measure: None, ..request(&[Vec::new(), Vec::new()], 1) };
    assert_eq!(none.measure_name(), "");
}

#[test]
fn no_snapshot_and_too_many_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (snapshots, sentence) in [
        (0, "1 to 200 snapshots can be compared with, not 0"),
        (201, "1 to 200 snapshots can be compared with, not 201"),
    ] {
        let request = request(&vec![Vec::new(); snapshots + 1], 1);
        let error = run_within(request, folder.path(), &Watch::default(), LARGE).unwrap_err();
        assert_eq!(error.to_string(), sentence);
    }
}

#[test]
fn corpora_without_documents_share_nothing() {
    let (summary, files) = results(request(&[Vec::new(), Vec::new()], 1), LARGE);
    assert_eq!((summary.left.urls, summary.right.urls, summary.shared_urls), (0, 0, 0));
    assert_eq!((files["overlap.jsonl"].as_str(), files["rejected.jsonl"].as_str()), ("", ""));
    assert_eq!(table(&files, "domains.tsv").len(), 0);
}

#[test]
fn a_summary_that_cannot_be_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let error = summary_of(folder.path()).unwrap_err().to_string();
    assert!(error.contains("summary.json cannot be read: "), "{error}");
    std::fs::write(folder.path().join("summary.json"), "{}").unwrap();
    let error = summary_of(folder.path()).unwrap_err().to_string();
    assert!(error.contains("summary.json is damaged: "), "{error}");
}

#[test]
fn rejections_of_all_sides_are_in_one_file_in_their_order() {
    let good = "{\"id\":\"a\",\"url\":\"http://a.org/\",\"text\":\"x\"}\n";
    // More than is copied at once.
    let bad = "no JSON\n".repeat(2000);
    let mut request = request(&[Vec::new(), Vec::new()], 1);
    request.corpora =
        vec![corpus_of_lines(0, format!("{good}{bad}")), corpus_of_lines(1, format!("{good}{bad}"))];
    let (summary, files) = results(request, LARGE);
    assert_eq!((summary.left.counts.rejected, summary.right.counts.rejected), (2000, 2000));
    let found = lines(&files, "rejected.jsonl");
    let place =
        |line: &Value| (line["side"].as_str().unwrap().to_owned(), line["position"].as_u64().unwrap());
    let side = |side: &'static str| (0..2000).map(move |at| (side.to_owned(), good.len() as u64 + 8 * at));
    let wanted: Vec<(String, u64)> = side("left").chain(side("right")).collect();
    assert_eq!(found.iter().map(place).collect::<Vec<_>>(), wanted);
    assert_eq!((summary.left.reasons[0].count, summary.shared_urls), (2000, 1));
}

//! Whole jobs on small corpora, held against the simplest correct version.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lookalike_corpus::{Corpus, ReadOptions};
use lookalike_generate::Plan;
use lookalike_methods::{Setting, method};
use lookalike_model::Similarity;
use lookalike_text::Profile;

use crate::recipe::{ClusterRule, Combine, Reading, Task};
use crate::walk::Watch;
use crate::{EngineError, Findings, Job, JobRecipe, Opened, Outputs, Settings};

fn recipe(spec: &str) -> JobRecipe {
    JobRecipe {
        lookalike: "0.0.0".to_owned(),
        engine: JobRecipe::ENGINE,
        task: Task::Dedup,
        similarity: Similarity::Jaccard,
        shingle: 5,
        threshold: "0.8".to_owned(),
        verified: true,
        keep: "first".to_owned(),
        cluster: ClusterRule::Star,
        max_group: 1000,
        all: false,
        against: false,
        within: None,
        combine: Combine::Any,
        lexicon: None,
        methods: spec.split(' ').map(|spec| method(spec, &Setting::default()).unwrap().recipe()).collect(),
        filter: None,
        profile: Profile::web().recipe(),
        reading: Reading {
            id_field: "id".to_owned(),
            text_field: "text".to_owned(),
            html_field: "html".to_owned(),
            url_field: "url".to_owned(),
            max_document_bytes: 1 << 20,
            revisions: false,
            namespaces: "0".to_owned(),
            input_format: None,
            content: "page".to_owned(),
        },
    }
}

fn settings() -> Settings {
    Settings { threads: 2, memory: 512 << 20, spool: true }
}

fn job(recipe: JobRecipe, lines: &str, settings: Settings) -> Job {
    let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default());
    Job { recipe, corpus, against: None, lexicon: None, settings, outputs: Outputs::default() }
}

fn run(job: Job, folder: &Path, bucket_bytes: Option<u64>) -> Result<Findings, EngineError> {
    let Opened::Open(mut open) = job.open(folder)? else { panic!("the job is finished") };
    open.bucket_bytes = bucket_bytes;
    let findings = open.run(&Watch::default())?;
    open.finish(&findings.summary)?;
    Ok(findings)
}

/// All files that promise 4 is about.
fn outputs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = files.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path));
    named
        .filter(|(name, _)| name != "run.json")
        .map(|(name, path)| (name, std::fs::read(path).unwrap()))
        .collect()
}

fn generated(documents: u64, seed: u64) -> String {
    let mut lines = Vec::new();
    lookalike_generate::write_jsonl(Plan { documents, seed }, &mut lines, &mut std::io::sink()).unwrap();
    String::from_utf8(lines).unwrap()
}

/// Texts of numbered words: families of documents that differ in a few places.
fn families(count: u32, words: u32) -> Vec<String> {
    let document = |n: u32| {
        let (family, edits) = (n % 7, n / 7 % 5);
        let word = |w: u32| match edits > 0 && (w + n).is_multiple_of(words / edits) {
            true => format!("x{n}x{w}"),
            false => format!("f{family}w{w}"),
        };
        (0..words).map(word).collect::<Vec<_>>().join(" ")
    };
    (0..count).map(document).collect()
}

fn lines(texts: &[String]) -> String {
    texts.iter().enumerate().map(|(n, text)| format!("{{\"id\":\"d{n}\",\"text\":\"{text}\"}}\n")).collect()
}

fn shingles(text: &str) -> BTreeSet<Vec<&str>> {
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(5).map(<[&str]>::to_vec).collect()
}

/// `(removed, witness, similarity)` by comparing every document with every kept one before it.
fn by_hand(texts: &[String]) -> Vec<(u64, u64, f64)> {
    let sets: Vec<_> = texts.iter().map(|text| shingles(text)).collect();
    let (mut kept, mut removed): (Vec<usize>, Vec<(u64, u64, f64)>) = (Vec::new(), Vec::new());
    for n in 0..sets.len() {
        let mut best: Option<(f64, usize)> = None;
        for &k in &kept {
            let shared = sets[n].intersection(&sets[k]).count() as f64;
            let value = shared / ((sets[n].len() + sets[k].len()) as f64 - shared);
            if value >= 0.8 && best.is_none_or(|(found, _)| value > found) {
                best = Some((value, k));
            }
        }
        match best {
            None => kept.push(n),
            Some((value, k)) => removed.push((n as u64, k as u64, value)),
        }
    }
    removed
}

fn removed(folder: &Path) -> Vec<(u64, u64, f64)> {
    let text = std::fs::read_to_string(folder.join("removed.jsonl")).unwrap();
    let row = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        (row["n"].as_u64().unwrap(), row["witness_n"].as_u64().unwrap(), row["similarity"].as_f64().unwrap())
    };
    text.lines().map(row).collect()
}

#[test]
fn with_all_pairs_known_the_job_is_the_obvious_loop() {
    let folder = tempfile::tempdir().unwrap();
    let texts = families(180, 60);
    run(job(recipe("exact"), &lines(&texts), settings()), &folder.path().join("job"), None).unwrap();
    let (found, expected) = (removed(&folder.path().join("job")), by_hand(&texts));
    assert!(expected.len() > 50);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!((found.0, found.1), (expected.0, expected.1));
        assert!((found.2 - expected.2).abs() < 1e-8);
    }
}

#[test]
fn buckets_of_any_size_and_components_larger_than_memory_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let text = generated(700, 3);
    let mut all = Vec::new();
    for (name, bytes) in [("whole", None), ("many", Some(60_000)), ("tiny", Some(4_000))] {
        let path = folder.path().join(name);
        let findings = run(job(recipe("minhash"), &text, settings()), &path, bytes).unwrap();
        assert!(findings.summary.removed > 50);
        all.push((outputs(&path), findings.samples, findings.histogram));
    }
    assert!(all[0] == all[1] && all[0] == all[2]);
}

#[test]
fn documents_read_again_give_the_same_bytes_as_the_spool() {
    let folder = tempfile::tempdir().unwrap();
    let text = generated(400, 5);
    let mut all = Vec::new();
    for (name, spool, bucket) in [("disk", true, None), ("none", false, None), ("some", false, Some(20_000))]
    {
        let path = folder.path().join(name);
        run(job(recipe("minhash"), &text, Settings { spool, ..settings() }), &path, bucket).unwrap();
        all.push(outputs(&path));
    }
    assert!(all[0] == all[1] && all[0] == all[2]);
}

#[test]
fn a_giant_group_proposes_few_pairs_and_removes_nearly_all() {
    let folder = tempfile::tempdir().unwrap();
    let page = |n: u32| {
        let words: Vec<String> = (0..400).map(|w| format!("t{w}")).collect();
        format!("{} only{n} here{n}", words.join(" "))
    };
    let texts: Vec<String> = (0..300).map(page).collect();
    for spec in ["minhash", "simhash:n=1,k=6,blocks=8", "exact"] {
        let mut recipe = recipe(spec);
        recipe.max_group = 40;
        let path = folder.path().join(spec.split(':').next().unwrap());
        let findings = run(job(recipe, &lines(&texts), settings()), &path, None).unwrap();
        let summary = findings.summary;
        assert!(summary.removed >= 295, "{spec}: {summary:?}");
        assert!(summary.candidates <= 300 * 17 * 18, "{spec}: {summary:?}");
    }
}

#[test]
fn a_stopped_job_goes_on_and_ends_with_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let text = generated(500, 9);
    for (spec, bucket) in [("exact", None), ("minhash", Some(60_000)), ("minhash", Some(4_000))] {
        let name = |what: &str| folder.path().join(format!("{what}-{spec}-{}", bucket.unwrap_or(0)));
        run(job(recipe(spec), &text, settings()), &name("whole"), None).unwrap();
        let starts = run_with_stops(&|| job(recipe(spec), &text, settings()), &name("stopped"), bucket);
        assert!(outputs(&name("whole")) == outputs(&name("stopped")), "{spec} after {starts} starts");
    }
}

/// Starts a job again and again, each time allowed a little longer; returns how often.
fn run_with_stops(job: &dyn Fn() -> Job, folder: &Path, bucket_bytes: Option<u64>) -> u64 {
    for starts in 1.. {
        let Opened::Open(mut open) = job().open(folder).unwrap() else { panic!("nobody finished it") };
        open.bucket_bytes = bucket_bytes;
        let watch = Watch::default();
        let result = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(starts * 7));
                watch.stop.store(true, std::sync::atomic::Ordering::Relaxed);
            });
            open.run(&watch)
        });
        match result {
            Ok(findings) => {
                open.finish(&findings.summary).unwrap();
                return starts;
            }
            Err(error) => assert!(matches!(error, EngineError::Stopped), "{error}"),
        }
    }
    unreachable!("it ends at last")
}

#[test]
fn empty_and_wordless_corpora_are_jobs_too() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, documents) in [
        ("none", "", 0),
        ("one", "{\"id\":\"a\",\"text\":\"just one\"}\n", 1),
        ("wordless", "{\"id\":\"a\",\"text\":\"…\"}\n{\"id\":\"b\",\"text\":\"…\"}\n", 2),
    ] {
        for spec in ["minhash", "exact", "simhash", "md5"] {
            let path = folder.path().join(format!("{name}-{spec}"));
            let findings = run(job(recipe(spec), text, settings()), &path, None).unwrap();
            assert_eq!(
                (findings.summary.documents, findings.summary.removed),
                (documents, 0),
                "{name} {spec}"
            );
        }
    }
}

#[test]
fn caps_below_the_floor_are_refused_with_the_figure() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { memory: 100 << 20, ..settings() };
    let error = job(recipe("minhash"), "", settings).open(folder.path()).err().unwrap().to_string();
    assert!(error.contains("at least 138 MB") && error.contains("--memory 138M"), "{error}");
}

//! An index says of every document what a job says of all of them together.

use std::collections::BTreeMap;
use std::path::Path;

use lookalike_corpus::{Corpus, ReadOptions};
use lookalike_engine::recipe::{Combine, ReadSettings, Task};
use lookalike_engine::walk::Watch;
use lookalike_engine::{Job, JobRecipe, Opened, Outputs, Settings, Spool};
use lookalike_generate::Plan;
use lookalike_index::{
    CreateOptions, Index, Mode, OnExistingId, PreparedDocument, State, Verdict, WriterOptions,
};
use lookalike_methods::{METHODS, Setting, method};
use lookalike_model::{Document, Media};

fn settings() -> Settings {
    Settings { threads: 2, memory: 512 << 20, spool: Spool::Disk }
}

fn recipe(spec: &str) -> JobRecipe {
    JobRecipe {
        methods: spec.split(' ').map(|spec| method(spec, &Setting::default()).unwrap().recipe()).collect(),
        max_group: 100_000,
        reading: ReadSettings { max_document_bytes: 1 << 20, ..ReadSettings::default() },
        ..JobRecipe::simplest(Task::Dedup)
    }
}

fn generated(documents: u64, seed: u64) -> String {
    let mut lines = Vec::new();
    lookalike_generate::write_jsonl(Plan { documents, seed }, &mut lines, &mut std::io::sink()).unwrap();
    String::from_utf8(lines).unwrap()
}

/// Families of documents that differ in a few places, some of them equal to earlier ones.
fn families(count: u32, words: u32) -> String {
    let document = |n: u32| {
        let (family, edits) = (n % 7, n / 7 % 5);
        let word = |w: u32| match edits > 0 && (w + n % 90).is_multiple_of(words / edits) {
            true => format!("x{}x{w}", n % 90),
            false => format!("f{family}w{w}"),
        };
        let text = (0..words).map(word).collect::<Vec<_>>();
        // Sentences that differ where words do not.
        let end = if n.is_multiple_of(3) { ". " } else { " " };
        format!(
            "{{\"id\":\"d{n}\",\"text\":\"{}\"}}\n",
            text.chunks(9).map(|w| w.join(" ")).collect::<Vec<_>>().join(end)
        )
    };
    (0..count).map(document).collect()
}

fn corpus(lines: &str) -> Corpus {
    Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default())
}

fn run(recipe: JobRecipe, lines: &str, folder: &Path) {
    let job = Job {
        recipe,
        corpus: corpus(lines),
        against: None,
        lexicon: None,
        settings: settings(),
        outputs: Outputs::default(),
    };
    let Opened::Open(mut open) = job.open(folder).unwrap() else { panic!("the job is finished") };
    let findings = open.run(&Watch::default()).unwrap();
    open.finish(&findings.summary).unwrap();
}

fn rows(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Documents of the lines as the index sees them.
fn prepared(index: &Index, lines: &str) -> Vec<PreparedDocument> {
    let mut buffers = index.buffers().unwrap();
    let one = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let (id, text) =
            (row["id"].as_str().unwrap(), row["text"].as_str().or(row["html"].as_str()).unwrap());
        let media = if row["html"].is_string() { Media::Html } else { Media::Text };
        let document = Document::from_text(id, row["url"].as_str(), media, text);
        buffers.document(index.examiner(), &document).unwrap()
    };
    lines.lines().map(one).collect()
}

fn create(folder: &Path, recipe: JobRecipe, learn: Option<&Corpus>, text: bool) {
    let options = CreateOptions { recipe, text, lexicon: None, learn, settings: &settings() };
    Index::create(folder, options, &Watch::default()).unwrap();
}

/// Small enough that documents go to disk and segments are merged in the midst of a test.
fn writing() -> Mode {
    Mode::Write(WriterOptions { sync: false, tail_bytes: 16 << 10 })
}

fn rounded(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

fn agrees_with_jobs(recipe: JobRecipe, lines: &str, text: bool) {
    let folder = tempfile::tempdir().unwrap();
    let (index, jobs) = (folder.path().join("index"), folder.path());
    let learn = corpus(lines);
    create(&index, recipe.clone(), Some(&learn), text);
    let index = Index::open(&index, writing()).unwrap();
    let mut buffers = index.buffers().unwrap();
    let documents = prepared(&index, lines);

    run(recipe.clone(), lines, &jobs.join("dedup"));
    let wanted: BTreeMap<u64, (u64, f64)> = rows(&jobs.join("dedup/removed.jsonl"))
        .iter()
        .map(|row| {
            let similarity = row["similarity"].as_f64().unwrap_or(-1.0);
            (row["n"].as_u64().unwrap(), (row["witness_n"].as_u64().unwrap(), similarity))
        })
        .collect();
    let mut found = BTreeMap::new();
    let mut rest = documents.clone();
    for (turn, size) in [1, 40, 3, 7, 120, 1, 1, 15].into_iter().cycle().enumerate() {
        let mut batch: Vec<PreparedDocument> = rest.drain(..size.min(rest.len())).collect();
        if batch.is_empty() {
            break;
        }
        if turn % 2 == 0 {
            batch.iter_mut().for_each(|prepared| index.look_up(&mut buffers, prepared).unwrap());
        }
        for verdict in index.add(batch, OnExistingId::Both).unwrap() {
            let Verdict::Added { number, state, .. } = verdict else { panic!("{verdict:?}") };
            if let State::Removed { witness, similarity } = state {
                let similarity = similarity.map_or(-1.0, rounded);
                found.insert(u64::from(number), (u64::from(witness), similarity));
            }
        }
    }
    assert_eq!(found, wanted, "{:?}", recipe.methods);
    assert!(!wanted.is_empty(), "{:?}", recipe.methods);

    run(JobRecipe { task: Task::Pairs, ..recipe.clone() }, lines, &jobs.join("pairs"));
    let mut wanted: Vec<(String, String, f64)> = rows(&jobs.join("pairs/pairs.jsonl"))
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            (text("a"), text("b"), row["similarity"].as_f64().unwrap_or(-1.0))
        })
        .collect();
    let mut found = Vec::new();
    for (number, document) in documents.iter().enumerate() {
        let answer = index.query(&mut buffers, document, usize::MAX).unwrap();
        assert_eq!(answer.total, answer.matches.len());
        for hit in answer.matches.iter().filter(|hit| hit.number as usize > number) {
            found.push((document.id.clone(), hit.id.clone(), hit.similarity.map_or(-1.0, rounded)));
        }
    }
    wanted.sort_by(|one, two| one.partial_cmp(two).unwrap());
    found.sort_by(|one, two| one.partial_cmp(two).unwrap());
    assert_eq!(found, wanted, "{:?}", recipe.methods);

    let clean = |index: &Index| {
        let checked = index.check(&mut index.buffers().unwrap()).unwrap();
        assert_eq!((checked.mistakes, &checked.wrong), (0, &Vec::new()), "{:?}", recipe.methods);
    };
    clean(&index);
    assert!(index.stats().segments > 0);
    let (stats, path) = (index.stats(), index.folder().to_owned());
    index.close().unwrap();
    let index = Index::open(&path, writing()).unwrap();
    clean(&index);
    assert_eq!(index.stats().documents, stats.documents);
    index.compact().unwrap();
    clean(&index);
    assert_eq!((index.stats().segments, index.stats().in_log), (1, 0));
    assert_eq!(index.stats().removed, stats.removed);
}

#[test]
fn every_method_decides_and_answers_as_in_jobs() {
    let lines = families(330, 60);
    for about in METHODS {
        // Hexadecimal numbers are another input, and aliases the same methods.
        let name = about.name;
        agrees_with_jobs(recipe(name), &lines, true);
    }
}

#[test]
fn generated_pages_are_decided_and_answered_as_in_jobs() {
    let lines = generated(600, 3);
    for spec in ["minhash", "exact", "simhash", "imatch minhash"] {
        agrees_with_jobs(recipe(spec), &lines, true);
    }
}

#[test]
fn without_texts_the_answers_are_the_same() {
    let lines = generated(400, 5);
    agrees_with_jobs(recipe("minhash"), &lines, false);
    agrees_with_jobs(recipe("exact"), &lines, false);
}

#[test]
fn other_measures_and_methods_alone_are_followed_too() {
    let lines = families(300, 60);
    let similarity = |similarity| JobRecipe { similarity, threshold: "0.7".to_owned(), ..recipe("minhash") };
    agrees_with_jobs(similarity(lookalike_model::Similarity::Cosine), &lines, true);
    agrees_with_jobs(similarity(lookalike_model::Similarity::Edit), &lines, true);
    agrees_with_jobs(JobRecipe { verified: false, ..recipe("simhash") }, &lines, true);
    agrees_with_jobs(JobRecipe { verified: false, ..recipe("decomposition") }, &lines, true);
    agrees_with_jobs(JobRecipe { combine: Combine::All, ..recipe("simhash minhash") }, &lines, true);
}

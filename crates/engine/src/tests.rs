//! Whole jobs on small corpora, held against the simplest correct version.

pub(crate) mod context;
mod order;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use lookalike_corpus::{Corpus, ReadOptions};
use lookalike_generate::Plan;
use lookalike_hash::Secret;
use lookalike_methods::lexicon::Reader;
use lookalike_methods::{
    Buffers, DirectedKeyCounts, Key, Lexicon, LexiconDetail, Member, Method, OwnMeasure, Page, Setting,
    Sketch, method,
};
use lookalike_model::Similarity;
use lookalike_text::{Analyser, Features, Profile};

use crate::measure::Measure;
use crate::recipe::{ClusterRule, ReadSettings, Task};
use crate::stages::write::compare::BothCounts;
use crate::walk::Watch;
use crate::{EngineError, Findings, Job, JobRecipe, Opened, Outputs, Settings, Spool};

pub(crate) fn recipe(spec: &str) -> JobRecipe {
    JobRecipe {
        lookalike: "0.0.0".to_owned(),
        methods: spec.split(' ').map(|spec| method(spec, &Setting::default()).unwrap().recipe()).collect(),
        reading: ReadSettings { max_document_bytes: 1 << 20, ..ReadSettings::default() },
        ..JobRecipe::simplest(Task::Dedup)
    }
}

pub(crate) fn settings() -> Settings {
    Settings { threads: 2, memory: 512 << 20, spool: Spool::Disk }
}

fn job(recipe: JobRecipe, lines: &str, settings: Settings) -> Job {
    let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default());
    Job { recipe, corpus, against: None, lexicon: None, settings, outputs: Outputs::default() }
}

pub(crate) fn run(job: Job, folder: &Path, bucket_bytes: Option<u64>) -> Result<Findings, EngineError> {
    let Opened::Open(mut open) = job.open(folder)? else { panic!("the job is finished") };
    open.bucket_bytes = bucket_bytes;
    let findings = open.run(&Watch::default())?;
    open.finish(&findings.summary)?;
    Ok(findings)
}

/// All files that promise 4 is about.
pub(crate) fn outputs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = files.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path));
    named
        .filter(|(name, _)| name != "run.json")
        .map(|(name, path)| (name, std::fs::read(path).unwrap()))
        .collect()
}

/// The counts of a summary without the digests of files: for jobs of which not all files are compared.
pub(crate) fn without_digests(files: &mut BTreeMap<String, Vec<u8>>) {
    let Some(text) = files.get_mut("summary.json") else { return };
    let mut summary: serde_json::Value = serde_json::from_slice(text).unwrap();
    let fields = summary.as_object_mut().unwrap();
    assert!(fields.remove("files").is_some_and(|files| files.is_object()), "{fields:?}");
    assert!(fields.remove("checksum").is_some_and(|sum| sum.is_string()), "{fields:?}");
    *text = summary.to_string().into_bytes();
}

/// A summary without the places of rejected records: for jobs whose documents stand in other files.
pub(crate) fn without_places(files: &mut BTreeMap<String, Vec<u8>>) {
    let Some(text) = files.get_mut("summary.json") else { return };
    let mut summary: serde_json::Value = serde_json::from_slice(text).unwrap();
    for reason in summary["reasons"].as_array_mut().into_iter().flatten() {
        let fields = reason.as_object_mut().unwrap();
        assert!(fields.remove("source").is_some() && fields.remove("position").is_some(), "{fields:?}");
        fields.remove("unit");
    }
    *text = summary.to_string().into_bytes();
}

pub(crate) fn generated(documents: u64, seed: u64) -> String {
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
fn exhaustive_dedup(texts: &[String]) -> Vec<(u64, u64, f64)> {
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
    let (found, expected) = (removed(&folder.path().join("job")), exhaustive_dedup(&texts));
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
    // Copies of copies: documents with equals that find better witnesses than the first of them did.
    let text = generated(500, 3) + &lines(&families(180, 60)) + &lines(&families(90, 60));
    let first = recipe("minhash");
    let recipes = [
        ("longest", JobRecipe { keep: "longest".to_owned(), ..first.clone() }),
        ("inside", JobRecipe { similarity: Similarity::Containment, ..recipe("exact") }),
        ("components", JobRecipe { cluster: ClusterRule::Components, ..first.clone() }),
        ("unverified", JobRecipe { verified: false, ..first.clone() }),
        ("own", JobRecipe { verified: false, ..recipe("decomposition:test=words") }),
        ("first", first),
    ];
    for (rule, recipe) in recipes {
        let mut all = Vec::new();
        for (name, bytes) in [("whole", None), ("many", Some(60_000)), ("tiny", Some(4_000))] {
            for spool in [Spool::Disk, Spool::Auto] {
                let path = folder.path().join(format!("{rule} {name} {spool:?}"));
                let settings = Settings { spool, ..settings() };
                let findings = run(job(recipe.clone(), &text, settings), &path, bytes).unwrap();
                assert!(findings.summary.removed > 50);
                all.push((outputs(&path), findings.samples, findings.histogram));
            }
        }
        assert!(all.iter().all(|found| *found == all[0]), "{rule}");
    }
}

#[test]
fn lines_of_all_shapes_are_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let texts = families(40, 60);
    let mut text = "\u{feff}\n".to_owned();
    for (n, words) in texts.iter().enumerate() {
        // Long lines that are read by themselves, other line ends, blank lines and broken ones in between.
        let filler = if n == 9 { "y".repeat(400 << 10) } else { String::new() };
        let between = ["\n", "\r\n", "\n \n", "\n{\n"][n % 4];
        text += &format!("  {{\"text\":\"{words}\",\"more\":\"{filler}\",\"id\":\"\\u0064{n}\"}} {between}");
    }
    let text = text.trim_end();
    let mut all = Vec::new();
    for spool in [Spool::Disk, Spool::None] {
        let path = folder.path().join(format!("{spool:?}"));
        let findings =
            run(job(recipe("minhash"), text, Settings { spool, ..settings() }), &path, None).unwrap();
        assert!(findings.summary.removed > 10 && findings.summary.rejected == 10);
        all.push((outputs(&path), findings.samples));
    }
    assert!(all[0] == all[1]);
}

#[test]
fn documents_read_again_give_the_same_bytes_as_the_spool() {
    let folder = tempfile::tempdir().unwrap();
    let text = generated(400, 5);
    let mut all = Vec::new();
    for (name, spool, bucket) in [
        ("disk", Spool::Disk, None),
        ("auto", Spool::Auto, None),
        ("none", Spool::None, None),
        ("some", Spool::None, Some(20_000)),
    ] {
        let path = folder.path().join(name);
        run(job(recipe("minhash"), &text, Settings { spool, ..settings() }), &path, bucket).unwrap();
        all.push(outputs(&path));
    }
    assert!(all.iter().all(|found| *found == all[0]));
}

#[test]
fn documents_that_change_while_the_job_runs_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.jsonl");
    let text = lines(&families(60, 100));
    let (first, rest) = text.split_once('\n').unwrap();
    let blank = format!("{}\n{rest}", " ".repeat(first.len()));
    for (name, other) in [("word", text.replacen("f0w50", "f0q50", 1)), ("line", blank)] {
        assert!(other != text && other.len() == text.len());
        std::fs::write(&file, &text).unwrap();
        let modified = std::fs::metadata(&file).unwrap().modified().unwrap();
        let job = || {
            let corpus = Corpus::open(&[&file], ReadOptions::default()).unwrap();
            Job { corpus, ..job(recipe("minhash"), "", Settings { spool: Spool::Auto, ..settings() }) }
        };
        let path = folder.path().join(name);
        let Opened::Open(mut open) = job().open(&path).unwrap() else { panic!("the job is new") };
        open.run(&Watch::default()).unwrap();
        // As if it had been killed before it measured, and the file written to without a trace.
        for entry in std::fs::read_dir(path.join("work")).unwrap().map(|entry| entry.unwrap()) {
            let name = entry.file_name().into_string().unwrap();
            if name.starts_with("b0") || name.starts_with("verified") {
                crate::context::remove_if_there(&entry.path()).unwrap();
            }
        }
        drop(open);
        std::fs::write(&file, &other).unwrap();
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        let error = run(job(), &path, None).unwrap_err();
        assert!(matches!(error, EngineError::InputChanged { .. }), "{name}: {error}");
    }
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
                watch.stop.store(true, Ordering::Relaxed);
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
fn a_job_killed_before_it_took_hold_of_its_folder_is_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("work")).unwrap();
    run(job(recipe("md5"), "", settings()), folder.path(), None).unwrap();
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(other.path().join("work/mine")).unwrap();
    let error = job(recipe("md5"), "", settings()).open(other.path()).err().unwrap();
    assert!(matches!(error, EngineError::NotAJob { .. }), "{error}");
}

#[test]
fn caps_below_the_floor_are_refused_with_the_figure() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { memory: 100 << 20, ..settings() };
    let error = job(recipe("minhash"), "", settings).open(folder.path()).err().unwrap().to_string();
    assert!(error.contains("at least 138 MB") && error.contains("--memory 138M"), "{error}");
}

/// A corpus in several files, so that there are several units.
fn files(folder: &Path, lines: &str) -> Corpus {
    let lines: Vec<&str> = lines.lines().collect();
    for (number, part) in lines.chunks(40).enumerate() {
        std::fs::write(folder.join(format!("part{number:03}.jsonl")), part.join("\n")).unwrap();
    }
    Corpus::open(&[folder], ReadOptions::default()).unwrap()
}

/// The lexicon of all texts, the plain way.
fn plain_lexicon(lines: &str, profile: &Profile) -> Lexicon {
    let mut analyser = Analyser::new(profile);
    let read = |line: &str| {
        let text =
            serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].as_str().unwrap().to_owned();
        let mut features = Features::default();
        analyser.read(&text, &mut features);
        features
    };
    let documents: Vec<Features> = lines.lines().map(read).collect();
    Lexicon::gather(&profile.recipe(), &documents)
}

fn read_lexicon(path: &Path) -> Lexicon {
    let reader = Reader::open(std::fs::File::open(path).unwrap()).unwrap();
    Lexicon::read(reader, LexiconDetail::Everything, u64::MAX).unwrap()
}

/// Generated documents with their extracted text alone.
fn plain_generated(documents: u64, seed: u64) -> String {
    let mut extractor = lookalike_text::extract::Extractor::default();
    let mut out = String::new();
    let lines = generated(documents, seed);
    let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default());
    let mut reader = corpus.shards()[0].open(corpus.options()).unwrap();
    while let Some(item) = reader.next().unwrap() {
        if let lookalike_corpus::Item::Document(document) = item {
            let text = extractor.extract(&document, lookalike_text::extract::ContentMode::Page).text;
            out.push_str(&serde_json::json!({"id": document.id, "text": text}).to_string());
            out.push('\n');
        }
    }
    out
}

#[test]
fn words_counted_in_little_memory_are_those_counted_the_plain_way() {
    let folder = tempfile::tempdir().unwrap();
    let text = plain_generated(400, 21);
    let profile = Profile::yandex();
    let expected = plain_lexicon(&text, &profile);
    std::fs::create_dir(folder.path().join("in")).unwrap();
    let corpus = files(&folder.path().join("in"), &text);
    let mut all = Vec::new();
    // Much memory; tables that go to disk; and so little that parts are merged in steps.
    for (memory, threads) in [(None, 1), (Some(2 << 20), 2), (Some(150_000), 4)] {
        let recipe = JobRecipe { profile: profile.recipe(), ..recipe("md5") };
        let job = Job {
            corpus: corpus.clone(),
            settings: Settings { threads, ..settings() },
            ..job(recipe, "", settings())
        };
        let Opened::Open(mut open) = job.open(&folder.path().join("job")).unwrap() else {
            panic!("finished")
        };
        open.bucket_bytes = memory;
        let target = folder.path().join("lexicon");
        let counted = open.count_words(&Watch::default(), &target).unwrap();
        assert_eq!((counted.records, counted.rejected), (400, 0));
        assert_eq!(counted.documents, expected.documents());
        assert!(read_lexicon(&target) == expected, "{memory:?}");
        assert!(!folder.path().join("job").exists());
        all.push(std::fs::read(&target).unwrap());
    }
    assert!(all[0] == all[1] && all[0] == all[2]);
}

#[test]
fn words_are_counted_on_after_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let text = plain_generated(400, 22);
    std::fs::create_dir(folder.path().join("in")).unwrap();
    let corpus = files(&folder.path().join("in"), &text);
    let target = folder.path().join("lexicon");
    let (mut starts, mut resumed) = (0, 0);
    while !target.exists() {
        let job = Job { corpus: corpus.clone(), ..job(recipe("md5"), "", settings()) };
        let Opened::Open(mut open) = job.open(&folder.path().join("job")).unwrap() else {
            panic!("finished")
        };
        open.bucket_bytes = Some(1 << 20);
        let checkpoint = open.folder().join("work/lexicon0.seen");
        let before = std::fs::read(&checkpoint).ok();
        (starts, resumed) = (starts + 1, resumed + usize::from(before.is_some()));
        let (watch, ended) = (Watch::default(), AtomicBool::new(false));
        let result = std::thread::scope(|scope| {
            scope.spawn(|| {
                // Stops behind the next checkpoint, a few times.
                while starts <= 3 && !ended.load(Ordering::Relaxed) {
                    if std::fs::read(&checkpoint).ok() != before {
                        watch.stop.store(true, Ordering::Relaxed);
                    }
                }
            });
            let result = open.count_words(&watch, &target);
            ended.store(true, Ordering::Relaxed);
            result
        });
        assert!(matches!(result, Ok(_) | Err(EngineError::Stopped)), "{result:?}");
    }
    assert!(read_lexicon(&target) == plain_lexicon(&text, &Profile::web()), "after {starts} starts");
    assert!(resumed > 0, "no start went on from a checkpoint");
}

/// Generated documents, each text once.
fn different(documents: u64, seed: u64) -> Vec<(String, String)> {
    let lines = plain_generated(documents, seed);
    let mut seen = BTreeSet::new();
    let row = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        (row["id"].as_str().unwrap().to_owned(), row["text"].as_str().unwrap().to_owned())
    };
    let mut analyser = Analyser::with_secret(&Profile::web(), Secret::of_process());
    let mut features = Features::default();
    let mut fresh = |(_, text): &(String, String)| {
        analyser.read(text, &mut features);
        !features.is_empty() && seen.insert(features.digest(Secret::of_process()))
    };
    lines.lines().map(row).filter(|row| fresh(row)).collect()
}

/// The reference for a method: every document is compared with every other, key by key.
struct ExhaustiveSearch {
    method: Box<dyn Method>,
    pages: Vec<Features>,
    sketches: Vec<Sketch>,
    /// Documents of each key.
    common: BTreeMap<u64, u64>,
}

impl ExhaustiveSearch {
    fn new(spec: &str, documents: &[(String, String)]) -> Self {
        let method = method(spec, &Setting::default()).unwrap();
        let profile = method.abilities().profile.cloned().unwrap_or(Profile::web());
        let mut analyser = Analyser::with_secret(&profile, Secret::of_process());
        let mut read = |(_, text): &(String, String)| {
            let mut features = Features::default();
            analyser.read(text, &mut features);
            analyser.read_sentences(&mut features);
            features
        };
        let pages: Vec<Features> = documents.iter().map(&mut read).collect();
        if let Some(learning) = method.abilities().learning {
            learning.learn(&std::sync::Arc::new(Lexicon::gather(&profile.recipe(), &pages))).unwrap();
        }
        let all = || documents.iter().zip(&pages).map(|((_, text), features)| Page { text, features });
        if let Some(survey) = method.abilities().survey {
            for pass in 0..survey.passes() {
                all()
                    .filter(|page| !page.is_empty())
                    .for_each(|page| survey.observe(pass, &page, &mut Buffers::default()));
                survey.end(pass);
            }
        }
        let sketch = |page: Page<'_>| {
            let mut sketch = Sketch::default();
            if !page.is_empty() {
                method.sketch(&page, &mut sketch);
            }
            sketch.payload.resize(method.payload_bytes(), 0);
            sketch
        };
        let sketches: Vec<Sketch> = all().map(sketch).collect();
        let mut common = BTreeMap::new();
        sketches
            .iter()
            .flat_map(|sketch| &sketch.keys)
            .for_each(|key| *common.entry(key.value).or_insert(0) += 1);
        ExhaustiveSearch { method, pages, sketches, common }
    }

    /// Keys by which `b` finds `a`.
    fn found(&self, a: &Sketch, b: &Sketch) -> u32 {
        let rules = self.method.abilities();
        let member = |sketch: &Sketch, key: &Key| Member { length: sketch.length, tag: key.tag };
        let (shorter, longer) = (a.length.min(b.length), a.length.max(b.length));
        let meets = |key: &&Key| {
            let other = b.keys.iter().find(|other| other.value == key.value);
            !rules.is_query_only(key.tag)
                && self.common[&key.value] <= rules.max_documents_per_key(self.sketches.len() as u64)
                && other.is_some_and(|other| rules.plausible(member(a, key), member(b, other)))
        };
        if longer > rules.longest_partner(shorter) { 0 } else { a.keys.iter().filter(meets).count() as u32 }
    }

    fn accepts(&self, a: usize, b: usize) -> bool {
        let (one, two, rules) = (&self.sketches[a], &self.sketches[b], self.method.abilities());
        let forward = self.found(one, two);
        let asked = DirectedKeyCounts { forward, backward: self.found(two, one) };
        let shared = if rules.query_keys.is_some() { asked.pack() } else { forward };
        if asked.forward.max(asked.backward) < rules.keys_to_share() {
            return false;
        }
        let accepted = self.method.accept(&one.payload, &two.payload, shared).is_some();
        accepted && rules.own_measure.is_none_or(|own| self.near(own, a, b))
    }

    fn near(&self, own: OwnMeasure, a: usize, b: usize) -> bool {
        let OwnMeasure { similarity, threshold, shingle } = own;
        let measure = Measure { similarity, threshold, shingle };
        let [one, two] = [a, b].map(|document| {
            let (mut room, mut prepared) = (Vec::new(), Vec::new());
            let symbols = measure.symbols(&self.pages[document], &mut room);
            measure.prepare(symbols, &mut prepared, &mut Default::default());
            prepared
        });
        measure.compare(&one, &two, threshold).is_some_and(|measured| measured.counts())
    }
}

#[test]
fn every_method_finds_what_comparing_all_with_all_finds() {
    let folder = tempfile::tempdir().unwrap();
    let documents = different(170, 31);
    let lines: String = documents
        .iter()
        .map(|(id, text)| serde_json::json!({"id": id, "text": text}).to_string() + "\n")
        .collect();
    let more =
        ["simhash:search=probabilistic,probes=60", "cops:common=0,share=0.1", "mod:m=3,most=4,threshold=0.2"];
    let mut found_any = 0;
    let mut recipes = BTreeSet::new();
    let mut fresh =
        |name: &&str| recipes.insert(method(name, &Setting::default()).unwrap().recipe().to_string());
    for spec in lookalike_methods::names().chain(more).filter(|name| *name != "exact" && fresh(name)) {
        let path = folder.path().join(spec.replace([':', '='], "-"));
        let recipe = JobRecipe { task: Task::Pairs, verified: false, ..recipe(spec) };
        run(job(recipe, &lines, settings()), &path, None).unwrap();
        let text = std::fs::read_to_string(path.join("pairs.jsonl")).unwrap();
        let pair = |line: &str| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            (row["a"].as_str().unwrap().to_owned(), row["b"].as_str().unwrap().to_owned())
        };
        let found: BTreeSet<(String, String)> = text.lines().map(pair).collect();
        let search = ExhaustiveSearch::new(spec, &documents);
        let mut expected = BTreeSet::new();
        for b in 0..documents.len() {
            for a in (0..b).filter(|&a| search.accepts(a, b)) {
                expected.insert((documents[a].0.clone(), documents[b].0.clone()));
            }
        }
        assert_eq!(found, expected, "{spec}");
        found_any += usize::from(!found.is_empty());
    }
    assert!(found_any > 25, "{found_any}");
}

#[test]
fn methods_that_must_know_the_corpus_go_on_after_stops() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    let corpus = files(&folder.path().join("in"), &plain_generated(240, 33));
    for spec in ["exact", "spex:n=3,counters=16", "koala", "a9", "imatch", "minhash cops"] {
        let name = |what: &str| folder.path().join(format!("{what}-{}", spec.replace([' ', ':', '='], "-")));
        let make = || Job {
            corpus: corpus.clone(),
            ..job(JobRecipe { verified: spec != "koala", ..recipe(spec) }, "", settings())
        };
        run(make(), &name("whole"), None).unwrap();
        let starts = run_with_stops(&make, &name("stopped"), None);
        assert!(outputs(&name("whole")) == outputs(&name("stopped")), "{spec} after {starts} starts");
    }
}

/// Families with an imprint in common, by which all hang together.
fn with_imprint(texts: Vec<String>) -> String {
    let imprint = "printed where everybody else prints their books";
    lines(&texts.into_iter().map(|text| format!("{text} {imprint}")).collect::<Vec<_>>())
}

#[test]
fn one_component_is_the_same_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    let corpus = files(&folder.path().join("in"), &with_imprint(families(150, 60)));
    let edit = JobRecipe { similarity: Similarity::Edit, ..recipe("decomposition:sim=0.6") };
    let recipes = [
        ("pairs", JobRecipe { task: Task::Pairs, verified: false, ..recipe("decomposition") }),
        ("all pairs", JobRecipe { task: Task::Pairs, all: true, ..edit.clone() }),
        ("own", JobRecipe { verified: false, ..recipe("decomposition") }),
        ("components", JobRecipe { cluster: ClusterRule::Components, ..edit.clone() }),
        ("star", edit),
    ];
    for (rule, recipe) in recipes {
        let found = [1, 2, 5].map(|threads| {
            let path = folder.path().join(format!("{rule} {threads}"));
            let settings = Settings { threads, spool: Spool::None, ..settings() };
            let job = Job { corpus: corpus.clone(), ..job(recipe.clone(), "", settings) };
            let summary = run(job, &path, None).unwrap().summary;
            assert!(summary.candidates > 5000, "{rule}: {}", summary.candidates);
            assert!(summary.removed > 50 || summary.pairs.is_some_and(|pairs| pairs > 1000), "{rule}");
            outputs(&path)
        });
        assert!(found[0] == found[1] && found[0] == found[2], "{rule}");
    }
}

#[test]
fn a_stop_is_heard_while_long_texts_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    // Texts of 40,000 characters, four words in five of which are the same: measuring all takes minutes.
    let word = |n: u32, w: u32| match (w + n) % 5 {
        0 => format!("other{}", w.wrapping_mul(2_654_435_761).wrapping_add(n * 77) % 9973),
        _ => format!("words{w}"),
    };
    let text = |n: u32| (0..4000).map(|w| word(n, w)).collect::<Vec<_>>().join(" ");
    let corpus = files(&folder.path().join("in"), &with_imprint((0..200).map(text).collect()));
    for threads in [1, 2] {
        let recipe = JobRecipe { task: Task::Pairs, verified: false, ..recipe("a11") };
        let settings = Settings { threads, spool: Spool::None, ..settings() };
        let job = Job { corpus: corpus.clone(), ..job(recipe, "", settings) };
        let path = folder.path().join(format!("job{threads}"));
        let Opened::Open(mut open) = job.open(&path).unwrap() else { panic!("finished") };
        let watch = Watch::default();
        let short = std::time::Duration::from_millis(200);
        let measuring =
            || watch.stage().is_some_and(|(stage, since)| stage.name == "verify" && since > short);
        let (result, took) = std::thread::scope(|scope| {
            let running = scope.spawn(|| open.run(&watch));
            while !running.is_finished() && !measuring() {
                std::thread::sleep(short / 20);
            }
            watch.stop.store(true, Ordering::Relaxed);
            let stopped = std::time::Instant::now();
            (running.join().unwrap(), stopped.elapsed())
        });
        assert!(matches!(result, Err(EngineError::Stopped)), "{result:?}");
        assert!(took.as_secs() < 4, "{took:?}");
    }
}

/// `(left, right, similarity, near, methods)` of a comparison.
type Matches = Vec<(u32, u32, f64, bool, u8)>;

fn compared(
    recipe: &JobRecipe,
    [left, right]: [&str; 2],
    settings: Settings,
    folder: &Path,
    bucket_bytes: Option<u64>,
) -> (Matches, BothCounts) {
    let mut job = job(recipe.clone(), right, settings);
    job.against = Some(Corpus::in_memory("left.jsonl", left.as_bytes().into(), ReadOptions::default()));
    let Opened::Open(mut open) = job.open(folder).unwrap() else { panic!("the job is finished") };
    open.bucket_bytes = bucket_bytes;
    let watch = Watch::default();
    let findings = open.run(&watch).unwrap();
    let mut found = Vec::new();
    open.matches(&watch, |one| -> Result<(), EngineError> {
        assert_eq!(
            (one.left.id, one.right.id),
            (&*format!("d{}", one.left.n), &*format!("d{}", one.right.n))
        );
        found.push((one.left.n, one.right.n, one.similarity, one.near, one.methods));
        Ok(())
    })
    .unwrap();
    assert_eq!(findings.summary.pairs, Some(found.len() as u64));
    let counts = open.both_counts(&watch).unwrap();
    open.finish(&findings.summary).unwrap();
    (found, counts)
}

/// Families on both sides, with documents that are equal across sides, within either, and both.
fn two_sides() -> [Vec<String>; 2] {
    let texts = families(240, 60);
    let mut left: Vec<String> = texts[..90].to_vec();
    let mut right: Vec<String> = texts[60..].to_vec();
    left.extend_from_within(5..12);
    right.extend_from_within(3..9);
    left.push(String::new());
    right.push(String::new());
    [left, right]
}

#[test]
fn a_comparison_finds_what_comparing_all_with_all_finds() {
    let folder = tempfile::tempdir().unwrap();
    let sides = two_sides();
    let sets = [0, 1].map(|side: usize| sides[side].iter().map(|text| shingles(text)).collect::<Vec<_>>());
    let mut expected = Vec::new();
    for (a, one) in sets[0].iter().enumerate() {
        for (b, two) in sets[1].iter().enumerate() {
            let shared = one.intersection(two).count() as f64;
            let value = shared / ((one.len() + two.len()) as f64 - shared);
            if value >= 0.8 {
                expected.push((a as u32, b as u32, value));
            }
        }
    }
    assert!(expected.len() > 200, "{}", expected.len());
    let texts = [lines(&sides[0]), lines(&sides[1])];
    let recipe = JobRecipe { task: Task::Compare, all: true, against: true, ..recipe("exact") };
    let mut all = Vec::new();
    for (name, bytes, threads) in
        [("whole", None, 2), ("many", Some(60_000), 1), ("tiny", Some(4_000), 3), ("again", None, 1)]
    {
        let settings =
            Settings { threads, spool: if threads > 2 { Spool::Auto } else { Spool::Disk }, ..settings() };
        let path = folder.path().join(name);
        let (found, counts) = compared(&recipe, [&texts[0], &texts[1]], settings, &path, bytes);
        assert_eq!((counts.left.documents, counts.right.documents), (98, 187));
        // Ids are the same numbers on both sides.
        assert_eq!((counts.common_ids, counts.left.duplicate_ids, counts.right.duplicate_ids), (98, 0, 0));
        all.push(found);
    }
    assert!(all.iter().all(|found| *found == all[0]));
    let near: Vec<_> = all[0].iter().filter(|one| one.3).collect();
    assert_eq!(near.len(), expected.len());
    for (found, expected) in near.iter().zip(&expected) {
        assert_eq!((found.0, found.1), (expected.0, expected.1));
        assert!((found.2 - expected.2).abs() < 1e-8 && found.4 == 1);
    }
    // The other way round, it is the same seen from the other side.
    let (turned, _) =
        compared(&recipe, [&texts[1], &texts[0]], settings(), &folder.path().join("turned"), None);
    let mut turned: Matches =
        turned.into_iter().map(|(a, b, value, near, by)| (b, a, value, near, by)).collect();
    turned.sort_by_key(|one| (one.0, one.1));
    assert_eq!(turned, all[0]);
}

#[test]
fn methods_side_by_side_accept_what_each_accepts_alone() {
    let folder = tempfile::tempdir().unwrap();
    let sides = two_sides();
    let texts = [lines(&sides[0]), lines(&sides[1])];
    let specs = ["simhash:n=1", "simhash:n=2", "minhash", "mod", "a12"];
    for verified in [true, false] {
        let of = |spec: &str| JobRecipe {
            task: Task::Compare,
            all: true,
            against: true,
            verified,
            ..recipe(spec)
        };
        let run = |spec: &str, name: &str| {
            let path = folder.path().join(format!("{name}{verified}"));
            compared(&of(spec), [&texts[0], &texts[1]], settings(), &path, None).0
        };
        let together = run(&specs.join(" "), "together");
        for (place, spec) in specs.iter().enumerate() {
            let alone = run(spec, spec);
            let accepted = |one: &&(u32, u32, f64, bool, u8)| one.4 >> place & 1 == 1;
            let [ours, theirs] = [
                together.iter().filter(accepted).map(|one| (one.0, one.1)).collect::<Vec<_>>(),
                alone.iter().filter(|one| one.4 == 1).map(|one| (one.0, one.1)).collect::<Vec<_>>(),
            ];
            assert!(ours.len() > 100, "{spec}: {}", ours.len());
            assert_eq!(ours, theirs, "{spec}");
        }
    }
}

/// The results of a job whose tables are changed before it is finished: all digests are right, and what they say is not.
fn tampered(lines: &str, tamper: impl Fn(&Path)) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let Opened::Open(mut open) = job(recipe("minhash"), lines, settings()).open(folder.path()).unwrap()
    else {
        panic!("the job is finished")
    };
    let findings = open.run(&Watch::default()).unwrap();
    tamper(folder.path());
    open.finish(&findings.summary).unwrap();
    crate::check::Results::check(folder.path(), &Watch::default()).unwrap().checked.wrong
}

#[test]
fn a_check_finds_removals_without_a_kept_witness_and_counts_that_do_not_add_up() {
    let lines = generated(300, 4);
    let no_mistakes: Vec<String> = Vec::new();
    assert_eq!(tampered(&lines, |_| {}), no_mistakes);
    let edit = |folder: &Path, name: &str, edit: &dyn Fn(Vec<String>) -> Vec<String>| {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = edit(text.lines().map(|line| format!("{line}\n")).collect());
        std::fs::write(&path, lines.concat()).unwrap();
    };
    let without_last = |mut lines: Vec<String>| {
        lines.pop().unwrap();
        lines
    };
    let wrong = tampered(&lines, |folder| edit(folder, "removed.jsonl", &without_last));
    assert!(wrong.iter().any(|wrong| wrong.starts_with("removed documents: ")), "{wrong:?}");
    let wrong = tampered(&lines, |folder| edit(folder, "clusters.jsonl", &without_last));
    assert!(wrong.iter().any(|wrong| wrong.starts_with("clusters: ")), "{wrong:?}");
    let wrong = tampered(&lines, |folder| {
        edit(folder, "removed.jsonl", &|lines| {
            // The first removed document stands for the second.
            let number =
                |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["n"].as_u64().unwrap();
            let (first, mut second) =
                (number(&lines[0]), serde_json::from_str::<serde_json::Value>(&lines[1]).unwrap());
            second["witness_n"] = first.into();
            [vec![lines[0].clone(), format!("{second}\n")], lines[2..].to_vec()].concat()
        });
    });
    assert!(wrong.iter().any(|wrong| wrong.contains("which is not kept")), "{wrong:?}");
}

#[test]
fn verification_counts_every_candidate_pair_once() {
    let lines = lines(&families(300, 60)) + &generated(400, 6);
    for (spool, bucket_bytes) in [(Spool::Disk, None), (Spool::Disk, Some(60_000)), (Spool::Auto, None)] {
        let folder = tempfile::tempdir().unwrap();
        let job = job(recipe("minhash"), &lines, Settings { spool, ..settings() });
        let Opened::Open(mut open) = job.open(folder.path()).unwrap() else { panic!("the job is finished") };
        open.bucket_bytes = bucket_bytes;
        let watch = Watch::default();
        let ctx = open.context(&watch).unwrap();
        crate::stages::sketch::sketch(&ctx).unwrap();
        let catalogue = crate::catalogue::Catalogue::load(&ctx).unwrap();
        crate::stages::collapse::collapse(&ctx, &catalogue).unwrap();
        let proposed = crate::stages::group::propose(&ctx, &catalogue).unwrap();
        crate::stages::verify::verify(&ctx, &catalogue).unwrap();
        let finished = watch.steps.load(Ordering::Relaxed);
        assert!(proposed.candidates > 100);
        assert_eq!(
            (finished, watch.stage().unwrap().0.total),
            (proposed.candidates, Some(proposed.candidates))
        );
    }
}

#[test]
fn a_torn_manifest_begins_anew_and_one_of_another_command_is_left_alone() {
    let lines = generated(60, 4);
    let folder = tempfile::tempdir().unwrap();
    let work = |name: &str| folder.path().join("work").join(name);
    let open = || job(recipe("minhash"), &lines, settings()).open(folder.path());
    let Opened::Open(mut first) = open().unwrap() else { panic!("the job is finished") };
    let expected = first.run(&Watch::default()).unwrap().summary;
    drop(first);
    std::fs::write(work("copies"), "").unwrap();
    let Opened::Open(again) = open().unwrap() else { panic!("the job is finished") };
    assert!(!again.lost_files());
    drop(again);
    assert!(work("verified.done").exists() && work("copies").exists());
    // Whoever wrote it knows what the scratch files are.
    let foreign = "{\"recipe\":\"\"}";
    std::fs::write(
        work("job.json"),
        format!("{foreign}\n{}\n", crate::protocol::digest_of(foreign.as_bytes())),
    )
    .unwrap();
    assert!(matches!(open(), Err(EngineError::Damaged { .. })));
    assert!(work("verified.done").exists() && work("copies").exists());
    std::fs::write(work("job.json"), "{\"rec").unwrap();
    let Opened::Open(mut anew) = open().unwrap() else { panic!("the job is finished") };
    assert!(anew.lost_files());
    assert!(!work("verified.done").exists() && !work("copies").exists());
    assert_eq!(anew.run(&Watch::default()).unwrap().summary, expected);
}

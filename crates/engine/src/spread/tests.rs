//! The parts of a job, led by the plainest engine there is, held against a job over the same documents.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lookalike_corpus::{Corpus, ReadOptions};
use lookalike_generate::Plan;
use lookalike_methods::lexicon::Entry;
use lookalike_methods::{DirectedKeyCounts, Setting, method, names};
use lookalike_model::{Document, Media, Similarity};

use super::components;
use super::groups::{self, CorpusCounts, GroupStream, Posting};
use super::learn::{self, LexiconWriter, Surveyor, WordCounter};
use super::portion::{Outcome, Portion, Proposal};
use crate::examine::{ExamineBuffers, Examined, Examiner, SharedKeys};
use crate::recipe::{ClusterRule, Combine, ReadSettings, Task};
use crate::walk::Watch;
use crate::{Job, JobRecipe, Opened, Outputs, Settings, Spool};

fn recipe(task: Task, spec: &str) -> JobRecipe {
    recipe_for(task, spec, Similarity::Jaccard)
}

fn recipe_for(task: Task, spec: &str, similarity: Similarity) -> JobRecipe {
    let setting = Setting { similarity, ..Setting::default() };
    let mut recipe = JobRecipe {
        lookalike: "0.0.0".to_owned(),
        similarity,
        methods: spec.split(' ').map(|spec| method(spec, &setting).unwrap().recipe()).collect(),
        reading: ReadSettings { max_document_bytes: 1 << 20, ..ReadSettings::default() },
        ..JobRecipe::simplest(task)
    };
    recipe.resolve_profiles().unwrap();
    recipe
}

fn settings() -> Settings {
    Settings { threads: 1, memory: 512 << 20, spool: Spool::Disk }
}

/// Documents of which some are alike, some equal, some have no word, and many share a template.
fn documents(count: u64, seed: u64) -> Vec<String> {
    let mut lines = Vec::new();
    lookalike_generate::write_jsonl(Plan { documents: count, seed }, &mut lines, &mut std::io::sink())
        .unwrap();
    let text = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        value["text"].as_str().map(str::to_owned)
    };
    let mut texts: Vec<String> = String::from_utf8(lines).unwrap().lines().filter_map(text).collect();
    let template: Vec<String> = (0..80).map(|n| format!("template{n}")).collect();
    texts.extend((0..40).map(|n| format!("{} only number {}.", template.join(" "), n / 2)));
    texts.extend(["", " ... ", ""].map(str::to_owned));
    texts.extend_from_within(3..30);
    texts
}

fn corpus(documents: &[(String, &str)]) -> Corpus {
    let line = |(id, text): &(String, &str)| serde_json::json!({ "id": id, "text": text }).to_string() + "\n";
    let lines: String = documents.iter().map(line).collect();
    Corpus::in_memory("docs.jsonl", lines.into_bytes().into(), ReadOptions::default())
}

fn numbered(texts: &[String]) -> Vec<(String, &str)> {
    texts.iter().enumerate().map(|(n, text)| (n.to_string(), text.as_str())).collect()
}

/// Returns the result of a job over all documents on one machine.
fn on_one_machine(
    recipe: &JobRecipe,
    left: Option<&[String]>,
    texts: &[String],
    folder: &Path,
) -> Vec<String> {
    let job = Job {
        recipe: recipe.clone(),
        corpus: corpus(&numbered(texts)),
        against: left.map(|left| corpus(&numbered(left))),
        lexicon: None,
        settings: settings(),
        outputs: Outputs::default(),
    };
    let Opened::Open(mut open) = job.open(folder).unwrap() else { panic!("the job is finished") };
    let findings = open.run(&Watch::default()).unwrap();
    let mut rows = vec![format!("verified {}", findings.summary.verified)];
    match recipe.task {
        Task::Dedup => rows.extend(lines(&folder.join("removed.jsonl"))),
        Task::Pairs => rows.extend(lines(&folder.join("pairs.jsonl"))),
        Task::Compare => open
            .matches(&Watch::default(), |found| {
                rows.push(format!(
                    "{} {} {:.9} {}",
                    found.left.n, found.right.n, found.similarity, found.methods
                ));
                Ok::<_, crate::EngineError>(())
            })
            .unwrap(),
    }
    rows
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// Lets the methods learn from documents in three places.
fn teach(recipe: &JobRecipe, documents: &[Document<'_>], folder: &Path) {
    let places: Vec<&[Document<'_>]> = documents.chunks(documents.len() / 3 + 1).collect();
    for number in learn::lexicons(recipe).unwrap() {
        let mut sums: BTreeMap<u64, Entry> = BTreeMap::new();
        let (mut count, mut words) = (0, 0);
        for place in &places {
            let mut counter = WordCounter::new(recipe, number).unwrap();
            place.iter().for_each(|document| counter.see(document));
            let counted =
                counter.drain(|entry| learn::add_up(sums.entry(entry.hash).or_default(), entry)).unwrap();
            count += counted.documents;
            words += counted.occurrences;
        }
        let mut writer = LexiconWriter::create(folder, recipe, number).unwrap();
        sums.values().for_each(|entry| writer.push(entry).unwrap());
        writer.finish(count, words).unwrap();
    }
    for _ in 0..learn::passes(recipe).unwrap() {
        let seen = places.iter().map(|place| {
            let mut surveyor = Surveyor::open(recipe, folder).unwrap();
            place.iter().for_each(|document| surveyor.see(document));
            Ok(surveyor.saved())
        });
        learn::gather(recipe, folder, seen).unwrap();
    }
}

/// A sketched document, with its leader and its sides.
struct SketchedDocument {
    sketch: Examined,
    /// The first document with the same words.
    leader: u32,
    sides: [bool; 2],
}

fn sketches(examiner: &Examiner, documents: &[Document<'_>], left: u32) -> Vec<SketchedDocument> {
    let mut buffers = ExamineBuffers::new(examiner);
    let mut leaders: BTreeMap<u128, u32> = BTreeMap::new();
    let mut all: Vec<SketchedDocument> = Vec::new();
    for (n, document) in (0..).zip(documents) {
        let mut sketch = Examined::default();
        buffers.sketch(examiner, document, &mut sketch).unwrap();
        let leader = if sketch.words == 0 { n } else { *leaders.entry(sketch.digest).or_insert(n) };
        all.push(SketchedDocument { sketch, leader, sides: [n < left, n >= left] });
        if leader != n {
            all[leader as usize].sides[usize::from(n >= left)] = true;
        }
    }
    all
}

/// Candidates of all methods, from postings that are brought together by key.
fn propose(
    examiner: &Arc<Examiner>,
    sketched: &[SketchedDocument],
    left: u32,
) -> BTreeMap<(u32, u32), SharedKeys> {
    let mut postings = Vec::new();
    for (document, sketched) in (0..).zip(sketched).filter(|(n, sketched)| sketched.leader == *n) {
        for (method, keys) in sketched.sketch.keys.iter().enumerate() {
            let (length, mark) = groups::facts(examiner, method, &sketched.sketch.record);
            postings.extend(keys.iter().map(|key| Posting {
                method,
                key: key.value as i64,
                document,
                tag: key.tag,
                length,
                mark,
                sides: sketched.sides,
            }));
        }
    }
    postings.sort_by_key(|posting| (posting.method, posting.key, posting.document));
    let leaders = (0..).zip(sketched).filter(|(n, sketched)| sketched.leader == *n).count();
    let mut stream =
        GroupStream::new(examiner.clone(), CorpusCounts { different: leaders as u64, references: left });
    for posting in postings {
        stream.take(posting, Some(&sketched[posting.document as usize].sketch.record)).unwrap();
    }
    stream.finish().unwrap();
    let mut counts: BTreeMap<(u32, u32, usize), DirectedKeyCounts> = BTreeMap::new();
    for pair in stream.pairs() {
        let asked = counts.entry((pair.a, pair.b, pair.method)).or_default();
        *(if pair.back { &mut asked.backward } else { &mut asked.forward }) += 1;
    }
    let mut candidates: BTreeMap<(u32, u32), SharedKeys> = BTreeMap::new();
    for ((a, b, method), asked) in counts {
        if let Some(shared) = examiner.shared(method, asked) {
            candidates.entry((a, b)).or_default()[method] = shared;
        }
    }
    candidates.retain(|_, shared| examiner.proposed(shared));
    candidates
}

/// Returns the result of many machines, each with its share of the components.
fn spread(recipe: &JobRecipe, left: Option<&[String]>, texts: &[String], folder: &Path) -> Vec<String> {
    let all: Vec<&String> = left.unwrap_or_default().iter().chain(texts).collect();
    let left = left.map_or(0, <[String]>::len) as u32;
    let ids: Vec<String> = (0..all.len()).map(|n| n.to_string()).collect();
    let documents: Vec<Document<'_>> =
        ids.iter().zip(&all).map(|(id, text)| Document::from_text(id, None, Media::Text, text)).collect();
    teach(recipe, &documents, folder);
    let examiner = Arc::new(Examiner::open(recipe.clone(), folder).unwrap());
    let sketched = sketches(&examiner, &documents, left);
    let mut candidates = propose(&examiner, &sketched, left);
    candidates.retain(|&(a, b), shared| {
        let records = [a, b].map(|n| &sketched[n as usize].sketch.record[..]);
        examiner.possible(records, shared)
    });
    let mut ties: Vec<(u32, u32)> = candidates.keys().copied().collect();
    ties.extend(
        (0..)
            .zip(&sketched)
            .filter(|(n, sketched)| sketched.leader != *n)
            .map(|(n, sketched)| (sketched.leader, n)),
    );
    let labels = components::label(&components::contract(&ties));
    let mut rows = Vec::new();
    let (mut verified, machines) = (0, 3);
    for machine in 0..machines {
        let mine: Vec<u32> =
            labels.iter().filter(|(_, component)| component % machines == machine).map(|(n, _)| *n).collect();
        let place = |n: u32| mine.binary_search(&n).unwrap() as u32;
        let proposals = candidates.iter().filter(|((a, _), _)| mine.binary_search(a).is_ok());
        let proposals =
            proposals.map(|(&(a, b), &shared)| Proposal { a: place(a), b: place(b), shared }).collect();
        let (ours, theirs) = mine.split_at(mine.partition_point(|&n| n < left));
        let some = |some: &[u32]| -> Corpus {
            let text = |&n: &u32| (n.to_string(), all[sketched[n as usize].leader as usize].as_str());
            corpus(&some.iter().map(text).collect::<Vec<_>>())
        };
        let against = (left > 0).then(|| some(ours));
        let portion =
            Portion { recipe, learned: folder, against, corpus: some(theirs), proposals, numbers: true };
        let scratch = tempfile::tempdir().unwrap();
        let outcome = portion.decide(&settings(), scratch.path(), &Watch::default()).unwrap();
        verified += outcome.verified;
        rows.extend(as_rows(&outcome, recipe.task, theirs, left));
    }
    rows.sort();
    let mut out = vec![format!("verified {verified}")];
    out.extend(rows.into_iter().map(|(_, row)| row));
    out
}

/// Rows as a job writes them, each with what they are sorted by.
fn as_rows(outcome: &Outcome, task: Task, mine: &[u32], left: u32) -> Vec<((u32, u32), String)> {
    let number = |id: &str| id.parse::<u32>().unwrap();
    let similar = |similarity: Option<f64>| serde_json::to_string(&similarity).unwrap();
    if task == Task::Dedup {
        let row = |removed: &super::portion::Removed| {
            let (n, witness) = (mine[removed.n as usize], mine[removed.witness_n as usize]);
            let via = removed.via.as_ref().map_or(String::new(), |via| format!(",\"via\":\"{via}\""));
            let similarity = similar(removed.similarity);
            let row = format!(
                "{{\"id\":\"{n}\",\"witness\":\"{witness}\",\"similarity\":{similarity},\"cluster\":{witness},\"n\":{n},\"witness_n\":{witness}{via}}}"
            );
            ((n, 0), row)
        };
        return outcome.removed.iter().map(row).collect();
    }
    let row = |pair: &super::portion::NearPair| {
        let (a, b) = (number(&pair.a), number(&pair.b) - left);
        let row = match task {
            Task::Compare => format!("{a} {b} {:.9} {}", pair.similarity.unwrap(), pair.methods),
            _ => {
                let reverse = pair
                    .reverse
                    .map_or(String::new(), |reverse| format!(",\"reverse\":{}", similar(Some(reverse))));
                format!(
                    "{{\"a\":\"{a}\",\"b\":\"{b}\",\"similarity\":{}{reverse}}}",
                    similar(pair.similarity)
                )
            }
        };
        ((a, b), row)
    };
    outcome.pairs.iter().map(row).collect()
}

#[track_caller]
fn check(recipe: &JobRecipe, left: Option<&[String]>, texts: &[String]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let learned = folder.path().join("knowledge");
    std::fs::create_dir(&learned).unwrap();
    let expected = on_one_machine(recipe, left, texts, &folder.path().join("job"));
    let found = spread(recipe, left, texts, &learned);
    // What `exact` learns is for speed alone, and is learned of other documents: it may propose more pairs.
    let skip = usize::from(recipe.methods.iter().any(|method| method.name == "exact"));
    for (found, expected) in found.iter().zip(&expected).skip(skip) {
        assert_eq!(found, expected, "{:?}", recipe.methods);
    }
    assert_eq!(found.len(), expected.len(), "{:?}", recipe.methods);
    expected.len() - 1
}

#[test]
fn every_method_removes_the_same_documents() {
    let texts = documents(160, 5);
    for name in names() {
        let found = check(&recipe(Task::Dedup, name), None, &texts);
        assert!(found > 20, "{name}: {found}");
    }
}

#[test]
fn groups_that_are_too_large_propose_the_same_pairs() {
    let texts = documents(120, 7);
    for spec in ["minhash", "simhash", "exact", "supershingles", "dsc", "a11", "koala"] {
        for max_group in [4, 12] {
            check(&JobRecipe { max_group, ..recipe(Task::Dedup, spec) }, None, &texts);
        }
    }
}

#[test]
fn every_rule_of_a_recipe_holds_elsewhere() {
    let texts = documents(160, 6);
    let first = recipe(Task::Dedup, "minhash");
    let two = "minhash simhash:n=3+5";
    for recipe in [
        JobRecipe { keep: "longest".to_owned(), ..first.clone() },
        JobRecipe { cluster: ClusterRule::Components, ..first.clone() },
        JobRecipe { verified: false, ..first.clone() },
        JobRecipe { verified: false, ..recipe(Task::Dedup, "decomposition:test=words") },
        JobRecipe { verified: false, ..recipe(Task::Dedup, "a12") },
        recipe_for(Task::Dedup, "exact", Similarity::Containment),
        recipe(Task::Dedup, two),
        JobRecipe { combine: Combine::All, ..recipe(Task::Dedup, two) },
        JobRecipe { max_group: 20_000, ..recipe(Task::Pairs, "minhash") },
        JobRecipe { max_group: 20_000, ..recipe(Task::Pairs, "simhash:search=probabilistic,probes=20") },
        JobRecipe { max_group: 20_000, ..recipe_for(Task::Pairs, "exact", Similarity::Containment) },
    ] {
        assert!(check(&recipe, None, &texts) > 10, "{recipe:?}");
    }
}

#[test]
fn two_corpora_have_the_same_pairs() {
    let (left, mut right) = (documents(90, 8), documents(90, 9));
    right.extend_from_slice(&left[20..60]);
    for spec in ["minhash", "imatch", "a12", "minhash simhash:n=3+5", "mod"] {
        let recipe = JobRecipe { max_group: 20_000, against: true, ..recipe(Task::Compare, spec) };
        assert!(check(&recipe, Some(&left), &right) > 40, "{spec}");
    }
}

#[test]
fn postings_out_of_order_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let examiner = Arc::new(Examiner::open(recipe(Task::Dedup, "minhash"), folder.path()).unwrap());
    let mut stream = GroupStream::new(examiner, CorpusCounts { different: 3, references: 0 });
    let posting =
        |key, document| Posting { method: 0, key, document, tag: 0, length: 9, mark: 0, sides: [false; 2] };
    stream.take(posting(-5, 7), None).unwrap();
    stream.take(posting(2, 3), None).unwrap();
    for (key, document) in [(1, 9), (2, 2), (i64::MIN, 9)] {
        let error = stream.take(posting(key, document), None).unwrap_err().to_string();
        assert!(error.starts_with("postings are out of order: document"), "{error}");
    }
    assert!(stream.take(Posting { method: 1, ..posting(2, 3) }, None).is_err());
}

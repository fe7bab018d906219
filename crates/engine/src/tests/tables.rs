//! Jobs on tables in memory, held against the same jobs on JSON lines.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lookalike_corpus::{Corpus, ReadOptions, Table, TableRow};
use serde_json::Value;

use crate::recipe::Task;
use crate::tests::{generated, outputs, recipe, run, settings, without_digests, without_places};
use crate::{EngineError, Job, JobRecipe, Outputs, Settings, Shards, Spool};

/// Lines as rows.
struct Columns(Vec<BTreeMap<String, String>>);

impl Table for Columns {
    fn rows(&self) -> usize {
        self.0.len()
    }

    fn row(&self, row: usize) -> TableRow<'_> {
        let cell = |name: &str| self.0[row].get(name).map(String::as_str);
        TableRow {
            id: cell("id"),
            text: cell("text"),
            html: cell("html"),
            url: cell("url"),
            ..TableRow::default()
        }
    }

    fn columns(&self) -> Vec<String> {
        vec!["score".to_owned()]
    }

    fn value(&self, row: usize, _: usize, out: &mut String) -> bool {
        let value = self.0[row].get("score");
        out.push_str(value.map_or("", String::as_str));
        value.is_some()
    }
}

/// Generated pages of all sorts: some are HTML, some have no id, some nothing at all, one is very long.
fn pages(documents: u64, seed: u64) -> Vec<BTreeMap<String, String>> {
    let long = "a rose is a rose and no other flower ".repeat(if seed == 3 { 60_000 } else { 10 });
    let lines = generated(documents, seed);
    let page = |(n, line): (usize, &str)| {
        let value: Value = serde_json::from_str(line).unwrap();
        let mut page = BTreeMap::new();
        let id = value["id"].as_str().unwrap().to_owned();
        let text = value["text"].as_str().unwrap_or_default().to_owned();
        page.insert("score".to_owned(), (n % 17).to_string());
        if n % 5 != 0 {
            page.insert("id".to_owned(), id);
        }
        match n % 11 {
            3 => page.insert("html".to_owned(), format!("<p>{text}</p>")),
            7 if n > 150 => None,
            8 if n == 8 => page.insert("text".to_owned(), long.clone()),
            _ => page.insert("text".to_owned(), text),
        };
        page
    };
    lines.lines().enumerate().map(page).collect()
}

fn as_lines(pages: &[BTreeMap<String, String>], options: ReadOptions) -> Corpus {
    let lines: String =
        pages.iter().map(|page| format!("{}\n", serde_json::to_string(page).unwrap())).collect();
    Corpus::in_memory("docs", lines.as_bytes().into(), options)
}

fn as_table(pages: &[BTreeMap<String, String>], options: ReadOptions) -> Corpus {
    Corpus::tables(vec![("docs".to_owned(), Arc::new(Columns(pages.to_vec())))], options)
}

/// All outputs; of rejected records those parts that lines and rows share.
fn comparable_outputs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = outputs(folder);
    if let Some(rejected) = all.get_mut("rejected.jsonl") {
        let text = String::from_utf8(rejected.clone()).unwrap();
        let reason = |line: &str| serde_json::from_str::<Value>(line).unwrap()["reason"].to_string();
        *rejected = text.lines().map(reason).collect::<Vec<_>>().join("\n").into_bytes();
    }
    without_digests(&mut all);
    without_places(&mut all);
    all
}

fn job(recipe: JobRecipe, corpus: Corpus, against: Option<Corpus>, settings: Settings) -> Job {
    Job { recipe, corpus, against, lexicon: None, settings, outputs: Outputs::default() }
}

#[test]
fn a_table_gives_the_results_of_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let (pages, others) = (pages(600, 3), pages(200, 4));
    let limit = ReadOptions { max_document_bytes: 8 << 20, ..ReadOptions::default() };
    let by_score = ReadOptions { extras: vec!["score".to_owned()], ..limit.clone() };
    let recipe = |spec: &str| {
        let mut recipe = recipe(spec);
        recipe.reading.max_document_bytes = 8 << 20;
        recipe
    };
    let cases = [
        (recipe("minhash"), limit.clone(), false),
        (recipe("exact"), limit.clone(), true),
        (recipe("simhash a12"), limit.clone(), false),
        (recipe("a11"), limit.clone(), false),
        (recipe("imatch"), limit.clone(), true),
        (JobRecipe { task: Task::Pairs, ..recipe("minhash") }, limit, false),
        (JobRecipe { keep: "field:score".to_owned(), ..recipe("minhash") }, by_score, false),
    ];
    for (number, (recipe, options, against)) in cases.into_iter().enumerate() {
        let against = |as_corpus: fn(&[BTreeMap<String, String>], ReadOptions) -> Corpus| {
            against.then(|| as_corpus(&others, options.clone()))
        };
        let whole = folder.path().join(format!("{number}"));
        let lines = as_lines(&pages, options.clone());
        let summary = run(job(recipe.clone(), lines, against(as_lines), settings()), &whole, None).unwrap();
        assert!(summary.summary.rejected > 10, "{:?}", summary.summary);
        let expected = comparable_outputs(&whole);
        for (threads, spool, bucket) in [
            (1, Spool::Auto, None),
            (2, Spool::Auto, Some(20_000)),
            (5, Spool::None, None),
            (3, Spool::Disk, None),
        ] {
            let settings = Settings { threads, spool, ..settings() };
            let place = folder.path().join(format!("{number} {threads}"));
            let table = as_table(&pages, options.clone());
            run(job(recipe.clone(), table, against(as_table), settings), &place, bucket).unwrap();
            assert!(comparable_outputs(&place) == expected, "case {number}, {threads} threads, {spool:?}");
        }
    }
}

#[test]
fn a_table_beside_lines_is_read_like_them() {
    let folder = tempfile::tempdir().unwrap();
    let (pages, others) = (pages(300, 5), pages(200, 5));
    let run = |name: &str, corpus: Corpus, against: Corpus, spool: Spool| {
        let place = folder.path().join(name);
        run(job(recipe("minhash"), corpus, Some(against), Settings { spool, ..settings() }), &place, None)
            .unwrap();
        comparable_outputs(&place)
    };
    let options = ReadOptions::default;
    let expected = run("lines", as_lines(&pages, options()), as_lines(&others, options()), Spool::Disk);
    let mixed = |name: &str, spool| {
        let against = as_lines(&others, options());
        run(name, as_table(&pages, options()), against, spool)
    };
    assert!(mixed("auto", Spool::Auto) == expected);
    assert!(mixed("none", Spool::None) == expected);
}

#[test]
fn what_a_table_holds_is_not_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = as_table(&pages(300, 5), ReadOptions::default());
    let settings = Settings { spool: Spool::Auto, ..settings() };
    let place = folder.path().join("job");
    let opened = job(recipe("minhash"), corpus, None, settings).open(&place).unwrap();
    let crate::Opened::Open(mut open) = opened else { panic!("the job is finished") };
    open.run(&crate::walk::Watch::default()).unwrap();
    let names = std::fs::read_dir(place.join("work")).unwrap().map(|entry| entry.unwrap().file_name());
    let spooled = names.filter(|name| name.to_string_lossy().ends_with(".spool"));
    assert_eq!(spooled.count(), 0);
}

#[test]
fn kept_rows_are_written_as_lines_and_cannot_be_annotated() {
    let folder = tempfile::tempdir().unwrap();
    let job = |annotate| {
        let table = as_table(&pages(50, 5), ReadOptions::default());
        let outputs = Outputs { write: Shards::Kept, annotate, ..Outputs::default() };
        Job { outputs, ..job(recipe("minhash"), table, None, settings()) }
    };
    run(job(false), &folder.path().join("plain"), None).unwrap();
    assert!(folder.path().join("plain/kept/kept.jsonl.zst").exists());
    let said = run(job(true), &folder.path().join("annotated"), None).unwrap_err().to_string();
    assert!(said.starts_with("--annotate cannot write into table of docs"), "{said}");
}

#[test]
fn a_job_on_a_table_wants_a_new_folder() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("job");
    let table = || as_table(&pages(50, 5), ReadOptions::default());
    run(job(recipe("minhash"), table(), None, settings()), &place, None).unwrap();
    let again = job(recipe("minhash"), table(), None, settings()).open(&place).map(|_| ());
    let Err(EngineError::Request(said)) = again else { panic!("it was not refused") };
    assert!(said.ends_with("name a new folder"), "{said}");
}

//! Judgments and runs: counted, and without near-duplicates.

use std::fs;
use std::path::{Path, PathBuf};

use super::job_support::{dedup, pairs as pairs_of};
use super::real::shared;
use super::support::{Folder, Invocation, corpus, gzip, json_lines, lookalike, zstd};

/// `lookalike judgments …` with words as in a shell.
fn judgments(words: &str) -> Invocation {
    lookalike(std::iter::once("judgments").chain(words.split_whitespace()))
}

/// `lookalike runs dedup …` with words as in a shell.
fn runs(words: &str) -> Invocation {
    lookalike(["runs", "dedup"].into_iter().chain(words.split_whitespace()))
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).expect("the file is there")
}

const QRELS: &str = "1 0 a 2\n1  0\tb   1\n1 0 c -2\n2 0 b 0\n2 0 d 4\n";
const GROUPS: &str = "{\"hash\":1,\"ids\":[\"a\",\"b\"]}\n{\"hash\":2,\"ids\":[\"x\",\"d\"]}\n";

#[test]
fn one_document_of_each_group_stays_for_a_topic() {
    let folder = Folder::new();
    folder.file("qrels.test.txt", QRELS);
    folder.file("groups.jsonl", GROUPS);
    let run = judgments(
        "dedup qrels.test.txt --groups groups.jsonl -o out.txt --removed gone.jsonl --conflicts c.jsonl",
    );
    let done = run.inside(folder.path()).run().exits(0);
    assert_eq!(text(folder.join("out.txt")), "1 0 a 2\n1 0 c -2\n2 0 b 0\n2 0 d 4\n");
    assert_eq!(done.stderr, "groups.jsonl: 2 of 4 documents are in 1 groups\n");
    let row: Vec<&str> = done.stdout.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row, ["qrels.test", "5", "4", "1", "1", "2", "1", "1"]);
    let gone = json_lines(&folder.join("gone.jsonl"));
    let expected = serde_json::json!({
        "file": "qrels.test.txt", "line": 2, "topic": "1", "document": "b", "kept": "a", "grade": "1", "kept_grade": "2"
    });
    assert_eq!(gone, [expected]);
    assert_eq!(json_lines(&folder.join("c.jsonl")), gone);
}

#[test]
fn the_others_can_be_marked_and_the_lowest_name_can_stay() {
    let folder = Folder::new();
    folder.file("q", "1 0 b 1\n1 0 a 2\n");
    folder.file("g", GROUPS);
    let run = |more: &str| {
        judgments(&format!("dedup q --groups g -o out {more}")).inside(folder.path()).run().exits(0)
    };
    run("--others mark");
    assert_eq!(text(folder.join("out")), "1 0 b 1\n1 0 a 0\n");
    run("--keep lowest-name");
    assert_eq!(text(folder.join("out")), "1 0 a 2\n");
}

#[test]
fn several_files_of_any_layout_and_compression_go_to_a_folder() {
    let folder = Folder::new();
    folder.file("prels.txt.gz", gzip(b"1 b 1 1 0.5\n1 a 2 1 0.25\n"));
    folder.file("subtopics.txt.zst", zstd(b"1 0 b 1\n1 1 b 1\n1 1 a 2\n"));
    folder.file("entity.txt", "1-HP a 1 0\r\n1-HP b 1 0\r\n1-NAME a 2 1\r\n");
    folder.file("g.jsonl.gz", gzip(GROUPS.as_bytes()));
    let run = judgments("dedup prels.txt.gz subtopics.txt.zst entity.txt --groups g.jsonl.gz -o out");
    let done = run.inside(folder.path()).run().exits(0);
    assert_eq!(done.stdout.lines().count(), 5);
    assert!(done.stdout.lines().last().unwrap().starts_with("all "));
    assert_eq!(text(folder.join("out/entity.txt")), "1-HP a 1 0\n1-NAME a 2 1\n");
    let back =
        judgments("stats --json out/prels.txt.gz out/subtopics.txt.zst").inside(folder.path()).run().exits(0);
    let back: serde_json::Value = serde_json::from_str(&back.stdout).unwrap();
    let facts = |file: usize| (back["files"][file]["layout"].as_str(), back["files"][file]["lines"].as_u64());
    assert_eq!([facts(0), facts(1)], [(Some("prels"), Some(1)), (Some("subtopics"), Some(2))]);
}

#[test]
fn what_is_counted_is_shown() {
    let folder = Folder::new();
    folder.file("qrels.web.txt", format!("# judgments\n\n{QRELS}1 0 a 2\n"));
    folder.file("pairs.txt", "7 0 a 0.-1\n7 0 b 2.1\n");
    let done = judgments("stats qrels.web.txt pairs.txt").inside(folder.path()).run().exits(0);
    insta::assert_snapshot!("judgments-stats", done.stdout);
    let done = judgments("stats --json qrels.web.txt").inside(folder.path()).run().exits(0);
    insta::assert_snapshot!("judgments-stats-json", done.stdout);
}

#[test]
fn a_wrong_line_is_told_with_its_file_its_number_and_the_reason() {
    let folder = Folder::new();
    folder.file("columns.txt", "1 0 a 1\n1 0 b\n");
    folder.file("grade.txt.gz", gzip(b"1 0 a 1\n\n1 0 b good\n"));
    folder.file("other.txt", "some words\n");
    folder.file("ours.run", "1 Q0 a 1 9.5 ours\n");
    folder.file("bytes.txt", b"1 0 a 1\n1 0 \xff 1\n");
    folder.file("cut.gz", &gzip(QRELS.repeat(5000).as_bytes())[..200]);
    let told = |file: &str, sentence: &str| {
        let done = judgments("stats").arg(file).inside(folder.path()).run().exits(1);
        assert!(done.stderr.starts_with(&format!("lookalike: {sentence}")), "{}", done.stderr);
        assert_eq!((done.stderr.lines().count(), done.stdout.as_str()), (1, ""));
    };
    told(
        "columns.txt",
        "columns.txt, line 2: it has 3 columns, and qrels has 4: topic 0 document grade; correct it",
    );
    told("grade.txt.gz", "grade.txt.gz, line 3: its grade \"good\" is neither a whole number nor a pair");
    told("other.txt", "other.txt, line 1: it is in no layout of judgments");
    told("ours.run", "ours.run, line 1: it is a line of a run");
    told("bytes.txt", "bytes.txt, line 2: it is not UTF-8");
    told("cut.gz", "cut.gz, line ");
    told("none.txt", "cannot read none.txt: it is not there");
    folder.file("g", GROUPS);
    let run = runs("columns.txt --groups g -o out").inside(folder.path()).run();
    run.fails(1, "columns.txt, line 1: it has 4 columns, and a run has 6: topic Q0 document rank score tag; correct it");
    let run =
        judgments("dedup columns.txt --layout prels --groups g -o out").inside(folder.path()).run().exits(1);
    assert!(run.stderr.contains("columns.txt, line 1: it has 4 columns, and prels has 5"), "{}", run.stderr);
    let run = judgments("dedup ours.run --groups columns.txt -o out").inside(folder.path()).run().exits(1);
    assert!(run.stderr.contains("ours.run, line 1"), "{}", run.stderr);
    assert!(!folder.join("out").exists());
}

#[test]
fn groups_must_be_groups() {
    let folder = Folder::new();
    folder.file("q", QRELS);
    folder.file("empty/none", "");
    let run =
        |groups: &str| judgments(&format!("dedup q --groups {groups} -o out")).inside(folder.path()).run();
    run("empty").fails(
        1,
        "empty has no clusters.jsonl: it is no folder of a finished dedup; name one, or a file of groups",
    );
    run("q").fails(
        1,
        "q, line 1: it is no group of documents; name a file whose lines are JSON with members, ids, or a and b",
    );
    run("none").fails(1, "cannot read none: it is not there");
    assert!(judgments("dedup q -o out").inside(folder.path()).run().exits(2).stderr.contains("--groups"));
}

#[test]
fn outputs_do_not_fall_on_inputs() {
    let folder = Folder::new();
    folder.file("in/q", QRELS);
    folder.file("in/r", QRELS);
    folder.file("other/q", QRELS);
    folder.file("g", GROUPS);
    let run = |words: &str| judgments(&format!("dedup {words} --groups g")).inside(folder.path()).run();
    run("in/q -o in/q").fails(2, "in/q is one of the inputs; write to another place");
    run("in/q in/r -o in").fails(2, "in/q is one of the inputs; write to another place");
    run("in/q -o x --removed x").fails(2, "x is to hold two outputs; name two files");
    run("in/q other/q -o out").fails(2, "out/q is to hold two outputs; name two files");
    run("- in/q -o out").fails(2, "standard input has no name; give it alone, with a file for -o");
    assert_eq!(text(folder.join("in/q")), QRELS);
    let piped =
        judgments("dedup - --groups g -o out").inside(folder.path()).run_with(QRELS.as_bytes()).exits(0);
    assert!(piped.stdout.contains("stdin"), "{}", piped.stdout);
}

#[test]
fn runs_keep_what_ranks_first_and_are_numbered_anew() {
    let folder = Folder::new();
    folder.file("ours.run", "7 Q0 c 3 7.5 t\n7 Q0 b 1 9.5 t\n7  Q0  a  2  8.5  t\n8 Q0 a 1 1 t\n");
    folder.file("g", GROUPS);
    let done = runs("ours.run --groups g -o out --removed gone.jsonl").inside(folder.path()).run().exits(0);
    assert_eq!(text(folder.join("out")), "7 Q0 c 2 7.5 t\n7 Q0 b 1 9.5 t\n8 Q0 a 1 1 t\n");
    assert!(!done.stdout.contains("conflicts"), "{}", done.stdout);
    let gone = &json_lines(&folder.join("gone.jsonl"))[0];
    assert_eq!((&gone["document"], &gone["kept"], &gone["line"]), (&"a".into(), &"b".into(), &3.into()));
}

/// Two crawls, and judgments of old pages.
fn crawls(folder: &Folder) -> PathBuf {
    let crawls = folder.join("crawls");
    corpus("generate --crawls --documents 600 --old 520 --judged 400 --progress none")
        .option("-o", &crawls)
        .run()
        .exits(0);
    crawls
}

/// Pairs of judged twins: documents 24 and 25, 50 and 51, and so on.
fn twins() -> Vec<(String, String)> {
    let pair = |round: u32| (format!("old-{:08}", round * 26 + 24), format!("old-{:08}", round * 26 + 25));
    (0..15).map(pair).collect()
}

#[test]
fn near_duplicates_are_found_among_judged_documents_alone() {
    let folder = Folder::new();
    let crawls = crawls(&folder);
    let out = folder.join("out.txt");
    let run = || {
        judgments("dedup --threads 2")
            .option("-o", &out)
            .option("--removed", folder.join("gone.jsonl"))
            .path(crawls.join("qrels.txt"))
            .option("--from", crawls.join("old.jsonl"))
    };
    let done = run().run().exits(0);
    assert!(done.stderr.starts_with("400 of 400 documents are in the corpus\n"), "{}", done.stderr);
    let gone = json_lines(&folder.join("gone.jsonl"));
    let mut found: Vec<(String, String)> = gone
        .iter()
        .map(|gone| ["kept", "document"].map(|field| gone[field].as_str().unwrap().to_owned()).into())
        .collect();
    found.sort();
    found.dedup();
    assert_eq!(found, twins());
    // The same groups from the folder of the job, and from a job on the whole of the old crawl.
    let first = text(&out);
    let job = folder.join("whole");
    dedup("--shingle 1 --threshold 0.9").path(crawls.join("old.jsonl")).option("-o", &job).run().exits(0);
    for groups in [folder.join("out.txt.job/dedup"), job.clone(), job.join("clusters.jsonl")] {
        let other = folder.join("other.txt");
        let run = judgments("dedup").path(crawls.join("qrels.txt")).option("--groups", &groups);
        run.option("-o", &other).run().exits(0);
        assert_eq!(text(&other), first);
    }
    // What was done is not done again, and what is another job is refused.
    assert_eq!(run().run().exits(0).stdout, done.stdout);
    let refused = run().path(crawls.join("new-00.jsonl")).run().exits(1);
    assert!(refused.stderr.contains("remove it, or write to another place"), "{}", refused.stderr);
    let refused = run().arg("--threshold").arg("0.8").run().exits(1);
    assert!(refused.stderr.contains("threshold"), "{}", refused.stderr);
}

#[test]
fn groups_may_be_pairs_and_large_groups_beside_them() {
    let folder = Folder::new();
    folder.file("q", "1 0 a 1\n1 0 b 1\n1 0 c 1\n1 0 d 1\n1 0 e 1\n");
    let text_of = |id: &str| format!("{{\"id\":\"{id}\",\"text\":\"the same five words here\"}}\n");
    let other = "{\"id\":\"d\",\"text\":\"nothing of this is like that\"}\n{\"id\":\"e\",\"text\":\"Nothing, of this, is like that\"}\n";
    folder.file("c.jsonl", ["a", "b", "c"].map(text_of).concat() + other);
    let pairs = folder.join("p.jsonl");
    pairs_of("--max-group 2").path(folder.join("c.jsonl")).option("-o", &pairs).run().exits(0);
    assert_eq!(json_lines(&pairs).len(), 1);
    judgments("dedup q --groups p.jsonl -o out").inside(folder.path()).run().exits(0);
    assert_eq!(text(folder.join("out")), "1 0 a 1\n1 0 d 1\n");
}

#[test]
fn judged_documents_that_are_not_there_are_told() {
    let folder = Folder::new();
    folder.file("q", "1 0 a 1\n1 0 b 1\n1 0 zz 0\n");
    folder.file("c.jsonl", "{\"id\":\"a\",\"text\":\"one two three\"}\n{\"id\":\"b\",\"text\":\"three, two ONE\"}\n{\"id\":\"a\",\"text\":\"x\"}\n{}\n");
    let run = |more: &str| {
        let words = format!("dedup q -o out {more} --from c.jsonl");
        judgments(&words).inside(folder.path()).run()
    };
    let done = run("--method exact").exits(0);
    assert_eq!(
        done.stderr.lines().take(4).collect::<Vec<_>>(),
        [
            "2 of 3 documents are in the corpus",
            "1 are not, the first of them zz: they are taken for different from all",
            "1 documents more bear the same ids; the first of each was taken",
            "rejected: 1 records, the first of them c.jsonl, byte 91: missing field: neither \"text\" nor \"html\" is there",
        ]
    );
    assert_eq!(text(folder.join("out")), "1 0 a 1\n1 0 zz 0\n");
    run("--method exact --strict").exits(3);
    run("--within group").fails(
        2,
        "--within group cannot be used here, where documents are copied without their fields; --within @host can",
    );
}

#[test]
fn published_judgments_are_deduplicated_by_published_groups() {
    let Some(qrels) = shared("qrels/qrels.web.151-200.txt.zst") else { return };
    let Some(groups) = shared("qrels/groups/trec-fingerprint-groups-clueweb09-judged.jsonl.zst") else {
        return;
    };
    let folder = Folder::new();
    let run = judgments("dedup --keep lowest-name").path(&qrels).option("--groups", &groups);
    let done = run.option("-o", folder.join("out.txt")).run().exits(0);
    let row: Vec<&str> = done.stdout.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[..4], ["qrels.web.151-200", "16,055", "13,464", "2,591"]);
    // Blanks are where they were.
    assert!(text(folder.join("out.txt")).starts_with("151  0  clueweb09-en0000-00-03430   -2\n"));
}

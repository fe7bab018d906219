//! Words for people on standard error never mix with results.

use serde_json::Value;

use super::support::{Folder, corpus, documents, jsonl, lookalike};

#[test]
fn the_result_is_the_same_whatever_progress_shows() {
    let quiet = corpus("stats --sample --progress none").run().exits(0);
    assert_eq!(quiet.stderr, "");
    for style in ["plain", "json", "auto"] {
        let done = corpus(&format!("stats --sample --progress {style}")).run().exits(0);
        assert_eq!(done.stdout, quiet.stdout, "{style}");
        assert_eq!(done.stderr.is_empty(), style == "auto", "{style}: {}", done.stderr);
    }
}

#[test]
fn plain_progress_ends_with_what_was_done() {
    let done = corpus("stats --sample --progress plain").run().exits(0);
    let last = done.stderr.lines().last().unwrap();
    assert!(last.starts_with("3,000 documents, 10.8 MB read, "), "{last}");
    assert!(last.ends_with(" documents/s, 100 % done, 0:00 left"), "{last}");
}

#[test]
fn json_progress_is_json_on_every_line() {
    let done = corpus("stats --sample --progress json").run().exits(0);
    let lines: Vec<Value> = done.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = lines.last().unwrap();
    assert_eq!(last["documents"], 3000);
    assert_eq!(last["share"], 1.0);
    assert!(last["bytes"].is_u64() && last["seconds"].is_f64(), "{last}");
}

#[test]
fn progress_of_standard_input_knows_no_share() {
    let done = corpus("stats - --progress json").run_with(&jsonl(&documents(5))).exits(0);
    let last: Value = serde_json::from_str(done.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(last["documents"], 5);
    assert!(last["share"].is_null() && last["seconds_left"].is_null(), "{last}");
}

#[test]
fn without_progress_commands_that_write_files_are_silent() {
    let folder = Folder::new();
    for words in ["convert --sample -o a.jsonl", "generate --documents 5 -o b.jsonl"] {
        let done = corpus(&format!("{words} --progress none")).inside(folder.path()).run().exits(0);
        assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""), "{words}");
    }
    let told = corpus("convert --sample -o c.jsonl").inside(folder.path()).run().exits(0);
    assert_eq!((told.stdout.as_str(), told.stderr.as_str()), ("", "c.jsonl: 3,000 documents\n"));
}

#[test]
fn a_job_without_progress_is_silent_and_one_with_json_says_only_json() {
    let folder = Folder::new();
    folder.file("in.jsonl", jsonl(&documents(40)));
    let run = |style: &str| {
        lookalike(["dedup", "in.jsonl", "-o", style, "--progress", style]).inside(folder.path())
    };
    for _ in 0..2 {
        let quiet = run("none").run().exits(0);
        assert_eq!(quiet.stderr, "");
        let done = run("json").run().exits(0);
        let lines: Vec<Value> = done.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.iter().any(|line| line["message"].is_string()), "{}", done.stderr);
    }
}

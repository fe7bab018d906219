//! A corpus without the documents that a list names: the same copies that a job makes of what it keeps.

use std::fs;
use std::path::Path;

use super::job_support::{dedup, families, results};
use super::support::{Folder, Invocation, corpus, gzip, json_lines, jsonl, read_jsonl, zstd};

fn apply(words: &str) -> Invocation {
    corpus(&format!("apply {words}"))
}

/// The numbers of the table that is printed.
fn numbers(stdout: &str) -> Vec<u64> {
    let last = |line: &str| line.split_whitespace().last().unwrap().replace(',', "").parse().unwrap();
    stdout.lines().map(last).collect()
}

/// The files of a patched corpus, without what says where they come from.
fn patched(folder: &Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut files = results(folder);
    for own in [".apply", ".apply-done"] {
        assert!(files.remove(own).is_some(), "{own}");
    }
    files
}

#[test]
fn a_patch_gives_what_the_job_kept_in_every_format() {
    let folder = Folder::new();
    let documents = families(160, 4);
    let pages = folder.file("in/a/pages.jsonl", jsonl(&documents[..60]));
    folder.file("in/b.jsonl.gz", gzip(&jsonl(&documents[60..90])));
    folder.file("in/c.jsonl.zst", zstd(&jsonl(&documents[90..120])));
    for name in ["in/d.warc.gz", "in/e.parquet"] {
        corpus("convert --progress none").path(&pages).option("-o", folder.join(name)).run().exits(0);
    }
    for document in &documents[120..] {
        folder.file(format!("in/texts/{}.txt", document.id), &document.text);
    }
    let job = folder.join("job");
    dedup("--write kept").path(folder.join("in")).option("-o", &job).run().exits(0);
    let kept = results(&job.join("kept"));
    assert_eq!(kept.keys().filter(|name| !name.starts_with("texts/")).count(), 5);
    for (by, threads) in [("n", 1), ("n", 3)] {
        let out = folder.join(format!("{by}-{threads}"));
        let run = apply(&format!("--by {by} --threads {threads}")).path(folder.join("in"));
        let done = run.option("--removed", job.join("removed.jsonl")).option("-o", &out).run().exits(0);
        assert!(patched(&out) == kept);
        let removed = json_lines(&job.join("removed.jsonl")).len() as u64;
        assert_eq!(numbers(&done.stdout), [280, 280 - removed, removed, 0, removed, 0, 0]);
    }
}

#[test]
fn plain_lists_of_ids_do_as_well() {
    let folder = Folder::new();
    let documents = families(40, 2);
    folder.file("in.jsonl", jsonl(&documents));
    folder.file("ids.txt.gz", gzip(b"doc-00003\r\n\ndoc-00007\nnobody\n"));
    let done = apply("in.jsonl --removed ids.txt.gz -o out").inside(folder.path()).run().exits(0);
    assert_eq!(numbers(&done.stdout), [40, 38, 2, 0, 3, 1, 0]);
    let left = read_jsonl(&folder.join("out/in.jsonl"));
    let wanted: Vec<_> =
        documents.into_iter().filter(|one| !["doc-00003", "doc-00007"].contains(&&*one.id)).collect();
    assert_eq!(left, wanted);
}

#[test]
fn documents_of_one_id_go_together_or_by_their_numbers() {
    let folder = Folder::new();
    folder.file(
        "in.jsonl",
        "{\"id\":\"a\",\"text\":\"1\"}\n{\"id\":\"b\",\"text\":\"2\"}\n{\"id\":\"a\",\"text\":\"3\"}\n{}\n",
    );
    folder.file("list.jsonl", "{\"id\":\"a\",\"witness\":\"b\",\"n\":2}\n");
    let run =
        |words: &str| apply(&format!("in.jsonl --removed list.jsonl {words}")).inside(folder.path()).run();
    let done = run("-o by-id").exits(0);
    assert_eq!(numbers(&done.stdout), [4, 1, 2, 1, 1, 0, 1]);
    let more = "1 documents more than ids went, since several bear one id; --by n takes single documents\n";
    assert!(done.stderr.contains(more), "{}", done.stderr);
    assert!(done.stderr.contains("rejected: in.jsonl, byte 66: "), "{}", done.stderr);
    assert_eq!(fs::read_to_string(folder.join("by-id/in.jsonl")).unwrap(), "{\"id\":\"b\",\"text\":\"2\"}\n");
    let done = run("-o by-n --by n --strict").exits(3);
    assert_eq!(numbers(&done.stdout), [4, 2, 1, 1, 1, 0, 0]);
    let left = fs::read_to_string(folder.join("by-n/in.jsonl")).unwrap();
    assert_eq!(left, "{\"id\":\"a\",\"text\":\"1\"}\n{\"id\":\"b\",\"text\":\"2\"}\n");
}

#[test]
fn another_input_is_noticed_by_its_ids() {
    let folder = Folder::new();
    folder.file("in.jsonl", "{\"id\":\"a\",\"text\":\"1\"}\n{\"id\":\"b\",\"text\":\"2\"}\n");
    folder.file("list.jsonl", "{\"id\":\"a\",\"n\":1}\n");
    apply("in.jsonl --removed list.jsonl --by n -o out").inside(folder.path()).run().fails(
        2,
        "document 1 of the input has another id than the list says; give the input that the list was made from, in the same \
         order, or --by id",
    );
    assert!(!folder.join("out").exists());
}

#[test]
fn the_same_command_goes_on_and_another_is_refused() {
    let folder = Folder::new();
    folder.file("in/a.jsonl", "{\"id\":\"a\",\"text\":\"1\"}\n");
    folder.file("in/b.jsonl", "{\"id\":\"b\",\"text\":\"2\"}\n");
    folder.file("list", "b\n");
    folder.file("other", "a\n");
    let run = |list: &str| apply(&format!("in --removed {list} -o out")).inside(folder.path()).run();
    let first = run("list").exits(0);
    let files = patched(&folder.join("out"));
    // As after a kill: one shard is not there yet, and something was begun.
    fs::remove_file(folder.join("out/b.jsonl")).unwrap();
    folder.file("out/.lookalike-1.partial", "{\"id\":");
    assert_eq!(run("list").exits(0).stdout, first.stdout);
    assert!(patched(&folder.join("out")) == files);
    run("other").fails(2, "out is there, and not from the same input and list; name a new folder");
    let into = apply("in/a.jsonl --removed list -o in").inside(folder.path()).run();
    into.fails(2, "in is there, and not from the same input and list; name a new folder");
}

#[test]
fn wrong_lists_and_inputs_are_told() {
    let folder = Folder::new();
    folder.file("in.jsonl", "{\"id\":\"a\",\"text\":\"1\"}\n");
    folder.file("ids", "a\n");
    folder.file("numbers", "{\"id\":\"a\",\"n\":0}\n{\"n\":1}\n");
    let run = |words: &str| apply(&format!("{words} -o out")).inside(folder.path()).run();
    run("in.jsonl --removed ids --by n")
        .fails(1, "ids, line 1: it has no n; give a list that has, or --by id");
    run("in.jsonl --removed numbers")
        .fails(1, "numbers, line 2: it has no id; give a list that has, or --by n");
    run("in.jsonl --removed none").fails(1, "cannot read none: it is not there");
    run("- --removed ids")
        .fails(2, "the input is read twice and cannot be standard input; save it to a file first");
    assert!(!folder.join("out").exists());
}

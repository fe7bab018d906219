//! Odd file names, links, devices, and outputs that would fall on inputs.

use super::support::{Folder, corpus, documents, jsonl, shell, stats};

#[test]
fn names_with_spaces_and_signs_of_patterns_are_found_as_they_are() {
    let folder = Folder::new();
    for name in ["a b.txt", "[x]*?.txt", "-n", "ü 漢.txt", "~.txt"] {
        let file = folder.file(name, "one rose");
        assert_eq!(stats([file])["words"], 2, "{name}");
    }
    let dashed = corpus("head -- -n").inside(folder.path()).run().exits(0);
    assert_eq!(dashed.stdout, "== -n  (2 words)\none rose\n\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf8_is_a_name() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let name = std::ffi::OsStr::from_bytes(b"r\xffse.txt");
    let file = folder.file(name, "one rose");
    assert_eq!(stats([file])["words"], 2);
    assert_eq!(stats([folder.path()])["words"], 2);
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_named() {
    let folder = Folder::new();
    folder.file("in/a.txt", "one");
    let link = folder.join("in/link.txt");
    std::os::unix::fs::symlink("gone", &link).unwrap();
    let sentence = format!("cannot read {}: it is not there", link.display());
    corpus("stats").path(folder.join("in")).run().fails(1, &sentence);
}

#[test]
fn an_output_never_replaces_an_input() {
    let folder = Folder::new();
    let lines = jsonl(&documents(3));
    folder.file("in/a.jsonl", &lines);
    for words in [
        "stats in/a.jsonl --rejected in/a.jsonl",
        "stats in --rejected in/../in/a.jsonl",
        "convert in -o in/a.jsonl",
        "convert in -o b.jsonl --rejected in/a.jsonl",
    ] {
        let done = corpus(words).inside(folder.path()).run().exits(2);
        assert!(done.stderr.ends_with("a.jsonl is one of the inputs; write to another file\n"), "{done:?}");
    }
    assert_eq!(std::fs::read(folder.join("in/a.jsonl")).unwrap(), lines);
    assert_eq!(folder.names(), ["in"]);
}

#[test]
fn two_outputs_never_share_a_place() {
    let folder = Folder::new();
    for words in [
        "convert --sample -o a.jsonl --rejected ./a.jsonl",
        "generate --documents 3 -o truth.jsonl",
        "generate --documents 3 -o a.jsonl --truth ./a.jsonl",
    ] {
        let done = corpus(words).inside(folder.path()).run().exits(2);
        assert!(done.stderr.ends_with("is to hold two outputs; name two files\n"), "{done:?}");
    }
    assert!(folder.names().is_empty());
}

#[cfg(unix)]
#[test]
fn a_link_to_an_output_stays_a_link() {
    let folder = Folder::new();
    folder.file("real.jsonl", "old");
    std::os::unix::fs::symlink("real.jsonl", folder.join("link.jsonl")).unwrap();
    corpus("generate --documents 3 -o link.jsonl").inside(folder.path()).run().exits(0);
    assert!(folder.join("link.jsonl").is_symlink());
    assert_eq!(stats([folder.join("real.jsonl")])["documents"], 3);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_written_and_never_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let folder = Folder::new();
    let bad = folder.file("a.jsonl", "{broken\n");
    shell("mkfifo pipe.jsonl").inside(folder.path()).run().exits(0);
    let read = || shell("cat pipe.jsonl").inside(folder.path()).start();
    let reader = read();
    corpus("generate --documents 3 -o pipe.jsonl").inside(folder.path()).run().exits(0);
    assert_eq!(reader.end().exits(0).stdout.lines().count(), 3);
    let reader = read();
    corpus("stats --rejected pipe.jsonl").path(bad).inside(folder.path()).run().exits(0);
    assert_eq!(reader.end().exits(0).stdout.lines().count(), 1);
    assert!(folder.join("pipe.jsonl").metadata().unwrap().file_type().is_fifo());
}

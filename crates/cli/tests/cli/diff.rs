//! Two documents word by word.

use super::support::{Folder, Invocation, RunOutput, lookalike};

fn diff(words: &str) -> Invocation {
    lookalike(std::iter::once("diff").chain(words.split_whitespace()))
}

const NOTICE: &str = "The library on Mill Street is closed for repairs. Books can be given back at the town hall, \
    room 12, every working day between nine and five. Readers who hold a card may borrow from the neighbouring \
    branches without a fee until the work has ended.\n";

/// A notice, the same on other days, and a corpus with both.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("old.txt", NOTICE);
    folder.file("new.txt", NOTICE.replace("room 12", "ROOM 14").replace("between nine and five", "until 6"));
    let line = |id: &str, text: &str| {
        format!(
            "{}\n",
            serde_json::json!({"id": id, "text": text, "url": format!("https://site.example/{id}")})
        )
    };
    folder.file("pages.jsonl", line("a", NOTICE) + &line("b#2", "Something else") + &line("a", "Again"));
    folder
}

/// Runs in a folder and keeps its name out of what is shown.
fn shown(folder: &Folder, words: &str) -> RunOutput {
    diff(words).inside(folder.path()).run().exits(0)
}

#[test]
fn differences_are_marked_and_equal_words_folded() {
    insta::assert_snapshot!("diff-marks", shown(&folder(), "old.txt new.txt").stdout);
    insta::assert_snapshot!("diff-all", shown(&folder(), "old.txt new.txt --all").stdout);
}

#[test]
fn colours_are_for_terminals_and_on_request() {
    let folder = folder();
    let coloured = shown(&folder, "old.txt new.txt --color always").stdout;
    insta::assert_snapshot!("diff-colours", coloured.replace('\x1b', "␛"));
    assert!(!shown(&folder, "old.txt new.txt --color never").stdout.contains('\x1b'));
    // A pipe is no terminal.
    assert!(!shown(&folder, "old.txt new.txt").stdout.contains('\x1b'));
}

#[test]
fn json_is_one_object() {
    let done = shown(&folder(), "old.txt new.txt --json --shingle 3");
    let value: serde_json::Value = serde_json::from_str(&done.stdout).expect("standard output is JSON");
    insta::assert_snapshot!("diff-json", serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn documents_of_a_corpus_are_named_by_their_ids() {
    let folder = folder();
    insta::assert_snapshot!("diff-ids", shown(&folder, "pages.jsonl#a pages.jsonl#b#2").stdout);
    // Of two with one id the first is taken.
    let same = shown(&folder, "old.txt pages.jsonl#a").stdout;
    assert!(same.contains("kind         same") && same.contains("jaccard      1.0000"), "{same}");
}

#[test]
fn standard_input_is_one_of_them() {
    let folder = folder();
    let done = diff("- old.txt").inside(folder.path()).run_with(NOTICE.as_bytes()).exits(0);
    assert!(done.stdout.contains("kind         same"), "{done:?}");
    let lines = std::fs::read(folder.join("pages.jsonl")).unwrap();
    let done = diff("-- old.txt -#a").inside(folder.path()).run_with(&lines).exits(0);
    assert!(done.stdout.contains("kind         same"), "{done:?}");
    diff("- -").run().fails(2, "standard input can be read only once; give - once");
    diff("-- -#a -#b").run().fails(2, "standard input can be read only once; give - once");
}

#[test]
fn what_is_not_there_is_named() {
    let folder = folder();
    folder.file("empty.jsonl", "");
    let fails = |words: &str, code, sentence: &str| {
        diff(words).inside(folder.path()).run().fails(code, sentence);
    };
    fails("old.txt gone.txt", 1, "gone.txt is neither a file, a folder nor a pattern that matches one");
    fails("gone.jsonl#a old.txt", 1, "gone.jsonl is neither a file, a folder nor a pattern that matches one");
    fails("old.txt pages.jsonl#c", 1, "pages.jsonl holds no document with the id c");
    fails("empty.jsonl old.txt", 1, "empty.jsonl holds no document");
    fails(
        "pages.jsonl old.txt",
        2,
        "pages.jsonl holds several documents; name one by its id, as in pages.jsonl#a",
    );
    diff("old.txt").run().exits(2);
}

#[test]
fn a_document_cannot_speak_to_the_terminal() {
    let folder = Folder::new();
    folder.file("a.jsonl", r#"{"id":"x\u001b[31m","text":"one \u001b[2J\u009b31m two \u202e three\r four"}"#);
    folder.file("b.jsonl", r#"{"id":"y","text":"one \u001b]0;title\u0007 two five"}"#);
    for color in ["never", "always"] {
        let done = diff(&format!("a.jsonl b.jsonl --color {color}")).inside(folder.path()).run().exits(0);
        let ours = ["\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[0m"];
        let spoken = ours.iter().fold(done.stdout.clone(), |text, ours| text.replace(ours, ""));
        assert!(!spoken.contains(['\x1b', '\u{9b}', '\u{7}', '\r', '\u{202e}']), "{done:?}");
        assert!(done.stdout.contains(r"x\u{1b}[31m"), "{done:?}");
    }
}

#[test]
fn every_line_is_marked_by_itself() {
    let folder = Folder::new();
    folder.file("a.txt", "same\r\none\r\n\r\ntwo three\r\nend\r\n");
    folder.file("b.txt", "same\nend\n");
    assert!(shown(&folder, "a.txt b.txt").stdout.ends_with("\n\nsame\n[-one-]\n\n[-two three-]\nend\n"));
}

#[test]
fn documents_without_words_are_no_failure() {
    let folder = Folder::new();
    folder.file("a.txt", "...");
    folder.file("b.txt", "word");
    insta::assert_snapshot!("diff-no-words", shown(&folder, "a.txt a.txt").stdout);
    assert!(shown(&folder, "a.txt b.txt").stdout.ends_with("\n{+word+}\n"));
}

#[test]
fn html_is_read_as_other_commands_read_it() {
    let folder = Folder::new();
    folder.file("a.html", "<!doctype html><title>T</title><p>One <b>rose</b> is red");
    folder.file("b.html", "<!doctype html><title>T</title><p>One rose is <i>pale</i>");
    let done = shown(&folder, "a.html b.html");
    assert!(done.stdout.contains("[-red-]{+pale+}"), "{done:?}");
}

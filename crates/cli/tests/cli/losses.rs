//! Records that cannot be read: how many are too many, and what is told of them.

use serde_json::{Value, json};

use super::support::{Folder, RunOutput, json_lines, lookalike};

fn good(number: usize) -> String {
    let words: Vec<String> = (0..20).map(|place| format!("w{}", number * 31 + place * 7)).collect();
    format!(
        "{}\n",
        json!({ "id": format!("d{number}"), "text": words.join(" "), "url": format!("http://h/{number}") })
    )
}

/// Returns `documents` lines with a text, followed by `without` lines that have none.
fn lines(documents: usize, without: usize) -> String {
    let bad = |number: usize| format!("{{\"id\":\"x{number}\",\"url\":\"http://x/{number}\"}}\n");
    (0..documents).map(good).chain((0..without).map(bad)).collect()
}

fn run(folder: &Folder, words: &str) -> RunOutput {
    lookalike(words.split_whitespace()).inside(folder.path()).run()
}

#[test]
fn text_that_is_called_json_lines_is_rejected_line_by_line() {
    let folder = Folder::new();
    folder.file("notes.jsonl", "some notes\nand no JSON at all\n");
    let done = run(&folder, "dedup notes.jsonl -o out").exits(4);
    assert!(done.stderr.contains("2 of 2 records of notes.jsonl were rejected"), "{}", done.stderr);
}

#[test]
fn more_rejected_records_than_may_be_end_every_command_with_4() {
    let folder = Folder::new();
    folder.file("a.jsonl", lines(88, 12));
    folder.file("b.jsonl", lines(90, 10));
    folder.file("q.qrels", "1 0 d1 1\n");
    folder.file("broken.jsonl", lines(88, 0) + &"http\n".repeat(12));
    let why = "12 × missing field: neither \"text\" nor \"html\" is there (the first in a.jsonl, ";
    for words in [
        "dedup a.jsonl -o out",
        "pairs a.jsonl -o out.jsonl",
        "dedup b.jsonl --against a.jsonl -o out",
        "compare a.jsonl --with b.jsonl -o out",
        "compare b.jsonl --with a.jsonl -o out",
        "transfer --judgments q.qrels --from a.jsonl --to b.jsonl -o out",
        "transfer --judgments q.qrels --from b.jsonl --to a.jsonl -o out",
        "lexicon a.jsonl -o out",
        "lab compare a.jsonl -o out --methods md5",
        "corpus convert a.jsonl -o out.jsonl",
        "dedup a.jsonl --into fresh -o out",
    ] {
        let done = run(&folder, words).exits(4);
        let said = done.stderr.lines().last().unwrap();
        assert!(said.starts_with("lookalike: 12 of 100 records of the "), "{words}: {said}");
        assert!(said.contains("no more than 10% may be") && said.contains(why), "{words}: {said}");
        for made in ["out", "out.jsonl.job", "out.job", "fresh"] {
            let _ = std::fs::remove_dir_all(folder.join(made));
        }
        assert!(!folder.join("out.jsonl").exists(), "{words}");
    }
    let done = run(&folder, "urls broken.jsonl --with b.jsonl -o out").exits(4);
    assert!(done.stderr.contains("12 of 100 records of broken.jsonl were rejected"), "{}", done.stderr);
    run(&folder, "index create index").exits(0);
    for words in ["index add index a.jsonl", "index query index a.jsonl"] {
        let done = run(&folder, words).exits(4);
        assert!(done.stderr.contains("12 of 100 records of the input"), "{words}: {}", done.stderr);
    }
    // Whoever only looks is warned.
    let done = run(&folder, "corpus stats a.jsonl").exits(0);
    assert!(done.stderr.lines().last().unwrap().starts_with("12 of 100 records"), "{}", done.stderr);
}

#[test]
fn what_may_be_rejected_is_a_number_or_a_share() {
    let folder = Folder::new();
    folder.file("a.jsonl", lines(88, 12));
    for (most, code) in [("11", 4), ("12", 0), ("11%", 4), ("12%", 0), ("0.12", 0), ("100%", 0), ("0", 4)] {
        run(&folder, &format!("dedup a.jsonl -o out --max-rejected {most}")).exits(code);
        let _ = std::fs::remove_dir_all(folder.join("out"));
    }
    run(&folder, "dedup a.jsonl -o out --max-rejected most").exits(2);
    // Of few records not all may be.
    folder.file("few.jsonl", lines(1, 98));
    run(&folder, "dedup few.jsonl -o few").exits(0);
}

#[test]
fn a_run_that_lost_too_much_goes_on_when_more_is_allowed() {
    let folder = Folder::new();
    folder.file("a.jsonl", lines(88, 12));
    run(&folder, "dedup a.jsonl -o out").exits(4);
    let done = run(&folder, "dedup a.jsonl -o out --max-rejected 100%").exits(0);
    assert!(done.stderr.contains("rejected: 12 × missing field: "), "{}", done.stderr);
    let summary: Value =
        serde_json::from_slice(&std::fs::read(folder.join("out/summary.json")).unwrap()).unwrap();
    assert_eq!((&summary["rejected"], &summary["kept"]), (&json!(12), &json!(88)));
    assert_eq!(summary["reasons"][0]["count"], 12);
}

#[test]
fn rejected_records_of_the_other_corpus_are_counted_told_written_and_strict() {
    let folder = Folder::new();
    folder.file("a.jsonl", lines(20, 0));
    folder.file("b.jsonl", lines(20, 3));
    let done = run(&folder, "dedup a.jsonl --against b.jsonl -o out --strict").exits(3);
    assert!(done.stdout.contains("rejected of other              3\n"), "{}", done.stdout);
    assert!(done.stderr.contains("rejected: 3 × missing field: "), "{}", done.stderr);
    assert!(done.stderr.contains("(the first in other, b.jsonl, byte "), "{}", done.stderr);
    let rejected = json_lines(&folder.join("out/rejected.jsonl"));
    assert_eq!(rejected.len(), 3);
    assert!(
        rejected.iter().all(|line| line["side"] == "other" && line["source"] == "b.jsonl"),
        "{rejected:?}"
    );
    let summary: Value =
        serde_json::from_slice(&std::fs::read(folder.join("out/summary.json")).unwrap()).unwrap();
    assert_eq!((&summary["rejected"], &summary["against_rejected"]), (&json!(0), &json!(3)));
    folder.file("empty.jsonl", "");
    let done = run(&folder, "dedup a.jsonl --against empty.jsonl -o none").exits(2);
    assert!(done.stderr.contains("the other corpus holds no record (empty.jsonl)"), "{}", done.stderr);
}

#[test]
fn an_input_of_which_nothing_can_be_read_is_an_error_with_its_reason() {
    let folder = Folder::new();
    folder.file("pretty.jsonl", "{\n  \"id\": \"a\",\n  \"text\": \"one two\"\n}\n".repeat(300));
    for words in ["dedup pretty.jsonl -o out", "pairs pretty.jsonl -o p.jsonl", "lexicon pretty.jsonl -o l"] {
        let done = run(&folder, words).exits(4);
        assert!(
            done.stderr.contains("1200 of 1200 records of pretty.jsonl were rejected"),
            "{}",
            done.stderr
        );
        assert!(
            done.stderr.contains(
                "this looks like pretty-printed JSON; write each object in one line, as jq -c does"
            )
        );
    }
    folder.file("plain.jsonl", "{\"key\":\"a\",\"body\":\"one two\"}\n");
    let done = run(&folder, "dedup plain.jsonl -o out").exits(1);
    assert!(done.stderr.contains("has a field \"text\" or \"html\"; there are key, body"), "{}", done.stderr);
    let done = run(&folder, "dedup plain.jsonl -o all --max-rejected 100%").exits(0);
    assert!(done.stderr.contains("rejected: 1 × missing field: "), "{}", done.stderr);
    // Standard input is looked at, too.
    let piped = lookalike(["dedup", "-", "-o", "piped"]).inside(folder.path());
    let done = piped.run_with(b"{\n\"text\":\n").exits(4);
    assert!(done.stderr.contains("2 of 2 records of stdin were rejected"), "{}", done.stderr);
}

/// Commands that have progress, each with what it writes.
const WITH_PROGRESS: &[&str] = &[
    "dedup a.jsonl -o dedup",
    "dedup a.jsonl -o dedup",
    "dedup a.jsonl --against b.jsonl -o against",
    "dedup a.jsonl --into index -o into",
    "dedup a.jsonl --plan",
    "pairs a.jsonl -o pairs.jsonl",
    "pairs a.jsonl -o pairs.jsonl",
    "compare a.jsonl --with b.jsonl -o compare",
    "compare a.jsonl --with b.jsonl -o compare",
    "transfer --judgments q.qrels --from a.jsonl --to b.jsonl -o transfer",
    "urls a.jsonl --with b.jsonl -o urls",
    "lexicon a.jsonl -o lexicon",
    "lab compare a.jsonl -o lab --methods md5,minhash",
    "lab tune a.jsonl -o tune",
    "lab check dedup",
    "index create made",
    "index add made a.jsonl",
    "index add made b.jsonl",
    "index query made a.jsonl",
    "index merge made index",
    "corpus stats a.jsonl",
    "corpus convert a.jsonl -o converted.jsonl",
    "corpus apply a.jsonl --removed dedup/removed.jsonl -o applied",
    "corpus generate --documents 5 -o generated.jsonl",
    "judgments dedup q.qrels --from a.jsonl -o judged",
    "runs dedup r.run --from a.jsonl -o ran",
];

#[test]
fn progress_none_is_silent_and_json_is_json_alone() {
    for style in ["none", "json"] {
        let folder = Folder::new();
        folder.file("a.jsonl", lines(30, 2) + &lines(30, 0).replace("\"d", "\"e"));
        folder.file("b.jsonl", lines(20, 1));
        folder.file("q.qrels", "1 0 d1 1\n1 0 d2 0\n1 0 zz 1\n");
        folder.file("r.run", "1 Q0 d1 1 0.5 x\n1 Q0 e1 2 0.4 x\n");
        for words in WITH_PROGRESS {
            let done = run(&folder, &format!("{words} --progress {style}"));
            assert_eq!(done.code, Some(0), "{words}: {done:#?}");
            match style {
                "none" => assert_eq!(done.stderr, "", "{words}"),
                _ => done.stderr.lines().for_each(|line| {
                    assert!(
                        serde_json::from_str::<Value>(line).is_ok_and(|line| line.is_object()),
                        "{words}: {line}"
                    )
                }),
            }
        }
        let done =
            run(&folder, &format!("dedup a.jsonl -o fails --within nothing --progress {style}")).exits(1);
        let said = "no record of the first 62 in a.jsonl has a field";
        match style {
            "none" => assert!(done.stderr.starts_with(&format!("lookalike: {said}")), "{}", done.stderr),
            _ => {
                let last: Value = serde_json::from_str(done.stderr.lines().last().unwrap()).unwrap();
                assert!(last["error"].as_str().unwrap().starts_with(said), "{last}");
            }
        }
    }
}

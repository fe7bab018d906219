//! The end of a command: a table, an object, a sentence, or nothing; with colours or without.

use serde_json::Value;

use super::support::{Folder, RunOutput, lookalike, shell, skipped};

/// The program with words as in a shell, in a folder.
fn run(folder: &Folder, words: &str) -> RunOutput {
    lookalike(words.split_whitespace()).inside(folder.path()).run().exits(0)
}

/// Three documents with addresses, two of which are equal; two of them alone; judgments, a run and groups.
fn inputs() -> Folder {
    let folder = Folder::new();
    let line = |id: &str, words: &str| {
        format!("{{\"id\":\"{id}\",\"url\":\"http://example.org/{id}\",\"text\":\"{words}\"}}\n")
    };
    let words = "the quick brown fox jumps over the lazy dog near the old river bank";
    let others = "a wholly different text about ships and the sea in a cold winter night";
    folder.file("in.jsonl", line("a", words) + &line("b", words) + &line("c", others));
    folder.file("other.jsonl", line("a", words) + &line("c", others));
    folder.file("qrels.txt", "1 0 a 1\n1 0 b 1\n1 0 c 0\n");
    folder.file("ours.run", "1 Q0 a 1 3.0 t\n1 Q0 b 2 2.0 t\n1 Q0 c 3 1.0 t\n");
    folder.file("groups.jsonl", "{\"ids\":[\"a\",\"b\"]}\n");
    folder.file("gone.txt", "b\n");
    folder
}

/// Commands that end with counts, each with a count in its object; later ones need the results of earlier ones.
const COUNTING: [(&str, &str, u64); 16] = [
    ("dedup in.jsonl -o dedup", "removed", 1),
    ("pairs in.jsonl -o pairs.jsonl", "pairs", 1),
    ("compare in.jsonl --with in.jsonl -o compare", "near", 3),
    ("transfer --judgments qrels.txt --from in.jsonl --to in.jsonl -o transfer", "judged", 3),
    ("urls in.jsonl --with in.jsonl -o urls", "shared_urls", 3),
    ("index add index in.jsonl", "documents", 3),
    ("index remove index b", "ids", 1),
    ("index merge index", "documents", 0),
    ("lexicon in.jsonl -o words.lexicon", "documents", 3),
    ("judgments dedup qrels.txt --groups groups.jsonl -o unique.txt", "", 0),
    ("runs dedup ours.run --groups groups.jsonl -o unique.run", "", 0),
    ("corpus convert in.jsonl -o converted.jsonl", "written", 3),
    ("corpus generate --documents 5 -o generated.jsonl", "documents", 5),
    ("corpus apply in.jsonl --removed gone.txt -o applied", "removed", 1),
    ("census index in.jsonl -o census.idx", "pages", 3),
    ("check dedup", "mistakes", 0),
];

#[test]
fn counts_come_as_one_object_that_quiet_leaves() {
    for quiet in ["", " --quiet"] {
        let folder = inputs();
        run(&folder, "index create index");
        for (words, name, count) in COUNTING {
            let done = run(&folder, &format!("{words} --json{quiet}"));
            let object: Value =
                serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{words}: {error}"));
            assert!(object.is_object(), "{words}: {object}");
            assert!(name.is_empty() || object[name] == count, "{words}: {object}");
            assert!(quiet.is_empty() || done.stderr.is_empty(), "{words}: {}", done.stderr);
        }
    }
}

#[test]
fn quiet_commands_print_nothing_and_do_the_same() {
    let (loud, quiet) = (inputs(), inputs());
    run(&loud, "index create index");
    let made = run(&quiet, "-q index create index");
    assert_eq!((made.stdout.as_str(), made.stderr.as_str()), ("", ""));
    for (words, ..) in COUNTING {
        let told = run(&loud, words);
        assert!(!told.stdout.is_empty() || !told.stderr.is_empty(), "{words}");
        let done = run(&quiet, &format!("{words} -q"));
        assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""), "{words}");
    }
    let table = |folder: &Folder| std::fs::read(folder.join("dedup/removed.jsonl")).unwrap();
    assert_eq!(table(&loud), table(&quiet));
}

#[test]
fn quiet_leaves_results_and_errors() {
    let folder = inputs();
    assert_eq!(run(&folder, "methods -q").stdout, run(&folder, "methods").stdout);
    assert_eq!(run(&folder, "-q corpus stats in.jsonl").stdout, run(&folder, "corpus stats in.jsonl").stdout);
    let gone = "gone.jsonl is neither a file, a folder nor a pattern that matches one";
    lookalike(["-q", "dedup", "gone.jsonl", "-o", "x"]).inside(folder.path()).run().fails(1, gone);
}

#[test]
fn the_object_of_a_job_is_its_summary() {
    let folder = inputs();
    for (words, summary) in [
        ("dedup in.jsonl -o dedup", "dedup/summary.json"),
        ("pairs in.jsonl -o pairs.jsonl", "pairs.jsonl.job/summary.json"),
        ("compare in.jsonl --with in.jsonl -o compare", "compare/summary.json"),
        ("urls in.jsonl --with in.jsonl -o urls", "urls/summary.json"),
    ] {
        let done = run(&folder, &format!("{words} --json"));
        assert_eq!(done.stdout, std::fs::read_to_string(folder.join(summary)).unwrap(), "{words}");
    }
    let sample: Value = serde_json::from_str(&run(&folder, "dedup --sample --json").stdout).unwrap();
    assert_eq!((&sample["documents"], &sample["removed"]), (&3000.into(), &374.into()));
    assert!(sample["recall"].as_f64().unwrap() > 0.99 && sample["precision"] == 1.0, "{sample}");
    let plan: Value = serde_json::from_str(&run(&folder, "dedup in.jsonl --plan --json").stdout).unwrap();
    assert_eq!((&plan["documents"], &plan["sampled_share"]), (&3.into(), &1.0.into()));
}

#[test]
fn counts_and_verdicts_do_not_share_standard_output() {
    let folder = inputs();
    run(&folder, "index create index");
    let words = "index add index in.jsonl --json --verdicts -";
    let sentence = "--json and --verdicts - would both go to standard output; name a file for the verdicts";
    lookalike(words.split(' ')).inside(folder.path()).run().fails(2, sentence);
}

#[test]
fn the_last_line_says_what_was_done() {
    let folder = inputs();
    run(&folder, "index create index");
    for (words, said) in [
        (
            "dedup in.jsonl -o dedup",
            "Kept 2 of 3 documents; removed 1 near-duplicate, with a kept witness in dedup/removed.jsonl.",
        ),
        (
            "dedup in.jsonl -o parquet --format parquet",
            "Kept 2 of 3 documents; removed 1 near-duplicate, with a kept witness in parquet/removed.parquet.",
        ),
        ("dedup other.jsonl -o distinct", "Kept 2 of 2 documents; there are no near-duplicates to remove."),
        (
            "pairs in.jsonl -o pairs.jsonl",
            "Wrote 1 pair of 3 documents with a similarity of 0.8 or more to pairs.jsonl.",
        ),
        (
            "compare in.jsonl --with in.jsonl -o compare",
            "Found near-duplicates of 3 of 3 documents of the left side on the right; the best match of each is in compare/best.jsonl.",
        ),
        (
            "urls in.jsonl --with other.jsonl -o urls",
            "2 of 3 addresses of in.jsonl are in other.jsonl, too; urls/overlap.jsonl lists them.",
        ),
        ("index add index in.jsonl", "Added 3 documents to index: 2 new, 1 near-duplicate of kept ones."),
        (
            "index add index in.jsonl",
            "Added 0 documents to index: 0 new, 0 near-duplicates of kept ones; 3 there before.",
        ),
    ] {
        assert_eq!(run(&folder, words).stderr.lines().last(), Some(said), "{words}");
    }
}

#[test]
fn rejected_records_are_in_the_last_line() {
    let folder = inputs();
    folder.file("bad.jsonl", "{\"id\":\"x\",\"text\":\"some words\"}\n".repeat(2) + "{\"id\":1}\n");
    let done = run(&folder, "dedup bad.jsonl -o bad");
    let said = "Kept 1 of 3 documents; removed 1 near-duplicate, with a kept witness in bad/removed.jsonl; rejected 1 record, \
                with reasons in bad/rejected.jsonl.";
    assert_eq!(done.stderr.lines().last(), Some(said));
}

/// Runs a line on a terminal, where there is a program that makes one; its output, with all colours.
fn on_a_terminal(line: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_lookalike");
    let there = shell("script --version").run().code == Some(0);
    there.then(|| {
        shell(&format!("script -qc \"{}\" /dev/null", line.replace("lookalike", program))).run().stdout
    })
}

#[test]
fn colours_are_for_terminals_without_no_color() {
    let folder = inputs();
    for words in ["-h", "dedup --help", "dedup --nonsense", "dedup gone.jsonl -o x"] {
        let done = lookalike(words.split(' ')).inside(folder.path()).run();
        assert!(!(done.stdout + &done.stderr).contains('\u{1b}'), "{words}");
        let Some(coloured) = on_a_terminal(&format!("lookalike {words}")) else {
            skipped("there is no script to make a terminal");
            continue;
        };
        assert!(coloured.contains('\u{1b}'), "{words}: {coloured}");
        let plain = on_a_terminal(&format!("NO_COLOR=1 lookalike {words}")).unwrap_or_default();
        assert!(!plain.contains('\u{1b}') && !plain.is_empty(), "{words}: {plain}");
    }
}

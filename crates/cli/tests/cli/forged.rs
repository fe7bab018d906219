//! Words and names that somebody made to have one hash: what shares nothing is never taken for equal.
//!
//! XXH3-64 turns eight bytes into 64 bits and loses nothing; so it can be turned around. The hash of a word of seven letters is that of
//! exactly one word of eight bytes, and of some millions of words one has such a partner in letters and digits.

use std::path::{Path, PathBuf};

use lookalike::hash;
use serde_json::{Value, json};

use super::job_support::{Decisions, decide_lines, dedup, paired};
use super::support::{Folder, corpus, gzip, json_lines, lookalike, stats};

/// Pairs of words with one XXH3-64.
const FORGED: [[&str; 2]; 24] = [
    ["wriktxd", "fyzeoz6y"],
    ["suecore", "xr7x9smu"],
    ["bnlbnwl", "og0s2tjb"],
    ["erqrirc", "cl8vg420"],
    ["poigfqk", "yf5z7xle"],
    ["pzbnjwy", "zr1r9uir"],
    ["rwnrzvl", "czyphr4q"],
    ["bomghyn", "na8q2yec"],
    ["ypkkxyg", "jgzoop9x"],
    ["admdoqa", "mb0r9vmt"],
    ["umcccrl", "yc6u6rna"],
    ["ywglcyl", "maqckl8r"],
    ["tiaglrb", "vi6s8sly"],
    ["mbobiun", "kb8z5roe"],
    ["bmoghxl", "ng6q6yde"],
    ["ugaeoxc", "xj1t9uay"],
    ["yacgkvk", "eo2q2zjf"],
    ["nqgvqyf", "1u9qwzn1"],
    ["aoogeyi", "cg8s0zgb"],
    ["xbffbwn", "gm8q4rhf"],
    ["dcjcnub", "od8x9rjr"],
    ["xyrsrwn", "uj0ve200"],
    ["dqyqprh", "le2ob745"],
    ["vjefnwj", "rx0p7sgc"],
];

/// Half of the words of one side.
fn words(half: usize, side: usize) -> String {
    let words: Vec<&str> = FORGED[12 * half..12 * (half + 1)].iter().map(|pair| pair[side]).collect();
    words.join(" ")
}

fn lines(documents: &[Value]) -> Vec<u8> {
    documents.iter().flat_map(|document| format!("{document}\n").into_bytes()).collect()
}

/// Two documents with equal hashes all through, and two with nearly all; no two of the four share a word.
fn documents() -> Vec<Value> {
    vec![
        json!({"id": "a", "text": words(0, 0)}),
        json!({"id": "b", "text": words(0, 1)}),
        json!({"id": "c", "text": format!("{} here", words(1, 0))}),
        json!({"id": "d", "text": format!("{} there", words(1, 1))}),
    ]
}

/// The four documents as JSON lines, compressed, and as Parquet.
fn inputs(folder: &Folder) -> Vec<PathBuf> {
    let plain = folder.file("plain.jsonl", lines(&documents()));
    let packed = folder.file("packed.jsonl.gz", gzip(&lines(&documents())));
    let table = folder.join("table.parquet");
    corpus("convert --progress none").path(&plain).option("-o", &table).run().exits(0);
    vec![plain, packed, table]
}

#[test]
fn the_words_have_one_hash() {
    for [one, two] in FORGED {
        assert_eq!(hash::word(one.as_bytes()), hash::word(two.as_bytes()), "{one} {two}");
        assert_ne!(one, two);
    }
}

#[test]
fn documents_without_a_common_word_are_kept() {
    let folder = Folder::new();
    for (number, input) in inputs(&folder).iter().enumerate() {
        for options in
            ["", "--spool disk", "--spool none", "--method exact --shingle 1", "--similarity cosine-tf"]
        {
            let job = folder.join(format!("job{number}{options}"));
            dedup(options).path(input).option("-o", &job).run().exits(0);
            let decisions = Decisions::read(&job);
            assert_eq!(decisions.removed_ids(), [""; 0], "{options} {}", input.display());
            assert_eq!((decisions.count("kept"), decisions.count("exact_duplicates")), (4, 0));
        }
    }
}

#[test]
fn they_are_no_pairs_and_no_exact_duplicates() {
    for options in ["--method exact", "--method minhash", "--method exact --shingle 1 --threshold 0.1"] {
        assert_eq!(paired(&lines(&documents()), options), [] as [Value; 0], "{options}");
    }
    let folder = Folder::new();
    let input = folder.file("in.jsonl", lines(&documents()));
    assert_eq!(stats([input])["exact_duplicates"], 0);
}

#[test]
fn they_are_not_found_in_another_corpus() {
    let folder = Folder::new();
    let [one, two] = [0, 1].map(|side: usize| {
        let documents: Vec<Value> = documents().into_iter().skip(side).step_by(2).collect();
        folder.file(format!("{side}.jsonl"), lines(&documents))
    });
    let job = folder.join("compared");
    lookalike(["compare", "--progress", "none"])
        .path(&one)
        .option("--with", &two)
        .option("-o", &job)
        .run()
        .exits(0);
    let near = |line: &Value| line["near"] == true;
    assert_eq!(json_lines(&job.join("pairs.jsonl")).iter().filter(|line| near(line)).count(), 0);
    let job = folder.join("against");
    dedup("").path(&two).option("--against", &one).option("-o", &job).run().exits(0);
    assert_eq!(Decisions::read(&job).removed_ids(), [""; 0]);
}

#[test]
fn an_index_takes_them_as_new() {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", lines(&documents()));
    for options in ["", "--no-text"] {
        let place = folder.join(format!("seen{options}"));
        let index = |words: &str, place: &Path| {
            lookalike(std::iter::once("index").chain(words.split_whitespace())).path(place)
        };
        index(&format!("create --progress none {options}"), &place).run().exits(0);
        let done = index("add --progress none", &place).path(&input).run().exits(0);
        assert!(done.stdout.lines().any(|line| line.split_whitespace().eq(["new", "4"])), "{}", done.stdout);
        let unknown = lines(&[json!({"id": "e", "text": format!("{} again", words(0, 1))})]);
        let asked = index("query", &place).arg("-").run_with(&unknown).exits(0);
        let answer: Value = serde_json::from_str(asked.stdout.lines().next().unwrap()).unwrap();
        let found: Vec<&Value> = answer["matches"].as_array().unwrap().iter().map(|hit| &hit["id"]).collect();
        assert_eq!(found, ["b"], "{answer}");
    }
}

#[test]
fn groups_of_forged_names_are_kept_apart() {
    let text = |last: &str| {
        let words: Vec<String> = (0..80).map(|number| format!("word{number}")).collect();
        format!("{} {last}", words.join(" "))
    };
    let document = |id: &str, group: &str, last: &str| json!({"id": id, "group": group, "text": text(last)});
    let [[one, two], ..] = FORGED;
    let input = lines(&[
        document("a", one, "same"),
        document("b", two, "same"),
        document("c", two, "other"),
        document("d", one, "another"),
    ]);
    for options in ["", "--unverified", "--cluster components"] {
        let decisions = decide_lines(&input, &format!("--within group {options}"));
        assert_eq!(decisions.removed_ids(), ["c", "d"], "{options}");
        assert_eq!([decisions.witness("c"), decisions.witness("d")], ["b", "a"], "{options}");
    }
}

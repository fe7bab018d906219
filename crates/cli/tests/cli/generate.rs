//! A corpus from a seed, with its truth beside it.

use std::collections::HashSet;
use std::path::Path;

use super::support::{Folder, corpus, json_lines, stats};

fn generate(options: &str, output: &Path) {
    let done = corpus(&format!("generate {options}")).option("-o", output).run().exits(0);
    assert_eq!(done.stdout, "");
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_does_not() {
    let folder = Folder::new();
    let bytes = [("a", 7), ("b", 7), ("c", 8)].map(|(name, seed)| {
        folder.file(format!("{name}/none"), "");
        let output = folder.join(format!("{name}/corpus.jsonl"));
        generate(&format!("--documents 200 --seed {seed}"), &output);
        (std::fs::read(&output).unwrap(), std::fs::read(output.with_file_name("truth.jsonl")).unwrap())
    });
    assert_eq!(bytes[0], bytes[1]);
    assert_ne!(bytes[0].0, bytes[2].0);
}

#[test]
fn the_truth_stands_beside_the_corpus_and_names_its_documents() {
    let folder = Folder::new();
    let output = folder.join("corpus.jsonl");
    generate("--documents 500", &output);
    assert_eq!(folder.names(), ["corpus.jsonl", "truth.jsonl"]);
    let documents = json_lines(&output);
    let ids: HashSet<&str> = documents.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 500);
    let truth = json_lines(&folder.join("truth.jsonl"));
    assert!(!truth.is_empty());
    for pair in &truth {
        assert!(
            ids.contains(pair["a"].as_str().unwrap()) && ids.contains(pair["b"].as_str().unwrap()),
            "{pair}"
        );
    }
}

#[test]
fn the_truth_can_have_another_name() {
    let folder = Folder::new();
    let run = corpus("generate --documents 20 -o a.jsonl --truth pairs.jsonl.gz");
    run.inside(folder.path()).run().exits(0);
    assert_eq!(folder.names(), ["a.jsonl", "pairs.jsonl.gz"]);
}

#[test]
fn a_compressed_corpus_holds_the_same_documents() {
    let folder = Folder::new();
    generate("--documents 100", &folder.join("a.jsonl"));
    let plain = stats([folder.join("a.jsonl")]);
    for name in ["a.jsonl.zst", "a.jsonl.gz", "a.jsonl.bz2"] {
        generate("--documents 100", &folder.join(name));
        let packed = stats([folder.join(name)]);
        for field in ["documents", "words", "content_bytes", "exact_duplicates"] {
            assert_eq!(packed[field], plain[field], "{name} {field}");
        }
    }
}

#[test]
fn no_documents_are_an_empty_corpus() {
    let folder = Folder::new();
    generate("--documents 0", &folder.join("a.jsonl"));
    assert_eq!(stats([folder.join("a.jsonl")])["documents"], 0);
    assert_eq!(json_lines(&folder.join("truth.jsonl")).len(), 0);
}

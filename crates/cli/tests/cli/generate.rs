//! A corpus from a seed, with its truth beside it.

use std::collections::HashSet;
use std::path::Path;

use super::job_support::pairs;
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

#[test]
fn two_crawls_have_the_near_duplicates_that_their_truth_lists_and_no_others() {
    let folder = Folder::new();
    let crawls = folder.join("crawls");
    generate("--crawls --documents 400 --old 250 --judged 200 --seed 5", &crawls);
    let segments = (0..20).map(|segment| crawls.join(format!("new-{segment:02}.jsonl")));
    let inputs: Vec<_> = std::iter::once(crawls.join("old.jsonl")).chain(segments).collect();
    assert_eq!(stats(&inputs)["documents"], 650);
    let found = folder.join("pairs.jsonl");
    let job = pairs("--method exact --shingle 1 --threshold 0.9").option("-o", &found);
    inputs.iter().fold(job, |job, input| job.path(input)).run().exits(0);
    let truth = json_lines(&crawls.join("truth.jsonl"));
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let mut wanted = Vec::new();
    for page in &truth {
        for copy in page["copies"].as_array().unwrap() {
            let jaccard = (copy["jaccard"].as_f64().unwrap() * 1e9).round() as u64;
            wanted.push((text(&page["document"]), text(&copy["document"]), jaccard));
        }
    }
    wanted.retain(|(.., jaccard)| *jaccard >= 900_000_000);
    let judged: HashSet<String> = truth.iter().map(|page| text(&page["document"])).collect();
    let mut met: Vec<(String, String, u64)> = json_lines(&found)
        .iter()
        .map(|pair| {
            (text(&pair["a"]), text(&pair["b"]), (pair["similarity"].as_f64().unwrap() * 1e9).round() as u64)
        })
        .filter(|(a, b, _)| judged.contains(a) && b.starts_with("new-"))
        .collect();
    wanted.sort();
    met.sort();
    assert!(wanted.len() > 100);
    assert_eq!(met, wanted);
    let judgments = std::fs::read_to_string(crawls.join("qrels.txt")).unwrap();
    assert!(judgments.lines().count() >= 200);
    assert!(judgments.lines().all(|line| judged.contains(line.split(' ').nth(2).unwrap())));
}

#[test]
fn two_crawls_want_a_folder_of_their_own() {
    let folder = Folder::new();
    folder.file("full/old.jsonl", "");
    let run = |words: &str| corpus(&format!("generate --progress none {words}")).inside(folder.path()).run();
    run("--crawls -o full").fails(2, "full is there and not empty; name a new folder");
    run("--crawls --documents 30 --segments 2 -o new").exits(0);
    run("--crawls --documents 30 --segments 2 -o again").exits(0);
    for name in ["old.jsonl", "new-00.jsonl", "new-01.jsonl", "qrels.txt", "truth.jsonl"] {
        let [one, other] =
            ["new", "again"].map(|place| std::fs::read(folder.join(place).join(name)).unwrap());
        assert_eq!(one, other, "{name}");
    }
    assert!(run("--crawls -o x --truth y.jsonl").exits(2).stderr.contains("cannot be used with"));
    assert!(run("--judged 3 -o x.jsonl").exits(2).stderr.contains("--crawls"));
}

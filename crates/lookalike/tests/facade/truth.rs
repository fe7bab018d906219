//! The truth that the generator tells is the truth that the readers see: every planted pair of the built-in
//! sample, read back from its file, extracted and cut into words, has the similarity that was promised.

use std::collections::HashMap;

use lookalike::corpus::{Corpus, ReadOptions};
use lookalike::generate::{sample, write_jsonl};
use lookalike::text::extract::ContentMode;
use lookalike::text::{Analyser, Features, Profile};
use lookalike::walk::{self, WalkItem, Watch};

/// The sorted 5-gram set of every document of the sample, by id.
fn shingles() -> (HashMap<String, Vec<u64>>, Vec<u8>) {
    let (mut documents, mut truth) = (Vec::new(), Vec::new());
    write_jsonl(sample(), &mut documents, &mut truth).unwrap();
    let corpus = Corpus::in_memory("sample.jsonl", documents.into(), ReadOptions::default());
    let mut analyser = Analyser::new(&Profile::web());
    let mut features = Features::default();
    let mut sets = HashMap::new();
    walk::documents(&corpus.shards()[0], corpus.options(), ContentMode::Page, &Watch::default(), |found| {
        let WalkItem::Document { document, text } = found else {
            panic!("the sample has only documents: {found:?}")
        };
        analyser.read(text, &mut features);
        let mut set = Vec::new();
        features.shingles(5, &mut set);
        sets.insert(document.id.to_owned(), set);
        Ok(())
    })
    .unwrap();
    (sets, truth)
}

#[test]
fn every_planted_pair_has_the_similarity_that_was_promised() {
    let (sets, truth) = shingles();
    let mut pairs = 0;
    for line in truth.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let pair: serde_json::Value = serde_json::from_slice(line).unwrap();
        let set = |side: &str| &sets[pair[side].as_str().unwrap()];
        let (a, b) = (set("a"), set("b"));
        let shared = a.iter().filter(|gram| b.binary_search(gram).is_ok()).count() as u64;
        let union = (a.len() + b.len()) as u64 - shared;
        assert_eq!(
            (pair["intersection"].as_u64(), pair["union"].as_u64()),
            (Some(shared), Some(union)),
            "{pair}"
        );
        pairs += 1;
    }
    assert!(pairs > 1000, "{pairs} pairs");
}

//! Real corpora, where they are at hand; each check has its counterpart on generated data.

use std::path::PathBuf;

use super::support::{Folder, corpus, json_lines, skipped, stats};

/// A file of the shared collection.
fn shared(name: &str) -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("LOOKALIKE_SHARED").map_or_else(beside, PathBuf::from);
    let path = root.join("data").join(name);
    if !path.exists() {
        skipped(format_args!("no {name} in the shared collection (LOOKALIKE_SHARED names its folder)"));
        return None;
    }
    Some(path)
}

#[test]
fn a_crawl_has_the_same_words_as_warc_and_as_json_lines() {
    let Some(warc) = shared("two-crawls/postgresql/docs-old.warc.gz") else { return };
    let Some(jsonl) = shared("two-crawls/postgresql/docs-old.jsonl.zst") else { return };
    let (warc, jsonl) = (stats([warc]), stats([jsonl]));
    let counts = |summary: &serde_json::Value| {
        ["accepted", "rejected", "skipped"].map(|field| summary[field].as_u64().unwrap())
    };
    assert_eq!(counts(&warc), [1132, 0, 1]);
    assert_eq!(warc["skipped_by_kind"]["warcinfo"], 1, "{warc}");
    assert_eq!(counts(&jsonl), [1132, 0, 0]);
    assert_eq!(warc["words"], jsonl["words"]);
}

#[test]
fn a_crawl_cut_short_costs_one_record() {
    let Some(warc) = shared("two-crawls/postgresql/docs-old.warc.gz") else { return };
    let folder = Folder::new();
    let bytes = std::fs::read(warc).unwrap();
    let cut = folder.file("cut.warc.gz", &bytes[..bytes.len() * 6 / 10]);
    let rejected = folder.join("rejected.jsonl");
    let done = corpus("stats --json").path(&cut).option("--rejected", &rejected).run().exits(0);
    let summary = done.json();
    assert_eq!(summary["rejected"], 1);
    assert!((500..900).contains(&summary["accepted"].as_u64().unwrap()), "{summary}");
    let lines = json_lines(&rejected);
    assert_eq!(lines.len(), 1);
    assert_eq!((&lines[0]["source"], &lines[0]["unit"]), (&"cut.warc.gz".into(), &"byte".into()));
    assert!(lines[0]["position"].as_u64().unwrap() > 1 << 20, "{}", lines[0]);
    corpus("stats --strict").path(&cut).run().exits(3);
}

#[test]
fn every_collection_has_the_documents_that_its_readme_counts() {
    let collections = [
        ("spam/spam-assassin.jsonl.zst", 6046),
        ("reuters/reuters21578.jsonl.zst", 21578),
        ("revisions/ethereum-eips.jsonl.zst", 5750),
        ("multilingual/libreoffice-help-ru.jsonl.zst", 2672),
        ("multilingual/libreoffice-help-ja.jsonl.zst", 2672),
    ];
    for (name, documents) in collections {
        let Some(path) = shared(name) else { continue };
        let summary = stats([path]);
        assert_eq!((&summary["documents"], &summary["rejected"]), (&documents.into(), &0.into()), "{name}");
    }
}

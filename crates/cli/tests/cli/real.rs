//! Real corpora, where they are at hand; each check has its counterpart on generated data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::job_support::{dedup, pairs};
use super::support::{Folder, corpus, json_lines, lookalike, program, skipped, stats};

/// A file of the shared collection.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    beside(&format!("data/{name}"))
}

/// A file beside the checkout.
fn beside(name: &str) -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("LOOKALIKE_SHARED").map_or_else(beside, PathBuf::from);
    let path = root.join(name);
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
fn two_crawls_share_the_addresses_that_are_in_both() {
    let names = ["docs-old.jsonl.zst", "docs-new.jsonl.zst", "docs-old.warc.gz", "docs-new.warc.gz"];
    let files: Option<Vec<PathBuf>> =
        names.iter().map(|name| shared(&format!("two-crawls/postgresql/{name}"))).collect();
    let Some(files) = files else { return };
    let folder = Folder::new();
    let run = |old: &Path, new: &Path, out: &str| {
        let out = folder.join(out);
        lookalike(["urls", "--progress", "none"])
            .path(old)
            .option("--with", new)
            .option("-o", &out)
            .run()
            .exits(0);
        out
    };
    let (lines, warc) = (run(&files[0], &files[1], "jsonl"), run(&files[2], &files[3], "warc"));
    for name in ["overlap.jsonl", "domains.tsv", "tlds.tsv", "survival.tsv", "rejected.jsonl", "recipe.toml"]
    {
        assert_eq!(
            std::fs::read(lines.join(name)).unwrap(),
            std::fs::read(warc.join(name)).unwrap(),
            "{name}"
        );
    }
    assert_eq!(json_lines(&lines.join("overlap.jsonl")).len(), 1079);
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(lines.join("summary.json")).unwrap()).unwrap();
    assert_eq!((&summary["left"]["urls"], &summary["right"]["urls"]), (&1132.into(), &1143.into()));
    assert_eq!(
        (&summary["similarity"]["pairs"], &summary["similarity"]["near"]),
        (&1079.into(), &842.into())
    );
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

/// The pairs that a method finds in a file, with their similarity as written.
fn found(input: &Path, method: &str) -> BTreeMap<(String, String), String> {
    let folder = Folder::new();
    let output = folder.join("pairs.jsonl");
    pairs(&format!("--method {method}")).path(input).option("-o", &output).run().exits(0);
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let pair =
        |line: &serde_json::Value| ((text(&line["a"]), text(&line["b"])), line["similarity"].to_string());
    json_lines(&output).iter().map(pair).collect()
}

#[test]
fn minhash_finds_what_the_exact_method_finds() {
    let mut names = vec![
        "reuters/reuters21578.jsonl.zst",
        "multilingual/libreoffice-help-ru.jsonl.zst",
        "multilingual/libreoffice-help-ja.jsonl.zst",
    ];
    let more = [
        "spam/spam-assassin.jsonl.zst",
        "revisions/ethereum-eips.jsonl.zst",
        "two-crawls/postgresql/*.jsonl.zst",
    ];
    match std::env::var_os("LOOKALIKE_ALL") {
        Some(_) => names.extend(more),
        None => skipped("LOOKALIKE_ALL is not set: the smaller collections alone"),
    }
    for name in names {
        let folder = name.split('*').next().unwrap();
        let Some(path) = shared(folder) else { continue };
        let input = PathBuf::from(format!("{}{}", path.display(), &name[folder.len()..]));
        let (minhash, exact) = (found(&input, "minhash"), found(&input, "exact"));
        assert!(!exact.is_empty(), "{name}");
        let wrong: Vec<_> =
            minhash.iter().filter(|(pair, similarity)| exact.get(pair) != Some(similarity)).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
        assert!(
            minhash.len() as f64 >= 0.98 * exact.len() as f64,
            "{name}: {} of {}",
            minhash.len(),
            exact.len()
        );
    }
}

#[test]
fn programs_that_share_no_code_agree() {
    let Some(checks) = beside("checks") else { return };
    let Some(spam) = shared("spam/spam-assassin.jsonl.zst") else { return };
    if !std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|done| done.status.success())
    {
        return skipped("no python3");
    }
    let folder = Folder::new();
    let lines = ::zstd::decode_all(std::fs::File::open(spam).unwrap()).unwrap();
    let clean = program("python3", [checks.join("clean.py")]).run_with(&lines).exits(0).stdout;
    let clean = folder.file("clean.jsonl", clean);
    let truth = program("python3", [checks.join("truth.py")]).path(&clean).path("0.8").run().exits(0).stdout;
    let truth = folder.file("truth.tsv", truth);
    let (table, job) = (folder.join("pairs.jsonl"), folder.join("job"));
    pairs("").path(&clean).option("-o", &table).run().exits(0);
    dedup("").path(&clean).option("-o", &job).run().exits(0);
    let check = |mode: &str| program("python3", [checks.join("check.py")]).path(mode).path(&truth);
    check("pairs").path(table).run().exits(0);
    check("dedup").path(job).path(clean).run().exits(0);
}

#[test]
fn two_crawls_of_a_site_are_compared_alike_from_json_lines_and_from_archives() {
    let Some(crawls) = shared("two-crawls/postgresql") else { return };
    let folder = Folder::new();
    let run = |ending: &str, method: &str| {
        let job = folder.join(format!("{method}{ending}"));
        let [old, new] = ["old", "new"].map(|side| crawls.join(format!("docs-{side}.{ending}")));
        let run =
            lookalike(["compare", "--progress", "none", "--method", method]).path(old).option("--with", new);
        run.option("-o", &job).run().exits(0);
        job
    };
    let near = |job: &Path| -> Vec<(String, String, f64)> {
        let pairs = json_lines(&job.join("pairs.jsonl"));
        let near = pairs.iter().filter(|pair| pair["near"] == true);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        near.map(|pair| (text(&pair["a"]), text(&pair["b"]), pair["similarity"].as_f64().unwrap())).collect()
    };
    let exact = near(&run("jsonl.zst", "exact"));
    let job = run("jsonl.zst", "minhash");
    let found = near(&job);
    assert!(found.iter().all(|pair| exact.contains(pair)));
    assert!(found.len() as f64 >= 0.98 * exact.len() as f64, "{} of {}", found.len(), exact.len());
    let archives = run("warc.gz", "minhash");
    for table in ["pairs.jsonl", "best.jsonl"] {
        assert_eq!(
            std::fs::read(job.join(table)).unwrap(),
            std::fs::read(archives.join(table)).unwrap(),
            "{table}"
        );
    }
    // The exact join over both crawls together has the same pairs between them.
    let both = folder.join("both.jsonl");
    let run = lookalike(["pairs", "--progress", "none", "--method", "exact"]);
    let run = run.path(crawls.join("docs-old.jsonl.zst")).path(crawls.join("docs-new.jsonl.zst"));
    run.option("-o", &both).run().exits(0);
    let side = |value: &Value| value.as_str().unwrap().contains("-old-");
    let across = json_lines(&both).iter().filter(|pair| side(&pair["a"]) != side(&pair["b"])).count();
    assert_eq!(across, exact.len());
}

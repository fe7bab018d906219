//! The cap on memory, held against inputs that were made to break it; `scripts/memory-attack` has more of them, and larger ones.
#![cfg(target_os = "linux")]

use std::path::Path;

use super::job_support::dedup;
use super::support::{Folder, Invocation, corpus, lookalike};

/// Runs a job on `input` under a cap and holds its peak against that.
#[track_caller]
fn assert_within(cap: &str, options: &str, input: &Path) {
    let folder = Folder::new();
    let job = folder.join("job");
    dedup(&format!("--threads 2 --memory {cap} {options}")).path(input).option("-o", &job).run().exits(0);
    let run = super::job_support::json(&job.join("run.json"));
    let [peak, cap] =
        ["peak_memory_bytes", "memory_cap_bytes"].map(|field| run[field].as_u64().expect("a number"));
    assert!(peak <= cap, "{options}: {peak} of {cap}");
}

#[test]
fn a_million_rejections_are_not_held_together() {
    let folder = Folder::new();
    let rows = "a,bcd\n".repeat(400_000);
    let table = folder.file("a.csv", format!("id,text,url\n0,a rose,\n{rows}"));
    assert_within("138M", "--max-document-bytes 1M --max-rejected 100%", &table);
    let lines = folder.file("b.jsonl", format!("{{\"text\":\"a rose\"}}\n{}", "{\n".repeat(400_000)));
    assert_within("138M", "--max-document-bytes 1M --max-rejected 100%", &lines);
}

#[test]
fn a_sample_of_what_packs_well_is_bounded() {
    let folder = Folder::new();
    let line = format!("{{\"text\":\"{}\"}}\n", "a ".repeat(5000));
    let input = folder.file("a.jsonl.zst", zstd::encode_all(line.repeat(4000).as_bytes(), 1).unwrap());
    assert_within("138M", "--max-document-bytes 1M", &input);
}

/// The --memory that a refusal asks for.
#[track_caller]
fn required_memory(refused: Invocation) -> String {
    let said = refused.run().exits(2).stderr;
    let figure = said.rsplit("--memory ").next().unwrap_or_default().trim();
    assert!(figure.ends_with('M') && figure.len() < 8, "{said}");
    figure.to_owned()
}

/// The megabytes of it.
#[track_caller]
fn required_megabytes(refused: Invocation) -> u64 {
    required_memory(refused).trim_end_matches('M').parse().expect("a number of megabytes")
}

#[test]
fn an_index_asks_for_little_more_memory_than_a_job() {
    let folder = Folder::new();
    let input = folder.file("a.jsonl", "{\"id\":\"a\",\"text\":\"a rose is a rose\"}\n".repeat(3));
    let place = folder.join("index");
    lookalike(["index", "create", "--progress", "none"]).path(&place).run().exits(0);
    let job =
        required_megabytes(dedup("--threads 2 --memory 1M").path(&input).option("-o", folder.join("job")));
    for (command, most) in [("query", 80), ("add", 100)] {
        let run = |megabytes: u64| {
            let memory = format!("{megabytes}M");
            let options = ["--threads", "2", "--progress", "none", "--memory", memory.as_str()];
            lookalike(["index", command].into_iter().chain(options)).path(&place).path(&input)
        };
        let needed = required_megabytes(run(1));
        assert!((job..=job + most).contains(&needed), "{command}: {needed} and {job} for a job");
        assert_eq!(required_megabytes(run(needed - 1)), needed, "{command}");
        run(needed).run().exits(0);
    }
}

#[test]
fn a_large_document_is_refused_by_an_index_with_the_figure_that_would_do() {
    let folder = Folder::new();
    let place = folder.join("index");
    let create = ["index", "create", "--progress", "none", "--max-document-bytes", "4M"];
    lookalike(create).path(&place).run().exits(0);
    let text = "\u{fdfa}".repeat(700_000);
    let input = folder.file("a.jsonl", format!("{}\n", serde_json::json!({ "id": "a", "text": text })));
    for command in ["query", "add"] {
        let run = |memory: &str| {
            let options = ["--threads", "2", "--progress", "none", "--memory", memory];
            lookalike(["index", command].into_iter().chain(options)).path(&place).path(&input)
        };
        let said = run("240M").run().exits(2).stderr;
        assert!(said.contains("one of the documents needs at least"), "{command}: {said}");
        run(&required_memory(run("240M"))).run().exits(0);
    }
}

#[test]
fn a_list_of_files_to_look_up_is_held_to_the_cap() {
    let folder = Folder::new();
    let place = folder.join("index");
    lookalike(["index", "create", "--progress", "none"]).path(&place).run().exits(0);
    // Long paths take more memory than many files.
    let mut deep = folder.join("deep");
    for _ in 0..12 {
        deep.push("d".repeat(240));
    }
    std::fs::create_dir_all(&deep).unwrap();
    for number in 0..2200 {
        std::fs::write(deep.join(format!("{number}.jsonl")), "{\"text\":\"a rose\"}\n").unwrap();
    }
    for command in ["query", "add"] {
        let run = |memory: &str| {
            let options = ["--threads", "2", "--progress", "none", "--memory", memory];
            lookalike(["index", command].into_iter().chain(options)).path(&place).path(folder.join("deep"))
        };
        let said = run("88M").run().exits(2).stderr;
        assert!(said.contains("a list of 2200 files needs at least"), "{command}: {said}");
        run(&required_memory(run("88M"))).run().exits(0);
    }
}

#[test]
fn a_text_that_grows_in_its_normal_form_is_refused_with_the_figure_that_would_do() {
    let folder = Folder::new();
    let text = "\u{fdfa}".repeat(700_000);
    let input = folder.file("a.jsonl", format!("{}\n", serde_json::json!({ "id": "a", "text": text })));
    let small = || dedup("--threads 2 --max-document-bytes 4M --memory 150M").path(&input);
    let figure = required_memory(small().option("-o", folder.join("small")));
    assert_within(&figure, "--max-document-bytes 4M", &input);
    let stats = corpus("stats --threads 2 --max-document-bytes 4M --memory 150M").path(&input);
    required_memory(stats);
}

//! Documents in the order of a field: the same rows as from a sorted copy, after kills too, and what cannot be ordered.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::faults::assert_survives;
use super::job_support::{
    Rng, assert_same, dedup, families, pairs, results, without_digests, without_places,
};
use super::support::{Doc, Folder, Invocation, corpus, jsonl, lookalike};

/// Documents that resemble each other, with a rank that has nothing to do with their places; some lines are broken.
fn ranked(count: usize, seed: u64) -> Vec<(Option<Doc>, String)> {
    let mut rng = Rng::new(seed);
    let mut lines = Vec::new();
    for (number, mut document) in families(count, seed).into_iter().enumerate() {
        // Ids that come again.
        document.id = format!("doc-{}", rng.below(count * 3 / 4));
        let mut record = json!({ "id": document.id, "url": document.url, "text": document.text });
        match rng.below(10) {
            0 => {}
            1..5 => record["rank"] = (rng.below(40) as f64 - 20.5).into(),
            _ => record["rank"] = rng.below(40).into(),
        }
        if number % 37 == 5 {
            lines.push((None, "{\"id\":\"none\",\"rank\":1}".to_owned()));
        }
        lines.push((Some(document), record.to_string()));
    }
    lines
}

/// The rank of a line.
fn rank(line: &str) -> Option<f64> {
    serde_json::from_str::<Value>(line).unwrap()["rank"].as_f64()
}

/// The same lines in order.
fn sorted(lines: &[(Option<Doc>, String)]) -> Vec<(Option<Doc>, String)> {
    let mut lines = lines.to_vec();
    lines.sort_by(|(a, left), (b, right)| match (a, b) {
        (Some(a), Some(b)) => {
            let [one, two] = [left, right].map(|line| rank(line).unwrap_or(f64::INFINITY));
            one.total_cmp(&two).then_with(|| a.id.as_bytes().cmp(b.id.as_bytes()))
        }
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
    lines
}

fn text(lines: &[(Option<Doc>, String)]) -> String {
    lines.iter().map(|(_, line)| format!("{line}\n")).collect()
}

/// Lines in several files, compressed or not.
fn put(folder: &Folder, name: &str, lines: &[(Option<Doc>, String)]) -> PathBuf {
    for (number, part) in lines.chunks(lines.len().div_ceil(3)).enumerate() {
        match number {
            1 => {
                folder.file(format!("{name}/{number}.jsonl.gz"), super::support::gzip(text(part).as_bytes()))
            }
            _ => folder.file(format!("{name}/{number}.jsonl"), text(part)),
        };
    }
    folder.join(name)
}

fn compare(words: &str) -> Invocation {
    lookalike(["compare", "--progress", "none"].into_iter().chain(words.split_whitespace()))
}

/// Returns the results of a job, without the parts that tell the location of its input.
fn rows(job: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = results(job);
    files.retain(|name, _| {
        !["recipe.toml", "rejected.jsonl", "report.html", "run.json"].contains(&name.as_str())
    });
    without_digests(&mut files);
    without_places(&mut files);
    files
}

#[test]
fn an_order_gives_the_rows_of_a_sorted_copy() {
    let folder = Folder::new();
    let lines = ranked(600, 3);
    let input = put(&folder, "in", &lines);
    let copy = folder.file("copy.jsonl", text(&sorted(&lines)));
    for (number, options) in [
        "",
        "--method simhash:n=3+5 --threads 3 --spool none",
        "--method imatch --keep longest --memory 300M",
        "--method a12 --max-group 3 --spool disk",
        "--max-group 4 --keep field:rank:desc --cluster components",
        "--unverified --within @host",
    ]
    .into_iter()
    .enumerate()
    {
        let job = |name: &str| folder.join(format!("{name}{number}"));
        let ordered = dedup(options).arg("--order-field").arg("rank").path(&input);
        let done = ordered.option("-o", job("one")).run().exits(0);
        assert!(!done.stderr.contains("order"), "{}", done.stderr);
        dedup(options).path(&copy).option("-o", job("two")).run().exits(0);
        let found = rows(&job("one"));
        assert!(found["removed.jsonl"].len() > 5_000, "{options}");
        assert_same(&rows(&job("two")), &found, options);
        let rejected = std::fs::read_to_string(job("one").join("rejected.jsonl")).unwrap();
        assert_eq!(rejected.lines().count(), lines.iter().filter(|(document, _)| document.is_none()).count());
        assert!(rejected.contains("{\"source\":\"1.jsonl.gz\",\"position\":"), "{rejected}");
    }
}

#[test]
fn pairs_and_another_corpus_come_in_order_too() {
    let folder = Folder::new();
    let lines = ranked(500, 4);
    let (old, new) = lines.split_at(150);
    for (name, lines) in [("old", old), ("new", new)] {
        put(&folder, &format!("one/{name}"), lines);
        folder.file(format!("two/{name}/all.jsonl"), text(&sorted(lines)));
    }
    // Names of inputs are told in a comparison.
    let run = |name: &str, order: &str| {
        let place = folder.join(name);
        let end = |run: Invocation| run.inside(&place).run().exits(0);
        end(pairs(order).arg("new").option("-o", "pairs.jsonl"));
        end(dedup(order).arg("new").option("--against", "old").option("-o", "dedup"));
        end(compare(order).arg("old").option("--with", "new").option("-o", "compare"));
        let table = std::fs::read(place.join("pairs.jsonl")).unwrap();
        (table, rows(&place.join("dedup")), rows(&place.join("compare")))
    };
    let (table, job, compared) = run("one", "--order-field rank");
    let (other_table, other_job, other_compared) = run("two", "");
    assert!(table.len() > 2_000, "{}", table.len());
    assert!(table == other_table);
    assert_same(&other_job, &job, "--against");
    assert!(compared["pairs.jsonl"].len() > 2_000);
    assert_same(&other_compared, &compared, "compare");
}

#[test]
fn segments_are_told_by_files_in_any_order() {
    let folder = Folder::new();
    let lines = ranked(400, 9);
    let (left, right) = lines.split_at(120);
    let inputs = [put(&folder, "left", left), put(&folder, "right", right)];
    let counted = |order: &str, name: &str| {
        let job = folder.join(name);
        let run = compare(&format!("--segment file --method simhash:n=2 --method minhash {order}"));
        run.path(&inputs[0]).option("--with", &inputs[1]).option("-o", &job).run().exits(0);
        let summary = super::job_support::json(&job.join("summary.json"));
        let parts = ["segments", "statistics", "accumulated", "differences"];
        parts.map(|part| summary[part].clone())
    };
    let found = counted("--order-field rank", "one");
    assert_eq!(found[0].as_array().unwrap().len(), 3);
    assert_eq!(found, counted("", "two"));
}

#[test]
fn all_formats_give_one_order() {
    let folder = Folder::new();
    let mut documents = families(200, 6);
    documents.reverse();
    let source = folder.file("in/a.jsonl", jsonl(&documents));
    let mut formats = vec!["c.jsonl.zst"];
    formats.extend(cfg!(feature = "parquet").then_some("d.parquet"));
    let run = |input: &Path, name: &str, order: &str| {
        let job = folder.join(name);
        dedup(order).path(input).option("-o", &job).run().exits(0);
        rows(&job)
    };
    let expected = run(&source, "expected", "--order-field url");
    assert!(expected["removed.jsonl"].len() > 1_000);
    documents.sort_by(|a, b| a.url.cmp(&b.url));
    let copy = folder.file("copy.jsonl", jsonl(&documents));
    assert_same(&run(&copy, "copied", ""), &expected, "a sorted copy");
    for name in formats {
        let input = folder.join(name);
        corpus("convert --progress none").path(&source).option("-o", &input).run().exits(0);
        assert_same(&expected, &run(&input, &format!("job {name}"), "--order-field url"), name);
    }
    let cells = |document: &Doc| {
        format!("{},\"{}\",{}\n", document.id, document.text, document.url.as_ref().unwrap())
    };
    let table: String = documents.iter().map(cells).collect();
    let table = folder.file("b.csv", format!("id,text,url\n{table}"));
    assert_same(&expected, &run(&table, "csv", "--order-field url"), "CSV");
    // Where there are no fields, there are ids.
    let input = folder.join("e.warc.gz");
    corpus("convert --progress none").path(&source).option("-o", &input).run().exits(0);
    let by_id = run(&source, "by id", "--order-field id");
    assert_same(&by_id, &run(&input, "warc", "--order-field id"), "WARC");
    dedup("--order-field rank")
        .path(&input)
        .option("-o", folder.join("none"))
        .run()
        .refuses_with(1, &["has a field \"rank\"; there are WARC-Type, "]);
}

#[test]
fn threads_memory_spool_and_shards_change_no_byte_of_an_ordered_job() {
    let folder = Folder::new();
    let lines = ranked(500, 12);
    let inputs = [put(&folder, "three", &lines), folder.file("one/all.jsonl", text(&lines))];
    let mut all = Vec::new();
    for (number, (input, options)) in [
        (0, "--threads 1"),
        (0, "--threads 4 --spool none --memory 250M"),
        (1, "--threads 2 --spool disk"),
        (1, "--threads 3"),
    ]
    .into_iter()
    .enumerate()
    {
        let job = folder.join(format!("job{number}"));
        let format = if cfg!(feature = "parquet") { "--format parquet" } else { "" };
        let run = dedup(&format!("{options} {format} --order-field rank"));
        run.path(&inputs[input]).option("-o", &job).run().exits(0);
        let mut files = results(&job);
        files.retain(|name, _| {
            !["report.html", "run.json"].contains(&name.as_str()) && !name.starts_with("rejected")
        });
        without_digests(&mut files);
        without_places(&mut files);
        all.push(files);
    }
    all.iter().for_each(|found| assert_same(&all[0], found, "another way"));
}

#[test]
fn an_ordered_job_killed_at_any_moment_goes_on_and_ends_with_the_same_bytes() {
    let folder = Folder::new();
    let input = put(&folder, "in", &ranked(4000, 1));
    let out = folder.join("out");
    std::fs::create_dir(&out).unwrap();
    let job = out.join("job");
    let run = || dedup("--threads 2 --write kept --order-field rank").path(&input).option("-o", &job);
    assert_survives(run, &job, &out, 5, |running| {
        running.signal(Signal::KILL);
        running.end();
    });
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_cap_holds_for_an_ordered_job() {
    let folder = Folder::new();
    let input = put(&folder, "in", &ranked(12_000, 2));
    for options in ["", "--spool none --write kept --annotate"] {
        let job = folder.join("job");
        let words = format!("--threads 4 --max-document-bytes 1M --memory 146M --order-field rank {options}");
        dedup(&words).path(&input).option("-o", &job).run().exits(0);
        let run = super::job_support::json(&job.join("run.json"));
        let [peak, cap] = ["peak_memory_bytes", "memory_cap_bytes"].map(|name| run[name].as_u64().unwrap());
        assert!(peak <= cap, "{options}: {peak} of {cap}");
        assert!(run["seconds_by_stage"]["order"].is_number());
        std::fs::remove_dir_all(&job).unwrap();
    }
}

#[test]
fn an_order_is_part_of_the_recipe() {
    let folder = Folder::new();
    let input = put(&folder, "in", &ranked(200, 8));
    let job = |name: &str| folder.join(name);
    let run = |words: &str, name: &str| dedup(words).path(&input).option("-o", job(name));
    run("--order-field rank", "first/job").run().exits(0);
    let recipe = job("first/job/recipe.toml");
    assert!(std::fs::read_to_string(&recipe).unwrap().contains("\norder = \"rank\"\n"));
    run(&format!("--recipe {}", recipe.display()), "second/job").run().exits(0);
    assert_same(&results(&job("first/job")), &results(&job("second/job")), "replayed");
    run("", "first/job").run().refuses_with(1, &["another recipe", "there order = \"rank\""]);
    run("--order-field id", "first/job").run().refuses_with(1, &["order = \"rank\"", "order = \"id\""]);
    let done = run(&format!("--recipe {} --order-field id", recipe.display()), "x").run().exits(2);
    assert!(done.stderr.contains("cannot be used with"), "{}", done.stderr);
    run("--plan --order-field rank", "x").run().exits(0);
    assert!(!job("x").exists());
    run("", "third/job").run().exits(0);
    assert!(!std::fs::read_to_string(job("third/job/recipe.toml")).unwrap().contains("order"));
}

#[test]
fn what_takes_documents_as_they_come_refuses_an_order() {
    let folder = Folder::new();
    let input = put(&folder, "in", &ranked(100, 8));
    let job = folder.join("job");
    dedup("--order-field rank").path(&input).option("-o", &job).run().exits(0);
    let run = dedup("--order-field rank").path(&input).option("-o", folder.join("x"));
    run.option("--into", folder.join("seen"))
        .run()
        .refuses_with(2, &["an index takes documents as they come"]);
    let recipe = job.join("recipe.toml");
    for command in ["index create", "transfer --judgments q --from a --to b -o x"] {
        let run = lookalike(command.split_whitespace());
        let run = if command.starts_with("index") { run.path(folder.join("seen")) } else { run };
        run.option("--recipe", &recipe).run().refuses_with(2, &["in the order of rank", "without order"]);
    }
    lookalike(["lab", "check"]).path(&job).run().refuses_with(2, &["--order-field cannot be checked"]);
    let names = folder.names();
    assert!(!names.contains(&"seen".to_owned()) && !names.contains(&"x".to_owned()), "{names:?}");
}

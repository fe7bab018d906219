//! Addresses that corpora share: the files of a comparison, lists, judgments, snapshots, and what disturbs it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;

use super::faults::assert_survives;
use super::job_support::{Rng, assert_same, results, without_digests};
use super::support::{Doc, Folder, Invocation, corpus, gzip, json_lines, jsonl, lookalike, zstd};

/// `lookalike urls …` with words as in a shell.
fn urls(words: &str) -> Invocation {
    lookalike(std::iter::once("urls").chain(words.split_whitespace()))
}

/// Two crawls of some hosts, years apart: of 600 pages some go, some change, some are new, and addresses are written otherwise.
fn crawls() -> [Vec<Doc>; 2] {
    let mut rng = Rng::new(3);
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for number in 0..600 {
        let host = ["www.a.com", "b.org", "news.c.co.uk", "10.1.2.3"][rng.below(4)];
        let path = ["", "x/", "x/y/"][rng.below(3)];
        let words: Vec<String> = (0..40).map(|_| format!("w{}", rng.below(300))).collect();
        let page = |id: String, address: String, words: &[String]| Doc {
            id,
            url: (number % 50 != 0).then_some(address),
            text: words.join(" "),
        };
        let address = format!("http://{host}/{path}p{number}");
        if number % 7 != 0 {
            old.push(page(format!("old-{number}"), address.clone(), &words));
        }
        if rng.below(3) > 0 {
            let mut words = words.clone();
            (0..rng.below(12)).for_each(|_| words[rng.below(40)] = format!("n{}", rng.below(300)));
            let shouted = address.replace("http://", "HTTP://") + "#top";
            new.push(page(format!("new-{number}"), shouted, &words));
        }
    }
    [old, new]
}

/// The counts of a finished comparison.
fn summary(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("summary.json")).unwrap()).unwrap()
}

/// Every file but the one that tells of the machine.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = results(folder);
    files.remove("run.json");
    files
}

fn written(folder: &Folder) -> [PathBuf; 2] {
    let [old, new] = crawls();
    [folder.file("in/old.jsonl", jsonl(&old)), folder.file("in/new.jsonl", jsonl(&new))]
}

#[test]
fn shared_addresses_are_listed_in_the_order_of_the_left_corpus() {
    let folder = Folder::new();
    let [old, new] = written(&folder);
    let out = folder.join("out");
    let done = urls("").path(&old).option("--with", &new).option("-o", &out).run().exits(0);
    insta::assert_snapshot!("urls", done.stdout.replace(&folder.path().display().to_string(), "FOLDER"));
    let names: Vec<String> = files(&out).into_keys().collect();
    let wanted = [
        "domains.tsv",
        "overlap.jsonl",
        "recipe.toml",
        "rejected.jsonl",
        "report.html",
        "summary.json",
        "survival.tsv",
        "tlds.tsv",
    ];
    assert_eq!(names, wanted);
    let [old, new] = crawls();
    let page = |doc: &Doc| doc.id.rsplit('-').next().unwrap().parse::<usize>().unwrap();
    let there: BTreeMap<usize, &Doc> =
        new.iter().filter(|doc| doc.url.is_some()).map(|doc| (page(doc), doc)).collect();
    let shared: Vec<(&Doc, &Doc)> = old
        .iter()
        .filter(|doc| doc.url.is_some())
        .filter_map(|doc| Some((doc, *there.get(&page(doc))?)))
        .collect();
    let lines = json_lines(&out.join("overlap.jsonl"));
    assert_eq!(lines.len(), shared.len());
    for (line, (old, new)) in lines.iter().zip(&shared) {
        assert_eq!(line["url"], *old.url.as_ref().unwrap());
        assert_eq!(
            (&line["left"], &line["right"]),
            (&vec![old.id.as_str()].into(), &vec![new.id.as_str()].into())
        );
        let set = |text: &str| text.split(' ').map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        let (a, b) = (set(&old.text), set(&new.text));
        let jaccard = a.intersection(&b).count() as f64 / a.union(&b).count() as f64;
        assert!((line["similarity"].as_f64().unwrap() - jaccard).abs() < 1e-9, "{line}");
    }
    let summary = summary(&out);
    assert_eq!(summary["shared_urls"], shared.len());
    assert_eq!(summary["similarity"]["pairs"], shared.len());
    insta::assert_snapshot!("urls-tlds", std::fs::read_to_string(out.join("tlds.tsv")).unwrap());
    insta::assert_snapshot!("urls-survival", std::fs::read_to_string(out.join("survival.tsv")).unwrap());
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("What survived") && !page.contains("NaN") && !page.contains("Over time"));
}

#[test]
fn threads_memory_and_format_change_no_byte() {
    let folder = Folder::new();
    let [old, new] = written(&folder);
    let out = |name: &str| folder.join(format!("out/{name}"));
    let run = |options: &str, old: &Path, new: &Path, name: &str| {
        urls(options).path(old).option("--with", new).option("-o", out(name)).run().exits(0);
        files(&out(name))
    };
    let expected = run("--threads 1", &old, &new, "expected");
    for options in ["--threads 2", "--threads 3 --memory 256M"] {
        assert_same(&expected, &run(options, &old, &new, &options.replace([' ', '-'], "")), options);
    }
    // As WARC and compressed, all is the same but the names of the files.
    let packed = ["old", "new"].map(|name| {
        let packed = folder.join(format!("in/{name}.warc.gz"));
        corpus("convert").path(folder.join(format!("in/{name}.jsonl"))).option("-o", &packed).run().exits(0);
        packed
    });
    let unnamed = |mut files: BTreeMap<String, Vec<u8>>| {
        without_digests(&mut files);
        for name in ["summary.json", "report.html"] {
            let text = String::from_utf8(files.remove(name).unwrap()).unwrap();
            files.insert(name.to_owned(), text.replace(".warc.gz", ".jsonl").into_bytes());
        }
        files
    };
    let packed = run("", &packed[0], &packed[1], "warc");
    assert_same(&unnamed(expected), &unnamed(packed), "warc");
}

#[test]
fn lists_need_no_texts_and_say_where_they_are_wrong() {
    let folder = Folder::new();
    let left =
        folder.file("left.txt", "a\thttp://a.org/1\nb\thttp://a.org/2\nno address\n\nc\thttp://b.com/\n");
    let right = folder.file("right.gz", gzip(b"http://a.org/2\nhttps://b.com/\nwww.c.de/x\n"));
    let out = folder.join("out");
    urls("--strict").path(&left).option("--with", &right).option("-o", &out).run().exits(3);
    let lines = std::fs::read_to_string(out.join("overlap.jsonl")).unwrap();
    assert_eq!(
        lines,
        "{\"url\":\"http://a.org/2\",\"left\":[\"b\"],\"right\":[\"right.gz#0\"],\"similarity\":null}\n"
    );
    let rejected = json_lines(&out.join("rejected.jsonl"));
    let told = |line: &Value| {
        (
            line["side"].as_str().unwrap().to_owned(),
            line["source"].as_str().unwrap().to_owned(),
            line["position"].as_u64(),
        )
    };
    let told: Vec<_> = rejected.iter().map(told).collect();
    let wanted = [("left", "left.txt", 34), ("right", "right.gz", 30)];
    assert_eq!(told, wanted.map(|(side, source, at)| (side.to_owned(), source.to_owned(), Some(at))));
    let reason = "missing field: no address, such as http://host/path, alone or behind an id and a tab";
    assert!(rejected.iter().all(|line| line["reason"] == reason), "{rejected:?}");
    let summary = summary(&out);
    assert_eq!((&summary["left"]["documents"], &summary["left"]["rejected"]), (&4.into(), &1.into()));
    assert_eq!(summary["similarity"]["pairs"], 0);
    // Canonically http and https are one.
    let out = folder.join("canonical");
    urls("--match canonical").path(&left).option("--with", &right).option("-o", &out).run().exits(0);
    assert_eq!(self::summary(&out)["shared_urls"], 2);
}

#[test]
fn every_kind_of_list_is_the_same_list() {
    let folder = Folder::new();
    let number = |n: usize| (format!("id{n}"), format!("http://h{}.com/{n}", n % 5));
    let of = |line: &dyn Fn(String, String) -> String| -> String {
        (0..50).map(number).map(|(id, url)| line(id, url) + "\n").collect()
    };
    let right = folder.file("right", of(&|_, url| url));
    let lists = [
        ("tabs", of(&|id, url| format!("{id}\t{url}"))),
        ("list.tsv", of(&|id, url| format!("{id}\t{url}\tmore"))),
        ("head.tsv", format!("id\turl\n{}", of(&|id, url| format!("{id}\t{url}")))),
        ("table.csv", format!("url,id\n{}", of(&|id, url| format!("{url},{id}")))),
        ("lines.jsonl", of(&|id, url| serde_json::json!({"id": id, "url": url}).to_string())),
        ("named.jsonl", of(&|id, url| serde_json::json!({"id": id, "url": url, "text": null}).to_string())),
    ];
    let mut found = Vec::new();
    for (name, content) in &lists {
        let (left, out) = (folder.file(name, content), folder.join(format!("out-{name}")));
        urls("").path(&left).option("--with", &right).option("-o", &out).run().exits(0);
        found.push(std::fs::read_to_string(out.join("overlap.jsonl")).unwrap());
        assert_eq!(summary(&out)["shared_urls"], 50, "{name}");
    }
    assert!(found.iter().all(|lines| *lines == found[0]));
    assert_eq!(
        found[0].lines().nth(7).unwrap(),
        "{\"url\":\"http://h2.com/7\",\"left\":[\"id7\"],\"right\":[\"right#7\"],\"similarity\":null}"
    );
    // From standard input, too.
    let (_, lines) = &lists[0];
    let out = folder.join("stdin");
    urls("-").option("--with", &right).option("-o", &out).run_with(lines.as_bytes()).exits(0);
    assert_eq!(std::fs::read_to_string(out.join("overlap.jsonl")).unwrap(), found[0]);
}

#[test]
fn judged_documents_have_columns_of_their_own() {
    let folder = Folder::new();
    let [old, new] = written(&folder);
    let mut qrels = String::new();
    (0..600).step_by(3).for_each(|n| writeln!(qrels, "{} 0 old-{n} {}", 50 + n % 4, n % 3).unwrap());
    let qrels = folder.file("qrels.txt", zstd(qrels.as_bytes()));
    let out = folder.join("out");
    let run = || urls("").path(&old).option("--with", &new).option("-o", &out).option("--judgments", &qrels);
    run().run().exits(0);
    let judged = &summary(&out)["judged"];
    let [old, new] = crawls();
    let is_judged =
        |doc: &&Doc| doc.id.rsplit('-').next().unwrap().parse::<usize>().unwrap().is_multiple_of(3);
    assert_eq!(
        (&judged["judged"], &judged["found"]),
        (&200.into(), &old.iter().filter(is_judged).count().into())
    );
    let addresses: Vec<String> = new.iter().filter_map(|doc| doc.url.clone()).collect();
    let moved = |doc: &&Doc| {
        doc.url.as_ref().is_some_and(|url| addresses.contains(&(url.replace("http://", "HTTP://") + "#top")))
    };
    assert_eq!(judged["with_shared_url"], old.iter().filter(is_judged).filter(moved).count());
    let table = std::fs::read_to_string(out.join("tlds.tsv")).unwrap();
    assert!(
        table.lines().next().unwrap().ends_with("\tjudged\tjudged_share\tjudged_shared\tjudged_shared_share")
    );
    // Judgments are a part of what was asked for.
    let done = urls("")
        .path(folder.join("in/old.jsonl"))
        .option("--with", folder.join("in/new.jsonl"))
        .option("-o", &out);
    done.run().refuses_with(1, &["another recipe", "judgments"]);
    let broken = folder.file("broken.txt", "1 0\n");
    let other = urls("").path(folder.join("in/old.jsonl")).option("--with", folder.join("in/new.jsonl"));
    let done = other.option("-o", folder.join("other")).option("--judgments", &broken).run().exits(1);
    assert!(done.stderr.contains("broken.txt, line 1"), "{}", done.stderr);
}

/// Five snapshots of 400 pages, of which a tenth goes and a fifth changes each time.
fn snapshots(folder: &Folder) -> Vec<PathBuf> {
    let mut rng = Rng::new(11);
    let mut pages: Vec<(usize, Vec<usize>)> =
        (0..400).map(|n| (n, (0..50).map(|_| rng.below(900)).collect())).collect();
    let mut files = Vec::new();
    for time in 0..5 {
        if time > 0 {
            pages.retain(|_| rng.below(10) > 0);
            for (_, words) in &mut pages {
                let changes = if rng.below(5) == 0 { 10 } else { 0 };
                (0..changes).for_each(|_| words[rng.below(9)] = 1000 + rng.below(900));
            }
            let fresh = (0..20).map(|n| (1000 * time + n, vec![n; 9]));
            pages.extend(fresh);
        }
        let document = |(n, words): &(usize, Vec<usize>)| Doc {
            id: format!("{time}-{n}"),
            url: Some(format!("http://h{}.{}/{n}", n % 9, ["com", "org", "de"][n % 3])),
            text: words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" "),
        };
        let documents: Vec<Doc> = pages.iter().map(document).collect();
        let (first, second) = documents.split_at(documents.len() / 2);
        files.push(folder.file(format!("t{time}/a.jsonl"), jsonl(first)));
        folder.file(format!("t{time}/b.jsonl.gz"), gzip(&jsonl(second)));
    }
    files
}

#[test]
fn snapshots_tell_how_pages_live_on() {
    let folder = Folder::new();
    snapshots(&folder);
    let out = folder.join("out");
    let mut run = urls("t0/a.jsonl t0/b.jsonl.gz");
    for time in 1..5 {
        // A snapshot of two inputs is one snapshot.
        run = run.arg("--with").arg(&format!("t{time}/a.jsonl")).arg(&format!("t{time}/b.jsonl.gz"));
    }
    let done = run.option("-o", &out).inside(folder.path()).run().exits(0);
    assert!(done.stdout.contains("half-life of addresses"), "{}", done.stdout);
    let rows = json_lines(&out.join("snapshots.jsonl"));
    let all: Vec<&Value> = rows.iter().filter(|row| row["tld"].is_null()).collect();
    assert_eq!((all.len(), rows.len()), (4, 4 + 3 * 4));
    let number = |row: &Value, name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name} of {row}"));
    let falls = |name: &str| all.windows(2).all(|two| number(two[1], name) <= number(two[0], name));
    for name in ["still", "always", "shingles_there", "shingles_all", "unchanged_share"] {
        assert!(falls(name), "{name}: {all:#?}");
    }
    for row in &all {
        assert_eq!((&row["left_urls"], &row["new"]), (&400.into(), &20.into()));
        assert!(number(row, "shingles_all") <= number(row, "shingles_there"));
        assert!(number(row, "unchanged_since_share") > 0.7 && number(row, "kept_share") > 0.8, "{row}");
    }
    let summary = summary(&out);
    let half = summary["half_life"].as_f64().unwrap();
    // A tenth goes each time: half of it after ln 2 / -ln 0.9 times.
    assert!((5.0..9.0).contains(&half), "{half}");
    assert!(summary["shingle_half_life"].as_f64().unwrap() < half);
    insta::assert_snapshot!("urls-snapshots", std::fs::read_to_string(out.join("snapshots.tsv")).unwrap());
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("Over time") && !page.contains("NaN"));
    // What compares two sides is what it is without the later ones.
    let first = folder.join("first");
    let run = urls("t0/a.jsonl t0/b.jsonl.gz --with t1/a.jsonl t1/b.jsonl.gz");
    run.option("-o", &first).inside(folder.path()).run().exits(0);
    for name in ["overlap.jsonl", "domains.tsv", "tlds.tsv", "survival.tsv"] {
        assert_eq!(
            std::fs::read(first.join(name)).unwrap(),
            std::fs::read(out.join(name)).unwrap(),
            "{name}"
        );
    }
    assert!(!first.join("snapshots.tsv").exists());
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    let folder = Folder::new();
    let [old, new] = written(&folder);
    let out = folder.join("out");
    let run = |options: &str| urls(options).path(&old).option("--with", &new).option("-o", &out);
    let done = urls("").path(&old).option("-o", &out).run().exits(2);
    assert!(done.stderr.contains("--with"), "{}", done.stderr);
    urls("")
        .path(folder.join("in"))
        .option("--with", &new)
        .option("-o", folder.join("in/out"))
        .run()
        .exits(2);
    urls("- --with -").option("-o", &out).run().fails(2, "standard input can be read only once; give - once");
    let missing = folder.join("none.txt");
    let done = urls("").path(&missing).option("--with", &new).option("-o", &out).run().exits(1);
    assert!(done.stderr.contains("neither a file, a folder nor a pattern"), "{}", done.stderr);
    run("--memory 100M").run().refuses_with(2, &["--memory is too small"]);
    run("--no-similarity --shingle 3").run().exits(2);
    assert!(!out.exists());
    run("").run().exits(0);
    let again = run("--threads 1").run().exits(0);
    assert!(again.stderr.contains("holds this job, finished"), "{}", again.stderr);
    run("--match exact").run().refuses_with(1, &["another recipe", "matching"]);
    std::fs::write(&new, "").unwrap();
    run("").run().refuses_with(1, &["the input changed"]);
    // A table without addresses says which columns there are.
    let table = folder.file("table.csv", "id,text\n1,x\n");
    let done = urls("").path(&table).option("--with", &old).option("-o", folder.join("table")).run().exits(1);
    assert!(
        done.stderr.contains("has no column \"url\"; its columns are \"id\", \"text\""),
        "{}",
        done.stderr
    );
    // Where nothing has an address, there is nothing to compare.
    let texts = folder.file("texts.jsonl", "{\"id\":1,\"text\":\"x\"}\n");
    let done = urls("").path(&texts).option("--with", &old).option("-o", folder.join("texts")).run().exits(1);
    let said = "in texts.jsonl has a field \"url\" with an address; there are id, text";
    assert!(done.stderr.contains(said), "{}", done.stderr);
    // The folder of another command is not touched.
    let job = folder.join("job");
    lookalike(["dedup", "--progress", "none"]).path(&old).option("-o", &job).run().exits(0);
    urls("").path(&old).option("--with", &old).option("-o", &job).run().refuses_with(1, &["another recipe"]);
}

#[test]
fn a_comparison_killed_at_any_moment_goes_on_and_ends_with_the_same_bytes() {
    let folder = Folder::new();
    let mut rng = Rng::new(5);
    for (side, count) in [("left", 30_000), ("right", 30_000)] {
        for part in 0..3 {
            let mut lines = String::new();
            for n in 0..count / 3 {
                let page = rng.below(60_000);
                let text = format!("{} {}", page, "word ".repeat(page % 7));
                let url = format!("http://h{}.com/{page}", page % 300);
                writeln!(
                    lines,
                    "{}",
                    serde_json::json!({"id": format!("{side}-{part}-{n}"), "url": url, "text": text})
                )
                .unwrap();
            }
            folder.file(format!("{side}/{part}.jsonl"), lines);
        }
    }
    let out = folder.join("out");
    std::fs::create_dir(&out).unwrap();
    let job = out.join("job");
    let run = || {
        urls("--threads 2")
            .path(folder.join("left"))
            .option("--with", folder.join("right"))
            .option("-o", &job)
    };
    assert_survives(run, &job, &out, 2, |running| {
        running.signal(Signal::KILL);
        running.end();
    });
}

#[test]
fn a_document_that_memory_cannot_hold_is_told_of_before_it_does_harm() {
    let folder = Folder::new();
    let page =
        format!("{}\n", serde_json::json!({"id": "a", "url": "http://a.com/", "text": "x ".repeat(8 << 20)}));
    let (left, right) = (folder.file("left.jsonl", &page), folder.file("right.jsonl", &page));
    let run = |options: &str, out: &str| {
        urls(options).path(&left).option("--with", &right).option("-o", folder.join(out)).run()
    };
    run("--memory 210M --threads 2", "small")
        .refuses_with(2, &["--memory is too small: one of the documents"]);
    // Where texts are not wanted, it is an address like any other; and a larger cap goes on where the smaller one ended.
    run("--memory 210M --threads 2 --no-similarity", "addresses").exits(0);
    run("--memory 1G --threads 2", "small").exits(0);
    assert_eq!(summary(&folder.join("small"))["similarity"]["unchanged"], 1);
}

#[test]
fn the_memory_cap_holds() {
    let folder = Folder::new();
    let list = |seed: u64| -> String {
        let mut rng = Rng::new(seed);
        let line = |n: usize, page: usize| {
            format!("doc-{seed}-{n}\thttp://www.host{}.com/a/b/page-{page}.html\n", page % 90_000)
        };
        (0..400_000).map(|n| line(n, rng.below(1_000_000))).collect()
    };
    let (left, right) = (folder.file("left.tsv", list(1)), folder.file("right.tsv", list(2)));
    let cap = 146 << 20;
    let run = |options: &str, out: &str| {
        let out = folder.join(out);
        urls(options).path(&left).option("--with", &right).option("-o", &out).run().exits(0);
        let facts: Value = serde_json::from_slice(&std::fs::read(out.join("run.json")).unwrap()).unwrap();
        (files(&out), facts["peak_memory_bytes"].as_u64())
    };
    let (small, peak) = run("--memory 146M --threads 2 --max-document-bytes 1M", "small");
    assert!(peak.is_none_or(|peak| peak < cap), "{peak:?}");
    assert_same(&run("--memory 2G --threads 1 --max-document-bytes 1M", "large").0, &small, "little memory");
}

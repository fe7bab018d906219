//! The census: engines of known size are built, asked, and asked again from the record.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::job_support::Rng;
use super::support::{Doc, Folder, Invocation, RunOutput, json_lines, jsonl, lookalike};

/// `lookalike census …` with words as in a shell.
fn census(words: &str) -> Invocation {
    lookalike(["census"].into_iter().chain(words.split_whitespace()))
}

/// Parses the output of `--json`.
fn json(done: &RunOutput) -> Value {
    serde_json::from_str(&done.stdout).expect("standard output is JSON")
}

/// Asserts that it ended with `code` and told why in one line, which has these words.
#[track_caller]
fn assert_fails_with(done: RunOutput, code: i32, words: &str) {
    let done = done.exits(code);
    assert!(done.stderr.contains(words) && done.stderr.lines().count() == 1, "{}", done.stderr);
    assert_eq!(done.stdout, "");
}

/// Pages of 10 to 90 words, of which frequent ones are frequent.
fn pages(seed: u64, count: usize, name: &str) -> Vec<Doc> {
    let mut rng = Rng::new(seed);
    let mut word = || {
        let bound = (0..2).fold(6_000, |bound, _| 1 + rng.below(bound));
        format!("w{}", rng.below(bound))
    };
    (0..count)
        .map(|number| {
            let words: Vec<String> = (0..10 + number * 7 % 80).map(|_| word()).collect();
            Doc { id: format!("{name}-{number}"), url: None, text: words.join(" ") }
        })
        .collect()
}

/// The engine of the first index: another than that of the second, where it is built in.
const FIRST_KIND: &str =
    if cfg!(feature = "tantivy") { "index --kind tantivy" } else { "index --kind sqlite" };

/// An index of 900 pages for tantivy, one of 700 for SQLite that shares 400 with it, and own documents.
fn engines(folder: &Folder) -> [PathBuf; 3] {
    let all = pages(5, 1_200, "page");
    let own = folder.file("own.jsonl", jsonl(&pages(6, 400, "own")));
    let (one, two) = (folder.join("one"), folder.join("two.db"));
    let first = folder.file("first.jsonl", jsonl(&all[..900]));
    let second = folder.file("second.jsonl", jsonl(&all[500..]));
    let done = census(FIRST_KIND).path(first).option("-o", &one).run().exits(0);
    assert!(done.stdout.starts_with("900 pages in "), "{}", done.stdout);
    census("index --kind sqlite").path(second).option("-o", &two).run().exits(0);
    [one, two, own]
}

fn value(report: &Value, path: &str) -> f64 {
    report.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} in {report}"))
}

fn size(engine: &Path, own: &Path, more: &str) -> Invocation {
    let words = format!("size --calls 700 --limit 100 --json {more}");
    census(&words).path(engine).option("--own", own)
}

#[test]
fn a_size_is_estimated_recorded_and_replayed() {
    let folder = Folder::new();
    let [one, _, own] = engines(&folder);
    let record = folder.join("record.jsonl");
    let report = json(&size(&one, &own, "--lower-bound").option("--transcript", &record).run().exits(0));
    let pages = value(&report, "/pages/value");
    assert!((600.0..1_300.0).contains(&pages), "{pages}");
    assert!(value(&report, "/pages/low") < pages && pages < value(&report, "/pages/high"));
    assert!(value(&report, "/lower_bound") <= 900.0);
    assert!(value(&report, "/distinct/share/value") > 0.9, "there are no near-duplicates");
    assert_eq!(report.pointer("/engine/calls").unwrap(), 700);
    // From the record alone, and with the engine at hand: the same, and nothing is asked.
    let replayed = format!("transcript:{}", record.display());
    for engine in [Path::new(&replayed), &one] {
        let again = json(&size(engine, &own, "--lower-bound").option("--transcript", &record).run().exits(0));
        for part in ["pages", "distinct", "lower_bound", "draws", "seen"] {
            assert_eq!(again[part], report[part], "{part}");
        }
        assert_eq!(again.pointer("/engine/calls_made").unwrap(), 0);
    }
    // Two records are told apart by names.
    let named = format!("then={replayed}");
    let again = json(&size(Path::new(&named), &own, "--lower-bound").run().exits(0));
    assert_eq!((&again["engine"]["name"], &again["pages"]), (&Value::from("then"), &report["pages"]));
    // Cut off in the midst: what is missing is asked for, and no more.
    let bytes = std::fs::read(&record).unwrap();
    std::fs::write(&record, &bytes[..bytes.len() / 2]).unwrap();
    let again = json(&size(&one, &own, "--lower-bound").option("--transcript", &record).run().exits(0));
    assert_eq!(again["pages"], report["pages"]);
    let made = value(&again, "/engine/calls_made");
    assert!(0.0 < made && made < 700.0, "{made}");
    assert_eq!(std::fs::read(&record).unwrap(), bytes);
}

#[test]
fn engines_are_compared() {
    let folder = Folder::new();
    let [one, two, own] = engines(&folder);
    let records = folder.join("records");
    let compare = |more: &str| {
        census(&format!("compare --calls 1000 --limit 100 {more}"))
            .path(&one)
            .path(format!("second={}", two.display()))
            .option("--own", &own)
            .option("--transcript", &records)
            .run()
            .exits(0)
    };
    let report = json(&compare("--json"));
    assert!((value(&report, "/shares/0/1/value") - 400.0 / 900.0).abs() < 0.12, "{report}");
    assert!((value(&report, "/shares/1/0/value") - 400.0 / 700.0).abs() < 0.12, "{report}");
    let ratio = value(&report, "/engines/1/relative/value");
    assert!((ratio / (700.0 / 900.0) - 1.0).abs() < 0.3, "{ratio}");
    let known = json(&compare("--json --known 900"));
    assert_eq!(value(&known, "/engines/0/pages/value"), 900.0);
    assert!((value(&known, "/engines/1/pages/value") - 900.0 * ratio).abs() < 1e-6);
    assert_eq!(value(&known, "/engines/0/calls_made"), 0.0);
    assert!(records.join("one.jsonl").is_file() && records.join("second.jsonl").is_file());
    let text = compare("").stdout;
    for part in ["one", "second", "taken for granted:", "not seen:", "95 % interval"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn others_are_heard_and_pages_written() {
    let folder = Folder::new();
    let [one, two, own] = engines(&folder);
    let (record, page) = (folder.join("record.jsonl"), folder.join("size.html"));
    let ask = || {
        let asked = size(&one, &own, "--baselines").option("--transcript", &record).option("--report", &page);
        json(&asked.run().exits(0))
    };
    let report = ask();
    let names: Vec<&str> =
        report["others"].as_array().unwrap().iter().map(|other| other["name"].as_str().unwrap()).collect();
    for name in ["broder-one-pool", "broder-two-halves", "chapman", "chao1", "lu-li", "lower-bound"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    for other in report["others"].as_array().unwrap() {
        assert!(value(other, "/calls") <= 700.0 && other["bias"].is_string(), "{other}");
    }
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("How many pages has one?") && html.contains("<svg") && html.contains("chao1"));
    // All of it is on record.
    let again = ask();
    assert_eq!(again["others"], report["others"]);
    assert_eq!(std::fs::read_to_string(&page).unwrap(), html);

    let page = folder.join("compare.html");
    let compare = census("compare --calls 700 --limit 100 --json --baselines --known 900")
        .path(&one)
        .path(&two)
        .option("--own", &own)
        .option("--report", &page);
    let report = json(&compare.run().exits(0));
    assert_eq!(report.pointer("/engines/0/others").unwrap(), &Value::Array(Vec::new()));
    let names: Vec<&Value> = report
        .pointer("/engines/1/others")
        .unwrap()
        .as_array()
        .unwrap()
        .iter()
        .map(|other| &other["name"])
        .collect();
    assert_eq!(names[..2], ["bharat-broder", "lawrence-giles"]);
    let parts = report["parts"].as_array().unwrap();
    let all: f64 = parts.iter().map(|part| value(part, "/pages/value")).sum();
    assert!((all / value(&report, "/union/value") - 1.0).abs() < 1e-9, "{all}");
    let shared = parts.iter().find(|part| part["engines"] == serde_json::json!(["one", "two"])).unwrap();
    assert!((value(shared, "/pages/value") / 400.0 - 1.0).abs() < 0.35, "{shared}");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("What one, two share") && html.contains("bharat-broder"));
}

#[test]
fn a_sample_has_weights() {
    let folder = Folder::new();
    let [one, _, own] = engines(&folder);
    let output = folder.join("sample.jsonl");
    census("sample --calls 400 --limit 100")
        .path(&one)
        .option("--own", &own)
        .option("-o", &output)
        .run()
        .exits(0);
    let lines = json_lines(&output);
    assert!(lines.len() > 100);
    let weight = |line: &Value| line["weight"].as_f64().unwrap();
    let all: f64 = lines.iter().map(weight).sum();
    assert!((500.0..1_400.0).contains(&all), "weights are pages of the engine: {all}");
    let words = |line: &Value| line["words"].as_f64().unwrap();
    let plain = lines.iter().map(words).sum::<f64>() / lines.len() as f64;
    let weighed = lines.iter().map(|line| words(line) * weight(line)).sum::<f64>() / all;
    assert!(weighed < plain, "long pages are met more often: {weighed} {plain}");
    let shown = |more: &str| {
        census(&format!("sample --calls 400 --limit 100 -o - {more}")).path(&one).option("--own", &own).run()
    };
    let done = shown("").exits(0);
    assert_eq!(done.stdout, std::fs::read_to_string(&output).unwrap());
    assert!(done.stderr.contains("use the weights"), "{}", done.stderr);
    assert_fails_with(shown("--json"), 2, "not both");
}

#[test]
fn addresses_from_a_record() {
    let folder = Folder::new();
    let servers = folder.file("servers.jsonl", "{\"hosts\":[289]}\n".repeat(2_500));
    let report = json(&census("ip --draws 3834792 --json").path(&servers).run().exits(0));
    assert!((value(&report, "/first_host/value") / 8.09e8 - 1.0).abs() < 0.01, "{report}");
    assert_fails_with(census("ip --draws 7").path(&servers).run(), 2, "2500 servers at 7 addresses");
    let bad = folder.file("bad.jsonl", "{\"hosts\":[1]}\n{\"pages\":3}\n");
    assert_fails_with(census("ip --draws 7").path(&bad).run(), 1, "line 2 of ");
    let nowhere = folder.file("nowhere.jsonl", "{\"hosts\":[1],\"addresses\":0}\n");
    assert_fails_with(census("ip --draws 7").path(&nowhere).run(), 1, "a server at 0 addresses");
}

#[test]
fn what_cannot_be_measured_is_said() {
    let folder = Folder::new();
    let [one, _, own] = engines(&folder);
    let nowhere = folder.join("nowhere");
    assert_fails_with(census("size").path(&nowhere).option("--own", &own).run(), 2, "there is no such file");
    assert_fails_with(
        census("size --calls 30").path(&one).option("--own", &own).run(),
        1,
        "allow more calls",
    );
    let few = folder.file("few.jsonl", "{\"id\":\"a\",\"text\":\"one two\"}\n");
    assert_fails_with(size(&one, &few, "").run(), 1, "0 words that are in two documents or more");
    assert_fails_with(
        census("compare").path(&one).path(&one).option("--own", &own).run(),
        2,
        "two engines are called one",
    );
    let records = folder.join("records");
    let twice =
        census("compare").path(&one).path(&one).option("--own", &own).option("--transcript", &records);
    assert_fails_with(twice.run(), 2, "two engines are called one");
    let first = folder.join("first.jsonl");
    assert_fails_with(census(FIRST_KIND).path(&first).option("-o", &one).run(), 1, "it exists already");
    let page = folder.join("no/page.html");
    assert_fails_with(size(&one, &own, "").option("--report", &page).run(), 2, "make it first");
    let limit = census("size --limit 0").path(&one).option("--own", &own).run().exits(2);
    assert!(limit.stderr.contains("one result at least"), "{}", limit.stderr);
    assert_fails_with(size(&one, &own, "--delay 1e30").run(), 2, "--delay is a number of seconds");
}

#[test]
fn an_index_has_every_address_once_and_is_never_empty() {
    let folder = Folder::new();
    let twice = folder.file("twice.jsonl", "{\"id\":\"a\",\"text\":\"one\"}\n".repeat(3));
    let done = census("index").path(&twice).option("-o", folder.join("twice")).run().exits(0);
    assert!(done.stdout.starts_with("1 pages in "), "{}", done.stdout);
    assert!(done.stderr.contains("2 pages have an address that came before"), "{}", done.stderr);
    let empty = folder.file("empty.jsonl", "");
    let done = census("index").path(&empty).option("-o", folder.join("none")).run().exits(1);
    assert!(done.stderr.contains("there are no pages to index"), "{}", done.stderr);
    assert!(!folder.join("none").exists());
}

#[test]
fn an_engine_that_is_not_built_in_is_named_with_the_way_to_get_it() {
    if cfg!(feature = "tantivy") {
        return;
    }
    let folder = Folder::new();
    let pages = folder.file("pages.jsonl", "{\"id\":\"a\",\"text\":\"one\"}\n");
    let wanted = "this program was built without the feature tantivy; build it with --features full";
    let done = census("index --kind tantivy").path(&pages).option("-o", folder.join("pages")).run();
    assert_fails_with(done, 1, wanted);
}

#[test]
fn an_engine_that_nobody_runs_is_named() {
    let folder = Folder::new();
    let own = folder.file("own.jsonl", jsonl(&pages(6, 400, "own")));
    // Whoever listened there is gone.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let host = format!("http://127.0.0.1:{port}");
    let described = format!(
        "search = \"{host}/?q={{query}}&n={{limit}}\"\nall = \" \"\nurls = \"r[*]\"\ncap = 10\n\
         fetch = \"{host}/p?u={{url}}\"\ndelay = 0.0\n"
    );
    let engine = folder.file("dead.toml", described);
    let record = folder.join("record.jsonl");
    let ask = census("size --calls 2").path(&engine).option("--own", &own).option("--transcript", &record);
    let done = ask.run().exits(1);
    assert!(done.stderr.contains("dead answered no question"), "{}", done.stderr);
}

/// Links of a web of 3,000 pages, each to five others at random.
fn graph(folder: &Folder) -> PathBuf {
    let mut rng = Rng::new(12);
    let mut lines = String::from("# from to\n");
    for from in 0..3_000 {
        (0..5).for_each(|_| lines += &format!("page{from}\tpage{}\n", rng.below(3_000)));
    }
    folder.file("links.tsv", lines)
}

#[test]
fn a_walk_answers_or_says_why_it_does_not() {
    let folder = Folder::new();
    let graph = graph(&folder);
    let nodes: String =
        (0..3_000).map(|page| format!("{{\"id\":\"page{page}\",\"old\":{}}}\n", page % 4 == 0)).collect();
    let nodes = folder.file("nodes.jsonl", nodes);
    let walk = |more: &str| census(&format!("walk --fetches 2900 {more}")).path(&graph);
    let report = json(&walk("--bow-tie --field old --json").option("--nodes", &nodes).run().exits(0));
    assert!((value(&report, "/answer/size/value") / 3_000.0 - 1.0).abs() < 0.05, "{report}");
    assert!((value(&report, "/answer/means/old/value") - 0.25).abs() < 0.05, "{report}");
    assert!(value(&report, "/bow_tie/pages/core") > 2_500.0);
    assert_eq!(report["convergence"]["outcome"], "converged");
    // Nobody of those who were met, and yet not certainly nobody; shares of any value.
    let rare: String = (0..3_000)
        .map(|page| format!("{{\"id\":\"page{page}\",\"code\":{}}}\n", 200 + page / 2_999))
        .collect();
    let rare = folder.file("rare.jsonl", rare);
    let shares = json(
        &census("walk --fetches 900 --anyway --field code=201 --json")
            .path(&graph)
            .option("--nodes", &rare)
            .run()
            .exits(0),
    );
    let (low, high) = (
        value(&shares, "/answer/means/code=201/interval/0"),
        value(&shares, "/answer/means/code=201/interval/1"),
    );
    assert!(low >= 0.0 && 0.001 < high && high < 0.1, "{shares}");
    let text = walk("").run().exits(0).stdout;
    assert!(text.contains("95 % interval") && text.contains("taken for granted"), "{text}");
    // Three pages to begin with show too little.
    let few = folder.file("seeds.txt", "page1\npage2\npage3\n");
    let refused = walk("--json").option("--seeds", &few).run().exits(1);
    assert!(refused.stderr.contains("the walk gives no answer: ") && json(&refused)["answer"].is_null());
    let anyway = json(&walk("--json --anyway").option("--seeds", &few).run().exits(0));
    assert!(anyway["answer"].is_object() && anyway["convergence"]["outcome"] != "converged");
    let unknown = folder.file("unknown.txt", "page1\nnobody\n");
    assert_fails_with(
        walk("").option("--seeds", &unknown).run(),
        1,
        "names nobody, which is not in the graph",
    );
    assert_fails_with(walk("--field young").option("--nodes", &nodes).run(), 2, "has no field young");
    let bad = folder.file("bad.txt", "a b\nc\n");
    assert_fails_with(census("walk").path(&bad).run(), 1, "line 2 ");
    let mixed = folder.file("mixed.txt", "1 2\na b\n");
    assert_fails_with(census("walk").path(&mixed).run(), 1, "read all pages as names (--names)");
    let named = json(&census("walk --names --json --anyway").path(&mixed).run().exits(0));
    assert_eq!(named["pages"], 4);
    let strangers = folder.file("strangers.jsonl", "{\"id\":\"nobody\",\"old\":1}\n");
    assert_fails_with(walk("--field old").option("--nodes", &strangers).run(), 2, "none of the 1 ids");
}

/// Of the web of [`graph`], the texts of all pages, and an index of those whose number is below 1,200 or can be divided by 3; every
/// eleventh of them has moved there.
fn indexed(folder: &Folder) -> [PathBuf; 2] {
    let texts = pages(7, 3_000, "page");
    let named = |doc: Doc| Doc { id: doc.id.replace('-', ""), ..doc };
    let texts: Vec<Doc> = texts.into_iter().map(named).collect();
    let mut inside: Vec<Doc> = Vec::new();
    for (number, doc) in texts.iter().enumerate().filter(|(number, _)| *number < 1_200 || number % 3 == 0) {
        let id = if number % 11 == 0 { format!("{}-moved", doc.id) } else { doc.id.clone() };
        inside.push(Doc { id, url: None, text: doc.text.clone() });
    }
    assert_eq!(inside.len(), 1_800);
    let (engine, some) = (folder.join("engine"), folder.file("inside.jsonl", jsonl(&inside)));
    census(FIRST_KIND).path(some).option("-o", &engine).run().exits(0);
    [engine, folder.file("texts.jsonl", jsonl(&texts))]
}

#[test]
fn a_walk_tells_what_share_of_its_pages_an_engine_has() {
    let folder = Folder::new();
    let (graph, [engine, texts]) = (graph(&folder), indexed(&folder));
    let walk =
        |more: &str| census(&format!("walk --fetches 2900 {more}")).path(&graph).option("--check", &engine);
    let record = folder.join("record.jsonl");
    let recorded = || walk("--calls 600 --json").option("--pages", &texts).option("--transcript", &record);
    let report = json(&recorded().run().exits(0));
    let share = |report: &Value| value(report, "/check/share/value");
    assert!((share(&report) - 0.6).abs() < 0.1, "{report}");
    let interval = |end| value(&report, &format!("/check/share/interval/{end}"));
    assert!(interval(0) < 0.6 && 0.6 < interval(1) && interval(1) - interval(0) < 0.2, "{report}");
    let count = |name: &str| report["check"][name].as_u64().unwrap();
    assert_eq!(count("found") + count("missing") + count("silent"), count("asked"));
    assert!(count("asked") > 300 && count("alike") > 5 && count("without_text") == 0, "{report}");
    assert_eq!(report.pointer("/check/engine/calls").unwrap(), 600);
    // From the record nothing is asked again.
    let again = json(&recorded().run().exits(0));
    assert_eq!((&again["check"]["share"], &again["answer"]), (&report["check"]["share"], &report["answer"]));
    assert_eq!(again.pointer("/check/engine/calls_made").unwrap(), 0);
    // By address alone pages that have moved are missing, and all pages of the walk can be asked for.
    let named = json(&walk("--calls 5000 --json").run().exits(0));
    assert_eq!(named["check"]["asked"], named["check"]["pages"]);
    assert!((share(&named) - 0.6 * 10.0 / 11.0).abs() < 0.03, "{named}");
    let text = walk("--calls 300").option("--pages", &texts).run().exits(0).stdout;
    for part in [
        "share in engine",
        "pages of the walk were looked for: ",
        "under another address",
        "engine: 300 calls",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_walk_without_an_answer_asks_no_engine() {
    let folder = Folder::new();
    let (graph, [engine, texts]) = (graph(&folder), indexed(&folder));
    let few = folder.file("seeds.txt", "page1\npage2\npage3\n");
    let walk = |more: &str| {
        census(&format!("walk --fetches 2900 --json {more}")).path(&graph).option("--check", &engine)
    };
    let record = folder.join("record.jsonl");
    let refused = walk("").option("--seeds", &few).option("--transcript", &record).run().exits(1);
    assert!(refused.stderr.contains("the walk gives no answer: ") && json(&refused)["check"].is_null());
    let asked = |text: String| text.lines().count() > 1;
    assert!(!std::fs::read_to_string(&record).is_ok_and(asked));
    let anyway = json(&walk("--anyway").option("--seeds", &few).run().exits(0));
    assert!(anyway["check"]["share"].is_object());
    // What is wrong with the question is said before anything else.
    assert_fails_with(walk("--delay=-1").run(), 2, "--delay is a number of seconds");
    let other = folder.file("other.jsonl", jsonl(&pages(9, 20, "other")));
    assert_fails_with(
        walk("").option("--pages", &other).run(),
        1,
        "none of the pages that the walk met is in --pages",
    );
    let none = walk("--calls 1").option("--pages", &texts).run().exits(1);
    assert!(none.stderr.contains("too few for a share; allow more calls"), "{}", none.stderr);
    assert!(json(&none)["answer"].is_object());
    let blind = folder.file(
        "blind.toml",
        "name = \"blind\"\nsearch = \"http://127.0.0.1:9/s?q={query}\"\nurls = \"hits[*].url\"\nfetch = \"http://127.0.0.1:9/f?u={url}\"\ncap = 10\n",
    );
    let done = census("walk").path(&graph).option("--check", format!("http:{}", blind.display())).run();
    assert_fails_with(done, 2, "give their texts by --pages");
}

#[test]
fn the_gap_of_a_walk_is_told() {
    let folder = Folder::new();
    let graph = graph(&folder);
    let report = json(&census("walk --fetches 2900 --gap --json").path(&graph).run().exits(0));
    let gap = value(&report, "/mixing/gap");
    assert!((0.2..0.8).contains(&gap), "links at random mix fast: {gap}");
    assert!((value(&report, "/mixing/forgets") * gap - 1.0).abs() < 1e-9);
    let text = census("walk --fetches 2900 --gap").path(&graph).run().exits(0).stdout;
    assert!(text.contains("a single walker forgets where it began in about "), "{text}");
}

/// A web of sixty pages, each with links to the next and to another, as the WebGraph framework writes it.
fn packed(folder: &Folder) -> PathBuf {
    let bytes = "7dd3ed03ed33ed51f6b4fb607db33edb1f6e4fec7dd3ed03ed33ed51f6b4fb607db33d7941ea489fd8fba7da07da67daa3ed69\
                 f6c0f6a567af283d4913fb1f74fb40fb4cfb547902627bb2e3da959ebca0f5244fec7dd3ed03ed33c87343c81313dd971ed4ac\
                 f5e507a9227f63ee9e499d197c8d3c87343c81313dd971ed4acf5e507a9227936780";
    let byte = |place| u8::from_str_radix(&bytes[place..place + 2], 16).unwrap();
    folder.file("web.graph", (0..bytes.len()).step_by(2).map(byte).collect::<Vec<u8>>());
    folder.file(
        "web.properties",
        "graphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\nendianness=big\nnodes=60\narcs=120\nminintervallength=4\n\
         maxrefcount=3\nwindowsize=7\nlength=1084\ncompressionflags=\nzetak=3\n",
    );
    folder.join("web")
}

#[cfg(not(feature = "bvgraph"))]
#[test]
fn without_the_feature_a_compressed_graph_is_named_for_what_it_is() {
    let folder = Folder::new();
    let basename = packed(&folder);
    let wanted = "it is in the compressed format BVGraph, which this program was built without; build it with --features full";
    assert_fails_with(census("walk").path(&basename).run(), 1, wanted);
    assert_fails_with(census("walk").path(basename.with_extension("graph")).run(), 1, wanted);
}

#[cfg(feature = "bvgraph")]
#[test]
fn a_compressed_graph_is_walked_over() {
    let folder = Folder::new();
    let basename = packed(&folder);
    for path in [basename.with_extension("graph"), basename.clone()] {
        let report = json(&census("walk --json --anyway --gap").path(path).run().exits(0));
        assert_eq!((report["pages"].as_u64(), report["links"].as_u64()), (Some(60), Some(120)));
        assert_eq!(report.pointer("/mixing/parts").unwrap(), 1);
    }
    std::fs::remove_file(basename.with_extension("properties")).unwrap();
    assert_fails_with(census("walk").path(&basename).run(), 1, "its .graph and .properties must be whole");
}

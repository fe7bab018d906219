//! The lab: figures that brute force confirms, goals that hold on documents nobody sampled, and clear sentences.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use super::job_support::{BruteForce, Rng, dedup, families, pairs};
use super::support::{Doc, Folder, Invocation, RunOutput, json_lines, jsonl, lookalike};

/// `lookalike lab …` with words as in a shell.
fn lab(words: &str) -> Invocation {
    let mut words = words.split_whitespace();
    let command = words.next().unwrap();
    lookalike(["lab", command, "--progress", "none"].into_iter().chain(words))
}

/// It failed with one sentence that holds these words.
fn assert_fails_with(done: RunOutput, code: i32, words: &str) {
    let done = done.exits(code);
    let sentences =
        done.stderr.lines().filter(|line| line.starts_with("lookalike:") || line.starts_with("error:"));
    let sentences: Vec<&str> = sentences.collect();
    assert!(sentences.len() == 1 && done.stderr.contains(words), "{words:?} is not in {:?}", done.stderr);
}

fn json(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

type Pair = (String, String);

/// The pairs of a table, by id.
fn table(path: &Path) -> BTreeSet<Pair> {
    let id = |row: &Value, side: &str| row[side].as_str().unwrap().to_owned();
    json_lines(path).iter().map(|row| (id(row, "a"), id(row, "b"))).collect()
}

/// All pairs at or above 0.8, by comparing everything with everything.
fn truth(documents: &[Doc]) -> BTreeSet<Pair> {
    let near = BruteForce::of(documents).all_pairs(0.8 - 1e-12);
    near.keys().map(|&(a, b)| (documents[a].id.clone(), documents[b].id.clone())).collect()
}

const METHODS: [&str; 4] = ["a4", "minhash:values=32,bands=4,rows=4", "imatch", "md5"];

/// Returns the pairs that each method accepts without verification.
fn accepted(folder: &Folder, input: &Path) -> BTreeMap<&'static str, BTreeSet<Pair>> {
    let one = |(number, method): (usize, &'static str)| {
        let out = folder.join(format!("{number}.jsonl"));
        pairs("--unverified --method").arg(method).path(input).option("-o", &out).run().exits(0);
        (method, table(&out))
    };
    METHODS.into_iter().enumerate().map(one).collect()
}

fn near_to(value: &Value, expected: f64, what: &str) {
    let value = value.as_f64().unwrap_or_else(|| panic!("{what} is {value}"));
    assert!((value - expected).abs() < 1e-9, "{what} is {value} and should be {expected}");
}

#[test]
fn a_comparison_is_what_counting_by_hand_gives() {
    let folder = Folder::new();
    let documents = families(250, 11);
    let input = folder.file("docs.jsonl", jsonl(&documents));
    let (truth, accepted) = (truth(&documents), accepted(&folder, &input));
    let pool: BTreeSet<&Pair> = accepted.values().flatten().collect();
    for against in ["union", "exact"] {
        let out = folder.join(against);
        let run =
            lab("compare --truth jaccard/5:0.8 --pool").arg(against).arg("--methods").arg(&METHODS.join(","));
        run.path(&input).option("-o", &out).run().exits(0);
        let all: BTreeSet<&Pair> = match against {
            "union" => truth.iter().filter(|pair| pool.contains(pair)).collect(),
            _ => truth.iter().collect(),
        };
        let found = json(out.join("methods.json"));
        assert_eq!(found["documents"], 250);
        for line in found["methods"].as_array().unwrap() {
            let own = &accepted[line["method"].as_str().unwrap()];
            let right = own.iter().filter(|pair| truth.contains(*pair)).count() as f64;
            assert_eq!(line["pairs"], own.len() as u64, "{line}");
            near_to(&line["recall"]["value"], right / all.len() as f64, "recall");
            near_to(&line["precision"]["value"], right / own.len() as f64, "precision");
            near_to(&line["f"]["value"], 2.0 * right / (own.len() + all.len()) as f64, "F");
            assert_eq!(line["recall"]["interval"], Value::Null, "all pairs were measured");
            assert!(
                line["documents_per_second"].as_f64().unwrap() > 0.0
                    && line["bytes_per_document"].as_f64().unwrap() > 0.0
            );
        }
        let agreement = json(out.join("agreement.json"));
        let coverage = json(out.join("coverage.json"));
        for (one, name) in METHODS.iter().enumerate() {
            for (other, second) in METHODS.iter().enumerate() {
                let (a, b) = (&accepted[name], &accepted[second]);
                let dice = 2.0 * a.intersection(b).count() as f64 / (a.len() + b.len()) as f64;
                near_to(&agreement["dice"][one][other], dice, "Dice");
            }
        }
        for line in coverage["of_two_methods"].as_array().unwrap() {
            let of = |at: usize| &accepted[line["methods"][at].as_str().unwrap()];
            let both =
                all.iter().filter(|pair| of(0).contains(**pair) || of(1).contains(**pair)).count() as f64;
            near_to(&line["coverage"]["value"], both / all.len() as f64, "coverage");
        }
        let gains: Vec<f64> = coverage["greedy"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["gain"].as_f64().unwrap())
            .collect();
        assert!(gains.windows(2).all(|two| two[0] >= two[1] - 1e-12), "{gains:?}");
        let page = std::fs::read_to_string(out.join("report.html")).unwrap();
        assert!(
            page.contains("<svg") && page.contains("published"),
            "the page has pictures and published figures"
        );
    }
}

#[test]
fn many_copies_of_two_similar_texts_are_all_near_duplicates() {
    let folder = Folder::new();
    let base: Vec<String> = (0..200).map(|word| format!("word{word}")).collect();
    let other =
        base.iter().take(190).cloned().chain((0..10).map(|word| format!("else{word}"))).collect::<Vec<_>>();
    let document = |n: usize| Doc {
        id: format!("d{n}"),
        url: None,
        text: if n.is_multiple_of(2) { base.join(" ") } else { other.join(" ") },
    };
    let documents: Vec<Doc> = (0..400).map(document).collect();
    let input = folder.file("docs.jsonl", jsonl(&documents));
    let out = folder.join("out");
    lab("compare --pool exact --methods md5,minhash").path(&input).option("-o", &out).run().exits(0);
    let methods = json(out.join("methods.json"));
    near_to(&methods["near"], 400.0 * 399.0 / 2.0, "all pairs");
    near_to(
        &methods["methods"][0]["recall"]["value"],
        2.0 * 200.0 * 199.0 / (400.0 * 399.0),
        "recall of md5",
    );
    near_to(&methods["methods"][1]["recall"]["value"], 1.0, "recall of minhash");
}

#[test]
fn a_trial_that_lost_pairs_is_run_again() {
    let folder = Folder::new();
    let input = folder.file("docs.jsonl", jsonl(&families(200, 4)));
    let out = folder.join("out");
    let run = || {
        lab("compare --methods a4,md5").path(&input).option("-o", &out).run().exits(0);
        without_speed(json(out.join("methods.json")))
    };
    let whole = run();
    for trial in std::fs::read_dir(out.join("work").join("trials")).unwrap() {
        let trial = trial.unwrap().path();
        let bytes = std::fs::read(trial.join("pairs")).unwrap();
        std::fs::write(trial.join("pairs"), &bytes[..bytes.len() / 2]).unwrap();
    }
    std::fs::write(out.join("work").join("documents.json"), "").unwrap();
    assert_eq!(run(), whole);
}

/// Rows of `pairs.parquet`, as the program itself reads them back.
fn rows(folder: &Folder, out: &Path) -> Vec<Value> {
    let lines = folder.join("rows.jsonl");
    lookalike(["corpus", "convert", "--progress", "none", "--id-field", "a", "--text-field", "verdict"])
        .path(out.join("pairs.parquet"))
        .option("-o", &lines)
        .run()
        .exits(0);
    json_lines(&lines)
}

#[test]
fn every_pair_of_the_pool_is_written_with_its_verdict() {
    let folder = Folder::new();
    let documents = families(250, 11);
    let input = folder.file("docs.jsonl", jsonl(&documents));
    let accepted = accepted(&folder, &input);
    let pool: BTreeSet<&Pair> = accepted.values().flatten().collect();
    let out = folder.join("out");
    let methods = METHODS.join(",");
    lab("compare --review 7 --methods").arg(&methods).path(&input).option("-o", &out).run().exits(0);
    let rows = rows(&folder, &out);
    assert_eq!(rows.len(), pool.len());
    assert!(rows.iter().all(|row| ["near", "not"].contains(&row["text"].as_str().unwrap())));
    let review = json_lines(&out.join("review.jsonl"));
    assert_eq!(review.len(), 7);
    // Labels of people are not orphaned by another comparison in the same folder.
    std::fs::write(out.join("labels.jsonl"), "").unwrap();
    lab("compare --review 7 --methods").arg(&methods).path(&input).option("-o", &out).run().exits(0);
    assert_fails_with(
        lab("compare --methods md5,a4").path(&input).option("-o", &out).run(),
        2,
        "has labels of other pairs",
    );
    for line in &review {
        let pair = (line["a"].as_str().unwrap().to_owned(), line["b"].as_str().unwrap().to_owned());
        for method in METHODS {
            let said = line["methods"].as_array().unwrap().iter().any(|name| name == method);
            assert_eq!(said, accepted[method].contains(&pair), "{method} {pair:?}");
        }
        let text = documents.iter().find(|document| document.id == pair.0).unwrap();
        assert_eq!(line["text_a"], text.text.as_str());
    }
}

#[test]
fn a_sampled_pool_says_how_sure_it_is() {
    let folder = Folder::new();
    let documents = families(300, 5);
    let input = folder.file("docs.jsonl", jsonl(&documents));
    let run = |out: &str, most: &str| {
        let out = folder.join(out);
        let words = "compare --methods a4,imatch,word-tuples,minhash --truth edit:0.8 --most-measured";
        lab(words).arg(most).path(&input).option("-o", &out).run().exits(0);
        json(out.join("methods.json"))
    };
    let (all, some) = (run("all", "1000000"), run("some", "150"));
    assert!(some["measured"].as_u64().unwrap() <= 150 && all["measured"] == all["pairs"], "{some}");
    let mut held = 0;
    for (full, part) in all["methods"].as_array().unwrap().iter().zip(some["methods"].as_array().unwrap()) {
        assert_eq!(full["pairs"], part["pairs"]);
        for figure in ["recall", "precision"] {
            let interval = &part[figure]["interval"];
            let (low, high) = (interval[0].as_f64().unwrap(), interval[1].as_f64().unwrap());
            let value = full[figure]["value"].as_f64().unwrap();
            held += u32::from(low - 1e-9 <= value && value <= high + 1e-9);
        }
    }
    assert!(held >= 7, "of 8 intervals {held} hold the figure");
}

/// Everything but how fast it was.
fn without_speed(mut methods: Value) -> Value {
    for line in methods["methods"].as_array_mut().unwrap() {
        line["documents_per_second"] = Value::Null;
    }
    methods
}

#[test]
fn a_comparison_that_was_killed_goes_on_and_ends_the_same() {
    let folder = Folder::new();
    let input = folder.file("docs.jsonl", jsonl(&families(1500, 3)));
    let run = |out: &str, threads: &str| {
        lab("compare --methods all --threads").arg(threads).path(&input).option("-o", folder.join(out))
    };
    run("whole", "2").run().exits(0);
    let whole = without_speed(json(folder.join("whole").join("methods.json")));
    for millis in [200, 900] {
        let running = run("killed", "1").start();
        std::thread::sleep(Duration::from_millis(millis));
        running.signal(Signal::KILL);
        drop(running.end());
    }
    run("killed", "1").run().exits(0);
    assert_eq!(without_speed(json(folder.join("killed").join("methods.json"))), whole);
    for file in ["agreement.json", "coverage.json", "review.jsonl", "pairs.parquet"] {
        let read = |out: &str| std::fs::read(folder.join(out).join(file)).unwrap();
        assert!(read("whole") == read("killed"), "{file} differs");
    }
}

#[test]
fn what_cannot_be_compared_is_told_in_a_sentence() {
    let folder = Folder::new();
    let one = folder.file("one.jsonl", b"{\"id\":\"a\",\"text\":\"only one document here\"}\n");
    let two = folder.file("two.jsonl", jsonl(&families(2, 1)));
    let (out, numbers) = (folder.join("out"), std::cell::Cell::new(0));
    let fresh = || {
        numbers.set(numbers.get() + 1);
        folder.join(format!("out-{}", numbers.get()))
    };
    let compare =
        |words: &str, input: &Path| lab(&format!("compare {words}")).path(input).option("-o", fresh()).run();
    assert_fails_with(compare("--methods md5", &one), 2, "2 documents or more, and there is 1");
    assert_fails_with(compare("--methods minhsah", &two), 2, "minhash may be meant");
    assert_fails_with(compare("--methods md5,md5", &two), 2, "named twice");
    assert_fails_with(compare("--methods all,md5", &two), 2, "give it alone");
    assert_fails_with(compare("--truth edit:0.8 --pool exact", &two), 2, "no exact join for edit");
    assert_fails_with(compare("--truth edit", &two), 2, "such as edit:0.8");
    assert_fails_with(compare("--methods md5", Path::new("-")), 2, "standard input");
    let tune =
        |words: &str, input: &Path| lab(&format!("tune {words}")).path(input).option("-o", fresh()).run();
    assert_fails_with(tune("--recall 1.2", &two), 2, "at most 1");
    assert_fails_with(tune("--precision 0", &two), 2, "above 0");
    assert_fails_with(tune("--similarity edit", &two), 2, "no exact join for edit");
    assert_fails_with(
        tune("", &folder.file("three.jsonl", jsonl(&families(1, 1)))),
        2,
        "2 documents or more",
    );
    assert_fails_with(lab("check").path(folder.join("nowhere")).run(), 2, "no finished run");
    assert_fails_with(
        lab("experiment E5 --data").path(folder.join("nowhere")).option("-o", &out).run(),
        1,
        "is no folder",
    );
    assert_fails_with(lab("experiment E99").option("-o", &out).run(), 2, "no experiment E99");
    assert_fails_with(lab("experiment E7").run(), 2, "folder for the results");
    let seven = lab("experiment E7 --corpus").path(&two).option("-o", folder.join("e7")).run();
    assert_fails_with(seven, 2, "fields page and revno");
}

#[test]
fn a_method_that_fails_on_one_document_goes_on_without_it() {
    let folder = Folder::new();
    let mut lines = String::new();
    for number in 0..20u64 {
        lines +=
            &format!("{{\"id\":\"p{number}\",\"text\":\"{:016x}\"}}\n", number / 2 * 0x0123_4567_89ab_cdef);
    }
    lines += "{\"id\":\"odd\",\"text\":\"no fingerprint\"}\n";
    let input = folder.file("prints.jsonl", lines.as_bytes());
    let out = folder.join("out");
    let done = lab("compare --methods simhash:from=hex,md5").path(&input).option("-o", &out).run().exits(0);
    assert!(done.stdout.contains("refuses 1 of the documents"), "{}", done.stdout);
    let methods = json(out.join("methods.json"));
    assert_eq!((&methods["methods"][0]["refused"], &methods["methods"][0]["pairs"]), (&1.into(), &10.into()));
    assert_eq!(methods["methods"][1]["refused"], 0);
}

/// Texts with none to two copies each, in which a few words are changed: many small clusters.
fn copies(texts: usize) -> Vec<Doc> {
    let mut rng = Rng::new(77);
    let mut documents = Vec::new();
    for text in 0..texts {
        let words: Vec<String> = (0..90 + rng.below(60)).map(|_| format!("w{}", rng.below(5000))).collect();
        for copy in 0..1 + rng.below(3) {
            let mut words = words.clone();
            for _ in 0..copy * rng.below(5) {
                let at = rng.below(words.len());
                words[at] = format!("x{}", rng.below(5000));
            }
            documents.push(Doc { id: format!("t{text}-{copy}"), url: None, text: words.join(" ") });
        }
    }
    documents
}

#[test]
fn a_tuned_recipe_reaches_its_goal_on_documents_that_were_not_sampled() {
    let folder = Folder::new();
    let documents = copies(2000);
    let input = folder.file("docs.jsonl", jsonl(&documents));
    let out = folder.join("tuned");
    let words = "tune --recall 0.9 --precision 0.95 --documents 1500";
    let done = lab(words).path(&input).option("-o", &out).run().exits(0);
    assert!(done.stdout.contains("lookalike dedup --recipe"), "{}", done.stdout);
    let tuned = json(out.join("tune.json"));
    assert!((1000..2000).contains(&tuned["sampled"].as_u64().unwrap()), "{}", tuned["sampled"]);
    assert_eq!(tuned["documents"], documents.len() as u64);
    // Small clusters prove enough for something cheaper than the exact join.
    let chosen = &tuned["tried"][tuned["chosen"].as_u64().unwrap() as usize];
    assert_ne!(chosen["name"], "exact", "{chosen}");
    let sampled: BTreeSet<String> = json_lines(&out.join("work").join("documents.jsonl"))
        .iter()
        .map(|line| line["name"].as_str().unwrap().to_owned())
        .collect();
    let recipe = out.join("recipe.toml");
    let (exact, found) = (folder.join("exact.jsonl"), folder.join("found.jsonl"));
    pairs("--method exact").path(&input).option("-o", &exact).run().exits(0);
    pairs("").path(&input).option("--recipe", &recipe).option("-o", &found).run().exits(0);
    let fresh = |pair: &Pair| !sampled.contains(&pair.0) && !sampled.contains(&pair.1);
    let exact: BTreeSet<Pair> = table(&exact).into_iter().filter(fresh).collect();
    let found: BTreeSet<Pair> = table(&found).into_iter().filter(fresh).collect();
    assert!(exact.len() > 100, "{}", exact.len());
    let both = exact.intersection(&found).count() as f64;
    let (recall, precision) = (both / exact.len() as f64, both / found.len() as f64);
    assert!(recall >= 0.9 && precision >= 0.95, "recall {recall}, precision {precision}");

    // The recipe runs, and a check of that run agrees.
    let job = folder.join("job");
    dedup("").path(&input).option("--recipe", &recipe).option("-o", &job).run().exits(0);
    // Results of another kind are not written over.
    assert_fails_with(
        lab("compare --methods md5").path(&input).option("-o", &out).run(),
        2,
        "holds results of lookalike lab tune",
    );
    assert_fails_with(lab("tune").path(&input).option("-o", &job).run(), 2, "holds other files");
    lab("check --json").path(&job).run().exits(0);
    let checked = json(job.join("check.json"));
    for (figure, least) in [("recall", 0.9), ("settled", 0.9), ("gone", 0.9), ("precision", 0.95)] {
        assert!(checked[figure]["value"].as_f64().unwrap() >= least, "{checked}");
    }
}

#[test]
fn a_goal_that_nothing_reaches_is_told_and_leaves_no_recipe() {
    let folder = Folder::new();
    // Ten pairs can never prove a recall of 1 to the last digit, but likely reach it; no near-duplicates prove nothing.
    let strangers: Vec<Doc> = (0..30)
        .map(|n| Doc {
            id: format!("d{n}"),
            url: None,
            text: format!("stranger{n} ").repeat(3) + &format!("x{n} y{n} z{n} u{n} v{n}"),
        })
        .collect();
    let input = folder.file("docs.jsonl", jsonl(&strangers));
    let out = folder.join("out");
    let done = lab("tune --recall 0.9").path(&input).option("-o", &out).run();
    assert_fails_with(done, 2, "no pair of near-duplicates");
    assert!(!out.join("recipe.toml").exists());
}

/// Of the documents that were removed, or have an earlier near-duplicate left, those that were removed.
fn gone(documents: &[Doc], truth: &BTreeSet<Pair>, removed: &BTreeSet<String>) -> f64 {
    let left = |id: &String| !removed.contains(id);
    let stays: BTreeSet<&String> = truth.iter().filter(|(a, b)| left(a) && left(b)).map(|(_, b)| b).collect();
    assert!(documents.len() > removed.len());
    removed.len() as f64 / (removed.len() + stays.len()) as f64
}

#[test]
fn a_check_tells_a_bad_run_from_a_good_one() {
    let folder = Folder::new();
    let documents = families(400, 21);
    let input = folder.file("docs.jsonl", jsonl(&documents));
    let truth = truth(&documents);
    let checked = |method: &str, number: &str| {
        let job = folder.join(format!("{method}-{number}"));
        dedup("--method").arg(method).path(&input).option("-o", &job).run().exits(0);
        lab("check --documents").arg(number).path(&job).run().exits(0);
        let removed: BTreeSet<String> = json_lines(&job.join("removed.jsonl"))
            .iter()
            .map(|line| line["id"].as_str().unwrap().to_owned())
            .collect();
        let found = folder.join(format!("{method}-{number}.jsonl"));
        pairs("--method").arg(method).path(&input).option("-o", &found).run().exits(0);
        let share = |count: usize| count as f64 / truth.len() as f64;
        let settled = truth.iter().filter(|(a, b)| removed.contains(a) || removed.contains(b)).count();
        let figures = [share(table(&found).len()), share(settled), gone(&documents, &truth, &removed)];
        (json(job.join("check.json")), figures)
    };
    let names = ["recall", "settled", "gone"];
    for method in ["minhash", "md5"] {
        // A sample of all documents is no estimate, and has no interval.
        let (all, figures) = checked(method, "1000");
        for (name, figure) in names.into_iter().zip(figures) {
            near_to(&all[name]["value"], figure, name);
            assert_eq!(all[name]["interval"][0], all[name]["value"]);
        }
        assert_eq!(all["precision"]["value"], 1.0);
        let (some, _) = checked(method, "250");
        for (name, figure) in names.into_iter().zip(figures) {
            let interval = &some[name]["interval"];
            let (low, high) = (interval[0].as_f64().unwrap(), interval[1].as_f64().unwrap());
            assert!(low < high && low <= figure && figure <= high, "{method}: {figure} is not in {interval}");
        }
    }
    // Pairs that md5 misses are missing.
    assert!(json(folder.join("md5-1000").join("check.json"))["recall"]["value"].as_f64().unwrap() < 0.8);
    // A witness that is no near-duplicate costs precision.
    let job = folder.join("minhash-1000");
    let path = job.join("removed.jsonl");
    let mut lines = json_lines(&path);
    let count = lines.len() as f64;
    let stranger =
        (0..400u64).find(|n| !lines.iter().any(|line| line["n"] == *n || line["witness_n"] == *n)).unwrap();
    lines[0]["witness_n"] = stranger.into();
    lines[0]["witness"] = format!("doc-{stranger:05}").into();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text).unwrap();
    lab("check").path(&job).run().exits(0);
    near_to(&json(job.join("check.json"))["precision"]["value"], (count - 1.0) / count, "precision");
    // Another input is noticed, also one of as many documents in another order, and so is one that is gone.
    let mut turned = documents.clone();
    turned.reverse();
    let turned = folder.file("turned.jsonl", jsonl(&turned));
    assert_fails_with(lab("check").path(&job).path(&turned).run(), 2, "in the same order");
    let other = folder.file("other.jsonl", jsonl(&families(399, 21)));
    assert_fails_with(
        lab("check").path(&job).path(&other).run(),
        2,
        "had 400 documents and this input has 399",
    );
    std::fs::remove_file(&input).unwrap();
    assert_fails_with(lab("check").path(&job).run(), 1, "is gone");
}

#[test]
fn experiments_run_without_data_beside_them() {
    let folder = Folder::new();
    let list = lookalike(["lab", "experiment"]).run().exits(0);
    let numbers: Vec<&str> = list.stdout.lines().filter(|line| line.starts_with('E')).collect();
    assert_eq!(numbers.len(), 22, "{}", list.stdout);
    for (number, words) in [("E5", "further lexicons"), ("E7", "published")] {
        let out = folder.join(number);
        std::fs::create_dir_all(folder.join("empty")).unwrap();
        let run =
            lab("experiment --data").path(folder.join("empty")).arg(number).option("-o", &out).run().exits(0);
        assert!(run.stdout.contains(words) && run.stdout.contains("are generated"), "{}", run.stdout);
        let study = json(out.join(format!("{number}.json")));
        assert_eq!(study["id"], number);
        assert!(study["blocks"].as_array().unwrap().iter().any(|block| !block["table"].is_null()));
        assert!(std::fs::read_to_string(out.join("report.html")).unwrap().contains("<svg"));
    }
    // E5 on generated campaigns: further lexicons find more.
    let study = json(folder.join("E5").join("E5.json"));
    let grid =
        study["blocks"].as_array().unwrap().iter().find_map(|block| block["table"].as_object()).unwrap();
    let recall = |row: usize| grid["rows"][row][1].as_f64().unwrap();
    assert!(recall(0) < recall(2) && recall(2) < recall(10), "{} {} {}", recall(0), recall(2), recall(10));
}

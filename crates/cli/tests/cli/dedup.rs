//! `dedup`: the files of a job, and what its options decide.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::job_support::{
    BruteForce, Decisions, Rng, assert_same, decide, decide_lines, dedup, families, near_copies, results,
};
use super::support::{Doc, Folder, jsonl};

/// The names of an object's members, in their order.
fn members(line: &str) -> Vec<String> {
    // Names come before a colon and values here hold none that follow a quote.
    let mut names = Vec::new();
    for part in line.split("\":") {
        names.extend(part.rsplit('"').next().map(str::to_owned));
    }
    names.pop();
    names
}

#[test]
fn a_job_leaves_the_files_that_are_promised_with_members_in_order() {
    let folder = Folder::new();
    let mut lines = jsonl(&families(300, 1));
    lines.extend(b"{\"id\":\"none\"}\n");
    let input = folder.file("in.jsonl", lines);
    let job = folder.join("job");
    let done = dedup("").path(&input).option("-o", &job).run().exits(0);
    let mut names: Vec<String> = results(&job).into_keys().collect();
    names.push("run.json".to_owned());
    names.sort();
    assert_eq!(
        names,
        [
            "clusters.jsonl",
            "recipe.toml",
            "rejected.jsonl",
            "removed.jsonl",
            "report.html",
            "run.json",
            "summary.json"
        ]
    );
    let read = |name: &str| std::fs::read_to_string(job.join(name)).unwrap();
    for line in read("removed.jsonl").lines() {
        assert_eq!(members(line), ["id", "witness", "similarity", "cluster", "n", "witness_n"], "{line}");
    }
    for line in read("clusters.jsonl").lines() {
        assert_eq!(members(line), ["cluster", "keep", "members", "members_n"], "{line}");
    }
    for line in read("rejected.jsonl").lines() {
        assert_eq!(members(line), ["source", "position", "reason", "id"], "{line}");
    }
    // Those of the summary itself, without those of its parts.
    let top: String = read("summary.json")
        .lines()
        .filter(|line| line.starts_with("  \""))
        .map(|line| line.to_owned() + "\n")
        .collect();
    assert_eq!(
        members(&top),
        [
            "documents",
            "kept",
            "removed",
            "rejected",
            "skipped",
            "clusters",
            "exact_duplicates",
            "candidates",
            "verified",
            "giant_groups",
            "duplicate_ids",
            "text_bytes",
            "version",
            "reasons",
            "files",
            "checksum"
        ]
    );
    let decisions = Decisions::read(&job);
    assert_eq!(decisions.count("documents"), 301);
    assert!(decisions.count("removed") > 80, "{}", decisions.summary);
    assert!(decisions.count("exact_duplicates") > 10 && decisions.count("verified") > 80);
    assert_eq!(decisions.summary["version"], env!("CARGO_PKG_VERSION"));
    for (name, field) in
        [("documents", "documents"), ("kept", "kept"), ("exact duplicates", "exact_duplicates")]
    {
        let told = done.stdout.lines().find(|line| line.starts_with(name)).expect("a row");
        let number = told[name.len()..].split_whitespace().next().unwrap();
        assert_eq!(number, decisions.count(field).to_string(), "{told}");
    }
    let page = read("report.html");
    assert!(page.starts_with("<!DOCTYPE html>") || page.starts_with("<!doctype html>"), "{}", &page[..40]);
    assert!(!page.contains("<script") && !page.contains("src=\"http"));
}

#[test]
fn every_removal_has_a_witness_whose_similarity_a_second_opinion_confirms() {
    for (seed, threshold, options) in
        [(1, 0.8, ""), (2, 0.5, "--threshold 0.5"), (3, 0.9, "--threshold 0.9 --method exact")]
    {
        let documents = families(500, seed);
        let decisions = decide(&documents, options);
        let brute_force = BruteForce::of(&documents);
        assert!(decisions.removed.len() > 60);
        for line in &decisions.removed {
            let [n, witness] = ["n", "witness_n"].map(|field| line[field].as_u64().unwrap() as usize);
            assert_eq!(
                (&line["id"], &line["witness"]),
                (&json!(documents[n].id), &json!(documents[witness].id))
            );
            let measured = brute_force.jaccard(n, witness);
            assert!((line["similarity"].as_f64().unwrap() - measured).abs() < 1e-6, "{line}: {measured}");
            assert!(measured >= threshold, "{line}");
        }
    }
}

#[test]
fn the_exact_method_leaves_no_two_similar_documents() {
    let documents = families(400, 4);
    let decisions = decide(&documents, "--method exact");
    let gone: BTreeSet<usize> =
        decisions.removed.iter().map(|line| line["n"].as_u64().unwrap() as usize).collect();
    for (a, b) in BruteForce::of(&documents).all_pairs(0.8).into_keys() {
        assert!(gone.contains(&a) || gone.contains(&b), "{a} and {b} are both kept");
    }
}

#[test]
fn classes_of_equal_words_are_counted_and_removed() {
    let documents = families(400, 5);
    let decisions = decide(&documents, "");
    let texts = documents.iter().map(|document| document.text.to_lowercase().replace(',', ""));
    let distinct: BTreeSet<String> = texts.collect();
    assert_eq!(decisions.count("exact_duplicates"), (400 - distinct.len()) as u64);
    let bytes: usize = documents.iter().map(|document| document.text.len()).sum();
    assert_eq!(decisions.count("text_bytes"), bytes as u64);
}

#[test]
fn one_document_and_none_are_jobs_too() {
    let one = decide(&families(1, 1), "");
    assert_eq!((one.count("documents"), one.count("kept")), (1, 1));
    let none = decide_lines(b"", "");
    assert_eq!((none.count("documents"), none.count("kept")), (0, 0));
    let folder = Folder::new();
    std::fs::create_dir(folder.join("empty")).unwrap();
    let sentence = "empty holds no files to read";
    dedup("empty -o job").inside(folder.path()).run().fails(1, sentence);
    dedup("gone -o job")
        .inside(folder.path())
        .run()
        .fails(1, "gone is neither a file, a folder nor a pattern that matches one");
    assert_eq!(folder.names(), ["empty"]);
}

/// Twelve words that no other row has.
fn row(name: &str) -> String {
    (0..12).map(|place| format!("{name}{}", char::from(b'a' + place))).collect::<Vec<_>>().join(" ")
}

fn lines(values: &[Value]) -> Vec<u8> {
    values.iter().map(|value| format!("{value}\n")).collect::<String>().into_bytes()
}

#[test]
fn two_records_with_one_id_are_two_documents_and_are_reported() {
    let input = lines(&[
        json!({"id": "same", "text": row("x")}),
        json!({"id": "same", "text": row("y")}),
        json!({"id": "same", "text": row("x")}),
        json!({"id": "other", "text": row("y")}),
    ]);
    let folder = Folder::new();
    let file = folder.file("in.jsonl", &input);
    dedup("").path(&file).option("-o", folder.join("job")).run().exits(0);
    let decisions = Decisions::read(&folder.join("job"));
    assert_eq!(decisions.count("duplicate_ids"), 2);
    let of = |line: &Value| ["id", "witness", "n", "witness_n"].map(|field| line[field].clone());
    assert_eq!(
        decisions.removed.iter().map(of).collect::<Vec<_>>(),
        [
            [json!("same"), json!("same"), json!(2), json!(0)],
            [json!("other"), json!("same"), json!(3), json!(1)]
        ]
    );
    let page = std::fs::read_to_string(folder.join("job/report.html")).unwrap();
    assert!(page.contains("2 documents bear an id that an earlier one bears"));
}

#[test]
fn a_record_without_an_id_is_named_by_its_place() {
    let texts = [row("x"), row("y"), row("x")].map(|text| json!({ "text": text }));
    let decisions = decide_lines(&lines(&texts), "");
    let line = &decisions.removed[0];
    assert_eq!((&line["id"], &line["witness"]), (&json!("in.jsonl#2"), &json!("in.jsonl#0")));
    assert_eq!(decisions.count("duplicate_ids"), 0);
}

#[test]
fn documents_without_words_are_kept_and_never_paired() {
    let texts = ["", "", "...", " -- ", "!?", &row("x"), &row("x")].map(|text| json!({ "text": text }));
    for options in ["", "--method exact", "--method md5", "--method simhash", "--method simhash --unverified"]
    {
        let decisions = decide_lines(&lines(&texts), options);
        assert_eq!((decisions.count("kept"), decisions.count("exact_duplicates")), (6, 1), "{options}");
        assert_eq!(decisions.removed[0]["n"], 6, "{options}");
        let found = super::job_support::paired(&lines(&texts), options);
        assert_eq!(super::job_support::ids(&found), [("in.jsonl#5", "in.jsonl#6")], "{options}");
    }
}

#[test]
fn under_five_words_the_whole_sequence_is_the_one_shingle() {
    let texts = ["one two", "One, two!", "two one", "one two three"].map(|text| json!({ "text": text }));
    let decisions = decide_lines(&lines(&texts), "--method exact");
    assert_eq!(decisions.removed_ids(), ["in.jsonl#1"]);
    let close = ["a b c d e f g h i j", "a b c d e f g h i k"].map(|text| json!({ "text": text }));
    assert!(decide_lines(&lines(&close), "--method exact").removed.is_empty());
    let words = decide_lines(&lines(&close), "--method exact --shingle 1");
    assert_eq!(words.removed[0]["similarity"], json!(0.818181818));
}

#[test]
fn rejected_records_are_listed_with_source_and_position_and_strict_ends_with_3() {
    let folder = Folder::new();
    let good = jsonl(&families(20, 1));
    let input =
        [&b"{\"id\":\"no text\"}\n"[..], &good, b"{broken\n", &good, b"{\"text\":\"\xff\"}\n"].concat();
    folder.file("in/a.jsonl", &input);
    folder.file("in/b.jsonl", b"{\"id\":1}\n");
    for (options, code) in [("", 0), ("--strict", 3)] {
        let job = folder.join(format!("job{code}"));
        let run = || dedup(options).path(folder.join("in")).option("-o", &job).run();
        run().exits(code);
        let decisions = Decisions::read(&job);
        let place = |line: &Value| (line["source"].clone(), line["position"].as_u64().unwrap());
        let second = 17 + good.len() as u64;
        assert_eq!(
            decisions.rejected.iter().map(place).collect::<Vec<_>>(),
            [
                (json!("a.jsonl"), 0),
                (json!("a.jsonl"), second),
                (json!("a.jsonl"), second + 8 + good.len() as u64),
                (json!("b.jsonl"), 0),
            ]
        );
        for (line, reason) in
            decisions.rejected.iter().zip(["missing field", "broken record", "invalid UTF-8"])
        {
            assert!(line["reason"].as_str().unwrap().contains(reason), "{line}");
        }
        assert_eq!(decisions.count("documents"), 44);
        // Rejected records have an ordinal of their own.
        assert!(decisions.removed.iter().any(|line| line["n"].as_u64().unwrap() >= 22));
        // A finished job says the same again.
        run().exits(code);
    }
}

#[test]
fn a_crowd_larger_than_max_group_is_removed_with_witnesses_in_little_work() {
    let documents = near_copies(3000);
    let brute_force = BruteForce::of(&documents);
    for method in ["minhash", "simhash:n=3+5,k=6", "exact"] {
        let decisions = decide(&documents, &format!("--max-group 50 --method {method}"));
        assert!(decisions.count("removed") >= 2900, "{method}: {}", decisions.summary);
        if method == "minhash" {
            assert!(decisions.count("giant_groups") > 0, "{}", decisions.summary);
            assert!(decisions.count("candidates") < 3000 * 200, "{}", decisions.summary);
        }
        for line in &decisions.removed {
            let [n, witness] = ["n", "witness_n"].map(|field| line[field].as_u64().unwrap() as usize);
            assert!(brute_force.jaccard(n, witness) >= 0.8, "{line}");
        }
    }
}

#[test]
fn the_keeper_is_chosen_by_length() {
    let base = row("x") + " " + &row("y") + " " + &row("z");
    let short = base.clone();
    let longer = format!("{base} one");
    let longest = format!("{base} one two");
    let documents: Vec<Value> = [("longer", &longer), ("longest", &longest), ("short", &short)]
        .iter()
        .map(|(id, text)| json!({"id": id, "text": text}))
        .collect();
    let input = lines(&documents);
    let removed = |keep: &str| {
        let decisions = decide_lines(&input, &format!("--keep {keep}"));
        decisions.removed_ids().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(removed("first"), ["longest", "short"]);
    assert_eq!(removed("longest"), ["longer", "short"]);
    assert_eq!(removed("shortest"), ["longer", "longest"]);
}

/// Equal documents with one field each; the id of the keeper.
fn keeper(values: &[Value], keep: &str) -> String {
    let documents: Vec<Value> = values
        .iter()
        .enumerate()
        .map(|(number, value)| {
            let mut line = json!({"id": number.to_string(), "text": row("x") + &format!(" {}", row("y"))});
            if !value.is_null() {
                line["score"] = value.clone();
            }
            line
        })
        .collect();
    // One that is like no other has the field in any case.
    let other = json!({"id": "other", "text": "something else", "score": 5});
    let all: Vec<Value> = documents.into_iter().chain([other]).collect();
    let decisions = decide_lines(&lines(&all), &format!("--keep {keep}"));
    assert_eq!(decisions.clusters.len(), 1);
    decisions.clusters[0]["keep"].as_str().unwrap().to_owned()
}

#[test]
fn the_keeper_is_chosen_by_a_field() {
    let numbers = [json!(null), json!(10), json!(9), json!(-1.5), json!(100)];
    assert_eq!(keeper(&numbers, "field:score"), "3");
    assert_eq!(keeper(&numbers, "field:score:desc"), "4");
    // One value that is no number makes them all texts: "10" < "100" < "9" < "b".
    let texts = [json!("b"), json!(9), json!("10"), json!(null), json!(100)];
    assert_eq!(keeper(&texts, "field:score"), "2");
    assert_eq!(keeper(&texts, "field:score:desc"), "0");
    let none = [json!(null), json!(null)];
    assert_eq!(keeper(&none, "field:score"), "0");
    let ties = [json!(2), json!(1), json!(1)];
    assert_eq!(keeper(&ties, "field:score"), "1");
    assert_eq!(keeper(&ties[1..], "field:score:desc"), "0");
}

/// Documents in a row, each like the next and less like the one after it.
fn chain() -> Vec<Doc> {
    let words: Vec<String> =
        (0..100).map(|number| format!("w{}", Rng::new(number + 1).below(1 << 30))).collect();
    let text = |from: usize| words[from..from + 60].join(" ");
    (0..5).map(|n| Doc { id: format!("c{n}"), url: None, text: text(n * 6) }).collect()
}

#[test]
fn a_star_keeps_what_only_a_chain_would_remove_and_components_say_via() {
    let documents = chain();
    let brute_force = BruteForce::of(&documents);
    // 50 of 62 shingles shared by neighbours, 44 of 68 by those one apart.
    let star = decide(&documents, "--threshold 0.7 --method exact");
    assert_eq!(star.removed_ids(), ["c1", "c3"]);
    assert_eq!((star.witness("c1"), star.witness("c3")), ("c0", "c2"));
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&documents));
    let run = dedup("--threshold 0.7 --method exact --cluster components").path(&input);
    let done = run.option("-o", folder.join("job")).run().exits(0);
    let components = Decisions::read(&folder.join("job"));
    assert_eq!(components.removed_ids(), ["c1", "c2", "c3", "c4"]);
    for (line, n) in components.removed.iter().zip(1..) {
        assert_eq!(line["witness"], "c0");
        assert!((line["similarity"].as_f64().unwrap() - brute_force.jaccard(0, n)).abs() < 1e-6, "{line}");
        assert_eq!(line["via"], json!(format!("c{}", n - 1)), "{line}");
    }
    assert_eq!(components.summary["witnesses_waived"], true);
    assert!(done.stdout.contains("components: a witness may be less similar than the threshold"));
    let page = std::fs::read_to_string(folder.join("job/report.html")).unwrap();
    assert!(page.contains("--cluster components"));
}

#[test]
fn what_was_not_measured_is_said_everywhere() {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&families(200, 6)));
    let done = dedup("--unverified").path(&input).option("-o", folder.join("job")).run().exits(0);
    let decisions = Decisions::read(&folder.join("job"));
    assert_eq!(decisions.summary["unverified"], true);
    assert_eq!(decisions.count("verified"), 0);
    assert!(
        done.stdout.contains("unverified: pairs count by the word of their methods alone"),
        "{}",
        done.stdout
    );
    let page = std::fs::read_to_string(folder.join("job/report.html")).unwrap();
    assert!(page.contains("--unverified"));
    let recipe = std::fs::read_to_string(folder.join("job/recipe.toml")).unwrap();
    assert!(recipe.contains("verified = false"));
    assert!(decisions.removed.len() > 50);
    let sentence = "the method exact is verification itself; leave --unverified out, or take another method";
    dedup("--unverified --method exact -o x").path(&input).inside(folder.path()).run().fails(2, sentence);
    assert_eq!(folder.names(), ["in.jsonl", "job"]);
}

#[test]
fn documents_are_compared_only_with_their_like() {
    let document = |id: &str, dump: Value, host: &str| {
        let mut line = json!({"id": id, "text": row("x"), "url": format!("https://{host}/{id}")});
        if !dump.is_null() {
            line["dump"] = dump;
        }
        line
    };
    let input = lines(&[
        document("a", json!("one"), "a.example"),
        document("b", json!("two"), "a.example"),
        document("c", json!("one"), "b.example"),
        document("d", json!("two"), "b.example:8080"),
        document("e", json!(null), "c.example"),
        document("f", json!(null), "c.example"),
    ]);
    assert_eq!(decide_lines(&input, "").removed_ids(), ["b", "c", "d", "e", "f"]);
    let field = decide_lines(&input, "--within dump");
    let pairs = |decisions: &Decisions| {
        let pair =
            |line: &Value| format!("{}-{}", line["id"].as_str().unwrap(), line["witness"].as_str().unwrap());
        decisions.removed.iter().map(pair).collect::<Vec<_>>()
    };
    assert_eq!(pairs(&field)[..2], ["c-a", "d-b"]);
    let host = decide_lines(&input, "--within @host");
    assert_eq!(pairs(&host), ["b-a", "d-c", "f-e"]);
    // Near-duplicates obey, too.
    let families: Vec<Doc> = families(300, 8);
    let near = decide(&families, "--within @host");
    assert!(near.count("verified") > 0);
    for line in &near.removed {
        let [n, witness] = ["n", "witness_n"].map(|field| line[field].as_u64().unwrap());
        assert_eq!(n % 3, witness % 3, "{line}");
    }
}

#[test]
fn hosts_have_no_case() {
    let document =
        |id: &str, host: &str| json!({"id": id, "text": row("x"), "url": format!("https://{host}/{id}")});
    let input = lines(&[document("a", "Site.Example"), document("b", "site.example")]);
    assert_eq!(decide_lines(&input, "--within @host").removed_ids(), ["b"]);
}

#[test]
fn what_another_corpus_holds_is_removed() {
    let folder = Folder::new();
    let documents = families(300, 9);
    let (other, own) = documents.split_at(150);
    let other = folder.file("other.jsonl", jsonl(other));
    let input = folder.file("in.jsonl", jsonl(own));
    dedup("").path(&input).option("--against", &other).option("-o", folder.join("job")).run().exits(0);
    let decisions = Decisions::read(&folder.join("job"));
    let brute_force = BruteForce::of(&documents);
    let mut others = 0;
    for line in &decisions.removed {
        let [n, mut witness] = ["n", "witness_n"].map(|field| line[field].as_u64().unwrap() as usize);
        match line.get("against") {
            Some(against) => {
                assert!(against.is_string());
                others += 1;
            }
            None => witness += 150,
        }
        assert_eq!(line["witness"], json!(documents[witness].id), "{line}");
        let measured = brute_force.jaccard(n + 150, witness);
        assert!((line["similarity"].as_f64().unwrap() - measured).abs() < 1e-6 && measured >= 0.8, "{line}");
    }
    assert!(others > 20 && others < decisions.removed.len(), "{others}");
    assert_eq!((decisions.count("documents"), decisions.count("against")), (150, 150));
    // Nothing is removed for what stands in the other corpus alone.
    assert!(decisions.removed_ids().iter().all(|id| *id >= "doc-00150"));
}

#[test]
fn containment_removes_the_document_that_is_contained() {
    let whole: Vec<String> = (0..40).map(|number| row(&format!("p{number}"))).collect();
    let input = lines(&[
        json!({"id": "part", "text": whole[3..9].join(" ")}),
        json!({"id": "whole", "text": whole.join(" ")}),
        json!({"id": "other", "text": row("q")}),
    ]);
    let decisions = decide_lines(&input, "--method exact --similarity containment --keep longest");
    assert_eq!(decisions.removed_ids(), ["part"]);
    assert_eq!((decisions.witness("part"), &decisions.removed[0]["similarity"]), ("whole", &json!(1.0)));
    // The whole is never removed for its part, whatever comes first.
    for keep in ["first", "shortest"] {
        let decisions =
            decide_lines(&input, &format!("--method exact --similarity containment --keep {keep}"));
        assert!(!decisions.removed_ids().contains(&"whole"), "{keep}");
    }
    let found = super::job_support::paired(&input, "--method exact --similarity containment");
    let whole_shingles = 40 * 12 - 4;
    let part_shingles = 6 * 12 - 4;
    let reverse = f64::from(part_shingles) / f64::from(whole_shingles);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (&found[0]["a"], &found[0]["b"], &found[0]["similarity"]),
        (&json!("part"), &json!("whole"), &json!(1.0))
    );
    assert!((found[0]["reverse"].as_f64().unwrap() - reverse).abs() < 1e-9, "{found:?}");
    for method in ["minhash", "simhash"] {
        let sentence = format!(
            "{method} cannot see that one document holds another of a different size; the methods that can are \
             exact, mod, sif, cops and koala"
        );
        let run = dedup(&format!("--sample -o x --similarity containment --method {method}"));
        run.inside(Folder::new().path()).run().fails(2, &sentence);
    }
}

#[test]
fn md5_cannot_see_containment() {
    let run = dedup("--sample -o x --similarity containment --method md5").inside(Folder::new().path()).run();
    run.refuses_with(2, &["md5 cannot see", "exact"]);
}

#[test]
fn other_measures_are_computed_by_hand() {
    // Of 16 words the last two differ: 10 of 12 shingles are shared, 14 of 18 words.
    let common: Vec<String> = (0..14).map(|n| format!("c{}", char::from(b'a' + n))).collect();
    let text = |end: &str| format!("{} {end}", common.join(" "));
    let input = lines(&[json!({"id": "a", "text": text("x y")}), json!({"id": "b", "text": text("v w")})]);
    let similarity = |options: &str| {
        let found = super::job_support::paired(&input, &format!("--threshold 0.3 {options}"));
        assert_eq!(found.len(), 1, "{options}");
        found[0]["similarity"].as_f64().unwrap()
    };
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-8, "{a} {b}");
    close(similarity(""), 10.0 / 14.0);
    close(similarity("--method exact --shingle 1"), 14.0 / 18.0);
    close(similarity("--similarity cosine"), 10.0 / 12.0);
    close(similarity("--similarity cosine --method exact --shingle 1"), 14.0 / 16.0);
    close(similarity("--similarity cosine-tf"), 10.0 / 12.0);
    // Of 45 characters, blanks included, 43 stand in both in the same order.
    close(similarity("--similarity edit"), 86.0 / 90.0);
    // Weights tell the two cosines apart: the words are the same, their counts are not.
    let weighted = lines(&[json!({"id": "a", "text": "x x x y"}), json!({"id": "b", "text": "x y y y"})]);
    for (measure, expected) in [("cosine", 1.0), ("cosine-tf", 6.0 / 10.0), ("jaccard", 1.0)] {
        let options = format!("--shingle 1 --threshold 0.3 --similarity {measure}");
        let found = super::job_support::paired(&weighted, &options);
        assert_eq!(found.len(), 1, "{measure}");
        close(found[0]["similarity"].as_f64().unwrap(), expected);
    }
}

#[test]
fn a_recall_that_is_not_promised_is_said() {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&families(5, 1)));
    for similarity in ["cosine", "cosine-tf", "edit"] {
        let run = dedup(&format!("--similarity {similarity}")).path(&input);
        let done = run.option("-o", folder.join(similarity)).run().exits(0);
        assert!(done.stderr.contains("no recall is promised"), "{}", done.stderr);
    }
    for similarity in ["cosine-tf", "edit"] {
        let run = dedup(&format!("--method exact -o x --similarity {similarity}")).path(&input);
        let sentence = format!(
            "the method exact cannot find all pairs by {similarity}; it can by jaccard, containment and cosine"
        );
        run.inside(folder.path()).run().fails(2, &sentence);
    }
}

#[test]
fn every_method_removes_only_what_is_similar() {
    let documents = families(300, 10);
    let brute_force = BruteForce::of(&documents);
    for method in ["md5", "simhash", "simhash:n=3,k=6,f=128", "minhash:family=classic,values=64", "exact"] {
        let decisions = decide(&documents, &format!("--method {method}"));
        assert!(decisions.removed.len() >= 20, "{method}");
        for line in &decisions.removed {
            let [n, witness] = ["n", "witness_n"].map(|field| line[field].as_u64().unwrap() as usize);
            assert!(brute_force.jaccard(n, witness) >= 0.8, "{method}: {line}");
        }
        if method == "md5" {
            assert_eq!(decisions.count("removed"), decisions.count("exact_duplicates"));
        }
    }
}

#[test]
fn a_method_or_parameter_that_is_not_there_is_one_sentence() {
    let folder = Folder::new();
    let cases = [
        (
            "--method minhsah",
            "there is no method minhsah; minhash may be meant, and lookalike methods lists all",
        ),
        (
            "--method minhash:row=1",
            "the method minhash has no parameter row; rows may be meant, and it has values, bands, rows, \
             shingle, bits, seed, family",
        ),
        ("--method simhash:k", "k in the method simhash is no parameter; write it as key=value"),
        (
            "--method minhash:values=x",
            "x cannot be values of the method minhash: a number from 1 to 4096 is wanted",
        ),
        ("--annotate", "--annotate goes with --write kept"),
    ];
    for (options, sentence) in cases {
        dedup(&format!("--sample -o x {options}")).inside(folder.path()).run().fails(2, sentence);
    }
    for options in ["--threshold 0", "--threshold 1.5", "--keep best", "--cluster moon", "--similarity x"] {
        let done = dedup(&format!("--sample -o x {options}")).inside(folder.path()).run().exits(2);
        assert!(done.stderr.starts_with("error: invalid value"), "{}", done.stderr);
    }
    assert!(folder.names().is_empty());
}

/// Runs twice, the second time by the recipe of the first.
#[track_caller]
fn assert_replayed(options: &str) {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&families(300, 11)));
    let run = |options: &str, job: &str| {
        dedup(options).path(&input).option("-o", folder.join(job)).run().exits(0);
        results(&folder.join(job))
    };
    let first = run(options, "first/job");
    let recipe = folder.join("first/job/recipe.toml");
    let second = run(&format!("--recipe {}", recipe.display()), "second/job");
    assert_same(&first, &second, options);
}

#[test]
fn a_recipe_is_replayed_to_the_byte() {
    assert_replayed("");
    assert_replayed("--threshold 0.6 --method simhash:k=6,n=3 --shingle 3 --max-group 20 --within @host");
    assert_replayed("--unverified --seed 5 --profile thesis");
    assert_replayed("--content main --max-document-bytes 1M --text-field text");
}

#[test]
fn a_recipe_is_replayed_with_its_keeper_and_cluster_rule() {
    assert_replayed("--keep longest");
    assert_replayed("--cluster components");
}

#[test]
fn a_recipe_and_an_option_that_it_holds_exclude_each_other() {
    let folder = Folder::new();
    dedup("--sample -o x --recipe r.toml")
        .inside(folder.path())
        .run()
        .refuses_with(1, &["r.toml cannot be read"]);
    folder.file("r.toml", "x = 1\n");
    dedup("--sample -o x --recipe r.toml")
        .inside(folder.path())
        .run()
        .refuses_with(2, &["r.toml is no recipe"]);
    let done = dedup("--sample -o x --recipe r.toml --threshold 0.9").inside(folder.path()).run().exits(2);
    assert!(done.stderr.contains("cannot be used with"), "{}", done.stderr);
    assert_eq!(folder.names(), ["r.toml"]);
}

#[test]
fn profile_content_and_fields_decide_what_is_compared() {
    let message = |name: &str| {
        let hops: String =
            (0..9).map(|hop| format!("Received: {}\n", row(&format!("{name}{hop}")))).collect();
        format!("From: {name}@site.example\n{hops}Subject: {}\n\n{}\n", row("s"), row("b"))
    };
    let input =
        lines(&[json!({"key": "a", "mail": message("m")}), json!({"key": "b", "mail": message("n")})]);
    let fields = "--id-field key --text-field mail";
    assert!(decide_lines(&input, fields).removed.is_empty());
    assert_eq!(decide_lines(&input, &format!("{fields} --content email")).removed_ids(), ["b"]);
    // Numbers are words, but not to Kolcz.
    let digits = lines(&[
        json!({"id": "a", "text": format!("{} 10 20 30 40 50 60 70 80", row("word"))}),
        json!({"id": "b", "text": format!("{} 11 21 31 41 51 61 71 81", row("word"))}),
    ]);
    assert!(decide_lines(&digits, "").removed.is_empty());
    assert_eq!(decide_lines(&digits, "--profile kolcz").removed_ids(), ["b"]);
}

/// The rule of stars, as plainly as it can be written: documents in keeper order, each by itself.
fn plain_star(documents: &[Doc], threshold: f64, longest: bool) -> Vec<(usize, usize)> {
    let brute_force = BruteForce::of(documents);
    let pairs = brute_force.all_pairs(threshold);
    let similarity = |a: usize, b: usize| pairs.get(&(a.min(b), a.max(b))).copied();
    let words = |n: usize| documents[n].text.split_whitespace().count();
    let mut order: Vec<usize> = (0..documents.len()).collect();
    if longest {
        order.sort_by_key(|&n| (std::cmp::Reverse(words(n)), n));
    }
    let mut witnesses: Vec<Option<usize>> = vec![None; documents.len()];
    let mut kept: Vec<usize> = Vec::new();
    for n in order {
        let mut best: Option<(f64, usize)> = None;
        for &keeper in &kept {
            if let Some(found) = similarity(n, keeper)
                && best.is_none_or(|(most, _)| found > most)
            {
                best = Some((found, keeper));
            }
        }
        match best {
            Some((_, keeper)) => witnesses[n] = Some(keeper),
            None => kept.push(n),
        }
    }
    (0..documents.len()).filter_map(|n| Some((n, witnesses[n]?))).collect()
}

#[test]
fn stars_are_those_of_the_plain_rule() {
    for (seed, threshold, longest) in [(21, 0.8, false), (22, 0.6, false), (23, 0.8, true), (24, 0.5, true)] {
        let documents = families(400, seed);
        let keep = if longest { "longest" } else { "first" };
        let decisions = decide(&documents, &format!("--method exact --threshold {threshold} --keep {keep}"));
        let number = |line: &Value, field: &str| line[field].as_u64().unwrap() as usize;
        let found: Vec<(usize, usize)> =
            decisions.removed.iter().map(|line| (number(line, "n"), number(line, "witness_n"))).collect();
        let expected = plain_star(&documents, threshold, longest);
        assert_eq!(found, expected, "{seed} {threshold} {keep}");
    }
}

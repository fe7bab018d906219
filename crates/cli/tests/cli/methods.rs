//! All methods through the whole program: alone, together, and with lexicons.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lookalike::methods::{METHODS, names};
use serde_json::Value;

use super::job_support::{dedup, pairs, results};
use super::support::{Folder, RunOutput, corpus, json_lines, lookalike};

/// Generated pages as plain text, some of them near-duplicates of others.
fn pages(folder: &Folder, count: usize) -> PathBuf {
    let (raw, input) = (folder.join("raw.jsonl"), folder.join("in.jsonl"));
    let words = format!("generate --documents {count} --seed 5 --progress none");
    corpus(&words).option("-o", &raw).run().exits(0);
    corpus("convert --progress none").path(&raw).option("-o", &input).run().exits(0);
    input
}

/// The pairs of a run, by ids.
fn run(input: &Path, options: &str) -> Vec<Value> {
    let folder = Folder::new();
    let output = folder.join("out.jsonl");
    pairs(options).path(input).option("-o", &output).run().exits(0);
    json_lines(&output)
}

/// Parses standard output as JSON.
fn json(done: &RunOutput) -> Value {
    serde_json::from_str(&done.stdout).unwrap()
}

fn set(found: &[Value]) -> BTreeSet<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    found.iter().map(|pair| (text(&pair["a"]), text(&pair["b"]))).collect()
}

#[test]
fn every_method_finds_pairs_and_verified_ones_are_true() {
    let folder = Folder::new();
    let input = pages(&folder, 300);
    let similarity = |pair: &Value| pair["similarity"].as_f64().unwrap();
    let key = |pair: &Value| (pair["a"].to_string(), pair["b"].to_string());
    // What exact finds is held against brute force elsewhere.
    let expected: BTreeMap<_, f64> =
        run(&input, "--method exact").iter().map(|pair| (key(pair), similarity(pair))).collect();
    assert!(expected.len() > 30, "{}", expected.len());
    for name in names() {
        let found = run(&input, &format!("--method {name} --threads 2"));
        assert!(!found.is_empty(), "{name} finds nothing");
        for pair in &found {
            let right = expected.get(&key(pair)).copied();
            assert_eq!(right, Some(similarity(pair)), "{name}: {pair}");
        }
    }
}

#[test]
fn threads_and_memory_change_no_byte_of_any_method() {
    let folder = Folder::new();
    let input = pages(&folder, 200);
    for name in METHODS.iter().map(|about| about.name) {
        let unverified = if name == "exact" { "" } else { "--unverified" };
        let run = |how: &str| {
            let job = folder.join("job");
            let options = format!("--method {name} {unverified} {how}");
            dedup(&options).path(&input).option("-o", &job).run().exits(0);
            let found = results(&job);
            std::fs::remove_dir_all(&job).unwrap();
            found
        };
        let first = run("--threads 1");
        super::job_support::assert_same(&first, &run("--threads 3 --memory 256M"), name);
    }
}

#[test]
fn several_methods_together_are_the_union_the_intersection_or_a_filter() {
    let folder = Folder::new();
    let input = pages(&folder, 400);
    for (one, two) in [("supershingles", "simhash:k=6"), ("tf", "long-sentences"), ("cops", "imatch")] {
        let found = |options: &str| set(&run(&input, &format!("{options} --unverified")));
        let (first, second) = (found(&format!("--method {one}")), found(&format!("--method {two}")));
        let both = format!("--method {one} --method {two}");
        let (any, all) = (found(&both), found(&format!("{both} --combine all")));
        assert_eq!(any, first.union(&second).cloned().collect(), "{both}");
        assert_eq!(all, first.intersection(&second).cloned().collect(), "{both} --combine all");
        assert!(!all.is_empty() && all.len() < first.len().max(second.len()), "{both} teaches nothing");
        // Signatures that are accepted are also keys, so that a filter lets through what both propose.
        let filtered = found(&format!("--method {one} --filter {two}"));
        assert_eq!(filtered, all, "{one} --filter {two}");
    }
    let verified = |options: &str| set(&run(&input, options));
    let any = verified("--method supershingles --method simhash:k=6");
    let alone = [verified("--method supershingles"), verified("--method simhash:k=6")];
    assert_eq!(any, alone[0].union(&alone[1]).cloned().collect());
}

#[test]
fn a_filter_that_must_see_more_than_payloads_is_refused() {
    let folder = Folder::new();
    let done = pairs("--sample --method minhash --filter cops -o x.jsonl").inside(folder.path()).run();
    done.fails(
        2,
        "cops judges by the number of keys that two documents share and cannot be a filter; give it as a second \
         --method with --combine all",
    );
    let done =
        pairs("--sample --method minhash --filter a11 -o x.jsonl").inside(folder.path()).run().exits(2);
    assert!(done.stderr.contains("decomposition decides by a measure of its own"), "{}", done.stderr);
}

#[test]
fn documents_without_a_signature_are_like_nothing() {
    let folder = Folder::new();
    // Short words are no words for a0.
    let texts = ["it is so as we do it", "he or she is to go in", "at an ox we do as he is"];
    let line =
        |(n, text): (usize, &&str)| serde_json::json!({"id": n.to_string(), "text": text}).to_string() + "\n";
    let input = folder.file("in.jsonl", texts.iter().enumerate().map(line).collect::<String>());
    let found = run(&input, "--method minhash:bands=1,rows=1,values=1,shingle=1 --filter a0 --unverified");
    assert_eq!(found, [] as [Value; 0]);
}

#[test]
fn methods_that_see_containment_tell_it_both_ways() {
    let folder = Folder::new();
    let mut rng = super::job_support::Rng::new(3);
    let mut sentence = || {
        let mut word = || (0..7).map(|_| char::from(b'a' + rng.below(26) as u8)).collect::<String>();
        (0..9).map(|_| word()).collect::<Vec<_>>().join(" ") + ". "
    };
    // Short enough for koala to ask for all substrings: rare ones are those of one document.
    let half: String = (0..8).map(|_| sentence()).collect();
    let whole: String = half.clone() + &(0..8).map(|_| sentence()).collect::<String>();
    let line = |id: &str, text: &str| serde_json::json!({"id": id, "text": text}).to_string() + "\n";
    let (half, whole) = (line("half", &half), line("whole", &whole));
    for lines in [half.clone() + &whole, whole + &half] {
        let input = folder.file("in.jsonl", lines);
        for method in ["sif:keep=4,share=0.9", "koala:share=0.9", "cops:common=0,share=0.9", "mod:m=2"] {
            let own = run(&input, &format!("--method {method} --similarity containment --unverified"));
            let [pair] = &own[..] else { panic!("{method}: {own:?}") };
            let measured = &run(&input, &format!("--method {method} --similarity containment"))[0];
            // The rarest substrings of the whole are those that the half lacks: by koala nothing of it is in the half.
            let roughly = if method.starts_with("koala") { 0.51 } else { 0.2 };
            for (pair, tolerance) in [(pair, roughly), (measured, 0.03)] {
                let (mut of_half, mut of_whole) =
                    (pair["similarity"].as_f64().unwrap(), pair["reverse"].as_f64().unwrap());
                if pair["a"] == "whole" {
                    (of_half, of_whole) = (of_whole, of_half);
                }
                assert!(of_half > 0.98 && (of_whole - 0.5).abs() < tolerance, "{method}: {pair}");
            }
            // What is contained goes, and never what contains it.
            let job = folder.join("job");
            let options = format!("--method {method} --similarity containment --unverified");
            dedup(&options).path(&input).option("-o", &job).run().exits(0);
            let removed = json_lines(&job.join("removed.jsonl"));
            assert!(removed.iter().all(|row| row["id"] == "half"), "{method}: {removed:?}");
            std::fs::remove_dir_all(&job).unwrap();
        }
    }
}

#[test]
fn a_lexicon_of_the_same_corpus_changes_nothing_and_another_does() {
    let folder = Folder::new();
    let input = pages(&folder, 300);
    let lexicon = folder.join("own.lexicon");
    let count = |input: &Path, options: &str, target: &Path| {
        let words = format!("lexicon --progress none {options}");
        lookalike(words.split_whitespace()).path(input).option("-o", target).run().exits(0)
    };
    count(&input, "--profile kolcz --content page --memory 256M --threads 3", &lexicon);
    let with = |lexicon: &Path| format!("--method imatch --unverified --lexicon {}", lexicon.display());
    let own = run(&input, "--method imatch --unverified");
    assert!(!own.is_empty());
    assert_eq!(run(&input, &with(&lexicon)), own);
    // Where all words are unknown or common, other words make the signatures.
    let other = folder.file(
        "other.jsonl",
        "{\"text\":\"some entirely different words stand here\"}\n{\"text\":\"some other \
         entirely\"}\n",
    );
    let foreign = folder.join("foreign.lexicon");
    count(&other, "--profile kolcz --content page", &foreign);
    let failed = pairs(&with(&foreign)).path(&input).option("-o", folder.join("x.jsonl")).run();
    assert!(failed.stderr.contains("lexicon"), "{}", failed.stderr);
}

#[test]
fn a_lexicon_that_does_not_fit_is_one_sentence() {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", "{\"text\":\"one two three\"}\n");
    let lexicon = folder.join("l");
    lookalike("lexicon --progress none --profile web".split(' '))
        .path(&input)
        .option("-o", &lexicon)
        .run()
        .exits(0);
    let fails = |options: &str, sentence: &str| {
        let run = pairs(&format!("--lexicon {} {options}", lexicon.display()));
        let done = run.path(&input).option("-o", folder.join("x.jsonl")).run().exits(2);
        let last = done.stderr.lines().last().unwrap_or_default();
        assert_eq!(last, format!("lookalike: {sentence}"));
        assert!(!folder.join("x.jsonl.job").exists(), "a folder was made for nothing");
    };
    fails(
        "--method tfidf",
        &format!(
            "the lexicon {} holds words by the profile web, and the method reads them by yandex; make one by lookalike \
             lexicon --profile yandex",
            lexicon.display()
        ),
    );
    fails(
        "--method minhash",
        &format!(
            "no method of this run asks for a lexicon; leave --lexicon {} out, or take one that weighs words",
            lexicon.display()
        ),
    );
    std::fs::write(&lexicon, "{}").unwrap();
    fails(
        "--method tfidf",
        &format!(
            "{} cannot be taken as a lexicon: it is no lexicon of this version; lookalike lexicon makes one",
            lexicon.display()
        ),
    );
}

#[test]
fn nothing_to_count_is_no_error_and_an_empty_lexicon_is() {
    let folder = Folder::new();
    let empty = folder.file("empty.jsonl", "{\"text\":\"…\"}\n");
    for method in ["imatch", "tfidf", "simhash:weight=idf", "a9"] {
        assert_eq!(run(&empty, &format!("--method {method}")), [] as [Value; 0], "{method}");
    }
    let lexicon = folder.join("l");
    let words = "lexicon --progress none --profile kolcz:min-letters=2";
    lookalike(words.split(' ')).path(&empty).option("-o", &lexicon).run().exits(0);
    let with = |method: &str| {
        let run = pairs(&format!("--method {method}")).option("--lexicon", &lexicon).path(&empty);
        run.option("-o", folder.join("x.jsonl")).run().exits(2).stderr
    };
    let other = with("imatch");
    assert!(
        other.contains("by the profile kolcz:min-letters=2, and the method reads them by kolcz;"),
        "{other}"
    );
    let none = with("imatch:profile=kolcz;min-letters=2");
    assert!(none.contains("it has no words; make one from documents that have"), "{none}");
}

#[test]
fn a_recipe_with_a_lexicon_wants_the_same_one() {
    let folder = Folder::new();
    let input = pages(&folder, 60);
    let lexicon = folder.join("l");
    let count = "lexicon --progress none --profile yandex";
    lookalike(count.split(' ')).path(&input).option("-o", &lexicon).run().exits(0);
    let job = folder.join("job");
    dedup("--method tfidf").option("--lexicon", &lexicon).path(&input).option("-o", &job).run().exits(0);
    let replay = || dedup("").option("--recipe", job.join("recipe.toml")).path(&input);
    let again = folder.join("again");
    replay().option("--lexicon", &lexicon).option("-o", &again).run().exits(0);
    super::job_support::assert_same(&results(&job), &results(&again), "the same lexicon");
    let missing = replay().option("-o", folder.join("missing")).run().exits(2);
    assert!(missing.stderr.contains("give that file by --lexicon"), "{}", missing.stderr);
    let other = folder.join("other");
    lookalike(count.split(' ')).arg("--sample").option("-o", &other).run().exits(0);
    let wrong = replay().option("--lexicon", &other).option("-o", folder.join("wrong")).run().exits(2);
    assert!(wrong.stderr.contains("is not the lexicon that the recipe was made with"), "{}", wrong.stderr);
}

#[test]
fn a_lexicon_is_shown() {
    let folder = Folder::new();
    let text =
        "{\"text\":\"a rose is a rose is a rose\"}\n{\"text\":\"a tulip\"}\n{\"text\":\"…\"}\n{\"no\":1}\n";
    let input = folder.file("in.jsonl", text);
    let lexicon = folder.join("l");
    let counted =
        lookalike("lexicon --progress none".split(' ')).path(&input).option("-o", &lexicon).run().exits(0);
    insta::assert_snapshot!("lexicon-counted", counted.stdout);
    insta::assert_snapshot!(
        "lexicon-shown",
        lookalike(["lexicon", "show"]).path(&lexicon).run().exits(0).stdout
    );
    let rose =
        json(&lookalike(["lexicon", "show", "--json"]).path(&lexicon).arg("rose").arg("lily").run().exits(0));
    assert_eq!(rose["rows"][0], serde_json::json!({"documents": 1, "occurrences": 3, "word": "rose"}));
    assert_eq!(rose["rows"][1]["documents"], 0);
    assert_eq!((&rose["documents"], &rose["words"], &rose["vocabulary"]), (&2.into(), &10.into(), &4.into()));
    lookalike("lexicon --progress none --strict".split(' '))
        .path(&input)
        .option("-o", &lexicon)
        .run()
        .exits(3);
}

#[test]
fn all_methods_are_listed_and_explained() {
    insta::assert_snapshot!("methods", lookalike(["methods"]).run().exits(0).stdout);
    insta::assert_snapshot!("methods-imatch", lookalike(["methods", "a7"]).run().exits(0).stdout);
    let all = json(&lookalike(["methods", "--json"]).run().exits(0));
    assert_eq!(all.as_array().unwrap().len(), METHODS.len());
    for name in names() {
        assert!(lookalike(["methods", name]).run().exits(0).stdout.contains("example"), "{name}");
    }
    let unknown = lookalike(["methods", "simhsh"]).run();
    unknown.fails(2, "there is no method simhsh; simhash may be meant, and lookalike methods lists all");
}

#[test]
fn an_empty_range_of_words_is_one_sentence() {
    let folder = Folder::new();
    let input = pages(&folder, 60);
    let run =
        pairs("--method imatch:low=0.999,high=0.9995").path(&input).option("-o", folder.join("x.jsonl"));
    let done = run.run().exits(2);
    assert_eq!(
        done.stderr.lines().filter(|line| line.starts_with("lookalike:")).count(),
        1,
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("low"), "{}", done.stderr);
}

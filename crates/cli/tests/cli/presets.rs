//! Presets: every one finds what was planted, is shown as the recipe that it runs by, and yields to options.

use std::collections::BTreeSet;
use std::path::Path;

use lookalike::presets::PRESETS;

use super::job_support::{Decisions, assert_same, dedup, families, json, pairs, results};
use super::support::{Folder, Invocation, corpus, json_lines, jsonl, lookalike};

fn presets(name: &str) -> String {
    lookalike(["presets", name]).run().exits(0).stdout
}

#[test]
fn every_preset_is_listed_in_one_line() {
    let list = lookalike(["presets"]).run().exits(0).stdout;
    insta::assert_snapshot!("presets-list", list);
    for preset in PRESETS {
        let lines = list.lines().filter(|line| line.split_whitespace().next() == Some(preset.name));
        assert_eq!(lines.count(), 1, "{}", preset.name);
    }
}

#[test]
fn every_preset_removes_what_was_planted_for_a_witness() {
    let folder = Folder::new();
    let sample = folder.join("sample.jsonl");
    corpus("convert --sample --progress none").option("-o", &sample).run().exits(0);
    for preset in PRESETS {
        let (name, job) = (preset.name, folder.join(preset.name));
        let options = format!("--progress none --preset {name}");
        dedup(&options).path(&sample).option("-o", &job).run().exits(0);
        lookalike(["check", "--measure"]).path(&job).run().exits(0);
        let decisions = Decisions::read(&job);
        let threshold: f64 = preset.recipe().unwrap().threshold.parse().unwrap();
        for removal in &decisions.removed {
            assert!(removal["similarity"].as_f64().unwrap() >= threshold, "{name}: {removal}");
        }
        // Equal documents are found by all, and each preset finds further ones.
        let [removed, exact] = ["removed", "exact_duplicates"].map(|field| decisions.count(field));
        assert!(exact >= 150 && removed >= exact + 50, "{name}: {removed} removed, {exact} of them equal");
        let gone: BTreeSet<&str> = decisions.removed_ids().into_iter().collect();
        for [a, b] in equal_pairs(&folder, &sample, name) {
            assert!(gone.contains(a.as_str()) || gone.contains(b.as_str()), "{name} keeps both {a} and {b}");
        }
    }
}

/// The pairs of the sample that are equal to the words that a preset reads: no method may miss one.
fn equal_pairs(folder: &Folder, sample: &Path, name: &str) -> Vec<[String; 2]> {
    let file = folder.join(format!("{name}.jsonl"));
    let options = format!(
        "--progress none --preset {name} --method exact --similarity jaccard --shingle 5 --threshold 1"
    );
    pairs(&options).path(sample).option("-o", &file).run().exits(0);
    let found = json_lines(&file);
    assert!(found.len() > 500, "{name}: {}", found.len());
    found.iter().map(|pair| ["a", "b"].map(|side| pair[side].as_str().unwrap().to_owned())).collect()
}

#[test]
fn a_preset_is_the_recipe_that_is_shown() {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&families(300, 11)));
    for preset in PRESETS {
        let name = preset.name;
        let recipe = folder.file(format!("{name}.toml"), presets(name));
        let run = |options: Invocation, job: String| {
            options.path(&input).option("-o", folder.join(&job)).run().exits(0);
            results(&folder.join(&job))
        };
        let by_name = run(dedup(&format!("--preset {name}")), format!("{name}/job"));
        let by_recipe = run(dedup("").option("--recipe", &recipe), format!("{name}-recipe/job"));
        assert_same(&by_name, &by_recipe, name);
    }
}

#[test]
fn options_beside_a_preset_count_and_reach_its_methods() {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&families(300, 12)));
    let run = |options: &str, job: &str| {
        dedup(options).path(&input).option("-o", folder.join(job)).run().exits(0);
        results(&folder.join(job))
    };
    let changed = "--shingle 3 --threshold 0.8 --seed 9 --keep longest --cluster components --max-group 50";
    let long = format!(
        "{changed} --method minhash:values=286,family=classic,bands=26,rows=11 --similarity jaccard --profile thesis"
    );
    let by_preset = run(&format!("--preset dolma3 {changed} --profile thesis"), "preset/job");
    assert_same(&by_preset, &run(&long, "long/job"), "typed out");
    // An option with its default value was given all the same.
    let default = run("--preset dolma3 --method minhash --profile web", "default/job");
    assert_same(&default, &run("--threshold 0.8", "plain/job"), "defaults that were typed");
}

#[test]
fn presets_work_for_pairs_indexes_and_comparisons() {
    let folder = Folder::new();
    folder.file("in.jsonl", jsonl(&families(200, 13)));
    folder.file("other.jsonl", jsonl(&families(200, 13)));
    let run = |command: String, options: &str, output: String| {
        let words = command.split_whitespace().chain(options.split_whitespace());
        lookalike(words).inside(folder.path()).run().exits(0);
        std::fs::read(folder.join(output)).unwrap()
    };
    let outputs = |name: &str, options: &str| {
        let pairs = run(format!("pairs in.jsonl -o {name}.jsonl"), options, format!("{name}.jsonl"));
        let compare = format!("compare in.jsonl --with other.jsonl -o {name}");
        let compared = run(compare, options, format!("{name}/pairs.jsonl"));
        let index = run(format!("index create {name}.index"), options, format!("{name}.index/recipe.toml"));
        assert!(!pairs.is_empty() && !compared.is_empty());
        (pairs, compared, index)
    };
    let by_hand = "--method minhash:bands=14,family=classic,rows=8,values=112 --threshold 0.75";
    assert!(outputs("by-preset", "--preset fineweb") == outputs("by-hand", by_hand));
    // A comparison calls its methods by what ran.
    let summary = json(&folder.join("by-preset/summary.json"));
    assert!(summary.to_string().contains("minhash:bands=14"), "{summary}");
}

#[test]
fn a_preset_that_nobody_knows_and_one_beside_a_recipe_are_refused() {
    let folder = Folder::new();
    let done = dedup("--sample -o x --preset nobody").inside(folder.path()).run().exits(2);
    assert!(done.stderr.contains("no preset is called \"nobody\"; there are fineweb, "), "{}", done.stderr);
    let done = dedup("--sample -o x --preset fineweb --recipe r.toml").inside(folder.path()).run().exits(2);
    assert!(done.stderr.contains("cannot be used with"), "{}", done.stderr);
    lookalike(["presets", "nobody"]).run().exits(2);
    assert!(folder.names().is_empty());
}

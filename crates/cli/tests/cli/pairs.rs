//! `pairs`: every near-duplicate pair, held against all of them by brute force.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::job_support::{BruteForce, families, ids, near_copies, paired, pairs};
use super::support::{Doc, Folder, json_lines, jsonl, lookalike};

/// Pairs by the numbers in their ids.
fn by_number(found: &[Value]) -> BTreeMap<(usize, usize), f64> {
    let number = |id: &Value| id.as_str().unwrap()[4..].parse().unwrap();
    let pair =
        |pair: &Value| ((number(&pair["a"]), number(&pair["b"])), pair["similarity"].as_f64().unwrap());
    found.iter().map(pair).collect()
}

#[test]
fn the_exact_method_finds_what_brute_force_finds() {
    for (seed, options, threshold, length) in [
        (1, "", 0.8, 5),
        (2, "--threshold 0.5", 0.5, 5),
        (3, "--threshold 0.95", 0.95, 5),
        (4, "--shingle 1 --threshold 0.7", 0.7, 1),
        (5, "--shingle 3", 0.8, 3),
    ] {
        let documents = families(400, seed);
        let texts = documents.iter().map(|document| document.text.as_str());
        let expected = BruteForce::of_tuples(texts, length).all_pairs(threshold);
        let found = by_number(&paired(&jsonl(&documents), &format!("--method exact {options}")));
        assert!(expected.len() > 50, "{}", expected.len());
        let missing: Vec<_> = expected.keys().filter(|pair| !found.contains_key(pair)).collect();
        assert!(missing.is_empty(), "{options}: {missing:?}");
        assert_eq!(found.len(), expected.len(), "{options}");
        for (pair, similarity) in found {
            assert!((similarity - expected[&pair]).abs() < 1e-9, "{options}: {pair:?} {similarity}");
        }
    }
}

#[test]
fn other_methods_find_no_pair_that_brute_force_does_not() {
    let documents = families(400, 6);
    let expected = BruteForce::of(&documents).all_pairs(0.8);
    let lines = jsonl(&documents);
    for (method, recall) in
        [("minhash", 0.98), ("minhash:family=classic", 0.98), ("simhash", 0.1), ("md5", 0.05)]
    {
        let found = by_number(&paired(&lines, &format!("--method {method}")));
        for (pair, similarity) in &found {
            let right = expected.get(pair).copied();
            assert!(
                right.is_some_and(|right| (right - similarity).abs() < 1e-9),
                "{method}: {pair:?} {similarity}"
            );
        }
        assert!(
            found.len() as f64 >= recall * expected.len() as f64,
            "{method}: {} of {}",
            found.len(),
            expected.len()
        );
        if method == "md5" {
            assert!(found.values().all(|similarity| *similarity == 1.0));
        }
    }
}

#[test]
fn pairs_come_in_input_order_with_their_members_in_order() {
    let documents = families(300, 7);
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&documents));
    let output = folder.join("out.jsonl");
    let done = pairs("").path(&input).option("-o", &output).run().exits(0);
    let text = std::fs::read_to_string(&output).unwrap();
    let found = json_lines(&output);
    assert!(ids(&found).is_sorted_by(|a, b| a < b) && ids(&found).iter().all(|(a, b)| a < b));
    for line in text.lines() {
        let places =
            ["{\"a\":\"", ",\"b\":\"", ",\"similarity\":"].map(|part| line.find(part).expect("a member"));
        assert!(places.is_sorted(), "{line}");
        assert_eq!(line.matches("\":").count(), 3, "{line}");
    }
    let row = done.stdout.lines().find(|line| line.starts_with("pairs ")).unwrap();
    assert_eq!(row.split_whitespace().last(), Some(found.len().to_string().as_str()));
    assert_eq!(folder.names(), ["in.jsonl", "out.jsonl", "out.jsonl.job"]);
    let summary = super::job_support::json(&folder.join("out.jsonl.job/summary.json"));
    assert_eq!(summary["pairs"], found.len());
    assert!(!folder.join("out.jsonl.job/work").exists());
}

#[test]
fn all_adds_the_pairs_below_the_threshold() {
    let documents = families(400, 8);
    let lines = jsonl(&documents);
    let brute_force = BruteForce::of(&documents);
    for method in ["minhash", "exact", "simhash:k=6,n=3"] {
        let above = by_number(&paired(&lines, &format!("--method {method}")));
        let all = by_number(&paired(&lines, &format!("--method {method} --all")));
        assert!(above.iter().all(|(pair, similarity)| all.get(pair) == Some(similarity)), "{method}");
        let below: Vec<_> = all.iter().filter(|(pair, _)| !above.contains_key(pair)).collect();
        for ((a, b), similarity) in below {
            assert!(*similarity < 0.8, "{method}");
            assert!((brute_force.jaccard(*a, *b) - similarity).abs() < 1e-9, "{method} {a} {b} {similarity}");
        }
    }
    let minhash = by_number(&paired(&lines, "--all"));
    assert!(minhash.values().any(|similarity| *similarity < 0.8));
}

#[test]
fn a_group_too_large_for_its_pairs_is_written_once_and_counted() {
    let one = &near_copies(1)[0];
    let copies: Vec<Doc> = (0..60).map(|n| Doc { id: format!("doc-{n:05}"), ..one.clone() }).collect();
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&copies));
    let output = folder.join("out.jsonl");
    pairs("--max-group 50").path(&input).option("-o", &output).run().exits(0);
    assert!(json_lines(&output).is_empty());
    let groups = json_lines(&folder.join("out.jsonl.job/groups.jsonl"));
    assert_eq!(groups.len(), 1);
    assert_eq!((&groups[0]["documents"], &groups[0]["pairs"]), (&json!(60), &json!(60 * 59 / 2)));
    let summary = super::job_support::json(&folder.join("out.jsonl.job/summary.json"));
    assert_eq!(summary["giant_groups"], 1);
    assert_eq!(paired(&jsonl(&copies), "").len(), 60 * 59 / 2);
}

#[test]
fn exact_and_simhash_miss_no_pair_in_crowded_groups() {
    let documents = near_copies(300);
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&documents));
    let expected = BruteForce::of(&documents).all_pairs(0.9);
    assert!(expected.len() > 300);
    let output = folder.join("exact.jsonl");
    pairs("--method exact --threshold 0.9 --max-group 20").path(&input).option("-o", &output).run().exits(0);
    let found = by_number(&json_lines(&output));
    // What cannot be split is written as a group: its pairs stand there.
    let groups: Vec<BTreeSet<u64>> = json_lines(&folder.join("exact.jsonl.job/groups.jsonl"))
        .iter()
        .map(|group| group["members_n"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect())
        .collect();
    for (a, b) in expected.keys() {
        let together = |group: &BTreeSet<u64>| group.contains(&(*a as u64)) && group.contains(&(*b as u64));
        assert!(found.contains_key(&(*a, *b)) || groups.iter().any(together), "{a} {b}");
    }
    let run = |group: &str, name: &str| {
        let output = folder.join(name);
        pairs(&format!("--method simhash --threshold 0.5 --max-group {group}"))
            .path(&input)
            .option("-o", &output)
            .run()
            .exits(0);
        json_lines(&output)
    };
    let roomy = run("20000", "roomy.jsonl");
    assert!(!roomy.is_empty());
    assert_eq!(roomy, run("60", "tight.jsonl"));
}

#[test]
fn a_compressed_table_holds_the_same_lines() {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&families(200, 9)));
    let write = |name: &str| {
        pairs("").path(&input).option("-o", folder.join(name)).run().exits(0);
        std::fs::read(folder.join(name)).unwrap()
    };
    let plain = write("out.jsonl");
    assert!(!plain.is_empty());
    let mut unpacked = Vec::new();
    std::io::Read::read_to_end(
        &mut flate2::read::MultiGzDecoder::new(&write("out.jsonl.gz")[..]),
        &mut unpacked,
    )
    .unwrap();
    assert_eq!(unpacked, plain);
    assert_eq!(::zstd::decode_all(&write("out.jsonl.zst")[..]).unwrap(), plain);
    let sentence = "out.txt should end in .jsonl (also with .gz, .zst, .bz2, .xz or .lz4) or .parquet, which tells the format";
    pairs("-o out.txt").path(&input).inside(folder.path()).run().fails(2, sentence);
    let sentence = "in.jsonl is one of the inputs; write to another file";
    pairs("in.jsonl -o in.jsonl").inside(folder.path()).run().fails(2, sentence);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_tables_hold_the_same_rows() {
    let folder = Folder::new();
    let mut lines = jsonl(&families(300, 10));
    lines.extend(b"{\"id\":\"none\"}\n");
    let input = folder.file("in.jsonl", lines);
    for name in ["out.jsonl", "out.parquet"] {
        pairs("").path(&input).option("-o", folder.join(name)).run().exits(0);
    }
    assert_rows(&folder.join("out.jsonl"), &folder.join("out.parquet"));
    for format in ["jsonl", "parquet"] {
        let run = super::job_support::dedup(&format!("--format {format} --cluster components")).path(&input);
        run.option("-o", folder.join(format)).run().exits(0);
    }
    for table in ["removed", "clusters", "rejected"] {
        let path = |format: &str| folder.join(format!("{format}/{table}.{format}"));
        assert_rows(&path("jsonl"), &path("parquet"));
    }
    let told = |format: &str| {
        let mut files = super::job_support::results(&folder.join(format));
        files.retain(|name, _| ["summary.json", "recipe.toml"].contains(&name.as_str()));
        super::job_support::without_digests(&mut files);
        files
    };
    assert_eq!(told("jsonl"), told("parquet"));
    assert_eq!(told("jsonl").len(), 2);
}

#[cfg(feature = "parquet")]
#[track_caller]
fn assert_rows(lines: &Path, table: &Path) {
    let lines = json_lines(lines);
    let rows = rows(table);
    assert!(!lines.is_empty());
    assert_eq!(lines.len(), rows.len());
    for (line, row) in lines.iter().zip(&rows) {
        for (name, value) in row.as_object().unwrap() {
            assert_eq!(line.get(name).unwrap_or(&Value::Null), value, "{name} in {line}");
        }
        assert!(line.as_object().unwrap().keys().all(|name| row.get(name).is_some()), "{line} {row}");
    }
}

/// The rows of a Parquet table as JSON.
#[cfg(feature = "parquet")]
fn rows(path: &Path) -> Vec<Value> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    fn value(field: &Field) -> Value {
        match field {
            Field::Null => Value::Null,
            Field::Bool(flag) => json!(flag),
            Field::Int(number) => json!(number),
            Field::Long(number) => json!(number),
            Field::UInt(number) => json!(number),
            Field::ULong(number) => json!(number),
            Field::Double(number) => json!(number),
            Field::Str(text) => json!(text),
            Field::ListInternal(list) => list.elements().iter().map(value).collect(),
            other => panic!("{other:?} is in no table"),
        }
    }
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).expect("a Parquet file");
    let row = |row: parquet::record::Row| {
        Value::Object(row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect())
    };
    reader.get_row_iter(None).unwrap().map(|found| row(found.unwrap())).collect()
}

#[test]
fn finished_pairs_say_so_and_a_lost_table_is_named() {
    let folder = Folder::new();
    folder.file("in.jsonl", jsonl(&families(50, 11)));
    let run = || lookalike(["pairs", "in.jsonl", "-o", "out.jsonl"]).inside(folder.path()).run();
    let first = run().exits(0);
    let before = std::fs::read(folder.join("out.jsonl")).unwrap();
    let again = run().exits(0);
    assert!(again.stderr.contains("out.jsonl.job holds this job, finished; nothing is left to do"));
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(std::fs::read(folder.join("out.jsonl")).unwrap(), before);
    std::fs::remove_file(folder.join("out.jsonl")).unwrap();
    run().refuses(
        1,
        "out.jsonl.job holds this job, finished, but out.jsonl is gone; remove the folder to run it again",
    );
}

#[test]
fn unverified_pairs_carry_the_score_of_their_method() {
    let lines = jsonl(&families(300, 12));
    let found = paired(&lines, "--method simhash --unverified");
    assert!(!found.is_empty());
    for pair in &found {
        let score = pair["similarity"].as_f64().unwrap();
        let bits = (1.0 - score) * 64.0;
        assert!((bits - bits.round()).abs() < 1e-6 && bits <= 3.0 + 1e-6, "{pair}");
    }
}

#[test]
fn simhash_finds_exactly_the_pairs_that_a_linear_scan_finds() {
    use lookalike::methods::{Page, Setting, Sketch, method};
    use lookalike::text::{Analyser, Features, Profile};
    let folder = Folder::new();
    let (pages, input) = (folder.join("pages.jsonl"), folder.join("in.jsonl"));
    super::support::corpus("generate --documents 1500 --progress none").option("-o", &pages).run().exits(0);
    super::support::corpus("convert --progress none").path(&pages).option("-o", &input).run().exits(0);
    let documents = super::support::read_jsonl(&input);
    for name in ["simhash", "simhash:n=3,k=6,blocks=8"] {
        let simhash = method(name, &Setting::default()).unwrap();
        let mut analyser = Analyser::new(&Profile::web());
        let (mut features, mut sketch) = (Features::default(), Sketch::default());
        let payloads: Vec<Option<Vec<u8>>> = documents
            .iter()
            .map(|document| {
                analyser.read(&document.text, &mut features);
                simhash.sketch(&Page { text: &document.text, features: &features }, &mut sketch);
                (!features.is_empty()).then(|| sketch.payload.clone())
            })
            .collect();
        let mut expected = BTreeMap::new();
        for (b, second) in payloads.iter().enumerate() {
            for (a, first) in payloads[..b].iter().enumerate() {
                let (Some(first), Some(second)) = (first, second) else { continue };
                if let Some(score) = simhash.accept(first, second, 1) {
                    expected.insert((documents[a].id.as_str(), documents[b].id.as_str()), score);
                }
            }
        }
        assert!(expected.len() > 100, "{}", expected.len());
        for group in ["", "--max-group 40"] {
            let output = folder.join("out.jsonl");
            let run = pairs(&format!("--method {name} --unverified {group}")).path(&input);
            run.option("-o", &output).run().exits(0);
            let found = json_lines(&output);
            assert_eq!(ids(&found), expected.keys().copied().collect::<Vec<_>>(), "{name} {group}");
            for pair in &found {
                let score = expected[&(pair["a"].as_str().unwrap(), pair["b"].as_str().unwrap())];
                assert!((pair["similarity"].as_f64().unwrap() - score.forward).abs() < 1e-9, "{pair}");
            }
            std::fs::remove_dir_all(folder.join("out.jsonl.job")).unwrap();
        }
    }
}

#[test]
fn fingerprints_that_were_made_elsewhere_are_compared_without_a_text() {
    // Around every tenth number, others that are up to 8 bits away; a step of the golden ratio spreads the bits.
    let hash = |number: u64| {
        let centre = (number / 10).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..number % 10).fold(centre, |bits, flip| bits ^ 1 << ((number * 7 + flip * 11) % 64))
    };
    let hashes: Vec<u64> = (0..400).map(hash).collect();
    let mut expected = BTreeMap::new();
    for (b, two) in hashes.iter().enumerate() {
        for (a, one) in hashes[..b].iter().enumerate().filter(|(_, one)| (*one ^ two).count_ones() <= 3) {
            expected.insert((format!("hash{a}"), format!("hash{b}")), (one ^ two).count_ones());
        }
    }
    assert!(expected.len() > 100, "{}", expected.len());
    let mut lines: Vec<String> = hashes.iter().map(|hash| format!("{hash:016x}")).collect();
    lines[7] = lines[7].to_uppercase();
    let line = |(number, text): (usize, &String)| {
        format!("{}\n", json!({"id": format!("hash{number}"), "text": text}))
    };
    let broken = "{\"id\":\"broken\",\"text\":\"a rose is a rose\"}\n";
    let input: String = lines.iter().enumerate().map(line).chain([broken.to_owned()]).collect();
    for options in ["", ",blocks=6", ",blocks=4x4"] {
        let folder = Folder::new();
        folder.file("in.jsonl", &input);
        let run = pairs(&format!("in.jsonl -o out.jsonl --unverified --method simhash:from=hex{options}"));
        let done = run.inside(folder.path()).run().exits(0);
        let pair = |pair: &Value| {
            let id = |name: &str| pair[name].as_str().unwrap().to_owned();
            ((id("a"), id("b")), (64.0 * (1.0 - pair["similarity"].as_f64().unwrap())).round() as u32)
        };
        let found: BTreeMap<_, _> = json_lines(&folder.join("out.jsonl")).iter().map(pair).collect();
        assert_eq!(found, expected, "{options}");
        assert!(done.stdout.contains("rejected"), "{}", done.stdout);
        let rejected = &json_lines(&folder.join("out.jsonl.job/rejected.jsonl"))[0];
        let reason = rejected["reason"].as_str().unwrap();
        assert!(reason.starts_with("broken record: the text is no fingerprint of 64 bits"), "{reason}");
    }
}

/// A document without words by the run's profile is compared with nothing: that must not happen to fingerprints in silence.
#[test]
fn fingerprints_that_the_profile_finds_no_word_in_are_rejected() {
    let folder = Folder::new();
    folder.file(
        "in.jsonl",
        "{\"id\":\"a\",\"text\":\"0123456789012345\"}\n{\"id\":\"b\",\"text\":\"0123456789012345\"}\n",
    );
    let options = "--unverified --profile kolcz --method simhash:from=hex --max-rejected 100%";
    let run = pairs(&format!("in.jsonl -o out.jsonl {options}"));
    run.inside(folder.path()).run().exits(0);
    let rejected = json_lines(&folder.join("out.jsonl.job/rejected.jsonl"));
    assert_eq!(rejected.len(), 2);
    let reason = rejected[0]["reason"].as_str().unwrap();
    assert_eq!(reason, "broken record: the run's profile finds no word in it; the profile web would");
}

#[test]
fn an_output_that_is_a_folder_is_refused_before_the_work() {
    let folder = Folder::new();
    folder.file("in.jsonl", jsonl(&families(20, 1)));
    std::fs::create_dir(folder.join("out.jsonl")).unwrap();
    pairs("in.jsonl -o out.jsonl").inside(folder.path()).run().exits(2);
    assert_eq!(folder.names(), ["in.jsonl", "out.jsonl"]);
}

#[test]
fn pairs_that_were_not_measured_are_said_to_be_so() {
    let folder = Folder::new();
    folder.file("in.jsonl", jsonl(&families(20, 1)));
    let done = pairs("in.jsonl -o out.jsonl --unverified").inside(folder.path()).run().exits(0);
    assert!(done.stdout.contains("unverified"), "{}", done.stdout);
}

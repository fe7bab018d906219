//! Helpers for jobs: documents that resemble each other, their similarities by brute force, and what a job left behind.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::support::{Doc, Folder, Invocation, RunOutput, json_lines, jsonl, lookalike};

/// `lookalike dedup …` with words as in a shell.
pub(crate) fn dedup(words: &str) -> Invocation {
    job("dedup", words)
}

/// `lookalike pairs …` with words as in a shell.
pub(crate) fn pairs(words: &str) -> Invocation {
    job("pairs", words)
}

fn job(command: &str, words: &str) -> Invocation {
    lookalike(std::iter::once(command).chain(words.split_whitespace()))
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % bound
    }

    /// A word of a vocabulary of 2,000, so that even strangers share some.
    fn word(&mut self) -> String {
        let mut number = self.below(2000) + 26;
        let mut word = String::from("w");
        while number > 0 {
            word.push(char::from(b'a' + (number % 26) as u8));
            number /= 26;
        }
        word
    }
}

/// ASCII documents of which about half resemble an earlier one, some of them word by word.
pub(crate) fn families(count: usize, seed: u64) -> Vec<Doc> {
    let mut rng = Rng::new(seed);
    let mut all: Vec<Vec<String>> = Vec::new();
    for number in 0..count {
        let fate = if number == 0 { 9 } else { rng.below(10) };
        let mut words = match fate {
            0..=4 => all[rng.below(number)].clone(),
            _ => (0..60 + rng.below(100)).map(|_| rng.word()).collect(),
        };
        if (1..=4).contains(&fate) {
            for _ in 0..1 + rng.below(3) {
                let place = rng.below(words.len());
                match rng.below(3) {
                    0 => words[place] = rng.word(),
                    1 => words.insert(place, rng.word()),
                    _ => drop(words.remove(place)),
                }
            }
        }
        all.push(words);
    }
    let document = |(number, words): (usize, Vec<String>)| Doc {
        id: format!("doc-{number:05}"),
        url: Some(format!("https://host{}.example/{number}", number % 3)),
        // Case and stops are no part of a word.
        text: if number % 2 == 0 { words.join(" ") } else { words.join(", ").to_uppercase() },
    };
    all.into_iter().enumerate().map(document).collect()
}

/// `count` documents that differ from the first in one word each.
pub(crate) fn near_copies(count: usize) -> Vec<Doc> {
    let mut rng = Rng::new(7);
    let base: Vec<String> = (0..120).map(|_| rng.word()).collect();
    let document = |number: usize| {
        let mut words = base.clone();
        words[number % 120] = format!("x{}", rng.word());
        Doc { id: format!("doc-{number:05}"), url: None, text: words.join(" ") }
    };
    (0..count).map(document).collect()
}

/// Similarities by brute force: tuples of words as strings, compared one by one.
pub(crate) struct BruteForce {
    sets: Vec<Vec<u32>>,
}

impl BruteForce {
    /// Sets of tuples of five words.
    pub(crate) fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        BruteForce::of_tuples(texts, 5)
    }

    pub(crate) fn of_tuples<'t>(texts: impl IntoIterator<Item = &'t str>, length: usize) -> Self {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut set = |text: &str| {
            let words = words(text);
            let tuples: Vec<String> = match words.len() {
                0 => Vec::new(),
                few if few < length => vec![words.join(" ")],
                _ => words.windows(length).map(|tuple| tuple.join(" ")).collect(),
            };
            let next = |numbers: &HashMap<String, u32>| numbers.len() as u32;
            let mut set: Vec<u32> = tuples
                .into_iter()
                .map(|tuple| {
                    let fresh = next(&numbers);
                    *numbers.entry(tuple).or_insert(fresh)
                })
                .collect();
            set.sort_unstable();
            set.dedup();
            set
        };
        BruteForce { sets: texts.into_iter().map(&mut set).collect() }
    }

    pub(crate) fn of(documents: &[Doc]) -> Self {
        BruteForce::new(documents.iter().map(|document| document.text.as_str()))
    }

    pub(crate) fn shared(&self, a: usize, b: usize) -> usize {
        self.sets[a].iter().filter(|tuple| self.sets[b].binary_search(tuple).is_ok()).count()
    }

    pub(crate) fn jaccard(&self, a: usize, b: usize) -> f64 {
        let shared = self.shared(a, b);
        shared as f64 / (self.sets[a].len() + self.sets[b].len() - shared) as f64
    }

    /// Every pair of at least `threshold`, by documents.
    pub(crate) fn all_pairs(&self, threshold: f64) -> BTreeMap<(usize, usize), f64> {
        let mut found = BTreeMap::new();
        for b in 0..self.sets.len() {
            for a in 0..b {
                let (short, long) = (self.sets[a].len(), self.sets[b].len());
                if short.min(long) as f64 >= threshold * short.max(long) as f64 && short > 0 {
                    let similarity = self.jaccard(a, b);
                    if similarity >= threshold {
                        found.insert((a, b), similarity);
                    }
                }
            }
        }
        found
    }
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(str::to_lowercase).collect()
}

/// Every file of a finished job with its bytes, but for the one that tells of the machine.
pub(crate) fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    gather(folder, "", &mut found);
    found.remove("run.json");
    found
}

fn gather(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            gather(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name, fs::read(entry.path()).unwrap());
        }
    }
}

/// The counts of a summary without the digests of files: for jobs of which not all files are compared.
pub(crate) fn without_digests(files: &mut BTreeMap<String, Vec<u8>>) {
    let Some(text) = files.get_mut("summary.json") else { return };
    let mut summary: Value = serde_json::from_slice(text).unwrap();
    let fields = summary.as_object_mut().unwrap();
    assert!(fields.remove("files").is_some_and(|files| files.is_object()), "{fields:?}");
    assert!(fields.remove("checksum").is_some_and(|sum| sum.is_string()), "{fields:?}");
    *text = summary.to_string().into_bytes();
}

/// A summary without the places of rejected records: for jobs whose documents stand in other files.
pub(crate) fn without_places(files: &mut BTreeMap<String, Vec<u8>>) {
    let Some(text) = files.get_mut("summary.json") else { return };
    let mut summary: Value = serde_json::from_slice(text).unwrap();
    for reason in summary["reasons"].as_array_mut().into_iter().flatten() {
        let fields = reason.as_object_mut().unwrap();
        assert!(fields.remove("source").is_some() && fields.remove("position").is_some(), "{fields:?}");
        // Bytes of a file, or rows of a table.
        fields.remove("unit");
    }
    *text = summary.to_string().into_bytes();
}

/// Asserts that two jobs ended with the same bytes, and tells which file differs if not.
#[track_caller]
pub(crate) fn assert_same(one: &BTreeMap<String, Vec<u8>>, two: &BTreeMap<String, Vec<u8>>, why: &str) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(one), names(two), "{why}");
    for (name, bytes) in one {
        let show = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(2000)]).into_owned();
        assert!(*bytes == two[name], "{why}: {name} differs:\n{}\n{}", show(bytes), show(&two[name]));
    }
}

/// The results of a finished `dedup`.
pub(crate) struct Decisions {
    pub(crate) removed: Vec<Value>,
    pub(crate) clusters: Vec<Value>,
    pub(crate) rejected: Vec<Value>,
    pub(crate) summary: Value,
}

impl Decisions {
    /// Reads a finished job and holds it to what every job promises.
    #[track_caller]
    pub(crate) fn read(folder: &Path) -> Self {
        let lines = |name: &str| json_lines(&folder.join(name));
        let decisions = Decisions {
            removed: lines("removed.jsonl"),
            clusters: lines("clusters.jsonl"),
            rejected: lines("rejected.jsonl"),
            summary: json(&folder.join("summary.json")),
        };
        decisions.check();
        assert!(!folder.join("work").exists(), "scratch files are gone");
        decisions
    }

    pub(crate) fn count(&self, field: &str) -> u64 {
        self.summary[field].as_u64().expect("a number")
    }

    /// Ids of the removed documents, in their order.
    pub(crate) fn removed_ids(&self) -> Vec<&str> {
        self.removed.iter().map(|line| line["id"].as_str().unwrap()).collect()
    }

    /// Of every removed document the witness.
    pub(crate) fn witness(&self, id: &str) -> &str {
        self.line(id)["witness"].as_str().unwrap()
    }

    pub(crate) fn line(&self, id: &str) -> &Value {
        self.removed.iter().find(|line| line["id"] == id).expect("it was removed")
    }

    #[track_caller]
    fn check(&self) {
        let count = |field| self.count(field);
        assert_eq!(count("documents"), count("kept") + count("removed") + count("rejected"));
        assert_eq!(count("removed"), self.removed.len() as u64);
        assert_eq!(count("clusters"), self.clusters.len() as u64);
        assert_eq!(count("rejected"), self.rejected.len() as u64);
        let number = |line: &Value, field: &str| line[field].as_u64().expect("a number");
        let gone: Vec<u64> = self.removed.iter().map(|line| number(line, "n")).collect();
        assert!(gone.is_sorted_by(|a, b| a < b), "input order");
        let own: Vec<&Value> = self.removed.iter().filter(|line| line.get("against").is_none()).collect();
        for line in &own {
            assert!(gone.binary_search(&number(line, "witness_n")).is_err(), "a witness is kept: {line}");
            assert_eq!(line["cluster"], line["witness_n"]);
        }
        let mut members = 0;
        for cluster in self.clusters.iter().filter(|cluster| cluster.get("against").is_none()) {
            let list: Vec<u64> =
                cluster["members_n"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
            assert!(list.len() >= 2 && list.is_sorted_by(|a, b| a < b), "{cluster}");
            assert_eq!(list.len(), cluster["members"].as_array().unwrap().len());
            let place = list.iter().position(|n| Some(*n) == cluster["cluster"].as_u64());
            assert_eq!(cluster["members"][place.expect("the keeper is a member")], cluster["keep"]);
            let of = own.iter().filter(|line| line["cluster"] == cluster["cluster"]);
            let mut removed: Vec<u64> = of.map(|line| number(line, "n")).collect();
            removed.push(cluster["cluster"].as_u64().unwrap());
            removed.sort_unstable();
            assert_eq!(removed, list);
            members += list.len() - 1;
        }
        assert_eq!(members, own.len());
    }
}

pub(crate) fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("the file is there")).expect("it is JSON")
}

/// Runs `dedup` on documents in one file and reads what came out.
#[track_caller]
pub(crate) fn decide(documents: &[Doc], options: &str) -> Decisions {
    decide_lines(&jsonl(documents), options)
}

/// Runs `dedup` on JSON lines and reads what came out.
#[track_caller]
pub(crate) fn decide_lines(lines: &[u8], options: &str) -> Decisions {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", lines);
    dedup(options).path(input).option("-o", folder.join("job")).run().exits(0);
    Decisions::read(&folder.join("job"))
}

/// Runs `pairs` on JSON lines and reads what came out.
#[track_caller]
pub(crate) fn paired(lines: &[u8], options: &str) -> Vec<Value> {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", lines);
    let output = folder.join("pairs.jsonl");
    pairs(options).path(input).option("-o", &output).run().exits(0);
    json_lines(&output)
}

/// The two ids of every pair.
pub(crate) fn ids(pairs: &[Value]) -> Vec<(&str, &str)> {
    pairs.iter().map(|pair| (pair["a"].as_str().unwrap(), pair["b"].as_str().unwrap())).collect()
}

impl RunOutput {
    /// Asserts the exit code and the last line of what was told.
    #[track_caller]
    pub(crate) fn refuses(self, code: i32, sentence: &str) -> RunOutput {
        let done = self.exits(code);
        assert_eq!(done.stderr.lines().last(), Some(format!("lookalike: {sentence}").as_str()));
        assert_eq!(done.stdout, "");
        done
    }

    /// Asserts the exit code and parts of the last line of what was told.
    #[track_caller]
    pub(crate) fn refuses_with(self, code: i32, parts: &[&str]) -> RunOutput {
        let done = self.exits(code);
        let last = done.stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with("lookalike: "), "{last}");
        for part in parts {
            assert!(last.contains(part), "{part:?} in {last}");
        }
        done
    }
}

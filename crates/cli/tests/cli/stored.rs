//! Files of earlier programs: a sample of every version of every format is opened, and gives what it gave then.
//!
//! `tests/formats/FORMAT-vN` holds what a program wrote whose format had version N, and what it answered. For each version that
//! has none, `scripts/make-format-samples` writes a folder, and never writes one again. A program that can no longer open a
//! version must refuse it in a sentence that says so, and the test of that sample becomes one of a refusal.
//!
//! All that decides whether a file opens travels with it: secrets and stamps lie in the folder of a job or an index, and no
//! path in them is absolute, but for a note in `run.json` that only other programs read. Two facts do not travel, and are set
//! here. A job knows its input by the time of its last change, in nanoseconds, which git does not keep. And it belongs to one
//! version of the program: it is opened by its own recipe, which names that version, as somebody would who has moved on since.
//!
//! Folders of `urls` are not among the samples: they belong to one version of the program, and no recipe of theirs can be given.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use lookalike::engine::delivered;
use lookalike::hash;
use serde_json::Value;

use super::faults::copy;
use super::job_support::{dedup, json, pairs, results};
use super::support::{Folder, Invocation, json_lines, lookalike};

/// Time of the last change of every input, as in `scripts/make-format-samples`.
const INPUT_TIME: Duration = Duration::from_secs(1_700_000_000);

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats")
}

/// The versions of a format that there are samples of, each with a copy of its folder and the inputs beside it.
fn versions(format: &str) -> Vec<(u32, Folder)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(samples()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(version) = name.strip_prefix(&format!("{format}-v")) {
            found.push((version.parse().expect("a version is a number"), copied(&name)));
        }
    }
    assert!(!found.is_empty(), "{format} has a sample");
    found.sort_by_key(|(version, _)| *version);
    found
}

/// The newest version of a format, which this program writes.
fn newest(format: &str) -> (u32, Folder) {
    versions(format).pop().expect("there is one")
}

/// A folder with all that a sample holds, and the inputs.
fn copied(sample: &str) -> Folder {
    let folder = Folder::new();
    copy(&samples().join(sample), folder.path());
    for name in ["documents.jsonl", "kinds.jsonl", "own.jsonl"] {
        fs::copy(samples().join(name), folder.join(name)).unwrap();
        let input = File::options().write(true).open(folder.join(name)).unwrap();
        input.set_modified(UNIX_EPOCH + INPUT_TIME).unwrap();
    }
    folder
}

/// Goes on with a job of a sample. It finds its input by a relative path, wherever the folder is.
fn go_on(folder: &Folder, job: &str) -> Invocation {
    let words =
        format!("--progress plain --spool disk --recipe finished/recipe.toml documents.jsonl -o {job}");
    dedup(&words).inside(folder.path())
}

/// The tables of a finished job.
fn tables(job: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = results(job);
    found.retain(|name, _| name.ends_with(".jsonl"));
    assert_eq!(found.len(), 3, "{:?}", found.keys());
    found
}

fn index(words: &str, folder: &Folder) -> Invocation {
    lookalike(std::iter::once("index").chain(words.split_whitespace())).inside(folder.path())
}

fn pairs_by_lexicon(folder: &Folder) -> Invocation {
    let words =
        "documents.jsonl --method tfidf --unverified --lexicon words.lexicon -o found.jsonl --progress none";
    pairs(words).inside(folder.path())
}

fn replay(folder: &Folder) -> Invocation {
    dedup("kinds.jsonl --recipe recipe.toml -o job --progress none").inside(folder.path())
}

fn census(folder: &Folder) -> Invocation {
    let words =
        "census size transcript:record.jsonl --own own.jsonl --calls 76 --limit 20 --classes 5 --json";
    lookalike(words.split(' ')).inside(folder.path())
}

#[test]
fn a_finished_job_is_known_again_and_whole() {
    for (version, folder) in versions("job") {
        let before = results(&folder.join("finished"));
        let done = go_on(&folder, "finished").run().exits(0);
        assert!(done.stderr.contains("finished holds this job, finished; nothing is left to do"), "{done:?}");
        assert!(results(&folder.join("finished")) == before, "version {version} stays as it is");
        lookalike(["check", "finished"]).inside(folder.path()).run().exits(0);
    }
}

#[test]
fn an_interrupted_job_goes_on_to_the_same_tables() {
    for (version, folder) in versions("job") {
        let expected = tables(&folder.join("finished"));
        // Behind the sketches, and before the tables.
        for job in ["sketched", "decided"] {
            let done = go_on(&folder, job).run().exits(0);
            // A job that begins anew says how much room it will take, one that lost files that it did.
            for words in ["scratch files will take", "did not survive"] {
                assert!(!done.stderr.contains(words), "version {version}, {job}: {}", done.stderr);
            }
            assert!(tables(&folder.join(job)) == expected, "version {version}, {job}");
            assert!(!folder.join(job).join("work").exists());
        }
    }
}

#[test]
fn an_index_answers_as_it_did_and_takes_more() {
    for (version, folder) in versions("index") {
        let ask = || index("query index documents.jsonl --progress none", &folder).run().exits(0).stdout;
        let expected = fs::read_to_string(folder.join("answers.jsonl")).unwrap();
        assert_eq!(ask(), expected, "version {version}");
        index("check index", &folder).run().exits(0);
        let mut more = json_lines(&folder.join("documents.jsonl")).swap_remove(3);
        more["id"] = "library-again".into();
        let more = format!("{more}\n");
        index("add index - --progress none", &folder).run_with(more.as_bytes()).exits(0);
        let done = index("query index - --progress none", &folder).run_with(more.as_bytes()).exits(0);
        let answer: Value = serde_json::from_str(&done.stdout).unwrap();
        let ids = [&answer["matches"][0]["id"], &answer["matches"][1]["id"]];
        assert_eq!(ids, ["library", "library-again"], "version {version}: {answer}");
    }
}

#[test]
fn a_lexicon_weighs_words_as_it_did() {
    for (version, folder) in versions("lexicon") {
        pairs_by_lexicon(&folder).run().exits(0);
        let found = [folder.join("found.jsonl"), folder.join("pairs.jsonl")].map(|path| json_lines(&path));
        assert_eq!(found[0], found[1], "version {version}");
    }
}

#[test]
fn a_recipe_gives_what_it_gave() {
    for (version, folder) in versions("recipe") {
        replay(&folder).run().exits(0);
        let found =
            [folder.join("job/removed.jsonl"), folder.join("removed.jsonl")].map(|path| json_lines(&path));
        assert_eq!(found[0], found[1], "version {version}");
    }
}

#[test]
fn a_transcript_is_replayed_to_the_same_report() {
    for (version, folder) in versions("transcript") {
        let done = census(&folder).run().exits(0);
        let (found, expected): (Value, _) =
            (serde_json::from_str(&done.stdout).unwrap(), json(&folder.join("report.json")));
        for part in ["pages", "distinct", "lower_bound", "reached", "reached_share", "effective"] {
            assert_close(&found[part], &expected[part], &format!("version {version}, {part}"));
        }
        for part in ["queries", "draws", "usable", "seen"] {
            assert_eq!(found[part], expected[part], "version {version}, {part}");
        }
        assert_eq!(found["engine"]["calls_made"], 0);
    }
}

/// Asserts that two values are the same but for the last digits of logarithms, which depend on the C library.
#[track_caller]
fn assert_close(found: &Value, expected: &Value, what: &str) {
    match (found, expected) {
        (Value::Number(one), Value::Number(two)) => {
            let (one, two) = (one.as_f64().unwrap(), two.as_f64().unwrap());
            assert!((one - two).abs() <= 1e-9 * two.abs(), "{what}: {one} and {two}");
        }
        (Value::Object(one), Value::Object(two)) => {
            assert!(one.keys().eq(two.keys()), "{what}: {found} and {expected}");
            one.iter().for_each(|(name, value)| assert_close(value, &two[name], &format!("{what}, {name}")));
        }
        _ => assert_eq!(found, expected, "{what}"),
    }
}

/// Asserts that a run refuses a file of a newer version: exit code, and one sentence with these words.
#[track_caller]
fn refuses(run: Invocation, code: i32, words: &str) {
    let done = run.run().exits(code);
    let told: Vec<&str> = done.stderr.lines().filter(|line| line.starts_with("lookalike: ")).collect();
    assert!(told.len() == 1 && told[0].contains(words), "{words:?} in {done:?}");
    assert_eq!(done.stdout, "");
}

/// Changes the only place in a file where `old` stands.
fn change(path: &Path, old: &str, new: &str) {
    let bytes = fs::read(path).unwrap();
    let mut places = (0..bytes.len()).filter(|&place| bytes[place..].starts_with(old.as_bytes()));
    let place = places.next().expect("it is there");
    assert_eq!(places.next(), None, "{old} stands there once");
    let changed = [&bytes[..place], new.as_bytes(), &bytes[place + old.len()..]].concat();
    fs::write(path, changed).unwrap();
}

/// Changes the line of a manifest, and its digest behind it.
fn change_manifest(path: &Path, old: &str, new: &str) {
    change(path, old, new);
    let text = fs::read_to_string(path).unwrap();
    let line = text.lines().next().unwrap();
    fs::write(path, format!("{line}\n{:032x}\n", hash::digest(line.as_bytes()))).unwrap();
}

/// Writes the digest of a file of a finished job into its summary, and the summary's own checksum.
fn renew_digest(job: &Path, name: &str) {
    let mut summary = json(&job.join("summary.json"));
    summary.as_object_mut().unwrap().remove("checksum");
    summary["files"][name] = serde_json::to_value(delivered::digest_file(&job.join(name)).unwrap()).unwrap();
    fs::write(job.join("summary.json"), delivered::sealed(&summary)).unwrap();
}

/// Writes another format version into the header of a run file, and the checksum that belongs to it.
fn raise_version_of_run(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    bytes[8] += 1;
    let sum = hash::sum(&bytes[..64]).to_le_bytes();
    bytes[64..72].copy_from_slice(&sum);
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_job_of_a_newer_version_is_refused() {
    let (version, folder) = newest("job");
    let newer = version + 1;
    let [old, new] = [version, newer].map(|engine| format!("engine = {engine}"));
    let made = "cannot be continued: it was made by a newer lookalike (";
    let versions = format!("engine version {newer}) and this is engine version {version}; ");
    // The recipe that the job is opened by stays: that of the folder is the newer one.
    fs::copy(folder.join("finished/recipe.toml"), folder.join("own.toml")).unwrap();
    let go_on = |job: &str| {
        dedup(&format!("--progress none --spool disk --recipe own.toml documents.jsonl -o {job}"))
            .inside(folder.path())
    };
    change(&folder.join("finished/recipe.toml"), &old, &new);
    refuses(go_on("finished"), 1, &format!("lookalike: the job in finished {made}"));
    refuses(go_on("finished"), 1, &versions);
    change_manifest(&folder.join("sketched/work/job.json"), &old, &new);
    refuses(go_on("sketched"), 1, &format!("lookalike: the job in sketched {made}"));
    refuses(go_on("sketched"), 1, &versions);
    raise_version_of_run(&folder.join("decided/work/u000000.docs"));
    refuses(go_on("decided"), 1, "u000000.docs is damaged: it is of another kind, format version or job; ");
}

#[test]
fn a_check_of_a_job_of_another_version_tells_what_was_not_checked() {
    let check = |folder: &Folder, words: &str| lookalike(words.split(' ')).inside(folder.path()).run();
    let (version, folder) = newest("job");
    let done = check(&folder, "check finished").exits(0);
    assert!(done.stdout.contains("not checked                    0\n"), "{}", done.stdout);
    assert!(!done.stdout.contains("beyond their digests"), "{}", done.stdout);
    for (other, word) in [(version - 1, "an earlier"), (version + 1, "a newer")] {
        let (_, folder) = newest("job");
        let [old, new] = [version, other].map(|engine| format!("engine = {engine}"));
        change(&folder.join("finished/recipe.toml"), &old, &new);
        renew_digest(&folder.join("finished"), "recipe.toml");
        let done = check(&folder, "check finished").exits(0);
        assert!(done.stdout.contains("not checked                    3\n"), "{}", done.stdout);
        let told: Vec<&str> =
            done.stdout.lines().filter(|line| line.starts_with("not checked beyond")).collect();
        let tables = "clusters.jsonl, rejected.jsonl, removed.jsonl";
        let made = format!("it was made by {word} lookalike (0.1.0, engine version {other}) and this is ");
        assert_eq!(told.len(), 1, "{}", done.stdout);
        let begin = format!("not checked beyond their digests: {tables}; {made}engine version {version}");
        assert!(told[0].starts_with(&begin), "{}", told[0]);
        let report: Value =
            serde_json::from_str(&check(&folder, "check --json finished").exits(0).stdout).unwrap();
        assert_eq!(report["unchecked"].as_array().map(Vec::len), Some(3), "{report}");
        assert!(report["why_unchecked"].as_str().unwrap().starts_with(&made), "{report}");
        check(&folder, "check --measure finished").refuses_with(2, &["cannot be measured again", &made]);
    }
}

#[test]
fn an_index_of_a_newer_version_is_refused() {
    let (version, folder) = newest("index");
    let [old, new] = [version, version + 1].map(|format| format!("\"format\":{format}"));
    change_manifest(&folder.join("index/index.json"), &old, &new);
    let words = format!("index has format {} and this program reads format {version}; ", version + 1);
    for command in ["query index documents.jsonl --progress none", "stats index", "remove index library"] {
        refuses(index(command, &folder), 2, &words);
    }
}

#[test]
fn a_lexicon_of_a_newer_version_is_refused() {
    let (version, folder) = newest("lexicon");
    let [old, new] = [version, version + 1].map(|version| format!("lookalike lexicon, v {version}\n"));
    change(&folder.join("words.lexicon"), &old, &new);
    refuses(
        pairs_by_lexicon(&folder),
        2,
        "words.lexicon cannot be taken as a lexicon: it is no lexicon of this version",
    );
}

#[test]
fn a_recipe_of_a_newer_version_is_refused() {
    let (version, folder) = newest("recipe");
    let [old, new] = [version, version + 1].map(|engine| format!("engine = {engine}"));
    change(&folder.join("recipe.toml"), &old, &new);
    refuses(replay(&folder), 2, "recipe.toml cannot be used: it was made by a newer lookalike (");
    let words = format!("engine version {}) and this is engine version {version}; ", version + 1);
    refuses(replay(&folder), 2, &words);
}

#[test]
fn a_transcript_of_a_newer_version_is_refused() {
    let (version, folder) = newest("transcript");
    let [old, new] = [version, version + 1].map(|version| format!("\"lookalike-transcript\":{version}"));
    change(&folder.join("record.jsonl"), &old, &new);
    let words = format!("lookalike: record.jsonl is a transcript of version {}, not {version}", version + 1);
    refuses(census(&folder), 1, &words);
}

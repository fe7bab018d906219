//! `lookalike check`: every flipped byte of a finished job or an index is found.

use std::fs;
use std::path::Path;

use super::job_support::{Rng, dedup, families, pairs, results};
use super::support::{Folder, Invocation, RunOutput, gzip, jsonl, lookalike};

fn check(job: &Path) -> Invocation {
    lookalike(["check", "--progress", "none"]).path(job)
}

fn corpus(folder: &Folder) {
    let documents = families(120, 5);
    folder.file("in/a.jsonl", [&jsonl(&documents[..60])[..], b"{\"id\":1}\n"].concat());
    folder.file("in/b/c.jsonl.gz", gzip(&jsonl(&documents[60..])));
}

#[track_caller]
fn assert_wrong(done: RunOutput, names: &[&str]) {
    let done = done.exits(1);
    let last = done.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("lookalike: ") && last.contains("not as it should be"), "{last}");
    for name in names {
        assert!(done.stdout.lines().any(|line| line.starts_with(name)), "{name}: {}", done.stdout);
    }
}

/// Turns a bit of every file, one after the other.
fn assert_every_flip_is_found(root: &Path, job: &Path, least: usize) {
    let mut rng = Rng::new(2);
    let mut tried = 0;
    for name in results(root).into_keys() {
        let path = root.join(&name);
        let whole = fs::read(&path).unwrap();
        if whole.is_empty() {
            continue;
        }
        for place in [0, rng.below(whole.len()), rng.below(whole.len()), whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << rng.below(8);
            fs::write(&path, &bytes).unwrap();
            let own =
                path.strip_prefix(job).map_or("pairs.jsonl".to_owned(), |name| name.display().to_string());
            assert_wrong(check(job).run(), &[&own]);
            tried += 1;
        }
        fs::write(&path, &whole).unwrap();
    }
    assert!(tried >= least, "{tried}");
    check(job).run().exits(0);
}

#[test]
fn a_turned_bit_in_any_file_of_a_job_is_found() {
    let folder = Folder::new();
    corpus(&folder);
    let job = folder.join("out/job");
    dedup("--write kept").path(folder.join("in")).option("-o", &job).run().exits(0);
    let said = check(&job).run().exits(0).stdout;
    assert!(said.contains("mistakes                       0"), "{said}");
    assert_every_flip_is_found(&job, &job, 30);
}

#[test]
fn a_turned_bit_in_any_file_of_pairs_is_found() {
    let folder = Folder::new();
    corpus(&folder);
    let out = folder.join("out");
    fs::create_dir(&out).unwrap();
    pairs("").path(folder.join("in")).option("-o", out.join("pairs.jsonl")).run().exits(0);
    assert_every_flip_is_found(&out, &out.join("pairs.jsonl.job"), 15);
}

#[test]
fn files_that_are_cut_gone_or_too_many_are_named() {
    let folder = Folder::new();
    corpus(&folder);
    let job = folder.join("job");
    dedup("--write kept").path(folder.join("in")).option("-o", &job).run().exits(0);
    let removed = fs::read(job.join("removed.jsonl")).unwrap();
    fs::write(job.join("removed.jsonl"), &removed[..removed.len() / 2]).unwrap();
    fs::remove_file(job.join("kept/a.jsonl")).unwrap();
    fs::write(job.join("kept/d.jsonl"), "{}\n").unwrap();
    assert_wrong(
        check(&job).run(),
        &["removed.jsonl has ", "kept/a.jsonl is gone", "kept/d.jsonl is none of its files"],
    );
    let none = folder.join("none");
    let sentence = format!(
        "{} holds no finished job: there is no summary.json; run the command that began it again",
        none.display()
    );
    check(&none).run().fails(2, &sentence);
}

#[test]
fn every_removal_is_measured_again_where_the_input_is_there() {
    let folder = Folder::new();
    corpus(&folder);
    let job = folder.join("job");
    dedup("").path(folder.join("in")).option("-o", &job).run().exits(0);
    let measure = || lookalike(["check", "--json", "--measure", "--progress", "none"]).path(&job);
    let checked: serde_json::Value = serde_json::from_str(&measure().run().exits(0).stdout).unwrap();
    assert!(checked["measured"].as_u64() > Some(20), "{checked}");
    assert_eq!(checked["measured"], checked["removals"]);
    // The texts of the input are others now, under the same ids.
    let input = folder.join("in/a.jsonl");
    let text = fs::read_to_string(&input).unwrap();
    fs::write(&input, text.replace("wa", "wz").replace("WA", "WZ")).unwrap();
    let done = measure().run().exits(1);
    assert!(done.stdout.contains("is said to be "), "{}", done.stdout);
    fs::remove_dir_all(folder.join("in")).unwrap();
    measure().run().refuses_with(1, &["is gone; name where it is now"]);
}

#[test]
fn an_index_is_checked_as_well() {
    let folder = Folder::new();
    corpus(&folder);
    let seen = folder.join("seen");
    lookalike(["index", "create"]).path(&seen).run().exits(0);
    lookalike(["index", "add", "--progress", "none"]).path(&seen).path(folder.join("in")).run().exits(0);
    let said = check(&seen).run().exits(0).stdout;
    assert_eq!(said, lookalike(["index", "check"]).path(&seen).run().exits(0).stdout);
    let log = seen.join("log-00000000");
    let whole = fs::read(&log).unwrap();
    for cut in [0, whole.len() / 2, whole.len() - 1] {
        fs::write(&log, &whole[..cut]).unwrap();
        check(&seen).run().refuses_with(1, &["log-00000000", "when they were acknowledged"]);
        lookalike(["index", "stats"]).path(&seen).run().refuses_with(1, &["log-00000000"]);
    }
    fs::remove_file(&log).unwrap();
    check(&seen).run().refuses_with(1, &["log-00000000", "it is gone"]);
    fs::write(&log, &whole).unwrap();
    check(&seen).run().exits(0);
}

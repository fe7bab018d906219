//! The folder of a job: whose it is, what may change between two starts, what may not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::job_support::{assert_same, dedup, families, results};
use super::support::{Folder, Invocation, jsonl, lookalike, skipped};

/// A folder with an input and a job that stopped before it wrote its tables: a folder stands where one should go.
pub(crate) fn begun(folder: &Folder, options: &str) -> PathBuf {
    let job = folder.join("out/job");
    blocked(dedup(options).path(folder.join("in")).option("-o", &job), &job, &["removed.jsonl"]);
    job
}

/// Runs a job into a folder that stands where a file should, and takes it away again.
#[track_caller]
pub(crate) fn blocked(run: Invocation, job: &Path, files: &[&str]) {
    std::fs::create_dir_all(job.join("work")).unwrap();
    std::fs::write(job.join("work/lock"), "").unwrap();
    for file in files {
        std::fs::create_dir_all(job.join(file).join("x")).unwrap();
    }
    let done = run.run().exits(1);
    let told = done.stderr.lines().last().unwrap_or_default();
    let named = files.iter().any(|file| told.contains(file.rsplit('/').next().unwrap()));
    assert!(named && (told.contains("cannot be written") || told.contains("cannot write")), "{told}");
    for file in files {
        std::fs::remove_dir_all(job.join(file)).unwrap();
    }
}

fn corpus(folder: &Folder) -> PathBuf {
    let documents = families(300, 1);
    folder.file("in/a.jsonl", jsonl(&documents[..200]));
    folder.file("in/b.jsonl", jsonl(&documents[200..]));
    folder.join("in")
}

/// Returns the results of an undisturbed run.
fn undisturbed(input: &Path, options: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = Folder::new();
    dedup(options).path(input).option("-o", folder.join("job")).run().exits(0);
    results(&folder.join("job"))
}

#[test]
fn a_stopped_job_goes_on_under_other_threads_memory_and_spool() {
    let folder = Folder::new();
    let input = corpus(&folder);
    let expected = undisturbed(&input, "");
    for (first, then) in [
        ("--threads 2", "--threads 1 --memory 256M"),
        ("--threads 1 --spool disk", "--threads 2 --spool none"),
        ("--spool none", "--spool disk --memory 2G"),
    ] {
        let job = begun(&folder, first);
        assert!(job.join("work/job.json").exists());
        dedup(then).path(&input).option("-o", &job).run().exits(0);
        assert_same(&expected, &results(&job), then);
        std::fs::remove_dir_all(&job).unwrap();
    }
}

#[test]
fn a_job_stopped_in_its_sketch_goes_on_with_another_spool() {
    let folder = Folder::new();
    corpus(&folder);
    // The other corpus is a unit of work of its own, which is done when the second one stops.
    let run = |options: &str, job: &Path| {
        let run = dedup(&format!("--threads 1 {options}")).path(folder.join("in/b.jsonl"));
        run.option("--against", folder.join("in/a.jsonl")).option("-o", job)
    };
    run("", &folder.join("expected/job")).run().exits(0);
    let expected = results(&folder.join("expected/job"));
    for (first, then) in [("--spool none", "--spool disk"), ("--spool disk", "--spool none")] {
        let job = folder.join("out/job");
        blocked(run(first, &job), &job, &["work/u000001.docs"]);
        assert!(job.join("work/u000000.done").exists());
        run(then, &job).run().exits(0);
        assert_same(&expected, &results(&job), then);
        std::fs::remove_dir_all(&job).unwrap();
    }
}

#[test]
fn a_finished_job_says_so_and_touches_nothing() {
    let folder = Folder::new();
    let input = corpus(&folder);
    let job = folder.join("job");
    let run = || lookalike(["dedup"]).path(&input).option("-o", &job).run().exits(0);
    let first = run();
    let state = || {
        let entries = std::fs::read_dir(&job).unwrap().map(|entry| entry.unwrap());
        entries
            .map(|entry| {
                (
                    entry.file_name(),
                    (entry.metadata().unwrap().modified().unwrap(), std::fs::read(entry.path()).unwrap()),
                )
            })
            .collect::<BTreeMap<_, _>>()
    };
    let before = state();
    let again = run();
    assert!(again.stderr.contains("job holds this job, finished; nothing is left to do"), "{}", again.stderr);
    assert_eq!(again.stdout, first.stdout);
    assert!(before == state());
    // Threads and memory are no part of the job.
    dedup("--threads 1 --memory 256M --spool none").path(&input).option("-o", &job).run().exits(0);
    assert!(before == state());
}

#[test]
fn a_finished_job_of_another_input_is_refused() {
    let folder = Folder::new();
    let input = corpus(&folder);
    let job = folder.join("job");
    dedup("").path(&input).option("-o", &job).run().exits(0);
    let other = folder.file("other.jsonl", jsonl(&families(10, 9)));
    dedup("").path(other).option("-o", &job).run().refuses_with(1, &["the input changed since the job"]);
}

#[cfg(feature = "parquet")]
#[test]
fn a_finished_job_without_the_tables_that_are_asked_for_says_so() {
    let folder = Folder::new();
    let input = corpus(&folder);
    let job = folder.join("job");
    dedup("").path(&input).option("-o", &job).run().exits(0);
    let done = dedup("--format parquet").path(&input).option("-o", &job).run();
    assert!(done.code != Some(0) || job.join("removed.parquet").exists(), "{done:?}");
}

#[test]
fn a_finished_job_without_copies_cannot_give_them() {
    let folder = Folder::new();
    let input = corpus(&folder);
    dedup("-o job").path(&input).inside(folder.path()).run().exits(0);
    let sentence = "the job in job was begun with --format jsonl --write none and not with --format jsonl --write kept; \
                    give the same, or name another folder";
    dedup("-o job --write kept").path(&input).inside(folder.path()).run().refuses(2, sentence);
}

#[test]
fn another_recipe_is_refused_with_both_values() {
    let folder = Folder::new();
    let input = corpus(&folder);
    let job = begun(&folder, "--method md5");
    let again = |options: &str| dedup(options).path(&input).option("-o", &job).run();
    let cases = [
        ("--method md5 --threshold 0.9", ["there threshold = \"0.8\"", "here threshold = \"0.9\""]),
        ("--method md5 --keep longest", ["there keep = \"first\"", "here keep = \"longest\""]),
        ("--method md5 --max-group 7", ["there max-group = 1000", "here max-group = 7"]),
        ("--method md5 --unverified", ["there verified = true", "here verified = false"]),
        ("--method simhash", ["name = \"md5\"", "name = \"simhash\""]),
    ];
    let refused = |when: &str| {
        for (options, [there, here]) in cases {
            let parts = [
                "holds a job with another recipe; take another folder, or begin anew with --force",
                there,
                here,
            ];
            let done = again(options).refuses_with(1, &parts);
            assert_eq!(done.stdout, "", "{when}");
        }
    };
    refused("under way");
    again("--method md5").exits(0);
    refused("finished");
}

#[test]
fn an_input_that_changed_is_refused_by_name() {
    let folder = Folder::new();
    let input = corpus(&folder);
    let job = begun(&folder, "");
    let again = || dedup("").path(&input).option("-o", &job).run();
    let path = folder.join("in/b.jsonl");
    let bytes = std::fs::read(&path).unwrap();
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    let set_time = |time: SystemTime| {
        std::fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap()
    };
    let begin = "the input changed since the job in";
    std::fs::write(&path, [&bytes[..], b"{\"text\":\"one more\"}\n"].concat()).unwrap();
    let sizes = format!("(b.jsonl had {} bytes and has {})", bytes.len(), bytes.len() + 20);
    again().refuses_with(1, &[begin, &sizes, "begin anew with --force, or take another folder"]);
    std::fs::write(&path, &bytes).unwrap();
    set_time(time + Duration::from_secs(5));
    again().refuses_with(1, &[begin, "(b.jsonl was written to)"]);
    std::fs::rename(&path, folder.join("b")).unwrap();
    again().refuses_with(1, &[begin, "(b.jsonl was read already and is gone)"]);
    std::fs::rename(folder.join("b"), &path).unwrap();
    set_time(time);
    again().exits(0);
    assert_same(&undisturbed(&input, ""), &results(&job), "after all that");
}

#[test]
fn a_folder_with_other_files_is_left_alone() {
    let folder = Folder::new();
    let input = corpus(&folder);
    folder.file("job/letter.txt", "mine");
    let sentence = "job holds files that are no job of lookalike; name a new or empty folder";
    dedup("-o job").path(&input).inside(folder.path()).run().refuses(1, sentence);
    assert_eq!(std::fs::read_dir(folder.join("job")).unwrap().count(), 1);
    let done = dedup("-o job/letter.txt").path(&input).inside(folder.path()).run().exits(1);
    assert!(done.stderr.lines().last().unwrap().contains("job/letter.txt"), "{}", done.stderr);
    std::fs::create_dir(folder.join("empty")).unwrap();
    dedup("-o empty").path(&input).inside(folder.path()).run().exits(0);
    dedup("-o new/and/deep").path(&input).inside(folder.path()).run().exits(0);
    assert!(folder.join("new/and/deep/summary.json").exists());
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_named() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    if !rustix::process::geteuid().is_root() {
        return skipped("needs a second user");
    }
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&families(20, 1)));
    let closed = folder.join("closed");
    std::fs::create_dir(&closed).unwrap();
    for (path, mode) in [(folder.path(), 0o755), (&closed, 0o555)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let copy = folder.join("lookalike");
    std::fs::copy(env!("CARGO_BIN_EXE_lookalike"), &copy).unwrap();
    for output in [closed.clone(), closed.join("job")] {
        let mut run = super::support::program(&copy, ["dedup", "--progress", "none"])
            .path(&input)
            .option("-o", &output);
        run = run.inside(Path::new("/"));
        run.command.uid(65534).gid(65534);
        run.run().refuses_with(1, &["closed", "cannot be written", "ermission denied"]);
    }
}

#[test]
fn a_second_run_at_once_is_refused() {
    let folder = Folder::new();
    let job = folder.join("job");
    let mut first = dedup("-").option("-o", &job).start_open();
    std::io::Write::write_all(first.input(), &jsonl(&families(2000, 1))).unwrap();
    let sentence = "job is in use by another run; wait for it to end or name another folder";
    dedup("- -o job").inside(folder.path()).run_with(b"").refuses(1, sentence);
    first.close_input();
    first.end().exits(0);
    assert_eq!(super::job_support::json(&job.join("summary.json"))["documents"], 2000);
}

#[test]
fn a_cap_below_the_floor_is_refused_with_the_figure() {
    let folder = Folder::new();
    let input = corpus(&folder);
    // 128 MB, 4 MB per thread, twice the longest document.
    for (threads, document, floor) in [(2, 32, 200), (1, 32, 196), (4, 1, 146), (1, 8, 148)] {
        let run = |memory: u64, job: &str| {
            let options =
                format!("--threads {threads} --max-document-bytes {document}M --memory {memory}M -o {job}");
            dedup(&options).path(&input).inside(folder.path()).run()
        };
        let figure = format!("needs at least {floor} MB; give --memory {floor}M");
        run(floor - 1, "none").refuses_with(2, &["--memory is too small", &figure]);
        assert!(!folder.join("none").exists());
        run(floor, &format!("job-{floor}")).exits(0);
    }
}

#[test]
fn the_plan_writes_nothing_and_prints_its_rows() {
    let folder = Folder::new();
    let scratch = Folder::new();
    let input = corpus(&folder);
    let mut run = dedup("--plan -o job").path(&input).inside(folder.path());
    run.command.env("TMPDIR", scratch.path());
    let done = run.run().exits(0);
    for row in ["sample", "documents", "time", "disk", "memory", "removal share"] {
        assert!(done.stdout.lines().any(|line| line.starts_with(row)), "{row} in {}", done.stdout);
    }
    assert!(done.stdout.contains("300 documents, 100.0 % of the input"), "{}", done.stdout);
    // All of a small input is the sample: the share is the true one.
    let decisions = super::job_support::json(&{
        dedup("-o job").path(&input).inside(folder.path()).run().exits(0);
        folder.join("job/summary.json")
    });
    let share = decisions["removed"].as_f64().unwrap() * 100.0 / 300.0;
    assert!(done.stdout.contains(&format!("{share:.1}-{share:.1} %")), "{}", done.stdout);
    std::fs::remove_dir_all(folder.join("job")).unwrap();
    assert_eq!(folder.names(), ["in"]);
    assert!(scratch.names().is_empty());
    // Without a folder, too.
    dedup("--plan").path(&input).inside(folder.path()).run().exits(0);
    assert_eq!(folder.names(), ["in"]);
}

#[test]
fn the_sample_is_scored_against_its_truth() {
    let folder = Folder::new();
    let done = dedup("--sample").inside(folder.path()).run().exits(0);
    assert_eq!(folder.names(), ["lookalike-sample"]);
    let score = |name: &str| {
        let line = done.stdout.lines().find(|line| line.starts_with(name)).expect("a row");
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap()
    };
    assert!(score("recall") >= 0.98, "{}", done.stdout);
    assert_eq!(score("precision"), 1.0, "{}", done.stdout);
}

/// Peak memory and cap of a finished job.
fn memory(job: &Path) -> (u64, u64) {
    let run = super::job_support::json(&job.join("run.json"));
    let number = |field: &str| run[field].as_u64().expect("a number");
    (number("peak_memory_bytes"), number("memory_cap_bytes"))
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_cap_holds() {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&families(12_000, 2)));
    for options in ["", "--spool none", "--method simhash --write kept"] {
        let job = folder.join("job");
        let run = dedup(&format!("--threads 4 --max-document-bytes 1M --memory 146M {options}"));
        run.path(&input).option("-o", &job).run().exits(0);
        let (peak, cap) = memory(&job);
        assert!(peak > 10 << 20 && peak <= cap, "{options}: {peak} of {cap}");
        std::fs::remove_dir_all(&job).unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_cap_holds_for_large_documents_on_many_threads() {
    let folder = Folder::new();
    let text = |n: usize| (0..400_000).map(|w| format!("w{n}x{w} ")).collect::<String>();
    let lines: String = (0..10)
        .map(|n| format!("{}\n", serde_json::json!({ "id": n.to_string(), "text": text(n) })))
        .collect();
    let input = folder.file("in.jsonl", lines);
    let job = folder.join("job");
    let run = dedup("--threads 8 --max-document-bytes 5M --memory 170M");
    run.path(&input).option("-o", &job).run().exits(0);
    let (peak, cap) = memory(&job);
    assert!(peak <= cap, "{peak} of {cap}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_cap_holds_for_the_exact_method() {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&families(12_000, 2)));
    let job = folder.join("job");
    let run = dedup("--threads 8 --max-document-bytes 1M --memory 162M --method exact");
    run.path(&input).option("-o", &job).run().exits(0);
    let (peak, cap) = memory(&job);
    assert!(peak <= cap, "{peak} of {cap}");
}

#[test]
fn a_cap_above_the_floor_is_enough_for_the_longest_document() {
    let folder = Folder::new();
    let words: String = (0..).map(|n| format!("word{n} ")).take(700_000).collect();
    let input = folder.file("in.jsonl", format!("{}\n", serde_json::json!({ "id": "long", "text": words })));
    assert!(words.len() < 8 << 20);
    let run = dedup("--threads 1 --max-document-bytes 8M --memory 148M").path(&input);
    run.option("-o", folder.join("job")).run().exits(0);
}

#[test]
fn a_job_inside_its_input_folder_is_refused_at_once() {
    let folder = Folder::new();
    let input = corpus(&folder);
    let done = dedup("").path(&input).option("-o", input.join("job")).run();
    done.refuses_with(2, &["lies inside the input", "name a folder outside of it"]);
    assert!(!input.join("job").exists());
}

#[test]
fn the_plan_of_nothing_takes_no_time() {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", "");
    let done = dedup("--plan").path(input).run().exits(0);
    let time = done.stdout.lines().find(|line| line.starts_with("time")).unwrap();
    assert!(time.contains(" 0 s "), "{time}");
}

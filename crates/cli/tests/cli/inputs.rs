//! The contract with the input: every shard has a name of its own, what changes is noticed, what is no data is left out.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::job_support::{Decisions, assert_same, dedup, families, json, results};
use super::jobs::blocked;
use super::support::{Folder, jsonl};

/// Lines in all files below a folder of copies.
fn copied_lines(folder: &Path) -> usize {
    results(folder).values().map(|bytes| bytes.iter().filter(|&&byte| byte == b'\n').count()).sum()
}

/// Runs with `--write kept` and asserts that as many documents are in the folder as the summary says, under these names.
#[track_caller]
fn assert_all_copied(inputs: &[&Path], names: &[&str]) {
    let folder = Folder::new();
    let job = folder.join("job");
    let run = inputs.iter().fold(dedup("--write kept"), |run, input| run.path(input));
    run.option("-o", &job).run().exits(0);
    let decisions = Decisions::read(&job);
    assert_eq!(copied_lines(&job.join("kept")) as u64, decisions.count("kept"));
    assert_eq!(results(&job.join("kept")).keys().collect::<Vec<_>>(), names);
}

#[cfg(target_os = "linux")]
#[test]
fn shards_whose_names_are_no_text_are_all_copied() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let documents = families(200, 3);
    for (name, documents) in
        [(&b"in/a\xff.jsonl"[..], &documents[..100]), (b"in/a\xfe.jsonl", &documents[100..])]
    {
        folder.file(std::ffi::OsStr::from_bytes(name), jsonl(documents));
    }
    assert_all_copied(&[&folder.join("in")], &["a\u{fffd}fe.jsonl", "a\u{fffd}ff.jsonl"]);
}

#[test]
fn a_file_that_is_given_twice_is_copied_twice() {
    let folder = Folder::new();
    let input = folder.file("a.jsonl.x", jsonl(&families(50, 4)));
    assert_all_copied(&[&input, &input], &["a-2.jsonl.x", "a.jsonl.x"]);
}

#[test]
fn a_copy_is_done_when_the_job_says_so_and_not_when_a_file_is_there() {
    let folder = Folder::new();
    let documents = families(200, 5);
    for (number, part) in documents.chunks(50).enumerate() {
        folder.file(format!("in/{number}.jsonl"), jsonl(part));
    }
    let run = |job: &Path| dedup("--write kept --threads 1").path(folder.join("in")).option("-o", job);
    run(&folder.join("expected")).run().exits(0);
    let job = folder.join("out/job");
    blocked(run(&job), &job, &["kept/2.jsonl"]);
    // One copy is done, and loses its end as in a crash of the machine; one is not, and something lies in its place.
    let done = job.join("kept/0.jsonl");
    let bytes = fs::read(&done).unwrap();
    fs::write(&done, &bytes[..bytes.len() / 2]).unwrap();
    fs::write(job.join("kept/3.jsonl"), "{}\n").unwrap();
    run(&job).run().exits(0);
    assert_same(&results(&folder.join("expected")), &results(&job), "resumed");
}

/// Writes other bytes of the same number into a file.
fn exchange(path: &Path) {
    let bytes = fs::read(path).unwrap();
    let other: Vec<u8> = bytes.iter().map(|&byte| if byte == b'w' { b'v' } else { byte }).collect();
    assert_ne!(bytes, other);
    fs::write(path, other).unwrap();
}

#[test]
fn a_file_that_changes_while_the_job_runs_ends_it() {
    let folder = Folder::new();
    let input = folder.file("a.jsonl", jsonl(&families(60, 6)));
    let job = folder.join("job");
    for options in ["--write kept", "--spool disk"] {
        // The job has looked at its input, and waits for the rest of it.
        let mut running = dedup(options).path(&input).arg("-").option("-o", &job).start_open();
        while !job.join("work/stdin.part").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        exchange(&input);
        running.input().write_all(&jsonl(&families(10, 7))).unwrap();
        running.close_input();
        let parts = ["a.jsonl changed while it was in use (it was written to)", "begin anew"];
        running.end().refuses_with(1, &parts);
        assert!(!job.join("summary.json").exists());
        fs::remove_dir_all(&job).unwrap();
        exchange_back(&input);
    }
}

/// Undoes [`exchange`].
fn exchange_back(path: &Path) {
    fs::write(path, jsonl(&families(60, 6))).unwrap();
}

#[test]
fn a_change_that_hides_its_time_is_noticed_by_the_copies() {
    let folder = Folder::new();
    let documents = families(200, 8);
    let input = folder.file("in/a.jsonl", jsonl(&documents[..100]));
    folder.file("in/b.jsonl", jsonl(&documents[100..]));
    for options in ["--write kept", "--write removed", "--write kept --annotate"] {
        let job = folder.join("out/job");
        let run = || dedup(options).path(folder.join("in")).option("-o", &job);
        blocked(run(), &job, &["removed.jsonl"]);
        let time = fs::metadata(&input).unwrap().modified().unwrap();
        let before = fs::read(&input).unwrap();
        exchange(&input);
        File::options().append(true).open(&input).unwrap().set_modified(time).unwrap();
        run().run().refuses_with(1, &["a.jsonl changed", "its bytes are not those that were read before"]);
        assert!(!job.join("summary.json").exists());
        fs::write(&input, before).unwrap();
        fs::remove_dir_all(&job).unwrap();
    }
}

#[test]
fn a_text_whose_change_hides_its_time_is_noticed_by_the_copies() {
    let folder = Folder::new();
    let text = folder.file("in/a.txt", "one rose is a rose");
    folder.file("in/b.txt", "two tulips are flowers");
    let job = folder.join("out/job");
    let run = || dedup("--write kept").path(folder.join("in")).option("-o", &job);
    blocked(run(), &job, &["removed.jsonl"]);
    let time = fs::metadata(&text).unwrap().modified().unwrap();
    fs::write(&text, "one nose is a nose").unwrap();
    File::options().append(true).open(&text).unwrap().set_modified(time).unwrap();
    run().run().refuses_with(1, &["a.txt changed", "its bytes are not those that were read before"]);
    assert!(!job.join("summary.json").exists());
}

#[test]
fn standard_input_must_come_again_as_it_was() {
    let folder = Folder::new();
    let job = folder.join("out/job");
    let (lines, others) = (jsonl(&families(100, 9)), jsonl(&families(100, 10)));
    let sentence =
        "standard input is not what it was when the job began; give the same, or begin anew with --force";
    fs::create_dir_all(job.join("work")).unwrap();
    fs::write(job.join("work/lock"), "").unwrap();
    fs::create_dir_all(job.join("removed.jsonl/x")).unwrap();
    dedup("-").option("-o", &job).run_with(&lines).exits(1);
    fs::remove_dir_all(job.join("removed.jsonl")).unwrap();
    for bytes in [&others[..], &lines[..lines.len() - 1], &[&lines[..], &others].concat(), b""] {
        dedup("-").option("-o", &job).run_with(bytes).refuses(2, sentence);
    }
    dedup("-").option("-o", &job).run_with(&lines).exits(0);
    assert_eq!(json(&job.join("summary.json"))["documents"], 100);
    // A finished job is held to the same.
    dedup("-").option("-o", &job).run_with(&lines).exits(0);
    dedup("-").option("-o", &job).run_with(&others).refuses_with(1, &["the input changed since the job"]);
}

#[test]
fn an_empty_standard_input_has_no_documents() {
    let folder = Folder::new();
    let job = folder.join("job");
    dedup("- --write kept").option("-o", &job).run_with(b"").exits(0);
    let decisions = Decisions::read(&job);
    assert_eq!((decisions.count("documents"), decisions.count("kept")), (0, 0));
}

#[test]
fn what_is_no_data_is_left_out_of_folders_and_counted() {
    let folder = Folder::new();
    folder.file("in/a.jsonl", jsonl(&families(20, 11)));
    folder.file("in/sub/b.jsonl", jsonl(&families(20, 12)));
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    for (name, content) in [
        ("_SUCCESS", &b""[..]),
        ("README.md", b"about these data"),
        ("sub/readme.txt", b"more about these data"),
        ("a.jsonl.md5", b"0123  a.jsonl\n"),
        ("SHA256SUMS", b"0123  a.jsonl\n"),
        ("sub/logo", png),
        (".hidden", b"x"),
        ("sub/_temporary/c.jsonl", b"{\"id\":\"c\",\"text\":\"half a file\"}\n"),
    ] {
        folder.file(format!("in/{name}"), content);
    }
    let job = folder.join("job");
    let done = super::support::lookalike(["dedup"]).path(folder.join("in")).option("-o", &job).run().exits(0);
    let line = "left out 8 files: 1 hidden file, 2 names with _ in front, 2 READMEs, 2 checksums, 1 image";
    assert!(done.stderr.lines().any(|told| told == line), "{}", done.stderr);
    let decisions = Decisions::read(&job);
    assert_eq!(decisions.count("documents"), 40);
    assert_eq!(decisions.summary["left_out"]["README"], 2);
    let image = json(&job.join("run.json"))["left_out"]["image"].clone();
    assert!(image[0].as_str().is_some_and(|name| name.ends_with("in/sub/logo")), "{image}");
    // What is named is read, or told.
    let job = folder.join("named");
    dedup("").path(folder.join("in/README.md")).option("-o", &job).run().exits(0);
    assert_eq!(Decisions::read(&job).count("documents"), 1);
    let done = dedup("").path(folder.join("in/sub/logo")).option("-o", folder.join("picture")).run();
    done.refuses_with(1, &["logo is in no format that can be read"]);
}

#[test]
fn files_that_cannot_be_read_end_a_run_before_it_begins() {
    let folder = Folder::new();
    let documents = families(40, 13);
    for (number, part) in documents.chunks(20).enumerate() {
        folder.file(format!("in/{number}.jsonl"), jsonl(part));
    }
    folder.file("in/00.parquet", "PAR1 and no more");
    folder.file("in/10.csv", "a,b\n1,2\n");
    let job = folder.join("job");
    let run = |options: &str| dedup(options).path(folder.join("in")).option("-o", &job).run();
    run("").refuses_with(
        1,
        &["2 of 4 files cannot be read; the first: cannot read 00.parquet", "--skip-unreadable"],
    );
    assert!(!job.exists(), "nothing is left of a run that has read nothing");
    run("--skip-unreadable").exits(0);
    let decisions = Decisions::read(&job);
    assert_eq!(
        (decisions.count("documents"), &decisions.summary["left_out"]["unreadable file"]),
        (40, &2.into())
    );
}

#[test]
fn a_job_goes_on_when_files_come_that_it_has_not_read_or_such_go() {
    let folder = Folder::new();
    let documents = families(120, 14);
    for (number, part) in documents.chunks(40).enumerate() {
        folder.file(format!("in/{number}.jsonl"), jsonl(part));
    }
    let run = |options: &str, job: &Path| {
        let run = dedup(&format!("--threads 1 --write kept {options}")).path(folder.join("in"));
        run.option("--against", folder.join("against.jsonl")).option("-o", job)
    };
    folder.file("against.jsonl", jsonl(&families(30, 15)));
    // The other corpus is a unit of work of its own, which is done when the second one stops.
    let job = folder.join("out/job");
    blocked(run("", &job), &job, &["work/u000001.docs"]);
    let done = fs::metadata(job.join("work/u000000.done")).unwrap().modified().unwrap();
    let parted = folder.join("in/1.jsonl");
    fs::rename(&parted, folder.join("away")).unwrap();
    folder.file("in/9.jsonl", jsonl(&families(20, 16)));
    // Read already, and gone.
    let other = folder.file("other.jsonl", jsonl(&families(30, 17)));
    let refused = dedup("--threads 1 --write kept")
        .path(folder.join("in"))
        .option("--against", other)
        .option("-o", &job);
    refused.run().refuses_with(1, &["against.jsonl was read already and is gone"]);
    blocked(run("", &job), &job, &["removed.jsonl"]);
    assert_eq!(
        fs::metadata(job.join("work/u000000.done")).unwrap().modified().unwrap(),
        done,
        "it was not done again"
    );
    // Files may come as long as the job is not done, whatever was made of the others.
    folder.file("in/5.jsonl", jsonl(&families(20, 18)));
    run("", &job).run().exits(0);
    let fresh = folder.join("fresh");
    run("", &fresh).run().exits(0);
    assert_same(&results(&fresh), &results(&job), "another list of files");
    assert_eq!(json(&job.join("summary.json"))["documents"], 120);
}

#[test]
fn force_begins_anew_and_leaves_other_files_alone() {
    let folder = Folder::new();
    let first = folder.file("in/a.jsonl", jsonl(&families(60, 19)));
    let second = folder.file("other/b.jsonl", jsonl(&families(60, 20)));
    let job = folder.join("job");
    let run = |options: &str, input: &Path| dedup(options).path(input).option("-o", &job).run();
    let fresh = folder.join("fresh");
    dedup("--threshold 0.9").path(&second).option("-o", &fresh).run().exits(0);
    run("--write kept", &first).exits(0);
    folder.file("job/letter.txt", "mine");
    run("--threshold 0.9", &second).refuses_with(1, &["another recipe", "--force"]);
    run("--threshold 0.9 --force", &second).exits(0);
    assert_eq!(fs::read(job.join("letter.txt")).unwrap(), b"mine");
    fs::remove_file(job.join("letter.txt")).unwrap();
    let left = results(&job);
    assert_same(
        &results(&fresh),
        &left.into_iter().filter(|(name, _)| !name.starts_with("kept/")).collect(),
        "forced",
    );
    // A job whose manifest is broken, and a folder that holds none.
    fs::remove_file(job.join("summary.json")).unwrap();
    folder.file("job/work/job.json", "broken");
    folder.file("job/work/lock", "");
    run("--threshold 0.9 --force", &second).exits(0);
    folder.file("mine/letter.txt", "mine");
    let done = dedup("--force").path(&second).option("-o", folder.join("mine")).run();
    done.refuses_with(1, &["holds files that are no job of lookalike"]);
}

//! Ctrl-C and kill: prompt, and nothing is left behind.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use super::support::{Folder, RunOutput, Running, corpus, documents, jsonl, shell};

/// The program gives its work half a second; the rest is for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(3);

#[track_caller]
fn assert_interrupted(running: Running, signal: Signal) -> RunOutput {
    interrupted(running, signal, "lookalike: interrupted")
}

#[track_caller]
fn interrupted(running: Running, signal: Signal, said: &str) -> RunOutput {
    running.signal(signal);
    let done = running.end_within(TIMEOUT).exits(130);
    assert_eq!(done.stderr.lines().last(), Some(said));
    done
}

/// Hands over more than a pipe holds, so that the program must have begun to work when this returns.
fn begin_work(running: &mut Running) {
    running.input().write_all(&jsonl(&documents(4000))).unwrap();
}

/// `corpus convert` that has read some documents and waits for more.
fn half_way(folder: &Folder, output: &str) -> Running {
    let mut running = corpus("convert - -o").path(output).inside(folder.path()).start_open();
    begin_work(&mut running);
    assert_eq!(folder.names().len(), 1, "the temporary file is there");
    running
}

#[test]
fn ctrl_c_ends_a_program_that_waits_for_its_input() {
    for signal in [Signal::INT, Signal::TERM] {
        for command in ["stats -", "head - -n 5000"] {
            let mut running = corpus(command).start_open();
            begin_work(&mut running);
            let done = assert_interrupted(running, signal);
            assert!(command != "stats -" || done.stdout.is_empty());
        }
    }
}

#[test]
fn ctrl_c_ends_a_program_that_has_read_nothing_yet() {
    // The words of progress tell that the program is up.
    let mut running = corpus("stats - --progress json").start_open();
    running.wait_for_words();
    interrupted(running, Signal::INT, "{\"error\":\"interrupted\"}");
}

#[test]
fn a_second_ctrl_c_does_not_wait() {
    let mut running = corpus("stats -").start_open();
    begin_work(&mut running);
    running.signal(Signal::INT);
    assert_interrupted(running, Signal::INT);
}

#[test]
fn ctrl_c_leaves_neither_the_output_nor_a_temporary_file() {
    let mut outputs = vec!["a.jsonl", "a.jsonl.zst", "a.warc.gz"];
    outputs.extend(cfg!(feature = "parquet").then_some("a.parquet"));
    for output in outputs {
        let folder = Folder::new();
        assert_interrupted(half_way(&folder, output), Signal::INT);
        assert!(folder.names().is_empty(), "{output}: {:?}", folder.names());
    }
}

#[test]
fn ctrl_c_leaves_the_old_output_alone() {
    let folder = Folder::new();
    folder.file("a.jsonl", "old");
    let mut running = corpus("convert - -o a.jsonl --rejected r.jsonl").inside(folder.path()).start_open();
    begin_work(&mut running);
    assert_interrupted(running, Signal::INT);
    assert_eq!(folder.names(), ["a.jsonl"]);
    assert_eq!(std::fs::read_to_string(folder.join("a.jsonl")).unwrap(), "old");
}

#[test]
fn a_killed_program_leaves_no_file_under_the_final_name() {
    for output in ["a.jsonl", "a.warc.gz"] {
        let folder = Folder::new();
        let running = half_way(&folder, output);
        running.signal(Signal::KILL);
        assert_eq!(running.end().code, None);
        assert!(!folder.join(output).exists());
    }
}

#[test]
fn ctrl_c_during_a_large_generate_leaves_nothing_behind() {
    let folder = Folder::new();
    let run = corpus("generate --documents 1000000000 --progress json -o a.jsonl.zst");
    let mut running = run.inside(folder.path()).start();
    running.wait_for_words();
    assert_eq!(folder.names().len(), 2, "corpus and truth are under way");
    interrupted(running, Signal::INT, "{\"error\":\"interrupted\"}");
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn ctrl_c_removes_what_waits_in_the_folder_for_temporary_files() {
    let folder = Folder::new();
    let scratch = Folder::new();
    let mut run = corpus("stats - --rejected r.jsonl").inside(folder.path());
    run.command.env("TMPDIR", scratch.path());
    let mut running = run.start_open();
    running.input().write_all(&b"{\"id\":1}\n".repeat(100_000)).unwrap();
    assert_eq!(scratch.names().len(), 1, "rejections wait on disk");
    assert_interrupted(running, Signal::INT);
    assert!(scratch.names().is_empty() && folder.names().is_empty());
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = Folder::new();
    let bad = folder.file("a.jsonl", b"{\"id\":1}\n{\"id\":\"a\",\"text\":\"one\"}\n".repeat(9));
    assert_quiet("head --sample -n 3000 2>&1 | head -1", folder.path(), 1);
    assert_quiet("stats --sample | head -1", folder.path(), 1);
    assert_quiet("head --sample -n 3000 | true", folder.path(), 0);
    assert_quiet(&format!("stats {} 2>&1 >/dev/null | head -1", bad.display()), folder.path(), 1);
}

/// Runs a pipe in a shell that tells how its first command ended.
#[track_caller]
fn assert_quiet(pipe: &str, folder: &Path, lines: usize) {
    let program = env!("CARGO_BIN_EXE_lookalike");
    let (command, rest) = pipe.split_once('|').unwrap();
    let script = format!("{{ '{program}' corpus {command}; echo $? >code; }} | {rest}");
    let done = shell(&script).inside(folder).run();
    assert_eq!(done.stderr, "", "{pipe}");
    assert_eq!(done.stdout.lines().count(), lines, "{pipe}");
    assert_eq!(std::fs::read_to_string(folder.join("code")).unwrap(), "0\n", "{pipe}");
}

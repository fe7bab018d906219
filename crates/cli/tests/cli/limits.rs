//! Huge lines in little memory, thousands of files, any number of threads.

use std::io::Write;

use super::support::{Doc, Folder, WORDS, assert_counts, corpus, documents, gzip, jsonl, stats};

#[cfg(target_os = "linux")]
#[test]
fn a_line_of_300_megabytes_is_rejected_in_little_memory_and_the_lines_behind_it_are_read() {
    let mut running = corpus("stats - --json").start_open();
    let input = running.input();
    input.write_all(&jsonl(&documents(10))).unwrap();
    input.write_all(b"{\"id\":\"huge\",\"text\":\"").unwrap();
    let megabyte = vec![b'x'; 1 << 20];
    (0..300).for_each(|_| input.write_all(&megabyte).unwrap());
    input.write_all(b"\"}\n").unwrap();
    // More than a pipe holds: when this is written, the huge line has been read.
    input.write_all(&jsonl(&documents(2000))).unwrap();
    let peak = running.peak_memory();
    running.close_input();
    let done = running.end().exits(0);
    let summary = done.json();
    assert_counts(&summary, 2010, 2010 * WORDS as u64, 1);
    assert_eq!(summary["rejected_by_reason"]["too long"], 1);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    assert!(peak < 200 << 20, "{} MB", peak >> 20);
}

#[test]
fn a_folder_of_2000_small_files_is_read() {
    let folder = Folder::new();
    for Doc { id, text, .. } in documents(2000) {
        folder.file(format!("{}/{id}.txt", &id[..7]), text);
    }
    let summary = stats([folder.path()]);
    assert_counts(&summary, 2000, 2000 * WORDS as u64, 0);
    assert_eq!(summary["shards"], 2000);
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let folder = Folder::new();
    let all = documents(400);
    for (shard, documents) in all.chunks(10).enumerate() {
        let mut lines = jsonl(documents);
        lines.extend_from_slice(b"{\"id\":\"no text\"}\n{broken\n");
        lines.extend(jsonl(&all[..2]));
        let packed = if shard % 2 == 0 { lines } else { gzip(&lines) };
        folder.file(format!("shards/{shard:03}.jsonl"), packed);
    }
    let runs = [1, 4].map(|threads| {
        let rejected = folder.join(format!("rejected-{threads}.jsonl"));
        let run = corpus(&format!("stats --json --threads {threads}")).path(folder.join("shards"));
        let done = run.option("--rejected", &rejected).run().exits(0);
        assert_counts(&done.json(), 480, 480 * WORDS as u64, 80);
        (done.stdout, done.stderr, std::fs::read_to_string(rejected).unwrap())
    });
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0].2.lines().count(), 80);
}

//! Bad input: what is rejected, with which place and reason, and what stops the work.

use std::path::Path;

use serde_json::{Value, json};

use super::support::{
    Folder, assert_counts, bzip2, corpus, documents, gzip, json_lines, jsonl, program, skipped, stats, zstd,
};

/// Rejects exactly the records that `expected` names by position, unit and a word of the reason.
#[track_caller]
fn assert_rejections(input: &Path, options: &str, accepted: u64, expected: &[(u64, &str, &str)]) {
    let folder = Folder::new();
    let file = folder.join("rejected.jsonl");
    let run = |more: &str| corpus(&format!("stats --json {options} {more}")).path(input);
    let done = run("").option("--rejected", &file).run().exits(0);
    let summary = done.json();
    assert_eq!(summary["accepted"], accepted, "{summary:#}");
    assert_eq!(summary["rejected"], expected.len());
    let lines = json_lines(&file);
    assert_eq!(lines.len(), expected.len(), "{lines:?}");
    for (line, (position, unit, reason)) in lines.iter().zip(expected) {
        assert_line(line, input, *position, unit, reason);
        let told =
            format!("rejected: {}, {unit} {position}: {}", name(input), line["reason"].as_str().unwrap());
        assert!(done.stderr.lines().any(|line| line == told), "{told} in {}", done.stderr);
    }
    run("--strict").run().exits(if expected.is_empty() { 0 } else { 3 });
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[track_caller]
fn assert_line(line: &Value, input: &Path, position: u64, unit: &str, reason: &str) {
    let told = line["reason"].as_str().expect("a reason");
    assert!(told.contains(reason), "{told:?} has no {reason:?}");
    assert_eq!(*line, json!({ "source": name(input), "position": position, "unit": unit, "reason": told }));
}

/// Cuts a compressed file and finds the one record that the cut went through.
#[track_caller]
fn assert_cut(compress: fn(&[u8]) -> Vec<u8>, ending: &str) {
    let folder = Folder::new();
    let whole = jsonl(&documents(3000));
    let packed = compress(&whole);
    let cut = folder.file(format!("cut.jsonl.{ending}"), &packed[..packed.len() * 6 / 10]);
    let accepted = stats([&cut])["accepted"].as_u64().unwrap();
    assert!((1..3000).contains(&accepted), "{accepted}");
    let lines = whole.split_inclusive(|&byte| byte == b'\n').take(accepted as usize);
    let position = lines.map(|line| line.len() as u64).sum();
    assert_rejections(&cut, "", accepted, &[(position, "byte", "truncated")]);
}

#[test]
fn a_truncated_gzip_file_costs_the_record_it_ends_in() {
    assert_cut(gzip, "gz");
}

#[test]
fn a_truncated_zstd_file_costs_the_record_it_ends_in() {
    assert_cut(zstd, "zst");
}

#[test]
fn a_truncated_bzip2_file_costs_the_record_it_ends_in() {
    assert_cut(bzip2, "bz2");
}

#[test]
fn a_warc_file_cut_inside_a_member_costs_one_record() {
    let folder = Folder::new();
    let source = folder.file("a.jsonl", jsonl(&documents(100)));
    let warc = folder.join("a.warc.gz");
    corpus("convert").path(source).option("-o", &warc).run().exits(0);
    let bytes = std::fs::read(&warc).unwrap();
    let cut = folder.file("cut.warc.gz", &bytes[..bytes.len() * 6 / 10]);
    let done = corpus("stats --json").path(&cut).run().exits(0);
    let summary = done.json();
    assert_eq!(summary["rejected"], 1);
    assert!((50..70).contains(&summary["accepted"].as_u64().unwrap()), "{summary}");
    assert!(done.stderr.starts_with("rejected: cut.warc.gz, byte "), "{}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 1);
    corpus("stats --strict").path(&cut).run().exits(3);
}

#[test]
fn every_broken_line_is_rejected_and_the_lines_around_it_are_read() {
    let folder = Folder::new();
    let lines: [&[u8]; 7] = [
        b"{\"id\":\"a\",\"text\":\"one rose\"}\n",
        b"{\"id\":\"b\",\n",
        b"{\"id\":\"c\",\"text\":\"two \xff\"}\n",
        b"{\"id\":\"d\",\"body\":\"three\"}\n",
        b"{\"id\":\"e\",\"text\":4}\n",
        b"\n",
        b"{\"id\":\"f\",\"text\":\"the last line has no end\"}",
    ];
    let begin = |index: usize| lines[..index].iter().map(|line| line.len() as u64).sum();
    let file = folder.file("a.jsonl", lines.concat());
    let expected = [
        (begin(1), "byte", "broken record"),
        (begin(2), "byte", "invalid UTF-8"),
        (begin(3), "byte", "missing field: neither \"text\" nor \"html\""),
        (begin(4), "byte", "missing field"),
    ];
    assert_rejections(&file, "", 2, &expected);
    assert_eq!(stats([file])["words"], 8);
}

#[test]
fn a_record_over_the_limit_is_rejected_and_one_under_it_is_not() {
    let folder = Folder::new();
    let line = |length: usize| format!("{{\"id\":\"a\",\"text\":\"{}\"}}\n", "x ".repeat(length / 2));
    let file = folder.file("a.jsonl", [line(100), line(2000), line(900)].concat());
    let reason = "too long: over 1024 bytes (raise --max-document-bytes to read it)";
    assert_rejections(&file, "--max-document-bytes 1K", 2, &[(line(100).len() as u64, "byte", reason)]);
    assert_rejections(&file, "", 3, &[]);
}

#[test]
fn tables_and_trec_records_are_rejected_by_their_place() {
    let folder = Folder::new();
    let csv = folder.file("a.csv", b"id,text\n1,one rose\n2,two \xff\n3,three roses\n");
    assert_rejections(&csv, "", 2, &[(19, "byte", "invalid UTF-8")]);
    let record = "<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>one rose</TEXT>\n</DOC>\n";
    let trec = folder.file("a.trec", format!("{record}{}", &record[..30]));
    assert_rejections(&trec, "", 1, &[(record.len() as u64, "byte", "truncated")]);
}

#[test]
fn only_the_first_rejections_are_told_one_by_one() {
    let folder = Folder::new();
    let file = folder.file("a.jsonl", "{\"id\":1}\n".repeat(1015));
    let done = corpus("stats").path(&file).run().exits(0);
    let told: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(told.len(), 11);
    assert_eq!(told[10], "rejected: 1,005 more (corpus stats --rejected FILE writes them all)");
}

#[test]
fn a_file_of_no_known_format_stops_the_work() {
    let folder = Folder::new();
    folder.file("pages/a.txt", "one rose");
    folder.file("pages/b.png", b"\x89PNG\r\n\x1a\n\0\0\0");
    let sentence = "b.png is in no format that can be read (it begins with binary data); \
                    name its format with --input-format, or leave it out";
    corpus("stats").path(folder.join("pages")).run().fails(1, sentence);
    let array = folder.file("a.json", "[{\"id\":1}]");
    let sentence = "a.json is in no format that can be read (it is one JSON array, not one object per line); \
                    name its format with --input-format, or leave it out";
    corpus("stats").path(array).run().fails(1, sentence);
}

#[test]
fn a_table_without_text_names_the_columns_it_has() {
    let folder = Folder::new();
    let sentence = "a.csv has no column \"text\" or \"html\"; its columns are \"a\", \"b\"; \
                    name the right ones with --text-field, --html-field, --url-field or --id-field";
    corpus("stats").path(folder.file("a.csv", "a,b\n1,2\n")).run().fails(1, sentence);
}

#[test]
fn a_damaged_parquet_file_stops_the_work() {
    let folder = Folder::new();
    let done = corpus("stats").path(folder.file("a.parquet", "PAR1 and no more")).run().exits(1);
    assert!(
        done.stderr.starts_with("lookalike: cannot read a.parquet: its Parquet footer is damaged"),
        "{done:?}"
    );
    assert_eq!(done.stderr.lines().count(), 1);
}

#[test]
fn empty_files_have_no_records_and_an_empty_text_is_a_document_without_words() {
    let folder = Folder::new();
    assert_counts(&stats([folder.file("a.jsonl", "")]), 0, 0, 0);
    assert_counts(&stats([folder.file("a.jsonl.gz", gzip(b""))]), 0, 0, 0);
    assert_counts(&corpus("stats - --json").run_with(b"").exits(0).json(), 0, 0, 0);
    let text = stats([folder.file("a.txt", "")]);
    assert_counts(&text, 1, 0, 0);
    assert_eq!(text["without_words"], 1);
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let file = folder.file("a.jsonl", jsonl(&documents(1)));
    let allow =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    allow(folder.path(), 0o755);
    allow(&file, 0o000);
    let Some(run) = without_privileges(&folder) else {
        return skipped("the program cannot be copied for a user without privileges");
    };
    let sentence = "cannot read a.jsonl: permission denied; change its rights or leave it out";
    run.path(&file).run().fails(1, sentence);
}

/// `corpus stats` as a user without privileges, from a copy of the program that any user can run.
#[cfg(unix)]
fn without_privileges(folder: &Folder) -> Option<super::support::Invocation> {
    use std::os::unix::process::CommandExt;
    if !rustix::process::geteuid().is_root() {
        return Some(corpus("stats"));
    }
    let copy = folder.join("lookalike");
    std::fs::copy(env!("CARGO_BIN_EXE_lookalike"), &copy).ok()?;
    let mut run = program(copy, ["corpus", "stats"]).inside(Path::new("/"));
    run.command.uid(65534).gid(65534);
    Some(run)
}

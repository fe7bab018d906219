//! Bad input: what is rejected, with which place and reason, and what stops the work.

use std::path::Path;

use serde_json::{Value, json};

use super::job_support::dedup;
use super::support::{
    Folder, assert_counts, bzip2, corpus, documents, gzip, json_lines, jsonl, lz4, program, skipped, stats,
    xz, zstd,
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
    let mut without_id = line.clone();
    without_id.as_object_mut().expect("an object").remove("id");
    let expected = json!({ "source": name(input), "position": position, "unit": unit, "reason": told });
    assert_eq!(without_id, expected);
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
fn a_truncated_xz_file_costs_the_record_it_ends_in() {
    assert_cut(xz, "xz");
}

#[test]
fn a_truncated_lz4_file_costs_the_record_it_ends_in() {
    assert_cut(lz4, "lz4");
}

#[test]
fn a_file_that_ends_in_the_middle_is_told_so() {
    let folder = Folder::new();
    for (name, compress) in
        [("a.jsonl.gz", gzip as fn(&[u8]) -> Vec<u8>), ("a.jsonl.zst", zstd), ("a.jsonl.xz", xz)]
    {
        let packed = compress(&jsonl(&documents(2000)));
        let cut = folder.file(name, &packed[..packed.len() / 2]);
        let done = corpus("stats").path(&cut).run().exits(0);
        let [told] = done.stderr.lines().collect::<Vec<_>>()[..] else { panic!("{}", done.stderr) };
        assert!(told.starts_with(&format!("rejected: {name}, byte ")), "{told}");
        assert!(told.contains("truncated: the file ends in the middle of a "), "{told}");
    }
}

#[test]
fn what_is_no_compressed_file_is_refused_by_its_name() {
    let folder = Folder::new();
    let noise: Vec<u8> = (0..4000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for (name, kind) in
        [("a.jsonl.gz", "gzip"), ("a.jsonl.zst", "zstd"), ("a.jsonl.xz", "xz"), ("a.jsonl.lz4", "lz4")]
    {
        let file = folder.file(name, &noise);
        let sentence = format!(
            "{name} is named like a {kind} file and holds no {kind} data; find out what it is, or leave it out"
        );
        corpus("stats").path(&file).run().fails(1, &sentence);
        let done = dedup("").path(&file).option("-o", folder.join("job")).run();
        assert_ne!(done.code, Some(0), "{done:?}");
    }
}

#[test]
fn other_compressions_and_archives_are_refused_by_name() {
    let folder = Folder::new();
    for (name, bytes, what) in [
        ("a.jsonl.Z", &b"\x1f\x9d\x90\x7b\x44\x26"[..], "compressed with compress (.Z)"),
        (
            "a.jsonl.lzma",
            b"]\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0\x3d",
            "compressed with LZMA alone (.lzma)",
        ),
        ("a.7z", b"7z\xbc\xaf\x27\x1c\0\x04", "a 7z archive"),
        ("a.zip", b"PK\x03\x04\x14\0", "a zip archive"),
        ("a.jsonl.lzo", b"\x89LZO\0\r\n\x1a\n\x10", "compressed with lzop"),
        ("a.jsonl.sz", b"\xff\x06\0\0sNaPpY\x01", "compressed with Snappy's framing"),
        ("a.parquet", b"PARE\x15\x04", "an encrypted Parquet file"),
    ] {
        let done = corpus("stats").path(folder.file(name, bytes)).run().exits(1);
        let begin = format!("lookalike: {name} is {what}, which cannot be read; ");
        assert!(done.stderr.starts_with(&begin), "{}", done.stderr);
        assert_eq!(done.stderr.lines().count(), 1);
    }
}

#[test]
fn rejections_have_an_id_where_one_can_be_told() {
    let folder = Folder::new();
    let ids = |name: &str, bytes: &[u8]| -> Vec<Value> {
        let rejected = folder.join("rejected.jsonl");
        let file = folder.file(name, bytes);
        corpus("stats").path(file).option("--rejected", &rejected).run().exits(0);
        json_lines(&rejected).iter().map(|line| line["id"].clone()).collect()
    };
    let lines = b"{\"id\":\"a\"}\n{\"id\":7,\"text\":{}}\n{\"id\":\"c\",\"text\":\"\xff\"}\n{\"id\":\"d\",\n{oops\n{\"text\":\"e\"}\n";
    assert_eq!(ids("a.jsonl", lines), [json!("a"), json!("7"), json!("c"), json!("d"), Value::Null]);
    assert_eq!(ids("a.csv", b"id,text\na,\xff\nb\nc,three\n"), [json!("a"), json!("b")]);
    assert_eq!(ids("a.tsv", b"text\tid\n\xff\ta\nb\n"), [json!("a"), Value::Null]);
    assert_eq!(ids("a.trec", b"<DOC>\n<DOCNO> a </DOCNO>\n<TEXT>one"), [json!("a")]);
    let warc = b"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-TREC-ID: a\r\nContent-Length: 500\r\n\r\nshort";
    assert_eq!(ids("a.warc", warc), [json!("a")]);
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
    assert_eq!(told.len(), 12);
    assert_eq!(told[10], "rejected: 1,005 more (corpus stats --rejected FILE writes them all)");
    assert!(told[11].starts_with("1015 of 1015 records of the input were rejected"), "{}", told[11]);
}

#[test]
fn a_file_of_no_known_format_stops_the_work() {
    let folder = Folder::new();
    folder.file("pages/a.txt", "one rose");
    folder.file("pages/b.png", b"\x89PNG\r\n\x1a\n\0\0\0");
    let sentence = "b.png is in no format that can be read (it begins with binary data); \
                    name its format with --input-format, or leave it out";
    corpus("stats").path(folder.join("pages/b.png")).run().fails(1, sentence);
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
    corpus("stats").path(folder.file("tables/a.csv", "a,b\n1,2\n")).run().fails(1, sentence);
    // Where no file has it, the name is wrong, not the files.
    folder.file("tables/b.csv", "a,b\n3,4\n");
    dedup("--quiet").path(folder.join("tables")).option("-o", folder.join("job")).run().fails(1, sentence);
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

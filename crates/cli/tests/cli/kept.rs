//! Copies of the input shards: kept and removed make all, byte by byte.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};

use super::job_support::{Decisions, decide, dedup, families, results};
use super::support::{Doc, Folder, corpus, gzip, json_lines, jsonl, read_jsonl, zstd};

/// Runs with `--write` for kept and for removed; the files of both by name.
fn copies(input: &Path, options: &str) -> [BTreeMap<String, Vec<u8>>; 2] {
    ["kept", "removed"].map(|what| {
        let folder = Folder::new();
        let job = folder.join("job");
        dedup(&format!("--write {what} {options}")).path(input).option("-o", &job).run().exits(0);
        Decisions::read(&job);
        assert_eq!(job.join("kept").exists(), what == "kept");
        results(&job.join(what))
    })
}

/// Asserts that copies of `pieces`, one for each document, hold those that stay and those that go.
#[track_caller]
fn assert_pieces(
    name: &str,
    content: &[u8],
    head: &[u8],
    pieces: &[Vec<u8>],
    unpack: fn(&[u8]) -> Vec<u8>,
    pack: fn(&[u8]) -> Vec<u8>,
    documents: &[Doc],
) {
    let folder = Folder::new();
    assert_eq!([head, &pieces.concat()].concat(), content);
    folder.file(format!("in/{name}"), pack(content));
    let gone: Vec<usize> =
        decide(documents, "").removed.iter().map(|line| line["n"].as_u64().unwrap() as usize).collect();
    assert!(gone.len() > 10);
    let [kept, removed] = copies(&folder.join("in"), "");
    for (files, wanted) in [(kept, false), (removed, true)] {
        assert_eq!(files.keys().collect::<Vec<_>>(), [name]);
        let chosen = pieces.iter().enumerate().filter(|(n, _)| gone.contains(n) == wanted);
        let expected: Vec<u8> =
            [head.to_vec(), chosen.flat_map(|(_, piece)| piece.clone()).collect()].concat();
        assert!(unpack(&files[name]) == expected, "{name}");
    }
}

fn same(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut out).unwrap();
    out
}

fn unzstd(bytes: &[u8]) -> Vec<u8> {
    ::zstd::decode_all(bytes).unwrap()
}

/// One line for each document, with odd blanks and members that a rewrite would not keep.
fn odd_lines(documents: &[Doc]) -> Vec<Vec<u8>> {
    let line = |document: &Doc| {
        format!("{{ \"id\" :\"{}\",  \"x\":1.0e2, \"text\": {}  }}\n", document.id, json!(document.text))
            .into_bytes()
    };
    documents.iter().map(line).collect()
}

#[test]
fn lines_are_copied_byte_by_byte() {
    let documents = families(200, 1);
    let pieces = odd_lines(&documents);
    let content = pieces.concat();
    assert_pieces("a.jsonl", &content, b"", &pieces, same, same, &documents);
    assert_pieces("a.jsonl.gz", &content, b"", &pieces, gunzip, gzip, &documents);
    assert_pieces("a.jsonl.zst", &content, b"", &pieces, unzstd, zstd, &documents);
}

#[test]
fn tables_are_copied_with_their_head() {
    let documents = families(200, 2);
    let row =
        |document: &Doc| format!("{},\"{}\",\"a \"\"b\"\"\"\r\n", document.id, document.text).into_bytes();
    let pieces: Vec<Vec<u8>> = documents.iter().map(row).collect();
    let head = b"id,text,more\r\n";
    let content = [&head[..], &pieces.concat()].concat();
    assert_pieces("a.csv", &content, head, &pieces, same, same, &documents);
}

#[test]
fn trec_records_are_copied_byte_by_byte() {
    let documents = families(150, 3);
    let record = |document: &Doc| {
        format!("<DOC>\n<DOCNO> {} </DOCNO>\n<TEXT>\n{}\n</TEXT>\n</DOC>\n", document.id, document.text)
            .into_bytes()
    };
    let pieces: Vec<Vec<u8>> = documents.iter().map(record).collect();
    assert_pieces("a.trec", &pieces.concat(), b"", &pieces, same, same, &documents);
}

#[test]
fn warc_records_are_copied_byte_by_byte_and_skipped_ones_stay() {
    let folder = Folder::new();
    let documents = families(150, 4);
    let source = folder.file("source.jsonl", jsonl(&documents));
    std::fs::create_dir(folder.join("in")).unwrap();
    corpus("convert --progress none").path(&source).option("-o", folder.join("in/a.warc.gz")).run().exits(0);
    let whole = gunzip(&std::fs::read(folder.join("in/a.warc.gz")).unwrap());
    let records = records(&whole);
    let count = |kind: &str, records: &[Vec<u8>]| {
        let line = format!("WARC-Type: {kind}\r\n");
        records.iter().filter(|record| contains(record, line.as_bytes())).count()
    };
    let [kept, removed] = copies(&folder.join("in"), "");
    let [kept, removed] = [kept, removed].map(|files| self::records(&gunzip(&files["a.warc.gz"])));
    let infos = count("warcinfo", &records);
    assert_eq!(count("warcinfo", &kept), infos);
    let mut all: Vec<&Vec<u8>> =
        kept.iter().chain(&removed).filter(|record| !contains(record, b"WARC-Type: warcinfo\r\n")).collect();
    all.sort();
    let mut expected: Vec<&Vec<u8>> =
        records.iter().filter(|record| !contains(record, b"WARC-Type: warcinfo\r\n")).collect();
    expected.sort();
    assert_eq!(all.len(), 150);
    assert!(all == expected, "records differ");
    assert!(removed.len() > 10);
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// A WARC file cut where its records begin.
fn records(bytes: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let mut starts: Vec<usize> = text.match_indices("WARC/1.").map(|(at, _)| at).collect();
    starts.push(text.len());
    starts.windows(2).map(|ends| bytes[ends[0]..ends[1]].to_vec()).collect()
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_rows_are_equal() {
    let folder = Folder::new();
    let documents = families(200, 5);
    let source = folder.file("source.jsonl", jsonl(&documents));
    std::fs::create_dir(folder.join("in")).unwrap();
    corpus("convert --progress none").path(&source).option("-o", folder.join("in/a.parquet")).run().exits(0);
    let gone: Vec<String> = decide(&documents, "").removed_ids().into_iter().map(str::to_owned).collect();
    let [kept, removed] = copies(&folder.join("in"), "");
    for (files, wanted) in [(kept, false), (removed, true)] {
        let copy = folder.file("copy.parquet", &files["a.parquet"]);
        let back = folder.join("back.jsonl");
        corpus("convert --progress none").path(copy).option("-o", &back).run().exits(0);
        let expected: Vec<Doc> =
            documents.iter().filter(|document| gone.contains(&document.id) == wanted).cloned().collect();
        assert!(read_jsonl(&back) == expected);
    }
}

/// The documents of one gathered file.
fn gathered(files: &BTreeMap<String, Vec<u8>>, name: &str) -> Vec<Value> {
    assert_eq!(files.keys().collect::<Vec<_>>(), [name]);
    let text = String::from_utf8(unzstd(&files[name])).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn files_that_are_documents_are_copied_as_files() {
    let folder = Folder::new();
    let documents = families(60, 6);
    let mut expected = BTreeMap::new();
    for (number, document) in documents.iter().enumerate() {
        let (ending, content) = match number % 3 {
            0 => ("txt", document.text.clone()),
            1 => ("html", format!("<html><body>{}</body></html>", document.text)),
            _ => ("eml", format!("Subject: one rose\nMIME-Version: 1.0\n\n{}\n", document.text)),
        };
        let name = format!("{}/{}.{ending}", number % 4, document.id);
        folder.file(format!("in/{name}"), &content);
        expected.insert(name, content.into_bytes());
    }
    let [kept, removed] = copies(&folder.join("in"), "");
    assert!(!removed.is_empty() && kept.keys().all(|name| !removed.contains_key(name)));
    let all: BTreeMap<String, Vec<u8>> = kept.into_iter().chain(removed).collect();
    assert!(all == expected);
}

/// A dump of a wiki with these documents as its pages.
fn wiki(documents: &[Doc]) -> String {
    let page = |(n, document): (usize, &Doc)| {
        format!(
            "<page><title>{n}</title><ns>0</ns><id>{n}</id><revision><id>{n}</id><text>{}</text></revision></page>\n",
            document.text
        )
    };
    let pages: String = documents.iter().enumerate().map(page).collect();
    format!("<mediawiki>\n{pages}</mediawiki>\n")
}

#[test]
fn pages_of_a_wiki_go_into_one_file() {
    let folder = Folder::new();
    let documents = families(30, 6);
    folder.file("in/wiki.xml", wiki(&documents));
    let [kept, removed] = copies(&folder.join("in"), "");
    let kept = gathered(&kept, "kept.jsonl.zst");
    let removed = gathered(&removed, "removed.jsonl.zst");
    assert!(!removed.is_empty());
    assert_eq!(kept.len() + removed.len(), 30);
}

#[test]
fn standard_input_goes_into_one_file_line_by_line() {
    let documents = families(200, 7);
    let pieces = odd_lines(&documents);
    let mut all = Vec::new();
    for what in ["kept", "removed"] {
        let folder = Folder::new();
        let job = folder.join("job");
        dedup(&format!("- --write {what}")).option("-o", &job).run_with(&pieces.concat()).exits(0);
        let files = results(&job.join(what));
        let name = format!("{what}.jsonl.zst");
        assert_eq!(files.keys().collect::<Vec<_>>(), [&name]);
        all.extend(unzstd(&files[&name]).split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec));
    }
    all.sort();
    let mut expected = pieces;
    expected.sort();
    assert!(all == expected);
}

#[test]
fn shards_keep_their_names_and_their_folders() {
    let folder = Folder::new();
    let documents = families(90, 8);
    let names = ["x/a.jsonl", "x/deep/a.jsonl", "y/a.jsonl.gz"];
    for (name, part) in names.iter().zip(documents.chunks(30)) {
        let lines = jsonl(part);
        folder.file(format!("in/{name}"), if name.ends_with("gz") { gzip(&lines) } else { lines });
    }
    let [kept, removed] = copies(&folder.join("in"), "--threads 2");
    assert_eq!(kept.keys().collect::<Vec<_>>(), names);
    assert_eq!(removed.keys().collect::<Vec<_>>(), names);
    let lines = |files: &BTreeMap<String, Vec<u8>>| {
        let unpacked = files
            .iter()
            .flat_map(|(name, bytes)| if name.ends_with("gz") { gunzip(bytes) } else { bytes.clone() });
        unpacked.filter(|byte| *byte == b'\n').count()
    };
    assert_eq!(lines(&kept) + lines(&removed), 90);
}

#[test]
fn a_copy_deduplicates_to_itself() {
    let folder = Folder::new();
    folder.file("in/a.jsonl", jsonl(&families(200, 9)));
    dedup("--write kept --method exact")
        .path(folder.join("in"))
        .option("-o", folder.join("job"))
        .run()
        .exits(0);
    dedup("--method exact").path(folder.join("job/kept")).option("-o", folder.join("again")).run().exits(0);
    assert_eq!(Decisions::read(&folder.join("again")).removed, [] as [Value; 0]);
}

#[test]
fn kept_records_carry_their_cluster_and_its_size() {
    let folder = Folder::new();
    folder.file("in/a.jsonl", jsonl(&families(200, 10)));
    let job = folder.join("job");
    dedup("--write kept --annotate").path(folder.join("in")).option("-o", &job).run().exits(0);
    let decisions = Decisions::read(&job);
    let kept = json_lines(&job.join("kept/a.jsonl"));
    assert_eq!(kept.len() as u64, decisions.count("kept"));
    let mut copies = 0;
    for line in &kept {
        let number: u64 = line["id"].as_str().unwrap()[4..].parse().unwrap();
        let cluster = decisions.clusters.iter().find(|cluster| cluster["cluster"] == number);
        let size = cluster.map_or(1, |cluster| cluster["members"].as_array().unwrap().len() as u64);
        let values: Vec<&Value> = line
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| !["id", "url", "text"].contains(&name.as_str()))
            .map(|(_, value)| value)
            .collect();
        assert_eq!(values.len(), 2, "{line}");
        assert!(values.contains(&&json!(number)) && values.contains(&&json!(size)), "{line}");
        copies += size;
    }
    assert_eq!(copies, 200);
    folder.file("plain/a.txt", "one two three");
    let done =
        dedup("--write kept --annotate").path(folder.join("plain")).option("-o", folder.join("x")).run();
    done.refuses_with(2, &["--annotate cannot write into", "a.txt"]);
}

#[test]
fn kept_removed_and_rejected_records_are_all_there_are() {
    let folder = Folder::new();
    let documents = families(40, 11);
    let lines = jsonl(&documents);
    let bad: [&[u8]; 2] = [b"{\"id\":1}\n", b"{broken\n"];
    let (first, second) = lines.split_at(lines.iter().position(|byte| *byte == b'\n').unwrap() + 1);
    folder.file("in/x/a.jsonl.gz", gzip(&[first, bad[0], second, bad[1]].concat()));
    folder.file("in/b.jsonl", "{\"id\":\"b\",\"text\":\"something else altogether\"}\n");
    let mut all = Vec::new();
    for what in ["kept", "removed"] {
        let job = folder.join(what);
        dedup(&format!("--write {what}")).path(folder.join("in")).option("-o", &job).run().exits(0);
        all.extend(gunzip(&results(&job.join(what))["x/a.jsonl.gz"]));
        let rejected = results(&job.join("rejected"));
        assert_eq!(
            rejected.keys().collect::<Vec<_>>(),
            ["x/a.jsonl.gz"],
            "of the other nothing was rejected"
        );
        assert_eq!(gunzip(&rejected["x/a.jsonl.gz"]), bad.concat());
        let ids: Vec<Value> =
            json_lines(&job.join("rejected.jsonl")).iter().map(|line| line["id"].clone()).collect();
        assert_eq!(ids, [Value::from("1"), Value::Null]);
    }
    let sorted = |bytes: &[u8]| {
        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&all), sorted(&lines));
    // Without copies there is no such folder.
    let job = folder.join("none");
    dedup("").path(folder.join("in")).option("-o", &job).run().exits(0);
    assert!(!job.join("rejected").exists());
}

#[test]
fn documents_that_a_method_refuses_are_rejected_and_not_kept() {
    let folder = Folder::new();
    folder.file(
        "in/a.jsonl",
        "{\"id\":\"a\",\"text\":\"00ff00ff00ff00ff\"}\n{\"id\":\"b\",\"text\":\"no number\"}\n",
    );
    let job = folder.join("job");
    let options = "--method simhash:from=hex --unverified --write kept";
    dedup(options).path(folder.join("in")).option("-o", &job).run().exits(0);
    let only = |what: &str| results(&job.join(what))["a.jsonl"].clone();
    assert!(contains(&only("kept"), b"\"a\"") && !contains(&only("kept"), b"\"b\""));
    assert!(contains(&only("rejected"), b"\"b\"") && !contains(&only("rejected"), b"\"a\""));
}

#[test]
fn a_shard_named_like_the_gathered_file_costs_no_document() {
    let folder = Folder::new();
    let documents = families(40, 12);
    folder.file("in/kept.jsonl.zst", zstd(&jsonl(&documents[..20])));
    folder.file("in/wiki.xml", wiki(&documents[20..]));
    let job = folder.join("job");
    let done = dedup("--write kept").path(folder.join("in")).option("-o", &job).run();
    if done.code == Some(0) {
        let files = results(&job.join("kept"));
        let lines = files.values().map(|bytes| unzstd(bytes).iter().filter(|byte| **byte == b'\n').count());
        assert_eq!(lines.sum::<usize>() as u64, Decisions::read(&job).count("kept"));
    }
}

#[test]
fn copies_made_before_and_after_a_stop_are_of_one_kind() {
    let folder = Folder::new();
    folder.file("in/a.jsonl", jsonl(&families(60, 13)));
    let run = |options: &str, job: &std::path::Path| {
        dedup(&format!("--write kept {options}")).path(folder.join("in")).option("-o", job)
    };
    run("--annotate", &folder.join("expected/job")).run().exits(0);
    let job = folder.join("out/job");
    super::jobs::blocked(run("", &job), &job, &["report.html"]);
    let done = run("--annotate", &job).run();
    if done.code == Some(0) {
        super::job_support::assert_same(&results(&folder.join("expected/job")), &results(&job), "annotated");
    }
}

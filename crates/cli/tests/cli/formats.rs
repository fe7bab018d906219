//! The same documents in every format and compression are the same documents.

use std::io::Write;
use std::path::PathBuf;

use serde_json::Value;

use super::support::{
    Doc, Folder, WORDS, assert_counts, bzip2, corpus, documents, gzip, jsonl, lz4, stats, xz, zstd,
};

const COUNT: usize = 30;

fn table(documents: &[Doc], delimiter: char) -> Vec<u8> {
    let mut out = format!("id{delimiter}url{delimiter}text\n");
    for Doc { id, url, text } in documents {
        let url = url.as_deref().unwrap_or_default();
        out.push_str(&format!("{id}{delimiter}{url}{delimiter}\"{text}\"\n"));
    }
    out.into_bytes()
}

fn warc(documents: &[Doc]) -> Vec<u8> {
    let mut out = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 3\r\n\r\na:b\r\n\r\n".to_vec();
    for Doc { id, url, text } in documents {
        let body = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{text}");
        let url = url.as_deref().unwrap_or("https://site.example/none");
        write!(
            out,
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-TREC-ID: {id}\r\nWARC-Target-URI: {url}\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
        .unwrap();
    }
    out
}

fn trec(documents: &[Doc]) -> Vec<u8> {
    let record =
        |doc: &Doc| format!("<DOC>\n<DOCNO> {} </DOCNO>\n<TEXT>\n{}\n</TEXT>\n</DOC>\n", doc.id, doc.text);
    documents.iter().map(record).collect::<String>().into_bytes()
}

/// Every format that can be written by hand, by its name.
fn by_hand() -> Vec<(&'static str, Vec<u8>)> {
    let documents = documents(COUNT);
    vec![
        ("jsonl", jsonl(&documents)),
        ("csv", table(&documents, ',')),
        ("tsv", table(&documents, '\t')),
        ("warc", warc(&documents)),
        ("trec", trec(&documents)),
    ]
}

#[track_caller]
fn assert_same(summary: &Value, format: &str) {
    assert_counts(summary, COUNT as u64, (COUNT * WORDS) as u64, 0);
    assert_eq!(summary["formats"][format], 1, "{summary}");
}

#[test]
fn every_format_and_compression_holds_the_same_documents() {
    let folder = Folder::new();
    for (format, bytes) in by_hand() {
        assert_same(&stats([folder.file(format!("a.{format}"), &bytes)]), format);
        assert_same(&stats([folder.file(format!("a.{format}.gz"), gzip(&bytes))]), format);
        assert_same(&stats([folder.file(format!("a.{format}.zst"), zstd(&bytes))]), format);
        assert_same(&stats([folder.file(format!("a.{format}.bz2"), bzip2(&bytes))]), format);
        assert_same(&stats([folder.file(format!("a.{format}.xz"), xz(&bytes))]), format);
        assert_same(&stats([folder.file(format!("a.{format}.lz4"), lz4(&bytes))]), format);
    }
}

#[test]
fn the_name_does_not_matter_and_standard_input_needs_none() {
    let folder = Folder::new();
    for (format, bytes) in by_hand() {
        assert_same(&stats([folder.file("no-ending", &bytes)]), format);
        for bytes in [bytes.clone(), zstd(&bytes)] {
            let done = corpus("stats - --json").run_with(&bytes).exits(0);
            assert_same(&done.json(), format);
        }
    }
}

#[test]
fn a_file_of_many_members_is_read_to_its_end() {
    let folder = Folder::new();
    let bytes = jsonl(&documents(COUNT));
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let kinds = [
        ("a.gz", gzip as fn(&[u8]) -> Vec<u8>),
        ("a.zst", zstd),
        ("a.bz2", bzip2),
        ("a.xz", xz),
        ("a.lz4", lz4),
    ];
    for (name, compress) in kinds {
        let members = [compress(first), compress(second)].concat();
        assert_same(&stats([folder.file(name, members)]), "jsonl");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_holds_the_same_documents() {
    let folder = Folder::new();
    let source = folder.file("a.jsonl", jsonl(&documents(COUNT)));
    let parquet = folder.join("a.parquet");
    corpus("convert").path(source).option("-o", &parquet).run().exits(0);
    assert_same(&stats([&parquet]), "parquet");
    let piped = corpus("stats - --json").run_with(&std::fs::read(&parquet).unwrap()).exits(0);
    assert_same(&piped.json(), "parquet");
}

/// A Parquet file with the columns `id` and `text`, compressed so.
#[cfg(feature = "parquet")]
fn parquet(documents: &[Doc], codec: parquet::basic::Compression) -> Vec<u8> {
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    let schema = "message m { REQUIRED BYTE_ARRAY id (STRING); REQUIRED BYTE_ARRAY text (STRING); }";
    let schema = std::sync::Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let properties = std::sync::Arc::new(WriterProperties::builder().set_compression(codec).build());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for cell in [|doc: &Doc| doc.id.clone(), |doc: &Doc| doc.text.clone()] {
        let values: Vec<ByteArray> =
            documents.iter().map(|document| ByteArray::from(cell(document).into_bytes())).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

#[cfg(feature = "parquet")]
#[test]
fn every_codec_of_parquet_is_read_and_copied() {
    use parquet::basic::Compression;
    let folder = Folder::new();
    let documents = documents(COUNT);
    for codec in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::BROTLI(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ] {
        let file = folder.file("a.parquet", parquet(&documents, codec));
        assert_same(&stats([&file]), "parquet");
        let job = folder.join(format!("{codec:?}"));
        super::job_support::dedup("--write kept").path(&file).option("-o", &job).run().exits(0);
        assert_same(&stats([job.join("kept/a.parquet")]), "parquet");
    }
}

/// LZO has no decoder, and that is no damage: the footer says so, before any page is looked at.
#[cfg(feature = "parquet")]
#[test]
fn parquet_with_lzo_is_refused_before_the_work() {
    let folder = Folder::new();
    let mut bytes = parquet(&documents(COUNT), parquet::basic::Compression::SNAPPY);
    // Field 4 of a column's metadata, the codec, stands behind its path: SNAPPY is 1 and LZO 3, as zigzag numbers.
    for name in ["id", "text"] {
        let path = [b"\x19\x18", &[name.len() as u8][..], name.as_bytes(), b"\x15\x02"].concat();
        let at = bytes.windows(path.len()).rposition(|window| window == path).expect("a path and a codec");
        bytes[at + path.len() - 1] = 6;
    }
    let file = folder.file("a.parquet", bytes);
    let sentence = "a.parquet is a Parquet file whose column \"id\" is compressed with LZO, which cannot be read; write \
                    it with another codec";
    corpus("stats").path(&file).run().fails(1, sentence);
}

/// One frame of zstd with so wide a window, as `zstd --long` writes it when it does not know the length.
fn long(bytes: &[u8], window_log: u32) -> Vec<u8> {
    let mut encoder = ::zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.window_log(window_log).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn zstd_with_windows_up_to_two_gibibytes_is_read() {
    let folder = Folder::new();
    let bytes = jsonl(&documents(COUNT));
    for window_log in [27, 28, 31] {
        assert_same(&stats([folder.file("a.jsonl.zst", long(&bytes, window_log))]), "jsonl");
        // What the frame holds is what its decoder takes.
        let job = folder.join(format!("job{window_log}"));
        let dedup =
            super::job_support::dedup("--memory 256M").path(folder.join("a.jsonl.zst")).option("-o", &job);
        dedup.run().exits(0);
    }
}

#[test]
fn a_zstd_window_that_does_not_fit_is_refused_with_the_memory_that_would_do() {
    let folder = Folder::new();
    // More than a quarter of the room for buffers, mostly of one character.
    let long_line = format!("{{\"id\":\"x\",\"text\":\"a{}\"}}\n", " ".repeat(30 << 20));
    let file = folder.file("a.jsonl.zst", long(long_line.repeat(3).as_bytes(), 30));
    let job = folder.join("job");
    let done =
        super::job_support::dedup("--memory 256M --threads 1").path(&file).option("-o", &job).run().exits(1);
    let sentence = "lookalike: a.jsonl.zst is compressed with a window of 1024 MiB, and one decoder may take 44 MiB here; \
                    give --memory 4174M, or compress it with a smaller window";
    assert!(done.stderr.contains(sentence), "{}", done.stderr);
}

#[test]
fn a_folder_of_plain_files_has_one_document_in_each() {
    let folder = Folder::new();
    for Doc { id, text, .. } in documents(COUNT) {
        folder.file(format!("texts/{}/{id}.txt", &id[..8]), text);
    }
    let summary = stats([folder.join("texts")]);
    assert_counts(&summary, COUNT as u64, (COUNT * WORDS) as u64, 0);
    assert_eq!(summary["formats"]["text"], COUNT as u64);
}

#[test]
fn mail_and_wiki_pages_are_documents_too() {
    let folder = Folder::new();
    let message = "From a@b.example Thu Aug 22 12:36:23 2002\nSubject: one rose\n\ntwo roses\n\n";
    let mbox = folder.file("a.mbox", message.repeat(3));
    assert_eq!(stats([mbox])["accepted"], 3);
    for number in 0..2 {
        folder.file(format!("mail/cur/{number}"), "Subject: one rose\n\ntwo roses\n");
    }
    std::fs::create_dir_all(folder.join("mail/new")).unwrap();
    assert_eq!(stats([folder.join("mail")])["formats"]["email"], 2);
    let page = "<page><title>Rose</title><ns>0</ns><id>1</id><revision><id>2</id><text>one rose</text></revision></page>";
    let wiki = folder.file("wiki.xml", format!("<mediawiki>{page}</mediawiki>"));
    assert_counts(&stats([wiki]), 1, 2, 0);
}

#[test]
fn inputs_come_in_the_order_given_and_patterns_sorted() {
    let folder = Folder::new();
    for name in ["b.txt", "a.txt", "c.txt"] {
        folder.file(name, name);
    }
    let titles = |inputs: &[&str]| -> Vec<String> {
        let done = inputs.iter().fold(corpus("head"), |run, input| run.path(input));
        let done = done.inside(folder.path()).run().exits(0);
        done.stdout
            .lines()
            .filter_map(|line| line.strip_prefix("== "))
            .map(|line| line[..5].to_owned())
            .collect()
    };
    assert_eq!(titles(&["c.txt", "a.txt"]), ["c.txt", "a.txt"]);
    assert_eq!(titles(&["*.txt"]), ["a.txt", "b.txt", "c.txt"]);
    assert_eq!(titles(&["."]), ["a.txt", "b.txt", "c.txt"]);
}

#[test]
fn fields_can_have_other_names() {
    let folder = Folder::new();
    let line = r#"{"key":"k","body":"one rose","link":"https://e.example/"}"#;
    let file: PathBuf = folder.file("a.jsonl", line);
    let done = corpus("head --id-field key --text-field body --url-field link").path(file).run().exits(0);
    assert_eq!(done.stdout, "== k  https://e.example/  (2 words)\none rose\n\n");
}

#[test]
fn two_records_with_one_id_are_two_documents_and_reported() {
    let folder = Folder::new();
    let file = folder.file("a.jsonl", [jsonl(&documents(3)), jsonl(&documents(2))].concat());
    let summary = stats([file]);
    assert_counts(&summary, 5, 5 * WORDS as u64, 0);
    assert_eq!((&summary["duplicate_ids"], &summary["exact_duplicates"]), (&2.into(), &2.into()));
}

use std::fmt::Write as _;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::Corpus;
use crate::formats::testing::{OwnedItem, Page, compress, damaged};

const COMPRESSIONS: [Compression; 6] = [
    Compression::None,
    Compression::Gzip,
    Compression::Zstd,
    Compression::Bzip2,
    Compression::Xz,
    Compression::Lz4,
];

/// A folder with a shard in it and a place for its copy.
struct CopyFixture {
    folder: tempfile::TempDir,
    corpus: Corpus,
}

impl CopyFixture {
    fn with(name: &str, content: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        let corpus = Corpus::open(&[path], ReadOptions::default()).unwrap();
        CopyFixture { folder, corpus }
    }

    /// The copy bears the ending of the source, as copies do.
    fn target(&self) -> PathBuf {
        self.folder.path().join(format!("copy-{}", self.corpus.shards()[0].name))
    }

    fn copy(&self, decide: Decide<'_>) -> Result<Option<CopyCounts>, CorpusError> {
        let mut go_on = |_| ControlFlow::Continue(());
        copy_shard(&self.corpus.shards()[0], self.corpus.options(), &self.target(), decide, &mut go_on)
    }

    fn copy_plain(&self, mut keep: impl FnMut(u64) -> bool) -> CopyCounts {
        let mut decide = |record| if keep(record) { Fate::Keep } else { Fate::Drop };
        self.copy(Decide::Plain(&mut decide)).unwrap().unwrap()
    }

    fn annotate(&self, mut keep: impl FnMut(u64) -> bool) -> Result<CopyCounts, CorpusError> {
        let mut decide =
            |record| keep(record).then_some(Note { cluster: record + 100, copies: u64::MAX - record });
        self.copy(Decide::Annotated(&mut decide)).map(Option::unwrap)
    }

    fn copied(&self) -> Vec<u8> {
        fs::read(self.target()).unwrap()
    }
}

/// All items of a file, without the positions of its documents.
fn items(path: &Path) -> Vec<OwnedItem> {
    let corpus = Corpus::open(&[path], ReadOptions::default()).unwrap();
    let mut reader = corpus.shards()[0].open(corpus.options()).unwrap();
    let mut all = Vec::new();
    while let Some(item) = reader.next().unwrap() {
        all.push(match item.into() {
            OwnedItem::Document(page) => OwnedItem::Document(Page { position: 0, ..page }),
            other => other,
        });
    }
    all
}

/// A file of every record format with ten documents.
fn files() -> Vec<(&'static str, String)> {
    let mut all: Vec<(&'static str, String)> = Vec::new();
    let lines = |line: fn(u32) -> String| (0..10).map(line).collect::<String>();
    all.push(("a.jsonl", lines(|n| format!("{{\"id\":\"d{n}\", \"text\":\"text {n}\"}}\n"))));
    all.push((
        "a.csv",
        format!("id,text\r\n{}", lines(|n| format!("d{n},\"line {n}\r\nand \"\"{n}\"\"\"\r\n"))),
    ));
    all.push(("a.tsv", format!("id\ttext\n{}", lines(|n| format!("d{n}\ttext \"{n}\n")))));
    all.push(("a.trec", lines(|n| format!("<DOC>\n<DOCNO> d{n} </DOCNO>\n<TEXT>text {n}</TEXT>\n</DOC>\n"))));
    all.push((
        "a.mbox",
        lines(|n| {
            format!(
                "From a@b.example Thu Aug 22 12:36:23 2002\nMessage-ID: <d{n}@b>\n\ntext {n}\n>From here\n\n"
            )
        }),
    ));
    let mut warc = "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 3\r\n\r\nx: \r\n\r\n".to_owned();
    let mut arc = "filedesc://x.arc 0.0.0.0 19970404000000 text/plain 71\n1 0 Archive\nURL IP-address Archive-date Content-type Archive-length\n\n\n\n\n".to_owned();
    for n in 0..10 {
        let body = format!("text {n}");
        let length = body.len();
        write!(
            warc,
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-TREC-ID: d{n}\r\nContent-Length: {length}\r\n\r\n{body}\r\n\r\n"
        )
        .unwrap();
        write!(arc, "http://e/{n} 1.2.3.4 19970404123456 text/plain {length}\n{body}\n").unwrap();
    }
    all.push(("a.warc", warc));
    all.push(("a.arc", arc));
    all
}

/// Ids follow the record number where a format has none; then they change when records before them go.
fn without_own_id(mut item: OwnedItem) -> OwnedItem {
    if let OwnedItem::Document(page) = &mut item
        && page.id.contains('#')
    {
        page.id.clear();
    }
    item
}

#[test]
fn every_third_record_can_be_dropped_from_every_format_and_compression() {
    for (name, content) in files() {
        for compression in COMPRESSIONS {
            let file = compress(compression, content.as_bytes());
            let fixture = CopyFixture::with(&format!("{name}{}", compression.suffix()), &file);
            let before = items(&fixture.folder.path().join(&fixture.corpus.shards()[0].name));
            let copied = fixture.copy_plain(|record| record % 3 != 0);
            let skipped = u64::from(name == "a.warc" || name == "a.arc");
            assert_eq!(
                copied,
                CopyCounts { kept: 6, dropped: 4, rejected: 0, skipped, source: copied.source },
                "{name}"
            );
            let mut record = 0;
            let kept = before.into_iter().filter(|item| {
                let dropped = matches!(item, OwnedItem::Document(_)) && record % 3 == 0;
                record += u64::from(matches!(item, OwnedItem::Document(_)));
                !dropped
            });
            let after: Vec<OwnedItem> = items(&fixture.target()).into_iter().map(without_own_id).collect();
            assert_eq!(after, kept.map(without_own_id).collect::<Vec<_>>(), "{name} {compression:?}");
            assert_eq!(Compression::detect(&fixture.copied(), Compression::None), compression, "{name}");
        }
    }
}

#[test]
fn a_file_of_which_nothing_is_dropped_is_copied_as_it_is() {
    for (name, content) in files() {
        for compression in COMPRESSIONS {
            let file = compress(compression, content.as_bytes());
            let fixture = CopyFixture::with(&format!("{name}{}", compression.suffix()), &file);
            fixture.copy_plain(|_| true);
            assert_eq!(fixture.copied(), file, "{name} {compression:?}");
        }
    }
    for (name, content) in [
        ("a.jsonl", "\u{feff}\n\n{\"text\":\"a\"}\r\n \n{\"text\":\"b\"}"),
        ("a.csv", "\u{feff}\r\ntext,id\r\n\r\na,1\rb,2\n\n\"c\",3"),
        ("a.trec", "\n<DOC><DOCNO>1</DOCNO>a</DOC><DOC><DOCNO>2</DOCNO>b</DOC>"),
        ("a.warc", "\r\nWARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 1\r\n\r\nx"),
        ("a.jsonl", ""),
        ("a.csv", ""),
    ] {
        let fixture = CopyFixture::with(name, content.as_bytes());
        assert_eq!(fixture.copy_plain(|_| true).rejected, 0);
        assert_eq!(fixture.copied(), content.as_bytes(), "{name}");
    }
}

#[test]
fn what_stands_before_the_first_record_stays_there() {
    let fixture = CopyFixture::with("a.csv", "\u{feff}id,text\na,1\nb,2\n".as_bytes());
    fixture.copy_plain(|record| record == 1);
    assert_eq!(fixture.copied(), "\u{feff}id,text\nb,2\n".as_bytes());
    let fixture = CopyFixture::with("a.jsonl", "\u{feff}{\"text\":\"a\"}\n{\"text\":\"b\"}".as_bytes());
    fixture.copy_plain(|record| record == 1);
    assert_eq!(fixture.copied(), "\u{feff}{\"text\":\"b\"}".as_bytes());
    let fixture = CopyFixture::with("a.csv", b"id,text\na,1\n");
    fixture.copy_plain(|_| false);
    assert_eq!(fixture.copied(), b"id,text\n");
}

#[test]
fn rejected_records_are_counted_and_left_out() {
    let fixture =
        CopyFixture::with("a.jsonl", b"{\"text\":\"a\"}\noops\n{\"text\":\"b\"}\n{}\n{\"text\":\"c\"}\n");
    let mut asked = Vec::new();
    let copied = fixture.copy_plain(|record| {
        asked.push(record);
        record != 2
    });
    assert_eq!(copied, CopyCounts { kept: 2, dropped: 1, rejected: 2, skipped: 0, source: copied.source });
    assert_eq!(asked, [0, 2, 4]);
    assert_eq!(fixture.copied(), b"{\"text\":\"a\"}\n{\"text\":\"c\"}\n");
}

#[test]
fn a_file_that_is_one_document_is_copied_as_it_is_or_not_at_all() {
    let message = b"Subject: one rose\n\ntwo roses\n";
    for (name, content) in [
        ("a.txt", b"a text".to_vec()),
        ("a.html", b"<html>a page".to_vec()),
        ("a.eml", message.to_vec()),
        ("a.txt.xz", compress(Compression::Xz, b"a text")),
    ] {
        let fixture = CopyFixture::with(name, &content);
        let dropped = fixture.copy_plain(|_| false);
        assert!(dropped.source.is_some(), "{name}: a document that is dropped is compared all the same");
        let source = dropped.source;
        assert_eq!(
            (dropped, fixture.target().exists()),
            (CopyCounts { dropped: 1, source, ..CopyCounts::default() }, false)
        );
        assert_eq!(fixture.copy_plain(|_| true), CopyCounts { kept: 1, source, ..CopyCounts::default() });
        assert_eq!(fixture.copied(), content, "{name}");
    }
}

/// Copies what is rejected, and the documents with these record numbers.
fn copy_what_is_rejected(fixture: &CopyFixture, refused: &[u64]) -> RejectedCounts {
    let (shard, options) = (&fixture.corpus.shards()[0], fixture.corpus.options());
    let mut go_on = |_| ControlFlow::Continue(());
    let mut is_refused = |record: u64| refused.contains(&record);
    copy_rejected(shard, options, &fixture.target(), &mut is_refused, &mut go_on).unwrap().unwrap()
}

#[test]
fn rejected_records_are_copied_as_they_stand() {
    let good = "{\"text\":\"a\"}\n";
    let file = format!("oops\n{good}{good}{{\"id\":1}}\n\n{good}last");
    for compression in COMPRESSIONS {
        let fixture = CopyFixture::with("a.jsonl", &compress(compression, file.as_bytes()));
        assert_eq!(copy_what_is_rejected(&fixture, &[2]), RejectedCounts { records: 4, lost: 0 });
        let mut copied = Vec::new();
        crate::ListReader::open(&fixture.target()).unwrap().read_to_end(&mut copied).unwrap();
        assert_eq!(String::from_utf8(copied).unwrap(), format!("oops\n{good}{{\"id\":1}}\n\nlast"));
    }
    let fixture = CopyFixture::with("a.csv", b"id,text\n1\n2,two\n3,\"open\n4,four\n");
    assert_eq!(copy_what_is_rejected(&fixture, &[]), RejectedCounts { records: 2, lost: 0 });
    assert_eq!(fixture.copied(), b"id,text\n1\n3,\"open\n");
    let fixture = CopyFixture::with("a.jsonl", good.as_bytes());
    assert_eq!(copy_what_is_rejected(&fixture, &[]), RejectedCounts::default());
    assert!(!fixture.target().exists(), "there is nothing to copy");
}

#[test]
fn of_damaged_members_what_is_left_is_copied_and_the_rest_is_counted() {
    let record = |n: u32| {
        let body = format!("text number {n}");
        format!("WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n", body.len())
    };
    let members: Vec<Vec<u8>> = (0..4).map(|n| compress(Compression::Gzip, record(n).as_bytes())).collect();
    let mut file = members.concat();
    file[12..30].fill(0xff);
    let fixture = CopyFixture::with("a.warc.gz", &file);
    assert_eq!(copy_what_is_rejected(&fixture, &[]), RejectedCounts { records: 1, lost: 1 });
    assert!(!fixture.target().exists());
    let cut = [members.concat(), compress(Compression::Gzip, record(4).as_bytes())[..60].to_vec()].concat();
    let fixture = CopyFixture::with("a.warc.gz", &cut);
    let found = copy_what_is_rejected(&fixture, &[]);
    assert_eq!(found.records, 1);
    assert_eq!(found.lost == 0, fixture.target().exists());
}

#[test]
fn crawl_records_stay_members_of_their_own() {
    for (name, content) in files().iter().filter(|(name, _)| matches!(*name, "a.warc" | "a.arc")) {
        let fixture =
            CopyFixture::with(&format!("{name}.gz"), &compress(Compression::Gzip, content.as_bytes()));
        fixture.copy_plain(|record| record < 4);
        let file = fixture.copied();
        let mut rest = &file[..];
        let mut members = 0;
        while !rest.is_empty() {
            let mut decoder = flate2::bufread::GzDecoder::new(rest);
            std::io::copy(&mut decoder, &mut std::io::sink()).unwrap();
            rest = decoder.into_inner();
            members += 1;
        }
        assert_eq!(members, 5, "{name}");
    }
}

#[test]
fn a_copy_that_is_stopped_leaves_nothing() {
    let mut all = files();
    if cfg!(feature = "parquet") {
        all.push(("a.parquet", String::new()));
    }
    for (name, content) in all {
        let fixture = CopyFixture::with(name, content.as_bytes());
        #[cfg(feature = "parquet")]
        if name == "a.parquet" {
            write_parquet(&fixture.folder.path().join(name), 10);
        }
        let mut left = 3;
        let mut stop = |_| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut keep = |_| Fate::Keep;
        let shard = &fixture.corpus.shards()[0];
        let decide = Decide::Plain(&mut keep);
        let outcome =
            copy_shard(shard, fixture.corpus.options(), &fixture.target(), decide, &mut stop).unwrap();
        assert_eq!(outcome, None);
        assert_eq!(fs::read_dir(fixture.folder.path()).unwrap().count(), 1, "{name}");
    }
}

#[test]
fn what_cannot_be_copied_is_refused_in_a_sentence() {
    let fixture = CopyFixture::with("a.xml", b"<mediawiki></mediawiki>");
    let said = fixture.copy(Decide::Plain(&mut |_| Fate::Keep)).unwrap_err().to_string();
    assert_eq!(
        said,
        "a.xml is in format mediawiki, whose records cannot be copied as they stand; write its documents as JSON lines"
    );
    let (name, content) = files().remove(3);
    let said = CopyFixture::with(name, content.as_bytes()).annotate(|_| true).unwrap_err().to_string();
    assert_eq!(
        said,
        "a.trec is in format trec, which has no place for annotations; jsonl, csv, tsv, parquet and warc have one"
    );
    let fixture = CopyFixture::with("a.jsonl", b"{\"text\":\"a\",\"lookalike_cluster\":1}\n");
    let said = fixture.annotate(|_| true).unwrap_err().to_string();
    assert_eq!(
        said,
        "a.jsonl has lookalike_cluster already, from an earlier annotation; take it away, or write without annotations"
    );
    assert_eq!(fs::read_dir(fixture.folder.path()).unwrap().count(), 1);
}

/// Reads the two numbers of every document back, as extras.
fn notes(path: &Path, names: [&str; 2]) -> Vec<(u64, u64)> {
    let options = ReadOptions { extras: names.map(str::to_owned).to_vec(), ..ReadOptions::default() };
    let corpus = Corpus::open(&[path], options).unwrap();
    let mut reader = corpus.shards()[0].open(corpus.options()).unwrap();
    let mut all = Vec::new();
    while let Some(item) = reader.next().unwrap() {
        match item {
            Item::Document(document) => {
                let number = |index| document.extras.get(index).unwrap().parse().unwrap();
                all.push((number(0), number(1)));
            }
            Item::Rejected(rejection) => panic!("{rejection:?}"),
            Item::Skipped(_) => {}
        }
    }
    all
}

/// The notes that [`CopyFixture::annotate`] gives to the kept ones of ten records.
fn expected_notes() -> Vec<(u64, u64)> {
    (0..10).filter(|record| record % 3 != 0).map(|record| (record + 100, u64::MAX - record)).collect()
}

#[test]
fn notes_can_be_read_back_and_nothing_else_changes() {
    let names = |name: &str| {
        if name == "a.warc" {
            ["Lookalike-Cluster", "lookalike-copies"]
        } else {
            ["lookalike_cluster", "lookalike_copies"]
        }
    };
    for (name, content) in files() {
        if matches!(name, "a.trec" | "a.mbox" | "a.arc") {
            continue;
        }
        for compression in COMPRESSIONS {
            let file = compress(compression, content.as_bytes());
            let fixture = CopyFixture::with(&format!("{name}{}", compression.suffix()), &file);
            let copied = fixture.annotate(|record| record % 3 != 0).unwrap();
            assert_eq!((copied.kept, copied.dropped), (6, 4));
            assert_eq!(notes(&fixture.target(), names(name)), expected_notes(), "{name}");
            let annotated = items(&fixture.target());
            fixture.copy_plain(|record| record % 3 != 0);
            let without_raw = |item| match item {
                OwnedItem::Document(page) => OwnedItem::Document(Page { raw: None, ..page }),
                other => other,
            };
            let plain: Vec<OwnedItem> = items(&fixture.target()).into_iter().map(without_raw).collect();
            assert_eq!(annotated.into_iter().map(without_raw).collect::<Vec<_>>(), plain, "{name}");
        }
    }
}

#[test]
fn a_last_line_without_an_end_stays_so_with_its_note() {
    let fixture = CopyFixture::with("a.jsonl", b"{\"text\":\"a\"}\n{\"text\":\"b\"}");
    fixture.annotate(|record| record == 1).unwrap();
    let expected = "{\"text\":\"b\",\"lookalike_cluster\":101,\"lookalike_copies\":18446744073709551614}";
    assert_eq!(String::from_utf8(fixture.copied()).unwrap(), expected);
}

#[cfg(feature = "parquet")]
fn write_parquet(path: &Path, rows: usize) {
    let mut writer = crate::write::ParquetWriter::create(path).unwrap();
    for n in 0..rows {
        writer.document(&format!("d{n}"), None, &format!("text {n}")).unwrap();
    }
    writer.finish().unwrap();
}

#[cfg(feature = "parquet")]
mod parquet {
    use ::parquet::arrow::ArrowWriter;
    use ::parquet::file::properties::WriterProperties;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::Row;
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};

    use super::*;

    /// Ten rows in groups of four as others write them; row 5 has no text.
    fn file() -> Vec<u8> {
        let text = |n: i64| (n != 5).then(|| format!("text {n}"));
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("id", Arc::new(StringArray::from_iter_values((0..10).map(|n| format!("d{n}"))))),
            ("text", Arc::new(StringArray::from((0..10).map(text).collect::<Vec<_>>()))),
            ("n", Arc::new(Int64Array::from_iter_values(0..10))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(4)).build();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn rows(path: &Path) -> Vec<Row> {
        let file = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        file.get_row_iter(None).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn rows_are_left_out_and_those_without_text_too() {
        let fixture = CopyFixture::with("a.parquet", &file());
        let copied = fixture.copy_plain(|record| record % 3 != 0);
        assert_eq!(
            copied,
            CopyCounts { kept: 5, dropped: 4, rejected: 1, skipped: 0, source: copied.source }
        );
        let before = rows(&fixture.folder.path().join("a.parquet")).into_iter().enumerate();
        let kept: Vec<Row> =
            before.filter(|(row, _)| row % 3 != 0 && *row != 5).map(|(_, row)| row).collect();
        assert_eq!(rows(&fixture.target()), kept);
    }

    #[test]
    fn rejected_rows_are_copied_under_the_same_schema() {
        for (name, compression) in [("a.parquet", Compression::None), ("a.parquet.lz4", Compression::Lz4)] {
            let fixture = CopyFixture::with(name, &compress(compression, &file()));
            assert_eq!(copy_what_is_rejected(&fixture, &[7]), RejectedCounts { records: 2, lost: 0 });
            let mut copied = Vec::new();
            crate::ListReader::open(&fixture.target()).unwrap().read_to_end(&mut copied).unwrap();
            let plain = fixture.folder.path().join("plain");
            fs::write(&plain, copied).unwrap();
            let whole = fixture.folder.path().join("whole");
            fs::write(&whole, file()).unwrap();
            let before = rows(&whole);
            assert_eq!(rows(&plain), [before[5].clone(), before[7].clone()]);
            assert_eq!(
                copy_what_is_rejected(&CopyFixture::with(name, &compress(compression, &sound())), &[])
                    .records,
                0
            );
        }
    }

    fn sound() -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        write_parquet(&folder.path().join("a"), 5);
        fs::read(folder.path().join("a")).unwrap()
    }

    #[test]
    fn rows_that_cannot_be_decoded_are_counted() {
        let mut bytes = file();
        // The first pages of the file belong to its first row group.
        bytes[4..40].fill(0xff);
        let fixture = CopyFixture::with("a.parquet", &bytes);
        let found = copy_what_is_rejected(&fixture, &[]);
        assert_eq!((found.records, found.lost), (5, 4), "row 5 has no text and is copied");
        assert_eq!(rows(&fixture.target()).len(), 1);
    }

    /// A file with columns of every kind that Parquet has no word for, as Arrow writes it.
    fn arrow_file() -> (Vec<u8>, arrow_schema::SchemaRef) {
        use arrow_array::types::Int32Type;
        use arrow_array::*;
        let list = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
            (0..3).map(|n| Some(vec![Some(n), None])),
            2,
        );
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("text", Arc::new(LargeStringArray::from_iter_values(["a", "b", "c"]))),
            ("pair", Arc::new(list)),
            ("word", Arc::new(["x", "y", "x"].into_iter().collect::<DictionaryArray<Int32Type>>())),
            ("took", Arc::new(DurationSecondArray::from_iter_values([1, 2, 3]))),
            (
                "at",
                Arc::new(
                    TimestampMillisecondArray::from_iter_values([1, 2, 3]).with_timezone("Europe/Berlin"),
                ),
            ),
            ("view", Arc::new(StringViewArray::from_iter_values(["a", "b", "c"]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let metadata = [("who".to_owned(), "somebody".to_owned())].into();
        let schema = Arc::new(batch.schema().as_ref().clone().with_metadata(metadata));
        let batch = batch.with_schema(schema.clone()).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, schema.clone(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        (bytes, schema)
    }

    fn arrow_schema_of(path: &Path) -> arrow_schema::SchemaRef {
        let file = File::open(path).unwrap();
        ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file)
            .unwrap()
            .schema()
            .clone()
    }

    #[test]
    fn the_arrow_schema_stays_and_notes_are_two_columns_more() {
        let (bytes, schema) = arrow_file();
        let fixture = CopyFixture::with("a.parquet", &bytes);
        fixture.copy_plain(|record| record != 1);
        assert_eq!(arrow_schema_of(&fixture.target()), schema);
        fixture.annotate(|record| record != 1).unwrap();
        let annotated = arrow_schema_of(&fixture.target());
        assert_eq!(annotated.fields()[..6], schema.fields()[..]);
        assert_eq!(annotated.metadata(), schema.metadata());
        let added: Vec<String> = annotated.fields()[6..]
            .iter()
            .map(|field| format!("{} {}", field.name(), field.data_type()))
            .collect();
        assert_eq!(added, ["lookalike_cluster UInt64", "lookalike_copies UInt64"]);
    }

    #[test]
    fn a_file_of_which_nothing_is_dropped_is_copied_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        write_parquet(&folder.path().join("a"), 5);
        let fixture = CopyFixture::with("a.parquet", &fs::read(folder.path().join("a")).unwrap());
        assert_eq!(fixture.copy_plain(|_| true).kept, 5);
        assert_eq!(fixture.copied(), fs::read(folder.path().join("a")).unwrap());
    }

    #[test]
    fn compressed_files_stay_compressed_and_memory_will_do() {
        let fixture = CopyFixture::with("a.parquet.gz", &compress(Compression::Gzip, &file()));
        fixture.copy_plain(|record| record % 3 != 0);
        assert_eq!(Compression::detect(&fixture.copied(), Compression::None), Compression::Gzip);
        assert_eq!(items(&fixture.target()).len(), 5);
        let corpus = Corpus::in_memory("a.parquet", file().into(), ReadOptions::default());
        let (mut keep, mut go_on) = (|_| Fate::Keep, |_| ControlFlow::Continue(()));
        let target = fixture.folder.path().join("b.parquet");
        let decide = Decide::Plain(&mut keep);
        copy_shard(&corpus.shards()[0], corpus.options(), &target, decide, &mut go_on).unwrap();
        assert_eq!(items(&target).len(), 9);
    }

    #[test]
    fn notes_are_two_more_columns() {
        let fixture = CopyFixture::with("a.parquet", &file());
        fixture.annotate(|record| record % 3 != 0).unwrap();
        let mut expected = expected_notes();
        expected.retain(|&(cluster, _)| cluster != 105);
        assert_eq!(notes(&fixture.target(), ["lookalike_cluster", "lookalike_copies"]), expected);
        let file = File::open(fixture.target()).unwrap();
        let reader = ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let schema = reader.schema().clone();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, ["id", "text", "n", "lookalike_cluster", "lookalike_copies"]);
        assert!(schema.field(4).is_nullable());
        assert_eq!(schema.field(4).data_type().to_string(), "UInt64");
        let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 5);
    }

    #[test]
    fn a_second_note_is_refused() {
        let fixture = CopyFixture::with("a.parquet", &file());
        fixture.annotate(|_| true).unwrap();
        let again = CopyFixture::with("b.parquet", &fixture.copied());
        let said = again.annotate(|_| true).unwrap_err().to_string();
        assert!(said.starts_with("b.parquet has lookalike_cluster already"), "{said}");
        assert_eq!(fs::read_dir(again.folder.path()).unwrap().count(), 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn kept_lines_are_copied_whatever_ends_them(
        lines in prop::collection::vec(("[a-z\"\\\\}{]{0,9}", "( |\t){0,2}", "(\r?\n){1,3}", any::<bool>()), 0..20),
        open in any::<bool>(),
        compression in prop::sample::select(&COMPRESSIONS),
        annotated in any::<bool>(),
    ) {
        let mut file = String::new();
        let mut kept = Vec::new();
        for (index, (text, blank, end, keep)) in lines.iter().enumerate() {
            let end = if open && index + 1 == lines.len() { "" } else { end };
            let line = serde_json::json!({ "text": text }).to_string() + blank;
            write!(file, "{line}{end}").unwrap();
            if *keep {
                kept.push(text.clone());
            }
        }
        let fixture = CopyFixture::with(&format!("a.jsonl{}", compression.suffix()), &compress(compression, file.as_bytes()));
        let keep = |record: u64| lines[record as usize].3;
        let copied = if annotated { fixture.annotate(keep).unwrap() } else { fixture.copy_plain(keep) };
        prop_assert_eq!((copied.kept as usize, copied.dropped as usize), (kept.len(), lines.len() - kept.len()));
        let after = items(&fixture.target());
        let texts: Vec<String> =
            after.iter().map(|item| String::from_utf8(item.page().content.clone()).unwrap()).collect();
        prop_assert_eq!(&texts, &kept);
        if !annotated && compression == Compression::None && kept.len() == lines.len() {
            prop_assert_eq!(fixture.copied(), file.as_bytes());
        } else if !annotated {
            // Every kept line is one of the source, byte for byte.
            for item in &after {
                let raw = String::from_utf8(item.page().raw.clone().unwrap()).unwrap();
                prop_assert!(file.contains(&raw), "{raw:?}");
            }
        }
    }

    #[test]
    fn damage_is_counted_and_never_a_reason_to_panic(
        (name, file) in prop::sample::select(files())
            .prop_flat_map(|(name, content)| (Just(name), damaged(content.into_bytes()))),
        annotated in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (source, target) = (folder.path().join(name), folder.path().join("copy"));
        fs::write(&source, file).unwrap();
        let extras = if name.ends_with("sv") { vec![] } else { vec!["text".to_owned(), "m.x".to_owned()] };
        let corpus = Corpus::open(&[source], ReadOptions { extras, ..ReadOptions::default() }).unwrap();
        let shard = &corpus.shards()[0];
        let mut keep = |record: u64| if record.is_multiple_of(2) { Fate::Keep } else { Fate::Drop };
        let mut note = |record: u64| record.is_multiple_of(2).then_some(Note { cluster: record, copies: 1 });
        let decide = if annotated { Decide::Annotated(&mut note) } else { Decide::Plain(&mut keep) };
        let mut go_on = |_| ControlFlow::Continue(());
        // A format that damage hides is another one.
        let Ok(copied) = copy_shard(shard, corpus.options(), &target, decide, &mut go_on) else { return Ok(()) };
        let copied = copied.unwrap();
        let mut reader = shard.open(corpus.options()).unwrap();
        let mut counts = (0, 0, 0);
        while let Some(item) = reader.next().unwrap() {
            match item {
                Item::Document(_) => counts.0 += 1,
                Item::Rejected(_) => counts.1 += 1,
                Item::Skipped(_) => counts.2 += 1,
            }
        }
        prop_assert_eq!((copied.kept + copied.dropped, copied.rejected, copied.skipped), counts);
    }
}

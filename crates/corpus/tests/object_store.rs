//! Objects read from a real server: `scripts/with-s3 cargo test ...` starts one.
#![cfg(feature = "object-store")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use lookalike_corpus::write::{JsonlWriter, WarcWriter};
use lookalike_corpus::{Compression, Corpus, CorpusError, Item, ReadOptions};
use object_store::ObjectStoreExt;
use object_store::aws::AmazonS3Builder;
use tempfile::TempDir;

/// Bytes of one request of the reader.
const RANGE: usize = 8 << 20;

/// A bucket of its own for each test.
struct Bucket {
    host: String,
    name: &'static str,
}

impl Bucket {
    /// Nothing when no server is there to test with.
    fn create(name: &'static str) -> Option<Self> {
        let Ok(endpoint) = std::env::var("LOOKALIKE_S3_ENDPOINT") else {
            eprintln!("skipped: LOOKALIKE_S3_ENDPOINT is not set");
            return None;
        };
        let host = endpoint.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let bucket = Bucket { host, name };
        bucket.request("", b"");
        Some(bucket)
    }

    fn put(&self, key: &str, body: &[u8]) {
        self.request(&format!("/{key}"), body);
    }

    /// Puts an object where one is already, which the server allows only with credentials.
    fn replace(&self, key: &str, body: String) {
        let store = AmazonS3Builder::from_env().with_bucket_name(self.name).build().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(store.put(&key.into(), body.into())).unwrap();
    }

    fn put_folder(&self, prefix: &str, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            match path.is_dir() {
                true => self.put_folder(&format!("{prefix}{name}/"), &path),
                false => self.put(&format!("{prefix}{name}"), &fs::read(&path).unwrap()),
            }
        }
    }

    fn address(&self, key: &str) -> String {
        format!("s3://{}/{key}", self.name)
    }

    fn request(&self, path: &str, body: &[u8]) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let (host, name, length) = (&self.host, self.name, body.len());
        write!(
            stream,
            "PUT /{name}{path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\
             Content-Type: application/octet-stream\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
}

fn open(input: &str) -> Result<Corpus, CorpusError> {
    Corpus::open(&[input.to_owned()], ReadOptions::default())
}

fn names(corpus: &Corpus) -> Vec<&str> {
    corpus.shards().iter().map(|shard| shard.name.as_str()).collect()
}

/// One document: its shard, name, address and text.
type Page = (String, String, Option<String>, Vec<u8>);

fn pages(corpus: &Corpus) -> Result<Vec<Page>, CorpusError> {
    let mut pages = Vec::new();
    for shard in corpus.shards() {
        let mut reader = shard.open(corpus.options())?;
        while let Some(item) = reader.next()? {
            match item {
                Item::Document(document) => pages.push((
                    shard.name.clone(),
                    document.id.to_owned(),
                    document.url.map(str::to_owned),
                    document.content.bytes().to_vec(),
                )),
                Item::Rejected(rejection) => panic!("{}: {rejection:?}", shard.name),
                Item::Skipped(_) => {}
            }
        }
        assert_eq!(Some(reader.consumed()), shard.bytes, "{}", shard.name);
    }
    Ok(pages)
}

/// Words that no compressor makes much shorter.
fn noise(seed: u64, length: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ."[(state >> 58) as usize] as char
    };
    (0..length).map(|_| letter()).collect()
}

fn write_jsonl(path: &Path, compression: Compression, count: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut writer = JsonlWriter::create(path, compression).unwrap();
    for number in 0..count {
        let url = format!("http://example.org/{number}");
        writer.document(&format!("{}-{number}", path.display()), Some(&url), &noise(number, 300)).unwrap();
    }
    writer.finish().unwrap();
}

/// A file of several ranges.
fn write_long_warc(path: &Path) {
    let mut writer = WarcWriter::create(path, Compression::Gzip, "2026-01-01T00:00:00Z").unwrap();
    for number in 0..200 {
        let url = format!("http://example.org/{number}");
        writer.document(&format!("<urn:number:{number}>"), Some(&url), &noise(number, 64 << 10)).unwrap();
    }
    writer.finish().unwrap();
    assert!(fs::metadata(path).unwrap().len() > RANGE as u64);
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b.jsonl.zst", "a.jsonl.zst", "a/z.jsonl.zst", "a-b.jsonl.zst", ".hidden.jsonl.zst"] {
        write_jsonl(&folder.path().join(name), Compression::Zstd, 40);
    }
    write_jsonl(&folder.path().join(".git/x.jsonl"), Compression::None, 1);
    folder
}

fn local(path: &Path) -> Vec<Page> {
    pages(&open(&path.display().to_string()).unwrap()).unwrap()
}

#[test]
fn one_object_is_read_as_its_file_is() {
    let Some(bucket) = Bucket::create("single") else { return };
    let folder = folder();
    let file = folder.path().join("b.jsonl.zst");
    bucket.put("deep/below/b.jsonl.zst", &fs::read(&file).unwrap());
    let corpus = open(&bucket.address("deep/below/b.jsonl.zst")).unwrap();
    assert_eq!(names(&corpus), ["b.jsonl.zst"]);
    assert_eq!(corpus.bytes(), Some(fs::metadata(&file).unwrap().len()));
    assert_eq!(pages(&corpus).unwrap(), local(&file));
}

#[test]
fn an_object_of_several_ranges_is_read_whole() {
    let Some(bucket) = Bucket::create("ranges") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("crawl.warc.gz");
    write_long_warc(&file);
    bucket.put("crawl.warc.gz", &fs::read(&file).unwrap());
    let found = pages(&open(&bucket.address("crawl.warc.gz")).unwrap()).unwrap();
    assert_eq!(found.len(), 200);
    assert_eq!(found, local(&file));
}

#[test]
fn an_object_that_ends_with_a_range_ends_there() {
    let Some(bucket) = Bucket::create("edge") else { return };
    let line = format!("{{\"id\":\"a\",\"text\":\"{}\"}}\n", noise(1, 1000));
    let mut content = line.repeat(RANGE / line.len());
    let rest = 2 * RANGE - content.len() - "{\"id\":\"b\",\"text\":\"\"}\n".len();
    content += &format!("{{\"id\":\"b\",\"text\":\"{}\"}}\n", "x".repeat(rest));
    assert_eq!(content.len(), 2 * RANGE);
    bucket.put("edge.jsonl", content.as_bytes());
    let options = ReadOptions { max_document_bytes: 2 * RANGE, ..ReadOptions::default() };
    let corpus = Corpus::open(&[bucket.address("edge.jsonl")], options).unwrap();
    let found = pages(&corpus).unwrap();
    assert_eq!(found.len(), RANGE / line.len() + 1);
    assert_eq!(found.last().unwrap().3.len(), rest);
}

#[test]
fn a_prefix_is_read_as_its_folder_is() {
    let Some(bucket) = Bucket::create("prefix") else { return };
    let folder = folder();
    bucket.put_folder("corpus/", folder.path());
    bucket.put("corpus/", b"");
    bucket.put("corpus/empty/", b"");
    bucket.put("corpus-2/other.jsonl", b"{\"id\":\"a\",\"text\":\"elsewhere\"}\n");
    for input in ["corpus/", "corpus"] {
        let corpus = open(&bucket.address(input)).unwrap();
        assert_eq!(names(&corpus), ["a-b.jsonl.zst", "a.jsonl.zst", "a/z.jsonl.zst", "b.jsonl.zst"]);
        assert_eq!(pages(&corpus).unwrap(), local(folder.path()));
    }
    let all = open("s3://prefix").unwrap();
    assert_eq!(names(&all)[0], "corpus-2/other.jsonl");
    assert_eq!(all.shards().len(), 5);
}

#[test]
fn a_listing_goes_beyond_its_first_page() {
    let Some(bucket) = Bucket::create("pages") else { return };
    // The server of `scripts/with-s3` lists twenty at a time.
    for number in 0..50 {
        bucket.put(&format!("many/{number:02}.txt"), b"word");
    }
    let corpus = open(&bucket.address("many/")).unwrap();
    assert_eq!(corpus.shards().len(), 50);
    assert!(corpus.shards().is_sorted_by(|a, b| a.name < b.name));
}

#[test]
fn a_pattern_matches_keys() {
    let Some(bucket) = Bucket::create("pattern") else { return };
    let folder = folder();
    bucket.put_folder("corpus/", folder.path());
    let matches = |key: &str| {
        let corpus = open(&bucket.address(key)).unwrap();
        names(&corpus).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(matches("corpus/[ab].jsonl.*"), ["a.jsonl.zst", "b.jsonl.zst"]);
    assert_eq!(matches("corpus/a-?.jsonl.zst"), ["a-b.jsonl.zst"]);
    assert_eq!(matches("corpus/**/z*"), ["a/z.jsonl.zst"]);
    assert_eq!(matches("c*/a"), ["corpus/a/z.jsonl.zst"]);
}

#[test]
fn keys_with_odd_characters_are_found_and_read() {
    let Some(bucket) = Bucket::create("odd") else { return };
    let line = b"{\"id\":\"a\",\"text\":\"one rose\"}\n";
    // The request line needs them escaped; the key itself is `a b/50%+#ü.jsonl`.
    bucket.put("a%20b/50%25%2B%23%C3%BC.jsonl", line);
    for input in ["a b/50%+#ü.jsonl", "a b/", "a b/5*"] {
        let corpus = open(&bucket.address(input)).unwrap();
        assert_eq!(names(&corpus), ["50%+#ü.jsonl"], "{input}");
        assert_eq!(pages(&corpus).unwrap().len(), 1);
    }
}

#[test]
fn what_is_not_there_is_named() {
    let Some(bucket) = Bucket::create("missing") else { return };
    bucket.put("there.jsonl", b"{}");
    for key in ["absent.jsonl", "absent/", "*.warc", "the***"] {
        let input = bucket.address(key);
        let error = open(&input).unwrap_err().to_string();
        assert_eq!(error, format!("{input} is neither a file, a folder nor a pattern that matches one"));
    }
    let error = open("s3://no-such-bucket/x/").unwrap_err().to_string();
    assert_eq!(error, "cannot read s3://no-such-bucket/x/: there is no such bucket");

    let mut shard = open(&bucket.address("there.jsonl")).unwrap().shards()[0].clone();
    shard.origin = lookalike_corpus::Origin::Object(bucket.address("gone.jsonl"));
    let error = shard.open(&ReadOptions::default().into()).err().unwrap().to_string();
    assert_eq!(error, "cannot read s3://missing/gone.jsonl: there is no such object or bucket");
}

#[test]
fn an_empty_object_has_no_documents() {
    let Some(bucket) = Bucket::create("empty") else { return };
    bucket.put("empty.jsonl", b"");
    let corpus = open(&bucket.address("empty.jsonl")).unwrap();
    assert_eq!(corpus.bytes(), Some(0));
    assert!(pages(&corpus).unwrap().is_empty());
}

#[test]
fn an_object_that_is_replaced_is_not_mixed_with_the_new_one() {
    let Some(bucket) = Bucket::create("replaced") else { return };
    let content = |id: &str| format!("{{\"id\":\"{id}\",\"text\":\"{}\"}}\n", noise(7, 1 << 20)).repeat(32);
    bucket.put("x.jsonl", content("old").as_bytes());
    let corpus = open(&bucket.address("x.jsonl")).unwrap();
    let mut reader = corpus.shards()[0].open(corpus.options()).unwrap();
    assert!(reader.next().unwrap().is_some());
    bucket.replace("x.jsonl", content("new"));
    let error = loop {
        match reader.next() {
            Ok(Some(Item::Document(document))) => assert_eq!(document.id, "old"),
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.starts_with("cannot read x.jsonl: s3://replaced/x.jsonl from byte "), "{error}");
    assert!(error.ends_with("on: the object was replaced while it was read"), "{error}");
}

#[test]
fn a_caller_may_stand_in_a_runtime() {
    let Some(bucket) = Bucket::create("runtime") else { return };
    bucket.put("a.jsonl", b"{\"id\":\"a\",\"text\":\"one rose\"}\n");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let found = runtime.block_on(async { pages(&open("s3://runtime/").unwrap()).unwrap() });
    assert_eq!(found.len(), 1);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_goes_through_a_temporary_file() {
    use lookalike_corpus::write::ParquetWriter;
    let Some(bucket) = Bucket::create("parquet") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table.parquet");
    let mut writer = ParquetWriter::create(&file).unwrap();
    for number in 0..150 {
        writer.document(&number.to_string(), None, &noise(number, 64 << 10)).unwrap();
    }
    writer.finish().unwrap();
    bucket.put("table.parquet", &fs::read(&file).unwrap());
    let corpus = open(&bucket.address("table.parquet")).unwrap();
    let mut reader = corpus.shards()[0].open(corpus.options()).unwrap();
    let mut count = 0;
    while let Some(item) = reader.next().unwrap() {
        let Item::Document(document) = item else { panic!("{item:?}") };
        assert_eq!(document.id, count.to_string());
        assert_eq!(document.content.bytes(), noise(count, 64 << 10).as_bytes());
        count += 1;
    }
    assert_eq!(count, 150);
}

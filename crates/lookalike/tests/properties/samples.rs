//! Small valid files of every format, and their compressed forms.

use std::io::Write;

use lookalike::corpus::{Compression, Format};

/// A valid file.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// A name as such a file would have.
    pub(crate) name: &'static str,
    pub(crate) format: Format,
    pub(crate) bytes: Vec<u8>,
    /// The number of documents in it.
    pub(crate) documents: usize,
}

pub(crate) const COMPRESSIONS: [Compression; 6] = [
    Compression::None,
    Compression::Gzip,
    Compression::Zstd,
    Compression::Bzip2,
    Compression::Xz,
    Compression::Lz4,
];

const PAGE: &str = "<html><head><title>Roses</title></head><body><nav><a href='/'>home</a></nav>\
                    <p>A rose &amp; a thorn grow by the gate. 東京の薔薇。</p></body></html>";

const JSONL: &str = "{\"id\":\"a\",\"text\":\"One rose. Größe: 10\"}\n{\"id\":7,\"html\":\"<p>two\",\
                     \"url\":\"http://example.org/\"}\n";

const CSV: &str = "id,title,text,url\r\n1,x,one,http://a/\r\n2,\"y, z\",\"two \"\"2\"\"\r\nlines\",\r\n";

const TSV: &str = "id\ttitle\ttext\turl\n1\tx\tone\thttp://a/\n2\ty, \"z\ttwo \"2\"\t\n";

const ARC: &str = "filedesc://a.arc 0.0.0.0 19970101000000 text/plain 11\n1 0 Garden\n\n\
                   http://example.org/ 10.0.0.1 19970101000000 text/html 51\n\
                   HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>rose\n";

const TREC_WEB: &str = "<DOC>\n<DOCNO>G-1</DOCNO>\n<DOCHDR>\nhttp://example.org/a 10.0.0.1 19970101 text/html 10\n\
                        HTTP/1.0 200 OK\nContent-Type: text/html; charset=utf-8\n</DOCHDR>\n<p>one\n</DOC>\n";

const TREC_TEXT: &str = "<DOC>\n<DOCNO> G-2 </DOCNO>\n<TEXT>\nroses & thorns\n</TEXT>\n</DOC>\n<DOC>\n<DOCNO>G-3</DOCNO>\nx\n</DOC>\n";

const WIKI: &str = "<mediawiki xml:lang=\"en\">\n<siteinfo><base>https://example.org/wiki/Main</base></siteinfo>\n\
    <page>\n<title>Rose</title>\n<ns>0</ns>\n<id>1</id>\n<revision><id>11</id><model>wikitext</model>\
    <text xml:space=\"preserve\">'''Rose''' is a [[flower|bloom]].{{cite|a=b}}\n== Care ==\n* sun &amp; rain\n\
    {| a\n|-\n| b\n|}</text></revision>\n</page>\n<page>\n<title>Old</title>\n<ns>0</ns>\n<id>2</id>\n\
    <redirect title=\"Rose\" />\n<revision><id>21</id><text>#REDIRECT [[Rose]]</text></revision>\n</page>\n</mediawiki>\n";

const MBOX: &str = "From a@x Thu Jan  1 00:00:00 1970\nSubject: one\nMessage-ID: <1@x>\n\nHello\n>From me\n\n\
                    From b@x Thu Jan  1 00:00:00 1970\nmessage-id:\n <2@x>\n\nBye\n";

const MESSAGE: &str = "From: Ann <a@example.org>\r\nSubject: =?utf-8?Q?R=C3=B6sen?=\r\nMIME-Version: 1.0\r\n\
    Content-Type: multipart/alternative; boundary=cut\r\n\r\n--cut\r\nContent-Type: text/plain; charset=latin1\r\n\
    Content-Transfer-Encoding: quoted-printable\r\n\r\nna=EFve =\r\nrose\r\n--cut\r\nContent-Type: text/html\r\n\
    Content-Transfer-Encoding: base64\r\n\r\nPHA+b25lIDxiPnJvc2U8L2I+\r\n--cut--\r\n";

/// One sample of every kind.
pub(crate) fn all() -> Vec<Sample> {
    let text = |name, format, documents, text: &str| Sample { name, format, bytes: text.into(), documents };
    vec![
        text("a.jsonl", Format::Jsonl, 2, JSONL),
        #[cfg(feature = "parquet")]
        Sample { name: "b.parquet", format: Format::Parquet, bytes: parquet(), documents: 3 },
        Sample { name: "c.warc", format: Format::Warc, bytes: warc(), documents: 3 },
        Sample { name: "d.warc", format: Format::Warc, bytes: old_warc(), documents: 2 },
        Sample { name: "e.wet", format: Format::Warc, bytes: wet(), documents: 2 },
        text("f.arc", Format::Arc, 1, ARC),
        text("g.trecweb", Format::Trec, 1, TREC_WEB),
        text("h.trectext", Format::Trec, 2, TREC_TEXT),
        text("i.xml", Format::MediaWiki, 1, WIKI),
        text("j.mbox", Format::Mbox, 2, MBOX),
        text("k.eml", Format::Email, 1, MESSAGE),
        text("l.csv", Format::Csv, 2, CSV),
        text("m.tsv", Format::Tsv, 2, TSV),
        text("n.html", Format::Html, 1, PAGE),
        text("o.txt", Format::Text, 1, "Dear reader,\n\nthe roses bloom.\n"),
    ]
}

/// A WARC record; its length says `excess` bytes too many, as crawlers have done.
pub(crate) fn record(version: &str, header: &str, block: &[u8], excess: usize) -> Vec<u8> {
    let length = block.len() + excess;
    let head = format!("{version}\r\n{header}\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

/// A record with an HTTP response whose header has these lines.
pub(crate) fn response(id: &str, lines: &str, body: &[u8]) -> Vec<u8> {
    let header = format!(
        "WARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{id}>\r\nWARC-Target-URI: http://example.org/{id}\r\n\
         Content-Type: application/http; msgtype=response"
    );
    let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{lines}\r\n");
    record("WARC/1.0", &header, &[http.as_bytes(), body].concat(), 0)
}

fn warc() -> Vec<u8> {
    let packed = compress(Compression::Gzip, PAGE.as_bytes());
    [
        record("WARC/1.0", "WARC-Type: warcinfo", b"software: a garden\r\n", 0),
        response("a", "", PAGE.as_bytes()),
        response("b", "Transfer-Encoding: chunked\r\n", b"6\r\n<p>one\r\n5;x=y\r\n rose\r\n0\r\n\r\n"),
        response("c", "Content-Encoding: gzip\r\n", &packed),
    ]
    .concat()
}

fn old_warc() -> Vec<u8> {
    let header = "WARC-Type: response\r\nWARC-TREC-ID: garden-1\r\nWARC-Target-URI: http://example.org/o";
    let block = format!("HTTP/1.1 200 OK\nContent-Type: text/html\n\n{PAGE}");
    record("WARC/0.18", header, block.as_bytes(), 2).repeat(2)
}

fn wet() -> Vec<u8> {
    let header = "WARC-Type: conversion\r\nWARC-Record-ID: <urn:uuid:w>\r\nContent-Type: text/plain";
    record("WARC/1.0", header, "Rosen und Wörter.\n".as_bytes(), 0).repeat(2)
}

#[cfg(feature = "parquet")]
fn parquet() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("b.parquet");
    let mut writer = lookalike::corpus::write::ParquetWriter::create(&file).expect("a file can be made");
    for (id, url) in [("a", None), ("b", Some("http://example.org/b")), ("c", None)] {
        writer.document(id, url, "one rose").expect("a file can be written");
    }
    writer.finish().expect("a file can be written");
    std::fs::read(file).expect("a file can be read")
}

/// One member.
pub(crate) fn compress(compression: Compression, bytes: &[u8]) -> Vec<u8> {
    const WORKS: &str = "memory can be written";
    match compression {
        Compression::None => bytes.to_vec(),
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).expect(WORKS);
            encoder.finish().expect(WORKS)
        }
        Compression::Zstd => zstd::encode_all(bytes, 1).expect(WORKS),
        Compression::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(bytes).expect(WORKS);
            encoder.finish().expect(WORKS)
        }
        Compression::Xz => {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
            encoder.write_all(bytes).expect(WORKS);
            encoder.finish().expect(WORKS)
        }
        Compression::Lz4 => {
            let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
            encoder.write_all(bytes).expect(WORKS);
            encoder.finish().expect(WORKS)
        }
    }
}

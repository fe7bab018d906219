//! Small files that are very long inside must cost neither memory nor their neighbours.

use lookalike::corpus::{Compression, Format};

use crate::pipeline::check_shard;
use crate::samples::{compress, record, response};

const LENGTH: usize = 200_000_000;

/// As one member: `before`, very many zeros, `behind`.
fn bomb(compression: Compression, before: &[u8], behind: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(before.len() + LENGTH + behind.len());
    bytes.extend_from_slice(before);
    bytes.resize(before.len() + LENGTH, b'0');
    bytes.extend_from_slice(behind);
    compress(compression, &bytes)
}

fn check(format: Format, before: &[u8], behind: &[u8], expected: (u64, u64)) {
    for compression in [Compression::Gzip, Compression::Zstd] {
        let file = bomb(compression, before, behind);
        let counts = check_shard("bomb", &file, Some(format), Some(before.len() + LENGTH + behind.len()));
        assert_eq!((counts.documents, counts.rejected), expected, "{format} {compression:?}");
    }
}

#[test]
fn a_text_without_end_is_one_rejection() {
    check(Format::Text, b"", b"", (0, 1));
}

#[test]
fn a_line_without_end_costs_no_other() {
    check(Format::Jsonl, b"{\"text\":\"a\"}\n{\"text\":\"", b"\"}\n{\"text\":\"b\"}\n", (2, 1));
}

#[test]
fn a_record_without_end_costs_no_other() {
    let small = record("WARC/1.0", "WARC-Type: conversion", b"one rose", 0);
    let head = format!("WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: {LENGTH}\r\n\r\n");
    check(Format::Warc, &[&small, head.as_bytes()].concat(), &[b"\r\n\r\n", &small[..]].concat(), (2, 1));
}

#[test]
fn a_body_without_end_costs_no_other() {
    let body = bomb(Compression::Gzip, b"<p>", b"");
    let file = [
        response("a", "", b"<p>one"),
        response("b", "Content-Encoding: gzip\r\n", &body),
        response("c", "", b"<p>two"),
    ]
    .concat();
    let counts = check_shard("bomb.warc", &file, None, None);
    assert_eq!((counts.documents, counts.rejected), (2, 1));
}

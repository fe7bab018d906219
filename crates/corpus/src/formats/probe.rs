//! What the tests of all formats need: a shard made of bytes, and its items as plain values.

use std::io::{self, Read, Write};
use std::sync::Arc;

use lookalike_model::{Media, ReasonKind, Unit};
use proptest::prelude::*;

use crate::input::{Replay, Stream};
use crate::reader::Records;
use crate::record::Ledger;
use crate::{Item, ReadOptions};

/// An item that borrows nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    Document(Page),
    Rejected(ReasonKind, u64),
    Skipped(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) id: String,
    pub(crate) url: Option<String>,
    pub(crate) media: Media,
    pub(crate) content: Vec<u8>,
    pub(crate) charset: Option<String>,
    pub(crate) position: u64,
    pub(crate) raw: Option<Vec<u8>>,
}

impl Seen {
    pub(crate) fn page(&self) -> &Page {
        match self {
            Seen::Document(page) => page,
            other => panic!("a document was expected, not {other:?}"),
        }
    }

    /// Id and content of a document, or what is there instead.
    pub(crate) fn brief(&self) -> String {
        match self {
            Seen::Document(page) => format!("{}: {}", page.id, String::from_utf8_lossy(&page.content)),
            Seen::Rejected(kind, position) => format!("{kind} at {position}"),
            Seen::Skipped(kind) => format!("skipped {kind}"),
        }
    }
}

/// Hands out a few bytes at a time, so that every tag is once cut by the window's end.
struct Drip {
    bytes: io::Cursor<Vec<u8>>,
    step: usize,
}

impl Read for Drip {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = out.len().min(self.step);
        self.bytes.read(&mut out[..length])
    }
}

pub(crate) fn stream(bytes: impl Into<Vec<u8>>) -> Stream {
    stream_by(bytes, usize::MAX)
}

/// A stream that reads `step` bytes at a time.
pub(crate) fn stream_by(bytes: impl Into<Vec<u8>>, step: usize) -> Stream {
    let bytes = io::Cursor::new(bytes.into());
    Stream::open(Replay::new(Box::new(Drip { bytes, step }))).unwrap()
}

pub(crate) fn ledger(options: ReadOptions) -> Ledger {
    Ledger::new("shard".to_owned(), Arc::new(options), Unit::Byte)
}

/// Options under which records of more than `limit` bytes are too long.
pub(crate) fn limited(limit: usize) -> ReadOptions {
    ReadOptions { max_document_bytes: limit, ..ReadOptions::default() }
}

pub(crate) fn read_all(records: &mut dyn Records) -> Vec<Seen> {
    let mut all = Vec::new();
    while let Some(item) = records.next().unwrap() {
        all.push(match item {
            Item::Document(page) => Seen::Document(Page {
                id: page.id.to_owned(),
                url: page.url.map(str::to_owned),
                media: page.media,
                content: page.content.bytes().to_vec(),
                charset: match page.content {
                    lookalike_model::Content::Encoded { charset, .. } => charset.map(str::to_owned),
                    lookalike_model::Content::Unicode(_) => None,
                },
                position: page.place.position,
                raw: page.raw.map(<[u8]>::to_vec),
            }),
            Item::Rejected(rejection) => Seen::Rejected(rejection.reason.kind(), rejection.place.position),
            Item::Skipped(skip) => Seen::Skipped(skip.kind),
        });
    }
    all
}

pub(crate) fn briefs(records: &mut dyn Records) -> Vec<String> {
    read_all(records).iter().map(Seen::brief).collect()
}

/// Counts items without keeping them.
pub(crate) fn count(records: &mut dyn Records) -> usize {
    let mut items = 0;
    while records.next().unwrap().is_some() {
        items += 1;
    }
    items
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A valid file with some bytes changed, a piece cut out and a piece put in twice.
pub(crate) fn damaged(valid: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let length = valid.len();
    let flips = prop::collection::vec((0..length, any::<u8>()), 0..4);
    let piece = || (0..length, 0..length);
    (flips, prop::option::of(piece()), prop::option::of(piece())).prop_map(move |(flips, cut, twice)| {
        let mut bytes = valid.clone();
        for (at, byte) in flips {
            bytes[at] = byte;
        }
        if let Some((a, b)) = twice {
            let piece = bytes[a.min(b)..a.max(b)].to_vec();
            bytes.splice(b..b, piece);
        }
        if let Some((a, b)) = cut {
            bytes.drain(a.min(b)..a.max(b));
        }
        bytes
    })
}

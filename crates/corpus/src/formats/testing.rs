//! Helpers that the tests of all formats share: a shard made of bytes, its items as plain values, and damage.

use std::io::{Cursor, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use lookalike_model::{Content, Document, Media, ReasonKind, Unit};
use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};
use proptest::prelude::*;

use crate::input::{Replay, Stream};
use crate::options::DecoderBudget;
use crate::reader::Records;
use crate::record::RecordCounter;
use crate::{Compression, Item, ReadOptions};

/// An item that borrows nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OwnedItem {
    Document(Page),
    Rejected(ReasonKind, u64),
    /// Kind of the record, and the record as it stood.
    Skipped(&'static str, Option<Vec<u8>>),
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

impl From<Item<'_>> for OwnedItem {
    fn from(item: Item<'_>) -> Self {
        match item {
            Item::Document(document) => OwnedItem::Document(document.into()),
            Item::Rejected(rejection) => {
                OwnedItem::Rejected(rejection.reason.kind(), rejection.place.position)
            }
            Item::Skipped(skip) => OwnedItem::Skipped(skip.kind, skip.raw.map(<[u8]>::to_vec)),
        }
    }
}

impl From<Document<'_>> for Page {
    fn from(document: Document<'_>) -> Self {
        let charset = match document.content {
            Content::Encoded { charset, .. } => charset,
            Content::Unicode(_) => None,
        };
        Page {
            id: document.id.to_owned(),
            url: document.url.map(str::to_owned),
            media: document.media,
            content: document.content.bytes().to_vec(),
            charset: charset.map(str::to_owned),
            position: document.place.position,
            raw: document.raw.map(<[u8]>::to_vec),
        }
    }
}

impl OwnedItem {
    pub(crate) fn page(&self) -> &Page {
        match self {
            OwnedItem::Document(page) => page,
            other => panic!("a document was expected, not {other:?}"),
        }
    }

    /// The record as it stood, of what can be copied.
    pub(crate) fn raw(&self) -> Option<&[u8]> {
        match self {
            OwnedItem::Document(page) => page.raw.as_deref(),
            OwnedItem::Skipped(_, raw) => raw.as_deref(),
            OwnedItem::Rejected(..) => None,
        }
    }

    /// Id and content of a document, or what is there instead.
    pub(crate) fn brief(&self) -> String {
        match self {
            OwnedItem::Document(page) => format!("{}: {}", page.id, String::from_utf8_lossy(&page.content)),
            OwnedItem::Rejected(kind, position) => format!("{kind} at {position}"),
            OwnedItem::Skipped(kind, _) => format!("skipped {kind}"),
        }
    }
}

/// Hands out a few bytes at a time, so that every tag is once cut by the window's end.
struct SlowReader {
    bytes: Cursor<Vec<u8>>,
    step: usize,
}

impl Read for SlowReader {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let length = out.len().min(self.step);
        self.bytes.read(&mut out[..length])
    }
}

pub(crate) fn stream(bytes: impl Into<Vec<u8>>) -> Stream {
    stream_by(bytes, usize::MAX)
}

/// A stream that reads `step` bytes at a time.
pub(crate) fn stream_by(bytes: impl Into<Vec<u8>>, step: usize) -> Stream {
    let raw = Replay::new(Box::new(SlowReader { bytes: Cursor::new(bytes.into()), step }));
    Stream::open(raw, Compression::None, DecoderBudget::default()).expect("memory can be read")
}

/// A record counter for a shard called `shard`.
pub(crate) fn counter(options: ReadOptions) -> RecordCounter {
    RecordCounter::new("shard".to_owned(), Arc::new(options), Unit::Byte, 0)
}

/// Options under which records of more than `limit` bytes are too long.
pub(crate) fn limited(limit: usize) -> ReadOptions {
    ReadOptions { max_document_bytes: limit, ..ReadOptions::default() }
}

/// The longest record allowed, and the number of bytes that come with one read.
pub(crate) struct Setting {
    pub(crate) limit: usize,
    pub(crate) step: usize,
}

impl Default for Setting {
    fn default() -> Self {
        Setting { limit: 1 << 20, step: usize::MAX }
    }
}

impl Setting {
    pub(crate) fn open(&self, bytes: &[u8]) -> (Stream, RecordCounter) {
        (stream_by(bytes, self.step), counter(limited(self.limit)))
    }
}

/// Returns all items of a reader.
pub(crate) fn read_all(records: &mut dyn Records) -> Vec<OwnedItem> {
    let mut all = Vec::new();
    while let Some(item) = records.next().expect("memory can be read") {
        all.push(item.into());
    }
    all
}

pub(crate) fn briefs(records: &mut dyn Records) -> Vec<String> {
    read_all(records).iter().map(OwnedItem::brief).collect()
}

/// Counts items without keeping them.
pub(crate) fn count(records: &mut dyn Records) -> usize {
    let mut items = 0;
    while records.next().expect("memory can be read").is_some() {
        items += 1;
    }
    items
}

pub(crate) fn pages(seen: &[OwnedItem]) -> Vec<&Page> {
    seen.iter()
        .filter_map(|seen| if let OwnedItem::Document(page) = seen { Some(page) } else { None })
        .collect()
}

pub(crate) fn ids(seen: &[OwnedItem]) -> Vec<&str> {
    pages(seen).iter().map(|page| page.id.as_str()).collect()
}

pub(crate) fn rejections(seen: &[OwnedItem]) -> Vec<(u64, ReasonKind)> {
    let rejected = |seen: &OwnedItem| {
        if let OwnedItem::Rejected(kind, position) = seen { Some((*position, *kind)) } else { None }
    };
    seen.iter().filter_map(rejected).collect()
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
            // As damage is only noticed by a checksum, and costs a whole block.
            let info = FrameInfo::new().content_checksum(true).block_size(BlockSize::Max64KB);
            let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
            encoder.write_all(bytes).expect(WORKS);
            encoder.finish().expect(WORKS)
        }
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    compress(Compression::Gzip, bytes)
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

/// A file of the data that lie beside the checkout, if they do.
#[expect(clippy::print_stderr, reason = "a test that checks nothing must say so")]
pub(crate) fn shared(path: &str) -> Option<Vec<u8>> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("LOOKALIKE_SHARED").map_or(beside, PathBuf::from);
    let file = std::fs::read(folder.join(path)).ok();
    if file.is_none() {
        eprintln!("skipped: {path} is not in {}", folder.display());
    }
    file
}

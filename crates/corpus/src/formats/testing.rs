//! What the tests of the readers share.

use std::io::{Cursor, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use lookalike_model::{Media, ReasonKind, Unit};

use crate::input::{Replay, Stream};
use crate::reader::Records;
use crate::record::Ledger;
use crate::{Compression, Item, ReadOptions};

/// An item that can be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    Document(Page),
    Rejected(u64, ReasonKind),
    Skipped(&'static str, Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) id: String,
    pub(crate) url: Option<String>,
    pub(crate) media: Media,
    pub(crate) bytes: Vec<u8>,
    pub(crate) charset: Option<String>,
    pub(crate) position: u64,
    pub(crate) raw: Vec<u8>,
}

/// What to read, and how.
pub(crate) struct Setting {
    pub(crate) limit: usize,
    /// Bytes that come with one read.
    pub(crate) step: usize,
}

impl Default for Setting {
    fn default() -> Self {
        Setting { limit: 1 << 20, step: usize::MAX }
    }
}

impl Setting {
    /// A stream over `bytes` and a ledger for a shard called `s`.
    pub(crate) fn open(&self, bytes: &[u8]) -> (Stream, Ledger) {
        let options = ReadOptions { max_document_bytes: self.limit, ..ReadOptions::default() };
        let source = Dribble { bytes: Cursor::new(bytes.to_vec()), step: self.step };
        let stream = Stream::open(Replay::new(Box::new(source))).expect("memory can be read");
        (stream, Ledger::new("s".into(), Arc::new(options), Unit::Byte))
    }
}

/// Gives a few bytes at a time.
struct Dribble {
    bytes: Cursor<Vec<u8>>,
    step: usize,
}

impl Read for Dribble {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let length = out.len().min(self.step);
        self.bytes.read(&mut out[..length])
    }
}

/// All that a reader gives.
pub(crate) fn all(mut records: impl Records) -> Vec<Seen> {
    let mut seen = Vec::new();
    while let Some(item) = records.next().expect("memory can be read") {
        seen.push(match item {
            Item::Document(document) => {
                let charset = match document.content {
                    lookalike_model::Content::Encoded { charset, .. } => charset.map(str::to_owned),
                    lookalike_model::Content::Unicode(_) => None,
                };
                Seen::Document(Page {
                    id: document.id.to_owned(),
                    url: document.url.map(str::to_owned),
                    media: document.media,
                    bytes: document.content.bytes().to_vec(),
                    charset,
                    position: document.place.position,
                    raw: document.raw.unwrap_or_default().to_vec(),
                })
            }
            Item::Rejected(rejection) => Seen::Rejected(rejection.place.position, rejection.reason.kind()),
            Item::Skipped(skip) => Seen::Skipped(skip.kind, skip.raw.unwrap_or_default().to_vec()),
        });
    }
    seen
}

pub(crate) fn pages(seen: &[Seen]) -> Vec<&Page> {
    seen.iter().filter_map(|seen| if let Seen::Document(page) = seen { Some(page) } else { None }).collect()
}

pub(crate) fn ids(seen: &[Seen]) -> Vec<&str> {
    pages(seen).iter().map(|page| page.id.as_str()).collect()
}

pub(crate) fn rejections(seen: &[Seen]) -> Vec<(u64, ReasonKind)> {
    let rejected =
        |seen: &Seen| if let Seen::Rejected(position, kind) = seen { Some((*position, *kind)) } else { None };
    seen.iter().filter_map(rejected).collect()
}

/// One member.
pub(crate) fn compress(compression: Compression, bytes: &[u8]) -> Vec<u8> {
    match compression {
        Compression::None => bytes.to_vec(),
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).expect("memory can be written");
            encoder.finish().expect("memory can be written")
        }
        Compression::Zstd => zstd::encode_all(bytes, 1).expect("memory can be written"),
        Compression::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(bytes).expect("memory can be written");
            encoder.finish().expect("memory can be written")
        }
    }
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

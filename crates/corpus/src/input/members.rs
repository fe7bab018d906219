//! Compressed members, one after the other: any number of gzip members, zstd frames or bzip2 streams.
//!
//! A crawl file is often a million members long, one for each record. A member that is cut short or damaged
//! must cost that member and no other, so decoding is done member by member: on damage we go back to where
//! the member began and look for the next one.

use std::io::{self, BufRead, Read};

use super::{Chunk, Replay, Source};

/// How a shard is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    None,
    /// `.gz`, with any number of members.
    Gzip,
    /// `.zst`, with any number of frames.
    Zstd,
    /// `.bz2`, with any number of streams.
    Bzip2,
}

/// Bytes needed to recognise any member.
const MAGIC: usize = 10;

impl Compression {
    /// The compression that `bytes`, the first of a file, show.
    pub(crate) fn seen(bytes: &[u8]) -> Self {
        [Compression::Gzip, Compression::Zstd, Compression::Bzip2]
            .into_iter()
            .find(|kind| kind.begins_member(bytes))
            .unwrap_or(Compression::None)
    }

    /// The customary ending of file names, with its dot.
    pub fn suffix(self) -> &'static str {
        match self {
            Compression::None => "",
            Compression::Gzip => ".gz",
            Compression::Zstd => ".zst",
            Compression::Bzip2 => ".bz2",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Compression::None => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
        }
    }

    /// True when a member may begin with `bytes`. Strict, since it also guides the search behind damage.
    fn begins_member(self, bytes: &[u8]) -> bool {
        match self {
            Compression::None => false,
            Compression::Gzip => match bytes {
                [0x1f, 0x8b, 8, flags, _, _, _, _, extra, system, ..] => {
                    flags & 0xe0 == 0 && matches!(extra, 0 | 2 | 4) && (*system <= 13 || *system == 255)
                }
                _ => false,
            },
            Compression::Zstd => match bytes {
                [0x28, 0xb5, 0x2f, 0xfd, descriptor, ..] => descriptor & 0x08 == 0,
                [skippable, 0x2a, 0x4d, 0x18, ..] => skippable & 0xf0 == 0x50,
                _ => false,
            },
            Compression::Bzip2 => {
                let block = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
                let empty = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
                bytes.starts_with(b"BZh")
                    && matches!(bytes.get(3), Some(b'1'..=b'9'))
                    && bytes.get(4..10).is_some_and(|marker| marker == block || marker == empty)
            }
        }
    }
}

/// The decoder of one member; it owns the raw bytes and gives them back at the member's end.
enum Decoder {
    Gzip(flate2::bufread::GzDecoder<Replay>),
    Zstd(zstd::stream::read::Decoder<'static, Replay>),
    Bzip2(bzip2::bufread::BzDecoder<Replay>),
}

impl Decoder {
    fn new(compression: Compression, raw: Replay) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => unreachable!("plain bytes have no members"),
            Compression::Gzip => Decoder::Gzip(flate2::bufread::GzDecoder::new(raw)),
            Compression::Zstd => Decoder::Zstd(zstd::stream::read::Decoder::with_buffer(raw)?.single_frame()),
            Compression::Bzip2 => Decoder::Bzip2(bzip2::bufread::BzDecoder::new(raw)),
        })
    }

    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Decoder::Gzip(decoder) => decoder.read(out),
            Decoder::Zstd(decoder) => decoder.read(out),
            Decoder::Bzip2(decoder) => decoder.read(out),
        }
    }

    fn into_raw(self) -> Replay {
        match self {
            Decoder::Gzip(decoder) => decoder.into_inner(),
            Decoder::Zstd(decoder) => decoder.finish(),
            Decoder::Bzip2(decoder) => decoder.into_inner(),
        }
    }
}

/// All members of a compressed file as one stream of bytes.
pub(crate) struct Members {
    compression: Compression,
    state: State,
}

enum State {
    Between(Replay),
    Inside {
        decoder: Decoder,
        /// True once the member has given something.
        given: bool,
    },
    /// Only while a state is being replaced.
    Moving,
}

impl Members {
    pub(crate) fn new(compression: Compression, raw: Replay) -> Self {
        Members { compression, state: State::Between(raw) }
    }

    /// Begins the next member; `None` when one has begun.
    fn begin(&mut self, mut raw: Replay) -> io::Result<Option<Chunk>> {
        if self.compression == Compression::Gzip {
            skip_zeros(&mut raw)?;
        }
        let head = raw.peek(MAGIC)?;
        if head.is_empty() {
            self.state = State::Between(raw);
            return Ok(Some(Chunk::End));
        }
        if !self.compression.begins_member(head) {
            let cut = head.len() < MAGIC;
            raw.set_mark();
            return self.step_over(raw, if cut { "is cut off" } else { "is missing" }).map(Some);
        }
        raw.set_mark();
        self.state = State::Inside { decoder: Decoder::new(self.compression, raw)?, given: false };
        Ok(None)
    }

    /// Goes to the next place where a member may begin, and says what is wrong here.
    fn step_over(&mut self, mut raw: Replay, complaint: &str) -> io::Result<Chunk> {
        if let Some(failure) = raw.take_failure() {
            return Err(failure);
        }
        raw.rewind_behind_mark();
        loop {
            let head = raw.peek(MAGIC)?;
            if head.is_empty() || self.compression.begins_member(head) {
                break;
            }
            raw.consume(1);
        }
        self.state = State::Between(raw);
        Ok(Chunk::Fault(format!("a {} member {complaint}", self.compression.name())))
    }
}

impl Source for Members {
    fn read(&mut self, out: &mut [u8]) -> io::Result<Chunk> {
        loop {
            match std::mem::replace(&mut self.state, State::Moving) {
                State::Between(raw) => {
                    if let Some(chunk) = self.begin(raw)? {
                        return Ok(chunk);
                    }
                }
                State::Inside { mut decoder, given } => match decoder.read(out) {
                    Ok(0) => self.state = State::Between(decoder.into_raw()),
                    Ok(length) => {
                        self.state = State::Inside { decoder, given: true };
                        return Ok(Chunk::Bytes(length));
                    }
                    Err(error) => {
                        let cut = error.kind() == io::ErrorKind::UnexpectedEof;
                        let complaint =
                            if cut { "is cut off".to_owned() } else { format!("is damaged ({error})") };
                        let chunk = self.step_over(decoder.into_raw(), &complaint)?;
                        return Ok(match chunk {
                            Chunk::Fault(reason) if !cut && given => Chunk::Corrupt(reason),
                            chunk => chunk,
                        });
                    }
                },
                State::Moving => return Ok(Chunk::End),
            }
        }
    }
}

/// Tapes and block devices pad gzip files with zeros, which `gzip` itself passes over.
fn skip_zeros(raw: &mut Replay) -> io::Result<()> {
    loop {
        let available = raw.fill_buf()?;
        let zeros = available.iter().take_while(|&&byte| byte == 0).count();
        let all = zeros == available.len();
        raw.consume(zeros);
        if zeros == 0 || !all {
            return Ok(());
        }
    }
}

impl Source for Replay {
    fn read(&mut self, out: &mut [u8]) -> io::Result<Chunk> {
        Ok(match Read::read(self, out)? {
            0 => Chunk::End,
            length => Chunk::Bytes(length),
        })
    }
}

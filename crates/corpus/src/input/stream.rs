//! The window of bytes that every format reads from.

use std::io;

use memchr::memmem::Finder;

use super::{Chunk, Compression, Replay, Source, members::Members};

const CHUNK: usize = 256 << 10;

/// A window over a shard's uncompressed bytes, which grows while a record is not yet whole and slides on when
/// it is done with. A format decides how large the window may get, so memory is bounded by the longest record
/// that is allowed.
pub(crate) struct Stream {
    source: Box<dyn Source>,
    compression: Compression,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset of the window's first byte in the uncompressed shard.
    offset: u64,
    halt: Option<Halt>,
}

enum Halt {
    End,
    Fault { reason: String, corrupt: bool },
}

/// Where a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// The needle stands at this offset in the window.
    At(usize),
    /// The shard ends, or is damaged, before the needle: the window holds all up to there.
    End,
    /// The needle is not within the limit.
    Limit,
}

impl Stream {
    /// A stream over `raw`, whose compression is seen from its first bytes.
    pub(crate) fn open(mut raw: Replay) -> io::Result<Self> {
        let compression = Compression::seen(raw.peek(16)?);
        let source: Box<dyn Source> = match compression {
            Compression::None => Box::new(raw),
            _ => Box::new(Members::new(compression, raw)),
        };
        Ok(Stream { source, compression, buffer: Vec::new(), start: 0, end: 0, offset: 0, halt: None })
    }

    /// How the shard is compressed.
    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    /// The bytes that are there.
    pub(crate) fn window(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Offset of the window's first byte in the uncompressed shard.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Drops the first `length` bytes of the window.
    pub(crate) fn advance(&mut self, length: usize) {
        debug_assert!(length <= self.end - self.start);
        self.start += length;
        self.offset += length as u64;
    }

    /// Makes the window longer; false when the shard ends here or is damaged here.
    pub(crate) fn more(&mut self) -> io::Result<bool> {
        if self.halt.is_some() {
            return Ok(false);
        }
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        } else if self.start >= CHUNK && self.start >= self.end - self.start {
            // At least half of the buffer is done with: move the rest to the front, at constant cost per byte.
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() - self.end < CHUNK {
            self.buffer.resize((self.end + CHUNK).max(self.buffer.len() + self.buffer.len() / 2), 0);
        }
        match self.source.read(&mut self.buffer[self.end..])? {
            Chunk::Bytes(length) => {
                self.end += length;
                return Ok(true);
            }
            Chunk::End => self.halt = Some(Halt::End),
            Chunk::Fault(reason) => self.halt = Some(Halt::Fault { reason, corrupt: false }),
            Chunk::Corrupt(reason) => self.halt = Some(Halt::Fault { reason, corrupt: true }),
        }
        Ok(false)
    }

    /// Makes the window at least `length` long; false when the shard ends or is damaged before that.
    pub(crate) fn ensure(&mut self, length: usize) -> io::Result<bool> {
        while self.end - self.start < length {
            if !self.more()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Why the shard seems to end here, if it is by damage.
    pub(crate) fn fault(&self) -> Option<&str> {
        match &self.halt {
            Some(Halt::Fault { reason, .. }) => Some(reason),
            _ => None,
        }
    }

    /// True when the damage that [`Stream::fault`] told of lies in the bytes before it and not in a lack of
    /// bytes behind them.
    pub(crate) fn is_corrupt(&self) -> bool {
        matches!(self.halt, Some(Halt::Fault { corrupt: true, .. }))
    }

    /// Goes on behind the damage that [`Stream::fault`] told of.
    pub(crate) fn resume(&mut self) {
        if self.fault().is_some() {
            self.halt = None;
        }
    }

    /// Looks for `needle` from `from` on, growing the window up to `limit` bytes.
    pub(crate) fn find(&mut self, needle: &Finder<'_>, from: usize, limit: usize) -> io::Result<Found> {
        let length = needle.needle().len();
        let mut from = from;
        loop {
            let window = self.window();
            if let Some(at) = window.get(from..).and_then(|rest| needle.find(rest)) {
                return Ok(Found::At(from + at));
            }
            if window.len() >= limit {
                return Ok(Found::Limit);
            }
            from = from.max((window.len() + 1).saturating_sub(length));
            if !self.more()? {
                return Ok(Found::End);
            }
        }
    }

    /// Drops everything before the next `needle` without keeping it; false when the shard ends or is damaged
    /// before one is found, with all of it dropped.
    pub(crate) fn skip_to(&mut self, needle: &Finder<'_>) -> io::Result<bool> {
        let length = needle.needle().len();
        loop {
            if let Some(at) = needle.find(self.window()) {
                self.advance(at);
                return Ok(true);
            }
            self.advance((self.window().len() + 1).saturating_sub(length));
            if !self.more()? {
                self.advance(self.window().len());
                return Ok(false);
            }
        }
    }
}

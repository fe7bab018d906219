//! The window of bytes that every format reads from.

use std::io;

use memchr::memmem::Finder;

use super::{Chunk, Compression, Replay, Source, members::Members, refusal};
use crate::options::DecoderBudget;

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
    end_reason: Option<StreamEnd>,
}

enum StreamEnd {
    End,
    Fault { reason: String, corrupt: bool },
}

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchResult {
    /// The needle stands at this offset in the window.
    At(usize),
    /// The shard ends, or is damaged, before the needle: the window holds all up to there.
    End,
    /// The needle is not within the limit.
    Limit,
}

impl Stream {
    /// A stream over `raw`, whose compression is seen from its first bytes; where these are neither compressed
    /// nor text, they are damaged, and the compression is the one that the shard's name tells. Kinds of files that cannot be
    /// read are refused.
    pub(crate) fn open(mut raw: Replay, named: Compression, budget: DecoderBudget) -> io::Result<Self> {
        let head = raw.peek(256)?;
        let is_text = head.iter().all(|byte| !matches!(byte, 0..=8 | 14..=26 | 28..=31));
        refusal::refuse_unsupported(head)?;
        let compression = match Compression::detect(head, named) {
            Compression::None if !is_text => named,
            seen => seen,
        };
        let source: Box<dyn Source> = match compression {
            Compression::None => Box::new(raw),
            _ => Box::new(Members::new(compression, raw, budget)),
        };
        Ok(Stream { source, compression, buffer: Vec::new(), start: 0, end: 0, offset: 0, end_reason: None })
    }

    /// Returns the compression of the shard.
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

    /// Moves the first `length` bytes of the window into `out`; returns where they stand there. What is less is copied:
    /// these bytes, or, as the buffers change places, those behind them.
    pub(crate) fn split_front(&mut self, length: usize, out: &mut Vec<u8>) -> (usize, usize) {
        debug_assert!(length <= self.end - self.start);
        let (start, middle) = (self.start, self.start + length);
        if self.end - middle > length {
            out.clear();
            out.extend_from_slice(&self.buffer[start..middle]);
            self.advance(length);
            return (0, length);
        }
        let rest = self.end - middle;
        let room = self.buffer.len().min(length + CHUNK).max(rest);
        if out.len() < room {
            out.resize(room, 0);
        }
        out[..rest].copy_from_slice(&self.buffer[middle..self.end]);
        std::mem::swap(&mut self.buffer, out);
        (self.start, self.end) = (0, rest);
        self.offset += length as u64;
        (start, middle)
    }

    /// Makes the window longer; false when the shard ends here or is damaged here.
    pub(crate) fn more(&mut self) -> io::Result<bool> {
        if self.end_reason.is_some() {
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
        // A buffer that a long record left is not filled for its own sake.
        let until = self.buffer.len().min(self.end + 2 * CHUNK);
        match self.source.read(&mut self.buffer[self.end..until])? {
            Chunk::Bytes(length) => {
                self.end += length;
                return Ok(true);
            }
            Chunk::End => self.end_reason = Some(StreamEnd::End),
            Chunk::Fault(reason) => self.end_reason = Some(StreamEnd::Fault { reason, corrupt: false }),
            Chunk::Corrupt(reason) => self.end_reason = Some(StreamEnd::Fault { reason, corrupt: true }),
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

    /// Returns the reason why the shard seems to end here, if that is damage.
    pub(crate) fn fault(&self) -> Option<&str> {
        match &self.end_reason {
            Some(StreamEnd::Fault { reason, .. }) => Some(reason),
            _ => None,
        }
    }

    /// True when the damage that [`Stream::fault`] told of lies in the bytes before it and not in a lack of
    /// bytes behind them.
    pub(crate) fn is_corrupt(&self) -> bool {
        matches!(self.end_reason, Some(StreamEnd::Fault { corrupt: true, .. }))
    }

    /// Goes on behind the damage that [`Stream::fault`] told of.
    pub(crate) fn resume(&mut self) {
        if self.fault().is_some() {
            self.end_reason = None;
        }
    }

    /// Looks for `needle` from `from` on, within the first `limit` bytes of the window. What the window holds
    /// beyond these is not looked at: how much that is depends on how the bytes come in.
    pub(crate) fn find(
        &mut self,
        needle: &Finder<'_>,
        from: usize,
        limit: usize,
    ) -> io::Result<SearchResult> {
        let length = needle.needle().len();
        let mut from = from;
        loop {
            let window = self.window();
            let within = &window[..window.len().min(limit)];
            if let Some(at) = within.get(from..).and_then(|rest| needle.find(rest)) {
                return Ok(SearchResult::At(from + at));
            }
            if window.len() >= limit {
                return Ok(SearchResult::Limit);
            }
            from = from.max((window.len() + 1).saturating_sub(length));
            if !self.more()? {
                return Ok(SearchResult::End);
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

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    /// Gives chunks of the lengths named, again and again, and damage behind each `fault` bytes.
    struct ChunkedSource {
        bytes: Vec<u8>,
        at: usize,
        lengths: Vec<usize>,
        next_length: usize,
        fault: Option<usize>,
    }

    impl Source for ChunkedSource {
        fn read(&mut self, out: &mut [u8]) -> io::Result<Chunk> {
            if self.fault.is_some_and(|fault| fault == self.at) {
                self.fault = None;
                return Ok(Chunk::Fault("damage".into()));
            }
            let until = self.fault.unwrap_or(self.bytes.len()).min(self.bytes.len());
            let length =
                self.lengths[self.next_length % self.lengths.len()].min(out.len()).min(until - self.at);
            if length == 0 {
                return Ok(Chunk::End);
            }
            out[..length].copy_from_slice(&self.bytes[self.at..self.at + length]);
            self.at += length;
            self.next_length += 1;
            Ok(Chunk::Bytes(length))
        }
    }

    fn stream(bytes: &[u8], lengths: &[usize], fault: Option<usize>) -> Stream {
        let source =
            ChunkedSource { bytes: bytes.to_vec(), at: 0, lengths: lengths.to_vec(), next_length: 0, fault };
        Stream {
            source: Box::new(source),
            compression: Compression::None,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            offset: 0,
            end_reason: None,
        }
    }

    fn naive(haystack: &[u8], needle: &[u8], from: usize) -> Option<usize> {
        (from..(haystack.len() + 1).saturating_sub(needle.len()))
            .find(|&at| haystack[at..].starts_with(needle))
    }

    proptest! {
        #[test]
        fn find_finds_what_a_naive_search_finds(
            bytes in prop::collection::vec(prop::sample::select(b"ab\n".to_vec()), 0..60),
            needle in prop::collection::vec(prop::sample::select(b"ab\n".to_vec()), 1..4),
            lengths in prop::collection::vec(1usize..7, 1..4),
            from in 0usize..20,
        ) {
            let finder = Finder::new(&needle);
            let expected = naive(&bytes, &needle, from).map_or(SearchResult::End, SearchResult::At);
            prop_assert_eq!(stream(&bytes, &lengths, None).find(&finder, from, 1000).unwrap(), expected);
        }

        #[test]
        fn skip_to_stops_at_every_needle(
            bytes in prop::collection::vec(prop::sample::select(b"ab\n".to_vec()), 0..60),
            needle in prop::collection::vec(prop::sample::select(b"ab\n".to_vec()), 1..4),
            lengths in prop::collection::vec(1usize..7, 1..4),
        ) {
            let finder = Finder::new(&needle);
            let mut stream = stream(&bytes, &lengths, None);
            let mut from = 0;
            while let Some(at) = naive(&bytes, &needle, from) {
                prop_assert!(stream.skip_to(&finder).unwrap());
                prop_assert_eq!(stream.offset(), at as u64);
                prop_assert!(stream.window().starts_with(&needle));
                stream.advance(1);
                from = at + 1;
            }
            prop_assert!(!stream.skip_to(&finder).unwrap());
            prop_assert_eq!(stream.offset(), bytes.len() as u64);
            prop_assert!(stream.window().is_empty());
        }

        #[test]
        fn what_is_split_off_stood_at_the_front(
            lengths in prop::collection::vec(1usize..200_000, 1..4),
            steps in prop::collection::vec((0usize..900_000, 0usize..900_000), 1..12),
        ) {
            let bytes: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
            let mut stream = stream(&bytes, &lengths, None);
            let (mut out, mut passed) = (Vec::new(), 0);
            for (wanted, length) in steps {
                stream.ensure(wanted).unwrap();
                let length = length.min(stream.window().len());
                let (begin, end) = stream.split_front(length, &mut out);
                prop_assert!(out[begin..end] == bytes[passed..passed + length]);
                passed += length;
                prop_assert_eq!(stream.offset(), passed as u64);
                prop_assert!(bytes[passed..].starts_with(stream.window()));
            }
        }

        #[test]
        fn the_window_shows_the_shard_whatever_is_done(
            lengths in prop::collection::vec(1usize..200_000, 1..4),
            steps in prop::collection::vec((0usize..600_000, 0usize..600_000), 1..12),
        ) {
            let bytes: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
            let mut stream = stream(&bytes, &lengths, None);
            for (wanted, passed) in steps {
                let whole = stream.ensure(wanted).unwrap();
                let offset = stream.offset() as usize;
                prop_assert_eq!(whole, offset + wanted <= bytes.len());
                prop_assert!(bytes[offset..].starts_with(stream.window()));
                stream.advance(passed.min(stream.window().len()));
            }
        }
    }

    #[test]
    fn a_search_ends_at_its_limit() {
        let bytes = [vec![b'a'; 100], b"x".to_vec()].concat();
        let finder = Finder::new(b"x");
        for length in [1, 7, 1000] {
            let find = |limit| stream(&bytes, &[length], None).find(&finder, 0, limit).unwrap();
            assert_eq!(find(50), SearchResult::Limit);
            assert_eq!(find(100), SearchResult::Limit);
            assert_eq!(find(101), SearchResult::At(100));
        }
    }

    #[test]
    fn damage_is_an_end_until_reading_is_resumed() {
        let mut stream = stream(b"one\ntwo\n", &[3], Some(2));
        let finder = Finder::new(b"\n");
        assert_eq!(stream.find(&finder, 0, 100).unwrap(), SearchResult::End);
        assert_eq!((stream.window(), stream.fault()), (&b"on"[..], Some("damage")));
        assert!(!stream.more().unwrap());
        stream.advance(2);
        stream.resume();
        assert_eq!(stream.fault(), None);
        assert_eq!(stream.find(&finder, 0, 100).unwrap(), SearchResult::At(1));
        assert_eq!(stream.offset(), 2);
        assert!(!stream.ensure(100).unwrap());
        stream.resume();
        assert!(!stream.more().unwrap(), "an end stays an end");
    }

    #[test]
    fn the_compression_is_seen_from_the_first_bytes() {
        let open = |bytes: &[u8]| {
            let raw = Replay::new(Box::new(Cursor::new(bytes.to_vec())));
            Stream::open(raw, Compression::None, DecoderBudget::default()).unwrap()
        };
        assert_eq!(open(b"").compression(), Compression::None);
        assert_eq!(open(b"BZh9 is no beginning").compression(), Compression::None);
        let mut stream = open(&crate::formats::testing::compress(Compression::Zstd, b"text"));
        assert_eq!(stream.compression(), Compression::Zstd);
        assert!(stream.ensure(4).unwrap());
        assert_eq!(stream.window(), b"text");
    }
}

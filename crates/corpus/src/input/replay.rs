//! Raw bytes that can be read a second time from a mark.
//!
//! A decoder notices damage only some way behind it, often inside the next member. To step over the damage we
//! must look again at bytes that the decoder has already eaten, and standard input cannot be rewound: so the
//! bytes since the mark are kept, up to a bound.

use std::io::{self, BufRead, Read};

const CHUNK: usize = 128 << 10;

/// Most bytes behind the mark that are kept to be read again. Members of crawls hold one record and are far smaller.
const MOST_KEPT: usize = 4 << 20;

/// A buffered reader with a mark.
pub(crate) struct Replay {
    inner: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// Next byte to hand out.
    at: usize,
    /// Position of the mark in `buffer`, while it can still be reached.
    mark: Option<usize>,
    /// The error of the file below, as opposed to damage that a decoder complains about.
    failure: Option<io::Error>,
}

impl Replay {
    pub(crate) fn new(inner: Box<dyn Read + Send>) -> Self {
        Replay { inner, buffer: Vec::new(), at: 0, mark: None, failure: None }
    }

    /// Marks the next byte.
    pub(crate) fn set_mark(&mut self) {
        self.mark = Some(self.at);
    }

    /// Returns the number of bytes between the mark and the next byte; 0 when the mark can no longer be reached.
    pub(crate) fn since_mark(&self) -> usize {
        self.mark.map_or(0, |mark| self.at - mark)
    }

    /// Goes back to the byte behind the mark, or stays here when the mark is too far behind.
    pub(crate) fn rewind_behind_mark(&mut self) {
        if let Some(mark) = self.mark.take() {
            self.at = (mark + 1).min(self.buffer.len());
        }
    }

    /// The error of the file below, if it was one that stopped the decoder.
    pub(crate) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// The next bytes without taking them: `wanted` of them unless the input ends before.
    pub(crate) fn peek(&mut self, wanted: usize) -> io::Result<&[u8]> {
        while self.buffer.len() - self.at < wanted && self.grow()? > 0 {}
        let end = self.buffer.len().min(self.at + wanted);
        Ok(&self.buffer[self.at..end])
    }

    /// Appends one chunk; drops bytes that can no longer be asked for.
    fn grow(&mut self) -> io::Result<usize> {
        let kept_from = match self.mark {
            Some(mark) if self.at - mark <= MOST_KEPT => mark,
            _ => {
                self.mark = None;
                self.at
            }
        };
        // Moving the kept bytes to the front pays only once there is a chunk's worth to drop.
        if kept_from >= CHUNK || kept_from == self.buffer.len() {
            self.buffer.drain(..kept_from);
            self.at -= kept_from;
            self.mark = self.mark.map(|mark| mark - kept_from);
        }
        let filled = self.buffer.len();
        self.buffer.resize(filled + CHUNK, 0);
        let read = read_on(&mut self.inner, &mut self.buffer[filled..]);
        self.buffer.truncate(filled + *read.as_ref().unwrap_or(&0));
        read.inspect_err(|error| {
            self.failure = Some(io::Error::new(error.kind(), error.to_string()));
        })
    }
}

fn read_on(inner: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
    loop {
        match inner.read(out) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

impl Read for Replay {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // What nobody will look at twice needs no copy here.
        if self.at == self.buffer.len() && self.mark.is_none() && out.len() >= CHUNK {
            return read_on(&mut self.inner, out);
        }
        let available = self.fill_buf()?;
        let length = available.len().min(out.len());
        out[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Replay {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.buffer.len() {
            self.grow()?;
        }
        Ok(&self.buffer[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
    }
}

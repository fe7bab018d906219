//! The bytes of a compressed page, a little at a time: a page need not fit into memory.

use std::io::{self, Read};

use parquet::basic::Compression;

use crate::input::window::Window;

/// The furthest that a copy may reach back. Writers of Snappy work on 64 KiB at a time, and LZ4 cannot reach further.
const WINDOW: usize = 1 << 20;

/// Bytes that are unpacked at once, about.
const STEP: usize = 64 << 10;

/// Bytes that tell how far back a page reaches.
pub(super) const HEADER_BYTES: usize = 64;

/// Bytes of what it has unpacked that a decoder must hold for a page that begins with `head`, beside what readers have anyway; `None`
/// for compressions that can only be unpacked whole.
pub(super) fn window_bytes(codec: Compression, head: &[u8]) -> Option<u64> {
    match codec {
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::LZ4_RAW | Compression::GZIP(_) => {
            Some(0)
        }
        Compression::BROTLI(_) => brotli_window(*head.first()?),
        Compression::ZSTD(_) => Window::parse(head).and_then(Window::decoder_bytes),
        _ => None,
    }
}

/// The window that the first byte of a Brotli stream tells (RFC 7932, section 9.1); `None` for those beyond the standard.
fn brotli_window(first: u8) -> Option<u64> {
    let bits = match (first & 1, first >> 1 & 7, first >> 4 & 7) {
        (0, ..) => 16,
        (_, 0, 0) => 17,
        (_, 0, 1) => return None,
        (_, 0, low) => 8 + low,
        (_, high, _) => 17 + high,
    };
    Some(1 << bits)
}

/// Opens what unpacks `input`; nothing for compressions that can only be unpacked whole. A decoder may hold `window_bytes` bytes of what it has
/// unpacked.
pub(super) fn unpacked(
    codec: Compression,
    input: impl Read + Send + 'static,
    window_bytes: u64,
) -> io::Result<Option<Box<dyn Read + Send>>> {
    Ok(Some(match codec {
        Compression::UNCOMPRESSED => Box::new(input),
        Compression::SNAPPY => Box::new(BlockDecoder::new(input, Kind::Snappy)),
        Compression::LZ4_RAW => Box::new(BlockDecoder::new(input, Kind::Lz4)),
        Compression::GZIP(_) => Box::new(flate2::read::MultiGzDecoder::new(input)),
        Compression::BROTLI(_) => Box::new(brotli_decompressor::Decompressor::new(input, STEP)),
        Compression::ZSTD(_) => {
            let mut decoder = zstd::stream::read::Decoder::new(input)?;
            decoder.window_log_max(window_bytes.clamp(1 << 20, 1 << 31).next_power_of_two().ilog2())?;
            Box::new(decoder)
        }
        _ => return Ok(None),
    }))
}

/// The two formats that are a sequence of literals and copies, without an end mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Snappy,
    Lz4,
}

/// The rest of one literal or one copy that is still to be put out.
#[derive(Debug, Clone, Copy)]
enum Piece {
    Nothing,
    Literal(usize),
    Copy { distance: usize, length: usize },
}

/// Unpacks Snappy or LZ4 blocks.
struct BlockDecoder<R> {
    input: R,
    kind: Kind,
    /// Bytes put out last, as far as copies may reach back, and those that are not yet read.
    out: Vec<u8>,
    /// The beginning of the latter in `out`.
    at: usize,
    piece: Piece,
    /// Snappy: its length was read. LZ4: the literals of a sequence are behind us, and so many of its token's bits are for the copy.
    begun: bool,
    token: Option<u8>,
}

impl<R: Read> BlockDecoder<R> {
    fn new(input: R, kind: Kind) -> Self {
        BlockDecoder { input, kind, out: Vec::new(), at: 0, piece: Piece::Nothing, begun: false, token: None }
    }

    /// The next byte of the input; nothing at its end.
    fn byte(&mut self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        Ok((self.input.read(&mut byte)? == 1).then_some(byte[0]))
    }

    fn number(&mut self, bytes: usize) -> io::Result<usize> {
        let mut number = [0; 8];
        self.input.read_exact(&mut number[..bytes])?;
        Ok(u64::from_le_bytes(number) as usize)
    }

    /// Moves to the next literal or copy; false at the end.
    fn next_piece(&mut self) -> io::Result<bool> {
        match self.kind {
            Kind::Snappy => self.next_of_snappy(),
            Kind::Lz4 => self.next_of_lz4(),
        }
    }

    fn next_of_snappy(&mut self) -> io::Result<bool> {
        if !std::mem::replace(&mut self.begun, true) {
            // The length of all, which the page's header tells as well.
            while self.byte()?.is_some_and(|byte| byte & 0x80 != 0) {}
        }
        let Some(tag) = self.byte()? else { return Ok(false) };
        let high = usize::from(tag >> 2);
        self.piece = match tag & 3 {
            0 if high < 60 => Piece::Literal(high + 1),
            0 => Piece::Literal(self.number(high - 59)? + 1),
            1 => {
                let distance = usize::from(tag >> 5) << 8 | self.number(1)?;
                Piece::Copy { distance, length: (high & 7) + 4 }
            }
            2 => Piece::Copy { distance: self.number(2)?, length: high + 1 },
            _ => Piece::Copy { distance: self.number(4)?, length: high + 1 },
        };
        Ok(true)
    }

    fn next_of_lz4(&mut self) -> io::Result<bool> {
        if let Some(token) = self.token.take() {
            let mut distance = [0; 2];
            // The last sequence has no copy.
            if self.input.read(&mut distance[..1])? == 0 {
                return Ok(false);
            }
            self.input.read_exact(&mut distance[1..])?;
            let length = self.long(token & 15)? + 4;
            self.piece = Piece::Copy { distance: u16::from_le_bytes(distance).into(), length };
            return Ok(true);
        }
        let Some(token) = self.byte()? else { return Ok(false) };
        self.token = Some(token);
        self.piece = Piece::Literal(self.long(token >> 4)?);
        Ok(true)
    }

    /// A length of LZ4, which goes on in further bytes when it is 15.
    fn long(&mut self, short: u8) -> io::Result<usize> {
        let mut length = usize::from(short);
        while length >= 15 {
            let more = self.number(1)?;
            length += more;
            if more < 255 {
                break;
            }
        }
        Ok(length)
    }

    /// Puts out a part of the piece at hand.
    fn put(&mut self) -> io::Result<()> {
        match self.piece {
            Piece::Nothing => {}
            Piece::Literal(length) => {
                let some = length.min(STEP);
                let begin = self.out.len();
                self.out.resize(begin + some, 0);
                self.input.read_exact(&mut self.out[begin..])?;
                self.piece = if length > some { Piece::Literal(length - some) } else { Piece::Nothing };
            }
            Piece::Copy { distance, length } => {
                if distance == 0 || distance > self.out.len() {
                    let complaint = "a copy reaches back too far";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, complaint));
                }
                // A copy may reach into what it puts out itself.
                let some = length.min(STEP).min(distance);
                let begin = self.out.len() - distance;
                self.out.extend_from_within(begin..begin + some);
                let rest = length - some;
                self.piece = if rest > 0 { Piece::Copy { distance, length: rest } } else { Piece::Nothing };
            }
        }
        Ok(())
    }

    fn refill(&mut self) -> io::Result<()> {
        if self.out.len() > 2 * WINDOW {
            self.out.drain(..self.out.len() - WINDOW);
            self.at = self.out.len();
        }
        while self.out.len() - self.at < STEP {
            if matches!(self.piece, Piece::Nothing) && !self.next_piece()? {
                break;
            }
            self.put()?;
        }
        Ok(())
    }
}

impl<R: Read> Read for BlockDecoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.out.len() {
            self.refill()?;
        }
        let length = out.len().min(self.out.len() - self.at);
        out[..length].copy_from_slice(&self.out[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

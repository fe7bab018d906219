//! The header of a page, as far as it tells how large the page is and how its values stand in it.

use std::io::{self, Read};

/// The kind of a page, with what its header tells of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    /// Values, behind their levels; both are compressed together.
    Data {
        /// Number of values, those that are not there included.
        count: u32,
        /// The number of their encoding.
        encoding: u32,
        /// The number of the encoding of their levels.
        levels: u32,
    },
    /// Values, behind their levels, which are not compressed.
    DataV2 {
        /// Number of values, those that are not there included.
        count: u32,
        /// The number of their encoding.
        encoding: u32,
        /// Bytes of the levels that say which values are there.
        definitions: u32,
        /// Bytes of the levels that say where rows begin.
        repetitions: u32,
        /// True if the values are compressed.
        compressed: bool,
    },
    /// Values that others are numbers of.
    Dictionary {
        /// Number of values.
        count: u32,
        /// True if the values are sorted.
        sorted: bool,
    },
    /// Anything else, which is passed over.
    Other,
}

/// The header of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageHeader {
    /// Bytes of the header itself.
    pub(super) length: u64,
    /// Bytes behind it.
    pub(super) packed: u64,
    /// Bytes that these become.
    pub(super) unpacked: u64,
    pub(super) kind: PageKind,
}

impl PageHeader {
    /// Reads a header, which is a structure in Thrift's compact protocol.
    pub(super) fn read(input: impl Read) -> io::Result<PageHeader> {
        let mut thrift = ThriftReader { input, length: 0 };
        let (mut page_type, mut sizes, mut values) = (0, [0; 2], [0i64; 9]);
        let (mut compressed, mut sorted) = (true, false);
        thrift.structure(|thrift, field, wire| {
            match (field, wire) {
                (1, I32) => page_type = thrift.integer()?,
                (2, I32) => sizes[0] = thrift.integer()?,
                (3, I32) => sizes[1] = thrift.integer()?,
                (5 | 7 | 8, STRUCT) => thrift.structure(|thrift, field, wire| {
                    match (field, wire) {
                        (1..=6, I32) => values[field as usize] = thrift.integer()?,
                        (7, TRUE | FALSE) => compressed = wire == TRUE,
                        (3, TRUE | FALSE) => sorted = wire == TRUE,
                        _ => thrift.skip(wire, 0)?,
                    }
                    Ok(())
                })?,
                _ => thrift.skip(wire, 0)?,
            }
            Ok(())
        })?;
        let size = |size: i64| u64::try_from(size).map_err(|_| broken("a page has a size below zero"));
        let number = |field: usize| u32::try_from(values[field]).unwrap_or(u32::MAX);
        let kind = match page_type {
            0 => PageKind::Data { count: number(1), encoding: number(2), levels: number(3) },
            2 => PageKind::Dictionary { count: number(1), sorted },
            3 => PageKind::DataV2 {
                count: number(1),
                encoding: number(4),
                definitions: number(5),
                repetitions: number(6),
                compressed,
            },
            _ => PageKind::Other,
        };
        Ok(PageHeader { length: thrift.length, packed: size(sizes[1])?, unpacked: size(sizes[0])?, kind })
    }
}

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I32: u8 = 5;
const STRUCT: u8 = 12;

/// No header has structures deeper than this.
const DEEPEST: u32 = 8;

fn broken(complaint: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, complaint)
}

/// Reads values in Thrift's compact protocol.
struct ThriftReader<R> {
    input: R,
    /// Bytes taken so far.
    length: u64,
}

impl<R: Read> ThriftReader<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        self.length += 1;
        Ok(byte[0])
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(broken("a number of a page's header has no end"))
    }

    fn integer(&mut self) -> io::Result<i64> {
        let number = self.varint()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Hands the fields of a structure to `each`, with their numbers and types.
    fn structure(&mut self, mut each: impl FnMut(&mut Self, i64, u8) -> io::Result<()>) -> io::Result<()> {
        let mut field = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            field = match head >> 4 {
                0 => self.integer()?,
                more => field.wrapping_add(more.into()),
            };
            each(self, field, head & 15)?;
        }
    }

    /// Passes over a value of a type.
    fn skip(&mut self, wire: u8, depth: u32) -> io::Result<()> {
        if depth > DEEPEST {
            return Err(broken("a page's header is nested too deeply"));
        }
        match wire {
            TRUE | FALSE => Ok(()),
            3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            8 => {
                let length = self.varint()?;
                self.pass(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                // Truths in a list take a byte each.
                let wire = if matches!(head & 15, TRUE | FALSE) { 3 } else { head & 15 };
                (0..count).try_for_each(|_| self.skip(wire, depth + 1))
            }
            STRUCT => self.structure(|thrift, _, wire| thrift.skip(wire, depth + 1)),
            _ => Err(broken("a page's header has a field of no known type")),
        }
    }

    fn pass(&mut self, bytes: u64) -> io::Result<()> {
        let passed = io::copy(&mut self.input.by_ref().take(bytes), &mut io::sink())?;
        self.length += passed;
        if passed == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

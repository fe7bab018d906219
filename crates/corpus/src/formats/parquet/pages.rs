//! The pages of a column, none of them larger than memory allows.
//!
//! A writer decides how large a page is: with the defaults of a widespread one it holds a thousand rows, however long these are. A
//! page that is too large is unpacked a little at a time and handed on as many small ones. What cannot be taken apart like that, a
//! dictionary above all, is refused.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::RowGroupReader;

use super::header::{Holds, PageHeader};
use super::unpack::unpacked;

/// A part of a page holds about so many bytes, and at most so many values.
const PART_BYTES: usize = 1 << 20;
const PART_VALUES: usize = 4096;

/// Numbers that encodings have in a page's header.
const PLAIN: u32 = 0;
const RLE: u32 = 3;

/// How much of a file's columns may be in memory.
#[derive(Debug, Clone)]
pub(crate) struct PageLimits {
    /// The file, to look at pages before they are read.
    pub(crate) file: Arc<File>,
    /// Bytes that the pages of one column may take, packed and unpacked.
    pub(crate) most: u64,
    /// Values of pages that are taken apart are cut off behind so many bytes: who reads them takes no longer ones.
    pub(crate) longest: usize,
}

/// The complaint about a page that memory has no room for.
#[derive(Debug, thiserror::Error)]
#[error("a page takes {bytes} bytes")]
pub(crate) struct TooLarge {
    /// Bytes that it takes, packed and unpacked.
    pub(crate) bytes: u64,
}

impl TooLarge {
    /// The complaint that stopped a decoder, if it was this one.
    pub(crate) fn stopped(error: &ParquetError) -> Option<u64> {
        match error {
            ParquetError::External(cause) => cause.downcast_ref::<TooLarge>().map(|large| large.bytes),
            _ => None,
        }
    }
}

/// The pages of a column. In columns of one value per row nothing comes once after each page of values, so that whoever reads gets
/// the rows of one page at a time.
pub(super) struct Pages {
    inner: Box<dyn PageReader>,
    limits: PageLimits,
    /// Where the next page begins in the file, and where the column ends.
    at: u64,
    end: u64,
    codec: Compression,
    /// The level of a value that is there.
    present: i16,
    flat: bool,
    texts: bool,
    /// A page that is being taken apart.
    parts: Option<Parts>,
    given: bool,
}

impl Pages {
    pub(super) fn open(
        group: &dyn RowGroupReader,
        leaf: usize,
        limits: &PageLimits,
    ) -> Result<Self, ParquetError> {
        let metadata = group.metadata().column(leaf);
        let (at, length) = range(metadata);
        let descriptor = metadata.column_descr();
        Ok(Pages {
            inner: group.get_column_page_reader(leaf)?,
            limits: limits.clone(),
            at,
            end: at.saturating_add(length),
            codec: metadata.compression(),
            present: descriptor.max_def_level(),
            flat: descriptor.max_rep_level() == 0,
            texts: descriptor.physical_type() == Type::BYTE_ARRAY,
            parts: None,
            given: false,
        })
    }

    /// Looks at the header of the next page; nothing behind the last.
    fn header(&self) -> Result<Option<PageHeader>, ParquetError> {
        if self.at >= self.end {
            return Ok(None);
        }
        let stretch = Stretch { file: self.limits.file.clone(), at: self.at, end: self.end };
        Ok(Some(PageHeader::read(BufReader::with_capacity(1 << 10, stretch))?))
    }

    /// Moves to the next page; a small one is returned, a large one taken apart.
    fn turn(&mut self) -> Result<Option<Page>, ParquetError> {
        loop {
            let Some(header) = self.header()? else { return self.inner.get_next_page() };
            let begin = self.at.saturating_add(header.length);
            self.at = begin.saturating_add(header.packed);
            // The page before is still there while this one is unpacked. A dictionary is the first.
            let (taken, whole) = match header.holds {
                Holds::Other => continue,
                Holds::Dictionary => (header.packed.saturating_add(header.unpacked), true),
                _ => (header.packed.saturating_add(header.unpacked.saturating_mul(2)), false),
            };
            if taken <= self.limits.most {
                return self.inner.get_next_page();
            }
            let parts = if whole { None } else { self.apart(&header, begin)? };
            let Some(parts) = parts else {
                return Err(ParquetError::External(Box::new(TooLarge { bytes: taken })));
            };
            self.inner.skip_next_page()?;
            self.parts = Some(parts);
            return Ok(None);
        }
    }

    /// Opens a page to take it apart, if it holds texts as they are.
    fn apart(&self, header: &PageHeader, begin: u64) -> Result<Option<Parts>, ParquetError> {
        if !self.flat || !self.texts {
            return Ok(None);
        }
        let stretch = |from: u64, end: u64| Stretch { file: self.limits.file.clone(), at: from, end };
        let unpack = |from: u64, codec: Compression| {
            let packed = BufReader::with_capacity(64 << 10, stretch(from, self.at));
            unpacked(codec, packed, self.limits.most / 2)
        };
        let most = usize::try_from(self.limits.most / 2).unwrap_or(usize::MAX);
        let (count, values, levels) = match header.holds {
            Holds::Values { count, encoding: PLAIN, levels: RLE } => {
                let Some(mut values) = unpack(begin, self.codec)? else { return Ok(None) };
                let levels = if self.present > 0 {
                    let length = take_number(&mut values)? as usize;
                    if length > most {
                        return Ok(None);
                    }
                    taken(&mut values, length)?
                } else {
                    Vec::new()
                };
                (count, values, levels)
            }
            Holds::ValuesApart { count, encoding: PLAIN, definitions, repetitions: 0, compressed } => {
                if definitions as usize > most {
                    return Ok(None);
                }
                let behind = begin.saturating_add(definitions.into()).min(self.at);
                let levels = taken(&mut stretch(begin, behind), definitions as usize)?;
                let codec = if compressed { self.codec } else { Compression::UNCOMPRESSED };
                let Some(values) = unpack(behind, codec)? else { return Ok(None) };
                (count, values, levels)
            }
            _ => return Ok(None),
        };
        let levels = Levels::new(levels, self.present);
        // Texts are read by their lengths, four bytes at a time.
        let values = BufReader::with_capacity(64 << 10, values);
        Ok(Some(Parts { values, levels, left: count, present: self.present, longest: self.limits.longest }))
    }
}

/// Where a column begins in the file, and its length.
fn range(column: &ColumnChunkMetaData) -> (u64, u64) {
    let first = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    let number = |number: i64| u64::try_from(number).unwrap_or(0);
    (number(first), number(column.compressed_size()))
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        if self.flat && std::mem::take(&mut self.given) {
            return Ok(None);
        }
        loop {
            let page = match &mut self.parts {
                Some(parts) => parts.next()?,
                None => self.turn()?,
            };
            match page {
                Some(page) => {
                    self.given = page.is_data_page();
                    return Ok(Some(page));
                }
                // The last part of one page was given, or the first of another one is to come.
                None if self.parts.as_ref().is_some_and(|parts| parts.left == 0) => self.parts = None,
                None if self.parts.is_some() => {}
                None => return Ok(None),
            }
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        Err(ParquetError::General("pages are read one after the other".to_owned()))
    }

    fn at_record_boundary(&mut self) -> Result<bool, ParquetError> {
        self.inner.at_record_boundary()
    }
}

impl Iterator for Pages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// A stretch of a file. Others read the same file, so its place there is set before every read.
struct Stretch {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for Stretch {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = (self.end - self.at.min(self.end)).min(out.len() as u64) as usize;
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.read(&mut out[..length])?;
        self.at += read as u64;
        Ok(read)
    }
}

fn take_number(input: &mut impl Read) -> io::Result<u32> {
    let mut number = [0; 4];
    input.read_exact(&mut number)?;
    Ok(u32::from_le_bytes(number))
}

fn taken(input: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = input.take(length as u64).read_to_end(&mut bytes)?;
    if read == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// A page of texts that is taken apart.
struct Parts {
    values: BufReader<Box<dyn Read + Send>>,
    levels: Levels,
    /// Values that are still to come, those that are not there included.
    left: u32,
    present: i16,
    longest: usize,
}

impl Parts {
    /// The next values as a page of their own.
    fn next(&mut self) -> Result<Option<Page>, ParquetError> {
        let (mut texts, mut levels) = (Vec::new(), Runs::default());
        let (mut count, mut missing) = (0, 0);
        while self.left > 0 && texts.len() < PART_BYTES && (count as usize) < PART_VALUES {
            let level = self.levels.next()?;
            levels.push(level);
            if level == self.present {
                self.text(&mut texts)?;
            } else {
                missing += 1;
            }
            (count, self.left) = (count + 1, self.left - 1);
        }
        if count == 0 {
            return Ok(None);
        }
        let mut bytes = if self.present > 0 { levels.encoded(self.present) } else { Vec::new() };
        let definitions = bytes.len() as u32;
        bytes.append(&mut texts);
        Ok(Some(Page::DataPageV2 {
            buf: bytes.into(),
            num_values: count,
            encoding: Encoding::PLAIN,
            num_nulls: missing,
            num_rows: count,
            def_levels_byte_len: definitions,
            rep_levels_byte_len: 0,
            is_compressed: false,
            statistics: None,
        }))
    }

    /// Appends the next text with its length; what is longer than anybody takes is cut off.
    fn text(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let length = u64::from(take_number(&mut self.values)?);
        let kept = length.min(self.longest as u64);
        out.extend_from_slice(&(kept as u32).to_le_bytes());
        out.reserve(kept.min(PART_BYTES as u64) as usize);
        let read = self.values.by_ref().take(kept).read_to_end(out)? as u64;
        let passed = io::copy(&mut self.values.by_ref().take(length - kept), &mut io::sink())?;
        if read + passed == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// Levels as they stand in a page: runs of one level, and stretches of levels with a few bits each.
struct Levels {
    bytes: Vec<u8>,
    at: usize,
    /// Bits of a level.
    bits: u32,
    /// Levels left of a run, and which; of a stretch, how many and the bit where the next one stands.
    run: (u64, i16),
    stretch: (u64, usize),
}

impl Levels {
    fn new(bytes: Vec<u8>, highest: i16) -> Self {
        Levels { bytes, at: 0, bits: bits(highest), run: (0, 0), stretch: (0, 0) }
    }

    fn next(&mut self) -> io::Result<i16> {
        if self.bits == 0 {
            return Ok(0);
        }
        loop {
            if self.run.0 > 0 {
                self.run.0 -= 1;
                return Ok(self.run.1);
            }
            if self.stretch.0 > 0 {
                let (left, bit) = self.stretch;
                self.stretch = (left - 1, bit + self.bits as usize);
                return self.level(bit);
            }
            self.begin()?;
        }
    }

    /// The level that stands at a bit.
    fn level(&self, bit: usize) -> io::Result<i16> {
        let mut level = 0;
        for index in 0..self.bits as usize {
            let byte = self.bytes.get((bit + index) / 8).ok_or(io::ErrorKind::UnexpectedEof)?;
            level |= i16::from(byte >> ((bit + index) % 8) & 1) << index;
        }
        Ok(level)
    }

    /// Begins the next run or stretch.
    fn begin(&mut self) -> io::Result<()> {
        let mut head = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            head |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let count = head >> 1;
        if head & 1 == 1 {
            self.stretch = (count * 8, self.at * 8);
            self.at = self.at.saturating_add((count * u64::from(self.bits)) as usize);
            return Ok(());
        }
        let mut level = i16::from(self.byte()?);
        if self.bits > 8 {
            level |= i16::from(self.byte()?) << 8;
        }
        self.run = (count, level);
        Ok(())
    }

    fn byte(&mut self) -> io::Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.at += 1;
        Ok(byte)
    }
}

/// Bits that levels up to this one need.
fn bits(highest: i16) -> u32 {
    u16::BITS - highest.cast_unsigned().leading_zeros()
}

/// Levels as runs.
#[derive(Default)]
struct Runs(Vec<(u32, i16)>);

impl Runs {
    fn push(&mut self, level: i16) {
        match self.0.last_mut() {
            Some((count, same)) if *same == level => *count += 1,
            _ => self.0.push((1, level)),
        }
    }

    fn encoded(&self, highest: i16) -> Vec<u8> {
        let mut out = Vec::new();
        for &(count, level) in &self.0 {
            let mut head = u64::from(count) << 1;
            while head >= 0x80 {
                out.push(head as u8 | 0x80);
                head >>= 7;
            }
            out.push(head as u8);
            let bytes = if bits(highest) > 8 { 2 } else { 1 };
            out.extend_from_slice(&level.to_le_bytes()[..bytes]);
        }
        out
    }
}

//! The pages of a column, none of them larger than memory allows.
//!
//! A writer decides how large a page is: with the defaults of a widespread one it holds a thousand rows, however long these are. A
//! page that is too large is unpacked a little at a time and handed on as many small ones. A dictionary is one page and cannot be taken
//! apart: it has its room first, and the pages of all columns that are read together share what is left. What has no room is refused,
//! and only then are all pages of a file looked at, to tell how much would do.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::RowGroupReader;

use super::header::{PageHeader, PageKind};
use super::unpack::{HEADER_BYTES, unpacked, window_bytes};

/// Bytes in a part of a page, about, and most values in it.
const PART_BYTES: usize = 1 << 20;
const PART_VALUES: usize = 4096;

/// A dictionary that is larger as it stands in the file is unpacked from there.
const SMALL_DICTIONARY: u64 = 1 << 20;

/// Numbers that encodings have in a page's header.
const PLAIN: u32 = 0;
const RLE: u32 = 3;

/// Bytes of a file that may be in memory.
#[derive(Debug, Clone)]
pub(crate) struct FileLimits {
    /// The file, to look at pages before they are read.
    pub(crate) file: Arc<File>,
    /// Bytes that the dictionaries and pages of all columns that are read together may take, packed and unpacked.
    pub(crate) most: u64,
    /// Bytes behind which values of pages that are taken apart are cut off: no reader takes longer ones.
    pub(crate) longest: usize,
}

impl FileLimits {
    /// Gives the dictionaries of `leaves` their room, and the pages of each an equal part of what is left.
    pub(crate) fn page_limits(
        &self,
        group: &RowGroupMetaData,
        leaves: &[usize],
    ) -> Result<PageLimits, ParquetError> {
        let mut left = self.most;
        for &leaf in leaves {
            let chunk = self.chunk(group, leaf);
            let Some(page) = chunk.dictionary() else { continue };
            let bytes = chunk.dictionary_bytes(&page);
            left = left.checked_sub(bytes).ok_or_else(|| chunk.too_large(&page))?;
        }
        let most = left / leaves.len().max(1) as u64;
        Ok(PageLimits { file: self.file.clone(), most, longest: self.longest })
    }

    /// The bytes under which these columns can be read together, in every row group: what [`FileLimits::page_limits`] must have for the
    /// largest page of each.
    pub(crate) fn needed(&self, metadata: &ParquetMetaData, leaves: &[usize]) -> u64 {
        let groups = metadata.row_groups().iter().map(|group| {
            let chunks: Vec<Chunk> = leaves.iter().map(|&leaf| self.chunk(group, leaf)).collect();
            let bytes = |chunk: &Chunk| chunk.dictionary().map_or(0, |page| chunk.dictionary_bytes(&page));
            let dictionaries = chunks.iter().map(bytes);
            let largest = chunks.iter().map(Chunk::largest).max().unwrap_or(0);
            dictionaries.fold(largest.saturating_mul(leaves.len() as u64), u64::saturating_add)
        });
        groups.max().unwrap_or(0)
    }

    fn chunk(&self, group: &RowGroupMetaData, leaf: usize) -> Chunk {
        Chunk::of(group.column(leaf), self.file.clone())
    }
}

/// Bytes of a column that may be in memory.
#[derive(Debug, Clone)]
pub(crate) struct PageLimits {
    file: Arc<File>,
    /// Bytes that its pages may take, packed and unpacked, beside its dictionary.
    most: u64,
    longest: usize,
}

/// The complaint about a page that memory has no room for.
#[derive(Debug, thiserror::Error)]
#[error("a page is larger than memory allows")]
pub(crate) struct TooLarge;

impl TooLarge {
    fn error() -> ParquetError {
        ParquetError::External(Box::new(TooLarge))
    }

    /// True when it was this that stopped a decoder.
    pub(crate) fn stopped(error: &ParquetError) -> bool {
        matches!(error, ParquetError::External(cause) if cause.is::<TooLarge>())
    }
}

/// A column of a row group, as it stands in the file.
struct Chunk {
    file: Arc<File>,
    /// Its beginning and its end.
    begin: u64,
    end: u64,
    /// Bytes of all its pages, unpacked.
    unpacked: u64,
    codec: Compression,
    /// The level of a value that is there.
    present: i16,
    flat: bool,
    texts: bool,
}

/// The header of a page, and where the page stands behind it.
struct PageLocation {
    header: PageHeader,
    begin: u64,
    end: u64,
}

impl Chunk {
    fn of(metadata: &ColumnChunkMetaData, file: Arc<File>) -> Chunk {
        let number = |number: i64| u64::try_from(number).unwrap_or(0);
        let first = metadata.dictionary_page_offset().unwrap_or(metadata.data_page_offset());
        let descriptor = metadata.column_descr();
        let begin = number(first);
        Chunk {
            file,
            begin,
            end: begin.saturating_add(number(metadata.compressed_size())),
            unpacked: number(metadata.uncompressed_size()),
            codec: metadata.compression(),
            present: descriptor.max_def_level(),
            flat: descriptor.max_rep_level() == 0,
            texts: descriptor.physical_type() == Type::BYTE_ARRAY,
        }
    }

    fn file_range(&self, at: u64, end: u64) -> FileRange {
        FileRange { file: self.file.clone(), at, end }
    }

    /// Looks at the header of the page that begins here; nothing behind the last.
    fn page(&self, at: u64) -> io::Result<Option<PageLocation>> {
        if at >= self.end {
            return Ok(None);
        }
        let header = PageHeader::read(BufReader::with_capacity(1 << 10, self.file_range(at, self.end)))?;
        let begin = at.saturating_add(header.length);
        Ok(Some(PageLocation { header, begin, end: begin.saturating_add(header.packed) }))
    }

    /// Refuses a page, unless it claims to be longer than all of its column: then it is damaged.
    fn too_large(&self, page: &PageLocation) -> ParquetError {
        if page.end > self.end || page.header.unpacked > self.unpacked {
            return ParquetError::General("a page claims to be longer than its column".to_owned());
        }
        TooLarge::error()
    }

    /// Bytes that a decoder must hold to unpack a page little by little; `None` when that cannot be done.
    fn window_bytes(&self, page: &PageLocation) -> io::Result<Option<u64>> {
        let (begin, codec) = match page.header.kind {
            PageKind::DataV2 { compressed: false, .. } => return Ok(Some(0)),
            PageKind::DataV2 { definitions, .. } => {
                (page.begin.saturating_add(definitions.into()), self.codec)
            }
            _ => (page.begin, self.codec),
        };
        let mut head = Vec::new();
        self.file_range(begin, page.end).take(HEADER_BYTES as u64).read_to_end(&mut head)?;
        Ok(window_bytes(codec, &head))
    }

    /// The dictionary, if there is one. What cannot be read is told where it is read.
    fn dictionary(&self) -> Option<PageLocation> {
        let page = self.page(self.begin).ok()??;
        matches!(page.header.kind, PageKind::Dictionary { .. }).then_some(page)
    }

    /// Bytes that the dictionary takes: its values, and what they are unpacked from.
    fn dictionary_bytes(&self, page: &PageLocation) -> u64 {
        let PageHeader { packed, unpacked, kind, .. } = page.header;
        let PageKind::Dictionary { count, .. } = kind else { return 0 };
        let values = u64::from(count).min(unpacked) * size_of::<ByteArray>() as u64;
        let source = match self.codec {
            Compression::UNCOMPRESSED => 0,
            _ => self.dictionary_window(page).unwrap_or(packed),
        };
        unpacked.saturating_add(values).saturating_add(source)
    }

    /// Bytes that a decoder must hold to unpack the dictionary from the file; `None` when it is small, or can only be unpacked whole.
    fn dictionary_window(&self, page: &PageLocation) -> Option<u64> {
        if page.header.packed <= SMALL_DICTIONARY || self.codec == Compression::UNCOMPRESSED {
            return None;
        }
        self.window_bytes(page).ok().flatten()
    }

    /// Bytes that a page takes when it is unpacked whole. The one before is still there then.
    fn whole_bytes(page: &PageLocation) -> u64 {
        page.header.packed.saturating_add(page.header.unpacked.saturating_mul(2))
    }

    /// Bytes that a page takes when it is taken apart, beside its parts, and what of them is for its levels; `None` if it does not hold
    /// texts as they are.
    fn split_cost(&self, page: &PageLocation) -> io::Result<Option<SplitCost>> {
        let levels = match page.header.kind {
            _ if !self.flat || !self.texts => return Ok(None),
            // The worst that a writer can make of them.
            PageKind::Data { count, encoding: PLAIN, levels: RLE } => 2 * u64::from(count) + 16,
            PageKind::DataV2 { encoding: PLAIN, definitions, repetitions: 0, .. } => definitions.into(),
            _ => return Ok(None),
        };
        Ok(self.window_bytes(page)?.map(|window_bytes| SplitCost { levels, window_bytes }))
    }

    /// Bytes that the page takes that needs most. Damage ends the search, as it ends reading.
    fn largest(&self) -> u64 {
        let (mut at, mut largest) = (self.begin, 0);
        while let Ok(Some(page)) = self.page(at) {
            at = page.end;
            if matches!(page.header.kind, PageKind::Data { .. } | PageKind::DataV2 { .. }) {
                let cost = self.split_cost(&page).ok().flatten().map_or(u64::MAX, SplitCost::bytes);
                largest = largest.max(Chunk::whole_bytes(&page).min(cost));
            }
        }
        largest
    }
}

/// Bytes that a page takes while it is taken apart.
#[derive(Debug, Clone, Copy)]
struct SplitCost {
    levels: u64,
    window_bytes: u64,
}

impl SplitCost {
    fn bytes(self) -> u64 {
        self.levels.saturating_add(self.window_bytes)
    }
}

/// The pages of a column. In columns of one value per row nothing comes once after each page of values, so that whoever reads gets
/// the rows of one page at a time.
pub(super) struct Pages {
    inner: Box<dyn PageReader>,
    chunk: Chunk,
    limits: PageLimits,
    /// The beginning of the next page in the file.
    at: u64,
    /// A page that is being taken apart.
    split: Option<SplitPage>,
    given: bool,
}

impl Pages {
    pub(super) fn open(
        group: &dyn RowGroupReader,
        leaf: usize,
        limits: &PageLimits,
    ) -> Result<Self, ParquetError> {
        let chunk = Chunk::of(group.metadata().column(leaf), limits.file.clone());
        let inner = group.get_column_page_reader(leaf)?;
        Ok(Pages { inner, at: chunk.begin, chunk, limits: limits.clone(), split: None, given: false })
    }

    /// Moves to the next page; a small one is returned, a large one taken apart.
    fn advance(&mut self) -> Result<Option<Page>, ParquetError> {
        loop {
            let first = self.at == self.chunk.begin;
            let Some(page) = self.chunk.page(self.at)? else { return self.inner.get_next_page() };
            self.at = page.end;
            match page.header.kind {
                PageKind::Other => {
                    self.inner.skip_next_page()?;
                    continue;
                }
                // It has its room.
                PageKind::Dictionary { .. } if first => return self.dictionary(&page),
                PageKind::Dictionary { .. } => {
                    return Err(ParquetError::General("a dictionary stands behind other pages".to_owned()));
                }
                _ if Chunk::whole_bytes(&page) <= self.limits.most => return self.inner.get_next_page(),
                _ => {}
            }
            let cost = self.chunk.split_cost(&page)?.filter(|cost| cost.bytes() <= self.limits.most);
            let cost = cost.ok_or_else(|| self.chunk.too_large(&page))?;
            self.split = Some(self.split_page(&page, cost)?);
            self.inner.skip_next_page()?;
            return Ok(None);
        }
    }

    /// The dictionary. A large one is unpacked from the file, so that it is not there twice.
    fn dictionary(&mut self, page: &PageLocation) -> Result<Option<Page>, ParquetError> {
        let PageKind::Dictionary { count, sorted } = page.header.kind else { return Ok(None) };
        let Some(window_bytes) = self.chunk.dictionary_window(page) else {
            return self.inner.get_next_page();
        };
        let packed = BufReader::with_capacity(64 << 10, self.chunk.file_range(page.begin, page.end));
        let Some(mut unpacked) = unpacked(self.chunk.codec, packed, window_bytes)? else {
            return self.inner.get_next_page();
        };
        let values = read_exactly(&mut unpacked, page.header.unpacked as usize)?;
        self.inner.skip_next_page()?;
        Ok(Some(Page::DictionaryPage {
            buf: values.into(),
            num_values: count,
            encoding: Encoding::PLAIN,
            is_sorted: sorted,
        }))
    }

    /// Opens a page to take it apart.
    fn split_page(&self, page: &PageLocation, cost: SplitCost) -> Result<SplitPage, ParquetError> {
        let unpack = |from: u64, codec: Compression| {
            let packed = BufReader::with_capacity(64 << 10, self.chunk.file_range(from, page.end));
            unpacked(codec, packed, cost.window_bytes)?.ok_or_else(TooLarge::error)
        };
        let present = self.chunk.present;
        let (count, values, levels) = match page.header.kind {
            PageKind::DataV2 { count, definitions, compressed, .. } => {
                let behind = page.begin.saturating_add(definitions.into()).min(page.end);
                let levels =
                    read_exactly(&mut self.chunk.file_range(page.begin, behind), definitions as usize)?;
                let codec = if compressed { self.chunk.codec } else { Compression::UNCOMPRESSED };
                (count, unpack(behind, codec)?, levels)
            }
            PageKind::Data { count, .. } => {
                let mut values = unpack(page.begin, self.chunk.codec)?;
                let length = if present > 0 { read_u32(&mut values)? } else { 0 };
                if u64::from(length) > cost.levels {
                    return Err(ParquetError::General("a page has more levels than values".to_owned()));
                }
                let levels = read_exactly(&mut values, length as usize)?;
                (count, values, levels)
            }
            _ => return Err(TooLarge::error()),
        };
        let levels = Levels::new(levels, present);
        // Texts are read by their lengths, four bytes at a time.
        let values = BufReader::with_capacity(64 << 10, values);
        Ok(SplitPage { values, levels, left: count, present, longest: self.limits.longest })
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        if self.chunk.flat && std::mem::take(&mut self.given) {
            return Ok(None);
        }
        loop {
            let page = match &mut self.split {
                Some(split) => split.next()?,
                None => self.advance()?,
            };
            match page {
                Some(page) => {
                    self.given = page.is_data_page();
                    return Ok(Some(page));
                }
                // The last part of one page was given, or the first of another one is to come.
                None if self.split.as_ref().is_some_and(|split| split.left == 0) => self.split = None,
                None if self.split.is_some() => {}
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

/// A range of a file. Others read the same file, so the position there is set before every read.
struct FileRange {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for FileRange {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = (self.end - self.at.min(self.end)).min(out.len() as u64) as usize;
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.read(&mut out[..length])?;
        self.at += read as u64;
        Ok(read)
    }
}

fn read_u32(input: &mut impl Read) -> io::Result<u32> {
    let mut number = [0; 4];
    input.read_exact(&mut number)?;
    Ok(u32::from_le_bytes(number))
}

fn read_exactly(input: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    // What is damaged may claim any length; to grow step by step would take up to twice as much.
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let read = input.take(length as u64).read_to_end(&mut bytes)?;
    if read == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// A page of texts that is taken apart.
struct SplitPage {
    values: BufReader<Box<dyn Read + Send>>,
    levels: Levels,
    /// Values that are still to come, those that are not there included.
    left: u32,
    present: i16,
    longest: usize,
}

impl SplitPage {
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
        let length = u64::from(read_u32(&mut self.values)?);
        let kept = length.min(self.longest as u64);
        out.extend_from_slice(&(kept as u32).to_le_bytes());
        out.reserve(kept.min(PART_BYTES as u64) as usize);
        let read = self.values.by_ref().take(kept).read_to_end(out)? as u64;
        let passed = io::copy(&mut self.values.by_ref().take(length - kept), &mut io::sink())?;
        if read + passed == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// Levels as they stand in a page: runs of one level, and bit-packed runs of levels with a few bits each.
struct Levels {
    bytes: Vec<u8>,
    at: usize,
    /// Bits of a level.
    bits: u32,
    /// Levels left of a run, and which; of a bit-packed run, how many and the bit where the next one stands.
    run: (u64, i16),
    packed_run: (u64, usize),
}

impl Levels {
    fn new(bytes: Vec<u8>, highest: i16) -> Self {
        Levels { bytes, at: 0, bits: bits(highest), run: (0, 0), packed_run: (0, 0) }
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
            if self.packed_run.0 > 0 {
                let (left, bit) = self.packed_run;
                self.packed_run = (left - 1, bit + self.bits as usize);
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

    /// Begins the next run of either kind.
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
            self.packed_run = (count * 8, self.at * 8);
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

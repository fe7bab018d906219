//! The values of a list that is too long for memory, as one column of a row group that has one row.
//!
//! The library puts a row into one page of each column, which is in memory as a whole. The format asks for that only where a file has an
//! offset index: without one, pages of its first version may begin within a row. So the pages of a long list are made here, one by one,
//! into a scratch file, from which the library copies the column to its place. It has neither offset index nor statistics.

use std::fs::File;

use parquet::basic::{Compression, Encoding, EncodingMask, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::super::ListValue;

/// Bytes of encoded values at which a page is written.
const PAGE_BYTES: usize = 1 << 20;

/// A list on its way into a scratch file.
pub(super) struct LongList<'f> {
    scratch: &'f File,
    sink: TrackedWrite<&'f File>,
    /// The values of the page that is not yet written, encoded.
    page: Vec<u8>,
    page_values: u32,
    written: WrittenPages,
}

/// Counts of the pages in the scratch file.
#[derive(Default)]
struct WrittenPages {
    /// Positions where a value may be: an empty list has one.
    positions: u64,
    compressed: u64,
    uncompressed: u64,
}

impl<'f> LongList<'f> {
    pub(super) fn begin(scratch: &'f File) -> Self {
        let sink = TrackedWrite::new(scratch);
        LongList { scratch, sink, page: Vec::new(), page_values: 0, written: WrittenPages::default() }
    }

    pub(super) fn push(&mut self, value: &ListValue) -> Result<(), ParquetError> {
        match value {
            ListValue::U64(number) => self.page.extend(number.to_le_bytes()),
            ListValue::Text(text) => {
                let length = u32::try_from(text.len())
                    .map_err(|_| ParquetError::General("a text of more than 4 GB".to_owned()))?;
                self.page.extend(length.to_le_bytes());
                self.page.extend(text.as_bytes());
            }
        }
        self.page_values += 1;
        if self.page.len() < PAGE_BYTES { Ok(()) } else { self.write_page() }
    }

    /// Writes the last page and copies the list into the row group, whose next column is `column`.
    pub(super) fn finish(
        mut self,
        column: ColumnDescPtr,
        group: &mut SerializedRowGroupWriter<'_, File>,
    ) -> Result<(), ParquetError> {
        // A list of no values has a page, too, which says so.
        if self.page_values > 0 || self.written.positions == 0 {
            self.write_page()?;
        }
        SerializedPageWriter::new(&mut self.sink).close()?;
        let WrittenPages { positions, compressed, uncompressed } = self.written;
        let metadata = ColumnChunkMetaData::builder(column)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_encodings_mask(EncodingMask::new_from_encodings([Encoding::PLAIN, Encoding::RLE].iter()))
            .set_total_compressed_size(compressed.cast_signed())
            .set_total_uncompressed_size(uncompressed.cast_signed())
            .set_num_values(positions.cast_signed())
            .set_data_page_offset(0)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: compressed,
            rows_written: 1,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        group.append_column(self.scratch, close)
    }

    fn write_page(&mut self) -> Result<(), ParquetError> {
        let positions = self.page_values.max(1);
        // The first value of a row has the repetition level 0, all others 1; the definition level is 1 where
        // there is a value.
        let begins = u32::from(self.written.positions == 0);
        let mut bytes = Vec::with_capacity(self.page.len() + 32);
        push_levels(&mut bytes, [(begins, 0), (positions - begins, 1)]);
        push_levels(&mut bytes, [(positions - self.page_values, 0), (self.page_values, 1)]);
        bytes.extend_from_slice(&self.page);
        let data_page = Page::DataPage {
            buf: zstd::bulk::compress(&bytes, ZstdLevel::default().compression_level())?.into(),
            num_values: positions,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let spec = SerializedPageWriter::new(&mut self.sink)
            .write_page(CompressedPage::new(data_page, bytes.len()))?;
        self.written.positions += u64::from(positions);
        self.written.compressed += spec.compressed_size as u64;
        self.written.uncompressed += spec.uncompressed_size as u64;
        self.page.clear();
        self.page_values = 0;
        Ok(())
    }
}

/// Appends runs of equal levels of one bit, `(count, level)`, behind the number of their bytes.
fn push_levels(out: &mut Vec<u8>, runs: [(u32, u8); 2]) {
    let mut encoded = Vec::new();
    for (count, level) in runs {
        if count == 0 {
            continue;
        }
        // The lowest bit tells a run from levels that stand one by one.
        let mut rest = u64::from(count) << 1;
        while rest >= 0x80 {
            encoded.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        encoded.extend([rest as u8, level]);
    }
    out.extend((encoded.len() as u32).to_le_bytes());
    out.extend(encoded);
}

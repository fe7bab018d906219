//! Lines that are taken out of a shard together and can be read by any thread.
//!
//! The thread that reads a shard only finds where lines end, and hands out whole blocks (`Reader::lines`). A
//! [`LineReader`] reads all lines of a block elsewhere, or only those that are wanted. Of a table in memory a block is a
//! range of row numbers.

use std::ops::Range;
use std::sync::Arc;

use lookalike_model::{Reason, RecordPosition, Rejection, Unit};

use super::{Jsonl, Values, id_of_rejected};
use crate::formats::resync::skip_byte_order_mark;
use crate::formats::rows::RowReader;
use crate::record::write_own_id;
use crate::{Item, ReadOptions, Rows};

/// Most records that are taken together: what is made of a record takes far more than its line when that is short.
pub const MOST_BATCH_RECORDS: usize = 4096;

/// Whole lines of one shard, not yet read. Blank ones are left out, as they are no records. Of a table in memory they are rows.
#[derive(Debug, Default)]
pub struct Lines {
    buffer: Vec<u8>,
    /// Bounds of the lines in the buffer.
    begin: usize,
    end: usize,
    /// Each line, with its end, from `begin` on.
    bounds: Vec<(u32, u32)>,
    shard: String,
    /// Offset of `begin` in the uncompressed shard.
    offset: u64,
    /// Number of the first record.
    first: u64,
    /// They are addresses and no objects.
    list: bool,
    rows: Option<TableRows>,
}

/// Rows of a table, and how many bytes they have.
#[derive(Debug)]
struct TableRows {
    rows: Rows,
    range: Range<usize>,
    bytes: usize,
}

impl Lines {
    /// Number of lines.
    pub fn len(&self) -> usize {
        self.rows.as_ref().map_or(self.bounds.len(), |table_rows| table_rows.range.len())
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all lines.
    pub fn bytes(&self) -> usize {
        self.rows.as_ref().map_or(self.end - self.begin, |table_rows| table_rows.bytes)
    }

    /// Bytes of memory that they take; rows of a table take none but the table's.
    pub fn memory_bytes(&self) -> usize {
        self.buffer.capacity() + self.bounds.capacity() * size_of::<(u32, u32)>()
    }

    /// Forgets the lines, and keeps the memory for others.
    pub fn clear(&mut self) {
        self.bounds.clear();
        (self.begin, self.end) = (0, 0);
        self.rows = None;
    }

    /// Forgets the first lines; those behind them keep their numbers and places.
    pub fn drop_first(&mut self, lines: usize) {
        match &mut self.rows {
            Some(table_rows) => table_rows.range.start += lines,
            None => drop(self.bounds.drain(..lines)),
        }
        self.first += lines as u64;
    }

    /// Takes rows of a table instead of lines.
    pub(crate) fn take_rows(&mut self, rows: Rows, range: Range<usize>, bytes: usize) {
        self.rows = Some(TableRows { rows, range, bytes });
    }

    /// For reading all lines: that they are UTF-8 is checked once.
    pub fn view_all(&self) -> LinesView<'_> {
        let bytes = &self.buffer[self.begin..self.end];
        LinesView { lines: self, bytes, text: simdutf8::basic::from_utf8(bytes).ok() }
    }

    /// For reading some lines: each is checked by itself.
    pub fn view_some(&self) -> LinesView<'_> {
        LinesView { lines: self, bytes: &self.buffer[self.begin..self.end], text: None }
    }
}

/// Lines that are being read.
#[derive(Debug, Clone, Copy)]
pub struct LinesView<'l> {
    lines: &'l Lines,
    bytes: &'l [u8],
    /// The same as text, where all of it is known to be.
    text: Option<&'l str>,
}

/// Reads lines; its buffers are used again for one line after the other.
pub struct LineReader {
    options: Arc<ReadOptions>,
    values: Values,
    rows: RowReader,
    own_id: String,
}

impl LineReader {
    /// Reads lines by these options, which are those of their shard.
    pub fn new(options: &Arc<ReadOptions>) -> Self {
        LineReader {
            options: options.clone(),
            values: Values::new(options),
            rows: RowReader::new(options),
            own_id: String::new(),
        }
    }

    /// The line with this number, from 0: a document or a rejection, as its shard's reader would have given it.
    pub fn read<'a>(&'a mut self, view: LinesView<'a>, index: usize) -> Item<'a> {
        if let Some(TableRows { rows, range, .. }) = &view.lines.rows {
            return self.rows.read(rows, range.start + index);
        }
        let (begin, end) = view.lines.bounds[index];
        let (begin, end) = (begin as usize, end as usize);
        let place = RecordPosition {
            record: view.lines.first + index as u64,
            position: view.lines.offset + begin as u64,
        };
        let raw = &view.bytes[begin..end];
        self.values.list = view.lines.list;
        let read = match view.text {
            None => self.values.line(raw, &self.options),
            Some(text) => {
                let line = text[begin..end].trim_ascii_end();
                self.values.read(line, &self.options).map(|()| line)
            }
        };
        self.item(read, raw, place, &view.lines.shard)
    }

    /// A JSON line that was found by its place in `shard`.
    pub fn line<'a>(&'a mut self, raw: &'a [u8], place: RecordPosition, shard: &str) -> Item<'a> {
        self.values.list = false;
        let read = self.values.line(raw, &self.options);
        self.item(read, raw, place, shard)
    }

    /// A row of a table that is in memory.
    pub fn row<'a>(&'a mut self, rows: &'a Rows, row: usize) -> Item<'a> {
        self.rows.read(rows, row)
    }

    fn item<'a>(
        &'a mut self,
        read: Result<&'a str, Reason>,
        raw: &'a [u8],
        place: RecordPosition,
        shard: &str,
    ) -> Item<'a> {
        match read {
            Err(reason) => {
                let id = id_of_rejected(raw, self.values.list, &self.options);
                Item::Rejected(Rejection { place, unit: Unit::Byte, reason, id })
            }
            Ok(line) => {
                let own_id = &mut self.own_id;
                Item::Document(self.values.document(line, raw, place, || write_own_id(own_id, shard, place)))
            }
        }
    }
}

impl Jsonl {
    /// Moves about `wanted` bytes of whole lines into `lines`, at most three times as many, and at most [`MOST_BATCH_RECORDS`] lines. False when too few stand
    /// together to be worth it: at the shard's end, before damage, and where a line is so long that it must be looked at
    /// by itself.
    pub(super) fn cut(&mut self, wanted: usize, lines: &mut Lines) -> std::io::Result<bool> {
        lines.clear();
        self.stream.advance(std::mem::take(&mut self.used));
        if self.stream.offset() < self.few_before {
            return Ok(false);
        }
        skip_byte_order_mark(&mut self.stream)?;
        let enough = |window: &[u8]| {
            // A longer line is waited for, within reason.
            let few = || memchr::memrchr(b'\n', window).map_or(0, |at| at + 1) < wanted / 2;
            window.len() >= wanted && (window.len() >= 3 * wanted || !few())
        };
        while !enough(self.stream.window()) && self.stream.more()? {}
        let window = self.stream.window();
        let window = &window[..window.len().min(3 * wanted)];
        let (mut end, mut full) = (0, false);
        for line_end in memchr::memchr_iter(b'\n', window) {
            full = lines.bounds.len() == MOST_BATCH_RECORDS;
            if full || line_end - end > self.counter.limit() {
                break;
            }
            if !window[end..line_end].trim_ascii().is_empty() {
                lines.bounds.push((end as u32, line_end as u32 + 1));
            }
            end = line_end + 1;
        }
        if !full && (end == 0 || end < wanted / 2) {
            lines.clear();
            // What stands in the way is the line behind them, and it is not looked for again before that.
            self.few_before = self.stream.offset() + end as u64 + 1;
            return Ok(false);
        }
        lines.offset = self.stream.offset();
        lines.first = self.counter.count(lines.len() as u64);
        lines.shard.clone_from(&self.counter.shard);
        lines.list = self.values.list;
        (lines.begin, lines.end) = self.stream.split_front(end, &mut lines.buffer);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::formats::testing::{OwnedItem, Setting, compress, counter, damaged, read_all, stream};
    use crate::reader::Records;
    use crate::{Compression, Item};

    /// Returns the items of a reader from which lines are taken wherever they can be, and the number of lines taken.
    fn read_by_lines(jsonl: &mut Jsonl, wanted: usize, all: bool) -> (Vec<String>, usize) {
        let mut reader = LineReader::new(&jsonl.counter.options.clone());
        let (mut found, mut lines, mut taken) = (Vec::new(), Lines::default(), 0);
        loop {
            if jsonl.lines(wanted, &mut lines).unwrap() {
                taken += lines.len();
                let view = if all { lines.view_all() } else { lines.view_some() };
                found.extend((0..lines.len()).map(|index| debug_text(reader.read(view, index))));
            }
            match jsonl.next().unwrap() {
                Some(item) => found.push(debug_text(item)),
                None => return (found, taken),
            }
        }
    }

    fn read_one_by_one(jsonl: &mut Jsonl) -> Vec<String> {
        let mut found = Vec::new();
        while let Some(item) = jsonl.next().unwrap() {
            found.push(debug_text(item));
        }
        found
    }

    /// Formats all that is known of an item.
    fn debug_text(item: Item<'_>) -> String {
        format!("{item:?}")
    }

    #[test]
    fn short_lines_are_taken_by_number() {
        let count = 3 * MOST_BATCH_RECORDS + 10;
        let mut jsonl = Jsonl::new(stream("{\n".repeat(count)), counter(ReadOptions::default()));
        let (mut lines, mut taken) = (Lines::default(), 0);
        while jsonl.lines(8 << 10, &mut lines).unwrap() {
            assert!(lines.len() <= MOST_BATCH_RECORDS);
            taken += lines.len();
        }
        assert!(taken >= 3 * MOST_BATCH_RECORDS - 10, "{taken}");
        assert_eq!(taken + read_one_by_one(&mut jsonl).len(), count);
    }

    const FILE: &str =
        "{\"id\":\"a\",\"text\":\"one\"}\n\n{\"html\":\"<p>\"}\r\n{\"text\":\"t\\u00e9\"}\n \n{\"id\":1}\n";

    proptest! {
        #[test]
        fn lines_are_what_the_reader_gives(
            bytes in damaged(FILE.repeat(6).into_bytes()),
            limit in 0usize..60,
            step in 1usize..400,
            wanted in 0usize..300,
            all in any::<bool>(),
        ) {
            let open = || {
                let (stream, counter) = Setting { limit, step }.open(&bytes);
                Jsonl::new(stream, counter)
            };
            prop_assert_eq!(read_by_lines(&mut open(), wanted, all).0, read_one_by_one(&mut open()));
        }
    }

    const LIST: &str = "a\thttp://a/\n\nhttp://b.org/x y\r\nno address\nb\t\n\u{e9}\thttps://c/\tmore\n";

    proptest! {
        #[test]
        fn lines_of_a_list_are_what_the_reader_gives(
            bytes in damaged(LIST.repeat(6).into_bytes()),
            limit in 0usize..60,
            step in 1usize..400,
            wanted in 0usize..300,
            all in any::<bool>(),
        ) {
            let open = || {
                let (stream, counter) = Setting { limit, step }.open(&bytes);
                Jsonl::list(stream, counter)
            };
            prop_assert_eq!(read_by_lines(&mut open(), wanted, all).0, read_one_by_one(&mut open()));
        }
    }

    #[test]
    fn nearly_all_of_a_shard_comes_as_lines() {
        let file = format!("\u{feff}{}", FILE.repeat(3000));
        for compression in [Compression::None, Compression::Zstd] {
            let open = || {
                Jsonl::new(stream(compress(compression, file.as_bytes())), counter(ReadOptions::default()))
            };
            let (found, taken) = read_by_lines(&mut open(), 10_000, true);
            assert_eq!(found, read_one_by_one(&mut open()));
            assert!(found.len() - taken < 1000, "{taken} of {}", found.len());
        }
    }

    #[test]
    fn damage_between_lines_costs_what_it_costs_one_by_one() {
        let lines = FILE.repeat(200);
        for compression in Compression::ALL {
            let mut file = compress(compression, lines.as_bytes());
            file.truncate(file.len() - 12);
            file.extend(compress(compression, lines.as_bytes()));
            let open = || Jsonl::new(stream(file.clone()), counter(ReadOptions::default()));
            let (found, taken) = read_by_lines(&mut open(), 500, true);
            assert_eq!(found, read_one_by_one(&mut open()), "{compression:?}");
            assert!(
                taken > 0 && read_all(&mut open()).iter().any(|seen| matches!(seen, OwnedItem::Rejected(..)))
            );
        }
    }
}

//! Tables: comma-separated values (RFC 4180) and tab-separated values, with a header line that names the columns.
//!
//! Cells of a CSV table may be quoted and then hold line ends; cells of a TSV table are taken as they are. One
//! quote that is never closed would swallow rows behind it, up to the next quote. So the quotes of a row of several lines must
//! stand as the rules say; otherwise, and when it has grown too long or the shard ends before its quote does, the row is
//! rejected and reading goes on at the line below the one in which the quote was opened.

use std::io;

use csv_core::{ReadRecordResult, ReaderBuilder, Terminator};
use lookalike_model::{Content, Document, Media, Reason};
use memchr::memmem::Finder;

use super::others::{ObjectWriter, push_string};
use super::resync::{BYTE_ORDER_MARK, skip_until};
use crate::first_records::FieldNames;
use crate::input::{SearchResult, Stream};
use crate::reader::Records;
use crate::record::{ExtraValues, RecordCounter};
use crate::{CorpusError, Fields, Item};

/// Number of times that bytes swallowed by a broken row are read again as rows of any length. From then on each of their lines is a row
/// or none, which keeps the work linear when every line opens a quote.
const MAX_REREADS: u32 = 4;

pub(crate) struct Table {
    stream: Stream,
    counter: RecordCounter,
    line_end: Finder<'static>,
    row: Row,
    columns: Columns,
    extras: ExtraValues,
    /// The header line as it stood, with a byte order mark before it.
    header: Vec<u8>,
    /// Rows mean nothing without the names of their columns: there will be none, only one complaint.
    headless: bool,
    complaint: Option<Reason>,
    /// Length of the row handed out last.
    used: usize,
    /// Offset behind the bytes that a broken row has swallowed, and how many such rows began before it.
    swallowed: u64,
    rereads: u32,
    /// Offset up to which every line is a row or none.
    by_line: u64,
    /// Offset in the window of the quote that a row is rejected for.
    quote: usize,
}

impl Table {
    /// Reads the header line; fails when it names neither a text nor an HTML column.
    pub(crate) fn new(stream: Stream, counter: RecordCounter, delimiter: u8) -> Result<Self, CorpusError> {
        let extras = ExtraValues::new(&counter.options);
        let mut table = Table {
            stream,
            counter,
            extras,
            line_end: Finder::new("\n"),
            row: Row::new(delimiter),
            columns: Columns::default(),
            header: Vec::new(),
            headless: false,
            complaint: None,
            used: 0,
            swallowed: 0,
            rereads: 0,
            by_line: 0,
            quote: 0,
        };
        let frame = table.frame_header().map_err(CorpusError::reading(&table.counter.shard))?;
        if let Frame::Row = frame {
            table.header.extend_from_slice(&table.stream.window()[..table.used]);
            table.columns = Columns::named(&table.row, &table.counter)?;
        } else {
            table.headless = true;
            table.header.clear();
            table.complaint = frame.complaint(table.counter.limit());
        }
        Ok(table)
    }

    fn frame_header(&mut self) -> io::Result<Frame> {
        if self.stream.ensure(BYTE_ORDER_MARK.len())? && self.stream.window().starts_with(BYTE_ORDER_MARK) {
            self.stream.advance(BYTE_ORDER_MARK.len());
            self.header.extend_from_slice(BYTE_ORDER_MARK);
        }
        self.frame()
    }

    /// Frames the next row.
    fn frame(&mut self) -> io::Result<Frame> {
        self.stream.advance(std::mem::take(&mut self.used));
        self.skip_line_ends()?;
        if self.stream.window().is_empty() && self.stream.fault().is_none() {
            return Ok(Frame::End);
        }
        let limit = self.counter.limit();
        self.row.begin();
        self.quote = 0;
        if self.stream.offset() < self.by_line {
            return self.frame_line(limit);
        }
        let mut scanned = 0;
        loop {
            let (ended, taken) = self.row.feed(&self.stream.window()[scanned..]);
            scanned += taken;
            if scanned > limit {
                self.quote = self.row.stray_quote(&self.stream.window()[..limit], true).unwrap_or(0);
                return Ok(Frame::TooLong);
            }
            if ended {
                let end = self.behind_line_feed(scanned)?;
                if let Some(quote) = self.row.stray_quote(&self.stream.window()[..end], false) {
                    self.quote = quote;
                    return Ok(Frame::Stray(self.stream.offset() + quote as u64, end));
                }
                self.used = end;
                return Ok(Frame::Row);
            }
            if !self.stream.more()? {
                return Ok(self.frame_last(scanned));
            }
        }
    }

    /// The shard ends, or is damaged, before the row's line does.
    fn frame_last(&mut self, length: usize) -> Frame {
        let closed = self.row.end();
        if let Some(reason) = self.stream.fault() {
            return Frame::Cut(reason.to_owned());
        }
        if !closed {
            return self.frame_open(length);
        }
        self.used = length;
        Frame::Row
    }

    /// A quote is still open where the row must end.
    fn frame_open(&mut self, length: usize) -> Frame {
        self.quote = self.row.stray_quote(&self.stream.window()[..length], true).unwrap_or(0);
        Frame::Stray(self.stream.offset() + self.quote as u64, length)
    }

    /// Frames a row that must end with its line.
    fn frame_line(&mut self, limit: usize) -> io::Result<Frame> {
        let length = match self.stream.find(&self.line_end, 0, limit.saturating_add(1))? {
            SearchResult::At(at) => at + 1,
            SearchResult::End => return Ok(self.frame_rest()),
            SearchResult::Limit => return Ok(Frame::TooLong),
        };
        let (ended, taken) = self.row.feed(&self.stream.window()[..length]);
        if !ended {
            return Ok(self.frame_open(length));
        }
        self.used = self.behind_line_feed(taken)?;
        Ok(Frame::Row)
    }

    /// Frames the last line, which has no end.
    fn frame_rest(&mut self) -> Frame {
        let length = self.stream.window().len();
        let (ended, taken) = self.row.feed(&self.stream.window()[..length]);
        if ended {
            self.used = taken;
            return Frame::Row;
        }
        self.frame_last(length)
    }

    /// A row that ends with `\r` also ends with the `\n` behind it.
    fn behind_line_feed(&mut self, at: usize) -> io::Result<usize> {
        let pair = self.stream.window()[..at].ends_with(b"\r")
            && self.stream.ensure(at + 1)?
            && self.stream.window()[at] == b'\n';
        Ok(if pair { at + 1 } else { at })
    }

    /// Empty lines are no rows.
    fn skip_line_ends(&mut self) -> io::Result<()> {
        let row = |window: &[u8]| window.iter().position(|byte| !matches!(byte, b'\r' | b'\n'));
        skip_until(&mut self.stream, 0, row).map(drop)
    }

    /// Goes on below the line in which the quote of a row that cannot be read was opened, or below its first line. If rows in
    /// this stretch have failed too often, its lines are looked at one by one.
    fn step_over(&mut self, length: usize) -> io::Result<()> {
        self.used = 0;
        let begin = self.stream.offset();
        if begin >= self.swallowed {
            self.rereads = 0;
            self.swallowed = begin + length as u64;
        }
        self.rereads += 1;
        if self.rereads > MAX_REREADS {
            self.by_line = self.swallowed;
        }
        self.stream.advance(self.quote.min(self.stream.window().len()));
        if !self.stream.skip_to(&self.line_end)? {
            self.stream.resume();
        }
        Ok(())
    }

    fn step(&mut self) -> io::Result<Step> {
        let frame = self.frame()?;
        if let Frame::Row = frame {
            return Ok(Step::Row);
        }
        let position = self.stream.offset();
        let length = frame.length(self.stream.window().len().min(self.counter.limit()));
        let Some(reason) = frame.complaint(self.counter.limit()) else { return Ok(Step::End) };
        let id = self.row.id_of_rejected(&self.columns);
        self.step_over(length)?;
        Ok(Step::Rejected(position, reason, id))
    }
}

/// The result of framing the front of the window.
enum Frame {
    /// A whole row, `used` bytes long with its line end.
    Row,
    /// A row that damage cuts short.
    Cut(String),
    /// A row with a quote, at this offset of the shard, that nothing closes as it should be, and the length that the row would have.
    Stray(u64, usize),
    TooLong,
    End,
}

impl Frame {
    /// Counts the bytes that a row that cannot be read would swallow, at most `most`.
    fn length(&self, most: usize) -> usize {
        match self {
            Frame::Stray(_, length) => (*length).min(most),
            _ => most,
        }
    }

    /// Returns the reason to reject the row, if there is one.
    fn complaint(self, limit: usize) -> Option<Reason> {
        match self {
            Frame::Row | Frame::End => None,
            Frame::Cut(reason) => Some(Reason::Truncated(reason)),
            Frame::Stray(at, _) => Some(Reason::Broken(format!(
                "a quote is opened at byte {at} and never closed, or not before a comma"
            ))),
            Frame::TooLong => Some(Reason::TooLong { limit: limit as u64 }),
        }
    }
}

/// The result of one step through the table.
enum Step {
    Row,
    Rejected(u64, Reason, Option<String>),
    End,
}

impl Records for Table {
    /// The header line as it stands in the shard, with its line end and a byte order mark, where there is one, before
    /// it; empty when the shard has none.
    fn preamble(&self) -> &[u8] {
        &self.header
    }

    fn field_names(&self, names: &mut FieldNames) {
        self.columns.names.iter().for_each(|name| names.add(name));
    }

    fn next(&mut self) -> Result<Option<Item<'_>>, CorpusError> {
        if self.headless {
            return Ok(self.complaint.take().map(|reason| self.counter.reject(0, reason)));
        }
        match self.step() {
            Ok(Step::Row) => {}
            Ok(Step::Rejected(position, reason, id)) => {
                return Ok(Some(self.counter.reject_named(position, reason, id)));
            }
            Ok(Step::End) => return Ok(None),
            Err(source) => return Err(CorpusError::reading(&self.counter.shard)(source)),
        }
        let position = self.stream.offset();
        let Cells { id, url, media, text } = match self.row.document(&self.columns) {
            Ok(cells) => cells,
            Err(reason) => {
                let id = self.row.id_of_rejected(&self.columns);
                return Ok(Some(self.counter.reject_named(position, reason, id)));
            }
        };
        self.row.extras(&self.columns, &mut self.extras);
        let place = self.counter.place(position);
        Ok(Some(Item::Document(Document {
            id: id.unwrap_or_else(|| self.counter.own_id(place)),
            url,
            media,
            content: Content::Unicode(text),
            place,
            raw: Some(&self.stream.window()[..self.used]),
            extras: self.extras.view(),
        })))
    }
}

/// More columns than this are counted but cannot be named, so that a line of commas needs no memory.
const MOST_COLUMNS: usize = 1 << 16;

/// The cells of one row, in buffers that are used again for the next.
struct Row {
    parser: csv_core::Reader,
    delimiter: u8,
    quoted: bool,
    /// All cells, one behind the other, without quotes.
    cells: Vec<u8>,
    filled: usize,
    /// End of each cell in `cells`.
    ends: Vec<usize>,
    /// Number of cells that have ended.
    count: usize,
}

impl Row {
    fn new(delimiter: u8) -> Self {
        let quoted = delimiter != b'\t';
        let mut builder = ReaderBuilder::new();
        builder.delimiter(delimiter).quoting(quoted);
        if !quoted {
            // A carriage return inside a cell ends no row where nothing can be quoted.
            builder.terminator(Terminator::Any(b'\n'));
        }
        Row {
            parser: builder.build(),
            delimiter,
            quoted,
            cells: vec![0; 1 << 10],
            filled: 0,
            ends: vec![0; 8],
            count: 0,
        }
    }

    fn begin(&mut self) {
        self.parser.reset();
        self.filled = 0;
        self.count = 0;
    }

    /// Takes bytes up to the row's end; true when it has come.
    fn feed(&mut self, bytes: &[u8]) -> (bool, usize) {
        let mut taken = 0;
        while taken < bytes.len() {
            // Ends of surplus cells all go into the last place.
            let slot = self.count.min(MOST_COLUMNS);
            let (result, read, written, ended) = self.parser.read_record(
                &bytes[taken..],
                &mut self.cells[self.filled..],
                &mut self.ends[slot..],
            );
            taken += read;
            self.filled += written;
            self.count += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.cells.resize(self.cells.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => {
                    self.ends.resize((self.ends.len() * 2).min(MOST_COLUMNS + 1), 0);
                }
                ReadRecordResult::Record | ReadRecordResult::End => return (true, taken),
            }
        }
        (false, taken)
    }

    /// Offset in `raw`, a row of several lines, of a quote that is not closed, or that something other than the end of its cell
    /// closes. `open` tells that the row has no end yet. A row of one line is none of these, whatever its quotes: it swallows
    /// no other.
    fn stray_quote(&self, raw: &[u8], open: bool) -> Option<usize> {
        let body = raw.strip_suffix(b"\n").unwrap_or(raw);
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        if !self.quoted || !open && memchr::memchr2(b'\n', b'\r', body).is_none() {
            return None;
        }
        // The last cell so far that is quoted and has several lines: the one that may have swallowed others.
        let mut suspect = None;
        let mut at = 0;
        loop {
            if body.get(at) == Some(&b'"') {
                let begin = at;
                let Some(end) = closing_quote(body, begin + 1) else { return Some(begin) };
                if memchr::memchr2(b'\n', b'\r', &body[begin..end]).is_some() {
                    suspect = Some(begin);
                }
                at = end + 1;
                if body.get(at).is_some_and(|&byte| byte != self.delimiter) {
                    return suspect.or(Some(begin));
                }
            } else {
                let cell = &body[at..];
                let end = memchr::memchr(self.delimiter, cell).unwrap_or(cell.len());
                if suspect.is_some() && cell[..end].contains(&b'"') {
                    return suspect;
                }
                at += end;
            }
            if at >= body.len() {
                return None;
            }
            at += 1;
        }
    }

    /// Ends the row where the shard ends; false when a quote is still open.
    fn end(&mut self) -> bool {
        self.feed(b"\n").0
    }

    /// The cell in `column`, which must be one of the row's.
    fn cell(&self, column: usize) -> &[u8] {
        let begin = if column == 0 { 0 } else { self.ends[column - 1] };
        let cell = &self.cells[begin..self.ends[column]];
        let last = column + 1 == self.count && !self.quoted;
        cell.strip_suffix(b"\r").filter(|_| last).unwrap_or(cell)
    }

    fn text(&self, column: usize, columns: &Columns) -> Result<&str, Reason> {
        std::str::from_utf8(self.cell(column)).map_err(|error| {
            let name = &columns.names[column];
            Reason::InvalidUtf8(format!("byte {} of column {name:?} is not UTF-8", error.valid_up_to()))
        })
    }

    /// Appends the cells that make no document as a JSON object; false when there are none.
    fn others(&self, columns: &Columns, out: &mut String) -> bool {
        let has_text = columns.text.is_some_and(|column| !self.cell(column).is_empty());
        let own = [columns.id, columns.text, columns.url, columns.html.filter(|_| !has_text)];
        let mut object = ObjectWriter::begin(out);
        for (column, name) in columns.names.iter().enumerate() {
            if !own.contains(&Some(column)) {
                object.member(name, |out| push_string(&String::from_utf8_lossy(self.cell(column)), out));
            }
        }
        object.end()
    }

    /// The cells that make a document.
    fn document(&self, columns: &Columns) -> Result<Cells<'_>, Reason> {
        if self.count != columns.count {
            let (found, wanted) = (self.count, columns.count);
            return Err(Reason::Broken(format!("{found} cells where the header has {wanted}")));
        }
        let cell = |column: Option<usize>| column.map(|column| self.text(column, columns)).transpose();
        let filled = |column| Ok(cell(column)?.filter(|text| !text.is_empty()));
        let (media, text) = match (filled(columns.text)?, filled(columns.html)?) {
            (Some(text), _) => (Media::Text, text),
            (None, Some(html)) => (Media::Html, html),
            (None, None) if columns.text.is_some() => (Media::Text, ""),
            (None, None) => (Media::Html, ""),
        };
        Ok(Cells { id: filled(columns.id)?, url: filled(columns.url)?, media, text })
    }

    /// The id of a row that cannot be read. Where cells are missing or too many, only the first is where it should be.
    fn id_of_rejected(&self, columns: &Columns) -> Option<String> {
        let column =
            columns.id.filter(|&column| self.count == columns.count || column == 0 && self.count > 0)?;
        let id = std::str::from_utf8(self.cell(column)).ok()?;
        (!id.is_empty()).then(|| id.to_owned())
    }

    /// The further cells that are asked for; an empty one is none.
    fn extras(&self, columns: &Columns, extras: &mut ExtraValues) {
        extras.clear();
        for (index, &column) in columns.extras.iter().enumerate() {
            extras.set_bytes(index, Some(self.cell(column)).filter(|cell| !cell.is_empty()));
        }
        if columns.others {
            extras.set(columns.extras.len(), |out| self.others(columns, out));
        }
    }
}

/// Offset of the quote that closes a cell whose text begins at `from`: one that is not doubled.
fn closing_quote(row: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr(b'"', &row[at..])?;
        if row.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// The cells that make a document; an empty name or address is none.
struct Cells<'r> {
    id: Option<&'r str>,
    url: Option<&'r str>,
    media: Media,
    text: &'r str,
}

/// Positions of the columns that make a document.
#[derive(Default)]
struct Columns {
    count: usize,
    names: Vec<String>,
    id: Option<usize>,
    text: Option<usize>,
    html: Option<usize>,
    url: Option<usize>,
    extras: Vec<usize>,
    /// Cells that make no document are wanted, too.
    others: bool,
}

impl Columns {
    /// Finds the columns by the names in the header line.
    fn named(header: &Row, counter: &RecordCounter) -> Result<Self, CorpusError> {
        let nameable = header.count.min(MOST_COLUMNS);
        let names: Vec<String> = (0..nameable)
            .map(|column| String::from_utf8_lossy(header.cell(column)).trim().to_owned())
            .collect();
        let place = |wanted: &str| names.iter().position(|name| name == wanted);
        let found = || names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let name = || counter.shard.clone();
        let Fields { id, text, html, url } = &counter.options.fields;
        let (missing, wanted) = match counter.options.addresses {
            true => (place(url).is_none(), format!("{url:?}")),
            false => (place(text).or(place(html)).is_none(), format!("{text:?} or {html:?}")),
        };
        if missing {
            return Err(CorpusError::NoColumn { name: name(), wanted, found: found() });
        }
        let no_field =
            |wanted: &str| CorpusError::NoField { name: name(), wanted: wanted.to_owned(), found: found() };
        let extra = |wanted: &String| place(wanted).ok_or_else(|| no_field(wanted));
        Ok(Columns {
            count: header.count,
            id: place(id),
            text: place(text),
            html: place(html),
            url: place(url),
            extras: counter.options.extras.iter().map(extra).collect::<Result<_, _>>()?,
            others: counter.options.others,
            names,
        })
    }
}

#[cfg(test)]
mod tests {
    use lookalike_model::ReasonKind;
    use proptest::prelude::*;

    use super::*;
    use crate::ReadOptions;
    use crate::formats::testing::{
        OwnedItem, briefs, count, counter, damaged, gzip, limited, read_all, stream, stream_by,
    };

    const ROWS: &str =
        "id,title,text,url\r\n1,x,one,http://a/\r\n2,\"y, z\",\"two \"\"2\"\"\r\nlines\",\r\n,,,\r\n";

    fn csv(bytes: impl Into<Vec<u8>>) -> Table {
        Table::new(stream(bytes), counter(ReadOptions::default()), b',').unwrap()
    }

    fn csv_by(bytes: impl Into<Vec<u8>>, step: usize, options: ReadOptions) -> Table {
        Table::new(stream_by(bytes, step), counter(options), b',').unwrap()
    }

    fn tsv(bytes: impl Into<Vec<u8>>) -> Table {
        Table::new(stream(bytes), counter(ReadOptions::default()), b'\t').unwrap()
    }

    #[test]
    fn where_addresses_are_wanted_a_row_needs_no_text() {
        let options = || ReadOptions { addresses: true, ..ReadOptions::default() };
        let rows = "url,id\nhttp://a/,1\n,2\n";
        assert_eq!(briefs(&mut csv_by(rows, usize::MAX, options())), ["1: ", "2: "]);
        let table = Table::new(stream("id,text\n1,x\n"), counter(options()), b',');
        assert!(matches!(table, Err(CorpusError::NoColumn { wanted, .. }) if wanted == "\"url\""));
    }

    #[test]
    fn further_columns_come_with_every_row() {
        let options_with = |names: &[&str]| ReadOptions {
            extras: names.iter().map(|name| (*name).to_owned()).collect(),
            ..ReadOptions::default()
        };
        let mut table = csv_by(ROWS, usize::MAX, options_with(&["title", "url", "id"]));
        let mut all = Vec::new();
        while let Some(Item::Document(document)) = table.next().unwrap() {
            all.push([0, 1, 2].map(|index| document.extras.get(index).map(str::to_owned)));
        }
        let some = |value: &str| Some(value.to_owned());
        assert_eq!(all[0], [some("x"), some("http://a/"), some("1")]);
        assert_eq!(all[1..], [[some("y, z"), None, some("2")], [None, None, None]]);
        let Err(error) = Table::new(stream(ROWS), counter(options_with(&["none"])), b',') else {
            panic!("there is no such column")
        };
        assert_eq!(
            error.to_string(),
            "shard has no column \"none\" with one plain value per row; its columns are \"id\", \"title\", \
             \"text\", \"url\"; ask for one of these, or leave the file out"
        );
    }

    #[test]
    fn quoted_cells_may_hold_commas_quotes_and_line_ends() {
        let all = read_all(&mut csv(ROWS));
        assert_eq!(
            all.iter().map(OwnedItem::brief).collect::<Vec<_>>(),
            ["1: one", "2: two \"2\"\r\nlines", "shard#2: "]
        );
        assert_eq!(all[0].page().url.as_deref(), Some("http://a/"));
        assert_eq!(all[1].page().url, None);
        assert_eq!(all[0].page().media, Media::Text);
    }

    #[test]
    fn header_and_raw_rows_put_together_are_the_file() {
        for text in [ROWS.to_owned(), ROWS.replace("\r\n", "\n"), ROWS.trim_end().to_owned()] {
            let mut table = csv(text.clone());
            let mut bytes = table.preamble().to_vec();
            bytes.extend(read_all(&mut table).iter().flat_map(|row| row.page().raw.clone().unwrap()));
            assert_eq!(String::from_utf8(bytes).unwrap(), text);
        }
    }

    #[test]
    fn every_chunk_size_gives_the_same_rows() {
        let whole = read_all(&mut csv(ROWS));
        for step in 1..30 {
            assert_eq!(read_all(&mut csv_by(ROWS, step, ReadOptions::default())), whole, "step {step}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_a_name_but_stands_before_copied_rows() {
        let table = csv(format!("\u{feff}{ROWS}"));
        assert_eq!(table.preamble(), "\u{feff}id,title,text,url\r\n".as_bytes());
        assert_eq!(table.columns.id, Some(0));
    }

    #[test]
    fn quotes_mean_nothing_between_tabs() {
        let all = briefs(&mut tsv("id\ttext\r\n1\t\"a, b\r\n2\tc\rd\"\n3\t\n"));
        assert_eq!(all, ["1: \"a, b", "2: c\rd\"", "3: "]);
    }

    #[test]
    fn html_is_read_where_there_is_no_text() {
        let all = read_all(&mut csv("html,text\n<p>a,\n<p>b,b\n"));
        assert_eq!((all[0].page().media, &all[0].page().content[..]), (Media::Html, &b"<p>a"[..]));
        assert_eq!((all[1].page().media, &all[1].page().content[..]), (Media::Text, &b"b"[..]));
    }

    #[test]
    fn a_table_without_text_says_which_columns_it_has() {
        let error =
            Table::new(stream("id,body\n1,x\n"), counter(ReadOptions::default()), b',').err().unwrap();
        let expected = "shard has no column \"text\" or \"html\"; its columns are \"id\", \"body\"";
        assert!(error.to_string().starts_with(expected), "{error}");
    }

    #[test]
    fn rows_with_another_number_of_cells_are_broken() {
        let all = briefs(&mut csv("id,text\n1\n2,two\n3,three,more\n\n4,four\n"));
        assert_eq!(all, ["broken record at 8", "2: two", "broken record at 16", "4: four"]);
    }

    #[test]
    fn invalid_utf8_matters_only_in_columns_that_are_read() {
        let all = read_all(&mut csv(&b"id,text,note\n1,\xff,\n2,two,\xff\n"[..]));
        assert_eq!(all[0], OwnedItem::Rejected(ReasonKind::InvalidUtf8, 13));
        assert_eq!(all[1].brief(), "2: two");
    }

    #[test]
    fn a_quote_never_closed_costs_one_row() {
        let text = format!("id,text\n1,\"open\n{}", "2,two\n".repeat(30));
        for step in [1, 7, 1000] {
            let limited = read_all(&mut csv_by(text.clone(), step, limited(50)));
            assert_eq!((&limited[0], limited.len()), (&OwnedItem::Rejected(ReasonKind::TooLong, 8), 31));
            let at_the_end = read_all(&mut csv_by(text.clone(), step, ReadOptions::default()));
            assert_eq!((&at_the_end[0], at_the_end.len()), (&OwnedItem::Rejected(ReasonKind::Broken, 8), 31));
        }
    }

    #[test]
    fn a_quote_that_the_next_one_closes_costs_one_row() {
        let rows = |step| {
            briefs(&mut csv_by(
                "id,text\n1,\"open\n2,two\n3,\"three\"\n4,four\n",
                step,
                ReadOptions::default(),
            ))
        };
        for step in [1, 5, usize::MAX] {
            assert_eq!(rows(step), ["broken record at 8", "2: two", "3: three", "4: four"]);
        }
        let reason_of = |text: &str| match csv(text).next().unwrap() {
            Some(Item::Rejected(rejection)) => rejection.reason.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            reason_of("id,text\n1,\"open\n2,two\n3,\"three\"\n"),
            "broken record: a quote is opened at byte 10 and never closed, or not before a comma"
        );
        // Legal lines before the quote go with its row; it is the quote that is named.
        let both = "id,note,text\n1,\"two\nlines\",\"open\n2,a,b\n3,c,\"d\"\n";
        assert!(reason_of(both).contains("at byte 27"), "{}", reason_of(both));
        assert_eq!(briefs(&mut csv(both)), ["broken record at 13", "2: b", "3: d"]);
        // A quote that seems to end its cell gives itself away by the next one.
        assert_eq!(
            briefs(&mut csv("id,text\n1,\"open\n2,\", two\"\n3,three\n")),
            ["broken record at 8", "2: , two", "3: three"]
        );
    }

    #[test]
    fn a_row_of_one_line_may_have_quotes_where_it_likes() {
        let all = briefs(&mut csv("id,text\n1,a \"b\" c\n2,\"d\" e\n3,\"f\ng\"\n"));
        assert_eq!(all, ["1: a \"b\" c", "2: d e", "3: f\ng"]);
    }

    #[test]
    fn many_quotes_that_nothing_closes_cost_their_rows_alone() {
        let rows: String = (0..20).map(|n| format!("{n},\"\"\"open\n{n}x,two\n")).collect();
        for step in [1, usize::MAX] {
            let all = briefs(&mut csv_by(format!("id,text\n{rows}"), step, ReadOptions::default()));
            let read: Vec<&String> = all.iter().filter(|brief| brief.ends_with(": two")).collect();
            assert_eq!((read.len(), all.len()), (20, 40), "{all:?}");
        }
    }

    #[test]
    fn the_limit_is_the_same_for_every_chunk_size() {
        for step in [1, 4, 1000] {
            let row = "id,text\n1,23456\n";
            assert!(matches!(read_all(&mut csv_by(row, step, limited(8)))[..], [OwnedItem::Document(_)]));
            assert!(matches!(
                read_all(&mut csv_by("text\n1,23456\n", step, limited(7)))[..],
                [OwnedItem::Rejected(ReasonKind::TooLong, 5)]
            ));
        }
    }

    #[test]
    fn every_limit_means_the_same_for_every_chunk_size() {
        let text = format!("{ROWS}3,x,\"open,\n{}", ROWS.repeat(3));
        for limit in 0..150 {
            let whole = read_all(&mut csv_by(text.clone(), usize::MAX, limited(limit)));
            let dripped = read_all(&mut csv_by(text.clone(), 1, limited(limit)));
            assert_eq!(whole, dripped, "limit {limit}");
        }
    }

    #[test]
    fn a_damaged_member_costs_its_row() {
        let mut members = gzip(b"id,text\n1,one\n");
        let mut cut = gzip(b"2,a longer text that is cut off\n");
        cut.truncate(cut.len() - 15);
        members.extend(cut);
        members.extend(gzip(b"3,three\n"));
        let all = read_all(&mut csv(members));
        assert_eq!((all.len(), all[2].brief()), (3, "3: three".to_owned()));
        assert!(matches!(all[1], OwnedItem::Rejected(ReasonKind::Truncated, _)));
    }

    #[test]
    fn without_a_header_there_are_no_rows() {
        assert!(read_all(&mut csv("")).is_empty());
        assert!(read_all(&mut csv("id,text")).is_empty());
        let long = read_all(&mut csv_by("id,text\n1,one\n", 100, limited(4)));
        assert_eq!(long, [OwnedItem::Rejected(ReasonKind::TooLong, 0)]);
        let mut cut = gzip(b"id,text,and,more,columns\n");
        cut.truncate(cut.len() - 10);
        assert_eq!(read_all(&mut csv(cut)), [OwnedItem::Rejected(ReasonKind::Truncated, 0)]);
    }

    #[test]
    fn hostile_tables_are_read_a_bounded_number_of_times() {
        count(&mut csv(format!("text\n{}", "\"".repeat(1_000_001))));
        count(&mut csv(format!("text\n{}", "\"\n".repeat(1_000_001))));
        count(&mut csv(format!("text\n{}", ",".repeat(3_000_000))));
        // Each of these lines leaves a quote open, wherever one begins to read.
        count(&mut csv(format!("text\n{}", "x\"y,\"\n".repeat(1_000_000))));
        count(&mut csv_by(format!("text\n{}", "x\"y,\"\n".repeat(1_000_000)), usize::MAX, limited(100_000)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..300), step in 1usize..40) {
            let bytes = [b"text,id\n", &bytes[..]].concat();
            for delimiter in [b',', b'\t'] {
                if let Ok(mut table) = Table::new(stream_by(bytes.clone(), step), counter(limited(64)), delimiter) {
                    count(&mut table);
                }
            }
        }

        #[test]
        fn damaged_tables_read_alike_in_any_chunks(
            bytes in damaged(ROWS.replacen("id,title,text,url\r\n", "", 1).repeat(3).into_bytes()),
            step in 1usize..40,
        ) {
            let bytes = [b"id,title,text,url\n", &bytes[..]].concat();
            let whole = read_all(&mut csv_by(bytes.clone(), usize::MAX, limited(60)));
            let dripped = read_all(&mut csv_by(bytes, step, limited(60)));
            prop_assert_eq!(whole, dripped);
        }

        #[test]
        fn a_quote_that_is_missing_costs_its_row_at_most(
            texts in prop::collection::vec("[a-z]([a-z, ]{0,8}[a-z])?", 2..9),
            quoted in prop::collection::vec(any::<bool>(), 9),
            missing in any::<prop::sample::Index>(),
            step in 1usize..40,
        ) {
            let row = |n: usize| {
                let quote = if quoted[n] || texts[n].contains(',') { "\"" } else { "" };
                format!("{n},{quote}{}{quote}\n", texts[n])
            };
            let mut rows: Vec<String> = (0..texts.len()).map(row).collect();
            let hit = missing.index(rows.len());
            if let Some(last) = rows[hit].rfind('"') {
                rows[hit].remove(last);
            }
            let all = briefs(&mut csv_by(format!("id,text\n{}", rows.concat()), step, ReadOptions::default()));
            for (n, text) in texts.iter().enumerate().filter(|(n, _)| *n != hit) {
                prop_assert!(all.contains(&format!("{n}: {text}")), "{n} of {all:?}");
            }
            prop_assert_eq!(all.len(), texts.len());
        }

        #[test]
        fn written_rows_are_read_back(texts in prop::collection::vec("[a-z\",\r\n ]{0,30}", 1..8)) {
            let rows: String = texts.iter().enumerate()
                .map(|(n, text)| format!("{n},\"{}\"\r\n", text.replace('"', "\"\""))).collect();
            let expected: Vec<_> = texts.iter().enumerate().map(|(n, text)| format!("{n}: {text}")).collect();
            prop_assert_eq!(briefs(&mut csv(format!("id,text\r\n{rows}"))), expected);
        }
    }
}

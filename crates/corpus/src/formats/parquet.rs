//! Parquet: columns `id`, `text`, `html` and `url`, or as the options name them.
//!
//! Columns are read as bytes below Arrow's types. A text is a text whether a writer called it string, large
//! string, view or dictionary, all of which are the same bytes on disk; and one text that is not UTF-8 costs
//! its row, where Arrow would give up the whole batch.

mod extras;
mod header;
mod others;
mod pages;
mod unpack;

use std::fs::File;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lookalike_model::{Content, Document, Media, Reason};
use parquet::basic::Compression;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type, Int96,
    Int96Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescPtr, SchemaDescriptor};

use self::extras::Leaf;
use self::others::OtherColumns;
use self::pages::Pages;
pub(crate) use self::pages::{FileLimits, PageLimits, TooLarge};
use crate::first_records::FieldNames;
use crate::reader::Records;
use crate::record::{ExtraValues, RecordCounter};
use crate::{CorpusError, Fields, Item};

/// Most rows of a column that are decoded at once.
pub(crate) const BATCH_ROWS: usize = 4096;

/// Rows of a row group whose bytes are counted as consumed at once.
const ROWS_COUNTED_AT_ONCE: u64 = 256;

/// Bytes decoded at once, about, of columns that may have many values in a row, by the sizes in the metadata.
const BATCH_BYTES: u64 = 4 << 20;

pub(crate) struct ParquetShard {
    file: SerializedFileReader<File>,
    counter: RecordCounter,
    consumed: Arc<AtomicU64>,
    leaves: Leaves,
    limits: FileLimits,
    /// The row group to be opened next, and the number of its first row.
    next_group: usize,
    next_row: u64,
    group: Option<Group>,
    /// Bytes of it that `consumed` has.
    counted: u64,
    /// Rows that were lost with their row group and are still to be told of, and why.
    lost: Option<(Range<u64>, Reason)>,
    /// Length of the file. No row of text takes less than a byte, so a footer that claims more rows is damaged too.
    length: u64,
    /// Holds an id that is a number.
    number: String,
    extras: ExtraValues,
}

impl ParquetShard {
    /// Reads the footer. `consumed` grows by the size on disk of rows that are about to be given, a few at a time.
    pub(crate) fn open(
        file: File,
        counter: RecordCounter,
        consumed: Arc<AtomicU64>,
    ) -> Result<Self, CorpusError> {
        let length = file.metadata().map_err(CorpusError::reading(&counter.shard))?.len();
        let again = file.try_clone().map_err(CorpusError::reading(&counter.shard))?;
        let file =
            guarded(|| SerializedFileReader::new(file)).map_err(|error| unreadable(&counter.shard, error))?;
        let leaves = Leaves::named(file.metadata().file_metadata().schema_descr(), &counter)?;
        if let Some(column) = leaves.used().find_map(|leaf| unsupported(file.metadata(), leaf)) {
            let why = format!(
                "is a Parquet file whose column {column:?} is compressed with LZO, which cannot be read; write it with \
                 another codec"
            );
            return Err(CorpusError::Unsupported { name: counter.shard, why });
        }
        let limits = FileLimits {
            file: Arc::new(again),
            most: counter.options.decoding.budget().bytes_per_reader(),
            longest: counter.limit() + 1,
        };
        let number = String::new();
        let extras = ExtraValues::new(&counter.options);
        Ok(ParquetShard {
            file,
            counter,
            consumed,
            leaves,
            limits,
            next_group: 0,
            next_row: 0,
            group: None,
            counted: 0,
            lost: None,
            length,
            number,
            extras,
        })
    }

    /// Moves to the next row, opening row groups on the way. Fails when memory has no room for a page.
    fn step(&mut self) -> Result<Step, CorpusError> {
        if let Some(lost) = self.next_lost() {
            return Ok(lost);
        }
        loop {
            if self.group.is_none() {
                if self.next_group == self.file.num_row_groups() {
                    return Ok(Step::End);
                }
                if let Err(error) = self.open_group() {
                    let first = self.next_row;
                    self.close_group();
                    return self.fail(first, error);
                }
            }
            let Some(group) = &mut self.group else { return Ok(Step::End) };
            match group.step() {
                Ok(true) => {
                    let given = group.passed - 1;
                    if given.is_multiple_of(ROWS_COUNTED_AT_ONCE) {
                        self.count_rows(given + ROWS_COUNTED_AT_ONCE);
                    }
                    return Ok(Step::Row);
                }
                Ok(false) => self.close_group(),
                Err(error) => {
                    let row = group.next_row();
                    self.close_group();
                    return self.fail(row, error);
                }
            }
        }
    }

    /// Ends the work where memory was too small, and else loses the rows from `first` on.
    fn fail(&mut self, first: u64, error: ParquetError) -> Result<Step, CorpusError> {
        if !TooLarge::stopped(&error) {
            return Ok(self.lose(first, broken(error)));
        }
        let needed = self.limits.needed(self.file.metadata(), &self.leaves.used().collect::<Vec<_>>());
        let what = format!("a page of {}", self.counter.shard);
        Err(self.counter.options.decoding.budget().too_small(what, needed))
    }

    /// Rejects the rows from `first` up to the end of the row group just closed, one by one.
    fn lose(&mut self, first: u64, reason: Reason) -> Step {
        self.lost = Some((first + 1..self.next_row.min(first + self.length), reason.clone()));
        Step::Rejected(first, reason)
    }

    /// The next row of those lost with their row group.
    fn next_lost(&mut self) -> Option<Step> {
        let (rows, reason) = self.lost.as_mut()?;
        match rows.next() {
            Some(row) => Some(Step::Rejected(row, reason.clone())),
            None => {
                self.lost = None;
                None
            }
        }
    }

    fn open_group(&mut self) -> Result<(), ParquetError> {
        let (file, leaves, limits, first) = (&self.file, &self.leaves, &self.limits, self.next_row);
        let index = self.next_group;
        let group = guarded(|| Group::open(&*file.get_row_group(index)?, leaves, limits, first));
        self.group = Some(group?);
        Ok(())
    }

    /// Counts the bytes of the first rows of the row group as consumed, as if all rows were of one size.
    fn count_rows(&mut self, first: u64) {
        let metadata = self.file.metadata().row_group(self.next_group);
        let (rows, size) = (rows_of(metadata).max(1), size_on_disk(metadata));
        let consumed = (u128::from(size) * u128::from(first.min(rows)) / u128::from(rows)) as u64;
        self.consumed.fetch_add(consumed.saturating_sub(self.counted), Ordering::Relaxed);
        self.counted = consumed.max(self.counted);
    }

    /// Leaves the row group, read or not, for the next one.
    fn close_group(&mut self) {
        self.count_rows(u64::MAX);
        let metadata = self.file.metadata().row_group(self.next_group);
        self.counted = 0;
        self.group = None;
        self.next_group += 1;
        self.next_row = self.next_row.saturating_add(rows_of(metadata));
    }
}

/// The result of one step through the file.
enum Step {
    Row,
    Rejected(u64, Reason),
    End,
}

impl Records for ParquetShard {
    fn next(&mut self) -> Result<Option<Item<'_>>, CorpusError> {
        match self.step()? {
            Step::Row => {}
            Step::Rejected(row, reason) => return Ok(Some(self.counter.reject(row, reason))),
            Step::End => return Ok(None),
        }
        let Some(group) = &self.group else { return Ok(None) };
        let row = group.next_row() - 1;
        let cells = match group.cells(&self.counter) {
            Ok(cells) => cells,
            Err(reason) => {
                let id = group.id_of_rejected();
                return Ok(Some(self.counter.reject_named(row, reason, id)));
            }
        };
        group.extras(&self.leaves, &mut self.extras);
        let place = self.counter.place(row);
        let id = match cells.id {
            Some(Id::Text(text)) if !text.is_empty() => text,
            Some(Id::Number(number)) => {
                self.number.clear();
                self.number.push_str(&number.to_string());
                &self.number
            }
            _ => self.counter.own_id(place),
        };
        let (media, content) = (cells.media, Content::Unicode(cells.text));
        let extras = self.extras.view();
        Ok(Some(Item::Document(Document { id, url: cells.url, media, content, place, raw: None, extras })))
    }

    fn pass_over(&mut self, bytes: u64) -> Result<bool, CorpusError> {
        let mut passed = 0;
        while self.next_group + 1 < self.file.num_row_groups() {
            passed += size_on_disk(self.file.metadata().row_group(self.next_group));
            if passed > bytes {
                break;
            }
            self.close_group();
        }
        Ok(true)
    }

    fn field_names(&self, names: &mut FieldNames) {
        let columns = self.file.metadata().file_metadata().schema_descr().columns();
        columns.iter().for_each(|column| names.add(&column.path().string()));
    }
}

/// Numbers of the columns that make a document.
struct Leaves {
    id: Option<usize>,
    text: Option<usize>,
    html: Option<usize>,
    url: Option<usize>,
    extras: Vec<Leaf>,
    /// Columns that make no document, if they are wanted.
    others: Option<SchemaDescPtr>,
}

impl Leaves {
    /// Numbers of all columns that are read.
    fn used(&self) -> impl Iterator<Item = usize> {
        let own = [self.id, self.text, self.html, self.url].into_iter().flatten();
        own.chain(self.extras.iter().map(|leaf| leaf.number))
    }

    fn named(schema: &SchemaDescriptor, counter: &RecordCounter) -> Result<Self, CorpusError> {
        let Fields { id, text, html, url } = &counter.options.fields;
        let place = |name: &str, suits: fn(&ColumnDescriptor) -> bool| {
            extras::leaf(schema, name)
                .filter(|&leaf| schema.column(leaf).max_rep_level() == 0 && suits(&schema.column(leaf)))
        };
        let found = || {
            let names = schema.columns().iter().map(|column| format!("{:?}", column.path().string()));
            names.collect::<Vec<_>>().join(", ")
        };
        let extra = |wanted: &String| {
            Leaf::named(schema, wanted).ok_or_else(|| CorpusError::NoField {
                name: counter.shard.clone(),
                wanted: wanted.clone(),
                found: found(),
            })
        };
        let mut leaves = Leaves {
            id: place(id, |column| is_text(column) || is_whole_number(column)),
            text: place(text, is_text),
            html: place(html, is_text),
            url: place(url, is_text),
            extras: counter.options.extras.iter().map(extra).collect::<Result<_, _>>()?,
            others: None,
        };
        if counter.options.others {
            leaves.others = others::columns(schema, &counter.options.fields, leaves.text.is_some());
        }
        let (missing, wanted) = match counter.options.addresses {
            true => (leaves.url.is_none(), format!("{url:?}")),
            false => (leaves.text.is_none() && leaves.html.is_none(), format!("{text:?} or {html:?}")),
        };
        if missing {
            return Err(CorpusError::NoColumn {
                name: counter.shard.clone(),
                wanted: format!("{wanted} that holds text"),
                found: found(),
            });
        }
        Ok(leaves)
    }
}

/// The name of a column, if it is compressed in a way that has no decoder here.
fn unsupported(file: &ParquetMetaData, leaf: usize) -> Option<String> {
    let lzo = |group: &RowGroupMetaData| {
        group.columns().get(leaf).is_some_and(|column| column.compression() == Compression::LZO)
    };
    file.row_groups()
        .iter()
        .any(lzo)
        .then(|| file.file_metadata().schema_descr().column(leaf).path().string())
}

fn is_text(column: &ColumnDescriptor) -> bool {
    column.physical_type() == parquet::basic::Type::BYTE_ARRAY
}

fn is_whole_number(column: &ColumnDescriptor) -> bool {
    matches!(column.physical_type(), parquet::basic::Type::INT32 | parquet::basic::Type::INT64)
}

/// A row group that is being read, a batch of rows at a time.
struct Group {
    /// Number of its first row in the file.
    first: u64,
    rows: u64,
    /// Number of its rows that have been handed out.
    passed: u64,
    id: Option<Column>,
    text: Option<Column>,
    html: Option<Column>,
    url: Option<Column>,
    extras: Vec<Column>,
    others: Option<OtherColumns>,
}

/// The cells that make a document.
struct Cells<'g> {
    id: Option<Id<'g>>,
    url: Option<&'g str>,
    media: Media,
    text: &'g str,
}

enum Id<'g> {
    Text(&'g str),
    Number(i128),
}

impl Group {
    fn open(
        reader: &dyn RowGroupReader,
        leaves: &Leaves,
        limits: &FileLimits,
        first: u64,
    ) -> Result<Self, ParquetError> {
        let limits = &limits.page_limits(reader.metadata(), &leaves.used().collect::<Vec<_>>())?;
        let column = |leaf: Option<usize>| leaf.map(|leaf| Column::open(reader, leaf, limits)).transpose();
        let extras = leaves.extras.iter().map(|leaf| Column::open(reader, leaf.number, limits));
        Ok(Group {
            first,
            rows: rows_of(reader.metadata()),
            passed: 0,
            id: column(leaves.id)?,
            text: column(leaves.text)?,
            html: column(leaves.html)?,
            url: column(leaves.url)?,
            extras: extras.collect::<Result<_, _>>()?,
            others: leaves
                .others
                .as_ref()
                .map(|others| {
                    OtherColumns::open(reader, others, batch_rows(reader.metadata(), leaves.used()))
                })
                .transpose()?,
        })
    }

    /// Number in the file of the row that is still to come.
    fn next_row(&self) -> u64 {
        self.first.saturating_add(self.passed)
    }

    /// Moves to the next row; false when the group is done.
    fn step(&mut self) -> Result<bool, ParquetError> {
        if self.passed == self.rows {
            return Ok(false);
        }
        let left = self.rows - self.passed;
        self.columns().try_for_each(|column| column.step(left))?;
        if let Some(others) = &mut self.others {
            guarded(|| others.step())?;
        }
        self.passed += 1;
        Ok(true)
    }

    fn columns(&mut self) -> impl Iterator<Item = &mut Column> {
        let own = [&mut self.id, &mut self.text, &mut self.html, &mut self.url];
        own.into_iter().flatten().chain(&mut self.extras)
    }

    /// The further cells of the row that [`Group::step`] has moved to.
    fn extras(&self, leaves: &Leaves, extras: &mut ExtraValues) {
        extras.clear();
        for (index, (leaf, column)) in leaves.extras.iter().zip(&self.extras).enumerate() {
            extras.set(index, |text| leaf.push(column, text));
        }
        if let Some(others) = &self.others {
            extras.set(leaves.extras.len(), |text| others.push(text));
        }
    }

    /// The id of a row that cannot be read.
    fn id_of_rejected(&self) -> Option<String> {
        let number = self.id.as_ref().and_then(Column::number).map(|number| number.to_string());
        let text = || String::from_utf8(cell(&self.id)?.to_vec()).ok().filter(|id| !id.is_empty());
        number.or_else(text)
    }

    /// The cells of the row that [`Group::step`] has moved to.
    fn cells(&self, counter: &RecordCounter) -> Result<Cells<'_>, Reason> {
        let Fields { id, text, html, url } = &counter.options.fields;
        let body = match cell(&self.text) {
            Some(bytes) => Some((Media::Text, text, bytes)),
            None => cell(&self.html).map(|bytes| (Media::Html, html, bytes)),
        };
        let (media, name, bytes) = match body {
            Some(body) => body,
            None if counter.options.addresses => (Media::Text, text, &b""[..]),
            None => return Err(Reason::MissingField(format!("neither {text:?} nor {html:?} is there"))),
        };
        let names = [&self.id, &self.url].map(|column| cell(column).map_or(0, <[u8]>::len));
        if bytes.len().max(names[0]).max(names[1]) > counter.limit() {
            return Err(Reason::TooLong { limit: counter.limit() as u64 });
        }
        let number = self.id.as_ref().and_then(Column::number).map(Id::Number);
        let id = match number {
            None => cell(&self.id).map(|bytes| utf8(bytes, id)).transpose()?.map(Id::Text),
            number => number,
        };
        let url = cell(&self.url).map(|bytes| utf8(bytes, url)).transpose()?;
        Ok(Cells { id, url, media, text: utf8(bytes, name)? })
    }
}

fn cell(column: &Option<Column>) -> Option<&[u8]> {
    column.as_ref()?.bytes()
}

fn utf8<'b>(bytes: &'b [u8], column: &str) -> Result<&'b str, Reason> {
    std::str::from_utf8(bytes).map_err(|error| {
        Reason::InvalidUtf8(format!("byte {} of column {column:?} is not UTF-8", error.valid_up_to()))
    })
}

pub(crate) fn rows_of(group: &RowGroupMetaData) -> u64 {
    u64::try_from(group.num_rows()).unwrap_or(0)
}

fn size_on_disk(group: &RowGroupMetaData) -> u64 {
    let sizes = group.columns().iter().map(|column| u64::try_from(column.compressed_size()).unwrap_or(0));
    sizes.fold(0, u64::saturating_add)
}

/// Returns the number of rows of the `leaves` that make a batch.
pub(crate) fn batch_rows(group: &RowGroupMetaData, leaves: impl Iterator<Item = usize>) -> usize {
    let sizes = leaves.map(|leaf| u64::try_from(group.column(leaf).uncompressed_size()).unwrap_or(0));
    let bytes = sizes.fold(0, u64::saturating_add);
    let row = (bytes / rows_of(group).max(1)).max(1);
    (BATCH_BYTES / row).clamp(1, BATCH_ROWS as u64) as usize
}

/// One column of a row group: a batch of its values, and the one that the current row has.
struct Column {
    values: Values,
    /// For each row of the batch, whether it has a value; empty when all have.
    levels: Vec<i16>,
    /// The level that says so.
    present: i16,
    /// The rows of the batch, those of them that are behind us, and the values that these had.
    rows: usize,
    row: usize,
    taken: usize,
    /// Index of the current row's value.
    current: Option<usize>,
}

enum Values {
    Bytes(ColumnReaderImpl<ByteArrayType>, Vec<ByteArray>),
    Int32(ColumnReaderImpl<Int32Type>, Vec<i32>, bool),
    Int64(ColumnReaderImpl<Int64Type>, Vec<i64>, bool),
    Int96(ColumnReaderImpl<Int96Type>, Vec<Int96>),
    Bool(ColumnReaderImpl<BoolType>, Vec<bool>),
    Float(ColumnReaderImpl<FloatType>, Vec<f32>),
    Double(ColumnReaderImpl<DoubleType>, Vec<f64>),
}

impl Column {
    fn open(group: &dyn RowGroupReader, leaf: usize, limits: &PageLimits) -> Result<Self, ParquetError> {
        let metadata = group.metadata().column(leaf);
        let unsigned = is_unsigned(metadata.column_descr());
        let values = match open_column(group, leaf, limits)? {
            ColumnReader::ByteArrayColumnReader(reader) => Values::Bytes(reader, Vec::new()),
            ColumnReader::Int32ColumnReader(reader) => Values::Int32(reader, Vec::new(), unsigned),
            ColumnReader::Int64ColumnReader(reader) => Values::Int64(reader, Vec::new(), unsigned),
            ColumnReader::Int96ColumnReader(reader) => Values::Int96(reader, Vec::new()),
            ColumnReader::BoolColumnReader(reader) => Values::Bool(reader, Vec::new()),
            ColumnReader::FloatColumnReader(reader) => Values::Float(reader, Vec::new()),
            ColumnReader::DoubleColumnReader(reader) => Values::Double(reader, Vec::new()),
            ColumnReader::FixedLenByteArrayColumnReader(_) => {
                return Err(ParquetError::General("the column holds neither text nor numbers".to_owned()));
            }
        };
        let present = metadata.column_descr().max_def_level();
        Ok(Column { values, levels: Vec::new(), present, rows: 0, row: 0, taken: 0, current: None })
    }

    /// Decodes up to `rows` rows; returns the number of rows decoded.
    fn load(&mut self, rows: usize) -> Result<usize, ParquetError> {
        (self.row, self.taken, self.current) = (0, 0, None);
        let levels = &mut self.levels;
        let read = match &mut self.values {
            Values::Bytes(reader, values) => fill(reader, values, levels, rows)?,
            Values::Int32(reader, values, _) => fill(reader, values, levels, rows)?,
            Values::Int64(reader, values, _) => fill(reader, values, levels, rows)?,
            Values::Int96(reader, values) => fill(reader, values, levels, rows)?,
            Values::Bool(reader, values) => fill(reader, values, levels, rows)?,
            Values::Float(reader, values) => fill(reader, values, levels, rows)?,
            Values::Double(reader, values) => fill(reader, values, levels, rows)?,
        };
        Ok(read)
    }

    /// Moves to the next of `left` rows.
    fn step(&mut self, left: u64) -> Result<(), ParquetError> {
        if self.row == self.rows {
            let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(BATCH_ROWS);
            self.rows = guarded(|| self.load(wanted))?;
            if self.rows == 0 {
                let complaint = format!("a column of the row group ends {left} rows early");
                return Err(ParquetError::General(complaint));
            }
        }
        let has_value = self.present == 0 || self.levels.get(self.row) == Some(&self.present);
        self.row += 1;
        self.current = has_value.then_some(self.taken);
        self.taken += usize::from(has_value);
        Ok(())
    }

    /// The current row's text.
    fn bytes(&self) -> Option<&[u8]> {
        match &self.values {
            Values::Bytes(_, values) => values.get(self.current?).map(ByteArray::data),
            _ => None,
        }
    }

    /// The current row's number.
    fn number(&self) -> Option<i128> {
        let at = self.current?;
        match &self.values {
            Values::Int32(_, values, unsigned) => {
                values.get(at).map(|&n| if *unsigned { i128::from(n.cast_unsigned()) } else { i128::from(n) })
            }
            Values::Int64(_, values, unsigned) => {
                values.get(at).map(|&n| if *unsigned { i128::from(n.cast_unsigned()) } else { i128::from(n) })
            }
            _ => None,
        }
    }
}

fn fill<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    values: &mut Vec<T::T>,
    levels: &mut Vec<i16>,
    rows: usize,
) -> Result<usize, ParquetError> {
    values.clear();
    levels.clear();
    read_rows(reader, rows, levels, None, values)
}

/// Reads up to `rows` rows of one page; none behind the last.
pub(crate) fn read_rows<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    levels: &mut Vec<i16>,
    mut starts: Option<&mut Vec<i16>>,
    values: &mut Vec<T::T>,
) -> Result<usize, ParquetError> {
    // Behind each page nothing comes once.
    for _ in 0..2 {
        let (read, _, _) = reader.read_records(rows, Some(levels), starts.as_deref_mut(), values)?;
        if read > 0 {
            return Ok(read);
        }
    }
    Ok(0)
}

fn is_unsigned(column: &ColumnDescriptor) -> bool {
    use parquet::basic::{ConvertedType, LogicalType};
    match column.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => !integer.is_signed,
        _ => matches!(
            column.converted_type(),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        ),
    }
}

/// Opens a column of a row group.
pub(crate) fn open_column(
    group: &dyn RowGroupReader,
    leaf: usize,
    limits: &PageLimits,
) -> Result<ColumnReader, ParquetError> {
    let metadata = group.metadata().column(leaf);
    let start = metadata.dictionary_page_offset().unwrap_or(metadata.data_page_offset());
    // The library panics at such numbers, which is caught, but would be told on standard error.
    if start < 0 || metadata.compressed_size() < 0 {
        return Err(ParquetError::General("a column has a place or a size below zero".to_owned()));
    }
    let pages = CheckedPages(Box::new(Pages::open(group, leaf, limits)?));
    let descriptor = group.metadata().column(leaf).column_descr_ptr();
    guarded(|| Ok(get_column_reader(descriptor, Box::new(pages))))
}

/// The pages of a column, without dictionaries that claim more values than they have bytes: room for all
/// claimed values is made before the first is decoded, and one flipped bit can claim two thousand million.
struct CheckedPages(Box<dyn PageReader>);

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let page = self.0.get_next_page()?;
        if let Some(Page::DictionaryPage { buf, num_values, .. }) = &page
            && *num_values as usize > buf.len()
        {
            let complaint = format!("a dictionary of {} bytes claims {num_values} values", buf.len());
            return Err(ParquetError::General(complaint));
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.0.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool, ParquetError> {
        self.0.at_record_boundary()
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// Runs a piece of decoding. The decoders take some kinds of damage for a broken promise of their caller and
/// panic; here it is one more damaged row group, and what they were working on is not used again.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    outcome.unwrap_or_else(|_| Err(ParquetError::General("the data are damaged beyond decoding".to_owned())))
}

fn broken(error: ParquetError) -> Reason {
    Reason::Broken(format!("the row group cannot be decoded: {error}"))
}

/// Returns the error about a file whose footer cannot be read.
pub(crate) fn unreadable(name: &str, error: ParquetError) -> CorpusError {
    let source = match error {
        ParquetError::External(error) if error.is::<std::io::Error>() => std::io::Error::other(error),
        error => {
            let complaint = format!("its Parquet footer is damaged, cut off or missing ({error})");
            std::io::Error::new(std::io::ErrorKind::InvalidData, complaint)
        }
    };
    CorpusError::Read { name: name.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use arrow_array::types::Int32Type as Keys;
    use arrow_array::{
        ArrayRef, BinaryArray, DictionaryArray, Int64Array, LargeStringArray, RecordBatch, StringArray,
        StringViewArray, UInt32Array,
    };
    use lookalike_model::{ReasonKind, Unit};
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
    use proptest::prelude::*;

    use super::*;
    use crate::formats::testing::{OwnedItem, briefs, count, damaged, limited, read_all};
    use crate::{DecoderBudget, ReadOptions};

    fn strings(values: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from(values.to_vec()))
    }

    fn file_of(columns: Vec<(&str, ArrayRef)>, group: usize) -> Vec<u8> {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn open_with(bytes: &[u8], options: ReadOptions) -> Result<ParquetShard, CorpusError> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let counter = RecordCounter::new("shard".to_owned(), Arc::new(options), Unit::Row, 0);
        ParquetShard::open(file, counter, Arc::default())
    }

    fn shard(bytes: &[u8]) -> ParquetShard {
        open_with(bytes, ReadOptions::default()).unwrap()
    }

    #[test]
    fn further_columns_come_with_every_row() {
        use arrow_array::{BooleanArray, Date32Array, Float64Array, StructArray, TimestampMillisecondArray};
        let dump: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None]));
        let nested = StructArray::from(RecordBatch::try_from_iter([("dump", dump)]).unwrap());
        let file = file_of(
            vec![
                ("text", strings(&["a", "b"])),
                ("n", Arc::new(Int64Array::from(vec![Some(-7), None]))),
                ("f", Arc::new(Float64Array::from(vec![1.0, 0.25]))),
                ("b", Arc::new(BooleanArray::from(vec![true, false]))),
                ("d", Arc::new(Date32Array::from(vec![20_484, 0]))),
                ("t", Arc::new(TimestampMillisecondArray::from(vec![0, 1]).with_timezone("UTC"))),
                ("m", Arc::new(nested)),
            ],
            1,
        );
        let names = ["text", "n", "f", "b", "d", "t", "m.dump"];
        let options_with = |names: &[&str]| ReadOptions {
            extras: names.iter().map(|name| (*name).to_owned()).collect(),
            ..ReadOptions::default()
        };
        let mut shard = open_with(&file, options_with(&names)).unwrap();
        let mut rows = Vec::new();
        while let Some(Item::Document(document)) = shard.next().unwrap() {
            let value = |index| document.extras.get(index).unwrap_or("none").to_owned();
            rows.push((0..names.len()).map(value).collect::<Vec<_>>().join(" "));
        }
        assert_eq!(rows[0], "a -7 1.0 true 2026-01-31 1970-01-01T00:00:00.000Z x");
        assert_eq!(rows[1..], ["b none 0.25 false 1970-01-01 1970-01-01T00:00:00.001Z none"]);
        let error = open_with(&file, options_with(&["m"])).err().unwrap().to_string();
        assert!(
            error.starts_with("shard has no column \"m\" with one plain value per row; its columns are"),
            "{error}"
        );
        assert!(error.contains("\"m.dump\""), "{error}");
    }

    #[test]
    fn names_with_dots_lead_into_structures_unless_a_column_bears_the_whole_name() {
        use arrow_array::StructArray;
        let columns = [("body", strings(&["one", "two"])), ("link", strings(&["http://a/", "http://b/"]))];
        let page: ArrayRef = Arc::new(StructArray::from(RecordBatch::try_from_iter(columns).unwrap()));
        let fields = Fields {
            text: "page.body".to_owned(),
            url: "page.link".to_owned(),
            id: "page.key".to_owned(),
            ..Fields::default()
        };
        let options = ReadOptions { fields, ..ReadOptions::default() };
        let read = |file: &[u8]| read_all(&mut open_with(file, options.clone()).unwrap());
        let all = read(&file_of(vec![("page", page.clone())], 10));
        assert_eq!(
            (all[1].brief(), all[1].page().url.as_deref()),
            ("shard#1: two".into(), Some("http://b/"))
        );
        let whole =
            vec![("page", page), ("page.body", strings(&["whole", ""])), ("page.key", strings(&["a", "b"]))];
        assert_eq!(read(&file_of(whole, 10))[0].brief(), "a: whole");
    }

    #[test]
    fn rows_are_documents() {
        let columns = vec![
            ("id", strings(&["a", "b"])),
            ("noise", Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef),
            ("text", strings(&["one", ""])),
            ("url", Arc::new(StringArray::from(vec![Some("http://a/"), None]))),
        ];
        let all = read_all(&mut shard(&file_of(columns, 10)));
        assert_eq!((all[0].brief(), all[1].brief(), all.len()), ("a: one".into(), "b: ".into(), 2));
        assert_eq!((all[0].page().url.as_deref(), all[1].page().url.as_deref()), (Some("http://a/"), None));
        assert_eq!((all[1].page().position, all[1].page().media), (1, Media::Text));
    }

    #[test]
    fn any_kind_of_string_is_text() {
        let words = ["one", "two", "one"];
        let kinds: Vec<ArrayRef> = vec![
            strings(&words),
            Arc::new(LargeStringArray::from(words.to_vec())),
            Arc::new(StringViewArray::from(words.to_vec())),
            Arc::new(BinaryArray::from_vec(words.iter().map(|word| word.as_bytes()).collect())),
            Arc::new(words.into_iter().collect::<DictionaryArray<Keys>>()),
        ];
        for texts in kinds {
            let all = briefs(&mut shard(&file_of(vec![("text", texts.clone())], 2)));
            assert_eq!(all, ["shard#0: one", "shard#1: two", "shard#2: one"], "{}", texts.data_type());
        }
    }

    #[test]
    fn ids_may_be_whole_numbers() {
        let signed: ArrayRef = Arc::new(Int64Array::from(vec![Some(-7), None]));
        let all = briefs(&mut shard(&file_of(vec![("id", signed), ("text", strings(&["a", "b"]))], 10)));
        assert_eq!(all, ["-7: a", "shard#1: b"]);
        let unsigned: ArrayRef = Arc::new(UInt32Array::from(vec![u32::MAX]));
        let all = briefs(&mut shard(&file_of(vec![("id", unsigned), ("text", strings(&["a"]))], 10)));
        assert_eq!(all, ["4294967295: a"]);
    }

    #[test]
    fn html_stands_in_for_text_and_nothing_for_both_is_rejected() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![None, Some("t"), None]));
        let pages: ArrayRef = Arc::new(StringArray::from(vec![Some("<p>"), Some("<p>"), None]));
        let all = read_all(&mut shard(&file_of(vec![("html", pages), ("text", texts)], 10)));
        assert_eq!((all[0].page().media, all[1].page().media), (Media::Html, Media::Text));
        assert_eq!(all[2], OwnedItem::Rejected(ReasonKind::MissingField, 2));
    }

    #[test]
    fn one_bad_text_costs_one_row() {
        let texts: ArrayRef =
            Arc::new(BinaryArray::from_vec(vec![b"ok", b"\xff\xfe", b"much too long", b"fine"]));
        let all = read_all(&mut open_with(&file_of(vec![("text", texts)], 10), limited(10)).unwrap());
        assert_eq!(all[1], OwnedItem::Rejected(ReasonKind::InvalidUtf8, 1));
        assert_eq!(all[2], OwnedItem::Rejected(ReasonKind::TooLong, 2));
        assert_eq!((all[3].page().position, all.len()), (3, 4));
    }

    #[test]
    fn a_file_without_text_says_which_columns_it_has() {
        let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let file = file_of(vec![("text", number), ("body", strings(&["x"]))], 10);
        let error = open_with(&file, ReadOptions::default()).err().unwrap().to_string();
        assert!(error.contains("its columns are \"text\", \"body\""), "{error}");
    }

    #[test]
    fn what_is_no_parquet_file_is_an_error() {
        let whole = file_of(vec![("text", strings(&["x"]))], 10);
        for bytes in [&b""[..], b"PAR1", b"{\"text\": \"no\"}\n", &whole[..whole.len() - 5]] {
            let error = open_with(bytes, ReadOptions::default()).err().unwrap().to_string();
            assert!(error.starts_with("cannot read shard: its Parquet footer"), "{error}");
        }
    }

    /// Returns a budget of `memory` bytes for one shard, beside 100 MiB.
    fn budget_of(memory: u64) -> DecoderBudget {
        DecoderBudget {
            buffer_bytes: memory.saturating_mul(2),
            other_bytes: 100 << 20,
            readers: 1,
            min_reader_bytes: 0,
        }
    }

    /// Reads the part of a file that can be read when decoders may take `memory` bytes.
    fn read_within(bytes: &[u8], memory: u64) -> Vec<OwnedItem> {
        let options = ReadOptions::default();
        options.decoding.set_budget(budget_of(memory));
        read_all(&mut open_with(bytes, options).unwrap())
    }

    fn pages_of(
        texts: &[Option<String>],
        change: impl Fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder,
    ) -> Vec<u8> {
        let texts: ArrayRef = Arc::new(StringArray::from_iter(texts));
        let batch = RecordBatch::try_from_iter([("text", texts)]).unwrap();
        let properties = change(WriterProperties::builder().set_dictionary_enabled(false)).build();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    #[test]
    fn pages_larger_than_memory_are_taken_apart() {
        use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
        use parquet::file::properties::WriterVersion;
        let text = |n: usize| {
            let words = (0..n * 37 % 900).map(|at| format!("{} ", (at * at + n) % 1013));
            (n % 5 != 3).then(|| words.collect::<String>())
        };
        let texts: Vec<Option<String>> = (0..3000).map(text).collect();
        for codec in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::LZ4_RAW,
            Compression::GZIP(GzipLevel::default()),
            Compression::ZSTD(ZstdLevel::default()),
            Compression::BROTLI(BrotliLevel::default()),
        ] {
            for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
                // Pages of many megabytes; what is no text is not to be taken apart by accident.
                let file = std::panic::catch_unwind(|| {
                    pages_of(&texts, |properties| {
                        properties
                            .set_compression(codec)
                            .set_writer_version(version)
                            .set_encoding(parquet::basic::Encoding::PLAIN)
                            .set_data_page_size_limit(1 << 30)
                            .set_data_page_row_count_limit(1 << 30)
                            .set_write_batch_size(1 << 20)
                    })
                });
                // A codec that is not built in cannot be written either.
                let Ok(file) = file else { continue };
                let whole = read_within(&file, u64::MAX);
                assert_eq!(whole.len(), 3000, "{codec} {version:?}");
                // What Brotli unpacks reaches back four megabytes.
                let memory = if matches!(codec, Compression::BROTLI(_)) { 5 << 20 } else { 1 << 20 };
                assert!(read_within(&file, memory) == whole, "{codec} {version:?}");
            }
        }
    }

    #[test]
    fn a_text_longer_than_allowed_costs_its_row_alone() {
        let texts = ["one", &"long ".repeat(1 << 20), "three"].map(|text| Some(text.to_owned()));
        let file = pages_of(&texts, |properties| properties.set_data_page_size_limit(1 << 30));
        let options = limited(1 << 20);
        options.decoding.set_budget(budget_of(1 << 20));
        let all = read_all(&mut open_with(&file, options).unwrap());
        assert_eq!(
            (all[0].brief(), all[2].brief(), all.len()),
            ("shard#0: one".into(), "shard#2: three".into(), 3)
        );
        assert_eq!(all[1], OwnedItem::Rejected(ReasonKind::TooLong, 1));
    }

    /// Holds a refusal against what it asks for: with that the file is read, with a little less it is not.
    #[track_caller]
    fn refused_until_enough(file: &[u8], budget: DecoderBudget, rows: usize) -> u64 {
        let read = |buffer_bytes: u64| {
            let options = ReadOptions::default();
            options.decoding.set_budget(DecoderBudget { buffer_bytes, ..budget });
            let mut shard = open_with(file, options).unwrap();
            let mut rows = 0;
            loop {
                match shard.next() {
                    Ok(Some(Item::Document(_))) => rows += 1,
                    Ok(Some(_)) => panic!("a row is lost"),
                    Ok(None) => return Ok(rows),
                    Err(CorpusError::Memory { needed, .. }) => return Err(needed),
                    Err(other) => panic!("{other}"),
                }
            }
        };
        let needed = read(budget.buffer_bytes).unwrap_err();
        assert_eq!(read(needed - budget.other_bytes), Ok(rows), "what was asked for is enough");
        assert!(
            read(needed - budget.other_bytes - (2 << 20) * budget.readers).is_err(),
            "and not much too much"
        );
        needed
    }

    #[test]
    fn a_dictionary_larger_than_memory_is_refused_with_the_figure() {
        use parquet::basic::{Compression, ZstdLevel};
        // Letters without rule, so that what is packed is large, too.
        let mut state = 1u64;
        let mut letter = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b' ' + (state >> 58) as u8)
        };
        let texts: Vec<Option<String>> =
            (0..8).map(|_| Some((0..2 << 20).map(|_| letter()).collect())).collect();
        for codec in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::LZ4_RAW,
            Compression::ZSTD(ZstdLevel::default()),
        ] {
            let file = pages_of(&texts, |properties| {
                properties
                    .set_compression(codec)
                    .set_dictionary_enabled(true)
                    .set_dictionary_page_size_limit(1 << 30)
            });
            let needed = refused_until_enough(&file, budget_of(1 << 20), 8);
            // Sixteen megabytes, for which twice as much room is needed.
            assert!((132..138).contains(&(needed >> 20)), "{codec} {needed}");
            let several = DecoderBudget { readers: 3, ..budget_of(1 << 20) };
            assert!(refused_until_enough(&file, several, 8) > needed);
        }
    }

    #[test]
    fn dictionaries_of_several_columns_have_room_together() {
        let column = |word: &str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values((0..40).map(|n| format!("{word} {n} ").repeat(20_000))))
        };
        let batch = RecordBatch::try_from_iter([("text", column("a")), ("url", column("b"))]).unwrap();
        let properties = WriterProperties::builder()
            .set_dictionary_page_size_limit(1 << 30)
            .set_max_row_group_row_count(Some(15))
            .build();
        let mut file = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        refused_until_enough(&file, budget_of(1 << 20), 40);
    }

    #[test]
    fn a_page_that_lies_about_its_length_is_damage_and_no_matter_of_memory() {
        let texts: Vec<Option<String>> = (0..8).map(|n| Some(format!("{n} ").repeat(1000))).collect();
        let file = pages_of(&texts, |properties| properties.set_dictionary_enabled(true));
        let claimed = 16_032u32;
        let varint = |number: u32| {
            let mut number = number << 1;
            let mut bytes = Vec::new();
            while number >= 0x80 {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
            bytes
        };
        // The first page's length behind the marks of the header's first two fields.
        let header = [&[0x15, 4, 0x15][..], &varint(claimed)].concat();
        let at = file.windows(header.len()).position(|window| window == header).expect("a dictionary");
        let mut lying = file.clone();
        lying[at + 3..at + header.len()].copy_from_slice(&varint(claimed + 1_000_000));
        assert_eq!(read_within(&file, 1 << 19).len(), 8);
        let all = read_within(&lying, 1 << 19);
        assert!(all.iter().all(|row| matches!(row, OwnedItem::Rejected(ReasonKind::Broken, _))), "{all:?}");
        assert_eq!(all.len(), 8);
    }

    fn ten_groups() -> Vec<u8> {
        let texts: Vec<String> = (0..100).map(|n| format!("text {n} {}", "x".repeat(n % 7))).collect();
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100));
        file_of(vec![("id", ids), ("text", Arc::new(StringArray::from(texts)))], 10)
    }

    #[test]
    fn a_damaged_row_group_costs_no_other() {
        let mut bytes = ten_groups();
        let file = shard(&bytes).file;
        let (start, length) = file.metadata().row_group(3).column(1).byte_range();
        bytes[start as usize..(start + length) as usize].fill(0xff);
        let all = read_all(&mut shard(&bytes));
        let rejected: Vec<_> = all.iter().filter(|item| !matches!(item, OwnedItem::Document(_))).collect();
        let lost: Vec<_> = (30..40).map(|row| OwnedItem::Rejected(ReasonKind::Broken, row)).collect();
        assert_eq!(rejected, lost.iter().collect::<Vec<_>>());
        assert_eq!((all.len(), all[40].page().position), (100, 40));
    }

    #[test]
    fn a_dictionary_may_not_claim_more_than_it_holds() {
        struct Claim(Option<Page>);
        impl Iterator for Claim {
            type Item = Result<Page, ParquetError>;
            fn next(&mut self) -> Option<Self::Item> {
                self.0.take().map(Ok)
            }
        }
        impl PageReader for Claim {
            fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
                Ok(self.0.take())
            }
            fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
                Ok(None)
            }
            fn skip_next_page(&mut self) -> Result<(), ParquetError> {
                Ok(())
            }
        }
        let page = |num_values| Page::DictionaryPage {
            buf: vec![0; 8].into(),
            num_values,
            encoding: parquet::basic::Encoding::PLAIN,
            is_sorted: false,
        };
        assert!(CheckedPages(Box::new(Claim(Some(page(2))))).get_next_page().is_ok());
        assert!(CheckedPages(Box::new(Claim(Some(page(u32::MAX))))).get_next_page().is_err());
    }

    #[test]
    fn progress_reaches_the_size_of_all_row_groups() {
        let bytes = ten_groups();
        let mut shard = shard(&bytes);
        let groups: i64 =
            shard.file.metadata().row_groups().iter().map(RowGroupMetaData::compressed_size).sum();
        count(&mut shard);
        assert_eq!(shard.consumed.load(Ordering::Relaxed), groups as u64);
    }

    #[test]
    fn progress_is_seen_inside_a_row_group() {
        let texts: Vec<String> = (0..600).map(|n| format!("text {n}")).collect();
        let bytes = file_of(vec![("text", Arc::new(StringArray::from(texts)))], 600);
        let mut shard = shard(&bytes);
        let size = size_on_disk(shard.file.metadata().row_group(0));
        let mut consumed_after = |row: u64| {
            while shard.group.as_ref().map_or(0, |group| group.passed) < row {
                assert!(shard.next().unwrap().is_some());
            }
            shard.consumed.load(Ordering::Relaxed)
        };
        // Rows are counted before they are given.
        assert_eq!(
            [1, 256, 257, 512, 513, 600].map(&mut consumed_after),
            [256, 256, 512, 512, 600, 600].map(|rows| size * rows / 600)
        );
    }

    #[test]
    fn whole_row_groups_are_passed_over() {
        let bytes = ten_groups();
        let sizes: Vec<u64> = shard(&bytes).file.metadata().row_groups().iter().map(size_on_disk).collect();
        let rows_left = |bytes_before: u64| {
            let mut shard = shard(&bytes);
            assert!(shard.pass_over(bytes_before).unwrap());
            count(&mut shard)
        };
        let all = rows_left(0);
        assert_eq!(rows_left(sizes[0] - 1), all);
        assert_eq!(rows_left(sizes[0]), all / 10 * 9);
        assert_eq!(rows_left(sizes[..4].iter().sum()), all / 10 * 6);
        assert_eq!(rows_left(u64::MAX), all / 10, "the last one stays");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let bytes = [b"PAR1", &bytes[..], b"PAR1"].concat();
            if let Ok(mut shard) = open_with(&bytes, ReadOptions::default()) {
                count(&mut shard);
            }
        }

        #[test]
        fn damaged_files_never_panic(bytes in damaged(ten_groups())) {
            if let Ok(mut shard) = open_with(&bytes, ReadOptions::default()) {
                count(&mut shard);
            }
        }
    }
}

//! Parquet files: documents in three columns, or a copy of a file with some of its rows left out.

mod fields;

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use arrow_schema::{DataType as ArrowType, Field, Fields, Schema};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{Type, TypePtr};

use self::fields::FieldColumns;
use super::pending::Pending;
use super::shard::{CLUSTER, COPIES, Note, Verdict};
use crate::formats::parquet::{
    BATCH_ROWS, FileLimits, TooLarge, batch_rows, guarded, open_column, read_rows, rows_of, unreadable,
};
use crate::{CorpusError, DecoderBudget};

/// Bytes of rows at which a row group is written.
const GROUP_BYTES: usize = 64 << 20;

/// A row group that claims more rows than this is damaged.
const MOST_ROWS: u64 = 1 << 31;

/// Most rows by which a page may exceed its size limit; texts can be long.
const ROWS_PER_CHECK: usize = 16;

/// Under this name some writers put the schema once more, as Arrow has it.
const ARROW_SCHEMA: &str = "ARROW:schema";

const SCHEMA: &str = "message documents {
    REQUIRED BYTE_ARRAY id (STRING);
    OPTIONAL BYTE_ARRAY url (STRING);
    REQUIRED BYTE_ARRAY text (STRING);
}";

/// Writes documents as rows with the columns `id`, `url` and `text`, and columns for their other fields.
///
/// The file appears under its name when [`ParquetWriter::finish`] is called, and never in part. The same
/// documents give the same bytes.
///
/// ```
/// use lookalike_corpus::write::parquet::ParquetWriter;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("documents.parquet");
/// let mut writer = ParquetWriter::create(&path)?;
/// writer.document("a", Some("https://example.org/"), "one rose")?;
/// writer.document("b", None, "two roses")?;
/// writer.finish()?;
/// assert!(path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ParquetWriter {
    pending: Pending,
    /// The file, until its columns are known.
    file: Option<File>,
    writer: Option<SerializedFileWriter<File>>,
    columns: Option<FieldColumns>,
    rows: Rows,
}

impl ParquetWriter {
    /// Begins a file that will be called `path`.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, CorpusError> {
        let (file, pending) = Pending::begin(path.as_ref())?;
        Ok(ParquetWriter { pending, file: Some(file), writer: None, columns: None, rows: Rows::default() })
    }

    /// Adds a row.
    pub fn document(&mut self, id: &str, url: Option<&str>, text: &str) -> Result<(), CorpusError> {
        self.document_with(id, url, text, None)
    }

    /// Adds a row with `others`, a JSON object, in columns of their own; which ones there are is decided by the first documents, of
    /// about 64 MB. What fits none of them goes to the column `other_fields` as it stands.
    pub fn document_with(
        &mut self,
        id: &str,
        url: Option<&str>,
        text: &str,
        others: Option<&str>,
    ) -> Result<(), CorpusError> {
        self.rows.push(id, url, text, others.unwrap_or_default());
        if self.rows.bytes() < GROUP_BYTES {
            return Ok(());
        }
        self.write_group()
    }

    /// Writes what is left and gives the file its name.
    pub fn finish(mut self) -> Result<(), CorpusError> {
        self.write_group()?;
        self.begin()?;
        let ended = self.writer.map(SerializedFileWriter::into_inner).transpose();
        ended.map(drop).map_err(|error| failure(&self.pending, error))?;
        self.pending.finish()
    }

    fn write_group(&mut self) -> Result<(), CorpusError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.begin()?;
        let rows = std::mem::take(&mut self.rows);
        let Some(writer) = &mut self.writer else { return Ok(()) };
        rows.write(writer, self.columns.as_ref()).map_err(|error| failure(&self.pending, error))
    }

    /// Begins the file, if that is still to be done, with columns for what the documents so far have.
    fn begin(&mut self) -> Result<(), CorpusError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        self.columns = FieldColumns::infer(self.rows.others.iter());
        let writer =
            begin_file(file, self.columns.as_ref()).map_err(|error| failure(&self.pending, error))?;
        self.writer = Some(writer);
        Ok(())
    }
}

fn begin_file(
    file: File,
    columns: Option<&FieldColumns>,
) -> Result<SerializedFileWriter<File>, ParquetError> {
    let mut schema = parse_message_type(SCHEMA)?;
    if let Some(columns) = columns {
        let own = schema.get_fields().iter().cloned();
        let fields = own.chain(columns.types()?).collect();
        schema = Type::group_type_builder(schema.name()).with_fields(fields).build()?;
    }
    let properties = properties()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
}

/// Returns the properties that all our files share; above all they name no moment and no machine.
pub(super) fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_created_by(concat!("lookalike version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_write_batch_size(ROWS_PER_CHECK)
}

/// The rows of a row group that is not yet written.
#[derive(Default)]
struct Rows {
    ids: Texts,
    urls: Texts,
    /// For each row, 1 if it has an address and 0 if it has none.
    has_url: Vec<i16>,
    texts: Texts,
    /// The other fields of each row as a JSON object, or nothing.
    others: Texts,
}

impl Rows {
    fn push(&mut self, id: &str, url: Option<&str>, text: &str, others: &str) {
        self.others.push(others);
        self.ids.push(id);
        self.has_url.push(i16::from(url.is_some()));
        url.into_iter().for_each(|url| self.urls.push(url));
        self.texts.push(text);
    }

    fn is_empty(&self) -> bool {
        self.has_url.is_empty()
    }

    fn bytes(&self) -> usize {
        let bookkeeping = self.has_url.len() * size_of::<[usize; 5]>();
        let texts = [&self.ids, &self.urls, &self.texts, &self.others];
        texts.iter().map(|texts| texts.bytes.len()).sum::<usize>() + bookkeeping
    }

    fn write(
        self,
        writer: &mut SerializedFileWriter<File>,
        columns: Option<&FieldColumns>,
    ) -> Result<(), ParquetError> {
        if columns.is_none() && !self.others.bytes.is_empty() {
            let complaint = "documents have other fields than id, url and text, and the first 64 MB of them had none; put them \
                             first, or write JSON lines";
            return Err(ParquetError::External(io::Error::other(complaint).into()));
        }
        let mut group = writer.next_row_group()?;
        write_column(&mut group, self.ids, None)?;
        write_column(&mut group, self.urls, Some(&self.has_url))?;
        write_column(&mut group, self.texts, None)?;
        if let Some(columns) = columns {
            columns.write(&mut group, self.others.iter())?;
        }
        group.close().map(drop)
    }
}

fn write_column(
    group: &mut SerializedRowGroupWriter<'_, File>,
    texts: Texts,
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the schema has too few columns".to_owned()));
    };
    column.typed::<ByteArrayType>().write_batch(&texts.into_values(), levels, None)?;
    column.close()
}

/// Texts one behind the other.
#[derive(Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    pub(super) fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(self.bytes.len());
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Forgets all but the first `count` texts.
    pub(super) fn truncate(&mut self, count: usize) {
        self.ends.truncate(count);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// The texts, in their order.
    fn iter(&self) -> impl Iterator<Item = &str> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins
            .zip(&self.ends)
            .map(|(begin, &end)| std::str::from_utf8(&self.bytes[begin..end]).unwrap_or_default())
    }

    pub(super) fn into_values(self) -> Vec<ByteArray> {
        let all = ByteArray::from(self.bytes);
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| all.slice(begin, end - begin)).collect()
    }
}

/// Copies a Parquet file, keeping the rows whose number `keep` accepts.
///
/// The copy has the same columns, the same key-value metadata, and each column is compressed as in the source's
/// first row group. Row groups stay as they are, but for the rows they lose; one that loses all is left out
/// without being read. `keep` is asked once for each row, in order. Memory holds a few megabytes of one column
/// at a time, and one byte per row of a row group.
///
/// Fails when a row group of which something is to be kept cannot be decoded; then there is no copy.
#[cfg(test)]
fn filter_rows(source: &Path, target: &Path, mut keep: impl FnMut(u64) -> bool) -> Result<(), CorpusError> {
    let name = source.display().to_string();
    let mut decide = |row| Ok(if keep(row) { Verdict::Keep } else { Verdict::Drop });
    let copy =
        RowCopy { source, name: &name, annotated: false, rejects: false, budget: DecoderBudget::default() };
    match copy.run(target, &mut decide) {
        Err(CopyAbort::Failed(error)) => Err(error),
        Ok(_) | Err(CopyAbort::Stopped) => Ok(()),
    }
}

/// The reason why a copy ends early.
pub(super) enum CopyAbort {
    /// It was asked to.
    Stopped,
    Failed(CorpusError),
}

/// A file to be copied with fewer rows.
pub(super) struct RowCopy<'c> {
    pub(super) source: &'c Path,
    /// The name of the file in messages.
    pub(super) name: &'c str,
    /// Kept rows get two more columns.
    pub(super) annotated: bool,
    /// Rows are copied because they were rejected: row groups that cannot be decoded are passed over, and no file is written
    /// without rows.
    pub(super) rejects: bool,
    /// Memory that its pages may take.
    pub(super) budget: DecoderBudget,
}

impl RowCopy<'_> {
    /// Asks `decide` once for each row, in order, and writes the copy; returns the number of rows passed over.
    pub(super) fn run(
        &self,
        target: &Path,
        decide: &mut dyn FnMut(u64) -> Result<Verdict, CopyAbort>,
    ) -> Result<u64, CopyAbort> {
        let unread = |error| CopyAbort::Failed(unreadable(self.name, error));
        let unopened = |source| CopyAbort::Failed(CorpusError::reading(self.name)(source));
        let file = File::open(self.source).map_err(unopened)?;
        // Another reader of the same file goes ahead, and has as much: nothing else is under way then.
        let limits = FileLimits {
            file: Arc::new(file.try_clone().map_err(unopened)?),
            most: self.budget.bytes_per_reader(),
            longest: u32::MAX as usize,
        };
        let reader = guarded(|| SerializedFileReader::new(file)).map_err(unread)?;
        let (copy, pending) = Pending::begin(target).map_err(CopyAbort::Failed)?;
        let unwritten = |error| CopyAbort::Failed(failure(&pending, error));
        let schema = self.schema(reader.metadata())?;
        let properties = Arc::new(properties_of(reader.metadata(), self.annotated));
        let mut writer = SerializedFileWriter::new(copy, schema, properties).map_err(unwritten)?;
        let (mut first_row, mut lost) = (0, 0);
        for index in 0..reader.num_row_groups() {
            let uncopied = |error: ParquetError| {
                if TooLarge::stopped(&error) {
                    return CopyAbort::Failed(self.too_large(&limits, reader.metadata()));
                }
                let complaint =
                    format!("row group {index} cannot be copied to {} ({error})", target.display());
                CopyAbort::Failed(CorpusError::reading(self.name)(io::Error::other(complaint)))
            };
            let rows = rows_of(reader.metadata().row_group(index));
            if rows > MOST_ROWS {
                return Err(uncopied(ParquetError::General(format!("it claims to hold {rows} rows"))));
            }
            let kept = KeptRows::decided(first_row..first_row + rows, decide)?;
            first_row += rows;
            if !kept.rows.contains(&true) {
                continue;
            }
            if self.rejects {
                match guarded(|| decode_group(&*reader.get_row_group(index)?, &limits)) {
                    Err(error) if TooLarge::stopped(&error) => return Err(uncopied(error)),
                    Err(_) => {
                        lost += kept.rows.iter().filter(|&&kept| kept).count() as u64;
                        continue;
                    }
                    Ok(()) => {}
                }
            }
            guarded(|| copy_group(&*reader.get_row_group(index)?, &limits, &mut writer, &kept))
                .map_err(uncopied)?;
        }
        let written = !writer.flushed_row_groups().is_empty();
        writer.into_inner().map(drop).map_err(unwritten)?;
        if written || !self.rejects {
            pending.finish().map_err(CopyAbort::Failed)?;
        }
        Ok(lost)
    }

    /// The refusal of a page, with the memory under which every column can be copied.
    fn too_large(&self, limits: &FileLimits, metadata: &ParquetMetaData) -> CorpusError {
        let columns = 0..metadata.file_metadata().schema_descr().num_columns();
        let needed = columns.map(|leaf| limits.needed(metadata, &[leaf])).max().unwrap_or(0);
        self.budget.too_small(format!("a page of {}", self.name), needed)
    }

    /// The columns of the copy.
    fn schema(&self, source: &ParquetMetaData) -> Result<TypePtr, CopyAbort> {
        let schema = source.file_metadata().schema_descr().root_schema_ptr();
        if !self.annotated {
            return Ok(schema);
        }
        let there = |name: &&str| schema.get_fields().iter().any(|field| field.name() == *name);
        if let Some(field) = [CLUSTER, COPIES].into_iter().find(there) {
            return Err(CopyAbort::Failed(CorpusError::Annotated { name: self.name.to_owned(), field }));
        }
        let number = |name| {
            let column = Type::primitive_type_builder(name, PhysicalType::INT64);
            let column = column.with_repetition(Repetition::OPTIONAL);
            column.with_logical_type(Some(LogicalType::integer(64, false))).build().map(Arc::new)
        };
        let fields = schema.get_fields().iter().cloned().map(Ok).chain([number(CLUSTER), number(COPIES)]);
        let fields = fields.collect::<Result<Vec<_>, ParquetError>>();
        let schema =
            fields.and_then(|fields| Type::group_type_builder(schema.name()).with_fields(fields).build());
        schema.map(Arc::new).map_err(|error| CopyAbort::Failed(unreadable(self.name, error)))
    }
}

/// The rows of a row group that are kept.
struct KeptRows {
    /// For each row, whether it is kept.
    rows: Vec<bool>,
    /// The notes of the kept rows, if they get any.
    notes: Vec<Note>,
}

impl KeptRows {
    fn decided(
        rows: Range<u64>,
        decide: &mut dyn FnMut(u64) -> Result<Verdict, CopyAbort>,
    ) -> Result<Self, CopyAbort> {
        let mut kept = KeptRows { rows: Vec::new(), notes: Vec::new() };
        for row in rows {
            let verdict = decide(row)?;
            kept.rows.push(verdict != Verdict::Drop);
            if let Verdict::Annotate(note) = verdict {
                kept.notes.push(note);
            }
        }
        Ok(kept)
    }
}

/// Writes as the source was written, as far as its first row group tells.
fn properties_of(source: &ParquetMetaData, annotated: bool) -> WriterProperties {
    let mut metadata = source.file_metadata().key_value_metadata().cloned();
    if annotated && let Some(metadata) = &mut metadata {
        // As it stands it would say that there are two columns fewer, and readers that believe it fail.
        for entry in metadata.iter_mut().filter(|entry| entry.key == ARROW_SCHEMA) {
            entry.value = entry.value.as_deref().and_then(with_note_columns);
        }
        metadata.retain(|entry| entry.key != ARROW_SCHEMA || entry.value.is_some());
    }
    let mut properties = properties().set_key_value_metadata(metadata);
    for column in source.row_groups().first().into_iter().flat_map(|group| group.columns()) {
        let path = column.column_path();
        let dictionary = column
            .encodings()
            .any(|encoding| matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY));
        properties = properties
            .set_column_compression(path.clone(), column.compression())
            .set_column_dictionary_enabled(path.clone(), dictionary);
    }
    properties.build()
}

/// An Arrow schema as it stands in Parquet files, with the columns of notes behind the others; `None` if it cannot be read.
fn with_note_columns(encoded: &str) -> Option<String> {
    let bytes = BASE64_STANDARD.decode(encoded).ok()?;
    // Newer writers put a marker and a length before the message.
    let message = bytes.strip_prefix(&[0xff; 4]).and_then(|rest| rest.get(4..)).unwrap_or(&bytes);
    let decoded = guarded(|| {
        let message = arrow_ipc::root_as_message(message).ok();
        Ok(message.and_then(|message| message.header_as_schema()).map(arrow_ipc::convert::fb_to_schema))
    });
    let schema = decoded.ok()??;
    let note = |name| Arc::new(Field::new(name, ArrowType::UInt64, true));
    let fields: Fields = schema.fields().iter().cloned().chain([note(CLUSTER), note(COPIES)]).collect();
    Some(encode_schema(&Schema::new_with_metadata(fields, schema.metadata().clone())))
}

/// An Arrow schema as Parquet files hold it: a message of Arrow's exchange format behind a marker and its length, in base64.
///
/// The Parquet crate has the same behind its feature `arrow`, which takes a minute to build.
fn encode_schema(schema: &Schema) -> String {
    let mut dictionaries = DictionaryTracker::new(true);
    let message = IpcDataGenerator::default()
        .schema_to_bytes_with_dictionary_tracker(schema, &mut dictionaries, &IpcWriteOptions::default())
        .ipc_message;
    let length = (message.len() as u32).to_le_bytes();
    BASE64_STANDARD.encode([&[0xff; 4], &length, message.as_slice()].concat())
}

fn copy_group(
    source: &dyn RowGroupReader,
    limits: &FileLimits,
    target: &mut SerializedFileWriter<File>,
    kept: &KeptRows,
) -> Result<(), ParquetError> {
    let mut group = target.next_row_group()?;
    for leaf in 0..source.num_columns() {
        let Some(mut column) = group.next_column()? else { break };
        let descriptor = source.metadata().column(leaf).column_descr();
        let nested = descriptor.max_rep_level() > 0;
        let selection = Selection {
            kept: &kept.rows,
            batch: if nested { batch_rows(source.metadata(), std::iter::once(leaf)) } else { BATCH_ROWS },
            present: descriptor.max_def_level(),
            nested,
        };
        let limits = limits.page_limits(source.metadata(), &[leaf])?;
        selection.copy_column(open_column(source, leaf, &limits)?, column.untyped())?;
        column.close()?;
    }
    write_notes(&mut group, &kept.notes)?;
    group.close().map(drop)
}

/// Decodes a row group, to see whether that can be done.
fn decode_group(source: &dyn RowGroupReader, limits: &FileLimits) -> Result<(), ParquetError> {
    let rows = rows_of(source.metadata());
    for leaf in 0..source.num_columns() {
        let batch = batch_rows(source.metadata(), std::iter::once(leaf));
        let limits = limits.page_limits(source.metadata(), &[leaf])?;
        match open_column(source, leaf, &limits)? {
            ColumnReader::BoolColumnReader(column) => decode_column(column, rows, batch),
            ColumnReader::Int32ColumnReader(column) => decode_column(column, rows, batch),
            ColumnReader::Int64ColumnReader(column) => decode_column(column, rows, batch),
            ColumnReader::Int96ColumnReader(column) => decode_column(column, rows, batch),
            ColumnReader::FloatColumnReader(column) => decode_column(column, rows, batch),
            ColumnReader::DoubleColumnReader(column) => decode_column(column, rows, batch),
            ColumnReader::ByteArrayColumnReader(column) => decode_column(column, rows, batch),
            ColumnReader::FixedLenByteArrayColumnReader(column) => decode_column(column, rows, batch),
        }?;
    }
    Ok(())
}

fn decode_column<T: DataType>(
    mut column: ColumnReaderImpl<T>,
    rows: u64,
    batch: usize,
) -> Result<(), ParquetError> {
    let (mut values, mut left) = (Batch::<T>::default(), rows);
    while left > 0 {
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(batch);
        match values.read(&mut column, wanted)? {
            0 => return Err(ParquetError::General("a column ends early".to_owned())),
            read => left -= read as u64,
        }
    }
    Ok(())
}

/// Writes the last two columns, if the copy has them.
fn write_notes(group: &mut SerializedRowGroupWriter<'_, File>, notes: &[Note]) -> Result<(), ParquetError> {
    let present = vec![1; notes.len()];
    for number in [|note: &Note| note.cluster, |note: &Note| note.copies] {
        let Some(mut column) = group.next_column()? else { break };
        let numbers: Vec<i64> = notes.iter().map(|note| number(note).cast_signed()).collect();
        column.typed::<Int64Type>().write_batch(&numbers, Some(&present), None)?;
        column.close()?;
    }
    Ok(())
}

/// The rows of a column that are copied.
struct Selection<'k> {
    kept: &'k [bool],
    batch: usize,
    /// The definition level of a value that is there.
    present: i16,
    /// A row may hold many values.
    nested: bool,
}

impl Selection<'_> {
    fn copy_column(&self, source: ColumnReader, target: &mut ColumnWriter<'_>) -> Result<(), ParquetError> {
        use ColumnReader as From;
        use ColumnWriter as To;
        match (source, target) {
            (From::BoolColumnReader(source), To::BoolColumnWriter(target)) => self.copy(source, target),
            (From::Int32ColumnReader(source), To::Int32ColumnWriter(target)) => self.copy(source, target),
            (From::Int64ColumnReader(source), To::Int64ColumnWriter(target)) => self.copy(source, target),
            (From::Int96ColumnReader(source), To::Int96ColumnWriter(target)) => self.copy(source, target),
            (From::FloatColumnReader(source), To::FloatColumnWriter(target)) => self.copy(source, target),
            (From::DoubleColumnReader(source), To::DoubleColumnWriter(target)) => self.copy(source, target),
            (From::ByteArrayColumnReader(source), To::ByteArrayColumnWriter(target)) => {
                self.copy(source, target)
            }
            (From::FixedLenByteArrayColumnReader(source), To::FixedLenByteArrayColumnWriter(target)) => {
                self.copy(source, target)
            }
            _ => Err(ParquetError::General("a column changes its type between row groups".to_owned())),
        }
    }

    fn copy<T: DataType>(
        &self,
        mut source: ColumnReaderImpl<T>,
        target: &mut ColumnWriterImpl<'_, T>,
    ) -> Result<(), ParquetError> {
        let mut batch = Batch::<T>::default();
        let mut rest = self.kept;
        while !rest.is_empty() {
            let wanted = rest.len().min(self.batch);
            let rows = batch.read(&mut source, wanted)?;
            if rows == 0 {
                return Err(ParquetError::General(format!("a column ends {} rows early", rest.len())));
            }
            let (kept, following) = rest.split_at(rows);
            batch.retain(kept, self.present, self.nested)?;
            batch.write(target, self.present > 0, self.nested)?;
            rest = following;
        }
        Ok(())
    }
}

/// Some rows of one column: a level for every position where a value may be, and the values that are there.
struct Batch<T: DataType> {
    values: Vec<T::T>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

impl<T: DataType> Default for Batch<T> {
    fn default() -> Self {
        Batch { values: Vec::new(), definitions: Vec::new(), repetitions: Vec::new() }
    }
}

impl<T: DataType> Batch<T> {
    fn read(&mut self, source: &mut ColumnReaderImpl<T>, rows: usize) -> Result<usize, ParquetError> {
        self.values.clear();
        self.definitions.clear();
        self.repetitions.clear();
        let (definitions, repetitions) = (&mut self.definitions, &mut self.repetitions);
        read_rows(source, rows, definitions, Some(repetitions), &mut self.values)
    }

    /// Moves the kept rows to the front and drops the others.
    fn retain(&mut self, kept: &[bool], present: i16, nested: bool) -> Result<(), ParquetError> {
        let places = if present > 0 { self.definitions.len() } else { self.values.len() };
        let (mut rows, mut place_end, mut value, mut value_end) = (0, 0, 0, 0);
        for place in 0..places {
            rows += usize::from(!nested || self.repetitions.get(place) == Some(&0));
            let keep = rows.checked_sub(1).and_then(|row| kept.get(row));
            let keep = *keep.ok_or_else(|| ParquetError::General("a column has rows too many".to_owned()))?;
            let has_value = present == 0 || self.definitions[place] == present;
            if keep {
                move_to_front(&mut self.definitions, place, place_end);
                move_to_front(&mut self.repetitions, place, place_end);
                place_end += 1;
            }
            if keep && has_value {
                move_to_front(&mut self.values, value, value_end);
                value_end += 1;
            }
            value += usize::from(has_value);
        }
        self.definitions.truncate(place_end);
        self.repetitions.truncate(place_end);
        self.values.truncate(value_end);
        Ok(())
    }

    fn write(
        &self,
        target: &mut ColumnWriterImpl<'_, T>,
        optional: bool,
        nested: bool,
    ) -> Result<(), ParquetError> {
        let definitions = optional.then_some(&self.definitions[..]);
        let repetitions = nested.then_some(&self.repetitions[..]);
        target.write_batch(&self.values, definitions, repetitions).map(drop)
    }
}

fn move_to_front<V>(values: &mut [V], from: usize, to: usize) {
    if from < values.len() {
        values.swap(from, to);
    }
}

/// Returns the error about a file that cannot be written: the system's own error where that is the cause.
pub(super) fn failure(pending: &Pending, error: ParquetError) -> CorpusError {
    let error = match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    };
    pending.failure(error)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use lookalike_model::Unit;
    use parquet::data_type::{Int32Type, Int96, Int96Type};
    use parquet::file::metadata::KeyValue;
    use parquet::record::Row;
    use proptest::prelude::*;

    use super::*;
    use crate::ReadOptions;
    use crate::formats::parquet::ParquetShard;
    use crate::formats::testing::{OwnedItem, damaged, read_all};
    use crate::record::RecordCounter;

    type Entry = (String, Option<String>, String);

    fn write(path: &Path, documents: &[Entry]) {
        let mut writer = ParquetWriter::create(path).unwrap();
        for (id, url, text) in documents {
            writer.document(id, url.as_deref(), text).unwrap();
        }
        writer.finish().unwrap();
    }

    fn read(path: &Path) -> Vec<Entry> {
        let counter = RecordCounter::new("shard".to_owned(), Arc::new(ReadOptions::default()), Unit::Row, 0);
        let mut shard = ParquetShard::open(File::open(path).unwrap(), counter, Arc::default()).unwrap();
        let entry = |item: &OwnedItem| {
            let page = item.page();
            (page.id.clone(), page.url.clone(), String::from_utf8(page.content.clone()).unwrap())
        };
        read_all(&mut shard).iter().map(entry).collect()
    }

    fn entries(count: usize) -> Vec<Entry> {
        let url = |n: usize| (!n.is_multiple_of(3)).then(|| format!("http://{n}/"));
        (0..count).map(|n| (format!("d{n}"), url(n), format!("text {n} ").repeat(n % 5))).collect()
    }

    #[test]
    fn a_schema_is_encoded_as_other_writers_do() {
        let text = ArrowType::Dictionary(Box::new(ArrowType::Int32), Box::new(ArrowType::LargeUtf8));
        let list = ArrowType::FixedSizeList(Arc::new(Field::new("item", ArrowType::Float32, false)), 3);
        let fields = vec![Field::new("text", text, false), Field::new("vector", list, true)];
        for schema in [Schema::empty(), Schema::new(fields)] {
            assert_eq!(encode_schema(&schema), parquet::arrow::encode_arrow_schema(&schema));
        }
    }

    #[test]
    fn the_same_documents_give_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        write(&a, &entries(1000));
        write(&b, &entries(1000));
        assert!(std::fs::read(&a).unwrap() == std::fs::read(&b).unwrap());
        assert_eq!(read(&a), entries(1000));
    }

    #[test]
    fn a_file_without_documents_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("a"), &[]);
        assert!(read(&folder.path().join("a")).is_empty());
    }

    #[test]
    fn a_writer_that_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = ParquetWriter::create(folder.path().join("a")).unwrap();
        writer.document("a", None, "text").unwrap();
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn long_corpora_are_cut_into_row_groups() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut writer = ParquetWriter::create(&path).unwrap();
        let text = "lorem ipsum ".repeat(1 << 17);
        for n in 0..100 {
            writer.document(&n.to_string(), None, &text).unwrap();
            assert!(writer.rows.bytes() < GROUP_BYTES);
        }
        writer.finish().unwrap();
        let file = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(file.num_row_groups(), 3);
        assert_eq!(read(&path).len(), 100);
    }

    #[test]
    fn other_fields_that_fit_no_column_go_to_the_last_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut writer = ParquetWriter::create(&path).unwrap();
        writer.document_with("a", None, "x", Some("{\"n\":1,\"ok\":true}")).unwrap();
        writer.write_group().unwrap();
        writer.document_with("b", None, "y", Some("{\"n\":\"no number\",\"new\":[1],\"ok\":null}")).unwrap();
        writer.document("c", None, "z").unwrap();
        writer.finish().unwrap();
        let cells =
            |row: &Row| -> Vec<String> { row.get_column_iter().map(|(_, cell)| cell.to_string()).collect() };
        let all: Vec<Vec<String>> = rows(&path).iter().map(cells).collect();
        assert_eq!(all[0], ["\"a\"", "null", "\"x\"", "1", "true", "null"]);
        let rest = "\"{\"n\":\"no number\",\"new\":[1]}\"";
        assert_eq!(all[1], ["\"b\"", "null", "\"y\"", "null", "null", rest]);
        assert_eq!(all[2], ["\"c\"", "null", "\"z\"", "null", "null", "null"]);
    }

    #[test]
    fn other_fields_that_come_too_late_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = ParquetWriter::create(folder.path().join("a")).unwrap();
        writer.document("a", None, "x").unwrap();
        writer.write_group().unwrap();
        writer.document_with("b", None, "y", Some("{\"n\":1}")).unwrap();
        let said = writer.finish().unwrap_err().to_string();
        assert!(said.contains("the first 64 MB of them had none"), "{said}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = ParquetWriter::create("/nowhere/at/all").err().unwrap().to_string();
        assert!(error.starts_with("cannot write /nowhere/at/all"), "{error}");
    }

    const RICH: &str = "message rich {
        REQUIRED INT32 number;
        OPTIONAL INT96 moment;
        OPTIONAL GROUP words (LIST) { REPEATED GROUP list { OPTIONAL BYTE_ARRAY element (STRING); } }
    }";

    /// A file with a list column, several row groups and metadata of its own.
    fn write_rich(path: &Path) {
        let properties = WriterProperties::builder()
            .set_key_value_metadata(Some(vec![KeyValue::new("owner".to_owned(), "somebody".to_owned())]))
            .set_compression(Compression::SNAPPY)
            .build();
        let schema = Arc::new(parse_message_type(RICH).unwrap());
        let mut writer =
            SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties)).unwrap();
        for group in 0..3 {
            let mut target = writer.next_row_group().unwrap();
            let mut column = target.next_column().unwrap().unwrap();
            column
                .typed::<Int32Type>()
                .write_batch(&[group * 4, group * 4 + 1, group * 4 + 2, group * 4 + 3], None, None)
                .unwrap();
            column.close().unwrap();
            let mut column = target.next_column().unwrap().unwrap();
            let moment = Int96::from(vec![1, 2, 2_440_589]);
            column.typed::<Int96Type>().write_batch(&[moment; 2], Some(&[1, 0, 1, 0]), None).unwrap();
            column.close().unwrap();
            let mut column = target.next_column().unwrap().unwrap();
            let words = ["a", "b", "c", "d"].map(ByteArray::from);
            let (definitions, repetitions) = ([3, 3, 1, 0, 3, 2, 3], [0, 1, 0, 0, 0, 1, 1]);
            column
                .typed::<ByteArrayType>()
                .write_batch(&words, Some(&definitions), Some(&repetitions))
                .unwrap();
            column.close().unwrap();
            target.close().unwrap();
        }
        writer.close().unwrap();
    }

    fn rows(path: &Path) -> Vec<Row> {
        let file = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        file.get_row_iter(None).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn a_filtered_copy_has_the_kept_rows_of_every_column() {
        let folder = tempfile::tempdir().unwrap();
        let (source, target) = (folder.path().join("a"), folder.path().join("b"));
        write_rich(&source);
        for mask in (0u64..1 << 12).step_by(37) {
            filter_rows(&source, &target, |row| mask >> row & 1 == 1).unwrap();
            let all = rows(&source).into_iter().enumerate();
            let kept: Vec<Row> = all.filter(|(row, _)| mask >> row & 1 == 1).map(|(_, row)| row).collect();
            assert_eq!(rows(&target), kept, "mask {mask:b}");
        }
    }

    #[test]
    fn a_filtered_copy_keeps_schema_metadata_and_compression() {
        let folder = tempfile::tempdir().unwrap();
        let (source, target) = (folder.path().join("a"), folder.path().join("b"));
        write_rich(&source);
        filter_rows(&source, &target, |row| row != 5).unwrap();
        let source = SerializedFileReader::new(File::open(&source).unwrap()).unwrap();
        let target = SerializedFileReader::new(File::open(&target).unwrap()).unwrap();
        let (before, after) = (source.metadata(), target.metadata());
        assert_eq!(before.file_metadata().schema(), after.file_metadata().schema());
        assert_eq!(before.file_metadata().key_value_metadata(), after.file_metadata().key_value_metadata());
        let sizes: Vec<_> = after.row_groups().iter().map(rows_of).collect();
        assert_eq!(sizes, [4, 3, 4]);
        for (old, new) in before.row_group(0).columns().iter().zip(after.row_group(1).columns()) {
            assert_eq!(old.compression(), new.compression());
        }
    }

    #[test]
    fn a_copy_of_damaged_rows_fails_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (source, target) = (folder.path().join("a"), folder.path().join("b"));
        write_rich(&source);
        let mut bytes = std::fs::read(&source).unwrap();
        bytes[4..40].fill(0xff);
        std::fs::write(&source, bytes).unwrap();
        assert!(filter_rows(&source, &target, |_| true).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        filter_rows(&source, &target, |row| row >= 4).unwrap();
        assert_eq!(rows(&target).len(), 8);
    }

    fn rich_bytes() -> Vec<u8> {
        let file = tempfile::NamedTempFile::new().unwrap();
        write_rich(file.path());
        std::fs::read(file.path()).unwrap()
    }

    proptest! {
        #[test]
        fn damaged_files_never_panic(bytes in damaged(rich_bytes())) {
            let folder = tempfile::tempdir().unwrap();
            let (source, target) = (folder.path().join("a"), folder.path().join("b"));
            File::create(&source).unwrap().write_all(&bytes).unwrap();
            _ = filter_rows(&source, &target, |row| row % 2 == 0);
        }

        #[test]
        fn written_documents_are_read_back(
            documents in prop::collection::vec((".{1,9}", prop::option::of(".{0,9}"), "\\PC{0,50}"), 0..40),
        ) {
            let file = tempfile::NamedTempFile::new().unwrap();
            write(file.path(), &documents);
            prop_assert_eq!(read(file.path()), documents);
        }
    }
}

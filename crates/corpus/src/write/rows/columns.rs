//! Rows as Parquet.

mod long_list;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::EnabledStatistics;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use self::long_list::LongList;
use super::{Cell, Column, Kind, ListValue};
use crate::CorpusError;
use crate::write::parquet::{Texts, failure, properties};
use crate::write::pending::Pending;

/// Bytes of memory that rows take when their row group is written.
const GROUP_BYTES: usize = 8 << 20;

/// Bytes that a text takes beside its own until it is written: its end, and a handle for the encoder.
const TEXT_BYTES: usize = 48;

/// The key of the recipe in the metadata.
const RECIPE: &str = "lookalike.recipe";

/// A table on its way into a file.
pub(super) struct ParquetTable {
    pending: Pending,
    writer: SerializedFileWriter<File>,
    columns: Vec<Values>,
    /// Memory that the rows not yet written take, about.
    bytes: usize,
}

impl ParquetTable {
    pub(super) fn create(target: &Path, columns: &[Column], recipe: &str) -> Result<Self, CorpusError> {
        let (file, pending) = Pending::begin(target)?;
        let failed = |error| failure(&pending, error);
        let schema = parse_message_type(&schema(columns)).map_err(failed)?;
        let nested = columns.iter().any(|column| matches!(column.kind, Kind::ListOfText | Kind::ListOfU64));
        let properties = properties()
            // With an offset index no page may begin within a row, and long lists have such pages.
            .set_offset_index_disabled(nested)
            .set_write_batch_size(1024)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_key_value_metadata(Some(vec![KeyValue::new(RECIPE.to_owned(), recipe.to_owned())]))
            .build();
        let writer =
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
        let columns = columns.iter().map(|column| Values::of(column.kind)).collect();
        Ok(ParquetTable { pending, writer, columns, bytes: 0 })
    }

    /// Adds a row whose cells fit.
    pub(super) fn push(&mut self, row: &[Cell<'_>]) -> Result<(), CorpusError> {
        for (column, cell) in self.columns.iter_mut().zip(row) {
            self.bytes += column.push(cell.rounded());
        }
        if self.bytes < GROUP_BYTES { Ok(()) } else { self.write_group() }
    }

    /// Adds a row whose lists are asked for value by value, twice if they are too long to be in memory.
    pub(super) fn push_lists<E: From<CorpusError>>(
        &mut self,
        row: &[Cell<'_>],
        count: impl Fn(usize) -> usize,
        mut value: impl FnMut(usize, usize) -> Result<ListValue, E>,
    ) -> Result<(), E> {
        let (bytes, ends) = (self.bytes, self.columns.iter().map(Values::end).collect::<Vec<_>>());
        if !self.gather_lists(row, &count, &mut value)? {
            self.bytes = bytes;
            self.columns.iter_mut().zip(ends).for_each(|(column, end)| column.truncate(end));
            self.write_group()?;
            return self.write_long_row(row, count, value);
        }
        Ok(if self.bytes < GROUP_BYTES { Ok(()) } else { self.write_group() }?)
    }

    /// Adds a row in memory; false, with a part of it added, when it alone takes more than a row group may.
    fn gather_lists<E>(
        &mut self,
        row: &[Cell<'_>],
        count: &impl Fn(usize) -> usize,
        value: &mut impl FnMut(usize, usize) -> Result<ListValue, E>,
    ) -> Result<bool, E> {
        let most = self.bytes + GROUP_BYTES;
        for (number, (column, cell)) in self.columns.iter_mut().zip(row).enumerate() {
            if !cell.is_list() {
                self.bytes += column.push(cell.rounded());
                continue;
            }
            let count = count(number);
            for index in 0..count {
                self.bytes += column.push_value(&value(number, index)?);
                if self.bytes > most {
                    return Ok(false);
                }
            }
            // Only now that the values are known to be few enough.
            self.bytes += column.levels.push(count);
        }
        Ok(true)
    }

    /// Writes a row as a row group of its own, of which a page is in memory at a time.
    fn write_long_row<E: From<CorpusError>>(
        &mut self,
        row: &[Cell<'_>],
        count: impl Fn(usize) -> usize,
        mut value: impl FnMut(usize, usize) -> Result<ListValue, E>,
    ) -> Result<(), E> {
        let ParquetTable { pending, writer, columns, .. } = self;
        let failed = |error| failure(pending, error);
        let descriptions = writer.schema_descr().columns().to_vec();
        let mut group = writer.next_row_group().map_err(failed)?;
        for (number, (column, cell)) in columns.iter_mut().zip(row).enumerate() {
            if !cell.is_list() {
                column.push(cell.rounded());
                column.write(&mut group).map_err(failed)?;
                continue;
            }
            let (scratch, _temporary) = pending.scratch()?;
            let mut list = LongList::begin(&scratch);
            for index in 0..count(number) {
                list.push(&value(number, index)?).map_err(failed)?;
            }
            list.finish(descriptions[number].clone(), &mut group).map_err(failed)?;
        }
        group.close().map_err(failed)?;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), CorpusError> {
        self.write_group()?;
        self.writer.into_inner().map(drop).map_err(|error| failure(&self.pending, error))?;
        self.pending.finish()
    }

    fn write_group(&mut self) -> Result<(), CorpusError> {
        if std::mem::take(&mut self.bytes) == 0 {
            return Ok(());
        }
        let written = write_group(&mut self.writer, &mut self.columns);
        written.map_err(|error| failure(&self.pending, error))
    }
}

fn write_group(writer: &mut SerializedFileWriter<File>, columns: &mut [Values]) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for column in columns {
        column.write(&mut group)?;
    }
    group.close().map(drop)
}

fn schema(columns: &[Column]) -> String {
    let field = |column: &Column| {
        let name = column.name;
        let list = |element: &str| {
            format!("REQUIRED GROUP {name} (LIST) {{ REPEATED GROUP list {{ REQUIRED {element}; }} }}")
        };
        match column.kind {
            Kind::U64 => format!("REQUIRED INT64 {name} (INTEGER(64,false));"),
            Kind::OptionalU64 => format!("OPTIONAL INT64 {name} (INTEGER(64,false));"),
            Kind::OptionalF64 => format!("OPTIONAL DOUBLE {name};"),
            Kind::Text => format!("REQUIRED BYTE_ARRAY {name} (STRING);"),
            Kind::OptionalText => format!("OPTIONAL BYTE_ARRAY {name} (STRING);"),
            Kind::ListOfText => list("BYTE_ARRAY element (STRING)"),
            Kind::ListOfU64 => list("INT64 element (INTEGER(64,false))"),
            Kind::Bool => format!("REQUIRED BOOLEAN {name};"),
        }
    };
    format!("message rows {{ {} }}", columns.iter().map(field).collect::<Vec<_>>().join(" "))
}

/// The values of one column that are not yet written.
struct Values {
    values: ColumnData,
    levels: Levels,
}

enum ColumnData {
    Numbers(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Texts),
    Bools(Vec<bool>),
}

/// For each position where a value may be, whether it is there, and whether it goes on with the row before.
#[derive(Default)]
struct Levels {
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    optional: bool,
    nested: bool,
}

impl Levels {
    /// Notes a row with `count` values; returns the bytes of memory that it takes.
    fn push(&mut self, count: usize) -> usize {
        if !self.optional {
            return 0;
        }
        let places = count.max(1);
        self.definitions.extend((0..places).map(|_| i16::from(count > 0)));
        if self.nested {
            self.repetitions.extend((0..places).map(|place| i16::from(place > 0)));
        }
        places * 2 * size_of::<i16>()
    }
}

impl Values {
    fn of(kind: Kind) -> Self {
        let values = match kind {
            Kind::U64 | Kind::OptionalU64 | Kind::ListOfU64 => ColumnData::Numbers(Vec::new()),
            Kind::OptionalF64 => ColumnData::Floats(Vec::new()),
            Kind::Text | Kind::OptionalText | Kind::ListOfText => ColumnData::Texts(Texts::default()),
            Kind::Bool => ColumnData::Bools(Vec::new()),
        };
        let nested = matches!(kind, Kind::ListOfText | Kind::ListOfU64);
        let optional = nested || kind.is_optional();
        Values { values, levels: Levels { optional, nested, ..Levels::default() } }
    }

    /// Adds the cell of one row; returns the bytes of memory that it takes, about.
    fn push(&mut self, cell: Cell<'_>) -> usize {
        match (&mut self.values, cell) {
            (ColumnData::Numbers(numbers), Cell::U64(number)) => {
                self.levels.push(1) + push_numbers(numbers, &[number])
            }
            (ColumnData::Numbers(numbers), Cell::OptionalU64(number)) => {
                self.levels.push(usize::from(number.is_some())) + push_numbers(numbers, number.as_slice())
            }
            (ColumnData::Numbers(numbers), Cell::ListOfU64(list)) => {
                self.levels.push(list.len()) + push_numbers(numbers, list)
            }
            (ColumnData::Floats(floats), Cell::OptionalF64(float)) => {
                floats.extend(float);
                self.levels.push(usize::from(float.is_some())) + size_of::<f64>()
            }
            (ColumnData::Texts(texts), Cell::Text(text)) => self.levels.push(1) + push_texts(texts, &[text]),
            (ColumnData::Texts(texts), Cell::OptionalText(text)) => {
                self.levels.push(usize::from(text.is_some())) + push_texts(texts, text.as_slice())
            }
            (ColumnData::Texts(texts), Cell::ListOfText(list)) => {
                self.levels.push(list.len()) + push_texts(texts, list)
            }
            (ColumnData::Bools(bools), Cell::Bool(truth)) => {
                bools.push(truth);
                1
            }
            // The row has been checked.
            _ => 0,
        }
    }

    /// Adds one value of a list; returns the bytes of memory that it takes, about.
    fn push_value(&mut self, value: &ListValue) -> usize {
        match (&mut self.values, value) {
            (ColumnData::Numbers(numbers), ListValue::U64(number)) => push_numbers(numbers, &[*number]),
            (ColumnData::Texts(texts), ListValue::Text(text)) => push_texts(texts, &[text]),
            // The row has been checked.
            _ => 0,
        }
    }

    /// The numbers of values and of levels.
    fn end(&self) -> (usize, usize) {
        let values = match &self.values {
            ColumnData::Numbers(numbers) => numbers.len(),
            ColumnData::Floats(floats) => floats.len(),
            ColumnData::Texts(texts) => texts.len(),
            ColumnData::Bools(bools) => bools.len(),
        };
        (values, self.levels.definitions.len())
    }

    /// Forgets what came behind an earlier end.
    fn truncate(&mut self, (values, levels): (usize, usize)) {
        match &mut self.values {
            ColumnData::Numbers(numbers) => numbers.truncate(values),
            ColumnData::Floats(floats) => floats.truncate(values),
            ColumnData::Texts(texts) => texts.truncate(values),
            ColumnData::Bools(bools) => bools.truncate(values),
        }
        self.levels.definitions.truncate(levels);
        self.levels.repetitions.truncate(levels);
    }

    /// Writes the column and forgets its values.
    fn write(&mut self, group: &mut SerializedRowGroupWriter<'_, File>) -> Result<(), ParquetError> {
        let levels = &mut self.levels;
        match &mut self.values {
            ColumnData::Numbers(numbers) => {
                write_column::<Int64Type>(group, numbers, levels)?;
                numbers.clear();
            }
            ColumnData::Floats(floats) => {
                write_column::<DoubleType>(group, floats, levels)?;
                floats.clear();
            }
            ColumnData::Texts(texts) => {
                write_column::<ByteArrayType>(group, &std::mem::take(texts).into_values(), levels)?;
            }
            ColumnData::Bools(bools) => {
                write_column::<BoolType>(group, bools, levels)?;
                bools.clear();
            }
        }
        levels.definitions.clear();
        levels.repetitions.clear();
        Ok(())
    }
}

fn push_numbers(out: &mut Vec<i64>, numbers: &[u64]) -> usize {
    out.extend(numbers.iter().map(|number| number.cast_signed()));
    size_of_val(numbers)
}

fn push_texts(out: &mut Texts, texts: &[&str]) -> usize {
    let push = |text: &&str| {
        out.push(text);
        text.len() + TEXT_BYTES
    };
    texts.iter().map(push).sum()
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    levels: &Levels,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the schema has too few columns".to_owned()));
    };
    let definitions = levels.optional.then_some(&levels.definitions[..]);
    let repetitions = levels.nested.then_some(&levels.repetitions[..]);
    column.typed::<T>().write_batch(values, definitions, repetitions)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::super::tests::{ROWS, written};
    use super::super::{RowFormat, RowWriter};
    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn rows_can_be_read_back() {
        let reader = SerializedFileReader::new(file(&written("a", RowFormat::Parquet, &ROWS))).unwrap();
        let rows: Vec<String> =
            reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(
            rows,
            [
                "{id: \"a\"\n\", n: 18446744073709551615, similarity: 0.123456789, url: \"u\", \
                 members: [\"a\", \"ü\"], members_n: [0, 18446744073709551615], exact: true}",
                "{id: \"\", n: 0, similarity: null, url: null, members: [], members_n: [], exact: false}",
                "{id: \"c\", n: 7, similarity: 1.0, url: \"\", members: [\"\"], members_n: [5], exact: true}",
            ]
        );
    }

    #[test]
    fn others_see_the_types_that_were_meant() {
        let bytes = written("a", RowFormat::Parquet, &ROWS);
        let reader = ParquetRecordBatchReaderBuilder::try_new(file(&bytes)).unwrap();
        let fields = reader.schema().fields().iter();
        let types: Vec<String> =
            fields.map(|field| format!("{} {}", field.name(), field.data_type())).collect();
        assert_eq!(types[..4], ["id Utf8", "n UInt64", "similarity Float64", "url Utf8"]);
        assert!(types[4].contains("List") && types[4].contains("Utf8"), "{}", types[4]);
        assert!(types[5].contains("List") && types[5].contains("UInt64"), "{}", types[5]);
        assert_eq!(types[6], "exact Boolean");
        assert_eq!(reader.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 3);
    }

    #[test]
    fn the_file_carries_its_recipe_and_is_the_same_each_time() {
        let bytes = written("a", RowFormat::Parquet, &ROWS);
        assert_eq!(bytes, written("b", RowFormat::Parquet, &ROWS));
        let reader = SerializedFileReader::new(file(&bytes)).unwrap();
        let metadata = reader.metadata().file_metadata();
        let entry = &metadata.key_value_metadata().unwrap()[0];
        assert_eq!((entry.key.as_str(), entry.value.as_deref()), ("lookalike.recipe", Some("the recipe")));
        assert!(metadata.created_by().unwrap().starts_with("lookalike version "));
    }

    #[test]
    fn a_table_without_rows_can_be_read() {
        let reader = SerializedFileReader::new(file(&written("a", RowFormat::Parquet, &[]))).unwrap();
        assert_eq!((reader.num_row_groups(), reader.get_row_iter(None).unwrap().count()), (0, 0));
    }

    #[test]
    fn row_groups_are_bounded() {
        const COLUMNS: &[Column] = &[Column::new("id", Kind::Text), Column::new("members", Kind::ListOfU64)];
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        let mut writer = RowWriter::create(&target, RowFormat::Parquet, COLUMNS, "").unwrap();
        for n in 0..300_000u64 {
            writer.push(&[Cell::Text("0123456789"), Cell::ListOfU64(&[n, n + 1])]).unwrap();
        }
        writer.finish().unwrap();
        let reader = SerializedFileReader::new(File::open(&target).unwrap()).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 300_000);
        assert_eq!(reader.num_row_groups(), 300_000 * (10 + 48 + 16 + 8) / GROUP_BYTES + 1);
    }

    #[test]
    fn whole_numbers_that_may_be_none_are_null_in_parquet_and_left_out_of_lines() {
        const COLUMNS: &[Column] = &[Column::new("more", Kind::OptionalU64).omit_if_none()];
        let folder = tempfile::tempdir().unwrap();
        let numbers = [Some(u64::MAX), None, Some(0)];
        let written = |format: RowFormat| {
            let target = folder.path().join(format.suffix());
            let mut writer = RowWriter::create(&target, format, COLUMNS, "").unwrap();
            numbers.iter().for_each(|&number| writer.push(&[Cell::OptionalU64(number)]).unwrap());
            writer.finish().unwrap();
            target
        };
        let lines = std::fs::read_to_string(written(RowFormat::Jsonl)).unwrap();
        assert_eq!(lines, "{\"more\":18446744073709551615}\n{}\n{\"more\":0}\n");
        let parquet = File::open(written(RowFormat::Parquet)).unwrap();
        let mut batches = ParquetRecordBatchReaderBuilder::try_new(parquet).unwrap().build().unwrap();
        let batch = batches.next().unwrap().unwrap();
        let read: Vec<Option<u64>> = batch.column(0).as_primitive::<UInt64Type>().iter().collect();
        assert_eq!(read, numbers);
    }

    /// A table whose second row is written in parts, between rows that are not; no list, an empty one and a long one.
    fn with_long_row(target: &Path, texts: usize, numbers: usize) {
        const COLUMNS: &[Column] = &[
            Column::new("n", Kind::U64),
            Column::new("members", Kind::ListOfText),
            Column::new("none", Kind::ListOfText),
            Column::new("members_n", Kind::ListOfU64),
            Column::new("url", Kind::OptionalText).omit_if_none(),
        ];
        let mut writer = RowWriter::create(target, RowFormat::Parquet, COLUMNS, "").unwrap();
        for (n, [texts, numbers]) in [[2, 1], [texts, numbers], [0, 3]].into_iter().enumerate() {
            let empty = [Cell::ListOfText(&[]), Cell::ListOfText(&[]), Cell::ListOfU64(&[])];
            let row = [&[Cell::U64(n as u64)], &empty[..], &[Cell::OptionalText(Some("u"))]].concat();
            let counts = [0, texts, 0, numbers];
            let value = |column: usize, index: usize| -> Result<ListValue, CorpusError> {
                Ok(match column {
                    1 => ListValue::Text(text_of(index)),
                    _ => ListValue::U64(index as u64 * 3),
                })
            };
            writer.push_lists(&row, |column| counts[column], value).unwrap();
        }
        writer.finish().unwrap();
    }

    fn text_of(index: usize) -> String {
        format!("page {index} {}", "ü".repeat(index % 7))
    }

    #[test]
    fn a_list_that_is_longer_than_a_row_group_is_written_in_parts_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        for (texts, numbers) in [(150_000, 2_000_000), (0, 2_000_000), (150_000, 0)] {
            with_long_row(&target, texts, numbers);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no scratch file is left");
            let reader = SerializedFileReader::new(File::open(&target).unwrap()).unwrap();
            assert_eq!(reader.num_row_groups(), 3);
            let batches = ParquetRecordBatchReaderBuilder::try_new(File::open(&target).unwrap())
                .unwrap()
                .build()
                .unwrap();
            let rows: Vec<_> = batches.map(|batch| batch.unwrap()).collect();
            let list = |column: usize, row: usize| {
                let mut before = row;
                let batch = rows.iter().find(|batch| {
                    let here = before < batch.num_rows();
                    before -= if here { 0 } else { batch.num_rows() };
                    here
                });
                batch.unwrap().column(column).as_list::<i32>().value(before)
            };
            for (row, [texts, numbers]) in [[2, 1], [texts, numbers], [0, 3]].into_iter().enumerate() {
                let members = list(1, row);
                let members = members.as_string::<i32>();
                assert_eq!(members.len(), texts);
                assert!((0..texts).all(|index| members.value(index) == text_of(index)));
                assert_eq!(list(2, row).len(), 0);
                let expected: Vec<u64> = (0..numbers as u64).map(|index| index * 3).collect();
                assert!(list(3, row).as_primitive::<UInt64Type>().values()[..] == expected);
            }
        }
    }

    #[test]
    fn a_list_that_is_longer_than_a_row_group_has_pages_of_bounded_size() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        with_long_row(&target, 150_000, 2_000_000);
        let reader = SerializedFileReader::new(File::open(&target).unwrap()).unwrap();
        let group = reader.get_row_group(1).unwrap();
        assert_eq!(group.metadata().num_rows(), 1);
        for (column, bytes) in [(1, 3_000_000), (3, 16_000_000)] {
            let pages: Vec<usize> = group
                .get_column_page_reader(column)
                .unwrap()
                .map(|page| page.unwrap().buffer().len())
                .collect();
            assert!(pages.iter().all(|&page| page < 2 << 20), "{pages:?}");
            assert!(pages.iter().sum::<usize>() >= bytes, "{pages:?}");
        }
    }

    #[test]
    fn a_row_that_is_written_in_parts_can_fail_in_the_middle() {
        const COLUMNS: &[Column] = &[Column::new("members_n", Kind::ListOfU64)];
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        let mut writer = RowWriter::create(&target, RowFormat::Parquet, COLUMNS, "").unwrap();
        let mut asked = 0;
        let value = |_: usize, _: usize| -> Result<ListValue, CorpusError> {
            asked += 1;
            if asked < 3_000_000 {
                return Ok(ListValue::U64(asked));
            }
            Err(CorpusError::Write { name: "a".to_owned(), source: std::io::Error::other("too much") })
        };
        assert!(writer.push_lists(&[Cell::ListOfU64(&[])], |_| 2_500_000, value).is_err());
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_table_that_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        const COLUMNS: &[Column] = &[Column::new("n", Kind::U64)];
        let mut writer = RowWriter::create(&target, RowFormat::Parquet, COLUMNS, "").unwrap();
        writer.push(&[Cell::U64(1)]).unwrap();
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

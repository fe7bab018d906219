//! Arrow in and out. What comes in is borrowed from whoever made it, for as long as it is needed; nothing is copied.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, LargeStringArray, RecordBatch, StringArray, StringViewArray, StructArray,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, TimeUnit};
use lookalike::corpus::{CorpusError, Fields, Table, TableRow};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyTuple};
use pyo3_arrow::ffi::{ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule};
use pyo3_arrow::input::AnyArray;

use crate::errors::Failure;

/// Columns that an Arrow object has, in chunks.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// Names of the columns; none of an array that stands by itself.
    pub(crate) names: Option<Vec<String>>,
    /// The columns of each chunk.
    pub(crate) chunks: Vec<Vec<ArrayRef>>,
}

impl Frame {
    /// Borrows what an object hands over by `__arrow_c_stream__` or `__arrow_c_array__`.
    pub(crate) fn borrow(object: &Bound<'_, PyAny>) -> PyResult<Frame> {
        let reader = object.extract::<AnyArray>()?.into_reader()?;
        let field: FieldRef = reader.field();
        let failed = |error: ArrowError| Failure::Type(format!("the Arrow data cannot be read: {error}"));
        let arrays: Vec<ArrayRef> = reader.collect::<Result<_, _>>().map_err(failed)?;
        let DataType::Struct(fields) = field.data_type() else {
            return Ok(Frame { names: None, chunks: arrays.into_iter().map(|array| vec![array]).collect() });
        };
        let names = fields.iter().map(|field| field.name().clone()).collect();
        let columns = |array: &ArrayRef| array.as_struct().columns().iter().map(without_dictionary).collect();
        let chunks = arrays.iter().map(columns).collect();
        Ok(Frame { names: Some(names), chunks })
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.chunks.iter().filter_map(|chunk| chunk.first()).map(|column| column.len()).sum()
    }

    /// The index of a column of a type that suits.
    fn column_index(&self, name: &str, suits: impl Fn(&DataType) -> bool) -> Option<usize> {
        let index = self.names.as_ref()?.iter().position(|known| known == name)?;
        let fits = |chunk: &Vec<ArrayRef>| suits(chunk[index].data_type());
        self.chunks.iter().all(fits).then_some(index)
    }
}

/// A column of texts by numbers in a dictionary, as of categories, written out; all others as they are.
fn without_dictionary(array: &ArrayRef) -> ArrayRef {
    let Some(dictionary) = array.as_any_dictionary_opt() else { return array.clone() };
    let Some(values) = Strings::of(dictionary.values()) else { return array.clone() };
    let mut texts = StringBuilder::new();
    for (row, key) in dictionary.normalized_keys().into_iter().enumerate() {
        texts.append_option(values.get(key).filter(|_| array.is_valid(row)));
    }
    Arc::new(texts.finish())
}

/// A column of texts, as Arrow has them.
#[derive(Debug, Clone)]
pub(crate) enum Strings {
    Short(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
    /// A column without a value.
    Nothing,
}

impl Strings {
    /// True for types that are texts.
    pub(crate) fn accepts(kind: &DataType) -> bool {
        matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null)
    }

    /// A column of texts; nothing of other types.
    pub(crate) fn of(array: &ArrayRef) -> Option<Strings> {
        Some(match array.data_type() {
            DataType::Utf8 => Strings::Short(array.as_string::<i32>().clone()),
            DataType::LargeUtf8 => Strings::Large(array.as_string::<i64>().clone()),
            DataType::Utf8View => Strings::View(array.as_string_view().clone()),
            DataType::Null => Strings::Nothing,
            _ => return None,
        })
    }

    /// A column of names: texts, or whole numbers, which are written out.
    pub(crate) fn of_names(array: &ArrayRef) -> Option<Strings> {
        if !array.data_type().is_integer() {
            return Strings::of(array);
        }
        let mut names = StringBuilder::new();
        let mut text = String::new();
        for row in 0..array.len() {
            text.clear();
            match write_value(array, row, &mut text) {
                true => names.append_value(&text),
                false => names.append_null(),
            }
        }
        Some(Strings::Short(names.finish()))
    }

    /// The text of a row.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        match self {
            Strings::Short(array) => array.is_valid(row).then(|| array.value(row)),
            Strings::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Strings::View(array) => array.is_valid(row).then(|| array.value(row)),
            Strings::Nothing => None,
        }
    }
}

/// True for types with one plain value per row.
fn is_plain(kind: &DataType) -> bool {
    let number = kind.is_integer() || matches!(kind, DataType::Float32 | DataType::Float64);
    let time = matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..));
    Strings::accepts(kind) || number || time || *kind == DataType::Boolean
}

/// Appends a plain value as text; false when there is none.
fn write_value(array: &ArrayRef, row: usize, out: &mut String) -> bool {
    use std::fmt::Write;
    if !array.is_valid(row) || *array.data_type() == DataType::Null {
        return false;
    }
    macro_rules! number {
        ($kind:ty) => {
            write!(out, "{}", array.as_primitive::<$kind>().value(row))
        };
    }
    let written = match array.data_type() {
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        // Days, or parts of a second: as files of columns have them.
        DataType::Date32 => number!(Date32Type),
        DataType::Date64 => number!(Date64Type),
        DataType::Timestamp(TimeUnit::Second, _) => number!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => number!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => number!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => number!(TimestampNanosecondType),
        DataType::Boolean => write!(out, "{}", array.as_boolean().value(row)),
        _ => match Strings::of(array) {
            Some(strings) => {
                out.push_str(strings.get(row).unwrap_or_default());
                Ok(())
            }
            None => return false,
        },
    };
    written.is_ok()
}

/// One chunk of a table.
#[derive(Debug)]
struct Chunk {
    first: usize,
    rows: usize,
    id: Option<Strings>,
    text: Option<Strings>,
    html: Option<Strings>,
    url: Option<Strings>,
    /// Columns with plain values, as [`Columns::plain`] names them.
    plain: Vec<ArrayRef>,
}

/// Columns as a table of documents.
#[derive(Debug)]
pub(crate) struct Columns {
    chunks: Vec<Chunk>,
    rows: usize,
    plain: Vec<String>,
}

impl Columns {
    /// Finds the columns that make documents. An array by itself holds texts.
    pub(crate) fn new(frame: &Frame, fields: &Fields, name: &str) -> Result<Self, Failure> {
        let Some(names) = &frame.names else {
            let strings = |chunk: &Vec<ArrayRef>| {
                let kind = chunk[0].data_type();
                let wrong =
                    || Failure::Type(format!("texts are a column of strings, and not of type {kind}"));
                Strings::of(&chunk[0]).ok_or_else(wrong)
            };
            let texts: Vec<Strings> = frame.chunks.iter().map(strings).collect::<Result<_, _>>()?;
            let mut texts = texts.into_iter();
            return Ok(Columns::of(frame, Vec::new(), |_| Chunk { text: texts.next(), ..Chunk::empty() }));
        };
        let [text, html, url] =
            [&fields.text, &fields.html, &fields.url].map(|name| frame.column_index(name, Strings::accepts));
        let id = frame.column_index(&fields.id, |kind| Strings::accepts(kind) || kind.is_integer());
        if text.is_none() && html.is_none() {
            let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            let wanted = format!("{:?} or {:?} that holds text", fields.text, fields.html);
            let found = quoted.join(", ");
            return Err(CorpusError::NoColumn { name: name.to_owned(), wanted, found }.into());
        }
        let plain: Vec<usize> = (0..names.len())
            .filter(|&index| frame.column_index(&names[index], is_plain) == Some(index))
            .collect();
        let chunk = |columns: &Vec<ArrayRef>| {
            let strings = |index: Option<usize>| index.and_then(|index| Strings::of(&columns[index]));
            Chunk {
                id: id.and_then(|index| Strings::of_names(&columns[index])),
                text: strings(text),
                html: strings(html),
                url: strings(url),
                plain: plain.iter().map(|&index| columns[index].clone()).collect(),
                ..Chunk::empty()
            }
        };
        Ok(Columns::of(frame, plain.iter().map(|&index| names[index].clone()).collect(), chunk))
    }

    fn of(frame: &Frame, plain: Vec<String>, mut chunk: impl FnMut(&Vec<ArrayRef>) -> Chunk) -> Self {
        let (mut chunks, mut rows) = (Vec::new(), 0);
        for columns in &frame.chunks {
            let length = columns.first().map_or(0, |column| column.len());
            chunks.push(Chunk { first: rows, rows: length, ..chunk(columns) });
            rows += length;
        }
        chunks.retain(|chunk| chunk.rows > 0);
        Columns { chunks, rows, plain }
    }

    fn find(&self, row: usize) -> (&Chunk, usize) {
        let index = self.chunks.partition_point(|chunk| chunk.first <= row) - 1;
        (&self.chunks[index], row - self.chunks[index].first)
    }
}

impl Chunk {
    fn empty() -> Self {
        Chunk { first: 0, rows: 0, id: None, text: None, html: None, url: None, plain: Vec::new() }
    }
}

impl Table for Columns {
    fn rows(&self) -> usize {
        self.rows
    }

    fn row(&self, row: usize) -> TableRow<'_> {
        fn cell(column: &Option<Strings>, row: usize) -> Option<&str> {
            column.as_ref().and_then(|column| column.get(row))
        }
        let (chunk, row) = self.find(row);
        TableRow {
            id: cell(&chunk.id, row),
            text: cell(&chunk.text, row),
            html: cell(&chunk.html, row),
            url: cell(&chunk.url, row),
            unreadable: None,
        }
    }

    fn columns(&self) -> Vec<String> {
        self.plain.clone()
    }

    fn value(&self, row: usize, column: usize, out: &mut String) -> bool {
        let (chunk, row) = self.find(row);
        write_value(&chunk.plain[column], row, out)
    }
}

/// Hands a batch over as a stream.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    batch: &RecordBatch,
    wanted: Option<Bound<'py, PyCapsule>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let field = Arc::new(Field::new_struct("", batch.schema().fields().clone(), false));
    let rows: ArrayRef = Arc::new(StructArray::from(batch.clone()));
    Ok(to_stream_pycapsule(py, Box::new(ArrayIterator::new(vec![Ok(rows)], field)), wanted)?)
}

/// Hands the schema of a batch over.
pub(crate) fn schema<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyCapsule>> {
    Ok(to_schema_pycapsule(py, batch.schema().as_ref())?)
}

/// Hands one column over.
pub(crate) fn array<'py>(
    py: Python<'py>,
    column: &ArrayRef,
    wanted: Option<Bound<'py, PyCapsule>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let field = Arc::new(Field::new("", column.data_type().clone(), column.is_nullable()));
    Ok(to_array_pycapsules(py, field, column, wanted)?)
}

/// A value as Python has it.
pub(crate) fn value<'py>(py: Python<'py>, array: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).into_bound_py_any(py),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into_bound_py_any(py),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).into_bound_py_any(py),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).into_bound_py_any(py),
        DataType::Boolean => array.as_boolean().value(row).into_bound_py_any(py),
        DataType::Binary => Ok(PyBytes::new(py, array.as_binary::<i32>().value(row)).into_any()),
        DataType::Struct(fields) => {
            let dict = PyDict::new(py);
            for (field, column) in fields.iter().zip(array.as_struct().columns()) {
                dict.set_item(field.name(), value(py, column, row)?)?;
            }
            Ok(dict.into_any())
        }
        DataType::List(_) => {
            let inner = array.as_list::<i32>().value(row);
            let values = (0..inner.len()).map(|row| value(py, &inner, row));
            Ok(PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
        other => Err(Failure::Type(format!("a column of type {other} has no values for Python")).into()),
    }
}

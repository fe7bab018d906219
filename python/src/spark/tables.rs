//! Rows that come through the driver become the tables of the command line.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use lookalike::corpus::write::rows::{Cell, Column, Kind, RowFormat, RowWriter};
use lookalike::engine::EngineError;
use lookalike::tables::{best, clusters, compared, groups, pairs, rejected, removed};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::raise;
use crate::arrow::Strings;
use crate::errors::Failure;

/// The columns of a table.
fn layout(table: &str) -> Option<&'static [Column]> {
    let table = match table {
        "removed" => removed::TABLE,
        "clusters" => clusters::TABLE,
        "pairs" => pairs::TABLE,
        // With one method there is no column of methods.
        "compared" => compared::TABLE.without_last(),
        "compared-by-several" => compared::TABLE,
        "best" => best::TABLE.without_last(),
        "best-by-several" => best::TABLE,
        "groups" => groups::SPARK_TABLE,
        "rejected" => rejected::TABLE,
        _ => return None,
    };
    Some(table.columns)
}

/// A recipe that says in which order documents were taken.
#[pyfunction]
pub(super) fn ordered_recipe(recipe: &str, order: &str) -> PyResult<String> {
    let mut recipe = super::recipe(recipe)?;
    recipe.order = Some(order.to_owned());
    Ok(recipe.to_toml())
}

/// A table on its way into a file, which appears when it is whole.
#[pyclass(frozen)]
pub(super) struct TableFile {
    columns: &'static [Column],
    rows: Mutex<Option<RowWriter>>,
}

#[pymethods]
impl TableFile {
    #[new]
    fn new(table: &str, path: PathBuf, parquet: bool, recipe: &str) -> PyResult<Self> {
        let unknown = || Failure::Usage(format!("there is no table {table}"));
        let columns = layout(table).ok_or_else(unknown)?;
        let format = if parquet { RowFormat::Parquet } else { RowFormat::Jsonl };
        let rows = RowWriter::create(&path, format, columns, recipe).map_err(Failure::from)?;
        Ok(TableFile { columns, rows: Mutex::new(Some(rows)) })
    }

    /// Adds rows; columns that are not there are empty.
    fn take(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        py.detach(|| {
            let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
            rows.as_mut().map_or(Ok(()), |rows| push(rows, self.columns, &batch))
        })
        .map_err(raise)
    }

    /// The file appears.
    fn finish(&self) -> PyResult<()> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(rows.map_or(Ok(()), RowWriter::finish).map_err(Failure::from)?)
    }
}

/// The value of a row in a column, owned where cells borrow.
enum Value<'b> {
    Number(Option<u64>),
    Measured(Option<f64>),
    Text(Option<&'b str>),
    Texts(Vec<&'b str>),
    Numbers(Vec<u64>),
    Flag(bool),
}

fn push(rows: &mut RowWriter, columns: &[Column], batch: &RecordBatch) -> Result<(), EngineError> {
    let sources: Vec<ColumnData> =
        columns.iter().map(|column| ColumnData::of(batch, column)).collect::<Result<_, _>>()?;
    for row in 0..batch.num_rows() {
        let values: Vec<Value<'_>> =
            columns.iter().zip(&sources).map(|(column, source)| source.value(column.kind(), row)).collect();
        let cells: Vec<Cell<'_>> =
            columns.iter().zip(&values).map(|(column, value)| cell(column.kind(), value)).collect();
        rows.push(&cells)?;
    }
    Ok(())
}

fn cell<'v>(kind: Kind, value: &'v Value<'_>) -> Cell<'v> {
    match (kind, value) {
        (Kind::Text, Value::Text(text)) => Cell::Text(text.unwrap_or_default()),
        (_, Value::Text(text)) => Cell::OptionalText(*text),
        (Kind::OptionalU64, Value::Number(number)) => Cell::OptionalU64(*number),
        (_, Value::Number(number)) => Cell::U64(number.unwrap_or_default()),
        (_, Value::Measured(number)) => Cell::OptionalF64(*number),
        (_, Value::Texts(texts)) => Cell::ListOfText(texts),
        (_, Value::Numbers(numbers)) => Cell::ListOfU64(numbers),
        (_, Value::Flag(flag)) => Cell::Bool(*flag),
    }
}

/// A column of a batch, or nothing.
enum ColumnData {
    Texts(Strings),
    Other(ArrayRef),
    /// Lists, where each begins, and what is in all of them.
    Lists(ArrayRef, Strings),
    Nothing,
}

impl ColumnData {
    fn of(batch: &RecordBatch, column: &Column) -> Result<Self, EngineError> {
        let Some(array) = batch.column_by_name(column.name()) else {
            let lacks = || EngineError::Request(format!("the column {} is missing", column.name()));
            return column.kind().is_optional().then_some(ColumnData::Nothing).ok_or_else(lacks);
        };
        let wrong =
            || EngineError::Request(format!("the column {} holds {}", column.name(), array.data_type()));
        match column.kind() {
            Kind::Text | Kind::OptionalText => Strings::of(array).map(ColumnData::Texts).ok_or_else(wrong),
            Kind::ListOfText => {
                let lists = array.as_list_opt::<i32>().ok_or_else(wrong)?;
                let texts = Strings::of(lists.values()).ok_or_else(wrong)?;
                Ok(ColumnData::Lists(array.clone(), texts))
            }
            Kind::ListOfU64 => {
                let fits = array
                    .as_list_opt::<i32>()
                    .and_then(|lists| lists.values().as_primitive_opt::<Int64Type>());
                fits.map(|_| ColumnData::Other(array.clone())).ok_or_else(wrong)
            }
            Kind::U64 | Kind::OptionalU64 => array
                .as_primitive_opt::<Int64Type>()
                .map(|_| ColumnData::Other(array.clone()))
                .ok_or_else(wrong),
            Kind::OptionalF64 => array
                .as_primitive_opt::<Float64Type>()
                .map(|_| ColumnData::Other(array.clone()))
                .ok_or_else(wrong),
            Kind::Bool => array.as_boolean_opt().map(|_| ColumnData::Other(array.clone())).ok_or_else(wrong),
        }
    }

    fn value(&self, kind: Kind, row: usize) -> Value<'_> {
        let there = |array: &ArrayRef| array.is_valid(row);
        match (kind, self) {
            (_, ColumnData::Texts(texts)) => Value::Text(texts.get(row)),
            (_, ColumnData::Lists(array, texts)) => {
                let ends = array.as_list::<i32>().value_offsets();
                let range = ends[row] as usize..ends[row + 1] as usize;
                Value::Texts(range.map(|index| texts.get(index).unwrap_or_default()).collect())
            }
            (Kind::U64 | Kind::OptionalU64, ColumnData::Other(array)) => {
                let number = || array.as_primitive::<Int64Type>().value(row) as u64;
                Value::Number(there(array).then(number))
            }
            (Kind::OptionalF64, ColumnData::Other(array)) => {
                Value::Measured(there(array).then(|| array.as_primitive::<Float64Type>().value(row)))
            }
            (Kind::ListOfU64, ColumnData::Other(array)) if there(array) => {
                let list = array.as_list::<i32>().value(row);
                Value::Numbers(list.as_primitive::<Int64Type>().values().iter().map(|&n| n as u64).collect())
            }
            (Kind::Bool, ColumnData::Other(array)) => {
                Value::Flag(there(array) && array.as_boolean().value(row))
            }
            (Kind::Text | Kind::OptionalText, _) => Value::Text(None),
            (Kind::U64 | Kind::OptionalU64, _) => Value::Number(None),
            (Kind::OptionalF64, _) => Value::Measured(None),
            (Kind::ListOfText, _) => Value::Texts(Vec::new()),
            (Kind::ListOfU64, _) => Value::Numbers(Vec::new()),
            (Kind::Bool, _) => Value::Flag(false),
        }
    }
}

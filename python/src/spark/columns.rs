//! The columns of a batch, by name.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, Int32Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use lookalike::engine::EngineError;

use crate::arrow::Strings;

fn wrong(name: &str, kind: &DataType, wanted: &str) -> EngineError {
    EngineError::Request(format!("the column {name} holds {kind}, and {wanted} is wanted; cast it first"))
}

/// A column of text that may be missing.
pub(super) fn texts(batch: &RecordBatch, name: &str) -> Result<Option<Strings>, EngineError> {
    let Some(column) = batch.column_by_name(name) else { return Ok(None) };
    Strings::of(column).map(Some).ok_or_else(|| wrong(name, column.data_type(), "text"))
}

fn column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b ArrayRef, EngineError> {
    let missing = || EngineError::Request(format!("the column {name} is not there"));
    batch.column_by_name(name).ok_or_else(missing)
}

pub(super) fn longs<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b Int64Array, EngineError> {
    let column = column(batch, name)?;
    column.as_primitive_opt::<Int64Type>().ok_or_else(|| wrong(name, column.data_type(), "a long"))
}

pub(super) fn ints<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b Int32Array, EngineError> {
    let column = column(batch, name)?;
    column.as_primitive_opt::<Int32Type>().ok_or_else(|| wrong(name, column.data_type(), "an integer"))
}

/// A column of bytes.
pub(super) enum Blobs<'b> {
    Short(&'b BinaryArray),
    Long(&'b arrow_array::LargeBinaryArray),
}

impl<'b> Blobs<'b> {
    pub(super) fn get(&self, row: usize) -> Option<&'b [u8]> {
        match self {
            Blobs::Short(blobs) => blobs.is_valid(row).then(|| blobs.value(row)),
            Blobs::Long(blobs) => blobs.is_valid(row).then(|| blobs.value(row)),
        }
    }
}

pub(super) fn blobs<'b>(batch: &'b RecordBatch, name: &str) -> Result<Option<Blobs<'b>>, EngineError> {
    let Some(column) = batch.column_by_name(name) else { return Ok(None) };
    match column.data_type() {
        DataType::Binary => Ok(Some(Blobs::Short(column.as_binary::<i32>()))),
        DataType::LargeBinary => Ok(Some(Blobs::Long(column.as_binary::<i64>()))),
        other => Err(wrong(name, other, "binary")),
    }
}

/// The number of a document, which Spark has as a long.
pub(super) fn number(long: i64) -> Result<u32, EngineError> {
    u32::try_from(long).map_err(|_| {
        EngineError::Request(format!(
            "there is no document {long}: a run has up to four thousand million documents"
        ))
    })
}

/// A batch of these columns.
pub(super) fn batch(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch, EngineError> {
    let field = |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(schema, arrays).map_err(|error| EngineError::Request(error.to_string()))
}

//! Columns of a row that make no document, as one JSON object.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::record::{Field, Row};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};

use crate::Fields;
use crate::formats::others::{ObjectWriter, makes_document, push_string};

/// The columns that are no part of a document, if there are any.
pub(super) fn columns(schema: &SchemaDescriptor, fields: &Fields, has_text: bool) -> Option<SchemaDescPtr> {
    let all = schema.root_schema().get_fields();
    let others: Vec<_> =
        all.iter().filter(|column| !makes_document(column.name(), fields, has_text)).cloned().collect();
    if others.is_empty() {
        return None;
    }
    let root = Type::group_type_builder(schema.name()).with_fields(others).build().ok()?;
    Some(Arc::new(SchemaDescriptor::new(Arc::new(root))))
}

/// The rows of one row group, as far as they make no document.
pub(super) struct OtherColumns {
    rows: ReaderIter,
    row: Option<Row>,
}

impl OtherColumns {
    pub(super) fn open(
        group: &dyn RowGroupReader,
        columns: &SchemaDescPtr,
        batch: usize,
    ) -> Result<Self, ParquetError> {
        let rows = TreeBuilder::new().with_batch_size(batch).as_iter(columns.clone(), group)?;
        Ok(OtherColumns { rows, row: None })
    }

    /// Moves to the next row.
    pub(super) fn step(&mut self) -> Result<(), ParquetError> {
        self.row = self.rows.next().transpose()?;
        Ok(())
    }

    /// Appends the current row as an object; false when it has none.
    pub(super) fn push(&self, out: &mut String) -> bool {
        let Some(row) = &self.row else { return false };
        let mut object = ObjectWriter::begin(out);
        for (name, field) in row.get_column_iter().filter(|(_, field)| !matches!(field, Field::Null)) {
            object.member(name, |out| push_field(field, out));
        }
        object.end()
    }
}

fn push_field(field: &Field, out: &mut String) {
    match field {
        Field::Null => out.push_str("null"),
        Field::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Field::Byte(number) => push_number(number, out),
        Field::Short(number) => push_number(number, out),
        Field::Int(number) => push_number(number, out),
        Field::Long(number) => push_number(number, out),
        Field::UByte(number) => push_number(number, out),
        Field::UShort(number) => push_number(number, out),
        Field::UInt(number) => push_number(number, out),
        Field::ULong(number) => push_number(number, out),
        Field::Float(number) => push_number(number, out),
        Field::Double(number) => push_number(number, out),
        Field::Str(text) => push_string(text, out),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(text) => push_string(text, out),
            Err(_) => push_string(&BASE64_STANDARD.encode(bytes.data()), out),
        },
        Field::Group(row) => {
            out.push('{');
            for (index, (name, field)) in row.get_column_iter().enumerate() {
                push_entry(index, name, field, out);
            }
            out.push('}');
        }
        Field::ListInternal(list) => {
            out.push('[');
            for (index, element) in list.elements().iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                push_field(element, out);
            }
            out.push(']');
        }
        Field::MapInternal(map) => {
            out.push('{');
            for (index, (key, value)) in map.entries().iter().enumerate() {
                let key = if let Field::Str(key) = key { key.clone() } else { key.to_string() };
                push_entry(index, &key, value, out);
            }
            out.push('}');
        }
        // Days, moments, decimals: as people write them.
        other => push_string(&other.to_string(), out),
    }
}

fn push_entry(index: usize, name: &str, field: &Field, out: &mut String) {
    out.push_str(if index > 0 { "," } else { "" });
    push_string(name, out);
    out.push(':');
    push_field(field, out);
}

/// A number as JSON; what JSON has no number for, such as NaN, is null there.
fn push_number(number: &impl serde::Serialize, out: &mut String) {
    out.push_str(&serde_json::to_string(number).unwrap_or_else(|_| "null".to_owned()));
}

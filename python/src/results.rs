//! Files of a job become tables.

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, ListBuilder, StringBuilder, UInt64Builder,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use lookalike::corpus::ListReader;
use lookalike::engine::EngineError;
use serde_json::{Map, Value};

use crate::errors::Failure;

/// The type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    Count,
    Bool,
    Texts,
    Counts,
}

/// Columns by name; those that no row has are left out if they may be.
pub(crate) struct Layout(&'static [(&'static str, Kind, bool)]);

pub(crate) const REMOVED: Layout = Layout(&[
    ("id", Kind::Text, false),
    ("witness", Kind::Text, false),
    ("similarity", Kind::Number, false),
    ("cluster", Kind::Count, false),
    ("n", Kind::Count, false),
    ("witness_n", Kind::Count, false),
    ("via", Kind::Text, true),
    ("against", Kind::Text, true),
]);

pub(crate) const CLUSTERS: Layout = Layout(&[
    ("cluster", Kind::Count, false),
    ("keep", Kind::Text, false),
    ("members", Kind::Texts, false),
    ("members_n", Kind::Counts, false),
    ("against", Kind::Text, true),
]);

pub(crate) const REJECTED: Layout = Layout(&[
    ("source", Kind::Text, false),
    ("position", Kind::Count, false),
    ("reason", Kind::Text, false),
    ("side", Kind::Text, true),
]);

pub(crate) const PAIRS: Layout = Layout(&[
    ("a", Kind::Text, false),
    ("b", Kind::Text, false),
    ("similarity", Kind::Number, false),
    ("reverse", Kind::Number, true),
]);

pub(crate) const COMPARED: Layout = Layout(&[
    ("a", Kind::Text, false),
    ("b", Kind::Text, false),
    ("similarity", Kind::Number, false),
    ("reverse", Kind::Number, true),
    ("near", Kind::Bool, false),
    ("segment", Kind::Text, true),
    ("methods", Kind::Texts, true),
]);

pub(crate) const BEST: Layout = Layout(&[
    ("a", Kind::Text, false),
    ("b", Kind::Text, false),
    ("similarity", Kind::Number, false),
    ("near", Kind::Bool, false),
    ("pairs", Kind::Count, false),
    ("segment", Kind::Text, true),
    ("methods", Kind::Texts, true),
]);

pub(crate) const VERDICTS: Layout = Layout(&[
    ("id", Kind::Text, false),
    ("new", Kind::Bool, false),
    ("witness", Kind::Text, false),
    ("similarity", Kind::Number, false),
    ("known", Kind::Bool, false),
    ("error", Kind::Text, true),
]);

/// A column in the making.
enum ColumnBuilder {
    Text(StringBuilder),
    Number(Float64Builder),
    Count(UInt64Builder),
    Bool(BooleanBuilder),
    Texts(ListBuilder<StringBuilder>),
    Counts(ListBuilder<UInt64Builder>),
}

impl ColumnBuilder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => ColumnBuilder::Text(StringBuilder::new()),
            Kind::Number => ColumnBuilder::Number(Float64Builder::new()),
            Kind::Count => ColumnBuilder::Count(UInt64Builder::new()),
            Kind::Bool => ColumnBuilder::Bool(BooleanBuilder::new()),
            Kind::Texts => ColumnBuilder::Texts(ListBuilder::new(StringBuilder::new())),
            Kind::Counts => ColumnBuilder::Counts(ListBuilder::new(UInt64Builder::new())),
        }
    }

    fn push(&mut self, value: Option<&Value>) {
        let items = || value.and_then(Value::as_array);
        match self {
            ColumnBuilder::Text(column) => column.append_option(value.and_then(Value::as_str)),
            ColumnBuilder::Number(column) => column.append_option(value.and_then(Value::as_f64)),
            ColumnBuilder::Count(column) => column.append_option(value.and_then(Value::as_u64)),
            ColumnBuilder::Bool(column) => column.append_option(value.and_then(Value::as_bool)),
            ColumnBuilder::Texts(column) => {
                items().into_iter().flatten().for_each(|item| column.values().append_option(item.as_str()));
                column.append(items().is_some());
            }
            ColumnBuilder::Counts(column) => {
                items().into_iter().flatten().for_each(|item| column.values().append_option(item.as_u64()));
                column.append(items().is_some());
            }
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            ColumnBuilder::Text(mut column) => ArrayBuilder::finish(&mut column),
            ColumnBuilder::Number(mut column) => ArrayBuilder::finish(&mut column),
            ColumnBuilder::Count(mut column) => ArrayBuilder::finish(&mut column),
            ColumnBuilder::Bool(mut column) => ArrayBuilder::finish(&mut column),
            ColumnBuilder::Texts(mut column) => ArrayBuilder::finish(&mut column),
            ColumnBuilder::Counts(mut column) => ArrayBuilder::finish(&mut column),
        }
    }
}

/// A table in the making, row by row.
pub(crate) struct TableBuilder {
    layout: Layout,
    columns: Vec<ColumnBuilder>,
}

impl TableBuilder {
    pub(crate) fn new(layout: Layout) -> Self {
        let columns = layout.0.iter().map(|(_, kind, _)| ColumnBuilder::new(*kind)).collect();
        TableBuilder { layout, columns }
    }

    pub(crate) fn push(&mut self, row: &Map<String, Value>) {
        for ((name, _, _), column) in self.layout.0.iter().zip(&mut self.columns) {
            column.push(row.get(*name));
        }
    }

    pub(crate) fn finish(self) -> Result<RecordBatch, Failure> {
        let mut columns = Vec::new();
        for ((name, _, optional), column) in self.layout.0.iter().zip(self.columns) {
            let column = column.finish();
            if !*optional || column.null_count() < column.len() {
                columns.push((*name, column));
            }
        }
        batch(columns)
    }
}

/// Columns of one length as a table.
pub(crate) fn batch(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch, Failure> {
    let field = |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    RecordBatch::try_new(schema, columns).map_err(|error| Failure::Usage(error.to_string()))
}

/// The rows of a file of JSON lines.
pub(crate) fn read(path: &Path, layout: Layout) -> Result<RecordBatch, Failure> {
    let mut rows = TableBuilder::new(layout);
    let damaged = |what: String| EngineError::Damaged { file: path.to_owned(), what };
    for line in ListReader::open(path)?.lines() {
        let line = line.map_err(|error| EngineError::read(path, error))?;
        let row: Map<String, Value> =
            serde_json::from_str(&line).map_err(|error| damaged(error.to_string()))?;
        rows.push(&row);
    }
    rows.finish()
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    Ok(std::fs::read_to_string(path).map_err(|error| EngineError::read(path, error))?)
}

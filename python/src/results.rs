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
use lookalike::corpus::write::rows::{Column, Kind};
use lookalike::engine::EngineError;
use lookalike::tables::{best, clusters, compared, pairs, rejected, removed};
use serde_json::{Map, Value};

use crate::errors::Failure;

/// The columns of a table; those that no row has are left out if they may be.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    columns: &'static [Column],
    /// The name of a column that is always in files which have it, and not in all files.
    sometimes: &'static str,
}

impl Layout {
    const fn of(columns: &'static [Column]) -> Self {
        Layout { columns, sometimes: "" }
    }

    /// The table of a run with any number of methods: with one method the column of methods is not there.
    const fn of_methods(columns: &'static [Column]) -> Self {
        Layout { columns, sometimes: "methods" }
    }

    fn may_leave_out(&self, column: &Column) -> bool {
        column.is_omitted_if_none() || column.name() == self.sometimes
    }
}

pub(crate) const REMOVED: Layout = Layout::of(removed::COLUMNS);
pub(crate) const CLUSTERS: Layout = Layout::of(clusters::COLUMNS);
pub(crate) const REJECTED: Layout = Layout::of(rejected::COLUMNS);
pub(crate) const PAIRS: Layout = Layout::of(pairs::COLUMNS);
pub(crate) const COMPARED: Layout = Layout::of_methods(compared::COLUMNS);
pub(crate) const BEST: Layout = Layout::of_methods(best::COLUMNS);

/// The verdicts of an index on documents that were added, which stand in no file.
pub(crate) const VERDICTS: Layout = Layout::of(&[
    Column::new("id", Kind::Text),
    Column::new("new", Kind::Bool),
    Column::new("witness", Kind::OptionalText),
    Column::new("similarity", Kind::OptionalF64),
    Column::new("known", Kind::Bool),
    Column::new("error", Kind::OptionalText).omit_if_none(),
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
            Kind::Text | Kind::OptionalText => ColumnBuilder::Text(StringBuilder::new()),
            Kind::OptionalF64 => ColumnBuilder::Number(Float64Builder::new()),
            Kind::U64 | Kind::OptionalU64 => ColumnBuilder::Count(UInt64Builder::new()),
            Kind::Bool => ColumnBuilder::Bool(BooleanBuilder::new()),
            Kind::ListOfText => ColumnBuilder::Texts(ListBuilder::new(StringBuilder::new())),
            Kind::ListOfU64 => ColumnBuilder::Counts(ListBuilder::new(UInt64Builder::new())),
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
        let columns = layout.columns.iter().map(|column| ColumnBuilder::new(column.kind())).collect();
        TableBuilder { layout, columns }
    }

    pub(crate) fn push(&mut self, row: &Map<String, Value>) {
        for (column, builder) in self.layout.columns.iter().zip(&mut self.columns) {
            builder.push(row.get(column.name()));
        }
    }

    pub(crate) fn finish(self) -> Result<RecordBatch, Failure> {
        let mut columns = Vec::new();
        for (column, builder) in self.layout.columns.iter().zip(self.columns) {
            let values = builder.finish();
            if !self.layout.may_leave_out(column) || values.null_count() < values.len() {
                columns.push((column.name(), values));
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

//! Columns for the fields of documents that are neither id, address nor text.
//!
//! The first row group decides on the columns: a field with one type in all of its documents becomes a column of that type
//! (text, truth values, whole numbers, numbers), any other field a column of JSON text. What a later document has that fits no
//! column goes to the last one, [`REST`], as a JSON object. Nothing has to be read twice.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedColumnWriter, SerializedRowGroupWriter};
use parquet::schema::types::{PrimitiveTypeBuilder, Type, TypePtr};

use super::Texts;
use crate::formats::others::{Members, push_string};

/// The column for what has none.
const REST: &str = "other_fields";

/// More fields than this are no columns, so that a hostile file does not make a column for each document.
const MOST_COLUMNS: usize = 1000;

/// Whole numbers beyond this are not exact as floating-point ones.
const EXACT: u64 = 1 << 53;

/// Digits that a floating-point number can hold.
const DIGITS: usize = 17;

/// The type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing but null has been seen.
    Unknown,
    Text,
    Bool,
    Whole,
    Number,
    Json,
}

impl Kind {
    fn of(json: &str) -> Self {
        match json.as_bytes().first() {
            Some(b'n') => Kind::Unknown,
            Some(b'"') => Kind::Text,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'-' | b'0'..=b'9') if json.parse::<i64>().is_ok() => Kind::Whole,
            Some(b'-' | b'0'..=b'9') if is_exact(json) => Kind::Number,
            _ => Kind::Json,
        }
    }

    /// The kind of a column that has values of both kinds.
    fn with(self, other: Kind) -> Kind {
        match (self, other) {
            (one, other) if one == other => one,
            (Kind::Unknown, known) | (known, Kind::Unknown) => known,
            (Kind::Whole, Kind::Number) | (Kind::Number, Kind::Whole) => Kind::Number,
            _ => Kind::Json,
        }
    }
}

/// True for a number with a fraction or an exponent that floating point can hold as it is written.
fn is_exact(json: &str) -> bool {
    let digits =
        json.bytes().take_while(|byte| !matches!(byte, b'e' | b'E')).filter(u8::is_ascii_digit).count();
    digits <= DIGITS && json.parse::<f64>().is_ok_and(f64::is_finite)
}

/// The columns of a file.
pub(super) struct FieldColumns {
    columns: Vec<(String, Kind)>,
}

impl FieldColumns {
    /// The columns for documents with these other fields, as JSON objects; `None` when they have none.
    pub(super) fn infer<'t>(objects: impl Iterator<Item = &'t str>) -> Option<Self> {
        let mut columns: Vec<(String, Kind)> = Vec::new();
        let mut any = false;
        for object in objects {
            for (name, value) in Members::of(object).0 {
                any = true;
                let kind = Kind::of(value.get());
                match columns.iter().position(|(known, _)| *known == name) {
                    Some(column) => columns[column].1 = columns[column].1.with(kind),
                    None if columns.len() < MOST_COLUMNS && name != REST => {
                        columns.push((name.into_owned(), kind))
                    }
                    None => {}
                }
            }
        }
        any.then_some(FieldColumns { columns })
    }

    /// The columns as Parquet has them; the last one is for what has none.
    pub(super) fn types(&self) -> Result<Vec<TypePtr>, ParquetError> {
        let rest = std::iter::once(text(REST));
        let columns = self.columns.iter().map(|(name, kind)| match kind {
            Kind::Bool => Type::primitive_type_builder(name, PhysicalType::BOOLEAN),
            Kind::Whole => Type::primitive_type_builder(name, PhysicalType::INT64),
            Kind::Number => Type::primitive_type_builder(name, PhysicalType::DOUBLE),
            Kind::Unknown | Kind::Text | Kind::Json => text(name),
        });
        columns
            .chain(rest)
            .map(|column| column.with_repetition(Repetition::OPTIONAL).build().map(Arc::new))
            .collect()
    }

    /// Writes the columns of a row group whose documents have these other fields.
    pub(super) fn write<'t>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, std::fs::File>,
        objects: impl Iterator<Item = &'t str>,
    ) -> Result<(), ParquetError> {
        let mut cells: Vec<Cells> = self.columns.iter().map(|(_, kind)| Cells::new(*kind)).collect();
        let mut rest = Cells::new(Kind::Json);
        let mut misfits = String::new();
        for object in objects {
            misfits.clear();
            for (name, value) in Members::of(object).0 {
                let column = self.columns.iter().position(|(known, _)| *known == name);
                let fits = column.is_some_and(|column| cells[column].push(value.get()));
                if !fits && value.get() != "null" {
                    misfits.push(if misfits.is_empty() { '{' } else { ',' });
                    push_string(&name, &mut misfits);
                    misfits.push(':');
                    misfits.push_str(value.get());
                }
            }
            if !misfits.is_empty() {
                misfits.push('}');
                rest.push(&misfits);
            }
            cells.iter_mut().chain([&mut rest]).for_each(Cells::end_row);
        }
        for cells in cells.into_iter().chain([rest]) {
            let Some(column) = group.next_column()? else {
                return Err(ParquetError::General("the schema has too few columns".to_owned()));
            };
            cells.write(column)?;
        }
        Ok(())
    }
}

fn text(name: &str) -> PrimitiveTypeBuilder<'_> {
    let column = Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY);
    column.with_logical_type(Some(LogicalType::String))
}

/// The cells of one column in a row group.
struct Cells {
    kind: Kind,
    /// For each row, 1 if it has a value and 0 if it has none.
    levels: Vec<i16>,
    /// The row that has not ended has a value.
    filled: bool,
    texts: Texts,
    bools: Vec<bool>,
    wholes: Vec<i64>,
    numbers: Vec<f64>,
}

impl Cells {
    fn new(kind: Kind) -> Self {
        Cells {
            kind,
            levels: Vec::new(),
            filled: false,
            texts: Texts::default(),
            bools: Vec::new(),
            wholes: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// Takes the value of this row; false when it is of another kind, or the second one.
    fn push(&mut self, json: &str) -> bool {
        if self.filled || json == "null" {
            return json == "null";
        }
        let kind = Kind::of(json);
        self.filled = match self.kind {
            Kind::Json => {
                self.texts.push(json);
                true
            }
            Kind::Text | Kind::Unknown => {
                let text = serde_json::from_str::<String>(json).ok();
                text.inspect(|text| self.texts.push(text)).is_some()
            }
            Kind::Bool if kind == Kind::Bool => {
                self.bools.push(json == "true");
                true
            }
            Kind::Whole => json.parse().ok().inspect(|&number| self.wholes.push(number)).is_some(),
            Kind::Number if matches!(kind, Kind::Whole | Kind::Number) => {
                let exact = json.parse::<i64>().map_or(true, |whole| whole.unsigned_abs() <= EXACT);
                exact && json.parse().ok().inspect(|&number| self.numbers.push(number)).is_some()
            }
            _ => false,
        };
        self.filled
    }

    fn end_row(&mut self) {
        self.levels.push(i16::from(std::mem::take(&mut self.filled)));
    }

    fn write(self, mut column: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = Some(&self.levels[..]);
        match self.kind {
            Kind::Bool => column.typed::<BoolType>().write_batch(&self.bools, levels, None)?,
            Kind::Whole => column.typed::<Int64Type>().write_batch(&self.wholes, levels, None)?,
            Kind::Number => column.typed::<DoubleType>().write_batch(&self.numbers, levels, None)?,
            Kind::Unknown | Kind::Text | Kind::Json => {
                column.typed::<ByteArrayType>().write_batch(&self.texts.into_values(), levels, None)?
            }
        };
        column.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_column_follows_from_all_its_values() {
        let kinds = |objects: &[&str]| {
            FieldColumns::infer(objects.iter().copied()).map(|columns| columns.columns).unwrap_or_default()
        };
        let named = |name: &str, kind| (name.to_owned(), kind);
        assert_eq!(
            kinds(&[
                "{\"a\":1,\"b\":null,\"c\":true,\"d\":\"x\"}",
                "{\"a\":2.5,\"c\":1,\"d\":null,\"e\":[1]}"
            ]),
            [
                named("a", Kind::Number),
                named("b", Kind::Unknown),
                named("c", Kind::Json),
                named("d", Kind::Text),
                named("e", Kind::Json)
            ]
        );
        assert_eq!(
            kinds(&["{\"a\":9223372036854775808}"]),
            [named("a", Kind::Json)],
            "it would lose its last digits"
        );
        assert!(FieldColumns::infer(["", "{}"].into_iter()).is_none());
    }

    #[test]
    fn what_fits_no_column_is_not_taken() {
        for (kind, fits, other) in [
            (Kind::Text, "\"x\"", "1"),
            (Kind::Bool, "false", "0"),
            (Kind::Whole, "-3", "0.5"),
            (Kind::Number, "1e3", "9007199254740993"),
            (Kind::Number, "7", "\"7\""),
        ] {
            assert!(Cells::new(kind).push(fits) && !Cells::new(kind).push(other), "{kind:?}");
            assert!(Cells::new(kind).push("null"));
        }
        let mut twice = Cells::new(Kind::Text);
        assert!(twice.push("\"a\"") && !twice.push("\"b\""), "a second value of one name goes elsewhere");
    }
}

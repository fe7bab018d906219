//! Values of further columns, as text.

use std::fmt::Write;

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::data_type::Int96;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::{Column, Values};
use crate::formats::push_text;

/// A further column: which one, and what its values mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf {
    pub(super) number: usize,
    number_type: NumberType,
}

/// The meaning of the numbers in a column.
#[derive(Debug, Clone, Copy)]
enum NumberType {
    /// Plain numbers.
    Plain,
    /// Days since 1970.
    Date,
    /// Fractions of seconds since 1970, 10 to the power of `digits` to a second.
    Moment { digits: usize, utc: bool },
    /// Whole numbers whose decimal point stands `scale` digits from the right.
    Decimal { scale: usize },
}

impl Leaf {
    /// The column whose path is `name`, with dots between its parts, if it holds one plain value per row.
    pub(super) fn named(schema: &SchemaDescriptor, name: &str) -> Option<Self> {
        let number = leaf(schema, name)?;
        let column = schema.column(number);
        let number_type = number_type(&column);
        let readable = match column.physical_type() {
            Type::FIXED_LEN_BYTE_ARRAY => false,
            Type::BYTE_ARRAY => matches!(number_type, NumberType::Plain),
            _ => true,
        };
        (readable && column.max_rep_level() == 0).then_some(Leaf { number, number_type })
    }

    /// Appends the value of the current row; false when it has none.
    pub(super) fn push(self, column: &Column, out: &mut String) -> bool {
        if let Some(bytes) = column.bytes() {
            push_text(bytes, out);
            return true;
        }
        if let Some(number) = column.number() {
            self.number_type.push(number, out);
            return true;
        }
        let Some(at) = column.current else { return false };
        match &column.values {
            Values::Bool(_, values) => values.get(at).map(|value| push(out, value)),
            Values::Float(_, values) => values.get(at).map(|value| push(out, value)),
            Values::Double(_, values) => values.get(at).map(|value| push(out, value)),
            Values::Int96(_, values) => values
                .get(at)
                .map(|value| NumberType::Moment { digits: 9, utc: true }.push(nanoseconds(value), out)),
            Values::Bytes(..) | Values::Int32(..) | Values::Int64(..) => None,
        }
        .is_some()
    }
}

/// The column that is called `name`, or else the one that it leads to inside structures, with dots between the names.
pub(super) fn leaf(schema: &SchemaDescriptor, name: &str) -> Option<usize> {
    let place =
        |is: &dyn Fn(&ColumnDescriptor) -> bool| schema.columns().iter().position(|column| is(column));
    place(&|column| column.path().parts() == [name])
        .or_else(|| place(&|column| column.path().string() == name))
}

/// Floats as Rust writes them: 1.0 and not 1.
fn push(out: &mut String, value: &impl std::fmt::Debug) {
    write!(out, "{value:?}").expect("writing to a string cannot fail");
}

/// The moment that Impala and old versions of Spark meant: a Julian day, and nanoseconds since its midnight.
fn nanoseconds(value: &Int96) -> i128 {
    let &[low, high, day] = value.data() else { return 0 };
    let of_day = i128::from(high) << 32 | i128::from(low);
    (i128::from(day) - 2_440_588) * 86_400_000_000_000 + of_day
}

fn number_type(column: &ColumnDescriptor) -> NumberType {
    match column.logical_type_ref() {
        Some(LogicalType::Date) => return NumberType::Date,
        Some(LogicalType::Timestamp(moment)) => {
            let digits = match moment.unit {
                TimeUnit::MILLIS => 3,
                TimeUnit::MICROS => 6,
                TimeUnit::NANOS => 9,
            };
            return NumberType::Moment { digits, utc: moment.is_adjusted_to_u_t_c };
        }
        _ => {}
    }
    match column.converted_type() {
        ConvertedType::DATE => NumberType::Date,
        ConvertedType::TIMESTAMP_MILLIS => NumberType::Moment { digits: 3, utc: true },
        ConvertedType::TIMESTAMP_MICROS => NumberType::Moment { digits: 6, utc: true },
        ConvertedType::DECIMAL => NumberType::Decimal { scale: column.type_scale().clamp(0, 38) as usize },
        _ => NumberType::Plain,
    }
}

impl NumberType {
    fn push(self, number: i128, out: &mut String) {
        match self {
            NumberType::Plain => write!(out, "{number}"),
            NumberType::Date => write!(out, "{}", Day(number)),
            NumberType::Moment { digits, utc } => {
                let second = 10i128.pow(digits as u32);
                let (seconds, part) = (number.div_euclid(second), number.rem_euclid(second));
                let (day, of_day) = (Day(seconds.div_euclid(86_400)), seconds.rem_euclid(86_400));
                let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
                let zone = if utc { "Z" } else { "" };
                write!(out, "{day}T{hour:02}:{minute:02}:{second:02}.{part:0digits$}{zone}")
            }
            NumberType::Decimal { scale: 0 } => write!(out, "{number}"),
            NumberType::Decimal { scale } => {
                let one = 10u128.pow(scale as u32);
                let sign = if number < 0 { "-" } else { "" };
                let (whole, part) = (number.unsigned_abs() / one, number.unsigned_abs() % one);
                write!(out, "{sign}{whole}.{part:0scale$}")
            }
        }
        .expect("writing to a string cannot fail");
    }
}

/// A day by its number from 1970-01-01, written as a date of the Gregorian calendar.
struct Day(i128);

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Years that begin in March have their odd day, if any, at their end. Day 0 is then 0000-03-01, and 400
        // years always have 146,097 days.
        let day = self.0 + 719_468;
        let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let date = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = era * 400 + year + i128::from(month <= 2);
        write!(f, "{year:04}-{month:02}-{date:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number_type: NumberType, number: i128) -> String {
        let mut out = String::new();
        number_type.push(number, &mut out);
        out
    }

    #[test]
    fn days_are_dates() {
        for (day, date) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_484, "2026-01-31"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
            (-719_468, "0000-03-01"),
        ] {
            assert_eq!(text(NumberType::Date, day), date);
        }
    }

    #[test]
    fn moments_and_decimals_keep_all_their_digits() {
        let utc = true;
        assert_eq!(text(NumberType::Moment { digits: 3, utc }, 86_399_007), "1970-01-01T23:59:59.007Z");
        assert_eq!(text(NumberType::Moment { digits: 6, utc: false }, -1), "1969-12-31T23:59:59.999999");
        assert_eq!(text(NumberType::Decimal { scale: 2 }, -105), "-1.05");
        assert_eq!(text(NumberType::Decimal { scale: 3 }, 7), "0.007");
        assert_eq!(text(NumberType::Decimal { scale: 0 }, 7), "7");
        let moment = Int96::from(vec![1, 0, 2_440_588]);
        assert_eq!(
            text(NumberType::Moment { digits: 9, utc }, nanoseconds(&moment)),
            "1970-01-01T00:00:00.000000001Z"
        );
        // Any number is one: nothing overflows.
        for number in [i128::from(i64::MIN), i128::from(i64::MAX)] {
            text(NumberType::Date, number);
            text(NumberType::Moment { digits: 3, utc }, number);
        }
    }
}

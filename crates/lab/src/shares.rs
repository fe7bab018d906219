//! Shares that are counted one by one, as tables and pictures want them.

use lookalike::report::study::{Axis, Origin, Point, Series, Value};

use crate::interval::wilson;

/// A share as two counts: `part` out of `whole`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) part: u64,
    pub(crate) whole: u64,
}

impl Share {
    /// Counts one more.
    pub(crate) fn count(&mut self, part: bool) {
        self.part += u64::from(part);
        self.whole += 1;
    }

    /// Both together.
    pub(crate) fn with(self, other: Share) -> Share {
        Share { part: self.part + other.part, whole: self.whole + other.whole }
    }

    /// The share; nothing of none.
    pub(crate) fn value(self) -> Option<f64> {
        (self.whole > 0).then(|| self.part as f64 / self.whole as f64)
    }

    /// Its 95 % interval.
    pub(crate) fn interval(self) -> Option<(f64, f64)> {
        wilson(self.part, self.whole)
    }

    /// Returns the share as the cell of a table.
    pub(crate) fn cell(self) -> Value {
        self.value().into()
    }

    /// Returns the interval as the cell of a table.
    pub(crate) fn interval_cell(self) -> Value {
        self.interval().into()
    }

    /// A point of a line, with its interval.
    pub(crate) fn point(self, x: f64) -> Option<Point> {
        Some(Point { x, y: self.value()?, interval: self.interval() })
    }
}

/// A line of measured points.
pub(crate) fn measured(name: impl Into<String>, points: impl IntoIterator<Item = Point>) -> Series {
    Series { name: name.into(), origin: Origin::Measured, points: points.into_iter().collect() }
}

/// A line of a formula, by its values.
pub(crate) fn theory(name: impl Into<String>, values: impl IntoIterator<Item = (f64, f64)>) -> Series {
    let points = values.into_iter().map(|(x, y)| Point::new(x, y)).collect();
    Series { name: name.into(), origin: Origin::Theory, points }
}

/// An axis that ends where the data does.
pub(crate) fn axis(name: &str) -> Axis {
    Axis { name: name.to_owned(), ..Axis::default() }
}

/// An axis whose steps are factors.
pub(crate) fn logarithmic(name: &str) -> Axis {
    Axis { logarithmic: true, ..axis(name) }
}

/// An axis from 0 to 1.
pub(crate) fn unit_axis(name: &str) -> Axis {
    Axis { range: Some((0.0, 1.0)), ..axis(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_counted_and_added() {
        let mut share = Share::default();
        assert_eq!((share.value(), share.point(1.0), share.cell()), (None, None, Value::None));
        [true, false, true, true].into_iter().for_each(|part| share.count(part));
        assert_eq!(share.value(), Some(0.75));
        assert_eq!(share.with(Share { part: 1, whole: 4 }), Share { part: 4, whole: 8 });
        let (low, high) = share.point(2.0).unwrap().interval.unwrap();
        assert!(low < 0.75 && 0.75 < high);
    }
}

//! The content of a study: text, tables and pictures in their order, for people and for programs.
//!
//! An experiment fills in a [`Study`]; `study_page` makes a page of it, and serde JSON with every number as a number. Nothing in it
//! is formatted: the page decides how a share or a count looks.

use serde::Serialize;

/// A study: a question and its results.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Study {
    /// A short name for links and files, such as `E7`.
    pub id: String,
    /// The subject.
    pub title: String,
    /// The result in a sentence or two.
    pub lead: String,
    /// Caveats that a reader must see first: everything left out, sampled, or impossible.
    pub notes: Vec<String>,
    /// The setup: corpus, documents, seed, parameters.
    pub facts: Vec<(String, String)>,
    /// Text, tables and pictures, in this order.
    pub blocks: Vec<Block>,
}

/// A part of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// A heading.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// A table.
    Table(Grid),
    /// A picture.
    Plot(Plot),
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Grid {
    /// The caption.
    pub name: String,
    /// Heads of the columns; the first column names the rows.
    pub columns: Vec<String>,
    /// As many values in each row as there are columns.
    pub rows: Vec<Vec<Value>>,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Nothing: shown as a dash, `null` for programs.
    None,
    /// Words.
    Text(String),
    /// A number of things.
    Count(u64),
    /// A share or another number without a unit, shown with a few decimals.
    Number(f64),
    /// An interval.
    Interval(f64, f64),
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Plot {
    /// Lines over an axis of numbers.
    Lines(Lines),
    /// Points with names; those on the frontier are joined.
    Points(Points),
    /// Coloured squares from 0 to 1.
    Heat(Heat),
    /// Bars over bins, of one or more series.
    Bars(Bars),
    /// Numbers with names, one below the other, each with its interval.
    Spans(Spans),
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Axis {
    /// The quantity measured.
    pub name: String,
    /// Its ends; what the data needs when there are none.
    pub range: Option<(f64, f64)>,
    /// True for a logarithmic axis.
    pub logarithmic: bool,
}

/// Lines over an axis of numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Lines {
    /// The title.
    pub name: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// The origin of its numbers.
    pub origin: Origin,
    /// Its points, from left to right.
    pub points: Vec<Point>,
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// The horizontal position.
    pub x: f64,
    /// The height.
    pub y: f64,
    /// The 95 % interval of the height.
    pub interval: Option<(f64, f64)>,
}

/// The origin of numbers, shown in the picture by the style of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// From this run.
    Measured,
    /// From a formula.
    Theory,
    /// From a paper.
    Published,
}

/// Points with names.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Points {
    /// The title.
    pub name: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The points.
    pub points: Vec<NamedPoint>,
    /// A height to reach.
    pub goal: Option<f64>,
    /// True if further right is better, as with recall; else further left, as with cost.
    pub rightwards: bool,
}

/// A point with a name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedPoint {
    /// Its name.
    pub name: String,
    /// Its position, with the interval of its height.
    pub at: Point,
    /// True if no other point is both better along the axis and higher.
    pub frontier: bool,
    /// True for the point that was chosen.
    pub chosen: bool,
}

/// Coloured squares.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Heat {
    /// The title.
    pub name: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// A value from 0 to 1 for each row and column; nothing where there is none.
    pub values: Vec<Vec<Option<f64>>>,
}

/// Bars over bins.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Bars {
    /// The title.
    pub name: String,
    /// The name of the horizontal axis.
    pub x: String,
    /// The quantity counted.
    pub y: String,
    /// Names of the bins.
    pub bins: Vec<String>,
    /// The name of each series, and its count for each bin.
    pub series: Vec<(String, Vec<u64>)>,
    /// True if heights are logarithmic.
    pub logarithmic: bool,
}

/// Numbers with names, one below the other.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Spans {
    /// The title.
    pub name: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The numbers, from top to bottom.
    pub rows: Vec<Span>,
}

/// A number with a name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Span {
    /// Its name.
    pub name: String,
    /// The number.
    pub value: f64,
    /// The 95 % interval of the number.
    pub interval: Option<(f64, f64)>,
    /// True for the number to highlight.
    pub chosen: bool,
}

impl Point {
    /// A point without an interval.
    pub fn new(x: f64, y: f64) -> Self {
        Point { x, y, interval: None }
    }
}

impl Study {
    /// Appends a heading.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    /// Appends a paragraph.
    pub fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    /// Appends a table.
    pub fn table(&mut self, grid: Grid) {
        self.blocks.push(Block::Table(grid));
    }

    /// Appends a picture.
    pub fn plot(&mut self, plot: Plot) {
        self.blocks.push(Block::Plot(plot));
    }

    /// Notes a fact about the run.
    pub fn fact(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.facts.push((name.into(), value.into()));
    }
}

impl Grid {
    /// A table without rows.
    pub fn new<S: Into<String>>(name: impl Into<String>, columns: impl IntoIterator<Item = S>) -> Self {
        Grid { name: name.into(), columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Appends a row.
    ///
    /// # Panics
    /// When it does not have a value for each column.
    pub fn row(&mut self, values: impl IntoIterator<Item = Value>) {
        let values: Vec<Value> = values.into_iter().collect();
        assert_eq!(values.len(), self.columns.len(), "a row of {} has a value for each column", self.name);
        self.rows.push(values);
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Value::Count(count)
    }
}

impl From<f64> for Value {
    /// Converts a number; one that is not finite becomes [`Value::None`].
    fn from(number: f64) -> Self {
        if number.is_finite() { Value::Number(number) } else { Value::None }
    }
}

impl From<(f64, f64)> for Value {
    fn from((low, high): (f64, f64)) -> Self {
        Value::Interval(low, high)
    }
}

impl<V: Into<Value>> From<Option<V>> for Value {
    fn from(value: Option<V>) -> Self {
        value.map_or(Value::None, Into::into)
    }
}

//! Pieces for pages that other crates make: the writer that escapes, the style, pictures and tables.

pub use crate::charts::{similarities, sizes};
pub use crate::html::{Attributes, Html, counted, percent, thousands};
pub use crate::samples::{marks, side};
pub use crate::tables::{Head, counts, number, row, size, table};

/// The style of all pages, light and dark.
pub const STYLE: &str = include_str!("style.css");

//! `overlap`: the addresses that both corpora of `urls` have.

use lookalike_corpus::write::rows::{Column, Kind};
use serde::Serialize;

use crate::Table;

/// The columns of the table, in their order.
pub const COLUMNS: &[Column] = &[
    Column::new("url", Kind::Text).described("The address."),
    Column::new("left", Kind::ListOfText).described("The ids of its documents on the left side."),
    Column::new("right", Kind::ListOfText).described("The ids of its documents on the right side."),
    Column::new("similarity", Kind::OptionalF64)
        .described("The similarity of the first document of each side, where it was measured."),
    Column::new("left_more", Kind::OptionalU64)
        .described("The number of further documents on the left side, which are not listed.")
        .omit_if_none(),
    Column::new("right_more", Kind::OptionalU64)
        .described("The number of further documents on the right side, which are not listed.")
        .omit_if_none(),
];

/// The table.
pub const TABLE: Table = Table { name: "overlap", row: "An address that both sides have.", columns: COLUMNS };

/// A row of the table, which is written as JSON lines alone: its last two columns are left out where they are 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OverlapRow<'a> {
    /// The address.
    pub url: &'a str,
    /// The ids of its documents on the left side.
    pub left: &'a [String],
    /// The ids of its documents on the right side.
    pub right: &'a [String],
    /// The similarity of the first document of each side, where it was measured.
    pub similarity: Option<f64>,
    /// The number of further documents on the left side, which are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_more: u64,
    /// The number of further documents on the right side, which are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub right_more: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

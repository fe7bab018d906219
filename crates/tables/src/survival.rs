//! `survival` of the command `urls`, as text with tabs: left addresses that the right side has.

use lookalike_corpus::write::rows::{Column, Kind};

use crate::Table;

/// The table.
pub const TABLE: Table = Table {
    name: "survival",
    row: "Left addresses with paths of one depth, or under one name.",
    columns: &[
        Column::new("kind", Kind::Text)
            .described("The kind of row: `depth`, `host`, `domain`, `suffix` or `tld`."),
        Column::new("name", Kind::Text).described("The depth of the path, or the name."),
        Column::new("urls", Kind::U64).described("Left addresses."),
        Column::new("found", Kind::U64).described("Those that the right side has."),
        Column::new("found_share", Kind::OptionalF64).described("Their share."),
        Column::new("found_low", Kind::OptionalF64).described("The lower end of its interval."),
        Column::new("found_high", Kind::OptionalF64).described("The upper end of its interval."),
        Column::new("measured", Kind::U64)
            .described("Shared addresses whose documents on both sides were measured."),
        Column::new("near", Kind::U64).described("Those whose documents are near-duplicates."),
        Column::new("near_share", Kind::OptionalF64).described("Their share of the measured ones."),
        Column::new("near_low", Kind::OptionalF64).described("The lower end of its interval."),
        Column::new("near_high", Kind::OptionalF64).described("The upper end of its interval."),
    ],
};

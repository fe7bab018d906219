//! `snapshots` of the command `urls`, as text with tabs and as JSON lines: the fate of left pages from snapshot to snapshot.

use lookalike_corpus::write::rows::{Column, Kind};

use crate::Table;

/// The number of columns that rows of single top-level domains have values in; the rest is about a snapshot as a whole.
pub const COLUMNS_BY_DOMAIN: usize = 13;

/// The table.
pub const TABLE: Table = Table {
    name: "snapshots",
    row: "A snapshot, for all left addresses or for those of one top-level domain.",
    columns: &[
        Column::new("tld", Kind::Text).described("The top-level domain; `*` for all, `null` in JSON."),
        Column::new("snapshot", Kind::U64).described("The number of the snapshot, from 1."),
        Column::new("name", Kind::Text).described("Its name."),
        Column::new("left_urls", Kind::U64).described("Left addresses."),
        Column::new("still", Kind::U64).described("Those that are in the snapshot."),
        Column::new("still_share", Kind::OptionalF64).described("Their share."),
        Column::new("still_low", Kind::OptionalF64).described("The lower end of its interval."),
        Column::new("still_high", Kind::OptionalF64).described("The upper end of its interval."),
        Column::new("measured", Kind::U64)
            .described("Left addresses in the snapshot whose documents on both sides have words."),
        Column::new("unchanged", Kind::U64).described("Those with equal words."),
        Column::new("unchanged_share", Kind::OptionalF64).described("Their share of the measured ones."),
        Column::new("near", Kind::U64).described("Those that are near-duplicates."),
        Column::new("near_share", Kind::OptionalF64).described("Their share of the measured ones."),
        Column::new("urls", Kind::U64).described("Different addresses of the snapshot."),
        Column::new("always", Kind::U64)
            .described("Left addresses that are in this snapshot and all before it."),
        Column::new("always_share", Kind::OptionalF64).described("Their share."),
        Column::new("new", Kind::U64).described("Addresses that were nowhere before."),
        Column::new("mean_similarity", Kind::OptionalF64)
            .described("The mean similarity of measured pages to the left ones."),
        Column::new("shingles_there", Kind::OptionalF64).described(
            "The mean share of a left page's shingles that its version has, over pages that are there.",
        ),
        Column::new("shingles_all", Kind::OptionalF64)
            .described("The same over all pages, with 0 for those that are gone."),
        Column::new("kept", Kind::U64).described("Addresses of the snapshot before that are in this one."),
        Column::new("kept_share", Kind::OptionalF64).described("Their share."),
        Column::new("measured_since", Kind::U64).described(
            "Left addresses in this snapshot and the one before it whose documents in both have words.",
        ),
        Column::new("unchanged_since", Kind::U64).described("Those with equal words in both."),
        Column::new("unchanged_since_share", Kind::OptionalF64).described("Their share."),
        Column::new("near_since", Kind::U64).described("Those that are near-duplicates."),
        Column::new("near_since_share", Kind::OptionalF64).described("Their share."),
        Column::new("mean_similarity_since", Kind::OptionalF64)
            .described("The mean similarity of their documents in both."),
    ],
};

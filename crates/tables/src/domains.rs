//! `domains` and `tlds` of the command `urls`, as text with tabs: counts by hosts and by names that hosts have in common.

use lookalike_corpus::write::rows::{Column, Kind};

use crate::Table;

/// The columns of both tables. `domains` has no judgments, nor has `tlds` of a run without judgments.
const COLUMNS: &[Column] = &[
    Column::new("kind", Kind::Text).described(
        "The kind of name: `host` or `domain` (registered domain) in `domains`, `suffix` (public suffix) or `tld` in `tlds`.",
    ),
    Column::new("name", Kind::Text).described("The name, or `(no host)`."),
    Column::new("shared_urls", Kind::U64).described("Addresses under the name that both sides have."),
    Column::new("shared_urls_share", Kind::OptionalF64).described("Their share of all shared addresses."),
    Column::new("shared_documents", Kind::U64).described("Left documents with such an address."),
    Column::new("shared_documents_share", Kind::OptionalF64)
        .described("Their share of all left documents with a shared address."),
    Column::new("left_documents", Kind::U64).described("Left documents with an address under the name."),
    Column::new("left_documents_share", Kind::OptionalF64)
        .described("Their share of all left documents with an address."),
    Column::new("right_documents", Kind::U64).described("Right documents with an address under the name."),
    Column::new("right_documents_share", Kind::OptionalF64)
        .described("Their share of all right documents with an address."),
    Column::new("judged", Kind::U64)
        .described("Left documents under the name that were judged. In runs with `--judgments`."),
    Column::new("judged_share", Kind::OptionalF64).described("Their share of all judged documents."),
    Column::new("judged_shared", Kind::U64)
        .described("Judged documents under the name with a shared address."),
    Column::new("judged_shared_share", Kind::OptionalF64)
        .described("Their share of all judged documents with a shared address."),
];

/// The number of columns before those of judgments.
const WITHOUT_JUDGMENTS: usize = 10;

/// The table `domains`.
pub const TABLE: Table = Table {
    name: "domains",
    row: "A host or a registered domain.",
    columns: COLUMNS.split_at(WITHOUT_JUDGMENTS).0,
};

/// The table `tlds` of a run with judgments.
pub const TLDS_TABLE: Table =
    Table { name: "tlds", row: "A public suffix or a top-level domain.", columns: COLUMNS };

/// The table `tlds` of a run without judgments.
pub const TLDS_TABLE_WITHOUT_JUDGMENTS: Table = Table { columns: TABLE.columns, ..TLDS_TABLE };

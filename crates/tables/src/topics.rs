//! `topics` of the command `transfer`, as text with tabs: judgments by topic, before and after.

use lookalike_corpus::write::rows::{Column, Kind};

use crate::Table;

/// The table.
pub const TABLE: Table = Table {
    name: "topics",
    row: "A topic of a file of judgments.",
    columns: &[
        Column::new("track", Kind::Text).described("The file of judgments."),
        Column::new("topic", Kind::Text).described("The topic."),
        Column::new("judged_before", Kind::U64).described("Judgments of the old corpus."),
        Column::new("judged_after", Kind::U64).described("Judgments of the new corpus."),
        Column::new("relevant_before", Kind::U64)
            .described("Judgments of the old corpus that say relevant."),
        Column::new("relevant_after", Kind::U64).described("Judgments of the new corpus that say relevant."),
        Column::new("lost", Kind::Text)
            .described("The loss of the last relevant document: `yes` for a topic that had one and has none any more, else `no`."),
    ],
};

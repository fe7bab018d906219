//! `groups` of the command `pairs`: sets of documents with so many pairs that these are not in the table of pairs.

use lookalike_corpus::write::rows::Column;
use serde::Deserialize;

use crate::Table;

table! {
    /// A set of documents whose pairs are too many to be written one by one.
    pub struct GroupRow in "groups", read as GroupLine {
        /// The number of documents.
        documents: U64,
        /// The number of pairs that are not in the table of pairs.
        pairs: U64,
        /// True for documents with equal words; false for those that share a key, or two sets of equal documents that are near-duplicates.
        equal: Bool,
        /// The ids of the documents.
        members: ListOfText,
        /// Their numbers, in the same order.
        members_n: ListOfU64,
    }
}

const SPARK_COLUMNS: &[Column] = &[COLUMNS[0], COLUMNS[3]];

/// The table as a Spark job writes it, for one corpus or for two: the number of documents and their ids.
pub const SPARK_TABLE: Table = Table { columns: SPARK_COLUMNS, ..TABLE };

/// The number of pairs in a line of `groups.jsonl`, read without its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct GroupPairs {
    /// The number of pairs that are not in the table of pairs.
    pub pairs: u64,
}

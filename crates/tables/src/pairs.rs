//! `pairs` of the command `pairs`: near-duplicates inside a corpus, by the numbers of both documents.

use std::borrow::Cow;

use serde::Deserialize;

table! {
    /// A pair of near-duplicates.
    pub struct PairRow in "pairs", read as PairLine {
        /// The id of the earlier document.
        a: Text,
        /// The id of the later document.
        b: Text,
        /// The similarity of `a` to `b`, where there is a number.
        similarity: OptionalF64,
        /// The similarity of `b` to `a`, for measures that depend on the direction.
        reverse: OptionalF64 omit_if_none,
    }
}

/// The ids and the similarity of a line of `pairs.jsonl`, borrowed from the line where it has no escapes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PairRef<'l> {
    /// The id of the earlier document.
    #[serde(borrow)]
    pub a: Cow<'l, str>,
    /// The id of the later document.
    #[serde(borrow)]
    pub b: Cow<'l, str>,
    /// The similarity of `a` to `b`, where there is a number.
    pub similarity: Option<f64>,
}

//! `removed`: the documents that `dedup` removes, in the order of the input.

use serde::Deserialize;
use serde::de::IgnoredAny;

table! {
    /// A removed document, with the kept one that it is a near-duplicate of.
    pub struct RemovedRow in "removed", read as RemovedLine {
        /// The id of the removed document.
        id: Text,
        /// The id of its witness: the kept document that it was measured against.
        witness: Text,
        /// The similarity of both, where there is a number.
        similarity: OptionalF64,
        /// The number of the cluster, which is that of its kept document.
        cluster: U64,
        /// The number of the removed document: its place in the input from 0, or in the order of `--order-field`; rejected records count.
        n: U64,
        /// The number of the witness, in the corpus or index that it is in.
        witness_n: U64,
        /// The id of the document that ties it to its witness, with `--cluster components`.
        via: OptionalText omit_if_none,
        /// The place of a witness outside the input: `other` for the other corpus, `index` for the index.
        against: OptionalText omit_if_none,
    }
}

/// The numbers of a line of `removed.jsonl`, read without its ids.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RemovedNumbers {
    /// The similarity to the witness, where there is a number.
    pub similarity: Option<f64>,
    /// The number of the removed document.
    pub n: u64,
    /// The number of the witness.
    pub witness_n: u64,
    /// Present when the witness is outside the input.
    #[serde(default)]
    pub against: Option<IgnoredAny>,
}

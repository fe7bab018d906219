//! `rejected`: the records that a job could not read, in the order of the input.

table! {
    /// A rejected record.
    pub struct RejectedRow in "rejected", read as RejectedLine {
        /// The name of the shard.
        source: Text,
        /// The place in the shard: a byte of its uncompressed form, or a row of a columnar file.
        position: U64,
        /// The reason why it could not be read.
        reason: Text,
        /// The corpus, where there are two: `left` and `right` of a comparison, `other` for that of `--against`.
        side: OptionalText omit_if_none,
        /// The id, where the record has one.
        id: OptionalText omit_if_none,
    }
}

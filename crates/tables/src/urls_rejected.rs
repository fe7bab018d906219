//! `rejected` of the command `urls`: the records of all corpora that could not be read.

table! {
    /// A rejected record.
    pub struct UrlsRejectedRow in "rejected", read as UrlsRejectedLine {
        /// The corpus: `left`, `right`, or with several snapshots `right 1` and so on.
        side: Text,
        /// The name of the shard.
        source: Text,
        /// The place in the shard: a byte of its uncompressed form, or a row of a columnar file.
        position: U64,
        /// The reason why it could not be read.
        reason: Text,
    }
}

//! The file of `corpus stats --rejected` and its relatives: the records of an input that could not be read.

table! {
    /// A rejected record.
    pub struct StatsRejectedRow in "rejected", read as StatsRejectedLine {
        /// The name of the shard.
        source: Text,
        /// The place in the shard.
        position: U64,
        /// The unit of the place: `byte` of the uncompressed shard, or `row` of a columnar file.
        unit: Text,
        /// The reason why it could not be read.
        reason: Text,
        /// The id, where the record has one.
        id: OptionalText omit_if_none,
    }
}

//! `pairs` of the command `compare`: every pair between two corpora that a method accepts, by left document and then by right document.
//!
//! A run with one method has no column `methods`: [`Table::without_last`](crate::Table::without_last).

table! {
    /// A left document and a right one that a method accepts as its near-duplicate.
    pub struct ComparedRow in "pairs", read as ComparedLine {
        /// The id of the left document.
        a: Text,
        /// The id of the right document.
        b: Text,
        /// The similarity of `a` to `b`, where there is a number.
        similarity: OptionalF64,
        /// The similarity of `b` to `a`, for measures that depend on the direction.
        reverse: OptionalF64 omit_if_none,
        /// True if the similarity reaches the threshold.
        near: Bool,
        /// The segment of the right side that `b` is in, if there are several segments.
        segment: OptionalText omit_if_none,
        /// The methods that accept the pair. Only in runs with several methods.
        methods: ListOfText,
    }
}

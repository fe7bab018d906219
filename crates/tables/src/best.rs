//! `best` of the command `compare`: the best match of each left document that has a pair.
//!
//! A run with one method has no column `methods`: [`Table::without_last`](crate::Table::without_last).

table! {
    /// A left document with the most similar of its right documents, the first of equally similar ones.
    pub struct BestRow in "best", read as BestLine {
        /// The id of the left document.
        a: Text,
        /// The id of the right document.
        b: Text,
        /// The similarity of `a` to `b`, where there is a number.
        similarity: OptionalF64,
        /// True if the similarity reaches the threshold.
        near: Bool,
        /// The number of pairs that the left document has.
        pairs: U64,
        /// The segment of the right side that `b` is in, if there are several segments.
        segment: OptionalText omit_if_none,
        /// The methods that accept the pair. Only in runs with several methods.
        methods: ListOfText,
    }
}

//! `groups` of the command `compare`: sets of documents with so many pairs between the two sides that these are not in the table of pairs.

table! {
    /// Left and right documents whose pairs are too many to be written one by one.
    pub struct ComparedGroupRow in "groups", read as ComparedGroupLine {
        /// The number of pairs between the two sides.
        pairs: U64,
        /// True for documents with equal words.
        equal: Bool,
        /// True if each left document has one of the pairs in `pairs`; false if the documents share a key and no pair was proposed.
        measured: Bool,
        /// The ids of the left documents.
        left: ListOfText,
        /// The ids of the right documents.
        right: ListOfText,
    }
}

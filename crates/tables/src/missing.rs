//! `missing`: judged documents that the old corpus of a `transfer` does not have.

table! {
    /// A judged document that the old corpus does not have.
    pub struct MissingRow in "missing", read as MissingLine {
        /// The id of the document.
        document: Text,
        /// The number of its judgments.
        judgments: U64,
        /// The files of judgments that name it.
        tracks: ListOfText,
    }
}

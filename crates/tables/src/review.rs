//! `review`: a sample of pairs for people to judge with `lab review`, whose verdicts go to `labels.jsonl`.
//!
//! Its numbers are written in full, not rounded to 9 decimals as those of other tables.

use serde::Serialize;

table! {
    /// A pair for a person to look at.
    #[derive(Serialize)]
    pub struct ReviewRow in "review", read as ReviewLine {
        /// The number of the pair, by which labels name it.
        n: U64,
        /// The id of the first document.
        a: Text,
        /// The id of the second document.
        b: Text,
        /// The similarity of both, where it was measured.
        similarity: OptionalF64,
        /// The methods that found the pair.
        methods: ListOfText,
        /// The text of the first document.
        text_a: Text,
        /// The text of the second document.
        text_b: Text,
    }
}

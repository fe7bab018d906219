//! Text: from a document's bytes to words, sentences and shingle hashes.
//!
//! - [`extract`]: charset, HTML, e-mail and wiki markup become plain text

pub mod extract;

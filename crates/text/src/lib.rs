//! Text: from a document's bytes to words, sentences and shingle hashes.
//!
//! First [`extract`] makes plain text out of pages, messages and markup. Then an [`Analyser`] reads the text by
//! a [`Profile`] into [`Features`]: normal form, lower case, words with their hashes, sentences. Every word
//! leads back to the bytes it was made from, and nothing is allocated per document once buffers have grown.
//!
//! ```
//! use lookalike_text::{Analyser, Features, Profile};
//!
//! let mut analyser = Analyser::new(&Profile::web());
//! let mut features = Features::default();
//! analyser.read("Größe: 東京都", &mut features);
//! assert_eq!(features.words().collect::<Vec<_>>(), ["größe", "東京", "京都"]);
//! let mut shingles = Vec::new();
//! features.shingles(2, &mut shingles);
//! assert_eq!(shingles.len(), 2);
//! ```
//!
//! - [`extract`]: charset, HTML, e-mail and wiki markup become plain text
//! - [`profile`]: named recipes from text to words
//! - [`features`]: words, their hashes, sentences
//! - [`script`]: which script a text is written in
//! - [`stop`]: function words, a short list per language
//! - `scan`, `blocks`, `normal`, `runs`, `sentences`, `class`: the steps in between

mod blocks;
mod class;
pub mod extract;
pub mod features;
mod normal;
pub mod profile;
mod runs;
mod scan;
pub mod script;
mod sentences;
pub mod stop;

pub use features::{Analyser, Features, Filter};
pub use normal::{Form, NfkcGrowth, word_ends};
pub use profile::{Profile, ProfileError, Segmentation};
pub use runs::Alphabet;

//! All crates of lookalike by short names, and the modules that combine them.
//!
//! A [`corpus`] hands out documents, [`text`] makes words of them; [`walk`] leads every document of a corpus
//! through both. [`methods`] turn words into keys, the [`engine`] groups, measures and decides, and in the
//! end [`report`] shows a person what was found.
//!
//! ```
//! use lookalike::corpus::{Corpus, ReadOptions};
//! use lookalike::text::{Analyser, Features, Profile, extract::ContentMode};
//! use lookalike::walk::{self, WalkItem, Watch};
//!
//! let page = br#"{"id":"a","html":"<p>One <b>rose</b> &amp; two"}"#;
//! let corpus = Corpus::in_memory("pages.jsonl", page.as_slice().into(), ReadOptions::default());
//! let mut analyser = Analyser::new(&Profile::web());
//! let mut features = Features::default();
//! walk::documents(&corpus.shards()[0], corpus.options(), ContentMode::Page, &Watch::default(), |found| {
//!     if let WalkItem::Document { text, .. } = found {
//!         analyser.read(text, &mut features);
//!     }
//!     Ok(())
//! })?;
//! assert_eq!(features.words().collect::<Vec<_>>(), ["one", "rose", "two"]);
//! # Ok::<(), lookalike::walk::WalkError>(())
//! ```
//!
//! - [`model`]: the types that all crates share
//! - [`corpus`]: files become documents, and documents files
//! - [`hash`]: the hash functions of words and files
//! - [`text`]: documents become words, sentences and shingle hashes
//! - [`methods`]: words become keys, and a rule that accepts pairs
//! - [`engine`]: documents become verified pairs and clusters, out of core and kill-safe
//! - [`store`]: run files, external sorting, and what keeps them through a loss of power
//! - [`tables`]: the columns and rows of all tables that commands write
//! - [`index`]: documents on disk, found by what they are like
//! - [`report`]: two documents word by word, and a run on one page
//! - [`judgments`]: relevance judgments and runs, and what near-duplicates do to them
//! - [`generate`]: corpora with a known truth
//! - [`walk`]: every document of a corpus, on any number of threads
//! - [`selected`]: some documents of a corpus, by their names
//! - [`request`]: options become recipes
//! - [`presets`]: the settings of published pipelines
//! - [`method_info`]: methods, for people and programs
//! - [`incremental`]: today's documents against everything before
//! - [`page`]: what the engine found becomes a report

pub use lookalike_corpus as corpus;
pub use lookalike_engine as engine;
pub use lookalike_engine::walk;
pub use lookalike_generate as generate;
pub use lookalike_hash as hash;
pub use lookalike_index as index;
pub use lookalike_judgments as judgments;
pub use lookalike_methods as methods;
pub use lookalike_model as model;
pub use lookalike_report as report;
pub use lookalike_store as store;
pub use lookalike_tables as tables;
pub use lookalike_text as text;
pub mod incremental;
pub mod method_info;
pub mod page;
pub mod presets;
pub mod request;
pub mod selected;

/// The README's snippets compile, or the tests fail.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

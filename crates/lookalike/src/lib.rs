//! Near-duplicates among texts, and all libraries of lookalike by short names.
//!
//! A program that has texts in memory finds the near-duplicates among them by [`dedup`], which keeps one of each, and [`pairs`], which
//! lists all pairs; [`compare`] finds those between two lists:
//!
//! ```
//! let texts = [
//!     "The quick brown fox jumps over the lazy dog, and then it sleeps.",
//!     "A page about something else, with words of its own.",
//!     "The quick brown fox jumps over the lazy dog. And then it sleeps!",
//! ];
//! let found = lookalike::dedup(texts)?;
//! let kept: Vec<&str> = found.kept.iter().map(|&position| texts[position]).collect();
//! assert_eq!(kept, texts[..2]);
//! for removed in &found.removed {
//!     println!("{} is {} at {}", removed.position, removed.witness, removed.similarity);
//! }
//! # Ok::<(), lookalike::Error>(())
//! ```
//!
//! [`Options`] have the method, the threshold, the measure, and the threads and memory to work with:
//!
//! ```
//! use lookalike::{Options, Similarity};
//!
//! let texts = ["one two three four", "zero one two three four five", "six"];
//! let options = Options::new().method("exact").similarity(Similarity::Containment).shingle(1).threshold(0.9);
//! let pairs = options.threads(2).memory(1 << 30).pairs(texts)?.pairs;
//! assert_eq!((pairs[0].a, pairs[0].b, pairs[0].similarity), (0, 1, 1.0));
//! # Ok::<(), lookalike::Error>(())
//! ```
//!
//! An [`Index`] is a folder that remembers texts, "have I seen this?":
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let index = lookalike::Index::create(folder.path().join("seen"))?;
//! for (id, page) in [("1", "a page of many words"), ("2", "another one"), ("3", "A page of many words!")] {
//!     if let Some(earlier) = index.nearest(page)? {
//!         assert_eq!((id, earlier.id.as_str(), earlier.similarity), ("3", "1", Some(1.0)));
//!     } else {
//!         assert!(index.add(id, page)?.is_new());
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All of them run the engine of the command line, so that its promises hold: pairs count when they are measured, every removed text has
//! a kept witness, nothing is lost in silence, and results do not depend on threads or memory. [`Options::dedup_files`] is the job of
//! the command line on files of any size. The folder `examples` of this crate has a program for each, for two corpora, and for a method of
//! one's own.
//!
//! # The libraries
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
//! - [`runs`]: jobs from their beginning to their rows
//! - [`request`]: options become recipes
//! - [`presets`]: the settings of published pipelines
//! - [`method_info`]: methods, for people and programs
//! - [`incremental`]: today's documents against everything before
//! - [`page`]: what the engine found becomes a report
//!
//! Commands that stand on this crate are crates of their own, whose functions take what this one hands out: `lookalike-transfer` (the tables
//! and counts of `compare`, and `transfer`), `lookalike-urls` (`urls`), `lookalike-lab` (`lab`), `lookalike-service` (`serve`). Beside it,
//! and without need of it: `lookalike-overlap` (addresses and counts that two corpora share), `lookalike-census` and
//! `lookalike-live-census` with `lookalike-search-engines` (`census`).

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

mod error;
mod in_memory;
pub mod incremental;
pub mod method_info;
mod options;
pub mod page;
pub mod presets;
pub mod request;
pub mod runs;
pub mod selected;
mod text_index;
mod texts;

pub use engine::recipe::Keep;
pub use error::Error;
pub use in_memory::{
    ComparedPair, Comparison, Dedup, LargeComparedGroup, LargeGroup, RejectedText, RemovedText, SimilarPair,
    SimilarPairs, compare, dedup, pairs,
};
pub use index::{Answer, Match};
pub use model::Similarity;
pub use options::Options;
pub use text_index::{AddOutcome, Index, Witness};

/// The README's snippets compile, or the tests fail.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The snippets of the guide's chapter about Rust compile, or the tests fail.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct RustChapter;

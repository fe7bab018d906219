//! A make-believe web whose near-duplicates are known exactly.
//!
//! To say how many near-duplicates a method finds, one must know how many there are. This crate writes a corpus
//! of web pages in nine languages and seven genres, plants copies in it in thirteen ways, and tells for every
//! planted pair how many word 5-grams the two pages share. A [`Plan`] is a size and a seed; each document is
//! made from its number alone, so ten million of them need no more memory than ten, and the same plan gives the
//! same bytes everywhere.
//!
//! ```
//! use lookalike_generate::{Plan, write_jsonl};
//!
//! let plan = Plan { documents: 200, seed: 1 };
//! let first = plan.documents().next().map(|document| document.id.to_owned());
//! assert_eq!(first.as_deref(), Some("page-00000000"));
//!
//! let (mut documents, mut truth) = (Vec::new(), Vec::new());
//! let written = write_jsonl(plan, &mut documents, &mut truth)?;
//! assert_eq!(written.documents, 200);
//! assert_eq!(plan.truth().count() as u64, written.pairs);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! - [`plan`]: how many documents from which seed, and the documents themselves
//! - [`truth`]: groups of related documents and the exact similarity of planted pairs
//! - [`jsonl`]: both as files of JSON lines, field by field
//! - [`crawls`]: two crawls of one web, years apart, with judged pages
//! - [`kind`]: how copies differ from originals
//! - [`language`]: one real and eight invented languages
//! - `families`, `permutation`: who is related to whom and who stands where, by arithmetic
//! - `composer`: original, edit and frame make a page
//! - `writer`, `frame`, `edits`: articles, what sites put around them, and what copying does to them
//! - `genres`, `vocabulary`, `pattern`, `phrasebook`: what English pages say
//! - `sounds`, `zipf`, `coin`, `lexicon`: words, invented and real
//! - `prose`, `render`: words before they have a form, and the forms
//! - `grams`: what profile `web` sees of a page
//! - `random`: chance from a seed

mod coin;
mod composer;
pub mod crawls;
mod edits;
mod families;
mod frame;
mod genres;
mod grams;
pub mod jsonl;
pub mod kind;
pub mod language;
mod lexicon;
mod pattern;
mod permutation;
mod phrasebook;
pub mod plan;
mod prose;
mod random;
mod render;
mod sounds;
pub mod truth;
mod vocabulary;
mod writer;
mod zipf;

pub use jsonl::{WrittenCounts, write_jsonl};
pub use kind::Kind;
pub use language::Language;
pub use plan::{Documents, GeneratedDocument, Plan, document_id, sample};
pub use truth::{ALL_PAIRS, Groups, PlantedPair, Truth, TruthGroup, TruthLine};

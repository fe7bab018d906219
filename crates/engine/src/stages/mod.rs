//! The stages of a job, in the order in which they run. A module has the name that its stage has in `run.json` and in the progress.
//!
//! - [`lexicon`]: the words of the corpus, counted for methods that ask
//! - `survey`: other facts about the whole corpus that methods must know
//! - `sketch`: rows, names, payloads, sorted keys and symbols of every document
//! - `order`: documents are numbered anew, by a field, where that is asked for
//! - `collapse`: documents with equal words become one
//! - `group`: documents that share keys become pairs
//! - `verify`: pairs are measured, bucket by bucket, and every document is decided
//! - `write`: files for people and programs
//! - `report`: texts of examples, read again for the report

// Sorted by name, as rustfmt does; the order in which stages run is in `OpenJob::stages`.
pub(crate) mod collapse;
pub(crate) mod group;
pub mod lexicon;
pub(crate) mod order;
pub(crate) mod report;
pub(crate) mod sketch;
pub(crate) mod survey;
pub(crate) mod verify;
pub(crate) mod write;

//! Relevance judgments and runs of retrieval experiments, and what near-duplicates do to them.
//!
//! Judgments come in several layouts, which are told apart by their lines. A line is carried as it stands, so that it can be
//! written back with another document in it and with every other column, and every blank, where it was. Grades are never
//! changed: what `2` or `0.-1` means is the track's affair, and [`Grade`] only says whether it counts as relevant.
//!
//! ```
//! use lookalike_judgments::{DuplicateTreatment, Groups, Judgments, KeepRule, dedup};
//!
//! let lines = "51 0 page-1 2\n51 0 page-2 1\n52 0 page-2 0\n";
//! let judgments = Judgments::read("qrels.web.51-100.txt", lines.as_bytes(), None)?;
//! assert_eq!((judgments.track.as_str(), judgments.lines.len()), ("qrels.web.51-100", 3));
//! assert!(judgments.lines[0].grade().is_relevant());
//! assert_eq!(judgments.lines[0].for_document("page-9")?.text(), "51 0 page-9 2");
//!
//! // The two pages are near-duplicates: topic 51 needs only one of them.
//! let groups = Groups::of([["page-1", "page-2"]]);
//! let result = dedup::judgments(&judgments, &groups, KeepRule::First, DuplicateTreatment::Remove);
//! assert_eq!(result.text(), "51 0 page-1 2\n52 0 page-2 0\n");
//! assert!(result.dropped[0].conflicts());
//! # Ok::<(), lookalike_judgments::ListError>(())
//! ```
//!
//! - [`layout`]: which column holds what, and how a file tells
//! - [`grade`]: labels, and whether they say relevant
//! - [`judgments`]: files of judgments
//! - [`tally`]: what is in them, counted
//! - [`run`]: files of ranked documents
//! - [`groups`]: which documents are near-duplicates of each other
//! - [`mod@dedup`]: judgments and runs with one document of each group
//! - [`error`]: what is wrong with a line, and where it stands
//! - `columns`, `numbered_lines`: lines and the words in them

mod columns;
pub mod dedup;
pub mod error;
pub mod grade;
pub mod groups;
pub mod judgments;
pub mod layout;
mod numbered_lines;
pub mod run;
pub mod tally;

pub use dedup::{Deduplicated, Dropped, DuplicateTreatment, KeepRule};
pub use error::{LineError, ListError};
pub use grade::Grade;
pub use groups::{GroupBuilder, Groups};
pub use judgments::{JudgedDocument, Judgment, Judgments, Line, Reader, judged_documents, track_of};
pub use layout::Layout;
pub use run::{Run, RunLine};
pub use tally::Tally;

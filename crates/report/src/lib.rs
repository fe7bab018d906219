//! Views for people: two documents compared word by word, and a whole run on one page.
//!
//! [`compare`] compares two documents and names the kind of difference in one word ([`Kind`]). A [`Report`] is plain data filled in
//! by the caller; [`render`] turns it into one self-contained HTML page. Nothing here opens files or reads the clock: equal reports
//! give equal pages.
//!
//! ```
//! use lookalike_report::{Kind, Side, View, compare};
//! use lookalike_hash::Secret;
//! use lookalike_text::{Analyser, Features, Profile};
//!
//! let (old, new) = ("Open until 3 May 2019.", "Open until 7 June 2020.");
//! let mut analyser = Analyser::with_secret(&Profile::web(), Secret::of_process());
//! let (mut a, mut b) = (Features::default(), Features::default());
//! analyser.read(old, &mut a);
//! analyser.read(new, &mut b);
//! let comparison = compare(&Side::new(old, &a), &Side::new(new, &b), &View::default());
//! assert_eq!(comparison.kind, Kind::Numbers);
//! assert_eq!((comparison.shared, comparison.removed, comparison.added), (2, 3, 3));
//! ```
//!
//! - [`diff`]: the words that two documents share, in their original spelling
//! - [`kind`]: the kinds of difference, and the rule for each
//! - [`overlap`]: the overlap of two documents, in shingles and in characters
//! - [`data`]: the data of a report
//! - [`study`]: the results of an experiment
//! - `page`, `samples`, `charts`, `tables`, `html`: the page, its pairs, pictures and tables, and the writer that
//!   escapes
//! - `study_page`, `study_text`, `plots`, `numbers`, `svg`: studies as a page and for a terminal, their pictures and
//!   figures
//! - `review_page`: one pair at a time, for a person who judges
//! - [`parts`]: the writer, pictures and tables, for pages that others make
//! - `addresses`, `calendar`: words that belong to addresses, words that belong to dates
//!
//! See a page with `cargo run -p lookalike-report --example report -- report.html`.

mod addresses;
mod calendar;
mod charts;
pub mod data;
pub mod diff;
mod html;
pub mod kind;
mod numbers;
pub mod overlap;
mod page;
pub mod parts;
mod plots;
mod review_page;
mod samples;
pub mod study;
mod study_page;
mod study_text;
mod svg;
mod tables;

pub use data::{Bin, Counts, Measure, PairSample, PairSide, Report, SizeBin};
pub use diff::{Change, Comparison, Segment, Side, TextSpans, View, compare};
pub use html::thousands;
pub use kind::Kind;
pub use overlap::{Overlap, edit_similarity};
pub use page::render;
pub use review_page::{Review, ReviewProgress, review_page};
pub use study::Study;
pub use study_page::study_page;
pub use study_text::study_text;

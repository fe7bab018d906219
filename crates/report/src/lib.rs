//! What a person looks at: two documents word by word, and a whole run on one page.
//!
//! [`compare`] lays two documents side by side and says in one word how they differ ([`Kind`]). A [`Report`] is
//! plain data that whoever ran the work fills in; [`render`] makes one HTML page of it that needs nothing but
//! itself. Nothing here opens files or knows the time: equal reports give equal pages.
//!
//! ```
//! use lookalike_report::{Kind, Side, View, compare};
//! use lookalike_text::hash::Secret;
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
//! - [`diff`]: what two documents share, in the spelling of their authors
//! - [`kind`]: the kinds of difference, and the rule for each
//! - [`overlap`]: how much two documents share, in shingles and in characters
//! - [`data`]: everything a report says
//! - [`study`]: what an experiment says
//! - `page`, `samples`, `charts`, `tables`, `html`: the page, its pairs, pictures and tables, and the writer that
//!   escapes
//! - `study_page`, `study_text`, `plots`, `numbers`, `svg`: studies as a page and for a terminal, their pictures and
//!   figures
//! - `review_page`: one pair at a time, for a person who judges
//! - [`parts`]: the writer, pictures and tables, for pages that others make
//! - `addresses`, `calendar`: words that belong to addresses, words that belong to dates

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

pub use data::{BigCluster, Bin, Counts, Measure, PairSample, Report, Section, SizeBin, Slice, Which};
pub use diff::{Change, Comparison, Places, Segment, Side, View, compare};
pub use html::thousands;
pub use kind::Kind;
pub use overlap::{Overlap, edit_similarity};
pub use page::render;
pub use review_page::{Review, Reviewed, review_page};
pub use study::Study;
pub use study_page::study_page;
pub use study_text::study_text;

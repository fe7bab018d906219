//! Two crawls of a make-believe web, years apart, of which some pages were judged: what a transfer of judgments should find
//! is known exactly.
//!
//! Between the crawls a page stays as it is, is edited, is rewritten, is gone, or has moved to another address. Some are
//! mirrored at other addresses, and of some there is a page that looks like them and is not: a distractor, near but below
//! [`NEAR`]. In the old crawl every 26th page is a twin, a near-duplicate of another old page, so that judgments
//! meet. Pages of different stories have less than half of their words in common.
//!
//! Everything follows from the number of a page's story and the seed. A test joins all pages with all: it finds the
//! near-duplicates of judged pages that the truth names, and no others.
//!
//! ```
//! use lookalike_generate::crawls::{CrawlItem, Crawls, NEAR};
//!
//! let crawls = Crawls { old: 50, new: 120, judged: 20, segments: 4, seed: 1 };
//! let (mut old, mut new, mut found) = (0, 0, 0);
//! crawls.visit(|item| {
//!     match item {
//!         CrawlItem::Old(_) => old += 1,
//!         CrawlItem::New { .. } => new += 1,
//!         CrawlItem::Judged(page) => found += u32::from(page.copies.iter().any(|copy| copy.jaccard >= NEAR)),
//!     }
//!     Ok::<(), ()>(())
//! })?;
//! assert_eq!((old, new), (50, 120));
//! assert!((5..20).contains(&found));
//! # Ok::<(), ()>(())
//! ```
//!
//! - `address`: hosts, domains and paths
//! - `fate`: what becomes of a page, and what else there is of it
//! - [`files`]: all of it as files
//! - `judging`: topics and grades
//! - `revise`: a page with some of its words changed, until it is as similar as it should be
//! - `story`: a page at both times, with everything that was made of it

mod address;
mod fate;
pub mod files;
mod judging;
mod revise;
mod story;

use std::sync::Arc;

use lookalike_model::Media;
use serde::{Deserialize, Serialize};

use crate::permutation::Permutation;
use crate::phrasebook::Phrasebook;
use crate::random::child;
pub use address::Spelling;
pub use fate::{CopyKind, Fate};
pub use judging::Judgment;
use story::{Story, StoryBuilder, Version};

/// From this share of common words on, two pages are near-duplicates.
pub const NEAR: f64 = 0.9;

/// One in this number of stories has a twin in the old crawl.
const TWINS: u64 = 25;

/// Two crawls. Equal plans give equal bytes, on any machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crawls {
    /// Documents of the old crawl.
    pub old: u64,
    /// Documents of the new one; more where more than that lives on.
    pub new: u64,
    /// Number of old documents that are judged; all, if they are fewer.
    pub judged: u64,
    /// Number of parts that the new crawl comes in; one at least.
    pub segments: u32,
    /// Another seed, other crawls.
    pub seed: u64,
}

/// A page of a crawl.
#[derive(Debug, Clone, Copy)]
pub struct CrawlPage<'c> {
    /// Its name.
    pub id: &'c str,
    /// Its address.
    pub url: &'c str,
    /// Plain text or HTML.
    pub media: Media,
    /// Its text or its markup.
    pub content: &'c str,
}

/// One item of two crawls, as [`Crawls::visit`] hands them out.
#[derive(Debug)]
pub enum CrawlItem<'c> {
    /// A page of the old crawl.
    Old(CrawlPage<'c>),
    /// A page of the new one.
    New {
        /// The segment that it is in, from 0.
        segment: u32,
        /// The page.
        page: CrawlPage<'c>,
    },
    /// The fate, judgments and copies of the old page before, which was judged.
    Judged(&'c JudgedPage),
}

/// A judged page and everything in the new crawl that was made of it, as it stands in `truth.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedPage {
    /// Its name in the old crawl.
    pub document: String,
    /// Its address then.
    pub url: String,
    /// Its fate.
    pub fate: Fate,
    /// Its judgments, by ascending topic.
    pub judgments: Vec<Judgment>,
    /// Its copies in the new crawl.
    pub copies: Vec<NewCopy>,
}

/// A page of the new crawl that was made of an old one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewCopy {
    /// Its name in the new crawl.
    pub document: String,
    /// Its address.
    pub url: String,
    /// The segment that it is in, from 0.
    pub segment: u32,
    /// Its relation to the old page.
    pub kind: CopyKind,
    /// The relation of its address to that of the old page.
    pub address: Spelling,
    /// Different words in both, as profile `web` reads them.
    pub intersection: u64,
    /// Different words in either.
    pub union: u64,
    /// `intersection` / `union`.
    pub jaccard: f64,
}

impl Crawls {
    /// Goes through both crawls in one order, which scatters pages of the old one among those that only the new one has.
    ///
    /// # Errors
    /// The error that `each` returns, at once.
    pub fn visit<E>(&self, mut each: impl FnMut(CrawlItem<'_>) -> Result<(), E>) -> Result<(), E> {
        let stories = self.stories();
        let fresh = self.new.saturating_sub(self.surviving_documents());
        let permutation = Permutation::new(self.old + fresh, child(self.seed, u64::MAX));
        let mut builder = StoryBuilder::new(Arc::new(Phrasebook::new()), *self);
        for position in 0..self.old + fresh {
            let slot = permutation.slot(position);
            if slot < self.old {
                let (number, member) = story_of(slot);
                let story = builder.build(number, self.has_twin(number));
                self.visit_old(slot, member, &story, &mut each)?;
                if member == 0 {
                    self.visit_copies(&story, &mut each)?;
                }
            } else {
                let version = builder.new_page(stories + slot - self.old);
                let (id, segment) = self.new_name(stories + slot - self.old, 0);
                each(CrawlItem::New { segment, page: version.page(&id) })?;
            }
        }
        Ok(())
    }

    /// Returns the number of documents in the new crawl.
    pub fn new_documents(&self) -> u64 {
        self.new.max(self.surviving_documents())
    }

    /// Documents of the new crawl that were made of old ones.
    fn surviving_documents(&self) -> u64 {
        (0..self.stories()).map(|number| fate::plan(self.key(number)).copies.len() as u64).sum()
    }

    /// Returns the number of stories in the old crawl: one for each page, except that twins share one.
    fn stories(&self) -> u64 {
        self.old.checked_sub(1).map_or(0, |last| story_of(last).0 + 1)
    }

    fn has_twin(&self, story: u64) -> bool {
        story % TWINS == TWINS - 1 && first_of(story) + 1 < self.old
    }

    /// Returns the key from which everything about a story is drawn.
    fn key(&self, story: u64) -> u64 {
        child(self.seed, story)
    }

    /// Name and segment of a page of the new crawl.
    fn new_name(&self, story: u64, copy: u64) -> (String, u32) {
        let draw = child(child(self.key(story), SEGMENT), copy);
        (format!("new-{story:08}-{copy}"), (draw % u64::from(self.segments.max(1))) as u32)
    }

    fn visit_old<E>(
        &self,
        slot: u64,
        member: usize,
        story: &Story,
        each: &mut impl FnMut(CrawlItem<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let id = old_name(slot);
        let version = &story.old[member];
        each(CrawlItem::Old(version.page(&id)))?;
        if slot >= self.judged {
            return Ok(());
        }
        let copies = story.copies.iter().enumerate();
        let page = JudgedPage {
            document: id,
            url: version.url.clone(),
            fate: if member == 0 { story.fate } else { Fate::Twin },
            judgments: judging::of(self, story.number, member),
            copies: copies
                .map(|(place, copy)| {
                    let (document, segment) = self.new_name(story.number, place as u64);
                    let (intersection, union) = version.shared(&copy.version);
                    NewCopy {
                        document,
                        url: copy.version.url.clone(),
                        segment,
                        kind: copy.kind,
                        address: if member == 0 { copy.spelling } else { Spelling::Other },
                        intersection,
                        union,
                        jaccard: intersection as f64 / union.max(1) as f64,
                    }
                })
                .collect(),
        };
        each(CrawlItem::Judged(&page))
    }

    fn visit_copies<E>(
        &self,
        story: &Story,
        each: &mut impl FnMut(CrawlItem<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for (place, copy) in story.copies.iter().enumerate() {
            let (id, segment) = self.new_name(story.number, place as u64);
            each(CrawlItem::New { segment, page: copy.version.page(&id) })?;
        }
        Ok(())
    }
}

/// Keys below that of a story.
const SEGMENT: u64 = u64::MAX - 16;

/// The name of an old document, counted from 0.
fn old_name(slot: u64) -> String {
    format!("old-{slot:08}")
}

/// The story that an old document tells, and whether it is its twin.
fn story_of(slot: u64) -> (u64, usize) {
    let (round, place) = (slot / (TWINS + 1), slot % (TWINS + 1));
    (round * TWINS + place.min(TWINS - 1), usize::from(place == TWINS))
}

/// The first old document that tells a story.
fn first_of(story: u64) -> u64 {
    story / TWINS * (TWINS + 1) + story % TWINS
}

impl Version {
    fn page<'c>(&'c self, id: &'c str) -> CrawlPage<'c> {
        CrawlPage { id, url: &self.url, media: self.media, content: &self.content }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_old_document_tells_a_story_and_some_are_twins() {
        let mut last = None;
        for slot in 0..200 {
            let (story, member) = story_of(slot);
            assert_eq!(first_of(story) + member as u64, slot);
            assert_eq!(
                Some(story),
                if member == 1 { last } else { last.map_or(Some(0), |last| Some(last + 1)) }
            );
            last = Some(story);
        }
        let crawls = |old| Crawls { old, new: 0, judged: 0, segments: 1, seed: 1 };
        assert_eq!((crawls(0).stories(), crawls(25).stories(), crawls(26).stories()), (0, 25, 25));
        assert!(!crawls(25).has_twin(24) && crawls(26).has_twin(24) && !crawls(26).has_twin(23));
    }

    #[test]
    fn crawls_of_every_size_have_the_documents_they_should() {
        for (old, new, judged, segments) in
            [(0, 0, 0, 1), (0, 7, 3, 2), (1, 0, 9, 1), (40, 100, 10, 20), (27, 10, 27, 3)]
        {
            let crawls = Crawls { old, new, judged, segments, seed: 5 };
            let (mut olds, mut news, mut judges) = (Vec::new(), Vec::new(), 0);
            let visited: Result<(), ()> = crawls.visit(|item| {
                match item {
                    CrawlItem::Old(page) => olds.push(page.id.to_owned()),
                    CrawlItem::New { segment, page } => {
                        assert!(segment < segments);
                        news.push(page.id.to_owned());
                    }
                    CrawlItem::Judged(page) => {
                        assert_eq!(olds.last(), Some(&page.document));
                        judges += 1;
                    }
                }
                Ok(())
            });
            assert!(visited.is_ok());
            assert_eq!((olds.len() as u64, judges), (old, judged.min(old)));
            assert_eq!(news.len() as u64, crawls.new_documents());
            assert!(news.len() as u64 >= new);
            for names in [&mut olds, &mut news] {
                let all = names.len();
                names.sort();
                names.dedup();
                assert_eq!(names.len(), all);
            }
        }
    }

    #[test]
    fn an_end_is_an_end() {
        let crawls = Crawls { old: 50, new: 50, judged: 5, segments: 1, seed: 5 };
        let mut seen = 0;
        let ended = crawls.visit(|_| {
            seen += 1;
            if seen == 3 { Err("enough") } else { Ok(()) }
        });
        assert_eq!((ended, seen), (Err("enough"), 3));
    }
}

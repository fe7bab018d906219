//! A page at both times, with everything that was made of it.

use std::sync::Arc;

use lookalike_model::Media;

use super::address::{Spelling, address, hosts, respelled};
use super::fate::{Change, CopyKind, Fate, plan};
use super::revise::{WordReader, changed, revise, shared};
use super::{Crawls, NEAR};
use crate::composer::{Composer, PageFacts};
use crate::families::Family;
use crate::phrasebook::Phrasebook;
use crate::random::{Random, child};
use crate::render;
use crate::{Kind, Language};

/// A page as it stands in one crawl.
#[derive(Debug, Clone)]
pub(super) struct Version {
    pub(super) url: String,
    pub(super) media: Media,
    pub(super) content: String,
    words: Vec<u64>,
}

impl Version {
    /// Counts the words that two pages share, and those in either.
    pub(super) fn shared(&self, other: &Version) -> (u64, u64) {
        shared(&self.words, &other.words)
    }
}

/// A page of the new crawl that was made of an old one.
#[derive(Debug, Clone)]
pub(super) struct CopiedPage {
    pub(super) kind: CopyKind,
    pub(super) spelling: Spelling,
    pub(super) version: Version,
}

/// An old page, perhaps its twin, and its copies in the new crawl.
#[derive(Debug, Clone)]
pub(super) struct Story {
    pub(super) number: u64,
    pub(super) fate: Fate,
    pub(super) old: Vec<Version>,
    pub(super) copies: Vec<CopiedPage>,
}

/// Keys below that of a story.
const ADDRESS: u64 = u64::MAX - 20;
const TWIN: u64 = u64::MAX - 21;
const COPY: u64 = u64::MAX - 22;
const OWN: u64 = u64::MAX - 23;
const ANOTHER: u64 = u64::MAX - 24;

/// Share of words that a page changes for some of its own. Without them long pages of one language would all have the same
/// words, which pages of a real web have not.
const OWN_WORDS: f64 = 0.1;

/// Builds stories one at a time; each follows from its number alone.
pub(super) struct StoryBuilder {
    composer: Composer,
    words: WordReader,
    crawls: Crawls,
    hosts: u32,
}

impl StoryBuilder {
    pub(super) fn new(book: Arc<Phrasebook>, crawls: Crawls) -> Self {
        let hosts = hosts(crawls.old.saturating_add(crawls.new));
        StoryBuilder { composer: Composer::new(book), words: WordReader::new(), crawls, hosts }
    }

    /// A page that only the new crawl has.
    pub(super) fn new_page(&mut self, number: u64) -> Version {
        self.page(number).0
    }

    /// The story with this number.
    pub(super) fn build(&mut self, number: u64, has_twin: bool) -> Story {
        let (page, folder) = self.page(number);
        let key = self.crawls.key(number);
        let plan = plan(key);
        let place = |key, name: String, hosts| address(child(key, ADDRESS), &name, folder, hosts);
        let mut copies = Vec::with_capacity(plan.copies.len());
        for (copy, planned) in plan.copies.iter().enumerate() {
            let key = child(child(key, COPY), copy as u64);
            let mut version = match planned.change {
                Change::None => page.clone(),
                Change::Light => self.revised(&page, NEAR..1.0, key),
                Change::Near => self.revised(&page, 0.75..NEAR, key),
                Change::Heavy => self.revised(&page, 0.2..0.75, key),
            };
            let kind = match planned.kind {
                // Some pages have too few words to be near and no nearer.
                CopyKind::Distractor if is_near(&page, &version) => CopyKind::Mirror,
                kind => kind,
            };
            let mut random = Random::new(child(key, ADDRESS));
            let spelling = match planned.moves {
                true => Spelling::Other,
                false if random.one_in(8) => Spelling::Respelled,
                false => Spelling::Same,
            };
            match spelling {
                Spelling::Same => {}
                Spelling::Respelled => version.url = respelled(&page.url, random.next()),
                Spelling::Other => version.url = place(key, format!("{number}-{copy}"), self.hosts),
            }
            copies.push(CopiedPage { kind, spelling, version });
        }
        let fate = actual_fate(plan.fate, &page, copies.first());
        let mut old = vec![page];
        if has_twin {
            let key = child(key, TWIN);
            let mut twin = self.revised(&old[0], 0.92..1.0, key);
            twin.url = place(key, format!("{number}-twin"), self.hosts);
            old.push(twin);
        }
        Story { number, fate, old, copies }
    }

    /// A page and the folder of its site.
    fn page(&mut self, number: u64) -> (Version, &'static str) {
        let key = self.crawls.key(number);
        let facts = self.compose(number, key);
        let (page, lexicon) = (self.composer.page(), &self.composer.book.lexicon);
        let mut content = String::new();
        let media = if facts.is_html {
            render::html(page, lexicon, facts.language, facts.form, &mut content);
            Media::Html
        } else {
            render::text(page, lexicon, &mut content);
            Media::Text
        };
        let content = changed(&content, media, OWN_WORDS, child(key, OWN));
        let url = address(child(key, ADDRESS), &number.to_string(), facts.folder, self.hosts);
        let words = self.words.of(&content, media);
        (Version { url, media, content, words }, facts.folder)
    }

    /// Composes the original of a page that will be copied: never one of a few words, and none in Thai, of which pairs of
    /// letters are the words, and so few that all long pages are alike.
    fn compose(&mut self, number: u64, key: u64) -> PageFacts {
        let mut family = Family { number, kind: Kind::Mirror, first: number, size: 1, key };
        loop {
            self.composer.forget();
            let facts = self.composer.compose(&family, 0);
            if facts.language != Language::Thai {
                return facts;
            }
            family.key = child(family.key, ANOTHER);
        }
    }

    fn revised(&mut self, page: &Version, band: std::ops::Range<f64>, key: u64) -> Version {
        let (content, words) = revise(&page.content, page.media, &page.words, band, key, &mut self.words);
        Version { content, words, ..page.clone() }
    }
}

fn is_near(a: &Version, b: &Version) -> bool {
    let (common, all) = a.shared(b);
    common as f64 >= NEAR * all as f64
}

/// Returns the fate of a page as its own copy shows it: a page of few words may not change as planned.
fn actual_fate(fate: Fate, page: &Version, own: Option<&CopiedPage>) -> Fate {
    let Some(own) = own else { return fate };
    match fate {
        Fate::Edited if own.version.words == page.words => Fate::Same,
        Fate::Rewritten if is_near(page, &own.version) => Fate::Edited,
        fate => fate,
    }
}

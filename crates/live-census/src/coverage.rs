//! The share of a web that an engine has: pages that a walk met are looked for in it, one by one, until the budget is spent.
//!
//! The choice of the pages, and the estimate from them, are made in [`lookalike_census::walks::priority_sampling`]. A page is
//! looked for by its address and its rarest words ([`crate::presence`]), or by its address alone where no texts are given and the
//! engine can be asked for one. The frequencies of words are those in the pages of the walk.
//!
//! In memory: 16 bytes for each different word of a page of the walk and about 60 for each word of all, so that 10,000 pages of
//! 300 different words take some 60 MB; no texts.

use std::collections::HashMap;

use lookalike_census::walks::priority_sampling::Candidate;
use lookalike_search_engines::EngineError;
use serde::Serialize;

use crate::engine_client::{EngineClient, PageWords};
use crate::own_corpus::OwnCorpus;
use crate::presence::{Presence, STRONG_QUERY_WORDS, look_for};

/// The addresses and words of the pages of a walk, and the words of all of them.
#[derive(Debug, Clone, Default)]
pub struct WalkPages {
    own: OwnCorpus,
    /// None for pages whose text is not known yet.
    pages: HashMap<u32, Option<Page>>,
}

#[derive(Debug, Clone)]
struct Page {
    url: String,
    /// None where the page is looked for by its address alone.
    contents: Option<PageWords>,
}

impl WalkPages {
    /// Creates an entry without text for each of these pages of a walk.
    pub fn new(candidates: &[Candidate]) -> Self {
        WalkPages {
            own: OwnCorpus::new(),
            pages: candidates.iter().map(|candidate| (candidate.page, None)).collect(),
        }
    }

    /// Adds the address and the text of a page, unless it is no page of the walk, or its text is here already.
    pub fn add(&mut self, page: u32, url: &str, text: &str) {
        let Some(entry @ None) = self.pages.get_mut(&page) else { return };
        self.own.add(text);
        // All its words are known by now.
        *entry = Some(Page { url: url.to_owned(), contents: Some(PageWords::of(text, &self.own)) });
    }

    /// Sets the addresses of all pages that have no text, so that they are looked for by address alone.
    pub fn set_addresses(&mut self, address: impl Fn(u32) -> String) {
        for (&number, page) in self.pages.iter_mut().filter(|(_, page)| page.is_none()) {
            *page = Some(Page { url: address(number), contents: None });
        }
    }

    /// The words of all pages.
    pub fn own(&self) -> &OwnCorpus {
        &self.own
    }

    /// Pages that can be looked for.
    pub fn len(&self) -> usize {
        self.pages.values().flatten().count()
    }

    /// True when no page can be looked for.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The outcome of looking for pages in an engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LookupCounts {
    /// Pages that were looked for.
    pub asked: u64,
    /// Those that the engine has.
    pub found: u64,
    /// Those of them that it has under another address.
    pub alike: u64,
    /// Those that it does not have.
    pub missing: u64,
    /// Those for which it did not answer.
    #[serde(rename = "silent")]
    pub unanswered: u64,
    /// Pages that could not be looked for, since their text is not known.
    pub without_text: u64,
    /// The same, since they have no words to ask for.
    pub without_words: u64,
    /// True for each page that it has, in the order of the pages; nothing where that is not known.
    #[serde(skip)]
    pub presence: Vec<Option<bool>>,
}

impl LookupCounts {
    fn note(&mut self, presence: Presence) {
        self.asked += 1;
        match presence {
            Presence::Present => self.found += 1,
            Presence::NearDuplicate => (self.found, self.alike) = (self.found + 1, self.alike + 1),
            Presence::Missing => self.missing += 1,
            Presence::Unknown => self.unanswered += 1,
        }
        self.presence.push(presence.found());
    }
}

/// Looks for the pages in their order until the budget of the engine is spent.
pub fn look_up(
    client: &mut EngineClient<'_>,
    candidates: &[Candidate],
    walk_pages: &WalkPages,
) -> Result<LookupCounts, EngineError> {
    let mut counts = LookupCounts::default();
    for candidate in candidates {
        let Some(page) = walk_pages.pages.get(&candidate.page).and_then(Option::as_ref) else {
            counts.without_text += 1;
            counts.presence.push(None);
            continue;
        };
        // Else they would be known where the engine has them and unknown where it does not.
        if page
            .contents
            .as_ref()
            .is_some_and(|contents| walk_pages.own.rarest(&contents.known, STRONG_QUERY_WORDS).is_empty())
        {
            counts.without_words += 1;
            counts.presence.push(None);
            continue;
        }
        let presence = match &page.contents {
            Some(contents) => look_for(client, &page.url, contents),
            None => by_address(client, &page.url),
        };
        match presence {
            Ok(presence) => counts.note(presence),
            Err(EngineError::Spent { .. }) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(counts)
}

/// Looks for a page of which nothing but the address is known.
fn by_address(client: &mut EngineClient<'_>, url: &str) -> Result<Presence, EngineError> {
    match client.engine().has(url) {
        Some(Ok(true)) => Ok(Presence::Present),
        Some(Ok(false)) => Ok(Presence::Missing),
        Some(Err(error)) if !error.is_transient() => Err(error),
        _ => Ok(Presence::Unknown),
    }
}

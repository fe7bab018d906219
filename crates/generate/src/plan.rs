//! Plans: a corpus before it is written.

use std::fmt::Write;
use std::sync::Arc;

use lookalike_model::{Content, Document, Extras, Media, RecordPosition};

use crate::coin::coin;
use crate::composer::{Composer, PageFacts};
use crate::families::{Families, Family};
use crate::permutation::Permutation;
use crate::phrasebook::Phrasebook;
use crate::random::child;
use crate::render;
use crate::truth::{Groups, Truth};
use crate::{Kind, Language};

/// The size and the seed of a corpus. Equal plans give equal bytes, on any machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Number of documents, from none to as many as the disk holds.
    pub documents: u64,
    /// Another seed, another corpus.
    pub seed: u64,
}

/// The built-in corpus: three thousand documents in all languages, of all kinds.
pub fn sample() -> Plan {
    Plan { documents: 3000, seed: 2024 }
}

impl Plan {
    /// The documents in corpus order.
    pub fn documents(&self) -> Documents {
        self.documents_with(Arc::new(Phrasebook::new()))
    }

    pub(crate) fn documents_with(&self, book: Arc<Phrasebook>) -> Documents {
        Documents {
            positions: Positions::new(self),
            next: 0,
            composer: Composer::new(book),
            id: String::new(),
            url: String::new(),
            content: String::new(),
        }
    }

    /// Every planted pair, group by group.
    pub fn truth(&self) -> Truth {
        self.truth_with(Arc::new(Phrasebook::new()))
    }

    pub(crate) fn truth_with(&self, book: Arc<Phrasebook>) -> Truth {
        Truth::new(Positions::new(self), Composer::new(book))
    }

    /// Every group of related documents, with its members.
    pub fn groups(&self) -> Groups {
        Groups::new(Positions::new(self))
    }
}

/// The name of the document at a position of the corpus, counted from 0.
///
/// ```
/// assert_eq!(lookalike_generate::document_id(41), "page-00000041");
/// ```
pub fn document_id(position: u64) -> String {
    format!("page-{position:08}")
}

/// The assignment of documents to positions in the corpus.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Positions {
    pub(crate) documents: u64,
    pub(crate) families: Families,
    pub(crate) permutation: Permutation,
}

impl Positions {
    fn new(plan: &Plan) -> Self {
        Positions {
            documents: plan.documents,
            families: Families::new(plan.documents, plan.seed),
            permutation: Permutation::new(plan.documents, child(plan.seed, u64::MAX)),
        }
    }

    /// Returns the position of a family's member in the corpus.
    pub(crate) fn position(&self, family: &Family, member: u64) -> u64 {
        self.permutation.position(family.first + member)
    }
}

/// The documents of a plan, one at a time, each borrowed until the next is asked for.
///
/// A document is made from its number alone, so nothing here grows with the corpus, and any part of it can be
/// made without the rest.
pub struct Documents {
    positions: Positions,
    next: u64,
    composer: Composer,
    id: String,
    url: String,
    content: String,
}

/// A document that has been made up.
#[derive(Debug, Clone, Copy)]
pub struct GeneratedDocument<'d> {
    /// Its position in the corpus, counted from 0.
    pub position: u64,
    /// Its name, made from its position.
    pub id: &'d str,
    /// Its address, on a host that cannot exist.
    pub url: &'d str,
    /// Plain text or HTML.
    pub media: Media,
    /// Its text or its markup.
    pub content: &'d str,
    /// The language of its article.
    pub language: Language,
    /// The number of its group, when it has relatives.
    pub group: Option<u64>,
    /// Its relation to its group; the original of a group has the kind of its copies.
    pub kind: Kind,
}

impl<'d> GeneratedDocument<'d> {
    /// The document as the rest of the project sees documents.
    pub fn to_document(self) -> Document<'d> {
        Document {
            id: self.id,
            url: Some(self.url),
            media: self.media,
            content: Content::Unicode(self.content),
            place: RecordPosition { record: self.position, position: 0 },
            raw: None,
            extras: Extras::default(),
        }
    }
}

impl Documents {
    /// The next document, `None` after the last.
    #[expect(clippy::should_implement_trait, reason = "a document borrows from the buffers that made it")]
    pub fn next(&mut self) -> Option<GeneratedDocument<'_>> {
        let position = self.next;
        self.next = position.saturating_add(1);
        self.get(position)
    }

    /// The document at a position, `None` beyond the end. [`Documents::next`] goes on where it was.
    pub fn get(&mut self, position: u64) -> Option<GeneratedDocument<'_>> {
        if position >= self.positions.documents {
            return None;
        }
        let (family, member) = self.positions.families.of(self.positions.permutation.slot(position));
        let facts = self.composer.compose(&family, member);
        self.render(&facts);
        self.name(position, &facts);
        Some(GeneratedDocument {
            position,
            id: &self.id,
            url: &self.url,
            media: if facts.is_html { Media::Html } else { Media::Text },
            content: &self.content,
            language: facts.language,
            group: (family.size > 1).then_some(family.number),
            kind: family.kind,
        })
    }

    fn render(&mut self, facts: &PageFacts) {
        let (page, lexicon) = (self.composer.page(), &self.composer.book.lexicon);
        self.content.clear();
        if facts.is_html {
            render::html(page, lexicon, facts.language, facts.form, &mut self.content);
        } else {
            render::text(page, lexicon, &mut self.content);
        }
    }

    fn name(&mut self, position: u64, facts: &PageFacts) {
        self.id.clear();
        self.url.clear();
        self.url.push_str("https://www.");
        coin(facts.host, &mut self.url);
        // Writing to a string cannot fail.
        let _ = write!(self.id, "page-{position:08}");
        let _ = write!(self.url, ".example/{}/{position}", facts.folder);
    }

    /// Bytes held by the buffers and the lexicon: bounded, whatever the size of the corpus.
    pub fn memory(&self) -> usize {
        self.composer.memory() + self.id.capacity() + self.url.capacity() + self.content.capacity()
    }
}

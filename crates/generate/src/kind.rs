//! The relation of a document to its group.

use serde::{Deserialize, Serialize};

/// The way in which the copies of a group differ from its original. A group holds copies of one kind only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Nothing in the corpus was made from this page, nor it from another.
    Alone,
    /// A page without a single word.
    Empty,
    /// The same bytes at another address.
    Mirror,
    /// The same article between other menus and footers.
    Template,
    /// The same article between menus and footers in another language.
    Translation,
    /// Another article between the same menus and footers: alike without being a copy.
    Site,
    /// Other dates, prices and counts.
    Numbers,
    /// Sentences added.
    Insertion,
    /// Sentences left out.
    Deletion,
    /// Sentences in another order.
    Reordering,
    /// Single words exchanged.
    Substitution,
    /// Another article that quotes a long part of the original.
    Quote,
    /// A longer page that holds every word of the original in one piece.
    Containment,
    /// Pages of a few words: equal words under other punctuation, or one word of many changed.
    Short,
    /// One template filled in again and again; grows with the corpus.
    Cluster,
}

impl Kind {
    /// Every kind, in the order of their declaration.
    pub const ALL: [Kind; 15] = [
        Kind::Alone,
        Kind::Empty,
        Kind::Mirror,
        Kind::Template,
        Kind::Translation,
        Kind::Site,
        Kind::Numbers,
        Kind::Insertion,
        Kind::Deletion,
        Kind::Reordering,
        Kind::Substitution,
        Kind::Quote,
        Kind::Containment,
        Kind::Short,
        Kind::Cluster,
    ];
}

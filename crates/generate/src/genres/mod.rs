//! Kinds of web pages, one file each, all of one shape: a [`Genre`] of patterns and a rough plan of the page.
//!
//! Patterns use lower-case letters of the English alphabet only; what begins with a capital is a name.

mod documentation;
mod forum;
mod job;
mod legal;
mod news;
mod product;
mod recipe;

/// The phrases and the structure of one kind of page.
#[derive(Debug)]
pub(crate) struct Genre {
    /// Stands in the address.
    pub(crate) name: &'static str,
    /// Nouns of the trade.
    pub(crate) things: &'static [&'static str],
    pub(crate) titles: &'static [&'static str],
    pub(crate) headings: &'static [&'static str],
    pub(crate) sentences: &'static [&'static str],
    pub(crate) items: &'static [&'static str],
    /// Fewest and most sections of a page.
    pub(crate) sections: (u32, u32),
    /// Fewest and most paragraphs of a section.
    pub(crate) paragraphs: (u32, u32),
    /// Fewest and most list entries of a section.
    pub(crate) entries: (u32, u32),
}

pub(crate) const ALL: [&Genre; 7] = [
    &product::GENRE,
    &news::GENRE,
    &forum::GENRE,
    &documentation::GENRE,
    &recipe::GENRE,
    &job::GENRE,
    &legal::GENRE,
];

//! The building of an index, for any engine.

use crate::engine::EngineError;

/// The options for building an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildOptions {
    /// Bytes of memory for postings that are not yet on disk.
    pub memory: usize,
    /// Number of bytes of each text that are indexed, as some engines do; pages are still given whole.
    pub first_bytes: Option<usize>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions { memory: 64 << 20, first_bytes: None }
    }
}

/// Takes pages into a new index.
pub trait IndexBuilder {
    /// Adds a page that is found by the words of `indexed`, which may be another text than its own, such as that of links to it;
    /// fetched, it is `page`.
    fn add(&mut self, url: &str, indexed: &str, page: &str) -> Result<(), EngineError>;

    /// Returns true if a page with this address was added.
    fn has(&self, url: &str) -> bool;

    /// Ends the index; until then there is none. Returns the number of its pages.
    fn finish(self: Box<Self>) -> Result<u64, EngineError>;
}

/// Adds pages that are found by their own words, and ends the index.
pub fn build<'p>(
    mut builder: Box<dyn IndexBuilder>,
    pages: impl IntoIterator<Item = (&'p str, &'p str)>,
) -> Result<u64, EngineError> {
    for (url, text) in pages {
        builder.add(url, text, text)?;
    }
    builder.finish()
}

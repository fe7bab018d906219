//! The interfaces that an estimator asks through: an engine for pages, a page for its words, a web for links.

/// A word, by its number in the measurer's own vocabulary; numbers follow the alphabet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word(pub u32);

/// A page, by the number that the measurer gave to its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Page(pub u32);

/// A time-out or another failure; what was asked is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the question was not answered")]
pub struct NoAnswer;

/// The answer of an engine to a query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The first pages in the engine's order, no more than it shows.
    pub pages: Vec<Page>,
    /// The number of matching pages that the engine claims.
    pub claimed: u64,
    /// True if not all matching pages are shown.
    pub capped: bool,
}

/// A search engine.
pub trait Engine {
    /// Pages with all of these words.
    fn search(&mut self, words: &[Word]) -> Result<Answer, NoAnswer>;

    /// Returns true if the engine has a page; none if it cannot be asked for an address.
    fn has(&mut self, _page: Page) -> Option<Result<bool, NoAnswer>> {
        None
    }

    /// Returns the number of pages that the engine claims to have with any of these words.
    fn count_any(&mut self, words: &[Word]) -> Result<u64, NoAnswer>;
}

/// Pages whose text can be had.
pub trait Pages {
    /// The distinct words of a page, in ascending order.
    fn words(&self, page: Page) -> &[Word];
}

/// A web that can be walked.
pub trait Links {
    /// The pages that a page links to, as they stand on it.
    fn links(&mut self, page: Page) -> Result<&[Page], NoAnswer>;

    /// The number of a page's host.
    fn host(&self, page: Page) -> u32;
}

/// A service that knows some of the pages that link to a page.
pub trait Backlinks {
    /// Returns all pages that it knows to link to a page.
    fn backlinks(&mut self, page: Page) -> Vec<Page>;
}

/// Returns the Jaccard similarity of two ascending lists of words, 1 for two empty ones.
pub fn jaccard(one: &[Word], other: &[Word]) -> f64 {
    let shared = one.iter().filter(|word| other.binary_search(word).is_ok()).count();
    let all = one.len() + other.len() - shared;
    if all == 0 { 1.0 } else { shared as f64 / all as f64 }
}

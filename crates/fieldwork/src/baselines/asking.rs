//! Questions to a desk that are counted, as far as they are new.

use std::collections::HashSet;

use lookalike_engines::{EngineError, Query, Results};

use super::Cost;
use crate::desk::{Contents, Desk, Found, PageId};
use crate::own::WordId;

/// One baseline's use of a desk.
pub(super) struct Asking<'d, 'a> {
    desk: &'d mut Desk<'a>,
    /// Pages that were asked for here, whether or not they could be had.
    fetched: HashSet<PageId>,
    /// What was asked so far.
    pub(super) cost: Cost,
}

impl<'d, 'a> Asking<'d, 'a> {
    /// Nothing was asked yet.
    pub(super) fn new(desk: &'d mut Desk<'a>) -> Self {
        Asking { desk, fetched: HashSet::new(), cost: Cost::default() }
    }

    /// What is known without asking.
    pub(super) fn desk(&self) -> &Desk<'a> {
        self.desk
    }

    /// What a word finds.
    pub(super) fn word(&mut self, word: WordId) -> Result<&Found, EngineError> {
        let new = self.desk.known(word).is_none();
        let found = self.desk.search(word)?;
        self.cost.calls += u64::from(new);
        Ok(found)
    }

    /// Pages with all of these words; nothing when the engine keeps silent.
    pub(super) fn all_of(&mut self, words: &[WordId]) -> Result<Option<Vec<PageId>>, EngineError> {
        let found = self.desk.search_all(words)?;
        self.cost.calls += 1;
        Ok(found)
    }

    /// Pages with any of these words, as the engine answers; nothing when it keeps silent.
    pub(super) fn any_of(&mut self, words: &[WordId]) -> Result<Option<Results>, EngineError> {
        let own = self.desk.own();
        let query = Query::any(words.iter().map(|&word| own.spelling(word)));
        let limit = self.desk.limit();
        let results = match self.desk.engine().search(&query, limit) {
            Ok(results) => Some(results),
            Err(error) if error.is_transient() => None,
            Err(error) => return Err(error),
        };
        self.cost.calls += 1;
        Ok(results)
    }

    /// What is on a page.
    pub(super) fn contents(&mut self, page: PageId) -> Result<Option<&Contents>, EngineError> {
        let new = self.desk.read(page).is_none() && !self.fetched.contains(&page);
        let contents = self.desk.contents(page)?;
        if new {
            self.fetched.insert(page);
            self.cost.fetches += 1;
        }
        Ok(contents)
    }
}

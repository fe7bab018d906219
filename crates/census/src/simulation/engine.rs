//! A search engine over some of the pages: an inverted index, conjunctions, an order of its own, and no more results
//! than it shows.

use crate::engine::{Answer, Engine, NoAnswer, Page, Pages, Word};
use crate::random::Random;
use crate::simulation::Library;

/// An engine that lives in memory.
#[derive(Debug, Clone)]
pub struct SimulatedEngine {
    /// Its pages, best first: places in this list are what the index holds.
    ranked: Vec<Page>,
    /// Places of the pages with a word, ascending.
    postings: Vec<Vec<u32>>,
    /// Most results that it shows.
    cap: usize,
    /// Share of questions that it leaves unanswered.
    failures: f64,
    /// Its pages in ascending order, if it can be asked for addresses.
    addresses: Option<Vec<Page>>,
    random: Random,
    /// Questions so far.
    asked: u64,
}

impl SimulatedEngine {
    /// An index of these pages of a library that shows at most `cap` results. Its static rank is a shuffle by `seed`.
    pub fn new(library: &Library, pages: &[Page], cap: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let order = random.sample_indices(pages.len(), pages.len());
        SimulatedEngine::ranked(library, order.into_iter().map(|place| pages[place]).collect(), cap, seed)
    }

    /// An index of these pages, best first.
    pub fn ranked(library: &Library, ranked: Vec<Page>, cap: usize, seed: u64) -> Self {
        let mut postings = vec![Vec::new(); library.vocabulary()];
        for (place, &page) in ranked.iter().enumerate() {
            for word in library.words(page) {
                postings[word.0 as usize].push(place as u32);
            }
        }
        SimulatedEngine {
            ranked,
            postings,
            cap,
            failures: 0.0,
            addresses: None,
            random: Random::part(seed, 1),
            asked: 0,
        }
    }

    /// Leaves this share of questions unanswered.
    #[must_use]
    pub fn failing(mut self, share: f64) -> Self {
        self.failures = share;
        self
    }

    /// Can be asked for addresses.
    #[cfg(test)]
    pub(crate) fn knowing_addresses(mut self) -> Self {
        let mut pages = self.ranked.clone();
        pages.sort_unstable();
        self.addresses = Some(pages);
        self
    }

    /// Returns the true number of its pages, which a real engine does not reveal.
    pub fn size(&self) -> usize {
        self.ranked.len()
    }

    /// Returns its true pages, best first.
    pub fn pages(&self) -> &[Page] {
        &self.ranked
    }

    /// Questions that it was asked so far.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    fn postings(&self, word: Word) -> &[u32] {
        self.postings.get(word.0 as usize).map_or(&[], Vec::as_slice)
    }

    fn ask(&mut self) -> Result<(), NoAnswer> {
        self.asked += 1;
        if self.failures > 0.0 && self.random.chance(self.failures) { Err(NoAnswer) } else { Ok(()) }
    }

    /// Places of the pages with all of these words: the shortest list, held against the others.
    fn all(&self, words: &[Word]) -> Vec<u32> {
        let mut lists: Vec<&[u32]> = words.iter().map(|&word| self.postings(word)).collect();
        lists.sort_by_key(|list| list.len());
        let Some((first, others)) = lists.split_first() else { return Vec::new() };
        let in_all = |place: &&u32| others.iter().all(|list| list.binary_search(place).is_ok());
        first.iter().filter(in_all).copied().collect()
    }
}

impl Engine for SimulatedEngine {
    fn search(&mut self, words: &[Word]) -> Result<Answer, NoAnswer> {
        self.ask()?;
        let places = self.all(words);
        let shown = places.iter().take(self.cap).map(|&place| self.ranked[place as usize]);
        Ok(Answer { pages: shown.collect(), claimed: places.len() as u64, capped: places.len() > self.cap })
    }

    fn has(&mut self, page: Page) -> Option<Result<bool, NoAnswer>> {
        self.addresses.as_ref()?;
        let answered = self.ask();
        let pages = self.addresses.as_ref()?;
        Some(answered.map(|()| pages.binary_search(&page).is_ok()))
    }

    fn count_any(&mut self, words: &[Word]) -> Result<u64, NoAnswer> {
        self.ask()?;
        let mut places: Vec<u32> = words.iter().flat_map(|&word| self.postings(word)).copied().collect();
        places.sort_unstable();
        places.dedup();
        Ok(places.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library() -> Library {
        let mut random = Random::new(2);
        let pages = (0..300).map(|_| {
            let length = 1 + random.below(40);
            (0..length).map(|_| Word(random.below(60) as u32)).collect()
        });
        Library::of_words(pages.collect::<Vec<_>>(), Vec::new())
    }

    #[test]
    fn answers_are_those_of_a_scan() {
        let library = library();
        let part: Vec<Page> = library.pages().filter(|page| page.0 % 3 != 0).collect();
        let mut engine = SimulatedEngine::new(&library, &part, 10, 4);
        let mut random = Random::new(8);
        for _ in 0..200 {
            let words: Vec<Word> = (0..1 + random.below(3)).map(|_| Word(random.below(60) as u32)).collect();
            let has = |page: &&Page, word: &Word| library.words(**page).binary_search(word).is_ok();
            let all: Vec<Page> = engine
                .pages()
                .iter()
                .filter(|page| words.iter().all(|word| has(page, word)))
                .copied()
                .collect();
            let any = engine.pages().iter().filter(|page| words.iter().any(|word| has(page, word))).count();
            let answer = engine.search(&words).unwrap();
            assert_eq!(answer.pages, all[..all.len().min(10)]);
            assert_eq!((answer.claimed, answer.capped), (all.len() as u64, all.len() > 10));
            assert_eq!(engine.count_any(&words), Ok(any as u64));
        }
        assert_eq!(engine.search(&[]).unwrap(), Answer::default());
    }

    #[test]
    fn failures_are_as_many_as_it_says() {
        let library = library();
        let part: Vec<Page> = library.pages().collect();
        let mut engine = SimulatedEngine::new(&library, &part, 10, 4).failing(0.2);
        let failed = (0..2_000).filter(|_| engine.search(&[Word(1)]).is_err()).count();
        assert!((320..480).contains(&failed), "{failed}");
        assert_eq!(engine.asked(), 2_000);
    }
}

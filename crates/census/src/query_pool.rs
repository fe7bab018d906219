//! Uniform pages of an engine by a pool of queries, after Bar-Yossef and Gurevich (2006), and the engine's size with them.
//!
//! A query of the pool is usable when it has results and the engine shows all of them. The degree of a page is the number of
//! usable queries that it matches: a random result of a random query is the likelier the larger its degree, and that is put
//! right by rejection, by a weight, or by a walk that refuses to move. Which queries a page matches is seen from its own text;
//! whether they are usable must be asked, since counting the others too makes pages with common words far too light. Pages
//! that no usable query matches are invisible.

use crate::engine::{Answer, Engine, NoAnswer, Page, Pages, Word};
use crate::estimate::Estimate;
use crate::random::Random;

/// Draws pages by a pool of one-word queries. Answers are remembered: no query is asked twice.
#[derive(Debug)]
pub struct QueryPool<'a, E, P> {
    engine: &'a mut E,
    pages: &'a P,
    /// Ascending.
    pool: Vec<Word>,
    /// Most results that an answer shows: the limit of card(q).
    shown: usize,
    answers: Vec<Option<Answer>>,
    asked: u64,
    fetched: u64,
}

impl<'a, E: Engine, P: Pages> QueryPool<'a, E, P> {
    /// A pool of these words over an engine that shows at most `shown` results.
    pub fn new(engine: &'a mut E, pages: &'a P, mut pool: Vec<Word>, shown: usize) -> Self {
        pool.sort_unstable();
        pool.dedup();
        let answers = vec![None; pool.len()];
        QueryPool { engine, pages, pool, shown, answers, asked: 0, fetched: 0 }
    }

    /// Number of queries in the pool.
    pub fn len(&self) -> usize {
        self.pool.len()
    }

    /// True without queries.
    pub fn is_empty(&self) -> bool {
        self.pool.is_empty()
    }

    /// Returns the index of a word in the pool.
    pub fn index(&self, word: Word) -> Option<usize> {
        self.pool.binary_search(&word).ok()
    }

    /// Questions to the engine so far.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// Pages whose text was looked at so far, each time.
    pub fn fetched(&self) -> u64 {
        self.fetched
    }

    /// The results of a query if it is usable, none if it is not.
    pub fn results(&mut self, query: usize) -> Result<&[Page], NoAnswer> {
        if self.answers[query].is_none() {
            self.asked += 1;
            let answer = self.engine.search(&[self.pool[query]])?;
            self.answers[query] = Some(answer);
        }
        let answer = self.answers[query].as_ref().ok_or(NoAnswer)?;
        let usable = !answer.capped && answer.pages.len() <= self.shown;
        Ok(if usable { &answer.pages } else { &[] })
    }

    /// The queries that a page matches by its text, usable or not.
    fn matching(&mut self, page: Page) -> Vec<usize> {
        self.fetched += 1;
        let words = self.pages.words(page);
        words.iter().filter_map(|word| self.pool.binary_search(word).ok()).collect()
    }

    /// The usable queries that a page matches.
    pub fn usable(&mut self, page: Page) -> Result<Vec<usize>, NoAnswer> {
        let mut usable = Vec::new();
        for query in self.matching(page) {
            if !self.results(query)?.is_empty() {
                usable.push(query);
            }
        }
        Ok(usable)
    }

    /// An unbiased draw of one over the degree of a page: queries that it matches are drawn until one is usable, and the
    /// number of draws is divided by how many it matches. Cheaper than asking for all of them.
    pub fn inverse_degree(&mut self, page: Page, random: &mut Random) -> Result<f64, NoAnswer> {
        let matching = self.matching(page);
        for draws in 1..=1_000u32 {
            let Some(&query) = random.pick(&matching) else { return Err(NoAnswer) };
            if !self.results(query)?.is_empty() {
                return Ok(f64::from(draws) / matching.len() as f64);
            }
        }
        // The page came from a usable query, so that this is an engine which contradicts itself.
        Err(NoAnswer)
    }

    /// Draws a random result of a random query, with the number of its results; none if the query is not usable.
    fn draw(&mut self, random: &mut Random) -> Result<Option<(Page, usize)>, NoAnswer> {
        let query = random.below(self.pool.len());
        let results = self.results(query)?;
        let count = results.len();
        Ok(random.pick(results).map(|&page| (page, count)))
    }

    /// One try at a uniform page by rejection: a query is accepted with probability card/k, then a page with one over its
    /// degree.
    pub fn reject(&mut self, random: &mut Random) -> Result<Option<Page>, NoAnswer> {
        if self.pool.is_empty() {
            return Ok(None);
        }
        let Some((page, count)) = self.draw(random)? else { return Ok(None) };
        if !random.chance(count as f64 / self.shown as f64) {
            return Ok(None);
        }
        let degree = self.usable(page)?.len();
        Ok(random.chance(1.0 / degree.max(1) as f64).then_some(page))
    }

    /// A page with the weight that makes such draws uniform: the number of results of its query by its degree.
    pub fn weigh(&mut self, random: &mut Random) -> Result<Option<(Page, f64)>, NoAnswer> {
        if self.pool.is_empty() {
            return Ok(None);
        }
        let Some((page, count)) = self.draw(random)? else { return Ok(None) };
        let degree = self.usable(page)?.len();
        Ok(Some((page, count as f64 / degree.max(1) as f64)))
    }

    /// One step of a walk over pages that is uniform in the end (Metropolis and Hastings): to a random result of a random
    /// usable query of the page, if a draw against their degrees allows it.
    pub fn step(&mut self, page: Page, random: &mut Random) -> Result<Page, NoAnswer> {
        let own = self.usable(page)?;
        let Some(&query) = random.pick(&own) else { return Err(NoAnswer) };
        let other = random.pick(self.results(query)?).copied().unwrap_or(page);
        let degree = self.usable(other)?.len();
        Ok(if random.chance(own.len() as f64 / degree.max(1) as f64) { other } else { page })
    }

    /// Draws an estimate of the size by one random query: the pool's size times the sum of one over the degrees of its results, of
    /// which at most `most` are looked at. Its mean is the number of pages that usable queries match.
    pub fn size_draw(&mut self, most: usize, random: &mut Random) -> Result<f64, NoAnswer> {
        let query = random.below(self.pool.len().max(1));
        if self.pool.is_empty() {
            return Ok(0.0);
        }
        let results = self.results(query)?.to_vec();
        let looked_at = random.sample_indices(results.len(), most);
        let mut sum = 0.0;
        for &place in &looked_at {
            sum += self.inverse_degree(results[place], random)?;
        }
        let scale = self.pool.len() as f64 * results.len() as f64 / looked_at.len().max(1) as f64;
        Ok(sum * scale)
    }
}

/// The number of pages that usable queries match, from draws of [`QueryPool::size_draw`].
pub fn size(draws: &[f64]) -> Option<Estimate> {
    Estimate::mean(draws)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Library, SimulatedEngine};

    /// Pages of very different lengths.
    fn library() -> Library {
        let mut random = Random::new(12);
        let pages: Vec<Vec<Word>> = (0..120)
            .map(|page| {
                let length = if page % 4 == 0 { 40 } else { 4 };
                (0..length).map(|_| Word((random.unit().powi(2) * 300.0) as u32)).collect()
            })
            .collect();
        Library::of_words(pages, Vec::new())
    }

    fn visible(library: &Library, pool: &[Word], shown: u32) -> Vec<Page> {
        let usable = |word: &Word| pool.binary_search(word).is_ok() && library.frequency(*word) <= shown;
        library.pages().filter(|&page| library.words(page).iter().any(usable)).collect()
    }

    fn long_share(pages: &[(Page, f64)]) -> f64 {
        let total: f64 = pages.iter().map(|(_, weight)| weight).sum();
        pages.iter().filter(|(page, _)| page.0 % 4 == 0).map(|(_, weight)| weight).sum::<f64>() / total
    }

    #[test]
    fn three_ways_to_uniform_pages() {
        let library = library();
        let all: Vec<Page> = library.pages().collect();
        let pool = library.words_between(6, 100);
        let mut engine = SimulatedEngine::new(&library, &all, 10, 1);
        let visible = visible(&library, &pool, 10);
        assert!(visible.len() < all.len(), "some pages have no usable query");
        let truth = long_share(&visible.iter().map(|&page| (page, 1.0)).collect::<Vec<_>>());
        let mut queries = QueryPool::new(&mut engine, &library, pool, 10);
        let mut random = Random::new(2);
        let plain: Vec<(Page, f64)> = (0..4_000)
            .filter_map(|_| queries.draw(&mut random).unwrap())
            .map(|(page, _)| (page, 1.0))
            .collect();
        let rejected: Vec<(Page, f64)> = (0..40_000)
            .filter_map(|_| queries.reject(&mut random).unwrap())
            .map(|page| (page, 1.0))
            .collect();
        let weighed: Vec<(Page, f64)> =
            (0..8_000).filter_map(|_| queries.weigh(&mut random).unwrap()).collect();
        let mut page = visible[0];
        let walked: Vec<(Page, f64)> = (0..12_000)
            .map(|_| {
                page = queries.step(page, &mut random).unwrap();
                (page, 1.0)
            })
            .collect();
        assert!(long_share(&plain) > truth + 0.1, "{} {truth}", long_share(&plain));
        for (name, sample) in [("rejected", rejected), ("weighed", weighed), ("walked", walked)] {
            let found = long_share(&sample);
            assert!((found - truth).abs() < 0.06, "{name}: {found} {truth}");
            assert!(sample.iter().all(|(page, _)| visible.binary_search(page).is_ok()));
        }
        // Answers are remembered.
        assert!(queries.asked() <= queries.len() as u64);
    }

    #[test]
    fn inverse_degrees_and_sizes_are_unbiased() {
        let library = library();
        let all: Vec<Page> = library.pages().collect();
        let pool = library.words_between(2, 100);
        let visible = visible(&library, &pool, 10);
        let mut engine = SimulatedEngine::new(&library, &all, 10, 1);
        let mut queries = QueryPool::new(&mut engine, &library, pool, 10);
        let mut random = Random::new(3);
        for &page in visible.iter().take(5) {
            let degree = queries.usable(page).unwrap().len() as f64;
            let draws: Vec<f64> =
                (0..3_000).map(|_| queries.inverse_degree(page, &mut random).unwrap()).collect();
            let mean = draws.iter().sum::<f64>() / 3_000.0;
            assert!((mean * degree - 1.0).abs() < 0.1, "{page:?}: {mean} {degree}");
        }
        let draws: Vec<f64> = (0..4_000).map(|_| queries.size_draw(2, &mut random).unwrap()).collect();
        let found = size(&draws).unwrap();
        assert!((found.value / visible.len() as f64 - 1.0).abs() < 0.08, "{found:?} {}", visible.len());
        assert!(found.error / found.value < 0.05);
    }

    #[test]
    fn an_empty_pool_and_a_silent_engine_give_nothing() {
        let library = library();
        let all: Vec<Page> = library.pages().collect();
        let mut engine = SimulatedEngine::new(&library, &all, 10, 1).failing(1.0);
        let mut random = Random::new(1);
        let mut empty = QueryPool::new(&mut engine, &library, Vec::new(), 10);
        assert_eq!((empty.reject(&mut random), empty.weigh(&mut random)), (Ok(None), Ok(None)));
        let mut queries = QueryPool::new(&mut engine, &library, library.words_between(2, 100), 10);
        assert_eq!(queries.reject(&mut random), Err(NoAnswer));
        assert_eq!(queries.size_draw(2, &mut random), Err(NoAnswer));
    }
}

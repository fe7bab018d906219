//! Pages of an engine by random queries, after Bharat and Broder (1998): words of a lexicon, all of which must be on the
//! page, and one of the results that the engine shows, each as likely.
//!
//! A page is the likelier the more of the queries it matches, so that long pages are preferred: what is estimated from such
//! pages is a size by weight. Queries with more results than are shown prefer what the engine ranks high; they are counted,
//! and passed over if wanted.

use crate::engine::{Engine, Page, Word};
use crate::random::Random;

/// The parameters of the sampling.
#[derive(Debug, Clone, Copy)]
pub struct QuerySampling<'l> {
    /// The words that queries are made of.
    pub lexicon: &'l [Word],
    /// Words of a query.
    pub words: usize,
    /// Number of first results that are looked at.
    pub shown: usize,
    /// Queries with more results than are shown are passed over.
    pub pass_capped: bool,
}

/// The number of queries that the sampling took, by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueryCounts {
    /// Queries.
    pub queries: u64,
    /// Those without a result.
    pub empty: u64,
    /// Those with more results than are shown.
    pub capped: u64,
    /// Those without an answer.
    pub failed: u64,
}

impl QuerySampling<'_> {
    /// Draws a random page of an engine; none if `most_queries` queries did not find any.
    pub fn draw(
        &self,
        engine: &mut impl Engine,
        random: &mut Random,
        most_queries: usize,
        counts: &mut QueryCounts,
    ) -> Option<Page> {
        for _ in 0..most_queries {
            let query: Vec<Word> =
                (0..self.words).filter_map(|_| random.pick(self.lexicon).copied()).collect();
            counts.queries += 1;
            let Ok(answer) = engine.search(&query) else {
                counts.failed += 1;
                continue;
            };
            let capped = answer.capped || answer.pages.len() > self.shown;
            counts.capped += u64::from(capped);
            counts.empty += u64::from(answer.pages.is_empty());
            if capped && self.pass_capped {
                continue;
            }
            let shown = &answer.pages[..answer.pages.len().min(self.shown)];
            if let Some(&page) = random.pick(shown) {
                return Some(page);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Library, SimulatedEngine};

    #[test]
    fn long_pages_are_drawn_more_often() {
        let texts: Vec<String> = (0..200)
            .map(|n| if n % 2 == 0 { "a b c d e f g h".into() } else { format!("a b x{n}") })
            .collect();
        let library = Library::of_texts(texts.iter().map(String::as_str));
        let pages: Vec<Page> = library.pages().collect();
        let mut engine = SimulatedEngine::new(&library, &pages, 1_000, 1);
        let lexicon: Vec<Word> = library.words_between(50, 1_000);
        let sampling = QuerySampling { lexicon: &lexicon, words: 2, shown: 1_000, pass_capped: false };
        let (mut random, mut counts) = (Random::new(1), QueryCounts::default());
        let drawn: Vec<Page> =
            (0..400).filter_map(|_| sampling.draw(&mut engine, &mut random, 10, &mut counts)).collect();
        let long = drawn.iter().filter(|page| page.0 % 2 == 0).count();
        assert!(long > 330, "{long} of {}", drawn.len());
        assert_eq!((counts.queries, counts.capped, counts.failed), (400, 0, 0));
    }

    #[test]
    fn what_is_not_shown_is_not_drawn_and_failures_count() {
        let library = Library::of_texts(["a", "a", "a"]);
        let pages: Vec<Page> = library.pages().collect();
        let lexicon = library.words_between(1, 9);
        let sampling = QuerySampling { lexicon: &lexicon, words: 1, shown: 2, pass_capped: true };
        let (mut random, mut counts) = (Random::new(1), QueryCounts::default());
        let mut engine = SimulatedEngine::new(&library, &pages, 10, 1);
        assert_eq!(sampling.draw(&mut engine, &mut random, 5, &mut counts), None);
        assert_eq!((counts.queries, counts.capped), (5, 5));
        let mut silent = engine.failing(1.0);
        assert_eq!(sampling.draw(&mut silent, &mut random, 3, &mut counts), None);
        assert_eq!(counts.failed, 3);
    }
}

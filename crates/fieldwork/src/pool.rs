//! Which queries are drawn, and how often each.
//!
//! The pool is the own corpus' words that stand in two documents or more. A short pilot tells how many pages of the engine stand behind
//! one own document; words for which more pages are to be expected than the engine shows are left out, since they would be asked in
//! vain. The others are drawn in proportion to their frequency at home, up to a bound: queries that find more say more, but those that
//! find very much say little beyond that.

use lookalike_census::Random;
use lookalike_engines::EngineError;

use crate::desk::{Desk, Found};
use crate::own::{Own, WordId};

/// Frequency at home beyond which a word is drawn no more often.
pub const BOUND: u32 = 30;

/// Questions of a pilot.
pub const PILOT: usize = 60;

/// Queries with the probability of each.
#[derive(Debug, Clone)]
pub struct Pool {
    /// The words, by frequency at home.
    words: Vec<WordId>,
    /// For each of them its probability and those of all before it.
    cumulated: Vec<f64>,
    /// For each word of the vocabulary its place in the pool, or none.
    places: Vec<u32>,
    /// Pages of the engine for each own document, by the pilot.
    scale: f64,
    /// What a draw of each word finds at home.
    companions: Vec<f64>,
    /// Own documents that the pool reaches.
    reached: usize,
}

const NONE: u32 = u32::MAX;

impl Pool {
    /// All words that stand in two own documents or more, for an engine that has so many pages for each of them and shows `limit`.
    pub fn new(own: &Own, scale: f64, limit: usize) -> Self {
        let mut words = own.queries(2);
        words.retain(|&word| f64::from(own.frequency(word)) * scale <= limit as f64);
        words.sort_by_key(|&word| own.frequency(word));
        let mut places = vec![NONE; own.vocabulary()];
        for (place, &word) in words.iter().enumerate() {
            places[word as usize] = place as u32;
        }
        let mut sum = 0.0;
        let mut cumulated: Vec<f64> = words
            .iter()
            .map(|&word| {
                sum += f64::from(own.frequency(word).min(BOUND));
                sum
            })
            .collect();
        cumulated.iter_mut().for_each(|value| *value /= sum);
        let mut pool = Pool { words, cumulated, places, scale, companions: Vec::new(), reached: 0 };
        pool.look_at_home(own);
        pool
    }

    /// What each query would find at home: the sum of one over the degrees of its documents, by its probability. The mean of that
    /// over draws is the number of own documents that the pool reaches.
    fn look_at_home(&mut self, own: &Own) {
        self.companions = vec![0.0; self.words.len()];
        for document in own.documents() {
            let degree = self.degree(document);
            self.reached += usize::from(degree > 0);
            for &word in document {
                if let Some(place) = self.place(word) {
                    self.companions[place] += 1.0 / degree as f64;
                }
            }
        }
        for place in 0..self.words.len() {
            self.companions[place] /= self.probability(place);
        }
    }

    /// Number of queries.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// True without queries.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The word at a place.
    pub fn word(&self, place: usize) -> WordId {
        self.words[place]
    }

    /// The place of a word, if it is in the pool.
    pub fn place(&self, word: WordId) -> Option<usize> {
        let place = self.places[word as usize];
        (place != NONE).then_some(place as usize)
    }

    /// How many of these words are in the pool.
    pub fn degree(&self, words: &[WordId]) -> usize {
        words.iter().filter(|&&word| self.places[word as usize] != NONE).count()
    }

    /// How likely a draw is.
    pub fn probability(&self, place: usize) -> f64 {
        self.cumulated[place] - if place == 0 { 0.0 } else { self.cumulated[place - 1] }
    }

    /// Draws a query; its place. `stratum` of `strata` equal parts of the probability.
    pub fn draw(&self, (stratum, strata): (usize, usize), random: &mut Random) -> usize {
        let at = (stratum as f64 + random.unit()) / strata as f64;
        self.cumulated.partition_point(|&below| below <= at).min(self.words.len() - 1)
    }

    /// What a draw of this query finds at home.
    pub fn companion(&self, place: usize) -> f64 {
        self.companions[place]
    }

    /// Own documents that the pool reaches: the mean of all companions.
    pub fn reached(&self) -> usize {
        self.reached
    }

    /// How many pages of the engine are to be expected for a word.
    pub fn expected(&self, own: &Own, word: WordId) -> f64 {
        f64::from(own.frequency(word)) * self.scale
    }

    /// What share of documents such as the own ones is reached by the pool: each is looked at as if it were not at home, so that its
    /// words must stand in two others. Reached documents and all.
    pub fn coverage(&self, own: &Own) -> (u64, u64) {
        let reached = |document: &&[WordId]| {
            document.iter().any(|&word| self.place(word).is_some() && own.frequency(word) > 2)
        };
        (own.documents().filter(reached).count() as u64, own.len() as u64)
    }
}

/// Pages of the engine for each own document: the median over words of pages found by document frequency at home.
pub fn pilot(desk: &mut Desk<'_>, random: &mut Random) -> Result<f64, EngineError> {
    let own = desk.own();
    let all = Pool::new(own, 0.0, usize::MAX);
    let mut ratios = Vec::new();
    for turn in 0..PILOT.min(all.len()) {
        let word = all.word(all.draw((turn, PILOT), random));
        let found = match desk.search(word)? {
            Found::All(pages) => pages.len(),
            Found::TooMany => desk.limit(),
            Found::Silence => continue,
        };
        ratios.push(found as f64 / f64::from(own.frequency(word)));
    }
    ratios.sort_by(f64::total_cmp);
    Ok(ratios.get(ratios.len() / 2).copied().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Own {
        let mut own = Own::new();
        for number in 0..40 {
            own.add(&format!("all a{} b{} lonely{number}", number % 2, number % 10));
        }
        own
    }

    #[test]
    fn draws_follow_bounded_frequencies() {
        let own = own();
        let pool = Pool::new(&own, 1.0, 100);
        // all (40, bounded at 30), a0 a1 (20 each), b0..b9 (4 each): 110.
        assert_eq!(pool.len(), 13);
        let place = pool.place(own.number("all").unwrap()).unwrap();
        assert!((pool.probability(place) - 30.0 / 110.0).abs() < 1e-12);
        let mut random = Random::new(5);
        let drawn = (0..22_000).filter(|_| pool.draw((0, 1), &mut random) == place).count();
        assert!((drawn as f64 / 6_000.0 - 1.0).abs() < 0.06, "{drawn}");
        let strata: Vec<usize> = (0..11).map(|stratum| pool.draw((stratum, 11), &mut random)).collect();
        assert!(strata.is_sorted());
        assert_eq!(strata.iter().filter(|&&drawn| drawn == place).count(), 3);
    }

    #[test]
    fn words_that_would_find_too_much_are_left_out() {
        let own = own();
        let pool = Pool::new(&own, 3.0, 60);
        assert_eq!(pool.len(), 12);
        assert_eq!(pool.place(own.number("all").unwrap()), None);
        assert_eq!(pool.expected(&own, own.number("a0").unwrap()), 60.0);
        assert_eq!(pool.coverage(&own), (40, 40));
    }

    #[test]
    fn companions_have_a_known_mean() {
        let own = own();
        let pool = Pool::new(&own, 3.0, 20);
        let mean: f64 = (0..pool.len()).map(|place| pool.probability(place) * pool.companion(place)).sum();
        assert!((mean - pool.reached() as f64).abs() < 1e-9);
        assert_eq!(pool.reached(), 40);
    }
}

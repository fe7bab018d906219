//! Which queries are drawn, and how often each.
//!
//! The pool is the own corpus' words that stand in two documents or more. A short pilot tells how many pages of the engine stand behind
//! one own document; words for which more pages are to be expected than the engine shows, or nearly as many, are left out, since they
//! would be asked in vain. The others are drawn in proportion to their frequency at home, up to a bound: queries that find more say more, but those that
//! find very much say little beyond that.

use lookalike_census::Random;
use lookalike_engines::EngineError;

use crate::desk::{Desk, Found};
use crate::own::{Own, WordId};

/// Frequency at home beyond which a word is drawn no more often.
pub const BOUND: u32 = 30;

/// Words are left out when more pages are expected for them than this share of what the engine shows.
pub const MARGIN: f64 = 0.6;

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
}

const NONE: u32 = u32::MAX;

impl Pool {
    /// All words that stand in two own documents or more, for an engine that has so many pages for each of them and shows `limit`.
    pub fn new(own: &Own, scale: f64, limit: usize) -> Self {
        let mut words = own.queries(2);
        words.retain(|&word| f64::from(own.frequency(word)) * scale <= MARGIN * limit as f64);
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
        Pool { words, cumulated, places, scale }
    }

    /// What each query would find at home: the sum of one over the degrees of its documents, each weighed, by its probability; and the
    /// mean of that over draws, which is what all own documents that the pool reaches weigh together.
    pub fn at_home(&self, own: &Own, weigh: impl Fn(&[WordId]) -> f64) -> (Vec<f64>, f64) {
        let mut found = vec![0.0; self.words.len()];
        let mut all = 0.0;
        for document in own.documents() {
            let degree = self.degree(document);
            if degree == 0 {
                continue;
            }
            let weight = weigh(document);
            all += weight;
            for place in document.iter().filter_map(|&word| self.place(word)) {
                found[place] += weight / degree as f64;
            }
        }
        for (place, found) in found.iter_mut().enumerate() {
            *found /= self.probability(place);
        }
        (found, all)
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

    /// How many pages of the engine are to be expected for a word.
    pub fn expected(&self, own: &Own, word: WordId) -> f64 {
        f64::from(own.frequency(word)) * self.scale
    }

    /// How likely a document like the own ones is reached by the pool, by how many different words it has. Each own document is looked at
    /// as if it were not at home, so that its words must stand in two others, and at least one of them must be usable. How likely a word
    /// is usable is seen from the words of about the same frequency that were asked for.
    pub fn reach(&self, desk: &Desk<'_>) -> Reach {
        let own = desk.own();
        let usable = self.usable_shares(desk);
        let mut reach = Reach { sums: [(0.0, 0.0); CLASSES] };
        for document in own.documents() {
            let fit = document.iter().filter(|&&word| self.place(word).is_some() && own.frequency(word) > 2);
            let reached =
                1.0 - fit.map(|&word| 1.0 - usable[class(own.frequency(word) as usize)]).product::<f64>();
            let (sum, all) = &mut reach.sums[class(document.len()) / 2];
            (*sum, *all) = (*sum + reached, *all + 1.0);
        }
        reach
    }

    /// By class of frequency, which share of the words that were asked for showed all of their pages.
    fn usable_shares(&self, desk: &Desk<'_>) -> [f64; CLASSES] {
        // Before anyone was asked, a word is believed to be usable.
        let mut counts = [(1.0, 1.0); CLASSES];
        for &word in &self.words {
            let (usable, asked) = &mut counts[class(desk.own().frequency(word) as usize)];
            match desk.known(word) {
                Some(Found::All(_)) => (*usable, *asked) = (*usable + 1.0, *asked + 1.0),
                Some(Found::TooMany) => *asked += 1.0,
                _ => {}
            }
        }
        counts.map(|(usable, asked)| usable / asked)
    }
}

/// Classes of frequencies: four for each doubling.
const CLASSES: usize = 128;

fn class(count: usize) -> usize {
    ((4.0 * (count.max(1) as f64).log2()) as usize).min(CLASSES - 1)
}

/// Least probability of being reached that a page is weighed by. Pages that are met more rarely are more than anyone can stand for.
const LEAST: f64 = 0.05;

/// How likely documents are reached, by the number of their different words.
#[derive(Debug, Clone, PartialEq)]
pub struct Reach {
    /// For each class, two for each doubling: documents that are reached, and all.
    sums: [(f64, f64); CLASSES],
}

impl Reach {
    /// How likely a page with so many different words is reached: the share among own documents of about that length, drawn a little
    /// towards that of all.
    pub fn of(&self, words: usize) -> f64 {
        let (sum, all) = self.sums[class(words) / 2];
        ((sum + 5.0 * self.mean()) / (all + 5.0)).max(LEAST)
    }

    /// How likely an own document is reached.
    pub fn mean(&self) -> f64 {
        let (sum, all) =
            self.sums.iter().fold((0.0, 0.0), |(sum, all), class| (sum + class.0, all + class.1));
        if all > 0.0 { sum / all } else { 0.0 }
    }

    /// The relative error that counting own documents leaves.
    pub fn error(&self) -> f64 {
        let all: f64 = self.sums.iter().map(|class| class.1).sum();
        let mean = self.mean();
        if mean > 0.0 { ((1.0 - mean) / (mean * all)).sqrt() } else { 0.0 }
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
        let pool = Pool::new(&own, 3.0, 100);
        assert_eq!(pool.len(), 12);
        assert_eq!(pool.place(own.number("all").unwrap()), None);
        assert_eq!(pool.expected(&own, own.number("a0").unwrap()), 60.0);
    }

    #[test]
    fn what_is_at_home_has_a_known_mean() {
        let own = own();
        let pool = Pool::new(&own, 3.0, 40);
        let (found, all) = pool.at_home(&own, |document| document.len() as f64);
        let mean: f64 = found.iter().enumerate().map(|(place, found)| pool.probability(place) * found).sum();
        assert!((mean - all).abs() < 1e-9);
        assert_eq!(all, 160.0);
    }
}

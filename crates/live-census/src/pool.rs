//! The pool of queries, and the probability of drawing each.
//!
//! The pool is the own corpus' words that are in two documents or more. A short pilot estimates how many pages the engine has for
//! each own document; words for which more pages are to be expected than the engine shows, or nearly as many, are left out, since
//! they would be asked in vain. Where hardly any are left, since the engine shows few results, words of one document are taken,
//! too. The others are drawn in proportion to their frequency in the own corpus, up to a bound: queries that find more say more,
//! but those that find very much say little beyond that.

use lookalike_census::Random;
use lookalike_search_engines::EngineError;

use crate::FieldError;
use crate::engine_client::{EngineClient, WordResult};
use crate::own_corpus::{OwnCorpus, WordId};
use crate::sampling::has_digits;

/// Frequency in the own corpus beyond which a word is drawn no more often.
pub const FREQUENCY_BOUND: u32 = 30;

/// Words are left out when more pages are expected for them than this share of the results that the engine shows.
pub const MARGIN: f64 = 0.6;

/// Words of one own document are taken, too, if those of this number of documents are expected to find too much.
const FEW_DOCUMENTS: u32 = 4;

/// Queries of a pilot.
pub const PILOT_QUERIES: usize = 60;

/// Queries with the probability of each.
#[derive(Debug, Clone)]
pub struct Pool {
    /// The words, by frequency in the own corpus.
    words: Vec<WordId>,
    /// For each of them its probability and those of all before it.
    cumulated: Vec<f64>,
    /// For each word of the vocabulary its index in the pool, or [`NOT_IN_POOL`].
    indices: Vec<u32>,
    /// Pages of the engine for each own document, by the pilot.
    scale: f64,
    /// Fewest own documents that a word is in.
    least: u32,
}

const NOT_IN_POOL: u32 = u32::MAX;

impl Pool {
    /// Makes the pool for an engine that has `scale` pages for each own document and shows `limit` results.
    pub fn new(own: &OwnCorpus, scale: f64, limit: usize) -> Self {
        let most = MARGIN * limit as f64 / scale;
        let least = if most < f64::from(FEW_DOCUMENTS) { 1 } else { 2 };
        Pool::of(own, (least, most.max(2.0)), scale)
    }

    /// Makes the pool of all words that are in at least `least` and at most `most` own documents.
    fn of(own: &OwnCorpus, (least, most): (u32, f64), scale: f64) -> Self {
        let mut words = own.queries(least);
        words.retain(|&word| f64::from(own.frequency(word)) <= most);
        words.sort_by_key(|&word| own.frequency(word));
        let mut indices = vec![NOT_IN_POOL; own.vocabulary()];
        for (index, &word) in words.iter().enumerate() {
            indices[word as usize] = index as u32;
        }
        let mut sum = 0.0;
        let mut cumulated: Vec<f64> = words
            .iter()
            .map(|&word| {
                sum += f64::from(own.frequency(word).min(FREQUENCY_BOUND));
                sum
            })
            .collect();
        cumulated.iter_mut().for_each(|value| *value /= sum);
        Pool { words, cumulated, indices, scale, least }
    }

    /// Returns the result of each query in the own corpus: the weights of its documents, each divided by the degree, summed and
    /// divided by the probability of the query; and the mean of that over draws, which is the total weight of the own documents
    /// that the pool reaches.
    pub fn own_control(&self, own: &OwnCorpus, weigh: impl Fn(&[WordId]) -> f64) -> (Vec<f64>, f64) {
        let mut found = vec![0.0; self.words.len()];
        let mut all = 0.0;
        for document in own.documents() {
            let degree = self.degree(document);
            if degree == 0 {
                continue;
            }
            let weight = weigh(document);
            all += weight;
            for index in document.iter().filter_map(|&word| self.index(word)) {
                found[index] += weight / degree as f64;
            }
        }
        for (index, found) in found.iter_mut().enumerate() {
            *found /= self.probability(index);
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

    /// Returns the word at an index.
    pub fn word(&self, index: usize) -> WordId {
        self.words[index]
    }

    /// Returns the index of a word, if it is in the pool.
    pub fn index(&self, word: WordId) -> Option<usize> {
        let index = self.indices[word as usize];
        (index != NOT_IN_POOL).then_some(index as usize)
    }

    /// Returns the number of these words that are in the pool.
    pub fn degree(&self, words: &[WordId]) -> usize {
        words.iter().filter(|&&word| self.indices[word as usize] != NOT_IN_POOL).count()
    }

    /// Returns the probability of drawing the query at an index.
    pub fn probability(&self, index: usize) -> f64 {
        self.cumulated[index] - if index == 0 { 0.0 } else { self.cumulated[index - 1] }
    }

    /// Draws a query from part `stratum` of `strata` equal parts of the probability; returns its index.
    pub fn draw(&self, (stratum, strata): (usize, usize), random: &mut Random) -> usize {
        let at = (stratum as f64 + random.unit()) / strata as f64;
        self.cumulated.partition_point(|&below| below <= at).min(self.words.len() - 1)
    }

    /// Returns the number of pages of the engine to be expected for a word.
    pub fn expected(&self, own: &OwnCorpus, word: WordId) -> f64 {
        f64::from(own.frequency(word)) * self.scale
    }

    /// Estimates the probability that the pool reaches a document like the own ones, by the number of its different words.
    ///
    /// Each own document is treated as if it were not in the own corpus: its words must be in as many others as the pool wants, and
    /// at least one of them must be usable. The probability of that follows from the words that were asked for, by the number of
    /// pages expected for them. A page has a word that finds many pages more often than one that finds few, so words that were
    /// asked for count as often as they found pages.
    ///
    /// Engines that index a part of pages, or cut words otherwise, do not find a page by all of its words (`by_own_word`, for words without
    /// digits and with).
    ///
    /// The number of pages expected depends on whether the engine prefers long pages: own documents count as many times as the
    /// engine has pages of their length, by the pages that were met (length in different words, and weight). That needs the
    /// probability that pages of a length are met, which is found in a few rounds.
    pub fn reach(&self, client: &EngineClient<'_>, sampled: &[(usize, f64)], by_own_word: [f64; 2]) -> Reach {
        let mut found = [0.0; CLASSES];
        sampled.iter().for_each(|&(words, weight)| found[length_class(words)] += weight);
        let mut own_counts = [0.0; CLASSES];
        client.own().documents().for_each(|document| own_counts[length_class(document.len())] += 1.0);
        let mut reach = Reach { sums: own_counts.map(|all| (all, all)) };
        for _ in 0..ROUNDS {
            let times = reach.times(&found, &own_counts);
            reach = self.reach_by(client, &times, by_own_word);
        }
        reach
    }

    /// The same, where an own document of each class of lengths stands for `times` pages.
    fn reach_by(&self, client: &EngineClient<'_>, times: &[f64; CLASSES], by_own_word: [f64; 2]) -> Reach {
        let own = client.own();
        let mut expected = vec![0.0; own.vocabulary()];
        for document in own.documents() {
            let times = times[length_class(document.len())];
            document.iter().for_each(|&word| expected[word as usize] += times);
        }
        let usable = self.usable_shares(client, &expected);
        let mut reach = Reach { sums: [(0.0, 0.0); CLASSES] };
        for document in own.documents() {
            let class_of_length = length_class(document.len());
            let fit = document
                .iter()
                .filter(|&&word| self.index(word).is_some() && own.frequency(word) > self.least);
            let elsewhere = |word: WordId| expected[word as usize] - times[class_of_length];
            let finds = |word: WordId| {
                let by_own_word = by_own_word[usize::from(has_digits(own.spelling(word)))];
                usable[class(elsewhere(word))] * by_own_word
            };
            let missed: f64 = fit.map(|&word| 1.0 - finds(word)).product();
            let (sum, all) = &mut reach.sums[class_of_length];
            (*sum, *all) = (*sum + 1.0 - missed, *all + 1.0);
        }
        reach
    }

    /// Returns, by class of the number of pages expected, the share of the words asked for that showed all of their pages; each
    /// word counts as often as it has pages.
    fn usable_shares(&self, client: &EngineClient<'_>, expected: &[f64]) -> [f64; CLASSES] {
        // Before anyone was asked, a word is believed to be usable.
        let mut counts = [(1.0, 1.0); CLASSES];
        for &word in &self.words {
            let expected = expected[word as usize];
            let (usable, asked) = &mut counts[class(expected)];
            match client.cached(word) {
                Some(WordResult::All(pages)) => {
                    let pages = pages.len() as f64;
                    (*usable, *asked) = (*usable + pages, *asked + pages);
                }
                Some(WordResult::TooMany) => *asked += expected.max(client.limit() as f64 + 1.0),
                _ => {}
            }
        }
        counts.map(|(usable, asked)| usable / asked)
    }
}

/// Rounds to find the probability that pages are met.
const ROUNDS: usize = 3;

/// Number of classes of frequencies, four for each doubling.
const CLASSES: usize = 128;

fn class(count: f64) -> usize {
    ((4.0 * count.max(1.0).log2()) as usize).min(CLASSES - 1)
}

/// Returns the class of a length: two for each doubling.
fn length_class(words: usize) -> usize {
    class(words as f64) / 2
}

/// Number of average documents that are added to those of one length, so that few documents do not decide.
const PRIOR_DOCUMENTS: f64 = 5.0;

/// Least probability of being reached that a page is weighed by, so that no page that is met by rare luck weighs too much.
const LEAST_REACH: f64 = 0.05;

/// The relative standard error of the number of pages that no query reaches: they are counted by own documents of their length, and
/// nothing says that these are alike.
const UNREACHED_ERROR: f64 = 0.25;

/// The probability that documents are reached, by the number of their different words.
#[derive(Debug, Clone, PartialEq)]
pub struct Reach {
    /// For each class, two for each doubling: documents that are reached, and all.
    sums: [(f64, f64); CLASSES],
}

impl Reach {
    /// Returns the probability that a page with `words` different words is reached: the share among own documents of about that
    /// length, drawn a little towards that of all.
    pub fn of(&self, words: usize) -> f64 {
        self.of_class(length_class(words))
    }

    fn of_class(&self, class: usize) -> f64 {
        let (sum, all) = self.sums[class];
        ((sum + PRIOR_DOCUMENTS * self.mean()) / (all + PRIOR_DOCUMENTS)).max(LEAST_REACH)
    }

    /// Returns the number of pages that an own document of each class of lengths stands for, given the weight of all pages met and
    /// the number of own documents in each class.
    fn times(&self, found: &[f64; CLASSES], own_counts: &[f64; CLASSES]) -> [f64; CLASSES] {
        let pages: Vec<f64> =
            found.iter().enumerate().map(|(class, found)| found / self.of_class(class)).collect();
        let all = pages.iter().sum::<f64>() / own_counts.iter().sum::<f64>().max(1.0);
        std::array::from_fn(|class| {
            (pages[class] + PRIOR_DOCUMENTS * all) / (own_counts[class] + PRIOR_DOCUMENTS)
        })
    }

    /// Returns the probability that an own document is reached.
    pub fn mean(&self) -> f64 {
        let (sum, all) =
            self.sums.iter().fold((0.0, 0.0), |(sum, all), class| (sum + class.0, all + class.1));
        if all > 0.0 { sum / all } else { 0.0 }
    }

    /// Returns the relative error of a size where this share was reached: that of counting own documents, and the possible
    /// difference between them and the engine's pages.
    pub fn unreached_error(&self, share: f64) -> f64 {
        self.error().hypot(UNREACHED_ERROR * (1.0 - share.min(1.0)))
    }

    /// Returns the relative error of counting own documents.
    fn error(&self) -> f64 {
        let all: f64 = self.sums.iter().map(|class| class.1).sum();
        let mean = self.mean();
        if mean > 0.0 { ((1.0 - mean) / (mean * all)).sqrt() } else { 0.0 }
    }
}

/// Makes the pool for an engine, after a short pilot.
pub fn explore(client: &mut EngineClient<'_>, random: &mut Random) -> Result<Pool, FieldError> {
    let (words, engine) = (client.own().queries(2).len(), client.name().to_owned());
    if words < FEWEST_WORDS {
        return Err(FieldError::FewWords(words));
    }
    let scale = match pilot(client, random) {
        Ok(Some(scale)) => scale,
        Ok(None) => return Err(no_answer(client)),
        Err(EngineError::Spent { .. }) if !client.has_answer() => return Err(no_answer(client)),
        Err(EngineError::Spent { .. }) => {
            return Err(FieldError::FewDraws { engine, calls: client.cost().calls, draws: 0 });
        }
        Err(error) => return Err(error.into()),
    };
    let pool = Pool::new(client.own(), scale, client.limit());
    if scale == 0.0 || pool.is_empty() {
        return Err(FieldError::NoPages { engine });
    }
    Ok(pool)
}

fn no_answer(client: &EngineClient<'_>) -> FieldError {
    FieldError::NoAnswer { engine: client.name().to_owned(), why: client.last_failure().map(str::to_owned) }
}

/// Fewest words of the own corpus that make a pool.
const FEWEST_WORDS: usize = 50;

/// Estimates the pages of the engine for each own document: the median over words of pages found by document frequency in the own
/// corpus. Words with more pages than the engine shows count as if it showed all, which does no harm as long as they are less than
/// half; else rarer words are asked for. None when no question was answered.
fn pilot(client: &mut EngineClient<'_>, random: &mut Random) -> Result<Option<f64>, EngineError> {
    let mut most = f64::INFINITY;
    loop {
        let pool = Pool::of(client.own(), (2, most), 0.0);
        let (mut ratios, mut frequencies, mut cut_off, mut all) = (Vec::new(), Vec::new(), 0, 0);
        for turn in 0..PILOT_QUERIES.min(pool.len()) {
            let word = pool.word(pool.draw((turn, PILOT_QUERIES), random));
            let frequency = f64::from(client.own().frequency(word));
            let found = match client.search(word)? {
                WordResult::All(pages) => pages.len(),
                WordResult::TooMany => {
                    cut_off += 1;
                    client.limit()
                }
                WordResult::NoAnswer => continue,
            };
            all += found;
            ratios.push(found as f64 / frequency);
            frequencies.push(frequency);
        }
        if ratios.is_empty() {
            return Ok(None);
        }
        if 2 * cut_off <= ratios.len() || most <= 2.0 {
            // Most words may find nothing where the engine is small, or of another kind.
            let mean = all as f64 / frequencies.iter().sum::<f64>();
            return Ok(Some(median(ratios)).filter(|&median| median > 0.0).or(Some(mean)));
        }
        most = (median(frequencies) / 4.0).max(2.0);
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> OwnCorpus {
        let mut own = OwnCorpus::new();
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
        let index = pool.index(own.number("all").unwrap()).unwrap();
        assert!((pool.probability(index) - 30.0 / 110.0).abs() < 1e-12);
        let mut random = Random::new(5);
        let drawn = (0..22_000).filter(|_| pool.draw((0, 1), &mut random) == index).count();
        assert!((drawn as f64 / 6_000.0 - 1.0).abs() < 0.06, "{drawn}");
        let strata: Vec<usize> = (0..11).map(|stratum| pool.draw((stratum, 11), &mut random)).collect();
        assert!(strata.is_sorted());
        assert_eq!(strata.iter().filter(|&&drawn| drawn == index).count(), 3);
    }

    #[test]
    fn words_that_would_find_too_much_are_left_out() {
        let own = own();
        let pool = Pool::new(&own, 3.0, 100);
        assert_eq!(pool.len(), 12);
        assert_eq!(pool.index(own.number("all").unwrap()), None);
        assert_eq!(pool.expected(&own, own.number("a0").unwrap()), 60.0);
    }

    #[test]
    fn the_own_control_has_a_known_mean() {
        let own = own();
        let pool = Pool::new(&own, 3.0, 40);
        let (found, all) = pool.own_control(&own, |document| document.len() as f64);
        let mean: f64 = found.iter().enumerate().map(|(index, found)| pool.probability(index) * found).sum();
        assert!((mean - all).abs() < 1e-9);
        assert_eq!(all, 160.0);
    }
}

//! Pages of an engine with the weights that make them uniform: pool-based importance sampling after Bar-Yossef and Gurevich.
//!
//! A query `q` is drawn with probability `p(q)`, and some of its results are looked at. A page `x` that `d` usable queries find is met
//! that much more often, so it weighs `1/d`; the sum of these weights over all results, by `p(q)`, has the number of pages that the pool
//! reaches as its mean. A query is usable when it has results and the engine shows all of them.
//!
//! **One over a degree, unbiased.** The queries that might find `x` are the pool's words on it, `|preds|` of them; which of them
//! are usable would cost a question each. Instead they are drawn at random until one is usable *and has `x` among its results*;
//! with `t` draws, the mean of `t/|preds|` is `1/d`. That the results must have `x` keeps the estimate right for engines that index
//! the first part of a page only, or cut words otherwise than we do: pages that they do not find by a word do not count, even if
//! the word is on the page. Nor do pages that they find by a word that is not on them as we read them, such as another form of the
//! word or the text of a link: a query finds a page when both sides say so.
//!
//! **Fewer questions.** Nearly always the first draw is good, and `t = 1`. So it is looked up only with a probability `ρ`, and the
//! excess over 1 is divided by `ρ`: the mean stays the same. How often looking up pays is learned on the way, apart for words that
//! are expected to find few pages and for those that may find too many, and apart for words with digits, which engines cut in many
//! ways.
//!
//! **Missing answers.** A query without an answer finds nothing, in the own corpus as in the engine, and pages that could
//! not be fetched are stood for by the others of the draw. Intervals allow for draws that are skewed or few.

use lookalike_census::Random;
use lookalike_search_engines::EngineError;

use crate::engine_client::{EngineClient, PageId, WordResult};
use crate::own_corpus::WordId;
use crate::pool::Pool;

/// Results that are looked at for each query.
pub const LOOKED_AT: usize = 4;

/// Draws that come from equal parts of the pool's probability, one from each.
const STRATA: usize = 50;

/// A page that was sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledPage {
    /// The page.
    pub page: PageId,
    /// The number of pages of the engine that it stands for, in this draw.
    pub weight: f64,
}

/// The result of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// The query.
    pub word: WordId,
    /// Results of it, none when it was not usable.
    pub results: usize,
    /// The number of results that were looked at.
    pub looked_at: usize,
    /// The pages that could be read and have the word; the sum of their weights is the draw's estimate of the size.
    pub pages: Vec<SampledPage>,
    /// Its index in the pool.
    pub index: usize,
}

impl Draw {
    /// Returns the draw's estimate of the number of pages that the pool reaches.
    pub fn size(&self) -> f64 {
        self.pages.iter().map(|page| page.weight).sum()
    }
}

/// The number of first draws that were looked up, and of those that were not good, for words of one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct LookupStats {
    looked_up: u32,
    bad: u32,
}

impl LookupStats {
    /// Returns the probability with which the next one is looked up: the root of the share that was not good, which balances
    /// questions and error, within bounds.
    fn probability(self) -> f64 {
        let bad = (f64::from(self.bad) + 0.5) / (f64::from(self.looked_up) + 5.0);
        (1.5 * bad.sqrt()).clamp(0.1, 1.0)
    }
}

/// The faults met in sampling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct SamplingFaults {
    /// Queries without an answer.
    #[serde(rename = "silent")]
    pub unanswered: u64,
    /// Results whose fetch had no answer; others count for them.
    pub not_fetched: u64,
    /// Results that are no pages, according to the one asked for them.
    pub gone: u64,
    /// Results that do not have the word asked for.
    pub without_word: u64,
    /// Words on a page by which the engine does not find it, though it shows all that it finds by them.
    pub not_found_by_own_word: u64,
    /// Words that were looked up that way.
    pub looked_up: u64,
}

/// Draws pages of one engine.
pub struct Sampler<'p> {
    pool: &'p Pool,
    random: Random,
    turn: usize,
    /// The lookups by class of word.
    lookup_stats: [LookupStats; 4],
    /// The number of times that the engine found a page by a word on it whose results are all shown, and the number of times that
    /// this was looked at: for words without digits and with.
    by_own_word: [(u64, u64); 2],
    looked_at: usize,
    /// The faults met so far.
    pub faults: SamplingFaults,
}

impl<'p> Sampler<'p> {
    /// Creates a sampler over a pool.
    pub fn new(pool: &'p Pool, looked_at: usize, random: Random) -> Self {
        let lookup_stats = [LookupStats::default(); 4];
        Sampler {
            pool,
            random,
            turn: 0,
            lookup_stats,
            by_own_word: [(0, 0); 2],
            looked_at: looked_at.max(1),
            faults: SamplingFaults::default(),
        }
    }

    /// The pool.
    pub fn pool(&self) -> &'p Pool {
        self.pool
    }

    /// Makes one draw. A query without an answer finds nothing, here as for the degrees of pages. An error ends the sample: an
    /// empty budget, most often.
    pub fn draw(&mut self, client: &mut EngineClient<'_>) -> Result<Draw, EngineError> {
        let index = self.pool.draw((self.turn % STRATA, STRATA), &mut self.random);
        self.turn += 1;
        let word = self.pool.word(index);
        let found = client.search(word)?;
        self.faults.unanswered += u64::from(*found == WordResult::NoAnswer);
        let results = found.usable().to_vec();
        let chosen = self.random.sample_indices(results.len(), self.looked_at);
        let scale = results.len() as f64 / (chosen.len().max(1) as f64 * self.pool.probability(index));
        let mut pages = Vec::with_capacity(chosen.len());
        for index in chosen {
            if let Some(inverse) = self.inverse_degree(client, word, results[index])? {
                pages.push(SampledPage { page: results[index], weight: inverse * scale });
            }
        }
        Ok(Draw { word, results: results.len(), looked_at: self.looked_at.min(results.len()), pages, index })
    }

    /// An unbiased draw of one over the number of usable queries that find a page; nothing when the page cannot be had, or does not have
    /// the word asked for.
    fn inverse_degree(
        &mut self,
        client: &mut EngineClient<'_>,
        asked: WordId,
        page: PageId,
    ) -> Result<Option<f64>, EngineError> {
        let pool = self.pool;
        client.fetch_words(page)?;
        let Some(contents) = client.fetched_words(page) else {
            let kind =
                if client.is_unanswered(page) { &mut self.faults.not_fetched } else { &mut self.faults.gone };
            *kind += 1;
            return Ok(None);
        };
        let queries: Vec<WordId> =
            contents.known.iter().copied().filter(|&word| pool.index(word).is_some()).collect();
        if queries.binary_search(&asked).is_err() {
            self.faults.without_word += 1;
            return Ok(None);
        }
        let draws = self.draws(client, asked, page, &queries)?;
        Ok(Some(draws / queries.len() as f64))
    }

    /// Draws from these queries, the one asked for among them, until one finds the page; returns the number of draws, right in the mean.
    fn draws(
        &mut self,
        client: &mut EngineClient<'_>,
        asked: WordId,
        page: PageId,
        queries: &[WordId],
    ) -> Result<f64, EngineError> {
        let first = queries[self.random.below(queries.len())];
        if first == asked {
            return Ok(1.0);
        }
        let class = self.word_class(client, first);
        let mut share = 1.0;
        if client.cached(first).is_none() {
            share = self.lookup_stats[class].probability();
            if !self.random.chance(share) {
                return Ok(1.0);
            }
        }
        let good = self.finds(client, first, page)?;
        if let Some(WordResult::All(_)) = client.cached(first) {
            let (found, looked_at) = &mut self.by_own_word[class / 2];
            (*found, *looked_at) = (*found + u64::from(good), *looked_at + 1);
        }
        self.lookup_stats[class].looked_up += 1;
        self.lookup_stats[class].bad += u32::from(!good);
        if good {
            return Ok(1.0);
        }
        // It ends: the query that was asked for does find the page.
        let mut more = 1u32;
        loop {
            let query = queries[self.random.below(queries.len())];
            if query == asked || self.finds(client, query, page)? {
                return Ok(1.0 + f64::from(more) / share);
            }
            more += 1;
        }
    }

    /// Returns the index in `lookup_stats` that a word belongs to.
    fn word_class(&self, client: &EngineClient<'_>, word: WordId) -> usize {
        let many = self.pool.expected(client.own(), word) > client.limit() as f64 / 3.0;
        usize::from(many) + 2 * usize::from(has_digits(client.own().spelling(word)))
    }

    /// Returns the probability that the engine finds a page by a word on it, for words without digits and with: it may index a part
    /// of pages, or cut words otherwise.
    pub fn found_by_own_word(&self) -> [f64; 2] {
        self.by_own_word.map(|(found, looked_at)| (found as f64 + 1.0) / (looked_at as f64 + 1.0))
    }

    /// Returns true if a query is usable and finds a page. No answer counts as false: it is rare, and counted.
    fn finds(
        &mut self,
        client: &mut EngineClient<'_>,
        query: WordId,
        page: PageId,
    ) -> Result<bool, EngineError> {
        let found = client.search(query)?;
        let finds = found.usable().binary_search(&page).is_ok();
        match found {
            WordResult::All(_) => {
                self.faults.looked_up += 1;
                self.faults.not_found_by_own_word += u64::from(!finds);
            }
            WordResult::NoAnswer => self.faults.unanswered += 1,
            WordResult::TooMany => {}
        }
        Ok(finds)
    }
}

/// Returns true if a word has digits: engines cut such words in many ways.
pub(crate) fn has_digits(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns the ratio of all results looked at to those that were answered for, as pages or as none: some, by chance, are not.
pub fn fetch_correction<'d>(draws: impl Iterator<Item = &'d Draw>, faults: &SamplingFaults) -> f64 {
    let looked_at = draws.map(|draw| draw.looked_at as f64).sum::<f64>();
    let answered = looked_at - faults.not_fetched as f64;
    if answered > 0.0 { looked_at / answered } else { 1.0 }
}

/// Returns the number of equal weights that would be worth as much as these.
pub fn effective(weights: impl Iterator<Item = f64>) -> f64 {
    let (sum, squares) =
        weights.fold((0.0, 0.0), |(sum, squares), weight| (sum + weight, squares + weight * weight));
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

/// Draws in a row that may need no call. Where the engine has fewer different answers than there are calls to make, all of them are known
/// at some time, and draws would go on for ever.
const MOST_FREE_DRAWS: usize = 10_000;

/// Draws until the budget is used up, or there are `most` draws, or the client has made `calls` calls, or 10,000 draws in a row
/// needed none. Any other error is passed on.
pub fn draw_until_spent(
    sampler: &mut Sampler<'_>,
    client: &mut EngineClient<'_>,
    (most, calls): (usize, u64),
) -> Result<Vec<Draw>, EngineError> {
    let (mut draws, mut free, mut before) = (Vec::new(), 0, client.cost().calls);
    while draws.len() < most && before < calls && free < MOST_FREE_DRAWS {
        match sampler.draw(client) {
            Ok(draw) => draws.push(draw),
            Err(EngineError::Spent { .. }) => break,
            Err(error) => return Err(error),
        }
        let now = client.cost().calls;
        free = if now == before { free + 1 } else { 0 };
        before = now;
    }
    Ok(draws)
}

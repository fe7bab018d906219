//! Sizes by sums over the results of a pool's queries, after Broder and others (2006).
//!
//! Queries are drawn uniformly from a pool that was fixed beforehand, none twice. A result weighs one over the number of the pool's
//! words on its page. From the pages that the pool reaches to the whole index leads a second pool that has little to do with the
//! first, or a uniform sample of pages; there is none, so the own documents take its place, each treated as if it were not in the
//! own corpus.
//!
//! **Queries with too many results** belong to no pool. They are known only once they were asked: these weigh nothing, which is the
//! same as a pool that is smaller by their share, and no longer count as words of pages. Those that were not met still count, so
//! that pages weigh too little. The authors' remedy is a pool of words of medium frequency; here, words that are in at most a fifth
//! as many own documents as the engine shows results.
//!
//! Of each query's results a few are looked at, as many as [`crate::sampling`] does, and stand for all.

use lookalike_census::{Estimate, Random, pool_sums};
use lookalike_hash as hash;
use lookalike_search_engines::EngineError;

use super::{Baseline, Plan, unless_spent};
use crate::engine_client::{EngineClient, WordResult};
use crate::own_corpus::{OwnCorpus, WordId};
use crate::sampling::LOOKED_AT;

const ONE_POOL: &str = "too low by the words of the pool that find too much and were not met, and wherever the engine \
                        indexes less of a page than it gives; own documents stand in for a uniform sample";

const TWO_POOLS: &str = "too low as far as long pages are reached by both pools and short ones by neither, and by the words \
                         of the pools that find too much and were not met";

/// The words of a pool.
struct PoolWords {
    list: Vec<WordId>,
    /// For each word of the vocabulary, true if it is among them.
    has: Vec<bool>,
}

/// The weights of a query's results: of all of them, and of those that another pool reaches as well.
type Weights = (f64, f64);

impl PoolWords {
    /// Words in two own documents or more, and in no more than `most`, that `fits` lets pass.
    fn new(own: &OwnCorpus, most: u32, fits: impl Fn(&str) -> bool) -> Self {
        let mut list = own.queries(2);
        list.retain(|&word| own.frequency(word) <= most && fits(own.spelling(word)));
        let mut has = vec![false; own.vocabulary()];
        list.iter().for_each(|&word| has[word as usize] = true);
        PoolWords { list, has }
    }

    /// Returns the number of a page's words that are in the pool, without those that are known to find too much.
    fn degree(&self, page: &[WordId], client: &EngineClient<'_>) -> usize {
        page.iter().filter(|&&word| self.holds(word, client)).count()
    }

    fn reaches(&self, page: &[WordId], client: &EngineClient<'_>) -> bool {
        page.iter().any(|&word| self.holds(word, client))
    }

    fn holds(&self, word: WordId, client: &EngineClient<'_>) -> bool {
        self.has[word as usize] && client.cached(word) != Some(&WordResult::TooMany)
    }

    /// Queries in the order in which they are drawn.
    fn drawn(&self, plan: &Plan, random: &mut Random) -> Vec<WordId> {
        random
            .sample_indices(self.list.len(), plan.queries)
            .into_iter()
            .map(|place| self.list[place])
            .collect()
    }
}

/// Returns the highest frequency in the own corpus of words that are neither rare nor frequent, for an engine that shows `limit` results.
fn medium(limit: usize) -> u32 {
    u32::try_from(limit / 5).unwrap_or(u32::MAX).max(2)
}

/// One pool, of words of medium frequency.
pub fn one_pool(client: &mut EngineClient<'_>, plan: &Plan) -> Result<Vec<Baseline>, EngineError> {
    let most = medium(client.limit());
    by_one_pool("broder-one-pool", most, client, plan)
}

/// One pool, of all words in two own documents or more.
pub fn one_pool_of_all_words(
    client: &mut EngineClient<'_>,
    plan: &Plan,
) -> Result<Vec<Baseline>, EngineError> {
    by_one_pool("broder-one-pool-all-words", u32::MAX, client, plan)
}

/// Two pools: words of medium frequency, told apart by a hash.
pub fn two_halves(client: &mut EngineClient<'_>, plan: &Plan) -> Result<Vec<Baseline>, EngineError> {
    let (own, most) = (client.own(), medium(client.limit()));
    let half = |wanted| PoolWords::new(own, most, |word| hash::word(word.as_bytes()) % 2 == wanted);
    by_two_pools("broder-two-halves", [half(0), half(1)], client, plan)
}

/// Two pools: words of medium frequency, and numbers of medium frequency.
pub fn words_and_numbers(client: &mut EngineClient<'_>, plan: &Plan) -> Result<Vec<Baseline>, EngineError> {
    let (own, most) = (client.own(), medium(client.limit()));
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let pools = [PoolWords::new(own, most, |word| !is_number(word)), PoolWords::new(own, most, is_number)];
    by_two_pools("broder-words-and-numbers", pools, client, plan)
}

fn by_one_pool(
    name: &'static str,
    most: u32,
    client: &mut EngineClient<'_>,
    plan: &Plan,
) -> Result<Vec<Baseline>, EngineError> {
    let pool = PoolWords::new(client.own(), most, |_| true);
    let before = client.cost();
    let mut random = Random::part(plan.seed, 0);
    let mut weights = Vec::new();
    unless_spent(pool.drawn(plan, &mut random).into_iter().try_for_each(|word| {
        let weighed = weigh(client, word, [&pool, &pool], &mut random)?;
        weights.extend(weighed.map(|(all, _)| all));
        Ok(())
    }))?;
    let reached = pool_sums::reached(pool.list.len(), &weights, plan.seed);
    let (found, sampled) = own_reached(&pool, client);
    let estimate = reached
        .filter(|reached| reached.value > 0.0)
        .and_then(|reached| pool_sums::by_uniform_sample(reached, found, sampled));
    Ok(vec![Baseline { name, estimate, cost: client.cost() - before, bias: ONE_POOL }])
}

/// Counts the own documents that a pool would reach if they were not in the own corpus, so that two others must have the word; and all.
fn own_reached(pool: &PoolWords, client: &EngineClient<'_>) -> (u64, u64) {
    let own = client.own();
    let reached = own
        .documents()
        .filter(|document| document.iter().any(|&word| own.frequency(word) > 2 && pool.holds(word, client)));
    (reached.count() as u64, own.len() as u64)
}

fn by_two_pools(
    name: &'static str,
    [one, two]: [PoolWords; 2],
    client: &mut EngineClient<'_>,
    plan: &Plan,
) -> Result<Vec<Baseline>, EngineError> {
    let before = client.cost();
    let mut random = Random::part(plan.seed, 0);
    let (mut first, mut second): (Vec<Weights>, Vec<f64>) = (Vec::new(), Vec::new());
    let queries = [one.drawn(plan, &mut random), two.drawn(plan, &mut random)];
    // In turns, so that either has its half of a budget that nobody told us of.
    let turns = queries[0].len().max(queries[1].len());
    unless_spent((0..turns).try_for_each(|turn| {
        if let Some(&word) = queries[0].get(turn) {
            first.extend(weigh(client, word, [&one, &two], &mut random)?);
        }
        if let Some(&word) = queries[1].get(turn) {
            let weighed = weigh(client, word, [&two, &one], &mut random)?;
            second.extend(weighed.map(|(all, _)| all));
        }
        Ok(())
    }))?;
    let estimate = pool_sums::by_two_pools((one.list.len(), &first), (two.list.len(), &second), plan.seed)
        .filter(positive);
    Ok(vec![Baseline { name, estimate, cost: client.cost() - before, bias: TWO_POOLS }])
}

fn positive(estimate: &Estimate) -> bool {
    estimate.value > 0.0
}

/// Returns the weights of the results of a query of the first pool; nothing when the engine or all of its pages keep silent.
fn weigh(
    client: &mut EngineClient<'_>,
    word: WordId,
    [pool, other]: [&PoolWords; 2],
    random: &mut Random,
) -> Result<Option<Weights>, EngineError> {
    let results = match client.search(word)? {
        WordResult::All(pages) => pages.clone(),
        WordResult::TooMany => Vec::new(),
        WordResult::NoAnswer => return Ok(None),
    };
    let (mut weights, mut read) = ((0.0, 0.0), 0);
    for place in random.sample_indices(results.len(), LOOKED_AT) {
        let Some(contents) = client.fetch_words(results[place])? else { continue };
        let known = contents.known.clone();
        let weight = pool_sums::weight([pool.degree(&known, client)]);
        weights.0 += weight;
        if other.reaches(&known, client) {
            weights.1 += weight;
        }
        read += 1;
    }
    if read == 0 {
        return Ok(results.is_empty().then_some((0.0, 0.0)));
    }
    let scale = results.len() as f64 / f64::from(read);
    Ok(Some((weights.0 * scale, weights.1 * scale)))
}

//! Pages of an index by pools of queries: bias by length, and the size of the index.

use lookalike::report::Study;
use lookalike::report::study::{Grid, Value};
use lookalike_census::Estimate;
use lookalike_census::engine::{NoAnswer, Page, Pages, Word};
use lookalike_census::pool_sums;
use lookalike_census::query_pool::{self, QueryPool};
use lookalike_census::query_sampling::{QueryCounts, QuerySampling};
use lookalike_census::random::Random;
use lookalike_census::simulation::{Library, SimulatedEngine};
use lookalike_census::uniformity::{chi_square, class_shares, total_variation, weighted_mean};

use super::super::world::{PagePreference, World, cells_with_truth};
use crate::collection::Collection;
use crate::experiments::ExperimentContext;
use crate::trial::LabError;

/// Results that the engine shows.
const SHOWN: usize = 100;
/// The engine's share of the world.
const SHARE: f64 = 0.4;
/// Pages that each way draws, and draws that it may take for them.
const PAGES: usize = 500;
const DRAWS: usize = 100_000;
/// Queries of a pool that sizes are estimated from.
const QUERIES: usize = 500;
/// Results of a query that are looked at.
const RESULTS_PER_QUERY: usize = 4;

/// Adds the tables; returns a sentence, and what the pages came from.
pub(super) fn report(
    context: &ExperimentContext<'_>,
    study: &mut Study,
) -> Result<(String, Collection), LabError> {
    let (world, collection) = World::new(context)?;
    let pages = world.part(SHARE, PagePreference::None, context.seed);
    let scenario = IndexScenario { world: &world, pages: &pages, seed: context.seed };
    study.heading("Pools of queries over an index");
    study.fact("pages of the index", pages.len().to_string());
    study.fact("the measurer's own pages", world.own().len().to_string());
    study.fact("results shown", SHOWN.to_string());
    let lengths = scenario.lengths(context, study)?;
    let sizes = scenario.sizes(context, study)?;
    Ok((format!("{lengths} {sizes}"), collection))
}

/// An index that pages are drawn from, and the world that it has a part of.
struct IndexScenario<'w> {
    world: &'w World,
    pages: &'w [Page],
    seed: u64,
}

/// Pages with weights, and what they took.
struct Sample {
    pages: Vec<(Page, f64)>,
    queries: u64,
    fetched: u64,
}

type Pool<'a> = QueryPool<'a, SimulatedEngine, Library>;

/// Draws a page with its weight, if the try succeeds.
type DrawFn = fn(&mut Pool<'_>, &mut Random) -> Result<Option<(Page, f64)>, NoAnswer>;

impl IndexScenario<'_> {
    fn engine(&self) -> SimulatedEngine {
        self.world.engine(self.pages, SHOWN, self.seed)
    }

    /// Words that are on at least two of the measurer's pages, and on no more than a twentieth. Some of them have more
    /// results than the engine shows, which the measurer learns by asking.
    fn pool(&self) -> Vec<Word> {
        self.world.words(0.0, 0.05)
    }

    fn lengths(&self, context: &ExperimentContext<'_>, study: &mut Study) -> Result<String, LabError> {
        let mut grid = Grid::new(
            "Which pages are drawn, by length",
            [
                "way",
                "pages drawn",
                "queries",
                "pages fetched",
                "words of a page, on average",
                "95 %",
                "shortest quarter",
                "second",
                "third",
                "longest quarter",
                "total variation",
                "chi-square, 3 degrees of freedom",
            ],
        );
        let even: Vec<(Page, f64)> = self.pages.iter().map(|&page| (page, 1.0)).collect();
        let truth = self.quarters(&even).unwrap_or_default();
        grid.row(self.row(
            "the index itself: the truth",
            &Sample { pages: even, queries: 0, fetched: 0 },
            &truth,
        ));
        let pooled = |step: DrawFn| self.pooled(context, step);
        let ways = [
            ("two random words (Bharat and Broder)", self.two_words(context)?),
            ("pool, rejection", pooled(|pool, random| Ok(pool.reject(random)?.map(|page| (page, 1.0))))?),
            ("pool, weights", pooled(|pool, random| pool.weigh(random))?),
            ("pool, walk", self.walk(context)?),
        ];
        let mut means = Vec::new();
        for (name, sample) in &ways {
            grid.row(self.row(name, sample, &truth));
            means.push(self.mean_length(sample).map_or(f64::NAN, |mean| mean.value));
        }
        let right = self.world.mean_length(self.pages.iter().copied());
        study.table(grid);
        Ok(format!(
            "Pages drawn by two random words have {:.2} times as many words as those of the index, pages by a pool with \
             rejection {:.2} times.",
            means[0] / right,
            means[1] / right
        ))
    }

    fn mean_length(&self, sample: &Sample) -> Option<Estimate> {
        weighted_mean(&sample.pages, |page| f64::from(self.world.library.length(page)))
    }

    fn quarters(&self, pages: &[(Page, f64)]) -> Option<Vec<f64>> {
        class_shares(pages, 4, |page| self.world.quarter(page))
    }

    fn row(&self, name: &str, sample: &Sample, truth: &[f64]) -> Vec<Value> {
        let mean = self.mean_length(sample);
        let quarters = self.quarters(&sample.pages).unwrap_or_else(|| vec![f64::NAN; 4]);
        let even = sample.pages.iter().all(|&(_, weight)| weight == 1.0);
        // Pearson's test is for counts; weights have none.
        let counts: Vec<u64> =
            quarters.iter().map(|share| (share * sample.pages.len() as f64).round() as u64).collect();
        let mut row = vec![
            name.into(),
            (sample.pages.len() as u64).into(),
            sample.queries.into(),
            sample.fetched.into(),
            mean.map(|mean| mean.value).into(),
            mean.map(|mean| mean.interval).into(),
        ];
        row.extend(quarters.iter().map(|&share| Value::from(share)));
        row.push(total_variation(&quarters, truth).into());
        row.push(even.then(|| chi_square(&counts, truth).0).into());
        row
    }

    fn two_words(&self, context: &ExperimentContext<'_>) -> Result<Sample, LabError> {
        let (mut engine, mut random) = (self.engine(), Random::part(self.seed, 21));
        let lexicon = self.world.words(0.005, 0.2);
        let sampling = QuerySampling { lexicon: &lexicon, words: 2, shown: SHOWN, pass_capped: false };
        let (mut effort, mut pages) = (QueryCounts::default(), Vec::new());
        for _ in 0..PAGES {
            context.watch.check()?;
            let drawn = sampling.draw(&mut engine, &mut random, 2_000, &mut effort);
            pages.extend(drawn.map(|page| (page, 1.0)));
        }
        Ok(Sample { pages, queries: effort.queries, fetched: 0 })
    }

    /// Draws pages until there are enough; a question without an answer costs a draw.
    fn pooled(&self, context: &ExperimentContext<'_>, step: DrawFn) -> Result<Sample, LabError> {
        let (mut engine, mut random) = (self.engine(), Random::part(self.seed, 22));
        let mut pool = QueryPool::new(&mut engine, &self.world.library, self.pool(), SHOWN);
        let mut pages = Vec::new();
        for _ in 0..DRAWS {
            context.watch.check()?;
            if let Ok(Some(page)) = step(&mut pool, &mut random) {
                pages.push(page);
            }
            if pages.len() == PAGES {
                break;
            }
        }
        Ok(Sample { pages, queries: pool.asked(), fetched: pool.fetched() })
    }

    /// Every tenth page of a walk that begins at a random result.
    fn walk(&self, context: &ExperimentContext<'_>) -> Result<Sample, LabError> {
        let (mut engine, mut random) = (self.engine(), Random::part(self.seed, 23));
        let mut pool = QueryPool::new(&mut engine, &self.world.library, self.pool(), SHOWN);
        let begin = (0..DRAWS).find_map(|_| pool.weigh(&mut random).ok().flatten());
        let (mut page, mut pages) = (begin.map(|(page, _)| page), Vec::new());
        for step in 1..=10 * PAGES {
            context.watch.check()?;
            let Some(now) = page else { break };
            let next = pool.step(now, &mut random).unwrap_or(now);
            page = Some(next);
            if step.is_multiple_of(10) {
                pages.push((next, 1.0));
            }
        }
        Ok(Sample { pages, queries: pool.asked(), fetched: pool.fetched() })
    }

    fn sizes(&self, context: &ExperimentContext<'_>, study: &mut Study) -> Result<String, LabError> {
        let mut grid = Grid::new(
            "The size of the index",
            [
                "way",
                "queries of the pool",
                "asked",
                "truth: pages that the pool reaches",
                "estimate of these",
                "95 %",
                "holds the truth",
                "truth: all pages",
                "estimate of all",
                "all: 95 %",
                "all: holds the truth",
            ],
        );
        let pool = self.pool();
        let (numbers, words): (Vec<Word>, Vec<Word>) = pool
            .iter()
            .partition(|&&word| self.world.library.spelling(word).bytes().all(|b| b.is_ascii_digit()));
        let all = self.pages.len() as f64;
        let drawn = self.by_draws(context, pool)?;
        let first = self.by_sums(context, &numbers, &words, 32)?;
        let second = self.by_sums(context, &words, &numbers, 33)?;
        let two = pool_sums::by_two_pools(
            (first.pool, &first.weights),
            (second.pool, &second.weights.iter().map(|&(weight, _)| weight).collect::<Vec<_>>()),
            self.seed,
        );
        let mut line =
            |name: &str, pool: u64, asked: u64, reached: Option<(f64, Option<Estimate>)>, whole| {
                let mut row = vec![name.into(), pool.into(), asked.into()];
                row.push(reached.map(|(truth, _)| truth).into());
                row.extend(cells_with_truth(
                    reached.and_then(|(_, estimate)| estimate),
                    reached.map_or(f64::NAN, |(truth, _)| truth),
                ));
                row.push(all.into());
                row.extend(cells_with_truth(whole, all));
                grid.row(row);
            };
        let SizeEstimate { pool, asked, truth, estimate, whole, .. } = &drawn;
        line("pool with drawn degrees", *pool as u64, *asked, Some((*truth, *estimate)), *whole);
        for (name, sums) in [("sums over numbers", &first), ("sums over words", &second)] {
            line(name, sums.pool as u64, sums.asked, Some((sums.truth, sums.estimate)), sums.whole);
        }
        line("sums over two pools", (first.pool + second.pool) as u64, first.asked + second.asked, None, two);
        study.table(grid);
        study.text(
            "Estimates of all pages divide by the share of the measurer's own pages that the pool reaches, each left out of \
             the pool's making; two pools need no such share, but must have nothing to do with each other.",
        );
        let by = |estimate: &Option<Estimate>| estimate.map_or(f64::NAN, |estimate| estimate.value / all);
        Ok(format!(
            "The index is told {:.2} of its size by a pool with drawn degrees, {:.2} by sums over words, {:.2} by two pools.",
            by(&drawn.whole),
            by(&second.whole),
            by(&two)
        ))
    }

    /// Size by random queries and drawn degrees.
    fn by_draws(&self, context: &ExperimentContext<'_>, words: Vec<Word>) -> Result<SizeEstimate, LabError> {
        let (mut engine, mut random) = (self.engine(), Random::part(self.seed, 31));
        let mut pool = QueryPool::new(&mut engine, &self.world.library, words, SHOWN);
        let mut draws = Vec::new();
        for _ in 0..QUERIES {
            context.watch.check()?;
            draws.extend(pool.size_draw(RESULTS_PER_QUERY, &mut random).ok());
        }
        let asked = pool.asked();
        let estimate = query_pool::size(&draws);
        let whole = self.all_of(estimate, &mut pool);
        Ok(SizeEstimate {
            pool: pool.len(),
            asked,
            truth: self.reached(&mut pool),
            estimate,
            whole,
            weights: Vec::new(),
        })
    }

    /// Size by sums over the results of some queries of a pool; for each query also what the other pool reaches of it.
    fn by_sums(
        &self,
        context: &ExperimentContext<'_>,
        words: &[Word],
        other: &[Word],
        part: u64,
    ) -> Result<SizeEstimate, LabError> {
        let (mut engine, mut second, mut random) =
            (self.engine(), self.engine(), Random::part(self.seed, part));
        let mut pool = QueryPool::new(&mut engine, &self.world.library, words.to_vec(), SHOWN);
        let mut others = QueryPool::new(&mut second, &self.world.library, other.to_vec(), SHOWN);
        let mut weights = Vec::new();
        for query in random.sample_indices(pool.len(), QUERIES) {
            context.watch.check()?;
            let Ok(results) = pool.results(query).map(<[Page]>::to_vec) else { continue };
            let (mut all, mut both) = (0.0, 0.0);
            for page in results {
                let weight = pool_sums::weight(pool.usable(page).map(|queries| queries.len()));
                all += weight;
                if others.usable(page).is_ok_and(|queries| !queries.is_empty()) {
                    both += weight;
                }
            }
            weights.push((all, both));
        }
        let asked = pool.asked() + others.asked();
        let alone: Vec<f64> = weights.iter().map(|&(weight, _)| weight).collect();
        let estimate = pool_sums::reached(pool.len(), &alone, self.seed);
        let whole = self.all_of(estimate, &mut pool);
        Ok(SizeEstimate { pool: pool.len(), asked, truth: self.reached(&mut pool), estimate, whole, weights })
    }

    /// From the pages that a pool reaches to all: by the share of the measurer's own pages that it would reach if it were
    /// made without them.
    fn all_of(&self, reached: Option<Estimate>, pool: &mut Pool<'_>) -> Option<Estimate> {
        let own = self.world.own();
        let left =
            |page: &&Page| self.world.library.words(**page).iter().any(|&word| self.is_left(word, pool));
        let found = own.iter().filter(left).count();
        pool_sums::by_uniform_sample(reached?, found as u64, own.len() as u64)
    }

    /// Returns true if the word would be in the pool without one of the measurer's pages that have it, and is usable.
    fn is_left(&self, word: Word, pool: &mut Pool<'_>) -> bool {
        self.world.frequency(word) > 2
            && pool.index(word).is_some_and(|query| pool.results(query).is_ok_and(|pages| !pages.is_empty()))
    }

    /// Returns the number of pages that the usable queries reach: the truth.
    fn reached(&self, pool: &mut Pool<'_>) -> f64 {
        self.pages.iter().filter(|&&page| pool.usable(page).is_ok_and(|queries| !queries.is_empty())).count()
            as f64
    }
}

/// The pages that a pool reaches: their number and its estimates.
struct SizeEstimate {
    pool: usize,
    asked: u64,
    truth: f64,
    estimate: Option<Estimate>,
    whole: Option<Estimate>,
    /// For each query, the weight of its results, and of those that the other pool reaches.
    weights: Vec<(f64, f64)>,
}

#[cfg(test)]
mod tests {
    use lookalike::walk::Watch;

    use super::super::super::world::tests::context;
    use super::*;

    #[test]
    fn pools_put_lengths_right_and_know_what_they_reach() {
        let watch = Watch::default();
        let context = context(800, &watch);
        let (world, _) = World::new(&context).unwrap();
        let pages = world.part(SHARE, PagePreference::None, 7);
        let scenario = IndexScenario { world: &world, pages: &pages, seed: 7 };
        let truth = world.mean_length(pages.iter().copied());
        let mean = |sample: &Sample| scenario.mean_length(sample).unwrap().value / truth;
        let words = mean(&scenario.two_words(&context).unwrap());
        let pooled = mean(&scenario.pooled(&context, |pool, random| pool.weigh(random)).unwrap());
        assert!(words > 1.15 && (pooled - 1.0).abs() < 0.12, "{words} {pooled}");
        let drawn = scenario.by_draws(&context, scenario.pool()).unwrap();
        let estimate = drawn.estimate.unwrap();
        assert!((estimate.value / drawn.truth - 1.0).abs() < 0.3, "{estimate:?} {}", drawn.truth);
        assert!(drawn.truth <= pages.len() as f64);
    }
}

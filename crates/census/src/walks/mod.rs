//! Walks over a web, the pages that they sample, and whether one may believe them.
//!
//! A walk that follows links forth and back is at a page as often as the page has neighbours, sooner or later; weights of one over
//! that number make its pages a uniform sample. *Sooner or later* is the trouble: a web is made of hosts that link mostly to
//! themselves, and a walk can stay in one of them for longer than anyone will pay for. What helps is many walkers from many
//! seeds ([`Method::Frontier`]); what then decides is where the seeds come from. [`convergence`] looks for signs that a walk
//! has not come to rest, and refuses to answer then; it also says what it cannot see.
//!
//! - [`web`]: the interface of a web that can be walked, and a [`crate::graph::Graph`] with it
//! - [`neighbour_cache`]: the neighbours of visited pages, and what they cost
//! - [`seeds`]: the pages to begin at
//! - [`walkers`], [`frontier`], [`published_walks`]: the walks
//! - [`probes`]: pages behind those that were hardly noticed
//! - [`clusters`]: visits that are likely to be alike
//! - [`pairs`], [`known_region`]: visits that meet, and visits to pages that others know of
//! - [`estimates`], [`size`]: means over all pages, and their number
//! - [`priority_sampling`]: estimates from a few pages of the sample, where looking at one is expensive
//! - [`convergence`]: the decision whether to answer at all; [`mixing`]: the speed at which a single walker forgets, where all
//!   links are known
//! - [`mod@report`]: all of it in one call

pub mod clusters;
pub mod convergence;
pub mod estimates;
pub mod frontier;
pub mod known_region;
pub mod mixing;
pub mod neighbour_cache;
pub mod pairs;
pub mod priority_sampling;
pub mod probes;
pub mod published_walks;
pub mod report;
pub mod seeds;
pub mod size;
pub mod walkers;
pub mod web;

use serde::Serialize;

use crate::CensusError;
use crate::henzinger_walk::VisitProbability;
use crate::random::Random;
use crate::webwalker::WebWalker;
use neighbour_cache::NeighbourCache;
use web::Walkable;

pub use convergence::Outcome;
pub use report::{Answer, Plan, Report, report};
pub use web::LinkedWeb;

/// A way to walk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// To a random neighbour; pages weigh one over their neighbours.
    Reweighted,
    /// The same, but not straight back unless there is no other way.
    NonBacktracking,
    /// To a random neighbour, or not, so that every page is as likely in the end (Metropolis and Hastings).
    MetropolisHastings,
    /// Many walkers, of whom one moves at a time, more often the more neighbours it has (Ribeiro and Towsley 2010).
    Frontier,
    /// Bar-Yossef and others 2000, from the first seed.
    WebWalker(WebWalker),
    /// Henzinger and others 2000, with the probability of a jump and the estimator of the visit probability that pages are weighted by.
    Henzinger(f64, VisitProbability),
}

impl Method {
    /// Its name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Reweighted => "reweighted walk",
            Method::NonBacktracking => "non-backtracking walk",
            Method::MetropolisHastings => "Metropolis-Hastings walk",
            Method::Frontier => "frontier sampling",
            Method::WebWalker(_) => "WebWalker",
            Method::Henzinger(..) => "Henzinger's walk",
        }
    }
}

/// The limits of a walk: it stops at the first that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// Different pages asked for, failures and probes included.
    pub fetches: u64,
    /// Steps of all walkers; steps over known pages cost nothing, but on a small web nothing else would end.
    pub steps: u64,
    /// The number of fetches kept for [`probes`].
    pub probes: u64,
}

impl Budget {
    /// Returns a budget of `fetches` pages, a fifth of them for probes, and at most fifty steps for each page.
    pub fn fetches(fetches: u64) -> Self {
        Budget { fetches, steps: fetches.saturating_mul(50), probes: fetches / 5 }
    }

    /// The fetches that are left for walking.
    fn walking(&self) -> u64 {
        self.fetches.saturating_sub(self.probes)
    }
}

/// A visit to a page.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sample {
    /// The page.
    pub page: u32,
    /// Its neighbours, as far as they are known.
    pub degree: u32,
    /// The walker, by the index of its seed among those that could be used.
    pub walker: u32,
    /// The number of steps that this walker had made.
    pub step: u32,
    /// One over the probability of a visit, up to a factor that is the same for all.
    pub weight: f64,
}

/// The page where a walker began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Start {
    /// The page.
    pub page: u32,
    /// Its neighbours.
    pub degree: u32,
}

/// Visits in the order made, and what they cost.
#[derive(Debug, Clone, Default)]
pub struct Walk {
    /// The visits.
    pub samples: Vec<Sample>,
    /// The seeds that could be fetched and have neighbours, by walker.
    pub starts: Vec<Start>,
    /// Seeds that could not be fetched or lead nowhere.
    pub lost_seeds: u64,
    /// Different pages asked for by walkers.
    pub walked: u64,
    /// Different pages asked for, by probes, too.
    pub fetched: u64,
    /// Those of them that could not be had.
    pub failures: u64,
    /// Steps of all walkers.
    pub steps: u64,
    /// True when walkers from uniform seeds are at rest from the first step on, so that seeds themselves are a sample to compare with.
    pub starts_stationary: bool,
    /// Pages that were fetched by probes.
    pub probes: Vec<probes::Probe>,
    /// True when nothing was left to probe.
    pub explored: bool,
    /// The neighbours of visited pages, where the method keeps them.
    pub lists: neighbour_cache::NeighbourLists,
}

/// Walks over a web from these seeds; the same seed, the same walk.
pub fn walk<W: Walkable>(
    web: &mut W,
    method: Method,
    seeds: &[u32],
    budget: Budget,
    seed: u64,
) -> Result<Walk, CensusError> {
    let rule = match method {
        Method::WebWalker(plan) => return published_walks::webwalker(web, plan, seeds, budget, seed),
        Method::Henzinger(jump, probability) => {
            return published_walks::henzinger(web, jump, probability, seeds, budget, seed);
        }
        Method::Frontier => None,
        Method::Reweighted => Some(walkers::Rule::Plain),
        Method::NonBacktracking => Some(walkers::Rule::NonBacktracking),
        Method::MetropolisHastings => Some(walkers::Rule::Metropolis),
    };
    let (mut cache, mut random) = (NeighbourCache::new(web), Random::new(seed));
    let mut walk = match rule {
        None => frontier::walk(&mut cache, seeds, budget, &mut random)?,
        Some(rule) => walkers::walk(&mut cache, rule, seeds, budget, &mut random)?,
    };
    walk.walked = cache.fetched();
    (walk.probes, walk.explored) = probes::probe(&mut cache, &walk, budget, &mut random);
    (walk.fetched, walk.failures) = (cache.fetched(), cache.failures());
    walk.lists = cache.take_lists();
    Ok(walk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::uniformity::chi_square;
    use crate::webwalker::Edges;

    /// Forty pages, of which a few have many neighbours.
    fn uneven() -> Graph {
        let mut random = Random::new(12);
        let ring = (0..40).map(|page| (page, (page + 1) % 40));
        let hubs = (0..60).map(|_| (random.below(40) as u32, random.below(4) as u32));
        Graph::of_arcs(40, &ring.chain(hubs).collect::<Vec<_>>())
    }

    #[test]
    fn in_the_long_run_all_weighted_walks_are_uniform() {
        let graph = uneven();
        let back = graph.transposed();
        let budget = Budget { fetches: 1_000, steps: 400_000, probes: 0 };
        let methods =
            [Method::Reweighted, Method::NonBacktracking, Method::MetropolisHastings, Method::Frontier];
        for method in methods {
            let seeds = if method == Method::Frontier { vec![0, 7, 9, 30] } else { vec![5] };
            let walked = walk(&mut LinkedWeb::new(&graph, &back), method, &seeds, budget, 3).unwrap();
            // Every 40th visit, kept with probability by its weight: nearly independent draws.
            let mut random = Random::new(8);
            let most = walked.samples.iter().map(|sample| sample.weight).fold(0.0, f64::max);
            let mut counts = [0u64; 40];
            for sample in
                walked.samples.iter().step_by(40).filter(|sample| random.chance(sample.weight / most))
            {
                counts[sample.page as usize] += 1;
            }
            let (statistic, freedom) = chi_square(&counts, &[1.0 / 40.0; 40]);
            assert!(counts.iter().sum::<u64>() > 2_000 && freedom == 39);
            // The 99.9 % point is 72.1.
            assert!(statistic < 72.1, "{method:?}: {statistic}");
            // And without weights it is far from uniform, unless the walk sees to that itself.
            let mut plain = [0u64; 40];
            walked.samples.iter().step_by(40).for_each(|sample| plain[sample.page as usize] += 1);
            let biased = chi_square(&plain, &[1.0 / 40.0; 40]).0 > 500.0;
            assert_eq!(biased, method != Method::MetropolisHastings, "{method:?}");
        }
    }

    #[test]
    fn every_method_stays_within_its_budget_and_is_the_same_for_the_same_seed() {
        let graph = crate::simulation::Sites::new(crate::simulation::SitesPlan::default()).graph;
        let back = graph.transposed();
        let seeds = seeds::by_links(&graph, 20, &mut Random::new(1));
        let webwalker = WebWalker { degree: 100_000, backlinks: 3, edges: Edges::Fixed };
        for method in [
            Method::Reweighted,
            Method::NonBacktracking,
            Method::MetropolisHastings,
            Method::Frontier,
            Method::WebWalker(webwalker),
            Method::Henzinger(1.0 / 7.0, VisitProbability::PageRank),
        ] {
            let run = |seed| {
                let mut web = LinkedWeb::new(&graph, &back).imperfect(0.05, 0.5, 3);
                walk(&mut web, method, &seeds, Budget::fetches(1_000), seed).unwrap()
            };
            let (one, again, other) = (run(4), run(4), run(5));
            assert_eq!((&one.samples, &one.probes), (&again.samples, &again.probes), "{method:?}");
            assert_ne!(one.samples, other.samples, "{method:?}");
            assert!(one.fetched <= 1_000 && one.fetched > 700, "{method:?}: {}", one.fetched);
            assert!(one.failures > 0, "{method:?}");
            let mut web = LinkedWeb::new(&graph, &back).imperfect(0.05, 0.5, 3);
            assert!(one.samples.iter().all(|sample| !web.is_broken(sample.page)), "{method:?}");
            assert!(walk(&mut web, method, &[], Budget::fetches(10), 1).is_err(), "{method:?}");
        }
    }
}

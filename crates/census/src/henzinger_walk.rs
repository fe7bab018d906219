//! A walk that follows links and jumps back, after Henzinger and others (2000), and pages drawn from it against the odds of
//! being visited.
//!
//! At each page the walk follows a random link, or, with probability 1/7, at a dead end, or when the page cannot be fetched,
//! jumps: to a random host among those visited, then to a random page visited on it. How likely the walk is to visit a page is
//! estimated by how often it did, or by the page's PageRank in the part of the web that was seen. A visited page is then
//! kept with probability proportional to one over that. A page that was never visited cannot be kept.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::CensusError;
use crate::engine::{Links, Page};
use crate::random::Random;

/// The parameters of a walk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HenzingerWalk {
    /// Probability of a jump.
    pub jump: f64,
    /// Steps.
    pub steps: usize,
    /// First steps whose visits do not count.
    pub burn_in: usize,
}

impl Default for HenzingerWalk {
    fn default() -> Self {
        HenzingerWalk { jump: 1.0 / 7.0, steps: 10_000, burn_in: 0 }
    }
}

/// The estimator of the probability that a page is visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisitProbability {
    /// The visits divided by the steps.
    Visits,
    /// PageRank in the part of the web that was seen.
    PageRank,
    /// The one or the other, for each page at random.
    Mixture,
}

/// The record of walks: the pages and links that they have seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WalkRecord {
    /// The number of visits to each page after the burn-in.
    pub visits: BTreeMap<Page, u64>,
    /// The same pages in the order of their first visits.
    pub order: Vec<Page>,
    /// The links of every page that was fetched.
    pub links: BTreeMap<Page, Vec<Page>>,
    /// Steps that count.
    pub steps: u64,
    /// Jumps.
    pub jumps: u64,
    /// Pages that could not be fetched, each time.
    pub failures: u64,
}

impl HenzingerWalk {
    /// Walks from a random one of the seeds, and adds what it sees.
    pub fn walk(
        &self,
        web: &mut impl Links,
        seeds: &[Page],
        random: &mut Random,
        record: &mut WalkRecord,
    ) -> Result<(), CensusError> {
        let mut visited = PagesByHost::default();
        let mut page = *random.pick(seeds).ok_or(CensusError::Start(0))?;
        for step in 0..self.steps {
            let links = fetch(web, page, &mut record.links);
            let next =
                links.map(|links| if random.chance(self.jump) { None } else { random.pick(links).copied() });
            let next = match next {
                Some(next) => {
                    visited.note(web.host(page), page);
                    if step >= self.burn_in {
                        record.note(page);
                    }
                    next
                }
                None => {
                    record.failures += 1;
                    None
                }
            };
            page = match next {
                Some(next) => next,
                None => {
                    record.jumps += 1;
                    visited.jump(random).or_else(|| random.pick(seeds).copied()).unwrap_or(page)
                }
            };
        }
        Ok(())
    }
}

/// The links of a page, fetched when they are not known yet.
fn fetch<'s>(
    web: &mut impl Links,
    page: Page,
    known: &'s mut BTreeMap<Page, Vec<Page>>,
) -> Option<&'s Vec<Page>> {
    match known.entry(page) {
        Entry::Occupied(links) => Some(links.into_mut()),
        Entry::Vacant(free) => Some(free.insert(web.links(page).ok()?.to_vec())),
    }
}

/// Pages by host, in the order of their first visit.
#[derive(Default)]
struct PagesByHost {
    hosts: Vec<Vec<Page>>,
    numbers: BTreeMap<u32, usize>,
    pages: BTreeMap<Page, ()>,
}

impl PagesByHost {
    fn note(&mut self, host: u32, page: Page) {
        if self.pages.insert(page, ()).is_some() {
            return;
        }
        let next = self.hosts.len();
        let number = *self.numbers.entry(host).or_insert(next);
        if number == next {
            self.hosts.push(Vec::new());
        }
        self.hosts[number].push(page);
    }

    fn jump(&self, random: &mut Random) -> Option<Page> {
        // From the one page that was visited, the way back would lead to itself for ever.
        if self.pages.len() < 2 {
            return None;
        }
        random.pick(&self.hosts).and_then(|pages| random.pick(pages)).copied()
    }
}

impl WalkRecord {
    fn note(&mut self, page: Page) {
        let visits = self.visits.entry(page).or_default();
        if *visits == 0 {
            self.order.push(page);
        }
        *visits += 1;
        self.steps += 1;
    }

    /// Every visited page with one over its visit probability, ascending: the weight that makes visits uniform. `random` decides in a
    /// mixture.
    pub fn weights(&self, probability: VisitProbability, jump: f64, random: &mut Random) -> Vec<(Page, f64)> {
        let ranks = if probability == VisitProbability::Visits { Vec::new() } else { self.page_rank(jump) };
        let weight = |(place, (&page, &visits)): (usize, (&Page, &u64))| {
            let by_visits = visits as f64 / self.steps.max(1) as f64;
            let by_rank = match probability {
                VisitProbability::Visits => false,
                VisitProbability::PageRank => true,
                VisitProbability::Mixture => random.chance(0.5),
            };
            (page, 1.0 / if by_rank { ranks[place] } else { by_visits })
        };
        self.visits.iter().enumerate().map(weight).collect()
    }

    /// Visited pages, each kept with probability proportional to its weight; the heaviest is kept for certain.
    pub fn sample(&self, probability: VisitProbability, jump: f64, random: &mut Random) -> Vec<Page> {
        let weights = self.weights(probability, jump, random);
        let most = weights.iter().map(|&(_, weight)| weight).fold(0.0, f64::max);
        let kept = weights.into_iter().filter(|(_, weight)| random.chance(weight / most));
        kept.map(|(page, _)| page).collect()
    }

    /// PageRank of the visited pages by the links between them, in ascending order of pages.
    pub fn page_rank(&self, jump: f64) -> Vec<f64> {
        let pages: Vec<Page> = self.visits.keys().copied().collect();
        let place = |page: &Page| pages.binary_search(page).ok();
        let links: Vec<Vec<usize>> = pages
            .iter()
            .map(|page| {
                self.links.get(page).map_or(&[][..], Vec::as_slice).iter().filter_map(place).collect()
            })
            .collect();
        let n = pages.len().max(1) as f64;
        let mut ranks = vec![1.0 / n; pages.len()];
        for _ in 0..60 {
            let lost: f64 =
                links.iter().zip(&ranks).filter(|(links, _)| links.is_empty()).map(|(_, r)| r).sum();
            let mut next = vec![(jump + (1.0 - jump) * lost) / n; pages.len()];
            for (links, rank) in links.iter().zip(&ranks) {
                for &target in links {
                    next[target] += (1.0 - jump) * rank / links.len() as f64;
                }
            }
            ranks = next;
        }
        ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Web, WebPlan};

    #[test]
    fn page_rank_is_that_of_the_definition() {
        // A star: three pages link to the fourth, which has no links.
        let mut record = WalkRecord::default();
        for page in 0..4 {
            record.visits.insert(Page(page), 1);
            record.links.insert(Page(page), if page < 3 { vec![Page(3)] } else { Vec::new() });
        }
        let ranks = record.page_rank(0.2);
        assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        // r = 0.05 + 0.2·h for the leaves, h = r + 0.8·3r with four pages.
        let leaf = 0.05 / (1.0 - 0.2 * 3.4);
        assert!((ranks[0] - leaf).abs() < 1e-9 && (ranks[3] - 3.4 * leaf).abs() < 1e-9, "{ranks:?}");
    }

    #[test]
    fn weights_make_a_long_walk_nearly_uniform() {
        let mut web = Web::new(WebPlan { pages: 200, hosts: 10, ..WebPlan::default() });
        let plan = HenzingerWalk { steps: 40_000, burn_in: 1_000, ..HenzingerWalk::default() };
        let seeds: Vec<Page> = (0..10).map(Page).collect();
        let (mut record, mut random) = (WalkRecord::default(), Random::new(5));
        plan.walk(&mut web, &seeds, &mut random, &mut record).unwrap();
        assert_eq!(record.steps, 39_000);
        assert!(web.fetches() <= 200, "{}", web.fetches());
        let weights = record.weights(VisitProbability::Visits, plan.jump, &mut random);
        // Weighted by its own visits, every visited page counts the same.
        for (page, weight) in &weights {
            assert!((weight * record.visits[page] as f64 - 39_000.0).abs() < 1e-6);
        }
        // By PageRank nearly so, as far as PageRank is what this walk does.
        let by_rank = record.weights(VisitProbability::PageRank, plan.jump, &mut random);
        let products: Vec<f64> =
            by_rank.iter().map(|(page, w)| w * record.visits[page] as f64 / 39_000.0).collect();
        let mean = products.iter().sum::<f64>() / products.len() as f64;
        assert!((0.5..2.0).contains(&mean), "{mean}");
        let kept = record.sample(VisitProbability::Visits, plan.jump, &mut random);
        assert!(!kept.is_empty() && kept.len() < weights.len());
    }

    #[test]
    fn broken_pages_are_jumped_from_and_never_kept() {
        let mut web = Web::new(WebPlan { pages: 200, hosts: 10, broken: 0.2, ..WebPlan::default() });
        let seeds: Vec<Page> = (0..200).map(Page).filter(|&page| !web.is_broken(page)).take(5).collect();
        let mut record = WalkRecord::default();
        let plan = HenzingerWalk { steps: 2_000, ..HenzingerWalk::default() };
        plan.walk(&mut web, &seeds, &mut Random::new(1), &mut record).unwrap();
        assert!(record.failures > 0 && record.visits.keys().all(|&page| !web.is_broken(page)));
        assert_eq!(record.steps + record.failures, 2_000);
        let none = plan.walk(&mut web, &[], &mut Random::new(1), &mut record);
        assert_eq!(none, Err(CensusError::Start(0)));
    }
}

//! A web: pages on hosts, links between them, and a service that knows some of the links to a page.
//!
//! Hosts differ in size as cities do. A link stays on its host more often than not, mostly towards the first page; one that
//! leaves it goes where another link goes, so that few pages get many. Some pages have no links, though never the
//! first of a host, and some none that lead to them: the bow tie has all of its parts.

use lookalike_hash::{mix, nth};

use crate::engine::{Backlinks, Links, NoAnswer, Page};
use crate::random::Random;

/// The parameters of a web.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WebPlan {
    /// Number of pages.
    pub pages: usize,
    /// Number of hosts.
    pub hosts: usize,
    /// Links of a page that has some, on average.
    pub links: usize,
    /// Share of pages without links.
    pub dead_ends: f64,
    /// Share of pages that no one can fetch.
    pub broken: f64,
    /// Share of links that the service for in-links knows.
    pub known: f64,
    /// Seed of every choice.
    pub seed: u64,
}

impl Default for WebPlan {
    fn default() -> Self {
        WebPlan { pages: 10_000, hosts: 400, links: 8, dead_ends: 0.15, broken: 0.0, known: 0.5, seed: 1 }
    }
}

/// A web that lives in memory.
#[derive(Debug, Clone)]
pub struct Web {
    out: Vec<Vec<Page>>,
    into: Vec<Vec<Page>>,
    hosts: Vec<u32>,
    broken: f64,
    known: f64,
    seed: u64,
    fetches: u64,
}

impl Web {
    /// Makes the web of a plan.
    pub fn new(plan: WebPlan) -> Self {
        let hosts = hosts(&plan);
        let mut random = Random::part(plan.seed, 1);
        let mut out: Vec<Vec<Page>> = vec![Vec::new(); plan.pages];
        let mut targets: Vec<Page> = Vec::new();
        // In an order that has nothing to do with hosts, so that the first pages to be linked to are everywhere.
        for place in random.sample_indices(plan.pages, plan.pages) {
            let first = hosts.pages[hosts.of_page[place] as usize][0];
            if first.0 as usize != place && random.chance(plan.dead_ends) {
                continue;
            }
            let least = if first.0 as usize == place { plan.links } else { 1 };
            let count = least + random.failures(1.0 / plan.links.max(1) as f64) as usize;
            for _ in 0..count.min(10 * plan.links.max(1)) {
                let target = target(&plan, &hosts, place, &targets, &mut random);
                targets.push(target);
                out[place].push(target);
            }
        }
        Web::of_links(out, hosts.of_page, plan.broken, plan.known, plan.seed)
    }

    /// A web with exactly these links; `hosts` has the host of each page.
    pub fn of_links(out: Vec<Vec<Page>>, hosts: Vec<u32>, broken: f64, known: f64, seed: u64) -> Self {
        let mut into = vec![Vec::new(); out.len()];
        for (from, links) in out.iter().enumerate() {
            for target in distinct(links) {
                into[target.0 as usize].push(Page(from as u32));
            }
        }
        Web { out, into, hosts, broken, known, seed, fetches: 0 }
    }

    /// Number of pages.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// True without pages.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Returns the true number of other pages that link to a page.
    pub fn in_degree(&self, page: Page) -> usize {
        self.into[page.0 as usize].iter().filter(|&&from| from != page).count()
    }

    /// Returns the number of other pages that a page links to.
    #[cfg(test)]
    pub(crate) fn out_degree(&self, page: Page) -> usize {
        distinct(&self.out[page.0 as usize]).iter().filter(|&&to| to != page).count()
    }

    /// True when no one can fetch the page.
    pub fn is_broken(&self, page: Page) -> bool {
        chosen(self.broken, nth(1, mix(self.seed ^ mix(u64::from(page.0)))))
    }

    /// The pages that can be reached by links from a page, itself included, in ascending order.
    pub fn reachable(&self, from: Page) -> Vec<Page> {
        let mut seen = vec![false; self.out.len()];
        let mut open = vec![from];
        seen[from.0 as usize] = true;
        while let Some(page) = open.pop() {
            for &next in &self.out[page.0 as usize] {
                if !self.is_broken(next) && !std::mem::replace(&mut seen[next.0 as usize], true) {
                    open.push(next);
                }
            }
        }
        (0..seen.len() as u32).map(Page).filter(|page| seen[page.0 as usize]).collect()
    }

    /// Pages fetched so far, each as often as it was.
    pub fn fetches(&self) -> u64 {
        self.fetches
    }
}

impl Links for Web {
    fn links(&mut self, page: Page) -> Result<&[Page], NoAnswer> {
        self.fetches += 1;
        if self.is_broken(page) {
            return Err(NoAnswer);
        }
        self.out.get(page.0 as usize).map(Vec::as_slice).ok_or(NoAnswer)
    }

    fn host(&self, page: Page) -> u32 {
        self.hosts.get(page.0 as usize).copied().unwrap_or(0)
    }
}

impl Backlinks for Web {
    fn backlinks(&mut self, page: Page) -> Vec<Page> {
        let (seed, known) = (self.seed, self.known);
        let edge = |from: &Page| nth(2, mix(seed ^ mix(u64::from(from.0) << 32 | u64::from(page.0))));
        let from = self.into.get(page.0 as usize).map_or(&[][..], Vec::as_slice);
        from.iter().filter(|from| chosen(known, edge(from))).copied().collect()
    }
}

/// True for this share of all hashes.
fn chosen(share: f64, hash: u64) -> bool {
    ((hash >> 11) as f64 / (1u64 << 53) as f64) < share
}

/// Pages without repetition, ascending.
pub(crate) fn distinct(pages: &[Page]) -> Vec<Page> {
    let mut pages = pages.to_vec();
    pages.sort_unstable();
    pages.dedup();
    pages
}

struct Hosts {
    of_page: Vec<u32>,
    /// Pages of each host, the first page first.
    pages: Vec<Vec<Page>>,
}

/// Every host has a page, the others fall to hosts with probability by one over rank.
fn hosts(plan: &WebPlan) -> Hosts {
    let count = plan.hosts.clamp(1, plan.pages.max(1));
    let mut random = Random::part(plan.seed, 0);
    let mut sums: Vec<f64> = Vec::with_capacity(count);
    for rank in 1..=count {
        sums.push(sums.last().copied().unwrap_or(0.0) + 1.0 / rank as f64);
    }
    let total = sums.last().copied().unwrap_or(1.0);
    let mut hosts = Hosts { of_page: Vec::new(), pages: vec![Vec::new(); count] };
    for page in 0..plan.pages {
        let host = if page < count {
            page
        } else {
            let lot = random.unit() * total;
            sums.partition_point(|&sum| sum <= lot).min(count - 1)
        };
        hosts.of_page.push(host as u32);
        hosts.pages[host].push(Page(page as u32));
    }
    hosts
}

/// Draws the target of a link from page number `place`.
fn target(plan: &WebPlan, hosts: &Hosts, place: usize, targets: &[Page], random: &mut Random) -> Page {
    let own = &hosts.pages[hosts.of_page[place] as usize];
    let anywhere = Page(random.below(plan.pages) as u32);
    match random.below(20) {
        0..4 => own[0],
        4..13 => random.pick(own).copied().unwrap_or(anywhere),
        13..18 => random.pick(targets).copied().unwrap_or(anywhere),
        _ => anywhere,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_web_has_hubs_dead_ends_and_pages_that_no_one_links_to() {
        let web = Web::new(WebPlan { pages: 3_000, hosts: 100, ..WebPlan::default() });
        let pages = || (0..web.len() as u32).map(Page);
        let most = pages().map(|page| web.in_degree(page)).max().unwrap();
        assert!(most > 100, "{most}");
        let dead = pages().filter(|&page| web.out_degree(page) == 0).count();
        assert!((300..700).contains(&dead), "{dead}");
        assert!(pages().any(|page| web.in_degree(page) == 0));
        let links: usize = pages().map(|page| web.out_degree(page)).sum();
        assert_eq!(links, pages().map(|page| web.in_degree(page)).sum::<usize>());
        let reachable = web.reachable(Page(0)).len();
        assert!(reachable > 1_500 && reachable < web.len(), "{reachable}");
    }

    #[test]
    fn the_service_knows_a_fraction_and_broken_pages_stay_broken() {
        let plan = WebPlan { pages: 2_000, hosts: 50, broken: 0.1, known: 0.3, ..WebPlan::default() };
        let mut web = Web::new(plan);
        let (mut known, mut all, mut broken) = (0, 0, 0);
        for page in (0..2_000).map(Page) {
            known += web.backlinks(page).len();
            all += web.into[page.0 as usize].len();
            let fails = web.links(page).is_err();
            assert_eq!(fails, web.is_broken(page));
            broken += usize::from(fails);
        }
        assert!((known as f64 / all as f64 - 0.3).abs() < 0.03);
        assert!((150..250).contains(&broken), "{broken}");
    }
}

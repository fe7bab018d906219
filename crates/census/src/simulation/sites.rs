//! A web of sites that hardly link to each other: as slow to walk as real ones.
//!
//! Sites differ in size as cities do, and the largest has a twentieth of all pages. Most sites are trees of sections whose pages
//! link to the page above, to those beside it, to those below and to the first page; some are long rows, such as archives. Very few
//! links leave a site, most of them for nearby sites or for pages that others link to, and mostly for first pages. So walkers stay
//! where they began, a crawl of some percent of the pages is a few sites, and first pages have as many neighbours as their sites
//! have pages.
//!
//! A third of a million pages with three million links take a second.

use crate::graph::Graph;
use crate::random::Random;

/// The parameters of a web of sites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SitesPlan {
    /// Number of pages.
    pub pages: usize,
    /// Number of sites.
    pub sites: usize,
    /// Share of pages, other than first ones, that have a link to another site.
    pub outward: f64,
    /// Share of pages without links.
    pub dead_ends: f64,
    /// Seed of every choice.
    pub seed: u64,
}

impl Default for SitesPlan {
    fn default() -> Self {
        SitesPlan { pages: 20_000, sites: 300, outward: 0.01, dead_ends: 0.24, seed: 1 }
    }
}

/// A graph, and the site of each page.
#[derive(Debug, Clone)]
pub struct Sites {
    /// The links between the pages.
    pub graph: Graph,
    /// The site of each page.
    pub hosts: Vec<u32>,
}

/// A site: its number, its first page, the number of its pages, and the number of pages below one page.
#[derive(Debug, Clone, Copy)]
struct Site {
    number: usize,
    first: usize,
    pages: usize,
    /// Pages below one page; 0 for a row.
    branches: usize,
}

impl Sites {
    /// Makes the sites of a plan.
    pub fn new(plan: SitesPlan) -> Self {
        let mut random = Random::new(plan.seed);
        let sites = sites(&plan, &mut random);
        let mut builder = SiteBuilder { plan, random, arcs: Vec::new(), outward: Vec::new() };
        for site in &sites {
            builder.join(site, &sites);
            for page in 0..site.pages {
                builder.page(site, page, &sites);
            }
        }
        let hosts =
            sites.iter().flat_map(|site| std::iter::repeat_n(site.number as u32, site.pages)).collect();
        Sites { graph: Graph::of_arcs(plan.pages, &builder.arcs), hosts }
    }
}

/// Sizes fall with the rank of a site, to the power of 0.8; ranks are dealt out at random.
fn sites(plan: &SitesPlan, random: &mut Random) -> Vec<Site> {
    let count = plan.sites.clamp(1, plan.pages.max(1));
    let ranks = random.sample_indices(count, count);
    let sizes: Vec<f64> = ranks.iter().map(|&rank| (rank as f64 + 1.0).powf(-0.8)).collect();
    let total: f64 = sizes.iter().sum();
    let (mut sites, mut first, mut sum) = (Vec::with_capacity(count), 0, 0.0);
    for (number, size) in sizes.iter().enumerate() {
        sum += size;
        // Every site has a page, and those behind it must have one as well.
        let end = ((sum / total * plan.pages as f64).round() as usize).max(first + 1);
        let end = if number + 1 == count { plan.pages } else { end.min(plan.pages - (count - 1 - number)) };
        let branches = if random.chance(0.15) { 0 } else { 4 + random.below(30) };
        sites.push(Site { number, first, pages: end - first, branches });
        first = end;
    }
    sites
}

struct SiteBuilder {
    plan: SitesPlan,
    random: Random,
    arcs: Vec<(u32, u32)>,
    /// The targets of links between sites, with repetition.
    outward: Vec<usize>,
}

impl SiteBuilder {
    fn link(&mut self, site: &Site, from: usize, to: usize) {
        self.arcs.push(((site.first + from) as u32, (site.first + to) as u32));
    }

    /// A link to a new site from one before it, so that the web hangs together.
    fn join(&mut self, site: &Site, sites: &[Site]) {
        if site.number == 0 {
            return;
        }
        let nearby = site.number - 1 - self.random.below(site.number.min(20));
        let from = sites[nearby].first + self.random.below(sites[nearby].pages);
        self.arcs.push((from as u32, site.first as u32));
        self.outward.push(site.first);
    }

    fn page(&mut self, site: &Site, page: usize, sites: &[Site]) {
        let leaf = page > 0 && (site.branches == 0 || page * site.branches + 1 >= site.pages);
        if leaf && self.random.chance(self.plan.dead_ends) {
            return;
        }
        if self.random.chance(if page == 0 { 0.7 } else { self.plan.outward }) {
            let target = self.elsewhere(site, sites);
            self.arcs.push(((site.first + page) as u32, target as u32));
            self.outward.push(target);
        }
        if page > 0 && self.random.chance(0.5) {
            self.link(site, page, 0);
        }
        if site.branches == 0 { self.row(site, page) } else { self.tree(site, page) }
    }

    /// Links a page to those before and behind it.
    fn row(&mut self, site: &Site, page: usize) {
        let most = 2 + self.random.below(7);
        for near in page.saturating_sub(most)..(page + most + 1).min(site.pages) {
            if near != page {
                self.link(site, page, near);
            }
        }
    }

    /// Links a page to the one above, to those beside it and to those below.
    fn tree(&mut self, site: &Site, page: usize) {
        let below = page * site.branches + 1;
        for child in below..(below + site.branches).min(site.pages) {
            self.link(site, page, child);
        }
        if page == 0 {
            return;
        }
        let above = (page - 1) / site.branches;
        self.link(site, page, above);
        let first = above * site.branches + 1;
        let last = (first + site.branches).min(site.pages);
        for _ in 0..self.random.below(2 * site.branches.min(12)) {
            let beside = first + self.random.below(last - first);
            self.link(site, page, beside);
        }
    }

    /// Draws a page of another site: one that others link to, else one of a nearby site.
    fn elsewhere(&mut self, site: &Site, sites: &[Site]) -> usize {
        if self.random.chance(0.4)
            && let Some(&target) = self.random.pick(&self.outward)
        {
            return target;
        }
        let shift = 1 + self.random.below(20.min(sites.len()));
        let forth = self.random.chance(0.5);
        let number =
            if forth { site.number + shift } else { site.number + sites.len() - shift } % sites.len();
        let other = sites[number];
        if self.random.chance(0.7) { other.first } else { other.first + self.random.below(other.pages) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::BowTie;
    use crate::graph::components::weak;

    #[test]
    fn sites_hang_together_by_few_links() {
        let plan = SitesPlan::default();
        let sites = Sites::new(plan);
        let graph = &sites.graph;
        assert_eq!((graph.nodes(), sites.hosts.len()), (plan.pages, plan.pages));
        let back = graph.transposed();
        assert_eq!(weak(graph, &back).sizes, [plan.pages as u64]);
        let across =
            graph.iter().filter(|&(u, v)| sites.hosts[u as usize] != sites.hosts[v as usize]).count();
        let share = across as f64 / graph.arcs() as f64;
        assert!((0.001..0.01).contains(&share), "{share}");
        let dead = (0..plan.pages as u32).filter(|&page| graph.degree(page) == 0).count();
        assert!((0.15..0.3).contains(&(dead as f64 / plan.pages as f64)), "{dead}");
        let mean = graph.arcs() as f64 / plan.pages as f64;
        assert!((6.0..14.0).contains(&mean), "{mean}");
        assert!((0..plan.pages as u32).any(|page| back.degree(page) > 200));
        let tie = BowTie::of(graph, &back).all();
        assert!(tie.core > tie.total() / 3 && tie.out > 0, "{tie:?}");
        assert_eq!(Sites::new(plan).graph, *graph);
    }

    #[test]
    fn any_number_of_sites_will_do() {
        for (pages, count) in [(1, 1), (5, 9), (50, 1), (30, 30), (200, 3)] {
            let sites = Sites::new(SitesPlan { pages, sites: count, ..SitesPlan::default() });
            assert_eq!(sites.graph.nodes(), pages);
            assert_eq!(sites.hosts.len(), pages);
        }
    }
}

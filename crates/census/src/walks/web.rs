//! The interface of a web that can be walked, and a graph in memory that answers as a web would: some pages cannot be fetched, and
//! the service for in-links knows a part of them.

use lookalike_hash::{mix, nth};

use crate::engine::{Backlinks, Links, NoAnswer, Page};
use crate::graph::Graph;
use crate::simulation::Web;

/// A web that can be walked along its links and against them.
pub trait Walkable: Links + Backlinks {
    /// True when the service knows every link to a page. Then neighbours are mutual by themselves, and less has to be remembered.
    fn knows_all_backlinks(&self) -> bool {
        false
    }
}

impl Walkable for Web {}

/// A graph as a web.
#[derive(Debug, Clone)]
pub struct LinkedWeb<'g> {
    graph: &'g Graph,
    back: &'g Graph,
    hosts: Option<&'g [u32]>,
    broken: f64,
    known: f64,
    seed: u64,
    page: Vec<Page>,
}

impl<'g> LinkedWeb<'g> {
    /// Creates a web whose pages can all be fetched and whose links are all known both ways; `back` is the transposed graph.
    pub fn new(graph: &'g Graph, back: &'g Graph) -> Self {
        LinkedWeb { graph, back, hosts: None, broken: 0.0, known: 1.0, seed: 0, page: Vec::new() }
    }

    /// Makes a share of the pages unfetchable, and lets the service know a share of the links to a page; which ones follows from the seed.
    #[cfg(test)]
    pub(crate) fn imperfect(mut self, broken: f64, known: f64, seed: u64) -> Self {
        (self.broken, self.known, self.seed) = (broken, known, seed);
        self
    }

    /// Sets the host of each page, for walks that jump between hosts.
    #[must_use]
    pub fn with_hosts(mut self, hosts: &'g [u32]) -> Self {
        self.hosts = Some(hosts);
        self
    }

    /// True when no one can fetch the page.
    pub fn is_broken(&self, page: u32) -> bool {
        self.broken > 0.0 && chosen(self.broken, nth(1, mix(self.seed ^ mix(u64::from(page)))))
    }
}

impl Links for LinkedWeb<'_> {
    fn links(&mut self, page: Page) -> Result<&[Page], NoAnswer> {
        if page.0 as usize >= self.graph.nodes() || self.is_broken(page.0) {
            return Err(NoAnswer);
        }
        self.page.clear();
        self.page.extend(self.graph.links(page.0).iter().copied().map(Page));
        Ok(&self.page)
    }

    fn host(&self, page: Page) -> u32 {
        // Without hosts every page is its own: a jump is then uniform over visited pages.
        self.hosts.and_then(|hosts| hosts.get(page.0 as usize)).copied().unwrap_or(page.0)
    }
}

impl Backlinks for LinkedWeb<'_> {
    fn backlinks(&mut self, page: Page) -> Vec<Page> {
        let from = self.back.links(page.0).iter().copied();
        if self.known >= 1.0 {
            return from.map(Page).collect();
        }
        let hash = |from: u32| nth(2, mix(self.seed ^ mix(u64::from(from) << 32 | u64::from(page.0))));
        from.filter(|&from| chosen(self.known, hash(from))).map(Page).collect()
    }
}

impl Walkable for LinkedWeb<'_> {
    fn knows_all_backlinks(&self) -> bool {
        self.known >= 1.0
    }
}

/// True for this share of all hashes.
fn chosen(share: f64, hash: u64) -> bool {
    ((hash >> 11) as f64 / (1u64 << 53) as f64) < share
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn shares_of_pages_and_links_are_missing_and_stay_so() {
        let mut random = Random::new(1);
        let arcs: Vec<(u32, u32)> =
            (0..20_000).map(|_| (random.below(2_000) as u32, random.below(2_000) as u32)).collect();
        let graph = Graph::of_arcs(2_000, &arcs);
        let back = graph.transposed();
        let mut web = LinkedWeb::new(&graph, &back).imperfect(0.1, 0.3, 7);
        let broken = (0..2_000).filter(|&page| web.links(Page(page)).is_err()).count();
        assert!((150..250).contains(&broken), "{broken}");
        let known: usize = (0..2_000).map(|page| web.backlinks(Page(page)).len()).sum();
        assert!((known as f64 / graph.arcs() as f64 - 0.3).abs() < 0.02, "{known}");
        assert_eq!(web.backlinks(Page(5)), web.clone().backlinks(Page(5)));
        assert!(web.links(Page(2_000)).is_err() && !web.knows_all_backlinks());
        let mut whole = LinkedWeb::new(&graph, &back);
        assert_eq!(whole.backlinks(Page(3)).len(), back.degree(3));
        assert!(whole.knows_all_backlinks());
    }
}

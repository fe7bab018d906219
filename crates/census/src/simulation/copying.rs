//! A web that grew by copying, after Kumar and others (2000), with little memory: a page takes its links from one that is not much
//! older, or finds new ones nearby.
//!
//! Copies of copies make few pages with very many links to them; nearness makes the web long and thin, so that a walk gets
//! about as slowly as heat through a rod. There are no sites: what is slow here is distance.

use crate::graph::Graph;
use crate::random::Random;

/// The parameters of a web that grows by copying.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CopyingPlan {
    /// Number of pages.
    pub pages: usize,
    /// Links of a page that has some, on average.
    pub links: usize,
    /// Share of links that are copied.
    pub copied: f64,
    /// The largest distance in pages from a page to an older one that it copies from, and to the target of a new link.
    pub nearby: usize,
    /// Share of pages that copy from anywhere.
    pub anywhere: f64,
    /// Share of pages without links.
    pub dead_ends: f64,
    /// Seed of every choice.
    pub seed: u64,
}

impl Default for CopyingPlan {
    fn default() -> Self {
        CopyingPlan {
            pages: 20_000,
            links: 13,
            copied: 0.85,
            nearby: 400,
            anywhere: 0.0005,
            dead_ends: 0.24,
            seed: 1,
        }
    }
}

/// Grows the web of a plan.
pub fn copying_web(plan: CopyingPlan) -> Graph {
    let mut random = Random::new(plan.seed);
    let mut lists: Vec<Vec<u32>> = Vec::with_capacity(plan.pages);
    for page in 0..plan.pages {
        let mut list = Vec::new();
        if page == 0 || !random.chance(plan.dead_ends) {
            // A page without links is no model; after a few of them the page goes its own way.
            let models = (0..4).map(|_| older(&plan, page, &mut random));
            if let Some(model) = models.flatten().find(|&model| !lists[model].is_empty()) {
                list.extend(lists[model].iter().filter(|_| random.chance(plan.copied)));
            }
            // As many new ones as are lost in copying, so that lists keep their length.
            let fresh = 2.0 * plan.links as f64 * (1.0 - plan.copied);
            for _ in 0..1 + random.below(fresh as usize) {
                list.push(nearby(&plan, page, &mut random));
            }
        }
        lists.push(list);
    }
    Graph::of_lists(lists)
}

/// An older page to copy from.
fn older(plan: &CopyingPlan, page: usize, random: &mut Random) -> Option<usize> {
    let reach = if random.chance(plan.anywhere) { page } else { page.min(plan.nearby) };
    (page > 0).then(|| page - 1 - random.below(reach))
}

/// A page near this one, older or younger, so that links lead forth in time as well.
fn nearby(plan: &CopyingPlan, page: usize, random: &mut Random) -> u32 {
    let first = page.saturating_sub(plan.nearby);
    (first + random.below((page + plan.nearby).min(plan.pages) - first)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::components::weak;

    #[test]
    fn few_pages_have_very_many_links_to_them() {
        let plan = CopyingPlan::default();
        let graph = copying_web(plan);
        let back = graph.transposed();
        assert_eq!(graph.nodes(), plan.pages);
        let mut degrees: Vec<usize> = (0..plan.pages as u32).map(|page| back.degree(page)).collect();
        degrees.sort_unstable();
        assert!(degrees[plan.pages / 2] <= 6 && degrees[plan.pages - 1] > 200, "{}", degrees[plan.pages - 1]);
        let mean = graph.arcs() as f64 / plan.pages as f64;
        assert!((6.0..12.0).contains(&mean), "{mean}");
        let largest = weak(&graph, &back).sizes.into_iter().max().unwrap();
        assert!(largest as f64 > 0.93 * plan.pages as f64, "{largest}");
        let far = graph.iter().filter(|&(u, v)| u.abs_diff(v) > 5 * 400).count();
        assert!((far as f64) < 0.35 * graph.arcs() as f64, "{far}");
        assert_eq!(copying_web(plan), graph);
    }
}

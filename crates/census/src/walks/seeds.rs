//! Seeds of walks: random pages, or pages of a crawl.

use std::collections::VecDeque;

use crate::graph::Graph;
use crate::random::Random;

/// Draws `count` different pages of all, each as likely: the ideal seeds of a walk, which few have.
pub fn uniform(pages: usize, count: usize, random: &mut Random) -> Vec<u32> {
    random.sample_indices(pages, count).into_iter().map(|page| page as u32).collect()
}

/// The first pages of a crawl along links, breadth first from one page, in the order found.
pub fn crawl(graph: &Graph, from: u32, pages: usize) -> Vec<u32> {
    let mut seen = vec![false; graph.nodes()];
    let (mut found, mut open) = (vec![from], VecDeque::from([from]));
    seen[from as usize] = true;
    while let Some(page) = open.pop_front() {
        for &next in graph.links(page) {
            if found.len() >= pages {
                return found;
            }
            if !std::mem::replace(&mut seen[next as usize], true) {
                found.push(next);
                open.push_back(next);
            }
        }
    }
    found
}

/// Draws random pages of a crawl of `pages` pages from a random page, in the order found; none if no page of a hundred leads to as many.
pub fn of_a_crawl(graph: &Graph, pages: usize, count: usize, random: &mut Random) -> Option<Vec<u32>> {
    let found = (0..100)
        .map(|_| crawl(graph, random.below(graph.nodes()) as u32, pages))
        .find(|found| found.len() >= pages)?;
    let mut chosen = random.sample_indices(found.len(), count);
    chosen.sort_unstable();
    Some(chosen.into_iter().map(|place| found[place]).collect())
}

/// Draws pages with probability proportional to the links to them, with repetition: the pages that one gets by following random links.
pub fn by_links(graph: &Graph, count: usize, random: &mut Random) -> Vec<u32> {
    let all: Vec<u32> = graph.iter().map(|(_, to)| to).collect();
    (0..count).filter_map(|_| random.pick(&all).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crawl_goes_by_distance() {
        let graph = Graph::of_arcs(6, &[(0, 3), (0, 2), (2, 5), (3, 4), (5, 1)]);
        assert_eq!(crawl(&graph, 0, 10), [0, 2, 3, 5, 4, 1]);
        assert_eq!(crawl(&graph, 0, 4), [0, 2, 3, 5]);
        let some = of_a_crawl(&graph, 5, 3, &mut Random::new(1)).unwrap();
        assert_eq!(some.len(), 3);
        assert_eq!(of_a_crawl(&graph, 7, 3, &mut Random::new(1)), None);
        assert_eq!(uniform(6, 9, &mut Random::new(1)).len(), 6);
        assert!(by_links(&graph, 50, &mut Random::new(1)).iter().all(|&page| page != 0));
    }
}

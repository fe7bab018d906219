//! The neighbours of visited pages: their links, and the pages that link to them as far as the service knows.
//!
//! A list is fixed at the first visit, and neighbours are mutual among visited pages: a page that was visited earlier is on the
//! list of a new page if it lists that page, and is not if it does not. Otherwise the walk would be on no undirected graph, and no
//! weight would be right. A page that cannot be fetched is removed from the list that led to it and was never a neighbour.
//!
//! The cost of a walk is the number of different pages asked for.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use lookalike_hash::mix;

use super::Start;
use super::web::Walkable;
use crate::CensusError;
use crate::engine::Page;
use crate::graph::csr::merged;

/// Hashes numbers of pages; the order of a map never matters, so that results are the same everywhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix(self.0 ^ u64::from(byte));
        }
    }

    fn write_u32(&mut self, page: u32) {
        self.0 = mix(self.0 ^ u64::from(page));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = mix(self.0 ^ key);
    }
}

/// A map from page numbers.
pub type PageMap<V> = HashMap<u32, V, BuildHasherDefault<PageHasher>>;

/// The lists of visited pages, all in one array.
#[derive(Debug, Clone, Default)]
pub struct NeighbourLists {
    ranges: PageMap<(usize, u32)>,
    neighbours: Vec<u32>,
}

impl NeighbourLists {
    /// The neighbours of a page, ascending; none unless it was visited.
    pub fn of(&self, page: u32) -> Option<&[u32]> {
        let &(begin, length) = self.ranges.get(&page)?;
        Some(&self.neighbours[begin..begin + length as usize])
    }

    /// The visited pages, in no order.
    pub fn pages(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges.keys().copied()
    }

    /// Number of visited pages.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// True before the first visit.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    fn insert(&mut self, page: u32, list: &[u32]) {
        self.ranges.insert(page, (self.neighbours.len(), list.len() as u32));
        self.neighbours.extend_from_slice(list);
    }

    fn remove_neighbour(&mut self, page: u32, neighbour: u32) {
        let Some((begin, length)) = self.ranges.get_mut(&page) else { return };
        let list = &mut self.neighbours[*begin..*begin + *length as usize];
        if let Ok(place) = list.binary_search(&neighbour) {
            list.copy_within(place + 1.., place);
            *length -= 1;
        }
    }
}

/// A cache of the neighbours that a walk knows of, and the pages that it could not fetch.
#[derive(Debug)]
pub struct NeighbourCache<'w, W> {
    web: &'w mut W,
    lists: NeighbourLists,
    /// For pages not visited yet: the visited ones that list them. Only where lists are not mutual by themselves.
    listed_by: PageMap<Vec<u32>>,
    failed: PageMap<()>,
}

impl<'w, W: Walkable> NeighbourCache<'w, W> {
    /// Creates an empty cache over a web.
    pub fn new(web: &'w mut W) -> Self {
        NeighbourCache {
            web,
            lists: NeighbourLists::default(),
            listed_by: PageMap::default(),
            failed: PageMap::default(),
        }
    }

    /// Different pages asked for.
    pub fn fetched(&self) -> u64 {
        (self.lists.len() + self.failed.len()) as u64
    }

    /// Different pages that could not be had.
    pub fn failures(&self) -> u64 {
        self.failed.len() as u64
    }

    /// The neighbours of a visited page.
    pub fn list(&self, page: u32) -> &[u32] {
        self.lists.of(page).unwrap_or_default()
    }

    /// All lists, at the end.
    pub fn take_lists(&mut self) -> NeighbourLists {
        std::mem::take(&mut self.lists)
    }

    /// Fetches a page unless it is known; false when it cannot be had.
    pub fn visit(&mut self, page: u32) -> bool {
        if self.lists.ranges.contains_key(&page) {
            return true;
        }
        if self.failed.contains_key(&page) {
            return false;
        }
        let Ok(links) = self.web.links(Page(page)) else {
            self.failed.insert(page, ());
            return false;
        };
        let out = ascending(links.iter().map(|page| page.0));
        let back = ascending(self.web.backlinks(Page(page)).into_iter().map(|page| page.0));
        let mut list = merged(&out, &back);
        list.retain(|&other| other != page);
        if !self.web.knows_all_backlinks() {
            self.make_mutual(page, &mut list);
        }
        self.lists.insert(page, &list);
        true
    }

    /// Removes a page that could not be fetched from the list of another.
    pub fn remove_neighbour(&mut self, page: u32, neighbour: u32) {
        self.lists.remove_neighbour(page, neighbour);
    }

    fn make_mutual(&mut self, page: u32, list: &mut Vec<u32>) {
        let listing = ascending(self.listed_by.remove(&page).unwrap_or_default());
        let lists = &self.lists;
        list.retain(|other| !lists.ranges.contains_key(other));
        for &other in list.iter() {
            self.listed_by.entry(other).or_default().push(page);
        }
        *list = merged(list, &listing);
    }

    /// The seeds that can be fetched and have neighbours, and how many cannot or have none; an error when there is nowhere to begin.
    pub fn starts(&mut self, seeds: &[u32], most: u64) -> Result<(Vec<Start>, u64), CensusError> {
        let mut starts = Vec::new();
        let mut lost = 0;
        for &page in seeds {
            if self.fetched() >= most {
                break;
            }
            let degree = if self.visit(page) { self.list(page).len() as u32 } else { 0 };
            if degree == 0 {
                lost += 1;
            } else {
                starts.push(Start { page, degree });
            }
        }
        if starts.is_empty() {
            return Err(CensusError::Start(seeds.len()));
        }
        Ok((starts, lost))
    }
}

fn ascending(pages: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut pages: Vec<u32> = pages.into_iter().collect();
    pages.sort_unstable();
    pages.dedup();
    pages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::random::Random;
    use crate::walks::LinkedWeb;

    fn graph(seed: u64) -> Graph {
        let mut random = Random::new(seed);
        let arcs: Vec<(u32, u32)> =
            (0..900).map(|_| (random.below(200) as u32, random.below(200) as u32)).collect();
        Graph::of_arcs(200, &arcs)
    }

    #[test]
    fn with_all_links_known_lists_are_those_of_the_undirected_graph() {
        let graph = graph(1);
        let (back, both) = (graph.transposed(), graph.undirected());
        let mut web = LinkedWeb::new(&graph, &back);
        let mut cache = NeighbourCache::new(&mut web);
        for page in [5, 7, 5, 199] {
            assert!(cache.visit(page));
            assert_eq!(cache.list(page), both.links(page));
        }
        assert!(!cache.visit(200));
        assert_eq!((cache.fetched(), cache.failures()), (4, 1));
    }

    #[test]
    fn with_some_links_known_lists_are_mutual_in_any_order_of_visits() {
        for seed in 0..20 {
            let graph = graph(seed);
            let back = graph.transposed();
            let mut web = LinkedWeb::new(&graph, &back).imperfect(0.1, 0.4, seed);
            let mut cache = NeighbourCache::new(&mut web);
            for page in Random::new(seed).sample_indices(200, 150) {
                cache.visit(page as u32);
            }
            let lists = cache.take_lists();
            for page in 0..200 {
                for &other in lists.of(page).unwrap_or_default() {
                    assert!(other != page);
                    assert!(lists.of(other).is_none_or(|list| list.binary_search(&page).is_ok()));
                }
            }
        }
    }

    #[test]
    fn struck_pages_are_gone_and_others_stay() {
        let mut lists = NeighbourLists::default();
        lists.insert(1, &[2, 3, 9]);
        lists.insert(2, &[1]);
        lists.remove_neighbour(1, 3);
        lists.remove_neighbour(1, 4);
        assert_eq!((lists.of(1), lists.of(2), lists.of(3)), (Some(&[2, 9][..]), Some(&[1][..]), None));
    }
}

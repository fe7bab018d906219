//! WebWalker, after Bar-Yossef and others (2000): a walk over a web that is made undirected and regular, so that every page
//! is as likely in the end.
//!
//! The neighbours of a page are fixed when it is first visited: its links, a few pages that link to it according to a search
//! engine, and the visited pages that list it. Loops fill the list up to the same degree for every page. Almost all steps are
//! loops, which are not walked one by one: their number before the walk leaves is a geometric draw.

use std::collections::BTreeMap;

use crate::CensusError;
use crate::engine::{Backlinks, Links, Page};
use crate::random::Random;

/// The treatment of a link to a page that was visited before and does not list the one that has the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edges {
    /// It is dropped: lists stay as they were fixed.
    Fixed,
    /// It is added on both sides, as the slides have it; the older page gives a loop for it.
    Literal,
}

/// The parameters of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebWalker {
    /// The degree of the regular graph.
    pub degree: u64,
    /// Pages that link to a page, asked of the search engine.
    pub backlinks: usize,
    /// The treatment of links to earlier pages.
    pub edges: Edges,
}

impl Default for WebWalker {
    fn default() -> Self {
        WebWalker { degree: 10_000_000, backlinks: 3, edges: Edges::Fixed }
    }
}

/// A walk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    /// The pages in their order, each with the steps that the walk stayed there, loops included.
    pub stays: Vec<(Page, u64)>,
    /// The lists of the visited pages.
    pub lists: BTreeMap<Page, Vec<Page>>,
    /// Times that the walk could not go on and began anew.
    pub restarts: u64,
    /// Pages that could not be fetched.
    pub failures: u64,
}

impl WebWalker {
    /// Walks for `moves` moves, beginning at the first of `starts` that has links.
    pub fn walk<W: Links + Backlinks>(
        &self,
        web: &mut W,
        starts: &[Page],
        moves: usize,
        random: &mut Random,
    ) -> Result<Route, CensusError> {
        let mut walk = State { plan: self, web, random, route: Route::default(), listed_by: BTreeMap::new() };
        walk.run(starts, moves)?;
        Ok(walk.route)
    }
}

struct State<'w, W> {
    plan: &'w WebWalker,
    web: &'w mut W,
    random: &'w mut Random,
    route: Route,
    /// For pages not visited yet: the visited ones that list them.
    listed_by: BTreeMap<Page, Vec<Page>>,
}

impl<W: Links + Backlinks> State<'_, W> {
    fn run(&mut self, starts: &[Page], moves: usize) -> Result<(), CensusError> {
        let mut page = self.start(starts)?;
        for _ in 0..moves {
            let Some((loops, next)) = self.leave(page)? else {
                self.route.restarts += 1;
                page = self.start(starts)?;
                continue;
            };
            self.route.stays.push((page, loops + 1));
            page = next;
        }
        Ok(())
    }

    /// A page to begin with: the first that can be fetched and has neighbours, from a random place in the list on.
    fn start(&mut self, starts: &[Page]) -> Result<Page, CensusError> {
        // The first walk begins at the first page that will do; restarts go elsewhere.
        let first = if self.route.restarts == 0 { 0 } else { self.random.below(starts.len()) };
        for place in 0..starts.len() {
            let page = starts[(first + place) % starts.len()];
            if self.visit(page)? && !self.route.lists[&page].is_empty() {
                return Ok(page);
            }
        }
        Err(CensusError::Start(starts.len()))
    }

    /// Loops at a page, and where the walk goes then; none when it has no neighbour left.
    fn leave(&mut self, page: Page) -> Result<Option<(u64, Page)>, CensusError> {
        let mut loops = 0;
        loop {
            let list = &self.route.lists[&page];
            let Some(&next) = self.random.pick(list) else { return Ok(None) };
            loops += self.random.failures(list.len() as f64 / self.plan.degree as f64);
            if self.visit(next)? {
                return Ok(Some((loops, next)));
            }
            // It cannot be fetched: it was never a neighbour, and the move is drawn again.
            if let Some(list) = self.route.lists.get_mut(&page) {
                list.retain(|&other| other != next);
            }
        }
    }

    /// Fixes the list of a page at its first visit; false when it cannot be fetched.
    fn visit(&mut self, page: Page) -> Result<bool, CensusError> {
        if self.route.lists.contains_key(&page) {
            return Ok(true);
        }
        let Ok(links) = self.web.links(page) else {
            self.route.failures += 1;
            return Ok(false);
        };
        let mut list = links.to_vec();
        let known = self.web.backlinks(page);
        let asked = self.random.sample_indices(known.len(), self.plan.backlinks);
        list.extend(asked.into_iter().map(|place| known[place]));
        list.retain(|&other| other != page);
        list.sort_unstable();
        list.dedup();
        let listing = self.listed_by.remove(&page).unwrap_or_default();
        match self.plan.edges {
            Edges::Fixed => list.retain(|other| {
                !self.route.lists.contains_key(other) || listing.binary_search(other).is_ok()
            }),
            Edges::Literal => self.join_older(page, &list)?,
        }
        list.extend(listing);
        list.sort_unstable();
        list.dedup();
        self.check(page, list.len())?;
        for &other in &list {
            if !self.route.lists.contains_key(&other) {
                let listing = self.listed_by.entry(other).or_default();
                if let Err(place) = listing.binary_search(&page) {
                    listing.insert(place, page);
                }
            }
        }
        self.route.lists.insert(page, list);
        Ok(true)
    }

    /// Adds a page to the lists of visited pages that it links to.
    fn join_older(&mut self, page: Page, list: &[Page]) -> Result<(), CensusError> {
        for other in list {
            let Some(older) = self.route.lists.get_mut(other) else { continue };
            if let Err(place) = older.binary_search(&page) {
                older.insert(place, page);
                let length = older.len();
                self.check(*other, length)?;
            }
        }
        Ok(())
    }

    fn check(&self, page: Page, neighbours: usize) -> Result<(), CensusError> {
        let degree = self.plan.degree;
        if neighbours as u64 > degree {
            return Err(CensusError::Degree { page: page.0, neighbours, degree });
        }
        Ok(())
    }
}

impl Route {
    /// Pages weighted by the steps that the walk was there, after the first `burn_in` steps; in ascending order.
    pub fn weights(&self, burn_in: u64) -> Vec<(Page, f64)> {
        let mut weights: BTreeMap<Page, f64> = BTreeMap::new();
        let mut time = 0u64;
        for &(page, steps) in &self.stays {
            let end = time.saturating_add(steps);
            let counted = end.saturating_sub(time.max(burn_in));
            if counted > 0 {
                *weights.entry(page).or_default() += counted as f64;
            }
            time = end;
        }
        weights.into_iter().collect()
    }

    /// The page at every `every`th step after `burn_in`.
    pub fn sample(&self, burn_in: u64, every: u64) -> Vec<Page> {
        let every = every.max(1);
        let (mut sample, mut time, mut next) = (Vec::new(), 0u64, burn_in);
        for &(page, steps) in &self.stays {
            time = time.saturating_add(steps);
            while next < time {
                sample.push(page);
                next += every;
            }
        }
        sample
    }

    /// All steps, loops included.
    pub fn steps(&self) -> u64 {
        self.stays.iter().map(|&(_, steps)| steps).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Web, WebPlan};

    fn triangle() -> Web {
        let links = [[1, 2], [0, 2], [0, 1]].map(|links| links.map(Page).to_vec());
        Web::of_links(links.to_vec(), vec![0; 3], 0.0, 1.0, 1)
    }

    #[test]
    fn a_triangle_is_left_every_second_step_and_visited_evenly() {
        let walker = WebWalker { degree: 4, backlinks: 0, edges: Edges::Literal };
        let route = walker.walk(&mut triangle(), &[Page(0)], 30_000, &mut Random::new(1)).unwrap();
        assert!(route.lists.values().all(|list| list.len() == 2));
        assert!((route.steps() as f64 / 30_000.0 - 2.0).abs() < 0.05);
        let weights = route.weights(100);
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        assert!(weights.iter().all(|(_, weight)| (weight / total - 1.0 / 3.0).abs() < 0.02));
        let sample = route.sample(100, 7);
        assert!((sample.len() as f64 / (route.steps() as f64 / 7.0) - 1.0).abs() < 0.01);
    }

    #[test]
    fn lists_are_symmetric_among_visited_pages() {
        let plan = WebPlan { pages: 300, hosts: 20, broken: 0.05, ..WebPlan::default() };
        for (edges, backlinks) in [(Edges::Fixed, 0), (Edges::Fixed, 3), (Edges::Literal, 3)] {
            let mut web = Web::new(plan);
            let starts: Vec<Page> = (0..20).map(Page).collect();
            let walker = WebWalker { degree: 10_000, backlinks, edges };
            let route = walker.walk(&mut web, &starts, 3_000, &mut Random::new(2)).unwrap();
            assert!(route.lists.len() > 100);
            for (page, list) in &route.lists {
                let both = |other: &Page| route.lists.get(other).is_none_or(|back| back.contains(page));
                assert!(list.iter().all(both), "{edges:?} {page:?}");
                assert!(list.iter().all(|&other| other != *page));
            }
            assert_eq!(route.failures > 0, (0..300).any(|page| web.is_broken(Page(page))));
        }
    }

    #[test]
    fn a_long_walk_over_a_small_web_is_uniform_where_it_went() {
        let mut web = Web::new(WebPlan { pages: 60, hosts: 6, dead_ends: 0.1, ..WebPlan::default() });
        let walker = WebWalker { degree: 200, backlinks: 0, edges: Edges::Literal };
        let starts: Vec<Page> = (0..6).map(Page).collect();
        let route = walker.walk(&mut web, &starts, 200_000, &mut Random::new(3)).unwrap();
        let weights = route.weights(route.steps() / 10);
        let mean = weights.iter().map(|(_, weight)| weight).sum::<f64>() / weights.len() as f64;
        assert!(weights.len() > 30);
        assert!(weights.iter().all(|(_, weight)| (weight / mean - 1.0).abs() < 0.2), "{weights:?}");
    }

    #[test]
    fn too_small_a_degree_and_a_start_without_links_are_refused() {
        let walker = WebWalker { degree: 1, backlinks: 0, edges: Edges::Fixed };
        let refused = walker.walk(&mut triangle(), &[Page(0)], 10, &mut Random::new(1)).unwrap_err();
        assert_eq!(refused, CensusError::Degree { page: 0, neighbours: 2, degree: 1 });
        let mut web = Web::of_links(vec![vec![], vec![]], vec![0, 0], 0.0, 1.0, 1);
        let refused = WebWalker::default().walk(&mut web, &[Page(0)], 10, &mut Random::new(1)).unwrap_err();
        assert_eq!(refused, CensusError::Start(1));
    }
}

//! The connected components of a web: by links both ways (strong), or by links in whatever direction (weak).
//!
//! Tarjan's algorithm (1972) with an explicit stack in place of recursion, so that a chain of a million pages does not overflow it.
//! 16 bytes for each page while it runs.

use super::Graph;

/// The component of each page, numbered from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// The number of the component, by page.
    pub of: Vec<u32>,
    /// The number of pages of each component.
    pub sizes: Vec<u64>,
}

impl Components {
    /// Returns the component with most pages, the first of several; none without pages.
    pub fn largest(&self) -> Option<u32> {
        let most = self.sizes.iter().max()?;
        self.sizes.iter().position(|size| size == most).map(|place| place as u32)
    }

    fn of_numbers(of: Vec<u32>, parts: u32) -> Self {
        let mut sizes = vec![0; parts as usize];
        for &part in &of {
            sizes[part as usize] += 1;
        }
        Components { of, sizes }
    }
}

/// The value of a page that was not visited yet.
const UNVISITED: u32 = u32::MAX;

/// Returns the components in which every page can be reached from every other.
pub fn strong(graph: &Graph) -> Components {
    let mut search = TarjanSearch {
        graph,
        found: vec![UNVISITED; graph.nodes()],
        lowest: vec![0; graph.nodes()],
        of: vec![UNVISITED; graph.nodes()],
        open: Vec::new(),
        next: 0,
        parts: 0,
    };
    for root in 0..graph.nodes() as u32 {
        if search.found[root as usize] == UNVISITED {
            search.from(root);
        }
    }
    Components::of_numbers(search.of, search.parts)
}

struct TarjanSearch<'g> {
    graph: &'g Graph,
    /// The number of each page in the order of discovery, [`UNVISITED`] before.
    found: Vec<u32>,
    /// The earliest page that is known to be reached from a page and to lead back.
    lowest: Vec<u32>,
    of: Vec<u32>,
    /// Pages whose component is not known yet, in the order found.
    open: Vec<u32>,
    next: u32,
    parts: u32,
}

impl TarjanSearch<'_> {
    fn from(&mut self, root: u32) {
        // Pages on the way, each with how many of its links were followed.
        let mut way = vec![(root, 0)];
        self.enter(root);
        while let Some(&mut (page, ref mut place)) = way.last_mut() {
            if let Some(&target) = self.graph.links(page).get(*place) {
                *place += 1;
                if self.found[target as usize] == UNVISITED {
                    self.enter(target);
                    way.push((target, 0));
                } else if self.of[target as usize] == UNVISITED {
                    self.lower(page, self.found[target as usize]);
                }
                continue;
            }
            way.pop();
            self.leave(page);
            if let Some(&(parent, _)) = way.last() {
                self.lower(parent, self.lowest[page as usize]);
            }
        }
    }

    fn enter(&mut self, page: u32) {
        self.found[page as usize] = self.next;
        self.lowest[page as usize] = self.next;
        self.next += 1;
        self.open.push(page);
    }

    fn lower(&mut self, page: u32, to: u32) {
        let lowest = &mut self.lowest[page as usize];
        *lowest = to.min(*lowest);
    }

    /// Closes the component of a page that leads back to none before it.
    fn leave(&mut self, page: u32) {
        if self.lowest[page as usize] != self.found[page as usize] {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.of[member as usize] = self.parts;
            if member == page {
                break;
            }
        }
        self.parts += 1;
    }
}

/// Returns the components that are connected whatever the direction of the links; `back` is the transposed graph.
pub fn weak(graph: &Graph, back: &Graph) -> Components {
    let mut of = vec![UNVISITED; graph.nodes()];
    let mut parts = 0;
    for root in 0..graph.nodes() as u32 {
        if of[root as usize] != UNVISITED {
            continue;
        }
        of[root as usize] = parts;
        let mut open = vec![root];
        while let Some(page) = open.pop() {
            for &next in graph.links(page).iter().chain(back.links(page)) {
                if of[next as usize] == UNVISITED {
                    of[next as usize] = parts;
                    open.push(next);
                }
            }
        }
        parts += 1;
    }
    Components::of_numbers(of, parts)
}

/// Marks the pages that can be reached from these, themselves included.
pub fn reached(graph: &Graph, from: impl IntoIterator<Item = u32>) -> Vec<bool> {
    let mut seen = vec![false; graph.nodes()];
    let mut open: Vec<u32> = from.into_iter().collect();
    open.iter().for_each(|&page| seen[page as usize] = true);
    while let Some(page) = open.pop() {
        for &next in graph.links(page) {
            if !std::mem::replace(&mut seen[next as usize], true) {
                open.push(next);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_rings_and_the_bridge_between_them() {
        let graph = Graph::of_arcs(7, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3)]);
        let parts = strong(&graph);
        assert_eq!(parts.of[0], parts.of[2]);
        assert_eq!(parts.of[3], parts.of[4]);
        assert_ne!(parts.of[0], parts.of[3]);
        assert_eq!(parts.sizes.len(), 4);
        assert_eq!(parts.sizes[parts.largest().unwrap() as usize], 3);
        let weak = weak(&graph, &graph.transposed());
        assert_eq!(weak.sizes, [5, 1, 1]);
        assert_eq!(strong(&Graph::default()).largest(), None);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let n = 1_000_000u32;
        let chain: Vec<(u32, u32)> = (0..n - 1).map(|page| (page, page + 1)).collect();
        assert_eq!(strong(&Graph::of_arcs(n as usize, &chain)).sizes.len(), n as usize);
        let ring: Vec<(u32, u32)> = (0..n).map(|page| (page, (page + 1) % n)).collect();
        assert_eq!(strong(&Graph::of_arcs(n as usize, &ring)).sizes, [u64::from(n)]);
    }
}

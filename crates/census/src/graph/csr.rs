//! The links of a web in two arrays: the links of page `v` are `targets[offsets[v]..offsets[v + 1]]`.
//!
//! 8 bytes for each page and 4 for each link; with the links turned around as well, twice that. While a graph is made
//! from a list of links, the list takes another 8 bytes for each of them.

/// Links between pages that are numbered from 0; of each page ascending and each once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    offsets: Vec<u64>,
    targets: Vec<u32>,
    /// Links that were listed more than once, each further time.
    duplicates: u64,
    /// Links from a page to itself, which are kept.
    loops: u64,
}

impl Graph {
    /// Builds the graph of `nodes` pages with these links, in any order. Pages beyond `nodes` that links name are added.
    pub fn of_arcs(nodes: usize, arcs: &[(u32, u32)]) -> Self {
        let named = arcs.iter().map(|&(from, to)| from.max(to) as usize + 1).max().unwrap_or(0);
        let mut offsets = vec![0u64; nodes.max(named) + 1];
        for &(from, _) in arcs {
            offsets[from as usize + 1] += 1;
        }
        for place in 1..offsets.len() {
            offsets[place] += offsets[place - 1];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0u32; arcs.len()];
        for &(from, to) in arcs {
            let place = &mut next[from as usize];
            targets[*place as usize] = to;
            *place += 1;
        }
        Graph { offsets, targets, duplicates: 0, loops: 0 }.tidy()
    }

    /// Builds the graph with these links of each page, in any order.
    pub fn of_lists<L: AsRef<[u32]>>(lists: impl IntoIterator<Item = L>) -> Self {
        let (mut offsets, mut targets) = (vec![0], Vec::new());
        for list in lists {
            targets.extend_from_slice(list.as_ref());
            offsets.push(targets.len() as u64);
        }
        let nodes = targets.iter().map(|&target| target as usize + 1).max().unwrap_or(0);
        while offsets.len() <= nodes {
            offsets.push(targets.len() as u64);
        }
        Graph { offsets, targets, duplicates: 0, loops: 0 }.tidy()
    }

    /// Sorts the lists, and drops and counts repeated links.
    fn tidy(mut self) -> Self {
        let (mut free, mut begin) = (0, 0);
        for node in 0..self.nodes() {
            let end = self.offsets[node + 1] as usize;
            self.targets[begin..end].sort_unstable();
            let first = free;
            for place in begin..end {
                let target = self.targets[place];
                if free > first && self.targets[free - 1] == target {
                    self.duplicates += 1;
                    continue;
                }
                self.loops += u64::from(target as usize == node);
                self.targets[free] = target;
                free += 1;
            }
            begin = end;
            self.offsets[node + 1] = free as u64;
        }
        self.targets.truncate(free);
        self
    }

    /// Number of pages.
    pub fn nodes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Number of different links.
    pub fn arcs(&self) -> u64 {
        self.targets.len() as u64
    }

    /// Links that were listed before, and were dropped.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Links from a page to itself.
    pub fn loops(&self) -> u64 {
        self.loops
    }

    /// The pages that a page links to, ascending; none for a page that does not exist.
    pub fn links(&self, node: u32) -> &[u32] {
        let node = node as usize;
        match (self.offsets.get(node), self.offsets.get(node + 1)) {
            (Some(&begin), Some(&end)) => &self.targets[begin as usize..end as usize],
            _ => &[],
        }
    }

    /// Returns the number of pages that a page links to.
    pub fn degree(&self, node: u32) -> usize {
        self.links(node).len()
    }

    /// True when the first page links to the second.
    pub fn has(&self, from: u32, to: u32) -> bool {
        self.links(from).binary_search(&to).is_ok()
    }

    /// All links in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.nodes() as u32).flat_map(|from| self.links(from).iter().map(move |&to| (from, to)))
    }

    /// Returns the graph with all links reversed.
    #[must_use]
    pub fn transposed(&self) -> Graph {
        let mut offsets = vec![0u64; self.offsets.len().max(1)];
        for &target in &self.targets {
            offsets[target as usize + 1] += 1;
        }
        for place in 1..offsets.len() {
            offsets[place] += offsets[place - 1];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0u32; self.targets.len()];
        // Pages come in ascending order, so that every list is ascending, too.
        for (from, to) in self.iter() {
            let place = &mut next[to as usize];
            targets[*place as usize] = from;
            *place += 1;
        }
        Graph { offsets, targets, duplicates: 0, loops: self.loops }
    }

    /// Returns the graph with links both ways, without links from a page to itself: the graph that a walk forth and back along links is on.
    #[must_use]
    pub fn undirected(&self) -> Graph {
        let back = self.transposed();
        let list = |node: u32| {
            let mut list = merged(self.links(node), back.links(node));
            list.retain(|&other| other != node);
            list
        };
        Graph::of_lists((0..self.nodes() as u32).map(list)).with_nodes(self.nodes())
    }

    /// Adds pages without links until there are at least `nodes`.
    pub(crate) fn with_nodes(mut self, nodes: usize) -> Self {
        let end = self.targets.len() as u64;
        self.offsets.resize((nodes + 1).max(self.offsets.len()), end);
        self
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> u64 {
        8 * self.offsets.len() as u64 + 4 * self.targets.len() as u64
    }
}

/// Two ascending lists in one, each number once.
pub(crate) fn merged(one: &[u32], other: &[u32]) -> Vec<u32> {
    let mut all = Vec::with_capacity(one.len() + other.len());
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some(&&a), Some(&&b)) => a.min(b),
            (Some(&&a), None) => a,
            (None, Some(&&b)) => b,
            (None, None) => return all,
        };
        left.next_if(|&&a| a == next);
        right.next_if(|&&b| b == next);
        all.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn lists_are_ascending_and_repetitions_are_counted() {
        let graph = Graph::of_arcs(5, &[(2, 0), (0, 3), (0, 1), (0, 3), (1, 1), (0, 3)]);
        assert_eq!((graph.nodes(), graph.arcs(), graph.duplicates(), graph.loops()), (5, 4, 2, 1));
        assert_eq!(graph.links(0), [1, 3]);
        assert_eq!((graph.links(4), graph.links(99)), (&[][..], &[][..]));
        assert!(graph.has(2, 0) && !graph.has(0, 2));
        assert_eq!(graph.bytes(), 6 * 8 + 4 * 4);
        assert_eq!(graph, Graph::of_lists([vec![3, 1, 3, 3], vec![1], vec![0]]).with_nodes(5));
    }

    #[test]
    fn empty_graphs_are_graphs() {
        let none = Graph::of_arcs(0, &[]);
        assert_eq!((none.nodes(), none.arcs(), none.transposed().nodes()), (0, 0, 0));
        assert_eq!(Graph::default().undirected().nodes(), 0);
        assert_eq!(Graph::of_arcs(3, &[]).undirected().nodes(), 3);
    }

    #[test]
    fn turning_around_and_both_ways_agree_with_the_list_of_links() {
        for seed in 0..50 {
            let mut random = Random::new(seed);
            let nodes = 1 + random.below(20);
            let arcs: Vec<(u32, u32)> = (0..random.below(60))
                .map(|_| (random.below(nodes) as u32, random.below(nodes) as u32))
                .collect();
            let graph = Graph::of_arcs(nodes, &arcs);
            let back = graph.transposed();
            let both = graph.undirected();
            for u in 0..nodes as u32 {
                for v in 0..nodes as u32 {
                    let (forth, reverse) = (arcs.contains(&(u, v)), arcs.contains(&(v, u)));
                    assert_eq!((graph.has(u, v), back.has(u, v)), (forth, reverse));
                    assert_eq!(both.has(u, v), u != v && (forth || reverse));
                }
            }
            assert_eq!(back.transposed().links(0), graph.links(0));
        }
    }
}

//! Meetings of visits: the number of pairs of visits to the same page, and the number to expect.
//!
//! Two visits of walkers at rest meet with a probability of one over the size of the web, once it is known how likely each page is
//! to be visited (Katzir, Liberty and Somekh 2011). Visits of one walker shortly after one another meet for another reason; so the
//! path of each walker is cut into stretches of `margin` steps, and visits of the same stretch or of neighbouring ones are no pair.
//! Visits of different walkers always are.
//!
//! Samples are sorted into cells, such as groups of walkers, or times; pairs are counted for every two cells. So a size can be
//! estimated from any of the cells, and the error of a size from leaving cells out.

use super::Sample;
use super::neighbour_cache::{NeighbourLists, PageMap};

/// Chances and meetings of ordered pairs of visits, by the cells of both.
#[derive(Debug, Clone)]
pub struct Pairs {
    cells: usize,
    chances: Vec<f64>,
    meetings: Vec<f64>,
}

/// The visits of one stretch of one walker in one cell; `up` and `down` are their weights as the first and as the second of a pair.
struct VisitGroup {
    walker: u32,
    stretch: u32,
    cell: usize,
    up: f64,
    down: f64,
}

impl VisitGroup {
    fn is_near(&self, later: &VisitGroup) -> bool {
        self.walker == later.walker && later.stretch.abs_diff(self.stretch) <= 1
    }
}

impl Pairs {
    fn new(cells: usize) -> Self {
        Pairs { cells, chances: vec![0.0; cells * cells], meetings: vec![0.0; cells * cells] }
    }

    /// Counts pairs of visits to the same page; `cell` returns the cell, below `cells`, of the sample at an index. The chance of a
    /// pair is the first weight by the second.
    pub fn meetings(
        samples: &[Sample],
        margin: u32,
        cells: usize,
        cell: impl Fn(usize, &Sample) -> usize,
    ) -> Self {
        let mut pairs = Pairs::new(cells);
        let mut visits = visits(samples, margin, cell);
        let whole = visit_groups(&visits, |visit| (1.0 / visit.weight, visit.weight));
        add(&mut pairs.chances, cells, &whole);
        visits.sort_unstable_by_key(|visit| (visit.page, visit.order()));
        for page in visits.chunk_by(|one, other| one.page == other.page).filter(|page| page.len() > 1) {
            add(&mut pairs.meetings, cells, &visit_groups(page, |_| (1.0, 1.0)));
        }
        pairs
    }

    /// Counts pairs of visits to neighbours in place of meetings (Kurant, Butts and Markopoulou 2012). The chance of a pair, and what
    /// a pair of neighbours counts, is the product of both weights.
    pub fn neighbours(
        samples: &[Sample],
        lists: &NeighbourLists,
        margin: u32,
        cells: usize,
        cell: impl Fn(usize, &Sample) -> usize,
    ) -> Self {
        let mut pairs = Pairs::new(cells);
        let visits = visits(samples, margin, cell);
        add(&mut pairs.chances, cells, &visit_groups(&visits, |visit| (visit.weight, visit.weight)));
        let near: Vec<PageSums> =
            visits.chunk_by(|one, other| one.order() == other.order()).map(PageSums::of).collect();
        for (place, one) in near.iter().enumerate() {
            one.subtract(one, lists, &mut pairs);
            for other in near[place + 1..].iter().take_while(|other| one.first.is_near(&other.first)) {
                one.subtract(other, lists, &mut pairs);
                other.subtract(one, lists, &mut pairs);
            }
        }
        for (cell, sum) in all_neighbours(&visits, lists, cells) {
            pairs.meetings[cell] += sum;
        }
        pairs
    }

    /// Chances and meetings of the pairs of cells that are wanted.
    pub fn sums(&self, wanted: impl Fn(usize, usize) -> bool) -> (f64, f64) {
        let (mut chances, mut meetings) = (0.0, 0.0);
        for one in 0..self.cells {
            for other in 0..self.cells {
                if wanted(one, other) {
                    chances += self.chances[one * self.cells + other];
                    meetings += self.meetings[one * self.cells + other];
                }
            }
        }
        (chances, meetings)
    }

    /// The logarithm of chances by meetings for the wanted pairs.
    pub fn log_ratio(&self, wanted: impl Fn(usize, usize) -> bool) -> Option<f64> {
        let (chances, meetings) = self.sums(wanted);
        (chances > 0.0 && meetings > 0.0).then(|| (chances / meetings).ln())
    }
}

/// The weights of the visits of one group, summed by page.
struct PageSums {
    first: Visit,
    /// Ascending, so that sums of fractions are the same every time.
    sums: Vec<(u32, f64)>,
}

impl PageSums {
    /// Sums the weights of a group, whose visits are ordered by page.
    fn of(visits: &[Visit]) -> Self {
        let sum = |page: &[Visit]| (page[0].page, page.iter().map(|visit| visit.weight).sum());
        let sums = visits.chunk_by(|one, other| one.page == other.page).map(sum).collect();
        PageSums { first: visits[0], sums }
    }

    fn get(&self, page: u32) -> Option<f64> {
        let place = self.sums.binary_search_by_key(&page, |&(page, _)| page).ok()?;
        Some(self.sums[place].1)
    }

    /// Takes the products of neighbours, the one here and the other there, off the count.
    fn subtract(&self, other: &PageSums, lists: &NeighbourLists, pairs: &mut Pairs) {
        let mut sum = 0.0;
        for &(page, weight) in &self.sums {
            let list = lists.of(page).unwrap_or_default();
            let beside: f64 = if list.len() <= other.sums.len() {
                list.iter().filter_map(|&page| other.get(page)).sum()
            } else {
                let shared = other.sums.iter().filter(|(page, _)| list.binary_search(page).is_ok());
                shared.map(|(_, weight)| weight).sum()
            };
            sum += weight * beside;
        }
        let cell = self.first.cell as usize * pairs.cells + other.first.cell as usize;
        pairs.meetings[cell] -= sum;
    }
}

/// The products of all pairs of visits to neighbours, near ones included, by the cells of both.
fn all_neighbours(
    visits: &[Visit],
    lists: &NeighbourLists,
    cells: usize,
) -> impl Iterator<Item = (usize, f64)> {
    let mut sums: PageMap<Vec<(u32, f64)>> = PageMap::default();
    let mut pages = Vec::new();
    for visit in visits {
        let own = sums.entry(visit.page).or_insert_with(|| {
            pages.push(visit.page);
            Vec::new()
        });
        match own.iter_mut().find(|(cell, _)| *cell == visit.cell) {
            Some((_, weight)) => *weight += visit.weight,
            None => own.push((visit.cell, visit.weight)),
        }
    }
    let mut table = vec![0.0; cells * cells];
    // In the order of first visits: sums of fractions depend on their order.
    for page in pages {
        for other in lists.of(page).unwrap_or_default().iter().filter_map(|other| sums.get(other)) {
            for &(cell, weight) in &sums[&page] {
                for &(beside, product) in other {
                    table[cell as usize * cells + beside as usize] += weight * product;
                }
            }
        }
    }
    table.into_iter().enumerate()
}

/// Returns the samples as visits, in the order of paths.
fn visits(samples: &[Sample], margin: u32, cell: impl Fn(usize, &Sample) -> usize) -> Vec<Visit> {
    let mut visits: Vec<Visit> = samples
        .iter()
        .enumerate()
        .map(|(place, sample)| Visit {
            page: sample.page,
            walker: sample.walker,
            stretch: sample.step / margin.max(1),
            cell: cell(place, sample) as u32,
            weight: sample.weight,
        })
        .collect();
    visits.sort_unstable_by_key(|visit| (visit.order(), visit.page));
    visits
}

/// Returns the groups of ordered visits; `weigh` returns the weights of a visit as the first and as the second of a pair.
fn visit_groups(visits: &[Visit], weigh: impl Fn(&Visit) -> (f64, f64)) -> Vec<VisitGroup> {
    let sum = |group: &[Visit]| {
        let (up, down) = group.iter().map(&weigh).fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        let Visit { walker, stretch, cell, .. } = group[0];
        VisitGroup { walker, stretch, cell: cell as usize, up, down }
    };
    visits.chunk_by(|one, other| one.order() == other.order()).map(sum).collect()
}

/// Adds the products of all ordered pairs of groups that are not near each other. Groups of one walker stand together in the
/// order of its way.
fn add(table: &mut [f64], cells: usize, visit_groups: &[VisitGroup]) {
    let mut sums: Vec<(usize, f64, f64)> = Vec::new();
    for group in visit_groups {
        match sums.iter_mut().find(|(cell, ..)| *cell == group.cell) {
            Some((_, up, down)) => {
                *up += group.up;
                *down += group.down;
            }
            None => sums.push((group.cell, group.up, group.down)),
        }
    }
    for &(one, up, _) in &sums {
        for &(other, _, down) in &sums {
            table[one * cells + other] += up * down;
        }
    }
    for (place, one) in visit_groups.iter().enumerate() {
        table[one.cell * cells + one.cell] -= one.up * one.down;
        for other in visit_groups[place + 1..].iter().take_while(|other| one.is_near(other)) {
            table[one.cell * cells + other.cell] -= one.up * other.down;
            table[other.cell * cells + one.cell] -= other.up * one.down;
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Visit {
    page: u32,
    walker: u32,
    stretch: u32,
    cell: u32,
    weight: f64,
}

impl Visit {
    /// The group that it belongs to, in the order of paths.
    fn order(&self) -> (u32, u32, u32) {
        (self.walker, self.stretch, self.cell)
    }

    fn is_near(&self, later: &Visit) -> bool {
        self.walker == later.walker && later.stretch.abs_diff(self.stretch) <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::random::Random;
    use crate::walks::{Budget, LinkedWeb, Method, walk};

    fn graph() -> Graph {
        let mut random = Random::new(3);
        let arcs: Vec<(u32, u32)> =
            (0..240).map(|_| (random.below(60) as u32, random.below(60) as u32)).collect();
        Graph::of_arcs(60, &arcs)
    }

    #[test]
    fn counts_agree_with_all_pairs_one_by_one() {
        let graph = graph();
        let (back, both) = (graph.transposed(), graph.undirected());
        for (seeds, margin) in [(vec![1, 2, 3, 4, 5], 7), (vec![9], 5), (vec![9], 1_000)] {
            let budget = Budget { fetches: 60, steps: 150, probes: 0 };
            let mut web = LinkedWeb::new(&graph, &back);
            let walked = walk(&mut web, Method::Frontier, &seeds, budget, 1).unwrap();
            let samples = &walked.samples;
            let cell =
                |place: usize, sample: &Sample| usize::from(place > 80) + 2 * (sample.walker as usize % 2);
            let met = Pairs::meetings(samples, margin, 4, cell);
            let beside = Pairs::neighbours(samples, &walked.lists, margin, 4, cell);
            let mut wanted = [[[0.0; 4]; 4]; 4];
            for (i, one) in samples.iter().enumerate() {
                for (j, other) in samples.iter().enumerate() {
                    let apart = (one.step / margin).abs_diff(other.step / margin);
                    if one.walker == other.walker && apart <= 1 {
                        continue;
                    }
                    let mut add =
                        |table: usize, value: f64| wanted[table][cell(i, one)][cell(j, other)] += value;
                    add(0, other.weight / one.weight);
                    add(1, f64::from(u8::from(one.page == other.page)));
                    add(2, one.weight * other.weight);
                    let joined = both.has(one.page, other.page);
                    add(3, if joined { one.weight * other.weight } else { 0.0 });
                }
            }
            for g in 0..4 {
                for h in 0..4 {
                    let only = |one: usize, other: usize| (one, other) == (g, h);
                    let found = [met.sums(only), beside.sums(only)];
                    for (found, table) in
                        [found[0].0, found[0].1, found[1].0, found[1].1].into_iter().zip(&wanted)
                    {
                        assert!((found - table[g][h]).abs() < 1e-6, "{g} {h} {found} {}", table[g][h]);
                    }
                }
            }
        }
    }
}

//! Estimates from a part of the pages of a walk, for cases where it is expensive to look at a page, as when a search engine must be
//! asked for it: the order in which to look at pages, and the share of all pages that follows.
//!
//! Pages are taken by priority sampling (Duffield, Lund and Thorup 2007). A page whose visits weigh `w` together gets the priority `w/u`
//! with `u` uniform in (0, 1], and the highest come first. Wherever one stops, a page that was looked at counts `max(w, τ)`, where `τ`
//! is the priority of the first that was not: that makes every sum right in the mean. Hubs, which are visited often and stand for
//! little, thus take few of the looks, and once all pages were looked at, they count as they do in the walk.
//!
//! The error has two parts. One is that of the walk, between [`clusters`](super::clusters). The other is that some pages were looked at and
//! others were not; clusters see it as long as they have no pages in common, and not where walkers meet the same pages, each of
//! which was looked at once. What they do not see is added: `(1 − π)(R² − Σ R_c²)` for each page, where `π = min(1, w/τ)` is how likely it
//! was to be looked at, `R` is how far it moves the share, and `R_c` is the part of that in one cluster.

use super::clusters::{Clusters, Ratio, error};
use super::estimates::{self, Mean};
use super::neighbour_cache::PageMap;
use super::{Sample, Walk};
use crate::random::Random;

/// A page that may be looked at, with its priority.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The page.
    pub page: u32,
    /// The sum of the weights of its visits.
    weight: f64,
    priority: f64,
}

/// The pages of a walk in the order in which they are to be looked at; the same seed, the same order.
pub fn priority_order(walk: &Walk, seed: u64) -> Vec<Candidate> {
    let mut weights: PageMap<f64> = PageMap::default();
    for sample in walk.samples.iter().filter(|sample| sample.weight > 0.0) {
        *weights.entry(sample.page).or_default() += sample.weight;
    }
    let candidate = |(page, weight): (u32, f64)| {
        // Of the page's number, and never 0.
        let lot = 1.0 - Random::part(seed, u64::from(page)).unit();
        Candidate { page, weight, priority: weight / lot }
    };
    let mut order: Vec<Candidate> = weights.into_iter().map(candidate).collect();
    order.sort_unstable_by(|one, other| {
        other.priority.total_cmp(&one.priority).then(one.page.cmp(&other.page))
    });
    order
}

/// The inspection of a page: what was seen, and how likely it was to be looked at.
#[derive(Clone, Copy)]
struct Inspection {
    has: bool,
    /// The probability that it was looked at.
    chance: f64,
}

/// The share of all pages that have something, by the first pages of the order: whether they have it, or nothing where that could
/// not be told. None unless two pages and pages of two clusters are known.
pub fn share(walk: &Walk, order: &[Candidate], seen: &[Option<bool>]) -> Option<Mean> {
    let least = order.get(seen.len()).map_or(0.0, |candidate| candidate.priority);
    let inspection = |(candidate, &has): (&Candidate, &Option<bool>)| {
        let chance = if least > candidate.weight { candidate.weight / least } else { 1.0 };
        Some((candidate.page, Inspection { has: has?, chance }))
    };
    let inspections: PageMap<Inspection> = order.iter().zip(seen).filter_map(inspection).collect();
    if inspections.len() < 2 {
        return None;
    }
    let clusters = Clusters::new(&walk.samples, walk.starts.len());
    let mut visits: Vec<Visit> = walk
        .samples
        .iter()
        .zip(&clusters.of)
        .filter_map(|(sample, &cluster)| Some(Visit::of(sample, cluster, *inspections.get(&sample.page)?)))
        .collect();
    let mut ratio = Ratio::new(clusters.count);
    for visit in &visits {
        ratio.add(visit.cluster, visit.weight * f64::from(u8::from(visit.inspection.has)), visit.weight);
    }
    let value = ratio.value()?;
    let between = error(&ratio.residuals()?, ratio.filled())?;
    visits.sort_by_key(|visit| (visit.page, visit.cluster));
    let weights = WeightStats::of(&visits, value);
    let error = between.hypot(weights.shared.sqrt());
    let by_weights = weights.effective.min(1.0 / ratio.concentration());
    let (estimate, effective) =
        estimates::share(value, error, by_weights, ratio.filled().min(inspections.len()));
    Some(Mean { estimate, effective, visits: visits.len() as u64, between: clusters.kind })
}

/// A visit to a page that was looked at.
struct Visit {
    page: u32,
    cluster: u32,
    /// The weight of the visit divided by the probability that its page was looked at.
    weight: f64,
    inspection: Inspection,
}

impl Visit {
    fn of(sample: &Sample, cluster: u32, inspection: Inspection) -> Self {
        Visit { page: sample.page, cluster, weight: sample.weight / inspection.chance, inspection }
    }
}

/// Figures that follow from the weights of pages.
struct WeightStats {
    /// The variance that clusters do not see.
    shared: f64,
    /// The number of pages of equal weight that would be as good, by Kish.
    effective: f64,
}

impl WeightStats {
    /// Sums over visits that are ordered by page and cluster.
    fn of(visits: &[Visit], share: f64) -> Self {
        let (mut all, mut squares, mut shared) = (0.0, 0.0, 0.0);
        for page in visits.chunk_by(|one, other| one.page == other.page) {
            let sum = |visits: &[Visit]| visits.iter().map(|visit| visit.weight).sum::<f64>();
            let whole = sum(page);
            let cells: f64 =
                page.chunk_by(|one, other| one.cluster == other.cluster).map(|cell| sum(cell).powi(2)).sum();
            let inspection = page[0].inspection;
            let off = f64::from(u8::from(inspection.has)) - share;
            shared += (1.0 - inspection.chance) * off * off * (whole * whole - cells).max(0.0);
            all += whole;
            squares += whole * whole;
        }
        WeightStats { shared: shared / (all * all), effective: all * all / squares }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::walks::estimates::mean_of;
    use crate::walks::{Budget, LinkedWeb, Method, seeds, walk};

    const PAGES: usize = 2_000;

    /// Pages with small numbers are linked to more often.
    fn graph() -> Graph {
        let mut random = Random::new(8);
        let ring = (0..PAGES as u32).map(|page| (page, (page + 1) % PAGES as u32));
        let popular: Vec<(u32, u32)> = (0..5 * PAGES)
            .map(|_| (random.below(PAGES) as u32, random.below(1 + random.clone().below(PAGES)) as u32))
            .collect();
        Graph::of_arcs(PAGES, &ring.chain(popular).collect::<Vec<_>>())
    }

    /// Returns true for popular pages above all, so that shares of visits, or of pages without weights, are wrong.
    fn has(page: u32) -> bool {
        page < 400 || page.is_multiple_of(4)
    }

    const TRUTH: f64 = (400.0 + 1_600.0 / 4.0) / PAGES as f64;

    fn walked(graph: &Graph, back: &Graph, steps: u64, run: u64) -> Walk {
        let seeds = seeds::uniform(PAGES, 60, &mut Random::part(9, run));
        let budget = Budget { fetches: 10_000, steps, probes: 0 };
        walk(&mut LinkedWeb::new(graph, back), Method::Frontier, &seeds, budget, run).unwrap()
    }

    fn looked_at(order: &[Candidate], inspections: usize) -> Vec<Option<bool>> {
        order.iter().take(inspections).map(|candidate| Some(has(candidate.page))).collect()
    }

    #[test]
    fn once_all_pages_were_looked_at_it_is_the_mean_of_the_walk() {
        let graph = graph();
        let walked = walked(&graph, &graph.transposed(), 3_000, 1);
        let order = priority_order(&walked, 5);
        let share = share(&walked, &order, &looked_at(&order, usize::MAX)).unwrap();
        let numbers: Vec<f64> = (0..PAGES as u32).map(|page| f64::from(u8::from(has(page)))).collect();
        let mean = mean_of(&walked, &numbers).unwrap();
        assert!((share.estimate.value - mean.estimate.value).abs() < 1e-12);
        assert!((share.estimate.error / mean.estimate.error - 1.0).abs() < 1e-9);
        assert_eq!((share.visits, share.between), (mean.visits, mean.between));
    }

    /// Makes 200 runs of these numbers of steps and looks: mean, spread, mean of the stated errors, and the number of intervals
    /// that cover the truth.
    fn runs(steps: u64, inspections: usize) -> (f64, f64, f64, u32) {
        let graph = graph();
        let back = graph.transposed();
        let (mut sum, mut squares, mut stated, mut covered) = (0.0, 0.0, 0.0, 0);
        for run in 0..200 {
            let walked = walked(&graph, &back, steps, run);
            let order = priority_order(&walked, run);
            let found = share(&walked, &order, &looked_at(&order, inspections)).unwrap().estimate;
            sum += found.value / 200.0;
            squares += (found.value - TRUTH).powi(2) / 200.0;
            stated += found.error / 200.0;
            covered += u32::from(found.covers(TRUTH));
        }
        (sum, squares.sqrt(), stated, covered)
    }

    #[test]
    fn shares_are_right_in_the_mean_and_errors_are_as_large_as_they_say() {
        // A few visits to each walker's own pages, and so many that all walkers meet the same ones.
        for (steps, inspections) in [(1_000, 150), (1_000, 500), (40_000, 150)] {
            let (mean, spread, stated, covered) = runs(steps, inspections);
            let case =
                format!("{steps} steps, {inspections} looks: {mean:.3} {spread:.4} {stated:.4} {covered}");
            assert!((mean - TRUTH).abs() < 4.0 * spread / 200f64.sqrt(), "{case}");
            assert!((0.8..1.25).contains(&(stated / spread)), "{case}");
            assert!((180..=199).contains(&covered), "{case}");
        }
    }

    #[test]
    fn what_could_not_be_told_is_left_out_and_certainty_has_its_limits() {
        let graph = graph();
        let walked = walked(&graph, &graph.transposed(), 3_000, 2);
        let order = priority_order(&walked, 7);
        assert!(order.windows(2).all(|two| two[0].priority >= two[1].priority));
        let mut seen: Vec<Option<bool>> = vec![Some(true); 100];
        seen[7] = None;
        let all = share(&walked, &order, &seen).unwrap();
        assert_eq!((all.estimate.value, all.estimate.interval.1), (1.0, 1.0));
        assert!((0.9..0.98).contains(&all.estimate.interval.0), "{all:?}");
        assert!(share(&walked, &order, &[]).is_none());
        assert!(share(&walked, &order, &[None; 50]).is_none());
        // However many walkers met it, one page is no sample.
        assert!(share(&walked, &order, &[None, Some(true), None]).is_none());
    }
}

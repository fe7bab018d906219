//! E17: random pages of a web by walks, and of an index by pools of queries: which pages come too often, where the truth is
//! known.

mod pools;

use lookalike::report::Study;
use lookalike::report::study::{Axis, Grid, Lines, Origin, Plot, Point, Series, Value};
use lookalike_census::Estimate;
use lookalike_census::engine::Page;
use lookalike_census::henzinger_walk::{HenzingerWalk, VisitProbability, WalkRecord};
use lookalike_census::random::Random;
use lookalike_census::simulation::{Web, WebPlan};
use lookalike_census::spectrum::{burn_in, second_eigenvalue};
use lookalike_census::uniformity::{class_shares, total_variation};
use lookalike_census::webwalker::{Edges, Route, WebWalker};

use super::{Experiment, ExperimentContext};
use crate::collection::CollectionKind;
use crate::trial::LabError;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "E17",
    title: "Random pages by walks and by pools of queries: bias by degree and by length",
    source: "Henzinger and others 2000, Bar-Yossef and others 2000, Bar-Yossef and Gurevich 2006, Broder and others 2006, in \
             the IIR-19 slides and those of Dortmund",
    data: Some(CollectionKind::News),
    run,
};

/// Pages of the web at most.
const PAGES: usize = 20_000;
/// Walks of each kind, whose spread is the error.
const WALKS: u64 = 6;
/// The lowest in-degree of each class.
const CLASSES: [usize; 6] = [0, 1, 2, 4, 8, 32];
/// The degree of WebWalker's graph.
const DEGREE: u64 = 10_000_000;
/// Seeds that a walk may begin at.
const SEEDS: usize = 20;

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let mut study = Study::default();
    let pages = context.documents.clamp(500, PAGES);
    let walks = web(context, &mut study, pages)?;
    let (pools, collection) = pools::report(context, &mut study)?;
    let mut whole = context.study(&EXPERIMENT, Some(&collection));
    whole.facts.append(&mut study.facts);
    whole.notes.append(&mut study.notes);
    whole.blocks = study.blocks;
    whole.lead = format!("{walks} {pools}");
    Ok(whole)
}

/// A kind of walk.
#[derive(Debug, Clone, Copy)]
enum WalkKind {
    /// Follow links and jump, every visit counts.
    Plain,
    /// The same, weighted.
    Henzinger(VisitProbability),
    /// On the regular graph.
    WebWalker(usize, Edges),
}

const WALK_KINDS: [(&str, WalkKind); 8] = [
    ("links and jumps, unweighted", WalkKind::Plain),
    ("Henzinger, by visits", WalkKind::Henzinger(VisitProbability::Visits)),
    ("Henzinger, by PageRank", WalkKind::Henzinger(VisitProbability::PageRank)),
    ("Henzinger, mixture", WalkKind::Henzinger(VisitProbability::Mixture)),
    ("WebWalker r=0", WalkKind::WebWalker(0, Edges::Fixed)),
    ("WebWalker r=3", WalkKind::WebWalker(3, Edges::Fixed)),
    ("WebWalker r=10", WalkKind::WebWalker(10, Edges::Fixed)),
    ("WebWalker r=3, edges as on the slide", WalkKind::WebWalker(3, Edges::Literal)),
];

/// The web, and what is true of it.
struct WebScenario {
    web: Web,
    seeds: Vec<Page>,
    /// Shares of the classes among all pages.
    truth: Vec<f64>,
    /// The same among pages that links lead to from the first seed.
    reachable: Vec<f64>,
    seed: u64,
}

/// The results of one walk.
struct WalkResult {
    weights: Vec<(Page, f64)>,
    fetched: u64,
    visited: usize,
    route: Option<Route>,
}

fn web(context: &ExperimentContext<'_>, study: &mut Study, pages: usize) -> Result<String, LabError> {
    let plan = WebPlan { pages, hosts: pages / 40, broken: 0.02, seed: context.seed, ..WebPlan::default() };
    let scenario = WebScenario::new(plan);
    study.fact("pages of the web", pages.to_string());
    study.fact("share of links that the in-link service knows", plan.known.to_string());
    study.fact("walks of each kind", WALKS.to_string());
    study.heading("Walks over a web");
    study.notes.push(
        "The web is made up: hosts of very different size, links that stay at home or follow others, dead ends, pages without \
         in-links. Walks begin at the first pages of the largest hosts."
            .to_owned(),
    );
    let (short, long) = (pages / 20, 4 * pages);
    let mut best = Vec::new();
    for (moves, name) in [(short, "short walks"), (long, "long walks")] {
        best = scenario.compare(context, study, moves, name)?;
    }
    study.text(
        "A page that was never visited has no weight, so that pages without in-links are missing wherever a walk follows links \
         alone. Henzinger's weights take pages to be visited rarely: where a walk has seen most of the web, nearly all pages were \
         visited whatever their odds, and one over the odds makes hubs too light.",
    );
    study.table(scenario.speed(context, long)?);
    let of = |name: &str| best.iter().find(|(found, _)| *found == name).map_or(f64::NAN, |(_, tv)| *tv);
    Ok(format!(
        "After {long} moves over {pages} pages an unweighted walk is {:.2} away from uniform over classes of in-degrees \
         (total variation), Henzinger's by PageRank {:.2}, WebWalker with three in-links {:.2}.",
        of(WALK_KINDS[0].0),
        of(WALK_KINDS[2].0),
        of(WALK_KINDS[5].0)
    ))
}

impl WebScenario {
    fn new(plan: WebPlan) -> Self {
        let web = Web::new(plan);
        let seeds: Vec<Page> =
            (0..plan.hosts as u32).map(Page).filter(|&page| !web.is_broken(page)).take(SEEDS).collect();
        let alive: Vec<(Page, f64)> = (0..plan.pages as u32)
            .map(Page)
            .filter(|&page| !web.is_broken(page))
            .map(|page| (page, 1.0))
            .collect();
        let reached: Vec<(Page, f64)> = seeds
            .first()
            .map(|&seed| web.reachable(seed).into_iter().map(|page| (page, 1.0)).collect())
            .unwrap_or_default();
        let shares = |pages: &[(Page, f64)]| {
            class_shares(pages, CLASSES.len(), |page| class(&web, page)).unwrap_or_default()
        };
        let (truth, reachable) = (shares(&alive), shares(&reached));
        WebScenario { web, seeds, truth, reachable, seed: plan.seed }
    }

    /// Walks in all ways; returns how far each is from uniform.
    fn compare(
        &self,
        context: &ExperimentContext<'_>,
        study: &mut Study,
        moves: usize,
        name: &str,
    ) -> Result<Vec<(&'static str, f64)>, LabError> {
        let mut distance = Grid::new(
            format!("Distance from uniform, {name} of {moves} moves"),
            [
                "walk",
                "pages fetched",
                "share of pages visited",
                "total variation from all pages",
                "95 %",
                "from pages that links lead to",
            ],
        );
        let mut classes = Grid::new(
            format!("Share in the sample / true share, by in-degree, {name}"),
            std::iter::once("walk".to_owned()).chain(names()),
        );
        let (mut series, mut found) = (Vec::new(), Vec::new());
        for (number, &(walk_name, kind)) in WALK_KINDS.iter().enumerate() {
            let walks = self.walks(context, kind, moves, number as u64)?;
            let shares: Vec<Vec<f64>> = walks.iter().filter_map(|walked| self.shares(walked)).collect();
            let far: Vec<f64> = shares.iter().map(|shares| total_variation(shares, &self.truth)).collect();
            let near: Vec<f64> =
                shares.iter().map(|shares| total_variation(shares, &self.reachable)).collect();
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            let visited: Vec<f64> =
                walks.iter().map(|walked| walked.visited as f64 / self.web.len() as f64).collect();
            let fetched: Vec<f64> = walks.iter().map(|walked| walked.fetched as f64).collect();
            distance.row([
                walk_name.into(),
                Value::Count(mean(&fetched).round() as u64),
                mean(&visited).into(),
                mean(&far).into(),
                Estimate::mean(&far).map(|estimate| estimate.interval).into(),
                mean(&near).into(),
            ]);
            let ratios: Vec<f64> = (0..CLASSES.len())
                .map(|class| {
                    mean(&shares.iter().map(|shares| shares[class]).collect::<Vec<_>>()) / self.truth[class]
                })
                .collect();
            classes.row(std::iter::once(walk_name.into()).chain(ratios.iter().map(|&ratio| ratio.into())));
            let at = |(class, &ratio): (usize, &f64)| Point::new(CLASSES[class] as f64 + 1.0, ratio);
            let points = ratios.iter().enumerate().filter(|(_, ratio)| ratio.is_finite()).map(at).collect();
            series.push(Series { name: walk_name.to_owned(), origin: Origin::Measured, points });
            found.push((walk_name, mean(&far)));
        }
        study.table(distance);
        study.table(classes);
        study.plot(Plot::Lines(Lines {
            name: format!("Bias by in-degree, {name}"),
            x: Axis { name: "in-degree + 1, from".to_owned(), range: None, logarithmic: true },
            y: Axis { name: "share in the sample / true share".to_owned(), range: None, logarithmic: true },
            series,
        }));
        Ok(found)
    }

    fn walks(
        &self,
        context: &ExperimentContext<'_>,
        kind: WalkKind,
        moves: usize,
        number: u64,
    ) -> Result<Vec<WalkResult>, LabError> {
        (0..WALKS)
            .map(|walk| {
                context.watch.check()?;
                self.walk(kind, moves, &mut Random::part(self.seed, 1_000 * (number + 1) + walk))
            })
            .collect()
    }

    fn walk(&self, kind: WalkKind, moves: usize, random: &mut Random) -> Result<WalkResult, LabError> {
        let mut web = self.web.clone();
        // Every walk begins elsewhere among the seeds.
        let first = random.below(self.seeds.len());
        let mut starts = self.seeds.clone();
        starts.rotate_left(first);
        let failed = |error: lookalike_census::CensusError| LabError::Request(error.to_string());
        let (weights, visited, route) = match kind {
            WalkKind::Plain | WalkKind::Henzinger(_) => {
                let plan = HenzingerWalk { steps: moves, burn_in: moves / 10, ..HenzingerWalk::default() };
                let mut seen = WalkRecord::default();
                plan.walk(&mut web, &starts[..1], random, &mut seen).map_err(failed)?;
                let weights = match kind {
                    WalkKind::Henzinger(odds) => seen.weights(odds, plan.jump, random),
                    _ => seen.visits.iter().map(|(&page, &visits)| (page, visits as f64)).collect(),
                };
                (weights, seen.visits.len(), None)
            }
            WalkKind::WebWalker(backlinks, edges) => {
                let plan = WebWalker { degree: DEGREE, backlinks, edges };
                let route = plan.walk(&mut web, &starts, moves, random).map_err(failed)?;
                let weights = route.weights(route.steps() / 10);
                (weights, route.lists.len(), Some(route))
            }
        };
        Ok(WalkResult { weights, fetched: web.fetches(), visited, route })
    }

    fn shares(&self, walked: &WalkResult) -> Option<Vec<f64>> {
        class_shares(&walked.weights, CLASSES.len(), |page| class(&self.web, page))
    }

    /// Makes the table of how fast WebWalker forgets its start, on the graph that a long walk found.
    fn speed(&self, context: &ExperimentContext<'_>, moves: usize) -> Result<Grid, LabError> {
        let mut grid = Grid::new(
            format!("How fast WebWalker forgets its start, degree {DEGREE}"),
            [
                "walk",
                "pages of its graph",
                "neighbours, on average",
                "1 − λ2, in millionths",
                "steps until within 0.01 of uniform",
                "of these moves",
            ],
        );
        for (number, &(name, kind)) in WALK_KINDS.iter().enumerate() {
            context.watch.check()?;
            let walked = self.walk(kind, moves, &mut Random::part(self.seed, 1_000 * (number as u64 + 1)))?;
            let Some(route) = walked.route else { continue };
            let graph = graph(&route);
            let neighbours = graph.iter().map(Vec::len).sum::<usize>() as f64 / graph.len() as f64;
            let second = second_eigenvalue(&graph, DEGREE);
            let steps = second.map(|second| burn_in(graph.len() as f64, 0.01, second));
            grid.row([
                name.into(),
                (graph.len() as u64).into(),
                neighbours.into(),
                second.map(|second| 1e6 * (1.0 - second)).into(),
                steps.map(f64::round).into(),
                steps.map(|steps| (steps * neighbours / DEGREE as f64).round()).into(),
            ]);
        }
        grid.row([
            "by the published λ2, for 10^9 pages".into(),
            Value::None,
            Value::None,
            1.0.into(),
            burn_in(1e9, 0.01, 1.0 - 1e-6).round().into(),
            Value::None,
        ]);
        Ok(grid)
    }
}

/// The visited pages and what joins them.
fn graph(route: &Route) -> Vec<Vec<u32>> {
    let pages: Vec<Page> = route.lists.keys().copied().collect();
    let place = |page: &Page| pages.binary_search(page).ok().map(|place| place as u32);
    route.lists.values().map(|list| list.iter().filter_map(place).collect()).collect()
}

/// The class of a page's in-degree.
fn class(web: &Web, page: Page) -> usize {
    let degree = web.in_degree(page);
    CLASSES.partition_point(|&begin| begin <= degree) - 1
}

fn names() -> impl Iterator<Item = String> {
    (0..CLASSES.len()).map(|class| match CLASSES.get(class + 1) {
        Some(&next) if next == CLASSES[class] + 1 => CLASSES[class].to_string(),
        Some(next) => format!("{} to {}", CLASSES[class], next - 1),
        None => format!("{} and more", CLASSES[class]),
    })
}

#[cfg(test)]
mod tests {
    use lookalike::walk::Watch;

    use super::super::world::tests::context;
    use super::*;

    #[test]
    fn weights_take_the_hubs_out_of_a_walk() {
        let watch = Watch::default();
        let context = context(150, &watch);
        let plan = WebPlan { pages: 600, hosts: 15, broken: 0.02, seed: 3, ..WebPlan::default() };
        let scenario = WebScenario::new(plan);
        assert!((scenario.truth.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let hubs = |kind| {
            let walks = scenario.walks(&context, kind, 4_000, 1).unwrap();
            let shares: Vec<Vec<f64>> = walks.iter().filter_map(|walked| scenario.shares(walked)).collect();
            let last = CLASSES.len() - 1;
            shares.iter().map(|shares| shares[last]).sum::<f64>() / shares.len() as f64 / scenario.truth[last]
        };
        let plain = hubs(WalkKind::Plain);
        let walker = hubs(WalkKind::WebWalker(3, Edges::Fixed));
        let ranked = hubs(WalkKind::Henzinger(VisitProbability::PageRank));
        assert!(plain > 2.5 && walker < 1.7 && ranked < 0.7 * plain, "{plain} {walker} {ranked}");
    }

    #[test]
    fn the_whole_study_is_the_same_twice() {
        let watch = Watch::default();
        let context = ExperimentContext { documents: 500, ..context(500, &watch) };
        let study = run(&context).unwrap();
        assert_eq!(study, run(&context).unwrap());
        assert!(!study.lead.contains("NaN"), "{}", study.lead);
    }
}

//! A benchmark of random walks on webs of known size: the distance of their pages from a uniform sample, the error of their sizes,
//! and the share of walks that are refused, from good seeds and from bad ones.
//!
//! `cargo run --release -p lookalike-census --example walks -- [RUNS] [GRAPH]...`
//!
//! Graphs are edge lists or, with `--features bvgraph`, basenames of compressed ones. Without any, the walks run on two simulated
//! webs of 325,000 pages. A figure is the median over runs; brackets hold the middle 80 %.

#![expect(clippy::print_stdout, reason = "a program whose output is a table")]

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use lookalike_census::Random;
use lookalike_census::graph::{BowTie, EdgeList, Graph, Naming, basename, compressed};
use lookalike_census::henzinger_walk::VisitProbability;
use lookalike_census::simulation::{CopyingPlan, Sites, SitesPlan, copying_web};
use lookalike_census::uniformity::{class_shares, total_variation};
use lookalike_census::walks::convergence::check_convergence;
use lookalike_census::walks::{Budget, LinkedWeb, Method, Sample, Walk, seeds, size, walk};
use lookalike_census::webwalker::{Edges, WebWalker};

const PAGES: usize = 325_000;
const FETCHES: [u64; 3] = [3_000, 10_000, 30_000];
/// Pages of a crawl that bad seeds are from, in percent.
const CRAWLED: usize = 6;
/// Runs of methods that are there for comparison only.
const FEW_RUNS: u64 = 8;
/// The seed of webs and walks; not one of those that the limits of the convergence checks were chosen with.
const SEED: u64 = 2_024;

/// The choice of the pages that walks begin at.
#[derive(Clone, Copy)]
enum SeedChoice {
    Uniform(usize),
    Links(usize),
    Crawl(usize),
}

/// The method that pages are sampled by.
#[derive(Clone, Copy)]
enum SamplingMethod {
    Crawl,
    Unweighted,
    Walk(Method),
}

/// A web, its number of pages, and the shares of its classes of in-degrees.
struct TestWeb {
    name: String,
    graph: Graph,
    back: Graph,
    /// Pages that have a neighbour.
    pages: f64,
    shares: Vec<f64>,
}

/// One run.
struct Run {
    variation: f64,
    hubs: f64,
    met: Option<f64>,
    known_region: Option<f64>,
    refused: bool,
    /// True if a check other than those for the numbers of seeds and probes refused.
    by_evidence: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let runs = arguments.next().map_or(Ok(40), |runs| runs.parse())?;
    let mut webs: Vec<(String, Graph)> = Vec::new();
    for path in arguments {
        let list = match basename(Path::new(&path)) {
            Some(basename) => compressed(&basename)?,
            None => EdgeList::read(BufReader::new(File::open(&path)?), Naming::Detect)?,
        };
        webs.push((path, list.graph));
    }
    if webs.is_empty() {
        let sites = SitesPlan { pages: PAGES, sites: 2_000, seed: SEED, ..SitesPlan::default() };
        webs.push(("sites".to_owned(), Sites::new(sites).graph));
        let copying = CopyingPlan { pages: PAGES, seed: SEED, ..CopyingPlan::default() };
        webs.push(("copying".to_owned(), copying_web(copying)));
    }
    for (name, graph) in webs {
        TestWeb::new(name, graph).print(runs);
    }
    Ok(())
}

impl TestWeb {
    fn new(name: String, graph: Graph) -> Self {
        let back = graph.transposed();
        let joined = |page: &u32| graph.degree(*page) + back.degree(*page) > 0;
        let pages: Vec<(u32, f64)> =
            (0..graph.nodes() as u32).filter(joined).map(|page| (page, 1.0)).collect();
        let shares = class_shares(&pages, 8, |page| class(back.degree(page))).unwrap_or_default();
        TestWeb { name, pages: pages.len() as f64, shares, graph, back }
    }

    fn print(&self, runs: u64) {
        println!("\n{}: {} pages, {} links", self.name, self.graph.nodes(), self.graph.arcs());
        println!("{:?}\n", BowTie::of(&self.graph, &self.back).all());
        println!(
            "| method | TV at 3 k / 10 k / 30 k | hubs at 10 k | size met at 10 k, 30 k | size by territory at 10 k, 30 k | \
             refused at 3 k / 10 k / 30 k | by evidence alone |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- |");
        let webwalker =
            |backlinks| Method::WebWalker(WebWalker { degree: 10_000_000, backlinks, edges: Edges::Fixed });
        let henzinger = Method::Henzinger(1.0 / 7.0, VisitProbability::PageRank);
        let one = SeedChoice::Uniform(1);
        for (name, sampling, seeds, runs) in [
            ("crawl", SamplingMethod::Crawl, one, FEW_RUNS),
            ("plain walk, unweighted", SamplingMethod::Unweighted, one, FEW_RUNS),
            ("reweighted walk", SamplingMethod::Walk(Method::Reweighted), one, runs),
            ("non-backtracking", SamplingMethod::Walk(Method::NonBacktracking), one, FEW_RUNS),
            ("Metropolis-Hastings", SamplingMethod::Walk(Method::MetropolisHastings), one, FEW_RUNS),
            ("WebWalker r=0", SamplingMethod::Walk(webwalker(0)), SeedChoice::Uniform(20), FEW_RUNS),
            ("WebWalker r=10", SamplingMethod::Walk(webwalker(10)), SeedChoice::Uniform(20), FEW_RUNS),
            ("Henzinger, 1/PageRank", SamplingMethod::Walk(henzinger), SeedChoice::Uniform(20), FEW_RUNS),
            (
                "frontier, 512 uniform seeds",
                SamplingMethod::Walk(Method::Frontier),
                SeedChoice::Uniform(512),
                runs,
            ),
            (
                "frontier, 64 uniform seeds",
                SamplingMethod::Walk(Method::Frontier),
                SeedChoice::Uniform(64),
                FEW_RUNS,
            ),
            (
                "frontier, 512 seeds by links",
                SamplingMethod::Walk(Method::Frontier),
                SeedChoice::Links(512),
                runs,
            ),
            (
                "frontier, 512 seeds of a crawl",
                SamplingMethod::Walk(Method::Frontier),
                SeedChoice::Crawl(512),
                runs,
            ),
        ] {
            self.row(name, sampling, seeds, runs);
        }
    }

    fn row(&self, name: &str, sampling: SamplingMethod, seeds: SeedChoice, runs: u64) {
        let done = FETCHES.map(|fetches| -> Vec<Run> {
            (0..runs).filter_map(|run| self.run(sampling, seeds, fetches, run)).collect()
        });
        let each = |of: &dyn Fn(&[Run]) -> String| done.iter().map(|runs| of(runs)).collect::<Vec<_>>();
        let variation = each(&|runs| format!("{:.2}", median(runs.iter().map(|run| run.variation))));
        let met = each(&|runs| spread(runs.iter().filter_map(|run| run.met)));
        let known_region = each(&|runs| spread(runs.iter().filter_map(|run| run.known_region)));
        let share = |runs: &[Run], of: &dyn Fn(&Run) -> bool| {
            format!("{}/{}", runs.iter().filter(|run| of(run)).count(), runs.len())
        };
        let refused = each(&|runs| share(runs, &|run| run.refused));
        let evidence = each(&|runs| share(runs, &|run| run.by_evidence));
        println!(
            "| {name} | {} | {:.1}x | {} | {} | {} | {} |",
            variation.join(" / "),
            median(done[1].iter().map(|run| run.hubs)),
            met[1..].join(", "),
            known_region[1..].join(", "),
            refused.join(" / "),
            evidence.join(" / ")
        );
    }

    fn run(&self, sampling: SamplingMethod, from: SeedChoice, fetches: u64, run: u64) -> Option<Run> {
        let mut random = Random::part(SEED, run);
        let seeds = self.seeds(from, &mut random)?;
        let walked = match sampling {
            SamplingMethod::Crawl => crawled(&seeds::crawl(&self.graph, seeds[0], fetches as usize)),
            SamplingMethod::Walk(method) => self.walk(method, &seeds, fetches, run)?,
            SamplingMethod::Unweighted => {
                let mut walked = self.walk(Method::Reweighted, &seeds, fetches, run)?;
                walked.samples.iter_mut().for_each(|sample| sample.weight = 1.0);
                walked
            }
        };
        let sample: Vec<(u32, f64)> =
            walked.samples.iter().map(|sample| (sample.page, sample.weight)).collect();
        let shares = class_shares(&sample, 8, |page| class(self.back.degree(page)))?;
        let weighted = !walked.lists.is_empty() && !matches!(sampling, SamplingMethod::Unweighted);
        let relative = |size: Option<lookalike_census::Estimate>| {
            size.filter(|_| weighted).map(|size| size.value / self.pages)
        };
        let judged = check_convergence(&walked, &[]);
        let evidence = |name: &str| !name.starts_with("number of");
        Some(Run {
            variation: total_variation(&shares, &self.shares),
            hubs: shares[7] / self.shares[7],
            met: relative(size::by_meetings(&walked, size::MARGIN)),
            known_region: relative(size::by_known_region(&walked)),
            refused: !judged.converged(),
            by_evidence: judged.checks.iter().any(|check| check.refused.is_some() && evidence(&check.name)),
        })
    }

    fn walk(&self, method: Method, seeds: &[u32], fetches: u64, run: u64) -> Option<Walk> {
        let budget = Budget { steps: 20 * fetches, ..Budget::fetches(fetches) };
        walk(&mut LinkedWeb::new(&self.graph, &self.back), method, seeds, budget, SEED + run).ok()
    }

    /// Draws seeds in random order, since the order of a crawl would give it away. Fewer than 64 seeds are all pages that link to
    /// another, so that a single walk has somewhere to go.
    fn seeds(&self, from: SeedChoice, random: &mut Random) -> Option<Vec<u32>> {
        let mut seeds = match from {
            SeedChoice::Uniform(count) if count < 64 => {
                let linked = |page: &u32| self.graph.links(*page).iter().any(|other| other != page);
                seeds::uniform(self.graph.nodes(), 1_000, random)
                    .into_iter()
                    .filter(linked)
                    .take(count)
                    .collect()
            }
            SeedChoice::Uniform(count) => seeds::uniform(self.graph.nodes(), count, random),
            SeedChoice::Links(count) => seeds::by_links(&self.graph, count, random),
            SeedChoice::Crawl(count) => {
                seeds::of_a_crawl(&self.graph, self.graph.nodes() * CRAWLED / 100, count, random)?
            }
        };
        for place in (1..seeds.len()).rev() {
            seeds.swap(place, random.below(place + 1));
        }
        Some(seeds)
    }
}

/// The pages of a crawl, each once.
fn crawled(pages: &[u32]) -> Walk {
    let sample = |&page: &u32| Sample { page, degree: 1, walker: 0, step: 0, weight: 1.0 };
    Walk { samples: pages.iter().map(sample).collect(), ..Walk::default() }
}

/// Classes of in-degrees: 0, 1, 2, 4, 8, 16, 32 and more than 64.
fn class(links: usize) -> usize {
    match links {
        0 => 0,
        1 => 1,
        2..4 => 2,
        4..8 => 3,
        8..16 => 4,
        16..32 => 5,
        32..65 => 6,
        _ => 7,
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let values = sorted(values);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn spread(values: impl Iterator<Item = f64>) -> String {
    let values = sorted(values);
    if values.is_empty() {
        return "–".to_owned();
    }
    let at = |share: f64| values[(share * (values.len() - 1) as f64).round() as usize];
    format!("{:.2} [{:.2}, {:.2}]", at(0.5), at(0.1), at(0.9))
}

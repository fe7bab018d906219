//! `lookalike census walk`: what a walk over a web graph says of its pages, or why it says nothing.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Arc;

use lookalike::corpus::ListReader;
use lookalike::walk::Watch;
use lookalike_census::graph::{
    BowTie, EdgeList, Graph, GraphError, Labels, Naming, Parts, basename, compressed,
};
use lookalike_census::henzinger_walk::VisitProbability;
use lookalike_census::walks::estimates::ReportedEstimate;
use lookalike_census::walks::mixing::Mixing;
use lookalike_census::walks::{Budget, LinkedWeb, Method, Outcome as WalkOutcome, Plan, Report, seeds, walk};
use lookalike_census::webwalker::WebWalker;
use lookalike_census::{CensusError, Estimate, Random};
use serde::Serialize;

use super::check::{self, CheckReport};
use super::{EstimateJson, print_json};
use crate::args::{CensusWalkArgs, WalkMethodArg};
use crate::console::print_message;
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

/// The probability of a jump in Henzinger's walk, as published.
const JUMP_PROBABILITY: f64 = 1.0 / 7.0;

/// The object that `--json` prints. Stable: other programs read it.
#[derive(Serialize)]
struct WalkReport {
    pages: usize,
    links: u64,
    /// The numbers of pages and of seeds in each part of the bow tie.
    bow_tie: Option<BTreeMap<&'static str, Parts>>,
    /// The speed at which a single walker forgets where it began.
    mixing: Option<Mixing>,
    /// The share of the pages that an engine has.
    check: Option<CheckReport>,
    #[serde(flatten)]
    report: Report,
}

pub(crate) fn run(args: &CensusWalkArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    // First what may be wrong with the engine: a walk can take long.
    let caller = check::caller(args, watch)?;
    let list = graph(args)?;
    let back = list.graph.transposed();
    let labels = labels(args, &list)?;
    let seeds = starting_pages(args, &list)?;
    let mixing = if args.gap { Mixing::of(&list.graph, &back).map_err(failed)? } else { None };
    let plan = Plan {
        method: method(args),
        // No more than there are, whatever was allowed.
        budget: Budget::fetches(args.fetches.min(list.graph.nodes() as u64)),
        seed: args.seed,
        labels,
        anyway: args.anyway,
    };
    // Only this walk jumps to hosts.
    let hosts = if let Method::Henzinger(..) = plan.method { list.hosts() } else { None };
    let mut web = LinkedWeb::new(&list.graph, &back);
    if let Some(hosts) = &hosts {
        web = web.with_hosts(hosts);
    }
    let walk = walk(&mut web, plan.method, &seeds, plan.budget, plan.seed).map_err(failed)?;
    let report = Report::of(&walk, &plan);
    let check = match caller {
        Some(caller) if report.answer.is_some() => Some(check::run(caller, args, &list, &walk, watch)?),
        _ => None,
    };
    let bow_tie = args.bow_tie.then(|| bow_tie(&list.graph, &back, &seeds));
    let (pages, links) = (list.graph.nodes(), list.graph.arcs());
    let walk_report = WalkReport { pages, links, bow_tie, mixing, check, report };
    if args.json {
        print_json(&walk_report)?
    } else {
        walk_report.print(args.gap, &mut std::io::stdout().lock())?
    }
    match &walk_report.report.convergence.outcome {
        WalkOutcome::Refused { reasons } if !args.anyway => {
            let first = reasons.first().map_or("", String::as_str).trim_end_matches('.');
            Err(Failure::Missing(format!(
                "the walk gives no answer: {first}; take more and better seeds, allow more fetches, or say --anyway"
            )))
        }
        _ => walk_report.check.as_ref().map_or(Ok(Outcome::Done), CheckReport::outcome),
    }
}

fn failed(error: CensusError) -> Failure {
    Failure::Missing(error.to_string())
}

fn graph(args: &CensusWalkArgs) -> Result<EdgeList, Failure> {
    let (path, naming) = (&args.graph, if args.names { Naming::Names } else { Naming::Detect });
    match basename(path) {
        Some(basename) => compressed(&basename).map_err(|error| unreadable(path, &error)),
        None => {
            let list = read(path, |input| EdgeList::read(input, naming))?;
            if list.has_columns {
                print_message(format_args!(
                    "the first line of {} names columns, and is no link",
                    path.display()
                ));
            }
            Ok(list)
        }
    }
}

fn read<T>(
    path: &Path,
    parse: impl FnOnce(BufReader<ListReader>) -> Result<T, GraphError>,
) -> Result<T, Failure> {
    parse(BufReader::new(ListReader::open(path)?)).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &GraphError) -> Failure {
    Failure::Missing(format!("{}: {error}", path.display()))
}

/// The numbers of the fields that were asked for.
fn labels(args: &CensusWalkArgs, list: &EdgeList) -> Result<Vec<(String, Vec<f64>)>, Failure> {
    let Some(path) = &args.nodes else { return Ok(Vec::new()) };
    let known = read(path, |input| Labels::read(input, list, &args.field))?;
    if known.described == 0 && known.unknown > 0 {
        return Err(Failure::Usage(format!(
            "none of the {} ids of {} is a page of the graph; id must be the name of a page there",
            thousands(known.unknown),
            path.display()
        )));
    }
    if known.unknown > 0 {
        print_message(format_args!(
            "{} lines of {} are about pages that the graph does not have",
            thousands(known.unknown),
            path.display()
        ));
    }
    let value = |field: &String| {
        let values = known.values(field).ok_or_else(|| {
            Failure::Usage(format!(
                "{} has no field {field} with numbers or true and false, nor one with that value as FIELD=VALUE; name another",
                path.display()
            ))
        })?;
        Ok((field.clone(), values))
    };
    args.field.iter().map(value).collect()
}

/// The pages to begin with.
fn starting_pages(args: &CensusWalkArgs, list: &EdgeList) -> Result<Vec<u32>, Failure> {
    let Some(path) = &args.seeds else {
        let mut random = Random::part(args.seed, 1);
        return Ok(seeds::uniform(list.graph.nodes(), args.uniform_seeds, &mut random));
    };
    let mut found = Vec::new();
    for line in BufReader::new(ListReader::open(path)?).lines() {
        let line = line.map_err(|error| Failure::Missing(format!("{}: {error}", path.display())))?;
        let page = line.trim();
        if page.is_empty() {
            continue;
        }
        found.push(list.find(page).ok_or_else(|| {
            Failure::Missing(format!(
                "{} names {page}, which is not in the graph; leave it out",
                path.display()
            ))
        })?);
    }
    Ok(found)
}

fn method(args: &CensusWalkArgs) -> Method {
    match args.method {
        WalkMethodArg::Frontier => Method::Frontier,
        WalkMethodArg::Reweighted => Method::Reweighted,
        WalkMethodArg::NonBacktracking => Method::NonBacktracking,
        WalkMethodArg::MetropolisHastings => Method::MetropolisHastings,
        WalkMethodArg::Webwalker => {
            Method::WebWalker(WebWalker { backlinks: args.backlinks, ..WebWalker::default() })
        }
        WalkMethodArg::Henzinger => Method::Henzinger(JUMP_PROBABILITY, VisitProbability::PageRank),
    }
}

fn bow_tie(graph: &Graph, back: &Graph, seeds: &[u32]) -> BTreeMap<&'static str, Parts> {
    let tie = BowTie::of(graph, back);
    BTreeMap::from([("pages", tie.all()), ("seeds", tie.count_pages(seeds))])
}

pub(super) fn to_estimate(figures: ReportedEstimate) -> EstimateJson {
    Estimate { value: figures.value, error: figures.error, interval: figures.interval }.into()
}

impl WalkReport {
    fn print(&self, gap: bool, out: &mut impl Write) -> std::io::Result<()> {
        let report = &self.report;
        writeln!(
            out,
            "{}: {} pages fetched ({} of them probes), {} known, {} steps from {} seeds",
            report.method,
            thousands(report.fetched),
            thousands(report.probed),
            thousands(report.known),
            thousands(report.steps),
            thousands(report.seeds)
        )?;
        if report.lost_seeds + report.failures > 0 {
            writeln!(
                out,
                "{} seeds lead nowhere, {} pages could not be had",
                report.lost_seeds, report.failures
            )?;
        }
        self.print_bow_tie(out)?;
        if gap {
            self.print_gap(out)?;
        }
        if let WalkOutcome::Refused { reasons } = &report.convergence.outcome {
            writeln!(out, "not to be believed:")?;
            reasons.iter().try_for_each(|reason| writeln!(out, "  - {reason}"))?;
        }
        self.print_answer(out)?;
        if let Some(check) = &self.check {
            check.print(out)?;
        }
        writeln!(out, "taken for granted, or not seen:")?;
        let checked = self.check.iter().flat_map(|check| check.assumed.iter().copied());
        let mut notes = report.assumptions.iter().map(String::as_str).chain(checked);
        notes.try_for_each(|note| writeln!(out, "  - {note}"))
    }

    fn print_gap(&self, out: &mut impl Write) -> std::io::Result<()> {
        let Some(mixing) = self.mixing else {
            return writeln!(out, "gap: none, since no page links to another");
        };
        if mixing.parts > 1 {
            writeln!(
                out,
                "the graph has {} parts that no link leads between; the gap is that of the largest, of {} pages",
                thousands(mixing.parts as u64),
                thousands(mixing.pages)
            )?;
        }
        let who = if mixing.bipartite {
            "every link leads between two halves, and a walker alternates between them for ever; one who stays every second step"
        } else {
            "a single walker"
        };
        writeln!(
            out,
            "gap {:.3e}: {who} forgets where it began in about {} steps, and is within 1 % of rest after some {}",
            mixing.gap,
            thousands(mixing.relaxation_time.round() as u64),
            thousands(mixing.mixing_time.round() as u64)
        )
    }

    fn print_bow_tie(&self, out: &mut impl Write) -> std::io::Result<()> {
        for (name, parts) in self.bow_tie.iter().flatten() {
            writeln!(
                out,
                "{name}: core {}, in {}, out {}, tubes {}, tendrils {}, elsewhere {}",
                thousands(parts.core),
                thousands(parts.into),
                thousands(parts.out),
                thousands(parts.tubes),
                thousands(parts.tendrils),
                thousands(parts.disconnected)
            )?;
        }
        Ok(())
    }

    fn print_answer(&self, out: &mut impl Write) -> std::io::Result<()> {
        let Some(answer) = &self.report.answer else { return Ok(()) };
        writeln!(out, "{:<26}{:>14}   95 % interval", "", "")?;
        for (name, size) in [
            ("pages", answer.size),
            ("pages, by meetings", answer.size_by_meetings),
            ("pages, by neighbours", answer.size_by_neighbours),
        ] {
            if let Some(size) = size {
                writeln!(out, "{name:<26}{}", to_estimate(size).pages())?;
            }
        }
        let degree = answer.mean_degree.iter().map(|mean| ("neighbours of a page", mean));
        let means = answer.means.iter().map(|(name, mean)| (name.as_str(), mean));
        let check = self.check.iter().filter_map(|check| Some((check.title.as_str(), check.share.as_ref()?)));
        for (name, mean) in degree.chain(means).chain(check) {
            let as_good = thousands(mean.effective.round().max(0.0) as u64);
            writeln!(
                out,
                "{name:<26}{}   (as good as {as_good} uniform pages)",
                to_estimate(mean.estimate).ratio()
            )?;
        }
        Ok(())
    }
}

//! `lookalike census compare`: what engines share.

use std::io::Write;
use std::sync::Arc;

use lookalike::walk::Watch;
use lookalike_census::Estimate;
use lookalike_live_census::EngineClient;
use lookalike_live_census::compare::{Comparison, EngineSample, compare, draw};
use lookalike_live_census::sampling::SamplingFaults;
use lookalike_live_census::size::Plan;
use lookalike_search_engines::{Caller, SearchEngine};
use serde::Serialize;

use super::other_estimators::{self, BaselineEstimate};
use super::querying::{caller, failed, read_own_documents};
use super::{Engine, EstimateJson, Recipe, pages, print_json, print_notes, print_problems};
use crate::args::CensusCompareArgs;
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

/// Results looked at for each query: each of them is looked for in all other engines.
const RESULTS_PER_QUERY: usize = 2;

/// Most engines: each is looked for in all others.
const MAX_ENGINES: usize = 16;

const ASSUMED: [&str; 3] = [
    "a page that an engine has is found by its eight rarest words, as often in one engine as in another",
    "what an engine shows for a query is all that it has for it, unless it says that there is more",
    "pages with at least nine tenths of their words in common are one",
];

const UNSEEN: [&str; 3] = [
    "pages that no engine has, and pages that queries of the own corpus do not reach",
    "near-duplicates in another engine that do not have all eight rarest words of a page",
    "what one engine has of another, where both keep it under other words",
];

/// The object that `--json` prints. Stable: other programs read it.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) engines: Vec<EngineRow>,
    /// The share of the pages of the row's engine that the column's engine has.
    pub(super) shares: Vec<Vec<Option<EstimateJson>>>,
    /// Pages by the engines that have them, and no other.
    pub(super) parts: Vec<EngineSubset>,
    /// All pages of all engines.
    pub(super) union: Option<EstimateJson>,
    /// True if the size of the first engine is known, so that the union and its parts are in pages; else they are in units of the first
    /// engine.
    pub(super) in_pages: bool,
    squares: Option<f64>,
    pub(super) assumed: [&'static str; 3],
    pub(super) unseen: [&'static str; 3],
    pub(super) recipe: Recipe,
}

/// Pages that these engines have, and no other.
#[derive(Serialize)]
pub(super) struct EngineSubset {
    pub(super) engines: Vec<String>,
    pub(super) pages: EstimateJson,
}

#[derive(Serialize)]
pub(super) struct EngineRow {
    #[serde(flatten)]
    pub(super) engine: Engine,
    draws: usize,
    pages_looked_for: usize,
    found_under_another_address: u64,
    not_answered: u64,
    pub(super) seen: SamplingFaults,
    /// Beside the first engine.
    pub(super) relative: Option<EstimateJson>,
    relative_by_overlap: Option<EstimateJson>,
    relative_by_size: Option<EstimateJson>,
    pub(super) pages: Option<EstimateJson>,
    share_of_union: Option<f64>,
    /// Its size relative to the first by other estimators, where they were asked for.
    pub(super) others: Vec<BaselineEstimate>,
}

pub(crate) fn run(args: &CensusCompareArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    if args.known.is_some_and(|known| !known.is_finite() || known <= 0.0) {
        return Err(Failure::Usage("--known is a number of pages above 0".to_owned()));
    }
    if args.engines.len() > MAX_ENGINES {
        return Err(Failure::Usage(format!("at most {MAX_ENGINES} engines can be compared; name fewer")));
    }
    args.report.as_deref().map_or(Ok(()), pages::check_writable)?;
    let own = read_own_documents(&args.query, watch)?;
    let mut callers: Vec<Caller> = Vec::new();
    for spec in &args.engines {
        callers.push(caller(spec, &args.query, Some(&callers), watch)?);
    }
    let limits: Vec<usize> = callers.iter().map(|caller| caller.cap()).collect();
    let mut sessions: Vec<EngineClient<'_>> = callers
        .iter_mut()
        .zip(&limits)
        .map(|(caller, &limit)| EngineClient::new(caller, &own, limit))
        .collect();
    let plan = Plan { seed: args.query.seed, looked_at: RESULTS_PER_QUERY, ..Plan::default() };
    let sides = draw(&mut sessions, &plan).map_err(failed(watch))?;
    drop(sessions);
    let found = compare(&sides, args.query.seed);
    let engines = callers.iter().zip(limits).map(|(caller, limit)| Engine::of(caller, limit)).collect();
    // Others write into the same records.
    drop(callers);
    let recipe = Recipe::of(&args.query, &own);
    let mut report = report(engines, &sides, &found, (args.known, recipe));
    if args.baselines {
        for (one, engine) in report.engines.iter_mut().zip(&args.engines).skip(1) {
            one.others = other_estimators::ratios([engine, &args.engines[0]], &args.query, &own, watch)?;
        }
    }
    if let Some(path) = &args.report {
        pages::write(path, &pages::of_comparison(&report))?;
    }
    if args.query.json {
        print_json(&report)?
    } else {
        report.print(&mut std::io::stdout().lock())?
    }
    Ok(Outcome::Done)
}

fn report(
    engines: Vec<Engine>,
    sides: &[EngineSample],
    found: &Comparison,
    (known, recipe): (Option<f64>, Recipe),
) -> Report {
    let to_json = |estimate: Option<Estimate>| estimate.map(EstimateJson::from);
    let absolute = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.times(known.unwrap_or(1.0)));
    let one = |(x, (engine, side)): (usize, (Engine, &EngineSample))| EngineRow {
        engine,
        draws: side.draws.len(),
        pages_looked_for: side.draws.iter().map(|draw| draw.pages.len()).sum(),
        found_under_another_address: side.alike,
        not_answered: side.unknown,
        seen: side.faults,
        relative: to_json(found.relative[x]),
        relative_by_overlap: to_json(found.by_overlap[x]),
        relative_by_size: to_json(found.by_size[x]),
        pages: to_json(if known.is_some() { absolute(found.relative[x]) } else { found.sizes[x] }),
        share_of_union: found.relative[x].zip(found.union).map(|(own, all)| own.value / all.value),
        others: Vec::new(),
    };
    let names: Vec<String> = sides.iter().map(|side| side.name.clone()).collect();
    let part = |&(engines, pages): &(u64, Estimate)| EngineSubset {
        engines: (0..names.len()).filter(|x| engines >> x & 1 == 1).map(|x| names[x].clone()).collect(),
        pages: pages.times(known.unwrap_or(1.0)).into(),
    };
    Report {
        parts: found.parts.iter().map(part).collect(),
        engines: engines.into_iter().zip(sides).enumerate().map(one).collect(),
        shares: found.shares.iter().map(|row| row.iter().map(|&share| to_json(share)).collect()).collect(),
        union: to_json(absolute(found.union)),
        in_pages: known.is_some(),
        squares: found.squares,
        assumed: ASSUMED,
        unseen: UNSEEN,
        recipe,
    }
}

impl Report {
    /// The result in a sentence.
    pub(super) fn lead(&self) -> String {
        let [first, others @ ..] = self.engines.as_slice() else { return String::new() };
        let size = |one: &EngineRow| {
            let EstimateJson { value, low, high, .. } = one.relative?;
            let (name, first) = (&one.engine.name, &first.engine.name);
            Some(format!("{name} has {value:.2} times as many pages as {first} ({low:.2} to {high:.2})"))
        };
        others.iter().filter_map(size).collect::<Vec<_>>().join("; ") + "."
    }

    fn who_has(&self, part: &EngineSubset) -> String {
        let others = if part.engines.len() < self.engines.len() { ", no other" } else { "" };
        format!("in {}{others}", part.engines.join(" and "))
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let width = self.engines.iter().map(|one| one.engine.name.chars().count()).max().unwrap_or(0).max(8);
        self.print_shares(out, width)?;
        self.print_sizes(out, width)?;
        self.print_union(out, width)?;
        for one in &self.engines {
            one.engine.print(out)?;
            writeln!(
                out,
                "  {} draws, {} pages looked for in the others, {} found under another address",
                thousands(one.draws as u64),
                thousands(one.pages_looked_for as u64),
                thousands(one.found_under_another_address)
            )?;
            print_problems(out, &one.seen)?;
        }
        for one in self.engines.iter().filter(|one| !one.others.is_empty()) {
            let (name, first) = (&one.engine.name, &self.engines[0].engine.name);
            writeln!(out, "what others say of {name} beside {first}, each with budgets of their own:")?;
            one.others.iter().try_for_each(|other| other.print(out, EstimateJson::ratio))?;
        }
        print_notes(out, "taken for granted:", &self.assumed)?;
        print_notes(out, "not seen:", &self.unseen)
    }

    fn print_shares(&self, out: &mut impl Write, width: usize) -> std::io::Result<()> {
        writeln!(out, "share of the engine on the left that the other has, with 95 % interval")?;
        for (one, row) in self.engines.iter().zip(&self.shares) {
            for (other, share) in self.engines.iter().zip(row) {
                if let Some(share) = share {
                    let names = format!("{:width$} in {:width$}", one.engine.name, other.engine.name);
                    writeln!(out, "  {names} {} {}", share.ratio(), bar(share.value))?;
                }
            }
        }
        Ok(())
    }

    fn print_sizes(&self, out: &mut impl Write, width: usize) -> std::io::Result<()> {
        writeln!(out, "size beside {}, with 95 % interval", self.engines[0].engine.name)?;
        for one in &self.engines {
            if let Some(relative) = &one.relative {
                writeln!(out, "  {:width$}    {:width$} {}", one.engine.name, "", relative.ratio())?;
            }
        }
        writeln!(out, "{}, with 95 % interval", self.how_counted())?;
        for one in &self.engines {
            if let Some(pages) = &one.pages {
                writeln!(out, "  {:width$}    {:width$} {}", one.engine.name, "", pages.pages())?;
            }
        }
        Ok(())
    }

    /// Describes the source of the numbers of pages.
    pub(super) fn how_counted(&self) -> &'static str {
        if self.in_pages { "pages, from the known size" } else { "pages, each engine by itself" }
    }

    fn print_union(&self, out: &mut impl Write, width: usize) -> std::io::Result<()> {
        let Some(union) = &self.union else { return Ok(()) };
        let format =
            |estimate: &EstimateJson| if self.in_pages { estimate.pages() } else { estimate.ratio() };
        let first = &self.engines[0].engine.name;
        let unit = if self.in_pages { String::new() } else { format!(" ({first} is 1)") };
        writeln!(out, "all together{unit}\n  {:width$}    {:width$} {}", "", "", format(union))?;
        let names: Vec<String> = self.parts.iter().map(|part| self.who_has(part)).collect();
        let wide = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(2 * width + 4);
        for (name, part) in names.iter().zip(&self.parts) {
            writeln!(out, "  {name:wide$} {}", format(&part.pages))?;
        }
        Ok(())
    }
}

/// A share as a bar of up to thirty characters.
fn bar(share: f64) -> String {
    "#".repeat((30.0 * share.clamp(0.0, 1.0)).round() as usize)
}

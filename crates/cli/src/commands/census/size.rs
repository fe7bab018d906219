//! `lookalike census size`: how many pages an engine has.

use std::io::Write;
use std::sync::Arc;

use lookalike::walk::Watch;
use lookalike_live_census::sampling::SamplingFaults;
use lookalike_live_census::size::{Plan, Size, sample};
use lookalike_live_census::{EngineClient, baselines, classes};
use lookalike_search_engines::SearchEngine;
use serde::Serialize;

use super::other_estimators::{self, BaselineEstimate};
use super::querying::{caller, failed, read_own_documents, unless_failed};
use super::{Engine, EstimateJson, Recipe, pages, print_json, print_notes, print_problems};
use crate::args::CensusSizeArgs;
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

/// Usable draws below which an interval is not to be relied on.
const FEW_DRAWS: usize = 100;

const ASSUMED: [&str; 3] = [
    "what the engine shows for a query is all that it has for it, unless it says that there is more",
    "pages that no query reaches are reached as seldom as own documents of their length",
    "answers do not depend on when they are asked for",
];

const UNSEEN: [&str; 3] = [
    "pages without any word of the own corpus, and pages of sorts that it has nothing like",
    "pages that the engine has and never shows",
    "near-duplicates that their eight rarest words do not find",
];

/// The object that `--json` prints. Stable: other programs read it.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) engine: Engine,
    pub(super) pages: EstimateJson,
    pub(super) distinct: Option<DistinctSize>,
    lower_bound: Option<u64>,
    pub(super) reached: EstimateJson,
    reached_share: EstimateJson,
    pub(super) queries: usize,
    pub(super) draws: usize,
    usable: usize,
    effective: f64,
    pub(super) seen: SamplingFaults,
    /// The estimates of other estimators, where they were asked for.
    pub(super) others: Vec<BaselineEstimate>,
    pub(super) assumed: [&'static str; 3],
    pub(super) unseen: [&'static str; 3],
    pub(super) recipe: Recipe,
}

/// The size with every class of near-duplicates counted once.
#[derive(Serialize)]
pub(super) struct DistinctSize {
    pub(super) pages: EstimateJson,
    share: EstimateJson,
    looked_at: usize,
}

pub(crate) fn run(args: &CensusSizeArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    args.report.as_deref().map_or(Ok(()), pages::check_writable)?;
    let own = read_own_documents(&args.query, watch)?;
    let mut caller = caller(&args.engine, &args.query, None, watch)?;
    let failed = failed(watch);
    let limit = caller.cap();
    let mut session = EngineClient::new(&mut caller, &own, limit);
    let mut lower_bound = None;
    if args.lower_bound {
        let bounds = baselines::lower_bound::lower_bound(&mut session, &baselines::Plan::default());
        let bounds = unless_failed(bounds, "a lower bound", watch)?;
        lower_bound =
            bounds.iter().flatten().find_map(|bound| bound.estimate).map(|bound| bound.value as u64);
    }
    // What classes cost is kept back.
    let calls = args.query.calls - (args.classes as u64).min(args.query.calls / 5);
    let plan = Plan { seed: args.query.seed, calls, ..Plan::default() };
    let drawn = sample(&mut session, &plan).map_err(&failed)?;
    let size = drawn.size(&session).map_err(&failed)?;
    let share = classes::distinct(&mut session, &drawn.draws, args.classes, args.query.seed);
    let share = unless_failed(share, "the size without near-duplicates", watch)?.flatten();
    drop(session);
    let distinct = share.map(|(share, looked_at)| DistinctSize {
        pages: size.pages.multiplied_by(share).into(),
        share: share.into(),
        looked_at,
    });
    let engine = Engine::of(&caller, limit);
    // Others write into the same record.
    drop(caller);
    let others = match args.baselines {
        true => other_estimators::sizes(&args.engine, &args.query, &own, watch)?,
        false => Vec::new(),
    };
    let recipe = Recipe::of(&args.query, &own);
    let report = Report { others, ..report(&size, engine, distinct, lower_bound, recipe, drawn.faults) };
    if let Some(path) = &args.report {
        pages::write(path, &pages::of_size(&report))?;
    }
    if args.query.json {
        print_json(&report)?
    } else {
        report.print(&mut std::io::stdout().lock())?
    }
    Ok(Outcome::Done)
}

fn report(
    size: &Size,
    engine: Engine,
    distinct: Option<DistinctSize>,
    lower_bound: Option<u64>,
    recipe: Recipe,
    seen: SamplingFaults,
) -> Report {
    Report {
        engine,
        pages: size.pages.into(),
        distinct,
        lower_bound,
        reached: size.reached.into(),
        reached_share: size.coverage.into(),
        queries: size.pool,
        draws: size.draws.0,
        usable: size.draws.1,
        effective: size.effective,
        seen,
        others: Vec::new(),
        assumed: ASSUMED,
        unseen: UNSEEN,
        recipe,
    }
}

impl Report {
    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        writeln!(out, "{:<26}{:>14}   95 % interval", self.engine.name, "")?;
        writeln!(out, "{:<26}{}", "pages", self.pages.pages())?;
        if let Some(distinct) = &self.distinct {
            let note = format!("   ({} pages looked at)", thousands(distinct.looked_at as u64));
            writeln!(out, "{:<26}{}{note}", "near-duplicates once", distinct.pages.pages())?;
        }
        if let Some(least) = self.lower_bound {
            writeln!(out, "{:<26}{:>14}   by the engine's own count", "at least", thousands(least))?;
        }
        writeln!(out, "{:<26}{}", "reached by the queries", self.reached.pages())?;
        writeln!(
            out,
            "{} draws ({} usable) of {} queries from {} own documents; as good as {} uniform pages",
            thousands(self.draws as u64),
            thousands(self.usable as u64),
            thousands(self.queries as u64),
            thousands(self.recipe.own_documents as u64),
            thousands(self.effective.round() as u64),
        )?;
        if self.usable < FEW_DRAWS {
            writeln!(out, "  few draws: intervals of so few are often too narrow; allow more calls")?;
        }
        self.engine.print(out)?;
        print_problems(out, &self.seen)?;
        if self.reached_share.value < 0.8 {
            let rest = 100.0 * (1.0 - self.reached_share.value);
            writeln!(
                out,
                "  {rest:.0} % of the pages are beyond all queries: their number rests on the own corpus alone"
            )?;
        }
        if !self.others.is_empty() {
            writeln!(out, "what others say, each with a budget of its own:")?;
            self.others.iter().try_for_each(|other| other.print(out, EstimateJson::pages))?;
        }
        print_notes(out, "taken for granted:", &self.assumed)?;
        print_notes(out, "not seen:", &self.unseen)
    }
}

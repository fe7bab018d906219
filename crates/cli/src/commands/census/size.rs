//! `lookalike census size`: how many pages an engine has.

use std::io::Write;
use std::sync::Arc;

use lookalike::walk::Watch;
use lookalike_engines::SearchEngine;
use lookalike_fieldwork::sampling::Amiss;
use lookalike_fieldwork::size::{Plan, Size, sample};
use lookalike_fieldwork::{Desk, baselines, classes};
use serde::Serialize;

use super::asking::{caller, failed, own, unless_failed};
use super::others::{self, Other};
use super::{Engine, Recipe, Told, pages, print_json, print_notes, print_seen};
use crate::args::CensusSizeArgs;
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

/// Usable draws below which an interval is not to be relied on.
const FEW: usize = 100;

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
    pub(super) pages: Told,
    pub(super) distinct: Option<Distinct>,
    lower_bound: Option<u64>,
    pub(super) reached: Told,
    reached_share: Told,
    pub(super) queries: usize,
    pub(super) draws: usize,
    usable: usize,
    effective: f64,
    pub(super) seen: Amiss,
    /// The estimates of other estimators, where they were asked for.
    pub(super) others: Vec<Other>,
    pub(super) assumed: [&'static str; 3],
    pub(super) unseen: [&'static str; 3],
    pub(super) recipe: Recipe,
}

/// The size with every class of near-duplicates counted once.
#[derive(Serialize)]
pub(super) struct Distinct {
    pub(super) pages: Told,
    share: Told,
    looked_at: usize,
}

pub(crate) fn run(args: &CensusSizeArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    args.report.as_deref().map_or(Ok(()), pages::can_be_written)?;
    let own = own(&args.asking, watch)?;
    let mut caller = caller(&args.engine, &args.asking, None, watch)?;
    let failed = failed(watch);
    let limit = caller.cap();
    let mut desk = Desk::new(&mut caller, &own, limit);
    let mut lower_bound = None;
    if args.lower_bound {
        let said = baselines::lower_bound::lower_bound(&mut desk, &baselines::Plan::default());
        let said = unless_failed(said, "a lower bound", watch)?;
        lower_bound = said.iter().flatten().find_map(|bound| bound.estimate).map(|bound| bound.value as u64);
    }
    // What classes cost is kept back.
    let calls = args.asking.calls - (args.classes as u64).min(args.asking.calls / 5);
    let plan = Plan { seed: args.asking.seed, calls, ..Plan::default() };
    let drawn = sample(&mut desk, &plan).map_err(&failed)?;
    let size = drawn.size(&desk).map_err(&failed)?;
    let share = classes::distinct(&mut desk, &drawn.draws, args.classes, args.asking.seed);
    let share = unless_failed(share, "the size without near-duplicates", watch)?.flatten();
    drop(desk);
    let distinct = share.map(|(share, looked_at)| Distinct {
        pages: size.pages.by(share).into(),
        share: share.into(),
        looked_at,
    });
    let engine = Engine::of(&caller, limit);
    // Others write into the same record.
    drop(caller);
    let others = match args.baselines {
        true => others::sizes(&args.engine, &args.asking, &own, watch)?,
        false => Vec::new(),
    };
    let recipe = Recipe::of(&args.asking, &own);
    let report = Report { others, ..report(&size, engine, distinct, lower_bound, recipe, drawn.amiss) };
    if let Some(path) = &args.report {
        pages::write(path, &pages::of_size(&report))?;
    }
    if args.asking.json {
        print_json(&report)?
    } else {
        report.print(&mut std::io::stdout().lock())?
    }
    Ok(Outcome::Done)
}

fn report(
    size: &Size,
    engine: Engine,
    distinct: Option<Distinct>,
    lower_bound: Option<u64>,
    recipe: Recipe,
    seen: Amiss,
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
        if self.usable < FEW {
            writeln!(out, "  few draws: intervals of so few are often too narrow; allow more calls")?;
        }
        self.engine.print(out)?;
        print_seen(out, &self.seen)?;
        if self.reached_share.value < 0.8 {
            let rest = 100.0 * (1.0 - self.reached_share.value);
            writeln!(
                out,
                "  {rest:.0} % of the pages are beyond all queries: their number rests on the own corpus alone"
            )?;
        }
        if !self.others.is_empty() {
            writeln!(out, "what others say, each with a budget of its own:")?;
            self.others.iter().try_for_each(|other| other.print(out, Told::pages))?;
        }
        print_notes(out, "taken for granted:", &self.assumed)?;
        print_notes(out, "not seen:", &self.unseen)
    }
}

//! Estimates by other published estimators, each with a budget of its own.

use std::io::Write;
use std::sync::Arc;

use lookalike::walk::Watch;
use lookalike_engines::{Caller, Counts, SearchEngine};
use lookalike_fieldwork::baselines::{Baseline, Plan, RATIOS, SIZES};
use lookalike_fieldwork::{Desk, Own};
use serde::Serialize;

use super::Told;
use super::asking::{caller, unless_failed};
use crate::args::AskingArgs;
use crate::exit::Failure;
use crate::progress::thousands;

/// The estimate of one of them. Stable: other programs read it.
#[derive(Serialize)]
pub(super) struct Other {
    pub(super) name: &'static str,
    /// Nothing when too little was seen.
    pub(super) estimate: Option<Told>,
    calls: u64,
    fetches: u64,
    /// Its known bias.
    pub(super) bias: &'static str,
}

impl Other {
    /// Takes the numbers of calls and fetches from the counts of the callers, so that repeated queries are free.
    fn of(baseline: Baseline, callers: &[Caller]) -> Self {
        let Baseline { name, estimate, bias, .. } = baseline;
        let sum = |count: fn(&Counts) -> u64| callers.iter().map(|caller| count(&caller.counts())).sum();
        let (calls, fetches) = (sum(|counts| counts.calls), sum(|counts| counts.fetches));
        Other { name, estimate: estimate.map(Told::from), calls, fetches, bias }
    }

    /// With the number as `told` tells it.
    pub(super) fn print(&self, out: &mut impl Write, told: fn(&Told) -> String) -> std::io::Result<()> {
        let estimate = self.estimate.as_ref().map_or("too little was seen".to_owned(), told);
        writeln!(out, "  {:<26}{estimate}", self.name)?;
        let (calls, fetches) = (thousands(self.calls), thousands(self.fetches));
        writeln!(out, "    {calls} calls, {fetches} fetches; {}", self.bias)
    }
}

/// Everyone's plan: queries until the budget ends them.
fn plan(asking: &AskingArgs) -> Plan {
    Plan { queries: usize::MAX, seed: asking.seed }
}

fn desk<'a>(caller: &'a mut Caller, own: &'a Own) -> Desk<'a> {
    let limit = caller.cap();
    Desk::new(caller, own, limit)
}

/// Sizes of an engine.
pub(super) fn sizes(
    engine: &str,
    asking: &AskingArgs,
    own: &Own,
    watch: &Arc<Watch>,
) -> Result<Vec<Other>, Failure> {
    let mut all = Vec::new();
    for of in SIZES {
        let mut caller = caller(engine, asking, None, watch)?;
        let said = unless_failed(of(&mut desk(&mut caller, own), &plan(asking)), "another estimator", watch)?;
        all.extend(said.into_iter().flatten().map(|said| Other::of(said, std::slice::from_ref(&caller))));
    }
    Ok(all)
}

/// Estimates the size of an engine relative to the first of several, by each of the other estimators.
pub(super) fn ratios(
    [engine, first]: [&str; 2],
    asking: &AskingArgs,
    own: &Own,
    watch: &Arc<Watch>,
) -> Result<Vec<Other>, Failure> {
    let mut all = Vec::new();
    for of in RATIOS {
        let mut callers =
            [caller(engine, asking, Some(&[]), watch)?, caller(first, asking, Some(&[]), watch)?];
        let [a, b] = callers.each_mut();
        let said = of(&mut desk(a, own), &mut desk(b, own), &plan(asking));
        let said = unless_failed(said, "another estimator", watch)?;
        all.extend(said.into_iter().flatten().map(|said| Other::of(said, &callers)));
    }
    Ok(all)
}

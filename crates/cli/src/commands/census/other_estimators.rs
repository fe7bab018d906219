//! Estimates by other published estimators, each with a budget of its own.

use std::io::Write;
use std::sync::Arc;

use lookalike::walk::Watch;
use lookalike_live_census::baselines::{Baseline, Plan, RATIO_BASELINES, SIZE_BASELINES};
use lookalike_live_census::{EngineClient, OwnCorpus};
use lookalike_search_engines::{Caller, Counts, SearchEngine};
use serde::Serialize;

use super::EstimateJson;
use super::querying::{caller, unless_failed};
use crate::args::QueryArgs;
use crate::exit::Failure;
use crate::progress::thousands;

/// The estimate of one of them. Stable: other programs read it.
#[derive(Serialize)]
pub(super) struct BaselineEstimate {
    pub(super) name: &'static str,
    /// Nothing when too little was seen.
    pub(super) estimate: Option<EstimateJson>,
    calls: u64,
    fetches: u64,
    /// Its known bias.
    pub(super) bias: &'static str,
}

impl BaselineEstimate {
    /// Takes the numbers of calls and fetches from the counts of the callers, so that repeated queries are free.
    fn of(baseline: Baseline, callers: &[Caller]) -> Self {
        let Baseline { name, estimate, bias, .. } = baseline;
        let sum = |count: fn(&Counts) -> u64| callers.iter().map(|caller| count(&caller.counts())).sum();
        let (calls, fetches) = (sum(|counts| counts.calls), sum(|counts| counts.fetches));
        BaselineEstimate { name, estimate: estimate.map(EstimateJson::from), calls, fetches, bias }
    }

    /// Prints it, with the number as `format` writes it.
    pub(super) fn print(
        &self,
        out: &mut impl Write,
        format: fn(&EstimateJson) -> String,
    ) -> std::io::Result<()> {
        let estimate = self.estimate.as_ref().map_or("too little was seen".to_owned(), format);
        writeln!(out, "  {:<26}{estimate}", self.name)?;
        let (calls, fetches) = (thousands(self.calls), thousands(self.fetches));
        writeln!(out, "    {calls} calls, {fetches} fetches; {}", self.bias)
    }
}

/// The plan of all estimators: queries until the budget ends them.
fn plan(query: &QueryArgs) -> Plan {
    Plan { queries: usize::MAX, seed: query.seed }
}

fn session<'a>(caller: &'a mut Caller, own: &'a OwnCorpus) -> EngineClient<'a> {
    let limit = caller.cap();
    EngineClient::new(caller, own, limit)
}

/// Sizes of an engine.
pub(super) fn sizes(
    engine: &str,
    query: &QueryArgs,
    own: &OwnCorpus,
    watch: &Arc<Watch>,
) -> Result<Vec<BaselineEstimate>, Failure> {
    let mut all = Vec::new();
    for of in SIZE_BASELINES {
        let mut caller = caller(engine, query, None, watch)?;
        let estimates =
            unless_failed(of(&mut session(&mut caller, own), &plan(query)), "another estimator", watch)?;
        all.extend(
            estimates
                .into_iter()
                .flatten()
                .map(|estimate| BaselineEstimate::of(estimate, std::slice::from_ref(&caller))),
        );
    }
    Ok(all)
}

/// Estimates the size of an engine relative to the first of several, by each of the other estimators.
pub(super) fn ratios(
    [engine, first]: [&str; 2],
    query: &QueryArgs,
    own: &OwnCorpus,
    watch: &Arc<Watch>,
) -> Result<Vec<BaselineEstimate>, Failure> {
    let mut all = Vec::new();
    for of in RATIO_BASELINES {
        let mut callers = [caller(engine, query, Some(&[]), watch)?, caller(first, query, Some(&[]), watch)?];
        let [a, b] = callers.each_mut();
        let estimates = of(&mut session(a, own), &mut session(b, own), &plan(query));
        let estimates = unless_failed(estimates, "another estimator", watch)?;
        all.extend(estimates.into_iter().flatten().map(|estimate| BaselineEstimate::of(estimate, &callers)));
    }
    Ok(all)
}

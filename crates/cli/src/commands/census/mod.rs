//! `lookalike census`: how large search engines are, what they share, and fair samples of their pages.

mod check;
mod compare;
mod index;
mod ip;
mod other_estimators;
mod pages;
mod querying;
mod sample;
mod size;
mod walk;

use std::io::Write;
use std::sync::Arc;

use lookalike::walk::Watch;
use lookalike_census::Estimate;
use lookalike_live_census::OwnCorpus;
use lookalike_live_census::sampling::SamplingFaults;
use lookalike_search_engines::{Caller, Counts};
use serde::Serialize;

use crate::args::{CensusCommand, QueryArgs};
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

pub(crate) fn run(command: &CensusCommand, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    match command {
        CensusCommand::Size(args) => size::run(args, watch),
        CensusCommand::Compare(args) => compare::run(args, watch),
        CensusCommand::Sample(args) => sample::run(args, watch),
        CensusCommand::Walk(args) => walk::run(args, watch),
        CensusCommand::Ip(args) => ip::run(args),
        CensusCommand::Index(args) => index::run(args, watch),
    }
}

/// An estimate as programs read it. Stable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct EstimateJson {
    value: f64,
    low: f64,
    high: f64,
    error: f64,
}

impl From<Estimate> for EstimateJson {
    fn from(estimate: Estimate) -> Self {
        let (low, high) = estimate.interval;
        EstimateJson { value: estimate.value, low, high, error: estimate.error }
    }
}

impl EstimateJson {
    /// With the 95 % interval, as a whole number.
    fn pages(&self) -> String {
        let whole = |value: f64| thousands(value.max(0.0).round() as u64);
        if self.high.is_infinite() {
            return format!("{:>14}   or more", whole(self.value));
        }
        format!("{:>14}   {} to {}", whole(self.value), whole(self.low), whole(self.high))
    }

    /// A number of pages, which has no decimals.
    fn rounded(&self) -> EstimateJson {
        let [value, low, high] = [self.value, self.low, self.high].map(f64::round);
        EstimateJson { value, low, high, ..*self }
    }

    /// With the 95 % interval, as a share or a ratio.
    fn ratio(&self) -> String {
        format!("{:>14.3}   {:.3} to {:.3}", self.value, self.low, self.high)
    }
}

/// The inputs of an estimate, beside the answers of engines. Stable.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Recipe {
    seed: u64,
    /// Most calls to each engine.
    calls: u64,
    /// Most fetches from each engine.
    fetches: u64,
    own_documents: usize,
    /// Of the texts of these documents.
    own_digest: String,
    version: &'static str,
}

impl Recipe {
    fn of(args: &QueryArgs, own: &OwnCorpus) -> Self {
        let &QueryArgs { seed, calls, fetches, .. } = args;
        let own_digest = format!("{:032x}", own.digest());
        let version = env!("CARGO_PKG_VERSION");
        Recipe { seed, calls, fetches, own_documents: own.len(), own_digest, version }
    }
}

/// The counts of the queries to an engine, and the problems with its answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Engine {
    name: String,
    kind: String,
    /// Most results of an answer.
    limit: usize,
    #[serde(flatten)]
    counts: Counts,
    /// Contradictions and unanswered queries, a sentence for each kind.
    #[serde(rename = "amiss")]
    problems: Vec<String>,
    /// Contradictions that were seen; an estimate over an engine with any is to be doubted.
    contradictions: u64,
}

impl Engine {
    fn of(caller: &Caller, limit: usize) -> Self {
        use lookalike_search_engines::SearchEngine;
        Engine {
            name: caller.name().to_owned(),
            kind: caller.kind().to_owned(),
            limit,
            counts: caller.counts(),
            problems: caller.consistency().sentences(),
            contradictions: caller.consistency().contradictions(),
        }
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let counts = self.counts;
        let made = if counts.recorded > 0 {
            format!(
                " ({} and {} of them now, others from the record)",
                thousands(counts.calls_made),
                thousands(counts.fetches_made)
            )
        } else {
            String::new()
        };
        writeln!(
            out,
            "{}: {} calls, {} fetches{made}",
            self.name,
            thousands(counts.calls),
            thousands(counts.fetches)
        )?;
        self.sentences().iter().try_for_each(|sentence| writeln!(out, "  {sentence}"))
    }

    /// Returns the problems with its answers, a sentence each.
    fn sentences(&self) -> Vec<String> {
        let mut sentences = self.problems.clone();
        if self.contradictions > 0 {
            sentences.push(format!("{} contradicts itself: doubt what is said of it here", self.name));
        }
        sentences
    }
}

/// Prints one object for programs.
fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// Share of words that do not find their page above which that is reported.
const MIN_REPORTED_SHARE: f64 = 0.01;

/// Describes the problems with results, a sentence each.
fn sentences(seen: &SamplingFaults) -> Vec<String> {
    let mut sentences = Vec::new();
    if seen.without_word > 0 {
        let results = thousands(seen.without_word);
        sentences.push(format!("{results} results did not have the word asked for, and do not count"));
    }
    if seen.not_found_by_own_word as f64 > MIN_REPORTED_SHARE * seen.looked_up as f64 {
        let (missed, looked_up) = (thousands(seen.not_found_by_own_word), thousands(seen.looked_up));
        sentences.push(format!(
            "{missed} of {looked_up} times a page was not found by a word on it: the engine indexes a part of its pages, or cuts words otherwise"
        ));
    }
    if seen.not_fetched > 0 {
        let results = thousands(seen.not_fetched);
        sentences.push(format!("{results} results could not be fetched; others stand for them"));
    }
    if seen.gone > 0 {
        sentences.push(format!("{} results are no pages, and do not count", thousands(seen.gone)));
    }
    sentences
}

/// Prints the problems with results.
fn print_problems(out: &mut impl Write, seen: &SamplingFaults) -> std::io::Result<()> {
    sentences(seen).iter().try_for_each(|sentence| writeln!(out, "  {sentence}"))
}

/// Prints what an estimate rests on, and what it cannot see.
fn print_notes(out: &mut impl Write, title: &str, notes: &[&str]) -> std::io::Result<()> {
    writeln!(out, "{title}")?;
    notes.iter().try_for_each(|note| writeln!(out, "  - {note}"))
}

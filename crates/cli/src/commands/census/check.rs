//! `lookalike census walk --check`: what share of a graph's pages an engine has.

use std::io::Write;
use std::sync::Arc;

use lookalike::corpus::Corpus;
use lookalike::walk::{self, WalkItem, Watch};
use lookalike_census::graph::EdgeList;
use lookalike_census::walks::Walk;
use lookalike_census::walks::priority_sampling::{self, Candidate};
use lookalike_census::walks::report::Mean;
use lookalike_live_census::EngineClient;
use lookalike_live_census::coverage::{LookupCounts, WalkPages, look_up};
use lookalike_search_engines::{Caller, SearchEngine};
use serde::Serialize;

use super::Engine;
use super::querying::{self, QueryLimits};
use crate::args::CensusWalkArgs;
use crate::console::print_message;
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

/// Pages fetched for one check at most.
const MAX_FETCHED_PAGES: u64 = 5;

/// The assumptions of a search by words; those of a search by addresses alone are in `BY_ADDRESS`.
const BY_WORDS: &[&str] = &[
    "Pages that could not be looked for in the engine are there as often as others.",
    "A page that the engine has under another address, with words that differ by more than a tenth, counts as missing.",
];
const BY_ADDRESS: &[&str] = &[
    "Pages for which the engine kept silent are there as often as others.",
    "A page that the engine has under another address counts as missing; with --pages it is looked for by its words, too.",
];

/// The result of the check. Stable: other programs read it.
#[derive(Serialize)]
pub(super) struct CheckReport {
    engine: Engine,
    /// Share of the graph's pages that the engine has; none where too few are known.
    pub(super) share: Option<Mean>,
    /// Different pages of the walk.
    pages: usize,
    #[serde(flatten)]
    looked: LookupCounts,
    pub(super) assumed: &'static [&'static str],
    #[serde(skip)]
    pub(super) title: String,
}

/// The engine of `--check`, if any; it must be able to answer.
pub(super) fn caller(args: &CensusWalkArgs, watch: &Arc<Watch>) -> Result<Option<Caller>, Failure> {
    let Some(spec) = &args.check else { return Ok(None) };
    let limits = QueryLimits {
        calls: args.calls,
        fetches: MAX_FETCHED_PAGES.saturating_mul(args.calls),
        limit: args.limit,
        delay: args.delay,
        transcript: args.transcript.as_deref(),
        retry_failed: args.retry_failed,
        seed: args.seed,
    };
    let caller = querying::caller(spec, limits, None, watch)?;
    if args.pages.is_empty() && !caller.knows_addresses() {
        return Err(Failure::Usage(format!(
            "{} cannot be asked for an address, so that pages are looked for by their words; give their texts by --pages",
            caller.name()
        )));
    }
    Ok(Some(caller))
}

/// Looks for pages of a walk until the budget is spent.
pub(super) fn run(
    mut caller: Caller,
    args: &CensusWalkArgs,
    list: &EdgeList,
    walk: &Walk,
    watch: &Arc<Watch>,
) -> Result<CheckReport, Failure> {
    let due = priority_sampling::priority_order(walk, args.seed);
    let pages = collect_pages(args, list, &due, watch)?;
    if pages.is_empty() {
        return Err(Failure::Missing(
            "none of the pages that the walk met is in --pages; its ids or addresses must be the names of the graph".to_owned(),
        ));
    }
    let limit = caller.cap();
    let looked = look_up(&mut EngineClient::new(&mut caller, pages.own(), limit), &due, &pages)
        .map_err(querying::failed(watch))?;
    let share = priority_sampling::share(walk, &due, &looked.presence).map(Mean::from);
    let assumed = if args.pages.is_empty() { BY_ADDRESS } else { BY_WORDS };
    let title = format!("share in {}", caller.name());
    Ok(CheckReport { engine: Engine::of(&caller, limit), share, pages: due.len(), looked, assumed, title })
}

/// Collects the addresses and texts of the pages that the walk met; without `--pages`, their names alone.
fn collect_pages(
    args: &CensusWalkArgs,
    list: &EdgeList,
    due: &[Candidate],
    watch: &Watch,
) -> Result<WalkPages, Failure> {
    let mut pages = WalkPages::new(due);
    if args.pages.is_empty() {
        pages.set_addresses(|page| list.name(page));
        return Ok(pages);
    }
    let corpus = Corpus::open(&args.pages, args.reading.options())?;
    let options = Arc::new((**corpus.options()).clone());
    let mut rejected = 0u64;
    for shard in corpus.shards() {
        walk::documents(shard, &options, args.reading.content_mode(), watch, |found| {
            match found {
                WalkItem::Document { document, text } => {
                    let page = list.find(document.id).or_else(|| list.find(document.url?));
                    if let Some(page) = page {
                        pages.add(page, document.url.unwrap_or(document.id), text);
                    }
                }
                WalkItem::Rejected(_) => rejected += 1,
                WalkItem::Skipped(_) => {}
            }
            Ok(())
        })?;
    }
    if rejected > 0 {
        print_message(format_args!("{} texts could not be read and are left out", thousands(rejected)));
    }
    Ok(pages)
}

impl CheckReport {
    pub(super) fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let looked = &self.looked;
        writeln!(
            out,
            "{} of {} pages of the walk were looked for: {} found ({} under another address), {} missing, {} without an answer",
            thousands(looked.asked),
            thousands(self.pages as u64),
            thousands(looked.found),
            thousands(looked.alike),
            thousands(looked.missing),
            thousands(looked.unanswered)
        )?;
        if looked.without_text + looked.without_words > 0 {
            writeln!(
                out,
                "{} pages have no text, {} no words to ask for",
                thousands(looked.without_text),
                thousands(looked.without_words)
            )?;
        }
        self.engine.print(out)
    }

    /// Fails where too few pages are known for a share.
    pub(super) fn outcome(&self) -> Result<Outcome, Failure> {
        if self.share.is_some() {
            return Ok(Outcome::Done);
        }
        let (known, engine) = (self.looked.found + self.looked.missing, &self.engine.name);
        Err(Failure::Missing(format!(
            "of {known} pages it is known whether {engine} has them, too few for a share; allow more calls, or give more texts"
        )))
    }
}

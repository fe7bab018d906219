//! `lookalike census sample`: pages of an engine with their weights.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use lookalike::walk::Watch;
use lookalike_census::walks::clusters::Ratio;
use lookalike_live_census::sampling::{SamplingFaults, fetch_correction};
use lookalike_live_census::size::{Plan, Sample, sample};
use lookalike_live_census::{EngineClient, PageId};
use lookalike_search_engines::SearchEngine;
use serde::Serialize;

use super::super::lists::write_text;
use super::pages::check_writable;
use super::querying::{caller, failed, read_own_documents};
use super::{Engine, EstimateJson, Recipe, print_json, print_notes, print_problems};
use crate::args::CensusSampleArgs;
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

/// A line of the sample. Stable: other programs read it.
#[derive(Serialize)]
struct Line<'a> {
    url: &'a str,
    /// The number of pages of the engine that it stands for.
    weight: f64,
    /// Different words on it.
    words: usize,
    bytes: usize,
}

const ASSUMED: [&str; 2] = [
    "what the engine shows for a query is all that it has for it, unless it says that there is more",
    "answers do not depend on when they are asked for",
];

const UNSEEN: [&str; 2] = [
    "pages that no query reaches, short ones above all: nothing here is about them",
    "pages that the engine has and never shows",
];

/// The object that `--json` prints.
#[derive(Serialize)]
struct Summary {
    engine: Engine,
    seen: SamplingFaults,
    lines: usize,
    pages: usize,
    effective: f64,
    /// Pages that the queries reach: the sum of the weights.
    reached: f64,
    mean_words: Option<EstimateJson>,
    plain_mean_words: f64,
    assumed: [&'static str; 2],
    unseen: [&'static str; 2],
    recipe: Recipe,
}

pub(crate) fn run(args: &CensusSampleArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let to_stdout = args.output.as_os_str() == "-";
    if !to_stdout {
        check_writable(&args.output)?;
    } else if args.query.json {
        let why = "standard output takes the sample or --json, not both; give -o a file";
        return Err(Failure::Usage(why.to_owned()));
    }
    let own = read_own_documents(&args.query, watch)?;
    let mut caller = caller(&args.engine, &args.query, None, watch)?;
    let limit = caller.cap();
    let mut session = EngineClient::new(&mut caller, &own, limit);
    let plan = Plan { seed: args.query.seed, ..Plan::default() };
    let drawn = sample(&mut session, &plan).map_err(failed(watch))?;
    let written = WrittenSample::of(&drawn, &session)?;
    drop(session);
    if to_stdout {
        std::io::stdout().lock().write_all(written.text.as_bytes())?;
    } else {
        write_text(&args.output, &written.text)?;
    }
    let summary = Summary {
        engine: Engine::of(&caller, limit),
        seen: drawn.faults,
        lines: written.lines,
        pages: written.pages.len(),
        effective: drawn.effective(),
        reached: written.weight,
        mean_words: written.words.estimate().map(EstimateJson::from),
        plain_mean_words: written.plain_words / written.lines.max(1) as f64,
        assumed: ASSUMED,
        unseen: UNSEEN,
        recipe: Recipe::of(&args.query, &own),
    };
    if args.query.json {
        print_json(&summary)?
    } else if to_stdout {
        summary.print(&mut std::io::stderr().lock())?
    } else {
        summary.print(&mut std::io::stdout().lock())?
    }
    Ok(Outcome::Done)
}

/// The sample as it is written, and what it comes to.
struct WrittenSample {
    text: String,
    lines: usize,
    pages: BTreeSet<PageId>,
    weight: f64,
    plain_words: f64,
    /// Words of a page, between draws.
    words: Ratio,
}

impl WrittenSample {
    fn of(drawn: &Sample, session: &EngineClient<'_>) -> Result<Self, Failure> {
        let draws = &drawn.draws;
        let share = fetch_correction(draws.iter(), &drawn.faults) / draws.len().max(1) as f64;
        let mut all = WrittenSample {
            text: String::new(),
            lines: 0,
            pages: BTreeSet::new(),
            weight: 0.0,
            plain_words: 0.0,
            words: Ratio::new(draws.len()),
        };
        for (number, draw) in draws.iter().enumerate() {
            for sampled in &draw.pages {
                let Some(contents) = session.fetched_words(sampled.page) else { continue };
                let (weight, words) = (sampled.weight * share, contents.all.len());
                let line = Line { url: session.url(sampled.page), weight, words, bytes: contents.bytes };
                all.text.push_str(&serde_json::to_string(&line).map_err(std::io::Error::from)?);
                all.text.push('\n');
                all.words.add(number as u32, weight * words as f64, weight);
                all.pages.insert(sampled.page);
                (all.lines, all.weight) = (all.lines + 1, all.weight + weight);
                all.plain_words += words as f64;
            }
        }
        Ok(all)
    }
}

impl Summary {
    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        writeln!(
            out,
            "{} lines of {} different pages, as good as {} uniform ones; use the weights",
            thousands(self.lines as u64),
            thousands(self.pages as u64),
            thousands(self.effective.round() as u64)
        )?;
        if let Some(words) = &self.mean_words {
            writeln!(
                out,
                "a page that queries reach has {:.0} different words in the mean, 95 % interval {:.0} to {:.0} (without weights {:.0}: long pages are found more often)",
                words.value, words.low, words.high, self.plain_mean_words
            )?;
        }
        self.engine.print(out)?;
        print_problems(out, &self.seen)?;
        print_notes(out, "taken for granted:", &self.assumed)?;
        print_notes(out, "not seen:", &self.unseen)
    }
}

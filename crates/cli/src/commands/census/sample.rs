//! `lookalike census sample`: pages of an engine with their weights.

use std::io::Write;
use std::sync::Arc;

use lookalike::walk::Watch;
use lookalike_engines::SearchEngine;
use lookalike_fieldwork::Desk;
use lookalike_fieldwork::sampling::{Amiss, effective};
use lookalike_fieldwork::size::{Plan, sample};
use serde::Serialize;

use super::super::lists::write_text;
use super::asking::{caller, failed, own};
use super::pages::can_be_written;
use super::{Engine, print_json, print_seen};
use crate::args::CensusSampleArgs;
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

/// A line of the sample. Stable: other programs read it.
#[derive(Serialize)]
struct Line<'a> {
    url: &'a str,
    /// How many pages of the engine it stands for.
    weight: f64,
    /// Different words on it.
    words: usize,
    bytes: usize,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary {
    engine: Engine,
    seen: Amiss,
    lines: usize,
    pages: usize,
    effective: f64,
    mean_words: f64,
    plain_mean_words: f64,
}

pub(crate) fn run(args: &CensusSampleArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    can_be_written(&args.output)?;
    let own = own(&args.asking, watch)?;
    let mut caller = caller(&args.engine, &args.asking, false, watch)?;
    let limit = caller.cap();
    let mut desk = Desk::new(&mut caller, &own, limit);
    let plan = Plan { seed: args.asking.seed, ..Plan::default() };
    let drawn = sample(&mut desk, &plan).map_err(failed(watch))?;
    let share = 1.0 / drawn.draws.len().max(1) as f64;
    let mut written = String::new();
    let (mut lines, mut pages) = (Vec::new(), Vec::new());
    for met in drawn.draws.iter().flat_map(|draw| &draw.met) {
        let Some(contents) = desk.read(met.page) else { continue };
        let line = Line {
            url: desk.url(met.page),
            weight: met.weight * share,
            words: contents.all.len(),
            bytes: contents.bytes,
        };
        lines.push((line.weight, line.words as f64));
        pages.push(met.page);
        written.push_str(&serde_json::to_string(&line).map_err(std::io::Error::from)?);
        written.push('\n');
    }
    write_text(&args.output, &written)?;
    drop(desk);
    pages.sort_unstable();
    pages.dedup();
    let weight: f64 = lines.iter().map(|line| line.0).sum();
    let summary = Summary {
        engine: Engine::of(&caller, limit),
        seen: drawn.amiss,
        lines: lines.len(),
        pages: pages.len(),
        effective: effective(lines.iter().map(|line| line.0)),
        mean_words: lines.iter().map(|line| line.0 * line.1).sum::<f64>() / weight,
        plain_mean_words: lines.iter().map(|line| line.1).sum::<f64>() / lines.len().max(1) as f64,
    };
    if args.asking.json {
        print_json(&summary)?
    } else {
        summary.print(&mut std::io::stdout().lock())?
    }
    Ok(Outcome::Done)
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
        writeln!(
            out,
            "a page has {:.0} different words in the mean (without weights {:.0}: long pages are found more often)",
            self.mean_words, self.plain_mean_words
        )?;
        self.engine.print(out)?;
        print_seen(out, &self.seen)
    }
}

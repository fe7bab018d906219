//! `lookalike compare`: all pairs between two corpora that a method accepts.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use lookalike::corpus::Loss;
use lookalike::engine::{Job, OpenJob, Opened, Outputs, Shards};
use lookalike::report::study_page;
use lookalike::walk::Watch;
use lookalike_overlap::address::Matching;
use lookalike_transfer::compare::{ComparisonSettings, Summary, write};
use lookalike_transfer::segments::Segments;
use lookalike_transfer::study::study;
use serde::{Deserialize, Serialize};

use super::job::{SideCounts, counted};
use crate::args::{CompareArgs, TableFormat, right_segments};
use crate::console::print_message;
use crate::exit::{Failure, Outcome};
use crate::progress::{Progress, Total, thousands};

pub(crate) fn run(args: &CompareArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let recipe = args.recipe()?;
    let [left, other] = [recipe.read_options()?, recipe.other_options()?]
        .map(|options| args.start.options(args.resources.reading(options)));
    let right = args.with.inputs();
    if args.left.iter().any(|input| input == "-") {
        let sentence = "the left side is read more than once and cannot be standard input; name files";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    super::job::check_output_outside(&args.left, &args.output)?;
    super::job::check_output_outside(&right, &args.output)?;
    args.start.clear_if_forced(&args.output)?;
    let format = args.row_format();
    let job = Job {
        recipe,
        corpus: crate::args::open(&right, other)?,
        against: Some(crate::args::open(&args.left, left)?),
        lexicon: args.matching.lexicon.clone(),
        settings: args.resources.settings(args.matching.spool),
        outputs: Outputs { format, write: Shards::None, annotate: false, suffix: "" },
    };
    super::job::print_advice(&job);
    match job.open(&args.output)? {
        Opened::Finished(_) => {
            let before: StoredRequest = super::job::summary(&args.output)?;
            if before.request != request_options(args) {
                return Err(Failure::Usage(format!(
                    "{} holds this comparison, finished, and counted by other segments or with another forecast; name another folder",
                    args.output.display()
                )));
            }
            print_message(format_args!(
                "{} holds this job, finished; nothing is left to do",
                args.output.display()
            ));
        }
        Opened::Open(open) => work(*open, args, watch)?,
    }
    let summary: PrintedSummary = super::job::summary(&args.output)?;
    super::job::print_summary(&args.output, args.json, |out| print(out, &summary, &args.output))?;
    let rejected = summary.left.rejected + summary.right.rejected;
    let outcome = super::job::report_rejections(&summary.reasons, rejected, args.resources.strict);
    print_message(closing_line(&summary, args));
    Ok(outcome)
}

/// Says in words what a run did.
fn closing_line(summary: &PrintedSummary, args: &CompareArgs) -> String {
    let accepted = summary.left.documents - summary.left.rejected;
    let found = format!("{} of {} of the left side", thousands(summary.near), counted(accepted, "document"));
    let ending = if args.format == TableFormat::Parquet { "parquet" } else { "jsonl" };
    let best = args.output.join(format!("best.{ending}"));
    format!("Found near-duplicates of {found} on the right; the best match of each is in {}.", best.display())
}

/// Describes the options that the recipe does not hold: segments, forecast and snapshots.
fn request_options(args: &CompareArgs) -> String {
    let snapshots: Vec<usize> = args.with.snapshots.iter().map(Vec::len).collect();
    format!("segments {:?}, forecast {:?}, snapshots {snapshots:?}", args.segment, args.forecast)
}

/// `summary.json`: what was found, and what was asked for.
#[derive(Serialize)]
struct SummaryFile {
    #[serde(flatten)]
    summary: Summary,
    #[serde(rename = "asked")]
    request: String,
}

/// The options of the request whose results a folder holds.
#[derive(Deserialize)]
struct StoredRequest {
    #[serde(rename = "asked")]
    request: String,
}

/// Runs the job to its end.
fn work(mut open: OpenJob, args: &CompareArgs, watch: &Arc<Watch>) -> Result<(), Failure> {
    super::job::start(&open);
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let findings = open.run(watch)?;
    let recipe = open.recipe().clone();
    let parts = right_segments(&args.with, args.segment, &args.start.options(recipe.read_options()?))?;
    let settings = ComparisonSettings {
        methods: args.matching.options().names(&recipe),
        segments: Segments::new(parts, &open.shard_ranges(watch)?),
        forecast: args.forecast.map(|segments| segments.get()),
        matching: Matching::Normal,
    };
    let comparison = write(&open, &args.output, args.row_format(), settings, watch)?;
    drop(progress);
    let names = [&args.left, &args.with.inputs()].map(|inputs| super::lab::name_of(inputs));
    let study = study([&names[0], &names[1]], &comparison, &recipe, &findings);
    open.write("report.html", study_page(&study.title.clone(), "", &[study]).as_bytes())?;
    open.finish(&SummaryFile {
        request: request_options(args),
        summary: comparison.summary(&recipe, &findings),
    })?;
    Ok(())
}

/// The parts of `summary.json` that are printed.
#[derive(Deserialize)]
struct PrintedSummary {
    left: SideCounts,
    right: SideCounts,
    common_ids: u64,
    pairs: u64,
    near_pairs: u64,
    found: u64,
    near: u64,
    with_address: u64,
    candidates: u64,
    verified: u64,
    giant_groups: u64,
    #[serde(default)]
    unverified: bool,
    statistics: Vec<MethodCounts>,
    #[serde(default)]
    reasons: Vec<Loss>,
}

#[derive(Deserialize)]
struct MethodCounts {
    segment: Option<String>,
    method: Option<String>,
    pairs: u64,
    found: u64,
    near: u64,
}

fn print(out: &mut impl Write, summary: &PrintedSummary, folder: &Path) -> std::io::Result<()> {
    let share = |part: u64| match summary.left.documents - summary.left.rejected {
        0 => String::new(),
        all => format!("  {:.1} %", part as f64 * 100.0 / all as f64),
    };
    let rows = [
        ("left documents", summary.left.documents, String::new()),
        ("right documents", summary.right.documents, String::new()),
        ("rejected", summary.left.rejected + summary.right.rejected, String::new()),
        ("ids on both sides", summary.common_ids, String::new()),
        ("candidate pairs", summary.candidates, String::new()),
        ("pairs measured", summary.verified, String::new()),
        ("pairs accepted", summary.pairs, String::new()),
        ("near-duplicates", summary.near_pairs, String::new()),
        ("left found", summary.found, share(summary.found)),
        ("left near", summary.near, share(summary.near)),
        ("address shared", summary.with_address, share(summary.with_address)),
        ("giant groups", summary.giant_groups, String::new()),
    ];
    for (name, number, more) in rows {
        writeln!(out, "{name:<18}{:>14}{more}", thousands(number))?;
    }
    let methods: Vec<(&str, &MethodCounts)> = summary
        .statistics
        .iter()
        .filter(|row| row.segment.is_none())
        .filter_map(|row| Some((row.method.as_deref()?, row)))
        .collect();
    if methods.len() > 1 {
        let width = methods.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(16);
        writeln!(out, "\n{:<width$}  {:>14}{:>14}{:>14}", "method", "pairs", "left found", "left near")?;
        for (name, row) in methods {
            let [pairs, found, near] = [row.pairs, row.found, row.near].map(thousands);
            writeln!(out, "{name:<width$}  {pairs:>14}{found:>14}{near:>14}")?;
        }
        writeln!(out)?;
    }
    if summary.unverified {
        writeln!(out, "unverified: pairs count by the word of their methods alone")?;
    }
    writeln!(out, "report            {}", folder.join("report.html").display())
}

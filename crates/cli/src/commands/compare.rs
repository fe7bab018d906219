//! `lookalike compare`: all pairs between two corpora that a method accepts.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use lookalike::corpus::Loss;
use lookalike::engine::{Job, OpenJob, Opened, Outputs, Shards};
use lookalike::report::study_page;
use lookalike::walk::Watch;
use lookalike_overlap::address::Matching;
use lookalike_transfer::compare::{Summary, Wanted, write};
use lookalike_transfer::segments::Segments;
use lookalike_transfer::study::study;
use serde::{Deserialize, Serialize};

use super::job::ShownSide;
use crate::args::{CompareArgs, right_segments};
use crate::console::tell;
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
    super::job::outside(&args.left, &args.output)?;
    super::job::outside(&right, &args.output)?;
    args.start.make_room(&args.output)?;
    let format = args.row_format();
    let job = Job {
        recipe,
        corpus: crate::args::open(&right, other)?,
        against: Some(crate::args::open(&args.left, left)?),
        lexicon: args.matching.lexicon.clone(),
        settings: args.resources.settings(args.matching.spool),
        outputs: Outputs { format, write: Shards::None, annotate: false, suffix: "" },
    };
    super::job::say_what_it_takes(&job);
    match job.open(&args.output)? {
        Opened::Finished(_) => {
            let before: Asked = super::job::summary(&args.output)?;
            if before.asked != asked(args) {
                return Err(Failure::Usage(format!(
                    "{} holds this comparison, finished, and counted by other segments or with another forecast; name another folder",
                    args.output.display()
                )));
            }
            tell(format_args!("{} holds this job, finished; nothing is left to do", args.output.display()));
        }
        Opened::Open(open) => work(*open, args, watch)?,
    }
    let shown: Shown = super::job::summary(&args.output)?;
    print(&shown, &args.output)?;
    let rejected = shown.left.rejected + shown.right.rejected;
    Ok(super::job::ended(&shown.reasons, rejected, args.resources.strict))
}

/// Describes the options that the recipe does not hold: segments, forecast and snapshots.
fn asked(args: &CompareArgs) -> String {
    let snapshots: Vec<usize> = args.with.snapshots.iter().map(Vec::len).collect();
    format!("segments {:?}, forecast {:?}, snapshots {snapshots:?}", args.segment, args.forecast)
}

/// `summary.json`: what was found, and what was asked for.
#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    summary: Summary,
    asked: String,
}

#[derive(Deserialize)]
struct Asked {
    asked: String,
}

/// Runs the job to its end.
fn work(mut open: OpenJob, args: &CompareArgs, watch: &Arc<Watch>) -> Result<(), Failure> {
    super::job::say_how_it_begins(&open);
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let findings = open.run(watch)?;
    let recipe = open.recipe().clone();
    let parts = right_segments(&args.with, args.segment, &args.start.options(recipe.read_options()?))?;
    let wanted = Wanted {
        methods: args.matching.asked().names(&recipe),
        segments: Segments::new(parts, &open.shard_places(watch)?),
        forecast: args.forecast.map(|segments| segments.get()),
        matching: Matching::Normal,
    };
    let comparison = write(&open, &args.output, args.row_format(), wanted, watch)?;
    drop(progress);
    let names = [&args.left, &args.with.inputs()].map(|inputs| super::lab::name_of(inputs));
    let study = study([&names[0], &names[1]], &comparison, &recipe, &findings);
    open.write("report.html", study_page(&study.title.clone(), "", &[study]).as_bytes())?;
    open.finish(&Answer { asked: asked(args), summary: comparison.summary(&recipe, &findings) })?;
    Ok(())
}

/// The parts of `summary.json` that are printed.
#[derive(Deserialize)]
struct Shown {
    left: ShownSide,
    right: ShownSide,
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
    statistics: Vec<ShownMethod>,
    #[serde(default)]
    reasons: Vec<Loss>,
}

#[derive(Deserialize)]
struct ShownMethod {
    segment: Option<String>,
    method: Option<String>,
    pairs: u64,
    found: u64,
    near: u64,
}

fn print(shown: &Shown, folder: &Path) -> Result<(), Failure> {
    let share = |part: u64| match shown.left.documents - shown.left.rejected {
        0 => String::new(),
        all => format!("  {:.1} %", part as f64 * 100.0 / all as f64),
    };
    let rows = [
        ("left documents", shown.left.documents, String::new()),
        ("right documents", shown.right.documents, String::new()),
        ("rejected", shown.left.rejected + shown.right.rejected, String::new()),
        ("ids on both sides", shown.common_ids, String::new()),
        ("candidate pairs", shown.candidates, String::new()),
        ("pairs measured", shown.verified, String::new()),
        ("pairs accepted", shown.pairs, String::new()),
        ("near-duplicates", shown.near_pairs, String::new()),
        ("left found", shown.found, share(shown.found)),
        ("left near", shown.near, share(shown.near)),
        ("address shared", shown.with_address, share(shown.with_address)),
        ("giant groups", shown.giant_groups, String::new()),
    ];
    let mut out = std::io::stdout().lock();
    for (name, number, more) in rows {
        writeln!(out, "{name:<18}{:>14}{more}", thousands(number))?;
    }
    let methods: Vec<(&str, &ShownMethod)> = shown
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
    if shown.unverified {
        writeln!(out, "unverified: pairs count by the word of their methods alone")?;
    }
    writeln!(out, "report            {}", folder.join("report.html").display())?;
    Ok(())
}

//! `lookalike dedup`: near-duplicates inside a corpus, one kept of each.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lookalike::engine::{Findings, Job, JobRecipe, OpenJob, Opened, Outputs, Summary};
use lookalike::walk::Watch;
use lookalike::{page, report};

use super::job::counted;
use super::sample::SampleScore;
use super::{incremental, plan, sample};
use crate::args::{DedupArgs, TableFormat};
use crate::console::{print_counts, print_message};
use crate::exit::{Failure, Outcome};
use crate::progress::{Progress, Total, thousands};

/// The folder for the results of `--sample`, unless another one is named.
pub(super) const SAMPLE_FOLDER: &str = "lookalike-sample";

pub(crate) fn run(args: &DedupArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let recipe = args.recipe()?;
    let outputs =
        Outputs { format: args.row_format(), write: args.shards(), annotate: args.annotate, suffix: "" };
    if args.annotate && args.write != crate::args::WriteArg::Kept {
        return Err(Failure::Usage("--annotate goes with --write kept".to_owned()));
    }
    if let Some(outcome) = incremental::run(args, &recipe, watch)? {
        return Ok(outcome);
    }
    let options = |options| args.start.options(args.resources.reading(options));
    let corpus = args.input.corpus_with(options(recipe.read_options()?))?;
    let against = match args.against.as_slice() {
        [] => None,
        inputs if inputs.iter().any(|input| input == "-") => {
            let sentence = "the other corpus is read more than once and cannot be standard input; name files";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        inputs => Some(crate::args::open(inputs, options(recipe.other_options()?))?),
    };
    let job = Job {
        recipe,
        corpus,
        against,
        lexicon: args.matching.lexicon.clone(),
        settings: args.resources.settings(args.matching.spool),
        outputs,
    };
    if args.plan {
        return plan::run(job, args, watch);
    }
    let folder = args.output.clone().unwrap_or_else(|| PathBuf::from(SAMPLE_FOLDER));
    super::job::check_output_outside(&args.input.inputs, &folder)?;
    args.start.clear_if_forced(&folder)?;
    super::job::print_advice(&job);
    let recipe = job.recipe.clone();
    let summary = match job.open(&folder)? {
        Opened::Finished(summary) => {
            print_message(format_args!(
                "{} holds this job, finished; nothing is left to do",
                folder.display()
            ));
            *summary
        }
        Opened::Open(open) => {
            let findings = work(*open, &recipe, args, watch)?;
            findings.summary
        }
    };
    let score = if args.input.sample { sample::score(&folder, &recipe, args.format)? } else { None };
    report(&summary, score.as_ref(), &folder, args)
}

/// Runs the job to its end.
fn work(
    mut open: OpenJob,
    recipe: &JobRecipe,
    args: &DedupArgs,
    watch: &Arc<Watch>,
) -> Result<Findings, Failure> {
    super::job::start(&open);
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let findings = open.run(watch)?;
    drop(progress);
    let page = report::render(&page::report("Near-duplicates", recipe, &findings)?);
    open.write("report.html", page.as_bytes())?;
    open.finish(&findings.summary)?;
    Ok(findings)
}

/// Prints the counts of a finished run, why records were rejected, and what was done.
pub(super) fn report(
    summary: &Summary,
    score: Option<&SampleScore>,
    folder: &Path,
    args: &DedupArgs,
) -> Result<Outcome, Failure> {
    match score {
        Some(score) if args.json => print_counts(true, &sample::with_score(folder, score)?, |_| Ok(()))?,
        _ => super::job::print_summary(folder, args.json, |out| print(out, summary, score, folder))?,
    }
    let outcome = super::job::outcome(summary, args.resources.strict);
    print_message(closing_line(summary, folder, args));
    Ok(outcome)
}

/// Says in words what a run did.
fn closing_line(summary: &Summary, folder: &Path, args: &DedupArgs) -> String {
    let kept = thousands(summary.kept);
    let mut line = format!("Kept {kept} of {}; ", counted(summary.documents, "document"));
    let ending = if args.format == TableFormat::Parquet { "parquet" } else { "jsonl" };
    let table = |name: &str| folder.join(format!("{name}.{ending}")).display().to_string();
    line += &match summary.removed {
        0 => "there are no near-duplicates to remove".to_owned(),
        removed if summary.unverified => {
            format!("removed {}, not measured, listed in {}", counted(removed, "document"), table("removed"))
        }
        removed => {
            let witness = if summary.witnesses_waived { "witness" } else { "kept witness" };
            let each = if removed == 1 { "with a" } else { "each with a" };
            let removed = counted(removed, "near-duplicate");
            format!("removed {removed}, {each} {witness} in {}", table("removed"))
        }
    };
    if summary.rejected > 0 {
        let rejected = counted(summary.rejected, "record");
        line += &format!("; rejected {rejected}, with reasons in {}", table("rejected"));
    }
    line + "."
}

fn print(
    out: &mut impl Write,
    summary: &Summary,
    score: Option<&SampleScore>,
    folder: &Path,
) -> std::io::Result<()> {
    let share = |part: u64| match summary.documents {
        0 => String::new(),
        all => format!("  {:.1} %", part as f64 * 100.0 / all as f64),
    };
    let rows = [
        ("documents", summary.documents, String::new()),
        ("kept", summary.kept, share(summary.kept)),
        ("removed", summary.removed, share(summary.removed)),
        ("rejected", summary.rejected, share(summary.rejected)),
        ("rejected of other", summary.against_rejected, String::new()),
        ("skipped", summary.skipped, String::new()),
        ("clusters", summary.clusters, String::new()),
        ("exact duplicates", summary.exact_duplicates, String::new()),
        ("candidate pairs", summary.candidates, String::new()),
        ("pairs measured", summary.verified, String::new()),
        ("giant groups", summary.giant_groups, String::new()),
        ("duplicate ids", summary.duplicate_ids, String::new()),
    ];
    let always = |name: &str| name != "rejected of other";
    for (name, number, more) in rows.into_iter().filter(|row| row.1 > 0 || always(row.0)) {
        writeln!(out, "{name:<18}{:>14}{more}", thousands(number))?;
    }
    if summary.unverified {
        writeln!(out, "unverified: pairs count by the word of their methods alone")?;
    }
    if summary.witnesses_waived {
        writeln!(out, "components: a witness may be less similar than the threshold")?;
    }
    writeln!(out, "report            {}", folder.join("report.html").display())?;
    score.map_or(Ok(()), |score| score.print(out))
}

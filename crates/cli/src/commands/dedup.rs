//! `lookalike dedup`: near-duplicates inside a corpus, one kept of each.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lookalike::engine::{Findings, Job, JobRecipe, OpenJob, Opened, Outputs, Summary};
use lookalike::walk::Watch;
use lookalike::{page, report};

use super::{incremental, plan, sample};
use crate::args::DedupArgs;
use crate::console::print_message;
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
    if let Some(summary) = incremental::run(args, &recipe, watch)? {
        return Ok(super::job::outcome(&summary, args.resources.strict));
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
    print(&summary, &folder)?;
    if args.input.sample {
        sample::score(&folder, &recipe, args.format)?;
    }
    Ok(super::job::outcome(&summary, args.resources.strict))
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

pub(super) fn print(summary: &Summary, folder: &Path) -> Result<(), Failure> {
    let share = |part: u64| match summary.documents {
        0 => String::new(),
        all => format!("  {:.1} %", part as f64 * 100.0 / all as f64),
    };
    let mut out = std::io::stdout().lock();
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
    Ok(())
}

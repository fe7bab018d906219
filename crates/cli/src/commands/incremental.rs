//! `lookalike dedup` with an index: today's documents against everything before.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lookalike::engine::{JobRecipe, Summary};
use lookalike::incremental::{IncrementalDedup, IncrementalFindings};
use lookalike::index::Index;
use lookalike::walk::Watch;

use super::{dedup, index, job};
use crate::args::{DedupArgs, SpoolArg, TableFormat, WriteArg};
use crate::console::print_message;
use crate::exit::{Failure, Outcome};
use crate::progress::{Progress, Total};

/// Runs the job if it has to do with an index.
pub(super) fn run(
    args: &DedupArgs,
    recipe: &JobRecipe,
    watch: &Arc<Watch>,
) -> Result<Option<Outcome>, Failure> {
    let against = match args.against.as_slice() {
        [one] if Index::exists(Path::new(one)) => Some(Path::new(one)),
        inputs if inputs.iter().any(|input| Index::exists(Path::new(input))) => {
            let sentence =
                "an index goes by itself with --against; merge several with `lookalike index merge`";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        [_, ..] if args.into.is_some() => {
            let sentence = "--into goes with --against of the same index, not of a corpus";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        _ => None,
    };
    if against.is_none() && args.into.is_none() {
        return Ok(None);
    }
    refuse(args, recipe, against)?;
    let folder = args.output.clone().unwrap_or_else(|| PathBuf::from(dedup::SAMPLE_FOLDER));
    job::check_output_outside(&args.input.inputs, &folder)?;
    args.start.clear_if_forced(&folder)?;
    let dedup_run = IncrementalDedup {
        recipe: recipe.clone(),
        corpus: args.input.corpus_with(args.start.options(args.resources.reading(recipe.read_options()?)))?,
        against,
        into: args.into.as_deref(),
        lexicon: args.matching.lexicon.as_deref(),
        write_kept: args.write == WriteArg::Kept,
        settings: args.resources.settings(SpoolArg::Auto),
    };
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let findings = dedup_run.run(&folder, watch)?;
    drop(progress);
    let summary: Summary = match findings {
        Some(IncrementalFindings { findings, partly_compared }) => {
            index::tell_partly_compared(partly_compared);
            findings.summary
        }
        None => {
            print_message(format_args!(
                "{} holds this job, finished; nothing is left to do",
                folder.display()
            ));
            job::summary(&folder)?
        }
    };
    dedup::report(&summary, None, &folder, args).map(Some)
}

/// Refuses what goes with whole corpora alone.
fn refuse(args: &DedupArgs, recipe: &JobRecipe, against: Option<&Path>) -> Result<(), Failure> {
    let same = |one: &Path, two: &Path| one == two || one.canonicalize().ok() == two.canonicalize().ok();
    let why = match () {
        () if !args.against_fields.is_empty() => "an index has no fields; leave --against-fields out",
        () if args.plan => "--plan goes without an index",
        () if args.annotate => "--annotate goes without an index",
        () if recipe.order.is_some() => {
            "an index takes documents as they come; leave --order-field out, or sort them before"
        }
        () if args.write == WriteArg::Removed => "with an index, --write is kept or none",
        () if args.format == TableFormat::Parquet => "with an index, tables are written as JSON lines",
        () if against.zip(args.into.as_deref()).is_some_and(|(one, two)| !same(one, two)) => {
            "--against and --into name two indexes; copy the one to the other's place first, and name that twice"
        }
        () => return Ok(()),
    };
    Err(Failure::Usage(why.to_owned()))
}

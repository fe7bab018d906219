//! `lookalike pairs`: every near-duplicate pair with its measured similarity.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lookalike::corpus::Compression;
use lookalike::corpus::write::RowFormat;
use lookalike::engine::{Job, OpenJob, Opened, Outputs, Shards, Summary};
use lookalike::walk::Watch;

use super::job::counted;
use crate::args::PairsArgs;
use crate::console::{print_message, write_rows};
use crate::exit::{Failure, Outcome};
use crate::outputs::check_outputs;
use crate::progress::{Progress, Total};

pub(crate) fn run(args: &PairsArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let recipe = args.recipe()?;
    let (format, suffix) = format_of(&args.output)?;
    if args.output.is_dir() {
        let sentence = format!("{} is a folder; name a file for the pairs", args.output.display());
        return Err(Failure::Usage(sentence));
    }
    super::job::check_output_outside(&args.input.inputs, &args.output)?;
    let options = args.start.options(args.resources.reading(recipe.read_options()?));
    let corpus = args.input.corpus_with(options)?;
    check_outputs(&corpus, &[&args.output])?;
    let outputs = Outputs { format, write: Shards::None, annotate: false, suffix };
    let threshold = recipe.measure()?.threshold.to_string();
    let job = Job {
        recipe,
        corpus,
        against: None,
        lexicon: args.matching.lexicon.clone(),
        settings: args.resources.settings(args.matching.spool),
        outputs,
    };
    super::job::print_advice(&job);
    let mut name = args.output.clone().into_os_string();
    name.push(".job");
    let folder = PathBuf::from(name);
    args.start.clear_if_forced(&folder)?;
    let summary = match job.open(&folder)? {
        Opened::Finished(summary) => {
            if !args.output.exists() {
                return Err(Failure::Missing(format!(
                    "{} holds this job, finished, but {} is gone; remove the folder to run it again",
                    folder.display(),
                    args.output.display()
                )));
            }
            print_message(format_args!(
                "{} holds this job, finished; nothing is left to do",
                folder.display()
            ));
            *summary
        }
        Opened::Open(open) => work(*open, args, watch)?,
    };
    super::job::print_summary(&folder, args.json, |out| print(out, &summary))?;
    let outcome = super::job::outcome(&summary, args.resources.strict);
    print_message(closing_line(&summary, &threshold, args));
    Ok(outcome)
}

fn print(out: &mut impl Write, summary: &Summary) -> std::io::Result<()> {
    let rows = [
        ("documents", summary.documents),
        ("pairs", summary.pairs.unwrap_or(0)),
        ("rejected", summary.rejected),
        ("exact duplicates", summary.exact_duplicates),
        ("candidate pairs", summary.candidates),
        ("pairs measured", summary.verified),
        ("giant groups", summary.giant_groups),
    ];
    write_rows(out, rows)?;
    if summary.unverified {
        writeln!(out, "unverified: pairs count by the word of their methods alone")?;
    }
    Ok(())
}

/// Says in words what a run did.
fn closing_line(summary: &Summary, threshold: &str, args: &PairsArgs) -> String {
    let pairs = counted(summary.pairs.unwrap_or(0), "pair");
    let kind = match () {
        () if summary.unverified => "that the methods accept, not measured,".to_owned(),
        () if args.all => "with their measured similarity, also below the threshold,".to_owned(),
        () => format!("with a similarity of {threshold} or more"),
    };
    let documents = counted(summary.documents - summary.rejected, "document");
    format!("Wrote {pairs} of {documents} {kind} to {}.", args.output.display())
}

fn work(mut open: OpenJob, args: &PairsArgs, watch: &Arc<Watch>) -> Result<Summary, Failure> {
    super::job::start(&open);
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let findings = open.run(watch)?;
    drop(progress);
    open.deliver_pairs(&args.output)?;
    open.finish(&findings.summary)?;
    Ok(findings.summary)
}

fn format_of(path: &Path) -> Result<(RowFormat, &'static str), Failure> {
    let compression = Compression::named(path);
    let name = path.display().to_string();
    let stem = name.strip_suffix(compression.suffix()).unwrap_or(&name).to_ascii_lowercase();
    match compression {
        _ if stem.ends_with(".jsonl") => Ok((RowFormat::Jsonl, compression.suffix())),
        Compression::None if stem.ends_with(".parquet") => Ok((RowFormat::Parquet, "")),
        _ => Err(Failure::Usage(format!(
            "{name} should end in .jsonl (also with .gz, .zst, .bz2, .xz or .lz4) or .parquet, which tells the format"
        ))),
    }
}

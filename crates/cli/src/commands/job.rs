//! Helpers of the commands that run jobs.

use std::ffi::OsString;
use std::io::{StdoutLock, Write};
use std::path::Path;

use lookalike::corpus::Loss;
use lookalike::engine::{Job, OpenJob, ScratchEstimate, Summary};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::console::{is_quiet, print_message};
use crate::exit::{Failure, Outcome};
use crate::freed_memory;
use crate::progress::thousands;

/// Prints the remarks of the methods on their parameters.
pub(crate) fn print_advice(job: &Job) {
    for advice in lookalike::request::advice(&job.recipe) {
        print_message(advice);
    }
}

/// Prepares the process for a job, and prints how much disk one that begins will take, and what one that goes on has lost.
pub(crate) fn start(open: &OpenJob) {
    freed_memory::hold_while_small(open.settings());
    if let Some(expected) = open.expected_scratch() {
        print_message(format_args!("scratch files will take {} of disk", megabytes(expected)));
    }
    if open.lost_files() {
        print_message(format_args!(
            "some scratch files in {} did not survive; the work goes on from the last point that did",
            open.folder().display()
        ));
    }
}

/// Scratch files in megabytes: a range where pairs may take much of the disk.
pub(crate) fn megabytes(scratch: ScratchEstimate) -> String {
    let [least, most] = [scratch.least, scratch.most].map(|bytes| bytes.div_ceil(1_000_000));
    // A range that is narrower than the estimate is sure says nothing.
    if 2 * most <= 3 * least {
        return format!("about {} MB", thousands(most));
    }
    format!("{} to {} MB", thousands(least), thousands(most))
}

/// Refuses results inside of what is read: the next start would read them, too.
pub(crate) fn check_output_outside(inputs: &[OsString], output: &Path) -> Result<(), Failure> {
    Ok(lookalike::request::check_output_outside(inputs, output)?)
}

/// Reads the fields that a command shows from the `summary.json` of a folder, whichever command wrote it.
pub(crate) fn summary<T: DeserializeOwned>(folder: &Path) -> Result<T, Failure> {
    serde_json::from_slice(&read_summary(folder)?).map_err(|error| {
        Failure::Missing(format!("{} is damaged: {error}", folder.join("summary.json").display()))
    })
}

fn read_summary(folder: &Path) -> Result<Vec<u8>, Failure> {
    let path = folder.join("summary.json");
    std::fs::read(&path)
        .map_err(|error| Failure::Missing(format!("{} cannot be read: {error}", path.display())))
}

/// Prints the counts of a finished job: its `summary.json` as it stands, or a table, which `--quiet` leaves out.
pub(crate) fn print_summary(
    folder: &Path,
    as_json: bool,
    table: impl FnOnce(&mut StdoutLock<'static>) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    if as_json {
        out.write_all(&read_summary(folder)?)?;
    } else if !is_quiet() {
        table(&mut out)?;
    }
    Ok(())
}

/// `1 document`, `2 documents`.
pub(crate) fn counted(number: u64, one: &str) -> String {
    format!("{} {one}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// The counts that are shown for one of two corpora.
#[derive(Deserialize)]
pub(crate) struct SideCounts {
    pub(crate) documents: u64,
    pub(crate) rejected: u64,
}

/// Returns the outcome of a finished job, and reports why records were rejected.
pub(crate) fn outcome(summary: &Summary, strict: bool) -> Outcome {
    report_rejections(&summary.reasons, summary.all_rejected(), strict)
}

/// Prints why records were rejected; with `strict` that is the outcome of the command.
pub(crate) fn report_rejections(reasons: &[Loss], rejected: u64, strict: bool) -> Outcome {
    reasons.iter().for_each(|loss| print_message(format_args!("rejected: {loss}")));
    if strict && rejected > 0 { Outcome::Rejected } else { Outcome::Done }
}

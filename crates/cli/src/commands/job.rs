//! Helpers of the commands that run jobs.

use std::ffi::OsString;
use std::path::Path;

use lookalike::corpus::Loss;
use lookalike::engine::{Job, OpenJob, Summary};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::console::tell;
use crate::exit::{Failure, Outcome};

/// Tells, before the start, how the method was set up.
pub(crate) fn say_what_it_takes(job: &Job) {
    for advice in lookalike::asked::advice(&job.recipe) {
        tell(advice);
    }
}

/// Tells how much disk a job that begins will take, and what one that goes on has lost.
pub(crate) fn say_how_it_begins(open: &OpenJob) {
    if let Some(bytes) = open.scratch_foretold() {
        tell(format_args!("scratch files will take about {} MB of disk", bytes.div_ceil(1_000_000)));
    }
    if open.lost_files() {
        tell(format_args!(
            "some scratch files in {} did not survive; the work goes on from the last point that did",
            open.folder().display()
        ));
    }
}

/// Refuses results inside of what is read: the next start would read them, too.
pub(crate) fn outside(inputs: &[OsString], output: &Path) -> Result<(), Failure> {
    Ok(lookalike::asked::outside(inputs, output)?)
}

/// Reads the fields that a command shows from the `summary.json` of a folder, whichever command wrote it.
pub(crate) fn summary<T: DeserializeOwned>(folder: &Path) -> Result<T, Failure> {
    let path = folder.join("summary.json");
    let text = std::fs::read(&path)
        .map_err(|error| Failure::Missing(format!("{} cannot be read: {error}", path.display())))?;
    serde_json::from_slice(&text)
        .map_err(|error| Failure::Missing(format!("{} is damaged: {error}", path.display())))
}

/// The counts that are shown for one of two corpora.
#[derive(Deserialize)]
pub(crate) struct ShownSide {
    pub(crate) documents: u64,
    pub(crate) rejected: u64,
}

/// Returns the outcome of a finished job, and reports why records were rejected.
pub(crate) fn outcome(summary: &Summary, strict: bool) -> Outcome {
    ended(&summary.reasons, summary.all_rejected(), strict)
}

/// Tells why records were rejected; with `strict` that is how the command ends.
pub(crate) fn ended(reasons: &[Loss], rejected: u64, strict: bool) -> Outcome {
    reasons.iter().for_each(|loss| tell(format_args!("rejected: {loss}")));
    if strict && rejected > 0 { Outcome::Rejected } else { Outcome::Done }
}

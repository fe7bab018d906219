//! What the commands that run jobs share.

use lookalike::engine::{Job, Summary};

use crate::args::MatchArgs;
use crate::console::tell;
use crate::exit::Outcome;

/// Tells, before the start, how the method was set up and how much disk the run will take.
pub(crate) fn say_what_it_takes(job: &Job, matching: &MatchArgs) {
    if let Some(advice) = matching.advice(&job.recipe) {
        tell(advice);
    }
    let megabytes = job.scratch_estimate().div_ceil(1_000_000);
    tell(format_args!("scratch files will take up to about {megabytes} MB of disk, {} MB of memory", job.settings.memory >> 20));
}

/// How a finished job ends.
pub(crate) fn outcome(summary: &Summary, strict: bool) -> Outcome {
    if strict && summary.rejected > 0 { Outcome::Rejected } else { Outcome::Done }
}

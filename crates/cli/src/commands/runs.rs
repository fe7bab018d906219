//! `lookalike runs dedup`: runs without near-duplicates.

use std::sync::Arc;

use lookalike::judgments::{Run, dedup};
use lookalike::walk::Watch;

use super::lists::{Targets, groups, print, read_all, write_dropped};
use crate::args::RunsDedupArgs;
use crate::exit::{Failure, Outcome};

pub(crate) fn run(args: &RunsDedupArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let targets = Targets::of(&args.files, &args.outputs, &[args.outputs.removed.as_deref()])?;
    let runs = read_all(&args.files, Run::read)?;
    let mut documents: Vec<&str> = runs.iter().flat_map(Run::documents).collect();
    documents.sort_unstable();
    documents.dedup();
    let (groups, outcome) = groups(&args.near, &documents, &args.outputs.output, watch)?;
    let results: Vec<_> = runs.iter().map(|run| dedup::run(run, &groups)).collect();
    targets.write(&results)?;
    write_dropped(args.outputs.removed.as_deref(), &args.files, &results, |_| true)?;
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    print(&names, &results, false, args.outputs.json)?;
    Ok(outcome)
}

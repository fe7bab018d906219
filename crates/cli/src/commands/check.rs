//! `lookalike lab check`: what a finished run reached.

use std::ffi::OsString;
use std::io::Write;
use std::sync::Arc;

use lookalike::corpus::Corpus;
use lookalike::walk::Watch;
use lookalike_lab::check::{self, Request, Run};
use lookalike_lab::collection::Collection;
use lookalike_lab::results::json;

use super::lab;
use crate::args::{CheckArgs, SpoolArg};
use crate::exit::{Failure, Outcome};
use crate::progress::{Progress, Total};

pub(crate) fn run(args: &CheckArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let finished = Run::open(&args.folder)?;
    let input = input(args, &finished)?;
    let request = Request {
        sample: args.documents.get(),
        removals: args.removals.get(),
        seed: args.seed,
        settings: args.resources.settings(SpoolArg::Auto),
    };
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    // Beside the results, where there is room for as much as the input; nothing of it is left behind.
    let work = tempfile::Builder::new().prefix(".lookalike-check-").tempdir_in(&args.folder)?;
    let checked = lab::on_threads(request.settings.threads, || {
        check::run(&finished, &input, &request, work.path(), watch)
    })?;
    drop(progress);
    json(&args.folder.join("check.json"), &checked)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&checked).map_err(std::io::Error::from)?)?;
    } else {
        lab::show(&checked.study(&finished.recipe), &mut out)?;
    }
    Ok(if args.resources.strict && checked.rejected > 0 { Outcome::Rejected } else { Outcome::Done })
}

/// The input of the run: what was typed, or what the run noted.
fn input(args: &CheckArgs, finished: &Run) -> Result<Collection, Failure> {
    let noted = || finished.files.iter().map(|path| path.clone().into_os_string()).collect::<Vec<OsString>>();
    let inputs = if args.inputs.is_empty() { noted() } else { args.inputs.clone() };
    if inputs.is_empty() {
        return Err(Failure::Usage(format!(
            "{} does not tell where its input lies; name it: lookalike lab check DIR INPUT...",
            args.folder.display()
        )));
    }
    let gone = inputs
        .iter()
        .map(std::path::Path::new)
        .find(|path| args.inputs.is_empty() && !path.exists() && !path.to_string_lossy().contains("://"));
    if let Some(gone) = gone {
        return Err(Failure::Missing(format!(
            "the input {} of this run is gone; name where it is now: lookalike lab check DIR INPUT...",
            gone.display()
        )));
    }
    Ok(Collection {
        name: lab::name_of(&inputs),
        corpus: Corpus::open(&inputs, finished.recipe.read_options()?)?,
        content: finished.recipe.content()?,
        generated: false,
    })
}

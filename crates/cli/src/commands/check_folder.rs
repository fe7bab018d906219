//! `lookalike check`: is a finished job, or an index, what it was when it was written?

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use lookalike::engine::check::{CheckReport, Results};
use lookalike::index::Index;
use lookalike::walk::Watch;

use super::{index, lab};
use crate::args::{CheckFolderArgs, SpoolArg};
use crate::console::is_quiet;
use crate::exit::{Failure, Outcome};
use crate::progress::{Progress, Total, thousands};

pub(crate) fn run(args: &CheckFolderArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    if Index::exists(&args.folder) {
        if args.measure || !args.inputs.is_empty() {
            let sentence =
                "an index has its texts with it and is always measured; leave --measure and INPUT out";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        return index::check(&args.folder, args.json);
    }
    if !args.measure && !args.inputs.is_empty() {
        return Err(Failure::Usage(
            "the input is read by --measure alone; give that, or leave it out".to_owned(),
        ));
    }
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let mut results = Results::check(&args.folder, watch)?;
    if args.measure {
        measure(args, &mut results, watch)?;
    }
    drop(progress);
    print(&results.checked, args)
}

fn measure(args: &CheckFolderArgs, results: &mut Results<'_>, watch: &Arc<Watch>) -> Result<(), Failure> {
    let options = results.measurable()?.read_options()?;
    let noted = || results.inputs().into_iter().map(OsString::from).collect();
    let inputs: Vec<OsString> = if args.inputs.is_empty() { noted() } else { args.inputs.clone() };
    if inputs.is_empty() {
        return Err(Failure::Usage(format!(
            "{} does not tell where its input lies; name it: lookalike check --measure DIR INPUT...",
            args.folder.display()
        )));
    }
    let is_gone = |path: &&Path| !path.exists() && !path.to_string_lossy().contains("://");
    if let Some(gone) = inputs.iter().map(Path::new).find(is_gone) {
        return Err(Failure::Missing(format!(
            "the input {} is gone; name where it is now: lookalike check --measure DIR INPUT...",
            gone.display()
        )));
    }
    let corpus = crate::args::open(&inputs, options)?;
    let settings = args.resources.settings(SpoolArg::Auto);
    // Texts of removed documents and witnesses, for a while.
    let work = tempfile::Builder::new().prefix(".lookalike-check-").tempdir_in(&args.folder)?;
    lab::on_threads(settings.threads, || results.measure(&corpus, &settings, work.path(), watch))
}

fn print(checked: &CheckReport, args: &CheckFolderArgs) -> Result<Outcome, Failure> {
    let mut out = std::io::stdout().lock();
    if args.json {
        let text = serde_json::to_string_pretty(checked).map_err(std::io::Error::from)?;
        writeln!(out, "{text}")?;
    } else if !is_quiet() {
        for (name, number) in [
            ("files", checked.files),
            ("bytes", checked.bytes),
            ("removals", checked.removals),
            ("documents copied", checked.copied),
            ("pairs measured", checked.measured),
            ("not checked", checked.unchecked.len() as u64),
            ("mistakes", checked.mistakes),
        ] {
            writeln!(out, "{name:<18}{:>14}", thousands(number))?;
        }
        if let Some(why) = &checked.why_unchecked {
            let tables = checked.unchecked.join(", ");
            writeln!(out, "not checked beyond their digests: {tables}; {why}")?;
        }
        checked.wrong.iter().try_for_each(|wrong| writeln!(out, "{wrong}"))?;
    }
    if checked.mistakes > 0 {
        return Err(Failure::Missing(format!(
            "{} is not as it should be in {} {}; remove it and run its command again",
            args.folder.display(),
            thousands(checked.mistakes),
            if checked.mistakes == 1 { "place" } else { "places" }
        )));
    }
    Ok(Outcome::Done)
}

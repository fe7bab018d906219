//! `lookalike lab experiment`: the papers' experiments.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use lookalike::report::Study;
use lookalike::walk::Watch;
use lookalike_lab::collection::Collection;
use lookalike_lab::experiments::{EXPERIMENTS, Experiment, ExperimentContext, find};
use lookalike_lab::results::json;

use super::lab;
use crate::args::{ExperimentArgs, SpoolArg};
use crate::console::print_message;
use crate::exit::{Failure, Outcome};
use crate::progress::{Progress, Total};

/// The folder of known collections, unless another one is named.
const DATA: &str = "../shared/data";

pub(crate) fn run(args: &ExperimentArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let experiments = selected_experiments(args)?;
    if experiments.is_empty() {
        list(&mut std::io::stdout().lock())?;
        return Ok(Outcome::Done);
    }
    let Some(output) = &args.output else {
        return Err(Failure::Usage("a folder for the results is wanted: give it with -o".to_owned()));
    };
    lab::check_inputs(&args.corpus, output)?;
    lab::make_folder(output, "experiment")?;
    let context = experiment_context(args, output, watch)?;
    let mut studies = Vec::new();
    for experiment in experiments {
        if args.all || args.numbers.len() > 1 {
            print_message(format_args!("{}: {}", experiment.id, experiment.title));
        }
        let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
        let mut study = lab::on_threads(context.settings.threads, || (experiment.run)(&context))?;
        drop(progress);
        if is_generated(experiment, &context)? {
            let note = "The documents are generated, since no known collection is at hand: figures say little of real ones. \
                        --corpus names your own, --data a folder of known collections.";
            study.notes.insert(0, note.to_owned());
        }
        json(&output.join(format!("{}.json", experiment.id)), &study)?;
        studies.push(study);
    }
    let title = match studies.as_slice() {
        [study] => format!("{}: {}", study.id, study.title),
        _ => "Experiments".to_owned(),
    };
    lab::write_page(output, &title, &studies)?;
    print(args, &studies)?;
    Ok(Outcome::Done)
}

fn selected_experiments(args: &ExperimentArgs) -> Result<Vec<&'static Experiment>, Failure> {
    if args.all {
        return Ok(EXPERIMENTS.to_vec());
    }
    let one = |number: &String| {
        find(number).ok_or_else(|| {
            Failure::Usage(format!(
                "there is no experiment {number}; lookalike lab experiment lists all, from {} to {}",
                EXPERIMENTS.first().map_or("", |experiment| experiment.id),
                EXPERIMENTS.last().map_or("", |experiment| experiment.id),
            ))
        })
    };
    args.numbers.iter().map(one).collect()
}

fn experiment_context<'d>(
    args: &ExperimentArgs,
    output: &std::path::Path,
    watch: &'d Watch,
) -> Result<ExperimentContext<'d>, Failure> {
    let given = match args.corpus.as_slice() {
        [] => None,
        inputs => Some(Collection {
            name: lab::name_of(inputs),
            corpus: crate::args::open(inputs, args.resources.reading(args.reading.options()))?,
            content: args.reading.content_mode(),
            generated: false,
        }),
    };
    let data = match &args.data {
        Some(folder) if !folder.is_dir() => {
            return Err(Failure::Missing(format!("{} is no folder; --data names one", folder.display())));
        }
        Some(folder) => Some(folder.clone()),
        None => Some(PathBuf::from(DATA)).filter(|folder| folder.is_dir()),
    };
    Ok(ExperimentContext {
        given,
        data,
        folder: output.join("work"),
        documents: args.documents.get(),
        settings: args.resources.settings(SpoolArg::Auto),
        seed: args.seed,
        watch,
    })
}

/// True when an experiment has nothing to look at but what it makes up.
fn is_generated(experiment: &Experiment, context: &ExperimentContext<'_>) -> Result<bool, Failure> {
    let Some(wanted) = experiment.data.filter(|_| context.given.is_none()) else { return Ok(false) };
    let known = context.data.as_deref().map(|data| wanted.open_known(data)).transpose()?;
    Ok(known.flatten().is_none())
}

fn list(out: &mut impl Write) -> std::io::Result<()> {
    for experiment in EXPERIMENTS {
        writeln!(out, "{:<5}{}", experiment.id, experiment.title)?;
        writeln!(out, "     {}", experiment.source)?;
    }
    Ok(())
}

fn print(args: &ExperimentArgs, studies: &[Study]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    if args.json {
        let text = serde_json::to_string_pretty(studies).map_err(std::io::Error::from)?;
        return Ok(writeln!(out, "{text}")?);
    }
    for study in studies {
        lab::show(study, &mut out)?;
    }
    Ok(())
}

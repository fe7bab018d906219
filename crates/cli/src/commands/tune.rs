//! `lookalike lab tune`: from a goal to a recipe.

use std::io::Write;
use std::sync::Arc;

use lookalike::engine::measure::Measure;
use lookalike::walk::Watch;
use lookalike_lab::results::json;
use lookalike_lab::sample::Sample;
use lookalike_lab::trial::TrialRunner;
use lookalike_lab::tune::{self, Request};

use super::lab;
use crate::args::{SpoolArg, TuneArgs};
use crate::console::is_quiet;
use crate::exit::{Failure, Outcome};
use crate::progress::{Progress, Total};

/// Larger groups do not propose all of their pairs while methods are tried.
const MAX_GROUP: usize = 20_000;

pub(crate) fn run(args: &TuneArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let request = request(args);
    tune::check(&request)?;
    let collection = lab::collection(&args.input, &args.resources, &args.output)?;
    lab::make_folder(&args.output, "tune")?;
    let settings = args.resources.settings(SpoolArg::Auto);
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let work = args.output.join("work");
    let sample = Sample::draw(&work, &collection, args.documents.get(), args.seed, watch)?;
    let runner = TrialRunner {
        documents: &sample.documents,
        folder: work.join("trials"),
        max_group: MAX_GROUP,
        seed: args.seed,
        settings,
    };
    let tuned = lab::on_threads(runner.settings.threads, || tune::run(&runner, &sample, &request, watch))?;
    drop(progress);
    let study = tuned.study(&request);
    json(&args.output.join("tune.json"), &tuned)?;
    lab::write_page(&args.output, &format!("Tuning on {}", collection.name), std::slice::from_ref(&study))?;
    let recipe = tuned.recipe(&runner, &request)?;
    let path = args.output.join("recipe.toml");
    match &recipe {
        Some(recipe) => lab::write(&path, recipe.to_toml().as_bytes())?,
        // One of an earlier search with another goal must not be taken for an answer.
        None if path.exists() => std::fs::remove_file(&path)?,
        None => {}
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&tuned).map_err(std::io::Error::from)?)?;
    } else {
        lab::show(&tuned.brief(&request), &mut out)?;
    }
    let Some(recipe) = recipe else {
        return Err(Failure::Missing(study.lead.trim_end_matches('.').to_owned()));
    };
    if !args.json && !is_quiet() {
        let lexicon = args.lexicon.as_ref().filter(|_| recipe.lexicon.is_some());
        let lexicon = lexicon.map_or(String::new(), |path| format!(" --lexicon {}", path.display()));
        writeln!(out, "\nnow: lookalike dedup --recipe {}{lexicon} INPUT... -o DIR", path.display())?;
        writeln!(out, "then: lookalike lab check DIR")?;
        writeln!(out, "{} may be removed when no other goal is to be tried", work.display())?;
    }
    Ok(lab::outcome(&sample.documents, args.resources.strict))
}

fn request(args: &TuneArgs) -> Request {
    Request {
        measure: Measure {
            similarity: args.similarity,
            threshold: args.threshold,
            shingle: args.shingle.get(),
        },
        profile: args.input.reading.profile.clone(),
        recall: args.recall,
        precision: args.precision,
        lexicon: args.lexicon.clone(),
        reading: args.input.reading.recipe(),
    }
}

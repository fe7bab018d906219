//! `lookalike lab compare`: methods side by side.

use std::io::Write;
use std::sync::Arc;

use lookalike::engine::document_copy::DocumentCopy;
use lookalike::walk::Watch;
use lookalike_lab::compare::{self, RecallBase, Request};
use lookalike_lab::method_list;
use lookalike_lab::results::Results;
use lookalike_lab::trial::TrialRunner;

use super::lab::{self, show};
use crate::args::{LabCompareArgs, PoolArg, SpoolArg};
use crate::exit::{Failure, Outcome};
use crate::progress::{Progress, Total};

pub(crate) fn run(args: &LabCompareArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let request = request(args)?;
    let collection = lab::collection(&args.input, &args.resources, &args.output)?;
    lab::make_folder(&args.output, "compare")?;
    let settings = args.resources.settings(SpoolArg::Auto);
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let work = args.output.join("work");
    let documents =
        DocumentCopy::open_or_create(&work, collection.source(), &[], ("all", &mut |_, _, _| true), watch)?;
    let runner = TrialRunner {
        documents: &documents,
        folder: work.join("trials"),
        max_group: args.max_group.get(),
        seed: args.seed,
        settings,
    };
    let comparison = lab::on_threads(runner.settings.threads, || compare::run(&runner, &request, watch))?;
    let results = Results::new(&runner, &request, &comparison);
    results.write(&args.output, watch)?;
    drop(progress);
    let study = results.study("comparison", &format!("Methods on {}", collection.name));
    lab::write_page(&args.output, &study.title.clone(), std::slice::from_ref(&study))?;
    if args.json {
        let text = std::fs::read(args.output.join("methods.json"))?;
        std::io::stdout().lock().write_all(&text)?;
    } else {
        show(&study, &mut std::io::stdout().lock())?;
    }
    Ok(lab::outcome(&documents, args.resources.strict))
}

fn request(args: &LabCompareArgs) -> Result<Request, Failure> {
    Ok(Request {
        methods: method_list::parse(&args.methods)?,
        truth: args.truth,
        profile: args.profile(),
        words: args.input.reading.profile.clone(),
        recall_base: match args.pool {
            PoolArg::Union => RecallBase::Union,
            PoolArg::Exact => RecallBase::Exact,
        },
        measure: args.most_measured.get() as u64,
        review: args.review as usize,
    })
}

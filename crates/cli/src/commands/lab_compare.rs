//! `lookalike lab compare`: methods side by side.

use std::io::Write;
use std::sync::Arc;

use lookalike::engine::shelf::Shelf;
use lookalike::walk::Watch;
use lookalike_lab::compare::{self, Against, Request};
use lookalike_lab::results::Results;
use lookalike_lab::roster;
use lookalike_lab::trial::Bench;

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
    let shelf = Shelf::stock(&work, collection.place(), &[], ("all", &mut |_, _, _| true), watch)?;
    let bench = Bench {
        shelf: &shelf,
        folder: work.join("trials"),
        max_group: args.max_group.get(),
        seed: args.seed,
        settings,
    };
    let comparison = lab::on_threads(bench.settings.threads, || compare::run(&bench, &request, watch))?;
    let results = Results::new(&bench, &request, &comparison);
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
    Ok(lab::outcome(&shelf, args.resources.strict))
}

fn request(args: &LabCompareArgs) -> Result<Request, Failure> {
    Ok(Request {
        methods: roster::listed(&args.methods)?,
        truth: args.truth,
        profile: args.profile(),
        words: args.input.reading.profile.clone(),
        against: match args.pool {
            PoolArg::Union => Against::Union,
            PoolArg::Exact => Against::Exact,
        },
        measure: args.most_measured.get() as u64,
        review: args.review as usize,
    })
}

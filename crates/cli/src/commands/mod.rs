//! One file per command: its work, then what it prints.

mod apply;
mod bench;
mod census;
mod check;
mod check_folder;
mod compare;
mod completions;
mod convert;
mod dedup;
mod diff;
mod experiment;
mod generate;
mod head;
mod incremental;
mod index;
mod job;
mod judgments;
mod lab;
mod lab_compare;
mod lexicon;
mod lists;
mod man;
mod methods;
mod pairs;
mod plan;
mod presets;
mod rejections;
mod review;
mod runs;
mod sample;
mod serve;
mod stats;
mod transfer;
mod tune;
mod urls;

use std::sync::Arc;

use lookalike::walk::Watch;

use crate::args::{Command, CorpusCommand, JudgmentsCommand, LabCommand, RunsCommand};
use crate::exit::{Failure, Outcome};

/// Runs a command.
pub fn run(command: Command, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    match command {
        Command::Dedup(args) => dedup::run(&args, watch),
        Command::Pairs(args) => pairs::run(&args, watch),
        Command::Compare(args) => compare::run(&args, watch),
        Command::Transfer(args) => transfer::run(&args, watch),
        Command::Urls(args) => urls::run(&args, watch),
        Command::Index(command) => index::run(&command, watch),
        Command::Census(command) => census::run(&command, watch),
        Command::Lexicon(args) => lexicon::run(&args, watch),
        Command::Lab(LabCommand::Compare(args)) => lab_compare::run(&args, watch),
        Command::Lab(LabCommand::Tune(args)) => tune::run(&args, watch),
        Command::Lab(LabCommand::Check(args)) => check::run(&args, watch),
        Command::Lab(LabCommand::Experiment(args)) => experiment::run(&args, watch),
        Command::Lab(LabCommand::Review(args)) => review::run(&args, watch),
        Command::Judgments(JudgmentsCommand::Stats(args)) => judgments::stats(&args),
        Command::Judgments(JudgmentsCommand::Dedup(args)) => judgments::dedup(&args, watch),
        Command::Runs(RunsCommand::Dedup(args)) => runs::run(&args, watch),
        Command::Methods(args) => methods::run(&args),
        Command::Presets(args) => presets::run(&args),
        Command::Check(args) => check_folder::run(&args, watch),
        Command::Bench(command) => bench::run(&command, watch),
        Command::Diff(args) => diff::run(&args, watch),
        Command::Serve(args) => serve::run(&args, watch),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Corpus(CorpusCommand::Stats(args)) => stats::run(&args, watch),
        Command::Corpus(CorpusCommand::Head(args)) => head::run(&args, watch),
        Command::Corpus(CorpusCommand::Convert(args)) => convert::run(&args, watch),
        Command::Corpus(CorpusCommand::Generate(args)) => generate::run(&args, watch),
        Command::Corpus(CorpusCommand::Apply(args)) => apply::run(&args, watch),
    }
}

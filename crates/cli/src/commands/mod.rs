//! One file per command: its work, then what it prints.

mod convert;
mod dedup;
mod diff;
mod generate;
mod head;
mod henzinger;
mod job;
mod lexicon;
mod methods;
mod pairs;
mod plan;
mod rejections;
mod review;
mod sample;
mod stats;

use std::sync::Arc;

use lookalike::walk::Watch;

use crate::args::{Command, CorpusCommand, LabCommand};
use crate::exit::{Failure, Outcome};

/// Runs a command.
pub fn run(command: Command, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    match command {
        Command::Dedup(args) => dedup::run(&args, watch),
        Command::Pairs(args) => pairs::run(&args, watch),
        Command::Lexicon(args) => lexicon::run(&args, watch),
        Command::Lab(LabCommand::Henzinger(args)) => henzinger::run(&args, watch),
        Command::Lab(LabCommand::Review(args)) => review::run(&args, watch),
        Command::Methods(args) => methods::run(&args),
        Command::Diff(args) => diff::run(&args, watch),
        Command::Corpus(CorpusCommand::Stats(args)) => stats::run(&args, watch),
        Command::Corpus(CorpusCommand::Head(args)) => head::run(&args, watch),
        Command::Corpus(CorpusCommand::Convert(args)) => convert::run(&args, watch),
        Command::Corpus(CorpusCommand::Generate(args)) => generate::run(&args, watch),
    }
}

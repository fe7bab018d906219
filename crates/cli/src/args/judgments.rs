//! Options of judgments and runs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use lookalike::engine::JobRecipe;
use lookalike::engine::recipe::Task;
use lookalike::judgments::{DuplicateTreatment, KeepRule, Layout};

use super::job::require_input_order;
use super::{MatchArgs, ReadingArgs, ResourceArgs};
use crate::exit::Failure;

/// The commands on judgments.
#[derive(Debug, Subcommand)]
pub enum JudgmentsCommand {
    /// Count judgments, topics, documents and grades
    Stats(JudgmentsStatsArgs),
    /// Keep one document of each group of near-duplicates for a topic
    ///
    /// Of every group the document that a file names first stays for a topic, with all its judgments; those of the others are
    /// removed, or marked as not relevant. All columns of what stays are written as they were.
    #[command(
        override_usage = "lookalike judgments dedup [OPTIONS] --groups <GROUPS> --output <OUT> <QRELS>...\n       lookalike judgments dedup [OPTIONS] --output <OUT> <QRELS>... --from <CORPUS>...",
        mut_arg("shingle", |arg| arg.default_value("1")),
        mut_arg("threshold", |arg| arg.default_value("0.9"))
    )]
    Dedup(Box<JudgmentsDedupArgs>),
}

/// The commands on runs.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Keep one document of each group of near-duplicates for a topic
    ///
    /// Of every group the document that ranks first for a topic stays; the others are removed, as is a document that a topic
    /// has twice. Ranks are numbered anew, scores stay.
    #[command(
        override_usage = "lookalike runs dedup [OPTIONS] --groups <GROUPS> --output <OUT> <RUN>...\n       lookalike runs dedup [OPTIONS] --output <OUT> <RUN>... --from <CORPUS>...",
        mut_arg("shingle", |arg| arg.default_value("1")),
        mut_arg("threshold", |arg| arg.default_value("0.9"))
    )]
    Dedup(Box<RunsDedupArgs>),
}

/// Options for reading judgments.
#[derive(Debug, Clone, Args)]
pub struct QrelsArgs {
    /// Files of judgments, also compressed, or - for standard input
    ///
    /// Layouts are seen from the lines: qrels (topic 0 document grade), subtopics (topic subtopic document grade), prels (topic
    /// document grade method probability), entity2009 and entity2010.
    #[arg(value_name = "QRELS", required = true)]
    pub files: Vec<PathBuf>,

    /// Layout of every file, instead of what its lines show
    #[arg(long, value_name = "LAYOUT", value_parser = layout)]
    pub layout: Option<Layout>,
}

/// `judgments stats`
#[derive(Debug, Args)]
pub struct JudgmentsStatsArgs {
    /// The judgments.
    #[command(flatten)]
    pub qrels: QrelsArgs,

    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Output files: the lists without near-duplicates, and the list of what was removed.
#[derive(Debug, Clone, Args)]
pub struct OutputArgs {
    /// File for what stays; of several inputs, a folder
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,

    /// File for what went: of which topic, and for which document
    #[arg(long, value_name = "FILE")]
    pub removed: Option<PathBuf>,

    /// Print the counts as one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// The source of near-duplicates: known groups, or a corpus to find them in.
#[derive(Debug, Clone, Args)]
pub struct NearArgs {
    /// Known groups of near-duplicates: a folder of dedup, or JSON lines
    ///
    /// Lines are those of clusters.jsonl (members), of lookalike pairs (a, b), or of published lists (ids), also compressed. What
    /// hangs together through documents of the lists is one group.
    #[arg(
        long,
        value_name = "GROUPS",
        required_unless_present = "from",
        conflicts_with = "from",
        help_heading = "Near-duplicates"
    )]
    pub groups: Option<PathBuf>,

    /// Corpus to find them in: files, folders or patterns
    ///
    /// Only documents that the lists name are compared, by the options below; --shingle 1 means that sets of words are. A folder
    /// with .job behind the name of OUT holds them and the results of dedup.
    #[arg(long, value_name = "CORPUS", num_args = 1.., help_heading = "Near-duplicates")]
    pub from: Vec<OsString>,

    /// Options for reading documents.
    #[command(flatten)]
    pub reading: ReadingArgs,

    /// Options of matching: methods, similarity and threshold.
    #[command(flatten)]
    pub matching: MatchArgs,

    /// Threads, memory, progress and the limit on rejected records.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

impl NearArgs {
    /// The recipe that these options ask for.
    pub fn recipe(&self) -> Result<JobRecipe, Failure> {
        let recipe = require_input_order(
            self.matching.options().recipe(Task::Dedup, &self.matching.documents(&self.reading))?,
        )?;
        match recipe.within.as_deref() {
            Some(field) if field != "@host" => Err(Failure::Usage(format!(
                "--within {field} cannot be used here, where documents are copied without their fields; --within @host can"
            ))),
            _ => Ok(recipe),
        }
    }
}

/// `judgments dedup`
#[derive(Debug, Args)]
pub struct JudgmentsDedupArgs {
    /// The judgments.
    #[command(flatten)]
    pub qrels: QrelsArgs,

    /// The output files.
    #[command(flatten)]
    pub outputs: OutputArgs,

    /// File for judgments that went and said something else
    ///
    /// Something else than those that stay.
    #[arg(long, value_name = "FILE")]
    pub conflicts: Option<PathBuf>,

    /// Document that stays for a topic: first or lowest-name
    ///
    /// Of a group, the one that a file names first, or the one whose name sorts first.
    #[arg(long, value_name = "WHICH", default_value = "first", hide_possible_values = true)]
    pub keep: KeepArg,

    /// Treatment of the other documents: remove or mark
    ///
    /// mark keeps them, with 0 in place of a grade that says relevant.
    #[arg(long, value_name = "WHAT", default_value = "remove", hide_possible_values = true)]
    pub others: OthersArg,

    /// The source of near-duplicates.
    #[command(flatten)]
    pub near: NearArgs,
}

/// `runs dedup`
#[derive(Debug, Args)]
pub struct RunsDedupArgs {
    /// Files of runs, also compressed, or - for standard input
    ///
    /// Lines are those of TREC: topic Q0 document rank score tag.
    #[arg(value_name = "RUN", required = true)]
    pub files: Vec<PathBuf>,

    /// The output files.
    #[command(flatten)]
    pub outputs: OutputArgs,

    /// The source of near-duplicates.
    #[command(flatten)]
    pub near: NearArgs,
}

/// [`KeepRule`] as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KeepArg {
    /// The one that the file names first
    First,
    /// The one whose name sorts first
    LowestName,
}

impl KeepArg {
    /// Returns the [`KeepRule`] that was typed.
    pub fn rule(self) -> KeepRule {
        match self {
            KeepArg::First => KeepRule::First,
            KeepArg::LowestName => KeepRule::LowestName,
        }
    }
}

/// [`DuplicateTreatment`] as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OthersArg {
    /// They are left out
    Remove,
    /// They stay as not relevant
    Mark,
}

impl OthersArg {
    /// Returns the [`DuplicateTreatment`] that was typed.
    pub fn rule(self) -> DuplicateTreatment {
        match self {
            OthersArg::Remove => DuplicateTreatment::Remove,
            OthersArg::Mark => DuplicateTreatment::Mark,
        }
    }
}

fn layout(text: &str) -> Result<Layout, String> {
    text.parse()
}

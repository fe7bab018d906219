//! Options of the commands on indexes.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use lookalike::engine::recipe::JobRecipe;
use lookalike::index::{OnExistingId, WriterOptions};

use super::job::require_input_order;
use super::{MatchArgs, ReadingArgs, ResourceArgs, size, whole};
use crate::exit::Failure;

/// The help of `--max-rejected` for commands that answer or add as they read, and learn of the limit at the end.
const MAX_REJECTED_AT_END: &str = "\
Most records that may be rejected: a number, or a share such as 5%

More end the run with exit code 4 at the end of the input, after all else was answered or added. By default a tenth of 100 records or \
more, and not all of fewer; 100% takes whatever can be read.";

/// The commands on indexes.
#[derive(Debug, Subcommand)]
pub enum IndexCommand {
    /// Make a new index; its options are stored, and hold for everything that is added
    Create(Box<IndexCreateArgs>),
    /// Add documents: each is new, or a kept one stands for it
    ///
    /// Documents are decided in their order, as dedup with --keep first would decide them. A document whose id is there with the same
    /// words is the same document; one whose id is there with other words is refused unless --replace is given.
    Add(IndexAddArgs),
    /// Say what documents are near-duplicates of
    ///
    /// Writes one line of JSON for each document: its id, how many near-duplicates it has, and the most similar ones; for a record that is
    /// no document, why it is none. With - it is a filter: each line of JSON is answered before the next one is read.
    Query(IndexQueryArgs),
    /// Take documents out by their ids
    ///
    /// Documents that one of them stood for are decided anew.
    Remove(IndexRemoveArgs),
    /// Add all documents of other indexes, as if they had come after those that are there
    Merge(IndexMergeArgs),
    /// Read everything, and check that it is as it was written and holds together
    Check(IndexInfoArgs),
    /// Count documents, and what they take
    Stats(IndexInfoArgs),
}

/// `index create`
#[derive(Debug, Args)]
pub struct IndexCreateArgs {
    /// Folder for the index
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Documents to learn from, for methods that must know a collection
    ///
    /// Some methods ask which words are common, or which shingles repeat.
    #[arg(long, value_name = "INPUT")]
    pub learn: Vec<OsString>,

    /// Keep hashes of words in place of texts
    ///
    /// Nothing can then be shown or decided anew, and the index takes more room.
    #[arg(long)]
    pub no_text: bool,

    /// Options of matching: methods, similarity and threshold.
    #[command(flatten)]
    pub matching: MatchArgs,

    /// Options for reading documents.
    #[command(flatten)]
    pub reading: ReadingArgs,

    /// Threads, memory, progress and the limit on rejected records.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Options for writing to an index.
#[derive(Debug, Clone, Args)]
pub struct WritingArgs {
    /// Wait for the disk: what was acknowledged survives power loss, too
    #[arg(long, help_heading = "Work")]
    pub sync: bool,

    /// Size of documents in memory and in the log before they become a segment
    ///
    /// A segment is an immutable part of an index; the log has what is in none yet.
    #[arg(long, value_name = "SIZE", default_value = "32M", help_heading = "Work", value_parser = size)]
    pub tail: u64,
}

impl WritingArgs {
    /// Converts the options to those of the index.
    pub fn writing(&self) -> WriterOptions {
        WriterOptions { sync: self.sync, tail_bytes: self.tail as usize }
    }
}

/// `index add`
#[derive(Debug, Args)]
#[command(mut_arg("max_rejected", |arg| arg.long_help(MAX_REJECTED_AT_END)))]
pub struct IndexAddArgs {
    /// The index
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Files, folders, patterns, addresses, or - for standard input
    ///
    /// Read by the options that the index was made with.
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<OsString>,

    /// Replace documents that are there with the same id and other words
    #[arg(long)]
    pub replace: bool,

    /// File for a line of JSON about each document: new, or removed for which
    ///
    /// - is standard output.
    #[arg(long, value_name = "FILE")]
    pub verdicts: Option<PathBuf>,

    /// Print the counts as one JSON object instead of a table
    #[arg(long)]
    pub json: bool,

    /// Options for writing to the index.
    #[command(flatten)]
    pub writing: WritingArgs,

    /// Threads, memory, progress and the limit on rejected records.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

impl IndexAddArgs {
    /// Returns the rule for a document whose id is already in the index.
    pub fn existing_id_rule(&self) -> OnExistingId {
        if self.replace { OnExistingId::Replace } else { OnExistingId::Refuse }
    }
}

/// `index query`
#[derive(Debug, Args)]
#[command(mut_arg("max_rejected", |arg| arg.long_help(MAX_REJECTED_AT_END)))]
pub struct IndexQueryArgs {
    /// The index
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Files, folders, patterns, addresses, or - for lines of JSON, each answered at once
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<OsString>,

    /// Most near-duplicates listed for each document
    #[arg(long, value_name = "N", default_value = "10", value_parser = whole)]
    pub limit: u64,

    /// Threads, memory, progress and the limit on rejected records.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// `index remove`
#[derive(Debug, Args)]
pub struct IndexRemoveArgs {
    /// The index
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Ids
    #[arg(value_name = "ID", required_unless_present = "ids_from")]
    pub ids: Vec<String>,

    /// File with an id in each line; - is standard input
    #[arg(long, value_name = "FILE")]
    pub ids_from: Option<PathBuf>,

    /// Print the counts as one JSON object instead of a table
    #[arg(long)]
    pub json: bool,

    /// Options for writing to the index.
    #[command(flatten)]
    pub writing: WritingArgs,
}

/// `index merge`
#[derive(Debug, Args)]
pub struct IndexMergeArgs {
    /// The index that the others are added to
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// The others; without any, the index itself becomes one segment
    #[arg(value_name = "OTHER")]
    pub others: Vec<PathBuf>,

    /// Print the counts as one JSON object instead of a table
    #[arg(long)]
    pub json: bool,

    /// Options for writing to the index.
    #[command(flatten)]
    pub writing: WritingArgs,

    /// Threads, memory, progress and the limit on rejected records.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// `index check` and `index stats`
#[derive(Debug, Args)]
pub struct IndexInfoArgs {
    /// The index
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl IndexCreateArgs {
    /// The recipe that these options ask for.
    pub fn recipe(&self) -> Result<JobRecipe, Failure> {
        require_input_order(self.matching.options().index(&self.matching.documents(&self.reading))?)
    }
}

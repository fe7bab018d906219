//! Options of commands on two corpora.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lookalike::corpus::write::RowFormat;
use lookalike::corpus::{Corpus, ReadOptions};
use lookalike::engine::JobRecipe;
use lookalike::judgments::Layout;
use lookalike::request::number_duplicates;
use lookalike_transfer::moved::Matches;
use lookalike_transfer::segments::Segment;

use super::job::{OrderArgs, require_input_order};
use super::urls::SnapshotArgs;
use super::{MatchArgs, ReadingArgs, ResourceArgs, StartArgs, TableFormat, other_field, positive};
use crate::exit::Failure;

/// Parts of the right side that are counted by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SegmentArg {
    /// All inputs of a --with
    With,
    /// Each input
    Input,
    /// Each file
    File,
}

/// `compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Corpus whose documents are looked for: files, folders, patterns or addresses
    ///
    /// Addresses are those of stores: s3://, gs:// or az://.
    #[arg(value_name = "LEFT", required = true)]
    pub left: Vec<OsString>,

    /// The right side.
    #[command(flatten)]
    pub with: SnapshotArgs,

    /// Names of fields on the right side, such as text=body,id=key
    ///
    /// Before the = stands id, text, html or url, or a field that --within or --order-field names.
    #[arg(long, value_name = "NAME=NAME", value_delimiter = ',', conflicts_with = "recipe", value_parser = other_field)]
    pub with_fields: Vec<(String, String)>,

    /// Folder for the results
    ///
    /// A new one, or one in which the same comparison was begun: then it goes on.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Parts of it to count one by one: with, input or file
    ///
    /// Segments of the right side: all inputs of a --with, each input, or each file. Found documents are also accumulated over them.
    #[arg(long, value_name = "WHAT", default_value = "with", hide_possible_values = true)]
    pub segment: SegmentArg,

    /// Say by a straight line how many documents would be found in N segments
    #[arg(long, value_name = "N", value_parser = positive)]
    pub forecast: Option<NonZeroUsize>,

    /// Format of the tables: jsonl or parquet
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", hide_possible_values = true)]
    pub format: TableFormat,

    /// Print the counts of summary.json instead of a table
    ///
    /// The counts of the run as one JSON object on standard output, as the folder of the results has them.
    #[arg(long)]
    pub json: bool,

    /// The order.
    #[command(flatten)]
    pub order: OrderArgs,

    /// Options for reading documents.
    #[command(flatten)]
    pub reading: ReadingArgs,

    /// Options of matching: methods, similarity and threshold.
    #[command(flatten)]
    pub matching: MatchArgs,

    /// The beginning of the job.
    #[command(flatten)]
    pub start: StartArgs,

    /// Threads, memory, progress and the limit on rejected records.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// The near-duplicates that get the judgments of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MatchesArg {
    /// To the most similar near-duplicate
    Best,
    /// To all near-duplicates
    All,
}

/// `transfer`
#[derive(Debug, Args)]
#[command(
    mut_arg("shingle", |arg| arg.default_value("1")),
    mut_arg("threshold", |arg| arg.default_value("0.9")),
)]
pub struct TransferArgs {
    /// Files of judgments: qrels, prels and their relatives
    #[arg(long, value_name = "QRELS", num_args = 1.., required = true)]
    pub judgments: Vec<PathBuf>,

    /// Layout of all of them; else it is seen from their lines
    #[arg(long, value_name = "LAYOUT")]
    pub layout: Option<Layout>,

    /// Old corpus, whose documents were judged: files, folders or patterns
    #[arg(long, value_name = "OLD", num_args = 1.., required = true)]
    pub from: Vec<OsString>,

    /// New corpus: files, folders or patterns
    #[arg(long, value_name = "NEW", num_args = 1.., required = true)]
    pub to: Vec<OsString>,

    /// Names of fields in the new corpus, such as text=body,id=key
    ///
    /// Before the = stands id, text, html or url.
    #[arg(long, value_name = "NAME=NAME", value_delimiter = ',', conflicts_with = "recipe", value_parser = other_field)]
    pub to_fields: Vec<(String, String)>,

    /// Folder for the results
    ///
    /// A new one, or one in which the same transfer was begun: then it goes on.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Near-duplicates to carry judgments to: best or all
    #[arg(long, value_name = "WHICH", default_value = "best", hide_possible_values = true)]
    pub matches: MatchesArg,

    /// Parts of the new corpus to count one by one: with, input or file
    ///
    /// Segments: all of it, each input, or each file. Found documents are also accumulated over them.
    #[arg(long, value_name = "WHAT", default_value = "with", hide_possible_values = true)]
    pub segment: SegmentArg,

    /// Say by a straight line how many judged documents would be found in N segments
    #[arg(long, value_name = "N", value_parser = positive)]
    pub forecast: Option<NonZeroUsize>,

    /// Documents for people to judge, in review.jsonl
    ///
    /// The number of found documents of each method; lookalike lab review shows them.
    #[arg(long, value_name = "N", default_value = "100", value_parser = super::whole)]
    pub review: u64,

    /// Print the counts of summary.json instead of a table
    ///
    /// The counts of the run as one JSON object on standard output, as the folder of the results has them.
    #[arg(long)]
    pub json: bool,

    /// Options for reading documents.
    #[command(flatten)]
    pub reading: ReadingArgs,

    /// Options of matching: methods, similarity and threshold.
    #[command(flatten)]
    pub matching: MatchArgs,

    /// The beginning of the job.
    #[command(flatten)]
    pub start: StartArgs,

    /// Threads, memory, progress and the limit on rejected records.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

impl TransferArgs {
    /// The recipe that these options ask for.
    pub fn recipe(&self) -> Result<JobRecipe, Failure> {
        let mut recipe =
            require_input_order(self.matching.options().compare(&self.matching.documents(&self.reading))?)?;
        recipe.other_fields.extend(self.to_fields.iter().cloned());
        recipe.other_options()?;
        if recipe.within.is_some() {
            let sentence = "judgments go wherever their documents went; leave --within out";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        Ok(recipe)
    }

    /// Returns the near-duplicates that get the judgments of a document.
    pub fn matches(&self) -> Matches {
        match self.matches {
            MatchesArg::Best => Matches::Best,
            MatchesArg::All => Matches::All,
        }
    }
}

impl CompareArgs {
    /// The recipe that these options ask for.
    pub fn recipe(&self) -> Result<JobRecipe, Failure> {
        let mut recipe = self.matching.options().compare(&self.matching.documents(&self.reading))?;
        self.order.apply_to(&mut recipe);
        recipe.other_fields.extend(self.with_fields.iter().cloned());
        recipe.other_options()?;
        Ok(recipe)
    }

    /// Format of the tables.
    pub fn row_format(&self) -> RowFormat {
        self.format.into()
    }
}

/// The parts of the right side, in the order of its shards.
pub fn right_segments(
    with: &SnapshotArgs,
    what: SegmentArg,
    options: &ReadOptions,
) -> Result<Vec<Segment>, Failure> {
    let mut all = Vec::new();
    for (snapshot, inputs) in with.snapshots.iter().enumerate() {
        let mut here = Vec::new();
        for input in inputs {
            let corpus = Corpus::open(&[input], options.clone())?;
            match what {
                SegmentArg::File => here.extend(corpus.shards().iter().map(|shard| (shard.name.clone(), 1))),
                _ => here.push((input.to_string_lossy().into_owned(), corpus.shards().len())),
            }
        }
        if what == SegmentArg::With {
            let name = here.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ");
            here = vec![(name, here.iter().map(|(_, shards)| shards).sum())];
        }
        all.extend(here.into_iter().map(|(name, shards)| Segment { name, shards, snapshot }));
    }
    if all.len() > MOST_SEGMENTS {
        return Err(Failure::Usage(format!(
            "there would be {} segments, and at most {MOST_SEGMENTS} are counted one by one; take --segment input, or with",
            all.len()
        )));
    }
    // Files of one name in different folders are told apart.
    let mut names: Vec<String> = all.iter().map(|segment| segment.name.clone()).collect();
    number_duplicates(&mut names, " #");
    all.iter_mut().zip(names).for_each(|(segment, name)| segment.name = name);
    Ok(all)
}

/// Segments that are counted one by one: all of them are in memory, for each method.
const MOST_SEGMENTS: usize = 1000;

//! Options of `urls`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum, value_parser};
use lookalike::corpus::ReadOptions;
use lookalike::engine::measure::Measure;
use lookalike::engine::recipe::Task;
use lookalike::engine::{EngineError, JobRecipe};
use lookalike::model::{Similarity, Threshold};
use lookalike_overlap::address::Matching;

use super::job::{similarity, threshold};
use super::{ReadingArgs, ResourceArgs, StartArgs, other_field, positive};

/// `urls`
#[derive(Debug, Args)]
pub struct UrlsArgs {
    /// Corpus whose addresses are looked for: files, folders, patterns, or -
    ///
    /// A - is standard input. Any format that can be read, and also lists: one address in each line, or an id, a tab and an address. Records
    /// need no text.
    #[arg(value_name = "LEFT", required = true)]
    pub left: Vec<OsString>,

    /// The other side.
    #[command(flatten)]
    pub with: SnapshotArgs,

    /// Names of fields in the other corpora, such as url=link,id=key
    ///
    /// Before the = stands id, text, html or url.
    #[arg(long, value_name = "NAME=NAME", value_delimiter = ',', value_parser = other_field)]
    pub with_fields: Vec<(String, String)>,

    /// Folder for the results
    ///
    /// A new one, or one in which the same comparison was begun: then it goes on.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Print the counts of summary.json instead of a table
    ///
    /// The counts of the run as one JSON object on standard output, as the folder of the results has them.
    #[arg(long)]
    pub json: bool,

    /// Equality of addresses: exact, normal or canonical
    ///
    /// Two addresses are the same: exact: letter by letter. normal: without case of scheme and host, default port, fragment and empty path.
    /// canonical: also without the difference of http and https, www., a slash or index page at the end, needless %XX, session ids
    /// (jsessionid, PHPSESSID, sid) and utm_ parameters; the order of parameters stays.
    #[arg(
        long = "match",
        value_name = "HOW",
        default_value = "normal",
        help_heading = "Matching",
        hide_possible_values = true
    )]
    pub matching: MatchingArg,

    /// Files of judgments: tables also tell of judged documents of LEFT
    ///
    /// Any layout of TREC; what counts is which documents are in it.
    #[arg(long, value_name = "QRELS", num_args = 1.., help_heading = "Matching")]
    pub judgments: Vec<PathBuf>,

    /// Measure: jaccard, containment, cosine, cosine-tf or edit
    ///
    /// The measure of similarity of the two documents of a shared address; lookalike pairs --help explains each. The first of each side is
    /// measured where several documents of a side have the address.
    #[arg(long, value_name = "M", default_value = "jaccard", help_heading = "Matching", value_parser = similarity)]
    pub similarity: Similarity,

    /// Length of a shingle, a sequence of N consecutive words
    ///
    /// Documents are compared by the shingles that both have. 1 means the set of words.
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Matching", value_parser = positive)]
    pub shingle: NonZeroUsize,

    /// Least similarity of two documents that count as near
    #[arg(long, value_name = "T", default_value = "0.9", help_heading = "Matching", value_parser = threshold)]
    pub threshold: Threshold,

    /// Compare addresses alone and read no texts
    #[arg(
        long,
        help_heading = "Matching",
        conflicts_with_all = ["similarity", "shingle", "threshold"]
    )]
    pub no_similarity: bool,

    /// Options for reading records.
    #[command(flatten)]
    pub reading: ReadingArgs,

    /// The beginning of the job.
    #[command(flatten)]
    pub start: StartArgs,

    /// Threads, memory, progress and the limit on rejected records.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

impl UrlsArgs {
    /// Returns the similarity to measure; none with `--no-similarity`.
    pub fn measure(&self) -> Option<Measure> {
        let Self { similarity, threshold, shingle, .. } = *self;
        (!self.no_similarity).then_some(Measure { similarity, threshold, shingle: shingle.get() })
    }

    /// Options of reading for the left side and for the others: no record needs a text.
    pub fn options(&self) -> Result<[ReadOptions; 2], EngineError> {
        let other_fields = self.with_fields.iter().cloned().collect();
        let recipe = JobRecipe { other_fields, ..self.reading.document_options().recipe(Task::Compare) };
        let options =
            |options| ReadOptions { addresses: true, ..self.start.options(self.resources.reading(options)) };
        Ok([recipe.read_options()?, recipe.other_options()?].map(options))
    }
}

/// [`Matching`] as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MatchingArg {
    /// Letter by letter
    Exact,
    /// In normal form
    Normal,
    /// In canonical form
    Canonical,
}

impl From<MatchingArg> for Matching {
    fn from(matching: MatchingArg) -> Self {
        match matching {
            MatchingArg::Exact => Matching::Exact,
            MatchingArg::Normal => Matching::Normal,
            MatchingArg::Canonical => Matching::Canonical,
        }
    }
}

/// The other side: one corpus, or several snapshots, each with its inputs. How often `--with` was typed matters, which only the
/// matches tell.
#[derive(Debug, Clone, Default)]
pub struct SnapshotArgs {
    /// The inputs of each snapshot, in order.
    pub snapshots: Vec<Vec<OsString>>,
}

const WITH: &str = "with";

impl Args for SnapshotArgs {
    fn augment_args(command: Command) -> Command {
        command.arg(
            Arg::new(WITH)
                .long(WITH)
                .value_name("RIGHT")
                .help("The other corpus; given again, a later snapshot")
                .long_help("The other corpus: files, folders or patterns; given again, a later snapshot")
                .num_args(1..)
                .required(true)
                .action(ArgAction::Append)
                .value_parser(value_parser!(OsString)),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SnapshotArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut with = SnapshotArgs::default();
        with.update_from_arg_matches(matches)?;
        Ok(with)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let snapshots = matches.get_occurrences::<OsString>(WITH).into_iter().flatten();
        self.snapshots = snapshots.map(|inputs| inputs.cloned().collect()).collect();
        Ok(())
    }
}

impl SnapshotArgs {
    /// The inputs of all snapshots, in order.
    pub fn inputs(&self) -> Vec<OsString> {
        self.snapshots.concat()
    }
}

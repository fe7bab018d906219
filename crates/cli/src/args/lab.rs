//! Options of the lab.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use lookalike::model::{Similarity, Threshold};
use lookalike::text::Profile;
use lookalike_lab::truth::Truth;

use super::job::ResourceArgs;
use super::{InputArgs, positive, whole};

/// The commands of the lab.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Run methods side by side: recall, precision, agreement, speed
    ///
    /// Each method accepts pairs by its own word. All those pairs are measured, or a sample of them; recall is the share of
    /// near-duplicates that a method finds.
    #[command(
        override_usage = "lookalike lab compare [OPTIONS] --output <DIR> <INPUT>...\n       lookalike lab compare [OPTIONS] --output <DIR> --sample"
    )]
    Compare(Box<LabCompareArgs>),
    /// Find the cheapest recipe that reaches a wanted recall and precision
    ///
    /// A sample of the corpus is drawn, the exact join tells its near-duplicates, and many methods and parameters are tried
    /// on it. recipe.toml is for lookalike dedup --recipe.
    #[command(
        override_usage = "lookalike lab tune [OPTIONS] --output <DIR> <INPUT>...\n       lookalike lab tune [OPTIONS] --output <DIR> --sample"
    )]
    Tune(Box<TuneArgs>),
    /// Estimate the recall and precision that a finished dedup reached
    ///
    /// Near-duplicates of a sample of its input are found by the exact join; those of which no document was removed were
    /// missed. Removals drawn at random are measured again.
    Check(Box<CheckArgs>),
    /// Judge a sample of pairs on a page, one after the other
    ///
    /// The page is on 127.0.0.1 and has keys for everything: d duplicate, n not, u unsure, 1 to 7 the kind of difference,
    /// arrows to move, z to undo. Ctrl-C ends it and counts the labels.
    Review(ReviewArgs),
    /// Repeat an experiment of a paper on a corpus, beside its published figures
    ///
    /// Without a number, all experiments are listed.
    #[command(
        override_usage = "lookalike lab experiment <NUMBER>... [OPTIONS] --output <DIR>\n       lookalike lab experiment --all [OPTIONS] --output <DIR>\n       lookalike lab experiment"
    )]
    Experiment(Box<ExperimentArgs>),
}

/// `lab compare`
#[derive(Debug, Args)]
pub struct LabCompareArgs {
    /// The corpus.
    #[command(flatten)]
    pub input: InputArgs,

    /// Folder for the results; a comparison that was begun in it goes on
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Methods with commas between, or all
    ///
    /// Parameters stand behind a colon, as in a4,simhash:n=3+5,k=3,minhash. lookalike methods lists them all.
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub methods: String,

    /// Near-duplicates: MEASURE/SHINGLE:THRESHOLD
    ///
    /// A measure of similarity, words per shingle, and the least similarity, such as edit:0.8, jaccard/5:0.8, jaccard/1:0.9 (sets of
    /// words), cosine/1:0.9 or cosine-tf:0.9. All are measured on words of --profile, but edit on those of yandex, as its paper does,
    /// unless --profile names another than web.
    #[arg(long, value_name = "TRUTH", default_value = "jaccard/5:0.8", value_parser = truth)]
    pub truth: Truth,

    /// Near-duplicates that recall is a share of: union or exact
    ///
    /// union: the near-duplicates that some method finds. exact: all that there are, by the exact join, which jaccard,
    /// cosine and containment have.
    #[arg(long, value_name = "POOL", default_value = "union", hide_possible_values = true)]
    pub pool: PoolArg,

    /// Measure no more pairs than this; of a larger pool, a sample of pairs that the same methods accept
    #[arg(long, value_name = "N", default_value = "200000", value_parser = positive)]
    pub most_measured: NonZeroUsize,

    /// Pairs for people to judge, in review.jsonl
    ///
    /// Random ones; lookalike lab review shows them.
    #[arg(long, value_name = "N", default_value = "100", value_parser = whole)]
    pub review: u64,

    /// Pairs of larger groups of documents with a common key are counted, and not in the pool
    #[arg(long, value_name = "N", default_value = "20000", value_parser = positive)]
    pub max_group: NonZeroUsize,

    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole)]
    pub seed: u64,

    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,

    /// Threads, memory, progress and the limit on rejected records.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// The near-duplicates that recall is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PoolArg {
    /// Near-duplicates that some method finds
    Union,
    /// All near-duplicates
    Exact,
}

impl LabCompareArgs {
    /// The words that similarity is measured on: those that were asked for, or those that suit the truth.
    pub fn profile(&self) -> Profile {
        let typed = &self.input.reading.profile;
        if *typed == Profile::web() { self.truth.profile() } else { typed.clone() }
    }
}

/// `lab tune`
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// The corpus.
    #[command(flatten)]
    pub input: InputArgs,

    /// Folder for the results; a search that was begun in it goes on
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Recall to reach: the share of near-duplicates that are found
    #[arg(long, value_name = "R", default_value = "0.95", value_parser = goal)]
    pub recall: f64,

    /// Precision to reach: the share of what is found that is right
    #[arg(long, value_name = "P", default_value = "0.95", value_parser = goal)]
    pub precision: f64,

    /// Measure: jaccard, containment or cosine
    #[arg(long, value_name = "M", default_value = "jaccard", value_parser = super::job::similarity)]
    pub similarity: Similarity,

    /// Length of a shingle, a sequence of N consecutive words
    #[arg(long, value_name = "N", default_value = "5", value_parser = positive)]
    pub shingle: NonZeroUsize,

    /// Least similarity of near-duplicates, from 0 to 1
    #[arg(long, value_name = "T", default_value = "0.8", value_parser = super::job::threshold)]
    pub threshold: Threshold,

    /// Most documents to try methods on
    ///
    /// They are drawn so that near-duplicates stay together.
    #[arg(long, value_name = "N", default_value = "20000", value_parser = positive)]
    pub documents: NonZeroUsize,

    /// A lexicon of another corpus, to be tried beside the corpus's own
    #[arg(long, value_name = "FILE")]
    pub lexicon: Option<PathBuf>,

    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole)]
    pub seed: u64,

    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,

    /// Threads, memory, progress and the limit on rejected records.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// `lab check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Folder of a finished run of lookalike dedup
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Its input, if it no longer lies where it did
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<OsString>,

    /// Most documents to look at
    ///
    /// They are drawn so that near-duplicates stay together.
    #[arg(long, value_name = "N", default_value = "50000", value_parser = positive)]
    pub documents: NonZeroUsize,

    /// Measure N removals again
    #[arg(long, value_name = "N", default_value = "2000", value_parser = positive)]
    pub removals: NonZeroUsize,

    /// Seed of every random choice; another one than that of lab tune draws other documents
    #[arg(long, value_name = "N", default_value = "2", value_parser = whole)]
    pub seed: u64,

    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,

    /// Threads, memory, progress and the limit on rejected records.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// `lab experiment`
#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// Numbers of experiments, such as E7
    #[arg(value_name = "NUMBER", conflicts_with = "all")]
    pub numbers: Vec<String>,

    /// All experiments, in one report
    #[arg(long)]
    pub all: bool,

    /// Folder for the results
    #[arg(short, long, value_name = "DIR", required_if_eq("all", "true"))]
    pub output: Option<PathBuf>,

    /// Your own corpus; given once for each file, folder or pattern
    ///
    /// By default a known collection of --data that suits the experiment, else a generated one.
    #[arg(long, value_name = "INPUT")]
    pub corpus: Vec<OsString>,

    /// Folder of known collections
    ///
    /// It has folders reuters, spam, revisions and two-crawls. By default ../shared/data, if it is there.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Look at no more documents than this, taken at random
    ///
    /// Only where an experiment holds them in memory: E1, E2, E4, E5, E7, E8 and E22 run whole jobs and look at all.
    #[arg(long, value_name = "N", default_value = "20000", value_parser = positive)]
    pub documents: NonZeroUsize,

    /// Options for reading the documents of `--corpus`.
    #[command(flatten)]
    pub reading: super::ReadingArgs,

    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole)]
    pub seed: u64,

    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,

    /// Threads, memory, progress and the limit on rejected records.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// `lab review`
#[derive(Debug, Args)]
pub struct ReviewArgs {
    /// The pairs: review.jsonl of lookalike lab compare or transfer
    ///
    /// JSON lines with n, a, b, similarity, methods, text_a and text_b.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// File for the labels; labels.jsonl beside FILE by default
    ///
    /// Each label is appended at once, and of several for one pair the last counts: a review that was begun goes on.
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,

    /// Port of the page on 127.0.0.1; 0 is any free one
    #[arg(long, value_name = "N", default_value = "0", conflicts_with = "summary")]
    pub port: u16,

    /// Name of the judge, for labels of several people in one file
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,

    /// Only count the labels that are there
    #[arg(long)]
    pub summary: bool,

    /// Print the counts as JSON instead of tables
    #[arg(long)]
    pub json: bool,
}

fn goal(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number <= 1.0);
    number.ok_or_else(|| "a share is wanted, above 0 and at most 1, such as 0.95".to_owned())
}

fn truth(text: &str) -> Result<Truth, String> {
    text.parse()
}

//! Options of jobs: what is asked for, and how the work is done.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::{Args, Subcommand, ValueEnum};
use lookalike::corpus::write::RowFormat;
use lookalike::corpus::{ListBudget, MaxRejected, ReadOptions};
use lookalike::engine::folder::begin_anew;
use lookalike::engine::recipe::{ClusterRule, Combine, JobRecipe, Keep, Task};
use lookalike::engine::{Settings, Shards, Spool};
use lookalike::model::{Similarity, Threshold};
use lookalike::presets::{GivenOptions, Preset};
use lookalike::request::{self, DocumentOptions, MatchingOptions};

use super::{InputArgs, ReadingArgs, max_rejected, other_field, positive, size};
use crate::exit::Failure;
use crate::progress::Style;

/// Options that define which documents are near-duplicates.
#[derive(Debug, Clone, Args)]
pub struct MatchArgs {
    /// Least similarity of near-duplicates, from 0 to 1
    ///
    /// A pair counts when its similarity, measured on both texts, is this or more; 1 means equal shingles.
    #[arg(long, value_name = "T", default_value = "0.8", help_heading = "Matching", value_parser = threshold)]
    pub threshold: Threshold,

    /// Length of a shingle, a sequence of N consecutive words
    ///
    /// Documents are compared by the shingles that both have. 1 means the set of words.
    #[arg(long, value_name = "N", default_value = "5", help_heading = "Matching", value_parser = positive)]
    pub shingle: NonZeroUsize,

    /// Measure: jaccard, containment, cosine, cosine-tf or edit
    ///
    /// A measure of similarity goes from 0 to 1. Of two sets of shingles, jaccard is the shared ones over all, containment the shared ones
    /// over those of one document, cosine the shared ones over the geometric mean of both sizes; cosine-tf counts each shingle as often as
    /// it occurs. edit compares the letters of both texts in their order, without shingles.
    #[arg(long, value_name = "M", default_value = "jaccard", help_heading = "Matching", value_parser = similarity)]
    pub similarity: Similarity,

    /// Method that proposes pairs; see lookalike methods
    ///
    /// Given several times, pairs count that any of them proposes. Parameters stand behind a colon, as in simhash:n=3+5,k=3,blocks=4 or
    /// minhash:values=256,family=classic. lookalike methods lists them all, lookalike methods NAME explains one.
    #[arg(long, value_name = "METHOD", default_value = "minhash", help_heading = "Matching")]
    pub method: Vec<String>,

    /// Wanted probability that a pair right at the threshold is proposed
    ///
    /// Recall is the share of all near-duplicates that are found. Pairs above the threshold are proposed more often. More recall takes
    /// more time and disk; the method exact misses nothing.
    #[arg(long, value_name = "R", default_value = "0.98", help_heading = "Matching", value_parser = request::recall)]
    pub recall: f64,

    /// Pairs to take of several methods: of any or of all
    #[arg(
        long,
        value_name = "WHICH",
        default_value = "any",
        help_heading = "Matching",
        hide_possible_values = true
    )]
    pub combine: CombineArg,

    /// One more method, which must accept what the others propose
    #[arg(long, value_name = "METHOD", help_heading = "Matching")]
    pub filter: Option<String>,

    /// Lexicon to use: words and how common they are, counted by lookalike lexicon
    ///
    /// Without it, methods that weigh words count them in the input.
    #[arg(long, value_name = "FILE", help_heading = "Matching")]
    pub lexicon: Option<PathBuf>,

    /// Report every pair that the method accepts, without measuring it
    #[arg(long, help_heading = "Matching")]
    pub unverified: bool,

    /// Compare only documents with the same value in this field
    ///
    /// @host is the host of the address.
    #[arg(long, value_name = "FIELD", help_heading = "Matching")]
    pub within: Option<String>,

    /// Largest group of documents with a common key that proposes all of its pairs
    ///
    /// Of larger ones, giant groups, dedup measures about as many pairs as they have documents, and pairs and compare write down the
    /// group instead of its pairs. By default 1000 for dedup and index, 20000 for pairs and compare.
    #[arg(long, value_name = "N", help_heading = "Matching", value_parser = positive)]
    pub max_group: Option<NonZeroUsize>,

    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Matching", value_parser = super::whole)]
    pub seed: u64,

    /// Replay the recipe of an earlier run, its recipe.toml
    ///
    /// A recipe is all settings that decide about results; it stands in place of the options of matching and reading.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Matching",
        conflicts_with_all = [
            "method", "combine", "filter", "similarity", "shingle", "threshold", "recall", "unverified", "within", "max_group", "seed",
            "input_format", "id_field", "text_field", "html_field", "url_field", "max_document_bytes", "revisions",
            "namespaces", "content", "profile",
        ]
    )]
    pub recipe: Option<PathBuf>,

    /// Work as a published pipeline does, such as fineweb; other options change it
    ///
    /// A preset decides about --method, --similarity, --shingle, --threshold and --profile, where these are not given; --recall chooses
    /// its bands anew. lookalike presets lists all of them, and says of each what differs from the original.
    #[arg(long, value_name = "NAME", help_heading = "Matching", conflicts_with = "recipe", value_parser = Preset::named)]
    pub preset: Option<&'static Preset>,

    /// The options that were typed, which a preset leaves as they are.
    #[arg(skip)]
    pub given: GivenOptions,

    /// Storage of the texts that candidate pairs are measured by: disk, none or auto
    ///
    /// disk keeps them beside the results until these are there, none reads the input again, auto does what is faster: it reads JSON
    /// lines again where they lie in files that are not compressed, and keeps the texts of everything else.
    #[arg(
        long,
        value_name = "WHERE",
        default_value = "auto",
        help_heading = "Work",
        hide_possible_values = true
    )]
    pub spool: SpoolArg,
}

/// The order in which documents are taken.
#[derive(Debug, Clone, Args)]
pub struct OrderArgs {
    /// Take documents in the order of this field, not of the input
    ///
    /// id orders them by their ids. Values are compared as numbers if all of them are numbers, else as bytes; documents without one come
    /// last. What is alike is in the order of ids, as bytes, then of the input. Results are those of a corpus that was sorted so: n counts
    /// in this order, and the first is the first in it.
    #[arg(long, value_name = "FIELD", help_heading = "Matching", conflicts_with = "recipe", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub order_field: Option<String>,
}

impl OrderArgs {
    /// Sets the order of a recipe that is not replayed.
    pub(super) fn apply_to(&self, recipe: &mut JobRecipe) {
        if self.order_field.is_some() {
            recipe.order.clone_from(&self.order_field);
        }
    }
}

/// Refuses a replayed recipe that orders documents, where they are taken as they come.
pub(super) fn require_input_order(recipe: JobRecipe) -> Result<JobRecipe, Failure> {
    match &recipe.order {
        None => Ok(recipe),
        Some(field) => Err(Failure::Usage(format!(
            "the recipe takes documents in the order of {field}, and this command takes them as they come; give a recipe without order"
        ))),
    }
}

/// Options of resources, progress and rejected records of a job; none of them changes a result.
#[derive(Debug, Clone, Args)]
pub struct ResourceArgs {
    /// Threads to work on; all cores by default
    #[arg(long, value_name = "N", help_heading = "Work", value_parser = positive)]
    pub threads: Option<NonZeroUsize>,

    /// Most memory to take; half of the machine's by default
    ///
    /// K, M and G stand for powers of 1024. At least 128M, 4M per thread and twice --max-document-bytes.
    #[arg(long, value_name = "SIZE", help_heading = "Work", value_parser = size)]
    pub memory: Option<u64>,

    /// Progress display: auto, plain, json or none
    ///
    /// auto is a bar on a terminal and a line every ten seconds elsewhere; plain is such lines and json a line of
    /// JSON every second, both with one more at the end. With json all else on standard error is JSON, too, with message or error;
    /// none is silence, but for errors.
    #[arg(
        long,
        value_name = "STYLE",
        default_value = "auto",
        help_heading = "Work",
        hide_possible_values = true
    )]
    pub progress: Style,

    /// End with exit code 3 when a record was rejected
    #[arg(long, help_heading = "Work")]
    pub strict: bool,

    /// Most records that may be rejected: a number, or a share such as 5%
    ///
    /// More end the run with exit code 4, before anything is decided. By default a tenth of a corpus of 100 records or more, and not all
    /// of a smaller one; 100% takes whatever can be read. Of two corpora each counts by itself.
    #[arg(long, value_name = "N|SHARE", help_heading = "Work", value_parser = max_rejected)]
    pub max_rejected: Option<MaxRejected>,

    /// Memory for the lists of files of all inputs.
    #[arg(skip)]
    lists: OnceLock<ListBudget>,
}

/// The beginning of a job: anew or not, and with which files.
#[derive(Debug, Clone, Copy, Args)]
pub struct StartArgs {
    /// Begin anew in a folder that holds another job, or a broken one
    ///
    /// Results and scratch files of that job are removed; files that no job wrote stay where they are.
    #[arg(long, help_heading = "Work")]
    pub force: bool,

    /// Leave out files that cannot be read, and count them
    ///
    /// Without it a job refuses to begin.
    #[arg(long, help_heading = "Work")]
    pub skip_unreadable: bool,
}

impl StartArgs {
    /// Options of reading with the choice about files that cannot be read.
    pub fn options(&self, options: ReadOptions) -> ReadOptions {
        ReadOptions { skip_unreadable: self.skip_unreadable, ..options }
    }

    /// Removes an earlier job from a folder if `--force` was given.
    pub fn clear_if_forced(&self, folder: &Path) -> Result<(), Failure> {
        if self.force { Ok(begin_anew(folder)?) } else { Ok(()) }
    }
}

/// The storage of the texts that candidates are measured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SpoolArg {
    /// In files, except of what can be read again as fast
    Auto,
    /// In files beside the results, until these are there
    Disk,
    /// Nowhere
    None,
}

/// Copies of the input shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WriteArg {
    /// No copies
    None,
    /// Those without the removed documents, in kept/
    Kept,
    /// Those with the removed documents alone, in removed/
    Removed,
}

/// Format of result tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// JSON lines
    Jsonl,
    /// Parquet
    Parquet,
}

/// `dedup`
#[derive(Debug, Args)]
pub struct DedupArgs {
    /// The corpus.
    #[command(flatten)]
    pub input: InputArgs,

    /// Folder for the results; lookalike-sample with --sample
    ///
    /// A new one, or one in which the same job was begun: then it goes on.
    #[arg(short, long, value_name = "DIR", required_unless_present_any = ["sample", "plan"])]
    pub output: Option<PathBuf>,

    /// Also remove what another corpus, or an index, has
    ///
    /// Given once for each file, folder or pattern of the other corpus, or once for an index. Its own documents stay as they are.
    #[arg(long, value_name = "OTHER")]
    pub against: Vec<OsString>,

    /// Names of fields in the other corpus, such as text=body,id=key
    ///
    /// Before the = stands id, text, html or url, or a field that --within, --keep or --order-field names.
    #[arg(long, value_name = "NAME=NAME", value_delimiter = ',', requires = "against", conflicts_with = "recipe", value_parser = other_field)]
    pub against_fields: Vec<(String, String)>,

    /// Add all documents to an index, with what became of them
    ///
    /// It is made if it is not there. Given the same index by --against, a corpus that comes in parts is deduplicated part by part as if it
    /// had come at once.
    #[arg(long, value_name = "INDEX")]
    pub into: Option<PathBuf>,

    /// One to keep: first, longest, shortest or field:NAME
    ///
    /// The document of near-duplicates that stays: the first of the input, the one with most or fewest words, or the one with the lowest
    /// value of a field (field:NAME:desc: the highest).
    #[arg(long, value_name = "WHICH", default_value = "first", value_parser = keep, conflicts_with = "recipe")]
    pub keep: Keep,

    /// Clustering rule: star or components
    ///
    /// star removes a document only for a kept one, its witness, that it is similar to; components removes all but one of
    /// documents that hang together through others, so that a witness may be less similar.
    #[arg(
        long,
        value_name = "RULE",
        default_value = "star",
        hide_possible_values = true,
        conflicts_with = "recipe"
    )]
    pub cluster: ClusterArg,

    /// The order.
    #[command(flatten)]
    pub order: OrderArgs,

    /// Copies of the input: kept, removed or none
    ///
    /// kept: its files without the removed documents, in kept/. removed: its files with these alone, in removed/.
    #[arg(long, value_name = "WHAT", default_value = "none", hide_possible_values = true)]
    pub write: WriteArg,

    /// Give copied records their cluster and its size, with --write kept
    ///
    /// A cluster is a kept document with those that were removed for it.
    #[arg(long)]
    pub annotate: bool,

    /// Format of the result tables: jsonl or parquet
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", hide_possible_values = true)]
    pub format: TableFormat,

    /// Say from a sample how long it takes and how much goes; write nothing
    #[arg(long)]
    pub plan: bool,

    /// Print the counts of summary.json instead of a table
    ///
    /// The counts of the run as one JSON object on standard output, as the folder of the results has them. With --sample, recall and precision
    /// stand beside them; with --plan it is the forecast.
    #[arg(long)]
    pub json: bool,

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

/// `lexicon`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct LexiconArgs {
    /// The subcommand, if one is given.
    #[command(subcommand)]
    pub command: Option<LexiconCommand>,

    /// The corpus.
    #[command(flatten)]
    pub input: InputArgs,

    /// File for the lexicon
    #[arg(short, long, value_name = "FILE", required = true)]
    pub output: Option<PathBuf>,

    /// Print the counts as one JSON object instead of a table
    #[arg(long)]
    pub json: bool,

    /// Threads, memory, progress and the limit on rejected records.
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// The commands on lexicons.
#[derive(Debug, Subcommand)]
pub enum LexiconCommand {
    /// Show what a lexicon says: totals, its most common words, or some words
    Show(LexiconShowArgs),
}

/// `lexicon show`
#[derive(Debug, Args)]
pub struct LexiconShowArgs {
    /// The lexicon
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Words to show, as they are in the lexicon; else those of most documents
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,

    /// Number of the most common words to show
    #[arg(short, long, value_name = "N", default_value = "20", value_parser = super::whole)]
    pub number: u64,

    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
}

impl LexiconArgs {
    /// A recipe by which words are read and counted; nothing is compared.
    pub fn recipe(&self) -> JobRecipe {
        self.input.reading.document_options().recipe(Task::Pairs)
    }
}

/// `methods`
#[derive(Debug, Args)]
pub struct MethodsArgs {
    /// One method, to be explained; else all are listed
    #[arg(value_name = "NAME")]
    pub name: Option<String>,

    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `presets`
#[derive(Debug, Args)]
pub struct PresetsArgs {
    /// One preset, to be shown with its recipe; else all are listed
    #[arg(value_name = "NAME", value_parser = Preset::named)]
    pub preset: Option<&'static Preset>,
}

/// `pairs`
#[derive(Debug, Args)]
pub struct PairsArgs {
    /// The corpus.
    #[command(flatten)]
    pub input: InputArgs,

    /// File for the pairs, .jsonl or .parquet
    ///
    /// .jsonl may have .gz, .zst, .bz2, .xz or .lz4 behind it. Beside it, a folder with .job behind its name holds the recipe, the counts
    /// and what was rejected.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Also write measured pairs below the threshold
    #[arg(long)]
    pub all: bool,

    /// Print the counts of summary.json instead of a table
    ///
    /// The counts of the run as one JSON object on standard output, as the folder of the results has them.
    #[arg(long)]
    pub json: bool,

    /// The order.
    #[command(flatten)]
    pub order: OrderArgs,

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

/// [`Combine`] as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CombineArg {
    /// Pairs that any method proposes
    Any,
    /// Pairs that all methods propose
    All,
}

/// [`ClusterRule`] as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClusterArg {
    /// A document is removed only for a kept one that it is similar to
    Star,
    /// All but one of documents that hang together are removed
    Components,
}

impl ResourceArgs {
    /// Options of reading with the number of records that may be rejected, and the memory for lists of files, which all inputs share.
    pub fn reading(&self, options: ReadOptions) -> ReadOptions {
        let lists = self
            .lists
            .get_or_init(|| self.settings(SpoolArg::Auto).list_budget(options.max_document_bytes as u64))
            .clone();
        ReadOptions { max_rejected: self.max_rejected.unwrap_or_default(), lists, ..options }
    }

    /// Returns the threads, memory and spool of the job.
    pub fn settings(&self, spool: SpoolArg) -> Settings {
        let spool = match spool {
            SpoolArg::Auto => Spool::Auto,
            SpoolArg::Disk => Spool::Disk,
            SpoolArg::None => Spool::None,
        };
        request::settings(self.threads.map(NonZeroUsize::get), self.memory, spool)
    }
}

impl DedupArgs {
    /// The recipe that these options ask for.
    pub fn recipe(&self) -> Result<JobRecipe, Failure> {
        let cluster = match self.cluster {
            ClusterArg::Star => ClusterRule::Star,
            ClusterArg::Components => ClusterRule::Components,
        };
        let documents = self.matching.documents(&self.input.reading);
        let mut recipe =
            self.matching.options().dedup(&documents, &self.keep, cluster, !self.against.is_empty())?;
        self.order.apply_to(&mut recipe);
        recipe.other_fields.extend(self.against_fields.iter().cloned());
        recipe.other_options()?;
        Ok(recipe)
    }

    /// Returns the copies of the input shards to write.
    pub fn shards(&self) -> Shards {
        match self.write {
            WriteArg::None => Shards::None,
            WriteArg::Kept => Shards::Kept,
            WriteArg::Removed => Shards::Removed,
        }
    }

    /// Format of the tables.
    pub fn row_format(&self) -> RowFormat {
        self.format.into()
    }
}

impl From<TableFormat> for RowFormat {
    fn from(format: TableFormat) -> Self {
        match format {
            TableFormat::Jsonl => RowFormat::Jsonl,
            TableFormat::Parquet => RowFormat::Parquet,
        }
    }
}

impl PairsArgs {
    /// The recipe that these options ask for.
    pub fn recipe(&self) -> Result<JobRecipe, Failure> {
        let documents = self.matching.documents(&self.input.reading);
        let mut recipe = self.matching.options().pairs(&documents, self.all)?;
        self.order.apply_to(&mut recipe);
        Ok(recipe)
    }
}

impl MatchArgs {
    /// Returns the options of matching in the form that recipes are made from.
    pub fn options(&self) -> MatchingOptions {
        let mut options = self.typed_options();
        if let Some(preset) = self.preset {
            preset.fill_matching(&self.given, &mut options);
        }
        options
    }

    /// Returns the options of reading in the form that recipes are made from.
    pub fn documents(&self, reading: &ReadingArgs) -> DocumentOptions {
        let mut options = reading.document_options();
        if let Some(preset) = self.preset {
            preset.fill_documents(&self.given, &mut options);
        }
        options
    }

    /// The options of matching as they were typed, without those of a preset.
    fn typed_options(&self) -> MatchingOptions {
        MatchingOptions {
            methods: self.method.clone(),
            combine: match self.combine {
                CombineArg::Any => Combine::Any,
                CombineArg::All => Combine::All,
            },
            filter: self.filter.clone(),
            lexicon: self.lexicon.clone(),
            similarity: self.similarity,
            shingle: self.shingle.get(),
            threshold: self.threshold,
            recall: self.recall,
            unverified: self.unverified,
            within: self.within.clone(),
            max_group: self.max_group.map(NonZeroUsize::get),
            seed: self.seed,
            recipe: self.recipe.clone(),
        }
    }
}

pub(super) fn similarity(text: &str) -> Result<Similarity, String> {
    text.parse()
}

pub(super) fn threshold(text: &str) -> Result<Threshold, String> {
    text.parse()
}

fn keep(text: &str) -> Result<Keep, String> {
    text.parse()
}

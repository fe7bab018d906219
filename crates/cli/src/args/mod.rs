//! The commands and options of the program. Their doc comments are the help texts.

mod bench;
mod census;
mod check;
pub mod help;
mod index;
mod job;
mod judgments;
mod lab;
mod program;
mod serve;
mod two_corpora;
mod urls;

use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use lookalike::corpus::{Corpus, Fields, Format, ListBudget, MaxRejected, Namespaces, ReadOptions};
use lookalike::engine::{Settings, Spool};
use lookalike::presets::GivenOptions;
use lookalike::request::{self, DocumentOptions, size};
use lookalike::text::Profile;
use lookalike::text::extract::ContentMode;

use crate::console::print_message;
use crate::exit::Failure;
use crate::progress::Style;

pub use bench::{BenchCommand, BenchServeArgs};
pub use census::{
    CensusCommand, CensusCompareArgs, CensusIndexArgs, CensusIpArgs, CensusSampleArgs, CensusSizeArgs,
    CensusWalkArgs, IndexKindArg, QueryArgs, WalkMethodArg,
};
pub use check::CheckFolderArgs;
pub use index::{
    IndexAddArgs, IndexCommand, IndexCreateArgs, IndexInfoArgs, IndexMergeArgs, IndexQueryArgs,
    IndexRemoveArgs, WritingArgs,
};
pub use job::{
    ClusterArg, CombineArg, DedupArgs, LexiconArgs, LexiconCommand, LexiconShowArgs, MatchArgs, MethodsArgs,
    OrderArgs, PairsArgs, PresetsArgs, ResourceArgs, SpoolArg, StartArgs, TableFormat, WriteArg,
};
pub use judgments::{
    JudgmentsCommand, JudgmentsDedupArgs, JudgmentsStatsArgs, KeepArg, NearArgs, OthersArg, OutputArgs,
    QrelsArgs, RunsCommand, RunsDedupArgs,
};
pub use lab::{CheckArgs, ExperimentArgs, LabCommand, LabCompareArgs, PoolArg, ReviewArgs, TuneArgs};
pub use program::{CompletionsArgs, ManArgs, ShellArg};
pub use serve::{LogArg, ServeArgs};
pub use two_corpora::{CompareArgs, SegmentArg, TransferArgs, right_segments};
pub use urls::{MatchingArg, SnapshotArgs, UrlsArgs};

/// Finds near-duplicate documents inside and between web-scale text corpora
///
/// Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage,
/// 3 done with rejected records under --strict, 4 more records rejected than --max-rejected allows, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "lookalike", version, arg_required_else_help = true)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,

    /// Print errors only: no progress, no messages, no counts
    ///
    /// Results that a command is there to print still come: documents, answers, estimates, and the object of --json.
    #[arg(short, long, global = true, display_order = 900)]
    pub quiet: bool,
}

impl Cli {
    /// The whole command line, with its help arranged.
    pub fn arranged() -> clap::Command {
        help::arrange(Self::command())
    }

    /// Reads what was typed, and how progress is to be shown.
    pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<(Self, Style), clap::Error> {
        let mut command = Self::arranged();
        let matches = command.try_get_matches_from_mut(arguments)?;
        let mut deepest = &matches;
        while let Some((_, further)) = deepest.subcommand() {
            deepest = further;
        }
        // Commands without the option tell everything.
        let style = deepest.try_get_one::<Style>("progress").ok().flatten().copied().unwrap_or(Style::Auto);
        let mut cli = Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        if let Some(matching) = cli.command.matching_mut() {
            matching.given = given_options(deepest);
        }
        Ok((cli, style))
    }
}

/// The names of the options that were typed, without those that have their default value.
fn given_options(matches: &ArgMatches) -> GivenOptions {
    let typed = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
    matches.ids().map(clap::Id::as_str).filter(typed).map(str::to_owned).collect()
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find near-duplicates inside a corpus and keep one of each
    ///
    /// Two documents are near-duplicates when enough of their shingles, the sequences of a few words, are the same. Every removed document
    /// has a witness: a kept document that it was measured against, with a similarity at or above the threshold. The folder
    /// has removed.jsonl, clusters.jsonl, rejected.jsonl (what could not be read), summary.json with all counts, recipe.toml to
    /// do the same again, and report.html to judge it by. A job that was stopped goes on with the same command.
    #[command(
        override_usage = "lookalike dedup [OPTIONS] --output <DIR> <INPUT>...\n       lookalike dedup [OPTIONS] --sample"
    )]
    Dedup(Box<DedupArgs>),
    /// Write every near-duplicate pair with its measured similarity
    ///
    /// Two documents are near-duplicates when enough of their shingles, the sequences of a few words, are the same.
    #[command(
        override_usage = "lookalike pairs [OPTIONS] --output <FILE> <INPUT>...\n       lookalike pairs [OPTIONS] --output <FILE> --sample"
    )]
    Pairs(Box<PairsArgs>),
    /// Find which documents of one corpus are in another
    ///
    /// Writes every pair that a method accepts with its measured similarity, the best match of each left document, and what is
    /// counted over them, by method and by segment of the right side.
    #[command(override_usage = "lookalike compare [OPTIONS] --output <DIR> <LEFT>... --with <RIGHT>...")]
    Compare(Box<CompareArgs>),
    /// Carry relevance judgments from an old corpus to a new one
    ///
    /// Judgments go to near-duplicates of judged documents: word sets with a Jaccard similarity of at least 0.9, unless told
    /// otherwise. Grades stay as they are.
    #[command(
        override_usage = "lookalike transfer [OPTIONS] -o <DIR> --judgments <QRELS>... --from <OLD>... --to <NEW>..."
    )]
    Transfer(Box<TransferArgs>),
    /// Find which addresses corpora share, and what became of their pages
    ///
    /// Writes shared addresses with their documents and how similar these are (overlap.jsonl), tables of domains and of what
    /// survived (domains.tsv, tlds.tsv, survival.tsv), counts (summary.json), what could not be read (rejected.jsonl) and a report.
    ///
    /// With --with given several times, all of this compares LEFT with the first, and snapshots.tsv and snapshots.jsonl say for each
    /// snapshot: still, the addresses of LEFT that are there; always, those that are in it and all before it; new, its addresses
    /// that were nowhere before; unchanged and near, the pages of LEFT with equal words, and with a similarity of --threshold or
    /// more; shingles_there and shingles_all, the mean share of a left page's 5-word shingles that its version has, over pages that
    /// are there and over all pages, gone ones with 0; kept, the addresses of the snapshot before that are there, and with
    /// _since behind their names what changed since then; all of it also by top-level domain. Half-lives, in summary.json, are
    /// those of exponential curves through the shares, in snapshots.
    #[command(
        override_usage = "lookalike urls [OPTIONS] --output <DIR> <LEFT>... --with <RIGHT>... [--with <RIGHT>...]..."
    )]
    Urls(Box<UrlsArgs>),
    /// Keep documents on disk, and find what others are near-duplicates of
    #[command(subcommand, arg_required_else_help = true)]
    Index(IndexCommand),
    /// Count the words of a corpus, for methods that weigh them
    ///
    /// A method reads words by its own profile: imatch by kolcz, a1 to a12 by yandex. Give the same one by --profile,
    /// and the --content that the run will have.
    #[command(
        override_usage = "lookalike lexicon [OPTIONS] --output <FILE> <INPUT>...\n       lookalike lexicon show <FILE> [WORD]..."
    )]
    Lexicon(Box<LexiconArgs>),
    /// List all methods, or explain one
    Methods(MethodsArgs),
    /// List settings of published pipelines, or show one
    ///
    /// A preset is shown with what differs from the original. It can be written to a file, changed, and given to --recipe; lookalike
    /// dedup --preset NAME works by it.
    Presets(PresetsArgs),
    /// Count relevance judgments, and keep one of each near-duplicate
    #[command(subcommand, arg_required_else_help = true)]
    Judgments(JudgmentsCommand),
    /// Keep one of each near-duplicate in ranked results
    #[command(subcommand, arg_required_else_help = true)]
    Runs(RunsCommand),
    /// Estimate how large search engines are, and how much they share
    #[command(subcommand, arg_required_else_help = true)]
    Census(CensusCommand),
    /// Measure methods on a corpus, and choose by goal
    #[command(subcommand, arg_required_else_help = true)]
    Lab(LabCommand),
    /// Look at, convert, make and patch corpora
    #[command(subcommand, arg_required_else_help = true)]
    Corpus(CorpusCommand),
    /// Show two documents word by word
    ///
    /// Words of both, of the first and of the second alone, and how similar the two are.
    Diff(DiffArgs),
    /// Check that results, or an index, are as they were written
    ///
    /// Every file is read and compared with the digest in summary.json, and the counts of the tables with each other: documents are kept,
    /// removed or rejected, every removal has a witness (the kept document that it was measured against) that is kept, copies hold as many
    /// documents as they should. Exit code 1 and a line for each mistake when something is wrong. An index is checked as by lookalike index
    /// check.
    Check(CheckFolderArgs),
    /// Measure how a running service answers
    #[command(subcommand, arg_required_else_help = true)]
    Bench(BenchCommand),
    /// Serve an index or a finished job over HTTP, to programs and people
    ///
    /// Programs find an API, which is described at /openapi.json, people find pages. Ctrl-C or a polite kill ends it: what is under way is
    /// finished first.
    Serve(ServeArgs),
    /// Print a script that completes commands and options in a shell
    ///
    /// For bash, zsh, fish or PowerShell; the examples show where each looks for it.
    Completions(CompletionsArgs),
    /// Write a manual page for every command
    ///
    /// lookalike.1, lookalike-dedup.1 and so on, for man.
    Man(ManArgs),
}

impl Command {
    /// The options of matching, if the command has some.
    fn matching_mut(&mut self) -> Option<&mut MatchArgs> {
        match self {
            Command::Dedup(args) => Some(&mut args.matching),
            Command::Pairs(args) => Some(&mut args.matching),
            Command::Compare(args) => Some(&mut args.matching),
            Command::Transfer(args) => Some(&mut args.matching),
            Command::Index(IndexCommand::Create(args)) => Some(&mut args.matching),
            Command::Judgments(JudgmentsCommand::Dedup(args)) => Some(&mut args.near.matching),
            Command::Runs(RunsCommand::Dedup(args)) => Some(&mut args.near.matching),
            _ => None,
        }
    }
}

/// The commands on corpora.
#[derive(Debug, Subcommand)]
pub enum CorpusCommand {
    /// Count documents, words, scripts, lengths, rejections and exact duplicates
    #[command(
        override_usage = "lookalike corpus stats [OPTIONS] <INPUT>...\n       lookalike corpus stats [OPTIONS] --sample"
    )]
    Stats(StatsArgs),
    /// Show the first documents, and what they become
    #[command(
        override_usage = "lookalike corpus head [OPTIONS] <INPUT>...\n       lookalike corpus head [OPTIONS] --sample"
    )]
    Head(HeadArgs),
    /// Write any input as JSON lines, Parquet or WARC
    ///
    /// Fields of JSON lines, tables and Parquet other than id, address and text are kept: as members in JSON lines, as columns in
    /// Parquet (text, numbers and truth values by what the first 64 MB hold, everything else as JSON text), as metadata records in WARC.
    #[command(
        override_usage = "lookalike corpus convert [OPTIONS] --output <FILE> <INPUT>...\n       lookalike corpus convert [OPTIONS] --output <FILE> --sample"
    )]
    Convert(ConvertArgs),
    /// Make a synthetic web corpus, or two crawls, with a known truth
    Generate(GenerateArgs),
    /// Write a corpus without the documents that a list names
    ///
    /// Shards are copied under their names, compressed as they were; records that stay are copied byte for byte where the
    /// format allows it, files that are documents as files, and pages of a wiki go to kept.jsonl.zst. The same command goes on after
    /// a stop.
    #[command(override_usage = "lookalike corpus apply [OPTIONS] --removed <LIST> --output <DIR> <INPUT>...")]
    Apply(ApplyArgs),
}

/// The documents to read, and the options for reading them.
#[derive(Debug, Clone, Args)]
pub struct InputArgs {
    /// Files, folders, patterns, s3://, gs:// or az:// addresses, or - for standard input
    ///
    /// The format is seen from the content: JSON lines, Parquet, WARC (0.18 to 1.1) and WET, ARC, TREC web and
    /// text, MediaWiki XML, mbox, Maildir, CSV and TSV, plain files (one document each); compressed with gzip,
    /// zstd, bzip2, xz or lz4 or not at all. Inside folders, what is no data is left out and counted: names that begin with . or
    /// _, README and LICENSE files, checksums, images, archives and the like. A file that is named itself is always read.
    #[arg(value_name = "INPUT", required_unless_present = "sample")]
    pub inputs: Vec<OsString>,

    /// Read the built-in generated corpus instead of INPUT
    #[arg(long, conflicts_with = "inputs")]
    pub sample: bool,

    /// Options for reading the documents.
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// Opens a corpus, and tells what was left out of its folders.
pub(crate) fn open(inputs: &[impl AsRef<OsStr>], options: ReadOptions) -> Result<Corpus, Failure> {
    let corpus = Corpus::open(inputs, options)?;
    if !corpus.left_out().is_empty() {
        print_message(corpus.left_out());
    }
    Ok(corpus)
}

impl InputArgs {
    /// Opens the corpus that was asked for, however many of its records are rejected. Nothing of it is read: a caller with a cap on
    /// memory bounds the decoders first, and then calls [`Corpus::check_first_records`] for the fields that were named.
    pub fn corpus(&self, work: Option<(&WorkArgs, usize)>) -> Result<Corpus, Failure> {
        let (max_rejected, options) = (MaxRejected::EVERYTHING, self.reading.options());
        let lists = work.map(|(work, threads)| work.lists(threads, options.max_document_bytes));
        self.corpus_with(ReadOptions { max_rejected, lists: lists.unwrap_or_default(), ..options })
    }

    /// Opens it with other options than were typed.
    pub fn corpus_with(&self, options: ReadOptions) -> Result<Corpus, Failure> {
        if self.inputs.iter().filter(|input| *input == "-").count() > 1 {
            return Err(Failure::Usage("standard input can be read only once; give - once".to_owned()));
        }
        if self.sample {
            return Ok(Corpus::in_memory("sample.jsonl", sample(), options));
        }
        open(&self.inputs, options)
    }

    /// Returns the part of a document that is taken as its text.
    pub fn content_mode(&self) -> ContentMode {
        self.reading.content_mode()
    }
}

/// Options for reading documents and for taking text from them.
#[derive(Debug, Clone, Args)]
pub struct ReadingArgs {
    /// Format of every input, instead of what its content shows
    ///
    /// One of jsonl, parquet, warc (also WET), arc, trec, mediawiki, mbox, email, csv, tsv, html, text, list (of
    /// addresses, also with an id and a tab before each).
    #[arg(long, value_name = "FORMAT", help_heading = "Reading", value_parser = request::format)]
    pub input_format: Option<Format>,

    /// Field or column with a document's id
    #[arg(long, value_name = "NAME", default_value = "id", help_heading = "Reading")]
    pub id_field: String,

    /// Field or column with its text
    #[arg(long, value_name = "NAME", default_value = "text", help_heading = "Reading")]
    pub text_field: String,

    /// Field or column with its HTML, if it has no text
    #[arg(long, value_name = "NAME", default_value = "html", help_heading = "Reading")]
    pub html_field: String,

    /// Field or column with its address
    #[arg(long, value_name = "NAME", default_value = "url", help_heading = "Reading")]
    pub url_field: String,

    /// Longer records are rejected
    ///
    /// K and M stand for powers of 1024; at most 128M. Memory grows with the longest record that is accepted.
    #[arg(long, value_name = "SIZE", default_value = "32M", help_heading = "Reading", value_parser = request::document_size)]
    pub max_document_bytes: usize,

    /// MediaWiki: every revision is a document, not only the last
    #[arg(long, help_heading = "Reading")]
    pub revisions: bool,

    /// MediaWiki: namespaces to read, such as 0,4, or all
    #[arg(long, value_name = "LIST", default_value = "0", help_heading = "Reading", value_parser = request::namespaces)]
    pub namespaces: Namespaces,

    /// Part of a document to take: page, main or email
    ///
    /// page is all visible text, main leaves out menus and footers, email is the subject and body of a message.
    /// By default the page; under the profile kolcz, messages are read as e-mail.
    #[arg(long, value_name = "CONTENT", help_heading = "Text", hide_possible_values = true)]
    pub content: Option<ContentArg>,

    /// Recipe from text to words: web, thesis, kolcz or yandex
    ///
    /// Parameters can be changed behind a colon, as in web:words=dictionary,min-letters=2.
    #[arg(long, value_name = "PROFILE", default_value = "web", help_heading = "Text", value_parser = request::profile)]
    pub profile: Profile,
}

impl ReadingArgs {
    /// Returns the options as recipes store them.
    pub fn recipe(&self) -> lookalike::engine::recipe::ReadSettings {
        self.document_options().recipe(lookalike::engine::recipe::Task::Dedup).reading
    }

    /// Returns the options of reading in the form that recipes are made from.
    pub fn document_options(&self) -> DocumentOptions {
        let content = self.content.map(|content| match content {
            ContentArg::Page => ContentMode::Page,
            ContentArg::Main => ContentMode::Main,
            ContentArg::Email => ContentMode::Email,
        });
        DocumentOptions { reading: self.options(), content, profile: self.profile.clone() }
    }

    /// Returns the options by which records become documents.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            fields: Fields {
                id: self.id_field.clone(),
                text: self.text_field.clone(),
                html: self.html_field.clone(),
                url: self.url_field.clone(),
            },
            max_document_bytes: self.max_document_bytes,
            revisions: self.revisions,
            namespaces: self.namespaces.clone(),
            format: self.input_format,
            ..ReadOptions::default()
        }
    }

    /// Returns the part of a document that is taken as its text.
    pub fn content_mode(&self) -> ContentMode {
        self.document_options().content_mode()
    }
}

/// [`ContentMode`] as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ContentArg {
    /// All visible text
    Page,
    /// The main content of a page, without menus and footers
    Main,
    /// Subject and body of an e-mail message
    Email,
}

/// The name of a field in the second corpus, behind what it is in the first.
fn other_field(text: &str) -> Result<(String, String), String> {
    let names = text.split_once('=').map(|(here, there)| (here.trim(), there.trim()));
    match names {
        Some((here, there)) if !here.is_empty() && !there.is_empty() => {
            Ok((here.to_owned(), there.to_owned()))
        }
        _ => Err("two names with = between are wanted, such as text=body".to_owned()),
    }
}

fn max_rejected(text: &str) -> Result<MaxRejected, String> {
    text.parse()
}

/// Options of memory, progress and rejected records; none of them changes a result.
#[derive(Debug, Clone, Args)]
pub struct WorkArgs {
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
    /// More end the run with exit code 4. By default a tenth of a corpus of 100 records or more, and not all
    /// of a smaller one; 100% takes whatever can be read.
    #[arg(long, value_name = "N|SHARE", help_heading = "Work", value_parser = max_rejected)]
    pub max_rejected: Option<MaxRejected>,

    /// File for every rejection, as JSON lines
    ///
    /// Each line has source, position, unit (byte of the uncompressed shard, or row) and reason.
    #[arg(long, value_name = "FILE", help_heading = "Work")]
    pub rejected: Option<PathBuf>,

    /// Most memory to take; half of the machine's by default
    ///
    /// K, M and G stand for powers of 1024. At least 128M, 4M per thread and twice --max-document-bytes.
    #[arg(long, value_name = "SIZE", help_heading = "Work", value_parser = size)]
    pub memory: Option<u64>,
}

impl WorkArgs {
    /// Allows the readers of a corpus their share of memory; returns how the work is done, on no more threads than there is memory for.
    pub fn settings(&self, corpus: &Corpus, threads: usize) -> Result<Settings, Failure> {
        let settings = request::settings(Some(threads), self.memory, Spool::Auto);
        let threads = settings.bound_decoders(corpus)?;
        Ok(Settings { threads, ..settings })
    }

    /// Options of reading with the number of records that may be rejected, and the memory for the list of files.
    pub fn reading(&self, options: ReadOptions, threads: usize) -> ReadOptions {
        let lists = self.lists(threads, options.max_document_bytes);
        ReadOptions { max_rejected: self.max_rejected.unwrap_or_default(), lists, ..options }
    }

    /// Memory for the list of files of work on so many threads, with documents of up to so many bytes.
    pub fn lists(&self, threads: usize, max_document_bytes: usize) -> ListBudget {
        request::settings(Some(threads), self.memory, Spool::Auto).list_budget(max_document_bytes as u64)
    }
}

/// `corpus stats`
#[derive(Debug, Args)]
pub struct StatsArgs {
    /// The corpus.
    #[command(flatten)]
    pub input: InputArgs,

    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,

    /// Threads to work on; all cores by default
    #[arg(long, value_name = "N", help_heading = "Work", value_parser = positive)]
    pub threads: Option<NonZeroUsize>,

    /// Memory, progress and the handling of rejected records.
    #[command(flatten)]
    pub work: WorkArgs,
}

impl StatsArgs {
    /// Number of threads.
    pub fn threads(&self) -> usize {
        threads(self.threads)
    }
}

impl ApplyArgs {
    /// Number of threads.
    pub fn threads(&self) -> usize {
        threads(self.threads)
    }
}

/// As many threads as were asked for, or as there are cores.
fn threads(wanted: Option<NonZeroUsize>) -> usize {
    let all = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
    wanted.map_or_else(all, NonZeroUsize::get)
}

/// `corpus head`
#[derive(Debug, Args)]
pub struct HeadArgs {
    /// The corpus.
    #[command(flatten)]
    pub input: InputArgs,

    /// Number of documents to show
    #[arg(short, long, value_name = "N", default_value = "10", value_parser = whole)]
    pub number: u64,

    /// Form of each document: text, words, sentences or shingles
    #[arg(long, value_name = "WHAT", default_value = "text", hide_possible_values = true)]
    pub show: Show,

    /// Length of a shingle, a sequence of N consecutive words
    #[arg(long, value_name = "N", default_value = "5", value_parser = positive)]
    pub shingle: NonZeroUsize,

    /// End with exit code 3 when a record was rejected
    #[arg(long)]
    pub strict: bool,
}

/// The form in which `corpus head` shows a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Show {
    /// Its text
    Text,
    /// Its words
    Words,
    /// Its sentences, each as its words
    Sentences,
    /// Its shingles, each with its hash
    Shingles,
}

/// `diff`
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// First document: a file, or a corpus and an id, as in pages.jsonl#page-7
    ///
    /// A file with one document in it needs no id. Of several documents with the id the first is taken. Either A
    /// or B can be - for standard input; with an id behind it, -- must stand before both.
    #[arg(value_name = "A")]
    pub a: OsString,

    /// Second document
    #[arg(value_name = "B")]
    pub b: OsString,

    /// Length of a shingle, a sequence of N consecutive words
    #[arg(long, value_name = "N", default_value = "5", value_parser = positive)]
    pub shingle: NonZeroUsize,

    /// Show all equal words instead of those around a change
    #[arg(long)]
    pub all: bool,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,

    /// Use of colours: auto, always or never
    ///
    /// auto is on a terminal, unless the variable NO_COLOR is set. Without colours, [-words-] stand only in A and
    /// {+words+} only in B.
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    pub color: ColorArg,

    /// Options for reading the documents.
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// The use of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `corpus convert`
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The corpus.
    #[command(flatten)]
    pub input: InputArgs,

    /// File to write; its ending tells the format
    ///
    /// .jsonl, .warc (both also with .gz, .zst, .bz2, .xz or .lz4) or .parquet. It appears when it is whole.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Print the counts as one JSON object instead of a message
    #[arg(long)]
    pub json: bool,

    /// Memory, progress and the handling of rejected records.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `corpus apply`
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// The corpus.
    #[command(flatten)]
    pub input: InputArgs,

    /// List of documents that go: removed.jsonl of a job, or an id a line
    ///
    /// It may be compressed. Lines of JSON have id, n or both.
    #[arg(long, value_name = "LIST")]
    pub removed: PathBuf,

    /// Key by which the list names documents: id or n
    ///
    /// By id all documents go that bear a listed id. By n, which counts all records of the input from 0, single documents go;
    /// the input must be the one that the list was made from, and is checked by the ids of the list.
    #[arg(long, value_name = "WHAT", default_value = "id", hide_possible_values = true)]
    pub by: ByArg,

    /// New folder for the corpus, or one in which the same was begun
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Print the counts as one JSON object instead of a table
    #[arg(long)]
    pub json: bool,

    /// Threads to work on; all cores by default
    #[arg(long, value_name = "N", help_heading = "Work", value_parser = positive)]
    pub threads: Option<NonZeroUsize>,

    /// Memory, progress and the handling of rejected records.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// The key by which a list names documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ByArg {
    /// Their ids
    Id,
    /// Their ordinals in the input
    N,
}

/// `corpus generate`
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// Number of documents; with --crawls, of the new crawl
    #[arg(long, value_name = "N", default_value = "10000", value_parser = whole)]
    pub documents: u64,

    /// Seed: the same seed gives the same corpus
    #[arg(long, value_name = "S", default_value = "1", value_parser = whole)]
    pub seed: u64,

    /// File for the documents, .jsonl; with --crawls a new folder
    ///
    /// .jsonl may have .gz, .zst, .bz2, .xz or .lz4 behind it.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// File for the planted pairs; truth.jsonl beside FILE by default
    #[arg(long, value_name = "FILE", conflicts_with = "crawls")]
    pub truth: Option<PathBuf>,

    /// Make two crawls of one web, years apart, with judged pages
    ///
    /// The folder gets old.jsonl, new-00.jsonl and so on, qrels.txt, and truth.jsonl: for each judged page what became of it
    /// (same, edited, rewritten, gone, moved) and all pages made of it, each with the share of words that both have. From 0.9
    /// on they are near-duplicates; some come near and stay below. No other page comes near.
    #[arg(long)]
    pub crawls: bool,

    /// Documents of the old crawl; a quarter of --documents by default
    #[arg(long, value_name = "N", requires = "crawls", value_parser = whole)]
    pub old: Option<u64>,

    /// Judged documents of the old crawl; a fifth of them by default
    #[arg(long, value_name = "N", requires = "crawls", value_parser = whole)]
    pub judged: Option<u64>,

    /// Number of files of the new crawl, up to 100
    #[arg(long, value_name = "N", requires = "crawls", default_value = "20", value_parser = segments)]
    pub segments: u32,

    /// Print the counts as one JSON object instead of a message
    #[arg(long)]
    pub json: bool,

    /// Progress display: auto, plain, json or none
    ///
    /// auto is a bar on a terminal and a line every ten seconds elsewhere; plain is such lines and json a line of
    /// JSON every second, both with one more at the end. With json all else on standard error is JSON, too, with message or error;
    /// none is silence, but for errors.
    #[arg(long, value_name = "STYLE", default_value = "auto", hide_possible_values = true)]
    pub progress: Style,
}

/// The built-in corpus, as the lines of a file.
fn sample() -> Arc<[u8]> {
    let mut lines = Vec::new();
    lookalike::generate::write_jsonl(lookalike::generate::sample(), &mut lines, &mut std::io::sink())
        .expect("memory can be written");
    lines.into()
}

fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "a whole number such as 100 is wanted".to_owned())
}

fn segments(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=100).contains(number));
    number.ok_or_else(|| "a whole number from 1 to 100 is wanted".to_owned())
}

fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "a whole number of 1 or more is wanted".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::arranged().debug_assert();
    }

    /// The number of commands and subcommands that have an option.
    fn commands_with(option: &str, command: &clap::Command) -> usize {
        let here = command.get_arguments().any(|argument| argument.get_id() == option);
        let below = command.get_subcommands().map(|command| commands_with(option, command));
        usize::from(here) + below.sum::<usize>()
    }

    #[test]
    fn every_command_with_presets_knows_which_options_were_typed() {
        let commands = [
            "dedup --sample",
            "pairs --sample -o x",
            "compare a --with b -o x",
            "transfer --judgments q --from a --to b -o x",
            "index create x",
            "judgments dedup q -o x --from a",
            "runs dedup r -o x --from a",
        ];
        // The command presets names one, too.
        assert_eq!(commands_with("preset", &Cli::command()), commands.len() + 1);
        for command in commands {
            let line = format!("lookalike {command} --threshold 0.8 --preset fineweb");
            let (mut cli, _) = Cli::read(line.split_whitespace().map(OsString::from)).unwrap();
            let matching = cli.command.matching_mut().expect(command);
            assert!(matching.given.contains("threshold") && !matching.given.contains("shingle"), "{command}");
            assert_eq!(matching.options().threshold.to_string(), "0.8", "{command}");
            assert_eq!(matching.options().shingle, 5, "{command}");
        }
    }
}

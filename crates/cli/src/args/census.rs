//! Options of the census.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{InputArgs, ReadingArgs};

/// The commands of the census.
#[derive(Debug, Subcommand)]
pub enum CensusCommand {
    /// Estimate how many pages a search engine has
    ///
    /// Words of your own documents are the queries. Pages that are found are weighed by how many queries find them, so that long pages
    /// do not count more than short ones; pages that no query reaches are stood for by those of their length. Nothing is contacted but
    /// the engine that is named.
    #[command(override_usage = "lookalike census size [OPTIONS] <ENGINE> --own <CORPUS>...")]
    Size(Box<CensusSizeArgs>),
    /// Estimate how much search engines share, and their relative sizes
    ///
    /// Pages are drawn from each engine and looked for in all others: by address where an engine can be asked for one, and by their
    /// eight rarest words unless that finds them. A page with almost the same words counts as the same.
    #[command(override_usage = "lookalike census compare [OPTIONS] <ENGINE> <ENGINE>... --own <CORPUS>...")]
    Compare(Box<CensusCompareArgs>),
    /// Draw pages of a search engine, weighed into a uniform sample
    ///
    /// A weight is how many pages a line stands for; together they are the pages that the queries reach. A page may come more than once.
    #[command(
        override_usage = "lookalike census sample [OPTIONS] <ENGINE> --own <CORPUS>... --output <FILE>"
    )]
    Sample(Box<CensusSampleArgs>),
    /// Estimate how many pages a web graph has, by a walk over it
    ///
    /// Also what they are like, or why a walk cannot tell. Pages are sampled by following links forth and back from seeds, and weighed by
    /// their neighbours. Whether the walk may be believed is looked at first: walkers that see different worlds, or a world that keeps
    /// growing, give no answer, and the command fails.
    ///
    /// With --check, pages of the walk are looked for in a search engine: by address where it can be asked for one, and by their eight
    /// rarest words unless that finds them. That gives the share of the graph's pages that the engine has. Nothing is asked where the walk
    /// gives no answer.
    #[command(override_usage = "lookalike census walk [OPTIONS] <GRAPH>")]
    Walk(Box<CensusWalkArgs>),
    /// Estimate the pages of the web from a recorded sample of addresses
    ///
    /// Reads what was found at random addresses; contacts none.
    Ip(CensusIpArgs),
    /// Build an index of a corpus, to be measured or to measure with
    #[command(override_usage = "lookalike census index [OPTIONS] --output <PATH> <INPUT>...")]
    Index(Box<CensusIndexArgs>),
}

/// A number of results, of which there must be one.
fn results(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("an engine must show one result at least".to_owned()),
        Ok(results) => Ok(results),
        Err(error) => Err(format!("it is no number of results: {error}")),
    }
}

/// Options of the commands that query engines: own documents, budgets, pacing, record and seed.
#[derive(Debug, Clone, Args)]
pub struct QueryArgs {
    /// Your own documents, whose words are the queries
    ///
    /// Files, folders or patterns. The more they are like the engine's pages, the better; a few thousand are enough.
    #[arg(long, value_name = "CORPUS", num_args = 1.., required = true)]
    pub own: Vec<OsString>,

    /// Most own documents to take; of more, a random sample
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub own_documents: usize,

    /// Most calls to each engine
    ///
    /// Calls are searches, and questions for an address.
    #[arg(long, value_name = "N", default_value_t = 2_000, help_heading = "Asking")]
    pub calls: u64,

    /// Most pages fetched from each engine
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = "Asking")]
    pub fetches: u64,

    /// Most results asked for; no more than an engine shows
    #[arg(long, value_name = "N", value_parser = results, help_heading = "Asking")]
    pub limit: Option<usize>,

    /// Least seconds between two calls
    ///
    /// By default what an engine's description says: 1 over HTTP, else 0.
    #[arg(long, value_name = "SECONDS", help_heading = "Asking")]
    pub delay: Option<f64>,

    /// Record of all questions and answers, from which a stopped run goes on
    ///
    /// A file for one engine, a folder for several. The same command with the same record goes on where it was stopped, and asks nothing
    /// twice. A record is itself an engine: transcript:FILE.
    #[arg(long, value_name = "PATH", help_heading = "Asking")]
    pub transcript: Option<PathBuf>,

    /// Ask once more what the record has no answer for
    #[arg(long, requires = "transcript", help_heading = "Asking")]
    pub retry_failed: bool,

    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,

    /// Options for reading the own documents.
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// Not as a comment, where brackets would be links.
const ENGINE_HELP: &str = "The engine: a path, or [NAME=]KIND:PATH with a kind of tantivy, sqlite, http or transcript

For http the path is a description in TOML: search = \"http://HOST/find?q={query}&n={limit}\", all = \" AND \", urls = \"results[*].url\" \
(where the addresses are in the JSON that comes back), cap = 100 (most results it shows), and if they fit: any = \" OR \", \
claimed = \"total\", more = \"next\", fetch = \"{url}\" with fetch_hosts = [\"HOST\"], text = \"text\", has = \"http://HOST/has?u={url}\", \
delay = 1.0, secret_headers = {Authorization = \"VARIABLE\"}. Nobody is contacted but the hosts that stand in it.";

/// `census size`
#[derive(Debug, Args)]
pub struct CensusSizeArgs {
    /// The engine: a path, or KIND:PATH with a kind of tantivy, sqlite, http or transcript
    #[arg(value_name = "ENGINE", long_help = ENGINE_HELP)]
    pub engine: String,

    /// Options of the queries to the engine.
    #[command(flatten)]
    pub query: QueryArgs,

    /// Pages whose near-duplicates in the engine are looked for; each costs a call
    ///
    /// From them follows the size with every class of near-duplicates counted once. At most a fifth of the calls.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub classes: usize,

    /// Also ask for the most frequent words, whose count is a lower bound
    #[arg(long)]
    pub lower_bound: bool,

    /// Also say what other published estimators make of the engine
    ///
    /// Broder and others with one pool of two sorts and with two pools of two sorts, and Chapman, Chao, Lu and Li and birthdays on one more
    /// sample: five times as many calls again as --calls allows, and one, though none that is on record already.
    #[arg(long)]
    pub baselines: bool,

    /// Also write a page with tables and pictures
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// `census compare`
#[derive(Debug, Args)]
pub struct CensusCompareArgs {
    /// The engines, two or more: [NAME=]KIND:PATH each
    #[arg(value_name = "ENGINE", num_args = 2.., required = true)]
    pub engines: Vec<String>,

    /// Options of the queries to the engines.
    #[command(flatten)]
    pub query: QueryArgs,

    /// Size of the first engine, if it is known: the others follow from it
    #[arg(long, value_name = "PAGES")]
    pub known: Option<f64>,

    /// Also say what other published estimators make of the engines
    ///
    /// Those of Bharat and Broder and of Lawrence and Giles. For every engine but the first, each of the two spends as many calls again as
    /// --calls allows, on it and on the first; none that is on record already.
    #[arg(long)]
    pub baselines: bool,

    /// Also write a page with tables and pictures
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// `census sample`
#[derive(Debug, Args)]
pub struct CensusSampleArgs {
    /// The engine: [NAME=]KIND:PATH
    #[arg(value_name = "ENGINE")]
    pub engine: String,

    /// Options of the queries to the engine.
    #[command(flatten)]
    pub query: QueryArgs,

    /// File for the pages; - is standard output
    ///
    /// JSON lines with url, weight, words and bytes.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// `census walk`
#[derive(Debug, Args)]
pub struct CensusWalkArgs {
    /// The graph: lines with two pages, of which the first links to the second; or a BVGraph
    ///
    /// Pages are numbers or names; the file may be compressed. Tabs, blanks or a comma stand between the two; lines that begin with # or %
    /// are skipped. A BVGraph is NAME.graph with NAME.properties beside it, given with or without .graph; its pages are numbers from 0.
    /// Programs that were built without --features full cannot read it, and say so.
    #[arg(value_name = "GRAPH")]
    pub graph: PathBuf,

    /// Read pages as names even where the first ones are numbers
    #[arg(long)]
    pub names: bool,

    /// Pages to begin with, one in each line; else random ones
    #[arg(long, value_name = "FILE", conflicts_with = "uniform_seeds")]
    pub seeds: Option<PathBuf>,

    /// Number of random pages to begin with, when no seeds are named
    #[arg(long, value_name = "N", default_value_t = 512)]
    pub uniform_seeds: usize,

    /// Way to walk
    ///
    /// An answer takes 400 seeds and 1,400 probes (7,000 fetches) at least, or most of the graph. Webwalker and henzinger are single walks
    /// for study: they answer with --anyway only.
    #[arg(long, value_name = "METHOD", default_value = "frontier")]
    pub method: WalkMethodArg,

    /// Pages that link to a page which WebWalker asks a search engine for
    #[arg(long, value_name = "R", default_value_t = 3)]
    pub backlinks: usize,

    /// Most different pages to ask for
    ///
    /// One in five of them is to probe whether the walk has seen enough.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub fetches: u64,

    /// File of page properties, as JSON lines with id and any fields
    #[arg(long, value_name = "FILE")]
    pub nodes: Option<PathBuf>,

    /// Field of --nodes whose mean over all pages is estimated
    ///
    /// true counts 1; FIELD=VALUE is the share of pages with that value.
    #[arg(long, value_name = "FIELD", requires = "nodes")]
    pub field: Vec<String>,

    /// Also tell where pages and seeds stand in the bow tie: core, in, out, tubes, tendrils
    #[arg(long)]
    pub bow_tie: bool,

    /// Also tell how fast a single walker forgets where it began
    ///
    /// The gap between the first two eigenvalues of its walk. Worked out from all links, so that it takes minutes on graphs of millions; at
    /// most 10 million links.
    #[arg(long)]
    pub gap: bool,

    /// Answer even where the walk is not to be believed
    #[arg(long)]
    pub anyway: bool,

    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,

    /// Engine to look for pages of the walk in
    ///
    /// A path, or [NAME=]KIND:PATH: the share of the graph's pages that it has is estimated.
    #[arg(long, value_name = "ENGINE", help_heading = "Checking")]
    pub check: Option<String>,

    /// Texts of the graph's pages: files, folders or patterns
    ///
    /// Each has its name in the graph as id or address. Pages without a text are left out. Only words of pages that the walk met are kept:
    /// some 6 KB for a page of 300 different words. Not needed for engines that can be asked for an address; pages that they have under
    /// another one then count as missing.
    #[arg(long, value_name = "CORPUS", num_args = 1.., requires = "check", help_heading = "Checking")]
    pub pages: Vec<OsString>,

    /// Most calls to the engine; a page takes one or two
    ///
    /// At most five pages are fetched for it.
    #[arg(long, value_name = "N", default_value_t = 2_000, requires = "check", help_heading = "Checking")]
    pub calls: u64,

    /// Most results asked for; no more than the engine shows
    #[arg(long, value_name = "N", value_parser = results, requires = "check", help_heading = "Checking")]
    pub limit: Option<usize>,

    /// Least seconds between two calls
    ///
    /// By default what the engine's description says: 1 over HTTP, else 0.
    #[arg(long, value_name = "SECONDS", requires = "check", help_heading = "Checking")]
    pub delay: Option<f64>,

    /// Record of all questions and answers, from which a stopped run goes on
    #[arg(long, value_name = "FILE", requires = "check", help_heading = "Checking")]
    pub transcript: Option<PathBuf>,

    /// Ask once more what the record has no answer for
    #[arg(long, requires = "transcript", help_heading = "Checking")]
    pub retry_failed: bool,

    /// Options for reading the texts of `--pages`.
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// Ways to walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WalkMethodArg {
    /// Many walkers, of whom one moves at a time
    Frontier,
    /// One walk after the other, pages weighed by their neighbours
    Reweighted,
    /// The same, but not straight back
    NonBacktracking,
    /// Moves are refused so that all pages are as likely
    MetropolisHastings,
    /// Bar-Yossef and others 2000
    Webwalker,
    /// Henzinger and others 2000
    Henzinger,
}

/// `census ip`
#[derive(Debug, Args)]
pub struct CensusIpArgs {
    /// Servers that were found, as JSON lines: {"hosts":[PAGES,...],"addresses":N}
    ///
    /// hosts has the pages of each host behind the address, the one that answers first; addresses is at how many the same server
    /// answers, 1 if it is not said.
    #[arg(value_name = "FILE")]
    pub servers: PathBuf,

    /// Addresses that were drawn
    #[arg(long, value_name = "N")]
    pub draws: u64,

    /// Addresses that could have been drawn
    #[arg(long, value_name = "N", default_value_t = 1 << 32)]
    pub space: u64,

    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// `census index`
#[derive(Debug, Args)]
pub struct CensusIndexArgs {
    /// The pages.
    #[command(flatten)]
    pub input: InputArgs,

    /// Folder or file of the new index
    #[arg(short, long, value_name = "PATH")]
    pub output: PathBuf,

    /// Print the counts as one JSON object instead of a line
    #[arg(long)]
    pub json: bool,

    /// Kind of index
    #[arg(long, value_name = "KIND", default_value = "sqlite")]
    pub kind: IndexKindArg,

    /// Index only the first bytes of each text; pages are still given whole
    #[arg(long, value_name = "N")]
    pub first_bytes: Option<usize>,
}

/// Engines that indexes can be built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IndexKindArg {
    /// A file of SQLite with FTS5
    Sqlite,
    /// A folder of tantivy; for programs that were built with --features full
    Tantivy,
}

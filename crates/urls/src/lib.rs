//! The addresses that two corpora share, the fate of the pages behind them, and the course of both over several snapshots.
//!
//! Everything is out of core and kill-safe, like a job of the engine: half a billion addresses on each side take 30 bytes each on
//! disk while they are sorted, and a bit or two of memory. Addresses are never all in memory: their digests are sorted, groups with
//! both sides are shared, and only what is shared is read a second time.
//!
//! The stages, by their names in `run.json`:
//!
//! | stage | reads | leaves behind | goes on by |
//! |---|---|---|---|
//! | `read` | input | per unit: digests of addresses, sorted; hosts; rejections | unit |
//! | `match` | digests | rows by host, documents that are wanted | stage |
//! | `fetch` | input | names and texts of those | stage |
//! | `measure` | document copy | similarity of the documents behind an address | stage |
//! | `write` | all of it | results | file |
//!
//! - `read`: every address becomes a key, sorted
//! - `join`, the stage `match`: documents of one address come together
//! - `fetch`: those that share one are read again, for their names and texts
//! - `measure`: how similar the documents behind one address are
//! - `overlap`, `tables`, `persistence`, the stage `write`: shared addresses by lines; hosts, domains, survival; several snapshots
//! - [`summary`]: the counts; `study`: the report
//! - `keys`, `fetch_request`, `page_fate`, `rows`: what stages hand on; `tsv`: tables; `recipe`: what made a result

mod fetch;
mod fetch_request;
#[cfg(test)]
mod fixture;
mod join;
mod keys;
mod measure;
mod overlap;
mod page_fate;
mod persistence;
pub mod read;
mod recipe;
mod rows;
mod study;
pub mod summary;
mod tables;
#[cfg(test)]
mod tests;
mod tsv;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use lookalike::corpus::write::Sink;
use lookalike::corpus::{Compression, Corpus, CorpusError};
use lookalike::engine::measure::Measure;
use lookalike::engine::pipeline::Shape;
use lookalike::engine::recipe::ReadSettings;
use lookalike::engine::workplace::Workplace;
use lookalike::engine::{EngineError, Settings};
use lookalike::report::{Study, study_page};
use lookalike::store::file::Run;
use lookalike::store::sort::clear;
use lookalike::text::Profile;
use lookalike::text::extract::ContentMode;
use lookalike::walk::Watch;
use lookalike_overlap::address::Matching;

pub use summary::Summary;

use crate::read::Side;

/// Most snapshots that are compared at once.
pub const MOST_SNAPSHOTS: usize = 200;

/// A request for a comparison.
#[derive(Debug)]
pub struct Request {
    /// The left corpus, and behind it one snapshot or more, in their order.
    pub corpora: Vec<Corpus>,
    /// The name of each of them.
    pub names: Vec<String>,
    /// The rule by which two addresses count as one.
    pub matching: Matching,
    /// The measure of documents behind one address, and the threshold of near ones; `None` when texts do not matter.
    pub measure: Option<Measure>,
    /// Recipe from text to words.
    pub profile: Profile,
    /// The part of a document that is read.
    pub content: ContentMode,
    /// The options by which records are read, for the recipe.
    pub reading: ReadSettings,
    /// Names of fields in the snapshots where they differ, for the recipe.
    pub other_fields: BTreeMap<String, String>,
    /// Ids of judged documents, sorted, none twice.
    pub judged: Option<Vec<String>>,
    /// The settings of the run, such as threads and memory.
    pub settings: Settings,
}

impl Request {
    /// Number of snapshots.
    pub fn snapshots(&self) -> usize {
        self.corpora.len() - 1
    }

    fn is_judged(&self, id: &str) -> bool {
        self.judged.as_ref().is_some_and(|ids| ids.binary_search_by(|judged| judged.as_str().cmp(id)).is_ok())
    }

    /// Refuses corpora whose first records have no address, or lack a field that was named.
    fn check_first_records(&self) -> Result<(), EngineError> {
        Ok(self.corpora.iter().try_for_each(|corpus| corpus.check_first_records(true))?)
    }

    /// Returns the name of a side in a list of rejections.
    fn side_name(&self, side: usize) -> String {
        match (side, self.snapshots()) {
            (0, _) => "left".to_owned(),
            (_, 1) => "right".to_owned(),
            (side, _) => format!("right {side}"),
        }
    }

    /// Returns the name of the measure; empty when there is none.
    fn measure_name(&self) -> String {
        self.measure.map_or_else(String::new, |measure| match measure.shingle {
            1 => format!("{} of words", measure.similarity),
            n => format!("{} of {n}-word shingles", measure.similarity),
        })
    }
}

/// The outcome of a comparison.
#[derive(Debug)]
pub enum RunOutcome {
    /// It was finished in this folder before.
    AlreadyDone(Box<Summary>),
    /// It was done now.
    Done(Box<Summary>),
}

/// The context that all stages share.
struct Context<'c> {
    request: &'c Request,
    work: &'c Workplace,
    watch: &'c Watch,
    /// Bytes for buffers.
    buffer_bytes: u64,
}

impl Context<'_> {
    fn shape(&self) -> Shape {
        self.request.settings.shape(self.buffer_bytes, self.request.reading.max_document_bytes)
    }
}

/// Compares addresses; results go to `folder`. The same call in a later process goes on where this one was stopped.
pub fn run(request: Request, folder: &Path, watch: &Watch) -> Result<RunOutcome, EngineError> {
    let buffer_bytes = request.settings.buffer_bytes(request.reading.max_document_bytes)?;
    for corpus in &request.corpora {
        request.settings.bound_decoders(corpus)?;
    }
    run_within(request, folder, watch, buffer_bytes)
}

/// Does the work of [`run`] with `buffer_bytes` bytes for buffers.
fn run_within(
    mut request: Request,
    folder: &Path,
    watch: &Watch,
    buffer_bytes: u64,
) -> Result<RunOutcome, EngineError> {
    if !(1..=MOST_SNAPSHOTS).contains(&request.snapshots()) {
        let sentence =
            format!("1 to {MOST_SNAPSHOTS} snapshots can be compared with, not {}", request.snapshots());
        return Err(EngineError::Request(sentence));
    }
    let recipe = recipe::of(&request);
    request.check_first_records()?;
    let Some(mut work) = Workplace::open(folder, &recipe, &mut request.corpora)? else {
        return summary_of(folder).map(|summary| RunOutcome::AlreadyDone(Box::new(summary)));
    };
    // Standard input can be looked at now.
    request.check_first_records()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(request.settings.threads.max(1)).build();
    let pool = pool.map_err(|error| EngineError::Request(format!("threads cannot be started: {error}")))?;
    let summary = pool.install(|| stages(&request, &mut work, buffer_bytes, watch))?;
    work.finish(&request.settings, &summary)?;
    Ok(RunOutcome::Done(Box::new(summary)))
}

/// The summary of a finished comparison.
fn summary_of(folder: &Path) -> Result<Summary, EngineError> {
    let file = folder.join("summary.json");
    let text = std::fs::read(&file).map_err(|source| EngineError::Read { file: file.clone(), source })?;
    serde_json::from_slice(&text).map_err(|error| EngineError::Damaged { file, what: error.to_string() })
}

fn stages(
    request: &Request,
    work: &mut Workplace,
    buffer_bytes: u64,
    watch: &Watch,
) -> Result<Summary, EngineError> {
    let mut sides = Vec::new();
    for side in 0..request.corpora.len() {
        let read = read::side(&Context { request, work, watch, buffer_bytes }, side)?;
        read.losses.check(&request.names[side], request.corpora[side].options().max_rejected)?;
        sides.push(read);
    }
    work.lap("read");
    let joined = join::join(&Context { request, work, watch, buffer_bytes }, &sides)?;
    work.lap("match");
    remove_keys(&Context { request, work, watch, buffer_bytes }, &sides)?;
    let fetched = fetch::fetch(&Context { request, work, watch, buffer_bytes }, &joined, &sides)?;
    work.lap("fetch");
    let measured = measure::measure(&Context { request, work, watch, buffer_bytes }, &fetched)?;
    work.lap("measure");
    let ctx = Context { request, work, watch, buffer_bytes };
    let listed = overlap::list(&ctx, &joined, &fetched)?;
    let shown = tables::write(&ctx, &joined, &listed, &sides)?;
    let times = persistence::write(&ctx, &joined, &measured, &listed)?;
    write_rejected(&ctx, &sides)?;
    let summary = Summary::new(&ctx, &sides, &joined, &measured, &shown, &times);
    let study: Study = study::study(&ctx, &summary, &joined, &measured, &listed, &shown, &times);
    ctx.work.write("report.html", study_page(&study.title, "", std::slice::from_ref(&study)).as_bytes())?;
    work.lap("write");
    Ok(summary)
}

/// Removes what was only there to be matched.
fn remove_keys(ctx: &Context<'_>, sides: &[Side]) -> Result<(), EngineError> {
    clear(&ctx.work.run_location("keys"))?;
    clear(&ctx.work.run_location("hosts"))?;
    let runs = sides.iter().flat_map(|side| side.keys.iter().map(|(path, _)| path).chain(&side.hosts));
    runs.into_iter().try_for_each(|file| ctx.work.remove(file))
}

/// Writes `rejected.jsonl`.
fn write_rejected(ctx: &Context<'_>, sides: &[Side]) -> Result<(), EngineError> {
    let path = ctx.work.result("rejected.jsonl");
    let mut sink = Sink::create(&path, Compression::None)?;
    for file in sides.iter().flat_map(|side| &side.rejected) {
        let run = Run::open(file, ctx.work.label("rejected", 1))?;
        let (mut left, mut records) = (run.bytes() as usize, run.records());
        let mut bytes = vec![0; 64 << 10];
        while left > 0 {
            let part = &mut bytes[..left.min(64 << 10)];
            records.take(part)?;
            left -= part.len();
            let written = sink.write_all(part);
            written.map_err(|source| CorpusError::Write { name: path.display().to_string(), source })?;
        }
    }
    Ok(sink.finish()?)
}

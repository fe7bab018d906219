//! `dedup`, `pairs` and `compare`: a job in a folder of its own, which is taken away unless it was asked for.
//!
//! Results are the rows of the job's own files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{BooleanArray, RecordBatch};
use lookalike::corpus::write::RowFormat;
use lookalike::corpus::{Compression, Corpus, ReadOptions};
use lookalike::engine::{EngineError, Job, JobRecipe, Opened, Outputs, Settings, Shards, Summary};
use lookalike::incremental::IncrementalDedup;
use lookalike::index::Index;
use lookalike::report;
use lookalike::request;
use lookalike::runs::{self, JobFolder};
use lookalike::walk::Watch;
use lookalike_overlap::address::Matching as AddressMatching;
use lookalike_transfer::compare::{ComparisonSettings, write};
use lookalike_transfer::segments::{Segment, Segments};
use lookalike_transfer::study::study;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::Failure;
use crate::options::Options;
use crate::results::{self, BEST, CLUSTERS, COMPARED, PAIRS, REJECTED, REMOVED};
use crate::source::Source;
use crate::table::{Column, Table};
use crate::work;

/// The shard name of documents in memory: records without an id are `texts#0` and so on, in whatever form they came.
pub(crate) const TEXTS: &str = "texts";
pub(crate) const AGAINST: &str = "against";

/// The folder of a job: the one of the results, or a temporary one.
fn job_folder(options: &Options<'_>, named: Option<PathBuf>) -> PyResult<JobFolder> {
    Ok(JobFolder::new(named, options.path("scratch")?.as_deref()).map_err(Failure::from)?)
}

/// Refuses results inside of what is read.
fn check_output_outside(source: &Source, job_folder: &JobFolder) -> Result<(), Failure> {
    Ok(request::check_output_outside(source.inputs().unwrap_or_default(), job_folder.path())?)
}

/// The results of `dedup`.
struct DedupResults {
    removed: RecordBatch,
    clusters: RecordBatch,
    rejected: RecordBatch,
    kept: BooleanArray,
    summary: String,
}

/// Near-duplicates inside a corpus, one kept of each.
#[pyfunction]
#[pyo3(signature = (source, against, options))]
pub(crate) fn dedup<'py>(
    py: Python<'py>,
    source: &Source,
    against: Option<&Source>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let (keep, cluster) = options.keeping()?;
    let matching = options.matching()?;
    let documents = options.documents()?;
    let mut recipe = matching.dedup(&documents, &keep, cluster, against.is_some()).map_err(Failure::from)?;
    recipe.other_fields.extend(options.names("against_fields")?);
    let settings = options.settings()?;
    let (copies, annotate) = options.copies()?;
    if annotate && copies != Shards::Kept {
        return Err(Failure::Usage("--annotate goes with --write kept".to_owned()).into());
    }
    let into = options.path("into")?;
    let job_folder = job_folder(&options, options.path("output")?)?;
    if copies != Shards::None && !job_folder.is_named() {
        let sentence = "copies of the input go to the folder of the results; name one by output";
        return Err(Failure::Usage(sentence.to_owned()).into());
    }
    check_output_outside(source, &job_folder)?;
    let index = index_of(against)?;
    let written = recipe.clone();
    let keeps = job_folder.is_named();
    let found = if index.is_some() || into.is_some() {
        refuse_index(source, against, index.as_deref(), into.as_deref(), copies, annotate)?;
        let dedup_run = IndexedDedup {
            recipe,
            settings,
            index,
            into,
            lexicon: matching.lexicon,
            kept: copies == Shards::Kept,
        };
        let read = dedup_run.recipe.read_options().map_err(Failure::from)?;
        let corpus = source.corpus(TEXTS, options.reading(read)?)?;
        work::run(py, options.progress()?.as_ref(), |watch| dedup_run.run(corpus, job_folder.path(), watch))?
    } else {
        let [read, other] = both_sides(&recipe, &options)?;
        let corpus = source.corpus(TEXTS, read)?;
        let other = against.map(|against| against.corpus(AGAINST, other)).transpose()?;
        let outputs = Outputs { format: RowFormat::Jsonl, write: copies, annotate, suffix: "" };
        let job = Job { recipe, corpus, against: other, lexicon: matching.lexicon, settings, outputs };
        work::run(py, options.progress()?.as_ref(), |watch| run_dedup(job, &job_folder, watch))?
    };
    let dict = PyDict::new(py);
    dict.set_item("removed", Table::new(found.removed).into_pyobject(py)?)?;
    dict.set_item("clusters", Table::new(found.clusters).into_pyobject(py)?)?;
    dict.set_item("rejected", Table::new(found.rejected).into_pyobject(py)?)?;
    dict.set_item("kept_mask", Column::new(Arc::new(found.kept)).into_pyobject(py)?)?;
    finish(&dict, &found.summary, &written, keeps.then_some(job_folder.path()))?;
    Ok(dict)
}

/// Reading of the documents, and of those that they are held against.
fn both_sides(recipe: &JobRecipe, options: &Options<'_>) -> PyResult<[ReadOptions; 2]> {
    let [read, other] =
        [recipe.read_options(), recipe.other_options()].map(|read| read.map_err(Failure::from));
    Ok([options.reading(read?)?, options.reading(other?)?])
}

/// Adds the entries that all results have.
fn finish(
    dict: &Bound<'_, PyDict>,
    summary: &str,
    recipe: &JobRecipe,
    folder: Option<&Path>,
) -> PyResult<()> {
    dict.set_item("summary", summary)?;
    dict.set_item("recipe", recipe.to_toml())?;
    dict.set_item("advice", request::advice(recipe))?;
    dict.set_item("folder", folder)
}

/// The index that documents are held against, if it is one.
fn index_of(against: Option<&Source>) -> Result<Option<PathBuf>, Failure> {
    let inputs = against.and_then(Source::inputs).unwrap_or_default();
    let index = |input: &&std::ffi::OsString| Index::exists(Path::new(input));
    match inputs {
        [one] if index(&one) => Ok(Some(PathBuf::from(one))),
        all if all.iter().any(|input| index(&input)) => {
            let sentence =
                "an index goes by itself with --against; merge several with `lookalike index merge`";
            Err(Failure::Usage(sentence.to_owned()))
        }
        _ => Ok(None),
    }
}

/// Refuses what does not go with an index.
fn refuse_index(
    source: &Source,
    against: Option<&Source>,
    index: Option<&Path>,
    into: Option<&Path>,
    copies: Shards,
    annotate: bool,
) -> Result<(), Failure> {
    let same = |one: &Path, two: &Path| one == two || one.canonicalize().ok() == two.canonicalize().ok();
    let why = match () {
        () if source.inputs().is_none() => {
            "documents in memory are added to an index by Index.add; an index goes here with files"
        }
        () if against.is_some() && index.is_none() => {
            "--into goes with --against of the same index, not of a corpus"
        }
        () if annotate => "--annotate goes without an index",
        () if copies == Shards::Removed => "with an index, --write is kept or none",
        () if index.zip(into).is_some_and(|(one, two)| !same(one, two)) => {
            "--against and --into name two indexes; copy the one to the other's place first, and name that twice"
        }
        () => return Ok(()),
    };
    Err(Failure::Usage(why.to_owned()))
}

/// Today's documents against everything before.
struct IndexedDedup {
    recipe: JobRecipe,
    settings: Settings,
    index: Option<PathBuf>,
    into: Option<PathBuf>,
    lexicon: Option<PathBuf>,
    kept: bool,
}

impl IndexedDedup {
    fn run(self, corpus: Corpus, folder: &Path, watch: &Watch) -> Result<DedupResults, Failure> {
        let dedup_run = IncrementalDedup {
            recipe: self.recipe,
            corpus: corpus.clone(),
            against: self.index.as_deref(),
            into: self.into.as_deref(),
            lexicon: self.lexicon.as_deref(),
            write_kept: self.kept,
            settings: self.settings,
        };
        dedup_run.run(folder, watch)?;
        finished(folder, &corpus, watch, None)
    }
}

fn run_dedup(job: Job, job_folder: &JobFolder, watch: &Watch) -> Result<DedupResults, Failure> {
    let corpus = job.corpus.clone();
    let run = runs::dedup(job, job_folder, watch)?;
    finished(job_folder.path(), &corpus, watch, Some(run.rejected))
}

/// Reads the results of a finished job. Without `rejected`, the input is read again to find the records that were rejected.
fn finished(
    folder: &Path,
    corpus: &Corpus,
    watch: &Watch,
    rejected: Option<Vec<u32>>,
) -> Result<DedupResults, Failure> {
    let path = folder.join("summary.json");
    let text = results::text(&path)?;
    let summary: Summary = serde_json::from_str(&text)
        .map_err(|error| EngineError::Damaged { file: path, what: error.to_string() })?;
    let removed = results::read(&folder.join("removed.jsonl"), REMOVED)?;
    let rejected = match rejected {
        Some(rejected) => rejected,
        None if summary.rejected == 0 => Vec::new(),
        None => runs::rejected_records(corpus, watch)?,
    };
    let mut kept = vec![true; summary.documents as usize];
    let gone = removed.column_by_name("n").map(|column| column.as_primitive::<UInt64Type>().values());
    let gone = gone.into_iter().flatten().map(|&document| document as usize);
    for document in gone.chain(rejected.into_iter().map(|document| document as usize)) {
        if let Some(kept) = kept.get_mut(document) {
            *kept = false;
        }
    }
    Ok(DedupResults {
        removed,
        clusters: results::read(&folder.join("clusters.jsonl"), CLUSTERS)?,
        rejected: results::read(&folder.join("rejected.jsonl"), REJECTED)?,
        kept: BooleanArray::from(kept),
        summary: text,
    })
}

/// Every near-duplicate pair with its measured similarity.
#[pyfunction]
pub(crate) fn pairs<'py>(
    py: Python<'py>,
    source: &Source,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let matching = options.matching()?;
    let recipe = matching.pairs(&options.documents()?, options.all()?).map_err(Failure::from)?;
    let target = options.path("output")?;
    let suffix = target.as_deref().map(suffix_of).transpose()?.unwrap_or("");
    let beside = target.clone().map(|target| {
        let mut name = target.into_os_string();
        name.push(".job");
        PathBuf::from(name)
    });
    let job_folder = job_folder(&options, beside)?;
    check_output_outside(source, &job_folder)?;
    let job = Job {
        corpus: source.corpus(TEXTS, options.reading(recipe.read_options().map_err(Failure::from)?)?)?,
        recipe: recipe.clone(),
        against: None,
        lexicon: matching.lexicon,
        settings: options.settings()?,
        outputs: Outputs { format: RowFormat::Jsonl, write: Shards::None, annotate: false, suffix },
    };
    let (found, rejected, summary) = work::run(py, options.progress()?.as_ref(), |watch| {
        run_pairs(job, &job_folder, target.as_deref(), watch)
    })?;
    let dict = PyDict::new(py);
    dict.set_item("pairs", Table::new(found).into_pyobject(py)?)?;
    dict.set_item("rejected", Table::new(rejected).into_pyobject(py)?)?;
    finish(&dict, &summary, &recipe, job_folder.is_named().then_some(job_folder.path()))?;
    Ok(dict)
}

fn run_pairs(
    job: Job,
    job_folder: &JobFolder,
    target: Option<&Path>,
    watch: &Watch,
) -> Result<(RecordBatch, RecordBatch, String), Failure> {
    let folder = job_folder.path();
    let table = target.map_or_else(|| folder.join("pairs.jsonl"), Path::to_owned);
    runs::pairs(job, job_folder, &table, watch)?;
    let rejected = results::read(&folder.join("rejected.jsonl"), REJECTED)?;
    Ok((results::read(&table, PAIRS)?, rejected, results::text(&folder.join("summary.json"))?))
}

/// Returns the suffix of a file of pairs that names its compression; empty if there is none.
fn suffix_of(path: &Path) -> Result<&'static str, Failure> {
    let suffix = Compression::named(path).suffix();
    let name = path.display().to_string();
    let stem = name.strip_suffix(suffix).unwrap_or(&name).to_ascii_lowercase();
    match stem.ends_with(".jsonl") {
        true => Ok(suffix),
        false => Err(Failure::Usage(format!(
            "{name} should end in .jsonl (also with .gz, .zst, .bz2, .xz or .lz4), which tells the format"
        ))),
    }
}

/// Near-duplicates between two corpora.
#[pyfunction]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    left: &Source,
    right: &Source,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let matching = options.matching()?;
    let mut recipe = matching.compare(&options.documents()?).map_err(Failure::from)?;
    recipe.other_fields.extend(options.names("right_fields")?);
    let job_folder = job_folder(&options, options.path("output")?)?;
    check_output_outside(left, &job_folder)?;
    check_output_outside(right, &job_folder)?;
    let [read, other] = both_sides(&recipe, &options)?;
    let job = Job {
        corpus: right.corpus("right", other)?,
        against: Some(left.corpus("left", read)?),
        recipe: recipe.clone(),
        lexicon: matching.lexicon.clone(),
        settings: options.settings()?,
        outputs: Outputs { format: RowFormat::Jsonl, write: Shards::None, annotate: false, suffix: "" },
    };
    let names = matching.names(&recipe);
    let [pairs, best, rejected] =
        work::run(py, options.progress()?.as_ref(), |watch| run_compare(job, names, &job_folder, watch))?;
    let summary = results::text(&job_folder.path().join("summary.json"))?;
    let dict = PyDict::new(py);
    dict.set_item("pairs", Table::new(pairs).into_pyobject(py)?)?;
    dict.set_item("best", Table::new(best).into_pyobject(py)?)?;
    dict.set_item("rejected", Table::new(rejected).into_pyobject(py)?)?;
    finish(&dict, &summary, &recipe, job_folder.is_named().then_some(job_folder.path()))?;
    Ok(dict)
}

fn run_compare(
    job: Job,
    methods: Vec<String>,
    job_folder: &JobFolder,
    watch: &Watch,
) -> Result<[RecordBatch; 3], Failure> {
    let (folder, recipe) = (job_folder.path(), job.recipe.clone());
    let segment = Segment { name: "right".to_owned(), shards: job.corpus.shards().len(), snapshot: 0 };
    if let Opened::Open(mut open) = job.open(folder)? {
        let findings = open.run(watch)?;
        let segments = Segments::new(vec![segment], &open.shard_ranges(watch)?);
        let comparison_settings =
            ComparisonSettings { methods, segments, forecast: None, matching: AddressMatching::Normal };
        let comparison = write(&open, folder, RowFormat::Jsonl, comparison_settings, watch)?;
        if job_folder.is_named() {
            let study = study(["left", "right"], &comparison, &recipe, &findings);
            let page = report::study_page(&study.title.clone(), "", &[study]);
            open.write("report.html", page.as_bytes())?;
        }
        open.finish(&comparison.summary(&recipe, &findings))?;
    }
    let table = |name: &str, layout| results::read(&folder.join(name), layout);
    Ok([table("pairs.jsonl", COMPARED)?, table("best.jsonl", BEST)?, table("rejected.jsonl", REJECTED)?])
}

//! Helpers of the commands on judgments and runs: files in, near-duplicates among their documents, files out.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lookalike::corpus::write::{RowFormat, Sink};
use lookalike::corpus::{Compression, CorpusError, ListReader};
use lookalike::engine::recipe::ReadSettings;
use lookalike::engine::{Job, JobRecipe, Opened, Outputs, Shards};
use lookalike::judgments::{Deduplicated, Dropped, GroupBuilder, Groups, ListError};
use lookalike::request::resolve_path;
use lookalike::selected::SelectedDocuments;
use lookalike::walk::Watch;
use lookalike::{page, report};
use serde::Serialize;

use crate::args::{NearArgs, OutputArgs};
use crate::console::{print_counts, print_message};
use crate::exit::{Failure, Outcome};
use crate::outputs::check_distinct;
use crate::progress::{Progress, Total, thousands};

/// The name that a file goes by in messages.
pub(super) fn name_of(file: &Path) -> String {
    if file == Path::new("-") { "stdin".to_owned() } else { file.display().to_string() }
}

/// Reads all files, each by `read`.
pub(super) fn read_all<T>(
    files: &[PathBuf],
    read: impl Fn(&str, ListReader) -> Result<T, ListError>,
) -> Result<Vec<T>, Failure> {
    if files.iter().filter(|file| *file == Path::new("-")).count() > 1 {
        return Err(Failure::Usage("standard input can be read only once; give - once".to_owned()));
    }
    files.iter().map(|file| Ok(read(&name_of(file), ListReader::open(file)?)?)).collect()
}

/// The output file of each input: one input goes to a file, several to files of their names in a folder.
pub(super) struct Targets {
    files: Vec<PathBuf>,
    folder: Option<PathBuf>,
}

impl Targets {
    /// Refuses files that would fall on each other or on what is read.
    pub(super) fn of(
        inputs: &[PathBuf],
        outputs: &OutputArgs,
        more: &[Option<&Path>],
    ) -> Result<Self, Failure> {
        let folder = (inputs.len() > 1).then(|| outputs.output.clone());
        let target = |input: &PathBuf| match &folder {
            None => Ok(outputs.output.clone()),
            Some(folder) => match input.file_name() {
                Some(name) if input != Path::new("-") => Ok(folder.join(name)),
                _ => Err(Failure::Usage(
                    "standard input has no name; give it alone, with a file for -o".to_owned(),
                )),
            },
        };
        let files: Vec<PathBuf> = inputs.iter().map(target).collect::<Result<_, _>>()?;
        let all: Vec<&Path> =
            files.iter().map(PathBuf::as_path).chain(more.iter().copied().flatten()).collect();
        check_distinct(&all)?;
        for output in &all {
            if inputs.iter().any(|input| resolve_path(input) == resolve_path(output)) {
                let sentence = format!("{} is one of the inputs; write to another place", output.display());
                return Err(Failure::Usage(sentence));
            }
        }
        Ok(Targets { files, folder })
    }

    /// Writes what is left of each file.
    pub(super) fn write(&self, results: &[Deduplicated]) -> Result<(), Failure> {
        if let Some(folder) = &self.folder {
            let name = || folder.display().to_string();
            std::fs::create_dir_all(folder).map_err(|source| CorpusError::Write { name: name(), source })?;
        }
        for (target, result) in self.files.iter().zip(results) {
            write_text(target, &result.text())?;
        }
        Ok(())
    }
}

/// Writes a file, compressed as its name asks.
pub(super) fn write_text(target: &Path, text: &str) -> Result<(), CorpusError> {
    let mut sink = Sink::create(target, Compression::named(target))?;
    let written = sink.write_all(text.as_bytes());
    written.map_err(|source| CorpusError::Write { name: target.display().to_string(), source })?;
    sink.finish()
}

/// A line that was removed, and the file that it stood in.
#[derive(Serialize)]
struct RemovedLine<'g> {
    file: &'g str,
    #[serde(flatten)]
    dropped: &'g Dropped,
}

/// Writes which lines went, as far as they are wanted.
pub(super) fn write_dropped(
    target: Option<&Path>,
    inputs: &[PathBuf],
    results: &[Deduplicated],
    wanted: impl Fn(&Dropped) -> bool,
) -> Result<(), Failure> {
    let Some(target) = target else { return Ok(()) };
    let mut lines = String::new();
    for (input, result) in inputs.iter().zip(results) {
        let file = name_of(input);
        for dropped in result.dropped.iter().filter(|dropped| wanted(dropped)) {
            let line =
                serde_json::to_string(&RemovedLine { file: &file, dropped }).map_err(std::io::Error::from)?;
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{line}");
        }
    }
    Ok(write_text(target, &lines)?)
}

/// The fate of the lines of a file, or of all files. `--json` prints it: stable, other programs read it.
#[derive(Serialize)]
struct ListCounts<'n> {
    name: &'n str,
    lines: u64,
    left: u64,
    duplicates: u64,
    groups: u64,
    topics: u64,
    touched: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflicts: Option<u64>,
}

/// The object that `--json` prints.
#[derive(Serialize)]
struct ListReport<'n> {
    files: Vec<ListCounts<'n>>,
    all: ListCounts<'n>,
}

impl<'n> ListCounts<'n> {
    /// Counts the lines of some files; groups that several files have count once.
    fn of(name: &'n str, results: &[Deduplicated], has_grades: bool) -> Self {
        let sum = |of: fn(&Deduplicated) -> u64| results.iter().map(of).sum();
        let mut groups: Vec<u32> =
            results.iter().flat_map(|result| &result.groups_touched).copied().collect();
        groups.sort_unstable();
        groups.dedup();
        ListCounts {
            name,
            lines: sum(|result| result.lines_before),
            left: sum(|result| result.lines.len() as u64),
            duplicates: sum(|result| result.dropped.len() as u64),
            groups: groups.len() as u64,
            topics: sum(|result| result.topics),
            touched: sum(|result| result.topics_touched),
            conflicts: has_grades.then(|| sum(Deduplicated::conflicts)),
        }
    }

    /// The numbers under their headings.
    fn columns(&self) -> Vec<(&'static str, u64)> {
        let ListCounts { lines, left, duplicates, groups, topics, touched, .. } = *self;
        let mut columns = vec![
            ("lines", lines),
            ("left", left),
            ("duplicates", duplicates),
            ("groups", groups),
            ("topics", topics),
            ("touched", touched),
        ];
        columns.extend(self.conflicts.map(|conflicts| ("conflicts", conflicts)));
        columns
    }
}

/// Prints what became of each file, and of all when there are several.
pub(super) fn print(
    names: &[&str],
    results: &[Deduplicated],
    has_grades: bool,
    as_json: bool,
) -> Result<(), Failure> {
    let report = ListReport {
        files: names
            .iter()
            .zip(results)
            .map(|(name, result)| ListCounts::of(name, std::slice::from_ref(result), has_grades))
            .collect(),
        all: ListCounts::of("all", results, has_grades),
    };
    Ok(print_counts(as_json, &report, |out| write_table(out, &report))?)
}

fn write_table(out: &mut impl Write, report: &ListReport<'_>) -> std::io::Result<()> {
    let several = report.files.len() > 1;
    let rows: Vec<&ListCounts<'_>> = report.files.iter().chain(several.then_some(&report.all)).collect();
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    write!(out, "{:width$}", "")?;
    report.all.columns().iter().try_for_each(|(heading, _)| write!(out, "{heading:>12}"))?;
    writeln!(out)?;
    for row in rows {
        write!(out, "{:width$}", row.name)?;
        row.columns().iter().try_for_each(|(_, number)| write!(out, "{:>12}", thousands(*number)))?;
        writeln!(out)?;
    }
    Ok(())
}

/// The near-duplicates among documents, ascending and each once: known ones, or such as are found.
pub(super) fn groups(
    near: &NearArgs,
    documents: &[&str],
    output: &Path,
    watch: &Arc<Watch>,
) -> Result<(Groups, Outcome), Failure> {
    match &near.groups {
        Some(path) => {
            let groups = read_groups(path, documents)?;
            print_message(format_args!(
                "{}: {} of {} documents are in {} groups",
                path.display(),
                thousands(groups.documents()),
                thousands(documents.len() as u64),
                thousands(groups.len())
            ));
            Ok((groups, Outcome::Done))
        }
        None => find_groups(near, documents, output, watch),
    }
}

/// Groups from a file, or from the folder of a job.
fn read_groups(path: &Path, documents: &[&str]) -> Result<Groups, Failure> {
    let file = if path.is_dir() { path.join(CLUSTERS) } else { path.to_owned() };
    if path.is_dir() && !file.is_file() {
        let reason = match path.join("clusters.parquet").is_file() {
            true => "its tables are Parquet; run dedup again with --format jsonl",
            false => "it is no folder of a finished dedup; name one, or a file of groups",
        };
        return Err(Failure::Missing(format!("{} has no {CLUSTERS}: {reason}", path.display())));
    }
    let mut grouping = GroupBuilder::among(documents.iter().copied());
    grouping.read(&name_of(&file), ListReader::open(&file)?)?;
    // Of very many equal documents, pairs are not written one by one.
    let large = job_folder(&file).join("groups.jsonl");
    if large.is_file() {
        grouping.read(&name_of(&large), ListReader::open(&large)?)?;
    }
    Ok(grouping.finish())
}

const CLUSTERS: &str = "clusters.jsonl";

/// Finds the near-duplicates among some documents of a corpus, in a folder beside the output.
fn find_groups(
    near: &NearArgs,
    documents: &[&str],
    output: &Path,
    watch: &Arc<Watch>,
) -> Result<(Groups, Outcome), Failure> {
    let mut recipe = near.recipe()?;
    let settings = near.resources.settings(near.matching.spool);
    if near.from.iter().any(|input| input == "-") {
        let sentence = "the corpus is looked at again after a stop and cannot be standard input; name files";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    super::job::check_output_outside(&near.from, output)?;
    let corpus = crate::args::open(&near.from, near.resources.reading(recipe.read_options()?))?;
    corpus.check_first_records(recipe.needs_addresses())?;
    let folder = job_folder(output);
    let progress =
        Progress::show(near.resources.progress, corpus.bytes().map_or(Total::Unknown, Total::Bytes), watch);
    let selected =
        SelectedDocuments::copy(&folder, &corpus, recipe.content()?, documents, settings.threads, watch);
    drop(progress);
    let selected = selected?;
    print_selection(&selected, documents.len());
    selected.losses()?.check("the corpus", corpus.options().max_rejected)?;
    // The copy has texts alone, under the usual names of fields.
    recipe.reading = ReadSettings {
        max_document_bytes: recipe.reading.max_document_bytes,
        ..JobRecipe::simplest(recipe.task).reading
    };
    recipe.against = false;
    let job = Job {
        recipe: recipe.clone(),
        corpus: selected.corpus()?,
        against: None,
        lexicon: near.matching.lexicon.clone(),
        settings,
        outputs: Outputs { format: RowFormat::Jsonl, write: Shards::None, annotate: false, suffix: "" },
    };
    let results = folder.join("dedup");
    let summary = match job.open(&results)? {
        Opened::Finished(summary) => *summary,
        Opened::Open(mut open) => {
            let progress = Progress::show(near.resources.progress, Total::Unknown, watch);
            let findings = open.run(watch)?;
            drop(progress);
            let page = report::render(&page::report("Near-duplicates", &recipe, &findings)?);
            open.write("report.html", page.as_bytes())?;
            open.finish(&findings.summary)?;
            findings.summary
        }
    };
    print_message(format_args!(
        "{}: {} documents in {} groups of near-duplicates",
        results.display(),
        thousands(summary.removed + summary.clusters),
        thousands(summary.clusters)
    ));
    let rejected = near.resources.strict && (selected.rejected > 0 || summary.rejected > 0);
    let outcome = if rejected { Outcome::Rejected } else { Outcome::Done };
    Ok((read_groups(&results, documents)?, outcome))
}

/// The folder beside an output that holds what was found on the way.
fn job_folder(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".job");
    PathBuf::from(name)
}

fn print_selection(selected: &SelectedDocuments, wanted: usize) {
    print_message(format_args!(
        "{} of {} documents are in the corpus",
        thousands(selected.found),
        thousands(wanted as u64)
    ));
    if let Some(first) = selected.missing.first() {
        let count = thousands(selected.missing.len() as u64);
        print_message(format_args!(
            "{count} are not, the first of them {first}: they are taken for different from all"
        ));
    }
    if selected.repeated > 0 {
        let count = thousands(selected.repeated);
        print_message(format_args!("{count} documents more bear the same ids; the first of each was taken"));
    }
    if let Some(first) = &selected.first_rejection {
        print_message(format_args!(
            "rejected: {} records, the first of them {first}",
            thousands(selected.rejected)
        ));
    }
}

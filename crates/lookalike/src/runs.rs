//! Jobs from their beginning to their rows, in a folder that was named or in a temporary one.
//!
//! The functions for texts in memory and the Python package run their jobs by this module.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use tempfile::TempDir;

use crate::corpus::{Corpus, Item, ListReader};
use crate::engine::{EngineError, Findings, Job, JobRecipe, OpenJob, Opened, Summary};
use crate::walk::Watch;
use crate::{page, report};

/// The folder of a job: one that was named, or a temporary one that goes away with this.
#[derive(Debug)]
pub struct JobFolder {
    path: PathBuf,
    temporary: Option<TempDir>,
}

impl JobFolder {
    /// The named folder, or a temporary one inside of `scratch` or of the system's folder for such.
    pub fn new(named: Option<PathBuf>, scratch: Option<&Path>) -> Result<Self, EngineError> {
        if let Some(path) = named {
            return Ok(JobFolder { path, temporary: None });
        }
        let temporary = temporary_folder(scratch)?;
        // A folder inside of it: a job wants an empty one.
        Ok(JobFolder { path: temporary.path().join("job"), temporary: Some(temporary) })
    }

    /// The path of the folder, which need not be there yet.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if the folder was named and stays.
    pub fn is_named(&self) -> bool {
        self.temporary.is_none()
    }
}

/// A folder that goes away when it is dropped, inside of `scratch` or of the system's folder for such.
pub fn temporary_folder(scratch: Option<&Path>) -> Result<TempDir, EngineError> {
    let parent = scratch.map_or_else(std::env::temp_dir, Path::to_owned);
    let created = tempfile::Builder::new().prefix("lookalike-").tempdir_in(&parent);
    created.map_err(|error| EngineError::write(&parent, error))
}

/// A finished run of `dedup`.
#[derive(Debug)]
pub struct DedupRun {
    /// Its counts.
    pub summary: Summary,
    /// The places in the input of records that could not be read, ascending.
    pub rejected: Vec<u32>,
    /// Remarks for the reader of the results; none if an earlier process finished the job.
    pub notes: Vec<String>,
}

/// Runs a `dedup` job to its end, or finds it finished. A folder that was named also gets the report.
pub fn dedup(job: Job, folder: &JobFolder, watch: &Watch) -> Result<DedupRun, EngineError> {
    let (recipe, corpus) = (job.recipe.clone(), job.corpus.clone());
    let mut open = match job.open(folder.path())? {
        Opened::Open(open) => open,
        Opened::Finished(summary) => {
            let rejected = if summary.rejected == 0 { Vec::new() } else { rejected_records(&corpus, watch)? };
            return Ok(DedupRun { summary: *summary, rejected, notes: Vec::new() });
        }
    };
    let findings = open.run(watch)?;
    let mut rejected = Vec::new();
    if findings.summary.rejected > 0 {
        open.rejected(watch, |document| rejected.push(document))?;
    }
    if folder.is_named() {
        write_report(&open, &recipe, &findings)?;
    }
    open.finish(&findings.summary)?;
    Ok(DedupRun { summary: findings.summary, rejected, notes: findings.notes })
}

fn write_report(open: &OpenJob, recipe: &JobRecipe, findings: &Findings) -> Result<(), EngineError> {
    let page = report::render(&page::report("Near-duplicates", recipe, findings)?);
    open.write("report.html", page.as_bytes())
}

/// The places of records of a corpus that cannot be read.
pub fn rejected_records(corpus: &Corpus, watch: &Watch) -> Result<Vec<u32>, EngineError> {
    let (mut rejected, mut document) = (Vec::new(), 0);
    for shard in corpus.shards() {
        let mut reader = shard.open(corpus.options())?;
        while let Some(item) = reader.next()? {
            watch.check()?;
            if let Item::Rejected(_) = item {
                rejected.push(document);
            }
            document += u32::from(!matches!(item, Item::Skipped(_)));
        }
    }
    Ok(rejected)
}

/// Runs a `pairs` job to its end, or finds it finished; the table of pairs goes to `table`. Returns remarks for the reader of the results.
pub fn pairs(
    job: Job,
    folder: &JobFolder,
    table: &Path,
    watch: &Watch,
) -> Result<(Summary, Vec<String>), EngineError> {
    if table.is_dir() {
        return Err(EngineError::Request(format!(
            "{} is a folder; name a file for the pairs",
            table.display()
        )));
    }
    let mut open = match job.open(folder.path())? {
        Opened::Open(open) => open,
        Opened::Finished(_) if !table.exists() => {
            return Err(EngineError::Request(format!(
                "{} holds this job, finished, but {} is gone; remove the folder to run it again",
                folder.path().display(),
                table.display()
            )));
        }
        Opened::Finished(summary) => return Ok((*summary, Vec::new())),
    };
    let findings = open.run(watch)?;
    open.deliver_pairs(table)?;
    open.finish(&findings.summary)?;
    Ok((findings.summary, findings.notes))
}

/// Hands over every row of a table of JSON lines, such as a [`RemovedLine`](crate::tables::removed::RemovedLine) of `removed.jsonl`.
pub fn each_row<T: DeserializeOwned>(
    path: &Path,
    mut each: impl FnMut(T) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    for line in ListReader::open(path)?.lines() {
        let line = line.map_err(|error| EngineError::read(path, error))?;
        let row = serde_json::from_str(&line)
            .map_err(|error| EngineError::Damaged { file: path.to_owned(), what: error.to_string() })?;
        each(row)?;
    }
    Ok(())
}

/// All rows of a table of JSON lines.
pub fn rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, EngineError> {
    let mut rows = Vec::new();
    each_row(path, |row| {
        rows.push(row);
        Ok(())
    })?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::ReadOptions;
    use crate::engine::recipe::Task;
    use crate::engine::{Outputs, Settings};
    use crate::tables::removed::RemovedLine;

    const LINES: &str = "{\"id\":\"a\",\"text\":\"one two\"}\n{}\n{\"id\":\"b\",\"text\":\"One, two\"}\n";

    fn job(task: Task) -> Job {
        Job {
            recipe: JobRecipe::simplest(task),
            corpus: Corpus::in_memory("docs.jsonl", LINES.as_bytes().into(), ReadOptions::default()),
            against: None,
            lexicon: None,
            settings: Settings { memory: 512 << 20, ..Settings::UNLIMITED },
            outputs: Outputs::default(),
        }
    }

    #[test]
    fn a_temporary_folder_goes_away_and_a_named_one_stays() {
        let temporary = JobFolder::new(None, None).unwrap();
        dedup(job(Task::Dedup), &temporary, &Watch::default()).unwrap();
        let path = temporary.path().to_owned();
        assert!(!temporary.is_named() && path.join("summary.json").exists());
        assert!(!path.join("report.html").exists());
        drop(temporary);
        assert!(!path.exists());
        let parent = tempfile::tempdir().unwrap();
        let named = JobFolder::new(Some(parent.path().join("job")), None).unwrap();
        dedup(job(Task::Dedup), &named, &Watch::default()).unwrap();
        assert!(named.is_named() && named.path().join("report.html").exists());
    }

    #[test]
    fn a_finished_run_is_found_again() {
        let parent = tempfile::tempdir().unwrap();
        let named = JobFolder::new(Some(parent.path().join("job")), None).unwrap();
        let first = dedup(job(Task::Dedup), &named, &Watch::default()).unwrap();
        let again = dedup(job(Task::Dedup), &named, &Watch::default()).unwrap();
        assert_eq!((&first.rejected, &first.summary), (&vec![1], &again.summary));
        assert_eq!(first.rejected, again.rejected);
        let removed: Vec<RemovedLine> = rows(&named.path().join("removed.jsonl")).unwrap();
        assert_eq!((removed.len(), removed[0].n, removed[0].witness.as_str()), (1, 2, "a"));
    }

    #[test]
    fn pairs_go_to_their_file_and_a_lost_one_is_told() {
        let parent = tempfile::tempdir().unwrap();
        let named = JobFolder::new(Some(parent.path().join("job")), None).unwrap();
        let run = |table: &Path| pairs(job(Task::Pairs), &named, table, &Watch::default());
        assert!(run(parent.path()).unwrap_err().to_string().contains("is a folder"));
        let table = parent.path().join("pairs.jsonl");
        for _ in 0..2 {
            assert_eq!(run(&table).unwrap().0.pairs, Some(1));
        }
        std::fs::remove_file(&table).unwrap();
        assert!(run(&table).unwrap_err().to_string().contains("is gone"));
    }

    #[test]
    fn a_row_that_cannot_be_read_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("removed.jsonl");
        std::fs::write(&path, "{}\n").unwrap();
        assert!(matches!(rows::<RemovedLine>(&path), Err(EngineError::Damaged { .. })));
    }
}

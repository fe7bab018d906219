//! The folder of a job: what in it is the job's, and how that is removed.
//!
//! All that is removed here was written by a job: scratch files, results by their names, and copies by the names that the
//! summary, the manifest or the journal of copies says they have. Other files stay where they are.
//!
//! `--force` begins anew by removing these. A first run that fails before it has read anything leaves no trace.

use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use lookalike_corpus::Compression;
use lookalike_corpus::write::rows::RowFormat;
use lookalike_store::journal;
use serde::Deserialize;
use serde_json::Value;

use crate::context::remove_if_there;
use crate::error::EngineError;
use crate::protocol::{LOCK, MANIFEST, SUMMARY, WORK, lock};

/// Results by name; tables also with other endings.
const RESULTS: [&str; 11] = [
    SUMMARY,
    "run.json",
    "recipe.toml",
    "report.html",
    "domains.tsv",
    "tlds.tsv",
    "survival.tsv",
    "snapshots.tsv",
    "topics.tsv",
    "qrels.txt",
    "labels.jsonl",
];
const TABLES: [&str; 12] = [
    "removed",
    "clusters",
    "rejected",
    "pairs",
    "groups",
    "best",
    "overlap",
    "snapshots",
    "mapping",
    "missing",
    "conflicts",
    "review",
];

/// Tells the files that a job wrote in its folder from others that lie there.
pub(crate) struct JobFiles {
    copies: HashSet<PathBuf>,
}

impl JobFiles {
    /// The files of the job in `folder`, whose scratch files are still there.
    pub(crate) fn of(folder: &Path) -> Self {
        JobFiles { copies: copies(folder).into_iter().collect() }
    }

    /// True for a result, or a copy, by its name below the folder.
    pub(crate) fn has(&self, name: &str) -> bool {
        let table = |table: &&str| {
            name.strip_prefix(*table).is_some_and(|ending| table_endings().any(|known| known == ending))
        };
        RESULTS.contains(&name) || TABLES.iter().any(table) || self.copies.contains(Path::new(name))
    }
}

/// The endings that tables are written with.
fn table_endings() -> impl Iterator<Item = String> {
    let formats = [RowFormat::Jsonl, RowFormat::Parquet].map(|format| format.suffix().to_owned());
    let jsonl = RowFormat::Jsonl.suffix();
    formats.into_iter().chain(Compression::ALL.map(|compression| format!("{jsonl}{}", compression.suffix())))
}

/// Folders of copies.
const COPIES: [&str; 3] = ["kept", "removed", "rejected"];

/// Removes all that a job left behind, but for its lock.
pub(crate) fn clear(folder: &Path) -> Result<(), EngineError> {
    let work = folder.join(WORK);
    for name in copies(folder) {
        let path = folder.join(name);
        remove_if_there(&path)?;
        // Folders that are empty now go with it.
        path.ancestors()
            .skip(1)
            .take_while(|above| *above != folder)
            .all(|above| fs::remove_dir(above).is_ok());
    }
    let tables =
        TABLES.iter().flat_map(|table| table_endings().map(move |ending| format!("{table}{ending}")));
    for name in RESULTS.iter().map(|name| (*name).to_owned()).chain(tables) {
        remove_if_there(&folder.join(name))?;
    }
    for copies in COPIES {
        let _ = fs::remove_dir(folder.join(copies));
    }
    for entry in fs::read_dir(&work).into_iter().flatten().flatten().filter(|entry| entry.file_name() != LOCK)
    {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                fs::remove_dir_all(&path).map_err(|error| EngineError::write(&path, error))?
            }
            _ => remove_if_there(&path)?,
        }
    }
    Ok(())
}

/// The names of the input in the manifest of a job.
#[derive(Deserialize)]
struct MarkedInputs {
    inputs: Vec<MarkedShard>,
}

#[derive(Deserialize)]
struct MarkedShard {
    name: String,
}

/// The copies that a job wrote, or was about to write, relative to its folder.
fn copies(folder: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    // Most jobs make no copies, and the names of a million files are not worth reading for nothing.
    let made: Vec<&str> = COPIES.into_iter().filter(|copies| folder.join(copies).is_dir()).collect();
    if made.is_empty() {
        return names;
    }
    let summary =
        fs::read(folder.join(SUMMARY)).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    if let Some(files) = summary.as_ref().and_then(|summary| summary["files"].as_object()) {
        let copied = |name: &&PathBuf| COPIES.iter().any(|copies| name.starts_with(copies));
        names.extend(files.keys().map(PathBuf::from).collect::<Vec<_>>().iter().filter(copied).cloned());
    }
    let manifest = fs::read_to_string(folder.join(WORK).join(MANIFEST)).unwrap_or_default();
    let marked = serde_json::from_str::<MarkedInputs>(manifest.lines().next().unwrap_or_default()).ok();
    let mut shards: Vec<String> =
        marked.into_iter().flat_map(|marked| marked.inputs).map(|shard| shard.name).collect();
    drop(manifest);
    let journal = fs::read_to_string(folder.join(WORK).join("copies")).unwrap_or_default();
    let journaled =
        journal.lines().filter_map(|line| serde_json::from_str::<Value>(line.split_once(' ')?.1).ok());
    shards.extend(journaled.filter_map(|line| line[0].as_str().map(str::to_owned)));
    names
        .extend(made.iter().flat_map(|copies| shards.iter().map(move |shard| Path::new(copies).join(shard))));
    names.retain(|name| name.components().all(|part| matches!(part, Component::Normal(_))));
    names
}

/// Does the same as [`remove_unstarted`], unless the folder is locked.
pub(crate) fn remove_unstarted_if_unlocked(folder: &Path, made: bool) {
    let work = folder.join(WORK);
    let held = if work.is_dir() { lock(folder, &work.join(LOCK)) } else { return };
    if held.is_ok() {
        remove_unstarted(folder, made);
    }
}

/// Removes the scratch files of a job that has read nothing yet, as if it had never been begun. `made` says that it was not there before.
pub(crate) fn remove_unstarted(folder: &Path, made: bool) {
    let work = folder.join(WORK);
    let names = || fs::read_dir(&work).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let begun = |name: &std::ffi::OsStr| {
        let name = name.to_string_lossy();
        let ours = [LOCK, MANIFEST, journal::NAME].contains(&&*name);
        ours || name.starts_with('u') && !(name.ends_with(".done") || name.ends_with(".begun"))
    };
    if !names().all(|name| begun(&name)) {
        return;
    }
    // Nothing is lost if something of it stays.
    for name in names() {
        let _ = fs::remove_file(work.join(name));
    }
    let _ = fs::remove_dir(&work);
    if made {
        let _ = fs::remove_dir(folder);
    }
}

/// Removes what an earlier job left in a folder, so that another can begin there. Other files stay where they are, and so does all of a
/// folder that holds no job.
pub fn begin_anew(folder: &Path) -> Result<(), EngineError> {
    let work = folder.join(WORK);
    let ours = [LOCK, MANIFEST].iter().any(|file| work.join(file).exists())
        || folder.join(SUMMARY).exists() && folder.join("recipe.toml").exists();
    if !ours {
        return Ok(());
    }
    fs::create_dir_all(&work).map_err(|error| EngineError::write(&work, error))?;
    let _held = lock(folder, &work.join(LOCK))?;
    clear(folder)
}

#[cfg(test)]
mod tests {
    use lookalike_corpus::write::rows::RowFormat;
    use lookalike_tables::files::{COMMANDS, Endings, OutputFile};

    use super::*;

    #[test]
    fn the_table_of_every_command_is_known_as_a_result() {
        let job_files = JobFiles { copies: HashSet::new() };
        for file in COMMANDS.iter().flat_map(|command| command.files) {
            let OutputFile::Table(table, endings) = file else { continue };
            let names = match endings {
                Endings::Tsv => vec![format!("{}.tsv", table.name)],
                _ => [RowFormat::Jsonl, RowFormat::Parquet].map(|format| table.file_name(format)).to_vec(),
            };
            names.iter().for_each(|name| assert!(job_files.has(name), "{name}"));
        }
        assert!(!job_files.has("letter.jsonl"));
    }

    #[test]
    fn only_what_a_job_wrote_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, content: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        let manifest = "{\"inputs\":[{\"name\":\"a/b.jsonl\"},{\"name\":\"../letter\"}]}\nx\n";
        for (name, content) in [
            ("summary.json", "{\"files\":{\"kept/s.jsonl\":{},\"/etc/x\":{}}}"),
            ("removed.parquet", ""),
            ("kept/s.jsonl", ""),
            ("kept/a/b.jsonl", ""),
            ("kept/mine", ""),
            ("letter", ""),
            ("notes.txt", ""),
            ("work/lock", ""),
            ("work/job.json", manifest),
            ("work/deep/x", ""),
        ] {
            put(name, content);
        }
        clear(folder.path()).unwrap();
        let mut left: Vec<String> = Vec::new();
        let mut folders = vec![folder.path().to_owned()];
        while let Some(above) = folders.pop() {
            for entry in fs::read_dir(&above).unwrap().map(Result::unwrap) {
                match entry.path() {
                    path if path.is_dir() => folders.push(path),
                    path => left.push(path.strip_prefix(folder.path()).unwrap().display().to_string()),
                }
            }
        }
        left.sort();
        assert_eq!(left, ["kept/mine", "letter", "notes.txt", "work/lock"]);
        assert!(!folder.path().join("kept/a").exists());
    }

    #[test]
    fn a_folder_is_given_back_when_nothing_was_read() {
        let root = tempfile::tempdir().unwrap();
        for (file, gone) in [
            ("work/u000000.docs.part", true),
            ("work/u000000.begun", false),
            ("work/u000000.done", false),
            ("work/stdin", false),
        ] {
            let folder = root.path().join("job");
            fs::create_dir_all(folder.join(WORK)).unwrap();
            for name in ["work/lock", "work/job.json", file] {
                fs::write(folder.join(name), "").unwrap();
            }
            remove_unstarted(&folder, true);
            assert_eq!(folder.exists(), !gone, "{file}");
            let _ = fs::remove_dir_all(&folder);
        }
    }

    fn make_copy_folders(folder: &Path) {
        COPIES.iter().for_each(|copies| fs::create_dir(folder.join(copies)).unwrap());
    }

    #[test]
    fn results_are_known_by_their_names() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(WORK)).unwrap();
        fs::write(folder.path().join(WORK).join(MANIFEST), "{\"inputs\":[{\"name\":\"a/b.jsonl\"}]}\n")
            .unwrap();
        make_copy_folders(folder.path());
        let files = JobFiles::of(folder.path());
        for name in [
            "summary.json",
            "removed.jsonl",
            "pairs.jsonl.zst",
            "clusters.parquet",
            "kept/a/b.jsonl",
            "rejected/a/b.jsonl",
        ] {
            assert!(files.has(name), "{name}");
        }
        for name in [
            "removed",
            "removed.csv",
            "removed.jsonl.part",
            "mine.jsonl",
            "kept/b.jsonl",
            "a/b.jsonl",
            "work/lock",
        ] {
            assert!(!files.has(name), "{name}");
        }
    }

    #[test]
    fn copies_are_told_by_summary_manifest_and_journal() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, content: &str| fs::write(folder.path().join(name), content).unwrap();
        fs::create_dir(folder.path().join(WORK)).unwrap();
        assert_eq!(copies(folder.path()), [] as [PathBuf; 0]);
        put(SUMMARY, "{\"files\":{\"kept/s\":{},\"removed.jsonl\":{},\"rejected/../x\":{}}}");
        assert_eq!(copies(folder.path()), [] as [PathBuf; 0], "there is no folder that could hold one");
        make_copy_folders(folder.path());
        assert_eq!(copies(folder.path()), ["kept/s"].map(PathBuf::from));
        put("work/copies", "0f [\"j\",1,2]\nno line\n");
        let expected = ["kept/s", "kept/j", "removed/j", "rejected/j"].map(PathBuf::from);
        assert_eq!(copies(folder.path()), expected);
        put("work/job.json", "{\"inputs\":[{\"name\":\"/etc/m\"},{\"name\":\"m\"}]}\nx\n");
        let found = copies(folder.path());
        assert!(
            found.contains(&PathBuf::from("removed/m")) && found.iter().all(|path| path.is_relative()),
            "{found:?}"
        );
    }

    #[test]
    fn a_folder_that_was_there_before_stays() {
        let root = tempfile::tempdir().unwrap();
        for (made, stays) in [(true, false), (false, true)] {
            let folder = root.path().join("job");
            fs::create_dir_all(folder.join(WORK)).unwrap();
            fs::write(folder.join("work/lock"), "").unwrap();
            remove_unstarted(&folder, made);
            assert_eq!((folder.exists(), folder.join(WORK).exists()), (stays, false));
        }
    }

    #[test]
    fn a_folder_that_another_process_holds_stays() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("job");
        remove_unstarted_if_unlocked(&folder, true);
        fs::create_dir_all(folder.join(WORK)).unwrap();
        let held = lock(&folder, &folder.join("work/lock")).unwrap();
        remove_unstarted_if_unlocked(&folder, true);
        assert!(folder.join("work/lock").exists());
        drop(held);
        remove_unstarted_if_unlocked(&folder, true);
        assert!(!folder.exists());
    }

    #[test]
    fn what_is_begun_anew_was_a_job() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str| std::fs::write(folder.path().join(name), "").unwrap();
        let has = |name: &str| folder.path().join(name).exists();
        put(SUMMARY);
        put("removed.jsonl");
        begin_anew(folder.path()).unwrap();
        assert!(has(SUMMARY) && has("removed.jsonl"), "a summary alone may be anybody's");
        put("recipe.toml");
        put("mine");
        begin_anew(folder.path()).unwrap();
        assert!(!has(SUMMARY) && !has("removed.jsonl") && !has("recipe.toml") && has("mine"));
    }
}

//! A check of a finished folder: every file against its digest in the summary, and the tables of results against each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lookalike_corpus::Corpus;
use lookalike_model::Document;
use lookalike_store::bits::Bits;
use lookalike_tables::clusters::ClusterNumbers;
use lookalike_tables::rejected::RejectedLine;
use lookalike_tables::removed::RemovedLine;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::context::Settings;
use crate::delivered::{self, FileDigest};
use crate::document_copy::DocumentCopy;
use crate::error::EngineError;
use crate::pair_measurer::PairMeasurer;
use crate::protocol::{RUN, SUMMARY};
use crate::recipe::{ClusterRule, JobRecipe, RecipeError, Task};
use crate::results::Summary;
use crate::walk::{self, WalkError, WalkItem, Watch};

/// The number of mistakes that are reported in words.
const MAX_REPORTED: usize = 20;
/// Similarities are written with nine digits.
const ROUNDING: f64 = 1e-8;
/// Folders of copies, in which a file that nobody listed would be read as one of them.
const COPIES: [&str; 3] = ["kept/", "removed/", "rejected/"];
/// The file with a job's recipe.
const RECIPE: &str = "recipe.toml";
/// The table of rejected records.
const REJECTED: &str = "rejected.jsonl";
/// Reasons why tables are compared with their digests alone.
const NO_LINES: &str = "its tables are not plain JSON lines";
const NO_COUNT: &str = "its summary has no count of what is in them";

/// The findings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CheckReport {
    /// Files that were read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Removals whose witness was looked for.
    pub removals: u64,
    /// Documents in the copies of shards.
    pub copied: u64,
    /// Removals that were measured again.
    pub measured: u64,
    /// Tables and folders of copies that were compared with their digests alone.
    pub unchecked: Vec<String>,
    /// The reason why they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_unchecked: Option<String>,
    /// Mistakes, the first few in words.
    pub wrong: Vec<String>,
    /// The number of mistakes.
    pub mistakes: u64,
}

impl CheckReport {
    fn report(&mut self, what: impl FnOnce() -> String) {
        self.mistakes += 1;
        if self.wrong.len() < MAX_REPORTED {
            self.wrong.push(what());
        }
    }

    /// Notes tables that cannot be compared with each other and with the counts of the summary.
    fn leave_unchecked(&mut self, tables: Vec<String>, why: impl Into<String>) {
        if !tables.is_empty() {
            (self.unchecked, self.why_unchecked) = (tables, Some(why.into()));
        }
    }

    fn check_count(&mut self, what: &str, found: u64, said: u64) {
        if found != said {
            self.report(|| format!("{what}: {found} are there, and {SUMMARY} says {said}"));
        }
    }
}

/// The part of any summary that is about files.
#[derive(Deserialize)]
struct Files {
    files: BTreeMap<String, FileDigest>,
}

/// The input, as `run.json` tells it.
#[derive(Deserialize)]
struct Inputs {
    #[serde(default)]
    files: serde_json::Value,
}

/// A finished folder that is looked at.
pub struct Results<'r> {
    folder: &'r Path,
    /// Its findings.
    pub checked: CheckReport,
    /// The counts and the recipe, or why they cannot be told.
    job: Result<(Summary, JobRecipe), String>,
}

/// Reads the counts and the recipe of a job. Whatever another program wrote may mean something else.
fn read_job(summary: &[u8], recipe: &str) -> Result<(Summary, JobRecipe), String> {
    let recipe = JobRecipe::from_toml(recipe).map_err(|error| match error {
        made @ RecipeError::OtherVersion { .. } => made.to_string(),
        RecipeError::Unreadable(what) => format!("{RECIPE} is that of no job ({what})"),
    })?;
    let summary = serde_json::from_slice(summary)
        .map_err(|error| format!("{SUMMARY} has other counts than those of a job ({error})"))?;
    Ok((summary, recipe))
}

/// The tables of a folder, by the files that its summary lists, and the folders of copies whose documents are counted.
fn tables_of(files: &BTreeMap<String, FileDigest>) -> Vec<String> {
    let mut tables = BTreeSet::new();
    for name in files.keys() {
        match name.split_once('/') {
            Some((folder @ ("kept" | "removed"), _)) => drop(tables.insert(format!("{folder}/"))),
            None if [".jsonl", ".parquet", ".tsv"].iter().any(|end| name.contains(end)) => {
                tables.insert(name.clone());
            }
            _ => {}
        }
    }
    tables.into_iter().collect()
}

impl<'r> Results<'r> {
    /// Compares all files of `folder` with what its summary says of them, and the counts of its tables with each other.
    pub fn check(folder: &'r Path, watch: &Watch) -> Result<Self, EngineError> {
        let mut results = Results { folder, checked: CheckReport::default(), job: Err(String::new()) };
        let path = folder.join(SUMMARY);
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(EngineError::Request(format!(
                    "{} holds no finished job: there is no {SUMMARY}; run the command that began it again",
                    folder.display()
                )));
            }
            text => text.map_err(|error| EngineError::read(&path, error))?,
        };
        results.checked.files += 1;
        results.checked.bytes += text.len() as u64;
        if !delivered::is_sealed(&text) {
            results.checked.report(|| format!("{SUMMARY} does not match its checksum"));
        }
        let Ok(Files { files }) = serde_json::from_slice(&text) else {
            results.checked.report(|| format!("{SUMMARY} says nothing of the files that belong to it"));
            return Ok(results);
        };
        results.run_file()?;
        let sound = results.files(&files, watch)?;
        let recipe = std::fs::read_to_string(folder.join(RECIPE)).unwrap_or_default();
        results.job = read_job(&text, &recipe);
        // Tables that are not what they were have been told already.
        if sound {
            results.tables(tables_of(&files), watch)?;
        }
        Ok(results)
    }

    fn run_file(&mut self) -> Result<(), EngineError> {
        match std::fs::read(self.folder.join(RUN)) {
            Ok(text) => {
                self.checked.files += 1;
                self.checked.bytes += text.len() as u64;
                if !delivered::is_sealed(&text) {
                    self.checked.report(|| format!("{RUN} does not match its checksum"));
                }
            }
            Err(_) => self.checked.report(|| format!("{RUN} is gone")),
        }
        Ok(())
    }

    /// Compares files with their digests; true when all are right.
    fn files(&mut self, files: &BTreeMap<String, FileDigest>, watch: &Watch) -> Result<bool, EngineError> {
        let before = self.checked.mistakes;
        for (name, said) in files {
            watch.check()?;
            let found = match delivered::digest_file(&self.path_of(name)) {
                Ok(found) => found,
                Err(EngineError::Read { source, .. }) => {
                    let gone = source.kind() == std::io::ErrorKind::NotFound;
                    self.checked.report(|| match gone {
                        true => format!("{name} is gone"),
                        false => format!("{name} cannot be read: {source}"),
                    });
                    continue;
                }
                Err(error) => return Err(error),
            };
            self.checked.files += 1;
            self.checked.bytes += found.bytes;
            if found.bytes != said.bytes {
                self.checked.report(|| format!("{name} has {} bytes, and had {}", found.bytes, said.bytes));
            } else if found != *said {
                self.checked.report(|| format!("{name} does not match its digest"));
            }
        }
        for name in delivered::names(self.folder)? {
            let copy = COPIES.iter().any(|folder| name.starts_with(folder));
            if copy && !files.contains_key(&name) {
                self.checked.report(|| format!("{name} is none of its files"));
            }
        }
        Ok(self.checked.mistakes == before)
    }

    /// The path of a file of results: in the folder, or beside it, as the table of `pairs`.
    fn path_of(&self, name: &str) -> PathBuf {
        let own = self.folder.join(name);
        let beside = self.folder.with_extension("");
        let has_table = self.folder.extension().is_some_and(|extension| extension == "job");
        if has_table && name.starts_with("pairs.") && !own.exists() { beside } else { own }
    }

    /// Compares tables with each other and with the counts of the summary; those that cannot be are noted.
    fn tables(&mut self, mut tables: Vec<String>, watch: &Watch) -> Result<(), EngineError> {
        let (summary, recipe) = match self.job.clone() {
            Ok(job) => job,
            Err(why) => {
                self.checked.leave_unchecked(tables, why);
                return Ok(());
            }
        };
        match recipe.task {
            Task::Dedup => {
                self.dedup(&summary, &recipe, watch)?;
                tables.retain(|name| name.ends_with(".parquet"));
                self.checked.leave_unchecked(tables, NO_LINES);
            }
            Task::Pairs => self.pairs(tables, &summary)?,
            Task::Compare => self.checked.leave_unchecked(tables, NO_COUNT),
        }
        Ok(())
    }

    fn pairs(&mut self, mut tables: Vec<String>, summary: &Summary) -> Result<(), EngineError> {
        let path = self.path_of("pairs.jsonl");
        let is_lines = path.extension().is_some_and(|end| end == "jsonl") && path.is_file();
        if let (Some(said), true) = (summary.pairs, is_lines) {
            let mut pairs = 0;
            self.lines(&path, |_: serde_json::Value, _| pairs += 1)?;
            self.checked.check_count("pairs", pairs, said);
            tables.retain(|name| !name.starts_with("pairs."));
        }
        if tables.iter().any(|name| name == REJECTED) {
            self.rejected(summary.rejected)?;
            tables.retain(|name| name != REJECTED);
        }
        self.checked.leave_unchecked(tables, if is_lines { NO_COUNT } else { NO_LINES });
        Ok(())
    }

    /// Compares the number of rejected records with that of the summary.
    fn rejected(&mut self, said: u64) -> Result<(), EngineError> {
        let mut lines = 0;
        self.lines(&self.folder.join(REJECTED), |line: RejectedLine, _| {
            // Those of another corpus are none of the job's documents.
            lines += u64::from(line.side.is_none());
        })?;
        self.checked.check_count("rejected records", lines, said);
        Ok(())
    }

    fn dedup(&mut self, summary: &Summary, recipe: &JobRecipe, watch: &Watch) -> Result<(), EngineError> {
        let Summary { documents, kept, removed, rejected, .. } = *summary;
        if documents > u64::from(u32::MAX) {
            self.checked.report(|| {
                format!("{SUMMARY} says that there are {documents} documents, and no job takes so many")
            });
            return Ok(());
        }
        if [kept, removed, rejected].into_iter().try_fold(0, u64::checked_add) != Some(documents) {
            self.checked.report(|| {
                format!(
                    "{kept} kept, {removed} removed and {rejected} rejected documents are not {documents}"
                )
            });
        }
        self.copies(summary, recipe, watch)?;
        let gone = self.removals(documents, removed)?;
        let Some(gone) = gone else { return Ok(()) };
        let (mut clusters, mut members) = (0, 0);
        self.lines(&self.folder.join("clusters.jsonl"), |line: ClusterNumbers, checked| {
            clusters += 1;
            members += line.members_n.len() as u64 - u64::from(!line.members_n.is_empty());
            let own = line.against.is_none();
            let others =
                line.members_n.iter().filter(|&&n| !(gone.get(n) || own && n == line.cluster)).count();
            let expected = u64::from(!own);
            if others as u64 != expected || own && gone.get(line.cluster) {
                checked
                    .report(|| format!("cluster {} has other documents than one that stays", line.cluster));
            }
        })?;
        self.checked.check_count("clusters", clusters, summary.clusters);
        self.checked.check_count("documents that clusters leave out", members, removed);
        self.rejected(rejected)
    }

    /// The documents that were removed; nothing where the tables are not JSON lines.
    fn removals(&mut self, documents: u64, said: u64) -> Result<Option<Bits>, EngineError> {
        let path = self.folder.join("removed.jsonl");
        if !path.exists() {
            return Ok(None);
        }
        let mut gone = Bits::new(documents);
        self.lines(&path, |line: RemovedLine, checked| {
            checked.removals += 1;
            if line.n >= documents || !gone.insert(line.n) {
                checked
                    .report(|| format!("removed.jsonl: document {} is there twice, or in no input", line.n));
            }
        })?;
        self.lines(&path, |line: RemovedLine, checked| {
            let own = line.against.is_none();
            if own && (line.witness_n >= documents || gone.get(line.witness_n)) {
                let RemovedLine { id, n, witness, witness_n, .. } = line;
                checked.report(|| {
                    format!("{id} ({n}) was removed for {witness} ({witness_n}), which is not kept")
                });
            }
        })?;
        let found = self.checked.removals;
        self.checked.check_count("removed documents", found, said);
        Ok(Some(gone))
    }

    /// Counts the documents in copies of shards.
    fn copies(&mut self, summary: &Summary, recipe: &JobRecipe, watch: &Watch) -> Result<(), EngineError> {
        let options = Arc::new(recipe.read_options()?);
        for (name, said) in [("kept", summary.kept), ("removed", summary.removed)] {
            if !self.folder.join(name).is_dir() {
                continue;
            }
            let corpus = self.copied(name, recipe)?;
            let mut found = 0;
            for shard in corpus.iter().flat_map(Corpus::shards) {
                walk::documents(shard, &options, recipe.content()?, watch, |item| {
                    found += u64::from(matches!(item, WalkItem::Document { .. }));
                    Ok::<(), WalkError>(())
                })?;
            }
            self.checked.copied += found;
            self.checked.check_count(&format!("documents in {name}/"), found, said);
        }
        Ok(())
    }

    /// The copies in a folder, if there are any: also those that a folder of input would be read without.
    fn copied(&self, name: &str, recipe: &JobRecipe) -> Result<Option<Corpus>, EngineError> {
        let folder = self.folder.join(name);
        let files: Vec<PathBuf> =
            delivered::all_names(&folder)?.into_iter().map(|name| folder.join(name)).collect();
        if files.is_empty() {
            return Ok(None);
        }
        // The folder as a whole tells more of its files, such as that they are messages.
        Ok(Some(match Corpus::open(&[&folder], recipe.read_options()?) {
            Ok(corpus) if corpus.left_out().is_empty() => corpus,
            _ => Corpus::open(&files, recipe.read_options()?)?,
        }))
    }

    /// Hands every line of a table of JSON lines to `each`; a table that is not there is none of these.
    fn lines<T: DeserializeOwned>(
        &mut self,
        path: &Path,
        mut each: impl FnMut(T, &mut CheckReport),
    ) -> Result<(), EngineError> {
        let file = match File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            file => file.map_err(|error| EngineError::read(path, error))?,
        };
        for (number, line) in BufReader::new(file).lines().enumerate() {
            let line = line.map_err(|error| EngineError::read(path, error))?;
            match serde_json::from_str(&line) {
                Ok(row) => each(row, &mut self.checked),
                Err(error) => {
                    self.checked.report(|| format!("{}, line {}: {error}", path.display(), number + 1));
                }
            }
        }
        Ok(())
    }

    /// The places of the input, as far as the run noted them.
    pub fn inputs(&self) -> Vec<String> {
        let text = std::fs::read(self.folder.join(RUN)).unwrap_or_default();
        let noted = serde_json::from_slice(&text).unwrap_or(Inputs { files: serde_json::Value::Null });
        serde_json::from_value(noted.files).unwrap_or_default()
    }

    /// The recipe of the job; refuses folders whose removals cannot be measured.
    pub fn measurable(&self) -> Result<&JobRecipe, EngineError> {
        let why = match &self.job {
            Err(why) => return Err(self.not_measurable(why)),
            Ok((_, recipe)) if recipe.task != Task::Dedup => "it is no job of `dedup`",
            Ok((_, recipe)) if !recipe.verified => "its pairs were not measured (--unverified)",
            Ok((_, recipe)) if recipe.cluster == ClusterRule::Components => {
                "witnesses of --cluster components may be below the threshold"
            }
            Ok((_, recipe)) if recipe.order.is_some() => {
                "with --order-field its numbers are not those of the input"
            }
            Ok(_) if !self.folder.join("removed.jsonl").is_file() => NO_LINES,
            Ok((_, recipe)) => return Ok(recipe),
        };
        Err(self.not_measurable(why))
    }

    fn not_measurable(&self, why: &str) -> EngineError {
        let folder = self.folder.display();
        EngineError::Request(format!("{folder} cannot be measured again: {why}; leave --measure out"))
    }

    /// Measures every removal again from the texts of the input. Removals for documents of another corpus are passed over.
    pub fn measure(
        &mut self,
        corpus: &Corpus,
        settings: &Settings,
        work: &Path,
        watch: &Watch,
    ) -> Result<(), EngineError> {
        let recipe = self.measurable()?.clone();
        let mut removals: Vec<RemovedLine> = Vec::new();
        self.lines(&self.folder.join("removed.jsonl"), |line: RemovedLine, _| {
            removals.extend(Some(line).filter(|line| line.against.is_none()));
        })?;
        let wanted: BTreeSet<u64> = removals.iter().flat_map(|line| [line.n, line.witness_n]).collect();
        let keep = &mut |n: u64, _: &Document<'_>, _: &str| wanted.contains(&n);
        let copy =
            DocumentCopy::open_or_create(work, (corpus, recipe.content()?), &[], ("removals", keep), watch)?;
        let mut places: BTreeMap<u64, u32> = BTreeMap::new();
        for place in 0..copy.len() as u32 {
            places.insert(copy.line(place)?.n, place);
        }
        let mut pairs = BTreeMap::new();
        for line in &removals {
            let found = [(line.n, &line.id), (line.witness_n, &line.witness)].map(|(n, id)| {
                let place = places.get(&n).copied()?;
                copy.line(place).is_ok_and(|found| found.name == *id).then_some(place)
            });
            match found {
                [Some(one), Some(other)] => drop(pairs.insert((one, other), line)),
                _ => self.checked.report(|| {
                    format!(
                        "{} ({}) or {} ({}) is not in the input",
                        line.id, line.n, line.witness, line.witness_n
                    )
                }),
            }
        }
        let measurer = PairMeasurer::new(&copy, recipe.measure()?, &recipe.profile()?, settings.memory);
        let checked = &mut self.checked;
        measurer.measure::<EngineError>(pairs.keys().map(|&pair| Ok(pair)), watch, |pair, found| {
            checked.measured += 1;
            let Some(line) = pairs.get(&pair) else { return Ok(()) };
            let said = line.similarity.unwrap_or(f64::NAN);
            let right = found.is_some_and(|found| found.reached && (found.forward - said).abs() <= ROUNDING);
            if !right {
                let now = found.map_or("below the threshold".to_owned(), |found| found.forward.to_string());
                let RemovedLine { id, n, witness, witness_n, .. } = line;
                checked.report(|| {
                    format!("{id} ({n}) is said to be {said} like {witness} ({witness_n}), and is {now}")
                });
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use lookalike_corpus::write::rows::RowFormat;

    use super::*;
    use crate::tests::context::as_lines;
    use crate::tests::{recipe, run, settings};
    use crate::{Job, Outputs, Shards};

    #[test]
    fn the_first_mistakes_are_told_and_all_are_counted() {
        let mut report = CheckReport::default();
        report.check_count("documents", 5, 5);
        assert_eq!(report, CheckReport::default());
        for n in 0..30 {
            report.check_count("documents", n, 100);
        }
        assert_eq!((report.mistakes, report.wrong.len()), (30, MAX_REPORTED));
        assert_eq!(report.wrong[0], "documents: 0 are there, and summary.json says 100");
    }

    /// Two texts that share 21 of 23 shingles, another one, and the first again.
    const TEXTS: [&str; 4] = [
        "a b c d e f g h i j k l m n o p q r s t u v w x y z",
        "a b c d e f g h i j k l m n o p q r s t u v w x y other",
        "something else",
        "a b c d e f g h i j k l m n o p q r s t u v w x y z",
    ];

    /// A finished job on these texts.
    fn finished(folder: &Path, recipe: JobRecipe, outputs: Outputs) {
        let options = recipe.read_options().unwrap();
        let corpus = Corpus::in_memory("docs.jsonl", as_lines(&TEXTS).as_bytes().into(), options);
        let job = Job { recipe, corpus, against: None, lexicon: None, settings: settings(), outputs };
        run(job, folder, None).unwrap();
    }

    fn wrong(folder: &Path) -> Vec<String> {
        Results::check(folder, &Watch::default()).unwrap().checked.wrong
    }

    #[test]
    fn a_finished_job_has_no_mistakes_until_a_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        finished(folder.path(), recipe("exact"), Outputs { write: Shards::Kept, ..Outputs::default() });
        let report = Results::check(folder.path(), &Watch::default()).unwrap().checked;
        assert_eq!((report.mistakes, report.removals, report.copied), (0, 2, 2));
        let path = folder.path().join("removed.jsonl");
        let whole = std::fs::read(&path).unwrap();
        let mut changed = whole.clone();
        changed[3] ^= 1;
        for (content, expected) in [
            (changed, "removed.jsonl does not match its digest".to_owned()),
            (
                whole[1..].to_vec(),
                format!("removed.jsonl has {} bytes, and had {}", whole.len() - 1, whole.len()),
            ),
        ] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(wrong(folder.path()), [expected]);
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(wrong(folder.path()), ["removed.jsonl is gone"]);
        std::fs::write(&path, &whole).unwrap();
        std::fs::write(folder.path().join("kept/more.jsonl"), "").unwrap();
        assert_eq!(wrong(folder.path()), ["kept/more.jsonl is none of its files"]);
        std::fs::remove_file(folder.path().join("kept/more.jsonl")).unwrap();
        std::fs::remove_file(folder.path().join(RUN)).unwrap();
        assert_eq!(wrong(folder.path()), ["run.json is gone"]);
    }

    /// Changes a file of a finished job, with its digest and the checksum of the summary, as if the job had been written so.
    fn rewrite(folder: &Path, name: &str, change: impl Fn(&str) -> String) {
        let path = folder.join(name);
        let changed = change(&std::fs::read_to_string(&path).unwrap());
        std::fs::write(&path, changed).unwrap();
        let summary = std::fs::read(folder.join(SUMMARY)).unwrap();
        let mut summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
        summary.as_object_mut().unwrap().remove("checksum");
        let digest = delivered::digest_file(&path).unwrap();
        summary["files"][name] = serde_json::to_value(digest).unwrap();
        std::fs::write(folder.join(SUMMARY), delivered::sealed(&summary)).unwrap();
    }

    #[test]
    fn tables_of_another_version_are_named_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let outputs = || Outputs { write: Shards::Kept, ..Outputs::default() };
        finished(folder.path(), recipe("exact"), outputs());
        let check = || Results::check(folder.path(), &Watch::default()).unwrap();
        assert_eq!((check().checked.unchecked.len(), check().checked.why_unchecked), (0, None));
        let engine = |text: &str| {
            let line = text.lines().find(|line| line.starts_with("engine = ")).unwrap();
            line.trim_start_matches("engine = ").parse::<u32>().unwrap()
        };
        let own = engine(&recipe("exact").to_toml());
        for (other, word) in [(own - 1, "an earlier"), (own + 1, "a newer")] {
            rewrite(folder.path(), RECIPE, |text| {
                text.replace(&format!("engine = {}\n", engine(text)), &format!("engine = {other}\n"))
            });
            let results = check();
            let report = &results.checked;
            assert_eq!((report.mistakes, report.removals, report.copied), (0, 0, 0), "{:?}", report.wrong);
            assert_eq!(report.unchecked, ["clusters.jsonl", "kept/", "rejected.jsonl", "removed.jsonl"]);
            let why = report.why_unchecked.as_ref().unwrap();
            assert!(why.starts_with(&format!("it was made by {word} lookalike (")), "{why}");
            assert!(
                why.contains(&format!("engine version {other}) and this is engine version {own}")),
                "{why}"
            );
            let error = results.measurable().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        rewrite(folder.path(), RECIPE, |_| "task = \"dedup\"\n".to_owned());
        let why = check().checked.why_unchecked.unwrap();
        assert!(why.starts_with("recipe.toml is that of no job (missing field"), "{why}");
    }

    #[test]
    fn tables_that_are_not_compared_are_named() {
        let unchecked = |recipe: JobRecipe, outputs: Outputs| {
            let folder = tempfile::tempdir().unwrap();
            finished(folder.path(), recipe, outputs);
            let CheckReport { mistakes, unchecked, why_unchecked, .. } =
                Results::check(folder.path(), &Watch::default()).unwrap().checked;
            assert_eq!(mistakes, 0);
            (unchecked, why_unchecked)
        };
        let parquet = || Outputs { format: RowFormat::Parquet, ..Outputs::default() };
        let (tables, why) = unchecked(recipe("exact"), parquet());
        assert_eq!(tables, ["clusters.parquet", "rejected.parquet", "removed.parquet"]);
        assert_eq!(why.as_deref(), Some(NO_LINES));
        let pairs = || JobRecipe { task: Task::Pairs, ..recipe("exact") };
        let (tables, why) = unchecked(pairs(), Outputs::default());
        assert_eq!((tables, why.as_deref()), (vec!["groups.jsonl".to_owned()], Some(NO_COUNT)));
        let (tables, why) = unchecked(pairs(), parquet());
        assert_eq!(tables, ["groups.parquet", "pairs.parquet", "rejected.parquet"]);
        assert_eq!(why.as_deref(), Some(NO_LINES));
    }

    #[test]
    fn a_folder_without_a_summary_holds_no_finished_job() {
        let folder = tempfile::tempdir().unwrap();
        let error = Results::check(folder.path(), &Watch::default()).err().unwrap().to_string();
        assert!(error.contains("holds no finished job: there is no summary.json"), "{error}");
        std::fs::write(folder.path().join(SUMMARY), "{}").unwrap();
        let said = wrong(folder.path());
        assert_eq!(
            said,
            [
                "summary.json does not match its checksum",
                "summary.json says nothing of the files that belong to it"
            ]
        );
    }

    #[test]
    fn removals_are_measured_again_from_the_input() {
        let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        finished(folder.path(), recipe("exact"), Outputs::default());
        let measured = |texts: &[&str], work: &Path| {
            let corpus =
                Corpus::in_memory("docs.jsonl", as_lines(texts).as_bytes().into(), Default::default());
            let mut results = Results::check(folder.path(), &Watch::default()).unwrap();
            results.measure(&corpus, &settings(), work, &Watch::default()).unwrap();
            (results.checked.measured, results.checked.wrong)
        };
        assert_eq!(measured(&TEXTS, &work.path().join("a")), (2, vec![]));
        // The second document is another now.
        let (count, wrong) = measured(&[TEXTS[0], "other words", TEXTS[2], TEXTS[3]], &work.path().join("b"));
        assert_eq!((count, wrong.len()), (2, 1));
        assert!(
            wrong[0].starts_with("d1 (1) is said to be 0.913043478 like d0 (0)")
                && wrong[0].ends_with("and is below the threshold"),
            "{wrong:?}"
        );
        let (count, wrong) = measured(&TEXTS[..3], &work.path().join("c"));
        assert_eq!((count, wrong), (1, vec!["d3 (3) or d0 (0) is not in the input".to_owned()]));
    }

    #[test]
    fn only_verified_removals_of_stars_can_be_measured() {
        let refused = |recipe: JobRecipe| {
            let folder = tempfile::tempdir().unwrap();
            finished(folder.path(), recipe, Outputs::default());
            let results = Results::check(folder.path(), &Watch::default()).unwrap();
            results.measurable().map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(refused(recipe("exact")), Ok(()));
        for (recipe, why) in [
            (JobRecipe { task: Task::Pairs, ..recipe("exact") }, "it is no job of `dedup`"),
            (JobRecipe { verified: false, ..recipe("md5") }, "its pairs were not measured"),
            (JobRecipe { cluster: ClusterRule::Components, ..recipe("exact") }, "may be below the threshold"),
            (
                JobRecipe { order: Some("id".to_owned()), ..recipe("exact") },
                "its numbers are not those of the input",
            ),
        ] {
            let error = refused(recipe).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_table_of_pairs_may_lie_beside_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let job = path("mine.jsonl.job");
        std::fs::create_dir(&job).unwrap();
        let results = Results { folder: &job, checked: CheckReport::default(), job: Err(String::new()) };
        assert_eq!(results.path_of("pairs.jsonl"), path("mine.jsonl"));
        assert_eq!(results.path_of("groups.jsonl"), job.join("groups.jsonl"));
        std::fs::write(job.join("pairs.jsonl"), "").unwrap();
        assert_eq!(results.path_of("pairs.jsonl"), job.join("pairs.jsonl"));
        assert_eq!(results.inputs(), [] as [String; 0]);
        std::fs::write(job.join(RUN), "{\"files\":[\"/a\",\"/b\"]}").unwrap();
        assert_eq!(results.inputs(), ["/a", "/b"]);
    }
}

//! Recipes from options. The command line and the Python package both use this module, so that they have the same defaults and the same
//! error messages.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::corpus::{Format, Namespaces, ReadOptions};
use crate::engine::lexicon::fingerprint;
use crate::engine::recipe::{
    ClusterRule, Combine, JobRecipe, Keep, ReadSettings, RecipeError, Task, content_name, namespaces_name,
};
use crate::engine::{EngineError, Settings, Spool};
use crate::methods::{Method, Setting, method};
use crate::model::{Similarity, Threshold};
use crate::text::Profile;
use crate::text::extract::ContentMode;

/// Options that define which documents are near-duplicates.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchingOptions {
    /// Methods that propose pairs.
    pub methods: Vec<String>,
    /// The rule that combines the pairs of several methods.
    pub combine: Combine,
    /// One more method, which must accept what the others propose.
    pub filter: Option<String>,
    /// Words and how common they are.
    pub lexicon: Option<PathBuf>,
    /// The similarity that is measured.
    pub similarity: Similarity,
    /// Words per shingle that it is measured on.
    pub shingle: usize,
    /// The least similarity of near-duplicates.
    pub threshold: Threshold,
    /// Wanted probability that a pair right at the threshold is proposed.
    pub recall: f64,
    /// Pairs count by the word of the methods alone.
    pub unverified: bool,
    /// Documents are compared only with those that have the same value in this field.
    pub within: Option<String>,
    /// Larger groups do not propose all of their pairs.
    pub max_group: Option<usize>,
    /// Seed of every random choice.
    pub seed: u64,
    /// The recipe of an earlier run, instead of all of these.
    pub recipe: Option<PathBuf>,
}

impl Default for MatchingOptions {
    fn default() -> Self {
        let Setting { similarity, threshold, shingle, recall, seed } = Setting::default();
        MatchingOptions {
            methods: vec!["minhash".to_owned()],
            combine: Combine::Any,
            filter: None,
            lexicon: None,
            similarity,
            shingle,
            threshold,
            recall,
            unverified: false,
            within: None,
            max_group: None,
            seed,
            recipe: None,
        }
    }
}

/// Options for reading documents and for taking text from them.
#[derive(Debug, Clone)]
pub struct DocumentOptions {
    /// Names of fields, limits, and the format of every input.
    pub reading: ReadOptions,
    /// The part of a document to take; by default it depends on the profile.
    pub content: Option<ContentMode>,
    /// From text to words.
    pub profile: Profile,
}

impl Default for DocumentOptions {
    fn default() -> Self {
        DocumentOptions { reading: ReadOptions::default(), content: None, profile: Profile::web() }
    }
}

impl DocumentOptions {
    /// Returns the part of a document to take: by default the page, or for the e-mail profile kolcz page or message.
    pub fn content_mode(&self) -> ContentMode {
        match self.content {
            Some(content) => content,
            None if self.profile.name == "kolcz" => ContentMode::PageOrEmail,
            None => ContentMode::Page,
        }
    }

    /// Returns a recipe with this profile and these options of reading; all else is that of the simplest recipe of the task.
    pub fn recipe(&self, task: Task) -> JobRecipe {
        let ReadOptions { fields, max_document_bytes, revisions, namespaces, format, .. } = &self.reading;
        JobRecipe {
            profile: self.profile.recipe(),
            reading: ReadSettings {
                id_field: fields.id.clone(),
                text_field: fields.text.clone(),
                html_field: fields.html.clone(),
                url_field: fields.url.clone(),
                max_document_bytes: *max_document_bytes as u64,
                revisions: *revisions,
                namespaces: namespaces_name(namespaces),
                input_format: format.map(|format| format.to_string()),
                content: content_name(self.content_mode()).to_owned(),
            },
            ..JobRecipe::simplest(task)
        }
    }
}

/// The most documents of a group that proposes all of its pairs, unless one is named: few where one of each is kept, many where
/// pairs are wanted.
fn max_group(task: Task) -> usize {
    match task {
        Task::Dedup => 1000,
        Task::Pairs | Task::Compare => 20_000,
    }
}

impl MatchingOptions {
    /// The recipe of a job.
    pub fn recipe(&self, task: Task, documents: &DocumentOptions) -> Result<JobRecipe, EngineError> {
        if let Some(path) = &self.recipe {
            return read_recipe(path, task);
        }
        let setting = Setting {
            similarity: self.similarity,
            threshold: self.threshold,
            shingle: self.shingle,
            recall: self.recall,
            seed: self.seed,
        };
        let build =
            |text: &String| method(text, &setting).map_err(|error| EngineError::Request(error.to_string()));
        let methods: Vec<Box<dyn Method>> = self.methods.iter().map(build).collect::<Result<_, _>>()?;
        let filter = self.filter.as_ref().map(build).transpose()?;
        let all = || methods.iter().chain(&filter);
        if self.unverified && all().any(|method| method.recipe().name == "exact") {
            let sentence =
                "the method exact is verification itself; leave --unverified out, or take another method";
            return Err(EngineError::Request(sentence.to_owned()));
        }
        let mut recipe = JobRecipe {
            similarity: self.similarity,
            shingle: self.shingle,
            threshold: self.threshold.to_string(),
            verified: !self.unverified,
            max_group: self.max_group.unwrap_or_else(|| max_group(task)),
            within: self.within.clone(),
            combine: self.combine,
            lexicon: self.lexicon.as_deref().map(fingerprint).transpose()?,
            methods: methods.iter().map(|method| method.recipe()).collect(),
            filter: filter.map(|method| method.recipe()),
            ..documents.recipe(task)
        };
        recipe.resolve_profiles()?;
        Ok(recipe)
    }

    /// The recipe of `dedup`, by whether another corpus is there to remove what it holds.
    pub fn dedup(
        &self,
        documents: &DocumentOptions,
        keep: &Keep,
        cluster: ClusterRule,
        against: bool,
    ) -> Result<JobRecipe, EngineError> {
        let mut recipe = self.recipe(Task::Dedup, documents)?;
        if self.recipe.is_none() {
            recipe.keep = keep.to_string();
            recipe.cluster = cluster;
        }
        recipe.all = false;
        recipe.against = against;
        Ok(recipe)
    }

    /// The recipe of `pairs`, by whether those below the threshold are wanted too.
    pub fn pairs(&self, documents: &DocumentOptions, all: bool) -> Result<JobRecipe, EngineError> {
        let mut recipe = self.recipe(Task::Pairs, documents)?;
        recipe.all |= all;
        recipe.against = false;
        Ok(recipe)
    }

    /// The recipe of `compare`.
    pub fn compare(&self, documents: &DocumentOptions) -> Result<JobRecipe, EngineError> {
        let mut recipe = self.recipe(Task::Compare, documents)?;
        recipe.all = true;
        recipe.against = true;
        Ok(recipe)
    }

    /// The recipe of an index.
    pub fn index(&self, documents: &DocumentOptions) -> Result<JobRecipe, EngineError> {
        let mut recipe = self.recipe(Task::Dedup, documents)?;
        recipe.all = false;
        recipe.against = false;
        Ok(recipe)
    }

    /// The methods of a recipe as they were typed, or in full where the recipe was replayed; one that comes again has a number.
    pub fn names(&self, recipe: &JobRecipe) -> Vec<String> {
        let mut names = match self.recipe {
            None => self.methods.clone(),
            Some(_) => recipe.methods.iter().map(ToString::to_string).collect(),
        };
        number_duplicates(&mut names, " #");
        names
    }
}

/// Returns the remarks of a recipe's methods on their parameters, none twice in a row.
pub fn advice(recipe: &JobRecipe) -> Vec<String> {
    let methods = recipe.methods().unwrap_or_default();
    let mut all: Vec<String> = methods.iter().filter_map(|method| method.abilities().advice()).collect();
    // Methods that differ in what they read say the same.
    all.dedup();
    all
}

fn read_recipe(path: &Path, task: Task) -> Result<JobRecipe, EngineError> {
    let text = std::fs::read_to_string(path).map_err(|error| EngineError::read(path, error))?;
    let mut recipe = JobRecipe::from_toml(&text).map_err(|error| {
        let what = match error {
            RecipeError::OtherVersion { .. } => "cannot be used",
            RecipeError::Unreadable(_) => "is no recipe",
        };
        EngineError::Request(format!("{} {what}: {error}", path.display()))
    })?;
    recipe.task = task;
    Ok(recipe)
}

/// Adds a number to names that come again, so that no two are alike: a number that another name bears already is passed over.
pub fn number_duplicates(names: &mut [String], before: &str) {
    let mut taken: BTreeSet<String> = names.iter().cloned().collect();
    let mut seen = BTreeSet::new();
    for name in names {
        if seen.insert(name.clone()) {
            continue;
        }
        let mut numbered = (2..).map(|number: u64| format!("{name}{before}{number}"));
        *name = numbered.find(|numbered| taken.insert(numbered.clone())).expect("numbers do not end");
    }
}

/// Resolves a path, or its folder if the path does not exist; a path without either stays as it is.
pub fn resolve_path(path: &Path) -> PathBuf {
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Refuses results inside of what is read: the next start would read them, too.
pub fn check_output_outside(inputs: &[OsString], output: &Path) -> Result<(), EngineError> {
    let output = resolve_path(output);
    let inside =
        |input: &&OsString| Path::new(input).is_dir() && output.starts_with(resolve_path(Path::new(input)));
    match inputs.iter().find(inside) {
        None => Ok(()),
        Some(input) => Err(EngineError::Request(format!(
            "{} lies inside the input {}; name a folder outside of it",
            output.display(),
            Path::new(input).display()
        ))),
    }
}

/// Returns the settings of a job: all cores and half of the machine's memory, unless others are given.
pub fn settings(threads: Option<usize>, memory: Option<u64>, spool: Spool) -> Settings {
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
    Settings { threads: threads.unwrap_or_else(cores), memory: memory.unwrap_or_else(half_of_memory), spool }
}

/// Half of the machine's memory, or 4 GB where it does not tell.
fn half_of_memory() -> u64 {
    let facts = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = facts.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|total| total.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.map_or(4 << 30, |kib| (kib << 10) / 2)
}

/// A size in bytes, with K, M or G for powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'k', 'm', 'g']);
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return Err("a size has at most one of K, M and G".to_owned()),
    };
    let number: u64 =
        digits.parse().map_err(|_| "a size is a whole number, such as 512, 64K, 32M or 2G".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "the size is too large".to_owned())
}

/// The most bytes of a record.
///
/// Positions inside a document are 32 bits wide, and one character of two bytes can become a word of 33 on its way to normal
/// form, hence the bound.
pub fn document_size(text: &str) -> Result<usize, String> {
    let bytes = size(text)?;
    if bytes == 0 || bytes > 128 << 20 {
        return Err("the limit can be 1 byte up to 128M".to_owned());
    }
    Ok(bytes as usize)
}

/// Namespaces of a wiki, with commas between, or all.
pub fn namespaces(text: &str) -> Result<Namespaces, String> {
    if text == "all" {
        return Ok(Namespaces::All);
    }
    let numbers: Result<Vec<i32>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    numbers
        .map(Namespaces::Only)
        .map_err(|_| "namespaces are whole numbers with commas between, or all".to_owned())
}

/// A probability that is wanted.
pub fn recall(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number < 1.0);
    number.ok_or_else(|| "a number above 0 and below 1 is wanted, such as 0.98".to_owned())
}

/// A number of things of which there must be one.
pub fn positive(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "a whole number of 1 or more is wanted".to_owned())
}

/// A profile, by its name or with parameters.
pub fn profile(text: &str) -> Result<Profile, String> {
    text.parse().map_err(|error: crate::text::ProfileError| error.to_string())
}

/// A format of files.
pub fn format(text: &str) -> Result<Format, String> {
    text.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_powers_of_1024() {
        assert_eq!(size("512"), Ok(512));
        assert_eq!(size("64K"), Ok(65536));
        assert_eq!(size("2g"), Ok(2 << 30));
        assert!(size("2GG").is_err() && size("x").is_err() && size("99999999999G").is_err());
        assert!(document_size("2G").is_err() && document_size("0").is_err());
    }

    #[test]
    fn a_recipe_has_what_was_asked_for() {
        let documents = DocumentOptions::default();
        let matching = MatchingOptions { threshold: "0.7".parse().unwrap(), ..MatchingOptions::default() };
        let recipe = matching.dedup(&documents, &Keep::Longest, ClusterRule::Star, true).unwrap();
        assert_eq!(
            (recipe.keep.as_str(), recipe.threshold.as_str(), recipe.max_group),
            ("longest", "0.7", 1000)
        );
        assert!(recipe.against && !recipe.all && recipe.verified);
        assert_eq!(matching.pairs(&documents, true).unwrap().max_group, 20_000);
        let unknown = MatchingOptions { methods: vec!["nobody".to_owned()], ..MatchingOptions::default() };
        assert!(matches!(unknown.compare(&documents), Err(EngineError::Request(_))));
    }

    #[test]
    fn exact_cannot_be_believed_unmeasured() {
        let matching = MatchingOptions {
            methods: vec!["exact".to_owned()],
            unverified: true,
            ..MatchingOptions::default()
        };
        let message = matching.index(&DocumentOptions::default()).unwrap_err().to_string();
        assert!(message.starts_with("the method exact is verification itself"), "{message}");
    }

    #[test]
    fn names_that_come_again_have_a_number() {
        let mut names = ["a", "b", "a"].map(str::to_owned);
        number_duplicates(&mut names, " #");
        assert_eq!(names, ["a", "b", "a #2"]);
    }

    #[test]
    fn a_number_that_another_name_bears_is_passed_over() {
        let mut names = ["web", "web", "web-2", "web", "web-2"].map(str::to_owned);
        number_duplicates(&mut names, "-");
        assert_eq!(names, ["web", "web-3", "web-2", "web-4", "web-2-2"]);
    }
}

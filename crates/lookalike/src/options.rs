//! The options of a search for near-duplicates, and the recipes and settings that they become.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::engine::recipe::{ClusterRule, Keep, ReadSettings};
use crate::engine::{EngineError, JobRecipe, Settings, Spool};
use crate::model::Similarity;
use crate::request::{self, DocumentOptions, MatchingOptions};
use crate::text::Profile;

/// The options of a search for near-duplicates. Without any, two texts are near-duplicates if the Jaccard similarity of their 5-word
/// shingles is 0.8 or more.
///
/// ```
/// use lookalike::{Keep, Options};
///
/// let texts = ["one two three", "one two three four"];
/// let options = Options::new().method("exact").shingle(1).threshold(0.7).keep(Keep::Longest);
/// assert_eq!(options.dedup(texts)?.kept, [1]);
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// Values are checked when they are used: a threshold of 2 is an error of [`Options::dedup`], and not a panic here.
#[derive(Debug, Clone)]
pub struct Options {
    matching: MatchingOptions,
    threshold: Option<f64>,
    keep: Keep,
    profile: Profile,
    max_document_bytes: Option<usize>,
    threads: Option<usize>,
    memory: Option<u64>,
    scratch: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            matching: MatchingOptions::default(),
            threshold: None,
            keep: Keep::First,
            profile: Profile::web(),
            max_document_bytes: None,
            threads: None,
            memory: None,
            scratch: None,
        }
    }
}

impl Options {
    /// The options of the command line by default: `minhash`, Jaccard similarity of 5-word shingles, 0.8.
    pub fn new() -> Self {
        Options::default()
    }

    /// The method that proposes pairs, such as `exact` or `simhash:k=3`; `minhash` by default.
    #[must_use]
    pub fn method(self, method: &str) -> Self {
        self.methods([method])
    }

    /// Several methods: pairs count that any of them proposes.
    #[must_use]
    pub fn methods<M: AsRef<str>>(mut self, methods: impl IntoIterator<Item = M>) -> Self {
        self.matching.methods = methods.into_iter().map(|method| method.as_ref().to_owned()).collect();
        self
    }

    /// The least similarity of near-duplicates: above 0, at most 1, to nine decimals; 0.8 by default.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// The similarity that is measured; Jaccard by default.
    #[must_use]
    pub fn similarity(mut self, similarity: Similarity) -> Self {
        self.matching.similarity = similarity;
        self
    }

    /// The words per shingle that similarity is measured on; 5 by default.
    #[must_use]
    pub fn shingle(mut self, words: usize) -> Self {
        self.matching.shingle = words;
        self
    }

    /// The text of several near-duplicates that is kept; the first by default. An index always keeps the first.
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// The rules from text to words; [`Profile::web`] by default.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// The most bytes of a text, up to 128 MiB; longer ones are rejected. 32 MiB by default.
    #[must_use]
    pub fn max_document_bytes(mut self, bytes: usize) -> Self {
        self.max_document_bytes = Some(bytes);
        self
    }

    /// The recipe of an earlier run, `recipe.toml` of its folder, instead of all options above.
    #[must_use]
    pub fn recipe(mut self, recipe: impl Into<PathBuf>) -> Self {
        self.matching.recipe = Some(recipe.into());
        self
    }

    /// All options that define which texts are near-duplicates at once, for those that have no function here.
    #[must_use]
    pub fn matching(mut self, matching: MatchingOptions) -> Self {
        self.matching = matching;
        self
    }

    /// The number of threads that work; as many as there are cores by default. Results do not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The most bytes of memory that the work takes, the copy of the texts included; half of the machine's by default. Disk takes the
    /// rest, and results do not depend on it.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// The folder for temporary files; the system's by default.
    #[must_use]
    pub fn scratch(mut self, folder: impl Into<PathBuf>) -> Self {
        self.scratch = Some(folder.into());
        self
    }

    /// The folder for temporary files, where one was named.
    pub(crate) fn scratch_folder(&self) -> Option<&Path> {
        self.scratch.as_deref()
    }

    /// The lexicon that was given to methods that weigh words.
    pub(crate) fn lexicon(&self) -> Option<&Path> {
        self.matching.lexicon.as_deref()
    }

    /// The settings of a run beside which `held` bytes of memory are taken.
    pub(crate) fn settings(&self, held: u64) -> Result<Settings, EngineError> {
        if self.threads == Some(0) {
            return Err(EngineError::Request(
                "the number of threads is 1 or more, and 0 were given".to_owned(),
            ));
        }
        let settings = request::settings(self.threads, self.memory, Spool::Auto);
        Ok(Settings { memory: settings.memory.saturating_sub(held), ..settings })
    }

    /// The recipe of `dedup`.
    pub(crate) fn dedup_recipe(&self) -> Result<JobRecipe, EngineError> {
        let (matching, documents) = self.checked()?;
        checked_recipe(matching.dedup(&documents, &self.keep, ClusterRule::Star, false)?)
    }

    /// The recipe of `pairs`.
    pub(crate) fn pairs_recipe(&self) -> Result<JobRecipe, EngineError> {
        let (matching, documents) = self.checked()?;
        let recipe = JobRecipe { all: false, ..matching.pairs(&documents, false)? };
        checked_recipe(recipe)
    }

    /// The recipe of a comparison of two corpora.
    pub(crate) fn compare_recipe(&self) -> Result<JobRecipe, EngineError> {
        let (matching, documents) = self.checked()?;
        checked_recipe(matching.compare(&documents)?)
    }

    /// The recipe of an index, which refuses what only a job can do.
    pub(crate) fn index_recipe(&self) -> Result<JobRecipe, EngineError> {
        self.dedup_recipe()
    }

    /// The options of matching and reading, refused where they make no sense.
    fn checked(&self) -> Result<(MatchingOptions, DocumentOptions), EngineError> {
        let refuse = |sentence: String| Err(EngineError::Request(sentence));
        if self.matching.recipe.is_some() {
            self.check_recipe_alone()?;
        }
        if self.matching.methods.is_empty() {
            return refuse("no method was given; name one or more, such as minhash".to_owned());
        }
        if self.matching.shingle == 0 {
            return refuse("a shingle has 1 word or more, and 0 were given".to_owned());
        }
        let recall = request::recall(&self.matching.recall.to_string());
        recall
            .map_err(|why| EngineError::Request(format!("{} is no recall: {why}", self.matching.recall)))?;
        let mut matching = self.matching.clone();
        if let Some(threshold) = self.threshold {
            matching.threshold = format!("{threshold:.9}").parse().map_err(EngineError::Request)?;
        }
        let mut documents = DocumentOptions { profile: self.profile.clone(), ..DocumentOptions::default() };
        if let Some(bytes) = self.max_document_bytes {
            let checked = request::document_size(&bytes.to_string());
            documents.reading.max_document_bytes =
                checked.map_err(|why| EngineError::Request(format!("a text of {bytes} bytes: {why}")))?;
        }
        Ok((matching, documents))
    }

    /// Refuses options beside a recipe: they would decide nothing.
    fn check_recipe_alone(&self) -> Result<(), EngineError> {
        let others = MatchingOptions { recipe: None, lexicon: None, ..self.matching.clone() };
        let nothing_else = others == MatchingOptions::default()
            && self.threshold.is_none()
            && self.keep == Keep::First
            && self.profile.recipe() == Profile::web().recipe()
            && self.max_document_bytes.is_none();
        match nothing_else {
            true => Ok(()),
            false => Err(EngineError::Request(
                "a recipe has all options that decide about results; give the recipe or these options, and not both"
                    .to_owned(),
            )),
        }
    }
}

/// Refuses a recipe that waives measured pairs or kept witnesses: the functions of this crate promise both.
fn checked_recipe(recipe: JobRecipe) -> Result<JobRecipe, EngineError> {
    let why = match () {
        () if !recipe.verified => "pairs are always measured here, and --unverified is for jobs alone",
        () if recipe.cluster != ClusterRule::Star => {
            "every removed text has a kept witness here, and --cluster components is for jobs alone"
        }
        () => return Ok(recipe),
    };
    Err(EngineError::Request(format!("{why}; run it as lookalike::engine::Job")))
}

/// A recipe for texts in memory, which have no fields and no format.
pub(crate) fn for_texts(recipe: JobRecipe) -> Result<JobRecipe, EngineError> {
    if recipe.order.is_some() || recipe.within.is_some() {
        let sentence =
            "texts in memory have no fields; leave --order-field and --within out, or read them from files";
        return Err(EngineError::Request(sentence.to_owned()));
    }
    let ReadSettings { max_document_bytes, content, .. } = recipe.reading;
    let reading = ReadSettings { max_document_bytes, content, ..ReadSettings::default() };
    Ok(JobRecipe { reading, other_fields: BTreeMap::new(), ..recipe })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(options: &Options) -> String {
        options.dedup_recipe().unwrap_err().to_string()
    }

    #[test]
    fn recipes_are_those_of_the_command_line() {
        let plain = MatchingOptions::default();
        let expected =
            plain.dedup(&DocumentOptions::default(), &Keep::First, ClusterRule::Star, false).unwrap();
        assert_eq!(Options::new().dedup_recipe().unwrap(), expected);
        let recipe = Options::new().method("simhash").threshold(0.1 + 0.2).shingle(2).keep(Keep::Shortest);
        let recipe = recipe.similarity(Similarity::Cosine).dedup_recipe().unwrap();
        assert_eq!((recipe.threshold.as_str(), recipe.shingle, recipe.keep.as_str()), ("0.3", 2, "shortest"));
        assert_eq!((recipe.methods[0].name.as_str(), recipe.similarity), ("simhash", Similarity::Cosine));
    }

    #[test]
    fn values_that_make_no_sense_are_refused_in_a_sentence() {
        for threshold in [0.0, -0.5, 1.5, f64::NAN, f64::INFINITY, 1e-12] {
            let told = refusal(&Options::new().threshold(threshold));
            assert!(told.contains("is no threshold"), "{told}");
        }
        assert!(refusal(&Options::new().shingle(0)).contains("1 word or more"));
        assert!(refusal(&Options::new().method("nobody")).contains("there is no method nobody"));
        assert!(refusal(&Options::new().methods([] as [&str; 0])).contains("no method was given"));
        assert!(refusal(&Options::new().max_document_bytes(0)).contains("1 byte up to 128M"));
        let recall = MatchingOptions { recall: 1.0, ..MatchingOptions::default() };
        assert!(refusal(&Options::new().matching(recall)).contains("is no recall"));
        assert!(Options::new().threads(0).settings(0).unwrap_err().to_string().contains("1 or more"));
    }

    #[test]
    fn what_waives_a_promise_is_refused() {
        let unverified = MatchingOptions { unverified: true, ..MatchingOptions::default() };
        assert!(refusal(&Options::new().matching(unverified)).contains("always measured"));
        let recipe = JobRecipe { cluster: ClusterRule::Components, ..Options::new().dedup_recipe().unwrap() };
        assert!(checked_recipe(recipe).unwrap_err().to_string().contains("kept witness"));
    }

    #[test]
    fn a_recipe_goes_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("recipe.toml");
        let before = Options::new().threshold(0.6).keep(Keep::Longest).dedup_recipe().unwrap();
        std::fs::write(&file, before.to_toml()).unwrap();
        assert_eq!(Options::new().recipe(&file).threads(1).dedup_recipe().unwrap(), before);
        for other in [
            Options::new().threshold(0.8),
            Options::new().keep(Keep::Longest),
            Options::new().method("exact"),
            Options::new().profile("yandex".parse().unwrap()),
            Options::new().max_document_bytes(1 << 20),
        ] {
            assert!(refusal(&other.recipe(&file)).contains("and not both"));
        }
    }

    #[test]
    fn texts_have_no_fields() {
        let mut recipe = Options::new().max_document_bytes(1 << 20).dedup_recipe().unwrap();
        recipe.reading.text_field = "body".to_owned();
        for field in [
            JobRecipe { order: Some("id".to_owned()), ..recipe.clone() },
            JobRecipe { within: Some("@host".to_owned()), ..recipe.clone() },
        ] {
            assert!(for_texts(field).unwrap_err().to_string().contains("have no fields"));
        }
        let recipe = for_texts(recipe).unwrap();
        assert_eq!(
            (recipe.reading.text_field.as_str(), recipe.reading.max_document_bytes),
            ("text", 1 << 20)
        );
    }

    #[test]
    fn memory_that_is_held_is_not_there_for_the_work() {
        let options = Options::new().memory(1 << 30);
        assert_eq!(options.settings(1 << 20).unwrap().memory, (1 << 30) - (1 << 20));
    }
}

//! The recipe of a job: everything that can change its result, and nothing else.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use lookalike_corpus::{Fields, Namespaces, ReadOptions};
use lookalike_methods::{Method, Setting, method};
use lookalike_model::{Document, Recipe, Similarity, Threshold};
use lookalike_text::extract::ContentMode;
use lookalike_text::{Profile, ProfileError};
use serde::{Deserialize, Serialize};

use crate::error::EngineError;
use crate::measure::Measure;
use crate::panel::Panel;

pub use crate::panel::Combine;

/// Raised when the same recipe would give another result or other run files.
const ENGINE: u32 = 4;

/// The reason why a text is no recipe for this program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecipeError {
    /// It was written by a program with other rules and files.
    #[error("it was made by {} lookalike ({lookalike}, engine version {engine}) and this is engine version {ENGINE}; take the program that wrote it", if *engine > ENGINE { "a newer" } else { "an earlier" })]
    OtherVersion {
        /// The version of that program.
        lookalike: String,
        /// The version of its rules and files.
        engine: u32,
    },
    /// It is no recipe.
    #[error("{0}")]
    Unreadable(String),
}

/// The versions in a recipe, which may have fields and values that nobody knows yet.
#[derive(Deserialize)]
struct Versions {
    lookalike: String,
    engine: u32,
}

/// The kind of result that a job gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// One kept of each group of near-duplicates.
    Dedup,
    /// Every near-duplicate pair.
    Pairs,
    /// Every pair between two corpora that a method accepts.
    Compare,
}

impl Task {
    /// Returns true if the result is a list of pairs, and no document is kept or removed.
    pub(crate) fn lists_pairs(self) -> bool {
        self != Task::Dedup
    }
}

/// The rule that chooses the document to keep from several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// The first of the input.
    First,
    /// The one with most words.
    Longest,
    /// The one with fewest words.
    Shortest,
    /// The one with the lowest or highest value of a field; those without it come last.
    Field {
        /// The field.
        name: String,
        /// Highest first.
        descending: bool,
    },
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keep::First => f.write_str("first"),
            Keep::Longest => f.write_str("longest"),
            Keep::Shortest => f.write_str("shortest"),
            Keep::Field { name, descending } => {
                write!(f, "field:{name}{}", if *descending { ":desc" } else { "" })
            }
        }
    }
}

impl FromStr for Keep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "first" => return Ok(Keep::First),
            "longest" => return Ok(Keep::Longest),
            "shortest" => return Ok(Keep::Shortest),
            _ => {}
        }
        let name = text.strip_prefix("field:").unwrap_or_default();
        let (name, descending) = match name.rsplit_once(':') {
            Some((name, "desc")) => (name, true),
            Some((name, "asc")) => (name, false),
            _ => (name, false),
        };
        if name.is_empty() {
            return Err("first, longest, shortest, field:NAME or field:NAME:desc is wanted".to_owned());
        }
        Ok(Keep::Field { name: name.to_owned(), descending })
    }
}

/// The rule by which verified pairs become clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClusterRule {
    /// A document is removed only for a kept one that it is similar to.
    Star,
    /// All but the first of each connected component are removed.
    Components,
}

/// The property that two documents must share to be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Within {
    /// Those with the same value of a field.
    Field(String),
    /// Those with the same host in their address.
    Host,
}

/// The order in which documents are taken, where it is not that of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Their ids, as bytes.
    Id,
    /// The values of a field, then their ids; those without it come last.
    Field(String),
}

/// The further fields that a job looks at, beside id, address and text: the index of each among those that readers are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ExtraFields {
    keep: Option<usize>,
    within: Option<usize>,
    order: Option<usize>,
}

impl ExtraFields {
    /// The value that kept documents are chosen by.
    pub(crate) fn keep<'d>(self, document: &Document<'d>) -> Option<&'d str> {
        document.extras.get(self.keep?)
    }

    /// The value that documents must share to be compared.
    pub(crate) fn within<'d>(self, document: &Document<'d>) -> Option<&'d str> {
        document.extras.get(self.within?)
    }

    /// The value that documents are ordered by.
    pub(crate) fn order<'d>(self, document: &Document<'d>) -> Option<&'d str> {
        document.extras.get(self.order?)
    }
}

/// The settings for reading documents: those of [`ReadOptions`] that can change a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ReadSettings {
    /// Field with the id.
    pub id_field: String,
    /// Field with the text.
    pub text_field: String,
    /// Field with the HTML.
    pub html_field: String,
    /// Field with the address.
    pub url_field: String,
    /// Longer records are rejected.
    pub max_document_bytes: u64,
    /// Every revision of a MediaWiki page is a document.
    pub revisions: bool,
    /// MediaWiki namespaces, with commas between, or all.
    pub namespaces: String,
    /// Format of every input, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_format: Option<String>,
    /// The part of a document whose text is taken: page, main, email, or page-or-email.
    pub content: String,
}

/// Everything that can change the result of a job; never threads, memory or paths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct JobRecipe {
    /// Version of the program.
    pub lookalike: String,
    /// Version of the engine's rules and files.
    pub engine: u32,
    /// The kind of result.
    pub task: Task,
    /// The kind of similarity that is measured.
    pub similarity: Similarity,
    /// Words per shingle that it is measured on.
    pub shingle: usize,
    /// The least similarity of near-duplicates.
    pub threshold: String,
    /// Pairs count only when they were measured.
    pub verified: bool,
    /// The rule that chooses the document to keep.
    pub keep: String,
    /// The rule by which pairs become clusters.
    pub cluster: ClusterRule,
    /// Larger groups do not propose all of their pairs.
    pub max_group: usize,
    /// Pairs below the threshold are written too.
    #[serde(default)]
    pub all: bool,
    /// Another corpus is there to remove from this one what it holds.
    #[serde(default)]
    pub against: bool,
    /// Documents are compared only with those that have the same value here; `@host` is the host of the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// Field in the order of which documents are taken; without it, they are in the order of the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// The rule by which the proposals of several methods are combined.
    #[serde(default)]
    pub combine: Combine,
    /// Digest of the lexicon that was given; without one, methods that need it get it from the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lexicon: Option<String>,
    /// The methods that propose pairs.
    #[serde(rename = "method")]
    pub methods: Vec<Recipe>,
    /// A method that must accept what the others propose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Recipe>,
    /// From text to the words that are measured.
    pub profile: Recipe,
    /// From text to the words of methods that read it in their own way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<Recipe>,
    /// From records to text.
    pub reading: ReadSettings,
    /// Names of fields in the second corpus where they differ, by what they are in the first: `id`, `text`, `html`, `url`, or the
    /// name of a further field.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_fields: BTreeMap<String, String>,
}

/// The value of [`JobRecipe::within`] that stands for hosts.
const HOST: &str = "@host";

impl Default for ReadSettings {
    fn default() -> Self {
        let options = ReadOptions::default();
        ReadSettings {
            id_field: options.fields.id,
            text_field: options.fields.text,
            html_field: options.fields.html,
            url_field: options.fields.url,
            max_document_bytes: options.max_document_bytes as u64,
            revisions: options.revisions,
            namespaces: namespaces_name(&options.namespaces),
            input_format: options.format.map(|format| format.to_string()),
            content: content_name(ContentMode::Page).to_owned(),
        }
    }
}

impl JobRecipe {
    /// The version of the engine's rules and files.
    pub const ENGINE: u32 = ENGINE;

    /// A recipe with nothing chosen: the method is the simplest there is, all else as it is by default.
    pub fn simplest(task: Task) -> Self {
        let setting = Setting::default();
        JobRecipe {
            lookalike: env!("CARGO_PKG_VERSION").to_owned(),
            engine: ENGINE,
            task,
            similarity: setting.similarity,
            shingle: setting.shingle,
            threshold: setting.threshold.to_string(),
            verified: true,
            keep: Keep::First.to_string(),
            cluster: ClusterRule::Star,
            max_group: 1000,
            all: false,
            against: false,
            within: None,
            order: None,
            combine: Combine::Any,
            lexicon: None,
            methods: method("md5", &setting).map(|method| method.recipe()).into_iter().collect(),
            filter: None,
            profile: Profile::web().recipe(),
            profiles: Vec::new(),
            reading: ReadSettings::default(),
            other_fields: BTreeMap::new(),
        }
    }

    /// The recipe as the text of `recipe.toml`.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a recipe has only names that TOML can write")
    }

    /// Reads what [`JobRecipe::to_toml`] wrote.
    pub fn from_toml(text: &str) -> Result<Self, RecipeError> {
        let unreadable = |error: toml::de::Error| RecipeError::Unreadable(error.message().to_owned());
        let Versions { lookalike, engine } = toml::from_str(text).map_err(unreadable)?;
        if engine != ENGINE {
            return Err(RecipeError::OtherVersion { lookalike, engine });
        }
        toml::from_str(text).map_err(unreadable)
    }

    /// Returns the measure of similarity.
    pub fn measure(&self) -> Result<Measure, EngineError> {
        let threshold: Threshold = self.threshold.parse().map_err(EngineError::Request)?;
        Ok(Measure { similarity: self.similarity, threshold, shingle: self.shingle })
    }

    /// The methods that propose pairs.
    pub fn methods(&self) -> Result<Vec<Box<dyn Method>>, EngineError> {
        self.methods.iter().map(|recipe| self.build_method(recipe)).collect()
    }

    /// Refuses methods that do not go together, and sets the profiles that they read by.
    pub fn resolve_profiles(&mut self) -> Result<(), EngineError> {
        let panel = self.panel()?;
        self.profiles = panel
            .methods()
            .iter()
            .filter_map(|entry| entry.abilities().profile)
            .map(Profile::recipe)
            .collect();
        self.profiles.sort_by_key(ToString::to_string);
        self.profiles.dedup();
        Ok(())
    }

    /// All methods together.
    pub(crate) fn panel(&self) -> Result<Panel, EngineError> {
        let filter = self.filter.as_ref().map(|recipe| self.build_method(recipe)).transpose()?;
        Panel::new(self.methods()?, filter, self.combine)
    }

    fn build_method(&self, recipe: &Recipe) -> Result<Box<dyn Method>, EngineError> {
        let measure = self.measure()?;
        let setting = Setting {
            similarity: measure.similarity,
            threshold: measure.threshold,
            shingle: measure.shingle,
            ..Setting::default()
        };
        let made =
            method(&recipe.to_string(), &setting).map_err(|error| EngineError::Request(error.to_string()))?;
        if let Some(profile) = made.abilities().profile.map(Profile::recipe) {
            let before = self.profiles.iter().find(|recipe| recipe.name == profile.name);
            let versions = before.map_or(Ok(()), |before| same_versions(before, &profile));
            versions.map_err(|error| EngineError::Request(format!("a method's profile was {error}")))?;
        }
        let versions = recipe.require(&made.recipe());
        versions.map_err(|error| EngineError::Request(format!("the method was {error}")))?;
        Ok(made)
    }

    /// The measuring profile.
    pub fn profile(&self) -> Result<Profile, EngineError> {
        let profile = profile_of(&self.profile).map_err(|error| EngineError::Request(error.to_string()))?;
        self.profile
            .require(&profile.recipe())
            .map_err(|error| EngineError::Request(format!("the profile was {error}")))?;
        Ok(profile)
    }

    /// Returns the rule that chooses the document to keep.
    pub fn keep(&self) -> Result<Keep, EngineError> {
        self.keep.parse().map_err(EngineError::Request)
    }

    /// Returns the property that two documents must share to be compared, if there is one.
    pub fn within(&self) -> Option<Within> {
        match self.within.as_deref() {
            None => None,
            Some(HOST) => Some(Within::Host),
            Some(field) => Some(Within::Field(field.to_owned())),
        }
    }

    /// Returns the order in which documents are taken, where it is not that of the input.
    pub fn order(&self) -> Option<Order> {
        let field = self.order.as_deref()?;
        let id = field == "id" || field == self.reading.id_field;
        Some(if id { Order::Id } else { Order::Field(field.to_owned()) })
    }

    /// Returns the part of a document whose text is taken.
    pub fn content(&self) -> Result<ContentMode, EngineError> {
        CONTENTS
            .iter()
            .find(|(name, _)| *name == self.reading.content)
            .map(|(_, mode)| *mode)
            .ok_or_else(|| EngineError::Request(format!("there is no content {}", self.reading.content)))
    }

    /// Returns the further fields that the job looks at, and their names in the order in which readers are asked for them. A field
    /// that is looked at for two reasons is there twice.
    fn named_extras(&self) -> Result<(ExtraFields, Vec<String>), EngineError> {
        let (mut fields, mut names) = (ExtraFields::default(), Vec::new());
        if let Keep::Field { name, .. } = self.keep()? {
            fields.keep = Some(names.len());
            names.push(name);
        }
        if let Some(Within::Field(name)) = self.within() {
            fields.within = Some(names.len());
            names.push(name);
        }
        if let Some(Order::Field(name)) = self.order() {
            fields.order = Some(names.len());
            names.push(name);
        }
        Ok((fields, names))
    }

    /// Returns the further fields that the job looks at.
    pub(crate) fn extra_fields(&self) -> Result<ExtraFields, EngineError> {
        Ok(self.named_extras()?.0)
    }

    /// Returns the options for reading records, with the further fields that the job looks at.
    pub fn read_options(&self) -> Result<ReadOptions, EngineError> {
        let reading = &self.reading;
        let format =
            reading.input_format.as_deref().map(str::parse).transpose().map_err(EngineError::Request)?;
        let (_, extras) = self.named_extras()?;
        Ok(ReadOptions {
            fields: Fields {
                id: reading.id_field.clone(),
                text: reading.text_field.clone(),
                html: reading.html_field.clone(),
                url: reading.url_field.clone(),
            },
            max_document_bytes: reading.max_document_bytes as usize,
            revisions: reading.revisions,
            namespaces: namespaces(&reading.namespaces)?,
            format,
            extras,
            ..ReadOptions::default()
        })
    }

    /// Options of reading for the second of two corpora, whose fields may have other names.
    pub fn other_options(&self) -> Result<ReadOptions, EngineError> {
        let mut options = self.read_options()?;
        let roles = ["id", "text", "html", "url"];
        let known = |name: &&String| roles.contains(&name.as_str()) || options.extras.contains(name);
        if let Some(name) = self.other_fields.keys().find(|name| !known(name)) {
            let further: String = options.extras.iter().map(|extra| format!(", {extra}")).collect();
            return Err(EngineError::Request(format!(
                "{name:?} names no field that is looked at; other names can be given for {}{further}",
                roles.join(", ")
            )));
        }
        let Fields { id, text, html, url } = &mut options.fields;
        let own = roles.into_iter().map(str::to_owned).zip([id, text, html, url]);
        let further = options.extras.iter_mut().map(|name| (name.clone(), name));
        for (here, name) in own.chain(further) {
            if let Some(other) = self.other_fields.get(&here) {
                name.clone_from(other);
            }
        }
        Ok(options)
    }

    /// True when documents must have an address.
    pub fn needs_addresses(&self) -> bool {
        self.within() == Some(Within::Host)
    }

    /// The lines in which two recipes differ.
    pub fn differences(&self, other: &JobRecipe) -> String {
        differences(&self.to_toml(), &other.to_toml())
    }
}

/// The lines in which two texts differ.
pub(crate) fn differences(there: &str, here: &str) -> String {
    let missing = |from: &str, to: &str| -> Vec<String> {
        from.lines().filter(|line| !to.lines().any(|other| other == *line)).map(str::to_owned).collect()
    };
    format!("there {} and here {}", listed(missing(there, here)), listed(missing(here, there)))
}

/// The profile that a recipe is of, whatever its version.
pub(crate) fn profile_of(recipe: &Recipe) -> Result<Profile, ProfileError> {
    let mut text = format!("{}:", recipe.name);
    for (key, value) in recipe.parameters.iter().filter(|(key, _)| *key != "unicode") {
        text.push_str(&format!("{key}={value},"));
    }
    text.trim_end_matches([',', ':']).parse()
}

/// Fails unless both are of one version, of the profile and of Unicode.
fn same_versions(before: &Recipe, now: &Recipe) -> Result<(), lookalike_model::RecipeMismatch> {
    let unicode = |recipe: &Recipe| recipe.parameters.get("unicode").cloned();
    if before.version == now.version && unicode(before) == unicode(now) {
        Ok(())
    } else {
        before.require(now)
    }
}

fn listed(lines: Vec<String>) -> String {
    if lines.is_empty() { "nothing more".to_owned() } else { lines.join(", ") }
}

const CONTENTS: [(&str, ContentMode); 4] = [
    ("page", ContentMode::Page),
    ("main", ContentMode::Main),
    ("email", ContentMode::Email),
    ("page-or-email", ContentMode::PageOrEmail),
];

/// The name of a content mode in recipes.
pub fn content_name(mode: ContentMode) -> &'static str {
    CONTENTS.iter().find(|(_, known)| *known == mode).map_or("page", |(name, _)| name)
}

/// Namespaces as recipes write them.
pub fn namespaces_name(namespaces: &Namespaces) -> String {
    match namespaces {
        Namespaces::All => "all".to_owned(),
        Namespaces::Only(list) => list.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
    }
}

fn namespaces(text: &str) -> Result<Namespaces, EngineError> {
    if text == "all" {
        return Ok(Namespaces::All);
    }
    let numbers: Result<Vec<i32>, _> = text.split(',').map(str::parse).collect();
    numbers.map(Namespaces::Only).map_err(|_| EngineError::Request(format!("{text} are no namespaces")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_model::{Extras, Media};

    pub(crate) fn recipe() -> JobRecipe {
        let setting = Setting::default();
        JobRecipe {
            lookalike: "0.1.0".to_owned(),
            engine: ENGINE,
            task: Task::Dedup,
            similarity: Similarity::Jaccard,
            shingle: 5,
            threshold: "0.8".to_owned(),
            verified: true,
            keep: "field:score:desc".to_owned(),
            cluster: ClusterRule::Star,
            max_group: 1000,
            all: false,
            against: false,
            within: Some("dump".to_owned()),
            order: Some("date".to_owned()),
            combine: Combine::All,
            lexicon: None,
            methods: ["md5", "simhash"].map(|text| method(text, &setting).unwrap().recipe()).to_vec(),
            filter: Some(method("minhash", &setting).unwrap().recipe()),
            profile: Profile::web().recipe(),
            profiles: Vec::new(),
            reading: ReadSettings {
                id_field: "id".to_owned(),
                text_field: "text".to_owned(),
                html_field: "html".to_owned(),
                url_field: "url".to_owned(),
                max_document_bytes: 32 << 20,
                revisions: false,
                namespaces: "0,4".to_owned(),
                input_format: None,
                content: "page".to_owned(),
            },
            other_fields: BTreeMap::from([("text".to_owned(), "body".to_owned())]),
        }
    }

    #[test]
    fn a_recipe_is_replayed_from_its_text() {
        let recipe = recipe();
        let again = JobRecipe::from_toml(&recipe.to_toml()).unwrap();
        assert_eq!(again, recipe);
        let made = again.methods().unwrap();
        assert!(made.iter().map(|method| method.recipe()).eq(recipe.methods.clone()));
        assert_eq!(again.profile().unwrap(), Profile::web());
        assert_eq!(again.read_options().unwrap().extras, ["score", "dump", "date"]);
        assert_eq!(again.read_options().unwrap().fields.text, "text");
        assert_eq!(again.other_options().unwrap().fields.text, "body");
    }

    #[test]
    fn a_recipe_of_another_version_is_told_whatever_else_it_says() {
        let told = |engine: u32| {
            let text = JobRecipe { engine, lookalike: "7.8.9".to_owned(), ..recipe() }.to_toml();
            let text = text.replace("task = \"dedup\"", "task = \"summon\"");
            JobRecipe::from_toml(&text).unwrap_err().to_string()
        };
        let newer =
            "it was made by a newer lookalike (7.8.9, engine version 5) and this is engine version 4; ";
        assert!(told(5).starts_with(newer), "{}", told(5));
        assert!(told(3).starts_with("it was made by an earlier lookalike (7.8.9, "), "{}", told(3));
        assert!(told(ENGINE).contains("summon"), "{}", told(ENGINE));
    }

    #[test]
    fn further_fields_are_found_by_what_they_are_looked_at_for() {
        let spans = [Some((0, 1)), Some((1, 2)), Some((2, 3))];
        let document = Document {
            extras: Extras::new("abc", &spans),
            ..Document::from_text("x", None, Media::Text, "words")
        };
        // A reader gives the first field that it is asked for as `a`, the second as `b`. Each may be asked for or not.
        for kinds in 0..8u32 {
            let has = |bit: u32| kinds >> bit & 1 > 0;
            let mut recipe = recipe();
            recipe.keep = if has(0) { "field:score" } else { "first" }.to_owned();
            recipe.within = has(1).then(|| "dump".to_owned());
            recipe.order = has(2).then(|| "date".to_owned());
            let fields = recipe.extra_fields().unwrap();
            let values = [fields.keep(&document), fields.within(&document), fields.order(&document)];
            let found = ["score", "dump", "date"].into_iter().zip(values);
            let found: Vec<(&str, &str)> = found.filter_map(|(name, value)| Some((name, value?))).collect();
            let asked = recipe.read_options().unwrap().extras;
            let expected: Vec<(&str, &str)> = asked.iter().map(String::as_str).zip(["a", "b", "c"]).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_second_corpus_may_have_other_names_for_what_is_looked_at() {
        let mut recipe = recipe();
        recipe.within = Some("score".to_owned());
        recipe.other_fields =
            [("id", "key"), ("score", "rank")].map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        let other = recipe.other_options().unwrap();
        assert_eq!((other.fields.id.as_str(), other.fields.text.as_str()), ("key", "text"));
        assert_eq!(other.extras, ["rank", "rank", "date"]);
        recipe.other_fields.insert("lang".to_owned(), "language".to_owned());
        let said = recipe.other_options().unwrap_err().to_string();
        assert!(said.starts_with("\"lang\" names no field that is looked at"), "{said}");
    }

    #[test]
    fn an_order_is_by_id_or_by_a_field_and_without_one_a_recipe_says_nothing_of_it() {
        let mut recipe = recipe();
        assert!(recipe.to_toml().contains("\norder = \"date\"\n"));
        assert_eq!(recipe.order(), Some(Order::Field("date".to_owned())));
        recipe.reading.id_field = "docno".to_owned();
        for id in ["id", "docno"] {
            recipe.order = Some(id.to_owned());
            assert_eq!(recipe.order(), Some(Order::Id));
            assert_eq!(recipe.read_options().unwrap().extras, ["score", "dump"]);
        }
        recipe.order = None;
        assert!(!recipe.to_toml().contains("order"));
        assert_eq!(JobRecipe::from_toml(&recipe.to_toml()).unwrap().order(), None);
    }

    #[test]
    fn a_profile_of_another_version_is_refused() {
        let mut recipe = JobRecipe {
            methods: vec![method("imatch", &Setting::default()).unwrap().recipe()],
            combine: Combine::Any,
            ..recipe()
        };
        recipe.resolve_profiles().unwrap();
        assert_eq!(recipe.profiles, [Profile::kolcz().recipe()]);
        assert!(JobRecipe::from_toml(&recipe.to_toml()).unwrap().methods().is_ok());
        recipe.profiles[0].version += 1;
        let error = recipe.methods().err().unwrap().to_string();
        assert!(error.starts_with("a method's profile was made by different recipes"), "{error}");
    }

    #[test]
    fn differences_name_both_sides() {
        let recipe = recipe();
        let other = JobRecipe { threshold: "0.9".to_owned(), ..recipe.clone() };
        assert_eq!(recipe.differences(&other), "there threshold = \"0.8\" and here threshold = \"0.9\"",);
    }

    #[test]
    fn keep_rules_are_named() {
        for text in ["first", "longest", "shortest", "field:a.b", "field:x:desc"] {
            assert_eq!(text.parse::<Keep>().unwrap().to_string(), text);
        }
        assert_eq!("field:x:asc".parse(), Ok(Keep::Field { name: "x".to_owned(), descending: false }));
        assert!("field:".parse::<Keep>().is_err() && "best".parse::<Keep>().is_err());
    }

    #[test]
    fn tasks_that_keep_documents_list_no_pairs() {
        assert_eq!([Task::Dedup, Task::Pairs, Task::Compare].map(Task::lists_pairs), [false, true, true]);
    }

    #[test]
    fn every_content_has_a_name() {
        for (name, mode) in CONTENTS {
            assert_eq!(content_name(mode), name);
            let mut recipe = recipe();
            recipe.reading.content = name.to_owned();
            assert_eq!(recipe.content().unwrap(), mode);
        }
        let mut recipe = recipe();
        recipe.reading.content = "pages".to_owned();
        assert_eq!(recipe.content().unwrap_err().to_string(), "there is no content pages");
    }

    #[test]
    fn namespaces_are_read_back() {
        for text in ["all", "0", "0,4,-1"] {
            assert_eq!(namespaces_name(&namespaces(text).unwrap()), text);
        }
        for text in ["", "0,", "none"] {
            assert!(namespaces(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn documents_are_compared_within_a_host_or_a_field() {
        let mut recipe = recipe();
        assert_eq!(
            (recipe.within(), recipe.needs_addresses()),
            (Some(Within::Field("dump".to_owned())), false)
        );
        recipe.within = Some(HOST.to_owned());
        assert_eq!((recipe.within(), recipe.needs_addresses()), (Some(Within::Host), true));
        assert_eq!(recipe.read_options().unwrap().extras, ["score", "date"]);
        recipe.within = None;
        assert_eq!((recipe.within(), recipe.needs_addresses()), (None, false));
    }

    #[test]
    fn settings_that_cannot_be_are_refused() {
        let wrong = |change: fn(&mut JobRecipe)| {
            let mut recipe = recipe();
            change(&mut recipe);
            recipe
        };
        assert!(wrong(|recipe| recipe.threshold = "1.5".to_owned()).measure().is_err());
        assert!(wrong(|recipe| recipe.keep = "best".to_owned()).keep().is_err());
        assert!(
            wrong(|recipe| recipe.reading.input_format = Some("papyrus".to_owned())).read_options().is_err()
        );
        assert!(wrong(|recipe| recipe.methods[0].name = "no-method".to_owned()).methods().is_err());
        assert!(wrong(|recipe| recipe.methods[0].version += 1).methods().is_err());
        assert!(wrong(|recipe| recipe.profile.version += 1).profile().is_err());
        assert!(JobRecipe::from_toml("no recipe").is_err() && JobRecipe::from_toml("").is_err());
    }

    #[test]
    fn a_profile_is_made_of_its_recipe() {
        for profile in Profile::all() {
            assert_eq!(profile_of(&profile.recipe()).unwrap(), profile);
        }
        assert!(profile_of(&Recipe::new("none", 1)).is_err());
    }

    #[test]
    fn texts_that_are_the_same_differ_in_nothing() {
        assert_eq!(differences("a\nb\n", "b\na\n"), "there nothing more and here nothing more");
        assert_eq!(differences("a\nb\n", "a\nc\nd\n"), "there b and here c, d");
    }

    #[test]
    fn the_simplest_recipe_is_as_commands_have_it_by_default() {
        let recipe = JobRecipe::simplest(Task::Pairs);
        assert_eq!((recipe.task, recipe.keep().unwrap(), recipe.max_group), (Task::Pairs, Keep::First, 1000));
        assert_eq!(recipe.read_options().unwrap().fields, ReadOptions::default().fields);
        assert_eq!(JobRecipe::from_toml(&recipe.to_toml()).unwrap(), recipe);
    }
}

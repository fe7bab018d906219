//! Presets: the settings of published pipelines, shipped with the program.
//!
//! A preset is a file in the folder `presets` of this crate. Comments come first: one line that says what it is, then what the original does and
//! what differs here. Behind them stand the fields of a recipe that the original decides, under their names in `recipe.toml`: `similarity`,
//! `shingle`, `threshold`, the methods and the profile. Parameters that are left out are as by default, so that an option such as `--shingle`
//! reaches the methods, too.
//!
//! [`Preset::fill_matching`] and [`Preset::fill_documents`] put these settings in the place of options that nobody gave; from there on, a recipe
//! is made of them as of any others.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::engine::EngineError;
use crate::engine::recipe::{ClusterRule, JobRecipe, Keep};
use crate::model::{Recipe, Similarity, Threshold};
use crate::request::{DocumentOptions, MatchingOptions};
use crate::text::Profile;

/// The settings of a published pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// The text of its file.
    text: &'static str,
}

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        [$(Preset { name: $name, text: include_str!(concat!("../presets/", $name, ".toml")) }),*]
    };
}

/// All presets: pipelines of large corpora, then tools, then papers.
pub static PRESETS: &[Preset] = &presets![
    "fineweb",
    "fineweb2",
    "slimpajama",
    "dolma3",
    "redpajama2",
    "datatrove",
    "nemo",
    "copycat",
    "thesis",
    "yandex-a12",
    "kolcz",
];

/// The names of options that were given, as the command line spells them without dashes before: `threshold`, `profile`.
pub type GivenOptions = BTreeSet<String>;

/// The parameters of methods that `--recall` decides about, where they are not given.
const BANDS: [&str; 2] = ["bands", "rows"];

/// The fields of a recipe that a preset decides.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    similarity: Similarity,
    shingle: usize,
    threshold: String,
    #[serde(rename = "method")]
    methods: Vec<Recipe>,
    profile: Recipe,
}

impl Settings {
    fn threshold(&self) -> Threshold {
        self.threshold.parse().expect("tests read the threshold of every preset")
    }

    fn profile(&self) -> Profile {
        as_typed(&self.profile).parse().expect("tests read the profile of every preset")
    }
}

impl Preset {
    /// Returns the preset of a name, or a sentence with all names.
    pub fn named(name: &str) -> Result<&'static Preset, String> {
        let names = || PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
        let preset = PRESETS.iter().find(|preset| preset.name == name);
        preset.ok_or_else(|| format!("no preset is called {name:?}; there are {}", names()))
    }

    /// Its origin and its parameters, in one line.
    pub fn summary(&self) -> &'static str {
        self.comments().next().unwrap_or_default()
    }

    /// The comments of its file: the original, and the differences to it.
    pub fn comments(&self) -> impl Iterator<Item = &'static str> + use<> {
        let lines = self.text.lines().map_while(|line| line.strip_prefix('#'));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line))
    }

    /// Sets the options of matching that were not given.
    pub fn fill_matching(&self, given: &GivenOptions, matching: &mut MatchingOptions) {
        let mut settings = self.settings();
        if given.contains("recall") {
            settings
                .methods
                .iter_mut()
                .for_each(|method| method.parameters.retain(|name, _| !BANDS.contains(&name.as_str())));
        }
        if !given.contains("method") {
            matching.methods = settings.methods.iter().map(as_typed).collect();
        }
        if !given.contains("similarity") {
            matching.similarity = settings.similarity;
        }
        if !given.contains("shingle") {
            matching.shingle = settings.shingle;
        }
        if !given.contains("threshold") {
            matching.threshold = settings.threshold();
        }
    }

    /// Sets the options of reading that were not given.
    pub fn fill_documents(&self, given: &GivenOptions, documents: &mut DocumentOptions) {
        if !given.contains("profile") {
            documents.profile = self.settings().profile();
        }
    }

    /// The whole recipe that `dedup` runs by when no other option is given.
    pub fn recipe(&self) -> Result<JobRecipe, EngineError> {
        let (mut matching, mut documents) = (MatchingOptions::default(), DocumentOptions::default());
        self.fill_matching(&GivenOptions::new(), &mut matching);
        self.fill_documents(&GivenOptions::new(), &mut documents);
        matching.dedup(&documents, &Keep::First, ClusterRule::Star, false)
    }

    fn settings(&self) -> Settings {
        toml::from_str(self.text).expect("tests read every preset")
    }
}

/// A method or profile as it is typed: its name, and the parameters that are not as by default.
fn as_typed(recipe: &Recipe) -> String {
    let parameters: Vec<String> =
        recipe.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mark = if parameters.is_empty() { "" } else { ":" };
    format!("{}{mark}{}", recipe.name, parameters.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::recipe::Task;

    #[test]
    fn every_preset_is_read_to_the_last_parameter() {
        for preset in PRESETS {
            let settings = preset.settings();
            let recipe = preset.recipe().unwrap_or_else(|error| panic!("{}: {error}", preset.name));
            assert_eq!(recipe.similarity, settings.similarity, "{}", preset.name);
            assert_eq!(recipe.shingle, settings.shingle, "{}", preset.name);
            assert_eq!(recipe.threshold, settings.threshold, "{}", preset.name);
            assert_eq!(recipe.methods.len(), settings.methods.len(), "{}", preset.name);
            for (complete, said) in
                recipe.methods.iter().zip(&settings.methods).chain([(&recipe.profile, &settings.profile)])
            {
                assert_eq!((&complete.name, complete.version), (&said.name, said.version), "{}", preset.name);
                for (name, value) in &said.parameters {
                    assert_eq!(complete.parameters.get(name), Some(value), "{}: {name}", preset.name);
                }
            }
            assert!(recipe.verified, "{}", preset.name);
        }
    }

    #[test]
    fn every_preset_says_what_it_is_and_what_differs() {
        for preset in PRESETS {
            let comments: Vec<&str> = preset.comments().collect();
            assert!(preset.summary().ends_with('.') && preset.summary().len() < 120, "{}", preset.name);
            for heading in ["The original: ", "Equal: ", "Different: "] {
                assert!(
                    comments.iter().any(|line| line.starts_with(heading)),
                    "{}: {heading:?} is missing",
                    preset.name
                );
            }
            assert!(Preset::named(preset.name).is_ok_and(|same| same == preset));
        }
        assert!(Preset::named("nobody").unwrap_err().contains("fineweb, "));
    }

    #[test]
    fn a_recipe_that_is_written_reads_back() {
        for preset in PRESETS {
            let recipe = preset.recipe().unwrap();
            assert_eq!(JobRecipe::from_toml(&recipe.to_toml()), Ok(recipe));
        }
    }

    #[test]
    fn options_that_were_given_stay_and_reach_the_methods() {
        let preset = Preset::named("fineweb").unwrap();
        let given: GivenOptions = ["shingle", "seed", "profile"].map(str::to_owned).into();
        let mut matching = MatchingOptions { shingle: 3, seed: 7, ..MatchingOptions::default() };
        let mut documents = DocumentOptions { profile: Profile::thesis(), ..DocumentOptions::default() };
        preset.fill_matching(&given, &mut matching);
        preset.fill_documents(&given, &mut documents);
        let recipe = matching.recipe(Task::Pairs, &documents).unwrap();
        let parameter = |name: &str| recipe.methods[0].parameters[name].as_str();
        assert_eq!((recipe.shingle, recipe.profile.name.as_str()), (3, "thesis"));
        assert_eq!((parameter("shingle"), parameter("seed")), ("3", "7"));
        assert_eq!((parameter("bands"), recipe.threshold.as_str()), ("14", "0.75"));
    }

    #[test]
    fn a_wanted_recall_chooses_bands_anew() {
        let recipe =
            |options: MatchingOptions| options.recipe(Task::Dedup, &DocumentOptions::default()).unwrap();
        let wanted = MatchingOptions { recall: 0.99, ..MatchingOptions::default() };
        let mut by_preset = wanted.clone();
        Preset::named("fineweb").unwrap().fill_matching(&["recall".to_owned()].into(), &mut by_preset);
        let by_hand = MatchingOptions {
            methods: vec!["minhash:values=112,family=classic".to_owned()],
            threshold: "0.75".parse().unwrap(),
            ..wanted
        };
        let chosen = recipe(by_preset);
        assert_ne!(chosen.methods[0].parameters["bands"], "14");
        assert_eq!(chosen, recipe(by_hand));
    }
}

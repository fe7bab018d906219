//! Everything that can change a result, as TOML.

use std::collections::BTreeMap;

use lookalike::engine::recipe::ReadSettings;
use lookalike::hash;
use lookalike::model::{Recipe, Similarity};
use lookalike_overlap::address::Matching;
use serde::Serialize;

use crate::Request;

/// Raised when the same recipe would give another result or other run files.
const VERSION: u32 = 1;
/// The release of the list of public suffixes that is compiled in.
const SUFFIXES: &str = "2.1.246";

/// The choices that determine a result; never threads, memory or paths.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct UrlsRecipe<'r> {
    lookalike: &'static str,
    urls: u32,
    task: &'static str,
    public_suffixes: &'static str,
    matching: &'static str,
    snapshots: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    judgments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measure: Option<MeasureRecipe>,
    profile: Recipe,
    reading: &'r ReadSettings,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    other_fields: &'r BTreeMap<String, String>,
}

#[derive(Debug, Serialize)]
struct MeasureRecipe {
    similarity: Similarity,
    shingle: usize,
    threshold: String,
}

/// The name of a way to match, on the command line and in recipes.
pub(crate) fn matching_name(matching: Matching) -> &'static str {
    match matching {
        Matching::Exact => "exact",
        Matching::Normal => "normal",
        Matching::Canonical => "canonical",
    }
}

/// The recipe of what is asked for.
pub(crate) fn of(request: &Request) -> String {
    let recipe = UrlsRecipe {
        lookalike: env!("CARGO_PKG_VERSION"),
        urls: VERSION,
        task: "urls",
        public_suffixes: SUFFIXES,
        matching: matching_name(request.matching),
        snapshots: request.snapshots(),
        judgments: request
            .judged
            .as_ref()
            .map(|ids| format!("{:032x}", hash::digest(ids.join("\n").as_bytes()))),
        measure: request.measure.map(|measure| MeasureRecipe {
            similarity: measure.similarity,
            shingle: measure.shingle,
            threshold: measure.threshold.to_string(),
        }),
        profile: request.profile.recipe(),
        reading: &request.reading,
        other_fields: &request.other_fields,
    };
    toml::to_string(&recipe).expect("a recipe has only names that TOML can write")
}

#[cfg(test)]
mod tests {
    use lookalike::engine::Settings;
    use lookalike::engine::measure::Measure;
    use toml::{Table, Value};

    use super::*;
    use crate::fixture::{pages, request};

    fn base() -> Request {
        request(&[Vec::new(), Vec::new()], 1)
    }

    fn table(request: &Request) -> Table {
        of(request).parse().unwrap()
    }

    #[test]
    fn a_recipe_says_what_is_compared() {
        let table = table(&base());
        assert_eq!((table["task"].as_str(), table["matching"].as_str()), (Some("urls"), Some("normal")));
        assert_eq!((table["snapshots"].as_integer(), table["urls"].as_integer()), (Some(1), Some(1)));
        let measure = table["measure"].as_table().unwrap();
        let named = |name: &str| measure[name].clone();
        assert_eq!((named("similarity"), named("shingle")), (Value::from("jaccard"), Value::from(1)));
        assert_eq!(named("threshold"), Value::from("0.9"));
    }

    #[test]
    fn what_changes_no_result_changes_no_recipe() {
        let wanted = of(&base());
        let names = vec!["other".to_owned(), "names".to_owned()];
        assert_eq!(of(&Request { names, ..base() }), wanted);
        let settings = Settings { threads: 7, memory: 1 << 40, ..base().settings };
        assert_eq!(of(&Request { settings, ..base() }), wanted);
        assert_eq!(of(&request(&[pages(&["http://a.org/"]), Vec::new()], 1)), wanted);
    }

    #[test]
    fn what_changes_a_result_changes_the_recipe() {
        let measure = base().measure.unwrap();
        let named = |name: &str| BTreeMap::from([("url".to_owned(), name.to_owned())]);
        let mut recipes = vec![
            of(&base()),
            of(&Request { matching: Matching::Exact, ..base() }),
            of(&Request { matching: Matching::Canonical, ..base() }),
            of(&Request { measure: None, ..base() }),
            of(&Request { measure: Some(Measure { shingle: 2, ..measure }), ..base() }),
            of(&Request { measure: Some(Measure { similarity: Similarity::Cosine, ..measure }), ..base() }),
            of(&Request { judged: Some(Vec::new()), ..base() }),
            of(&Request { judged: Some(vec!["a".to_owned()]), ..base() }),
            of(&Request { judged: Some(vec!["a".to_owned(), "b".to_owned()]), ..base() }),
            of(&Request { other_fields: named("address"), ..base() }),
            of(&Request { other_fields: named("link"), ..base() }),
            of(&request(&[Vec::new(), Vec::new(), Vec::new()], 1)),
        ];
        let count = recipes.len();
        recipes.sort();
        recipes.dedup();
        assert_eq!(recipes.len(), count);
    }

    #[test]
    fn what_was_not_asked_for_is_not_in_the_recipe() {
        let table = table(&Request { measure: None, ..base() });
        let absent = ["judgments", "measure", "other-fields"].map(|name| table.contains_key(name));
        assert_eq!(absent, [false; 3]);
    }

    #[test]
    fn names_of_matching_are_those_of_the_command_line() {
        let all = [Matching::Exact, Matching::Normal, Matching::Canonical];
        assert_eq!(all.map(matching_name), ["exact", "normal", "canonical"]);
    }

    #[test]
    fn the_list_of_public_suffixes_is_the_one_that_is_compiled_in() {
        let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock")).unwrap();
        let lock: Table = lock.parse().unwrap();
        let packages = lock["package"].as_array().unwrap();
        let psl = packages.iter().find(|package| package["name"].as_str() == Some("psl")).unwrap();
        assert_eq!(psl["version"].as_str(), Some(SUFFIXES));
    }
}

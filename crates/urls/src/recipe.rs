//! Everything that can change a result, as TOML.

use std::collections::BTreeMap;

use lookalike::engine::recipe::ReadSettings;
use lookalike::model::{Recipe, Similarity};
use lookalike::text::hash;
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

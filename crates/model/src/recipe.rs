//! Recipes: full descriptions of how results were made.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The full description of how something was made: two things compare only if their recipes are equal.
///
/// ```
/// use lookalike_model::Recipe;
///
/// let web = Recipe::new("web", 1).with("form", "nfkc").with("words", "runs");
/// assert_eq!(web.to_string(), "web/1:form=nfkc,words=runs");
/// let error = web.require(&Recipe::new("thesis", 1)).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "made by different recipes: web/1:form=nfkc,words=runs and thesis/1",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// The name of the profile or method.
    pub name: String,
    /// Raised whenever the same parameters would give another result.
    pub version: u32,
    /// Everything else that can change the result, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

impl Recipe {
    /// A recipe without parameters.
    pub fn new(name: &str, version: u32) -> Self {
        Recipe { name: name.to_owned(), version, parameters: BTreeMap::new() }
    }

    /// The same recipe with one more parameter.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.parameters.insert(key.to_owned(), value.to_string());
        self
    }

    /// Fails, naming both recipes, unless `other` is the same recipe.
    pub fn require(&self, other: &Recipe) -> Result<(), RecipeMismatch> {
        if self == other {
            return Ok(());
        }
        Err(RecipeMismatch { left: Box::new(self.clone()), right: Box::new(other.clone()) })
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name, self.version)?;
        for (index, (key, value)) in self.parameters.iter().enumerate() {
            write!(f, "{}{key}={value}", if index == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

/// Two things that were to be compared were made by different recipes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("made by different recipes: {left} and {right}")]
pub struct RecipeMismatch {
    /// One recipe.
    pub left: Box<Recipe>,
    /// The other.
    pub right: Box<Recipe>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_survives_toml_and_json() {
        let recipe = Recipe::new("web", 3).with("min-letters", 4);
        let text = toml::to_string(&recipe).unwrap();
        assert_eq!(toml::from_str::<Recipe>(&text).unwrap(), recipe);
        let text = serde_json::to_string(&recipe).unwrap();
        assert_eq!(serde_json::from_str::<Recipe>(&text).unwrap(), recipe);
    }

    #[test]
    fn the_version_alone_makes_a_different_recipe() {
        assert!(Recipe::new("web", 1).require(&Recipe::new("web", 2)).is_err());
        assert!(Recipe::new("web", 1).require(&Recipe::new("web", 1)).is_ok());
    }
}

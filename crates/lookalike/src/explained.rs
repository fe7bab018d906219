//! Methods, explained to people and programs.

use serde::Serialize;

use crate::engine::EngineError;
use crate::engine::cost::{Cost, cost};
use crate::methods::{About, METHODS, Setting, method};

/// A method, explained.
#[derive(Debug, Serialize)]
pub struct Explained {
    /// What it is called.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: Vec<Alias>,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// How it does it.
    pub formula: &'static str,
    /// A command that uses it.
    pub example: &'static str,
    /// What can be set.
    pub parameters: Vec<Parameter>,
    /// What it reads words by.
    pub profile: String,
    /// What it costs.
    #[serde(flatten)]
    pub cost: Cost,
}

/// Another name of a method.
#[derive(Debug, Serialize)]
pub struct Alias {
    /// What it is called.
    pub name: &'static str,
    /// What it stands for.
    pub stands_for: &'static str,
}

/// What can be said of a method behind a colon.
#[derive(Debug, Serialize)]
pub struct Parameter {
    /// What it is called.
    pub name: &'static str,
    /// Its value if nothing is said.
    pub default: String,
    /// What it means.
    pub meaning: &'static str,
}

/// All methods.
pub fn all() -> Result<Vec<Explained>, EngineError> {
    METHODS.iter().map(|about| shown(about, about.name)).collect()
}

/// The method of a name or alias, with parameters or without.
pub fn one(typed: &str) -> Result<Explained, EngineError> {
    shown(find(typed)?, typed)
}

/// The method of a name or alias.
fn find(name: &str) -> Result<&'static About, EngineError> {
    let made = method(name, &Setting::default()).map_err(|error| EngineError::Request(error.to_string()))?;
    let name = made.recipe().name;
    METHODS
        .iter()
        .find(|about| about.name == name)
        .copied()
        .ok_or_else(|| EngineError::Request(format!("{name} is not told of")))
}

/// A method with the parameters that it has under the name, or as it was typed.
fn shown(about: &'static About, typed: &str) -> Result<Explained, EngineError> {
    let made = method(typed, &Setting::default()).map_err(|error| EngineError::Request(error.to_string()))?;
    let recipe = made.recipe();
    let parameter = |&(name, meaning): &(&'static str, &'static str)| Parameter {
        name,
        default: recipe.parameters.get(name).cloned().unwrap_or_default(),
        meaning,
    };
    let alias = |&(name, stands_for): &(&'static str, &'static str)| Alias { name, stands_for };
    Ok(Explained {
        name: about.name,
        aliases: about.aliases.iter().map(alias).collect(),
        summary: about.summary,
        source: about.source,
        formula: about.formula,
        example: about.example,
        parameters: about.parameters.iter().map(parameter).collect(),
        profile: made.profile().map_or("the run's".to_owned(), ToString::to_string),
        cost: cost(&*made),
    })
}

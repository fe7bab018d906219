//! Methods, explained to people and programs.

use serde::Serialize;

use crate::engine::EngineError;
use crate::engine::cost::{Cost, cost};
use crate::methods::about::{about, registered};
use crate::methods::{About, METHODS, Setting, method};

/// The description of a method.
#[derive(Debug, Serialize)]
pub struct MethodInfo {
    /// Its name.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: Vec<Alias>,
    /// Its purpose, in one line.
    pub summary: &'static str,
    /// The publications that it comes from.
    pub source: &'static str,
    /// The formula that it computes.
    pub formula: &'static str,
    /// A command that uses it.
    pub example: &'static str,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The profile by which it reads words.
    pub profile: String,
    /// Its cost.
    #[serde(flatten)]
    pub cost: Cost,
}

/// Another name of a method.
#[derive(Debug, Serialize)]
pub struct Alias {
    /// Its name.
    pub name: &'static str,
    /// The method and parameters that it stands for.
    pub stands_for: &'static str,
}

/// A parameter, which is given behind a colon after the name of the method.
#[derive(Debug, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its value if none is given.
    pub default: String,
    /// Its meaning.
    pub meaning: &'static str,
}

/// All methods, those that the program has added behind the others.
pub fn all() -> Result<Vec<MethodInfo>, EngineError> {
    METHODS.iter().copied().chain(registered()).map(|about| describe(about, about.name)).collect()
}

/// The method of a name or alias, with parameters or without.
pub fn by_name(typed: &str) -> Result<MethodInfo, EngineError> {
    describe(find(typed)?, typed)
}

/// The method of a name or alias.
fn find(name: &str) -> Result<&'static About, EngineError> {
    let made = method(name, &Setting::default()).map_err(|error| EngineError::Request(error.to_string()))?;
    let name = made.recipe().name;
    about(&name).ok_or_else(|| EngineError::Request(format!("{name} is not told of")))
}

/// A method with the parameters that it has under the name, or as it was typed.
fn describe(about: &'static About, typed: &str) -> Result<MethodInfo, EngineError> {
    let made = method(typed, &Setting::default()).map_err(|error| EngineError::Request(error.to_string()))?;
    let recipe = made.recipe();
    let parameter = |&(name, meaning): &(&'static str, &'static str)| Parameter {
        name,
        default: recipe.parameters.get(name).cloned().unwrap_or_default(),
        meaning,
    };
    let alias = |&(name, stands_for): &(&'static str, &'static str)| Alias { name, stands_for };
    Ok(MethodInfo {
        name: about.name,
        aliases: about.aliases.iter().map(alias).collect(),
        summary: about.summary,
        source: about.source,
        formula: about.formula,
        example: about.example,
        parameters: about.parameters.iter().map(parameter).collect(),
        profile: made.abilities().profile.map_or("the run's".to_owned(), ToString::to_string),
        cost: cost(&*made),
    })
}

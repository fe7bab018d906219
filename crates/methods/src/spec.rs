//! A method as typed: `name`, or `name:key=value,key=value`.

use std::collections::BTreeMap;
use std::str::FromStr;

/// What is wrong with a method as typed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MethodError {
    /// No such method.
    #[error("there is no method {name}; known are {known}")]
    Unknown {
        /// As typed.
        name: String,
        /// What there is.
        known: String,
    },
    /// Not `key=value`.
    #[error("{part} in the method {method} is no parameter; write it as key=value")]
    Shape {
        /// The method.
        method: String,
        /// As typed.
        part: String,
    },
    /// No such parameter.
    #[error("the method {method} has no parameter {key}; it has {known}")]
    Key {
        /// The method.
        method: String,
        /// As typed.
        key: String,
        /// What there is.
        known: String,
    },
    /// A value that makes no sense.
    #[error("{value} cannot be {key} of the method {method}: {wanted}")]
    Value {
        /// The method.
        method: String,
        /// The parameter.
        key: String,
        /// As typed.
        value: String,
        /// What would do.
        wanted: String,
    },
    /// Something that the method cannot do.
    #[error("{0}")]
    Unable(String),
}

impl MethodError {
    /// Of a method that sees only documents of about the same size.
    pub(crate) fn blind_to_containment(name: &str) -> Self {
        MethodError::Unable(format!(
            "{name} cannot see that one document holds another of a different size; the method that can is exact"
        ))
    }
}

/// A method's name and the parameters given with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    name: String,
    given: BTreeMap<String, String>,
    /// Parameters that were asked for, for the error about others.
    known: Vec<&'static str>,
}

impl FromStr for Spec {
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Self, MethodError> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        // Recipes print as `name/version:…`; the version is checked where recipes are compared.
        let name = name.split_once('/').map_or(name, |(name, _)| name);
        let mut given = BTreeMap::new();
        for part in parameters.split(',').filter(|part| !part.is_empty()) {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| MethodError::Shape { method: name.to_owned(), part: part.to_owned() })?;
            given.insert(key.trim().to_owned(), value.trim().to_owned());
        }
        Ok(Spec { name: name.to_owned(), given, known: Vec::new() })
    }
}

impl Spec {
    /// The method's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The parameter `key`, if it was given.
    pub fn text(&mut self, key: &'static str) -> Option<String> {
        self.known.push(key);
        self.given.remove(key)
    }

    /// The parameter `key`, parsed and found good by `accept`, or `default`; `wanted` tells what would do.
    pub fn value<T: FromStr>(
        &mut self,
        key: &'static str,
        default: T,
        wanted: &str,
        accept: impl Fn(&T) -> bool,
    ) -> Result<T, MethodError> {
        let Some(text) = self.text(key) else { return Ok(default) };
        text.parse().ok().filter(accept).ok_or_else(|| self.bad(key, &text, wanted))
    }

    /// The error about a value that will not do.
    pub fn bad(&self, key: &str, value: &str, wanted: &str) -> MethodError {
        MethodError::Value {
            method: self.name.clone(),
            key: key.to_owned(),
            value: value.to_owned(),
            wanted: wanted.to_owned(),
        }
    }

    /// Fails when a parameter was given that nobody asked for.
    pub fn finish(self) -> Result<(), MethodError> {
        let Some((key, _)) = self.given.into_iter().next() else { return Ok(()) };
        let known = if self.known.is_empty() { "none".to_owned() } else { self.known.join(", ") };
        Err(MethodError::Key { method: self.name, key, known })
    }

    pub(crate) fn unknown(&self, names: &[&str]) -> MethodError {
        MethodError::Unknown { name: self.name.clone(), known: names.join(", ") }
    }
}

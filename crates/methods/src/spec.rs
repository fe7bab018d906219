//! A method as typed: `name`, or `name:key=value,key=value`.

use std::collections::BTreeMap;
use std::str::FromStr;

use lookalike_text::Profile;

/// An error in a method as typed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MethodError {
    /// No such method.
    #[error("there is no method {name}; {nearest} may be meant, and lookalike methods lists all")]
    Unknown {
        /// As typed.
        name: String,
        /// The name that was probably meant.
        nearest: String,
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
    #[error("the method {method} has no parameter {key}; {nearest}")]
    Key {
        /// The method.
        method: String,
        /// As typed.
        key: String,
        /// The parameter that was probably meant, and the list of all, as words of the message.
        nearest: String,
        /// The parameters of the method.
        known: Vec<String>,
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
        /// The description of valid values.
        wanted: String,
    },
    /// Something that the method cannot do.
    #[error("{0}")]
    Unable(String),
}

impl MethodError {
    /// Of a method that sees only documents of about the same size.
    pub(crate) fn containment_unsupported(name: &str) -> Self {
        MethodError::Unable(format!(
            "{name} cannot see that one document holds another of a different size; the methods that can are exact, \
             mod, sif, cops and koala"
        ))
    }
}

/// A method's name and the parameters given with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    name: String,
    given: BTreeMap<String, String>,
    /// Parameters that were asked for, for the error about others.
    known: Vec<String>,
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

    /// The same parameters, and those of `text` where they were not given.
    pub(crate) fn with_defaults(mut self, text: &str) -> Result<Self, MethodError> {
        let Spec { name, given, .. } = text.parse()?;
        for (key, value) in given {
            self.given.entry(key).or_insert(value);
        }
        self.name = name;
        Ok(self)
    }

    /// The parameter `key`, if it was given.
    pub fn text(&mut self, key: &str) -> Option<String> {
        self.known.push(key.to_owned());
        self.given.remove(key)
    }

    /// The parameter `key`, parsed and found good by `accept`, or `default`; `wanted` tells what would do.
    pub fn value<T: FromStr>(
        &mut self,
        key: &str,
        default: T,
        wanted: &str,
        accept: impl Fn(&T) -> bool,
    ) -> Result<T, MethodError> {
        let Some(text) = self.text(key) else { return Ok(default) };
        text.parse().ok().filter(accept).ok_or_else(|| self.value_error(key, &text, wanted))
    }

    /// The parameter `key` as one of some words, or the first of them.
    pub fn choice<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<T, MethodError> {
        let Some(text) = self.text(key) else { return Ok(choices[0].1) };
        let found = choices.iter().find(|(name, _)| *name == text);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.value_error(key, &text, &format!("one of {} is wanted", names.join(", ")))
        })
    }

    /// The parameter `profile`, with semicolons where a profile by itself has a colon and commas, such as
    /// `yandex;stop=none;min-letters=1`; `run` is the profile that the run measures by.
    pub fn profile(&mut self, default: Option<Profile>) -> Result<Option<Profile>, MethodError> {
        let Some(text) = self.text("profile") else { return Ok(default) };
        if text == "run" {
            return Ok(None);
        }
        let parsed = text.replacen(';', ":", 1).replace(';', ",").parse();
        parsed.map(Some).map_err(|error: lookalike_text::ProfileError| {
            self.value_error(
                "profile",
                &text,
                &format!("{error}, and run stands for the one that is measured by"),
            )
        })
    }

    /// Takes all parameters that begin with `prefix`, under the rest of their names.
    pub fn take_prefixed(&mut self, prefix: &str) -> BTreeMap<String, String> {
        let keys: Vec<String> = self.given.keys().filter(|key| key.starts_with(prefix)).cloned().collect();
        keys.into_iter()
            .filter_map(|key| self.given.remove(&key).map(|value| (key[prefix.len()..].to_owned(), value)))
            .collect()
    }

    /// The error about a value that will not do.
    pub fn value_error(&self, key: &str, value: &str, wanted: &str) -> MethodError {
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
        let nearest = match nearest(&key, self.known.iter().map(String::as_str)) {
            None => "it has none".to_owned(),
            Some(nearest) => format!("{nearest} may be meant, and it has {}", self.known.join(", ")),
        };
        Err(MethodError::Key { method: self.name, key, nearest, known: self.known })
    }

    pub(crate) fn unknown<'n>(&self, names: impl Iterator<Item = &'n str>) -> MethodError {
        let nearest = nearest(&self.name, names).unwrap_or_default().to_owned();
        MethodError::Unknown { name: self.name.clone(), nearest }
    }
}

/// A profile as a value of the parameter `profile`.
pub(crate) fn profile_value(profile: Option<&Profile>) -> String {
    profile.map_or("run".to_owned(), |profile| profile.to_string().replace([':', ','], ";"))
}

/// The name that takes the fewest edits to get from `typed`; the first of several.
fn nearest<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    names.min_by_key(|name| edit_distance(typed, name))
}

/// Insertions, deletions and substitutions from `a` to `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = substituted.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_takes_the_fewest_edits() {
        assert_eq!(
            (edit_distance("kitten", "sitting"), edit_distance("", "abc"), edit_distance("abc", "")),
            (3, 3, 3)
        );
        assert_eq!(nearest("minhsh", ["simhash", "minhash", "md5"].into_iter()), Some("minhash"));
        assert_eq!(nearest("x", [].into_iter()), None);
    }

    #[test]
    fn profiles_are_parameters() {
        let mut spec: Spec = "x:profile=yandex;stop=none;min-letters=1".parse().unwrap();
        let profile = spec.profile(None).unwrap().unwrap();
        assert_eq!(profile.to_string(), "yandex:min-letters=1,stop=none");
        assert_eq!(profile_value(Some(&profile)), "yandex;min-letters=1;stop=none");
        let again: Spec = format!("x:profile={}", profile_value(Some(&profile))).parse().unwrap();
        assert_eq!(again.clone().profile(None), Ok(Some(profile)));
        let mut run: Spec = "x:profile=run".parse().unwrap();
        assert_eq!(run.profile(Some(Profile::kolcz())), Ok(None));
        let mut bad: Spec = "x:profile=jandex".parse().unwrap();
        assert!(bad.profile(None).unwrap_err().to_string().contains("there are web"));
    }
}

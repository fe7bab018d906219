//! Profiles: named recipes from text to words.
//!
//! | profile | normal form | words are | dropped | for |
//! |---|---|---|---|---|
//! | `web` | NFKC | runs of letters, marks and numbers; character pairs in unspaced scripts | nothing | production runs (the default) |
//! | `thesis` | NFC | alphanumeric runs | nothing | MinHash and SimHash on ClueWeb (Weimar 2014) |
//! | `kolcz` | NFC | alphanumeric runs | words with two digits or more, or under 4 characters; documents with under 5 distinct words | I-Match (Kołcz, Chowdhury, Alspector 2004) |
//! | `yandex` | NFC | alphanumeric runs | function words, words of up to 3 letters | the signatures A0 to A12 (Zelenkov, Segalovich 2007) |
//!
//! All lower-case the text, code point by code point. A profile is written as its name with the changes behind
//! it: `web`, `yandex:stop=en+de`, `web:words=dictionary`.

use std::fmt;
use std::str::FromStr;

use lookalike_model::Recipe;

use crate::normal::Form;
use crate::runs::Alphabet;
use crate::stop;

/// The rule by which a text is cut into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Segmentation {
    /// Maximal runs; scripts that write no blanks give overlapping pairs of characters.
    Bigrams,
    /// Maximal runs, whatever the script.
    Runs,
    /// The word boundaries of Unicode Standard Annex 29.
    Uax29,
    /// As `Uax29`, with dictionaries for Chinese, Japanese, Thai, Lao, Khmer and Burmese.
    Dictionary,
}

/// A recipe from text to words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Name of the recipe that this one is, or was made from.
    pub name: &'static str,
    /// Normal form.
    pub form: Form,
    /// The characters that words consist of.
    pub alphabet: Alphabet,
    /// The rule by which words are cut.
    pub segmentation: Segmentation,
    /// Words with fewer characters are dropped.
    pub min_letters: usize,
    /// Words with more digits are dropped.
    pub max_digits: usize,
    /// Languages whose function words are dropped.
    pub stop: Vec<&'static str>,
    /// A document with fewer distinct words has none at all.
    pub min_distinct: usize,
    /// Sentences also end at the full stops of East Asia, which no blank follows.
    pub ideographic_stops: bool,
}

/// Raised when the same profile would give other words than before.
const VERSION: u32 = 1;

impl Profile {
    /// The default of production runs.
    pub fn web() -> Self {
        Profile {
            name: "web",
            form: Form::Nfkc,
            alphabet: Alphabet::LettersMarksNumbers,
            segmentation: Segmentation::Bigrams,
            min_letters: 1,
            max_digits: usize::MAX,
            stop: Vec::new(),
            min_distinct: 0,
            ideographic_stops: true,
        }
    }

    /// As in the thesis on near-duplicates between ClueWeb09 and ClueWeb12.
    pub fn thesis() -> Self {
        Profile {
            name: "thesis",
            form: Form::Nfc,
            alphabet: Alphabet::Alphanumeric,
            segmentation: Segmentation::Runs,
            ideographic_stops: false,
            ..Profile::web()
        }
    }

    /// As in the paper on I-Match with randomised lexicons.
    pub fn kolcz() -> Self {
        Profile { name: "kolcz", min_letters: 4, max_digits: 1, min_distinct: 5, ..Profile::thesis() }
    }

    /// As in the paper that compares the signatures A0 to A12.
    pub fn yandex() -> Self {
        Profile { name: "yandex", min_letters: 4, stop: vec!["ru", "en"], ..Profile::thesis() }
    }

    /// The four, in the order of the table above.
    pub fn all() -> [Self; 4] {
        [Profile::web(), Profile::thesis(), Profile::kolcz(), Profile::yandex()]
    }

    /// True when every word found is kept.
    pub(crate) fn keeps_all(&self) -> bool {
        self.min_letters <= 1 && self.max_digits == usize::MAX && self.stop.is_empty()
    }

    /// Everything that decides which words come out.
    pub fn recipe(&self) -> Recipe {
        let (major, minor, patch) = char::UNICODE_VERSION;
        let mut recipe = Recipe::new(self.name, VERSION).with("unicode", format!("{major}.{minor}.{patch}"));
        for key in KEYS {
            recipe = recipe.with(key, self.value(key));
        }
        recipe
    }

    fn value(&self, key: &str) -> String {
        match key {
            "form" => name_of(&FORMS, self.form),
            "alphabet" => name_of(&ALPHABETS, self.alphabet),
            "words" => name_of(&SEGMENTATIONS, self.segmentation),
            "min-letters" => self.min_letters.to_string(),
            "max-digits" if self.max_digits == usize::MAX => "any".to_owned(),
            "max-digits" => self.max_digits.to_string(),
            "stop" if self.stop.is_empty() => "none".to_owned(),
            "stop" => self.stop.join("+"),
            "min-distinct" => self.min_distinct.to_string(),
            _ => self.ideographic_stops.to_string(),
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), ProfileError> {
        let bad = || ProfileError::Value { key: key.to_owned(), value: value.to_owned() };
        let number = |value: &str| value.parse::<usize>().map_err(|_| bad());
        match key {
            "form" => self.form = named(&FORMS, value).ok_or_else(bad)?,
            "alphabet" => self.alphabet = named(&ALPHABETS, value).ok_or_else(bad)?,
            "words" => self.segmentation = named(&SEGMENTATIONS, value).ok_or_else(bad)?,
            "min-letters" => self.min_letters = number(value)?,
            "max-digits" if value == "any" => self.max_digits = usize::MAX,
            "max-digits" => self.max_digits = number(value)?,
            "stop" if value == "none" => self.stop.clear(),
            "stop" => self.stop = languages(value).ok_or_else(bad)?,
            "min-distinct" => self.min_distinct = number(value)?,
            "ideographic-stops" => self.ideographic_stops = value.parse().map_err(|_| bad())?,
            _ => return Err(ProfileError::Key { key: key.to_owned() }),
        }
        Ok(())
    }
}

impl Default for Profile {
    fn default() -> Self {
        Profile::web()
    }
}

const KEYS: [&str; 8] =
    ["form", "alphabet", "words", "min-letters", "max-digits", "stop", "min-distinct", "ideographic-stops"];
const FORMS: [(Form, &str); 2] = [(Form::Nfc, "nfc"), (Form::Nfkc, "nfkc")];
const ALPHABETS: [(Alphabet, &str); 2] =
    [(Alphabet::LettersMarksNumbers, "lmn"), (Alphabet::Alphanumeric, "alphanumeric")];
const SEGMENTATIONS: [(Segmentation, &str); 4] = [
    (Segmentation::Bigrams, "bigrams"),
    (Segmentation::Runs, "runs"),
    (Segmentation::Uax29, "uax29"),
    (Segmentation::Dictionary, "dictionary"),
];

fn name_of<T: PartialEq>(names: &[(T, &str)], wanted: T) -> String {
    names.iter().find(|(value, _)| *value == wanted).map_or_else(String::new, |(_, name)| (*name).to_owned())
}

fn named<T: Copy>(names: &[(T, &str)], wanted: &str) -> Option<T> {
    names.iter().find(|(_, name)| *name == wanted).map(|(value, _)| *value)
}

fn languages(list: &str) -> Option<Vec<&'static str>> {
    list.split('+').map(|wanted| stop::LANGUAGES.into_iter().find(|known| *known == wanted)).collect()
}

/// A profile was written in a way that means nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileError {
    /// No profile has this name.
    Name {
        /// The name.
        name: String,
    },
    /// A change is not of the form `key=value`.
    Form {
        /// The change as given.
        part: String,
    },
    /// No profile has this parameter.
    Key {
        /// The parameter.
        key: String,
    },
    /// The parameter cannot have this value.
    Value {
        /// The parameter.
        key: String,
        /// The value.
        value: String,
    },
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProfileError::Name { name } => {
                write!(f, "no profile is called {name:?}; there are web, thesis, kolcz and yandex")
            }
            ProfileError::Form { part } => write!(f, "{part:?} is not of the form key=value"),
            ProfileError::Key { key } => {
                write!(f, "a profile has no parameter {key:?}; it has {}", KEYS.join(", "))
            }
            ProfileError::Value { key, value } => {
                write!(f, "{value:?} is no value for {key}")?;
                match key.as_str() {
                    "form" => f.write_str("; it can be nfc or nfkc"),
                    "alphabet" => f.write_str("; it can be lmn or alphanumeric"),
                    "words" => f.write_str("; it can be bigrams, runs, uax29 or dictionary"),
                    "stop" => {
                        write!(f, "; it can be none or some of {}, joined by +", stop::LANGUAGES.join(", "))
                    }
                    "ideographic-stops" => f.write_str("; it can be true or false"),
                    _ => f.write_str("; it must be a whole number"),
                }
            }
        }
    }
}

impl std::error::Error for ProfileError {}

impl fmt::Display for Profile {
    /// As it is typed: the name, and what differs from the profile of that name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        let named = Profile::all().into_iter().find(|profile| profile.name == self.name);
        let mut mark = ':';
        for key in KEYS {
            let value = self.value(key);
            if named.as_ref().is_none_or(|named| named.value(key) != value) {
                write!(f, "{mark}{key}={value}")?;
                mark = ',';
            }
        }
        Ok(())
    }
}

impl FromStr for Profile {
    type Err = ProfileError;

    /// Reads `name` or `name:key=value,key=value`.
    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let (name, changes) = text.split_once(':').unwrap_or((text, ""));
        let found = Profile::all().into_iter().find(|profile| profile.name == name);
        let mut profile = found.ok_or_else(|| ProfileError::Name { name: name.to_owned() })?;
        for part in changes.split(',').filter(|part| !part.is_empty()) {
            let (key, value) =
                part.split_once('=').ok_or_else(|| ProfileError::Form { part: part.to_owned() })?;
            profile.set(key.trim(), value.trim())?;
        }
        Ok(profile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recipe_of_a_profile_reads_back_as_the_profile() {
        for text in
            ["web", "thesis", "kolcz", "yandex:stop=en+de,min-letters=2", "web:words=dictionary,form=nfc"]
        {
            let profile: Profile = text.parse().unwrap();
            let recipe = profile.recipe();
            let changes: Vec<String> = recipe
                .parameters
                .iter()
                .filter(|(key, _)| *key != "unicode")
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            assert_eq!(profile.to_string().parse(), Ok(profile.clone()), "{text}");
            assert_eq!(format!("{}:{}", recipe.name, changes.join(",")).parse(), Ok(profile), "{text}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        let explain = |text: &str| text.parse::<Profile>().unwrap_err().to_string();
        assert_eq!(explain("webb"), "no profile is called \"webb\"; there are web, thesis, kolcz and yandex");
        assert!(explain("web:x=1").starts_with("a profile has no parameter \"x\""));
        assert_eq!(explain("web:form=nfd"), "\"nfd\" is no value for form; it can be nfc or nfkc");
        assert_eq!(explain("web:form"), "\"form\" is not of the form key=value");
    }

    #[test]
    fn stop_lists_are_in_the_form_that_words_come_in() {
        use icu_normalizer::ComposingNormalizerBorrowed;
        for language in stop::LANGUAGES {
            for word in stop::function_words(language).unwrap() {
                assert_eq!(word, word.to_lowercase());
                assert!(ComposingNormalizerBorrowed::new_nfc().is_normalized(word));
                assert!(word.chars().all(char::is_alphanumeric), "{word}");
            }
        }
    }
}

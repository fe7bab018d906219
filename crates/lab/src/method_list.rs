//! The methods that take part: all of them, or a list as typed.

use lookalike::methods::{METHODS, Setting, method};

use crate::error::LabError;
use crate::trial::Configuration;

/// A method's name here, and how it runs.
pub type Entry = (String, Configuration);

/// Every method there is, once: under the name that a paper gives it where it has one.
pub fn all() -> Result<Vec<Entry>, LabError> {
    let setting = Setting::default();
    let mut entries = Vec::new();
    for about in METHODS {
        let plain = method(about.name, &setting)?.recipe();
        let mut named = false;
        for (alias, _) in about.aliases {
            named |= method(alias, &setting)?.recipe() == plain;
            entries.push(entry(alias));
        }
        if !named {
            entries.push(entry(about.name));
        }
    }
    entries.sort_by_key(|(name, _)| number(name));
    Ok(entries)
}

/// The algorithms of Zelenkov and Segalovich.
pub fn zelenkov() -> Vec<Entry> {
    (0..=12).map(|number| entry(&format!("a{number}"))).collect()
}

/// A list as typed: methods with commas between, which may have parameters with commas between, or `all`.
pub fn parse(text: &str) -> Result<Vec<Entry>, LabError> {
    if text == "all" {
        return all();
    }
    let mut methods: Vec<String> = Vec::new();
    for piece in text.split(',').map(str::trim) {
        // What is no name is a parameter of the method before it.
        let parameter = piece.split(':').next().is_some_and(|front| front.contains('='));
        match methods.last_mut() {
            Some(last) if parameter => {
                let comma = if last.contains(':') { ',' } else { ':' };
                last.push(comma);
                last.push_str(piece);
            }
            _ if piece.is_empty() => {}
            _ => methods.push(piece.to_owned()),
        }
    }
    if let Some(odd) =
        methods.iter().find(|name| name.split(':').next().is_some_and(|name| name.contains(' ')))
    {
        return Err(LabError::Request(format!("{odd} is no method; methods have commas between them")));
    }
    if methods.iter().any(|name| name == "all") {
        return Err(LabError::Request("all is all methods; give it alone, or a list without it".to_owned()));
    }
    if methods.is_empty() {
        return Err(LabError::Request(
            "no method was named; give all, or names with commas between".to_owned(),
        ));
    }
    if let Some(twice) = methods.iter().enumerate().find(|(at, name)| methods[..*at].contains(name)) {
        return Err(LabError::Request(format!("{} was named twice; once is enough", twice.1)));
    }
    // A name that nobody knows should be heard of before an hour of work.
    for text in &methods {
        method(text, &Setting::default())?;
    }
    Ok(methods.iter().map(|text| entry(text)).collect())
}

fn entry(text: &str) -> Entry {
    (text.to_owned(), Configuration::single(text))
}

/// Papers' names by their number, the others behind them as they come.
fn number(name: &str) -> u32 {
    name.strip_prefix('a').and_then(|digits| digits.parse().ok()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(entries: &[Entry]) -> Vec<&str> {
        entries.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn parameters_stay_with_their_method() {
        let entries = parse("a4,simhash:n=3+5,k=3, md5,randomised:of=md5,of.profile=kolcz").unwrap();
        assert_eq!(names(&entries), ["a4", "simhash:n=3+5,k=3", "md5", "randomised:of=md5,of.profile=kolcz"]);
        assert!(parse("minhsah").unwrap_err().to_string().contains("minhash"));
        assert!(parse("").is_err() && parse("md5,md5").is_err());
    }

    #[test]
    fn all_methods_are_there_once() {
        let entries = all().unwrap();
        let mut recipes: Vec<String> = Vec::new();
        for (name, _) in &entries {
            let recipe = method(name, &Setting::default()).unwrap().recipe().to_string();
            assert!(!recipes.contains(&recipe), "{name}");
            recipes.push(recipe);
        }
        assert!(entries.len() <= crate::pool::MAX_METHODS);
        assert_eq!(&names(&entries)[..3], ["a0", "a1", "a2"]);
        assert!(names(&entries).contains(&"minhash") && names(&entries).contains(&"a12"));
        assert!(METHODS.len() <= entries.len());
    }
}

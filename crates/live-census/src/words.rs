//! Words as engines cut them: runs of letters and digits, in lower case.
//!
//! Engines differ in the words by which they find a page. This is the rule of most of them for most words; for the others the
//! sampler checks if an engine agrees.

use lookalike_hash as hash;

/// Longest run, in bytes, that is kept by its letters. Scripts without blanks, and data, have longer ones: they tell pages apart as
/// others do, and are never asked for.
const LONGEST: usize = 40;

/// Calls `take` with every word of a text, as often as it comes; a run that is too long, by its digest, which is no query.
pub fn each(text: &str, mut take: impl FnMut(&str)) {
    let mut lower = String::new();
    for run in text.split(|character: char| !character.is_alphanumeric()) {
        if run.is_empty() {
            continue;
        }
        let is_plain = run.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if is_plain && run.len() <= LONGEST {
            take(run);
            continue;
        }
        lower.clear();
        lower.extend(run.chars().flat_map(char::to_lowercase));
        if lower.len() > LONGEST {
            lower = format!("{:032x}", hash::word(lower.as_bytes()));
        }
        take(&lower);
    }
}

/// Returns true if a word is fit to be a query: engines disagree on single characters and very long words.
pub fn is_query(word: &str) -> bool {
    (2..=30).contains(&word.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_letters_and_digits() {
        let mut found = Vec::new();
        each("It's 2nd-HAND, naïve ÜBER_all \u{0130}x", |word| found.push(word.to_owned()));
        let wanted = ["it", "s", "2nd", "hand", "naïve", "über", "all", "i\u{307}x"];
        assert_eq!(found, wanted);
        let mut long = Vec::new();
        each(&format!("{0} {0} {1}", "x".repeat(41), "日".repeat(14)), |word| long.push(word.to_owned()));
        assert!(long[0] == long[1] && long[0] != long[2] && !long.iter().any(|word| is_query(word)));
        assert!(is_query("ab") && !is_query("a") && !is_query(&"a".repeat(31)));
    }
}

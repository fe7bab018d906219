//! Words as engines cut them: runs of letters and digits, in lower case.
//!
//! What a page is found by is for its engine to say, and engines differ. This is what most of them do with most words; for the others
//! the sampler looks whether an engine agrees before it believes.

/// Longest word, in bytes; longer runs are left out by engines, too.
const LONGEST: usize = 40;

/// Calls `take` with every word of a text, as often as it comes.
pub fn each(text: &str, mut take: impl FnMut(&str)) {
    let mut lower = String::new();
    for run in text.split(|character: char| !character.is_alphanumeric()) {
        if run.is_empty() || run.len() > LONGEST {
            continue;
        }
        if run.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
            take(run);
            continue;
        }
        lower.clear();
        lower.extend(run.chars().flat_map(char::to_lowercase));
        take(&lower);
    }
}

/// Whether a word is fit to be a query: engines disagree on single characters and very long words.
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
        let mut long = 0;
        each(&"x".repeat(41), |_| long += 1);
        assert_eq!(long, 0);
        assert!(is_query("ab") && !is_query("a") && !is_query(&"a".repeat(31)));
    }
}

//! The script that a text is written in: a cheap first guess at its language.

use icu_properties::CodePointMapData;
use icu_properties::props::Script;

/// Letters looked at in one text.
const LETTERS: usize = 4096;

/// Scripts that are told apart, each with its name; languages that mix scripts have one entry.
const SCRIPTS: [(&str, &[Script]); 21] = [
    ("Latin", &[Script::Latin]),
    ("Cyrillic", &[Script::Cyrillic]),
    ("Greek", &[Script::Greek]),
    ("Arabic", &[Script::Arabic]),
    ("Hebrew", &[Script::Hebrew]),
    ("Devanagari", &[Script::Devanagari]),
    ("Bengali", &[Script::Bengali]),
    ("Tamil", &[Script::Tamil]),
    ("Telugu", &[Script::Telugu]),
    ("Gujarati", &[Script::Gujarati]),
    ("Han", &[Script::Han]),
    ("Japanese", &[Script::Hiragana, Script::Katakana]),
    ("Hangul", &[Script::Hangul]),
    ("Thai", &[Script::Thai]),
    ("Lao", &[Script::Lao]),
    ("Khmer", &[Script::Khmer]),
    ("Myanmar", &[Script::Myanmar]),
    ("Georgian", &[Script::Georgian]),
    ("Armenian", &[Script::Armenian]),
    ("Ethiopic", &[Script::Ethiopic]),
    ("other", &[]),
];
const HAN: usize = 10;
const JAPANESE: usize = 11;
const OTHER: usize = SCRIPTS.len() - 1;

/// Number of scripts that are told apart.
pub const COUNT: usize = SCRIPTS.len();

/// Returns the number of the script of a letter, counted from 0; none for a letter that several scripts share.
pub fn number(letter: char) -> Option<usize> {
    if letter.is_ascii_lowercase() {
        return Some(0);
    }
    let script = CodePointMapData::<Script>::new().get(letter);
    let known = || SCRIPTS.iter().position(|(_, scripts)| scripts.contains(&script)).unwrap_or(OTHER);
    (script != Script::Common && script != Script::Inherited).then(known)
}

/// The script of most of the first 4,096 letters of `text`; `"none"` without letters.
///
/// Text with kana among its ideographs is Japanese.
///
/// ```
/// use lookalike_text::script::dominant;
///
/// assert_eq!(dominant("Reading Война и мир, слово за словом"), "Cyrillic");
/// assert_eq!(dominant("東京に行きます"), "Japanese");
/// assert_eq!(dominant("12:30"), "none");
/// ```
pub fn dominant(text: &str) -> &'static str {
    let mut counts = [0usize; COUNT];
    for script in text.chars().filter(|c| c.is_alphabetic()).take(LETTERS).filter_map(number) {
        counts[script] += 1;
    }
    // A fifth of kana is far more than a Chinese text quotes, and less than any Japanese prose has.
    if counts[JAPANESE] * 5 >= counts[HAN] && counts[JAPANESE] > 0 {
        counts[JAPANESE] += std::mem::take(&mut counts[HAN]);
    }
    let (index, &most) =
        counts.iter().enumerate().rev().max_by_key(|(_, count)| **count).unwrap_or((OTHER, &0));
    if most == 0 { "none" } else { SCRIPTS[index].0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_the_numbers_of_their_scripts() {
        let name = |letter| number(letter).map(|number| SCRIPTS[number].0);
        assert_eq!(
            ['a', 'É', 'ж', 'ω', '薔', 'か', '𐌰'].map(name).map(Option::unwrap),
            ["Latin", "Latin", "Cyrillic", "Greek", "Han", "Japanese", "other"]
        );
        assert_eq!(['1', 'ー', '\u{301}'].map(name), [None; 3]);
        assert!(number('𐌰').unwrap() < COUNT);
    }

    #[test]
    fn scripts_are_told_apart() {
        for (text, script) in [
            ("Plain words", "Latin"),
            ("ελληνικά", "Greek"),
            ("العربية", "Arabic"),
            ("हिन्दी", "Devanagari"),
            ("中文网页", "Han"),
            ("한국어", "Hangul"),
            ("ภาษาไทย", "Thai"),
            ("ᏣᎳᎩ", "other"),
            ("", "none"),
        ] {
            assert_eq!(dominant(text), script, "{text}");
        }
    }
}

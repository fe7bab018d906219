//! The languages of the corpus: one real, eight invented, each with its script and punctuation.

use std::fmt;

/// A language. Only English has real words; the others are strings of syllables in their script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// English, from a hand-written vocabulary.
    English,
    /// Latin letters with accents.
    Latin,
    /// Cyrillic letters.
    Cyrillic,
    /// Greek letters.
    Greek,
    /// Arabic letters, written from right to left.
    Arabic,
    /// Devanagari with vowel signs and conjuncts.
    Devanagari,
    /// Han characters, without spaces.
    Han,
    /// Han, Hiragana and Katakana mixed, without spaces.
    Japanese,
    /// Thai, without spaces between words.
    Thai,
}

/// The punctuation at the end of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    None,
    Full,
    Question,
    Exclamation,
}

impl Language {
    /// Every language, English first.
    pub const ALL: [Language; 9] = [
        Language::English,
        Language::Latin,
        Language::Cyrillic,
        Language::Greek,
        Language::Arabic,
        Language::Devanagari,
        Language::Han,
        Language::Japanese,
        Language::Thai,
    ];

    /// The language tag (BCP 47); invented languages are undetermined ones in a known script.
    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Latin => "und-Latn",
            Language::Cyrillic => "und-Cyrl",
            Language::Greek => "und-Grek",
            Language::Arabic => "und-Arab",
            Language::Devanagari => "und-Deva",
            Language::Han => "und-Hani",
            Language::Japanese => "und-Jpan",
            Language::Thai => "und-Thai",
        }
    }

    /// True when its words are written without spaces, so that profile `web` reads character bigrams.
    pub fn unspaced(self) -> bool {
        matches!(self, Language::Han | Language::Japanese | Language::Thai)
    }

    /// Half of the pages are English; the invented languages share the rest.
    pub(crate) fn by_percentile(percentile: u32) -> Self {
        match percentile {
            0..50 => Language::English,
            50..63 => Language::Latin,
            63..72 => Language::Cyrillic,
            72..77 => Language::Greek,
            77..82 => Language::Arabic,
            82..87 => Language::Devanagari,
            87..92 => Language::Han,
            92..96 => Language::Japanese,
            _ => Language::Thai,
        }
    }

    pub(crate) fn comma(self) -> &'static str {
        match self {
            Language::Arabic => "، ",
            Language::Han | Language::Japanese => "、",
            Language::Thai => " ",
            _ => ", ",
        }
    }

    pub(crate) fn stop(self, stop: Stop) -> &'static str {
        match (stop, self) {
            (Stop::None, _) | (Stop::Full, Language::Thai) => "",
            (Stop::Full, Language::Han | Language::Japanese) => "。",
            (Stop::Full, Language::Devanagari) => "।",
            (Stop::Full, _) => ".",
            (Stop::Question, Language::Arabic) => "؟",
            (Stop::Question, Language::Han | Language::Japanese) => "？",
            (Stop::Question, _) => "?",
            (Stop::Exclamation, Language::Han | Language::Japanese) => "！",
            (Stop::Exclamation, _) => "!",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tag())
    }
}

//! Normal forms.
//!
//! Nearly all text is already normal, so the work is done on the few stretches that may not be: a character
//! that is *unstable* (it changes under the normal form, or may melt into its predecessor) is normalised
//! together with the one character before it and everything unstable behind it. A stable character starts
//! afresh whatever stands before it, so this equals normalising the whole text; a test holds it to that.

use std::collections::HashMap;

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::class::{Class, UNSTABLE_NFKC};

/// A Unicode normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Canonical composition.
    Nfc,
    /// Compatibility composition: ligatures, full-width and circled characters become plain ones.
    Nfkc,
}

/// Brings stretches of text into a normal form.
pub(crate) struct Normaliser {
    normaliser: ComposingNormalizerBorrowed<'static>,
    /// The last stretch.
    stretch: String,
}

impl Normaliser {
    pub(crate) fn new(form: Form) -> Self {
        let normaliser = match form {
            Form::Nfc => ComposingNormalizerBorrowed::new_nfc(),
            Form::Nfkc => ComposingNormalizerBorrowed::new_nfkc(),
        };
        Normaliser { normaliser, stretch: String::new() }
    }

    /// A stretch in normal form.
    pub(crate) fn run(&mut self, text: &str) -> &str {
        self.stretch.clear();
        self.normaliser.normalize_to(text, &mut self.stretch).expect("writing to a string cannot fail");
        &self.stretch
    }
}

/// Growth of a text by NFKC normalisation, which may be large: one character of three bytes has eighteen in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NfkcGrowth {
    /// Bytes beyond those of the text.
    pub bytes: usize,
    /// Ends of words beyond those of the text, see [`word_ends`]; there may be fewer.
    pub words: isize,
}

/// About how many words there are, rather too many than too few: bytes that are no part of a word, and characters of scripts that may
/// have no blanks between words.
pub fn word_ends(text: &[u8]) -> usize {
    // From 0xe0 on a byte is the first of a character of three or four bytes, where the scripts without
    // blanks are; 0x80 to 0xdf are letters of two bytes and the further bytes of all characters.
    let ends = |byte: &&u8| !(byte.is_ascii_alphanumeric() || (0x80..0xe0).contains(*byte));
    text.iter().filter(ends).count()
}

impl NfkcGrowth {
    /// Measures a text, character by character.
    pub fn of(text: &str) -> NfkcGrowth {
        let mut normaliser = Normaliser::new(Form::Nfkc);
        // A text of such characters repeats them, and to normalise one takes longer than to look it up.
        let mut known: HashMap<char, NfkcGrowth> = HashMap::new();
        let mut all = NfkcGrowth::default();
        let mut rest = text;
        // 0xc2 is the least byte that a character beyond ASCII begins with; ASCII never changes.
        while let Some(at) = rest.bytes().position(|byte| byte >= 0xc2) {
            let Some(next) = rest[at..].chars().next() else { break };
            rest = &rest[at + next.len_utf8()..];
            if !Class::of(next).is_any(UNSTABLE_NFKC) {
                continue;
            }
            let growth = *known.entry(next).or_insert_with(|| {
                let mut plain = [0; 4];
                let plain = next.encode_utf8(&mut plain);
                let normal = normaliser.run(plain);
                let words =
                    word_ends(normal.as_bytes()).cast_signed() - word_ends(plain.as_bytes()).cast_signed();
                NfkcGrowth { bytes: normal.len().saturating_sub(plain.len()), words }
            });
            all.bytes += growth.bytes;
            all.words += growth.words;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_model::Span;

    use crate::runs::{Alphabet, Unspaced};
    use crate::scan::{NormalisedText, Scanner};

    fn scan(form: Form, text: &str) -> NormalisedText {
        let mut out = NormalisedText::default();
        Scanner::new(form, Alphabet::LettersMarksNumbers, Unspaced::Bigrams).run(text, &mut out);
        out
    }

    fn normal(form: Form, text: &str) -> String {
        scan(form, text).normal
    }

    /// The simplest correct version: the whole text at once.
    fn plain(form: Form, text: &str) -> String {
        let whole = match form {
            Form::Nfc => ComposingNormalizerBorrowed::new_nfc().normalize(text),
            Form::Nfkc => ComposingNormalizerBorrowed::new_nfkc().normalize(text),
        };
        whole.chars().flat_map(char::to_lowercase).collect()
    }

    #[test]
    fn growth_is_told_before_it_happens() {
        for text in ["plain", "Größe", "ﬁne Ａ１ ﷺ ½ Å ẞ ①", "ﷺﷺ㎮ ㎮"] {
            let NfkcGrowth { bytes, words } = NfkcGrowth::of(text);
            let whole = ComposingNormalizerBorrowed::new_nfkc().normalize(text);
            assert!(text.len() + bytes >= whole.len(), "{text}");
            let ends = |text: &str| word_ends(text.as_bytes());
            assert_eq!(ends(text).saturating_add_signed(words), ends(&whole), "{text}");
        }
        assert_eq!(NfkcGrowth::of("ﷺ"), NfkcGrowth { bytes: 30, words: 2 });
    }

    #[test]
    fn ligatures_and_full_width_letters_become_plain() {
        assert_eq!(normal(Form::Nfkc, "ﬁne Ａ１ ﷺ ½ Å ẞ ①"), plain(Form::Nfkc, "ﬁne Ａ１ ﷺ ½ Å ẞ ①"));
        assert_eq!(normal(Form::Nfkc, "oﬃce"), "office");
        assert_eq!(normal(Form::Nfc, "oﬃce"), "oﬃce");
    }

    #[test]
    fn an_accent_melts_into_the_letter_before_it() {
        assert_eq!(
            normal(Form::Nfc, "CAFE\u{301} e\u{301}\u{323}x"),
            plain(Form::Nfc, "CAFE\u{301} e\u{301}\u{323}x")
        );
        assert_eq!(normal(Form::Nfc, "cafe\u{301}"), "café");
        assert_eq!(normal(Form::Nfc, "\u{301}a"), "\u{301}a");
        assert_eq!(normal(Form::Nfc, "각"), "각");
        assert_eq!(normal(Form::Nfc, "\u{1100}\u{1161}\u{11a8}"), "각");
    }

    #[test]
    fn sigma_has_one_small_form() {
        assert_eq!(normal(Form::Nfkc, "ΟΔΟΣ"), "οδοσ");
    }

    #[test]
    fn spans_lead_back_to_the_stretch_a_character_was_made_from() {
        let text = "x ﬁ İz";
        let NormalisedText { normal: out, spans, .. } = scan(Form::Nfkc, text);
        assert_eq!(out, "x fi i\u{307}z");
        let z = out.find('z').unwrap();
        assert_eq!(spans.to_source(Span::new(z, z + 1)).of(text), "z");
        assert!(spans.to_source(Span::new(3, 4)).of(text).contains('ﬁ'));
    }
}

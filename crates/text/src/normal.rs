//! Normal forms and lower case, with the way back.
//!
//! Nearly all text is already normal, so the work is done on the few stretches that may not be: a character
//! that is *unstable* (it changes under the normal form, or may melt into its predecessor) is normalised
//! together with the one character before it and everything unstable behind it. A stable character starts
//! afresh whatever stands before it, so this equals normalising the whole text; a test holds it to that.

use icu_normalizer::ComposingNormalizerBorrowed;
use lookalike_model::SpanMap;

use crate::class::Class;

/// A Unicode normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Canonical composition.
    Nfc,
    /// Compatibility composition: ligatures, full-width and circled characters become plain ones.
    Nfkc,
}

/// So many ASCII characters in a row end the loop over characters. Most scripts have an ASCII blank between
/// words, for which changing loops would not pay.
pub(crate) const ASCII_STRETCH: usize = 12;

/// Brings text into a normal form and lower case, code point by code point (no locale, no final-sigma rule).
pub(crate) struct Normaliser {
    form: Form,
    normaliser: ComposingNormalizerBorrowed<'static>,
    /// One stretch in normal form, before lower-casing.
    stretch: String,
}

impl Normaliser {
    pub(crate) fn new(form: Form) -> Self {
        let normaliser = match form {
            Form::Nfc => ComposingNormalizerBorrowed::new_nfc(),
            Form::Nfkc => ComposingNormalizerBorrowed::new_nfkc(),
        };
        Normaliser { form, normaliser, stretch: String::new() }
    }

    /// Appends nothing: replaces `out` and `spans` with the normal form of `text` and the way back to it.
    pub(crate) fn run(&mut self, text: &str, out: &mut String, spans: &mut SpanMap) {
        out.clear();
        spans.clear();
        out.reserve(text.len());
        let mut at = 0;
        while at < text.len() {
            let plain = ascii_prefix(&text.as_bytes()[at..]);
            copy(text, at, plain, out, spans);
            at += plain;
            at += self.beyond_ascii(text, at, out, spans);
        }
    }

    /// Handles the characters from `from` up to a longer stretch of ASCII; returns how many bytes that were.
    fn beyond_ascii(&mut self, text: &str, from: usize, out: &mut String, spans: &mut SpanMap) -> usize {
        let mut at = from;
        // Characters from `kept` to `at` are stable and wait to be copied in one piece.
        let mut kept = from;
        let compatibility = self.form == Form::Nfkc;
        let mut ascii = 0;
        while let Some(c) = text[at..].chars().next() {
            if c.is_ascii() {
                at += 1;
                ascii += 1;
                if ascii == ASCII_STRETCH {
                    break;
                }
                continue;
            }
            ascii = 0;
            let class = Class::of(c);
            if class.is_unstable(compatibility) {
                copy(text, kept, at - kept, out, spans);
                at = self.normalise_stretch(text, at, out, spans);
                kept = at;
            } else if class.is_cased() {
                copy(text, kept, at - kept, out, spans);
                push_lower(c, at, out, spans);
                at += c.len_utf8();
                kept = at;
            } else {
                at += c.len_utf8();
            }
        }
        copy(text, kept, at - kept, out, spans);
        at - from
    }

    /// Normalises the unstable characters from `at` on together with the one before; returns where they end.
    fn normalise_stretch(&mut self, text: &str, at: usize, out: &mut String, spans: &mut SpanMap) -> usize {
        let compatibility = self.form == Form::Nfkc;
        let unstable = |c: &char| Class::of(*c).is_unstable(compatibility);
        let end = at + text[at..].chars().take_while(unstable).map(char::len_utf8).sum::<usize>();
        let before = text[..at].chars().next_back().map_or(0, char::len_utf8);
        let start = self.take_back(text, at, before, out);
        let Normaliser { normaliser, stretch, .. } = self;
        stretch.clear();
        normaliser.normalize_to(&text[start..end], stretch).expect("writing to a string cannot fail");
        spans.replaced(out.len(), start, end - start);
        for c in stretch.chars() {
            out.extend(c.to_lowercase());
        }
        end
    }

    /// Removes the character before `at` from the output again, so that it can be normalised with its
    /// successors. Not when it was itself the end of a stretch: then nothing unstable can follow it.
    fn take_back(&self, text: &str, at: usize, before: usize, out: &mut String) -> usize {
        let start = at - before;
        for _ in text[start..at].chars().flat_map(char::to_lowercase) {
            out.pop();
        }
        start
    }
}

/// Copies a stable stretch; ASCII capitals in it become small.
fn copy(text: &str, at: usize, length: usize, out: &mut String, spans: &mut SpanMap) {
    let start = out.len();
    spans.copied(start, at, length);
    out.push_str(&text[at..at + length]);
    out[start..].make_ascii_lowercase();
}

/// Appends the lower case of one character that has one.
fn push_lower(c: char, at: usize, out: &mut String, spans: &mut SpanMap) {
    let start = out.len();
    out.extend(c.to_lowercase());
    if out.len() - start == c.len_utf8() {
        spans.copied(start, at, c.len_utf8());
    } else {
        spans.replaced(start, at, c.len_utf8());
    }
}

/// Number of ASCII bytes at the front.
fn ascii_prefix(bytes: &[u8]) -> usize {
    let whole = bytes
        .as_chunks::<32>()
        .0
        .iter()
        .take_while(|block| block.iter().fold(0, |bits, byte| bits | byte) < 0x80)
        .count();
    let at = whole * 32;
    at + bytes[at..].iter().take_while(|byte| byte.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_model::Span;
    use proptest::prelude::*;

    fn normal(form: Form, text: &str) -> String {
        let (mut out, mut spans) = (String::new(), SpanMap::default());
        Normaliser::new(form).run(text, &mut out, &mut spans);
        out
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
        let (mut out, mut spans) = (String::new(), SpanMap::default());
        Normaliser::new(Form::Nfkc).run(text, &mut out, &mut spans);
        assert_eq!(out, "x fi i\u{307}z");
        let z = out.find('z').unwrap();
        assert_eq!(spans.back(Span::new(z, z + 1)).of(text), "z");
        assert!(spans.back(Span::new(3, 4)).of(text).contains('ﬁ'));
    }

    fn soup() -> impl Strategy<Value = String> {
        let pieces = prop_oneof![
            any::<char>().prop_map(String::from),
            "[ -~]{0,5}",
            "[\u{300}-\u{345}]{1,3}",
            "[가-힣\u{1100}-\u{1112}\u{1161}-\u{1175}\u{11a7}-\u{11c2}]{1,4}",
            "[ａ-ｚＡ-Ｚ０-９ｦ-ﾟ]{1,4}",
            "[à-ÿ\u{1e00}-\u{1eff}ﬀ-ﬆ]{1,4}",
            "[\u{900}-\u{9ff}\u{b3e}-\u{b57}\u{bbe}-\u{bd7}]{1,4}",
            "[ぁ-ゟ\u{3099}\u{309a}ァ-ヿ]{1,4}",
        ];
        prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn stretch_by_stretch_equals_the_whole_text_at_once(text in soup()) {
            prop_assert_eq!(normal(Form::Nfc, &text), plain(Form::Nfc, &text));
            prop_assert_eq!(normal(Form::Nfkc, &text), plain(Form::Nfkc, &text));
        }

        #[test]
        fn spans_stay_inside_the_text_and_on_characters(text in soup()) {
            let (mut out, mut spans) = (String::new(), SpanMap::default());
            Normaliser::new(Form::Nfkc).run(&text, &mut out, &mut spans);
            for (at, c) in out.char_indices() {
                let back = spans.back(Span::new(at, at + c.len_utf8()));
                prop_assert!(text.get(back.start as usize..back.end as usize).is_some_and(|piece| !piece.is_empty()));
            }
        }
    }
}

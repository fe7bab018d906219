//! What a character is to us: one byte of flags per code point.
//!
//! The flags are derived once per process from the Unicode tables of the ICU crates, for the two planes that
//! text is made of; beyond them they are looked up when needed. A test holds a checksum of the whole table, so
//! that a new Unicode version cannot change fingerprints unnoticed.

use std::sync::LazyLock;

use icu_normalizer::properties::{
    CanonicalCombiningClassMapBorrowed, CanonicalDecompositionBorrowed, Decomposed,
};
use icu_normalizer::{ComposingNormalizerBorrowed, properties::CanonicalCompositionBorrowed};
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup, Script};
use icu_properties::script::{ScriptWithExtensions, ScriptWithExtensionsBorrowed};
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed};

/// Flags of one character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Class(u8);

const WORD: u8 = 1;
const ALPHANUMERIC: u8 = 2;
const UNSPACED: u8 = 4;
const FOLLOWS: u8 = 8;
const UNSTABLE_NFC: u8 = 16;
const UNSTABLE_NFKC: u8 = 32;
const CASED: u8 = 64;

impl Class {
    /// The class of `c`.
    #[inline]
    pub(crate) fn of(c: char) -> Class {
        match TABLE.get(c as usize) {
            Some(&flags) => Class(flags),
            None => Class(Tables::new().flags(c)),
        }
    }

    /// A letter, mark or number.
    #[inline]
    pub(crate) fn is_word(self) -> bool {
        self.0 & WORD != 0
    }

    /// Unicode alphanumeric.
    #[inline]
    pub(crate) fn is_alphanumeric(self) -> bool {
        self.0 & ALPHANUMERIC != 0
    }

    /// Of a script that writes no blanks between words.
    #[inline]
    pub(crate) fn is_unspaced(self) -> bool {
        self.0 & UNSPACED != 0
    }

    /// A mark of no script of its own: it belongs to the character before it.
    #[inline]
    pub(crate) fn follows(self) -> bool {
        self.0 & FOLLOWS != 0
    }

    /// May change under normalisation, alone or together with what stands before it.
    #[inline]
    pub(crate) fn is_unstable(self, compatibility: bool) -> bool {
        self.0 & if compatibility { UNSTABLE_NFKC } else { UNSTABLE_NFC } != 0
    }

    /// Lower-casing changes it.
    #[inline]
    pub(crate) fn is_cased(self) -> bool {
        self.0 & CASED != 0
    }
}

/// The planes that are tabulated: the basic one and the one with the historic scripts and emoji.
const TABULATED: u32 = 0x2_0000;

static TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let tables = Tables::new();
    let mut table: Vec<u8> =
        (0..TABULATED).map(|code| char::from_u32(code).map_or(0, |c| tables.flags(c))).collect();
    mark_second_halves(&mut table);
    table
});

/// The scripts that write no blanks between words.
const UNSPACED_SCRIPTS: [Script; 7] = [
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Thai,
    Script::Lao,
    Script::Khmer,
    Script::Myanmar,
];

struct Tables {
    category: CodePointMapDataBorrowed<'static, GeneralCategory>,
    script: CodePointMapDataBorrowed<'static, Script>,
    extensions: ScriptWithExtensionsBorrowed<'static>,
    combining: CanonicalCombiningClassMapBorrowed<'static>,
    nfc: ComposingNormalizerBorrowed<'static>,
    nfkc: ComposingNormalizerBorrowed<'static>,
}

impl Tables {
    fn new() -> Self {
        Tables {
            category: CodePointMapData::<GeneralCategory>::new(),
            script: CodePointMapData::<Script>::new(),
            extensions: ScriptWithExtensions::new(),
            combining: CanonicalCombiningClassMapBorrowed::new(),
            nfc: ComposingNormalizerBorrowed::new_nfc(),
            nfkc: ComposingNormalizerBorrowed::new_nfkc(),
        }
    }

    fn flags(&self, c: char) -> u8 {
        let category = self.category.get(c);
        let script = self.script.get(c);
        let shared = script == Script::Common || script == Script::Inherited;
        // The long-vowel mark of Japanese is common to two scripts: such characters go by what they are used for.
        let unspaced = if shared {
            UNSPACED_SCRIPTS.iter().any(|&script| self.extensions.has_script(c, script))
        } else {
            UNSPACED_SCRIPTS.contains(&script)
        };
        let mark = GeneralCategoryGroup::Mark.contains(category);
        let word = mark
            || GeneralCategoryGroup::Letter.contains(category)
            || GeneralCategoryGroup::Number.contains(category);
        let reorders = self.combining.get_u8(c) != 0;
        let mut text = [0; 4];
        let text = &*c.encode_utf8(&mut text);
        let flag = |condition: bool, flag: u8| if condition { flag } else { 0 };
        flag(word, WORD)
            | flag(c.is_alphanumeric(), ALPHANUMERIC)
            | flag(unspaced, UNSPACED)
            | flag(mark && script == Script::Inherited, FOLLOWS)
            | flag(reorders || !self.nfc.is_normalized(text), UNSTABLE_NFC)
            | flag(reorders || !self.nfkc.is_normalized(text), UNSTABLE_NFKC)
            | flag(!c.to_lowercase().eq([c]), CASED)
    }
}

/// Marks the characters that melt into the one before them, such as the vowels of Hangul: each is the second
/// half of some composed character.
fn mark_second_halves(table: &mut [u8]) {
    let decompose = CanonicalDecompositionBorrowed::new();
    let compose = CanonicalCompositionBorrowed::new();
    for c in (0..TABULATED).filter_map(char::from_u32) {
        if let Decomposed::Expansion(first, second) = decompose.decompose(c)
            && compose.compose(first, second) == Some(c)
            && let Some(flags) = table.get_mut(second as usize)
        {
            *flags |= UNSTABLE_NFC | UNSTABLE_NFKC;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_marks_and_numbers_make_words() {
        for c in ['a', 'é', 'ж', '中', '\u{301}', '７', 'Ⅳ', '\u{e31}', '²'] {
            assert!(Class::of(c).is_word(), "{c:?}");
        }
        for c in ['_', '\'', '’', '.', ' ', '\n', '€', '、', '😀', '\u{200b}'] {
            assert!(!Class::of(c).is_word(), "{c:?}");
        }
    }

    #[test]
    fn scripts_without_blanks_are_known() {
        for c in ['中', 'ひ', 'カ', 'ー', '々', 'ก', 'ລ', 'ក', 'မ', '\u{20000}'] {
            assert!(Class::of(c).is_unspaced(), "{c:?}");
        }
        for c in ['a', 'ж', '한', '1', 'α', 'ع'] {
            assert!(!Class::of(c).is_unspaced(), "{c:?}");
        }
    }

    #[test]
    fn what_may_melt_into_its_predecessor_is_unstable() {
        for c in ['\u{301}', '\u{1161}', '\u{11a8}', '\u{3099}', '\u{9be}'] {
            assert!(Class::of(c).is_unstable(false), "{c:?}");
        }
        assert!(Class::of('ﬁ').is_unstable(true) && !Class::of('ﬁ').is_unstable(false));
        assert!(!Class::of('é').is_unstable(true));
    }

    /// When this fails the Unicode tables have moved: raise the version of the profiles and take the new sum.
    #[test]
    fn the_table_is_the_one_the_profiles_were_versioned_with() {
        let lower: Vec<u8> = (0..=0x10_ffff)
            .filter_map(char::from_u32)
            .flat_map(char::to_lowercase)
            .flat_map(|c| u32::from(c).to_le_bytes())
            .collect();
        assert_eq!(char::UNICODE_VERSION, (17, 0, 0));
        assert_eq!(crc32fast::hash(&TABLE), 2_652_753_983, "classes");
        assert_eq!(crc32fast::hash(&lower), 1_130_748_152, "lower case");
    }
}

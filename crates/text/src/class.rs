//! Classes of characters: one byte of flags per code point.
//!
//! The flags are derived once per process from the Unicode tables of the ICU crates, for the two planes that text is made
//! of (128 KiB, about 10 ms); beyond them they are looked up when needed. A test holds a checksum of the whole table, so
//! that a new Unicode version cannot change fingerprints unnoticed: with it, versions of profiles are raised.

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

/// Several flags together.
pub(crate) type Flags = u8;

/// A letter, mark or number.
pub(crate) const WORD: Flags = 1;
/// Unicode alphanumeric.
pub(crate) const ALPHANUMERIC: Flags = 2;
/// Of a script that writes no blanks between words.
pub(crate) const UNSPACED: Flags = 4;
/// A mark of no script of its own: it belongs to the character before it.
const INHERITED: Flags = 8;
/// May change under normalisation, alone or together with what stands before it.
pub(crate) const UNSTABLE_NFC: Flags = 16;
/// The same for the compatibility form.
pub(crate) const UNSTABLE_NFKC: Flags = 32;
/// Lower-casing changes it.
const CASED: Flags = 64;

impl Class {
    /// The class of `c`.
    #[inline]
    pub(crate) fn of(c: char) -> Class {
        Classes::get().of(c.into())
    }

    /// True when it has one of the flags.
    #[inline]
    pub(crate) fn is_any(self, flags: Flags) -> bool {
        self.0 & flags != 0
    }

    /// Of a script that writes no blanks between words.
    #[inline]
    pub(crate) fn is_unspaced(self) -> bool {
        self.0 & UNSPACED != 0
    }

    /// A mark of no script of its own: it belongs to the character before it.
    #[inline]
    pub(crate) fn is_inherited(self) -> bool {
        self.0 & INHERITED != 0
    }

    /// Lower-casing changes it.
    #[inline]
    pub(crate) fn is_cased(self) -> bool {
        self.0 & CASED != 0
    }
}

/// The classes of all characters, for loops that ask for many.
#[derive(Clone, Copy)]
pub(crate) struct Classes(&'static [u8]);

impl Classes {
    #[inline]
    pub(crate) fn get() -> Self {
        Classes(&TABLE)
    }

    /// The class of the character with this code point.
    #[inline]
    pub(crate) fn of(self, code: u32) -> Class {
        match self.0.get(code as usize) {
            Some(&flags) => Class(flags),
            None => Class(char::from_u32(code).map_or(0, |c| Tables::new().flags(c))),
        }
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
            | flag(mark && script == Script::Inherited, INHERITED)
            | flag(reorders || !self.nfc.is_normalized(text), UNSTABLE_NFC)
            | flag(reorders || !self.nfkc.is_normalized(text), UNSTABLE_NFKC)
            | flag(!c.to_lowercase().eq([c]), CASED)
    }
}

/// Marks the characters that melt into the one before them, such as the vowels of Hangul: each is the second half of
/// some composed character, or begins with one when it is taken apart.
fn mark_second_halves(table: &mut [u8]) {
    let decompose = CanonicalDecompositionBorrowed::new();
    let compose = CanonicalCompositionBorrowed::new();
    let mut halves = std::collections::BTreeSet::new();
    let characters = || (0..TABULATED).filter_map(char::from_u32);
    for c in characters() {
        if let Decomposed::Expansion(first, second) = decompose.decompose(c)
            && compose.compose(first, second) == Some(c)
        {
            halves.insert(second);
        }
    }
    for c in characters() {
        let mut first = c;
        while let Decomposed::Singleton(part) | Decomposed::Expansion(part, _) = decompose.decompose(first) {
            first = part;
        }
        if halves.contains(&c) || halves.contains(&first) {
            table[c as usize] |= UNSTABLE_NFC | UNSTABLE_NFKC;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_marks_and_numbers_make_words() {
        for c in ['a', 'é', 'ж', '中', '\u{301}', '７', 'Ⅳ', '\u{e31}', '²'] {
            assert!(Class::of(c).is_any(WORD), "{c:?}");
        }
        for c in ['_', '\'', '’', '.', ' ', '\n', '€', '、', '😀', '\u{200b}'] {
            assert!(!Class::of(c).is_any(WORD), "{c:?}");
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
            assert!(Class::of(c).is_any(UNSTABLE_NFC), "{c:?}");
        }
        assert!(Class::of('ﬁ').is_any(UNSTABLE_NFKC) && !Class::of('ﬁ').is_any(UNSTABLE_NFC));
        assert!(!Class::of('é').is_any(UNSTABLE_NFKC));
    }

    /// Fails when the Unicode tables have changed: then raise the version of the profiles and take the new sum.
    #[test]
    fn the_table_is_the_one_the_profiles_were_versioned_with() {
        let lower: Vec<u8> = (0..=0x10_ffff)
            .filter_map(char::from_u32)
            .flat_map(char::to_lowercase)
            .flat_map(|c| u32::from(c).to_le_bytes())
            .collect();
        assert_eq!(char::UNICODE_VERSION, (17, 0, 0));
        assert_eq!(crc32fast::hash(&TABLE), 1_177_466_474, "classes");
        assert_eq!(crc32fast::hash(&lower), 1_130_748_152, "lower case");
    }
}

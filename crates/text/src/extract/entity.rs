//! Character references: `&amp;`, `&#8364;`, `&#x20AC;` and the 2,231 names of the HTML standard.

use htmlize::{BARE_ENTITY_MAX_LENGTH, ENTITIES, ENTITY_MAX_LENGTH, ENTITY_MIN_LENGTH};

/// The text that a character reference stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decoded {
    bytes: [u8; 8],
    length: u8,
}

impl Decoded {
    fn new(text: &str) -> Option<Self> {
        let mut bytes = [0; 8];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Decoded { bytes, length: text.len() as u8 })
    }

    fn from_char(character: char) -> Self {
        let mut bytes = [0; 8];
        let length = character.encode_utf8(&mut bytes).len() as u8;
        Decoded { bytes, length }
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length as usize]).unwrap_or("\u{FFFD}")
    }
}

/// Decodes the character reference at the start of `text`, which begins with `&`.
///
/// Returns its value and its length in bytes, or nothing when the ampersand stands for itself. Costs no more
/// than the longest name, and for a number its digits.
pub(super) fn entity(text: &str) -> Option<(Decoded, usize)> {
    let bytes = text.as_bytes();
    match bytes.get(1)? {
        b'#' => number(bytes),
        letter if letter.is_ascii_alphabetic() => common(bytes).or_else(|| name(bytes)),
        _ => None,
    }
}

/// The references that make up nearly all of those on the web, without a look into the big table.
fn common(bytes: &[u8]) -> Option<(Decoded, usize)> {
    const COMMON: [(&[u8], char); 6] = [
        (b"&nbsp;", '\u{A0}'),
        (b"&amp;", '&'),
        (b"&lt;", '<'),
        (b"&gt;", '>'),
        (b"&quot;", '"'),
        (b"&apos;", '\''),
    ];
    let (name, character) = COMMON.iter().find(|(name, _)| bytes.starts_with(name))?;
    Some((Decoded::from_char(*character), name.len()))
}

/// A name with its semicolon, or one of the old names that also hold without one.
fn name(bytes: &[u8]) -> Option<(Decoded, usize)> {
    let longest = bytes.len().min(ENTITY_MAX_LENGTH);
    let letters = bytes[1..longest].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let end = 1 + letters;
    if bytes.get(end) == Some(&b';')
        && let Some(found) = look_up(&bytes[..=end])
    {
        return Some((found, end + 1));
    }
    // No name that holds without semicolon begins with another such name: the first hit is the only one.
    let bare = end.min(BARE_ENTITY_MAX_LENGTH);
    (ENTITY_MIN_LENGTH..=bare).find_map(|length| Some((look_up(&bytes[..length])?, length)))
}

fn look_up(name: &[u8]) -> Option<Decoded> {
    Decoded::new(std::str::from_utf8(ENTITIES.get(name)?).ok()?)
}

fn number(bytes: &[u8]) -> Option<(Decoded, usize)> {
    let hexadecimal = matches!(bytes.get(2), Some(b'x' | b'X'));
    let (start, radix) = if hexadecimal { (3, 16) } else { (2, 10) };
    let mut end = start;
    let mut value = 0u32;
    while let Some(digit) = bytes.get(end).and_then(|byte| char::from(*byte).to_digit(radix)) {
        value = value.saturating_mul(radix).saturating_add(digit);
        end += 1;
    }
    if end == start {
        return None;
    }
    let closed = bytes.get(end) == Some(&b';');
    Some((Decoded::from_char(code_point(value)), end + usize::from(closed)))
}

/// The character of a numeric reference. Authors who wrote `&#150;` meant Windows-1252, and the standard agrees.
fn code_point(value: u32) -> char {
    const WINDOWS_1252: [char; 32] = [
        '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}',
        '\u{2C6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}', '\u{90}',
        '\u{2018}', '\u{2019}', '\u{201C}', '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2DC}',
        '\u{2122}', '\u{161}', '\u{203A}', '\u{153}', '\u{9D}', '\u{17E}', '\u{178}',
    ];
    match value {
        0 => char::REPLACEMENT_CHARACTER,
        0x80..=0x9F => WINDOWS_1252[value as usize - 0x80],
        _ => char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Option<(String, usize)> {
        entity(text).map(|(decoded, length)| (decoded.as_str().to_owned(), length))
    }

    fn yields(text: &str, expected: &str, length: usize) {
        assert_eq!(decoded(text), Some((expected.to_owned(), length)), "{text}");
    }

    #[test]
    fn names_hold_with_and_some_without_semicolon() {
        yields("&amp;", "&", 5);
        yields("&amp b", "&", 4);
        yields("&eacute;t&eacute;", "é", 8);
        yields("&eacutet", "é", 7);
        yields("&notin;", "∉", 7);
        yields("&notit;", "¬", 4);
        yields("&CounterClockwiseContourIntegral;", "∳", 33);
        yields("&nGg;", "⋙\u{338}", 5);
        yields("&fjlig;", "fj", 7);
    }

    #[test]
    fn numbers_hold_in_both_radices() {
        yields("&#65;", "A", 5);
        yields("&#x20aC;", "€", 8);
        yields("&#X41 ", "A", 5);
        yields("&#65B", "A", 4);
    }

    #[test]
    fn windows_numbers_mean_what_their_authors_meant() {
        yields("&#128;", "€", 6);
        yields("&#150;", "–", 6);
        yields("&#x9f;", "Ÿ", 6);
        yields("&#129;", "\u{81}", 6);
    }

    #[test]
    fn numbers_of_no_character_become_the_replacement_character() {
        yields("&#0;", "\u{FFFD}", 4);
        yields("&#xD800;", "\u{FFFD}", 8);
        yields("&#x110000;", "\u{FFFD}", 10);
        yields("&#99999999999999999999;", "\u{FFFD}", 23);
    }

    #[test]
    fn an_ampersand_may_stand_for_itself() {
        for text in ["&", "& ", "&;", "&#", "&#;", "&#x", "&#xg", "&unknown;", "&é", "&a", "&1"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }

    #[test]
    fn every_name_of_the_table_is_found_whole() {
        for (name, value) in ENTITIES.entries() {
            let name = std::str::from_utf8(name).unwrap();
            yields(name, std::str::from_utf8(value).unwrap(), name.len());
        }
    }
}

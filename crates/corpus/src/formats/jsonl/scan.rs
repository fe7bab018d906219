//! The common line, read by a scanner that borrows instead of copying.
//!
//! It takes what lines usually are: an object whose wanted fields are strings, ids also whole numbers, and whose
//! other fields are anything. Whatever else stands there, mistakes first of all, it leaves to the parser, which
//! says what is wrong in its own words. What it does take, it reads exactly as the parser would; property tests compare the two.

use std::ops::Range;

use super::extras::LineExtras;
use super::{Slot, Values};
use crate::{Fields, ReadOptions};

/// Reads a line into `values`; none when the parser should look at it.
pub(super) fn read(line: &str, options: &ReadOptions, values: &mut Values) -> Option<()> {
    let bytes = line.as_bytes();
    let mut at = blank(bytes, expect(bytes, blank(bytes, 0), b'{')?);
    if bytes.get(at) == Some(&b'}') {
        return ends(bytes, at + 1);
    }
    loop {
        let begin = expect(bytes, at, b'"')?;
        let end = special(bytes, begin);
        at = colon(bytes, expect(bytes, end, b'"')?)?;
        let key = &line[begin..end];
        values.note_whole_name(&options.fields, key);
        at = match values.slot(&options.fields, key) {
            Some(slot) => take(bytes, at, key == options.fields.id, slot)?,
            None => {
                let end = skip(bytes, at)?;
                if LineExtras::want(&options.extras, key) {
                    values.extras.take(&options.extras, key, &line[at..end]);
                }
                if values.whole.is_some() {
                    take_inside(line, at..end, key, &options.fields, values)?;
                }
                end
            }
        };
        at = blank(bytes, at);
        match bytes.get(at)? {
            b',' => at = blank(bytes, at + 1),
            b'}' => return ends(bytes, at + 1),
            _ => return None,
        }
    }
}

/// Returns `Some` if nothing but white space stands from `at` on.
fn ends(bytes: &[u8], at: usize) -> Option<()> {
    (blank(bytes, at) == bytes.len()).then_some(())
}

/// Behind `byte`, which must stand at `at`.
#[inline]
fn expect(bytes: &[u8], at: usize, byte: u8) -> Option<usize> {
    (bytes.get(at) == Some(&byte)).then_some(at + 1)
}

/// Behind the white space at `at`.
#[inline]
fn blank(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// Behind a colon and the white space around it.
#[inline]
fn colon(bytes: &[u8], at: usize) -> Option<usize> {
    Some(blank(bytes, expect(bytes, blank(bytes, at), b':')?))
}

/// Takes the value at `at` of a field that makes the document; returns where it ends.
fn take(bytes: &[u8], at: usize, number: bool, slot: &mut Slot) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => {
            let end = special(bytes, at + 1);
            match bytes.get(end)? {
                b'"' => slot.borrow(at + 1, end),
                b'\\' => return slot.unescape(bytes, at + 1),
                _ => return None,
            }
            Some(end + 1)
        }
        b'n' => {
            slot.clear();
            literal(bytes, at, b"null")
        }
        b'-' | b'0'..=b'9' if number => {
            let end = whole_number(bytes, at)?;
            slot.borrow(at, end);
            Some(end)
        }
        _ => None,
    }
}

/// Takes fields that make the document from inside the field `key`, whose value stands at `place` in the line.
fn take_inside(
    line: &str,
    place: Range<usize>,
    key: &str,
    fields: &Fields,
    values: &mut Values,
) -> Option<()> {
    let taken = values.inside(fields, key, &line[place], |slot, name, value| {
        let Some(value) = value else { return Ok(()) };
        // It is a part of the line.
        let at = value.as_ptr() as usize - line.as_ptr() as usize;
        take(line.as_bytes(), at, name == fields.id, slot).map(drop).ok_or(())
    });
    taken.ok()
}

/// Behind a whole number that is written just as a program would write it, and is no larger than one can hold.
fn whole_number(bytes: &[u8], at: usize) -> Option<usize> {
    let begin = at + usize::from(bytes[at] == b'-');
    let end = digits(bytes, begin);
    let leading_zero = bytes.get(begin) == Some(&b'0') && (end - begin > 1 || begin > at);
    let more = matches!(bytes.get(end), Some(b'.' | b'e' | b'E'));
    ((1..=18).contains(&(end - begin)) && !leading_zero && !more).then_some(end)
}

fn digits(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

/// Behind the value at `at`, whatever it is.
fn skip(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'{' | b'[' => nested(bytes, at),
        _ => scalar(bytes, at),
    }
}

/// Behind a value that has no others inside.
fn scalar(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string(bytes, at + 1),
        b't' => literal(bytes, at, b"true"),
        b'f' => literal(bytes, at, b"false"),
        b'n' => literal(bytes, at, b"null"),
        _ => number(bytes, at),
    }
}

fn literal(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes[at..].starts_with(word).then_some(at + word.len())
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let some_digits = |at: usize| Some(digits(bytes, at)).filter(|&end| end > at);
    let begin = at + usize::from(bytes.get(at) == Some(&b'-'));
    let mut end = if bytes.get(begin) == Some(&b'0') { begin + 1 } else { some_digits(begin)? };
    if bytes.get(end) == Some(&b'.') {
        end = some_digits(end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = some_digits(end + 1 + sign)?;
    }
    Some(end)
}

/// Behind the string whose text begins at `at`.
fn string(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = special(bytes, at);
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' => at = hex(bytes, at + 2).map(|_| at + 6)?,
                _ => return None,
            },
            _ => return None,
        }
    }
}

/// Behind an object or a list. More levels than the bits of a number are left to the parser.
fn nested(bytes: &[u8], mut at: usize) -> Option<usize> {
    // A bit for each level that is open, set for an object, below one that is always set.
    let mut levels = 1u64;
    loop {
        match bytes.get(at)? {
            &open @ (b'{' | b'[') => {
                if levels >> 63 == 1 {
                    return None;
                }
                let object = open == b'{';
                levels = levels << 1 | u64::from(object);
                at = blank(bytes, at + 1);
                if *bytes.get(at)? != if object { b'}' } else { b']' } {
                    at = if object { name(bytes, at)? } else { at };
                    continue;
                }
            }
            _ => at = scalar(bytes, at)?,
        }
        loop {
            if levels == 1 {
                return Some(at);
            }
            at = blank(bytes, at);
            match (bytes.get(at)?, levels & 1) {
                (b'}', 1) | (b']', 0) => {
                    at += 1;
                    levels >>= 1;
                }
                (b',', object) => {
                    at = blank(bytes, at + 1);
                    at = if object == 1 { name(bytes, at)? } else { at };
                    break;
                }
                _ => return None,
            }
        }
    }
}

/// Behind the name of a field and its colon.
fn name(bytes: &[u8], at: usize) -> Option<usize> {
    colon(bytes, string(bytes, expect(bytes, at, b'"')?)?)
}

/// Undoes the escapes of the string whose text begins at `at`. Returns where the string ends and how many bytes of
/// `out` its text takes. `out` only grows, so that no byte of it is set twice.
pub(super) fn unescape(bytes: &[u8], mut at: usize, out: &mut Vec<u8>) -> Option<(usize, usize)> {
    // No escape is shorter than what it stands for; a block more, since blocks are copied whole.
    let room = bytes.len() - at + BLOCK;
    if out.len() < room {
        out.resize(room, 0);
    }
    let mut written = 0;
    loop {
        while let Some(block) = bytes[at..].first_chunk::<BLOCK>() {
            out[written..written + BLOCK].copy_from_slice(block);
            let plain = specials(block).trailing_zeros().min(BLOCK as u32) as usize;
            at += plain;
            written += plain;
            if plain < BLOCK {
                break;
            }
        }
        match *bytes.get(at)? {
            b'"' => return Some((at + 1, written)),
            b'\\' => {
                let (end, character) = escape(bytes, at + 1)?;
                at = end;
                written += character.encode_utf8(&mut out[written..]).len();
            }
            0..0x20 => return None,
            // Among the last bytes of the line.
            byte => {
                out[written] = byte;
                at += 1;
                written += 1;
            }
        }
    }
}

/// Decodes an escape from behind its backslash on: returns its end and the character that it stands for.
fn escape(bytes: &[u8], at: usize) -> Option<(usize, char)> {
    let character = match bytes.get(at)? {
        &same @ (b'"' | b'\\' | b'/') => char::from(same),
        b'b' => '\x08',
        b'f' => '\x0c',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(bytes, at + 1),
        _ => return None,
    };
    Some((at + 1, character))
}

fn unicode(bytes: &[u8], at: usize) -> Option<(usize, char)> {
    let first = hex(bytes, at)?;
    if let Some(character) = char::from_u32(first) {
        return Some((at + 4, character));
    }
    // The first half of a pair; anything else the parser complains about.
    let second = expect(bytes, at + 4, b'\\').and_then(|at| hex(bytes, expect(bytes, at, b'u')?))?;
    if first >= 0xdc00 || !(0xdc00..0xe000).contains(&second) {
        return None;
    }
    let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    Some((at + 10, char::from_u32(code)?))
}

/// The number that four hexadecimal digits make.
fn hex(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |code, &digit| Some(code << 4 | char::from(digit).to_digit(16)?))
}

/// Number of bytes that are examined together.
const BLOCK: usize = 16;

/// The first byte from `at` on that has a meaning inside a string, or the end.
#[inline]
fn special(bytes: &[u8], at: usize) -> usize {
    let (blocks, rest) = bytes.get(at..).unwrap_or_default().as_chunks::<BLOCK>();
    for (number, block) in blocks.iter().enumerate() {
        let found = specials(block);
        if found != 0 {
            return at + number * BLOCK + found.trailing_zeros() as usize;
        }
    }
    let place = rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len());
    at + blocks.len() * BLOCK + place
}

/// Quotes, backslashes and control characters are not what they seem inside a string.
#[inline]
fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// A bit for each byte that has a meaning inside a string.
#[cfg(target_arch = "x86_64")]
#[inline]
fn specials(block: &[u8; BLOCK]) -> u32 {
    use std::arch::x86_64::*;
    // SAFETY: every x86-64 processor has SSE2, and a load without alignment reads 16 bytes, which `block` has.
    unsafe {
        let block = _mm_loadu_si128(block.as_ptr().cast());
        let quote = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'"' as i8));
        let backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'\\' as i8));
        let control = _mm_cmpeq_epi8(block, _mm_min_epu8(block, _mm_set1_epi8(0x1f)));
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control)) as u32
    }
}

/// A bit for each byte that has a meaning inside a string.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn specials(block: &[u8; BLOCK]) -> u32 {
    block.iter().enumerate().fold(0, |bits, (place, &byte)| bits | u32::from(is_special(byte)) << place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::formats::testing::damaged;

    fn options() -> ReadOptions {
        let extras = ["m.x", "o", "id"].map(str::to_owned).to_vec();
        ReadOptions { extras, ..ReadOptions::default() }
    }

    /// The same with an address inside an object.
    fn nested() -> ReadOptions {
        let fields = Fields { url: "m.x".to_owned(), html: "o.a.b".to_owned(), ..Fields::default() };
        ReadOptions { fields, ..options() }
    }

    /// Returns all that is known of a line, after `read`.
    fn all_values(values: &Values, line: &str) -> Vec<Option<String>> {
        let slots = [&values.id, &values.text, &values.html, &values.url];
        let own = slots.iter().map(|slot| slot.get(line));
        let extras = (0..3).map(|index| values.extras.values.view().get(index));
        own.chain(extras).map(|value| value.map(str::to_owned)).collect()
    }

    fn scanned(line: &str, options: &ReadOptions, values: &mut Values) -> Option<Vec<Option<String>>> {
        values.clear();
        read(line, options, values)?;
        Some(all_values(values, line))
    }

    /// Returns the values that the parser finds in a line; `None` when it rejects the line.
    fn parsed(line: &str, options: &ReadOptions, values: &mut Values) -> Option<Vec<Option<String>>> {
        values.parse(line, options).ok()?;
        Some(all_values(values, line))
    }

    /// Checks that the scanner, where it reads a line, finds the same values as the parser.
    fn agree(line: &str) -> Result<(), TestCaseError> {
        for options in [options(), nested()] {
            let (mut ours, mut theirs) = (Values::new(&options), Values::new(&options));
            if let Some(found) = scanned(line, &options, &mut ours) {
                prop_assert_eq!(Some(found), parsed(line, &options, &mut theirs), "{}", line);
            }
        }
        Ok(())
    }

    /// Generates texts with the cases that matter to a scanner: every length around that of a block, escapes and control characters.
    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[ -~]{0,40}",
            prop::sample::select(vec![
                "\n",
                "\\",
                "\"",
                "/",
                "\u{1f339}",
                "\u{e9}",
                "\0",
                "\u{7f}",
                "\u{2028}"
            ])
            .prop_map(str::to_owned),
            any::<String>(),
        ];
        prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
    }

    /// A string as JSON, escaped as programs do, or as much as can be.
    fn quoted() -> impl Strategy<Value = String> {
        (text(), any::<bool>()).prop_map(|(text, all)| match all {
            false => serde_json::to_string(&text).unwrap(),
            true => {
                let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
                format!("\"{}\"", units.collect::<String>())
            }
        })
    }

    fn value() -> impl Strategy<Value = String> {
        let scalar = prop_oneof![
            4 => quoted(),
            2 => prop::sample::select(vec![
                "null", "true", "false", "0", "-0", "7", "-12", "1.5", "1e3", "1E+2", "-0.25e-9", "01", "1.", ".5",
                "18446744073709551615", "18446744073709551616", "123456789012345678", "1234567890123456789",
                "\"\\ud83c\"", "\"\\udf39\\ud83c\"", "\"\\x\"", "\"\\u12g4\"", "nul", "truex", "\"a\tb\"", "+1", "--1",
            ]).prop_map(str::to_owned),
        ];
        scalar.prop_recursive(3, 12, 4, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..4);
            let object = prop::collection::vec((quoted(), inner), 0..3);
            prop_oneof![
                list.prop_map(|values| format!("[{}]", values.join(" , "))),
                object.prop_map(|fields| {
                    let fields = fields.into_iter().map(|(name, value)| format!("{name}: {value}"));
                    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
                }),
            ]
        })
    }

    fn line() -> impl Strategy<Value = String> {
        let name = prop_oneof![
            8 => prop::sample::select(vec!["id", "text", "html", "url", "m", "m.x", "o", "o.a.b", "x", "a", "b", "other", "i\\u0064", ""])
                .prop_map(|name| format!("\"{name}\"")),
            1 => quoted(),
        ];
        let space = || prop::sample::select(vec!["", "", "", " ", "\t", "\r", "\u{b}"]);
        let field = (name, space(), space(), value()).prop_map(|(n, a, b, v)| format!("{n}{a}:{b}{v}{a}"));
        (prop::collection::vec(field, 0..6), space(), space())
            .prop_map(|(fields, a, b)| format!("{a}{{{b}{}}}{a}", fields.join(",")))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn lines_are_read_as_the_parser_reads_them(line in line()) {
            agree(&line)?;
        }

        #[test]
        fn damaged_lines_are_read_as_the_parser_reads_them(
            bytes in line().prop_filter("something to damage", |line| !line.is_empty())
                .prop_flat_map(|line| damaged(line.into_bytes())),
        ) {
            agree(&String::from_utf8_lossy(&bytes))?;
        }

        #[test]
        fn usual_lines_need_no_parser(id in text(), body in text(), other in prop::option::of(text())) {
            let line = serde_json::json!({
                "id": id, "n": 7, "m": { "x": [other, 1.5, { "deep": [] }] }, "text": body, "o": other,
            });
            let line = line.to_string();
            let (mut ours, mut theirs) = (Values::new(&options()), Values::new(&options()));
            let found = scanned(&line, &options(), &mut ours);
            prop_assert!(found.is_some());
            prop_assert_eq!(found, parsed(&line, &options(), &mut theirs));
        }

        #[test]
        fn specials_are_found_where_they_are(bytes in prop::collection::vec(any::<u8>(), 0..100), at in 0usize..100) {
            let rest = bytes.get(at..).unwrap_or_default();
            let place = at.min(bytes.len()) + rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len());
            prop_assert_eq!(special(&bytes, at.min(bytes.len())), place);
        }
    }

    #[test]
    fn what_is_nested_too_deep_is_left_to_the_parser() {
        let deep =
            |levels: usize| format!("{{\"o\":{}{},\"text\":\"\"}}", "[".repeat(levels), "]".repeat(levels));
        let mut values = Values::new(&options());
        assert!(scanned(&deep(63), &options(), &mut values).is_some());
        assert!(scanned(&deep(64), &options(), &mut values).is_none());
        assert!(values.read(&deep(64), &options()).is_ok());
    }
}

//! Character encodings: from bytes to Unicode, whatever the page claims.
//!
//! In this order: a byte order mark; what the transport says, such as an HTTP header; what the document declares; valid
//! UTF-8; statistics of the bytes.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memchr3, memmem};

/// The number of bytes at the front of a page in which its declaration is looked for, as browsers do.
const PRESCAN: usize = 1024;
/// The detector reads 12 MB/s: a prefix must do.
const DETECTED: usize = 64 * 1024;

/// The evidence by which an encoding was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// A byte order mark.
    Mark,
    /// The transport, such as an HTTP header.
    Transport,
    /// The document itself: `<meta charset>` or an XML declaration.
    Declaration,
    /// The bytes are valid UTF-8.
    Validity,
    /// The statistics of the bytes.
    Detection,
}

/// The encoding that a document was read in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset {
    /// Its name in the Encoding standard, such as `windows-1252`.
    pub name: &'static str,
    /// The evidence by which it was chosen.
    pub evidence: Evidence,
    /// True when malformed sequences became U+FFFD.
    pub replaced: bool,
}

impl Charset {
    /// The charset of text that was Unicode from the start.
    pub const UNICODE: Charset = Charset { name: "UTF-8", evidence: Evidence::Validity, replaced: false };
}

/// Decodes `bytes`; valid UTF-8 is borrowed, anything else is written to `buffer`.
///
/// Authority, from high to low: byte order mark, `transport`, the document's own declaration (looked for when
/// it is `markup`), validity as UTF-8, detection. Labels that name no encoding are ignored. A document that is
/// said to be UTF-8 but is not is left to detection, because such claims are mostly a server's default; there,
/// text that is UTF-8 but for a few broken characters stays UTF-8.
///
/// ```
/// use lookalike_text::extract::charset::decode;
///
/// let mut buffer = String::new();
/// let (text, charset) = decode(b"caf\xE9", Some("iso-8859-1"), false, &mut buffer);
/// assert_eq!((text, charset.name), ("café", "windows-1252"));
/// ```
pub fn decode<'a>(
    bytes: &'a [u8],
    transport: Option<&str>,
    markup: bool,
    buffer: &'a mut String,
) -> (&'a str, Charset) {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return decode_as(&bytes[mark..], encoding, Evidence::Mark, buffer);
    }
    let claim = claimed(bytes, transport, markup);
    if let Some((encoding, evidence)) = claim
        && encoding != UTF_8
    {
        return decode_as(bytes, encoding, evidence, buffer);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let evidence = claim.map_or(Evidence::Validity, |(_, evidence)| evidence);
        return (text, Charset { name: UTF_8.name(), evidence, replaced: false });
    }
    decode_as(bytes, detect(bytes), Evidence::Detection, buffer)
}

fn claimed(bytes: &[u8], transport: Option<&str>, markup: bool) -> Option<(&'static Encoding, Evidence)> {
    if let Some(encoding) = transport.and_then(|label| by_label(label.as_bytes())) {
        return Some((encoding, Evidence::Transport));
    }
    let head = &bytes[..bytes.len().min(PRESCAN)];
    let encoding = if markup { declared(head)? } else { return None };
    Some((encoding, Evidence::Declaration))
}

/// The encoding of a label; one that would turn the whole document into a single U+FFFD is as good as none.
fn by_label(label: &[u8]) -> Option<&'static Encoding> {
    let label = label.trim_ascii();
    let label = label.strip_prefix(b"\"").and_then(|label| label.strip_suffix(b"\"")).unwrap_or(label);
    Encoding::for_label(label).filter(|encoding| *encoding != REPLACEMENT)
}

/// The encoding that markup declares of itself in its first bytes.
fn declared(head: &[u8]) -> Option<&'static Encoding> {
    let found = xml_declaration(head).or_else(|| meta(head))?;
    // The declaration was readable as ASCII, so the encoding cannot be a 16-bit one.
    Some(match found {
        found if found == UTF_16LE || found == UTF_16BE => UTF_8,
        found if found == X_USER_DEFINED => WINDOWS_1252,
        found => found,
    })
}

fn xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let rest = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let rest = &rest[..memchr(b'>', rest)?];
    by_label(value_after(rest, b"encoding")?)
}

fn meta(head: &[u8]) -> Option<&'static Encoding> {
    let mut rest = head;
    while let Some(open) = memchr(b'<', rest) {
        rest = &rest[open..];
        if let Some(comment) = rest.strip_prefix(b"<!--") {
            rest = &comment[memmem::find(comment, b"-->")?..];
        } else if starts_with(rest, b"<meta") {
            let tag = &rest[..memchr(b'>', rest).unwrap_or(rest.len())];
            if let Some(encoding) = value_after(tag, b"charset").and_then(by_label) {
                return Some(encoding);
            }
            rest = &rest[tag.len()..];
        } else {
            rest = &rest[1..];
        }
    }
    None
}

/// The value that follows `name =`, with or without quotes; `charset=` inside of `content="…"` is found alike.
fn value_after<'a>(tag: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let place = tag.windows(name.len()).position(|window| window.eq_ignore_ascii_case(name))?;
    let rest = tag[place + name.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    if let [quote @ (b'"' | b'\''), value @ ..] = rest {
        return Some(&value[..memchr(*quote, value)?]);
    }
    let end = memchr3(b'"', b'\'', b';', rest).unwrap_or(rest.len());
    rest[..end].split(|byte| byte.is_ascii_whitespace()).next()
}

fn starts_with(bytes: &[u8], prefix: &[u8]) -> bool {
    bytes.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Guesses the encoding of bytes that are not valid UTF-8.
fn detect(bytes: &[u8]) -> &'static Encoding {
    let head = &bytes[..bytes.len().min(DETECTED)];
    if mostly_utf8(head) {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(head, head.len() == bytes.len());
    detector.guess(None, Utf8Detection::Deny)
}

/// One broken character (a page cut in the middle of one, a pasted line) makes no other encoding of a page.
fn mostly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        // Every character outside of ASCII begins with one byte of this range.
        good += chunk.valid().bytes().filter(|byte| *byte >= 0xC0).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good > 4 * bad
}

fn decode_as<'a>(
    bytes: &'a [u8],
    encoding: &'static Encoding,
    evidence: Evidence,
    buffer: &'a mut String,
) -> (&'a str, Charset) {
    let charset = |replaced| Charset { name: encoding.name(), evidence, replaced };
    if encoding == UTF_8
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return (text, charset(false));
    }
    buffer.clear();
    let mut decoder = encoding.new_decoder_without_bom_handling();
    // Without the exact bound memory grows on demand: the loop below ends because every round makes room.
    buffer.reserve(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len()));
    let (mut read, mut replaced) = (0, false);
    loop {
        let (result, consumed, bad) = decoder.decode_to_string(&bytes[read..], buffer, true);
        read += consumed;
        replaced |= bad;
        match result {
            encoding_rs::CoderResult::InputEmpty => break,
            encoding_rs::CoderResult::OutputFull => buffer.reserve(bytes.len() - read + 16),
        }
    }
    (buffer, charset(replaced))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8], transport: Option<&str>, markup: bool) -> (String, Charset) {
        let mut buffer = String::new();
        let (text, charset) = decode(bytes, transport, markup, &mut buffer);
        (text.to_owned(), charset)
    }

    #[test]
    fn valid_utf8_is_borrowed() {
        let bytes = "grüße".as_bytes();
        let mut buffer = String::new();
        let (text, charset) = decode(bytes, None, true, &mut buffer);
        assert_eq!(text.as_ptr(), bytes.as_ptr());
        assert_eq!(charset, Charset::UNICODE);
    }

    #[test]
    fn a_byte_order_mark_beats_every_claim() {
        let (text, charset) = read(b"\xEF\xBB\xBFna\xC3\xAFve", Some("windows-1252"), false);
        assert_eq!((text.as_str(), charset.evidence), ("naïve", Evidence::Mark));
        let (text, charset) = read(b"\xFF\xFEa\0\xE9\0", Some("utf-8"), false);
        assert_eq!((text.as_str(), charset.name), ("aé", "UTF-16LE"));
        assert_eq!(read(b"\xFE\xFF\0a\xD8", None, false).0, "a\u{FFFD}");
    }

    #[test]
    fn the_transport_beats_the_declaration() {
        let page = b"<meta charset=koi8-r>\xE9";
        assert_eq!(read(page, Some("iso-8859-1"), true).0, "<meta charset=koi8-r>é");
        assert_eq!(read(page, None, true).1.name, "KOI8-R");
    }

    #[test]
    fn declarations_are_found_in_every_dress() {
        let dresses: [&[u8]; 6] = [
            b"<html><META  CharSet = 'Shift_JIS' >\x83\x81",
            b"<meta http-equiv=Content-Type content=\"text/html; charset=shift_jis\">\x83\x81",
            b"<meta content='text/html;charset=sjis;x' http-equiv=content-type>\x83\x81",
            b"<?xml version='1.0' encoding=\"Shift-JIS\"?><p>\x83\x81",
            b"<meta name=charset><meta charset=x-sjis>\x83\x81",
            b"<!-- <meta charset=koi8-r> --><meta charset=\" shift_jis \">\x83\x81",
        ];
        for dress in dresses {
            let (text, charset) = read(dress, None, true);
            assert!(text.ends_with('メ'), "{text} {charset:?}");
            assert_eq!(charset.evidence, Evidence::Declaration);
        }
        assert_ne!(read(dresses[0], None, false).1.evidence, Evidence::Declaration);
    }

    #[test]
    fn unknown_labels_are_ignored() {
        let (text, charset) = read("é".as_bytes(), Some("klingon"), false);
        assert_eq!((text.as_str(), charset.evidence), ("é", Evidence::Validity));
        assert_eq!(read(b"<meta charset=none>\xC3\xA9", Some("hz-gb-2312"), true).0, "<meta charset=none>é");
    }

    #[test]
    fn a_page_that_declares_utf16_in_ascii_is_utf8() {
        assert_eq!(read(b"<meta charset=utf-16>\xC3\xA9", None, true).0, "<meta charset=utf-16>é");
    }

    #[test]
    fn a_false_claim_of_utf8_is_left_to_the_detector() {
        let russian = b"\xCF\xF0\xE8\xE2\xE5\xF2, \xEC\xE8\xF0! \xDD\xF2\xEE \xF2\xE5\xEA\xF1\xF2.";
        let (text, charset) = read(russian, Some("utf-8"), false);
        assert_eq!((text.as_str(), charset.name), ("Привет, мир! Это текст.", "windows-1251"));
        assert_eq!(charset.evidence, Evidence::Detection);
    }

    #[test]
    fn one_broken_character_does_not_change_the_encoding() {
        let mut cut = "Grüße aus Köln, süße Öfen für müde Gäste".as_bytes().to_vec();
        cut.extend(b"\xC3");
        let (text, charset) = read(&cut, None, false);
        assert!(text.starts_with("Grüße aus Köln") && text.ends_with('\u{FFFD}'), "{text}");
        assert_eq!((charset.name, charset.replaced), ("UTF-8", true));
    }

    #[test]
    fn malformed_sequences_are_replaced_and_reported() {
        let (text, charset) = read(b"\xEF\xBB\xBFa\xFFb", None, false);
        assert_eq!((text.as_str(), charset.replaced), ("a\u{FFFD}b", true));
        assert!(read(b"\x82", Some("shift_jis"), false).1.replaced);
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(
            bytes in prop::collection::vec(any::<u8>(), 0..400),
            label in prop::sample::select(vec![
                None, Some(""), Some("utf-8"), Some("utf-16"), Some("gb18030"), Some("iso-2022-jp"), Some("big5"),
            ]),
            markup: bool,
        ) {
            let (text, charset) = read(&bytes, label, markup);
            prop_assert!(charset.replaced || !bytes.is_empty() || text.is_empty());
        }

        #[test]
        fn utf8_is_read_as_it_is(text in "\\PC*") {
            let stripped = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
            prop_assert_eq!(read(text.as_bytes(), None, false).0, stripped);
        }
    }
}

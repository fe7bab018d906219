//! Transfer encodings of mail, read as mail programs do: what is broken is passed over and never lost.

use std::borrow::Cow;

/// The bytes of a part before they were made fit for transport; `encoding` is the header's value.
pub(super) fn decoded<'a>(raw: &'a [u8], encoding: &str) -> Cow<'a, [u8]> {
    let encoding = encoding.trim();
    if encoding.eq_ignore_ascii_case("base64") {
        Cow::Owned(base64(raw))
    } else if encoding.eq_ignore_ascii_case("quoted-printable") {
        Cow::Owned(quoted_printable(raw))
    } else {
        Cow::Borrowed(raw)
    }
}

/// Skips what is no digit; ends at padding, and at a blank line behind data, because junk may follow it.
fn base64(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for line in raw.split(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() && !out.is_empty() {
            break;
        }
        for byte in line {
            let Some(digit) = base64_digit(*byte) else {
                if *byte == b'=' {
                    return out;
                }
                continue;
            };
            bits = bits << 6 | u32::from(digit);
            count += 6;
            if count >= 8 {
                count -= 8;
                out.push((bits >> count) as u8);
            }
        }
    }
    out
}

fn base64_digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

/// An `=` that begins no escape stands for itself.
fn quoted_printable(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(place) = memchr::memchr(b'=', rest) {
        out.extend_from_slice(&rest[..place]);
        rest = &rest[place + 1..];
        match escape(rest) {
            Some((byte, length)) => {
                out.extend(byte);
                rest = &rest[length..];
            }
            None => out.push(b'='),
        }
    }
    out.extend_from_slice(rest);
    out
}

/// Reads the escape behind an `=`, and returns its byte and its length: two hexadecimal digits, or the end of a line,
/// which stands for no byte.
fn escape(rest: &[u8]) -> Option<(Option<u8>, usize)> {
    let digit = |at: usize| rest.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    if let (Some(high), Some(low)) = (digit(0), digit(1)) {
        return Some((Some((high << 4 | low) as u8), 2));
    }
    // White space added on the way is bounded, so that a line of nothing else stays cheap.
    let blanks = rest.iter().take(80).take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    match rest.get(blanks) {
        Some(b'\n') => Some((None, blanks + 1)),
        None => Some((None, blanks)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn broken_encodings_give_what_they_can() {
        assert_eq!(&*decoded(b"SGVs\r\nbG8=\n\njunk", " Base64 "), b"Hello");
        assert_eq!(&*decoded(b"\nSGVs*bG8\n\njunk", "base64"), b"Hello");
        assert_eq!(&*decoded(b"a=3Db=\nc= \r\nd=zz=", "quoted-printable"), b"a=bcd=zz");
        assert_eq!(&*decoded(b"a=3D", "8bit"), b"a=3D");
    }

    proptest! {
        #[test]
        fn valid_encodings_are_read_as_the_mail_parser_reads_them(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let quoted: String = bytes.iter().map(|byte| format!("={byte:02X}")).collect();
            prop_assert_eq!(&*decoded(quoted.as_bytes(), "quoted-printable"), &bytes[..]);
            let digits: Vec<u8> = bytes.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
            let whole = &digits[..digits.len() / 4 * 4];
            if let Some(expected) = mail_parser::decoders::base64::base64_decode(whole) {
                prop_assert_eq!(&*decoded(whole, "base64"), &expected[..]);
            }
        }
    }
}

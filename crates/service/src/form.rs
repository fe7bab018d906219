//! Values in addresses and forms: `name=value&…` with `%XX` for what letters cannot say.

use crate::answer::Refusal;

/// The values of a query or a form, in order.
#[derive(Debug, Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads `name=value&…`.
    pub(crate) fn read(text: &[u8]) -> Result<Self, Refusal> {
        let mut values = Vec::new();
        for pair in text.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
            let at = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
            let (name, value) = (&pair[..at], pair.get(at + 1..).unwrap_or_default());
            let unreadable = || Refusal::bad("the values are not valid UTF-8 in % signs; encode them so");
            values.push((
                decode(name, true).ok_or_else(unreadable)?,
                decode(value, true).ok_or_else(unreadable)?,
            ));
        }
        Ok(Form(values))
    }

    /// The query of an address.
    pub(crate) fn of(uri: &axum::http::Uri) -> Result<Self, Refusal> {
        Form::read(uri.query().unwrap_or_default().as_bytes())
    }

    /// The value of this name; the first where there are several.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// A value that is there and not blank.
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.trim().is_empty())
    }

    /// A whole number, or `otherwise`.
    pub(crate) fn number(&self, name: &str, otherwise: u64, most: u64) -> Result<u64, Refusal> {
        let Some(value) = self.get(name) else { return Ok(otherwise) };
        let number = value.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| Refusal::wrong(format!("{name} must be a whole number from 0 to {most}")))
    }

    /// One of some words, or the first of them.
    pub(crate) fn choice(&self, name: &str, words: &[&'static str]) -> Result<&'static str, Refusal> {
        let Some(value) = self.get(name) else { return Ok(words[0]) };
        let found = words.iter().find(|word| **word == value).copied();
        found.ok_or_else(|| Refusal::wrong(format!("{name} must be one of {}", words.join(", "))))
    }
}

/// Undoes `%XX`, and `+` for a blank in forms; nothing when that is no UTF-8 or a `%` has no two digits.
pub(crate) fn decode(text: &[u8], form: bool) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match first {
            b'+' if form => out.push(b' '),
            b'%' => {
                let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
                // What has a sign is a number for Rust, but none for us.
                let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                out.push(plain.then(|| u8::from_str_radix(digits, 16).ok()).flatten()?);
                rest = &rest[2..];
            }
            byte => out.push(*byte),
        }
    }
    String::from_utf8(out).ok()
}

/// Writes a value so that it can stand in an address or a query.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(byte.into());
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_browsers_write_them() {
        let form = Form::read(b"a=1+2&b=%C3%A4%26&empty=&flag&a=3").unwrap();
        assert_eq!((form.get("a"), form.get("b")), (Some("1 2"), Some("ä&")));
        assert_eq!((form.get("empty"), form.filled("empty"), form.get("flag")), (Some(""), None, Some("")));
        for bad in [&b"a=%"[..], b"a=%4", b"a=%+1", b"a=%ff", b"%zz=1"] {
            assert!(Form::read(bad).is_err());
        }
    }

    #[test]
    fn what_is_encoded_comes_back() {
        for text in ["", "a b", "päge/../?&=%#+", "\u{0}\n", "東京"] {
            assert_eq!(decode(encode(text).as_bytes(), false).as_deref(), Some(text));
            assert_eq!(decode(encode(text).as_bytes(), true).as_deref(), Some(text));
        }
    }

    #[test]
    fn numbers_and_words_are_checked() {
        let form = Form::read(b"n=7&m=-1&word=up").unwrap();
        assert_eq!(form.number("n", 1, 10).ok(), Some(7));
        assert_eq!(form.number("none", 1, 10).ok(), Some(1));
        assert!(form.number("n", 1, 6).is_err() && form.number("m", 1, 10).is_err());
        assert!(form.choice("word", &["up", "down"]).is_ok() && form.choice("word", &["down"]).is_err());
    }
}

//! A stronger form than normal: addresses for which nearly all servers have one page are one.
//!
//! On top of the normal form: `http` for `https`, and neither of their ports; no `www.` before the host and no dot behind it; `.` and `..` resolved; no slash,
//! `index` or `default` page at the end of the path; unreserved letters as themselves and all else that needs it as `%XX`; no
//! session ids (`jsessionid`, `PHPSESSID`, `sid`) and no campaigns (`utm_…`). What is left of the query keeps its order: to
//! some servers it matters.
//!
//! A canonical form is a key and need not be fetched: it tells pages apart that a few servers tell apart, and joins some that they
//! do not.

use crate::address::{default_port, is_ignored_at_host_end, parts};

/// Names of pages that stand for their folder, and what they end in.
const INDEX_NAMES: [&str; 2] = ["index", "default"];
const INDEX_EXTENSIONS: [&str; 10] =
    ["html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "cgi", "cfm"];
/// Parameters that change from visit to visit.
const SESSIONS: [&str; 3] = ["jsessionid", "phpsessid", "sid"];
/// Parameters that tell where a visitor came from begin so.
const CAMPAIGN: &str = "utm_";
/// Before a path, a session id stands so.
const PATH_SESSION: &str = ";jsessionid=";

/// An address in canonical form.
///
/// ```
/// use lookalike_overlap::canonical::canonical;
///
/// let one = canonical("https://www.Example.org/%7Ea/./b/index.html?x=2&PHPSESSID=17&a=1#top");
/// assert_eq!(one, "http://example.org/~a/b?x=2&a=1");
/// ```
pub fn canonical(address: &str) -> String {
    let Some(parts) = parts(address) else { return address.trim().to_owned() };
    let scheme = parts.scheme.to_ascii_lowercase();
    let web = matches!(scheme.as_str(), "http" | "https");
    // The two are one, and so are the ports that they mean.
    let usual = |port: &str| port == default_port(&scheme) || web && matches!(port, "80" | "443");
    let port = parts.port.filter(|port| !port.is_empty() && !usual(port));
    let mut out = String::with_capacity(address.len() + 8);
    out.push_str(if web { "http" } else { &scheme });
    out.push_str("://");
    out.push_str(parts.user);
    out.push_str(plain_host(&parts.host.to_lowercase()));
    if let Some(port) = port {
        out.push(':');
        out.push_str(port);
    }
    let (path, query) = match parts.rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (parts.rest, None),
    };
    push_path(path, &mut out);
    if let Some(query) = query {
        push_query(query, &mut out);
    }
    out
}

/// A host without `www.` and without dots at its end, as long as something is left.
fn plain_host(host: &str) -> &str {
    let undotted = host.trim_end_matches(is_ignored_at_host_end);
    let mut plain = if undotted.is_empty() { host } else { undotted };
    while let Some(shorter) = plain.strip_prefix("www.").filter(|rest| rest.contains('.')) {
        plain = shorter.trim_start();
    }
    plain
}

/// Appends a path: dots resolved, without what stands for nothing at its end; nothing at all for the root.
fn push_path(path: &str, out: &mut String) {
    let mut plain = String::with_capacity(path.len());
    push_normalized(path, &mut plain);
    let plain = without_session(&plain);
    let mut kept: Vec<&str> = Vec::new();
    for part in plain.strip_prefix('/').unwrap_or(plain).split('/') {
        match part {
            "." => {}
            ".." => drop(kept.pop()),
            part => kept.push(part),
        }
    }
    while kept.last().is_some_and(|part| part.is_empty() || is_index(part)) {
        kept.pop();
    }
    for part in kept {
        out.push('/');
        out.push_str(part);
    }
}

/// A path without what a server put behind it for one visit.
fn without_session(path: &str) -> &str {
    let folded = path.to_ascii_lowercase();
    folded.find(PATH_SESSION).map_or(path, |at| &path[..at])
}

fn is_index(part: &str) -> bool {
    let Some((name, ending)) = part.split_once('.') else { return false };
    let any = |list: &[&str], word: &str| list.iter().any(|known| known.eq_ignore_ascii_case(word));
    any(&INDEX_NAMES, name) && any(&INDEX_EXTENSIONS, ending)
}

/// Appends a query with its question mark, unless nothing is left of it.
fn push_query(query: &str, out: &mut String) {
    let mut mark = '?';
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let begin = out.len();
        out.push(mark);
        push_normalized(parameter, out);
        if is_transient(&out[begin + 1..]) {
            out.truncate(begin);
        } else {
            mark = '&';
        }
    }
}

/// True for a parameter that tells of the visit and not of the page.
fn is_transient(parameter: &str) -> bool {
    let name = parameter.split('=').next().unwrap_or_default();
    let campaign = name.get(..CAMPAIGN.len()).is_some_and(|start| start.eq_ignore_ascii_case(CAMPAIGN));
    campaign || SESSIONS.iter().any(|session| session.eq_ignore_ascii_case(name))
}

/// Appends text in which unreserved letters stand for themselves, and other letters that a path or a query may not hold as `%XX`.
fn push_normalized(text: &str, out: &mut String) {
    let mut bytes = text.as_bytes().iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'%' => match encoded(bytes.as_slice()) {
                Some(byte) if is_unreserved(byte) => {
                    bytes.nth(1);
                    out.push(byte.into());
                }
                Some(byte) => {
                    bytes.nth(1);
                    push_encoded(byte, out);
                }
                // A percent sign that means nothing but itself.
                None => push_encoded(byte, out),
            },
            b'!'..=b'~' if !matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}') => {
                out.push(byte.into());
            }
            _ => push_encoded(byte, out),
        }
    }
}

/// The byte that two hexadecimal digits stand for.
fn encoded(digits: &[u8]) -> Option<u8> {
    let digit = |at: usize| digits.get(at).and_then(|&digit| char::from(digit).to_digit(16));
    Some((digit(0)? * 16 + digit(1)?) as u8)
}

fn push_encoded(byte: u8, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(DIGITS[usize::from(byte >> 4)].into());
    out.push(DIGITS[usize::from(byte & 15)].into());
}

/// Letters that mean the same encoded or not, by RFC 3986.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::address::normal;
    use crate::address::tests::arbitrary_address;

    #[test]
    fn canonical_forms() {
        for (address, wanted) in [
            ("http://a.org/", "http://a.org"),
            ("https://WWW.a.org:443/x/", "http://a.org/x"),
            ("https://a.org:80/", "http://a.org"),
            ("http://a.org:8080/", "http://a.org:8080"),
            ("http://www.org/", "http://www.org"),
            ("http://www.www.a.org./", "http://a.org"),
            ("http://a.org/b/Default.ASPX", "http://a.org/b"),
            ("http://a.org/index.php?id=3", "http://a.org?id=3"),
            ("http://a.org/index.php5", "http://a.org/index.php5"),
            ("http://a.org/a/../b/./c/..", "http://a.org/b"),
            ("http://a.org/../../x", "http://a.org/x"),
            ("http://a.org/%7euser/%41%2fb%c3%bc", "http://a.org/~user/A%2Fb%C3%BC"),
            ("http://a.org/bü c", "http://a.org/b%C3%BC%20c"),
            ("http://a.org/%%341", "http://a.org/%2541"),
            ("http://a.org/x;JSESSIONID=17?a=1", "http://a.org/x?a=1"),
            ("http://a.org/x?sid=1&b=2&UTM_source=x&a=1&", "http://a.org/x?b=2&a=1"),
            ("http://a.org/x?side=1&b=sid", "http://a.org/x?side=1&b=sid"),
            ("http://a.org/x?utm_medium=1", "http://a.org/x"),
            ("http://a.org/x?", "http://a.org/x"),
            ("ftp://www.a.org/x/", "ftp://a.org/x"),
            ("http://[::1]/x", "http://[::1]/x"),
            (" no address ", "no address"),
        ] {
            assert_eq!(canonical(address), wanted, "{address}");
        }
    }

    #[test]
    fn order_of_parameters_and_case_of_paths_matter() {
        assert_ne!(canonical("http://a.org/?a=1&b=2"), canonical("http://a.org/?b=2&a=1"));
        assert_ne!(canonical("http://a.org/X"), canonical("http://a.org/x"));
    }

    proptest! {
        #[test]
        fn canonical_forms_are_their_own(address in arbitrary_address()) {
            let once = canonical(&address);
            prop_assert_eq!(canonical(&once), once);
        }

        #[test]
        fn what_is_normally_one_is_canonically_one(address in arbitrary_address()) {
            prop_assert_eq!(canonical(&normal(&address)), canonical(&address));
        }
    }
}

//! Addresses in normal form, their hosts, registered domains (by Mozilla's list of public suffixes) and top-level domains.
//!
//! The normal form needs no answer of a server: scheme and host in lower case, no default port, no fragment, and `/` for an empty
//! path. The canonical form joins addresses that nearly all servers treat as one, see [`canonical`]. Text without a scheme and a
//! host is not changed. Both forms take one pass over the address, for any input.

use std::borrow::Cow;

use crate::canonical::canonical;

/// The rule by which two addresses count as equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matching {
    /// Their normal forms are equal.
    #[default]
    Normal,
    /// They are equal letter by letter.
    Exact,
    /// Their canonical forms are equal.
    Canonical,
}

impl Matching {
    /// Returns the key that an address is compared by.
    pub fn key(self, address: &str) -> Cow<'_, str> {
        match self {
            Matching::Normal => Cow::Owned(normal(address)),
            Matching::Exact => Cow::Borrowed(address),
            Matching::Canonical => Cow::Owned(canonical(address)),
        }
    }
}

/// The parts of an address.
pub(crate) struct Parts<'a> {
    pub(crate) scheme: &'a str,
    /// User and password with their `@`, or nothing.
    pub(crate) user: &'a str,
    pub(crate) host: &'a str,
    pub(crate) port: Option<&'a str>,
    /// From the path on, without the fragment.
    pub(crate) rest: &'a str,
}

pub(crate) fn parts(address: &str) -> Option<Parts<'_>> {
    let address = address.trim();
    let (scheme, behind) = address.split_once("://")?;
    let is_scheme = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    if scheme.is_empty() || !scheme.bytes().all(is_scheme) {
        return None;
    }
    let behind = behind.split('#').next().unwrap_or_default().trim_end();
    let end = behind.find(['/', '?']).unwrap_or(behind.len());
    let (authority, rest) = behind.split_at(end);
    let user = authority.rfind('@').map_or(0, |at| at + 1);
    let (user, host_port) = authority.split_at(user);
    let (host, port) = host_and_port(host_port);
    (!host.is_empty()).then_some(Parts { scheme, user, host, port, rest })
}

/// A colon inside brackets belongs to the host.
fn host_and_port(host_port: &str) -> (&str, Option<&str>) {
    let bracket = host_port.rfind(']').map_or(0, |end| end + 1);
    match host_port[bracket..].find(':') {
        Some(colon) => (host_port[..bracket + colon].trim(), Some(host_port[bracket + colon + 1..].trim())),
        None => (host_port.trim(), None),
    }
}

/// An address in normal form.
///
/// ```
/// use lookalike_overlap::address::normal;
///
/// assert_eq!(normal("HTTP://WWW.Example.ORG:80?q=A#top"), "http://www.example.org/?q=A");
/// ```
pub fn normal(address: &str) -> String {
    let Some(parts) = parts(address) else { return address.trim().to_owned() };
    let scheme = parts.scheme.to_ascii_lowercase();
    let port = parts.port.filter(|port| !port.is_empty() && *port != default_port(&scheme));
    let mut normal = format!("{scheme}://{}{}", parts.user, parts.host.to_lowercase());
    if let Some(port) = port {
        normal.push(':');
        normal.push_str(port);
    }
    if !parts.rest.starts_with('/') {
        normal.push('/');
    }
    normal.push_str(parts.rest);
    normal
}

/// The port that a scheme means when none is written.
pub(crate) fn default_port(scheme: &str) -> &'static str {
    match scheme {
        "http" => "80",
        "https" => "443",
        "ftp" => "21",
        _ => "",
    }
}

/// The host of an address, in lower case and without dots at its end.
pub fn host(address: &str) -> Option<String> {
    let mut host = parts(address)?.host.to_lowercase();
    host.truncate(host.trim_end_matches(is_ignored_at_host_end).len());
    (!host.is_empty()).then_some(host)
}

/// Returns true for characters that are ignored at the end of a host: dots and white space.
pub(crate) fn is_ignored_at_host_end(c: char) -> bool {
    c == '.' || c.is_whitespace()
}

/// Returns the depth of a page: the number of non-empty parts of its path.
///
/// ```
/// use lookalike_overlap::address::depth;
///
/// assert_eq!([depth("http://a.org/"), depth("http://a.org/x/y.html?q=/z")], [0, 2]);
/// ```
pub fn depth(address: &str) -> usize {
    let Some(parts) = parts(address) else { return 0 };
    let path = parts.rest.split('?').next().unwrap_or_default();
    path.split('/').filter(|part| !part.is_empty()).count()
}

/// Returns true if the text has a scheme and a host.
pub fn is_address(text: &str) -> bool {
    parts(text).is_some()
}

/// The top-level domain of a host: its last label, or `ip` when the host is a number.
pub fn top_level(host: &str) -> &str {
    if is_number(host) { "ip" } else { last_label(host) }
}

/// The public suffix of a host, as Mozilla's list of suffixes has it: below it, names can be registered. `ip` when the host is
/// a number; the last label where the list has none.
///
/// ```
/// use lookalike_overlap::address::public_suffix;
///
/// assert_eq!(["www.a.co.uk", "a.example", "10.0.0.1"].map(public_suffix), ["co.uk", "example", "ip"]);
/// ```
pub fn public_suffix(host: &str) -> &str {
    if is_number(host) {
        return "ip";
    }
    psl::suffix_str(host).filter(|suffix| !suffix.is_empty()).unwrap_or_else(|| last_label(host))
}

/// The domain that was registered for a host: its public suffix and one label more. The host itself when it is a number or no
/// more than a suffix.
///
/// ```
/// use lookalike_overlap::address::registered_domain;
///
/// assert_eq!(["www.a.co.uk", "a.org", "co.uk", "10.0.0.1"].map(registered_domain), ["a.co.uk", "a.org", "co.uk", "10.0.0.1"]);
/// ```
pub fn registered_domain(host: &str) -> &str {
    if is_number(host) {
        return host;
    }
    psl::domain_str(host).filter(|domain| !domain.is_empty()).unwrap_or(host)
}

fn last_label(host: &str) -> &str {
    host.rsplit('.').next().unwrap_or(host)
}

fn is_number(host: &str) -> bool {
    let last = last_label(host);
    host.starts_with('[') || (!last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn normal_forms() {
        for (address, wanted) in [
            ("http://a.org", "http://a.org/"),
            ("HTTPS://A.Org:443/B#c", "https://a.org/B"),
            ("http://a.org:8080/", "http://a.org:8080/"),
            ("http://a.org:/x", "http://a.org/x"),
            ("https://a.org:80/", "https://a.org:80/"),
            ("http://U:P@A.org/x", "http://U:P@a.org/x"),
            ("http://[::1]:80/x", "http://[::1]/x"),
            ("http://a.org?x=1", "http://a.org/?x=1"),
            ("http://a.org#x", "http://a.org/"),
            ("http://BÜCHER.de/", "http://bücher.de/"),
            (" no address ", "no address"),
            ("mailto:a@b.org", "mailto:a@b.org"),
            ("http:///path", "http:///path"),
        ] {
            assert_eq!(normal(address), wanted, "{address}");
            assert_eq!(normal(&normal(address)), wanted, "{address} twice");
        }
    }

    #[test]
    fn hosts_and_domains() {
        for (address, wanted, domain) in [
            ("http://www.A.co.UK/x", "www.a.co.uk", "uk"),
            ("http://10.0.0.1:8080/", "10.0.0.1", "ip"),
            ("http://[::1]:80/", "[::1]", "ip"),
            ("http://a.org./", "a.org", "org"),
            ("http://localhost/", "localhost", "localhost"),
            ("http://user@en.wikipedia.org/wiki/A@B", "en.wikipedia.org", "org"),
        ] {
            let host = host(address).unwrap();
            assert_eq!((host.as_str(), top_level(&host)), (wanted, domain), "{address}");
        }
        assert_eq!(host("nothing"), None);
    }

    #[test]
    fn suffixes_and_registered_domains() {
        for (host, suffix, domain) in [
            ("en.wikipedia.org", "org", "wikipedia.org"),
            ("news.bbc.co.uk", "co.uk", "bbc.co.uk"),
            ("a.b.c.kobe.jp", "c.kobe.jp", "b.c.kobe.jp"),
            ("me.github.io", "github.io", "me.github.io"),
            ("食狮.公司.cn", "公司.cn", "食狮.公司.cn"),
            ("xn--85x722f.xn--55qx5d.cn", "xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
            ("localhost", "localhost", "localhost"),
            ("10.0.0.1", "ip", "10.0.0.1"),
            ("[::1]", "ip", "[::1]"),
            ("a..b", "b", ".b"),
        ] {
            assert_eq!((public_suffix(host), registered_domain(host)), (suffix, domain), "{host}");
        }
    }

    #[test]
    fn depth_counts_parts_of_the_path() {
        for (address, wanted) in [
            ("http://a.org", 0),
            ("http://a.org//x//", 1),
            ("http://a.org/a/b/?c/d", 2),
            ("nothing/at/all", 0),
        ] {
            assert_eq!(depth(address), wanted, "{address}");
        }
    }

    /// Letters that addresses are made of, and some that they are not.
    pub(crate) fn arbitrary_address() -> impl Strategy<Value = String> {
        prop_oneof![
            "\\PC{0,40}",
            "(http|HTTPS|ftp|x)?:?//?[aA@.:wW\\[\\]%4é ]{0,12}(:80|:443)?[/?#;&=.%0-9a-fA-FiIndex wjsESIONut_ü \t]{0,40}",
            "https?://(www\\.){0,3}[a-c.]{1,5}(/(\\.|\\.\\.|index\\.html|%2[eE]|a|)){0,6}(\\?(sid=1|utm_a=b|c=d|&){0,4})?",
        ]
    }

    proptest! {
        #[test]
        fn no_address_is_too_odd(address in arbitrary_address()) {
            let once = normal(&address);
            prop_assert_eq!(normal(&once), once.clone(), "normal forms are their own");
            prop_assert_eq!(host(&once), host(&address));
            prop_assert!(depth(&address) <= address.len());
            if let Some(host) = host(&address) {
                prop_assert!(is_address(&address));
                prop_assert!(is_number(&host) || host.ends_with(public_suffix(&host)));
                prop_assert!(host.ends_with(registered_domain(&host)));
                prop_assert!(is_number(&host) || registered_domain(&host).ends_with(public_suffix(&host)));
            }
        }
    }
}

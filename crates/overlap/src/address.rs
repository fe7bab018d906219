//! Addresses in normal form, their hosts and top-level domains.
//!
//! Normal is what can be said without asking a server: scheme and host in lower case, no default port, no fragment, and `/` for an
//! empty path. What is no address with a scheme and a host stays as it is.

use std::borrow::Cow;

/// When two addresses are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matching {
    /// Their normal forms are equal.
    #[default]
    Normal,
    /// They are equal letter by letter.
    Exact,
}

impl Matching {
    /// What an address is compared by.
    pub fn key(self, address: &str) -> Cow<'_, str> {
        match self {
            Matching::Normal => Cow::Owned(normal(address)),
            Matching::Exact => Cow::Borrowed(address),
        }
    }
}

/// The parts of an address.
struct Parts<'a> {
    scheme: &'a str,
    /// User and password with their `@`, or nothing.
    user: &'a str,
    host: &'a str,
    port: Option<&'a str>,
    /// From the path on, without the fragment.
    rest: &'a str,
}

fn parts(address: &str) -> Option<Parts<'_>> {
    let address = address.trim();
    let (scheme, behind) = address.split_once("://")?;
    let is_scheme = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    if scheme.is_empty() || !scheme.bytes().all(is_scheme) {
        return None;
    }
    let behind = behind.split('#').next().unwrap_or_default();
    let end = behind.find(['/', '?']).unwrap_or(behind.len());
    let (authority, rest) = behind.split_at(end);
    let user = authority.rfind('@').map_or(0, |at| at + 1);
    let (user, place) = authority.split_at(user);
    let (host, port) = host_and_port(place);
    (!host.is_empty()).then_some(Parts { scheme, user, host, port, rest })
}

/// A colon inside brackets belongs to the host.
fn host_and_port(place: &str) -> (&str, Option<&str>) {
    let bracket = place.rfind(']').map_or(0, |end| end + 1);
    match place[bracket..].find(':') {
        Some(colon) => (&place[..bracket + colon], Some(&place[bracket + colon + 1..])),
        None => (place, None),
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
    let default = match scheme.as_str() {
        "http" => "80",
        "https" => "443",
        "ftp" => "21",
        _ => "",
    };
    let port = parts.port.filter(|port| !port.is_empty() && *port != default);
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

/// The host of an address, in lower case and without a dot at its end.
pub fn host(address: &str) -> Option<String> {
    let host = parts(address)?.host.to_lowercase();
    let host = host.strip_suffix('.').map_or_else(|| host.clone(), str::to_owned);
    (!host.is_empty()).then_some(host)
}

/// The top-level domain of a host: its last label, or `ip` when the host is a number.
pub fn top_level(host: &str) -> &str {
    let last = host.rsplit('.').next().unwrap_or(host);
    if host.starts_with('[') || (!last.is_empty() && last.bytes().all(|b| b.is_ascii_digit())) {
        return "ip";
    }
    last
}

#[cfg(test)]
mod tests {
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
}

//! The hosts that requests may go to: those that a description names, and no others.
//!
//! Redirects to others are not followed, and no proxy of the environment is used. Secret headers go to the host of
//! `search` alone, and into no transcript.

use ureq::http::Uri;

/// Hosts by name and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hosts {
    patterns: Vec<HostPattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HostPattern {
    /// A host, on the usual ports where none is said.
    Host(String),
    /// All hosts whose names end so, on the usual ports.
    Domain(String),
}

impl Hosts {
    /// Reads the names of hosts; the error states the fault in one of them.
    pub(crate) fn new(named: Vec<String>) -> Result<Self, String> {
        let one = |name: String| match name.to_ascii_lowercase() {
            name if name.contains('/') || name.is_empty() => Err(format!("{name:?} is no name of a host")),
            name if name.starts_with("*.") && !name[2..].contains('*') && name.len() > 2 => {
                Ok(HostPattern::Domain(name[1..].to_owned()))
            }
            name if name.contains('*') => Err(format!("{name:?} is nobody in particular; name hosts")),
            name => Ok(HostPattern::Host(name)),
        };
        Ok(Hosts { patterns: named.into_iter().map(one).collect::<Result<_, _>>()? })
    }

    /// Returns true if an address may be asked.
    pub(crate) fn allow(&self, uri: &Uri) -> bool {
        let Some(authority) = authority(uri) else { return false };
        self.patterns.iter().any(|pattern| match pattern {
            HostPattern::Host(host) => *host == authority,
            HostPattern::Domain(ending) => authority.ends_with(ending.as_str()),
        })
    }
}

/// Host and port of an address, in lower case; the port is left out where it is the usual one.
pub(crate) fn authority(uri: &Uri) -> Option<String> {
    let host = uri.host()?.to_ascii_lowercase();
    let usual = match uri.scheme_str()? {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    match uri.port_u16() {
        Some(port) if port != usual => Some(format!("{host}:{port}")),
        _ => Some(host),
    }
}

/// Returns the target of a redirect that was met at `from`; nothing if it cannot be resolved.
pub(crate) fn resolve(from: &Uri, location: &str) -> Option<Uri> {
    let location = location.split('#').next()?;
    let (scheme, authority) = (from.scheme_str()?, from.authority()?);
    let address = if location.contains("://") {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}")
    } else if location.starts_with('?') {
        format!("{scheme}://{authority}{}{location}", from.path())
    } else {
        let folder = from.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{authority}{folder}/{location}")
    };
    address.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Uri {
        text.parse().unwrap()
    }

    #[test]
    fn only_those_that_are_named() {
        let names = ["a.example", "127.0.0.1:8000", "*.b.example"];
        let hosts = Hosts::new(names.map(str::to_owned).to_vec()).unwrap();
        for (address, allowed) in [
            ("http://a.example/x", true),
            ("https://A.example:443/x", true),
            ("http://a.example:81/x", false),
            ("http://127.0.0.1:8000/", true),
            ("http://127.0.0.1/", false),
            ("http://c.b.example/", true),
            ("http://b.example/", false),
            ("http://cb.example/", false),
            ("http://a.example.evil/", false),
            ("http://a.example@evil/", false),
            ("ftp://a.example/", false),
        ] {
            assert_eq!(hosts.allow(&uri(address)), allowed, "{address}");
        }
        for wrong in ["*", "*.", "a*", "http://a", ""] {
            assert!(Hosts::new(vec![wrong.to_owned()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn redirects_lead_somewhere() {
        let from = uri("http://h:81/a/b?c");
        for (location, wanted) in [
            ("https://i/x#y", "https://i/x"),
            ("//i/x", "http://i/x"),
            ("/x", "http://h:81/x"),
            ("x", "http://h:81/a/x"),
            ("?x", "http://h:81/a/b?x"),
        ] {
            assert_eq!(resolve(&from, location), Some(uri(wanted)), "{location}");
        }
        assert_eq!(resolve(&from, "http://"), None);
    }
}

//! Addresses: hosts under many domains, a few of them with many pages.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::coin::coin;
use crate::random::{Random, child};

/// The relation of a page's address to its earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spelling {
    /// Letter by letter the same.
    Same,
    /// The same address, spelt in another way: case of the host, default port, fragment.
    Respelled,
    /// Another address.
    Other,
}

/// Domains, each with the number of hosts under it of a thousand; `ip` is a number instead of a name.
const DOMAINS: [(&str, u32); 18] = [
    ("com", 560),
    ("org", 140),
    ("net", 60),
    ("edu", 40),
    ("co.uk", 35),
    ("gov", 25),
    ("de", 25),
    ("info", 20),
    ("ru", 15),
    ("ca", 12),
    ("com.au", 12),
    ("fr", 10),
    ("co.jp", 10),
    ("it", 9),
    ("pl", 8),
    ("ac.uk", 7),
    ("museum", 6),
    ("ip", 6),
];

/// Number of pages for each host.
const PAGES_PER_HOST: u64 = 30;

/// Returns the number of hosts in a web of `pages` pages.
pub(super) fn hosts(pages: u64) -> u32 {
    (pages / PAGES_PER_HOST).clamp(20, 4_000_000) as u32
}

/// Returns an address for the page with this number on one of `hosts` hosts; hosts with small numbers have most pages.
pub(super) fn address(key: u64, number: &str, folder: &str, hosts: u32) -> String {
    let mut random = Random::new(key);
    let host = random.skewed(hosts as usize) as u64;
    let mut url = begin(host);
    // Writing to a string cannot fail.
    let _ = match random.below(4) {
        0 => write!(url, "/{folder}/{number}.html"),
        1 => write!(url, "/{folder}?page={number}"),
        _ => write!(url, "/{folder}/{number}"),
    };
    url
}

/// Scheme and name of a host.
fn begin(host: u64) -> String {
    let mut random = Random::new(child(0x686f_7374, host));
    let mut url = String::from(if random.one_in(6) { "https://" } else { "http://" });
    let mut draw = random.below(DOMAINS.iter().map(|(_, share)| share).sum());
    let drawn = DOMAINS.iter().find(|(_, share)| match draw.checked_sub(*share) {
        Some(rest) => {
            draw = rest;
            false
        }
        None => true,
    });
    let domain = drawn.map_or("com", |(domain, _)| *domain);
    if domain == "ip" {
        // A block of addresses that is kept for examples.
        let _ = write!(url, "198.51.100.{}", host % 256);
        return url;
    }
    if random.percent(70) {
        url.push_str("www.");
    }
    coin(host, &mut url);
    let _ = write!(url, ".{domain}");
    url
}

/// The same address, spelt in another way.
pub(super) fn respelled(url: &str, key: u64) -> String {
    let mut random = Random::new(key);
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find('/').map_or(url.len(), |at| start + at);
    let (scheme, host, path) = (&url[..start], &url[start..end], &url[end..]);
    let port = if scheme == "https://" { ":443" } else { ":80" };
    match random.below(3) {
        0 if host.bytes().any(|byte| byte.is_ascii_lowercase()) => {
            format!("{scheme}{}{path}", host.to_ascii_uppercase())
        }
        1 => format!("{scheme}{host}{port}{path}"),
        _ => format!("{url}#top"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn host(url: &str) -> &str {
        url.split('/').nth(2).unwrap()
    }

    #[test]
    fn domains_are_many_and_some_hosts_are_large() {
        let urls: Vec<String> =
            (0..6000).map(|n| address(child(1, n), &n.to_string(), "news", hosts(6000))).collect();
        let (mut domains, mut pages) = (BTreeMap::new(), BTreeMap::new());
        for url in &urls {
            *domains.entry(host(url).rsplit('.').next().unwrap().to_owned()).or_insert(0) += 1;
            *pages.entry(host(url)).or_insert(0) += 1;
        }
        assert!(domains["com"] > 2500 && domains.len() >= 10, "{domains:?}");
        assert!(domains.keys().any(|domain| domain.parse::<u8>().is_ok()), "{domains:?}");
        let largest = pages.values().max().unwrap();
        assert!(*largest > 100 && pages.len() > 100, "{largest} {}", pages.len());
        let mut distinct = urls.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), urls.len());
    }

    #[test]
    fn another_spelling_leads_to_the_same_place() {
        for key in 0..30 {
            for url in ["http://www.bedaro.com/news/7", "https://198.51.100.4/shop?page=3"] {
                let other = respelled(url, key);
                assert_ne!(other, url);
                let plain = other.replace(":443", "").replace(":80", "").replace("#top", "");
                assert_eq!(plain.to_lowercase(), url.to_lowercase());
            }
        }
    }
}

//! Where a text names addresses: URLs, host names, mailboxes.
//!
//! A guess from the characters alone, since no list of hosts is at hand: it only decides how a difference is
//! called, never whether there is one.

use lookalike_model::Span;

/// Endings that make a name with dots a host. Short on purpose: `end.The` and `file.rs` are no hosts.
const ENDINGS: [&str; 40] = [
    "com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "io", "dev", "app", "example", "test",
    "invalid", "eu", "de", "at", "ch", "uk", "fr", "nl", "be", "es", "pt", "it", "pl", "cz", "se", "no",
    "dk", "fi", "ru", "ua", "jp", "cn", "in", "br", "ca", "au",
];

/// The addresses in `text`, in order, without overlap.
pub(crate) fn find(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if ends_address(c) {
            let token = &text[start..at];
            let core = token.trim_matches(['.', ',', ';', ':', '!', '?', '(', ')', '[', ']', '{', '}', '\'']);
            if is_address(core) {
                let from = start + (core.as_ptr() as usize - token.as_ptr() as usize);
                found.push(Span::new(from, from + core.len()));
            }
            start = at + c.len_utf8();
        }
    }
    found
}

/// Characters that never stand inside an address.
fn ends_address(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '<' | '>' | '|' | '“' | '”' | '«' | '»')
}

fn is_address(token: &str) -> bool {
    if let Some((scheme, rest)) = token.split_once("://") {
        return !rest.is_empty() && !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric());
    }
    let host = token.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    is_host(host.split(':').next().unwrap_or_default())
}

/// `www.` and anything, or labels with a well-known ending in lower case.
fn is_host(host: &str) -> bool {
    let label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    let Some((_, ending)) = host.rsplit_once('.') else { return false };
    host.split('.').all(label) && (host.starts_with("www.") || ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn addresses(text: &str) -> Vec<&str> {
        find(text).iter().map(|span| span.of(text)).collect()
    }

    #[test]
    fn urls_hosts_and_mailboxes_are_addresses() {
        let text = "See (https://a.example/x?y=1), www.b.c, shop.example.com/cart. Mail bob@post.de!";
        let expected = ["https://a.example/x?y=1", "www.b.c", "shop.example.com/cart", "bob@post.de"];
        assert_eq!(addresses(text), expected);
    }

    #[test]
    fn sentences_and_versions_are_not() {
        assert_eq!(
            addresses("The end.The next, version 2.5, e.g. and... main.rs ://x .com"),
            [] as [&str; 0]
        );
    }

    proptest! {
        #[test]
        fn any_text_can_be_searched(text in "[a-z./:@ “é()]{0,60}") {
            for span in find(&text) {
                prop_assert!(!span.of(&text).is_empty());
            }
        }
    }
}

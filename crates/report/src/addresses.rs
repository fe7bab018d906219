//! Detection of addresses in a text: URLs, host names, mailboxes.
//!
//! A guess from the characters alone, without a list of hosts: it only decides the name of a difference, never whether there is one.

use lookalike_model::Span;

/// Endings that make a name with dots a host. Short on purpose: `end.The` and `file.rs` are no hosts.
const HOST_ENDINGS: [&str; 40] = [
    "com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "io", "dev", "app", "example", "test",
    "invalid", "eu", "de", "at", "ch", "uk", "fr", "nl", "be", "es", "pt", "it", "pl", "cz", "se", "no",
    "dk", "fi", "ru", "ua", "jp", "cn", "in", "br", "ca", "au",
];

/// Returns the address that contains the character at byte `offset`, if there is one.
pub(crate) fn address_at(text: &str, offset: usize) -> Option<Span> {
    let (before, behind) = (text.get(..offset)?, text.get(offset..)?);
    let last = before.char_indices().rev().find(|&(_, c)| ends_address(c));
    let start = last.map_or(0, |(at, c)| at + c.len_utf8());
    let end = offset + behind.find(ends_address).unwrap_or(behind.len());
    let span = address(text, start, end)?;
    (span.start as usize <= offset && offset < span.end as usize).then_some(span)
}

/// The address that stands between two characters that end one.
fn address(text: &str, start: usize, end: usize) -> Option<Span> {
    let token = &text[start..end];
    let core = token.trim_matches(['.', ',', ';', ':', '!', '?', '(', ')', '[', ']', '{', '}', '\'']);
    let from = start + (core.as_ptr() as usize - token.as_ptr() as usize);
    is_address(core).then(|| Span::new(from, from + core.len()))
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
    host.split('.').all(label) && (host.starts_with("www.") || HOST_ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The addresses in `text`, in order, without overlap.
    fn find(text: &str) -> Vec<Span> {
        let mut found = Vec::new();
        let mut start = 0;
        for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
            if ends_address(c) {
                found.extend(address(text, start, at));
                start = at + c.len_utf8();
            }
        }
        found
    }

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
            let all = find(&text);
            prop_assert!(all.iter().all(|span| !span.of(&text).is_empty()));
            for offset in 0..=text.len() {
                let inside = |span: &&Span| (span.start as usize..span.end as usize).contains(&offset);
                let expected = all.iter().find(inside).filter(|_| text.is_char_boundary(offset));
                prop_assert_eq!(address_at(&text, offset), expected.copied());
            }
        }
    }
}

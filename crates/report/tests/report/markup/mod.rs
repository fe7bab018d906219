//! Pages as a parser meets them.

use html5gum::{Token, Tokenizer};
use proptest::prelude::*;

/// Names of all start tags with their attributes' names, and of all end tags, in order.
pub(crate) fn tags(page: &str) -> Vec<String> {
    let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut tags = Vec::new();
    for Ok(token) in Tokenizer::new(page) {
        match token {
            Token::StartTag(tag) => {
                let mut names: Vec<String> = tag.attributes.keys().map(|key| name(key)).collect();
                names.sort();
                tags.push(format!("{} {}", name(&tag.name), names.join(" ")).trim_end().to_owned());
            }
            Token::EndTag(tag) => tags.push(format!("/{}", name(&tag.name))),
            Token::Error(error) => panic!("{error:?}"),
            _ => {}
        }
    }
    tags
}

/// Fails unless every element is closed where it should be.
pub(crate) fn assert_balanced(page: &str) {
    let mut open = Vec::new();
    for tag in tags(page) {
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().as_deref(), Some(name), "closes something else"),
            None => {
                let name = tag.split(' ').next().unwrap_or_default().to_owned();
                if name != "meta" && name != "input" {
                    open.push(name);
                }
            }
        }
    }
    assert_eq!(open, [] as [&str; 0]);
}

/// Pieces that have broken pages before.
pub(crate) fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "<script>alert(1)</script>",
        "</style>",
        "</title>",
        "</svg>",
        "<!--",
        "-->",
        "]]>",
        "\" onload=\"x",
        "' x='",
        "&lt;",
        "&#0;",
        "<",
        ">",
        "\0",
        "\u{1b}[31m",
        "\u{202e}",
        "\u{feff}",
        "\r\n",
        "javascript:x",
    ]);
    let any = prop_oneof![pieces.prop_map(str::to_owned), ".{0,8}"];
    prop::collection::vec(any, 1..6).prop_map(|parts| parts.concat())
}

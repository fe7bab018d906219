//! An address taken apart.
//!
//! Addresses look like URLs and are none: `?`, `#` and `%` are characters of a key like all others.

use std::io;

use glob::{MatchOptions, Pattern};
use object_store::path::Path;

/// As in patterns of files, `*` and `?` stop at a slash and match a leading dot.
const MATCH: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// The provider of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    S3,
    Google,
    Azure,
}

/// Store, bucket and key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address<'a> {
    pub(super) scheme: Scheme,
    pub(super) bucket: &'a str,
    /// All behind the bucket's slash; empty for a whole bucket.
    pub(super) key: &'a str,
}

impl<'a> Address<'a> {
    pub(super) fn parse(input: &'a str) -> io::Result<Self> {
        let invalid = |reason| io::Error::new(io::ErrorKind::InvalidInput, reason);
        let (scheme, rest) = input.split_once("://").unwrap_or_default();
        let scheme = match scheme {
            "s3" => Scheme::S3,
            "gs" => Scheme::Google,
            "az" => Scheme::Azure,
            _ => return Err(invalid("the address begins with none of s3://, gs:// and az://")),
        };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(invalid("the address names no bucket"));
        }
        Ok(Address { scheme, bucket, key })
    }

    /// The address of another object in the same bucket.
    pub(super) fn with_key(&self, key: &str) -> String {
        let scheme = match self.scheme {
            Scheme::S3 => "s3",
            Scheme::Google => "gs",
            Scheme::Azure => "az",
        };
        format!("{scheme}://{}/{key}", self.bucket)
    }

    /// The key as one object's path.
    pub(super) fn path(&self) -> io::Result<Path> {
        let path = Path::parse(self.key).ok().filter(|path| path.as_ref() == self.key);
        path.ok_or_else(|| {
            let reason = "parts of a key can be neither empty, . or .. nor hold control characters";
            io::Error::new(io::ErrorKind::InvalidInput, reason)
        })
    }

    /// The key with a slash behind it, to find what is below.
    pub(super) fn prefix(&self) -> String {
        let slash = if self.key.is_empty() || self.key.ends_with('/') { "" } else { "/" };
        format!("{}{slash}", self.key)
    }

    /// True when the key holds characters of patterns.
    pub(super) fn is_pattern(&self) -> bool {
        self.key.contains(METACHARACTERS)
    }
}

const METACHARACTERS: [char; 3] = ['*', '?', '['];

/// A key with `*`, `?` or `[`.
pub(super) struct KeyPattern<'a> {
    pattern: Pattern,
    /// All before the first special character: every match begins so.
    pub(super) fixed: &'a str,
}

impl<'a> KeyPattern<'a> {
    /// Nothing for a pattern that is malformed and so matches nothing.
    pub(super) fn new(key: &'a str) -> Option<Self> {
        let pattern = Pattern::new(key.trim_end_matches('/')).ok()?;
        let fixed = &key[..key.find(METACHARACTERS).unwrap_or(key.len())];
        Some(KeyPattern { pattern, fixed })
    }

    /// The folder that all matches lie in, with its slash.
    pub(super) fn folder(&self) -> &'a str {
        &self.fixed[..self.fixed.rfind('/').map_or(0, |slash| slash + 1)]
    }

    /// True for a key that matches, or lies in a folder that does and is not hidden there.
    pub(super) fn takes(&self, key: &str) -> bool {
        let ends = key.match_indices('/').map(|(slash, _)| slash).chain([key.len()]);
        let mut matching = ends.filter(|&end| self.pattern.matches_with(&key[..end], MATCH));
        matching.any(|end| !is_hidden(&key[end..]))
    }
}

/// True when a part of the key begins with a dot.
pub(super) fn is_hidden(key: &str) -> bool {
    key.split('/').any(|part| part.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_taken_as_they_are() {
        let address = Address::parse("gs://crawl/a b/50%25?#1.jsonl").unwrap();
        assert_eq!(
            (address.scheme, address.bucket, address.key),
            (Scheme::Google, "crawl", "a b/50%25?#1.jsonl")
        );
        assert_eq!(address.with_key("x"), "gs://crawl/x");
        assert_eq!(address.path().unwrap().as_ref(), address.key);
    }

    #[test]
    fn prefixes_end_in_one_slash() {
        for (input, prefix) in [("s3://b", ""), ("s3://b/", ""), ("az://b/a", "a/"), ("az://b/a/", "a/")] {
            assert_eq!(Address::parse(input).unwrap().prefix(), prefix, "{input}");
        }
    }

    #[test]
    fn keys_that_no_request_can_carry_are_refused() {
        for key in ["a//b", "/a", "a/../b", "a/", "a\nb"] {
            assert!(Address { scheme: Scheme::S3, bucket: "b", key }.path().is_err(), "{key:?}");
        }
    }

    #[test]
    fn patterns_match_as_patterns_of_files_do() {
        let takes = |pattern: &str, key: &str| KeyPattern::new(pattern).unwrap().takes(key);
        assert!(takes("a/*.jsonl", "a/1.jsonl"));
        assert!(!takes("a/*.jsonl", "a/b/1.jsonl"));
        assert!(takes("a/**/*.jsonl", "a/b/c/1.jsonl"));
        assert!(takes("a-?/", "a-1/b/1.jsonl"));
        assert!(!takes("a-?/", "a-1/.b/1.jsonl"));
        assert!(takes("a[0-3]", "a2"));
        assert!(KeyPattern::new("a***").is_none());
    }

    #[test]
    fn only_the_fixed_part_of_a_pattern_is_listed() {
        let pattern = KeyPattern::new("crawl/part-*/x.warc").unwrap();
        assert_eq!((pattern.fixed, pattern.folder()), ("crawl/part-", "crawl/"));
        let pattern = KeyPattern::new("*.warc").unwrap();
        assert_eq!((pattern.fixed, pattern.folder()), ("", ""));
    }
}

//! The register of pages that all builders of indexes share: no address twice, a digest of all that went in, and no visible index
//! before it is whole.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use lookalike_hash::{Secret, digest};

use crate::building::BuildOptions;
use crate::engine::EngineError;

/// Longest address that is indexed, in bytes.
const LONGEST_URL: usize = 60_000;

/// The register of the pages of an index: no address twice, and a digest of all that went in.
#[derive(Debug)]
pub(crate) struct PageRegistry {
    /// The path of the index, for messages.
    name: String,
    options: BuildOptions,
    /// Digests of addresses: about 40 bytes for each page.
    urls: HashSet<u128>,
    content_digest: u128,
}

impl PageRegistry {
    pub(crate) fn new(path: &Path, options: &BuildOptions) -> Self {
        let name = path.display().to_string();
        PageRegistry { name, options: options.clone(), urls: HashSet::new(), content_digest: digest(b"") }
    }

    /// Number of the next page.
    pub(crate) fn next_number(&self) -> u64 {
        self.urls.len() as u64
    }

    /// Returns true if an address was registered.
    pub(crate) fn has(&self, url: &str) -> bool {
        self.urls.contains(&Secret::of_process().digest(url.as_bytes()))
    }

    /// Registers a page; returns the part of it that is indexed.
    pub(crate) fn register<'t>(
        &mut self,
        url: &str,
        indexed: &'t str,
        page: &str,
    ) -> Result<&'t str, EngineError> {
        if url.len() > LONGEST_URL {
            let why = format!("an address has {} bytes, more than {LONGEST_URL}; leave it out", url.len());
            return Err(EngineError::broken(&self.name, why));
        }
        let key = digest(url.as_bytes());
        if !self.urls.insert(Secret::of_process().digest(url.as_bytes())) {
            return Err(EngineError::broken(&self.name, format!("{url} came twice; give each address once")));
        }
        let indexed = prefix(indexed, self.options.first_bytes);
        let parts = [self.content_digest, key, digest(indexed.as_bytes()), digest(page.as_bytes())];
        self.content_digest = digest(&parts.map(u128::to_le_bytes).concat());
        Ok(indexed)
    }

    /// Returns the fingerprint that tells this index from others.
    pub(crate) fn fingerprint(&self) -> String {
        format!("{} pages {:032x}", self.urls.len(), self.content_digest)
    }
}

/// Returns the first bytes of a text, up to the boundary of a character.
fn prefix(text: &str, bytes: Option<usize>) -> &str {
    bytes.map_or(text, |bytes| &text[..text.floor_char_boundary(bytes)])
}

/// Returns the path where an index grows until it is whole, after removing anything that a killed process left there.
pub(crate) fn partial_path(path: &Path) -> Result<PathBuf, EngineError> {
    let name = path.display().to_string();
    if path.exists() {
        return Err(EngineError::broken(name, "it exists already; name another place, or remove it"));
    }
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let removed = if part.is_dir() { std::fs::remove_dir_all(&part) } else { std::fs::remove_file(&part) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(EngineError::broken(name, error)),
        _ => Ok(part),
    }
}

/// Renames a whole index to its final path.
pub(crate) fn publish(part: &Path, path: &Path) -> Result<(), EngineError> {
    std::fs::rename(part, path).map_err(|error| EngineError::broken(path.display().to_string(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(first_bytes: Option<usize>) -> PageRegistry {
        PageRegistry::new(Path::new("x"), &BuildOptions { first_bytes, ..BuildOptions::default() })
    }

    #[test]
    fn the_first_bytes_end_at_a_character() {
        for (bytes, wanted) in [(0, ""), (1, "a"), (2, "a"), (3, "aü"), (9, "aüb")] {
            assert_eq!(registry(Some(bytes)).register("u", "aüb", "page").unwrap(), wanted);
        }
        assert_eq!(registry(None).register("u", "aüb", "page").unwrap(), "aüb");
    }

    #[test]
    fn an_address_comes_once() {
        let mut pages = registry(None);
        pages.register("u", "a", "a").unwrap();
        pages.register("v", "a", "a").unwrap();
        let error = pages.register("u", "b", "b").unwrap_err();
        assert_eq!(error.to_string(), "x: u came twice; give each address once");
        assert_eq!(pages.next_number(), 2);
    }

    #[test]
    fn marks_tell_texts_and_their_order_apart() {
        let marks: Vec<String> = [
            [("u", "a", "a"), ("v", "b", "b")],
            [("v", "b", "b"), ("u", "a", "a")],
            [("u", "a", "b"), ("v", "b", "b")],
            [("u", "b", "a"), ("v", "b", "b")],
        ]
        .into_iter()
        .map(|pages| {
            let mut all = registry(None);
            for (url, indexed, page) in pages {
                all.register(url, indexed, page).unwrap();
            }
            all.fingerprint()
        })
        .collect();
        assert_eq!(marks.iter().collect::<HashSet<_>>().len(), 4, "{marks:?}");
        assert!(marks[0].starts_with("2 pages "));
    }
}

//! The part that all builders of indexes share: no address twice, a digest of all that went in, and no visible index before it is whole.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use lookalike_text::hash::{Secret, digest};

use crate::building::Building;
use crate::engine::EngineError;

/// Longest address that is indexed, in bytes.
const LONGEST_URL: usize = 60_000;

/// The account of the pages of an index: no address twice, and a digest of all that went in.
#[derive(Debug)]
pub(crate) struct Intake {
    /// The path of the index, for messages.
    name: String,
    options: Building,
    /// Digests of addresses: about 40 bytes for each page.
    urls: HashSet<u128>,
    all: u128,
}

impl Intake {
    pub(crate) fn new(path: &Path, options: &Building) -> Self {
        let name = path.display().to_string();
        Intake { name, options: options.clone(), urls: HashSet::new(), all: digest(b"") }
    }

    /// Number of the next page.
    pub(crate) fn next(&self) -> u64 {
        self.urls.len() as u64
    }

    /// Returns true if an address was taken in.
    pub(crate) fn has(&self, url: &str) -> bool {
        self.urls.contains(&Secret::of_process().digest(url.as_bytes()))
    }

    /// Takes a page in; returns the part of it that is indexed.
    pub(crate) fn take<'t>(
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
        let indexed = first(indexed, self.options.first_bytes);
        let parts = [self.all, key, digest(indexed.as_bytes()), digest(page.as_bytes())];
        self.all = digest(&parts.map(u128::to_le_bytes).concat());
        Ok(indexed)
    }

    /// Returns the mark that tells this index from others.
    pub(crate) fn mark(&self) -> String {
        format!("{} pages {:032x}", self.urls.len(), self.all)
    }
}

/// Returns the first bytes of a text, up to the boundary of a character.
fn first(text: &str, bytes: Option<usize>) -> &str {
    bytes.map_or(text, |bytes| &text[..text.floor_char_boundary(bytes)])
}

/// Returns the path where an index grows until it is whole, after removing anything that a killed process left there.
pub(crate) fn unfinished(path: &Path) -> Result<PathBuf, EngineError> {
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
pub(crate) fn appear(part: &Path, path: &Path) -> Result<(), EngineError> {
    std::fs::rename(part, path).map_err(|error| EngineError::broken(path.display().to_string(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intake(first_bytes: Option<usize>) -> Intake {
        Intake::new(Path::new("x"), &Building { first_bytes, ..Building::default() })
    }

    #[test]
    fn the_first_bytes_end_at_a_character() {
        for (bytes, wanted) in [(0, ""), (1, "a"), (2, "a"), (3, "aü"), (9, "aüb")] {
            assert_eq!(intake(Some(bytes)).take("u", "aüb", "page").unwrap(), wanted);
        }
        assert_eq!(intake(None).take("u", "aüb", "page").unwrap(), "aüb");
    }

    #[test]
    fn an_address_comes_once() {
        let mut pages = intake(None);
        pages.take("u", "a", "a").unwrap();
        pages.take("v", "a", "a").unwrap();
        let error = pages.take("u", "b", "b").unwrap_err();
        assert_eq!(error.to_string(), "x: u came twice; give each address once");
        assert_eq!(pages.next(), 2);
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
            let mut all = intake(None);
            for (url, indexed, page) in pages {
                all.take(url, indexed, page).unwrap();
            }
            all.mark()
        })
        .collect();
        assert_eq!(marks.iter().collect::<HashSet<_>>().len(), 4, "{marks:?}");
        assert!(marks[0].starts_with("2 pages "));
    }
}

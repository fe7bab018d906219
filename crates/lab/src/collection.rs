//! The documents of an experiment: a collection that the user names, a known one in the data folder, or a generated one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lookalike::corpus::{Corpus, ReadOptions};
use lookalike::engine::document_copy::DocumentCopy;
use lookalike::hash;
use lookalike::model::Document;
use lookalike::text::extract::ContentMode;
use lookalike::walk::{self, WalkItem, Watch};

use crate::trial::LabError;

/// The kind of collection that an experiment needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionKind {
    /// A collection of short articles.
    News,
    /// Messages, with a field `group` whose value holds `spam` or `ham`.
    Mail,
    /// Pages in several revisions, with the fields `page` and `revno`, which counts from the oldest.
    Revisions,
    /// The pages of a site at two times; addresses tell the same page, and the field `snapshot` the time, or, where there is
    /// none, the file: the first is the older one.
    Crawls,
}

/// Documents to look at.
#[derive(Debug, Clone)]
pub struct Collection {
    /// Its name in results.
    pub name: String,
    /// The corpus that holds the documents.
    pub corpus: Corpus,
    /// The part of each document that becomes its text.
    pub content: ContentMode,
    /// True if the collection was generated.
    pub generated: bool,
}

/// One document in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its ordinal.
    pub ordinal: u64,
    /// The number of the file that it was in.
    pub shard: usize,
    /// Its id.
    pub id: String,
    /// Its address.
    pub url: Option<String>,
    /// Its text.
    pub text: String,
    /// The further fields that were asked for, in their order.
    pub extras: Vec<Option<String>>,
}

/// Files of known collections, by the folder that they lie in.
const KNOWN: [(CollectionKind, &str, &[&str]); 4] = [
    (CollectionKind::News, "reuters", &["reuters/reuters21578.jsonl.zst"]),
    (CollectionKind::Mail, "spam", &["spam/spam-assassin.jsonl.zst"]),
    (CollectionKind::Revisions, "revisions", &["revisions/ethereum-eips.jsonl.zst"]),
    (
        CollectionKind::Crawls,
        "two-crawls",
        &["two-crawls/postgresql/docs-old.jsonl.zst", "two-crawls/postgresql/docs-new.jsonl.zst"],
    ),
];

impl CollectionKind {
    /// Opens the known collection of this kind, if it lies in `data`.
    pub fn open_known(self, data: &Path) -> Result<Option<Collection>, LabError> {
        let Some((_, name, files)) = KNOWN.iter().find(|(kind, ..)| *kind == self) else { return Ok(None) };
        let paths: Vec<PathBuf> = files.iter().map(|file| data.join(file)).collect();
        if !paths.iter().all(|path| path.is_file()) {
            return Ok(None);
        }
        let inputs: Vec<OsString> = paths.into_iter().map(PathBuf::into_os_string).collect();
        let corpus = Corpus::open(&inputs, ReadOptions::default())?;
        Ok(Some(Collection { name: (*name).to_owned(), corpus, content: self.content(), generated: false }))
    }

    /// Returns the name of this kind.
    pub fn name(self) -> &'static str {
        match self {
            CollectionKind::News => "news",
            CollectionKind::Mail => "mail",
            CollectionKind::Revisions => "revisions",
            CollectionKind::Crawls => "crawls",
        }
    }

    /// Returns the part of a document of this kind that becomes its text.
    pub fn content(self) -> ContentMode {
        match self {
            CollectionKind::Mail => ContentMode::PageOrEmail,
            _ => ContentMode::Page,
        }
    }
}

impl Collection {
    /// Returns the corpus, and the part of each document that becomes its text.
    pub fn source(&self) -> (&Corpus, ContentMode) {
        (&self.corpus, self.content)
    }

    /// Reads the documents into memory, with these further fields; if there are more than `most`, then `most` at random, by
    /// `seed`. Documents without text are left out.
    pub fn items(
        &self,
        most: usize,
        seed: u64,
        extras: &[&str],
        watch: &Watch,
    ) -> Result<Vec<Item>, LabError> {
        self.draw_items(most, extras, watch, |ordinal, _| hash::nth(ordinal, hash::mix(seed)))
    }

    /// The same, but documents of one address are drawn together, so that a page at two times is there twice or not at all.
    pub fn pages(
        &self,
        most: usize,
        seed: u64,
        extras: &[&str],
        watch: &Watch,
    ) -> Result<Vec<Item>, LabError> {
        self.draw_items(most, extras, watch, |_, document| {
            let name = document.url.unwrap_or(document.id);
            hash::nth(1, hash::word(name.as_bytes()) ^ hash::mix(seed))
        })
    }

    /// Reads the documents with the smallest sampling keys, in their order.
    fn draw_items(
        &self,
        most: usize,
        extras: &[&str],
        watch: &Watch,
        sampling_key: impl Fn(u64, &Document<'_>) -> u64,
    ) -> Result<Vec<Item>, LabError> {
        let mut items: Vec<(u64, Item)> = Vec::new();
        let mut ordinal = 0;
        let bound = most.max(1).saturating_mul(2);
        let options = ReadOptions {
            extras: extras.iter().map(|&name| name.to_owned()).collect(),
            ..(**self.corpus.options()).clone()
        };
        let options = std::sync::Arc::new(options);
        for (number, shard) in self.corpus.shards().iter().enumerate() {
            walk::documents(shard, &options, self.content, watch, |found| {
                match found {
                    WalkItem::Document { document, text } if !text.trim().is_empty() => {
                        let sampling_key = sampling_key(ordinal, &document);
                        let extras = (0..extras.len()).map(|n| document.extras.get(n).map(str::to_owned));
                        let item = Item {
                            ordinal,
                            shard: number,
                            id: document.id.to_owned(),
                            url: document.url.map(str::to_owned),
                            text: text.to_owned(),
                            extras: extras.collect(),
                        };
                        items.push((sampling_key, item));
                    }
                    WalkItem::Skipped(_) => return Ok(()),
                    _ => {}
                }
                ordinal += 1;
                if items.len() > bound {
                    keep_smallest(&mut items, most);
                }
                Ok(())
            })?;
        }
        keep_smallest(&mut items, most);
        items.sort_unstable_by_key(|(_, item)| item.ordinal);
        Ok(items.into_iter().map(|(_, item)| item).collect())
    }
}

/// Refuses fewer documents than two: there would be nothing to compare.
pub fn require_two_documents(documents: &DocumentCopy) -> Result<(), LabError> {
    if documents.len() >= 2 {
        return Ok(());
    }
    let facts = documents.manifest();
    let rejected = match &facts.first_rejection {
        None => String::new(),
        Some(reason) => format!(" ({} could not be read: {reason})", facts.rejected),
    };
    Err(LabError::Request(format!(
        "methods are compared on 2 documents or more, and there {} {}{rejected}; give a larger corpus",
        if documents.len() == 1 { "is" } else { "are" },
        documents.len(),
    )))
}

/// Leaves the `most` of them with the smallest sampling keys.
fn keep_smallest(items: &mut Vec<(u64, Item)>, most: usize) {
    if items.len() > most {
        items.select_nth_unstable_by_key(most, |(sampling_key, item)| (*sampling_key, item.ordinal));
        items.truncate(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_document_is_not_enough() {
        let folder = tempfile::tempdir().unwrap();
        let lines: &[u8] = b"{\"id\":\"a\",\"text\":\"x\"}\n{}\n";
        let corpus = Corpus::in_memory("x.jsonl", lines.into(), ReadOptions::default());
        let source = (&corpus, ContentMode::Page);
        let watch = Watch::default();
        let documents =
            DocumentCopy::open_or_create(folder.path(), source, &[], ("all", &mut |_, _, _| true), &watch)
                .unwrap();
        let error = require_two_documents(&documents).unwrap_err().to_string();
        assert!(error.contains("there is 1 (1 could not be read"), "{error}");
    }
}

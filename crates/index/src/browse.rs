//! Documents by id and by number, and the clusters of an index: kept documents with those that they stand for.

use serde::Serialize;

use crate::error::IndexError;
use crate::index::Index;
use crate::part::{Postings, Snapshot};
use crate::prepared::PreparedDocument;
use crate::query_buffers::QueryBuffers;
use crate::row::{Row, State};

/// A document of the index.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its number.
    pub number: u32,
    /// Its id.
    pub id: String,
    /// Its address.
    pub url: Option<String>,
    /// Number of its words.
    pub words: u32,
    /// The first document with the same words.
    pub leader: u32,
    /// Its state.
    pub state: State,
    /// Bytes of its text.
    pub text_bytes: u32,
}

/// A kept document and the size of its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cluster {
    /// The kept document.
    pub keeper: u32,
    /// The number of documents in the cluster, the kept one included.
    pub size: u32,
}

impl Index {
    /// The number that the next document gets: all others are below it.
    pub fn next(&self) -> u32 {
        self.inner.now().next
    }

    /// The documents of an id.
    pub fn get(&self, buffers: &mut QueryBuffers, id: &str) -> Result<Vec<Entry>, IndexError> {
        let now = self.inner.now();
        let rows = now.of_id(&self.inner.layout.tables, id, &mut buffers.blocks)?;
        rows.into_iter().map(|(number, row)| entry(&now, number, &row, buffers)).collect()
    }

    /// The number of the first document of an id that is there.
    pub fn first_of(&self, buffers: &mut QueryBuffers, id: &str) -> Result<Option<u32>, IndexError> {
        self.inner.now().first_of(&self.inner.layout.tables, id, &mut buffers.blocks)
    }

    /// The document of a number; nothing when it was taken out.
    pub fn entry(&self, buffers: &mut QueryBuffers, number: u32) -> Result<Option<Entry>, IndexError> {
        let now = self.inner.now();
        if number >= now.next {
            return Ok(None);
        }
        let row = now.row(number, &mut buffers.blocks)?;
        if row.state.is_live() { entry(&now, number, &row, buffers).map(Some) } else { Ok(None) }
    }

    /// The text of a document, where texts are kept.
    pub fn text(&self, buffers: &mut QueryBuffers, number: u32) -> Result<Option<String>, IndexError> {
        let now = self.inner.now();
        if !self.inner.text || number >= now.next {
            return Ok(None);
        }
        let mut query = self.inner.query(&now, buffers);
        let row = query.row(number)?;
        if row.state.is_live() { query.text(number, &row).map(Some) } else { Ok(None) }
    }

    /// A document, ready to be added to another index of the same recipe; nothing when it was taken out.
    pub fn prepare_stored(
        &self,
        buffers: &mut QueryBuffers,
        number: u32,
    ) -> Result<Option<PreparedDocument>, IndexError> {
        let Some(Entry { id, url, .. }) = self.entry(buffers, number)? else { return Ok(None) };
        let now = self.inner.now();
        let Some(examined) = self.inner.query(&now, buffers).examined(number)? else {
            return Err(IndexError::Request(format!(
                "{} keeps no texts, and without them its documents cannot be added elsewhere",
                self.folder().display()
            )));
        };
        buffers.prepared(id, url, examined).map(Some).map_err(IndexError::Request)
    }

    /// The documents that a kept one stands for, in their order.
    pub fn members(&self, buffers: &mut QueryBuffers, keeper: u32) -> Result<Vec<Entry>, IndexError> {
        let now = self.inner.now();
        let mut members = Vec::new();
        for number in now.lookup(self.inner.layout.tables.dependents(), keeper.into(), &mut buffers.blocks)? {
            let row = now.row(number, &mut buffers.blocks)?;
            if is_removed_for(&row, keeper) {
                members.push(entry(&now, number, &row, buffers)?);
            }
        }
        Ok(members)
    }

    /// All kept documents that stand for others, in their order: 8 bytes of memory for each.
    pub fn clusters(&self, buffers: &mut QueryBuffers) -> Result<Vec<Cluster>, IndexError> {
        let now = self.inner.now();
        let table = self.inner.layout.tables.dependents();
        let mut sources = Vec::new();
        for part in &now.parts {
            sources.push(Postings::new(part, table)?);
        }
        let mut clusters: Vec<Cluster> = Vec::new();
        let mut last = None;
        loop {
            let heads = sources.iter().enumerate().filter_map(|(place, source)| Some((source.head?, place)));
            let Some(((keeper, number, _), place)) = heads.min() else { return Ok(clusters) };
            sources[place].advance()?;
            let keeper = keeper as u32;
            // What was decided anew is there twice.
            if last.replace((keeper, number)) == Some((keeper, number)) {
                continue;
            }
            if !is_removed_for(&now.row(number, &mut buffers.blocks)?, keeper) {
                continue;
            }
            match clusters.last_mut().filter(|cluster| cluster.keeper == keeper) {
                Some(cluster) => cluster.size += 1,
                None => clusters.push(Cluster { keeper, size: 2 }),
            }
        }
    }
}

fn is_removed_for(row: &Row, keeper: u32) -> bool {
    matches!(row.state, State::Removed { witness, .. } if witness == keeper)
}

fn entry(now: &Snapshot, number: u32, row: &Row, buffers: &mut QueryBuffers) -> Result<Entry, IndexError> {
    let (id, url) = now.names(number, row, &mut buffers.blocks)?;
    let Row { words, leader, state, text, .. } = *row;
    Ok(Entry { number, id, url, words, leader, state, text_bytes: text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SmallIndex, recipe};
    use crate::writer::OnExistingId;

    const NEAR: [&str; 3] = ["a b c d e", "a b c d f", "a b c d g"];

    fn numbers(entries: &[Entry]) -> Vec<u32> {
        entries.iter().map(|entry| entry.number).collect()
    }

    #[test]
    fn an_empty_index_has_no_documents() {
        let SmallIndex { index, mut buffers, folder: _folder } = SmallIndex::new();
        assert_eq!(index.next(), 0);
        assert!(index.get(&mut buffers, "d0").unwrap().is_empty());
        assert_eq!(index.first_of(&mut buffers, "d0").unwrap(), None);
        assert_eq!(index.entry(&mut buffers, 0).unwrap(), None);
        assert_eq!(index.text(&mut buffers, 0).unwrap(), None);
        assert!(index.prepare_stored(&mut buffers, 0).unwrap().is_none());
        assert!(index.members(&mut buffers, 0).unwrap().is_empty());
        assert!(index.clusters(&mut buffers).unwrap().is_empty());
    }

    #[test]
    fn an_entry_tells_all_of_a_document() {
        let SmallIndex { index, mut buffers, folder: _folder } = SmallIndex::of(&["a b c", "A b C!"]);
        let state = State::Removed { witness: 0, similarity: Some(1.0) };
        let id = "d1".to_owned();
        let expected = Entry { number: 1, id, url: None, words: 3, leader: 0, state, text_bytes: 6 };
        assert_eq!(index.entry(&mut buffers, 1).unwrap(), Some(expected));
        assert_eq!(index.entry(&mut buffers, 2).unwrap(), None);
    }

    #[test]
    fn all_documents_of_an_id_are_found() {
        let mut small = SmallIndex::of(&["a b c", "x y z"]);
        small.add("d0", "u v w");
        let SmallIndex { index, mut buffers, folder: _folder } = small;
        assert_eq!(numbers(&index.get(&mut buffers, "d0").unwrap()), [0, 2]);
        assert_eq!(index.first_of(&mut buffers, "d0").unwrap(), Some(0));
        assert_eq!((index.next(), index.first_of(&mut buffers, "d2").unwrap()), (3, None));
    }

    #[test]
    fn deleted_documents_are_not_shown() {
        let mut small = SmallIndex::of(&["a b c", "a b c"]);
        small.index.remove("d0").unwrap();
        let SmallIndex { index, buffers, .. } = &mut small;
        assert!(index.get(buffers, "d0").unwrap().is_empty());
        assert_eq!(index.first_of(buffers, "d0").unwrap(), None);
        assert_eq!(index.entry(buffers, 0).unwrap(), None);
        assert_eq!(index.text(buffers, 0).unwrap(), None);
        assert_eq!(index.text(buffers, 1).unwrap().as_deref(), Some("a b c"));
        assert_eq!(index.next(), 2);
    }

    #[test]
    fn a_text_is_returned_as_it_was_before_and_behind_a_flush() {
        let small = SmallIndex::of(&["One, two: THREE!"]);
        let SmallIndex { index, mut buffers, folder: _folder } = small;
        assert_eq!(index.text(&mut buffers, 0).unwrap().as_deref(), Some("One, two: THREE!"));
        index.flush().unwrap();
        assert_eq!(index.text(&mut buffers, 0).unwrap().as_deref(), Some("One, two: THREE!"));
    }

    #[test]
    fn without_texts_there_is_none_to_return_or_to_add_elsewhere() {
        let mut small = SmallIndex::with(recipe(), false);
        small.add("d0", "a b c");
        assert_eq!(small.index.text(&mut small.buffers, 0).unwrap(), None);
        let sentence = small.index.prepare_stored(&mut small.buffers, 0).map(drop).unwrap_err().to_string();
        let wanted = format!(
            "{} keeps no texts, and without them its documents cannot be added elsewhere",
            small.path().display()
        );
        assert_eq!(sentence, wanted);
    }

    #[test]
    fn a_stored_document_can_be_added_to_another_index() {
        let (mut from, mut to) = (SmallIndex::of(&["a b c d e"]), SmallIndex::of(&["a b c d f"]));
        let stored = from.index.prepare_stored(&mut from.buffers, 0).unwrap().unwrap();
        assert_eq!((&stored.id[..], stored.text()), ("d0", "a b c d e"));
        let prepared = to.buffers.reexamine(to.index.examiner(), stored).unwrap();
        to.index.add(vec![prepared], OnExistingId::Both).unwrap();
        assert_eq!(to.state(1), State::Removed { witness: 0, similarity: Some(4.0 / 6.0) });
    }

    #[test]
    fn the_members_of_a_cluster_are_those_removed_for_its_kept_document() {
        let SmallIndex { index, mut buffers, folder: _folder } = SmallIndex::of(&NEAR);
        assert_eq!(numbers(&index.members(&mut buffers, 0).unwrap()), [1, 2]);
        assert!(index.members(&mut buffers, 1).unwrap().is_empty());
    }

    #[test]
    fn clusters_are_counted_with_their_kept_document() {
        let mut small = SmallIndex::of(&["x y z", "a b c d e", "a b c d f", "a b c d g", "x y z"]);
        small.add("d5", "alone");
        let expected = [Cluster { keeper: 0, size: 2 }, Cluster { keeper: 1, size: 3 }];
        assert_eq!(small.index.clusters(&mut small.buffers).unwrap(), expected);
        small.index.flush().unwrap();
        small.add("d6", "x y z");
        let expected = [Cluster { keeper: 0, size: 3 }, Cluster { keeper: 1, size: 3 }];
        assert_eq!(small.index.clusters(&mut small.buffers).unwrap(), expected, "from disk and from memory");
    }

    #[test]
    fn members_that_were_decided_anew_are_in_their_new_cluster_alone() {
        let mut small = SmallIndex::of(&NEAR);
        small.index.remove("d0").unwrap();
        assert_eq!(small.index.clusters(&mut small.buffers).unwrap(), [Cluster { keeper: 1, size: 2 }]);
        assert!(small.index.members(&mut small.buffers, 0).unwrap().is_empty());
        assert_eq!(numbers(&small.index.members(&mut small.buffers, 1).unwrap()), [2]);
    }
}

//! Documents by id and by number, and the clusters of an index: kept documents with those that they stand for.

use serde::Serialize;

use crate::error::IndexError;
use crate::index::Index;
use crate::part::Snapshot;
use crate::query_buffers::{PreparedDocument, QueryBuffers};
use crate::row::{Row, State};
use crate::segment::Postings;

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

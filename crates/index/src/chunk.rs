//! A part of the index in memory: consecutive documents, their postings, and changes of the state of earlier documents. A chunk
//! never changes; two neighbours are joined into a new one.
//!
//! The log consists of chunks, too: everything that one write added, whole or not at all.
//!
//! Tables are sorted lists of postings (key, number, tag): one for the keys of each method, then ids, words, documents
//! with the same words, and the documents that a kept one stands for.

use std::sync::Arc;

use crate::row::{Change, Row};

/// A key, the number of the document or class that it leads to, and a tag of the method.
pub(crate) type Posting = (u64, u32, u32);

/// The numbering of the tables: first one table for the keys of each method, then those below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tables {
    /// For each method, true if its keys have tags.
    pub(crate) tagged: Vec<bool>,
}

impl Tables {
    /// Hashes of ids lead to documents.
    pub(crate) fn ids(&self) -> usize {
        self.tagged.len()
    }

    /// Hashes of words lead to the first document that has them.
    pub(crate) fn words(&self) -> usize {
        self.tagged.len() + 1
    }

    /// The first document with some words leads to the others.
    pub(crate) fn members(&self) -> usize {
        self.tagged.len() + 2
    }

    /// A kept document leads to those that it stands for.
    pub(crate) fn dependents(&self) -> usize {
        self.tagged.len() + 3
    }

    /// The first document with some words leads to witnesses of others with these words, where they are not its own.
    pub(crate) fn witnesses(&self) -> usize {
        self.tagged.len() + 4
    }

    /// The first document with some words leads to one with these words that is kept in its place.
    pub(crate) fn heads(&self) -> usize {
        self.tagged.len() + 5
    }

    /// Number of tables.
    pub(crate) fn count(&self) -> usize {
        self.tagged.len() + 6
    }

    /// True when the postings of a table have tags.
    pub(crate) fn is_tagged(&self, table: usize) -> bool {
        self.tagged.get(table).copied().unwrap_or(false)
    }
}

/// A document in memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredDocument {
    pub(crate) row: Row,
    pub(crate) id: String,
    pub(crate) url: Option<String>,
    /// Empty for a document that another one with the same words came before.
    pub(crate) record: Vec<u8>,
    /// The data that it is measured by: its text, compressed, or its symbols.
    pub(crate) body: Vec<u8>,
}

/// Consecutive documents, their postings, and changes of earlier documents.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Chunk {
    /// Number of the first document.
    pub(crate) first: u32,
    pub(crate) documents: Vec<Arc<StoredDocument>>,
    /// Sorted.
    pub(crate) tables: Vec<Vec<Posting>>,
    /// Sorted by number, each once.
    pub(crate) changes: Vec<Change>,
    /// Postings that were left out because their key has too many.
    pub(crate) left_out: u32,
    /// The mark that the caller stored with the last documents, to resume after a stop.
    pub(crate) mark: Option<Vec<u8>>,
    /// The approximate number of bytes it takes in memory.
    pub(crate) bytes: usize,
}

impl Chunk {
    /// An empty chunk, for documents from `first` on.
    pub(crate) fn new(first: u32, tables: usize) -> Self {
        Chunk { first, tables: vec![Vec::new(); tables], ..Chunk::default() }
    }

    /// The number after that of the last document.
    pub(crate) fn end(&self) -> u32 {
        self.first + self.documents.len() as u32
    }

    /// Returns its size in documents and changes, which decides when chunks are joined.
    pub(crate) fn weight(&self) -> usize {
        self.documents.len() + self.changes.len()
    }

    /// Computes `bytes`, once everything is in.
    pub(crate) fn with_byte_count(mut self) -> Self {
        let documents = self.documents.iter().map(|stored| {
            let url = stored.url.as_ref().map_or(0, String::len);
            stored.body.len() + stored.record.len() + stored.id.len() + url + 200
        });
        let postings: usize = self.tables.iter().map(Vec::len).sum();
        let rest = postings * size_of::<Posting>() + self.changes.len() * size_of::<Change>();
        self.bytes = documents.sum::<usize>() + rest;
        self
    }

    /// The postings of a key.
    pub(crate) fn find(&self, table: usize, key: u64) -> &[Posting] {
        let postings = &self.tables[table];
        let from = postings.partition_point(|posting| posting.0 < key);
        let found = &postings[from..];
        // Most keys have few postings or none.
        let to = found.iter().take(4).position(|posting| posting.0 != key);
        &found[..to.unwrap_or_else(|| found.partition_point(|posting| posting.0 == key))]
    }

    /// The document of a number.
    pub(crate) fn get(&self, number: u32) -> Option<&Arc<StoredDocument>> {
        self.documents.get(number.checked_sub(self.first)? as usize)
    }

    /// Returns the change of a document's state.
    pub(crate) fn change(&self, number: u32) -> Option<Change> {
        let found = self.changes.binary_search_by_key(&number, |change| change.number).ok()?;
        Some(self.changes[found])
    }

    /// Returns both chunks joined; `later` is the chunk after this one.
    pub(crate) fn join(&self, later: &Chunk) -> Chunk {
        let mut documents = Vec::with_capacity(self.documents.len() + later.documents.len());
        documents.extend(self.documents.iter().chain(&later.documents).cloned());
        let inside = self.first..later.end();
        let mut changes: Vec<Change> = Vec::new();
        for change in joined(&self.changes, &later.changes) {
            match documents.get_mut(change.number.wrapping_sub(self.first) as usize) {
                Some(stored) if inside.contains(&change.number) => {
                    Arc::make_mut(stored).row.state = change.state;
                }
                _ => changes.push(change),
            }
        }
        let tables = self.tables.iter().zip(&later.tables).map(|(one, two)| merged(one, two)).collect();
        let mark = later.mark.clone().or_else(|| self.mark.clone());
        Chunk {
            first: self.first,
            documents,
            tables,
            changes,
            left_out: self.left_out + later.left_out,
            mark,
            bytes: self.bytes + later.bytes,
        }
    }
}

/// Two sorted lists in one.
fn merged(one: &[Posting], two: &[Posting]) -> Vec<Posting> {
    let mut out = Vec::with_capacity(one.len() + two.len());
    let (mut one, mut two) = (one, two);
    while let (Some(first), Some(second)) = (one.first(), two.first()) {
        let from = if second < first { &mut two } else { &mut one };
        out.push(from[0]);
        *from = &from[1..];
    }
    out.extend_from_slice(one);
    out.extend_from_slice(two);
    out
}

/// Two lists of changes in one, of which the later one counts.
fn joined(one: &[Change], two: &[Change]) -> Vec<Change> {
    let mut all: Vec<Change> = two.iter().chain(one).copied().collect();
    all.sort_by_key(|change| change.number);
    all.dedup_by_key(|change| change.number);
    all
}

/// Appends a chunk as bytes.
pub(crate) fn encode(chunk: &Chunk, out: &mut Vec<u8>) {
    put_number(out, chunk.first);
    put_number(out, chunk.documents.len() as u32);
    for stored in &chunk.documents {
        out.extend_from_slice(&stored.row.encode());
        put_bytes(out, stored.id.as_bytes());
        put_number(out, u32::from(stored.url.is_some()));
        put_bytes(out, stored.url.as_deref().unwrap_or_default().as_bytes());
        put_bytes(out, &stored.record);
        put_bytes(out, &stored.body);
    }
    put_number(out, chunk.tables.len() as u32);
    for table in &chunk.tables {
        put_number(out, table.len() as u32);
        for (key, value, tag) in table {
            out.extend_from_slice(&key.to_le_bytes());
            put_number(out, *value);
            put_number(out, *tag);
        }
    }
    put_number(out, chunk.changes.len() as u32);
    chunk.changes.iter().for_each(|change| out.extend_from_slice(&change.encode()));
    put_number(out, chunk.left_out);
    put_number(out, u32::from(chunk.mark.is_some()));
    put_bytes(out, chunk.mark.as_deref().unwrap_or_default());
}

/// Reads what [`encode`] wrote; nothing if it is no chunk.
pub(crate) fn decode(bytes: &[u8]) -> Option<Chunk> {
    let mut bytes = ByteReader(bytes);
    let mut chunk = Chunk { first: bytes.number()?, ..Chunk::default() };
    for _ in 0..bytes.number()? {
        let row = Row::decode(bytes.array()?);
        let id = bytes.text()?;
        let has_url = bytes.number()? > 0;
        let url = Some(bytes.text()?).filter(|_| has_url);
        let (record, body) = (bytes.bytes()?.to_vec(), bytes.bytes()?.to_vec());
        chunk.documents.push(Arc::new(StoredDocument { row, id, url, record, body }));
    }
    for _ in 0..bytes.number()? {
        let mut table = Vec::new();
        for _ in 0..bytes.number()? {
            let key = u64::from_le_bytes(*bytes.array()?);
            table.push((key, bytes.number()?, bytes.number()?));
        }
        chunk.tables.push(table);
    }
    for _ in 0..bytes.number()? {
        chunk.changes.push(Change::decode(bytes.array()?));
    }
    chunk.left_out = bytes.number()?;
    let marked = bytes.number()? > 0;
    chunk.mark = Some(bytes.bytes()?.to_vec()).filter(|_| marked);
    bytes.0.is_empty().then(|| chunk.with_byte_count())
}

fn put_number(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u32);
    out.extend_from_slice(bytes);
}

/// Bytes that are left to read.
struct ByteReader<'b>(&'b [u8]);

impl<'b> ByteReader<'b> {
    fn array<const N: usize>(&mut self) -> Option<&'b [u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(array)
    }

    fn number(&mut self) -> Option<u32> {
        self.array().map(|bytes| u32::from_le_bytes(*bytes))
    }

    fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = self.number()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }
}

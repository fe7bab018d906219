//! A part of the index in memory: consecutive documents, their postings, and changes of the state of earlier documents. A chunk
//! never changes; two neighbours are joined into a new one.
//!
//! The log consists of chunks, too: everything that one write added, whole or not at all.
//!
//! Tables are sorted lists of postings (key, number, tag): one for the keys of each method, then ids, words, documents
//! with the same words, and the documents that a kept one stands for.

use std::sync::{Arc, OnceLock};

use lookalike_hash as hash;

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

/// The key that an id is found by.
pub(crate) fn id_key(id: &str) -> u64 {
    hash::digest(id.as_bytes()) as u64
}

/// The key that words are found by.
pub(crate) fn word_key(digest: u128) -> u64 {
    (digest >> 64) as u64
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
    /// The fence of each table, once one is looked into.
    pub(crate) fences: OnceLock<Vec<Fence>>,
}

/// Tables of fewer postings are searched by halves alone.
const FENCED: usize = if cfg!(test) { 16 } else { 4096 };

/// Postings between two posts of a fence; up to twice as many, since the posts are a power of two.
const POSTINGS_PER_POST: usize = 4;

/// Most bytes of a posting in memory, with its share of the fence.
const POSTING_BYTES: usize = size_of::<Posting>() + size_of::<u32>() / POSTINGS_PER_POST;

/// The places in a sorted table at which keys with the next leading bits begin. Keys are hashes, so that few postings are left to be
/// looked at; a table with other keys is searched by halves between two posts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Fence {
    /// Bits that are not leading.
    shift: u32,
    /// One more than there are leading numbers; none for a small table.
    posts: Vec<u32>,
}

impl Fence {
    fn new(table: &[Posting]) -> Self {
        if table.len() < FENCED {
            return Fence::default();
        }
        let bits = (table.len() / POSTINGS_PER_POST).ilog2();
        let shift = u64::BITS - bits;
        let mut posts = vec![0u32; (1 << bits) + 1];
        for posting in table {
            posts[(posting.0 >> shift) as usize + 1] += 1;
        }
        let mut before = 0;
        for post in &mut posts {
            before += *post;
            *post = before;
        }
        Fence { shift, posts }
    }

    /// The range of places at which a key may be.
    #[inline]
    fn around(&self, key: u64, postings: usize) -> std::ops::Range<usize> {
        if self.posts.is_empty() {
            return 0..postings;
        }
        let leading = (key >> self.shift) as usize;
        self.posts[leading] as usize..self.posts[leading + 1] as usize
    }
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
        let rest = postings * POSTING_BYTES + self.changes.len() * size_of::<Change>();
        self.bytes = documents.sum::<usize>() + rest;
        self
    }

    /// The postings of a key.
    pub(crate) fn find(&self, table: usize, key: u64) -> &[Posting] {
        let postings = &self.tables[table];
        let fences = self.fences.get_or_init(|| self.tables.iter().map(|table| Fence::new(table)).collect());
        let around = fences[table].around(key, postings.len());
        let from = around.start + postings[around].partition_point(|posting| posting.0 < key);
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
            fences: OnceLock::new(),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::row::State;
    use crate::testing::{chunk, removed, stored};

    fn postings() -> impl Strategy<Value = Vec<Posting>> {
        let sorted = |mut all: Vec<Posting>| {
            all.sort_unstable();
            all
        };
        prop::collection::vec((0..6u64, 0..9u32, 0..3u32), 0..30).prop_map(sorted)
    }

    #[test]
    fn tables_of_methods_come_first() {
        let tables = Tables { tagged: vec![true, false] };
        let fixed = [tables.ids(), tables.words(), tables.members(), tables.dependents()];
        assert_eq!(fixed, [2, 3, 4, 5]);
        assert_eq!([tables.witnesses(), tables.heads(), tables.count()], [6, 7, 8]);
        let tagged: Vec<usize> = (0..9).filter(|&table| tables.is_tagged(table)).collect();
        assert_eq!(tagged, [0]);
    }

    #[test]
    fn a_chunk_ends_behind_its_last_document() {
        assert_eq!((Chunk::new(7, 0).end(), Chunk::new(7, 0).weight()), (7, 0));
        let mut two = chunk(7, &[State::Kept, State::Deleted]);
        assert_eq!((two.end(), two.weight()), (9, 2));
        two.changes.push(Change { number: 1, state: State::Kept });
        assert_eq!((two.end(), two.weight()), (9, 3), "a change is no document");
    }

    #[test]
    fn the_bytes_of_a_chunk_are_those_of_its_documents_postings_and_changes() {
        let mut chunk = Chunk::new(0, 2);
        assert_eq!(chunk.clone().with_byte_count().bytes, 0);
        // "d0", "https://site.example/0", four bytes of record, "body of 0", and 200 for the rest.
        chunk.documents.push(Arc::new(stored(0, State::Kept)));
        assert_eq!(chunk.clone().with_byte_count().bytes, 2 + 22 + 4 + 9 + 200);
        chunk.tables[1] = vec![(1, 0, 0), (2, 0, 0)];
        chunk.changes.push(Change { number: 9, state: State::Kept });
        let rest = 2 * (16 + 1) + size_of::<Change>();
        assert_eq!(chunk.with_byte_count().bytes, 237 + rest);
    }

    #[test]
    fn documents_are_found_by_number_inside_a_chunk_alone() {
        let chunk = chunk(3, &[State::Kept, State::Kept]);
        let id = |number| chunk.get(number).map(|stored| stored.id.as_str());
        assert_eq!([2, 3, 4, 5].map(id), [None, Some("d3"), Some("d4"), None]);
        assert_eq!((id(0), id(u32::MAX)), (None, None));
    }

    #[test]
    fn a_change_is_found_by_its_number() {
        let changes = [1, 4, 9].map(|number| Change { number, state: removed(number) });
        let chunk = Chunk { changes: changes.to_vec(), ..Chunk::default() };
        assert_eq!(chunk.change(4), Some(changes[1]));
        assert_eq!([0, 2, 10].map(|number| chunk.change(number)), [None; 3]);
    }

    #[test]
    fn joined_chunks_have_all_documents_and_postings_in_order() {
        let (mut one, mut two) = (chunk(0, &[State::Kept]), chunk(1, &[removed(0), State::Kept]));
        one.tables[0] = vec![(5, 0, 1), (8, 0, 0)];
        two.tables[0] = vec![(1, 1, 0), (5, 1, 0), (9, 2, 0)];
        (one.left_out, two.left_out) = (2, 3);
        let both = one.join(&two);
        assert_eq!((both.first, both.end(), both.left_out), (0, 3, 5));
        assert_eq!(both.bytes, one.bytes + two.bytes);
        assert_eq!(both.tables[0], [(1, 1, 0), (5, 0, 1), (5, 1, 0), (8, 0, 0), (9, 2, 0)]);
        let ids: Vec<&str> = both.documents.iter().map(|stored| stored.id.as_str()).collect();
        assert_eq!(ids, ["d0", "d1", "d2"]);
    }

    #[test]
    fn a_change_of_a_joined_document_becomes_its_state() {
        let one = chunk(4, &[State::Kept, State::Kept]);
        let mut two = chunk(6, &[]);
        two.changes = [3, 4].map(|number| Change { number, state: State::Deleted }).into();
        let both = one.join(&two);
        let states: Vec<State> = both.documents.iter().map(|stored| stored.row.state).collect();
        assert_eq!(states, [State::Deleted, State::Kept]);
        assert_eq!(
            both.changes,
            [Change { number: 3, state: State::Deleted }],
            "one of an earlier part stays"
        );
        assert_eq!(one.documents[0].row.state, State::Kept, "the chunk before is what it was");
    }

    #[test]
    fn of_two_changes_of_a_document_the_later_counts() {
        let change = |number, state| Change { number, state };
        let (mut one, mut two) = (Chunk::new(9, 0), Chunk::new(9, 0));
        one.changes = vec![change(1, State::Kept), change(2, State::Kept)];
        two.changes = vec![change(2, removed(0)), change(3, State::Deleted)];
        let expected = [change(1, State::Kept), change(2, removed(0)), change(3, State::Deleted)];
        assert_eq!(one.join(&two).changes, expected);
    }

    #[test]
    fn the_last_mark_of_joined_chunks_remains() {
        let marked = |mark: Option<&[u8]>| Chunk { mark: mark.map(<[u8]>::to_vec), ..Chunk::default() };
        let join = |one, two| marked(one).join(&marked(two)).mark;
        assert_eq!(join(Some(b"one"), Some(b"two")), Some(b"two".to_vec()));
        assert_eq!(join(Some(b"one"), None), Some(b"one".to_vec()));
        assert_eq!(join(None, Some(b"")), Some(Vec::new()));
        assert_eq!(join(None, None), None);
    }

    #[test]
    fn an_empty_chunk_is_seven_numbers() {
        let mut bytes = Vec::new();
        encode(&Chunk::new(258, 0), &mut bytes);
        let mut expected = [0; 28];
        expected[..2].copy_from_slice(&[2, 1]);
        assert_eq!(bytes, expected);
    }

    fn full_chunk() -> Chunk {
        let mut chunk = chunk(4, &[State::Kept, removed(4), State::DeletedLeader]);
        chunk.tables[0] = vec![(1, 4, 9), (u64::MAX, 5, u32::MAX)];
        chunk.changes = vec![Change { number: 2, state: State::Removed { witness: 4, similarity: None } }];
        (chunk.left_out, chunk.mark) = (7, Some(b"mark".to_vec()));
        chunk.with_byte_count()
    }

    #[test]
    fn a_chunk_is_read_as_it_was_written() {
        for chunk in [full_chunk(), Chunk { mark: None, ..full_chunk() }, Chunk::new(0, 3)] {
            let mut bytes = Vec::new();
            encode(&chunk, &mut bytes);
            assert_eq!(decode(&bytes), Some(chunk));
        }
    }

    #[test]
    fn an_empty_address_is_not_a_missing_one() {
        let document = StoredDocument { url: Some(String::new()), ..stored(1, State::Kept) };
        let mut bytes = Vec::new();
        encode(&Chunk { documents: vec![Arc::new(document)], ..Chunk::default() }, &mut bytes);
        assert_eq!(decode(&bytes).unwrap().documents[0].url.as_deref(), Some(""));
    }

    #[test]
    fn what_is_cut_off_or_goes_on_is_no_chunk() {
        let mut bytes = Vec::new();
        encode(&full_chunk(), &mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(decode(&bytes[..length]), None, "{length}");
        }
        bytes.push(0);
        assert_eq!(decode(&bytes), None);
    }

    #[test]
    fn an_id_that_is_no_text_is_no_chunk() {
        let mut bytes = Vec::new();
        encode(&chunk(0, &[State::Kept]), &mut bytes);
        // First number, count, row, length of the id, id.
        let id = 4 + 4 + Row::WIDTH + 4;
        assert_eq!(&bytes[id..id + 2], b"d0");
        bytes[id] = 0xff;
        assert_eq!(decode(&bytes), None);
    }

    #[test]
    fn counts_that_cannot_be_are_no_chunk() {
        assert_eq!(decode(&[0xff; 8]), None);
        let mut tables = [0; 16];
        tables[8..].fill(0xff);
        assert_eq!(decode(&tables), None);
    }

    #[test]
    fn equal_ids_have_equal_keys() {
        assert_eq!(id_key("one"), id_key(&["o", "ne"].concat()));
        let keys: std::collections::BTreeSet<u64> = ["", "one", "One", "one "].map(id_key).into();
        assert_eq!(keys.len(), 4);
    }

    #[test]
    fn words_are_found_by_the_upper_half_of_their_digest() {
        assert_eq!(word_key(5 << 64 | 7), 5);
    }

    proptest! {
        #[test]
        fn the_postings_of_a_key_are_those_that_have_it(postings in postings(), key in 0..7u64) {
            let expected: Vec<Posting> = postings.iter().copied().filter(|posting| posting.0 == key).collect();
            let chunk = Chunk { tables: vec![Vec::new(), postings], ..Chunk::default() };
            prop_assert_eq!(chunk.find(1, key), expected);
            prop_assert!(chunk.find(0, key).is_empty());
        }

        #[test]
        fn a_fence_leads_to_the_same_postings(
            keys in prop::collection::vec(prop_oneof![any::<u64>(), 0..9u64, Just(u64::MAX)], 0..400),
            other: u64,
        ) {
            let mut table: Vec<Posting> = keys.iter().enumerate().map(|(number, &key)| (key, number as u32, 0)).collect();
            table.sort_unstable();
            let chunk = Chunk { tables: vec![table.clone()], ..Chunk::default() };
            for &key in keys.iter().chain(&[other, 0, 1 << 63, u64::MAX]) {
                let expected: Vec<Posting> = table.iter().copied().filter(|posting| posting.0 == key).collect();
                prop_assert_eq!(chunk.find(0, key), expected);
            }
        }

        #[test]
        fn two_lists_are_merged_as_if_they_were_sorted_together(one in postings(), two in postings()) {
            let mut expected = [&one[..], &two[..]].concat();
            expected.sort_unstable();
            prop_assert_eq!(merged(&one, &two), expected);
        }

        #[test]
        fn no_bytes_make_a_chunk_panic(bytes in prop::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..200)) {
            if let Some(chunk) = decode(&bytes) {
                let mut again = Vec::new();
                encode(&chunk, &mut again);
                prop_assert_eq!(decode(&again), Some(chunk));
            }
        }
    }
}

//! The buffers and caches of one thread that queries an index, and the documents prepared with them.

use std::collections::HashMap;
use std::sync::Arc;

use lookalike_engine::examine::{self, Examined, Examiner};
use lookalike_engine::measure::Measured;
use lookalike_model::Document;

use crate::error::IndexError;
use crate::prepared::{KeyMatch, PreparedDocument};
use crate::row::Row;
use crate::segment::BlockBuffers;

/// Texts are compressed by this much: beyond it they shrink little and take long.
const COMPRESSION_LEVEL: i32 = 1;

/// A longer text was never written.
const LONGEST_TEXT: usize = 1 << 31;

/// Number of documents whose rows and records are cached: those of frequent keys are needed again and again.
const CACHED_ROWS: usize = if cfg!(test) { 16 } else { 32 << 10 };

/// Cache of rows and records; the slot of a document is its number modulo [`CACHED_ROWS`].
#[derive(Debug, Default)]
pub(crate) struct RowCache {
    slots: Vec<Option<Box<CachedRow>>>,
}

/// A cached row and record.
#[derive(Debug)]
pub(crate) struct CachedRow {
    number: u32,
    /// The age of the snapshot that it was read from.
    age: (u64, u64),
    pub(crate) row: Row,
    pub(crate) record: Vec<u8>,
}

impl RowCache {
    /// Returns the cached row and record of a document, if they were read from a snapshot of this age.
    pub(crate) fn get(&self, number: u32, age: (u64, u64)) -> Option<&CachedRow> {
        let slot = self.slots.get(number as usize % CACHED_ROWS)?.as_deref()?;
        (slot.age == age && slot.number == number).then_some(slot)
    }

    /// Caches the row and the record of a document, in the slot of another one.
    pub(crate) fn put(&mut self, number: u32, age: (u64, u64), row: Row, record: &[u8]) {
        if self.slots.is_empty() {
            self.slots.resize_with(CACHED_ROWS, || None);
        }
        let slot = &mut self.slots[number as usize % CACHED_ROWS];
        match slot {
            Some(cached) => {
                (cached.number, cached.age, cached.row) = (number, age, row);
                cached.record.clear();
                cached.record.extend_from_slice(record);
            }
            None => *slot = Some(Box::new(CachedRow { number, age, row, record: record.to_vec() })),
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
    }
}

/// Cache of the prepared texts of the documents compared last: pages of one template are compared with each other again and again,
/// and preparing a text takes a hundred times as long as comparing it.
#[derive(Debug, Default)]
pub(crate) struct PreparedTextCache {
    /// Those used since the last eviction.
    young: HashMap<u32, Arc<[u64]>>,
    /// Those that the next eviction drops.
    old: HashMap<u32, Arc<[u64]>>,
    /// Bytes of the young ones.
    young_bytes: usize,
}

/// Bytes that the prepared texts of a thread take at most.
const PREPARED_TEXT_BYTES: usize = if cfg!(test) { 64 << 10 } else { 8 << 20 };

impl PreparedTextCache {
    /// The prepared text of a document, if it is there.
    pub(crate) fn get(&mut self, number: u32) -> Option<Arc<[u64]>> {
        if let Some(set) = self.young.get(&number) {
            return Some(set.clone());
        }
        let set = self.old.remove(&number)?;
        self.put(number, set.clone());
        Some(set)
    }

    pub(crate) fn put(&mut self, number: u32, set: Arc<[u64]>) {
        // Beside its values an entry takes about so much.
        let bytes = set.len() * 8 + 64;
        if bytes > PREPARED_TEXT_BYTES / 4 {
            return;
        }
        if self.young_bytes + bytes > PREPARED_TEXT_BYTES / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += bytes;
        self.young.insert(number, set);
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        *self = PreparedTextCache::default();
    }
}

/// Buffers and caches of one thread.
pub struct QueryBuffers {
    pub(crate) engine: examine::ExamineBuffers,
    pub(crate) blocks: BlockBuffers,
    pub(crate) bytes: Vec<u8>,
    pub(crate) record: Vec<u8>,
    pub(crate) matches: Vec<KeyMatch>,
    pub(crate) rows: RowCache,
    pub(crate) texts: PreparedTextCache,
    compressor: zstd::bulk::Compressor<'static>,
    decompressor: zstd::bulk::Decompressor<'static>,
    keeps_text: bool,
}

impl std::fmt::Debug for QueryBuffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("QueryBuffers")
    }
}

impl QueryBuffers {
    /// Returns the approximate bytes of memory that it takes, with records of this width.
    pub(crate) fn memory(record: usize) -> u64 {
        (CACHED_ROWS * (record + size_of::<CachedRow>() + 32) + PREPARED_TEXT_BYTES + (4 << 20)) as u64
    }

    pub(crate) fn new(examiner: &Examiner, keeps_text: bool) -> Result<Self, IndexError> {
        let failed = |error| IndexError::Request(format!("texts cannot be compressed: {error}"));
        Ok(QueryBuffers {
            engine: examine::ExamineBuffers::new(examiner),
            blocks: BlockBuffers::default(),
            bytes: Vec::new(),
            record: Vec::new(),
            matches: Vec::new(),
            rows: RowCache::default(),
            texts: PreparedTextCache::default(),
            compressor: zstd::bulk::Compressor::new(COMPRESSION_LEVEL).map_err(failed)?,
            decompressor: zstd::bulk::Decompressor::new().map_err(failed)?,
            keeps_text,
        })
    }

    /// True when texts are kept.
    pub(crate) fn keeps_text(&self) -> bool {
        self.keeps_text
    }

    /// Examines a document. An error says why a method cannot read it.
    pub fn document(
        &mut self,
        examiner: &Examiner,
        document: &Document<'_>,
    ) -> Result<PreparedDocument, String> {
        let examined = self.engine.document(examiner, document)?;
        let url = document.url.map(str::to_owned);
        self.prepared(document.id.to_owned(), url, examined)
    }

    /// Examines a text that was extracted.
    pub fn text(&mut self, examiner: &Examiner, text: String) -> Result<PreparedDocument, String> {
        let examined = self.engine.text(examiner, text)?;
        self.prepared(String::new(), None, examined)
    }

    /// A document that was examined for another index of the same recipe, as this one keeps it: by its own secret.
    pub fn reexamine(
        &mut self,
        examiner: &Examiner,
        prepared: PreparedDocument,
    ) -> Result<PreparedDocument, String> {
        let examined = self.engine.text(examiner, prepared.examined.text)?;
        self.prepared(prepared.id, prepared.url, examined)
    }

    pub(crate) fn prepared(
        &mut self,
        id: String,
        url: Option<String>,
        examined: Examined,
    ) -> Result<PreparedDocument, String> {
        let body = if self.keeps_text {
            let compressed = self.compressor.compress(examined.text.as_bytes());
            compressed.map_err(|error| format!("its text cannot be compressed: {error}"))?
        } else {
            examined.symbols.iter().flat_map(|symbol| symbol.to_le_bytes()).collect()
        };
        Ok(PreparedDocument { id, url, examined, body, candidates: None, answer: None })
    }

    /// The text of a body.
    pub(crate) fn text_of(&mut self, body: &[u8], length: usize) -> Result<String, IndexError> {
        let broken = |what: String| IndexError::Request(format!("a text cannot be read back: {what}"));
        if length > LONGEST_TEXT {
            return Err(broken(format!("it is said to have {length} bytes")));
        }
        let text = self.decompressor.decompress(body, length).map_err(|error| broken(error.to_string()))?;
        String::from_utf8(text).map_err(|error| broken(error.to_string()))
    }

    /// Returns the prepared form in which the document of a body is compared.
    pub(crate) fn set_of(
        &mut self,
        examiner: &Examiner,
        body: &[u8],
        length: usize,
    ) -> Result<Vec<u64>, IndexError> {
        if self.keeps_text {
            let text = self.text_of(body, length)?;
            return Ok(self.engine.prepare_text(examiner, &text));
        }
        let symbols: Vec<u64> = body.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        Ok(self.engine.prepare(examiner, &symbols))
    }
}

/// A document that is compared with many.
pub(crate) struct Subject<'s> {
    pub(crate) examined: &'s Examined,
    /// Its prepared form, once it was needed.
    set: Option<Vec<u64>>,
}

impl<'s> Subject<'s> {
    pub(crate) fn new(examined: &'s Examined) -> Self {
        Subject { examined, set: None }
    }

    /// Measures its similarity to the document with the prepared form `other`; none if it is below the threshold.
    pub(crate) fn compare(
        &mut self,
        examiner: &Examiner,
        buffers: &mut examine::ExamineBuffers,
        other: &[u64],
    ) -> Option<Measured> {
        let set = self.set.get_or_insert_with(|| buffers.prepare(examiner, &self.examined.symbols));
        let measure = examiner.measure();
        // As the other one is there first: what is measured is then turned.
        measure.compare(other, set, measure.threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::State;
    use crate::testing::{SmallIndex, recipe, stored};

    fn set(values: usize) -> Arc<[u64]> {
        vec![7; values].into()
    }

    /// The number of values of a set that takes a quarter of the cache.
    const QUARTER: usize = (PREPARED_TEXT_BYTES / 4 - 64) / 8;

    #[test]
    fn a_row_is_cached_for_snapshots_of_one_age() {
        let (mut cache, row) = (RowCache::default(), stored(3, State::Kept).row);
        assert!(cache.get(3, (0, 0)).is_none());
        cache.put(3, (1, 2), row, b"record");
        let cached = cache.get(3, (1, 2)).unwrap();
        assert_eq!((cached.row, &cached.record[..]), (row, &b"record"[..]));
        assert!([(0, 2), (1, 1), (2, 1)].iter().all(|&age| cache.get(3, age).is_none()));
        cache.clear();
        assert!(cache.get(3, (1, 2)).is_none());
    }

    #[test]
    fn a_row_takes_the_slot_of_another() {
        let mut cache = RowCache::default();
        let (one, two) = (3, 3 + CACHED_ROWS as u32);
        cache.put(one, (0, 0), stored(one, State::Kept).row, b"a long record");
        cache.put(4, (0, 0), stored(4, State::Kept).row, b"beside");
        assert!(cache.get(two, (0, 0)).is_none(), "one slot, two documents");
        cache.put(two, (0, 0), stored(two, State::Deleted).row, b"");
        assert!(cache.get(one, (0, 0)).is_none());
        let cached = cache.get(two, (0, 0)).unwrap();
        assert_eq!((cached.row.state, cached.record.len()), (State::Deleted, 0));
        assert_eq!(cache.get(4, (0, 0)).unwrap().record, b"beside");
    }

    /// The texts of a cache, which are not used by that.
    fn cached(cache: &PreparedTextCache) -> Vec<u32> {
        let mut numbers: Vec<u32> = cache.young.keys().chain(cache.old.keys()).copied().collect();
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn a_prepared_text_is_cached_until_others_take_its_room() {
        let mut cache = PreparedTextCache::default();
        assert!(cache.get(0).is_none());
        // Two fill the young half; the third makes them old, the fifth drops them.
        for number in 0..4 {
            cache.put(number, set(QUARTER));
        }
        assert_eq!((cache.young.len(), cache.old.len()), (2, 2));
        cache.put(4, set(QUARTER));
        assert_eq!(cached(&cache), [2, 3, 4]);
        cache.clear();
        assert!(cached(&cache).is_empty());
    }

    #[test]
    fn a_prepared_text_that_is_used_stays() {
        let mut cache = PreparedTextCache::default();
        for number in 0..20 {
            cache.put(number, set(QUARTER));
            assert_eq!(cache.get(0).as_deref(), Some(&*set(QUARTER)), "{number}");
        }
    }

    #[test]
    fn a_prepared_text_that_is_too_long_is_not_cached() {
        let mut cache = PreparedTextCache::default();
        cache.put(1, set(QUARTER));
        cache.put(2, set(QUARTER + 1));
        assert!(cache.get(1).is_some() && cache.get(2).is_none());
    }

    #[test]
    fn the_memory_of_buffers_grows_with_the_records() {
        let bytes = QueryBuffers::memory(0);
        assert_eq!(QueryBuffers::memory(100) - bytes, 100 * CACHED_ROWS as u64);
        assert!(bytes > PREPARED_TEXT_BYTES as u64);
    }

    #[test]
    fn a_document_is_prepared_with_its_names_and_words() {
        let mut small = SmallIndex::new();
        let document = Document::from_text(
            "x",
            Some("https://site.example/x"),
            lookalike_model::Media::Text,
            "One two, two!",
        );
        let prepared = small.buffers.document(small.index.examiner(), &document).unwrap();
        assert_eq!((&prepared.id[..], prepared.url.as_deref()), ("x", Some("https://site.example/x")));
        assert_eq!((prepared.text(), prepared.words()), ("One two, two!", 3));
        assert!(prepared.answer.is_none() && prepared.candidates.is_none());
        let same = small.buffers.text(small.index.examiner(), "One two, two!".to_owned()).unwrap();
        assert_eq!((&same.id[..], same.url, same.examined), ("", None, prepared.examined));
    }

    #[test]
    fn a_kept_text_is_read_back() {
        let mut small = SmallIndex::new();
        for text in ["", "a", "Grüße, 世界!", &"again and again ".repeat(1_000)] {
            let prepared = small.prepared("x", text);
            assert_eq!(small.buffers.text_of(&prepared.body, text.len()).unwrap(), text);
        }
    }

    #[test]
    fn a_text_that_cannot_be_read_back_is_an_error() {
        let mut small = SmallIndex::new();
        let body = small.prepared("x", "some words of a text").body;
        let mut sentence = |body: &[u8], length| small.buffers.text_of(body, length).unwrap_err().to_string();
        let wanted = "a text cannot be read back: it is said to have 2147483649 bytes";
        assert_eq!(sentence(&body, LONGEST_TEXT + 1), wanted);
        for (body, length) in [(&body[..], 3), (&body[..body.len() - 1], 20), (&b"no text"[..], 20)] {
            let sentence = sentence(body, length);
            assert!(sentence.starts_with("a text cannot be read back: "), "{sentence}");
        }
        let bytes = zstd::bulk::compress(b"\xff\xfe", 1).unwrap();
        assert!(sentence(&bytes, 2).contains("utf-8"), "{}", sentence(&bytes, 2));
    }

    #[test]
    fn with_and_without_texts_a_document_is_compared_in_one_form() {
        for text in [true, false] {
            let mut small = SmallIndex::with(recipe(), text);
            assert_eq!(small.buffers.keeps_text(), text);
            let prepared = small.prepared("x", "c a b a");
            let examiner = small.index.examiner();
            let set = small.buffers.set_of(examiner, &prepared.body, prepared.text().len()).unwrap();
            assert_eq!(set, small.buffers.engine.prepare(examiner, &prepared.examined.symbols));
            let other = small.buffers.text(examiner, "b b c a".to_owned()).unwrap();
            let measured = Subject::new(&other.examined).compare(examiner, &mut small.buffers.engine, &set);
            assert_eq!(measured.unwrap().forward, 1.0, "both are the words a, b and c");
        }
    }

    #[test]
    fn a_subject_is_measured_and_too_far_ones_are_not() {
        let mut small = SmallIndex::new();
        let examined = small.prepared("x", "a b c d").examined;
        let examiner = small.index.examiner();
        let mut subject = Subject::new(&examined);
        let mut forward = |text: &str| {
            let set = small.buffers.engine.prepare_text(examiner, text);
            subject.compare(examiner, &mut small.buffers.engine, &set).map(|measured| measured.forward)
        };
        assert_eq!(
            [forward("a b c d"), forward("a b c e"), forward("a b e f")],
            [Some(1.0), Some(0.6), None]
        );
    }

    #[test]
    fn a_document_of_another_index_is_examined_by_the_secret_of_this_one() {
        let (mut one, mut two) = (SmallIndex::new(), SmallIndex::new());
        let prepared = one.prepared("x", "a b c");
        let again = two.buffers.reexamine(two.index.examiner(), prepared.clone()).unwrap();
        assert_ne!(again.examined.digest, prepared.examined.digest);
        assert_eq!(again.examined, two.prepared("x", "a b c").examined);
        assert_eq!((again.id, again.body), (prepared.id, prepared.body));
    }
}

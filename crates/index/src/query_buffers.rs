//! The buffers and caches of one thread that queries an index, and the documents prepared with them.

use std::collections::HashMap;
use std::sync::Arc;

use lookalike_engine::examine::{self, Examined, Examiner};
use lookalike_engine::measure::Measured;
use lookalike_model::Document;

use crate::answer::Answer;
use crate::candidates::{Candidates, KeyMatch};
use crate::error::IndexError;
use crate::row::Row;
use crate::segment::BlockBuffers;

/// Texts are compressed by this much: beyond it they shrink little and take long.
const COMPRESSION_LEVEL: i32 = 1;

/// A longer text was never written.
const LONGEST_TEXT: usize = 1 << 31;

/// A document that was examined, and is ready to be asked about or added.
#[derive(Debug, Clone, Default)]
pub struct PreparedDocument {
    /// Its id.
    pub id: String,
    /// Its address.
    pub url: Option<String>,
    /// Its near-duplicates, where they were asked for.
    pub answer: Option<Answer>,
    pub(crate) examined: Examined,
    pub(crate) body: Vec<u8>,
    /// The result of looking it up ahead of being added.
    pub(crate) candidates: Option<Candidates>,
}

impl PreparedDocument {
    /// Its text as it was extracted.
    pub fn text(&self) -> &str {
        &self.examined.text
    }

    /// Number of its words.
    pub fn words(&self) -> u32 {
        self.examined.words
    }
}

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

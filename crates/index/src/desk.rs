//! The buffers and caches of one thread that queries an index, and the documents prepared with them.

use std::collections::HashMap;
use std::sync::Arc;

use lookalike_engine::examine::{self, Examined, Examiner};
use lookalike_engine::measure::Measured;
use lookalike_model::Document;

use crate::answer::Answer;
use crate::error::IndexError;
use crate::near::{Found, Meeting};
use crate::row::Row;
use crate::segment::Room;

/// Texts are compressed by this much: beyond it they shrink little and take long.
const LEVEL: i32 = 1;

/// A longer text was never written.
const LONGEST_TEXT: usize = 1 << 31;

/// A document that was examined, and is ready to be asked about or added.
#[derive(Debug, Clone, Default)]
pub struct Prepared {
    /// Its id.
    pub id: String,
    /// Its address.
    pub url: Option<String>,
    /// Its near-duplicates, where they were asked for.
    pub answer: Option<Answer>,
    pub(crate) examined: Examined,
    pub(crate) body: Vec<u8>,
    /// The result of looking it up ahead of being added.
    pub(crate) found: Option<Found>,
}

impl Prepared {
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
const SIGHTS: usize = if cfg!(test) { 16 } else { 32 << 10 };

/// Cache of rows and records; the slot of a document is its number modulo [`SIGHTS`].
#[derive(Debug, Default)]
pub(crate) struct Sights {
    slots: Vec<Option<Box<Sight>>>,
}

/// A cached row and record.
#[derive(Debug)]
pub(crate) struct Sight {
    number: u32,
    /// The age of the snapshot that it was read from.
    age: (u64, u64),
    pub(crate) row: Row,
    pub(crate) record: Vec<u8>,
}

impl Sights {
    /// Returns the cached row and record of a document, if they were read from a snapshot of this age.
    pub(crate) fn get(&self, number: u32, age: (u64, u64)) -> Option<&Sight> {
        let slot = self.slots.get(number as usize % SIGHTS)?.as_deref()?;
        (slot.age == age && slot.number == number).then_some(slot)
    }

    /// Caches the row and the record of a document, in the slot of another one.
    pub(crate) fn put(&mut self, number: u32, age: (u64, u64), row: Row, record: &[u8]) {
        if self.slots.is_empty() {
            self.slots.resize_with(SIGHTS, || None);
        }
        let slot = &mut self.slots[number as usize % SIGHTS];
        match slot {
            Some(sight) => {
                (sight.number, sight.age, sight.row) = (number, age, row);
                sight.record.clear();
                sight.record.extend_from_slice(record);
            }
            None => *slot = Some(Box::new(Sight { number, age, row, record: record.to_vec() })),
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
pub(crate) struct Sets {
    /// Those used since the last eviction.
    young: HashMap<u32, Arc<[u64]>>,
    /// Those that the next eviction drops.
    old: HashMap<u32, Arc<[u64]>>,
    /// Bytes of the young ones.
    held: usize,
}

/// Bytes that the sets of a desk take at most.
const SETS: usize = if cfg!(test) { 64 << 10 } else { 8 << 20 };

impl Sets {
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
        if bytes > SETS / 4 {
            return;
        }
        if self.held + bytes > SETS / 2 {
            self.old = std::mem::take(&mut self.young);
            self.held = 0;
        }
        self.held += bytes;
        self.young.insert(number, set);
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        *self = Sets::default();
    }
}

/// Buffers and caches of one thread.
pub struct Desk {
    pub(crate) engine: examine::Desk,
    pub(crate) room: Room,
    pub(crate) bytes: Vec<u8>,
    pub(crate) record: Vec<u8>,
    pub(crate) meetings: Vec<Meeting>,
    pub(crate) sights: Sights,
    pub(crate) sets: Sets,
    compressor: zstd::bulk::Compressor<'static>,
    decompressor: zstd::bulk::Decompressor<'static>,
    keeps_text: bool,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Desk")
    }
}

impl Desk {
    /// Returns the approximate bytes of memory that it takes, with records of this width.
    pub(crate) fn memory(record: usize) -> u64 {
        (SIGHTS * (record + size_of::<Sight>() + 32) + SETS + (4 << 20)) as u64
    }

    pub(crate) fn new(examiner: &Examiner, keeps_text: bool) -> Result<Self, IndexError> {
        let failed = |error| IndexError::Request(format!("texts cannot be compressed: {error}"));
        Ok(Desk {
            engine: examine::Desk::new(examiner),
            room: Room::default(),
            bytes: Vec::new(),
            record: Vec::new(),
            meetings: Vec::new(),
            sights: Sights::default(),
            sets: Sets::default(),
            compressor: zstd::bulk::Compressor::new(LEVEL).map_err(failed)?,
            decompressor: zstd::bulk::Decompressor::new().map_err(failed)?,
            keeps_text,
        })
    }

    /// True when texts are kept.
    pub(crate) fn keeps_text(&self) -> bool {
        self.keeps_text
    }

    /// Examines a document. An error says why a method cannot read it.
    pub fn document(&mut self, examiner: &Examiner, document: &Document<'_>) -> Result<Prepared, String> {
        let examined = self.engine.document(examiner, document)?;
        let url = document.url.map(str::to_owned);
        self.prepared(document.id.to_owned(), url, examined)
    }

    /// Examines a text that was extracted.
    pub fn text(&mut self, examiner: &Examiner, text: String) -> Result<Prepared, String> {
        let examined = self.engine.text(examiner, text)?;
        self.prepared(String::new(), None, examined)
    }

    /// A document that was examined for another index of the same recipe, as this one keeps it: by its own secret.
    pub fn adopt(&mut self, examiner: &Examiner, prepared: Prepared) -> Result<Prepared, String> {
        let examined = self.engine.text(examiner, prepared.examined.text)?;
        self.prepared(prepared.id, prepared.url, examined)
    }

    pub(crate) fn prepared(
        &mut self,
        id: String,
        url: Option<String>,
        examined: Examined,
    ) -> Result<Prepared, String> {
        let body = if self.keeps_text {
            let compressed = self.compressor.compress(examined.text.as_bytes());
            compressed.map_err(|error| format!("its text cannot be compressed: {error}"))?
        } else {
            examined.symbols.iter().flat_map(|symbol| symbol.to_le_bytes()).collect()
        };
        Ok(Prepared { id, url, examined, body, found: None, answer: None })
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
        desk: &mut examine::Desk,
        other: &[u64],
    ) -> Option<Measured> {
        let set = self.set.get_or_insert_with(|| desk.prepare(examiner, &self.examined.symbols));
        let measure = examiner.measure();
        // As the other one is there first: what is measured is then turned.
        measure.compare(other, set, measure.threshold)
    }
}

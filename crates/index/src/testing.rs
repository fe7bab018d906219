//! Helpers that the tests of all modules share: documents and chunks made by hand, and a small index.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use lookalike_engine::recipe::{ReadSettings, Task};
use lookalike_engine::walk::Watch;
use lookalike_engine::{JobRecipe, Settings, Spool};
use lookalike_methods::{Setting, method};
use lookalike_model::{Document, Media};
use tempfile::TempDir;

use crate::chunk::{Chunk, StoredDocument, Tables, id_key};
use crate::index::{CreateOptions, Index, Mode};
use crate::part::Part;
use crate::prepared::PreparedDocument;
use crate::query_buffers::QueryBuffers;
use crate::row::{ABSENT, Row, State};
use crate::segment::{IndexLayout, Segment};
use crate::segment_writer;
use crate::writer::{OnExistingId, Verdict, WriterOptions};

/// Bytes of a record made by hand.
const RECORD: usize = 4;

/// The state of a document that was removed for `witness`.
pub(crate) fn removed(witness: u32) -> State {
    State::Removed { witness, similarity: Some(0.75) }
}

/// The document `d<number>`, which has words of its own, and an address if its number is even.
pub(crate) fn stored(number: u32, state: State) -> StoredDocument {
    let id = format!("d{number}");
    let url = number.is_multiple_of(2).then(|| format!("https://site.example/{number}"));
    let body = format!("body of {number}").into_bytes();
    let row = Row {
        words: 5,
        text: 9,
        digest: u128::from(number) << 64 | 7,
        leader: number,
        state,
        names: 0,
        id: id.len() as u32,
        url: url.as_ref().map_or(ABSENT, |url| url.len() as u32),
        body: 0,
        body_bytes: body.len() as u32,
        record: 0,
    };
    StoredDocument { row, id, url, record: number.to_le_bytes().to_vec(), body }
}

/// The tables of a method with tags and of one without.
pub(crate) fn tables() -> Tables {
    Tables { tagged: vec![true, false] }
}

/// Documents from `first` on in these states, which are found by their ids.
pub(crate) fn chunk(first: u32, states: &[State]) -> Chunk {
    let tables = tables();
    let mut chunk = Chunk::new(first, tables.count());
    for (number, &state) in (first..).zip(states) {
        let stored = stored(number, state);
        chunk.tables[tables.ids()].push((id_key(&stored.id), number, 0));
        chunk.documents.push(Arc::new(stored));
    }
    chunk.tables[tables.ids()].sort_unstable();
    chunk.with_byte_count()
}

/// A part in memory.
pub(crate) fn memory(chunk: Chunk) -> Part {
    Part::Memory(Arc::new(chunk))
}

/// The layout of an index in a folder, with room for filters.
pub(crate) fn layout(folder: &Path) -> IndexLayout {
    let filters = Arc::new(AtomicU64::new(1 << 20));
    IndexLayout { folder: folder.to_owned(), stamp: 11, tables: tables(), record: RECORD, filters }
}

/// Writes parts as a segment and opens it.
pub(crate) fn segment(layout: &IndexLayout, id: u64, parts: &[Part]) -> Segment {
    segment_writer::write(layout, id, parts).unwrap();
    let range = parts[0].range().start..parts[parts.len() - 1].range().end;
    Segment::open(layout, id, range).unwrap()
}

/// The recipe of an index to which documents are sets of words, near from a Jaccard similarity of 0.6 on. Each of the 64 keys of two
/// documents is equal with the probability of that similarity, so near ones are always proposed.
pub(crate) fn recipe() -> JobRecipe {
    let setting = Setting { threshold: "0.6".parse().unwrap(), shingle: 1, ..Setting::default() };
    let spec = "minhash:values=64,bands=64,rows=1,family=classic";
    JobRecipe {
        methods: vec![method(spec, &setting).unwrap().recipe()],
        threshold: "0.6".to_owned(),
        shingle: 1,
        reading: ReadSettings { max_document_bytes: 1 << 20, ..ReadSettings::default() },
        ..JobRecipe::simplest(Task::Dedup)
    }
}

/// Settings of the engine for small inputs.
pub(crate) fn settings() -> Settings {
    Settings { threads: 1, memory: 1 << 30, spool: Spool::Disk }
}

/// The settings of a new index.
pub(crate) fn options(recipe: JobRecipe, settings: &Settings, text: bool) -> CreateOptions<'_> {
    CreateOptions { recipe, text, lexicon: None, learn: None, settings }
}

/// The access of a writer that keeps small documents in memory until it is told to put them on disk.
pub(crate) fn writing() -> Mode {
    Mode::Write(WriterOptions { sync: false, tail_bytes: 1 << 20 })
}

/// An index in a folder of its own, open for writing.
pub(crate) struct SmallIndex {
    pub(crate) index: Index,
    pub(crate) buffers: QueryBuffers,
    pub(crate) folder: TempDir,
}

impl SmallIndex {
    /// A new index of [`recipe`] that keeps texts.
    pub(crate) fn new() -> Self {
        SmallIndex::with(recipe(), true)
    }

    /// A new index.
    pub(crate) fn with(recipe: JobRecipe, text: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Index::create(folder.path(), options(recipe, &settings(), text), &Watch::default()).unwrap();
        SmallIndex::open(folder)
    }

    /// A new index with the documents `d0`, `d1` and so on.
    pub(crate) fn of(texts: &[&str]) -> Self {
        let mut small = SmallIndex::new();
        for (number, text) in texts.iter().enumerate() {
            small.add(&format!("d{number}"), text);
        }
        small
    }

    fn open(folder: TempDir) -> Self {
        let index = Index::open_within(folder.path(), writing(), &settings()).unwrap();
        let buffers = index.buffers().unwrap();
        SmallIndex { index, buffers, folder }
    }

    /// The same index, closed and opened again.
    pub(crate) fn reopened(self) -> Self {
        self.index.close().unwrap();
        SmallIndex::open(self.folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A document ready to be added.
    pub(crate) fn prepared(&mut self, id: &str, text: &str) -> PreparedDocument {
        let document = Document::from_text(id, None, Media::Text, text);
        self.buffers.document(self.index.examiner(), &document).unwrap()
    }

    /// Adds a document, whatever its id, and returns its state.
    pub(crate) fn add(&mut self, id: &str, text: &str) -> State {
        match self.verdict(id, text, OnExistingId::Both) {
            Verdict::Added { state, .. } => state,
            verdict => panic!("{verdict:?}"),
        }
    }

    /// Adds a document and returns the verdict.
    pub(crate) fn verdict(&mut self, id: &str, text: &str, on_existing: OnExistingId) -> Verdict {
        let prepared = self.prepared(id, text);
        self.index.add(vec![prepared], on_existing).unwrap().remove(0)
    }

    /// The state of a document.
    pub(crate) fn state(&mut self, number: u32) -> State {
        self.index.inner.now().row(number, &mut self.buffers.blocks).unwrap().state
    }

    /// The faults that a check finds.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.index.check(&mut self.index.buffers().unwrap()).unwrap().wrong
    }
}

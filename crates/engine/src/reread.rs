//! Documents read again, each from where it stands: in its shard, or in the spool.
//!
//! JSON lines in files that are not compressed, and tables in memory, need no spool: a row says where its document
//! stands, candidates are read again from there, and a digest in the row tells whether a document is still what it was.
//! Texts of other input are spooled when they are sketched, and read from there; words are found in a text faster than the
//! words of all texts could be written down. `--spool disk` and `--spool none` decide for all input alike.

use std::sync::{Mutex, PoisonError};

use lookalike_corpus::{BytesAt, Corpus, Rows};
use lookalike_model::{DocNumber, InputPlace};
use lookalike_store::file::Run;

use crate::catalogue::{Catalogue, Lookup, ShardView};
use crate::context::Context;
use crate::error::EngineError;
use crate::gather::input_changed;
use crate::pipeline::{self, HEAVY};
use crate::stages::order::PlaceMap;
use crate::stages::sketch::{self, DocumentSource, Row, SketchWorker, UnitMeta};

/// Lines with no more between them than this are read together.
const MAX_GAP: u64 = 8 << 10;

/// Most bytes that are read together, unless one line is longer.
const MAX_READ: u64 = 256 << 10;

/// All shards, and the lock that is held while a large document is read.
pub(crate) struct ShardReaders<'c> {
    ctx: &'c Context<'c>,
    catalogue: &'c Catalogue,
    shards: Vec<ShardView<'c>>,
    heavy: Mutex<()>,
}

impl<'c> ShardReaders<'c> {
    pub(crate) fn new(ctx: &'c Context<'c>, catalogue: &'c Catalogue) -> Self {
        ShardReaders { ctx, catalogue, shards: catalogue.shards(ctx), heavy: Mutex::new(()) }
    }

    /// True when every document can be read again by where it stands.
    pub(crate) fn is_random_access(catalogue: &Catalogue) -> bool {
        catalogue.units().iter().all(UnitMeta::is_random_access)
    }
}

/// Reads documents again.
pub(crate) struct Rereader<'s> {
    readers: &'s ShardReaders<'s>,
    pub(crate) lookup: Lookup<'s>,
    /// Opened on first use.
    places: Option<PlaceMap>,
    /// For the input, and for the corpus that it is compared with.
    workers: [Option<SketchWorker>; 2],
    open: Option<(SourceId, OpenSource)>,
    bytes: Vec<u8>,
    /// For whole blocks of a spool.
    blocks: Vec<u8>,
}

/// Names a source of documents, of which one at a time is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SourceId {
    /// A shard, by its number.
    Shard(usize),
    /// The spool of a unit.
    Spool(usize),
}

/// A source that is open to be read from anywhere.
enum OpenSource {
    Bytes(BytesAt),
    Rows(Rows),
    Spool(Run),
}

/// Takes a document with its row, its source, and a worker to read it with.
type DocumentSink<'t> =
    &'t mut dyn FnMut(&mut SketchWorker, DocNumber, &Row, DocumentSource<'_>) -> Result<(), EngineError>;

impl<'s> Rereader<'s> {
    pub(crate) fn new(readers: &'s ShardReaders<'s>) -> Self {
        Rereader {
            readers,
            lookup: Lookup::new(readers.ctx, readers.catalogue),
            places: None,
            workers: [None, None],
            open: None,
            bytes: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// True when a document can be read again by where it stands. Of a corpus that others are compared with, the spool has only the
    /// documents that may be near one of them.
    pub(crate) fn has(&mut self, document: DocNumber) -> Result<bool, EngineError> {
        let place = self.places()?.place(document)?;
        let unit = &self.readers.catalogue.units()[self.readers.catalogue.unit_at(place)];
        Ok(unit.seekable || unit.spooled && self.lookup.row(document)?.length > 0)
    }

    fn places(&mut self) -> Result<&mut PlaceMap, EngineError> {
        match &mut self.places {
            Some(places) => Ok(places),
            none => Ok(none.insert(PlaceMap::open(self.readers.ctx)?)),
        }
    }

    /// Hands over what each of `documents` is measured by, in the order of the input.
    pub(crate) fn read(
        &mut self,
        documents: &[DocNumber],
        mut take: impl FnMut(DocNumber, &[u64]),
    ) -> Result<(), EngineError> {
        let ctx = self.readers.ctx;
        self.documents(documents, |worker, document, row, source| {
            let same = worker.reread_document(ctx, source, row.digest, |symbols| take(document, symbols));
            if same { Ok(()) } else { Err(input_changed(ctx)) }
        })
    }

    /// Hands over `documents`, which are in order, each with its row, its source and a worker to read it with: in the order
    /// of the input. Those that the spool does not keep are left out.
    pub(crate) fn documents(
        &mut self,
        documents: &[DocNumber],
        mut take: impl FnMut(&mut SketchWorker, DocNumber, &Row, DocumentSource<'_>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let placed = self.places()?.of(documents)?;
        let mut rest = placed.as_slice();
        let mut rows: Vec<Row> = Vec::new();
        while let Some(&(first, _)) = rest.first() {
            let shard = self.readers.shards.partition_point(|view| view.first <= first) - 1;
            let end = self.open(shard)?;
            if let Some((_, OpenSource::Rows(rows))) = &self.open {
                let rows = rows.clone();
                let (now, later) = rest.split_at(rest.partition_point(|&(place, _)| place < end));
                self.read_rows(shard, now, &rows, &mut take)?;
                rest = later;
                continue;
            }
            rows.clear();
            for &(_, document) in rest.iter().take_while(|&&(place, _)| place < end) {
                let row = self.lookup.row(document)?;
                if rows.last().is_some_and(|last| !can_join(last, &row, rows[0].position)) {
                    break;
                }
                rows.push(row);
            }
            let (now, later) = rest.split_at(rows.len());
            // Of a text that the spool does not keep nothing is read, least of all the text behind it.
            if rows[0].length > 0 || !matches!(self.open, Some((SourceId::Spool(_), _))) {
                self.read_together(shard, now, &rows, &mut take)?;
            }
            rest = later;
        }
        Ok(())
    }

    /// Opens the source that has the documents of a shard, unless it is open; returns the place behind its last document.
    fn open(&mut self, shard: usize) -> Result<InputPlace, EngineError> {
        let ShardReaders { ctx, catalogue, shards, .. } = self.readers;
        let (view, unit) = (&shards[shard], shards[shard].sketch_unit);
        let spooled = catalogue.units()[unit].spooled;
        let source = if spooled { SourceId::Spool(unit) } else { SourceId::Shard(shard) };
        if self.open.as_ref().is_none_or(|(open, _)| *open != source) {
            let open = if spooled {
                OpenSource::Spool(sketch::open_texts(ctx, unit)?)
            } else if let Some(rows) = view.shard.rows(corpus(ctx, view.reference).options())? {
                OpenSource::Rows(rows)
            } else {
                OpenSource::Bytes(view.shard.bytes_at()?)
            };
            self.open = Some((source, open));
        }
        Ok(if spooled { InputPlace::new(catalogue.base(unit + 1)) } else { view.end() })
    }

    /// Reads rows of a table.
    fn read_rows(
        &mut self,
        shard: usize,
        documents: &[(InputPlace, DocNumber)],
        rows: &Rows,
        take: DocumentSink<'_>,
    ) -> Result<(), EngineError> {
        let ctx = self.readers.ctx;
        let worker = worker(&mut self.workers, ctx, self.readers.shards[shard].reference);
        for &(_, document) in documents {
            let row = self.lookup.row(document)?;
            let heavy = row.text as usize >= HEAVY;
            let _turn = heavy.then(|| self.readers.heavy.lock().unwrap_or_else(PoisonError::into_inner));
            if heavy {
                let weight = pipeline::weight_of(row.text as usize, row.words as usize);
                ctx.budget.admit_document(weight as u64)?;
            }
            take(worker, document, &row, DocumentSource::Row(rows, row.position as usize))?;
            if heavy {
                worker.tidy(ctx);
            }
        }
        Ok(())
    }

    /// Reads lines, or texts of a spool, that stand close together.
    fn read_together(
        &mut self,
        shard: usize,
        documents: &[(InputPlace, DocNumber)],
        rows: &[Row],
        take: DocumentSink<'_>,
    ) -> Result<(), EngineError> {
        let ctx = self.readers.ctx;
        let start = rows[0].position;
        let last = rows[rows.len() - 1];
        self.bytes.clear();
        // How long a line is is known of all but long ones.
        let heavy = last.length == 0 || last.length as usize >= HEAVY;
        let _turn = heavy.then(|| self.readers.heavy.lock().unwrap_or_else(PoisonError::into_inner));
        match last.length {
            0 => self.fill_line(&last)?,
            length => self.fill(start, (last.position - start) as usize + length as usize)?,
        };
        if self.bytes.len() >= HEAVY {
            let weight = pipeline::weight_of(self.bytes.len(), last.words as usize);
            ctx.budget.admit_document(weight as u64)?;
        }
        let worker = worker(&mut self.workers, ctx, self.readers.shards[shard].reference);
        for (&(_, document), row) in documents.iter().zip(rows) {
            let begin = (row.position - start) as usize;
            let end = if row.length > 0 { begin + row.length as usize } else { self.bytes.len() };
            let bytes = self.bytes.get(begin..end).ok_or_else(|| input_changed(ctx))?;
            let source = match &self.open {
                Some((SourceId::Spool(unit), _)) => DocumentSource::Text(text(ctx, *unit, bytes)?),
                _ => DocumentSource::Line(bytes),
            };
            take(worker, document, row, source)?;
        }
        if self.bytes.len() >= HEAVY {
            worker.tidy(ctx);
            self.bytes = Vec::new();
        }
        Ok(())
    }

    /// Reads up to `most` bytes of the open source.
    fn fill(&mut self, position: u64, most: usize) -> Result<usize, EngineError> {
        match &mut self.open {
            Some((_, OpenSource::Bytes(bytes))) => Ok(bytes.read(position, most, &mut self.bytes)?),
            Some((_, OpenSource::Spool(texts))) => {
                texts.read(position, most, &mut self.blocks, &mut self.bytes)?;
                Ok(most)
            }
            _ => Ok(0),
        }
    }

    /// Reads one line whose length is not known.
    fn fill_line(&mut self, row: &Row) -> Result<usize, EngineError> {
        let mut more = row.text as usize + 4096;
        loop {
            let before = self.bytes.len();
            let read = self.fill(row.position + before as u64, more)?;
            if let Some(at) = memchr::memchr(b'\n', &self.bytes[before..]) {
                self.bytes.truncate(before + at + 1);
            } else if read == more {
                more *= 2;
                continue;
            }
            return Ok(self.bytes.len());
        }
    }
}

/// The text of a document in the spool of a unit.
fn text<'b>(ctx: &Context<'_>, unit: usize, bytes: &'b [u8]) -> Result<&'b str, EngineError> {
    str::from_utf8(bytes).map_err(|_| {
        let file = sketch::unit_file(ctx, unit, "texts");
        EngineError::Damaged { file, what: "a text in it is not UTF-8".to_owned() }
    })
}

/// The corpus of a document, by whether it is there to be compared with.
fn corpus<'c>(ctx: &'c Context<'c>, reference: bool) -> &'c Corpus {
    if reference { ctx.against.unwrap_or(ctx.corpus) } else { ctx.corpus }
}

/// Returns the worker for documents of one of the corpora.
fn worker<'w>(
    workers: &'w mut [Option<SketchWorker>; 2],
    ctx: &Context<'_>,
    reference: bool,
) -> &'w mut SketchWorker {
    workers[usize::from(reference)].get_or_insert_with(|| SketchWorker::new(ctx, corpus(ctx, reference)))
}

/// True when a line is read together with the one before it.
fn can_join(last: &Row, row: &Row, start: u64) -> bool {
    let end = last.position + u64::from(last.length);
    let (gap, all) = (row.position.saturating_sub(end), row.position + u64::from(row.length) - start);
    last.length > 0 && row.length > 0 && row.position >= end && gap <= MAX_GAP && all <= MAX_READ
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::{recipe, settings};
    use crate::{Settings, Spool};
    use lookalike_text::{Analyser, Features};

    fn row(position: u64, length: u32) -> Row {
        Row { position, length, ..Row::default() }
    }

    #[test]
    fn lines_that_stand_close_together_are_read_together() {
        let last = row(1000, 100);
        assert!(can_join(&last, &row(1100, 50), 0));
        assert!(can_join(&last, &row(1100 + MAX_GAP, 50), 0));
        assert!(!can_join(&last, &row(1101 + MAX_GAP, 50), 0), "there is too much between them");
        assert!(!can_join(&last, &row(1099, 50), 0), "they overlap");
        assert!(
            !can_join(&last, &row(1100, 0), 0) && !can_join(&row(1000, 0), &row(1100, 50), 0),
            "a length is not known"
        );
        let far = row(MAX_READ - 100, 100);
        assert!(can_join(&row(MAX_READ - 200, 100), &far, 0));
        assert!(!can_join(&row(MAX_READ - 200, 100), &row(MAX_READ - 100, 101), 0), "it is too much at once");
    }

    #[test]
    fn documents_are_read_again_from_where_they_stand() {
        documents_are_read_again(Spool::None);
    }

    #[test]
    fn documents_are_read_again_from_the_spool() {
        documents_are_read_again(Spool::Disk);
    }

    fn documents_are_read_again(spool: Spool) {
        let long = "long ".repeat(100_000);
        let texts = ["zero", "one one", long.trim(), "three", "four four"];
        let settings = Settings { spool, ..settings() };
        let test =
            StageTest::of(recipe("md5"), Some(&as_lines(&texts[..2])), &as_lines(&texts[2..]), settings);
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        assert!(ShardReaders::is_random_access(&catalogue));
        let readers = ShardReaders::new(&ctx, &catalogue);
        let mut rereader = Rereader::new(&readers);
        let mut analyser = Analyser::with_secret(&ctx.profile, &ctx.secret);
        for wanted in [&[0, 1, 2, 3, 4][..], &[2], &[1, 4], &[]] {
            let wanted: Vec<DocNumber> = wanted.iter().copied().map(DocNumber::new).collect();
            let mut found = Vec::new();
            rereader.read(&wanted, |document, symbols| found.push((document, symbols.to_vec()))).unwrap();
            assert_eq!(found.iter().map(|(document, _)| *document).collect::<Vec<_>>(), wanted);
            for (document, symbols) in found {
                let mut features = Features::default();
                analyser.read(texts[document.index()], &mut features);
                assert_eq!(symbols, features.secret_hashes(), "{document}");
            }
        }
    }

    #[test]
    fn a_document_that_changed_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("docs.jsonl");
        std::fs::write(&path, as_lines(&["one two", "three"])).unwrap();
        let corpus = Corpus::open(&[&path], lookalike_corpus::ReadOptions::default()).unwrap();
        let settings = Settings { spool: Spool::None, ..settings() };
        let test = StageTest::open(crate::Job {
            recipe: recipe("md5"),
            corpus,
            against: None,
            lexicon: None,
            settings,
            outputs: crate::Outputs::default(),
        });
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        std::fs::write(&path, as_lines(&["one six", "three"])).unwrap();
        let readers = ShardReaders::new(&ctx, &catalogue);
        let mut rereader = Rereader::new(&readers);
        assert!(rereader.read(&[DocNumber::new(1)], |_, _| ()).is_ok());
        assert!(matches!(
            rereader.read(&[DocNumber::new(0)], |_, _| ()),
            Err(EngineError::InputChanged { .. })
        ));
        std::fs::write(&path, "").unwrap();
        assert!(rereader.read(&[DocNumber::new(1)], |_, _| ()).is_err());
    }
}

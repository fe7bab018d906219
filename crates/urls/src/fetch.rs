//! Stage 3: documents that share an address are read again, for their names and texts.
//!
//! Only these are read a second time: for ids, for addresses and, where similarity is measured, for texts, which go to a
//! document copy. Part of the digest tells whether a document is still what it was. Names are sorted behind the number of
//! the left document that they are wanted by.

use std::sync::{Mutex, PoisonError};

use lookalike::corpus::{Corpus, LineReader};
use lookalike::engine::EngineError;
use lookalike::engine::document_copy::{CopyWriter, DocumentCopy};
use lookalike::engine::pipeline::{self, Batch, Feed, Record, Weight};
use lookalike::engine::store::sort::{Sorted, Sorter, clear};
use lookalike::engine::store::strings::{self, StringSorter};
use lookalike::model::Document;
use lookalike::text::extract::Extractor;
use lookalike::text::{Analyser, Features};
use lookalike::walk::Stage;
use serde::{Deserialize, Serialize};

use crate::Context;
use crate::fetch_request::{Bits, FetchRequest, FetchRequestCodec, StoredDocument, StoredDocumentCodec};
use crate::join::{ADDRESS, JoinFacts, LEFT, RIGHT, wanted_name};
use crate::keys::ParsedAddress;
use crate::read::Side;

/// The facts that the stage saves beside its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FetchFacts {
    /// Runs of names.
    pub(crate) names: usize,
    /// Runs of records of copied documents.
    #[serde(rename = "held")]
    pub(crate) stored: usize,
    /// Number of copied documents.
    #[serde(rename = "shelf")]
    pub(crate) documents: u64,
}

const FACTS: &str = "fetched";
/// Names of documents and addresses, by address.
pub(crate) const NAMES: &str = "names";
/// Records of copied documents, by address.
pub(crate) const STORED: &str = "held";
/// The copy of their texts.
const COPY: &str = "shelf";

/// Reads the requested documents again, unless that was done.
pub(crate) fn fetch(
    ctx: &Context<'_>,
    joined: &JoinFacts,
    sides: &[Side],
) -> Result<FetchFacts, EngineError> {
    if let Some(done) = ctx.work.saved(FACTS)? {
        return Ok(done);
    }
    let part = ctx.buffer_bytes as usize / 8;
    clear(&ctx.work.run_location(STORED))?;
    let mut outputs = FetchOutputs {
        ctx,
        names: strings::fresh(ctx.work.run_location(NAMES), 0, part)?,
        stored: Sorter::new(ctx.work.run_location(STORED), StoredDocumentCodec, part),
        copy: CopyWriter::create(&ctx.work.file(COPY), source(ctx))?,
    };
    for (side, &runs) in joined.wanted.iter().enumerate().filter(|(_, runs)| **runs > 0) {
        outputs.side(side, runs, sides[side].counts.documents)?;
    }
    let FetchOutputs { names, stored, copy, .. } = outputs;
    let fetched = FetchFacts {
        names: names.into_runs()?.len(),
        stored: stored.into_runs()?.len(),
        documents: copy.finish()?.manifest().documents,
    };
    ctx.work.save(FACTS, &fetched)?;
    Ok(fetched)
}

/// Opens the copy of documents that the stage made.
pub(crate) fn open_copy(ctx: &Context<'_>) -> Result<DocumentCopy, EngineError> {
    let folder = ctx.work.file(COPY);
    let missing = || EngineError::Damaged { file: folder.clone(), what: "it is not whole".to_owned() };
    DocumentCopy::open_existing(&folder, &source(ctx))?.ok_or_else(missing)
}

fn source(ctx: &Context<'_>) -> String {
    format!("{:032x}", ctx.work.run_location(COPY).stamp)
}

/// The outputs of the stage: names, records of copied documents, and the copy of their texts.
struct FetchOutputs<'c> {
    ctx: &'c Context<'c>,
    names: StringSorter,
    stored: Sorter<StoredDocumentCodec>,
    copy: CopyWriter,
}

impl FetchOutputs<'_> {
    fn side(&mut self, side: usize, runs: usize, documents: u64) -> Result<(), EngineError> {
        let ctx = self.ctx;
        let corpus = &ctx.request.corpora[side];
        let open = || Sorted::open(FetchRequestCodec, &ctx.work.run_location(&wanted_name(side)), runs);
        let bits = WantedBits::load(ctx, open()?, documents)?;
        ctx.watch.begin(Stage { name: "fetch", total: corpus.bytes(), reads: true });
        let heavy = Mutex::new(());
        let todo = Mutex::new((open()?, self));
        // All shards are one unit, so that documents come in their order.
        let unit: pipeline::Unit = 0..corpus.shards().len();
        let shape = ctx.shape().one_by_one();
        pipeline::run(
            corpus,
            std::slice::from_ref(&unit),
            shape,
            ctx.watch,
            || Worker::new(ctx, corpus),
            |worker, batch| worker.read(batch, &bits, &heavy),
            |_, feed| {
                let mut todo = todo.lock().unwrap_or_else(PoisonError::into_inner);
                let (requests, outputs) = &mut *todo;
                outputs.take(side, requests, feed)
            },
        )
    }

    /// Takes documents in the order in which they were requested.
    fn take(
        &mut self,
        side: usize,
        requests: &mut Sorted<FetchRequestCodec>,
        feed: &mut Feed<'_, Result<FetchedBatch, EngineError>>,
    ) -> Result<(), EngineError> {
        while let Some(fetched_batch) = feed.next()? {
            let fetched_batch = fetched_batch?;
            for page in &fetched_batch.pages {
                let next = requests.next()?.map(FetchRequest::unpack);
                let next = next.filter(|next| next.number == page.number && next.check == page.check);
                self.page(side, next.ok_or_else(|| self.input_changed())?, page, &fetched_batch.text)?;
            }
        }
        if requests.next()?.is_some() { Err(self.input_changed()) } else { Ok(()) }
    }

    /// The error about an input that is not what it was a moment ago.
    fn input_changed(&self) -> EngineError {
        let folder = self.ctx.work.result("");
        EngineError::InputChanged { folder, what: "it was read twice, and differed".to_owned() }
    }

    fn page(
        &mut self,
        side: usize,
        request: FetchRequest,
        page: &Page,
        text: &str,
    ) -> Result<(), EngineError> {
        let group = request.group.to_be_bytes();
        let (id, address) = (&text[page.id.0..page.id.1], &text[page.address.0..page.address.1]);
        if request.address {
            self.names.add(&[&group[..], &[ADDRESS], address.as_bytes()].concat(), &[])?;
        }
        if request.name {
            let kind = [if side == 0 { LEFT } else { RIGHT }];
            let number = request.number.to_be_bytes();
            self.names.add(&[&group[..], &kind, &number, id.as_bytes()].concat(), &[])?;
        }
        let Some((begin, end)) = page.text.filter(|_| request.text) else { return Ok(()) };
        let number = self.copy.put(request.number.into(), (id, None), Vec::new(), &text[begin..end])?;
        let copy_number = u32::try_from(number).map_err(|_| EngineError::TooMany)?;
        let stored =
            StoredDocument { group: request.group, side: side as u8, copy_number, words: page.words };
        self.stored.push(stored.pack())
    }
}

/// Bits of the documents of a side that are requested, and of those that are requested for their texts.
struct WantedBits {
    wanted: Bits,
    texts: Bits,
}

impl WantedBits {
    fn load(
        ctx: &Context<'_>,
        mut requests: Sorted<FetchRequestCodec>,
        documents: u64,
    ) -> Result<Self, EngineError> {
        let needed = documents / 4;
        if needed > ctx.buffer_bytes / 2 {
            let why = format!("a corpus of {documents} documents");
            let needed = ctx.request.settings.memory + 2 * needed - ctx.buffer_bytes;
            return Err(EngineError::Memory { why, needed });
        }
        let mut bits = WantedBits { wanted: Bits::new(documents), texts: Bits::new(documents) };
        while let Some(one) = requests.next()?.map(FetchRequest::unpack) {
            bits.wanted.set(one.number);
            if one.text {
                bits.texts.set(one.number);
            }
        }
        Ok(bits)
    }
}

/// The documents read from a batch.
#[derive(Debug, Default)]
struct FetchedBatch {
    pages: Vec<Page>,
    /// Ids, addresses and texts.
    text: String,
}

impl Weight for FetchedBatch {
    fn bytes(&self) -> usize {
        self.pages.capacity() * size_of::<Page>() + self.text.capacity()
    }
}

/// A document that was read.
#[derive(Debug)]
struct Page {
    number: u32,
    check: u32,
    id: (usize, usize),
    address: (usize, usize),
    /// Bounds of its text; `None` when it is not wanted, or has no words.
    text: Option<(usize, usize)>,
    /// Bits of a digest of its words.
    words: u64,
}

impl FetchedBatch {
    fn put(&mut self, text: &str) -> (usize, usize) {
        let begin = self.text.len();
        self.text.push_str(text);
        (begin, self.text.len())
    }
}

struct Worker<'c> {
    ctx: &'c Context<'c>,
    lines: LineReader,
    text_reader: TextReader,
}

/// Reads the texts of documents: an extractor and an analyser.
struct TextReader {
    extractor: Extractor,
    analyser: Analyser,
    features: Features,
}

impl TextReader {
    fn new(ctx: &Context<'_>) -> Self {
        TextReader {
            extractor: Extractor::default(),
            analyser: Analyser::with_secret(&ctx.request.profile, ctx.work.secret()),
            features: Features::default(),
        }
    }

    /// The text of a document and a digest of its words; nothing when it has none.
    fn read<'d>(&'d mut self, ctx: &Context<'_>, document: &'d Document<'_>) -> Option<(&'d str, u64)> {
        let text = self.extractor.extract(document, ctx.request.content).text;
        self.analyser.read(text, &mut self.features);
        let words = (self.features.digest(ctx.work.secret()) >> 64) as u64;
        (!self.features.is_empty()).then_some((text, StoredDocument::short(words)))
    }
}

impl<'c> Worker<'c> {
    fn new(ctx: &'c Context<'c>, corpus: &Corpus) -> Self {
        Worker { ctx, lines: LineReader::new(corpus.options()), text_reader: TextReader::new(ctx) }
    }

    fn read(
        &mut self,
        batch: &Batch,
        bits: &WantedBits,
        heavy: &Mutex<()>,
    ) -> Result<FetchedBatch, EngineError> {
        let ctx = self.ctx;
        if !batch.is_heavy() {
            return self.read_all(batch, bits);
        }
        if (0..batch.len()).any(|index| bits.texts.get(batch.first + index as u64)) {
            ctx.request.settings.admit(batch, ctx.request.reading.max_document_bytes)?;
        }
        // Large documents are handled one at a time, and leave no buffers behind.
        let _guard = heavy.lock();
        let done = self.read_all(batch, bits);
        self.text_reader = TextReader::new(ctx);
        done
    }

    fn read_all(&mut self, batch: &Batch, bits: &WantedBits) -> Result<FetchedBatch, EngineError> {
        let (ctx, text_reader) = (self.ctx, &mut self.text_reader);
        let mut out = FetchedBatch::default();
        let number = |index: usize| batch.first + index as u64;
        batch.read_some(
            &mut self.lines,
            |index| bits.wanted.get(number(index)),
            |index, record| {
                let Record::Document(document) = record else { return Ok(()) };
                let address = document.url.unwrap_or_default();
                let (id, place) = (out.put(document.id), out.put(address));
                let text = match bits.texts.get(number(index)) {
                    true => text_reader.read(ctx, &document),
                    false => None,
                };
                let words = text.map_or(0, |(_, words)| words);
                let text = text.map(|(text, _)| out.put(text));
                out.pages.push(Page {
                    number: number(index) as u32,
                    check: ParsedAddress::new(address, ctx.request.matching, ctx.work.secret()).digest as u32,
                    id,
                    address: place,
                    text,
                    words,
                });
                Ok(())
            },
        )?;
        Ok(out)
    }
}

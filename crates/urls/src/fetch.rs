//! Stage 3: documents that share an address are read again, for their names and texts.

use std::sync::{Mutex, PoisonError};

use lookalike::corpus::{Corpus, LineReader};
use lookalike::engine::EngineError;
use lookalike::engine::pipeline::{self, Batch, Feed, Record, Weight};
use lookalike::engine::shelf::{Shelf, Stocking};
use lookalike::engine::store::sort::{Sorted, Sorter, clear};
use lookalike::engine::store::strings::{self, Strings};
use lookalike::model::Document;
use lookalike::text::extract::Extractor;
use lookalike::text::{Analyser, Features};
use lookalike::walk::Stage;
use serde::{Deserialize, Serialize};

use crate::Context;
use crate::join::{ADDRESS, Joined, LEFT, RIGHT, wanted_name};
use crate::keys::Read;
use crate::read::Side;
use crate::wanted::{Bits, Held, HeldOnes, Wanted, WantedOnes};

/// The facts that the stage saves beside its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fetched {
    /// Runs of names.
    pub(crate) names: usize,
    /// Runs of records of copied documents.
    pub(crate) held: usize,
    /// Number of copied documents.
    pub(crate) shelf: u64,
}

const FACTS: &str = "fetched";
/// Names of documents and addresses, by address.
pub(crate) const NAMES: &str = "names";
/// Records of copied documents, by address.
pub(crate) const HELD: &str = "held";
const SHELF: &str = "shelf";

/// Reads the wanted documents again, unless that was done.
pub(crate) fn fetch(ctx: &Context<'_>, joined: &Joined, sides: &[Side]) -> Result<Fetched, EngineError> {
    if let Some(done) = ctx.work.saved(FACTS)? {
        return Ok(done);
    }
    let part = ctx.room as usize / 8;
    clear(&ctx.work.place(HELD))?;
    let mut desk = Desk {
        ctx,
        names: strings::fresh(ctx.work.place(NAMES), 0, part)?,
        held: Sorter::new(ctx.work.place(HELD), HeldOnes, part),
        shelf: Stocking::begin(&ctx.work.file(SHELF), source(ctx))?,
    };
    for (side, &runs) in joined.wanted.iter().enumerate().filter(|(_, runs)| **runs > 0) {
        desk.side(side, runs, sides[side].found.documents)?;
    }
    let Desk { names, held, shelf, .. } = desk;
    let fetched = Fetched {
        names: names.into_runs()?.len(),
        held: held.into_runs()?.len(),
        shelf: shelf.finish()?.facts().documents,
    };
    ctx.work.save(FACTS, &fetched)?;
    Ok(fetched)
}

/// Opens the copy of documents that the stage made.
pub(crate) fn shelf(ctx: &Context<'_>) -> Result<Shelf, EngineError> {
    let folder = ctx.work.file(SHELF);
    let missing = || EngineError::Damaged { file: folder.clone(), what: "it is not whole".to_owned() };
    Shelf::filled(&folder, &source(ctx))?.ok_or_else(missing)
}

fn source(ctx: &Context<'_>) -> String {
    format!("{:032x}", ctx.work.place(SHELF).stamp)
}

/// The outputs of the stage: names, records of copied documents, and the copy of their texts.
struct Desk<'c> {
    ctx: &'c Context<'c>,
    names: Strings,
    held: Sorter<HeldOnes>,
    shelf: Stocking,
}

impl Desk<'_> {
    fn side(&mut self, side: usize, runs: usize, documents: u64) -> Result<(), EngineError> {
        let ctx = self.ctx;
        let corpus = &ctx.request.corpora[side];
        let open = || Sorted::open(WantedOnes, &ctx.work.place(&wanted_name(side)), runs);
        let marks = Marks::load(ctx, open()?, documents)?;
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
            |worker, batch| worker.read(batch, &marks, &heavy),
            |_, feed| {
                let mut todo = todo.lock().unwrap_or_else(PoisonError::into_inner);
                let (wanted, desk) = &mut *todo;
                desk.take(side, wanted, feed)
            },
        )
    }

    /// Takes documents in the order in which they were wanted.
    fn take(
        &mut self,
        side: usize,
        wanted: &mut Sorted<WantedOnes>,
        feed: &mut Feed<'_, Result<Portion, EngineError>>,
    ) -> Result<(), EngineError> {
        while let Some(portion) = feed.next()? {
            let portion = portion?;
            for page in &portion.pages {
                let next = wanted.next()?.map(Wanted::unpack);
                let next = next.filter(|next| next.number == page.number && next.check == page.check);
                self.page(side, next.ok_or_else(|| self.moved())?, page, &portion.text)?;
            }
        }
        if wanted.next()?.is_some() { Err(self.moved()) } else { Ok(()) }
    }

    /// The error about an input that is not what it was a moment ago.
    fn moved(&self) -> EngineError {
        let folder = self.ctx.work.result("");
        EngineError::InputChanged { folder, what: "it was read twice, and differed".to_owned() }
    }

    fn page(&mut self, side: usize, wanted: Wanted, page: &Page, text: &str) -> Result<(), EngineError> {
        let group = wanted.group.to_be_bytes();
        let (id, address) = (&text[page.id.0..page.id.1], &text[page.address.0..page.address.1]);
        if wanted.address {
            self.names.add(&[&group[..], &[ADDRESS], address.as_bytes()].concat(), &[])?;
        }
        if wanted.name {
            let kind = [if side == 0 { LEFT } else { RIGHT }];
            let number = wanted.number.to_be_bytes();
            self.names.add(&[&group[..], &kind, &number, id.as_bytes()].concat(), &[])?;
        }
        let Some((begin, end)) = page.text.filter(|_| wanted.text) else { return Ok(()) };
        let number = self.shelf.put(wanted.number.into(), (id, None), Vec::new(), &text[begin..end])?;
        let shelf = u32::try_from(number).map_err(|_| EngineError::TooMany)?;
        let held = Held { group: wanted.group, side: side as u8, shelf, words: page.words };
        self.held.push(held.pack())
    }
}

/// The documents of a side that are wanted, and those that are wanted for their texts.
struct Marks {
    wanted: Bits,
    texts: Bits,
}

impl Marks {
    fn load(ctx: &Context<'_>, mut wanted: Sorted<WantedOnes>, documents: u64) -> Result<Self, EngineError> {
        let needed = documents / 4;
        if needed > ctx.room / 2 {
            let why = format!("a corpus of {documents} documents");
            let needed = ctx.request.settings.memory + 2 * needed - ctx.room;
            return Err(EngineError::Memory { why, needed });
        }
        let mut marks = Marks { wanted: Bits::new(documents), texts: Bits::new(documents) };
        while let Some(one) = wanted.next()?.map(Wanted::unpack) {
            marks.wanted.set(one.number);
            if one.text {
                marks.texts.set(one.number);
            }
        }
        Ok(marks)
    }
}

/// The documents read from a batch.
#[derive(Debug, Default)]
struct Portion {
    pages: Vec<Page>,
    /// Ids, addresses and texts.
    text: String,
}

impl Weight for Portion {
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

impl Portion {
    fn put(&mut self, text: &str) -> (usize, usize) {
        let begin = self.text.len();
        self.text.push_str(text);
        (begin, self.text.len())
    }
}

struct Worker<'c> {
    ctx: &'c Context<'c>,
    lines: LineReader,
    tools: Tools,
}

/// The extractor and the analyser of documents.
struct Tools {
    extractor: Extractor,
    analyser: Analyser,
    features: Features,
}

impl Tools {
    fn new(ctx: &Context<'_>) -> Self {
        Tools {
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
        (!self.features.is_empty()).then_some((text, Held::short(words)))
    }
}

impl<'c> Worker<'c> {
    fn new(ctx: &'c Context<'c>, corpus: &Corpus) -> Self {
        Worker { ctx, lines: LineReader::new(corpus.options()), tools: Tools::new(ctx) }
    }

    fn read(&mut self, batch: &Batch, marks: &Marks, heavy: &Mutex<()>) -> Result<Portion, EngineError> {
        let ctx = self.ctx;
        if !batch.is_heavy() {
            return self.read_all(batch, marks);
        }
        if (0..batch.len()).any(|index| marks.texts.get(batch.first + index as u64)) {
            ctx.request.settings.admit(batch, ctx.request.reading.max_document_bytes)?;
        }
        // Large documents are handled one at a time, and leave no buffers behind.
        let _turn = heavy.lock();
        let done = self.read_all(batch, marks);
        self.tools = Tools::new(ctx);
        done
    }

    fn read_all(&mut self, batch: &Batch, marks: &Marks) -> Result<Portion, EngineError> {
        let (ctx, tools) = (self.ctx, &mut self.tools);
        let mut out = Portion::default();
        let number = |index: usize| batch.first + index as u64;
        batch.read_some(
            &mut self.lines,
            |index| marks.wanted.get(number(index)),
            |index, record| {
                let Record::Document(document) = record else { return Ok(()) };
                let address = document.url.unwrap_or_default();
                let (id, place) = (out.put(document.id), out.put(address));
                let text = match marks.texts.get(number(index)) {
                    true => tools.read(ctx, &document),
                    false => None,
                };
                let words = text.map_or(0, |(_, words)| words);
                let text = text.map(|(text, _)| out.put(text));
                out.pages.push(Page {
                    number: number(index) as u32,
                    check: Read::new(address, ctx.request.matching, ctx.work.secret()).digest as u32,
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

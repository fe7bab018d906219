//! Stage `fetch`: documents that share an address are read again, for their names and texts.
//!
//! Only these are read a second time: for ids, for addresses and, where similarity is measured, for texts, which go to a
//! document copy. Part of the digest tells whether a document is still what it was. Names are sorted behind the number of
//! the left document that they are wanted by.

use std::sync::{Mutex, PoisonError};

use lookalike::corpus::{Corpus, LineReader};
use lookalike::engine::EngineError;
use lookalike::engine::document_copy::{CopyWriter, DocumentCopy};
use lookalike::engine::pipeline::{self, Batch, Feed, Record, Weight};
use lookalike::model::Document;
use lookalike::store::bits::Bits;
use lookalike::store::sort::{Sorted, Sorter, clear};
use lookalike::store::strings::{self, StringSorter};
use lookalike::text::extract::Extractor;
use lookalike::text::{Analyser, Features};
use lookalike::walk::Stage;
use serde::{Deserialize, Serialize};

use crate::Context;
use crate::fetch_request::{FetchRequest, FetchRequestCodec, StoredDocument, StoredDocumentCodec};
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
        Ok(self.stored.push(stored.pack())?)
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
            analyser: Analyser::for_measuring(&ctx.request.profile, ctx.work.secret()),
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
            ctx.request.settings.admit(batch, 0, ctx.request.reading.max_document_bytes)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Fixture, Page as Words, pages, request};

    const WANTED: FetchRequest =
        FetchRequest { number: 0, group: 0, check: 0, address: true, name: true, text: true };

    fn name(group: u32, kind: u8, number: Option<u32>, text: &str) -> Vec<u8> {
        let number = number.map_or_else(Vec::new, |number| number.to_be_bytes().to_vec());
        [&group.to_be_bytes()[..], &[kind], &number, text.as_bytes()].concat()
    }

    fn names(fixture: &Fixture, fetched: &FetchFacts) -> Vec<Vec<u8>> {
        fixture.texts(NAMES, 0, fetched.names).into_iter().map(|(name, _)| name).collect()
    }

    fn stored(fixture: &Fixture, fetched: &FetchFacts) -> Vec<StoredDocument> {
        let place = fixture.work.run_location(STORED);
        let mut sorted = Sorted::open(StoredDocumentCodec, &place, fetched.stored).unwrap();
        std::iter::from_fn(|| sorted.next().unwrap().map(StoredDocument::unpack)).collect()
    }

    /// A document of `http://a.org/`.
    fn words(words: &[u8]) -> Words {
        (Some("http://a.org/".to_owned()), words.to_vec())
    }

    /// Fetches what is requested of the left corpus, which has one document, and returns the sentence of the error.
    fn refused(wanted: &[FetchRequest]) -> String {
        let fixture = Fixture::new(request(&[pages(&["http://a.org/"]), Vec::new()], 1));
        let sides = fixture.read();
        let place = fixture.work.run_location(&wanted_name(0));
        let mut requests = Sorter::new(place, FetchRequestCodec, 1 << 12);
        wanted.iter().for_each(|wanted| requests.push(wanted.pack()).unwrap());
        let runs = requests.into_runs().unwrap().len();
        let joined = JoinFacts { wanted: vec![runs, 0], ..JoinFacts::default() };
        fetch(&fixture.ctx(), &joined, &sides).unwrap_err().to_string()
    }

    #[test]
    fn texts_of_a_batch_stand_one_behind_the_other() {
        let mut batch = FetchedBatch::default();
        let bounds = ["", "ä", "b"].map(|text| batch.put(text));
        assert_eq!(bounds, [(0, 0), (0, 2), (2, 3)]);
        assert_eq!(bounds.map(|(begin, end)| &batch.text[begin..end]), ["", "ä", "b"]);
    }

    #[test]
    fn wanted_documents_and_texts_have_a_bit_each() {
        let fixture = Fixture::empty(1);
        let mut requests = Sorter::new(fixture.work.run_location("some"), FetchRequestCodec, 1 << 12);
        for (number, text) in [(1, false), (64, true)] {
            requests.push(FetchRequest { number, text, ..WANTED }.pack()).unwrap();
        }
        let bits = WantedBits::load(&fixture.ctx(), requests.sorted().unwrap(), 70).unwrap();
        let set = |bits: &Bits| (0..70).filter(|&document| bits.get(document)).collect::<Vec<u64>>();
        assert_eq!((set(&bits.wanted), set(&bits.texts)), (vec![1, 64], vec![64]));
    }

    #[test]
    fn more_documents_than_memory_has_bits_for_are_refused() {
        let fixture = Fixture::empty(1);
        let requests = || {
            let place = fixture.work.run_location("some");
            Sorter::new(place, FetchRequestCodec, 1 << 12).sorted().unwrap()
        };
        // Two bits for each document may take half of the buffers.
        let ctx = Context { buffer_bytes: 1 << 20, ..fixture.ctx() };
        assert!(WantedBits::load(&ctx, requests(), 2 << 20).is_ok());
        let Err(error) = WantedBits::load(&ctx, requests(), (2 << 20) + 4) else { panic!("it has no room") };
        let sentence =
            "--memory is too small: a corpus of 2097156 documents needs at least 257 MB; give --memory 257M";
        assert_eq!(error.to_string(), sentence);
    }

    #[test]
    fn nothing_shared_is_nothing_fetched() {
        let fixture = Fixture::new(request(&[pages(&["http://a.org/"]), pages(&["http://b.org/"])], 1));
        assert_eq!(fixture.fetch(), FetchFacts { names: 0, stored: 0, documents: 0 });
    }

    #[test]
    fn documents_of_a_shared_address_are_named_behind_it() {
        let left = pages(&["http://b.org/", "HTTP://a.org", "http://a.org/#ä"]);
        let right = pages(&["http://a.org/", "http://c.org/"]);
        let fixture = Fixture::new(request(&[left, right], 1));
        let fetched = fixture.fetch();
        let wanted = [
            name(1, ADDRESS, None, "HTTP://a.org"),
            name(1, LEFT, Some(1), "0-1"),
            name(1, LEFT, Some(2), "0-2"),
            name(1, RIGHT, Some(0), "1-0"),
        ];
        assert_eq!(names(&fixture, &fetched), wanted);
    }

    #[test]
    fn the_first_document_of_each_side_is_copied() {
        let left = vec![words(&[1, 2]), words(&[9])];
        let fixture = Fixture::new(request(&[left, vec![words(&[1, 2])], vec![words(&[2, 1])]], 1));
        let fetched = fixture.fetch();
        let stored = stored(&fixture, &fetched);
        assert_eq!(fetched.documents, 3);
        assert_eq!(
            stored.iter().map(|one| (one.group, one.side)).collect::<Vec<_>>(),
            [(0, 0), (0, 1), (0, 2)]
        );
        // Equal words in another order are other words.
        assert_eq!((stored[0].words == stored[1].words, stored[0].words == stored[2].words), (true, false));
        assert_eq!(open_copy(&fixture.ctx()).unwrap().manifest().documents, 3);
    }

    #[test]
    fn a_document_without_words_is_named_and_not_copied() {
        let fixture = Fixture::new(request(&[vec![words(&[])], vec![words(&[1])]], 1));
        let fetched = fixture.fetch();
        assert_eq!(stored(&fixture, &fetched).iter().map(|one| one.side).collect::<Vec<_>>(), [1]);
        assert_eq!(names(&fixture, &fetched).len(), 3);
    }

    #[test]
    fn an_address_that_is_another_now_is_noticed() {
        let error = refused(&[FetchRequest { check: 1, ..WANTED }]);
        assert!(error.contains("it was read twice, and differed"), "{error}");
    }

    #[test]
    fn a_document_that_is_not_there_any_more_is_noticed() {
        let error = refused(&[FetchRequest { number: 1, ..WANTED }]);
        assert!(error.contains("it was read twice, and differed"), "{error}");
    }

    #[test]
    fn a_copy_that_was_never_made_is_damage() {
        let fixture = Fixture::empty(1);
        let error = open_copy(&fixture.ctx()).unwrap_err().to_string();
        assert!(error.contains("shelf is damaged: it is not whole;"), "{error}");
    }

    #[test]
    fn what_was_fetched_is_not_fetched_again() {
        let fixture = Fixture::empty(1);
        let done = FetchFacts { names: 3, stored: 4, documents: 5 };
        fixture.work.save(FACTS, &done).unwrap();
        assert_eq!(fetch(&fixture.ctx(), &JoinFacts::default(), &[]).unwrap(), done);
    }
}

//! Code that the fuzz targets share: the whole path from bytes to words, with assertions on the way.
//!
//! A panic is a finding, and so is a failed assertion here: endless records, positions outside of the shard, blocks
//! outside of the text.

use std::cell::RefCell;

use lookalike_corpus::{Compression, Corpus, Item, ReadOptions};
use lookalike_model::{Content, Document, Extras, Media, RecordPosition, Span, Unit};
use lookalike_text::extract::{ContentMode, Extractor, Text};
use lookalike_text::{Analyser, Features, Profile};

/// Small, so that records which are too long come up too.
const MAX_DOCUMENT_BYTES: usize = 16 << 10;

/// Reads a shard and makes words of all that is in it.
pub fn check_shard(shard: &[u8], options: ReadOptions) {
    let options = ReadOptions { max_document_bytes: MAX_DOCUMENT_BYTES, ..options };
    let corpus = Corpus::in_memory("shard", shard.into(), options);
    // What is of no known format, or a table without the right columns, is refused as a whole.
    let Ok(mut reader) = corpus.shards()[0].open(corpus.options()) else { return };
    let plain = reader.compression() == Compression::None;
    let mut checker = RecordChecker::default();
    while let Some(item) = reader.next().expect("memory can be read") {
        match item {
            Item::Document(document) => {
                checker.check(document.place);
                read_words(&document, &[ContentMode::Main, ContentMode::PageOrEmail]);
            }
            Item::Rejected(rejection) => {
                assert_eq!(rejection.unit, Unit::Byte);
                checker.check(rejection.place);
            }
            Item::Skipped(_) => checker.skipped += 1,
        }
        checker.check_length(shard.len(), plain);
    }
}

/// Makes words of one document.
pub fn check_document(media: Media, bytes: &[u8]) {
    let content = Content::Encoded { bytes, charset: None };
    let (place, extras) = (RecordPosition::default(), Extras::default());
    let document = Document { id: "", url: None, media, content, place, raw: None, extras };
    read_words(&document, &[ContentMode::Page, ContentMode::Main]);
}

fn read_words(document: &Document<'_>, modes: &[ContentMode]) {
    WORD_READER.with_borrow_mut(|words| modes.iter().for_each(|mode| words.read(document, *mode)));
}

thread_local! {
    /// Made once: making the tables of four profiles takes longer than reading a small document.
    static WORD_READER: RefCell<WordReader> = RefCell::default();
}

/// The items of a shard so far, which the next item is checked against.
#[derive(Default)]
struct RecordChecker {
    records: u64,
    position: u64,
    skipped: u64,
}

impl RecordChecker {
    fn check(&mut self, place: RecordPosition) {
        assert_eq!(place.record, self.records, "records are counted one by one");
        assert!(place.position >= self.position, "records come in the order of their places");
        self.records += 1;
        self.position = place.position;
    }

    /// Every item takes at least one byte, or steps over damage that is at least one byte long.
    fn check_length(&self, shard: usize, plain: bool) {
        let shard = shard as u64;
        assert!(!plain || self.position <= shard, "a place lies outside of the shard");
        let bytes = if plain { shard } else { shard + self.position + MAX_DOCUMENT_BYTES as u64 };
        assert!(self.records + self.skipped <= bytes + 1, "there are more records than bytes");
    }
}

struct WordReader {
    extractor: Extractor,
    analysers: Vec<Analyser>,
    features: Features,
}

impl Default for WordReader {
    fn default() -> Self {
        let analysers = Profile::all().iter().map(Analyser::new).collect();
        WordReader { extractor: Extractor::default(), analysers, features: Features::default() }
    }
}

impl WordReader {
    fn read(&mut self, document: &Document<'_>, mode: ContentMode) {
        let text = self.extractor.extract(document, mode);
        check_text(&text);
        for analyser in &mut self.analysers {
            analyser.read(text.text, &mut self.features);
            analyser.read_sentences(&mut self.features);
            check_features(&self.features, text.text);
        }
    }
}

fn check_text(text: &Text<'_>) {
    let mut last = 0;
    for block in text.blocks {
        assert!(last <= block.start && block.start <= block.end && block.linked <= block.end - block.start);
        assert!(text.text.get(block.start as usize..block.end as usize).is_some());
        last = block.end;
        let source = text.spans.to_source(Span { start: block.start, end: block.end });
        assert!(source.start <= source.end && source.end as usize <= text.source.len());
    }
}

fn check_features(features: &Features, text: &str) {
    assert_eq!(features.len(), features.hashes().len());
    for index in 0..features.len() {
        let span = features.span(index);
        assert!(
            text.get(span.start as usize..span.end as usize).is_some(),
            "a word stands outside of the text"
        );
    }
    for index in 0..features.sentence_count() {
        assert!(features.sentence(index).end <= features.len(), "a sentence has words that are not there");
    }
}

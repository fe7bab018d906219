//! The way of every document, with what must hold at each step.

use lookalike::corpus::{Compression, Corpus, CorpusError, Format, Item, ReadOptions};
use lookalike::model::{Document, RecordPosition, Span, Unit};
use lookalike::text::extract::{ContentMode, Extractor, Text};
use lookalike::text::{Analyser, Features, Profile};

use crate::allocator::peak_of;

/// The longest document that may be read.
pub(crate) const LONGEST: usize = 1 << 20;

/// No shard may need more than this, however long it is.
const MEMORY: usize = (64 << 20) + 8 * LONGEST;

const MODES: [ContentMode; 4] =
    [ContentMode::Page, ContentMode::Main, ContentMode::Email, ContentMode::PageOrEmail];

/// Counts of the items that were found.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) documents: u64,
    pub(crate) rejected: u64,
    pub(crate) skipped: u64,
    /// The position of the last record.
    position: u64,
}

/// The length of the uncompressed shard in bytes, where it is known.
pub(crate) type Length = Option<usize>;

/// Takes a shard through the whole path. A shard that is refused as a whole has nothing in it.
pub(crate) fn check_shard(name: &str, bytes: &[u8], format: Option<Format>, length: Length) -> Counts {
    let options = ReadOptions { format, max_document_bytes: LONGEST, ..ReadOptions::default() };
    check_shard_with(name, bytes, options, length)
}

pub(crate) fn check_shard_with(name: &str, bytes: &[u8], options: ReadOptions, length: Length) -> Counts {
    check_memory(name, bytes, options, length, Some(TextChecker::default()))
}

/// Only reads the records.
pub(crate) fn count_records(name: &str, bytes: &[u8], format: Format, length: Length) -> Counts {
    let options = ReadOptions { format: Some(format), max_document_bytes: LONGEST, ..ReadOptions::default() };
    check_memory(name, bytes, options, length, None)
}

fn check_memory(
    name: &str,
    bytes: &[u8],
    options: ReadOptions,
    length: Length,
    mut checker: Option<TextChecker>,
) -> Counts {
    let corpus = Corpus::in_memory(name, bytes.into(), options);
    let (counts, peak) = peak_of(|| read(&corpus, bytes.len(), length, checker.as_mut()));
    assert!(peak <= MEMORY, "{name}: {peak} bytes were held at once");
    counts.unwrap_or_default()
}

fn read(
    corpus: &Corpus,
    raw: usize,
    length: Length,
    mut checker: Option<&mut TextChecker>,
) -> Result<Counts, CorpusError> {
    let mut reader = corpus.shards()[0].open(corpus.options())?;
    let length = if reader.compression() == Compression::None { Some(raw) } else { length };
    let bytewise = reader.format() != Format::Parquet;
    let mut counts = Counts::default();
    while let Some(item) = reader.next()? {
        match item {
            Item::Document(document) => {
                counts.check_place(document.place);
                counts.documents += 1;
                assert!(document.id.len().max(document.content.len()) <= LONGEST, "a document is too long");
                if let Some(checker) = &mut checker {
                    checker.read(&document);
                }
            }
            Item::Rejected(rejection) => {
                assert_eq!(rejection.unit == Unit::Byte, bytewise);
                assert!(!rejection.reason.to_string().is_empty());
                counts.check_place(rejection.place);
                counts.rejected += 1;
            }
            Item::Skipped(_) => counts.skipped += 1,
        }
        counts.check(raw, length.filter(|_| bytewise));
    }
    Ok(counts)
}

impl Counts {
    fn check_place(&mut self, place: RecordPosition) {
        assert_eq!(place.record, self.documents + self.rejected, "records are counted one by one");
        assert!(place.position >= self.position, "records come in the order of their places");
        self.position = place.position;
    }

    /// Every item takes at least one byte, or steps over damage of at least one byte.
    fn check(&self, raw: usize, length: Length) {
        assert!(
            length.is_none_or(|length| self.position <= length as u64),
            "a place is outside of the shard"
        );
        let bytes = raw + length.unwrap_or(self.position as usize + LONGEST);
        let items = self.documents + self.rejected + self.skipped;
        assert!(items <= bytes as u64 + 1, "there are more records than bytes");
    }
}

/// Makes text and words in every way there is, and checks them.
struct TextChecker {
    extractor: Extractor,
    analysers: Vec<Analyser>,
    features: Features,
}

impl Default for TextChecker {
    fn default() -> Self {
        let analysers = Profile::all().iter().map(Analyser::new).collect();
        TextChecker { extractor: Extractor::default(), analysers, features: Features::default() }
    }
}

impl TextChecker {
    fn read(&mut self, document: &Document<'_>) {
        for mode in MODES {
            let text = self.extractor.extract(document, mode);
            check_text(&text);
            for analyser in &mut self.analysers {
                analyser.read(text.text, &mut self.features);
                analyser.read_sentences(&mut self.features);
                check_features(&self.features, text.text);
            }
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

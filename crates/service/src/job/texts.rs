//! The texts of a job's input, read again by ordinal.
//!
//! The shard of a document follows from the number of documents in the shards before it, so that shards are counted once, as far as
//! requests need it. Of uncompressed JSON lines the position of every 256th record is remembered, and any document is then a short
//! read away; other shards are read from their beginning. Both are limited in time: a request that takes longer is told so, and
//! counting goes on with the next request.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lookalike::corpus::{Compression, Corpus, Format, Item, LineReader, Lines, Reader, Shard};
use lookalike::engine::JobRecipe;
use lookalike::model::{Document, RecordPosition, SpanMap};
use lookalike::text::extract::{ContentMode, Extractor};

/// Records between two remembered positions.
const STRIDE: u64 = 256;
/// Bytes of lines that are counted at once.
const BLOCK: usize = 1 << 20;
/// The time limit of a request that looks for a text.
const TEXT_TIMEOUT: Duration = Duration::from_secs(8);

/// A text with the map back to its source.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) id: String,
    pub(crate) url: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    /// The bytes that the spans refer to.
    pub(crate) source: Vec<u8>,
    pub(crate) spans: SpanMap,
    /// The shard and the byte, or row, where its record begins.
    pub(crate) shard: String,
    pub(crate) position: u64,
}

/// The result of looking for a text.
#[derive(Debug, Clone)]
pub(crate) enum TextResult {
    /// The text.
    Text(Box<Text>),
    /// The reason why it cannot be shown.
    Unavailable(String),
}

/// The input of a job.
#[derive(Debug)]
pub(crate) struct Texts {
    /// The shards, or the reason why there are none.
    corpus: Result<Corpus, String>,
    content: ContentMode,
    counted: Mutex<CountedShards>,
}

/// The shards counted so far.
#[derive(Debug, Default)]
struct CountedShards {
    shards: Vec<ShardCount>,
    /// The shard after those, partly counted.
    partial: Option<ShardCounter>,
}

/// A shard that is counted.
#[derive(Debug, Clone, Default)]
struct ShardCount {
    /// Ordinal of its first document.
    first: u64,
    records: u64,
    /// Positions of every 256th record; none where a record cannot be read from its position.
    positions: Vec<u64>,
}

/// A shard that is being counted.
struct ShardCounter {
    reader: Reader,
    lines: LineReader,
    block: Lines,
    plain: bool,
    count: ShardCount,
}

impl std::fmt::Debug for ShardCounter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.count.fmt(f)
    }
}

impl Texts {
    /// The input that lies in `files`, read as `recipe` says.
    pub(crate) fn new(files: &[String], recipe: &JobRecipe) -> Self {
        let corpus = match (files.is_empty(), recipe.read_options()) {
            _ if recipe.order.is_some() => Err(
                "the job took documents in the order of a field, so that their numbers do not tell where they stand in the input"
                    .to_owned(),
            ),
            (true, _) => Err("the input was no file, so that it cannot be read again".to_owned()),
            (false, Err(error)) => Err(error.to_string()),
            (false, Ok(options)) => Corpus::open(files, options)
                .map_err(|error| format!("the input is not where it was: {error}")),
        };
        let content = recipe.content().unwrap_or_default();
        Texts { corpus, content, counted: Mutex::default() }
    }

    /// Returns the document with this ordinal. A failure is only a sentence: a page shows the rest without the text.
    pub(crate) fn read(&self, ordinal: u64) -> TextResult {
        let corpus = match &self.corpus {
            Ok(corpus) => corpus,
            Err(why) => return TextResult::Unavailable(why.clone()),
        };
        let deadline = Instant::now() + TEXT_TIMEOUT;
        let located = self.locate(corpus, ordinal, deadline);
        let read = located.and_then(|(shard, count)| self.fetch(corpus, shard, &count, ordinal, deadline));
        match read {
            Ok(text) => TextResult::Text(Box::new(text)),
            Err(why) => TextResult::Unavailable(why),
        }
    }

    /// Returns the shard of a document, with the positions known by then.
    fn locate(
        &self,
        corpus: &Corpus,
        ordinal: u64,
        deadline: Instant,
    ) -> Result<(usize, ShardCount), String> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(found) = counted.find(ordinal) {
                return Ok(found);
            }
            if counted.shards.len() == corpus.shards().len() {
                return Err("the input has fewer documents than it had; it was changed".to_owned());
            }
            if Instant::now() > deadline {
                let (done, all) = (counted.shards.len(), corpus.shards().len());
                return Err(format!(
                    "the input is still being counted ({done} of {all} files so far); load this page again"
                ));
            }
            counted.advance(corpus).map_err(|error| format!("the input cannot be read: {error}"))?;
        }
    }

    fn fetch(
        &self,
        corpus: &Corpus,
        shard: usize,
        count: &ShardCount,
        ordinal: u64,
        deadline: Instant,
    ) -> Result<Text, String> {
        let shard = &corpus.shards()[shard];
        let record = ordinal - count.first;
        if let Some(&position) = count.positions.get((record / STRIDE) as usize) {
            return self.fetch_line(corpus, shard, position, record % STRIDE);
        }
        let mut reader = shard.open(corpus.options()).map_err(|error| error.to_string())?;
        loop {
            match reader.next().map_err(|error| error.to_string())? {
                Some(Item::Document(document)) if document.place.record == record => {
                    return Ok(self.extract(&document, shard));
                }
                Some(Item::Document(document)) if document.place.record > record => return Err(rejected()),
                Some(_) if Instant::now() > deadline => {
                    return Err(format!("{} is too long to be looked through for one document", shard.name));
                }
                Some(_) => {}
                None => return Err(rejected()),
            }
        }
    }

    /// The line `skip` lines behind a position.
    fn fetch_line(&self, corpus: &Corpus, shard: &Shard, position: u64, skip: u64) -> Result<Text, String> {
        let mut bytes_at = shard.bytes_at().map_err(|error| error.to_string())?;
        let (mut bytes, mut begin, mut seen, mut position) = (Vec::new(), 0, 0, position);
        let most = corpus.options().max_document_bytes + BLOCK;
        loop {
            let length = bytes_at
                .read(position + bytes.len() as u64, BLOCK, &mut bytes)
                .map_err(|error| error.to_string())?;
            let end = |from: usize, bytes: &[u8]| match memchr::memchr(b'\n', &bytes[from..]) {
                Some(at) => Some(from + at + 1),
                None => (length < BLOCK && from < bytes.len()).then_some(bytes.len()),
            };
            while let Some(line_end) = end(begin, &bytes) {
                let line = &bytes[begin..line_end];
                // Blank lines are no records.
                if !line.trim_ascii().is_empty() {
                    if seen == skip {
                        let place = RecordPosition { record: 0, position: position + begin as u64 };
                        let mut lines = LineReader::new(corpus.options());
                        return match lines.line(line, place, &shard.name) {
                            Item::Document(document) => Ok(self.extract(&document, shard)),
                            _ => Err(rejected()),
                        };
                    }
                    seen += 1;
                }
                begin = line_end;
            }
            if length < BLOCK || bytes.len() - begin > most {
                return Err(rejected());
            }
            bytes.drain(..begin);
            position += begin as u64;
            begin = 0;
        }
    }

    fn extract(&self, document: &Document<'_>, shard: &Shard) -> Text {
        let mut extractor = Extractor::default();
        let extracted = extractor.extract(document, self.content);
        Text {
            id: document.id.to_owned(),
            url: document.url.map(str::to_owned),
            title: title(extracted.text, extracted.blocks.first().filter(|block| block.heading)),
            text: extracted.text.to_owned(),
            source: extracted.source.to_vec(),
            spans: extracted.spans.clone(),
            shard: shard.name.clone(),
            position: document.place.position,
        }
    }
}

/// The heading at the front, or the first line, within reason.
pub(crate) fn title(text: &str, heading: Option<&lookalike::text::extract::Block>) -> Option<String> {
    let first = match heading {
        Some(block) => text.get(block.start as usize..block.end as usize)?,
        None => text.lines().find(|line| !line.trim().is_empty())?,
    };
    let mut title: String = first.trim().chars().take(100).collect();
    if title.len() < first.trim().len() {
        title.push('…');
    }
    Some(title)
}

fn rejected() -> String {
    "the input has no readable document in this place; it was changed".to_owned()
}

impl CountedShards {
    fn find(&self, ordinal: u64) -> Option<(usize, ShardCount)> {
        let done = self.shards.partition_point(|count| count.first <= ordinal);
        if let Some(at) = done.checked_sub(1)
            && ordinal < self.shards[at].first + self.shards[at].records
        {
            return Some((at, self.shards[at].clone()));
        }
        let count = &self.partial.as_ref()?.count;
        let inside = (count.first..count.first + count.records).contains(&ordinal);
        inside.then(|| (self.shards.len(), count.clone()))
    }

    /// Counts some more.
    fn advance(&mut self, corpus: &Corpus) -> Result<(), lookalike::corpus::CorpusError> {
        let counter = match &mut self.partial {
            Some(counter) => counter,
            none => {
                let shard = &corpus.shards()[self.shards.len()];
                let first = self.shards.last().map_or(0, |last| last.first + last.records);
                let reader = shard.open(corpus.options())?;
                let plain = reader.format() == Format::Jsonl && reader.compression() == Compression::None;
                none.insert(ShardCounter {
                    reader,
                    lines: LineReader::new(corpus.options()),
                    block: Lines::default(),
                    plain,
                    count: ShardCount { first, ..ShardCount::default() },
                })
            }
        };
        if !counter.advance()? {
            let done = self.partial.take().map(|counter| counter.count).unwrap_or_default();
            self.shards.push(done);
        }
        Ok(())
    }
}

impl ShardCounter {
    /// Counts some more; false at the end.
    fn advance(&mut self) -> Result<bool, lookalike::corpus::CorpusError> {
        let ShardCounter { reader, lines, block, plain, count } = self;
        if reader.lines(BLOCK, block)? {
            let due = (STRIDE - count.records % STRIDE) % STRIDE;
            for index in (due..block.len() as u64).step_by(STRIDE as usize) {
                let place = match lines.read(block.view_some(), index as usize) {
                    Item::Document(document) => document.place,
                    Item::Rejected(rejection) => rejection.place,
                    Item::Skipped(_) => RecordPosition::default(),
                };
                count.positions.extend(plain.then_some(place.position));
            }
            count.records += block.len() as u64;
            return Ok(true);
        }
        for _ in 0..STRIDE {
            let place = match reader.next()? {
                Some(Item::Document(document)) => document.place,
                Some(Item::Rejected(rejection)) => rejection.place,
                Some(Item::Skipped(_)) => continue,
                None => return Ok(false),
            };
            if *plain && count.records.is_multiple_of(STRIDE) {
                count.positions.push(place.position);
            }
            count.records += 1;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike::engine::recipe::Task;

    fn line(n: u64) -> String {
        // Some lines are blank or broken, as in life, and one is long.
        match n {
            7 | 300 => "{\"id\":\"broken\n".to_owned(),
            400 => format!("{{\"id\":\"d400\",\"text\":\"{}\"}}\n", "long ".repeat(500_000)),
            n if n % 11 == 0 => format!("\n{{\"id\":\"d{n}\",\"text\":\"text number {n}\"}}\n"),
            n => format!("{{\"id\":\"d{n}\",\"text\":\"text number {n}\"}}\n"),
        }
    }

    fn id(texts: &Texts, n: u64) -> Result<String, String> {
        match texts.read(n) {
            TextResult::Text(text) => Ok(text.id),
            TextResult::Unavailable(why) => Err(why),
        }
    }

    #[test]
    fn every_document_is_found_by_its_ordinal() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, three] = ["1.jsonl", "2.txt", "3.jsonl"].map(|name| folder.path().join(name));
        std::fs::write(&one, (0..1000).map(line).collect::<String>()).unwrap();
        std::fs::write(&two, "a plain text").unwrap();
        std::fs::write(&three, (1001..6000).map(line).collect::<String>()).unwrap();
        let files = [one, two, three].map(|file| file.display().to_string());
        let texts = Texts::new(&files, &JobRecipe::simplest(Task::Dedup));
        // Backwards and forwards: what was counted once is not counted again.
        for n in [0, 5999, 5000, 256, 255, 257, 399, 401, 999, 1001, 1255, 1256, 1257, 1258] {
            assert_eq!(id(&texts, n), Ok(format!("d{n}")), "{n}");
        }
        assert_eq!(id(&texts, 1000), Ok("2.txt".to_owned()));
        assert_eq!(id(&texts, 400), Ok("d400".to_owned()));
        assert!(id(&texts, 7).unwrap_err().contains("no readable document"));
        assert!(id(&texts, 6000).unwrap_err().contains("fewer documents"));
    }

    #[test]
    fn an_input_that_is_gone_is_said() {
        let recipe = JobRecipe::simplest(Task::Dedup);
        let gone = Texts::new(&["/nowhere/x.jsonl".to_owned()], &recipe);
        assert!(id(&gone, 0).unwrap_err().contains("not where it was"));
        assert!(id(&Texts::new(&[], &recipe), 0).unwrap_err().contains("no file"));
    }
}

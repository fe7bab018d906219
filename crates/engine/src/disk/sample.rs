//! Documents from places that are spread over a whole corpus: its first ones may be unlike all others.
//!
//! A place is a share of the bytes of the input. A file of plain JSON lines is entered anywhere, a Parquet file at its row
//! groups; of other files the beginning stands for all of them.

use std::sync::Arc;

use lookalike_corpus::{Compression, Corpus, Format, Item, Origin, ReadOptions, Reader, Shard};
use lookalike_text::extract::Extractor;

use crate::error::EngineError;
use crate::pipeline::HEAVY;
use crate::recipe::JobRecipe;

/// Places that are looked at.
const PLACES: u64 = 8;

/// Bytes of input that are read at a place.
const PLACE_BYTES: u64 = 64 << 10;

/// Bytes of texts that are looked at, at a place; of further ones only the length counts. Compressed input can hold any
/// number.
const TEXT_BYTES: u64 = 512 << 10;

/// Bytes of a file of lines in which one must end, so that it can be entered there.
const LONGEST_LINE: usize = 4 << 20;

/// The documents at one place of a corpus.
#[derive(Debug, Default)]
pub(super) struct SampledPart {
    pub(super) texts: Vec<String>,
    /// Number of documents, of which texts need not be held.
    pub(super) documents: u64,
    /// Bytes of the contents of these, and of the documents behind them.
    pub(super) seen: u64,
    pub(super) unseen: u64,
    /// Bytes of the input that they took.
    pub(super) read: u64,
    /// Bytes of their names.
    pub(super) named: u64,
    /// Bytes of what becomes of documents too large to be looked at.
    pub(super) known: u64,
    /// Bytes of the input for which they stand.
    pub(super) stands_for: u64,
}

impl SampledPart {
    /// Bytes that become of all of its documents, when so many become of those that were looked at.
    pub(super) fn of_all(&self, seen: u64) -> u64 {
        let share = u128::from(self.unseen) * u128::from(seen) / u128::from(self.seen.max(1));
        seen.saturating_add(u64::try_from(share).unwrap_or(u64::MAX))
    }

    /// The same for the part of the input for which they stand.
    pub(super) fn of_input(&self, part: u64) -> f64 {
        part as f64 * self.stands_for as f64 / self.read.max(1) as f64
    }
}

/// A place where documents are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    shard: usize,
    /// Bytes of the shard before it.
    offset: u64,
    /// Number of places that it stands for.
    places: u64,
}

/// Reads the documents at places spread over a corpus; none of standard input, which comes only once.
pub(super) fn parts(recipe: &JobRecipe, corpus: &Corpus) -> Result<Vec<SampledPart>, EngineError> {
    let total: u64 = sizes(corpus).map(|(_, bytes)| bytes).sum();
    let mut parts = Vec::new();
    for entry in entries(corpus, total) {
        let stands_for = total * entry.places / PLACES;
        let part = read(recipe, corpus, entry)?;
        if part.read > 0 {
            parts.push(SampledPart { stands_for, ..part });
        }
    }
    // Places where nothing could be read are like the others.
    let covered: u64 = parts.iter().map(|part| part.stands_for).sum();
    for part in &mut parts {
        part.stands_for =
            (u128::from(part.stands_for) * u128::from(total) / u128::from(covered.max(1))) as u64;
    }
    Ok(parts)
}

/// The shards that can be sampled, by their numbers, with their sizes.
fn sizes(corpus: &Corpus) -> impl Iterator<Item = (usize, u64)> {
    let shards = corpus.shards().iter().enumerate();
    shards
        .filter(|(_, shard)| shard.origin != Origin::Stdin)
        .filter_map(|(number, shard)| Some((number, shard.bytes?)))
}

/// Spreads places over a corpus. Those from which the same documents would be read become one.
fn entries(corpus: &Corpus, total: u64) -> Vec<Entry> {
    let Some((first, _)) = sizes(corpus).find(|&(_, bytes)| bytes > 0) else { return Vec::new() };
    if total <= PLACES * PLACE_BYTES {
        return vec![Entry { shard: first, offset: 0, places: PLACES }];
    }
    let mut found: Vec<Entry> = Vec::new();
    let mut shards = sizes(corpus).filter(|&(_, bytes)| bytes > 0).peekable();
    let mut before = 0;
    for place in 0..PLACES {
        let wanted = total * place / PLACES;
        while let Some((_, bytes)) = shards.next_if(|&(_, bytes)| before + bytes <= wanted) {
            before += bytes;
        }
        let Some(&(shard, _)) = shards.peek() else { break };
        let offset = reachable_offset(&corpus.shards()[shard], corpus.options(), wanted - before);
        match found.last_mut() {
            Some(last) if (last.shard, last.offset) == (shard, offset) => last.places += 1,
            _ => found.push(Entry { shard, offset, places: 1 }),
        }
    }
    found
}

/// The last offset up to `offset` from which documents can be read without those before them: in a file of plain lines any, in a Parquet
/// file that of a row group, in others 0.
fn reachable_offset(shard: &Shard, options: &Arc<ReadOptions>, offset: u64) -> u64 {
    if offset == 0 || !matches!(shard.origin, Origin::File(_) | Origin::Memory(_)) {
        return 0;
    }
    // A shard that cannot be opened is told of when it is read.
    let Ok(mut reader) = shard.open(options) else { return 0 };
    let opened = reader.consumed();
    if reader.pass_over(offset).is_ok_and(|passed| passed) {
        return reader.consumed() - opened;
    }
    let lines = reader.format() == Format::Jsonl && reader.compression() == Compression::None;
    if lines && lines_at(shard, offset).is_ok_and(|lines| lines.is_some()) { offset } else { 0 }
}

/// Reads documents from a place on, in further shards where one has too few.
fn read(recipe: &JobRecipe, corpus: &Corpus, entry: Entry) -> Result<SampledPart, EngineError> {
    let (mut part, mut extractor) = (SampledPart::default(), Extractor::default());
    let (enough, most) = (PLACE_BYTES * entry.places, TEXT_BYTES * entry.places);
    let content = recipe.content()?;
    let mut entered = Some(enter(corpus, entry)?);
    for (number, _) in sizes(corpus).filter(|&(number, _)| number >= entry.shard) {
        let (mut reader, passed) = match entered.take() {
            Some(entered) => entered,
            None => (corpus.shards()[number].open(corpus.options())?, 0),
        };
        let mut end = None;
        loop {
            // A reader takes in more than it has handed out: the sample goes on to where it would take in more.
            let read = reader.consumed() - passed;
            if end.is_some_and(|end| read > end) {
                break;
            }
            end = end.or((part.read + read >= enough).then_some(read));
            let Some(item) = reader.next()? else { break };
            let Item::Document(document) = item else { continue };
            part.documents += 1;
            if document.content.len() >= HEAVY {
                // It would take more memory than an estimate is worth; its symbols take about half of it.
                part.known += document.content.len() as u64 / 2;
                continue;
            }
            part.named += (12 + document.id.len() + document.url.map_or(0, str::len)) as u64;
            let bytes = document.content.len() as u64;
            if part.seen >= most {
                part.unseen += bytes;
                continue;
            }
            part.seen += bytes;
            part.texts.push(extractor.extract(&document, content).text.to_owned());
        }
        part.read += end.unwrap_or_else(|| reader.consumed() - passed);
        if part.read >= enough {
            break;
        }
    }
    Ok(part)
}

/// Opens a shard at a place, or at its beginning where no line ends near the place; returns the bytes that were passed over, too.
fn enter(corpus: &Corpus, entry: Entry) -> Result<(Reader, u64), EngineError> {
    let (shard, options) = (&corpus.shards()[entry.shard], corpus.options());
    let mut reader = shard.open(options)?;
    // A reader may have taken in its first bytes by now.
    let opened = reader.consumed();
    if entry.offset == 0 || reader.pass_over(entry.offset)? {
        let passed = reader.consumed() - opened;
        return Ok((reader, passed));
    }
    match lines_at(shard, entry.offset)? {
        Some(lines) => Ok((lines.open(options)?, 0)),
        None => Ok((reader, 0)),
    }
}

/// Whole lines of a file from an offset on, as a shard of their own.
fn lines_at(shard: &Shard, offset: u64) -> Result<Option<Shard>, EngineError> {
    let (mut source, mut bytes) = (shard.bytes_at()?, Vec::new());
    let mut wanted = 2 * PLACE_BYTES as usize;
    while wanted <= LONGEST_LINE {
        bytes.clear();
        let at_end = source.read(offset, wanted, &mut bytes)? < wanted;
        let begin = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |end| end + 1);
        let end = if at_end { bytes.len() } else { memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1) };
        if begin < end {
            let content: Arc<[u8]> = bytes[begin..end].into();
            let (bytes, format) = (Some(content.len() as u64), Some(Format::Jsonl));
            return Ok(Some(Shard {
                name: shard.name.clone(),
                bytes,
                format,
                ..Shard::new(Origin::Memory(content))
            }));
        }
        if at_end {
            break;
        }
        wanted *= 4;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use lookalike_corpus::write::Sink;

    use super::*;
    use crate::tests::recipe;

    fn line(number: usize, words: usize) -> String {
        format!("{{\"id\":\"d{number}\",\"text\":\"{}\"}}\n", "word ".repeat(words))
    }

    /// Many short documents, and then as many bytes of long ones.
    fn short_then_long(bytes: usize) -> String {
        let mut lines = String::new();
        while lines.len() < 2 * bytes {
            lines += &line(lines.len(), if lines.len() < bytes { 1 } else { 1000 });
        }
        lines
    }

    fn documents(corpus: &Corpus) -> f64 {
        let parts = parts(&recipe("md5"), corpus).unwrap();
        parts.iter().map(|part| part.of_input(part.documents)).sum()
    }

    fn near(estimated: f64, counted: usize) {
        let ratio = estimated / counted as f64;
        assert!((0.9..1.1).contains(&ratio), "{estimated} for {counted}");
    }

    #[test]
    fn a_file_of_lines_is_read_all_over() {
        let lines = short_then_long(2 << 20);
        let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default());
        near(documents(&corpus), lines.lines().count());
    }

    #[test]
    fn no_document_is_sampled_twice() {
        // Beyond the first place no line ends before the file does.
        let lines = line(0, 1).repeat(20) + &line(1, 2 * LONGEST_LINE);
        let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default());
        let total = lines.len() as u64;
        let whole = Entry { shard: 0, offset: 0, places: PLACES };
        assert_eq!(entries(&corpus, total), [whole]);
        assert_eq!(parts(&recipe("md5"), &corpus).unwrap()[0].stands_for, total);
        let folder = tempfile::tempdir().unwrap();
        let packed = folder.path().join("docs.jsonl.gz");
        let mut sink = Sink::create(&packed, Compression::Gzip).unwrap();
        for n in 0..200_000 {
            writeln!(sink, "{{\"text\":\"{:x}\"}}", lookalike_hash::mix(n)).unwrap();
        }
        sink.finish().unwrap();
        let corpus = Corpus::open(&[&packed], ReadOptions::default()).unwrap();
        assert!(corpus.bytes().unwrap() > PLACES * PLACE_BYTES);
        assert_eq!(entries(&corpus, corpus.bytes().unwrap()), [whole], "read from its beginning alone");
    }

    #[test]
    fn files_are_read_all_over() {
        let folder = tempfile::tempdir().unwrap();
        let lines = short_then_long(1 << 20);
        // Compressed files are read from their beginning, and one in eight of them is.
        for (number, some) in lines.lines().collect::<Vec<_>>().chunks(500).enumerate() {
            let name = folder.path().join(format!("{number:04}.jsonl.gz"));
            let mut sink = Sink::create(&name, Compression::Gzip).unwrap();
            some.iter().try_for_each(|line| writeln!(sink, "{line}")).unwrap();
            sink.finish().unwrap();
        }
        let corpus = Corpus::open(&[folder.path()], ReadOptions::default()).unwrap();
        // The bytes of a corpus are those of its files; how many documents a byte is differs between these.
        let ratio = documents(&corpus) / lines.lines().count() as f64;
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_place_goes_on_in_the_next_small_file() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..3000 {
            std::fs::write(folder.path().join(format!("{number:05}.jsonl")), line(number, 40)).unwrap();
        }
        let corpus = Corpus::open(&[folder.path()], ReadOptions::default()).unwrap();
        let parts = parts(&recipe("md5"), &corpus).unwrap();
        assert_eq!(parts.len(), PLACES as usize);
        assert!(parts.iter().all(|part| part.read >= PLACE_BYTES && part.documents > 200));
        near(documents(&corpus), 3000);
    }

    #[test]
    fn a_line_without_end_is_no_place_to_enter() {
        let lines = line(0, LONGEST_LINE / 4) + &line(1, 1);
        let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default());
        let shard = &corpus.shards()[0];
        assert!(lines_at(shard, 10).unwrap().is_none());
        let near_end = lines_at(shard, lines.len() as u64 - 100).unwrap().unwrap();
        assert_eq!(near_end.bytes, Some(line(1, 1).len() as u64));
        // It is read from the beginning then, and counts all the same.
        assert!(documents(&corpus) >= 1.0);
    }

    #[test]
    fn what_packs_well_is_not_held() {
        let folder = tempfile::tempdir().unwrap();
        let line = format!("{{\"text\":\"{}\"}}\n", "a rose is a rose ".repeat(600));
        let small = folder.path().join("small.jsonl.zst");
        let mut sink = Sink::create(&small, Compression::Zstd).unwrap();
        sink.write_all(line.repeat(1500).as_bytes()).unwrap();
        sink.finish().unwrap();
        let corpus = Corpus::open(&[&small], ReadOptions::default()).unwrap();
        let sampled = parts(&recipe("minhash"), &corpus).unwrap().remove(0);
        let held: usize = sampled.texts.iter().map(String::len).sum();
        assert!((held as u64) < PLACES * TEXT_BYTES + HEAVY as u64, "{held}");
        let all = sampled.seen + sampled.unseen;
        assert_eq!(all, 1500 * (line.len() as u64 - 12), "all of them count");
        assert_eq!(sampled.of_all(sampled.seen), all);
    }

    #[test]
    fn a_large_document_counts_by_its_length_alone() {
        let lines = format!("{{\"id\":\"d0\",\"text\":\"{}\"}}\n", "a".repeat(HEAVY));
        let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default());
        let sampled = parts(&recipe("md5"), &corpus).unwrap().remove(0);
        assert_eq!((sampled.texts.len(), sampled.known, sampled.seen), (0, HEAVY as u64 / 2, 0));
    }

    #[test]
    fn unseen_documents_become_as_much_as_those_that_were_looked_at() {
        let sampled = SampledPart { seen: 10, unseen: 5, ..SampledPart::default() };
        assert_eq!((sampled.of_all(20), sampled.of_all(0)), (30, 0));
        let nothing = SampledPart { unseen: 5, ..SampledPart::default() };
        assert_eq!(nothing.of_all(0), 0);
        let huge = SampledPart { seen: 1, unseen: u64::MAX, ..SampledPart::default() };
        assert_eq!(huge.of_all(u64::MAX), u64::MAX);
    }
}
